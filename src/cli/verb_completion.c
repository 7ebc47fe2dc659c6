/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/completion.h"

static int completion_run(struct invocation *inv)
{
	const struct completion_shell *shell = completion_shells;
	struct text text = TEXT_INIT;
	struct err err;
	int exit_code;

	while (shell->name && strcmp(shell->name, inv->topic) != 0)
		shell++;
	if (!shell->name) {
		err_set(&err, -EINVAL, "completion: %s is no shell it is made for",
			*inv->topic ? inv->topic : "''");
		err_hint(&err, "tare completion bash, zsh or fish");
		return invocation_fail(inv, EXIT_USAGE, &err);
	}
	shell->print(&text);
	exit_code = print_words(inv, "script", &text);
	text_done(&text);
	return exit_code;
}

static const char *const shells[] = { "bash", "zsh", "fish", NULL };

const struct verb verb_completion = {
	.name = "completion",
	.summary = "a completion script for bash, zsh or fish",
	.description = "Prints a script that completes commands, options, their values and device "
		       "names. An installed tare has them in place; without, source it from the "
		       "shell's start file.",
	.positional = POSITIONAL_TOPIC,
	.operands = "bash|zsh|fish",
	.topics = shells,
	.examples = {
		{ "completion bash", "for ~/.bashrc: eval \"$(tare completion bash)\"" },
		{ "completion zsh", "for ~/.zshrc: eval \"$(tare completion zsh)\"" },
		{ "completion fish", "for ~/.config/fish/config.fish: tare completion fish | source" },
	},
	.run = completion_run,
};
