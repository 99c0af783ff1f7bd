/* Plays schedules of the chain; see chain_play.h. */
#include "config.h"

#include "play/chain_play.h"

#include <stdio.h>
#include <stdlib.h>

#include <check.h>

#include "core/chain.h"
#include "core/wire/msg.h"

enum { DEPTH = 64, AT_ONCE = 8, NEVER_ENDS = 100000, VALUES = 8 };

#define META                                                                   \
	"\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":"              \
	"\"2026-07-28\",\"io.modelcontextprotocol/clientInfo\":"               \
	"{\"name\":\"c\",\"version\":\"1\"},"                                  \
	"\"io.modelcontextprotocol/clientCapabilities\":{}}"

/* An exchange that was sent. */
struct sent {
	uint64_t ticket; /* 0: it is over */
	struct frame *frame;
	bool aborted;
	struct facts facts;
	char *values[VALUES]; /* what the facts borrow */
	size_t n_values;
};

struct play {
	struct chain_config config;
	struct chain *chain;
	int64_t now;
	uint64_t random;
	struct sent *sent;
	size_t n_sent;
	struct buf out, trace;
	bool bodies, warnings;
};

/* --- words --- */

/* The next word of *at into b; false at the end. */
static bool
next_word(const char **at, struct buf *b)
{
	size_t n;

	*at += strspn(*at, " ");
	n = strcspn(*at, " ");
	buf_reset(b);
	buf_add(b, *at, n);
	buf_str(b);
	*at += n;
	*at += strspn(*at, " ");
	return n > 0;
}

static const char *
value_of(const char *word, const char *name)
{
	size_t n = strlen(name);

	return strncmp(word, name, n) == 0 && word[n] == '=' ? word + n + 1 :
							       NULL;
}

static int
index_of(const char *value, const char *const *names, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (strcmp(value, names[i]) == 0)
			return (int)i;
	ck_abort_msg("\"%s\" is unknown", value);
	return 0;
}

/* ' and $M stand for more. */
static char *
expanded(const char *text, size_t n)
{
	struct buf b;
	size_t i;

	buf_init(&b, 0);
	for (i = 0; i < n; i++)
		if (text[i] == '\'')
			buf_addc(&b, '"');
		else if (text[i] == '$' && i + 1 < n && text[i + 1] == 'M')
			i++, buf_adds(&b, META);
		else
			buf_addc(&b, text[i]);
	buf_str(&b);
	return b.p;
}

/* --- what comes --- */

static void
tell_send(struct play *p, const struct event *a)
{
	static const char *const verbs[] = { "POST", "GET", "DELETE" };
	const struct order *o = a->order;
	struct buf *b = &p->out;
	struct sent *s;

	p->sent = xrealloc(p->sent, (p->n_sent + 1) * sizeof *p->sent);
	s = &p->sent[p->n_sent++];
	memset(s, 0, sizeof *s);
	s->ticket = a->ticket;
	ck_assert(a->ticket != 0);
	s->frame = o->verb == VERB_POST ? frame_ref(o->body) : NULL;
	s->facts.verb = o->verb;
	s->facts.had_session = o->session.n > 0;
	s->facts.retry_after_ms = s->facts.retry_ms = -1;
	buf_addf(b, "send #%zu %s", p->n_sent, verbs[o->verb]);
	if (s->frame != NULL && p->bodies)
		buf_addf(b, " %.*s", (int)o->body->text.n, o->body->text.p);
	else if (s->frame != NULL)
		buf_addf(b, " %.*s%s%.*s", (int)o->body->method.n,
		    o->body->method.p == NULL ? "" : o->body->method.p,
		    o->body->id.n > 0 ? " " : "", (int)o->body->id.n,
		    o->body->id.n > 0 ? o->body->id.p : "");
	if (o->session.n > 0)
		buf_addf(b, " @%.*s", (int)o->session.n, o->session.p);
	if (o->version.n > 0)
		buf_addf(b, " v=%.*s", (int)o->version.n, o->version.p);
	buf_addf(b, "%s%s%s%s\n", o->listen ? " listen" : "",
	    o->announces && o->verb == VERB_GET ? " announces" : "",
	    o->endpoint ? " endpoint" : "",
	    o->mirrored != NULL ? " mirrored" : "");
}

static void
tell_abort(struct play *p, uint64_t ticket)
{
	size_t i;

	for (i = 0; i < p->n_sent; i++)
		if (p->sent[i].ticket == ticket && !p->sent[i].aborted) {
			p->sent[i].aborted = true;
			buf_addf(&p->out, "abort #%zu\n", i + 1);
		}
}

static void
tell_memory(struct play *p, const struct event *a)
{
	if (!p->config.session.cached_start)
		return;
	if (a->kind == ACTION_SAVE_SESSION)
		buf_addf(&p->out, "keep %s%.*s\n", a->session.n > 0 ? "@" : "-",
		    (int)a->session.n, a->session.n > 0 ? a->session.p : "");
	else
		buf_addf(&p->out, "%s %.*s\n",
		    a->kind == ACTION_LOAD_START ? "recall" : "remember",
		    a->version.n < 2 ? 0 : (int)a->version.n - 2,
		    a->version.n < 2 ? "" : a->version.p + 1);
}

static void
tell(struct play *p, const struct event *a)
{
	struct buf *b = &p->out;

	switch (a->kind) {
	case ACTION_SEND:
		tell_send(p, a);
		break;
	case ACTION_ABORT:
		tell_abort(p, a->ticket);
		break;
	case ACTION_WRITE:
		buf_addf(b, "write %.*s\n", (int)a->frame->text.n,
		    a->frame->text.p);
		break;
	case ACTION_FOUND:
		buf_addf(b, "found %s\n",
		    a->dual       ? "dual" :
			a->modern ? "modern" :
			a->sse    ? "sse" :
				    "legacy");
		break;
	case ACTION_LOG:
		if (p->warnings && a->level <= LEVEL_WARN)
			buf_addf(b, "warn %s\n", a->text);
		break;
	case ACTION_LOAD_START:
	case ACTION_SAVE_START:
	case ACTION_SAVE_SESSION:
		tell_memory(p, a);
		break;
	case ACTION_READ:
		buf_addf(b, "read %s\n", a->ok ? "on" : "off");
		break;
	case ACTION_EXIT:
		buf_addf(b, "exit %d\n", a->status);
		break;
	default:
		buf_addf(b, "action %d\n", (int)a->kind);
		break;
	}
}

/* --- inputs --- */

static void
step_one(struct play *p, struct event *in)
{
	struct event a;

	in->now = p->now;
	in->random = ++p->random;
	in->secret[0] = 1;
	in->secret[1] = p->random;
	chain_step(p->chain, in);
	while (chain_next(p->chain, &a))
		tell(p, &a);
}

/* One step, and the ends of what it aborted. */
static void
step(struct play *p, struct event *in)
{
	struct event end = { .kind = INPUT_DONE };
	size_t i;

	step_one(p, in);
	for (i = 0; i < p->n_sent; i++) {
		if (!p->sent[i].aborted || p->sent[i].ticket == 0)
			continue;
		p->sent[i].facts.ending = ENDING_ABORTED;
		p->sent[i].facts.sent = true;
		end.ticket = p->sent[i].ticket;
		p->sent[i].ticket = 0;
		end.facts = &p->sent[i].facts;
		step_one(p, &end);
	}
}

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
	next_word(&text, &word);
	buf_addf(b, "{\"jsonrpc\":\"2.0\",\"method\":\"%s\"", word.p);
	if (*text != '{' && next_word(&text, &word))
		buf_addf(b, ",\"id\":%s", word.p);
	if (*text != '\0')
		buf_addf(b, ",\"params\":%s", text);
	buf_addc(b, '}');
	buf_free(&word);
}

static void
play_client(struct play *p, const char *text)
{
	struct event in = { .kind = INPUT_CLIENT };
	struct buf b;

	buf_init(&b, 0);
	if (*text == '{')
		buf_adds(&b, text);
	else
		make_call(&b, text);
	in.frame = frame_of(&b);
	step(p, &in);
	frame_unref(in.frame);
}

static struct span
keep(struct sent *s, const char *value)
{
	ck_assert(s->n_values < VALUES);
	s->values[s->n_values] = xstrdup(value);
	return span_of(s->values[s->n_values++]);
}

static bool
take_fact(struct sent *s, const char *word)
{
	static const char *const media[] = { "none", "json", "sse", "html",
		"other" };
	const char *value;

	if ((value = value_of(word, "media")) != NULL)
		s->facts.media = (enum media)index_of(value, media, 5);
	else if ((value = value_of(word, "session")) != NULL)
		s->facts.session = keep(s, value);
	else if ((value = value_of(word, "id")) != NULL)
		s->facts.last_event_id = keep(s, value);
	else if ((value = value_of(word, "body")) != NULL)
		s->facts.body = keep(s, value);
	else if ((value = value_of(word, "retry-after")) != NULL)
		s->facts.retry_after_ms = strtoll(value, NULL, 10) * 1000;
	else
		return false;
	return true;
}

static void
tell_input(struct play *p, size_t at, enum event_kind kind, struct frame *m)
{
	struct event in = {
		.kind = kind, .ticket = p->sent[at].ticket, .frame = m
	};
	struct facts facts = p->sent[at].facts;

	if (in.ticket == 0)
		return;
	if (kind == INPUT_DONE)
		p->sent[at].ticket = 0;
	in.facts = &facts;
	step(p, &in);
}

static void
add_id(struct buf *b, const struct sent *s, const char *word)
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

static void
make_message(struct buf *b, const struct sent *s, const char *text)
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
	next_word(&text, &word);
	if (strncmp(word.p, "ok", 2) == 0) {
		add_id(b, s, word.p);
		buf_addf(b, ",\"result\":%s}", *text == '\0' ? "{}" : text);
	} else if (strncmp(word.p, "err", 3) == 0) {
		next_word(&text, &code);
		add_id(b, s, word.p);
		buf_addf(b, ",\"error\":{\"code\":%s,\"message\":\"%s\"}}",
		    code.p, text);
	} else if (strcmp(word.p, "ask") == 0) {
		next_word(&text, &code);
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
play_message(struct play *p, size_t at, const char *text)
{
	struct frame *m;
	struct buf b;

	if (*text == '\0')
		return;
	buf_init(&b, 0);
	make_message(&b, &p->sent[at], text);
	m = frame_of(&b);
	tell_input(p, at, INPUT_MESSAGE, m);
	frame_unref(m);
}

static const char *
play_head(struct play *p, size_t at, const char *status, const char *rest)
{
	struct sent *s = &p->sent[at];
	const char *after = rest;
	struct buf word;

	s->facts.status = (int)strtol(status, NULL, 10);
	s->facts.sent = true;
	buf_init(&word, 0);
	while (*after != '{' && next_word(&after, &word) &&
	    take_fact(s, word.p))
		rest = after;
	buf_free(&word);
	if (s->facts.media == MEDIA_NONE && *rest != '\0')
		s->facts.media = MEDIA_JSON;
	tell_input(p, at, INPUT_HEAD, NULL);
	return rest;
}

static void
play_end(struct play *p, size_t at, const char *how)
{
	static const char *const names[] = { "end", "cut", "connect" };
	static const enum ending endings[] = { ENDING_COMPLETE, ENDING_CUT,
		ENDING_CONNECT };
	struct sent *s = &p->sent[at];

	s->facts.ending = endings[index_of(how, names, 3)];
	s->facts.sent = s->facts.ending != ENDING_CONNECT;
	if (!s->facts.sent)
		s->facts.why = span_of("refused");
	tell_input(p, at, INPUT_DONE, NULL);
}

static void
play_server(struct play *p, const char *text)
{
	struct event in = { .kind = INPUT_ENDPOINT };
	struct buf word;
	size_t at;

	buf_init(&word, 0);
	next_word(&text, &word);
	at = strtoul(word.p + 1, NULL, 10);
	ck_assert_msg(at > 0 && at <= p->n_sent, "no send %s", word.p);
	in.ticket = p->sent[--at].ticket;
	next_word(&text, &word);
	if (strcmp(word.p, "head") == 0) {
		next_word(&text, &word);
		play_head(p, at, word.p, text);
	} else if (strcmp(word.p, "msg") == 0) {
		play_message(p, at, text);
	} else if (strcmp(word.p, "endpoint") == 0) {
		in.ok = strcmp(text, "ok") == 0;
		step(p, &in);
	} else if (strcmp(word.p, "person") == 0) {
		in.kind = INPUT_SIGN_IN;
		in.text = *text == '\0' ? NULL : text;
		step(p, &in);
	} else if (*word.p >= '1' && *word.p <= '5') {
		text = play_head(p, at, word.p, text);
		play_message(p, at, text);
		play_end(p, at, "end");
	} else {
		play_end(p, at, word.p);
	}
	buf_free(&word);
}

static void
play_wait(struct play *p, int64_t ms)
{
	struct event in = { .kind = INPUT_TICK };
	int64_t until = p->now + ms, at;
	unsigned n = 0, idle = 0;
	size_t before;

	while ((at = chain_deadline(p->chain)) >= 0 && at <= until) {
		before = p->out.n;
		idle = at > p->now ? 0 : idle + 1;
		if (at > p->now)
			p->now = at;
		step(p, &in);
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
play_describe(struct play *p)
{
	struct buf page;
	const char *at, *end;

	buf_init(&page, 0);
	chain_describe(p->chain, &page);
	for (at = buf_str(&page); *at != '\0'; at = end + 1) {
		end = strchr(at, '\n');
		buf_addf(&p->out, "page %.*s\n", (int)(end - at), at);
	}
	buf_free(&page);
}

static void
play_event(struct play *p, const char *text)
{
	struct event in = { .kind = INPUT_EOF };

	if (strncmp(text, "wait ", 5) == 0) {
		play_wait(p, strtoll(text + 5, NULL, 10));
		return;
	}
	if (strncmp(text, "stall ", 6) == 0) {
		p->now += strtoll(text + 6, NULL, 10);
		play_wait(p, 0);
		return;
	}
	if (strcmp(text, "describe") == 0) {
		play_describe(p);
		return;
	}
	if (strncmp(text, "memory ", 7) == 0) {
		in.kind = INPUT_CACHED_START;
		in.result = span_of(text + 7);
	} else if (strcmp(text, "wake") == 0) {
		in.kind = INPUT_WAKE;
	} else {
		ck_assert_str_eq(text, "eof");
	}
	step(p, &in);
}

/* --- a test --- */

static void
option(struct play *p, const char *word)
{
	static const char *const protocols[] = { "auto", "legacy", "modern" };
	static const char *const transports[] = { "auto", "http", "sse",
		"sse-first" };
	static const char *const was[] = { "legacy", "modern", "sse" };
	static const char *const replay[] = { "never", "refused", "safe" };
	struct server_config *c = &p->config.server;
	const char *v;
	int i;

	if (strcmp(word, "bodies") == 0) {
		p->bodies = true;
	} else if (strcmp(word, "warnings") == 0) {
		p->warnings = true;
	} else if (strcmp(word, "memory") == 0) {
		p->config.session.cached_start = true;
	} else if ((v = value_of(word, "protocol")) != NULL) {
		c->protocol = (enum era_protocol)index_of(v, protocols, 3);
	} else if ((v = value_of(word, "transport")) != NULL) {
		c->transport = (enum era_transport)index_of(v, transports, 4);
	} else if ((v = value_of(word, "replay")) != NULL) {
		i = index_of(v, replay, 3);
		p->config.session.replay = (enum replay)i;
	} else {
		v = value_of(word, "was");
		ck_assert_msg(v != NULL, "option \"%s\" is unknown", word);
		i = index_of(v, was, 3);
		c->remembered = true;
		c->was_modern = i == 1;
		c->was_sse = i == 2;
	}
}

static struct play *
play_new(const char *options)
{
	struct play *p = xcalloc(1, sizeof *p);
	struct buf word;

	p->config.session = (struct session_config){
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
	buf_init(&word, 0);
	while (next_word(&options, &word))
		option(p, word.p);
	buf_free(&word);
	p->chain = chain_new(&p->config);
	return p;
}

static void
play_free(struct play *p)
{
	struct sent *s;
	size_t i;

	chain_free(p->chain);
	for (i = 0; i < p->n_sent; i++) {
		s = &p->sent[i];
		while (s->n_values > 0)
			free(s->values[--s->n_values]);
		frame_unref(s->frame);
	}
	free(p->sent);
	buf_free(&p->out);
	buf_free(&p->trace);
	free(p);
}

static bool
is_same(const char *want, const char *seen)
{
	size_t n = strlen(want);

	if (n > 3 && strcmp(want + n - 3, "...") == 0)
		return strncmp(want, seen, n - 3) == 0;
	return strcmp(want, seen) == 0;
}

static void
expect(struct play *p, const char *want)
{
	const char *end = p->out.n == 0 ? NULL :
					  memchr(p->out.p, '\n', p->out.n);
	size_t n = end == NULL ? 0 : (size_t)(end - p->out.p);
	char *seen = end == NULL ? NULL : xstrndup(p->out.p, n);

	if (want == NULL ? seen != NULL : seen == NULL || !is_same(want, seen))
		ck_abort_msg("wanted: %s\nseen:   %s\nin:\n%s",
		    want == NULL ? "nothing more" : want,
		    seen == NULL ? "nothing" : seen, buf_str(&p->trace));
	if (end != NULL)
		buf_drain(&p->out, n + 1);
	free(seen);
}

static void
play_line(struct play *p, const char *line)
{
	if (line[0] == '\0')
		return;
	if (strchr("><!", line[0]) == NULL) {
		expect(p, line);
		return;
	}
	expect(p, NULL);
	buf_addf(&p->trace, "%s\n", line);
	if (line[0] == '>')
		play_client(p, line + 2);
	else if (line[0] == '<')
		play_server(p, line + 2);
	else
		play_event(p, line + 2);
	buf_addspan(&p->trace, buf_span(&p->out));
}

void
chain_play_check(const char *options, const char *schedule)
{
	struct play *p = play_new(options);
	const char *at = schedule, *end;
	char *line;

	for (; *at != '\0'; at = *end == '\0' ? end : end + 1) {
		end = at + strcspn(at, "\n");
		line = expanded(at, (size_t)(end - at));
		play_line(p, line);
		free(line);
	}
	expect(p, NULL);
	play_free(p);
}
