/* SPDX-License-Identifier: MIT */
#include "cli/cli.h"

#include <string.h>

extern const struct verb verb_glance, verb_check, verb_run, verb_precondition, verb_state, verb_devices, verb_doctor, verb_sim;
extern const struct verb verb_protocol, verb_fio, verb_iozone, verb_iometer, verb_trim;
extern const struct verb verb_import, verb_record, verb_replay;
extern const struct verb verb_help, verb_version, verb_completion;

/* In the order help lists them. Add a verb here and its file to meson.build. */
const struct verb *const verbs[] = {
	&verb_glance,
	&verb_check,
	&verb_run,
	&verb_replay,
	&verb_record,
	&verb_precondition,
	&verb_state,
	&verb_trim,
	&verb_protocol,
	&verb_fio,
	&verb_iozone,
	&verb_iometer,
	&verb_import,
	&verb_devices,
	&verb_doctor,
	&verb_sim,
	&verb_help,
	&verb_version,
	&verb_completion,
	NULL,
};

const struct verb *verb_find(const char *name)
{
	for (size_t i = 0; verbs[i]; i++) {
		if (strcmp(verbs[i]->name, name) == 0)
			return verbs[i];
	}
	return NULL;
}
