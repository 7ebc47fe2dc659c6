/* SPDX-License-Identifier: MIT */
#include "report/sample_fio.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/units.h"
#include "report/sample.h"

#define SET(member, ...) snprintf(member, sizeof(member), __VA_ARGS__)

static char *owned(const char *text)
{
	char *ret = strdup(text);

	if (!ret)
		abort();
	return ret;
}

static struct fio_job *add_job(struct fio_labels *labels, const char *name, uint32_t group_id)
{
	struct fio_job *job = fio_labels_add(labels);

	job->name = owned(name);
	job->group_id = group_id;
	job->slat = job->clat = job->lat = job->clat_percentiles = true;
	job->thread_number = (uint32_t)labels->job_count;
	return job;
}

static void add_op(struct measurement *m, enum op_kind kind, uint64_t count, uint64_t bytes)
{
	m->ops[kind].count += count;
	m->ops[kind].bytes += count * bytes;
}

static struct second *add_seconds(struct measurement *m, size_t count)
{
	m->seconds = calloc(count, sizeof(*m->seconds));
	if (!m->seconds)
		abort();
	m->second_count = count;
	for (size_t i = 0; i < count; i++) {
		m->seconds[i].start_ns = i * SECOND_NS;
		m->seconds[i].length_ns = SECOND_NS;
	}
	return m->seconds;
}

static void add_clone(struct sample_fio *sample, uint64_t seconds)
{
	struct measurement *m = result_add(&sample->result);
	struct second *list = add_seconds(m, seconds);

	m->workload.rw = RW_RANDRW;
	m->workload.block_bytes = 4096;
	m->workload.depth_count = 4;
	m->workload.size.bytes = 64 * MIB;
	m->workload.direct = true;
	SET(m->name, "clones");
	SET(m->engine, "libaio");
	m->duration_ns = seconds * SECOND_NS;
	add_op(m, OP_READ, 100 * seconds, 4096);
	add_op(m, OP_WRITE, 50 * seconds, 4096);
	sample_add(&m->ops[OP_READ].latency, 200000, 100 * seconds);
	sample_add(&m->ops[OP_READ].service, 200000, 100 * seconds);
	sample_add(&m->ops[OP_WRITE].latency, 1000000, 50 * seconds);
	sample_add(&m->ops[OP_WRITE].service, 1000000, 50 * seconds);
	for (size_t i = 0; i < seconds; i++) {
		list[i].ops[OP_READ].count = 100;
		list[i].ops[OP_READ].bytes = 100 * 4096;
		list[i].ops[OP_WRITE].count = 50;
		list[i].ops[OP_WRITE].bytes = 50 * 4096;
	}
	m->user_ns = 100 * MILLISECOND_NS;
	m->system_ns = 200 * MILLISECOND_NS;
	m->voluntary_switch_count = 900;
	m->involuntary_switch_count = 100;
	m->major_fault_count = 1;
	m->minor_fault_count = 10;
	m->depth_counts[2] = 150 * seconds;
	m->push_counts[1] = m->reap_counts[1] = 300;
	m->reap_counts[2] = 100;
	m->device_read_count = 700;
	m->device_write_count = 350;
	m->device_write_merge_count = 3;
	m->device_read_ms = 140;
	m->device_write_ms = 350;
	m->device_queue_ms = 490;
	m->device_busy_ms = 400;
}

static void add_seq(struct sample_fio *sample)
{
	struct measurement *m = result_add(&sample->result);
	struct second *list = add_seconds(m, 3);

	m->workload.rw = RW_WRITE;
	m->workload.block_bytes = 64 * KIB;
	m->workload.depth_count = 1;
	m->group_index = 1;
	m->device_write_count = 144;
	m->device_busy_ms = 850;
	SET(m->name, "seq");
	SET(m->engine, "sync");
	m->duration_ns = 2250 * MILLISECOND_NS;
	add_op(m, OP_WRITE, 144, 64 * KIB);
	add_op(m, OP_SYNC, 9, 0);
	sample_add(&m->ops[OP_WRITE].latency, 10 * MILLISECOND_NS, 144);
	sample_add(&m->ops[OP_WRITE].service, 10 * MILLISECOND_NS, 144);
	sample_add(&m->ops[OP_SYNC].latency, 2 * MILLISECOND_NS, 9);
	sample_add(&m->ops[OP_SYNC].service, 2 * MILLISECOND_NS, 9);
	list[2].length_ns = SECOND_NS / 4;
	for (size_t i = 0; i < 3; i++) {
		list[i].ops[OP_WRITE].count = i < 2 ? 64 : 16;
		list[i].ops[OP_WRITE].bytes = list[i].ops[OP_WRITE].count * 64 * KIB;
	}
}

void sample_fio_init(struct sample_fio *sample)
{
	struct fio_labels *labels = &sample->labels;
	struct fio_job *job;

	memset(sample, 0, sizeof(*sample));
	result_init(&sample->result);
	SET(sample->result.version, "0.1");
	SET(sample->result.target.spec, "/home");
	SET(sample->result.target.device, "nvme0n1");
	labels->disk_util = true;
	fio_options_add(&labels->global, "ioengine", "libaio");
	fio_options_add(&labels->global, "group_reporting", "1");
	for (uint32_t i = 0; i < 2; i++) {
		job = add_job(labels, "clones", 0);
		job->group_reporting = true;
		job->clone_index = i;
		fio_options_add(&job->options, "rw", "randrw");
		fio_options_add(&job->options, "numjobs", "2");
		fio_options_add(&job->options, "filename", "a");
		fio_options_add(&job->options, "filename", "b");
		add_clone(sample, 3 + i);
	}
	job = add_job(labels, "seq", 1);
	job->description = owned("one \"line\"");
	add_seq(sample);
	fio_labels_note(labels, "%s", "thread: no effect, tare always uses threads");
	sample->report = (struct report_fio){
		.result = &sample->result,
		.labels = labels,
		.ended_unix_ms = 1700000000123,
		.pid = 42,
	};
}

void sample_fio_done(struct sample_fio *sample)
{
	result_done(&sample->result);
	fio_labels_done(&sample->labels);
}
