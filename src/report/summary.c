/* SPDX-License-Identifier: MIT */
#include "report/summary.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"

#define REPLACEMENT "\xef\xbf\xbd"	/* U+FFFD */

const struct summary_percentile summary_percentiles[SUMMARY_PERCENTILES] = {
	{ "p50", "p50", 500000 },
	{ "p90", "p90", 900000 },
	{ "p99", "p99", 990000 },
	{ "p99_9", "p99.9", 999000 },
	{ "p99_99", "p99.99", 999900 },
};

uint64_t summary_request_count(const struct measurement *m)
{
	return m->ops[OP_READ].count + m->ops[OP_WRITE].count + m->ops[OP_TRIM].count;
}

double summary_per_second(uint64_t count, uint64_t duration_ns)
{
	return duration_ns ? (double)count * (double)SECOND_NS / (double)duration_ns : 0;
}

static double per_io(const struct measurement *m, uint64_t ns)
{
	const uint64_t count = summary_request_count(m);

	return count ? (double)ns / (double)count : 0;
}

double summary_user_ns_per_io(const struct measurement *m)
{
	return per_io(m, m->user_ns);
}

double summary_cpu_ns_per_io(const struct measurement *m)
{
	return per_io(m, m->user_ns + m->system_ns);
}

bool summary_has_op(const struct measurement *m, enum op_kind kind)
{
	const struct workload *w = &m->workload;

	if (m->ops[kind].count || m->ops[kind].error_count)
		return true;
	switch (kind) {
	case OP_READ:
		return workload_reads(w);
	case OP_WRITE:
		return workload_writes(w) && w->rw != RW_TRIM && w->rw != RW_RANDTRIM;
	case OP_TRIM:
		return workload_trims(w);
	default:
		return false;
	}
}

const char *summary_errno_name(int code, char *buffer)
{
	const char *name = strerrorname_np(code < 0 ? -code : code);

	if (name)
		return name;
	snprintf(buffer, 24, "errno %d", code < 0 ? -code : code);
	return buffer;
}

/* Bytes of the valid sequence at s, 0 when there is none (RFC 3629: no surrogates, no overlong). */
static size_t utf8_length(const unsigned char *s)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	uint32_t code;
	size_t length;

	if (s[0] < 0x80)
		return 1;
	if (s[0] < 0xc2 || s[0] > 0xf4)
		return 0;
	length = s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
	code = s[0] & (0x7fu >> length);
	for (size_t i = 1; i < length; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (s[i] & 0x3f);
	}
	if (code < least[length] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
		return 0;
	return length;
}

static bool is_control(const unsigned char *s, size_t length)
{
	return (length == 1 && (s[0] < 0x20 || s[0] == 0x7f)) ||
	       (length == 2 && s[0] == 0xc2 && s[1] < 0xa0);
}

static void add_clean(struct text *ret, const char *bytes, bool for_terminal)
{
	const unsigned char *s = (const unsigned char *)bytes;

	while (*s) {
		const size_t length = utf8_length(s);

		if (length == 0)
			text_add(ret, "%s", REPLACEMENT);
		else if (for_terminal && is_control(s, length))
			text_add(ret, "?");
		else
			text_add_bytes(ret, (const char *)s, length);
		s += length ? length : 1;
	}
}

void summary_add_utf8(struct text *ret, const char *bytes)
{
	add_clean(ret, bytes, false);
}

void summary_add_printable(struct text *ret, const char *bytes)
{
	add_clean(ret, bytes, true);
}
