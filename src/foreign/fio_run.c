/* SPDX-License-Identifier: MIT */
/* How much, how long, through which engine and at which pace. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/defer.h"
#include "base/random.h"
#include "base/units.h"
#include "foreign/fio_parts.h"

/* What one pass moves: with gaps between requests less than the range. */
static uint64_t pass_of(const struct fio_clone *clone)
{
	const struct workload *w = clone->workload;

	if (!w->stride_bytes || clone->range_bytes < clone->block_max_bytes)
		return clone->range_bytes;
	return ((clone->range_bytes - clone->block_max_bytes) / w->stride_bytes + 1) *
	       clone->block_max_bytes;
}

/* io_size, else one pass of the range, each as often as loops says; 0 = not known. */
static uint64_t amount_of(struct fio_clone *clone)
{
	const struct fio_job_options *o = &clone->job->options;
	uint64_t bytes = pass_of(clone);

	if (o->io_size.percent)
		bytes = (uint64_t)((unsigned __int128)clone->target_bytes * o->io_size.percent /
				   100);
	else if (o->io_size.zones)
		bytes = o->io_size.zones * o->zonesize;
	else if (o->io_size.bytes)
		bytes = o->io_size.bytes;
	if (bytes > INT64_MAX / o->loops) {
		fio_problem(clone->b, clone->job, "loops", "too much in all");
		return 0;
	}
	/* The last request is a whole one. */
	if (bytes % clone->block_min_bytes && !clone->workload->size_mix.count)
		bytes += clone->block_min_bytes - bytes % clone->block_min_bytes;
	return bytes * o->loops;
}

static void set_count(struct fio_clone *clone)
{
	const struct fio_job_options *o = &clone->job->options;

	if (o->number_ios > INT64_MAX / o->loops)
		fio_problem(clone->b, clone->job, "number_ios", "too many");
	else
		clone->workload->io_count = o->number_ios * o->loops;
}

static void set_delay(struct fio_clone *clone)
{
	const uint64_t *delay_ns = clone->job->options.startdelay_ns;
	const uint64_t span_ns = delay_ns[1] - delay_ns[0];
	const uint64_t draw = random_mix(clone->thread_number);

	clone->workload->start_delay_ns =
		delay_ns[0] + (uint64_t)(((unsigned __int128)draw * (span_ns + 1)) >> 64);
}

void fio_set_amount(struct fio_clone *clone)
{
	const struct fio_job_options *o = &clone->job->options;
	struct workload *w = clone->workload;

	w->runtime_ns = o->runtime_ns;
	w->ramp_ns = o->ramp_ns;
	set_delay(clone);
	if (clone->replay)
		return; /* as much as the log has */
	if (o->time_based) {
		if (!o->runtime_ns)
			fio_problem(clone->b, clone->job, "time_based", "needs runtime");
		return;
	}
	w->io_size_bytes = amount_of(clone);
	set_count(clone);
	if (w->io_size_bytes && w->io_size_bytes < clone->block_min_bytes)
		fio_problem(clone->b, clone->job, "io_size", "less than one block");
	if (o->ramp_ns && w->io_size_bytes)
		fio_note(clone->b, clone->job, "ramp_time",
			 "what the ramp does counts against no size, number or loop");
}

const char *const fio_engines[] = { "sync",	"psync",    "vsync", "pvsync", "pvsync2", "libaio",
				    "io_uring", "posixaio", "mmap",  "null",   NULL };

static const struct engine_word {
	const char *name;
	enum workload_engine engine;
	bool has_depth;
	const char *note;
} engine_words[] = {
	{ "sync", ENGINE_SYNC, false, NULL },
	{ "psync", ENGINE_SYNC, false, NULL },
	{ "vsync", ENGINE_SYNC, false,
	  "requests that follow each other are not merged into one call" },
	{ "pvsync", ENGINE_SYNC, false, NULL },
	{ "pvsync2", ENGINE_SYNC, false, NULL },
	{ "libaio", ENGINE_LIBAIO, true, NULL },
	{ "io_uring", ENGINE_IO_URING, true, NULL },
	{ "posixaio", ENGINE_AUTO, true,
	  "the kernel's own queue in place of the C library's threads" },
	{ "mmap", ENGINE_MMAP, false, NULL },
	{ "null", ENGINE_AUTO, true, NULL },
};

static const char *engine_at(const void *ctx, size_t i)
{
	(void)ctx;
	return i < ARRAY_COUNT(engine_words) ? engine_words[i].name : NULL;
}

/* Those fio has besides: a name of one is no slip of the pen. */
static const char other_engines[] =
	" cpuio splice sg net netsplice rdma rbd rados http gfapi gfapi_async libhdfs mtd pmemblk "
	"dev-dax "
	"external filecreate filestat filedelete dircreate dirstat dirdelete ftruncate falloc "
	"e4defrag "
	"libpmem ime_psync ime_psyncv ime_aio libiscsi nbd libcufile libhipfile dfs nfs exec xnvme "
	"libzbc "
	"io_uring_cmd libblkio librpma_apm_client librpma_apm_server librpma_gpspm_client "
	"librpma_gpspm_server spdk spdk_bdev spdk_nvme cpp_null page_fault solarisaio windowsaio ";

static void refuse_engine(struct fio_clone *clone, const char *name)
{
	struct text word = TEXT_INIT;
	const char *nearest;

	text_add(&word, " %.*s ", (int)strcspn(name, ":"), name);
	nearest = text_nearest(name, engine_at, NULL);
	if (strstr(other_engines, text_string(&word)) || strchr(name, ':') || !nearest)
		fio_problem(
			clone->b, clone->job, "ioengine",
			"'%.64s' is no local block engine of tare's; there are sync, psync, vsync, "
			"pvsync, pvsync2, libaio, io_uring, posixaio, mmap, null",
			name);
	else
		fio_problem(clone->b, clone->job, "ioengine",
			    "no engine '%.64s'; did you mean '%s'?", name, nearest);
	text_done(&word);
}

static uint32_t at_most(uint64_t value, uint32_t limit)
{
	return value > limit ? limit : (uint32_t)value;
}

static void set_depth(struct fio_clone *clone, const struct engine_word *engine)
{
	const struct fio_job_options *o = &clone->job->options;
	struct workload *w = clone->workload;

	w->depth_count = engine->has_depth ? (uint32_t)o->iodepth : 1;
	if (o->iodepth > 1 && !engine->has_depth)
		fio_note(clone->b, clone->job, "iodepth",
			 "ioengine=%s has one request in flight, %llu with all clones",
			 engine->name, (unsigned long long)o->numjobs);
	if (w->depth_count == 1)
		return;
	if (fio_options_given(o, "iodepth_batch"))
		w->batch_count = at_most(o->iodepth_batch, w->depth_count);
	if (fio_options_given(o, "iodepth_batch_complete_min"))
		w->wait_count = at_most(o->iodepth_complete_min, w->depth_count);
	if (o->iodepth_complete_max && o->iodepth_complete_max > w->wait_count)
		fio_note(clone->b, clone->job, "iodepth_batch_complete_max",
			 "all that is done is taken at once");
	/* The queue is filled again once it is down to iodepth_low. */
	if (o->iodepth_low && o->iodepth_low < w->depth_count)
		w->wait_count = w->depth_count - (uint32_t)o->iodepth_low;
}

/* "0-1,3" cut at its commas: the CPUs of each node. */
static void add_nodes(struct fio_clone *clone, const char *nodes, struct text *ret)
{
	const struct fio_world *world = clone->b->request->world;
	char list[64];

	while (*nodes) {
		char *end;
		unsigned long first = strtoul(nodes, &end, 10), last = first;

		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		for (unsigned long node = first; node <= last; node++) {
			if (world->node_cpus(world->ctx, (uint32_t)node, list, sizeof(list)) == 0)
				text_add(ret, "%s%s", ret->length ? "," : "", list);
			else
				fio_note(clone->b, clone->job, "numa_cpu_nodes",
					 "this machine has no node %lu", node);
		}
		nodes = *end == ',' ? end + 1 : end;
	}
}

/* The index-th of a list, counted round. */
static void one_cpu(const char *list, uint32_t index, char *ret, size_t ret_bytes)
{
	unsigned long cpus[1024];
	uint32_t count = 0;

	while (*list) {
		char *end;
		unsigned long first = strtoul(list, &end, 10), last = first;

		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		for (; first <= last && count < ARRAY_COUNT(cpus); first++)
			cpus[count++] = first;
		list = *end == ',' ? end + 1 : end;
	}
	if (count)
		snprintf(ret, ret_bytes, "%lu", cpus[index % count]);
}

static void set_cpus(struct fio_clone *clone)
{
	const struct fio_job_options *o = &clone->job->options;
	struct workload *w = clone->workload;
	struct text list = TEXT_INIT;

	if (o->numa_nodes && !o->cpus[0])
		add_nodes(clone, o->numa_nodes, &list);
	else
		text_add(&list, "%s", o->cpus);
	if (list.length >= sizeof(w->cpus))
		fio_problem(clone->b, clone->job, "numa_cpu_nodes", "too many CPUs to list");
	else if (o->cpus_policy == 1)
		one_cpu(text_string(&list), clone->index, w->cpus, sizeof(w->cpus));
	else
		memcpy(w->cpus, text_string(&list), list.length + 1);
	text_done(&list);
}

static void set_durability(struct fio_clone *clone)
{
	const struct fio_job_options *o = &clone->job->options;
	struct workload *w = clone->workload;

	if (!clone->writes)
		return;
	w->sync = w->engine == ENGINE_MMAP ? (uint32_t)SYNC_NONE : o->sync;
	if (w->sync != o->sync)
		fio_note(clone->b, clone->job, "sync",
			 "no effect on memory that is mapped; use fsync");
	w->fsync_count = (uint32_t)o->fsync;
	w->fdatasync_count = (uint32_t)o->fdatasync;
	/* Files are closed at the end. */
	w->end_fsync = o->end_fsync || o->fsync_on_close;
}

void fio_set_engine(struct fio_clone *clone)
{
	const struct fio_job_options *o = &clone->job->options;
	struct workload *w = clone->workload;
	size_t i = 0;

	while (i < ARRAY_COUNT(engine_words) && strcmp(engine_words[i].name, o->ioengine) != 0)
		i++;
	if (i == ARRAY_COUNT(engine_words)) {
		refuse_engine(clone, o->ioengine);
		return;
	}
	w->engine = engine_words[i].engine;
	if (engine_words[i].note)
		fio_note(clone->b, clone->job, "ioengine", "%s", engine_words[i].note);
	set_depth(clone, &engine_words[i]);
	w->direct = o->direct && w->engine != ENGINE_MMAP;
	if (o->direct && w->engine == ENGINE_MMAP)
		fio_note(clone->b, clone->job, "direct", "mmap goes through the page cache");
	w->invalidate = o->invalidate;
	if (!w->direct && strcmp(o->ioengine, "null") != 0)
		fio_note_all(clone->b,
			     "jobs without direct=1 go through the page cache, as in fio: their "
			     "figures may be those of memory");
	set_durability(clone);
	set_cpus(clone);
}

/* Rates of the directions it has; false when some have one and some none. */
static bool sum_rates(struct fio_clone *clone, const uint64_t rates[FIO_DIRECTIONS],
		      const char *name, uint64_t *ret)
{
	const bool used[FIO_DIRECTIONS] = { clone->reads, clone->writes, clone->trims };
	bool any = false, all = true;

	*ret = 0;
	for (int d = 0; d < FIO_DIRECTIONS; d++) {
		any |= used[d] && rates[d];
		all &= !used[d] || rates[d];
		if (used[d] && rates[d] < UINT32_MAX * 1000ull)
			*ret += rates[d];
	}
	if (any && !all)
		fio_problem(clone->b, clone->job, name,
			    "a limit on one direction of a mix is not supported; give both, or "
			    "write two "
			    "jobs");
	return any && all;
}

static double mean_of(const struct size_mix *mix, uint64_t block_bytes)
{
	double sum = 0;

	if (!mix->count)
		return (double)block_bytes;
	for (uint32_t i = 0; i < mix->count; i++)
		sum += (double)mix->sizes[i].bytes * mix->sizes[i].ppm / PPM;
	return sum;
}

/* fio holds each direction to its own rate: the mix is what the rates make it. */
static void set_mix(struct fio_clone *clone, double reads, double writes, const char *name)
{
	struct workload *w = clone->workload;

	if (!clone->reads || !clone->writes)
		return;
	w->read_ppm = (uint32_t)(reads / (reads + writes) * PPM + 0.5);
	fio_note(clone->b, clone->job, name,
		 "the rates of both directions make the mix: %.4g %% reads", w->read_ppm / 1e4);
}

/* Bytes a second as requests: whole ones above a thousand, else one in so many nanoseconds. */
static void set_byte_rate(struct fio_clone *clone)
{
	const uint64_t *rates = clone->job->options.rate;
	struct workload *w = clone->workload;
	const double read_bytes = mean_of(&w->size_mix, w->block_bytes);
	const double write_bytes = w->write_mix.count ? mean_of(&w->write_mix, 0) : read_bytes;
	const double reads = clone->reads ? (double)rates[FIO_READ] / read_bytes : 0;
	const double writes = clone->writes ? (double)rates[FIO_WRITE] / write_bytes : 0;
	const double trims = clone->trims ? (double)rates[FIO_TRIM] / write_bytes : 0;
	const double sum = reads + writes + trims;

	if (sum > 1e9) {
		fio_problem(clone->b, clone->job, "rate",
			    "more than 1000 million requests a second");
		return;
	}
	w->rate_iops = (uint64_t)(sum + 0.5);
	if (sum < 1000 && sum != (double)w->rate_iops) {
		w->rate_iops = 1;
		w->rate_period_ns = (uint64_t)(1e9 / sum + 0.5);
	}
	set_mix(clone, reads, writes, "rate");
}

static void set_rate(struct fio_clone *clone)
{
	const struct fio_job_options *o = &clone->job->options;
	struct workload *w = clone->workload;
	uint64_t rate;

	if (sum_rates(clone, o->rate_iops, "rate_iops", &rate)) {
		w->rate_iops = rate;
		set_mix(clone, (double)o->rate_iops[FIO_READ], (double)o->rate_iops[FIO_WRITE],
			"rate_iops");
	} else if (sum_rates(clone, o->rate, "rate", &rate)) {
		set_byte_rate(clone);
	}
	if (w->rate_iops)
		w->arrival = o->rate_process;
	if (w->rate_iops > 1000000000)
		fio_problem(clone->b, clone->job, "rate_iops",
			    "more than 1000 million requests a second");
}

/* Strided: zonesize of I/O, then on to where zonerange and zoneskip say the next zone begins. */
static void set_zones(struct fio_clone *clone)
{
	const struct fio_job_options *o = &clone->job->options;
	struct workload *w = clone->workload;
	const uint64_t range = o->zonerange ? o->zonerange : o->zonesize;

	if (o->zonemode == 2)
		fio_note(clone->b, clone->job, "zonemode",
			 "a device without zones of its own is taken as a whole");
	if (o->zonemode != 1)
		return;
	if (!o->zonesize || range < o->zonesize) {
		fio_problem(clone->b, clone->job, o->zonesize ? "zonerange" : "zonemode",
			    "strided needs zonesize, and a zonerange of at least that");
		return;
	}
	/* Of a range that one zone holds there is nothing to skip. */
	if (w->size.bytes && w->size.bytes <= o->zonesize)
		return;
	w->piece_bytes = o->zonesize;
	w->piece_gap_bytes =
		range - o->zonesize +
		(o->zoneskip.zones ? o->zoneskip.zones * o->zonesize : o->zoneskip.bytes);
}

static void set_max_latency(struct fio_clone *clone)
{
	const uint64_t *limits_ns = clone->job->options.max_latency_ns;
	const bool used[FIO_DIRECTIONS] = { clone->reads, clone->writes, clone->trims };
	uint64_t least_ns = 0;
	bool differ = false;

	for (int d = 0; d < FIO_DIRECTIONS; d++) {
		if (!used[d] || !limits_ns[d])
			continue;
		differ |= least_ns && limits_ns[d] != least_ns;
		if (!least_ns || limits_ns[d] < least_ns)
			least_ns = limits_ns[d];
	}
	if (differ)
		fio_note(clone->b, clone->job, "max_latency",
			 "the least of them is held against all");
	clone->workload->latency_ns_max = least_ns;
}

static void set_search(struct fio_clone *clone)
{
	const struct fio_job_options *o = &clone->job->options;
	struct workload *w = clone->workload;

	if (!o->latency_target_ns)
		return;
	w->latency_target_ns = o->latency_target_ns;
	w->latency_ppm = (uint32_t)(o->latency_percentile * (PPM / 100.0) + 0.5);
	w->latency_run = o->latency_run;
	if (o->latency_window_ns)
		w->latency_window_ns = o->latency_window_ns;
	if (!w->latency_ppm || w->latency_ppm > PPM)
		fio_problem(clone->b, clone->job, "latency_percentile", "is not from 0.0001 to 100");
}

/* As in fio nothing is looked at without a duration. */
static void set_steady(struct fio_clone *clone)
{
	const struct fio_job_options *o = &clone->job->options;
	struct workload *w = clone->workload;

	if (!o->steadystate)
		return;
	if (!o->steady_window_ns || strlen(o->steadystate) >= sizeof(w->steadystate)) {
		fio_note(clone->b, clone->job, "steadystate",
			 o->steady_window_ns ? "no effect: too long a limit" :
					       "no effect: steadystate_duration is not given");
		return;
	}
	strcpy(w->steadystate, o->steadystate);
	w->steady_window_ns = o->steady_window_ns;
	w->steady_ramp_ns = o->steady_ramp_ns;
	if (o->group_reporting && o->numjobs > 1)
		fio_note(clone->b, clone->job, "steadystate", "each clone is looked at by itself");
}

void fio_set_pace(struct fio_clone *clone)
{
	const struct fio_job_options *o = &clone->job->options;
	struct workload *w = clone->workload;

	set_rate(clone);
	w->think_ns = o->thinktime_ns;
	w->think_count = w->think_ns ? (uint32_t)o->thinktime_blocks : 1;
	w->think_spin_ns = o->thinktime_spin_ns < w->think_ns ? o->thinktime_spin_ns : w->think_ns;
	set_zones(clone);
	if (o->flow < 0)
		fio_problem(clone->b, clone->job, "flow",
			    "a negative weight is of fio before 3.20; write "
			    "how many requests to how many: flow=1, flow=8");
	else
		w->flow_weight = (uint32_t)o->flow;
	w->flow_id = o->flow ? (uint32_t)o->flow_id : 0;
	set_max_latency(clone);
	set_search(clone);
	set_steady(clone);
}
