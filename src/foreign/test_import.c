/* SPDX-License-Identifier: MIT */
#include "foreign/import.h"

#include <errno.h>

#include "base/check.h"
#include "base/text.h"
#include "foreign/import_json.h"

static struct imported imported;
static struct err err;

static int parse(const char *text)
{
	memset(&err, 0, sizeof(err));
	return import_parse(&imported, "file", text, strlen(text), &err);
}

/* The error's sentence, "" when there is none. */
static const char *refusal(const char *text)
{
	if (parse(text) == 0)
		imported_done(&imported);
	return err.text;
}

#define FIO2(figures)                                                                           \
	"{ \"fio version\" : \"fio-2.21\", \"jobs\" : [ { \"jobname\" : \"j\", \"write\" : { "     \
	figures " } } ] }"

static void io_bytes_of_fio_2_are_kib_unless_the_rate_says_otherwise(void)
{
	static const struct {
		const char *figures;
		double bytes;		/* -1 = unknown */
	} cases[] = {
		{ "\"io_bytes\" : 400, \"bw\" : 100, \"runtime\" : 4000", 409600 },
		{ "\"io_bytes\" : 409600, \"bw\" : 100, \"runtime\" : 4000", 409600 },
		{ "\"io_bytes\" : 400", 409600 },
		{ "\"io_bytes\" : 400, \"io_kbytes\" : 1", 400 },
		/* Neither reading agrees with the rate. */
		{ "\"io_bytes\" : 9, \"bw\" : 100, \"runtime\" : 4000", -1 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[256];

		snprintf(text, sizeof(text), FIO2("%s"), cases[i].figures);
		CHECK_EQ(parse(text), 0);
		CHECK_EQ(imported.row_count, 1);
		if (cases[i].bytes < 0)
			CHECK(isnan(imported.rows[0].bytes));
		else
			CHECK_NEAR(imported.rows[0].bytes, cases[i].bytes, 0);
		imported_done(&imported);
	}
}

static void microseconds_and_nanoseconds_are_told_apart_by_the_key(void)
{
	CHECK_EQ(parse(FIO2("\"bw\" : 1, \"lat\" : { \"mean\" : 2.5, \"max\" : 7 }")), 0);
	CHECK_NEAR(imported.rows[0].latency.mean_ns, 2500, 1e-6);
	CHECK_NEAR(imported.rows[0].latency.max_ns, 7000, 1e-6);
	CHECK(isnan(imported.rows[0].latency.min_ns));
	CHECK_EQ(imported.rows[0].latency.span, IMPORTED_TOTAL);
	imported_done(&imported);
	CHECK_EQ(parse(FIO2("\"bw\" : 1, \"clat_ns\" : { \"mean\" : 2.5, \"percentile\" : "
			    "{ \"99.500000\" : 7 } }")), 0);
	CHECK_NEAR(imported.rows[0].latency.mean_ns, 2.5, 1e-6);
	CHECK_NEAR(imported_percentile_ns(&imported.rows[0].latency, 99.5), 7, 0);
	CHECK(isnan(imported_percentile_ns(&imported.rows[0].latency, 99)));
	CHECK_EQ(imported.rows[0].latency.span, IMPORTED_COMPLETION);
	CHECK_EQ(imported.rows[0].latency.percentile_span, IMPORTED_COMPLETION);
	imported_done(&imported);
}

static void a_repeated_key_is_kept_in_its_order(void)
{
	CHECK_EQ(parse("{ \"jobs\" : [ { \"jobname\" : \"j\", \"trim\" : { \"iops\" : 1 }, "
		       "\"job options\" : { \"filename\" : \"b\", \"bs\" : \"16k\", \"filename\" : "
		       "\"a\", \"filename\" : \"b\", \"iodepth\" : \"7\" } } ] }"), 0);
	CHECK_EQ(imported.row_count, 1);
	CHECK_EQ(imported.rows[0].op, IMPORTED_TRIM);
	CHECK_EQ(imported.rows[0].file_count, 3);
	CHECK_STR(imported.rows[0].files[0], "b");
	CHECK_STR(imported.rows[0].files[1], "a");
	CHECK_STR(imported.rows[0].files[2], "b");
	CHECK_NEAR(imported.rows[0].block_bytes, 16384, 0);
	CHECK_NEAR(imported.rows[0].depth_count, 7, 0);
	CHECK(imported.version == NULL);
	imported_done(&imported);
}

static void what_is_missing_is_unknown(void)
{
	CHECK_EQ(parse("{ \"jobs\" : [ { }, { \"read\" : { \"iops\" : 3, \"lat_ns\" : { } } } ] }"), 0);
	CHECK_EQ(imported.row_count, 1);
	CHECK_STR(imported.rows[0].name, "job 2");
	CHECK_NEAR(imported.rows[0].iops, 3, 0);
	CHECK(isnan(imported.rows[0].bytes_per_s));
	CHECK(isnan(imported.rows[0].latency.mean_ns));
	CHECK_EQ(imported.rows[0].latency.span, IMPORTED_SPAN_UNKNOWN);
	CHECK_STR(imported.notes[0], "job 1 did no I/O");
	imported_done(&imported);
}

static void sizes_that_are_several_are_not_one(void)
{
	static const char *const sizes[] = { "4k,8k", "4k-64k", "1x", "" };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		char text[256];

		snprintf(text, sizeof(text), "{ \"global options\" : { \"bs\" : \"%s\" }, \"jobs\" : "
			 "[ { \"jobname\" : \"j\", \"read\" : { \"iops\" : 1 } } ] }", sizes[i]);
		CHECK_EQ(parse(text), 0);
		CHECK(isnan(imported.rows[0].block_bytes));
		imported_done(&imported);
	}
}

static struct json_node *json(const char *text)
{
	struct json_node *root = NULL;
	size_t length = 0;

	if (json_node_parse(&root, text, strlen(text), 1, &length, &err) == 0)
		CHECK_EQ(length, strlen(text));
	return root;
}

static void strings_are_unescaped_into_utf8(void)
{
	struct json_node *root = json("{\"k\\u0041\":\"\\\"\\\\\\/\\t\\u00e9\\u20ac\\ud83d\\ude00\\ud83d"
				      "x\\u0000\"}");

	CHECK_STR(json_node_text(root, "kA"),
		  "\"\\/\t\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xef\xbf\xbdx\xef\xbf\xbd");
	json_node_free(root);
}

static void json_is_strict_but_for_nan(void)
{
	static const char *const wrong[] = {
		"", "[1,]", "{\"a\":1,}", "{a:1}", "[01]", "[1.]", "[.5]", "[+1]", "[1e]", "[0x1]",
		"[tru]", "[\"a]", "[\"\n\"]", "[\"\\x\"]", "[\"\\u12g4\"]", "[1 2]", "{\"a\" 1}", "[1",
		"[infinity]", "[\"\\ud83d\\u12\"]",
	};
	struct json_node *root = json("[-0.5e+2, 0, true, null, nan, -nan, inf, [], {}]");
	size_t count = 0;

	CHECK(root != NULL);
	for (const struct json_node *node = root ? root->first : NULL; node; node = node->next)
		count++;
	CHECK_EQ(count, 9);
	if (root)
		CHECK_NEAR(root->first->number, -50, 0);
	json_node_free(root);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		root = json(wrong[i]);
		if (root)
			printf("# taken: %s\n", wrong[i]);
		CHECK(root == NULL);
		json_node_free(root);
	}
}

static void nesting_has_an_end(void)
{
	char deep[201];

	memset(deep, '[', 200);
	deep[200] = '\0';
	CHECK(json(deep) == NULL);
	CHECK_STR(err.text, "line 1: JSON nested deeper than 64");
}

/* A tree of a value each two bytes would take 50 times the file. */
static void values_have_a_limit_and_histograms_are_left_out(void)
{
	struct text many = TEXT_INIT;
	struct json_node *root = json("{\"bins\":{\"7\":1},\"a\":{\"bins\":2},\"bins\":{}}");

	CHECK(root && root->first == root->last);
	CHECK_NEAR(json_node_number(root ? root->first : NULL, "bins"), 2, 0);
	json_node_free(root);
	CHECK(json("{\"bins\":{\"7\":}}") == NULL);
	text_add(&many, "[");
	for (int i = 0; i < 1 << 20; i++)
		text_add_bytes(&many, "\n0,", 3);
	text_add(&many, "0]");
	CHECK(json(text_string(&many)) == NULL);
	CHECK_STR(err.text,
		  "line 1048577: more than 1048576 values in one JSON document, which no result has");
	text_done(&many);
}

static void an_error_names_file_and_line(void)
{
	CHECK_STR(refusal("a\nb\n{ \"jobs\" :\n  [ x ] }"),
		  "file: line 4: no JSON: 'x ] }' where a value is wanted");
	CHECK_EQ(err.code, -EINVAL);
	CHECK_STR(refusal("{ \"jobs\" : [ 1 ] }"), "file: fio JSON: job 1 is no object");
	CHECK_STR(refusal("{ \"jobs\" : [ ] }"), "file: fio's, but without any figures");
	CHECK_STR(refusal(" \n\t\r\n"), "file: empty");
}

#define HEADER                                                                                   \
	"              kB  reclen    write  rewrite    read    reread    read     write     read   " \
	"rewrite      read   fwrite frewrite    fread  freread\n"

static void figures_of_iozone_go_by_the_selected_tests(void)
{
	static const struct {
		const char *options, *row;
		size_t count;
		const char *last;
	} cases[] = {
		{ "-a -i 5", "64 4 9", 1, "stride-read" },
		{ "-a -i5 -i 4", "64 4 8 9", 2, "stride-read" },
		{ "-a -i 6 -i 3", "64 4 8 9 10", 3, "refwrite" },
		{ "-A", "64 4 1 2 3 4", 4, "reread" },
		{ "-a -i 8 -i 1", "64 4 1 2", 2, "reread" },
		{ "-a -i 0 -+n", "64 4 1 0", 1, "write" },
		{ "-a -i 0", "64 4 1 n/a", 1, "write" },
		{ "-a", "64 4 1 2 3 4 5 6 7 8 9 10 11 12 13", 13, "refread" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[1024];

		snprintf(text, sizeof(text),
			 "Command line used: iozone %s\n" HEADER "%s\niozone test complete.\n",
			 cases[i].options, cases[i].row);
		CHECK_EQ(parse(text), 0);
		CHECK_EQ(imported.row_count, cases[i].count);
		CHECK_STR(imported.rows[imported.row_count - 1].name, cases[i].last);
		CHECK_NEAR(imported.rows[0].file_bytes, 65536, 0);
		CHECK_NEAR(imported.rows[0].block_bytes, 4096, 0);
		imported_done(&imported);
	}
}

static void a_short_row_is_an_error_unless_the_run_was_stopped(void)
{
	static const char run[] = "Command line used: iozone -i 0 -i 1\n" HEADER " 64 4 1 2 3 4\n"
				  " 64 8 5 6 7\n";
	char text[1024];

	CHECK_EQ(parse(run), 0);
	CHECK_EQ(imported.row_count, 7);
	CHECK_STR(imported.rows[6].name, "read");
	CHECK_EQ(imported.note_count, 2);
	imported_done(&imported);
	snprintf(text, sizeof(text), "%siozone test complete.\n", run);
	CHECK_STR(refusal(text), "file: line 4: fewer figures than tests that were selected, though "
				 "the run went through");
	CHECK_STR(refusal(HEADER "64 4 1 x\n"), "file: line 2: 'x' is no figure");
	snprintf(text, sizeof(text), "%s 64 16 5 6 7 8\n", run);
	CHECK_STR(refusal(text), "file: line 4: fewer figures than in line 5, which follows it");
}

static void units_of_iozone_are_the_banners(void)
{
	CHECK_EQ(parse("OPS Mode. Output is in operations per second.\nCommand line used: iozone -i 0 "
		       "-O\n" HEADER " 64 4 250 500\n"), 0);
	CHECK_NEAR(imported.rows[1].iops, 500, 0);
	CHECK_NEAR(imported.rows[1].bytes_per_s, 2048000, 0);
	imported_done(&imported);
	CHECK_EQ(parse("Microseconds/op Mode. Output is in microseconds per operation.\n"
		       "Command line used: iozone -i 0 -N\n" HEADER " 64 4 250 500\n"), 0);
	CHECK_NEAR(imported.rows[1].latency.mean_ns, 500000, 0);
	CHECK_NEAR(imported.rows[1].iops, 2000, 1e-6);
	CHECK_NEAR(imported.rows[1].bytes_per_s, 8192000, 1e-3);
	imported_done(&imported);
}

static void throughput_in_operations_has_the_records_bytes(void)
{
	CHECK_EQ(parse("Each thread writes a 512 kByte file in 64 kByte records\n"
		       "Children see throughput for 4 pread readers \t=   100.00 ops/sec\n"
		       "Parent sees throughput for 4 pread readers \t=    50.00 ops/sec\n"), 0);
	CHECK_EQ(imported.row_count, 1);
	CHECK_STR(imported.rows[0].name, "pread");
	CHECK_EQ(imported.rows[0].op, IMPORTED_READ);
	CHECK_NEAR(imported.rows[0].stream_count, 4, 0);
	CHECK_NEAR(imported.rows[0].iops, 100, 0);
	CHECK_NEAR(imported.rows[0].bytes_per_s, 6553600, 0);
	CHECK_NEAR(imported.rows[0].wall_bytes_per_s, 3276800, 0);
	imported_done(&imported);
	CHECK_STR(refusal("Children see throughput for 4 dancers \t= 1.00 kB/sec\n"),
		  "file: line 1: 'Children see throughput for 4 dancers \t= 1.00 kB/sec' is no test of "
		  "throughput mode with its figure in kB/sec or ops/sec");
}

static void columns_of_iometer_go_by_their_captions(void)
{
	CHECK_EQ(parse("'Target Type,Write I/Os,Target Name,Average Write Response Time,IOps,Write "
		       "IOps,MBps,Write MBps,Access Specification Name\n"
		       "ALL,77,All,1.5,10,10,3,2,Spec\nWORKER,77,W,1.5,10,10,3,2,\n"), 0);
	CHECK_EQ(imported.row_count, 2);
	CHECK_STR(imported.rows[0].name, "Spec");
	CHECK(imported.rows[0].part == NULL);
	CHECK_STR(imported.rows[1].name, "Spec");
	CHECK_STR(imported.rows[1].part, "WORKER W");
	CHECK_EQ(imported.rows[0].op, IMPORTED_WRITE);
	CHECK_NEAR(imported.rows[0].count, 77, 0);
	CHECK_NEAR(imported.rows[0].bytes_per_s, 2097152, 0);
	CHECK_NEAR(imported.rows[0].latency.mean_ns, 1500000, 0);
	CHECK(isnan(imported.rows[0].bytes));
	imported_done(&imported);
	/* Without the split, reads and writes are one. */
	CHECK_EQ(parse("'Target Type,Target Name,Access Specification Name,,IOps,MBps (Decimal)\n"
		       "ALL,All,Spec,99,10,2\n"), 0);
	CHECK(isnan(imported.rows[0].count));
	CHECK_EQ(imported.rows[0].op, IMPORTED_MIXED);
	CHECK_NEAR(imported.rows[0].bytes_per_s, 2000000, 0);
	imported_done(&imported);
	CHECK_STR(refusal("'Target Type,Target Name\nALL,All\n"),
		  "file: line 1: the columns of IOMeter's results are without 'Target Name' or 'IOps'");
}

static void sizes_of_iometer_are_the_specifications(void)
{
	CHECK_EQ(parse("'Access specifications\n"
		       "'Access specification name,default assignment\none; 4k,1\n"
		       "'size,% of size,% reads\n4096,100,50,\n"
		       "'Access specification name,default assignment\ntwo,0\n"
		       "'size,% of size,% reads\n4096,50,50,\n8192,50,50,\n"
		       "'End access specifications\n'Results\n"
		       "'Target Type,Target Name,Access Specification Name,IOps\n"
		       "ALL,All,one; 4k,1\nALL,All,two,2\nALL,All,three,3\n"), 0);
	CHECK_EQ(imported.row_count, 3);
	CHECK_NEAR(imported.rows[0].block_bytes, 4096, 0);
	CHECK(isnan(imported.rows[1].block_bytes));
	CHECK(isnan(imported.rows[2].block_bytes));
	imported_done(&imported);
}

static void terse_lines_that_do_not_fit_are_refused(void)
{
	CHECK_STR(refusal("3;fio-3.33;a;0;0;1;2\n"),
		  "file: line 1: 7 fields, which are none of fio's terse version 3: it has 121, and 9 "
		  "more for each disk");
	CHECK_STR(refusal("1;fio-1.0;a;0;0\n"), "file: line 1: fio's terse version 1; 2 to 5 are read");
}

TESTS(TEST(io_bytes_of_fio_2_are_kib_unless_the_rate_says_otherwise),
      TEST(microseconds_and_nanoseconds_are_told_apart_by_the_key),
      TEST(a_repeated_key_is_kept_in_its_order),
      TEST(what_is_missing_is_unknown),
      TEST(sizes_that_are_several_are_not_one),
      TEST(strings_are_unescaped_into_utf8),
      TEST(json_is_strict_but_for_nan),
      TEST(nesting_has_an_end),
      TEST(values_have_a_limit_and_histograms_are_left_out),
      TEST(an_error_names_file_and_line),
      TEST(figures_of_iozone_go_by_the_selected_tests),
      TEST(a_short_row_is_an_error_unless_the_run_was_stopped),
      TEST(units_of_iozone_are_the_banners),
      TEST(throughput_in_operations_has_the_records_bytes),
      TEST(columns_of_iometer_go_by_their_captions),
      TEST(sizes_of_iometer_are_the_specifications),
      TEST(terse_lines_that_do_not_fit_are_refused))
