/* SPDX-License-Identifier: MIT */
#include "trim/probe_fiemap.h"

#include <errno.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "base/defer.h"

#define AT_ONCE 256

const char *fiemap_refused(uint32_t flags)
{
	static const struct {
		uint32_t flag;
		const char *words;
	} refused[] = {
		{ FIEMAP_EXTENT_DELALLOC, "delayed allocation" },
		{ FIEMAP_EXTENT_DATA_INLINE, "inline data" },
		{ FIEMAP_EXTENT_DATA_TAIL, "tail packing" },
		{ FIEMAP_EXTENT_DATA_ENCRYPTED, "encrypted data" },
		{ FIEMAP_EXTENT_ENCODED, "encoded (compressed) data" },
		{ FIEMAP_EXTENT_SHARED, "shared blocks" },
		{ FIEMAP_EXTENT_UNWRITTEN, "unwritten blocks" },
		{ FIEMAP_EXTENT_NOT_ALIGNED, "unaligned data" },
		{ FIEMAP_EXTENT_UNKNOWN, "an unknown place" },
	};

	for (size_t i = 0; i < ARRAY_COUNT(refused); i++)
		if (flags & refused[i].flag)
			return refused[i].words;
	return NULL;
}

/* Joined to the last when it goes on there. */
static int add(struct file_extents *extents, const struct file_extent *extent)
{
	struct file_extent *last = extents->count ? &extents->list[extents->count - 1] : NULL;
	struct file_extent *more;

	if (last && last->file_bytes + last->length_bytes == extent->file_bytes &&
	    last->physical_bytes + last->length_bytes == extent->physical_bytes) {
		last->length_bytes += extent->length_bytes;
		return 0;
	}
	/* Grown by doubling: full when the count is a power of two. */
	if ((extents->count & (extents->count - 1)) == 0) {
		const size_t room = extents->count ? extents->count * 2 : 1;

		more = realloc(extents->list, room * sizeof(*more));
		if (!more)
			return -ENOMEM;
		extents->list = more;
	}
	extents->list[extents->count++] = *extent;
	return 0;
}

int fiemap_join(struct file_extents *extents, const struct file_extents *more)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < more->count; i++)
		r = add(extents, &more->list[i]);
	return r;
}

static int take(struct file_extents *extents, const struct fiemap_extent *e, struct err *err)
{
	const char *refused = fiemap_refused(e->fe_flags);
	int r;

	if (refused)
		return err_set(err, -ENOTSUP, "the file system answers for %s at %llu", refused,
			       (unsigned long long)e->fe_logical);
	r = add(extents, &(struct file_extent){ e->fe_logical, e->fe_physical, e->fe_length });
	return r < 0 ? err_errno(err, r, "extents") : 0;
}

/* 0, -ENOTTY or -EOPNOTSUPP where it is not known. */
static int by_fiemap(int fd, struct file_extents *extents, struct err *err)
{
	DEFER(defer_free)
	struct fiemap *map = calloc(1, sizeof(*map) + AT_ONCE * sizeof(map->fm_extents[0]));
	uint64_t at = 0;
	bool last = false;
	int r = 0;

	if (!map)
		return err_errno(err, -ENOMEM, "extents");
	while (r == 0 && !last) {
		map->fm_start = at;
		map->fm_length = FIEMAP_MAX_OFFSET - at;
		map->fm_flags = FIEMAP_FLAG_SYNC;
		map->fm_extent_count = AT_ONCE;
		if (ioctl(fd, FS_IOC_FIEMAP, map) < 0)
			return err_errno(err, -errno, "FIEMAP");
		if (map->fm_mapped_extents == 0)
			break;
		for (uint32_t i = 0; r == 0 && i < map->fm_mapped_extents; i++) {
			const struct fiemap_extent *e = &map->fm_extents[i];

			r = take(extents, e, err);
			at = e->fe_logical + e->fe_length;
			last |= (e->fe_flags & FIEMAP_EXTENT_LAST) != 0;
		}
	}
	return r;
}

static int by_fibmap(int fd, struct file_extents *extents, struct err *err)
{
	struct stat st;
	int block_bytes, r = 0;

	if (fstat(fd, &st) < 0 || ioctl(fd, FIGETBSZ, &block_bytes) < 0)
		return err_errno(err, -errno, "FIBMAP");
	for (uint64_t i = 0; r == 0 && i * (uint64_t)block_bytes < (uint64_t)st.st_size; i++) {
		int block = (int)i;

		if (ioctl(fd, FIBMAP, &block) < 0) {
			r = errno == EINVAL || errno == ENOTTY ? -EOPNOTSUPP : -errno;
			return err_errno(err, r, "where the file lies (FIEMAP, FIBMAP)");
		}
		/* A hole; who looks for what was written there finds none. */
		if (block == 0)
			continue;
		r = add(extents, &(struct file_extent){ i * (uint64_t)block_bytes,
							(uint64_t)(unsigned int)block *
								(uint64_t)block_bytes,
							(uint64_t)block_bytes });
		if (r < 0)
			return err_errno(err, r, "extents");
	}
	return 0;
}

int fiemap_read(int fd, struct file_extents *ret, struct err *err)
{
	struct file_extents extents = { 0 };
	int r = by_fiemap(fd, &extents, err);

	if (r == -EOPNOTSUPP || r == -ENOTTY)
		r = by_fibmap(fd, &extents, err);
	if (r < 0)
		free(extents.list);
	else
		*ret = extents;
	return r;
}
