/* SPDX-License-Identifier: MIT */

/* Every machine of tests/fixtures/trim gets the verdict that is written in it. */

#include <dirent.h>

#include "base/check.h"
#include "trim/fixture_trim.h"
#include "trim/judge.h"
#include "trim/walk.h"

static char directory[PATH_MAX];
static struct trim_report report;

static bool same(const char *got, const char *want)
{
	return strcmp(want, "-") == 0 || !want[0] ? !got[0] : strcmp(got, want) == 0;
}

static void check(bool condition, const char *machine, const char *what, const char *want,
		  const char *got)
{
	if (condition)
		return;
	check_failures++;
	printf("# %s: %s: want '%s', got '%s'\n", machine, what, want, got);
}

static bool has_note(const char *words)
{
	char code[64], layer[64] = "";

	sscanf(words, "%63s %63s", code, layer);
	for (uint32_t i = 0; i < report.note_count; i++)
		if (strcmp(report.notes[i].code, code) == 0 &&
		    (!layer[0] || strcmp(report.notes[i].layer, layer) == 0))
			return true;
	return false;
}

static void active_words(char *words, size_t bytes)
{
	const bool option = report.active.mount_option == TRIM_YES;
	const bool timer = report.active.timer == TRIM_YES;

	snprintf(words, bytes, "%s%s%s", option ? report.active.mount_word : "",
		 option && timer ? " + " : "", timer ? "timer" : option ? "" : "none");
}

/* A remedy is a script: commands that are known, and "# ..." for what cannot be done by one. */
static void check_remedy(const char *name, const char *remedy)
{
	static const char *const commands[] = {
		"cryptsetup", "dmesg", "dmsetup", "echo", "fstrim", "grep", "hdparm",
		"integritysetup", "lvchange", "lvs", "mdadm", "mount", "sg_vpd", "sudo",
		"systemctl", "tare", "umount", "zpool",
	};
	FILE *shell = popen("sh -n", "w");

	CHECK(shell && fputs(remedy, shell) >= 0);
	check(pclose(shell) == 0, name, "remedy", "a script", remedy);
	for (const char *line = remedy; *line; line += strspn(line, "\n")) {
		const size_t length = strcspn(line, " \n");
		bool known = line[0] == '#';

		for (size_t i = 0; i < ARRAY_COUNT(commands); i++)
			known |= strlen(commands[i]) == length &&
				 memcmp(line, commands[i], length) == 0;
		check(known, name, "remedy", "a command or # words", line);
		line += strcspn(line, "\n");
	}
}

static void check_words(const char *name, const struct machine *machine)
{
	const struct trim_verdict *verdict = &report.verdict;

	for (size_t i = 0; i < machine->text_count; i++)
		check(strstr(verdict->text, machine->texts[i]), name, "text", machine->texts[i],
		      verdict->text);
	for (size_t i = 0; i < machine->remedy_count; i++)
		check(strstr(verdict->remedy, machine->remedies[i]), name, "remedy",
		      machine->remedies[i], verdict->remedy);
	for (size_t i = 0; i < machine->never_count; i++) {
		check(!strstr(verdict->text, machine->nevers[i]), name, "text without",
		      machine->nevers[i], verdict->text);
		check(!strstr(verdict->remedy, machine->nevers[i]), name, "remedy without",
		      machine->nevers[i], verdict->remedy);
	}
	for (size_t i = 0; i < machine->note_count; i++)
		check(has_note(machine->notes[i]), name, "note", machine->notes[i], "none such");
}

static void check_machine(const char *name, const struct machine *machine)
{
	const struct trim_verdict *verdict = &report.verdict;
	char words[96], number[32];

	check(same(verdict->code, machine->code), name, "verdict", machine->code, verdict->code);
	check(same(verdict->layer, machine->layer), name, "layer", machine->layer, verdict->layer);
	check(same(verdict->reason, machine->reason), name, "reason", machine->reason,
	      verdict->reason);
	check_words(name, machine);
	/* Whoever is told that something is in the way is told what to do about it. */
	if (strcmp(verdict->code, "blocked") == 0)
		check(verdict->remedy[0], name, "remedy", "some", "none");
	check_remedy(name, verdict->remedy);
	for (uint32_t i = 0; i < report.layer_count; i++)
		check_remedy(name, report.layers[i].remedy);
	active_words(words, sizeof(words));
	if (machine->active[0])
		check(strcmp(words, machine->active) == 0, name, "active", machine->active, words);
	snprintf(number, sizeof(number), "%d", trim_exit_code(&report, false));
	snprintf(words, sizeof(words), "%d", machine->exit_code);
	if (machine->exit_code >= 0)
		check(strcmp(words, number) == 0, name, "exit", words, number);
	snprintf(number, sizeof(number), "%llu", (unsigned long long)report.unit_bytes);
	snprintf(words, sizeof(words), "%llu", (unsigned long long)machine->unit_bytes);
	if (machine->unit_bytes)
		check(strcmp(words, number) == 0, name, "unit", words, number);
}

static void run_machine(const char *name)
{
	struct machine machine;
	struct err err = { 0 };
	char path[PATH_MAX];
	int r;

	snprintf(path, sizeof(path), "%.3000s/%.255s", directory, name);
	machine_unpack(path, &machine);
	r = trim_walk(fixture_root, machine.spec, &report, &err);
	check(r == 0, name, "walk", "0", err.text);
	for (size_t i = 0; i < machine.evidence_count; i++)
		machine_see(&report, machine.evidence[i]);
	trim_judge(&report);
	check_machine(name, &machine);
	printf("# %-36s %-16s %-10s %-22s %s\n", name, report.verdict.code, report.verdict.layer,
	       report.verdict.reason, machine.title);
	machine_done();
}

static int is_machine(const struct dirent *entry)
{
	const size_t length = strlen(entry->d_name);

	return length > 4 && strcmp(entry->d_name + length - 4, ".txt") == 0;
}

static void every_machine_gets_its_verdict(void)
{
	const char *source = getenv("TARE_SOURCE_ROOT"), *only = getenv("TARE_MACHINE");
	struct dirent **entries;
	int count;

	snprintf(directory, sizeof(directory), "%s/tests/fixtures/trim", source ? source : ".");
	count = scandir(directory, &entries, is_machine, versionsort);
	CHECK(count >= 50);
	for (int i = 0; i < count; i++) {
		if (!only || strstr(entries[i]->d_name, only))
			run_machine(entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
}

TESTS(TEST(every_machine_gets_its_verdict))
