/* SPDX-License-Identifier: MIT */

/*
 * nvme_target - NVMe over TCP for tests: drives whose controllers announce, or do not announce,
 * what no emulator lets one choose. Each FILE is a subsystem nqn.2026-01.example.tare:NAME with one
 * controller and one namespace of 512-byte blocks over that file, its holes the truth; NAME is the
 * file's, and the serial number.
 *
 *	nvme_target PORT FILE[:OPTION...]...
 *
 * OPTION	deallocate	Dataset Management is announced and punches holes; else it is refused
 *		lies		it is announced and refused
 *		shared		several paths are possible: the kernel shows its multipath device
 *
 * Listens on 127.0.0.1 and goes to the background once it does. Each connection is a process: the
 * admin queue or the I/O queue, one command after the other. On stderr one line for each range
 * deallocated and each command refused.
 *
 * References: NVM Express Base 1.4, NVMe over Fabrics 1.1, TCP transport binding.
 */

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define NQN "nqn.2026-01.example.tare:"
#define DRIVES 8
#define SLOTS 128		/* commands at once, so writes that wait for their data */
#define MDTS 5			/* powers of two of pages of 4 KiB */
#define DATA_BYTES (4096u << MDTS)
#define IN_CAPSULE_BYTES 8192u	/* fixed for the admin queue, and the same for the other one */
#define BLOCK_BYTES 512u

enum pdu { IC_REQ, IC_RESP, CAPSULE_CMD = 4, CAPSULE_RESP, H2C_DATA, C2H_DATA, R2T = 9 };
enum { LAST_PDU = 4 };

enum opcode { FLUSH, WRITE, READ, DATASET_MANAGEMENT = 9, FABRICS = 0x7f };
enum admin { GET_LOG = 2, IDENTIFY = 6, SET_FEATURES = 9, ASYNC_EVENT = 12, KEEP_ALIVE = 24 };
enum fabrics { PROPERTY_SET, CONNECT, PROPERTY_GET = 4 };
enum property { CAP = 0, VS = 8, CC = 0x14, CSTS = 0x1c };

#define DO_NOT_RETRY 0x4000u
enum status {
	OK,
	INVALID_OPCODE = DO_NOT_RETRY | 1,
	INVALID_FIELD = DO_NOT_RETRY | 2,
	INTERNAL = DO_NOT_RETRY | 6,
	INVALID_NAMESPACE = DO_NOT_RETRY | 0xb,
	LBA_RANGE = DO_NOT_RETRY | 0x80,
	CONNECT_PARAMETER = DO_NOT_RETRY | 0x182,
	HELD = 0xffff,		/* no answer: an event that never comes */
};

struct header {			/* of every PDU: it is followed by 16, 64 or 120 bytes */
	uint8_t type, flags, header_bytes, data_offset;
	uint32_t total_bytes;
};

struct transfer {		/* C2HData, H2CData and R2T */
	struct header header;
	uint16_t cid, tag;
	uint32_t offset_bytes, length_bytes, reserved;
};

struct command {
	uint8_t opcode, flags;
	uint16_t cid;
	union {
		uint32_t nsid;
		uint8_t fabrics;
	};
	uint8_t reserved[24];
	uint32_t data_bytes;
	uint8_t key[3], sgl_type;
	union {
		uint32_t word[6];	/* CDW10 to CDW15 */
		struct { uint16_t format, queue, entries; } connect;
		struct { uint8_t attributes, reserved[3]; uint32_t offset; uint64_t value; } property;
		struct { uint64_t block; uint16_t count; } rw;
	};
} __attribute__((packed));

struct response {
	struct header header;
	uint64_t result;
	uint16_t head, queue, cid, status;
};

struct drive {
	const char *path, *name;
	bool deallocate, lies, shared;
	uint16_t controller;
	int fd;
	uint64_t blocks;
};

struct slot {			/* a command whose data is on its way */
	bool used;
	struct command command;
	uint32_t got_bytes;
	uint8_t *data;
};

struct link {
	int fd;
	const struct drive *drive;	/* NULL until Connect */
	uint16_t queue, head;
	uint32_t entries;
	uint32_t configuration;		/* CC */
	struct slot slots[SLOTS];
	uint8_t data[DATA_BYTES];
};

static struct drive drives[DRIVES];
static uint16_t drive_count;

_Static_assert(sizeof(struct command) == 64, "a submission queue entry");
_Static_assert(sizeof(struct response) == 24, "a PDU with a completion queue entry");
_Static_assert(sizeof(struct transfer) == 24, "a PDU of a transfer");

static void receive(const struct link *link, void *to, size_t bytes)
{
	for (size_t at = 0; at < bytes;) {
		const ssize_t got = recv(link->fd, (uint8_t *)to + at, bytes - at, 0);

		if (got <= 0)
			exit(0);	/* the host has disconnected */
		at += (size_t)got;
	}
}

static void transmit(const struct link *link, const void *from, size_t bytes, int flags)
{
	for (size_t at = 0; at < bytes;) {
		const ssize_t put = send(link->fd, (const uint8_t *)from + at, bytes - at, flags);

		if (put <= 0)
			exit(0);
		at += (size_t)put;
	}
}

static void put16(uint8_t *at, uint16_t value)
{
	memcpy(at, &(uint16_t){ htole16(value) }, sizeof(value));
}

static void put32(uint8_t *at, uint32_t value)
{
	memcpy(at, &(uint32_t){ htole32(value) }, sizeof(value));
}

static void put64(uint8_t *at, uint64_t value)
{
	memcpy(at, &(uint64_t){ htole64(value) }, sizeof(value));
}

/* Padded with spaces, as the fields of Identify Controller are. */
static void put_text(uint8_t *at, size_t room, const char *text)
{
	const size_t length = strnlen(text, room);

	memset(at, ' ', room);
	memcpy(at, text, length);
}

/* --- admin commands ----------------------------------------------------------------------- */

static void identify_controller(const struct drive *drive, uint8_t *page)
{
	put_text(page + 4, 20, drive->name);
	put_text(page + 24, 40, "tare NVMe/TCP test target");
	put_text(page + 64, 8, "1");
	page[76] = drive->shared ? 2 : 0;		/* CMIC: two or more controllers */
	page[77] = MDTS;
	put16(page + 78, drive->controller);
	put32(page + 80, 0x10400);			/* version */
	page[111] = 1;					/* an I/O controller */
	page[259] = 3;					/* events held at once, from 0 */
	put16(page + 320, 10);				/* keep alive, in 100 ms */
	page[512] = 0x66;				/* entries of 64 bytes ... */
	page[513] = 0x44;				/* ... and of 16 */
	put16(page + 514, SLOTS);
	put32(page + 516, 1);				/* namespaces */
	put16(page + 520, drive->deallocate || drive->lies ? 4 : 0);	/* ONCS */
	page[525] = 1;					/* a volatile write cache */
	put32(page + 536, 1 | 1 << 20);			/* SGLs, with offsets into the capsule */
	snprintf((char *)page + 768, 256, NQN "%s", drive->name);
	put32(page + 1792, (64 + IN_CAPSULE_BYTES) / 16);
	put32(page + 1796, 1);
	page[1803] = 1;					/* SGL descriptors in a command */
}

static void identify_namespace(const struct drive *drive, uint8_t *page)
{
	put64(page + 0, drive->blocks);
	put64(page + 8, drive->blocks);
	put64(page + 16, drive->blocks);
	page[30] = drive->shared;
	page[33] = drive->deallocate ? 1 : 0;		/* DLFEAT: zeros after it */
	page[130] = 9;					/* LBA format 0: powers of two */
}

static void identify_descriptors(const struct drive *drive, uint8_t *page)
{
	page[0] = 3;					/* a UUID */
	page[1] = 16;
	snprintf((char *)page + 4, 16, "tare%u", drive->controller);
}

static enum status identify(struct link *link, const struct command *command)
{
	const bool all = command->nsid == 0xffffffff;

	switch (le32toh(command->word[0]) & 0xff) {
	case 0:
		if (!all && le32toh(command->nsid) != 1)
			return INVALID_NAMESPACE;
		identify_namespace(link->drive, link->data);
		return OK;
	case 1:
		identify_controller(link->drive, link->data);
		return OK;
	case 2:		/* active namespaces above the one named */
		put32(link->data, le32toh(command->nsid) < 1 ? 1 : 0);
		return OK;
	case 3:
		if (le32toh(command->nsid) != 1)
			return INVALID_NAMESPACE;
		identify_descriptors(link->drive, link->data);
		return OK;
	default:
		return INVALID_FIELD;
	}
}

static enum status get_log(struct link *link, const struct command *command)
{
	const uint8_t page = le32toh(command->word[0]) & 0xff;

	if (page != 1 && page != 2)
		return INVALID_FIELD;
	if (page == 2)
		put16(link->data + 1, 300);	/* kelvins; all else is as on a drive never used */
	return OK;
}

/* One I/O queue, however many are asked for: 0 and 0, counted from 0. */
static enum status set_features(const struct command *command)
{
	static const uint8_t known[] = { 0x07, 0x0b, 0x0f };	/* queues, events, keep alive */

	return memchr(known, (int)(le32toh(command->word[0]) & 0xff), sizeof(known)) ?
		OK : INVALID_FIELD;
}

static enum status admin(struct link *link, const struct command *command)
{
	switch (command->opcode) {
	case IDENTIFY:
		return identify(link, command);
	case GET_LOG:
		return get_log(link, command);
	case SET_FEATURES:
		return set_features(command);
	case ASYNC_EVENT:
		return HELD;
	case KEEP_ALIVE:
		return OK;
	default:
		return INVALID_OPCODE;
	}
}

/* --- I/O commands ------------------------------------------------------------------------- */

static enum status transfer(struct link *link, const struct command *command, const uint8_t *data)
{
	const uint64_t first = le64toh(command->rw.block);
	const uint32_t count = le16toh(command->rw.count) + 1u, bytes = count * BLOCK_BYTES;
	const off_t at = (off_t)(first * BLOCK_BYTES);
	ssize_t done;

	if (first >= link->drive->blocks || count > link->drive->blocks - first)
		return LBA_RANGE;
	if (bytes > DATA_BYTES || bytes != le32toh(command->data_bytes))
		return INVALID_FIELD;
	done = data ? pwrite(link->drive->fd, data, bytes, at) :
		      pread(link->drive->fd, link->data, bytes, at);
	return done == (ssize_t)bytes ? OK : INTERNAL;
}

static enum status deallocate(const struct link *link, const struct command *command,
			      const uint8_t *data)
{
	const uint32_t count = (le32toh(command->word[0]) & 0xff) + 1;

	/* Linux sends a whole page, whatever the number of ranges. */
	if (count * 16 > le32toh(command->data_bytes))
		return INVALID_FIELD;
	if (!(le32toh(command->word[1]) & 4))
		return OK;	/* hints only */
	for (uint32_t i = 0; i < count; i++) {
		uint32_t blocks;
		uint64_t first;

		memcpy(&blocks, data + 16 * i + 4, sizeof(blocks));
		memcpy(&first, data + 16 * i + 8, sizeof(first));
		blocks = le32toh(blocks);
		first = le64toh(first);
		if (first >= link->drive->blocks || blocks > link->drive->blocks - first)
			return LBA_RANGE;
		if (blocks && fallocate(link->drive->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
					(off_t)(first * BLOCK_BYTES), (off_t)blocks * BLOCK_BYTES))
			return INTERNAL;
		fprintf(stderr, "%s: %u blocks deallocated\n", link->drive->name, blocks);
	}
	return OK;
}

static enum status io(struct link *link, const struct command *command, const uint8_t *data)
{
	if (le32toh(command->nsid) != 1)
		return INVALID_NAMESPACE;
	switch (command->opcode) {
	case FLUSH:
		return fdatasync(link->drive->fd) ? INTERNAL : OK;
	case READ:
		return transfer(link, command, NULL);
	case WRITE:
		return data ? transfer(link, command, data) : INVALID_FIELD;
	case DATASET_MANAGEMENT:
		if (link->drive->deallocate)
			return data ? deallocate(link, command, data) : INVALID_FIELD;
		return INVALID_OPCODE;
	default:
		return INVALID_OPCODE;
	}
}

/* --- fabrics commands --------------------------------------------------------------------- */

static enum status connect_queue(struct link *link, const struct command *command,
				 const uint8_t *data, uint64_t *result)
{
	const char *nqn = (const char *)data + 256;
	uint16_t controller;

	if (!data || le32toh(command->data_bytes) < 1024 || link->drive)
		return INVALID_FIELD;
	memcpy(&controller, data + 16, sizeof(controller));
	link->queue = le16toh(command->connect.queue);
	link->entries = le16toh(command->connect.entries) + 1u;
	for (uint16_t i = 0; i < drive_count; i++) {
		if (strncmp(nqn, NQN, strlen(NQN)) != 0 ||
		    strncmp(nqn + strlen(NQN), drives[i].name, 256 - strlen(NQN)) != 0)
			continue;
		if (link->queue > 1 || (link->queue == 1 && le16toh(controller) != drives[i].controller))
			break;
		link->drive = &drives[i];
		*result = drives[i].controller;
		return OK;
	}
	return CONNECT_PARAMETER;
}

static enum status property_get(const struct link *link, const struct command *command,
				uint64_t *result)
{
	switch (le32toh(command->property.offset)) {
	case CAP:	/* entries of a queue, contiguous, ready within 10 s, NVM commands */
		*result = (SLOTS - 1) | 1ull << 16 | 20ull << 24 | 1ull << 37;
		return OK;
	case VS:
		*result = 0x10400;
		return OK;
	case CC:
		*result = link->configuration;
		return OK;
	case CSTS:	/* ready as soon as enabled, shut down as soon as told to */
		*result = (link->configuration & 1) | (link->configuration & 0xc000 ? 2 << 2 : 0);
		return OK;
	default:
		return INVALID_FIELD;
	}
}

static enum status fabrics(struct link *link, const struct command *command, const uint8_t *data,
			   uint64_t *result)
{
	switch (command->fabrics) {
	case CONNECT:
		return connect_queue(link, command, data, result);
	case PROPERTY_GET:
		return property_get(link, command, result);
	case PROPERTY_SET:
		if (le32toh(command->property.offset) != CC)
			return INVALID_FIELD;
		link->configuration = (uint32_t)le64toh(command->property.value);
		return OK;
	default:
		return INVALID_OPCODE;
	}
}

/* --- the transport ------------------------------------------------------------------------ */

/* By the two lowest bits of the opcode, or of the fabrics command's own type. */
static unsigned int direction(const struct command *command)
{
	return (command->opcode == FABRICS ? command->fabrics : command->opcode) & 3;
}

static void answer(struct link *link, const struct command *command, enum status status,
		   uint64_t result)
{
	const uint32_t bytes = le32toh(command->data_bytes);

	if (status == OK && direction(command) == 2 && bytes) {
		struct transfer pdu = {
			.header = { C2H_DATA, LAST_PDU, sizeof(pdu), sizeof(pdu),
				    htole32((uint32_t)sizeof(pdu) + bytes) },
			.cid = command->cid,
			.length_bytes = htole32(bytes),
		};

		transmit(link, &pdu, sizeof(pdu), MSG_MORE);
		transmit(link, link->data, bytes, MSG_MORE);
	}
	link->head = (uint16_t)((link->head + 1) % (link->entries ? link->entries : SLOTS));
	transmit(link, &(struct response){
		.header = { CAPSULE_RESP, 0, sizeof(struct response), 0,
			    htole32(sizeof(struct response)) },
		.result = htole64(result),
		.head = htole16(link->head),
		.queue = htole16(link->queue),
		.cid = command->cid,
		.status = htole16((uint16_t)(status << 1)),
	}, sizeof(struct response), 0);
}

/* data: what the host sent with it, NULL for none. */
static void carry_out(struct link *link, const struct command *command, const uint8_t *data)
{
	const bool too_much = le32toh(command->data_bytes) > DATA_BYTES;
	enum status status = INVALID_FIELD;
	uint64_t result = 0;

	if (direction(command) == 2 && !too_much)
		memset(link->data, 0, sizeof(link->data));
	if (command->opcode == FABRICS)
		status = fabrics(link, command, data, &result);
	else if (link->drive && !too_much)
		status = link->queue ? io(link, command, data) : admin(link, command);
	if (status == HELD)
		return;
	if (status != OK)
		fprintf(stderr, "%s: queue %u: opcode 0x%02x refused, status 0x%x\n",
			link->drive ? link->drive->name : "?", link->queue, command->opcode,
			status & ~DO_NOT_RETRY);
	answer(link, command, status, result);
}

static void ask_for_data(struct link *link, const struct command *command)
{
	for (uint16_t i = 0; i < SLOTS; i++) {
		struct slot *slot = &link->slots[i];

		if (slot->used)
			continue;
		*slot = (struct slot){ .used = true, .command = *command,
				       .data = malloc(le32toh(command->data_bytes)) };
		if (!slot->data)
			abort();
		transmit(link, &(struct transfer){
			.header = { R2T, 0, sizeof(struct transfer), 0,
				    htole32(sizeof(struct transfer)) },
			.cid = command->cid,
			.tag = htole16(i),
			.length_bytes = command->data_bytes,
		}, sizeof(struct transfer), 0);
		return;
	}
	exit(1);	/* more commands than the queue has entries */
}

static void on_command(struct link *link, const struct header *header)
{
	const uint32_t total = le32toh(header->total_bytes);
	struct command command;
	uint32_t bytes;

	if (header->header_bytes != sizeof(*header) + sizeof(command) ||
	    total < header->header_bytes || total - header->header_bytes > IN_CAPSULE_BYTES)
		exit(1);
	receive(link, &command, sizeof(command));
	bytes = total - header->header_bytes;
	if (bytes) {
		uint8_t capsule[IN_CAPSULE_BYTES];

		receive(link, capsule, bytes);
		if (bytes != le32toh(command.data_bytes))
			exit(1);
		carry_out(link, &command, capsule);
	} else if (direction(&command) == 1 && command.data_bytes &&
		   le32toh(command.data_bytes) <= DATA_BYTES) {
		ask_for_data(link, &command);
	} else {
		carry_out(link, &command, NULL);
	}
}

static void on_data(struct link *link, const struct header *header)
{
	struct transfer pdu = { .header = *header };
	struct slot *slot;
	uint32_t bytes;

	if (header->header_bytes != sizeof(pdu) || header->data_offset != sizeof(pdu))
		exit(1);
	receive(link, &pdu.cid, sizeof(pdu) - sizeof(pdu.header));
	bytes = le32toh(pdu.length_bytes);
	if (le16toh(pdu.tag) >= SLOTS)
		exit(1);
	slot = &link->slots[le16toh(pdu.tag)];
	if (!slot->used || le32toh(pdu.offset_bytes) != slot->got_bytes ||
	    bytes > le32toh(slot->command.data_bytes) - slot->got_bytes)
		exit(1);
	receive(link, slot->data + slot->got_bytes, bytes);
	slot->got_bytes += bytes;
	if (slot->got_bytes < le32toh(slot->command.data_bytes))
		return;
	carry_out(link, &slot->command, slot->data);
	free(slot->data);
	slot->used = false;
}

/* ICReq: no digests, whatever is asked for. */
static void start(struct link *link)
{
	struct { struct header header; uint8_t more[120]; } pdu;

	receive(link, &pdu, sizeof(pdu));
	if (pdu.header.type != IC_REQ || le32toh(pdu.header.total_bytes) != sizeof(pdu))
		exit(1);
	memset(&pdu, 0, sizeof(pdu));
	pdu.header = (struct header){ IC_RESP, 0, sizeof(pdu), 0, htole32(sizeof(pdu)) };
	put32(pdu.more + 4, DATA_BYTES);	/* the most in one H2CData */
	transmit(link, &pdu, sizeof(pdu), 0);
}

static _Noreturn void serve(int fd)
{
	struct link *link = calloc(1, sizeof(*link));
	struct header header;

	if (!link)
		abort();
	link->fd = fd;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int));
	start(link);
	for (;;) {
		receive(link, &header, sizeof(header));
		if (header.type == CAPSULE_CMD)
			on_command(link, &header);
		else if (header.type == H2C_DATA)
			on_data(link, &header);
		else
			exit(1);
	}
}

/* --- setting up --------------------------------------------------------------------------- */

static void add_drive(char *spec)
{
	struct drive *drive = &drives[drive_count++];
	struct stat st;

	drive->path = strsep(&spec, ":");
	drive->name = strrchr(drive->path, '/') ? strrchr(drive->path, '/') + 1 : drive->path;
	drive->controller = drive_count;
	for (const char *option; (option = strsep(&spec, ":"));) {
		if (strcmp(option, "deallocate") == 0) {
			drive->deallocate = true;
		} else if (strcmp(option, "lies") == 0) {
			drive->lies = true;
		} else if (strcmp(option, "shared") == 0) {
			drive->shared = true;
		} else {
			fprintf(stderr, "nvme_target: '%s' is none of deallocate, lies, shared\n",
				option);
			exit(2);
		}
	}
	drive->fd = open(drive->path, O_RDWR | O_CLOEXEC);
	if (drive->fd < 0 || fstat(drive->fd, &st) < 0) {
		perror(drive->path);
		exit(2);
	}
	drive->blocks = (uint64_t)st.st_size / BLOCK_BYTES;
}

static int listen_on(const char *port)
{
	const struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)atoi(port)),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){ 1 }, sizeof(int));
	if (fd < 0 || bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 ||
	    listen(fd, 16) < 0) {
		perror("nvme_target: 127.0.0.1");
		exit(2);
	}
	return fd;
}

int main(int argc, char **argv)
{
	int listener;

	if (argc < 3 || argc - 2 > DRIVES) {
		fprintf(stderr, "usage: nvme_target PORT FILE[:deallocate|:lies][:shared]...\n");
		return 2;
	}
	for (int i = 2; i < argc; i++)
		add_drive(argv[i]);
	listener = listen_on(argv[1]);
	signal(SIGCHLD, SIG_IGN);
	if (daemon(1, 1) < 0)
		return 2;
	for (;;) {
		const int fd = accept(listener, NULL, NULL);

		if (fd >= 0 && fork() == 0)
			serve(fd);
		if (fd >= 0)
			close(fd);
	}
}
