/* SPDX-License-Identifier: MIT */

/* judge_evidence - the rules over what was sent and what was seen of it. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "trim/judge_parts.h"

void judge_fails_remedy(struct trim_report *report, const struct trim_layer *layer, int error)
{
	const bool scsi = strcmp(layer->kind, "usb") == 0 || strcmp(layer->kind, "scsi") == 0 ||
			  strcmp(layer->kind, "sas") == 0;

	if (error == -EOPNOTSUPP || error == -ENOTTY)
		judge_remedy(report, "# none by a setting: %s says that it cannot",
			     layer->name[0] ? layer->name : layer->kind);
	else if (scsi)
		judge_remedy(report,
			     "echo full | tee /sys/block/%s/device/scsi_disk/*/provisioning_mode"
			     "     # and remove the udev rule that sets it to unmap\n"
			     "dmesg | grep %s     # the rejected command",
			     layer->name, layer->name);
	else
		judge_remedy(report, "dmesg | grep %s     # the failed command\n# mount without "
				     "discard and disable fstrim.timer until it is mended",
			     layer->name);
}

void judge_deep_remedy(struct trim_report *report, const char *remark)
{
	char place[TRIM_QUOTED_BYTES];

	judge_remedy(report, "tare trim --deep%s %s     # %s",
		     report->layers[0].is_block ? " --erase-data" : "",
		     trim_quote(report->spec, place), remark);
}

/* --- the drive itself --------------------------------------------------------------------- */

void judge_asked(struct trim_report *report)
{
	const struct trim_evidence *asked = judge_last(report, "asked-directly");

	if (!asked)
		return;
	if (asked->ok) {
		judge_more(report, "; the drive itself does it when it is asked directly");
	} else if (asked->error) {
		judge_more(report, "; and the drive itself refuses it when it is asked directly");
		judge_remedy(report, "# none by a setting: the drive refuses its own command "
				     "(%.200s)",
			     asked->text);
	} else {
		judge_more(report, "; and asked directly the drive says yes, and the old data "
				   "stays");
	}
}

/* What lies between the kernel and a drive that takes this command, and how it is got around. */
static void kernel_remedy(struct trim_report *report, const struct trim_layer *layer)
{
	const char *name = layer->name;

	if (layer->direct == DIRECT_UNMAP)
		judge_remedy(report, "echo unmap | tee /sys/block/%s/device/scsi_disk/*/"
				     "provisioning_mode     # the command that was seen to work\n"
				     "dmesg | grep %s     # the one that does not", name, name);
	else if (layer->direct == DIRECT_ATA)
		judge_remedy(report, "dmesg | grep %s     # the command that fails\n"
				     "# another port or adapter: what lies between translates the "
				     "drive's command wrongly", name);
	else
		judge_remedy(report, "dmesg | grep %s     # the command that fails\n"
				     "# another kernel: this one's driver sends what the drive does "
				     "not take",
			     name);
}

bool judge_kernel(struct trim_report *report, const char *how)
{
	const struct trim_evidence *asked = judge_last(report, "asked-directly");
	const struct trim_layer *layer = trim_report_layer(report, report->device);

	if (!asked || !asked->ok || !layer)
		return false;
	judge_blame(report, layer);
	judge_say(report, "blocked", "KERNEL",
		  "the drive itself discards when it is asked directly; the kernel's discard of %s "
		  "%s", layer->name, how);
	kernel_remedy(report, layer);
	return true;
}

/* --- delivery ----------------------------------------------------------------------------- */

static bool arrived(const struct trim_layer *layer)
{
	return layer->have_delivered && layer->delivered_count > 0;
}

bool judge_not_sent(struct trim_report *report)
{
	bool counted = false;

	for (uint32_t i = 0; i < report->layer_count; i++)
		counted |= report->layers[i].have_delivered;
	/* Content or space may have told all the same, where nothing is counted. */
	if (!counted || judge_was_sent(report) || report->space_freed == TRIM_YES || judge_last(report, "read-back"))
		return false;
	judge_say(report, "cannot-tell", "NOT_SENT",
		  "the file system sent nothing down, although space was freed on it; nothing new "
		  "was free, or it remembers that it has told the drive already");
	judge_remedy(report, "# try again after something large was deleted, or after a remount");
	return true;
}

/* Does a brother, on another leg of the same layer, count some? Then the data lay there. */
static bool brother_got_some(const struct trim_report *report, uint32_t index)
{
	for (uint32_t i = 0; i < report->layer_count; i++)
		if (i != index && report->layers[i].parent == report->layers[index].parent &&
		    arrived(&report->layers[i]))
			return true;
	return false;
}

/* What turns discards into something that is not one: holes, zeros, freed blocks. */
static bool transforms(const struct trim_report *report, uint32_t index)
{
	for (uint32_t at = report->layers[index].parent; at != TRIM_TOP;
	     at = report->layers[at].parent) {
		const struct trim_layer *layer = &report->layers[at];

		if (layer->becomes_writes || strcmp(layer->kind, "loop") == 0 ||
		    strcmp(layer->kind, "zvol") == 0)
			return true;
	}
	return false;
}

/* Less than a pool's chunk is freed nowhere: nothing passes it, and nobody stops it. */
static bool smaller_than_chunk(const struct trim_layer *above)
{
	return strcmp(above->kind, "thin") == 0 && above->granularity_bytes > above->delivered_bytes;
}

bool judge_not_passed(struct trim_report *report)
{
	for (uint32_t i = 0; i < report->layer_count; i++) {
		const struct trim_layer *layer = &report->layers[i];
		const struct trim_layer *above = judge_counted_above(report, i);

		if (!layer->have_delivered || arrived(layer) || !above || !arrived(above) ||
		    transforms(report, i) || brother_got_some(report, i) ||
		    smaller_than_chunk(above))
			continue;
		judge_blame(report, layer);
		judge_say(report, "blocked", "NOT_PASSED",
			  "discards reach %s but not %s below it, although every limit allows them",
			  above->name, layer->name);
		if (!report->verdict.remedy[0])
			judge_remedy(report, "dmsetup table     # what %s (%s) does with discards, "
					     "if it is a mapping; else its own settings",
				     above->name, above->kind);
		return true;
	}
	return false;
}

/* --- effect ------------------------------------------------------------------------------- */

bool judge_mapping(struct trim_report *report)
{
	if (report->mapping != TRIM_NO || report->space_freed != TRIM_UNKNOWN)
		return false;
	judge_say(report, "cannot-tell", "MAPPING",
		  "discards were sent, but where the file's blocks lie on the device could not be "
		  "proven, so that no read of it says anything");
	judge_deep_remedy(report, "measures the speed instead");
	return true;
}

/* The smallest size from which all is gone; 0 when none is. */
static uint64_t effective_from(const struct trim_report *report)
{
	uint64_t from = 0;

	for (uint32_t i = report->size_count; i-- > 0;) {
		const struct trim_size *size = &report->sizes[i];

		if (size->tried_count == 0)
			continue;
		if (size->gone_count < size->tried_count)
			return from;
		from = size->bytes;
	}
	return from;
}

static bool some_stayed_below(const struct trim_report *report, uint64_t bytes, uint64_t least)
{
	for (uint32_t i = 0; i < report->size_count; i++)
		if (report->sizes[i].bytes < bytes && report->sizes[i].bytes >= least &&
		    report->sizes[i].old_count > 0)
			return true;
	return false;
}

bool judge_partial(struct trim_report *report)
{
	const uint64_t from = effective_from(report);
	char at[UNITS_TEXT_BYTES], announced[UNITS_TEXT_BYTES], point[TRIM_QUOTED_BYTES];

	/* Less than the announced unit is allowed to stay. */
	if (from == 0 || from <= report->unit_bytes ||
	    !some_stayed_below(report, from, report->unit_bytes))
		return false;
	units_format_size((double)from, at);
	units_format_size((double)report->unit_bytes, announced);
	judge_say(report, "partial", "GRANULARITY",
		  "effective only from %s, although %s is announced: smaller discards succeed and "
		  "free nothing", at, report->unit_bytes ? announced : "no unit");
	snprintf(report->verdict.layer, sizeof(report->verdict.layer), "%s", report->device);
	/* Of a bare device there is no mount point to name yet. */
	judge_remedy(report,
		     "%sfstrim -m %llu %s     # and no discard mount option: it leaks the space of "
		     "small deletions, which the file system never sends again",
		     report->layers[0].is_block ? "# for a file system on it: " : "",
		     (unsigned long long)from, report->layers[0].is_block ?
		     "MOUNTPOINT" : trim_quote(report->layers[0].name, point));
	return true;
}

static const char not_erased[] = "this is no secure erase";

static bool judge_old(struct trim_report *report, bool space_freed)
{
	const struct trim_evidence *behaviour = judge_last(report, "behaviour");

	if (judge_kernel(report, "is accepted and changes nothing"))
		return true;
	if (judge_zeros_promised(report)) {
		judge_say(report, "ignored", "OLD_DATA",
			  "accepted without an effect: old data still reads back, though the drive "
			  "promises zeros after a discard");
		judge_remedy(report, "# a newer firmware of the drive; until then it is as if there "
				     "was no TRIM");
	} else if (space_freed) {
		judge_works(report, "old data still reads back, but the space is free below");
	} else if (behaviour && behaviour->ok) {
		judge_works(report, "old data still reads back, but writing is fast again");
	} else if (behaviour) {
		judge_say(report, "ignored", "NO_EFFECT_SEEN",
			  "no effect seen: old data still reads back and writing is no faster; two "
			  "pieces of evidence, neither a proof");
	} else if (report->verdict.as_far_as_seen) {
		judge_say(report, "sent-unproven", "IMAGE_IGNORE",
			  "sent and accepted as far as this machine can see, but old data still "
			  "reads back: beyond the virtual device it is unknown, and the host seems "
			  "to ignore discards");
		judge_remedy(report, "# on the host: discard=unmap on the drive (libvirt: <driver "
				     "discard='unmap'/>; Proxmox: a thin store and the box "
				     "Discard), on storage that punches holes");
	} else {
		judge_say(report, "sent-unproven", "NOT_OBSERVABLE",
			  "accepted, but not observable: old data still reads back, and this drive "
			  "promises nothing; %s", not_erased);
		judge_deep_remedy(report, "measures whether it brings the speed back");
	}
	if (!report->verdict.layer[0] && strcmp(report->verdict.code, "ignored") == 0)
		snprintf(report->verdict.layer, sizeof(report->verdict.layer), "%s",
			 report->device);
	judge_asked(report);
	return true;
}

bool judge_content(struct trim_report *report)
{
	const struct trim_evidence *seen = judge_last(report, "read-back");
	const bool space_freed = report->space_freed == TRIM_YES;

	switch (seen ? seen->content : CONTENT_NOT_READ) {
	case CONTENT_ZEROS:
		judge_works(report, judge_zeros_promised(report) ?
			    "what was discarded reads as zeros, as promised" :
			    "what was discarded reads as zeros, which the drive does not promise");
		return true;
	case CONTENT_ONES:
		judge_works(report, judge_ones_promised(report) ?
			    "what was discarded reads as ones, as promised" :
			    "what was discarded reads as ones");
		return true;
	case CONTENT_OLD:
		return judge_old(report, space_freed);
	case CONTENT_OTHER:
		if (space_freed) {
			judge_works(report, "the space is free below");
			return true;
		}
		judge_say(report, "cannot-tell", "TRANSFORMED",
			  "neither old data nor zeros reads back: another writer took the blocks, "
			  "or the drive encrypts or compresses");
		judge_deep_remedy(report, "measures the speed instead; or without --deep, when "
					  "nothing else writes");
		return true;
	case CONTENT_NOT_READ:
		break;
	}
	return false;
}

bool judge_not_read(struct trim_report *report)
{
	const struct trim_evidence *behaviour = judge_last(report, "behaviour");
	char place[TRIM_QUOTED_BYTES];

	if (report->space_freed == TRIM_YES)
		judge_works(report, "the space is free below");
	else if (behaviour && behaviour->ok)
		judge_works(report, "writing is fast again");
	else if (!judge_was_sent(report))
		return false;
	else if (report->verdict.as_far_as_seen)
		judge_works(report, "discards arrive at the virtual or remote device");
	else
		judge_say(report, "sent-unproven", "NOT_READ",
			  "discards arrive at the last layer; what the drive does with them was "
			  "not seen");
	if (strcmp(report->verdict.code, "sent-unproven") == 0)
		judge_remedy(report, "sudo tare trim%s %s     # reads the device back; --deep "
				     "measures the speed",
			     report->layers[0].is_block ? " --erase-data" : "",
			     trim_quote(report->spec, place));
	return true;
}
