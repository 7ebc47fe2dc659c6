/* SPDX-License-Identifier: MIT */
#include "engine/address.h"

#include <assert.h>
#include <errno.h>
#include <math.h>

#include "base/units.h"

#define WHOLE (1ull << 32)

/* The start of a slot. Pieces lie at random in cells of their own. */
static uint64_t slot_offset(const struct address *a, uint64_t slot)
{
	uint64_t piece, place;

	if (!a->piece_slots)
		return a->range.offset_bytes + slot * a->slot_bytes;
	piece = slot / a->piece_slots;
	place = (uint64_t)(((unsigned __int128)random_mix(a->piece_key + piece) * a->cell_room) >> 64);
	return a->range.offset_bytes +
	       (piece * a->cell_slots + place) * a->range.align_bytes +
	       (slot - piece * a->piece_slots) * a->slot_bytes;
}

static uint64_t next_sequential(struct address *a)
{
	const uint64_t slot = a->backwards ? a->first + a->end - 1 - a->next : a->next;

	if (++a->next == a->end) {
		a->next = a->first;
		a->pass_count++;
	}
	return slot;
}

/* As iozone strides: a turn ends two blocks before the last, and the next begins a block later. */
static uint64_t next_strided(struct address *a)
{
	const uint64_t slot = a->next;

	a->next += a->stride_slots;
	if (a->next + 2 < a->slot_count)
		return slot;
	if (++a->turn >= a->slot_count) {
		a->turn = 0;
		a->pass_count++;
	}
	a->next = a->turn;
	return slot;
}

/* A request that would cross into the next piece starts there. */
static uint64_t next_of_sizes(struct address *a, uint32_t length_bytes)
{
	const uint64_t slot = a->next;
	const uint64_t slots = (length_bytes + a->slot_bytes - 1) / a->slot_bytes;

	a->next += slots;
	if (a->piece_slots && a->next / a->piece_slots != slot / a->piece_slots)
		a->next = (slot / a->piece_slots + 1) * a->piece_slots;
	if (a->next >= a->end) {
		a->next = a->first;
		a->pass_count++;
	}
	return slot;
}

static uint64_t next_permuted(struct address *a)
{
	const uint64_t slot = permutation_at(&a->permutation, a->next);

	a->next += a->step;
	if (a->next >= a->slot_count) {
		a->next = a->pass_start;
		a->pass_count++;
		permutation_init(&a->permutation, a->slot_count,
				 random_mix(a->key + a->pass_count));
	}
	return slot;
}

/*
 * Rank 0 .. count - 1 with probability proportional to 1 / (rank + 1)^theta, exact and in
 * constant time: Hoermann and Derflinger 1996, "Rejection-inversion to generate variates
 * from monotone discrete distributions". H is the integral of x^-theta.
 */
static double zipf_integral(double exponent, double x)
{
	const double log_x = log(x);

	return expm1((1.0 - exponent) * log_x) / (1.0 - exponent);
}

static double zipf_integral_inverse(double exponent, double y)
{
	return exp(log1p(y * (1.0 - exponent)) / (1.0 - exponent));
}

static uint64_t zipf_rank(struct address *a)
{
	const double theta = a->shape.exponent;

	for (;;) {
		const double u = a->shape.high +
				 random_unit(&a->random) * (a->shape.low - a->shape.high);
		const double x = zipf_integral_inverse(theta, u);
		double k = floor(x + 0.5);

		if (k < 1.0)
			k = 1.0;
		else if (k > (double)a->slot_count)
			k = (double)a->slot_count;
		if (k - x <= a->shape.shortcut ||
		    u >= zipf_integral(theta, k + 0.5) - exp(-theta * log(k)))
			return (uint64_t)k - 1;
	}
}

static void zipf_init(struct address *a, double theta)
{
	a->shape.exponent = theta;
	a->shape.low = zipf_integral(theta, 1.5) - 1.0;
	a->shape.high = zipf_integral(theta, (double)a->slot_count + 0.5);
	a->shape.shortcut = 2.0 - zipf_integral_inverse(theta, zipf_integral(theta, 2.5) -
								  exp(-theta * log(2.0)));
}

/* A share h of the range gets a share 1 - h of the accesses, and so within each (fio's pareto). */
static uint64_t pareto_rank(struct address *a)
{
	const double x = pow(random_unit(&a->random), a->shape.exponent);
	const uint64_t rank = (uint64_t)(x * (double)a->slot_count);

	return rank < a->slot_count ? rank : a->slot_count - 1;
}

/* Around the middle of the range; what falls outside is drawn again. */
static uint64_t normal_rank(struct address *a)
{
	for (;;) {
		const double x = 0.5 + a->shape.exponent * random_normal(&a->random);

		if (x >= 0.0 && x < 1.0)
			return (uint64_t)(x * (double)a->slot_count);
	}
}

static uint64_t zoned_slot(struct address *a)
{
	const uint64_t draw = random_u64(&a->random) >> 32;
	uint32_t i = 0;

	while (draw >= a->zones[i].below)
		i++;
	return a->zones[i].first + random_below(&a->random, a->zones[i].count);
}

static uint64_t next_random(struct address *a)
{
	switch (a->mode) {
	case ADDRESS_UNIFORM:
		return random_below(&a->random, a->slot_count);
	case ADDRESS_ZIPF:
		return permutation_at(&a->permutation, zipf_rank(a));
	case ADDRESS_PARETO:
		return permutation_at(&a->permutation, pareto_rank(a));
	case ADDRESS_NORMAL:
		return permutation_at(&a->permutation, normal_rank(a));
	case ADDRESS_ZONED:
		return zoned_slot(a);
	case ADDRESS_SEQUENTIAL:
	case ADDRESS_SEQUENTIAL_SIZES:
	case ADDRESS_STRIDED:
	case ADDRESS_PERMUTED:
		break;
	}
	assert(false);	/* the others have no repetition */
	return 0;
}

static uint64_t next_partly_random(struct address *a, uint32_t length_bytes)
{
	const uint64_t slots = (length_bytes + a->slot_bytes - 1) / a->slot_bytes;
	uint64_t slot = a->follow;

	if (random_u64(&a->random) >> 32 < a->random_below || slot >= a->slot_count)
		slot = next_random(a);
	a->follow = slot + slots;
	return slot;
}

uint64_t address_next_other(struct address *a, uint32_t length_bytes)
{
	assert(length_bytes <= a->range.block_max_bytes);
	switch (a->mode) {
	case ADDRESS_SEQUENTIAL:
		return slot_offset(a, next_sequential(a));
	case ADDRESS_SEQUENTIAL_SIZES:
		return slot_offset(a, next_of_sizes(a, length_bytes));
	case ADDRESS_STRIDED:
		return slot_offset(a, next_strided(a));
	case ADDRESS_PERMUTED:
		return slot_offset(a, next_permuted(a));
	default:
		if (a->random_below < WHOLE)
			return slot_offset(a, next_partly_random(a, length_bytes));
		return slot_offset(a, next_random(a));
	}
}

void address_next_many(struct address *a, uint32_t length_bytes, uint64_t *ret, uint32_t count)
{
	if (a->is_uniform) {
		struct random random = a->random;

		for (uint32_t i = 0; i < count; i++)
			ret[i] = a->range.offset_bytes +
				 random_below(&random, a->slot_count) * a->slot_bytes;
		a->random = random;
		return;
	}
	for (uint32_t i = 0; i < count; i++)
		ret[i] = address_next(a, length_bytes);
}

uint64_t address_pass_count(const struct address *a)
{
	switch (a->mode) {
	case ADDRESS_SEQUENTIAL:
	case ADDRESS_STRIDED:
		return a->end - a->first;
	case ADDRESS_PERMUTED:
		return (a->slot_count - a->pass_start + a->step - 1) / a->step;
	default:
		return 0;
	}
}

static enum address_mode mode_of(const struct workload *workload)
{
	if (!workload_is_random(workload) && workload->stride_wraps && workload->stride_bytes)
		return ADDRESS_STRIDED;
	if (!workload_is_random(workload))
		return (workload->size_mix.count > 1 || workload->write_mix.count) &&
				       !workload->stride_bytes
			       ? ADDRESS_SEQUENTIAL_SIZES
			       : ADDRESS_SEQUENTIAL;
	switch (workload->distribution.kind) {
	case DISTRIBUTION_UNIFORM:
		break;
	case DISTRIBUTION_ZIPF:
		return ADDRESS_ZIPF;
	case DISTRIBUTION_PARETO:
		return ADDRESS_PARETO;
	case DISTRIBUTION_NORMAL:
		return ADDRESS_NORMAL;
	case DISTRIBUTION_ZONED:
		return ADDRESS_ZONED;
	}
	return workload->repeat || workload->random_ppm < PPM ? ADDRESS_UNIFORM : ADDRESS_PERMUTED;
}

static uint64_t slot_bytes_of(enum address_mode mode, const struct workload *workload,
			      const struct address_range *range)
{
	const uint64_t align = range->align_bytes;

	if (mode == ADDRESS_UNIFORM || mode == ADDRESS_SEQUENTIAL_SIZES)
		return align;
	if (mode == ADDRESS_SEQUENTIAL && workload->stride_bytes)
		return workload->stride_bytes;
	return (range->block_max_bytes + align - 1) / align * align;
}

/* Slots in so many bytes, each with room for the largest block; 0 when there is none. */
static uint64_t slots_in(const struct address *a, uint64_t bytes)
{
	if (bytes < a->range.block_max_bytes)
		return 0;
	return (bytes - a->range.block_max_bytes) / a->slot_bytes + 1;
}

static int cut_in_pieces(struct address *a, uint32_t piece_count, struct err *err)
{
	const uint64_t align = a->range.align_bytes;
	const uint64_t piece_aligns = a->range.size_bytes / piece_count / align;

	a->cell_slots = a->range.span_bytes / piece_count / align;
	if (a->cell_slots <= piece_aligns)
		return err_set(err, -EINVAL,
			       "%u segments of %llu bytes in all leave no gap in a span of %llu bytes",
			       piece_count, (unsigned long long)a->range.size_bytes,
			       (unsigned long long)a->range.span_bytes);
	/* The last place in a cell stays free: no piece touches the next. */
	a->cell_room = a->cell_slots - piece_aligns;
	a->piece_slots = slots_in(a, piece_aligns * align);
	a->slot_count = a->piece_slots * piece_count;
	return 0;
}

/* Equal pieces, one gap apart. What is left behind the last whole one stays out. */
static int lay_pieces(struct address *a, const struct workload *workload, struct err *err)
{
	const uint64_t align = a->range.align_bytes;
	const uint64_t pitch_bytes = workload->piece_bytes + workload->piece_gap_bytes;

	if (workload->piece_bytes % align || workload->piece_gap_bytes % align)
		return err_set(err, -EINVAL,
			       "piece and piece-gap are not multiples of the alignment, %llu bytes",
			       (unsigned long long)align);
	if (workload->piece_bytes > a->range.size_bytes)
		return err_set(err, -EINVAL, "a range of %llu bytes has no room for a piece of %llu",
			       (unsigned long long)a->range.size_bytes,
			       (unsigned long long)workload->piece_bytes);
	a->cell_slots = pitch_bytes / align;
	a->cell_room = 0;
	a->piece_slots = slots_in(a, workload->piece_bytes);
	a->slot_count = a->piece_slots *
			((a->range.size_bytes - workload->piece_bytes) / pitch_bytes + 1);
	return 0;
}

static int init_slots(struct address *a, const struct workload *workload, struct err *err)
{
	const uint32_t align = a->range.align_bytes;

	assert(align > 0 && a->range.block_max_bytes > 0);
	a->mode = mode_of(workload);
	if (workload->stride_bytes % align)
		return err_set(err, -EINVAL, "stride %llu is not a multiple of the alignment %u",
			       (unsigned long long)workload->stride_bytes, align);
	if (a->mode == ADDRESS_SEQUENTIAL_SIZES && workload->backwards)
		return err_set(err, -EINVAL, "backwards takes one block size, not several");
	a->slot_bytes = slot_bytes_of(a->mode, workload, &a->range);
	a->slot_count = slots_in(a, a->range.size_bytes);
	a->stride_slots = workload->stride_bytes / a->slot_bytes;
	if (a->mode == ADDRESS_STRIDED && (workload->stride_bytes % a->slot_bytes || workload->backwards))
		return err_set(err, -EINVAL, "stride-wraps takes a stride of whole blocks, forwards");
	if (workload->segment_count && cut_in_pieces(a, workload->segment_count, err) < 0)
		return err->code;
	if (workload->piece_bytes && lay_pieces(a, workload, err) < 0)
		return err->code;
	if (!a->slot_count)
		return err_set(err, -EINVAL, "a range of %llu bytes has no room for %u bytes%s",
			       (unsigned long long)a->range.size_bytes, a->range.block_max_bytes,
			       workload->segment_count ? " in each segment" :
			       workload->piece_bytes   ? " in each piece" : "");
	return 0;
}

static void init_zones(struct address *a, const struct distribution *distribution)
{
	uint64_t access_ppm = 0, range_ppm = 0, first = 0;

	a->zone_count = distribution->zone_count;
	for (uint32_t i = 0; i < a->zone_count; i++) {
		uint64_t end;

		access_ppm += distribution->zones[i].access_ppm;
		range_ppm += distribution->zones[i].range_ppm;
		end = (uint64_t)((unsigned __int128)a->slot_count * range_ppm / PPM);
		/* A zone smaller than a block still gets its accesses: it borrows its neighbour's. */
		if (first >= a->slot_count)
			first = a->slot_count - 1;
		a->zones[i].below = access_ppm * WHOLE / PPM;
		a->zones[i].first = first;
		a->zones[i].count = end > first ? end - first : 1;
		first = end > first ? end : first;
	}
	assert(a->zone_count && access_ppm == PPM && range_ppm == PPM);
}

static void init_shape(struct address *a, const struct distribution *distribution)
{
	const double parameter = distribution->parameter;

	switch (a->mode) {
	case ADDRESS_ZIPF:
		zipf_init(a, parameter);
		break;
	case ADDRESS_PARETO:
		a->shape.exponent = log(parameter) / log1p(-parameter);
		break;
	case ADDRESS_NORMAL:
		a->shape.exponent = parameter / 100.0;
		break;
	case ADDRESS_ZONED:
		init_zones(a, distribution);
		break;
	default:
		break;
	}
}

int address_init(struct address *a, const struct workload *workload,
		 const struct address_range *range, uint32_t job_index, uint32_t job_count,
		 uint64_t seed, struct err *err)
{
	struct err local = { 0 };
	int r;

	assert(job_index < job_count);
	*a = (struct address){
		.range = *range,
		.backwards = workload->backwards,
		.step = job_count,
		.random_below = (uint64_t)workload->random_ppm * WHOLE / PPM,
		.key = random_mix(seed),
	};
	a->piece_key = workload->segment_seed ? random_mix(workload->segment_seed) : a->key;
	r = init_slots(a, workload, err ? err : &local);
	if (r < 0)
		return r;
	if (job_count > a->slot_count && (a->mode == ADDRESS_PERMUTED ||
					  a->mode == ADDRESS_SEQUENTIAL ||
					  a->mode == ADDRESS_STRIDED ||
					  a->mode == ADDRESS_SEQUENTIAL_SIZES))
		return err_set(err, -EINVAL, "%u jobs cannot share a range of %llu blocks",
			       job_count, (unsigned long long)a->slot_count);

	random_init(&a->random, random_mix(a->key + 1 + job_index));
	permutation_init(&a->permutation, a->slot_count, a->key);
	init_shape(a, &workload->distribution);
	a->first = (uint64_t)((unsigned __int128)a->slot_count * job_index / job_count);
	a->end = (uint64_t)((unsigned __int128)a->slot_count * (job_index + 1) / job_count);
	a->pass_start = job_index;
	a->next = a->mode == ADDRESS_PERMUTED ? job_index : a->first;
	a->turn = a->first;
	a->follow = a->slot_count;
	a->is_uniform = a->mode == ADDRESS_UNIFORM && !a->piece_slots && a->random_below == WHOLE;
	return 0;
}
