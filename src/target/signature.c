/* SPDX-License-Identifier: MIT */
#include "target/signature.h"

#include <blkid/blkid.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/defer.h"

static void free_probe(blkid_probe *probe)
{
	blkid_free_probe(*probe);
}

/* Words for libblkid's type; a file system unless it is known as something else. */
static void say(const char *type, char *text, size_t text_bytes)
{
	static const struct {
		const char *type, *words;
	} known[] = {
		{ "LVM2_member", "an LVM physical volume" },
		{ "LVM1_member", "an LVM physical volume" },
		{ "crypto_LUKS", "a LUKS volume" },
		{ "linux_raid_member", "an md member" },
		{ "zfs_member", "a ZFS member" },
		{ "bcache", "a bcache member" },
		{ "bcachefs", "a bcachefs member" },
		{ "btrfs", "a btrfs file system" },
		{ "ceph_bluestore", "a Ceph OSD" },
		{ "drbd", "a DRBD volume" },
		{ "swap", "swap space" },
		{ "swsuspend", "a hibernated system" },
		{ "VMFS_volume_member", "a VMFS volume" },
		{ "BitLocker", "a BitLocker volume" },
	};

	for (size_t i = 0; i < ARRAY_COUNT(known); i++) {
		if (strcmp(known[i].type, type) == 0) {
			snprintf(text, text_bytes, "%s", known[i].words);
			return;
		}
	}
	if (strstr(type, "_member"))
		snprintf(text, text_bytes, "a RAID member (%s)", type);
	else
		snprintf(text, text_bytes, "%s %s file system",
			 strchr("aeioux", type[0]) ? "an" : "a", type);
}

static void append(char *text, size_t text_bytes, const char *words)
{
	const size_t used = strlen(text);

	if (strstr(text, words))
		return;
	snprintf(text + used, text_bytes - used, "%s%s", used ? " and " : "", words);
}

int signature_find(int fd, const char *name, char *text, size_t text_bytes, struct err *err)
{
	DEFER(free_probe) blkid_probe probe = blkid_new_probe();
	int r;

	text[0] = '\0';
	if (!probe || blkid_probe_set_device(probe, fd, 0, 0) < 0)
		return err_set(err, -EIO, "%s: what it holds cannot be read; not touched", name);
	blkid_probe_enable_superblocks(probe, true);
	blkid_probe_set_superblocks_flags(probe, BLKID_SUBLKS_TYPE | BLKID_SUBLKS_BADCSUM);
	blkid_probe_enable_partitions(probe, true);
	/* GPT's second header counts when the first is gone: it can be restored from it. */
	blkid_probe_set_partitions_flags(probe, BLKID_PARTS_FORCE_GPT | BLKID_PARTS_MAGIC);

	while ((r = blkid_do_probe(probe)) == 0) {
		const char *value;
		char words[96];

		if (blkid_probe_lookup_value(probe, "TYPE", &value, NULL) == 0) {
			say(value, words, sizeof(words));
			append(text, text_bytes, words);
		}
		if (blkid_probe_lookup_value(probe, "PTTYPE", &value, NULL) == 0) {
			snprintf(words, sizeof(words), "a %s partition table", value);
			append(text, text_bytes, words);
		}
	}
	if (r < 0)
		return err_set(err, -EIO, "%s: what it holds cannot be read; not touched", name);
	return 0;
}
