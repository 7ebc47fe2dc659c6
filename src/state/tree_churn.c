/* SPDX-License-Identifier: MIT */

/*
 * tree_churn - aging: what is there is replaced, bit by bit, everywhere at about the same time.
 * Each pass goes through all leaves in a new order and writes a part of what is to be written;
 * between passes everything goes to the drive, so that each pass allocates in what the last
 * one left.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/defer.h"
#include "base/units.h"
#include "state/crew.h"
#include "state/tree_parts.h"

#define PASSES 8u

struct place {
	struct tree_set *set;
	uint64_t leaf;
};

struct churning {
	struct tree *tree;
	struct place *places;
	uint64_t place_count;
	uint64_t unit_bytes;		/* written by one unit */
	uint64_t seed;
	atomic_uint_least64_t file_count, bytes;
};

/* A file that is there, or the end. */
static uint64_t pick(const struct place *p, struct random *random)
{
	const uint64_t first = tree_leaf_first(p->set, p->leaf), end = tree_leaf_end(p->set, p->leaf);

	for (int tries = 0; tries < 64; tries++) {
		const uint64_t i = first + random_below(random, end - first);

		if (!(p->set->sizes[i] & TREE_GONE))
			return i;
	}
	return end;
}

/* Away with it, and another in its place, of the size of one of its neighbours. */
static int replace(const struct tree *tree, const struct place *p, int fd, uint64_t index,
		   struct tree_write *write, struct err *err)
{
	char room[TREE_NAME_BYTES];
	const char *name = tree_file_name(p->set, index, room);
	const uint64_t like = pick(p, write->random);
	int r;

	write->bytes = p->set->sizes[like];
	if (unlinkat(fd, name, 0) < 0)
		return err_errno(err, -errno, "%s: deleting %s", tree->place.path, name);
	p->set->sizes[index] |= TREE_GONE;
	r = tree_make_file(tree, fd, name, write, err);
	if (r == -ENOSPC) {
		unlinkat(fd, name, 0);
		write->bytes = 0;
		return 0;
	}
	if (r == 0)
		p->set->sizes[index] = write->bytes;
	return r;
}

/* A piece of it in place; or cut to half, and the half written anew. */
static int rewrite(const struct tree *tree, const struct place *p, int fd, uint64_t index,
		   struct tree_write *write, struct err *err)
{
	char room[TREE_NAME_BYTES];
	const char *name = tree_file_name(p->set, index, room);
	const uint64_t size = p->set->sizes[index];
	DEFER(defer_close) int file = openat(fd, name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);

	if (file < 0)
		return err_errno(err, -errno, "%s: %s", tree->place.path, name);
	write->offset_bytes = size > 1 ? random_below(write->random, size) : 0;
	write->bytes = size - write->offset_bytes;
	if (random_below(write->random, 2)) {
		write->offset_bytes = size / 2;
		write->bytes = size - size / 2;
		if (ftruncate(file, (off_t)write->offset_bytes) < 0)
			return err_errno(err, -errno, "%s: %s", tree->place.path, name);
	}
	return tree_write_data(tree, file, write, err);
}

static int churn_unit(void *ctx, uint64_t index, uint32_t thread, struct err *err)
{
	struct churning *c = ctx;
	const struct place *p = &c->places[index];
	DEFER(defer_close) int fd = tree_open_leaf(c->tree, p->set, p->leaf);
	struct random random;
	uint64_t bytes = 0, files = 0;
	int r = 0;

	(void)thread;
	/* Without a file left its directory is gone as well. */
	if (fd < 0)
		return 0;
	random_init(&random, c->seed ^ random_mix(index + 1));
	while (r == 0 && bytes < c->unit_bytes && !(c->tree->options.stop && *c->tree->options.stop)) {
		struct tree_write write = { 0, 0, &random };
		const uint64_t file = pick(p, &random);

		if (file == tree_leaf_end(p->set, p->leaf))
			break;
		r = random_below(&random, 3) == 0 ? replace(c->tree, p, fd, file, &write, err) :
						    rewrite(c->tree, p, fd, file, &write, err);
		bytes += write.bytes;
		files++;
		if (files > 1000000)
			break;
	}
	atomic_fetch_add(&c->bytes, bytes);
	atomic_fetch_add(&c->file_count, files);
	return r == -ENOSPC ? 0 : r;
}

static int list_places(struct churning *c, struct err *err)
{
	uint64_t count = 0;

	for (size_t s = 0; s < c->tree->set_count; s++)
		count += c->tree->sets[s].leaf_count;
	c->places = calloc(count ? count : 1, sizeof(*c->places));
	if (!c->places)
		return err_set(err, -ENOMEM, "no memory to age files");
	for (size_t s = 0; s < c->tree->set_count; s++)
		for (uint64_t leaf = 0; leaf < c->tree->sets[s].leaf_count; leaf++)
			c->places[c->place_count++] = (struct place){ &c->tree->sets[s], leaf };
	return 0;
}

static void shuffle(struct churning *c, struct random *random)
{
	for (uint64_t i = c->place_count; i > 1; i--) {
		const uint64_t k = random_below(random, i);
		const struct place place = c->places[i - 1];

		c->places[i - 1] = c->places[k];
		c->places[k] = place;
	}
}

static int churn_pass(struct churning *c, struct err *err)
{
	int r = crew_run(&(struct crew_job){ .unit_count = c->place_count,
					     .thread_count = c->tree->thread_count,
					     .unit = churn_unit,
					     .ctx = c,
					     .stop = c->tree->options.stop },
			 err);

	return r < 0 ? r : tree_sync(c->tree, err);
}

int tree_churn(struct tree *tree, uint64_t bytes, uint64_t seed, struct tree_tally *tally,
	       struct err *err)
{
	struct churning c = { .tree = tree };
	struct random random;
	int r = list_places(&c, err);

	random_init(&random, seed);
	for (uint32_t pass = 0; r == 0 && c.place_count && pass < PASSES; pass++) {
		const uint64_t done = atomic_load(&c.bytes);

		/* What earlier passes wrote too much or too little is made up for. */
		if (done >= bytes * (pass + 1) / PASSES)
			continue;
		c.unit_bytes = (bytes * (pass + 1) / PASSES - done + c.place_count - 1) / c.place_count;
		c.seed = random_u64(&random);
		shuffle(&c, &random);
		r = churn_pass(&c, err);
		if (tree->options.progress)
			tree->options.progress(tree->options.progress_ctx, atomic_load(&c.bytes), bytes);
	}
	tally->file_count += atomic_load(&c.file_count);
	tally->bytes += atomic_load(&c.bytes);
	free(c.places);
	return r;
}
