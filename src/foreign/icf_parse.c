/* SPDX-License-Identifier: MIT */

/*
 * The grammar: a line that begins with ' is a key; further such lines are captions; then comes one
 * line of data. Sections come in any order and may be missing. What IOMeter reads as 0 or skips
 * without a word is an error here.
 */

#include "foreign/icf_read.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/units.h"

#define FILE_MAX_BYTES (16 * MIB)
#define OLD_ALIGN_BYTES 2048
#define OLD_UNTIL 19980521

/* --- sections -------------------------------------------------------------------------- */

static int cycle(struct reader *r, struct icf_cycle *ret, bool has_end)
{
	static const char *const types[] = { "LINEAR", "EXPONENTIAL", NULL };
	const size_t want = has_end ? 4 : 3;
	uint32_t type = 0;
	char *word[8];
	bool empty;
	int rc = reader_data(r, &empty);

	if (rc < 0)
		return rc;
	if (empty || reader_words(r->current, word, 8) != want)
		return reader_fail(r, "a cycle is start%s, step and LINEAR or EXPONENTIAL", has_end ? ", end" : "");
	rc = reader_number32(r, word[0], 1 << 20, &ret->start);
	if (rc == 0 && has_end)
		rc = reader_number32(r, word[1], 1 << 20, &ret->end);
	if (rc == 0)
		rc = reader_number32(r, word[want - 2], 1 << 20, &ret->step);
	if (rc == 0)
		rc = reader_choice(r, word[want - 1], types, &type);
	ret->exponential = type;
	return rc;
}

static int one_choice(struct reader *r, const char *const *names, uint32_t *ret)
{
	bool empty;
	int rc = reader_data(r, &empty);

	return rc < 0 ? rc : reader_choice(r, r->current, names, ret);
}

static int spawn(struct reader *r, char *ret, size_t ret_bytes)
{
	uint64_t value;
	bool empty;
	int rc = reader_data(r, &empty);

	if (rc == 0 && strcasecmp(r->current, "NUMBER_OF_CPUS") != 0)
		rc = reader_number(r, r->current, UINT32_MAX, &value);
	if (rc == 0)
		snprintf(ret, ret_bytes, "%.20s", r->current);
	return rc;
}

static int setup_key(struct reader *r, bool *ret_known)
{
	struct icf *icf = r->icf;
	uint64_t time[3] = { 0 };
	int rc = 0;

	*ret_known = true;
	if (reader_is_key(r, "Test Description"))
		return reader_free_text(r, icf->description, sizeof(icf->description));
	if (reader_is_key(r, "Run Time")) {
		rc = reader_numbers(r, time, 3);
		if (rc == 0 && (time[0] > 8784 || time[1] > 527040 || time[2] > 31622400))
			return reader_fail(r, "a run time of more than a year");
		icf->run_s = (uint32_t)(time[0] * 3600 + time[1] * 60 + time[2]);
	} else if (reader_is_key(r, "Ramp Up Time")) {
		rc = reader_numbers(r, time, 1);
		if (rc == 0 && time[0] > 31622400)
			return reader_fail(r, "a ramp up time of more than a year");
		icf->ramp_s = (uint32_t)time[0];
	} else if (reader_is_key(r, "Default Disk Workers") || reader_is_key(r, "Default Workers")) {
		rc = spawn(r, icf->disk_workers, sizeof(icf->disk_workers));
	} else if (reader_is_key(r, "Default Network Workers")) {
		rc = spawn(r, icf->net_workers, sizeof(icf->net_workers));
	} else if (reader_is_key(r, "Record Results")) {
		rc = one_choice(r, icf_record_names, &icf->record);
	} else if (reader_is_key(r, "Worker Cycling")) {
		rc = cycle(r, &icf->workers, false);
	} else if (reader_is_key(r, "Disk Cycling")) {
		rc = cycle(r, &icf->targets, false);
	} else if (reader_is_key(r, "Queue Depth Cycling")) {
		rc = cycle(r, &icf->depth, true);
	} else if (reader_is_key(r, "Test Type")) {
		rc = one_choice(r, icf_test_names, &icf->test);
	} else {
		*ret_known = false;
		return 0;
	}
	return rc < 0 ? rc : reader_next(r);
}

static bool begins_section(const struct reader *r)
{
	return reader_is_key(r, "TEST SETUP") || reader_is_key(r, "RESULTS DISPLAY") ||
	       reader_is_key(r, "ACCESS SPECIFICATIONS") || reader_is_key(r, "MANAGER LIST");
}

static int setup(struct reader *r)
{
	bool known = true;
	int rc = reader_next(r);

	r->icf->has_setup = true;
	while (rc == 0 && !r->is_done && !reader_is_key(r, "end test setup")) {
		/* Files before 1999 end it without a word. */
		if (begins_section(r) || reader_is_version(r))
			return 0;
		if (!reader_is_caption(r))
			return reader_fail(r, "'%.40s' stands where a key of the test setup is expected",
				    r->current);
		rc = setup_key(r, &known);
		if (rc == 0 && !known)
			return reader_fail(r, "%.60s: no such key of the test setup", r->current);
	}
	return rc < 0 || r->is_done ? rc : reader_next(r);
}

/* Of the program's window: nothing that is measured. */
static int skip_section(struct reader *r, const char *end)
{
	int rc = reader_next(r);

	while (rc == 0 && !r->is_done && !reader_is_key(r, end) && !begins_section(r))
		rc = reader_next(r);
	return rc < 0 || r->is_done || !reader_is_key(r, end) ? rc : reader_next(r);
}

/* One row of a specification into line: eight numbers, or six of the old layout. */
static int row(struct reader *r, struct access_line *line)
{
	static const uint32_t limits[] = { WORKLOAD_BLOCK_MAX_BYTES, 100, 100, 100, 86400000,
					   UINT32_MAX, WORKLOAD_BLOCK_MAX_BYTES,
					   WORKLOAD_BLOCK_MAX_BYTES };
	const size_t want = r->is_old ? 6 : 8;
	uint32_t value[8] = { [6] = OLD_ALIGN_BYTES };
	char *word[8];
	const size_t have = reader_words(r->current, word, 8);
	int rc = 0;

	if (have != want)
		return reader_fail(r, "%zu numbers in a row; there are %zu: size, %% of size, %% reads, %% random, "
			       "delay, burst%s", have, want, r->is_old ? "" : ", align, reply");
	for (size_t i = 0; rc == 0 && i < want; i++)
		rc = reader_number32(r, word[i], limits[i], &value[i]);
	if (rc < 0)
		return rc;
	if (value[0] == 0)
		return reader_fail(r, "a request of 0 bytes");
	*line = (struct access_line){
		.bytes = value[0],
		.weight = value[1],
		.read_ppm = value[2] * (PPM / 100),
		.random_ppm = value[3] * (PPM / 100),
		.delay_us = value[4] * 1000,
		.burst_count = value[5],
		.align_bytes = value[6],
		.reply_bytes = value[7],
	};
	if (value[4] > UINT32_MAX / 1000)
		return reader_fail(r, "a delay of more than %u ms", UINT32_MAX / 1000);
	if (value[0] == 66560)
		reader_warn(r, "66560 bytes is no multiple of 4096, and widely a slip for 65536; kept as it is");
	return 0;
}

static uint32_t weight_of(const struct icf_spec *spec)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < spec->lines.count; i++)
		sum += spec->lines.lines[i].weight;
	return sum;
}

static int add_row(struct reader *r, struct icf_spec *spec)
{
	if (spec->lines.count == WORKLOAD_LINES)
		return reader_fail(r, "more than %d rows in one specification", WORKLOAD_LINES);
	return row(r, &spec->lines.lines[spec->lines.count++]);
}

/* A later one of the same name takes the place of the earlier. */
static void keep_spec(struct icf *icf, const struct icf_spec *spec)
{
	for (size_t i = 0; i < icf->spec_count; i++)
		if (strcasecmp(icf->specs[i].name, spec->name) == 0) {
			icf->specs[i] = *spec;
			return;
		}
	icf->specs = reader_grow(icf->specs, icf->spec_count, sizeof(*icf->specs));
	icf->specs[icf->spec_count++] = *spec;
}

static int named_spec(struct reader *r)
{
	struct icf_spec spec = { .name = "" };
	char *comma;
	bool empty;
	int rc = reader_data(r, &empty);

	if (rc < 0)
		return rc;
	comma = empty ? NULL : strrchr(r->current, ',');
	if (!comma)
		return reader_fail(r, "'NAME,NONE|ALL|DISK|NET' is expected");
	spec.line = r->line;
	rc = reader_choice(r, comma + 1 + strspn(comma + 1, " \t"), icf_assignment_names, &spec.assignment);
	while (comma > r->current && isspace((unsigned char)comma[-1]))
		comma--;
	*comma = '\0';
	if (rc == 0)
		rc = reader_name(r, r->current, spec.name);
	if (rc == 0 && !spec.name[0])
		return reader_fail(r, "the specification has no name");
	if (rc == 0)
		rc = reader_next(r);
	if (rc == 0 && !r->is_done && reader_is_caption(r) && reader_is_key(r, "size"))
		rc = reader_next(r);
	while (rc == 0 && !r->is_done && !reader_is_caption(r) && !reader_is_version(r)) {
		rc = add_row(r, &spec);
		if (rc == 0)
			rc = reader_next(r);
	}
	if (rc < 0)
		return rc;
	if (weight_of(&spec) != 100)
		return reader_fail(r, "the percentages of '%.60s' (line %u) add to %u, not to 100", spec.name,
			    spec.line, weight_of(&spec));
	keep_spec(r->icf, &spec);
	return 0;
}

static void size_words(uint32_t bytes, char *ret, size_t ret_bytes)
{
	if (bytes % MIB == 0)
		snprintf(ret, ret_bytes, "%u MiB", bytes / (uint32_t)MIB);
	else if (bytes >= KIB)
		snprintf(ret, ret_bytes, "%u KiB", bytes / (uint32_t)KIB);
	else
		snprintf(ret, ret_bytes, "%u B", bytes);
}

/* Old files do not name them: after what they do, as IOMeter did. */
static void name_old(const struct icf *icf, struct icf_spec *spec)
{
	const struct access_line *line = &spec->lines.lines[0];
	const uint32_t random = line->random_ppm / (PPM / 100), reads = line->read_ppm / (PPM / 100);
	char size[24], base[96];

	size_words(line->bytes, size, sizeof(size));
	if (spec->lines.count == 1) {
		snprintf(base, sizeof(base), "%s ", size);
		if (random == 0 || random == 100)
			snprintf(base + strlen(base), 40, "%s ", random ? "random" : "sequential");
		else
			snprintf(base + strlen(base), 40, "%u%% random ", random);
		if (reads == 0 || reads == 100)
			snprintf(base + strlen(base), 40, "%s", reads ? "reads" : "writes");
		else
			snprintf(base + strlen(base), 40, "%u%% reads", reads);
		snprintf(spec->name, sizeof(spec->name), "%s", base);
	} else {
		snprintf(base, sizeof(base), "Untitled");
		snprintf(spec->name, sizeof(spec->name), "Untitled 1");
	}
	for (unsigned n = 2; icf_find_spec(icf, spec->name); n++)
		snprintf(spec->name, sizeof(spec->name), "%s %u", base, n);
}

/* The rows decide, and it is told where the version would have said otherwise. */
static void note_old(struct reader *r)
{
	const char *version = r->icf->version;
	unsigned part[3] = { 0 };

	(void)sscanf(version, "%u.%u.%u", &part[0], &part[1], &part[2]);
	if (part[0] <= 1900 || part[0] * 10000 + part[1] * 100 + part[2] >= OLD_UNTIL)
		reader_warn(r, "rows without a name: read in the layout from before 1998.05.21, not that "
			       "of %s%.20s", version[0] ? "version " : "the newest", version);
	r->is_old = true;
}

static int old_specs(struct reader *r)
{
	struct icf_spec spec = { .assignment = ICF_ASSIGN_ALL };
	int rc = 0;

	note_old(r);
	while (rc == 0 && !r->is_done && !reader_is_caption(r) && !reader_is_version(r)) {
		const uint32_t line = r->line;

		spec.line = spec.lines.count ? spec.line : line;
		rc = add_row(r, &spec);
		if (rc == 0 && spec.lines.lines[spec.lines.count - 1].weight == 0) {
			reader_warn(r, "a row of 0 %% is left out");
			spec.lines.count--;
		}
		if (rc == 0 && weight_of(&spec) > 100)
			return reader_fail(r, "the percentages from line %u on add to %u, not to 100", spec.line,
				    weight_of(&spec));
		if (rc == 0 && weight_of(&spec) == 100) {
			name_old(r->icf, &spec);
			keep_spec(r->icf, &spec);
			spec = (struct icf_spec){ .assignment = ICF_ASSIGN_ALL };
		}
		if (rc == 0)
			rc = reader_next(r);
	}
	if (rc == 0 && spec.lines.count)
		reader_warn(r, "the last specification (line %u) adds to %u %% only and is left out", spec.line,
		     weight_of(&spec));
	return rc;
}

static int specs(struct reader *r)
{
	int rc = reader_next(r);

	while (rc == 0 && !r->is_done && !reader_is_key(r, "end access spec")) {
		if (reader_is_key(r, "Access specification name"))
			rc = named_spec(r);
		else if (reader_is_key(r, "size"))
			rc = reader_next(r);
		else if (!reader_is_caption(r) && !reader_is_version(r))
			rc = old_specs(r);
		else if (begins_section(r) || reader_is_version(r))
			return 0;
		else
			return reader_fail(r, "%.60s: no such key of the access specifications", r->current);
	}
	return rc < 0 || r->is_done ? rc : reader_next(r);
}

/* --- managers -------------------------------------------------------------------------- */

static int add_name(struct reader *r, struct icf_name **items, size_t *count)
{
	*items = reader_grow(*items, *count, sizeof(**items));
	(*items)[*count].line = r->line;
	return reader_name(r, r->current, (*items)[(*count)++].text);
}

static int enabled(struct reader *r, const char *word, bool *ret)
{
	static const char *const names[] = { "DISABLED", "ENABLED", NULL };
	uint32_t value = 0;
	int rc = reader_choice(r, word, names, &value);

	*ret = value;
	return rc;
}

static int settings_queue(struct reader *r, struct icf_worker *w)
{
	char *word[8];
	size_t count;
	bool empty;
	int rc = reader_data(r, &empty);

	if (rc < 0)
		return rc;
	count = empty ? 0 : reader_words(r->current, word, 8);
	if (count != 3 && count != 5)
		return reader_fail(r, "%zu values where 3 or 5 are expected: outstanding IOs, ENABLED|DISABLED, "
			       "transactions, ENABLED|DISABLED, seed", count);
	rc = reader_number32(r, word[0], 65536, &w->outstanding_count);
	if (rc == 0)
		rc = enabled(r, word[1], &w->tests_connections);
	if (rc == 0)
		rc = reader_number32(r, word[2], UINT32_MAX, &w->transactions_per_connection);
	if (rc == 0 && count == 5)
		rc = enabled(r, word[3], &w->has_seed);
	if (rc == 0 && count == 5)
		rc = reader_number(r, word[4], UINT64_MAX, &w->seed);
	if (rc == 0 && w->outstanding_count == 0)
		return reader_fail(r, "0 outstanding IOs");
	return rc < 0 ? rc : reader_next(r);
}

static int settings_disk(struct reader *r, struct icf_worker *w)
{
	char *word[8];
	size_t count;
	bool empty;
	int rc = reader_data(r, &empty);

	if (rc < 0)
		return rc;
	count = empty ? 0 : reader_words(r->current, word, 8);
	if (count != 2 && count != 3)
		return reader_fail(r, "%zu values where 2 or 3 are expected: maximum size, starting sector, data "
			       "pattern", count);
	rc = reader_number(r, word[0], UINT64_MAX / 512, &w->max_sectors);
	if (rc == 0)
		rc = reader_number(r, word[1], UINT64_MAX / 512, &w->start_sector);
	if (rc == 0 && count == 3)
		rc = reader_number32(r, word[2], 2, &w->pattern);
	return rc < 0 ? rc : reader_next(r);
}

static int settings(struct reader *r, struct icf_worker *w)
{
	bool empty;
	int rc = reader_next(r);

	while (rc == 0 && !r->is_done && !reader_is_key(r, "end default target settings")) {
		if (reader_is_key(r, "Number of outstanding IOs")) {
			rc = settings_queue(r, w);
		} else if (reader_is_key(r, "Disk maximum size")) {
			rc = settings_disk(r, w);
		} else if (reader_is_key(r, "Local network interface") || reader_is_key(r, "VI outstanding IOs")) {
			rc = reader_data(r, &empty);
			if (rc == 0 && !empty)
				rc = reader_next(r);
		} else {
			return reader_fail(r, "%.60s: no such target setting", r->current);
		}
	}
	return rc < 0 || r->is_done ? rc : reader_next(r);
}

static int assigned_specs(struct reader *r, struct icf_worker *w)
{
	int rc = reader_next(r);

	while (rc == 0 && !r->is_done && !reader_is_key(r, "end assigned access")) {
		if (reader_is_caption(r))
			return reader_fail(r, "%.60s stands where the name of a specification is expected",
				    r->current);
		rc = add_name(r, &w->specs, &w->spec_count);
		if (rc == 0)
			rc = reader_next(r);
	}
	return rc < 0 || r->is_done ? rc : reader_next(r);
}

static int assigned_targets(struct reader *r, struct icf_worker *w)
{
	bool empty;
	int rc = reader_next(r);

	while (rc == 0 && !r->is_done && !reader_is_key(r, "end target assignments")) {
		if (reader_is_key(r, "Target type") || reader_is_key(r, "Target manager ID")) {
			rc = reader_data(r, &empty);
		} else if (reader_is_key(r, "Target")) {
			rc = reader_data(r, &empty);
			if (rc == 0 && empty)
				return reader_fail(r, "the target has no name");
			if (rc == 0)
				rc = add_name(r, &w->targets, &w->target_count);
		} else if (!reader_is_key(r, "end target")) {
			return reader_fail(r, "%.60s: no such key of a target", r->current);
		}
		if (rc == 0)
			rc = reader_next(r);
	}
	return rc < 0 || r->is_done ? rc : reader_next(r);
}

static int worker_type(struct reader *r, struct icf_worker *w)
{
	bool empty;
	int rc = reader_data(r, &empty);

	if (rc < 0)
		return rc;
	if (empty || (strcasecmp(r->current, "DISK") != 0 &&
		      strncasecmp(r->current, "NETWORK", 7) != 0 && strcmp(r->current, "0") != 0))
		return reader_fail(r, "'%.40s' is no worker type; there are DISK and NETWORK,…", r->current);
	reader_cut(strcmp(r->current, "0") == 0 ? "DISK" : r->current, w->type, sizeof(w->type));
	return reader_next(r);
}

static int worker(struct reader *r, struct icf_manager *manager)
{
	struct icf_worker *w;
	int rc;

	manager->workers = reader_grow(manager->workers, manager->worker_count,
				       sizeof(*manager->workers));
	w = &manager->workers[manager->worker_count++];
	w->outstanding_count = 1;
	w->transactions_per_connection = 1;
	w->line = r->line;
	snprintf(w->type, sizeof(w->type), "DISK");
	rc = reader_free_text(r, w->name, sizeof(w->name));
	while (rc == 0 && !r->is_done && !reader_is_key(r, "end worker")) {
		if (reader_is_key(r, "Worker type"))
			rc = worker_type(r, w);
		else if (reader_is_key(r, "Default target settings"))
			rc = settings(r, w);
		else if (reader_is_key(r, "Assigned access specs"))
			rc = assigned_specs(r, w);
		else if (reader_is_key(r, "Target assignments"))
			rc = assigned_targets(r, w);
		else
			return reader_fail(r, "%.60s: no such key of a worker", r->current);
	}
	return rc < 0 || r->is_done ? rc : reader_next(r);
}

static int manager(struct reader *r)
{
	struct icf *icf = r->icf;
	struct icf_manager *m;
	char *comma;
	bool empty;
	int rc = reader_data(r, &empty);

	if (rc < 0)
		return rc;
	icf->managers = reader_grow(icf->managers, icf->manager_count, sizeof(*icf->managers));
	m = &icf->managers[icf->manager_count++];
	comma = empty ? NULL : strchr(r->current, ',');
	if (!comma)
		return reader_fail(r, "'ID,NAME' of a manager is expected");
	*comma = '\0';
	rc = reader_number32(r, r->current, UINT32_MAX, &m->id);
	if (rc == 0)
		rc = reader_name(r, comma + 1, m->name);
	if (rc == 0)
		rc = reader_next(r);
	while (rc == 0 && !r->is_done && !reader_is_key(r, "end manager")) {
		if (reader_is_key(r, "Manager network address"))
			rc = reader_free_text(r, m->address, sizeof(m->address));
		else if (reader_is_key(r, "Worker") && !reader_is_key(r, "Worker type"))
			rc = worker(r, m);
		else
			return reader_fail(r, "%.60s: no such key of a manager", r->current);
	}
	return rc < 0 || r->is_done ? rc : reader_next(r);
}

static int managers(struct reader *r)
{
	int rc = reader_next(r);

	r->icf->has_managers = true;
	while (rc == 0 && !r->is_done && !reader_is_key(r, "end manager list")) {
		if (reader_is_version(r) || begins_section(r))
			return 0;
		if (!reader_is_key(r, "Manager ID"))
			return reader_fail(r, "%.60s stands where a manager is expected", r->current);
		rc = manager(r);
	}
	return rc < 0 || r->is_done ? rc : reader_next(r);
}

/* --- the file -------------------------------------------------------------------------- */

/* Which of the two layouts of rows the version means; rows tell for themselves in the end. */
static int version(struct reader *r)
{
	struct icf *icf = r->icf;
	const char *at = r->current + (r->current[0] == '\'') + 8;
	unsigned part[3] = { 0 };

	at += strspn(at, " ");
	if (icf->version[0])
		return reader_next(r);
	reader_cut(at, icf->version, sizeof(icf->version));
	if (sscanf(at, "%u.%u.%u", &part[0], &part[1], &part[2]) < 2)
		reader_warn(r, "version %.20s is none of IOMeter's: read as the newest, or as the rows say",
			    icf->version);
	if (part[0] > 1900 && part[0] * 10000 + part[1] * 100 + part[2] < 19980105)
		reader_warn(r, "version %.20s is older than any that was published", icf->version);
	return reader_next(r);
}

static int file(struct reader *r)
{
	int rc = reader_next(r);

	while (rc == 0 && !r->is_done) {
		if (reader_is_version(r))
			rc = version(r);
		else if (reader_is_key(r, "TEST SETUP"))
			rc = setup(r);
		else if (reader_is_key(r, "RESULTS DISPLAY"))
			rc = skip_section(r, "end results display");
		else if (reader_is_key(r, "ACCESS SPECIFICATIONS"))
			rc = specs(r);
		else if (reader_is_key(r, "MANAGER LIST"))
			rc = managers(r);
		else
			return reader_fail(r, "'%.40s' begins no section: TEST SETUP, RESULTS DISPLAY, ACCESS "
				       "SPECIFICATIONS or MANAGER LIST", r->current);
	}
	return rc;
}

static void preset(struct icf *icf)
{
	static const struct icf_cycle one = { .start = 1, .step = 1 };

	memset(icf, 0, sizeof(*icf));
	icf->workers = icf->targets = one;
	icf->depth = (struct icf_cycle){ .start = 1, .end = 32, .step = 2, .exponential = true };
	snprintf(icf->disk_workers, sizeof(icf->disk_workers), "NUMBER_OF_CPUS");
	snprintf(icf->net_workers, sizeof(icf->net_workers), "0");
}

int icf_parse(struct icf *ret, const char *file_name, const char *text, size_t length,
	      struct err *err)
{
	struct err own = { 0 };
	struct reader r = {
		.icf = ret,
		.file = file_name,
		.text = text,
		.end = text + length,
		.err = err ? err : &own,
	};
	int rc;

	preset(ret);
	if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
		r.text += 3;
	rc = file(&r);
	if (rc == 0 && !ret->has_setup && !ret->spec_count && !ret->has_managers)
		rc = reader_fail(&r, "this is no IOMeter configuration: it has none of its sections");
	if (rc == 0 && !ret->version[0]) {
		r.line = 1;
		reader_warn(&r, "no version line: read as the newest");
	}
	if (rc < 0)
		icf_done(ret);
	return rc;
}

/* What a path names that was meant for a target. */
static int check_kind(FILE *stream, const char *path, struct err *err)
{
	struct stat st;

	if (fstat(fileno(stream), &st) < 0 || !(S_ISDIR(st.st_mode) || S_ISBLK(st.st_mode)))
		return 0;
	err_set(err, -EINVAL, "%s is a %s, not a configuration of IOMeter's", path,
		S_ISDIR(st.st_mode) ? "directory" : "device");
	return err_hint(err, "--target=%s makes it what is tested", path);
}

int icf_load(struct icf *ret, const char *path, struct err *err)
{
	FILE *stream = fopen(path, "re");
	char *text = NULL;
	size_t length = 0;
	int rc = 0;

	memset(ret, 0, sizeof(*ret));
	if (!stream)
		return err_errno(err, -errno, "%s", path);
	rc = check_kind(stream, path, err);
	text = malloc(FILE_MAX_BYTES + 1);
	if (rc == 0 && !text)
		rc = err_errno(err, -ENOMEM, "%s", path);
	else if (rc == 0)
		length = fread(text, 1, FILE_MAX_BYTES + 1, stream);
	if (rc == 0 && ferror(stream))
		rc = err_errno(err, -errno, "%s", path);
	else if (rc == 0 && length > FILE_MAX_BYTES)
		rc = err_set(err, -EFBIG, "%s: more than 16 MiB: no IOMeter configuration is that long",
			     path);
	if (rc == 0)
		rc = icf_parse(ret, path, text, length, err);
	free(text);
	fclose(stream);
	return rc;
}
