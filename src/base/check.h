/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * check - the whole test framework. A test is a function whose name is a fact;
 * a failed check says where and what, and the test goes on. Output is TAP.
 *
 *	static void zero_is_refused(void) { CHECK_EQ(parse("0"), -EINVAL); }
 *	TESTS(TEST(zero_is_refused))
 */

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct check_test {
	const char *name;
	void (*run)(void);
};

static int check_failures;
static const char *check_skip_reason;

#define CHECK(condition)                                                                   \
	do {                                                                               \
		if (!(condition)) {                                                        \
			check_failures++;                                                  \
			printf("# %s:%d: not so: %s\n", __FILE__, __LINE__, #condition);   \
		}                                                                          \
	} while (0)

#define CHECK_EQ(got, want)                                                                \
	do {                                                                               \
		const intmax_t check_got = (intmax_t)(got), check_want = (intmax_t)(want); \
		if (check_got != check_want) {                                             \
			check_failures++;                                                  \
			printf("# %s:%d: %s is %" PRIdMAX ", want %" PRIdMAX "\n",         \
			       __FILE__, __LINE__, #got, check_got, check_want);           \
		}                                                                          \
	} while (0)

#define CHECK_STR(got, want)                                                               \
	do {                                                                               \
		const char *check_got = (got), *check_want = (want);                       \
		if (!check_got || strcmp(check_got, check_want) != 0) {                    \
			check_failures++;                                                  \
			printf("# %s:%d: %s is '%s', want '%s'\n", __FILE__, __LINE__,     \
			       #got, check_got ? check_got : "(null)", check_want);        \
		}                                                                          \
	} while (0)

/* |got - want| <= tolerance; NaN is never near. */
#define CHECK_NEAR(got, want, tolerance)                                                   \
	do {                                                                               \
		const double check_got = (double)(got), check_want = (double)(want);       \
		if (!(fabs(check_got - check_want) <= (double)(tolerance))) {              \
			check_failures++;                                                  \
			printf("# %s:%d: %s is %.9g, want %.9g +- %g\n", __FILE__,         \
			       __LINE__, #got, check_got, check_want, (double)(tolerance)); \
		}                                                                          \
	} while (0)

/* Ends the test as skipped; for what this machine cannot do, never for what fails. */
#define SKIP(reason)                          \
	do {                                  \
		check_skip_reason = (reason); \
		return;                       \
	} while (0)

#define TEST(function) { #function, function }

#define TESTS(...)                                                                         \
	int main(void)                                                                     \
	{                                                                                  \
		static const struct check_test tests[] = { __VA_ARGS__ };                  \
		return check_run(tests, sizeof(tests) / sizeof(tests[0]));                 \
	}

static int check_run(const struct check_test *tests, size_t count)
{
	int failed = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("1..%zu\n", count);
	for (size_t i = 0; i < count; i++) {
		check_failures = 0;
		check_skip_reason = NULL;
		tests[i].run();
		failed += check_failures > 0;
		printf("%s %zu - %s", check_failures ? "not ok" : "ok", i + 1, tests[i].name);
		if (check_skip_reason && !check_failures)
			printf(" # SKIP %s", check_skip_reason);
		printf("\n");
	}
	return failed > 0;
}
