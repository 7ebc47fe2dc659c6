/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <linux/fs.h>

#include "base/clock.h"
#include "base/defer.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/consent.h"
#include "cli/maps.h"
#include "cli/runner.h"
#include "foreign/iometer.h"
#include "report/iometer_csv.h"

#define AT(member) .offset = offsetof(struct invocation, member)
#define TEXT(member) \
	.type = FIELD_TEXT, AT(member), .room = sizeof(((struct invocation *)NULL)->member)
#define DAYS_NS(n) ((uint64_t)(n) * 86400 * SECOND_NS)

static int parse_ramp(void *member, const char *value, struct err *err)
{
	struct invocation *inv = member;

	inv->has_ramp = true;
	return units_parse_time_ns(value, &inv->ramp_time_ns, err);
}

static const struct field iometer_fields[] = {
	{ .name = "target", TEXT(target), .metavar = "PATH", .group = "Translation",
	  .help = "all targets of the file that no --map names: a directory, a file or a device" },
	{ .name = "spec", TEXT(spec_name), .metavar = "NAME", .group = "Translation",
	  .help = "this access specification alone, of the file or built in (--list-specs)" },
	{ .name = "list-specs", .type = FIELD_BOOL, AT(list_specs), .group = "Translation",
	  .help = "print the names of the specifications that are built in, and of the file's" },
	{ .name = "runtime", .type = FIELD_U64, .unit = UNIT_NS, AT(time_ns), .max = DAYS_NS(366),
	  .group = "Translation", .help = "of each test; without it the file's" },
	{ .name = "ramp-time", .type = FIELD_CUSTOM, .offset = 0, .parse = parse_ramp, .metavar = "TIME",
	  .input_only = true, .group = "Translation", .help = "before each test; without it the file's" },
	{ .name = "iodepth", .type = FIELD_U32, .unit = UNIT_COUNT, AT(depth), .max = 65536,
	  .group = "Translation", .help = "outstanding I/Os of each target; without it the file's" },
	{ .name = "size", .type = FIELD_U64, .unit = UNIT_BYTES, AT(test_file_bytes), .max = INT64_MAX,
	  .group = "Translation",
	  .help = "of the test file in a directory; without it the file's maximum size, or 8g or 10 % of "
		  "the free space" },
	{ .name = "results", TEXT(results_path), .metavar = "FILE.csv",
	  .group = "Translation", .help = "write IOMeter's own result file too; appended to (also -r)" },
	{ .name = NULL },
};

/* What a path is, without opening it for more than a look. */
static int look(void *ctx, const char *path, bool *ret_is_directory, uint64_t *ret_size_bytes)
{
	struct stat st;
	int fd;

	(void)ctx;
	*ret_is_directory = false;
	*ret_size_bytes = 0;
	if (strchr(path, ':') && path[0] != '/' && path[0] != '.')
		return 0;	/* "sim:...", "null:..." */
	if (stat(path, &st) < 0)
		return -errno;
	*ret_is_directory = S_ISDIR(st.st_mode);
	if (S_ISREG(st.st_mode))
		*ret_size_bytes = (uint64_t)st.st_size;
	if (!S_ISBLK(st.st_mode))
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && ioctl(fd, BLKGETSIZE64, ret_size_bytes) < 0)
		*ret_size_bytes = 0;
	if (fd >= 0)
		close(fd);
	return 0;
}

/* FILE.icf and -r FILE.csv: all that IOMeter's own command line has to say here. */
static int read_words(struct invocation *inv, const char **ret_file, struct err *err)
{
	*ret_file = NULL;
	for (uint32_t i = 0; i < inv->foreign_count; i++) {
		const char *word = inv->foreign_words[i];
		const bool is_config = strcmp(word, "/c") == 0 || strcmp(word, "-c") == 0;
		const bool is_result = strcmp(word, "/r") == 0 || strcmp(word, "-r") == 0;

		if ((is_config || is_result) && i + 1 == inv->foreign_count)
			return err_set(err, -EINVAL, "%s needs a file", word);
		if (is_result) {
			word = inv->foreign_words[++i];
			if (strlen(word) >= sizeof(inv->results_path))
				return err_set(err, -EINVAL, "%.40s…: the path is too long", word);
			snprintf(inv->results_path, sizeof(inv->results_path), "%s", word);
			continue;
		}
		if (strcmp(word, "/t") == 0 || strcmp(word, "-t") == 0) {
			err_set(err, -EINVAL, "%s: IOMeter waits so long for its managers; there are none "
					      "here", word);
			return err_hint(err, "leave it out; --runtime says how long a test is");
		}
		if (is_config)
			word = inv->foreign_words[++i];
		if (word[0] == '-' && word[1])
			return err_set(err, -EINVAL, "%s: no such option of tare iometer", word);
		if (*ret_file)
			return err_set(err, -EINVAL, "%s: the configuration is %s already", word, *ret_file);
		*ret_file = word;
	}
	return 0;
}

/* The file's, with what the command line makes of it. */
static int load(struct invocation *inv, const char *file, struct icf *ret, struct err *err)
{
	const struct icf_spec *named = NULL;
	struct icf_spec spec;
	int r = 0;

	memset(ret, 0, sizeof(*ret));
	if (file)
		r = icf_load(ret, file, err);
	if (r < 0)
		return r;
	if (inv->spec_name[0]) {
		named = icf_find_spec(ret, inv->spec_name);
		if (!named && !icf_canned(inv->spec_name, &spec)) {
			err_set(err, -EINVAL, "no access specification is called '%s'", inv->spec_name);
			err_hint(err, "tare iometer --list-specs%s%s", file ? " " : "", file ? file : "");
			return err->code;
		}
		spec = named ? *named : spec;
	}
	if (inv->spec_name[0] || !ret->manager_count) {
		if (!inv->target[0]) {
			err_set(err, -EINVAL, "%s names no target", file ? file : "the command line");
			return err_hint(err, "--target PATH: a directory, a file or a device");
		}
		if (!inv->spec_name[0] && !ret->spec_count)
			return err_set(err, -EINVAL, "%s has no access specification",
				       file ? file : "the command line");
		r = iometer_single(ret, inv->spec_name[0] ? &spec : NULL, err);
	}
	return r;
}

static int list(const struct invocation *inv, const char *file)
{
	struct text text = TEXT_INIT;
	char room[ICF_NAME_BYTES];
	struct icf icf = { 0 };
	struct err err = { 0 };
	int exit_code;

	if (file && icf_load(&icf, file, &err) < 0)
		return invocation_fail(inv, exit_of_refusal(err.code), &err);
	for (size_t i = 0; i < icf.spec_count; i++)
		text_add(&text, "%s\n", icf.specs[i].name);
	for (size_t i = 0; i < icf_canned_count; i++)
		text_add(&text, "%s\n", icf_canned_name(i, room));
	exit_code = print_words(inv, "list", &text);
	text_done(&text);
	icf_done(&icf);
	return exit_code;
}

struct results {
	const struct invocation *inv;
	const struct iometer_labels *labels;
	int fd;			/* of the CSV; -1 = none */
	int error;		/* writing it failed */
};

static void write_csv(struct results *results, const struct result *result)
{
	struct text csv = TEXT_INIT;
	struct timespec now;
	struct tm local;
	char day[32], stamp[48];

	clock_gettime(CLOCK_REALTIME, &now);
	localtime_r(&now.tv_sec, &local);
	strftime(day, sizeof(day), "%Y-%m-%d %H:%M:%S", &local);
	snprintf(stamp, sizeof(stamp), "%s:%03ld", day, now.tv_nsec / 1000000);
	report_iometer_csv(result, results->labels, stamp, &csv);
	if (write(results->fd, text_string(&csv), csv.length) != (ssize_t)csv.length)
		results->error = errno ? -errno : -EIO;
	text_done(&csv);
}

/* tare's own report, with IOMeter's file beside it. */
static void report(void *ctx, const struct result *result, struct text *ret)
{
	struct results *results = ctx;
	struct report_style style;

	if (results->fd >= 0)
		write_csv(results, result);
	if (results->inv->json) {
		report_json(result, ret);
		return;
	}
	invocation_style(results->inv, &style);
	style.full = true;
	text_add(ret, "\n");
	report_text(result, &style, ret);
}

static int run_plan(struct invocation *inv, const struct plan *plan,
		    const struct iometer_labels *labels)
{
	struct results results = { .inv = inv, .labels = labels, .fd = -1 };
	struct err err = { 0 };
	int exit_code, r = consent_settle_plan(inv, plan, &err);

	if (r < 0)
		return invocation_fail(inv, exit_of_refusal(r), &err);
	if (inv->results_path[0]) {
		results.fd = open(inv->results_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
		if (results.fd < 0) {
			err_errno(&err, -errno, "-r %s", inv->results_path);
			return invocation_fail(inv, EXIT_USAGE, &err);
		}
	}
	exit_code = runner_run(inv, &(struct runner){
		.plan = plan,
		.report = report,
		.report_ctx = &results,
		.is_own_report = true,
		.note_code = "iometer-note",
		.notes = labels->notes,
		.note_count = labels->note_count,
	});
	if (results.fd >= 0)
		close(results.fd);
	if (results.error) {
		err_errno(&err, results.error, "writing %s", inv->results_path);
		return invocation_fail(inv, EXIT_INTERNAL, &err);
	}
	return exit_code;
}

static int iometer_run(struct invocation *inv)
{
	static struct name_map named[FOREIGN_MAPS];
	static struct iometer_map maps[FOREIGN_MAPS];
	struct iometer_labels labels;
	const char *file;
	struct plan plan;
	struct icf icf;
	struct err err = { 0 };
	int r, exit_code;

	if (read_words(inv, &file, &err) < 0)
		return invocation_fail(inv, EXIT_USAGE, &err);
	if (inv->list_specs)
		return list(inv, file);
	const struct iometer_options options = {
		.file = file ? file : "command line",
		.maps = maps,
		.map_count = maps_split(inv, named),
		.target = inv->target[0] ? inv->target : NULL,
		.runtime_ns = inv->time_ns,
		.ramp_ns = inv->ramp_time_ns,
		.has_ramp = inv->has_ramp,
		.depth_count = inv->depth,
		.size_bytes = inv->test_file_bytes,
		.exact = inv->foreign_exact,
		.look = look,
	};
	for (size_t i = 0; i < options.map_count; i++)
		maps[i] = (struct iometer_map){ named[i].name, named[i].path };
	if (load(inv, file, &icf, &err) < 0) {
		icf_done(&icf);
		return invocation_fail(inv, EXIT_USAGE, &err);
	}
	r = iometer_plan(&icf, &options, &plan, &labels, &err);
	icf_done(&icf);
	if (r < 0)
		return invocation_fail(inv, exit_of_refusal(r), &err);
	for (size_t i = 0; i < labels.note_count; i++)
		fprintf(stderr, "note: %s\n", labels.notes[i]);
	exit_code = inv->print_plan ? print_plan(inv, &plan) : run_plan(inv, &plan, &labels);
	plan_done(&plan);
	iometer_labels_done(&labels);
	return exit_code;
}

const struct verb verb_iometer = {
	.name = "iometer",
	.summary = "run IOMeter's configurations and access specifications",
	.description =
		"Takes an .icf file of any age, and --map or --target for what its targets are on this "
		"machine; names of another system (C:, PHYSICALDRIVE:1) are never guessed. Each test of a "
		"cycle is a group of measurements, one for each worker and target, which --print-plan "
		"shows. Without a file, or for a file of specifications only, --spec and --target are "
		"enough.\n\n"
		"No iobw.tst fills the disk: a directory gets a file of tare's own that vanishes. Random "
		"starts with alignment 0 lie at the device's page, where IOMeter took 512 bytes, and data "
		"is incompressible; --exact asks for what IOMeter did. Each such point is one line. Devices "
		"and files that are there are only read, unless --erase-data or --expendable allows more.",
	.positional = POSITIONAL_FOREIGN,
	.operands = "[FILE.icf]",
	.tables = { foreign_fields, map_fields, iometer_fields, consent_fields },
	.examples = {
		{ "iometer test.icf --map 'C: \"disk\"=/mnt/data' -r results.csv", "a file from the shelf" },
		{ "iometer --spec '4 KiB aligned; 50% Read; 100% random' --target . --runtime 1m",
		  "a specification that is built in" },
		{ "iometer --list-specs", "which there are" },
		{ "iometer test.icf --target /mnt/data --print-plan", "what tare makes of it" },
	},
	.run = iometer_run,
};
