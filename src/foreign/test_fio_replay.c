/* SPDX-License-Identifier: MIT */
/* Jobs whose requests are in a log: what plan they make, and where their names go. */
#include "foreign/fio_fixture.h"

#include "base/check.h"
#include "foreign/trace.h"

static const struct {
	const char *name, *text;
} logs[] = {
	{ "mixed", "fio version 3 iolog\n0 data add\n10 data read 8192 4096\n100010 data write 0 4096\n"
		   "100020 data write 65536 12288\n100900 data sync 0 0\n" },
	{ "reads", "fio version 3 iolog\n0 /dev/sda read 0 512\n5000 /dev/sda read 1048576 512\n" },
	{ "trims", "fio version 3 iolog\n2 /dev/sdb trim 0 2147483648\n3 /dev/sdb write 0 4096\n" },
	{ "apart", "fio version 2 iolog\n/dev/sdb add\n/dev/sdc add\n/dev/sdb open\n/dev/sdc open\n"
		   "/dev/sdb read 0 512\n/dev/sdc read 512 512\n/dev/sdb close\n/dev/sdc close\n" },
	{ "meeting", "fio version 2 iolog\n/dev/sdb read 0 512\n/dev/sdc read 0 512\n" },
	{ "waits", "fio version 2 iolog\nf read 0 512\nf wait 100 0\nf read 512 512\nf wait 50 0\n"
		   "f read 1024 512\n" },
};

static struct trace *trace; /* the last that was opened */

static int open_log(void *ctx, const struct workload *workload, const struct trace **ret,
		    struct err *err)
{
	struct trace_report report;
	int r = err_set(err, -ENOENT, "%s: no such log", workload->trace);

	(void)ctx;
	trace_free(trace);
	trace = NULL;
	for (size_t i = 0; i < ARRAY_COUNT(logs); i++) {
		if (strcmp(logs[i].name, workload->trace) != 0)
			continue;
		r = trace_import_memory(&trace, logs[i].name, logs[i].text, strlen(logs[i].text),
					&workload->replay, &report, err);
		trace_report_done(&report);
	}
	*ret = trace;
	return r;
}

static const struct fio_map maps[] = { { "data", "/mnt/1m" }, { "/dev/sdc", "/dev/sda" } };

/* Of a job with these options; mapped: with the maps above. */
static int translate(struct fio_translation *ret, const char *options, bool mapped, bool exact)
{
	char text[512];
	const char *const words[] = { text, NULL };
	const struct fio_request request = {
		.words = words,
		.word_count = 1,
		.world = &fixture_world,
		.maps = maps,
		.map_count = mapped ? ARRAY_COUNT(maps) : 0,
		.exact = exact,
		.trace_open = open_log,
	};

	snprintf(text, sizeof(text), "@[j]\n%s\n", options);
	fixture_words = words;
	return fio_translate(&request, ret);
}

static const struct workload *work(const struct fio_translation *t, size_t index)
{
	return &t->plan.phases[index].workload;
}

static bool has(char *const *texts, size_t count, const char *part)
{
	for (size_t i = 0; i < count; i++)
		if (strstr(texts[i], part))
			return true;
	for (size_t i = 0; i < count; i++)
		printf("# said: %s\n", texts[i]);
	return false;
}

static void refused(const char *options, const char *reason)
{
	struct fio_translation t;

	CHECK_EQ(translate(&t, options, false, false), -EINVAL);
	CHECK(has(t.problems.texts, t.problems.count, reason));
	fio_translation_done(&t);
}

static void the_log_says_what_the_job_does(void)
{
	struct fio_translation t;

	CHECK_EQ(translate(&t, "filename=data\nread_iolog=mixed\nrw=randread\nsize=4k\nloops=3\n"
			       "ioengine=libaio\niodepth=8",
			   true, false),
		 0);
	CHECK_EQ(t.plan.phase_count, 1);
	CHECK_EQ(t.labels.job_count, 1);
	CHECK_STR(t.plan.targets[0].spec, "/mnt/1m");
	CHECK_STR(work(&t, 0)->trace, "mixed");
	CHECK_EQ(work(&t, 0)->replay.timing, TIMING_RECORDED);
	CHECK_EQ(work(&t, 0)->rw, RW_RANDRW);
	CHECK_EQ(work(&t, 0)->read_ppm, 333333);
	CHECK_EQ(work(&t, 0)->block_bytes, 12288);
	CHECK_EQ(work(&t, 0)->size.bytes, 65536 + 12288);
	CHECK_EQ(work(&t, 0)->io_size_bytes, 0);
	CHECK_EQ(work(&t, 0)->depth_count, 8);
	CHECK(has(t.labels.notes, t.labels.note_count, "read_iolog: contains 2 writes (16.0 KiB)"));
	CHECK(has(t.labels.notes, t.labels.note_count, "rw: no effect"));
	CHECK(has(t.labels.notes, t.labels.note_count, "loops: no effect"));
	fio_translation_done(&t);
}

static void options_say_how_it_is_played(void)
{
	struct fio_translation t;

	CHECK_EQ(translate(&t, "filename=/mnt/1m\nread_iolog=mixed\nreplay_redirect=/dev/sda\n"
			       "replay_time_scale=250\nreplay_align=8k\nreplay_scale=4\n"
			       "replay_skip=write,sync\nruntime=2",
			   false, false),
		 0);
	const struct replay *replay = &work(&t, 0)->replay;

	CHECK_STR(t.plan.targets[0].spec, "/dev/sda");
	CHECK_EQ(replay->speed_ppm, 2500000);
	CHECK_EQ(replay->align_bytes, 8192);
	CHECK_EQ(replay->divide, 4);
	CHECK_EQ(replay->skip, 1u << TRACE_WRITE | 1u << TRACE_FLUSH);
	CHECK_EQ(work(&t, 0)->rw, RW_RANDREAD);
	CHECK_EQ(work(&t, 0)->runtime_ns, 2000000000);
	fio_translation_done(&t);
	CHECK_EQ(translate(&t, "filename=/dev/sda\nread_iolog=reads\nreplay_no_stall=1", false, false),
		 0);
	CHECK_EQ(work(&t, 0)->replay.timing, TIMING_NONE);
	fio_translation_done(&t);
	refused("filename=/dev/sda\nread_iolog=reads\nreplay_skip=reads", "read, write, trim, sync");
}

static void a_log_without_a_file_there_gets_one_of_ours(void)
{
	struct fio_translation t;

	CHECK_EQ(translate(&t, "directory=/mnt\nfilename=data\nread_iolog=mixed", false, false), 0);
	CHECK_STR(t.plan.targets[0].spec, "/mnt");
	CHECK_EQ(t.plan.targets[0].size_bytes, 77824);
	fio_translation_done(&t);
	CHECK_EQ(translate(&t, "ioengine=null\nread_iolog=meeting", false, false), 0);
	CHECK_STR(t.plan.target, "null:size=4k");
	fio_translation_done(&t);
}

/* R03, R04 */
static void names_are_not_guessed(void)
{
	struct fio_translation t;

	refused("read_iolog=reads", "the log names '/dev/sda', which is no file of this job");
	refused("filename=/dev/sda\nread_iolog=apart", "the log names '/dev/sdc'");
	CHECK_EQ(translate(&t, "replay_redirect=/dev/sdb\nread_iolog=apart", false, false), 0);
	CHECK_EQ(t.plan.phase_count, 1);
	CHECK_EQ(work(&t, 0)->size.bytes, 1024);
	CHECK_EQ(work(&t, 0)->replay.timing, TIMING_NONE);
	fio_translation_done(&t);
	CHECK_EQ(translate(&t, "filename=/dev/sdb\nread_iolog=meeting", true, false), 0);
	CHECK_EQ(t.plan.phase_count, 2);
	CHECK_EQ(t.labels.job_count, 2);
	CHECK(t.plan.phases[1].together);
	CHECK_STR(t.plan.targets[0].spec, "/dev/sdb");
	CHECK_STR(work(&t, 0)->replay.streams, "/dev/sdb");
	CHECK_STR(t.plan.targets[1].spec, "/dev/sda");
	CHECK_STR(work(&t, 1)->replay.streams, "/dev/sdc");
	fio_translation_done(&t);
	refused("replay_redirect=/dev/sdb\nread_iolog=meeting", "would meet on one target");
	CHECK_EQ(translate(&t, "replay_redirect=/dev/sdb\nread_iolog=meeting", false, true), 0);
	CHECK_EQ(work(&t, 0)->replay.overlap, OVERLAP_ALLOW);
	fio_translation_done(&t);
}

static void discards_are_told_of(void)
{
	struct fio_translation t;

	CHECK_EQ(translate(&t, "filename=/dev/sdb\nread_iolog=trims", false, false), 0);
	CHECK(has(t.labels.notes, t.labels.note_count,
		  "contains 1 write (4.00 KiB) and 1 discard (2.00 GiB)"));
	CHECK(workload_trims(work(&t, 0)) && workload_stores(work(&t, 0)));
	fio_translation_done(&t);
	refused("filename=/dev/sdb\nread_iolog=trims\nverify=crc32c",
		"verify has no effect on a trace");
}

static void clones_take_logs_in_turn(void)
{
	struct fio_translation t;

	CHECK_EQ(translate(&t, "filename=/dev/sda\nreplay_redirect=/dev/sdb\nnumjobs=3\n"
			       "read_iolog=reads:mixed",
			   false, false),
		 0);
	CHECK_STR(work(&t, 0)->trace, "reads");
	CHECK_STR(work(&t, 1)->trace, "mixed");
	CHECK_STR(work(&t, 2)->trace, "reads");
	fio_translation_done(&t);
}

static void unclear_waits_are_refused(void)
{
	struct fio_translation t;

	refused("filename=f\nread_iolog=waits", "--exact reads them as fio does");
	CHECK_EQ(translate(&t, "filename=f\nread_iolog=waits", false, true), 0);
	CHECK_EQ(work(&t, 0)->replay.wait_unit, WAIT_ABSOLUTE_MS);
	fio_translation_done(&t);
	refused("filename=f\nread_iolog=nowhere", "nowhere: no such log");
	refused("filename=f\nread_iolog=a,b", "has a comma");
	CHECK_EQ(TRANSLATE(&t, "--name=j", "--read_iolog=nowhere", "--parse-only"), 0);
	fio_translation_done(&t);
	CHECK_EQ(TRANSLATE(&t, "--name=j", "--read_iolog=reads"), -EINVAL);
	fio_translation_done(&t);
}

static void requests_are_written_by_the_jobs_name(void)
{
	struct fio_translation t;

	CHECK_EQ(translate(&t, "directory=/mnt\nsize=1m\nnumjobs=2\nwrite_iolog=out.log", false, false),
		 0);
	CHECK_STR(t.labels.jobs[1].write_iolog, "out.log");
	CHECK_STR(t.labels.jobs[1].iolog_name, "/mnt/j.1.0");
	fio_translation_done(&t);
	refused("nrfiles=2\nsize=1m\nwrite_iolog=out.log", "a job with several files");
	trace_free(trace);
	trace = NULL;
}

TESTS(TEST(the_log_says_what_the_job_does), TEST(options_say_how_it_is_played),
      TEST(a_log_without_a_file_there_gets_one_of_ours), TEST(names_are_not_guessed),
      TEST(discards_are_told_of), TEST(clones_take_logs_in_turn), TEST(unclear_waits_are_refused),
      TEST(requests_are_written_by_the_jobs_name))
