/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <jansson.h>

#include "base/check.h"
#include "base/units.h"
#include "cli/devices.h"
#include "cli/doctor.h"

static const struct report_style style = { .utf8 = true, .columns = 80 };

static void fill(struct target_device devices[2])
{
	memset(devices, 0, 2 * sizeof(devices[0]));
	snprintf(devices[0].info.path, sizeof(devices[0].info.path), "/dev/nvme0n1");
	snprintf(devices[0].info.model, sizeof(devices[0].info.model), "Example SSD 2TB");
	snprintf(devices[0].info.transport, sizeof(devices[0].info.transport), "nvme");
	snprintf(devices[0].use, sizeof(devices[0].use),
		 "nvme0n1p2 is mounted at /; nvme0n1p3 is swap");
	devices[0].info.size_bytes = 2 * TIB;
	snprintf(devices[1].info.path, sizeof(devices[1].info.path), "/dev/sda");
	snprintf(devices[1].info.model, sizeof(devices[1].info.model), "\033]0;evil\007");
	devices[1].info.size_bytes = 4 * GIB;
	devices[1].info.rotational = true;
	devices[1].info.removable = true;
	devices[1].info.layer_count = 1;
	snprintf(devices[1].info.layers[0].kind, sizeof(devices[1].info.layers[0].kind), "disk");
}

static void devices_stand_in_columns(void)
{
	struct target_device devices[2];
	struct text text = TEXT_INIT;

	fill(devices);
	devices_text(devices, 2, &style, &text);
	CHECK_STR(text_string(&text),
		  "  device            size  kind                       model            in use\n"
		  "  /dev/nvme0n1  2.00 TiB  nvme                       Example SSD 2TB  nvme0n1p2\n"
		  "                                                                      is mounted\n"
		  "                                                                      at /;\n"
		  "                                                                      nvme0n1p3\n"
		  "                                                                      is swap\n"
		  "  /dev/sda      4.00 GiB  disk, rotating, removable  ?]0;evil?        –\n");
	text_done(&text);
}

static void plain_devices_are_one_fact_a_line(void)
{
	struct report_style plain = style;
	struct target_device devices[2];
	struct text text = TEXT_INIT;

	plain.plain = true;
	fill(devices);
	devices_text(devices, 1, &plain, &text);
	CHECK_STR(text_string(&text), "/dev/nvme0n1 size: 2.00 TiB\n"
				      "/dev/nvme0n1 kind: nvme\n"
				      "/dev/nvme0n1 model: Example SSD 2TB\n"
				      "/dev/nvme0n1 in use: nvme0n1p2 is mounted at /; nvme0n1p3 is swap\n");
	text_done(&text);
	devices_text(NULL, 0, &plain, &text);
	CHECK_STR(text_string(&text), "no block devices to be seen here\n");
	text_done(&text);
}

static void devices_are_a_document(void)
{
	struct target_device devices[2];
	struct text text = TEXT_INIT;
	json_t *doc, *list;

	fill(devices);
	devices_json(devices, 2, &text);
	doc = json_loads(text_string(&text), 0, NULL);
	list = json_object_get(doc, "devices");
	CHECK_STR(json_string_value(json_object_get(doc, "schema")), "tare.devices/1");
	CHECK_EQ(json_array_size(list), 2);
	CHECK_STR(json_string_value(json_object_get(json_array_get(list, 1), "path")), "/dev/sda");
	CHECK(json_is_null(json_object_get(json_array_get(list, 1), "use")));
	json_decref(doc);
	text_done(&text);
}

static void a_doctor_tells_what_is_missing_and_what_helps(void)
{
	static struct doctor doctor;
	struct text text = TEXT_INIT;
	json_t *doc;

	doctor.row_count = 2;
	doctor.rows[0] = (struct doctor_row){ "io_uring", true, "available", "" };
	doctor.rows[1] = (struct doctor_row){ "clock", false, "slow", "buy another" };
	snprintf(doctor.machine.cpu_model, sizeof(doctor.machine.cpu_model), "Example");
	snprintf(doctor.machine.kernel, sizeof(doctor.machine.kernel), "6.1");
	doctor.machine.cpu_count = 4;
	doctor.machine.memory_bytes = GIB;
	err_set(&doctor.ceiling_error, -ENOMEM, "no memory");
	doctor_text(&doctor, &style, &text);
	CHECK_STR(text_string(&text), "Example × 4 · 1.00 GiB of memory · Linux 6.1\n\n"
				      "  ✓ io_uring       available\n"
				      "  ! clock          slow\n"
				      "                   → buy another\n"
				      "\nthe instrument itself, one worker\n"
				      "  not measured: no memory\n");
	text_done(&text);
	doctor.have_ceiling = true;
	doctor.ceiling = (struct ceiling){ .null_iops_q1 = 1e6, .null_iops_q32 = 2e6, .clock_ns = 8,
					   .fill_ns_per_4k = 4096, .check_ns_per_4k = 409.6,
					   .memcpy_ns_per_4k = 40.96 };
	doctor_text(&doctor, &(struct report_style){ .plain = true, .columns = 20 }, &text);
	CHECK(strstr(text_string(&text), "clock: no: slow; buy another\n") != NULL);
	CHECK(strstr(text_string(&text), "\nnull target, depth 32: 2.00 M/s\n") != NULL);
	CHECK(strstr(text_string(&text),
		     "\nfresh data for a write: 4.10 us per 4 KiB, 1.00 GB/s\n") != NULL);
	text_done(&text);
	doctor_json(&doctor, &text);
	doc = json_loads(text_string(&text), 0, NULL);
	CHECK_NEAR(json_number_value(json_object_get(json_object_get(doc, "ceiling"),
						     "check_bytes_per_s")), 1e10, 1);
	CHECK(json_is_false(json_object_get(json_array_get(json_object_get(doc, "checks"), 1),
					    "good")));
	json_decref(doc);
	text_done(&text);
}

TESTS(TEST(devices_stand_in_columns), TEST(plain_devices_are_one_fact_a_line),
      TEST(devices_are_a_document), TEST(a_doctor_tells_what_is_missing_and_what_helps))
