/* SPDX-License-Identifier: MIT */
#include "base/paths.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/defer.h"

int paths_state(char *path, size_t path_bytes, const char *name)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	int length;

	if (geteuid() == 0)
		length = snprintf(path, path_bytes, "/var/lib/tare/%s", name);
	else if (state && state[0] == '/')
		length = snprintf(path, path_bytes, "%s/tare/%s", state, name);
	else if (home && home[0] == '/')
		length = snprintf(path, path_bytes, "%s/.local/state/tare/%s", home, name);
	else
		return -ENOENT;
	return (size_t)length < path_bytes ? 0 : -ENAMETOOLONG;
}

int paths_make(const char *path)
{
	char part[PATH_MAX];

	if (snprintf(part, sizeof(part), "%s", path) >= (int)sizeof(part))
		return -ENAMETOOLONG;
	for (char *slash = part + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		if (mkdir(part, 0700) < 0 && errno != EEXIST)
			return -errno;
		*slash = '/';
	}
	return mkdir(part, 0700) < 0 && errno != EEXIST ? -errno : 0;
}

int paths_sync_parent(const char *path)
{
	char directory[PATH_MAX];
	char *slash;

	if (snprintf(directory, sizeof(directory), "%s", path) >= (int)sizeof(directory))
		return -ENAMETOOLONG;
	slash = strrchr(directory, '/');
	if (slash)
		slash[slash == directory] = '\0';
	DEFER(defer_close) int fd =
		open(slash ? directory : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 || fsync(fd) < 0 ? -errno : 0;
}
