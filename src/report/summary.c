/* SPDX-License-Identifier: MIT */
#include "report/summary.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "model/utf8.h"

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

static bool is_control(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0);
}

static void add_clean(struct text *ret, const char *s, bool for_terminal)
{
	while (*s) {
		uint32_t code;
		const size_t length = utf8_decode(s, &code);

		if (length == 0)
			text_add(ret, "%s", REPLACEMENT);
		else if (for_terminal && is_control(code))
			text_add(ret, "?");
		else
			text_add_bytes(ret, s, length);
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
