/* SPDX-License-Identifier: MIT */

/* tree_copy - someone's tree copied into the private directory; it is only read. */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/defer.h"
#include "base/units.h"
#include "state/crew.h"
#include "state/tree_parts.h"

#define DEEP_MAX 64
#define RUN_FILES 64		/* given to a thread at once */
#define BUFFER_BYTES MIB

struct copying {
	struct tree *tree;
	struct tree_set *set;
	int from_fd;
	size_t room;
	size_t prefix_length;		/* of "sN/" in names */
	uint64_t total_bytes;
	atomic_uint_least64_t file_count, bytes, skipped_count;
};

static int add_file(struct copying *c, const char *name, uint64_t bytes)
{
	struct tree_set *set = c->set;

	if (set->file_count == c->room) {
		c->room = c->room ? c->room * 2 : 1024;
		set->names = reallocarray(set->names, c->room, sizeof(*set->names));
		set->sizes = reallocarray(set->sizes, c->room, sizeof(*set->sizes));
		if (!set->names || !set->sizes)
			abort();
	}
	set->names[set->file_count] = strdup(name);
	if (!set->names[set->file_count])
		abort();
	set->sizes[set->file_count++] = bytes | TREE_GONE;
	c->total_bytes += bytes;
	return 0;
}

/* Makes the directories and lists the files. fd is taken over; name is "sN" or "sN/a/b". */
static int walk(struct copying *c, int fd, const char *name, unsigned int deep, struct err *err)
{
	DEFER(defer_closedir) DIR *dir = fdopendir(fd);
	const struct dirent *entry;
	int r = 0;

	if (!dir) {
		close(fd);
		return err_errno(err, -errno, "reading the tree to copy");
	}
	if (mkdirat(c->tree->place.fd, name, 0700) < 0)
		return err_errno(err, -errno, "%s/%s", c->tree->place.path, name);
	while (r == 0 && (entry = readdir(dir))) {
		char path[PATH_MAX];
		struct stat st;
		int sub;

		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (snprintf(path, sizeof(path), "%s/%s", name, entry->d_name) >= PATH_MAX ||
		    fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
			atomic_fetch_add(&c->skipped_count, 1);
		} else if (S_ISREG(st.st_mode)) {
			r = add_file(c, path, (uint64_t)st.st_size);
		} else if (S_ISDIR(st.st_mode) && deep < DEEP_MAX &&
			   (st.st_dev != c->tree->device || st.st_ino != c->tree->inode)) {
			sub = openat(fd, entry->d_name,
				     O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
			r = sub < 0 ? err_errno(err, -errno, "%s", entry->d_name) :
				      walk(c, sub, path, deep + 1, err);
		} else {
			atomic_fetch_add(&c->skipped_count, 1);
		}
	}
	return r;
}

/* By read and write: a clone would put nothing on the drive. */
static int copy_bytes(struct copying *c, const int fds[2], void *buffer, struct err *err)
{
	ssize_t got;

	while ((got = read(fds[0], buffer, BUFFER_BYTES)) > 0) {
		for (ssize_t done = 0; done < got;) {
			const ssize_t put = write(fds[1], (char *)buffer + done, (size_t)(got - done));

			if (put < 0)
				return err_errno(err, -errno, "%s: writing a file", c->tree->place.path);
			done += put;
		}
		atomic_fetch_add(&c->bytes, (uint64_t)got);
	}
	return got < 0 ? err_errno(err, -errno, "reading the tree to copy") : 0;
}

static int copy_file(struct copying *c, uint64_t index, void *buffer, struct err *err)
{
	const char *name = c->set->names[index];
	DEFER(defer_close) int in = openat(c->from_fd, name + c->prefix_length,
					   O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	int out, r;

	/* Gone since it was listed, or not ours to read. */
	if (in < 0) {
		atomic_fetch_add(&c->skipped_count, 1);
		return 0;
	}
	out = openat(c->tree->place.fd, name,
		     O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (out < 0)
		return err_errno(err, -errno, "%s/%s", c->tree->place.path, name);
	c->set->sizes[index] &= ~TREE_GONE;
	r = copy_bytes(c, (const int[]){ in, out }, buffer, err);
	close(out);
	atomic_fetch_add(&c->file_count, 1);
	return r;
}

static int copy_unit(void *ctx, uint64_t run, uint32_t thread, struct err *err)
{
	struct copying *c = ctx;
	DEFER(defer_free) void *buffer = malloc(BUFFER_BYTES);
	int r = 0;

	(void)thread;
	if (!buffer)
		return err_set(err, -ENOMEM, "no memory to copy with");
	for (uint64_t i = tree_leaf_first(c->set, run);
	     r == 0 && i < tree_leaf_end(c->set, run) &&
	     !(c->tree->options.stop && *c->tree->options.stop);
	     i++)
		r = copy_file(c, i, buffer, err);
	return r;
}

static void progress(void *ctx)
{
	const struct copying *c = ctx;

	c->tree->options.progress(c->tree->options.progress_ctx, atomic_load(&c->bytes),
				  c->total_bytes);
}

int tree_copy(struct tree *tree, const char *from, struct tree_tally *tally, struct err *err)
{
	struct copying c = { .tree = tree, .set = tree_add_set(tree) };
	char name[16];
	int fd, r;

	c.prefix_length = (size_t)snprintf(name, sizeof(name), "s%u", c.set->number) + 1;
	c.set->shape.per_directory_count = RUN_FILES;
	fd = open(from, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return err_errno(err, -errno, "%s", from);
	DEFER(defer_close) int from_fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	c.from_fd = from_fd;
	r = walk(&c, fd, name, 0, err);
	c.set->leaf_count = (c.set->file_count + RUN_FILES - 1) / RUN_FILES;
	if (r == 0)
		r = crew_run(&(struct crew_job){ .unit_count = c.set->leaf_count,
						 .thread_count = tree->thread_count,
						 .unit = copy_unit,
						 .ctx = &c,
						 .stop = tree->options.stop,
						 .progress = tree->options.progress ? progress : NULL,
						 .progress_ctx = &c },
			     err);
	tally->file_count += c.file_count;
	tally->bytes += c.bytes;
	tally->skipped_count += c.skipped_count;
	return r;
}
