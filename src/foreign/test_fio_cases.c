/* SPDX-License-Identifier: MIT */
/* What went wrong for people in the field, each with its right answer. */
#include "foreign/fio_fixture.h"

#include "base/check.h"
#include "base/clock.h"

static const struct workload *workload_of(const struct fio_translation *t, size_t index)
{
	return &t->plan.phases[index].workload;
}

static void text_behind_a_semicolon_is_told(void)
{
	struct fio_translation t;

	CHECK_EQ(TRANSLATE(&t, "@[global]\nioengine=null\nsize=1m\nfilename=/mnt/a;/mnt/b\n"
			       "[job1]\nrw=randread\n; a comment\n"),
		 0);
	CHECK_EQ(t.plan.phase_count, 1);
	CHECK_EQ(t.plan.target_count, 1);
	CHECK_EQ(t.labels.note_count, 1);
	CHECK(strstr(t.labels.notes[0],
		     ":4:16: text after ; is a comment to fio and ignored: /mnt/b - "
		     "use : to separate files"));
	fio_translation_done(&t);
}

static void options_of_the_command_line_are_none_of_a_job(void)
{
	struct fio_translation t;

	CHECK_EQ(TRANSLATE(&t,
			   "@[j]\nioengine=null\nsize=4k\noutput-format=json\ntrigger-file=/x\n"),
		 -EINVAL);
	CHECK_EQ(t.problems.count, 2);
	CHECK(strstr(t.problems.texts[0],
		     ":4:15: output-format: a command-line option, not allowed in a "
		     "job file"));
	CHECK(strstr(t.problems.texts[1],
		     ":5:14: trigger-file: a command-line option, not allowed in a "
		     "job file"));
	fio_translation_done(&t);
}

static void the_file_overrides_the_command_line_and_says_so(void)
{
	static const char file[] = "@[a]\nioengine=null\nsize=64k\nbs=4k\n";
	const char *const before[] = { "--bs=8k", file, NULL }, *const after[] = { file, "--bs=8k",
										   NULL };
	const char *const *const orders[] = { before, after };

	for (size_t i = 0; i < 2; i++) {
		struct fio_translation t;

		CHECK_EQ(fixture_translate(&t, orders[i]), 0);
		CHECK_EQ(workload_of(&t, 0)->block_bytes, 4096);
		CHECK_EQ(workload_of(&t, 0)->io_size_bytes, 65536);
		CHECK(strstr(t.labels.notes[0],
			     ":4:1: --bs=8k has no effect on job 'a', which says bs=4k"));
		fio_translation_done(&t);
	}
}

static void a_share_is_of_the_whole_file(void)
{
	static const uint64_t offsets[] = { 0, 16384, 32768, 49152 };
	struct fio_translation t;

	CHECK_EQ(
		TRANSLATE(&t,
			  "@[global]\nfilename=/mnt/64k\nrw=read\nbs=4k\nsize=25%\n[q1]\noffset=0\n"
			  "[q2]\noffset=25%\n[q3]\noffset=50%\n[q4]\noffset=75%\n"),
		0);
	CHECK_EQ(t.plan.phase_count, 4);
	CHECK_EQ(t.plan.target_count, 1);
	CHECK_STR(t.plan.targets[0].spec, "/mnt/64k");
	for (size_t i = 0; i < 4; i++) {
		CHECK_EQ(workload_of(&t, i)->offset.bytes, offsets[i]);
		CHECK_EQ(workload_of(&t, i)->size.bytes, 16384);
		CHECK_EQ(workload_of(&t, i)->io_size_bytes, 16384);
	}
	fio_translation_done(&t);
}

static void an_offset_share_goes_up_to_a_block(void)
{
	struct fio_translation t;

	/* 33 % of 1 MiB is 346030.08: the next multiple of 4096. */
	CHECK_EQ(TRANSLATE(&t, "--name=a", "--filename=/mnt/1m", "--offset=33%"), 0);
	CHECK_EQ(workload_of(&t, 0)->offset.bytes, 348160);
	fio_translation_done(&t);
	CHECK_EQ(TRANSLATE(&t, "--name=a", "--filename=/mnt/1m", "--offset=100001"), 0);
	CHECK_EQ(workload_of(&t, 0)->offset.bytes, 100001);
	fio_translation_done(&t);
}

static void clones_work_side_by_side_on_the_first_run(void)
{
	struct fio_translation t;

	CHECK_EQ(TRANSLATE(&t, "@[s]\nfilename=/mnt/fg\nbs=4k\nfilesize=2m\nsize=1m\nnumjobs=2\n"
			       "offset_increment=1m\nrw=write\n"),
		 0);
	CHECK_EQ(t.plan.phase_count, 2);
	CHECK_EQ(t.plan.target_count, 1);
	CHECK_STR(t.plan.targets[0].spec, "/mnt");
	CHECK_EQ(t.plan.targets[0].size_bytes, 2 * MIB);
	for (size_t i = 0; i < 2; i++) {
		CHECK_EQ(workload_of(&t, i)->offset.bytes, i * MIB);
		CHECK_EQ(workload_of(&t, i)->size.bytes, MIB);
		CHECK_EQ(workload_of(&t, i)->io_size_bytes, MIB);
	}
	CHECK(!t.plan.phases[0].together && t.plan.phases[1].together);
	fio_translation_done(&t);
}

static void a_clone_without_room_is_named(void)
{
	struct fio_translation t;

	CHECK_EQ(TRANSLATE(&t, "--name=s", "--filename=/mnt/1m", "--size=512k", "--numjobs=3",
			   "--offset_increment=512k"),
		 -EINVAL);
	CHECK_PROBLEM(&t, "command line: offset: clone 2 would start at 1m, behind the end at 1m");
	fio_translation_done(&t);
}

static void kib_is_a_thousand_and_is_told(void)
{
	struct fio_translation t;

	CHECK_EQ(TRANSLATE(&t, "@[a]\nioengine=null\nbs=4KiB\nsize=100MiB\n"), 0);
	CHECK_EQ(workload_of(&t, 0)->block_bytes, 4000);
	CHECK_EQ(workload_of(&t, 0)->io_size_bytes, 100000000);
	CHECK(strstr(t.labels.notes[0], ":3:4: bs=4KiB is 4000 bytes"));
	fio_translation_done(&t);
	/* kb_base counts for the whole section, wherever it stands. */
	CHECK_EQ(TRANSLATE(&t, "@[a]\nioengine=null\nbs=4KiB\nsize=400k\nkb_base=1000\n"), 0);
	CHECK_EQ(workload_of(&t, 0)->block_bytes, 4096);
	CHECK_EQ(t.plan.targets[0].size_bytes, 397312); /* 97 blocks of 400000 bytes */
	fio_translation_done(&t);
}

static void unknown_units_of_time_are_refused(void)
{
	struct fio_translation t;

	CHECK_EQ(TRANSLATE(&t, "@[j]\nioengine=null\nsize=1m\ntime_based\nruntime=2min\n"),
		 -EINVAL);
	CHECK_EQ(t.problems.count, 1);
	CHECK(strstr(t.problems.texts[0], ":5:9: runtime: '2min': no unit 'min' (fio takes it for "
					  "microseconds); there are us, ms, s, m, h, d"));
	fio_translation_done(&t);
}

static void a_ramp_counts_against_nothing(void)
{
	struct fio_translation t;

	CHECK_EQ(TRANSLATE(&t, "@[r]\nioengine=null\nrw=randread\nbs=4k\nsize=1g\nio_size=400k\n"
			       "ramp_time=1s\nrate_iops=1000\n"),
		 0);
	CHECK_EQ(workload_of(&t, 0)->ramp_ns, SECOND_NS);
	CHECK_EQ(workload_of(&t, 0)->io_size_bytes, 100 * 4096);
	CHECK_EQ(workload_of(&t, 0)->rate_iops, 1000);
	CHECK(strstr(t.labels.notes[0],
		     "ramp_time: what the ramp does counts against no size, number or "
		     "loop"));
	fio_translation_done(&t);
}

static void a_share_of_nothing_is_refused(void)
{
	struct fio_translation t;

	CHECK_EQ(TRANSLATE(&t, "@[h]\nfilename=/mnt/new\nsize=80%\nrw=write\n"), -EINVAL);
	CHECK_EQ(t.problems.count, 1);
	CHECK(strstr(t.problems.texts[0], ":3:6: size: a share needs an existing file, a device or "
					  "filesize; to fill a file system give its size"));
	fio_translation_done(&t);
}

static void nothing_is_made_below_dev(void)
{
	struct fio_translation t;

	CHECK_EQ(TRANSLATE(&t, "--name=w", "rw=write", "--bs=4k", "--filename=/dev/"), -EINVAL);
	CHECK_EQ(t.problems.count, 2);
	CHECK_PROBLEM(&t, "rw=write: did you mean --rw=write?");
	CHECK_PROBLEM(
		&t,
		"command line: filename: /dev/ is a directory; name a file or a device in it, or "
		"write directory=");
	fio_translation_done(&t);
	/* A node that is not there keeps its name, which nobody can open. */
	CHECK_EQ(TRANSLATE(&t, "--name=w", "--rw=write", "--filename=/dev/nvme9n9", "--size=1g"),
		 0);
	CHECK_STR(t.plan.targets[0].spec, "/dev/nvme9n9");
	fio_translation_done(&t);
}

static void a_hole_in_a_path_is_refused(void)
{
	struct fio_translation t;

	CHECK_EQ(TRANSLATE(&t, "@[a]\nfilename=/dev/${NOT_SET}\n[b]\nfilename=/dev/${EMPTY}\n"),
		 -EINVAL);
	CHECK(strstr(t.problems.texts[0],
		     ":2:10: ${NOT_SET} is not set in the environment; fio would "
		     "leave a hole"));
	CHECK(strstr(t.problems.texts[1], ":4:10: ${EMPTY} is empty in the environment"));
	fio_translation_done(&t);
	CHECK_EQ(TRANSLATE(&t, "@[a]\nfilename=/dev/${DISK}\nrw=read\n"), 0);
	CHECK_STR(t.plan.targets[0].spec, "/dev/sda");
	fio_translation_done(&t);
}

static void a_blank_in_a_path_stops_all(void)
{
	struct fio_translation t;

	CHECK_EQ(TRANSLATE(&t, "--filename=/dev/", "nvme7n1p1", "--rw=write", "--name=x"), -EINVAL);
	CHECK_PROBLEM(&t, "nvme7n1p1: no such job file");
	fio_translation_done(&t);
}

static void last_wins_but_bsrange(void)
{
	struct fio_translation t;

	CHECK_EQ(TRANSLATE(&t, "@[a]\nioengine=null\nsize=1m\nbsrange=4k-8k\nbs=16k\n"), 0);
	CHECK_EQ(workload_of(&t, 0)->size_mix.count, 2);
	CHECK_EQ(workload_of(&t, 0)->size_mix.sizes[0].bytes, 4096);
	CHECK_EQ(workload_of(&t, 0)->size_mix.sizes[1].bytes, 8192);
	CHECK_EQ(workload_of(&t, 0)->size_mix.sizes[1].ppm, 500000);
	fio_translation_done(&t);
	CHECK_EQ(
		TRANSLATE(&t,
			  "@[a]\nioengine=null\nsize=1m\nrw=randrw\nrwmixread=70\nrwmixwrite=20\n"),
		0);
	CHECK_EQ(workload_of(&t, 0)->read_ppm, 800000);
	fio_translation_done(&t);
}

static void shares_over_a_hundred_are_refused(void)
{
	struct fio_translation t;

	CHECK_EQ(
		TRANSLATE(&t, "--name=a", "--ioengine=null", "--size=1m", "--bssplit=4k/60:64k/50"),
		-EINVAL);
	CHECK_PROBLEM(
		&t, "command line: bssplit: '4k/60:64k/50': the shares add up to 110 %, not 100 %");
	fio_translation_done(&t);
}

TESTS(TEST(text_behind_a_semicolon_is_told), TEST(options_of_the_command_line_are_none_of_a_job),
      TEST(the_file_overrides_the_command_line_and_says_so), TEST(a_share_is_of_the_whole_file),
      TEST(an_offset_share_goes_up_to_a_block), TEST(clones_work_side_by_side_on_the_first_run),
      TEST(a_clone_without_room_is_named), TEST(kib_is_a_thousand_and_is_told),
      TEST(unknown_units_of_time_are_refused), TEST(a_ramp_counts_against_nothing),
      TEST(a_share_of_nothing_is_refused), TEST(nothing_is_made_below_dev),
      TEST(a_hole_in_a_path_is_refused), TEST(a_blank_in_a_path_stops_all),
      TEST(last_wins_but_bsrange), TEST(shares_over_a_hundred_are_refused))
