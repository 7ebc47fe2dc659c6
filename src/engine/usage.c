/* SPDX-License-Identifier: MIT */
#include "engine/worker.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/defer.h"

static uint64_t timeval_ns(const struct timeval *tv)
{
	return (uint64_t)tv->tv_sec * SECOND_NS + (uint64_t)tv->tv_usec * MICROSECOND_NS;
}

void worker_usage_begin(struct worker *w)
{
	struct rusage usage;

	if (w->work->clock->virtual_ns)
		return;
	getrusage(RUSAGE_THREAD, &usage);
	w->user_ns = timeval_ns(&usage.ru_utime);
	w->system_ns = timeval_ns(&usage.ru_stime);
	w->voluntary_switch_count = (uint64_t)usage.ru_nvcsw;
	w->involuntary_switch_count = (uint64_t)usage.ru_nivcsw;
	w->major_fault_count = (uint64_t)usage.ru_majflt;
	w->minor_fault_count = (uint64_t)usage.ru_minflt;
}

static uint64_t switches_of(const char *tid)
{
	char path[300], line[128];
	uint64_t count = 0;
	DEFER(defer_fclose) FILE *file = NULL;

	snprintf(path, sizeof(path), "/proc/self/task/%s/status", tid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		if (strncmp(line, "voluntary_ctxt_switches:", 24) == 0)
			count = strtoull(line + 24, NULL, 10);
	}
	return count;
}

/* Kernel threads "iou-wrk-TID" work for the thread TID; each wait of theirs is a switch. */
static uint64_t helper_switches(void)
{
	char want[32], comm[32];
	DEFER(defer_closedir) DIR *dir = opendir("/proc/self/task");
	const struct dirent *entry;
	uint64_t count = 0;

	snprintf(want, sizeof(want), "iou-wrk-%d", (int)gettid());
	while (dir && (entry = readdir(dir))) {
		char path[300];
		DEFER(defer_fclose) FILE *file = NULL;

		snprintf(path, sizeof(path), "/proc/self/task/%s/comm", entry->d_name);
		file = fopen(path, "re");
		if (!file || !fgets(comm, sizeof(comm), file))
			continue;
		comm[strcspn(comm, "\n")] = '\0';
		/* Names are cut at 15 bytes. */
		if (strncmp(comm, want, 15) == 0)
			count += switches_of(entry->d_name);
	}
	return count;
}

/*
 * All, where the target cannot start I/O without blocking. Else half the helpers' switches: a
 * helper waits once for the device and once for its next request. With syncs nothing is
 * said: those go to helpers always, and wait any number of times.
 */
void worker_count_punted(struct worker *w)
{
	const struct recorder *r = &w->recorder;
	const uint64_t total = (r->latency[OP_READ] ? r->latency[OP_READ]->count : 0) +
			       (r->latency[OP_WRITE] ? r->latency[OP_WRITE]->count : 0);

	if (w->work->clock->virtual_ns)
		return;
	if (w->queue->facts.punts_all)
		w->punted_count = total;
	else if (!w->sync_each && !w->sync_every)
		w->punted_count = helper_switches() / 2;
	if (w->punted_count > total)
		w->punted_count = total;
}

void worker_usage_end(struct worker *w)
{
	struct rusage usage;

	if (w->work->clock->virtual_ns)
		return;
	getrusage(RUSAGE_THREAD, &usage);
	w->user_ns = timeval_ns(&usage.ru_utime) - w->user_ns;
	w->system_ns = timeval_ns(&usage.ru_stime) - w->system_ns;
	w->voluntary_switch_count = (uint64_t)usage.ru_nvcsw - w->voluntary_switch_count;
	w->involuntary_switch_count = (uint64_t)usage.ru_nivcsw - w->involuntary_switch_count;
	w->major_fault_count = (uint64_t)usage.ru_majflt - w->major_fault_count;
	w->minor_fault_count = (uint64_t)usage.ru_minflt - w->minor_fault_count;
}
