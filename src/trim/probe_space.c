/* SPDX-License-Identifier: MIT */
#include "trim/probe_space.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/sysfs.h"
#include "base/units.h"
#include "trim/walk_parts.h"

/* Other things happen in the same file or pool: half of what was asked for is a yes. */
#define FREED_MIN_DIVISOR 2
#define KEPT_MAX_DIVISOR 10

static bool blocks_of(const struct stat *st, uint64_t *ret)
{
	*ret = (uint64_t)st->st_blocks * 512;
	return S_ISREG(st->st_mode);
}

static bool backing_bytes(const char *loop, uint64_t *ret)
{
	char path[PATH_MAX];
	struct stat st;

	return sysfs_read(path, sizeof(path), "/sys/class/block/%s/loop/backing_file", loop) == 0 &&
	       stat(path, &st) == 0 && blocks_of(&st, ret);
}

/* "0 2097152 thin 131072 2097151": the fourth is sectors mapped. */
static bool thin_bytes(const char *name, uint64_t *ret)
{
	const struct walk walk = { .root = "" };
	struct text status = TEXT_INIT;
	uint64_t sectors;
	bool known;

	known = walk_dm_lines(&walk, name, true, &status) == 0 &&
		sscanf(text_string(&status), "%*u %*u thin %" SCNu64, &sectors) == 1;
	text_done(&status);
	if (known)
		*ret = sectors * 512;
	return known;
}

static bool item_bytes(const struct space_item *item, int file_fd, uint64_t *ret)
{
	struct stat st;

	switch (item->kind) {
	case SPACE_BACKING:
		return backing_bytes(item->layer, ret);
	case SPACE_THIN:
		return thin_bytes(item->layer, ret);
	case SPACE_FILE:
		return fstat(file_fd, &st) == 0 && blocks_of(&st, ret);
	}
	return false;
}

static void add(struct space *space, const struct space_item *item, int file_fd)
{
	struct space_item *to = &space->items[space->count];

	if (space->count == SPACE_ITEMS)
		return;
	*to = *item;
	if (item_bytes(to, file_fd, &to->before_bytes))
		space->count++;
}

void space_begin(struct space *ret, const struct trim_report *report, int file_fd)
{
	ret->count = 0;
	for (uint32_t i = 0; i < report->layer_count; i++) {
		const struct trim_layer *layer = &report->layers[i];
		struct space_item item = { .kind = SPACE_BACKING };

		if (strcmp(layer->kind, "thin") == 0)
			item.kind = SPACE_THIN;
		else if (strcmp(layer->kind, "loop") != 0)
			continue;
		memcpy(item.layer, layer->name, sizeof(item.layer));
		add(ret, &item, file_fd);
	}
	if (file_fd >= 0)
		add(ret, &(struct space_item){ .kind = SPACE_FILE }, file_fd);
}

static void tell(struct trim_evidence *evidence, const struct space_item *item, int64_t freed)
{
	static const char *const of[] = { "the backing file of", "the thin volume", "the file" };
	char text[UNITS_TEXT_BYTES];

	units_format_size(freed < 0 ? (double)-freed : (double)freed, text);
	snprintf(evidence->text, sizeof(evidence->text), "%s%s%s takes %s %s than before",
		 of[item->kind], item->layer[0] ? " " : "", item->layer, text,
		 freed < 0 ? "more" : "less");
}

void space_end(const struct space *before, struct trim_report *report, int file_fd,
	       uint64_t asked_bytes)
{
	enum trim_answer freed = TRIM_UNKNOWN;

	for (uint32_t i = 0; i < before->count && asked_bytes; i++) {
		const struct space_item *item = &before->items[i];
		struct trim_evidence *evidence;
		uint64_t now = 0;
		int64_t less;

		/* What never held our data, by its own account, tells nothing of it (FUSE). */
		if (item->before_bytes < asked_bytes || !item_bytes(item, file_fd, &now))
			continue;
		less = (int64_t)(item->before_bytes - now);
		evidence = trim_report_add(report, RUNG_EFFECT, "space", item->layer);
		evidence->ok = less >= (int64_t)(asked_bytes / FREED_MIN_DIVISOR);
		evidence->bytes = less > 0 ? (uint64_t)less : 0;
		tell(evidence, item, less);
		if (evidence->ok)
			freed = TRIM_YES;
		else if (freed == TRIM_UNKNOWN && less < (int64_t)(asked_bytes / KEPT_MAX_DIVISOR))
			freed = TRIM_NO;
	}
	report->space_freed = freed;
}
