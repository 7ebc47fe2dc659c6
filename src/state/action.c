/* SPDX-License-Identifier: MIT */
#include "state/action.h"

#include <assert.h>

static void undo_before(const struct action_run *run, size_t index)
{
	while (index-- > 0)
		if (run->actions[index].undo)
			run->actions[index].undo(run->ctx);
}

int actions_run(const struct action_run *run, struct err *err)
{
	for (size_t i = run->first; run->actions[i].name; i++) {
		const struct action *action = &run->actions[i];
		const int r = action->run(run->ctx, err);

		assert(r <= 0);
		if (r < 0) {
			err_wrap(err, "%s", action->name);
			undo_before(run, i);
			return r;
		}
		if (run->done)
			run->done(run->done_ctx, i, action);
	}
	return 0;
}
