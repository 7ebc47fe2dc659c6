/* SPDX-License-Identifier: MIT */

/* ledger_drive - a drive's own count of what was written to it. */

#include <fcntl.h>
#include <scsi/sg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/defer.h"
#include "state/ledger.h"
#include "state/purge.h"

static bool nvme_written(int fd, uint64_t *ret)
{
	_Alignas(8) uint8_t log[512] = { 0 };
	struct nvme_admin_cmd command;

	nvme_smart_log(&command, log);
	if (ioctl(fd, NVME_IOCTL_ADMIN_CMD, &command) != 0)
		return false;
	*ret = nvme_smart_written_bytes(log);
	return true;
}

static bool ata_written(int fd, uint32_t logical_block_bytes, uint64_t *ret)
{
	_Alignas(8) uint8_t page[512] = { 0 };
	uint8_t cdb[ATA_CDB_BYTES], sense[64];
	struct sg_io_hdr io = {
		.interface_id = 'S',
		.cmd_len = ATA_CDB_BYTES,
		.cmdp = cdb,
		.sbp = sense,
		.mx_sb_len = sizeof(sense),
		.timeout = 5000,
		.dxfer_direction = SG_DXFER_FROM_DEV,
		.dxferp = page,
		.dxfer_len = sizeof(page),
	};

	ata_statistics(cdb);
	if (ioctl(fd, SG_IO, &io) < 0 || io.status || io.host_status)
		return false;
	return ata_statistics_written_bytes(page, logical_block_bytes, ret);
}

bool ledger_drive_written(const struct target_info *info, uint64_t *ret)
{
	char path[80];

	if (!info->device[0])
		return false;
	snprintf(path, sizeof(path), "/dev/%s", info->device);
	if (strncmp(info->device, "nvme", 4) != 0 && strncmp(info->device, "sd", 2) != 0)
		return false;
	DEFER(defer_close) int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (info->device[0] == 'n')
		return nvme_written(fd, ret);
	return ata_written(fd, info->logical_block_bytes ? info->logical_block_bytes : 512, ret);
}
