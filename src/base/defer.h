/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * defer - locals that clean themselves up.
 *
 *	DEFER(defer_free) char *line = NULL;
 *	...
 *	*ret = TAKE(line);	// hands it on; the local no longer owns it
 */

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define ARRAY_COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define DEFER(function) __attribute__((cleanup(function)))

#define TAKE(pointer)                                  \
	({                                             \
		__typeof__(pointer) taken = (pointer); \
		(pointer) = NULL;                      \
		taken;                                 \
	})

static inline void defer_free(void *pointer)
{
	free(*(void **)pointer);
}

static inline void defer_close(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void defer_fclose(FILE **file)
{
	if (*file)
		fclose(*file);
}

static inline void defer_closedir(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}
