/* SPDX-License-Identifier: MIT */

/*
 * What was written, by logical 4 KiB page, sparse. A page is one tag while its eight
 * sectors agree; else a struct mixed with a tag per sector and bytes for those that were
 * written as bytes. A full drive of unique tags costs 8 bytes a page.
 */

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "sim/drive.h"

#define SECTOR 512u

/* Zero pages until touched: an empty terabyte costs nothing. */
static void *content_memory(uint64_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == MAP_FAILED)
		return NULL;
	madvise(memory, bytes, MADV_HUGEPAGE);
	return memory;
}

static uint64_t mixed_words(const struct content *c)
{
	return c->pages / 64 + 1;
}

int content_init(struct content *c, uint64_t capacity_bytes, struct err *err)
{
	memset(c, 0, sizeof(*c));
	if (capacity_bytes == 0)
		return 0;
	c->pages = (capacity_bytes + CONTENT_PAGE - 1) / CONTENT_PAGE;
	c->values = content_memory(c->pages * sizeof(*c->values));
	c->mixed = content_memory(mixed_words(c) * sizeof(*c->mixed));
	if (!c->values || !c->mixed)
		return err_set(err, -ENOMEM, "sim: no memory for content");
	return 0;
}

static struct mixed *as_mixed(uint64_t value)
{
	return (struct mixed *)(uintptr_t)value;
}

void content_drop(struct cell cell)
{
	if (!cell.is_mixed)
		return;
	free(as_mixed(cell.value)->bytes);
	free(as_mixed(cell.value));
}

static struct cell cell_at(const struct content *c, uint64_t page)
{
	assert(page < c->pages);
	return (struct cell){ c->values[page], c->mixed[page / 64] >> (page % 64) & 1 };
}

void content_done(struct content *c)
{
	for (uint64_t word = 0; c->mixed && word < mixed_words(c); word++) {
		for (uint64_t bits = c->mixed[word]; bits; bits &= bits - 1)
			content_drop(cell_at(c, word * 64 + (uint64_t)__builtin_ctzll(bits)));
	}
	if (c->values)
		munmap(c->values, c->pages * sizeof(*c->values));
	if (c->mixed)
		munmap(c->mixed, mixed_words(c) * sizeof(*c->mixed));
	memset(c, 0, sizeof(*c));
}

struct cell content_take(struct content *c, uint64_t page)
{
	struct cell cell = cell_at(c, page);
	struct mixed *copy;

	if (!cell.is_mixed)
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
	const uint64_t bit = 1ull << (page % 64);
	uint64_t *word = &c->mixed[page / 64];

	content_drop(cell_at(c, page));
	c->values[page] = cell.value;
	if (cell.is_mixed)
		*word |= bit;
	else if (*word & bit)
		*word &= ~bit;
}

/* The page as a struct mixed that may be changed. */
static struct mixed *make_mixed(struct content *c, uint64_t page, bool with_bytes)
{
	const struct cell old = cell_at(c, page);
	struct mixed *mixed;

	if (old.is_mixed) {
		mixed = as_mixed(old.value);
	} else {
		mixed = calloc(1, sizeof(*mixed));
		if (!mixed)
			abort();
		for (int sector = 0; sector < 8; sector++)
			mixed->tags[sector] = old.value;
		content_put(c, page, (struct cell){ (uint64_t)(uintptr_t)mixed, true });
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
		content_put(c, page, (struct cell){ tag, false });
		return;
	}
	if (!old.is_mixed && old.value == tag)
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

	if (!cell.is_mixed)
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

	if (tag == SIM_TAG_BYTES && cell.is_mixed)
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
