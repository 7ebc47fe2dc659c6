/* SPDX-License-Identifier: MIT */
#include "model/result.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const op_names[OP_KINDS] = { "read", "write", "trim", "sync" };
const char *const severity_names[] = { "info", "warning", "invalid" };

/* Room for one more; grows at 1, 2, 4, 8, … Results are small: no memory means no result. */
static void *grow(void *items, size_t count, size_t item_bytes)
{
	void *grown;

	if (count & (count - 1))
		return items;
	grown = reallocarray(items, count ? count * 2 : 1, item_bytes);
	if (!grown)
		abort();
	return grown;
}

void measurement_init(struct measurement *m)
{
	memset(m, 0, sizeof(*m));
	workload_init(&m->workload);
	m->temperature_c_start = NAN;
	m->temperature_c_max = NAN;
}

/* Histograms are one block each (stats/histogram.h: no done), so free() is enough. */
void measurement_done(struct measurement *m)
{
	for (int kind = 0; kind < OP_KINDS; kind++) {
		if (m->ops[kind].service != m->ops[kind].latency)
			free(m->ops[kind].service);
		free(m->ops[kind].latency);
	}
	for (size_t i = 0; i < m->second_count; i++) {
		for (int kind = 0; kind < OP_KINDS; kind++)
			free(m->seconds[i].latency[kind]);
	}
	free(m->seconds);
	free(m->pulses);
	free(m->lateness);
	free(m->readback.latency);
	free(m->drive);
	memset(m, 0, sizeof(*m));
}

void result_init(struct result *result)
{
	memset(result, 0, sizeof(*result));
	snprintf(result->state, sizeof(result->state), "unknown");
}

void result_done(struct result *result)
{
	for (size_t i = 0; i < result->measurement_count; i++)
		measurement_done(&result->measurements[i]);
	free(result->measurements);
	free(result->more_targets);
	free(result->steps);
	free(result->findings);
	memset(result, 0, sizeof(*result));
}

struct measurement *result_add(struct result *result)
{
	struct measurement *m;

	result->measurements = grow(result->measurements, result->measurement_count,
				    sizeof(*result->measurements));
	m = &result->measurements[result->measurement_count++];
	measurement_init(m);
	return m;
}

struct step_result *result_add_step(struct result *result)
{
	struct step_result *step;

	result->steps = grow(result->steps, result->step_count, sizeof(*result->steps));
	step = &result->steps[result->step_count++];
	memset(step, 0, sizeof(*step));
	step->before_measurement = result->measurement_count;
	return step;
}

struct finding *result_find(struct result *result, const char *code, enum severity severity,
			    const char *measurement)
{
	struct finding *finding;

	assert(strlen(code) < sizeof(finding->code));
	result->findings = grow(result->findings, result->finding_count,
				sizeof(*result->findings));
	finding = &result->findings[result->finding_count++];
	memset(finding, 0, sizeof(*finding));
	snprintf(finding->code, sizeof(finding->code), "%s", code);
	snprintf(finding->measurement, sizeof(finding->measurement), "%s",
		 measurement ? measurement : "");
	finding->severity = severity;
	return finding;
}

double drive_truth_value(const struct drive_truth *truth, const char *name)
{
	for (uint32_t i = 0; i < truth->row_count; i++) {
		if (strcmp(truth->rows[i].name, name) == 0)
			return truth->rows[i].value;
	}
	return 0;
}
