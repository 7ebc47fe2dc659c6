/* SPDX-License-Identifier: MIT */
#include "foreign/iozone.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/check.h"
#include "base/units.h"

#define WORDS 64

static enum iozone_place absent(void *ctx, const char *path)
{
	(void)ctx;
	(void)path;
	return IOZONE_ABSENT;
}

static enum iozone_place given(void *ctx, const char *path)
{
	(void)path;
	return *(enum iozone_place *)ctx;
}

/* Words of a line, cut at blanks. */
struct line {
	char text[1024];
	const char *words[WORDS];
	size_t count;
	struct iozone_command command;
	int parsed;
};

static void parse(struct line *line, const char *text)
{
	char *rest = line->text, *word;

	snprintf(line->text, sizeof(line->text), "%s", text);
	line->count = 0;
	while ((word = strsep(&rest, " ")) && line->count < WORDS)
		line->words[line->count++] = word;
	line->parsed = iozone_parse(&line->command, line->words, line->count);
}

struct made {
	struct line line;
	struct plan plan;
	struct iozone_sheet sheet;
	struct err err;
	int r;
};

static void make_at(struct made *made, const char *text, const struct iozone_setting *setting)
{
	memset(made, 0, sizeof(*made));
	parse(&made->line, text);
	for (uint32_t i = 0; i < made->line.command.problem_count; i++)
		printf("# %s: %s\n", text, made->line.command.problems[i]);
	CHECK_EQ(made->line.parsed, 0);
	made->r = iozone_translate(&made->line.command, setting, &made->plan, &made->sheet,
				   &made->err);
}

static void make(struct made *made, const char *text)
{
	make_at(made, text, &(struct iozone_setting){ .look = absent });
	CHECK_EQ(made->r, 0);
}

static void done(struct made *made)
{
	iozone_command_done(&made->line.command);
	plan_done(&made->plan);
	iozone_sheet_done(&made->sheet);
}

/* Row counts by file size, as the table of the format's description has them. */
static uint32_t rows_of(const struct iozone_sheet *sheet, uint64_t file_kb)
{
	uint32_t ret = 0;

	for (size_t i = 0; i < sheet->row_count; i++)
		ret += sheet->rows[i].file_kb == file_kb;
	return ret;
}

static void the_sweep_has_126_rows_and_146_without_cross_over(void)
{
	static const struct {
		uint64_t file_kb;
		uint32_t a, az;
	} want[] = {
		{ 64, 5, 5 },	    { 128, 6, 6 },	{ 256, 7, 7 },	    { 512, 8, 8 },
		{ 1024, 9, 9 },	    { 2048, 10, 10 },	{ 4096, 11, 11 },   { 8192, 12, 12 },
		{ 16384, 13, 13 },  { 32768, 9, 13 },	{ 65536, 9, 13 },   { 131072, 9, 13 },
		{ 262144, 9, 13 },  { 524288, 9, 13 },
	};
	struct made a, az;

	make(&a, "-a");
	make(&az, "-az");
	CHECK_EQ(a.sheet.row_count, 126);
	CHECK_EQ(az.sheet.row_count, 146);
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		CHECK_EQ(rows_of(&a.sheet, want[i].file_kb), want[i].a);
		CHECK_EQ(rows_of(&az.sheet, want[i].file_kb), want[i].az);
	}
	CHECK_EQ(a.sheet.rows[0].record_kb, 4);
	CHECK_EQ(a.sheet.rows[4].record_kb, 64);
	CHECK_EQ(a.sheet.rows[81].file_kb, 32768);
	CHECK_EQ(a.sheet.rows[81].record_kb, 64);
	CHECK_EQ(a.sheet.rows[125].record_kb, 16384);
	CHECK_EQ(a.sheet.cell_count, 126 * 13);
	done(&a);
	done(&az);
}

struct rows_case {
	const char *text;
	size_t count;
	struct {
		uint64_t file_kb, record_kb;
	} rows[12];
};

static void limits_lists_and_multipliers_make_the_rows(void)
{
	static const struct rows_case cases[] = {
		{ "-a -n 64k -g 128k -y 32 -q 64 -i 0", 4,
		  { { 64, 32 }, { 64, 64 }, { 128, 32 }, { 128, 64 } } },
		{ "-a -n 100 -g 900 -r 4 -i 0", 4, { { 100, 4 }, { 200, 4 }, { 400, 4 }, { 800, 4 } } },
		{ "-s 1m -s 3m -r 4k -r 12k -i 0", 4,
		  { { 1024, 4 }, { 1024, 12 }, { 3072, 4 }, { 3072, 12 } } },
		{ "-a -s 16 -i 0", 3, { { 16, 4 }, { 16, 8 }, { 16, 16 } } },
		{ "-a -n 32m -g 32m -q 128 -y 32 -i 0", 3, { { 32768, 32 }, { 32768, 64 }, { 32768, 128 } } },
		{ "-a -n 32m -g 32m -i 0", 9,
		  { { 32768, 64 }, { 32768, 128 }, { 32768, 256 }, { 32768, 512 }, { 32768, 1024 },
		    { 32768, 2048 }, { 32768, 4096 }, { 32768, 8192 }, { 32768, 16384 } } },
		{ "-a -n 32m -g 32m -+x 4 -i 0", 5,
		  { { 32768, 64 }, { 32768, 256 }, { 32768, 1024 }, { 32768, 4096 }, { 32768, 16384 } } },
		{ "-a -n 4 -g 64 -+x 4 -i 0", 6,
		  { { 4, 4 }, { 16, 4 }, { 16, 16 }, { 64, 4 }, { 64, 16 }, { 64, 64 } } },
		{ "-s 1m -r 4 -i 0 -i 1", 1, { { 1024, 4 } } },
		{ "-i 0", 1, { { 512, 4 } } },
		/* The article's line. */
		{ "-a -f DIR/iozone -i0 -i1 -y 4K -q 1M -s 16G", 9,
		  { { 16777216, 4 }, { 16777216, 8 }, { 16777216, 16 }, { 16777216, 32 },
		    { 16777216, 64 }, { 16777216, 128 }, { 16777216, 256 }, { 16777216, 512 },
		    { 16777216, 1024 } } },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct made made;

		make(&made, cases[i].text);
		printf("# %s\n", cases[i].text);
		CHECK_EQ(made.sheet.row_count, cases[i].count);
		for (size_t k = 0; k < cases[i].count && k < made.sheet.row_count; k++) {
			CHECK_EQ(made.sheet.rows[k].file_kb, cases[i].rows[k].file_kb);
			CHECK_EQ(made.sheet.rows[k].record_kb, cases[i].rows[k].record_kb);
		}
		done(&made);
	}
}

/* The passes of a row, by name, in order. */
static void passes_of(const struct iozone_sheet *sheet, uint32_t row, char *ret, size_t ret_bytes)
{
	size_t length = 0;

	*ret = '\0';
	for (size_t i = 0; i < sheet->cell_count; i++) {
		if (sheet->cells[i].row == row && sheet->cells[i].stream == 0)
			length += (size_t)snprintf(ret + length, ret_bytes - length, "%s%s",
						   length ? " " : "",
						   iozone_passes[sheet->cells[i].pass].name);
	}
}

static void tests_are_passes_in_the_order_of_the_columns(void)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "-s 64", "write rewrite read reread random-read random-write backward-read "
			   "record-rewrite stride-read fwrite refwrite fread refread" },
		{ "-s 64 -E", "write rewrite read reread random-read random-write backward-read "
			      "record-rewrite stride-read fwrite refwrite fread refread pwrite repwrite "
			      "pread repread" },
		{ "-s 64 -i 2 -i 0", "write rewrite random-read random-write" },
		{ "-s 64 -i 0 -i 1 -+n", "write read" },
		{ "-s 64 -i 0 -i 6 -H 4", "write rewrite" },
		{ "-A -n 64 -g 64", "write rewrite read reread" },
		{ "-s 64 -E -i 0 -i 11 -i 12", "write rewrite pwritev repwritev preadv repreadv" },
		{ "-t 4 -i0 -i1 -i2 -i8", "write rewrite read reread random-read mixed random-write" },
		{ "-t 2", "write rewrite read reread backward-read stride-read random-read mixed "
			  "random-write pwrite pread fwrite fread" },
		{ "-t 2 -+n -i 0 -i 1", "write read" },
	};
	char got[512];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct made made;

		make(&made, cases[i].text);
		passes_of(&made.sheet, 0, got, sizeof(got));
		CHECK_STR(got, cases[i].want);
		done(&made);
	}
}

static const struct workload *workload_of(const struct made *made, enum iozone_pass pass)
{
	for (size_t i = 0; i < made->sheet.cell_count; i++)
		if (made->sheet.cells[i].pass == pass)
			return &made->plan.phases[made->sheet.cells[i].phase].workload;
	return NULL;
}

static void each_pass_moves_every_record_once(void)
{
	struct made made;

	make(&made, "-s 1000 -r 64 -e");
	for (size_t i = 0; i < made.plan.phase_count; i++) {
		struct err err = { 0 };

		/* 15 whole records; the rest of the file stays as it is. */
		CHECK_EQ(made.plan.phases[i].workload.io_size_bytes, 15 * 64 * KIB);
		CHECK_EQ(made.plan.phases[i].workload.block_bytes, 64 * KIB);
		CHECK_EQ(workload_check(&made.plan.phases[i].workload, &err), 0);
	}
	CHECK_EQ(workload_of(&made, IOZONE_RANDOM_READ)->rw, RW_RANDREAD);
	CHECK(!workload_of(&made, IOZONE_RANDOM_READ)->repeat);
	CHECK_EQ(workload_of(&made, IOZONE_RANDOM_WRITE)->rw, RW_RANDWRITE);
	CHECK(workload_of(&made, IOZONE_BACKWARD)->backwards);
	CHECK_EQ(workload_of(&made, IOZONE_RECORD_REWRITE)->size.bytes, 64 * KIB);
	CHECK_EQ(workload_of(&made, IOZONE_STRIDE)->stride_bytes, 17 * 64 * KIB);
	CHECK(workload_of(&made, IOZONE_STRIDE)->stride_wraps);
	CHECK(!workload_of(&made, IOZONE_FWRITE)->direct);
	CHECK(workload_of(&made, IOZONE_WRITE)->end_fsync);
	CHECK(!workload_of(&made, IOZONE_READ)->end_fsync);
	CHECK_EQ(made.plan.target_count, 1);
	CHECK_STR(made.plan.targets[0].spec, ".");
	CHECK_EQ(made.plan.targets[0].size_bytes, 1000 * KIB);
	CHECK(made.plan.targets[0].unwritten);
	done(&made);
}

static void honest_by_default_literal_when_exact(void)
{
	const struct iozone_setting exact = { .exact = true, .look = absent };
	struct made made;

	make(&made, "-s 64 -i 0 -i 2");
	CHECK(workload_of(&made, IOZONE_WRITE)->direct);
	CHECK_EQ(workload_of(&made, IOZONE_WRITE)->compress_ppm, 0);
	CHECK_EQ(workload_of(&made, IOZONE_RANDOM_READ)->seed, 0);
	CHECK_EQ(made.sheet.note_count, 5);
	done(&made);

	make_at(&made, "-s 64 -i 0 -i 2", &exact);
	CHECK(!workload_of(&made, IOZONE_WRITE)->direct);
	CHECK(!workload_of(&made, IOZONE_WRITE)->end_fsync);
	/* 8 bytes of 4096 are not zero. */
	CHECK_EQ(4096ull * workload_of(&made, IOZONE_WRITE)->compress_ppm / PPM, 4088);
	CHECK(workload_of(&made, IOZONE_RANDOM_READ)->seed != 0);
	CHECK_EQ(workload_of(&made, IOZONE_RANDOM_READ)->seed,
		 workload_of(&made, IOZONE_RANDOM_WRITE)->seed);
	CHECK(made.sheet.historical_blanks);
	done(&made);

	make_at(&made, "-s 64 -i 0 -I -e", &exact);
	CHECK(workload_of(&made, IOZONE_WRITE)->direct);
	CHECK(workload_of(&made, IOZONE_WRITE)->end_fsync);
	done(&made);

	make_at(&made, "-s 64 -i 0 -w", &exact);
	CHECK_EQ(made.r, -EINVAL);
	CHECK_STR(made.err.text, "-w: tare leaves no file behind that it made");
	done(&made);
}

static void what_is_not_as_asked_is_told(void)
{
	struct made made;
	struct iozone_sheet *sheet = &made.sheet;

	make(&made, "-s 64 -i 0 -i 8 -w -M");
	CHECK_STR(sheet->notes[0], "direct I/O, not the page cache (--exact for iozone's way)");
	CHECK_STR(sheet->notes[1], "the flush behind each write pass is in its time, as with -e");
	CHECK_STR(sheet->notes[3], "test files are tare's own, without a name, gone at the end: -w keeps "
				   "none");
	CHECK_STR(sheet->notes[4], "-M: the machine is described in --json");
	CHECK_STR(sheet->notes[5], "-i 8 has no effect in auto mode and for a single stream: the mixed "
				   "test is of throughput mode");
	CHECK_EQ(sheet->note_count, 6);
	done(&made);
}

static void streams_run_together_each_on_a_file_of_its_own(void)
{
	struct made made;
	size_t cell = 0;

	make(&made, "-u 3 -i 0 -i 1 -r 64k -s 1m -F d/a d/b e/c");
	CHECK_EQ(made.sheet.row_count, 3);
	CHECK_EQ(made.sheet.rows[0].stream_count, 1);
	CHECK_EQ(made.sheet.rows[2].stream_count, 3);
	CHECK_EQ(made.sheet.cell_count, 4 * (1 + 2 + 3));
	CHECK_EQ(made.plan.target_count, 6);
	CHECK_STR(made.plan.targets[3].spec, "d");
	CHECK_STR(made.plan.targets[5].spec, "e");
	CHECK_EQ(made.plan.targets[5].size_bytes, MIB);
	for (uint32_t streams = 1; streams <= 3; streams++) {
		for (uint32_t pass = 0; pass < 4; pass++) {
			for (uint32_t stream = 0; stream < streams; stream++, cell++) {
				const struct phase *phase = &made.plan.phases[cell];

				CHECK_EQ(made.sheet.cells[cell].stream, stream);
				CHECK_EQ(phase->together, stream > 0);
				CHECK_EQ(phase->ends_group, streams > 1 && pass > 0);
				CHECK_EQ(phase->target_index,
					 (streams == 3 ? 3 : streams - 1) + stream);
			}
		}
	}
	done(&made);
}

static void the_mix_is_a_share_of_streams(void)
{
	static const struct {
		const char *text;
		const char *readers;	/* R and W by stream */
	} cases[] = {
		{ "-t 4 -i 0 -i 8", "RWRW" },
		{ "-t 4 -i 0 -i 8 -+p 75", "RRRW" },
		{ "-t 4 -i 0 -i 8 -+K 1", "RWWW" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct made made;
		uint32_t stream = 0;

		make(&made, cases[i].text);
		for (size_t k = 0; k < made.sheet.cell_count; k++) {
			const struct iozone_cell *cell = &made.sheet.cells[k];

			if (cell->pass != IOZONE_MIXED)
				continue;
			CHECK_EQ(made.plan.phases[cell->phase].workload.rw,
				 cases[i].readers[stream] == 'R' ? RW_RANDREAD : RW_RANDWRITE);
			stream++;
		}
		CHECK_EQ(stream, 4);
		done(&made);
	}
}

static void options_reach_the_workload(void)
{
	struct made made;
	const struct workload *w;

	make(&made, "-s 1m -r 4 -i 0 -i 1 -i 5 -o -j 5 -J 2 -P 1 -+a 25");
	w = workload_of(&made, IOZONE_WRITE);
	CHECK_EQ(w->sync, SYNC_SYNC);
	CHECK_EQ(w->think_ns, 2000000);
	CHECK_STR(w->cpus, "1");
	CHECK_EQ(w->compress_ppm, 250000);
	CHECK_EQ(workload_of(&made, IOZONE_STRIDE)->stride_bytes, 5 * 4 * KIB);
	done(&made);

	make(&made, "-s 1m -i 0 -H 8 -+D -+O 500");
	w = workload_of(&made, IOZONE_WRITE);
	CHECK_EQ(w->depth_count, 8);
	CHECK_EQ(w->sync, SYNC_DSYNC);
	CHECK_EQ(w->rate_iops, 500);
	done(&made);

	make(&made, "-s 1m -r 16 -i 0 -+b 64,250 -+y 30");
	w = workload_of(&made, IOZONE_WRITE);
	CHECK_EQ(w->think_count, 4);
	CHECK_EQ(w->think_ns, 250000000);
	CHECK_EQ(w->dedupe_ppm, 300000);
	done(&made);

	make(&made, "-s 1m -i 0 -i 1 -i 6 -B -G");
	w = workload_of(&made, IOZONE_WRITE);
	CHECK_EQ(w->engine, ENGINE_MMAP);
	CHECK(!w->direct);
	CHECK_EQ(w->fsync_count, 1);
	CHECK_EQ(workload_of(&made, IOZONE_READ)->fsync_count, 0);
	CHECK(!workload_of(&made, IOZONE_FWRITE));
	for (size_t i = 0; i < made.plan.phase_count; i++) {
		struct err err;

		CHECK_EQ(workload_check(&made.plan.phases[i].workload, &err), 0);
	}
	done(&made);

	make(&made, "-t 2 -+k -s 1m -d 100 -i 0");
	CHECK_EQ(made.sheet.rows[0].file_kb, 512);
	CHECK_EQ(made.plan.phases[1].workload.start_delay_ns, 100000);
	done(&made);

	make(&made, "-s 64 -i 0 -i 1 -+q 3");
	CHECK_EQ(made.plan.phase_count, 7);
	CHECK_EQ(made.plan.phases[1].kind, PHASE_IDLE);
	CHECK_EQ(made.plan.phases[1].idle_ns, 3000000000);
	done(&made);
}

static void verified_data_has_one_seed_for_all_passes(void)
{
	struct made made;

	make(&made, "-s 64 -i 0 -i 1 -V 17");
	CHECK(made.sheet.invalid);
	for (size_t i = 0; i < made.plan.phase_count; i++) {
		struct err err;

		CHECK(made.plan.phases[i].workload.verify);
		CHECK(made.plan.phases[i].workload.seed != 0);
		CHECK_EQ(made.plan.phases[i].workload.seed, made.plan.phases[0].workload.seed);
		CHECK_EQ(workload_check(&made.plan.phases[i].workload, &err), 0);
	}
	done(&made);
}

static void where_the_file_goes(void)
{
	enum iozone_place place;
	const struct iozone_setting setting = { .look = given, .look_ctx = &place };
	static const struct {
		const char *text;
		enum iozone_place place;
		const char *spec, *error;	/* one of them */
		bool ours;
	} cases[] = {
		{ "-i 0 -f d/t", IOZONE_ABSENT, "d", NULL, true },
		{ "-i 0 -f /t", IOZONE_ABSENT, "/", NULL, true },
		{ "-i 0 -f d/t", IOZONE_FILE, "d", NULL, true },
		{ "-i 1 -f d/t", IOZONE_FILE, "d/t", NULL, false },
		{ "-+E -i 1 -f d/t", IOZONE_FILE, "d/t", NULL, false },
		{ "-i 0 -f d/t", IOZONE_EXPENDABLE, "d/t", NULL, false },
		{ "-i 0 -f /dev/x", IOZONE_TARGET, "/dev/x", NULL, false },
		{ "-i 0 -f d", IOZONE_DIRECTORY, NULL,
		  "-f d is a directory: the test file's name is wanted", false },
		{ "-i 0 -f x/t", IOZONE_LOST, NULL, "x/t: there is no such directory", false },
		{ "-+E -i 1 -f d/t", IOZONE_ABSENT, NULL,
		  "-+E reads an existing file, and there is no d/t", false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct made made;

		place = cases[i].place;
		make_at(&made, cases[i].text, &setting);
		CHECK_EQ(made.r, cases[i].error ? -EINVAL : 0);
		if (cases[i].error) {
			CHECK_STR(made.err.text, cases[i].error);
		} else {
			CHECK_STR(made.plan.targets[0].spec, cases[i].spec);
			CHECK_EQ(made.plan.targets[0].size_bytes > 0, cases[i].ours);
		}
		done(&made);
	}
}

static void wrong_words_are_refused_all_at_once(void)
{
	static const struct {
		const char *text;
		const char *problems[3];
	} cases[] = {
		{ "-s 4GB -r 1mb -i 0 -f d/t",
		  { "-s 4GB: a size is a number of kB, or ends in k, m or g; did you mean 4g?",
		    "-r 1mb: a size is a number of kB, or ends in k, m or g; did you mean 1m?" } },
		{ "-s 1t -i 0",
		  { "-s 1t: a size is a number of kB, or ends in k, m or g; did you mean 1024g?" } },
		{ "-i 20",
		  { "-i 20: no such test; they are 0 to 12 (the original takes numbers it does not know "
		    "for test 0, which writes)" } },
		{ "-a \u2013c \u2212e \u2014x",
		  { "looks like an option with a typographic dash: \u2013c; write -c",
		    "looks like an option with a typographic dash: \u2212e; write -e",
		    "looks like an option with a typographic dash: \u2014x; write -x" } },
		{ "-a -q 32m",
		  { "-q 32m: 32768 kB is not within 1 and 16384 kB" } },
		{ "-a stray", { "stray: belongs to no option; iozone would ignore it" } },
		{ "-a -t 2",
		  { "throughput mode (-t, -l, -u) takes one file and one record size, and none of -a, -A: "
		    "run them one after the other" } },
		{ "-t 2 -n 4",
		  { "throughput mode (-t, -l, -u) and the limits of auto mode (-n, -g, -y, -q) exclude "
		    "each other: say -s and -r" } },
		{ "-t 2 -f x", { "throughput mode names its files with -F, not -f" } },
		{ "-t 2 -N", { "throughput mode has no -N: use -O" } },
		{ "-F a b", { "-F: how many names there are is said by -t or -u before it" } },
		{ "-t 3 -F a b", { "-F: 2 names for 3 streams" } },
		{ "-t 1 -F a -t 2 -i 0", { "-F, -+R: 1 names for 2 streams" } },
		{ "-t 2 -+R /nowhere/list", { "-+R /nowhere/list: cannot be read" } },
		{ "-a -y 64 -q 4", { "-y 64 kB is more than -q 4 kB" } },
		{ "-a -r 128", { "a record of 128 kB is more than the smallest file, 64 kB" } },
		{ "-t 2000", { "-t 2000: a number from 1 to 1024 is wanted" } },
		{ "-i 0 -U /mnt",
		  { "-U: tare does not unmount your file system; with direct I/O, the default, nothing is "
		    "left in the page cache" } },
		{ "-+m hosts -i 0",
		  { "-+m: tare drives one machine; run it on each, side by side" } },
		{ "-aqx", { "-q x: a size is a number of kB, or ends in k, m or g" } },
		{ "-a@", { "-a@: -@ is no option of iozone" } },
		{ "-i 0 -+G", { "-+G: -+G is no option of iozone" } },
		{ "-i", { "-i needs a value" } },
		{ "-+E -i 0 -f x",
		  { "-+E only reads: choose tests that do, with -i 1, 3, 5, 7, 10 or 12" } },
		{ "-i 8", { "none of the tests chosen with -i can run here: see -E, -t" } },
		{ "-i 0 -+b 64",
		  { "-+b 64: SIZE,MILLISECONDS is wanted, as in 64m,500" } },
		{ "-i 0 -B -k 4",
		  { "-B and -H or -k exclude each other: what is mapped is done at once" } },
		{ "-i 0 -B -o -G",
		  { "-B and -o, -+D or -+r exclude each other: -G writes back what is mapped, each time" } },
		{ "-i 0 --frobnicate",
		  { "--frobnicate: neither iozone nor tare iozone has such an option" } },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct line line;
		uint32_t count = 0;

		parse(&line, cases[i].text);
		CHECK_EQ(line.parsed, -EINVAL);
		for (; count < 3 && cases[i].problems[count]; count++)
			CHECK_STR(line.command.problems[count], cases[i].problems[count]);
		CHECK_EQ(line.command.problem_count, count);
		iozone_command_done(&line.command);
	}
}

static void exact_exit_codes_are_the_originals(void)
{
	static const struct {
		const char *text;
		int code;
	} cases[] = {
		{ "-a -t 2", 17 },	 { "-t 2 -F a", 13 },	{ "-F a", 12 },	  { "-t 1025", 14 },
		{ "-a -y 64 -q 4", 23 }, { "-a -q 32m", 23 },	{ "-s 64 -r 32m", 21 },
		{ "-a -@", 255 },	 { "-i", 255 },		{ "-s 4GB", 0 },  { "-B -i 0 -k 4", 18 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct line line;

		parse(&line, cases[i].text);
		CHECK_EQ(line.parsed, -EINVAL);
		CHECK_EQ(line.command.original_code, cases[i].code);
		iozone_command_done(&line.command);
	}
}

static void names_come_from_a_list(void)
{
	char path[] = "/tmp/tare-test-XXXXXX", text[64];
	const int fd = mkstemp(path);
	struct made made;
	struct line line;

	CHECK_EQ(write(fd, "# two\nd/a\n\ne/b\n", 15), 15);
	close(fd);
	snprintf(text, sizeof(text), "-t 2 -+R %s -i 0", path);
	make(&made, text);
	CHECK_EQ(made.plan.target_count, 2);
	CHECK_STR(made.plan.targets[0].spec, "d");
	CHECK_STR(made.plan.targets[1].spec, "e");
	done(&made);

	snprintf(text, sizeof(text), "-t 3 -+R %s -i 0", path);
	parse(&line, text);
	CHECK_STR(line.command.problems[0], "-F, -+R: 2 names for 3 streams");
	iozone_command_done(&line.command);
	unlink(path);
}

static void letters_cluster_and_values_may_touch(void)
{
	struct line line;

	parse(&line, "-aRzb out.xls -i0 -i 1 -y4 -q64k");
	CHECK_EQ(line.parsed, 0);
	CHECK(line.command.auto_sweep && line.command.excel && line.command.no_cross_over);
	CHECK_STR(line.command.book, "out.xls");
	CHECK_EQ(line.command.tests, 3);
	CHECK_EQ(line.command.record_min_kb, 4);
	CHECK_EQ(line.command.record_max_kb, 64);
	CHECK_STR(text_string(&line.command.option_lines),
		  "Auto Mode\nExcel chart generation enabled\nCross over of record size disabled.\n"
		  "Using Minimum Record Size 4 kB\nUsing Maximum Record Size 64 kB\n");
	iozone_command_done(&line.command);
}

static void a_slice_is_what_is_left_of_a_row(void)
{
	struct made made;
	struct plan slice;
	size_t cells[64];

	make(&made, "-t 2 -i 0 -i 1 -s 64 -F a/x b/y");
	CHECK_EQ(iozone_slice(&made.plan, &made.sheet, 0, 0, &slice, cells), 8);
	CHECK_EQ(slice.target_count, 2);
	CHECK(slice.targets[1].unwritten);
	CHECK_STR(slice.targets[1].spec, "b");
	CHECK_EQ(slice.phases[7].target_index, 1);
	plan_done(&slice);

	/* The first pass failed: what is left reads a file that has to be written for it. */
	made.sheet.cells[0].done = made.sheet.cells[1].done = true;
	CHECK_EQ(iozone_slice(&made.plan, &made.sheet, 0, 1u << IOZONE_REWRITE, &slice, cells), 4);
	CHECK_EQ(cells[0], 4);
	CHECK(!slice.targets[0].unwritten);
	CHECK(!slice.phases[0].together);
	CHECK(slice.phases[1].together);
	CHECK(!slice.phases[2].together);
	plan_done(&slice);
	done(&made);
}

static void too_much_is_refused(void)
{
	struct made made;

	make_at(&made, "-l 1 -u 1024", &(struct iozone_setting){ .look = absent });
	CHECK_EQ(made.r, -EINVAL);
	CHECK_STR(made.err.text, "that is more than 32768 measurements: ask for fewer sizes, records or "
				 "streams at once");
	done(&made);
}

TESTS(TEST(the_sweep_has_126_rows_and_146_without_cross_over),
      TEST(limits_lists_and_multipliers_make_the_rows),
      TEST(tests_are_passes_in_the_order_of_the_columns), TEST(each_pass_moves_every_record_once),
      TEST(honest_by_default_literal_when_exact), TEST(what_is_not_as_asked_is_told),
      TEST(streams_run_together_each_on_a_file_of_its_own), TEST(the_mix_is_a_share_of_streams),
      TEST(options_reach_the_workload), TEST(verified_data_has_one_seed_for_all_passes),
      TEST(where_the_file_goes), TEST(wrong_words_are_refused_all_at_once),
      TEST(names_come_from_a_list), TEST(exact_exit_codes_are_the_originals),
      TEST(letters_cluster_and_values_may_touch), TEST(a_slice_is_what_is_left_of_a_row),
      TEST(too_much_is_refused))
