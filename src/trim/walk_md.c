/* SPDX-License-Identifier: MIT */

/* walk_md - software RAID, which takes its limits when it is assembled, and loop devices. */

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/defer.h"
#include "base/sysfs.h"
#include "trim/walk_parts.h"

struct member {
	char name[STACK_NAME_BYTES];
	uint64_t slot, offset_bytes, size_bytes;
	uint32_t layer;
};

struct array {
	struct member members[TRIM_LAYERS];
	size_t count;
	bool whole;			/* all have a slot and there is room for all */
};

static int by_slot(const void *a, const void *b)
{
	const struct member *x = a, *y = b;

	return x->slot < y->slot ? -1 : x->slot > y->slot;
}

/* In the order of their slots; spares behind them. */
static void read_members(struct walk *walk, const char *name, struct array *ret)
{
	struct stack_names slaves = { 0 };

	stack_add_slaves(walk->root, name, &slaves);
	memset(ret, 0, sizeof(*ret));
	ret->whole = slaves.count > 0 && slaves.count <= TRIM_LEGS;
	for (size_t i = 0; i < slaves.count && i < TRIM_LAYERS; i++) {
		struct member *member = &ret->members[ret->count++];
		char attribute[128];

		snprintf(member->name, sizeof(member->name), "%s", slaves.names[i]);
		snprintf(attribute, sizeof(attribute), "md/dev-%.64s/slot", member->name);
		member->slot = walk_number(walk, name, attribute, UINT64_MAX);
		snprintf(attribute, sizeof(attribute), "md/dev-%.64s/offset", member->name);
		member->offset_bytes = SECTOR_BYTES * walk_number(walk, name, attribute, 0);
		snprintf(attribute, sizeof(attribute), "md/dev-%.64s/size", member->name);
		member->size_bytes = 1024 * walk_number(walk, name, attribute, 0);
		ret->whole &= member->slot != UINT64_MAX;
	}
	qsort(ret->members, ret->count, sizeof(*ret->members), by_slot);
}

/* RAID 0 is one run of stripes only where all members are as large, in whole chunks. */
static bool one_zone(const struct array *array, uint64_t chunk_bytes)
{
	for (size_t i = 1; i < array->count; i++)
		if (array->members[i].size_bytes / chunk_bytes !=
		    array->members[0].size_bytes / chunk_bytes)
			return false;
	return true;
}

static void map_members(struct walk *walk, uint32_t index, const struct array *array)
{
	const struct trim_layer *layer = &walk->report->layers[index];
	const uint64_t chunk = walk_number(walk, layer->name, "md/chunk_size", 0);
	struct trim_segment *segment;
	enum trim_map how = MAP_UNKNOWN;

	if (array->whole && strcmp(layer->kind, "raid1") == 0)
		how = MAP_MIRRORED;
	else if (array->whole && strcmp(layer->kind, "raid0") == 0 && chunk &&
		 one_zone(array, chunk))
		how = MAP_STRIPED;
	segment = walk_segment(walk, index, how);
	if (!segment)
		return;
	segment->chunk_bytes = chunk;
	for (size_t i = 0; i < array->count && how != MAP_UNKNOWN; i++)
		walk_leg(segment, array->members[i].layer, array->members[i].offset_bytes);
}

static void unsafe_by_default(struct walk *walk, struct trim_layer *layer, const char *safely)
{
	const uint64_t chunk = walk_number(walk, layer->name, "md/chunk_size", 0);
	const uint64_t disks = walk_number(walk, layer->name, "md/raid_disks", 0);
	const uint64_t parity = strcmp(layer->kind, "raid6") == 0 ? 2 : 1;

	walk_stop(layer, "RAID456_UNSAFE_DEFAULT",
		  "%s refuses discards by default: parity goes wrong unless discarded blocks read "
		  "zero (/sys/module/raid456/parameters/devices_handle_discard_safely is %s)",
		  layer->kind, safely[0] ? safely : "not there");
	if (disks > parity)
		trim_report_note(walk->report, "whole-stripes", layer->name,
				 "only whole stripes could be discarded: %llu KiB",
				 (unsigned long long)((disks - parity) * chunk / 1024));
}

/* Advice depends on whether every drive below promises zeros. */
static bool all_promise_zeros(const struct walk *walk, uint32_t index)
{
	const struct trim_report *report = walk->report;
	bool any = false;

	for (uint32_t i = index + 1; i < report->layer_count; i++) {
		const bool leaf = i + 1 == report->layer_count || report->layers[i + 1].parent != i;

		if (!leaf)
			continue;
		any = true;
		if (report->layers[i].zeroes != TRIM_YES)
			return false;
	}
	return any;
}

/* By its members, so that it comes back by the same name. */
static void assemble_anew(struct walk *walk, uint32_t index, const char *remark)
{
	const struct trim_report *report = walk->report;
	struct trim_layer *layer = &walk->report->layers[index];

	walk_remedy(layer, "mdadm --stop /dev/%s && mdadm --assemble /dev/%s", layer->name,
		    layer->name);
	for (uint32_t i = index + 1; i < report->layer_count; i++)
		if (report->layers[i].parent == index)
			walk_remedy(layer, " /dev/%s", report->layers[i].name);
	walk_remedy(layer, "     # unmount what is on it first%s", remark);
}

static void allow_parity(struct walk *walk, uint32_t index)
{
	struct trim_layer *layer = &walk->report->layers[index];

	walk_remedy(layer, "# every member promises zeros, so that it can be allowed; for good, and "
			   "then update-initramfs -u:\n"
			   "echo options raid456 devices_handle_discard_safely=Y > "
			   "/etc/modprobe.d/raid456.conf\n"
			   "echo Y > /sys/module/raid456/parameters/devices_handle_discard_safely\n");
	assemble_anew(walk, index, "");
	walk_remedy(layer, "\n# Risk: a member that breaks its promise breaks parity; check the array "
			   "afterwards:\necho check > /sys/block/%s/md/sync_action", layer->name);
}

static void judge_parity(struct walk *walk, uint32_t index)
{
	struct trim_layer *layer = &walk->report->layers[index];
	char safely[8];

	sysfs_read(safely, sizeof(safely),
		   "%s/sys/module/raid456/parameters/devices_handle_discard_safely", walk->root);
	if (walk_announces(layer) || safely[0] == 'Y') {
		walk_settle(walk, index, "STALE_LIMITS",
			    "took its limits before discards were allowed, or its members' "
			    "largest discard is smaller than a stripe");
		if (strcmp(layer->reason, "STALE_LIMITS") == 0)
			assemble_anew(walk, index, "");
		return;
	}
	unsafe_by_default(walk, layer, safely);
	if (all_promise_zeros(walk, index))
		allow_parity(walk, index);
	else
		walk_remedy(layer,
			    "# advised against here: not every member is known to promise zeros "
			    "after a discard (DRAT and RZAT, or DLFEAT 1), and only then is "
			    "raid456's devices_handle_discard_safely=Y safe");
}

static void judge_copies(struct walk *walk, uint32_t index)
{
	struct trim_layer *layer = &walk->report->layers[index];

	walk_settle(walk, index, "STALE_LIMITS",
		    "its limits are stale: the members take discards now, but did not when the "
		    "array was assembled");
	if (strcmp(layer->reason, "STALE_LIMITS") == 0)
		assemble_anew(walk, index, "; for the root file system put the udev rule that "
					   "switches the members on into the initramfs and reboot");
}

void walk_md(struct walk *walk, uint32_t index)
{
	struct trim_layer *layer = &walk->report->layers[index];
	struct array array;

	read_members(walk, layer->name, &array);
	for (size_t i = 0; i < array.count; i++)
		array.members[i].layer = walk_device(walk, index, array.members[i].name);
	if (array.count)
		layer->start_bytes = array.members[0].offset_bytes;
	map_members(walk, index, &array);
	if (strcmp(layer->kind, "raid4") == 0 || strcmp(layer->kind, "raid5") == 0 ||
	    strcmp(layer->kind, "raid6") == 0)
		judge_parity(walk, index);
	else
		judge_copies(walk, index);
}

/* --- loop --------------------------------------------------------------------------------- */

static void loop_over_file(struct walk *walk, uint32_t index, const char *backing)
{
	struct trim_layer *layer = &walk->report->layers[index];
	struct mount_facts facts;
	uint32_t below = TRIM_TOP;

	/* Holes read as zeros: a file system promises that. */
	layer->zeroes = TRIM_YES;
	walk_segment(walk, index, MAP_UNKNOWN);
	if (walk_mount_of(walk, backing, &facts))
		below = walk_mount(walk, index, &facts);
	if (walk_announces(layer)) {
		layer->capable = TRIM_YES;
		return;
	}
	walk_settle(walk, index, "LOOP_BACKING", "");
	if (layer->capable == TRIM_NO)
		return;		/* the administrator's 0 */
	walk_stop(layer, "LOOP_BACKING",
		  "no hole can be punched in its backing file, or the loop device encrypts%s%s",
		  below == TRIM_TOP ? "" : "; the file lies on ",
		  below == TRIM_TOP ? "" : walk->report->layers[below].kind);
	walk_remedy(layer, "# move %.300s to a file system that punches holes (ext4, xfs, btrfs, "
			   "tmpfs; NFS from 4.2) and set the loop device up again", backing);
}

static void loop_over_device(struct walk *walk, uint32_t index, const char *name)
{
	struct trim_layer *layer = &walk->report->layers[index];
	const uint32_t below = walk_device(walk, index, name);

	/* It asks the device below to write zeros: that is what its counters see. */
	layer->becomes_writes = true;
	walk_shifted(walk, index, below, walk_number(walk, layer->name, "loop/offset", 0));
	if (walk_announces(layer)) {
		layer->capable = TRIM_YES;
		return;
	}
	walk_stop(layer, "LOOP_BACKING", "the device below it, %s, cannot write zeros by command, "
					 "which is how a loop device passes discards on", name);
	walk_remedy(layer, "# use %s itself, or a partition or dm-linear mapping of it, in place of "
			   "%s", name, layer->name);
}

void walk_loop(struct walk *walk, uint32_t index)
{
	struct trim_layer *layer = &walk->report->layers[index];
	char backing[PATH_MAX], name[STACK_NAME_BYTES];

	walk_attribute(walk, layer->name, "loop/backing_file", backing, sizeof(backing));
	if (stack_name_of_path(walk->root, backing, name) == 0)
		loop_over_device(walk, index, name);
	else
		loop_over_file(walk, index, backing);
}
