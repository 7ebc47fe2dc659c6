/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "base/check.h"
#include "base/defer.h"
#include "report/layout.h"
#include "report/report.h"
#include "report/sample.h"
#include "report/summary.h"

static const struct report_style terminal = { .utf8 = true, .bars = true, .columns = 100 };
static const struct report_style piped = { .columns = 80 };
static const struct report_style full = { .utf8 = true, .bars = true, .full = true, .columns = 80 };
static const struct report_style plain = { .utf8 = true, .plain = true, .columns = 80 };

static char *read_whole(const char *path)
{
	DEFER(defer_fclose) FILE *file = fopen(path, "re");
	struct text text = TEXT_INIT;
	char buffer[4096];
	size_t got;

	while (file && (got = fread(buffer, 1, sizeof(buffer), file)) > 0)
		text_add_bytes(&text, buffer, got);
	return text_take(&text);
}

/* golden/NAME holds what is expected; TARE_REWRITE=1 writes it anew, to be reviewed as a diff. */
static void compare(const char *name, const struct text *got)
{
	DEFER(defer_free) char *want = NULL;
	char path[4096];

	snprintf(path, sizeof(path), "%s/src/report/golden/%s", getenv("TARE_SOURCE_ROOT"), name);
	if (getenv("TARE_REWRITE")) {
		DEFER(defer_fclose) FILE *file = fopen(path, "we");

		CHECK(file && fputs(text_string(got), file) >= 0);
		return;
	}
	want = read_whole(path);
	CHECK_STR(text_string(got), want);
}

static void tell(const char *name, void (*make)(struct result *), const struct report_style *style)
{
	struct result result;
	struct text text = TEXT_INIT;

	make(&result);
	report_target_text(&result.target, style, &text);
	text_add(&text, "\n");
	report_text(&result, style, &text);
	compare(name, &text);
	text_done(&text);
	result_done(&result);
}

static void a_check_on_a_terminal(void)
{
	tell("check-terminal.txt", sample_check, &terminal);
}

static void a_check_into_a_pipe_in_ascii(void)
{
	tell("check-piped.txt", sample_check, &piped);
}

static void a_check_of_a_failing_device(void)
{
	tell("check-device.txt", sample_device, &terminal);
}

static void a_run_tells_everything(void)
{
	tell("run-open-loop.txt", sample_open_loop, &full);
}

static void what_ran_together_stands_together(void)
{
	tell("run-group.txt", sample_group, &full);
	tell("run-group-plain.txt", sample_group, &plain);
}

static void plain_is_one_fact_a_line(void)
{
	tell("check-plain.txt", sample_device, &plain);
	tell("run-plain.txt", sample_open_loop, &plain);
}

static void lines_keep_within_the_columns(const struct report_style *style)
{
	void (*const samples[])(struct result *) = { sample_check, sample_device, sample_open_loop,
						    sample_group };

	for (size_t i = 0; i < ARRAY_COUNT(samples); i++) {
		struct result result;
		struct text text = TEXT_INIT;

		samples[i](&result);
		report_text(&result, style, &text);
		for (char *line = strtok(text.data, "\n"); line; line = strtok(NULL, "\n")) {
			if (text_columns(line) > style->columns)
				printf("# too long: %s\n", line);
			CHECK(text_columns(line) <= style->columns);
			CHECK(line[strlen(line) - 1] != ' ');
		}
		text_done(&text);
		result_done(&result);
	}
}

static void eighty_columns_are_enough(void)
{
	struct report_style style = full;

	lines_keep_within_the_columns(&piped);
	lines_keep_within_the_columns(&style);
	style.full = false;
	lines_keep_within_the_columns(&style);
	/* Without room for bars there are none. */
	style.columns = 76;
	lines_keep_within_the_columns(&style);
}

static void ascii_is_ascii(void)
{
	struct result result;
	struct text text = TEXT_INIT;
	struct report_style style = { .full = true, .columns = 80 };

	sample_open_loop(&result);
	report_text(&result, &style, &text);
	for (size_t i = 0; i < text.length; i++)
		CHECK(!(text.data[i] & 0x80));
	text_done(&text);
	result_done(&result);
}

static void colour_changes_nothing_but_colour(void)
{
	struct report_style style = terminal;
	struct result result;
	struct text colour = TEXT_INIT, bare = TEXT_INIT, stripped = TEXT_INIT;

	sample_check(&result);
	report_text(&result, &style, &bare);
	style.colour = true;
	report_text(&result, &style, &colour);
	for (const char *s = text_string(&colour); *s; s++) {
		if (*s == '\033')
			s = strchr(s, 'm');
		else
			text_add_bytes(&stripped, s, 1);
	}
	CHECK(colour.length > bare.length);
	/* Blanks before an escape at a line's end could not be dropped; they show nothing. */
	layout_finish(&stripped, 0, &terminal);
	CHECK_STR(text_string(&stripped), text_string(&bare));
	text_done(&colour);
	text_done(&bare);
	text_done(&stripped);
	result_done(&result);
}

static void bars_are_drawn_in_eighths(void)
{
	static const struct {
		double ratio;
		const char *want;
	} cases[] = {
		{ 0, "    " }, { 1, "████" }, { 0.5, "██  " }, { 0.28125, "█▏  " },
		{ 0.0001, "▏   " }, { 7, "████" }, { -1, "    " },
	};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct text text = TEXT_INIT;

		layout_bar(&text, cases[i].ratio, 4);
		CHECK_STR(text_string(&text), cases[i].want);
		text_done(&text);
	}
}

static void words_wrap_where_columns_end_not_bytes(void)
{
	struct text text = TEXT_INIT;

	layout_wrap(&text, "one two  three abcdefghijkl four", 2, 10);
	CHECK_STR(text_string(&text), "  one two\n  three\n  abcdefghijkl\n  four");
	text_done(&text);
	text_add(&text, "\033[1mab\033[0m ");
	layout_wrap(&text, "cd efg hi", 1, 6);
	CHECK_STR(text_string(&text), "\033[1mab\033[0m cd\n efg\n hi");
	text_done(&text);
}

static void what_is_no_text_cannot_move_the_cursor(void)
{
	struct text text = TEXT_INIT;

	summary_add_printable(&text, "a\033[2J\x7f\xc2\x9b" "b\xff\xed\xa0\x80\xc0\xafµ");
	CHECK_STR(text_string(&text),
		  "a?[2J??b\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdµ");
	text_done(&text);
}

TESTS(TEST(a_check_on_a_terminal), TEST(a_check_into_a_pipe_in_ascii),
      TEST(a_check_of_a_failing_device), TEST(a_run_tells_everything),
      TEST(what_ran_together_stands_together),
      TEST(plain_is_one_fact_a_line), TEST(eighty_columns_are_enough), TEST(ascii_is_ascii),
      TEST(colour_changes_nothing_but_colour), TEST(bars_are_drawn_in_eighths),
      TEST(words_wrap_where_columns_end_not_bytes), TEST(what_is_no_text_cannot_move_the_cursor))
