/* SPDX-License-Identifier: MIT */
#include "base/check.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "protocol/checkpoint.h"

static char path[] = "./tare-test-checkpoint-XXXXXX";

static void new_file(void)
{
	int fd;

	strcpy(path + strlen(path) - 6, "XXXXXX");
	fd = mkstemp(path);
	if (fd < 0)
		abort();
	close(fd);
}

static struct checkpoint *opened(bool resume)
{
	struct checkpoint *c = NULL;
	struct err err = { 0 };

	CHECK_EQ(checkpoint_open(&c, path, "one", resume, &err), 0);
	CHECK_STR(err.text, "");
	return c;
}

static void add(struct checkpoint *c, const char *name, uint64_t bytes)
{
	struct protocol_cell cell = { .bytes = bytes, .bytes_per_s = 0.1, .latency_ns_max = 7 };

	snprintf(cell.name, sizeof(cell.name), "%s", name);
	CHECK_EQ(checkpoint_add(c, &cell, NULL), 0);
}

static void cells_come_back_up_to_the_last_anchor(void)
{
	struct protocol_cell cell;
	struct checkpoint *c;
	int error;

	new_file();
	c = opened(false);
	add(c, "a", 1);
	add(c, "b", 2);
	CHECK_EQ(checkpoint_anchor(c, NULL), 0);
	add(c, "c", 3);
	checkpoint_close(c);
	for (int again = 0; again < 2; again++) {
		c = opened(true);
		CHECK(checkpoint_take(c, "a", &cell, &error, NULL));
		CHECK_EQ(cell.bytes, 1);
		CHECK_EQ(cell.latency_ns_max, 7);
		CHECK(cell.bytes_per_s == 0.1);
		CHECK(checkpoint_take(c, "b", &cell, &error, NULL));
		CHECK_EQ(cell.bytes, 2);
		CHECK(!checkpoint_take(c, "c", &cell, &error, NULL));
		CHECK_EQ(error, 0);
		checkpoint_close(c);
	}
	unlink(path);
}

static void a_line_that_was_cut_is_left_out(void)
{
	struct protocol_cell cell;
	struct checkpoint *c;
	FILE *file;
	int error;

	new_file();
	c = opened(false);
	add(c, "a", 1);
	CHECK_EQ(checkpoint_anchor(c, NULL), 0);
	checkpoint_close(c);
	file = fopen(path, "a");
	fputs("{\"cell\":\"b\",\"byt", file);
	fclose(file);
	c = opened(true);
	CHECK(checkpoint_take(c, "a", &cell, &error, NULL));
	CHECK(!checkpoint_take(c, "b", &cell, &error, NULL));
	add(c, "b", 5);
	CHECK_EQ(checkpoint_anchor(c, NULL), 0);
	checkpoint_close(c);
	c = opened(true);
	CHECK(checkpoint_take(c, "a", &cell, &error, NULL));
	CHECK(checkpoint_take(c, "b", &cell, &error, NULL));
	CHECK_EQ(cell.bytes, 5);
	checkpoint_close(c);
	unlink(path);
}

static void another_run_is_refused(void)
{
	struct protocol_cell cell;
	struct checkpoint *c;
	struct err err = { 0 };
	int error;

	new_file();
	c = opened(false);
	add(c, "a", 1);
	CHECK_EQ(checkpoint_anchor(c, NULL), 0);
	checkpoint_close(c);
	CHECK_EQ(checkpoint_open(&c, path, "two", true, &err), -ESTALE);
	CHECK(strstr(err.text, "is of another run: it has 'one', this one 'two'") != NULL);
	c = opened(true);
	CHECK(!checkpoint_take(c, "z", &cell, &error, &err));
	CHECK_EQ(error, -ESTALE);
	checkpoint_remove(c);
	CHECK(access(path, F_OK) < 0);
	CHECK_EQ(checkpoint_open(&c, path, "one", true, &err), -ENOENT);
	CHECK(strstr(err.text, "there is nothing to resume") == err.text);
}

static void what_differs_is_named(void)
{
	struct checkpoint *c = NULL;
	struct err err = { 0 };

	new_file();
	CHECK_EQ(checkpoint_open(&c, path, "a, seed 1, idle 7 ns", false, &err), 0);
	checkpoint_close(c);
	CHECK_EQ(checkpoint_open(&c, path, "a, seed 2, idle 7 ns", true, &err), -ESTALE);
	CHECK(strstr(err.text, "it has 'seed 1', this one 'seed 2'") != NULL);
	CHECK_EQ(checkpoint_open(&c, path, "a, seed 1", true, &err), -ESTALE);
	CHECK(strstr(err.text, "it has 'idle 7 ns', this one ''") != NULL);
	unlink(path);
}

/* The drive rested there: also a resume of the resume must know. */
static void gaps_are_kept(void)
{
	struct protocol_cell cell;
	struct checkpoint *c;
	int error;

	new_file();
	c = opened(false);
	CHECK(!checkpoint_has_gap(c));
	add(c, "a", 1);
	CHECK_EQ(checkpoint_anchor(c, NULL), 0);
	CHECK(!checkpoint_has_gap(c));
	checkpoint_close(c);
	c = opened(true);
	CHECK(!checkpoint_has_gap(c));
	CHECK(checkpoint_take(c, "a", &cell, &error, NULL));
	CHECK(checkpoint_has_gap(c));
	add(c, "b", 1);
	CHECK(!checkpoint_has_gap(c));
	add(c, "c", 1);
	CHECK_EQ(checkpoint_anchor(c, NULL), 0);
	checkpoint_close(c);
	c = opened(true);
	CHECK(!checkpoint_has_gap(c));
	CHECK(checkpoint_take(c, "a", &cell, &error, NULL));
	CHECK(checkpoint_has_gap(c));
	CHECK(checkpoint_take(c, "b", &cell, &error, NULL));
	CHECK(!checkpoint_has_gap(c));
	CHECK(checkpoint_take(c, "c", &cell, &error, NULL));
	CHECK(checkpoint_has_gap(c));
	checkpoint_remove(c);
}

static void another_version_is_refused(void)
{
	struct checkpoint *c = NULL;
	struct err err = { 0 };
	FILE *file;

	new_file();
	file = fopen(path, "w");
	fputs("{\"checkpoint\":\"one\",\"tare\":\"0.0.1\"}\n", file);
	fclose(file);
	CHECK_EQ(checkpoint_open(&c, path, "one", true, &err), -ESTALE);
	CHECK(strstr(err.text, "is of tare 0.0.1, and this is " TARE_VERSION) != NULL);
	file = fopen(path, "w");
	fputs("{\"checkpoint\":\"one\"}\n", file);
	fclose(file);
	CHECK_EQ(checkpoint_open(&c, path, "one", true, &err), -ESTALE);
	CHECK(strstr(err.text, "another format") != NULL);
	unlink(path);
}

/* In the middle, where nothing that SIGKILL cuts can be; it stays for whoever wants to look. */
static void a_spoilt_line_is_refused_by_its_number(void)
{
	static const char *const lines[] = { "garbage", "{}", "{\"cell\":\"x\"}", "7", "" };

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct checkpoint *c;
		struct err err = { 0 };
		FILE *file;

		new_file();
		c = opened(false);
		add(c, "a", 1);
		checkpoint_close(c);
		file = fopen(path, "a");
		/* "": zeros, as a power cut leaves them. */
		fputs(lines[i], file);
		fwrite("\0\0", 1, lines[i][0] ? 0 : 2, file);
		fputs("\n{\"anchor\":true}\n", file);
		fclose(file);
		CHECK_EQ(checkpoint_open(&c, path, "one", true, &err), -ESTALE);
		CHECK(strstr(err.text, "is not readable in line 3") != NULL);
		CHECK_EQ(unlink(path), 0);
	}
}

static void garbage_is_refused(void)
{
	static const char *const contents[] = { "", "garbage\n", "[1]\n", "{\"checkpoint\":7}\n" };

	for (size_t i = 0; i < sizeof(contents) / sizeof(contents[0]); i++) {
		struct checkpoint *c;
		FILE *file;

		new_file();
		file = fopen(path, "w");
		fputs(contents[i], file);
		fclose(file);
		CHECK_EQ(checkpoint_open(&c, path, "one", true, NULL), -ESTALE);
		unlink(path);
	}
}

TESTS(TEST(cells_come_back_up_to_the_last_anchor), TEST(a_line_that_was_cut_is_left_out),
      TEST(another_run_is_refused), TEST(garbage_is_refused),
      TEST(what_differs_is_named), TEST(gaps_are_kept), TEST(another_version_is_refused),
      TEST(a_spoilt_line_is_refused_by_its_number))
