/* SPDX-License-Identifier: MIT */

/*
 * What was written, by logical 4 KiB page, sparse. A page is one tag while its eight
 * sectors agree; else a struct mixed with a tag per sector and bytes for those that were
 * written as bytes. A full drive of unique tags costs 9 bytes a page.
 */

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/drive.h"

#define SECTOR 512u

int content_init(struct content *c, uint64_t capacity_bytes, struct err *err)
{
	const uint64_t pages = (capacity_bytes + CONTENT_PAGE - 1) / CONTENT_PAGE;

	memset(c, 0, sizeof(*c));
	c->leaf_count = (pages + CONTENT_LEAF - 1) / CONTENT_LEAF;
	c->leaves = calloc(c->leaf_count, sizeof(struct leaf *));
	if (!c->leaves)
		return err_set(err, -ENOMEM, "sim: no memory for content");
	return 0;
}

static struct mixed *as_mixed(uint64_t value)
{
	return (struct mixed *)(uintptr_t)value;
}

void content_drop(struct cell cell)
{
	if (cell.kind != CELL_MIXED)
		return;
	free(as_mixed(cell.value)->bytes);
	free(as_mixed(cell.value));
}

void content_done(struct content *c)
{
	for (uint64_t i = 0; c->leaves && i < c->leaf_count; i++) {
		struct leaf *leaf = c->leaves[i];

		for (uint32_t j = 0; leaf && j < CONTENT_LEAF; j++)
			content_drop((struct cell){ leaf->values[j], leaf->kinds[j] });
		free(leaf);
	}
	free(c->leaves);
	memset(c, 0, sizeof(*c));
}

static struct leaf *leaf_for(struct content *c, uint64_t page)
{
	struct leaf **leaf = &c->leaves[page / CONTENT_LEAF];

	assert(page / CONTENT_LEAF < c->leaf_count);
	if (!*leaf) {
		*leaf = calloc(1, sizeof(**leaf));
		if (!*leaf)
			abort();	/* no room for what the drive must remember */
		c->memory_bytes += sizeof(**leaf);
	}
	return *leaf;
}

static struct cell cell_at(const struct content *c, uint64_t page)
{
	const struct leaf *leaf = c->leaves[page / CONTENT_LEAF];

	if (!leaf)
		return (struct cell){ 0, CELL_EMPTY };
	return (struct cell){ leaf->values[page % CONTENT_LEAF], leaf->kinds[page % CONTENT_LEAF] };
}

struct cell content_take(struct content *c, uint64_t page)
{
	struct cell cell = cell_at(c, page);
	struct mixed *copy;

	if (cell.kind != CELL_MIXED)
		return cell;
	copy = malloc(sizeof(*copy));
	if (!copy)
		abort();
	*copy = *as_mixed(cell.value);
	if (copy->bytes) {
		copy->bytes = malloc(CONTENT_PAGE);
		if (!copy->bytes)
			abort();
		memcpy(copy->bytes, as_mixed(cell.value)->bytes, CONTENT_PAGE);
	}
	cell.value = (uint64_t)(uintptr_t)copy;
	return cell;
}

void content_put(struct content *c, uint64_t page, struct cell cell)
{
	struct leaf *leaf = leaf_for(c, page);
	const uint32_t i = page % CONTENT_LEAF;

	content_drop((struct cell){ leaf->values[i], leaf->kinds[i] });
	leaf->values[i] = cell.value;
	leaf->kinds[i] = cell.kind;
}

/* The page as a struct mixed that may be changed. */
static struct mixed *make_mixed(struct content *c, uint64_t page, bool with_bytes)
{
	struct leaf *leaf = leaf_for(c, page);
	const uint32_t i = page % CONTENT_LEAF;
	struct mixed *mixed;

	if (leaf->kinds[i] == CELL_MIXED) {
		mixed = as_mixed(leaf->values[i]);
	} else {
		mixed = calloc(1, sizeof(*mixed));
		if (!mixed)
			abort();
		for (int sector = 0; sector < 8; sector++)
			mixed->tags[sector] = leaf->kinds[i] == CELL_TAG ? leaf->values[i] : 0;
		leaf->kinds[i] = CELL_MIXED;
		leaf->values[i] = (uint64_t)(uintptr_t)mixed;
	}
	if (with_bytes && !mixed->bytes) {
		mixed->bytes = calloc(1, CONTENT_PAGE);
		if (!mixed->bytes)
			abort();
	}
	return mixed;
}

static bool is_zero(const unsigned char *bytes, size_t length)
{
	return bytes[0] == 0 && memcmp(bytes, bytes + 1, length - 1) == 0;
}

static void write_sectors(struct content *c, uint64_t offset, uint64_t length,
			  const unsigned char *bytes)
{
	struct mixed *mixed = make_mixed(c, offset / CONTENT_PAGE, true);
	const uint32_t in_page = offset % CONTENT_PAGE;

	memcpy(mixed->bytes + in_page, bytes, length);
	for (uint64_t at = 0; at < length; at += SECTOR)
		mixed->tags[(in_page + at) / SECTOR] =
			is_zero(bytes + at, SECTOR) ? SIM_TAG_ZEROS : SIM_TAG_BYTES;
}

static void write_tag(struct content *c, uint64_t offset, uint64_t length, uint64_t tag)
{
	const uint64_t page = offset / CONTENT_PAGE;
	const struct cell old = cell_at(c, page);
	const uint32_t in_page = offset % CONTENT_PAGE;
	struct mixed *mixed;

	if (length == CONTENT_PAGE) {
		content_put(c, page, (struct cell){ tag, CELL_TAG });
		return;
	}
	if (old.kind == CELL_TAG && old.value == tag)
		return;
	mixed = make_mixed(c, page, false);
	for (uint64_t at = 0; at < length; at += SECTOR)
		mixed->tags[(in_page + at) / SECTOR] = tag;
}

void content_write(struct content *c, uint64_t offset, uint64_t length, const void *bytes,
		   uint64_t tag)
{
	const unsigned char *from = bytes;

	assert(offset % SECTOR == 0 && length % SECTOR == 0);
	while (length > 0) {
		const uint64_t room = CONTENT_PAGE - offset % CONTENT_PAGE;
		const uint64_t part = length < room ? length : room;

		if (!from)
			write_tag(c, offset, part, tag);
		else if (is_zero(from, part))
			write_tag(c, offset, part, SIM_TAG_ZEROS);
		else
			write_sectors(c, offset, part, from);
		from = from ? from + part : NULL;
		offset += part;
		length -= part;
	}
}

uint64_t content_tag(const struct content *c, uint64_t offset)
{
	const struct cell cell = cell_at(c, offset / CONTENT_PAGE);

	if (cell.kind == CELL_EMPTY)
		return SIM_TAG_ZEROS;
	if (cell.kind == CELL_TAG)
		return cell.value;
	return as_mixed(cell.value)->tags[offset % CONTENT_PAGE / SECTOR];
}

void content_fill_tag(uint64_t tag, unsigned char *ret, size_t length)
{
	for (size_t i = 0; i + sizeof(tag) <= length; i += sizeof(tag))
		memcpy(ret + i, &tag, sizeof(tag));
}

void content_read(const struct content *c, uint64_t offset, unsigned char *ret)
{
	const uint64_t tag = content_tag(c, offset);
	const struct cell cell = cell_at(c, offset / CONTENT_PAGE);

	if (tag == SIM_TAG_BYTES && cell.kind == CELL_MIXED)
		memcpy(ret, as_mixed(cell.value)->bytes + offset % CONTENT_PAGE, SECTOR);
	else
		content_fill_tag(tag, ret, SECTOR);
}

/* Silent corruption of one sector: a bit of the tag, or of the bytes. */
void content_flip(struct content *c, uint64_t offset)
{
	struct mixed *mixed = make_mixed(c, offset / CONTENT_PAGE, false);
	uint64_t *tag = &mixed->tags[offset % CONTENT_PAGE / SECTOR];

	if (*tag == SIM_TAG_BYTES)
		mixed->bytes[offset % CONTENT_PAGE] ^= 1;
	else
		*tag ^= SIM_TAG_CORRUPT_BIT;
}
