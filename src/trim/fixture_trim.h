/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * fixture_trim - for tests: a machine of tests/fixtures/trim unpacked below fixture_root, with
 * what is to be found on it (the format is told in the README there). Asserts: a broken fixture
 * is our mistake.
 */

#include <ctype.h>
#include <errno.h>

#include "base/defer.h"
#include "model/trim.h"
#include "target/fixture.h"

#define WANTED 16

struct machine {
	char title[256];
	char spec[256];
	char code[32], layer[64], reason[32];
	int exit_code;			/* -1 = not said */
	char texts[WANTED][256], remedies[WANTED][256], nevers[WANTED][256], notes[WANTED][96];
	size_t text_count, remedy_count, never_count, note_count;
	char active[64];		/* "discard=async + timer", "none"; "" = not said */
	uint64_t unit_bytes;		/* 0 = not said */
	/* What a probe would have added, as lines of the file. */
	char evidence[32][320];
	size_t evidence_count;
};

/* --- devices ------------------------------------------------------------------------------ */

static inline const char *machine_digits(const char *name)
{
	const char *p = name + strlen(name);

	while (p > name && isdigit((unsigned char)p[-1]))
		p--;
	return p;
}

/* The numbers that the kernel gives to devices of these names. */
static inline void machine_number(const char *name, char *number, size_t bytes)
{
	static const struct {
		const char *prefix;
		unsigned int major_number;
	} majors[] = {
		{ "nvme", 259 }, { "dm-", 253 },    { "md", 9 },     { "loop", 7 },
		{ "mmcblk", 179 }, { "zd", 230 },   { "nbd", 43 },   { "zram", 251 },
		{ "nullb", 250 }, { "bcache", 249 }, { "rbd", 248 }, { "drbd", 147 },
	};
	const unsigned long last = strtoul(machine_digits(name), NULL, 10);

	for (size_t i = 0; i < ARRAY_COUNT(majors); i++) {
		if (strncmp(name, majors[i].prefix, strlen(majors[i].prefix)) != 0)
			continue;
		/* "nvme0n1" is 0, "nvme0n1p2" 2. */
		snprintf(number, bytes, "%u:%lu", majors[i].major_number,
			 i == 0 && !strchr(name, 'p') ? 0 : last);
		return;
	}
	snprintf(number, bytes, "%u:%lu",
		 strncmp(name, "sd", 2) == 0 ? 8u : strncmp(name, "xvd", 3) == 0 ? 202u : 252u,
		 16ul * (unsigned long)(machine_digits(name)[-1] - 'a') + last);
}

static inline void machine_attribute(const char *directory, const char *key, const char *value)
{
	static const struct {
		const char *shorthand, *attribute;
	} shorthands[] = {
		{ "g", "queue/discard_granularity" }, { "max", "queue/discard_max_bytes" },
		{ "hw", "queue/discard_max_hw_bytes" }, { "rot", "queue/rotational" },
		{ "al", "discard_alignment" }, { "name", "dm/name" }, { "uuid", "dm/uuid" },
		{ "level", "md/level" }, { "backing", "loop/backing_file" },
	};
	char path[PATH_MAX];

	for (size_t i = 0; i < ARRAY_COUNT(shorthands); i++)
		if (strcmp(shorthands[i].shorthand, key) == 0)
			key = shorthands[i].attribute;
	snprintf(path, sizeof(path), "%s/%.900s/%.200s", fixture_root, directory, key);
	fixture_write(path, value, "w");
}

static inline void machine_slaves(const char *directory, const char *name, char *list)
{
	char path[PATH_MAX], *state = NULL;

	for (char *slave = strtok_r(list, ",", &state); slave; slave = strtok_r(NULL, ",", &state)) {
		snprintf(path, sizeof(path), "%s/%s/slaves/%s/x", fixture_root, directory, slave);
		fixture_make_parents(path);
		snprintf(path, sizeof(path), "%s/sys/class/block/%s/holders/%s/x", fixture_root,
			 slave, name);
		fixture_make_parents(path);
	}
}

static inline void machine_node(const char *name, const char *mapper)
{
	char path[PATH_MAX], to[PATH_MAX];

	snprintf(path, sizeof(path), "%s/dev/%s", fixture_root, name);
	fixture_write(path, "", "w");
	if (!mapper[0])
		return;
	snprintf(path, sizeof(path), "%s/dev/mapper/%s", fixture_root, mapper);
	snprintf(to, sizeof(to), "../%s", name);
	fixture_link(to, path);
}

/* Where a SCSI disk of this bus hangs; its host has the number of its letter, from 1. */
static inline void machine_bus(const char *bus, const char *name, char *path, size_t bytes)
{
	static const struct {
		const char *bus, *path;
	} buses[] = {
		{ "usb", "pci0000:00/0000:00:14.0/usbH/H-1/H-1:1.0/hostH/targetH:0:0/H:0:0:0" },
		{ "ata", "pci0000:00/0000:00:17.0/ataH/hostH/targetH:0:0/H:0:0:0" },
		{ "sas", "pci0000:00/0000:01:00.0/hostH/port-H:0/end_device-H:0/targetH:0:0/H:0:0:0" },
		{ "iscsi", "platform/hostH/session1/targetH:0:0/H:0:0:0" },
		{ "fc", "pci0000:00/0000:02:00.0/hostH/rport-H:0-0/targetH:0:0/H:0:0:0" },
		{ "virtio", "pci0000:00/0000:00:05.0/virtio2/hostH/targetH:0:0/H:0:0:0" },
		{ "plain", "pci0000:00/0000:00:1f.2/hostH/targetH:0:0/H:0:0:0" },
	};
	const char *from = NULL;
	size_t used = 0;

	for (size_t i = 0; i < ARRAY_COUNT(buses); i++)
		if (strcmp(buses[i].bus, bus) == 0)
			from = buses[i].path;
	assert(from);
	for (; *from && used + 1 < bytes; from++)
		path[used++] = *from == 'H' ? (char)('1' + (name[2] - 'a')) : *from;
	path[used] = '\0';
}

/* "host=uas", "mode=unmap", "usbid=152d:0583": what the devices above the disk say. */
static inline bool machine_scsi(const char *bus, const char *name, const char *pair)
{
	const int number = 1 + (name[2] - 'a');
	char path[PATH_MAX], above[256];
	char *cut;

	if (strncmp(pair, "mode=", 5) == 0) {
		snprintf(path, sizeof(path), "%s/sys/devices/%s/scsi_disk/%d:0:0:0/provisioning_mode",
			 fixture_root, bus, number);
		fixture_write(path, pair + 5, "w");
		return true;
	}
	snprintf(above, sizeof(above), "%s", bus);
	if (strncmp(pair, "host=", 5) == 0) {
		cut = strchr(strstr(above, "/host") + 1, '/');
		*cut = '\0';
		snprintf(path, sizeof(path), "%s/sys/devices/%s/scsi_host/host%d/proc_name",
			 fixture_root, above, number);
		fixture_write(path, pair + 5, "w");
		return true;
	}
	if (strncmp(pair, "usbid=", 6) == 0) {
		cut = strchr(strstr(above, "/usb") + 5, '/');
		cut = strchr(cut + 1, '/');
		*cut = '\0';
		snprintf(path, sizeof(path), "%s/sys/devices/%s/idProduct", fixture_root, above);
		fixture_write(path, pair + 11, "w");
		snprintf(path, sizeof(path), "%s/sys/devices/%s/idVendor", fixture_root, above);
		snprintf(above, sizeof(above), "%.4s", pair + 6);
		fixture_write(path, above, "w");
		return true;
	}
	return false;
}

/* "disk NAME key=value ...": the limits follow from max where they are not given. */
static inline void machine_device(char *words, const char *default_bus)
{
	char *state = NULL, *name = strtok_r(words, " ", &state), *word, *value;
	char directory[512], bus[256], number[32], path[PATH_MAX], mapper[128] = "";
	char *pairs[48];
	size_t count = 0;
	bool has_g = false, has_hw = false, has_max = false;

	snprintf(bus, sizeof(bus), "%s", default_bus);
	while ((word = strtok_r(NULL, " ", &state))) {
		assert(count < ARRAY_COUNT(pairs) && strchr(word, '='));
		if (strncmp(word, "in=", 3) == 0)
			snprintf(bus, sizeof(bus), "%s", word + 3);
		else if (strncmp(word, "bus=", 4) == 0)
			machine_bus(word + 4, name, bus, sizeof(bus));
		else if (machine_scsi(bus, name, word))
			continue;
		else
			pairs[count++] = word;
		has_g |= strncmp(word, "g=", 2) == 0;
		has_hw |= strncmp(word, "hw=", 3) == 0;
		has_max |= strncmp(word, "max=", 4) == 0;
	}
	snprintf(directory, sizeof(directory), "sys/devices/%s/block/%s", bus, name);
	machine_number(name, number, sizeof(number));
	machine_attribute(directory, "dev", number);
	fixture_device(directory, number);
	machine_attribute(directory, "size", "1000000000");
	snprintf(path, sizeof(path), "%s/%s/device", fixture_root, directory);
	fixture_link("../..", path);
	for (size_t i = 0; i < count; i++) {
		value = strchr(pairs[i], '=');
		*value++ = '\0';
		if (strcmp(pairs[i], "on") == 0) {
			machine_slaves(directory, name, value);
			continue;
		}
		if (strcmp(pairs[i], "name") == 0)
			snprintf(mapper, sizeof(mapper), "%s", value);
		machine_attribute(directory, pairs[i], value);
		if (strcmp(pairs[i], "max") == 0 && !has_hw)
			machine_attribute(directory, "hw", value);
		if (strcmp(pairs[i], "max") == 0 && !has_g)
			machine_attribute(directory, "g", strcmp(value, "0") == 0 ? "0" : "512");
	}
	if (!has_max)
		machine_attribute(directory, "max", "0");
	machine_node(name, mapper);
}

/* "part NAME of DISK START [key=value ...]": within the directory of the disk. */
static inline void machine_partition(char *words)
{
	char *state = NULL, *name = strtok_r(words, " ", &state), *word;
	char path[PATH_MAX], directory[512], number[32];
	const char *disk, *start;

	word = strtok_r(NULL, " ", &state);
	assert(word && strcmp(word, "of") == 0);
	disk = strtok_r(NULL, " ", &state);
	start = strtok_r(NULL, " ", &state);
	assert(disk && start);
	snprintf(path, sizeof(path), "%s/sys/class/block/%s", fixture_root, disk);
	DEFER(defer_free) char *real = realpath(path, NULL);
	assert(real);
	snprintf(directory, sizeof(directory), "%.400s/%.60s", real + strlen(fixture_root) + 1,
		 name);
	machine_number(name, number, sizeof(number));
	machine_attribute(directory, "dev", number);
	fixture_device(directory, number);
	machine_attribute(directory, "partition", machine_digits(name));
	machine_attribute(directory, "start", start);
	machine_attribute(directory, "size", "1000000");
	while ((word = strtok_r(NULL, " ", &state))) {
		char *value = strchr(word, '=');

		assert(value);
		*value++ = '\0';
		machine_attribute(directory, word, value);
	}
	machine_node(name, "");
}

/* --- pages -------------------------------------------------------------------------------- */

/* "NAME INDEX=HEX ...": bytes at offsets, words of two bytes when words is set. */
static inline void machine_page(char *words, const char *path_fmt, size_t bytes, bool as_words)
{
	uint8_t page[4096] = { 0 };
	char *state = NULL, *name = strtok_r(words, " ", &state), *word;
	char path[PATH_MAX], suffix[256];
	FILE *file;

	while ((word = strtok_r(NULL, " ", &state))) {
		unsigned int at, value;
		const int got = sscanf(word, "%u=%x", &at, &value);

		assert(got == 2 && at < sizeof(page) / 2);
		if (as_words) {
			page[2 * at] = (uint8_t)value;
			page[2 * at + 1] = (uint8_t)(value >> 8);
		} else {
			page[at] = (uint8_t)value;
		}
	}
	/* The path has one %s, for the name; that is no format of the compiler's to check. */
	snprintf(suffix, sizeof(suffix), "%s", path_fmt);
	word = strstr(suffix, "NAME");
	assert(word);
	*word = '\0';
	snprintf(path, sizeof(path), "%s/%s%s%s", fixture_root, suffix, name, word + 4);
	fixture_make_parents(path);
	file = fopen(path, "w");
	assert(file);
	fwrite(page, 1, bytes, file);
	fclose(file);
}

/* --- mounts ------------------------------------------------------------------------------- */

static int machine_mount_id;

/* "SOURCE POINT TYPE OPTIONS": anonymous where the source is no device of this machine. */
static inline void machine_mount(char *words)
{
	char source[128], point[128], type[32], options[512], number[32], line[1024];
	char path[PATH_MAX];
	const char *name = "";
	const int got = sscanf(words, "%127s %127s %31s %511s", source, point, type, options);

	assert(got == 4);
	snprintf(number, sizeof(number), "0:%d", 40 + machine_mount_id);
	snprintf(path, sizeof(path), "%s%s", fixture_root, source);
	DEFER(defer_free) char *real = source[0] == '/' ? realpath(path, NULL) : NULL;
	if (real && strcmp(type, "btrfs") != 0) {
		name = strrchr(real, '/') + 1;
		machine_number(name, number, sizeof(number));
	}
	snprintf(line, sizeof(line), "%d 1 %s / %s rw - %s %s %s", 20 + machine_mount_id++, number,
		 point, type, source, options);
	snprintf(path, sizeof(path), "%s/proc/self/mountinfo", fixture_root);
	fixture_write(path, line, "a");
}

/* --- the file ----------------------------------------------------------------------------- */

static inline void machine_file(char *words, const char *mode)
{
	char path[PATH_MAX], *value = strstr(words, " = ");

	assert(value);
	*value = '\0';
	snprintf(path, sizeof(path), "%s%s", fixture_root, words);
	fixture_write(path, value + 3, mode);
}

static inline void machine_link(char *words)
{
	char path[PATH_MAX], *to = strstr(words, " -> ");

	assert(to);
	*to = '\0';
	snprintf(path, sizeof(path), "%s%s", fixture_root, words);
	fixture_link(to + 4, path);
}

static inline void machine_dm_line(char *words, const char *suffix)
{
	char path[PATH_MAX], *rest = strchr(words, ' ');

	assert(rest);
	*rest = '\0';
	snprintf(path, sizeof(path), "%s/dm/%s.%s", fixture_root, words, suffix);
	fixture_write(path, rest + 1, "a");
}

/* What systemd's own units say, enabled. */
static inline void machine_timer(void)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/usr/lib/systemd/system/fstrim.timer", fixture_root);
	fixture_write(path, "[Timer]", "w");
	fixture_write(path, "OnCalendar=weekly", "a");
	snprintf(path, sizeof(path), "%s/usr/lib/systemd/system/fstrim.service", fixture_root);
	fixture_write(path, "ExecStart=/sbin/fstrim --listed-in /etc/fstab:/proc/self/mountinfo "
			    "--verbose --quiet-unsupported", "w");
	snprintf(path, sizeof(path), "%s/etc/systemd/system/timers.target.wants/fstrim.timer",
		 fixture_root);
	fixture_link("/usr/lib/systemd/system/fstrim.timer", path);
}

static inline void machine_keep(char (*list)[256], size_t *count, const char *text)
{
	assert(*count < WANTED);
	snprintf(list[(*count)++], 256, "%s", text);
}

/* What is to be found. */
static inline bool machine_wish(struct machine *machine, const char *key, const char *value)
{
	if (strcmp(key, "is") == 0)
		snprintf(machine->title, sizeof(machine->title), "%s", value);
	else if (strcmp(key, "try") == 0)
		snprintf(machine->spec, sizeof(machine->spec), "%s", value);
	else if (strcmp(key, "want") == 0)
		sscanf(value, "%31s %63s %31s", machine->code, machine->layer, machine->reason);
	else if (strcmp(key, "text") == 0)
		machine_keep(machine->texts, &machine->text_count, value);
	else if (strcmp(key, "remedy") == 0)
		machine_keep(machine->remedies, &machine->remedy_count, value);
	else if (strcmp(key, "never") == 0)
		machine_keep(machine->nevers, &machine->never_count, value);
	else if (strcmp(key, "note") == 0)
		snprintf(machine->notes[machine->note_count++], 96, "%s", value);
	else if (strcmp(key, "active") == 0)
		snprintf(machine->active, sizeof(machine->active), "%s", value);
	else if (strcmp(key, "exit") == 0)
		machine->exit_code = atoi(value);
	else if (strcmp(key, "unit") == 0)
		machine->unit_bytes = strtoull(value, NULL, 10);
	else if (strcmp(key, "saw") == 0) {
		assert(machine->evidence_count < 32);
		snprintf(machine->evidence[machine->evidence_count++], 320, "%s", value);
	} else
		return false;
	return true;
}

static inline bool machine_build(const char *key, char *value)
{
	if (strcmp(key, "disk") == 0)
		machine_device(value, "pci0000:00/0000:00:01.0");
	else if (strcmp(key, "over") == 0)
		machine_device(value, "virtual");
	else if (strcmp(key, "part") == 0)
		machine_partition(value);
	else if (strcmp(key, "table") == 0)
		machine_dm_line(value, "table");
	else if (strcmp(key, "status") == 0)
		machine_dm_line(value, "status");
	else if (strcmp(key, "mount") == 0)
		machine_mount(value);
	else if (strcmp(key, "file") == 0)
		machine_file(value, "w");
	else if (strcmp(key, "more") == 0)
		machine_file(value, "a");
	else if (strcmp(key, "link") == 0)
		machine_link(value);
	else if (strcmp(key, "timer") == 0)
		machine_timer();
	else if (strcmp(key, "ata") == 0)
		machine_page(value, "raw/NAME.ata", 512, true);
	else if (strcmp(key, "b0") == 0)
		machine_page(value, "raw/NAME.vpd-b0", 64, false);
	else if (strcmp(key, "b2") == 0)
		machine_page(value, "raw/NAME.vpd-b2", 64, false);
	else if (strcmp(key, "ctrl") == 0)
		machine_page(value, "raw/NAME.nvme-ctrl", 4096, false);
	else if (strcmp(key, "ns") == 0)
		machine_page(value, "raw/NAME.nvme-ns", 4096, false);
	else
		return false;
	return true;
}

static inline void machine_done(void)
{
	assert(strstr(fixture_root, "/tare-fixture-"));
	nftw(fixture_root, fixture_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* The machine below fixture_root, until machine_done. */
static inline void machine_unpack(const char *path, struct machine *ret)
{
	char line[2048];
	const char *made;
	FILE *file = fopen(path, "re");

	assert(file);
	memset(ret, 0, sizeof(*ret));
	ret->exit_code = -1;
	machine_mount_id = 0;
	/* In memory where there is some: a hundred small trees on a disk take seconds. */
	snprintf(fixture_root, sizeof(fixture_root), "%s/tare-fixture-XXXXXX",
		 access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	made = mkdtemp(fixture_root);
	assert(made);
	while (fgets(line, sizeof(line), file)) {
		char *value;

		line[strcspn(line, "\n")] = '\0';
		if (!line[0] || line[0] == '#')
			continue;
		value = line + strcspn(line, " ");
		if (*value)
			*value++ = '\0';
		if (machine_wish(ret, line, value) || machine_build(line, value))
			continue;
		fprintf(stderr, "%s: what is '%s'?\n", path, line);
		abort();
	}
	fclose(file);
}

/* --- evidence ----------------------------------------------------------------------------- */

static inline void machine_rung(struct trim_report *report, enum trim_rung rung)
{
	if (report->rung < rung)
		report->rung = rung;
}

static inline void machine_error(struct trim_report *report, const char *words)
{
	static const struct {
		const char *name;
		int code;
	} errors[] = {
		{ "EPERM", -EPERM }, { "EIO", -EIO }, { "EOPNOTSUPP", -EOPNOTSUPP },
		{ "EREMOTEIO", -EREMOTEIO }, { "EROFS", -EROFS },
	};
	char code[32], name[16], layer[64];
	struct trim_evidence *evidence;
	int behind = 0;
	const int got = sscanf(words, "%31s %15s %63s %n", code, name, layer, &behind);

	assert(got == 3);
	evidence = trim_report_add(report, RUNG_CAPABLE, code, strcmp(layer, "-") == 0 ? "" : layer);
	for (size_t i = 0; i < ARRAY_COUNT(errors); i++)
		if (strcmp(errors[i].name, name) == 0)
			evidence->error = errors[i].code;
	assert(evidence->error);
	snprintf(evidence->text, sizeof(evidence->text), "%s", words + behind);
}

static inline void machine_content(struct trim_report *report, const char *word)
{
	struct trim_evidence *evidence = trim_report_add(report, RUNG_EFFECT, "read-back", "");

	machine_rung(report, RUNG_EFFECT);
	evidence->content = strcmp(word, "zeros") == 0 ? CONTENT_ZEROS :
			    strcmp(word, "ones") == 0  ? CONTENT_ONES :
			    strcmp(word, "old") == 0   ? CONTENT_OLD : CONTENT_OTHER;
}

static inline void machine_size(struct trim_report *report, const char *words)
{
	struct trim_size *size = &report->sizes[report->size_count++];
	unsigned long long bytes;
	const int got = sscanf(words, "%llu %u %u %u %u", &bytes, &size->tried_count,
			       &size->gone_count, &size->old_count, &size->other_count);

	assert(got == 5 && report->size_count <= TRIM_SIZES);
	size->bytes = bytes;
}

static inline void machine_sent(struct trim_report *report, const char *words)
{
	unsigned long long count, bytes;
	struct trim_layer *layer;
	char name[64];
	const int got = sscanf(words, "%63s %llu %llu", name, &count, &bytes);

	assert(got == 3);
	layer = trim_report_layer(report, name);
	assert(layer);
	layer->have_delivered = true;
	layer->delivered_count = count;
	layer->delivered_bytes = bytes;
	machine_rung(report, RUNG_SENT);
}

static inline void machine_see(struct trim_report *report, const char *line)
{
	const char *value = line + strcspn(line, " ");
	struct trim_evidence *evidence;

	value += *value == ' ';
	if (strncmp(line, "sent ", 5) == 0) {
		machine_sent(report, value);
	} else if (strncmp(line, "error ", 6) == 0) {
		machine_error(report, value);
	} else if (strncmp(line, "content ", 8) == 0) {
		machine_content(report, value);
	} else if (strncmp(line, "size ", 5) == 0) {
		machine_size(report, value);
	} else if (strncmp(line, "freed ", 6) == 0) {
		report->space_freed = strcmp(value, "yes") == 0 ? TRIM_YES : TRIM_NO;
		machine_rung(report, RUNG_EFFECT);
	} else if (strncmp(line, "mapping ", 8) == 0) {
		report->mapping = strcmp(value, "yes") == 0 ? TRIM_YES : TRIM_NO;
	} else if (strncmp(line, "guards ", 7) == 0) {
		report->guards_changed = true;
		snprintf(report->guards_text, sizeof(report->guards_text), "%s", value);
	} else if (strncmp(line, "aborted ", 8) == 0) {
		report->aborted = true;
		evidence = trim_report_add(report, RUNG_SENT, "kernel-log", "");
		snprintf(evidence->text, sizeof(evidence->text), "%s", value);
	} else if (strncmp(line, "behaviour ", 10) == 0) {
		evidence = trim_report_add(report, RUNG_BEHAVIOUR, "behaviour", "");
		evidence->ok = strcmp(value, "better") == 0;
		machine_rung(report, RUNG_BEHAVIOUR);
	} else {
		fprintf(stderr, "what is seen by '%s'?\n", line);
		abort();
	}
}
