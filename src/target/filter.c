/* SPDX-License-Identifier: MIT */
#include "target/filter.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "target/target.h"

#define CHAIN_COUNT 8
#define OPTIONS_BYTES 256

/* One filter of a chain, parsed. */
struct link {
	const struct filter_kind *kind;
	_Alignas(16) unsigned char options[OPTIONS_BYTES];
};

static const char *kind_name(const void *ctx, size_t i)
{
	(void)ctx;
	return filter_kinds[i] ? filter_kinds[i]->name : NULL;
}

static int find_kind(const char *name, const struct filter_kind **ret, struct err *err)
{
	const char *nearest;
	struct text list = TEXT_INIT;

	for (size_t i = 0; filter_kinds[i]; i++) {
		if (strcmp(filter_kinds[i]->name, name) == 0) {
			*ret = filter_kinds[i];
			return 0;
		}
	}
	nearest = text_nearest(name, kind_name, NULL);
	if (nearest)
		return err_set(err, -EINVAL, "no filter is called '%.64s'; did you mean '%s'?",
			       name, nearest);
	for (size_t i = 0; filter_kinds[i]; i++)
		text_add(&list, "%s%s", i ? ", " : "", filter_kinds[i]->name);
	err_set(err, -EINVAL, "no filter is called '%.64s'; there are %s", name,
		text_string(&list));
	text_done(&list);
	return -EINVAL;
}

static int parse_link(char *text, struct link *link, struct err *err)
{
	char *colon = strchr(text, ':');
	int r;

	if (colon)
		*colon = '\0';
	r = find_kind(text, &link->kind, err);
	if (r < 0)
		return r;
	if (!colon || !colon[1])
		return err_set(err, -EINVAL, "filter '%s' says not what to do; %s",
			       link->kind->name, link->kind->help);
	assert(link->kind->options_bytes <= OPTIONS_BYTES);
	return link->kind->parse(colon + 1, link->options, err);
}

/* How many there are, or -EINVAL. */
static int parse_chain(const char *spec, struct link chain[CHAIN_COUNT], struct err *err)
{
	int count = 0;

	memset(chain, 0, CHAIN_COUNT * sizeof(chain[0]));
	for (;;) {
		const size_t length = strcspn(spec, ";");
		char text[256];
		int r;

		if (count == CHAIN_COUNT)
			return err_set(err, -EINVAL, "a chain has at most %d filters", CHAIN_COUNT);
		if (length == 0 || length >= sizeof(text))
			return err_set(err, -EINVAL,
				       "a filter is written NAME:key=value,key=value; not '%.64s'",
				       spec);
		memcpy(text, spec, length);
		text[length] = '\0';
		r = parse_link(text, &chain[count], err);
		if (r < 0)
			return r;
		count++;
		spec += length;
		if (!*spec)
			return count;
		spec++;
	}
}

int target_filter_check(const char *filter_spec, struct err *err)
{
	struct link chain[CHAIN_COUNT];
	const int count = parse_chain(filter_spec, chain, err);

	return count < 0 ? count : 0;
}

static void filter_free(struct filter *filter)
{
	if (filter->kind->done)
		filter->kind->done(filter);
	free(filter->ready);
	free(filter);
}

static void filter_close(struct queue *queue)
{
	struct filter *filter = (struct filter *)queue;

	if (!filter)
		return;
	filter->inner->ops->close(filter->inner);
	filter_free(filter);
}

/* The counts alone: reap is no place for strings. */
static void copy_counts(struct filter *filter)
{
	const struct queue_facts *inner = &filter->inner->facts;

	filter->queue.facts.enter_count = inner->enter_count;
	filter->queue.facts.fallback_count = inner->fallback_count;
	filter->queue.facts.punts_all = inner->punts_all;
}

static int wrap(struct queue **queue, const struct link *link, const struct queue_options *options,
		struct err *err)
{
	const struct filter_kind *kind = link->kind;
	struct filter *filter = calloc(1, kind->filter_bytes);
	/* Then when the next is due matters. */
	const bool is_virtual = (*queue)->ops->next_ns || options->clock->virtual_ns;
	int r = -ENOMEM;

	if (!filter)
		return err_errno(err, r, "filter '%s'", kind->name);
	filter->kind = kind;
	filter->inner = *queue;
	filter->clock = options->clock;
	filter->depth_count = options->depth_count;
	filter->length_max_bytes = options->length_max_bytes;
	filter->ops = (struct queue_ops){
		.name = kind->name,
		.help = kind->help,
		.is_synchronous = (*queue)->ops->is_synchronous,
		.close = filter_close,
		.push = kind->push,
		.reap = kind->reap,
		.next_ns = is_virtual ? kind->next_ns : NULL,
	};
	filter->queue.ops = &filter->ops;
	filter->queue.target = (*queue)->target;
	filter->ready = calloc(options->depth_count, sizeof(filter->ready[0]));
	if (filter->ready)
		r = kind->setup(filter, link->options, err);
	else
		err_errno(err, r, "filter '%s'", kind->name);
	if (r < 0) {
		filter_free(filter);
		return r;
	}
	copy_counts(filter);
	snprintf(filter->queue.facts.mode, sizeof(filter->queue.facts.mode), "%s over %.70s",
		 kind->name, filter->inner->facts.mode);
	*queue = &filter->queue;
	return 0;
}

/* Takes the outermost count filters off again. */
static void unwrap(struct queue **queue, int count)
{
	for (; count > 0; count--) {
		struct filter *filter = (struct filter *)*queue;

		*queue = filter->inner;
		filter_free(filter);
	}
}

int target_filter(struct queue **queue, const char *filter_spec,
		  const struct queue_options *options, struct err *err)
{
	struct link chain[CHAIN_COUNT];
	const int count = parse_chain(filter_spec, chain, err);

	if (count < 0)
		return count;
	for (int i = count - 1; i >= 0; i--) {
		const int r = wrap(queue, &chain[i], options, err);

		if (r < 0) {
			unwrap(queue, count - 1 - i);
			return r;
		}
	}
	return 0;
}

void filter_pass(struct filter *filter, const struct io *io)
{
	filter->inner->ops->push(filter->inner, io, 1);
	filter->inner_count++;
}

void filter_complete(struct filter *filter, uint32_t tag, int32_t result)
{
	const uint32_t last = (filter->ready_first + filter->ready_count) % filter->depth_count;

	assert(filter->ready_count < filter->depth_count);
	filter->ready[last] = (struct io_done){
		.tag = tag,
		.result = result,
		.done_ns = filter->clock->virtual_ns ? clock_now_ns(filter->clock) : 0,
	};
	filter->ready_count++;
}

static uint32_t take_ready(struct filter *filter, struct io_done *done, uint32_t max_count)
{
	uint32_t count = 0;

	for (; count < max_count && filter->ready_count > 0; count++) {
		done[count] = filter->ready[filter->ready_first];
		filter->ready_first = (filter->ready_first + 1) % filter->depth_count;
		filter->ready_count--;
	}
	return count;
}

int filter_reap(struct queue *queue, struct io_done *done, uint32_t min_count, uint32_t max_count,
		uint64_t deadline_ns)
{
	struct filter *filter = (struct filter *)queue;
	const uint32_t own = take_ready(filter, done, max_count);
	uint32_t wait = min_count > own ? min_count - own : 0;
	int got;

	/* The inner queue is called also when nothing is awaited: a reap starts what was pushed. */
	if (wait > filter->inner_count)
		wait = filter->inner_count;
	if (own == max_count && own > 0)
		return (int)own;
	got = filter->inner->ops->reap(filter->inner, done + own, wait, max_count - own,
				       deadline_ns);
	copy_counts(filter);
	if (got < 0)
		return own ? (int)own : got;
	assert((uint32_t)got <= filter->inner_count);
	filter->inner_count -= (uint32_t)got;
	return (int)own + got;
}

uint64_t filter_next_ns(struct queue *queue)
{
	struct filter *filter = (struct filter *)queue;

	if (filter->ready_count)
		return clock_now_ns(filter->clock);
	return filter->inner->ops->next_ns ? filter->inner->ops->next_ns(filter->inner) : NEVER_NS;
}

void filter_pick_init(struct filter_pick *pick)
{
	if (pick->every_count == 0)
		pick->every_count = 1;
	random_init(&pick->random, pick->seed);
}

bool filter_pick_next(struct filter_pick *pick, const struct io *io)
{
	if (pick->has_at && (pick->at_bytes < io->offset_bytes ||
			     pick->at_bytes - io->offset_bytes >= io->length_bytes))
		return false;
	if (pick->seen_count++ < pick->after_count)
		return false;
	if (pick->has_seed)
		return random_below(&pick->random, pick->every_count) == 0;
	return (pick->seen_count - pick->after_count) % pick->every_count == 0;
}

const struct filter_kind *const filter_kinds[] = {
	&filter_delay,
	&filter_error,
	&filter_corrupt,
	NULL,
};
