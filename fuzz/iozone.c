/* SPDX-License-Identifier: MIT */
/*
 * Words, one per line, as an iozone command line: it is understood or told what is wrong; what
 * is understood makes a plan whose workloads are possible, slices that are all of it, and text.
 */
#include <string.h>

#include "foreign/iozone.h"
#include "fuzz.h"
#include "report/iozone.h"

#define WORDS 64

static enum iozone_place look(void *ctx, const char *path)
{
	(void)ctx;
	return (enum iozone_place)((unsigned char)*path % (IOZONE_LOST + 1));
}

/* Any word may name a list of names: what lies on this disk is not to be read. */
static bool reads_a_file(const char *word)
{
	return strstr(word, "+R") != NULL;
}

static size_t split(char *text, const char **words)
{
	size_t count = 0;

	while (text && count < WORDS) {
		words[count] = strsep(&text, "\n");
		count += !reads_a_file(words[count]);
	}
	return count;
}

static void check_slices(const struct plan *plan, const struct iozone_sheet *sheet)
{
	size_t *cells = calloc(sheet->cell_count + 1, sizeof(*cells)), count = 0;

	EXPECT(cells != NULL);
	for (uint32_t row = 0; row < sheet->row_count; row++) {
		struct plan slice;

		count += iozone_slice(plan, sheet, row, 0, &slice, cells);
		for (size_t i = 0; i < slice.phase_count; i++)
			EXPECT(slice.phases[i].target_index < slice.target_count);
		plan_done(&slice);
	}
	EXPECT(count == sheet->cell_count);
	free(cells);
}

static void check_text(const struct iozone_sheet *sheet)
{
	struct text text = TEXT_INIT;

	report_iozone_banner(sheet, "0", "now", &text);
	for (uint32_t row = 0; row < sheet->row_count && row < 4; row++) {
		if (sheet->throughput)
			report_iozone_pass(sheet, row, sheet->cells[0].pass, &text);
		else
			report_iozone_row(sheet, row, &text);
	}
	if (sheet->row_count < 64)
		report_iozone_end(sheet, &text);
	EXPECT(text.length > 0);
	text_done(&text);
}

static void check_translation(const struct iozone_command *command, bool exact)
{
	const struct iozone_setting setting = { .exact = exact, .look = look };
	struct iozone_sheet sheet;
	struct plan plan;
	struct err err = { 0 };

	if (iozone_translate(command, &setting, &plan, &sheet, &err) < 0) {
		EXPECT(*err.text);
	} else {
		EXPECT(sheet.cell_count > 0);
		for (size_t i = 0; i < plan.phase_count; i++) {
			struct phase *phase = &plan.phases[i];

			if (phase->kind == PHASE_MEASURE &&
			    workload_check(&phase->workload, &err) < 0) {
				fprintf(stderr, "%s\n", err.text);
				abort();
			}
		}
		check_slices(&plan, &sheet);
		check_text(&sheet);
	}
	plan_done(&plan);
	iozone_sheet_done(&sheet);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct iozone_command command;
	const char *words[WORDS];
	char *text = strndup((const char *)data, size);
	int r;

	if (!text)
		return -1;
	r = iozone_parse(&command, words, split(text, words));
	EXPECT((r < 0) == (command.problem_count > 0) || command.help || command.version);
	if (r == 0 && !command.help && !command.version)
		check_translation(&command, size & 1);
	iozone_command_done(&command);
	free(text);
	return 0;
}
