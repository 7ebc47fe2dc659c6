/* SPDX-License-Identifier: MIT */

/*
 * walk_sd - SCSI's disks: SATA drives, drives behind a host adapter or a USB bridge, LUNs. The
 * kernel discards by the drive's provisioning_mode; where that is "full" somebody on the way
 * did not announce it, and who that was decides on the remedy.
 */

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/defer.h"
#include "base/sysfs.h"
#include "trim/walk_parts.h"

struct sd {
	struct walk *walk;
	struct trim_layer *layer;
	char mode[24];			/* provisioning_mode; "" = not there */
	char mode_path[PATH_MAX];	/* as a person would write to it */
	char host[32];			/* the adapter's driver: "ahci", "uas", "mpt3sas" */
	char vendor[16];		/* of the device: "ATA" behind a translation */
	char bridge[16];		/* USB vendor:product; "" */
	struct walk_ata ata;
	bool have_ata, ata_needs_root;
	struct walk_vpd vpd;
	bool have_b0, have_b2;
};

/* --- facts -------------------------------------------------------------------------------- */

/* The first entry of a directory that is no dot file. */
static bool first_entry(const char *directory, char *name, size_t name_bytes)
{
	const struct dirent *entry;

	DEFER(defer_closedir) DIR *dir = opendir(directory);
	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(name, name_bytes, "%s", entry->d_name);
		return true;
	}
	return false;
}

static void read_mode(struct sd *sd)
{
	char path[PATH_MAX], address[256];

	snprintf(path, sizeof(path), BLOCK "/device/scsi_disk", sd->walk->root, sd->layer->name);
	if (!first_entry(path, address, sizeof(address)))
		return;
	snprintf(sd->mode_path, sizeof(sd->mode_path),
		 "/sys/class/scsi_disk/%s/provisioning_mode", address);
	sysfs_read(sd->mode, sizeof(sd->mode), "%s/%s/provisioning_mode", path, address);
}

/* ".../host2/target2:0:0/2:0:0:0": the adapter's driver, and the USB bridge above it. */
static void read_path(struct sd *sd)
{
	char path[PATH_MAX];
	char *host, *end, *slash;

	snprintf(path, sizeof(path), BLOCK "/device", sd->walk->root, sd->layer->name);
	DEFER(defer_free) char *real = realpath(path, NULL);
	host = real ? strstr(real, "/host") : NULL;
	if (!host)
		return;
	end = strchr(host + 1, '/');
	if (end)
		*end = '\0';
	sysfs_read(sd->host, sizeof(sd->host), "%s/scsi_host/%s/proc_name", real, host + 1);
	for (; (slash = strrchr(real, '/')) && slash > real + strlen(sd->walk->root); *slash = '\0') {
		char vendor[8], product[8];

		if (sysfs_read(vendor, sizeof(vendor), "%s/idVendor", real) == 0 &&
		    sysfs_read(product, sizeof(product), "%s/idProduct", real) == 0) {
			snprintf(sd->bridge, sizeof(sd->bridge), "%.4s:%.4s", vendor, product);
			return;
		}
	}
}

static void read_pages(struct sd *sd)
{
	struct walk_page page;
	int r = walk_page(sd->walk, sd->layer->name, "ata", &page);

	sd->have_ata = r == 0 && walk_parse_ata(&page, &sd->ata);
	sd->ata_needs_root = r == -EACCES || r == -EPERM;
	sd->have_b0 = walk_page(sd->walk, sd->layer->name, "vpd-b0", &page) == 0 &&
		      walk_parse_vpd_b0(&page, &sd->vpd);
	sd->have_b2 = walk_page(sd->walk, sd->layer->name, "vpd-b2", &page) == 0 &&
		      walk_parse_vpd_b2(&page, &sd->vpd);
}

static bool is_usb(const struct sd *sd)
{
	return strcmp(sd->host, "uas") == 0 || strcmp(sd->host, "usb-storage") == 0 ||
	       sd->bridge[0] || strcmp(sd->layer->kind, "usb") == 0;
}

static bool is_sas_adapter(const struct sd *sd)
{
	static const char *const drivers[] = { "mpt2sas", "mpt3sas", "mptsas", "megaraid_sas",
					       "mpi3mr", "aacraid", "smartpqi", "hpsa", "arcmsr",
					       "isci", "pm80xx", "mvsas" };

	for (size_t i = 0; i < ARRAY_COUNT(drivers); i++)
		if (strcmp(sd->host, drivers[i]) == 0)
			return true;
	return false;
}

static bool is_sata(const struct sd *sd)
{
	return strcmp(sd->layer->kind, "sata") == 0;
}

static bool loses_data(const struct sd *sd)
{
	return strstr(sd->layer->detail, "SuperSSpeed S238");
}

/* Nobody is asked for what it does not announce, or is known to do wrong. */
static void set_direct(struct sd *sd)
{
	if (loses_data(sd))
		return;
	if (sd->have_ata && sd->ata.trim) {
		sd->layer->direct = DIRECT_ATA;
	} else if ((sd->have_b2 && sd->vpd.lbpu) || (sd->have_b0 && sd->vpd.unmap_blocks_max)) {
		sd->layer->direct = DIRECT_UNMAP;
		sd->layer->direct_max_blocks = sd->have_b0 ? sd->vpd.unmap_blocks_max : 0;
	}
}

static void set_promise(struct sd *sd)
{
	if (sd->have_ata)
		sd->layer->zeroes = sd->ata.drat && sd->ata.rzat ? TRIM_YES : TRIM_NO;
	else if (sd->have_b2)
		sd->layer->zeroes = sd->vpd.lbprz ? TRIM_YES : TRIM_NO;
	else if (sd->ata_needs_root)
		snprintf(sd->layer->needs_root, sizeof(sd->layer->needs_root),
			 "its identify data (what reads return after a discard)");
}

/* --- notes on one that discards ----------------------------------------------------------- */

/* Some file of this directory says it. */
static bool mentioned(const char *root, const char *directory, const char *word)
{
	char path[PATH_MAX], line[1024];
	const struct dirent *entry;

	snprintf(path, sizeof(path), "%s%s", root, directory);
	DEFER(defer_closedir) DIR *dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s%s/%s", root, directory, entry->d_name);
		DEFER(defer_fclose) FILE *file = fopen(path, "re");
		while (file && fgets(line, sizeof(line), file))
			if (line[0] != '#' && strstr(line, word))
				return true;
	}
	return false;
}

static void udev_rule(const struct sd *sd, char *rule, size_t rule_bytes)
{
	snprintf(rule, rule_bytes,
		 "ACTION==\"add|change\", SUBSYSTEM==\"scsi_disk\", ATTRS{idVendor}==\"%.4s\", "
		 "ATTRS{idProduct}==\"%.4s\", ATTR{provisioning_mode}=\"unmap\"",
		 sd->bridge[0] ? sd->bridge : "VVVV", sd->bridge[0] ? sd->bridge + 5 : "PPPP");
}

/* Behind USB the kernel finds "unmap" by itself only when the bridge announces it. */
static void note_by_hand(const struct sd *sd)
{
	char rule[256];

	if (!is_usb(sd) || strcmp(sd->mode, "unmap") != 0 || (sd->have_b2 && sd->vpd.lbpu) ||
	    mentioned(sd->walk->root, "/etc/udev/rules.d", "provisioning_mode") ||
	    mentioned(sd->walk->root, "/usr/lib/udev/rules.d", "provisioning_mode") ||
	    mentioned(sd->walk->root, "/lib/udev/rules.d", "provisioning_mode"))
		return;
	udev_rule(sd, rule, sizeof(rule));
	trim_report_warn(sd->walk->report, "lost-at-reboot", sd->layer->name,
			 "provisioning_mode and discard_max_bytes set by hand do not survive a "
			 "reboot, and no udev rule sets them: %s", rule);
}

static void note_unmap_limit(const struct sd *sd)
{
	const uint64_t block = walk_number(sd->walk, sd->layer->name, "queue/logical_block_size",
					   SECTOR_BYTES);

	if (!sd->have_b0 || strcmp(sd->mode, "unmap") != 0)
		return;
	if (sd->vpd.unmap_blocks_max < sd->layer->max_bytes / block)
		trim_report_warn(sd->walk->report, "unmap-limit", sd->layer->name,
				 "the device itself names a largest UNMAP of %llu blocks (VPD B0), "
				 "the kernel sends up to %llu: large discards may fail",
				 (unsigned long long)sd->vpd.unmap_blocks_max,
				 (unsigned long long)(sd->layer->max_bytes / block));
}

static void note_quirks(const struct sd *sd)
{
	static const char *const queued[] = {
		"Samsung SSD 840", "Samsung SSD 850", "Samsung SSD 860", "Crucial_CT",
		"Crucial CT", "Micron_M500", "Micron_M510", "Micron_M550", "Micron_1100",
	};

	for (size_t i = 0; i < ARRAY_COUNT(queued); i++)
		if (strstr(sd->layer->detail, queued[i]))
			trim_report_note(sd->walk->report, "queued-trim", sd->layer->name,
					 "queued TRIM of this series loses data; the kernel knows "
					 "and sends it unqueued");
	if (loses_data(sd))
		trim_report_warn(sd->walk->report, "trim-loses-data", sd->layer->name,
				 "this drive is known to lose data on TRIM");
}

/* --- why one does not --------------------------------------------------------------------- */

static void blame_adapter(struct sd *sd)
{
	walk_stop(sd->layer, "HBA_NO_UNMAP",
		  "the host adapter (%s) announces no UNMAP for this drive%s", sd->host,
		  !sd->have_ata	   ? "" :
		  !sd->ata.trim	   ? ", which has no TRIM either" :
		  sd->layer->zeroes == TRIM_YES ? ", although it has TRIM and promises zeros" :
				     ", which has TRIM but does not promise zeros (DRAT and RZAT)");
	walk_remedy(sd->layer,
		    "# another port (the mainboard's SATA) or another drive (one with DRAT and "
		    "RZAT); no file-system setting helps, and TRIM in hdparm -I proves nothing "
		    "about the path");
}

static void blame_bridge(struct sd *sd)
{
	char rule[256];

	udev_rule(sd, rule, sizeof(rule));
	walk_stop(sd->layer, "PROVISIONING_FULL",
		  "the USB bridge does not announce discard (provisioning_mode is full)%s%s",
		  sd->have_ata && sd->ata.trim ? "; the drive behind it has TRIM" : "",
		  sd->have_b2 && sd->vpd.lbpu ? "; its page B2 says that UNMAP works" : "");
	walk_remedy(sd->layer,
		    "echo unmap > %s     # first see that sg_vpd -p bl /dev/%s names a maximum "
		    "unmap LBA count\n# for good, in /etc/udev/rules.d/60-unmap.rules and the "
		    "initramfs: %s\n# Risk: a bridge that says nothing may do it wrongly: try it "
		    "with tare trim before anything is on it.",
		    sd->mode_path, sd->layer->name, rule);
}

static void blame_sata(struct sd *sd)
{
	if (sd->have_ata && !sd->ata.trim) {
		walk_stop(sd->layer, "NO_SUPPORT", "the drive has no TRIM (IDENTIFY word 169)");
		walk_remedy(sd->layer, "# none: a drive of this kind cleans up by itself when idle, "
				       "or not at all");
	} else if (sd->have_ata) {
		walk_stop(sd->layer, "NO_SUPPORT",
			  "the drive has TRIM, but the kernel does not use it on this one");
		walk_remedy(sd->layer, "dmesg | grep -i 'ata.*trim'     # a quirk of the kernel's "
				       "list, or libata.force=notrim");
	} else {
		walk_stop(sd->layer, "NO_SUPPORT", "the drive announces no TRIM");
		walk_remedy(sd->layer, "hdparm -I /dev/%s     # tells, as root, whether it has "
				       "TRIM at all", sd->layer->name);
	}
}

static void blame_lun(struct sd *sd)
{
	walk_stop(sd->layer, "PROVISIONING_FULL",
		  "the %s announces no thin provisioning (provisioning_mode is %s)",
		  sd->layer->is_virtual ? "virtual disk" : "device", sd->mode);
	if (sd->have_b2 && sd->vpd.lbpu) {
		walk_stop(sd->layer, "PROVISIONING_FULL",
			  "provisioning_mode is %s, although the device announces UNMAP (page B2)",
			  sd->mode);
		walk_remedy(sd->layer, "echo unmap > %s     # until the next boot\n"
				       "grep -r provisioning_mode /etc/udev/rules.d     # who sets it",
			    sd->mode_path);
		return;
	}
	if (strcmp(sd->layer->kind, "iscsi") == 0 || strcmp(sd->layer->kind, "fc") == 0)
		walk_remedy(sd->layer, "# on the storage system: thin provisioning and UNMAP for "
				       "this LUN (LIO: emulate_tpu=1), then:\necho 1 > "
				       "/sys/block/%s/device/rescan", sd->layer->name);
	else if (sd->layer->is_virtual)
		walk_remedy(sd->layer, "# on the host: discard=unmap on the drive (libvirt: <driver "
				       "discard='unmap'/>)");
	else
		walk_remedy(sd->layer, "sg_vpd -p lbpv /dev/%s     # what the device says of it",
			    sd->layer->name);
}

static void blame(struct sd *sd)
{
	if (strcmp(sd->mode, "disabled") == 0) {
		walk_stop(sd->layer, "FAILS",
			  "provisioning_mode is disabled: the device rejected a discard and the "
			  "kernel stopped sending them, or somebody set it");
		walk_remedy(sd->layer, "dmesg | grep %s     # the rejected command",
			    sd->layer->name);
	} else if (is_usb(sd)) {
		blame_bridge(sd);
	} else if (is_sas_adapter(sd) && strcmp(sd->vendor, "ATA") == 0) {
		blame_adapter(sd);
	} else if (is_sata(sd)) {
		blame_sata(sd);
	} else if (strcmp(sd->mode, "full") == 0) {
		blame_lun(sd);
	} else {
		walk_stop(sd->layer, "NO_SUPPORT", "the device announces no discard");
	}
}

void walk_sd(struct walk *walk, uint32_t index)
{
	struct sd sd = { .walk = walk, .layer = &walk->report->layers[index] };

	walk_attribute(walk, sd.layer->name, "device/vendor", sd.vendor, sizeof(sd.vendor));
	read_mode(&sd);
	read_path(&sd);
	if (is_usb(&sd))
		snprintf(sd.layer->kind, sizeof(sd.layer->kind), "usb");
	if (strcmp(sd.layer->kind, "iscsi") == 0 || strcmp(sd.layer->kind, "fc") == 0)
		sd.layer->is_virtual = true;
	read_pages(&sd);
	set_direct(&sd);
	set_promise(&sd);
	walk_settle(walk, index, "", "");
	if (sd.layer->capable == TRIM_YES) {
		note_by_hand(&sd);
		note_unmap_limit(&sd);
		note_quirks(&sd);
	} else if (sd.layer->capable == TRIM_UNKNOWN) {
		blame(&sd);
	}
}
