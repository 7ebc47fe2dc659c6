/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "base/check.h"
#include "target/devices.h"
#include "target/fixture.h"
#include "target/gate.h"

struct use_case {
	const char *name, *text, *hint;	/* text NULL: free to be written */
};

static void check_uses(const char *machine, const struct use_case *cases, size_t count)
{
	const char *root = fixture_unpack(machine);

	for (size_t i = 0; i < count; i++) {
		struct err err = { 0 };
		const int r = gate_check_use(root, cases[i].name, &err);

		CHECK_EQ(r, cases[i].text ? -EBUSY : 0);
		CHECK_STR(err.text, cases[i].text ? cases[i].text : "");
		if (cases[i].hint)
			CHECK_STR(err.hint, cases[i].hint);
	}
	fixture_done();
}

static void what_is_in_use_is_said_by_what_a_person_knows(void)
{
	static const struct use_case cases[] = {
		{ "nvme0n1", "nvme0n1 holds the running system (dm-0 is mounted at /); not touched",
		  "to test this drive safely: tare check /" },
		{ "nvme0n1p1", "nvme0n1p1 is in use (nvme0n1p1 is mounted at /boot); not touched",
		  "to test this drive safely: tare check /boot" },
		{ "nvme0n1p2",
		  "nvme0n1p2 holds the running system (dm-0 is mounted at /); not touched", NULL },
		{ "dm-0", "dm-0 holds the running system (dm-0 is mounted at /); not touched",
		  NULL },
		{ "sda", "sda is in use (sda1 is mounted at /mnt/my data); not touched",
		  "to test this drive safely: tare check /mnt/my data" },
		{ "sda1", "sda1 is in use (sda1 is mounted at /mnt/my data); not touched", NULL },
		{ "sda2", NULL, NULL }, /* its own bytes: nobody uses them */
	};

	check_uses("workstation", cases, sizeof(cases) / sizeof(cases[0]));
}

static void arrays_volumes_and_members_are_in_use(void)
{
	static const struct use_case cases[] = {
		{ "sda", "sda holds the running system (md0 is mounted at /); not touched", NULL },
		{ "sdb1", "sdb1 holds the running system (md0 is mounted at /); not touched",
		  NULL },
		{ "sdc", "sdc is in use (dm-0 is mounted at /var); not touched",
		  "to test this drive safely: tare check /var" },
		{ "dm-1", "dm-1 is in use (dm-1 is swap); not touched", NULL },
		{ "dm-2", NULL, NULL }, /* a volume nobody uses, beside others that are used */
		{ "sdd", NULL, NULL },
		{ "sde", "sde is in use (sde is mounted at /pool); not touched", NULL },
		{ "sdf", "sdf is in use (sdf is mounted at /pool); not touched", NULL },
		{ "sdg", "sdg is in use (sdg is part of loop0 (loop /dev/sdg)); not touched",
		  NULL },
	};

	check_uses("server", cases, sizeof(cases) / sizeof(cases[0]));
}

static void a_guest_is_guarded_without_serial_numbers(void)
{
	static const struct use_case cases[] = {
		{ "vda", "vda holds the running system (vda1 is mounted at /); not touched", NULL },
		{ "vdb", NULL, NULL },
		{ "zram0", "zram0 is in use (zram0 is swap); not touched", NULL },
		{ "loop0", "loop0 is in use (loop0 is mounted at /mnt/image); not touched", NULL },
	};

	check_uses("guest", cases, sizeof(cases) / sizeof(cases[0]));
}

/* Holders without a mount: an array, an open LUKS volume. The mount table says nothing. */
static void what_something_is_built_on_is_in_use_also_when_nothing_is_mounted(void)
{
	const char *root = fixture_unpack("server");
	struct err err = { 0 };
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/proc/self/mountinfo", root);
	fixture_write(path, "20 1 0:30 / / rw - tmpfs tmpfs rw", "w");
	CHECK_EQ(gate_check_use(root, "sda1", &err), -EBUSY);
	CHECK_STR(err.text, "sda1 is in use (sda1 is part of md0 (raid1)); not touched");
	CHECK_EQ(gate_check_use(root, "sda", &err), -EBUSY);
	CHECK_EQ(gate_check_use(root, "md0", &err), 0);
	/* A btrfs that is mounted where we cannot see it. */
	CHECK_EQ(gate_check_use(root, "sdf", &err), -EBUSY);
	fixture_done();
}

static void without_a_mount_table_nothing_is_free(void)
{
	const char *root = fixture_unpack("guest");
	struct err err = { 0 };
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/proc/self/mountinfo", root);
	CHECK_EQ(unlink(path), 0);
	CHECK_EQ(gate_check_use(root, "vdb", &err), -ENOENT);
	fixture_done();
}

static void consent_names_the_very_drive(void)
{
	static const struct {
		const char *name, *erase, *signature;
		int want;
	} cases[] = {
		{ "vdb", NULL, "", -EPERM },
		{ "vdb", "", "", -EPERM },
		{ "vdb", "data-disk-7", "", 0 },
		{ "vdb", "data-disk-7", "a LUKS volume", 0 },
		{ "vdb", "data-disk-", "", -EPERM },
		{ "vdb", "data-disk-77", "", -EPERM },
		{ "vdb", "vdb", "", -EPERM },		/* it has a number: the name will not do */
		{ "vdc", "vdc", "", 0 },
		{ "vdc", "vdb", "", -EPERM },
		{ "vdc", "vdc", "a gpt partition table", -EPERM },
		{ "vdc", "data-disk-7", "", -EPERM },	/* another drive's number */
	};
	const char *root = fixture_unpack("guest");

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct err err = { 0 };

		CHECK_EQ(gate_check_consent(root, cases[i].name, cases[i].erase, cases[i].signature,
					    &err),
			 cases[i].want);
	}
	fixture_done();
}

static void a_refusal_says_what_to_write(void)
{
	const char *root = fixture_unpack("workstation");
	struct err err = { 0 };

	gate_check_consent(root, "sda2", NULL, "an ext4 file system", &err);
	CHECK_STR(err.text,
		  "sda2 holds an ext4 file system, which writing would destroy; not touched");
	CHECK_STR(err.hint, "if it may go: --erase-data=S3Z2NB0K123456X");
	gate_check_consent(root, "sda2", "S7KHNJ0W700123A", "", &err);
	CHECK_STR(err.text, "sda2 is not 'S7KHNJ0W700123A': its serial number is "
			    "'S3Z2NB0K123456X'; not touched");
	CHECK_EQ(gate_check_consent(root, "sda2", "S3Z2NB0K123456X", "", &err), 0);
	fixture_done();
}

static void the_list_of_devices_has_whole_disks_and_who_uses_them(void)
{
	struct target_device *devices;
	struct err err = { 0 };
	size_t count;

	CHECK_EQ(devices_list(fixture_unpack("workstation"), &devices, &count, &err), 0);
	CHECK_EQ(count, 2);	/* neither partitions, nor dm-0, nor the empty card reader */
	CHECK_STR(devices[0].info.path, "/dev/nvme0n1");
	CHECK_EQ(devices[0].info.size_bytes, 3907029168ull * 512);
	CHECK_STR(devices[0].use, "nvme0n1p1 is mounted at /boot; dm-0 is mounted at /; "
				  "nvme0n1p2 is part of dm-0 (crypt luks-home)");
	CHECK_STR(devices[1].info.path, "/dev/sda");
	CHECK_STR(devices[1].info.erase_name, "S3Z2NB0K123456X");
	CHECK_STR(devices[1].by_id,
		  "/dev/disk/by-id/ata-Samsung_SSD_860_EVO_500GB_S3Z2NB0K123456X");
	CHECK_STR(devices[1].use, "sda1 is mounted at /mnt/my data");
	free(devices);
	fixture_done();

	CHECK_EQ(devices_list(fixture_unpack("guest"), &devices, &count, &err), 0);
	CHECK_EQ(count, 5);
	CHECK_STR(devices[0].info.path, "/dev/loop0");
	CHECK_STR(devices[3].info.erase_name, "vdc");
	CHECK_STR(devices[3].use, "");
	free(devices);
	fixture_done();
}

TESTS(TEST(what_is_in_use_is_said_by_what_a_person_knows),
      TEST(arrays_volumes_and_members_are_in_use), TEST(a_guest_is_guarded_without_serial_numbers),
      TEST(what_something_is_built_on_is_in_use_also_when_nothing_is_mounted),
      TEST(without_a_mount_table_nothing_is_free), TEST(consent_names_the_very_drive),
      TEST(a_refusal_says_what_to_write),
      TEST(the_list_of_devices_has_whole_disks_and_who_uses_them))
