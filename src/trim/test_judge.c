/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "base/check.h"
#include "trim/deep.h"
#include "trim/judge.h"

/* What the machines of tests/fixtures/trim leave open: exit codes, the order of rules, --deep. */

static struct trim_report report;

static void make(bool is_virtual)
{
	struct trim_layer *layer;

	memset(&report, 0, sizeof(report));
	strcpy(report.spec, "/dev/sda");
	strcpy(report.device, "sda");
	layer = &report.layers[report.layer_count++];
	strcpy(layer->name, "sda");
	strcpy(layer->kind, "sata");
	layer->parent = TRIM_TOP;
	layer->is_block = true;
	layer->is_virtual = is_virtual;
	layer->capable = TRIM_YES;
	layer->granularity_bytes = 512;
	layer->max_bytes = 1u << 30;
	layer->have_delivered = true;
	layer->delivered_count = 1;
	layer->delivered_bytes = 1u << 20;
	report.rung = RUNG_EFFECT;
	trim_report_add(&report, RUNG_EFFECT, "read-back", "sda")->content = CONTENT_ZEROS;
}

static int judged(bool accept_partial)
{
	trim_judge(&report);
	return trim_exit_code(&report, accept_partial);
}

static void a_virtual_drive_is_accepted_only_when_asked(void)
{
	make(true);
	CHECK_EQ(judged(false), 1);
	CHECK_STR(report.verdict.code, "works");
	CHECK(report.verdict.as_far_as_seen);
	CHECK_EQ(judged(true), 0);
	make(false);
	CHECK_EQ(judged(false), 0);
	CHECK(!report.verdict.as_far_as_seen);
}

static void danger_comes_before_all_else(void)
{
	make(false);
	report.guards_changed = report.aborted = report.interrupted = true;
	report.layers[0].capable = TRIM_NO;
	CHECK_EQ(judged(true), 7);
	CHECK_STR(report.verdict.reason, "GUARDS");
	report.guards_changed = false;
	CHECK_EQ(judged(true), 7);
	CHECK_STR(report.verdict.reason, "RESET");
}

static void an_interrupted_one_exits_as_such(void)
{
	make(false);
	report.interrupted = true;
	CHECK_EQ(judged(false), 130);
}

static void the_last_look_counts(void)
{
	make(false);
	trim_report_add(&report, RUNG_EFFECT, "read-back", "sda")->content = CONTENT_OLD;
	CHECK_EQ(judged(false), 1);
	CHECK_STR(report.verdict.code, "sent-unproven");
	report.layers[0].zeroes = TRIM_YES;
	CHECK_EQ(judged(false), 1);
	CHECK_STR(report.verdict.code, "ignored");
}

static void errors_are_told_apart(void)
{
	static const struct {
		int error;
		const char *code, *reason;
		int exit_code;
	} cases[] = {
		{ -EPERM, "cannot-tell", "NO_RIGHTS", 3 },
		{ -EACCES, "cannot-tell", "NO_RIGHTS", 3 },
		{ -EROFS, "cannot-tell", "READ_ONLY", 1 },
		{ -EOPNOTSUPP, "blocked", "FAILS", 1 },
		{ -EREMOTEIO, "blocked", "FAILS", 1 },
		{ -EIO, "blocked", "FAILS", 1 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		make(false);
		report.layers[0].have_delivered = false;
		report.evidence_count = 0;
		trim_report_add(&report, RUNG_SENT, "fitrim", "")->error = cases[i].error;
		CHECK_EQ(judged(false), cases[i].exit_code);
		CHECK_STR(report.verdict.code, cases[i].code);
		CHECK_STR(report.verdict.reason, cases[i].reason);
	}
}

/* What is smaller than the announced unit may stay. */
static void small_pieces_that_stay_are_a_lie_only_above_the_unit(void)
{
	make(false);
	report.sizes[0] = (struct trim_size){ 4096, 3, 0, 3, 0 };
	report.sizes[1] = (struct trim_size){ 65536, 3, 3, 0, 0 };
	report.size_count = 2;
	report.unit_bytes = 65536;
	CHECK_EQ(judged(false), 0);
	report.unit_bytes = 512;
	CHECK_EQ(judged(false), 1);
	CHECK_STR(report.verdict.code, "partial");
	CHECK(strstr(report.verdict.text, "effective only from 64.0 KiB"));
	CHECK(strstr(report.verdict.remedy, "fstrim -m 65536"));
	CHECK_EQ(report.verdict.remedy[0], '#');
}

/* A drive with a command of its own, which did it, refused it, or said yes and did nothing. */
static struct trim_evidence *asked(enum trim_content content, int error)
{
	struct trim_evidence *evidence = trim_report_add(&report, RUNG_NONE, "asked-directly", "");

	report.layers[0].direct = DIRECT_UNMAP;
	evidence->ok = content == CONTENT_ZEROS;
	evidence->content = content;
	evidence->error = error;
	strcpy(evidence->text, "status 0x2");
	return evidence;
}

static void a_drive_that_does_it_clears_itself_of_the_kernels_failure(void)
{
	make(false);
	trim_report_add(&report, RUNG_SENT, "discard", "sda")->error = -EREMOTEIO;
	asked(CONTENT_ZEROS, 0);
	CHECK_EQ(judged(false), 1);
	CHECK_STR(report.verdict.code, "blocked");
	CHECK_STR(report.verdict.reason, "KERNEL");
	CHECK_STR(report.verdict.layer, "sda");
	CHECK(strstr(report.verdict.remedy, "echo unmap | tee "));
	make(false);
	trim_report_add(&report, RUNG_SENT, "discard", "sda")->error = -EREMOTEIO;
	asked(CONTENT_NOT_READ, -EIO);
	CHECK_EQ(judged(false), 1);
	CHECK_STR(report.verdict.reason, "FAILS");
	CHECK(strstr(report.verdict.text, "the drive itself refuses it"));
}

static void a_drive_that_does_it_is_not_called_deaf(void)
{
	make(false);
	trim_report_add(&report, RUNG_EFFECT, "read-back", "sda")->content = CONTENT_OLD;
	report.layers[0].zeroes = TRIM_YES;
	asked(CONTENT_ZEROS, 0);
	CHECK_EQ(judged(false), 1);
	CHECK_STR(report.verdict.code, "blocked");
	CHECK_STR(report.verdict.reason, "KERNEL");
	make(false);
	trim_report_add(&report, RUNG_EFFECT, "read-back", "sda")->content = CONTENT_OLD;
	report.layers[0].zeroes = TRIM_YES;
	asked(CONTENT_OLD, 0);
	CHECK_EQ(judged(false), 1);
	CHECK_STR(report.verdict.code, "ignored");
	CHECK(strstr(report.verdict.text, "asked directly the drive says yes, and the old data "
					  "stays"));
}

/* A queue that was switched off: the drive says whether switching it on would be of use. */
static void a_setting_is_no_remedy_where_the_drive_refuses(void)
{
	make(false);
	report.layers[0].capable = TRIM_NO;
	strcpy(report.layers[0].reason, "ADMIN_ZERO");
	strcpy(report.layers[0].remedy, "echo 4096 > discard_max_bytes");
	asked(CONTENT_ZEROS, 0);
	CHECK_EQ(judged(false), 1);
	CHECK_STR(report.verdict.reason, "ADMIN_ZERO");
	CHECK(strstr(report.verdict.text, "the drive itself does it"));
	CHECK_STR(report.verdict.remedy, "echo 4096 > discard_max_bytes");
	report.evidence_count = 0;
	asked(CONTENT_NOT_READ, -EOPNOTSUPP);
	CHECK_EQ(judged(false), 1);
	CHECK_STR(report.verdict.reason, "ADMIN_ZERO");
	CHECK(strstr(report.verdict.remedy, "none by a setting"));
}

/* Whatever a path is made of, what is told to be pasted is one word of a shell's. */
static void places_are_quoted_in_remedies(void)
{
	static const struct {
		const char *spec, *want;
	} cases[] = {
		{ "/srv/data", "sudo tare trim /srv/data" },
		{ "/srv/my data", "sudo tare trim '/srv/my data'" },
		{ "/srv/$(reboot)", "sudo tare trim '/srv/$(reboot)'" },
		{ "/srv/it's", "sudo tare trim '/srv/it'\\''s'" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		make(false);
		report.layers[0].have_delivered = false;
		report.evidence_count = 0;
		strcpy(report.spec, cases[i].spec);
		trim_report_add(&report, RUNG_SENT, "fitrim", "")->error = -EPERM;
		judged(false);
		CHECK_STR(report.verdict.remedy, cases[i].want);
	}
}

static void deep(const char *code, double back_percent)
{
	struct protocol_evidence evidence = { .name = "random write: back by trim and a pause",
					      .unit = "%", .value = back_percent };
	struct protocol_outcome outcome = { .evidence = &evidence, .evidence_count = 1 };

	strcpy(outcome.verdict_code, code);
	strcpy(outcome.verdict_text, "said so");
	make(false);
	trim_report_add(&report, RUNG_EFFECT, "read-back", "sda")->content = CONTENT_OLD;
	trim_deep_judge(&report, &outcome);
	trim_judge(&report);
}

static void speed_decides_where_old_data_says_nothing(void)
{
	deep("trim-effective", 95);
	CHECK_STR(report.verdict.code, "works");
	CHECK_EQ(report.rung, RUNG_BEHAVIOUR);
	deep("trim-none", 2);
	CHECK_STR(report.verdict.code, "ignored");
	CHECK_STR(report.verdict.reason, "NO_EFFECT_SEEN");
	/* A drive that cleans when idle: what trim brought back counts, not the protocol's word. */
	deep("idle-recovers", 98);
	CHECK_STR(report.verdict.code, "works");
	deep("idle-recovers", 10);
	CHECK_STR(report.verdict.code, "sent-unproven");
	deep("nothing-to-recover", 0);
	CHECK_STR(report.verdict.code, "sent-unproven");
}

/* Speed says nothing where use costs none; the verdict stays, and it is told why. */
static void deep_without_a_slow_state(const char *kind, const char *words)
{
	struct protocol_evidence evidence = { .name = "random write: lost by use", .unit = "%",
					      .value = 1 };
	struct protocol_outcome outcome = { .evidence = &evidence, .evidence_count = 1 };

	strcpy(outcome.verdict_code, "cannot-tell");
	strcpy(outcome.verdict_text, "Nothing was lost");
	make(false);
	strcpy(report.layers[0].kind, kind);
	trim_deep_judge(&report, &outcome);
	CHECK_EQ(judged(false), 0);
	CHECK_STR(report.verdict.code, "works");
	CHECK_EQ(report.rung, RUNG_EFFECT);
	CHECK_STR(report.evidence[1].code, "deep");
	CHECK(!report.evidence[1].ok);
	CHECK(strstr(report.evidence[1].text, "cannot tell by speed"));
	CHECK(strstr(report.evidence[1].text, words));
}

static void what_has_no_slow_state_is_told_as_such(void)
{
	deep_without_a_slow_state("loop", "sda (loop) is no drive");
	deep_without_a_slow_state("memory", "is no drive");
	deep_without_a_slow_state("sata", "a larger --size");
}

TESTS(TEST(a_virtual_drive_is_accepted_only_when_asked), TEST(danger_comes_before_all_else),
      TEST(an_interrupted_one_exits_as_such), TEST(the_last_look_counts),
      TEST(errors_are_told_apart), TEST(places_are_quoted_in_remedies),
      TEST(a_drive_that_does_it_clears_itself_of_the_kernels_failure),
      TEST(a_drive_that_does_it_is_not_called_deaf),
      TEST(a_setting_is_no_remedy_where_the_drive_refuses),
      TEST(small_pieces_that_stay_are_a_lie_only_above_the_unit),
      TEST(speed_decides_where_old_data_says_nothing),
      TEST(what_has_no_slow_state_is_told_as_such))
