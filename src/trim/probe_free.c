/* SPDX-License-Identifier: MIT */

/*
 * probe_free - gives the pieces free and has them discarded: by the file system itself where it is
 * mounted so, else by FITRIM; on a device by discards. One small piece goes first, with a look at
 * the kernel's log: a controller that loses its link over a discard must not get a large one.
 */

#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/defer.h"
#include "base/units.h"
#include "trim/probe_chunks.h"
#include "trim/probe_work.h"
#include "trim/walk.h"

#define QUIET_NS SECOND_NS
#define QUIET_LIMIT 3 /* times that */
#define ONLINE_NS (10 * SECOND_NS)
#define FIRST_ONLINE_NS                                                                            \
	(3 * SECOND_NS) /* a commit is forced: it is there at once or not at all                   \
			 */
#define FIRST_LIMIT_NS (5 * SECOND_NS)
#define LOOK_NS (50 * MILLISECOND_NS)
/* A range this much larger than what is freed in it is trimmed piece by piece. */
#define RANGE_MAX_BYTES (4 * GIB)
#define AGAIN_NS SECOND_NS
#define DELETE_NS (200 * MILLISECOND_NS)

static uint64_t quiet_ns(const struct probe *p)
{
	return p->options->quiet_ns ? p->options->quiet_ns : QUIET_NS;
}

static bool wait_quiet(struct probe *p, uint64_t quiet, struct counts *ret)
{
	const struct counts_wait wait = { .clock = p->clock,
					  .stop = p->options->stop,
					  .quiet_ns = quiet,
					  .limit_ns = quiet * QUIET_LIMIT };

	return counts_wait_quiet(p->report, &wait, ret);
}

int probe_watch(struct probe *p, struct err *err)
{
	(void)err;
	klog_names_of(p->report, &p->names);
	if (!p->queue)
		p->klog_fd = klog_open();
	if (p->klog_fd < 0 && !p->queue)
		probe_say(p, RUNG_NONE, "kernel-log", false,
			  "the kernel's log cannot be read: resets and timeouts would not be seen")
			->error = p->klog_fd;
	if (p->queue)
		p->target->truth_begin(p->target);
	else if (!wait_quiet(p, quiet_ns(p), &p->before) && !probe_stopped(p))
		probe_say(p, RUNG_NONE, "counters-quiet", false,
			  "others discard meanwhile: what the counters show is not ours alone");
	/* The file's own blocks say something only where there is nothing below it. */
	space_begin(&p->space, p->report,
		    p->is_file && trim_top_block(p->report) == TRIM_TOP ? p->target->fd : -1);
	p->watched = true;
	return 0;
}

/* --- one piece ------------------------------------------------------------------------- */

static int discard_device(struct probe *p, const struct stretch *stretch, struct err *err)
{
	uint64_t range[2] = { stretch->at_bytes, stretch->bytes };
	const struct io io = { .kind = IO_TRIM,
			       .offset_bytes = stretch->at_bytes,
			       .length_bytes = (uint32_t)stretch->bytes };
	const uint64_t begin_ns = clock_now_ns(p->clock);
	struct io_done got = { 0 };
	int r;

	if (p->queue) {
		p->queue->ops->push(p->queue, &io, 1);
		r = p->queue->ops->reap(p->queue, &got, 1, 1, NEVER_NS);
		r = r < 0 ? r : got.result;
	} else {
		r = ioctl(p->target->fd, BLKDISCARD, range) < 0 ? -errno : 0;
	}
	p->call_ns = clock_now_ns(p->clock) - begin_ns;
	return r < 0 ? err_errno(err, r, "discard of %llu bytes at %llu",
				 (unsigned long long)stretch->bytes,
				 (unsigned long long)stretch->at_bytes)
		     : 0;
}

static int punch(struct probe *p, const struct stretch *stretch, struct err *err)
{
	const char *type = p->target->info.filesystem;

	if (fallocate(p->target->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
		      (off_t)stretch->at_bytes, (off_t)stretch->bytes) == 0)
		return 0;
	return err_errno(err, -errno, "punching a hole into a file on %s",
			 type[0] ? type : "this file system");
}

static int free_one(struct probe *p, struct stretch *stretch, struct err *err)
{
	struct target **file = &p->files[stretch - p->spread.stretches];
	int r = 0;

	/* From the first attempt on: an error may come after the deed. */
	p->freed = true;
	stretch->freed = true;
	if (!p->is_file) {
		r = discard_device(p, stretch, err);
	} else if (p->by_file) {
		target_close(*file);
		*file = NULL;
	} else {
		r = punch(p, stretch, err);
	}
	if (r == 0)
		p->report->asked_bytes += stretch->bytes;
	p->freed_ns = clock_now_ns(p->clock);
	return r;
}

/* Freed blocks are free for good, and may be discarded, once the file system has written so. */
static int commit(struct probe *p, struct err *err)
{
	const uint64_t begin_ns = clock_now_ns(p->clock);

	if (!p->is_file) {
		const int r = probe_flush(p, err);

		p->call_ns += clock_now_ns(p->clock) - begin_ns;
		return r;
	}
	for (int i = 0; i < 2; i++) {
		if (syncfs(p->target->fd) < 0)
			return err_errno(err, -errno, "sync of the file system");
		if (!p->by_file)
			break;
		/* XFS takes deleted files apart in the background, and logs that afterwards. */
		clock_sleep_until(p->clock, clock_now_ns(p->clock) + DELETE_NS, p->options->stop);
	}
	return 0;
}

/* --- FITRIM ---------------------------------------------------------------------------- */

static int fitrim(int fd, uint64_t start, uint64_t length)
{
	struct fstrim_range range = { .start = start, .len = length };

	return ioctl(fd, FITRIM, &range) < 0 ? -errno : 0;
}

/* The file systems below an overlay have it, where the overlay has not. */
static int fitrim_below(struct probe *p, uint64_t start, uint64_t length)
{
	int r = fitrim(p->target->fd, start, length);

	for (uint32_t i = 0; r == -ENOTTY && i < p->report->layer_count; i++) {
		const struct trim_layer *layer = &p->report->layers[i];
		DEFER(defer_close) int fd = -1;

		if (layer->is_block || layer->name[0] != '/')
			continue;
		fd = open(layer->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd >= 0)
			r = fitrim(fd, start, length);
	}
	return r == -ENOTTY ? -EOPNOTSUPP : r;
}

/* The file system's addresses that the stretches lie between; false when they are not known. */
static bool range_of(const struct probe *p, const struct stretch *only, uint64_t *start,
		     uint64_t *length)
{
	uint64_t from = UINT64_MAX, to = 0;

	for (size_t i = 0; i < p->extents.count; i++) {
		const struct file_extent *e = &p->extents.list[i];
		uint64_t a = e->file_bytes, b = a + e->length_bytes;

		if (only && a < only->at_bytes)
			a = only->at_bytes;
		if (only && b > only->at_bytes + only->bytes)
			b = only->at_bytes + only->bytes;
		if (a >= b)
			continue;
		a += e->physical_bytes - e->file_bytes;
		b += e->physical_bytes - e->file_bytes;
		from = a < from ? a : from;
		to = b > to ? b : to;
	}
	*start = from;
	*length = to - from;
	return from < to;
}

/*
 * FAT and exFAT count a range's bytes in clusters from 0 on, although the first cluster lies behind
 * the tables: by so much at most. Two tables of 4 bytes a cluster, and where cards align them.
 */
static uint64_t table_bytes(const struct probe *p)
{
	const char *type = p->target->info.filesystem;
	struct statvfs fs;

	if (!strstr(type, "fat") && strcmp(type, "msdos") != 0)
		return 0;
	if (fstatvfs(p->target->fd, &fs) < 0)
		return UINT64_MAX;
	return fs.f_blocks * 8 + 32 * MIB;
}

/* As the file system counts them; begins too early rather than too late. */
static bool fitrim_range_of(const struct probe *p, const struct stretch *only, uint64_t *start,
			    uint64_t *length)
{
	const uint64_t most = table_bytes(p);
	uint64_t early;

	if (!range_of(p, only, start, length))
		return false;
	early = *start < most ? *start : most;
	*start -= early;
	*length += early;
	return true;
}

static int fitrim_pieces(struct probe *p)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < p->spread.count && !probe_stopped(p); i++) {
		const struct stretch *stretch = &p->spread.stretches[i];
		uint64_t start, length;

		if (!stretch->guard && fitrim_range_of(p, stretch, &start, &length))
			r = fitrim_below(p, start, length);
	}
	return r;
}

/*
 * Of one piece, or of all. btrfs trims what belongs to no chunk whatever the range: once is
 * enough. A range it does not like is no reason to give up.
 */
static int fitrim_range(struct probe *p, const struct stretch *only)
{
	uint64_t start, length;
	int r = -EINVAL;

	if (fitrim_range_of(p, only, &start, &length)) {
		if (only || p->is_btrfs || length <= RANGE_MAX_BYTES)
			r = fitrim_below(p, start, length);
		else
			r = fitrim_pieces(p);
	}
	return r == -EINVAL ? fitrim_below(p, 0, UINT64_MAX) : r;
}

/* --- online ---------------------------------------------------------------------------- */

static bool is_online(const struct probe *p)
{
	return p->is_file && p->report->active.mount_option == TRIM_YES;
}

static bool is_async(const struct probe *p)
{
	return strstr(p->report->active.mount_word, "async") != NULL;
}

struct sent_wait {
	const struct counts *since;
	uint64_t bytes; /* discarded at the top since then */
	uint64_t limit_ns;
};

/* False when it did not come, or is in a queue that takes minutes. */
static bool wait_sent(struct probe *p, const struct sent_wait *wait)
{
	const uint32_t top = counts_top(p->report, wait->since);
	const uint64_t end_ns = clock_now_ns(p->clock) + wait->limit_ns;
	struct counts now = *wait->since;

	while (counts_rise(wait->since, &now, top) < wait->bytes) {
		if (top == TRIM_TOP || clock_now_ns(p->clock) >= end_ns || probe_stopped(p))
			return false;
		if (p->is_btrfs && is_online(p) && chunks_discardable(p->target->fd) >= wait->bytes)
			return false;
		clock_sleep_until(p->clock, clock_now_ns(p->clock) + LOOK_NS, p->options->stop);
		counts_read(p->report, &now);
	}
	return true;
}

static void tell_late(struct probe *p, uint64_t after_ns)
{
	const uint64_t queued = p->is_btrfs ? chunks_discardable(p->target->fd) : 0;
	const char *word = p->report->active.mount_word;
	char text[UNITS_TEXT_BYTES];
	struct trim_evidence *evidence;

	if (queued)
		evidence =
			probe_say(p, RUNG_SENT, "online-discard", false,
				  "%s wait in the queue of btrfs (%s), which it works off within "
				  "minutes: sent by FITRIM instead",
				  units_format_size((double)queued, text), word);
	else
		evidence = probe_say(
			p, RUNG_SENT, "online-discard", false,
			"after %.0f s the file system had not discarded all by itself, "
			"although mounted so (%s)%s",
			(double)after_ns / (double)SECOND_NS, word,
			is_async(p) ? "; btrfs may take minutes, so this says nothing" : "");
	evidence->after_ns = after_ns;
}

/* Small pieces below the granularity are never sent: three quarters will do. */
static bool all_came_online(struct probe *p, const struct counts *since)
{
	const uint64_t begin_ns = clock_now_ns(p->clock);
	const struct sent_wait wait = {
		.since = since,
		.bytes = p->spread.freed_bytes / 4 * 3,
		.limit_ns = p->options->online_ns ? p->options->online_ns : ONLINE_NS,
	};
	const bool came = wait_sent(p, &wait);
	const uint64_t took_ns = clock_now_ns(p->clock) - begin_ns;

	if (probe_stopped(p))
		return came;
	if (came)
		probe_say(p, RUNG_SENT, "online-discard", true,
			  "the file system discarded by itself (%s)", p->report->active.mount_word)
			->after_ns = took_ns;
	else
		tell_late(p, took_ns);
	return came;
}

/* --- asking ---------------------------------------------------------------------------- */

/* ZFS is asked by its own command, which trims a whole pool. */
static bool can_ask(const struct probe *p)
{
	return strcmp(p->target->info.filesystem, "zfs") != 0;
}

static int ask_failed(struct probe *p, int r, struct err *err)
{
	err_errno(err, r, "FITRIM on %s", p->target->info.filesystem);
	if (r == -EPERM)
		err_hint(err, "trimming a file system needs root");
	return probe_failed(p, RUNG_SENT, "fitrim", err);
}

/* FITRIM of the piece, or of all: the range, or everything. */
static int ask_once(struct probe *p, const struct stretch *only, bool everything, struct err *err)
{
	const uint64_t begin_ns = clock_now_ns(p->clock);
	const int r = everything ? fitrim_below(p, 0, UINT64_MAX) : fitrim_range(p, only);

	p->freed_ns = clock_now_ns(p->clock);
	p->call_ns = p->freed_ns - begin_ns;
	return r < 0 ? ask_failed(p, r, err) : 0;
}

/*
 * XFS gives deleted files free some time after sync has returned, and no file system promises to
 * keep to the range: where too little came, once more, then everything.
 */
static int ask_for_all(struct probe *p, const struct counts *since, struct err *err)
{
	static const struct {
		bool everything;
		const char *words;
	} tries[] = { { false, "" },
		      { false, ", called twice," },
		      { true, " for all that is free" } };
	const struct sent_wait wait = { since, p->spread.freed_bytes / 2, AGAIN_NS };
	const char *words = "";
	char text[UNITS_TEXT_BYTES];
	struct trim_evidence *evidence;

	for (size_t i = 0; i < ARRAY_COUNT(tries); i++) {
		const int r = ask_once(p, NULL, tries[i].everything, err);

		if (r)
			return r;
		words = tries[i].words;
		if (counts_top(p->report, since) == TRIM_TOP || wait_sent(p, &wait) ||
		    probe_stopped(p))
			break;
	}
	evidence = probe_say(p, RUNG_NONE, "fitrim", true, "FITRIM%s was accepted after %s", words,
			     units_format_latency((double)p->call_ns, text));
	evidence->after_ns = p->call_ns;
	evidence->bytes = p->report->asked_bytes;
	return 0;
}

/* --- the two rounds -------------------------------------------------------------------- */

/* How long the drive takes for the block beside: some say yes and work it off afterwards. */
static uint64_t time_read(struct probe *p, const struct stretch *first)
{
	const struct stretch beside = { .at_bytes = first->at_bytes + first->bytes,
					.bytes = 4 * KIB };
	const uint64_t begin_ns = clock_now_ns(p->clock);
	struct sector_count count = { 0 };

	return probe_look(p, &beside, &count, NULL) < 0 ? 0 : clock_now_ns(p->clock) - begin_ns;
}

/* What the kernel's log says of our devices since the last look; what it says is evidence. */
static enum klog_says look_at_log(struct probe *p)
{
	enum klog_says says = KLOG_NOTHING;
	struct trim_evidence *failed;
	char line[256];

	if (p->klog_fd >= 0)
		says = klog_read(p->klog_fd, &p->names, line, sizeof(line));
	if (says == KLOG_NOTHING)
		return says;
	failed = probe_say(p, RUNG_SENT, says == KLOG_DISCARD ? "discard" : "kernel-log", false,
			   "the kernel's log says: %s", line);
	if (says == KLOG_DISCARD)
		failed->error = klog_discard_error(line, failed->layer);
	/* One of several paths to the device. */
	if (says == KLOG_DISCARD && !trim_report_layer(p->report, failed->layer))
		snprintf(failed->layer, sizeof(failed->layer), "%s", p->report->device);
	return says;
}

/* What tells of a drive or controller that a discard throws out of step. */
static int look_for_trouble(struct probe *p, const struct counts *since, const struct counts *now,
			    uint64_t read_ns)
{
	const uint64_t slowest_ns = counts_slowest(p->report, since, now);
	/* Counters tell a slow drive from a busy file system; else the call's time must do. */
	const uint64_t call_ns = slowest_ns && p->is_file ? slowest_ns : p->call_ns;
	const uint64_t took_ns = read_ns > call_ns ? read_ns : call_ns;
	const enum klog_says says = look_at_log(p);

	if (says == KLOG_DISCARD)
		return PROBE_END;
	if (says == KLOG_TROUBLE || took_ns >= FIRST_LIMIT_NS) {
		p->report->aborted = true;
		probe_say(
			p, RUNG_SENT, "first-discard", false,
			"the first small discard held the drive up for %.1f s%s: no other was sent",
			(double)took_ns / (double)SECOND_NS,
			says == KLOG_TROUBLE ? ", and the device had to be reset or did not answer"
					     : "")
			->after_ns = took_ns;
		return PROBE_END;
	}
	return 0;
}

static int send_first(struct probe *p, struct stretch *stretch, const struct counts *since,
		      struct err *err)
{
	int r = free_one(p, stretch, err);

	if (r < 0)
		return probe_failed(p, RUNG_SENT, p->is_file ? "punch-hole" : "discard", err);
	r = commit(p, err);
	if (r < 0)
		return probe_failed(p, RUNG_SENT, "first-discard", err);
	if (!p->is_file || trim_top_block(p->report) == TRIM_TOP || !can_ask(p))
		return 0;
	/* btrfs's queue takes minutes: not worth waiting for twice. */
	if (is_online(p) && !is_async(p) &&
	    wait_sent(p, &(struct sent_wait){ since, stretch->bytes / 2, FIRST_ONLINE_NS }))
		return 0;
	return ask_once(p, stretch, false, err);
}

int probe_first(struct probe *p, struct err *err)
{
	struct stretch *first = p->spread.stretches;
	struct counts since = p->before, now;
	char text[UNITS_TEXT_BYTES];
	uint64_t read_ns;
	int r, trouble;

	while (!first->first)
		first++;
	r = send_first(p, first, &since, err);
	read_ns = time_read(p, first);
	now = since;
	if (!p->queue)
		wait_quiet(p, quiet_ns(p) / 4, &now);
	trouble = look_for_trouble(p, &since, &now, read_ns);
	if (r != 0 || trouble)
		return r < 0 ? r : PROBE_END;
	probe_say(p, RUNG_NONE, "first-discard", true,
		  "one small piece of %s first: no reset, no timeout",
		  units_format_size((double)first->bytes, text))
		->bytes = first->bytes;
	return 0;
}

static int free_rest(struct probe *p, struct err *err)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < p->spread.count; i++) {
		struct stretch *stretch = &p->spread.stretches[i];

		if (stretch->guard || stretch->first)
			continue;
		if (probe_stopped(p))
			return PROBE_END;
		r = free_one(p, stretch, err);
	}
	if (r == 0)
		r = commit(p, err);
	return r < 0 ? probe_failed(p, RUNG_SENT, p->is_file ? "punch-hole" : "discard", err) : 0;
}

/* The last piece, the largest, is as it was, as far as can be seen. */
static bool is_still_old(struct probe *p)
{
	const struct stretch *last = &p->spread.stretches[p->spread.count - 1];
	struct sector_count count = { 0 };
	struct place_part part;

	while (last->guard)
		last--;
	part = (struct place_part){ last->at_bytes, last->bytes };
	return p->placed && place_look_through(&p->place, &part, &p->key, &count, NULL) == 0 &&
	       sector_most(&count) == CONTENT_OLD;
}

static int send_rest(struct probe *p, const struct counts *since, struct err *err)
{
	if (!p->is_file) {
		probe_say(p, RUNG_NONE, "discard", true, "every discard was accepted")->bytes =
			p->report->asked_bytes;
		return 0;
	}
	/* Nothing below counts: memory, a server. That holes are punched is all there is to see. */
	if (trim_top_block(p->report) == TRIM_TOP) {
		probe_say(p, RUNG_NONE, "punch-hole", true, "holes were punched into the test file")
			->bytes = p->report->asked_bytes;
		return 0;
	}
	/* Without counters it cannot be seen whether anything was sent: ask. */
	if (is_online(p) && counts_top(p->report, since) != TRIM_TOP &&
	    (all_came_online(p, since) || probe_stopped(p))) {
		/* What was counted may have been of others, who trim at the same time. */
		return is_still_old(p) && can_ask(p) ? ask_once(p, NULL, false, err) : 0;
	}
	return can_ask(p) ? ask_for_all(p, since, err) : 0;
}

int probe_rest(struct probe *p, struct err *err)
{
	struct counts since;
	int r;

	/* What was asked of the first must not be taken for what the file system does by itself. */
	counts_read(p->report, &since);
	r = free_rest(p, err);
	if (r == 0)
		r = send_rest(p, &since, err);
	/* A controller may bear a small one and not the large ones. */
	if (look_at_log(p) == KLOG_TROUBLE)
		p->report->aborted = true;
	return r;
}
