/* Plays inputs that are lines of text; see server_play.h. */
#include "config.h"

#include "play/server_play.h"

#include <stdlib.h>

#include <check.h>

#include "core/era/era.h"
#include "core/wire/msg.h"

enum { DEPTH = 64, AT_ONCE = 8, NEVER_ENDS = 100000 };

/* --- steps --- */

/* Returns false for an event that passes. */
static bool
step(struct server_play *p, struct event *in)
{
	struct event a;
	bool taken;

	in->now = p->now;
	in->random = p->random;
	taken = server_step(p->era, in);
	while (server_next(p->era, &a))
		server_play_tell(p, &a);
	return taken;
}

/* --- the session --- */

static struct frame *
frame_of(struct buf *b)
{
	struct frame *f = frame_copy(buf_span(b));

	buf_free(b);
	ck_assert_msg(msg_parse(f, DEPTH) == MSG_OK, "no message: %.*s",
	    (int)f->text.n, f->text.p);
	return f;
}

/* METHOD [ID] [PARAMS] */
static void
make_call(struct buf *b, const char *text)
{
	struct buf word;

	buf_init(&word, 0);
	server_play_word(&text, &word);
	buf_addf(b, "{\"jsonrpc\":\"2.0\"");
	if (strcmp(word.p, "answer") == 0) {
		server_play_word(&text, &word);
		buf_addf(b, ",\"id\":%s,\"result\":%s}", word.p,
		    *text == '\0' ? "{}" : text);
	} else if (strcmp(word.p, "refuse") == 0) {
		server_play_word(&text, &word);
		buf_addf(b, ",\"id\":%s", word.p);
		server_play_word(&text, &word);
		buf_addf(b, ",\"error\":{\"code\":%s,\"message\":\"%s\"}}",
		    word.p, text);
	} else {
		buf_addf(b, ",\"method\":\"%s\"", word.p);
		if (*text != '{' && server_play_word(&text, &word))
			buf_addf(b, ",\"id\":%s", word.p);
		if (*text != '\0')
			buf_addf(b, ",\"params\":%s", text);
		buf_addc(b, '}');
	}
	buf_free(&word);
}

/* The tickets of two exchanges are never the same. */
static struct played *
add_order(struct server_play *p, enum verb verb)
{
	struct played *s;

	p->orders = xrealloc(p->orders, (p->n_orders + 1) * sizeof *p->orders);
	s = &p->orders[p->n_orders++];
	memset(s, 0, sizeof *s);
	s->ticket = 1000 + p->n_orders;
	s->verb = verb;
	return s;
}

static void
play_order(struct server_play *p, struct order *order)
{
	struct played *s = add_order(p, order->verb);
	struct event in = { .kind = ACTION_SEND, .order = order };

	order->ticket = s->ticket;
	if (order->body != NULL)
		s->frame = frame_ref(order->body);
	if (!step(p, &in)) {
		buf_addf(&p->out, "pass @%zu ", p->n_orders - p->hidden_orders);
		server_play_order(p, order->ticket, order);
	}
	/* What in the order is borrowed must have been copied. */
	memset(order, 0xff, sizeof *order);
}

static void
play_post(struct server_play *p, const char *text)
{
	struct order order = { .verb = VERB_POST };
	struct frame *f;
	struct buf b;
	char *version = xstrdup(p->version);

	buf_init(&b, 0);
	if (*text == '{')
		buf_adds(&b, text);
	else
		make_call(&b, text);
	f = frame_of(&b);
	order.body = f;
	order.interactive = f->kind == FRAME_REQUEST;
	if (span_is(f->method, "initialize")) {
		buf_reset(&p->meta);
		era_client_meta(&p->meta, f->params);
	} else {
		order.version = span_of(version);
	}
	play_order(p, &order);
	memset(version, 'x', strlen(version));
	free(version);
	frame_unref(f);
}

static bool
play_abort(struct server_play *p, const char *text)
{
	struct event in = { .kind = ACTION_ABORT };
	size_t number = text[0] == '@' ? strtoul(text + 1, NULL, 10) : 0;

	if (number == 0 || number + p->hidden_orders > p->n_orders)
		return false;
	in.ticket = p->orders[number + p->hidden_orders - 1].ticket;
	if (in.ticket != 0)
		step(p, &in);
	return true;
}

static bool
play_session(struct server_play *p, const char *text)
{
	struct order order = { .verb = VERB_GET, .listen = true };
	char *event;

	if (strncmp(text, "abort ", 6) == 0)
		return play_abort(p, text + 6);
	if (strncmp(text, "get", 3) == 0) {
		event = xstrdup(text + 3 + strspn(text + 3, " "));
		order.version = span_of(p->version);
		order.last_event_id = span_of(event);
		play_order(p, &order);
		free(event);
	} else if (strcmp(text, "delete") == 0) {
		order = (struct order){ .verb = VERB_DELETE };
		play_order(p, &order);
	} else {
		play_post(p, text);
	}
	return true;
}

/* --- upstream --- */

static struct span
keep(struct played *s, const char *value)
{
	char *copy = xstrdup(value), *c;

	for (c = copy; *c != '\0'; c++)
		if (*c == '_')
			*c = ' ';
	ck_assert(s->n_values < sizeof s->values / sizeof *s->values);
	s->values[s->n_values++] = copy;
	return span_of(copy);
}

static enum media
media_of(const char *name)
{
	static const char *const names[] = { "none", "json", "sse", "html",
		"other" };

	return (enum media)server_play_index(name, names, 5);
}

static bool
take_fact(struct played *s, const char *word)
{
	struct facts *f = &s->facts;
	struct {
		const char *name;
		struct span *span;
	} spans[] = {
		{ "session", &f->session },
		{ "id", &f->last_event_id },
		{ "body", &f->body },
		{ "why", &f->why },
	};
	const char *value;
	size_t i;

	for (i = 0; i < sizeof spans / sizeof *spans; i++)
		if ((value = server_play_value(word, spans[i].name)) != NULL) {
			*spans[i].span = keep(s, value);
			return true;
		}
	if ((value = server_play_value(word, "media")) != NULL)
		f->media = media_of(value);
	else if ((value = server_play_value(word, "retry")) != NULL)
		f->retry_ms = strtoll(value, NULL, 10);
	else if ((value = server_play_value(word, "retry-after")) != NULL)
		f->retry_after_ms = strtoll(value, NULL, 10) * 1000;
	else if ((value = server_play_value(word, "size")) != NULL)
		f->size = strtoull(value, NULL, 10);
	else
		return false;
	f->too_large = f->size > 0;
	return true;
}

/* Takes FACT=X words off the front of text. */
static const char *
take_facts(struct played *s, const char *text)
{
	const char *rest = text;
	struct buf word;

	buf_init(&word, 0);
	while (*rest != '{' && server_play_word(&rest, &word) &&
	    take_fact(s, word.p))
		text = rest;
	buf_free(&word);
	return text;
}

static void
tell_input(struct server_play *p, struct played *s, enum event_kind kind,
    struct frame *m)
{
	struct event in = { .kind = kind,
		.ticket = s->ticket,
		.facts = &s->facts,
		.frame = m };

	if (s->ticket == 0)
		return;
	if (kind == INPUT_DONE)
		s->ticket = 0; /* s may move in step */
	step(p, &in);
}

static void
add_id(struct buf *b, const struct played *s, const char *word)
{
	const char *id = strchr(word, '=');

	buf_adds(b, "{\"jsonrpc\":\"2.0\",\"id\":");
	if (id != NULL)
		buf_adds(b, id + 1);
	else if (s->frame != NULL && s->frame->id.p != NULL)
		buf_addspan(b, s->frame->id);
	else
		buf_adds(b, "null");
}

/* MESSAGE as JSON text. */
static void
make_message(struct buf *b, const struct played *s, const char *text)
{
	struct buf word, code;

	if (*text == '{') {
		for (; *text != '\0'; text++)
			if (*text == '$')
				buf_addspan(b, s->frame->id);
			else
				buf_addc(b, *text);
		return;
	}
	buf_init(&word, 0);
	buf_init(&code, 0);
	server_play_word(&text, &word);
	if (strncmp(word.p, "ok", 2) == 0) {
		add_id(b, s, word.p);
		buf_addf(b, ",\"result\":%s}", *text == '\0' ? "{}" : text);
	} else if (strncmp(word.p, "err", 3) == 0) {
		server_play_word(&text, &code);
		add_id(b, s, word.p);
		buf_addf(b, ",\"error\":{\"code\":%s,\"message\":\"%s\"}}",
		    code.p, text);
	} else if (strcmp(word.p, "ask") == 0) {
		server_play_word(&text, &code);
		buf_addf(b,
		    "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"%s\","
		    "\"params\":{}}",
		    code.p, text);
	} else if (strcmp(word.p, "note") == 0) {
		make_call(b, text);
	}
	buf_free(&word);
	buf_free(&code);
}

static void
play_message(struct server_play *p, struct played *s, const char *text)
{
	struct frame *m;
	struct buf b;

	if (*text == '\0')
		return;
	buf_init(&b, 0);
	make_message(&b, s, text);
	m = frame_of(&b);
	tell_input(p, s, INPUT_MESSAGE, m);
	frame_unref(m);
}

static bool
play_end(struct server_play *p, struct played *s, const char *name,
    const char *rest)
{
	static const struct {
		const char *name;
		enum ending ending;
		bool sent;
	} ends[] = {
		{ "end", ENDING_COMPLETE, true },
		{ "cut", ENDING_CUT, true },
		{ "idle", ENDING_IDLE, true },
		{ "aborted", ENDING_ABORTED, true },
		{ "connect", ENDING_CONNECT, false },
		{ "resolve", ENDING_RESOLVE, false },
		{ "tls", ENDING_TLS, false },
		{ "proxy", ENDING_PROXY, false },
		{ "denied", ENDING_DENIED, false },
		{ "reset", ENDING_CUT, false },
	};
	size_t i;

	for (i = 0; i < sizeof ends / sizeof *ends; i++) {
		if (strcmp(name, ends[i].name) != 0)
			continue;
		rest = take_facts(s, rest);
		s->facts.ending = ends[i].ending;
		s->facts.sent = ends[i].sent;
		if (!s->facts.sent && s->facts.why.n == 0)
			s->facts.why = span_of("refused");
		tell_input(p, s, INPUT_DONE, NULL);
		return *rest == '\0';
	}
	return false;
}

/* Status and headers; the media type of a message is JSON unless told.
 * Returns the text behind them. */
static const char *
play_head(struct server_play *p, struct played *s, const char *status,
    const char *rest)
{
	s->facts.status = (int)strtol(status, NULL, 10);
	s->facts.sent = true;
	rest = take_facts(s, rest);
	if (s->facts.media == MEDIA_NONE && *rest != '\0')
		s->facts.media = MEDIA_JSON;
	tell_input(p, s, INPUT_HEAD, NULL);
	return rest;
}

static bool
play_what(struct server_play *p, size_t at, const char *what, const char *rest)
{
	struct event in = { .ticket = p->ours[at].ticket };
	struct buf word;

	buf_init(&word, 0);
	if (strcmp(what, "head") == 0) {
		server_play_word(&rest, &word);
		play_head(p, &p->ours[at], word.p, rest);
	} else if (strcmp(what, "msg") == 0) {
		play_message(p, &p->ours[at], rest);
	} else if (strcmp(what, "endpoint") == 0) {
		in.kind = INPUT_ENDPOINT;
		in.ok = strcmp(rest, "ok") == 0;
		in.facts = &p->ours[at].facts;
		step(p, &in);
	} else if (strcmp(what, "person") == 0) {
		in.kind = INPUT_SIGN_IN;
		in.text = *rest == '\0' ? NULL : rest;
		step(p, &in);
	} else if (*what >= '1' && *what <= '5') {
		rest = play_head(p, &p->ours[at], what, rest);
		play_message(p, &p->ours[at], rest);
		return play_end(p, &p->ours[at], "end", "");
	} else {
		return play_end(p, &p->ours[at], what, rest);
	}
	buf_free(&word);
	return true;
}

static bool
play_upstream(struct server_play *p, const char *text)
{
	struct buf word;
	size_t number;
	bool known = false;

	buf_init(&word, 0);
	server_play_word(&text, &word);
	number = word.p[0] == '#' ? strtoul(word.p + 1, NULL, 10) : 0;
	if (number > 0 && number + p->hidden_ours <= p->n_ours &&
	    server_play_word(&text, &word))
		known = play_what(p, number + p->hidden_ours - 1, word.p, text);
	buf_free(&word);
	return known;
}

/* --- time, and the rest --- */

static void
tick(struct server_play *p)
{
	struct event in = { .kind = INPUT_TICK };

	step(p, &in);
}

static void
play_wait(struct server_play *p, int64_t ms)
{
	int64_t until = p->now + ms, at;
	unsigned n = 0, idle = 0;
	size_t before;

	while ((at = server_deadline(p->era)) >= 0 && at <= until) {
		before = p->out.n;
		idle = at > p->now ? 0 : idle + 1;
		if (at > p->now)
			p->now = at;
		tick(p);
		if (p->out.n > before)
			idle = 0;
		if (idle == AT_ONCE || ++n == NEVER_ENDS) {
			buf_adds(&p->out, "the timer never rests\n");
			break;
		}
	}
	p->now = until;
}

static void
play_client(struct server_play *p, const char *text)
{
	struct event in = { .kind = EVENT_PROBE };
	struct frame *f = NULL;
	struct buf b;

	if (*text != '\0') {
		buf_init(&b, 0);
		buf_adds(&b, text);
		f = frame_of(&b);
	}
	in.frame = f;
	step(p, &in);
	frame_unref(f);
}

static bool
play_event(struct server_play *p, const char *text)
{
	if (strncmp(text, "wait ", 5) == 0)
		play_wait(p, strtoll(text + 5, NULL, 10));
	else if (strncmp(text, "random ", 7) == 0)
		p->random = strtoull(text + 7, NULL, 10);
	else if (strncmp(text, "client", 6) == 0)
		play_client(p, text + 6 + strspn(text + 6, " "));
	else if (strcmp(text, "tick") == 0)
		tick(p);
	else
		return false;
	return true;
}

bool
server_play_input(struct server_play *p, const char *line)
{
	size_t before = p->out.n;
	bool known = false;

	buf_addf(&p->trace, "%s\n", line);
	if (line[0] == '>' && line[1] == ' ')
		known = play_session(p, line + 2);
	else if (line[0] == '<' && line[1] == ' ')
		known = play_upstream(p, line + 2);
	else if (line[0] == '!' && line[1] == ' ')
		known = play_event(p, line + 2);
	if (p->out.n > before)
		buf_add(&p->trace, p->out.p + before, p->out.n - before);
	return known;
}

bool
server_play_take(struct server_play *p, struct buf *out)
{
	const char *end = p->out.n == 0 ? NULL :
					  memchr(p->out.p, '\n', p->out.n);

	buf_reset(out);
	if (end == NULL)
		return false;
	buf_add(out, p->out.p, (size_t)(end - p->out.p));
	buf_drain(&p->out, out->n + 1);
	return true;
}
