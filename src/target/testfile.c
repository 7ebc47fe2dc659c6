/* SPDX-License-Identifier: MIT */
#include "target/testfile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/defer.h"
#include "base/paths.h"
#include "base/units.h"

#define DEFAULT_BYTES (8 * GIB)
#define RESERVE_BYTES GIB
#define NAME_PREFIX ".tare-"

static int no_room(const struct testfile_room *room, uint64_t want, uint64_t reserve,
		   struct err *err)
{
	char need[UNITS_TEXT_BYTES], have[UNITS_TEXT_BYTES], kept[UNITS_TEXT_BYTES];

	return err_set(err, -ENOSPC,
		       "no room for a test file of %s: %s are free, of which %s stay in reserve",
		       units_format_size((double)want, need),
		       units_format_size((double)room->free_bytes, have),
		       units_format_size((double)reserve, kept));
}

int testfile_size(const struct testfile_room *room, uint64_t asked_bytes, uint64_t need_bytes,
		  uint64_t *ret, struct err *err)
{
	const uint64_t five_percent = room->total_bytes / 20;
	const uint64_t reserve = five_percent < RESERVE_BYTES ? five_percent : RESERVE_BYTES;
	const uint64_t usable = room->free_bytes > reserve ? room->free_bytes - reserve : 0;
	const uint64_t tenth = room->free_bytes / 10;
	uint64_t size = tenth < DEFAULT_BYTES ? tenth : DEFAULT_BYTES;
	char text[UNITS_TEXT_BYTES];

	if (asked_bytes == 0 && need_bytes > size)
		asked_bytes = need_bytes;
	if (asked_bytes) {
		if (asked_bytes > room->file_max_bytes)
			return err_set(err, -EFBIG,
				       "a file of %s is more than may be here (%" PRIu64 " bytes)",
				       units_format_bytes(asked_bytes, text), room->file_max_bytes);
		if (asked_bytes > usable)
			return no_room(room, asked_bytes, reserve, err);
		*ret = asked_bytes;
		return 0;
	}
	if (size > room->file_max_bytes)
		size = room->file_max_bytes;
	if (size > usable)
		size = usable;
	size -= size % MIB;
	if (size < TESTFILE_MIN_BYTES) {
		err_set(err, -ENOSPC,
			"no room for a test file: %s are free, and a tenth of that is less than "
			"256 MiB",
			units_format_size((double)room->free_bytes, text));
		err_hint(err, "free some, or say how large it may be: --size=%s",
			 usable >= TESTFILE_MIN_BYTES ? "256m" : "64m");
		return -ENOSPC;
	}
	*ret = size;
	return 0;
}

/* The note: fixed width, so that writing it again changes it in place; the path to its end. */
static int note_write(const struct testfile *file, uint64_t inode, uint64_t size_bytes)
{
	char text[PATH_MAX + 128];
	struct stat st = { 0 };
	int length;

	if (file->fd >= 0)
		fstat(file->fd, &st);
	length = snprintf(text, sizeof(text),
			  "tare leftover 1\ntag %s\ninode %020" PRIu64 "\nsize %020" PRIu64
			  "\ndevice %020" PRIu64 "\npath %s",
			  file->tag, inode, size_bytes, (uint64_t)st.st_dev, file->path);
	if (pwrite(file->note_fd, text, (size_t)length, 0) != length ||
	    fdatasync(file->note_fd) < 0)
		return errno ? -errno : -EIO;
	return 0;
}

int testfile_notes_directory(char *path, size_t path_bytes)
{
	return paths_state(path, path_bytes, "leftovers");
}

static int note_begin(struct testfile *file, const struct testfile_place *place, struct err *err)
{
	char notes[PATH_MAX - 64];
	int r;

	if (place->notes)
		snprintf(notes, sizeof(notes), "%s", place->notes);
	else if (testfile_notes_directory(notes, sizeof(notes)) < 0)
		return err_set(
			err, -ENOENT,
			"neither XDG_STATE_HOME nor HOME says where to note the test file's name");
	r = paths_make(notes);
	if (r < 0)
		return err_errno(err, r, "making %s, where a test file's name is noted", notes);
	snprintf(file->note_path, sizeof(file->note_path), "%s/%s", notes, file->tag);
	file->note_fd = open(file->note_path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (file->note_fd < 0)
		return err_errno(err, -errno, "noting a test file in %s", file->note_path);
	if (flock(file->note_fd, LOCK_EX | LOCK_NB) < 0)
		return err_errno(err, -errno, "locking %s", file->note_path);
	r = note_write(file, 0, 0);
	return r < 0 ? err_errno(err, r, "writing %s", file->note_path) : 0;
}

static void note_end(struct testfile *file)
{
	if (file->note_fd < 0)
		return;
	unlink(file->note_path);
	close(file->note_fd);
	file->note_fd = -1;
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

/* Some file systems let a name go and the file with it. */
static bool works_without_name(int fd)
{
	struct stat st;

	return pwrite(fd, "", 1, 0) == 1 && ftruncate(fd, 0) == 0 && fstat(fd, &st) == 0;
}

static int create_unnamed(struct testfile *file, const struct testfile_place *place)
{
	file->fd = openat(place->directory_fd, ".",
			  O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC | place->flags, 0600);
	file->way = TESTFILE_UNNAMED;
	return file->fd < 0 ? -errno : 0;
}

/* Noted before it exists; the note goes when the name could be removed at once. */
static int create_named(struct testfile *file, const struct testfile_place *place,
			unsigned int ways, struct err *err)
{
	const char *name;
	struct stat st;
	int r;

	r = make_tag(file->tag);
	if (r < 0)
		return err_errno(err, r, "drawing a name for the test file");
	if (snprintf(file->path, sizeof(file->path), "%s/" NAME_PREFIX "%s", place->directory,
		     file->tag) >= (int)sizeof(file->path))
		return err_errno(err, -ENAMETOOLONG, "test file in %.64s...", place->directory);
	name = strrchr(file->path, '/') + 1;
	r = note_begin(file, place, err);
	if (r < 0)
		return r;
	file->fd = openat(place->directory_fd, name,
			  O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | place->flags, 0600);
	if (file->fd < 0)
		return err_errno(err, -errno, "no test file can be made in %s", place->directory);
	if (fstat(file->fd, &st) < 0)
		return err_errno(err, -errno, "%s", file->path);
	r = note_write(file, st.st_ino, 0);
	if (r < 0)
		return err_errno(err, r, "writing %s", file->note_path);

	file->way = TESTFILE_NOTED;
	if ((ways & TESTFILE_UNLINKED) && unlinkat(place->directory_fd, name, 0) == 0) {
		file->way = TESTFILE_UNLINKED;
		note_end(file);
		if (!works_without_name(file->fd))
			return err_set(err, -ENOTSUP,
				       "%s: a file without a name does not work there",
				       place->directory);
		return 0;
	}
	return ways & TESTFILE_NOTED ? 0 :
				       err_set(err, -ENOTSUP,
					       "%s: a name cannot be removed while "
					       "its file is open",
					       place->directory);
}

int testfile_create(struct testfile *ret, const struct testfile_place *place, unsigned int ways,
		    struct err *err)
{
	struct testfile file = { .fd = -1, .note_fd = -1 };
	const unsigned int named[] = { ways & (TESTFILE_UNLINKED | TESTFILE_NOTED),
				       ways & TESTFILE_NOTED };
	int r = -ENOTSUP;

	if (ways & TESTFILE_UNNAMED)
		r = create_unnamed(&file, place);
	/* A name would not help where nothing may be made. */
	if (r == -EACCES || r == -EROFS || r == -ENOSPC || r == -EDQUOT)
		return err_errno(err, r, "no test file can be made in %s", place->directory);
	for (size_t i = 0; r < 0 && i < 2; i++) {
		if (!named[i] || (i == 1 && r != -ENOTSUP))
			break;
		r = create_named(&file, place, named[i], err);
		if (r < 0)
			testfile_done(&file);
	}
	if (r < 0)
		return r;
	*ret = file;
	return 0;
}

int testfile_extend(struct testfile *file, uint64_t size_bytes, struct err *err)
{
	char text[UNITS_TEXT_BYTES];
	struct stat st;
	int r = 0;

	if (file->note_fd >= 0 && fstat(file->fd, &st) == 0)
		r = note_write(file, st.st_ino, size_bytes);
	if (r < 0)
		return err_errno(err, r, "writing %s", file->note_path);
	if (ftruncate(file->fd, (off_t)size_bytes) < 0)
		return err_errno(err, -errno, "a test file of %s",
				 units_format_bytes(size_bytes, text));
	return 0;
}

/* True when the name is gone or was never that file's. */
static bool remove_if_same(const char *path, const struct stat *file)
{
	struct stat named;

	if (lstat(path, &named) < 0)
		return errno == ENOENT;
	if (named.st_ino != file->st_ino || named.st_dev != file->st_dev)
		return true;
	return unlink(path) == 0;
}

void testfile_done(struct testfile *file)
{
	struct stat st;
	bool gone = true;

	if (file->fd >= 0 && file->way == TESTFILE_NOTED && fstat(file->fd, &st) == 0)
		gone = remove_if_same(file->path, &st);
	if (file->fd >= 0)
		close(file->fd);
	file->fd = -1;
	if (gone) {
		note_end(file);
	} else if (file->note_fd >= 0) {
		close(file->note_fd);	/* the note stays: the next start tries again */
		file->note_fd = -1;
	}
}

struct note {
	char tag[33];
	uint64_t inode, size_bytes, device;
	char path[PATH_MAX];
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
		   "tare leftover 1\ntag %32[0-9a-f]\ninode %20" SCNu64 "\nsize %20" SCNu64
		   "\ndevice %20" SCNu64 "\npath %n",
		   note->tag, &note->inode, &note->size_bytes, &note->device, &path_at) != 4 ||
	    !path_at || text[path_at] != '/')
		return -EINVAL;
	snprintf(note->path, sizeof(note->path), "%s", text + path_at);
	snprintf(name, sizeof(name), NAME_PREFIX "%s", note->tag);
	return strlen(note->tag) == 32 && strcmp(strrchr(note->path, '/') + 1, name) == 0 ? 0 :
											    -EINVAL;
}

/*
 * 1 removed, 0 nothing left to remove, -EAGAIN keep the note: another file, or its file
 * system is not there now. A file killed before its inode was noted is still empty.
 */
static int leftover_remove(const struct note *note)
{
	char directory[PATH_MAX];
	struct stat st;

	if (lstat(note->path, &st) == 0) {
		const bool same = note->inode ? st.st_ino == note->inode &&
							(uint64_t)st.st_size <= note->size_bytes :
						st.st_size == 0;

		if (!same || !S_ISREG(st.st_mode) || unlink(note->path) < 0)
			return -EAGAIN;
		return 1;
	}
	snprintf(directory, sizeof(directory), "%s", note->path);
	*strrchr(directory, '/') = '\0';
	if (errno != ENOENT || stat(*directory ? directory : "/", &st) < 0)
		return -EAGAIN;
	return note->device == 0 || st.st_dev == note->device ? 0 : -EAGAIN;
}

int testfile_reap(const char *notes_directory)
{
	DEFER(defer_closedir) DIR *dir = opendir(notes_directory);
	const struct dirent *entry;
	int removed = 0;

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
