/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/check.h"
#include "base/random.h"
#include "base/text.h"
#include "state/ledger.h"

static char directory[] = "/tmp/tare-test-ledger.XXXXXX";

static struct target_info drive(void)
{
	struct target_info info = { .kind = TARGET_BLOCK, .spec = "/dev/sdz", .device = "sdz",
				    .model = "Example SSD", .serial = "S 1/2", .layer_count = 1 };
	return info;
}

static struct ledger_entry entry(const char *what, const char *state, uint64_t counted_bytes)
{
	struct ledger_entry e = { .at = "2026-01-02T03:04:05Z", .who = "tare 0.1.0, uid 0",
				  .text = "done", .boot = "boot-1" };

	snprintf(e.what, sizeof(e.what), "%s", what);
	snprintf(e.state, sizeof(e.state), "%s", state);
	e.kernel_write_bytes = counted_bytes;
	return e;
}

static void begin(struct ledger *ledger)
{
	const struct target_info info = drive();

	strcpy(directory + strlen(directory) - 6, "XXXXXX");
	if (!mkdtemp(directory))
		abort();
	CHECK_EQ(ledger_open(ledger, directory, &info, NULL), 0);
}

static void end(struct ledger *ledger)
{
	unlink(ledger->path);
	CHECK_EQ(rmdir(directory), 0);
	ledger_done(ledger);
}

static void entries_are_kept_per_drive_and_come_back(void)
{
	struct target_info info = drive(), other = drive();
	struct ledger ledger, again;
	struct ledger_entry e = entry("fill", "filled", 1000);
	struct err err = { 0 };

	begin(&ledger);
	CHECK_EQ(ledger.count, 0);
	CHECK(strstr(ledger.path, "/Example_SSD-S_1_2.jsonl") != NULL);
	e.written_bytes = 123456789012345;
	e.have_drive = true;
	e.drive_write_bytes = 42;
	CHECK_EQ(ledger_add(&ledger, &e, &err), 0);
	e = entry("trim", "trimmed", 1000);
	CHECK_EQ(ledger_add(&ledger, &e, &err), 0);
	CHECK_EQ(ledger_open(&again, directory, &info, &err), 0);
	CHECK_EQ(again.count, 2);
	CHECK_STR(again.entries[0].what, "fill");
	CHECK_EQ(again.entries[0].written_bytes, 123456789012345);
	CHECK(again.entries[0].have_drive && !again.entries[1].have_drive);
	CHECK_EQ(again.entries[0].drive_write_bytes, 42);
	CHECK_STR(again.entries[1].state, "trimmed");
	ledger_done(&again);
	snprintf(other.serial, sizeof(other.serial), "S2");
	CHECK_EQ(ledger_open(&again, directory, &other, &err), 0);
	CHECK_EQ(again.count, 0);
	ledger_done(&again);
	other.device[0] = '\0';
	CHECK_EQ(ledger_open(&again, directory, &other, &err), -ENODEV);
	end(&ledger);
}

static void a_torn_line_is_left_out_and_replaced(void)
{
	const struct target_info info = drive();
	struct ledger ledger, again;
	struct ledger_entry e = entry("fill", "filled", 1);
	struct err err = { 0 };
	FILE *file;

	begin(&ledger);
	CHECK_EQ(ledger_add(&ledger, &e, &err), 0);
	file = fopen(ledger.path, "a");
	fputs("{\"at\":\"2026", file);
	fclose(file);
	CHECK_EQ(ledger_open(&again, directory, &info, &err), 0);
	CHECK_EQ(again.count, 1);
	CHECK_EQ(ledger_add(&again, &e, &err), 0);
	ledger_done(&again);
	CHECK_EQ(ledger_open(&again, directory, &info, &err), 0);
	CHECK_EQ(again.count, 2);
	ledger_done(&again);
	file = fopen(ledger.path, "a");
	fputs("nonsense\n", file);
	fclose(file);
	CHECK_EQ(ledger_open(&again, directory, &info, &err), -EINVAL);
	CHECK(strstr(err.text, ".jsonl:3: this is no entry of a ledger") != NULL);
	end(&ledger);
}

static void writes_of_others_are_seen_in_the_counters(void)
{
	struct ledger ledger;
	struct ledger_entry e = entry("fill", "filled", 1000), now = entry("", "", 1000), found;
	char state[32], text[256];

	begin(&ledger);
	CHECK(!ledger_catch_up(&ledger, &now, &found));
	CHECK_EQ(ledger_add(&ledger, &e, NULL), 0);
	CHECK(!ledger_catch_up(&ledger, &now, &found));
	now.kernel_write_bytes = 1000 + 3 * 1048576;
	CHECK(ledger_catch_up(&ledger, &now, &found));
	CHECK_EQ(found.written_bytes, 3 * 1048576);
	CHECK_STR(found.who, "others");
	CHECK_STR(found.text, "3.00 MiB were written by others since 2026-01-02T03:04:05Z");
	ledger_state(&ledger, state, text, sizeof(text));
	CHECK_STR(state, "filled");
	CHECK_STR(text, "fill on 2026-01-02T03:04:05Z: done");
	CHECK_EQ(ledger_add(&ledger, &found, NULL), 0);
	ledger_state(&ledger, state, text, sizeof(text));
	CHECK_STR(state, "unknown");
	CHECK_STR(text, "filled on 2026-01-02T03:04:05Z; then 3.00 MiB were written by others since "
			"2026-01-02T03:04:05Z");
	end(&ledger);
}

static void after_another_boot_the_drives_own_count_tells(void)
{
	struct ledger ledger;
	struct ledger_entry e = entry("fill", "filled", 1000), now = entry("", "", 5), found;

	begin(&ledger);
	CHECK_EQ(ledger_add(&ledger, &e, NULL), 0);
	snprintf(now.boot, sizeof(now.boot), "boot-2");
	CHECK(ledger_catch_up(&ledger, &now, &found));
	CHECK_EQ(found.written_bytes, 0);
	CHECK_STR(found.text, "the counters began anew after 2026-01-02T03:04:05Z, with another boot or "
			      "device, and nothing tells what was written in between");
	e.have_drive = now.have_drive = true;
	e.drive_write_bytes = now.drive_write_bytes = 7000;
	CHECK_EQ(ledger_add(&ledger, &e, NULL), 0);
	CHECK(!ledger_catch_up(&ledger, &now, &found));
	now.drive_write_bytes = 8024;
	CHECK(ledger_catch_up(&ledger, &now, &found));
	CHECK_EQ(found.written_bytes, 1024);
	end(&ledger);
}

/* Of an emulated drive, or of a device that was taken away and given back. */
static void a_count_that_fell_tells_nothing(void)
{
	struct ledger ledger;
	struct ledger_entry e = entry("fill", "filled", 1000), now = entry("", "", 999), found;

	begin(&ledger);
	e.have_drive = now.have_drive = true;
	e.drive_write_bytes = 7000;
	now.drive_write_bytes = 7500;
	CHECK_EQ(ledger_add(&ledger, &e, NULL), 0);
	CHECK(ledger_catch_up(&ledger, &now, &found));
	CHECK_EQ(found.written_bytes, 500);
	now.drive_write_bytes = 512;
	CHECK(ledger_catch_up(&ledger, &now, &found));
	CHECK_EQ(found.written_bytes, 0);
	CHECK_STR(found.state, "unknown");
	end(&ledger);
}

/* Bytes of a good line changed at random: refused or read, never a crash. */
static void lines_are_read_strictly(void)
{
	struct ledger_entry e = entry("fill", "filled", 1000), got;
	struct text line = TEXT_INIT;
	struct random random;

	ledger_print(&e, &line);
	CHECK_EQ(ledger_parse(text_string(&line), &got), 0);
	CHECK(memcmp(&e, &got, sizeof(e)) == 0);
	random_init(&random, 9);
	for (int i = 0; i < 20000; i++) {
		char copy[1024];

		snprintf(copy, sizeof(copy), "%s", text_string(&line));
		for (int k = 0; k < 3; k++)
			copy[random_below(&random, line.length)] = (char)random_below(&random, 256);
		(void)ledger_parse(copy, &got);
	}
	CHECK_EQ(ledger_parse("{}", &got), -EINVAL);
	CHECK_EQ(ledger_parse("[1]", &got), -EINVAL);
	text_done(&line);
}

TESTS(TEST(entries_are_kept_per_drive_and_come_back),
      TEST(a_torn_line_is_left_out_and_replaced),
      TEST(writes_of_others_are_seen_in_the_counters),
      TEST(after_another_boot_the_drives_own_count_tells), TEST(a_count_that_fell_tells_nothing),
      TEST(lines_are_read_strictly))
