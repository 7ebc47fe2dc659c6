/* SPDX-License-Identifier: MIT */

/*
 * tree - sets of files in numbered leaf directories.
 *
 * A file's name follows from its index alone: set, leaf (index / files per directory) written as
 * digits of a base that makes the tree as deep as asked, and the index. So nothing is kept of a
 * file but its size and whether it is there (size 0 = not).
 *
 * Threads take whole leaves; a leaf's files, their sizes and the order of their deletion follow
 * from the seed whatever thread does them.
 */

#include "state/tree.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/defer.h"
#include "base/random.h"
#include "base/units.h"
#include "engine/data.h"
#include "state/crew.h"
#include "state/tree_parts.h"

/* Fits into the second-level caches; blocks of it at any offset are unlike each other. */
#define SPACE_TRIES 8
#define POOL_BYTES (4 * MIB)
#define FRAGMENT_SAMPLES 1000u

static int fill_pool(struct tree *tree, struct err *err)
{
	struct workload workload;
	struct data data;
	int r;

	/* Twice: a write may begin anywhere in the first half. */
	tree->pool = mmap(NULL, 2 * POOL_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);
	if (tree->pool == MAP_FAILED) {
		tree->pool = NULL;
		return err_set(err, -ENOMEM, "no memory for data");
	}
	workload_init(&workload);
	r = data_init(&data, &workload, 4096, clock_gettime_ns() | 1, err);
	if (r == 0)
		data_fill(&data, tree->pool, POOL_BYTES, 0, 1);
	if (r == 0)
		memcpy(tree->pool + POOL_BYTES, tree->pool, POOL_BYTES);
	return r;
}

int tree_open(struct tree **ret, const struct tree_options *options, struct err *err)
{
	struct tree *tree = calloc(1, sizeof(*tree));
	struct stat st;
	int r;

	if (!tree)
		return err_set(err, -ENOMEM, "no memory for files");
	tree->place = (struct tree_place){ .fd = -1, .note_fd = -1 };
	tree_set_options(tree, options);
	r = fill_pool(tree, err);
	if (r == 0)
		r = tree_place_open(&tree->place, options->directory, options->notes, err);
	if (r == 0 && fstat(tree->place.fd, &st) == 0) {
		tree->device = st.st_dev;
		tree->inode = st.st_ino;
	}
	if (r < 0) {
		tree_close(tree);
		return r;
	}
	*ret = tree;
	return 0;
}

void tree_set_options(struct tree *tree, const struct tree_options *options)
{
	tree->options = *options;
	tree->thread_count = options->thread_count ? options->thread_count : crew_default_count();
}

void tree_close(struct tree *tree)
{
	struct tree_tally tally = { 0 };

	if (!tree)
		return;
	/* By many threads what is known by name; the rest, and what failed, one by one. */
	tree->options.stop = NULL;
	tree->options.progress = NULL;
	if (tree->place.fd >= 0)
		(void)tree_delete(tree, PPM, 1, &tally, NULL);
	tree_place_close(&tree->place);
	for (size_t i = 0; i < tree->set_count; i++)
		tree_set_done(&tree->sets[i]);
	free(tree->sets);
	if (tree->pool)
		munmap(tree->pool, 2 * POOL_BYTES);
	free(tree);
}

int tree_room(const struct tree *tree, uint64_t *ret_bytes, uint64_t *ret_files, struct err *err)
{
	struct statvfs vfs;

	if (fstatvfs(tree->place.fd, &vfs) < 0)
		return err_errno(err, -errno, "%s", tree->place.path);
	*ret_bytes = (uint64_t)vfs.f_bavail * vfs.f_frsize;
	/* File systems without a fixed number of files say 0 of 0. */
	*ret_files = vfs.f_files ? vfs.f_favail : UINT64_MAX;
	return 0;
}

/* --- names --------------------------------------------------------------------------- */

void tree_leaf_path(const struct tree_set *set, uint64_t leaf, char path[TREE_PATH_BYTES])
{
	uint64_t scale = 1;
	int length = snprintf(path, TREE_PATH_BYTES, "s%u", set->number);

	for (uint32_t level = 1; level < set->shape.deep_count; level++)
		scale *= set->fan_count;
	for (uint32_t level = 0; level < set->shape.deep_count; level++) {
		length += snprintf(path + length, (size_t)(TREE_PATH_BYTES - length), "/%llx",
				   (unsigned long long)(leaf / scale % set->fan_count));
		scale /= set->fan_count;
		scale = scale ? scale : 1;
	}
	assert(length < TREE_PATH_BYTES);
}

const char *tree_file_name(const struct tree_set *set, uint64_t index, char room[TREE_NAME_BYTES])
{
	if (set->names)
		return set->names[index];
	snprintf(room, TREE_NAME_BYTES, "f%llx", (unsigned long long)index);
	return room;
}

int tree_open_leaf(const struct tree *tree, const struct tree_set *set, uint64_t leaf)
{
	char path[TREE_PATH_BYTES] = ".";
	int fd;

	if (!set->names)
		tree_leaf_path(set, leaf, path);
	fd = openat(tree->place.fd, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

uint64_t tree_leaf_first(const struct tree_set *set, uint64_t leaf)
{
	return leaf * set->shape.per_directory_count;
}

uint64_t tree_leaf_end(const struct tree_set *set, uint64_t leaf)
{
	const uint64_t end = (leaf + 1) * set->shape.per_directory_count;

	return end < set->file_count ? end : set->file_count;
}

/* The leaf's directory, with those above it, made as far as needed. */
static int make_leaf(const struct tree *tree, const char *path, struct err *err)
{
	char part[TREE_PATH_BYTES];
	int fd;

	snprintf(part, sizeof(part), "%s", path);
	for (char *slash = part; slash;) {
		slash = strchr(slash + 1, '/');
		if (slash)
			*slash = '\0';
		if (mkdirat(tree->place.fd, part, 0700) < 0 && errno != EEXIST)
			return err_errno(err, -errno, "directory %s in %s", part, tree->place.path);
		if (slash)
			*slash = '/';
	}
	fd = openat(tree->place.fd, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? err_errno(err, -errno, "%s/%s", tree->place.path, path) : fd;
}

/* --- making -------------------------------------------------------------------------- */

int tree_write_data(const struct tree *tree, int fd, const struct tree_write *write, struct err *err)
{
	uint64_t done = 0;

	while (done < write->bytes) {
		const uint64_t left = write->bytes - done;
		/* At multiples of a line: as good as any offset, and quicker to copy. */
		const uint64_t from = random_below(write->random, POOL_BYTES / 64) * 64;
		const ssize_t got = pwrite(fd, tree->pool + from, left < POOL_BYTES ? left : POOL_BYTES,
					   (off_t)(write->offset_bytes + done));

		if (got < 0)
			return err_errno(err, -errno, "%s: writing a file", tree->place.path);
		done += (uint64_t)got;
	}
	return 0;
}

/*
 * What was deleted in great number a moment ago is not free at once on XFS: inodes are let go in the
 * background, and their blocks come back with the log. There was room when we began, so a sync gives
 * it back; a file system that is really full says so again.
 */
static int create_file(const struct tree *tree, int directory_fd, const char *name)
{
	for (uint32_t tries = 0;; tries++) {
		const int fd = openat(directory_fd, name,
				      O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

		if (fd >= 0 || errno != ENOSPC || tries == SPACE_TRIES)
			return fd < 0 ? -errno : fd;
		syncfs(tree->place.fd);
	}
}

int tree_make_file(const struct tree *tree, int directory_fd, const char *name,
		   const struct tree_write *write, struct err *err)
{
	DEFER(defer_close) int fd = create_file(tree, directory_fd, name);

	if (fd < 0)
		return err_errno(err, fd, "%s: making a file", tree->place.path);
	return tree_write_data(tree, fd, write, err);
}

struct making {
	struct tree *tree;
	struct tree_set *set;
	uint64_t total_bytes;
	atomic_uint_least64_t file_count, bytes;
};

static int make_unit(void *ctx, uint64_t leaf, uint32_t thread, struct err *err)
{
	struct making *m = ctx;
	const uint64_t end = tree_leaf_end(m->set, leaf);
	uint64_t i = tree_leaf_first(m->set, leaf), bytes = 0, made = 0;
	char path[TREE_PATH_BYTES], name[TREE_NAME_BYTES];
	struct random random;
	int r = 0;

	(void)thread;
	tree_leaf_path(m->set, leaf, path);
	DEFER(defer_close) int fd = make_leaf(m->tree, path, err);
	if (fd < 0)
		return fd;
	random_init(&random, leaf);
	for (; i < end && r == 0 && !(m->tree->options.stop && *m->tree->options.stop); i++) {
		const struct tree_write write = { 0, m->set->sizes[i] & ~TREE_GONE, &random };

		r = tree_make_file(m->tree, fd, tree_file_name(m->set, i, name), &write, err);
		m->set->sizes[i] &= ~TREE_GONE;
		bytes += r == 0 ? write.bytes : 0;
		made += r == 0;
	}
	atomic_fetch_add(&m->file_count, made);
	atomic_fetch_add(&m->bytes, bytes);
	return r;
}

static void making_progress(void *ctx)
{
	const struct making *m = ctx;

	m->tree->options.progress(m->tree->options.progress_ctx, atomic_load(&m->bytes),
				  m->total_bytes);
}

void tree_set_done(struct tree_set *set)
{
	for (uint64_t i = 0; set->names && i < set->file_count; i++)
		free(set->names[i]);
	free(set->names);
	free(set->sizes);
}

struct tree_set *tree_add_set(struct tree *tree)
{
	struct tree_set *grown = reallocarray(tree->sets, tree->set_count + 1, sizeof(*grown));

	if (!grown)
		abort();
	tree->sets = grown;
	grown[tree->set_count] = (struct tree_set){ .number = tree->next_number++ };
	return &grown[tree->set_count++];
}

/* The smallest base with which so many digits number all leaves. */
static uint64_t fan_of(uint64_t leaf_count, uint32_t deep_count)
{
	uint64_t fan = (uint64_t)floor(pow((double)leaf_count, 1.0 / deep_count));

	fan = fan > 1 ? fan - 1 : 1;
	for (;; fan++) {
		unsigned __int128 room = 1;

		for (uint32_t i = 0; i < deep_count && room < leaf_count; i++)
			room *= fan;
		if (room >= leaf_count)
			return fan;
	}
}

int tree_make(struct tree *tree, const struct tree_shape *shape, uint64_t *sizes, uint64_t count,
	      struct tree_tally *tally, struct err *err)
{
	struct tree_set *set = tree_add_set(tree);
	struct making m = { .tree = tree, .set = set };
	int r;

	set->shape = *shape;
	set->sizes = sizes;
	set->file_count = count;
	set->leaf_count = (count + shape->per_directory_count - 1) / shape->per_directory_count;
	set->fan_count = fan_of(set->leaf_count, shape->deep_count);
	for (uint64_t i = 0; i < count; i++) {
		m.total_bytes += sizes[i];
		sizes[i] |= TREE_GONE;	/* not there yet */
	}
	r = crew_run(&(struct crew_job){ .unit_count = set->leaf_count,
					 .thread_count = tree->thread_count,
					 .unit = make_unit,
					 .ctx = &m,
					 .stop = tree->options.stop,
					 .progress = tree->options.progress ? making_progress : NULL,
					 .progress_ctx = &m },
		     err);
	tally->file_count += m.file_count;
	tally->bytes += m.bytes;
	return r;
}

/* --- deleting ------------------------------------------------------------------------ */

struct deleting {
	struct tree *tree;
	struct tree_set *set;
	const uint64_t *order;		/* of leaves */
	uint32_t ppm;
	uint64_t seed;
	atomic_uint_least64_t file_count, bytes;
};

static void shuffle(uint64_t *items, uint64_t count, struct random *random)
{
	for (uint64_t i = count; i > 1; i--) {
		const uint64_t k = random_below(random, i), item = items[i - 1];

		items[i - 1] = items[k];
		items[k] = item;
	}
}

/* Those of the leaf that are to go, in random order: how many. */
static uint64_t choose(const struct deleting *d, uint64_t leaf, struct random *random,
		       uint64_t *ret_files)
{
	const uint64_t first = tree_leaf_first(d->set, leaf), end = tree_leaf_end(d->set, leaf);
	uint64_t count = 0;

	for (uint64_t i = first; i < end; i++)
		if (!(d->set->sizes[i] & TREE_GONE) &&
		    (d->ppm >= PPM || random_below(random, PPM) < d->ppm))
			ret_files[count++] = i;
	shuffle(ret_files, count, random);
	return count;
}

static int delete_unit(void *ctx, uint64_t index, uint32_t thread, struct err *err)
{
	struct deleting *d = ctx;
	const uint64_t leaf = d->order[index];
	char path[TREE_PATH_BYTES], room[TREE_NAME_BYTES];
	struct random random;
	uint64_t bytes = 0, count, done = 0;
	int r = 0;

	(void)thread;
	DEFER(defer_free) uint64_t *files =
		calloc(d->set->shape.per_directory_count, sizeof(*files));
	if (!files)
		return err_set(err, -ENOMEM, "no memory to delete files");
	random_init(&random, d->seed ^ random_mix(leaf));
	count = choose(d, leaf, &random, files);
	DEFER(defer_close) int fd = tree_open_leaf(d->tree, d->set, leaf);
	if (fd < 0)
		return count ? err_errno(err, fd, "%s: deleting", d->tree->place.path) : 0;
	for (; done < count && !(d->tree->options.stop && *d->tree->options.stop); done++) {
		const char *name = tree_file_name(d->set, files[done], room);

		if (unlinkat(fd, name, 0) < 0) {
			r = err_errno(err, -errno, "%s: deleting %s", d->tree->place.path, name);
			break;
		}
		bytes += d->set->sizes[files[done]];
		d->set->sizes[files[done]] |= TREE_GONE;
	}
	/* With its last file a directory goes, too; one that still has some stays. */
	if (!d->set->names) {
		tree_leaf_path(d->set, leaf, path);
		(void)unlinkat(d->tree->place.fd, path, AT_REMOVEDIR);
	}
	atomic_fetch_add(&d->file_count, done);
	atomic_fetch_add(&d->bytes, bytes);
	return r;
}

static uint64_t alive_count(const struct tree_set *set)
{
	uint64_t count = 0;

	for (uint64_t i = 0; i < set->file_count; i++)
		count += !(set->sizes[i] & TREE_GONE);
	return count;
}

static int delete_set(struct tree *tree, struct tree_set *set, uint32_t ppm, uint64_t seed,
		      struct tree_tally *tally, struct err *err)
{
	DEFER(defer_free) uint64_t *order = calloc(set->leaf_count, sizeof(*order));
	struct deleting d = { .tree = tree, .set = set, .order = order, .ppm = ppm, .seed = seed };
	struct random random;
	int r;

	if (!order)
		return err_set(err, -ENOMEM, "no memory to delete files");
	for (uint64_t i = 0; i < set->leaf_count; i++)
		order[i] = i;
	random_init(&random, seed);
	shuffle(order, set->leaf_count, &random);
	r = crew_run(&(struct crew_job){ .unit_count = set->leaf_count,
					 .thread_count = tree->thread_count,
					 .unit = delete_unit,
					 .ctx = &d,
					 .stop = tree->options.stop },
		     err);
	tally->file_count += d.file_count;
	tally->bytes += d.bytes;
	return r;
}

int tree_delete(struct tree *tree, uint32_t ppm, uint64_t seed, struct tree_tally *tally,
		struct err *err)
{
	size_t kept = 0;
	int r = 0;

	for (size_t i = 0; i < tree->set_count; i++) {
		struct tree_set *set = &tree->sets[i];
		char name[16];

		if (r == 0)
			r = delete_set(tree, set, ppm, seed + i, tally, err);
		if (alive_count(set)) {
			tree->sets[kept++] = *set;
			continue;
		}
		/* Its directories are empty now; a copied tree is removed here as a whole. */
		snprintf(name, sizeof(name), "s%u", set->number);
		if (tree_place_remove(tree->place.fd, name) < 0 && r == 0)
			r = err_errno(err, -errno, "%s/%s: removing", tree->place.path, name);
		tree_set_done(set);
	}
	tree->set_count = kept;
	return r;
}

int tree_sync(struct tree *tree, struct err *err)
{
	if (syncfs(tree->place.fd) < 0)
		return err_errno(err, -errno, "%s: sync", tree->place.path);
	return 0;
}

/* --- looking ------------------------------------------------------------------------- */

uint64_t tree_file_count(const struct tree *tree)
{
	uint64_t count = 0;

	for (size_t i = 0; i < tree->set_count; i++)
		count += alive_count(&tree->sets[i]);
	return count;
}

/* -1 where the file system does not tell. */
static int64_t extents_of(const struct tree *tree, const struct tree_set *set, uint64_t index)
{
	DEFER(defer_close) int leaf =
		tree_open_leaf(tree, set, index / set->shape.per_directory_count);
	struct fiemap map = { .fm_length = FIEMAP_MAX_OFFSET };
	char room[TREE_NAME_BYTES];

	if (leaf < 0)
		return -1;
	DEFER(defer_close) int fd = openat(leaf, tree_file_name(set, index, room),
					   O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || ioctl(fd, FS_IOC_FIEMAP, &map) < 0)
		return -1;
	return map.fm_mapped_extents;
}

double tree_extents_per_file(struct tree *tree)
{
	uint64_t total = tree_file_count(tree), seen = 0, extents = 0, taken = 0;

	if (!total || syncfs(tree->place.fd) < 0)
		return 0;
	for (size_t s = 0; s < tree->set_count; s++) {
		const struct tree_set *set = &tree->sets[s];

		for (uint64_t i = 0; i < set->file_count; i++) {
			int64_t count;

			if (set->sizes[i] & TREE_GONE)
				continue;
			/* Evenly: file k of n is taken when k * 1000 / n goes up. */
			seen++;
			if (total > FRAGMENT_SAMPLES && (seen - 1) * FRAGMENT_SAMPLES / total ==
								seen * FRAGMENT_SAMPLES / total)
				continue;
			count = extents_of(tree, set, i);
			if (count < 0)
				return 0;
			extents += (uint64_t)count;
			taken++;
		}
	}
	return taken ? (double)extents / (double)taken : 0;
}

uint64_t tree_forecast_bytes(const struct step_dirty *dirty, uint64_t free_bytes)
{
	struct profile profile;

	if (dirty->from[0] || profile_of(dirty, free_bytes, UINT64_MAX, &profile, NULL) < 0)
		return 0;
	return profile_bytes(&profile);
}
