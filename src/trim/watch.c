/* SPDX-License-Identifier: MIT */
#include "trim/watch.h"

#include <errno.h>
#include <stdio.h>

#include "base/units.h"
#include "trim/probe_counts.h"

static void tell_risen(const struct trim_report *report, const struct trim_watch_options *options,
		       const struct counts *seen[3], uint64_t at_ns)
{
	const struct counts *first = seen[0], *last = seen[1], *now = seen[2];

	for (uint32_t i = 0; i < report->layer_count; i++) {
		const struct count *a = &last->layers[i], *b = &now->layers[i];
		const struct count *begin = &first->layers[i];

		/* One that came or went meanwhile has nothing to be compared with. */
		if (!begin->known || !a->known || !b->known || b->discard_count == a->discard_count)
			continue;
		options->line(options->ctx,
			      &(struct trim_watch_line){
				      .at_ns = at_ns,
				      .layer = i,
				      .discard_count = b->discard_count - a->discard_count,
				      .discard_bytes = b->discard_bytes - a->discard_bytes,
				      .discard_ns = b->discard_ns - a->discard_ns,
				      .total_count = b->discard_count - begin->discard_count,
				      .total_bytes = b->discard_bytes - begin->discard_bytes,
			      });
	}
}

int trim_watch(const struct trim_report *report, const struct trim_watch_options *options,
	       struct err *err)
{
	const uint64_t every_ns = options->every_ns ? options->every_ns : SECOND_NS;
	const uint64_t begin_ns = clock_now_ns(options->clock);
	struct counts first, last, now;
	uint64_t at_ns = begin_ns;

	counts_read(report, &first);
	if (counts_top(report, &first) == TRIM_TOP)
		return err_set(err, -ENODEV, "no layer below %s counts discards", report->spec);
	last = first;
	while (!options->stop || !*options->stop) {
		if (options->duration_ns && at_ns - begin_ns >= options->duration_ns)
			return 0;
		/* By the beginning, not by the last look: lines stay a second apart for hours. */
		at_ns += every_ns;
		clock_sleep_until(options->clock, at_ns, options->stop);
		counts_read(report, &now);
		tell_risen(report, options, (const struct counts *[]){ &first, &last, &now },
			   at_ns - begin_ns);
		last = now;
	}
	return 0;
}

void trim_watch_format(const struct trim_report *report, const struct trim_watch_line *line,
		       char *text, size_t text_bytes)
{
	char bytes[UNITS_TEXT_BYTES], total[UNITS_TEXT_BYTES], each[UNITS_TEXT_BYTES];

	snprintf(text, text_bytes, "%8.1f s  %-10s %10s in %llu discard%s, %s each; %s so far",
		 (double)line->at_ns / (double)SECOND_NS, report->layers[line->layer].name,
		 units_format_size((double)line->discard_bytes, bytes),
		 (unsigned long long)line->discard_count, line->discard_count == 1 ? "" : "s",
		 units_format_latency((double)line->discard_ns / (double)line->discard_count, each),
		 units_format_size((double)line->total_bytes, total));
}
