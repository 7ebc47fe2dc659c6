/* SPDX-License-Identifier: MIT */
#include "trim/probe_klog.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/defer.h"

#define DISCARD ":(DISCARD)"
#define RECORD_BYTES 8192 /* CONSOLE_EXT_LOG_MAX of the kernel */

/*
 * As libata, scsi, nvme, usb and mmc write them. "exception Emask" opens every report of a failed
 * SATA command, a read of a bad sector among them: it is what follows that tells. A queued TRIM
 * ("SEND FPDMA QUEUED") that fails takes all other queued commands of the drive with it. "I/O
 * error" is the block layer's for any request.
 */
static const struct {
	const char *words;
	enum klog_says says;
} table[] = {
	{ "resetting link", KLOG_TROUBLE },
	{ "hard reset", KLOG_TROUBLE },
	{ "reset controller", KLOG_TROUBLE },
	{ "resetting controller", KLOG_TROUBLE },
	{ "device reset", KLOG_TROUBLE },
	{ "bus reset", KLOG_TROUBLE },
	{ "host reset", KLOG_TROUBLE },
	{ "failed command: SEND FPDMA QUEUED", KLOG_TROUBLE },
	{ "frozen", KLOG_TROUBLE },
	{ "timeout", KLOG_TROUBLE },
	{ "timed out", KLOG_TROUBLE },
	{ "timing out", KLOG_TROUBLE },
	{ "abort", KLOG_TROUBLE },
	{ "uas_eh", KLOG_TROUBLE },
	{ "link is slow to respond", KLOG_TROUBLE },
	{ "rejecting I/O to offline device", KLOG_TROUBLE },
	{ "Device offlined", KLOG_TROUBLE },
	{ "reset high-speed USB", KLOG_TROUBLE },
	{ "reset SuperSpeed", KLOG_TROUBLE },
	{ "I/O error", KLOG_ERROR },
	{ "critical target error", KLOG_ERROR },
	{ "critical medium error", KLOG_ERROR },
	{ "operation not supported error", KLOG_ERROR },
	{ "FAILED Result", KLOG_ERROR },
	{ "Sense Key", KLOG_ERROR },
	{ "failed command: DATA SET MANAGEMENT", KLOG_DISCARD },
	{ "failed command", KLOG_ERROR },
	{ "exception Emask", KLOG_ERROR },
};

void klog_add_name(struct klog_names *names, const char *name, size_t length)
{
	if (length == 0 || length >= sizeof(names->names[0]) || names->count == KLOG_NAMES)
		return;
	for (size_t i = 0; i < names->count; i++)
		if (strlen(names->names[i]) == length && memcmp(names->names[i], name, length) == 0)
			return;
	memcpy(names->names[names->count], name, length);
	names->names[names->count++][length] = '\0';
}

/* A part of a sysfs path that the log would use as a name: "ata1", "nvme0", "2:0:0:0", "1-4". */
static bool is_host(const char *part, size_t length)
{
	static const char *const begins[] = { "ata", "nvme", "mmc", "virtio", "usb" };

	for (size_t i = 0; i < ARRAY_COUNT(begins); i++) {
		const size_t n = strlen(begins[i]);

		if (length > n && memcmp(part, begins[i], n) == 0 &&
		    isdigit((unsigned char)part[n]))
			return true;
	}
	/* SCSI addresses and USB ports; PCI ones ("0000:00:1f.2") serve many devices. */
	if (!isdigit((unsigned char)part[0]) || !memchr(part, ':', length))
		return length > 2 && isdigit((unsigned char)part[0]) && memchr(part, '-', length);
	return !memchr(part, '.', length) && length < 16 && part[length - 1] != ':';
}

/*
 * "nvme2n1" over several paths hangs on the subsystem, where its controllers are: "nvme3" and
 * "nvme4". The log names those, and the paths: "nvme2c3n1", "nvme2c4n1".
 */
static void add_paths(struct klog_names *names, const char *device, const char *directory)
{
	unsigned int subsystem, number, controller;
	const struct dirent *entry;

	if (sscanf(device, "nvme%un%u", &subsystem, &number) != 2)
		return;
	DEFER(defer_closedir) DIR *dir = opendir(directory);
	while (dir && (entry = readdir(dir))) {
		char name[64];
		int length = 0;

		if (sscanf(entry->d_name, "nvme%u%n", &controller, &length) != 1 ||
		    entry->d_name[length])
			continue;
		klog_add_name(names, entry->d_name, (size_t)length);
		snprintf(name, sizeof(name), "nvme%uc%un%u", subsystem, controller, number);
		klog_add_name(names, name, strlen(name));
	}
}

static void add_hosts(struct klog_names *names, const char *device)
{
	char link[128], path[PATH_MAX];
	const char *part;

	snprintf(link, sizeof(link), "/sys/class/block/%s/device", device);
	if (!realpath(link, path))
		return;
	add_paths(names, device, path);
	for (part = path; *part;) {
		const size_t length = strcspn(part, "/");

		if (length && is_host(part, length))
			klog_add_name(names, part, length);
		part += length + (part[length] == '/');
	}
}

void klog_names_of(const struct trim_report *report, struct klog_names *ret)
{
	ret->count = 0;
	for (uint32_t i = 0; i < report->layer_count; i++) {
		const struct trim_layer *layer = &report->layers[i];

		if (!layer->is_block)
			continue;
		klog_add_name(ret, layer->name, strlen(layer->name));
		add_hosts(ret, layer->name);
	}
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '-' || c == '_';
}

/* As a word of its own: "ata1" is in "ata1.00: ..." and "[sda]", not in "ata10:". */
static bool names_one(const char *text, const struct klog_names *names)
{
	for (size_t i = 0; i < names->count; i++) {
		const char *name = names->names[i], *at = text;
		const size_t length = strlen(name);

		for (; (at = strstr(at, name)); at++) {
			const bool begins = at == text || !is_word(at[-1]);

			if (begins && !is_word(at[length]))
				return true;
		}
	}
	return false;
}

enum klog_says klog_judge(const char *record, const struct klog_names *names, char *text,
			  size_t text_bytes)
{
	const char *message = strchr(record, ';');
	enum klog_says worst = KLOG_NOTHING;
	size_t length;

	text[0] = '\0';
	if (!message)
		return KLOG_NOTHING;
	message++;
	length = strcspn(message, "\n");
	if (length >= text_bytes)
		length = text_bytes - 1;
	memcpy(text, message, length);
	text[length] = '\0';
	if (!names_one(text, names))
		return KLOG_NOTHING;
	/* "Aborted Command" is an answer, not the end of a wait for one. */
	if (strstr(text, "Sense Key"))
		return KLOG_ERROR;
	for (size_t i = 0; i < ARRAY_COUNT(table); i++)
		if (table[i].says > worst && strcasestr(text, table[i].words))
			worst = table[i].says;
	return worst == KLOG_ERROR && strstr(text, DISCARD) ? KLOG_DISCARD : worst;
}

/* "I/O error, dev sda, sector 0 op 0x3:(DISCARD) flags 0x800 ..." (blk_print_req_error). */
int klog_discard_error(const char *text, char device[64])
{
	const char *at = strstr(text, ", dev ");
	const size_t length = at ? strcspn(at + 6, ", ") : 0;

	snprintf(device, 64, "%.*s", (int)(length < 64 ? length : 0), at ? at + 6 : "");
	if (strstr(text, "operation not supported"))
		return -EOPNOTSUPP;
	return strstr(text, "critical target") ? -EREMOTEIO : -EIO;
}

int klog_open(void)
{
	const int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (lseek(fd, 0, SEEK_END) < 0) {
		const int r = -errno;

		close(fd);
		return r;
	}
	return fd;
}

enum klog_says klog_read(int fd, const struct klog_names *names, char *text, size_t text_bytes)
{
	char record[RECORD_BYTES + 1], line[512];
	enum klog_says worst = KLOG_NOTHING;

	text[0] = '\0';
	for (;;) {
		const ssize_t got = read(fd, record, RECORD_BYTES);
		enum klog_says says;

		/* Records that were overwritten before we came are EPIPE; the next read goes on. */
		if (got < 0 && (errno == EPIPE || errno == EINTR))
			continue;
		if (got <= 0)
			return worst;
		record[got] = '\0';
		says = klog_judge(record, names, line, sizeof(line));
		/* Of failed discards the block layer's line, the last, names the device. */
		if (says < worst || (says == worst && says != KLOG_DISCARD))
			continue;
		worst = says;
		snprintf(text, text_bytes, "%s", line);
	}
}
