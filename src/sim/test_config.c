/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "base/check.h"
#include "base/units.h"
#include "sim/sim.h"

static void every_preset_parses_and_can_be_made(void)
{
	for (const struct sim_preset *preset = sim_presets; preset->name; preset++) {
		struct sim_config config;
		struct err err = { 0 };
		struct sim *sim = NULL;

		CHECK_EQ(sim_config_parse(&config, preset->name, &err), 0);
		CHECK_STR(err.text, "");
		CHECK_EQ(sim_new(&sim, &config, &err), 0);
		CHECK_STR(config.preset, preset->name);
		sim_free(sim);
	}
}

static void keys_override_the_preset(void)
{
	struct sim_config config;
	struct err err = { 0 };

	CHECK_EQ(sim_config_parse(&config, "sim:page-greedy,capacity=2g,op=28,"
		 "pages_per_block=64,gc=d-choices,trim=delayed,state=steady,seed=7,"
		 "read_time=60us,channel=75MB", &err), 0);
	CHECK_EQ(config.capacity_bytes, 2147483648);
	CHECK_EQ(config.op_ppm, 280000);
	CHECK_EQ(config.pages_per_block, 64);
	CHECK_EQ(config.gc, SIM_GC_D_CHOICES);
	CHECK_EQ(config.trim, SIM_TRIM_DELAYED);
	CHECK_EQ(config.state, SIM_STATE_STEADY);
	CHECK_EQ(config.seed, 7);
	CHECK_EQ(config.read_ns, 60000);
	CHECK_EQ(config.channel_bytes_per_s, 75000000);
}

static void mistakes_are_one_sentence_with_the_nearest_word(void)
{
	static const struct {
		const char *spec, *text, *hint;
	} cases[] = {
		{ "x25m-g3", "sim: no reference drive 'x25m-g3'", "did you mean 'x25m-g1'?" },
		{ "", "sim: '' does not start with a drive's name", "" },
		{ "m80,capcity=8g", "sim: no parameter 'capcity'", "did you mean 'capacity'?" },
		{ "m80,zzzzzzzz=1", "sim: no parameter 'zzzzzzzz'", "'tare sim show' lists them" },
		{ "m80,gc=gredy", "sim: gc: gc 'gredy' is none of greedy, fifo, d-choices, random, "
		  "cost-benefit", "did you mean 'gc=greedy'?" },
		{ "m80,content=maybe", "sim: content: content 'maybe' is neither on nor off", "" },
		{ "m80,seed", "sim: 'seed' is not key=value", "" },
		{ "m80,seed=1,", "sim: nothing follows the last comma", "" },
		{ "m80,", "sim: nothing follows the last comma", "" },
		{ "m80,channels=0", "sim: channels '0' is outside 1 to 64", "" },
		{ "m80,page=3k", "sim: page and mapping_unit are powers of two", "" },
		{ "m80,slc=static,slc_size=4%,mapping=block,gc_interleave=off",
		  "sim: slc needs mapping=page", "" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sim_config config = { .seed = 77 };
		struct err err = { 0 };

		CHECK_EQ(sim_config_parse(&config, cases[i].spec, &err), -EINVAL);
		CHECK_STR(err.text, cases[i].text);
		CHECK_STR(err.hint, cases[i].hint);
		CHECK_EQ(config.seed, 77);
	}
}

static void a_printed_configuration_parses_back_to_itself(void)
{
	for (const struct sim_preset *preset = sim_presets; preset->name; preset++) {
		struct text first = TEXT_INIT, second = TEXT_INIT;
		struct sim_config config, again;
		struct err err = { 0 };
		char spec[128];

		snprintf(spec, sizeof(spec), "%s,seed=12345,op=11.5%%,throttle=130%%,idle_after=3s,"
			 "capacity=6g", preset->name);
		CHECK_EQ(sim_config_parse(&config, spec, &err), 0);
		CHECK_STR(err.text, "");
		sim_config_print(&config, &first);
		CHECK_EQ(sim_config_parse(&again, text_string(&first), &err), 0);
		CHECK_EQ(memcmp(&config, &again, sizeof(config)), 0);
		sim_config_print(&again, &second);
		CHECK_STR(text_string(&second), text_string(&first));
		text_done(&first);
		text_done(&second);
	}
}

static void every_field_has_help_and_a_name_of_its_own(void)
{
	for (const struct sim_field *a = sim_fields; a->name; a++) {
		CHECK(a->help && a->help[0] && a->help[strlen(a->help) - 1] != '.');
		for (const struct sim_field *b = a + 1; b->name; b++)
			CHECK(strcmp(a->name, b->name) != 0 && a->offset != b->offset);
	}
}

static void identity_tells_what_the_drive_claims(void)
{
	struct sim_identity id;
	struct sim_config config;
	struct err err = { 0 };
	struct sim *sim;

	CHECK_EQ(sim_config_parse(&config, "liar-trim,seed=10", &err), 0);
	CHECK_EQ(sim_new(&sim, &config, &err), 0);
	sim_identify(sim, &id);
	CHECK_STR(id.model, "TARE LIAR TRIM");
	CHECK_STR(id.serial, "TARE000000000000000a");
	CHECK_EQ(id.capacity_bytes, GIB);
	CHECK_EQ(id.logical_block_bytes, 512);
	CHECK(id.discard && id.discard_zeros && id.volatile_cache);
	sim_free(sim);
	CHECK_EQ(sim_config_parse(&config, "x25m-g1", &err), 0);
	CHECK_EQ(sim_new(&sim, &config, &err), 0);
	sim_identify(sim, &id);
	CHECK(!id.discard && !id.discard_zeros);
	CHECK_EQ(id.discard_granularity_bytes, 0);
	CHECK_EQ(id.queue_depth_count, 32);
	CHECK_EQ(id.bus, SIM_BUS_SATA);
	sim_free(sim);
}

TESTS(TEST(every_preset_parses_and_can_be_made), TEST(keys_override_the_preset),
      TEST(mistakes_are_one_sentence_with_the_nearest_word),
      TEST(a_printed_configuration_parses_back_to_itself),
      TEST(every_field_has_help_and_a_name_of_its_own), TEST(identity_tells_what_the_drive_claims))
