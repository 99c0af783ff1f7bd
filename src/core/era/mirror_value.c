/*
 * The values of mirrored headers. A value consists of 0x20 to 0x7E without
 * blanks around it, whatever the message says: other strings are wrapped, and
 * numbers and words have no other bytes. Numbers are read by their digits,
 * never as doubles.
 */
#include "config.h"

#include "core/era/mirror_value.h"

#include <inttypes.h>

#include "base/bounds.h"
#include "base/codec.h"
#include "core/wire/json.h"

#define WRAP_BEGIN "=?base64?"
#define WRAP_END "?="
#define SAFE_MAX ((UINT64_C(1) << 53) - 1)
#define SAFE_DIGITS 16 /* number of digits in SAFE_MAX */
/* More digits than a message can have. */
#define EXPONENT_MAX INT64_C(1000000000000)

/* Some HTTP stacks drop empty headers, and all drop the blanks around a
 * value. */
bool
mirror_is_plain(struct span s)
{
	return s.n > 0 && s.p[0] != ' ' && s.p[s.n - 1] != ' ' &&
	    span_is_printable(s, ' ');
}

/* Would a server take the string for a wrapped one? */
static bool
looks_wrapped(struct span s)
{
	static const struct span begin = { WRAP_BEGIN, sizeof WRAP_BEGIN - 1 };
	static const struct span end = { WRAP_END, sizeof WRAP_END - 1 };

	return s.n >= begin.n && memcmp(s.p, begin.p, begin.n) == 0 &&
	    memcmp(s.p + s.n - end.n, end.p, end.n) == 0;
}

/* Each write_ function appends a value for a header, or returns -1 if there is
 * none. */
static int
write_string(struct buf *out, struct span raw)
{
	struct buf text;
	int status;

	buf_init(&text, BOUND_HEADER_BYTES);
	status = json_string(raw, &text);
	if (status != 0) {
		buf_free(&text);
		return -1;
	}
	if (mirror_is_plain(buf_span(&text)) &&
	    !looks_wrapped(buf_span(&text))) {
		buf_addspan(out, buf_span(&text));
	} else {
		buf_adds(out, WRAP_BEGIN);
		codec_base64(out, buf_span(&text));
		buf_adds(out, WRAP_END);
	}
	buf_free(&text);
	return 0;
}

/* Reads the exponent of a number, from the byte after the e. */
static int64_t
read_exponent(const char *p, const char *end)
{
	bool minus = p < end && *p == '-';
	int64_t value = 0;

	if (p < end && (*p == '-' || *p == '+'))
		p++;
	for (; p < end; p++)
		if (value < EXPONENT_MAX)
			value = value * 10 + (*p - '0');
	return minus ? -value : value;
}

/* A JSON number as digits: those from the first to the last one that is not 0
 * (as far as they fit), how many these are, and how many digits there are
 * before the point, counted from the same first one. */
struct decimal {
	uint64_t digits;
	int64_t n, whole;
};

static struct decimal
read_decimal(struct span raw)
{
	const char *p = raw.p, *end = raw.p + raw.n;
	struct decimal d = { 0, 0, 0 };
	bool point = false;
	int64_t zeros = 0; /* zeros since the last other digit */

	for (; p < end && *p != 'e' && *p != 'E'; p++) {
		if (*p == '.')
			point = true;
		if (*p < '0' || *p > '9')
			continue;
		/* Leading zeros count only after the point. */
		if (*p != '0' || d.n != 0)
			d.whole += !point;
		else
			d.whole -= point;
		if (*p == '0') {
			zeros++;
			continue;
		}
		d.n += d.n == 0 ? 1 : zeros + 1;
		for (; zeros > 0 && d.n <= SAFE_DIGITS; zeros--)
			d.digits *= 10;
		zeros = 0;
		if (d.n <= SAFE_DIGITS)
			d.digits = d.digits * 10 + (uint64_t)(*p - '0');
	}
	if (p < end)
		d.whole += read_exponent(p + 1, end);
	return d;
}

/* Writes integers in decimal: 1.0 and 1e3 are integers too, and -0 is 0. An
 * integer that a double cannot tell from its neighbours has no value, nor has
 * any other number. */
static int
write_number(struct buf *out, struct span raw)
{
	struct decimal d = read_decimal(raw);

	if (d.n == 0)
		return buf_addc(out, '0');
	if (d.n > d.whole || d.whole > SAFE_DIGITS)
		return -1;
	for (; d.n < d.whole; d.n++)
		d.digits *= 10;
	if (d.digits > SAFE_MAX)
		return -1;
	return buf_addf(out, "%s%" PRIu64, raw.p[0] == '-' ? "-" : "",
	    d.digits);
}

static int
write_any(struct buf *out, struct span raw)
{
	switch (json_kind(raw)) {
	case '"':
		return write_string(out, raw);
	case 't':
	case 'f':
		return buf_addspan(out, raw);
	case '\0':
	case 'n':
	case '{':
	case '[':
		return -1;
	default:
		return write_number(out, raw);
	}
}

int
mirror_value(struct buf *out, struct span raw)
{
	size_t before = out->n;

	if (write_any(out, raw) == 0 && out->n - before <= BOUND_HEADER_BYTES)
		return 0;
	out->n = before;
	return -1;
}
