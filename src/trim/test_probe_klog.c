/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>

#include "base/check.h"
#include "base/defer.h"
#include "trim/probe_klog.h"

static enum klog_says judge(const char *record)
{
	static struct klog_names names;
	char text[256];

	if (!names.count) {
		klog_add_name(&names, "sda", 3);
		klog_add_name(&names, "ata1", 4);
		klog_add_name(&names, "nvme0", 5);
		klog_add_name(&names, "1:0:0:0", 7);
	}
	return klog_judge(record, &names, text, sizeof(text));
}

static void resets_and_timeouts_are_trouble(void)
{
	static const char *const records[] = {
		"3,901,1001,-;ata1.00: exception Emask 0x0 SAct 0x1 SErr 0x0 action 0x6 frozen\n",
		"6,902,1002,-;ata1: hard resetting link\n",
		"4,903,1003,-;nvme nvme0: I/O tag 12 (100c) QID 2 timeout, completion polled\n",
		"4,904,1004,-;sd 1:0:0:0: [sda] tag#3 uas_eh_abort_handler 0 uas-tag 4\n",
		"6,905,1005,-;nvme nvme0: resetting controller\n SUBSYSTEM=nvme\n DEVICE=c239:0\n",
	};

	for (size_t i = 0; i < ARRAY_COUNT(records); i++)
		CHECK_EQ(judge(records[i]), KLOG_TROUBLE);
}

static void a_failed_request_is_an_error_not_trouble(void)
{
	CHECK_EQ(judge("3,1,2,-;I/O error, dev sda, sector 2048 op 0x1:(WRITE) flags 0x800\n"),
		 KLOG_ERROR);
	CHECK_EQ(judge("6,1,2,-;sd 1:0:0:0: [sda] tag#3 Sense Key : Aborted Command [current]\n"),
		 KLOG_ERROR);
	CHECK_EQ(judge("6,1,2,-;sd 1:0:0:0: [sda] tag#3 Sense Key : Illegal Request [current]\n"),
		 KLOG_ERROR);
}

static void a_failed_discard_has_a_device_and_an_errno(void)
{
	static const struct {
		const char *words;
		int want;
	} cases[] = {
		{ "I/O error", -EIO },
		{ "blk_update_request: I/O error", -EIO },
		{ "critical target error", -EREMOTEIO },
		{ "operation not supported error", -EOPNOTSUPP },
	};
	char record[256], device[64];

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		snprintf(record, sizeof(record),
			 "3,1,2,-;%s, dev sda, sector 2048 op 0x3:(DISCARD) "
			 "flags 0x800 phys_seg 1 prio class 2\n",
			 cases[i].words);
		CHECK_EQ(judge(record), KLOG_DISCARD);
		CHECK_EQ(klog_discard_error(record, device), cases[i].want);
		CHECK_STR(device, "sda");
	}
	CHECK_EQ(judge("3,1,2,-;I/O error, dev sdb, sector 2048 op 0x3:(DISCARD)\n"), KLOG_NOTHING);
	CHECK_EQ(klog_discard_error("I/O error", device), -EIO);
	CHECK_STR(device, "");
}

static void other_devices_do_not_count(void)
{
	CHECK_EQ(judge("6,1,2,-;ata10: hard resetting link\n"), KLOG_NOTHING);
	CHECK_EQ(judge("6,1,2,-;ata2: hard resetting link\n"), KLOG_NOTHING);
	CHECK_EQ(judge("3,1,2,-;I/O error, dev sdab, sector 1\n"), KLOG_NOTHING);
	CHECK_EQ(judge("3,1,2,-;I/O error, dev dm-sda, sector 1\n"), KLOG_NOTHING);
}

static void harmless_lines_and_broken_records_say_nothing(void)
{
	CHECK_EQ(judge("6,1,2,-;sd 1:0:0:0: [sda] Attached SCSI disk\n"), KLOG_NOTHING);
	CHECK_EQ(judge("6,1,2,-;EXT4-fs (sda): mounted filesystem\n"), KLOG_NOTHING);
	CHECK_EQ(judge("no record: ata1: hard resetting link"), KLOG_NOTHING);
	CHECK_EQ(judge(";"), KLOG_NOTHING);
	CHECK_EQ(judge(""), KLOG_NOTHING);
}

static void the_text_is_the_line_without_its_properties(void)
{
	struct klog_names names = { 0 };
	char text[16];

	klog_add_name(&names, "ata1", 4);
	klog_add_name(&names, "ata1", 4);
	CHECK_EQ(names.count, 1);
	CHECK_EQ(klog_judge("6,1,2,-;ata1: frozen\n K=v\n", &names, text, sizeof(text)),
		 KLOG_TROUBLE);
	CHECK_STR(text, "ata1: frozen");
	klog_judge("6,1,2,-;ata1: frozen, and more than fits\n", &names, text, sizeof(text));
	CHECK_STR(text, "ata1: frozen, a");
}

TESTS(TEST(resets_and_timeouts_are_trouble), TEST(a_failed_request_is_an_error_not_trouble),
      TEST(a_failed_discard_has_a_device_and_an_errno), TEST(other_devices_do_not_count),
      TEST(harmless_lines_and_broken_records_say_nothing),
      TEST(the_text_is_the_line_without_its_properties))
