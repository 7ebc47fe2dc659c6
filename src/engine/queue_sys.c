/* SPDX-License-Identifier: MIT */
#include "engine/queue_sys.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/kernel.h"

static int32_t trim(int fd, bool is_device, const struct io *io)
{
	uint64_t range[2] = { io->offset_bytes, io->length_bytes };
	int r;

	if (is_device)
		r = ioctl(fd, BLKDISCARD, range);
	else
		r = fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
			      (off_t)io->offset_bytes, (off_t)io->length_bytes);
	return r < 0 ? -errno : 0;
}

int32_t queue_sys_call(int fd, bool is_device, const struct io *io)
{
	switch ((enum io_kind)io->kind) {
	case IO_READ:
		return (int32_t)kernel_call(SYS_pread64, fd, (long)io->buffer, io->length_bytes,
					    (long)io->offset_bytes, 0, 0);
	case IO_WRITE:
		return (int32_t)kernel_call(SYS_pwrite64, fd, (long)io->buffer, io->length_bytes,
					    (long)io->offset_bytes, 0, 0);
	case IO_TRIM:
		return trim(fd, is_device, io);
	case IO_FSYNC:
		return fsync(fd) < 0 ? -errno : 0;
	case IO_FDATASYNC:
		return fdatasync(fd) < 0 ? -errno : 0;
	}
	return -EINVAL;
}

int32_t queue_sys_target_call(const struct target *target, bool is_device, const struct io *io)
{
	const struct target_part *part = target->parts ? &target->parts[io->part] : NULL;

	return part ? queue_sys_call(part->fd, part->is_device, io) :
		      queue_sys_call(target->fd, is_device, io);
}

bool queue_sys_is_device(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISBLK(st.st_mode);
}

/*
 * A read that must not wait is refused with EOPNOTSUPP before anything else when the file lacks
 * FMODE_NOWAIT; other answers (also EBADF of a write-only fd) tell nothing. At the end, where it
 * transfers nothing: this is no I/O of the workload's.
 */
bool queue_sys_lacks_nowait(const struct target *target)
{
	const uint32_t align_bytes = target->info.logical_block_bytes > 4096 ?
					     target->info.logical_block_bytes : 4096;
	const uint64_t end_bytes =
		(target->info.size_bytes + align_bytes - 1) / align_bytes * align_bytes;
	struct iovec iov = { .iov_len = align_bytes };
	bool lacks = false;

	if (posix_memalign(&iov.iov_base, align_bytes, align_bytes) != 0)
		return false;
	if (preadv2(target->fd, &iov, 1, (off_t)end_bytes, RWF_NOWAIT) < 0)
		lacks = errno == EOPNOTSUPP;
	free(iov.iov_base);
	return lacks;
}
