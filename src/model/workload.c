/* SPDX-License-Identifier: MIT */
#include "model/workload.h"

#include <string.h>

#include "base/clock.h"
#include "base/units.h"
#include "model/workload_values.h"

static const char *const rw_choices[] = {
	"read",	     "write",	  "trim",      "randread",
	"randwrite", "randtrim", "readwrite", "randrw",
	"trimwrite", "randtrimwrite", NULL,
};
static const char *const engine_choices[] = { "auto", "io_uring", "libaio", "sync", "mmap", NULL };
static const char *const sync_choices[] = { "none", "dsync", "sync", NULL };
static const char *const arrival_choices[] = { "linear", "poisson", NULL };
static const char *const data_choices[] = { "random", "zero", "pattern", NULL };

#define DAYS_NS(n) ((uint64_t)(n) * 86400 * SECOND_NS)
#define AT(member) .offset = offsetof(struct workload, member)
#define BOOL(member) .type = FIELD_BOOL, AT(member)
#define ENUM(member, list) .type = FIELD_ENUM, AT(member), .choices = (list)
#define U32(member, u, low, high) \
	.type = FIELD_U32, .unit = (u), AT(member), .min = (low), .max = (high)
#define U64(member, u, low, high) \
	.type = FIELD_U64, .unit = (u), AT(member), .min = (low), .max = (high)
#define AMOUNT(member, low) \
	.type = FIELD_AMOUNT, .unit = UNIT_BYTES, AT(member), .min = (low), .max = INT64_MAX
#define TEXT(member) \
	.type = FIELD_TEXT, AT(member), .room = sizeof(((struct workload *)NULL)->member)
#define CUSTOM(member, in, out) .type = FIELD_CUSTOM, AT(member), .parse = (in), .print = (out)

/* In the order help and manual show them; a group's rows stand together. */
const struct field workload_fields[] = {
#define GROUP "What"
	{ .name = "name", TEXT(name), .help = "name of the measurement in the result" , .group = GROUP },
	{ .name = "rw", .alias = "readwrite", ENUM(rw, rw_choices), .parse = workload_parse_rw,
	  .preset = "read", .group = GROUP, .metavar = "KIND",
	  .help = "what is done: read, write, trim, readwrite (a mix) or trimwrite (each block trimmed, "
		  "then written), in order; randread, randwrite, randtrim, randrw or randtrimwrite at "
		  "random" },
	{ .name = "rwmixread", U32(read_ppm, UNIT_PPM, 0, PPM), .preset = "50%", .group = GROUP,
	  .help = "share of reads in a mix (rw=readwrite, randrw)" },
	{ .name = "rwmixwrite", CUSTOM(read_ppm, workload_parse_write_share, NULL), .input_only = true,
	  .metavar = "PERCENT", .group = GROUP,
	  .help = "the same, said as the share of writes" },
	{ .name = "rwmixtrim", U32(trim_ppm, UNIT_PPM, 0, PPM), .preset = "0%", .group = GROUP,
	  .help = "share of trims among what does not read; the rest writes" },
	{ .name = "bs", .alias = "blocksize",
	  U64(block_bytes, UNIT_BYTES, 1, WORKLOAD_BLOCK_MAX_BYTES), .preset = "4k", .group = GROUP,
	  .help = "size of one request" },
	{ .name = "bssplit", CUSTOM(size_mix, workload_parse_split, workload_print_split), .group = GROUP,
	  .metavar = "SIZE/PERCENT:…",
	  .help = "request sizes with their shares, as in 4k/60:64k/40; in place of bs" },
	{ .name = "bssplit-write", CUSTOM(write_mix, workload_parse_split, workload_print_split),
	  .group = GROUP, .metavar = "SIZE/PERCENT:…",
	  .help = "sizes of what a mix does not read, where they are not those of its reads" },
#undef GROUP
#define GROUP "Where"
	{ .name = "offset", .alias = "fileoffset", AMOUNT(offset, 0), .group = GROUP,
	  .help = "start of the range, in bytes or % of the target" },
	{ .name = "size", AMOUNT(size, 1), .group = GROUP,
	  .help = "length of the range, in bytes or % of the target; without it the rest of the "
		  "target" },
	{ .name = "access-lines", CUSTOM(lines, workload_parse_lines, workload_print_lines),
	  .group = GROUP, .metavar = "LINE:…",
	  .help = "lines as IOMeter has them: SIZE/WEIGHT/READ/RANDOM[/DELAY/BURST/ALIGN/REPLY]; "
		  "they replace rw, bs and the order of starts" },
	{ .name = "blockalign", .alias = "ba", U64(align_bytes, UNIT_BYTES, 0, INT64_MAX),
	  .group = GROUP,
	  .help = "alignment of starts; without it the larger of 4k and the physical block" },
	{ .name = "norandommap", BOOL(repeat), .preset = "0", .group = GROUP,
	  .help = "random starts may repeat; without it each block is visited once per pass" },
	{ .name = "random-distribution", CUSTOM(distribution, workload_parse_distribution,
						workload_print_distribution),
	  .preset = "random", .group = GROUP, .metavar = "KIND",
	  .help = "random, zipf:THETA, pareto:H, normal:DEVIATION or zoned:ACCESS/RANGE:…" },
	{ .name = "percentage-random", U32(random_ppm, UNIT_PPM, 0, PPM), .preset = "100%",
	  .group = GROUP, .help = "share of random starts in a random workload" },
	{ .name = "stride", U64(stride_bytes, UNIT_BYTES, 0, INT64_MAX), .group = GROUP,
	  .help = "sequential: from start to start; without it the length of the request" },
	{ .name = "stride-wraps", BOOL(stride_wraps), .preset = "0", .group = GROUP,
	  .help = "stride: as many requests as there are blocks, each pass beginning one block later" },
	{ .name = "backwards", BOOL(backwards), .preset = "0", .group = GROUP,
	  .help = "sequential: from the end to the start" },
	{ .name = "own-sequences", BOOL(own_sequences), .preset = "0", .group = GROUP,
	  .help = "sequential mix: reads and writes each go through the range, as fio has it" },
	{ .name = "segments", U32(segment_count, UNIT_COUNT, 0, 1000000), .group = GROUP,
	  .help = "pieces the size is cut into, spread evenly over the target" },
	{ .name = "segment-range", AMOUNT(segment_range, 0), .group = GROUP,
	  .help = "what segments are spread over; without it the target from offset on" },
	{ .name = "segment-seed", U64(segment_seed, UNIT_NONE, 0, UINT64_MAX), .group = GROUP,
	  .help = "runs with the same one have their segments in the same places" },
	{ .name = "piece", U64(piece_bytes, UNIT_BYTES, 0, INT64_MAX), .group = GROUP,
	  .help = "the range is pieces of this length, each followed by piece-gap" },
	{ .name = "piece-gap", U64(piece_gap_bytes, UNIT_BYTES, 0, INT64_MAX), .group = GROUP,
	  .help = "what is left out behind each piece" },
#undef GROUP
#define GROUP "How long"
	{ .name = "runtime", .alias = "timeout", U64(runtime_ns, UNIT_NS, 0, DAYS_NS(366)),
	  .group = GROUP,
	  .help = "time measured; 0 is one pass over the range; 30s when neither this nor io-size "
		  "is given" },
	{ .name = "for", U64(runtime_ns, UNIT_NS, 0, DAYS_NS(366)), .input_only = true,
	  .group = GROUP, .help = "the same as runtime" },
	{ .name = "ramp-time", U64(ramp_ns, UNIT_NS, 0, DAYS_NS(366)), .group = GROUP,
	  .help = "time before measuring starts; counts against nothing" },
	{ .name = "start-delay", .alias = "startdelay", U64(start_delay_ns, UNIT_NS, 0, DAYS_NS(366)),
	  .group = GROUP, .help = "nothing is done for so long, counted from when the others start" },
	{ .name = "io-size", .alias = "io-limit", U64(io_size_bytes, UNIT_BYTES, 0, INT64_MAX),
	  .group = GROUP, .help = "end after so many bytes of all jobs together" },
	{ .name = "io-count", .alias = "number-ios", U64(io_count, UNIT_COUNT, 0, INT64_MAX),
	  .group = GROUP, .help = "end after so many requests of all jobs together" },
	{ .name = "max-latency", U64(latency_ns_max, UNIT_NS, 0, DAYS_NS(1)), .group = GROUP,
	  .help = "end with an error when a request takes longer" },
#undef GROUP
#define GROUP "How"
	{ .name = "ioengine", ENUM(engine, engine_choices), .parse = workload_parse_engine, .preset = "auto",
	  .group = GROUP, .help = "how requests reach the kernel; auto is io_uring where there is one" },
	{ .name = "iodepth", .alias = "qd", U32(depth_count, UNIT_COUNT, 1, 65536), .preset = "1",
	  .group = GROUP, .help = "requests each job keeps in flight" },
	{ .name = "iodepth-batch", .alias = "iodepth-batch-submit",
	  U32(batch_count, UNIT_COUNT, 0, 65536), .group = GROUP,
	  .help = "most requests submitted at once; without it 16, more where they complete at once" },
	{ .name = "iodepth-batch-complete-min", .alias = "iodepth-batch-complete",
	  U32(wait_count, UNIT_COUNT, 0, 65536), .group = GROUP,
	  .help = "completions waited for at once; without it a quarter of the depth, at most 8" },
	{ .name = "numjobs", U32(job_count, UNIT_COUNT, 1, 1024), .preset = "1", .group = GROUP,
	  .help = "workers that do the same, each with its own seed; of a trace, its pacers" },
	{ .name = "direct", BOOL(direct), .preset = "1", .group = GROUP,
	  .help = "bypass the page cache" },
	{ .name = "buffered", BOOL(direct), .parse = workload_parse_buffered, .input_only = true,
	  .group = GROUP, .help = "the opposite of direct" },
	{ .name = "noatime", BOOL(noatime), .preset = "1", .group = GROUP,
	  .help = "do not touch access times (O_NOATIME)" },
	{ .name = "invalidate", BOOL(invalidate), .preset = "1", .group = GROUP,
	  .help = "buffered: drop what the page cache holds of the target before it begins" },
	{ .name = "sync", ENUM(sync, sync_choices), .parse = workload_parse_sync, .preset = "none",
	  .group = GROUP, .help = "open with O_DSYNC or O_SYNC" },
	{ .name = "fsync", U32(fsync_count, UNIT_COUNT, 0, UINT32_MAX), .group = GROUP,
	  .help = "fsync after so many writes; with 1 a write is done when its fsync is" },
	{ .name = "fdatasync", U32(fdatasync_count, UNIT_COUNT, 0, UINT32_MAX), .group = GROUP,
	  .help = "fdatasync after so many writes; with 1 a write is done when its fdatasync is" },
	{ .name = "end-fsync", BOOL(end_fsync), .preset = "0", .group = GROUP,
	  .help = "one fsync behind each job's last write, in the time measured" },
	{ .name = "cpus-allowed", TEXT(cpus), .parse = workload_parse_cpus, .metavar = "LIST", .group = GROUP,
	  .help = "CPUs the workers are pinned to, as in 0-1,3" },
#undef GROUP
#define GROUP "When"
	{ .name = "rate-iops", U64(rate_iops, UNIT_COUNT, 0, 1000000000), .group = GROUP,
	  .help = "requests per second of each job, started on schedule (open loop); latency counts "
		  "from the intended start" },
	{ .name = "rate-period", U64(rate_period_ns, UNIT_NS, 0, DAYS_NS(366)), .group = GROUP,
	  .help = "rate-iops counts per so long, for rates below one a second; 0 is a second" },
	{ .name = "rate-process", ENUM(arrival, arrival_choices), .preset = "linear", .group = GROUP,
	  .help = "gaps between requests at rate-iops: equal or exponential" },
	{ .name = "burst", U32(burst_count, UNIT_COUNT, 0, 65536), .group = GROUP,
	  .help = "requests that arrive together at rate-iops" },
	{ .name = "thinktime", U64(think_ns, UNIT_NS, 0, DAYS_NS(1)), .parse = workload_parse_think,
	  .group = GROUP, .help = "pause after thinktime-blocks requests; needs a unit" },
	{ .name = "thinktime-blocks", U32(think_count, UNIT_COUNT, 1, UINT32_MAX), .preset = "1",
	  .group = GROUP, .help = "requests between two pauses" },
	{ .name = "thinktime-spin", U64(think_spin_ns, UNIT_NS, 0, DAYS_NS(1)),
	  .parse = workload_parse_think, .group = GROUP,
	  .help = "of thinktime, the first part: spent computing instead of asleep; needs a unit" },
	{ .name = "flow", U32(flow_weight, UNIT_COUNT, 0, 1000), .group = GROUP,
	  .help = "requests of this measurement to those of its group's others with a flow" },
	{ .name = "flow-id", U32(flow_id, UNIT_COUNT, 0, UINT32_MAX), .group = GROUP,
	  .help = "flows of different ids have nothing to do with each other" },
	{ .name = "latency-target", U64(latency_target_ns, UNIT_NS, 0, DAYS_NS(1)), .group = GROUP,
	  .help = "search for the deepest queue, up to iodepth, that answers within this time" },
	{ .name = "latency-window", U64(latency_window_ns, UNIT_NS, 1, DAYS_NS(1)), .preset = "5s",
	  .group = GROUP, .help = "time for which each depth is tried" },
	{ .name = "latency-percentile", U32(latency_ppm, UNIT_PPM, 1, PPM), .preset = "100%",
	  .group = GROUP, .help = "share of requests that must be within latency-target" },
	{ .name = "latency-run", BOOL(latency_run), .preset = "0", .group = GROUP,
	  .help = "go on at the depth that was found, instead of ending there" },
	{ .name = "steadystate", .alias = "ss", .type = FIELD_TEXT, AT(steadystate),
	  .room = sizeof(((struct workload *)NULL)->steadystate), .parse = workload_parse_steady,
	  .metavar = "RULE:LIMIT", .group = GROUP,
	  .help = "end when the rate has settled: no second is off the mean by more (iops:10%, bw:1e6) "
		  "or the slope is no more (iops_slope:0.3%, bw_slope:1e5)" },
	{ .name = "steadystate-duration", .alias = "ss-dur", U64(steady_window_ns, UNIT_NS, 0, DAYS_NS(7)),
	  .group = GROUP, .help = "the last seconds that must have settled" },
	{ .name = "steadystate-ramp-time", .alias = "ss-ramp", U64(steady_ramp_ns, UNIT_NS, 0, DAYS_NS(7)),
	  .group = GROUP, .help = "not before so long after measuring began" },
#undef GROUP
#define GROUP "Data"
	{ .name = "data", ENUM(data, data_choices), .preset = "random", .group = GROUP,
	  .help = "what is written: incompressible and unique, zeros, or buffer-pattern" },
	{ .name = "buffer-pattern", .type = FIELD_CUSTOM, .offset = 0, .parse = workload_parse_pattern,
	  .print = workload_print_pattern, .metavar = "0xHEX|TEXT", .group = GROUP,
	  .help = "write this over and over (sets data=pattern)" },
	{ .name = "zero-buffers", BOOL(data), .parse = workload_parse_zero_buffers, .input_only = true,
	  .group = GROUP, .help = "the same as data=zero" },
	{ .name = "buffer-compress-percentage", U32(compress_ppm, UNIT_PPM, 0, PPM), .preset = "0%",
	  .group = GROUP, .help = "compressible share of each block" },
	{ .name = "dedupe-percentage", U32(dedupe_ppm, UNIT_PPM, 0, PPM), .preset = "0%",
	  .group = GROUP, .help = "share of blocks that repeat an earlier one" },
	{ .name = "verify", BOOL(verify), .preset = "0", .group = GROUP,
	  .help = "write checksum, offset and generation into each block, check what is read, and read "
		  "back what was written at the end" },
	{ .name = "do-verify", BOOL(verify_back), .preset = "1", .group = GROUP,
	  .help = "with verify: read back at the end what was written" },
	{ .name = "randseed", U64(seed, UNIT_NONE, 0, UINT64_MAX), .group = GROUP,
	  .help = "seed of all that is random; 0 is a new one each run, kept in the result" },
#undef GROUP
	{ .name = "trace", TEXT(trace), .metavar = "FILE,...", .group = "Trace",
	  .help = "replay what was recorded, see tare replay; rw, bs, size and blockalign say what is "
		  "in it" },
	{ .name = "replay", CUSTOM(replay, replay_parse_member, replay_print_member),
	  .metavar = "NAME=VALUE;...", .group = "Trace",
	  .help = "how a trace is read and replayed, as in speed=2;skip=trim" },
	{ .name = "filter", TEXT(filter), .metavar = "SPEC", .group = "Filters",
	  .help = "put delays or errors over the target, as in delay:read=1ms" },
	{ .name = NULL },
};

void workload_init(struct workload *workload)
{
	memset(workload, 0, sizeof(*workload));
	replay_init(&workload->replay);
	fields_preset(workload_fields, workload);
}

static bool was_seen(field_bits seen, const char *name)
{
	return seen >> (field_find(workload_fields, name) - workload_fields) & 1;
}

void workload_settle(struct workload *workload, field_bits seen)
{
	/* A trace ends with its last request. */
	if (!*workload->trace && !was_seen(seen, "runtime") && !was_seen(seen, "for") &&
	    !was_seen(seen, "io-size") && !was_seen(seen, "io-count"))
		workload->runtime_ns = 30 * SECOND_NS;
}

static bool is_mix(const struct workload *w)
{
	return w->rw == RW_READWRITE || w->rw == RW_RANDRW;
}

bool workload_trims_first(const struct workload *w)
{
	return w->rw == RW_TRIMWRITE || w->rw == RW_RANDTRIMWRITE;
}

static bool is_trim(const struct workload *w)
{
	return w->rw == RW_TRIM || w->rw == RW_RANDTRIM;
}

/* Whether a line asks for requests of the share's kind, of its own or as a reply. */
static bool lines_have(const struct access_lines *lines, bool reads)
{
	for (uint32_t i = 0; i < lines->count; i++) {
		const struct access_line *line = &lines->lines[i];
		const bool own = reads ? line->read_ppm > 0 : line->read_ppm < PPM;
		const bool other = reads ? line->read_ppm < PPM : line->read_ppm > 0;

		if (line->weight && (own || (line->reply_bytes && other)))
			return true;
	}
	return false;
}

bool workload_reads(const struct workload *workload)
{
	if (workload->lines.count)
		return lines_have(&workload->lines, true);
	return workload->rw == RW_READ || workload->rw == RW_RANDREAD ||
	       (is_mix(workload) && workload->read_ppm > 0);
}

bool workload_writes(const struct workload *workload)
{
	if (workload->lines.count)
		return lines_have(&workload->lines, false);
	if (is_mix(workload))
		return workload->read_ppm < PPM;
	return workload->rw != RW_READ && workload->rw != RW_RANDREAD;
}

bool workload_stores(const struct workload *workload)
{
	return workload_writes(workload) && !is_trim(workload) && workload->trim_ppm < PPM;
}

bool workload_trims(const struct workload *workload)
{
	return is_trim(workload) || workload_trims_first(workload) || (workload_writes(workload) && workload->trim_ppm > 0);
}

double workload_rate_per_s(const struct workload *workload)
{
	const uint64_t period_ns = workload->rate_period_ns ? workload->rate_period_ns : SECOND_NS;

	return (double)workload->rate_iops * (double)SECOND_NS / (double)period_ns;
}

bool workload_is_random(const struct workload *workload)
{
	for (uint32_t i = 0; i < workload->lines.count; i++)
		if (workload->lines.lines[i].random_ppm > 0)
			return true;
	if (workload->lines.count)
		return false;
	switch (workload->rw) {
	case RW_RANDREAD:
	case RW_RANDWRITE:
	case RW_RANDTRIM:
	case RW_RANDRW:
	case RW_RANDTRIMWRITE:
		return true;
	default:
		return false;
	}
}
