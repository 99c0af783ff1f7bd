/*
 * Small encodings: JSON strings, base64, percent, text for people, UTF-8.
 *
 * The only validator of UTF-8 is here, so that the JSON check, the quoting of
 * strings and the text shown to users agree on every byte.
 */
#include "config.h"

#include "base/codec.h"

#define REPLACEMENT "\xEF\xBF\xBD"

static const char hex_digits[] = "0123456789abcdef";

/* Is p[i] a continuation byte between lo and hi? */
static bool
follows(const unsigned char *u, size_t i, size_t n, unsigned char lo,
    unsigned char hi)
{
	return i < n && u[i] >= lo && u[i] <= hi;
}

size_t
codec_utf8(const char *p, size_t n)
{
	const unsigned char *u = (const unsigned char *)p;
	unsigned char lo = 0x80, hi = 0xBF;
	size_t len, i;

	if (n == 0)
		return 0;
	if (u[0] < 0x80)
		return 1;
	if (u[0] < 0xC2 || u[0] > 0xF4)
		return 0;
	len = u[0] < 0xE0 ? 2 : u[0] < 0xF0 ? 3 : 4;
	if (u[0] == 0xE0)
		lo = 0xA0; /* a shorter form exists */
	else if (u[0] == 0xED)
		hi = 0x9F; /* surrogates */
	else if (u[0] == 0xF0)
		lo = 0x90; /* a shorter form exists */
	else if (u[0] == 0xF4)
		hi = 0x8F; /* above U+10FFFF */
	if (!follows(u, 1, n, lo, hi))
		return 0;
	for (i = 2; i < len; i++) {
		if (!follows(u, i, n, 0x80, 0xBF))
			return 0;
	}
	return len;
}

const char *
codec_line_end(const char *p, size_t len)
{
	if (len == 2 && memcmp(p, "\xC2\x85", 2) == 0)
		return "\\u0085";
	if (len == 3 && memcmp(p, "\xE2\x80\xA8", 3) == 0)
		return "\\u2028";
	if (len == 3 && memcmp(p, "\xE2\x80\xA9", 3) == 0)
		return "\\u2029";
	return NULL;
}

/* Escapes one byte that a JSON string cannot hold as it is. */
static void
json_escape(struct buf *out, unsigned char c)
{
	static const char letters[] = "btn.fr"; /* 0x08 to 0x0D */
	char text[2] = { '\\', (char)c };

	if (c >= 0x08 && c <= 0x0D && c != 0x0B)
		text[1] = letters[c - 0x08];
	else if (c != '"' && c != '\\') {
		buf_addf(out, "\\u%04x", c);
		return;
	}
	buf_add(out, text, 2);
}

void
codec_json_string(struct buf *out, struct span in)
{
	size_t i, len, plain = 0;
	const char *end;

	buf_addc(out, '"');
	for (i = 0; i < in.n; i += len == 0 ? 1 : len) {
		unsigned char c = (unsigned char)in.p[i];

		len = codec_utf8(in.p + i, in.n - i);
		end = len > 1 ? codec_line_end(in.p + i, len) : NULL;
		if (end == NULL &&
		    (len > 1 ||
			(len == 1 && c >= 0x20 && c != '"' && c != '\\')))
			continue;
		buf_add(out, in.p + plain, i - plain);
		plain = i + (len == 0 ? 1 : len);
		if (end != NULL)
			buf_adds(out, end);
		else if (len == 0)
			buf_adds(out, REPLACEMENT);
		else
			json_escape(out, c);
	}
	if (in.n > plain)
		buf_add(out, in.p + plain, in.n - plain);
	buf_addc(out, '"');
}

/* Appends base64 with the given 64 digits and, if pad, "=" at the end. */
static void
base64(struct buf *out, struct span in, const char *digits, bool pad)
{
	const unsigned char *u = (const unsigned char *)in.p;
	char quad[4];
	size_t i, left;
	unsigned v;

	for (i = 0; i < in.n; i += 3) {
		left = in.n - i;
		v = (unsigned)u[i] << 16;
		if (left > 1)
			v |= (unsigned)u[i + 1] << 8;
		if (left > 2)
			v |= u[i + 2];
		quad[0] = digits[v >> 18];
		quad[1] = digits[v >> 12 & 63];
		quad[2] = left > 1 ? digits[v >> 6 & 63] : '=';
		quad[3] = left > 2 ? digits[v & 63] : '=';
		buf_add(out, quad, pad || left > 2 ? 4 : left + 1);
	}
}

void
codec_base64(struct buf *out, struct span in)
{
	base64(out, in, ALNUM "+/", true);
}

void
codec_base64url(struct buf *out, struct span in)
{
	base64(out, in, ALNUM "-_", false);
}

int
codec_base64url_read(struct buf *out, struct span in)
{
	static const char digits[] = ALNUM "-_";
	const char *at;
	size_t i, start = out->n;
	unsigned v = 0, bits = 0;

	for (i = 0; i < in.n; i++) {
		at = memchr(digits, in.p[i], sizeof digits - 1);
		if (at == NULL)
			break;
		v = (v << 6 | (unsigned)(at - digits)) & 0xFFF;
		bits += 6;
		if (bits < 8)
			continue;
		bits -= 8;
		buf_addc(out, (char)(v >> bits & 0xFF));
	}
	if (i == in.n && bits < 6 && (v & ((1U << bits) - 1)) == 0)
		return 0;
	out->n = start;
	return -1;
}

/* Would the bytes of this character act on a terminal or change the direction
 * of text? These are C0, DEL, C1, the bidi controls and the Unicode line
 * separators. */
static bool
is_control(const char *p, size_t len)
{
	const unsigned char *u = (const unsigned char *)p;

	if (len == 1)
		return u[0] < 0x20 || u[0] == 0x7F;
	if (len == 2)
		return (u[0] == 0xC2 && u[1] < 0xA0) ||
		    (u[0] == 0xD8 && u[1] == 0x9C); /* U+061C */
	if (len != 3 || u[0] != 0xE2)
		return false;
	if (u[1] == 0x80) /* U+200E, U+200F, U+2028 to U+202E */
		return u[2] == 0x8E || u[2] == 0x8F ||
		    (u[2] >= 0xA8 && u[2] <= 0xAE);
	return u[1] == 0x81 && u[2] >= 0xA6 && u[2] <= 0xA9; /* U+2066-9 */
}

/* Writes one character into word, as it is or, if hide, as \xNN. Returns the
 * number of bytes written. */
static size_t
show(char word[16], const char *p, size_t len, bool hide)
{
	size_t i;

	if (!hide) {
		memcpy(word, p, len);
		return len;
	}
	for (i = 0; i < len; i++) {
		unsigned char c = (unsigned char)p[i];

		word[4 * i] = '\\';
		word[4 * i + 1] = 'x';
		word[4 * i + 2] = hex_digits[c >> 4];
		word[4 * i + 3] = hex_digits[c & 15];
	}
	return 4 * len;
}

/* Returns how many of the bytes at p are blanks; *breaks: a line break is among
 * them. */
static size_t
blank_length(const char *p, size_t n, bool *breaks)
{
	size_t i;

	*breaks = false;
	for (i = 0; i < n && strchr(" \t\r\n", p[i]) != NULL && p[i] != '\0';
	     i++)
		*breaks = *breaks || p[i] == '\r' || p[i] == '\n';
	return i;
}

void
codec_visible(struct buf *out, struct span in, size_t max)
{
	char word[16];
	size_t i, len, n, used = 0, seen = 0;
	bool hide, breaks = false;

	for (i = 0; i < in.n; i += len) {
		if (i >= seen) { /* a run of blanks is read once */
			len = blank_length(in.p + i, in.n - i, &breaks);
			seen = i + len;
		}
		if (breaks) {
			if (i > 0 && i + len < in.n && used < max) {
				buf_addc(out, ' ');
				used++;
			}
			continue;
		}
		len = codec_utf8(in.p + i, in.n - i);
		hide = len == 0 || is_control(in.p + i, len);
		if (len == 0)
			len = 1;
		n = show(word, in.p + i, len, hide);
		if (n > max - used) {
			buf_adds(out, "...");
			return;
		}
		buf_add(out, word, n);
		used += n;
	}
}

uint64_t
codec_mix(uint64_t word)
{
	word += UINT64_C(0x9e3779b97f4a7c15);
	word = (word ^ word >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	word = (word ^ word >> 27) * UINT64_C(0x94d049bb133111eb);
	return word ^ word >> 31;
}
