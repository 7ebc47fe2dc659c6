/* SPDX-License-Identifier: MIT */
#include "base/check.h"
#include "trim/fixture_trim.h"
#include "trim/walk.h"
#include "trim/walk_parts.h"

static struct trim_report report;

/* --- translation -------------------------------------------------------------------------- */

static void clear(void)
{
	memset(&report, 0, sizeof(report));
}

static uint32_t layer(const char *name, uint32_t parent)
{
	struct trim_layer *ret = &report.layers[report.layer_count];

	snprintf(ret->name, sizeof(ret->name), "%s", name);
	ret->parent = parent;
	ret->is_block = true;
	return report.layer_count++;
}

static struct trim_segment *segment(uint32_t of, enum trim_map how)
{
	struct trim_segment *ret = &report.segments[report.segment_count++];

	ret->layer = of;
	ret->how = how;
	ret->length_bytes = UINT64_MAX;
	return ret;
}

static void leg(struct trim_segment *of, uint32_t to, uint64_t start_bytes)
{
	of->legs[of->leg_count].layer = to;
	of->legs[of->leg_count++].start_bytes = start_bytes;
}

static struct trim_pieces pieces;

static int translate(uint64_t offset_bytes, uint64_t length_bytes)
{
	const struct trim_span span = { .layer = 0, .offset_bytes = offset_bytes,
					.length_bytes = length_bytes };

	return trim_translate(&report, &span, &pieces, NULL);
}

static void check_piece(uint32_t index, const struct trim_piece *want)
{
	CHECK(index < pieces.count);
	CHECK_EQ(pieces.list[index].layer, want->layer);
	CHECK_EQ(pieces.list[index].offset_bytes, want->offset_bytes);
	CHECK_EQ(pieces.list[index].length_bytes, want->length_bytes);
	CHECK_EQ(pieces.list[index].at_bytes, want->at_bytes);
}

/* crypt payload 16 MiB in a partition at 1 MiB: 17 MiB are added. */
static void offsets_add_up(void)
{
	uint32_t crypt, partition, disk;

	clear();
	crypt = layer("dm-0", TRIM_TOP);
	partition = layer("sda1", crypt);
	disk = layer("sda", partition);
	leg(segment(crypt, MAP_LINEAR), partition, 16u << 20);
	leg(segment(partition, MAP_LINEAR), disk, 1u << 20);
	CHECK_EQ(translate(4096, 8192), 0);
	CHECK_EQ(pieces.count, 1);
	check_piece(0, &(struct trim_piece){ disk, (17u << 20) + 4096, 8192, 0 });
}

/* Chunks of 64 KiB on two legs: 96 KiB from byte 32 KiB on lie on both, 32 and 64. */
static void stripes_are_dealt_out(void)
{
	struct trim_segment *stripes;
	uint32_t raid, a, b;

	clear();
	raid = layer("md0", TRIM_TOP);
	a = layer("sda", raid);
	b = layer("sdb", raid);
	stripes = segment(raid, MAP_STRIPED);
	stripes->chunk_bytes = 65536;
	leg(stripes, a, 1000 * 512);
	leg(stripes, b, 0);
	CHECK_EQ(translate(32768, 98304), 0);
	CHECK_EQ(pieces.count, 2);
	check_piece(0, &(struct trim_piece){ a, 1000 * 512 + 32768, 32768, 0 });
	check_piece(1, &(struct trim_piece){ b, 0, 65536, 32768 });

	/* Byte 192 KiB is chunk 3, the second of leg b; chunk 4 the third of leg a. */
	CHECK_EQ(translate(3 * 65536, 2 * 65536), 0);
	check_piece(0, &(struct trim_piece){ b, 65536, 65536, 0 });
	check_piece(1, &(struct trim_piece){ a, 1000 * 512 + 2 * 65536, 65536, 65536 });
}

static void a_mirror_gives_each_leg_the_same(void)
{
	struct trim_segment *mirror;
	uint32_t raid, a, b;

	clear();
	raid = layer("md0", TRIM_TOP);
	a = layer("sda", raid);
	b = layer("sdb", raid);
	mirror = segment(raid, MAP_MIRRORED);
	leg(mirror, a, 512);
	leg(mirror, b, 1024);
	CHECK_EQ(translate(4096, 4096), 0);
	CHECK_EQ(pieces.count, 2);
	check_piece(0, &(struct trim_piece){ a, 4608, 4096, 0 });
	check_piece(1, &(struct trim_piece){ b, 5120, 4096, 0 });
}

static void a_range_over_two_segments_is_cut(void)
{
	struct trim_segment *first, *second;
	uint32_t volume, a, b;

	clear();
	volume = layer("dm-0", TRIM_TOP);
	a = layer("sda", volume);
	b = layer("sdb", volume);
	first = segment(volume, MAP_LINEAR);
	first->length_bytes = 1u << 20;
	leg(first, a, 4096);
	second = segment(volume, MAP_LINEAR);
	second->start_bytes = 1u << 20;
	second->length_bytes = 1u << 20;
	leg(second, b, 8192);
	CHECK_EQ(translate((1u << 20) - 4096, 8192), 0);
	CHECK_EQ(pieces.count, 2);
	check_piece(0, &(struct trim_piece){ a, 1u << 20, 4096, 0 });
	check_piece(1, &(struct trim_piece){ b, 8192, 4096, 4096 });
	CHECK_EQ(translate((2u << 20) - 4096, 8192), -ERANGE);
}

static void what_moves_blocks_about_says_so(void)
{
	struct err err = { 0 };
	uint32_t thin, pool;

	clear();
	thin = layer("dm-5", TRIM_TOP);
	pool = layer("dm-4", thin);
	snprintf(report.layers[thin].kind, sizeof(report.layers[thin].kind), "thin");
	leg(segment(thin, MAP_UNKNOWN), pool, 0);
	CHECK_EQ(trim_translate(&report, &(struct trim_span){ 0, 0, 4096 }, &pieces, &err),
		 -EOPNOTSUPP);
	CHECK_STR(err.text, "dm-5 (thin) moves blocks about: where they lie below it is not known");
}

/* 257 chunks of 4 KiB over two legs lie in 257 pieces. */
static void more_pieces_than_fit_are_an_error(void)
{
	struct trim_segment *stripes;
	uint32_t raid, a, b;

	clear();
	raid = layer("md0", TRIM_TOP);
	a = layer("sda", raid);
	b = layer("sdb", raid);
	stripes = segment(raid, MAP_STRIPED);
	stripes->chunk_bytes = 4096;
	leg(stripes, a, 0);
	leg(stripes, b, 0);
	CHECK_EQ(translate(0, 256 * 4096), 0);
	CHECK_EQ(pieces.count, 256);
	CHECK_EQ(translate(0, 257 * 4096), -E2BIG);
}

/* --- what the walk makes of a machine ------------------------------------------------------ */

static void machine(const char *name)
{
	const char *source = getenv("TARE_SOURCE_ROOT");
	struct machine found;
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/tests/fixtures/trim/%s.txt", source ? source : ".", name);
	machine_unpack(path, &found);
	CHECK_EQ(trim_walk(fixture_root, found.spec, &report, NULL), 0);
	machine_done();
}

/* Table "crypt ... 8:2 32768": 16 MiB; sda2 starts at sector 32768: 16 MiB more. */
static void a_file_system_is_followed_to_the_disk(void)
{
	machine("t01-usb-luks");
	CHECK_EQ(report.layer_count, 4);
	CHECK_STR(report.layers[0].kind, "ext4");
	CHECK_STR(report.layers[1].kind, "crypt");
	CHECK_STR(report.layers[1].detail, "ssd");
	CHECK_STR(report.layers[2].kind, "partition");
	CHECK_STR(report.layers[3].kind, "usb");
	CHECK_EQ(report.layers[1].start_bytes, 16u << 20);
	CHECK_EQ(report.layers[2].start_bytes, 16u << 20);
	CHECK_STR(report.device, "sda");
	CHECK_EQ(trim_top_block(&report), 1);
	CHECK_EQ(translate(0, 4096), 0);
	check_piece(0, &(struct trim_piece){ 3, 32u << 20, 4096, 0 });
}

static void a_pool_keeps_only_its_data_below(void)
{
	machine("t15-thin-no-passdown");
	CHECK_EQ(report.layer_count, 4);
	CHECK_STR(report.layers[0].kind, "thin");
	CHECK_STR(report.layers[1].kind, "thin-pool");
	CHECK_STR(report.layers[2].name, "dm-3");
	CHECK_STR(report.layers[3].name, "sda");
	/* Below the volume nothing is known of where a byte lies. */
	CHECK_STR(report.device, "dm-5");
}

static void two_legs_of_a_raid_are_two_layers(void)
{
	machine("t05-raid1-stale");
	CHECK_EQ(report.layer_count, 4);
	CHECK_EQ(report.layers[2].parent, 1);
	CHECK_EQ(report.layers[3].parent, 1);
	CHECK_EQ(report.segment_count, 2);
	CHECK_EQ(report.segments[0].layer, 1);
	CHECK_EQ(report.segments[0].how, MAP_MIRRORED);
}

static void what_is_not_there_is_an_error(void)
{
	struct err err = { 0 };
	char path[64];

	machine("cifs");
	snprintf(path, sizeof(path), "/tmp/tare-no-such-%d", getpid());
	CHECK_EQ(trim_walk("", path, &report, &err), -ENOENT);
	CHECK(strstr(err.text, path));
	CHECK_EQ(trim_walk("", "/dev/null", &report, &err), -EINVAL);
}

/* --- pages -------------------------------------------------------------------------------- */

static void identify_words_are_little_endian(void)
{
	struct walk_page page = { .count = 512 };
	struct walk_ata ata;

	page.bytes[2 * 69] = 0x20;
	page.bytes[2 * 69 + 1] = 0x40;
	page.bytes[2 * 169] = 1;
	page.bytes[2 * 217] = 1;
	CHECK(walk_parse_ata(&page, &ata));
	CHECK(ata.trim && ata.drat && ata.rzat && ata.solid);
	page.bytes[2 * 169] = 0;	/* promises about a command that is not there are none */
	CHECK(walk_parse_ata(&page, &ata));
	CHECK(!ata.trim && !ata.drat && !ata.rzat);
	page.bytes[1] = 0x80;		/* a packet device */
	CHECK(!walk_parse_ata(&page, &ata));
	page.bytes[1] = 0;
	page.count = 511;
	CHECK(!walk_parse_ata(&page, &ata));
}

static void scsi_pages_are_big_endian(void)
{
	struct walk_page b0 = { .bytes = { [1] = 0xb0, [20] = 0x00, [21] = 0x3f, [22] = 0xff,
					   [23] = 0xc0, [31] = 8 },
				.count = 64 };
	struct walk_page b2 = { .bytes = { [1] = 0xb2, [5] = 0xa4 }, .count = 8 };
	struct walk_vpd vpd = { 0 };

	CHECK(walk_parse_vpd_b0(&b0, &vpd));
	CHECK_EQ(vpd.unmap_blocks_max, 4194240);
	CHECK_EQ(vpd.granularity_blocks, 8);
	CHECK(walk_parse_vpd_b2(&b2, &vpd));
	CHECK(vpd.lbpu && !vpd.lbpws && vpd.lbpws10 && vpd.lbprz);
	CHECK(!walk_parse_vpd_b0(&b2, &vpd));
	CHECK(!walk_parse_vpd_b2(&b0, &vpd));
	b2.count = 7;
	CHECK(!walk_parse_vpd_b2(&b2, &vpd));
}

static void nvme_granularity_counts_from_zero_and_only_where_it_says_so(void)
{
	static struct walk_page page = { .count = 4096 };
	struct walk_nvme_facts facts = { 0 };

	page.bytes[33] = 0x09;		/* bits 2:0: zeros; bit 3 is about another command */
	page.bytes[68] = 0xff;
	CHECK(walk_parse_nvme_ns(&page, &facts));
	CHECK_EQ(facts.after, 1);
	CHECK_EQ(facts.granularity_blocks, 0);
	page.bytes[24] = 0x10;
	CHECK(walk_parse_nvme_ns(&page, &facts));
	CHECK_EQ(facts.granularity_blocks, 256);
	page.bytes[520] = 4;
	CHECK(walk_parse_nvme_ctrl(&page, &facts));
	CHECK(facts.deallocates);
}

TESTS(TEST(offsets_add_up), TEST(stripes_are_dealt_out), TEST(a_mirror_gives_each_leg_the_same),
      TEST(a_range_over_two_segments_is_cut), TEST(what_moves_blocks_about_says_so),
      TEST(more_pieces_than_fit_are_an_error), TEST(a_file_system_is_followed_to_the_disk),
      TEST(a_pool_keeps_only_its_data_below), TEST(two_legs_of_a_raid_are_two_layers),
      TEST(what_is_not_there_is_an_error), TEST(identify_words_are_little_endian),
      TEST(scsi_pages_are_big_endian),
      TEST(nvme_granularity_counts_from_zero_and_only_where_it_says_so))
