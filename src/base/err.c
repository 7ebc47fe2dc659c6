/* SPDX-License-Identifier: MIT */
#include "base/err.h"

#include <stdio.h>
#include <string.h>

__attribute__((format(printf, 3, 0)))
static void set_text(struct err *err, int code, const char *fmt, va_list args)
{
	err->code = code;
	err->hint[0] = '\0';
	vsnprintf(err->text, sizeof(err->text), fmt, args);
}

int err_set(struct err *err, int code, const char *fmt, ...)
{
	va_list args;

	if (!err)
		return code;
	va_start(args, fmt);
	set_text(err, code, fmt, args);
	va_end(args);
	return code;
}

int err_errno(struct err *err, int code, const char *fmt, ...)
{
	va_list args;
	size_t used;

	if (!err)
		return code;
	va_start(args, fmt);
	set_text(err, code, fmt, args);
	va_end(args);
	used = strlen(err->text);
	snprintf(err->text + used, sizeof(err->text) - used, ": %s", strerror(-code));
	return code;
}

int err_wrap(struct err *err, const char *fmt, ...)
{
	char inner[sizeof(err->text)];
	va_list args;
	size_t used;

	if (!err)
		return -1;
	memcpy(inner, err->text, sizeof(inner));
	va_start(args, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, args);
	va_end(args);
	used = strlen(err->text);
	snprintf(err->text + used, sizeof(err->text) - used, ": %s", inner);
	return err->code;
}

int err_hint(struct err *err, const char *fmt, ...)
{
	va_list args;

	if (!err)
		return -1;
	va_start(args, fmt);
	vsnprintf(err->hint, sizeof(err->hint), fmt, args);
	va_end(args);
	return err->code;
}
