/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>

#include "base/check.h"
#include "state/extents.h"
#include "state/profile.h"
#include "state/work.h"

#define BLOCKS 4096u

static uint8_t owners[BLOCKS];
static uint64_t bytes_seen, spans_seen;

static int claim(void *ctx, const struct span *span, struct err *err)
{
	const uint8_t mark = *(const uint8_t *)ctx;

	(void)err;
	CHECK_EQ(span->offset_bytes % 4096, 1024 * 1024 % 4096);
	for (uint64_t i = 0; i < span->size_bytes / 4096; i++) {
		uint8_t *owner = &owners[(span->offset_bytes - 1024 * 1024) / 4096 + i];

		if (mark)
			CHECK_EQ(*owner, 0);	/* nobody else's */
		*owner = mark;
	}
	bytes_seen += span->size_bytes;
	spans_seen++;
	return 0;
}

static int count_free(void *ctx, const struct span *span, struct err *err)
{
	(void)ctx;
	(void)err;
	bytes_seen += span->size_bytes;
	spans_seen++;
	return 0;
}

static struct extents *fresh(void)
{
	struct extents *e = NULL;

	memset(owners, 0, sizeof(owners));
	CHECK_EQ(extents_new(&e, &(struct span){ 1024 * 1024, BLOCKS * 4096 }, NULL), 0);
	bytes_seen = spans_seen = 0;
	return e;
}

static void files_get_space_of_their_own_until_there_is_none(void)
{
	struct extents *e = fresh();
	uint8_t mark = 1;
	struct err err = { 0 };

	for (unsigned int i = 0; i < BLOCKS / 16; i++, mark = (uint8_t)(1 + i % 200))
		CHECK_EQ(extents_make(e, 16 * 4096, claim, &mark, &err), 0);
	CHECK_EQ(extents_free_bytes(e), 0);
	CHECK_EQ(bytes_seen, BLOCKS * 4096);
	CHECK_EQ(extents_piece_count(e), BLOCKS / 16);	/* in one piece each: it was empty */
	CHECK_EQ(extents_make(e, 1, claim, &mark, &err), -ENOSPC);
	CHECK_EQ(extents_file_count(e), BLOCKS / 16);
	extents_free(e);
}

static void what_is_deleted_is_free_again_and_pieces_fit_in_the_gaps(void)
{
	struct extents *e = fresh();
	struct random random;
	uint8_t mark = 1;

	random_init(&random, 3);
	for (unsigned int i = 0; i < BLOCKS; i++)
		CHECK_EQ(extents_make(e, 4096, count_free, NULL, NULL), 0);
	extents_delete(e, BLOCKS / 2, &random);
	CHECK_EQ(extents_free_bytes(e), BLOCKS / 2 * 4096);
	bytes_seen = spans_seen = 0;
	CHECK_EQ(extents_each_free(e, count_free, NULL, NULL), 0);
	CHECK_EQ(bytes_seen, BLOCKS / 2 * 4096);
	/* Half of single blocks gone at random: runs of free blocks number a quarter. */
	CHECK_NEAR(spans_seen, BLOCKS / 4, BLOCKS / 40);
	/* No gap holds 256 blocks: the file comes in many pieces. */
	bytes_seen = spans_seen = 0;
	CHECK_EQ(extents_make(e, 256 * 4096, claim, &mark, NULL), 0);
	CHECK_EQ(bytes_seen, 256 * 4096);
	CHECK(spans_seen > 64);
	extents_delete(e, UINT64_MAX, &random);
	CHECK_EQ(extents_free_bytes(e), BLOCKS * 4096);
	CHECK_EQ(extents_piece_count(e), 0);
	extents_free(e);
}

/* Against a plain array of owners: a thousand files come and go. */
static void nothing_is_ever_given_twice(void)
{
	struct extents *e = fresh();
	struct random random;
	uint8_t mark = 0;

	random_init(&random, 11);
	for (int i = 0; i < 20000; i++) {
		const uint64_t bytes = 1 + random_below(&random, 300 * 4096);
		const uint64_t before = extents_free_bytes(e);
		int r;

		bytes_seen = 0;
		r = extents_make(e, bytes, count_free, &mark, NULL);
		CHECK_EQ(r == 0, (bytes + 4095) / 4096 * 4096 <= before);
		if (r == 0) {
			CHECK_EQ(bytes_seen, (bytes + 4095) / 4096 * 4096);
			CHECK_EQ(extents_free_bytes(e), before - bytes_seen);
		} else {
			extents_delete(e, extents_file_count(e) / 3 + 1, &random);
		}
	}
	extents_delete(e, UINT64_MAX, &random);
	CHECK_EQ(extents_free_bytes(e), BLOCKS * 4096);
	extents_free(e);
}

static void techgage_is_scaled_to_the_space(void)
{
	struct step step;
	struct profile p;

	CHECK_EQ(step_parse("dirty=techgage", &step, NULL), 0);
	CHECK_EQ(profile_of(&step.dirty, 80000000000, UINT64_MAX, &p, NULL), 0);
	CHECK_EQ(p.set_count, 2);
	CHECK_EQ(p.round_count, 2);
	CHECK_EQ(p.sets[0].bytes, 74000000000);
	CHECK_EQ(p.sets[1].bytes, 64000000000);
	CHECK_NEAR(p.sets[0].file_count, 43000, 1);
	CHECK_NEAR(p.sets[1].file_count, 149982, 1);
	CHECK_EQ(profile_bytes(&p), 2 * (74000000000 + 64000000000));
	CHECK_EQ(profile_of(&step.dirty, 800000000, UINT64_MAX, &p, NULL), 0);
	CHECK_NEAR(p.sets[0].file_count, 430, 1);
	CHECK_EQ(p.sets[1].bytes, 640000000);
}

static void what_does_not_fit_is_refused_with_the_figures(void)
{
	struct step step;
	struct profile p;
	struct err err = { 0 };

	CHECK_EQ(step_parse("dirty:files=1000,amount=1g", &step, NULL), 0);
	CHECK_EQ(profile_of(&step.dirty, GIB, UINT64_MAX, &p, &err), -ENOSPC);
	CHECK_STR(err.text,
		  "no room for files of 1.00 GiB: 1.00 GiB are free, a little of which is kept");
	CHECK_EQ(profile_of(&step.dirty, 2 * GIB, 999, &p, &err), -ENOSPC);
	CHECK_EQ(profile_of(&step.dirty, 2 * GIB, 1000, &p, &err), 0);
	CHECK_EQ(p.sets[0].file_count, 1000);
	CHECK_EQ(p.sets[0].bytes, GIB);
}

static void sizes_sum_up_exactly_and_are_log_normal(void)
{
	const struct profile_set set = { 100000, 10000000000 };
	uint64_t *sizes, *again, sum = 0;
	double mean_log = 0, variance = 0;

	CHECK_EQ(profile_sizes(&set, 1.5, 7, &sizes, NULL), 0);
	CHECK_EQ(profile_sizes(&set, 1.5, 7, &again, NULL), 0);
	CHECK(memcmp(sizes, again, set.file_count * sizeof(*sizes)) == 0);
	for (uint64_t i = 0; i < set.file_count; i++) {
		CHECK(sizes[i] >= 1);
		sum += sizes[i];
		mean_log += log((double)sizes[i]) / (double)set.file_count;
	}
	CHECK_EQ(sum, set.bytes);
	for (uint64_t i = 0; i < set.file_count; i++)
		variance += pow(log((double)sizes[i]) - mean_log, 2) / (double)set.file_count;
	CHECK_NEAR(sqrt(variance), 1.5, 0.02);
	/* The mean of a log-normal is exp(mu + sigma^2 / 2). */
	CHECK_NEAR(mean_log, log(100000) - 1.5 * 1.5 / 2, 0.05);
	free(sizes);
	free(again);
}

TESTS(TEST(files_get_space_of_their_own_until_there_is_none),
      TEST(what_is_deleted_is_free_again_and_pieces_fit_in_the_gaps),
      TEST(nothing_is_ever_given_twice),
      TEST(techgage_is_scaled_to_the_space),
      TEST(what_does_not_fit_is_refused_with_the_figures),
      TEST(sizes_sum_up_exactly_and_are_log_normal))
