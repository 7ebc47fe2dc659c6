/* SPDX-License-Identifier: MIT */
#include "protocol/checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/defer.h"
#include "base/text.h"

struct checkpoint {
	char path[PATH_MAX];
	int fd;
	struct protocol_cell *cells; /* finished before, up to the last anchor */
	size_t count, next;
};

static int write_line(struct checkpoint *c, json_t *object, struct err *err)
{
	char *line = json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(17));
	struct text text = TEXT_INIT;
	int r = 0;

	json_decref(object);
	text_add(&text, "%s\n", line ? line : "{}");
	free(line);
	if (write(c->fd, text.data, text.length) != (ssize_t)text.length || fdatasync(c->fd) < 0)
		r = err_errno(err, errno ? -errno : -EIO, "checkpoint '%s'", c->path);
	text_done(&text);
	return r;
}

static json_t *cell_json(const struct protocol_cell *cell)
{
	return json_pack("{s:s, s:I, s:I, s:f, s:f, s:I, s:I, s:I, s:I}", "cell", cell->name,
			 "bytes", (json_int_t)cell->bytes, "ns", (json_int_t)cell->duration_ns,
			 "rate", cell->bytes_per_s, "iops", cell->iops, "p50",
			 (json_int_t)cell->latency_ns_p50, "p99", (json_int_t)cell->latency_ns_p99,
			 "p999", (json_int_t)cell->latency_ns_p999, "max",
			 (json_int_t)cell->latency_ns_max);
}

static bool cell_parse(json_t *line, struct protocol_cell *ret)
{
	json_int_t bytes, ns, p50, p99, p999, max;
	const char *name;

	if (json_unpack(line, "{s:s, s:I, s:I, s:F, s:F, s:I, s:I, s:I, s:I}", "cell", &name,
			"bytes", &bytes, "ns", &ns, "rate", &ret->bytes_per_s, "iops", &ret->iops,
			"p50", &p50, "p99", &p99, "p999", &p999, "max", &max) < 0)
		return false;
	snprintf(ret->name, sizeof(ret->name), "%s", name);
	ret->bytes = (uint64_t)bytes;
	ret->duration_ns = (uint64_t)ns;
	ret->latency_ns_p50 = (uint64_t)p50;
	ret->latency_ns_p99 = (uint64_t)p99;
	ret->latency_ns_p999 = (uint64_t)p999;
	ret->latency_ns_max = (uint64_t)max;
	return true;
}

static int check_identity(const struct checkpoint *c, const char *line, const char *identity,
			  struct err *err)
{
	json_t *object = json_loads(line, 0, NULL);
	const char *found = json_string_value(json_object_get(object, "checkpoint"));
	int r = 0;

	if (!found || strcmp(found, identity) != 0) {
		r = err_set(err, -ESTALE, "checkpoint '%s' is of another run: %s", c->path,
			    found ? found : "not readable");
		err_hint(err,
			 "repeat that command with --resume, or leave --resume out to begin anew");
	}
	json_decref(object);
	return r;
}

/*
 * Reads up to the last anchor, and cuts off what came after it. A last line without its end
 * is one that SIGKILL cut.
 */
static int load(struct checkpoint *c, FILE *file, const char *identity, struct err *err)
{
	DEFER(defer_free) char *line = NULL;
	size_t room = 0, count = 0;
	off_t anchor;
	int r;

	if (getline(&line, &room, file) <= 0)
		return err_set(err, -ESTALE, "checkpoint '%s' is empty", c->path);
	r = check_identity(c, line, identity, err);
	if (r < 0)
		return r;
	anchor = ftello(file);
	while (getline(&line, &room, file) > 0 && strchr(line, '\n')) {
		struct protocol_cell cell = { 0 }, *cells;
		json_t *object = json_loads(line, 0, NULL);
		const bool is_cell = cell_parse(object, &cell);

		json_decref(object);
		if (!is_cell) {
			c->count = count;
			anchor = ftello(file);
			continue;
		}
		cells = realloc(c->cells, (count + 1) * sizeof(*cells));
		if (!cells)
			return err_errno(err, -ENOMEM, "checkpoint '%s'", c->path);
		c->cells = cells;
		c->cells[count++] = cell;
	}
	if (ftruncate(c->fd, anchor) < 0 || lseek(c->fd, anchor, SEEK_SET) < 0)
		return err_errno(err, -errno, "checkpoint '%s'", c->path);
	return 0;
}

static int open_old(struct checkpoint *c, const char *identity, struct err *err)
{
	FILE *file = fopen(c->path, "re");
	int r;

	if (!file)
		return errno == ENOENT
			       ? err_set(err, -ENOENT,
					 "there is nothing to resume: no checkpoint '%s'", c->path)
			       : err_errno(err, -errno, "checkpoint '%s'", c->path);
	r = load(c, file, identity, err);
	fclose(file);
	return r;
}

int checkpoint_open(struct checkpoint **ret, const char *path, const char *identity, bool resume,
		    struct err *err)
{
	struct checkpoint *c = calloc(1, sizeof(*c));
	int r = 0;

	if (!c)
		return err_errno(err, -ENOMEM, "checkpoint '%s'", path);
	snprintf(c->path, sizeof(c->path), "%s", path);
	c->fd = open(path, O_RDWR | O_CLOEXEC | (resume ? 0 : O_CREAT | O_TRUNC), 0600);
	if (resume)
		r = open_old(c, identity, err);
	else if (c->fd < 0)
		r = err_errno(err, -errno, "checkpoint '%s'", path);
	else
		r = write_line(c, json_pack("{s:s}", "checkpoint", identity), err);
	if (r < 0) {
		checkpoint_close(c);
		return r;
	}
	*ret = c;
	return 0;
}

void checkpoint_close(struct checkpoint *c)
{
	if (!c)
		return;
	if (c->fd >= 0)
		close(c->fd);
	free(c->cells);
	free(c);
}

void checkpoint_remove(struct checkpoint *c)
{
	if (c)
		unlink(c->path);
	checkpoint_close(c);
}

bool checkpoint_take(struct checkpoint *c, const char *name, struct protocol_cell *ret,
		     int *ret_error, struct err *err)
{
	*ret_error = 0;
	if (!c || c->next == c->count)
		return false;
	if (strcmp(c->cells[c->next].name, name) != 0) {
		*ret_error = err_set(err, -ESTALE, "checkpoint '%s' has '%s' where '%s' is next",
				     c->path, c->cells[c->next].name, name);
		err_hint(err,
			 "it was written by another version: leave --resume out to begin anew");
		return false;
	}
	*ret = c->cells[c->next++];
	return true;
}

int checkpoint_add(struct checkpoint *c, const struct protocol_cell *cell, struct err *err)
{
	return c ? write_line(c, cell_json(cell), err) : 0;
}

int checkpoint_anchor(struct checkpoint *c, struct err *err)
{
	/* While taking, the anchors are in the file already. */
	if (!c || c->next < c->count)
		return 0;
	return write_line(c, json_pack("{s:b}", "anchor", 1), err);
}
