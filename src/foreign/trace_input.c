/* SPDX-License-Identifier: MIT */
#include "foreign/trace_input.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#define BUFFER_BYTES (256u << 10)

struct trace_input {
	char name[4096];
	const char *memory;		/* borrowed; NULL for a file */
	size_t memory_bytes, memory_at;
	int fd;				/* of a zstd file; -1 */
	gzFile gz;			/* of any other: reads what is not compressed as it is */
	ZSTD_DStream *zstd;
	char *packed;			/* owned: what zstd has not seen */
	size_t packed_at, packed_bytes;
	bool in_frame;
	char *buffer;			/* owned: what was read, and not taken yet */
	size_t at, count;
	char cut[TRACE_LINE_BYTES];	/* the beginning of a line that is too long; its last is NUL */
	uint64_t line_number;
	bool ended;
};

static bool is_zstd(int fd)
{
	static const unsigned char magic[4] = { 0x28, 0xb5, 0x2f, 0xfd };
	unsigned char first[4];

	return pread(fd, first, sizeof(first), 0) == sizeof(first) &&
	       memcmp(first, magic, sizeof(magic)) == 0;
}

static int open_zstd(struct trace_input *in, struct err *err)
{
	if (!in->packed)
		in->packed = malloc(BUFFER_BYTES);
	if (!in->zstd)
		in->zstd = ZSTD_createDStream();
	if (!in->packed || !in->zstd)
		return err_set(err, -ENOMEM, "no memory to read '%s'", in->name);
	ZSTD_initDStream(in->zstd);
	in->packed_at = in->packed_bytes = 0;
	in->in_frame = false;
	return 0;
}

static int open_file(struct trace_input *in, struct err *err)
{
	struct stat st;

	in->fd = open(in->name, O_RDONLY | O_CLOEXEC);
	if (in->fd < 0)
		return err_errno(err, -errno, "'%s'", in->name);
	if (fstat(in->fd, &st) < 0)
		return err_errno(err, -errno, "'%s'", in->name);
	if (S_ISDIR(st.st_mode) || S_ISBLK(st.st_mode))
		return err_set(err, -EINVAL, "'%s' is a %s, not a trace", in->name,
			       S_ISDIR(st.st_mode) ? "directory" : "device");
	posix_fadvise(in->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	if (is_zstd(in->fd))
		return open_zstd(in, err);
	in->gz = gzdopen(in->fd, "rb");
	if (!in->gz)
		return err_set(err, -ENOMEM, "no memory to read '%s'", in->name);
	in->fd = -1;			/* the gzFile's now */
	gzbuffer(in->gz, 128u << 10);
	return 0;
}

static int make(struct trace_input **ret, const char *name, struct err *err)
{
	struct trace_input *in = calloc(1, sizeof(*in));

	if (!in)
		return err_set(err, -ENOMEM, "no memory to read '%s'", name);
	in->fd = -1;
	/* One more for the NUL of a last line without an end. */
	in->buffer = malloc(BUFFER_BYTES + 1);
	if (!in->buffer || strlen(name) >= sizeof(in->name)) {
		const int code = in->buffer ? -ENAMETOOLONG : -ENOMEM;

		trace_input_close(in);
		return err_errno(err, code, "'%.100s'", name);
	}
	strcpy(in->name, name);
	*ret = in;
	return 0;
}

int trace_input_open(struct trace_input **ret, const char *path, struct err *err)
{
	struct trace_input *in;
	int r = make(&in, path, err);

	if (r < 0)
		return r;
	r = open_file(in, err);
	if (r < 0) {
		trace_input_close(in);
		return r;
	}
	*ret = in;
	return 0;
}

int trace_input_memory(struct trace_input **ret, const char *name, const void *data, size_t bytes,
		       struct err *err)
{
	int r = make(ret, name, err);

	if (r < 0)
		return r;
	(*ret)->memory = data ? data : "";
	(*ret)->memory_bytes = bytes;
	return 0;
}

static void close_file(struct trace_input *in)
{
	if (in->gz)
		gzclose(in->gz);
	if (in->fd >= 0)
		close(in->fd);
	in->gz = NULL;
	in->fd = -1;
}

void trace_input_close(struct trace_input *in)
{
	if (!in)
		return;
	close_file(in);
	ZSTD_freeDStream(in->zstd);
	free(in->packed);
	free(in->buffer);
	free(in);
}

int trace_input_rewind(struct trace_input *in, struct err *err)
{
	in->at = in->count = in->memory_at = 0;
	in->line_number = 0;
	in->ended = false;
	if (in->memory)
		return 0;
	close_file(in);
	return open_file(in, err);
}

const char *trace_input_name(const struct trace_input *in)
{
	return in->name;
}

uint64_t trace_input_line_number(const struct trace_input *in)
{
	return in->line_number;
}

/* --- more bytes ----------------------------------------------------------------------------- */

static ssize_t read_memory(struct trace_input *in, char *to, size_t room)
{
	const size_t left = in->memory_bytes - in->memory_at;
	const size_t count = left < room ? left : room;

	memcpy(to, in->memory + in->memory_at, count);
	in->memory_at += count;
	return (ssize_t)count;
}

static ssize_t read_gzip(struct trace_input *in, char *to, size_t room, struct err *err)
{
	const int count = gzread(in->gz, to, (unsigned int)room);
	int code;

	if (count >= 0 && !(count == 0 && gzerror(in->gz, &code) && code == Z_BUF_ERROR))
		return count;
	return err_set(err, -EIO, "'%s': %s", in->name,
		       count == 0 ? "the compressed file ends too soon" : gzerror(in->gz, &code));
}

static ssize_t read_zstd(struct trace_input *in, char *to, size_t room, struct err *err)
{
	ZSTD_outBuffer out = { to, room, 0 };

	while (out.pos == 0) {
		ZSTD_inBuffer from = { in->packed, in->packed_bytes, in->packed_at };
		size_t r;

		if (in->packed_at == in->packed_bytes) {
			const ssize_t n = read(in->fd, in->packed, BUFFER_BYTES);

			if (n < 0)
				return err_errno(err, -errno, "'%s'", in->name);
			if (n == 0 && in->in_frame)
				return err_set(err, -EIO, "'%s': the compressed file ends too soon",
					       in->name);
			if (n == 0)
				return 0;
			from.size = in->packed_bytes = (size_t)n;
			from.pos = 0;
		}
		r = ZSTD_decompressStream(in->zstd, &out, &from);
		if (ZSTD_isError(r))
			return err_set(err, -EIO, "'%s': %s", in->name, ZSTD_getErrorName(r));
		in->in_frame = r != 0;
		in->packed_at = from.pos;
	}
	return (ssize_t)out.pos;
}

/* Makes room at the end and reads into it. */
static int fill(struct trace_input *in, struct err *err)
{
	ssize_t count;
	char *to;

	if (in->ended)
		return 0;
	if (in->at > 0) {
		memmove(in->buffer, in->buffer + in->at, in->count - in->at);
		in->count -= in->at;
		in->at = 0;
	}
	assert(in->count < BUFFER_BYTES);
	to = in->buffer + in->count;
	if (in->memory)
		count = read_memory(in, to, BUFFER_BYTES - in->count);
	else if (in->gz)
		count = read_gzip(in, to, BUFFER_BYTES - in->count, err);
	else
		count = read_zstd(in, to, BUFFER_BYTES - in->count, err);
	if (count < 0)
		return (int)count;
	in->ended = count == 0;
	in->count += (size_t)count;
	return 0;
}

int trace_input_peek(struct trace_input *in, void *buffer, size_t bytes, struct err *err)
{
	size_t have;

	assert(bytes < BUFFER_BYTES);
	while (in->count - in->at < bytes && !in->ended) {
		const int r = fill(in, err);

		if (r < 0)
			return r;
	}
	have = in->count - in->at < bytes ? in->count - in->at : bytes;
	memcpy(buffer, in->buffer + in->at, have);
	return (int)have;
}

/* The end of the line that begins at in->at, or NULL when it is not in the buffer whole. */
static char *find_end(const struct trace_input *in)
{
	return memchr(in->buffer + in->at, '\n', in->count - in->at);
}

/* Of a line that is too long, the rest. */
static int skip_rest(struct trace_input *in, struct err *err)
{
	char *end;

	while (!(end = find_end(in)) && !in->ended) {
		int r;

		in->at = in->count;
		r = fill(in, err);
		if (r < 0)
			return r;
	}
	in->at = end ? (size_t)(end + 1 - in->buffer) : in->count;
	return 0;
}

int trace_input_line(struct trace_input *in, char **ret, struct err *err)
{
	char *line, *end;
	int r;

	while (!(end = find_end(in)) && !in->ended && in->count - in->at < TRACE_LINE_BYTES) {
		r = fill(in, err);
		if (r < 0)
			return r;
	}
	if (in->at == in->count)
		return 0;
	in->line_number++;
	line = in->buffer + in->at;
	if (!end && !in->ended) {
		memcpy(in->cut, line, sizeof(in->cut) - 1);
		*ret = in->cut;
		r = skip_rest(in, err);
		return r < 0 ? r : 1;
	}
	if (!end)
		end = in->buffer + in->count;
	in->at = end < in->buffer + in->count ? (size_t)(end + 1 - in->buffer) : in->count;
	if (end > line && end[-1] == '\r')
		end--;
	*end = '\0';
	*ret = line;
	return 1;
}

int trace_input_bytes(struct trace_input *in, void *buffer, size_t bytes, struct err *err)
{
	char *to = buffer;

	while (bytes > 0) {
		size_t have = in->count - in->at;

		if (have == 0 && in->ended)
			return 0;
		if (have == 0) {
			const int r = fill(in, err);

			if (r < 0)
				return r;
			continue;
		}
		have = have < bytes ? have : bytes;
		memcpy(to, in->buffer + in->at, have);
		in->at += have;
		to += have;
		bytes -= have;
	}
	return 1;
}
