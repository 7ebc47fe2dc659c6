/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "base/units.h"
#include "target/gate.h"
#include "target/kinds.h"
#include "target/target.h"

static char directory[64];
static char paths[2][96];	/* of two files in it */

static void make_files(uint64_t first_bytes, uint64_t second_bytes)
{
	const uint64_t bytes[] = { first_bytes, second_bytes };

	snprintf(directory, sizeof(directory), "/tmp/tare-parts-XXXXXX");
	if (!mkdtemp(directory))
		abort();
	for (int i = 0; i < 2; i++) {
		int fd;

		snprintf(paths[i], sizeof(paths[i]), "%s/part%s%d", directory, i ? ":" : "", i);
		fd = open(paths[i], O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		CHECK_EQ(ftruncate(fd, (off_t)bytes[i]), 0);
		close(fd);
	}
}

static void remove_files(void)
{
	CHECK_EQ(unlink(paths[0]), 0);
	CHECK_EQ(unlink(paths[1]), 0);
	CHECK_EQ(rmdir(directory), 0);	/* nothing else was left there */
}

/* "PREFIXfirst:second", with the second's colon escaped. */
static const char *list(const char *prefix)
{
	static char text[2][256];
	static int turn;

	turn = !turn;
	snprintf(text[turn], sizeof(text[turn]), "%s%s:%s/part\\:1", prefix, paths[0], directory);
	return text[turn];
}

static int open_it(const struct target_request *request, struct target **ret, struct err *err)
{
	*err = (struct err){ 0 };
	*ret = NULL;
	return target_open(ret, request, err);
}

static void check_refusal(const struct target_request *request, int code, const char *part)
{
	struct target *target;
	struct err err;

	CHECK_EQ(open_it(request, &target, &err), code);
	if (!strstr(err.text, part))
		CHECK_STR(err.text, part);
	target_close(target);
}

static void files_are_joined_one_after_the_other(void)
{
	struct target *target;
	struct err err;

	make_files(5 * 4096 + 100, 3 * 4096);
	CHECK_EQ(open_it(&(struct target_request){ .spec = list("join:") }, &target, &err), 0);
	CHECK_STR(err.text, "");
	CHECK_EQ(target->info.kind, TARGET_FILE);
	CHECK_EQ(target->info.size_bytes, 8 * 4096);
	CHECK_STR(target->info.spec, list("join:"));
	CHECK_EQ(target->part_count, 2);
	CHECK_EQ(target->parts[0].start_bytes, 0);
	CHECK_EQ(target->parts[0].size_bytes, 5 * 4096);
	CHECK_EQ(target->parts[1].start_bytes, 5 * 4096);
	CHECK_EQ(target->parts[1].size_bytes, 3 * 4096);
	CHECK(!target->parts[0].is_device);
	CHECK_EQ(fcntl(target->parts[1].fd, F_GETFL) & O_ACCMODE, O_RDONLY);
	target_close(target);
	CHECK_EQ(open_it(&(struct target_request){ .spec = list("join:"), .stripe_bytes = 8192 },
			 &target, &err),
		 0);
	CHECK_EQ(target->info.size_bytes, 2 * 8192);
	target_close(target);
	remove_files();
}

static void each_part_passes_the_gate(void)
{
	struct target_request request = { .spec = NULL, .writes = true };
	struct target *target;
	struct err err;

	make_files(4096, 4096);
	request.spec = list("join:");
	check_refusal(&request, -EPERM, "/part0 is a file that tare did not make; not touched");
	request.expendable_path = paths[0];
	check_refusal(&request, -EPERM, "/part:1 is not the file named as expendable");
	request.expendable_path = list("");
	CHECK_EQ(open_it(&request, &target, &err), 0);
	CHECK_STR(err.text, "");
	CHECK_EQ(fcntl(target->parts[1].fd, F_GETFL) & O_ACCMODE, O_RDWR);
	target_close(target);
	request.expendable_path = "/nonexistent:/dev/null";
	check_refusal(&request, -ENOENT, "/nonexistent, named as expendable");
	remove_files();
}

static void what_cannot_be_joined_is_named(void)
{
	char spec[256];

	make_files(4096, 100);
	check_refusal(&(struct target_request){ .spec = "join:/dev/zero" }, -EINVAL,
		      "two at least");
	check_refusal(&(struct target_request){ .spec = "join:" }, -EINVAL, "two at least");
	check_refusal(&(struct target_request){ .spec = list("join:") }, -EFBIG,
		      "less than a block of 4096 bytes");
	snprintf(spec, sizeof(spec), "join:%s:%s", paths[0], directory);
	check_refusal(&(struct target_request){ .spec = spec }, -EINVAL,
		      "is neither a file nor a block device");
	snprintf(spec, sizeof(spec), "join:%s:%s", paths[0], paths[0]);
	check_refusal(&(struct target_request){ .spec = spec }, -EINVAL, "is in it twice");
	snprintf(spec, sizeof(spec), "join:%s::%s", paths[0], paths[0]);
	check_refusal(&(struct target_request){ .spec = spec }, -EINVAL, "a part of it is empty");
	snprintf(spec, sizeof(spec), "join:%s:/nonexistent", paths[0]);
	check_refusal(&(struct target_request){ .spec = spec }, -ENOENT, "/nonexistent");
	check_refusal(&(struct target_request){ .spec = list("join:"), .file_count = 2 }, -EINVAL,
		      "for directories");
	check_refusal(&(struct target_request){ .spec = "null:", .file_count = 2 }, -EINVAL,
		      "null:: a number of files is for directories");
	check_refusal(&(struct target_request){ .spec = paths[0], .stripe_bytes = 4096 }, -EINVAL,
		      "stripes are for several files");
	remove_files();
}

static void a_directory_may_have_several_test_files(void)
{
	struct target_request request = {
		.writes = true,
		.size_bytes = 10 * 4096,
		.file_count = 3,
	};
	struct target *target;
	struct err err;
	struct stat st;

	make_files(0, 0);
	request.spec = directory;
	CHECK_EQ(open_it(&request, &target, &err), 0);
	CHECK_STR(err.text, "");
	CHECK_EQ(target->info.size_bytes, 10 * 4096);
	CHECK_EQ(target->part_count, 3);
	for (uint32_t i = 0; i < 3; i++) {
		const uint64_t want = i < 2 ? 3 * 4096 : 4 * 4096;

		CHECK_EQ(target->parts[i].start_bytes, i * 3ull * 4096);
		CHECK_EQ(target->parts[i].size_bytes, want);
		CHECK(fstat(target->parts[i].fd, &st) == 0 && (uint64_t)st.st_size == want);
	}
	CHECK_EQ(target_flush(target), 0);
	target_close(target);

	request.stripe_bytes = 8192;
	CHECK_EQ(open_it(&request, &target, &err), 0);
	CHECK_EQ(target->info.size_bytes, 10 * 4096);
	for (uint32_t i = 0; i < 3; i++)
		CHECK_EQ(target->parts[i].size_bytes, 2 * 8192);
	target_close(target);

	request.stripe_bytes = 1000;
	check_refusal(&request, -EINVAL, "stripes of 1000 bytes are no multiple of 512");
	request.stripe_bytes = 0;
	request.file_count = 11;
	check_refusal(&request, -EINVAL, "less than a block each");
	request.file_count = 65536;
	check_refusal(&request, -EINVAL, "65536 files are more than 65535");
	remove_files();
}

/* Consent is a list of names, each exact. */
static void consent_names_each_device(void)
{
	static const char *const yes[] = { "sdx", "sdx,sdy", "sdw,sdx", "sdw,sdx,sdy" };
	static const char *const no[] = { "sd", "sdxy", "sdxy,sdwx", "sd,x", "sdw,", ",", "" };

	/* Of a device that is not there, the name it must be called by is its own. */
	for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++)
		CHECK_EQ(gate_check_consent("/nonexistent", "sdx", yes[i], "", NULL), 0);
	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++)
		CHECK_EQ(gate_check_consent("/nonexistent", "sdx", no[i], "", NULL), -EPERM);
}

static void items_are_cut_at_colons(void)
{
	const char *text = "a:b\\:c:\\d::e";
	static const char *const want[] = { "a", "b:c", "\\d", "", "e" };
	char item[8];

	for (size_t i = 0; i < 5; i++) {
		CHECK(target_next_item(&text, item, sizeof(item)));
		CHECK_STR(item, want[i]);
	}
	CHECK(!target_next_item(&text, item, sizeof(item)));
}

TESTS(TEST(files_are_joined_one_after_the_other), TEST(each_part_passes_the_gate),
      TEST(what_cannot_be_joined_is_named), TEST(a_directory_may_have_several_test_files),
      TEST(consent_names_each_device), TEST(items_are_cut_at_colons))
