/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * err - what went wrong, for a reader: a negative errno and one sentence.
 *
 * Who meets the failure says what it was doing (err_set); who passes it on adds
 * only what the callee could not know (err_wrap). Nothing below cli/ prints.
 *
 * Ownership: the caller's, on the stack; it holds no resources. A NULL err is
 * allowed everywhere and drops the text.
 */

#include <stdarg.h>
#include <stddef.h>

struct err {
	int code;		/* negative errno; 0 = nothing went wrong */
	char text[512];		/* one sentence without its full stop, cut at the end if longer */
	char hint[256];		/* what to do about it; "" when there is nothing to say */
};

/* Each returns the code, so that "return err_set(...)" is the whole error path. */
int err_set(struct err *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* As err_set, with ": " and the words for the errno behind the sentence. */
int err_errno(struct err *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Puts the sentence and ": " in front of what is there. */
int err_wrap(struct err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Adds the remedy; returns err->code. */
int err_hint(struct err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
