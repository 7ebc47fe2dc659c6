/* SPDX-License-Identifier: MIT */
#include "protocol/protocol.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "base/units.h"
#include "protocol/checkpoint.h"
#include "protocol/kit.h"
#include "state/keep.h"

extern const struct protocol protocol_three_state, protocol_alignment, protocol_contamination;
extern const struct protocol protocol_surface, protocol_steady, protocol_cache;
extern const struct protocol protocol_discard_cost;
extern const struct protocol protocol_techgage, protocol_fill_level, protocol_degrade_recover;

const struct protocol *const protocols[] = {
	&protocol_three_state,
	&protocol_techgage,
	&protocol_alignment,
	&protocol_contamination,
	&protocol_surface,
	&protocol_steady,
	&protocol_cache,
	&protocol_fill_level,
	&protocol_discard_cost,
	&protocol_degrade_recover,
	NULL,
};

const struct protocol *protocol_find(const char *name)
{
	for (size_t i = 0; protocols[i]; i++)
		if (strcmp(protocols[i]->name, name) == 0)
			return protocols[i];
	return NULL;
}

static const char *name_of(const void *ctx, size_t i)
{
	(void)ctx;
	return protocols[i] ? protocols[i]->name : NULL;
}

const char *protocol_nearest(const char *name)
{
	return text_nearest(name, name_of, NULL);
}

/*
 * Speeds for a forecast, before anything is known of the drive but what it is attached by:
 * rounded down from what such drives do when used, so that a forecast is rather too long.
 */
static void assume_speeds(const struct target_info *info, struct protocol_outcome *outcome)
{
	const bool is_nvme = strcmp(info->transport, "nvme") == 0;

	outcome->assumed_sequential_bytes_per_s = info->rotational ? 150e6 : is_nvme ? 1e9 : 300e6;
	outcome->assumed_random_bytes_per_s = info->rotational ? 0.5e6 : is_nvme ? 200e6 : 40e6;
}

static int check_target(const struct protocol *protocol, const struct target_info *info,
			struct err *err)
{
	if (info->kind == TARGET_NULL || info->kind == TARGET_CHAR)
		return err_set(err, -EOPNOTSUPP,
			       "%s: %s has no state a protocol could find out about",
			       protocol->name, info->spec);
	return 0;
}

/* Where nothing of anybody's can be lost, or consent was given. */
static bool may_write(const struct protocol *protocol, const struct protocol_options *options)
{
	struct stat st;

	if (protocol->writes || !protocol->writes_if_allowed)
		return protocol->writes;
	return strncmp(options->target, "sim:", 4) == 0 || options->measure.erase_serial ||
	       options->measure.expendable_path ||
	       (stat(options->target, &st) == 0 && S_ISDIR(st.st_mode));
}

static int open_sitting(struct kit *kit, struct err *err)
{
	const struct protocol_options *options = kit->options;
	struct measure_options measure = options->measure;
	const struct sitting_request request = {
		.target = options->target,
		.options = &measure,
		.writes = kit->may_write && !kit->forecasting,
		.lay_out = kit->protocol->lays_out && !kit->forecasting,
	};
	const struct target_info *info;
	int r;

	measure.layout_ns_max = 0;
	measure.test_file_bytes = options->size_bytes;
	r = sitting_open(&kit->sitting, &request, &kit->outcome->result, err);
	if (r < 0)
		return r;
	info = sitting_target(kit->sitting);
	r = check_target(kit->protocol, info, err);
	if (r < 0)
		return r;
	kit->is_virtual = sitting_is_virtual(kit->sitting);
	kit->logical_block_bytes = info->logical_block_bytes ? info->logical_block_bytes : 512;
	kit->capacity_bytes = info->size_bytes;
	if (options->size_bytes && options->size_bytes < info->size_bytes)
		kit->capacity_bytes = options->size_bytes;
	kit->capacity_bytes -= kit->capacity_bytes % (64 * KIB);
	if (kit->capacity_bytes < 16 * MIB)
		return err_set(err, -EFBIG, "%s: %s is smaller than the 16 MiB a protocol needs",
			       kit->protocol->name, info->spec);
	kit->outcome->capacity_bytes = kit->capacity_bytes;
	assume_speeds(info, kit->outcome);
	return 0;
}

/* Of all that the cells and their order depend on. */
static void make_identity(const struct kit *kit, char *ret, size_t ret_bytes)
{
	const struct protocol_options *o = kit->options;
	char place[512];
	uint64_t plan = 0;

	keep_place(o->target, place, sizeof(place));
	if (o->plan) {
		struct text text = TEXT_INIT;

		plan_print(o->plan, &text);
		plan = keep_hash(text_string(&text));
		text_done(&text);
	}
	snprintf(ret, ret_bytes,
		 "%s on %s, %llu bytes, seed %llu, idle %llu ns, cells of %llu ns, %u cycles, "
		 "parameters %s, active range %u ppm, active amount %llu bytes, plan %016llx, %s",
		 kit->protocol->name, place, (unsigned long long)kit->capacity_bytes,
		 (unsigned long long)kit->outcome->seed, (unsigned long long)o->idle_ns,
		 (unsigned long long)o->cell_ns, o->repeat_count,
		 o->client ? "client" : "enterprise", o->active_ppm,
		 (unsigned long long)o->active_bytes, (unsigned long long)plan,
		 kit->may_write ? "writes" : "reads only");
}

static int open_checkpoint(struct kit *kit, struct err *err)
{
	const struct protocol_options *o = kit->options;
	char identity[1024];

	/* A drive in virtual time is new in each process: it must go through all of it again. */
	if (kit->is_virtual && o->resume)
		kit_note(kit, "the reference drive does not outlive a process: everything was done "
			      "again");
	if (!o->checkpoint || kit->forecasting || kit->is_virtual)
		return 0;
	make_identity(kit, identity, sizeof(identity));
	return checkpoint_open(&kit->checkpoint, o->checkpoint, identity, o->resume, err);
}

int protocol_run(const struct protocol *protocol, const struct protocol_options *options,
		 struct protocol_outcome *ret, struct err *err)
{
	struct kit kit = {
		.protocol = protocol,
		.options = options,
		.outcome = ret,
		.forecasting = options->forecast,
		.may_write = may_write(protocol, options),
	};
	int r;

	*ret = (struct protocol_outcome){ .seed = options->seed ? options->seed : 1 };
	r = open_sitting(&kit, err);
	if (r == 0)
		r = open_checkpoint(&kit, err);
	if (r == 0)
		r = protocol->run(&kit, err);
	sitting_close(kit.sitting);
	if (r == 0 && ret->resumed_count)
		kit_note(&kit, "resumed: %zu cells are from before", ret->resumed_count);
	/* What did not begin leaves nothing to go on with; what was broken off before stays. */
	if (r == 0 || (ret->cell_count == 0 && !options->resume))
		checkpoint_remove(kit.checkpoint);
	else
		checkpoint_close(kit.checkpoint);
	return r;
}

void protocol_outcome_done(struct protocol_outcome *outcome)
{
	free(outcome->evidence);
	free(outcome->cells);
	free(outcome->notes);
	result_done(&outcome->result);
	*outcome = (struct protocol_outcome){ 0 };
}
