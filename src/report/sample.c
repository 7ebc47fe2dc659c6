/* SPDX-License-Identifier: MIT */
#include "report/sample.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/units.h"
#include "stats/histogram.h"

#define SET(member, ...) snprintf(member, sizeof(member), __VA_ARGS__)

void sample_add(struct histogram **h, uint64_t ns, uint64_t count)
{
	if (!*h) {
		*h = malloc(sizeof(**h));
		if (!*h)
			abort();
		histogram_init(*h);
	}
	for (uint64_t i = 0; i < count; i++)
		histogram_add(*h, ns);
}

struct sample_row {
	const char *name;
	uint32_t rw;
	uint64_t block_bytes;
	uint32_t depth_count, fdatasync_count;
	uint64_t count, usual_ns, slow_ns;	/* 1 in 200 is slow */
};

/* Five seconds of count requests. */
static struct measurement *add_row(struct result *result, const struct sample_row *row)
{
	struct measurement *m = result_add(result);
	const enum op_kind kind =
		row->rw == RW_READ || row->rw == RW_RANDREAD ? OP_READ : OP_WRITE;
	struct op_result *op = &m->ops[kind];

	SET(m->name, "%s", row->name);
	m->group_index = (uint32_t)result->measurement_count - 1;
	m->workload.rw = row->rw;
	m->workload.block_bytes = row->block_bytes;
	m->workload.depth_count = row->depth_count;
	m->workload.fdatasync_count = row->fdatasync_count;
	m->seed = 7;
	m->duration_ns = 5 * SECOND_NS;
	op->count = row->count;
	op->bytes = row->count * row->block_bytes;
	sample_add(&op->latency, row->slow_ns, row->count / 200);
	sample_add(&op->latency, row->usual_ns, row->count - row->count / 200);
	sample_add(&op->service, row->usual_ns, row->count);
	SET(m->level, "level");
	SET(m->engine, "io_uring");
	SET(m->queue_mode, "io_uring: fixed files, fixed buffers");
	m->depth_mean = row->depth_count;
	m->depth_max = row->depth_count;
	return m;
}

static void disk(struct target_info *info)
{
	SET(info->device, "nvme0n1");
	SET(info->model, "Example SSD 2TB");
	SET(info->serial, "S6Z1NJ0W7F2A");
	SET(info->firmware, "4B2QJXD7");
	SET(info->transport, "nvme");
	SET(info->scheduler, "none");
	SET(info->write_cache, "write back");
	info->device_major = 259;
	info->logical_block_bytes = 512;
	info->physical_block_bytes = 4096;
	info->memory_align_bytes = 4;
	info->offset_align_bytes = 512;
}

static void layer(struct target_info *info, const char *name, const char *kind, const char *detail)
{
	struct target_layer *l = &info->layers[info->layer_count++];

	SET(l->name, "%s", name);
	SET(l->kind, "%s", kind);
	SET(l->detail, "%s", detail);
}

static void directory(struct target_info *info)
{
	info->kind = TARGET_DIRECTORY;
	SET(info->spec, "/home");
	SET(info->path, "/home");
	SET(info->filesystem, "ext4");
	SET(info->mount_point, "/home");
	SET(info->mount_source, "/dev/mapper/home");
	SET(info->mount_options, "rw,relatime");
	info->size_bytes = 8 * GIB;
	info->total_bytes = 1000 * GIB;
	info->free_bytes = 390 * GIB;
	info->ours = true;
	disk(info);
	layer(info, "dm-0", "crypt", "home");
	layer(info, "nvme0n1p3", "partition", "");
	layer(info, "nvme0n1", "disk", "");
	info->has_partition = true;
	info->partition_start_bytes = 512 * MIB;
}

static void start(struct result *ret)
{
	result_init(ret);
	SET(ret->version, "0.1.0");
	SET(ret->started_at, "2026-01-02T03:04:05Z");
	SET(ret->command, "tare check /home");
	SET(ret->machine.kernel, "6.1.0-41-amd64");
	SET(ret->machine.cpu_model, "Example CPU");
	SET(ret->machine.hostname, "example");
	SET(ret->machine.governor, "performance");
	ret->machine.cpu_count = 8;
	ret->machine.memory_bytes = 32 * GIB;
	SET(ret->state, "laid-out");
	SET(ret->state_text, "8 GiB written in order just before");
	ret->layout_bytes = 8 * GIB;
	ret->layout_ns = 2 * SECOND_NS;
	ret->ceiling_iops = 9.5e6;
}

static void find(struct result *ret, const struct finding *finding)
{
	struct finding *f = result_find(ret, finding->code, finding->severity,
					finding->measurement);

	SET(f->text, "%s", finding->text);
	SET(f->remedy, "%s", finding->remedy);
}

void sample_check(struct result *ret)
{
	static const struct sample_row rows[] = {
		{ "seq-read-1m-q8", RW_READ, MIB, 8, 0, 33000, 1160000, 1900000 },
		{ "seq-read-1m-q1", RW_READ, MIB, 1, 0, 14400, 340000, 900000 },
		{ "rand-read-4k-q32", RW_RANDREAD, 4096, 32, 0, 4060000, 38000, 90000 },
		{ "rand-read-4k-q1", RW_RANDREAD, 4096, 1, 0, 71000, 68000, 214000 },
		{ "seq-write-1m-q8", RW_WRITE, MIB, 8, 0, 25900, 1500000, 4000000 },
		{ "seq-write-1m-q1", RW_WRITE, MIB, 1, 0, 18500, 265000, 700000 },
		{ "rand-write-4k-q32", RW_RANDWRITE, 4096, 32, 0, 3020000, 52000, 4000000 },
		{ "rand-write-4k-q1", RW_RANDWRITE, 4096, 1, 0, 306500, 14000, 402000 },
		{ "rand-write-4k-sync-q1", RW_RANDWRITE, 4096, 1, 1, 5400, 900000, 12000000 },
	};

	start(ret);
	directory(&ret->target);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		add_row(ret, &rows[i]);
	SET(ret->measurements[6].level, "drifting");
	find(ret, &(struct finding){ "encryption", SEVERITY_INFO, "",
				     "LUKS (dm-0) is in the path",
				     "compare only with other results through a file system" });
	find(ret, &(struct finding){ "not-level", SEVERITY_WARNING, "rand-write-4k-q32",
				     "the rate fell by 18 % while it was measured",
				     "measure longer: tare check --long" });
	find(ret, &(struct finding){ "too-short", SEVERITY_WARNING, "rand-write-4k-sync-q1",
				     "5,400 samples are too few for p99.9", "" });
	find(ret, &(struct finding){ "too-short", SEVERITY_WARNING, "seq-read-1m-q1",
				     "14,400 samples are too few for p99.99", "" });
	for (size_t i = 0; i < 4; i++)
		find(ret, &(struct finding){ "background-io", SEVERITY_WARNING, "", "others used it", "" });
	for (size_t i = 0; i < 4; i++)
		SET(ret->findings[ret->finding_count - 1 - i].measurement, "%s", rows[i].name);
}

void sample_device(struct result *ret)
{
	static const struct sample_row rows[] = {
		{ "seq-read-1m-q8", RW_READ, MIB, 8, 0, 2500, 16000000, 19000000 },
		{ "rand-read-4k-q1", RW_RANDREAD, 4096, 1, 0, 600, 8300000, 21400000 },
	};
	struct measurement *m;

	start(ret);
	SET(ret->state, "unknown");
	SET(ret->state_text, "nothing is known of what was written before");
	ret->layout_bytes = 0;
	ret->layout_ns = 0;
	ret->target.kind = TARGET_BLOCK;
	SET(ret->target.spec, "/dev/sdb");
	SET(ret->target.path, "/dev/sdb");
	disk(&ret->target);
	SET(ret->target.model, "Bad\033[2JDrive \xff");
	SET(ret->target.transport, "sata");
	ret->target.size_bytes = 500107862016;
	SET(ret->target.device, "sdb");
	layer(&ret->target, "sdb", "disk", "");
	add_row(ret, &rows[0]);
	m = add_row(ret, &rows[1]);
	m->ended_early = true;
	SET(m->error_text, "read of 4 KiB at offset 8192: Input/output error");
	m->ops[OP_READ].error_count = 1;
	m->errnos[0].code = -EIO;
	m->errnos[0].count = 1;
	m->errno_count = 1;
	ret->error_code = -EIO;
	SET(ret->error_text, "%s", m->error_text);
	SET(ret->error_hint, "look at dmesg and the drive's SMART log");
}

static void add_seconds(struct measurement *m)
{
	static const uint64_t counts[] = { 500, 1000, 1000, 1000, 200, 1000, 1000, 900, 1000, 1000 };

	m->second_count = sizeof(counts) / sizeof(counts[0]);
	m->seconds = calloc(m->second_count, sizeof(*m->seconds));
	if (!m->seconds)
		abort();
	for (size_t i = 0; i < m->second_count; i++) {
		struct second *s = &m->seconds[i];

		s->start_ns = i * SECOND_NS;
		s->length_ns = SECOND_NS;
		s->ops[OP_READ].count = counts[i];
		s->ops[OP_READ].bytes = counts[i] * 4096;
		s->ops[OP_READ].latency_ns_p50 = 70000;
		s->ops[OP_READ].latency_ns_p99 = 140000;
		s->ops[OP_READ].latency_ns_max = 900000;
	}
}

static void add_machine_facts(struct measurement *m)
{
	m->user_ns = 129000000;
	m->system_ns = 258000000;
	m->voluntary_switch_count = 12345;
	m->worker_cpu_max = 0.0375;
	m->batch_count = 1;
	m->wait_count = 1;
	m->punted_count = 3;
	m->device_read_count = 8600;
	m->device_read_bytes = 8600 * 4096;
	m->device_write_count = 4300;
	m->device_write_bytes = 4300 * 4096;
	m->steal_ratio = 0.01;
	m->temperature_c_start = 38;
	m->temperature_c_max = 41;
}

static void add_wrong_block(struct measurement *m)
{
	m->workload.verify = true;
	m->verified_count = 8600;
	m->verify_failed_count = 2;
	m->verify_failure.offset_bytes = 81920;
	SET(m->verify_failure.what, "stale");
	SET(m->verify_failure.expected, "generation 3 of offset 81920");
	SET(m->verify_failure.found, "generation 2 of offset 81920");
}

static void add_steps(struct result *ret)
{
	struct step_result *fill = result_add_step(ret), *trim = result_add_step(ret);

	/* The list may have moved. */
	fill = &ret->steps[0];
	SET(fill->name, "fill");
	SET(fill->asked, "fill:times=2");
	SET(fill->method, "sequential 128k");
	SET(fill->text, "16.0 GiB written sequentially over 8.00 GiB");
	fill->duration_ns = 4 * SECOND_NS;
	fill->written_bytes = 16 * GIB;
	fill->reached = true;
	fill->figure_count = 1;
	SET(fill->figures[0].name, "times");
	fill->figures[0].value = 2;
	SET(trim->name, "trim");
	SET(trim->text, "nothing was done");
	trim->interrupted = true;
}

void sample_open_loop(struct result *ret)
{
	static const struct sample_row row = { "mix", RW_RANDRW, 4096, 16, 0, 4300, 70000, 1000000 };
	struct measurement *m;

	start(ret);
	directory(&ret->target);
	SET(ret->target.consent, "erase-data=S6Z1NJ0W7F2A");
	SET(ret->machine.virtualisation, "kvm");
	ret->interrupted = true;
	ret->error_code = -ENOSPC;
	SET(ret->error_text, "no space left");
	SET(ret->error_hint, "free some");
	add_steps(ret);
	m = add_row(ret, &row);
	m->interrupted = true;
	m->ended_early = true;
	SET(m->error_text, "no space left");
	m->duration_ns = 10 * SECOND_NS;
	m->workload.read_ppm = 660000;
	m->workload.rate_iops = 1500;
	m->ops[OP_READ].count = 8600;
	m->ops[OP_READ].bytes = 8600 * 4096;
	sample_add(&m->ops[OP_READ].latency, 71000, 8600);
	sample_add(&m->ops[OP_READ].service, 70000, 8600);
	m->ops[OP_SYNC].count = 1;
	sample_add(&m->ops[OP_SYNC].latency, 900000, 1);
	m->errnos[0].code = -ENOSPC;
	m->errnos[0].count = 1;
	m->errno_count = 1;
	sample_add(&m->lateness, 2000, 12899);
	sample_add(&m->lateness, 20000, 1);
	m->backlog_ns_max = 1200000000;
	m->unserved_count = 2100;
	m->replay = (struct replay_result){ true, 12900, 40, 3, 2, 20000, 12900 };
	m->workload.lines.count = 1;
	m->workload.lines.lines[0] = (struct access_line){
		.bytes = 4096, .weight = 100, .read_ppm = 660000, .random_ppm = 1000000,
		.burst_count = 1,
	};
	m->transaction_count = 8600;
	m->depth_found = 11;
	m->workload.latency_target_ns = 500 * MILLISECOND_NS;
	m->workload.latency_ppm = 999000;
	SET(m->workload.steadystate, "iops:10%%");
	m->workload.steady_window_ns = 5 * SECOND_NS;
	m->steady = true;
	m->transaction_ns = 8600 * 71000ull;
	m->transaction_ns_max = 900000;
	m->depth_mean = 3.25;
	SET(m->level, "stepped");
	m->segment_count = 2;
	m->segments[0] = (struct measurement_segment){ 0, 4, 875 };
	m->segments[1] = (struct measurement_segment){ 4, 6, 850 };
	add_machine_facts(m);
	add_wrong_block(m);
	add_seconds(m);
	m->drive = calloc(1, sizeof(*m->drive));
	if (!m->drive)
		abort();
	m->drive->row_count = 1;
	SET(m->drive->rows[0].name, "write_amplification");
	m->drive->rows[0].value = 1.75;
	find(ret, &(struct finding){ "tail", SEVERITY_INVALID, "mix", "the data is wrong", "stop" });
}

void sample_group(struct result *ret)
{
	static const struct sample_row rows[] = {
		{ "data", RW_RANDREAD, 4096, 16, 0, 400000, 180000, 400000 },
		{ "log", RW_WRITE, 16384, 1, 1, 9000, 540000, 2000000 },
		{ "after", RW_RANDREAD, 4096, 16, 0, 900000, 80000, 200000 },
	};
	struct target_info *second;

	start(ret);
	directory(&ret->target);
	second = calloc(1, sizeof(*second));
	if (!second)
		abort();
	second->kind = TARGET_BLOCK;
	second->size_bytes = 2000 * GIB;
	SET(second->spec, "/dev/nvme1n1");
	SET(second->path, "/dev/nvme1n1");
	SET(second->consent, "erase-data=S6Z1NJ0W7F2B");
	disk(second);
	SET(second->device, "nvme1n1");
	layer(second, "nvme1n1", "disk", "");
	ret->more_targets = second;
	ret->more_target_count = 1;
	for (uint32_t i = 0; i < 3; i++)
		add_row(ret, &rows[i])->group_index = i / 2;
	ret->measurements[1].target_index = 1;
}
