/* SPDX-License-Identifier: MIT */

/*
 * probe_ask - asks the drive itself. Where the kernel's discard fails, has no effect, or is not to
 * be had, one piece of ours is discarded by the drive's own command, sent past the kernel's queue:
 * so it is told who is in the way, the drive or what lies before it. Only for whole drives opened
 * through the gate with consent, and only the command that the drive announces.
 */

#include <errno.h>
#include <linux/nvme_ioctl.h>
#include <scsi/sg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/defer.h"
#include "base/units.h"
#include "state/purge.h"
#include "trim/probe_work.h"

#define PIECE_MAX_BYTES MIB
#define TIMEOUT_MS 15000u
#define SENSE_BYTES 64

static const uint64_t look_after_ns[] = { 0, SECOND_NS, 5 * SECOND_NS };

/* --- sending ---------------------------------------------------------------------------- */

struct scsi_command {
	uint8_t cdb[ATA_CDB_BYTES];
	uint8_t cdb_bytes;
	_Alignas(8) uint8_t data[512];
	uint32_t data_bytes;
};

static int send_scsi(int fd, struct scsi_command *command, struct err *err)
{
	uint8_t sense[SENSE_BYTES] = { 0 };
	struct sg_io_hdr io = {
		.interface_id = 'S',
		.cmd_len = command->cdb_bytes,
		.cmdp = command->cdb,
		.dxfer_direction = SG_DXFER_TO_DEV,
		.dxferp = command->data,
		.dxfer_len = command->data_bytes,
		.sbp = sense,
		.mx_sb_len = SENSE_BYTES,
		.timeout = TIMEOUT_MS,
	};
	int key;

	if (ioctl(fd, SG_IO, &io) < 0)
		return err_errno(err, -errno, "the driver lets no command through");
	key = scsi_sense_key(sense, io.sb_len_wr);
	if (!io.host_status && !(io.driver_status & ~8) &&
	    (!io.status || key == SENSE_NONE || key == SENSE_RECOVERED))
		return 0;
	return err_set(err, key == SENSE_ILLEGAL_REQUEST ? -EOPNOTSUPP : -EIO,
		       "status 0x%x, sense key %d, host 0x%x", io.status, key, io.host_status);
}

static int send_unmap(int fd, const struct block_range *range, struct err *err)
{
	struct scsi_command command = { .cdb_bytes = UNMAP_CDB_BYTES,
					.data_bytes = UNMAP_LIST_BYTES };

	scsi_unmap(command.cdb, command.data, range);
	return send_scsi(fd, &command, err);
}

static int send_ata(int fd, const struct block_range *range, struct err *err)
{
	struct scsi_command command = { .cdb_bytes = ATA_CDB_BYTES, .data_bytes = 512 };

	ata_trim(command.cdb, command.data, range);
	return send_scsi(fd, &command, err);
}

static int send_nvme(int fd, const struct block_range *range, struct err *err)
{
	DEFER(defer_free) uint8_t *ranges = aligned_alloc(4096, 4096);
	const int nsid = ioctl(fd, NVME_IOCTL_ID);
	struct nvme_passthru_cmd command;
	int r;

	if (nsid <= 0 || !ranges)
		return err_errno(err, nsid < 0 ? -errno : -ENOMEM, "the namespace's number");
	nvme_deallocate(&command, (uint32_t)nsid, range, ranges);
	command.timeout_ms = TIMEOUT_MS;
	r = ioctl(fd, NVME_IOCTL_IO_CMD, &command);
	if (r < 0)
		return err_errno(err, -errno, "the driver lets no command through");
	return r > 0 ? err_set(err, -EIO, "status 0x%x", (unsigned int)r) : 0;
}

static const struct {
	const char *command;
	int (*send)(int fd, const struct block_range *range, struct err *err);
} ways[] = {
	[DIRECT_NVME] = { "Dataset Management", send_nvme },
	[DIRECT_UNMAP] = { "UNMAP", send_unmap },
	[DIRECT_ATA] = { "DATA SET MANAGEMENT", send_ata },
};

/* --- which piece ------------------------------------------------------------------------ */

static bool holds_ours(struct probe *p, const struct stretch *stretch)
{
	struct sector_count count = { 0 };

	return probe_look(p, stretch, &count, NULL) == 0 && count.old == sector_total(&count);
}

/* The largest up to 1 MiB, or to what the drive takes at once, that is as it was written. */
static struct stretch *choose(struct probe *p, uint64_t most_bytes)
{
	struct stretch *best = NULL;

	for (uint32_t i = 0; i < p->spread.count; i++) {
		struct stretch *stretch = &p->spread.stretches[i];

		if (!stretch->guard && stretch->bytes <= most_bytes &&
		    (!best || stretch->bytes > best->bytes) && holds_ours(p, stretch))
			best = stretch;
	}
	return best;
}

/* --- asking ----------------------------------------------------------------------------- */

bool trim_probe_can_ask(const struct trim_report *report)
{
	return report->layer_count == 1 && report->layers[0].direct != DIRECT_NONE;
}

/* The kernel's discard failed, or everything is as it was. */
static bool is_open(struct probe *p)
{
	const struct target_info *info = &p->target->info;
	const struct trim_report *report = p->report;

	if (p->is_file || p->queue || report->aborted || probe_stopped(p) ||
	    !trim_probe_can_ask(report) || info->has_partition || info->layer_count != 1)
		return false;
	for (uint32_t i = report->evidence_count; i-- > 0;)
		if (strcmp(report->evidence[i].code, "read-back") == 0)
			return report->evidence[i].content == CONTENT_OLD;
	return p->ended;
}

static void tell(struct probe *p, const struct stretch *stretch, const struct sector_count *count)
{
	const uint64_t gone = count->zeros + count->ones, total = sector_total(count);
	const enum trim_direct direct = p->report->layers[0].direct;
	char text[UNITS_TEXT_BYTES];
	struct trim_evidence *evidence;

	units_format_size((double)stretch->bytes, text);
	evidence = probe_say(p, RUNG_NONE, "asked-directly", 2 * gone >= total,
			     "%s sent past the kernel's queue: the drive says yes, and %s %s",
			     ways[direct].command, text,
			     2 * gone < total ? "still read as before" :
			     count->ones > count->zeros ? "read as ones" : "read as zeros");
	evidence->bytes = gone * SECTOR_BYTES;
	evidence->content = sector_most(count);
	evidence->after_ns = clock_now_ns(p->clock) - p->freed_ns;
}

static int look(struct probe *p, const struct stretch *stretch, struct err *err)
{
	struct sector_count count = { 0 };

	for (size_t i = 0; i < ARRAY_COUNT(look_after_ns); i++) {
		int r;

		clock_sleep_until(p->clock, p->freed_ns + look_after_ns[i], p->options->stop);
		count = (struct sector_count){ 0 };
		r = probe_look(p, stretch, &count, err);
		if (r < 0)
			return r;
		if (count.old < sector_total(&count) || probe_stopped(p))
			break;
	}
	tell(p, stretch, &count);
	return 0;
}

static void look_at_log(struct probe *p)
{
	char line[256];

	if (p->klog_fd < 0 ||
	    klog_read(p->klog_fd, &p->names, line, sizeof(line)) != KLOG_TROUBLE)
		return;
	p->report->aborted = true;
	probe_say(p, RUNG_NONE, "kernel-log", false, "the kernel's log says: %s", line);
}

static int refused(struct probe *p, const char *command, const struct err *err)
{
	struct trim_evidence *evidence =
		probe_say(p, RUNG_NONE, "asked-directly", false,
			  "%s sent past the kernel's queue is refused: %s", command, err->text);

	evidence->error = err->code;
	return 0;
}

int probe_ask(struct probe *p, struct err *err)
{
	const struct trim_layer *layer = &p->report->layers[0];
	const uint32_t block_bytes = p->target->info.logical_block_bytes;
	uint64_t most_bytes = PIECE_MAX_BYTES;
	struct err own = { 0 };
	struct block_range range;
	struct stretch *piece;
	int r;

	(void)err;
	if (!is_open(p) || block_bytes == 0)
		return 0;
	if (layer->direct_max_blocks && layer->direct_max_blocks < most_bytes / block_bytes)
		most_bytes = layer->direct_max_blocks * block_bytes;
	piece = choose(p, most_bytes);
	if (!piece)
		return 0;
	range = (struct block_range){ piece->at_bytes / block_bytes,
				      (uint32_t)(piece->bytes / block_bytes) };
	piece->freed = true;
	p->freed_ns = clock_now_ns(p->clock);
	r = ways[layer->direct].send(p->target->fd, &range, &own);
	if (r == 0)
		r = probe_flush(p, &own);
	if (r == 0)
		r = look(p, piece, &own);
	look_at_log(p);
	return r < 0 ? refused(p, ways[layer->direct].command, &own) : 0;
}
