/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "cli/help.h"

static const char *topic_name_at(const void *ctx, size_t i)
{
	(void)ctx;
	for (size_t v = 0; verbs[v]; v++, i--) {
		if (i == 0)
			return verbs[v]->name;
	}
	return help_topics[i].name;
}

static int fail_unknown(const struct invocation *inv)
{
	const char *nearest = text_nearest(inv->topic, topic_name_at, NULL);
	struct err err;

	err_set(&err, -EINVAL, "help: nothing about '%s'", inv->topic);
	if (nearest && *nearest && strcmp(nearest, "help") != 0)
		err_hint(&err, "did you mean tare help %s?", nearest);
	else
		err_hint(&err, "tare help lists commands and topics");
	return invocation_fail(inv, EXIT_USAGE, &err);
}

static int help_run(struct invocation *inv)
{
	const struct verb *verb = verb_find(inv->topic);
	const struct help_topic *topic = help_topics;
	const struct field *field = field_find(workload_fields, inv->topic);
	struct text text = TEXT_INIT;
	int exit_code;

	while (topic->name && strcmp(topic->name, inv->topic) != 0)
		topic++;
	if (verb)
		help_full(verb, &text);
	else if (topic->name)
		topic->print(&text);
	else if (field)
		help_option(field, &text);
	else
		return fail_unknown(inv);
	exit_code = print_words(inv, "help", &text);
	text_done(&text);
	return exit_code;
}

const struct verb verb_help = {
	.name = "help",
	.summary = "what there is, one command's options, one option, or a topic",
	.positional = POSITIONAL_TOPIC,
	.operands = "[COMMAND|OPTION|TOPIC]",
	.examples = {
		{ "help run", "all options of tare run" },
		{ "help iodepth", "one option of a workload" },
		{ "help exit-codes", "what the exit status says" },
		{ "help findings", "what the audit of a result can find" },
	},
	.run = help_run,
};
