/* SPDX-License-Identifier: MIT */
#include "trim/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/defer.h"
#include "base/sysfs.h"
#include "trim/walk_parts.h"

/* --- what every part uses ----------------------------------------------------------------- */

void walk_attribute(const struct walk *walk, const char *name, const char *attribute, char *line,
		    size_t line_bytes)
{
	sysfs_read(line, line_bytes, BLOCK "/%s", walk->root, name, attribute);
}

uint64_t walk_number(const struct walk *walk, const char *name, const char *attribute,
		     uint64_t fallback)
{
	return sysfs_read_u64(fallback, BLOCK "/%s", walk->root, name, attribute);
}

bool walk_has(const struct walk *walk, const char *name, const char *attribute)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), BLOCK "/%s", walk->root, name, attribute);
	return access(path, F_OK) == 0;
}

/* Told once, with the first one. */
static void drop_layer(struct trim_report *report, const char *name)
{
	for (uint32_t i = 0; i < report->note_count; i++)
		if (strcmp(report->notes[i].code, "too-many-layers") == 0)
			return;
	trim_report_warn(report, "too-many-layers", name,
			 "only %d layers are looked at: %s and others were left out, and the verdict "
			 "is without them", TRIM_LAYERS, name);
}

uint32_t walk_add(struct walk *walk, uint32_t parent, const char *name, const char *kind)
{
	struct trim_report *report = walk->report;
	struct trim_layer *layer;

	if (report->layer_count == TRIM_LAYERS) {
		drop_layer(report, name);
		return TRIM_TOP;
	}
	layer = &report->layers[report->layer_count];
	memset(layer, 0, sizeof(*layer));
	snprintf(layer->name, sizeof(layer->name), "%s", name);
	snprintf(layer->kind, sizeof(layer->kind), "%s", kind);
	layer->parent = parent;
	return report->layer_count++;
}

void walk_stop(struct trim_layer *layer, const char *reason, const char *fmt, ...)
{
	va_list args;

	layer->capable = TRIM_NO;
	snprintf(layer->reason, sizeof(layer->reason), "%s", reason);
	va_start(args, fmt);
	vsnprintf(layer->why, sizeof(layer->why), fmt, args);
	va_end(args);
}

void walk_remedy(struct trim_layer *layer, const char *fmt, ...)
{
	const size_t length = strlen(layer->remedy);
	va_list args;

	va_start(args, fmt);
	vsnprintf(layer->remedy + length, sizeof(layer->remedy) - length, fmt, args);
	va_end(args);
}

bool walk_announces(const struct trim_layer *layer)
{
	return layer->is_block && layer->granularity_bytes > 0 && layer->max_bytes > 0;
}

bool walk_below_announce(const struct walk *walk, uint32_t index)
{
	const struct trim_report *report = walk->report;
	bool any = false;

	for (uint32_t i = index + 1; i < report->layer_count; i++) {
		if (report->layers[i].parent != index)
			continue;
		any = true;
		if (!walk_announces(&report->layers[i]))
			return false;
	}
	return any;
}

static void blame_below(const struct walk *walk, uint32_t index)
{
	const struct trim_report *report = walk->report;
	struct trim_layer *layer = &walk->report->layers[index];
	char name[sizeof(layer->name)];

	layer->capable = TRIM_UNKNOWN;
	for (uint32_t i = index + 1; i < report->layer_count; i++) {
		if (report->layers[i].parent != index || walk_announces(&report->layers[i]))
			continue;
		memcpy(name, report->layers[i].name, sizeof(name));
		snprintf(layer->why, sizeof(layer->why),
			 "announces none because %s below announces none", name);
		return;
	}
	snprintf(layer->why, sizeof(layer->why), "announces no discard, and what is below it is "
						 "not known");
}

/*
 * The kernel takes whole units only, and newer ones (seen with 6.18) forget the unit when the
 * limit is 0: then they refuse every other value with EINVAL until the device is made anew.
 */
static void switch_on(struct trim_layer *layer)
{
	const uint64_t unit = layer->granularity_bytes;

	if (unit)
		walk_remedy(layer, "echo %llu > /sys/block/%s/queue/discard_max_bytes     # until the "
				   "next boot\n",
			    (unsigned long long)(layer->max_hw_bytes - layer->max_hw_bytes % unit),
			    layer->name);
	else
		walk_remedy(layer, "# this kernel takes no other value for discard_max_bytes of %s any "
				   "more: detach it and let it be found anew, or reboot\n",
			    layer->name);
	walk_remedy(layer, "grep -r discard_max_bytes /etc/udev/rules.d /etc/systemd/system     # who "
			   "sets it to 0, perhaps for a drive that discards badly");
}

void walk_settle(struct walk *walk, uint32_t index, const char *reason, const char *why)
{
	struct trim_layer *layer = &walk->report->layers[index];

	if (walk_announces(layer)) {
		layer->capable = TRIM_YES;
	} else if (layer->max_bytes == 0 && layer->max_hw_bytes > 0) {
		walk_stop(layer, "ADMIN_ZERO",
			  "discard_max_bytes was set to 0, though the driver allows %llu",
			  (unsigned long long)layer->max_hw_bytes);
		switch_on(layer);
	} else if (walk_below_announce(walk, index)) {
		walk_stop(layer, reason, "%s", why);
	} else {
		blame_below(walk, index);
	}
}

struct trim_segment *walk_segment(struct walk *walk, uint32_t layer, enum trim_map how)
{
	struct trim_report *report = walk->report;
	struct trim_segment *segment;

	if (report->segment_count == TRIM_SEGMENTS)
		return NULL;
	segment = &report->segments[report->segment_count++];
	memset(segment, 0, sizeof(*segment));
	segment->layer = layer;
	segment->how = how;
	segment->length_bytes = UINT64_MAX;
	return segment;
}

void walk_leg(struct trim_segment *segment, uint32_t layer, uint64_t start_bytes)
{
	if (layer == TRIM_TOP || segment->leg_count == TRIM_LEGS) {
		segment->how = MAP_UNKNOWN;
		return;
	}
	segment->legs[segment->leg_count].layer = layer;
	segment->legs[segment->leg_count].start_bytes = start_bytes;
	segment->leg_count++;
}

void walk_shifted(struct walk *walk, uint32_t index, uint32_t below, uint64_t start_bytes)
{
	struct trim_segment *segment = walk_segment(walk, index, MAP_LINEAR);

	walk->report->layers[index].start_bytes = start_bytes;
	if (segment)
		walk_leg(segment, below, start_bytes);
}

/* --- devices ------------------------------------------------------------------------------ */

/* A partition has no queue of its own; its alignment is its own. */
static void read_limits(struct walk *walk, struct trim_layer *layer)
{
	char disk[STACK_NAME_BYTES];

	stack_disk(walk->root, layer->name, disk);
	layer->is_block = true;
	layer->granularity_bytes = walk_number(walk, disk, "queue/discard_granularity", 0);
	layer->max_bytes = walk_number(walk, disk, "queue/discard_max_bytes", 0);
	layer->max_hw_bytes = walk_number(walk, disk, "queue/discard_max_hw_bytes", 0);
	layer->alignment_bytes = walk_number(walk, layer->name, "discard_alignment", 0);
	layer->rotational = walk_number(walk, disk, "queue/rotational", 0) != 0;
}

static void walk_partition(struct walk *walk, uint32_t index)
{
	struct trim_layer *layer = &walk->report->layers[index];
	char disk[STACK_NAME_BYTES];
	uint32_t below;

	stack_disk(walk->root, layer->name, disk);
	below = walk_device(walk, index, disk);
	walk_shifted(walk, index, below,
		     SECTOR_BYTES * walk_number(walk, layer->name, "start", 0));
	/* What it announces is the disk's: nothing of its own can stand in the way. */
	layer->capable = walk_announces(layer) ? TRIM_YES : TRIM_UNKNOWN;
	if (layer->capable == TRIM_UNKNOWN)
		snprintf(layer->why, sizeof(layer->why),
			 "announces none because %s below announces none", disk);
}

/* bcache and whatever else lies on other devices. */
static void walk_slaves(struct walk *walk, uint32_t index)
{
	const char *name = walk->report->layers[index].name;
	struct stack_names slaves = { 0 };

	stack_add_slaves(walk->root, name, &slaves);
	for (size_t i = 0; i < slaves.count; i++)
		walk_device(walk, index, slaves.names[i]);
	walk_settle(walk, index, "STALE_LIMITS",
		    "announces no discard, though all below it do");
	if (strcmp(walk->report->layers[index].reason, "STALE_LIMITS") == 0)
		walk_remedy(&walk->report->layers[index],
			    "# stop it and start it again: it reads its limits anew");
}

static bool has_slaves(struct walk *walk, const char *name)
{
	struct stack_names slaves = { 0 };

	stack_add_slaves(walk->root, name, &slaves);
	return slaves.count > 0;
}

static void walk_by_kind(struct walk *walk, uint32_t index)
{
	const char *name = walk->report->layers[index].name;

	if (stack_is_partition(walk->root, name))
		walk_partition(walk, index);
	else if (walk_has(walk, name, "dm"))
		walk_dm(walk, index);
	else if (walk_has(walk, name, "md"))
		walk_md(walk, index);
	else if (walk_has(walk, name, "loop"))
		walk_loop(walk, index);
	else if (has_slaves(walk, name))
		walk_slaves(walk, index);
	else
		walk_disk(walk, index);
}

uint32_t walk_device(struct walk *walk, uint32_t parent, const char *name)
{
	struct trim_layer *layer;
	char kind[sizeof(layer->kind)];
	uint32_t index;

	if (!stack_number(walk->root, name) || walk->depth == WALK_DEPTH)
		return TRIM_TOP;
	stack_kind(walk->root, name, kind, sizeof(kind));
	index = walk_add(walk, parent, name, kind);
	if (index == TRIM_TOP)
		return TRIM_TOP;
	layer = &walk->report->layers[index];
	stack_detail(walk->root, name, layer->detail, sizeof(layer->detail));
	read_limits(walk, layer);
	walk->depth++;
	walk_by_kind(walk, index);
	walk->depth--;
	return index;
}

/* --- what was named ----------------------------------------------------------------------- */

bool walk_mount_of(struct walk *walk, const char *path, struct mount_facts *ret)
{
	if (!walk->mounts)
		return false;
	if (!*walk->root) {
		DEFER(defer_close) int fd = open(path, O_PATH | O_CLOEXEC);

		if (fd >= 0)
			return mounts_find_file(walk->mounts, fd, ret);
	}
	return mounts_find_path(walk->mounts, path, ret);
}

static int resolve(const struct walk *walk, const char *spec, char path[PATH_MAX],
		   struct err *err)
{
	struct stat st;

	if (*walk->root) {
		snprintf(path, PATH_MAX, "%s", spec);
		return 0;
	}
	if (!realpath(spec, path) || stat(path, &st) < 0)
		return err_errno(err, -errno, "%s", spec);
	if (S_ISCHR(st.st_mode))
		return err_set(err, -EINVAL, "%s is a character device; a block device or a path "
					     "is expected, such as /dev/nvme0n1", spec);
	return 0;
}

/* 0 with its name when the path names a block device. */
static int device_of(const struct walk *walk, const char *path, char name[STACK_NAME_BYTES])
{
	if (stack_name_of_path(walk->root, path, name) == 0)
		return 0;
	/* "sda" alone is a device only on a recorded machine; here it is a file's name. */
	return -ENOENT;
}

static int walk_path(struct walk *walk, const char *path, struct err *err)
{
	struct mount_facts facts, under;

	if (!walk->mounts)
		return err_set(err, -ENOENT, "%s: the table of mounts cannot be read", path);
	if (!walk_mount_of(walk, path, &facts))
		return err_set(err, -ENOENT, "%s lies on no mount that this process sees", path);
	walk_mount(walk, walk_image(walk, path), &facts);
	/* What is deleted on an overlay becomes free on the file system below it. */
	while (walk_upper(walk, &facts, &under))
		facts = under;
	walk_active(walk, &facts);
	return 0;
}

static int walk_named(struct walk *walk, struct err *err)
{
	struct trim_report *report = walk->report;
	char name[STACK_NAME_BYTES];

	if (strncmp(report->spec, "sim:", 4) == 0) {
		walk_add(walk, TRIM_TOP, report->spec, "sim");
		return 0;
	}
	if (device_of(walk, report->path, name) < 0)
		return walk_path(walk, report->path, err);
	if (walk_device(walk, TRIM_TOP, name) == TRIM_TOP)
		return err_set(err, -ENOENT, "%s is no device that sysfs knows", report->path);
	return 0;
}

int trim_walk(const char *root, const char *path_or_device, struct trim_report *report,
	      struct err *err)
{
	struct walk walk = { .root = root, .report = report };
	char path[PATH_MAX];
	int r;

	memset(report, 0, sizeof(*report));
	snprintf(report->spec, sizeof(report->spec), "%s", path_or_device);
	if (strncmp(path_or_device, "sim:", 4) != 0) {
		r = resolve(&walk, path_or_device, path, err);
		if (r < 0)
			return r;
		snprintf(report->path, sizeof(report->path), "%s", path);
	}
	/* Without it a device can still be walked. */
	if (mounts_open(&walk.mounts, root, NULL) < 0)
		walk.mounts = NULL;
	r = walk_named(&walk, err);
	if (r == 0) {
		walk_finish(&walk);
		report->rung = RUNG_CAPABLE;
	}
	mounts_close(walk.mounts);
	return r;
}
