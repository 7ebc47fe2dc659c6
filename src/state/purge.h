/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * purge - how a drive is brought as near to never written as it lets us.
 *
 *	method			what it does				works on
 *	discard			BLKDISCARD of the whole; hole punching	block, file, directory, sim
 *				(and FITRIM, in a directory)
 *	zero			BLKZEROOUT, zero range			block, file, directory, sim
 *	nvme-format[-crypto]	Format NVM, user data or crypto erase	whole NVMe namespaces
 *	nvme-sanitize[-crypto]	Sanitize, block or crypto erase		whole NVMe drives
 *	ata-erase[-enhanced]	SECURITY ERASE UNIT			whole ATA drives, not frozen
 *	ata-sanitize[-crypto]	SANITIZE DEVICE				whole ATA drives
 *	sim			the reference drive's own		sim
 *
 * auto is discard, or zero where nothing discards, and sim on the reference drive: never what a
 * drive's firmware does by itself, which can take hours and cannot be stopped. A whole-device
 * discard is not an erase and is not called one.
 *
 * The commands for NVMe and ATA drives are built by pure functions, tested byte by byte. Identify,
 * Format NVM, the logs and the discards are sent to emulated drives by tests/device/qemu; no drive
 * of our tests knows a sanitize or a security erase.
 */

#include <linux/nvme_ioctl.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "model/step.h"

struct work;

/* --- NVMe (NVM Express Base 1.4, NVM command set) ------------------------------------ */

enum nvme_erase { NVME_ERASE_USER_DATA = 1, NVME_ERASE_CRYPTO = 2 };
enum nvme_sanitize { NVME_SANITIZE_BLOCK = 2, NVME_SANITIZE_CRYPTO = 4 };

void nvme_identify_controller(struct nvme_admin_cmd *ret, void *buffer_4k);
void nvme_identify_namespace(struct nvme_admin_cmd *ret, uint32_t nsid, void *buffer_4k);
/* Keeps the LBA format, metadata and protection that the namespace has. */
void nvme_format(struct nvme_admin_cmd *ret, uint32_t nsid, const uint8_t *namespace_4k,
		 enum nvme_erase erase);
void nvme_sanitize(struct nvme_admin_cmd *ret, enum nvme_sanitize action);
void nvme_sanitize_log(struct nvme_admin_cmd *ret, void *buffer_512);

/*
 * Whether the drive can, by its identify data, and touches nothing but this namespace: 0, or
 * -EOPNOTSUPP / -EBUSY with the sentence.
 */
int nvme_check_format(const uint8_t *controller_4k, enum nvme_erase erase, struct err *err);
int nvme_check_sanitize(const uint8_t *controller_4k, enum nvme_sanitize action, struct err *err);

/* A sanitize log: 1 under way (*ret_done 0 .. 1), 0 done, -EIO failed. */
int nvme_sanitize_state(const uint8_t *log_512, double *ret_done);

/* SMART / health log; data units written are thousands of 512 bytes. */
void nvme_smart_log(struct nvme_admin_cmd *ret, void *buffer_512);
uint64_t nvme_smart_written_bytes(const uint8_t *log_512);

/* --- ATA (ACS-4) through SCSI ATA PASS-THROUGH (16) ---------------------------------- */

#define ATA_CDB_BYTES 16
#define ATA_PASSWORD "tare"

enum ata_sanitize { ATA_SANITIZE_STATUS, ATA_SANITIZE_BLOCK, ATA_SANITIZE_CRYPTO };

void ata_identify(uint8_t cdb[ATA_CDB_BYTES]);
void ata_set_password(uint8_t cdb[ATA_CDB_BYTES], uint8_t data_512[512]);
void ata_disable_password(uint8_t cdb[ATA_CDB_BYTES], uint8_t data_512[512]);
void ata_erase_prepare(uint8_t cdb[ATA_CDB_BYTES]);
void ata_erase_unit(uint8_t cdb[ATA_CDB_BYTES], uint8_t data_512[512], bool enhanced);
void ata_sanitize(uint8_t cdb[ATA_CDB_BYTES], enum ata_sanitize what);

/* By IDENTIFY DEVICE: 0, -EOPNOTSUPP, or -EBUSY when frozen or locked, with the remedy. */
int ata_check_erase(const uint16_t identify[256], bool enhanced, struct err *err);
int ata_check_sanitize(const uint16_t identify[256], enum ata_sanitize what, struct err *err);
/* How long the drive says the erase takes, in seconds; 0 = it does not say. */
uint64_t ata_erase_s(const uint16_t identify[256], bool enhanced);

enum scsi_sense { SENSE_NONE = 0, SENSE_RECOVERED = 1, SENSE_ILLEGAL_REQUEST = 5 };
/* The key of sense data in either format (SPC-4 4.5); -1 when it is in none. */
int scsi_sense_key(const uint8_t *sense, size_t sense_bytes);

/* From the sense data of a SANITIZE STATUS: as nvme_sanitize_state; -EPROTO without an answer. */
int ata_sanitize_state(const uint8_t *sense, size_t sense_bytes, double *ret_done);

/* Device statistics, page 1; false when the drive does not keep logical sectors written. */
void ata_statistics(uint8_t cdb[ATA_CDB_BYTES]);
bool ata_statistics_written_bytes(const uint8_t *page_512, uint32_t logical_block_bytes,
				  uint64_t *ret);

/* --- a discard of one range, past the kernel's own ------------------------------------ */

/* In logical blocks of the namespace or drive. ATA: at most 65,535. */
struct block_range {
	uint64_t first;
	uint32_t count;
};

#define UNMAP_CDB_BYTES 10
#define UNMAP_LIST_BYTES 24

/* Dataset Management with Deallocate, for NVME_IOCTL_IO_CMD. */
void nvme_deallocate(struct nvme_passthru_cmd *ret, uint32_t nsid,
		     const struct block_range *range, uint8_t ranges_4k[4096]);
/* UNMAP (SBC-3), without anchor. */
void scsi_unmap(uint8_t cdb[UNMAP_CDB_BYTES], uint8_t list[UNMAP_LIST_BYTES],
		const struct block_range *range);
/* DATA SET MANAGEMENT with TRIM. */
void ata_trim(uint8_t cdb[ATA_CDB_BYTES], uint8_t data_512[512], const struct block_range *range);

/* --- sending them -------------------------------------------------------------------- */

/* On the work's target, which must be a whole drive; progress goes to the state's observer. */
int purge_nvme(struct work *work, enum purge_method method, struct err *err);
int purge_ata(struct work *work, enum purge_method method, struct err *err);
/* A call of the state's progress with a share done, at most each 250 ms. */
void purge_progress(struct work *work, uint64_t begin_ns, double done);
