/* SPDX-License-Identifier: MIT */
#include "base/check.h"
#include "base/units.h"
#include "cli/consent.h"
#include "cli/progress.h"

static struct workload *add(struct plan *plan, uint32_t rw)
{
	struct workload *w = &plan_add(plan, PHASE_MEASURE)->workload;

	workload_init(w);
	w->rw = rw;
	w->runtime_ns = 0;
	return w;
}

static void summary_is(const struct plan *plan, const struct target_info *info, const char *want)
{
	struct text text = TEXT_INIT;

	progress_summary(plan, 0, info, &text);
	CHECK_STR(text_string(&text), want);
	text_done(&text);
}

static void a_summary_says_what_will_be_lost(void)
{
	struct target_info info = { .kind = TARGET_BLOCK, .size_bytes = 8 * GIB };
	struct plan plan;

	plan_init(&plan);
	add(&plan, RW_RANDREAD);
	plan_add(&plan, PHASE_IDLE);
	summary_is(&plan, &info, "not destructive: reads only");
	add(&plan, RW_RANDWRITE)->runtime_ns = 5 * SECOND_NS;
	snprintf(info.consent, sizeof(info.consent), "erase-data=S1");
	summary_is(&plan, &info, "DESTRUCTIVE: erases this device, allowed by erase-data=S1; writes for "
				 "5 s as much as it takes in 1 phase");
	add(&plan, RW_WRITE)->io_size_bytes = GIB;
	add(&plan, RW_WRITE);
	summary_is(&plan, &info, "DESTRUCTIVE: erases this device, allowed by erase-data=S1; writes up to "
				 "9.00 GiB, and for 5 s as much as it takes in 3 phases");
	plan_done(&plan);
}

static void a_file_of_ours_is_never_destructive(void)
{
	struct target_info info = { .kind = TARGET_DIRECTORY, .size_bytes = GIB, .ours = true };
	struct plan plan;

	plan_init(&plan);
	add(&plan, RW_READ);
	summary_is(&plan, &info, "not destructive: in a file of its own, removed afterwards; writes it "
				 "once, 1.00 GiB");
	add(&plan, RW_WRITE);
	summary_is(&plan, &info, "not destructive: in a file of its own, removed afterwards; writes it "
				 "once, 1.00 GiB, then writes up to 1.00 GiB in 1 phase");
	info.kind = TARGET_FILE;
	info.ours = false;
	summary_is(&plan, &info, "DESTRUCTIVE: overwrites this file, named expendable; writes up to "
				 "1.00 GiB in 1 phase");
	plan_done(&plan);
}

static void a_trim_counts_as_destructive(void)
{
	struct target_info info = { .kind = TARGET_BLOCK, .size_bytes = GIB };
	struct plan plan;

	plan_init(&plan);
	add(&plan, RW_RANDTRIM);
	summary_is(&plan, &info, "DESTRUCTIVE: erases this device; writes and discards up to 1.00 GiB in "
				 "1 phase");
	info.kind = TARGET_NULL;
	summary_is(&plan, &info, "not destructive: nothing is kept there; writes and discards up to "
				 "1.00 GiB in 1 phase");
	plan_done(&plan);
}

static void four_characters_of_a_serial_are_typed(void)
{
	struct target_info info = { .serial = "S6Z1NJ0W7F2A", .erase_name = "S6Z1NJ0W7F2A" };

	CHECK_STR(consent_word(&info), "7F2A");
	info = (struct target_info){ .serial = "12", .erase_name = "12" };
	CHECK_STR(consent_word(&info), "12");
	info = (struct target_info){ .serial = "", .erase_name = "loop0" };
	CHECK_STR(consent_word(&info), "loop0");
}

TESTS(TEST(a_summary_says_what_will_be_lost), TEST(a_file_of_ours_is_never_destructive),
      TEST(a_trim_counts_as_destructive), TEST(four_characters_of_a_serial_are_typed))
