/* SPDX-License-Identifier: MIT */
#include "protocol/seeds.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/defer.h"
#include "base/units.h"
#include "protocol/kit.h"
#include "protocol/recovery.h"

/* --- the procedures -------------------------------------------------------------------- */

/*
 * IOMeter's random 4 KiB writes with three outstanding, over a share of the drive. Volumes are
 * shares too: a reference drive is a fiftieth of its original's size, and so is its minute.
 */
#define IOMETER_DEPTH 3

struct iometer {
	const char *name;
	double span, volume; /* of the capacity */
	uint64_t align_bytes;
};

static int iometer(struct kit *kit, const struct iometer *test, double *ret_bytes_per_s,
		   struct err *err)
{
	struct cell_plan plan = {
		.rw = RW_RANDWRITE,
		.block_bytes = 4 * KIB,
		.depth_count = IOMETER_DEPTH,
		.size_bytes = kit_share(kit, test->span, 4 * KIB),
		.align_bytes = test->align_bytes,
		.io_bytes = kit_share(kit, test->volume, 4 * KIB),
		.repeat = true,
	};
	struct protocol_cell cell;
	int r;

	snprintf(plan.name, sizeof(plan.name), "%s", test->name);
	r = kit_step(kit, &plan, &cell, err);
	if (r == 0 && ret_bytes_per_s)
		*ret_bytes_per_s = cell.bytes_per_s;
	return r;
}

/* The file with which IOMeter fills a partition before it begins. */
static int fill(struct kit *kit, struct err *err)
{
	const struct cell_plan plan = {
		.name = "fill",
		.rw = RW_WRITE,
		.block_bytes = 128 * KIB,
		.depth_count = 4,
	};

	return kit_step(kit, &plan, NULL, err);
}

static void add_pair(struct kit *kit, const char *better_name, double better,
		     const char *worse_name, double worse)
{
	kit_evidence(kit, better_name, "B/s", better);
	kit_evidence(kit, worse_name, "B/s", worse);
	kit_evidence(kit, "ratio", "x", better / worse);
}

/* Crucial M225: an empty drive; then the test file fills it and has been in use for a while. */
static int run_m225(struct kit *kit, struct err *err)
{
	double clean = 0, full = 0;
	int r = kit_purge(kit, NULL, err);

	if (r == 0)
		r = iometer(kit, &(struct iometer){ "clean", 1, 1.0 / 160, 4 * KIB }, &clean, err);
	if (r == 0)
		r = kit_purge(kit, NULL, err);
	if (r == 0)
		r = fill(kit, err);
	if (r == 0)
		r = iometer(kit, &(struct iometer){ "use", 1, 0.25, 4 * KIB }, NULL, err);
	if (r == 0)
		r = iometer(kit, &(struct iometer){ "full", 1, 1.0 / 40, 4 * KIB }, &full, err);
	if (r == 0)
		add_pair(kit, "clean", clean, "full", full);
	return r;
}

/* Crucial C300: starts on 4096, and on 512 as IOMeter has it unless told otherwise. */
static int run_c300(struct kit *kit, struct err *err)
{
	double aligned = 0, any = 0;
	int r = kit_purge(kit, NULL, err);

	if (r == 0)
		r = fill(kit, err);
	if (r == 0)
		r = iometer(kit, &(struct iometer){ "on 4096", 1, 0.01, 4 * KIB }, &aligned, err);
	if (r == 0)
		r = kit_purge(kit, NULL, err);
	if (r == 0)
		r = fill(kit, err);
	if (r == 0)
		r = iometer(kit, &(struct iometer){ "on 512", 1, 0.01, 512 }, &any, err);
	if (r == 0)
		add_pair(kit, "aligned", aligned, "misaligned", any);
	return r;
}

/* A format that discards everything, and a minute's rest. */
static int discard_all(struct kit *kit, struct err *err)
{
	const struct cell_plan plan = {
		.name = "discard everything",
		.rw = RW_TRIM,
		.block_bytes = MIB,
		.depth_count = 1,
	};
	int r = kit_step(kit, &plan, NULL, err);

	return r == 0 ? kit_idle(kit, "rest", 60 * SECOND_NS, err) : r;
}

/*
 * Intel X25-M: 3 minutes over 8 of 160 GB; again on a drive filled once and tested three times;
 * and, where it takes discards, after one of everything.
 */
static int run_x25m(struct kit *kit, struct err *err)
{
	static const struct iometer test = { "8 GB of 160", 1.0 / 20, 1.0 / 22, 4 * KIB };
	double clean = 0, used = 0, trimmed = 0;
	int r = kit_purge(kit, NULL, err);

	if (r == 0)
		r = iometer(kit, &test, &clean, err);
	if (r == 0)
		r = kit_purge(kit, NULL, err);
	if (r == 0)
		r = fill(kit, err);
	for (int i = 0; r == 0 && i < 3; i++) {
		r = iometer(kit, &test, NULL, err);
		if (r == 0)
			r = kit_idle(kit, "rest", 60 * SECOND_NS, err);
	}
	if (r == 0)
		r = iometer(kit, &test, &used, err);
	if (r == 0)
		add_pair(kit, "clean", clean, "used", used);
	if (r < 0 || !kit_discards(kit))
		return r;
	r = discard_all(kit, err);
	if (r == 0)
		r = iometer(kit, &test, &trimmed, err);
	if (r == 0)
		kit_evidence(kit, "trimmed", "B/s", trimmed);
	return r;
}

/* JMicron: so slow that two hundred requests take minutes. */
static int run_jmf602(struct kit *kit, struct err *err)
{
	const struct iometer test = { "random", 1, 200.0 * 4096 / (double)kit->capacity_bytes,
				      4 * KIB };
	double clean = 0, used = 0;
	int r = kit_purge(kit, NULL, err);

	if (r == 0)
		r = iometer(kit, &test, &clean, err);
	if (r == 0)
		r = fill(kit, err);
	if (r == 0)
		r = iometer(kit, &test, &used, err);
	if (r == 0)
		add_pair(kit, "clean", clean, "used", used);
	return r;
}

extern const struct protocol protocol_techgage;

static const struct protocol article_m225 = { .name = "m225", .writes = true, .run = run_m225 };
static const struct protocol article_c300 = { .name = "c300", .writes = true, .run = run_c300 };
static const struct protocol article_x25m = { .name = "x25m", .writes = true, .run = run_x25m };
static const struct protocol article_jmf602 = { .name = "jmf602",
						.writes = true,
						.run = run_jmf602 };

/* --- what was published ----------------------------------------------------------------- */

#define IOZONE_SOURCE "Techgage, TRIM for Linux"
#define BEHARDWARE "BeHardware, SSD, TRIM and IOMeter"
#define ANANDTECH "AnandTech 2829"

/*
 * The figure is a piece of evidence, or one over the other. Tolerances: clean 10 % (reads 5 %),
 * used 20 %, ratios 20 %; of a shape its bounds.
 */
static const struct figure {
	const char *drive;
	const struct protocol *article;
	const char *evidence, *over; /* over: NULL for the piece itself */
	const char *what, *source;
	enum seed_level level;
	const char *unit;
	double published, low, high;
} figures[] = {
#define WITHIN(published, tolerance)                                                               \
	(published), (published) * (1 - (tolerance)), (published) * (1 + (tolerance))
	{ "m80", &protocol_techgage, "buffered write, clean", NULL, "iozone write, clean",
	  IOZONE_SOURCE, SEED_ABSOLUTE, "MB/s", WITHIN(86.55, 0.10) },
	{ "m80", &protocol_techgage, "buffered write, dirty", NULL,
	  "iozone write, after 74 + 64 GB of files", IOZONE_SOURCE, SEED_ABSOLUTE, "MB/s",
	  WITHIN(23.33, 0.20) },
	{ "m80", &protocol_techgage, "buffered write, clean", "buffered write, dirty",
	  "write, clean over dirty", IOZONE_SOURCE, SEED_RATIO, "x", WITHIN(3.71, 0.20) },
	{ "m80", &protocol_techgage, "buffered read, clean", NULL, "iozone read, clean",
	  IOZONE_SOURCE, SEED_ABSOLUTE, "MB/s", WITHIN(229.70, 0.05) },
	{ "m80", &protocol_techgage, "buffered read, dirty", NULL,
	  "iozone read, after 74 + 64 GB of files", IOZONE_SOURCE, SEED_ABSOLUTE, "MB/s",
	  WITHIN(198.73, 0.20) },
	{ "m80", &protocol_techgage, "buffered read, dirty", "buffered read, clean",
	  "read, dirty over clean: 8 to 19 % lost", IOZONE_SOURCE, SEED_SHAPE, "x", 0.865, 0.81,
	  0.92 },
	{ "m80", &protocol_techgage, "buffered write, trimmed", "buffered write, clean",
	  "write, trimmed over clean: at least 95 %", "AnandTech 2865, of an X25-M G2", SEED_SHAPE,
	  "x", 38.0 / 37.9, 0.95, HUGE_VAL },
	{ "m225", &article_m225, "clean", NULL, "random 4 KiB writes, without the fill", BEHARDWARE,
	  SEED_ABSOLUTE, "MiB/s", WITHIN(11.8, 0.10) },
	{ "m225", &article_m225, "full", NULL, "the file fills the drive", BEHARDWARE,
	  SEED_ABSOLUTE, "MiB/s", WITHIN(2.5, 0.20) },
	{ "m225", &article_m225, "clean", "full", "clean over full", BEHARDWARE, SEED_RATIO, "x",
	  WITHIN(4.72, 0.20) },
	{ "c300", &article_c300, "aligned", NULL, "random 4 KiB writes, 3 outstanding, on 4096",
	  BEHARDWARE, SEED_ABSOLUTE, "MiB/s", WITHIN(129.2, 0.10) },
	{ "c300", &article_c300, "misaligned", NULL, "the same on 512", BEHARDWARE, SEED_ABSOLUTE,
	  "MiB/s", WITHIN(16, 0.20) },
	{ "c300", &article_c300, "aligned", "misaligned", "aligned over misaligned", BEHARDWARE,
	  SEED_RATIO, "x", WITHIN(8.08, 0.20) },
	{ "x25m-g1", &article_x25m, "clean", NULL, "random 4 KiB writes, 8 GB span, 3 min",
	  ANANDTECH, SEED_ABSOLUTE, "MiB/s", WITHIN(40.8, 0.10) },
	{ "x25m-g1", &article_x25m, "used", NULL, "the same, used", ANANDTECH, SEED_ABSOLUTE,
	  "MiB/s", WITHIN(26.3, 0.20) },
	{ "x25m-g1", &article_x25m, "clean", "used", "clean over used", ANANDTECH, SEED_RATIO, "x",
	  WITHIN(1.55, 0.20) },
	{ "x25m-g2", &article_x25m, "clean", NULL, "random 4 KiB writes, 8 GB span, 3 min",
	  ANANDTECH, SEED_ABSOLUTE, "MiB/s", WITHIN(36.1, 0.10) },
	{ "x25m-g2", &article_x25m, "used", NULL, "the same, used", ANANDTECH, SEED_ABSOLUTE,
	  "MiB/s", WITHIN(35.8, 0.20) },
	{ "x25m-g2", &article_x25m, "clean", "used", "clean over used: almost no loss", ANANDTECH,
	  SEED_SHAPE, "x", 1.008, 0.95, 1.06 },
	{ "x25m-g2", &article_x25m, "trimmed", "clean", "trimmed over clean: at least 95 %",
	  "AnandTech 2865", SEED_SHAPE, "x", 38.0 / 37.9, 0.95, HUGE_VAL },
	{ "jmf602", &article_jmf602, "clean", NULL, "random 4 KiB writes", "AnandTech 2738",
	  SEED_SHAPE, "MiB/s", 0.02, 0.015, 0.025 },
	{ "jmf602", &article_jmf602, "clean", "used", "clean over used: always bad",
	  "AnandTech 2738", SEED_SHAPE, "x", 1.0, 0.8, 1.25 },
#undef WITHIN
};

/* --- running ---------------------------------------------------------------------------- */

#define SEEDS_MAX 64

static double evidence_of(const struct protocol_outcome *outcome, const char *name)
{
	for (size_t i = 0; i < outcome->evidence_count; i++)
		if (strcmp(outcome->evidence[i].name, name) == 0)
			return outcome->evidence[i].value;
	assert(!"a figure names evidence that its article gives");
	return NAN;
}

static double value_of(const struct figure *figure, const struct protocol_outcome *outcome)
{
	const double value = evidence_of(outcome, figure->evidence);

	if (figure->over)
		return value / evidence_of(outcome, figure->over);
	return value / (strcmp(figure->unit, "MiB/s") == 0 ? (double)MIB : 1e6);
}

/* values[figure][seed - 1], of the figures from first on that the same article gives. */
static int run_article(size_t first, uint32_t seed, double (*values)[SEEDS_MAX], struct err *err)
{
	const struct figure *figure = &figures[first];
	char target[64];
	const struct protocol_options options = {
		.target = target,
		.seed = seed,
		.repeat_count = 1,
	};
	struct protocol_outcome outcome;
	int r;

	snprintf(target, sizeof(target), "sim:%s,content=off,seed=%u", figure->drive, seed);
	r = protocol_run(figure->article, &options, &outcome, err);
	for (size_t i = first;
	     r == 0 && i < ARRAY_COUNT(figures) && strcmp(figures[i].drive, figure->drive) == 0;
	     i++)
		values[i][seed - 1] = value_of(&figures[i], &outcome);
	protocol_outcome_done(&outcome);
	return r;
}

static int by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* P(X <= k) of n fair coins. */
static double coins_below(uint32_t k, uint32_t n)
{
	double term = pow(0.5, n), sum = 0;

	for (uint32_t i = 0; i <= k; i++) {
		sum += term;
		term *= (double)(n - i) / (double)(i + 1);
	}
	return sum;
}

static void summarise(double *values, uint32_t count, struct seed_row *row)
{
	uint32_t outside = 0;

	qsort(values, count, sizeof(*values), by_value);
	row->median = (values[(count - 1) / 2] + values[count / 2]) / 2;
	/* As many values left out at each end as keeps the median inside with 95 %. */
	while (outside + 1 < count / 2 && 2 * coins_below(outside, count) <= 0.05)
		outside++;
	outside = outside ? outside - 1 : 0;
	row->range_low = values[outside];
	row->range_high = values[count - 1 - outside];
	row->met = row->median >= row->low && row->median <= row->high;
}

static void fill_rows(struct seeds *seeds, double (*values)[SEEDS_MAX])
{
	for (size_t i = 0; i < seeds->row_count; i++) {
		const struct figure *f = &figures[i];

		seeds->rows[i] = (struct seed_row){
			.drive = f->drive,
			.what = f->what,
			.source = f->source,
			.level = f->level,
			.unit = f->unit,
			.published = f->published,
			.low = f->low,
			.high = f->high,
		};
		summarise(values[i], seeds->seed_count, &seeds->rows[i]);
	}
}

int seeds_run(struct seeds *ret, uint32_t seed_count, struct err *err)
{
	struct seeds seeds = { .row_count = ARRAY_COUNT(figures), .seed_count = seed_count };
	DEFER(defer_free)
	double(*values)[SEEDS_MAX] = calloc(ARRAY_COUNT(figures), sizeof(*values));
	int r = 0;

	assert(seed_count >= 6 && seed_count <= SEEDS_MAX);
	seeds.rows = calloc(ARRAY_COUNT(figures), sizeof(*seeds.rows));
	if (!values || !seeds.rows)
		r = err_errno(err, -ENOMEM, "seeds");
	for (size_t i = 0; r == 0 && i < ARRAY_COUNT(figures); i++) {
		if (i && strcmp(figures[i].drive, figures[i - 1].drive) == 0)
			continue;
		for (uint32_t seed = 1; r == 0 && seed <= seed_count; seed++)
			r = run_article(i, seed, values, err);
	}
	if (r < 0) {
		seeds_done(&seeds);
		return r;
	}
	fill_rows(&seeds, values);
	*ret = seeds;
	return 0;
}

void seeds_done(struct seeds *seeds)
{
	free(seeds->rows);
	*seeds = (struct seeds){ 0 };
}

/* --- the table -------------------------------------------------------------------------- */

static void add_row(const struct seed_row *row, struct text *ret)
{
	static const char *const levels[] = { "1, shape", "2, ratio", "3, absolute" };

	text_add(ret, "| %s | %s | %.4g %s | %.4g (%.4g to %.4g) | ", row->drive, row->what,
		 row->published, row->unit, row->median, row->range_low, row->range_high);
	if (isinf(row->high))
		text_add(ret, "at least %.4g", row->low);
	else
		text_add(ret, "%.4g to %.4g", row->low, row->high);
	text_add(ret, " | %s | %s | %s |\n", levels[row->level], row->met ? "yes" : "**no**",
		 row->source);
}

void seeds_markdown(const struct seeds *seeds, struct text *ret)
{
	size_t met = 0;

	for (size_t i = 0; i < seeds->row_count; i++)
		met += seeds->rows[i].met;
	text_add(ret,
		 "# The published figures, measured again\n\n"
		 "Written by `tare protocol seeds > docs/seeds.md`.\n\n"
		 "The articles' own procedures, run by tare's engine on the reference drives of "
		 "the time\n"
		 "(`tare sim show m80`). Ours is the median over %u seeds, in brackets its 95 %% "
		 "interval\n"
		 "by order statistics; the seed decides addresses and the drive's own scatter. "
		 "IOMeter's\n"
		 "\"MB/s\" of that time is 2^20 bytes. The drives are scaled down, and volumes "
		 "with them.\n"
		 "What the articles leave open (what was done between tests, how large the holes "
		 "in the\n"
		 "file system were) is decided in src/protocol/techgage.c and seeds.c, where it "
		 "can be\n"
		 "read. The holes were chosen with the figures in view: of 16 KiB; holes of 32 KiB "
		 "give\n"
		 "25 and 215 MB/s where 23 and 199 were published. What a Kingston M does after a "
		 "trim was\n"
		 "never published; the figure beside it is of a sibling. Two articles of one "
		 "laboratory\n"
		 "differ by 14 %% on the same used drive: a level is no finer than that.\n\n"
		 "%zu of %zu levels are met.\n\n"
		 "| drive | test | published | ours | allowed | level | met | source |\n"
		 "|---|---|---|---|---|---|---|---|\n",
		 seeds->seed_count, met, seeds->row_count);
	for (size_t i = 0; i < seeds->row_count; i++)
		add_row(&seeds->rows[i], ret);
}
