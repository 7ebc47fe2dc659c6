/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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

/* What libata says of one failed command, record by record; the worst of it, and its text. */
static enum klog_says worst_of(const char *const *records, size_t count, char *text)
{
	static struct klog_names names;
	enum klog_says says;
	int ends[2];

	if (!names.count) {
		klog_add_name(&names, "sda", 3);
		klog_add_name(&names, "ata1", 4);
	}
	/* A pipe of packets hands out one record for each read, as /dev/kmsg does. */
	CHECK_EQ(pipe2(ends, O_DIRECT | O_NONBLOCK | O_CLOEXEC), 0);
	for (size_t i = 0; i < count; i++)
		CHECK_EQ(write(ends[1], records[i], strlen(records[i])), strlen(records[i]));
	close(ends[1]);
	says = klog_read(ends[0], &names, text, 256);
	close(ends[0]);
	return says;
}

static void a_bad_sector_is_an_error_not_trouble(void)
{
	static const char *const records[] = {
		"3,901,1,-;ata1.00: exception Emask 0x0 SAct 0x40 SErr 0x0 action 0x0\n",
		"3,902,2,-;ata1.00: irq_stat 0x40000008\n",
		"3,903,3,-;ata1.00: failed command: READ FPDMA QUEUED\n",
		("3,904,4,-;ata1.00: cmd 60/08:30:00:08:00/00:00:00:00:00/40 tag 6 dma 4096\\x0a"
		"  res 41/40:08:00:08:00/00:00:00:00:00/00 Emask 0x409 (media error) <F>\n"),
		"3,905,5,-;ata1.00: status: { DRDY ERR }\n",
		"3,906,6,-;ata1.00: error: { UNC }\n",
		"6,907,7,-;ata1.00: configured for UDMA/133\n",
		"6,908,8,-;ata1: EH complete\n",
		"3,909,9,-;critical medium error, dev sda, sector 2048 op 0x0:(READ) flags 0x0\n",
	};
	char text[256];

	CHECK_EQ(worst_of(records, ARRAY_COUNT(records), text), KLOG_ERROR);
}

static void a_failed_queued_trim_is_trouble(void)
{
	static const char *const records[] = {
		"3,901,1,-;ata1.00: exception Emask 0x0 SAct 0x40 SErr 0x0 action 0x0\n",
		"3,903,3,-;ata1.00: failed command: SEND FPDMA QUEUED\n",
		("3,904,4,-;ata1.00: cmd 64/01:30:00:00:00/00:00:00:00:00/a0 tag 6 ncq dma 512\\x0a"
		"  res 41/04:01:00:00:00/00:00:00:00:00/00 Emask 0x401 (device error) <F>\n"),
		"6,908,8,-;ata1: EH complete\n",
	};
	char text[256];

	CHECK_EQ(worst_of(records, ARRAY_COUNT(records), text), KLOG_TROUBLE);
	CHECK_STR(text, "ata1.00: failed command: SEND FPDMA QUEUED");
}

/* Refused, and no more: the block layer's line tells which device and how. */
static void a_refused_data_set_management_is_a_failed_discard(void)
{
	static const char *const records[] = {
		"3,901,1,-;ata1.00: exception Emask 0x0 SAct 0x0 SErr 0x0 action 0x0\n",
		"3,903,3,-;ata1.00: failed command: DATA SET MANAGEMENT\n",
		"3,905,5,-;ata1.00: status: { DRDY ERR }\n",
		"3,906,6,-;ata1.00: error: { ABRT }\n",
		"6,908,8,-;ata1: EH complete\n",
		"3,909,9,-;critical target error, dev sda, sector 2048 op 0x3:(DISCARD) flags 0x0\n",
	};
	char text[256], device[64];

	CHECK_EQ(worst_of(records, 5, text), KLOG_DISCARD);
	CHECK_EQ(klog_discard_error(text, device), -EIO);
	CHECK_EQ(worst_of(records, ARRAY_COUNT(records), text), KLOG_DISCARD);
	CHECK_EQ(klog_discard_error(text, device), -EREMOTEIO);
	CHECK_STR(device, "sda");
}

static void a_link_that_froze_over_it_is_trouble(void)
{
	static const char *const records[] = {
		"3,901,1,-;ata1.00: exception Emask 0x0 SAct 0x0 SErr 0x0 action 0x6 frozen\n",
		"3,903,3,-;ata1.00: failed command: DATA SET MANAGEMENT\n",
		("3,904,4,-;ata1.00: cmd 06/01:01:00:00:00/00:00:00:00:00/a0 tag 3 dma 512 out\\x0a"
		"  res 40/00:00:00:00:00/00:00:00:00:00/00 Emask 0x4 (timeout)\n"),
		"6,905,5,-;ata1: hard resetting link\n",
	};
	char text[256];

	CHECK_EQ(worst_of(records, ARRAY_COUNT(records), text), KLOG_TROUBLE);
	CHECK_EQ(worst_of(records + 2, 1, text), KLOG_TROUBLE);
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
      TEST(a_bad_sector_is_an_error_not_trouble), TEST(a_failed_queued_trim_is_trouble),
      TEST(a_refused_data_set_management_is_a_failed_discard),
      TEST(a_link_that_froze_over_it_is_trouble),
      TEST(harmless_lines_and_broken_records_say_nothing),
      TEST(the_text_is_the_line_without_its_properties))
