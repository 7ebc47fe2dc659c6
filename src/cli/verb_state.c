/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "cli/cli.h"
#include "report/json_tree.h"
#include "state/ledger.h"
#include "target/target.h"

/* What `tare state` knows: the ledger, with the writes of others up to now. */
struct shown {
	struct target_info info;
	struct ledger ledger;
	bool others;			/* wrote since the last entry: see now */
	struct ledger_entry now;
	char state[32], text[512];
};

/* Looks only: what is found out now is shown, and added by the next run. */
static int look(struct target *target, struct shown *ret, struct err *err)
{
	struct ledger_entry now;
	int r = ledger_open(&ret->ledger, NULL, &target->info, err);

	if (r < 0)
		return r;
	ret->info = target->info;
	ledger_now(target, &now);
	ret->others = ledger_catch_up(&ret->ledger, &now, &ret->now);
	ledger_state(&ret->ledger, ret->state, ret->text, sizeof(ret->text));
	if (ret->others) {
		strcpy(ret->state, "unknown");
		snprintf(ret->text, sizeof(ret->text), "%s", ret->now.text);
	}
	return 0;
}

static void add_entry(struct text *text, const struct ledger_entry *e)
{
	char written[UNITS_TEXT_BYTES];

	text_add(text, "%s  %-8s %10s  %-9s %s\n", e->at, e->what,
		 e->written_bytes ? units_format_size((double)e->written_bytes, written) : "-",
		 e->state, e->text);
}

static void show_text(const struct shown *shown, struct text *text)
{
	text_add(text, "%s: %s\n%s\n", shown->info.spec, shown->state, shown->text);
	if (shown->ledger.count || shown->others)
		text_add(text, "\n%-20s  %-8s %10s  %-9s\n", "when", "what", "written", "then");
	for (size_t i = 0; i < shown->ledger.count; i++)
		add_entry(text, &shown->ledger.entries[i]);
	if (shown->others)
		add_entry(text, &shown->now);
}

static json_t *entry_json(const struct ledger_entry *e)
{
	json_t *ret = json_object();

	json_put_text(ret, "at", e->at);
	json_put_text(ret, "who", e->who);
	json_put_text(ret, "what", e->what);
	json_put_text(ret, "text", e->text);
	json_put_text(ret, "state", e->state);
	json_put_u64(ret, "written_bytes", e->written_bytes);
	json_put_u64(ret, "discard_bytes", e->discard_bytes);
	json_put_u64(ret, "duration_ns", e->duration_ns);
	return ret;
}

static void show_json(const struct shown *shown, struct text *text)
{
	json_t *root = json_object(), *state = json_object(), *entries = json_array();

	json_put_text(state, "name", shown->state);
	json_put_text(state, "text", shown->text);
	for (size_t i = 0; i < shown->ledger.count; i++)
		json_array_append_new(entries, entry_json(&shown->ledger.entries[i]));
	if (shown->others)
		json_array_append_new(entries, entry_json(&shown->now));
	json_put(root, "schema", json_string("tare.state/1"));
	json_put(root, "target", report_target_json(&shown->info));
	json_put(root, "state", state);
	json_put(root, "entries", entries);
	json_write(root, text);
	json_decref(root);
}

static int open_and_look(const struct invocation *inv, struct shown *ret, struct err *err)
{
	/* Of a directory the least file will do: it tells on which drive it lies. */
	const struct target_request request = { .spec = inv->target, .size_bytes = 4 * KIB };
	struct target *target;
	int r;

	if (!inv->target[0]) {
		err_set(err, -EINVAL, "which target?");
		return err_hint(err, "tare state DEVICE|DIR|FILE");
	}
	if (strncmp(inv->target, "sim:", 4) == 0)
		return err_set(err, -EINVAL, "%s is new in each run: no ledger is kept of it",
			       inv->target);
	r = target_open(&target, &request, err);
	if (r < 0)
		return r;
	r = look(target, ret, err);
	target_close(target);
	return r;
}

static int run_state(struct invocation *inv)
{
	struct shown shown = { .others = false };
	struct text text = TEXT_INIT;
	struct err err = { 0 };
	int exit_code, r = open_and_look(inv, &shown, &err);

	if (r < 0)
		return invocation_fail(inv, exit_of_refusal(r), &err);
	if (inv->json)
		show_json(&shown, &text);
	else
		show_text(&shown, &text);
	exit_code = print_text(inv, &text);
	text_done(&text);
	ledger_done(&shown.ledger);
	return exit_code;
}

const struct verb verb_state = {
	.name = "state",
	.summary = "what a drive has been through, as far as tare knows",
	.description =
		"Every run that writes notes in the drive's ledger what it did: steps, bytes, times, who. "
		"What others wrote in between shows in the kernel's counters for the device, or, after a "
		"reboot, in the drive's own count of bytes written; the state is unknown from there on.\n\n"
		"A drive goes by model and serial number, without one by its device name. The ledger is in "
		"/var/lib/tare/ledger, of users other than root in their own state directory.",
	.positional = POSITIONAL_TARGET,
	.operands = "TARGET",
	.examples = {
		{ "state /dev/nvme0n1", "a drive" },
		{ "state /mnt/data", "the drive below a directory" },
		{ "state --json /dev/sda", "for scripts" },
	},
	.run = run_state,
};
