/* SPDX-License-Identifier: MIT */

/* probe_data - what the probe writes and reads through its target. */

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/units.h"
#include "sim/sim.h"
#include "trim/probe_work.h"
#include "trim/walk.h"

#define BUDGET_BYTES (256 * MIB)
#define SMALL_BUDGET_BYTES (4 * MIB)
/* Of what is free: a probe is no reason to fill a disk. */
#define FREE_DIVISOR 10
#define UNIT_BYTES 4096u

static int queue_one(struct probe *p, const struct io *io, struct err *err)
{
	struct io_done got;
	int r;

	p->queue->ops->push(p->queue, io, 1);
	r = p->queue->ops->reap(p->queue, &got, 1, 1, NEVER_NS);
	if (r == 1 && got.result < 0)
		r = got.result;
	return r < 0 ? err_errno(err, r, "%s at %llu", p->target->info.spec,
				 (unsigned long long)io->offset_bytes)
		     : 0;
}

/* The file that holds the byte, and where in it. */
static struct target *file_at(struct probe *p, uint64_t *at_bytes)
{
	uint32_t i = 0;

	if (!p->by_file)
		return p->target;
	while (i + 1 < p->spread.count && p->spread.stretches[i + 1].at_bytes <= *at_bytes)
		i++;
	*at_bytes -= p->spread.stretches[i].at_bytes;
	assert(p->files[i]);
	return p->files[i];
}

static int move(struct probe *p, enum io_kind kind, uint64_t at_bytes, uint32_t length_bytes,
		struct err *err)
{
	const struct target *target = file_at(p, &at_bytes);
	const struct io io = { .kind = (uint8_t)kind,
			       .offset_bytes = at_bytes,
			       .length_bytes = length_bytes,
			       .buffer = p->buffer };
	ssize_t got;

	if (p->queue)
		return queue_one(p, &io, err);
	if (kind == IO_WRITE)
		got = pwrite(target->fd, p->buffer, length_bytes, (off_t)at_bytes);
	else
		got = pread(target->fd, p->buffer, length_bytes, (off_t)at_bytes);
	if (got == (ssize_t)length_bytes)
		return 0;
	return err_errno(err, got < 0 ? -errno : -EIO, "%s: %s at %llu", p->target->info.spec,
			 kind == IO_WRITE ? "write" : "read", (unsigned long long)at_bytes);
}

int probe_flush(struct probe *p, struct err *err)
{
	if (p->queue)
		return queue_one(p, &(struct io){ .kind = IO_FSYNC }, err);
	if ((p->by_file ? syncfs(p->target->fd) : fsync(p->target->fd)) < 0)
		return err_errno(err, -errno, "%s: sync", p->target->info.spec);
	return 0;
}

int probe_write(struct probe *p, uint64_t at_bytes, uint64_t length_bytes, struct err *err)
{
	int r = 0;

	for (uint64_t done = 0; r == 0 && done < length_bytes; done += PROBE_BUFFER_BYTES) {
		const uint64_t left = length_bytes - done;
		const uint32_t now =
			left < PROBE_BUFFER_BYTES ? (uint32_t)left : PROBE_BUFFER_BYTES;

		sector_fill(&p->key, at_bytes + done, p->buffer, now);
		r = move(p, IO_WRITE, at_bytes + done, now, err);
	}
	return r;
}

int probe_look(struct probe *p, const struct stretch *stretch, struct sector_count *ret,
	       struct err *err)
{
	uint64_t at_bytes = stretch->at_bytes;
	const struct target *target = file_at(p, &at_bytes);
	int r = 0;

	/* Where there is no direct I/O, what was written would answer from memory. */
	if (!p->queue && !target->info.direct)
		(void)!posix_fadvise(target->fd, (off_t)at_bytes, (off_t)stretch->bytes,
				     POSIX_FADV_DONTNEED);
	for (uint64_t done = 0; r == 0 && done < stretch->bytes; done += PROBE_BUFFER_BYTES) {
		const uint64_t left = stretch->bytes - done;
		const uint32_t now =
			left < PROBE_BUFFER_BYTES ? (uint32_t)left : PROBE_BUFFER_BYTES;

		r = move(p, IO_READ, stretch->at_bytes + done, now, err);
		if (r == 0)
			sector_add(&p->key, stretch->at_bytes + done, p->buffer, now, ret);
	}
	return r;
}

/* Nothing to be seen below, or nothing to be expected there: what is asked needs no size. */
static bool is_hopeless(const struct trim_report *report)
{
	const uint32_t top = trim_top_block(report);

	return top != TRIM_TOP ? report->layers[top].capable == TRIM_NO
			       : report->layer_count && strcmp(report->layers[0].kind, "sim") != 0;
}

static struct spread_wish wish_of(const struct probe *p)
{
	const struct trim_probe_options *o = p->options;
	const uint64_t most = is_hopeless(p->report) ? SMALL_BUDGET_BYTES : BUDGET_BYTES;

	return (struct spread_wish){
		.sizes = o->sizes,
		.size_count = o->size_count,
		.budget_bytes = o->budget_bytes ? o->budget_bytes : most,
		.unit_bytes = UNIT_BYTES,
		/* Where a file begins within a unit is the file system's affair. */
		.need_bytes = p->is_file ? 2 * p->report->unit_bytes : p->report->unit_bytes,
	};
}

/*
 * Whether pieces must be files: something lies below that could be trimmed, and the file system
 * punches no holes (FAT). Servers and memory have nothing but holes to show.
 */
static int choose_way(struct probe *p, const char *directory, struct err *err)
{
	const struct target_request request = { .spec = directory,
						.writes = true,
						.size_bytes = MIB };
	struct target *target;
	int r;

	p->by_file = p->options->by_deletion;
	if (p->by_file || trim_top_block(p->report) == TRIM_TOP)
		return 0;
	r = target_open(&target, &request, err);
	if (r < 0)
		return r;
	p->by_file = fallocate(target->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
			       UNIT_BYTES) < 0 &&
		     errno == EOPNOTSUPP;
	target_close(target);
	return 0;
}

/*
 * Writes in place on btrfs, so that a guard can be overwritten where it lies, and direct I/O is
 * direct. Only for an empty file; one that does not take it is as it was.
 */
static void write_in_place(struct target *target)
{
	int flags;

	if (ioctl(target->fd, FS_IOC_GETFLAGS, &flags) < 0 || ftruncate(target->fd, 0) < 0)
		return;
	flags |= FS_NOCOW_FL;
	(void)!ioctl(target->fd, FS_IOC_SETFLAGS, &flags);
	(void)!ftruncate(target->fd, (off_t)target->info.size_bytes);
}

static int open_one(struct probe *p, struct target **ret, const struct target_request *request,
		    struct err *err)
{
	const int r = target_open(ret, request, err);

	if (r < 0)
		return r;
	p->is_btrfs = strcmp((*ret)->info.filesystem, "btrfs") == 0;
	if (p->is_btrfs)
		write_in_place(*ret);
	return 0;
}

static int open_files(struct probe *p, const char *directory, struct err *err)
{
	struct target_request request = { .spec = directory, .writes = true };
	int r = 0;

	if (!p->by_file) {
		request.size_bytes = p->spread.end_bytes;
		return open_one(p, &p->target, &request, err);
	}
	/* One after the other, so that they may lie so, too. */
	for (uint32_t i = 0; r == 0 && i < p->spread.count; i++) {
		request.size_bytes = p->spread.stretches[i].bytes;
		r = open_one(p, &p->files[i], &request, err);
	}
	p->target = p->files[0];
	return r;
}

/* Each piece is a file, and has two neighbours: fewer of them. */
static const uint64_t sizes_of_files[] = { 64 * KIB, MIB, 16 * MIB };

/* The directory, or the one that a file lies in. */
static int begin_in_directory(struct probe *p, const char *directory, struct err *err)
{
	struct spread_wish wish;
	struct statvfs fs;
	uint64_t free_bytes;
	int r;

	p->is_file = true;
	if (statvfs(directory, &fs) < 0)
		return err_errno(err, -errno, "%s", directory);
	r = choose_way(p, directory, err);
	if (r < 0)
		return r;
	wish = wish_of(p);
	free_bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
	if (wish.budget_bytes > free_bytes / FREE_DIVISOR)
		wish.budget_bytes = free_bytes / FREE_DIVISOR;
	if (p->by_file && !wish.sizes) {
		wish.sizes = sizes_of_files;
		wish.size_count = sizeof(sizes_of_files) / sizeof(sizes_of_files[0]);
	}
	r = spread_make(&p->spread, &wish, err);
	return r < 0 ? r : open_files(p, directory, err);
}

/* Regions across the device; what is left of it at the end of the last stays. */
static int spread_over(struct probe *p, uint64_t size_bytes, struct err *err)
{
	struct spread_wish wish = wish_of(p);

	wish.span_bytes = size_bytes;
	if (p->target->info.physical_block_bytes > wish.unit_bytes)
		wish.unit_bytes = p->target->info.physical_block_bytes;
	return spread_make(&p->spread, &wish, err);
}

static int begin_on_device(struct probe *p, struct err *err)
{
	const struct target_request request = { .spec = p->report->path,
						.writes = true,
						.erase_serial = p->options->erase_serial };
	int r = target_open(&p->target, &request, err);

	return r < 0 ? r : spread_over(p, p->target->info.size_bytes, err);
}

/* The reference drive is its only layer, and says what it is once it is there. */
static void describe_sim(struct trim_report *report, const struct target_info *info)
{
	struct trim_layer *layer = &report->layers[0];
	struct sim_config config;

	if (!report->layer_count) {
		report->layer_count = 1;
		snprintf(layer->name, sizeof(layer->name), "%.63s", report->spec);
		snprintf(layer->kind, sizeof(layer->kind), "sim");
		layer->parent = TRIM_TOP;
	}
	layer->is_block = true;
	snprintf(layer->detail, sizeof(layer->detail), "%.200s", info->model);
	layer->granularity_bytes = info->discard_granularity_bytes;
	layer->max_bytes = layer->max_hw_bytes = info->discard_max_bytes;
	layer->capable = info->discard_max_bytes ? TRIM_YES : TRIM_NO;
	if (layer->capable == TRIM_NO) {
		snprintf(layer->reason, sizeof(layer->reason), "NO_SUPPORT");
		snprintf(layer->why, sizeof(layer->why), "the drive does not announce discards");
	}
	layer->zeroes = TRIM_NO;
	if (sim_config_parse(&config, info->path, NULL) == 0 &&
	    config.trim_reported == SIM_REPORTED_ZEROS)
		layer->zeroes = TRIM_YES;
	snprintf(report->device, sizeof(report->device), "%s", layer->name);
	report->unit_bytes = info->discard_granularity_bytes;
}

static int begin_on_sim(struct probe *p, struct err *err)
{
	const struct target_request request = { .spec = p->report->spec,
						.writes = true,
						.clock = p->clock };
	struct queue_options options = { .depth_count = 1,
					 .length_max_bytes = PROBE_BUFFER_BYTES,
					 .pool = p->buffer,
					 .pool_bytes = PROBE_BUFFER_BYTES,
					 .clock = p->clock };
	int r = target_open(&p->target, &request, err);

	if (r < 0)
		return r;
	describe_sim(p->report, &p->target->info);
	r = p->target->queue->open(&p->queue, p->target, &options, err);
	return r < 0 ? r : spread_over(p, p->target->info.size_bytes, err);
}

/* Nothing can be said of a place that is gone; the rest is evidence. */
static int begin_failed(struct probe *p, const struct err *err)
{
	const bool is_sim = strncmp(p->report->spec, "sim:", 4) == 0;
	const bool forced = is_sim || (!p->is_file && p->options->erase_serial);

	if (err->code == -ENOMEM || err->code == -ENOENT || (forced && err->code != -ENOSPC))
		return err->code;
	return probe_failed(p, RUNG_NONE, "test-file", err);
}

int probe_begin(struct probe *p, struct err *err)
{
	char path[sizeof(p->report->path)];
	struct stat st;
	int r;

	if (strncmp(p->report->spec, "sim:", 4) == 0) {
		r = begin_on_sim(p, err);
		return r < 0 ? begin_failed(p, err) : 0;
	}
	memcpy(path, p->report->path, sizeof(path));
	if (stat(path, &st) < 0)
		return err_errno(err, -errno, "%s", path);
	if (S_ISBLK(st.st_mode) && !p->options->erase_serial) {
		probe_say(
			p, RUNG_NONE, "consent", false,
			"nothing was written: a probe of %s overwrites parts of it, and needs the "
			"consent that names it",
			path);
		return PROBE_END;
	}
	if (S_ISBLK(st.st_mode))
		r = begin_on_device(p, err);
	else
		r = begin_in_directory(p, S_ISDIR(st.st_mode) ? path : dirname(path), err);
	return r < 0 ? begin_failed(p, err) : 0;
}

int probe_write_all(struct probe *p, struct err *err)
{
	const struct spread *s = &p->spread;
	char text[UNITS_TEXT_BYTES], freed[UNITS_TEXT_BYTES];
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < s->count; i++) {
		const struct stretch *stretch = &s->stretches[i];

		if (probe_stopped(p))
			return PROBE_END;
		probe_progress(p, "writing test data", (double)i / s->count / 4);
		r = probe_write(p, stretch->at_bytes, stretch->bytes, err);
		/*
		 * Extents must end where pieces do: btrfs keeps a whole one while any byte of it is
		 * in use, and delayed allocation makes one of neighbours.
		 */
		if (r == 0 && p->is_file && !p->by_file && (p->is_btrfs || !p->target->info.direct))
			r = probe_flush(p, err);
	}
	if (r == 0)
		r = probe_flush(p, err);
	if (r < 0)
		return probe_failed(p, RUNG_NONE, "test-file", err);
	probe_say(p, RUNG_NONE, "test-file", true,
		  "%s of test data written, of which %s are to be freed",
		  units_format_size((double)s->written_bytes, text),
		  units_format_size((double)s->freed_bytes, freed))
		->bytes = s->written_bytes;
	return 0;
}
