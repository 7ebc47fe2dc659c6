/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "base/check.h"
#include "base/defer.h"
#include "cli/exit.h"

static void a_refusal_exits_by_its_reason(void)
{
	static const struct {
		int err_code, want;
	} cases[] = {
		{ -EINVAL, 2 }, { -EBUSY, 3 },	{ -EPERM, 3 },	{ -EACCES, 3 }, { -EFBIG, 3 },
		{ -ENOENT, 3 }, { -ENOSPC, 8 }, { -EDQUOT, 8 }, { -ENOMEM, 6 }, { -EINTR, 130 },
	};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
		CHECK_EQ(exit_of_refusal(cases[i].err_code), cases[i].want);
}

static void a_result_exits_by_its_worst(void)
{
	struct result result;

	result_init(&result);
	CHECK_EQ(exit_of_result(&result), 0);
	result.interrupted = true;
	CHECK_EQ(exit_of_result(&result), 130);
	result_add(&result);
	result_add(&result)->verify_failed_count = 1;
	CHECK_EQ(exit_of_result(&result), 1);
	result.error_code = -EIO;
	CHECK_EQ(exit_of_result(&result), 4);
	result.error_code = -ENOSPC;
	CHECK_EQ(exit_of_result(&result), 8);
	result_done(&result);
}

static void each_code_has_a_name(void)
{
	CHECK_STR(exit_name(0), "done");
	CHECK_STR(exit_name(2), "usage");
	CHECK_STR(exit_name(130), "interrupted");
}

TESTS(TEST(a_refusal_exits_by_its_reason), TEST(a_result_exits_by_its_worst),
      TEST(each_code_has_a_name))
