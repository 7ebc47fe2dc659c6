/* SPDX-License-Identifier: MIT */
#include "model/sorter.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/defer.h"

#define BUFFER_RECORDS 65536u		/* sorted in memory; 2.5 MiB of a trace's */
#define FIRST_RECORDS 256u		/* times 4 is BUFFER_RECORDS in the end */
#define MERGE_RECORDS 65536u		/* of all windows of a merge together */
#define WINDOW_RECORDS_MIN 16u
#define WINDOW_RECORDS 1024u		/* of a cursor: 40 KiB, some 5 us to fetch */

struct run {
	uint64_t first, count;		/* records of the file */
};

struct sorter {
	size_t record_bytes, key_offset;
	int fd;
	char *buffer, *other;		/* owned; other: of the same size, for sorting */
	size_t count, room;		/* of the buffer: grows up to BUFFER_RECORDS */
	bool unsorted;			/* the buffer is out of order */
	uint64_t last_key;		/* of the buffer */
	uint64_t written_count, written_key;
	struct run *runs;		/* owned */
	size_t run_count, run_room;
};

int sorter_file(struct err *err)
{
	const char *directory = getenv("TMPDIR");
	char name[4096];
	int fd;

	if (!directory || !*directory)
		directory = "/tmp";
	fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0)
		return fd;
	/* Not every file system has files without a name; then it is taken away at once. */
	if ((size_t)snprintf(name, sizeof(name), "%s/tare.XXXXXX", directory) >= sizeof(name))
		return err_set(err, -ENAMETOOLONG, "TMPDIR is longer than a path may be");
	fd = mkostemp(name, O_CLOEXEC);
	if (fd < 0)
		return err_errno(err, -errno, "a temporary file in %s", directory);
	unlink(name);
	return fd;
}

int sorter_new(struct sorter **ret, size_t record_bytes, size_t key_offset, struct err *err)
{
	struct sorter *sorter = calloc(1, sizeof(*sorter));

	assert(key_offset + sizeof(uint64_t) <= record_bytes);
	if (!sorter)
		return err_set(err, -ENOMEM, "no memory to sort");
	sorter->record_bytes = record_bytes;
	sorter->key_offset = key_offset;
	sorter->fd = sorter_file(err);
	if (sorter->fd < 0) {
		const int r = sorter->fd;

		sorter_free(sorter);
		return r;
	}
	*ret = sorter;
	return 0;
}

static int grow(struct sorter *sorter, struct err *err)
{
	const size_t room = sorter->room ? sorter->room * 4 : FIRST_RECORDS;
	char *buffer = realloc(sorter->buffer, room * sorter->record_bytes);
	char *other = realloc(sorter->other, room * sorter->record_bytes);

	sorter->buffer = buffer ? buffer : sorter->buffer;
	sorter->other = other ? other : sorter->other;
	if (!buffer || !other)
		return err_set(err, -ENOMEM, "no memory to sort");
	sorter->room = room;
	return 0;
}

void sorter_free(struct sorter *sorter)
{
	if (!sorter)
		return;
	if (sorter->fd >= 0)
		close(sorter->fd);
	free(sorter->buffer);
	free(sorter->other);
	free(sorter->runs);
	free(sorter);
}

static uint64_t key_of(const struct sorter *sorter, const char *record)
{
	uint64_t key;

	memcpy(&key, record + sorter->key_offset, sizeof(key));
	return key;
}

/* Two neighbours in order, [a, middle) and [middle, end), into one; equal keys keep their order. */
static void merge_halves(const struct sorter *sorter, const char *from, char *to, size_t middle,
			 size_t end)
{
	const size_t bytes = sorter->record_bytes;
	size_t a = 0, b = middle;

	for (size_t i = 0; i < end; i++) {
		const bool takes_a = a < middle && (b >= end || key_of(sorter, from + a * bytes) <=
									key_of(sorter, from + b * bytes));
		const size_t at = takes_a ? a++ : b++;

		memcpy(to + i * bytes, from + at * bytes, bytes);
	}
}

/* Bottom up, stable. */
static void sort_buffer(struct sorter *sorter)
{
	const size_t bytes = sorter->record_bytes;

	for (size_t width = 1; width < sorter->count; width *= 2) {
		char *swap = sorter->buffer;

		for (size_t at = 0; at < sorter->count; at += 2 * width) {
			const size_t left = sorter->count - at;
			const size_t end = left < 2 * width ? left : 2 * width;

			merge_halves(sorter, sorter->buffer + at * bytes, sorter->other + at * bytes,
				     width < end ? width : end, end);
		}
		sorter->buffer = sorter->other;
		sorter->other = swap;
	}
	sorter->unsorted = false;
}

static int write_all(int fd, const char *data, size_t bytes, off_t offset, struct err *err)
{
	while (bytes > 0) {
		const ssize_t done = pwrite(fd, data, bytes, offset);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0) {
			err_errno(err, -errno, "a temporary file");
			return err_hint(err, "TMPDIR names a directory with room");
		}
		data += done;
		bytes -= (size_t)done;
		offset += done;
	}
	return 0;
}

static int add_run(struct sorter *sorter, struct err *err)
{
	if (sorter->run_count == sorter->run_room) {
		const size_t room = sorter->run_room ? sorter->run_room * 2 : 16;
		struct run *grown = reallocarray(sorter->runs, room, sizeof(*grown));

		if (!grown)
			return err_set(err, -ENOMEM, "no memory to sort");
		sorter->runs = grown;
		sorter->run_room = room;
	}
	sorter->runs[sorter->run_count++] = (struct run){ .first = sorter->written_count };
	return 0;
}

/* The buffer goes on with the last run where it can, else it begins one. */
static int flush(struct sorter *sorter, struct err *err)
{
	const size_t bytes = sorter->record_bytes;
	int r = 0;

	if (sorter->count == 0)
		return 0;
	if (sorter->unsorted)
		sort_buffer(sorter);
	if (sorter->run_count == 0 || key_of(sorter, sorter->buffer) < sorter->written_key)
		r = add_run(sorter, err);
	if (r == 0)
		r = write_all(sorter->fd, sorter->buffer, sorter->count * bytes,
			      (off_t)(sorter->written_count * bytes), err);
	if (r < 0)
		return r;
	sorter->written_key = key_of(sorter, sorter->buffer + (sorter->count - 1) * bytes);
	sorter->runs[sorter->run_count - 1].count += sorter->count;
	sorter->written_count += sorter->count;
	sorter->count = 0;
	sorter->last_key = 0;
	return 0;
}

int sorter_add(struct sorter *sorter, const void *record, struct err *err)
{
	const uint64_t key = key_of(sorter, record);
	int r = 0;

	if (sorter->count == BUFFER_RECORDS)
		r = flush(sorter, err);
	else if (sorter->count == sorter->room)
		r = grow(sorter, err);
	if (r < 0)
		return r;
	sorter->unsorted |= key < sorter->last_key;
	sorter->last_key = key;
	memcpy(sorter->buffer + sorter->count * sorter->record_bytes, record,
	       sorter->record_bytes);
	sorter->count++;
	return 0;
}

/* --- merging: a heap of the runs, by their next key, then by their number ------------------- */

struct merge {
	const struct sorter *sorter;
	struct cursor *cursors;		/* owned, by run */
	size_t *heap;			/* owned; of runs that are not at their end */
	size_t heap_count;
};

static bool is_before(struct merge *m, size_t a, size_t b)
{
	const uint64_t key_a = key_of(m->sorter, cursor_peek(&m->cursors[a]));
	const uint64_t key_b = key_of(m->sorter, cursor_peek(&m->cursors[b]));

	return key_a != key_b ? key_a < key_b : a < b;
}

static void sift_down(struct merge *m, size_t at)
{
	for (;;) {
		size_t least = at;

		for (size_t child = 2 * at + 1; child <= 2 * at + 2; child++) {
			if (child < m->heap_count && is_before(m, m->heap[child], m->heap[least]))
				least = child;
		}
		if (least == at)
			return;
		const size_t swap = m->heap[at];
		m->heap[at] = m->heap[least];
		m->heap[least] = swap;
		at = least;
	}
}

static int merge_init(struct merge *m, struct err *err)
{
	const struct sorter *sorter = m->sorter;
	size_t window = MERGE_RECORDS / sorter->run_count;
	int r = 0;

	m->cursors = calloc(sorter->run_count, sizeof(*m->cursors));
	m->heap = calloc(sorter->run_count, sizeof(*m->heap));
	if (!m->cursors || !m->heap)
		return err_set(err, -ENOMEM, "no memory to merge");
	if (window < WINDOW_RECORDS_MIN)
		window = WINDOW_RECORDS_MIN;
	for (size_t i = 0; r == 0 && i < sorter->run_count; i++) {
		const struct run *run = &sorter->runs[i];
		struct cursor *cursor = &m->cursors[i];

		*cursor = (struct cursor){
			.fd = sorter->fd,
			.record_bytes = sorter->record_bytes,
			.next = run->first,
			.end = run->first + run->count,
			.room = window,
			.window = malloc(window * sorter->record_bytes),
		};
		if (!cursor->window)
			r = err_set(err, -ENOMEM, "no memory to merge");
		else if (!cursor_peek(cursor))
			r = err_errno(err, cursor->code, "reading a temporary file");
		m->heap[m->heap_count++] = i;
	}
	for (size_t i = m->heap_count; r == 0 && i-- > 0;)
		sift_down(m, i);
	return r;
}

static void merge_done(struct merge *m)
{
	for (size_t i = 0; m->cursors && i < m->sorter->run_count; i++)
		cursor_done(&m->cursors[i]);
	free(m->cursors);
	free(m->heap);
}

static int merge_into(struct merge *m, int fd, struct err *err)
{
	struct sorter *out = &(struct sorter){ .fd = fd, .record_bytes = m->sorter->record_bytes };
	char *const buffer = m->sorter->other;	/* free now */
	int r = 0;

	while (r == 0 && m->heap_count > 0) {
		struct cursor *cursor = &m->cursors[m->heap[0]];

		memcpy(buffer + out->count++ * out->record_bytes, cursor_next(cursor),
		       out->record_bytes);
		if (!cursor_peek(cursor)) {
			if (cursor->code < 0)
				return err_errno(err, cursor->code, "reading a temporary file");
			m->heap[0] = m->heap[--m->heap_count];
		}
		sift_down(m, 0);
		if (out->count < BUFFER_RECORDS && m->heap_count > 0)
			continue;
		r = write_all(fd, buffer, out->count * out->record_bytes,
			      (off_t)(out->written_count * out->record_bytes), err);
		out->written_count += out->count;
		out->count = 0;
	}
	return r;
}

static int merge_runs(struct sorter *sorter, struct err *err)
{
	struct merge m = { .sorter = sorter };
	DEFER(defer_close) int fd = sorter_file(err);
	int r = fd < 0 ? fd : merge_init(&m, err);

	if (r == 0)
		r = merge_into(&m, fd, err);
	merge_done(&m);
	if (r < 0)
		return r;
	close(sorter->fd);
	sorter->fd = fd;
	fd = -1;
	return 0;
}

int sorter_finish(struct sorter *sorter, int *ret_fd, uint64_t *ret_count, struct err *err)
{
	int r = flush(sorter, err);

	if (r == 0 && sorter->run_count > 1)
		r = merge_runs(sorter, err);
	if (r < 0)
		return r;
	*ret_fd = sorter->fd;
	*ret_count = sorter->written_count;
	sorter->fd = -1;
	return 0;
}

/* --- reading -------------------------------------------------------------------------------- */

int cursor_init(struct cursor *cursor, int fd, size_t record_bytes, uint64_t count,
		struct err *err)
{
	*cursor = (struct cursor){
		.fd = fd,
		.record_bytes = record_bytes,
		.end = count,
		.room = WINDOW_RECORDS,
		.window = malloc(WINDOW_RECORDS * record_bytes),
	};
	if (!cursor->window)
		return err_set(err, -ENOMEM, "no memory to read records");
	return 0;
}

void cursor_done(struct cursor *cursor)
{
	free(cursor->window);
	*cursor = (struct cursor){ .fd = -1 };
}

const void *cursor_refill(struct cursor *cursor)
{
	const size_t bytes = cursor->record_bytes;
	const uint64_t left = cursor->end - cursor->next;
	const size_t whole = cursor->room - (size_t)((cursor->next + cursor->shift) % cursor->room);
	const size_t want = left < whole ? (size_t)left : whole;
	size_t have = 0;

	cursor->at = cursor->count = 0;
	while (cursor->code == 0 && have < want * bytes) {
		const ssize_t r = pread(cursor->fd, cursor->window + have, want * bytes - have,
					(off_t)(cursor->next * bytes + have));

		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0)
			cursor->code = r < 0 ? -errno : -ENODATA;
		else
			have += (size_t)r;
	}
	if (cursor->code < 0 || want == 0)
		return NULL;
	cursor->next += want;
	cursor->count = want;
	return cursor->window;
}
