/* SPDX-License-Identifier: MIT */
#include "model/utf8.h"

#include "base/defer.h"

static const struct {
	uint8_t mask, lead;
	uint32_t least;		/* below it the form is overlong */
} forms[] = {
	{ 0x80, 0x00, 0 },
	{ 0xe0, 0xc0, 0x80 },
	{ 0xf0, 0xe0, 0x800 },
	{ 0xf8, 0xf0, 0x10000 },
};

size_t utf8_decode(const char *text, uint32_t *ret_code)
{
	const uint8_t *bytes = (const uint8_t *)text;

	for (size_t n = 0; n < ARRAY_COUNT(forms); n++) {
		uint32_t code = bytes[0] & (uint8_t)~forms[n].mask;

		if ((bytes[0] & forms[n].mask) != forms[n].lead)
			continue;
		for (size_t i = 1; i <= n; i++) {
			if ((bytes[i] & 0xc0) != 0x80)
				return 0;
			code = code << 6 | (bytes[i] & 0x3f);
		}
		if (code < forms[n].least || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
			return 0;
		*ret_code = code;
		return n + 1;
	}
	return 0;
}

bool utf8_is_valid(const char *text)
{
	uint32_t code;
	size_t bytes;

	for (; *text; text += bytes) {
		bytes = utf8_decode(text, &code);
		if (!bytes)
			return false;
	}
	return true;
}
