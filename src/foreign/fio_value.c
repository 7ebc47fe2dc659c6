/* SPDX-License-Identifier: MIT */
#include "foreign/fio_value.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/defer.h"
#include "base/units.h"

static const char byte_units[] = "b, k, m, g, t, p, each also as in kb, ki, kib";
static const char time_units[] = "us, ms, s, m, h, d";

static uint64_t power(uint64_t base, uint32_t exponent)
{
	uint64_t value = 1;

	while (exponent--)
		value *= base;
	return value;
}

/* What stands behind the digits; 0 = no such unit. */
static uint64_t byte_factor(const char *unit, uint32_t kb_base, bool *ret_binary)
{
	static const char letters[] = "kmgtp";
	const uint32_t other = kb_base == 1000 ? 1024 : 1000;
	const char *letter = strchr(letters, tolower((unsigned char)*unit));

	*ret_binary = false;
	if (!*unit || strcasecmp(unit, "b") == 0)
		return 1;
	if (!letter)
		return 0;
	if (!unit[1] || strcasecmp(unit + 1, "b") == 0 || strcasecmp(unit + 1, "i") == 0)
		return power(kb_base, (uint32_t)(letter - letters) + 1);
	if (strcasecmp(unit + 1, "ib") != 0)
		return 0;
	*ret_binary = true;
	return power(other, (uint32_t)(letter - letters) + 1);
}

static int too_large(const char *text, struct err *err)
{
	return err_set(err, -ERANGE, "'%.64s' is too large", text);
}

/* Digits, decimal or behind 0x; *end is what follows them. */
static int parse_digits(const char *text, uint64_t *ret, const char **end, struct err *err)
{
	const bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	char *stop;

	if (!isdigit((unsigned char)text[0]) || (hex && !isxdigit((unsigned char)text[2])))
		return err_set(err, -EINVAL, "'%.64s' is not a number", text);
	errno = 0;
	*ret = strtoull(text, &stop, hex ? 16 : 10);
	*end = stop;
	return errno ? too_large(text, err) : 0;
}

int fio_parse_bytes(const char *text, uint32_t kb_base, uint64_t *ret, bool *ret_odd,
		    struct err *err)
{
	const char *unit;
	uint64_t number, factor;
	bool binary;
	int r;

	if (ret_odd)
		*ret_odd = false;
	if (*text == '(')
		return fio_evaluate(text, kb_base, ret, err);
	r = parse_digits(text, &number, &unit, err);
	if (r < 0)
		return r;
	if (*unit == '.')
		return err_set(err, -EINVAL,
			       "'%.64s': fio reads no decimals, only what is before the "
			       "point; write a smaller unit",
			       text);
	factor = byte_factor(unit, kb_base, &binary);
	if (!factor)
		return err_set(err, -EINVAL, "'%.64s': no unit '%.32s'; there are %s", text, unit,
			       byte_units);
	if (number > INT64_MAX / factor)
		return too_large(text, err);
	*ret = number * factor;
	if (ret_odd)
		*ret_odd = binary && *ret % 512;
	return 0;
}

int fio_parse_amount(const char *text, uint32_t kb_base, struct fio_amount *ret, struct err *err)
{
	const size_t length = strlen(text);
	const char last = length ? text[length - 1] : '\0';
	struct fio_amount amount = { .set = true };
	const char *end;
	uint64_t number;
	int r;

	if (last != '%' && last != 'z' && last != 'Z') {
		r = fio_parse_bytes(text, kb_base, &amount.bytes, NULL, err);
		if (r == 0)
			*ret = amount;
		return r;
	}
	r = parse_digits(text, &number, &end, err);
	if (r < 0)
		return r;
	if (end != text + length - 1)
		return err_set(err, -EINVAL, "'%.64s': only a whole number goes before '%c'", text,
			       last);
	if (last == '%' && number > 100)
		return err_set(err, -ERANGE, "'%.64s' is more than 100%%", text);
	if (number > UINT32_MAX)
		return too_large(text, err);
	if (last == '%')
		amount.percent = (uint32_t)number;
	else
		amount.zones = number;
	*ret = amount;
	return 0;
}

static const struct {
	const char *name;
	uint64_t ns;
} times[] = {
	{ "us", MICROSECOND_NS },   { "usec", MICROSECOND_NS }, { "ms", MILLISECOND_NS },
	{ "msec", MILLISECOND_NS }, { "s", SECOND_NS },		{ "m", 60 * SECOND_NS },
	{ "h", 3600 * SECOND_NS },  { "d", 86400 * SECOND_NS },
};

int fio_parse_time_ns(const char *text, uint64_t bare_ns, uint64_t *ret, struct err *err)
{
	uint64_t number, factor = 0;
	const char *unit;
	int r;

	/* Inside parentheses fio counts in microseconds. */
	if (*text == '(') {
		r = fio_evaluate(text, 1000, &number, err);
		unit = "us";
	} else {
		r = parse_digits(text, &number, &unit, err);
	}
	if (r < 0)
		return r;
	if (!*unit)
		factor = bare_ns;
	for (size_t i = 0; !factor && i < ARRAY_COUNT(times); i++)
		if (strcasecmp(times[i].name, unit) == 0)
			factor = times[i].ns;
	if (!factor)
		return err_set(
			err, -EINVAL,
			"'%.64s': no unit '%.32s' (fio takes it for microseconds); there are %s",
			text, unit, time_units);
	if (number > INT64_MAX / factor)
		return too_large(text, err);
	*ret = number * factor;
	return 0;
}

int fio_parse_real(const char *text, double *ret, struct err *err)
{
	char *end;
	double value;

	if (!isdigit((unsigned char)*text) && *text != '.')
		return err_set(err, -EINVAL, "'%.64s' is not a number", text);
	if (strspn(text, "0123456789.") != strlen(text))
		return err_set(err, -EINVAL, "'%.64s' is not a plain number", text);
	value = strtod(text, &end);
	if (*end || end == text || !isfinite(value))
		return err_set(err, -EINVAL, "'%.64s' is not a number", text);
	*ret = value;
	return 0;
}

int fio_parse_bool(const char *text, bool *ret, struct err *err)
{
	if (strcmp(text, "0") != 0 && strcmp(text, "1") != 0)
		return err_set(err, -EINVAL, "'%.64s' is neither 0 nor 1", text);
	*ret = *text == '1';
	return 0;
}

#define DEPTH_MAX 32

struct evaluation {
	const char *at;
	uint32_t kb_base;
	uint32_t depth;
	struct err *err;
};

static int evaluate_sum(struct evaluation *e, double *ret);

static void skip_blanks(struct evaluation *e)
{
	while (*e->at == ' ' || *e->at == '\t')
		e->at++;
}

static int evaluate_number(struct evaluation *e, double *ret)
{
	char unit[5] = "";
	uint64_t number, factor;
	const char *end;
	bool binary;
	size_t length = 0;
	int r = parse_digits(e->at, &number, &end, e->err);

	if (r < 0)
		return r;
	for (; length < sizeof(unit) - 1 && isalpha((unsigned char)end[length]); length++)
		unit[length] = end[length];
	factor = byte_factor(unit, e->kb_base, &binary);
	if (!factor)
		return err_set(e->err, -EINVAL, "no unit '%s'; there are %s", unit, byte_units);
	e->at = end + length;
	*ret = (double)number * (double)factor;
	return 0;
}

static int evaluate_atom(struct evaluation *e, double *ret)
{
	int r;

	skip_blanks(e);
	if (*e->at == '-') {
		if (++e->depth > DEPTH_MAX)
			return err_set(e->err, -EINVAL, "more than %d signs and parentheses",
				       DEPTH_MAX);
		e->at++;
		r = evaluate_atom(e, ret);
		*ret = -*ret;
		return r;
	}
	if (*e->at != '(')
		return evaluate_number(e, ret);
	if (++e->depth > DEPTH_MAX)
		return err_set(e->err, -EINVAL, "more than %d signs and parentheses", DEPTH_MAX);
	e->at++;
	r = evaluate_sum(e, ret);
	skip_blanks(e);
	if (r == 0 && *e->at != ')')
		return err_set(e->err, -EINVAL, "a ')' is missing");
	if (r == 0)
		e->at++;
	return r;
}

static int evaluate_power(struct evaluation *e, double *ret)
{
	double exponent;
	int r = evaluate_atom(e, ret);

	skip_blanks(e);
	if (r < 0 || *e->at != '^')
		return r;
	e->at++;
	r = evaluate_atom(e, &exponent);
	if (r == 0)
		*ret = pow(*ret, exponent);
	return r;
}

static int evaluate_product(struct evaluation *e, double *ret)
{
	int r = evaluate_power(e, ret);

	for (;;) {
		double right = 0;
		char sign;

		skip_blanks(e);
		sign = *e->at;
		if (r < 0 || !sign || !strchr("*/%", sign))
			return r;
		e->at++;
		r = evaluate_power(e, &right);
		if (r == 0 && sign != '*' && right == 0)
			return err_set(e->err, -EINVAL, "a division by zero");
		if (sign == '*')
			*ret *= right;
		else if (r == 0)
			*ret = sign == '/' ? trunc(*ret / right) : fmod(*ret, right);
	}
}

static int evaluate_sum(struct evaluation *e, double *ret)
{
	int r = evaluate_product(e, ret);

	for (;;) {
		double right = 0;
		char sign;

		skip_blanks(e);
		sign = *e->at;
		if (r < 0 || (sign != '+' && sign != '-'))
			return r;
		e->at++;
		r = evaluate_product(e, &right);
		*ret += sign == '+' ? right : -right;
	}
}

int fio_evaluate(const char *text, uint32_t kb_base, uint64_t *ret, struct err *err)
{
	struct evaluation e = { .at = text, .kb_base = kb_base, .err = err };
	double value = 0;
	int r = evaluate_sum(&e, &value);

	skip_blanks(&e);
	if (r == 0 && *e.at)
		r = err_set(err, -EINVAL, "'%.32s' is not expected here", e.at);
	if (r < 0) {
		err_wrap(err, "'%.64s'", text);
		return r;
	}
	/* Whole numbers are exact in a double up to 2^53, 8 PiB. */
	if (!(value >= 0 && value <= 0x1p53))
		return err_set(err, -ERANGE, "'%.64s' is not from 0 to 8p", text);
	*ret = (uint64_t)value;
	return 0;
}

uint32_t fio_split_directions(char *copy, const char *parts[FIO_DIRECTIONS])
{
	uint32_t count = 0;
	char *rest = copy, *part;

	while ((part = strsep(&rest, ","))) {
		if (count == FIO_DIRECTIONS)
			return 0;
		parts[count++] = part;
	}
	return count;
}
