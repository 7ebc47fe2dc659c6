/* SPDX-License-Identifier: MIT */
#include "state/keep.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/defer.h"
#include "base/paths.h"
#include "base/random.h"
#include "base/text.h"
#include "target/stack.h"

/* Namespaces of one drive share its serial number: "n1", which stays while "nvme0" does not. */
static const char *namespace_of(const char *device)
{
	return strncmp(device, "nvme", 4) == 0 ? strrchr(device + 1, 'n') : NULL;
}

static void add_drive(const struct target_info *info, const struct target_layer *drive,
		      struct text *ret)
{
	const char *namespace = namespace_of(drive->name);

	if (!info->serial[0]) {
		text_add(ret, "%s", drive->detail[0] ? drive->detail : drive->name);
		return;
	}
	text_add(ret, "%s%s%s", info->model, info->model[0] ? " " : "", info->serial);
	if (namespace)
		text_add(ret, " %s", namespace);
}

static void add_layer(const struct target_info *info, const struct target_layer *layer,
		      struct text *ret)
{
	const bool is_mapped = strncmp(layer->name, "dm-", 3) == 0 && layer->detail[0];

	if (strcmp(layer->kind, "partition") == 0)
		text_add(ret, " from %" PRIu64, info->partition_start_bytes);
	else
		text_add(ret, " %s", is_mapped ? layer->detail : layer->name);
}

void keep_place_of_device(const struct target_info *info, char *ret, size_t ret_bytes)
{
	struct text text = TEXT_INIT;

	for (uint32_t i = info->layer_count; i-- > 0;) {
		if (i + 1 == info->layer_count)
			add_drive(info, &info->layers[i], &text);
		else
			add_layer(info, &info->layers[i], &text);
	}
	snprintf(ret, ret_bytes, "%s", text_string(&text));
	text_done(&text);
}

void keep_place(const char *target, char *ret, size_t ret_bytes)
{
	DEFER(defer_free) char *real = realpath(target, NULL);
	struct target_info *info = calloc(1, sizeof(*info));
	char name[STACK_NAME_BYTES];
	struct stat st;

	snprintf(ret, ret_bytes, "%s", real ? real : target);
	if (info && stat(target, &st) == 0 && S_ISBLK(st.st_mode) &&
	    stack_name_of("", st.st_rdev, name) == 0) {
		stack_describe("", name, info);
		if (info->layer_count)
			keep_place_of_device(info, ret, ret_bytes);
	}
	free(info);
}

uint64_t keep_hash(const char *text)
{
	uint64_t hash = 0;

	for (; *text; text++)
		hash = random_mix(hash ^ (unsigned char)*text);
	return hash;
}

int keep_path(const char *name, const char *target, const char *suffix, char ret[4096],
	      struct err *err)
{
	char directory[4096], place[4096];
	int r = paths_state(directory, sizeof(directory), "checkpoints");

	if (r < 0)
		return err_errno(err, r, "the directory for checkpoints");
	r = paths_make(directory);
	if (r < 0)
		return err_errno(err, r, "'%s', where checkpoints are kept", directory);
	keep_place(target, place, sizeof(place));
	if (snprintf(ret, 4096, "%s/%s-%016" PRIx64 "%s", directory, name, keep_hash(place),
		     suffix) >= 4096)
		return err_set(err, -ENAMETOOLONG, "%s: the path is too long", directory);
	return 0;
}
