/* SPDX-License-Identifier: MIT */
#include "foreign/iometer.h"

#include <errno.h>
#include <string.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/units.h"

static struct icf icf, again;
static struct plan plan;
static struct iometer_labels labels;
static struct err err;

static int parse(const char *text)
{
	memset(&err, 0, sizeof(err));
	return icf_parse(&icf, "test.icf", text, strlen(text), &err);
}

/* Devices sdb and sdc, a directory /mnt/x. */
static int look(void *ctx, const char *path, bool *ret_is_directory, uint64_t *ret_size_bytes)
{
	(void)ctx;
	*ret_is_directory = strncmp(path, "/mnt/", 5) == 0;
	*ret_size_bytes = *ret_is_directory ? 0 : GIB;
	return *ret_is_directory || strcmp(path, "/dev/sdb") == 0 || strcmp(path, "/dev/sdc") == 0 ?
		       0 :
		       -ENOENT;
}

static int translate(struct iometer_options options)
{
	options.file = "test.icf";
	options.look = look;
	memset(&err, 0, sizeof(err));
	return iometer_plan(&icf, &options, &plan, &labels, &err);
}

static void done(void)
{
	plan_done(&plan);
	iometer_labels_done(&labels);
	icf_done(&icf);
}

#define SETUP                                                                                      \
	"Version 1.1.0\n"                                                                          \
	"'TEST SETUP ====\n"                                                                       \
	"'Test Description\n\t\n"                                                                  \
	"'Run Time\n'\thours      minutes    seconds\n\t0 1 30\n"                                  \
	"'Ramp Up Time (s)\n\t5\n"
#define SPECS                                                                                      \
	"'END test setup\n"                                                                        \
	"'ACCESS SPECIFICATIONS ====\n"                                                            \
	"'Access specification name,default assignment\n\tMail; mixed,NONE\n"                      \
	"'size,% of size,% reads,% random,delay,burst,align,reply\n"                               \
	"\t4096,70,60,100,0,1,4096,0\n\t65536,30,90,20,5,4,0,512\n"                                \
	"'Access specification name,default assignment\n\tRead,ALL\n"                              \
	"'size,% of size,% reads,% random,delay,burst,align,reply\n"                               \
	"\t4096,100,100,0,0,1,0,0\n"                                                               \
	"'END access specifications\n'MANAGER LIST ====\n"                                         \
	"'Manager ID, manager name\n\t1,BOX, old\n'Manager network address\n\n"
#define WORKER(name, settings, specs, targets)                                                     \
	"'Worker\n\t" name "\n'Worker type\n\tDISK\n"                                              \
	"'Default target settings for worker\n'Number of outstanding IOs,test connection "         \
	"rate,transactions per connection\n\t" settings "\n"                                       \
	"'End default target settings for worker\n'Assigned access specs\n" specs                  \
	"'End assigned access specs\n'Target assignments\n" targets                                \
	"'End target assignments\n'End worker\n"
#define TARGET(name) "'Target\n\t" name "\n'Target type\n\tDISK\n'End target\n"
#define END "'End manager\n'END manager list\nVersion 1.1.0\n"

#define TWO_WORKERS                                                                                \
	WORKER("Same", "8,DISABLED,1", "\tMail; mixed\n\tRead\n", TARGET("sdb") TARGET("/mnt/x [ext4]")) \
	WORKER("Same", "2,DISABLED,1", "\tIdle\n\tRead\n", TARGET("sdc")) END

static void a_file_is_read_and_written_back(void)
{
	struct text first = TEXT_INIT, second = TEXT_INIT;
	const struct icf_worker *worker;

	CHECK_EQ(parse(SETUP "'Test Type\n\tCYCLE_TARGETS\n" SPECS TWO_WORKERS), 0);
	CHECK_EQ(icf.run_s, 90);
	CHECK_EQ(icf.ramp_s, 5);
	CHECK_EQ(icf.test, ICF_CYCLE_TARGETS);
	CHECK_STR(icf.description, "");
	CHECK_EQ(icf.spec_count, 2);
	CHECK_EQ(icf.specs[0].lines.count, 2);
	CHECK_EQ(icf.specs[0].lines.lines[1].reply_bytes, 512);
	CHECK_EQ(icf.specs[0].lines.lines[1].delay_us, 5000);
	CHECK_EQ(icf.specs[1].assignment, ICF_ASSIGN_ALL);
	CHECK_STR(icf.managers[0].name, "BOX, old");
	CHECK_EQ(icf.managers[0].worker_count, 2);
	worker = &icf.managers[0].workers[0];
	CHECK_EQ(worker->outstanding_count, 8);
	CHECK_EQ(worker->target_count, 2);
	CHECK_STR(worker->targets[1].text, "/mnt/x [ext4]");
	icf_print(&icf, &first);
	CHECK_EQ(icf_parse(&again, "again", text_string(&first), first.length, &err), 0);
	icf_print(&again, &second);
	CHECK_STR(text_string(&first), text_string(&second));
	CHECK_EQ(again.managers[0].workers[1].spec_count, 2);
	icf_done(&again);
	icf_done(&icf);
	text_done(&first);
	text_done(&second);
}

/* What people have written by hand, and what old versions wrote. */
static void files_of_every_age_are_read(void)
{
	CHECK_EQ(parse("'TEST SETUP ====\n'Run Time\n' hours minutes seconds\n\t0 1 0\n'END test setup\n"
		       "'ACCESS SPECIFICATIONS ====\n'Access specification name,default assignment\n"
		       "\t4k; 100% Read; 0% Random, NONE\n'size,% of size\n\t4096,100,100,0,0,1,4096,0\n"
		       "'END access specifications\n"), 0);
	CHECK_STR(icf.specs[0].name, "4k; 100% Read; 0% Random");
	CHECK(strstr(icf.warnings[0], "no version line") != NULL);
	icf_done(&icf);

	CHECK_EQ(parse("Version 2008.06.18\n'ACCESS SPECIFICATIONS ====\n"
		       "'Access specification name,default assignment\n\tWebserver pattern (unknown),NONE\n"
		       "'size,% of size,% reads,% random,delay,burst,align,reply\n"
		       "\t512,22,100,100,0,1,0,0\n\t66560,78,100,100,0,1,0,0\n"), 0);
	CHECK_EQ(icf.specs[0].lines.lines[1].bytes, 66560);
	CHECK(strstr(icf.warnings[0], "65536") != NULL);
	CHECK(!icf.has_managers);
	icf_done(&icf);

	CHECK_EQ(parse("Version 3.26.97\n'ACCESS SPECIFICATIONS ====\n"
		       "'size, % of size, % reads, % random, delay, burst\n"
		       "2048 100 67 100 0 1\n512 50 0 0 0 1\n4096 50 0 0 0 1\n"), 0);
	CHECK_EQ(icf.spec_count, 2);
	CHECK_STR(icf.specs[0].name, "2 KiB random 67% reads");
	CHECK_EQ(icf.specs[0].lines.lines[0].align_bytes, 2048);
	CHECK_STR(icf.specs[1].name, "Untitled 1");
	icf_done(&icf);

	/* No end of the setup, numbers in place of words. */
	CHECK_EQ(parse("Version 1998.10.08\n'TEST SETUP ====\n'Run Time\n\t0 0 3\n'Test Type\n\t6\n"
		       "'RESULTS DISPLAY ====\n'Bar chart 1 statistic\n\tx\n'END results display\n"), 0);
	CHECK_EQ(icf.test, ICF_CYCLE_OUTSTANDING_IOS);
	icf_done(&icf);
}

static void what_is_wrong_is_named_with_its_line(void)
{
	static const struct {
		const char *text, *words;
	} cases[] = {
		{ "hello\n", "test.icf:1: 'hello' begins no section" },
		{ "Version 1.1.0\n", "has none of its sections" },
		{ "'TEST SETUP\n'Run Time\n\t0 0\n", "test.icf:3: 2 numbers where 3 are expected" },
		{ "'TEST SETUP\n'Wrong key\n\t0\n", "test.icf:2: 'Wrong key: no such key" },
		{ "'TEST SETUP\n'Test Type\n\tFAST\n", "'FAST' is none of NORMAL to" },
		{ "'ACCESS SPECIFICATIONS\n'Access specification name\n\tA,NONE\n'size\n4096,90,0,0,0,1,0,0\n",
		  "the percentages of 'A' (line 3) add to 90, not to 100" },
		{ "'ACCESS SPECIFICATIONS\n'Access specification name\n\tA,NONE\n'size\n4096,100,0,0,0,1\n",
		  "test.icf:5: 6 numbers in a row; there are 8" },
		{ "'ACCESS SPECIFICATIONS\n'Access specification name\n\tA,NONE\n'size\n4096,100,0,x,0,1,0,0\n",
		  "'x' is no number" },
		{ "'ACCESS SPECIFICATIONS\n'Access specification name\n\tA\n", "'NAME,NONE|ALL|DISK|NET'" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CHECK_EQ(parse(cases[i].text), -EINVAL);
		if (!strstr(err.text, cases[i].words))
			printf("# %s\n", err.text);
		CHECK(strstr(err.text, cases[i].words) != NULL);
	}
}

/* By hand from the rules of cycling. */
static void cycles_go_as_iometer_goes(void)
{
	static const struct {
		struct icf_cycle cycle;
		uint32_t limit;		/* 0 = depths */
		const char *want;
	} cases[] = {
		{ { .start = 1, .step = 2, .exponential = true }, 3, "1 2 3" },
		{ { .start = 1, .step = 1, .exponential = true }, 3, "1 2 3" },
		{ { .start = 1, .step = 3 }, 8, "1 4 7 8" },
		{ { .start = 5, .step = 1 }, 3, "3" },
		{ { .start = 1, .end = 20, .step = 2, .exponential = true }, 0, "1 2 4 8 16" },
		{ { .start = 4, .end = 10, .step = 3 }, 0, "4 7 10" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct text got = TEXT_INIT;
		uint32_t values[16];
		const size_t count = cases[i].limit ?
			iometer_sequence(&cases[i].cycle, cases[i].limit, values, 16) :
			iometer_depths(&cases[i].cycle, values, 16);

		for (size_t k = 0; k < count; k++)
			text_add(&got, "%s%u", k ? " " : "", values[k]);
		CHECK_STR(text_string(&got), cases[i].want);
		text_done(&got);
	}
}

/* "test:worker/target" of each phase, in order. */
static void check_cells(const char *want)
{
	struct text got = TEXT_INIT;

	for (size_t i = 0; i < labels.cell_count; i++)
		text_add(&got, "%s%u:%u/%.5s*%u", i ? " " : "", labels.cells[i].test_index,
			 labels.cells[i].worker_index, labels.cells[i].target,
			 labels.cells[i].depth_count);
	CHECK_STR(text_string(&got), want);
	text_done(&got);
}

static void tests_are_groups_of_workers_and_targets(void)
{
	CHECK_EQ(parse(SETUP SPECS TWO_WORKERS), 0);
	CHECK_EQ(translate((struct iometer_options){ 0 }), 0);
	/* First position: the second worker is idle. */
	check_cells("0:0/sdb*8 0:0//mnt/*8 1:0/sdb*8 1:0//mnt/*8 1:1/sdc*2");
	done();
}

static void the_cycle_decides_who_takes_part(void)
{
	static const struct {
		const char *setup, *want;
	} cases[] = {
		{ "'Test Type\n\tCYCLE_TARGETS\n",
		  "0:0/sdb*8 1:0/sdb*8 1:0//mnt/*8 2:0/sdb*8 2:1/sdc*2 3:0/sdb*8 3:0//mnt/*8 3:1/sdc*2" },
		{ "'Test Type\n\tCYCLE_WORKERS\n",
		  "0:0/sdb*8 0:0//mnt/*8 1:0/sdb*8 1:0//mnt/*8 2:0/sdb*8 2:0//mnt/*8 "
		  "3:0/sdb*8 3:0//mnt/*8 3:1/sdc*2" },
		{ "'Test Type\n\tINCREMENT_TARGETS_PARALLEL\n",
		  "0:0/sdb*8 1:0/sdb*8 1:0//mnt/*8 2:0/sdb*8 2:0//mnt/*8 3:0/sdb*8 4:0/sdb*8 4:0//mnt/*8 "
		  "5:0/sdb*8 5:0//mnt/*8 5:1/sdc*2" },
		{ "'Test Type\n\tCYCLE_OUTSTANDING_IOS\n'Queue Depth Cycling\n\t1 3 2 EXPONENTIAL\n",
		  "0:0/sdb*1 0:0//mnt/*1 1:0/sdb*2 1:0//mnt/*2 2:0/sdb*1 2:0//mnt/*1 2:1/sdc*1 "
		  "3:0/sdb*2 3:0//mnt/*2 3:1/sdc*2" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct text text = TEXT_INIT;

		text_add(&text, "%s%s%s", SETUP, cases[i].setup, SPECS TWO_WORKERS);
		CHECK_EQ(parse(text_string(&text)), 0);
		CHECK_EQ(translate((struct iometer_options){ 0 }), 0);
		check_cells(cases[i].want);
		done();
		text_done(&text);
	}
}

static void a_phase_is_as_the_file_says(void)
{
	const struct workload *w;

	CHECK_EQ(parse(SETUP SPECS TWO_WORKERS), 0);
	CHECK_EQ(translate((struct iometer_options){ 0 }), 0);
	w = &plan.phases[0].workload;
	CHECK_EQ(w->runtime_ns, 90 * SECOND_NS);
	CHECK_EQ(w->ramp_ns, 5 * SECOND_NS);
	CHECK_EQ(w->depth_count, 8);
	CHECK_EQ(w->lines.count, 2);
	CHECK(w->direct);
	CHECK(workload_writes(w));
	CHECK(!plan.phases[0].together && plan.phases[1].together && !plan.phases[2].together);
	CHECK_STR(plan.targets[0].spec, "/dev/sdb");
	CHECK_STR(plan.targets[1].spec, "/mnt/x");
	CHECK_EQ(plan.phases[4].target_index, 2);
	CHECK(!workload_writes(&plan.phases[4].workload));
	CHECK(workload_check(w, &err) == 0);
	done();
}

/* Sectors are of 512 bytes; 0 on a file system is no leave to fill it. */
static void sizes_are_in_sectors(void)
{
	static const char with_size[] =
		SETUP SPECS "'Worker\n\tW\n'Worker type\n\tDISK\n'Default target settings for worker\n"
		"'Number of outstanding IOs,test connection rate,transactions per connection,use fixed "
		"seed,fixed seed value\n\t8,ENABLED,5,ENABLED,12345\n"
		"'Disk maximum size,starting sector,Data pattern\n\t4294967296,64,2\n"
		"'End default target settings for worker\n'Assigned access specs\n\tRead\n"
		"'End assigned access specs\n'Target assignments\n" TARGET("/mnt/x") 
		"'End target assignments\n'End worker\n" END;
	bool told = false;

	CHECK_EQ(parse(with_size), 0);
	CHECK_EQ(translate((struct iometer_options){ 0 }), 0);
	CHECK_EQ(plan.phases[0].workload.offset.bytes, 64 * 512);
	CHECK_EQ(plan.phases[0].workload.size.bytes, 4294967296ull * 512);
	CHECK_EQ(plan.targets[0].size_bytes, (4294967296ull + 64) * 512);
	CHECK_EQ(plan.phases[0].workload.seed, 12345);
	done();

	CHECK_EQ(parse(SETUP SPECS TWO_WORKERS), 0);
	CHECK_EQ(translate((struct iometer_options){ 0 }), 0);
	for (size_t i = 0; i < labels.note_count; i++)
		told |= strstr(labels.notes[i], "IOMeter would fill the disk") != NULL;
	CHECK(told);
	CHECK_EQ(plan.targets[1].size_bytes, 0);
	done();
}

static void alignment_0_is_the_page_unless_exact(void)
{
	CHECK_EQ(parse(SETUP SPECS TWO_WORKERS), 0);
	CHECK_EQ(translate((struct iometer_options){ 0 }), 0);
	CHECK_EQ(plan.phases[0].workload.lines.lines[1].align_bytes, 0);
	CHECK_EQ(plan.phases[0].workload.data, DATA_RANDOM);
	plan_done(&plan);
	iometer_labels_done(&labels);
	CHECK_EQ(translate((struct iometer_options){ .exact = true }), 0);
	CHECK_EQ(plan.phases[0].workload.lines.lines[1].align_bytes, 512);
	CHECK_EQ(plan.phases[0].workload.data, DATA_PATTERN);
	done();
}

/* Names of another system are mapped by who knows, never guessed. */
static void targets_are_never_guessed(void)
{
	static const char windows[] =
		SETUP SPECS WORKER("W", "1,DISABLED,1", "\tMail; mixed\n",
				   TARGET("PHYSICALDRIVE:3") TARGET("C: \"disk\"") TARGET("sdq")) END;
	static const struct iometer_map maps[] = {
		{ "physicaldrive:3", "/dev/sdb" },
		{ "C: \"disk\"", "/mnt/x" },
		{ "sdq", "/dev/sdb" },
	};

	CHECK_EQ(parse(windows), 0);
	CHECK_EQ(translate((struct iometer_options){ 0 }), -EINVAL);
	CHECK(strstr(err.text, "nothing here is called PHYSICALDRIVE:3, C: \"disk\", sdq") != NULL);
	CHECK_EQ(translate((struct iometer_options){ .maps = maps, .map_count = 3 }), 0);
	/* One device is one target, whatever it is called. */
	CHECK_EQ(plan.target_count, 2);
	CHECK_EQ(plan.phases[2].target_index, 0);
	done();
}

static void networks_and_missing_times_are_refused(void)
{
	CHECK_EQ(parse("'ACCESS SPECIFICATIONS\n'Access specification name\n\tA,NONE\n'size\n"
		       "4096,100,0,0,0,1,0,0\n'MANAGER LIST\n'Manager ID, manager name\n\t1,B\n"
		       "'Worker\n\tN\n'Worker type\n\tNETWORK,TCP\n'End worker\n'End manager\n"), 0);
	CHECK_EQ(translate((struct iometer_options){ 0 }), -EINVAL);
	CHECK(strstr(err.text, "worker 'N' is of type NETWORK,TCP") != NULL);
	icf_done(&icf);
	CHECK_EQ(parse("'ACCESS SPECIFICATIONS\n'Access specification name\n\tA,NONE\n'size\n"
		       "4096,100,0,0,0,1,0,0\n'MANAGER LIST\n'Manager ID, manager name\n\t1,B\n"
		       WORKER("W", "1,DISABLED,1", "\tA\n", TARGET("sdb")) END), 0);
	CHECK_EQ(translate((struct iometer_options){ 0 }), -EINVAL);
	CHECK(strstr(err.text, "no run time") != NULL);
	icf_done(&icf);
}

static void built_in_specifications_are_complete(void)
{
	struct icf_spec spec;

	for (size_t i = 0; i < icf_canned_count; i++) {
		char name[ICF_NAME_BYTES];
		uint32_t weight = 0;

		CHECK(icf_canned(icf_canned_name(i, name), &spec));
		for (uint32_t k = 0; k < spec.lines.count; k++)
			weight += spec.lines.lines[k].weight;
		CHECK_EQ(weight, 100);
	}
	CHECK(icf_canned("all in one", &spec));
	CHECK_EQ(spec.lines.count, 29);
	CHECK(icf_canned("4 KiB; 25% Read; 0% random", &spec));
	CHECK_EQ(spec.lines.lines[0].read_ppm, 250000);
	CHECK(icf_canned("Default", &spec));
	CHECK_EQ(spec.lines.lines[0].align_bytes, 2048);
	CHECK(!icf_canned("4 KiB; 30% Read; 0% random", &spec));

	memset(&icf, 0, sizeof(icf));
	CHECK_EQ(iometer_single(&icf, &spec, &err), 0);
	icf_done(&icf);
}

TESTS(TEST(a_file_is_read_and_written_back), TEST(files_of_every_age_are_read),
      TEST(what_is_wrong_is_named_with_its_line), TEST(cycles_go_as_iometer_goes),
      TEST(tests_are_groups_of_workers_and_targets), TEST(the_cycle_decides_who_takes_part),
      TEST(a_phase_is_as_the_file_says), TEST(sizes_are_in_sectors),
      TEST(alignment_0_is_the_page_unless_exact), TEST(targets_are_never_guessed),
      TEST(networks_and_missing_times_are_refused), TEST(built_in_specifications_are_complete))
