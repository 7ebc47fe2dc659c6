/* SPDX-License-Identifier: MIT */
#include "base/units.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/defer.h"

struct suffix {
	const char *name;
	uint64_t factor;
};

static const struct suffix byte_suffixes[] = {
	{ "", 1 },
	{ "b", 1 },
	{ "k", KIB },
	{ "kib", KIB },
	{ "kb", 1000 },
	{ "m", MIB },
	{ "mib", MIB },
	{ "mb", 1000000 },
	{ "g", GIB },
	{ "gib", GIB },
	{ "gb", 1000000000 },
	{ "t", TIB },
	{ "tib", TIB },
	{ "tb", 1000000000000 },
	{ "p", 1024 * TIB },
	{ "pib", 1024 * TIB },
	{ "pb", 1000000000000000 },
	{ NULL, 0 },
};

static const struct suffix time_suffixes[] = {
	{ "", SECOND_NS },	   { "ns", 1 },
	{ "us", MICROSECOND_NS },  { "µs", MICROSECOND_NS },
	{ "ms", MILLISECOND_NS },  { "s", SECOND_NS },
	{ "m", 60 * SECOND_NS },   { "min", 60 * SECOND_NS },
	{ "h", 3600 * SECOND_NS }, { "d", 86400 * SECOND_NS },
	{ NULL, 0 },
};

static const struct suffix count_suffixes[] = {
	{ "", 1 }, { "k", 1000 }, { "m", 1000000 }, { "g", 1000000000 }, { NULL, 0 },
};

static const struct suffix ppm_suffixes[] = {
	{ "", 10000 }, { "%", 10000 }, { NULL, 0 },
};

struct unit_parse {
	const struct suffix *suffixes;
	const char *what;	/* "size" */
	const char *accepted;	/* the list an error shows */
};

static int suffix_find(const struct unit_parse *unit, const char *text, uint64_t *ret)
{
	for (const struct suffix *s = unit->suffixes; s->name; s++) {
		if (strcasecmp(s->name, text) == 0) {
			*ret = s->factor;
			return 0;
		}
	}
	return -EINVAL;
}

static int bad(const char *text, const struct unit_parse *unit, struct err *err)
{
	return err_set(err, -EINVAL, "'%s' is not a %s; %s", text, unit->what, unit->accepted);
}

/*
 * Digits, at most one point, then a suffix. Whole numbers are exact; a fraction goes
 * through a double, whose 53 bits are plenty for something like 1.5g.
 */
static int parse_number(const char *text, const struct unit_parse *unit, uint64_t *ret,
			struct err *err)
{
	const size_t digits = strspn(text, "0123456789");
	uint64_t whole, factor;
	char *end;

	if (digits == 0)
		return bad(text, unit, err);
	if (text[digits] == '.') {
		const size_t decimals = strspn(text + digits + 1, "0123456789");
		double value;

		if (decimals == 0)
			return bad(text, unit, err);
		value = strtod(text, NULL);
		if (suffix_find(unit, text + digits + 1 + decimals, &factor) < 0)
			return bad(text, unit, err);
		value = nearbyint(value * (double)factor);
		if (value >= 0x1p63)
			return err_set(err, -ERANGE, "%s '%s' is too large", unit->what, text);
		*ret = (uint64_t)value;
		return 0;
	}
	errno = 0;
	whole = strtoull(text, &end, 10);
	if (suffix_find(unit, end, &factor) < 0)
		return bad(text, unit, err);
	if (errno == ERANGE || __builtin_mul_overflow(whole, factor, ret) || *ret >> 63)
		return err_set(err, -ERANGE, "%s '%s' is too large", unit->what, text);
	return 0;
}

int units_parse_bytes(const char *text, uint64_t *ret, struct err *err)
{
	static const struct unit_parse unit = {
		byte_suffixes, "size",
		"write bytes as 4096, 4k, 4KiB (1024) or 4kB (1000), with k, m, g, t or p",
	};
	uint64_t value;
	int r = parse_number(text, &unit, &value, err);

	if (r == 0)
		*ret = value;
	return r;
}

int units_parse_time_ns(const char *text, uint64_t *ret, struct err *err)
{
	static const struct unit_parse unit = {
		time_suffixes, "time", "write 90, 90s, 500ms, 10us, 100ns, 1m, 1h or 1d",
	};
	uint64_t value;
	int r = parse_number(text, &unit, &value, err);

	if (r == 0)
		*ret = value;
	return r;
}

int units_parse_count(const char *text, uint64_t *ret, struct err *err)
{
	static const struct unit_parse unit = {
		count_suffixes, "count", "write 500, 10k or 1.5M (thousands and millions)",
	};
	uint64_t value;
	int r = parse_number(text, &unit, &value, err);

	if (r == 0)
		*ret = value;
	return r;
}

int units_parse_ppm(const char *text, uint32_t *ret_ppm, struct err *err)
{
	static const struct unit_parse unit = {
		ppm_suffixes, "percentage", "write 70 or 70%, from 0 to 100",
	};
	uint64_t value;
	int r = parse_number(text, &unit, &value, err);

	if (r < 0)
		return r;
	if (value > PPM)
		return err_set(err, -ERANGE, "'%s' is more than 100 %%", text);
	*ret_ppm = (uint32_t)value;
	return 0;
}

static char *format_exact(uint64_t value, const struct suffix *table, size_t count, char *buffer)
{
	for (size_t i = 0; i < count; i++) {
		if (value && value % table[i].factor == 0) {
			snprintf(buffer, UNITS_TEXT_BYTES, "%llu%s",
				 (unsigned long long)(value / table[i].factor), table[i].name);
			return buffer;
		}
	}
	snprintf(buffer, UNITS_TEXT_BYTES, "%llu", (unsigned long long)value);
	return buffer;
}

char *units_format_bytes(uint64_t bytes, char *buffer)
{
	static const struct suffix table[] = {
		{ "t", TIB }, { "g", GIB }, { "m", MIB }, { "k", KIB },
	};

	return format_exact(bytes, table, ARRAY_COUNT(table), buffer);
}

char *units_format_count(uint64_t count, char *buffer)
{
	static const struct suffix table[] = { { "M", 1000000 }, { "k", 1000 } };

	return format_exact(count, table, ARRAY_COUNT(table), buffer);
}

char *units_format_time_ns(uint64_t ns, char *buffer)
{
	static const struct suffix table[] = {
		{ "h", 3600 * SECOND_NS }, { "m", 60 * SECOND_NS },   { "s", SECOND_NS },
		{ "ms", MILLISECOND_NS },  { "us", MICROSECOND_NS }, { "ns", 1 },
	};

	return format_exact(ns, table, ARRAY_COUNT(table), buffer);
}

/* Three digits: 6.91, 14.2, 812. A value that rounds up to 1000 moves to the next unit. */
static char *format_scaled(double value, double step, const char *const *names, char *buffer)
{
	const char *sign = value < 0 ? "-" : "";

	value = fabs(value);
	while (names[1] && value >= step * 0.9995) {
		value /= step;
		names++;
	}
	snprintf(buffer, UNITS_TEXT_BYTES, "%s%.*f %s", sign,
		 value >= 99.95 || value == 0 ? 0 : value >= 9.995 ? 1 : 2, value, *names);
	return buffer;
}

char *units_format_size(double bytes, char *buffer)
{
	static const char *const names[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", NULL };

	return format_scaled(bytes, 1024, names, buffer);
}

char *units_format_rate_bytes(double bytes_per_s, char *buffer)
{
	static const char *const names[] = { "B/s", "kB/s", "MB/s", "GB/s", "TB/s", NULL };

	return format_scaled(bytes_per_s, 1000, names, buffer);
}

char *units_format_rate(double per_s, char *buffer)
{
	static const char *const names[] = { "/s", "k/s", "M/s", "G/s", NULL };

	return format_scaled(per_s, 1000, names, buffer);
}

char *units_format_latency(double ns, char *buffer)
{
	static const char *const names[] = { "ns", "µs", "ms", "s", NULL };

	return format_scaled(ns, 1000, names, buffer);
}

char *units_format_ppm(uint32_t ppm, char *buffer)
{
	snprintf(buffer, UNITS_TEXT_BYTES, "%.6g%%", ppm / 1e4);
	return buffer;
}
