/* SPDX-License-Identifier: MIT */
#include "cli/cli.h"

#include <errno.h>
#include <string.h>

#include "base/units.h"

static const char *const color_choices[] = { "auto", "always", "never", NULL };
static const char *const progress_choices[] = { "auto", "plain", "none", NULL };

#define AT(member) .offset = offsetof(struct invocation, member)
#define BOOL(member) .type = FIELD_BOOL, AT(member)
#define ENUM(member, list) .type = FIELD_ENUM, AT(member), .choices = (list)
#define TEXT(member) \
	.type = FIELD_TEXT, AT(member), .room = sizeof(((struct invocation *)NULL)->member)

const struct field common_fields[] = {
	{ .name = "help", BOOL(help), .group = "Output", .help = "what the command does, in short" },
	{ .name = "json", BOOL(json), .group = "Output",
	  .help = "exactly one JSON document on stdout, also on error" },
	{ .name = "plain", BOOL(plain), .group = "Output", .help = "one fact per line" },
	{ .name = "color", .alias = "colour", ENUM(color, color_choices), .preset = "auto",
	  .group = "Output", .help = "colour on a terminal, always or never; NO_COLOR is respected" },
	{ .name = "progress", ENUM(progress, progress_choices), .preset = "auto", .group = "Output",
	  .help = "on stderr: a live line on a terminal, plain lines, or none" },
	{ .name = NULL },
};

static int parse_erase(void *member, const char *value, struct err *err)
{
	struct invocation *inv = member;

	if (strlen(value) >= sizeof(inv->erase_serial))
		return err_set(err, -ERANGE, "'%s' is longer than a serial number", value);
	memcpy(inv->erase_serial, value, strlen(value) + 1);
	inv->erase_data = true;
	return 0;
}

#define ERASE_DATA                                                                                \
	{ .name = "erase-data", .type = FIELD_CUSTOM, .offset = 0, .parse = parse_erase,           \
	  .metavar = "SERIAL", .value_optional = true, .input_only = true, .group = "Consent",     \
	  .help = "let a block device be written, erasing it; the serial number names it in "      \
		  "scripts, without it the terminal asks" }

const struct field erase_fields[] = {
	ERASE_DATA,
	{ .name = NULL },
};

const struct field consent_fields[] = {
	ERASE_DATA,
	{ .name = "expendable", TEXT(expendable), .metavar = "FILE", .group = "Consent",
	  .help = "let this existing file be overwritten" },
	{ .name = NULL },
};

const struct field check_fields[] = {
	{ .name = "quick", BOOL(quick), .group = "Check", .help = "about 15 seconds" },
	{ .name = "long", BOOL(is_long), .group = "Check", .help = "about 5 minutes" },
	{ .name = "size", .type = FIELD_U64, .unit = UNIT_BYTES, AT(test_file_bytes),
	  .min = 256 * MIB, .max = INT64_MAX, .group = "Check",
	  .help = "of the test file; without it 8g or 10 % of the free space, whichever is less" },
	{ .name = NULL },
};

const struct field foreign_fields[] = {
	{ .name = "exact", .alias = "iozone-exact", BOOL(foreign_exact), .group = "Translation",
	  .help = "do as the other tool does, where tare would do better" },
	{ .name = "print-plan", BOOL(print_plan), .group = "Translation",
	  .help = "print the plan this command line amounts to, and run nothing" },
	{ .name = NULL },
};

const struct field run_fields[] = {
	{ .name = "filename", .alias = "directory", TEXT(target), .metavar = "TARGET",
	  .group = "Target", .help = "the target, as fio has it; the same as the last word" },
	{ .name = "print-plan", BOOL(print_plan), .group = "Target",
	  .help = "print the plan this command line amounts to, and run nothing" },
	{ .name = "record", TEXT(record), .metavar = "FILE", .group = "Target",
	  .help = "write what each request did into this new file, as fio's iolog, and into FILE.csv" },
	{ .name = NULL },
};
