/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/defer.h"
#include "model/workload.h"

static struct err err;

static int set(struct workload *w, const char *name, const char *value)
{
	const struct field *field = field_find(workload_fields, name);

	CHECK(field != NULL);
	err.text[0] = err.hint[0] = '\0';
	return field ? field_set(field, w, value, &err) : -ENOENT;
}

/* What is printed after setting a value; the text is static. */
static const char *printed(const char *name, const char *value)
{
	static char buffer[600];
	struct text text = TEXT_INIT;
	struct workload w;

	workload_init(&w);
	if (set(&w, name, value) < 0) {
		snprintf(buffer, sizeof(buffer), "! %s", err.text);
		return buffer;
	}
	field_print(field_find(workload_fields, name), &w, &text);
	snprintf(buffer, sizeof(buffer), "%s", text_string(&text));
	text_done(&text);
	return buffer;
}

static void a_fresh_workload_is_all_presets_and_possible(void)
{
	struct workload w;

	workload_init(&w);
	for (const struct field *f = workload_fields; f->name; f++) {
		if (!field_is_preset(f, &w))
			printf("# %s\n", f->name);
		CHECK(field_is_preset(f, &w));
	}
	CHECK_EQ(workload_check(&w, &err), 0);
	CHECK_EQ(w.block_bytes, 4096);
	CHECK_EQ(w.depth_count, 1);
	CHECK_EQ(w.job_count, 1);
	CHECK_EQ(w.read_ppm, 500000);
	CHECK_EQ(w.random_ppm, 1000000);
	CHECK_EQ(w.runtime_ns, 0);
	CHECK(w.direct);
	CHECK(w.noatime);
}

static void each_row_is_complete_and_its_name_is_its_own(void)
{
	size_t count = 0;

	for (const struct field *f = workload_fields; f->name; f++, count++) {
		CHECK(f->help && *f->help && f->help[strlen(f->help) - 1] != '.');
		CHECK(f->group != NULL);
		CHECK(strchr(f->name, '_') == NULL);
		CHECK(field_find(workload_fields, f->name) == f);
		CHECK(!f->alias || field_find(workload_fields, f->alias) == f);
		CHECK(f->type != FIELD_CUSTOM || (f->parse && (f->print || f->input_only)));
	}
	CHECK(count <= FIELD_ROWS_MAX);
}

static void names_take_underscores_and_fio_s_other_names(void)
{
	CHECK_STR(field_find(workload_fields, "ramp_time")->name, "ramp-time");
	CHECK_STR(field_find(workload_fields, "readwrite")->name, "rw");
	CHECK_STR(field_find(workload_fields, "qd")->name, "iodepth");
	CHECK(field_find(workload_fields, "ramp") == NULL);
	CHECK(field_find(workload_fields, "") == NULL);
	CHECK_STR(field_nearest(workload_fields, "iodepht"), "iodepth");
	CHECK_STR(field_nearest(workload_fields, "blocksise"), "bs");
	CHECK(field_nearest(workload_fields, "zzzzzzzz") == NULL);
}

static void values_come_back_as_a_user_would_write_them(void)
{
	static const struct {
		const char *name, *value, *want;
	} cases[] = {
		{ "bs", "4096", "4k" },
		{ "bs", "1MiB", "1m" },
		{ "size", "25%", "25%" },
		{ "size", "8g", "8g" },
		{ "rw", "rw", "readwrite" },
		{ "runtime", "1m", "1m" },
		{ "runtime", "90", "90s" },
		{ "direct", "no", "0" },
		{ "ioengine", "psync", "sync" },
		{ "sync", "1", "sync" },
		{ "rate-iops", "10k", "10k" },
		{ "thinktime", "5us", "5us" },
		{ "thinktime-spin", "5us", "5us" },
		{ "max-latency", "10ms", "10ms" },
		{ "number_ios", "1k", "1k" },
		{ "rw", "randtrimwrite", "randtrimwrite" },
		{ "ioengine", "mmap", "mmap" },
		{ "bssplit", "4k/60:64k/40", "4k/60:64k/40" },
		{ "bssplit", "4k/50:1k/:32k/", "4k/50:1k/25:32k/25" },
		{ "bssplit", "4k:8k:16k", "4k/33.3333:8k/33.3333:16k/33.3334" },
		{ "random-distribution", "zipf:1.2", "zipf:1.2" },
		{ "random-distribution", "pareto:0.20", "pareto:0.2" },
		{ "random-distribution", "normal:25", "normal:25" },
		{ "random-distribution", "zoned:80/20:20/80", "zoned:80/20:20/80" },
		{ "random-distribution", "zoned:60/10:40/", "zoned:60/10:40/90" },
		{ "buffer-pattern", "0xDEADbeef", "0xDEADbeef" },
		{ "cpus-allowed", "0-1,3", "0-1,3" },
		{ "randseed", "18446744073709551615", "18446744073709551615" },
	};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
		CHECK_STR(printed(cases[i].name, cases[i].value), cases[i].want);
}

static void a_wrong_value_says_what_is_right(void)
{
	static const struct {
		const char *name, *value, *want;
	} cases[] = {
		{ "bs", "4k,8k", "! bs: '4k,8k': separate values for reads, writes and trims are not "
				 "supported; give one value" },
		{ "bs", "2g", "! bs: 2g is too large; it is at most 1g" },
		{ "size", "0", "! size: 0 is too small; it is at least 1" },
		{ "size", "0%", "! size: 0% is too small" },
		{ "size", "101%", "! size: '101%' is more than 100 %" },
		{ "iodepth", "0", "! iodepth: 0 is too small; it is at least 1" },
		{ "iodepth", "x", "! iodepth: 'x' is not a count; write 500, 10k or 1.5M (thousands and "
				  "millions)" },
		{ "runtime", "2min30", "! runtime: '2min30' is not a time; write 90, 90s, 500ms, 10us, "
				       "100ns, 1m, 1h or 1d" },
		{ "thinktime", "100", "! thinktime: '100' has no unit; write 100us, 100ms or 100s" },
		{ "direct", "2", "! direct: '2' is neither yes nor no; write 1 or 0" },
		{ "buffered", "maybe", "! buffered: 'maybe' is neither yes nor no; write 1 or 0" },
		{ "rw", "raed", "! rw: 'raed' is not one of read, write, trim, randread, randwrite, "
				"randtrim, readwrite, randrw, trimwrite, randtrimwrite" },
		{ "bssplit", "4k/60:64k/50", "! bssplit: shares add up to 110 %, not 100 %" },
		{ "bssplit", "4k/60", "! bssplit: shares add up to 60 %, not 100 %" },
		{ "bssplit", "4k/100:8k/", "! bssplit: nothing is left for the part without a share" },
		{ "bssplit", "4k/60:", "! bssplit: '4k/60:' has an empty part; write 4k/60:64k/40" },
		{ "bssplit", "4k/50,8k/50", "! bssplit: '4k/50,8k/50': separate lists for reads, writes "
					    "and trims are not supported; give one list" },
		{ "random-distribution", "zipf:1", "! random-distribution: 'zipf:1': write zipf:THETA, "
						   "above 0 and not 1, as in zipf:1.2" },
		{ "random-distribution", "zipf", "! random-distribution: 'zipf': write zipf:THETA, "
						 "above 0 and not 1, as in zipf:1.2" },
		{ "random-distribution", "pareto:1e-1", "! random-distribution: 'pareto:1e-1': write "
							"pareto:H between 0 and 1, as in pareto:0.2" },
		{ "buffer-pattern", "0xabc", "! buffer-pattern: '0xabc' is not whole bytes in "
					     "hexadecimal; write 0xdeadbeef or a text" },
		{ "cpus-allowed", "3-1", "! cpus-allowed: '3-1' is not a list of CPUs; write 0, 0-3 or "
					 "0-1,3" },
		{ "name", "a\nb", "! name: a control character (0x0a) in the value" },
		{ "name", "\xff", "! name: the value is not UTF-8" },
		{ "randseed", "10k", "! randseed: '10k' is not a whole number; write digits only" },
	};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
		CHECK_STR(printed(cases[i].name, cases[i].value), cases[i].want);
}

static void a_failure_changes_nothing(void)
{
	struct workload before, w;

	workload_init(&w);
	set(&w, "bssplit", "4k/60:64k/40");
	set(&w, "random-distribution", "zipf:0.9");
	before = w;
	CHECK_EQ(set(&w, "bssplit", "8k/60:1k/50"), -EINVAL);
	CHECK_EQ(set(&w, "random-distribution", "zoned:50/50:40/50"), -EINVAL);
	CHECK_EQ(set(&w, "rwmixwrite", "101"), -ERANGE);
	CHECK_EQ(set(&w, "buffer-pattern", "0x1"), -EINVAL);
	CHECK_EQ(set(&w, "size", "x%"), -EINVAL);
	CHECK(memcmp(&before, &w, sizeof(w)) == 0);
}

static void other_ways_to_write_a_member_reach_it(void)
{
	struct workload w;

	workload_init(&w);
	set(&w, "rwmixwrite", "30");
	CHECK_EQ(w.read_ppm, 700000);
	set(&w, "buffered", "1");
	CHECK(!w.direct);
	set(&w, "zero-buffers", "1");
	CHECK_EQ(w.data, DATA_ZERO);
	set(&w, "buffer-pattern", "abc");
	CHECK_EQ(w.data, DATA_PATTERN);
	set(&w, "for", "3s");
	CHECK_EQ(w.runtime_ns, 3 * SECOND_NS);
}

TESTS(TEST(a_fresh_workload_is_all_presets_and_possible),
      TEST(each_row_is_complete_and_its_name_is_its_own),
      TEST(names_take_underscores_and_fio_s_other_names),
      TEST(values_come_back_as_a_user_would_write_them), TEST(a_wrong_value_says_what_is_right),
      TEST(a_failure_changes_nothing), TEST(other_ways_to_write_a_member_reach_it))
