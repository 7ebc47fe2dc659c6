/* SPDX-License-Identifier: MIT */
#include "foreign/iozone_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void take_file_kb(struct iozone_command *c, const struct iozone_value *value)
{
	if (c->file_count == IOZONE_LIST)
		iozone_problem(c, "-s: more than %d file sizes", IOZONE_LIST);
	else
		c->file_kb[c->file_count++] = value->number;
}

static void take_record_kb(struct iozone_command *c, const struct iozone_value *value)
{
	if (c->record_count == IOZONE_LIST)
		iozone_problem(c, "-r: more than %d record sizes", IOZONE_LIST);
	else
		c->record_kb[c->record_count++] = value->number;
}

static void take_test(struct iozone_command *c, const struct iozone_value *value)
{
	c->tests |= 1u << value->number;
}

static void take_streams(struct iozone_command *c, const struct iozone_value *value)
{
	if (c->round_count == IOZONE_LIST)
		iozone_problem(c, "-t: more than %d rounds", IOZONE_LIST);
	else
		c->streams[c->round_count++] = (uint32_t)value->number;
}

static void take_depth(struct iozone_command *c, const struct iozone_value *value)
{
	if (c->depth)
		iozone_problem(c, "-H and -k exclude each other, and each is given once");
	c->depth = (uint32_t)value->number;
}

static void set_dedupe(struct iozone_command *c, const struct iozone_value *value,
		       enum iozone_dedupe how)
{
	if (c->dedupe)
		iozone_problem(c, "-+w, -+y and -+C exclude each other");
	c->dedupe = how;
	c->dedupe_percent = (uint32_t)value->number;
}

static void take_dedupe_across(struct iozone_command *c, const struct iozone_value *value)
{
	set_dedupe(c, value, IOZONE_DEDUPE_ACROSS);
}

static void take_dedupe_both(struct iozone_command *c, const struct iozone_value *value)
{
	set_dedupe(c, value, IOZONE_DEDUPE_BOTH);
}

static void take_dedupe_within(struct iozone_command *c, const struct iozone_value *value)
{
	set_dedupe(c, value, IOZONE_DEDUPE_WITHIN);
}

static void take_verify(struct iozone_command *c, const struct iozone_value *value)
{
	(void)value;
	c->verify = true;
}

static void take_cpu(struct iozone_command *c, const struct iozone_value *value)
{
	c->bind = true;
	c->cpu_first = (uint32_t)value->number;
}

/* "SIZE,MS": so many kB, then a sleep. */
static void take_burst(struct iozone_command *c, const struct iozone_value *value)
{
	char *end;
	unsigned long long kb = strtoull(value->text, &end, 10), ms;
	const char *unit = end != value->text ? strchr("kKmMgG", *end) : NULL;

	if (unit && *unit)
		kb <<= (unit - "kKmMgG") / 2 * 10;
	if (unit && *unit)
		end++;
	ms = *end == ',' ? strtoull(end + 1, &end, 10) : 0;
	if (*end || !kb || !ms || kb > 1u << 30 || ms > 86400000 || value->text[0] < '0' ||
	    value->text[0] > '9') {
		iozone_problem(c, "-+b %.40s: SIZE,MILLISECONDS is wanted, as in 64m,500",
			       value->text);
		return;
	}
	c->burst_kb = kb;
	c->burst_ms = (uint32_t)ms;
}

/* One name a line; '#' begins a comment line. */
static void split_names(struct iozone_command *c)
{
	char *rest = c->name_list, *line;

	while ((line = strsep(&rest, "\n"))) {
		if (!*line || *line == '#')
			continue;
		if (c->name_count == IOZONE_STREAMS) {
			iozone_problem(c, "-+R: more than %d names", IOZONE_STREAMS);
			return;
		}
		c->names[c->name_count++] = line;
	}
}

#define NAME_LIST_BYTES (1u << 20)

static void take_name_list(struct iozone_command *c, const struct iozone_value *value)
{
	FILE *file = fopen(value->text, "re");
	size_t length;

	if (c->name_list || !file || !(c->name_list = malloc(NAME_LIST_BYTES))) {
		iozone_problem(c, "-+R %.200s: %s", value->text,
			       c->name_list ? "one list of names is enough" : "cannot be read");
		if (file)
			fclose(file);
		return;
	}
	length = fread(c->name_list, 1, NAME_LIST_BYTES - 1, file);
	if (ferror(file) || !feof(file))
		iozone_problem(c, "-+R %.200s: %s", value->text,
			       ferror(file) ? "cannot be read" : "is longer than 1 MB");
	fclose(file);
	c->name_list[length] = '\0';
	split_names(c);
}

#define AT(member) .offset = offsetof(struct iozone_command, member)
#define FLAG(member) IOZONE_NONE, AT(member)
#define KB(member) IOZONE_KB, 1, UINT64_MAX >> 20, AT(member)
#define NUMBER(low, high, member) IOZONE_NUMBER, (low), (high), AT(member)
#define TAKE(kind, low, high, function) (kind), (low), (high), .take = (function)
#define REFUSED(kind, why) (kind), 0, UINT64_MAX, .refusal = (why)
#define NO_EFFECT(kind, why) (kind), 0, UINT64_MAX, .note = (why)
#define SHOWN(text) .before = (text), .after = ""

#define CLUSTER "tare drives one machine; run it on each, side by side"
#define LOCKS "record and file locks are not measured"

const struct iozone_option iozone_options[] = {
	/* the matrix */
	{ "a", FLAG(auto_sweep), SHOWN("Auto Mode") },
	{ "A", FLAG(obsolete), SHOWN("Auto Mode 2. This option is obsolete. Use -az -i0 -i1") },
	{ "z", FLAG(no_cross_over), SHOWN("Cross over of record size disabled.") },
	{ "s", TAKE(IOZONE_KB, 1, UINT64_MAX >> 20, take_file_kb), .before = "File size set to ",
	  .after = " kB" },
	{ "r", TAKE(IOZONE_KB, 1, 16384, take_record_kb), .before = "Record Size ", .after = " kB" },
	{ "n", IOZONE_KB, 4, UINT64_MAX >> 20, AT(file_min_kb),
	  .before = "Using minimum file size of ", .after = " kilobytes." },
	{ "g", IOZONE_KB, 4, UINT64_MAX >> 20, AT(file_max_kb),
	  .before = "Using maximum file size of ", .after = " kilobytes." },
	{ "y", IOZONE_KB, 1, 16384, AT(record_min_kb), .before = "Using Minimum Record Size ",
	  .after = " kB" },
	{ "q", IOZONE_KB, 1, 16384, AT(record_max_kb), .before = "Using Maximum Record Size ",
	  .after = " kB" },
	{ "+x", NUMBER(2, 1024, multiplier), .before = "Using file and record size multiplier ",
	  .after = "" },

	/* the tests */
	{ "i", TAKE(IOZONE_NUMBER, 0, IOZONE_TESTS - 1, take_test) },
	{ "E", FLAG(extended), SHOWN("Extension tests enabled") },
	{ "+n", FLAG(no_retest), SHOWN("No retest option selected") },
	{ "j", NUMBER(1, 1u << 20, stride_records) },
	{ "+B", FLAG(sequential_mix), SHOWN("Sequential mixed workload") },
	{ "+p", NUMBER(1, 100, mix_percent), .before = "Percent read in mix test is ", .after = "" },
	{ "+K", NUMBER(1, IOZONE_STREAMS, mix_readers), .before = "Readers in mix test: ", .after = "" },

	/* the files */
	{ "f", IOZONE_WORD, AT(file) },
	{ "F", .argument = IOZONE_NAMES },
	{ "+R", TAKE(IOZONE_WORD, 0, 0, take_name_list) },
	{ "w", FLAG(keep), SHOWN("Setting no_unlink") },
	{ "+N", NO_EFFECT(IOZONE_NONE, "the test file is tare's own and new: there is nothing to truncate") },
	{ "+E", FLAG(reads_only), SHOWN("Read-only tests on an existing file") },
	{ "+F", REFUSED(IOZONE_NONE, "the mixed test writes over what is there; writing a new file is test 0") },

	/* the streams */
	{ "t", TAKE(IOZONE_NUMBER, 1, IOZONE_STREAMS, take_streams) },
	{ "l", NUMBER(1, IOZONE_STREAMS, stream_min) },
	{ "u", NUMBER(1, IOZONE_STREAMS, stream_max) },
	{ "T", FLAG(threads) },
	{ "x", FLAG(no_stonewall), SHOWN("Stonewall disabled") },
	{ "C", FLAG(per_stream) },
	{ "+k", FLAG(divide), SHOWN("Constant aggregate data set size") },
	{ "d", NUMBER(0, 1000000000, release_us), .before = "Delay between streams ",
	  .after = " microseconds" },

	/* how */
	{ "I", FLAG(direct), SHOWN("O_DIRECT feature enabled") },
	{ "e", FLAG(flush), SHOWN("Include fsync in write timing") },
	{ "c", FLAG(close), SHOWN("Include close in write timing") },
	{ "o", FLAG(full_sync), SHOWN("SYNC Mode.") },
	{ "+D", FLAG(data_sync), SHOWN("DSYNC Mode.") },
	{ "+r", FLAG(full_sync), SHOWN("RSYNC, SYNC Mode."),
	  .note = "Linux has no O_RSYNC of its own: it is O_SYNC" },
	{ "H", TAKE(IOZONE_NUMBER, 1, 4096, take_depth), .before = "POSIX async I/O, depth ", .after = "" },
	{ "k", TAKE(IOZONE_NUMBER, 1, 4096, take_depth),
	  .before = "POSIX async I/O (no bcopy), depth ", .after = "" },
	{ "J", NUMBER(1, 86400000, delay_ms), .before = "Milliseconds of compute delay: ", .after = "" },
	{ "+J", FLAG(delay_counts), SHOWN("Compute delay counted") },
	{ "+b", TAKE(IOZONE_WORD, 0, 0, take_burst) },
	{ "+O", NUMBER(1, 1000000000, rate), .before = "Operations per second limited to ", .after = "" },
	{ "+q", NUMBER(1, 86400, rest_s), .before = "Delay ", .after = " seconds between tests" },
	{ "P", TAKE(IOZONE_NUMBER, 0, 4095, take_cpu), .before = "Bind to processors from ", .after = "" },
	{ "B", FLAG(mapped), SHOWN("Using mmap files") },
	{ "D", NO_EFFECT(IOZONE_NONE, "an msync that does not wait does nothing on Linux") },
	{ "G", FLAG(sync_each), SHOWN("Using msync(MS_SYNC) on mmap files") },
	{ "Z", REFUSED(IOZONE_NONE, "a file is either mapped (-B) or read and written") },
	{ "+A", REFUSED(IOZONE_NUMBER, "the kernel is given no advice on what is mapped") },
	{ "K", REFUSED(IOZONE_NONE, "how much of the order is disturbed is not said; -i 2 is all random, "
				    "tare run --percentage-random any share") },
	{ "U", REFUSED(IOZONE_WORD, "tare does not unmount your file system; with direct I/O, the "
				    "default, nothing is left in the page cache") },
	{ "W", REFUSED(IOZONE_NONE, LOCKS) },
	{ "+l", REFUSED(IOZONE_NONE, LOCKS) },
	{ "+L", REFUSED(IOZONE_NONE, LOCKS) },
	{ "+V", REFUSED(IOZONE_NONE, "streams have a file each; of one file for all, tare run "
				     "--numjobs is the measurement") },

	/* the data */
	{ "V", TAKE(IOZONE_NUMBER, 0, 255, take_verify), SHOWN("Performance measurements are invalid in this mode.") },
	{ "+d", FLAG(diagnose), SHOWN("Performance measurements are invalid in this mode.") },
	{ "+w", TAKE(IOZONE_NUMBER, 0, 100, take_dedupe_across), .before = "Dedup activated ",
	  .after = " percent." },
	{ "+y", TAKE(IOZONE_NUMBER, 0, 100, take_dedupe_both),
	  .before = "Dedup within & across activated ", .after = " percent." },
	{ "+C", TAKE(IOZONE_NUMBER, 0, 100, take_dedupe_within),
	  .before = "Dedup within activated ", .after = " percent." },
	{ "+S", NUMBER(0, UINT32_MAX, dedupe_set), .before = "Dedup set id ", .after = "" },
	{ "+W", REFUSED(IOZONE_NUMBER, "streams are numbered from 0; -+S tells sets of data apart") },
	{ "+Q", REFUSED(IOZONE_NUMBER, "what repeats is a whole record; choose it with -r") },
	{ "+a", NUMBER(0, 100, zero_percent), .before = "Zero filled share of the data: ",
	  .after = " percent" },
	{ "+M", NO_EFFECT(IOZONE_NONE, "repeated and zero shares combine in any case") },
	{ "+e", REFUSED(IOZONE_NONE, "a file with holes is not measured: its holes never reach the drive") },
	{ "+X", REFUSED(IOZONE_NONE, "test data without a check would be no test; -V checks all of it") },
	{ "+Z", REFUSED(IOZONE_NONE, "the data of old versions are not made; --exact has iozone's sparse block") },

	/* the output */
	{ "O", FLAG(ops), SHOWN("OPS Mode. Output is in operations per second.") },
	{ "N", FLAG(microseconds), SHOWN("Microseconds/op Mode. Output is in microseconds per operation.") },
	{ "R", FLAG(excel), SHOWN("Excel chart generation enabled") },
	{ "b", IOZONE_WORD, AT(book) },
	{ "S", NUMBER(1, 1u << 30, cache_kb) },
	{ "L", NUMBER(1, 1u << 20, cache_line_bytes) },
	{ "Q", REFUSED(IOZONE_NONE, "no line per request here: save --print-plan, then "
		       "tare run PLAN --record=FILE writes each one's offset and latency") },
	{ "+z", REFUSED(IOZONE_NONE, "--json has the latencies' histograms, finer than iozone's bands") },
	{ "+T", REFUSED(IOZONE_NONE, "time stamps are in --json, at each measurement") },
	{ "X", REFUSED(IOZONE_WORD, "a telemetry file is replayed by tare replay --format=iozone-x "
				    "--timing=gaps FILE TARGET") },
	{ "Y", REFUSED(IOZONE_WORD, "a telemetry file is replayed by tare replay --format=iozone-y "
				    "--timing=gaps FILE TARGET") },
	{ "+u", NO_EFFECT(IOZONE_NONE, "the CPU use of each measurement is in --json") },
	{ "M", NO_EFFECT(IOZONE_NONE, "the machine is described in --json") },
	{ "m", NO_EFFECT(IOZONE_NONE, "each request in flight has a buffer of its own in any case") },
	{ "p", NO_EFFECT(IOZONE_NONE, "data of direct I/O does not pass through the CPU's cache") },

	/* several machines */
	{ "+m", REFUSED(IOZONE_WORD, CLUSTER) },
	{ "+c", REFUSED(IOZONE_WORD, CLUSTER) },
	{ "+h", REFUSED(IOZONE_WORD, CLUSTER) },
	{ "+i", REFUSED(IOZONE_NUMBER, CLUSTER) },
	{ "+s", REFUSED(IOZONE_NONE, CLUSTER) },
	{ "+t", REFUSED(IOZONE_NONE, "the network is not measured; iperf does that") },
	{ "+H", REFUSED(IOZONE_WORD, CLUSTER) },
	{ "+P", REFUSED(IOZONE_WORD, CLUSTER) },

	{ "h", FLAG(help) },
	{ "v", FLAG(version) },
	{ .name = NULL },
};
