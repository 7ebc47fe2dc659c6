/* SPDX-License-Identifier: MIT */

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "serve/live.h"
#include "serve/timer.h"

#define LOG_ENTRIES 8192u	/* a power of two */

struct log_entry {
	uint64_t number, offset_bytes, length_bytes, submitted_ns, due_ns, answered_ns;
	enum sim_kind kind;
	int error;
};

struct live {
	pthread_mutex_t lock;
	struct sim *sim;
	struct sim_identity identity;
	struct text spec;
	uint64_t birth_ns;	/* CLOCK_MONOTONIC */
	uint64_t now_ns;	/* of the last submission, since birth */
	uint64_t deducted_ns;
	uint64_t number;	/* of the next operation; from 1 */
	unsigned char *bounce;	/* for ranges that are no whole blocks */
	size_t bounce_bytes;
	struct log_entry *log;
};

int live_open(struct live **ret, const char *spec, struct err *err)
{
	struct sim_config config;
	struct live *live;
	int r;

	r = sim_config_parse(&config, spec, err);
	if (r < 0)
		return r;
	if (!config.content)
		return err_set(err, -EINVAL,
			       "'%s' keeps no content, so a device of it could not be read back; "
			       "leave out content", spec);
	live = calloc(1, sizeof(*live));
	if (!live)
		return err_errno(err, -ENOMEM, "serve '%s'", spec);
	pthread_mutex_init(&live->lock, NULL);
	live->number = 1;
	live->log = calloc(LOG_ENTRIES, sizeof(live->log[0]));
	r = live->log ? sim_new(&live->sim, &config, err) :
			err_errno(err, -ENOMEM, "serve '%s'", spec);
	if (r < 0) {
		live_close(live);
		return r;
	}
	sim_identify(live->sim, &live->identity);
	sim_config_print(&config, &live->spec);
	live->birth_ns = clock_gettime_ns();
	*ret = live;
	return 0;
}

void live_close(struct live *live)
{
	if (!live)
		return;
	sim_free(live->sim);
	pthread_mutex_destroy(&live->lock);
	text_done(&live->spec);
	free(live->bounce);
	free(live->log);
	free(live);
}

const struct sim_identity *live_identity(const struct live *live)
{
	return &live->identity;
}

const char *live_spec(const struct live *live)
{
	return text_string(&live->spec);
}

const struct sim_config *live_configuration(const struct live *live)
{
	return sim_configuration(live->sim);
}

void live_deduct(struct live *live, uint64_t deducted_ns)
{
	pthread_mutex_lock(&live->lock);
	live->deducted_ns = deducted_ns;
	pthread_mutex_unlock(&live->lock);
}

/* --- requests; all below is called with the lock held ----------------------------------- */

/* Time must not go back between submissions; two processors may differ by a little. */
static uint64_t advance(struct live *live)
{
	const uint64_t now_ns = clock_gettime_ns() - live->birth_ns;

	if (now_ns > live->now_ns)
		live->now_ns = now_ns;
	return live->now_ns;
}

static void submit(struct live *live, const struct sim_request *request, struct live_answer *ret)
{
	const uint64_t now_ns = advance(live);
	struct log_entry *entry = &live->log[live->number & (LOG_ENTRIES - 1)];
	struct sim_result result;

	sim_submit(live->sim, now_ns, request, &result);
	*entry = (struct log_entry){
		.number = live->number,
		.offset_bytes = request->offset_bytes,
		.length_bytes = request->length_bytes,
		.submitted_ns = now_ns,
		.due_ns = result.done_ns,
		.kind = request->kind,
		.error = result.error,
	};
	ret->number = live->number++;
	ret->due_ns = live->birth_ns + result.done_ns;
	ret->due_ns -= live->deducted_ns < ret->due_ns ? live->deducted_ns : ret->due_ns;
	ret->error = result.error;
}

static bool is_whole(const struct live *live, const struct sim_request *q)
{
	return (q->offset_bytes | q->length_bytes) % live->identity.logical_block_bytes == 0;
}

/* Room for the whole blocks around a request, and a read of them; NULL without memory. */
static unsigned char *bounce_around(struct live *live, const struct sim_request *q,
				    struct sim_request *ret_read)
{
	const uint64_t block = live->identity.logical_block_bytes;
	const uint64_t end = q->offset_bytes + q->length_bytes;
	const uint64_t first = q->offset_bytes - q->offset_bytes % block;
	const uint64_t length = (end + block - 1) / block * block - first;

	if (length > live->bounce_bytes) {
		unsigned char *bounce = realloc(live->bounce, length);

		if (!bounce)
			return NULL;
		live->bounce = bounce;
		live->bounce_bytes = length;
	}
	*ret_read = (struct sim_request){
		.kind = SIM_READ,
		.offset_bytes = first,
		.length_bytes = length,
		.bytes_ret = live->bounce,
	};
	return live->bounce;
}

static void submit_partial(struct live *live, const struct sim_request *q,
			   struct live_answer *ret)
{
	struct sim_request around;
	unsigned char *bounce = bounce_around(live, q, &around);
	uint64_t read_due_ns;

	if (!bounce) {
		*ret = (struct live_answer){ .error = -ENOMEM };
		return;
	}
	submit(live, &around, ret);
	bounce += q->offset_bytes - around.offset_bytes;
	if (q->kind == SIM_READ)
		memcpy(q->bytes_ret, bounce, q->length_bytes);
	if (q->kind == SIM_READ || ret->error)
		return;
	memcpy(bounce, q->bytes, q->length_bytes);
	around.kind = SIM_WRITE;
	around.fua = q->fua;
	around.bytes = around.bytes_ret;
	around.bytes_ret = NULL;
	read_due_ns = ret->due_ns;
	submit(live, &around, ret);
	if (ret->due_ns < read_due_ns)
		ret->due_ns = read_due_ns;
}

/* --- from outside -------------------------------------------------------------------------- */

void live_submit(struct live *live, const struct sim_request *request, struct live_answer *ret)
{
	const bool has_content = request->kind == SIM_READ || request->kind == SIM_WRITE;

	pthread_mutex_lock(&live->lock);
	if (has_content && !is_whole(live, request))
		submit_partial(live, request, ret);
	else
		submit(live, request, ret);
	pthread_mutex_unlock(&live->lock);
}

void live_answered(struct live *live, uint64_t number)
{
	struct log_entry *entry = &live->log[number & (LOG_ENTRIES - 1)];

	pthread_mutex_lock(&live->lock);
	if (entry->number == number)
		entry->answered_ns = clock_gettime_ns() - live->birth_ns;
	pthread_mutex_unlock(&live->lock);
}

/* --- what it knows of itself -------------------------------------------------------------- */

enum sim_page_truth live_query(struct live *live, uint64_t offset_bytes, uint64_t *ret_end)
{
	enum sim_page_truth page;

	pthread_mutex_lock(&live->lock);
	sim_idle(live->sim, advance(live));
	page = sim_query_range(live->sim, offset_bytes, ret_end);
	pthread_mutex_unlock(&live->lock);
	return page;
}

static void add_integer(json_t *object, const char *name, uint64_t value)
{
	json_object_set_new(object, name, json_integer((json_int_t)value));
}

static void add_stats(json_t *object, const struct sim_stats *stats)
{
	json_object_set_new(object, "write_amplification", json_real(stats->write_amplification));
	for (const struct sim_stat_field *f = sim_stat_fields; f->name; f++) {
		uint64_t value;

		memcpy(&value, (const char *)stats + f->offset, sizeof(value));
		add_integer(object, f->name, value);
	}
}

void live_stat_text(struct live *live, struct timer *timer, struct text *ret)
{
	json_t *object = json_object();
	struct sim_stats stats;
	uint64_t now_ns, mean_ns, max_ns;
	char *dump;

	pthread_mutex_lock(&live->lock);
	now_ns = advance(live);
	sim_idle(live->sim, now_ns);
	sim_stats(live->sim, &stats);
	pthread_mutex_unlock(&live->lock);

	json_object_set_new(object, "spec", json_string(live_spec(live)));
	json_object_set_new(object, "model", json_string(live->identity.model));
	add_integer(object, "capacity_bytes", live->identity.capacity_bytes);
	add_integer(object, "logical_block_bytes", live->identity.logical_block_bytes);
	add_integer(object, "age_ns", now_ns);
	add_integer(object, "deducted_ns", live->deducted_ns);
	if (timer) {
		timer_lateness(timer, &mean_ns, &max_ns);
		add_integer(object, "late_ns_mean", mean_ns);
		add_integer(object, "late_ns_max", max_ns);
	}
	add_stats(object, &stats);
	dump = json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(9));
	if (dump)
		text_add(ret, "%s\n", dump);
	free(dump);
	json_decref(object);
}

static const char *page_name(enum sim_page_truth page)
{
	switch (page) {
	case SIM_PAGE_UNMAPPED:
		return "unmapped";
	case SIM_PAGE_MAPPED:
		return "mapped";
	case SIM_PAGE_TRIM_PENDING:
		return "trim-pending";
	case SIM_PAGE_TRIMMED_OLD:
		return "trimmed-old";
	}
	return "";
}

void live_map_text(struct live *live, uint64_t first, uint64_t last, struct text *ret)
{
	const uint64_t block = live->identity.logical_block_bytes;
	const uint64_t blocks = live->identity.capacity_bytes / block;
	const char *comma = "";

	if (last >= blocks)
		last = blocks - 1;
	text_add(ret, "{\"first\":%" PRIu64 ",\"last\":%" PRIu64 ",\"block_bytes\":%" PRIu64
		 ",\"ranges\":[", first, last, block);
	pthread_mutex_lock(&live->lock);
	sim_idle(live->sim, advance(live));
	while (first <= last && ret->length < LIVE_TEXT_BYTES) {
		uint64_t end_bytes, range_last;
		enum sim_page_truth page;

		page = sim_query_range(live->sim, first * block, &end_bytes);
		assert(end_bytes > first * block);
		range_last = end_bytes / block - 1;
		if (range_last > last)
			range_last = last;
		text_add(ret, "%s{\"first\":%" PRIu64 ",\"last\":%" PRIu64 ",\"state\":\"%s\"}",
			 comma, first, range_last, page_name(page));
		comma = ",";
		first = range_last + 1;
	}
	pthread_mutex_unlock(&live->lock);
	text_add(ret, "]");
	if (first <= last)
		text_add(ret, ",\"next\":%" PRIu64, first);
	text_add(ret, "}\n");
}

static const char *const kind_names[SIM_KIND_COUNT] = {
	[SIM_READ] = "read",
	[SIM_WRITE] = "write",
	[SIM_TRIM] = "trim",
	[SIM_WRITE_ZEROES] = "zero",
	[SIM_FLUSH] = "flush",
	[SIM_PURGE] = "purge",
};

void live_log_text(struct live *live, uint64_t number, struct text *ret)
{
	pthread_mutex_lock(&live->lock);
	if (number + LOG_ENTRIES < live->number)
		number = live->number - LOG_ENTRIES;
	if (number == 0)
		number = 1;
	for (; number < live->number && ret->length < LIVE_TEXT_BYTES; number++) {
		const struct log_entry *e = &live->log[number & (LOG_ENTRIES - 1)];

		text_add(ret, "%" PRIu64 " %s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
			 " %" PRIu64 " %d\n", number, kind_names[e->kind], e->offset_bytes,
			 e->length_bytes, e->submitted_ns, e->due_ns, e->answered_ns, e->error);
	}
	pthread_mutex_unlock(&live->lock);
}
