/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "base/check.h"
#include "model/result.h"

static void a_result_grows_and_gives_everything_back(void)
{
	struct result result;

	result_init(&result);
	CHECK_STR(result.state, "unknown");
	for (uint64_t i = 0; i < 9; i++) {
		struct measurement *m = result_add(&result);

		m->start_ns = i;
		m->ops[OP_READ].latency = malloc(16);
		m->lateness = malloc(16);
		m->seconds = calloc(2, sizeof(*m->seconds));
		m->second_count = 2;
		m->seconds[1].latency[OP_SYNC] = malloc(16);
	}
	CHECK_EQ(result.measurement_count, 9);
	for (uint64_t i = 0; i < 9; i++)
		CHECK_EQ(result.measurements[i].start_ns, i);
	CHECK(isnan(result.measurements[3].temperature_c_max));
	CHECK_EQ(result.measurements[3].workload.block_bytes, 4096);
	result_done(&result);
	CHECK_EQ(result.measurement_count, 0);
	result_done(&result);
}

static void findings_are_added_in_order(void)
{
	struct result result;
	struct finding *finding;

	result_init(&result);
	result_find(&result, "misaligned", SEVERITY_WARNING, "rand-read-4k-q32");
	finding = result_find(&result, "cached", SEVERITY_INVALID, NULL);
	CHECK_EQ(result.finding_count, 2);
	CHECK_STR(result.findings[0].code, "misaligned");
	CHECK_STR(result.findings[0].measurement, "rand-read-4k-q32");
	CHECK_STR(finding->code, "cached");
	CHECK_STR(finding->measurement, "");
	CHECK_STR(severity_names[finding->severity], "invalid");
	result_done(&result);
}

static void kinds_have_names(void)
{
	CHECK_STR(op_names[OP_TRIM], "trim");
	CHECK_STR(target_kind_name(TARGET_DIRECTORY), "directory");
	CHECK_STR(target_kind_name(TARGET_SIM), "sim");
}

TESTS(TEST(a_result_grows_and_gives_everything_back), TEST(findings_are_added_in_order),
      TEST(kinds_have_names))
