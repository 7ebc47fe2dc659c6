/* SPDX-License-Identifier: MIT */
/* A plan that is understood prints as a plan that is understood, and prints the same. */
#include <string.h>

#include "fuzz.h"
#include "model/plan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text first = TEXT_INIT, second = TEXT_INIT;
	struct err err = { 0 };
	struct plan plan;

	if (plan_parse(&plan, "fuzz", (const char *)data, size, &err) < 0) {
		EXPECT(err.code < 0 && strncmp(err.text, "fuzz:", 5) == 0);
		return 0;
	}
	plan_print(&plan, &first);
	plan_done(&plan);
	if (plan_parse(&plan, "printed", text_string(&first), first.length, &err) < 0) {
		fprintf(stderr, "%s\n%s", err.text, text_string(&first));
		abort();
	}
	plan_print(&plan, &second);
	EXPECT(strcmp(text_string(&first), text_string(&second)) == 0);
	plan_done(&plan);
	text_done(&first);
	text_done(&second);
	return 0;
}
