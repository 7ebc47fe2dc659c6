/* SPDX-License-Identifier: MIT */

/*
 * A swarm of random drives under random workloads and faults, each from one seed, against
 * a shadow that only knows what was asked. For every block the shadow holds what a read
 * may return:
 *
 *	EXACT	the tag of the last write
 *	GONE	discarded or never written: what trim_reads says; with old data kept, also
 *		that data, until cleaned
 *	MAYBE	a late or partly effective discard: the old tag, or as GONE
 *
 * A power cut may take back what was not flushed: those blocks may hold any value they had
 * since the last flush. A failing seed is printed with the command that repeats it:
 *	test_sim_swarm SEED
 */

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/random.h"
#include "base/units.h"
#include "sim/sim.h"

#define DRIVES 2000
#define GOLDEN_DRIVES 200
#define GOLDEN 0x7f82609f3e44ece6ull

enum kind { EXACT, GONE, MAYBE };

struct shadow {
	uint64_t tag;		/* of the last write; under GONE and MAYBE what was there */
	uint8_t kind;
	bool unflushed;
};

struct past {			/* a value that a power cut may bring back */
	uint32_t block;
	struct shadow value;
};

struct swarm {
	uint64_t seed;
	struct random random;
	struct sim_config config;
	char spec[1024];
	struct sim *sim;
	struct shadow *shadow;
	uint32_t blocks, block_bytes, unit_blocks;
	struct past *past;
	size_t past_count, past_room;
	uint64_t now_ns, next_tag, hash;
	uint64_t written_bytes, read_bytes, last_done_ns;
	uint64_t lost, corrupted, ignored;
	const char *failure;
};

static uint64_t pick(struct swarm *w, uint64_t bound)
{
	return random_below(&w->random, bound);
}

static void fail(struct swarm *w, const char *what)
{
	if (!w->failure)
		w->failure = what;
}

/* --- drives ----------------------------------------------------------------------------- */

/* One draw a call: the order in which arguments are evaluated is the compiler's choice. */
static void add_text(struct swarm *w, const char *key, const char *value)
{
	const size_t length = strlen(w->spec);

	snprintf(w->spec + length, sizeof(w->spec) - length, ",%s=%s", key, value);
}

static void add_number(struct swarm *w, const char *key, uint64_t value, const char *unit)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64 "%s", value, unit);
	add_text(w, key, text);
}

/* One of the words, separated by blanks. */
static void add_one_of(struct swarm *w, const char *key, const char *words)
{
	char text[128], *word = text;
	uint64_t count = 1;

	snprintf(text, sizeof(text), "%s", words);
	for (char *c = text; *c; c++)
		count += *c == ' ';
	for (uint64_t i = pick(w, count); i > 0; i--)
		word = strchr(word, ' ') + 1;
	word[strcspn(word, " ")] = '\0';
	add_text(w, key, word);
}

static void draw_geometry(struct swarm *w)
{
	add_one_of(w, "capacity", "4m 6m 8m 10m 12m");
	add_one_of(w, "mapping_unit", "4k 8k 16k");
	add_one_of(w, "page", "4k 8k 16k");
	add_one_of(w, "channels", "1 2");
	add_one_of(w, "dies", "1 2");
	add_one_of(w, "pages_per_block", "8 16");
	add_one_of(w, "logical_block", "512 4096");
	add_number(w, "op", 15 + pick(w, 40), "%");
	add_number(w, "cell_bits", 1 + pick(w, 4), "");
	add_number(w, "program_spread", pick(w, 50), "%");
	add_one_of(w, "channel", "0 100MB 800MB");
	add_one_of(w, "link", "0 300MB 3GB");
	add_one_of(w, "read_priority", "none next suspend");
	add_one_of(w, "queue_depth", "1 2 4 8 16 32 64");
}

static void draw_mapping(struct swarm *w)
{
	if (pick(w, 4) == 0) {
		add_one_of(w, "mapping", "hybrid block");
		add_number(w, "log", 1 + pick(w, 30), "%");
		add_number(w, "open_blocks", 1 + pick(w, 4), "");
		return;
	}
	add_one_of(w, "gc", "greedy fifo d-choices random cost-benefit");
	add_one_of(w, "streams", "mixed separate hot-cold");
	add_one_of(w, "gc_interleave", "off on");
	add_one_of(w, "slc", "off off static dynamic");
	add_text(w, "slc_size", "10%");
	add_text(w, "slc_program_time", "50us");
	add_text(w, "slc_read_time", "10us");
	add_one_of(w, "slc_full_fold", "on off");
}

static void draw_firmware(struct swarm *w)
{
	add_one_of(w, "buffer", "0 128k 256k");
	add_number(w, "merge", pick(w, 9), "");
	add_one_of(w, "gc_burst", "on off");
	add_one_of(w, "rmw_blocking", "on off");
	add_one_of(w, "idle_after", "0 1ms 1s");
	add_number(w, "gc_idle", pick(w, 100), "%");
	add_one_of(w, "wear_spread", "0 3");
	add_number(w, "cpu_write", pick(w, 20), "us");
	add_number(w, "cpu_copy", pick(w, 5), "us");
	add_one_of(w, "map_cache", "100% 100% 50%");
	add_one_of(w, "state", "fresh filled steady");
	add_one_of(w, "power_loss_protected", "on off");
	add_one_of(w, "flush_honoured", "on on off");
	add_one_of(w, "throttle_at", "0 30000");
	add_text(w, "throttle", "150%");
	add_text(w, "program_energy", "1000000");
	add_text(w, "heat_resistance", "20000");
	add_text(w, "heat_time", "1s");
}

static void draw_faults(struct swarm *w)
{
	add_one_of(w, "trim", "honoured honoured delayed ignored none damages");
	add_one_of(w, "trim_reads", "zeros ones old random");
	add_one_of(w, "trim_granularity", "4k 16k 64k");
	add_one_of(w, "trim_min", "0 0 32k");
	add_one_of(w, "trim_delay", "1ms 1s");
	if (pick(w, 3) == 0) {
		add_text(w, "spike", "1%");
		add_text(w, "spike_time", "10ms");
		add_number(w, "trim_drop", pick(w, 30), "%");
	}
	if (pick(w, 3) == 0) {
		add_number(w, "read_error", pick(w, 3), "%");
		add_number(w, "write_error", pick(w, 3), "%");
	}
	if (pick(w, 3) == 0) {
		add_number(w, "lost_write", pick(w, 3), "%");
		add_number(w, "corrupt", pick(w, 3), "%");
	}
	add_one_of(w, "torn_writes", "on off");
}

static void draw_drive(struct swarm *w)
{
	struct err err;
	int r;

	do {
		snprintf(w->spec, sizeof(w->spec), "page-greedy,seed=%llu",
			 (unsigned long long)pick(w, 1000000));
		draw_geometry(w);
		draw_mapping(w);
		draw_firmware(w);
		draw_faults(w);
		r = sim_config_parse(&w->config, w->spec, &err);
	} while (r < 0);
	r = sim_new(&w->sim, &w->config, &err);
	assert(r == 0);
	w->block_bytes = (uint32_t)w->config.logical_block_bytes;
	w->blocks = (uint32_t)(w->config.capacity_bytes / w->block_bytes);
	w->unit_blocks = (uint32_t)(w->config.mapping_unit_bytes / w->block_bytes);
	w->shadow = calloc(w->blocks, sizeof(*w->shadow));
	assert(w->shadow);
	/* Filled drives hold zeros; what was never written is gone. */
	for (uint32_t i = 0; i < w->blocks; i++)
		w->shadow[i].kind = w->config.state == SIM_STATE_FRESH ? GONE : EXACT;
}

/* --- the shadow ------------------------------------------------------------------------- */

static bool gone_may_read(const struct swarm *w, const struct shadow *s, uint64_t tag)
{
	switch ((enum sim_trim_reads)w->config.trim_reads) {
	case SIM_READS_ZEROS:
		return tag == SIM_TAG_ZEROS;
	case SIM_READS_ONES:
		return tag == SIM_TAG_ONES;
	case SIM_READS_RANDOM:
		return tag == SIM_TAG_RANDOM || tag == SIM_TAG_ZEROS;
	case SIM_READS_OLD:
		return tag == SIM_TAG_ZEROS || tag == s->tag;
	}
	return false;
}

static bool may_read(const struct swarm *w, const struct shadow *s, uint64_t tag)
{
	if (s->kind == EXACT)
		return tag == s->tag;
	return gone_may_read(w, s, tag) || (s->kind == MAYBE && tag == s->tag);
}

static void keep_past(struct swarm *w, uint32_t block)
{
	if (w->config.power_loss_protected)
		return;
	if (w->past_count == w->past_room) {
		w->past_room = w->past_room ? w->past_room * 2 : 1024;
		w->past = realloc(w->past, w->past_room * sizeof(*w->past));
		assert(w->past);
	}
	w->past[w->past_count++] = (struct past){ block, w->shadow[block] };
	w->shadow[block].unflushed = true;
}

static void shadow_set(struct swarm *w, uint32_t block, enum kind kind, uint64_t tag)
{
	keep_past(w, block);
	w->shadow[block].kind = (uint8_t)kind;
	w->shadow[block].tag = tag;
}

static void shadow_flushed(struct swarm *w)
{
	for (size_t i = 0; i < w->past_count; i++)
		w->shadow[w->past[i].block].unflushed = false;
	w->past_count = 0;
}

static void shadow_trim(struct swarm *w, uint64_t first_byte, uint64_t end_byte, enum kind kind)
{
	const uint64_t unit = w->config.mapping_unit_bytes;
	const uint64_t first = (first_byte + unit - 1) / unit * w->unit_blocks;
	const uint64_t end = end_byte / unit * w->unit_blocks;

	for (uint64_t block = first; block < end; block++) {
		if (w->shadow[block].kind != GONE)
			shadow_set(w, (uint32_t)block, kind, w->shadow[block].tag);
	}
}

/* --- requests --------------------------------------------------------------------------- */

static struct sim_range draw_range(struct swarm *w, uint32_t most_blocks)
{
	const uint32_t grain = pick(w, 3) ? 4096 / w->block_bytes : 1;
	uint64_t first = pick(w, w->blocks);
	uint64_t count = (1 + pick(w, most_blocks) / grain) * grain;

	/* Half of the traffic goes to an eighth of the drive. */
	if (pick(w, 2))
		first /= 8;
	first = first / grain * grain;
	count = first + count > w->blocks ? w->blocks - first : count;
	return (struct sim_range){ first * w->block_bytes, count * w->block_bytes };
}

static struct sim_result submit(struct swarm *w, const struct sim_request *q)
{
	struct sim_result result;
	struct sim_stats stats;

	sim_submit(w->sim, w->now_ns, q, &result);
	if (result.done_ns < w->now_ns)
		fail(w, "a request completes after it was submitted");
	if (result.done_ns > w->last_done_ns)
		w->last_done_ns = result.done_ns;
	if (sim_quiet_ns(w->sim) < result.done_ns)
		fail(w, "a drive is not quiet before its requests are done");
	w->hash = random_mix(w->hash ^ result.done_ns) + (uint64_t)(int64_t)result.error;
	sim_stats(w->sim, &stats);
	w->lost = stats.lost_writes;
	w->corrupted = stats.corrupted;
	w->ignored = stats.trims_ignored;
	return result;
}

static void do_write(struct swarm *w, enum sim_kind kind)
{
	const struct sim_range range = draw_range(w, 64);
	const uint64_t lost = w->lost, corrupted = w->corrupted;
	const uint64_t tag = kind == SIM_WRITE ? ++w->next_tag : SIM_TAG_ZEROS;
	const struct sim_request q = { .kind = kind, .offset_bytes = range.offset_bytes,
				       .length_bytes = range.length_bytes, .tag = tag,
				       .fua = pick(w, 16) == 0 };
	const struct sim_result result = submit(w, &q);
	const uint32_t first = (uint32_t)(range.offset_bytes / w->block_bytes);
	const uint32_t end = first + (uint32_t)(range.length_bytes / w->block_bytes);

	if (result.error == -EIO && w->config.write_error_ppm)
		return;
	if (result.error)
		fail(w, "a write succeeds");
	w->written_bytes += range.length_bytes;
	if (w->lost > lost)
		return;
	for (uint32_t block = first; block < end; block++)
		shadow_set(w, block, EXACT, tag);
	if (w->corrupted > corrupted)
		w->shadow[first].tag ^= SIM_TAG_CORRUPT_BIT;
}

static void check_block(struct swarm *w, uint32_t block, uint64_t tag)
{
	struct sim_truth truth;

	if (!may_read(w, &w->shadow[block], tag))
		fail(w, "a block reads what was written");
	sim_query(w->sim, (uint64_t)block * w->block_bytes, &truth);
	if (truth.tag != tag)
		fail(w, "the truth of a block is what it reads");
	w->hash = random_mix(w->hash ^ tag);
}

static void do_read(struct swarm *w)
{
	const struct sim_range range = draw_range(w, 64);
	uint64_t tags[128];
	const struct sim_request q = { .kind = SIM_READ, .offset_bytes = range.offset_bytes,
				       .length_bytes = range.length_bytes, .tags_ret = tags };
	const struct sim_result result = submit(w, &q);

	if (result.error == -EIO && w->config.read_error_ppm)
		return;
	if (result.error)
		fail(w, "a read succeeds");
	w->read_bytes += range.length_bytes;
	for (uint64_t i = 0; i < range.length_bytes / w->block_bytes; i++)
		check_block(w, (uint32_t)(range.offset_bytes / w->block_bytes + i), tags[i]);
}

static void do_trim(struct swarm *w)
{
	const struct sim_config *c = &w->config;
	const struct sim_range range = draw_range(w, w->blocks / 8);
	const uint64_t ignored = w->ignored, grain = c->trim_granularity_bytes;
	const struct sim_request q = { .kind = SIM_TRIM, .offset_bytes = range.offset_bytes,
				       .length_bytes = range.length_bytes };
	const struct sim_result result = submit(w, &q);
	uint64_t first = (range.offset_bytes + grain - 1) / grain * grain;
	uint64_t end = (range.offset_bytes + range.length_bytes) / grain * grain;

	if (c->trim == SIM_TRIM_NONE) {
		if (result.error != -EOPNOTSUPP)
			fail(w, "a drive without discard says so");
		return;
	}
	if (result.error)
		fail(w, "a discard succeeds");
	if (w->ignored > ignored)
		return;
	if (c->trim == SIM_TRIM_IGNORED || range.length_bytes < c->trim_min_bytes || first >= end)
		fail(w, "a discard that cannot take effect is counted as ignored");
	if (c->trim == SIM_TRIM_DAMAGES) {
		const uint64_t unit = c->mapping_unit_bytes;

		first = first / unit * unit;
		end = (end + unit - 1) / unit * unit;
		first -= first >= unit ? unit : 0;
		end += end + unit <= c->capacity_bytes ? unit : 0;
	}
	shadow_trim(w, first, end, c->trim == SIM_TRIM_DELAYED ? MAYBE : GONE);
}

static void do_flush(struct swarm *w)
{
	const struct sim_request q = { .kind = SIM_FLUSH };
	const struct sim_result result = submit(w, &q);

	/* Time must pass for it to be done. */
	w->now_ns = result.done_ns;
	if (w->config.flush_honoured)
		shadow_flushed(w);
}

static void do_purge(struct swarm *w)
{
	const struct sim_request q = { .kind = SIM_PURGE };
	const struct sim_result result = submit(w, &q);

	w->now_ns = result.done_ns;
	for (uint32_t i = 0; i < w->blocks; i++)
		w->shadow[i] = (struct shadow){ .kind = GONE };
	w->past_count = 0;
}

/* Is the tag one that the block had since the last flush? */
static bool in_past(const struct swarm *w, uint32_t block, uint64_t tag)
{
	for (size_t i = 0; i < w->past_count; i++) {
		if (w->past[i].block == block && may_read(w, &w->past[i].value, tag))
			return true;
	}
	return false;
}

static void do_power_cut(struct swarm *w)
{
	sim_power_cut(w->sim, w->now_ns);
	for (uint32_t block = 0; block < w->blocks; block++) {
		struct shadow *s = &w->shadow[block];
		struct sim_truth truth;

		if (!s->unflushed)
			continue;
		sim_query(w->sim, (uint64_t)block * w->block_bytes, &truth);
		if (!may_read(w, s, truth.tag) && !in_past(w, block, truth.tag))
			fail(w, "a power cut gives back a value the block had");
		/* Written and discarded and lost: what is there may still be cleaned. */
		if (truth.page == SIM_PAGE_MAPPED)
			*s = (struct shadow){ truth.tag, EXACT, false };
		else
			*s = (struct shadow){ truth.tag, MAYBE, false };
	}
	w->past_count = 0;
}

static void pass_time(struct swarm *w)
{
	const uint64_t dice = pick(w, 64);

	if (dice < 24)
		w->now_ns += pick(w, 200000);
	else if (dice < 32)
		w->now_ns = w->last_done_ns > w->now_ns ? w->last_done_ns : w->now_ns;
	else if (dice == 63)
		w->now_ns += pick(w, 3 * SECOND_NS);
}

static void step(struct swarm *w)
{
	const uint64_t dice = pick(w, 1000);

	pass_time(w);
	if (dice < 550)
		do_write(w, SIM_WRITE);
	else if (dice < 850)
		do_read(w);
	else if (dice < 940)
		do_trim(w);
	else if (dice < 960)
		do_write(w, SIM_WRITE_ZEROES);
	else if (dice < 990)
		do_flush(w);
	else if (dice < 998)
		do_power_cut(w);
	else
		do_purge(w);
}

static void check_end(struct swarm *w)
{
	struct sim_stats stats;
	const char *broken;

	if (!sim_consistent(w->sim, &broken))
		fail(w, broken);
	sim_stats(w->sim, &stats);
	if (stats.host_written_bytes != w->written_bytes || stats.host_read_bytes != w->read_bytes)
		fail(w, "host bytes add up");
	if (stats.valid_bytes + stats.stale_bytes + stats.free_bytes != stats.raw_bytes)
		fail(w, "pages are conserved");
	if (stats.mapped_bytes != stats.valid_bytes ||
	    stats.mapped_bytes > w->config.capacity_bytes)
		fail(w, "mapped bytes are valid bytes");
	if (stats.flash_programmed_bytes < stats.gc_copied_bytes + stats.fold_copied_bytes)
		fail(w, "copies are programmed");
	w->hash = random_mix(w->hash ^ stats.flash_programmed_bytes ^ stats.erases);
}

/* The drive's hash; failures are told. */
static uint64_t run(uint64_t seed, bool *ret_failed)
{
	struct swarm w = { .seed = seed, .next_tag = 1 };
	const char *broken;

	random_init(&w.random, seed);
	draw_drive(&w);
	for (int i = 0; i < 1000 && !w.failure; i++) {
		step(&w);
		if (i % 100 == 99 && !sim_consistent(w.sim, &broken))
			fail(&w, broken);
	}
	check_end(&w);
	if (w.failure) {
		printf("# not so: %s\n# drive %s\n# repeat: test_sim_swarm %llu\n", w.failure,
		       w.spec, (unsigned long long)seed);
		*ret_failed = true;
	}
	sim_free(w.sim);
	free(w.shadow);
	free(w.past);
	return w.hash;
}

static void two_thousand_drives_keep_their_promises(void)
{
	int failures = 0;

	for (uint64_t seed = 1; seed <= DRIVES && failures < 5; seed++) {
		bool failed = false;

		run(seed, &failed);
		failures += failed;
	}
	CHECK_EQ(failures, 0);
}

/* The same on every compiler, with and without sanitizers. */
static void the_swarm_has_its_golden_value(void)
{
	uint64_t hash = 0;
	bool failed = false;

	for (uint64_t seed = 1; seed <= GOLDEN_DRIVES; seed++)
		hash = random_mix(hash ^ run(seed, &failed));
	if (hash != GOLDEN)
		printf("# golden 0x%016" PRIx64 "\n", hash);
	CHECK(hash == GOLDEN);
}

int main(int argc, char **argv)
{
	static const struct check_test tests[] = {
		TEST(two_thousand_drives_keep_their_promises),
		TEST(the_swarm_has_its_golden_value),
	};
	bool failed = false;

	if (argc < 2)
		return check_run(tests, 2);
	run(strtoull(argv[1], NULL, 10), &failed);
	return failed;
}
