/* SPDX-License-Identifier: MIT */
#include "model/recording.h"

#include <assert.h>
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

int recording_new(struct recording **ret, struct err *err)
{
	struct recording *recording = calloc(1, sizeof(*recording));

	if (!recording)
		return err_set(err, -ENOMEM, "no memory to record");
	recording->fd = sorter_file(err);
	if (recording->fd < 0) {
		const int r = recording->fd;

		free(recording);
		return r;
	}
	*ret = recording;
	return 0;
}

void recording_free(struct recording *recording)
{
	if (!recording)
		return;
	close(recording->fd);
	free(recording);
}

void recording_append(struct recording *recording, const struct recorded_io *ios, size_t count)
{
	const uint64_t first = atomic_fetch_add(&recording->count, count);
	const char *data = (const char *)ios;
	size_t bytes = count * sizeof(*ios);
	off_t offset = (off_t)(first * sizeof(*ios));

	while (bytes > 0) {
		const ssize_t done = pwrite(recording->fd, data, bytes, offset);
		int none = 0;

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0) {
			atomic_compare_exchange_strong(&recording->code, &none, -errno);
			return;
		}
		data += done;
		bytes -= (size_t)done;
		offset += done;
	}
}

void recording_lost(struct recording *recording, uint64_t count)
{
	atomic_fetch_add(&recording->lost_count, count);
}

static int sort_into(const struct recording *recording, struct sorter *sorter, int *ret_fd,
		     struct err *err)
{
	const struct recorded_io *io;
	struct cursor cursor;
	uint64_t count;
	int r;

	r = cursor_init(&cursor, recording->fd, sizeof(*io), recording->count, err);
	while (r == 0 && (io = cursor_next(&cursor)))
		r = sorter_add(sorter, io, err);
	if (r == 0 && cursor.code < 0)
		r = err_errno(err, cursor.code, "reading what was recorded");
	cursor_done(&cursor);
	if (r == 0)
		r = sorter_finish(sorter, ret_fd, &count, err);
	return r;
}

int recording_sort(const struct recording *recording, enum recording_order order,
		   struct recording_cursor *ret, struct err *err)
{
	static const size_t keys[] = {
		[RECORDED_BY_INTENDED] = offsetof(struct recorded_io, intended_ns),
		[RECORDED_BY_SUBMIT] = offsetof(struct recorded_io, submit_ns),
		[RECORDED_BY_DONE] = offsetof(struct recorded_io, done_ns),
	};
	struct sorter *sorter;
	int r;

	*ret = (struct recording_cursor){ .fd = -1 };
	if (recording->code < 0) {
		err_errno(err, recording->code, "what was recorded could not be kept");
		return err_hint(err, "TMPDIR names a directory with room");
	}
	r = sorter_new(&sorter, sizeof(struct recorded_io), keys[order], err);
	if (r < 0)
		return r;
	r = sort_into(recording, sorter, &ret->fd, err);
	sorter_free(sorter);
	if (r == 0)
		r = cursor_init(&ret->cursor, ret->fd, sizeof(struct recorded_io),
				recording->count, err);
	if (r < 0)
		recording_cursor_done(ret);
	return r;
}

void recording_cursor_done(struct recording_cursor *cursor)
{
	cursor_done(&cursor->cursor);
	if (cursor->fd >= 0)
		close(cursor->fd);
	cursor->fd = -1;
}
