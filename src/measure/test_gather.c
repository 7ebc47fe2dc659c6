/* SPDX-License-Identifier: MIT */
#include "base/check.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/defer.h"
#include "base/units.h"
#include "measure/gather.h"

/* A recorded machine: files below a directory of its own, removed at the end. */
static char root[] = "/tmp/tare-test-gather-XXXXXX";

static void put(const char *path, const char *content)
{
	char full[PATH_MAX];
	FILE *file;

	snprintf(full, sizeof(full), "%s%s", root, path);
	for (char *slash = full + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(full, 0700);
		*slash = '/';
	}
	file = fopen(full, "we");
	if (!file)
		abort();
	fputs(content, file);
	fclose(file);
}

static void remove_machine(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", root);
	if (system(command) != 0)
		printf("# %s is left\n", root);
}

static void new_machine(void)
{
	static bool registered;

	if (registered)
		remove_machine();
	else
		atexit(remove_machine);
	registered = true;
	strcpy(root + strlen(root) - 6, "XXXXXX");
	if (!mkdtemp(root))
		abort();
}

static struct target place(const char *filesystem, const char *options)
{
	struct target target = { .fd = -1, .info.kind = TARGET_DIRECTORY };

	strcpy(target.info.filesystem, filesystem);
	strcpy(target.info.mount_options, options);
	return target;
}

static void file_systems_are_known_by_type_and_options(void)
{
	static const struct {
		const char *filesystem, *options;
		bool memory, remote, fuse, cow, compressing, encrypting;
		const char *compression;
	} cases[] = {
		{ "ext4", "rw,relatime", false, false, false, false, false, false, "" },
		{ "tmpfs", "rw", true, false, false, false, false, false, "" },
		{ "ramfs", "rw", true, false, false, false, false, false, "" },
		{ "nfs4", "rw,vers=4.2", false, true, false, false, false, false, "" },
		{ "9p", "rw", false, true, false, false, false, false, "" },
		{ "fuseblk", "rw", false, false, true, false, false, false, "" },
		{ "fuse.sshfs", "rw", false, true, true, false, false, false, "" },
		{ "fuse.gocryptfs", "rw", false, false, true, false, false, true, "" },
		{ "ecryptfs", "rw", false, false, false, false, false, true, "" },
		{ "btrfs", "rw,ssd", false, false, false, true, false, false, "" },
		{ "btrfs", "rw,nodatacow", false, false, false, false, false, false, "" },
		{ "btrfs", "rw,compress=zstd:3,ssd", false, false, false, true, true, false,
		  "zstd:3 (mount option)" },
		{ "btrfs", "rw,compress-force=lzo", false, false, false, true, true, false,
		  "lzo (mount option)" },
		{ "btrfs", "rw,compress=no", false, false, false, true, false, false, "" },
		{ "f2fs", "rw,compress_algorithm=lz4", false, false, false, false, true, false,
		  "lz4 (mount option)" },
		{ "zfs", "rw,xattr", false, false, false, true, true, false, "by default" },
		/* An option that only begins like one. */
		{ "ext4", "rw,compression_like=1", false, false, false, false, false, false, "" },
	};

	new_machine();
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		const struct target target = place(cases[i].filesystem, cases[i].options);
		struct audit_place got;

		gather_place(root, &target, true, &got);
		CHECK_EQ(got.memory_backed, cases[i].memory);
		CHECK_EQ(got.remote, cases[i].remote);
		CHECK_EQ(got.fuse, cases[i].fuse);
		CHECK_EQ(got.copy_on_write, cases[i].cow);
		CHECK_EQ(got.compressing, cases[i].compressing);
		CHECK_EQ(got.encrypting, cases[i].encrypting);
		CHECK_STR(got.compression, cases[i].compression);
	}
}

static void layers_tell_of_encryption_memory_and_loop(void)
{
	struct target target = place("ext4", "rw");
	struct audit_place got;

	new_machine();
	put("/sys/block/loop3/loop/dio", "0\n");
	put("/sys/block/loop4/loop/dio", "1\n");
	target.info.layer_count = 1;
	strcpy(target.info.layers[0].kind, "crypt");
	strcpy(target.info.layers[0].detail, "home");
	gather_place(root, &target, true, &got);
	CHECK(got.encrypting);
	CHECK_STR(got.encryption, "dm-crypt, home");

	strcpy(target.info.layers[0].kind, "loop");
	strcpy(target.info.layers[0].name, "loop3");
	gather_place(root, &target, true, &got);
	CHECK(!got.encrypting);
	CHECK(got.loop_buffered);
	strcpy(target.info.layers[0].name, "loop4");
	gather_place(root, &target, true, &got);
	CHECK(!got.loop_buffered);

	target.info.layer_count = 0;
	strcpy(target.info.device, "zram0");
	gather_place(root, &target, true, &got);
	CHECK(got.memory_backed);
	CHECK_STR(got.memory, "zram");
	strcpy(target.info.device, "ram0");
	gather_place(root, &target, true, &got);
	CHECK_STR(got.memory, "brd");
}

static void cache_is_guessed_from_kind_and_capacity(void)
{
	struct target target = place("ext4", "rw");
	struct audit_place got;

	new_machine();
	put("/proc/meminfo", "MemTotal:       16777216 kB\n");
	put("/sys/block/sda/size", "976773168\n");		/* 500 GB */
	put("/sys/block/nvme0n1/size", "7814037168\n");		/* 4 TB */
	put("/sys/block/vda/size", "7814037168\n");
	strcpy(target.info.device, "sda");
	gather_place(root, &target, true, &got);
	CHECK_EQ(got.cache_bytes_guess, 488386584);
	CHECK_STR(got.cache_name, "the drive's own memory");
	target.info.rotational = true;
	gather_place(root, &target, true, &got);
	CHECK_EQ(got.cache_bytes_guess, 256 * MIB);
	target.info.rotational = false;
	strcpy(target.info.device, "nvme0n1");
	gather_place(root, &target, true, &got);
	CHECK_EQ(got.cache_bytes_guess, 2 * GIB);
	strcpy(target.info.device, "vda");
	gather_place(root, &target, true, &got);
	CHECK_EQ(got.cache_bytes_guess, 0);
	gather_place(root, &target, false, &got);
	CHECK_EQ(got.cache_bytes_guess, 16 * GIB);
	CHECK_STR(got.cache_name, "the page cache");
}

static void cgroup_limit(const char *want)
{
	struct target_info info = { .device = "sda", .device_major = 8, .device_minor = 1 };
	char got[192];

	gather_cgroup(root, &info, got, sizeof(got));
	CHECK_STR(got, want);
}

static void limits_are_found_in_our_group_and_above_it(void)
{
	new_machine();
	put("/sys/block/sda/dev", "8:0\n");
	cgroup_limit("");
	put("/proc/self/cgroup", "4:memory:/x\n0::/user.slice/job.scope\n");
	cgroup_limit("");
	put("/proc/self/mountinfo",
	    "22 27 0:21 / /proc rw - proc proc rw\n"
	    "31 23 0:28 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw\n");
	put("/sys/fs/cgroup/user.slice/job.scope/io.max",
	    "8:16 rbps=1 wbps=max riops=max wiops=max\n");
	cgroup_limit("");
	put("/sys/fs/cgroup/user.slice/io.max",
	    "8:16 rbps=1 wbps=1 riops=1 wiops=1\n8:0 rbps=1048576 wbps=max riops=max wiops=max\n");
	cgroup_limit("io.max rbps=1048576 wbps=max riops=max wiops=max in /user.slice");
	put("/sys/fs/cgroup/user.slice/job.scope/io.latency", "8:0 target=75000\n");
	cgroup_limit("io.latency target=75000 in /user.slice/job.scope");
}

static void a_limit_on_the_root_of_a_namespace_is_found(void)
{
	new_machine();
	put("/sys/block/sda/dev", "8:0\n");
	put("/proc/self/cgroup", "0::/\n");
	put("/proc/self/mountinfo", "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
	put("/sys/fs/cgroup/io.max", "8:0 rbps=max wbps=max riops=100 wiops=max\n");
	cgroup_limit("io.max rbps=max wbps=max riops=100 wiops=max in /");
}

static void nonsense_in_cgroup_files_is_no_limit(void)
{
	new_machine();
	put("/sys/block/sda/dev", "8:0\n");
	put("/proc/self/cgroup", "0::/a\n");
	put("/proc/self/mountinfo", "31 23 0:28 / /c rw - cgroup2 cgroup2 rw\nshort - cgroup2 \n");
	put("/c/a/io.max", "\n8:\n8:0\nx:y rbps=1\n");
	cgroup_limit("");
}

static void temperature_is_read_where_drives_keep_it(void)
{
	double limit_c;

	new_machine();
	CHECK(isnan(gather_temperature_c(root, "nvme0n1", &limit_c)));
	CHECK(isnan(limit_c));
	put("/sys/block/nvme0n1/device/hwmon4/temp1_input", "38850\n");
	put("/sys/block/nvme0n1/device/hwmon4/temp1_max", "81850\n");
	CHECK_NEAR(gather_temperature_c(root, "nvme0n1", &limit_c), 38.85, 1e-9);
	CHECK_NEAR(limit_c, 81.85, 1e-9);
	put("/sys/block/sda/device/hwmon/hwmon2/temp1_input", "31000\n");
	CHECK_NEAR(gather_temperature_c(root, "sda", &limit_c), 31, 1e-9);
	CHECK(isnan(limit_c));
	/* A drive that sets no limit gives the largest number there is. */
	put("/sys/block/nvme1n1/device/hwmon5/temp1_input", "40000\n");
	put("/sys/block/nvme1n1/device/hwmon5/temp1_max", "65261850\n");
	CHECK_NEAR(gather_temperature_c(root, "nvme1n1", &limit_c), 40, 1e-9);
	CHECK(isnan(limit_c));
	CHECK(isnan(gather_temperature_c(root, "", &limit_c)));
}

static void the_machine_is_described_from_its_files(void)
{
	struct machine machine;

	new_machine();
	put("/proc/cpuinfo",
	    "processor\t: 0\nmodel name\t: AMD EPYC 7763\nflags\t\t: fpu hypervisor lm\n");
	put("/proc/meminfo", "MemTotal:        2097152 kB\n");
	put("/sys/class/dmi/id/sys_vendor", "Amazon EC2\n");
	put("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
	gather_machine(root, &machine);
	CHECK_STR(machine.cpu_model, "AMD EPYC 7763");
	CHECK_STR(machine.governor, "powersave");
	CHECK_STR(machine.virtualisation, "amazon");
	CHECK_EQ(machine.memory_bytes, 2 * GIB);
	CHECK(machine.kernel[0] && machine.cpu_count > 0);
	/* The same vendor without the CPU's word for it: a real machine. */
	put("/proc/cpuinfo", "model name\t: AMD EPYC 7763\nflags\t\t: fpu lm\n");
	gather_machine(root, &machine);
	CHECK_STR(machine.virtualisation, "");
}

static void meters_read_own_bytes_and_steal(void)
{
	struct target target = { .fd = -1 };
	struct meters meters;

	new_machine();
	gather_meters(root, &target, &meters);
	CHECK(!meters.have_own && !meters.have_device);
	put("/proc/self/io",
	    "rchar: 9\nread_bytes: 4096\nwrite_bytes: 8192\ncancelled_write_bytes: 1\n");
	put("/proc/stat", "cpu  1 2 3 4 5 6 7 250 9 10\ncpu0 1 2 3 4 5 6 7 8 9 10\n");
	gather_meters(root, &target, &meters);
	CHECK(meters.have_own);
	CHECK_EQ(meters.own_read_bytes, 4096);
	CHECK_EQ(meters.own_write_bytes, 8192);
	CHECK_EQ(meters.steal_ns, 250 * (1000000000 / sysconf(_SC_CLK_TCK)));
}

/* Data from 1 to 2 MiB of 4; the rest is never written. */
static int make_sparse(void)
{
	static char data[MIB];
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/sparse", root);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	memset(data, 'x', sizeof(data));
	if (fd < 0 || ftruncate(fd, 4 * MIB) < 0 ||
	    pwrite(fd, data, sizeof(data), MIB) != (ssize_t)sizeof(data) || fsync(fd) < 0)
		abort();
	return fd;
}

static void holes_are_measured_in_the_range_asked_for(void)
{
	struct audit_samples got;
	struct target target = { .info.kind = TARGET_FILE };

	new_machine();
	target.fd = make_sparse();
	gather_extents(&target, 0, 4 * MIB, &got);
	CHECK_NEAR(got.hole_ratio, 0.75, 1e-9);
	CHECK_EQ(got.file_bytes, 4 * MIB);
	CHECK(got.allocated_bytes >= MIB && got.allocated_bytes < 2 * MIB);
	gather_extents(&target, MIB, MIB, &got);
	CHECK_NEAR(got.hole_ratio, 0, 1e-9);
	gather_extents(&target, 2 * MIB, 2 * MIB, &got);
	CHECK_NEAR(got.hole_ratio, 1, 1e-9);
	gather_extents(&target, MIB + MIB / 2, MIB, &got);
	CHECK_NEAR(got.hole_ratio, 0.5, 1e-9);
	close(target.fd);
}

static void zero_blocks_are_sampled_evenly(void)
{
	struct audit_samples got = { .zero_ratio = -1 };
	struct target target = { .info.kind = TARGET_FILE };

	new_machine();
	target.fd = make_sparse();
	gather_zeros(&target, 0, 4 * MIB, &got);
	if (got.zero_ratio < 0) {
		close(target.fd);
		SKIP("no direct I/O in /tmp");
	}
	CHECK_EQ(got.zero_sample_count, 256);
	CHECK_NEAR(got.zero_ratio, 0.75, 1e-9);
	gather_zeros(&target, MIB, MIB, &got);
	CHECK_NEAR(got.zero_ratio, 0, 1e-9);
	/* Fewer blocks than samples: each is read, some twice, none beyond. */
	gather_zeros(&target, MIB, 8192, &got);
	CHECK_NEAR(got.zero_ratio, 0, 1e-9);
	close(target.fd);
}

TESTS(TEST(file_systems_are_known_by_type_and_options),
      TEST(layers_tell_of_encryption_memory_and_loop),
      TEST(cache_is_guessed_from_kind_and_capacity),
      TEST(limits_are_found_in_our_group_and_above_it),
      TEST(a_limit_on_the_root_of_a_namespace_is_found),
      TEST(nonsense_in_cgroup_files_is_no_limit), TEST(temperature_is_read_where_drives_keep_it),
      TEST(the_machine_is_described_from_its_files), TEST(meters_read_own_bytes_and_steal),
      TEST(holes_are_measured_in_the_range_asked_for), TEST(zero_blocks_are_sampled_evenly))
