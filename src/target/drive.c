/* SPDX-License-Identifier: MIT */

/*
 * drive - who made it and what its number is. Each bus keeps that in another place of
 * sysfs; udev's notes (/run/udev/data) know it for the rest.
 */

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "base/defer.h"
#include "base/sysfs.h"
#include "target/stack.h"

#define BLOCK "%s/sys/class/block/%s"

/* Without blanks around it and without what no terminal should see. */
static void clean(char *text)
{
	size_t length = 0;

	for (const char *p = text + strspn(text, " \t"); *p; p++)
		text[length++] = isprint((unsigned char)*p) ? *p : '?';
	while (length > 0 && text[length - 1] == ' ')
		length--;
	text[length] = '\0';
}

/* The SCSI unit serial number page: 4 bytes of header, the last two its length, then text. */
static void read_vpd_serial(const char *root, const char *disk, char *serial, size_t serial_bytes)
{
	char path[PATH_MAX];
	unsigned char page[4 + 252];
	ssize_t got;
	size_t length;

	snprintf(path, sizeof(path), BLOCK "/device/vpd_pg80", root, disk);
	DEFER(defer_close) int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	got = read(fd, page, sizeof(page));
	if (got <= 4)
		return;
	length = (size_t)(page[2] << 8 | page[3]);
	if (length > (size_t)got - 4)
		length = (size_t)got - 4;
	snprintf(serial, serial_bytes, "%.*s", (int)length, (const char *)page + 4);
	clean(serial);
}

/* A property udev noted for the device: lines "E:KEY=value". */
static void read_udev(const char *root, const char *disk, const char *key, char *value,
		      size_t value_bytes)
{
	const dev_t number = stack_number(root, disk);
	const size_t key_length = strlen(key);
	char path[PATH_MAX], line[1024];

	snprintf(path, sizeof(path), "%s/run/udev/data/b%u:%u", root, major(number), minor(number));
	DEFER(defer_fclose) FILE *file = fopen(path, "re");
	if (!file)
		return;
	while (fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		if (strncmp(line, "E:", 2) != 0 || strncmp(line + 2, key, key_length) != 0 ||
		    line[2 + key_length] != '=')
			continue;
		snprintf(value, value_bytes, "%s", line + 3 + key_length);
		clean(value);
		return;
	}
}

void stack_serial(const char *root, const char *disk, char *serial, size_t serial_bytes)
{
	serial[0] = '\0';
	if (sysfs_read(serial, serial_bytes, BLOCK "/device/serial", root, disk) < 0)
		sysfs_read(serial, serial_bytes, BLOCK "/serial", root, disk);
	clean(serial);
	if (!*serial)
		read_vpd_serial(root, disk, serial, serial_bytes);
	if (!*serial)
		read_udev(root, disk, "ID_SERIAL_SHORT", serial, serial_bytes);
}

/*
 * How a namespace is reached. Where several paths are possible the kernel puts a device of its own
 * over them, which hangs on the subsystem: its controllers know. One over a network counts.
 */
static void read_nvme_transport(const char *root, const char *disk, char *bus, size_t bytes)
{
	struct dirent *entry;
	char path[PATH_MAX];

	if (sysfs_read(bus, bytes, BLOCK "/device/transport", root, disk) == 0)
		return;
	snprintf(path, sizeof(path), BLOCK "/device", root, disk);
	DEFER(defer_closedir) DIR *dir = opendir(path);
	while (dir && (!*bus || strcmp(bus, "pcie") == 0) && (entry = readdir(dir))) {
		char line[32];

		if (strncmp(entry->d_name, "nvme", 4) == 0 &&
		    sysfs_read(line, sizeof(line), "%s/%s/transport", path, entry->d_name) == 0)
			snprintf(bus, bytes, "%s", line);
	}
}

static void read_transport(const char *root, const char *disk, char *transport, size_t bytes)
{
	/* Parts of the path through the buses, the nearest to the drive last. */
	static const struct {
		const char *part, *transport;
	} buses[] = {
		{ "/virtio", "virtio" }, { "/ata", "sata" },	    { "/end_device-", "sas" },
		{ "/usb", "usb" },	 { "/session", "iscsi" },   { "/rport-", "fc" },
		{ "/mmc", "mmc" },	 { "/vmbus", "vmbus" },
	};
	char path[PATH_MAX], bus[32];

	if (strncmp(disk, "nvme", 4) == 0) {
		read_nvme_transport(root, disk, bus, sizeof(bus));
		if (*bus && strcmp(bus, "pcie") != 0)
			snprintf(transport, bytes, "nvme-%.8s", bus);
		else
			snprintf(transport, bytes, "nvme");
		return;
	}
	snprintf(path, sizeof(path), BLOCK, root, disk);
	DEFER(defer_free) char *real = realpath(path, NULL);
	for (size_t i = 0; real && i < ARRAY_COUNT(buses); i++)
		if (strstr(real + strlen(root), buses[i].part))
			snprintf(transport, bytes, "%s", buses[i].transport);
}

void stack_drive(const char *root, const char *disk, struct target_info *info)
{
	char full[sizeof(info->model)] = "";

	info->model[0] = info->firmware[0] = info->transport[0] = '\0';
	stack_serial(root, disk, info->serial, sizeof(info->serial));
	if (sysfs_read(info->model, sizeof(info->model), BLOCK "/device/model", root, disk) < 0)
		sysfs_read(info->model, sizeof(info->model), BLOCK "/device/name", root, disk);
	clean(info->model);
	/* SCSI cuts the model after 16 characters, some buses tell none; udev asked the drive. */
	read_udev(root, disk, "ID_MODEL", full, sizeof(full));
	for (char *p = full; *p; p++)
		if (*p == '_')
			*p = ' ';
	if (strncmp(full, info->model, strlen(info->model)) == 0)
		memcpy(info->model, full, sizeof(info->model));
	if (sysfs_read(info->firmware, sizeof(info->firmware), BLOCK "/device/firmware_rev", root,
		       disk) < 0 &&
	    sysfs_read(info->firmware, sizeof(info->firmware), BLOCK "/device/rev", root, disk) < 0)
		sysfs_read(info->firmware, sizeof(info->firmware), BLOCK "/device/fwrev", root,
			   disk);
	clean(info->firmware);
	read_transport(root, disk, info->transport, sizeof(info->transport));
}

/* Names made from model and serial tell a person more than numbers of the standard. */
static int by_id_rank(const char *link)
{
	static const char *const numbers[] = {
		"wwn-",	 "nvme-eui.", "nvme-uuid.", "nvme-nvme.",
		"scsi-", "dm-uuid-",  "md-uuid-",   "lvm-pv-uuid-",
	};

	for (size_t i = 0; i < ARRAY_COUNT(numbers); i++)
		if (strncmp(link, numbers[i], strlen(numbers[i])) == 0)
			return 1;
	return 2;
}

void stack_by_id(const char *root, const char *name, char *path, size_t path_bytes)
{
	char directory[PATH_MAX], best[NAME_MAX + 1] = "";
	const struct dirent *entry;

	path[0] = '\0';
	snprintf(directory, sizeof(directory), "%s/dev/disk/by-id", root);
	DEFER(defer_closedir) DIR *dir = opendir(directory);
	while (dir && (entry = readdir(dir))) {
		char link[PATH_MAX], found[STACK_NAME_BYTES];
		const int rank = by_id_rank(entry->d_name), best_rank = by_id_rank(best);

		snprintf(link, sizeof(link), "/dev/disk/by-id/%s", entry->d_name);
		if (entry->d_name[0] == '.' || stack_name_of_path(root, link, found) < 0 ||
		    strcmp(found, name) != 0)
			continue;
		/* Of equal rank the first by name: the order of a directory is chance. */
		if (!*best || rank > best_rank ||
		    (rank == best_rank && strcmp(entry->d_name, best) < 0))
			snprintf(best, sizeof(best), "%s", entry->d_name);
	}
	if (*best)
		snprintf(path, path_bytes, "/dev/disk/by-id/%s", best);
}
