/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "base/check.h"
#include "base/random.h"
#include "serve/mounts.h"

static struct mount_line mount;

static void a_line_of_mountinfo_is_understood(void)
{
	CHECK(mounts_parse("36 35 7:3 / /mnt rw,noatime master:1 - ext4 /dev/loop3 rw\n", &mount));
	CHECK_EQ(mount.major, 7);
	CHECK_EQ(mount.minor, 3);
	CHECK_STR(mount.path, "/mnt");
	CHECK_STR(mount.type, "ext4");
	CHECK_STR(mount.source, "/dev/loop3");
	/* Without optional fields, and with several. */
	CHECK(mounts_parse("65 44 0:39 / /d/ssd rw - fuse.tare tare-sim-214 rw,user_id=0", &mount));
	CHECK_STR(mount.source, "tare-sim-214");
	CHECK(mounts_parse("1 2 0:5 /a /b rw shared:1 master:2 unbindable - x y rw", &mount));
	CHECK_STR(mount.type, "x");
}

static void blanks_in_names_come_as_octal(void)
{
	CHECK(mounts_parse("1 2 0:5 / /my\\040disk\\011x\\134 rw - ext4 /dev/a\\040b rw", &mount));
	CHECK_STR(mount.path, "/my disk\tx\\");
	CHECK_STR(mount.source, "/dev/a b");
	/* A backslash that begins no escape stands for itself. */
	CHECK(mounts_parse("1 2 0:5 / /a\\04 rw - ext4 /dev/b rw", &mount));
	CHECK_STR(mount.path, "/a\\04");
}

static void half_a_line_is_none(void)
{
	static const char whole[] = "36 35 7:3 / /mnt rw - ext4 /dev/loop3 rw";
	char line[sizeof(whole)];

	CHECK(mounts_parse(whole, &mount));
	/* Every cut before the source's first letter lacks something. */
	for (size_t length = 0; length < sizeof("36 35 7:3 / /mnt rw - ext4") - 1; length++) {
		memcpy(line, whole, length);
		line[length] = '\0';
		CHECK(!mounts_parse(line, &mount));
	}
	CHECK(!mounts_parse("36 35 x:3 / /mnt rw - ext4 /dev/loop3 rw", &mount));
}

static void noise_does_no_harm(void)
{
	static const char whole[] = "36 35 7:3 / /mnt\\040x rw shared:9 - ext4 /dev/loop3 rw\n";
	struct random random;

	random_init(&random, 1);
	for (int i = 0; i < 20000; i++) {
		char *line = malloc(sizeof(whole));	/* on the heap: overruns are seen */

		memcpy(line, whole, sizeof(whole));
		for (uint64_t n = random_below(&random, 8); n > 0; n--)
			line[random_below(&random, sizeof(whole) - 1)] = (char)random_u64(&random);
		if (mounts_parse(line, &mount))
			CHECK(strlen(mount.path) < sizeof(mount.path));
		free(line);
	}
}

static void what_is_not_mounted_is_not_found(void)
{
	CHECK(!mounts_is_at("tare-sim-0", "/"));
}

TESTS(
	TEST(a_line_of_mountinfo_is_understood),
	TEST(blanks_in_names_come_as_octal),
	TEST(half_a_line_is_none),
	TEST(noise_does_no_harm),
	TEST(what_is_not_mounted_is_not_found),
)
