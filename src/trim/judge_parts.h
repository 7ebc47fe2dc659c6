/* SPDX-License-Identifier: MIT */
#pragma once

/* judge_parts - what the judge's rules share. Private to trim/judge*.c. */

#include "model/trim.h"

bool judge_is_leaf(const struct trim_report *report, uint32_t index);
/* The last evidence of this code; NULL. */
const struct trim_evidence *judge_last(const struct trim_report *report, const char *code);
/* Every device that is read back promises it. */
bool judge_zeros_promised(const struct trim_report *report);
bool judge_ones_promised(const struct trim_report *report);

/* The nearest layer above that counts; NULL. */
const struct trim_layer *judge_counted_above(const struct trim_report *report, uint32_t index);
/* Discards reached the first layer that counts. */
bool judge_was_sent(const struct trim_report *report);

/*
 * The verdict's code, reason and sentence; more of the sentence; the remedy; layer and its remedy.
 * A line of a remedy is a command as it can be pasted, what is to be said of it behind "     # ";
 * a line of words alone begins with "# ".
 */
void judge_say(struct trim_report *report, const char *code, const char *reason, const char *fmt,
	       ...) __attribute__((format(printf, 4, 5)));
void judge_more(struct trim_report *report, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void judge_remedy(struct trim_report *report, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void judge_blame(struct trim_report *report, const struct trim_layer *layer);

/* What the drive said when it was asked past the kernel, behind a verdict that blames another. */
void judge_asked(struct trim_report *report);
/* It did what the kernel's discard did not: something between the two is in the way. */
bool judge_kernel(struct trim_report *report, const char *how);
/* "works" or "works-when-asked"; how it is known. */
void judge_works(struct trim_report *report, const char *how);
/* The command that measures speed too; remark: what it is good for. */
void judge_deep_remedy(struct trim_report *report, const char *remark);
/* Against a command that is advertised and fails. */
void judge_fails_remedy(struct trim_report *report, const struct trim_layer *layer, int error);

/* Rules over what was sent and seen; each says whether it holds and then has judged. */
bool judge_not_sent(struct trim_report *report);
bool judge_not_passed(struct trim_report *report);
bool judge_mapping(struct trim_report *report);
bool judge_partial(struct trim_report *report);
bool judge_content(struct trim_report *report);
bool judge_not_read(struct trim_report *report);
