/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/defer.h"
#include "base/units.h"
#include "sim/drive.h"

/* Values of choices, in the order of the enums in sim.h. */
static const char *const buses[] = { "nvme", "sata", NULL };
static const char *const states[] = { "fresh", "filled", "steady", NULL };
static const char *const priorities[] = { "none", "next", "suspend", NULL };
static const char *const mappings[] = { "page", "hybrid", "block", NULL };
static const char *const gcs[] = { "greedy", "fifo", "d-choices", "random", "cost-benefit", NULL };
static const char *const streams[] = { "mixed", "separate", "hot-cold", NULL };
static const char *const slcs[] = { "off", "static", "dynamic", NULL };
static const char *const trims[] = { "honoured", "delayed", "ignored", "none", "damages", NULL };
static const char *const trim_reads[] = { "zeros", "ones", "old", "random", NULL };
static const char *const trim_reports[] = { "none", "drat", "zeros", NULL };

#define ROW(group, name, member, unit, choices, min, max, help) \
	{ name, group, help, choices, offsetof(struct sim_config, member), unit, min, max }
#define COUNT(group, name, member, min, max, help) \
	ROW(group, name, member, SIM_UNIT_COUNT, NULL, min, max, help)
#define BYTES(group, name, member, min, max, help) \
	ROW(group, name, member, SIM_UNIT_BYTES, NULL, min, max, help)
#define RATE(group, name, member, help) \
	ROW(group, name, member, SIM_UNIT_RATE, NULL, 0, 1000000000000, help)
#define TIME(group, name, member, help) \
	ROW(group, name, member, SIM_UNIT_NS, NULL, 0, 86400000000000, help)
#define SHARE(group, name, member, help) \
	ROW(group, name, member, SIM_UNIT_SHARE, NULL, 0, PPM, help)
#define SWITCH(group, name, member, help) \
	ROW(group, name, member, SIM_UNIT_SWITCH, NULL, 0, 1, help)
#define CHOICE(group, name, member, choices, help) \
	ROW(group, name, member, SIM_UNIT_CHOICE, choices, 0, ARRAY_COUNT(choices) - 2, help)

const struct sim_field sim_fields[] = {
	BYTES("host", "capacity", capacity_bytes, 1 * MIB, 8 * TIB, "user capacity"),
	BYTES("host", "logical_block", logical_block_bytes, 512, 4096, "smallest address"),
	BYTES("host", "physical_block", physical_block_bytes, 512, 65536, "claimed atomic write"),
	CHOICE("host", "bus", bus, buses, "which commands it speaks"),
	COUNT("host", "queue_depth", queue_depth_count, 1, 65536, "requests it holds at once"),
	RATE("host", "link", link_bytes_per_s, "host link; 0 = infinitely fast"),
	TIME("host", "link_time", link_ns, "fixed cost of a command on the link"),
	SWITCH("host", "link_duplex", link_duplex, "reads and writes have a lane each"),
	COUNT("host", "seed", seed, 0, UINT64_MAX, "of everything random inside"),
	CHOICE("host", "state", state, states, "what it has been through at the start"),
	SWITCH("host", "content", content, "keep what is written"),

	COUNT("flash", "channels", channels, 1, 64, "flash channels"),
	COUNT("flash", "dies", dies, 1, 64, "dies on each channel"),
	BYTES("flash", "page", page_bytes, 512, MIB, "programmed at once on a die, all planes"),
	COUNT("flash", "pages_per_block", pages_per_block, 2, 65536, "pages of a block on a die"),
	COUNT("flash", "cell_bits", cell_bits, 1, 5, "bits of a cell outside the SLC cache"),
	TIME("flash", "read_time", read_ns, "array to register, one page"),
	TIME("flash", "read_next_time", read_next_ns, "the same for the page after the last read"),
	TIME("flash", "program_time", program_ns, "register to array, mean over a cell's pages"),
	SHARE("flash", "program_spread", program_spread_ppm,
	      "slowest and fastest page of a cell against the mean"),
	TIME("flash", "erase_time", erase_ns, "one block on a die"),
	RATE("flash", "channel", channel_bytes_per_s, "one channel; 0 = infinitely fast"),
	CHOICE("flash", "read_priority", read_priority, priorities,
	       "reads wait for all booked work, the operation under way, or suspend it"),

	TIME("controller", "cpu_read", cpu_read_ns, "firmware time of a read"),
	TIME("controller", "cpu_write", cpu_write_ns, "firmware time of a write"),
	TIME("controller", "cpu_unit", cpu_unit_ns, "firmware time of each further mapping unit"),
	TIME("controller", "cpu_copy", cpu_copy_ns, "firmware time of each unit moved by cleaning"),
	TIME("controller", "cpu_partial", cpu_partial_ns, "firmware time of a partly written unit"),
	SWITCH("controller", "rmw_blocking", rmw_blocking,
	       "firmware waits for the reads of a read-modify-write"),
	BYTES("controller", "buffer", buffer_bytes, 0, 4 * GIB, "write buffer; 0 = none"),
	COUNT("controller", "merge", merge_count, 0, 256,
	      "partly written units held back in the buffer"),
	SWITCH("controller", "power_loss_protected", power_loss_protected,
	       "the buffer survives a power cut"),
	SWITCH("controller", "flush_honoured", flush_honoured, "a flush waits for the flash"),

	CHOICE("mapping", "mapping", mapping, mappings, "how addresses become places"),
	BYTES("mapping", "mapping_unit", mapping_unit_bytes, 512, MIB, "smallest mapped piece"),
	SHARE("mapping", "op", op_ppm, "over-provisioning: usable spare, of the user capacity"),
	SHARE("mapping", "log", log_ppm, "hybrid: log blocks, of the user capacity"),
	COUNT("mapping", "open_blocks", open_blocks_count, 1, 256,
	      "block-mapped: blocks under replacement"),
	SHARE("mapping", "map_cache", map_cache_ppm, "share of the map held in RAM"),

	CHOICE("cleaning", "gc", gc, gcs, "which block is cleaned"),
	COUNT("cleaning", "gc_choices", gc_choices_count, 1, 1024, "d of gc=d-choices"),
	SWITCH("cleaning", "gc_burst", gc_burst, "a cleaning stalls the drive until it is done"),
	SWITCH("cleaning", "gc_interleave", gc_interleave,
	       "copies go between the host's writes, page by page"),
	SHARE("cleaning", "gc_idle", gc_idle_ppm, "free space aimed at when idle, of the spare"),
	TIME("cleaning", "idle_after", idle_after_ns, "a gap this long starts work when idle"),
	CHOICE("cleaning", "streams", streams, streams, "which writes share a block"),
	COUNT("cleaning", "wear_spread", wear_spread_count, 0, 100000,
	      "erase counts further apart are levelled; 0 = off"),

	CHOICE("slc", "slc", slc, slcs, "pseudo-SLC cache"),
	SHARE("slc", "slc_size", slc_ppm, "SLC cache, of the user capacity"),
	TIME("slc", "slc_read_time", slc_read_ns, "page read in SLC mode"),
	TIME("slc", "slc_program_time", slc_program_ns, "page program in SLC mode"),
	SWITCH("slc", "slc_full_fold", slc_full_fold, "when full, fold first; else write past it"),

	CHOICE("discard", "trim", trim, trims, "what a discard does"),
	BYTES("discard", "trim_granularity", trim_granularity_bytes, 512, 16 * MIB,
	      "ranges are cut inward to multiples of this"),
	BYTES("discard", "trim_min", trim_min_bytes, 0, GIB, "shorter ranges are ignored"),
	COUNT("discard", "trim_ranges", trim_ranges_max, 1, 65535, "ranges in one command"),
	TIME("discard", "trim_time", trim_ns, "cost of a discard command"),
	TIME("discard", "trim_range_time", trim_range_ns, "cost of each range in it"),
	TIME("discard", "trim_delay", trim_delay_ns, "trim=delayed: effective so much later"),
	SHARE("discard", "trim_drop", trim_drop_ppm, "ranges forgotten"),
	CHOICE("discard", "trim_reads", trim_reads, trim_reads, "what reads of it return"),
	CHOICE("discard", "trim_reported", trim_reported, trim_reports, "what identify claims"),

	COUNT("heat", "ambient", ambient_mc, 0, 100000, "around the drive, millidegrees Celsius"),
	COUNT("heat", "throttle_at", throttle_at_mc, 0, 200000, "throttles above; 0 = never"),
	ROW("heat", "throttle", throttle_ppm, SIM_UNIT_FACTOR, NULL, PPM, 100ull * PPM,
	    "service time when throttled"),
	COUNT("heat", "idle_power", idle_mw, 0, 100000, "milliwatts"),
	COUNT("heat", "program_energy", program_nj, 0, 1000000000, "nanojoules a page"),
	COUNT("heat", "read_energy", read_nj, 0, 1000000000, "nanojoules a page"),
	COUNT("heat", "heat_resistance", heat_mc_per_w, 0, 1000000, "millidegrees per watt"),
	TIME("heat", "heat_time", heat_tau_ns, "time constant of warming and cooling"),
	TIME("heat", "standby_after", standby_after_ns, "sleeps after this idle time; 0 = never"),
	TIME("heat", "wake_time", wake_ns, "the first request after sleep takes longer"),

	COUNT("limits", "rate", rate_per_s, 0, 100000000, "requests per second; 0 = no limit"),
	COUNT("limits", "burst", burst_per_s, 0, 100000000, "the same while credits last"),
	COUNT("limits", "credits", credits_count, 0, 1000000000000, "requests saved at most"),
	RATE("limits", "rate_bytes", rate_bytes_per_s, "bytes per second; 0 = no limit"),

	SHARE("faults", "spike", spike_ppm, "requests that take much longer"),
	TIME("faults", "spike_time", spike_ns, "by how much"),
	SHARE("faults", "read_error", read_error_ppm, "4 KiB pages unreadable until rewritten"),
	SHARE("faults", "write_error", write_error_ppm, "writes that fail"),
	SHARE("faults", "lost_write", lost_write_ppm, "writes acknowledged and not done"),
	SHARE("faults", "corrupt", corrupt_ppm, "writes stored damaged"),
	SWITCH("faults", "torn_writes", torn_writes, "a power cut tears the newest request"),
	{ 0 },
};

static uint64_t *member(const struct sim_field *field, struct sim_config *config)
{
	assert(field->offset % sizeof(uint64_t) == 0);
	return (uint64_t *)(void *)((char *)config + field->offset);
}

static uint64_t value_of(const struct sim_field *field, const struct sim_config *config)
{
	uint64_t value;

	memcpy(&value, (const char *)config + field->offset, sizeof(value));
	return value;
}

static const char *field_name_at(const void *ctx, size_t i)
{
	(void)ctx;
	return sim_fields[i].name;
}

static const char *preset_name_at(const void *ctx, size_t i)
{
	(void)ctx;
	return sim_presets[i].name;
}

static const char *choice_at(const void *ctx, size_t i)
{
	return ((const char *const *)ctx)[i];
}

static int parse_choice(const struct sim_field *field, const char *text, uint64_t *ret,
			struct err *err)
{
	DEFER(text_done) struct text known = TEXT_INIT;
	const char *nearest;

	for (uint64_t i = 0; field->choices[i]; i++) {
		if (strcmp(field->choices[i], text) == 0) {
			*ret = i;
			return 0;
		}
		text_add(&known, "%s%s", i ? ", " : "", field->choices[i]);
	}
	nearest = text_nearest(text, choice_at, field->choices);
	err_set(err, -EINVAL, "%s '%s' is none of %s", field->name, text, text_string(&known));
	if (nearest)
		err_hint(err, "did you mean '%s=%s'?", field->name, nearest);
	return -EINVAL;
}

static int parse_switch(const struct sim_field *field, const char *text, uint64_t *ret,
			struct err *err)
{
	static const char *const words[] = { "off", "on", "0", "1", "no", "yes", "false", "true" };

	for (uint64_t i = 0; i < ARRAY_COUNT(words); i++) {
		if (strcmp(text, words[i]) == 0) {
			*ret = i & 1;
			return 0;
		}
	}
	return err_set(err, -EINVAL, "%s '%s' is neither on nor off", field->name, text);
}

/* "150%" or "150": percent without an upper end, to 0.0001 %. */
static int parse_factor(const char *text, uint64_t *ret, struct err *err)
{
	char digits[32];
	size_t length = strlen(text);
	uint64_t percent;
	int r;

	if (length == 0 || length >= sizeof(digits))
		return err_set(err, -EINVAL, "'%s' is not a percentage", text);
	memcpy(digits, text, length + 1);
	if (digits[length - 1] == '%')
		digits[length - 1] = '\0';
	r = units_parse_count(digits, &percent, err);
	if (r < 0)
		return r;
	*ret = percent > UINT64_MAX / (PPM / 100) ? UINT64_MAX : percent * (PPM / 100);
	return 0;
}

static int parse_value(const struct sim_field *field, const char *text, uint64_t *ret,
		       struct err *err)
{
	uint32_t ppm;
	int r;

	switch (field->unit) {
	case SIM_UNIT_COUNT:
		return units_parse_count(text, ret, err);
	case SIM_UNIT_BYTES:
	case SIM_UNIT_RATE:
		return units_parse_bytes(text, ret, err);
	case SIM_UNIT_NS:
		return units_parse_time_ns(text, ret, err);
	case SIM_UNIT_SHARE:
		r = units_parse_ppm(text, &ppm, err);
		if (r == 0)
			*ret = ppm;
		return r;
	case SIM_UNIT_SWITCH:
		return parse_switch(field, text, ret, err);
	case SIM_UNIT_CHOICE:
		return parse_choice(field, text, ret, err);
	case SIM_UNIT_FACTOR:
		return parse_factor(text, ret, err);
	}
	assert(0 && "a unit without a parser");
	return -EINVAL;
}

int sim_config_set(struct sim_config *config, const char *key, const char *value, struct err *err)
{
	const char *nearest;
	uint64_t number = 0;
	int r;

	for (const struct sim_field *field = sim_fields; field->name; field++) {
		if (strcmp(field->name, key) != 0)
			continue;
		r = parse_value(field, value, &number, err);
		if (r < 0)
			return err_wrap(err, "sim: %s", key);
		if (number < field->min || number > field->max)
			return err_set(err, -EINVAL, "sim: %s '%s' is outside %" PRIu64
				       " to %" PRIu64, key, value, field->min, field->max);
		*member(field, config) = number;
		return 0;
	}
	nearest = text_nearest(key, field_name_at, NULL);
	err_set(err, -EINVAL, "sim: no parameter '%s'", key);
	if (nearest)
		err_hint(err, "did you mean '%s'?", nearest);
	else
		err_hint(err, "'tare sim show' lists them");
	return -EINVAL;
}

/* "key=value,..."; empty is fine. */
static int set_all(struct sim_config *config, const char *settings, struct err *err)
{
	while (*settings) {
		char pair[128];
		const size_t length = strcspn(settings, ",");
		char *equals;
		int r;

		if (length >= sizeof(pair))
			return err_set(err, -EINVAL, "sim: '%.40s...' is too long", settings);
		memcpy(pair, settings, length);
		pair[length] = '\0';
		equals = strchr(pair, '=');
		if (!equals)
			return err_set(err, -EINVAL, "sim: '%s' is not key=value", pair);
		*equals = '\0';
		r = sim_config_set(config, pair, equals + 1, err);
		if (r < 0)
			return r;
		settings += length;
		if (*settings == ',' && settings[1] == '\0')
			return err_set(err, -EINVAL, "sim: nothing follows the last comma");
		settings += *settings == ',';
	}
	return 0;
}

const struct sim_preset *sim_preset_find(const char *name)
{
	for (const struct sim_preset *preset = sim_presets; preset->name; preset++) {
		if (strcmp(preset->name, name) == 0)
			return preset;
	}
	return NULL;
}

static int load_preset(struct sim_config *config, const char *name, struct err *err)
{
	const struct sim_preset *preset = sim_preset_find(name);
	const char *nearest;
	int r;

	if (!preset) {
		nearest = text_nearest(name, preset_name_at, NULL);
		err_set(err, -EINVAL, "sim: no reference drive '%s'", name);
		if (nearest)
			err_hint(err, "did you mean '%s'?", nearest);
		else
			err_hint(err, "'tare sim list' names them");
		return -EINVAL;
	}
	memset(config, 0, sizeof(*config));
	snprintf(config->preset, sizeof(config->preset), "%s", preset->name);
	snprintf(config->model, sizeof(config->model), "%s", preset->model);
	r = set_all(config, sim_preset_defaults, err);
	assert(r == 0);
	r = set_all(config, preset->settings, err);
	assert(r == 0);
	return 0;
}

int sim_config_parse(struct sim_config *ret, const char *spec, struct err *err)
{
	struct sim_config config;
	char name[64];
	size_t length;
	int r;

	if (strncmp(spec, "sim:", 4) == 0)
		spec += 4;
	length = strcspn(spec, ",");
	if (length == 0 || length >= sizeof(name))
		return err_set(err, -EINVAL, "sim: '%.60s' does not start with a drive's name",
			       spec);
	memcpy(name, spec, length);
	name[length] = '\0';
	r = load_preset(&config, name, err);
	if (r < 0)
		return r;
	if (spec[length] == ',' && spec[length + 1] == '\0')
		return err_set(err, -EINVAL, "sim: nothing follows the last comma");
	r = set_all(&config, spec + length + (spec[length] == ','), err);
	if (r < 0)
		return r;
	r = sim_config_check(&config, err);
	if (r < 0)
		return r;
	*ret = config;
	return 0;
}

void sim_field_print(const struct sim_field *field, const struct sim_config *config,
		     struct text *out)
{
	const uint64_t value = value_of(field, config);
	char buffer[UNITS_TEXT_BYTES];

	switch (field->unit) {
	case SIM_UNIT_COUNT:
		text_add(out, "%" PRIu64, value);
		break;
	case SIM_UNIT_BYTES:
	case SIM_UNIT_RATE:
		text_add(out, "%s", units_format_bytes(value, buffer));
		break;
	case SIM_UNIT_NS:
		text_add(out, "%s", units_format_time_ns(value, buffer));
		break;
	case SIM_UNIT_SHARE:
		text_add(out, "%s", units_format_ppm((uint32_t)value, buffer));
		break;
	case SIM_UNIT_SWITCH:
		text_add(out, "%s", value ? "on" : "off");
		break;
	case SIM_UNIT_CHOICE:
		text_add(out, "%s", field->choices[value]);
		break;
	case SIM_UNIT_FACTOR:
		text_add(out, "%" PRIu64 "%%", value / (PPM / 100));
		break;
	}
}

void sim_config_print(const struct sim_config *config, struct text *out)
{
	struct sim_config plain;
	int r;

	text_add(out, "%s", config->preset);
	r = load_preset(&plain, config->preset, NULL);
	assert(r == 0);
	(void)r;
	for (const struct sim_field *field = sim_fields; field->name; field++) {
		if (value_of(field, config) == value_of(field, &plain))
			continue;
		text_add(out, ",%s=", field->name);
		sim_field_print(field, config, out);
	}
}
