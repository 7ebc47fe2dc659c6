/* SPDX-License-Identifier: MIT */
/* What tare makes of each option, in words. */
#include <errno.h>
#include <string.h>

#include "foreign/fio.h"
#include "foreign/fio_options.h"

static const char *type_word(const struct fio_row *row)
{
	static const char *const words[] = {
		[FIO_TEXT] = "text",	   [FIO_FLAG] = "flag",
		[FIO_BOOL] = "0|1",	   [FIO_INT] = "number",
		[FIO_BYTES] = "size",	   [FIO_BYTES3] = "size,size,size",
		[FIO_TIME_S] = "time",	   [FIO_TIME_MS] = "time",
		[FIO_TIME_US] = "time",	   [FIO_TIME3_US] = "time,time,time",
		[FIO_PERCENT] = "percent", [FIO_PERCENT3] = "percent,percent,percent",
		[FIO_REAL] = "number",	   [FIO_AMOUNT] = "size|%",
		[FIO_CHOICE] = "choice",   [FIO_CUSTOM] = "value",
	};

	return row->class == FIO_DONE ? words[row->type] : "";
}

static void describe(const struct fio_row *row, struct text *ret)
{
	text_add(ret, "%-30s ", row->name);
	switch (row->class) {
	case FIO_DONE:
		text_add(ret, "%s", type_word(row));
		for (size_t i = 0; row->type == FIO_CHOICE && row->choices[i]; i++)
			text_add(ret, "%s%s", i ? "|" : ": ", row->choices[i]);
		break;
	case FIO_NOTED:
		text_add(ret, "no effect: %s", row->text);
		break;
	case FIO_REFUSED:
		text_add(ret, "not supported: %s", row->text);
		break;
	case FIO_FOREIGN:
		text_add(ret, "of ioengine %s, which tare has not", row->text);
		break;
	case FIO_COMMAND:
		text_add(ret, "of the command line");
		break;
	}
	if (row->alias)
		text_add(ret, " (also %s)", row->alias);
	text_add(ret, "\n");
}

int fio_describe_options(const char *topic, struct text *ret)
{
	const struct fio_row *row = *topic ? fio_row_find(topic) : NULL;

	if (*topic && !row)
		return -ENOENT;
	if (row) {
		describe(row, ret);
		return 0;
	}
	for (row = fio_rows; row->name; row++)
		describe(row, ret);
	return 0;
}

void fio_describe_engines(struct text *ret)
{
	text_add(ret, "Available IO engines:\n");
	for (size_t i = 0; fio_engines[i]; i++)
		text_add(ret, "\t%s\n", fio_engines[i]);
}
