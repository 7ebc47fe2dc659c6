/* SPDX-License-Identifier: MIT */
#include "target/counters.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

#include "base/sysfs.h"

#define SECTOR_BYTES 512	/* of this file, whatever the device's blocks are */

/* Columns of Documentation/block/stat.rst. */
enum {
	READ_IOS, READ_MERGES, READ_SECTORS, READ_MS,
	WRITE_IOS, WRITE_MERGES, WRITE_SECTORS, WRITE_MS,
	IN_FLIGHT, IO_MS, QUEUE_MS,
	DISCARD_IOS, DISCARD_MERGES, DISCARD_SECTORS, DISCARD_MS,
	FLUSH_IOS, FLUSH_MS,
	COLUMNS
};

int counters_parse(const char *line, struct device_counters *ret)
{
	uint64_t columns[COLUMNS] = { 0 };
	int count = 0;

	while (count < COLUMNS) {
		char *end;

		while (isspace((unsigned char)*line))
			line++;
		if (!*line)
			break;
		if (!isdigit((unsigned char)*line))
			return -EINVAL;
		columns[count++] = strtoull(line, &end, 10);
		line = end;
	}
	if (count <= QUEUE_MS)
		return -EINVAL;
	*ret = (struct device_counters){
		.read_count = columns[READ_IOS],
		.read_bytes = columns[READ_SECTORS] * SECTOR_BYTES,
		.write_count = columns[WRITE_IOS],
		.write_bytes = columns[WRITE_SECTORS] * SECTOR_BYTES,
		.discard_count = columns[DISCARD_IOS],
		.discard_bytes = columns[DISCARD_SECTORS] * SECTOR_BYTES,
		.discard_ns = columns[DISCARD_MS] * MILLISECOND_NS,
		.flush_count = columns[FLUSH_IOS],
		.in_flight_count = columns[IN_FLIGHT],
		.read_merge_count = columns[READ_MERGES],
		.write_merge_count = columns[WRITE_MERGES],
		.read_ms = columns[READ_MS],
		.write_ms = columns[WRITE_MS],
		.busy_ms = columns[IO_MS],
		.queue_ms = columns[QUEUE_MS],
	};
	return 0;
}

static int read_counters(uint32_t major, uint32_t minor, const char *device,
			 struct device_counters *ret, struct err *err)
{
	char line[512];
	int r = sysfs_read(line, sizeof(line), "/sys/dev/block/%u:%u/stat", major, minor);

	if (r < 0)
		return err_errno(err, r, "counters of %s", device);
	if (counters_parse(line, ret) < 0)
		return err_set(err, -EIO, "counters of %s: '%.64s' is not what Linux writes there",
			       device, line);
	return 0;
}

static bool is_counted(const struct target *target, uint32_t index)
{
	const struct target_part *part = &target->parts[index];

	for (uint32_t i = 0; i < index; i++)
		if (target->parts[i].device_major == part->device_major &&
		    target->parts[i].device_minor == part->device_minor)
			return true;
	return false;
}

/* Of each device that has a part, once. */
static int add_parts(const struct target *target, struct device_counters *ret, struct err *err)
{
	struct device_counters sum = { 0 };

	for (uint32_t i = 0; i < target->part_count; i++) {
		const struct target_part *part = &target->parts[i];
		struct device_counters one;
		int r;

		if (is_counted(target, i))
			continue;
		r = read_counters(part->device_major, part->device_minor, target->info.spec, &one,
				  err);
		if (r < 0)
			return r;
		sum.read_count += one.read_count;
		sum.read_bytes += one.read_bytes;
		sum.write_count += one.write_count;
		sum.write_bytes += one.write_bytes;
		sum.discard_count += one.discard_count;
		sum.discard_bytes += one.discard_bytes;
		sum.flush_count += one.flush_count;
		sum.in_flight_count += one.in_flight_count;
	}
	*ret = sum;
	return 0;
}

int target_counters(const struct target *target, struct device_counters *ret, struct err *err)
{
	const struct target_info *info = &target->info;

	for (uint32_t i = 0; i < target->part_count; i++)
		if (!target->parts[i].device_major)
			return err_set(err, -ENODEV, "%s lies on no block devices that count",
				       info->spec);
	if (target->part_count)
		return add_parts(target, ret, err);
	if (!info->device_major)
		return err_set(err, -ENODEV, "%s lies on no block device that counts", info->spec);
	return read_counters(info->device_major, info->device_minor, info->device, ret, err);
}
