/*
 * The event stream parser.
 *
 * Bytes of a data line go into the event as they arrive; no line is collected
 * first. All other parts of a line that are kept are small and bounded: the
 * name of the field, a type, an id, the digits of a retry. Lines without a
 * meaning are skipped without being held.
 *
 * The LF between data lines is written before the second line, not after the
 * first, so that it never has to be removed at the end of the event.
 */
#include "config.h"

#include "core/wire/sse.h"

#include <stdlib.h>

#include "base/bounds.h"
#include "core/wire/lines.h"

#define NAME_BYTES 5     /* length of the longest known field name */
#define KEEP_BYTES 65536 /* a larger buffer is freed after its event */

enum field {
	FIELD_NAME, /* still in the name of the field */
	FIELD_DATA,
	FIELD_EVENT,
	FIELD_ID,
	FIELD_RETRY,
	FIELD_OTHER /* unknown, or a comment */
};

struct sse {
	sse_cb *cb;
	void *arg;
	bool dead;  /* a cap was passed */
	size_t bom; /* see lines_pass_bom */
	bool cr;    /* the last byte was a CR: an LF belongs to it */

	/* The line being read. */
	enum field field;
	bool begun; /* the line has a byte */
	bool value; /* the value has begun: a blank is not dropped any more */
	bool bad;   /* the value is ignored */
	size_t name_n;
	char name[NAME_BYTES];
	struct buf text; /* of an event or id line */
	int64_t number;  /* of a retry line; -1: no digit yet */

	/* The event being read. */
	bool has_data;
	struct buf data;
	struct buf type;
	struct buf next_id; /* becomes last_id with the dispatch */
	bool has_next_id;

	/* The stream. */
	struct buf last_id;
	bool spoke;  /* an event had data that is not empty */
	bool primed; /* see sse_is_primed */
	int64_t retry_ms;
};

struct sse *
sse_new(size_t max_event, sse_cb *cb, void *arg)
{
	struct sse *s;

	s = xcalloc(1, sizeof *s);
	s->cb = cb;
	s->arg = arg;
	s->retry_ms = -1;
	buf_init(&s->data, max_event);
	buf_init(&s->text, BOUND_LINE_BYTES);
	return s;
}

static void
assign(struct buf *to, const struct buf *from)
{
	buf_reset(to);
	buf_addspan(to, buf_span(from));
}

/* Returns the field that the name means. */
static enum field
field_of(const struct sse *s)
{
	struct span name = { s->name, s->name_n };

	if (span_is(name, "data"))
		return FIELD_DATA;
	if (span_is(name, "event"))
		return FIELD_EVENT;
	if (span_is(name, "id"))
		return FIELD_ID;
	if (span_is(name, "retry"))
		return FIELD_RETRY;
	return FIELD_OTHER;
}

/* Ends the name and starts the value. */
static int
start_value(struct sse *s)
{
	s->field = field_of(s);
	s->value = false;
	s->bad = false;
	s->number = -1;
	buf_reset(&s->text);
	if (s->field != FIELD_DATA)
		return 0;
	if (s->has_data && buf_addc(&s->data, '\n') != 0)
		return -1;
	s->has_data = true;
	return 0;
}

static void
add_digits(struct sse *s, const char *p, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (p[i] < '0' || p[i] > '9') {
			s->bad = true;
			return;
		}
		if (s->number < 0)
			s->number = 0;
		s->number = s->number * 10 + (p[i] - '0');
		if (s->number > BOUND_HOUR_MS)
			s->number = BOUND_HOUR_MS;
	}
}

/* Takes bytes of the value. */
static int
add_value(struct sse *s, const char *p, size_t n)
{
	if (n != 0 && !s->value) {
		s->value = true;
		if (*p == ' ') {
			p++;
			n--;
		}
	}
	switch (s->field) {
	case FIELD_DATA:
		return buf_add(&s->data, p, n);
	case FIELD_EVENT:
	case FIELD_ID:
		/* A NUL makes an id invalid by the standard. A type becomes a C
		 * string, so the same rule is used. */
		if (s->bad || n == 0)
			return 0;
		s->bad = memchr(p, '\0', n) != NULL ||
		    buf_add(&s->text, p, n) != 0;
		return 0;
	case FIELD_RETRY:
		add_digits(s, p, n);
		return 0;
	default:
		return 0;
	}
}

/* Takes bytes of a line, without its end. */
static int
add_line(struct sse *s, const char *p, size_t n)
{
	const char *end;

	if (n == 0)
		return 0;
	end = p + n;
	s->begun = true;
	while (s->field == FIELD_NAME && p < end) {
		if (*p == ':') {
			if (start_value(s) != 0)
				return -1;
		} else if (s->name_n < NAME_BYTES) {
			s->name[s->name_n++] = *p;
		} else {
			s->field = FIELD_OTHER; /* too long for a known name */
		}
		p++;
	}
	return add_value(s, p, (size_t)(end - p));
}

static const char *
type_of(struct sse *s)
{
	return s->type.n == 0 ? "message" : buf_str(&s->type);
}

static void
dispatch(struct sse *s)
{
	if (s->has_next_id)
		assign(&s->last_id, &s->next_id);
	s->spoke = s->spoke || s->data.n > 0;
	s->primed = s->primed || (!s->spoke && s->last_id.n > 0);
	if (s->has_data)
		s->cb(type_of(s), &s->data, s->arg);
	s->has_data = false;
	buf_reset(&s->type);
	buf_reset(&s->data);
	if (s->data.cap > KEEP_BYTES)
		buf_free(&s->data);
}

/* Applies a complete line, except for its data. */
static void
apply(struct sse *s)
{
	switch (s->field) {
	case FIELD_EVENT:
		assign(&s->type, &s->text);
		if (s->bad) {
			/* A type that nothing handles. */
			buf_reset(&s->type);
			buf_addc(&s->type, '?');
		}
		break;
	case FIELD_ID:
		if (s->bad)
			break;
		assign(&s->next_id, &s->text);
		s->has_next_id = true;
		break;
	case FIELD_RETRY:
		if (!s->bad && s->number >= 0)
			s->retry_ms = s->number;
		break;
	default:
		break;
	}
}

static int
end_line(struct sse *s)
{
	if (!s->begun) {
		dispatch(s);
		return 0;
	}
	/* In a line without a colon all bytes are the name. */
	if (s->field == FIELD_NAME && start_value(s) != 0)
		return -1;
	apply(s);
	s->field = FIELD_NAME;
	s->begun = false;
	s->name_n = 0;
	return 0;
}

/* Returns the next c from p on, or end. at is the last result: it is searched
 * for again only when p has passed it, which keeps the whole linear. */
static const char *
next_of(const char *at, char c, const char *p, const char *end)
{
	if (at != NULL && at >= p)
		return at;
	at = memchr(p, c, (size_t)(end - p));
	return at == NULL ? end : at;
}

static int
feed(struct sse *s, const char *p, const char *end)
{
	const char *cr = NULL, *lf = NULL, *stop;

	while (p < end) {
		if (s->cr && *p == '\n')
			p++;
		s->cr = false;
		if (p == end)
			return 0;
		cr = next_of(cr, '\r', p, end);
		lf = next_of(lf, '\n', p, end);
		stop = cr < lf ? cr : lf;
		if (add_line(s, p, (size_t)(stop - p)) != 0)
			return -1;
		if (stop == end)
			return 0;
		if (end_line(s) != 0)
			return -1;
		s->cr = *stop == '\r';
		p = stop + 1;
	}
	return 0;
}

int
sse_feed(struct sse *s, const char *p, size_t n)
{
	struct span text;
	size_t used;

	if (s->dead)
		return -1;
	used = lines_pass_bom(&s->bom, p, n, &text);
	add_line(s, text.p, text.n);
	s->dead = feed(s, p + used, p + n) != 0;
	return s->dead ? -1 : 0;
}

struct span
sse_last_id(const struct sse *s)
{
	return buf_span(&s->last_id);
}

bool
sse_is_primed(const struct sse *s)
{
	return s->primed;
}

int64_t
sse_retry_ms(const struct sse *s)
{
	return s->retry_ms;
}

size_t
sse_held(const struct sse *s)
{
	return s->data.n;
}

struct buf *
sse_pending(struct sse *s, const char **type)
{
	*type = type_of(s);
	return &s->data;
}

void
sse_free(struct sse *s)
{
	if (s == NULL)
		return;
	buf_free(&s->text);
	buf_free(&s->data);
	buf_free(&s->type);
	buf_free(&s->next_id);
	buf_free(&s->last_id);
	free(s);
}
