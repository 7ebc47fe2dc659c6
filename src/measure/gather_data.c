/* SPDX-License-Identifier: MIT */
#include "measure/gather.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "base/defer.h"
#include "base/random.h"
#include "base/units.h"

#define EXTENTS_AT_ONCE 256
#define ZERO_SAMPLES 256
#define ZERO_BLOCK_BYTES 4096u

/* Their place on the device is none, or shared with other things: no alignment to judge. */
#define EXTENT_PLACELESS                                                                        \
	(FIEMAP_EXTENT_UNKNOWN | FIEMAP_EXTENT_DELALLOC | FIEMAP_EXTENT_ENCODED |               \
	 FIEMAP_EXTENT_DATA_INLINE | FIEMAP_EXTENT_DATA_TAIL | FIEMAP_EXTENT_NOT_ALIGNED)

struct range {
	uint64_t start, end;
};

struct zeros {
	uint32_t wanted_count, read_count, zero_count;
};

/* Takes in one extent; returns the bytes of it in the range that hold data. */
static uint64_t take_extent(const struct fiemap_extent *extent, struct range range,
			    uint32_t unit_bytes, struct audit_samples *ret)
{
	uint64_t start = extent->fe_logical, end = extent->fe_logical + extent->fe_length;

	ret->extent_count++;
	if (!(extent->fe_flags & EXTENT_PLACELESS) && extent->fe_physical % unit_bytes)
		ret->extent_misaligned_count++;
	if (extent->fe_flags & FIEMAP_EXTENT_SHARED)
		ret->shared_extents = true;
	if (extent->fe_flags & FIEMAP_EXTENT_ENCODED)
		ret->compressed_extents = true;
	if (extent->fe_flags & FIEMAP_EXTENT_UNWRITTEN)
		return 0;
	start = start > range.start ? start : range.start;
	end = end < range.end ? end : range.end;
	return end > start ? end - start : 0;
}

/* Bytes of data in the range by the file system's own map; -1 when it gives none. */
static int64_t map_extents(int fd, struct range range, uint32_t unit_bytes,
			   struct audit_samples *ret)
{
	DEFER(defer_free) struct fiemap *map =
		calloc(1, sizeof(*map) + EXTENTS_AT_ONCE * sizeof(map->fm_extents[0]));
	uint64_t at = range.start, data_bytes = 0;
	bool last = false;

	while (map && !last && at < range.end) {
		map->fm_start = at;
		map->fm_length = range.end - at;
		map->fm_flags = 0;
		map->fm_extent_count = EXTENTS_AT_ONCE;
		if (ioctl(fd, FS_IOC_FIEMAP, map) < 0)
			return -1;
		if (map->fm_mapped_extents == 0)
			break;
		for (uint32_t i = 0; i < map->fm_mapped_extents; i++) {
			const struct fiemap_extent *extent = &map->fm_extents[i];

			data_bytes += take_extent(extent, range, unit_bytes, ret);
			at = extent->fe_logical + extent->fe_length;
			last = extent->fe_flags & FIEMAP_EXTENT_LAST;
		}
	}
	return map ? (int64_t)data_bytes : -1;
}

/* The same by SEEK_DATA and SEEK_HOLE, which unwritten extents may or may not show up in. */
static int64_t seek_extents(int fd, struct range range)
{
	uint64_t at = range.start, data_bytes = 0;

	while (at < range.end) {
		const off_t data = lseek(fd, (off_t)at, SEEK_DATA);
		off_t hole;

		if (data < 0)
			return errno == ENXIO ? (int64_t)data_bytes : -1;
		if ((uint64_t)data >= range.end)
			break;
		hole = lseek(fd, data, SEEK_HOLE);
		if (hole < 0)
			return -1;
		if ((uint64_t)hole > range.end)
			hole = (off_t)range.end;
		data_bytes += (uint64_t)(hole - data);
		at = (uint64_t)hole;
	}
	return (int64_t)data_bytes;
}

/* What a range of the whole is within one part; empty where they have nothing in common. */
static struct range range_in_part(const struct target *target, uint32_t index, struct range range)
{
	const struct target_part *part = &target->parts[index];
	const uint64_t end_bytes = part->start_bytes + part->size_bytes;
	struct range in = { 0, 0 };

	/* Stripes go round all parts: the same share of each, to within one of them. */
	if (target->stripe_bytes) {
		in.start = range.start / target->part_count;
		in.end = range.end / target->part_count;
	} else if (range.start < end_bytes && range.end > part->start_bytes) {
		in.start = range.start > part->start_bytes ? range.start - part->start_bytes : 0;
		in.end = (range.end < end_bytes ? range.end : end_bytes) - part->start_bytes;
	}
	return in;
}

static void extents_of_parts(const struct target *target, struct range range,
			     struct audit_samples *ret)
{
	double hole_bytes = 0, known_bytes = 0;

	for (uint32_t i = 0; i < target->part_count; i++) {
		const struct range in = range_in_part(target, i, range);
		const struct target alone = { .info = target->info, .fd = target->parts[i].fd };
		const double bytes = (double)(in.end - in.start);
		struct audit_samples one;

		if (in.end <= in.start)
			continue;
		gather_extents(&alone, in.start, in.end - in.start, &one);
		ret->extent_count += one.extent_count;
		ret->extent_misaligned_count += one.extent_misaligned_count;
		ret->shared_extents |= one.shared_extents;
		ret->compressed_extents |= one.compressed_extents;
		ret->allocated_bytes += one.allocated_bytes;
		ret->file_bytes += one.file_bytes;
		if (one.hole_ratio < 0)
			continue;
		hole_bytes += one.hole_ratio * bytes;
		known_bytes += bytes;
	}
	if (known_bytes > 0)
		ret->hole_ratio = hole_bytes / known_bytes;
}

void gather_extents(const struct target *target, uint64_t offset_bytes, uint64_t size_bytes,
		    struct audit_samples *ret)
{
	const struct range range = { offset_bytes, offset_bytes + size_bytes };
	const uint32_t physical_bytes = target->info.physical_block_bytes;
	const uint32_t unit_bytes = physical_bytes > 4096 ? physical_bytes : 4096;
	int64_t data_bytes;
	struct stat st;

	*ret = (struct audit_samples){ .hole_ratio = -1, .zero_ratio = -1 };
	if (target->part_count) {
		extents_of_parts(target, range, ret);
		return;
	}
	if (target->fd < 0 || size_bytes == 0 || fstat(target->fd, &st) < 0 || !S_ISREG(st.st_mode))
		return;
	ret->allocated_bytes = (uint64_t)st.st_blocks * 512;
	ret->file_bytes = (uint64_t)st.st_size;
	data_bytes = map_extents(target->fd, range, unit_bytes, ret);
	if (data_bytes < 0)
		data_bytes = seek_extents(target->fd, range);
	if (data_bytes >= 0)
		ret->hole_ratio = 1 - (double)data_bytes / (double)size_bytes;
}

static bool is_zeros(const unsigned char *bytes, size_t length)
{
	return bytes[0] == 0 && memcmp(bytes, bytes + 1, length - 1) == 0;
}

/* Of one file or device; adds to the counts. */
static void read_zeros(const struct target *target, int target_fd, struct range range,
		       struct zeros *ret)
{
	const uint32_t logical_bytes = target->info.logical_block_bytes;
	const uint64_t unit_bytes =
		logical_bytes > ZERO_BLOCK_BYTES ? logical_bytes : ZERO_BLOCK_BYTES;
	const uint64_t slots = (range.end - range.start) / unit_bytes;
	DEFER(defer_free) void *block = aligned_alloc(unit_bytes, unit_bytes);
	DEFER(defer_close) int fd = -1;
	struct random random;
	char path[64];

	/* A descriptor of our own: direct whatever the job asked for, so that nothing gets cached. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", target_fd);
	fd = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
	if (fd < 0 || !block || slots == 0)
		return;
	/* One block somewhere in each of equal parts; the same blocks on each run. */
	random_init(&random, range.end - range.start);
	for (uint64_t i = 0; i < ret->wanted_count; i++) {
		const uint64_t first = slots * i / ret->wanted_count;
		const uint64_t count = slots * (i + 1) / ret->wanted_count - first;
		const uint64_t slot = first + (count ? random_below(&random, count) : 0);
		const uint64_t at = (range.start + slot * unit_bytes) / unit_bytes * unit_bytes;

		if (pread(fd, block, unit_bytes, (off_t)at) != (ssize_t)unit_bytes)
			continue;
		ret->read_count++;
		ret->zero_count += is_zeros(block, unit_bytes);
	}
}

void gather_zeros(const struct target *target, uint64_t offset_bytes, uint64_t size_bytes,
		  struct audit_samples *ret)
{
	const struct range range = { offset_bytes, offset_bytes + size_bytes };
	struct zeros zeros = { .wanted_count = ZERO_SAMPLES };

	if (target->part_count)
		zeros.wanted_count = (ZERO_SAMPLES - 1) / target->part_count + 1;
	else
		read_zeros(target, target->fd, range, &zeros);
	for (uint32_t i = 0; i < target->part_count; i++)
		read_zeros(target, target->parts[i].fd, range_in_part(target, i, range), &zeros);
	ret->zero_sample_count = zeros.read_count;
	if (zeros.read_count)
		ret->zero_ratio = (double)zeros.zero_count / zeros.read_count;
}
