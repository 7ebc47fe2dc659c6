/* SPDX-License-Identifier: MIT */

/* Steps on the reference drive, whose inside is known, and on a file. */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "base/defer.h"
#include "base/units.h"
#include "state/state.h"

#define DRIVE "sim:page-greedy,capacity=256m"

static uint64_t now_ns;
static struct clock clock_virtual;
static struct target *target;
static struct state *state;
static struct step_result done;
static struct err err;

static void open_drive(const char *spec)
{
	struct target_request request = { .spec = spec, .writes = true, .clock = &clock_virtual };
	struct state_options options = { .clock = &clock_virtual };

	now_ns = 0;
	clock_init_virtual(&clock_virtual, &now_ns);
	CHECK_EQ(target_open(&target, &request, &err), 0);
	options.target = target;
	CHECK_EQ(state_open(&state, &options, &err), 0);
}

static void close_drive(void)
{
	state_close(state);
	target_close(target);
	state = NULL;
	target = NULL;
}

static int run(const char *word)
{
	struct step step;
	int r;

	err = (struct err){ 0 };
	r = step_parse(word, &step, &err);
	if (r == 0)
		r = state_step(state, &step, &done, &err);
	if (r < 0)
		printf("# %s: %s\n", word, err.text);
	return r;
}

static double figure(const char *name)
{
	for (uint32_t i = 0; i < done.figure_count; i++)
		if (strcmp(done.figures[i].name, name) == 0)
			return done.figures[i].value;
	return NAN;
}

static double truth(const char *name)
{
	struct drive_truth rows;

	target->truth_end(target, &rows);
	for (uint32_t i = 0; i < rows.row_count; i++)
		if (strcmp(rows.rows[i].name, name) == 0)
			return rows.rows[i].value;
	return NAN;
}

static void a_fill_writes_the_range_so_often(void)
{
	open_drive(DRIVE);
	CHECK_EQ(run("fill=2"), 0);
	CHECK_EQ(done.written_bytes, 512 * MIB);
	CHECK_EQ(truth("mapped_bytes"), 256 * MIB);
	CHECK(done.reached && !done.interrupted);
	CHECK(done.duration_ns > 0);
	CHECK_STR(done.method, "sequential 128k");
	CHECK_STR(done.text, "512 MiB written sequentially over 256 MiB");
	CHECK_EQ(run("fill:times=0.5,order=random,bs=4k"), 0);
	CHECK_EQ(done.written_bytes, 128 * MIB);
	close_drive();

	open_drive(DRIVE);
	CHECK_EQ(run("fill:offset=64m,size=1m,bs=768k"), 0);	/* one block and a rest */
	CHECK_EQ(done.written_bytes, MIB);
	CHECK_EQ(truth("mapped_bytes"), MIB);
	CHECK_EQ(run("fill:offset=256m"), -EFBIG);
	CHECK_STR(err.text, "fill: find the range: a range of 0 at 256m does not fit in the target's 256m");
	close_drive();
}

static void a_purge_is_checked_by_reading(void)
{
	static const struct {
		const char *spec, *word, *method;
		bool reached;
		uint64_t mapped_bytes;
	} cases[] = {
		{ DRIVE, "purge", "sim", true, 0 },
		{ DRIVE, "purge=discard", "discard", true, 0 },
		{ DRIVE, "purge=zero", "zero", true, 256 * MIB },
		{ DRIVE ",trim=ignored", "purge=discard", "discard", false, 256 * MIB },
		{ DRIVE ",trim=ignored", "purge", "sim", true, 0 },
	};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		open_drive(cases[i].spec);
		CHECK_EQ(run("fill"), 0);
		CHECK_EQ(run(cases[i].word), 0);
		CHECK_STR(done.method, cases[i].method);
		CHECK_EQ(done.reached, cases[i].reached);
		CHECK_EQ(figure("held_data_before"), 256);
		CHECK_EQ(figure("unchanged"), cases[i].reached ? 0 : 256);
		CHECK_EQ(truth("mapped_bytes"), cases[i].mapped_bytes);
		close_drive();
	}
	open_drive(DRIVE ",trim=none");
	CHECK_EQ(run("purge=discard"), -EOPNOTSUPP);
	CHECK(run("purge=nvme-format") < 0);
	CHECK(strstr(err.text, "is no drive") != NULL);
	close_drive();
}

static void random_dirtying_writes_the_amount_in_the_range(void)
{
	open_drive(DRIVE);
	CHECK_EQ(run("fill"), 0);
	CHECK_EQ(run("dirty:by=random,offset=128m,amount=50%"), 0);
	CHECK_EQ(done.written_bytes, 64 * MIB);
	CHECK_STR(done.text, "64.0 MiB written at random over 128 MiB");
	CHECK_EQ(run("dirty:by=random,bssplit=4k/50:64k/50,amount=300%"), -ERANGE);
	CHECK_EQ(run("dirty:by=random,bssplit=4k/50:64k/50,amount=32m"), 0);
	CHECK(done.written_bytes >= 32 * MIB && done.written_bytes < 32 * MIB + 64 * KIB);
	close_drive();
}

static void files_on_a_bare_drive_are_placed_deleted_and_only_free_space_is_trimmed(void)
{
	open_drive(DRIVE);
	CHECK_EQ(run("dirty:files=1000,amount=128m,delete=25%,seed=5"), 0);
	CHECK_EQ(done.file_count, 1000);
	CHECK_EQ(done.file_deleted_count, 250);
	CHECK(done.written_bytes >= 128 * MIB && done.written_bytes < 132 * MIB);
	CHECK_EQ(truth("mapped_bytes"), done.written_bytes);	/* no discard was sent */
	CHECK_EQ(run("trim"), 0);
	CHECK(done.have_sent);
	CHECK_EQ(done.discard_sent_bytes, done.discard_asked_bytes);
	/* What is left are 750 files of about 96 MiB. */
	CHECK_EQ(truth("mapped_bytes"), 256 * MIB - done.discard_asked_bytes);
	CHECK_NEAR(truth("mapped_bytes"), 96.0 * MIB, 32.0 * MIB);
	CHECK_EQ(run("delete"), 0);
	CHECK_EQ(done.file_deleted_count, 750);
	CHECK_EQ(run("trim"), 0);
	CHECK_EQ(truth("mapped_bytes"), 0);
	close_drive();
}

static void a_preset_dirties_a_bare_drive_in_its_rounds(void)
{
	open_drive(DRIVE);
	CHECK_EQ(run("dirty=techgage"), 0);
	/* 1.725 capacities a round, two rounds. */
	CHECK_NEAR((double)done.written_bytes / (256 * MIB), 3.45, 0.05);
	CHECK_EQ(done.file_count, done.file_deleted_count);
	close_drive();
}

static void a_trim_by_pattern_leaves_the_gaps(void)
{
	open_drive(DRIVE);
	CHECK_EQ(run("fill"), 0);
	CHECK_EQ(run("trim:offset=0,size=64m,bs=64k,every=128k"), 0);
	CHECK_EQ(done.discard_asked_bytes, 32 * MIB);
	CHECK_EQ(done.discard_sent_bytes, 32 * MIB);
	CHECK_EQ(figure("requests"), 512);
	CHECK_EQ(truth("mapped_bytes"), 224 * MIB);
	close_drive();
}

static void settling_ends_when_steady_and_says_when_it_is_not(void)
{
	open_drive(DRIVE ",op=15%");
	CHECK_EQ(run("fill"), 0);
	CHECK_EQ(run("settle:round=2s,rounds=40"), 0);
	CHECK(done.reached);
	CHECK(figure("rounds") >= 5);
	CHECK(fabs(figure("slope_ratio")) <= 0.1);
	CHECK(figure("range_ratio") <= 0.2);
	close_drive();

	/* Credits that run out within the rounds: it falls until the limit. */
	open_drive(DRIVE);
	CHECK_EQ(run("settle:round=100ms,rounds=5"), 0);
	CHECK_EQ(done.reached, fabs(figure("slope_ratio")) <= 0.1 && figure("range_ratio") <= 0.2);
	CHECK_EQ(figure("rounds"), 5);
	close_drive();
}

static void idling_takes_its_time_and_ends_when_recovered(void)
{
	open_drive(DRIVE);
	CHECK_EQ(run("idle=90s"), 0);
	CHECK_EQ(done.duration_ns, 90 * SECOND_NS);
	CHECK_EQ(done.written_bytes, 0);
	CHECK_EQ(run("idle:until-recovered,interval=1s,limit=60s"), 0);
	CHECK(done.reached);
	CHECK(done.duration_ns < 60 * SECOND_NS);
	CHECK(figure("probes") >= 3);
	close_drive();
}

static void the_same_steps_give_the_same_drive(void)
{
	uint64_t times[2];

	for (int i = 0; i < 2; i++) {
		open_drive(DRIVE);
		CHECK_EQ(run("dirty:preset=office,rounds=2"), 0);
		CHECK_EQ(run("dirty:by=random,amount=64m"), 0);
		times[i] = now_ns;
		close_drive();
	}
	CHECK_EQ(times[0], times[1]);
	CHECK(times[0] > 0);
}

static void what_cannot_be_is_refused(void)
{
	struct target_info null = { .kind = TARGET_NULL, .spec = "null" };
	struct target_info file = { .kind = TARGET_FILE, .spec = "f" };
	struct target_info drive = { .kind = TARGET_BLOCK, .spec = "/dev/x" };
	struct step step;

	CHECK_EQ(step_parse("fill", &step, &err), 0);
	CHECK_EQ(state_step_possible(&null, &step, &err), -EOPNOTSUPP);
	CHECK_STR(err.text, "fill: null has no state");
	CHECK_EQ(step_parse("dirty", &step, &err), 0);
	CHECK_EQ(state_step_possible(&file, &step, &err), -EOPNOTSUPP);
	CHECK_EQ(state_step_possible(&drive, &step, &err), 0);
	CHECK_EQ(step_parse("dirty:by=aging", &step, &err), 0);
	CHECK_EQ(state_step_possible(&drive, &step, &err), -EOPNOTSUPP);
	CHECK_EQ(step_parse("dirty:from=/etc", &step, &err), 0);
	CHECK_EQ(state_step_possible(&drive, &step, &err), -EOPNOTSUPP);
}

static void forecasts_are_what_is_written(void)
{
	static const char *const words[] = {
		"fill=1.5", "dirty:by=random,amount=10%", "dirty:files=100,amount=16m,rounds=3",
	};

	for (size_t i = 0; i < ARRAY_COUNT(words); i++) {
		struct state_forecast forecast;
		struct step step;

		open_drive(DRIVE);
		CHECK_EQ(step_parse(words[i], &step, &err), 0);
		state_forecast(&target->info, &step, &forecast);
		CHECK_EQ(run(words[i]), 0);
		/* Files end in the middle of a block. */
		CHECK_NEAR(done.written_bytes, forecast.write_bytes, 2.0 * MIB);
		close_drive();
	}
}

/* Someone's file, named expendable: its holes are counted by the file system. */
static void a_file_is_filled_trimmed_and_purged(void)
{
	char path[] = "/tmp/tare-test-state.XXXXXX";
	DEFER(defer_close) int fd = mkstemp(path);
	struct target_request request = { .spec = path, .writes = true, .expendable_path = path };
	struct state_options options = { 0 };
	struct clock real;
	struct stat st;

	clock_init_real(&real);
	CHECK_EQ(ftruncate(fd, 8 * MIB), 0);
	CHECK_EQ(target_open(&target, &request, &err), 0);
	options.target = target;
	options.clock = &real;
	CHECK_EQ(state_open(&state, &options, &err), 0);
	CHECK_EQ(run("fill"), 0);
	CHECK_EQ(done.written_bytes, 8 * MIB);
	CHECK_EQ(fstat(fd, &st), 0);
	CHECK(st.st_blocks * 512 >= (off_t)(8 * MIB));
	CHECK_EQ(run("trim:size=2m"), 0);
	CHECK_STR(done.method, "hole punching");
	CHECK_EQ(fstat(fd, &st), 0);
	CHECK_NEAR((double)st.st_blocks * 512, 6.0 * MIB, 128.0 * KIB);
	CHECK_EQ(run("purge"), 0);
	CHECK(done.reached);
	CHECK_EQ(fstat(fd, &st), 0);
	CHECK(st.st_blocks * 512 < (off_t)(128 * KIB));
	CHECK_EQ(st.st_size, 8 * MIB);
	close_drive();

	/* Read-only: nothing that writes is done. */
	request.writes = false;
	CHECK_EQ(target_open(&target, &request, &err), 0);
	options.target = target;
	CHECK_EQ(state_open(&state, &options, &err), 0);
	CHECK_EQ(run("fill"), -EPERM);
	CHECK_EQ(run("purge"), -EPERM);
	CHECK_EQ(run("idle=1ms"), 0);
	close_drive();
	unlink(path);
}

TESTS(TEST(a_fill_writes_the_range_so_often),
      TEST(a_purge_is_checked_by_reading),
      TEST(random_dirtying_writes_the_amount_in_the_range),
      TEST(files_on_a_bare_drive_are_placed_deleted_and_only_free_space_is_trimmed),
      TEST(a_preset_dirties_a_bare_drive_in_its_rounds),
      TEST(a_trim_by_pattern_leaves_the_gaps),
      TEST(settling_ends_when_steady_and_says_when_it_is_not),
      TEST(idling_takes_its_time_and_ends_when_recovered),
      TEST(the_same_steps_give_the_same_drive),
      TEST(what_cannot_be_is_refused),
      TEST(forecasts_are_what_is_written),
      TEST(a_file_is_filled_trimmed_and_purged))
