/*
 * The JSON check against a second opinion (a plain recursive reader), and the
 * cursor against the check. The cursor must also survive text that was never
 * checked.
 */
#include "config.h"

#include "core/wire/json.h"

#include "base/codec.h"
#include "core/wire/redact.h"
#include "fuzz/fuzz.h"

#define DEPTH 24
#define MEMBERS 64

struct seen {
	size_t n;
	struct span key[MEMBERS], value[MEMBERS];
};

/* The second opinion: where the value at p ends, or NULL. Broken UTF-8 sets
 * *broken. */
static const char *reference(const char *p, const char *end, unsigned depth,
    bool *broken);

static const char *
blank(const char *p, const char *end)
{
	while (p < end && *p != '\0' && strchr(" \t\r\n", *p) != NULL)
		p++;
	return p;
}

static const char *
digits(const char *p, const char *end)
{
	const char *start = p;

	while (p < end && *p >= '0' && *p <= '9')
		p++;
	return p == start ? NULL : p;
}

static const char *
number(const char *p, const char *end)
{
	const char *start;

	if (p < end && *p == '-')
		p++;
	start = p;
	p = digits(p, end);
	if (p == NULL || (*start == '0' && p - start > 1))
		return NULL;
	if (p < end && *p == '.' && (p = digits(p + 1, end)) == NULL)
		return NULL;
	if (p < end && (*p == 'e' || *p == 'E')) {
		p++;
		if (p < end && (*p == '+' || *p == '-'))
			p++;
		p = digits(p, end);
	}
	return p;
}

static const char *
string(const char *p, const char *end, bool *broken)
{
	size_t len;
	int i;

	for (p++; p < end && *p != '"'; p += len) {
		len = codec_utf8(p, (size_t)(end - p));
		if (len == 0) {
			*broken = true;
			len = 1;
		}
		if ((unsigned char)*p < 0x20)
			return NULL;
		if (*p != '\\')
			continue;
		if (end - p < 2 || p[1] == '\0' ||
		    strchr("\"\\/bfnrtu", p[1]) == NULL)
			return NULL;
		len = 2;
		for (i = 0; p[1] == 'u' && i < 4; i++, len++) {
			if (end - p < 3 + i || p[2 + i] == '\0' ||
			    strchr("0123456789abcdefABCDEF", p[2 + i]) == NULL)
				return NULL;
		}
	}
	return p < end ? p + 1 : NULL;
}

static const char *
container(const char *p, const char *end, unsigned depth, bool *broken)
{
	bool object = *p == '{';
	char last = object ? '}' : ']';

	if (depth == 0)
		return NULL;
	p = blank(p + 1, end);
	if (p < end && *p == last)
		return p + 1;
	for (;;) {
		p = blank(p, end);
		if (object) {
			if (p == end || *p != '"')
				return NULL;
			p = string(p, end, broken);
			if (p == NULL)
				return NULL;
			p = blank(p, end);
			if (p == end || *p++ != ':')
				return NULL;
		}
		p = reference(p, end, depth - 1, broken);
		if (p == NULL)
			return NULL;
		p = blank(p, end);
		if (p == end)
			return NULL;
		if (*p == last)
			return p + 1;
		if (*p++ != ',')
			return NULL;
	}
}

static const char *
reference(const char *p, const char *end, unsigned depth, bool *broken)
{
	static const char *const words[] = { "true", "false", "null" };
	size_t i, n;

	p = blank(p, end);
	if (p == end)
		return NULL;
	if (*p == '"')
		return string(p, end, broken);
	if (*p == '{' || *p == '[')
		return container(p, end, depth, broken);
	for (i = 0; i < 3; i++) {
		n = strlen(words[i]);
		if ((size_t)(end - p) >= n && memcmp(p, words[i], n) == 0)
			return p + n;
	}
	return number(p, end);
}

static void
on_member(struct span key, struct span value, void *arg)
{
	struct seen *seen = arg;

	if (seen->n < MEMBERS) {
		seen->key[seen->n] = key;
		seen->value[seen->n] = value;
	}
	seen->n++;
}

/* A decoded string is UTF-8 when the text was. */
static void
check_string(struct span value, bool clean)
{
	struct buf out;
	size_t i, len;

	buf_init(&out, 0);
	if (json_string(value, &out) == 0 && clean) {
		for (i = 0; i < out.n; i += len) {
			len = codec_utf8(out.p + i, out.n - i);
			FUZZ_CHECK(len != 0);
		}
	}
	FUZZ_CHECK(!clean || json_kind(value) != '"' || out.n < value.n);
	buf_free(&out);
}

/* Steps through all members of a container without descending. */
static void
walk(struct span text, bool checked, bool clean, const struct seen *seen)
{
	const char *end = text.p + text.n;
	struct span key, value;
	size_t at = 0, n = 0, before;

	for (;;) {
		before = at;
		if (!json_next(text, &at, &key, &value))
			break;
		FUZZ_CHECK(at > before && at <= text.n);
		FUZZ_CHECK(value.n != 0 && value.p >= text.p);
		FUZZ_CHECK(value.p + value.n <= end);
		if (seen != NULL && n < MEMBERS) {
			FUZZ_CHECK(key.p == seen->key[n].p);
			FUZZ_CHECK(key.n == seen->key[n].n);
			FUZZ_CHECK(value.p == seen->value[n].p);
			FUZZ_CHECK(value.n == seen->value[n].n);
		}
		if (checked)
			FUZZ_CHECK(json_check(value, DEPTH, NULL, NULL, NULL) !=
			    JSON_SYNTAX);
		check_string(value, checked && clean);
		n++;
	}
	if (seen != NULL)
		FUZZ_CHECK(n == seen->n);
}

/* What is redacted is JSON still; cut, it may be anything, but not longer. */
static void
check_redacted(struct span text)
{
	struct buf out;

	buf_init(&out, 0);
	FUZZ_CHECK(redact_json(&out, text, SIZE_MAX / 2));
	FUZZ_CHECK(json_check(buf_span(&out), DEPTH, NULL, NULL, NULL) ==
	    JSON_OK);
	buf_reset(&out);
	redact_json(&out, text, text.n / 2);
	FUZZ_CHECK(out.n <= text.n / 2);
	buf_free(&out);
}

/* Returns the offset of the first codec_line_end, else that of the first CR or
 * LF, or the length. */
static size_t
line_end(struct span text)
{
	size_t i, line = text.n;

	for (i = text.n; i-- > 0;)
		if (text.p[i] == '\n' || text.p[i] == '\r')
			line = i;
	for (i = 0; i < text.n; i++)
		if (codec_line_end(text.p + i,
			codec_utf8(text.p + i, text.n - i)) != NULL)
			return i;
	return line;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span text = { (const char *)data, size };
	const char *end = text.p + size, *stop;
	struct seen seen = { .n = 0 };
	enum json_status status;
	size_t at = size + 1;
	bool broken = false, ok;

	if (size > 65536)
		return 0;
	status = json_check(text, DEPTH, on_member, &seen, &at);
	FUZZ_CHECK(at <= size);
	if (status == JSON_OK)
		FUZZ_CHECK(at == line_end(text));
	stop = size == 0 ? NULL : reference(text.p, end, DEPTH, &broken);
	ok = stop != NULL && blank(stop, end) == end;
	FUZZ_CHECK(ok == (status == JSON_OK || status == JSON_UTF8));
	if (ok)
		FUZZ_CHECK(broken == (status == JSON_UTF8));
	if (status == JSON_UTF8)
		FUZZ_CHECK(codec_utf8(text.p + at, size - at) == 0);
	while (text.n != 0 && *text.p != '\0' &&
	    strchr(" \t\r\n", *text.p) != NULL) {
		text.p++;
		text.n--;
	}
	walk(text, ok, status == JSON_OK,
	    ok && json_kind(text) == '{' ? &seen : NULL);
	check_string(text, status == JSON_OK);
	if (status == JSON_OK)
		check_redacted(text);
	return 0;
}
