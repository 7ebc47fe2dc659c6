/* SPDX-License-Identifier: MIT */

/* plan_print - a plan as YAML that plan_parse takes back. */

#include <assert.h>
#include <string.h>

#include "base/units.h"
#include "model/plan.h"
#include "model/utf8.h"

/* What a phase's fields are printed with: so far in. */
struct printer {
	const struct plan *plan;
	int indent;
	struct text *ret;
};

/* Letters, digits and what has no meaning to YAML within a word. */
static bool is_plain(const char *text)
{
	static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				   "_./+=,;%-:";
	const size_t length = strlen(text);

	return length && strspn(text, safe) == length && !strchr("-:,%=", text[0]) &&
	       text[length - 1] != ':';
}

/* What a YAML reader passes through between double quotes as it stands. */
static bool is_quotable(uint32_t code)
{
	return (code >= 0x20 && code < 0x7f) || (code >= 0xa0 && code < 0x2028) ||
	       (code > 0x2029 && code < 0xfeff) || (code >= 0xff00 && code < 0xfffe) ||
	       code >= 0x10000;
}

/* Plain where it can be, else double-quoted; "${" is "$${", so that it comes back as it is. */
static void print_scalar(const char *text, struct text *ret)
{
	uint32_t code = 0;
	size_t bytes;

	if (is_plain(text)) {
		text_add(ret, "%s", text);
		return;
	}
	text_add(ret, "\"");
	for (; *text; text += bytes) {
		bytes = utf8_decode(text, &code);
		assert(bytes > 0);	/* fields and targets are UTF-8 */
		if (!is_quotable(code))
			text_add(ret, "\\u%04x", code);
		else if (code == '"' || code == '\\')
			text_add(ret, "\\%c", *text);
		else if (code == '$' && text[1] == '{')
			text_add(ret, "$$");
		else
			text_add_bytes(ret, text, bytes);
	}
	text_add(ret, "\"");
}

static void print_key(const struct printer *p, const char *name, const char *value)
{
	text_add(p->ret, "%*s%s: ", p->indent, "", name);
	print_scalar(value, p->ret);
	text_add(p->ret, "\n");
}

static void print_field(const struct printer *p, const struct field *field, const void *noun)
{
	struct text value = TEXT_INIT;

	field_print(field, noun, &value);
	print_key(p, field->name, text_string(&value));
	text_done(&value);
}

/* The keys whose rows say something, the presets left out; when it ends is always said. */
static void print_measure(const struct printer *p, const struct phase *phase)
{
	const struct workload *w = &phase->workload;
	const bool named = phase->target_index < p->plan->target_count;
	const char *name = named ? p->plan->targets[phase->target_index].name : "";

	text_add(p->ret, "\n");
	if (phase->target_index && *name)
		print_key(p, "on", name);
	else if (phase->target_index)
		text_add(p->ret, "%*son: %u\n", p->indent, "", phase->target_index);
	if (phase->ends_group)
		print_key(p, "ends-group", "1");
	for (const struct field *field = workload_fields; field->name; field++) {
		const bool ends = strcmp(field->name, "runtime") == 0 && !w->io_size_bytes;
		const bool shown = strcmp(field->name, "rw") == 0 || ends;

		if (!field->input_only && (shown || !field_is_preset(field, w)))
			print_field(p, field, w);
	}
}

static void print_idle(const struct printer *p, const struct phase *phase)
{
	char time[UNITS_TEXT_BYTES];

	text_add(p->ret, " %s\n", units_format_time_ns(phase->idle_ns, time));
}

static void print_step(const struct printer *p, const struct phase *phase)
{
	const struct step *step = &phase->step;
	bool any = false;

	for (const struct field *field = step_rows[step->kind].fields; field->name; field++) {
		if (field_is_preset(field, step))
			continue;
		text_add(p->ret, "%s", any ? "" : "\n");
		print_field(p, field, step);
		any = true;
	}
	if (!any)
		text_add(p->ret, "\n");
}

static void print_target(const struct plan_target *target, const char *spec, struct text *ret)
{
	const struct printer p = { .indent = 4, .ret = ret };
	const struct field *field = plan_target_fields;

	text_add(ret, "  - path: ");
	print_scalar(spec, ret);
	text_add(ret, "\n");
	while ((++field)->name)
		if (!field_is_preset(field, target))
			print_field(&p, field, target);
}

static void print_targets(const struct plan *plan, struct text *ret)
{
	if (plan->target_count) {
		text_add(ret, "targets:\n");
	} else if (*plan->target) {
		text_add(ret, "target: ");
		print_scalar(plan->target, ret);
		text_add(ret, "\n");
	}
	for (size_t i = 0; i < plan->target_count; i++)
		print_target(&plan->targets[i], i ? plan->targets[i].spec : plan->target, ret);
}

static const char *phase_name(const struct phase *phase)
{
	switch (phase->kind) {
	case PHASE_MEASURE:
		return "measure";
	case PHASE_IDLE:
		return "idle";
	case PHASE_STEP:
		return step_rows[phase->step.kind].name;
	}
	assert(false);
	return "";
}

static void print_phase(const struct printer *p, const struct phase *phase)
{
	switch (phase->kind) {
	case PHASE_MEASURE:
		print_measure(p, phase);
		break;
	case PHASE_IDLE:
		print_idle(p, phase);
		break;
	case PHASE_STEP:
		print_step(p, phase);
		break;
	}
}

/* Whether the phase runs together with the one before it. */
static bool is_joined(const struct plan *plan, size_t index)
{
	return index > 0 && index < plan->phase_count &&
	       plan->phases[index].kind == PHASE_MEASURE && plan->phases[index].together &&
	       plan->phases[index - 1].kind == PHASE_MEASURE;
}

void plan_print(const struct plan *plan, struct text *ret)
{
	print_targets(plan, ret);
	text_add(ret, "phases:\n");
	for (size_t i = 0; i < plan->phase_count; i++) {
		const struct phase *phase = &plan->phases[i];
		const bool leads = !is_joined(plan, i) && is_joined(plan, i + 1);
		const bool grouped = leads || is_joined(plan, i);
		const struct printer p = { plan, grouped ? 10 : 6, ret };

		if (leads)
			text_add(ret, "  - together:\n");
		text_add(ret, "%*s- %s:", grouped ? 6 : 2, "", phase_name(phase));
		print_phase(&p, phase);
	}
}
