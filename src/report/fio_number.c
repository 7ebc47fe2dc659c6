/* SPDX-License-Identifier: MIT */
#include "report/fio_number.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

#define DIGITS 4	/* of everything but latencies */

struct scaled {
	double value;
	uint32_t prefix;	/* into the list of prefixes */
	int decimals;
};

static int digit_count(double value)
{
	int count = 1;

	while (value >= 10) {
		value /= 10;
		count++;
	}
	return count;
}

static struct scaled scale(double value, uint32_t base, uint32_t digits)
{
	struct scaled ret = { .value = value };
	int room;

	assert(base == 1000 || base == 1024);
	while (ret.prefix < 6 && digit_count(round(ret.value)) > (int)digits) {
		ret.value /= base;
		ret.prefix++;
	}
	room = (int)digits - digit_count(ret.value) - 1;
	if (ret.prefix > 0 && room > 0)
		ret.decimals = room;
	return ret;
}

char *fio_count(double value, uint32_t digits, char *buffer)
{
	static const char *const prefixes[] = { "", "k", "M", "G", "T", "P", "E" };
	const struct scaled s = scale(value, 1000, digits);

	snprintf(buffer, FIO_NUMBER_BYTES, "%.*f%s", s.decimals, s.value, prefixes[s.prefix]);
	return buffer;
}

static char *with_unit(double value, uint32_t base, const char *unit, char *buffer)
{
	static const char *const si[] = { "", "k", "M", "G", "T", "P", "E" };
	static const char *const iec[] = { "", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei" };
	const struct scaled s = scale(value, base, DIGITS);

	snprintf(buffer, FIO_NUMBER_BYTES, "%.*f%s%s", s.decimals, s.value,
		 (base == 1000 ? si : iec)[s.prefix], unit);
	return buffer;
}

char *fio_bytes(double bytes, uint32_t base, char *buffer)
{
	return with_unit(bytes, base, "B", buffer);
}

char *fio_rate(double bytes_per_s, uint32_t base, bool bits, char *buffer)
{
	return with_unit(bits ? bytes_per_s * 8 : bytes_per_s, base, bits ? "bit/s" : "B/s",
			 buffer);
}
