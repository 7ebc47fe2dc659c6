/* SPDX-License-Identifier: MIT */
/* What a job file or command line amounts to. */
#include "foreign/fio_fixture.h"

#include <stdlib.h>

#include "base/check.h"
#include "base/clock.h"

static const struct workload *work(const struct fio_translation *t, size_t index)
{
	return &t->plan.phases[index].workload;
}

static bool has_note(const struct fio_translation *t, const char *part)
{
	for (size_t i = 0; i < t->labels.note_count; i++)
		if (strstr(t->labels.notes[i], part))
			return true;
	for (size_t i = 0; i < t->labels.note_count; i++)
		printf("# noted: %s\n", t->labels.notes[i]);
	return false;
}

static bool has_problem(const struct fio_translation *t, const char *part)
{
	for (size_t i = 0; i < t->problems.count; i++)
		if (strstr(t->problems.texts[i], part))
			return true;
	for (size_t i = 0; i < t->problems.count; i++)
		printf("# said: %s\n", t->problems.texts[i]);
	return false;
}

/* One job with these options is refused, and for that. */
static void refused(const char *options, const char *reason)
{
	struct text file = TEXT_INIT;
	struct fio_translation t;

	text_add(&file, "@[j]\nioengine=null\nsize=1m\n%s\n", options);
	CHECK_EQ(TRANSLATE(&t, text_string(&file)), -EINVAL);
	CHECK(has_problem(&t, reason));
	fio_translation_done(&t);
	text_done(&file);
}

static void jobs_run_together_until_a_stonewall(void)
{
	struct fio_translation t;

	CHECK_EQ(TRANSLATE(
			 &t,
			 "@[global]\nioengine=null\nsize=64k\n[a]\nnumjobs=2\n[b]\nnew_group\n[c]\n"
			 "stonewall\nnumjobs=2\n[d]\n[e]\nwait_for_previous\nnew_group\n"),
		 0);
	static const struct {
		const char *name;
		bool together;
		uint32_t group, clone, thread;
	} want[] = {
		{ "a", false, 0, 0, 1 }, { "a", true, 0, 1, 2 }, { "b", true, 1, 0, 3 },
		{ "c", false, 2, 0, 4 }, { "c", true, 2, 1, 5 }, { "d", true, 2, 0, 6 },
		{ "e", false, 3, 0, 7 },
	};

	CHECK_EQ(t.plan.phase_count, ARRAY_COUNT(want));
	CHECK_EQ(t.labels.job_count, ARRAY_COUNT(want));
	for (size_t i = 0; i < ARRAY_COUNT(want) && i < t.plan.phase_count; i++) {
		CHECK_STR(t.labels.jobs[i].name, want[i].name);
		CHECK_EQ(t.plan.phases[i].together, want[i].together);
		CHECK_EQ(t.labels.jobs[i].group_id, want[i].group);
		CHECK_EQ(t.labels.jobs[i].clone_index, want[i].clone);
		CHECK_EQ(t.labels.jobs[i].thread_number, want[i].thread);
	}
	fio_translation_done(&t);
}

static void each_job_file_waits_for_the_one_before(void)
{
	struct fio_translation t;

	CHECK_EQ(TRANSLATE(&t, "@[global]\nbs=8k\n[a]\nioengine=null\nsize=1m\n",
			   "@[b]\nioengine=null\nsize=1m\n[c]\nioengine=null\nsize=1m\n",
			   "--name=z", "--ioengine=null", "--size", "1m"),
		 0);
	CHECK_EQ(t.plan.phase_count, 4);
	/* The command line's jobs come first; [global] is its file's. */
	CHECK_STR(t.labels.jobs[0].name, "z");
	CHECK_STR(t.labels.jobs[1].name, "a");
	CHECK(t.plan.phases[1].together);
	CHECK_EQ(work(&t, 1)->block_bytes, 8192);
	CHECK(!t.plan.phases[2].together);
	CHECK_EQ(t.labels.jobs[2].group_id, 1);
	CHECK_EQ(work(&t, 2)->block_bytes, 4096);
	CHECK(t.plan.phases[3].together);
	fio_translation_done(&t);
}

static void waiting_for_a_job_is_waiting_for_its_group(void)
{
	struct fio_translation t;

	CHECK_EQ(TRANSLATE(&t, "@[global]\nioengine=null\nsize=64k\n[a]\n[b]\nwait_for=a\n[c]"
			       "\nwait_for=a\n"
			       "[d]\nwait_for=c\n"),
		 0);
	CHECK(!t.plan.phases[1].together);
	CHECK(t.plan.phases[2].together);
	CHECK(!t.plan.phases[3].together);
	CHECK_EQ(t.labels.jobs[3].group_id, 0);
	CHECK(has_note(&t, "wait_for: waits for all that runs beside 'c'"));
	fio_translation_done(&t);
	refused("wait_for=nobody\n[k]\nwait_for=nobody2",
		"wait_for: no job 'nobody2' above this one");
}

static void an_exit_of_one_may_end_all(void)
{
	struct fio_translation t;

	CHECK_EQ(TRANSLATE(&t, "@[global]\nioengine=null\nsize=64k\n[a]\nexitall\n[b]\n"), 0);
	CHECK(t.plan.phases[0].ends_group && !t.plan.phases[1].ends_group);
	fio_translation_done(&t);
}

static void files_are_shared_by_name(void)
{
	struct fio_translation t;

	/* Clones have files of their own; a filename is everybody's. */
	CHECK_EQ(TRANSLATE(&t,
			   "@[global]\ndirectory=/mnt\nsize=1m\n[a]\nnumjobs=2\n[b]\nfilename=x\n"
			   "[c]\nfilename=x\nsize=3m\n[d]\nfilename_format=$jobname.$"
			   "filenum\nnumjobs=2\n"),
		 0);
	static const uint32_t want[] = { 0, 1, 2, 2, 3, 3 };

	CHECK_EQ(t.plan.target_count, 4);
	for (size_t i = 0; i < ARRAY_COUNT(want); i++)
		CHECK_EQ(t.plan.phases[i].target_index, want[i]);
	CHECK_STR(t.plan.targets[2].spec, "/mnt");
	CHECK_EQ(t.plan.targets[2].size_bytes, 3 * MIB);
	fio_translation_done(&t);
}

static void a_made_up_name_leaves_what_is_there(void)
{
	struct fio_translation t;

	CHECK_EQ(TRANSLATE(&t, "--name=j", "--directory=/mnt", "--size=1m", "--rw=write"), 0);
	CHECK_STR(t.plan.targets[0].spec, "/mnt");
	CHECK(has_note(&t, "/mnt/j.0.0 is there already and stays as it is"));
	fio_translation_done(&t);
	/* By its own name it is meant, and the gate asks for consent. */
	CHECK_EQ(TRANSLATE(&t, "--name=j", "--filename=/mnt/1m", "--rw=write"), 0);
	CHECK_STR(t.plan.targets[0].spec, "/mnt/1m");
	fio_translation_done(&t);
	/* fio would make it anew for a read. */
	CHECK_EQ(TRANSLATE(&t, "--name=j", "--filename=/mnt/1m", "--size=2m"), -EINVAL);
	CHECK(has_problem(
		&t, "size: 2m do not fit into what is there (1m); fio would write the file anew"));
	fio_translation_done(&t);
}

static void names_may_hold_colons(void)
{
	struct fio_translation t;

	CHECK_EQ(TRANSLATE(&t, "--name=a", "--filename=/mnt/a\\:b", "--size=1m"), 0);
	CHECK_EQ(t.plan.target_count, 1);
	CHECK_EQ(t.plan.targets[0].file_count, 0);
	fio_translation_done(&t);
	CHECK_EQ(TRANSLATE(&t, "--name=a", "--filename=/mnt/a:/mnt/b", "--size=8m", "--bs=4k"), 0);
	CHECK_EQ(t.plan.targets[0].file_count, 2);
	CHECK_EQ(t.plan.targets[0].size_bytes, 8 * MIB);
	CHECK_EQ(t.plan.targets[0].stripe_bytes, 4096);
	fio_translation_done(&t);
	/* Requests go to one device after the other; the smaller one has 10 GiB. */
	CHECK_EQ(TRANSLATE(&t, "--name=a", "--filename=/dev/sda:/dev/sdb", "--rw=randread",
			   "--bs=8k"),
		 0);
	CHECK_STR(t.plan.targets[0].spec, "join:/dev/sda:/dev/sdb");
	CHECK_EQ(t.plan.targets[0].stripe_bytes, 8192);
	CHECK_EQ(work(&t, 0)->io_size_bytes, 20 * GIB);
	fio_translation_done(&t);
	CHECK_EQ(TRANSLATE(&t, "--name=a", "--filename=/dev/sda:/mnt/new", "--size=1m"), -EINVAL);
	CHECK(has_problem(&t, "filename: some of these are there and some are not"));
	fio_translation_done(&t);
	CHECK_EQ(TRANSLATE(&t, "--name=a", "--filename=/mnt/new:/tmp/new", "--size=1m"), -EINVAL);
	CHECK(has_problem(&t, "filename: the files of one job are in different directories"));
	fio_translation_done(&t);
}

static void several_files_are_equal_and_taken_in_turn(void)
{
	static const struct {
		const char *options;
		uint64_t total_bytes, stripe_bytes, io_bytes;
	} cases[] = {
		/* As fio lays them out: 4 x 2m, 3 x 1m, 3 x 2 blocks of 1m of 7m. */
		{ "nrfiles=4\nsize=8m\nbs=4k", 8 * MIB, 4096, 8 * MIB },
		{ "nrfiles=3\nfilesize=1m\nbs=4k", 3 * MIB, 4096, 3 * MIB },
		{ "nrfiles=3\nsize=7m\nbs=1m", 6 * MIB, MIB, 6 * MIB },
		{ "nrfiles=2\nsize=8m\nbs=4k\nfile_service_type=sequential", 8 * MIB, 0, 8 * MIB },
		{ "nrfiles=2\nsize=8m\nbs=4k\nfile_service_type=roundrobin:4", 8 * MIB, 16384,
		  8 * MIB },
		{ "nrfiles=2\nsize=8m\nrw=randread\nfile_service_type=random", 8 * MIB, 0,
		  8 * MIB },
	};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct text file = TEXT_INIT;
		struct fio_translation t;

		text_add(&file, "@[j]\ndirectory=/mnt\n%s\n", cases[i].options);
		CHECK_EQ(TRANSLATE(&t, text_string(&file)), 0);
		CHECK_EQ(t.plan.targets[0].size_bytes, cases[i].total_bytes);
		CHECK_EQ(t.plan.targets[0].stripe_bytes, cases[i].stripe_bytes);
		CHECK_EQ(work(&t, 0)->io_size_bytes, cases[i].io_bytes);
		fio_translation_done(&t);
		text_done(&file);
	}
	refused("nrfiles=2\nioengine=psync\nfile_service_type=zipf:1.2",
		"file_service_type: 'zipf:1.2' is not "
		"supported");
}

static void sizes_and_files_are_fios(void)
{
	static const struct {
		const char *options;
		uint64_t file_bytes, offset_bytes, io_bytes;
	} cases[] = {
		{ "size=8m\noffset=4m", 12 * MIB, 4 * MIB, 8 * MIB },
		{ "filesize=8m\noffset=4m", 8 * MIB, 4 * MIB, 4 * MIB },
		{ "filesize=8m\nsize=2m", 8 * MIB, 0, 2 * MIB },
		{ "filesize=2m\nsize=8m", 2 * MIB, 0, 2 * MIB },
		{ "size=8m\nio_size=12m", 8 * MIB, 0, 12 * MIB },
		{ "size=8m\nio_size=25%", 8 * MIB, 0, 2 * MIB },
		{ "size=8m\nloops=2", 8 * MIB, 0, 16 * MIB },
		{ "size=10000", 8192, 0, 8192 },
		{ "size=1m\nio_size=10000", MIB, 0, 12288 },
		{ "size=1m\nrw=write:8k", MIB, 0, 86 * 4096 }, /* one every 12k */
		{ "size=8m\noffset=1000k\noffset_align=1m", 9 * MIB, MIB, 8 * MIB },
	};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct text file = TEXT_INIT;
		struct fio_translation t;

		text_add(&file, "@[j]\ndirectory=/mnt\nrw=write\n%s\n", cases[i].options);
		CHECK_EQ(TRANSLATE(&t, text_string(&file)), 0);
		CHECK_EQ(t.plan.targets[0].size_bytes, cases[i].file_bytes);
		CHECK_EQ(work(&t, 0)->offset.bytes, cases[i].offset_bytes);
		CHECK_EQ(work(&t, 0)->io_size_bytes, cases[i].io_bytes);
		fio_translation_done(&t);
		text_done(&file);
	}
}

static void time_ends_a_job_or_is_its_length(void)
{
	struct fio_translation t;

	CHECK_EQ(TRANSLATE(&t, "--name=a", "--ioengine=null", "--size=1m", "--runtime=5"), 0);
	CHECK_EQ(work(&t, 0)->runtime_ns, 5 * SECOND_NS);
	CHECK_EQ(work(&t, 0)->io_size_bytes, MIB);
	fio_translation_done(&t);
	CHECK_EQ(TRANSLATE(&t, "--name=a", "--ioengine=null", "--size=1m", "--runtime=1m",
			   "--time_based"),
		 0);
	CHECK_EQ(work(&t, 0)->runtime_ns, 60 * SECOND_NS);
	CHECK_EQ(work(&t, 0)->io_size_bytes, 0);
	fio_translation_done(&t);
	refused("time_based", "time_based: needs runtime");
}

static void addresses_are_fios(void)
{
	static const struct {
		const char *options;
		bool backwards, repeat;
		uint64_t stride_bytes, align_bytes;
		uint32_t random_ppm;
	} cases[] = {
		{ "rw=read", false, false, 0, 0, PPM },
		{ "rw=read:8k\nbs=4k", false, false, 12288, 0, PPM },
		{ "rw=write:-8k\nbs=4k", true, false, 0, 0, PPM },
		{ "rw=read:-16k\nbs=4k", true, false, 12288, 0, PPM },
		{ "rw=randread", false, false, 0, 4096, PPM },
		{ "rw=randread\nbs=64k", false, false, 0, 65536, PPM },
		{ "rw=randread\nnorandommap", false, true, 0, 4096, PPM },
		{ "rw=randread\nbs=4k\nba=512", false, true, 0, 512, PPM },
		{ "rw=randwrite:8", false, false, 0, 4096, PPM / 8 },
		{ "rw=randread\npercentage_random=25", false, false, 0, 4096, PPM / 4 },
		{ "rw=randread\npercentage_random=0", false, false, 0, 4096, PPM },
	};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct text file = TEXT_INIT;
		struct fio_translation t;

		text_add(&file, "@[j]\nioengine=null\nsize=64m\n%s\n", cases[i].options);
		CHECK_EQ(TRANSLATE(&t, text_string(&file)), 0);
		CHECK_EQ(work(&t, 0)->backwards, cases[i].backwards);
		CHECK_EQ(work(&t, 0)->repeat, cases[i].repeat);
		CHECK_EQ(work(&t, 0)->stride_bytes, cases[i].stride_bytes);
		CHECK_EQ(work(&t, 0)->align_bytes, cases[i].align_bytes);
		CHECK_EQ(work(&t, 0)->random_ppm, cases[i].random_ppm);
		fio_translation_done(&t);
		text_done(&file);
	}
	refused("rw=read:-4k\nbs=4k", "rw: would stay on one block for ever");
}

static void sizes_of_requests_are_fios(void)
{
	struct fio_translation t;

	CHECK_EQ(TRANSLATE(&t, "@[j]\nioengine=null\nsize=64m\nrw=randrw\nbssplit=4k/60:64k/,8k\n"),
		 0);
	CHECK_EQ(work(&t, 0)->size_mix.count, 2);
	CHECK_EQ(work(&t, 0)->size_mix.sizes[1].ppm, 400000);
	CHECK_EQ(work(&t, 0)->write_mix.count, 1);
	CHECK_EQ(work(&t, 0)->write_mix.sizes[0].bytes, 8192);
	fio_translation_done(&t);
	CHECK_EQ(TRANSLATE(&t, "@[j]\nioengine=null\nsize=64m\nrw=write\nbs=4k,8k,16k\n"), 0);
	CHECK_EQ(work(&t, 0)->block_bytes, 8192);
	CHECK_EQ(work(&t, 0)->write_mix.count, 0);
	fio_translation_done(&t);
	/* 4k,8k, : trims stay at 4k, fio's preset. */
	CHECK_EQ(TRANSLATE(&t, "@[j]\nioengine=null\nsize=64m\nrw=trim\nbs=16k\nbs=4k,8k,\n"), 0);
	CHECK_EQ(work(&t, 0)->block_bytes, 4096);
	fio_translation_done(&t);
	CHECK_EQ(TRANSLATE(&t, "@[j]\nioengine=null\nsize=64m\nbsrange=1k-64k\n"), 0);
	CHECK_EQ(work(&t, 0)->size_mix.count, WORKLOAD_SIZES);
	CHECK_EQ(work(&t, 0)->size_mix.sizes[WORKLOAD_SIZES - 1].bytes, 65536);
	CHECK(has_note(&t, "bsrange: 16 sizes, evenly over the range"));
	fio_translation_done(&t);
}

static void rates_are_each_directions(void)
{
	struct fio_translation t;

	CHECK_EQ(TRANSLATE(&t, "@[j]\nioengine=null\nsize=1m\nrw=randrw\nrate_iops=100,10\n"
			       "rate_process=poisson\n"),
		 0);
	CHECK_EQ(work(&t, 0)->rate_iops, 110);
	CHECK_EQ(work(&t, 0)->read_ppm, 909091); /* 100 of 110 */
	CHECK_EQ(work(&t, 0)->arrival, ARRIVAL_POISSON);
	CHECK(has_note(&t, "rate_iops: the rates of both directions make the mix: 90.91 % reads"));
	fio_translation_done(&t);
	CHECK_EQ(TRANSLATE(&t, "@[j]\nioengine=null\nsize=1m\nrate=1m\n"), 0);
	CHECK_EQ(work(&t, 0)->rate_iops, 256);
	CHECK_EQ(work(&t, 0)->rate_period_ns, 0);
	fio_translation_done(&t);
	CHECK_EQ(TRANSLATE(&t, "@[j]\nioengine=null\nsize=1m\nrate=1250\n"), 0);
	CHECK_EQ(work(&t, 0)->rate_iops, 1);
	CHECK_EQ(work(&t, 0)->rate_period_ns, 3276800000);
	fio_translation_done(&t);
	refused("rw=randrw\nrate_iops=,50",
		"rate_iops: a limit on one direction of a mix is not supported");
}

static void engines_are_taken_for_what_they_are(void)
{
	static const struct {
		const char *name;
		enum workload_engine engine;
		uint32_t depth_count;
	} cases[] = {
		{ "psync", ENGINE_SYNC, 1 },	{ "pvsync2", ENGINE_SYNC, 1 },
		{ "libaio", ENGINE_LIBAIO, 8 }, { "io_uring", ENGINE_IO_URING, 8 },
		{ "posixaio", ENGINE_AUTO, 8 }, { "mmap", ENGINE_MMAP, 1 },
	};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct text file = TEXT_INIT;
		struct fio_translation t;

		text_add(&file, "@[j]\nsize=1m\niodepth=8\nioengine=%s\n", cases[i].name);
		CHECK_EQ(TRANSLATE(&t, text_string(&file)), 0);
		CHECK_EQ(work(&t, 0)->engine, cases[i].engine);
		CHECK_EQ(work(&t, 0)->depth_count, cases[i].depth_count);
		CHECK(!work(&t, 0)->direct && work(&t, 0)->invalidate);
		fio_translation_done(&t);
		text_done(&file);
	}
	refused("ioengine=rbd", "ioengine: 'rbd' is no local block engine of tare's");
	refused("ioengine=libiao", "ioengine: no engine 'libiao'; did you mean 'libaio'?");
	refused("pool=x", "pool: an option of ioengine rbd, rados and dfs");
}

static void options_without_effect_are_noted_once(void)
{
	struct fio_translation t;

	CHECK_EQ(TRANSLATE(&t, "@[global]\nioengine=null\nsize=1m\n[a]\nthread\n[b]\nthread\n"), 0);
	CHECK_EQ(t.labels.note_count, 1);
	CHECK(has_note(&t, ":5:1: thread: no effect: tare's workers are threads of one process"));
	fio_translation_done(&t);
	refused("exec_prerun=rm -rf /", "exec_prerun: not supported: it runs shell commands");
	refused("ioscheduler=none", "ioscheduler: not supported: set it before");
	/* What asks for nothing is nothing to refuse. */
	CHECK_EQ(TRANSLATE(&t, "--name=a", "--ioengine=null", "--size=1m", "--atomic=0"), 0);
	fio_translation_done(&t);
}

static void every_mistake_is_told_with_its_place(void)
{
	struct fio_translation t;

	CHECK_EQ(
		TRANSLATE(&t,
			  "@[a]\nioengin=null\niodepth=0\n  rw = radnread\nthread=2x\ndirect=true\n"
			  "bs=1.5m\n"),
		-EINVAL);
	CHECK(has_problem(&t, ":2:1: no option 'ioengin'; did you mean 'ioengine'?"));
	CHECK(has_problem(&t, ":3:9: iodepth: 0 is not from 1 to 65536"));
	CHECK(has_problem(&t, ":4:8: rw: 'radnread' is not one of read, write"));
	CHECK(has_problem(&t, ":6:8: direct: 'true' is neither 0 nor 1"));
	CHECK(has_problem(&t, ":7:4: bs: '1.5m': fio reads no decimals"));
	CHECK(has_note(&t, ":4:3: rw= radnread: the blank after = is dropped"));
	fio_translation_done(&t);
	CHECK_EQ(TRANSLATE(&t, "@bs=4k\n[a\n[b] c\n[d]\n"), -EINVAL);
	CHECK(has_problem(&t, ":1:1: bs: an option before the first [section]"));
	CHECK(has_problem(&t, ":2:1: a section is written [name]"));
	CHECK(has_problem(&t, ":3:1: text after ']': c"));
	fio_translation_done(&t);
}

static void the_grammar_is_fios(void)
{
	struct fio_translation t;

	/* A byte-order mark, CRLF, comments behind values, blanks in names, no newline at the end.
	 */
	CHECK_EQ(TRANSLATE(&t, "@\xef\xbb\xbf[globalish]\r\nioengine=null ; engine\r\nsize=1m\r\n"
			       "\t# whole\r\n[ a b ]\r\nrw=randread # order\r\n[a]\r\nstonewall"),
		 0);
	CHECK_EQ(t.plan.phase_count, 2);
	CHECK_STR(t.labels.jobs[0].name, " a b ");
	CHECK_EQ(work(&t, 0)->rw, RW_RANDREAD);
	CHECK(!t.plan.phases[1].together);
	fio_translation_done(&t);
}

static void included_files_are_fragments(void)
{
	struct fio_translation t;

	CHECK_EQ(TRANSLATE(&t, "@[a]\nioengine=io_uring\nsize=1m\ninclude nested.inc\n"), 0);
	CHECK_EQ(work(&t, 0)->block_bytes, 16384);
	CHECK_EQ(work(&t, 0)->depth_count, 8);
	CHECK(work(&t, 0)->direct);
	fio_translation_done(&t);
	refused("include=loop.inc", "loop.inc:1:1: include: loop.inc includes itself");
	refused("include section.inc", "section.inc:1:1: a section in an included file");
	refused("include gone.inc", ":4:1: include: gone.inc: no such job file");
}

static void keywords_are_numbers_to_reckon_with(void)
{
	struct fio_translation t;

	CHECK_EQ(
		TRANSLATE(&t,
			  "@[a]\nioengine=null\nsize=8*$pagesize\nnumjobs=$ncpus\niodepth=(2*3)\n"),
		0);
	CHECK_EQ(t.plan.phase_count, 4);
	CHECK_EQ(work(&t, 0)->io_size_bytes, 32768);
	CHECK_EQ(work(&t, 0)->depth_count, 6);
	fio_translation_done(&t);
}

static void sections_can_be_chosen(void)
{
	static const char file[] = "@[global]\nioengine=null\nsize=1m\n[a]\n[b]\nrw=write\n";
	struct fio_translation t;

	CHECK_EQ(TRANSLATE(&t, file, "--section=b"), 0);
	CHECK_EQ(t.plan.phase_count, 1);
	CHECK_STR(t.labels.jobs[0].name, "b");
	fio_translation_done(&t);
	CHECK_EQ(TRANSLATE(&t, file, "--section=c"), -EINVAL);
	CHECK(has_problem(&t, "--section=c: no section of that name"));
	fio_translation_done(&t);
}

static void the_command_line_is_fios(void)
{
	struct fio_translation t;

	/* As copied from blogs: one dash, values behind blanks, flags bare. */
	CHECK_EQ(TRANSLATE(&t, "-filename=/dev/sdb", "-direct=1", "-iodepth", "4", "-thread",
			   "-rw=randread", "-ioengine=libaio", "-bs=16k", "-size=2G", "-numjobs=3",
			   "-runtime=10", "-group_reporting", "-name=mytest",
			   "--output-format=json,terse", "--minimal", "--terse-version=5"),
		 0);
	CHECK_EQ(t.plan.phase_count, 3);
	CHECK_EQ(work(&t, 0)->depth_count, 4);
	CHECK_EQ(work(&t, 0)->block_bytes, 16384);
	CHECK_EQ(work(&t, 0)->size.bytes, 2 * GIB);
	CHECK_STR(t.plan.targets[0].spec, "/dev/sdb");
	CHECK(t.labels.jobs[2].group_reporting);
	CHECK_EQ(t.labels.outputs, FIO_JSON | FIO_TERSE);
	CHECK_EQ(t.labels.terse_version, 5);
	CHECK_STR(fio_options_get(&t.labels.global, "bs"), "16k");
	fio_translation_done(&t);
	CHECK_EQ(TRANSLATE(&t, "--name=a", "--size=1m", "--rww=read", "--output-format=xml",
			   "--client=h"),
		 -EINVAL);
	CHECK(has_problem(&t, "--rww=read: no such option; did you mean --rw?"));
	CHECK(has_problem(&t, "--output-format: 'xml' is not one of normal, json, json+, terse"));
	CHECK(has_problem(&t, "--client is not supported"));
	fio_translation_done(&t);
	CHECK_EQ(TRANSLATE(&t, "--bs=4k"), -EINVAL);
	CHECK(has_problem(&t, "no job: give a job file, or --name=JOB with its options"));
	fio_translation_done(&t);
	CHECK_EQ(TRANSLATE(&t, "--readonly", "--name=a", "--ioengine=null", "--size=1m",
			   "--rw=write"),
		 -EINVAL);
	CHECK(has_problem(&t, "rw: writes, and --readonly is given"));
	fio_translation_done(&t);
}

static void commands_can_be_shown(void)
{
	struct fio_translation t;

	CHECK_EQ(TRANSLATE(&t, "--showcmd",
			   "@[global]\nioengine=null\nsize=1m\n[a]\nstonewall\nrw=randread\n"),
		 0);
	CHECK_EQ(t.action, FIO_SHOWCMD);
	CHECK_STR(
		text_string(&t.commands),
		"fio --name=global --ioengine=null --size=1m --name=a --stonewall --rw=randread\n");
	fio_translation_done(&t);
}

static void data_is_what_the_file_asks(void)
{
	struct fio_translation t;

	CHECK_EQ(TRANSLATE(&t, "@[global]\nioengine=null\nsize=1m\nrw=write\nbs=8k\n[a]\nzero_"
			       "buffers\n[b]\n"
			       "buffer_pattern=0xabc\n[c]\nbuffer_pattern=\"text\"\n[d]\nbuffer_"
			       "pattern=170\n"
			       "[e]\nbuffer_compress_percentage=50\ndedupe_percentage=10\n"),
		 0);
	CHECK_EQ(work(&t, 0)->data, DATA_ZERO);
	CHECK_STR(work(&t, 1)->pattern, "0x0abc");
	CHECK_STR(work(&t, 2)->pattern, "text");
	CHECK_STR(work(&t, 3)->pattern, "0xaa");
	CHECK_EQ(work(&t, 4)->compress_ppm, 500000);
	CHECK_EQ(work(&t, 4)->dedupe_ppm, 100000);
	CHECK(has_note(&t, "each block written is new and cannot be compressed"));
	fio_translation_done(&t);
	refused("rw=write\nbuffer_pattern='file'",
		"buffer_pattern: a pattern from a file is not supported");
}

static void reads_are_checked_against_what_the_run_wrote(void)
{
	struct fio_translation t;

	CHECK_EQ(TRANSLATE(&t, "@[global]\nfilename=/mnt/"
			       "v\nsize=1m\nverify=md5\n[w]\nrw=write\n[r]\nstonewall\n"
			       "rw=read\n"),
		 0);
	CHECK(work(&t, 0)->verify && work(&t, 1)->verify);
	CHECK_EQ(work(&t, 0)->seed, work(&t, 1)->seed);
	CHECK(has_note(&t, "verify: md5: checked by tare's own header in each block"));
	fio_translation_done(&t);
	CHECK_EQ(TRANSLATE(&t, "--name=r", "--filename=/mnt/1m", "--verify=crc32c"), -EINVAL);
	CHECK(has_problem(&t, "verify: nothing in this run wrote what would be checked"));
	fio_translation_done(&t);
}

static void seeds_repeat_unless_told_not_to(void)
{
	struct fio_translation a, b;

	CHECK_EQ(TRANSLATE(&a, "--name=a", "--ioengine=null", "--size=1m", "--rw=randread",
			   "--numjobs=2"),
		 0);
	CHECK_EQ(TRANSLATE(&b, "--name=a", "--ioengine=null", "--size=1m", "--rw=randread",
			   "--randrepeat=0"),
		 0);
	CHECK(work(&a, 0)->seed && work(&a, 0)->seed != work(&a, 1)->seed);
	CHECK_EQ(work(&b, 0)->seed, 0);
	fio_translation_done(&a);
	fio_translation_done(&b);
}

static void workers_are_pinned_as_asked(void)
{
	struct fio_translation t;

	CHECK_EQ(TRANSLATE(&t, "@[global]\nioengine=null\nsize=1m\n[a]\ncpus_allowed=0-1,3\n[b]"
			       "\nnumjobs=3\n"
			       "cpus_allowed=0,2\ncpus_allowed_policy=split\n[c]\ncpumask=10\n[d]\n"
			       "numa_cpu_nodes=0-1\n"),
		 0);
	CHECK_STR(work(&t, 0)->cpus, "0-1,3");
	CHECK_STR(work(&t, 1)->cpus, "0");
	CHECK_STR(work(&t, 2)->cpus, "2");
	CHECK_STR(work(&t, 3)->cpus, "0");
	CHECK_STR(work(&t, 4)->cpus, "1,3");
	CHECK_STR(work(&t, 5)->cpus, "0-1,2-3");
	fio_translation_done(&t);
}

static void zones_and_flows_are_kept(void)
{
	struct fio_translation t;

	CHECK_EQ(TRANSLATE(&t,
			   "@[z]\nfilename=/dev/sdb\nzonemode=strided\nzonesize=256m\nzoneskip=2g\n"
			   "flow=2\nflow_id=7\n"),
		 0);
	CHECK_EQ(work(&t, 0)->piece_bytes, 256 * MIB);
	CHECK_EQ(work(&t, 0)->piece_gap_bytes, 2 * GIB);
	CHECK_EQ(work(&t, 0)->flow_weight, 2);
	CHECK_EQ(work(&t, 0)->flow_id, 7);
	fio_translation_done(&t);
	/* All of it is in the first zone. */
	CHECK_EQ(TRANSLATE(&t, "@[z]\nfilename=/dev/sdb\nsize=4m\nzonemode=strided\nzonesize=256m\n"
			       "zoneskip=2g\n"),
		 0);
	CHECK_EQ(work(&t, 0)->piece_bytes, 0);
	CHECK_EQ(work(&t, 0)->piece_gap_bytes, 0);
	fio_translation_done(&t);
	CHECK_EQ(
		TRANSLATE(
			&t,
			"@[z]\nfilename=/dev/sdb\nzonemode=zbd\nzonesize=1m\nsize=8z\noffset=2z\n"),
		0);
	CHECK_EQ(work(&t, 0)->offset.bytes, 2 * MIB);
	CHECK_EQ(work(&t, 0)->size.bytes, 8 * MIB);
	fio_translation_done(&t);
	CHECK_EQ(TRANSLATE(&t, "--name=z", "--filename=/dev/sdz", "--zonemode=zbd"), -EINVAL);
	CHECK(has_problem(&t, "/dev/sdz has zones that must be written in order"));
	fio_translation_done(&t);
}

static void limits_are_kept(void)
{
	struct fio_translation t;

	CHECK_EQ(TRANSLATE(&t, "@[j]\nioengine=null\nsize=1m\nrw=randrw\nnumber_ios=5\nloops=3\n"
			       "max_latency=10ms,5ms\nthinktime=2ms\nthinktime_spin=500\nthinktime_"
			       "blocks=4\n"),
		 0);
	CHECK_EQ(work(&t, 0)->io_count, 15);
	CHECK_EQ(work(&t, 0)->latency_ns_max, 5 * MILLISECOND_NS);
	CHECK_EQ(work(&t, 0)->think_ns, 2 * MILLISECOND_NS);
	CHECK_EQ(work(&t, 0)->think_spin_ns, 500 * MICROSECOND_NS);
	CHECK_EQ(work(&t, 0)->think_count, 4);
	fio_translation_done(&t);
	CHECK_EQ(TRANSLATE(&t, "@[l]\nioengine=libaio\niodepth=32\nsize=1m\nlatency_target=500000\n"
			       "latency_window=2s\nlatency_percentile=99.9\nlatency_run=1\n"),
		 0);
	CHECK_EQ(work(&t, 0)->latency_target_ns, SECOND_NS / 2);
	CHECK_EQ(work(&t, 0)->latency_window_ns, 2 * SECOND_NS);
	CHECK_EQ(work(&t, 0)->latency_ppm, 999000);
	CHECK(work(&t, 0)->latency_run);
	fio_translation_done(&t);
	/* A pair has one size, and both of it count the size. */
	CHECK_EQ(
		TRANSLATE(&t, "@[t]\nioengine=null\nrw=trimwrite\nbssplit=4k/60:64k/40\nsize=1m\n"),
		0);
	CHECK_EQ(work(&t, 0)->rw, RW_TRIMWRITE);
	CHECK_EQ(work(&t, 0)->size_mix.count, 2);
	CHECK_EQ(work(&t, 0)->write_mix.count, 0);
	CHECK_EQ(work(&t, 0)->io_size_bytes, MIB);
	fio_translation_done(&t);
	/* Written now, checked by a later job. */
	CHECK_EQ(TRANSLATE(&t, "@[global]\nfilename=/mnt/"
			       "v\nsize=1m\nverify=meta\n[w]\nrw=write\ndo_verify=0\n"
			       "[r]\nstonewall\nrw=read\n"),
		 0);
	CHECK(work(&t, 0)->verify && !work(&t, 0)->verify_back && work(&t, 1)->verify);
	fio_translation_done(&t);
}

static void labels_carry_what_the_report_needs(void)
{
	struct fio_translation t;

	CHECK_EQ(TRANSLATE(
			 &t,
			 "@[j]\nioengine=null\nsize=1m\ndescription=some words\nwrite_bw_log\n"
			 "write_lat_log=p\nlog_avg_msec=500\npercentile_list=99:50.5\nss=iops:10%\nss_dur=4\n"
			 "ss_ramp=2\n"
			 "unified_rw_reporting=mixed\ndisable_slat=1\nlat_percentiles=1\n"),
		 0);
	const struct fio_job *job = &t.labels.jobs[0];

	CHECK_STR(job->description, "some words");
	CHECK_STR(job->write_bw_log, "j");
	CHECK_STR(job->write_lat_log, "p");
	CHECK_EQ(job->log_avg_ms, 500);
	CHECK_EQ(job->percentile_count, 2);
	CHECK_NEAR(job->percentiles[0], 50.5, 1e-9);
	CHECK_STR(job->steadystate_text, "iops:10.000000%");
	CHECK_STR(work(&t, 0)->steadystate, "iops:10%");
	CHECK_EQ(work(&t, 0)->steady_window_ns, 4 * SECOND_NS);
	CHECK_EQ(work(&t, 0)->steady_ramp_ns, 2 * SECOND_NS);
	CHECK_EQ(job->unified, 1);
	CHECK(!job->slat && job->clat && job->lat_percentiles);
	CHECK_STR(fio_options_get(&job->options, "steadystate"), "iops:10%");
	CHECK_EQ(t.labels.outputs, FIO_NORMAL);
	fio_translation_done(&t);
}

static void another_target_can_be_named(void)
{
	const struct fio_map maps[] = { { "/dev/nvme0n1", "/dev/sdb" },
					{ "/dev/nvme1n1", "null:size=1g" } };
	const char *const words[] = { "--name=a", "--filename=/dev/nvme0n1", "--name=b",
				      "--filename=/dev/nvme1n1" };
	const struct fio_request request = { .words = words,
					     .word_count = 4,
					     .world = &fixture_world,
					     .maps = maps,
					     .map_count = 2 };
	struct fio_translation t;

	CHECK_EQ(fio_translate(&request, &t), 0);
	CHECK_STR(t.plan.targets[0].spec, "/dev/sdb");
	CHECK_EQ(work(&t, 0)->io_size_bytes, 10 * GIB);
	CHECK_STR(t.plan.targets[1].spec, "null:size=1g");
	fio_translation_done(&t);
}

static void files_are_written_before_unless_exact(void)
{
	const char *const words[] = { "--name=a", "--rw=write", "--size=1m" };
	struct fio_request request = { .words = words, .word_count = 3, .world = &fixture_world };
	struct fio_translation t;

	CHECK_EQ(fio_translate(&request, &t), 0);
	CHECK(!t.plan.targets[0].unwritten);
	CHECK(has_note(&t, "files are written in full before a job writes to them"));
	fio_translation_done(&t);
	request.exact = true;
	CHECK_EQ(fio_translate(&request, &t), 0);
	CHECK(t.plan.targets[0].unwritten);
	fio_translation_done(&t);
}

static void too_much_is_refused(void)
{
	struct text big = TEXT_INIT;
	struct fio_translation t;

	text_add(&big, "@");
	while (big.length <= FIO_FILE_BYTES_MAX + 1)
		text_add(&big,
			 "# a comment, and a long one at that, to fill a line of the file with\n");
	CHECK_EQ(TRANSLATE(&t, text_string(&big)), -EINVAL);
	CHECK(has_problem(&t, "too big"));
	fio_translation_done(&t);
	text_done(&big);
	refused("numjobs=4096\n[k]\nnumjobs=2", "4098 jobs with all their clones; at most 4096");
}

TESTS(TEST(jobs_run_together_until_a_stonewall), TEST(each_job_file_waits_for_the_one_before),
      TEST(waiting_for_a_job_is_waiting_for_its_group), TEST(an_exit_of_one_may_end_all),
      TEST(files_are_shared_by_name), TEST(a_made_up_name_leaves_what_is_there),
      TEST(names_may_hold_colons), TEST(several_files_are_equal_and_taken_in_turn),
      TEST(sizes_and_files_are_fios), TEST(time_ends_a_job_or_is_its_length),
      TEST(addresses_are_fios), TEST(sizes_of_requests_are_fios), TEST(rates_are_each_directions),
      TEST(engines_are_taken_for_what_they_are), TEST(options_without_effect_are_noted_once),
      TEST(every_mistake_is_told_with_its_place), TEST(the_grammar_is_fios),
      TEST(included_files_are_fragments), TEST(keywords_are_numbers_to_reckon_with),
      TEST(sections_can_be_chosen), TEST(the_command_line_is_fios), TEST(commands_can_be_shown),
      TEST(data_is_what_the_file_asks), TEST(reads_are_checked_against_what_the_run_wrote),
      TEST(seeds_repeat_unless_told_not_to), TEST(workers_are_pinned_as_asked),
      TEST(zones_and_flows_are_kept), TEST(limits_are_kept),
      TEST(labels_carry_what_the_report_needs), TEST(another_target_can_be_named),
      TEST(files_are_written_before_unless_exact), TEST(too_much_is_refused))
