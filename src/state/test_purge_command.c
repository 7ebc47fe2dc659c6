/* SPDX-License-Identifier: MIT */

/* The bytes are written out from the specifications: NVM Express 1.4, ACS-4, SAT-4. */

#include <errno.h>

#include "base/check.h"
#include "base/defer.h"
#include "state/purge.h"

static void check_bytes(const uint8_t *got, const uint8_t *want, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (got[i] != want[i]) {
			CHECK_EQ(i, -1);
			CHECK_EQ(got[i], want[i]);
		}
}

static void a_format_keeps_the_format_the_namespace_has(void)
{
	uint8_t namespace[4096] = { 0 };
	struct nvme_admin_cmd command;

	/* LBA format 2, no metadata: user data erase is SES 1 in bits 11:9. */
	namespace[26] = 0x02;
	nvme_format(&command, 1, namespace, NVME_ERASE_USER_DATA);
	CHECK_EQ(command.opcode, 0x80);
	CHECK_EQ(command.nsid, 1);
	CHECK_EQ(command.cdw10, 0x202);
	CHECK(command.timeout_ms > 3600 * 1000);
	/* Format 0x15 (bits 6:5 = 1), extended metadata, protection type 1 in the first bytes. */
	namespace[26] = 0x35;
	namespace[29] = 0x09;
	nvme_format(&command, 3, namespace, NVME_ERASE_CRYPTO);
	CHECK_EQ(command.nsid, 3);
	CHECK_EQ(command.cdw10, 0x1000 | 0x400 | 0x100 | 0x20 | 0x10 | 0x5);
}

static void sanitize_and_its_log_are_as_specified(void)
{
	struct nvme_admin_cmd command;
	uint8_t log[512];

	nvme_sanitize(&command, NVME_SANITIZE_BLOCK);
	CHECK_EQ(command.opcode, 0x84);
	CHECK_EQ(command.nsid, 0);
	CHECK_EQ(command.cdw10, 2);
	nvme_sanitize(&command, NVME_SANITIZE_CRYPTO);
	CHECK_EQ(command.cdw10, 4);
	nvme_sanitize_log(&command, log);
	CHECK_EQ(command.opcode, 0x02);
	CHECK_EQ(command.nsid, 0xffffffff);
	CHECK_EQ(command.cdw10, 0x007f0081);	/* 128 double words less one, log 81h */
	CHECK_EQ(command.data_len, 512);
	nvme_identify_controller(&command, log);
	CHECK_EQ(command.opcode, 0x06);
	CHECK_EQ(command.cdw10, 1);
	nvme_identify_namespace(&command, 7, log);
	CHECK_EQ(command.nsid, 7);
	CHECK_EQ(command.cdw10, 0);
}

static void a_sanitize_log_is_read(void)
{
	static const struct {
		uint8_t status, low, high;
		int want;
		double done;
	} cases[] = {
		{ 2, 0x00, 0x80, 1, 0.5 }, { 2, 0x00, 0x40, 1, 0.25 }, { 1, 0xff, 0xff, 0, 1 },
		{ 4, 0xff, 0xff, 0, 1 },   { 3, 0, 0, -EIO, -1 },      { 0, 0xff, 0xff, -EIO, -1 },
	};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		uint8_t log[512] = { cases[i].low, cases[i].high, cases[i].status };
		double done = -1;

		CHECK_EQ(nvme_sanitize_state(log, &done), cases[i].want);
		CHECK_NEAR(done, cases[i].done, 1e-9);
	}
}

static void what_an_nvme_drive_cannot_or_must_not_is_refused(void)
{
	uint8_t controller[4096] = { 0 };
	struct err err = { 0 };

	CHECK_EQ(nvme_check_format(controller, NVME_ERASE_USER_DATA, &err), -EOPNOTSUPP);
	CHECK_STR(err.text, "the drive does not know Format NVM");
	controller[256] = 2;			/* OACS bit 1 */
	controller[516] = 1;			/* one namespace */
	CHECK_EQ(nvme_check_format(controller, NVME_ERASE_USER_DATA, &err), 0);
	CHECK_EQ(nvme_check_format(controller, NVME_ERASE_CRYPTO, &err), -EOPNOTSUPP);
	controller[524] = 4;			/* FNA bit 2 */
	CHECK_EQ(nvme_check_format(controller, NVME_ERASE_CRYPTO, &err), 0);
	controller[516] = 32;
	CHECK_EQ(nvme_check_format(controller, NVME_ERASE_CRYPTO, &err), 0);
	controller[524] = 6;			/* an erase takes all namespaces */
	CHECK_EQ(nvme_check_format(controller, NVME_ERASE_CRYPTO, &err), -EBUSY);
	CHECK_STR(err.text, "its format would erase all of the drive, which can have 32 namespaces");

	CHECK_EQ(nvme_check_sanitize(controller, NVME_SANITIZE_BLOCK, &err), -EOPNOTSUPP);
	controller[328] = 2;			/* SANICAP: block erase */
	CHECK_EQ(nvme_check_sanitize(controller, NVME_SANITIZE_BLOCK, &err), -EBUSY);
	controller[516] = 1;
	CHECK_EQ(nvme_check_sanitize(controller, NVME_SANITIZE_BLOCK, &err), 0);
	CHECK_EQ(nvme_check_sanitize(controller, NVME_SANITIZE_CRYPTO, &err), -EOPNOTSUPP);
	controller[328] = 1;
	CHECK_EQ(nvme_check_sanitize(controller, NVME_SANITIZE_CRYPTO, &err), 0);
}

static void ata_commands_are_as_specified(void)
{
	uint8_t cdb[16], data[512];

	ata_identify(cdb);
	check_bytes(cdb, (const uint8_t[]){ 0x85, 0x08, 0x0e, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0xec, 0 },
		    16);
	ata_set_password(cdb, data);
	check_bytes(cdb, (const uint8_t[]){ 0x85, 0x0a, 0x06, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0xf1, 0 },
		    16);
	check_bytes(data, (const uint8_t[]){ 0, 0, 't', 'a', 'r', 'e', 0, 0 }, 8);
	ata_erase_prepare(cdb);
	check_bytes(cdb, (const uint8_t[]){ 0x85, 0x06, 0x20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xf3, 0 },
		    16);
	ata_erase_unit(cdb, data, false);
	check_bytes(cdb, (const uint8_t[]){ 0x85, 0x0a, 0x06, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0xf4, 0 },
		    16);
	CHECK_EQ(data[0], 0);
	ata_erase_unit(cdb, data, true);
	check_bytes(data, (const uint8_t[]){ 2, 0, 't', 'a', 'r', 'e' }, 6);
	ata_disable_password(cdb, data);
	CHECK_EQ(cdb[14], 0xf6);
	/* Sanitize: 48 bits; features 12h, LBA "BkEr"; 11h, "Cryp"; status 0. */
	ata_sanitize(cdb, ATA_SANITIZE_BLOCK);
	check_bytes(cdb,
		    (const uint8_t[]){ 0x85, 0x07, 0x20, 0, 0x12, 0, 0, 0x42, 0x72, 0, 0x45, 0, 0x6b,
				       0x40, 0xb4, 0 },
		    16);
	ata_sanitize(cdb, ATA_SANITIZE_CRYPTO);
	check_bytes(cdb,
		    (const uint8_t[]){ 0x85, 0x07, 0x20, 0, 0x11, 0, 0, 0x43, 0x70, 0, 0x79, 0, 0x72,
				       0x40, 0xb4, 0 },
		    16);
	ata_sanitize(cdb, ATA_SANITIZE_STATUS);
	check_bytes(cdb, (const uint8_t[]){ 0x85, 0x07, 0x20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x40, 0xb4, 0 },
		    16);
}

/* NVM command set 1.0, 3.2.3; 2^32 + 5 is 0x100000005. */
static void a_deallocate_is_as_specified(void)
{
	static const uint8_t range_bytes[16] = { 0, 0, 0, 0, 0x78, 0x56, 0x34, 0x12,
						 5, 0, 0, 0, 1, 0, 0, 0 };
	const struct block_range range = { 0x100000005, 0x12345678 };
	struct nvme_passthru_cmd command;
	uint8_t ranges[4096];

	memset(ranges, 0xff, sizeof(ranges));
	nvme_deallocate(&command, 3, &range, ranges);
	CHECK_EQ(command.opcode, 0x09);
	CHECK_EQ(command.nsid, 3);
	CHECK_EQ(command.cdw10, 0);
	CHECK_EQ(command.cdw11, 4);
	CHECK_EQ(command.data_len, 4096);
	CHECK_EQ(command.addr, (uint64_t)(uintptr_t)ranges);
	CHECK_EQ(command.metadata, 0);
	check_bytes(ranges, range_bytes, 16);
	for (size_t i = 16; i < sizeof(ranges); i++)
		CHECK_EQ(ranges[i], 0);
}

/* SBC-3 5.28. */
static void an_unmap_is_as_specified(void)
{
	const struct block_range range = { 0x0102030405060708, 0x11223344 };
	uint8_t cdb[UNMAP_CDB_BYTES], list[UNMAP_LIST_BYTES];

	scsi_unmap(cdb, list, &range);
	check_bytes(cdb, (const uint8_t[]){ 0x42, 0, 0, 0, 0, 0, 0, 0, 24, 0 }, 10);
	check_bytes(list, (const uint8_t[]){ 0, 22, 0, 16, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 0x11,
					     0x22, 0x33, 0x44, 0, 0, 0, 0 }, 24);
}

/* ACS-4 7.5, SAT-4 12.2.2: DMA, to the drive, one block by the count. */
static void an_ata_trim_is_as_specified(void)
{
	const struct block_range range = { 0x060504030201, 0x0807 };
	uint8_t cdb[ATA_CDB_BYTES], data[512];

	ata_trim(cdb, data, &range);
	check_bytes(cdb, (const uint8_t[]){ 0x85, 0x0d, 0x06, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0x40,
					    0x06, 0 }, 16);
	check_bytes(data, (const uint8_t[]){ 1, 2, 3, 4, 5, 6, 7, 8, 0, 0 }, 10);
	for (size_t i = 10; i < sizeof(data); i++)
		CHECK_EQ(data[i], 0);
}

static void ata_identify_data_decides(void)
{
	uint16_t identify[256] = { 0 };
	struct err err = { 0 };

	CHECK_EQ(ata_check_erase(identify, false, &err), -EOPNOTSUPP);
	identify[128] = 0x01;
	CHECK_EQ(ata_check_erase(identify, false, &err), 0);
	CHECK_EQ(ata_check_erase(identify, true, &err), -EOPNOTSUPP);
	identify[128] = 0x21;
	CHECK_EQ(ata_check_erase(identify, true, &err), 0);
	identify[128] = 0x29;
	CHECK_EQ(ata_check_erase(identify, true, &err), -EBUSY);
	CHECK_STR(err.text, "the drive's security commands are frozen until it is powered off");
	CHECK_STR(err.hint, "suspend the machine and wake it, or plug the drive out and in");
	identify[128] = 0x23;
	CHECK_EQ(ata_check_erase(identify, false, &err), -EBUSY);

	CHECK_EQ(ata_check_sanitize(identify, ATA_SANITIZE_BLOCK, &err), -EOPNOTSUPP);
	identify[59] = 0x1000 | 0x8000;
	CHECK_EQ(ata_check_sanitize(identify, ATA_SANITIZE_BLOCK, &err), 0);
	CHECK_EQ(ata_check_sanitize(identify, ATA_SANITIZE_CRYPTO, &err), -EOPNOTSUPP);
	identify[59] = 0x1000 | 0x2000;
	CHECK_EQ(ata_check_sanitize(identify, ATA_SANITIZE_CRYPTO, &err), 0);

	identify[89] = 30;
	identify[90] = 0x8000 | 400;
	CHECK_EQ(ata_erase_s(identify, false), 3600);
	CHECK_EQ(ata_erase_s(identify, true), 48000);
}

static void an_ata_sanitize_status_is_read(void)
{
	uint8_t sense[64] = { 0x72, 1, 0, 0x1d, 0, 0, 0, 14, 0x09, 0x0c };
	double done = -1;

	sense[12] = 0x40;		/* under way; LBA 15:8 and 7:0 = 4000h of 10000h */
	sense[17] = 0x40;
	CHECK_EQ(ata_sanitize_state(sense, 22, &done), 1);
	CHECK_NEAR(done, 0.25, 1e-9);
	sense[12] = 0x80;
	CHECK_EQ(ata_sanitize_state(sense, 22, &done), 0);
	sense[12] = 0;
	CHECK_EQ(ata_sanitize_state(sense, 22, &done), -EIO);
	CHECK_EQ(ata_sanitize_state(sense, 8, &done), -EPROTO);
	sense[0] = 0x70;
	CHECK_EQ(ata_sanitize_state(sense, 22, &done), -EPROTO);
}

static void a_refusal_is_seen_in_either_format_of_sense_data(void)
{
	static const struct {
		uint8_t sense[8];
		size_t sense_bytes;
		int want;
	} cases[] = {
		{ { 0x70, 0, 0x05, 0, 0, 0, 0, 10 }, 8, SENSE_ILLEGAL_REQUEST },
		{ { 0xf0, 0, 0x23 }, 8, 3 },	/* bit 7 and the upper half are of no matter */
		{ { 0x71, 0, 0x01 }, 8, SENSE_RECOVERED },
		{ { 0x72, 0x05 }, 8, SENSE_ILLEGAL_REQUEST },
		{ { 0x73, 0x01, 0x05 }, 8, SENSE_RECOVERED },
		{ { 0x70, 0x05 }, 2, -1 },	/* cut off before its key */
		{ { 0x72 }, 1, -1 },
		{ { 0x7f, 0x01, 0x01 }, 8, -1 },
		{ { 0x72, 0x01 }, 0, -1 },
	};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
		CHECK_EQ(scsi_sense_key(cases[i].sense, cases[i].sense_bytes), cases[i].want);
}

static void what_drives_count_themselves_is_read(void)
{
	uint8_t page[512] = { 0 }, cdb[16];
	struct nvme_admin_cmd command;
	uint64_t bytes = 7;

	nvme_smart_log(&command, page);
	CHECK_EQ(command.opcode, 0x02);
	CHECK_EQ(command.cdw10, 0x007f0002);
	page[48] = 0x10;
	page[49] = 0x27;		/* 10,000 units of 512,000 bytes */
	CHECK_EQ(nvme_smart_written_bytes(page), 5120000000);

	ata_statistics(cdb);
	check_bytes(cdb, (const uint8_t[]){ 0x85, 0x09, 0x0e, 0, 0, 0, 1, 0, 4, 0, 1, 0, 0, 0x40, 0x2f, 0 },
		    16);
	memset(page, 0, sizeof(page));
	page[2] = 1;
	page[24] = 200;
	CHECK(!ata_statistics_written_bytes(page, 512, &bytes));
	CHECK_EQ(bytes, 7);
	page[31] = 0xc0;
	CHECK(ata_statistics_written_bytes(page, 512, &bytes));
	CHECK_EQ(bytes, 102400);
	page[2] = 0;
	CHECK(!ata_statistics_written_bytes(page, 512, &bytes));
}

TESTS(TEST(what_drives_count_themselves_is_read), TEST(a_format_keeps_the_format_the_namespace_has),
      TEST(sanitize_and_its_log_are_as_specified),
      TEST(a_sanitize_log_is_read),
      TEST(what_an_nvme_drive_cannot_or_must_not_is_refused),
      TEST(ata_commands_are_as_specified),
      TEST(a_deallocate_is_as_specified), TEST(an_unmap_is_as_specified),
      TEST(an_ata_trim_is_as_specified),
      TEST(ata_identify_data_decides),
      TEST(an_ata_sanitize_status_is_read),
      TEST(a_refusal_is_seen_in_either_format_of_sense_data))
