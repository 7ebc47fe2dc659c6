/* SPDX-License-Identifier: MIT */

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/defer.h"
#include "serve/clean.h"
#include "serve/file.h"
#include "serve/loop.h"
#include "serve/mounts.h"
#include "serve/serve.h"

extern char **environ;

static void note(const struct loop_observer *observer, const char *verb, const char *what)
{
	char text[4300];

	snprintf(text, sizeof(text), "%s %s", verb, what);
	if (observer->note)
		observer->note(observer->ctx, text);
}

/* As fusermount3 -u -z; it is set-user-id, for who may not unmount. */
static int fusermount(const char *directory)
{
	const char *const argv[] = { "fusermount3", "-u", "-q", "-z", "--", directory, NULL };
	int status = 0, r;
	pid_t child;

	r = posix_spawnp(&child, argv[0], NULL, NULL, (char *const *)(uintptr_t)argv, environ);
	if (r != 0)
		return -r;
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return status == 0 ? 0 : -EBUSY;
}

static int unmount(const char *directory)
{
	if (umount2(directory, MNT_DETACH) == 0 || errno == EINVAL)
		return 0;
	return errno == EPERM ? fusermount(directory) : -errno;
}

int clean_entry(const struct registry_entry *entry, const struct loop_observer *observer,
		struct err *err)
{
	char file[4200], source[REGISTRY_SOURCE_BYTES], device[LOOP_PATH_BYTES];
	bool mounted;
	int r;

	registry_source(entry, source);
	mounted = mounts_is_at(source, entry->directory);
	/*
	 * Force ends what still waits for an answer of the dead server: then neither the loop
	 * device nor a file system on it can hang on it. (It also fails, being busy.)
	 */
	if (mounted && geteuid() == 0)
		umount2(entry->directory, MNT_FORCE);
	snprintf(file, sizeof(file), "%s/" FILE_NAME, entry->directory);
	if (entry->loop >= 0 && loop_is_of(entry->loop, file)) {
		r = loop_remove(entry->loop, observer, err);
		if (r < 0)
			return r;
		loop_path(entry->loop, device);
		note(observer, "removed", device);
	}
	if (mounted) {
		r = mounts_is_at(source, entry->directory) ? unmount(entry->directory) : 0;
		if (r < 0)
			return err_errno(err, r, "unmount '%s'", entry->directory);
		note(observer, "unmounted", entry->directory);
	}
	if (entry->made_directory && rmdir(entry->directory) == 0)
		note(observer, "removed", entry->directory);
	registry_remove(entry);
	return 0;
}

struct cleaning {
	struct loop_observer observer;
	struct err *err;		/* the first thing that stays */
	int code;
	int count;
};

static int clean_one(void *ctx, const struct registry_entry *entry)
{
	struct cleaning *cleaning = ctx;
	struct err err = { 0 };

	if (registry_is_running(entry))
		return 0;
	if (clean_entry(entry, &cleaning->observer, &err) == 0) {
		cleaning->count++;
	} else if (cleaning->code == 0) {
		cleaning->code = err.code;
		if (cleaning->err)
			*cleaning->err = err;
	}
	return 0;
}

int serve_clean(void (*say)(void *ctx, const char *text), void *ctx, struct err *err)
{
	struct cleaning cleaning = { .observer = { ctx, say }, .err = err };
	const int r = registry_each(clean_one, &cleaning, err);

	if (r < 0)
		return r;
	return cleaning.code < 0 ? cleaning.code : cleaning.count;
}
