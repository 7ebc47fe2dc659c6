/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/defer.h"
#include "cli/cli.h"
#include "cli/consent.h"
#include "cli/help.h"
#include "cli/iozone_run.h"
#include "cli/words.h"
#include "cli/version.h"
#include "foreign/iozone.h"
#include "report/iozone.h"
#include "target/target.h"

static bool is_same_file(const char *a, const char *b)
{
	struct stat first, second;

	return *b && stat(a, &first) == 0 && stat(b, &second) == 0 &&
	       first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

static enum iozone_place look(void *ctx, const char *path)
{
	const struct invocation *inv = ctx;
	char directory[4096];
	const char *slash = strrchr(path, '/');

	switch (words_kind(path)) {
	case WORD_DIRECTORY:
		return IOZONE_DIRECTORY;
	case WORD_FILE:
		return is_same_file(path, inv->expendable) ? IOZONE_EXPENDABLE : IOZONE_FILE;
	case WORD_BLOCK:
	case WORD_CHAR:
	case WORD_SPEC:
	case WORD_OTHER:
		return IOZONE_TARGET;
	case WORD_NOTHING:
		break;
	}
	snprintf(directory, sizeof(directory), "%.*s", slash ? (int)(slash - path) + 1 : 1,
		 slash ? path : ".");
	return words_kind(directory) == WORD_DIRECTORY ? IOZONE_ABSENT : IOZONE_LOST;
}

static int fail_parse(const struct invocation *inv, const struct iozone_command *command)
{
	static struct problems problems;
	int exit_code;

	for (uint32_t i = 0; i < command->problem_count && i < IOZONE_PROBLEMS; i++)
		snprintf(problems.texts[i], sizeof(problems.texts[0]), "%s", command->problems[i]);
	problems.count = command->problem_count < IOZONE_PROBLEMS ? command->problem_count :
								    IOZONE_PROBLEMS;
	exit_code = args_fail(inv, &problems);
	return inv->foreign_exact && command->original_code ? command->original_code : exit_code;
}

/* What -b names, and what is written: a name that promises an old workbook gets CSV beside it. */
struct book {
	char path[4096];
	enum iozone_book kind;
	int fd;
};

static int open_book(const struct invocation *inv, const char *name, struct book *ret,
		     struct err *err)
{
	const char *dot = strrchr(name, '.');
	const bool has_ending = dot && !strchr(dot, '/');

	ret->kind = has_ending && strcmp(dot, ".xlsx") == 0 ? IOZONE_BOOK_XLSX :
		    inv->foreign_exact				     ? IOZONE_BOOK_BIFF2 :
								       IOZONE_BOOK_CSV;
	if (ret->kind == IOZONE_BOOK_CSV)
		snprintf(ret->path, sizeof(ret->path), "%.*s.csv",
			 has_ending ? (int)(dot - name) : (int)strnlen(name, 4000), name);
	else
		snprintf(ret->path, sizeof(ret->path), "%s", name);
	ret->fd = open(ret->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (ret->fd >= 0)
		return 0;
	err_errno(err, errno == EEXIST ? -EINVAL : -errno, "-b %s", ret->path);
	if (errno == EEXIST)
		err_set(err, -EINVAL, "-b: %s exists and is left alone", ret->path);
	return err_hint(err, "Name a file that does not exist yet");
}

static void note_book(const struct book *book, const char *name, struct iozone_sheet *sheet)
{
	if (book->kind == IOZONE_BOOK_CSV)
		iozone_sheet_note(sheet, "-b %s: written as %s, comma-separated; a name in .xlsx gets "
				  "a workbook of today, --exact one of Excel 2",
				  name, book->path);
}

static bool has_figures(const struct iozone_sheet *sheet)
{
	for (size_t i = 0; i < sheet->cell_count && !sheet->interrupted; i++) {
		if (sheet->cells[i].done && !sheet->cells[i].failed)
			return true;
	}
	return false;
}

static int write_book(const struct invocation *inv, const struct book *book,
		      const struct iozone_sheet *sheet)
{
	struct text text = TEXT_INIT;
	struct err err = { 0 };
	int r = report_iozone_book(sheet, book->kind, &text, &err);

	if (r == 0 && write(book->fd, text_string(&text), text.length) != (ssize_t)text.length)
		r = err_errno(&err, errno ? -errno : -EIO, "writing %s", book->path);
	text_done(&text);
	return r < 0 ? invocation_fail(inv, EXIT_INTERNAL, &err) : EXIT_DONE;
}

static int run_with_book(struct invocation *inv, const struct iozone_command *command,
			 struct plan *plan, struct iozone_sheet *sheet)
{
	struct book book = { .fd = -1 };
	struct err err = { 0 };
	int exit_code;

	if (!command->book)
		return iozone_run(inv, plan, sheet);
	if (open_book(inv, command->book, &book, &err) < 0)
		return invocation_fail(inv, EXIT_USAGE, &err);
	note_book(&book, command->book, sheet);
	exit_code = iozone_run(inv, plan, sheet);
	/* Only what ran to its end is kept. */
	if (!has_figures(sheet))
		unlink(book.path);
	else if (write_book(inv, &book, sheet) != EXIT_DONE)
		exit_code = EXIT_INTERNAL;
	close(book.fd);
	return exit_code;
}

static int print_answer(const struct invocation *inv, bool help)
{
	struct text text = TEXT_INIT;
	int exit_code;

	if (help)
		help_full(inv->verb, &text);
	else
		text_add(&text, "        Version $Revision: 3.508 $ in layout and options; tare %s\n",
			 TARE_VERSION);
	exit_code = print_words(inv, help ? "help" : "version", &text);
	text_done(&text);
	return exit_code;
}

/* A table's rows go to one place; streams may go to several. */
static int consent(struct invocation *inv, const struct plan *plan, struct err *err)
{
	for (size_t i = 1; i < plan->target_count; i++) {
		if (strcmp(plan->targets[i].spec, plan->target) != 0)
			return consent_settle_plan(inv, plan, err);
	}
	return consent_settle(inv, plan->target, plan_writes(plan), err);
}

static int translated(struct invocation *inv, const struct iozone_command *command)
{
	char directory[PATH_MAX];
	const struct iozone_setting setting = {
		.directory = getcwd(directory, sizeof(directory)),
		.exact = inv->foreign_exact,
		.filter = inv->workload.filter,
		.look = look,
		.look_ctx = inv,
	};
	struct iozone_sheet sheet;
	struct plan plan;
	struct err err = { 0 };
	int exit_code, r;

	r = iozone_translate(command, &setting, &plan, &sheet, &err);
	if (r == 0 && inv->workload.filter[0])
		r = target_filter_check(inv->workload.filter, &err);
	if (r == 0 && !inv->print_plan)
		r = consent(inv, &plan, &err);
	if (r < 0)
		exit_code = invocation_fail(inv, exit_of_refusal(r), &err);
	else if (inv->print_plan)
		exit_code = print_plan(inv, &plan);
	else
		exit_code = run_with_book(inv, command, &plan, &sheet);
	plan_done(&plan);
	iozone_sheet_done(&sheet);
	return exit_code;
}

static int run_iozone(struct invocation *inv)
{
	static struct iozone_command command;
	int exit_code;

	if (iozone_parse(&command, inv->foreign_words, inv->foreign_count) < 0)
		exit_code = fail_parse(inv, &command);
	else if (command.help || command.version)
		exit_code = print_answer(inv, command.help);
	else
		exit_code = translated(inv, &command);
	iozone_command_done(&command);
	return exit_code;
}

static const struct field iozone_fields[] = {
	{ .name = "filter", .type = FIELD_TEXT, .metavar = "SPEC", .group = "Filters",
	  .offset = offsetof(struct invocation, workload.filter),
	  .room = sizeof(((struct invocation *)NULL)->workload.filter),
	  .help = "put delays or errors over the target, as in delay:read=1ms" },
	{ .name = NULL },
};

const struct verb verb_iozone = {
	.name = "iozone",
	.summary = "an iozone command line, measured right and printed as iozone prints it",
	.description =
		"Takes the options of iozone 3.508 and prints its tables, to the column. What is not "
		"done literally is a line of the banner each: direct I/O instead of the page cache, "
		"the flush behind a write in its time, data that cannot be compressed, a new random "
		"order each time, test files of tare's own that nothing is left of. --exact asks for "
		"iozone's own way; an existing file stays untouched even then, unless --expendable "
		"names it.\n\n"
		"A size is a number of kB, or ends in k, m or g. Unknown suffixes, test numbers and "
		"words are refused, where iozone guesses. Installed, the program also goes by the "
		"name iozone.",
	.positional = POSITIONAL_FOREIGN,
	.operands = "[OPTION...]",
	.tables = { foreign_fields, consent_fields, iozone_fields },
	.examples = {
		{ "iozone -a -f /mnt/data/t", "the whole matrix, up to files of 512 MB" },
		{ "iozone -i 0 -i 1 -y 4k -q 1m -s 16g -a -f /mnt/data/t",
		  "writing and reading 16 GB with records from 4 kB to 1 MB" },
		{ "iozone -t 4 -i 0 -i 2 -s 1g -r 4k -O -F a b c d", "four streams, in operations per second" },
		{ "iozone --exact -a -n 64k -g 16m -f /mnt/data/t", "through the page cache, as iozone would" },
		{ "iozone -a -R -b table.xlsx -f /mnt/data/t", "with reports for a spreadsheet" },
	},
	.run = run_iozone,
};
