/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/defer.h"
#include "model/plan.h"

static struct plan plan;
static struct err err;

static int parse(const char *yaml)
{
	err.text[0] = '\0';
	return plan_parse(&plan, "p.yaml", yaml, strlen(yaml), &err);
}

static void a_plan_has_a_target_defaults_and_phases(void)
{
	CHECK_EQ(parse("target: /mnt/data\n"
		       "phases:\n"
		       "  - measure: { name: first, rw: randread, iodepth: 32 }\n"
		       "  - idle: 5s\n"
		       "  - measure:\n"
		       "      rw: write\n"
		       "      bs: 1m\n"
		       "      io_size: 1g\n"
		       "defaults: { bs: 8k, runtime: 10s }\n"),
		 0);
	CHECK_STR(err.text, "");
	CHECK_STR(plan.target, "/mnt/data");
	CHECK_EQ(plan.phase_count, 3);
	CHECK_EQ(plan.phases[0].kind, PHASE_MEASURE);
	CHECK_STR(plan.phases[0].workload.name, "first");
	CHECK_EQ(plan.phases[0].workload.rw, RW_RANDREAD);
	CHECK_EQ(plan.phases[0].workload.block_bytes, 8192);
	CHECK_EQ(plan.phases[0].workload.depth_count, 32);
	CHECK_EQ(plan.phases[0].workload.runtime_ns, 10 * SECOND_NS);
	CHECK_EQ(plan.phases[1].kind, PHASE_IDLE);
	CHECK_EQ(plan.phases[1].idle_ns, 5 * SECOND_NS);
	CHECK_EQ(plan.phases[2].workload.block_bytes, 1 << 20);
	CHECK_EQ(plan.phases[2].workload.io_size_bytes, 1 << 30);
	CHECK_EQ(plan.phases[2].workload.depth_count, 1);
	plan_done(&plan);
}

static void steps_of_the_state_are_phases(void)
{
	struct text text = TEXT_INIT;

	CHECK_EQ(parse("phases:\n"
		       "  - purge: discard\n"
		       "  - fill: { times: 2, bs: 1m }\n"
		       "  - trim:\n"
		       "  - idle: { until-recovered: 1 }\n"
		       "  - idle: 5s\n"),
		 0);
	CHECK_STR(err.text, "");
	CHECK_EQ(plan.phase_count, 5);
	CHECK_EQ(plan.phases[0].kind, PHASE_STEP);
	CHECK_EQ(plan.phases[0].step.purge.method, PURGE_DISCARD);
	CHECK_EQ(plan.phases[1].step.fill.times_ppm, 2000000);
	CHECK_EQ(plan.phases[1].step.fill.block_bytes, 1 << 20);
	CHECK_EQ(plan.phases[2].step.kind, STEP_TRIM);
	CHECK_EQ(plan.phases[3].step.kind, STEP_REST);
	CHECK(plan.phases[3].step.rest.until_recovered);
	CHECK_EQ(plan.phases[4].kind, PHASE_IDLE);
	CHECK(plan_writes(&plan));
	plan_print(&plan, &text);
	CHECK_STR(text_string(&text), "phases:\n"
				      "  - purge:\n"
				      "      method: discard\n"
				      "  - fill:\n"
				      "      times: 2\n"
				      "      bs: 1m\n"
				      "  - trim:\n"
				      "  - idle:\n"
				      "      until-recovered: 1\n"
				      "  - idle: 5s\n");
	plan_done(&plan);
	CHECK_EQ(parse(text_string(&text)), 0);
	CHECK_EQ(plan.phase_count, 5);
	plan_done(&plan);
	text_done(&text);
	CHECK_EQ(parse("phases:\n  - idle: 5s\n"), 0);
	CHECK(!plan_writes(&plan));
	plan_done(&plan);
}

static void what_is_wrong_is_told_with_its_place(void)
{
	static const struct {
		const char *yaml, *want;
	} cases[] = {
		{ "", "p.yaml:1:1: empty" },
		{ "x", "p.yaml:1:1: a plan is a mapping, not a text" },
		{ "{}", "p.yaml:1:1: a plan needs phases, as in 'phases: [{ measure: { rw: read } }]'" },
		{ "phase: []", "p.yaml:1:1: no key 'phase'; did you mean 'phases'?" },
		{ "phases: []", "p.yaml:1:9: phases is empty" },
		{ "phases: read", "p.yaml:1:9: phases is a list, not a text" },
		{ "phases:\n  - measure: { iodepht: 4 }",
		  "p.yaml:2:16: no field 'iodepht'; did you mean 'iodepth'?" },
		{ "phases:\n  - measure: { qqqqqq: 4 }",
		  "p.yaml:2:16: no field 'qqqqqq'; see tare-workload(5) for those there are" },
		{ "phases:\n  - measure:\n      bs: 4q",
		  "p.yaml:3:11: bs: '4q' is not a size; write bytes as 4096, 4k, 4KiB (1024) or 4kB "
		  "(1000), with k, m, g, t or p" },
		{ "phases:\n  - measure: { rw: raed }",
		  "p.yaml:2:20: rw: 'raed' is not one of read, write, trim, randread, randwrite, "
		  "randtrim, readwrite, randrw, trimwrite, randtrimwrite (did you mean rw=read?)" },
		{ "phases:\n  - measure: { rw: read, norandommap: 1 }",
		  "p.yaml:2:14: norandommap needs a random rw, not rw=read" },
		{ "phases:\n  - measure: { rw: read, rw: write }",
		  "p.yaml:2:26: key 'rw' is there already, in line 2" },
		{ "phases:\n  - measure: { rw: read, readwrite: write }",
		  "p.yaml:2:26: 'readwrite' is 'rw', which is there already" },
		{ "phases:\n  - measure: { rw: }", "p.yaml:2:16: rw is empty" },
		{ "phases:\n  - mesure: { rw: read }",
		  "p.yaml:2:5: no phase 'mesure'; did you mean 'measure'?" },
		{ "phases:\n  - measure: { rw: read }\n    idle: 1s",
		  "p.yaml:2:5: a phase has one key, as in '- idle: 5s'" },
		{ "phases: [ { idle: 5 years } ]",
		  "p.yaml:1:19: idle: '5 years' is not a time; write 90, 90s, 500ms, 10us, 100ns, 1m, 1h "
		  "or 1d" },
		{ "phases: [ { idle: 0 } ]", "p.yaml:1:19: idle: 0 is not from 1ns to 366d" },
		{ "a: &x 1\n", "p.yaml:1:4: anchors (&name) are not supported; write the value out" },
		{ "a: *x\n", "p.yaml:1:4: aliases (*name) are not supported; write the value out" },
		{ "a: !!int 1\n", "p.yaml:1:4: tags (!name) are not supported; leave the tag out" },
		{ "? [a]\n: b\n", "p.yaml:1:3: a key is a text, not a list" },
		{ "target: a\n---\ntarget: b\n", "p.yaml:2:1: a second document; one per file" },
		{ "target: [", "p.yaml:2:1: not YAML: did not find expected node content" },
		{ "target: ${TARE_TEST_UNSET}\nphases: [ { idle: 1s } ]",
		  "p.yaml:1:9: ${TARE_TEST_UNSET} is not set in the environment" },
		{ "target: ${TARE_TEST_EMPTY}x\nphases: [ { idle: 1s } ]",
		  "p.yaml:1:9: ${TARE_TEST_EMPTY} is empty in the environment" },
		{ "target: a\ntargets: [ b ]\nphases: [ { idle: 1s } ]",
		  "p.yaml:2:10: target and targets exclude each other: the first of the list is the "
		  "plan's own" },
		{ "targets: []\nphases: [ { idle: 1s } ]", "p.yaml:1:10: targets is empty" },
		{ "targets: a\nphases: [ { idle: 1s } ]", "p.yaml:1:10: targets is a list, not a text" },
		{ "targets: [ { name: a } ]\nphases: [ { idle: 1s } ]",
		  "p.yaml:1:12: a target needs a path, as in '- { path: /mnt/data }'" },
		{ "targets: [ { path: a, name: 1 } ]\nphases: [ { idle: 1s } ]",
		  "p.yaml:1:12: name: '1' is a number, which on takes for a place in the list" },
		{ "targets: [ { path: a, name: x }, { path: b, name: x } ]\nphases: [ { idle: 1s } ]",
		  "p.yaml:1:34: two targets are called 'x'" },
		{ "targets: [ { path: a, nmae: x } ]\nphases: [ { idle: 1s } ]",
		  "p.yaml:1:23: no field 'nmae'; did you mean 'name'?" },
		{ "targets: [ a ]\nphases: [ { measure: { on: 1, rw: read } } ]",
		  "p.yaml:2:28: on: there is no target 1; they count from 0 to 0" },
		{ "targets: [ { path: a, name: data } ]\nphases: [ { measure: { on: dta, rw: read } } ]",
		  "p.yaml:2:28: on: no target is called 'dta'; did you mean 'data'?" },
		{ "target: a\nphases: [ { measure: { on: b, rw: read } } ]",
		  "p.yaml:2:28: on: no target is called 'b'" },
		{ "phases: [ { together: [] } ]", "p.yaml:1:23: together is empty" },
		{ "phases: [ { together: [ { idle: 1s } ] } ]",
		  "p.yaml:1:27: together takes measurements, not 'idle'" },
		{ "phases: [ { together: [ { measure: { ends-group: perhaps } } ] } ]",
		  "p.yaml:1:50: ends-group: 'perhaps' is neither yes nor no; write 1 or 0" },
		{ "target: \"${x\"\nphases: [ { idle: 1s } ]",
		  "p.yaml:1:9: '${' without its '}'; a '${' that is meant is '$${'" },
	};

	setenv("TARE_TEST_EMPTY", "", 1);
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		CHECK(parse(cases[i].yaml) < 0);
		CHECK_STR(err.text, cases[i].want);
		CHECK_EQ(plan.phase_count, 0);
	}
}

static void variables_are_taken_from_the_environment(void)
{
	setenv("TARE_TEST_DISK", "sdq", 1);
	CHECK_EQ(parse("target: \"/dev/${TARE_TEST_DISK}$${x}\"\nphases: [ { idle: 1s } ]"), 0);
	CHECK_STR(plan.target, "/dev/sdq${x}");
	plan_done(&plan);
}

/* Field by field: the padding between members is nobody's. */
static void check_same(const struct workload *got, const struct workload *want)
{
	for (const struct field *field = workload_fields; field->name; field++) {
		struct text a = TEXT_INIT, b = TEXT_INIT;

		if (field->input_only)
			continue;
		field_print(field, got, &a);
		field_print(field, want, &b);
		CHECK_STR(text_string(&a), text_string(&b));
		text_done(&a);
		text_done(&b);
	}
}

/* Printed, read and printed again: the same text, and the same plan within. */
static void what_is_printed_reads_back_as_it_was(void)
{
	static const struct {
		const char *name, *value;
	} values[] = {
		{ "name", "a: \"b\" \\ # ${x} $${y} $ - é \xc2\x85 \xe2\x80\xa8 \xef\xbb\xbf 😀" },
		{ "rw", "randrw" },
		{ "bssplit", "4k/33.3:8k/:16k/" },
		{ "random-distribution", "zipf:0.123456789012345678" },
		{ "buffer-pattern", " leading and trailing " },
		{ "offset", "12.5%" },
		{ "size", "1000000000" },
		{ "cpus-allowed", "0-1,3" },
		{ "rwmixwrite", "1" },
		{ "filter", "delay:read=1ms;error:errno=EIO,after=1000" },
	};
	struct text first = TEXT_INIT, second = TEXT_INIT;
	struct plan made;

	plan_init(&made);
	snprintf(made.target, sizeof(made.target), "%s", "null:size=1g");
	plan_add(&made, PHASE_MEASURE);
	plan_add(&made, PHASE_IDLE)->idle_ns = 1500 * MILLISECOND_NS;
	for (size_t i = 0; i < ARRAY_COUNT(values); i++)
		CHECK_EQ(field_set(field_find(workload_fields, values[i].name),
				   &made.phases[0].workload, values[i].value, &err), 0);
	plan_print(&made, &first);
	CHECK_EQ(parse(text_string(&first)), 0);
	CHECK_STR(err.text, "");
	CHECK_STR(plan.target, "null:size=1g");
	CHECK_EQ(plan.phase_count, 2);
	check_same(&plan.phases[0].workload, &made.phases[0].workload);
	CHECK_EQ(plan.phases[1].idle_ns, 1500000000);
	plan_print(&plan, &second);
	CHECK_STR(text_string(&second), text_string(&first));
	plan_done(&plan);
	plan_done(&made);
	text_done(&first);
	text_done(&second);
}

static void several_targets_and_groups_read_back_as_they_were(void)
{
	static const char yaml[] =
		"targets:\n"
		"  - path: /mnt/data\n"
		"  - path: /mnt/log\n"
		"    name: log\n"
		"    size: 4g\n"
		"    files: 4\n"
		"    stripe: 64k\n"
		"    unwritten: 1\n"
		"  - path: join:/dev/sdx:/dev/sdy\n"
		"phases:\n"
		"  - together:\n"
		"      - measure:\n"
		"          ends-group: 1\n"
		"          rw: randread\n"
		"          runtime: 10s\n"
		"      - measure:\n"
		"          on: log\n"
		"          rw: write\n"
		"          runtime: 10s\n"
		"          start-delay: 500ms\n"
		"  - measure:\n"
		"      on: 2\n"
		"      rw: read\n"
		"      runtime: 10s\n"
		"  - together:\n"
		"      - measure:\n"
		"          rw: read\n"
		"          runtime: 10s\n"
		"      - measure:\n"
		"          rw: read\n"
		"          runtime: 10s\n"
		"  - idle: 5s\n";
	struct text text = TEXT_INIT;

	CHECK_EQ(parse(yaml), 0);
	CHECK_STR(err.text, "");
	CHECK_STR(plan.target, "/mnt/data");
	CHECK_EQ(plan.target_count, 3);
	CHECK_STR(plan.targets[1].spec, "/mnt/log");
	CHECK_EQ(plan.targets[1].size_bytes, 4ull << 30);
	CHECK_EQ(plan.targets[1].file_count, 4);
	CHECK_EQ(plan.targets[1].stripe_bytes, 64 << 10);
	CHECK(plan.targets[1].unwritten && !plan.targets[0].unwritten);
	CHECK_EQ(plan.phase_count, 6);
	CHECK(!plan.phases[0].together && plan.phases[0].ends_group);
	CHECK(plan.phases[1].together && !plan.phases[1].ends_group);
	CHECK_EQ(plan.phases[1].target_index, 1);
	CHECK_EQ(plan.phases[1].workload.start_delay_ns, 500 * MILLISECOND_NS);
	CHECK(!plan.phases[2].together);
	CHECK_EQ(plan.phases[2].target_index, 2);
	CHECK(!plan.phases[3].together && plan.phases[4].together);
	plan_print(&plan, &text);
	CHECK_STR(text_string(&text), yaml);
	plan_done(&plan);
	text_done(&text);
}

/* Plain names are enough, and one of them alone is a group of one. */
static void a_list_of_paths_is_a_list_of_targets(void)
{
	CHECK_EQ(parse("targets: [ a, b ]\n"
		       "phases:\n"
		       "  - together: [ { measure: { on: 1, rw: read } } ]\n"),
		 0);
	CHECK_EQ(plan.target_count, 2);
	CHECK_STR(plan.targets[1].spec, "b");
	CHECK_EQ(plan.phases[0].target_index, 1);
	CHECK(!plan.phases[0].together);
	plan_done(&plan);
}

static void a_missing_file_is_named(void)
{
	CHECK_EQ(plan_load(&plan, "/nonexistent/p.yaml", &err), -ENOENT);
	CHECK_STR(err.text, "/nonexistent/p.yaml: No such file or directory");
	CHECK_EQ(plan_load(&plan, "/", &err), -EISDIR);
}

TESTS(TEST(a_plan_has_a_target_defaults_and_phases), TEST(steps_of_the_state_are_phases), TEST(what_is_wrong_is_told_with_its_place),
      TEST(variables_are_taken_from_the_environment), TEST(what_is_printed_reads_back_as_it_was),
      TEST(several_targets_and_groups_read_back_as_they_were),
      TEST(a_list_of_paths_is_a_list_of_targets), TEST(a_missing_file_is_named))
