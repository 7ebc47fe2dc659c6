/* SPDX-License-Identifier: MIT */

/*
 * What the kernel, udev and a mount table write, and what people write after a colon: the
 * first byte picks whom the rest is for. The machine read has one disk of each sort.
 */

#include <string.h>

#include "base/defer.h"
#include "fuzz.h"
#include "target/counters.h"
#include "target/devices.h"
#include "target/fixture.h"
#include "target/gate.h"
#include "target/mounts.h"
#include "target/testfile.h"

#define TEXT_BYTES 4096

/* Files of the machine that the input may stand in. */
static const char *const files[] = {
	"proc/self/mountinfo",
	"proc/swaps",
	"sys/class/block/sda/dev",
	"sys/class/block/sda/size",
	"sys/class/block/sda/serial",
	"sys/class/block/sda/device/model",
	"sys/class/block/sda/device/vpd_pg80",
	"sys/class/block/sda/dm/uuid",
	"sys/class/block/sda/dm/name",
	"sys/class/block/sda/md/level",
	"sys/class/block/sda/queue/scheduler",
	"sys/class/block/sda/queue/logical_block_size",
	"sys/class/block/loop0/loop/backing_file",
	"run/udev/data/b8:0",
	"notes/00112233445566778899aabbccddeeff",
};

static void machine_write(const char *file, const char *bytes, size_t size)
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

static void machine_make(void)
{
	static const char mounts[] = "20 1 8:0 / / rw - ext4 /dev/sda rw\n";
	char path[256];

	snprintf(fixture_root, sizeof(fixture_root), "/tmp/tare-fixture-XXXXXX");
	EXPECT(mkdtemp(fixture_root));
	atexit(fixture_done);
	machine_write("proc/self/mountinfo", mounts, strlen(mounts));
	machine_write("sys/class/block/sda/dev", "8:0", 3);
	machine_write("sys/class/block/sda/size", "1000", 4);
	machine_write("sys/class/block/loop0/dev", "7:0", 3);
	machine_write("sys/class/block/loop0/size", "1000", 4);
	machine_write("dev/sda", "", 0);
	snprintf(path, sizeof(path), "%s/sys/class/block/sda/holders/loop0/x", fixture_root);
	fixture_make_parents(path);
	snprintf(path, sizeof(path), "%s/sys/class/block/loop0/slaves/sda/x", fixture_root);
	fixture_make_parents(path);	/* a circle: the walk must end */
}

static void machine_read(void)
{
	struct target_device *devices;
	struct mount_facts facts;
	struct mounts *mounts;
	size_t count;
	char path[256];

	gate_check_use(fixture_root, "sda", NULL);
	gate_check_use(fixture_root, "loop0", NULL);
	gate_check_consent(fixture_root, "sda", "x", "", NULL);
	EXPECT(devices_list(fixture_root, &devices, &count, NULL) == 0);
	for (size_t i = 0; i < count; i++)
		EXPECT(devices[i].info.layer_count <= TARGET_LAYERS);
	free(devices);
	if (mounts_open(&mounts, fixture_root, NULL) == 0) {
		mounts_find_file(mounts, 0, &facts);
		mounts_swap_inode(mounts, 1, 1);
		mounts_close(mounts);
	}
	snprintf(path, sizeof(path), "%s/notes", fixture_root);
	EXPECT(testfile_reap(path) == 0);
}

static void read_spec(const char *text)
{
	struct target_request request = { .writes = true };
	struct target *target;
	char spec[TEXT_BYTES + 8];

	target_filter_check(text, NULL);
	snprintf(spec, sizeof(spec), "null:%s", text);
	request.spec = spec;
	if (target_open(&target, &request, NULL) == 0) {
		EXPECT(target->info.size_bytes >= 4096);
		target_close(target);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct device_counters counters;
	char text[TEXT_BYTES];
	size_t which;

	if (size == 0 || size > sizeof(text))
		return -1;
	if (!fixture_root[0])
		machine_make();
	which = data[0];
	memcpy(text, data + 1, size - 1);
	text[size - 1] = '\0';
	counters_parse(text, &counters);
	read_spec(text);
	if (which < ARRAY_COUNT(files)) {
		machine_write(files[which], text, size - 1);
		machine_read();
		if (which == 2)	/* without its number the disk is nobody's any more */
			machine_write(files[which], "8:0", 3);
	}
	return 0;
}
