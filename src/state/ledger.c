/* SPDX-License-Identifier: MIT */
#include "state/ledger.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/defer.h"
#include "base/paths.h"
#include "base/sysfs.h"
#include "base/text.h"
#include "base/units.h"

#define KEY_BYTES 192

/* --- which file ---------------------------------------------------------------------- */

static int make_key(const struct target_info *info, char key[KEY_BYTES])
{
	const struct target_layer *lowest;

	if (!info->device[0] || !info->layer_count)
		return -ENODEV;
	lowest = &info->layers[info->layer_count - 1];
	if (info->serial[0])
		snprintf(key, KEY_BYTES, "%s%s%s", info->model, info->model[0] ? "-" : "",
			 info->serial);
	else
		snprintf(key, KEY_BYTES, "%s-%s", info->device, lowest->detail);
	for (char *c = key; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr("-_", *c))
			*c = '_';
	return 0;
}

/* --- lines --------------------------------------------------------------------------- */

#define TEXT_ROW(member) { #member, offsetof(struct ledger_entry, member), \
			   sizeof(((struct ledger_entry *)NULL)->member) }
#define NUMBER_ROW(member) { #member, offsetof(struct ledger_entry, member), 0 }

/* room 0: a uint64_t. */
static const struct row {
	const char *name;
	size_t offset, room;
} rows[] = {
	TEXT_ROW(at),
	TEXT_ROW(who),
	TEXT_ROW(what),
	TEXT_ROW(text),
	TEXT_ROW(state),
	NUMBER_ROW(written_bytes),
	NUMBER_ROW(discard_bytes),
	NUMBER_ROW(duration_ns),
	TEXT_ROW(boot),
	NUMBER_ROW(kernel_write_bytes),
};
static const struct row drive_row = NUMBER_ROW(drive_write_bytes);

static uint64_t *number_at(struct ledger_entry *entry, const struct row *row)
{
	return (uint64_t *)(void *)((char *)entry + row->offset);
}

void ledger_print(const struct ledger_entry *entry, struct text *ret)
{
	struct ledger_entry copy = *entry;
	json_t *root = json_object();
	char *line;

	for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
		json_object_set_new(root, rows[i].name,
				    rows[i].room ? json_string((char *)&copy + rows[i].offset) :
						   json_integer((json_int_t)*number_at(&copy, &rows[i])));
	if (entry->have_drive)
		json_object_set_new(root, drive_row.name,
				    json_integer((json_int_t)entry->drive_write_bytes));
	line = json_dumps(root, JSON_COMPACT | JSON_PRESERVE_ORDER);
	json_decref(root);
	text_add(ret, "%s\n", line ? line : "{}");
	free(line);
}

static int read_row(const json_t *root, const struct row *row, struct ledger_entry *ret)
{
	const json_t *value = json_object_get(root, row->name);

	if (row->room) {
		if (!json_is_string(value) || json_string_length(value) >= row->room)
			return -EINVAL;
		memcpy((char *)ret + row->offset, json_string_value(value),
		       json_string_length(value) + 1);
		return 0;
	}
	if (!json_is_integer(value) || json_integer_value(value) < 0)
		return -EINVAL;
	*number_at(ret, row) = (uint64_t)json_integer_value(value);
	return 0;
}

int ledger_parse(const char *line, struct ledger_entry *ret)
{
	json_t *root = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
	struct ledger_entry entry = { 0 };
	int r = json_is_object(root) ? 0 : -EINVAL;

	for (size_t i = 0; r == 0 && i < ARRAY_COUNT(rows); i++)
		r = read_row(root, &rows[i], &entry);
	if (r == 0 && json_object_get(root, drive_row.name)) {
		entry.have_drive = true;
		r = read_row(root, &drive_row, &entry);
	}
	json_decref(root);
	if (r == 0)
		*ret = entry;
	return r;
}

/* --- the file ------------------------------------------------------------------------ */

static void keep(struct ledger *ledger, const struct ledger_entry *entry)
{
	ledger->entries = reallocarray(ledger->entries, ledger->count + 1, sizeof(*entry));
	if (!ledger->entries)
		abort();
	ledger->entries[ledger->count++] = *entry;
}

static int read_entries(struct ledger *ledger, struct err *err)
{
	DEFER(defer_fclose) FILE *file = fopen(ledger->path, "re");
	DEFER(defer_free) char *line = NULL;
	size_t room = 0, number = 0;
	ssize_t length;

	if (!file)
		return errno == ENOENT ? 0 : err_errno(err, -errno, "%s", ledger->path);
	while ((length = getline(&line, &room, file)) > 0) {
		struct ledger_entry entry;

		number++;
		if (line[length - 1] != '\n')
			break;
		if (ledger_parse(line, &entry) < 0)
			return err_set(err, -EINVAL, "%s:%zu: this is no entry of a ledger",
				       ledger->path, number);
		keep(ledger, &entry);
	}
	return 0;
}

int ledger_open(struct ledger *ret, const char *directory, const struct target_info *info,
		struct err *err)
{
	char usual[PATH_MAX], key[KEY_BYTES];
	struct ledger ledger = { .count = 0 };
	int r = make_key(info, key);

	if (r < 0)
		return err_set(err, r, "%s lies on no drive that a ledger could be kept of", info->spec);
	if (!directory && paths_state(usual, sizeof(usual), "ledger") < 0)
		return err_set(err, -ENOENT,
			       "neither XDG_STATE_HOME nor HOME says where to keep the ledger");
	snprintf(ledger.path, sizeof(ledger.path), "%s/%s.jsonl", directory ? directory : usual, key);
	r = read_entries(&ledger, err);
	if (r < 0) {
		ledger_done(&ledger);
		return r;
	}
	*ret = ledger;
	return 0;
}

void ledger_done(struct ledger *ledger)
{
	free(ledger->entries);
	*ledger = (struct ledger){ .count = 0 };
}

/* What a crash left of a last line goes: the entry was never whole. */
static int cut_torn(int fd)
{
	struct stat st;
	char last;

	if (fstat(fd, &st) < 0)
		return -errno;
	while (st.st_size > 0) {
		if (pread(fd, &last, 1, st.st_size - 1) != 1)
			return -EIO;
		if (last == '\n')
			break;
		st.st_size--;
	}
	return ftruncate(fd, st.st_size) < 0 ? -errno : 0;
}

int ledger_add(struct ledger *ledger, const struct ledger_entry *entry, struct err *err)
{
	char directory[sizeof(ledger->path)];
	struct text line = TEXT_INIT;
	int r;

	snprintf(directory, sizeof(directory), "%s", ledger->path);
	*strrchr(directory, '/') = '\0';
	r = paths_make(directory);
	if (r < 0)
		return err_errno(err, r, "%s", directory);
	DEFER(defer_close) int fd = open(ledger->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (fd < 0)
		return err_errno(err, -errno, "%s", ledger->path);
	r = cut_torn(fd);
	ledger_print(entry, &line);
	if (r == 0 && (write(fd, text_string(&line), line.length) != (ssize_t)line.length ||
		       fdatasync(fd) < 0))
		r = errno ? -errno : -EIO;
	text_done(&line);
	if (r < 0)
		return err_errno(err, r, "%s", ledger->path);
	keep(ledger, entry);
	return 0;
}

/* --- then and now -------------------------------------------------------------------- */

void ledger_now(const struct target *target, struct ledger_entry *ret)
{
	const time_t now = time(NULL);
	struct device_counters counters;
	struct tm utc;

	*ret = (struct ledger_entry){ .who = "others" };
	gmtime_r(&now, &utc);
	strftime(ret->at, sizeof(ret->at), "%Y-%m-%dT%H:%M:%SZ", &utc);
	if (target_counters(target, &counters, NULL) == 0 &&
	    sysfs_read(ret->boot, sizeof(ret->boot), "/proc/sys/kernel/random/boot_id") == 0)
		ret->kernel_write_bytes = counters.write_bytes;
	else
		ret->boot[0] = '\0';
	ret->have_drive = ledger_drive_written(&target->info, &ret->drive_write_bytes);
}

bool ledger_catch_up(const struct ledger *ledger, const struct ledger_entry *now,
		     struct ledger_entry *ret)
{
	const struct ledger_entry *last;
	char size[UNITS_TEXT_BYTES];
	bool told = false;

	if (!ledger->count)
		return false;
	last = &ledger->entries[ledger->count - 1];
	*ret = *now;
	/* A count that fell began anew: with the device, or in a drive that forgets it. */
	if (last->boot[0] && strcmp(last->boot, now->boot) == 0 &&
	    now->kernel_write_bytes >= last->kernel_write_bytes) {
		told = true;
		ret->written_bytes = now->kernel_write_bytes - last->kernel_write_bytes;
	} else if (last->have_drive && now->have_drive &&
		   now->drive_write_bytes >= last->drive_write_bytes) {
		told = true;
		ret->written_bytes = now->drive_write_bytes - last->drive_write_bytes;
	}
	if (told && !ret->written_bytes)
		return false;
	snprintf(ret->who, sizeof(ret->who), "others");
	snprintf(ret->what, sizeof(ret->what), "writes");
	snprintf(ret->state, sizeof(ret->state), "unknown");
	if (told)
		snprintf(ret->text, sizeof(ret->text), "%s were written by others since %s",
			 units_format_size((double)ret->written_bytes, size), last->at);
	else
		snprintf(ret->text, sizeof(ret->text),
			 "the counters began anew after %s, with another boot or device, and nothing "
			 "tells what was written in between",
			 last->at);
	return true;
}

void ledger_state(const struct ledger *ledger, char state[32], char *text, size_t text_bytes)
{
	const struct ledger_entry *last, *ours = NULL;

	if (!ledger->count) {
		snprintf(state, 32, "unknown");
		snprintf(text, text_bytes, "the ledger knows nothing of this drive");
		return;
	}
	last = &ledger->entries[ledger->count - 1];
	snprintf(state, 32, "%s", last->state);
	for (size_t i = ledger->count; i-- > 0 && !ours;)
		if (strcmp(ledger->entries[i].what, "writes") != 0)
			ours = &ledger->entries[i];
	if (strcmp(last->what, "writes") == 0 && ours)
		snprintf(text, text_bytes, "%s on %s; then %s", ours->state, ours->at, last->text);
	else
		snprintf(text, text_bytes, "%s on %s: %s", last->what, last->at, last->text);
}
