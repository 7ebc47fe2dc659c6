/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * sim - the reference drive: a solid-state drive in a struct, whose inside is known.
 *
 * A request goes in with the time it was submitted; out come the time it completes, its
 * outcome and, if wanted, its content. Nothing else moves the drive: no clock, no I/O, no
 * globals, no threads. The same configuration (seed included) and the same requests give
 * the same times, content and counters, on every machine and compiler: everything that
 * decides a time or an address is integer arithmetic.
 *
 *	struct sim_config config;
 *	struct sim *sim;
 *
 *	r = sim_config_parse(&config, "x25m-g2,capacity=8g,seed=7", &err);
 *	r = sim_new(&sim, &config, &err);
 *	sim_submit(sim, now_ns, &(struct sim_request){ .kind = SIM_WRITE, .offset_bytes = 0,
 *		   .length_bytes = 4096, .tag = 42 }, &result);	// result.done_ns
 *	sim_free(sim);
 *
 * Time:	nanoseconds from the drive's birth (0 = sim_new). Submission times never go
 *		back; requests may be submitted before earlier ones complete (queueing, the
 *		link, the queue depth are booked inside), and may complete out of order.
 *		Below 2^64 picoseconds, about 213 days: a real-time caller subtracts its start.
 *		What a drive does when idle (cleaning, folding, late trims, cooling) happens
 *		in the gap before the next submission.
 * Lifecycle:	parse -> new -> { submit | idle | stats | query | power_cut }... -> free
 * Threads:	one at a time; several drives are independent.
 * Ownership:	sim_new returns an owned handle; sim_free takes NULL. Request pointers are
 *		borrowed for the call only. sim_submit allocates only for stored content.
 * Memory:	about 8.7 bytes per mapping unit, and 8 per 4 KiB page written with tags.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/text.h"

/* --- configuration ------------------------------------------------------------------- */

/*
 * Every parameter is a uint64_t in the unit its name ends in, so that one table
 * (sim_fields) parses, prints and documents all of them. A share is in parts per million.
 */
struct sim_config {
	char preset[32];		/* the preset it started from */
	char model[41];			/* as the drive would identify itself */

	/* What the host sees. */
	uint64_t capacity_bytes, logical_block_bytes, physical_block_bytes;
	uint64_t bus;			/* enum sim_bus */
	uint64_t queue_depth_count;
	uint64_t link_bytes_per_s;	/* 0 = infinitely fast */
	uint64_t link_ns;		/* fixed cost of a command on the link, each way together */
	uint64_t link_duplex;		/* reads and writes have a lane each */
	uint64_t seed;
	uint64_t state;			/* enum sim_state */
	uint64_t content;		/* keep what is written; 0: reads return zero tags */

	/* Flash. */
	uint64_t channels, dies;	/* dies per channel */
	uint64_t page_bytes;		/* programmed at once on a die: page times planes */
	uint64_t pages_per_block;	/* a cleaning block is this many pages on every die */
	uint64_t cell_bits;
	uint64_t read_ns, read_next_ns;	/* next: the page that follows the last one read */
	uint64_t program_ns, program_spread_ppm, erase_ns;
	uint64_t channel_bytes_per_s;	/* 0 = infinitely fast */
	uint64_t read_priority;		/* enum sim_priority */

	/* Controller. */
	uint64_t cpu_read_ns, cpu_write_ns, cpu_unit_ns, cpu_copy_ns, cpu_partial_ns;
	uint64_t rmw_blocking;		/* firmware waits for the reads of a read-modify-write */
	uint64_t buffer_bytes;		/* 0 = writes are acknowledged when on flash */
	uint64_t merge_count;		/* partly written units the buffer can hold back */
	uint64_t power_loss_protected, flush_honoured;

	/* Mapping. */
	uint64_t mapping;		/* enum sim_mapping */
	uint64_t mapping_unit_bytes;
	uint64_t op_ppm;		/* usable spare, of the user capacity */
	uint64_t log_ppm;		/* hybrid: log blocks, of the user capacity */
	uint64_t open_blocks_count;	/* block-mapped: blocks under replacement */
	uint64_t map_cache_ppm;		/* share of the map held in RAM; 1000000 = all */

	/* Cleaning. */
	uint64_t gc;			/* enum sim_gc */
	uint64_t gc_choices_count;	/* d of d-choices */
	uint64_t gc_interleave;		/* copies go between host writes, in one stream */
	uint64_t gc_burst;		/* pay for a victim at once, not spread */
	uint64_t gc_idle_ppm;		/* free space aimed at when idle, of the spare; 0 = never */
	uint64_t idle_after_ns;		/* a gap this long starts idle work */
	uint64_t streams;		/* enum sim_streams */
	uint64_t wear_spread_count;	/* static wear levelling beyond this; 0 = off */

	/* Pseudo-SLC cache. */
	uint64_t slc;			/* enum sim_slc */
	uint64_t slc_ppm;		/* of the user capacity; dynamic: times the free share */
	uint64_t slc_read_ns, slc_program_ns;
	uint64_t slc_full_fold;		/* when full: fold before writing, else write past it */

	/* Discard. */
	uint64_t trim;			/* enum sim_trim */
	uint64_t trim_granularity_bytes, trim_min_bytes, trim_ranges_max;
	uint64_t trim_ns, trim_range_ns, trim_delay_ns;
	uint64_t trim_drop_ppm;		/* ranges forgotten */
	uint64_t trim_reads;		/* enum sim_trim_reads: what reads really return */
	uint64_t trim_reported;		/* enum sim_trim_reported: what identify claims */

	/* Heat and power. */
	uint64_t ambient_mc, throttle_at_mc;		/* millidegrees Celsius; 0 = never */
	uint64_t throttle_ppm;		/* service time when throttled; 1500000 = 1.5 x */
	uint64_t idle_mw, program_nj, read_nj;		/* per page */
	uint64_t heat_mc_per_w, heat_tau_ns;		/* thermal resistance, time constant */
	uint64_t standby_after_ns, wake_ns;		/* 0 = never sleeps */

	/* Rate limits with credits (cloud volumes); 0 = none. */
	uint64_t rate_per_s, burst_per_s, credits_count, rate_bytes_per_s;

	/* Faults, drawn from the seed. */
	uint64_t spike_ppm, spike_ns;
	uint64_t read_error_ppm;	/* addresses that cannot be read until written again */
	uint64_t write_error_ppm, lost_write_ppm, corrupt_ppm;
	uint64_t torn_writes;		/* power cut: the newest lost request is torn */
};

enum sim_bus { SIM_BUS_NVME, SIM_BUS_SATA };
enum sim_state { SIM_STATE_FRESH, SIM_STATE_FILLED, SIM_STATE_STEADY };
enum sim_priority { SIM_PRIORITY_NONE, SIM_PRIORITY_NEXT, SIM_PRIORITY_SUSPEND };
enum sim_mapping { SIM_MAPPING_PAGE, SIM_MAPPING_HYBRID, SIM_MAPPING_BLOCK };
enum sim_gc { SIM_GC_GREEDY, SIM_GC_FIFO, SIM_GC_D_CHOICES, SIM_GC_RANDOM, SIM_GC_COST_BENEFIT };
enum sim_streams { SIM_STREAMS_MIXED, SIM_STREAMS_SEPARATE, SIM_STREAMS_HOT_COLD };
enum sim_slc { SIM_SLC_OFF, SIM_SLC_STATIC, SIM_SLC_DYNAMIC };
enum sim_trim {
	SIM_TRIM_HONOURED,	/* effective at once */
	SIM_TRIM_DELAYED,	/* accepted, effective trim_delay later or when idle */
	SIM_TRIM_IGNORED,	/* success is returned, nothing happens */
	SIM_TRIM_NONE,		/* -EOPNOTSUPP, and identify says so */
	SIM_TRIM_DAMAGES,	/* firmware fault: also drops the mapping unit on either side */
};
enum sim_trim_reads { SIM_READS_ZEROS, SIM_READS_ONES, SIM_READS_OLD, SIM_READS_RANDOM };
enum sim_trim_reported { SIM_REPORTED_NONE, SIM_REPORTED_DRAT, SIM_REPORTED_ZEROS };

enum sim_unit {
	SIM_UNIT_COUNT, SIM_UNIT_BYTES, SIM_UNIT_NS, SIM_UNIT_SHARE,
	SIM_UNIT_RATE,		/* bytes per second */
	SIM_UNIT_SWITCH,	/* on, off */
	SIM_UNIT_CHOICE,	/* one of .choices */
	SIM_UNIT_FACTOR,	/* a share that may exceed 100 % */
};

struct sim_field {
	const char *name;		/* the key in target strings */
	const char *group;		/* "host", "flash", ... for `tare sim show` */
	const char *help;		/* one line, no full stop */
	const char *const *choices;	/* NULL-terminated, for SIM_UNIT_CHOICE */
	size_t offset;			/* of the uint64_t in struct sim_config */
	enum sim_unit unit;
	uint64_t min, max;
};

extern const struct sim_field sim_fields[];	/* name == NULL ends */

struct sim_preset {
	const char *name, *model, *help;
	const char *settings;		/* "key=value,..." over the defaults */
};

extern const struct sim_preset sim_presets[];	/* name == NULL ends */

const struct sim_preset *sim_preset_find(const char *name);	/* NULL if there is none */

/*
 * "NAME" or "NAME,key=value,..." with NAME a preset; an optional leading "sim:" is
 * skipped. Strict: an unknown name or key is -EINVAL with one sentence and the nearest
 * known word. Values as units.h reads them; choices by name. *ret is whole on success and
 * untouched on failure. The combination is checked too, so sim_new can only lack memory.
 */
int sim_config_parse(struct sim_config *ret, const char *spec, struct err *err);
/* One key on an existing configuration; the combination is not checked. */
int sim_config_set(struct sim_config *config, const char *key, const char *value,
		   struct err *err);
/* Is it a drive that can exist? 0, or -EINVAL with the reason. */
int sim_config_check(const struct sim_config *config, struct err *err);
/* The value as sim_config_set would read it, exact. */
void sim_field_print(const struct sim_field *field, const struct sim_config *config,
		     struct text *out);
/* The shortest spec that gives this configuration back. */
void sim_config_print(const struct sim_config *config, struct text *out);

/* --- the drive ----------------------------------------------------------------------- */

struct sim;

int sim_new(struct sim **ret, const struct sim_config *config, struct err *err);
void sim_free(struct sim *sim);

struct sim_identity {
	char model[41], serial[21], firmware[9];
	enum sim_bus bus;
	uint64_t capacity_bytes, logical_block_bytes, physical_block_bytes;
	uint64_t queue_depth_count;
	bool volatile_cache;		/* a flush means something */
	bool discard;			/* the drive says that it supports it */
	uint64_t discard_granularity_bytes, discard_ranges_max;
	bool discard_deterministic;	/* claimed: reads after discard always agree */
	bool discard_zeros;		/* claimed: they return zeros */
};

void sim_identify(const struct sim *sim, struct sim_identity *ret);
const struct sim_config *sim_configuration(const struct sim *sim);

/* --- requests ------------------------------------------------------------------------ */

enum sim_kind {
	SIM_READ,
	SIM_WRITE,
	SIM_TRIM,
	SIM_WRITE_ZEROES,
	SIM_FLUSH,
	SIM_PURGE,	/* secure erase, format, sanitize: everything unmapped and erased */
	SIM_KIND_COUNT,
};

/*
 * Content travels either as bytes or as tags. A tag stands for content that only the
 * caller can generate, from the tag and the address; it is kept per logical block. Values
 * the drive itself uses are below; a caller's tags are any others.
 */
#define SIM_TAG_ZEROS 0ull			/* all zero bytes; also: never written */
#define SIM_TAG_ONES UINT64_MAX			/* all 0xff */
#define SIM_TAG_RANDOM (UINT64_MAX - 1)		/* unpredictable */
#define SIM_TAG_BYTES (UINT64_MAX - 2)		/* was written as bytes; read it as bytes */
#define SIM_TAG_CORRUPT_BIT (1ull << 62)	/* flipped in a tag that the drive damaged */

struct sim_range {
	uint64_t offset_bytes, length_bytes;
};

struct sim_request {
	enum sim_kind kind;
	uint64_t offset_bytes, length_bytes;	/* multiples of the logical block */
	bool fua;			/* write: on flash before it completes */
	const void *bytes;		/* write: the content; NULL: the tag is the content */
	uint64_t tag;			/* write without bytes: content of every block */
	void *bytes_ret;		/* read: filled when not NULL; tags as blocks of 8-byte
					 * repeats of the tag */
	uint64_t *tags_ret;		/* read: one per logical block when not NULL */
	const struct sim_range *ranges;	/* trim: instead of offset and length when not NULL */
	uint32_t range_count;
};

struct sim_result {
	uint64_t done_ns;	/* >= the submission */
	int error;		/* 0; -EIO; -EOPNOTSUPP (no trim); -EINVAL (outside, unaligned) */
	bool cached;		/* read: every unit came from the write buffer or needed no flash */
};

void sim_submit(struct sim *sim, uint64_t now_ns, const struct sim_request *request,
		struct sim_result *ret);

/*
 * A hint, without effect but on speed: this address comes soon. Random addresses miss the
 * processor's caches in the drive's tables; told two requests ahead, the misses overlap.
 */
void sim_prefetch(const struct sim *sim, uint64_t offset_bytes);

/* Lets time pass without a request: the same as happens before the next submission. */
void sim_idle(struct sim *sim, uint64_t now_ns);
/* The time at which everything submitted so far is finished, flash programs included. */
uint64_t sim_quiet_ns(const struct sim *sim);

/*
 * The power fails at now_ns and returns at once. Requests not yet complete and, unless
 * protected, writes acknowledged but still in the buffer are lost: their addresses read as
 * before them; with torn_writes the newest of them keeps its first half of blocks. Returns
 * how many logical blocks lost an acknowledged or pending write.
 */
uint64_t sim_power_cut(struct sim *sim, uint64_t now_ns);

/* --- the truth ----------------------------------------------------------------------- */

enum sim_page_truth {
	SIM_PAGE_UNMAPPED,	/* never written, or trimmed and forgotten */
	SIM_PAGE_MAPPED,
	SIM_PAGE_TRIM_PENDING,	/* trimmed by the host, still mapped in the drive */
	SIM_PAGE_TRIMMED_OLD,	/* unmapped, old data still there and read until cleaned */
};

struct sim_truth {
	enum sim_page_truth page;
	bool slc, buffered;	/* where it lies */
	uint64_t tag;		/* what a read of this block would return now */
};

/* The logical block that holds this byte. Costs nothing in drive time. */
void sim_query(const struct sim *sim, uint64_t offset_bytes, struct sim_truth *ret);
/* As sim_query for the mapping only: *ret_end is where the answer may change. */
enum sim_page_truth sim_query_range(const struct sim *sim, uint64_t offset_bytes,
				    uint64_t *ret_end);

/*
 * Counters since birth, or since the last sim_stats_mark for sim_stats_since. Levels
 * (from mapped_bytes on) are as of now in both.
 */
struct sim_stats {
	uint64_t requests[SIM_KIND_COUNT];
	uint64_t host_read_bytes, host_written_bytes, host_trimmed_bytes;
	uint64_t flash_read_bytes, flash_programmed_bytes, erases;
	uint64_t gc_copied_bytes;	/* programmed by cleaning and wear levelling */
	uint64_t fold_copied_bytes;	/* programmed to empty the SLC cache */
	uint64_t map_programmed_bytes;	/* mapping table pages */
	uint64_t pad_bytes;		/* programmed empty: flush of a part-filled page */
	uint64_t rmw_reads;		/* units read to complete a partial write */
	uint64_t merged_writes;		/* partial writes combined in the buffer */
	uint64_t unmapped_read_bytes;	/* read of addresses that hold no data */
	uint64_t buffer_hits;		/* units read from the write buffer */
	uint64_t map_misses, trims_ignored, trims_applied;
	uint64_t spikes, errors, corrupted, lost_writes;
	uint64_t throttled_ns, idle_ns;

	uint64_t mapped_bytes, trim_pending_bytes;
	uint64_t valid_bytes, stale_bytes, free_bytes;	/* physical; sum with pads = raw */
	uint64_t raw_bytes, slc_used_bytes, slc_limit_bytes;
	uint64_t blocks, blocks_free, blocks_slc;
	uint64_t erase_count_min, erase_count_max;
	uint64_t temperature_mc;
	double write_amplification;	/* flash programmed over host written; 0 if none */
};

void sim_stats(const struct sim *sim, struct sim_stats *ret);
void sim_stats_mark(struct sim *sim);
void sim_stats_since(const struct sim *sim, struct sim_stats *ret);

/* Every row of struct sim_stats by name, in order, for reports. */
struct sim_stat_field {
	const char *name, *help;
	size_t offset;		/* of the uint64_t in struct sim_stats */
	bool level;
};

extern const struct sim_stat_field sim_stat_fields[];	/* name == NULL ends */

/* --- checks and theory --------------------------------------------------------------- */

/* Conservation laws of the inside; false names the broken one in *ret. For tests. */
bool sim_consistent(const struct sim *sim, const char **ret);
/* Bytes of memory held for the mapping, content apart. */
uint64_t sim_memory_bytes(const struct sim *sim);

/*
 * The mapping alone, without time: writes the units with these numbers in order. For
 * preconditioning and for tests of the cleaning policies; page mapping only.
 */
void sim_write_units(struct sim *sim, const uint32_t *units, size_t count);
