/* SPDX-License-Identifier: MIT */
#include "target/blocktrace.h"

#include <errno.h>
#include <linux/blktrace_api.h>
#include <signal.h>

#include "base/check.h"

static _Alignas(8) char data[512];
static size_t data_bytes;

static void add_event(uint16_t payload_bytes)
{
	const struct blk_io_trace event = {
		.magic = BLK_IO_TRACE_MAGIC | BLK_IO_TRACE_VERSION,
		.pdu_len = payload_bytes,
	};

	memcpy(data + data_bytes, &event, sizeof(event));
	data_bytes += sizeof(event) + payload_bytes;
}

/* An event is 48 bytes and its payload. */
static void only_whole_events_go_out(void)
{
	uint64_t count;

	data_bytes = 0;
	add_event(0);
	add_event(20);
	CHECK_EQ(data_bytes, 116);
	CHECK_EQ(blocktrace_whole(data, 0, &count), 0);
	CHECK_EQ(blocktrace_whole(data, 47, &count), 0);
	CHECK_EQ(blocktrace_whole(data, 48, &count), 48);
	CHECK_EQ(count, 1);
	CHECK_EQ(blocktrace_whole(data, 115, &count), 48);
	CHECK_EQ(blocktrace_whole(data, 116, &count), 116);
	CHECK_EQ(count, 2);
	/* One that is the kernel's note. */
	((struct blk_io_trace *)(void *)data)->action = BLK_TN_TIMESTAMP;
	CHECK_EQ(blocktrace_whole(data, 116, &count), 116);
	CHECK_EQ(count, 1);
	data[50] = 1;
	CHECK_EQ(blocktrace_whole(data, 116, &count), -EPROTO);
}

static void what_is_no_block_device_is_refused(void)
{
	static volatile sig_atomic_t stop;
	struct blocktrace_result result;
	struct err err = { 0 };

	CHECK_EQ(blocktrace_run(&(struct blocktrace_request){ .device = "/dev/null", .stop = &stop },
				&result, &err),
		 -ENOTBLK);
	CHECK_STR(err.text, "/dev/null is no block device");
	CHECK_EQ(blocktrace_run(&(struct blocktrace_request){ .device = "/nowhere", .stop = &stop },
				&result, &err),
		 -ENOENT);
}

TESTS(TEST(only_whole_events_go_out), TEST(what_is_no_block_device_is_refused))
