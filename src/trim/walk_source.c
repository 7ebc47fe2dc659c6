/* SPDX-License-Identifier: MIT */

/*
 * walk_source - what the kernel and the drives tell only when asked: device-mapper tables and
 * identify pages. A recorded machine has them as files (walk.h).
 */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/dm-ioctl.h>
#include <linux/nvme_ioctl.h>
#include <scsi/sg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/defer.h"
#include "base/sysfs.h"
#include "trim/walk_parts.h"

void walk_wipe(struct text *text)
{
	if (text->data)
		explicit_bzero(text->data, text->room);
	text_done(text);
}

static int read_file(const char *path, struct text *ret)
{
	char part[4096];
	ssize_t got;

	DEFER(defer_close) int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	while ((got = read(fd, part, sizeof(part))) > 0)
		text_add_bytes(ret, part, (size_t)got);
	return got < 0 ? -errno : 0;
}

/* --- device-mapper ------------------------------------------------------------------------ */

#define DM_BYTES (64 * 1024)

/* The targets of an answer, each with where the next one begins, counted from the first. */
static void dm_format(const struct dm_ioctl *io, size_t bytes, struct text *ret)
{
	const char *base = (const char *)io + io->data_start;
	const size_t room = bytes - io->data_start;
	size_t at = 0;

	for (uint32_t i = 0; i < io->target_count && at + sizeof(struct dm_target_spec) < room;
	     i++) {
		struct dm_target_spec spec;
		const char *words = base + at + sizeof(spec);

		memcpy(&spec, base + at, sizeof(spec));
		text_add(ret, "%llu %llu %.*s %.*s\n", (unsigned long long)spec.sector_start,
			 (unsigned long long)spec.length, (int)sizeof(spec.target_type),
			 spec.target_type, (int)strnlen(words, room - at - sizeof(spec)), words);
		at = spec.next;
	}
}

static int dm_ask(dev_t device, bool status, struct text *ret)
{
	struct dm_ioctl *io = calloc(1, DM_BYTES);
	int r = 0;

	DEFER(defer_close) int fd = open("/dev/mapper/control", O_RDWR | O_CLOEXEC);
	if (!io || fd < 0) {
		free(io);
		return io ? -errno : -ENOMEM;
	}
	io->version[0] = DM_VERSION_MAJOR;
	io->data_size = DM_BYTES;
	io->data_start = sizeof(*io);
	io->dev = device;
	/* The table may hold keys: the kernel is to wipe its copy. NOFLUSH: status must not write. */
	io->flags = (status ? 0 : DM_STATUS_TABLE_FLAG | DM_SECURE_DATA_FLAG) | DM_NOFLUSH_FLAG;
	if (ioctl(fd, DM_TABLE_STATUS, io) < 0)
		r = -errno;
	else if (io->flags & DM_BUFFER_FULL_FLAG || io->data_start >= DM_BYTES)
		r = -EMSGSIZE;
	else
		dm_format(io, DM_BYTES, ret);
	explicit_bzero(io, DM_BYTES);
	free(io);
	return r;
}

int walk_dm_lines(const struct walk *walk, const char *name, bool status, struct text *ret)
{
	char path[PATH_MAX];
	int r;

	if (!*walk->root)
		return dm_ask(stack_number(walk->root, name), status, ret);
	snprintf(path, sizeof(path), "%s/dm/%s.%s", walk->root, name, status ? "status" : "table");
	r = read_file(path, ret);
	return r == -ENOENT ? -EACCES : r;
}

/* --- pages -------------------------------------------------------------------------------- */

static int scsi_read(int fd, const uint8_t *command, size_t command_bytes, uint8_t *answer,
		     size_t answer_bytes)
{
	uint8_t sense[32] = { 0 }, cdb[16] = { 0 };
	int key;
	struct sg_io_hdr io = {
		.interface_id = 'S',
		.dxfer_direction = SG_DXFER_FROM_DEV,
		.cmd_len = (unsigned char)command_bytes,
		.mx_sb_len = sizeof(sense),
		.dxfer_len = (unsigned int)answer_bytes,
		.dxferp = answer,
		.cmdp = cdb,
		.sbp = sense,
		.timeout = 5000,
	};

	memcpy(cdb, command, command_bytes);
	if (ioctl(fd, SG_IO, &io) < 0)
		return -errno;
	if (io.host_status || (io.status && io.status != 2))
		return -EIO;
	/* ATA pass-through may answer with "recovered" sense data: that is success. */
	key = (sense[0] & 0x7f) >= 0x72 ? sense[1] & 0xf : sense[2] & 0xf;
	return io.status == 2 && key > 1 ? -EIO : 0;
}

static int ask_vpd(int fd, uint8_t page, struct walk_page *ret)
{
	const uint8_t inquiry[6] = { 0x12, 1, page, 0, 64, 0 };
	const int r = scsi_read(fd, inquiry, sizeof(inquiry), ret->bytes, 64);

	if (r == 0 && ret->bytes[1] != page)
		return -ENODATA;
	ret->count = r == 0 ? 64 : 0;
	return r;
}

/* IDENTIFY DEVICE through ATA PASS-THROUGH (16): PIO in, 512 bytes. */
static int ask_ata(int fd, struct walk_page *ret)
{
	const uint8_t command[16] = { 0x85, 4 << 1, 0x0e, [6] = 1, [14] = 0xec };
	const int r = scsi_read(fd, command, sizeof(command), ret->bytes, 512);

	ret->count = r == 0 ? 512 : 0;
	return r;
}

static int ask_nvme(int fd, bool controller, struct walk_page *ret)
{
	const int nsid = ioctl(fd, NVME_IOCTL_ID);
	struct nvme_admin_cmd command = {
		.opcode = 0x06,
		.nsid = controller ? 0 : (uint32_t)nsid,
		.addr = (uint64_t)(uintptr_t)ret->bytes,
		.data_len = sizeof(ret->bytes),
		.cdw10 = controller ? 1 : 0,
		.timeout_ms = 5000,
	};
	int r;

	if (nsid < 0)
		return -errno;
	r = ioctl(fd, NVME_IOCTL_ADMIN_CMD, &command);
	if (r != 0)
		return r < 0 ? -errno : -EIO;
	ret->count = sizeof(ret->bytes);
	return 0;
}

static int ask(const struct walk *walk, const char *name, const char *what,
	       struct walk_page *ret)
{
	char path[PATH_MAX];

	(void)walk;
	snprintf(path, sizeof(path), "/dev/%s", name);
	DEFER(defer_close) int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (strcmp(what, "ata") == 0)
		return ask_ata(fd, ret);
	if (strcmp(what, "vpd-b0") == 0)
		return ask_vpd(fd, 0xb0, ret);
	if (strcmp(what, "vpd-b2") == 0)
		return ask_vpd(fd, 0xb2, ret);
	return ask_nvme(fd, strcmp(what, "nvme-ctrl") == 0, ret);
}

static int read_page(const char *path, struct walk_page *ret)
{
	ssize_t got;

	DEFER(defer_close) int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	got = read(fd, ret->bytes, sizeof(ret->bytes));
	if (got < 0)
		return -errno;
	ret->count = (size_t)got;
	return got > 0 ? 0 : -ENODATA;
}

/* The ATA information page holds the whole IDENTIFY DEVICE behind 60 bytes of its own. */
static int ata_from_vpd89(const struct walk *walk, const char *name, struct walk_page *ret)
{
	char path[PATH_MAX];
	int r;

	snprintf(path, sizeof(path), BLOCK "/device/vpd_pg89", walk->root, name);
	r = read_page(path, ret);
	if (r < 0)
		return r;
	if (ret->count < 60 + 512 || ret->bytes[1] != 0x89)
		return -ENODATA;
	memmove(ret->bytes, ret->bytes + 60, 512);
	ret->count = 512;
	return 0;
}

static int from_sysfs(const struct walk *walk, const char *name, const char *what,
		      struct walk_page *ret)
{
	char path[PATH_MAX];

	if (strcmp(what, "ata") == 0)
		return ata_from_vpd89(walk, name, ret);
	if (strncmp(what, "vpd-", 4) != 0)
		return -ENOENT;
	snprintf(path, sizeof(path), BLOCK "/device/vpd_pg%s", walk->root, name, what + 4);
	return read_page(path, ret);
}

int walk_page(const struct walk *walk, const char *name, const char *what, struct walk_page *ret)
{
	char path[PATH_MAX];
	int r;

	memset(ret, 0, sizeof(*ret));
	if (from_sysfs(walk, name, what, ret) == 0)
		return 0;
	if (!*walk->root)
		return ask(walk, name, what, ret);
	snprintf(path, sizeof(path), "%s/raw/%s.%s", walk->root, name, what);
	r = read_page(path, ret);
	return r == -ENOENT ? -EACCES : r;
}

static unsigned int ata_word(const struct walk_page *page, size_t index)
{
	return (unsigned int)(page->bytes[2 * index] | page->bytes[2 * index + 1] << 8);
}

bool walk_parse_ata(const struct walk_page *page, struct walk_ata *ret)
{
	unsigned int support;

	memset(ret, 0, sizeof(*ret));
	/* Word 0 bit 15 set: not an ATA device (ATAPI, or nothing was read). */
	if (page->count < 512 || ata_word(page, 0) & 0x8000)
		return false;
	support = ata_word(page, 69);
	ret->trim = ata_word(page, 169) & 1;
	ret->drat = ret->trim && support & 1u << 14;
	ret->rzat = ret->trim && support & 1u << 5;
	ret->solid = ata_word(page, 217) == 1;
	return true;
}

static uint64_t big_endian(const uint8_t *bytes, size_t count)
{
	uint64_t value = 0;

	for (size_t i = 0; i < count; i++)
		value = value << 8 | bytes[i];
	return value;
}

bool walk_parse_vpd_b0(const struct walk_page *page, struct walk_vpd *ret)
{
	if (page->count < 32 || page->bytes[1] != 0xb0)
		return false;
	ret->unmap_blocks_max = big_endian(page->bytes + 20, 4);
	ret->granularity_blocks = big_endian(page->bytes + 28, 4);
	return true;
}

bool walk_parse_vpd_b2(const struct walk_page *page, struct walk_vpd *ret)
{
	if (page->count < 8 || page->bytes[1] != 0xb2)
		return false;
	ret->lbpu = page->bytes[5] & 0x80;
	ret->lbpws = page->bytes[5] & 0x40;
	ret->lbpws10 = page->bytes[5] & 0x20;
	/* xx1b: zeros; the other values of its three bits promise nothing or a pattern. */
	ret->lbprz = page->bytes[5] & 0x04;
	return true;
}

bool walk_parse_nvme_ctrl(const struct walk_page *page, struct walk_nvme_facts *ret)
{
	if (page->count < 4096)
		return false;
	ret->deallocates = page->bytes[520] & 4;
	return true;
}

bool walk_parse_nvme_ns(const struct walk_page *page, struct walk_nvme_facts *ret)
{
	if (page->count < 4096)
		return false;
	ret->after = page->bytes[33] & 7;
	/* NSFEAT bit 4: the fields of preferred granularity mean something; they count from 0. */
	if (page->bytes[24] & 0x10)
		ret->granularity_blocks = 1u + (page->bytes[68] | (unsigned int)page->bytes[69] << 8);
	return true;
}
