/* SPDX-License-Identifier: MIT */
#include "cli/maps.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* At the first '=': targets of tare's own have more of them. */
static int parse_map(void *member, const char *value, struct err *err)
{
	struct invocation *inv = member;
	const char *mark = strchr(value, '=');

	if (!mark || mark == value || !mark[1])
		return err_set(err, -EINVAL, "'%.200s' is not NAME=PATH, as in PHYSICALDRIVE:1=/dev/loop0",
			       value);
	if ((size_t)(mark - value) >= sizeof(((struct name_map *)NULL)->name))
		return err_set(err, -EINVAL, "the name '%.40s…' is too long", value);
	if (inv->foreign_maps.count == FOREIGN_MAPS)
		return err_set(err, -ERANGE, "more than %d of them", FOREIGN_MAPS);
	inv->foreign_maps.words[inv->foreign_maps.count++] = value;
	return 0;
}

const struct field map_fields[] = {
	{ .name = "map", .type = FIELD_CUSTOM, .offset = 0, .parse = parse_map, .metavar = "NAME=PATH",
	  .input_only = true, .repeatable = true, .group = "Translation",
	  .help = "what the file calls NAME is PATH here; once for each" },
	{ .name = NULL },
};

size_t maps_split(const struct invocation *inv, struct name_map *ret)
{
	for (uint32_t i = 0; i < inv->foreign_maps.count; i++) {
		const char *word = inv->foreign_maps.words[i], *mark = strchr(word, '=');

		snprintf(ret[i].name, sizeof(ret[i].name), "%.*s", (int)(mark - word), word);
		ret[i].path = mark + 1;
	}
	return inv->foreign_maps.count;
}
