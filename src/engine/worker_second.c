/* SPDX-License-Identifier: MIT */
#include "engine/worker_second.h"

/*
 * The second request of a pair takes the first one's place in the depth: the sync of a write,
 * the write of a trimmed block, the reply of an access line.
 */

/* False when its reply has still to go. */
bool second_is_last(struct worker *w, uint32_t tag, uint64_t end_ns)
{
	const struct line_slot *slot = &w->line_slots[tag];
	const uint64_t lasted_ns = end_ns - slot->begin_ns;

	if (slot->line->reply_bytes && !slot->is_reply)
		return false;
	if (w->recorder.measuring) {
		w->transaction_count++;
		w->transaction_ns += lasted_ns;
		if (lasted_ns > w->transaction_ns_max)
			w->transaction_ns_max = lasted_ns;
	}
	return true;
}

static void make_sync(struct worker *w, uint32_t tag, uint64_t now_ns, struct io *ret)
{
	w->slots[tag].sync_ns = now_ns;
	*ret = (struct io){ .kind = w->sync_kind, .tag = tag };
}

/* Its latency is its own, and so is its beginning in an open loop. */
static void make_write(struct worker *w, uint32_t tag, uint64_t now_ns, struct io *ret)
{
	struct worker_slot *slot = &w->slots[tag];

	slot->kind = IO_WRITE;
	slot->submit_ns = slot->intended_ns = now_ns;
	*ret = (struct io){
		.kind = IO_WRITE,
		.tag = tag,
		.buffer = w->pool + tag * w->stride_bytes,
		.offset_bytes = slot->offset_bytes,
		.length_bytes = slot->length_bytes,
		.content_tag = !w->work->map.words,
	};
	worker_content(w, ret);
	w->unsynced_count++;
}

static uint32_t start_halves(struct worker *w, uint64_t now_ns)
{
	uint32_t count = 0;

	while (w->sync_tag_count > 0 && count < w->batch_count) {
		const uint32_t tag = w->sync_tags[--w->sync_tag_count];

		if (w->slots[tag].kind == IO_TRIM)
			make_write(w, tag, now_ns, &w->ios[count++]);
		else
			make_sync(w, tag, now_ns, &w->ios[count++]);
	}
	return count;
}

/* The answers to what is done, each in its own place in the depth. */
static uint32_t start_replies(struct worker *w, uint64_t now_ns)
{
	uint32_t count = 0;

	while (w->reply_tag_count > 0 && count < w->batch_count) {
		const uint32_t tag = w->reply_tags[--w->reply_tag_count];
		struct worker_slot *slot = &w->slots[tag];
		struct io *io = &w->ios[count++];
		struct lines_request request;

		lines_reply(&w->lines, w->line_slots[tag].line, (enum io_kind)slot->kind, &request);
		w->line_slots[tag].is_reply = true;
		*io = (struct io){
			.kind = (uint8_t)request.kind,
			.tag = tag,
			.buffer = w->pool + tag * w->stride_bytes,
			.offset_bytes = request.offset_bytes,
			.length_bytes = request.length_bytes,
		};
		*slot = (struct worker_slot){
			.submit_ns = now_ns,
			.intended_ns = now_ns,
			.offset_bytes = request.offset_bytes,
			.length_bytes = request.length_bytes,
			.kind = io->kind,
		};
		if (io->kind == IO_WRITE)
			worker_content(w, io);
	}
	return count;
}

uint32_t second_start_some(struct worker *w, uint64_t now_ns)
{
	return w->reply_tag_count ? start_replies(w, now_ns) : start_halves(w, now_ns);
}
