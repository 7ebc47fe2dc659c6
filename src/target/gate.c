/* SPDX-License-Identifier: MIT */
#include "target/gate.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <dirent.h>
#include <linux/loop.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "base/defer.h"
#include "base/sysfs.h"
#include "base/text.h"
#include "target/mounts.h"

enum use_kind { USE_MOUNT, USE_SWAP, USE_HELD };

struct use {
	enum use_kind kind;
	char device[STACK_NAME_BYTES];	/* of the stack, the one that is used */
	char by[256];		/* mount point, or the holder's name */
};

#define USES 8

struct uses {
	size_t count;
	struct use list[USES];
};

static void uses_add(struct uses *uses, enum use_kind kind, const char *device, const char *by)
{
	struct use *use = &uses->list[uses->count];

	if (uses->count == USES)
		return;
	use->kind = kind;
	snprintf(use->device, sizeof(use->device), "%s", device);
	snprintf(use->by, sizeof(use->by), "%s", by);
	uses->count++;
}

static void add_mounts_and_swap(const struct mounts *mounts, const struct stack_names *names,
				struct uses *uses)
{
	for (size_t i = 0; i < names->count; i++) {
		const char *point = mounts_find_device(mounts, names->names[i]);

		if (point)
			uses_add(uses, USE_MOUNT, names->names[i], point);
	}
	for (size_t i = 0; i < names->count; i++)
		if (mounts_swap_device(mounts, names->names[i]))
			uses_add(uses, USE_SWAP, names->names[i], "");
}

static void add_holders_of(const char *root, const char *name, const struct stack_names *except,
			   struct uses *uses)
{
	struct stack_names holders = { 0 };

	stack_add_holders(root, name, &holders);
	for (size_t i = 0; i < holders.count; i++)
		if (!except || !stack_names_have(except, holders.names[i]))
			uses_add(uses, USE_HELD, name, holders.names[i]);
}

/*
 * Above: mounts before swap before holders, so that the first is what a person knows it by.
 * Below: what the device lies on has other users only when it is used as a whole; its
 * other parts (the partition beside this one) are not this device.
 */
static int find_uses(const char *root, const char *name, struct uses *uses, struct err *err)
{
	struct stack_names above = { 0 }, below = { 0 };
	char disk[STACK_NAME_BYTES];
	struct mounts *mounts;
	int r;

	r = mounts_open(&mounts, root, err);
	if (r < 0)
		return r;
	stack_above(root, name, &above);
	stack_below(root, name, &below);
	add_mounts_and_swap(mounts, &above, uses);
	for (size_t i = 0; i < above.count; i++)
		add_holders_of(root, above.names[i], NULL, uses);
	add_mounts_and_swap(mounts, &below, uses);
	mounts_close(mounts);

	/* A disk that something is built on as a whole has no partitions to give away. */
	stack_disk(root, name, disk);
	if (strcmp(disk, name) != 0)
		add_holders_of(root, disk, &above, uses);
	return 0;
}

static void say_use(const char *root, const struct use *use, char *text, size_t text_bytes)
{
	char detail[96], kind[16];

	switch (use->kind) {
	case USE_MOUNT:
		snprintf(text, text_bytes, "%s is mounted at %s", use->device, use->by);
		break;
	case USE_SWAP:
		snprintf(text, text_bytes, "%s is swap", use->device);
		break;
	case USE_HELD:
		stack_kind(root, use->by, kind, sizeof(kind));
		stack_detail(root, use->by, detail, sizeof(detail));
		snprintf(text, text_bytes, "%s is part of %s (%s%s%s)", use->device, use->by, kind,
			 *detail ? " " : "", detail);
		break;
	}
}

int gate_check_use(const char *root, const char *name, struct err *err)
{
	struct uses uses = { 0 };
	const struct use *first = &uses.list[0];
	char text[448];
	int r;

	r = find_uses(root, name, &uses, err);
	if (r < 0)
		return r;
	if (uses.count == 0)
		return 0;
	for (size_t i = 1; i < uses.count; i++)
		if (uses.list[i].kind == USE_MOUNT && strcmp(uses.list[i].by, "/") == 0)
			first = &uses.list[i];
	say_use(root, first, text, sizeof(text));
	if (first->kind != USE_MOUNT) {
		err_set(err, -EBUSY, "%s is in use (%s); not touched", name, text);
		err_hint(err, "reading it is free: leave the writes out");
		return -EBUSY;
	}
	if (strcmp(first->by, "/") == 0)
		err_set(err, -EBUSY, "%s holds the running system (%s); not touched", name, text);
	else
		err_set(err, -EBUSY, "%s is in use (%s); not touched", name, text);
	if (first->by[0] == '/')
		err_hint(err, "to test this drive safely: tare check %s", first->by);
	return -EBUSY;
}

void gate_describe_use(const char *root, const char *name, char *text, size_t text_bytes)
{
	struct uses uses = { 0 };
	size_t used = 0;

	text[0] = '\0';
	if (find_uses(root, name, &uses, NULL) < 0)
		return;
	for (size_t i = 0; i < uses.count && used < text_bytes; i++) {
		char one[448];

		say_use(root, &uses.list[i], one, sizeof(one));
		used += (size_t)snprintf(text + used, text_bytes - used, "%s%s", i ? "; " : "",
					 one);
	}
}

int gate_busy(const char *name, struct err *err)
{
	struct stack_names above = { 0 };
	char point[256];
	pid_t pid;

	stack_above("", name, &above);
	if (mounts_find_elsewhere(&above, point, sizeof(point), &pid))
		return err_set(err, -EBUSY,
			       "%s is in use (mounted at %s in the mount namespace of process %d); "
			       "not touched",
			       name, point, (int)pid);
	err_set(err, -EBUSY,
		"%s is in use (another program holds it open exclusively); not touched", name);
	err_hint(err, "see who has it: fuser -v /dev/%s", name);
	return -EBUSY;
}

void gate_consent_name(const char *root, const char *name, char consent[64], bool *ret_is_serial)
{
	char disk[STACK_NAME_BYTES];

	stack_disk(root, name, disk);
	stack_serial(root, disk, consent, 64);
	*ret_is_serial = *consent;
	if (!*consent)
		snprintf(consent, 64, "%s", name);
}

/* name itself, or an item of "name,name". */
static bool names(const char *list, const char *name)
{
	const size_t length = strlen(name);

	if (!list || !length)
		return false;
	if (strcmp(list, name) == 0)
		return true;
	for (const char *at = list; at; at = strchr(at, ',')) {
		at += *at == ',';
		if (strncmp(at, name, length) == 0 && (!at[length] || at[length] == ','))
			return true;
	}
	return false;
}

int gate_check_consent(const char *root, const char *name, const char *erase_serial,
		       const char *signature, struct err *err)
{
	char must[64];
	bool is_serial;

	gate_consent_name(root, name, must, &is_serial);
	if (names(erase_serial, must)) {
		if (is_serial || !*signature)
			return 0;
		err_set(err, -EPERM,
			"%s holds %s, and has no serial number that could name it beyond doubt; "
			"not touched",
			name, signature);
		err_hint(err, "if it may go: wipefs --all /dev/%s, then the same command again",
			 name);
		return -EPERM;
	}
	if (erase_serial && *erase_serial)
		err_set(err, -EPERM, "%s is not '%.64s': its %s is '%s'; not touched", name,
			erase_serial, is_serial ? "serial number" : "name", must);
	else if (*signature)
		err_set(err, -EPERM, "%s holds %s, which writing would destroy; not touched", name,
			signature);
	else
		err_set(err, -EPERM, "writing to %s destroys what it holds; not touched", name);
	err_hint(err, "if it may go: --erase-data=%s", must);
	return -EPERM;
}

/* By inode: the path a loop device remembers may be renamed, deleted or of another namespace. */
static bool loop_has_inode(const char *loop, const struct stat *file)
{
	struct loop_info64 info;
	char path[PATH_MAX];
	struct stat st;

	snprintf(path, sizeof(path), "/dev/%s", loop);
	DEFER(defer_close) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd >= 0 && ioctl(fd, LOOP_GET_STATUS64, &info) == 0)
		return info.lo_device == file->st_dev && info.lo_inode == file->st_ino;
	return sysfs_read(path, sizeof(path), "/sys/class/block/%s/loop/backing_file", loop) == 0 &&
	       stat(path, &st) == 0 && st.st_dev == file->st_dev && st.st_ino == file->st_ino;
}

static bool find_loop_over(const struct stat *file, char loop[STACK_NAME_BYTES])
{
	DEFER(defer_closedir) DIR *dir = opendir("/sys/class/block");
	const struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		char path[PATH_MAX];

		snprintf(path, sizeof(path), "/sys/class/block/%s/loop", entry->d_name);
		if (strncmp(entry->d_name, "loop", 4) == 0 && access(path, F_OK) == 0 &&
		    loop_has_inode(entry->d_name, file)) {
			snprintf(loop, STACK_NAME_BYTES, "%.*s", STACK_NAME_BYTES - 1,
				 entry->d_name);
			return true;
		}
	}
	return false;
}

/* Virtual machines and databases lock what they have open. */
int gate_check_locks(int fd, const char *name, struct err *err)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	if (fcntl(fd, F_OFD_GETLK, &lock) < 0 || lock.l_type == F_UNLCK)
		return 0;
	return err_set(err, -EBUSY, "%s is in use (another program has it locked); not touched",
		       name);
}

int gate_check_file(int fd, const char *path, struct err *err)
{
	char loop[STACK_NAME_BYTES];
	struct mounts *mounts;
	struct stat st;
	bool is_swap;
	int r;

	if (fstat(fd, &st) < 0)
		return err_errno(err, -errno, "%s", path);
	r = mounts_open(&mounts, "", err);
	if (r < 0)
		return r;
	is_swap = mounts_swap_inode(mounts, st.st_dev, st.st_ino);
	mounts_close(mounts);
	if (is_swap)
		return err_set(err, -EBUSY, "%s is in use (it is swap); not touched", path);
	if (find_loop_over(&st, loop))
		return err_set(err, -EBUSY, "%s is in use (it backs %s); not touched", path, loop);
	return gate_check_locks(fd, path, err);
}

int gate_check_devtmpfs(int fd, const char *path, struct err *err)
{
	struct mount_facts facts;
	struct stat dev, root, st;
	struct mounts *mounts;
	bool inside;
	int r;

	if (fstat(fd, &st) < 0)
		return err_errno(err, -errno, "%s", path);
	r = mounts_open(&mounts, "", err);
	if (r < 0)
		return r;
	inside = mounts_find_file(mounts, fd, &facts) && strcmp(facts.type, "devtmpfs") == 0;
	mounts_close(mounts);
	/* A container's /dev is a tmpfs, or a directory of its root. */
	if (stat("/dev", &dev) == 0 && stat("/", &root) == 0 && dev.st_dev == st.st_dev &&
	    (dev.st_dev != root.st_dev || strcmp(path, "/dev") == 0 ||
	     strncmp(path, "/dev/", 5) == 0))
		inside = true;
	if (!inside)
		return 0;
	err_set(err, -EPERM, "%s is where device nodes live; no file is made or written there",
		path);
	err_hint(err, "name the device itself (tare devices lists them) or another directory");
	return -EPERM;
}
