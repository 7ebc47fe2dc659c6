/* SPDX-License-Identifier: MIT */
#include "foreign/icf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/units.h"

const char *const icf_record_names[] = { "ALL", "NO_TARGETS", "NO_WORKERS", "NO_MANAGERS", "NONE",
					 NULL };
const char *const icf_test_names[] = {
	"NORMAL",
	"CYCLE_TARGETS",
	"CYCLE_WORKERS",
	"INCREMENT_TARGETS_PARALLEL",
	"INCREMENT_TARGETS_SERIAL",
	"CYCLE_WORKERS_AND_TARGETS",
	"CYCLE_OUTSTANDING_IOS",
	"CYCLE_OUTSTANDING_IOS_AND_TARGETS",
	NULL,
};
const char *const icf_assignment_names[] = { "NONE", "ALL", "DISK", "NET", NULL };

void icf_done(struct icf *icf)
{
	for (size_t m = 0; m < icf->manager_count; m++) {
		for (size_t w = 0; w < icf->managers[m].worker_count; w++) {
			free(icf->managers[m].workers[w].specs);
			free(icf->managers[m].workers[w].targets);
		}
		free(icf->managers[m].workers);
	}
	free(icf->managers);
	free(icf->specs);
	memset(icf, 0, sizeof(*icf));
}

const struct icf_spec *icf_find_spec(const struct icf *icf, const char *name)
{
	for (size_t i = 0; i < icf->spec_count; i++) {
		if (strcasecmp(icf->specs[i].name, name) == 0)
			return &icf->specs[i];
	}
	return NULL;
}

/* --- built in -------------------------------------------------------------------------- */

/* In IOMeter's order: of each size five shares of reads, or three; random ones aligned. */
static const struct {
	const char *size;
	uint32_t bytes, random, align;
	uint32_t reads[6];		/* 101 ends */
} families[] = {
	{ "512 B", 512, 0, 0, { 100, 75, 50, 25, 0, 101 } },
	{ "4 KiB", 4096, 0, 0, { 100, 75, 50, 25, 0, 101 } },
	{ "4 KiB aligned", 4096, 100, 4096, { 100, 50, 0, 101 } },
	{ "16 KiB", 16384, 0, 0, { 100, 75, 50, 25, 0, 101 } },
	{ "32 KiB", 32768, 0, 0, { 100, 75, 50, 25, 0, 101 } },
	{ "64 KiB", 65536, 0, 0, { 100, 50, 0, 101 } },
	{ "256 KiB", 262144, 0, 0, { 100, 50, 0, 101 } },
};
#define FAMILIES (sizeof(families) / sizeof(families[0]))
#define ROWS 29u
#define LIGHT_ROWS 13u	/* weight 4; the others 3: 100 in all */

/* Shared far and wide, though not built in; the sizes as most copies have them. */
static const struct access_line file_server[] = {
	{ .bytes = 512, .weight = 10 },	  { .bytes = 1024, .weight = 5 },
	{ .bytes = 2048, .weight = 5 },	  { .bytes = 4096, .weight = 60 },
	{ .bytes = 8192, .weight = 2 },	  { .bytes = 16384, .weight = 4 },
	{ .bytes = 32768, .weight = 4 },  { .bytes = 65536, .weight = 10 },
};

const size_t icf_canned_count = 1 + ROWS + 2;

static struct access_line row(size_t index, size_t *ret_family, uint32_t *ret_reads)
{
	struct access_line line = { .burst_count = 1, .weight = 100 };

	for (size_t f = 0; f < FAMILIES; f++)
		for (size_t k = 0; families[f].reads[k] <= 100; k++) {
			if (index--)
				continue;
			*ret_family = f;
			*ret_reads = families[f].reads[k];
			line.bytes = families[f].bytes;
			line.read_ppm = families[f].reads[k] * (PPM / 100);
			line.random_ppm = families[f].random * (PPM / 100);
			line.align_bytes = families[f].align;
			return line;
		}
	return line;
}

/* Default, the rows, All in one, File server. */
static void canned(size_t index, struct icf_spec *ret)
{
	size_t family = 0;
	uint32_t reads = 0;

	*ret = (struct icf_spec){ .lines = { .count = 1 } };
	if (index == 0) {
		snprintf(ret->name, sizeof(ret->name), "Default");
		ret->lines.lines[0] = (struct access_line){
			.bytes = 2048, .weight = 100, .read_ppm = 670000, .random_ppm = PPM,
			.burst_count = 1, .align_bytes = 2048,
		};
	} else if (index <= ROWS) {
		ret->lines.lines[0] = row(index - 1, &family, &reads);
		snprintf(ret->name, sizeof(ret->name), "%s; %u%% Read; %u%% random",
			 families[family].size, reads, families[family].random);
	} else if (index == ROWS + 1) {
		snprintf(ret->name, sizeof(ret->name), "All in one");
		ret->lines.count = ROWS;
		for (uint32_t i = 0; i < ROWS; i++) {
			ret->lines.lines[i] = row(i, &family, &reads);
			ret->lines.lines[i].weight = i < LIGHT_ROWS ? 4 : 3;
		}
	} else {
		snprintf(ret->name, sizeof(ret->name), "File server");
		ret->lines.count = sizeof(file_server) / sizeof(file_server[0]);
		for (uint32_t i = 0; i < ret->lines.count; i++) {
			ret->lines.lines[i] = file_server[i];
			ret->lines.lines[i].read_ppm = 800000;
			ret->lines.lines[i].random_ppm = PPM;
			ret->lines.lines[i].burst_count = 1;
		}
	}
}

const char *icf_canned_name(size_t index, char room[ICF_NAME_BYTES])
{
	struct icf_spec spec;

	if (index >= icf_canned_count)
		return NULL;
	canned(index, &spec);
	memcpy(room, spec.name, ICF_NAME_BYTES);
	return room;
}

bool icf_canned(const char *name, struct icf_spec *ret)
{
	for (size_t i = 0; i < icf_canned_count; i++) {
		canned(i, ret);
		if (strcasecmp(ret->name, name) == 0)
			return true;
	}
	return false;
}

/* --- writing --------------------------------------------------------------------------- */

static const char *step_type(const struct icf_cycle *cycle)
{
	return cycle->exponential ? "EXPONENTIAL" : "LINEAR";
}

static void print_setup(const struct icf *icf, struct text *ret)
{
	text_add(ret, "'TEST SETUP ====\n'Test Description\n\t%s\n", icf->description);
	text_add(ret, "'Run Time\n'\thours      minutes    seconds\n\t%u          %u          %u\n",
		 icf->run_s / 3600, icf->run_s / 60 % 60, icf->run_s % 60);
	text_add(ret, "'Ramp Up Time (s)\n\t%u\n", icf->ramp_s);
	text_add(ret, "'Default Disk Workers to Spawn\n\t%s\n", icf->disk_workers);
	text_add(ret, "'Default Network Workers to Spawn\n\t%s\n", icf->net_workers);
	text_add(ret, "'Record Results\n\t%s\n", icf_record_names[icf->record]);
	text_add(ret, "'Worker Cycling\n'\tstart      step       step type\n\t%u %u %s\n",
		 icf->workers.start, icf->workers.step, step_type(&icf->workers));
	text_add(ret, "'Disk Cycling\n'\tstart      step       step type\n\t%u %u %s\n",
		 icf->targets.start, icf->targets.step, step_type(&icf->targets));
	text_add(ret,
		 "'Queue Depth Cycling\n'\tstart      end        step       step type\n"
		 "\t%u %u %u %s\n",
		 icf->depth.start, icf->depth.end, icf->depth.step, step_type(&icf->depth));
	text_add(ret, "'Test Type\n\t%s\n'END test setup\n", icf_test_names[icf->test]);
}

static void print_specs(const struct icf *icf, struct text *ret)
{
	text_add(ret, "'ACCESS SPECIFICATIONS ====\n");
	for (size_t i = 0; i < icf->spec_count; i++) {
		const struct icf_spec *spec = &icf->specs[i];

		text_add(ret, "'Access specification name,default assignment\n\t%s,%s\n", spec->name,
			 icf_assignment_names[spec->assignment]);
		text_add(ret, "'size,%% of size,%% reads,%% random,delay,burst,align,reply\n");
		for (uint32_t k = 0; k < spec->lines.count; k++) {
			const struct access_line *line = &spec->lines.lines[k];

			text_add(ret, "\t%u,%u,%u,%u,%u,%u,%u,%u\n", line->bytes, line->weight,
				 line->read_ppm / (PPM / 100), line->random_ppm / (PPM / 100),
				 line->delay_us / 1000, line->burst_count, line->align_bytes,
				 line->reply_bytes);
		}
	}
	text_add(ret, "'END access specifications\n");
}

static void print_worker(const struct icf_worker *worker, struct text *ret)
{
	text_add(ret, "'Worker\n\t%s\n'Worker type\n\t%s\n", worker->name, worker->type);
	text_add(ret, "'Default target settings for worker\n'Number of outstanding IOs,test connection "
		      "rate,transactions per connection,use fixed seed,fixed seed value\n");
	text_add(ret, "\t%u,%s,%u,%s,%llu\n", worker->outstanding_count,
		 worker->tests_connections ? "ENABLED" : "DISABLED",
		 worker->transactions_per_connection, worker->has_seed ? "ENABLED" : "DISABLED",
		 (unsigned long long)worker->seed);
	text_add(ret, "'Disk maximum size,starting sector,Data pattern\n\t%llu,%llu,%u\n",
		 (unsigned long long)worker->max_sectors, (unsigned long long)worker->start_sector,
		 worker->pattern);
	text_add(ret, "'End default target settings for worker\n'Assigned access specs\n");
	for (size_t i = 0; i < worker->spec_count; i++)
		text_add(ret, "\t%s\n", worker->specs[i].text);
	text_add(ret, "'End assigned access specs\n'Target assignments\n");
	for (size_t i = 0; i < worker->target_count; i++)
		text_add(ret, "'Target\n\t%s\n'Target type\n\tDISK\n'End target\n",
			 worker->targets[i].text);
	text_add(ret, "'End target assignments\n'End worker\n");
}

void icf_print(const struct icf *icf, struct text *ret)
{
	text_add(ret, "Version 1.1.0\n");
	if (icf->has_setup)
		print_setup(icf, ret);
	print_specs(icf, ret);
	if (icf->has_managers) {
		text_add(ret, "'MANAGER LIST ====\n");
		for (size_t m = 0; m < icf->manager_count; m++) {
			const struct icf_manager *manager = &icf->managers[m];

			text_add(ret, "'Manager ID, manager name\n\t%u,%s\n", manager->id,
				 manager->name);
			text_add(ret, "'Manager network address\n\t%s\n", manager->address);
			for (size_t w = 0; w < manager->worker_count; w++)
				print_worker(&manager->workers[w], ret);
			text_add(ret, "'End manager\n");
		}
		text_add(ret, "'END manager list\n");
	}
	text_add(ret, "Version 1.1.0\n");
}
