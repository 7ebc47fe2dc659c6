/* SPDX-License-Identifier: MIT */

/* purge_command - the bytes sent to drives, and what their answers mean. Pure functions. */

#include <errno.h>
#include <string.h>

#include "state/purge.h"

/* A format erases as it goes and answers at its end: as long as a large drive may take. */
#define NVME_FORMAT_TIMEOUT_MS (4u * 3600 * 1000)

static uint32_t le32(const uint8_t *at)
{
	return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static void identify(struct nvme_admin_cmd *ret, uint32_t nsid, uint32_t cns, void *buffer_4k)
{
	*ret = (struct nvme_admin_cmd){
		.opcode = 0x06,
		.nsid = nsid,
		.addr = (uint64_t)(uintptr_t)buffer_4k,
		.data_len = 4096,
		.cdw10 = cns,
	};
}

void nvme_identify_controller(struct nvme_admin_cmd *ret, void *buffer_4k)
{
	identify(ret, 0, 1, buffer_4k);
}

void nvme_identify_namespace(struct nvme_admin_cmd *ret, uint32_t nsid, void *buffer_4k)
{
	identify(ret, nsid, 0, buffer_4k);
}

/*
 * FLBAS (byte 26): format in bits 3:0 and 6:5, metadata in bit 4. DPS (byte 29): protection in
 * bits 2:0, its place in bit 3. The same go into the command, at 3:0 and 13:12, 4, 7:5 and 8.
 */
void nvme_format(struct nvme_admin_cmd *ret, uint32_t nsid, const uint8_t *namespace_4k,
		 enum nvme_erase erase)
{
	const uint32_t flbas = namespace_4k[26], dps = namespace_4k[29];

	*ret = (struct nvme_admin_cmd){
		.opcode = 0x80,
		.nsid = nsid,
		.cdw10 = (flbas & 0xf) | (flbas >> 5 & 3) << 12 | (flbas >> 4 & 1) << 4 |
			 (dps & 7) << 5 | (dps >> 3 & 1) << 8 | (uint32_t)erase << 9,
		.timeout_ms = NVME_FORMAT_TIMEOUT_MS,
	};
}

void nvme_sanitize(struct nvme_admin_cmd *ret, enum nvme_sanitize action)
{
	*ret = (struct nvme_admin_cmd){ .opcode = 0x84, .cdw10 = (uint32_t)action };
}

void nvme_sanitize_log(struct nvme_admin_cmd *ret, void *buffer_512)
{
	*ret = (struct nvme_admin_cmd){
		.opcode = 0x02,
		.nsid = 0xffffffff,
		.addr = (uint64_t)(uintptr_t)buffer_512,
		.data_len = 512,
		.cdw10 = 0x81 | (512 / 4 - 1) << 16,
	};
}

/* NN (bytes 519:516) is the most there may be; drives with one say 1. */
static int check_alone(const uint8_t *controller_4k, const char *what, struct err *err)
{
	const uint32_t namespaces = le32(controller_4k + 516);

	if (namespaces <= 1)
		return 0;
	err_set(err, -EBUSY, "%s would erase all of the drive, which can have %u namespaces", what,
		namespaces);
	return err_hint(err, "use purge=discard, which touches this namespace alone");
}

int nvme_check_format(const uint8_t *controller_4k, enum nvme_erase erase, struct err *err)
{
	const uint8_t fna = controller_4k[524];

	if (!(controller_4k[256] & 1 << 1))
		return err_set(err, -EOPNOTSUPP, "the drive does not know Format NVM");
	if (erase == NVME_ERASE_CRYPTO && !(fna & 1 << 2))
		return err_set(err, -EOPNOTSUPP, "the drive has no cryptographic erase");
	return fna & 1 << 1 ? check_alone(controller_4k, "its format", err) : 0;
}

int nvme_check_sanitize(const uint8_t *controller_4k, enum nvme_sanitize action, struct err *err)
{
	const uint32_t sanicap = le32(controller_4k + 328);
	const bool can = action == NVME_SANITIZE_CRYPTO ? sanicap & 1 : sanicap & 2;

	if (!can)
		return err_set(err, -EOPNOTSUPP, "the drive cannot sanitize by %s",
			       action == NVME_SANITIZE_CRYPTO ? "cryptographic erase" :
								"block erase");
	return check_alone(controller_4k, "a sanitize", err);
}

int nvme_sanitize_state(const uint8_t *log_512, double *ret_done)
{
	switch (log_512[2] & 7) {
	case 1:
	case 4:		/* done; blocks were not deallocated */
		*ret_done = 1;
		return 0;
	case 2:
		*ret_done = (log_512[0] | log_512[1] << 8) / 65536.0;
		return 1;
	default:	/* never, or failed */
		return -EIO;
	}
}

void nvme_smart_log(struct nvme_admin_cmd *ret, void *buffer_512)
{
	nvme_sanitize_log(ret, buffer_512);
	ret->cdw10 = 0x02 | (512 / 4 - 1) << 16;
}

static uint64_t le64(const uint8_t *at)
{
	return le32(at) | (uint64_t)le32(at + 4) << 32;
}

/* Bytes 63:48; 128 bits, of which 64 are more than any drive writes. */
uint64_t nvme_smart_written_bytes(const uint8_t *log_512)
{
	return le64(log_512 + 48) * 512000;
}

static void put(uint8_t *at, uint64_t value, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		at[i] = (uint8_t)(value >> 8 * i);
}

static void put_big_endian(uint8_t *at, uint64_t value, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		at[i] = (uint8_t)(value >> 8 * (bytes - 1 - i));
}

/*
 * One range of 16 bytes: attributes, length, start. All 4 KiB of the 256 that there may be are
 * sent: some drives fetch them, whatever number is named (and so does the kernel's driver).
 */
void nvme_deallocate(struct nvme_passthru_cmd *ret, uint32_t nsid,
		     const struct block_range *range, uint8_t ranges_4k[4096])
{
	memset(ranges_4k, 0, 4096);
	put(ranges_4k + 4, range->count, 4);
	put(ranges_4k + 8, range->first, 8);
	*ret = (struct nvme_passthru_cmd){
		.opcode = 0x09,
		.nsid = nsid,
		.addr = (uint64_t)(uintptr_t)ranges_4k,
		.data_len = 4096,
		.cdw10 = 0,		/* one range: counted from 0 */
		.cdw11 = 1 << 2,	/* AD: deallocate */
	};
}

/* A list of one descriptor behind a header of 8 bytes; both lengths leave out themselves. */
void scsi_unmap(uint8_t cdb[UNMAP_CDB_BYTES], uint8_t list[UNMAP_LIST_BYTES],
		const struct block_range *range)
{
	memset(cdb, 0, UNMAP_CDB_BYTES);
	cdb[0] = 0x42;
	put_big_endian(cdb + 7, UNMAP_LIST_BYTES, 2);
	memset(list, 0, UNMAP_LIST_BYTES);
	put_big_endian(list, UNMAP_LIST_BYTES - 2, 2);
	put_big_endian(list + 2, UNMAP_LIST_BYTES - 8, 2);
	put_big_endian(list + 8, range->first, 8);
	put_big_endian(list + 16, range->count, 4);
}

enum ata_protocol { ATA_NON_DATA = 3, ATA_PIO_IN = 4, ATA_PIO_OUT = 5, ATA_DMA = 6 };

static void pass_through(uint8_t cdb[ATA_CDB_BYTES], enum ata_protocol protocol, uint8_t command)
{
	memset(cdb, 0, ATA_CDB_BYTES);
	cdb[0] = 0x85;
	cdb[1] = (uint8_t)(protocol << 1);
	/* Data: its length is in the count, in blocks; in bit 3 set it comes from the drive. */
	if (protocol == ATA_NON_DATA) {
		cdb[2] = 0x20;	/* the registers are wanted back */
	} else {
		cdb[2] = protocol == ATA_PIO_IN ? 0x0e : 0x06;
		cdb[6] = 1;
	}
	cdb[14] = command;
}

static void set_user_password(uint8_t data_512[512])
{
	memset(data_512, 0, 512);
	memcpy(data_512 + 2, ATA_PASSWORD, strlen(ATA_PASSWORD));
}

void ata_identify(uint8_t cdb[ATA_CDB_BYTES])
{
	pass_through(cdb, ATA_PIO_IN, 0xec);
}

void ata_set_password(uint8_t cdb[ATA_CDB_BYTES], uint8_t data_512[512])
{
	pass_through(cdb, ATA_PIO_OUT, 0xf1);
	set_user_password(data_512);
}

void ata_disable_password(uint8_t cdb[ATA_CDB_BYTES], uint8_t data_512[512])
{
	pass_through(cdb, ATA_PIO_OUT, 0xf6);
	set_user_password(data_512);
}

void ata_erase_prepare(uint8_t cdb[ATA_CDB_BYTES])
{
	pass_through(cdb, ATA_NON_DATA, 0xf3);
}

void ata_erase_unit(uint8_t cdb[ATA_CDB_BYTES], uint8_t data_512[512], bool enhanced)
{
	pass_through(cdb, ATA_PIO_OUT, 0xf4);
	set_user_password(data_512);
	data_512[0] = enhanced ? 2 : 0;
}

/* The LBA is a key word: "BkEr", "Cryp". 48 bits: of each pair the first is the upper half. */
void ata_sanitize(uint8_t cdb[ATA_CDB_BYTES], enum ata_sanitize what)
{
	static const struct {
		uint8_t feature;
		uint32_t key;
	} rows[] = {
		[ATA_SANITIZE_STATUS] = { 0x00, 0 },
		[ATA_SANITIZE_BLOCK] = { 0x12, 0x426b4572 },
		[ATA_SANITIZE_CRYPTO] = { 0x11, 0x43727970 },
	};
	const uint32_t key = rows[what].key;

	pass_through(cdb, ATA_NON_DATA, 0xb4);
	cdb[1] |= 1;
	cdb[4] = rows[what].feature;
	cdb[7] = (uint8_t)(key >> 24);
	cdb[8] = (uint8_t)key;
	cdb[10] = (uint8_t)(key >> 8);
	cdb[12] = (uint8_t)(key >> 16);
	cdb[13] = 0x40;
}

/* 48 bits; feature bit 0 is TRIM. An entry of 8 bytes: 48 bits of LBA, 16 of count. */
void ata_trim(uint8_t cdb[ATA_CDB_BYTES], uint8_t data_512[512], const struct block_range *range)
{
	pass_through(cdb, ATA_DMA, 0x06);
	cdb[1] |= 1;
	cdb[4] = 1;
	cdb[13] = 0x40;
	memset(data_512, 0, 512);
	put(data_512, range->first, 6);
	put(data_512 + 6, range->count, 2);
}

int ata_check_erase(const uint16_t identify[256], bool enhanced, struct err *err)
{
	const uint16_t security = identify[128];

	if (!(security & 1) || (enhanced && !(security & 1 << 5)))
		return err_set(err, -EOPNOTSUPP, "the drive has no%s security erase",
			       enhanced ? " enhanced" : "");
	if (security & 1 << 3) {
		err_set(err, -EBUSY, "the drive's security commands are frozen until it is powered off");
		return err_hint(err, "suspend the machine and wake it, or plug the drive out and in");
	}
	if (security & (1 << 1 | 1 << 2))
		return err_set(err, -EBUSY, "the drive is protected by a password already");
	return 0;
}

int ata_check_sanitize(const uint16_t identify[256], enum ata_sanitize what, struct err *err)
{
	const uint16_t can = identify[59];

	if (!(can & 1 << 12))
		return err_set(err, -EOPNOTSUPP, "the drive has no sanitize commands");
	if (!(can & (what == ATA_SANITIZE_CRYPTO ? 1 << 13 : 1 << 15)))
		return err_set(err, -EOPNOTSUPP, "the drive cannot sanitize by %s",
			       what == ATA_SANITIZE_CRYPTO ? "cryptographic scramble" : "block erase");
	return 0;
}

/* Units of two minutes; bit 15 says that 15 bits count in place of 8. */
uint64_t ata_erase_s(const uint16_t identify[256], bool enhanced)
{
	const uint16_t word = identify[enhanced ? 90 : 89];

	return 120ull * (word & 0x8000 ? word & 0x7fffu : word & 0xffu);
}

int scsi_sense_key(const uint8_t *sense, size_t sense_bytes)
{
	switch (sense_bytes ? sense[0] & 0x7f : 0) {
	case 0x70:	/* fixed: now, or deferred */
	case 0x71:
		return sense_bytes > 2 ? sense[2] & 0xf : -1;
	case 0x72:	/* descriptors: now, or deferred */
	case 0x73:
		return sense_bytes > 1 ? sense[1] & 0xf : -1;
	default:
		return -1;
	}
}

int ata_sanitize_state(const uint8_t *sense, size_t sense_bytes, double *ret_done)
{
	/* Descriptor sense with the ATA Status Return descriptor: count and LBA, high and low. */
	if (sense_bytes < 22 || (sense[0] & 0x7f) != 0x72 || sense[8] != 0x09 || sense[9] != 0x0c)
		return -EPROTO;
	if (sense[12] & 0x40) {
		*ret_done = (sense[15] | sense[17] << 8) / 65536.0;
		return 1;
	}
	if (sense[12] & 0x80) {
		*ret_done = 1;
		return 0;
	}
	return -EIO;
}

/* READ LOG EXT of log 04h, page 1: the log's address in LBA 7:0, the page in LBA 15:8. */
void ata_statistics(uint8_t cdb[ATA_CDB_BYTES])
{
	pass_through(cdb, ATA_PIO_IN, 0x2f);
	cdb[1] |= 1;
	cdb[8] = 0x04;
	cdb[10] = 1;
	cdb[13] = 0x40;
}

/* At 24: bit 63 supported, bit 62 valid, the value below bit 48. */
bool ata_statistics_written_bytes(const uint8_t *page_512, uint32_t logical_block_bytes,
				  uint64_t *ret)
{
	const uint64_t word = le64(page_512 + 24);

	if (page_512[2] != 1 || word >> 62 != 3)
		return false;
	*ret = (word & ((1ull << 48) - 1)) * logical_block_bytes;
	return true;
}
