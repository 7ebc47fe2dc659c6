/* SPDX-License-Identifier: MIT */

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/defer.h"
#include "serve/registry.h"

static const char suffix[] = ".drive";

/* The time the process started, in clock ticks since boot; 0 when there is none. */
static uint64_t start_ticks_of(pid_t pid)
{
	char path[64], line[1024];
	DEFER(defer_fclose) FILE *file = NULL;
	uint64_t ticks = 0;
	const char *tail;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "re");
	if (!file || !fgets(line, sizeof(line), file))
		return 0;
	/* Behind the name, which is in brackets and may hold anything: 3 state ... 22 starttime. */
	tail = strrchr(line, ')');
	if (!tail || sscanf(tail + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d "
				      "%*d %*d %*d %*d %*d %" SCNu64, &ticks) != 1)
		return 0;
	return ticks;
}

void registry_entry_init(struct registry_entry *entry)
{
	memset(entry, 0, sizeof(*entry));
	entry->pid = getpid();
	entry->start_ticks = start_ticks_of(entry->pid);
	entry->loop = -1;
}

bool registry_is_running(const struct registry_entry *entry)
{
	const uint64_t ticks = start_ticks_of(entry->pid);

	return ticks && ticks == entry->start_ticks;
}

void registry_source(const struct registry_entry *entry, char ret[REGISTRY_SOURCE_BYTES])
{
	snprintf(ret, REGISTRY_SOURCE_BYTES, "tare-sim-%d", (int)entry->pid);
}

static void directory_path(char *ret, size_t ret_bytes)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR"), *given = getenv("TARE_RUNTIME_DIR");

	if (given && given[0] == '/')
		snprintf(ret, ret_bytes, "%s", given);
	else if (geteuid() == 0)
		snprintf(ret, ret_bytes, "/run/tare");
	else if (runtime && runtime[0] == '/' && access(runtime, W_OK | X_OK) == 0)
		snprintf(ret, ret_bytes, "%s/tare", runtime);
	else
		snprintf(ret, ret_bytes, "/tmp/tare-%u", (unsigned)geteuid());
}

static int take_fd(int *fd)
{
	const int taken = *fd;

	*fd = -1;
	return taken;
}

/* The opened directory; -ENOENT when it is not there and is not to be made. */
static int directory_open(bool make, char *path, size_t path_bytes, struct err *err)
{
	DEFER(defer_close) int fd = -1;
	struct stat st;

	directory_path(path, path_bytes);
	if (make && mkdir(path, 0700) < 0 && errno != EEXIST)
		return err_errno(err, -errno, "make '%s'", path);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return err_errno(err, -errno, "open '%s'", path);
	if (fstat(fd, &st) < 0 || st.st_uid != geteuid() || (st.st_mode & 022))
		return err_set(err, -EPERM, "'%s' belongs to someone else, or others may write it",
			       path);
	return take_fd(&fd);
}

static void entry_name(const struct registry_entry *entry, char *ret, size_t ret_bytes)
{
	snprintf(ret, ret_bytes, "%d-%" PRIu64 "%s", (int)entry->pid, entry->start_ticks, suffix);
}

int registry_write(const struct registry_entry *entry, struct err *err)
{
	char path[4096], name[64], draft[80];
	DEFER(defer_close) int directory = directory_open(true, path, sizeof(path), err);
	DEFER(defer_free) char *dump = NULL;
	DEFER(defer_close) int fd = -1;
	json_t *json;

	if (directory < 0)
		return directory;
	json = json_pack("{s:i, s:I, s:s, s:b, s:i}", "pid", (int)entry->pid, "start_ticks",
			 (json_int_t)entry->start_ticks, "directory", entry->directory,
			 "made_directory", (int)entry->made_directory, "loop", entry->loop);
	if (!json)
		return err_set(err, -EILSEQ, "'%s' is not UTF-8", entry->directory);
	dump = json_dumps(json, JSON_COMPACT);
	json_decref(json);
	entry_name(entry, name, sizeof(name));
	snprintf(draft, sizeof(draft), ".%s", name);
	fd = openat(directory, draft, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0 || !dump || write(fd, dump, strlen(dump)) != (ssize_t)strlen(dump) ||
	    renameat(directory, draft, directory, name) < 0)
		return err_errno(err, errno ? -errno : -EIO, "write '%s/%s'", path, name);
	return 0;
}

void registry_remove(const struct registry_entry *entry)
{
	char path[4096], name[64];
	DEFER(defer_close) int directory = directory_open(false, path, sizeof(path), NULL);

	if (directory < 0)
		return;
	entry_name(entry, name, sizeof(name));
	unlinkat(directory, name, 0);
}

/* False for what is no entry of ours: left alone. */
static bool entry_read(int directory, const char *name, struct registry_entry *ret)
{
	const size_t length = strlen(name);
	DEFER(defer_close) int fd = -1;
	const char *path;
	json_int_t ticks;
	json_t *json;
	int pid, made, loop;
	bool good;

	if (name[0] == '.' || length <= strlen(suffix) ||
	    strcmp(name + length - strlen(suffix), suffix) != 0)
		return false;
	fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	json = fd < 0 ? NULL : json_loadfd(fd, 0, NULL);
	good = json && json_unpack(json, "{s:i, s:I, s:s, s:b, s:i}", "pid", &pid, "start_ticks",
				   &ticks, "directory", &path, "made_directory", &made, "loop",
				   &loop) == 0 &&
	       path[0] == '/' && strlen(path) < sizeof(ret->directory);
	if (good) {
		ret->pid = pid;
		ret->start_ticks = (uint64_t)ticks;
		ret->made_directory = made;
		ret->loop = loop;
		strcpy(ret->directory, path);
	}
	json_decref(json);
	return good;
}

int registry_each(int (*each)(void *ctx, const struct registry_entry *entry), void *ctx,
		  struct err *err)
{
	char path[4096];
	DEFER(defer_close) int fd = directory_open(false, path, sizeof(path), err);
	DEFER(defer_closedir) DIR *directory = NULL;
	struct registry_entry entry;
	struct dirent *name;
	int r = 0;

	if (fd == -ENOENT)
		return 0;	/* nothing was ever served */
	if (fd < 0)
		return fd;
	directory = opendir(path);
	while (directory && r >= 0 && (name = readdir(directory)))
		if (entry_read(fd, name->d_name, &entry))
			r = each(ctx, &entry);
	return r < 0 ? r : 0;
}
