/* SPDX-License-Identifier: MIT */
/*
 * bench-engine - engine_run alone, one line of figures: what bench/vs-fio compares where
 * `tare run` is not what is to be measured (it adds the audit around the same engine).
 *
 *	bench-engine TARGET [--FIELD=VALUE]...	fields are those of `tare run`
 *	--expendable	the file named by TARGET may be overwritten
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "engine/engine.h"
#include "stats/histogram.h"

static int give_up(const struct err *err)
{
	fprintf(stderr, "bench-engine: %s%s%s\n", err->text, *err->hint ? ". " : "", err->hint);
	return 2;
}

static int parse(int argc, char **argv, struct workload *workload, struct target_request *request,
		 struct err *err)
{
	for (int i = 2; i < argc; i++) {
		char name[64] = "";
		const char *value = strchr(argv[i], '=');
		const struct field *field;

		if (strcmp(argv[i], "--expendable") == 0) {
			request->expendable_path = request->spec;
			continue;
		}
		snprintf(name, sizeof(name), "%.*s",
			 (int)(value ? value - argv[i] : (long)strlen(argv[i])), argv[i]);
		field = strncmp(name, "--", 2) == 0 ? field_find(workload_fields, name + 2) : NULL;
		if (!field)
			return err_set(err, -1, "unknown option %s", argv[i]);
		if (field_set(field, workload, value ? value + 1 : "1", err) < 0)
			return err->code;
	}
	return workload_check(workload, err);
}

static void print_op(const struct measurement *m, int op)
{
	const struct op_result *result = &m->ops[op];

	if (result->count == 0)
		return;
	printf(" %s_iops=%.0f %s_p50=%llu %s_p99=%llu %s_max=%llu %s_service_p99=%llu", op_names[op],
	       (double)result->count * 1e9 / (double)m->duration_ns, op_names[op],
	       (unsigned long long)histogram_percentile_ns(result->latency, 500000), op_names[op],
	       (unsigned long long)histogram_percentile_ns(result->latency, 990000), op_names[op],
	       (unsigned long long)result->latency->max_ns, op_names[op],
	       (unsigned long long)histogram_percentile_ns(result->service, 990000));
}

static void print(const struct measurement *m)
{
	uint64_t count = 0;
	struct rusage usage;

	for (int op = 0; op < OP_KINDS; op++)
		count += m->ops[op].count;
	getrusage(RUSAGE_SELF, &usage);
	printf("engine=%s iops=%.0f cpu_ns=%.1f user_ns=%.1f count=%llu seconds=%.4f",
	       m->engine, (double)count * 1e9 / (double)m->duration_ns,
	       (double)(m->user_ns + m->system_ns) / (double)count,
	       (double)m->user_ns / (double)count, (unsigned long long)count,
	       (double)m->duration_ns / 1e9);
	for (int op = 0; op < OP_KINDS; op++)
		print_op(m, op);
	if (m->lateness)
		printf(" late_p50=%llu late_p99=%llu backlog_ms=%.1f unserved=%llu",
		       (unsigned long long)histogram_percentile_ns(m->lateness, 500000),
		       (unsigned long long)histogram_percentile_ns(m->lateness, 990000),
		       (double)m->backlog_ns_max / 1e6, (unsigned long long)m->unserved_count);
	printf(" depth=%.1f/%u batch=%u wait=%u switches=%llu punted=%llu verified=%llu bad=%llu "
	       "rss_kib=%ld seed=%llu mode=\"%s\"\n",
	       m->depth_mean, m->depth_max, m->batch_count, m->wait_count,
	       (unsigned long long)m->voluntary_switch_count, (unsigned long long)m->punted_count,
	       (unsigned long long)m->verified_count, (unsigned long long)m->verify_failed_count,
	       usage.ru_maxrss, (unsigned long long)m->seed, m->queue_mode);
	if (m->ended_early)
		printf("ended early: %s\n", m->error_text);
	if (m->verify_failed_count)
		printf("first bad block at %llu: %s, expected %s, found %s\n",
		       (unsigned long long)m->verify_failure.offset_bytes, m->verify_failure.what,
		       m->verify_failure.expected, m->verify_failure.found);
}

int main(int argc, char **argv)
{
	struct target_request request = { 0 };
	struct workload workload;
	struct measurement m;
	struct target *target;
	struct clock clock;
	struct err err = { 0 };
	int r;

	if (argc < 2) {
		fprintf(stderr, "usage: bench-engine TARGET [--FIELD=VALUE]... [--expendable]\n");
		return 2;
	}
	clock_init_real(&clock);
	workload_init(&workload);
	request.spec = argv[1];
	request.clock = &clock;
	if (parse(argc, argv, &workload, &request, &err) < 0)
		return give_up(&err);
	request.writes = workload_writes(&workload);
	request.buffered = !workload.direct;
	request.atime = !workload.noatime;
	if (target_open(&target, &request, &err) < 0)
		return give_up(&err);
	measurement_init(&m);
	r = engine_run(&workload, target, &(struct engine_options){ .clock = &clock }, &m, &err);
	if (r == 0)
		print(&m);
	measurement_done(&m);
	target_close(target);
	return r < 0 ? give_up(&err) : m.ended_early;
}
