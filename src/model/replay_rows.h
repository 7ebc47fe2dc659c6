/* SPDX-License-Identifier: MIT */
/*
 * The rows of replay_fields, for a table over struct replay or over a struct that holds one at
 * REPLAY_BASE. Included once in each table.
 */
#define AT(member) .offset = (REPLAY_BASE) + offsetof(struct replay, member)
#define ENUM(member, list) .type = FIELD_ENUM, AT(member), .choices = (list)
#define U64(member, u, low, high) \
	.type = FIELD_U64, .unit = (u), AT(member), .min = (low), .max = (high)
#define TEXT(member) \
	.type = FIELD_TEXT, AT(member), .room = sizeof(((struct replay *)NULL)->member), \
	.parse = replay_parse_plain
#define CUSTOM(member, in, out) .type = FIELD_CUSTOM, AT(member), .parse = (in), .print = (out)
#define GROUP "Timing"
	{ .name = "timing", ENUM(timing, replay_timing_choices), .preset = "recorded", .group = GROUP,
	  .help = "at recorded times whatever came back; one by one with the recorded pauses; or as "
		  "fast as the depth allows" },
	{ .name = "speed", CUSTOM(speed_ppm, replay_parse_speed, replay_print_speed), .preset = "1",
	  .metavar = "FACTOR", .group = GROUP, .help = "2 plays twice as fast, 0.5 half as fast" },
#undef GROUP
#define GROUP "Place"
	{ .name = "align", U64(align_bytes, UNIT_BYTES, 0, 1u << 30), .group = GROUP,
	  .help = "round starts down and ends up to this; without it as recorded" },
	{ .name = "divide", U64(divide, UNIT_COUNT, 1, 1000000), .preset = "1", .group = GROUP,
	  .help = "divide offsets by this, for a smaller target; then align rounds" },
	{ .name = "beyond", ENUM(beyond, replay_beyond_choices), .preset = "refuse", .group = GROUP,
	  .help = "requests past the target's end: refuse the trace, cut them, or wrap them round" },
	{ .name = "overlap", ENUM(overlap, replay_overlap_choices), .preset = "refuse", .group = GROUP,
	  .help = "recorded targets whose ranges meet on one target: refuse, allow, or put them "
		  "behind each other" },
	{ .name = "skip", CUSTOM(skip, replay_parse_skip, replay_print_skip), .metavar = "OP,...", .group = GROUP,
	  .help = "leave these out, counted: read, write, trim, flush" },
	{ .name = "streams", TEXT(streams), .metavar = "NAME,...", .group = GROUP,
	  .help = "recorded targets to be replayed; without it all" },
#undef GROUP
#define GROUP "Format"
	{ .name = "format", TEXT(format), .metavar = "NAME", .group = GROUP,
	  .help = "what the trace is written in; without it its content tells" },
	{ .name = "wait-unit", ENUM(wait_unit, replay_wait_choices), .preset = "auto", .group = GROUP,
	  .help = "fio's iolog version 2: waits until so many ms after the start, as fio does it, or "
		  "for so many us, as its manual has it" },
	{ .name = "time-unit", ENUM(time_unit, replay_unit_choices), .preset = "auto", .group = GROUP,
	  .help = "of times, where the format leaves it open" },
	{ .name = "code", ENUM(read_code, replay_code_choices), .preset = "not-said", .group = GROUP,
	  .help = "what 0 and 1 stand for, where the format leaves it open" },
	{ .name = "block", U64(block_bytes, UNIT_BYTES, 0, 1u << 20), .group = GROUP,
	  .help = "bytes of a logical block in the trace; without it what the format says" },
	{ .name = "columns", TEXT(columns), .metavar = "NAME,...", .group = GROUP,
	  .help = "of a table without a header: time, op, offset, lba, length, blocks, target, "
		  "latency, -" },
	{ .name = "clones", ENUM(clones, replay_clones_choices), .preset = "together", .group = GROUP,
	  .help = "fio's iolog with several headers: side by side, or one after another" },
#undef GROUP
#undef AT
#undef ENUM
#undef U64
#undef TEXT
#undef CUSTOM
#undef REPLAY_BASE
