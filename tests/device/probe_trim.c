/* SPDX-License-Identifier: MIT */

/*
 * probe_trim - walks down from a place and probes it, with waits as short as a test wants, and
 * prints what was seen: one line for each piece of evidence, layer and size. For device tests.
 *
 *	probe_trim [--sizes=4k,1m] [--quiet=100ms] [--online=2s] [--after=0,1s] [--erase-data=NAME]
 *		   [--by-deletion] [--hold=DOING] PLACE
 *
 * --hold stops where the probe says that it is DOING so, until killed.
 */

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/units.h"
#include "trim/probe.h"
#include "trim/walk.h"

static uint64_t sizes[TRIM_SIZES], after_ns[16];
static struct trim_report report;
static const char *hold_at;

static uint32_t list(char *text, uint64_t *ret, uint32_t room,
		     int (*parse)(const char *, uint64_t *, struct err *))
{
	uint32_t count = 0;
	char *word;

	while ((word = strsep(&text, ",")) && count < room)
		if (parse(word, &ret[count], NULL) == 0)
			count++;
	return count;
}

static void progress(void *ctx, const char *doing, double done_ratio)
{
	(void)ctx;
	(void)done_ratio;
	if (!hold_at || strcmp(doing, hold_at) != 0)
		return;
	printf("held\n");
	fflush(stdout);
	pause();
}

static void option(struct trim_probe_options *o, char *word)
{
	char *value = strchr(word, '=');

	value = value ? value + 1 : word;
	if (strncmp(word, "--sizes=", 8) == 0) {
		o->size_count = list(value, sizes, TRIM_SIZES, units_parse_bytes);
		o->sizes = sizes;
	} else if (strncmp(word, "--after=", 8) == 0) {
		o->read_after_count = list(value, after_ns, 16, units_parse_time_ns);
		o->read_after_ns = after_ns;
	} else if (strncmp(word, "--quiet=", 8) == 0) {
		units_parse_time_ns(value, &o->quiet_ns, NULL);
	} else if (strncmp(word, "--online=", 9) == 0) {
		units_parse_time_ns(value, &o->online_ns, NULL);
	} else if (strncmp(word, "--erase-data=", 13) == 0) {
		o->erase_serial = value;
	} else if (strcmp(word, "--by-deletion") == 0) {
		o->by_deletion = true;
	} else if (strncmp(word, "--hold=", 7) == 0) {
		hold_at = value;
	}
}

static void print_layers(void)
{
	for (uint32_t i = 0; i < report.layer_count; i++) {
		const struct trim_layer *l = &report.layers[i];

		printf("layer %s kind=%s capable=%d delivered=%llu\n", l->name, l->kind, l->capable,
		       (unsigned long long)l->delivered_bytes);
	}
}

static void print_evidence(void)
{
	for (uint32_t i = 0; i < report.evidence_count; i++) {
		const struct trim_evidence *e = &report.evidence[i];

		printf("evidence %s layer=%s ok=%d error=%d bytes=%llu content='%s' after_ms=%llu: "
		       "%s\n",
		       e->code, e->layer, e->ok, e->error, (unsigned long long)e->bytes,
		       trim_content_names[e->content],
		       (unsigned long long)(e->after_ns / MILLISECOND_NS), e->text);
	}
	for (uint32_t i = 0; i < report.size_count; i++) {
		const struct trim_size *s = &report.sizes[i];

		printf("size %llu tried=%u gone=%u old=%u other=%u\n", (unsigned long long)s->bytes,
		       s->tried_count, s->gone_count, s->old_count, s->other_count);
	}
}

int main(int argc, char **argv)
{
	struct trim_probe_options options = { 0 };
	const char *place = ".";
	struct clock clock;
	struct err err = { 0 };

	clock_init_real(&clock);
	options.clock = &clock;
	options.progress = progress;
	for (int i = 1; i < argc; i++) {
		if (strncmp(argv[i], "--", 2) == 0)
			option(&options, argv[i]);
		else
			place = argv[i];
	}
	if (trim_walk("", place, &report, &err) < 0 || trim_probe(&report, &options, &err) < 0) {
		printf("error %d: %s\n", err.code, err.text);
		return 1;
	}
	print_layers();
	print_evidence();
	printf("report rung=%s mapping=%d space_freed=%d guards_changed=%d aborted=%d asked=%llu\n",
	       trim_rung_names[report.rung], report.mapping, report.space_freed,
	       report.guards_changed, report.aborted, (unsigned long long)report.asked_bytes);
	return 0;
}
