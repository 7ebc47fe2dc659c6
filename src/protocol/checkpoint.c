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
#include "base/paths.h"
#include "base/text.h"

struct kept {
	struct protocol_cell cell;
	bool after_gap; /* the first after a resume */
};

struct checkpoint {
	char path[PATH_MAX];
	int fd;
	struct kept *cells; /* finished before, up to the last anchor */
	size_t count, next;
	bool resumed; /* and nothing was added since */
	off_t cut;    /* where what comes next is to be written, once; -1 = at the end */
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
	return json_pack("{s:s, s:I, s:I, s:I, s:f, s:f, s:I, s:I, s:I, s:I}", "cell",
			 cell->name, "bytes", (json_int_t)cell->bytes, "written",
			 (json_int_t)cell->written_bytes, "ns", (json_int_t)cell->duration_ns, "rate", cell->bytes_per_s, "iops", cell->iops, "p50",
			 (json_int_t)cell->latency_ns_p50, "p99", (json_int_t)cell->latency_ns_p99,
			 "p999", (json_int_t)cell->latency_ns_p999, "max",
			 (json_int_t)cell->latency_ns_max);
}

static bool cell_parse(json_t *line, struct protocol_cell *ret)
{
	json_int_t bytes, written, ns, p50, p99, p999, max;
	const char *name;

	if (json_unpack(line, "{s:s, s:I, s:I, s:I, s:F, s:F, s:I, s:I, s:I, s:I}", "cell", &name,
			"bytes", &bytes, "written", &written, "ns", &ns, "rate", &ret->bytes_per_s,
			"iops", &ret->iops, "p50", &p50, "p99", &p99, "p999", &p999, "max",
			&max) < 0)
		return false;
	snprintf(ret->name, sizeof(ret->name), "%s", name);
	ret->bytes = (uint64_t)bytes;
	ret->written_bytes = (uint64_t)written;
	ret->duration_ns = (uint64_t)ns;
	ret->latency_ns_p50 = (uint64_t)p50;
	ret->latency_ns_p99 = (uint64_t)p99;
	ret->latency_ns_p999 = (uint64_t)p999;
	ret->latency_ns_max = (uint64_t)max;
	return true;
}

/* Past the first piece and the comma behind it, when there is one. */
static const char *next_piece(const char *text)
{
	text += strcspn(text, ",");
	return text + strspn(text, ", ");
}

/* "name value, name value": the first of the pieces that differ, of either. */
static void first_difference(const char *had, const char *has, char ret[2][128])
{
	while (*had && *has && strcspn(had, ",") == strcspn(has, ",") &&
	       strncmp(had, has, strcspn(had, ",")) == 0) {
		had = next_piece(had);
		has = next_piece(has);
	}
	snprintf(ret[0], 128, "%.*s", (int)strcspn(had, ","), had);
	snprintf(ret[1], 128, "%.*s", (int)strcspn(has, ","), has);
}

static int check_facts(const struct checkpoint *c, json_t *first, const char *identity,
		       struct err *err)
{
	const char *run = json_string_value(json_object_get(first, "checkpoint"));
	const char *version = json_string_value(json_object_get(first, "tare"));
	char differs[2][128];

	if (!run)
		return err_set(err, -ESTALE, "checkpoint '%s' is not readable from its first line on",
			       c->path);
	if (!version || strcmp(version, TARE_VERSION) != 0)
		return err_set(err, -ESTALE,
			       "checkpoint '%s' is of tare %s, and this is %s: its cells may be other ones",
			       c->path, version ? version : "of another format", TARE_VERSION);
	if (strcmp(run, identity) == 0)
		return 0;
	first_difference(run, identity, differs);
	return err_set(err, -ESTALE, "checkpoint '%s' is of another run: it has '%s', this one '%s'",
		       c->path, differs[0], differs[1]);
}

static int check_first(const struct checkpoint *c, const char *line, const char *identity,
		       struct err *err)
{
	json_t *first = json_loads(line, 0, NULL);
	const int r = check_facts(c, first, identity, err);

	json_decref(first);
	if (r < 0)
		err_hint(err,
			 "repeat that command with --resume, or leave --resume out to begin anew");
	return r;
}

static int keep(struct checkpoint *c, const struct kept *kept, size_t at)
{
	struct kept *cells = realloc(c->cells, (at + 1) * sizeof(*cells));

	if (!cells)
		return -ENOMEM;
	c->cells = cells;
	c->cells[at] = *kept;
	return 0;
}

/* Where reading got: cells may come after the last anchor, which alone counts. */
struct loading {
	size_t count, line;
	bool gap;
	off_t anchor;
};

static int load_line(struct checkpoint *c, const char *line, struct loading *at, off_t end,
		     struct err *err)
{
	struct kept kept = { .after_gap = at->gap };
	json_t *object = json_loads(line, 0, NULL);
	int r = 0;

	at->line++;
	if (json_is_true(json_object_get(object, "anchor"))) {
		c->count = at->count;
		at->anchor = end;
	} else if (json_is_true(json_object_get(object, "resumed"))) {
		at->gap = true;
	} else if (cell_parse(object, &kept.cell)) {
		r = keep(c, &kept, at->count++);
		at->gap = false;
	} else {
		r = -ESTALE;
	}
	json_decref(object);
	if (r == -ENOMEM)
		return err_errno(err, r, "checkpoint '%s'", c->path);
	if (r < 0) {
		err_set(err, r, "checkpoint '%s' is not readable in line %zu", c->path, at->line);
		err_hint(err, "leave --resume out to begin anew");
	}
	return r;
}

/*
 * Reads up to the last anchor; what came after it is cut off when something follows. A last line
 * without its end is one that SIGKILL cut.
 */
static int load(struct checkpoint *c, FILE *file, const char *identity, struct err *err)
{
	DEFER(defer_free) char *line = NULL;
	struct loading at = { .line = 1 };
	size_t room = 0;
	ssize_t length;
	int r;

	if (getline(&line, &room, file) <= 0) {
		r = err_set(err, -ESTALE, "checkpoint '%s' is empty", c->path);
		err_hint(err, "leave --resume out to begin anew");
		return r;
	}
	r = check_first(c, line, identity, err);
	at.anchor = ftello(file);
	while (r == 0 && (length = getline(&line, &room, file)) > 0 && line[length - 1] == '\n')
		r = load_line(c, line, &at, ftello(file), err);
	c->cut = at.anchor;
	return r;
}

/* The file of a resume that is refused before it does anything stays as it is. */
static int cut(struct checkpoint *c, struct err *err)
{
	if (c->cut < 0)
		return 0;
	if (ftruncate(c->fd, c->cut) < 0 || lseek(c->fd, c->cut, SEEK_SET) < 0)
		return err_errno(err, -errno, "checkpoint '%s'", c->path);
	c->cut = -1;
	return c->count ? write_line(c, json_pack("{s:b}", "resumed", 1), err) : 0;
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
	c->resumed = c->count > 0;
	return r;
}

/* The name, too, must be there after a power cut. */
static int open_new(struct checkpoint *c, const char *identity, struct err *err)
{
	int r;

	if (c->fd < 0)
		return err_errno(err, -errno, "checkpoint '%s'", c->path);
	r = write_line(c, json_pack("{s:s, s:s}", "checkpoint", identity, "tare", TARE_VERSION),
		       err);
	if (r < 0)
		return r;
	r = paths_sync_parent(c->path);
	return r < 0 ? err_errno(err, r, "checkpoint '%s'", c->path) : 0;
}

int checkpoint_open(struct checkpoint **ret, const char *path, const char *identity, bool resume,
		    struct err *err)
{
	struct checkpoint *c = calloc(1, sizeof(*c));
	int r;

	if (!c)
		return err_errno(err, -ENOMEM, "checkpoint '%s'", path);
	snprintf(c->path, sizeof(c->path), "%s", path);
	c->cut = -1;
	c->fd = open(path, O_RDWR | O_CLOEXEC | (resume ? 0 : O_CREAT | O_TRUNC), 0600);
	r = resume ? open_old(c, identity, err) : open_new(c, identity, err);
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
	if (strcmp(c->cells[c->next].cell.name, name) != 0) {
		*ret_error = err_set(err, -ESTALE, "checkpoint '%s' has '%s' where '%s' is next",
				     c->path, c->cells[c->next].cell.name, name);
		err_hint(err,
			 "it was written by another version: leave --resume out to begin anew");
		return false;
	}
	*ret = c->cells[c->next++].cell;
	return true;
}

int checkpoint_add(struct checkpoint *c, const struct protocol_cell *cell, struct err *err)
{
	int r;

	if (!c)
		return 0;
	r = cut(c, err);
	c->resumed = false;
	return r < 0 ? r : write_line(c, cell_json(cell), err);
}

bool checkpoint_has_gap(const struct checkpoint *c)
{
	if (!c)
		return false;
	return c->next < c->count ? c->cells[c->next].after_gap : c->resumed;
}

int checkpoint_anchor(struct checkpoint *c, struct err *err)
{
	int r;

	/* While taking, the anchors are in the file already. */
	if (!c || c->next < c->count)
		return 0;
	r = cut(c, err);
	return r < 0 ? r : write_line(c, json_pack("{s:b}", "anchor", 1), err);
}
