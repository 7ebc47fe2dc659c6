/* SPDX-License-Identifier: MIT */
#include "trim/judge.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/defer.h"
#include "base/units.h"
#include "trim/judge_parts.h"

/* --- reading the report ------------------------------------------------------------------- */

bool judge_is_leaf(const struct trim_report *report, uint32_t index)
{
	for (uint32_t i = index + 1; i < report->layer_count; i++)
		if (report->layers[i].parent == index)
			return false;
	return true;
}

const struct trim_evidence *judge_last(const struct trim_report *report, const char *code)
{
	for (uint32_t i = report->evidence_count; i-- > 0;)
		if (strcmp(report->evidence[i].code, code) == 0)
			return &report->evidence[i];
	return NULL;
}

static bool announces(const struct trim_layer *layer)
{
	return layer->granularity_bytes > 0 && layer->max_bytes > 0;
}

static bool any_virtual(const struct trim_report *report)
{
	for (uint32_t i = 0; i < report->layer_count; i++)
		if (report->layers[i].is_virtual)
			return true;
	return false;
}

static bool moves_blocks(const struct trim_report *report, uint32_t index)
{
	for (uint32_t i = 0; i < report->segment_count; i++)
		if (report->segments[i].layer == index && report->segments[i].how == MAP_UNKNOWN)
			return true;
	return false;
}

static bool has_block_below(const struct trim_report *report, uint32_t index)
{
	for (uint32_t i = index + 1; i < report->layer_count; i++)
		if (report->layers[i].parent == index && report->layers[i].is_block)
			return true;
	return false;
}

/*
 * The devices that are read back: those from which on it is not known any more where a byte
 * lies. A loop device over a file is one, whatever the file lies on.
 */
static bool is_read(const struct trim_report *report, uint32_t index, bool read[TRIM_LAYERS])
{
	read[index] = false;
	for (uint32_t at = report->layers[index].parent; at != TRIM_TOP;
	     at = report->layers[at].parent)
		if (read[at])
			return false;
	read[index] = report->layers[index].is_block &&
		      (moves_blocks(report, index) || !has_block_below(report, index));
	return read[index];
}

bool judge_zeros_promised(const struct trim_report *report)
{
	bool read[TRIM_LAYERS], any = false;

	for (uint32_t i = 0; i < report->layer_count; i++) {
		if (!is_read(report, i, read))
			continue;
		any = true;
		if (report->layers[i].zeroes != TRIM_YES)
			return false;
	}
	return any;
}

bool judge_ones_promised(const struct trim_report *report)
{
	bool read[TRIM_LAYERS], any = false;

	for (uint32_t i = 0; i < report->layer_count; i++) {
		if (!is_read(report, i, read))
			continue;
		any = true;
		if (!report->layers[i].ones)
			return false;
	}
	return any;
}

/* The nearest layer above that counts. */
const struct trim_layer *judge_counted_above(const struct trim_report *report, uint32_t index)
{
	for (uint32_t at = report->layers[index].parent; at != TRIM_TOP;
	     at = report->layers[at].parent)
		if (report->layers[at].have_delivered)
			return &report->layers[at];
	return NULL;
}

/*
 * Discards reached the first layer that counts. What only a deeper one counted came from
 * somebody else: a backing file that was written to, for one.
 */
bool judge_was_sent(const struct trim_report *report)
{
	for (uint32_t i = 0; i < report->layer_count; i++)
		if (report->layers[i].have_delivered && report->layers[i].delivered_count > 0 &&
		    !judge_counted_above(report, i))
			return true;
	return false;
}

/* --- writing the verdict ------------------------------------------------------------------ */

void judge_say(struct trim_report *report, const char *code, const char *reason, const char *fmt,
	       ...)
{
	struct trim_verdict *verdict = &report->verdict;
	va_list args;

	snprintf(verdict->code, sizeof(verdict->code), "%s", code);
	snprintf(verdict->reason, sizeof(verdict->reason), "%s", reason);
	va_start(args, fmt);
	vsnprintf(verdict->text, sizeof(verdict->text), fmt, args);
	va_end(args);
}

void judge_more(struct trim_report *report, const char *fmt, ...)
{
	char *text = report->verdict.text;
	const size_t length = strlen(text);
	va_list args;

	va_start(args, fmt);
	vsnprintf(text + length, sizeof(report->verdict.text) - length, fmt, args);
	va_end(args);
}

void judge_blame(struct trim_report *report, const struct trim_layer *layer)
{
	snprintf(report->verdict.layer, sizeof(report->verdict.layer), "%s", layer->name);
	snprintf(report->verdict.remedy, sizeof(report->verdict.remedy), "%s", layer->remedy);
}

void judge_remedy(struct trim_report *report, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(report->verdict.remedy, sizeof(report->verdict.remedy), fmt, args);
	va_end(args);
}

/* --- the rules, in their order; each says whether it holds --------------------------------- */

static bool guards_changed(struct trim_report *report)
{
	if (!report->guards_changed)
		return false;
	judge_say(report, "dangerous", "GUARDS",
		  "DATA LOSS: a discard changed data beside the range it was for: %s",
		  report->guards_text[0] ? report->guards_text : "a guard block changed");
	snprintf(report->verdict.layer, sizeof(report->verdict.layer), "%s", report->device);
	judge_remedy(report, "# Enable neither fstrim.timer nor discard mounts on this drive, switch "
			   "off those there are, and check what lies on it against a backup.");
	return true;
}

static bool aborted(struct trim_report *report)
{
	const struct trim_evidence *seen = judge_last(report, "kernel-log");

	if (!report->aborted)
		return false;
	judge_say(report, "dangerous", "RESET",
		  "the link was reset or a command timed out after one small discard; stopped%s%s",
		  seen && seen->text[0] ? ": " : "", seen ? seen->text : "");
	snprintf(report->verdict.layer, sizeof(report->verdict.layer), "%s", report->device);
	judge_remedy(report,
		   "# Enable neither fstrim.timer nor discard mounts. Another controller or port "
		   "may help;\n# libata.force=noncqtrim on the kernel's command line is something "
		   "to try, not a cure.");
	return true;
}

/* A layer on which nothing becomes free that a drive should be told of. */
static bool has_nothing_to_tell(const struct trim_layer *layer)
{
	static const char *const reasons[] = { "MEMORY", "SERVER", "READ_ONLY" };

	for (size_t i = 0; i < ARRAY_COUNT(reasons); i++)
		if (strcmp(layer->reason, reasons[i]) == 0)
			return true;
	return false;
}

static bool is_hard_disk(const struct trim_layer *layer)
{
	return layer->is_block && layer->rotational && !announces(layer) && !layer->is_virtual;
}

static bool needs_no_trim(const struct trim_layer *layer)
{
	return has_nothing_to_tell(layer) || is_hard_disk(layer);
}

/* A hard disk below something that frees space of its own ends the chain; it is in no way. */
static bool ends_the_chain(const struct trim_report *report, uint32_t index)
{
	if (!is_hard_disk(&report->layers[index]))
		return false;
	for (uint32_t at = report->layers[index].parent; at != TRIM_TOP;
	     at = report->layers[at].parent)
		if (announces(&report->layers[at]))
			return true;
	return false;
}

static bool not_applicable(struct trim_report *report)
{
	const struct trim_layer *last = NULL;

	for (uint32_t i = 0; i < report->layer_count; i++) {
		const struct trim_layer *layer = &report->layers[i];

		/* A layer above that takes discards is something of its own to prove. */
		if (layer->is_block && announces(layer))
			return false;
		if (!judge_is_leaf(report, i))
			continue;
		if (!needs_no_trim(layer))
			return false;
		if (!last)
			last = layer;
	}
	if (!last)
		return false;
	judge_blame(report, last);
	report->verdict.remedy[0] = '\0';
	if (last->reason[0] && !last->is_block)
		judge_say(report, "not-applicable", last->reason, "nothing to trim: %s", last->why);
	else
		judge_say(report, "not-applicable", "ROTATIONAL",
			  "nothing to trim: %s is a hard disk without discard, which writes over "
			  "old data as fast as over none", last->name);
	return true;
}

/* "sda2 and sda below are fine", or which are not. */
static void add_below(struct trim_report *report, uint32_t index)
{
	const char *fine[4] = { NULL };
	uint32_t fine_count = 0;
	char text[240] = "";

	for (uint32_t i = index + 1; i < report->layer_count; i++) {
		const struct trim_layer *layer = &report->layers[i];

		if (layer->capable == TRIM_NO && layer->reason[0] && !ends_the_chain(report, i)) {
			judge_more(report, "; beyond it %s is in the way too (%s)", layer->name,
				   layer->reason);
			return;
		}
		if (layer->capable == TRIM_YES && layer->is_block && fine_count < 4 &&
		    !strstr(text, layer->name))
			fine[fine_count++] = layer->name;
	}
	for (uint32_t i = 0; i < fine_count; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s",
			 i == 0 ? "" : i + 1 == fine_count ? " and " : ", ", fine[i]);
	if (fine_count)
		judge_more(report, "; below it %s %s fine", text, fine_count > 1 ? "are" : "is");
}

/* A pool above the layer takes its own space back, whatever becomes of the rest. */
static void add_half_open(struct trim_report *report, uint32_t index)
{
	char size[UNITS_TEXT_BYTES];

	for (uint32_t i = 0; i <= index; i++) {
		const struct trim_layer *layer = &report->layers[i];

		if (strcmp(layer->kind, "thin-pool") != 0 ||
		    strcmp(layer->reason, "THIN_IGNORE") == 0)
			continue;
		judge_more(report, "; the pool %s itself gets its space back, in whole chunks",
			   layer->name);
		if (layer->granularity_bytes)
			judge_more(report, " of %s",
				   units_format_size((double)layer->granularity_bytes, size));
	}
}

static bool blocked(struct trim_report *report)
{
	for (uint32_t i = 0; i < report->layer_count; i++) {
		const struct trim_layer *layer = &report->layers[i];

		if (layer->capable != TRIM_NO || ends_the_chain(report, i))
			continue;
		judge_blame(report, layer);
		if (has_nothing_to_tell(layer)) {
			judge_say(report, "not-applicable", layer->reason, "nothing to trim: %s",
				  layer->why);
			return true;
		}
		judge_say(report, "blocked", layer->reason, "not end to end; %s (%s): %s",
			  layer->name, layer->kind, layer->why);
		add_half_open(report, i);
		add_below(report, i);
		judge_asked(report);
		if (!report->verdict.remedy[0])
			judge_remedy(report, "# none that tare knows of: another device, or another "
					     "way to attach it");
		return true;
	}
	return false;
}

/* The discard itself failed. */
static const struct trim_evidence *failure(const struct trim_report *report)
{
	static const char *const codes[] = { "fitrim", "discard", "punch-hole" };

	for (uint32_t i = 0; i < report->evidence_count; i++)
		for (size_t k = 0; k < ARRAY_COUNT(codes); k++)
			if (report->evidence[i].error &&
			    strcmp(report->evidence[i].code, codes[k]) == 0)
				return &report->evidence[i];
	return NULL;
}

static void say_no_rights(struct trim_report *report, const char *what)
{
	char place[TRIM_QUOTED_BYTES];

	judge_say(report, "cannot-tell", "NO_RIGHTS", "%s needs root", what);
	judge_remedy(report, "sudo tare trim %s", trim_quote(report->spec, place));
}

static void say_fails(struct trim_report *report, const struct trim_evidence *evidence)
{
	const bool refused = evidence->error == -EOPNOTSUPP || evidence->error == -ENOTTY;
	const struct trim_layer *layer = trim_report_layer(report, evidence->layer);

	/* Who says that it cannot is the one that was asked; who fails is the last one. */
	if (!layer)
		layer = trim_report_layer(report, refused ? "" : report->device);
	if (!layer)
		layer = &report->layers[0];
	if (judge_kernel(report, "fails"))
		return;
	judge_blame(report, layer);
	judge_say(report, "blocked", "FAILS",
		  "advertised, but the command fails at %s: %s", layer->name,
		  evidence->text[0] ? evidence->text : strerror(-evidence->error));
	judge_fails_remedy(report, layer, evidence->error);
	judge_asked(report);
}

static bool failed(struct trim_report *report)
{
	const struct trim_evidence *evidence = failure(report);

	if (!evidence || report->layer_count == 0)
		return false;
	switch (evidence->error) {
	case -EPERM:
	case -EACCES:
		/* Without the right to ask, a mount that discards by itself may have told. */
		if (judge_was_sent(report))
			return false;
		say_no_rights(report, "asking the file system to trim");
		break;
	case -EROFS:
		judge_say(report, "cannot-tell", "READ_ONLY",
			  "the file system is mounted read only: nothing can be tried on it");
		judge_remedy(report, "# mount it for writing, or unmount it and ask for the device");
		break;
	default:
		say_fails(report, evidence);
		break;
	}
	return true;
}

/* Something was discarded, whatever came of it. */
static bool was_tried(const struct trim_report *report)
{
	for (uint32_t i = 0; i < report->layer_count; i++)
		if (report->layers[i].have_delivered)
			return true;
	return report->rung >= RUNG_SENT || report->asked_bytes > 0;
}

static bool wants_root(struct trim_report *report)
{
	if (was_tried(report))
		return false;
	for (uint32_t i = 0; i < report->layer_count; i++) {
		const struct trim_layer *layer = &report->layers[i];
		char what[256];

		if (layer->capable != TRIM_UNKNOWN || !layer->needs_root[0])
			continue;
		snprintf(what, sizeof(what), "%s: to read %s", layer->name, layer->needs_root);
		say_no_rights(report, what);
		snprintf(report->verdict.layer, sizeof(report->verdict.layer), "%s", layer->name);
		return true;
	}
	return false;
}

static bool layer_not_known(struct trim_report *report)
{
	if (was_tried(report))
		return false;
	for (uint32_t i = 0; i < report->layer_count; i++) {
		const struct trim_layer *layer = &report->layers[i];

		if (layer->capable != TRIM_UNKNOWN || layer->reason[0] || !layer->why[0])
			continue;
		judge_blame(report, layer);
		judge_say(report, "cannot-tell", "NOT_KNOWN", "%s (%s): %s", layer->name,
			  layer->kind, layer->why);
		return true;
	}
	return false;
}

static bool not_tried(struct trim_report *report)
{
	const bool on_device = report->layer_count && report->layers[0].is_block;
	char place[TRIM_QUOTED_BYTES];
	const struct trim_evidence *why = report->evidence_count ?
		&report->evidence[report->evidence_count - 1] : NULL;

	if (was_tried(report))
		return false;
	if (why && strcmp(why->code, "guards-written") == 0) {
		judge_say(report, "cannot-tell", "NOT_KEPT", "%s", why->text);
		return true;
	}
	judge_say(report, "cannot-tell", "NOT_TRIED",
		  "every layer says that it takes discards; none was sent, so that nothing is "
		  "proven");
	if (why && why->error)
		judge_more(report, ": %s", why->text);
	trim_quote(report->spec, place);
	if (on_device)
		judge_remedy(report, "tare trim --erase-data %s     # erases what is on the device",
			     place);
	else
		judge_remedy(report, "sudo tare trim %s     # where a test file can be made", place);
	return true;
}

static bool (*const rules[])(struct trim_report *report) = {
	guards_changed, aborted, not_applicable, blocked, failed, wants_root, layer_not_known,
	not_tried, judge_not_sent, judge_not_passed, judge_mapping, judge_partial, judge_content,
	judge_not_read,
};

/* --- together ----------------------------------------------------------------------------- */

static bool has_device(const struct trim_report *report)
{
	for (uint32_t i = 0; i < report->layer_count; i++)
		if (report->layers[i].is_block)
			return true;
	return false;
}

/* The timer where systemd has one to enable; else the mount option. */
static void switch_on_remedy(struct trim_report *report)
{
	const bool is_btrfs = strcmp(report->layers[0].kind, "btrfs") == 0;
	const char *option = is_btrfs ? "discard=async" : "discard";
	char point[TRIM_QUOTED_BYTES];

	if (report->active.has_timer)
		judge_remedy(report, "systemctl enable --now fstrim.timer%s", is_btrfs ?
			     "     # or: mount -o remount,discard=async, from kernel 5.6" : "");
	else
		judge_remedy(report, "mount -o remount,%s %s     # for good: %s among the options in "
				     "/etc/fstab; or fstrim -a, weekly, by cron",
			     option, trim_quote(report->layers[0].name, point), option);
}

void judge_works(struct trim_report *report, const char *how)
{
	const struct trim_active *active = &report->active;
	/* Without a device below, FITRIM has nobody to tell: holes are all there is. */
	const bool on_file_system = report->layer_count && !report->layers[0].is_block &&
				    has_device(report);
	const bool asked = active->mount_option == TRIM_YES || active->timer == TRIM_YES;

	judge_say(report, on_file_system && !asked ? "works-when-asked" : "works", "",
		  "%s; %s", report->verdict.as_far_as_seen ?
		  "as far as this machine can see" : "end to end", how);
	if (report->verdict.as_far_as_seen)
		judge_more(report, "; what the host or server does beyond it is unknown");
	if (!on_file_system)
		return;
	if (asked) {
		judge_more(report, "; sent by %s", active->mount_option == TRIM_YES ?
			   active->mount_word : active->timer_word);
	} else {
		judge_more(report, "; but nothing asks for it by itself");
		switch_on_remedy(report);
	}
}

void trim_judge(struct trim_report *report)
{
	struct trim_verdict *verdict = &report->verdict;

	memset(verdict, 0, sizeof(*verdict));
	verdict->as_far_as_seen = any_virtual(report);
	for (size_t i = 0; i < ARRAY_COUNT(rules); i++)
		if (rules[i](report))
			return;
	judge_say(report, "cannot-tell", "NO_EVIDENCE", "there is too little to go by");
}

int trim_exit_code(const struct trim_report *report, bool accept_partial)
{
	const struct trim_verdict *verdict = &report->verdict;
	const char *code = verdict->code;

	if (strcmp(code, "dangerous") == 0)
		return 7;
	if (report->interrupted)
		return 130;
	if (strcmp(code, "not-applicable") == 0)
		return 0;
	if (strcmp(code, "works") == 0 || strcmp(code, "works-when-asked") == 0)
		return verdict->as_far_as_seen && !accept_partial ? 1 : 0;
	if (strcmp(code, "cannot-tell") == 0 && strcmp(verdict->reason, "NO_RIGHTS") == 0)
		return 3;
	return 1;
}
