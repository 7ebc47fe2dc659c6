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
	};
	return 0;
}

int target_counters(const struct target *target, struct device_counters *ret, struct err *err)
{
	const struct target_info *info = &target->info;
	char line[512];
	int r;

	if (!info->device_major)
		return err_set(err, -ENODEV, "%s lies on no block device that counts", info->spec);
	r = sysfs_read(line, sizeof(line), "/sys/dev/block/%u:%u/stat", info->device_major,
		       info->device_minor);
	if (r < 0)
		return err_errno(err, r, "counters of %s", info->device);
	if (counters_parse(line, ret) < 0)
		return err_set(err, -EIO, "counters of %s: '%.64s' is not what Linux writes there",
			       info->device, line);
	return 0;
}
