/*
 * The JSON check and the cursor.
 *
 * The state of the check is small: which containers are open (one bit for each:
 * object or array) and where it reads. It stops at the first error. Broken
 * UTF-8 in a string is only noted, so that a text that can be mended is told
 * from one that cannot.
 *
 * The cursor relies on the check for meaning, but not for safety: on any bytes
 * it stays inside the text and comes to an end.
 */
#include "config.h"

#include "core/wire/json.h"

#include <stdlib.h>

#include "base/codec.h"

#define WORD_BITS 64
#define INLINE_DEPTH 512

struct reader {
	const char *p; /* at the end: the byte whose offset is told */
	const char *end;
	const char *broken; /* first broken UTF-8, or NULL */
	const char *odd;    /* first codec_line_end in a string, or NULL */
	const char *line;   /* first end of a line, or NULL */
	unsigned depth, max_depth;
	bool object;    /* the innermost container is an object */
	bool rooted;    /* the outermost container is an object */
	uint64_t *open; /* one bit for each level: set for an object */
	size_t levels;
	uint64_t fixed[INLINE_DEPTH / WORD_BITS];
	json_member_cb *member;
	void *arg;
	struct span key;   /* of the outermost object's current member */
	const char *value; /* start of its value */
};

enum step { STEP_VALUE, STEP_ENDED, STEP_DONE, STEP_SYNTAX, STEP_DEPTH };

/* Does this byte end a run of plain bytes in a string? Bytes that are not ASCII
 * do too, because they have to be checked. */
static bool
is_special(unsigned char c)
{
	return c < 0x20 || c >= 0x80 || c == '"' || c == '\\';
}

/* Returns the index of the first marked byte of the eight that a word was loaded
 * from. */
static unsigned
first_mark(uint64_t marks)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	marks = __builtin_bswap64(marks);
#endif
	return (unsigned)__builtin_ctzll(marks) / 8;
}

/* Returns which of sixteen bytes is the first special one; 16: none is. A byte
 * that is not ASCII is negative here. */
static inline unsigned
first_special(const char *p)
{
	typedef signed char bytes __attribute__((vector_size(16)));
	bytes b, marks;
	uint64_t w[2];

	memcpy(&b, p, sizeof b);
	marks = (b < (signed char)0x20) | (b == (signed char)'"') |
	    (b == (signed char)'\\');
	memcpy(w, &marks, sizeof w);
	return w[0] != 0 ? first_mark(w[0]) :
	    w[1] != 0    ? 8 + first_mark(w[1]) :
			   16;
}

/* Steps over plain string bytes, sixteen at a time as long as there are so
 * many. */
static inline const char *
skip_plain(const char *p, const char *end)
{
	unsigned n;

	while (end - p >= 16) {
		n = first_special(p);
		p += n;
		if (n < 16)
			return p;
	}
	while (p < end && !is_special((unsigned char)*p))
		p++;
	return p;
}

/* May white space begin at p? Most texts have none between their tokens. */
static inline bool
may_be_space(const char *p, const char *end)
{
	return p < end && (unsigned char)*p <= ' ';
}

static const char *
skip_spaces(const char *p, const char *end)
{
	while (p < end && is_space(*p))
		p++;
	return p;
}

static inline const char *
skip_space(const char *p, const char *end)
{
	return may_be_space(p, end) ? skip_spaces(p, end) : p;
}

static void
read_spaces(struct reader *r)
{
	for (; r->p < r->end && is_space(*r->p); r->p++)
		if (r->line == NULL && (*r->p == '\n' || *r->p == '\r'))
			r->line = r->p;
}

/* Steps over white space of the text, and notes the first end of a line. */
static inline void
read_space(struct reader *r)
{
	if (may_be_space(r->p, r->end))
		read_spaces(r);
}

/* Returns the value of a hex digit, or -1. */
static int
hex_value(char c)
{
	if (is_digit(c))
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* Steps over an escape; r->p is at the backslash. */
static bool
read_escape(struct reader *r)
{
	int i;

	r->p++;
	if (r->p == r->end || *r->p == '\0' ||
	    strchr("\"\\/bfnrtu", *r->p) == NULL)
		return false;
	if (*r->p++ != 'u')
		return true;
	for (i = 0; i < 4; i++, r->p++) {
		if (r->p == r->end || hex_value(*r->p) < 0)
			return false;
	}
	return true;
}

/* Steps over text that is not ASCII, and notes broken UTF-8. */
static void
read_wide(struct reader *r)
{
	size_t len;

	while (r->p < r->end && (unsigned char)*r->p >= 0x80) {
		len = codec_utf8(r->p, (size_t)(r->end - r->p));
		if (len == 0 && r->broken == NULL)
			r->broken = r->p;
		if ((*r->p == '\xE2' || *r->p == '\xC2') && r->odd == NULL &&
		    codec_line_end(r->p, len) != NULL)
			r->odd = r->p;
		r->p += len == 0 ? 1 : len;
	}
}

/* Steps over the rest of a string, with its end; r->p is at a special byte. */
static bool
read_rest(struct reader *r)
{
	for (; r->p < r->end; r->p = skip_plain(r->p, r->end)) {
		if (*r->p == '"') {
			r->p++;
			return true;
		}
		if ((unsigned char)*r->p >= 0x80)
			read_wide(r);
		else if (*r->p != '\\' || !read_escape(r))
			return false;
	}
	return false;
}

/* Steps over a string; r->p is at the opening quote. Most are plain. */
static inline bool
read_string(struct reader *r)
{
	r->p = skip_plain(r->p + 1, r->end);
	if (r->p == r->end || *r->p != '"')
		return read_rest(r);
	r->p++;
	return true;
}

/* Steps over at least one digit. */
static bool
read_digits(struct reader *r)
{
	if (r->p == r->end || !is_digit(*r->p))
		return false;
	while (r->p < r->end && is_digit(*r->p))
		r->p++;
	return true;
}

static bool
read_number(struct reader *r)
{
	if (*r->p == '-')
		r->p++;
	if (r->p < r->end && *r->p == '0')
		r->p++;
	else if (!read_digits(r))
		return false;
	if (r->p < r->end && *r->p == '.') {
		r->p++;
		if (!read_digits(r))
			return false;
	}
	if (r->p < r->end && (*r->p == 'e' || *r->p == 'E')) {
		r->p++;
		if (r->p < r->end && (*r->p == '+' || *r->p == '-'))
			r->p++;
		return read_digits(r);
	}
	return true;
}

static bool
read_word(struct reader *r, const char *word)
{
	for (; *word != '\0'; word++, r->p++) {
		if (r->p == r->end || *r->p != *word)
			return false;
	}
	return true;
}

static bool
read_scalar(struct reader *r)
{
	switch (*r->p) {
	case '"':
		return read_string(r);
	case 't':
		return read_word(r, "true");
	case 'f':
		return read_word(r, "false");
	case 'n':
		return read_word(r, "null");
	default:
		return read_number(r);
	}
}

/* Makes space for more levels. Beyond the fixed array the space follows the
 * depth of the text, not max_depth. */
static void
grow(struct reader *r)
{
	size_t words = r->levels / WORD_BITS;

	if (r->open == r->fixed) {
		r->open = xmalloc(words * 2 * sizeof *r->open);
		memcpy(r->open, r->fixed, sizeof r->fixed);
	} else {
		r->open = xrealloc(r->open, words * 2 * sizeof *r->open);
	}
	r->levels *= 2;
}

static void
push(struct reader *r, bool object)
{
	uint64_t bit = UINT64_C(1) << r->depth % WORD_BITS;
	uint64_t *word;

	if (r->depth == r->levels)
		grow(r);
	word = &r->open[r->depth / WORD_BITS];
	*word = object ? *word | bit : *word & ~bit;
	if (r->depth == 0)
		r->rooted = object;
	r->object = object;
	r->depth++;
}

static void
pop(struct reader *r)
{
	unsigned level;

	r->depth--;
	if (r->depth == 0)
		return;
	level = r->depth - 1;
	r->object = r->open[level / WORD_BITS] >> level % WORD_BITS & 1;
}

/* Reads a member name and its colon. */
static enum step
read_key(struct reader *r)
{
	const char *start;

	read_space(r);
	start = r->p;
	if (r->p == r->end || *r->p != '"' || !read_string(r))
		return STEP_SYNTAX;
	if (r->depth == 1)
		r->key = (struct span){ start + 1, (size_t)(r->p - start) - 2 };
	read_space(r);
	if (r->p == r->end || *r->p != ':')
		return STEP_SYNTAX;
	r->p++;
	return STEP_VALUE;
}

/* Opens a container, up to its first value or, if it is empty, its end. */
static enum step
read_open(struct reader *r)
{
	bool object = *r->p == '{';

	if (r->depth == r->max_depth)
		return STEP_DEPTH;
	push(r, object);
	r->p++;
	read_space(r);
	if (r->p < r->end && *r->p == (object ? '}' : ']')) {
		r->p++;
		pop(r);
		return STEP_ENDED;
	}
	return object ? read_key(r) : STEP_VALUE;
}

static enum step
read_value(struct reader *r)
{
	read_space(r);
	if (r->p == r->end)
		return STEP_SYNTAX;
	if (r->depth == 1)
		r->value = r->p;
	if (*r->p == '{' || *r->p == '[')
		return read_open(r);
	return read_scalar(r) ? STEP_ENDED : STEP_SYNTAX;
}

/* Reads what follows a value: a comma, or the end of the container. */
static enum step
read_after(struct reader *r)
{
	struct span value;

	if (r->depth == 0)
		return STEP_DONE;
	if (r->depth == 1 && r->rooted && r->member != NULL) {
		value = (struct span){ r->value, (size_t)(r->p - r->value) };
		r->member(r->key, value, r->arg);
	}
	read_space(r);
	if (r->p == r->end)
		return STEP_SYNTAX;
	if (*r->p == ',') {
		r->p++;
		return r->object ? read_key(r) : STEP_VALUE;
	}
	if (*r->p != (r->object ? '}' : ']'))
		return STEP_SYNTAX;
	r->p++;
	pop(r);
	return STEP_ENDED;
}

enum json_status
json_check(struct span text, unsigned max_depth, json_member_cb *member,
    void *arg, size_t *at)
{
	struct reader r = { .max_depth = max_depth,
		.member = member,
		.arg = arg,
		.levels = INLINE_DEPTH };
	enum json_status status = JSON_OK;
	enum step step = STEP_VALUE;

	if (text.n == 0)
		text.p = "";
	r.p = text.p;
	r.end = text.p + text.n;
	r.open = r.fixed;
	while (step == STEP_VALUE || step == STEP_ENDED)
		step = step == STEP_VALUE ? read_value(&r) : read_after(&r);
	if (r.open != r.fixed)
		free(r.open);
	if (step == STEP_DONE) {
		read_space(&r);
		if (r.p != r.end)
			step = STEP_SYNTAX;
	}
	if (step != STEP_DONE) {
		status = step == STEP_DEPTH ? JSON_DEPTH : JSON_SYNTAX;
	} else if (r.broken != NULL) {
		status = JSON_UTF8;
		r.p = r.broken;
	} else if (r.odd != NULL || r.line != NULL) {
		r.p = r.odd != NULL ? r.odd : r.line;
	}
	if (at != NULL)
		*at = (size_t)(r.p - text.p);
	return status;
}

/* A quote ends the string unless an odd number of backslashes is before it. */
const char *
json_pass_string(const char *p, const char *end)
{
	const char *quote = p, *q;

	while ((quote = memchr(quote + 1, '"', (size_t)(end - quote - 1))) !=
	    NULL) {
		for (q = quote; q[-1] == '\\' && q - p > 1;)
			q--;
		if ((quote - q) % 2 == 0)
			return quote + 1;
	}
	return end;
}

const char *
json_pass_value(const char *p, const char *end)
{
	size_t depth = 0;

	while (p < end) {
		if (*p == '"') {
			p = json_pass_string(p, end);
			if (depth == 0)
				return p;
			continue;
		}
		if (*p == '{' || *p == '[') {
			depth++;
		} else if (*p == '}' || *p == ']') {
			if (depth <= 1)
				return depth == 0 ? p : p + 1;
			depth--;
		} else if (depth == 0 && (*p == ',' || is_space(*p))) {
			return p;
		}
		p++;
	}
	return end;
}

bool
json_next(struct span container, size_t *at, struct span *key,
    struct span *value)
{
	const char *p, *start, *end;
	bool object;

	if (container.n == 0 || *at >= container.n)
		return false;
	object = container.p[0] == '{';
	if (!object && container.p[0] != '[')
		return false;
	end = container.p + container.n;
	p = skip_space(container.p + (*at == 0 ? 1 : *at), end);
	if (p < end && *p == ',')
		p = skip_space(p + 1, end);
	*key = (struct span){ NULL, 0 };
	*value = *key;
	*at = container.n;
	if (p == end || *p == '}' || *p == ']')
		return false;
	if (object) {
		start = p + 1;
		p = json_pass_string(p, end);
		if (p - start < 1)
			return false;
		*key = (struct span){ start, (size_t)(p - start) - 1 };
		p = skip_space(p, end);
		if (p == end || *p != ':')
			return false;
		p = skip_space(p + 1, end);
	}
	start = p;
	p = p < end && *p == '"' ? json_pass_string(p, end) :
				   json_pass_value(p, end);
	if (p == start)
		return false;
	*value = (struct span){ start, (size_t)(p - start) };
	*at = (size_t)(p - container.p);
	return true;
}

bool
json_escaped_key_is(struct span key, const char *name)
{
	size_t n = strlen(name);
	struct buf text;
	bool same;

	/* An escape is at most six times as long as its character. */
	if (key.n > 6 * n || memchr(key.p, '\\', key.n) == NULL)
		return false;
	buf_init(&text, n);
	same = json_string((struct span){ key.p - 1, key.n + 2 }, &text) == 0 &&
	    span_is(buf_span(&text), name);
	buf_free(&text);
	return same;
}

struct span
json_get(struct span object, const char *key)
{
	struct span found = { NULL, 0 }, name, value;
	size_t at = 0;

	if (json_kind(object) != '{')
		return found;
	while (json_next(object, &at, &name, &value)) {
		if (json_key_is(name, key))
			found = value;
	}
	return found;
}

void
json_get_some(struct span object, const char *const *names, struct span *found,
    size_t n)
{
	struct span key, value;
	size_t at = 0, i;

	for (i = 0; i < n; i++)
		found[i] = no_span;
	if (json_kind(object) != '{')
		return;
	while (json_next(object, &at, &key, &value))
		for (i = 0; i < n; i++)
			if (json_key_is(key, names[i]))
				found[i] = value;
}

/* Reads four hex digits. Returns -1 if they are not there. */
static long
hex4(const char *p, const char *end)
{
	long code = 0;
	int i;

	if (end - p < 4)
		return -1;
	for (i = 0; i < 4; i++) {
		if (hex_value(p[i]) < 0)
			return -1;
		code = code << 4 | hex_value(p[i]);
	}
	return code;
}

static int
add_code_point(struct buf *out, long code)
{
	char utf8[4];
	size_t n = 0;

	if (code < 0x80) {
		utf8[n++] = (char)code;
	} else if (code < 0x800) {
		utf8[n++] = (char)(0xC0 | code >> 6);
		utf8[n++] = (char)(0x80 | (code & 63));
	} else if (code < 0x10000) {
		utf8[n++] = (char)(0xE0 | code >> 12);
		utf8[n++] = (char)(0x80 | (code >> 6 & 63));
		utf8[n++] = (char)(0x80 | (code & 63));
	} else {
		utf8[n++] = (char)(0xF0 | code >> 18);
		utf8[n++] = (char)(0x80 | (code >> 12 & 63));
		utf8[n++] = (char)(0x80 | (code >> 6 & 63));
		utf8[n++] = (char)(0x80 | (code & 63));
	}
	return buf_add(out, utf8, n);
}

/* Decodes \uXXXX, or a pair of them. *p points to the u and is moved past. */
static int
decode_unicode(const char **p, const char *end, struct buf *out)
{
	long code, low;

	code = hex4(*p + 1, end);
	if (code < 0)
		return -1;
	*p += 5;
	if (code >= 0xD800 && code < 0xDC00 && end - *p >= 6 &&
	    (*p)[0] == '\\' && (*p)[1] == 'u') {
		low = hex4(*p + 2, end);
		if (low >= 0xDC00 && low < 0xE000) {
			*p += 6;
			code = 0x10000 + ((code - 0xD800) << 10) +
			    (low - 0xDC00);
		}
	}
	if (code >= 0xD800 && code < 0xE000)
		code = 0xFFFD;
	return add_code_point(out, code);
}

/* Decodes one escape. *p points after the backslash and is moved past. */
static int
decode_escape(const char **p, const char *end, struct buf *out)
{
	static const char letters[] = "\"\\/bfnrt";
	static const char meaning[] = "\"\\/\b\f\n\r\t";
	const char *hit;

	if (*p == end || **p == '\0')
		return -1;
	if (**p == 'u')
		return decode_unicode(p, end, out);
	hit = strchr(letters, **p);
	if (hit == NULL)
		return -1;
	(*p)++;
	return buf_addc(out, meaning[hit - letters]);
}

bool
json_string_is(struct span value, const char *text)
{
	return value.n >= 2 && json_kind(value) == '"' &&
	    json_key_is((struct span){ value.p + 1, value.n - 2 }, text);
}

int
json_string(struct span value, struct buf *out)
{
	const char *p, *end, *stop;
	size_t before = out->n;

	if (value.n < 2 || value.p[0] != '"' || value.p[value.n - 1] != '"')
		return -1;
	p = value.p + 1;
	end = value.p + value.n - 1;
	while (p < end) {
		stop = memchr(p, '\\', (size_t)(end - p));
		if (stop == NULL)
			stop = end;
		if (buf_add(out, p, (size_t)(stop - p)) != 0)
			goto fail;
		if (stop == end)
			break;
		p = stop + 1;
		if (decode_escape(&p, end, out) != 0)
			goto fail;
	}
	return 0;
fail:
	out->n = before;
	return -1;
}

void
json_shown(struct span value, struct buf *out, size_t max)
{
	struct buf text = { 0 };

	if (json_string(value, &text) == 0)
		codec_visible(out, buf_span(&text), max);
	buf_free(&text);
}
