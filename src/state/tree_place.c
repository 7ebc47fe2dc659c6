/* SPDX-License-Identifier: MIT */
#include "state/tree_place.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/defer.h"
#include "base/paths.h"
#include "state/tree.h"

#define NAME_PREFIX ".tare-"
#define DEEP_MAX 64		/* far deeper than anything made here or worth copying */

/* Entries first, those of directories below before them; never onto another device. */
static int remove_contents(int fd, dev_t device, unsigned int deep)
{
	DEFER(defer_closedir) DIR *dir = fdopendir(fd);	/* takes fd over */
	const struct dirent *entry;
	int failed = 0;

	if (!dir) {
		close(fd);
		return -errno;
	}
	while ((entry = readdir(dir))) {
		const char *name = entry->d_name;
		struct stat st;
		int sub;

		if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
			continue;
		if (unlinkat(fd, name, 0) == 0)
			continue;
		if (errno != EISDIR && errno != EPERM && errno != EBUSY) {
			failed = -errno;
			continue;
		}
		sub = openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (sub < 0 || fstat(sub, &st) < 0 || st.st_dev != device || deep >= DEEP_MAX) {
			failed = sub < 0 ? -errno : -EXDEV;
			if (sub >= 0)
				close(sub);
			continue;
		}
		remove_contents(sub, device, deep + 1);
		if (unlinkat(fd, name, AT_REMOVEDIR) < 0)
			failed = -errno;
	}
	return failed;
}

int tree_place_remove(int directory_fd, const char *name)
{
	const int fd = openat(directory_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	if (fstat(fd, &st) < 0) {
		close(fd);
		return -EIO;
	}
	remove_contents(fd, st.st_dev, 0);
	return unlinkat(directory_fd, name, AT_REMOVEDIR) < 0 ? -errno : 0;
}

static int make_tag(char tag[33])
{
	unsigned char bytes[16];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return -EIO;
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(tag + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

/* Of fixed width up to the path, so that it is written over in place. */
static int note_write(const struct tree_place *place, const struct stat *st)
{
	char text[PATH_MAX + 128];
	const int length = snprintf(text, sizeof(text),
				    "tare directory 1\ntag %s\ninode %020" PRIu64
				    "\ndevice %020" PRIu64 "\npath %s",
				    place->tag, st ? (uint64_t)st->st_ino : 0,
				    st ? (uint64_t)st->st_dev : 0, place->path);

	if (pwrite(place->note_fd, text, (size_t)length, 0) != length ||
	    fdatasync(place->note_fd) < 0)
		return errno ? -errno : -EIO;
	return 0;
}

static int note_make(struct tree_place *place, const char *notes, struct err *err)
{
	char usual[PATH_MAX - 64];
	int r;

	if (!notes && paths_state(usual, sizeof(usual), "leftovers") < 0)
		return err_set(err, -ENOENT,
			       "neither XDG_STATE_HOME nor HOME says where to note the directory's name");
	notes = notes ? notes : usual;
	r = paths_make(notes);
	if (r < 0)
		return err_errno(err, r, "making %s, where the directory's name is noted", notes);
	snprintf(place->note_path, sizeof(place->note_path), "%s/%s", notes, place->tag);
	place->note_fd = open(place->note_path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (place->note_fd < 0)
		return err_errno(err, -errno, "noting a directory in %s", place->note_path);
	if (flock(place->note_fd, LOCK_EX | LOCK_NB) < 0)
		return err_errno(err, -errno, "locking %s", place->note_path);
	r = note_write(place, NULL);
	/* After a power cut, too, the note must be there when the directory is. */
	if (r == 0)
		r = paths_sync_parent(place->note_path);
	return r < 0 ? err_errno(err, r, "writing %s", place->note_path) : 0;
}

static int make(struct tree_place *place, struct err *err)
{
	struct stat st;
	int r;

	if (mkdir(place->path, 0700) < 0)
		return err_errno(err, -errno, "no directory can be made in %.*s",
				 (int)(strrchr(place->path, '/') - place->path), place->path);
	place->fd = open(place->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (place->fd < 0 || fstat(place->fd, &st) < 0)
		return err_errno(err, -errno, "%s", place->path);
	r = note_write(place, &st);
	return r < 0 ? err_errno(err, r, "writing %s", place->note_path) : 0;
}

int tree_place_open(struct tree_place *ret, const char *directory, const char *notes,
		    struct err *err)
{
	struct tree_place place = { .fd = -1, .note_fd = -1 };
	int r = make_tag(place.tag);

	if (r < 0)
		return err_errno(err, r, "drawing a name");
	if (snprintf(place.path, sizeof(place.path), "%s/" NAME_PREFIX "%s", directory, place.tag) >=
	    (int)sizeof(place.path))
		return err_errno(err, -ENAMETOOLONG, "a directory in %.64s...", directory);
	r = note_make(&place, notes, err);
	if (r == 0)
		r = make(&place, err);
	if (r < 0) {
		tree_place_close(&place);
		return r;
	}
	*ret = place;
	return 0;
}

/* Removed only if it is what was noted; true when it is gone. */
static bool remove_noted(const char *path, const struct stat *noted)
{
	char parent[PATH_MAX];
	struct stat st;
	char *slash;

	snprintf(parent, sizeof(parent), "%s", path);
	slash = strrchr(parent, '/');
	*slash = '\0';
	DEFER(defer_close) int fd = open(*parent ? parent : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (fstatat(fd, slash + 1, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT;
	if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid() || st.st_ino != noted->st_ino ||
	    st.st_dev != noted->st_dev)
		return false;
	return tree_place_remove(fd, slash + 1) == 0;
}

void tree_place_close(struct tree_place *place)
{
	struct stat st;
	bool gone = true;

	if (place->fd >= 0) {
		gone = fstat(place->fd, &st) == 0 && remove_noted(place->path, &st);
		close(place->fd);
		place->fd = -1;
	}
	if (place->note_fd < 0)
		return;
	if (gone)
		unlink(place->note_path);	/* else it stays: the next start tries again */
	close(place->note_fd);
	place->note_fd = -1;
}

struct note {
	char tag[33], path[PATH_MAX];
	uint64_t inode, device;
};

static int note_read(int fd, struct note *note)
{
	char text[PATH_MAX + 128], name[sizeof(NAME_PREFIX) + 32];
	const ssize_t got = pread(fd, text, sizeof(text) - 1, 0);
	int path_at = 0;

	if (got <= 0)
		return -EINVAL;
	text[got] = '\0';
	if (sscanf(text,
		   "tare directory 1\ntag %32[0-9a-f]\ninode %20" SCNu64 "\ndevice %20" SCNu64
		   "\npath %n",
		   note->tag, &note->inode, &note->device, &path_at) != 3 ||
	    !path_at || text[path_at] != '/')
		return -EINVAL;
	snprintf(note->path, sizeof(note->path), "%s", text + path_at);
	snprintf(name, sizeof(name), NAME_PREFIX "%s", note->tag);
	return strlen(note->tag) == 32 && strcmp(strrchr(note->path, '/') + 1, name) == 0 ? 0 :
											    -EINVAL;
}

/*
 * 1 removed, 0 nothing to remove, -EAGAIN keep the note: its file system is not there now, or
 * something else is. Killed before its inode was noted, the directory is still empty.
 */
static int leftover_remove(const struct note *note)
{
	char parent[PATH_MAX];
	struct stat st;

	if (lstat(note->path, &st) == 0) {
		if (!note->inode)
			return rmdir(note->path) == 0 ? 1 : -EAGAIN;
		/* Device numbers change from mount to mount; the tag in the name does not. */
		return st.st_ino == note->inode && remove_noted(note->path, &st) ? 1 : -EAGAIN;
	}
	if (errno != ENOENT)
		return -EAGAIN;
	snprintf(parent, sizeof(parent), "%s", note->path);
	*strrchr(parent, '/') = '\0';
	if (stat(*parent ? parent : "/", &st) < 0)
		return -EAGAIN;
	return note->device == 0 || st.st_dev == note->device ? 0 : -EAGAIN;
}

int tree_reap(const char *notes)
{
	char usual[PATH_MAX];
	const struct dirent *entry;
	int removed = 0;

	if (!notes && paths_state(usual, sizeof(usual), "leftovers") < 0)
		return 0;
	DEFER(defer_closedir) DIR *dir = opendir(notes ? notes : usual);
	while (dir && (entry = readdir(dir))) {
		struct note note;
		int r;

		if (strlen(entry->d_name) != 32)
			continue;
		DEFER(defer_close) int fd = openat(dirfd(dir), entry->d_name,
						   O_RDWR | O_CLOEXEC | O_NOFOLLOW);
		/* Locked: its maker lives. */
		if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0 || note_read(fd, &note) < 0)
			continue;
		r = leftover_remove(&note);
		if (r < 0)
			continue;
		removed += r;
		unlinkat(dirfd(dir), entry->d_name, 0);
	}
	return removed;
}
