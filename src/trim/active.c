/* SPDX-License-Identifier: MIT */

/*
 * active - who sends discards: a mount option, fstrim.timer, cron. Read from files, so that it
 * needs no systemd to ask and can be tested; a timer that is enabled but stopped by hand since
 * the last boot counts as active.
 */

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/defer.h"
#include "base/sysfs.h"
#include "trim/walk_parts.h"

/* --- the mount option --------------------------------------------------------------------- */

static void read_option(struct walk *walk, const struct mount_facts *facts)
{
	struct trim_active *active = &walk->report->active;
	const char *p = facts->options;

	if (active->mount_option == TRIM_YES)
		return;		/* ZFS has told by its counters */
	active->mount_option = strcmp(facts->type, "zfs") == 0 ? TRIM_UNKNOWN : TRIM_NO;
	while (p && *p) {
		const size_t length = strcspn(p, ",");

		if (strncmp(p, "discard", 7) == 0 && (length == 7 || p[7] == '=')) {
			active->mount_option = TRIM_YES;
			snprintf(active->mount_word, sizeof(active->mount_word), "%.*s",
				 (int)(length < 31 ? length : 31), p);
		}
		p += length;
		p += *p == ',';
	}
}

/* --- the timer ---------------------------------------------------------------------------- */

static const char *const unit_directories[] = {
	"/etc/systemd/system", "/run/systemd/system", "/usr/local/lib/systemd/system",
	"/usr/lib/systemd/system", "/lib/systemd/system",
};

/* The first that is there counts, as systemd looks for it. */
static bool unit_path(const char *root, const char *unit, char path[PATH_MAX])
{
	struct stat st;

	for (size_t i = 0; i < ARRAY_COUNT(unit_directories); i++) {
		snprintf(path, PATH_MAX, "%s%s/%s", root, unit_directories[i], unit);
		if (lstat(path, &st) == 0)
			return true;
	}
	return false;
}

static bool unit_is_masked(const char *path)
{
	char to[PATH_MAX];
	const ssize_t length = readlink(path, to, sizeof(to) - 1);

	if (length < 0)
		return false;
	to[length] = '\0';
	return strcmp(to, "/dev/null") == 0;
}

/* A link in the .wants directory of any target: that is what enabling makes. */
static bool unit_is_wanted(const char *root, const char *unit)
{
	for (size_t i = 0; i < ARRAY_COUNT(unit_directories); i++) {
		char path[PATH_MAX];
		const struct dirent *entry;
		struct stat st;

		snprintf(path, sizeof(path), "%s%s", root, unit_directories[i]);
		DEFER(defer_closedir) DIR *dir = opendir(path);
		while (dir && (entry = readdir(dir))) {
			if (!strstr(entry->d_name, ".wants"))
				continue;
			snprintf(path, sizeof(path), "%s%s/%s/%s", root, unit_directories[i],
				 entry->d_name, unit);
			if (lstat(path, &st) == 0)
				return true;
		}
	}
	return false;
}

/* The value of a line "KEY=value" of the unit's file, "" when there is none. */
static void unit_value(const char *root, const char *unit, const char *key, char *value,
		       size_t value_bytes)
{
	char path[PATH_MAX], line[512];
	const size_t length = strlen(key);

	value[0] = '\0';
	if (!unit_path(root, unit, path))
		return;
	DEFER(defer_fclose) FILE *file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		if (strncmp(line, key, length) == 0 && line[length] == '=')
			snprintf(value, value_bytes, "%s", line + length + 1);
	}
}

/* --- whom fstrim reaches ------------------------------------------------------------------ */

enum listed { LISTED_NOT, LISTED, LISTED_NOTHING };

/* Is the mount point in /etc/fstab? LISTED_NOTHING when the table has no entry at all. */
static enum listed in_fstab(const char *root, const char *point)
{
	char path[PATH_MAX], line[1024], where[PATH_MAX], options[512];
	enum listed listed = LISTED_NOTHING;

	snprintf(path, sizeof(path), "%s/etc/fstab", root);
	DEFER(defer_fclose) FILE *file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		if (line[strspn(line, " \t")] == '#' ||
		    sscanf(line, "%*s %4095s %*s %511s", where, options) < 1)
			continue;
		if (listed == LISTED_NOTHING)
			listed = LISTED_NOT;
		if (strcmp(where, point) == 0)
			return strstr(line, "X-fstrim.notrim") ? LISTED_NOT : LISTED;
	}
	return listed;
}

/*
 * Does the command reach the mount point? "--listed-in /etc/fstab:/proc/self/mountinfo", as
 * util-linux's own service has it, takes the first table that is not empty.
 */
static bool command_reaches(const char *root, const char *command, const char *point)
{
	const enum listed listed = in_fstab(root, point);

	if (strstr(command, "--all") || strstr(command, " -a") || strstr(command, " -v -a"))
		return true;
	if (strstr(command, "--fstab") || strstr(command, " -A") || strstr(command, " -Av"))
		return listed == LISTED;
	if (strstr(command, "--listed-in"))
		return listed == LISTED ||
		       (listed == LISTED_NOTHING && strstr(command, "mountinfo"));
	/* One mount point by name. */
	return strstr(command, point) != NULL;
}

/* False when there is no timer that is enabled. */
static bool read_timer(struct walk *walk, const struct mount_facts *facts)
{
	struct trim_active *active = &walk->report->active;
	char path[PATH_MAX], calendar[48], command[256];

	active->has_timer = unit_path(walk->root, "fstrim.timer", path);
	if (!active->has_timer || unit_is_masked(path) ||
	    !unit_is_wanted(walk->root, "fstrim.timer"))
		return false;
	unit_value(walk->root, "fstrim.timer", "OnCalendar", calendar, sizeof(calendar));
	unit_value(walk->root, "fstrim.service", "ExecStart", command, sizeof(command));
	if (command[0] && !command_reaches(walk->root, command, facts->point)) {
		trim_report_warn(walk->report, "timer-misses", facts->point,
				 "fstrim.timer is enabled but does not reach %.200s, which /etc/fstab "
				 "does not list: add it there", facts->point);
		return false;
	}
	active->timer = TRIM_YES;
	snprintf(active->timer_word, sizeof(active->timer_word), "fstrim.timer%s%s",
		 calendar[0] ? ", " : "", calendar);
	return true;
}

/* --- cron --------------------------------------------------------------------------------- */

/* A line that runs fstrim on this mount point or on all. */
static bool file_runs_fstrim(const struct walk *walk, const char *path, const char *point)
{
	char line[1024];

	DEFER(defer_fclose) FILE *file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		if (line[strspn(line, " \t")] == '#' || !strstr(line, "fstrim"))
			continue;
		if (command_reaches(walk->root, line, point))
			return true;
	}
	return false;
}

static bool directory_runs_fstrim(const struct walk *walk, const char *directory,
				  const char *point)
{
	char path[PATH_MAX];
	const struct dirent *entry;

	snprintf(path, sizeof(path), "%s%s", walk->root, directory);
	DEFER(defer_closedir) DIR *dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s%s/%s", walk->root, directory, entry->d_name);
		if (file_runs_fstrim(walk, path, point))
			return true;
	}
	return false;
}

static bool read_cron(struct walk *walk, const struct mount_facts *facts)
{
	static const char *const directories[] = {
		"/etc/cron.hourly", "/etc/cron.daily", "/etc/cron.weekly", "/etc/cron.monthly",
		"/etc/cron.d", "/var/spool/cron/crontabs", "/var/spool/cron",
	};
	struct trim_active *active = &walk->report->active;
	const char *found = NULL;
	char path[PATH_MAX];

	for (size_t i = 0; i < ARRAY_COUNT(directories) && !found; i++)
		if (directory_runs_fstrim(walk, directories[i], facts->point))
			found = directories[i];
	snprintf(path, sizeof(path), "%s/etc/crontab", walk->root);
	if (!found && file_runs_fstrim(walk, path, facts->point))
		found = "/etc/crontab";
	if (!found)
		return false;
	active->timer = TRIM_YES;
	snprintf(active->timer_word, sizeof(active->timer_word), "fstrim by %s", found);
	return true;
}

/* --- together ----------------------------------------------------------------------------- */

static bool has_device(const struct trim_report *report)
{
	for (uint32_t i = 0; i < report->layer_count; i++)
		if (report->layers[i].is_block)
			return true;
	return false;
}

void walk_active(struct walk *walk, const struct mount_facts *facts)
{
	struct trim_report *report = walk->report;
	struct trim_active *active = &report->active;

	if (!has_device(report) && strcmp(facts->type, "zfs") != 0)
		return;		/* nobody to tell */
	read_option(walk, facts);
	active->timer = TRIM_NO;
	if (!read_timer(walk, facts))
		read_cron(walk, facts);
	if (strcmp(facts->type, "btrfs") == 0 && strcmp(active->mount_word, "discard") == 0)
		trim_report_warn(report, "sync-discard", facts->point,
				 "discard without =async makes every deletion wait for the drive: "
				 "mount -o remount,discard=async %.200s", facts->point);
	if (active->mount_option == TRIM_YES && active->timer == TRIM_YES)
		trim_report_note(report, "redundant", facts->point,
				 "%s and %s do the same work: redundant, not harmful",
				 active->mount_word, active->timer_word);
	if (active->mount_option == TRIM_NO && active->timer == TRIM_NO)
		trim_report_warn(report, "none-active", facts->point,
				 "nothing sends discards: neither a mount option nor a timer");
}
