/* SPDX-License-Identifier: MIT */
#include "measure/rules.h"

#include <math.h>
#include <string.h>

#include "base/units.h"
#include "model/workload.h"
#include "stats/histogram.h"

/* Flash pages are 4 KiB at the least, whatever an SSD gives as its physical block. */
static uint64_t least_unit_bytes(const struct target_info *info)
{
	return info->physical_block_bytes > 4 * KIB ? info->physical_block_bytes : 4 * KIB;
}

bool look_partition(const struct audit_facts *facts, struct finding *ret)
{
	const struct target_info *info = facts->info;
	const struct audit_samples *s = &facts->samples;
	const uint64_t unit_bytes = least_unit_bytes(info);
	char unit[UNITS_TEXT_BYTES];

	units_format_bytes(unit_bytes, unit);
	if (info->has_partition && info->partition_start_bytes % unit_bytes) {
		say(ret, "the partition starts at byte %llu, %llu past a block of %s: every aligned "
		    "request straddles two blocks of the drive",
		    (unsigned long long)info->partition_start_bytes,
		    (unsigned long long)(info->partition_start_bytes % unit_bytes), unit);
		advise(ret, "partition anew with starts on 1 MiB, as today's tools do by default");
		return true;
	}
	if (s->extent_misaligned_count == 0)
		return false;
	say(ret, "%u of %u extents of the file do not start on a block of %s on the device",
	    s->extent_misaligned_count, s->extent_count, unit);
	advise(ret, "the file system's block is smaller than the drive's: make it with 4 KiB blocks");
	return true;
}

static bool is_compressible_write(const struct workload *w)
{
	return workload_writes(w) && (w->data != DATA_RANDOM || w->compress_ppm > 0);
}

/* Stored less than written, whoever says why: P02's file of 2 GiB in 512 bytes. */
static bool is_stored_short(const struct audit_facts *facts)
{
	const struct audit_samples *s = &facts->samples;

	return facts->info->ours && s->file_bytes >= MIB &&
	       (double)s->allocated_bytes < 0.9 * (double)s->file_bytes;
}

bool look_compression(const struct audit_facts *facts, struct finding *ret)
{
	const struct audit_samples *s = &facts->samples;
	const struct audit_place *place = &facts->place;
	const char *how = place->compression[0] ? place->compression : "compression";
	char stored[UNITS_TEXT_BYTES], written[UNITS_TEXT_BYTES];

	if (is_stored_short(facts) && !place->memory_backed) {
		say(ret, "the file system stores %s of the %s written: compression, dedupe or zero "
		    "detection keep the rest from the drive",
		    units_format_size((double)s->allocated_bytes, stored),
		    units_format_size((double)s->file_bytes, written));
	} else if (s->compressed_extents) {
		say(ret, "the file is stored compressed: the drive moves less than the figures say");
	} else if (!place->compressing) {
		return false;
	} else if (any_workload(facts, is_compressible_write)) {
		say(ret, "%s compresses (%s) and the data written is compressible: the drive sees "
		    "less than the figures say", facts->info->filesystem, how);
	} else {
		ret->severity = any_workload(facts, workload_writes) ? SEVERITY_WARNING
								     : SEVERITY_INFO;
		say(ret, "%s compresses (%s): tare's data cannot be compressed, but trying costs CPU "
		    "time and may go through the page cache", facts->info->filesystem, how);
	}
	advise(ret, "test in a directory without compression (btrfs: chattr +m, zfs: "
	       "compression=off), with the default data");
	return true;
}

bool look_encryption(const struct audit_facts *facts, struct finding *ret)
{
	if (!facts->place.encrypting)
		return false;
	say(ret, "data is encrypted on its way (%s): the figures contain the CPU's work",
	    facts->place.encryption[0] ? facts->place.encryption : "by the file system");
	advise(ret, "compare only with other results through the same encryption");
	return true;
}

bool look_cow(const struct audit_facts *facts, struct finding *ret)
{
	const struct audit_samples *s = &facts->samples;

	if (!any_workload(facts, workload_writes))
		return false;
	if (facts->place.copy_on_write) {
		say(ret, "%s writes each change to a new place: overwriting costs allocation and "
		    "metadata, and later reads find the file in pieces",
		    facts->info->filesystem[0] ? facts->info->filesystem : "the file system");
		advise(ret, "that is how this file system works; for the drive's own figure test the "
		       "device, or a directory with chattr +C (btrfs)");
		return true;
	}
	if (!s->shared_extents)
		return false;
	say(ret, "parts of the file are shared with another (reflink): the first write to each "
	    "copies it");
	advise(ret, "use a file of its own");
	return true;
}

bool look_memory(const struct audit_facts *facts, struct finding *ret)
{
	switch (facts->info->kind) {
	case TARGET_NULL:
	case TARGET_CHAR:
		say(ret, "%s moves no data to any drive: the figures are tare's own%s",
		    facts->info->kind == TARGET_NULL ? "the null target" : facts->info->path,
		    facts->info->kind == TARGET_NULL ? "" : " and the kernel's");
		advise(ret, "give a directory or a device to measure storage");
		return true;
	default:
		break;
	}
	if (!facts->place.memory_backed)
		return false;
	say(ret, "%s keeps its data in memory: no drive takes part in these figures",
	    facts->place.memory[0] ? facts->place.memory : facts->info->filesystem);
	advise(ret, "give a directory on the drive to be tested");
	return true;
}

/* Of the phases' ranges the smallest: that one is the likeliest to fit. */
static uint64_t tested_bytes(const struct audit_facts *facts)
{
	const uint64_t whole_bytes = facts->info->size_bytes;
	uint64_t least_bytes = whole_bytes;

	for (size_t i = 0; i < facts->result->measurement_count; i++) {
		const struct measurement *m = &facts->result->measurements[i];
		const struct amount *size = &m->workload.size;
		uint64_t bytes = size->bytes ? size->bytes : whole_bytes;

		if (!is_on_target(facts, m))
			continue;
		if (size->ppm)
			bytes = (uint64_t)((unsigned __int128)whole_bytes * size->ppm / PPM);
		least_bytes = bytes < least_bytes ? bytes : least_bytes;
	}
	return least_bytes;
}

bool look_small(const struct audit_facts *facts, struct finding *ret)
{
	const uint64_t cache_bytes = facts->place.cache_bytes_guess;
	const uint64_t range_bytes = tested_bytes(facts);
	char size[UNITS_TEXT_BYTES], cache[UNITS_TEXT_BYTES];

	if (!is_device_path(facts->info) || facts->place.memory_backed || cache_bytes == 0 ||
	    range_bytes >= cache_bytes)
		return false;
	say(ret, "the %s tested may fit into %s of about %s",
	    units_format_size((double)range_bytes, size),
	    facts->place.cache_name[0] ? facts->place.cache_name : "a cache",
	    units_format_size((double)cache_bytes, cache));
	advise(ret, "test a larger range (--size)");
	return true;
}

bool look_state(const struct audit_facts *facts, struct finding *ret)
{
	const char *state = facts->result->state;
	const bool laid_out = strcmp(state, "laid-out") == 0;

	if (!is_device_path(facts->info) || (strcmp(state, "unknown") != 0 && !laid_out))
		return false;
	say(ret, "what the drive went through before%s is not known: %s",
	    laid_out ? " the range tested was written" : "",
	    any_workload(facts, workload_writes) ? "an emptier or a fuller, dirtier drive writes "
						   "at another speed"
						 : "the age and layout of the data affect reads");
	advise(ret, "quote the figure as of this state; to compare drives, bring both to the same "
	       "state first");
	return true;
}

bool look_cgroup(const struct audit_facts *facts, struct finding *ret)
{
	if (!facts->place.cgroup_limit[0])
		return false;
	say(ret, "a control group limits this device: %s", facts->place.cgroup_limit);
	advise(ret, "run outside that group, or lift the limit (systemd: IOReadBandwidthMax= and "
	       "relatives)");
	return true;
}

/*
 * Waking and speeding up a slow core costs tens of microseconds: more than a tenth of a
 * request only where one at a time takes less than this.
 */
#define WAKEUP_MATTERS_NS 100e3

static bool is_cpu_sensitive(const struct measurement *m)
{
	if (m->worker_cpu_max >= 0.9)
		return true;
	for (int kind = 0; kind < OP_KINDS && m->workload.depth_count == 1; kind++)
		if (m->ops[kind].count && m->ops[kind].latency &&
		    histogram_mean_ns(m->ops[kind].latency) < WAKEUP_MATTERS_NS)
			return true;
	return false;
}

bool look_governor(const struct audit_facts *facts, struct finding *ret)
{
	static const char *const slow[] = { "powersave", "ondemand", "conservative", "schedutil" };
	const char *governor = facts->machine->governor;
	bool follows_load = false, sensitive = false;

	for (size_t i = 0; i < sizeof(slow) / sizeof(slow[0]); i++)
		follows_load |= strcmp(governor, slow[i]) == 0;
	if (!follows_load || facts->info->kind == TARGET_SIM)
		return false;
	for (size_t i = 0; i < facts->result->measurement_count; i++)
		sensitive |= is_cpu_sensitive(&facts->result->measurements[i]);
	if (!sensitive)
		ret->severity = SEVERITY_INFO;
	say(ret, "the CPU frequency governor is %s%s", governor,
	    sensitive ? ": waking and speeding up the CPU is part of these latencies" : "");
	advise(ret, "compare only with the same governor; for the drive's own latency use "
	       "cpupower frequency-set -g performance");
	return true;
}

/* Layers of software, by the stack walk's words for them. */
static const struct target_layer *find_virtual(const struct target_info *info)
{
	static const char *const kinds[] = { "loop", "virtio", "nbd", "rbd", "drbd", "zvol" };

	for (uint32_t i = 0; i < info->layer_count; i++)
		for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
			if (strcmp(info->layers[i].kind, kinds[k]) == 0)
				return &info->layers[i];
	return NULL;
}

/* Disks that are not where they seem to be, by how they are reached or what they call themselves. */
static const char *virtual_drive(const struct target_info *info)
{
	static const struct {
		const char *prefix, *what;
	} transports[] = {
		{ "virtio", "a virtio disk" },	     { "vmbus", "a Hyper-V disk" },
		{ "iscsi", "reached over iSCSI" },   { "fc", "reached over Fibre Channel" },
		{ "nvme-", "reached over a network (NVMe-oF)" },
	}, models[] = {
		{ "QEMU", "a disk of QEMU" },
		{ "VMware", "a disk of VMware" },
		{ "VBOX", "a disk of VirtualBox" },
		{ "Virtual Disk", "a Hyper-V disk" },
		{ "Msft Virtual", "a Hyper-V disk" },
		{ "MSFT NVMe", "an Azure disk" },
		{ "Amazon Elastic Block Store", "an EBS volume, reached over a network" },
		{ "Amazon EC2 NVMe", "an EC2 instance store" },
		{ "PersistentDisk", "a Google persistent disk, reached over a network" },
		{ "Google PersistentDisk", "a Google persistent disk, reached over a network" },
		{ "nvme_card-pd", "a Google persistent disk, reached over a network" },
	};

	for (size_t i = 0; i < sizeof(transports) / sizeof(transports[0]); i++)
		if (strncmp(info->transport, transports[i].prefix, strlen(transports[i].prefix)) == 0)
			return transports[i].what;
	for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++)
		if (strncmp(info->model, models[i].prefix, strlen(models[i].prefix)) == 0)
			return models[i].what;
	return strncmp(info->device, "xvd", 3) == 0 ? "a Xen disk" : NULL;
}

bool look_virtual(const struct audit_facts *facts, struct finding *ret)
{
	const struct target_layer *layer = find_virtual(facts->info);
	const char *drive = virtual_drive(facts->info);

	if (facts->info->kind == TARGET_SIM) {
		say(ret, "the reference drive is a simulation under a virtual clock");
		advise(ret, "no remedy needed: its figures are repeatable, and nobody's drive");
		return true;
	}
	if (!is_device_path(facts->info) || (!layer && !drive))
		return false;
	if (facts->place.loop_buffered) {
		ret->severity = SEVERITY_WARNING;
		say(ret, "%s reads and writes its file through the page cache of this machine",
		    layer ? layer->name : facts->info->device);
		advise(ret, "attach it with losetup --direct-io=on");
		return true;
	}
	if (layer)
		say(ret, "%.32s is a %s device%s%.90s: what lies behind it, caches included, is not "
		    "visible from here", layer->name, layer->kind, layer->detail[0] ? ", " : "",
		    layer->detail);
	else
		say(ret, "%s is %s: what lies behind it, caches included, is not visible from here",
		    facts->info->device, drive);
	advise(ret, "for the drive itself measure on the host or below this layer");
	return true;
}

bool look_scheduler(const struct audit_facts *facts, struct finding *ret)
{
	const struct target_info *info = facts->info;

	if (info->rotational || !info->scheduler[0] || strcmp(info->scheduler, "none") == 0 ||
	    !is_device_path(info))
		return false;
	say(ret, "the I/O scheduler of %s is %s: it costs CPU time and may reorder or hold requests",
	    info->device[0] ? info->device : "the device", info->scheduler);
	advise(ret, "for the drive's own figure: echo none > /sys/block/%s/queue/scheduler",
	       info->device[0] ? info->device : "DEVICE");
	return true;
}

static bool is_unsynced_write(const struct workload *w)
{
	return workload_writes(w) && w->sync == SYNC_NONE && w->fsync_count != 1 &&
	       w->fdatasync_count != 1;
}

bool look_write_cache(const struct audit_facts *facts, struct finding *ret)
{
	if (strcmp(facts->info->write_cache, "write back") != 0 ||
	    !any_workload(facts, is_unsynced_write))
		return false;
	say(ret, "the drive's write cache is on (write back): writes without a sync count as done "
	    "before they are safe from a power cut");
	advise(ret, "the sync-write row, or --fdatasync=1, shows what durable writes cost");
	return true;
}

bool look_remote(const struct audit_facts *facts, struct finding *ret)
{
	if (!facts->place.remote)
		return false;
	say(ret, "%s is a network file system: network, server and their caches are part of every "
	    "figure", facts->info->filesystem);
	advise(ret, "compare with the same mount only; use a test file larger than the server's "
	       "memory for its drives' figure");
	return true;
}

bool look_fuse(const struct audit_facts *facts, struct finding *ret)
{
	if (!facts->place.fuse)
		return false;
	say(ret, "%s is served by a process in user space (FUSE), which may cache and may ignore "
	    "direct I/O", facts->info->filesystem);
	advise(ret, "test the directory or device it stands on");
	return true;
}
