/* SPDX-License-Identifier: MIT */

/*
 * When the flash is busy. There is no event queue: a die, a channel and the write buffer
 * each know until when they are booked, and an operation is booked at once, in the order
 * of submission. The rules, by which a single die can be calculated by hand:
 *
 *	program	the channel moves the page as soon as it is free (the die's register takes
 *		it while the array is busy: cache program); then the array, in turn
 *	read	the array, in turn or before what is booked (read_priority); then the
 *		channel, whose time is counted but not ordered
 *	copy	what cleaning reads and programs is a debt of its die and channel; it is paid
 *		with the host's programs, evenly until the next cleaning is due (or at once:
 *		gc_burst), and in idle time. Interleaved copies are booked like the host's
 *
 * All times are integer picoseconds.
 */

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/drive.h"

#define SUSPEND_PS (20 * MICROSECOND_NS * PS_PER_NS)

static uint64_t max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t byte_ps_q10(uint64_t bytes_per_s)
{
	return bytes_per_s ? (SECOND_NS * PS_PER_NS * 1024 + bytes_per_s / 2) / bytes_per_s : 0;
}

int flash_init(struct flash *f, const struct sim_config *c, struct map *map, struct err *err)
{
	const uint32_t unit = (uint32_t)c->mapping_unit_bytes;
	uint64_t ring_size;

	memset(f, 0, sizeof(*f));
	f->map = map;
	f->channel_count = (uint32_t)c->channels;
	f->die_count = (uint32_t)(c->channels * c->dies);
	f->unit_bytes = unit;
	f->units_per_page = unit < c->page_bytes ? (uint32_t)(c->page_bytes / unit) : 1;
	f->pages_per_unit = unit > c->page_bytes ? (uint32_t)(unit / c->page_bytes) : 1;
	f->units_shift = (uint32_t)__builtin_ctz(f->units_per_page);
	f->pages_shift = (uint32_t)__builtin_ctz(f->pages_per_unit);
	f->page_bytes = c->page_bytes;
	f->die_magic = UINT64_MAX / f->die_count + 1;
	f->has_slc = c->slc != SIM_SLC_OFF;
	f->copy_transfer_ps = (f->unit_bytes / f->pages_per_unit *
			       byte_ps_q10(c->channel_bytes_per_s)) >> 10;
	f->page_transfer_ps = (c->page_bytes * byte_ps_q10(c->channel_bytes_per_s)) >> 10;
	f->pages_per_die_block = (uint32_t)c->pages_per_block;
	f->read_ps = c->read_ns * PS_PER_NS;
	f->read_next_ps = c->read_next_ns ? c->read_next_ns * PS_PER_NS : f->read_ps;
	f->program_ps = c->program_ns * PS_PER_NS;
	f->erase_ps = c->erase_ns * PS_PER_NS;
	f->slc_read_ps = c->slc_read_ns * PS_PER_NS;
	f->slc_program_ps = c->slc_program_ns * PS_PER_NS;
	f->copy_cpu_ps = c->cpu_copy_ns * PS_PER_NS;
	f->byte_ps_q10 = byte_ps_q10(c->channel_bytes_per_s);
	f->spread_ppm = c->program_spread_ppm;
	f->cell_bits = (uint32_t)c->cell_bits;
	f->slow_ppm = PPM;
	f->read_priority = (enum sim_priority)c->read_priority;
	f->burst = c->gc_burst;
	/* Room for a part-filled page of every stream, or the drive would wait for itself. */
	ring_size = max_u64(c->buffer_bytes / unit, 4ull * f->units_per_page);
	f->ring_size = (uint32_t)ring_size;
	f->index_mask = 63;
	while (f->index_mask < 2 * ring_size && f->index_mask < (1u << 20))
		f->index_mask = f->index_mask * 2 + 1;
	f->dies = calloc(f->die_count, sizeof(*f->dies));
	f->channels = calloc(f->channel_count, sizeof(*f->channels));
	f->ring = calloc(f->ring_size, sizeof(*f->ring));
	f->index = calloc((size_t)f->index_mask + 1, sizeof(*f->index));
	for (int i = 0; i < STREAM_COUNT; i++) {
		f->pending[i].seqs = calloc(f->units_per_page, sizeof(uint64_t));
		if (!f->pending[i].seqs)
			return err_set(err, -ENOMEM, "sim: no memory");
	}
	f->die_channel = calloc(f->die_count, sizeof(*f->die_channel));
	if (!f->dies || !f->channels || !f->ring || !f->index || !f->die_channel)
		return err_set(err, -ENOMEM, "sim: no memory for %u dies", f->die_count);
	for (uint32_t i = 0; i <= f->index_mask; i++)
		f->index[i].unit = NO_UNIT;
	for (uint32_t i = 0; i < f->die_count; i++)
		f->dies[i].last_page = NO_UNIT;
	for (uint32_t i = 0; i < f->die_count; i++)
		f->die_channel[i] = (uint8_t)(i % f->channel_count);
	return 0;
}

void flash_done(struct flash *f)
{
	free(f->dies);
	free(f->channels);
	free(f->ring);
	free(f->index);
	free(f->die_channel);
	for (int i = 0; i < STREAM_COUNT; i++)
		free(f->pending[i].seqs);
	memset(f, 0, sizeof(*f));
}

void flash_reset(struct flash *f, uint64_t t_ps)
{
	for (uint32_t i = 0; i < f->die_count; i++)
		f->dies[i] = (struct die){ .free_ps = t_ps, .last_page = NO_UNIT };
	for (uint32_t i = 0; i < f->channel_count; i++)
		f->channels[i] = (struct channel){ .free_ps = t_ps };
	f->cpu_debt_ps = f->debt_total_ps = 0;
	flash_pad_all(f);
	for (uint32_t i = 0; i < f->ring_size; i++)
		f->ring[i] = 0;
	for (uint32_t i = 0; i < f->die_count; i++)
		f->dies[i].free_ps = t_ps;
	f->busy_ps = t_ps;
}

/* --- costs ---------------------------------------------------------------------------- */

static uint64_t slowed(const struct flash *f, uint64_t ps)
{
	return f->slow_ppm == PPM ? ps : ps / PPM * f->slow_ppm + ps % PPM * f->slow_ppm / PPM;
}

uint64_t flash_transfer_ps(const struct flash *f, uint64_t bytes)
{
	return (bytes * f->byte_ps_q10) >> 10;
}

static bool page_is_slc(const struct flash *f, uint32_t page)
{
	return f->has_slc && f->map->slc[page / (f->die_count * f->pages_per_die_block)];
}

/* page % die_count by multiplication: a division here is a tenth of the run time. */
static uint32_t page_die(const struct flash *f, uint32_t page)
{
	if (f->die_count == 1)
		return 0;	/* its magic would be 2^64 */
	return page - (uint32_t)(((unsigned __int128)page * f->die_magic) >> 64) * f->die_count;
}

/* The pages of a cell are written one after the other, each slower than the last. */
static uint64_t program_cost(const struct flash *f, uint32_t page)
{
	uint64_t ps = f->program_ps;

	if (page_is_slc(f, page))
		return slowed(f, f->slc_program_ps);
	if (f->spread_ppm && f->cell_bits > 1) {
		const uint32_t row = page / f->die_count % f->pages_per_die_block;
		const uint64_t level = row % f->cell_bits * 2;	/* 0 .. 2 (bits - 1) */
		const uint64_t spread = ps / PPM * f->spread_ppm;

		ps = ps - spread + spread * level / (f->cell_bits - 1);
	}
	return slowed(f, ps);
}

static uint64_t read_cost(const struct flash *f, struct die *die, uint32_t page)
{
	const bool next = die->last_page != NO_UNIT && page == die->last_page + f->die_count;

	die->last_page = page;
	if (page_is_slc(f, page))
		return slowed(f, f->slc_read_ps);
	return slowed(f, next ? f->read_next_ps : f->read_ps);
}

static uint32_t slot_page(const struct flash *f, uint32_t slot)
{
	return slot >> f->units_shift << f->pages_shift;
}

static uint64_t page_bytes(const struct flash *f)
{
	return f->page_bytes;
}

/* --- debts ---------------------------------------------------------------------------- */

static void add_debt(struct flash *f, uint32_t page, uint64_t array_ps, uint64_t channel_ps)
{
	struct die *die = &f->dies[page_die(f, page)];
	struct channel *channel = &f->channels[f->die_channel[page_die(f, page)]];

	if (f->map->interleaving) {
		channel->free_ps = max_u64(channel->free_ps, f->base_ps) + channel_ps;
		die->free_ps = max_u64(die->free_ps, f->base_ps) + array_ps;
		if (array_ps)
			die->step_ps = array_ps;
		f->busy_ps = max_u64(f->busy_ps, die->free_ps);
		return;
	}
	die->debt_ps += array_ps;
	channel->debt_ps += channel_ps;
	f->debt_total_ps += array_ps + channel_ps;
}

static uint64_t pay(struct flash *f, uint64_t *debt_ps, uint64_t shares)
{
	const uint64_t part = (*debt_ps + shares - 1) / shares;

	*debt_ps -= part;
	f->debt_total_ps -= part;
	return part;
}

/* Host pages a die still takes before the next cleaning. */
static uint64_t pages_until_cleaning(const struct flash *f)
{
	const struct frontier *host = &f->map->frontiers[STREAM_HOST];

	if (f->map->config->mapping != SIM_MAPPING_PAGE)
		return 1;
	return (host->end - host->next) / f->units_per_page / f->die_count + 1;
}

static void pay_for(struct flash *f, uint64_t t_ps, uint32_t page)
{
	struct die *die = &f->dies[page_die(f, page)];
	struct channel *channel = &f->channels[f->die_channel[page_die(f, page)]];
	const uint64_t shares = pages_until_cleaning(f);

	die->free_ps = max_u64(die->free_ps, t_ps) + pay(f, &die->debt_ps, shares);
	channel->free_ps = max_u64(channel->free_ps, t_ps) +
			   pay(f, &channel->debt_ps, shares * (f->die_count / f->channel_count));
}

uint64_t flash_debt_longest(const struct flash *f)
{
	uint64_t longest = 0;

	for (uint32_t i = 0; f->debt_total_ps && i < f->die_count; i++)
		longest = max_u64(longest, f->dies[i].debt_ps);
	for (uint32_t i = 0; f->debt_total_ps && i < f->channel_count; i++)
		longest = max_u64(longest, f->channels[i].debt_ps);
	return max_u64(longest, f->cpu_debt_ps);
}

void flash_idle(struct flash *f, uint64_t gap_ps)
{
	f->cpu_debt_ps -= f->cpu_debt_ps < gap_ps ? f->cpu_debt_ps : gap_ps;
	if (!f->debt_total_ps)
		return;
	f->debt_total_ps = 0;
	for (uint32_t i = 0; i < f->die_count; i++) {
		uint64_t *debt = &f->dies[i].debt_ps;

		*debt -= *debt < gap_ps ? *debt : gap_ps;
		f->debt_total_ps += *debt;
	}
	for (uint32_t i = 0; i < f->channel_count; i++) {
		uint64_t *debt = &f->channels[i].debt_ps;

		*debt -= *debt < gap_ps ? *debt : gap_ps;
		f->debt_total_ps += *debt;
	}
}

/* --- bookings ------------------------------------------------------------------------- */

/* The whole drive stands still until everything owed is done, every part at its pace. */
static void pay_at_once(struct flash *f, uint64_t t_ps)
{
	for (uint32_t i = 0; i < f->die_count; i++) {
		struct die *die = &f->dies[i];

		die->free_ps = max_u64(die->free_ps, t_ps) + pay(f, &die->debt_ps, 1);
	}
	for (uint32_t i = 0; i < f->channel_count; i++) {
		struct channel *channel = &f->channels[i];

		channel->free_ps = max_u64(channel->free_ps, t_ps) + pay(f, &channel->debt_ps, 1);
	}
}

/*
 * base_ps: when the request reached the flash; data_ps >= base_ps: when the data are there
 * (after the read of a read-modify-write). Waiting for data keeps neither die nor channel
 * from other work, so it does not book them.
 */
static uint64_t book_program(struct flash *f, uint64_t base_ps, uint64_t data_ps, uint32_t page)
{
	struct die *die = &f->dies[page_die(f, page)];
	struct channel *channel = &f->channels[f->die_channel[page_die(f, page)]];
	const uint64_t transfer = flash_transfer_ps(f, page_bytes(f));
	const uint64_t cost = program_cost(f, page);
	uint64_t done;

	if (f->debt_total_ps && f->burst)
		pay_at_once(f, base_ps);
	else if (f->debt_total_ps)
		pay_for(f, base_ps, page);
	channel->free_ps = max_u64(channel->free_ps, base_ps) + transfer;
	die->free_ps = max_u64(die->free_ps, channel->free_ps) + cost;
	die->step_ps = cost;
	die->last_page = NO_UNIT;
	done = max_u64(die->free_ps, data_ps + transfer + cost);
	f->busy_ps = max_u64(f->busy_ps, done);
	return done;
}

static uint64_t read_start(const struct flash *f, const struct die *die, uint64_t t_ps)
{
	const uint64_t backlog = die->free_ps > t_ps ? die->free_ps - t_ps : 0;
	uint64_t rest;

	if (backlog == 0 || f->read_priority == SIM_PRIORITY_NONE || die->step_ps == 0)
		return t_ps + backlog;
	rest = (backlog - 1) % die->step_ps + 1;	/* of the operation under way */
	if (f->read_priority == SIM_PRIORITY_SUSPEND && rest > SUSPEND_PS)
		rest = SUSPEND_PS;
	return t_ps + rest;
}

static uint64_t book_read(struct flash *f, uint64_t t_ps, uint32_t page, uint64_t bytes)
{
	struct die *die = &f->dies[page_die(f, page)];
	struct channel *channel = &f->channels[f->die_channel[page_die(f, page)]];
	const uint64_t transfer = flash_transfer_ps(f, bytes);
	const uint64_t start = read_start(f, die, t_ps);
	const uint64_t ready = start + read_cost(f, die, page);
	uint64_t end;

	channel->free_ps = max_u64(channel->free_ps, t_ps) + transfer;
	end = max_u64(ready + transfer, channel->free_ps);
	if (die->free_ps > start) {
		die->free_ps += ready + transfer - start;	/* before what was booked */
	} else {
		die->free_ps = end;
		die->step_ps = end - start;
	}
	f->busy_ps = max_u64(f->busy_ps, die->free_ps);
	f->pages_read++;
	f->read_bytes += page_bytes(f);
	return end;
}

uint64_t flash_read(struct flash *f, uint64_t t_ps, uint32_t slot, uint64_t from_bytes,
		    uint64_t length_bytes)
{
	const uint64_t bytes = page_bytes(f);
	uint64_t at = (uint64_t)slot * f->unit_bytes + from_bytes;
	const uint64_t end = at + length_bytes;
	uint64_t done = t_ps;

	while (at < end) {
		const uint64_t page_end = (at / bytes + 1) * bytes;
		const uint64_t upto = page_end < end ? page_end : end;

		done = max_u64(done, book_read(f, t_ps, (uint32_t)(at / bytes), upto - at));
		at = upto;
	}
	return done;
}

/* A page of the mapping table; where it lies is not modelled, which die is. */
uint64_t flash_map_access(struct flash *f, uint64_t t_ps, uint32_t where, bool program)
{
	const uint32_t page = (uint32_t)(random_mix(where) % f->die_count);

	if (!program)
		return book_read(f, t_ps, page, 4096 < page_bytes(f) ? 4096 : page_bytes(f));
	f->pages_programmed++;
	f->programmed_bytes += page_bytes(f);
	return book_program(f, t_ps, t_ps, page);
}

/* --- the write buffer ----------------------------------------------------------------- */

uint64_t flash_written_ps(const struct flash *f, uint64_t seq)
{
	return seq + f->ring_size <= f->seq ? 0 : f->ring[seq % f->ring_size];
}

uint64_t flash_admit(struct flash *f, uint64_t t_ps, uint32_t unit)
{
	const uint64_t seq = f->seq;
	uint64_t *place = &f->ring[seq % f->ring_size];
	struct buffered *entry = &f->index[random_mix(unit) & f->index_mask];

	if (*place == PENDING)
		flash_pad_all(f);
	assert(*place != PENDING);
	t_ps = max_u64(t_ps, *place);
	*place = PENDING;
	f->seq = seq + 1;
	f->base_ps = f->now_ps = t_ps;
	*entry = (struct buffered){ unit, seq };
	return t_ps;
}

bool flash_is_buffered(const struct flash *f, uint32_t unit, uint64_t t_ps)
{
	const struct buffered *entry = &f->index[random_mix(unit) & f->index_mask];

	return entry->unit == unit && flash_written_ps(f, entry->seq) > t_ps;
}

static void page_complete(struct flash *f, uint32_t slot, struct pending *pending)
{
	const uint32_t page = slot_page(f, slot);
	uint64_t done = 0;

	for (uint32_t i = 0; i < f->pages_per_unit; i++) {
		f->pages_programmed++;
		f->programmed_bytes += page_bytes(f);
		if (f->map->moving) {
			add_debt(f, page + i, program_cost(f, page + i), f->page_transfer_ps);
			done = max_u64(done, f->now_ps);
		} else {
			done = max_u64(done, book_program(f, f->base_ps, f->now_ps, page + i));
		}
	}
	for (uint32_t i = 0; i < pending->count; i++)
		f->ring[pending->seqs[i] % f->ring_size] = done;
	pending->count = 0;
}

void flash_placed(struct flash *f, uint32_t slot, enum stream stream)
{
	struct pending *pending = &f->pending[stream];

	if (f->map->moving) {
		f->cpu_debt_ps += f->copy_cpu_ps;
	} else {
		assert(pending->count < f->units_per_page);
		pending->seqs[pending->count++] = f->seq - 1;
	}
	if (((slot + 1) & (f->units_per_page - 1)) == 0)
		page_complete(f, slot, pending);
}

void flash_pad(struct flash *f, enum stream stream)
{
	struct frontier *frontier = &f->map->frontiers[stream];
	struct pending *pending = &f->pending[stream];

	while (pending->count > 0) {
		const uint32_t slot = frontier->next;

		assert(frontier->next < frontier->end);
		frontier->next++;
		map_pad_slot(f->map, slot);
		if (((slot + 1) & (f->units_per_page - 1)) == 0)
			page_complete(f, slot, pending);
	}
}

void flash_pad_all(struct flash *f)
{
	for (int i = 0; i < STREAM_COUNT; i++)
		flash_pad(f, (enum stream)i);
}

/* Each page once, with what lives in it. */
void flash_copy_read(struct flash *f, const uint32_t *slots, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const uint32_t page = slot_page(f, slots[i]);

		if (i > 0 && slot_page(f, slots[i - 1]) == page) {
			add_debt(f, page, 0, f->copy_transfer_ps);
			continue;
		}
		for (uint32_t j = 0; j < f->pages_per_unit; j++) {
			const uint64_t array = page_is_slc(f, page) ? f->slc_read_ps : f->read_ps;

			add_debt(f, page + j, slowed(f, array), f->copy_transfer_ps);
			f->pages_read++;
			f->read_bytes += page_bytes(f);
		}
	}
}

void flash_erase(struct flash *f, uint32_t block)
{
	(void)block;
	if (f->map->interleaving) {
		for (uint32_t i = 0; i < f->die_count; i++)
			add_debt(f, i, slowed(f, f->erase_ps), 0);
		return;
	}
	for (uint32_t i = 0; i < f->die_count; i++)
		f->dies[i].debt_ps += slowed(f, f->erase_ps);
	f->debt_total_ps += slowed(f, f->erase_ps) * f->die_count;
}
