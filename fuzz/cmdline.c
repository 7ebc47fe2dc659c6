/* SPDX-License-Identifier: MIT */
/*
 * Words, one per line, as a command line: it is understood or told what is wrong; and the plan
 * of a run prints as a plan that reads back the same.
 */
#include <string.h>

#include "cli/cli.h"
#include "fuzz.h"

#define WORDS 64

static int split(char *text, const char **words)
{
	int count = 0;

	words[count++] = "tare";
	while (text && count < WORDS)
		words[count++] = strsep(&text, "\n");
	return count;
}

static void round_trip(const struct invocation *inv)
{
	struct text first = TEXT_INIT, second = TEXT_INIT;
	struct err err = { 0 };
	struct plan plan;

	EXPECT(invocation_plan(inv, &plan, &err) == 0);
	plan_print(&plan, &first);
	plan_done(&plan);
	if (plan_parse(&plan, "printed", text_string(&first), first.length, &err) < 0) {
		fprintf(stderr, "%s\n%s", err.text, text_string(&first));
		abort();
	}
	plan_print(&plan, &second);
	EXPECT(strcmp(text_string(&first), text_string(&second)) == 0);
	EXPECT(strcmp(plan.target, inv->target) == 0);
	plan_done(&plan);
	text_done(&first);
	text_done(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct invocation inv;
	static struct problems problems;
	const char *words[WORDS];
	char *text = strndup((const char *)data, size);
	int r;

	if (!text)
		return -1;
	r = args_parse(&inv, split(text, words), words, &problems);
	EXPECT((r < 0) == (problems.count > 0));
	EXPECT(inv.verb != NULL);
	for (size_t i = 0; r < 0 && i < problems.count && i < PROBLEMS; i++)
		EXPECT(*problems.texts[i]);
	if (r == 0 && !inv.help && inv.verb->takes_workload && !*inv.plan_path)
		round_trip(&inv);
	free(text);
	return 0;
}
