/* SPDX-License-Identifier: MIT */

/*
 * tare-nbdkit-plugin - the reference drive as an nbdkit plug-in, so that anything that
 * speaks NBD can have it; QEMU puts it behind its NVMe, SATA and SCSI controllers:
 *
 *	nbdkit -U /tmp/s.sock -t 64 ./tare-nbdkit-plugin.so x25m-g2,capacity=8g
 *	qemu-system-x86_64 ... -device nvme,drive=d,serial=1 \
 *		-drive if=none,id=d,format=raw,discard=unmap,file=nbd+unix:///?socket=/tmp/s.sock
 *
 * Each request waits in its own thread of nbdkit's until the drive is done with it. The
 * export "stat" is the drive's counters as JSON, as they were when it was opened:
 *
 *	nbdcopy 'nbd+unix:///stat?socket=/tmp/s.sock' -
 */

#define NBDKIT_API_VERSION 2

#include <errno.h>
#include <nbdkit-plugin.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "serve/live.h"

#define THREAD_MODEL NBDKIT_THREAD_MODEL_PARALLEL
#define STAT_EXPORT "stat"
#define REQUEST_BYTES_MAX (32u << 20)

static char *spec;
static struct live *live;

struct export {
	bool is_stat;
	struct text stat;
};

static int fail(const struct err *err)
{
	nbdkit_error("%s%s%s", err->text, err->hint[0] ? ": " : "", err->hint);
	nbdkit_set_error(-err->code);
	return -1;
}

static int tare_config(const char *key, const char *value)
{
	if (strcmp(key, "spec") != 0) {
		nbdkit_error("unknown parameter '%s': the only one is spec=NAME[,KEY=VALUE]...", key);
		return -1;
	}
	if (spec) {
		nbdkit_error("spec is given twice");
		return -1;
	}
	spec = strdup(value);
	return spec ? 0 : -1;
}

static int tare_config_complete(void)
{
	if (spec)
		return 0;
	nbdkit_error("which drive? Give spec=NAME[,KEY=VALUE]..., as 'tare sim list' names them");
	return -1;
}

static int tare_get_ready(void)
{
	struct err err = { 0 };

	return live_open(&live, spec, &err) < 0 ? fail(&err) : 0;
}

static void tare_unload(void)
{
	live_close(live);
	free(spec);
}

static int tare_list_exports(int readonly, int is_tls, struct nbdkit_exports *exports)
{
	(void)readonly;
	(void)is_tls;
	if (nbdkit_add_export(exports, "", "the drive") < 0)
		return -1;
	return nbdkit_add_export(exports, STAT_EXPORT, "its counters, JSON");
}

static void *tare_open(int readonly)
{
	const char *name = nbdkit_export_name();
	struct export *export;

	(void)readonly;
	if (!name || (name[0] && strcmp(name, STAT_EXPORT) != 0)) {
		nbdkit_error("no export '%s': there are '' (the drive) and '" STAT_EXPORT "'",
			     name ? name : "");
		return NULL;
	}
	export = calloc(1, sizeof(*export));
	if (!export)
		return NULL;
	export->is_stat = name[0] != '\0';
	if (export->is_stat)
		live_stat_text(live, NULL, &export->stat);
	return export;
}

static void tare_close(void *handle)
{
	struct export *export = handle;

	text_done(&export->stat);
	free(export);
}

static int64_t tare_get_size(void *handle)
{
	const struct export *export = handle;

	return export->is_stat ? (int64_t)export->stat.length :
				 (int64_t)live_identity(live)->capacity_bytes;
}

static int tare_block_size(void *handle, uint32_t *minimum, uint32_t *preferred, uint32_t *maximum)
{
	const struct export *export = handle;
	const struct sim_identity *id = live_identity(live);

	*minimum = export->is_stat ? 1 : (uint32_t)id->logical_block_bytes;
	*preferred = export->is_stat ? 4096 : (uint32_t)id->physical_block_bytes;
	*maximum = export->is_stat ? UINT32_MAX : REQUEST_BYTES_MAX;
	return 0;
}

static int is_drive(void *handle)
{
	return !((const struct export *)handle)->is_stat;
}

static int tare_can_trim(void *handle)
{
	return is_drive(handle) && live_identity(live)->discard;
}

static int tare_can_zero(void *handle)
{
	return is_drive(handle);
}

static int tare_can_fua(void *handle)
{
	return is_drive(handle) ? NBDKIT_FUA_NATIVE : NBDKIT_FUA_NONE;
}

static int tare_can_multi_conn(void *handle)
{
	(void)handle;	/* one drive, whoever asks: a flush is for all */
	return 1;
}

static int tare_is_rotational(void *handle)
{
	(void)handle;
	return 0;
}

/* --- requests ---------------------------------------------------------------------------- */

static int submit(const struct sim_request *request)
{
	static const struct clock monotonic = { 0 };
	struct live_answer answer;

	live_submit(live, request, &answer);
	clock_sleep_until(&monotonic, answer.due_ns, NULL);
	live_answered(live, answer.number);
	if (answer.error == 0)
		return 0;
	nbdkit_set_error(-answer.error);
	return -1;
}

/* FUA of what the drive has no such flag for. */
static int flush_if(uint32_t flags)
{
	return flags & NBDKIT_FLAG_FUA ? submit(&(struct sim_request){ .kind = SIM_FLUSH }) : 0;
}

static int tare_pread(void *handle, void *buffer, uint32_t count, uint64_t offset, uint32_t flags)
{
	const struct export *export = handle;

	(void)flags;
	if (export->is_stat) {
		memcpy(buffer, export->stat.data + offset, count);
		return 0;
	}
	return submit(&(struct sim_request){ .kind = SIM_READ, .offset_bytes = offset,
					     .length_bytes = count, .bytes_ret = buffer });
}

static int tare_pwrite(void *handle, const void *buffer, uint32_t count, uint64_t offset,
		       uint32_t flags)
{
	(void)handle;
	return submit(&(struct sim_request){ .kind = SIM_WRITE, .offset_bytes = offset,
					     .length_bytes = count, .bytes = buffer,
					     .fua = flags & NBDKIT_FLAG_FUA });
}

static int tare_flush(void *handle, uint32_t flags)
{
	(void)handle;
	(void)flags;
	return submit(&(struct sim_request){ .kind = SIM_FLUSH });
}

/* Blocks covered in part can't be told to a drive: they stay. */
static int tare_trim(void *handle, uint32_t count, uint64_t offset, uint32_t flags)
{
	const uint64_t block = live_identity(live)->logical_block_bytes;
	const uint64_t first = (offset + block - 1) / block * block;
	const uint64_t end = (offset + count) / block * block;

	(void)handle;
	if (first < end && submit(&(struct sim_request){ .kind = SIM_TRIM, .offset_bytes = first,
							 .length_bytes = end - first }) < 0)
		return -1;
	return flush_if(flags);
}

static int tare_zero(void *handle, uint32_t count, uint64_t offset, uint32_t flags)
{
	(void)handle;
	if ((count | offset) % live_identity(live)->logical_block_bytes) {
		nbdkit_set_error(EOPNOTSUPP);	/* nbdkit writes zeros then */
		return -1;
	}
	if (submit(&(struct sim_request){ .kind = SIM_WRITE_ZEROES, .offset_bytes = offset,
					  .length_bytes = count }) < 0)
		return -1;
	return flush_if(flags);
}

static int tare_extents(void *handle, uint32_t count, uint64_t offset, uint32_t flags,
			struct nbdkit_extents *extents)
{
	const bool zeros = live_configuration(live)->trim_reads == SIM_READS_ZEROS;
	const uint64_t block = live_identity(live)->logical_block_bytes;
	const uint64_t end = offset + count;
	uint64_t at = offset - offset % block;

	(void)handle;
	while (at < end) {
		uint64_t next;
		uint32_t type = 0;

		if (live_query(live, at, &next) == SIM_PAGE_UNMAPPED)
			type = NBDKIT_EXTENT_HOLE | (zeros ? NBDKIT_EXTENT_ZERO : 0);
		if (nbdkit_add_extent(extents, at, next - at, type) < 0)
			return -1;
		if (flags & NBDKIT_FLAG_REQ_ONE)
			break;
		at = next;
	}
	return 0;
}

static struct nbdkit_plugin plugin = {
	.name = "tare",
	.longname = "tare reference drive",
	.description = "a simulated solid-state drive whose inside is known, in real time",
	.magic_config_key = "spec",
	.config_help = "spec=NAME[,KEY=VALUE]...  the drive, as tare sim list and show name it",
	.unload = tare_unload,
	.config = tare_config,
	.config_complete = tare_config_complete,
	.get_ready = tare_get_ready,
	.list_exports = tare_list_exports,
	.open = tare_open,
	.close = tare_close,
	.get_size = tare_get_size,
	.block_size = tare_block_size,
	.can_write = is_drive,
	.can_flush = is_drive,
	.can_trim = tare_can_trim,
	.can_zero = tare_can_zero,
	.can_fua = tare_can_fua,
	.can_extents = is_drive,
	.can_multi_conn = tare_can_multi_conn,
	.is_rotational = tare_is_rotational,
	.pread = tare_pread,
	.pwrite = tare_pwrite,
	.flush = tare_flush,
	.trim = tare_trim,
	.zero = tare_zero,
	.extents = tare_extents,
	.errno_is_preserved = 0,
};

struct nbdkit_plugin *plugin_init(void);	/* which the macro defines */
NBDKIT_REGISTER_PLUGIN(plugin)
