/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <sys/sysmacros.h>

#include "base/check.h"
#include "target/fixture.h"
#include "target/stack.h"

static void names_come_by_number_and_by_any_link(void)
{
	const char *root = fixture_unpack("workstation");
	char name[STACK_NAME_BYTES];

	CHECK_EQ(stack_name_of(root, makedev(259, 2), name), 0);
	CHECK_STR(name, "nvme0n1p2");
	CHECK_EQ(stack_name_of(root, makedev(77, 1), name), -ENOENT);
	CHECK_EQ(stack_name_of_path(root, "/dev/sda1", name), 0);
	CHECK_STR(name, "sda1");
	CHECK_EQ(stack_name_of_path(root, "/dev/mapper/luks-home", name), 0);
	CHECK_STR(name, "dm-0");
	CHECK_EQ(stack_name_of_path(
			 root, "/dev/disk/by-id/nvme-Samsung_SSD_990_PRO_2TB_S7KHNJ0W700123A-part2",
			 name),
		 0);
	CHECK_STR(name, "nvme0n1p2");
	CHECK_EQ(stack_name_of_path(root, "/dev/sdz", name), -ENOENT);
	CHECK_EQ(stack_name_of_path(root, "/home/sda1", name), -ENOENT);
	CHECK_EQ(stack_number(root, "dm-0"), makedev(254, 0));
	CHECK_EQ(stack_number(root, "nothing"), 0);
	fixture_done();
}

static void a_partition_knows_its_disk(void)
{
	const char *root = fixture_unpack("workstation");
	char disk[STACK_NAME_BYTES];

	CHECK(stack_is_partition(root, "nvme0n1p1"));
	CHECK(!stack_is_partition(root, "nvme0n1"));
	stack_disk(root, "nvme0n1p2", disk);
	CHECK_STR(disk, "nvme0n1");
	stack_disk(root, "sda2", disk);
	CHECK_STR(disk, "sda");
	stack_disk(root, "dm-0", disk);
	CHECK_STR(disk, "dm-0");
	fixture_done();
}

static void above_a_disk_is_all_that_has_its_bytes(void)
{
	const char *root = fixture_unpack("workstation");
	struct stack_names above = { 0 }, below = { 0 };

	stack_above(root, "nvme0n1", &above);
	CHECK_EQ(above.count, 4);
	CHECK_STR(above.names[0], "nvme0n1");
	CHECK_STR(above.names[1], "nvme0n1p1");
	CHECK_STR(above.names[2], "nvme0n1p2");
	CHECK_STR(above.names[3], "dm-0");
	stack_below(root, "dm-0", &below);
	CHECK_EQ(below.count, 2);
	CHECK_STR(below.names[0], "nvme0n1p2");
	CHECK_STR(below.names[1], "nvme0n1");
	fixture_done();
}

static void a_loop_device_lies_on_the_disk_it_was_set_up_over(void)
{
	const char *root = fixture_unpack("server");
	struct stack_names above = { 0 }, below = { 0 };

	stack_above(root, "sdg", &above);
	CHECK_EQ(above.count, 2);
	CHECK_STR(above.names[1], "loop0");
	stack_below(root, "loop0", &below);
	CHECK_EQ(below.count, 1);
	CHECK_STR(below.names[0], "sdg");
	fixture_done();
}

static void an_encrypted_volume_is_described_down_to_its_drive(void)
{
	const char *root = fixture_unpack("workstation");
	static struct target_info info;

	stack_describe(root, "dm-0", &info);
	CHECK_EQ(info.layer_count, 3);
	CHECK_STR(info.layers[0].name, "dm-0");
	CHECK_STR(info.layers[0].kind, "crypt");
	CHECK_STR(info.layers[0].detail, "luks-home");
	CHECK_STR(info.layers[1].kind, "partition");
	CHECK_STR(info.layers[2].name, "nvme0n1");
	CHECK_STR(info.layers[2].kind, "disk");
	CHECK_STR(info.device, "nvme0n1");
	CHECK_EQ(info.device_major, 259);
	CHECK_EQ(info.device_minor, 0);
	CHECK_STR(info.model, "Samsung SSD 990 PRO 2TB");
	CHECK_STR(info.serial, "S7KHNJ0W700123A");
	CHECK_STR(info.firmware, "4B2QJXD7");
	CHECK_STR(info.transport, "nvme");
	CHECK_STR(info.scheduler, "none");
	CHECK_STR(info.write_cache, "write back");
	CHECK(info.has_partition);
	CHECK_EQ(info.partition_start_bytes, 1050624ull * 512);
	/* dm-0 lets no discard through, whatever the drive can do. */
	CHECK_EQ(info.discard_max_bytes, 0);
	CHECK_EQ(info.discard_granularity_bytes, 0);
	CHECK(!info.rotational);
	fixture_done();
}

static void a_sata_drive_tells_its_serial_by_its_vpd_page_and_its_name_by_udev(void)
{
	const char *root = fixture_unpack("workstation");
	static struct target_info info;

	stack_describe(root, "sda1", &info);
	CHECK_STR(info.serial, "S3Z2NB0K123456X");
	CHECK_STR(info.model, "Samsung SSD 860 EVO 500GB");
	CHECK_STR(info.firmware, "2B6Q");
	CHECK_STR(info.transport, "sata");
	CHECK_STR(info.scheduler, "mq-deadline");
	CHECK_EQ(info.logical_block_bytes, 512);
	CHECK_EQ(info.physical_block_bytes, 4096);
	CHECK_EQ(info.partition_start_bytes, 63 * 512);
	CHECK_EQ(info.discard_max_bytes, 2147450880);
	CHECK_EQ(info.device_minor, 0);
	fixture_done();
}

static void a_mirror_is_counted_on_itself_since_its_members_see_every_write_twice(void)
{
	const char *root = fixture_unpack("server");
	static struct target_info info;

	stack_describe(root, "md0", &info);
	CHECK_EQ(info.layer_count, 5);
	CHECK_STR(info.layers[0].kind, "raid1");
	CHECK_STR(info.layers[1].name, "sda1");
	CHECK_STR(info.layers[2].name, "sdb1");
	CHECK_STR(info.device, "sda");
	CHECK_EQ(info.device_major, 9);
	CHECK_EQ(info.device_minor, 0);
	CHECK(info.rotational);
	CHECK_STR(info.transport, "sas");
	fixture_done();
}

static void a_virtual_disk_has_its_serial_beside_its_size(void)
{
	const char *root = fixture_unpack("guest");
	static struct target_info info;
	char kind[16], detail[96];

	stack_describe(root, "vdb", &info);
	CHECK_STR(info.serial, "data-disk-7");
	CHECK_STR(info.transport, "virtio");
	CHECK_STR(info.layers[0].kind, "virtio");
	stack_describe(root, "vda1", &info);
	CHECK_STR(info.serial, "");
	CHECK_STR(info.write_cache, "write through");
	stack_kind(root, "zram0", kind, sizeof(kind));
	CHECK_STR(kind, "zram");
	stack_kind(root, "loop0", kind, sizeof(kind));
	CHECK_STR(kind, "loop");
	stack_detail(root, "loop0", detail, sizeof(detail));
	CHECK_STR(detail, "/home/me/disk image.img");
	fixture_done();
}

static void the_link_that_names_model_and_serial_is_preferred(void)
{
	const char *root = fixture_unpack("workstation");
	char path[256];

	stack_by_id(root, "nvme0n1", path, sizeof(path));
	CHECK_STR(path, "/dev/disk/by-id/nvme-Samsung_SSD_990_PRO_2TB_S7KHNJ0W700123A");
	stack_by_id(root, "sda", path, sizeof(path));
	CHECK_STR(path, "/dev/disk/by-id/ata-Samsung_SSD_860_EVO_500GB_S3Z2NB0K123456X");
	stack_by_id(root, "dm-0", path, sizeof(path));
	CHECK_STR(path, "");
	fixture_done();
}

TESTS(TEST(names_come_by_number_and_by_any_link), TEST(a_partition_knows_its_disk),
      TEST(above_a_disk_is_all_that_has_its_bytes),
      TEST(a_loop_device_lies_on_the_disk_it_was_set_up_over),
      TEST(an_encrypted_volume_is_described_down_to_its_drive),
      TEST(a_sata_drive_tells_its_serial_by_its_vpd_page_and_its_name_by_udev),
      TEST(a_mirror_is_counted_on_itself_since_its_members_see_every_write_twice),
      TEST(a_virtual_disk_has_its_serial_beside_its_size),
      TEST(the_link_that_names_model_and_serial_is_preferred))
