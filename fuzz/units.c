/* SPDX-License-Identifier: MIT */
/* What is parsed and printed exactly is parsed as the same number again. */
#include <string.h>

#include "base/units.h"
#include "fuzz.h"

#define TEXT_BYTES 64

static void bytes(const char *text)
{
	char printed[UNITS_TEXT_BYTES];
	uint64_t value, again = 1;

	if (units_parse_bytes(text, &value, NULL) < 0)
		return;
	EXPECT(units_parse_bytes(units_format_bytes(value, printed), &again, NULL) == 0);
	EXPECT(again == value);
	units_format_size((double)value, printed);
	units_format_rate_bytes((double)value, printed);
}

static void times(const char *text)
{
	char printed[UNITS_TEXT_BYTES];
	uint64_t value, again = 1;

	if (units_parse_time_ns(text, &value, NULL) < 0)
		return;
	EXPECT(units_parse_time_ns(units_format_time_ns(value, printed), &again, NULL) == 0);
	EXPECT(again == value);
	units_format_latency((double)value, printed);
}

static void counts(const char *text)
{
	char printed[UNITS_TEXT_BYTES];
	uint64_t value, again = 1;

	if (units_parse_count(text, &value, NULL) < 0)
		return;
	EXPECT(units_parse_count(units_format_count(value, printed), &again, NULL) == 0);
	EXPECT(again == value);
	units_format_rate((double)value, printed);
}

static void shares(const char *text)
{
	char printed[UNITS_TEXT_BYTES];
	uint32_t value, again = 1;

	if (units_parse_ppm(text, &value, NULL) < 0)
		return;
	EXPECT(value <= PPM);
	EXPECT(units_parse_ppm(units_format_ppm(value, printed), &again, NULL) == 0);
	EXPECT(again == value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char text[TEXT_BYTES];

	if (size >= sizeof(text))
		return -1;
	memcpy(text, data, size);
	text[size] = '\0';
	bytes(text);
	times(text);
	counts(text);
	shares(text);
	return 0;
}
