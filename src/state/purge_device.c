/* SPDX-License-Identifier: MIT */

/* purge_device - erasing by a drive's own firmware, on the descriptor that the gate opened. */

#include <errno.h>
#include <scsi/sg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/defer.h"
#include "state/purge.h"
#include "state/work.h"

#define POLL_NS SECOND_NS
#define SHORT_MS 15000u
#define SENSE_BYTES 64

void purge_progress(struct work *work, uint64_t begin_ns, double done)
{
	const struct state_options *o = &work->state->options;
	struct engine_progress progress = {
		.elapsed_ns = clock_now_ns(work->state->clock) - begin_ns,
		.done_bytes = (uint64_t)(done * 1e6),
		.total_bytes = PPM,
	};

	if (o->progress)
		o->progress(o->progress_ctx, &progress);
}

/* Once begun a sanitize goes on whatever we do: *stop ends our waiting, and the result says so. */
static int wait_for(struct work *work, int (*state)(struct work *, double *, struct err *),
		    struct err *err)
{
	const struct clock *clock = work->state->clock;
	const uint64_t begin_ns = clock_now_ns(clock);

	for (;;) {
		double done = 0;
		const int r = state(work, &done, err);

		if (r <= 0)
			return r;
		purge_progress(work, begin_ns, done);
		if (work_stopped(work))
			return err_set(err, -EINTR,
				       "not waited for: the drive goes on with it (%.0f %% done) and is "
				       "not to be used until it is through", done * 100);
		clock_sleep_until(clock, clock_now_ns(clock) + POLL_NS, work->state->options.stop);
	}
}

/* What erases a whole drive must have been given a whole drive. */
static int check_whole(const struct target_info *info, struct err *err)
{
	if (info->kind != TARGET_BLOCK)
		return err_set(err, -EOPNOTSUPP, "%s is no drive", info->spec);
	if (info->has_partition || info->layer_count != 1)
		return err_set(err, -EOPNOTSUPP,
			       "%s is a part of a drive, and its firmware erases all of it", info->spec);
	return 0;
}

/* Devices of other kinds do not know the call at all. */
static int no_such_drive(const struct work *work, const char *kind, int code, struct err *err)
{
	if (code != -EINVAL && code != -ENOTTY && code != -EOPNOTSUPP)
		return code;
	return err_set(err, -EOPNOTSUPP, "%s is no %s drive, or its driver lets no command through",
		       work->state->target->info.spec, kind);
}

/* --- NVMe --------------------------------------------------------------------------- */

static int nvme_send(struct work *work, struct nvme_admin_cmd *command, const char *what,
		     struct err *err)
{
	const int r = ioctl(work->state->target->fd, NVME_IOCTL_ADMIN_CMD, command);

	if (r < 0)
		return err_errno(err, -errno, "%s", what);
	if (r > 0)
		return err_set(err, -EIO, "%s: the drive answers with status 0x%x", what,
			       (unsigned int)r);
	return 0;
}

static int nvme_sanitize_look(struct work *work, double *ret_done, struct err *err)
{
	_Alignas(8) uint8_t log[512] = { 0 };
	struct nvme_admin_cmd command;
	int r;

	nvme_sanitize_log(&command, log);
	r = nvme_send(work, &command, "sanitize status", err);
	if (r < 0)
		return r;
	r = nvme_sanitize_state(log, ret_done);
	return r < 0 ? err_set(err, r, "the drive says that its sanitize failed") : r;
}

static int nvme_sanitize_all(struct work *work, const uint8_t *controller,
			     enum nvme_sanitize action, struct err *err)
{
	struct nvme_admin_cmd command;
	int r = nvme_check_sanitize(controller, action, err);

	if (r < 0)
		return r;
	nvme_sanitize(&command, action);
	r = nvme_send(work, &command, "sanitize", err);
	return r < 0 ? r : wait_for(work, nvme_sanitize_look, err);
}

static int nvme_format_one(struct work *work, const uint8_t *controller, enum nvme_erase erase,
			   struct err *err)
{
	DEFER(defer_free) uint8_t *namespace = aligned_alloc(4096, 4096);
	const int nsid = ioctl(work->state->target->fd, NVME_IOCTL_ID);
	struct nvme_admin_cmd command;
	int r = nvme_check_format(controller, erase, err);

	if (r < 0)
		return r;
	if (nsid <= 0 || !namespace)
		return err_errno(err, nsid < 0 ? -errno : -ENOMEM, "the namespace's number");
	nvme_identify_namespace(&command, (uint32_t)nsid, namespace);
	r = nvme_send(work, &command, "identify namespace", err);
	if (r < 0)
		return r;
	nvme_format(&command, (uint32_t)nsid, namespace, erase);
	return nvme_send(work, &command, "format", err);
}

int purge_nvme(struct work *work, enum purge_method method, struct err *err)
{
	DEFER(defer_free) uint8_t *controller = aligned_alloc(4096, 4096);
	struct nvme_admin_cmd command;
	int r = check_whole(&work->state->target->info, err);

	if (r < 0)
		return r;
	if (!controller)
		return err_set(err, -ENOMEM, "no memory");
	nvme_identify_controller(&command, controller);
	r = nvme_send(work, &command, "identify controller", err);
	if (r < 0)
		return no_such_drive(work, "NVMe", r, err);
	switch (method) {
	case PURGE_NVME_FORMAT:
		return nvme_format_one(work, controller, NVME_ERASE_USER_DATA, err);
	case PURGE_NVME_FORMAT_CRYPTO:
		return nvme_format_one(work, controller, NVME_ERASE_CRYPTO, err);
	case PURGE_NVME_SANITIZE_BLOCK:
		return nvme_sanitize_all(work, controller, NVME_SANITIZE_BLOCK, err);
	default:
		return nvme_sanitize_all(work, controller, NVME_SANITIZE_CRYPTO, err);
	}
}

/* --- ATA ---------------------------------------------------------------------------- */

struct ata_command {
	const char *what;
	uint8_t cdb[ATA_CDB_BYTES];
	_Alignas(8) uint8_t data[512];
	bool reads;
	uint32_t timeout_ms;
	uint8_t sense[SENSE_BYTES];
	uint8_t sense_bytes;
};

static bool has_data(const struct ata_command *command)
{
	return command->cdb[6] != 0;
}

static int ata_send(struct work *work, struct ata_command *command, struct err *err)
{
	int key;
	struct sg_io_hdr io = {
		.interface_id = 'S',
		.cmd_len = ATA_CDB_BYTES,
		.cmdp = command->cdb,
		.sbp = command->sense,
		.mx_sb_len = SENSE_BYTES,
		.timeout = command->timeout_ms ? command->timeout_ms : SHORT_MS,
		.dxfer_direction = SG_DXFER_NONE,
	};

	if (has_data(command)) {
		io.dxfer_direction = command->reads ? SG_DXFER_FROM_DEV : SG_DXFER_TO_DEV;
		io.dxferp = command->data;
		io.dxfer_len = sizeof(command->data);
	}
	if (ioctl(work->state->target->fd, SG_IO, &io) < 0)
		return err_errno(err, -errno, "%s", command->what);
	command->sense_bytes = io.sb_len_wr;
	key = scsi_sense_key(command->sense, io.sb_len_wr);
	/* With the registers asked back, success comes as "recovered error". */
	if (!io.host_status && !(io.driver_status & ~8) &&
	    (!io.status || key == SENSE_NONE || key == SENSE_RECOVERED))
		return 0;
	return err_set(err, key == SENSE_ILLEGAL_REQUEST ? -EOPNOTSUPP : -EIO,
		       "%s: the drive refuses it (status 0x%x, sense key %d, host 0x%x)",
		       command->what, io.status, key, io.host_status);
}

static int ata_read_identify(struct work *work, uint16_t identify[256], struct err *err)
{
	struct ata_command command = { .what = "identify", .reads = true };
	int r;

	ata_identify(command.cdb);
	r = ata_send(work, &command, err);
	if (r < 0)
		return no_such_drive(work, "ATA", r, err);
	for (size_t i = 0; i < 256; i++)
		identify[i] = (uint16_t)(command.data[2 * i] | command.data[2 * i + 1] << 8);
	return r;
}

static int ata_sanitize_look(struct work *work, double *ret_done, struct err *err)
{
	struct ata_command command = { .what = "sanitize status" };
	int r;

	ata_sanitize(command.cdb, ATA_SANITIZE_STATUS);
	r = ata_send(work, &command, err);
	if (r < 0)
		return r;
	r = ata_sanitize_state(command.sense, command.sense_bytes, ret_done);
	return r < 0 ? err_set(err, r, "the drive says that its sanitize failed") : r;
}

static int ata_sanitize_all(struct work *work, const uint16_t identify[256],
			    enum ata_sanitize what, struct err *err)
{
	struct ata_command command = { .what = "sanitize" };
	int r = ata_check_sanitize(identify, what, err);

	if (r < 0)
		return r;
	ata_sanitize(command.cdb, what);
	r = ata_send(work, &command, err);
	return r < 0 ? r : wait_for(work, ata_sanitize_look, err);
}

/* The security erase as a procedure: what locks the drive is taken back if it fails. */
struct ata_erase {
	struct work *work;
	bool enhanced;
	uint64_t seconds;
};

static int erase_set_password(void *ctx, struct err *err)
{
	struct ata_erase *e = ctx;
	struct ata_command command = { .what = "set the password that an erase needs" };

	ata_set_password(command.cdb, command.data);
	return ata_send(e->work, &command, err);
}

static void erase_drop_password(void *ctx)
{
	struct ata_erase *e = ctx;
	struct ata_command command = { .what = "take the password back" };

	ata_disable_password(command.cdb, command.data);
	(void)ata_send(e->work, &command, NULL);
}

static int erase_prepare(void *ctx, struct err *err)
{
	struct ata_erase *e = ctx;
	struct ata_command command = { .what = "erase prepare" };

	ata_erase_prepare(command.cdb);
	return ata_send(e->work, &command, err);
}

/* Twice as long as it says, an hour at least. A success removes the password by itself. */
static int erase_unit(void *ctx, struct err *err)
{
	struct ata_erase *e = ctx;
	struct ata_command command = { .what = "erase unit" };
	const uint64_t seconds = e->seconds * 2 > 3600 ? e->seconds * 2 : 3600;

	ata_erase_unit(command.cdb, command.data, e->enhanced);
	command.timeout_ms = seconds > UINT32_MAX / 1000 ? UINT32_MAX : (uint32_t)(seconds * 1000);
	return ata_send(e->work, &command, err);
}

static const struct action erase_actions[] = {
	{ "set password", erase_set_password, erase_drop_password },
	{ "prepare", erase_prepare, NULL },
	{ "erase", erase_unit, NULL },
	{ NULL, NULL, NULL },
};

int purge_ata(struct work *work, enum purge_method method, struct err *err)
{
	struct ata_erase erase = { work, method == PURGE_ATA_ERASE_ENHANCED, 0 };
	uint16_t identify[256];
	int r = check_whole(&work->state->target->info, err);

	if (r == 0)
		r = ata_read_identify(work, identify, err);
	if (r < 0)
		return r;
	if (method == PURGE_ATA_SANITIZE_BLOCK)
		return ata_sanitize_all(work, identify, ATA_SANITIZE_BLOCK, err);
	if (method == PURGE_ATA_SANITIZE_CRYPTO)
		return ata_sanitize_all(work, identify, ATA_SANITIZE_CRYPTO, err);
	r = ata_check_erase(identify, erase.enhanced, err);
	if (r < 0)
		return r;
	erase.seconds = ata_erase_s(identify, erase.enhanced);
	return actions_run(&(struct action_run){ .actions = erase_actions, .ctx = &erase }, err);
}
