/* SPDX-License-Identifier: MIT */
#include "foreign/place.h"

#include <stdarg.h>
#include <stdio.h>

int place_error(const struct place *place, int code, struct err *err, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (place->line && place->column)
		return err_set(err, code, "%s:%u:%u: %s", place->file, place->line, place->column,
			       text);
	if (place->line)
		return err_set(err, code, "%s:%u: %s", place->file, place->line, text);
	return err_set(err, code, "%s: %s", place->file, text);
}
