/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/check.h"
#include "state/keep.h"

static struct target_info info;
static char place[512];

static void layer(const char *name, const char *kind, const char *detail)
{
	struct target_layer *l = &info.layers[info.layer_count++];

	snprintf(l->name, sizeof(l->name), "%s", name);
	snprintf(l->kind, sizeof(l->kind), "%s", kind);
	snprintf(l->detail, sizeof(l->detail), "%s", detail);
}

static void drive(const char *model, const char *serial)
{
	info = (struct target_info){ 0 };
	snprintf(info.model, sizeof(info.model), "%s", model);
	snprintf(info.serial, sizeof(info.serial), "%s", serial);
}

static const char *place_now(void)
{
	keep_place_of_device(&info, place, sizeof(place));
	return place;
}

static void a_drive_goes_by_its_serial_number_not_by_its_name(void)
{
	static const char *const names[] = { "sda", "sdq" };

	for (size_t i = 0; i < 2; i++) {
		drive("Example SSD", "S1");
		layer(names[i], "disk", "");
		CHECK_STR(place_now(), "Example SSD S1");
	}
}

static void partitions_and_namespaces_of_a_drive_are_places_of_their_own(void)
{
	drive("Example NVMe", "S2");
	layer("nvme3n2p1", "partition", "");
	layer("nvme3n2", "disk", "");
	info.partition_start_bytes = 1048576;
	CHECK_STR(place_now(), "Example NVMe S2 n2 from 1048576");
}

static void what_lies_between_goes_by_its_own_name(void)
{
	drive("", "S3");
	layer("dm-4", "crypt", "luks-home");
	layer("md127", "raid1", "1");
	layer("sdb", "disk", "");
	CHECK_STR(place_now(), "S3 md127 luks-home");
}

static void without_a_serial_number_it_is_the_file_or_the_name(void)
{
	drive("", "");
	layer("loop7", "loop", "/tmp/disk");
	CHECK_STR(place_now(), "/tmp/disk");
	drive("", "");
	layer("zram0", "zram", "");
	CHECK_STR(place_now(), "zram0");
}

static void a_directory_goes_by_its_resolved_path(void)
{
	char directory[] = "/tmp/tare-test-keep.XXXXXX", link[64];

	CHECK(mkdtemp(directory) != NULL);
	snprintf(link, sizeof(link), "%s/link", directory);
	CHECK_EQ(symlink(directory, link), 0);
	keep_place(link, place, sizeof(place));
	CHECK_STR(place, directory);
	CHECK_EQ(unlink(link), 0);
	keep_place(link, place, sizeof(place));
	CHECK_STR(place, link);
	CHECK_EQ(rmdir(directory), 0);
}

TESTS(TEST(a_drive_goes_by_its_serial_number_not_by_its_name),
      TEST(partitions_and_namespaces_of_a_drive_are_places_of_their_own),
      TEST(what_lies_between_goes_by_its_own_name),
      TEST(without_a_serial_number_it_is_the_file_or_the_name),
      TEST(a_directory_goes_by_its_resolved_path))
