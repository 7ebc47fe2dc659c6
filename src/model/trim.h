/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * trim - what `tare trim` finds out: the layers between a path and the drive, the evidence
 * gathered on each, and the verdict. Plain data: trim/walk fills the layers, trim/probe the
 * evidence, trim/judge the verdict; report/ prints.
 *
 * Four questions are kept apart, and each has its own answer: is every layer able to discard
 * (capable), does anything send discards (active), do they arrive (delivered), do they do
 * something (effective).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum trim_answer { TRIM_UNKNOWN, TRIM_NO, TRIM_YES };

/* The drive's own command for a discard. */
enum trim_direct { DIRECT_NONE, DIRECT_NVME, DIRECT_UNMAP, DIRECT_ATA };

#define TRIM_LAYERS 64
#define TRIM_TOP UINT32_MAX

/*
 * One layer, from what the user named (index 0) down to the hardware. A tree: a RAID has several
 * layers below it, each with parent = its index; every layer stands after its parent.
 */
struct trim_layer {
	char name[64];			/* "/mnt/data", "dm-0", "sda1" */
	char kind[24];			/* "ext4", "btrfs", "partition", "crypt", "thin", "raid5", "nvme", ... */
	char detail[256];		/* for a person: mount options, dm name, model, backing file */
	uint32_t parent;		/* the layer right above; TRIM_TOP */
	uint64_t start_bytes;		/* where this layer's byte 0 lies within the layer below; with one below */

	enum trim_answer capable;	/* takes a discard and passes it down, as far as it says */
	char reason[24];		/* why not: "CRYPT_OFF", "THIN_NO_PASSDOWN", ...; "" */
	char why[320];			/* one sentence, without its full stop; "" where capable */
	char remedy[1024];		/* against that reason, as the verdict's; "" */
	char needs_root[160];		/* what root would add: "the dm table (allow_discards)"; "" */

	/* of a block device; 0 where not announced */
	uint64_t granularity_bytes, max_bytes, max_hw_bytes, alignment_bytes;
	bool is_block;			/* has a queue, hence counters and limits */
	bool is_virtual;		/* virtual or remote: what lies beyond cannot be seen from here */
	bool rotational;
	enum trim_answer zeroes;	/* promises zeros after a discard: DRAT and RZAT, DLFEAT 1, LBPRZ */
	bool ones;			/* promises ones instead (DLFEAT 2) */
	/* What the drive itself announces, whatever the kernel makes of it. */
	enum trim_direct direct;
	uint64_t direct_max_blocks;	/* of it at once, in logical blocks; 0 = it names none */
	/* A discard leaves as something else that the layer below counts as writes (loop on a device). */
	bool becomes_writes;

	/* delivery, by the probe: what the counters rose by */
	bool have_delivered;
	uint64_t delivered_count, delivered_bytes;
};

/* How the bytes of a layer lie on those below it. */
enum trim_map {
	MAP_UNKNOWN,		/* another place for each block: thin pools, caches, parity */
	MAP_LINEAR,		/* one leg, shifted */
	MAP_STRIPED,		/* chunk after chunk on one leg after the other */
	MAP_MIRRORED,		/* the same on every leg */
};

#define TRIM_SEGMENTS 128
#define TRIM_LEGS 16

struct trim_segment {
	uint32_t layer;			/* whose bytes: an index into layers */
	enum trim_map how;
	uint64_t start_bytes, length_bytes;	/* within that layer; UINT64_MAX = up to its end */
	uint64_t chunk_bytes;			/* striped */
	uint32_t leg_count;
	struct {
		uint32_t layer;
		uint64_t start_bytes;	/* where the segment's first byte lies on the leg */
	} legs[TRIM_LEGS];
};

/* What the reader should know beside the verdict: alignment, limits that are a default, ... */
#define TRIM_NOTES 32
struct trim_note {
	char code[32];			/* stable: "alignment", "limit-default", "sync-discard" */
	char layer[64];			/* "" = the whole */
	bool warning;
	char text[400];			/* one sentence, without its full stop */
};

/* What sends discards without being asked. */
struct trim_active {
	enum trim_answer mount_option;	/* "discard" in force on the file system */
	char mount_word[32];		/* "discard", "discard=async", "autotrim"; "" */
	enum trim_answer timer;		/* fstrim.timer or a cron job */
	char timer_word[96];		/* "fstrim.timer, weekly"; "" */
	bool has_timer;			/* there is an fstrim.timer, enabled or not */
};

enum trim_rung { RUNG_NONE, RUNG_CAPABLE, RUNG_SENT, RUNG_EFFECT, RUNG_BEHAVIOUR };
extern const char *const trim_rung_names[];	/* "none", "capability", "sent", "effect", "behaviour" */

enum trim_content { CONTENT_NOT_READ, CONTENT_ZEROS, CONTENT_ONES, CONTENT_OLD, CONTENT_OTHER };
extern const char *const trim_content_names[];	/* "not read", "zeros", "ones", "old data", "other data" */

/* One thing that was done and seen, in the order of time. */
struct trim_evidence {
	enum trim_rung rung;
	char code[32];			/* stable: "mapping-proven", "read-back", "fitrim", "guards" */
	char layer[64];			/* the layer's name; "" = the whole */
	bool ok;			/* speaks for discard working */
	int error;			/* negative errno of what failed, exactly as the kernel said; 0 */
	uint64_t bytes;			/* it is about so much; 0 */
	uint64_t after_ns;		/* since the discard; 0 */
	enum trim_content content;
	char text[320];			/* one sentence, without its full stop */
};

#define TRIM_SIZES 8
#define TRIM_EVIDENCE 96

/* What became of pieces of one size. */
struct trim_size {
	uint64_t bytes;
	uint32_t tried_count, gone_count, old_count, other_count;
};

struct trim_verdict {
	/*
	 * "works", "works-when-asked", "blocked", "partial", "sent-unproven", "ignored", "cannot-tell",
	 * "dangerous", "not-applicable"
	 */
	char code[24];
	char layer[64];			/* that stops it, or is to blame; "" */
	char reason[24];		/* of that layer; "" */
	char text[512];			/* the verdict in one sentence */
	char remedy[1024];		/* lines to paste, "# ..." to read: commands, their risks; "" */
	bool as_far_as_seen;		/* the last layer is virtual or remote: nothing is said beyond it */
};

struct trim_report {
	char spec[4096], path[4096];	/* as given, resolved */
	char device[64];		/* the lowest that can be read; "" */
	/* A piece so large surely holds a whole unit that every layer can discard; 0 = not known. */
	uint64_t unit_bytes;
	struct trim_layer layers[TRIM_LAYERS];
	uint32_t layer_count;
	struct trim_segment segments[TRIM_SEGMENTS];
	uint32_t segment_count;
	struct trim_note notes[TRIM_NOTES];
	uint32_t note_count;
	struct trim_active active;
	enum trim_rung rung;		/* the highest reached */
	struct trim_evidence evidence[TRIM_EVIDENCE];
	uint32_t evidence_count;
	struct trim_size sizes[TRIM_SIZES];	/* effect by size, ascending */
	uint32_t size_count;
	bool guards_changed;
	char guards_text[320];		/* which block, what it should hold; "" */
	enum trim_answer mapping;	/* file to device proven on the controls */
	enum trim_answer space_freed;	/* by allocation: backing file, thin pool; UNKNOWN = cannot be seen */
	bool aborted;			/* reset, timeout, frozen link after the first small one */
	bool interrupted;
	uint64_t asked_bytes;		/* freed by us and asked to be discarded */
	struct trim_verdict verdict;
};

/* Adds one, zeroed but for what is given; the last one is overwritten when all are taken. */
struct trim_evidence *trim_report_add(struct trim_report *report, enum trim_rung rung,
				      const char *code, const char *layer);
struct trim_layer *trim_report_layer(struct trim_report *report, const char *name);	/* NULL */

/*
 * The word as a shell takes it for one, whatever is in it; in quotes only where it needs them.
 * Returns ret. What does not fit is cut off within its quotes.
 */
#define TRIM_QUOTED_BYTES 600
const char *trim_quote(const char *word, char ret[TRIM_QUOTED_BYTES]);

/* Adds a note; one that finds no room any more is dropped. */
void trim_report_note(struct trim_report *report, const char *code, const char *layer,
		      const char *fmt, ...) __attribute__((format(printf, 4, 5)));
void trim_report_warn(struct trim_report *report, const char *code, const char *layer,
		      const char *fmt, ...) __attribute__((format(printf, 4, 5)));
