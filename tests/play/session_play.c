/* Plays inputs that are lines of text; see session_play.h. */
#include "config.h"

#include "play/session_play.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/wire/json.h"
#include "core/wire/msg.h"

enum { DEPTH = 64, NEVER_ENDS = 100000, AT_ONCE = 8 };

static const struct span none = { NULL, 0 };

/* --- options --- */

static bool
option_number(const char *word, const char *name, long long *value)
{
	size_t n = strlen(name);

	if (strncmp(word, name, n) != 0 || word[n] != '=')
		return false;
	*value = strtoll(word + n + 1, NULL, 10);
	return true;
}

static bool
option_flag(struct play *p, const char *word)
{
	struct {
		const char *name;
		bool *flag;
	} flags[] = {
		{ "handshake", &p->config.handshake },
		{ "fail", &p->config.fail },
		{ "details", &p->details },
		{ "person", &p->person },
		{ "words", &p->words },
		{ "late", &p->late },
		{ "warnings", &p->warnings },
	};
	size_t i;

	for (i = 0; i < sizeof flags / sizeof *flags; i++)
		if (strcmp(word, flags[i].name) == 0) {
			*flags[i].flag = true;
			return true;
		}
	return false;
}

static void
option(struct play *p, const char *word)
{
	struct session_config *c = &p->config;
	long long n;

	if (option_flag(p, word))
		return;
	if (strcmp(word, "replay=never") == 0)
		c->replay = REPLAY_NEVER;
	else if (strcmp(word, "replay=refused") == 0)
		c->replay = REPLAY_REFUSED;
	else if (option_number(word, "inflight", &n))
		c->max_inflight = (size_t)n;
	else if (option_number(word, "held", &n))
		c->max_held = (size_t)n;
	else if (option_number(word, "result", &n))
		c->max_result = (size_t)n;
	else if (option_number(word, "init", &n))
		c->init_timeout_ms = n;
	else if (option_number(word, "window", &n))
		c->retry_window_ms = n;
	else if (option_number(word, "call", &n))
		c->call_timeout_ms = n;
	else if (option_number(word, "drain", &n))
		c->drain_timeout_ms = n;
	else if (option_number(word, "ping", &n))
		c->ping_interval_ms = n;
	else if (strcmp(word, "memory") == 0)
		c->cached_start = true;
	else if (strcmp(word, "in-results") == 0)
		c->rules.in_results = true;
	else
		fprintf(stderr, "option \"%s\" is unknown\n", word);
}

/* The next word of *at into b; false at the end. */
static bool
next_word(const char **at, struct buf *b)
{
	size_t n;

	*at += strspn(*at, " \t");
	n = strcspn(*at, " \t");
	buf_reset(b);
	buf_add(b, *at, n);
	*at += n;
	return n > 0;
}

struct play *
play_new(const char *options)
{
	struct play *p = xcalloc(1, sizeof *p);
	struct buf word;

	p->config = (struct session_config){
		.host = "mcp.test",
		.version = "0",
		.prefix = "mine",
		.init_timeout_ms = 25000,
		.retry_window_ms = 20000,
		.call_timeout_ms = 3600000,
		.max_inflight = 256,
		.max_held = 1 << 20,
		.replay = REPLAY_SAFE,
	};
	p->now = 1000000;
	p->reading = true;
	p->status = -1;
	buf_init(&word, 0);
	while (next_word(&options, &word))
		option(p, buf_str(&word));
	buf_free(&word);
	p->session = session_new(&p->config);
	return p;
}

void
play_free(struct play *p)
{
	size_t i;

	session_free(p->session);
	for (i = 0; i < p->n_sent; i++) {
		play_facts_clear(&p->sent[i]);
		free(p->sent[i].session);
		free(p->sent[i].version);
		frame_unref(p->sent[i].frame);
	}
	free(p->sent);
	buf_free(&p->out);
	buf_free(&p->trace);
	free(p);
}

static void
drain_actions(struct play *p)
{
	struct event a;

	while (session_next(p->session, &a)) {
		if (p->watch != NULL)
			p->watch(p, &a);
		play_tell(p, &a);
	}
}

/* One step, and the ends of what it aborted, as the transport tells them. */
static void
step(struct play *p, struct event *in)
{
	struct event end;
	size_t i;

	in->now = p->now;
	in->random = p->random;
	session_step(p->session, in);
	drain_actions(p);
	for (i = 0; i < p->n_sent && !p->late; i++) {
		if (!p->sent[i].aborted || p->sent[i].ticket == 0)
			continue;
		end = (struct event){ .kind = INPUT_DONE,
			.now = p->now,
			.random = p->random,
			.ticket = p->sent[i].ticket,
			.facts = &p->sent[i].facts };
		p->sent[i].facts.ending = ENDING_ABORTED;
		p->sent[i].facts.sent = true;
		session_step(p->session, &end);
		p->sent[i].ticket = 0;
		drain_actions(p);
	}
}

/* --- the client --- */

static struct frame *
frame_of(struct buf *b)
{
	struct frame *f = frame_copy(buf_span(b));

	buf_free(b);
	return f;
}

/* METHOD [ID] [PARAMS] */
static void
make_call(struct buf *b, const char *text)
{
	struct buf word;

	buf_init(&word, 0);
	next_word(&text, &word);
	buf_adds(b, "{\"jsonrpc\":\"2.0\"");
	text += strspn(text, " ");
	if (strcmp(buf_str(&word), "answer") == 0) {
		next_word(&text, &word);
		text += strspn(text, " ");
		buf_addf(b, ",\"id\":%s,\"result\":%s}", buf_str(&word),
		    *text == '\0' ? "{}" : text);
		buf_free(&word);
		return;
	}
	buf_addf(b, ",\"method\":\"%s\"", buf_str(&word));
	if (*text != '{' && next_word(&text, &word))
		buf_addf(b, ",\"id\":%s", buf_str(&word));
	text += strspn(text, " ");
	if (*text != '\0')
		buf_addf(b, ",\"params\":%s", text);
	buf_addc(b, '}');
	buf_free(&word);
}

static void
play_client(struct play *p, const char *text)
{
	struct event in = { .kind = INPUT_INVALID };
	struct buf b;

	buf_init(&b, 0);
	if (*text >= 'a' && *text <= 'z')
		make_call(&b, text);
	else
		buf_adds(&b, text);
	in.frame = frame_of(&b);
	switch (msg_parse(in.frame, DEPTH)) {
	case MSG_OK:
		in.kind = INPUT_CLIENT;
		break;
	case MSG_SYNTAX:
	case MSG_UTF8:
		in.invalid = INVALID_SYNTAX;
		break;
	case MSG_BATCH:
		in.invalid = INVALID_BATCH;
		break;
	case MSG_INVALID:
		in.invalid = INVALID_MESSAGE;
		break;
	}
	step(p, &in);
	frame_unref(in.frame);
}

/* --- the server --- */

static enum media
media_of(const char *name)
{
	static const char *const names[] = { "none", "json", "sse", "html",
		"other" };
	size_t i;

	for (i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(name, names[i]) == 0)
			return (enum media)i;
	return MEDIA_OTHER;
}

static struct span
keep(struct sent *s, const char *value)
{
	char *copy = xstrdup(value), *c;

	for (c = copy; *c != '\0'; c++)
		if (*c == '_')
			*c = ' ';
	if (s->n_values == sizeof s->values / sizeof *s->values)
		free(s->values[--s->n_values]);
	s->values[s->n_values++] = copy;
	return span_of(copy);
}

/* Takes FACT=X words off the front of *at; in X "_" is a blank. */
static void
take_facts(const struct play *p, struct sent *s, const char **at)
{
	struct facts *f = &s->facts;
	const char *rest = *at;
	struct buf word;
	char *value;

	buf_init(&word, 0);
	while (next_word(&rest, &word)) {
		buf_str(&word);
		value = strchr(word.p, '=');
		if (value == NULL || strncmp(word.p, "ok=", 3) == 0 ||
		    strncmp(word.p, "err=", 4) == 0)
			break;
		*value++ = '\0';
		if (strcmp(word.p, "media") == 0)
			f->media = media_of(value);
		else if (strcmp(word.p, "session") == 0)
			f->session = keep(s, value);
		else if (strcmp(word.p, "id") == 0)
			f->last_event_id = keep(s, value);
		else if (strcmp(word.p, "body") == 0)
			f->body = keep(s, value);
		else if (strcmp(word.p, "why") == 0)
			f->why = keep(s, value);
		else if (strcmp(word.p, "trusted") == 0)
			f->credentials_known_good = true;
		else if (strcmp(word.p, "retry") == 0)
			f->retry_ms = strtoll(value, NULL, 10);
		else if (strcmp(word.p, "retry-after") == 0)
			f->retry_after_ms = strtoll(value, NULL, 10) * 1000;
		else if (strcmp(word.p, "took") == 0)
			f->out_at = p->now - strtoll(value, NULL, 10);
		else if (strcmp(word.p, "size") == 0)
			f->size = strtoull(value, NULL, 10);
		else
			break;
		f->too_large = f->size > 0;
		*at = rest;
	}
	buf_free(&word);
	*at += strspn(*at, " ");
}

static void
send_id(struct buf *b, const struct sent *s)
{
	if (s->frame != NULL && s->frame->id.n > 0)
		buf_addspan(b, s->frame->id);
	else
		buf_adds(b, "null");
}

/* The id after "ok" or "err": "=ID", or that of the send. */
static void
answer_id(struct buf *b, const struct sent *s, const char *word)
{
	const char *id = strchr(word, '=');

	buf_adds(b, "{\"jsonrpc\":\"2.0\",\"id\":");
	if (id != NULL)
		buf_adds(b, id + 1);
	else
		send_id(b, s);
}

static void
make_error(struct buf *b, const struct sent *s, const char *word,
    const char *rest)
{
	struct buf code;

	buf_init(&code, 0);
	next_word(&rest, &code);
	rest += strspn(rest, " ");
	answer_id(b, s, word);
	buf_addf(b, ",\"error\":{\"code\":%s,\"message\":\"%s\"}}",
	    buf_str(&code), rest);
	buf_free(&code);
}

/* MESSAGE as JSON text; b stays empty when there is none. */
static bool
make_message(struct buf *b, const struct sent *s, const char *text)
{
	const char *rest = text;
	struct buf word;
	bool known = true;

	if (*text == '{') {
		for (; *text != '\0'; text++)
			if (*text == '$')
				send_id(b, s);
			else
				buf_addc(b, *text);
		return true;
	}
	buf_init(&word, 0);
	next_word(&rest, &word);
	rest += strspn(rest, " ");
	if (strncmp(buf_str(&word), "ok", 2) == 0) {
		answer_id(b, s, word.p);
		buf_addf(b, ",\"result\":%s}", *rest == '\0' ? "{}" : rest);
	} else if (strncmp(word.p, "err", 3) == 0) {
		make_error(b, s, word.p, rest);
	} else if (strcmp(word.p, "ask") == 0) {
		next_word(&rest, &word);
		rest += strspn(rest, " ");
		buf_addf(b,
		    "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"%s\","
		    "\"params\":{}}",
		    buf_str(&word), rest);
	} else if (strcmp(word.p, "note") == 0) {
		make_call(b, rest);
	} else {
		known = word.n == 0;
	}
	buf_free(&word);
	return known;
}

static void
tell_input(struct play *p, struct sent *s, enum event_kind kind,
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

/* Also for one that is over: what is under way then comes too late. */
static void
play_person(struct play *p, const struct sent *s, const char *text)
{
	struct event in = { .kind = INPUT_SIGN_IN,
		.ticket = s->was,
		.text = *text == '\0' ? NULL : text };

	step(p, &in);
}

static bool
play_message(struct play *p, struct sent *s, const char *text)
{
	struct frame *m;
	struct buf b;

	buf_init(&b, 0);
	if (!make_message(&b, s, text)) {
		buf_free(&b);
		return false;
	}
	if (b.n == 0)
		return true;
	m = frame_of(&b);
	if (msg_parse(m, DEPTH) != MSG_OK) {
		frame_unref(m);
		return false;
	}
	tell_input(p, s, INPUT_MESSAGE, m);
	frame_unref(m);
	return true;
}

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

static bool
play_end(struct play *p, struct sent *s, const char *name, const char *rest)
{
	size_t i;

	for (i = 0; i < sizeof ends / sizeof *ends; i++) {
		if (strcmp(name, ends[i].name) != 0)
			continue;
		take_facts(p, s, &rest);
		s->facts.ending = ends[i].ending;
		s->facts.sent = ends[i].sent;
		if (!s->facts.sent)
			s->facts.why = span_of("refused");
		tell_input(p, s, INPUT_DONE, NULL);
		return *rest == '\0';
	}
	return false;
}

/* Status and headers. The media type of a message is JSON unless told. */
static void
play_head(struct play *p, struct sent *s, const char *status, const char **rest)
{
	s->facts.status = (int)strtol(status, NULL, 10);
	s->facts.sent = true;
	take_facts(p, s, rest);
	if (s->facts.media == MEDIA_NONE && **rest != '\0')
		s->facts.media = MEDIA_JSON;
	tell_input(p, s, INPUT_HEAD, NULL);
}

static bool
play_server(struct play *p, const char *text)
{
	const char *rest = text;
	bool known = true;
	struct buf word;
	size_t number;

	buf_init(&word, 0);
	next_word(&rest, &word);
	number = strtoul(buf_str(&word) + 1, NULL, 10);
	if (word.p[0] != '#' || number == 0 || number > p->n_sent) {
		buf_free(&word);
		return false;
	}
	next_word(&rest, &word);
	buf_str(&word);
	rest += strspn(rest, " ");
	if (strcmp(word.p, "head") == 0) {
		next_word(&rest, &word);
		play_head(p, &p->sent[number - 1], buf_str(&word), &rest);
	} else if (strcmp(word.p, "msg") == 0) {
		known = play_message(p, &p->sent[number - 1], rest);
	} else if (strcmp(word.p, "person") == 0) {
		play_person(p, &p->sent[number - 1], rest);
	} else if (*word.p >= '1' && *word.p <= '5') {
		p->sent[number - 1].ending = true;
		play_head(p, &p->sent[number - 1], word.p, &rest);
		known = play_message(p, &p->sent[number - 1], rest) &&
		    play_end(p, &p->sent[number - 1], "end", "");
	} else {
		known = play_end(p, &p->sent[number - 1], word.p, rest);
	}
	buf_free(&word);
	return known;
}

/* --- time, and the rest --- */

static void
tick(struct play *p)
{
	struct event in = { .kind = INPUT_TICK };

	step(p, &in);
}

static void
play_wait(struct play *p, int64_t ms)
{
	int64_t until = p->now + ms, at;
	unsigned n = 0, idle = 0;
	size_t before;

	while ((at = session_deadline(p->session)) >= 0 && at <= until &&
	    p->status < 0) {
		before = p->out.n;
		idle = at > p->now ? 0 : idle + 1;
		if (at > p->now)
			p->now = at;
		tick(p);
		if (p->out.n > before)
			idle = 0;
		p->spins = idle == AT_ONCE || ++n == NEVER_ENDS;
		if (p->spins) {
			buf_adds(&p->out, "the timer never rests\n");
			break;
		}
	}
	p->now = until;
}

static void
play_too_long(struct play *p, const char *text)
{
	struct event in = { .kind = INPUT_TOO_LONG };
	struct buf word, id;

	buf_init(&word, 0);
	buf_init(&id, 0);
	next_word(&text, &word);
	in.size = strtoull(buf_str(&word), NULL, 10);
	next_word(&text, &id);
	in.id = strcmp(buf_str(&id), "-") == 0 ? none : buf_span(&id);
	next_word(&text, &word);
	in.request = strcmp(buf_str(&word), "request") == 0;
	step(p, &in);
	buf_free(&word);
	buf_free(&id);
}

/* RESULT TOOLS, without a blank in them. */
static void
play_memory(struct play *p, const char *text)
{
	struct event in = { .kind = INPUT_CACHED_START };
	struct buf result, tools;

	buf_init(&result, 0);
	buf_init(&tools, 0);
	next_word(&text, &result);
	next_word(&text, &tools);
	in.result = buf_span(&result);
	in.tools = buf_span(&tools);
	step(p, &in);
	buf_free(&result);
	buf_free(&tools);
}

static bool
play_event(struct play *p, const char *text)
{
	struct event in = { .kind = INPUT_EOF };

	if (strncmp(text, "memory ", 7) == 0) {
		play_memory(p, text + 7);
		return true;
	}
	if (strncmp(text, "wait ", 5) == 0) {
		play_wait(p, strtoll(text + 5, NULL, 10));
	} else if (strncmp(text, "random ", 7) == 0) {
		p->random = strtoull(text + 7, NULL, 10);
	} else if (strncmp(text, "toolong ", 8) == 0) {
		play_too_long(p, text + 8);
	} else if (strcmp(text, "tick") == 0) {
		tick(p);
	} else {
		if (strcmp(text, "stop") == 0)
			in.kind = INPUT_STOP;
		else if (strcmp(text, "broken") == 0)
			in.kind = INPUT_BROKEN;
		else if (strcmp(text, "wake") == 0)
			in.kind = INPUT_WAKE;
		else if (strcmp(text, "signed-in") == 0)
			in.kind = INPUT_SIGNED_IN;
		else if (strcmp(text, "alone") == 0)
			in.kind = INPUT_PEER_STATE;
		else if (strcmp(text, "rival") == 0) {
			in.kind = INPUT_PEER_STATE;
			in.ok = true;
		} else if (strncmp(text, "orphan ", 7) == 0) {
			in.kind = INPUT_STALE_SESSION;
			in.session = span_of(text + 7);
		} else if (strcmp(text, "eof") != 0)
			return false;
		step(p, &in);
	}
	return true;
}

bool
play_input(struct play *p, const char *line)
{
	size_t before = p->out.n;
	bool known = false;

	buf_addf(&p->trace, "%s\n", line);
	if (line[0] != '\0' && line[1] == ' ') {
		if (line[0] == '>')
			known = (play_client(p, line + 2), true);
		else if (line[0] == '<')
			known = play_server(p, line + 2);
		else if (line[0] == '!')
			known = play_event(p, line + 2);
	}
	if (p->out.n > before)
		buf_add(&p->trace, p->out.p + before, p->out.n - before);
	return known;
}

bool
play_take(struct play *p, struct buf *out)
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

bool
play_describes(const struct play *p, const char *text)
{
	struct buf b;
	bool says;

	buf_init(&b, 0);
	session_describe(p->session, &b);
	says = strstr(buf_str(&b), text) != NULL;
	buf_free(&b);
	return says;
}

size_t
play_held(const struct play *p)
{
	const char *at, *end;
	size_t held = 0;
	struct buf b;

	buf_init(&b, 0);
	session_describe(p->session, &b);
	end = strstr(buf_str(&b), " bytes held back");
	for (at = end; at != NULL && at > b.p && at[-1] != ' '; at--)
		;
	if (at != NULL)
		held = strtoul(at, NULL, 10);
	buf_free(&b);
	return held;
}
