/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * serve - the reference drive in real time: a file in a directory (FUSE; no rights needed),
 * and on request a loop device on top of it (root), which any program can format, mount,
 * trim and measure. Its content lives in memory and is gone when serving ends.
 *
 *	DIR/drive	the drive as a file of its capacity. Every read and write reaches the
 *			drive, no page cache between; fsync is its flush, punching a hole its
 *			discard, zeroing a range its write-zeroes.
 *	user.tare.stat	extended attribute of that file: the drive's counters, JSON
 *	user.tare.map:FIRST-LAST	what the drive holds in these logical blocks, JSON
 *	user.tare.log:NUMBER		the operations from that number on, as text
 *
 * Each served drive is entered in a registry (registry.h: /run/tare for root), so that
 * serve_clean finds what a server that was killed left behind.
 *
 * Threads:	serve_run owns the calling thread until the drive is taken down; it starts
 *		its own threads with all signals blocked.
 */

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/text.h"

/* What was made, and how well the path between the drive and its user keeps time. */
struct serve_ready {
	const char *spec;		/* the shortest that gives this drive back */
	const char *model;
	const char *file;		/* absolute */
	const char *device;		/* "/dev/loop3"; "" without --loop */
	pid_t pid;
	uint64_t capacity_bytes;
	uint64_t floor_ns;		/* median 4 KiB read of a drive that takes no time */
	uint64_t deducted_ns;		/* taken off each answer for the path and its timer */
	int64_t residual_ns_p50;	/* what remains after that: measured - modelled */
	int64_t residual_ns_p99;
	bool real_time;			/* the timer thread is SCHED_FIFO */
	bool locked;			/* mlockall took */
	bool io_flusher;		/* PR_SET_IO_FLUSHER took */
};

struct serve_options {
	const char *spec;		/* as sim_config_parse reads it */
	const char *directory;		/* empty; made, and removed again, when it is not there */
	bool loop;
	const volatile sig_atomic_t *stop;	/* raised: take everything down */
	void *ctx;
	void (*ready)(void *ctx, const struct serve_ready *ready);
	void (*note)(void *ctx, const char *text);	/* one sentence while taking down; may be NULL */
};

/*
 * Serves until *stop is raised or someone unmounts the directory; then takes down what it
 * made: file systems mounted on the device (in every mount namespace), the device, the
 * mount, the directory, the registry entry. 0, or a negative errno: nothing was served, or
 * something could not be taken down (the entry stays, for serve_clean).
 */
int serve_run(const struct serve_options *options, struct err *err);

/*
 * An attribute, without its "user.tare." ("stat", "map:0-99"), of the served file at path, or
 * of the one behind the loop device at path. -ENODATA when the path is no served drive.
 */
int serve_query(const char *path, const char *attribute, struct text *ret, struct err *err);

/*
 * Finds what servers that no longer run left, of this user (root: of all that ran as
 * root), and removes it. note is told each thing removed. Returns how many drives were
 * cleaned, or a negative errno when something remains; the rest is cleaned all the same.
 */
int serve_clean(void (*note)(void *ctx, const char *text), void *ctx, struct err *err);
