/* SPDX-License-Identifier: MIT */

/*
 * walk_disk - the last layer that this machine sees: NVMe, virtual disks, memory, cards. SCSI,
 * SATA and USB are in walk_sd.
 */

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "base/defer.h"
#include "base/sysfs.h"
#include "trim/walk_parts.h"

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* Limits that are the kernel's default say nothing about the device. */
static void note_default(struct walk *walk, const struct trim_layer *layer)
{
	static const struct {
		uint64_t max_bytes;
		const char *kind, *what;
	} defaults[] = {
		{ 4294966784, "scsi", "the SCSI layer's own when the device names none" },
		{ 4294966784, "usb", "the SCSI layer's own when the device names none" },
		{ 4294966784, "iscsi", "the SCSI layer's own when the device names none" },
		{ 2199023255040, "nvme", "the NVMe driver's own" },
	};

	for (size_t i = 0; i < ARRAY_COUNT(defaults); i++)
		if (layer->max_bytes == defaults[i].max_bytes &&
		    begins(layer->kind, defaults[i].kind))
			trim_report_note(walk->report, "limit-default", layer->name,
					 "the largest discard of %llu bytes is a kernel default, "
					 "not from the device: %s",
					 (unsigned long long)layer->max_bytes, defaults[i].what);
}

/* Drives that exist only in a hypervisor, by the name they give themselves. */
static bool is_made_up(const struct target_info *info)
{
	static const char *const models[] = {
		"QEMU",	  "VBOX",	    "VMware",		  "Virtual disk",
		"Virtual Disk", "Msft Virtual", "PersistentDisk", "nvme_card-pd",
		"Amazon Elastic", "Amazon EC2", "EphemeralDisk",  "BHYVE",
		"Virtual HD",
	};

	for (size_t i = 0; i < ARRAY_COUNT(models); i++)
		if (strstr(info->model, models[i]))
			return true;
	return strcmp(info->transport, "virtio") == 0 || strcmp(info->transport, "vmbus") == 0;
}

static void describe(struct trim_layer *layer, const struct target_info *info)
{
	char text[sizeof(layer->detail)];

	snprintf(text, sizeof(text), "%s%s%s%s%s", info->model, info->firmware[0] ? " fw " : "",
		 info->firmware, info->transport[0] ? ", " : "", info->transport);
	if (text[0])
		snprintf(layer->detail, sizeof(layer->detail), "%s",
			 begins(text, ", ") ? text + 2 : text);
}

/* --- NVMe --------------------------------------------------------------------------------- */

static void nvme_promise(struct trim_layer *layer, const struct walk_nvme_facts *facts)
{
	layer->zeroes = facts->after == 1 ? TRIM_YES : TRIM_NO;
	layer->ones = facts->after == 2;
}

/* Over a network it is the target that announces, for whatever it stores on. */
static void nvme_refuses(struct trim_layer *layer, bool known, bool remote)
{
	if (known)
		walk_stop(layer, "NO_SUPPORT", "the %s does not offer dataset management (ONCS "
					       "bit 2)", remote ? "target" : "drive");
	else
		walk_stop(layer, "NO_SUPPORT", "announces no discard: as a rule the %s does not "
					       "offer dataset management (ONCS bit 2)",
			  remote ? "target" : "drive");
	if (remote)
		walk_remedy(layer, "# on the target: storage that takes discards, and an export "
				   "that announces them; no setting of this machine does");
	else
		walk_remedy(layer, "# a newer firmware may add it; no setting of this machine does");
}

/* Whether dataset management is offered; false in *known where that could not be read. */
static bool nvme_offers(struct walk *walk, struct trim_layer *layer, bool *known)
{
	struct walk_nvme_facts facts = { 0 };
	struct walk_page page;
	const int r = walk_page(walk, layer->name, "nvme-ctrl", &page);

	*known = r == 0 && walk_parse_nvme_ctrl(&page, &facts);
	if ((r == -EACCES || r == -EPERM) && !walk_announces(layer))
		snprintf(layer->needs_root, sizeof(layer->needs_root),
			 "its identify data (whether it offers dataset management)");
	return facts.deallocates;
}

void walk_nvme(struct walk *walk, uint32_t index)
{
	struct trim_layer *layer = &walk->report->layers[index];
	struct walk_nvme_facts facts = { 0 };
	struct walk_page page;
	bool known, offers;
	int r;

	r = walk_page(walk, layer->name, "nvme-ns", &page);
	if (r == 0 && walk_parse_nvme_ns(&page, &facts))
		nvme_promise(layer, &facts);
	else if (r == -EACCES || r == -EPERM)
		snprintf(layer->needs_root, sizeof(layer->needs_root),
			 "its identify data (what reads return after a discard)");
	offers = nvme_offers(walk, layer, &known);
	if (offers)
		layer->direct = DIRECT_NVME;
	walk_settle(walk, index, "", "");
	if (layer->capable != TRIM_UNKNOWN)
		return;
	if (!offers) {
		nvme_refuses(layer, known, begins(layer->kind, "nvme-"));
		return;
	}
	walk_stop(layer, "NO_SUPPORT", "the drive offers dataset management, but the kernel does "
				       "not use it on this one");
	walk_remedy(layer, "dmesg | grep -i nvme     # a quirk of the driver, or a format with "
			   "metadata");
}

/* --- virtual ------------------------------------------------------------------------------ */

static void on_the_host(struct trim_layer *layer, const char *kind)
{
	if (strcmp(kind, "virtio") == 0 || strcmp(kind, "qemu") == 0)
		walk_remedy(layer, "# on the host: discard=unmap on the drive (libvirt: <driver "
				   "discard='unmap'/>; Proxmox: a thin store and the box Discard); "
				   "virtio-blk needs QEMU 4.0 or newer");
	else
		walk_remedy(layer, "# on the host: a thin disk, with discards passed on; this guest "
				   "cannot switch it on");
}

static void walk_virtual(struct walk *walk, uint32_t index, const char *kind)
{
	struct trim_layer *layer = &walk->report->layers[index];

	layer->is_virtual = true;
	walk_settle(walk, index, "", "");
	if (layer->capable != TRIM_UNKNOWN)
		return;
	walk_stop(layer, "NO_SUPPORT", "the host offers no discard on this virtual disk");
	on_the_host(layer, kind);
}

static void walk_remote(struct walk *walk, uint32_t index, const char *remedy)
{
	struct trim_layer *layer = &walk->report->layers[index];

	layer->is_virtual = true;
	walk_settle(walk, index, "", "");
	if (layer->capable != TRIM_UNKNOWN)
		return;
	walk_stop(layer, "NO_SUPPORT", "the server offers no discard for this device");
	walk_remedy(layer, "# %s", remedy);
}

/* --- others ------------------------------------------------------------------------------- */

static void walk_zvol(struct walk *walk, uint32_t index)
{
	struct trim_layer *layer = &walk->report->layers[index];

	walk_settle(walk, index, "", "");
	if (layer->capable == TRIM_UNKNOWN) {
		walk_stop(layer, "NO_SUPPORT", "the volume announces no discard");
		walk_remedy(layer, "# see that the volume is not read only: zfs get readonly,"
				   "volblocksize POOL/VOLUME");
	}
	trim_report_note(walk->report, "zvol-space", layer->name,
			 "ZFS frees whole blocks of the volume only; judge by referenced, not by "
			 "used, which holds the reservation and what snapshots keep");
}

/* /dev/zvol/POOL/VOLUME leads to zd0: the only place that names the pool. */
static void zvol_pool(struct walk *walk, uint32_t index)
{
	const char *name = walk->report->layers[index].name;
	char path[PATH_MAX], line[512];

	snprintf(path, sizeof(path), "%s/run/udev/data/b%u:%u", walk->root,
		 major(stack_number(walk->root, name)), minor(stack_number(walk->root, name)));
	DEFER(defer_fclose) FILE *file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		char pool[64];

		if (sscanf(line, "S:zvol/%63[^/\n]", pool) == 1) {
			walk_zpool(walk, index, pool);
			return;
		}
	}
}

static void walk_memory(struct walk *walk, uint32_t index)
{
	struct trim_layer *layer = &walk->report->layers[index];

	layer->zeroes = TRIM_YES;
	walk_settle(walk, index, "", "");
	if (layer->capable == TRIM_UNKNOWN) {
		walk_stop(layer, "NO_SUPPORT", "the device was set up without discard");
		walk_remedy(layer, "# set it up again with discard (null_blk: discard=1)");
	}
}

/* Cards: whole erase units, which partitions made for hard disks miss. */
static void walk_card(struct walk *walk, uint32_t index)
{
	struct trim_layer *layer = &walk->report->layers[index];
	const uint64_t unit = walk_number(walk, layer->name, "device/preferred_erase_size", 0);

	walk_settle(walk, index, "", "");
	if (unit > layer->granularity_bytes && layer->capable == TRIM_YES)
		layer->granularity_bytes = unit;
	if (layer->capable == TRIM_UNKNOWN) {
		walk_stop(layer, "NO_SUPPORT", "the card or its controller offers neither erase "
					       "nor trim");
		walk_remedy(layer, "# another card or reader; no setting of this machine helps");
	}
}

static bool by_name(struct walk *walk, uint32_t index)
{
	const char *name = walk->report->layers[index].name;

	if (begins(name, "zd")) {
		walk_zvol(walk, index);
		zvol_pool(walk, index);
	} else if (begins(name, "zram") || begins(name, "ram") || begins(name, "nullb") ||
		   begins(name, "pmem")) {
		walk_memory(walk, index);
	} else if (begins(name, "mmcblk")) {
		walk_card(walk, index);
	} else if (begins(name, "nbd")) {
		walk_remote(walk, index, "let the server export it with trim (nbdkit and qemu-nbd: "
					 "--discard=unmap), and attach it again");
	} else if (begins(name, "rbd")) {
		walk_remote(walk, index, "map it without notrim");
	} else if (begins(name, "drbd")) {
		walk_remote(walk, index, "drbdadm: discard-zeroes-if-aligned, and discards on both "
					 "nodes below it");
	} else if (begins(name, "vd")) {
		walk_virtual(walk, index, "virtio");
	} else if (begins(name, "xvd")) {
		walk_virtual(walk, index, "xen");
	} else {
		return false;
	}
	return true;
}

static void set_kind(struct trim_layer *layer, const struct target_info *info)
{
	if (strcmp(layer->kind, "disk") != 0)
		return;
	if (begins(layer->name, "nullb") || begins(layer->name, "pmem"))
		snprintf(layer->kind, sizeof(layer->kind), "memory");
	else if (begins(layer->name, "mmcblk"))
		snprintf(layer->kind, sizeof(layer->kind), "mmc");
	else if (begins(layer->name, "xvd"))
		snprintf(layer->kind, sizeof(layer->kind), "xen");
	else if (info->transport[0])
		snprintf(layer->kind, sizeof(layer->kind), "%.23s", info->transport);
	else if (begins(layer->name, "sd"))
		snprintf(layer->kind, sizeof(layer->kind), "scsi");
}

void walk_disk(struct walk *walk, uint32_t index)
{
	struct trim_layer *layer = &walk->report->layers[index];
	struct target_info *info = calloc(1, sizeof(*info));

	if (!info)
		return;
	stack_drive(walk->root, layer->name, info);
	describe(layer, info);
	set_kind(layer, info);
	if (by_name(walk, index)) {
		free(info);
		return;
	}
	layer->is_virtual = is_made_up(info) || begins(info->transport, "nvme-");
	if (begins(layer->name, "nvme"))
		walk_nvme(walk, index);
	else if (begins(layer->name, "sd"))
		walk_sd(walk, index);
	else
		walk_settle(walk, index, "", "");
	if (layer->capable == TRIM_UNKNOWN && !layer->why[0])
		walk_stop(layer, "NO_SUPPORT", "announces no discard");
	note_default(walk, layer);
	if (strstr(info->model, "VBOX"))
		trim_report_note(walk->report, "virtualbox-block", layer->name,
				 "VirtualBox frees whole aligned blocks of 1 MiB only");
	free(info);
}
