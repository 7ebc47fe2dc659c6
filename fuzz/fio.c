/* SPDX-License-Identifier: MIT */
/*
 * A job file, or with '-' first a command line of words between newlines, in the fixture's
 * machine: it translates into a plan whose measurements all pass the workload's own check, or
 * there is a problem that says why not.
 */
#include <stdlib.h>
#include <string.h>

#include "foreign/fio_fixture.h"
#include "fuzz.h"

#define TEXT_BYTES 8192
#define WORDS 64

static void check_plan(const struct fio_translation *t)
{
	struct err err;

	EXPECT(t->plan.phase_count > 0 && t->plan.target_count > 0);
	EXPECT(t->labels.job_count == t->plan.phase_count);
	for (size_t i = 0; i < t->plan.phase_count; i++) {
		const struct phase *phase = &t->plan.phases[i];

		EXPECT(phase->target_index < t->plan.target_count);
		EXPECT(phase->together || i == 0 || !t->plan.phases[0].together);
		if (workload_check(&phase->workload, &err) < 0) {
			fprintf(stderr, "%s\n", err.text);
			abort();
		}
	}
	for (size_t i = 0; i < t->plan.target_count; i++)
		EXPECT(t->plan.targets[i].spec[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *words[WORDS + 1] = { NULL };
	struct fio_translation t;
	char text[TEXT_BYTES + 2], *rest = text, *word;
	uint32_t count = 0;
	int r;

	if (size == 0 || size > TEXT_BYTES || memchr(data, '\0', size))
		return -1;
	text[0] = '@';
	memcpy(text + 1, data, size);
	text[size + 1] = '\0';
	if (data[0] == '-') {
		rest++;
		while (count < WORDS && (word = strsep(&rest, "\n")))
			words[count++] = word;
	} else {
		words[count++] = text;
	}
	r = fixture_translate(&t, words);
	EXPECT((r < 0) == (t.problems.count > 0));
	/* What replays a log is not looked at unless it is to be run. */
	if (r == 0 && (t.plan.phase_count || t.action == FIO_RUN) &&
	    (t.action == FIO_RUN || t.action == FIO_PARSE_ONLY || t.action == FIO_SHOWCMD))
		check_plan(&t);
	fio_translation_done(&t);
	return 0;
}
