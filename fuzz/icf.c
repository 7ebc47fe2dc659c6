/* SPDX-License-Identifier: MIT */
/*
 * An IOMeter configuration: what is read is written and read back to the same; its plan, all
 * targets given, passes the workload's own check, or there is a sentence that says why not.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "foreign/iometer.h"
#include "fuzz.h"

static int look(void *ctx, const char *path, bool *ret_is_directory, uint64_t *ret_size_bytes)
{
	(void)ctx;
	*ret_is_directory = path[0] == '.';
	*ret_size_bytes = 1 << 30;
	return 0;
}

static void translate(const struct icf *icf)
{
	const struct iometer_options options = { .file = "fuzz", .target = ".", .look = look };
	struct iometer_labels labels;
	struct err err = { 0 };
	struct plan plan;

	if (iometer_plan(icf, &options, &plan, &labels, &err) < 0) {
		EXPECT(err.text[0]);
		return;
	}
	EXPECT(labels.cell_count == plan.phase_count && plan.phase_count > 0);
	for (size_t i = 0; i < plan.phase_count; i++) {
		EXPECT(plan.phases[i].target_index < plan.target_count);
		if (workload_check(&plan.phases[i].workload, &err) < 0)
			EXPECT(err.text[0]);
	}
	plan_done(&plan);
	iometer_labels_done(&labels);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text first = TEXT_INIT, second = TEXT_INIT;
	struct icf icf, again;
	struct err err = { 0 };

	if (icf_parse(&icf, "fuzz", (const char *)data, size, &err) < 0) {
		EXPECT(err.code == -EINVAL && err.text[0]);
		return 0;
	}
	icf_print(&icf, &first);
	EXPECT(icf_parse(&again, "again", text_string(&first), first.length, &err) == 0);
	icf_print(&again, &second);
	EXPECT(strcmp(text_string(&first), text_string(&second)) == 0);
	translate(&icf);
	icf_done(&again);
	icf_done(&icf);
	text_done(&first);
	text_done(&second);
	return 0;
}
