/* SPDX-License-Identifier: MIT */
#include "foreign/iometer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/units.h"
#include "foreign/place.h"

#define SECTOR_BYTES 512u
#define STEPS 64 /* of one cycle */
#define TESTS_MAX 10000
#define WORKERS_MAX 1024

size_t iometer_sequence(const struct icf_cycle *cycle, uint32_t limit, uint32_t *ret, size_t max)
{
	uint64_t value = cycle->start ? cycle->start : 1;
	const uint32_t step = cycle->step ? cycle->step : 1;
	size_t count = 0;

	while (count < max && limit) {
		ret[count++] = value < limit ? (uint32_t)value : limit;
		if (value >= limit)
			break;
		value = cycle->exponential && step > 1 ? value * step : value + step;
	}
	return count;
}

size_t iometer_depths(const struct icf_cycle *cycle, uint32_t *ret, size_t max)
{
	uint64_t value = cycle->start ? cycle->start : 1;
	const uint32_t step = cycle->step ? cycle->step : 1;
	size_t count = 0;

	while (count < max && value <= cycle->end && value <= 65536) {
		ret[count++] = (uint32_t)value;
		value = cycle->exponential && step > 1 ? value * step : value + step;
	}
	return count;
}

/* A worker with where it stands. */
struct seat {
	const struct icf_manager *manager;
	const struct icf_worker *worker;
	uint32_t manager_index, worker_index;
};

struct translation {
	const struct icf *icf;
	const struct iometer_options *options;
	struct plan *plan;
	struct iometer_labels *labels;
	struct err *err;
	struct seat seats[WORKERS_MAX];
	size_t seat_count;
	struct text missing;		/* targets that nothing maps */
};

/* Which of the workers and targets take part in one test. */
struct stage {
	uint32_t worker_limit, target_limit;	/* of each manager; of each worker */
	uint32_t target_total;		/* filling worker after worker; 0 = no such limit */
	bool over_all;			/* the total is of all managers, not of each */
	uint32_t depth_count;		/* 0 = each worker's own */
};

__attribute__((format(printf, 3, 4))) static int fail(struct translation *t, uint32_t line,
						      const char *format, ...)
{
	const struct place place = { t->options->file, line, 0 };
	char text[400];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return place_error(&place, -EINVAL, t->err, "%s", text);
}

/* --- targets --------------------------------------------------------------------------- */

/* "C: "label"" and "PHYSICALDRIVE:1" are of another system; "/mnt/x [ext4]" is a directory. */
static bool own_path(const char *name, char *ret, size_t ret_bytes)
{
	if (name[0] == '/') {
		const char *bracket = strstr(name, " [");

		snprintf(ret, ret_bytes, "%.*s", bracket ? (int)(bracket - name) : (int)strlen(name),
			 name);
		return true;
	}
	if (name[strcspn(name, "/: \"")])
		return false;
	snprintf(ret, ret_bytes, "/dev/%s", name);
	return true;
}

static bool map_target(const struct translation *t, const char *name, char *ret, size_t ret_bytes)
{
	const struct iometer_options *o = t->options;
	bool is_directory;
	uint64_t size;

	for (size_t i = 0; i < o->map_count; i++)
		if (strcasecmp(o->maps[i].name, name) == 0) {
			snprintf(ret, ret_bytes, "%s", o->maps[i].path);
			return true;
		}
	if (o->target) {
		snprintf(ret, ret_bytes, "%s", o->target);
		return true;
	}
	return own_path(name, ret, ret_bytes) &&
	       o->look(o->look_ctx, ret, &is_directory, &size) == 0;
}

/* All names that lead nowhere, in one go. */
static int check_targets(struct translation *t)
{
	char path[4096];
	size_t count = 0;

	for (size_t s = 0; s < t->seat_count; s++)
		for (size_t i = 0; i < t->seats[s].worker->target_count; i++) {
			const char *name = t->seats[s].worker->targets[i].text;

			if (map_target(t, name, path, sizeof(path)) ||
			    (t->missing.length && strstr(text_string(&t->missing), name)))
				continue;
			text_add(&t->missing, "%s%s", count++ ? ", " : "", name);
		}
	if (!count)
		return 0;
	err_set(t->err, -EINVAL, "%s: nothing here is called %s", t->options->file,
		text_string(&t->missing));
	return err_hint(t->err, "--map 'NAME=PATH' for each, or --target PATH for all");
}

/* The last byte any worker wants of the target; 0 = all there is. */
static uint64_t wanted_bytes(const struct translation *t, const char *path)
{
	uint64_t want = 0;
	char other[4096];

	if (t->options->size_bytes)
		return t->options->size_bytes;
	for (size_t s = 0; s < t->seat_count; s++) {
		const struct icf_worker *w = t->seats[s].worker;

		for (size_t i = 0; i < w->target_count; i++) {
			const uint64_t end = (w->start_sector + w->max_sectors) * SECTOR_BYTES;

			if (!map_target(t, w->targets[i].text, other, sizeof(other)) ||
			    strcmp(other, path) != 0)
				continue;
			if (!w->max_sectors)
				return 0;
			want = end > want ? end : want;
		}
	}
	return want;
}

/* Its place in the plan: one of each path; in a directory one of each name the file has. */
static uint32_t plan_index(struct translation *t, const char *name, bool *ret_is_directory)
{
	struct plan *plan = t->plan;
	uint64_t size = 0, want;
	char path[4096];
	uint32_t index;

	*ret_is_directory = false;
	(void)map_target(t, name, path, sizeof(path));
	(void)t->options->look(t->options->look_ctx, path, ret_is_directory, &size);
	for (size_t i = 0; i < t->labels->cell_count; i++) {
		size_t phase = 0;

		if (strcasecmp(t->labels->cells[i].target, name) != 0)
			continue;
		for (size_t k = 0; k < plan->phase_count; k++)
			if (plan->phases[k].kind == PHASE_MEASURE && phase++ == i)
				return plan->phases[k].target_index;
	}
	for (uint32_t i = 0; !*ret_is_directory && i < plan->target_count; i++)
		if (strcmp(plan->targets[i].spec, path) == 0)
			return i;
	index = plan_add_target(plan, path);
	want = wanted_bytes(t, path);
	if (*ret_is_directory) {
		plan->targets[index].size_bytes = want;
		if (!want)
			iometer_labels_note(t->labels,
					    "maximum size 0 in %s: a test file of sensible size (--size), where "
					    "IOMeter would fill the disk", path);
		iometer_labels_note(t->labels, "%s: a file of tare's own that vanishes afterwards, not "
					       "iobw.tst", path);
	}
	return index;
}

/* --- workloads ------------------------------------------------------------------------- */

static void note_lines(struct translation *t, const struct access_lines *lines)
{
	for (uint32_t i = 0; i < lines->count; i++) {
		const struct access_line *line = &lines->lines[i];

		if (!line->align_bytes && line->random_ppm && !t->options->exact)
			iometer_labels_note(t->labels,
					    "align 0: random starts at the device's page, 4096 bytes at least "
					    "(IOMeter would use 512)");
		if (line->align_bytes % 4096 || line->bytes % 4096)
			iometer_labels_note(t->labels, "requests below a page of 4096 bytes or off it: as "
						       "asked for");
	}
}

static void note_worker(struct translation *t, const struct icf_worker *w)
{
	if (w->tests_connections)
		iometer_labels_note(t->labels,
				    "test connection rate: targets stay open; no connections are counted");
	if (w->pattern < 2 && !t->options->exact)
		iometer_labels_note(t->labels, "data is incompressible and never repeats, whatever the "
					       "pattern in the file");
	if (w->pattern == 0 && t->options->exact)
		iometer_labels_note(t->labels, "REDUCIBLE DATA: data pattern 0 repeats one byte, which "
					       "drives and file systems may store as next to nothing");
	if (w->pattern == 1 && t->options->exact)
		iometer_labels_note(t->labels, "data pattern 1: incompressible and never repeated, not one "
					       "buffer over and over");
}

/* The spec's lines; alignment 0 taken to the letter only when that was asked for. */
static void set_lines(struct translation *t, const struct icf_spec *spec, struct workload *w)
{
	uint32_t reads = 0;

	w->lines = spec->lines;
	for (uint32_t i = 0; i < w->lines.count; i++) {
		if (t->options->exact && !w->lines.lines[i].align_bytes)
			w->lines.lines[i].align_bytes = SECTOR_BYTES;
		reads += w->lines.lines[i].weight * (w->lines.lines[i].read_ppm / 100);
	}
	w->rw = RW_RANDRW;
	w->read_ppm = reads;
}

static int add_phase(struct translation *t, const struct seat *seat, const struct icf_spec *spec,
		     size_t target, uint32_t depth, bool together)
{
	const struct icf_worker *worker = seat->worker;
	const struct iometer_options *o = t->options;
	bool is_directory;
	const uint32_t index = plan_index(t, worker->targets[target].text, &is_directory);
	struct phase *phase = plan_add(t->plan, PHASE_MEASURE);
	struct iometer_cell *cell = iometer_labels_cell(t->labels);
	struct workload *w = &phase->workload;

	phase->target_index = index;
	phase->together = together;
	snprintf(w->name, sizeof(w->name), "%.30s %.14s %.10s", spec->name, worker->name,
		 worker->targets[target].text);
	set_lines(t, spec, w);
	w->depth_count = depth;
	w->runtime_ns = o->runtime_ns ? o->runtime_ns : (uint64_t)t->icf->run_s * SECOND_NS;
	w->ramp_ns = o->has_ramp ? o->ramp_ns : (uint64_t)t->icf->ramp_s * SECOND_NS;
	w->offset.bytes = worker->start_sector * SECTOR_BYTES;
	w->size.bytes = worker->max_sectors * SECTOR_BYTES;
	w->seed = worker->has_seed ? worker->seed : 0;
	if (worker->pattern == 0 && o->exact) {
		w->data = DATA_PATTERN;
		snprintf(w->pattern, sizeof(w->pattern), "0x5a");
	}
	*cell = (struct iometer_cell){
		.test_index = (uint32_t)t->labels->test_count - 1,
		.manager_index = seat->manager_index,
		.worker_index = seat->worker_index,
		.start_sector = worker->start_sector,
		.max_sectors = worker->max_sectors,
		.depth_count = depth,
		.transactions_per_connection = worker->transactions_per_connection,
	};
	snprintf(cell->manager, sizeof(cell->manager), "%s", seat->manager->name);
	snprintf(cell->worker, sizeof(cell->worker), "%s", worker->name);
	snprintf(cell->target, sizeof(cell->target), "%s", worker->targets[target].text);
	snprintf(cell->spec, sizeof(cell->spec), "%s", spec->name);
	note_lines(t, &w->lines);
	note_worker(t, worker);
	return 0;
}

/* --- tests ----------------------------------------------------------------------------- */

static void add_spec_label(struct translation *t, const struct icf_spec *spec, uint32_t position)
{
	struct iometer_spec_label *label;

	for (size_t i = 0; i < t->labels->spec_count; i++) {
		if (t->labels->specs[i].first_position == position &&
		    strcasecmp(t->labels->specs[i].name, spec->name) == 0)
			return;
	}
	label = iometer_labels_spec(t->labels);
	snprintf(label->name, sizeof(label->name), "%s", spec->name);
	label->assignment = spec->assignment;
	label->first_position = position;
	label->lines = spec->lines;
}

/* The spec a worker has at a position; NULL = idle. */
static const struct icf_spec *spec_at(const struct translation *t, const struct icf_worker *worker,
				      uint32_t position)
{
	if (position >= worker->spec_count || strcasecmp(worker->specs[position].text, "Idle") == 0)
		return NULL;
	return icf_find_spec(t->icf, worker->specs[position].text);
}

static int add_test(struct translation *t, const struct stage *step, uint32_t position)
{
	struct iometer_test *test = iometer_labels_test(t->labels);
	const size_t index = t->labels->test_count - 1;
	const struct icf_manager *last = NULL;
	uint32_t left = step->target_total;
	bool together = false;
	int r = 0;

	test->position = position;
	if (t->labels->test_count > TESTS_MAX)
		return fail(t, 0, "more than %d tests", TESTS_MAX);
	for (size_t s = 0; r == 0 && s < t->seat_count; s++) {
		const struct seat *seat = &t->seats[s];
		const struct icf_spec *spec = spec_at(t, seat->worker, position);
		uint32_t targets = (uint32_t)seat->worker->target_count;

		if (step->target_total && !step->over_all && seat->manager != last)
			left = step->target_total;
		if (step->target_total)
			targets = targets < left ? targets : left;
		left -= step->target_total ? targets : 0;
		if (step->target_limit && targets > step->target_limit)
			targets = step->target_limit;
		if (step->worker_limit && seat->worker_index >= step->worker_limit)
			targets = 0;
		test = &t->labels->tests[index];
		if (spec && targets) {
			test->manager_count += seat->manager != last;
			test->worker_count++;
			test->target_count += targets;
			add_spec_label(t, spec, position);
		}
		last = seat->manager;
		for (uint32_t i = 0; spec && r == 0 && i < targets; i++) {
			const uint32_t depth = t->options->depth_count ? t->options->depth_count
					       : step->depth_count     ? step->depth_count
								       : seat->worker->outstanding_count;

			r = add_phase(t, seat, spec, i, depth, together);
			together = true;
		}
	}
	/* All idle: no test. */
	if (!together)
		t->labels->test_count--;
	return r;
}

static uint32_t most_workers(const struct translation *t)
{
	uint32_t most = 0;

	for (size_t s = 0; s < t->seat_count; s++)
		if (t->seats[s].worker_index + 1 > most)
			most = t->seats[s].worker_index + 1;
	return most;
}

/* The largest number of targets: of a worker, of a manager, of all. */
static uint32_t most_targets(const struct translation *t, bool of_manager, bool of_all)
{
	uint32_t most = 0, sum = 0;

	for (size_t s = 0; s < t->seat_count; s++) {
		const bool goes_on = of_all || (of_manager && s > 0 &&
						t->seats[s].manager == t->seats[s - 1].manager);

		sum = (goes_on ? sum : 0) + (uint32_t)t->seats[s].worker->target_count;
		most = sum > most ? sum : most;
	}
	return most;
}

/* The steps of the test type, in IOMeter's order. */
static size_t steps_of(const struct translation *t, struct stage *ret)
{
	const struct icf *icf = t->icf;
	const bool parallel = icf->test == ICF_INCREMENT_TARGETS_PARALLEL;
	const bool serial = icf->test == ICF_INCREMENT_TARGETS_SERIAL;
	uint32_t outer[STEPS] = { 0 }, inner[STEPS] = { 0 };
	size_t outer_count = 1, inner_count = 1, count = 0;

	if (icf->test == ICF_CYCLE_WORKERS || icf->test == ICF_CYCLE_WORKERS_AND_TARGETS)
		outer_count = iometer_sequence(&icf->workers, most_workers(t), outer, STEPS);
	if (icf->test == ICF_CYCLE_TARGETS || icf->test == ICF_CYCLE_WORKERS_AND_TARGETS ||
	    icf->test == ICF_CYCLE_OUTSTANDING_IOS_AND_TARGETS)
		inner_count = iometer_sequence(&icf->targets, most_targets(t, false, false), inner,
					       STEPS);
	if (parallel || serial)
		inner_count = iometer_sequence(&icf->targets, most_targets(t, true, serial), inner,
					       STEPS);
	if (icf->test == ICF_CYCLE_OUTSTANDING_IOS)
		outer_count = iometer_depths(&icf->depth, outer, STEPS);
	if (icf->test == ICF_CYCLE_OUTSTANDING_IOS_AND_TARGETS) {
		/* Targets outside, depths inside. */
		memcpy(outer, inner, sizeof(outer));
		outer_count = inner_count;
		inner_count = iometer_depths(&icf->depth, inner, STEPS);
	}
	for (size_t i = 0; i < outer_count; i++)
		for (size_t k = 0; k < inner_count; k++) {
			struct stage *step = &ret[count++];

			*step = (struct stage){ .over_all = serial };
			switch (icf->test) {
			case ICF_CYCLE_TARGETS:
				step->target_limit = inner[k];
				break;
			case ICF_CYCLE_WORKERS:
				step->worker_limit = outer[i];
				break;
			case ICF_INCREMENT_TARGETS_PARALLEL:
			case ICF_INCREMENT_TARGETS_SERIAL:
				step->target_total = inner[k];
				break;
			case ICF_CYCLE_WORKERS_AND_TARGETS:
				step->worker_limit = outer[i];
				step->target_limit = inner[k];
				break;
			case ICF_CYCLE_OUTSTANDING_IOS:
				step->depth_count = outer[i];
				break;
			case ICF_CYCLE_OUTSTANDING_IOS_AND_TARGETS:
				step->target_limit = outer[i];
				step->depth_count = inner[k];
				break;
			default:
				break;
			}
		}
	return count;
}

/* --- files without workers -------------------------------------------------------------- */

int iometer_single(struct icf *icf, const struct icf_spec *spec, struct err *err)
{
	struct icf_manager *manager;
	struct icf_worker *worker;

	if (spec) {
		free(icf->specs);
		icf->specs = calloc(1, sizeof(*icf->specs));
		icf->spec_count = icf->specs ? 1 : 0;
		if (icf->specs)
			icf->specs[0] = *spec;
	}
	for (size_t m = 0; m < icf->manager_count; m++)
		for (size_t w = 0; w < icf->managers[m].worker_count; w++) {
			free(icf->managers[m].workers[w].specs);
			free(icf->managers[m].workers[w].targets);
		}
	for (size_t m = 0; m < icf->manager_count; m++)
		free(icf->managers[m].workers);
	free(icf->managers);
	icf->manager_count = 0;
	icf->managers = manager = calloc(1, sizeof(*manager));
	if (!manager || !icf->spec_count)
		return err_errno(err, -ENOMEM, "IOMeter");
	icf->manager_count = 1;
	icf->has_managers = true;
	icf->test = ICF_NORMAL;
	snprintf(manager->name, sizeof(manager->name), "tare");
	manager->workers = worker = calloc(1, sizeof(*worker));
	if (!worker)
		return err_errno(err, -ENOMEM, "IOMeter");
	manager->worker_count = 1;
	*worker = (struct icf_worker){ .outstanding_count = 1, .transactions_per_connection = 1,
				       .pattern = 2 };
	snprintf(worker->name, sizeof(worker->name), "Worker 1");
	snprintf(worker->type, sizeof(worker->type), "DISK");
	worker->targets = calloc(1, sizeof(*worker->targets));
	worker->specs = calloc(icf->spec_count, sizeof(*worker->specs));
	if (!worker->targets || !worker->specs)
		return err_errno(err, -ENOMEM, "IOMeter");
	worker->target_count = 1;
	snprintf(worker->targets[0].text, sizeof(worker->targets[0].text), "target");
	worker->spec_count = icf->spec_count;
	for (size_t i = 0; i < icf->spec_count; i++)
		snprintf(worker->specs[i].text, sizeof(worker->specs[i].text), "%s",
			 icf->specs[i].name);
	return 0;
}

/* --- what is there --------------------------------------------------------------------- */

static int check_worker(struct translation *t, const struct icf_worker *w)
{
	if (strcasecmp(w->type, "DISK") != 0)
		return fail(t, w->line, "worker '%.60s' is of type %s: tare measures storage, not networks",
			    w->name, w->type);
	for (size_t i = 0; i < w->spec_count; i++)
		if (strcasecmp(w->specs[i].text, "Idle") != 0 &&
		    !icf_find_spec(t->icf, w->specs[i].text))
			return fail(t, w->specs[i].line, "no access specification is called '%.100s'",
				    w->specs[i].text);
	return 0;
}

static int find_seats(struct translation *t)
{
	int r = 0;

	for (size_t m = 0; r == 0 && m < t->icf->manager_count; m++) {
		const struct icf_manager *manager = &t->icf->managers[m];

		for (size_t w = 0; r == 0 && w < manager->worker_count; w++) {
			if (t->seat_count == WORKERS_MAX)
				return fail(t, manager->workers[w].line, "more than %d workers",
					    WORKERS_MAX);
			t->seats[t->seat_count++] = (struct seat){
				.manager = manager,
				.worker = &manager->workers[w],
				.manager_index = (uint32_t)m,
				.worker_index = (uint32_t)w,
			};
			r = check_worker(t, &manager->workers[w]);
		}
	}
	return r;
}

static int check_time(struct translation *t)
{
	if (t->options->runtime_ns || t->icf->run_s)
		return 0;
	fail(t, 0, "no run time: IOMeter would go on until it is stopped");
	return err_hint(t->err, "--runtime 1m");
}

static int add_tests(struct translation *t)
{
	struct stage *steps = calloc((size_t)STEPS * STEPS, sizeof(*steps));
	uint32_t positions = 0;
	size_t step_count;
	int r = 0;

	if (!steps)
		return err_errno(t->err, -ENOMEM, "%s", t->options->file);
	for (size_t s = 0; s < t->seat_count; s++)
		if (t->seats[s].worker->spec_count > positions)
			positions = (uint32_t)t->seats[s].worker->spec_count;
	step_count = steps_of(t, steps);
	for (uint32_t k = 0; r == 0 && k < positions; k++)
		for (size_t i = 0; r == 0 && i < step_count; i++)
			r = add_test(t, &steps[i], k);
	free(steps);
	if (r == 0 && t->labels->cell_count == 0)
		r = fail(t, 0, "no worker has both an access specification and a target");
	return r;
}

int iometer_plan(const struct icf *icf, const struct iometer_options *options, struct plan *plan,
		 struct iometer_labels *labels, struct err *err)
{
	struct translation *t = calloc(1, sizeof(*t));
	struct err own = { 0 };
	int r;

	plan_init(plan);
	memset(labels, 0, sizeof(*labels));
	err = err ? err : &own;
	if (!t)
		return err_errno(err, -ENOMEM, "%s", options->file);
	*t = (struct translation){
		.icf = icf,
		.options = options,
		.plan = plan,
		.labels = labels,
		.err = err,
		.missing = TEXT_INIT,
	};
	snprintf(labels->description, sizeof(labels->description), "%s", icf->description);
	labels->test_type = icf->test;
	labels->record = icf->record;
	for (size_t i = 0; i < icf->warning_count; i++)
		iometer_labels_note(labels, "%s", icf->warnings[i]);
	r = find_seats(t);
	if (r == 0)
		r = check_time(t);
	if (r == 0)
		r = check_targets(t);
	if (r == 0)
		r = add_tests(t);
	text_done(&t->missing);
	free(t);
	if (r < 0) {
		plan_done(plan);
		iometer_labels_done(labels);
	}
	return r;
}
