/* SPDX-License-Identifier: MIT */
#include "engine/recorder.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct histogram *histogram_new(void)
{
	struct histogram *h = malloc(sizeof(*h));

	if (h)
		histogram_init(h);
	return h;
}

int recorder_init(struct recorder *r, const struct recorder_options *options, struct err *err)
{
	bool complete = true;

	*r = (struct recorder){ .mailbox = options->mailbox };
	for (int op = 0; op < OP_KINDS; op++) {
		if (!options->ops[op])
			continue;
		r->interval[op] = histogram_new();
		r->second[op] = histogram_new();
		r->latency[op] = histogram_new();
		complete &= r->interval[op] && r->second[op] && r->latency[op];
		if (options->open_loop)
			complete &= (r->service[op] = histogram_new()) != NULL;
	}
	if (options->open_loop)
		complete &= (r->lateness = histogram_new()) != NULL;
	recorder_begin(r, options->begin_ns, options->start_ns);
	if (complete)
		return 0;
	recorder_done(r);
	return err_set(err, -ENOMEM, "no memory for the histograms");
}

void recorder_begin(struct recorder *r, uint64_t begin_ns, uint64_t start_ns)
{
	assert(start_ns >= begin_ns);
	r->start_ns = r->last_ns = r->second_begin_ns = start_ns;
	r->measuring = begin_ns == start_ns;
	r->boundary_ns = r->measuring ? start_ns + SECOND_NS : start_ns;
	r->interval_end_ns = begin_ns + RECORDER_INTERVAL_NS;
	r->pulse_end_ns = start_ns + RECORDER_INTERVAL_NS;
	r->due_ns = r->boundary_ns < r->interval_end_ns ? r->boundary_ns : r->interval_end_ns;
}

void recorder_done(struct recorder *r)
{
	for (int op = 0; op < OP_KINDS; op++) {
		free(r->interval[op]);
		free(r->second[op]);
		free(r->latency[op]);
		free(r->service[op]);
	}
	free(r->lateness);
	for (size_t i = 0; i < r->second_count; i++) {
		for (int op = 0; op < OP_KINDS; op++)
			free(r->seconds[i].latency[op]);
	}
	free(r->seconds);
	*r = (struct recorder){ 0 };
}

static void publish(struct recorder *r)
{
	struct recorder_mailbox *mailbox = r->mailbox;
	uint64_t count = 0, bytes = 0;

	for (int op = 0; op < OP_KINDS; op++) {
		count += r->ops[op].count;
		bytes += r->ops[op].bytes;
	}
	atomic_store_explicit(&mailbox->total_count, count, memory_order_relaxed);
	atomic_store_explicit(&mailbox->total_bytes, bytes, memory_order_relaxed);
	if (atomic_load_explicit(&mailbox->full, memory_order_acquire))
		return;
	histogram_init(&mailbox->interval);
	for (int op = 0; op < OP_KINDS; op++) {
		if (r->interval[op])
			histogram_merge(&mailbox->interval, r->interval[op]);
	}
	atomic_store_explicit(&mailbox->full, true, memory_order_release);
}

static void close_interval(struct recorder *r)
{
	for (int op = 0; op < OP_KINDS; op++)
		r->ops[op].count += r->interval[op] ? r->interval[op]->count : 0;
	if (r->mailbox)
		publish(r);
	for (int op = 0; op < OP_KINDS; op++) {
		if (!r->interval[op] || r->interval[op]->count == 0)
			continue;
		if (r->measuring)
			histogram_merge(r->second[op], r->interval[op]);
		histogram_init(r->interval[op]);
	}
}

static struct recorder_second *second_add(struct recorder *r)
{
	if (r->second_count == r->second_room) {
		const size_t room = r->second_room ? r->second_room * 2 : 64;
		struct recorder_second *grown = realloc(r->seconds, room * sizeof(*grown));

		if (!grown) {
			r->out_of_memory = true;
			return NULL;
		}
		r->seconds = grown;
		r->second_room = room;
	}
	return memset(&r->seconds[r->second_count++], 0, sizeof(*r->seconds));
}

static void close_second(struct recorder *r, uint64_t end_ns)
{
	const uint64_t length_ns = end_ns - r->second_begin_ns;
	struct recorder_second *second = second_add(r);

	r->second_begin_ns = end_ns;

	for (int op = 0; op < OP_KINDS; op++) {
		const struct recorder_counts *now = &r->ops[op], *before = &r->before[op];

		if (!r->second[op])
			continue;
		if (second) {
			second->length_ns = length_ns;
			second->ops[op].count = now->count - before->count;
			second->ops[op].bytes = now->bytes - before->bytes;
			second->ops[op].error_count = now->error_count - before->error_count;
			second->latency[op] = histogram_pack(r->second[op]);
			r->out_of_memory |= !second->latency[op] && r->second[op]->count > 0;
		}
		if (r->second[op]->count > 0) {
			histogram_merge(r->latency[op], r->second[op]);
			histogram_init(r->second[op]);
		}
		r->before[op] = *now;
	}
}

/* Lateness is the caller's: it knows which arrivals were meant for the ramp. */
static void begin_measuring(struct recorder *r)
{
	memset(r->ops, 0, sizeof(r->ops));
	for (int op = 0; op < OP_KINDS; op++) {
		if (r->service[op])
			histogram_init(r->service[op]);
	}
	r->measuring = true;
	/* From here on intervals divide the seconds evenly. */
	r->interval_end_ns = r->pulse_end_ns;
}

/* What was done since the last pulse belongs to the one that ends now; skipped ones are empty. */
static void add_pulses(struct recorder *r, uint64_t now_ns)
{
	const uint64_t count =
		r->ops[OP_READ].count + r->ops[OP_WRITE].count + r->ops[OP_TRIM].count;

	while (now_ns >= r->pulse_end_ns && r->pulse_count < RECORDER_PULSES) {
		r->pulses[r->pulse_count++] = (uint32_t)(count - r->pulse_before_count);
		r->pulse_before_count = count;
		r->pulse_end_ns += RECORDER_INTERVAL_NS;
	}
}

bool recorder_tick(struct recorder *r, uint64_t now_ns)
{
	bool began = false;

	assert(recorder_due(r, now_ns));
	close_interval(r);
	if (now_ns > r->boundary_ns && !r->measuring) {
		begin_measuring(r);
		r->boundary_ns += SECOND_NS;
		began = true;
	}
	if (r->measuring)
		add_pulses(r, now_ns);
	while (r->measuring && now_ns > r->boundary_ns) {
		close_second(r, r->boundary_ns);
		r->boundary_ns += SECOND_NS;
	}
	if (now_ns >= r->interval_end_ns)
		r->interval_end_ns += RECORDER_INTERVAL_NS *
				      ((now_ns - r->interval_end_ns) / RECORDER_INTERVAL_NS + 1);
	r->due_ns = r->boundary_ns < r->interval_end_ns ? r->boundary_ns : r->interval_end_ns;
	return began;
}

void recorder_error(struct recorder *r, enum op_kind op, int code)
{
	uint32_t i = 0;

	assert(code < 0);
	r->ops[op].error_count++;
	while (i < r->errno_count && r->errnos[i].code != code)
		i++;
	if (i == MEASUREMENT_ERRNOS)
		return;		/* a seventeenth kind is counted in error_count alone */
	r->errnos[i].code = code;
	r->errnos[i].count++;
	if (i == r->errno_count)
		r->errno_count++;
}

void recorder_ending(struct recorder *r)
{
	if (!r->measuring || r->ending)
		return;
	r->ending = true;
	r->due_ns = r->boundary_ns += SECOND_NS / 2;
	if (r->interval_end_ns < r->due_ns)
		r->due_ns = r->interval_end_ns;
}

void recorder_finish(struct recorder *r, uint64_t now_ns)
{
	if (!r->measuring)
		return;
	close_interval(r);
	add_pulses(r, now_ns);
	/* In virtual time all of it may have taken none. */
	if (now_ns > r->second_begin_ns || r->second_count == 0)
		close_second(r, now_ns);
}

static void add_errnos(struct measurement *m, const struct recorder *r)
{
	for (uint32_t i = 0; i < r->errno_count; i++) {
		uint32_t at = 0;

		while (at < m->errno_count && m->errnos[at].code != r->errnos[i].code)
			at++;
		if (at == MEASUREMENT_ERRNOS)
			continue;
		m->errnos[at].code = r->errnos[i].code;
		m->errnos[at].count += r->errnos[i].count;
		if (at == m->errno_count)
			m->errno_count++;
	}
}

static int add_histogram(struct histogram **into, const struct histogram *from)
{
	if (!from || from->count == 0)
		return 0;
	if (!*into)
		*into = histogram_new();
	if (!*into)
		return -ENOMEM;
	histogram_merge(*into, from);
	return 0;
}

static int add_whole(struct measurement *m, const struct recorder *r)
{
	int failed = 0;

	for (int op = 0; op < OP_KINDS; op++) {
		struct op_result *result = &m->ops[op];

		result->bytes += r->ops[op].bytes;
		result->error_count += r->ops[op].error_count;
		if (!r->latency[op])
			continue;
		result->count += r->latency[op]->count;
		failed |= add_histogram(&result->latency, r->latency[op]);
		/* A closed loop's are the same: one histogram is enough for both. */
		if (r->service[op])
			failed |= add_histogram(&result->service, r->service[op]);
		else
			result->service = result->latency;
	}
	failed |= add_histogram(&m->lateness, r->lateness);
	add_errnos(m, r);
	return failed;
}

/* One second of all recorders. */
static int add_second(struct second *second, struct recorder *const *recorders, size_t count,
		      size_t index)
{
	for (int op = 0; op < OP_KINDS; op++) {
		struct histogram scratch;

		histogram_init(&scratch);
		for (size_t i = 0; i < count; i++) {
			const struct recorder_second *from;

			if (index >= recorders[i]->second_count)
				continue;
			from = &recorders[i]->seconds[index];
			if (from->length_ns > second->length_ns)
				second->length_ns = from->length_ns;
			second->ops[op].count += from->ops[op].count;
			second->ops[op].bytes += from->ops[op].bytes;
			second->ops[op].error_count += from->ops[op].error_count;
			if (from->latency[op])
				histogram_merge_packed(&scratch, from->latency[op]);
		}
		if (scratch.count == 0)
			continue;
		second->ops[op].latency_ns_p50 = histogram_percentile_ns(&scratch, 500000);
		second->ops[op].latency_ns_p99 = histogram_percentile_ns(&scratch, 990000);
		second->ops[op].latency_ns_max = scratch.max_ns;
		second->latency[op] = histogram_pack(&scratch);
		if (!second->latency[op])
			return -ENOMEM;
	}
	return 0;
}

static int add_pulses_of_all(struct measurement *m, struct recorder *const *recorders, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (recorders[i]->pulse_count > m->pulse_count)
			m->pulse_count = recorders[i]->pulse_count;
	}
	m->pulse_ns = RECORDER_INTERVAL_NS;
	m->pulses = calloc(m->pulse_count + 1, sizeof(*m->pulses));
	if (!m->pulses)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		for (size_t k = 0; k < recorders[i]->pulse_count; k++)
			m->pulses[k] += recorders[i]->pulses[k];
	}
	return 0;
}

int recorder_merge(struct measurement *m, struct recorder *const *recorders, size_t count,
		   struct err *err)
{
	size_t second_count = 0;
	int failed = 0;

	for (size_t i = 0; i < count; i++) {
		failed |= add_whole(m, recorders[i]);
		failed |= recorders[i]->out_of_memory ? -ENOMEM : 0;
		if (recorders[i]->second_count > second_count)
			second_count = recorders[i]->second_count;
	}
	failed |= add_pulses_of_all(m, recorders, count);
	m->seconds = calloc(second_count ? second_count : 1, sizeof(*m->seconds));
	if (!m->seconds || failed)
		return err_set(err, -ENOMEM, "no memory for the histograms of %zu s", second_count);
	m->second_count = second_count;
	for (size_t i = 0; i < second_count; i++) {
		m->seconds[i].start_ns = i * SECOND_NS;
		failed |= add_second(&m->seconds[i], recorders, count, i);
	}
	return failed ? err_set(err, -ENOMEM, "no memory for the seconds' histograms") : 0;
}
