/* SPDX-License-Identifier: MIT */
/* What a job does and in which order: rw, sizes, addresses. */
#include <string.h>

#include "base/units.h"
#include "foreign/fio_parts.h"

/* bssplit, else bsrange, else bs; one size is count 0 with *ret_bytes. */
static void sizes_of(struct fio_clone *clone, enum fio_direction d, struct size_mix *ret,
		     uint64_t *ret_bytes)
{
	const struct fio_sizes *sizes = &clone->job->options.sizes[d];
	uint64_t step = sizes->low_bytes, count;

	*ret = (struct size_mix){ 0 };
	*ret_bytes = sizes->bytes;
	if (sizes->split.count > 1) {
		*ret = sizes->split;
		*ret_bytes = 4096;
		return;
	}
	if (sizes->split.count == 1)
		*ret_bytes = sizes->split.sizes[0].bytes;
	if (sizes->split.count || !sizes->low_bytes)
		return;
	*ret_bytes = sizes->low_bytes;
	count = sizes->high_bytes / step;
	if (count < 2)
		return;
	/* Multiples of the smallest, each as likely: so many of them as there is room for. */
	if (count > WORKLOAD_SIZES) {
		step = (sizes->high_bytes - step) / (WORKLOAD_SIZES - 1) / step * step;
		count = WORKLOAD_SIZES;
		fio_note(clone->b, clone->job, "bsrange", "%d sizes, evenly over the range",
			 WORKLOAD_SIZES);
	}
	*ret_bytes = 4096;
	ret->count = (uint32_t)count;
	for (uint32_t i = 0; i < count; i++) {
		ret->sizes[i].bytes =
			i + 1 == count && step != sizes->low_bytes
				? sizes->high_bytes / sizes->low_bytes * sizes->low_bytes
				: sizes->low_bytes + i * step;
		ret->sizes[i].ppm = PPM / (uint32_t)count + (i < PPM % count);
	}
}

static bool same_sizes(const struct size_mix *a, const struct size_mix *b)
{
	if (a->count != b->count)
		return false;
	for (uint32_t i = 0; i < a->count; i++)
		if (a->sizes[i].bytes != b->sizes[i].bytes || a->sizes[i].ppm != b->sizes[i].ppm)
			return false;
	return true;
}

static void widen(struct fio_clone *clone, const struct size_mix *mix)
{
	for (uint32_t i = 0; i < mix->count; i++) {
		const uint64_t size = mix->sizes[i].bytes;

		if (size < clone->block_min_bytes)
			clone->block_min_bytes = size;
		if (size > clone->block_max_bytes)
			clone->block_max_bytes = size;
	}
}

static void set_sizes(struct fio_clone *clone)
{
	const bool used[FIO_DIRECTIONS] = { clone->reads, clone->writes, clone->trims };
	struct workload *w = clone->workload;
	struct size_mix mix;
	bool first = true;
	uint64_t bytes;

	for (int d = 0; d < FIO_DIRECTIONS; d++) {
		/* A pair has one size: that of its trim. */
		if (!used[d] || (clone->job->options.trimwrite && d == FIO_WRITE))
			continue;
		sizes_of(clone, (enum fio_direction)d, &mix, &bytes);
		if (first) {
			w->size_mix = mix;
			w->block_bytes = bytes;
		} else if (!same_sizes(&mix, &w->size_mix) || bytes != w->block_bytes) {
			w->write_mix = mix;
			if (!mix.count)
				w->write_mix = (struct size_mix){ 1, { { bytes, PPM } } };
		}
		first = false;
	}
	clone->block_min_bytes = UINT64_MAX;
	if (!w->size_mix.count)
		clone->block_min_bytes = clone->block_max_bytes = w->block_bytes;
	widen(clone, &w->size_mix);
	widen(clone, &w->write_mix);
}

/* A sequential job's number is the gap behind each request, which may lead backwards. */
static void set_skip(struct fio_clone *clone)
{
	const int64_t skip = clone->job->options.rw_number;
	const int64_t block = (int64_t)clone->block_max_bytes, step = block + skip;
	struct workload *w = clone->workload;

	if (!skip)
		return;
	if (w->size_mix.count || w->write_mix.count) {
		fio_problem(clone->b, clone->job, "rw",
			    "a gap behind requests of several sizes is not "
			    "supported; give one bs");
		return;
	}
	if (step == 0) {
		fio_problem(clone->b, clone->job, "rw", "would stay on one block for ever");
		return;
	}
	w->backwards = step < 0;
	w->stride_bytes = (uint64_t)(step < 0 ? -step : step);
	if (w->stride_bytes == clone->block_max_bytes)
		w->stride_bytes = 0;
}

/* A random job's number: so many requests in a row before the next jump. */
static void set_rows(struct fio_clone *clone)
{
	const int64_t count = clone->job->options.rw_number;

	if (count <= 1)
		return;
	if (clone->job->options.rw_sequencer == 1) {
		fio_problem(clone->b, clone->job, "rw_sequencer",
			    "identical is not supported: no block is asked for again at once");
		return;
	}
	if (count > PPM) {
		fio_problem(clone->b, clone->job, "rw", "more than a million requests in a row");
		return;
	}
	clone->workload->random_ppm = (uint32_t)(PPM / count);
	fio_note(clone->b, clone->job, "rw", "a jump after %lld requests on average, not exactly",
		 (long long)count);
}

static int first_direction(const struct fio_clone *clone)
{
	return clone->reads ? FIO_READ : clone->writes ? FIO_WRITE : FIO_TRIM;
}

static void set_random(struct fio_clone *clone)
{
	const struct fio_job_options *o = &clone->job->options;
	const int d = first_direction(clone);
	struct workload *w = clone->workload;

	w->distribution = o->distribution;
	w->repeat = o->norandommap;
	w->align_bytes = clone->block_min_bytes;
	if (o->align[d]) {
		w->align_bytes = o->align[d];
		w->repeat = true;
	}
	w->random_ppm = (uint32_t)o->percentage_random[d] * (PPM / 100);
	if (clone->reads && clone->writes && o->percentage_random[0] != o->percentage_random[1])
		fio_problem(clone->b, clone->job, "percentage_random",
			    "one share for reads and writes of a job, please; write two jobs");
	set_rows(clone);
	if (w->random_ppm == 0) {
		/* Nothing random is left: it goes in order. */
		static const enum workload_rw plain[] = {
			[RW_RANDREAD] = RW_READ,	   [RW_RANDWRITE] = RW_WRITE,
			[RW_RANDTRIM] = RW_TRIM,	   [RW_RANDRW] = RW_READWRITE,
			[RW_RANDTRIMWRITE] = RW_TRIMWRITE,
		};
		const struct workload fresh = { .random_ppm = PPM };

		w->rw = plain[w->rw];
		w->distribution = fresh.distribution;
		w->random_ppm = fresh.random_ppm;
		w->repeat = false;
	}
}

static void set_directions(struct fio_clone *clone)
{
	const struct fio_job_options *o = &clone->job->options;
	struct workload *w = clone->workload;

	w->rw = o->rw;
	switch ((enum workload_rw)o->rw) {
	case RW_READ:
	case RW_RANDREAD:
		clone->reads = true;
		break;
	case RW_WRITE:
	case RW_RANDWRITE:
		clone->writes = true;
		clone->trims = o->trimwrite;
		break;
	case RW_TRIM:
	case RW_RANDTRIM:
	case RW_TRIMWRITE:
	case RW_RANDTRIMWRITE:
		clone->trims = true;
		break;
	case RW_READWRITE:
	case RW_RANDRW:
		w->read_ppm = (uint32_t)o->rwmixread * (PPM / 100);
		clone->reads = w->read_ppm > 0;
		clone->writes = w->read_ppm < PPM;
		break;
	}
	if (o->trimwrite)
		w->rw = o->rw == RW_WRITE ? RW_TRIMWRITE : RW_RANDTRIMWRITE;
}

void fio_set_pattern(struct fio_clone *clone)
{
	set_directions(clone);
	set_sizes(clone);
	if (workload_is_random(clone->workload))
		set_random(clone);
	else
		set_skip(clone);
	clone->workload->own_sequences =
		clone->workload->rw == RW_READWRITE && clone->reads && clone->writes;
	if (clone->job->options.bs_unaligned)
		fio_note(clone->b, clone->job, "bs_unaligned",
			 "sizes are multiples of the smallest");
}
