/* SPDX-License-Identifier: MIT */

/*
 * corrupt - writes go wrong in silence, as bad drives do it:
 *
 *	corrupt:flip	one bit of the data is turned
 *	corrupt:stale	the write is dropped, yet reported done
 *	corrupt:swap	the data of two writes of one length go to each other's place
 *	corrupt:torn	the first half of the sectors is written, the rest is not
 *
 * with after=N,every=N,at=OFFSET,seed=S as for the error filter; presets: every write.
 *
 * The data of a request may be registered with the kernel where they lie, so what is to be
 * written is changed in place and put back before the request is reported done.
 *
 * swap needs two: the first write picked is kept and reported done; the next one picked, of
 * the same length and another place, is written first to the place of the kept one, then the
 * kept data go to its own. A kept write that finds no partner is lost.
 */

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "target/filter.h"
#include "target/spec.h"
#include "target/target.h"

enum corrupt_how { CORRUPT_FLIP, CORRUPT_STALE, CORRUPT_SWAP, CORRUPT_TORN };
static const char *const how_words[] = { "flip", "stale", "swap", "torn", NULL };

struct corrupt_options {
	uint64_t how, after_count, every_count, at_bytes, seed;
	bool has_at, has_seed;
};

/* What a request in flight needs when it comes back. */
struct flight {
	enum { PLAIN, FLIPPED, TORN, SWAP_FIRST, SWAP_SECOND } step;
	struct io io;			/* as the engine gave it */
	uint64_t flip_bit;
};

struct corrupt {
	struct filter filter;
	enum corrupt_how how;
	struct filter_pick pick;
	struct random random;		/* which bit */
	uint32_t sector_bytes;
	struct flight *flights;		/* by tag */

	struct io kept;			/* swap: the write that waits; length 0 = none */
	unsigned char *kept_data, *partner_data;
	bool swapping;			/* a pair is under way: partner_data is in use */
};

enum { KEY_HOW, KEY_AFTER, KEY_EVERY, KEY_AT, KEY_SEED };
static const struct spec_key corrupt_keys[] = {
	[KEY_HOW] = { "", SPEC_WORD, offsetof(struct corrupt_options, how), how_words },
	[KEY_AFTER] = { "after", SPEC_COUNT, offsetof(struct corrupt_options, after_count), NULL },
	[KEY_EVERY] = { "every", SPEC_COUNT, offsetof(struct corrupt_options, every_count), NULL },
	[KEY_AT] = { "at", SPEC_BYTES, offsetof(struct corrupt_options, at_bytes), NULL },
	[KEY_SEED] = { "seed", SPEC_COUNT, offsetof(struct corrupt_options, seed), NULL },
	{ 0 },
};

static int corrupt_parse(const char *text, void *options, struct err *err)
{
	struct corrupt_options *o = options;
	int given;

	o->every_count = 1;
	given = spec_parse("corrupt", text, corrupt_keys, o, err);
	if (given < 0)
		return given;
	if (!(given & 1 << KEY_HOW))
		return err_set(err, -EINVAL,
			       "corrupt says not how; write corrupt:flip, stale, swap or torn");
	if (o->every_count == 0)
		return err_set(err, -EINVAL,
			       "corrupt: every=0 would never do it; write every=1 or more");
	o->has_at = given & 1 << KEY_AT;
	o->has_seed = given & 1 << KEY_SEED;
	if (o->how == CORRUPT_SWAP && o->has_at)
		return err_set(err, -EINVAL, "corrupt: swap needs two places; leave at out");
	return 0;
}

static int corrupt_setup(struct filter *filter, const void *options, struct err *err)
{
	const struct corrupt_options *o = options;
	struct corrupt *corrupt = (struct corrupt *)filter;

	corrupt->how = (enum corrupt_how)o->how;
	corrupt->pick = (struct filter_pick){
		.after_count = o->after_count,
		.every_count = o->every_count,
		.seed = o->seed,
		.at_bytes = o->at_bytes,
		.has_at = o->has_at,
		.has_seed = o->has_seed,
	};
	filter_pick_init(&corrupt->pick);
	random_init(&corrupt->random, ~o->seed);
	corrupt->sector_bytes = filter->queue.target ?
					filter->queue.target->info.logical_block_bytes :
					0;
	if (!corrupt->sector_bytes)
		corrupt->sector_bytes = 512;
	corrupt->flights = calloc(filter->depth_count, sizeof(corrupt->flights[0]));
	if (corrupt->how == CORRUPT_SWAP) {
		corrupt->kept_data = malloc(filter->length_max_bytes);
		corrupt->partner_data = malloc(filter->length_max_bytes);
	}
	if (!corrupt->flights || (corrupt->how == CORRUPT_SWAP &&
				  (!corrupt->kept_data || !corrupt->partner_data)))
		return err_errno(err, -ENOMEM, "filter 'corrupt'");
	return 0;
}

static void corrupt_done(struct filter *filter)
{
	struct corrupt *corrupt = (struct corrupt *)filter;

	free(corrupt->flights);
	free(corrupt->kept_data);
	free(corrupt->partner_data);
}

static void turn_bit(const struct io *io, uint64_t bit)
{
	((unsigned char *)io->buffer)[bit / 8] ^= (unsigned char)(1u << bit % 8);
}

static void push_flipped(struct corrupt *corrupt, struct flight *flight)
{
	struct io changed = flight->io;

	flight->step = FLIPPED;
	flight->flip_bit = random_below(&corrupt->random, 8 * (uint64_t)changed.length_bytes);
	turn_bit(&changed, flight->flip_bit);
	changed.content_tag = 0;	/* the bytes are no longer what the tag says */
	filter_pass(&corrupt->filter, &changed);
}

static void push_torn(struct corrupt *corrupt, struct flight *flight)
{
	struct io changed = flight->io;

	changed.length_bytes =
		changed.length_bytes / 2 / corrupt->sector_bytes * corrupt->sector_bytes;
	changed.content_tag = 0;
	if (changed.length_bytes == 0) {	/* one sector is written whole or not at all */
		filter_complete(&corrupt->filter, changed.tag, (int32_t)flight->io.length_bytes);
		return;
	}
	flight->step = TORN;
	filter_pass(&corrupt->filter, &changed);
}

static bool is_partner(const struct corrupt *corrupt, const struct io *io)
{
	return corrupt->kept.length_bytes == io->length_bytes &&
	       corrupt->kept.offset_bytes != io->offset_bytes;
}

static void push_swapped(struct corrupt *corrupt, struct flight *flight)
{
	struct io changed = flight->io;

	if (corrupt->kept.length_bytes == 0) {
		corrupt->kept = flight->io;
		memcpy(corrupt->kept_data, flight->io.buffer, flight->io.length_bytes);
		filter_complete(&corrupt->filter, flight->io.tag, (int32_t)flight->io.length_bytes);
		return;
	}
	if (corrupt->swapping || !is_partner(corrupt, &flight->io)) {
		filter_pass(&corrupt->filter, &flight->io);
		return;
	}
	corrupt->swapping = true;
	memcpy(corrupt->partner_data, changed.buffer, changed.length_bytes);
	flight->step = SWAP_FIRST;
	changed.offset_bytes = corrupt->kept.offset_bytes;
	filter_pass(&corrupt->filter, &changed);
}

static void corrupt_push(struct queue *queue, const struct io *ios, uint32_t count)
{
	struct corrupt *corrupt = (struct corrupt *)queue;

	for (uint32_t i = 0; i < count; i++) {
		struct flight *flight = &corrupt->flights[ios[i].tag];

		assert(ios[i].tag < corrupt->filter.depth_count);
		*flight = (struct flight){ .step = PLAIN, .io = ios[i] };
		if (ios[i].kind != IO_WRITE || !filter_pick_next(&corrupt->pick, &ios[i])) {
			filter_pass(&corrupt->filter, &ios[i]);
			continue;
		}
		switch (corrupt->how) {
		case CORRUPT_FLIP:
			push_flipped(corrupt, flight);
			break;
		case CORRUPT_STALE:
			filter_complete(&corrupt->filter, ios[i].tag, (int32_t)ios[i].length_bytes);
			break;
		case CORRUPT_SWAP:
			push_swapped(corrupt, flight);
			break;
		case CORRUPT_TORN:
			push_torn(corrupt, flight);
			break;
		}
	}
}

/* The partner's data are at the kept one's place; now the other way. */
static void push_second_half(struct corrupt *corrupt, struct flight *flight)
{
	struct io changed = flight->io;

	memcpy(changed.buffer, corrupt->kept_data, changed.length_bytes);
	changed.content_tag = corrupt->kept.content_tag;
	flight->step = SWAP_SECOND;
	filter_pass(&corrupt->filter, &changed);
}

/* Puts right what the engine must not see; true when the request is done for it. */
static bool settle(struct corrupt *corrupt, struct io_done *done)
{
	struct flight *flight = &corrupt->flights[done->tag];

	switch (flight->step) {
	case PLAIN:
		break;
	case FLIPPED:
		turn_bit(&flight->io, flight->flip_bit);
		break;
	case TORN:
		if (done->result > 0)
			done->result = (int32_t)flight->io.length_bytes;
		break;
	case SWAP_FIRST:
		if (done->result == (int32_t)flight->io.length_bytes) {
			push_second_half(corrupt, flight);
			return false;
		}
		corrupt->swapping = false;
		break;
	case SWAP_SECOND:
		memcpy(flight->io.buffer, corrupt->partner_data, flight->io.length_bytes);
		corrupt->kept.length_bytes = 0;
		corrupt->swapping = false;
		break;
	}
	flight->step = PLAIN;
	return true;
}

static int corrupt_reap(struct queue *queue, struct io_done *done, uint32_t min_count,
			uint32_t max_count, uint64_t deadline_ns)
{
	struct corrupt *corrupt = (struct corrupt *)queue;
	struct filter *filter = &corrupt->filter;
	uint32_t count = 0;

	for (;;) {
		const int got = filter_reap(queue, done + count,
					    min_count > count ? min_count - count : 0,
					    max_count - count, deadline_ns);
		uint32_t end;

		if (got < 0)
			return count ? (int)count : got;
		end = count + (uint32_t)got;
		for (uint32_t from = count; from < end; from++)
			if (settle(corrupt, &done[from]))
				done[count++] = done[from];
		if (count >= min_count || got == 0 ||
		    (!filter->inner_count && !filter->ready_count) ||
		    clock_now_ns(filter->clock) >= deadline_ns)
			return (int)count;
	}
}

const struct filter_kind filter_corrupt = {
	.name = "corrupt",
	.help = "write corrupt:flip, stale, swap or torn, with after=10,every=100,at=1m,seed=7",
	.options_bytes = sizeof(struct corrupt_options),
	.filter_bytes = sizeof(struct corrupt),
	.parse = corrupt_parse,
	.setup = corrupt_setup,
	.done = corrupt_done,
	.push = corrupt_push,
	.reap = corrupt_reap,
	.next_ns = filter_next_ns,
};
