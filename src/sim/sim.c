/* SPDX-License-Identifier: MIT */
#include "sim/sim.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/drive.h"

static uint64_t max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static int allocate(struct sim *s, struct err *err)
{
	const struct sim_config *c = &s->config;
	const uint64_t pages_per_unit = s->unit_bytes / CONTENT_PAGE + 1;

	s->outstanding = calloc(c->queue_depth_count, sizeof(*s->outstanding));
	s->merges = calloc(c->merge_count + 1, sizeof(*s->merges));
	if (!s->outstanding || !s->merges)
		return err_set(err, -ENOMEM, "sim: no memory for %" PRIu64 " requests",
			       c->queue_depth_count);
	if (c->content && !c->power_loss_protected) {
		s->undo_size = (s->flash.ring_size + c->merge_count * 8 + 64) * pages_per_unit;
		s->undo = calloc(s->undo_size, sizeof(*s->undo));
		if (!s->undo)
			return err_set(err, -ENOMEM, "sim: no memory for the write buffer");
	}
	if (c->read_error_ppm) {
		s->healed = calloc(c->capacity_bytes / CONTENT_PAGE / 64 + 1, sizeof(*s->healed));
		if (!s->healed)
			return err_set(err, -ENOMEM, "sim: no memory for read errors");
	}
	return 0;
}

int sim_new(struct sim **ret, const struct sim_config *config, struct err *err)
{
	struct sim *s;
	int r = sim_config_check(config, err);

	if (r < 0)
		return r;
	s = calloc(1, sizeof(*s));
	if (!s)
		return err_set(err, -ENOMEM, "sim: no memory");
	s->config = *config;
	s->unit_bytes = (uint32_t)config->mapping_unit_bytes;
	random_init(&s->random, config->seed);
	r = map_init(&s->map, &s->config, err);
	if (r == 0)
		r = flash_init(&s->flash, &s->config, &s->map, err);
	if (r == 0)
		r = content_init(&s->content, config->content ? config->capacity_bytes : 0, err);
	if (r == 0)
		r = allocate(s, err);
	if (r == 0)
		r = map_cache_init(s, err);
	if (r < 0)
		goto fail;
	if (config->link_bytes_per_s)
		s->link_byte_ps_q10 = SECOND_NS * PS_PER_NS * 1024 / config->link_bytes_per_s;
	s->heat.temperature_uc = (int64_t)(config->ambient_mc * 1000 +
					   config->idle_mw * config->heat_mc_per_w);
	map_set_state(&s->map, (enum sim_state)config->state);
	s->map.flash = &s->flash;
	*ret = s;
	return 0;
fail:
	sim_free(s);
	return r;
}

void sim_free(struct sim *s)
{
	if (!s)
		return;
	for (; s->undo && s->undo_head < s->undo_tail; s->undo_head++)
		content_drop(s->undo[s->undo_head % s->undo_size].old);
	map_done(&s->map);
	flash_done(&s->flash);
	content_done(&s->content);
	free(s->outstanding);
	free(s->merges);
	free(s->undo);
	free(s->waits);
	free(s->map_cache);
	free(s->map_cache_bits);
	free(s->map_cache_of);
	free(s->healed);
	free(s);
}

/* --- the host's side: link, firmware, queue ------------------------------------------- */

uint64_t sim_cpu(struct sim *s, uint64_t t_ps, uint64_t cost_ns)
{
	s->cpu_ps = max_u64(s->cpu_ps, t_ps) + cost_ns * PS_PER_NS;
	return s->cpu_ps;
}

static uint64_t link_transfer(const struct sim *s, uint64_t bytes)
{
	return (bytes * s->link_byte_ps_q10) >> 10;
}

uint64_t sim_link_in(struct sim *s, uint64_t t_ps, uint64_t bytes)
{
	uint64_t *lane = s->config.link_duplex ? &s->link_in_ps : &s->link_out_ps;

	*lane = max_u64(*lane, t_ps) + link_transfer(s, bytes);
	return *lane;
}

/* The link moves what is ready while the rest is read: only the last page comes after. */
uint64_t sim_link_out(struct sim *s, uint64_t t_ps, uint64_t done_ps, uint64_t bytes)
{
	const uint64_t last = bytes < s->config.page_bytes ? bytes : s->config.page_bytes;

	s->link_out_ps = max_u64(s->link_out_ps, t_ps) + link_transfer(s, bytes);
	return max_u64(done_ps + link_transfer(s, last), s->link_out_ps);
}

static void heap_push(struct sim *s, uint64_t done_ps)
{
	uint64_t *heap = s->outstanding;
	uint32_t i = s->outstanding_count++;

	for (; i > 0 && heap[(i - 1) / 2] > done_ps; i = (i - 1) / 2)
		heap[i] = heap[(i - 1) / 2];
	heap[i] = done_ps;
}

static uint64_t heap_pop(struct sim *s)
{
	uint64_t *heap = s->outstanding;
	const uint64_t least = heap[0], last = heap[--s->outstanding_count];
	uint32_t i = 0;

	for (;;) {
		uint32_t child = 2 * i + 1;

		if (child >= s->outstanding_count)
			break;
		if (child + 1 < s->outstanding_count && heap[child + 1] < heap[child])
			child++;
		if (heap[child] >= last)
			break;
		heap[i] = heap[child];
		i = child;
	}
	heap[i] = last;
	return least;
}

/* When the request gets one of the drive's queue places. */
static uint64_t enter_queue(struct sim *s, uint64_t t_ps)
{
	if (s->outstanding_count && s->outstanding[0] <= t_ps)
		heap_pop(s);
	if (s->outstanding_count == s->config.queue_depth_count)
		t_ps = max_u64(t_ps, heap_pop(s));
	return t_ps;
}

/* --- requests ------------------------------------------------------------------------- */

static bool range_is_valid(const struct sim *s, uint64_t offset, uint64_t length)
{
	const uint64_t block = s->config.logical_block_bytes;

	return offset % block == 0 && length % block == 0 && length > 0 &&
	       length <= s->config.capacity_bytes && offset <= s->config.capacity_bytes - length;
}

static bool is_valid(const struct sim *s, const struct sim_request *q)
{
	if (q->kind == SIM_FLUSH || q->kind == SIM_PURGE)
		return true;
	if (q->kind != SIM_TRIM || !q->ranges)
		return range_is_valid(s, q->offset_bytes, q->length_bytes);
	if (q->range_count == 0 || q->range_count > s->config.trim_ranges_max)
		return false;
	for (uint32_t i = 0; i < q->range_count; i++) {
		if (!range_is_valid(s, q->ranges[i].offset_bytes, q->ranges[i].length_bytes))
			return false;
	}
	return true;
}

/* Everything is forgotten and erased, all dies at once, one block after the other. */
static uint64_t do_purge(struct sim *s, uint64_t t_ps)
{
	const uint64_t erase_ps = s->config.erase_ns * PS_PER_NS;
	const uint64_t before = s->map.erase_total;

	for (; s->undo_head < s->undo_tail; s->undo_head++)
		content_drop(s->undo[s->undo_head % s->undo_size].old);
	s->merge_count = 0;
	s->wait_count = 0;
	t_ps = max_u64(t_ps, s->flash.busy_ps);
	flash_reset(&s->flash, t_ps);
	map_clear(&s->map);
	content_done(&s->content);
	if (content_init(&s->content, s->config.content ? s->config.capacity_bytes : 0, NULL) < 0)
		abort();
	return t_ps + (s->map.erase_total - before) * erase_ps;
}

static uint64_t dispatch(struct sim *s, uint64_t t_ps, const struct sim_request *q,
			 struct sim_result *ret)
{
	switch (q->kind) {
	case SIM_READ:
		return sim_do_read(s, t_ps, q, ret);
	case SIM_WRITE:
	case SIM_WRITE_ZEROES:
		return sim_do_write(s, t_ps, q, ret);
	case SIM_TRIM:
		return sim_do_trim(s, t_ps, q, ret);
	case SIM_FLUSH:
		return sim_do_flush(s, t_ps);
	case SIM_PURGE:
		return do_purge(s, t_ps);
	case SIM_KIND_COUNT:
		break;
	}
	assert(0 && "a request of no kind");
	return t_ps;
}

static uint64_t admit(struct sim *s, uint64_t t_ps, const struct sim_request *q)
{
	const struct sim_config *c = &s->config;
	const bool slept = c->standby_after_ns &&
			   t_ps > s->quiet_ps + c->standby_after_ns * PS_PER_NS;

	t_ps = enter_queue(s, t_ps);
	if (slept)
		t_ps += c->wake_ns * PS_PER_NS;
	if (c->rate_per_s || c->rate_bytes_per_s)
		t_ps = limits_admit(s, t_ps, q->kind <= SIM_WRITE ? q->length_bytes : 0);
	return t_ps + c->link_ns * PS_PER_NS;
}

void sim_prefetch(const struct sim *s, uint64_t offset_bytes)
{
	if (offset_bytes >= s->config.capacity_bytes)
		return;
	__builtin_prefetch(&s->map.l2p[offset_bytes / s->unit_bytes], 1);
	if (s->config.content)
		__builtin_prefetch(&s->content.values[offset_bytes / CONTENT_PAGE], 1);
}

void sim_submit(struct sim *s, uint64_t now_ns, const struct sim_request *q,
		struct sim_result *ret)
{
	const uint64_t now_ps = now_ns * PS_PER_NS;
	uint64_t t_ps;

	assert(now_ns <= UINT64_MAX / PS_PER_NS && now_ps >= s->last_submit_ps);
	*ret = (struct sim_result){ 0 };
	/* On its way while the link and the controller are booked. */
	sim_prefetch(s, q->offset_bytes);
	idle_until(s, now_ps);
	s->now_ps = s->last_submit_ps = s->flash.base_ps = s->flash.now_ps = now_ps;
	if (!is_valid(s, q)) {
		ret->error = -EINVAL;
		ret->done_ns = now_ns;
		return;
	}
	t_ps = admit(s, now_ps, q);
	s->counters.requests[q->kind]++;
	t_ps = dispatch(s, t_ps, q, ret);
	if (fault_draw(s, s->config.spike_ppm)) {
		t_ps += s->config.spike_ns * PS_PER_NS;
		s->counters.spikes++;
	}
	s->counters.errors += ret->error == -EIO;
	heap_push(s, t_ps);
	s->quiet_ps = max_u64(s->quiet_ps, max_u64(t_ps, s->flash.busy_ps));
	ret->done_ns = (t_ps + PS_PER_NS - 1) / PS_PER_NS;
}

uint64_t sim_quiet_ns(const struct sim *s)
{
	const uint64_t quiet = max_u64(s->quiet_ps, s->flash.busy_ps);

	return (quiet + PS_PER_NS - 1) / PS_PER_NS;
}

void sim_idle(struct sim *s, uint64_t now_ns)
{
	assert(now_ns * PS_PER_NS >= s->last_submit_ps);
	idle_until(s, now_ns * PS_PER_NS);
	s->now_ps = s->last_submit_ps = now_ns * PS_PER_NS;
}

void sim_write_units(struct sim *s, const uint32_t *units, size_t count)
{
	struct flash *flash = s->map.flash;

	flash_pad_all(flash);
	s->map.flash = NULL;
	map_write_many(&s->map, units, count, 1);
	s->untimed_units += count;
	s->map.flash = flash;
}

const struct sim_config *sim_configuration(const struct sim *s)
{
	return &s->config;
}
