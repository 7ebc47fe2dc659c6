/* SPDX-License-Identifier: MIT */

/*
 * What `tare trim` reads below sysfs and from drives: device-mapper tables, identify pages, md and
 * loop attributes, mounts, units. The first byte picks the file that the rest stands in, on a
 * machine with one layer of each kind; walk, translation and judge must hold whatever stands there.
 */

#include <string.h>

#include "fuzz.h"
#include "trim/fixture_trim.h"
#include "trim/judge.h"
#include "trim/walk.h"

#define TEXT_BYTES 8192

/* The parts of the machine that the input may stand in, and what stands there otherwise. */
static const struct {
	const char *file, *usual;
} files[] = {
	{ "dm/dm-0.table", "0 1000 crypt aes-xts-plain64 :64:logon:x 0 9:0 8 1 allow_discards\n" },
	{ "dm/dm-1.table", "0 1000 thin-pool 8:0 8:0 128 0 1 no_discard_passdown\n" },
	{ "dm/dm-1.status", "0 1000 thin-pool 1 1/1 1/1 - rw discard_passdown - 1024\n" },
	{ "dm/dm-2.table", "0 1000 striped 2 16 8:0 0 7:0 8\n" },
	{ "proc/self/mountinfo",
	  "20 1 253:0 / / rw - ext4 /dev/dm-0 rw,discard\n"
	  "21 1 0:9 / /o rw - overlay o rw,upperdir=/u\n" },
	{ "raw/sda.ata", "" },
	{ "raw/sda.vpd-b0", "" },
	{ "raw/sda.vpd-b2", "" },
	{ "raw/nvme0n1.nvme-ns", "" },
	{ "raw/nvme0n1.nvme-ctrl", "" },
	{ "sys/class/block/dm-0/dm/uuid", "CRYPT-LUKS2-0-x\n" },
	{ "sys/class/block/dm-1/dm/name", "vg-pool-tpool\n" },
	{ "sys/class/block/md0/md/level", "raid0\n" },
	{ "sys/class/block/md0/md/chunk_size", "4096\n" },
	{ "sys/class/block/md0/md/dev-sda/offset", "8\n" },
	{ "sys/class/block/md0/md/dev-sda/size", "1000\n" },
	{ "sys/class/block/md0/md/dev-sda/slot", "0\n" },
	{ "sys/class/block/loop0/loop/backing_file", "/x.img\n" },
	{ "sys/class/block/sda/queue/discard_granularity", "4096\n" },
	{ "sys/class/block/sda/queue/discard_max_bytes", "1048576\n" },
	{ "sys/class/block/sda/device/scsi_disk/0:0:0:0/provisioning_mode", "full\n" },
	{ "etc/fstab", "/dev/sda / ext4 defaults 0 0\n" },
	{ "etc/systemd/system/fstrim.timer", "OnCalendar=weekly\n" },
	{ "etc/systemd/system/fstrim.service", "ExecStart=/sbin/fstrim -A\n" },
	{ "etc/crontab", "1 1 * * * root fstrim -a\n" },
	{ "run/udev/data/b8:0", "E:ID_FS_TYPE=zfs_member\nE:ID_FS_LABEL=tank\n" },
	{ "proc/spl/kstat/zfs/tank/iostats", "autotrim_bytes_written 4 7\n" },
};
#define FILES (sizeof(files) / sizeof(files[0]))

static void put(const char *file, const char *bytes, size_t size)
{
	char path[256];
	FILE *stream;

	snprintf(path, sizeof(path), "%s/%s", fixture_root, file);
	fixture_make_parents(path);
	stream = fopen(path, "w");
	EXPECT(stream);
	fwrite(bytes, 1, size, stream);
	fclose(stream);
}

static void device(const char *name, const char *number)
{
	char path[256], to[256];

	snprintf(path, sizeof(path), "sys/class/block/%s/dev", name);
	put(path, number, strlen(number));
	snprintf(path, sizeof(path), "sys/class/block/%s/size", name);
	put(path, "1000", 4);
	snprintf(path, sizeof(path), "dev/%s", name);
	put(path, "", 0);
	snprintf(path, sizeof(path), "%s/sys/dev/block/%s", fixture_root, number);
	snprintf(to, sizeof(to), "../../class/block/%s", name);
	fixture_link(to, path);
}

/* dm-0 on md0 on sda and loop0; loop0 on a file of dm-0: a circle that must end. */
static void make(void)
{
	static const struct {
		const char *name, *number;
	} devices[] = {
		{ "sda", "8:0" }, { "dm-0", "253:0" }, { "dm-1", "253:1" }, { "dm-2", "253:2" },
		{ "md0", "9:0" }, { "loop0", "7:0" },  { "nvme0n1", "259:0" },
	};
	static const char *const slaves[] = {
		"dm-0/slaves/md0", "md0/slaves/sda", "md0/slaves/loop0", "dm-1/slaves/dm-2",
		"dm-2/slaves/sda",
	};
	char path[256];

	snprintf(fixture_root, sizeof(fixture_root), "%s/tare-fixture-XXXXXX",
		 access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	EXPECT(mkdtemp(fixture_root));
	atexit(machine_done);
	for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++)
		device(devices[i].name, devices[i].number);
	for (size_t i = 0; i < sizeof(slaves) / sizeof(slaves[0]); i++) {
		snprintf(path, sizeof(path), "%s/sys/class/block/%s/x", fixture_root, slaves[i]);
		fixture_make_parents(path);
	}
	snprintf(path, sizeof(path), "%s/etc/systemd/system/timers.target.wants/fstrim.timer",
		 fixture_root);
	fixture_link("../fstrim.timer", path);
	for (size_t i = 0; i < FILES; i++)
		put(files[i].file, files[i].usual, strlen(files[i].usual));
}

static void check_report(const struct trim_report *report)
{
	static struct trim_pieces pieces;

	EXPECT(report->layer_count <= TRIM_LAYERS && report->note_count <= TRIM_NOTES);
	for (uint32_t i = 0; i < report->layer_count; i++)
		EXPECT(report->layers[i].parent == TRIM_TOP || report->layers[i].parent < i);
	for (uint32_t i = 0; i < report->segment_count; i++) {
		const struct trim_segment *segment = &report->segments[i];

		EXPECT(segment->layer < report->layer_count);
		for (uint32_t k = 0; k < segment->leg_count; k++)
			EXPECT(segment->legs[k].layer > segment->layer &&
			       segment->legs[k].layer < report->layer_count);
	}
	for (uint64_t at = 0; at < 3; at++) {
		const struct trim_span span = { 0, at * 12345, 99999 };

		if (trim_translate(report, &span, &pieces, NULL) == 0)
			for (uint32_t i = 0; i < pieces.count; i++)
				EXPECT(pieces.list[i].layer < report->layer_count);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const specs[] = { "/", "/o", "/dev/dm-1", "/dev/nvme0n1", "/dev/md0" };
	static struct trim_report report;
	size_t which;

	if (size == 0 || size > TEXT_BYTES)
		return -1;
	if (!fixture_root[0])
		make();
	which = data[0] % FILES;
	put(files[which].file, (const char *)data + 1, size - 1);
	for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
		if (trim_walk(fixture_root, specs[i], &report, NULL) < 0)
			continue;
		check_report(&report);
		trim_judge(&report);
		EXPECT(report.verdict.code[0] && report.verdict.text[0]);
		trim_exit_code(&report, false);
	}
	put(files[which].file, files[which].usual, strlen(files[which].usual));
	return 0;
}
