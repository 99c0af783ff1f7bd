/*
 * JSON-RPC messages as located bytes.
 *
 * msg_parse makes one pass over the text and allocates nothing for a valid
 * message. Functions that make a message make its bytes first and have them
 * parsed like any other, so that there is only one definition of a message.
 */
#include "config.h"

#include "core/wire/msg.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>

#include "base/bounds.h"
#include "base/codec.h"
#include "core/wire/json.h"

#define BLANKS " \t\r\n"
#define PARTS 7 /* number of spans in a frame */
#define EXACT_DIGITS 15
#define LONGEST_NAME 7 /* "jsonrpc" */

/* The members of the outermost object that have a meaning. */
struct members {
	struct span jsonrpc, id, method, params, result, error;
	bool ambiguous;
};

/* As json_key_is. *exact: the name is written without escapes. */
static inline bool
is_name(struct span key, const char *name, bool *exact)
{
	*exact = key.n == strlen(name);
	return json_key_is(key, name);
}

/* Could another parser take this key, which is none of the names, for one of
 * them? encoding/json/v2 of Go may pass over "_" and "-". The names end with
 * NULL. */
static bool
is_odd(struct span key, const char *const *names)
{
	char plain[LONGEST_NAME + 1];
	size_t i, n = 0;

	for (i = 0; i < key.n; i++) {
		if ((unsigned char)key.p[i] >= 0x80 || key.p[i] == '\\')
			return true;
		if (key.p[i] != '_' && key.p[i] != '-' && n < sizeof plain)
			plain[n++] = key.p[i];
	}
	for (; n < sizeof plain && *names != NULL; names++)
		if (span_is_nocase(key, *names) ||
		    span_is_nocase((struct span){ plain, n }, *names))
			return true;
	return false;
}

/* Puts a member into the slot that its key names; NULL: it names none. Returns
 * whether the member makes the message ambiguous. */
static bool
put(struct span *slot, struct span key, struct span value, bool exact,
    const char *const *names)
{
	bool twice;

	if (slot == NULL)
		return is_odd(key, names);
	twice = slot->p != NULL;
	*slot = value;
	return twice || !exact;
}

/* Returns the member that a key names; NULL for all others. The length is
 * checked first: with every letter escaped, a known name has at most 42
 * bytes. The longest names come first, because a key is compared faster with
 * a name that is not shorter. */
static struct span *
member_of(struct members *m, struct span key, bool *exact)
{
	if (key.n < 2 || key.n > 42)
		return NULL;
	if (is_name(key, "jsonrpc", exact))
		return &m->jsonrpc;
	if (is_name(key, "method", exact))
		return &m->method;
	if (is_name(key, "params", exact))
		return &m->params;
	if (is_name(key, "result", exact))
		return &m->result;
	if (is_name(key, "error", exact))
		return &m->error;
	if (is_name(key, "id", exact))
		return &m->id;
	return NULL;
}

static void
on_member(struct span key, struct span value, void *arg)
{
	static const char *const names[] = { "jsonrpc", "method", "params",
		"result", "error", "id", NULL };
	struct members *m = arg;
	bool exact = false;
	struct span *slot = member_of(m, key, &exact);

	if (put(slot, key, value, exact, names))
		m->ambiguous = true;
}

static bool
is_number(struct span value)
{
	char c = json_kind(value);

	return c == '-' || (c >= '0' && c <= '9');
}

static bool
is_id(struct span value)
{
	return json_kind(value) == '"' || is_number(value);
}

static bool
is_container(struct span value)
{
	return json_kind(value) == '{' || json_kind(value) == '[';
}

/* Returns the kind of a request or a notification, or FRAME_RAW if it is
 * neither. */
static enum frame_kind
kind_of_call(const struct members *m)
{
	if (json_kind(m->method) != '"' || m->result.p != NULL ||
	    m->error.p != NULL)
		return FRAME_RAW;
	/* null is not allowed, but some write it for "no params". */
	if (m->params.p != NULL && !is_container(m->params) &&
	    json_kind(m->params) != 'n')
		return FRAME_RAW;
	if (m->id.p == NULL)
		return FRAME_NOTIFICATION;
	return is_id(m->id) ? FRAME_REQUEST : FRAME_RAW;
}

/* Returns the kind of a result or an error, or FRAME_RAW if it is neither. */
static enum frame_kind
kind_of_response(const struct members *m)
{
	if (m->result.p != NULL && m->error.p != NULL)
		return FRAME_RAW;
	if (m->result.p != NULL)
		return is_id(m->id) ? FRAME_RESULT : FRAME_RAW;
	if (json_kind(m->error) != '{')
		return FRAME_RAW;
	if (m->id.p == NULL || json_kind(m->id) == 'n' || is_id(m->id))
		return FRAME_ERROR;
	return FRAME_RAW;
}

/* Finds _meta in the params, and whether those of a call are ambiguous. */
static void
look_into_params(struct frame *f)
{
	static const char *const names[] = { "name", "_meta", NULL };
	struct span key, value, name = no_span, *slot;
	bool call = json_key_is(f->method, "tools/call"), exact;
	size_t at = 0;

	if (json_kind(f->params) != '{')
		return;
	while (json_next(f->params, &at, &key, &value)) {
		f->has_null |= json_kind(value) == 'n';
		slot = is_name(key, "_meta", &exact) ? &f->meta :
		    is_name(key, "name", &exact)     ? &name :
						       NULL;
		if (put(slot, key, value, exact, names) && call)
			f->ambiguous = true;
	}
}

static void
locate(struct frame *f, const struct members *m)
{
	f->ambiguous = m->ambiguous;
	if (m->method.p != NULL) {
		f->method = (struct span){ m->method.p + 1, m->method.n - 2 };
		f->ambiguous |= memchr(f->method.p, '\\', f->method.n) !=
			NULL &&
		    span_find(f->method, "\\u0000") != NULL;
	}
	f->id = m->id;
	f->params = m->params;
	look_into_params(f);
	if (f->meta.n > 0)
		f->token = json_get(f->meta, "progressToken");
	f->result = m->result;
	f->error = m->error;
}

static void
forget(struct frame *f)
{
	f->kind = FRAME_RAW;
	f->has_null = false;
	f->id = f->method = f->params = f->meta = f->token = f->result =
	    f->error = no_span;
}

/* Returns the first byte that is not white space, or NUL. */
static char
first_byte(struct span text)
{
	text = span_trim(text, BLANKS);
	return text.n > 0 ? text.p[0] : '\0';
}

/* As msg_parse. For MSG_OK *line gets the offset of the first end of a line, or
 * the length. */
static enum msg_status
parse(struct frame *f, unsigned max_depth, size_t *line)
{
	struct members m = { 0 };
	enum json_status status;
	char first;

	forget(f);
	status = json_check(f->text, max_depth, on_member, &m, line);
	if (status == JSON_UTF8)
		return MSG_UTF8;
	if (status != JSON_OK)
		return MSG_SYNTAX;
	first = first_byte(f->text);
	if (first == '[')
		return MSG_BATCH;
	if (first == '{' && json_string_is(m.jsonrpc, "2.0"))
		f->kind = m.method.p != NULL ? kind_of_call(&m) :
					       kind_of_response(&m);
	if (f->kind != FRAME_RAW) {
		locate(f, &m);
		return MSG_OK;
	}
	if (is_id(m.id))
		f->id = m.id;
	if (m.method.p == NULL) {
		f->result = m.result;
		f->error = m.error;
	}
	return MSG_INVALID;
}

enum msg_status
msg_parse(struct frame *f, unsigned max_depth)
{
	return parse(f, max_depth, NULL);
}

/* Makes the content of b the text, a part of it, with U+FFFD for each broken
 * byte and escapes for what may end a line. Returns 0, or -1 and leaves b as it
 * was if that would pass the cap of b. */
static int
mend(struct buf *b, struct span text)
{
	const char *p = text.p, *end = p + text.n, *plain = p, *instead;
	struct buf mended;
	int full = 0;
	size_t len;

	buf_init(&mended, b->max);
	full |= buf_reserve(&mended, text.n);
	for (; p < end && full == 0; p += len) {
		len = codec_utf8(p, (size_t)(end - p));
		instead = len == 0 ? "\xEF\xBF\xBD" : codec_line_end(p, len);
		len += len == 0;
		if (instead == NULL)
			continue;
		full |= buf_add(&mended, plain, (size_t)(p - plain));
		full |= buf_adds(&mended, instead);
		plain = p + len;
	}
	full |= buf_add(&mended, plain, (size_t)(end - plain));
	if (full != 0) {
		buf_free(&mended);
		return -1;
	}
	buf_free(b);
	*b = mended;
	return 0;
}

/* Replaces each end_of_line byte by a blank: in valid JSON a raw CR or LF can
 * only be white space. */
static void
flatten(char *p, size_t n, char end_of_line)
{
	char *end = p + n;

	while (p < end &&
	    (p = memchr(p, end_of_line, (size_t)(end - p))) != NULL)
		*p++ = ' ';
}

/* Collects the spans of a frame that point into its text. */
static void
parts_of(struct frame *f, struct span *part[PARTS])
{
	part[0] = &f->id;
	part[1] = &f->method;
	part[2] = &f->params;
	part[3] = &f->meta;
	part[4] = &f->token;
	part[5] = &f->result;
	part[6] = &f->error;
}

/* Makes a frame of the content of b. The parts of located, which point into b,
 * move to the new frame. */
static struct frame *
take_located(struct buf *b, struct frame *located)
{
	struct span *from[PARTS], *to[PARTS];
	size_t i, at[PARTS] = { 0 };
	bool is[PARTS];
	struct frame *f;

	parts_of(located, from);
	for (i = 0; i < PARTS; i++) {
		is[i] = from[i]->p != NULL;
		if (is[i])
			at[i] = (size_t)(from[i]->p - b->p);
	}
	f = frame_take(b);
	f->kind = located->kind;
	f->ambiguous = located->ambiguous;
	parts_of(f, to);
	for (i = 0; i < PARTS; i++) {
		if (is[i])
			*to[i] = (struct span){ f->text.p + at[i], from[i]->n };
	}
	return f;
}

enum msg_status
msg_from_server(struct buf *b, unsigned max_depth, struct frame **out,
    bool *scrubbed)
{
	struct frame located = { 0 };
	enum msg_status status;
	struct span text;
	size_t line;
	bool odd;

	*out = NULL;
	*scrubbed = false;
	if (b->n >= 3 && memcmp(b->p, "\xEF\xBB\xBF", 3) == 0)
		memset(b->p, ' ', 3);
	located.text = buf_span(b);
	text = span_trim(located.text, BLANKS);
	status = parse(&located, max_depth, &line);
	if (status == MSG_UTF8 && first_byte(text) == '[')
		return MSG_BATCH;
	odd = status == MSG_OK &&
	    (text.p != b->p ||
		(line < b->n && (unsigned char)b->p[line] >= 0x80));
	if (status == MSG_UTF8 || odd) {
		if (mend(b, text) != 0)
			return MSG_UTF8;
		*scrubbed = !odd;
		located.text = text = buf_span(b);
		status = parse(&located, max_depth, &line);
	}
	if (status != MSG_OK)
		return status;
	flatten(b->p + line, b->n - line, '\n');
	flatten(b->p + line, b->n - line, '\r');
	b->n = text.n;
	*out = take_located(b, &located);
	return MSG_OK;
}

/* Returns the number of elements, at most BOUND_MANY + 1. */
static size_t
count_elements(struct span array)
{
	struct span key, value;
	size_t at = 0, n = 0;

	while (n <= BOUND_MANY && json_next(array, &at, &key, &value))
		n++;
	return n;
}

size_t
msg_batch(struct span array, unsigned max_depth,
    void (*each)(struct frame *, void *), void *arg)
{
	struct span key, value;
	size_t at = 0, bad = 0;
	struct frame *f;
	struct buf b;
	bool scrubbed;

	while (array.n != 0 && array.p[0] != '[') {
		array.p++;
		array.n--;
	}
	if (count_elements(array) > BOUND_MANY)
		return SIZE_MAX;
	buf_init(&b, 0);
	while (json_next(array, &at, &key, &value)) {
		buf_reset(&b);
		buf_addspan(&b, value);
		if (msg_from_server(&b, max_depth, &f, &scrubbed) == MSG_OK)
			each(f, arg);
		else
			bad++;
	}
	buf_free(&b);
	return bad;
}

/* Reads a number that is digits alone, as most ids are. Returns false if it is
 * not, or if a double may not hold it exactly. */
static bool
exact_number(struct span value, double *d)
{
	int64_t sum = 0;
	size_t i;

	if (value.n > EXACT_DIGITS)
		return false;
	for (i = 0; i < value.n; i++) {
		if (value.p[i] < '0' || value.p[i] > '9')
			return false;
		sum = sum * 10 + (value.p[i] - '0');
	}
	*d = (double)sum;
	return true;
}

/* Returns the value of a number. Ids are short, but need not be. */
static double
number_of(struct span value)
{
	char small[64], *large;
	double d;

	if (exact_number(value, &d))
		return d;
	if (value.n < sizeof small) {
		memcpy(small, value.p, value.n);
		small[value.n] = '\0';
		return strtod(small, NULL);
	}
	large = xstrndup(value.p, value.n);
	d = strtod(large, NULL);
	free(large);
	return d;
}

static bool
same_strings(struct span a, struct span b)
{
	struct buf x, y;
	bool same;

	/* An escape is at most six times as long as its character. */
	if (a.n > 6 * b.n || b.n > 6 * a.n)
		return false;
	if (memchr(a.p, '\\', a.n) == NULL && memchr(b.p, '\\', b.n) == NULL)
		return false; /* the caller saw that the bytes differ */
	buf_init(&x, 0);
	buf_init(&y, 0);
	same = json_string(a, &x) == 0 && json_string(b, &y) == 0 &&
	    span_eq(buf_span(&x), buf_span(&y));
	buf_free(&x);
	buf_free(&y);
	return same;
}

bool
msg_id_same(struct span a, struct span b)
{
	if (span_eq(a, b))
		return true;
	if (json_kind(a) == '"' && json_kind(b) == '"')
		return same_strings(a, b);
	if (!is_number(a) || !is_number(b))
		return false;
	return number_of(a) == number_of(b);
}

static uint64_t
hash_string(struct span id)
{
	struct buf text;
	uint64_t h;

	if (memchr(id.p, '\\', id.n) == NULL)
		return hash_bytes(HASH_START, id.p + 1, id.n - 2);
	buf_init(&text, 0);
	json_string(id, &text);
	h = hash_bytes(HASH_START, text.p, text.n);
	buf_free(&text);
	return h;
}

static bool
is_integer(struct span id)
{
	size_t i = id.n > 0 && id.p[0] == '-';

	for (; i < id.n; i++)
		if (id.p[i] < '0' || id.p[i] > '9')
			return false;
	return true;
}

bool
msg_id_again(struct span a, struct span b)
{
	return msg_id_same(a, b) &&
	    (span_eq(a, b) || !is_integer(a) || !is_integer(b));
}

bool
msg_progress(struct msg_progress *told, const struct frame *f, bool must_rise)
{
	struct span number = json_get(f->params, "progress");
	char text[64];
	double value;

	if (number.n == 0 || number.n >= sizeof text)
		return true;
	memcpy(text, number.p, number.n);
	text[number.n] = '\0';
	value = strtod(text, NULL);
	if (must_rise && told->any && value <= told->latest)
		return false;
	*told = (struct msg_progress){ true, value };
	return true;
}

uint64_t
msg_id_hash(struct span id)
{
	uint64_t h = HASH_START;
	double d;

	if (json_kind(id) == '"' && id.n >= 2) {
		h = hash_string(id);
	} else if (is_number(id)) {
		d = number_of(id);
		if (d == 0)
			d = 0; /* -0 is the same id */
		h = hash_bytes(~HASH_START, &d, sizeof d);
	}
	return h ^ h >> 32; /* a table takes the low bits */
}

struct hash_entry *
msg_id_find(const struct hash *t, struct span id,
    struct span (*id_of)(struct hash_entry *e))
{
	struct hash_entry *e, *same = NULL;

	if (id.p == NULL || t->n == 0)
		return NULL;
	for (e = hash_first(t, msg_id_hash(id)); e != NULL; e = hash_next(e)) {
		if (span_eq(id_of(e), id))
			return e;
		if (same == NULL && msg_id_same(id_of(e), id))
			same = e;
	}
	return same;
}

/* Returns f with [from, to) of its text replaced; the parts after it move
 * along. */
static struct frame *
splice(struct frame *f, size_t from, size_t to, struct span text)
{
	struct frame located = *f;
	struct span *part[PARTS];
	struct buf b;
	size_t i, at;

	buf_init(&b, 0);
	buf_reserve(&b, f->text.n - (to - from) + text.n);
	buf_add(&b, f->text.p, from);
	buf_addspan(&b, text);
	buf_add(&b, f->text.p + to, f->text.n - to);
	parts_of(&located, part);
	for (i = 0; i < PARTS; i++) {
		if (part[i]->p == NULL)
			continue;
		at = (size_t)(part[i]->p - f->text.p);
		if (at >= to)
			at = at - (to - from) + text.n;
		part[i]->p = b.p + at;
	}
	f = take_located(&b, &located);
	buf_free(&b);
	return f;
}

/* Returns f with an id added in front of all other members. */
static struct frame *
add_id(struct frame *f, struct span id)
{
	static const char name[] = "\"id\":";
	struct frame *made;
	struct buf member;
	size_t at;

	at = (size_t)((const char *)memchr(f->text.p, '{', f->text.n) -
		 f->text.p) +
	    1;
	buf_init(&member, 0);
	buf_adds(&member, name);
	buf_addspan(&member, id);
	buf_addc(&member, ',');
	made = splice(f, at, at, buf_span(&member));
	buf_free(&member);
	made->id = (struct span){ made->text.p + at + sizeof name - 1, id.n };
	if (made->kind == FRAME_NOTIFICATION)
		made->kind = FRAME_REQUEST;
	return made;
}

struct frame *
msg_with_id(struct frame *f, struct span id)
{
	struct frame *made;
	size_t at;

	if (f->id.p == NULL)
		return add_id(f, id);
	if (span_eq(f->id, id))
		return frame_ref(f);
	at = (size_t)(f->id.p - f->text.p);
	made = splice(f, at, at + f->id.n, id);
	made->id = (struct span){ made->text.p + at, id.n };
	return made;
}

/* Begins a message, up to and including the id. */
static void
begin(struct buf *b, struct span id)
{
	buf_init(b, 0);
	buf_adds(b, "{\"jsonrpc\":\"2.0\"");
	if (id.p != NULL) {
		buf_adds(b, ",\"id\":");
		buf_addspan(b, id);
	}
}

static struct frame *
finish(struct buf *b)
{
	enum msg_status status;
	struct frame *f;

	f = frame_take(b);
	buf_free(b);
	status = msg_parse(f, UINT_MAX);
	assert(status == MSG_OK);
	(void)status;
	return f;
}

struct frame *
msg_error(struct span id, int code, const char *message, struct span data)
{
	struct buf b;

	begin(&b, id);
	buf_addf(&b, ",\"error\":{\"code\":%d,\"message\":", code);
	codec_json_string(&b, span_of(message));
	if (data.p != NULL) {
		buf_adds(&b, ",\"data\":");
		buf_addspan(&b, data);
	}
	buf_adds(&b, "}}");
	return finish(&b);
}

struct frame *
msg_result(struct span id, const char *result)
{
	struct buf b;

	begin(&b, id);
	buf_adds(&b, ",\"result\":");
	buf_adds(&b, result);
	buf_addc(&b, '}');
	return finish(&b);
}

struct frame *
msg_call(struct span id, const char *method, struct span params)
{
	struct buf b;

	begin(&b, id);
	buf_adds(&b, ",\"method\":");
	codec_json_string(&b, span_of(method));
	if (params.p != NULL) {
		buf_adds(&b, ",\"params\":");
		buf_addspan(&b, params);
	}
	buf_addc(&b, '}');
	return finish(&b);
}

struct frame *
msg_cancel(struct span id, struct span reason)
{
	struct frame *f;
	struct buf params;

	buf_init(&params, 0);
	buf_adds(&params, "{\"requestId\":");
	buf_addspan(&params, id);
	if (reason.n > 0) {
		buf_adds(&params, ",\"reason\":");
		buf_addspan(&params, reason);
	}
	buf_addc(&params, '}');
	f = msg_call((struct span){ NULL, 0 }, "notifications/cancelled",
	    buf_span(&params));
	buf_free(&params);
	return f;
}

long
msg_error_code(const struct frame *f)
{
	struct span code = json_get(f->error, "code");
	double d;

	if (!is_number(code))
		return 0;
	d = number_of(code);
	return d >= INT32_MIN && d <= INT32_MAX ? (long)d : 0;
}

void
msg_error_text(const struct frame *f, struct buf *out)
{
	json_string(json_get(f->error, "message"), out);
}
