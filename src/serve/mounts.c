/* SPDX-License-Identifier: MIT */

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/defer.h"
#include "serve/mounts.h"

/* Undoes mountinfo's octal escapes ("\040"). */
static void copy_unescaped(const char *word, size_t length, char *ret, size_t ret_bytes)
{
	size_t out = 0;

	for (size_t i = 0; i < length && out + 1 < ret_bytes; i++) {
		if (word[i] == '\\' && i + 3 < length && isdigit((unsigned char)word[i + 1]) &&
		    isdigit((unsigned char)word[i + 2]) && isdigit((unsigned char)word[i + 3])) {
			ret[out++] = (char)((word[i + 1] - '0') * 64 + (word[i + 2] - '0') * 8 +
					    (word[i + 3] - '0'));
			i += 3;
		} else {
			ret[out++] = word[i];
		}
	}
	ret[out] = '\0';
}

/* The number-th word of the line, from 0; false when there are fewer. */
static bool copy_word(const char *line, unsigned number, char *ret, size_t ret_bytes)
{
	while (number-- > 0) {
		line = strchr(line, ' ');
		if (!line)
			return false;
		line++;
	}
	copy_unescaped(line, strcspn(line, " \n"), ret, ret_bytes);
	return true;
}

/* "36 35 98:0 /root /mount options optional... - type source superoptions" */
bool mounts_parse(const char *line, struct mount_line *ret)
{
	const char *tail = strstr(line, " - ");

	return tail && sscanf(line, "%*u %*u %u:%u ", &ret->major, &ret->minor) == 2 &&
	       copy_word(line, 4, ret->path, sizeof(ret->path)) &&
	       copy_word(tail + 3, 0, ret->type, sizeof(ret->type)) &&
	       copy_word(tail + 3, 1, ret->source, sizeof(ret->source));
}

/* Calls match for each mount of /proc/PID/mountinfo; the last that matches is in *ret. */
static bool find_last(const char *pid, bool (*match)(const struct mount_line *, const void *),
		      const void *ctx, struct mount_line *ret)
{
	char path[64];
	DEFER(defer_free) char *line = NULL;
	DEFER(defer_free) struct mount_line *mount = malloc(sizeof(*mount));
	DEFER(defer_fclose) FILE *file = NULL;
	size_t room = 0;
	bool found = false;

	snprintf(path, sizeof(path), "/proc/%.20s/mountinfo", pid);
	file = fopen(path, "re");
	while (file && mount && getline(&line, &room, file) > 0)
		if (mounts_parse(line, mount) && match(mount, ctx)) {
			*ret = *mount;
			found = true;
		}
	return found;
}

struct place {
	const char *source, *path;
};

static bool is_place(const struct mount_line *mount, const void *ctx)
{
	const struct place *place = ctx;

	return strcmp(mount->source, place->source) == 0 && strcmp(mount->path, place->path) == 0;
}

bool mounts_is_at(const char *source, const char *path)
{
	DEFER(defer_free) struct mount_line *mount = malloc(sizeof(*mount));

	return mount && find_last("self", is_place, &(struct place){ source, path }, mount);
}

struct device {
	const char *path;
	dev_t number;
};

/* btrfs shows a device number of its own, but names the device as its source. */
static bool is_device(const struct mount_line *mount, const void *ctx)
{
	const struct device *device = ctx;

	return makedev(mount->major, mount->minor) == device->number ||
	       strcmp(mount->source, device->path) == 0;
}

static int unmount(const char *path)
{
	if (umount2(path, 0) == 0 || (errno == EBUSY && umount2(path, MNT_DETACH) == 0))
		return 0;
	return -errno;
}

/* In a child of our own, because a thread among others can't change its namespace. */
static int unmount_in(const char *pid, const char *path)
{
	char ns_path[64];
	DEFER(defer_close) int ns = -1;
	int status;
	pid_t child;

	snprintf(ns_path, sizeof(ns_path), "/proc/%.20s/ns/mnt", pid);
	ns = open(ns_path, O_RDONLY | O_CLOEXEC);
	if (ns < 0)
		return -errno;
	child = fork();
	if (child < 0)
		return -errno;
	if (child == 0)
		_exit(setns(ns, CLONE_NEWNS) < 0 ? errno : -unmount(path));
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -EIO;
}

static void unmount_all_in(const char *pid, const struct device *device,
			   void (*note)(void *ctx, const char *text), void *ctx)
{
	DEFER(defer_free) struct mount_line *mount = malloc(sizeof(*mount));
	const bool ours = strcmp(pid, "self") == 0;
	char text[4300];

	/* The last first, and each once: one that stays would be found for ever. */
	for (int i = 0; i < 64 && mount && find_last(pid, is_device, device, mount); i++) {
		const int r = ours ? unmount(mount->path) : unmount_in(pid, mount->path);

		if (!note && r < 0)
			return;
		if (r < 0)
			snprintf(text, sizeof(text), "could not unmount %.4095s: %s", mount->path,
				 strerror(-r));
		else
			snprintf(text, sizeof(text), "unmounted %.4095s (%s)%s%.20s", mount->path,
				 mount->type, ours ? "" : " in the mount namespace of process ",
				 ours ? "" : pid);
		if (note)
			note(ctx, text);
		if (r < 0)
			return;
	}
}

void mounts_unmount_device(const char *path, void (*note)(void *ctx, const char *text), void *ctx)
{
	struct device device = { .path = path };
	DEFER(defer_closedir) DIR *proc = opendir("/proc");
	struct dirent *process;
	struct stat own, st;
	ino_t seen = 0;
	char ns[64];

	if (stat(path, &st) < 0 || !S_ISBLK(st.st_mode))
		return;
	device.number = st.st_rdev;
	unmount_all_in("self", &device, note, ctx);
	if (!proc || stat("/proc/self/ns/mnt", &own) < 0)
		return;
	while ((process = readdir(proc))) {
		if (!isdigit((unsigned char)process->d_name[0]))
			continue;
		snprintf(ns, sizeof(ns), "/proc/%.20s/ns/mnt", process->d_name);
		/* Neighbours mostly share one; a namespace met again has nothing left. */
		if (stat(ns, &st) < 0 || st.st_ino == own.st_ino || st.st_ino == seen)
			continue;
		seen = st.st_ino;
		unmount_all_in(process->d_name, &device, note, ctx);
	}
}
