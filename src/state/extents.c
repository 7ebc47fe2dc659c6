/* SPDX-License-Identifier: MIT */
#include "state/extents.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "state/work.h"

/* How far from the cursor a run that holds the file whole is looked for. */
#define LOOK_BLOCKS (1u << 18)

struct file {
	size_t first_piece, piece_count;
};

struct piece {
	uint32_t block, count;
};

/*
 * Pieces of a deleted file stay in their array until it is more than half dead; then it is
 * packed. Files are in no order: a deleted one gives its place to the last.
 */
struct extents {
	uint64_t offset_bytes;
	uint32_t block_count, free_count, cursor;
	uint64_t *used;			/* a bit per block */
	struct file *files;
	size_t file_count, file_room;
	struct piece *pieces;
	size_t piece_count, piece_room, piece_live;
};

static bool is_used(const struct extents *e, uint32_t block)
{
	return e->used[block / 64] >> (block % 64) & 1;
}

/* The first block from at on that is used or not as asked; block_count when there is none. */
static uint32_t find(const struct extents *e, uint32_t at, bool used)
{
	while (at < e->block_count) {
		uint64_t word = e->used[at / 64];

		if (!used)
			word = ~word;
		word >>= at % 64;
		if (word) {
			at += (uint32_t)__builtin_ctzll(word);
			break;
		}
		at = (at / 64 + 1) * 64;
	}
	return at < e->block_count ? at : e->block_count;
}

static void mark(struct extents *e, const struct piece *piece, bool used)
{
	for (uint32_t i = piece->block; i < piece->block + piece->count; i++) {
		assert(is_used(e, i) != used);
		e->used[i / 64] ^= 1ull << (i % 64);
	}
	if (used)
		e->free_count -= piece->count;
	else
		e->free_count += piece->count;
}

int extents_new(struct extents **ret, const struct span *range, struct err *err)
{
	const uint64_t blocks = range->size_bytes / EXTENT_BLOCK_BYTES;
	struct extents *e = calloc(1, sizeof(*e));

	if (e)
		e->used = calloc(blocks / 64 + 1, sizeof(*e->used));
	if (!e || !e->used || blocks >= UINT32_MAX) {
		extents_free(e);
		return err_set(err, -ENOMEM, "no memory for a map of %llu blocks",
			       (unsigned long long)blocks);
	}
	e->offset_bytes = range->offset_bytes;
	e->block_count = e->free_count = (uint32_t)blocks;
	*ret = e;
	return 0;
}

void extents_free(struct extents *e)
{
	if (!e)
		return;
	free(e->used);
	free(e->files);
	free(e->pieces);
	free(e);
}

uint64_t extents_free_bytes(const struct extents *e)
{
	return (uint64_t)e->free_count * EXTENT_BLOCK_BYTES;
}

uint64_t extents_file_count(const struct extents *e)
{
	return e->file_count;
}

uint64_t extents_piece_count(const struct extents *e)
{
	return e->piece_live;
}

static void *grown(void *items, size_t *room, size_t item_bytes)
{
	*room = *room ? *room * 2 : 1024;
	items = reallocarray(items, *room, item_bytes);
	if (!items)
		abort();
	return items;
}

/* A free run of count near the cursor, or block_count. */
static uint32_t find_run(const struct extents *e, uint32_t count)
{
	uint32_t at = e->cursor, looked = 0;

	while (looked < LOOK_BLOCKS) {
		const uint32_t start = find(e, at, false);
		const uint32_t end = find(e, start, true);

		if (end - start >= count && start < e->block_count)
			return start;
		looked += end - at + 1;
		at = end;
		if (at >= e->block_count) {
			if (looked > e->block_count)
				break;
			at = 0;
		}
	}
	return e->block_count;
}

static void add_piece(struct extents *e, struct piece piece)
{
	mark(e, &piece, true);
	if (e->piece_count == e->piece_room)
		e->pieces = grown(e->pieces, &e->piece_room, sizeof(*e->pieces));
	e->pieces[e->piece_count++] = piece;
	e->piece_live++;
	e->cursor = piece.block + piece.count;
}

static void allocate(struct extents *e, uint32_t count)
{
	const uint32_t run = find_run(e, count);

	if (run < e->block_count) {
		add_piece(e, (struct piece){ run, count });
		return;
	}
	while (count) {
		uint32_t start = find(e, e->cursor, false), end;

		if (start == e->block_count) {
			e->cursor = 0;
			continue;
		}
		end = find(e, start, true);
		end = end - start < count ? end : start + count;
		add_piece(e, (struct piece){ start, end - start });
		count -= end - start;
	}
}

static struct span span_of(const struct extents *e, const struct piece *piece)
{
	return (struct span){ e->offset_bytes + (uint64_t)piece->block * EXTENT_BLOCK_BYTES,
			      (uint64_t)piece->count * EXTENT_BLOCK_BYTES };
}

/* Live pieces to the front; the order of files is that of their pieces nowhere needed. */
static void pack(struct extents *e)
{
	struct piece *packed = calloc(e->piece_room, sizeof(*packed));
	size_t at = 0;

	if (!packed)
		abort();
	for (size_t i = 0; i < e->file_count; i++) {
		struct file *file = &e->files[i];

		memcpy(packed + at, e->pieces + file->first_piece,
		       file->piece_count * sizeof(*packed));
		file->first_piece = at;
		at += file->piece_count;
	}
	free(e->pieces);
	e->pieces = packed;
	e->piece_count = at;
}

int extents_make(struct extents *e, uint64_t bytes,
		 int (*each)(void *ctx, const struct span *span, struct err *err), void *ctx,
		 struct err *err)
{
	const uint64_t count = (bytes + EXTENT_BLOCK_BYTES - 1) / EXTENT_BLOCK_BYTES;
	struct file file = { .first_piece = e->piece_count };
	int r = 0;

	if (count > e->free_count || !e->free_count)
		return err_set(err, -ENOSPC, "no room for a file of %llu bytes",
			       (unsigned long long)bytes);
	allocate(e, (uint32_t)(count ? count : 1));
	file.piece_count = e->piece_count - file.first_piece;
	if (e->file_count == e->file_room)
		e->files = grown(e->files, &e->file_room, sizeof(*e->files));
	e->files[e->file_count++] = file;
	for (size_t i = 0; r == 0 && i < file.piece_count; i++) {
		const struct span span = span_of(e, &e->pieces[file.first_piece + i]);

		r = each(ctx, &span, err);
	}
	return r;
}

void extents_delete(struct extents *e, uint64_t count, struct random *random)
{
	for (; count && e->file_count; count--) {
		struct file *file = &e->files[random_below(random, e->file_count)];

		for (size_t i = 0; i < file->piece_count; i++)
			mark(e, &e->pieces[file->first_piece + i], false);
		e->piece_live -= file->piece_count;
		*file = e->files[--e->file_count];
	}
	if (e->piece_live < e->piece_count / 2)
		pack(e);
}

int extents_each_free(const struct extents *e,
		      int (*each)(void *ctx, const struct span *span, struct err *err), void *ctx,
		      struct err *err)
{
	uint32_t at = 0;

	for (;;) {
		const uint32_t start = find(e, at, false), end = find(e, start, true);
		const struct piece run = { start, end - start };
		struct span span;
		int r;

		if (start == e->block_count)
			return 0;
		span = span_of(e, &run);
		r = each(ctx, &span, err);
		if (r < 0)
			return r;
		at = end;
	}
}
