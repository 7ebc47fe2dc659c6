/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include "base/check.h"
#include "base/units.h"
#include "target/fixture.h"
#include "target/testfile.h"

static char directory[80], notes[96];

static struct testfile_place setup(void)
{
	struct testfile_place place;

	snprintf(fixture_root, sizeof(fixture_root), "/tmp/tare-fixture-XXXXXX");
	if (!mkdtemp(fixture_root))
		abort();
	snprintf(directory, sizeof(directory), "%s/files", fixture_root);
	snprintf(notes, sizeof(notes), "%s/state/notes", fixture_root);
	mkdir(directory, 0700);
	place = (struct testfile_place){
		.directory_fd = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC),
		.directory = directory,
		.notes = notes,
	};
	return place;
}

static void done(const struct testfile_place *place)
{
	close(place->directory_fd);
	fixture_done();
}

static int entries(const char *path)
{
	DIR *dir = opendir(path);
	const struct dirent *entry;
	int count = 0;

	while (dir && (entry = readdir(dir)))
		count += entry->d_name[0] != '.' || strlen(entry->d_name) > 2;
	if (dir)
		closedir(dir);
	return count;
}

static void the_size_is_sensible(void)
{
	static const struct {
		uint64_t total, free, asked, need, want;
		int r;
	} cases[] = {
		/* a tenth of what is free, at most 8 GiB */
		{ 1000 * GIB, 500 * GIB, 0, 0, 8 * GIB, 0 },
		{ 100 * GIB, 50 * GIB, 0, 0, 5 * GIB, 0 },
		{ 10 * GIB, 2560 * MIB, 0, 0, 256 * MIB, 0 },
		{ 10 * GIB, 2559 * MIB, 0, 0, 0, -ENOSPC },
		{ 10 * GIB, 0, 0, 0, 0, -ENOSPC },
		/* what the job needs is as if asked for */
		{ 100 * GIB, 50 * GIB, 0, 20 * GIB, 20 * GIB, 0 },
		{ 100 * GIB, 50 * GIB, 0, GIB, 5 * GIB, 0 },
		/* asked: anything that leaves 5 % or 1 GiB, whichever is less */
		{ 100 * GIB, 50 * GIB, 49 * GIB, 0, 49 * GIB, 0 },
		{ 100 * GIB, 50 * GIB, 49 * GIB + 1, 0, 0, -ENOSPC },
		{ 1000 * MIB, 100 * MIB, 50 * MIB, 0, 50 * MIB, 0 },
		{ 1000 * MIB, 100 * MIB, 51 * MIB, 0, 0, -ENOSPC },
		{ 1000 * MIB, 10 * MIB, 4096, 0, 0, -ENOSPC },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct testfile_room room = { cases[i].total, cases[i].free, UINT64_MAX };
		struct err err = { 0 };
		uint64_t size = 0;

		CHECK_EQ(testfile_size(&room, cases[i].asked, cases[i].need, &size, &err),
			 cases[i].r);
		CHECK_EQ(size, cases[i].want);
		CHECK((cases[i].r < 0) == (err.text[0] != '\0'));
	}
}

static void what_the_file_system_cannot_hold_is_capped_or_refused(void)
{
	const struct testfile_room fat = { 100 * GIB, 90 * GIB, 4 * GIB - 1 };
	struct err err = { 0 };
	uint64_t size = 0;

	CHECK_EQ(testfile_size(&fat, 0, 0, &size, &err), 0);
	CHECK_EQ(size, 4095 * MIB);
	CHECK_EQ(testfile_size(&fat, 5 * GIB, 0, &size, &err), -EFBIG);
	CHECK_STR(err.text, "a file of 5g is more than may be here (4294967295 bytes)");
}

static void each_way_gives_a_file_that_works_and_leaves_nothing(void)
{
	static const enum testfile_way ways[] = { TESTFILE_UNNAMED, TESTFILE_UNLINKED,
						  TESTFILE_NOTED };

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		const struct testfile_place place = setup();
		struct testfile file;
		struct err err = { 0 };
		char text[8] = "";

		CHECK_EQ(testfile_create(&file, &place, ways[i], &err), 0);
		CHECK_STR(err.text, "");
		CHECK_EQ(file.way, ways[i]);
		CHECK_EQ(testfile_extend(&file, MIB, &err), 0);
		CHECK_EQ(lseek(file.fd, 0, SEEK_END), MIB);
		CHECK_EQ(pwrite(file.fd, "hello", 6, 4096), 6);
		CHECK_EQ(pread(file.fd, text, 6, 4096), 6);
		CHECK_STR(text, "hello");
		/* Only the last has a name, and a note of it. */
		CHECK_EQ(entries(directory), ways[i] == TESTFILE_NOTED);
		CHECK_EQ(entries(notes), ways[i] == TESTFILE_NOTED);
		/* What lives is not reaped. */
		CHECK_EQ(testfile_reap(notes), 0);
		CHECK_EQ(entries(directory), ways[i] == TESTFILE_NOTED);
		testfile_done(&file);
		CHECK_EQ(entries(directory), 0);
		CHECK_EQ(entries(notes), 0);
		done(&place);
	}
}

/* A process that makes a noted file of 1 MiB and is killed. */
static void leave_one(const struct testfile_place *place)
{
	const pid_t child = fork();
	int status;

	if (child == 0) {
		struct testfile file;

		if (testfile_create(&file, place, TESTFILE_NOTED, NULL) == 0 &&
		    testfile_extend(&file, MIB, NULL) == 0)
			raise(SIGKILL);
		_exit(1);
	}
	waitpid(child, &status, 0);
	CHECK(WIFSIGNALED(status));
}

/* The one entry of a directory. */
static void only_entry(const char *path, char *ret, size_t ret_bytes)
{
	DIR *dir = opendir(path);
	const struct dirent *entry;

	ret[0] = '\0';
	while (dir && (entry = readdir(dir)))
		if (strlen(entry->d_name) > 2)
			snprintf(ret, ret_bytes, "%s/%s", path, entry->d_name);
	if (dir)
		closedir(dir);
}

static void the_next_start_reaps_what_a_killed_one_left(void)
{
	const struct testfile_place place = setup();

	leave_one(&place);
	leave_one(&place);
	CHECK_EQ(entries(directory), 2);
	CHECK_EQ(entries(notes), 2);
	CHECK_EQ(testfile_reap(notes), 2);
	CHECK_EQ(entries(directory), 0);
	CHECK_EQ(entries(notes), 0);
	CHECK_EQ(testfile_reap(notes), 0);
	done(&place);
}

static void another_file_under_the_noted_name_is_not_touched(void)
{
	const struct testfile_place place = setup();
	char path[512], aside[600];
	FILE *file;

	leave_one(&place);
	only_entry(directory, path, sizeof(path));
	snprintf(aside, sizeof(aside), "%s/aside", fixture_root);
	/* Renamed, not removed: its inode stays taken. */
	CHECK_EQ(rename(path, aside), 0);
	file = fopen(path, "w");
	if (file) {
		fputs("somebody's", file);
		fclose(file);
	}
	CHECK_EQ(testfile_reap(notes), 0);
	CHECK_EQ(entries(directory), 1);
	CHECK_EQ(unlink(path), 0);
	/* Ours, but grown since: not what we noted. */
	CHECK_EQ(rename(aside, path), 0);
	CHECK_EQ(truncate(path, 2 * MIB), 0);
	CHECK_EQ(testfile_reap(notes), 0);
	CHECK_EQ(entries(directory), 1);
	CHECK_EQ(truncate(path, MIB), 0);
	CHECK_EQ(testfile_reap(notes), 1);
	CHECK_EQ(entries(directory), 0);
	done(&place);
}

static void a_file_that_is_gone_takes_its_note_with_it(void)
{
	const struct testfile_place place = setup();
	char path[512];

	leave_one(&place);
	only_entry(directory, path, sizeof(path));
	CHECK_EQ(unlink(path), 0);
	CHECK_EQ(testfile_reap(notes), 0);
	CHECK_EQ(entries(notes), 0);
	done(&place);
}

static void a_note_that_is_not_ours_names_nothing(void)
{
	static const char *const texts[] = {
		"",
		"tare leftover 1\n",
		"tare leftover 1\ntag 00112233445566778899aabbccddeeff\ninode 0\nsize 0\ndevice "
		"0\npath %s",
		"tare leftover 1\ntag 00112233445566778899aabbccddeeff\ninode 0\nsize 0\ndevice "
		"0\npath x",
	};
	const struct testfile_place place = setup();
	char victim[512], note[512];

	snprintf(victim, sizeof(victim), "%s/victim", directory);
	snprintf(note, sizeof(note), "%s/state", fixture_root);
	mkdir(note, 0700);
	mkdir(notes, 0700);
	snprintf(note, sizeof(note), "%s/00112233445566778899aabbccddeeff", notes);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		FILE *file = fopen(victim, "w");

		if (file)
			fclose(file);
		file = fopen(note, "w");
		CHECK(file != NULL);
		if (file) {
			const char *mark = strstr(texts[i], "%s");

			fprintf(file, "%.*s%s",
				(int)(mark ? mark - texts[i] : (long)strlen(texts[i])), texts[i],
				mark ? victim : "");
			fclose(file);
		}
		CHECK_EQ(testfile_reap(notes), 0);
		CHECK_EQ(access(victim, F_OK), 0);
	}
	done(&place);
}

static void where_nothing_may_be_made_the_place_is_named(void)
{
	const struct testfile_place place = {
		.directory_fd = open("/proc/self", O_PATH | O_DIRECTORY | O_CLOEXEC),
		.directory = "/proc/self",
		.notes = notes,
	};
	const struct testfile_place good = setup();
	struct testfile file;
	struct err err = { 0 };

	CHECK(testfile_create(&file, &place, TESTFILE_ANY, &err) < 0);
	CHECK(strstr(err.text, "no test file can be made in /proc/self") != NULL);
	CHECK_EQ(entries(notes), 0);
	close(place.directory_fd);
	done(&good);
}

TESTS(TEST(the_size_is_sensible), TEST(what_the_file_system_cannot_hold_is_capped_or_refused),
      TEST(each_way_gives_a_file_that_works_and_leaves_nothing),
      TEST(the_next_start_reaps_what_a_killed_one_left),
      TEST(another_file_under_the_noted_name_is_not_touched),
      TEST(a_file_that_is_gone_takes_its_note_with_it), TEST(a_note_that_is_not_ours_names_nothing),
      TEST(where_nothing_may_be_made_the_place_is_named))
