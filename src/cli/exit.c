/* SPDX-License-Identifier: MIT */
#include "cli/exit.h"

#include <assert.h>
#include <errno.h>

const struct exit_info exit_infos[] = {
	{ EXIT_DONE, "done", "done" },
	{ EXIT_VERDICT, "verdict", "finished, but data did not verify or a threshold failed" },
	{ EXIT_USAGE, "usage", "wrong usage or configuration; nothing was run" },
	{ EXIT_REFUSED, "refused", "target refused: mounted, busy, too small, no permission" },
	{ EXIT_IO, "io", "I/O error during the run; a partial result was printed" },
	{ EXIT_HOST, "host", "one of several hosts failed" },
	{ EXIT_INTERNAL, "internal", "internal error" },
	{ EXIT_UNSAFE, "unsafe", "unsafe device: the procedure was aborted" },
	{ EXIT_SPACE, "space", "no space left; everything of ours was removed" },
	{ EXIT_INTERRUPTED, "interrupted", "interrupted; a partial result was printed" },
	{ 0, NULL, NULL },
};

const char *exit_name(int code)
{
	const struct exit_info *info = exit_infos;

	while (info->name && info->code != code)
		info++;
	assert(info->name);
	return info->name;
}

int exit_of_refusal(int err_code)
{
	switch (err_code) {
	case -EINVAL:
	case -ERANGE:
		return EXIT_USAGE;
	case -ENOSPC:
	case -EDQUOT:
		return EXIT_SPACE;
	case -ENOMEM:
		return EXIT_INTERNAL;
	case -EINTR:
		return EXIT_INTERRUPTED;
	default:
		return EXIT_REFUSED;
	}
}

int exit_of_result(const struct result *result)
{
	if (result->error_code == -ENOSPC || result->error_code == -EDQUOT)
		return EXIT_SPACE;
	if (result->error_code)
		return EXIT_IO;
	for (size_t i = 0; i < result->measurement_count; i++) {
		if (result->measurements[i].verify_failed_count)
			return EXIT_VERDICT;
	}
	return result->interrupted ? EXIT_INTERRUPTED : EXIT_DONE;
}
