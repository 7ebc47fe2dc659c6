/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * replay - how a trace is read and how it is played: the options of `tare replay`, and of a
 * workload with a trace. Plain data; replay_fields declares each member once. In a plan they
 * stand in one value, "speed=2;skip=trim,flush".
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/text.h"
#include "model/field.h"

enum replay_timing {
	TIMING_RECORDED,	/* at recorded times, whatever came back (open loop) */
	TIMING_GAPS,		/* one by one: a recorded pause, then the next */
	TIMING_NONE,		/* as fast as the depth allows */
};

enum replay_beyond { BEYOND_REFUSE, BEYOND_CLIP, BEYOND_WRAP };
enum replay_overlap { OVERLAP_REFUSE, OVERLAP_ALLOW, OVERLAP_SEPARATE };
enum replay_clones { CLONES_TOGETHER, CLONES_IN_TURN };
enum replay_unit { UNIT_GUESS, UNIT_S, UNIT_MS, UNIT_US, UNIT_NANO };
enum replay_wait { WAIT_GUESS, WAIT_ABSOLUTE_MS, WAIT_RELATIVE_US };
enum replay_code { CODE_NOT_SAID, CODE_READ_0, CODE_READ_1 };

struct replay {
	/* how it is read */
	char format[16];		/* a name of foreign/trace.h; "" = by content */
	uint32_t wait_unit;		/* enum replay_wait: of fio's iolog version 2 */
	uint32_t time_unit;		/* enum replay_unit: where the format leaves it open */
	uint32_t read_code;		/* enum replay_code: what 0 and 1 stand for */
	uint64_t block_bytes;		/* of sectors and logical blocks; 0 = the format's */
	char columns[128];		/* of a table without a header: "time,op,offset,length" */
	uint32_t clones;		/* enum replay_clones: a repeated header in fio's iolog */

	/* how it is played */
	uint32_t timing;		/* enum replay_timing */
	uint64_t speed_ppm;		/* 1000000 = as recorded, 2000000 = twice as fast */
	uint64_t align_bytes;		/* offsets rounded down, ends up; 0 = as recorded */
	uint64_t divide;		/* offsets divided by; 1 */
	uint32_t beyond;		/* enum replay_beyond: past the target's end */
	uint32_t overlap;		/* enum replay_overlap: streams that meet on one target */
	uint32_t skip;			/* a bit per enum trace_op that is left out */
	char streams[1024];		/* those replayed, comma between; "" = all */
};

extern const struct field replay_fields[];

void replay_init(struct replay *replay);

/* "speed=2;skip=trim"; "" is all presets. */
int replay_parse(struct replay *replay, const char *text, struct err *err);
void replay_print(const struct replay *replay, struct text *ret);	/* what is no preset */

/* FIELD_CUSTOM functions for a member that is a struct replay. */
int replay_parse_member(void *member, const char *value, struct err *err);
void replay_print_member(const void *member, struct text *ret);

/* For the rows (replay_rows.h). */
extern const char *const replay_timing_choices[], *const replay_beyond_choices[];
extern const char *const replay_overlap_choices[], *const replay_clones_choices[];
extern const char *const replay_unit_choices[], *const replay_wait_choices[];
extern const char *const replay_code_choices[];
int replay_parse_speed(void *member, const char *value, struct err *err);
void replay_print_speed(const void *member, struct text *ret);
int replay_parse_skip(void *member, const char *value, struct err *err);
void replay_print_skip(const void *member, struct text *ret);
int replay_parse_plain(void *member, const char *value, struct err *err);
