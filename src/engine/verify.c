/* SPDX-License-Identifier: MIT */
#include "engine/verify.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "stats/histogram.h"

#define UNIT_MIN_BYTES 512u

static uint64_t gcd(uint64_t a, uint64_t b)
{
	while (b) {
		const uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

int verify_unit(const struct workload *workload, const struct engine_range *range,
		uint32_t *ret_bytes, struct err *err)
{
	uint64_t unit_bytes = gcd(range->align_bytes, workload->block_bytes);

	for (uint32_t i = 0; i < workload->size_mix.count; i++)
		unit_bytes = gcd(unit_bytes, workload->size_mix.sizes[i].bytes);
	for (uint32_t i = 0; i < workload->write_mix.count; i++)
		unit_bytes = gcd(unit_bytes, workload->write_mix.sizes[i].bytes);
	unit_bytes = gcd(unit_bytes, workload->stride_bytes);
	if (workload->size_mix.count == 0 && workload->write_mix.count == 0 &&
	    range->align_bytes % workload->block_bytes == 0)
		unit_bytes = gcd(workload->block_bytes, workload->stride_bytes);
	if (unit_bytes % UNIT_MIN_BYTES != 0)
		return err_set(err, -EINVAL,
			       "verify: sizes and alignment share blocks of %llu bytes only; each "
			       "has to be a multiple of %u", (unsigned long long)unit_bytes,
			       UNIT_MIN_BYTES);
	*ret_bytes = (uint32_t)unit_bytes;
	return 0;
}

int verify_map_init(struct verify_map *map, const struct engine_range *range, uint32_t unit_bytes,
		    struct err *err)
{
	void *words;

	assert(unit_bytes >= UNIT_MIN_BYTES);
	*map = (struct verify_map){
		.offset_bytes = range->offset_bytes,
		.unit_count = range->size_bytes / unit_bytes,
		.unit_bytes = unit_bytes,
	};
	words = mmap(NULL, map->unit_count * sizeof(*map->words), PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (words == MAP_FAILED)
		return err_errno(err, -errno, "verify: a map of %llu blocks",
				 (unsigned long long)map->unit_count);
	map->memory = words;
	map->words = words;
	return 0;
}

void verify_map_done(struct verify_map *map)
{
	if (map->memory)
		munmap(map->memory, map->unit_count * sizeof(*map->words));
	*map = (struct verify_map){ 0 };
}

static uint64_t first_unit(const struct verify_map *map, uint64_t offset_bytes)
{
	assert(offset_bytes >= map->offset_bytes);
	return (offset_bytes - map->offset_bytes) / map->unit_bytes;
}

static uint64_t end_unit(const struct verify_map *map, uint64_t offset_bytes, uint32_t length_bytes)
{
	const uint64_t end = first_unit(map, offset_bytes) + length_bytes / map->unit_bytes;

	assert(end <= map->unit_count);
	return end;
}

bool verify_claim(struct verify_map *map, uint64_t offset_bytes, uint32_t length_bytes)
{
	const uint64_t first = first_unit(map, offset_bytes);
	const uint64_t end = end_unit(map, offset_bytes, length_bytes);

	for (uint64_t i = first; i < end; i++) {
		if (!(atomic_fetch_or(&map->words[i], VERIFY_CLAIMED) & VERIFY_CLAIMED))
			continue;
		while (i-- > first)
			atomic_fetch_and(&map->words[i], ~VERIFY_CLAIMED);
		return false;
	}
	return true;
}

void verify_fill(struct verify_map *map, const struct data *data, void *buffer,
		 uint64_t offset_bytes, uint32_t length_bytes)
{
	const uint64_t first = first_unit(map, offset_bytes);
	const uint64_t end = end_unit(map, offset_bytes, length_bytes);

	for (uint64_t i = first; i < end; i++) {
		const uint64_t at_bytes = (i - first) * map->unit_bytes;

		data_fill(data, (char *)buffer + at_bytes, map->unit_bytes, offset_bytes + at_bytes,
			  (map->words[i] & ~VERIFY_CLAIMED) + 1);
	}
}

void verify_release(struct verify_map *map, uint64_t offset_bytes, uint32_t length_bytes,
		    bool written)
{
	const uint64_t first = first_unit(map, offset_bytes);
	const uint64_t end = end_unit(map, offset_bytes, length_bytes);

	for (uint64_t i = first; i < end; i++) {
		const uint32_t word = map->words[i];

		assert(word & VERIFY_CLAIMED);
		map->words[i] = written ? (word & ~VERIFY_CLAIMED) + 1 : 0;
	}
}

void verify_snapshot(const struct verify_map *map, uint64_t offset_bytes, uint32_t length_bytes,
		     uint32_t *snapshot)
{
	const uint64_t first = first_unit(map, offset_bytes);
	const uint64_t end = end_unit(map, offset_bytes, length_bytes);

	for (uint64_t i = first; i < end; i++)
		snapshot[i - first] = map->words[i];
}

static void check_unit(const struct verify_map *map, const struct data *data, const void *buffer,
		       uint64_t offset_bytes, uint32_t generation, struct verify_tally *tally)
{
	struct data_finding finding = { .verdict = DATA_GOOD };

	tally->checked_count++;
	if (data_check(data, buffer, map->unit_bytes, offset_bytes, map->foreign ? 1 : generation,
		       map->foreign ? VERIFY_CLAIMED : generation, &finding) == DATA_GOOD)
		return;
	if (tally->failed_count++ == 0 || finding.offset_bytes < tally->first.offset_bytes)
		tally->first = finding;
}

void verify_check(const struct verify_map *map, const struct data *data, const void *buffer,
		  uint64_t offset_bytes, uint32_t length_bytes, const uint32_t *snapshot,
		  struct verify_tally *tally)
{
	const uint64_t first = first_unit(map, offset_bytes);
	const uint64_t end = end_unit(map, offset_bytes, length_bytes);

	for (uint64_t i = first; i < end; i++) {
		const uint32_t word = snapshot[i - first];
		const uint64_t at_bytes = (i - first) * map->unit_bytes;

		if (map->words[i] != word || (word & VERIFY_CLAIMED))
			continue;
		if (word == 0 && !map->foreign)
			continue;
		check_unit(map, data, (const char *)buffer + at_bytes, offset_bytes + at_bytes,
			   word, tally);
	}
}

void verify_tally_add(struct verify_tally *into, const struct verify_tally *from)
{
	if (from->failed_count && (into->failed_count == 0 ||
				   from->first.offset_bytes < into->first.offset_bytes))
		into->first = from->first;
	into->checked_count += from->checked_count;
	into->failed_count += from->failed_count;
}

/* The next run of blocks with known content from *unit on; 0 units when there is none. */
static uint64_t next_run(const struct verify_map *map, uint64_t *unit, uint64_t limit)
{
	uint64_t count = 0;

	while (*unit < map->unit_count && map->words[*unit] == 0)
		++*unit;
	while (count < limit && *unit + count < map->unit_count && map->words[*unit + count] != 0)
		count++;
	return count;
}

struct read_back {
	const struct verify_map *map;
	const struct verify_pass *pass;
	uint64_t unit;			/* the next to be read */
	struct io *ios;			/* by tag */
	uint64_t *submit_ns;		/* by tag */
	uint32_t *free_tags;
	uint32_t free_count;
};

static void read_back_submit(struct read_back *r)
{
	const struct verify_map *map = r->map;

	while (r->free_count > 0) {
		const uint64_t count =
			next_run(map, &r->unit, r->pass->length_max_bytes / map->unit_bytes);
		uint32_t tag;

		if (count == 0 || (r->pass->stop && *r->pass->stop))
			return;
		tag = r->free_tags[--r->free_count];
		r->ios[tag] = (struct io){
			.kind = IO_READ,
			.tag = tag,
			.offset_bytes = map->offset_bytes + r->unit * map->unit_bytes,
			.length_bytes = (uint32_t)count * map->unit_bytes,
			.buffer = (char *)r->pass->pool + tag * r->pass->stride_bytes,
		};
		r->submit_ns[tag] = clock_now_ns(r->pass->clock);
		r->pass->queue->ops->push(r->pass->queue, &r->ios[tag], 1);
		r->unit += count;
	}
}

static int read_back_check(struct read_back *r, const struct data *data,
			   const struct io_done *done, struct verify_tally *tally, struct err *err)
{
	const struct io *io = &r->ios[done->tag];
	const uint64_t end_ns = done->done_ns ? done->done_ns : clock_now_ns(r->pass->clock);

	r->free_tags[r->free_count++] = done->tag;
	if (done->result != (int32_t)io->length_bytes)
		return err_errno(err, done->result < 0 ? done->result : -EIO,
				 "verify: reading back %u bytes at offset %llu", io->length_bytes,
				 (unsigned long long)io->offset_bytes);
	r->pass->ret->count++;
	r->pass->ret->bytes += io->length_bytes;
	histogram_add(r->pass->ret->latency, end_ns - r->submit_ns[done->tag]);
	for (uint32_t at = 0; at < io->length_bytes; at += r->map->unit_bytes)
		check_unit(r->map, data, (const char *)io->buffer + at, io->offset_bytes + at,
			   r->map->words[first_unit(r->map, io->offset_bytes + at)], tally);
	return 0;
}

static uint64_t due_ns(struct queue *queue)
{
	return queue->ops->next_ns ? queue->ops->next_ns(queue) : NEVER_NS;
}

int verify_read_back(const struct verify_map *map, const struct data *data,
		     const struct verify_pass *pass, struct verify_tally *tally, struct err *err)
{
	struct read_back r = { .map = map, .pass = pass };
	struct io_done done[16];
	int failed = 0;

	r.ios = calloc(pass->depth_count, sizeof(*r.ios));
	r.free_tags = calloc(pass->depth_count, sizeof(*r.free_tags));
	r.submit_ns = calloc(pass->depth_count, sizeof(*r.submit_ns));
	if (!r.ios || !r.free_tags || !r.submit_ns)
		failed = err_set(err, -ENOMEM, "verify: no memory");
	for (uint32_t i = 0; !failed && i < pass->depth_count; i++)
		r.free_tags[r.free_count++] = i;

	while (!failed || r.free_count < pass->depth_count) {
		int count;

		if (!failed)
			read_back_submit(&r);
		if (r.free_count == pass->depth_count || !r.ios || !r.free_tags || !r.submit_ns)
			break;
		if (pass->clock->virtual_ns)
			clock_sleep_until(pass->clock, due_ns(pass->queue), NULL);
		count = pass->queue->ops->reap(pass->queue, done, 1, 16, NEVER_NS);
		if (count < 0) {
			failed = err_errno(err, count, "verify: the queue broke");
			break;
		}
		for (int i = 0; i < count; i++) {
			const int one = read_back_check(&r, data, &done[i], tally,
							failed ? NULL : err);

			failed = failed ? failed : one;
		}
	}
	free(r.ios);
	free(r.free_tags);
	free(r.submit_ns);
	return failed;
}
