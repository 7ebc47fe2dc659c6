/* SPDX-License-Identifier: MIT */

/*
 * error - requests fail without reaching what is below.
 *
 *	error:errno=EIO,kind=read|write|trim|sync|any,after=N,every=N,at=OFFSET,seed=S
 *
 * Presets: EIO, any kind, every request. after lets the first N of the kind pass; every
 * fails each N-th from then on, or one in N at random when a seed is given; at fails only
 * requests that cover that byte.
 */

#include <errno.h>

#include "target/filter.h"
#include "target/spec.h"

enum error_kind { ERROR_READ, ERROR_WRITE, ERROR_TRIM, ERROR_SYNC, ERROR_ANY };

static const char *const kind_words[] = { "read", "write", "trim", "sync", "any", NULL };
static const char *const errno_words[] = { "EIO",    "ENOSPC", "EREMOTEIO", "ETIMEDOUT", "ENODATA",
					   "EILSEQ", "EROFS",  "ENODEV",    "ENXIO",	 "EAGAIN",
					   "EINVAL", "EDQUOT", "ENOMEM", NULL };
static const int errno_values[] = { EIO,    ENOSPC, EREMOTEIO, ETIMEDOUT, ENODATA, EILSEQ, EROFS,
				    ENODEV, ENXIO,  EAGAIN,    EINVAL,	  EDQUOT,  ENOMEM };

struct error_options {
	uint64_t errno_index, kind, after_count, every_count, at_bytes, seed;
	bool has_at, has_seed;
};

struct error {
	struct filter filter;
	int32_t result;
	enum error_kind kind;
	struct filter_pick pick;
};

/* In the order of the bits that spec_parse returns. */
enum { KEY_ERRNO, KEY_KIND, KEY_AFTER, KEY_EVERY, KEY_AT, KEY_SEED };
static const struct spec_key error_keys[] = {
	[KEY_ERRNO] = { "errno", SPEC_WORD, offsetof(struct error_options, errno_index),
			errno_words },
	[KEY_KIND] = { "kind", SPEC_WORD, offsetof(struct error_options, kind), kind_words },
	[KEY_AFTER] = { "after", SPEC_COUNT, offsetof(struct error_options, after_count), NULL },
	[KEY_EVERY] = { "every", SPEC_COUNT, offsetof(struct error_options, every_count), NULL },
	[KEY_AT] = { "at", SPEC_BYTES, offsetof(struct error_options, at_bytes), NULL },
	[KEY_SEED] = { "seed", SPEC_COUNT, offsetof(struct error_options, seed), NULL },
	{ 0 },
};

static int error_parse(const char *text, void *options, struct err *err)
{
	struct error_options *o = options;
	int given;

	o->kind = ERROR_ANY;
	o->every_count = 1;
	given = spec_parse("error", text, error_keys, o, err);
	if (given < 0)
		return given;
	if (o->every_count == 0)
		return err_set(err, -EINVAL,
			       "error: every=0 would never fail; write every=1 or more");
	o->has_at = given & 1 << KEY_AT;
	o->has_seed = given & 1 << KEY_SEED;
	return 0;
}

static int error_setup(struct filter *filter, const void *options, struct err *err)
{
	const struct error_options *o = options;
	struct error *error = (struct error *)filter;

	(void)err;
	error->result = -errno_values[o->errno_index];
	error->kind = (enum error_kind)o->kind;
	error->pick = (struct filter_pick){
		.after_count = o->after_count,
		.every_count = o->every_count,
		.seed = o->seed,
		.at_bytes = o->at_bytes,
		.has_at = o->has_at,
		.has_seed = o->has_seed,
	};
	filter_pick_init(&error->pick);
	return 0;
}

static bool kind_matches(enum error_kind kind, const struct io *io)
{
	switch (kind) {
	case ERROR_READ:
		return io->kind == IO_READ;
	case ERROR_WRITE:
		return io->kind == IO_WRITE;
	case ERROR_TRIM:
		return io->kind == IO_TRIM;
	case ERROR_SYNC:
		return io->kind == IO_FSYNC || io->kind == IO_FDATASYNC;
	case ERROR_ANY:
		return true;
	}
	return false;
}

static void error_push(struct queue *queue, const struct io *ios, uint32_t count)
{
	struct error *error = (struct error *)queue;

	for (uint32_t i = 0; i < count; i++) {
		if (kind_matches(error->kind, &ios[i]) && filter_pick_next(&error->pick, &ios[i]))
			filter_complete(&error->filter, ios[i].tag, error->result);
		else
			filter_pass(&error->filter, &ios[i]);
	}
}

const struct filter_kind filter_error = {
	.name = "error",
	.help = "write error:errno=EIO,kind=write,after=1000,every=10,at=1m,seed=7",
	.options_bytes = sizeof(struct error_options),
	.filter_bytes = sizeof(struct error),
	.parse = error_parse,
	.setup = error_setup,
	.push = error_push,
	.reap = filter_reap,
	.next_ns = filter_next_ns,
};
