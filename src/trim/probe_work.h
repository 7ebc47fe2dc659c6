/* SPDX-License-Identifier: MIT */
#pragma once

/* probe_work - what the parts of the probe share. Private to trim/probe*.c. */

#include "target/target.h"
#include "trim/probe.h"
#include "trim/probe_counts.h"
#include "trim/probe_klog.h"
#include "trim/probe_place.h"
#include "trim/probe_space.h"
#include "trim/probe_spread.h"

struct probe {
	struct trim_report *report;
	const struct trim_probe_options *options;
	const struct clock *clock;

	struct target *target; /* our file, the first of several, or the device */
	/* by_file: that of each stretch, the target's among them; NULL once it was deleted. */
	struct target *files[SPREAD_STRETCHES];
	bool by_file;
	struct queue *queue; /* of a target that has its own; NULL */
	bool is_file;	     /* our file in a directory */
	bool is_btrfs;
	unsigned char *buffer; /* PROBE_BUFFER_BYTES, for direct I/O */

	struct spread spread;
	struct sector_key key; /* of all that is written */
	struct file_extents extents;
	struct place place;
	bool placed; /* place is there, and proven on the guards */

	struct klog_names names;
	int klog_fd; /* negative errno when it cannot be read */
	struct counts before;
	struct space space;
	bool watched;	   /* before and space are there */
	bool ended;	   /* a part could not be done: those that follow are left out */
	bool freed;	   /* something of ours was: guards matter from here on */
	uint64_t freed_ns; /* when the last was */
	uint64_t call_ns;  /* what the last call that discards took */
};

#define PROBE_BUFFER_BYTES (1024u * 1024)

/* What a part of the procedure returns beside 0 and errors that end it all. */
enum { PROBE_END = 1 }; /* nothing more can be asked; guards are looked at still */

bool probe_stopped(struct probe *p);
void probe_progress(struct probe *p, const char *doing, double done_ratio);

/* One more piece of evidence, with its sentence. */
struct trim_evidence *probe_say(struct probe *p, enum trim_rung rung, const char *code, bool ok,
				const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* One that failed: the sentence and errno of err. Returns PROBE_END. */
int probe_failed(struct probe *p, enum trim_rung rung, const char *code, const struct err *err);

/* --- probe_data.c: the target's bytes -------------------------------------------------- */

int probe_write(struct probe *p, uint64_t at_bytes, uint64_t length_bytes, struct err *err);
/* What each sector holds, read through the target. */
int probe_look(struct probe *p, const struct stretch *stretch, struct sector_count *ret,
	       struct err *err);
int probe_flush(struct probe *p, struct err *err);
/* Sizes, places, the file; writes all of it. */
int probe_begin(struct probe *p, struct err *err);
int probe_write_all(struct probe *p, struct err *err);

/* --- probe_map.c: where it lies -------------------------------------------------------- */

int probe_map(struct probe *p, struct err *err);
int probe_prove(struct probe *p, struct err *err);

/* --- probe_free.c: freeing and discarding ---------------------------------------------- */

int probe_watch(struct probe *p, struct err *err);
int probe_first(struct probe *p, struct err *err);
int probe_rest(struct probe *p, struct err *err);

/* --- probe_see.c: what became of it ---------------------------------------------------- */

int probe_delivered(struct probe *p, struct err *err);
int probe_read_back(struct probe *p, struct err *err);
int probe_space(struct probe *p, struct err *err);
/* Before anything is freed: what does not come back then says nothing later. */
int probe_kept(struct probe *p, struct err *err);
int probe_guards(struct probe *p, struct err *err);

/* --- probe_ask.c: the drive itself ------------------------------------------------------ */

int probe_ask(struct probe *p, struct err *err);
