/* SPDX-License-Identifier: MIT */
#include "trim/judge.h"

#include <string.h>

int trim_exit_code(const struct trim_report *report, bool accept_partial)
{
	const struct trim_verdict *verdict = &report->verdict;
	const char *code = verdict->code;

	if (strcmp(code, "dangerous") == 0)
		return 7;
	if (report->interrupted)
		return 130;
	if (strcmp(code, "not-applicable") == 0)
		return 0;
	if (strcmp(code, "works") == 0 || strcmp(code, "works-when-asked") == 0)
		return verdict->as_far_as_seen && !accept_partial ? 1 : 0;
	if (strcmp(code, "cannot-tell") == 0 && strcmp(verdict->reason, "NO_RIGHTS") == 0)
		return 3;
	return 1;
}
