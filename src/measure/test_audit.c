/* SPDX-License-Identifier: MIT */
#include "base/check.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/defer.h"
#include "base/units.h"
#include "measure/audit.h"
#include "stats/histogram.h"

/* A run about which there is nothing to say, for the cases to spoil. */
struct scene {
	struct target_info info;
	struct machine machine;
	struct result result;
	struct measurement *m;		/* the only one, in result */
	struct audit_facts facts;
};

/* 1 GiB read at random in 10 s at depth 32, counted alike by tare, kernel and device. */
static void scene_init(struct scene *s)
{
	memset(s, 0, sizeof(*s));
	s->info.kind = TARGET_DIRECTORY;
	s->info.size_bytes = 8 * GIB;
	s->info.logical_block_bytes = 512;
	s->info.physical_block_bytes = 512;
	s->info.ours = true;
	s->info.has_partition = true;
	s->info.partition_start_bytes = MIB;
	strcpy(s->info.filesystem, "ext4");
	strcpy(s->info.device, "nvme0n1");
	strcpy(s->info.scheduler, "none");
	strcpy(s->info.write_cache, "write through");
	s->info.layer_count = 2;
	strcpy(s->info.layers[0].kind, "partition");
	strcpy(s->info.layers[1].kind, "disk");
	strcpy(s->machine.governor, "performance");

	result_init(&s->result);
	strcpy(s->result.state, "steady");
	s->m = result_add(&s->result);
	strcpy(s->m->name, "rand-read-4k-q32");
	strcpy(s->m->level, "level");
	strcpy(s->m->engine, "io_uring");
	s->m->workload.rw = RW_RANDREAD;
	s->m->workload.block_bytes = 4096;
	s->m->workload.depth_count = 32;
	s->m->workload.job_count = 1;
	s->m->workload.direct = true;
	s->m->duration_ns = 10 * SECOND_NS;
	s->m->ops[OP_READ].count = GIB / 4096;
	s->m->ops[OP_READ].bytes = GIB;
	s->m->depth_mean = 30;
	s->m->worker_cpu_max = 0.2;

	audit_facts_init(&s->facts);
	s->facts.info = &s->info;
	s->facts.machine = &s->machine;
	s->facts.measurement = s->m;
	s->facts.have_counters = s->facts.have_own = true;
	s->facts.after.read_bytes = GIB;
	s->facts.own_read_bytes = GIB;
	s->facts.samples.hole_ratio = 0;
	s->facts.samples.file_bytes = s->facts.samples.allocated_bytes = 8 * GIB;
	s->facts.place.cache_bytes_guess = GIB;
}

static void turn_to_writes(struct scene *s)
{
	s->m->workload.rw = RW_RANDWRITE;
	s->m->ops[OP_WRITE] = s->m->ops[OP_READ];
	s->m->ops[OP_READ] = (struct op_result){ 0 };
	s->facts.after.write_bytes = GIB;
	s->facts.after.read_bytes = 0;
	s->facts.own_write_bytes = GIB;
	s->facts.own_read_bytes = 0;
}

static void set_seconds(struct scene *s, size_t count, uint64_t (*iops_at)(size_t second))
{
	s->m->seconds = calloc(count, sizeof(*s->m->seconds));
	s->m->second_count = count;
	for (size_t i = 0; i < count; i++) {
		s->m->seconds[i].start_ns = i * SECOND_NS;
		s->m->seconds[i].length_ns = SECOND_NS;
		s->m->seconds[i].ops[OP_READ].count = iops_at(i);
	}
}

static void audit_scene(struct scene *s)
{
	s->facts.measurement = s->m;
	audit_measurement(&s->result, &s->facts);
	audit_target(&s->result, &s->facts);
}

static const struct finding *found(const struct scene *s, const char *code, bool of_measurement)
{
	for (size_t i = 0; i < s->result.finding_count; i++)
		if (strcmp(s->result.findings[i].code, code) == 0 &&
		    (s->result.findings[i].measurement[0] != '\0') == of_measurement)
			return &s->result.findings[i];
	return NULL;
}

static void verify_failed(struct scene *s)
{
	s->m->verified_count = 1000;
	s->m->verify_failed_count = 2;
	s->m->verify_failure = (struct verify_failure){ 40960, "stale", "generation 3",
							"generation 2" };
}

static void io_errors(struct scene *s)
{
	s->m->ops[OP_READ].error_count = 3;
	s->m->errno_count = 1;
	s->m->errnos[0].code = -EIO;
	s->m->errnos[0].count = 3;
}

static void ended_early(struct scene *s)
{
	s->m->ended_early = true;
	strcpy(s->m->error_text, "the queue broke");
}

static void on_tmpfs(struct scene *s)
{
	s->facts.place.memory_backed = true;
	strcpy(s->facts.place.memory, "tmpfs");
}

static void on_null(struct scene *s)
{
	s->info.kind = TARGET_NULL;
	s->facts.have_counters = false;
}

static void buffered(struct scene *s)
{
	s->m->workload.direct = false;
	s->facts.after.read_bytes = GIB / 4;
}

static void buffered_cold(struct scene *s)
{
	s->m->workload.direct = false;
}

static void direct_refused(struct scene *s)
{
	s->facts.direct_refused = true;
	s->facts.have_counters = false;
}

static void direct_ignored(struct scene *s)
{
	s->facts.after.read_bytes = GIB / 100;
}

static void in_holes(struct scene *s)
{
	s->facts.samples.hole_ratio = 1;
	s->facts.after.read_bytes = 0;
}

static void all_zeros(struct scene *s)
{
	s->info.kind = TARGET_BLOCK;
	s->facts.samples.zero_ratio = 0.75;
	s->facts.samples.zero_sample_count = 256;
}

static void some_zeros(struct scene *s)
{
	all_zeros(s);
	s->facts.samples.zero_ratio = 0.05;
}

static void read_unmapped(struct scene *s)
{
	const struct drive_truth truth = {
		.row_count = 2,
		.rows = { { "host_read_bytes", 4096 * 1000.0 },
			  { "unmapped_read_bytes", 4096 * 900.0 } },
	};

	s->info.kind = TARGET_SIM;
	s->m->drive = malloc(sizeof(truth));
	assert(s->m->drive);
	*s->m->drive = truth;
}

static void read_mapped(struct scene *s)
{
	read_unmapped(s);
	s->m->drive->rows[1].value = 4096 * 10.0;
}

static void on_zstd(struct scene *s)
{
	strcpy(s->info.filesystem, "btrfs");
	s->facts.place.compressing = true;
	strcpy(s->facts.place.compression, "zstd:3 (mount option)");
}

static void zeros_to_zstd(struct scene *s)
{
	turn_to_writes(s);
	on_zstd(s);
	s->m->workload.data = DATA_ZERO;
}

static void half_to_zstd(struct scene *s)
{
	turn_to_writes(s);
	on_zstd(s);
	s->m->workload.compress_ppm = 500000;
}

static void random_to_zstd(struct scene *s)
{
	turn_to_writes(s);
	on_zstd(s);
}

static void stored_short(struct scene *s)
{
	s->facts.samples.allocated_bytes = 512;
}

static void compressed_before(struct scene *s)
{
	s->facts.samples.compressed_extents = true;
}

static void overloaded(struct scene *s)
{
	s->m->workload.rate_iops = 200000;	/* 26214 were done */
	s->m->backlog_ns_max = 1200 * MILLISECOND_NS;
}

/* What a replay is: an open loop with lateness; its requests late by late_ns. */
static void replayed(struct scene *s, uint64_t late_ns)
{
	free(s->m->lateness);
	s->m->lateness = calloc(1, sizeof(*s->m->lateness));
	histogram_init(s->m->lateness);
	histogram_add_many(s->m->lateness, late_ns, 1000);
	s->m->replay.is_replay = true;
	s->m->replay.played_count = 1000;
}

static void late_replay(struct scene *s)
{
	replayed(s, 3 * MILLISECOND_NS);
	s->m->backlog_ns_max = 4 * MILLISECOND_NS;
}

static void punctual_replay(struct scene *s)
{
	replayed(s, 5 * MICROSECOND_NS);
	s->m->worker_cpu_max = 1;
	s->m->depth_mean = 1.1;
	strcpy(s->m->level, "drifting");
}

static void busy_worker(struct scene *s)
{
	s->m->worker_cpu_max = 0.97;
}

static void near_ceiling(struct scene *s)
{
	s->facts.ceiling_iops = 28000;	/* 26214 is 94 % of it */
}

static void sync_engine(struct scene *s)
{
	strcpy(s->m->engine, "sync");
	s->m->depth_mean = 1;
}

static void buffered_libaio(struct scene *s)
{
	strcpy(s->m->engine, "libaio");
	s->m->workload.direct = false;
}

static void shallow(struct scene *s)
{
	s->m->depth_mean = 4.5;
}

static void punted(struct scene *s)
{
	s->m->punted_count = s->m->ops[OP_READ].count / 2;
}

static void punted_large(struct scene *s)
{
	s->m->ops[OP_READ].count = GIB / MIB;	/* one in 10 ms */
	s->m->punted_count = s->m->ops[OP_READ].count;
}

static void stepped(struct scene *s)
{
	strcpy(s->m->level, "stepped");
	s->m->segment_count = 2;
	s->m->segments[0] = (struct measurement_segment){ 0, 41, 2900 };
	s->m->segments[1] = (struct measurement_segment){ 41, 19, 800 };
}

static uint64_t falling(size_t second)
{
	return 1000 - 10 * second;
}

static void drifting(struct scene *s)
{
	strcpy(s->m->level, "drifting");
	set_seconds(s, 50, falling);
}

static uint64_t dipping(size_t second)
{
	return second % 5 ? 1000 : 600;
}

static void cyclic(struct scene *s)
{
	strcpy(s->m->level, "cyclic");
	set_seconds(s, 60, dipping);
}

static void background(struct scene *s)
{
	s->facts.after.write_bytes = 200 * MIB;
}

static void hot(struct scene *s)
{
	s->m->temperature_c_start = 40;
	s->m->temperature_c_max = 82;
	s->facts.temperature_limit_c = 81;
}

static void hot_cpus(struct scene *s)
{
	s->facts.cpu_throttle_count = 12;
}

static void on_sim(struct scene *s)
{
	s->info.kind = TARGET_SIM;
	s->facts.have_counters = false;
}

static void hot_reference_drive(struct scene *s)
{
	on_sim(s);
	s->m->drive = calloc(1, sizeof(*s->m->drive));
	s->m->drive->row_count = 2;
	strcpy(s->m->drive->rows[0].name, "erases");
	s->m->drive->rows[0].value = 7;
	strcpy(s->m->drive->rows[1].name, "throttled_ns");
	s->m->drive->rows[1].value = 2.5e9;
}

static void warm(struct scene *s)
{
	hot(s);
	s->m->temperature_c_max = 78;
}

static void stolen(struct scene *s)
{
	s->m->steal_ratio = 0.08;
}

static void small_blocks(struct scene *s)
{
	s->info.physical_block_bytes = 4096;
	s->m->workload.block_bytes = 512;
}

static void odd_offset(struct scene *s)
{
	s->m->workload.offset.bytes = 100;
}

static void odd_mix(struct scene *s)
{
	s->info.physical_block_bytes = 4096;
	s->m->workload.size_mix.count = 2;
	s->m->workload.size_mix.sizes[0].bytes = 4096;
	s->m->workload.size_mix.sizes[1].bytes = 6144;
}

static void old_partition(struct scene *s)
{
	s->info.partition_start_bytes = 63 * 512;
}

static void odd_extents(struct scene *s)
{
	s->facts.samples.extent_count = 9;
	s->facts.samples.extent_misaligned_count = 4;
}

static void tiny(struct scene *s)
{
	s->info.size_bytes = 256 * MIB;
}

static void half_a_second(struct scene *s)
{
	strcpy(s->m->level, "too short");
	s->m->duration_ns = SECOND_NS / 2;
	s->facts.after.read_bytes = s->facts.own_read_bytes = GIB;
}

static void two_seconds(struct scene *s)
{
	strcpy(s->m->level, "level");
	s->m->duration_ns = 2 * SECOND_NS;
}

static void limited(struct scene *s)
{
	strcpy(s->facts.place.cgroup_limit, "io.max rbps=1048576 wbps=max in /user.slice");
}

static void remote(struct scene *s)
{
	strcpy(s->info.filesystem, "nfs4");
	s->facts.place.remote = true;
	s->facts.have_counters = false;
}

static void fuse(struct scene *s)
{
	strcpy(s->info.filesystem, "fuse.bindfs");
	s->facts.place.fuse = true;
	s->facts.have_counters = false;
}

static void cow(struct scene *s)
{
	turn_to_writes(s);
	strcpy(s->info.filesystem, "btrfs");
	s->facts.place.copy_on_write = true;
}

static void reflinked(struct scene *s)
{
	turn_to_writes(s);
	s->facts.samples.shared_extents = true;
}

static void powersave(struct scene *s)
{
	strcpy(s->machine.governor, "powersave");
}

static void powersave_at_depth_1(struct scene *s)
{
	powersave(s);
	s->m->workload.depth_count = 1;
	s->m->ops[OP_READ].latency = malloc(sizeof(struct histogram));
	histogram_init(s->m->ops[OP_READ].latency);
	histogram_add(s->m->ops[OP_READ].latency, 60000);
}

static void encrypted(struct scene *s)
{
	s->facts.place.encrypting = true;
	strcpy(s->facts.place.encryption, "dm-crypt, home");
}

static void on_virtio(struct scene *s)
{
	strcpy(s->info.layers[1].kind, "virtio");
	strcpy(s->info.layers[1].name, "vda");
}

static void on_ebs(struct scene *s)
{
	strcpy(s->info.model, "Amazon Elastic Block Store");
}

static void over_iscsi(struct scene *s)
{
	strcpy(s->info.transport, "iscsi");
}

static void small_range(struct scene *s)
{
	s->m->workload.size.bytes = 64 * MIB;
}

static void small_share(struct scene *s)
{
	s->m->workload.size.ppm = 50000;
}

static void on_loop(struct scene *s)
{
	strcpy(s->info.layers[1].kind, "loop");
	strcpy(s->info.layers[1].name, "loop7");
	s->facts.place.loop_buffered = true;
}

static void bfq(struct scene *s)
{
	strcpy(s->info.scheduler, "bfq");
}

static void volatile_cache(struct scene *s)
{
	turn_to_writes(s);
	strcpy(s->info.write_cache, "write back");
}

static void laid_out(struct scene *s)
{
	strcpy(s->result.state, "laid-out");
}

static void unknown(struct scene *s)
{
	strcpy(s->result.state, "unknown");
}

/* What each rule needs to speak, how gravely it then does, and a number or word it must say. */
static const struct provoking {
	const char *code;
	enum audit_scope scope;
	enum severity severity;
	void (*spoil)(struct scene *s);
	const char *says;
} provoking[] = {
	{ "verify-failed", AUDIT_MEASUREMENT, SEVERITY_INVALID, verify_failed,
	  "2 of 1000 blocks read back wrong; the first, at offset 40960, is stale: expected "
	  "generation 3, found generation 2" },
	{ "io-errors", AUDIT_MEASUREMENT, SEVERITY_INVALID, io_errors,
	  "3 requests failed, first with \"Input/output error\"" },
	{ "io-errors", AUDIT_MEASUREMENT, SEVERITY_INVALID, ended_early, "the queue broke" },
	{ "memory-backed", AUDIT_TARGET, SEVERITY_INVALID, on_tmpfs, "tmpfs" },
	{ "memory-backed", AUDIT_TARGET, SEVERITY_INVALID, on_null, "null" },
	{ "page-cache", AUDIT_MEASUREMENT, SEVERITY_INVALID, buffered, "25 %" },
	{ "page-cache", AUDIT_MEASUREMENT, SEVERITY_WARNING, buffered_cold, "100 %" },
	{ "page-cache", AUDIT_MEASUREMENT, SEVERITY_INVALID, direct_ignored, "only 1 %" },
	{ "page-cache", AUDIT_MEASUREMENT, SEVERITY_INVALID, direct_refused, "not to be had here" },
	{ "sparse", AUDIT_MEASUREMENT, SEVERITY_INVALID, in_holes, "100 %" },
	{ "unwritten", AUDIT_MEASUREMENT, SEVERITY_INVALID, all_zeros, "75 % of 256" },
	{ "unwritten", AUDIT_MEASUREMENT, SEVERITY_WARNING, some_zeros, "5 % of 256" },
	{ "unwritten", AUDIT_MEASUREMENT, SEVERITY_INVALID, read_unmapped, "90 % of the bytes" },
	{ "fs-compression", AUDIT_TARGET, SEVERITY_INVALID, zeros_to_zstd, "zstd:3" },
	{ "fs-compression", AUDIT_TARGET, SEVERITY_INVALID, half_to_zstd, "compressible" },
	{ "fs-compression", AUDIT_TARGET, SEVERITY_WARNING, random_to_zstd, "cannot be compressed" },
	{ "fs-compression", AUDIT_TARGET, SEVERITY_INFO, on_zstd, "zstd:3" },
	{ "fs-compression", AUDIT_TARGET, SEVERITY_INVALID, stored_short, "stores 512 B of the 8.00" },
	{ "fs-compression", AUDIT_TARGET, SEVERITY_INVALID, compressed_before, "stored compressed" },
	{ "rate-not-sustained", AUDIT_MEASUREMENT, SEVERITY_WARNING, overloaded, "1.2" },
	{ "replay-late", AUDIT_MEASUREMENT, SEVERITY_WARNING, late_replay, "3.00 ms late" },
	{ "generator-bound", AUDIT_MEASUREMENT, SEVERITY_WARNING, busy_worker, "97 % of a CPU" },
	{ "generator-bound", AUDIT_MEASUREMENT, SEVERITY_WARNING, near_ceiling, "within 10 %" },
	{ "depth-not-reached", AUDIT_MEASUREMENT, SEVERITY_WARNING, sync_engine,
	  "depth 32 has no effect" },
	{ "depth-not-reached", AUDIT_MEASUREMENT, SEVERITY_WARNING, buffered_libaio, "libaio" },
	{ "depth-not-reached", AUDIT_MEASUREMENT, SEVERITY_WARNING, shallow, "4.5 requests" },
	{ "punted-to-kernel-threads", AUDIT_MEASUREMENT, SEVERITY_WARNING, punted, "50 %" },
	{ "punted-to-kernel-threads", AUDIT_MEASUREMENT, SEVERITY_INFO, punted_large, "little" },
	{ "not-level", AUDIT_MEASUREMENT, SEVERITY_WARNING, stepped, "for 41 s, then" },
	{ "not-level", AUDIT_MEASUREMENT, SEVERITY_WARNING, drifting, "first fifth" },
	{ "not-level", AUDIT_MEASUREMENT, SEVERITY_WARNING, cyclic, "every 5 s" },
	{ "background-io", AUDIT_MEASUREMENT, SEVERITY_WARNING, background, "16 % of what" },
	{ "throttled", AUDIT_MEASUREMENT, SEVERITY_WARNING, hot, "82 °C" },
	{ "throttled", AUDIT_MEASUREMENT, SEVERITY_WARNING, hot_cpus, "12 times" },
	{ "throttled", AUDIT_MEASUREMENT, SEVERITY_WARNING, hot_reference_drive, "2.5 s of 10 s" },
	{ "temperature", AUDIT_MEASUREMENT, SEVERITY_WARNING, warm, "78 °C" },
	{ "cpu-steal", AUDIT_MEASUREMENT, SEVERITY_WARNING, stolen, "8.0 %" },
	{ "misaligned", AUDIT_MEASUREMENT, SEVERITY_WARNING, small_blocks, "physical block of 4k" },
	{ "misaligned", AUDIT_MEASUREMENT, SEVERITY_WARNING, odd_offset, "offset of 100" },
	{ "misaligned", AUDIT_MEASUREMENT, SEVERITY_WARNING, odd_mix, "request size of 6k" },
	{ "misaligned", AUDIT_TARGET, SEVERITY_WARNING, old_partition, "byte 32256, 3584 past" },
	{ "misaligned", AUDIT_TARGET, SEVERITY_WARNING, odd_extents, "4 of 9 extents" },
	{ "smaller-than-cache", AUDIT_TARGET, SEVERITY_WARNING, tiny, "256 MiB" },
	{ "smaller-than-cache", AUDIT_TARGET, SEVERITY_WARNING, small_range, "64.0 MiB" },
	{ "smaller-than-cache", AUDIT_TARGET, SEVERITY_WARNING, small_share, "410 MiB" },
	{ "too-short", AUDIT_RUN, SEVERITY_WARNING, half_a_second, "0.5 s" },
	{ "too-short", AUDIT_RUN, SEVERITY_INFO, two_seconds, "2 s" },
	{ "cgroup-limit", AUDIT_TARGET, SEVERITY_WARNING, limited, "rbps=1048576" },
	{ "remote-fs", AUDIT_TARGET, SEVERITY_WARNING, remote, "nfs4" },
	{ "fuse-fs", AUDIT_TARGET, SEVERITY_WARNING, fuse, "fuse.bindfs" },
	{ "fs-cow", AUDIT_TARGET, SEVERITY_WARNING, cow, "btrfs" },
	{ "fs-cow", AUDIT_TARGET, SEVERITY_WARNING, reflinked, "reflink" },
	{ "cpu-governor", AUDIT_RUN, SEVERITY_INFO, powersave, "powersave" },
	{ "cpu-governor", AUDIT_RUN, SEVERITY_WARNING, powersave_at_depth_1, "latencies" },
	{ "fs-encryption", AUDIT_TARGET, SEVERITY_INFO, encrypted, "dm-crypt, home" },
	{ "virtual-device", AUDIT_TARGET, SEVERITY_INFO, on_virtio, "vda is a virtio device" },
	{ "virtual-device", AUDIT_TARGET, SEVERITY_WARNING, on_loop, "loop7 reads and writes" },
	{ "virtual-device", AUDIT_TARGET, SEVERITY_INFO, on_ebs, "nvme0n1 is an EBS volume" },
	{ "virtual-device", AUDIT_TARGET, SEVERITY_INFO, over_iscsi, "iSCSI" },
	{ "virtual-device", AUDIT_TARGET, SEVERITY_INFO, on_sim, "simulation" },
	{ "io-scheduler", AUDIT_TARGET, SEVERITY_INFO, bfq, "bfq" },
	{ "write-cache", AUDIT_TARGET, SEVERITY_INFO, volatile_cache, "write back" },
	{ "state-unknown", AUDIT_RUN, SEVERITY_INFO, laid_out, "not known" },
	{ "state-unknown", AUDIT_RUN, SEVERITY_INFO, unknown, "not known" },
};

static void a_healthy_run_has_no_findings(void)
{
	struct scene s;

	scene_init(&s);
	audit_scene(&s);
	for (size_t i = 0; i < s.result.finding_count; i++)
		printf("# said: %s: %s\n", s.result.findings[i].code, s.result.findings[i].text);
	CHECK_EQ(s.result.finding_count, 0);
	result_done(&s.result);
}

static void healthy_writes_have_no_findings_either(void)
{
	struct scene s;

	scene_init(&s);
	turn_to_writes(&s);
	audit_scene(&s);
	CHECK_EQ(s.result.finding_count, 0);
	result_done(&s.result);
}

static void each_case_provokes_its_finding(void)
{
	for (size_t i = 0; i < ARRAY_COUNT(provoking); i++) {
		const struct provoking *p = &provoking[i];
		const bool of_measurement = p->scope == AUDIT_MEASUREMENT;
		const struct finding *f;
		struct scene s;
		const int failures = check_failures;

		scene_init(&s);
		p->spoil(&s);
		audit_scene(&s);
		f = found(&s, p->code, of_measurement);
		CHECK(f != NULL);
		if (f) {
			CHECK_EQ(f->severity, p->severity);
			CHECK_STR(f->measurement, of_measurement ? "rand-read-4k-q32" : "");
			CHECK(strstr(f->text, p->says) != NULL);
			CHECK(f->remedy[0] != '\0');
			/* Cut at the end, a sentence would fill its room to the last byte. */
			CHECK(strlen(f->text) < sizeof(f->text) - 1);
			CHECK(strlen(f->remedy) < sizeof(f->remedy) - 1);
			CHECK(f->text[strlen(f->text) - 1] != '.');
		}
		if (check_failures > failures)
			printf("# case %zu, %s: \"%s\"\n", i, p->code, f ? f->text : "");
		result_done(&s.result);
	}
}

static void each_rule_has_a_case_that_provokes_it(void)
{
	for (const struct audit_rule *rule = audit_rules; rule->code; rule++) {
		size_t cases = 0;

		for (size_t i = 0; i < ARRAY_COUNT(provoking); i++)
			cases += strcmp(provoking[i].code, rule->code) == 0 &&
				 provoking[i].scope == rule->scope;
		if (cases == 0)
			printf("# no case for %s\n", rule->code);
		CHECK(cases > 0);
		CHECK(rule->help && rule->help[0] && rule->help[strlen(rule->help) - 1] != '.');
	}
}

/* The codes promised in the manual; they only ever grow. */
static void no_promised_code_is_missing(void)
{
	static const char *const promised[] = {
		"misaligned", "page-cache", "sparse", "unwritten", "fs-compression",
		"fs-encryption", "fs-cow", "memory-backed", "smaller-than-cache", "too-short",
		"not-level", "state-unknown", "generator-bound", "depth-not-reached",
		"punted-to-kernel-threads", "background-io", "cgroup-limit", "cpu-governor",
		"cpu-steal", "temperature", "throttled", "virtual-device", "io-scheduler",
		"write-cache", "remote-fs", "fuse-fs", "rate-not-sustained", "verify-failed",
		"io-errors",
	};

	for (size_t i = 0; i < ARRAY_COUNT(promised); i++) {
		const struct audit_rule *rule = audit_rules;

		while (rule->code && strcmp(rule->code, promised[i]) != 0)
			rule++;
		CHECK_STR(rule->code, promised[i]);
	}
}

static void a_little_journal(struct scene *s)
{
	turn_to_writes(s);
	s->facts.after.write_bytes = GIB + 40 * MIB;	/* 3.8 % */
}

/* 16 % beside, as background() has it, but each write is followed by a sync. */
static void the_journal_of_syncs(struct scene *s)
{
	background(s);
	s->m->workload.fdatasync_count = 1;
	strcpy(s->info.filesystem, "ext4");
}

static void a_slow_disk_with_a_journal(struct scene *s)
{
	turn_to_writes(s);
	s->m->ops[OP_WRITE].count = 1000;
	s->m->ops[OP_WRITE].bytes = s->facts.own_write_bytes = 4 * MIB;
	s->facts.after.write_bytes = 5 * MIB;		/* 20 %, and 100 KiB a second */
}

static void metadata_of_btrfs(struct scene *s)
{
	cow(s);
	s->facts.after.write_bytes = 2 * GIB;
}

static void half_in_holes(struct scene *s)
{
	s->facts.samples.hole_ratio = 0.6;
	s->facts.after.read_bytes = s->facts.own_read_bytes = GIB * 4 / 10;
}

static void ramped(struct scene *s)
{
	/* Counters see the ramp, the measurement does not: 5 s and 10 s at one pace. */
	s->m->workload.ramp_ns = 5 * SECOND_NS;
	s->facts.after.read_bytes = s->facts.own_read_bytes = GIB * 3 / 2;
}

static void a_spinning_open_loop(struct scene *s)
{
	s->m->workload.rate_iops = 26214;
	s->m->worker_cpu_max = 1;
}

static void a_recovered_stall(struct scene *s)
{
	s->m->workload.rate_iops = 26214;
	s->m->backlog_ns_max = SECOND_NS;
}

static void a_slow_pace(struct scene *s)
{
	s->m->workload.rate_iops = 26214;
	s->m->depth_mean = 1.1;
}

static void few_requests(struct scene *s)
{
	s->m->depth_mean = 10;
	s->m->ops[OP_READ].count = 100;
	s->m->ops[OP_READ].bytes = 100 * 4096;
}

static void cool(struct scene *s)
{
	s->m->temperature_c_start = 40;
	s->m->temperature_c_max = 60;
	s->facts.temperature_limit_c = 81;
}

static void sectors_of_512(struct scene *s)
{
	s->m->workload.block_bytes = 512;
}

static void scheduled_disk(struct scene *s)
{
	s->info.rotational = true;
	strcpy(s->info.scheduler, "mq-deadline");
}

static void synced_writes(struct scene *s)
{
	volatile_cache(s);
	s->m->workload.fdatasync_count = 1;
}

static void reads_of_btrfs(struct scene *s)
{
	s->facts.place.copy_on_write = true;
}

static void writes_over_holes(struct scene *s)
{
	turn_to_writes(s);
	s->facts.samples.hole_ratio = 1;
}

/* What looks like the finding and is none. */
static const struct {
	const char *code;
	void (*spoil)(struct scene *s);
} innocent[] = {
	{ "background-io", a_little_journal },
	{ "background-io", the_journal_of_syncs },
	{ "background-io", a_slow_disk_with_a_journal },
	{ "background-io", metadata_of_btrfs },
	{ "background-io", ramped },
	{ "page-cache", half_in_holes },
	{ "page-cache", ramped },
	{ "page-cache", on_tmpfs },
	{ "replay-late", punctual_replay },
	{ "generator-bound", punctual_replay },
	{ "depth-not-reached", punctual_replay },
	{ "not-level", punctual_replay },
	{ "generator-bound", a_spinning_open_loop },
	{ "rate-not-sustained", a_recovered_stall },
	{ "rate-not-sustained", a_spinning_open_loop },
	{ "depth-not-reached", a_slow_pace },
	{ "depth-not-reached", few_requests },
	{ "temperature", cool },
	{ "throttled", cool },
	{ "temperature", hot },		/* said once, as throttled */
	{ "misaligned", sectors_of_512 },
	{ "io-scheduler", scheduled_disk },
	{ "write-cache", synced_writes },
	{ "fs-cow", reads_of_btrfs },
	{ "sparse", writes_over_holes },
	{ "unwritten", read_mapped },
	{ "unwritten", in_holes },	/* said once, as sparse */
	{ "state-unknown", on_null },
	{ "generator-bound", on_null },
};

static void innocent_runs_are_not_accused(void)
{
	for (size_t i = 0; i < ARRAY_COUNT(innocent); i++) {
		struct scene s;

		scene_init(&s);
		innocent[i].spoil(&s);
		audit_scene(&s);
		if (found(&s, innocent[i].code, true) || found(&s, innocent[i].code, false))
			printf("# case %zu: %s\n", i, innocent[i].code);
		CHECK(!found(&s, innocent[i].code, true) && !found(&s, innocent[i].code, false));
		result_done(&s.result);
	}
}

TESTS(TEST(a_healthy_run_has_no_findings), TEST(healthy_writes_have_no_findings_either),
      TEST(each_case_provokes_its_finding), TEST(each_rule_has_a_case_that_provokes_it),
      TEST(no_promised_code_is_missing), TEST(innocent_runs_are_not_accused))
