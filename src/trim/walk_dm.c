/* SPDX-License-Identifier: MIT */

/*
 * walk_dm - device-mapper: crypt, LVM's targets, integrity, snapshots, caches. What a mapping
 * does with discards stands in its table, which only root may read; its limits and its uuid
 * tell most of it to everybody.
 */

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "base/defer.h"
#include "base/sysfs.h"
#include "trim/walk_parts.h"

#define TABLE_LINES 64
#define TABLE_WORDS 48

/* A line of a table: "0 1000 linear 8:2 2048". */
struct dm_line {
	uint64_t start_bytes, length_bytes;
	const char *type;
	const char *words[TABLE_WORDS];		/* behind the type */
	size_t count;
};

struct dm {
	struct walk *walk;
	uint32_t index;
	char uuid[160];
	char name[128];			/* as a person knows it: "vg-home" */
	struct text text;		/* the table; wiped in the end */
	struct dm_line lines[TABLE_LINES];
	size_t line_count;		/* 0 when the table could not be read */
};

static struct trim_layer *layer_of(const struct dm *dm)
{
	return &dm->walk->report->layers[dm->index];
}

static bool has_word(const struct dm_line *line, const char *word)
{
	for (size_t i = 0; i < line->count; i++)
		if (strcmp(line->words[i], word) == 0)
			return true;
	return false;
}

/* Some line of this type; NULL when there is none or no table. */
static const struct dm_line *line_of(const struct dm *dm, const char *type)
{
	for (size_t i = 0; i < dm->line_count; i++)
		if (strcmp(dm->lines[i].type, type) == 0)
			return &dm->lines[i];
	return NULL;
}

/* --- the table ---------------------------------------------------------------------------- */

static bool parse_line(char *text, struct dm_line *ret)
{
	unsigned long long start, length;
	char *word, *state = NULL;
	int behind = 0;

	memset(ret, 0, sizeof(*ret));
	if (sscanf(text, "%llu %llu %n", &start, &length, &behind) < 2 || behind == 0 ||
	    start > UINT64_MAX / SECTOR_BYTES || length > UINT64_MAX / SECTOR_BYTES)
		return false;
	ret->start_bytes = start * SECTOR_BYTES;
	ret->length_bytes = length * SECTOR_BYTES;
	for (word = strtok_r(text + behind, " ", &state); word;
	     word = strtok_r(NULL, " ", &state)) {
		if (!ret->type)
			ret->type = word;
		else if (ret->count < TABLE_WORDS)
			ret->words[ret->count++] = word;
	}
	return ret->type;
}

static void read_table(struct dm *dm)
{
	char *line, *state = NULL;
	const int r = walk_dm_lines(dm->walk, layer_of(dm)->name, false, &dm->text);

	if (r < 0 || !dm->text.data) {
		if (r == -EACCES || r == -EPERM)
			snprintf(layer_of(dm)->needs_root, sizeof(layer_of(dm)->needs_root),
				 "its device-mapper table");
		return;
	}
	for (line = strtok_r(dm->text.data, "\n", &state); line && dm->line_count < TABLE_LINES;
	     line = strtok_r(NULL, "\n", &state))
		if (parse_line(line, &dm->lines[dm->line_count]))
			dm->line_count++;
}

/* The device of a word "8:2" or "/dev/sda2", walked below this layer. */
static uint32_t walk_word(struct dm *dm, const char *word)
{
	char name[STACK_NAME_BYTES];
	unsigned int major_number, minor_number;
	char rest;

	if (sscanf(word, "%u:%u%c", &major_number, &minor_number, &rest) == 2) {
		if (stack_name_of(dm->walk->root, makedev(major_number, minor_number), name) < 0)
			return TRIM_TOP;
	} else if (word[0] != '/' || stack_name_of_path(dm->walk->root, word, name) < 0) {
		return TRIM_TOP;
	}
	/* Several lines of a table may lie on one device. */
	for (uint32_t i = dm->index + 1; i < dm->walk->report->layer_count; i++)
		if (dm->walk->report->layers[i].parent == dm->index &&
		    strcmp(dm->walk->report->layers[i].name, name) == 0)
			return i;
	return walk_device(dm->walk, dm->index, name);
}

static bool word_u64(const char *word, uint64_t *ret)
{
	char *end;

	errno = 0;
	*ret = strtoull(word, &end, 10);
	return *word >= '0' && *word <= '9' && !*end && !errno;
}

static uint64_t sectors(const struct dm_line *line, size_t index)
{
	uint64_t value;

	if (index >= line->count || !word_u64(line->words[index], &value) ||
	    value > UINT64_MAX / SECTOR_BYTES)
		return 0;
	return value * SECTOR_BYTES;
}

/* --- what is below ------------------------------------------------------------------------ */

static struct trim_segment *segment_of(struct dm *dm, const struct dm_line *line,
				       enum trim_map how)
{
	struct trim_segment *segment = walk_segment(dm->walk, dm->index, how);

	if (segment) {
		segment->start_bytes = line->start_bytes;
		segment->length_bytes = line->length_bytes;
	}
	return segment;
}

/* A device and an offset in sectors behind it, at these words. */
static void below_shifted(struct dm *dm, const struct dm_line *line, size_t device, size_t offset)
{
	struct trim_segment *segment;
	uint32_t below;

	if (line->count <= device)
		return;
	below = walk_word(dm, line->words[device]);
	segment = segment_of(dm, line, MAP_LINEAR);
	if (segment)
		walk_leg(segment, below, sectors(line, offset));
	if (line->start_bytes == 0)
		layer_of(dm)->start_bytes = sectors(line, offset);
}

/* "striped N CHUNK DEV OFF DEV OFF ..." */
static void below_striped(struct dm *dm, const struct dm_line *line)
{
	struct trim_segment *segment = segment_of(dm, line, MAP_STRIPED);
	uint64_t count = 0;

	if (line->count < 2 || !word_u64(line->words[0], &count))
		return;
	if (segment)
		segment->chunk_bytes = sectors(line, 1);
	for (size_t i = 0; i < count && 3 + 2 * i < line->count; i++) {
		const uint32_t below = walk_word(dm, line->words[2 + 2 * i]);

		if (segment)
			walk_leg(segment, below, sectors(line, 3 + 2 * i));
	}
	if (segment && (segment->leg_count != count || segment->chunk_bytes == 0))
		segment->how = MAP_UNKNOWN;
}

/* Where the data is, of targets that keep other devices beside it: which word is the device. */
static const struct {
	const char *type;
	size_t data[2];			/* a second one that holds data too; SIZE_MAX = none */
} placed[] = {
	{ "thin", { 0, SIZE_MAX } },	      { "thin-pool", { 1, SIZE_MAX } },
	{ "snapshot", { 0, 1 } },	      { "snapshot-origin", { 0, SIZE_MAX } },
	{ "snapshot-merge", { 0, 1 } },	      { "cache", { 2, 1 } },
	{ "writecache", { 1, SIZE_MAX } },    { "clone", { 1, SIZE_MAX } },
	{ "era", { 1, SIZE_MAX } },	      { "verity", { 1, SIZE_MAX } },
};

static bool below_placed(struct dm *dm, const struct dm_line *line)
{
	for (size_t i = 0; i < ARRAY_COUNT(placed); i++) {
		if (strcmp(line->type, placed[i].type) != 0)
			continue;
		for (size_t k = 0; k < 2 && placed[i].data[k] < line->count; k++)
			walk_word(dm, line->words[placed[i].data[k]]);
		segment_of(dm, line, MAP_UNKNOWN);
		return true;
	}
	return false;
}

/* Any word that names a device: for targets whose order of words does not matter here. */
static void below_any(struct dm *dm, const struct dm_line *line)
{
	for (size_t i = 0; i < line->count; i++)
		if (strchr(line->words[i], ':') || line->words[i][0] == '/')
			walk_word(dm, line->words[i]);
	segment_of(dm, line, MAP_UNKNOWN);
}

static void below_by_table(struct dm *dm)
{
	for (size_t i = 0; i < dm->line_count; i++) {
		const struct dm_line *line = &dm->lines[i];

		if (strcmp(line->type, "linear") == 0 || strcmp(line->type, "delay") == 0 ||
		    strcmp(line->type, "flakey") == 0)
			below_shifted(dm, line, 0, 1);
		else if (strcmp(line->type, "crypt") == 0)
			below_shifted(dm, line, 3, 4);
		else if (strcmp(line->type, "striped") == 0)
			below_striped(dm, line);
		else if (!below_placed(dm, line))
			below_any(dm, line);
	}
}

static bool ends_in(const char *text, const char *end)
{
	const size_t length = strlen(text), end_length = strlen(end);

	return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

/* Without the table: what sysfs lists, but for metadata, which takes no discards of ours. */
static void below_by_sysfs(struct dm *dm)
{
	struct stack_names slaves = { 0 };

	stack_add_slaves(dm->walk->root, layer_of(dm)->name, &slaves);
	for (size_t i = 0; i < slaves.count; i++) {
		char name[128];

		walk_attribute(dm->walk, slaves.names[i], "dm/name", name, sizeof(name));
		if (ends_in(name, "_tmeta") || ends_in(name, "_cmeta"))
			continue;
		walk_device(dm->walk, dm->index, slaves.names[i]);
	}
	walk_segment(dm->walk, dm->index, MAP_UNKNOWN);
}

/* --- what each says ----------------------------------------------------------------------- */

/* "--" stands for a dash within a name of LVM, a single dash divides group and volume. */
static void lvm_names(const char *dm_name, char *group, char *volume, size_t bytes)
{
	char *to = group;
	size_t used = 0;

	group[0] = volume[0] = '\0';
	for (const char *p = dm_name; *p; p++) {
		if (*p == '-' && p[1] == '-') {
			p++;
		} else if (*p == '-' && to == group) {
			to = volume;
			used = 0;
			continue;
		} else if (*p == '-') {
			return;		/* "-tpool" and such */
		}
		if (used + 1 < bytes) {
			to[used++] = *p;
			to[used] = '\0';
		}
	}
}

static const char free_areas[] = "whoever has the disk can then see which areas are free";

/* The kernel's name of the first device below. */
static const char *below(const struct dm *dm)
{
	const struct trim_report *report = dm->walk->report;

	for (uint32_t i = dm->index + 1; i < report->layer_count; i++)
		if (report->layers[i].parent == dm->index)
			return report->layers[i].name;
	return "DEVICE";
}

static void crypt_remedy(const struct dm *dm)
{
	struct trim_layer *layer = layer_of(dm);

	if (strncmp(dm->uuid, "CRYPT-LUKS2-", 12) == 0)
		walk_remedy(layer, "cryptsetup refresh --allow-discards --persistent %s", dm->name);
	else if (strncmp(dm->uuid, "VERACRYPT", 9) == 0 || strncmp(dm->uuid, "CRYPT-TCRYPT", 12) == 0)
		walk_remedy(layer, "cryptsetup close %s && cryptsetup open --type tcrypt --veracrypt "
				   "--allow-discards /dev/%s %s     # unmount what is on it first",
			    dm->name, below(dm), dm->name);
	else
		walk_remedy(layer,
			    "cryptsetup refresh --allow-discards %s     # until it is closed\n"
			    "# for good: add the option discard to the line of %s in /etc/crypttab, "
			    "then update-initramfs -u", dm->name, dm->name);
	walk_remedy(layer, "\n# Risk: %s.", free_areas);
}

static void judge_crypt(struct dm *dm)
{
	struct trim_layer *layer = layer_of(dm);
	const struct dm_line *line = line_of(dm, "crypt");

	if (line && has_word(line, "allow_discards")) {
		walk_settle(dm->walk, dm->index, "STALE_LIMITS",
			    "lets discards through, and all below take them, but took its limits "
			    "when they did not");
		if (strcmp(layer->reason, "STALE_LIMITS") == 0)
			walk_remedy(layer, "cryptsetup refresh --allow-discards %s     # or close it and "
					   "open it again: it reads its limits anew", dm->name);
		return;
	}
	if (line) {
		walk_stop(layer, "CRYPT_OFF", "dm-crypt drops discards: its table has no "
					      "allow_discards");
		crypt_remedy(dm);
		return;
	}
	walk_settle(dm->walk, dm->index, "CRYPT_OFF",
		    "dm-crypt drops discards: it announces none above a device that does");
	if (strcmp(layer->reason, "CRYPT_OFF") == 0)
		crypt_remedy(dm);
}

static bool has_journal_tag(const struct dm_line *line)
{
	for (size_t i = 0; i < line->count; i++)
		if (strncmp(line->words[i], "internal_hash:", 14) == 0)
			return false;
	return true;
}

static void judge_integrity(struct dm *dm)
{
	struct trim_layer *layer = layer_of(dm);
	const struct dm_line *line = line_of(dm, "integrity");
	const bool authenticated = line && has_journal_tag(line);

	if (line && has_word(line, "allow_discards")) {
		walk_settle(dm->walk, dm->index, "STALE_LIMITS",
			    "lets discards through, but took its limits when those below took none");
		if (strcmp(layer->reason, "STALE_LIMITS") == 0)
			walk_remedy(layer, "# close it and open it again by integritysetup open "
					   "--allow-discards: it reads its limits anew");
		return;
	}
	if (walk_announces(layer)) {
		layer->capable = TRIM_YES;
		return;
	}
	walk_stop(layer, "INTEGRITY", authenticated ?
		  "dm-integrity below authenticated encryption swallows discards" :
		  "dm-integrity drops discards: its table has no allow_discards");
	if (!line)
		snprintf(layer->why, sizeof(layer->why), "dm-integrity announces no discard");
	if (authenticated)
		walk_remedy(layer, "# not possible with this format: only stand-alone integrity with "
				   "a hash of its own can discard");
	else
		walk_remedy(layer, "integritysetup close %s && integritysetup open "
				   "--allow-discards /dev/%s %s     # stand-alone, kernel 5.7 or "
				   "newer\n# Risk: %s, and those areas then read as broken.",
			    dm->name, below(dm), dm->name, free_areas);
}

static const char which_pool[] = "lvs -o vg_name,lv_name,discards     # which pool it is\n"
				 "# lvchange --discards passdown VG/POOL";

static void judge_thin(struct dm *dm)
{
	walk_settle(dm->walk, dm->index, "THIN_IGNORE",
		    "announces no discard: its pool ignores them");
	if (strcmp(layer_of(dm)->reason, "THIN_IGNORE") == 0)
		walk_remedy(layer_of(dm), "%s; the volumes must be inactive for that", which_pool);
}

/* What the pool does is in its status; the table has what was asked for. */
static bool pool_flag(struct dm *dm, const struct dm_line *line, const char *flag)
{
	DEFER(text_done) struct text status = TEXT_INIT;
	char padded[64];

	if (line && has_word(line, flag))
		return true;
	if (walk_dm_lines(dm->walk, layer_of(dm)->name, true, &status) < 0)
		return false;
	snprintf(padded, sizeof(padded), " %s ", flag);
	return strstr(text_string(&status), padded) != NULL;
}

/* The pool's table without the word: "... NUMBER no_discard_passdown ..." has one word less. */
static void pool_reload(const struct dm *dm, const struct dm_line *line)
{
	struct trim_layer *layer = layer_of(dm);
	uint64_t features = 0;

	if (line->count > 4)
		(void)word_u64(line->words[4], &features);
	walk_remedy(layer, "dmsetup reload %s --table '%llu %llu %s", dm->name,
		    (unsigned long long)line->start_bytes / SECTOR_BYTES,
		    (unsigned long long)line->length_bytes / SECTOR_BYTES, line->type);
	for (size_t i = 0; i < line->count; i++) {
		if (i == 4)
			walk_remedy(layer, " %llu", (unsigned long long)(features ? features - 1 : 0));
		else if (strcmp(line->words[i], "no_discard_passdown") != 0)
			walk_remedy(layer, " %s", line->words[i]);
	}
	walk_remedy(layer, "' && dmsetup resume %s     # deleting then costs the time of the drive's "
			   "discards too", dm->name);
}

struct pool_names {
	char group[64], volume[64];
};

static void pool_no_passdown(struct dm *dm, const struct dm_line *line,
			     const struct pool_names *names)
{
	struct trim_layer *layer = layer_of(dm);

	walk_stop(layer, "THIN_NO_PASSDOWN",
		  "the pool takes its own space back but passes nothing down "
		  "(no_discard_passdown)");
	if (line && strncmp(dm->uuid, "LVM-", 4) != 0) {
		pool_reload(dm, line);
		return;
	}
	walk_remedy(layer, "lvchange --discards passdown %s/%s     # deleting then costs the time "
			   "of the drive's discards too", names->group, names->volume);
}

static void pool_ignores(struct dm *dm, const struct pool_names *names)
{
	struct trim_layer *layer = layer_of(dm);

	walk_stop(layer, "THIN_IGNORE", "the pool ignores discards (ignore_discard)");
	walk_remedy(layer,
		    "lvchange --discards passdown %s/%s     # the volumes of the pool must be "
		    "inactive to leave ignore", names->group, names->volume);
}

static void pool_settle(struct dm *dm, bool can_below, const struct dm_line *line)
{
	struct trim_layer *layer = layer_of(dm);

	if (walk_announces(layer) || (line && can_below)) {
		layer->capable = TRIM_YES;
	} else if (layer->parent != TRIM_TOP &&
		   strcmp(dm->walk->report->layers[layer->parent].kind, "thin") == 0 &&
		   !walk_announces(&dm->walk->report->layers[layer->parent])) {
		/* Only a pool that ignores discards has volumes that announce none. */
		walk_stop(layer, "THIN_IGNORE",
			  "neither the pool nor its volume announces discards: it ignores them");
		walk_remedy(layer, "%s; the volumes must be inactive for that", which_pool);
	} else if (can_below) {
		/* Only a pool that passes discards on announces any. */
		walk_stop(layer, "THIN_NO_PASSDOWN",
			  "the pool announces no discard above a device that does: it passes "
			  "nothing down");
		walk_remedy(layer, "%s", which_pool);
	} else {
		layer->capable = TRIM_UNKNOWN;
		snprintf(layer->why, sizeof(layer->why),
			 "takes its own space back; what is below announces no discard");
	}
}

static void judge_pool(struct dm *dm)
{
	struct trim_layer *layer = layer_of(dm);
	const struct dm_line *line = line_of(dm, "thin-pool");
	const bool can_below = walk_below_announce(dm->walk, dm->index);
	struct pool_names names;

	lvm_names(dm->name, names.group, names.volume, sizeof(names.group));
	if (line && sectors(line, 2))
		layer->granularity_bytes = sectors(line, 2);
	if (pool_flag(dm, line, "ignore_discard"))
		pool_ignores(dm, &names);
	else if (can_below && pool_flag(dm, line, "no_discard_passdown"))
		pool_no_passdown(dm, line, &names);
	else
		pool_settle(dm, can_below, line);
	if (layer->granularity_bytes)
		trim_report_note(dm->walk->report, "thin-chunk", layer->name,
				 "the pool takes space back in whole chunks of %llu KiB that no "
				 "snapshot shares; smaller discards succeed and free nothing",
				 (unsigned long long)layer->granularity_bytes / 1024);
}

static void judge_snapshot(struct dm *dm)
{
	struct trim_layer *layer = layer_of(dm);
	const struct dm_line *line = line_of(dm, "snapshot");

	if (walk_announces(layer)) {
		layer->capable = TRIM_YES;
		if (line && !has_word(line, "discard_passdown_origin"))
			trim_report_note(dm->walk->report, "snapshot", layer->name,
					 "discards stay in the snapshot's store of exceptions; its "
					 "origin gets none");
		return;
	}
	walk_stop(layer, "NO_SUPPORT", "a snapshot of this kind takes no discard (no "
				       "discard_zeroes_cow)");
	walk_remedy(layer, "lvs -o vg_name,lv_name,origin     # which snapshot it is\n# merge or "
			   "remove it: lvconvert --merge or lvremove; thin snapshots take discards");
}

static void judge_origin(struct dm *dm)
{
	struct trim_layer *layer = layer_of(dm);

	if (walk_announces(layer)) {
		layer->capable = TRIM_YES;
		return;
	}
	walk_stop(layer, "NO_SUPPORT", "a snapshot is present: its origin takes no discard while "
				       "there is one");
	walk_remedy(layer, "lvs -o vg_name,lv_name,origin     # which snapshot it is\n# lvremove the "
			   "snapshot, or use thin snapshots");
}

static void judge_cache(struct dm *dm)
{
	struct trim_layer *layer = layer_of(dm);
	const struct dm_line *line = line_of(dm, "cache") ?: line_of(dm, "clone");

	if (line && has_word(line, "no_discard_passdown")) {
		walk_stop(layer, "NOT_PASSED", "forgets what is discarded but tells the device "
					       "below nothing (no_discard_passdown)");
		walk_remedy(layer, "# remove no_discard_passdown from the table of %s", dm->name);
		return;
	}
	walk_settle(dm->walk, dm->index, "STALE_LIMITS",
		    "announces no discard, though all below it do");
	if (strcmp(layer->reason, "STALE_LIMITS") == 0)
		walk_remedy(layer, "# deactivate and activate it: it reads its limits anew");
}

static void judge_raid(struct dm *dm)
{
	struct trim_layer *layer = layer_of(dm);
	const struct dm_line *line = line_of(dm, "raid");
	const bool parity = line && line->count && strncmp(line->words[0], "raid", 4) == 0 &&
			    strchr("456", line->words[0][4]);
	char safely[8] = "";

	if (line && line->count)
		snprintf(layer->kind, sizeof(layer->kind), "%s", line->words[0]);
	sysfs_read(safely, sizeof(safely),
		   "%s/sys/module/dm_raid/parameters/devices_handle_discard_safely",
		   dm->walk->root);
	if (!parity || walk_announces(layer) || safely[0] == 'Y') {
		walk_settle(dm->walk, dm->index, "STALE_LIMITS",
			    "took its limits when its members took no discards; they do now");
		if (strcmp(layer->reason, "STALE_LIMITS") == 0)
			walk_remedy(layer, "# lvchange --refresh, or deactivate and activate the "
					   "volume");
		return;
	}
	walk_stop(layer, "RAID456_UNSAFE_DEFAULT",
		  "RAID 4, 5 and 6 refuse discards by default: parity goes wrong unless discarded "
		  "blocks read zero (devices_handle_discard_safely is %s)", safely[0] ? safely : "N");
	walk_remedy(layer, "# advised against, unless every member promises zeros after a discard "
			   "(DRAT and RZAT, or DLFEAT 1): options dm_raid "
			   "devices_handle_discard_safely=Y in /etc/modprobe.d");
}

static void judge_verity(struct dm *dm)
{
	walk_stop(layer_of(dm), "READ_ONLY", "dm-verity is never written: nothing becomes free");
}

/* Targets that pass on whatever those below take. */
static bool passes_on(const char *type)
{
	static const char *const types[] = { "linear", "striped", "multipath", "delay", "flakey",
					     "mirror", "writecache", "era" };

	for (size_t i = 0; i < ARRAY_COUNT(types); i++)
		if (strcmp(types[i], type) == 0)
			return true;
	return false;
}

static void judge_passing(struct dm *dm)
{
	walk_settle(dm->walk, dm->index, "STALE_LIMITS",
		    "passes discards on, and all below take them, but took its limits when they "
		    "did not");
	if (strcmp(layer_of(dm)->reason, "STALE_LIMITS") == 0)
		walk_remedy(layer_of(dm), "dmsetup suspend %s && dmsetup resume %s     # or deactivate "
					  "and activate it: it reads its limits anew",
			    dm->name, dm->name);
	if (strncmp(dm->uuid, "LVM-", 4) == 0)
		trim_report_note(dm->walk->report, "issue-discards", layer_of(dm)->name,
				 "issue_discards in lvm.conf concerns lvremove and lvreduce only, "
				 "not fstrim");
}

static void judge_other(struct dm *dm)
{
	struct trim_layer *layer = layer_of(dm);

	walk_settle(dm->walk, dm->index, "NO_SUPPORT",
		    "announces no discard, though all below it do");
	if (strcmp(layer->reason, "NO_SUPPORT") == 0)
		walk_remedy(layer, "dmsetup table %s     # as root: what it is made of (a target "
				   "of type %s is not one that tare knows)",
			    dm->name, layer->kind);
}

static const struct dm_rule {
	const char *type;
	void (*judge)(struct dm *dm);
} rules[] = {
	{ "crypt", judge_crypt },
	{ "integrity", judge_integrity },
	{ "thin", judge_thin },
	{ "thin-pool", judge_pool },
	{ "snapshot", judge_snapshot },
	{ "snapshot-merge", judge_origin },
	{ "snapshot-origin", judge_origin },
	{ "cache", judge_cache },
	{ "clone", judge_cache },
	{ "raid", judge_raid },
	{ "verity", judge_verity },
};

/* --- what it is --------------------------------------------------------------------------- */

/* LVM names its parts by their uuid; an ordinary volume over a pool is a thin one. */
static const char *lvm_type(const struct dm *dm)
{
	static const struct {
		const char *end, *type;
	} below[] = {
		{ "-tpool", "thin" },	{ "-cow", "snapshot" }, { "-real", "snapshot-origin" },
		{ "-cdata", "cache" },	{ "-cpool", "cache" },	{ "-cvol", "cache" },
	};
	struct stack_names slaves = { 0 };

	if (ends_in(dm->uuid, "-tpool"))
		return "thin-pool";
	if (ends_in(dm->uuid, "-cow") || ends_in(dm->uuid, "-tdata") || ends_in(dm->uuid, "-real"))
		return "linear";
	stack_add_slaves(dm->walk->root, layer_of(dm)->name, &slaves);
	for (size_t k = 0; k < ARRAY_COUNT(below); k++) {
		for (size_t i = 0; i < slaves.count; i++) {
			char uuid[160];

			walk_attribute(dm->walk, slaves.names[i], "dm/uuid", uuid, sizeof(uuid));
			if (ends_in(uuid, below[k].end))
				return below[k].type;
		}
	}
	return "linear";
}

static const char *type_of(const struct dm *dm)
{
	static const struct {
		const char *prefix, *type;
	} types[] = {
		{ "CRYPT-VERITY", "verity" }, { "CRYPT-INTEGRITY", "integrity" },
		{ "CRYPT-", "crypt" },	      { "VERACRYPT", "crypt" },
		{ "mpath-", "multipath" },    { "part", "linear" },
		{ "VDO-", "vdo" },
	};

	if (dm->line_count)
		return dm->lines[0].type;
	if (strncmp(dm->uuid, "LVM-", 4) == 0)
		return lvm_type(dm);
	for (size_t i = 0; i < ARRAY_COUNT(types); i++)
		if (strncmp(dm->uuid, types[i].prefix, strlen(types[i].prefix)) == 0)
			return types[i].type;
	/* VeraCrypt's mappings have no uuid, but a name. */
	return strncmp(dm->name, "veracrypt", 9) == 0 ? "crypt" : "dm";
}

void walk_dm(struct walk *walk, uint32_t index)
{
	struct dm dm = { .walk = walk, .index = index };
	struct trim_layer *layer = &walk->report->layers[index];
	const struct dm_rule *rule = NULL;
	const char *type;

	walk_attribute(walk, layer->name, "dm/uuid", dm.uuid, sizeof(dm.uuid));
	walk_attribute(walk, layer->name, "dm/name", dm.name, sizeof(dm.name));
	read_table(&dm);
	type = type_of(&dm);
	snprintf(layer->kind, sizeof(layer->kind), "%s", type);
	if (dm.line_count)
		below_by_table(&dm);
	else
		below_by_sysfs(&dm);
	for (size_t i = 0; i < ARRAY_COUNT(rules) && !rule; i++)
		if (strcmp(rules[i].type, type) == 0)
			rule = &rules[i];
	if (rule)
		rule->judge(&dm);
	else if (passes_on(type))
		judge_passing(&dm);
	else
		judge_other(&dm);
	/* What is settled needs no table any more. */
	if (layer->capable != TRIM_UNKNOWN)
		layer->needs_root[0] = '\0';
	walk_wipe(&dm.text);
}
