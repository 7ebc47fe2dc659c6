/* SPDX-License-Identifier: MIT */
#include "base/sysfs.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/defer.h"

static int read_line(char *line, size_t line_bytes, const char *path)
{
	DEFER(defer_close) int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got;

	line[0] = '\0';
	if (fd < 0)
		return -errno;
	got = read(fd, line, line_bytes - 1);
	if (got < 0) {
		line[0] = '\0';
		return -errno;
	}
	line[got] = '\0';
	line[strcspn(line, "\n")] = '\0';
	for (size_t n = strlen(line); n > 0 && isspace((unsigned char)line[n - 1]); n--)
		line[n - 1] = '\0';
	return 0;
}

__attribute__((format(printf, 2, 0)))
static int format_path(char path[PATH_MAX], const char *fmt, va_list args)
{
	const int length = vsnprintf(path, PATH_MAX, fmt, args);

	return length < 0 || length >= PATH_MAX ? -ENAMETOOLONG : 0;
}

int sysfs_read(char *line, size_t line_bytes, const char *path_fmt, ...)
{
	char path[PATH_MAX];
	va_list args;
	int r;

	line[0] = '\0';
	va_start(args, path_fmt);
	r = format_path(path, path_fmt, args);
	va_end(args);
	return r < 0 ? r : read_line(line, line_bytes, path);
}

uint64_t sysfs_read_u64(uint64_t fallback, const char *path_fmt, ...)
{
	char path[PATH_MAX], line[64], *end;
	unsigned long long value;
	va_list args;
	int r;

	va_start(args, path_fmt);
	r = format_path(path, path_fmt, args);
	va_end(args);
	if (r < 0 || read_line(line, sizeof(line), path) < 0 || !isdigit((unsigned char)line[0]))
		return fallback;
	errno = 0;
	value = strtoull(line, &end, 10);
	return *end || errno ? fallback : value;
}
