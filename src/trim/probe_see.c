/* SPDX-License-Identifier: MIT */

/*
 * probe_see - what became of it: counters of every layer, the pieces read back, what is allocated
 * below, and the guards. A guard that changed is told apart from a failed reading by a second look.
 */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/defer.h"
#include "base/units.h"
#include "model/result.h"
#include "trim/probe_work.h"

static const uint64_t default_after_ns[] = { 0, SECOND_NS, 5 * SECOND_NS, 10 * SECOND_NS };

/* XFS goes on sending after FITRIM has returned; others may never rest. */
#define DELIVER_QUIET_NS (300 * MILLISECOND_NS)
#define DELIVER_LIMIT_NS (1500 * MILLISECOND_NS)

/* --- counters -------------------------------------------------------------------------- */

/* What rises below, and not above, is of others. */
static bool rose_above(const struct trim_report *report, const struct trim_layer *layer)
{
	for (uint32_t at = layer->parent; at != TRIM_TOP; at = report->layers[at].parent)
		if (report->layers[at].have_delivered)
			return report->layers[at].delivered_bytes > 0;
	return true;
}

static void tell_delivered(struct probe *p, struct trim_layer *layer, uint64_t write_bytes)
{
	struct trim_evidence *evidence =
		trim_report_add(p->report, RUNG_SENT, "delivered", layer->name);
	char text[UNITS_TEXT_BYTES], written[UNITS_TEXT_BYTES];
	const bool ours = rose_above(p->report, layer);

	evidence->ok = layer->delivered_bytes > 0 && ours;
	evidence->bytes = layer->delivered_bytes;
	snprintf(evidence->text, sizeof(evidence->text), "%s discarded in %llu request%s at %s%s",
		 units_format_size((double)layer->delivered_bytes, text),
		 (unsigned long long)layer->delivered_count, layer->delivered_count == 1 ? "" : "s",
		 layer->name, layer->delivered_bytes && !ours ? ", but not by us" : "");
	if (!layer->becomes_writes || !write_bytes)
		return;
	snprintf(evidence->text + strlen(evidence->text),
		 sizeof(evidence->text) - strlen(evidence->text), "; %s went below as writes",
		 units_format_size((double)write_bytes, written));
}

static void tell_uncounted(struct probe *p, const struct trim_layer *layer)
{
	struct trim_evidence *evidence =
		trim_report_add(p->report, RUNG_NONE, "delivered", layer->name);

	snprintf(evidence->text, sizeof(evidence->text),
		 "%s does not count (queue/iostats is 0, or it has no stat)", layer->name);
}

static void deliver_sim(struct probe *p)
{
	struct trim_layer *layer = &p->report->layers[0];
	struct drive_truth truth;

	p->target->truth_end(p->target, &truth);
	for (uint32_t i = 0; i < truth.row_count; i++)
		if (strcmp(truth.rows[i].name, "host_trimmed_bytes") == 0)
			layer->delivered_bytes = (uint64_t)truth.rows[i].value;
	for (uint32_t i = 0; i < p->spread.count; i++)
		if (layer->delivered_bytes)
			layer->delivered_count += !p->spread.stretches[i].guard;
	layer->have_delivered = true;
	tell_delivered(p, layer, 0);
}

int probe_delivered(struct probe *p, struct err *err)
{
	const struct counts_wait wait = { .clock = p->clock,
					  .stop = p->options->stop,
					  .quiet_ns = DELIVER_QUIET_NS,
					  .limit_ns = DELIVER_LIMIT_NS };
	struct counts after;

	(void)err;
	if (p->queue) {
		deliver_sim(p);
		return 0;
	}
	counts_wait_quiet(p->report, &wait, &after);
	for (uint32_t i = 0; i < p->report->layer_count; i++) {
		const struct count *a = &p->before.layers[i], *b = &after.layers[i];
		struct trim_layer *layer = &p->report->layers[i];

		if (!a->known || !b->known) {
			if (layer->is_block)
				tell_uncounted(p, layer);
			continue;
		}
		layer->have_delivered = true;
		layer->delivered_count = b->discard_count - a->discard_count;
		layer->delivered_bytes = b->discard_bytes - a->discard_bytes;
		tell_delivered(p, layer, b->write_bytes - a->write_bytes);
	}
	return 0;
}

/* --- content --------------------------------------------------------------------------- */

/* What each piece holds now, added up and by size. */
struct seen {
	struct sector_count all;
	struct trim_size sizes[TRIM_SIZES];
	bool due_gone; /* every piece from which that is due is gone */
};

static int look_at(struct probe *p, const struct stretch *stretch, struct sector_count *ret,
		   struct err *err)
{
	const struct place_part part = { stretch->at_bytes, stretch->bytes };

	if (p->placed)
		return place_look_through(&p->place, &part, &p->key, ret, err);
	return probe_look(p, stretch, ret, err);
}

/* How many of its sectors must go: those in whole units of what lies below. */
static uint64_t due_sectors(const struct probe *p, const struct stretch *stretch)
{
	const uint64_t unit =
		p->report->unit_bytes > SECTOR_BYTES ? p->report->unit_bytes : SECTOR_BYTES;
	const struct place_part part = { stretch->at_bytes, stretch->bytes };
	uint64_t from, to;

	if (p->placed)
		return place_whole_units(&p->place, &part, unit) / SECTOR_BYTES;
	from = (stretch->at_bytes + unit - 1) / unit;
	to = (stretch->at_bytes + stretch->bytes) / unit;
	return to > from ? (to - from) * unit / SECTOR_BYTES : 0;
}

/*
 * Gone, if most of what must go is: a device may act on larger units than it says, and where the
 * piece begins within those is not known. What holds no whole unit is only counted when it went
 * all the same.
 */
static void judge_piece(struct seen *seen, const struct stretch *stretch,
			const struct sector_count *count, uint64_t due)
{
	struct trim_size *size = &seen->sizes[stretch->size_index];
	const uint64_t gone = count->zeros + count->ones;
	const bool is_gone = due ? 2 * gone >= due : gone == sector_total(count);

	seen->all.zeros += count->zeros;
	seen->all.ones += count->ones;
	seen->all.old += count->old;
	seen->all.other += count->other;
	if (!due && !is_gone)
		return;
	size->bytes = stretch->bytes;
	size->tried_count++;
	if (is_gone)
		size->gone_count++;
	else if (count->old >= count->other)
		size->old_count++;
	else
		size->other_count++;
	seen->due_gone &= is_gone;
}

static int see(struct probe *p, struct seen *ret, struct err *err)
{
	int r = 0;

	*ret = (struct seen){ .due_gone = true };
	for (uint32_t i = 0; r == 0 && i < p->spread.count; i++) {
		const struct stretch *stretch = &p->spread.stretches[i];
		struct sector_count count = { 0 };

		if (!stretch->freed)
			continue;
		r = look_at(p, stretch, &count, err);
		if (r == 0)
			judge_piece(ret, stretch, &count, due_sectors(p, stretch));
	}
	return r;
}

/* "128 MiB read as zeros, 4.00 KiB hold the old data": what there is of. */
static void describe(const struct sector_count *count, char *text, size_t text_bytes)
{
	const struct {
		uint64_t sectors;
		const char *words;
	} parts[] = {
		{ count->zeros, "read as zeros" },
		{ count->ones, "read as ones" },
		{ count->old, "hold the old data" },
		{ count->other, "hold something else" },
	};
	char size[UNITS_TEXT_BYTES];
	size_t length = 0;

	text[0] = '\0';
	for (size_t i = 0; i < ARRAY_COUNT(parts); i++) {
		if (!parts[i].sectors || length >= text_bytes)
			continue;
		length += (size_t)snprintf(
			text + length, text_bytes - length, "%s%s %s", length ? ", " : "",
			units_format_size((double)(parts[i].sectors * SECTOR_BYTES), size),
			parts[i].words);
	}
}

static void tell_seen(struct probe *p, const struct seen *seen)
{
	const uint64_t gone = seen->all.zeros + seen->all.ones, total = sector_total(&seen->all);
	struct trim_report *report = p->report;
	char all[UNITS_TEXT_BYTES], what[200];
	struct trim_evidence *evidence;

	describe(&seen->all, what, sizeof(what));
	evidence = probe_say(p, RUNG_EFFECT, "read-back", 2 * gone >= total, "of %s freed, %s",
			     units_format_size((double)(total * SECTOR_BYTES), all), what);
	evidence->bytes = gone * SECTOR_BYTES;
	evidence->content = sector_most(&seen->all);
	evidence->after_ns = clock_now_ns(p->clock) - p->freed_ns;
	snprintf(evidence->layer, sizeof(evidence->layer), "%s",
		 p->placed ? report->layers[p->place.low.list[0].layer].name : report->device);
	report->size_count = 0;
	for (uint32_t i = 0; i < p->spread.size_count; i++)
		if (seen->sizes[i].tried_count)
			report->sizes[report->size_count++] = seen->sizes[i];
}

int probe_read_back(struct probe *p, struct err *err)
{
	const uint64_t *after_ns = p->options->read_after_ns;
	uint32_t count = p->options->read_after_count;
	const uint64_t begin_ns = clock_now_ns(p->clock);

	if (!after_ns) {
		after_ns = default_after_ns;
		count = ARRAY_COUNT(default_after_ns);
	}
	/* Through a file a hole reads as zeros, whatever lies below. */
	if (p->is_file && !p->placed)
		return 0;
	for (uint32_t i = 0; i < count && (i == 0 || !probe_stopped(p)); i++) {
		struct seen seen;
		int r;

		clock_sleep_until(p->clock, begin_ns + after_ns[i], p->options->stop);
		r = see(p, &seen, err);
		if (r < 0) {
			probe_failed(p, RUNG_EFFECT, "read-back", err);
			*err = (struct err){ 0 };
			return 0;
		}
		tell_seen(p, &seen);
		/* What was never asked for will not come. */
		if (seen.due_gone || p->ended)
			break;
	}
	return 0;
}

int probe_space(struct probe *p, struct err *err)
{
	const int fd = p->is_file ? p->target->fd : -1;

	(void)err;
	if (p->watched)
		space_end(&p->space, p->report, fd, p->report->asked_bytes);
	return 0;
}

/* --- guards ---------------------------------------------------------------------------- */

/* The first sector of the guard that is not as written: true with what it holds. */
static bool find_changed(struct probe *p, const struct stretch *guard, uint64_t *ret_at,
			 enum trim_content *ret)
{
	for (uint64_t at = 0; at < guard->bytes; at += SECTOR_BYTES * 8) {
		const struct stretch block = { .at_bytes = guard->at_bytes + at,
					       .bytes = SECTOR_BYTES * 8 };
		struct sector_count count = { 0 };

		*ret_at = block.at_bytes;
		if (probe_look(p, &block, &count, NULL) < 0) {
			*ret = CONTENT_NOT_READ;
			return true;
		}
		if (count.old == sector_total(&count))
			continue;
		count.old = 0;
		*ret = sector_most(&count);
		return true;
	}
	return false;
}

/* Twice: a bad reading is not a lost block. */
static bool is_changed(struct probe *p, const struct stretch *guard)
{
	for (int i = 0; i < 2; i++) {
		const struct place_part part = { guard->at_bytes, guard->bytes };
		struct sector_count count = { 0 };
		int r = probe_look(p, guard, &count, NULL);

		if (r == 0 && p->placed && p->place.plain.count)
			r = place_look(&p->place, &p->place.plain, &part, &p->key, &count, NULL);
		if (r == 0 && count.old == sector_total(&count))
			return false;
	}
	return true;
}

static void tell_changed(struct probe *p, const struct stretch *guard)
{
	enum trim_content content = CONTENT_OTHER;
	struct trim_report *report = p->report;
	uint64_t at = guard->at_bytes;
	char where[96];

	find_changed(p, guard, &at, &content);
	if (p->placed)
		place_describe(&p->place, at, where, sizeof(where));
	else
		snprintf(where, sizeof(where), "byte %llu of %.64s", (unsigned long long)at,
			 p->is_file ? "the test file"
			 : p->queue ? "the drive"
				    : p->report->device);
	report->guards_changed = true;
	if (content == CONTENT_NOT_READ)
		snprintf(report->guards_text, sizeof(report->guards_text),
			 "the block at %s, which was not discarded, cannot be read any more",
			 where);
	else
		snprintf(report->guards_text, sizeof(report->guards_text),
			 "the block at %s, which was not discarded, should hold our test data and "
			 "holds %s",
			 where, trim_content_names[content]);
}

int probe_kept(struct probe *p, struct err *err)
{
	(void)err;
	for (uint32_t i = 0; i < p->spread.count; i++) {
		const struct stretch *stretch = &p->spread.stretches[i];
		char text[UNITS_TEXT_BYTES];

		if (!stretch->guard || !is_changed(p, stretch))
			continue;
		probe_say(p, RUNG_NONE, "guards-written", false,
			  "a guard of %s does not read back as it was written, before anything was "
			  "discarded: nothing can be told from what this drive returns",
			  units_format_size((double)stretch->bytes, text));
		return PROBE_END;
	}
	return 0;
}

int probe_guards(struct probe *p, struct err *err)
{
	struct trim_report *report = p->report;
	char text[UNITS_TEXT_BYTES];
	uint64_t bytes = 0;

	(void)err;
	for (uint32_t i = 0; i < p->spread.count && !report->guards_changed; i++) {
		const struct stretch *stretch = &p->spread.stretches[i];

		if (!stretch->guard)
			continue;
		bytes += stretch->bytes;
		if (is_changed(p, stretch))
			tell_changed(p, stretch);
	}
	if (report->guards_changed) {
		probe_say(p, RUNG_NONE, "guards", false, "%s", report->guards_text);
		return 0;
	}
	probe_say(p, RUNG_NONE, "guards", true,
		  "all %s of guards beside what was discarded are unchanged",
		  units_format_size((double)bytes, text))
		->bytes = bytes;
	return 0;
}
