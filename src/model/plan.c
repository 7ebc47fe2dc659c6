/* SPDX-License-Identifier: MIT */
#include "model/plan.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/defer.h"
#include "base/units.h"
#include "model/document.h"
#include "model/utf8.h"

#define AT(member) .offset = offsetof(struct plan_target, member)
#define TEXT(member) \
	.type = FIELD_TEXT, AT(member), .room = sizeof(((struct plan_target *)NULL)->member)

const struct field plan_target_fields[] = {
	{ .name = "path", TEXT(spec), .help = "the target, as on the command line" },
	{ .name = "name", TEXT(name), .help = "what measurements call it: on" },
	{ .name = "size", .type = FIELD_U64, .unit = UNIT_BYTES, AT(size_bytes), .max = INT64_MAX,
	  .help = "of our test files in a directory, together" },
	{ .name = "files", .type = FIELD_U32, .unit = UNIT_COUNT, AT(file_count), .max = 65535,
	  .help = "test files in a directory that make up one range" },
	{ .name = "stripe", .type = FIELD_U64, .unit = UNIT_BYTES, AT(stripe_bytes),
	  .max = INT64_MAX,
	  .help = "so much of one file, then of the next; without it one after the other" },
	{ .name = "unwritten", .type = FIELD_BOOL, AT(unwritten), .preset = "0",
	  .help = "the test file is not written before it is measured" },
	{ .name = NULL },
};
#undef AT
#undef TEXT

void plan_init(struct plan *plan)
{
	memset(plan, 0, sizeof(*plan));
}

void plan_done(struct plan *plan)
{
	free(plan->targets);
	free(plan->phases);
	memset(plan, 0, sizeof(*plan));
}

/* Room for one more; doubled whenever the count is a power of two. */
static void *grow(void *items, size_t count, size_t item_bytes)
{
	if (count & (count - 1))
		return items;
	items = reallocarray(items, count ? 2 * count : 1, item_bytes);
	if (!items)
		abort();
	return items;
}

uint32_t plan_add_target(struct plan *plan, const char *spec)
{
	struct plan_target *target;

	plan->targets = grow(plan->targets, plan->target_count, sizeof(*plan->targets));
	target = &plan->targets[plan->target_count];
	memset(target, 0, sizeof(*target));
	snprintf(target->spec, sizeof(target->spec), "%s", spec);
	if (plan->target_count == 0)
		memcpy(plan->target, target->spec, sizeof(plan->target));
	return (uint32_t)plan->target_count++;
}

struct phase *plan_add(struct plan *plan, enum phase_kind kind)
{
	struct phase *phase;

	plan->phases = grow(plan->phases, plan->phase_count, sizeof(*plan->phases));
	phase = &plan->phases[plan->phase_count++];
	memset(phase, 0, sizeof(*phase));
	phase->kind = kind;
	workload_init(&phase->workload);
	return phase;
}

struct step *plan_add_step(struct plan *plan, enum step_kind kind)
{
	struct step *step = &plan_add(plan, PHASE_STEP)->step;

	step_init(step, kind);
	return step;
}

bool plan_writes(const struct plan *plan)
{
	for (size_t i = 0; i < plan->phase_count; i++) {
		const struct phase *phase = &plan->phases[i];

		if (phase->kind == PHASE_MEASURE && workload_writes(&phase->workload))
			return true;
		if (phase->kind == PHASE_STEP && step_writes(&phase->step))
			return true;
	}
	return false;
}

struct reader {
	const char *name;
	struct err *err;
	const struct plan *plan;
	struct workload defaults;
	field_bits defaults_seen;
};

static int expect(const struct reader *r, const struct node *node, enum node_kind kind,
		  const char *what)
{
	static const char *const wanted[] = { "a text", "a list", "a mapping" };

	if (node->kind == kind)
		return 0;
	return document_fail(r->name, node, r->err, -EINVAL, "%s is %s, not %s", what,
			     wanted[kind], document_kind_name(node));
}

/*
 * ${NAME} from the environment; unset or empty is an error, for "/dev/${disk}" must not
 * become "/dev/". "$${" is "${".
 */
static int expand(const struct reader *r, const struct node *node, struct text *ret)
{
	const char *at = node->text, *dollar;

	while ((dollar = strstr(at, "${"))) {
		char name[128];
		const char *value, *end = strchr(dollar, '}');

		if (dollar > at && dollar[-1] == '$') {
			text_add_bytes(ret, at, (size_t)(dollar - 1 - at));
			text_add(ret, "${");
			at = dollar + 2;
			continue;
		}
		if (!end || (size_t)(end - dollar - 2) >= sizeof(name))
			return document_fail(r->name, node, r->err, -EINVAL,
					     "'${' without its '}'; a '${' that is meant is '$${'");
		memcpy(name, dollar + 2, (size_t)(end - dollar - 2));
		name[end - dollar - 2] = '\0';
		value = getenv(name);
		if (!value || !*value)
			return document_fail(r->name, node, r->err, -EINVAL,
					     "${%s} is %s in the environment", name,
					     value ? "empty" : "not set");
		text_add_bytes(ret, at, (size_t)(dollar - at));
		text_add(ret, "%s", value);
		at = end + 1;
	}
	text_add(ret, "%s", at);
	return 0;
}

/* As expand, of a scalar that may not be empty. */
static int scalar(const struct reader *r, const struct node *node, const char *what,
		  struct text *ret)
{
	int result = expect(r, node, NODE_SCALAR, what);

	if (result == 0)
		result = expand(r, node, ret);
	if (result == 0 && !*text_string(ret))
		result = document_fail(r->name, node, r->err, -EINVAL, "%s is empty", what);
	return result;
}

/* What a mapping is read into: the rows of a table, over a noun. */
struct into {
	const struct field *fields;
	void *noun;
	field_bits seen;
};

static int fail_unknown_field(const struct reader *r, const struct node *key,
			      const struct field *fields)
{
	const char *nearest = field_nearest(fields, key->text);

	if (nearest)
		return document_fail(r->name, key, r->err, -EINVAL,
				     "no field '%s'; did you mean '%s'?", key->text, nearest);
	return document_fail(r->name, key, r->err, -EINVAL,
			     "no field '%s'; see tare-workload(5) for those there are", key->text);
}

static int set_field(const struct reader *r, const struct node *node, const struct field *field,
		     void *noun)
{
	struct text value = TEXT_INIT;
	struct err err;
	int result = scalar(r, node, field->name, &value);

	if (result == 0 && field_set(field, noun, text_string(&value), &err) < 0)
		result = document_fail(r->name, node, r->err, err.code, "%s%s%s%s", err.text,
				       *err.hint ? " (" : "", err.hint, *err.hint ? ")" : "");
	text_done(&value);
	return result;
}

static int read_field(const struct reader *r, const struct node *key, struct into *into)
{
	const struct field *field = field_find(into->fields, key->text);
	field_bits bit;

	if (!field)
		return fail_unknown_field(r, key, into->fields);
	bit = (field_bits)1 << (field - into->fields);
	if (into->seen & bit)
		return document_fail(r->name, key, r->err, -EINVAL,
				     "'%s' is '%s', which is there already", key->text, field->name);
	into->seen |= bit;
	return set_field(r, key->next, field, into->noun);
}

/* What stands in mapping over what the defaults gave. */
static int read_fields(const struct reader *r, const struct node *mapping, struct into *into)
{
	for (const struct node *key = mapping->first; key; key = key->next->next) {
		int result = read_field(r, key, into);

		if (result < 0)
			return result;
	}
	return 0;
}

static bool is_number(const char *text)
{
	return *text && text[strspn(text, "0123456789")] == '\0';
}

static const char *target_name_at(const void *ctx, size_t i)
{
	const struct plan *plan = ctx;

	return i < plan->target_count ? plan->targets[i].name : NULL;
}

static int find_target(const struct reader *r, const struct node *node, const char *text,
		       uint32_t *ret)
{
	const size_t count = r->plan->target_count ? r->plan->target_count : 1;
	const unsigned long number = is_number(text) ? strtoul(text, NULL, 10) : count;
	const char *nearest;

	for (size_t i = 0; i < r->plan->target_count; i++) {
		if (strcmp(r->plan->targets[i].name, text) != 0)
			continue;
		*ret = (uint32_t)i;
		return 0;
	}
	if (is_number(text) && number < count) {
		*ret = (uint32_t)number;
		return 0;
	}
	if (is_number(text))
		return document_fail(r->name, node, r->err, -EINVAL,
				     "on: there is no target %s; they count from 0 to %zu", text,
				     count - 1);
	nearest = text_nearest(text, target_name_at, r->plan);
	return document_fail(r->name, node, r->err, -EINVAL, "on: no target is called '%s'%s%s%s",
			     text, nearest && *nearest ? "; did you mean '" : "",
			     nearest && *nearest ? nearest : "", nearest && *nearest ? "'?" : "");
}

static int read_on(const struct reader *r, const struct node *value, struct phase *phase)
{
	struct text text = TEXT_INIT;
	int result = scalar(r, value, "on", &text);

	if (result == 0)
		result = find_target(r, value, text_string(&text), &phase->target_index);
	text_done(&text);
	return result;
}

static int read_ends_group(const struct reader *r, const struct node *value, struct phase *phase)
{
	static const struct field flag = { .name = "ends-group", .type = FIELD_BOOL };

	return set_field(r, value, &flag, &phase->ends_group);
}

/* What a measurement says beside its workload. */
static const struct {
	const char *name;
	int (*read)(const struct reader *r, const struct node *value, struct phase *phase);
} place_rows[] = {
	{ "on", read_on },
	{ "ends-group", read_ends_group },
};

static int read_measure_key(const struct reader *r, const struct node *key, struct into *into,
			    struct phase *phase)
{
	for (size_t i = 0; i < ARRAY_COUNT(place_rows); i++)
		if (strcmp(place_rows[i].name, key->text) == 0)
			return place_rows[i].read(r, key->next, phase);
	return read_field(r, key, into);
}

static int read_measure(const struct reader *r, const struct node *value, struct phase *phase)
{
	struct into into = { workload_fields, &phase->workload, 0 };
	struct err err;
	int result = expect(r, value, NODE_MAPPING, "measure");

	if (result < 0)
		return result;
	phase->workload = r->defaults;
	for (const struct node *key = value->first; result == 0 && key; key = key->next->next)
		result = read_measure_key(r, key, &into, phase);
	if (result < 0)
		return result;
	workload_settle(&phase->workload, into.seen | r->defaults_seen);
	if (workload_check(&phase->workload, &err) < 0)
		return document_fail(r->name, value, r->err, err.code, "%s", err.text);
	return 0;
}

static int read_idle(const struct reader *r, const struct node *value, struct phase *phase)
{
	struct text text = TEXT_INIT;
	uint64_t ns = 0;
	struct err err;
	int result = scalar(r, value, "idle", &text);

	if (result == 0 && units_parse_time_ns(text_string(&text), &ns, &err) < 0)
		result = document_fail(r->name, value, r->err, err.code, "idle: %s", err.text);
	if (result == 0 && (ns == 0 || ns > 366ull * 86400 * SECOND_NS))
		result = document_fail(r->name, value, r->err, -ERANGE,
				       "idle: %s is not from 1ns to 366d", text_string(&text));
	if (result == 0)
		phase->idle_ns = ns;
	text_done(&text);
	return result;
}

/* A mapping of the step's fields, the value of its main field alone, or nothing. */
static int read_step(const struct reader *r, const struct node *value, struct phase *phase)
{
	struct step *step = &phase->step;
	const struct step_row *row = &step_rows[step->kind];
	struct into into = { row->fields, step, 0 };
	struct err err;
	int result = 0;

	if (value->kind == NODE_SCALAR && value->text[0] && !row->main_field)
		return document_fail(r->name, value, r->err, -EINVAL,
				     "%s is a mapping, or nothing at all", row->name);
	if (value->kind == NODE_SCALAR && value->text[0])
		result = set_field(r, value, field_find(row->fields, row->main_field), step);
	else if (value->kind != NODE_SCALAR)
		result = expect(r, value, NODE_MAPPING, row->name);
	if (result == 0 && value->kind == NODE_MAPPING)
		result = read_fields(r, value, &into);
	if (result == 0 && step_check(step, &err) < 0)
		result = document_fail(r->name, value, r->err, err.code, "%s", err.text);
	return result;
}

/* "measure", "together", then the steps; "idle" is among them. */
static const char *phase_name_at(const void *ctx, size_t i)
{
	(void)ctx;
	if (i < 2)
		return i == 0 ? "measure" : "together";
	return i < 2 + STEP_KINDS ? step_rows[i - 2].name : NULL;
}

static int fail_unknown_phase(const struct reader *r, const struct node *key)
{
	const char *name, *nearest = text_nearest(key->text, phase_name_at, NULL);
	struct text names = TEXT_INIT;
	int result;

	for (size_t i = 0; (name = phase_name_at(NULL, i)); i++)
		text_add(&names, "%s%s", i ? ", " : "", name);
	if (nearest)
		result = document_fail(r->name, key, r->err, -EINVAL,
				       "no phase '%s'; did you mean '%s'?", key->text, nearest);
	else
		result = document_fail(r->name, key, r->err, -EINVAL, "no phase '%s'; there are %s",
				       key->text, text_string(&names));
	text_done(&names);
	return result;
}

static int check_one_key(const struct reader *r, const struct node *item)
{
	int result = expect(r, item, NODE_MAPPING, "a phase");

	if (result == 0 && (!item->first || item->first->next->next))
		return document_fail(r->name, item, r->err, -EINVAL,
				     "a phase has one key, as in '- idle: 5s'");
	return result;
}

/* Measurements alone: a step has the drive to itself. */
static int read_together(const struct reader *r, const struct node *value, struct plan *plan)
{
	int result = expect(r, value, NODE_SEQUENCE, "together");

	if (result == 0 && !value->first)
		return document_fail(r->name, value, r->err, -EINVAL, "together is empty");
	for (const struct node *item = value->first; result == 0 && item; item = item->next) {
		struct phase *phase;

		result = check_one_key(r, item);
		if (result < 0)
			return result;
		if (strcmp(item->first->text, "measure") != 0)
			return document_fail(r->name, item->first, r->err, -EINVAL,
					     "together takes measurements, not '%s'",
					     item->first->text);
		phase = plan_add(plan, PHASE_MEASURE);
		phase->together = item != value->first;
		result = read_measure(r, item->first->next, phase);
	}
	return result;
}

static int read_phase(const struct reader *r, const struct node *item, struct plan *plan)
{
	const struct node *key = item->first;
	int result = check_one_key(r, item);

	if (result < 0)
		return result;
	if (strcmp(key->text, "measure") == 0)
		return read_measure(r, key->next, plan_add(plan, PHASE_MEASURE));
	if (strcmp(key->text, "together") == 0)
		return read_together(r, key->next, plan);
	/* "idle: 5s" is the oldest spelling, and its own kind. */
	if (strcmp(key->text, "idle") == 0 && key->next->kind != NODE_MAPPING)
		return read_idle(r, key->next, plan_add(plan, PHASE_IDLE));
	for (size_t kind = 0; kind < STEP_KINDS; kind++) {
		struct phase *phase;

		if (strcmp(step_rows[kind].name, key->text) != 0)
			continue;
		phase = plan_add(plan, PHASE_STEP);
		step_init(&phase->step, (enum step_kind)kind);
		return read_step(r, key->next, phase);
	}
	return fail_unknown_phase(r, key);
}

static int read_phases(struct reader *r, const struct node *value, struct plan *plan)
{
	int result = expect(r, value, NODE_SEQUENCE, "phases");

	if (result == 0 && !value->first)
		return document_fail(r->name, value, r->err, -EINVAL, "phases is empty");
	for (const struct node *item = value->first; result == 0 && item; item = item->next)
		result = read_phase(r, item, plan);
	return result;
}

static int read_target(struct reader *r, const struct node *value, struct plan *plan)
{
	struct text text = TEXT_INIT;
	int result = scalar(r, value, "target", &text);

	if (result == 0 && !utf8_is_valid(text_string(&text)))
		result = document_fail(r->name, value, r->err, -EINVAL, "target is not UTF-8");
	if (result == 0 && text.length >= sizeof(plan->target))
		result = document_fail(r->name, value, r->err, -ENAMETOOLONG,
				       "target is longer than a path may be");
	if (result == 0)
		memcpy(plan->target, text_string(&text), text.length + 1);
	text_done(&text);
	return result;
}

static int check_target(const struct reader *r, const struct node *item, const struct plan *plan)
{
	const struct plan_target *target = &plan->targets[plan->target_count - 1];

	if (!*target->spec)
		return document_fail(r->name, item, r->err, -EINVAL,
				     "a target needs a path, as in '- { path: /mnt/data }'");
	if (is_number(target->name))
		return document_fail(r->name, item, r->err, -EINVAL,
				     "name: '%s' is a number, which on takes for a place in the list",
				     target->name);
	for (size_t i = 0; *target->name && i + 1 < plan->target_count; i++)
		if (strcmp(plan->targets[i].name, target->name) == 0)
			return document_fail(r->name, item, r->err, -EINVAL,
					     "two targets are called '%s'", target->name);
	return 0;
}

static int read_target_item(const struct reader *r, const struct node *item, struct plan *plan)
{
	const uint32_t index = plan_add_target(plan, "");
	struct plan_target *target = &plan->targets[index];
	struct into into = { plan_target_fields, target, 0 };
	int result;

	if (item->kind == NODE_SCALAR)
		result = set_field(r, item, &plan_target_fields[0], target);
	else
		result = expect(r, item, NODE_MAPPING, "a target");
	if (result == 0 && item->kind == NODE_MAPPING)
		result = read_fields(r, item, &into);
	return result == 0 ? check_target(r, item, plan) : result;
}

static int read_targets(struct reader *r, const struct node *value, struct plan *plan)
{
	int result = expect(r, value, NODE_SEQUENCE, "targets");

	if (result == 0 && *plan->target)
		return document_fail(r->name, value, r->err, -EINVAL,
				     "target and targets exclude each other: the first of the list is "
				     "the plan's own");
	if (result == 0 && !value->first)
		return document_fail(r->name, value, r->err, -EINVAL, "targets is empty");
	for (const struct node *item = value->first; result == 0 && item; item = item->next)
		result = read_target_item(r, item, plan);
	if (result == 0)
		memcpy(plan->target, plan->targets[0].spec, sizeof(plan->target));
	return result;
}

static int read_defaults(struct reader *r, const struct node *value, struct plan *plan)
{
	struct into into = { workload_fields, &r->defaults, 0 };
	int result = expect(r, value, NODE_MAPPING, "defaults");

	(void)plan;
	if (result == 0)
		result = read_fields(r, value, &into);
	r->defaults_seen = into.seen;
	return result;
}

/* In the order they are read in, wherever they stand. */
static const struct {
	const char *name;
	int (*read)(struct reader *r, const struct node *value, struct plan *plan);
} top_rows[] = {
	{ "target", read_target },
	{ "targets", read_targets },
	{ "defaults", read_defaults },
	{ "phases", read_phases },
};

static const char *top_name_at(const void *ctx, size_t i)
{
	(void)ctx;
	return i < ARRAY_COUNT(top_rows) ? top_rows[i].name : NULL;
}

static int check_top_keys(const struct reader *r, const struct node *root)
{
	for (const struct node *key = root->first; key; key = key->next->next) {
		const char *nearest;
		bool known = false;

		for (size_t i = 0; i < ARRAY_COUNT(top_rows); i++)
			known |= strcmp(top_rows[i].name, key->text) == 0;
		if (known)
			continue;
		nearest = text_nearest(key->text, top_name_at, NULL);
		return document_fail(r->name, key, r->err, -EINVAL, "no key '%s'; %s%s%s", key->text,
				     nearest ? "did you mean '"
					     : "there are target, targets, defaults and phases",
				     nearest ? nearest : "", nearest ? "'?" : "");
	}
	return 0;
}

static const struct node *find_value(const struct node *mapping, const char *name)
{
	for (const struct node *key = mapping->first; key; key = key->next->next) {
		if (strcmp(key->text, name) == 0)
			return key->next;
	}
	return NULL;
}

static int read_plan(struct reader *r, const struct node *root, struct plan *plan)
{
	int result = expect(r, root, NODE_MAPPING, "a plan");

	if (result == 0)
		result = check_top_keys(r, root);
	for (size_t i = 0; result == 0 && i < ARRAY_COUNT(top_rows); i++) {
		const struct node *value = find_value(root, top_rows[i].name);

		if (value)
			result = top_rows[i].read(r, value, plan);
	}
	if (result == 0 && !plan->phase_count)
		result = document_fail(r->name, root, r->err, -EINVAL,
				       "a plan needs phases, as in 'phases: [{ measure: { rw: read } }]'");
	return result;
}

int plan_parse(struct plan *plan, const char *name, const char *yaml, size_t length,
	       struct err *err)
{
	struct reader r = { .name = name, .err = err, .plan = plan };
	struct node *root = NULL;
	int result;

	plan_init(plan);
	workload_init(&r.defaults);
	result = document_parse(&root, name, yaml, length, err);
	if (result < 0)
		return result;
	result = read_plan(&r, root, plan);
	document_free(root);
	if (result < 0)
		plan_done(plan);
	return result;
}

int plan_load(struct plan *plan, const char *path, struct err *err)
{
	DEFER(defer_fclose) FILE *file = fopen(path, "re");
	DEFER(defer_free) char *yaml = malloc(DOCUMENT_BYTES_MAX + 1);
	size_t length;

	plan_init(plan);
	if (!file)
		return err_errno(err, -errno, "%s", path);
	if (!yaml)
		return err_set(err, -ENOMEM, "%s: no memory", path);
	length = fread(yaml, 1, DOCUMENT_BYTES_MAX + 1, file);
	if (ferror(file))
		return err_errno(err, -errno, "%s", path);
	return plan_parse(plan, path, yaml, length, err);
}
