/* SPDX-License-Identifier: MIT */

/*
 * block - a block device, partition or anything built of them. Reading is free. Writing
 * goes through the gate, twice: first to say plainly what is in the way, then, and this is
 * what counts, on the descriptor that has the device exclusively.
 */

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "base/defer.h"
#include "target/gate.h"
#include "target/kinds.h"
#include "target/signature.h"
#include "target/stack.h"

static int check_gate(int fd, const char *name, const struct target_request *request,
		      struct err *err)
{
	char signature[256];
	int r;

	r = gate_check_use("", name, err);
	if (r == 0)
		r = gate_check_locks(fd, name, err);
	if (r < 0)
		return r;
	r = signature_find(fd, name, signature, sizeof(signature), err);
	if (r < 0)
		return r;
	return gate_check_consent("", name, request->erase_serial, signature, err);
}

static int find_name(int fd, const char *spec, char name[STACK_NAME_BYTES], dev_t *ret,
		     struct err *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return err_errno(err, -errno, "%s", spec);
	if (!S_ISBLK(st.st_mode) || stack_name_of("", st.st_rdev, name) < 0)
		return err_set(err, -ENODEV, "%s: no such device is in /sys", spec);
	*ret = st.st_rdev;
	return 0;
}

/* Who uses it is known without opening it; what it holds is read without the right to write. */
static int look_first(int path_fd, const char *name, const struct target_request *request,
		      struct err *err)
{
	int r = gate_check_use("", name, err);

	if (r < 0)
		return r;
	DEFER(defer_close) int fd = target_reopen(path_fd, O_RDONLY | O_EXCL);
	if (fd == -EBUSY)
		return gate_busy(name, err);
	if (fd < 0)
		return err_errno(err, fd, "%s cannot be opened", request->spec);
	return check_gate(fd, name, request, err);
}

static int open_for_writing(struct target *target, const struct target_request *request,
			    int path_fd, struct err *err)
{
	const char *spec = target->info.spec;
	char name[STACK_NAME_BYTES], opened_name[STACK_NAME_BYTES], consent[64];
	dev_t device, opened;
	int read_only, r;
	bool is_serial;

	r = find_name(path_fd, spec, name, &device, err);
	if (r < 0)
		return r;
	r = look_first(path_fd, name, request, err);
	if (r < 0)
		return r;
	target->fd = r = target_reopen(path_fd, target_flags(request, true) | O_EXCL);
	if (r == -EBUSY)
		return gate_busy(name, err);
	if (r < 0)
		return err_errno(err, r, "%s cannot be opened for writing", spec);
	r = find_name(target->fd, spec, opened_name, &opened, err);
	if (r < 0)
		return r;
	if (ioctl(target->fd, BLKROGET, &read_only) == 0 && read_only)
		return err_set(err, -EROFS, "%s is set read-only; not touched", name);
	if (opened != device || strcmp(name, opened_name) != 0)
		return err_set(err, -EBUSY,
			       "%s became another device while it was opened; not touched", spec);
	r = check_gate(target->fd, name, request, err);
	if (r < 0)
		return r;
	gate_consent_name("", name, consent, &is_serial);
	snprintf(target->info.consent, sizeof(target->info.consent), "erase-data=%s", consent);
	return 0;
}

/* sysfs describes; what the I/O depends on comes from the descriptor itself. */
static int describe(struct target *target, struct err *err)
{
	struct target_info *info = &target->info;
	unsigned int physical;
	char name[STACK_NAME_BYTES];
	int logical, read_only;
	bool is_serial;
	dev_t device;

	/* Without /sys a device can still be read; it just stays without a description. */
	if (find_name(target->fd, info->spec, name, &device, NULL) == 0) {
		stack_describe("", name, info);
		gate_consent_name("", name, info->erase_name, &is_serial);
	}
	if (ioctl(target->fd, BLKGETSIZE64, &info->size_bytes) < 0)
		return err_errno(err, -errno, "size of %s", info->spec);
	if (ioctl(target->fd, BLKSSZGET, &logical) == 0)
		info->logical_block_bytes = (uint32_t)logical;
	if (ioctl(target->fd, BLKPBSZGET, &physical) == 0)
		info->physical_block_bytes = physical;
	if (ioctl(target->fd, BLKROGET, &read_only) == 0)
		info->read_only = read_only != 0;
	return 0;
}

static int block_open(struct target *target, const struct target_request *request, int path_fd,
		      struct err *err)
{
	int r;

	target->info.kind = TARGET_BLOCK;
	if (request->writes) {
		r = open_for_writing(target, request, path_fd, err);
	} else {
		target->fd = r = target_reopen(path_fd, target_flags(request, false));
		if (r < 0)
			err_errno(err, r, "%s cannot be opened for reading", target->info.spec);
	}
	if (r < 0)
		return r;
	r = describe(target, err);
	if (r < 0)
		return r;
	/* What the gate read through the page cache must not answer for the device. */
	(void)!posix_fadvise(target->fd, 0, 0, POSIX_FADV_DONTNEED);
	target_set_direct(target, request);
	return 0;
}

const struct target_ops target_block = {
	.mode = S_IFBLK,
	.help = "/dev/x, a block device; written only with consent, and never while in use",
	.open = block_open,
};
