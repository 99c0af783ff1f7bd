/* Feeds lines to a reducer; README has the language. */
#include "config.h"

#include "play/play.h"

#include <stdlib.h>

#include "core/wire/msg.h"
#include "play/message.h"
#include "play/words.h"

enum { DEPTH = 512 };

struct frame *
play_frame(struct buf *b, enum msg_status *status)
{
	struct frame *f = frame_copy(buf_span(b));

	buf_free(b);
	*status = msg_parse(f, DEPTH);
	return f;
}

size_t
play_number(const char *word, char mark)
{
	return word[0] == mark ? strtoul(word + 1, NULL, 10) : 0;
}

/* --- the client --- */

/* Says what the client wrote, a message or not. */
static bool
feed_client(struct play *p, const char *text)
{
	struct event in = { .kind = INPUT_INVALID };
	enum msg_status status;
	struct buf b;

	buf_init(&b, 0);
	if (*text >= 'a' && *text <= 'z')
		message_of_client(&b, text);
	else
		buf_adds(&b, text);
	in.frame = play_frame(&b, &status);
	if (status == MSG_OK)
		in.kind = INPUT_CLIENT;
	else if (status == MSG_BATCH)
		in.invalid = INVALID_BATCH;
	else
		in.invalid = status == MSG_INVALID ? INVALID_MESSAGE :
						     INVALID_SYNTAX;
	play_step(p, &in);
	frame_unref(in.frame);
	return true;
}

/* --- the server: facts --- */

static struct span
keep(struct sent *s, const char *value)
{
	char *copy = xstrdup(value), *c;

	for (c = copy; *c != '\0'; c++)
		if (*c == '_')
			*c = ' ';
	if (s->n_values == PLAY_VALUES)
		free(s->values[--s->n_values]);
	s->values[s->n_values++] = copy;
	return span_of(copy);
}

static bool
take_text(struct sent *s, const char *word)
{
	struct {
		const char *name;
		struct span *to;
	} texts[] = {
		{ "session", &s->facts.session },
		{ "id", &s->facts.last_event_id },
		{ "body", &s->facts.body },
		{ "why", &s->facts.why },
		{ "challenge", &s->facts.challenge },
	};
	const char *value;
	size_t i;

	for (i = 0; i < sizeof texts / sizeof *texts; i++)
		if ((value = words_value(word, texts[i].name)) != NULL) {
			*texts[i].to = keep(s, value);
			return true;
		}
	return false;
}

static bool
take_fact(const struct play *p, struct sent *s, const char *word)
{
	static const char *const media[] = { "none", "json", "sse", "html",
		"other" };
	struct facts *f = &s->facts;
	const char *value = words_value(word, "media");
	int64_t n;
	int i;

	if (value != NULL) {
		i = words_index(value, media, sizeof media / sizeof *media);
		f->media = (enum media)i;
		return i >= 0;
	}
	if (words_number(word, "retry-after", &n))
		f->retry_after_ms = n * 1000;
	else if (words_number(word, "took", &n))
		f->out_at = p->now - n;
	else if (words_number(word, "stamp", &n))
		f->stamp = (uint64_t)n;
	else if (words_number(word, "refusals", &n))
		f->refusals = (unsigned)n;
	else if (words_number(word, "size", &n))
		f->too_large = (f->size = (uint64_t)n) > 0;
	else if (strcmp(word, "trusted") == 0)
		f->credentials_known_good = true;
	else if (strcmp(word, "silent") == 0)
		f->silent = true;
	else if (strcmp(word, "primed") == 0)
		f->primed = true;
	else if (strcmp(word, "gone") == 0)
		f->session_ended = true;
	else
		return take_text(s, word) ||
		    words_number(word, "retry", &f->retry_ms);
	return true;
}

/* Takes FACT words off the front of text; returns what is behind them. */
static const char *
take_facts(const struct play *p, struct sent *s, const char *text)
{
	const char *rest = text;
	struct buf word;

	buf_init(&word, 0);
	while (*rest != '{' && words_next(&rest, &word) &&
	    take_fact(p, s, word.p))
		text = rest;
	buf_free(&word);
	return text;
}

/* --- the server: what comes of the exchange at this place of sent --- */

/* head: this event also reports the head. */
static void
feed_event(struct play *p, size_t at, enum event_kind kind, struct frame *m,
    bool head)
{
	struct facts facts = p->sent[at].facts;
	struct event in = { .kind = kind,
		.ticket = p->sent[at].ticket,
		.facts = &facts,
		.frame = m,
		.head = head || kind == INPUT_HEAD };

	if (in.ticket == 0)
		return;
	if (kind == INPUT_DONE)
		p->sent[at].ticket = 0;
	play_step(p, &in);
}

/* Makes a message of the exchange; NULL: the text is none. */
static struct frame *
make_message(struct play *p, size_t at, const char *text)
{
	struct span id = { NULL, 0 };
	enum msg_status status;
	struct frame *m = NULL;
	struct buf b;

	if (p->sent[at].frame != NULL)
		id = p->sent[at].frame->id;
	buf_init(&b, 0);
	if (message_of_server(&b, id, text)) {
		m = play_frame(&b, &status);
		if (status == MSG_OK)
			return m;
	}
	frame_unref(m);
	buf_free(&b);
	play_is_wrong(p, "no message");
	return NULL;
}

static bool
feed_message(struct play *p, size_t at, const char *text)
{
	struct frame *m = make_message(p, at, text);

	if (m != NULL)
		feed_event(p, at, INPUT_MESSAGE, m, false);
	frame_unref(m);
	return m != NULL;
}

/* Status and headers; the media type of a message is JSON unless told.
 * Returns the text behind them. */
static const char *
take_head(struct play *p, size_t at, const char *status, const char *rest)
{
	struct sent *s = &p->sent[at];

	s->facts.status = (int)strtol(status, NULL, 10);
	s->facts.sent = true;
	rest = take_facts(p, s, rest);
	if (s->facts.media == MEDIA_NONE && *rest != '\0')
		s->facts.media = MEDIA_JSON;
	return rest;
}

static bool
feed_end(struct play *p, size_t at, const char *name, const char *rest)
{
	static const char *const names[] = { "end", "cut", "idle", "aborted",
		"connect", "resolve", "tls", "proxy", "denied", "reset",
		"closed-port" };
	static const enum ending endings[] = { ENDING_COMPLETE, ENDING_CUT,
		ENDING_IDLE, ENDING_ABORTED, ENDING_CONNECT, ENDING_RESOLVE,
		ENDING_TLS, ENDING_PROXY, ENDING_DENIED, ENDING_CUT,
		ENDING_CONNECT };
	struct sent *s = &p->sent[at];
	int i = words_index(name, names, sizeof names / sizeof *names);

	if (i < 0)
		return play_is_wrong(p, "nothing comes like that");
	rest = take_facts(p, s, rest);
	s->facts.ending = endings[i];
	s->facts.sent = i < 4;
	s->facts.conn_refused = strcmp(name, "closed-port") == 0;
	if (!s->facts.sent && s->facts.why.n == 0)
		s->facts.why = span_of("refused");
	feed_event(p, at, INPUT_DONE, NULL, false);
	return *rest == '\0' || play_is_wrong(p, "no such fact");
}

/* In parts: head, message and end. */
static bool
feed_answer(struct play *p, size_t at, const char *status, const char *rest)
{
	p->sent[at].ending = p->reducer->ends_at_once;
	rest = take_head(p, at, status, rest);
	feed_event(p, at, INPUT_HEAD, NULL, false);
	return (*rest == '\0' || feed_message(p, at, rest)) &&
	    feed_end(p, at, "end", "");
}

/* In one event, as the transport tells it if a body has come at once: STATUS
 * [FACT...] [MESSAGE] */
static bool
feed_whole(struct play *p, size_t at, const char *text)
{
	struct frame *m = NULL;
	struct buf status;

	buf_init(&status, 0);
	words_next(&text, &status);
	text = take_head(p, at, status.p, text);
	buf_free(&status);
	if (*text != '\0' && (m = make_message(p, at, text)) == NULL)
		return false;
	p->sent[at].facts.ending = ENDING_COMPLETE;
	feed_event(p, at, INPUT_DONE, m, true);
	frame_unref(m);
	return true;
}

static bool
feed_endpoint(struct play *p, size_t at, const char *text)
{
	static const char *const names[] = { "bad", "ok" };
	struct facts facts = p->sent[at].facts;
	int ok = words_index(text, names, 2);
	struct event in = { .kind = INPUT_ENDPOINT,
		.ticket = p->sent[at].ticket,
		.facts = &facts,
		.ok = ok == 1 };

	play_step(p, &in);
	return ok >= 0 || play_is_wrong(p, "an endpoint is ok or bad");
}

/* Also for one that is over: what is under way then comes too late. */
static void
feed_sign_in(struct play *p, size_t at, const char *text)
{
	struct event in = { .kind = INPUT_SIGN_IN,
		.ticket = p->sent[at].was,
		.text = *text == '\0' ? NULL : text };

	play_step(p, &in);
}

/* Also for an exchange that is over or was sent again: its facts stay. */
static bool
feed_refused(struct play *p, size_t at, const char *rest)
{
	struct sent *s = &p->sent[at];
	struct facts before = s->facts, refused;
	struct event in = {
		.kind = INPUT_REFUSED, .ticket = s->was, .facts = &refused
	};
	struct buf status;

	buf_init(&status, 0);
	words_next(&rest, &status);
	s->facts.status = (int)strtol(buf_str(&status), NULL, 10);
	s->facts.sent = true;
	rest = take_facts(p, s, rest);
	refused = s->facts;
	s->facts = before;
	play_step(p, &in);
	buf_free(&status);
	return *rest == '\0' || play_is_wrong(p, "no such fact");
}

static bool
feed_what(struct play *p, size_t at, const char *what, const char *rest)
{
	struct buf status;

	if (*what >= '1' && *what <= '5')
		return feed_answer(p, at, what, rest);
	if (strcmp(what, "msg") == 0)
		return feed_message(p, at, rest);
	if (strcmp(what, "whole") == 0)
		return feed_whole(p, at, rest);
	if (strcmp(what, "endpoint") == 0)
		return feed_endpoint(p, at, rest);
	if (strcmp(what, "refused") == 0)
		return feed_refused(p, at, rest);
	if (strcmp(what, "sign-in") == 0) {
		feed_sign_in(p, at, rest);
		return true;
	}
	if (strcmp(what, "head") != 0)
		return feed_end(p, at, what, rest);
	buf_init(&status, 0);
	words_next(&rest, &status);
	rest = take_head(p, at, status.p, rest);
	buf_free(&status);
	feed_event(p, at, INPUT_HEAD, NULL, false);
	return *rest == '\0' || play_is_wrong(p, "no such fact");
}

/* #N WHAT ... */
static bool
feed_server(struct play *p, const char *text)
{
	struct buf word;
	size_t number;
	bool known = false;

	buf_init(&word, 0);
	words_next(&text, &word);
	number = play_number(word.p, '#');
	if (number == 0 || number + p->hidden > p->n_sent)
		play_is_wrong(p, "no exchange %s", word.p);
	else if (words_next(&text, &word))
		known = feed_what(p, number + p->hidden - 1, word.p, text);
	buf_free(&word);
	return known;
}

/* --- the world --- */

static void
feed_too_long(struct play *p, const char *text)
{
	struct event in = { .kind = INPUT_TOO_LONG };
	struct buf word, id;

	buf_init(&word, 0);
	buf_init(&id, 0);
	words_next(&text, &word);
	in.size = strtoull(word.p, NULL, 10);
	words_next(&text, &id);
	if (strcmp(id.p, "-") != 0)
		in.id = buf_span(&id);
	in.request = strcmp(text, "request") == 0;
	play_step(p, &in);
	buf_free(&word);
	buf_free(&id);
}

/* RESULT [TOOLS], without a blank in them. */
static void
feed_cached(struct play *p, const char *text)
{
	struct event in = { .kind = INPUT_CACHED_START };
	struct buf result, tools;

	buf_init(&result, 0);
	buf_init(&tools, 0);
	words_next(&text, &result);
	words_next(&text, &tools);
	in.result = buf_span(&result);
	in.tools = buf_span(&tools);
	play_step(p, &in);
	buf_free(&result);
	buf_free(&tools);
}

static bool
feed_word(struct play *p, const char *word)
{
	static const struct {
		const char *word;
		enum event_kind kind;
		bool ok;
	} inputs[] = {
		{ "eof", INPUT_EOF, false },
		{ "stop", INPUT_STOP, false },
		{ "broken", INPUT_BROKEN, false },
		{ "wake", INPUT_WAKE, false },
		{ "signed-in", INPUT_SIGNED_IN, false },
		{ "helper-runs", INPUT_HELPER, true },
		{ "helper-over", INPUT_HELPER, false },
		{ "tick", INPUT_TICK, false },
		{ "newest", INPUT_PEER_STATE, false },
		{ "newer-peer", INPUT_PEER_STATE, true },
	};
	struct event in = { .kind = EVENT_NONE };
	size_t i;

	for (i = 0; i < sizeof inputs / sizeof *inputs; i++)
		if (strcmp(word, inputs[i].word) == 0) {
			in.kind = inputs[i].kind;
			in.ok = inputs[i].ok;
			play_step(p, &in);
			return true;
		}
	return false;
}

/* Each line of the page for people. */
static void
tell_page(struct play *p)
{
	struct buf page;
	const char *at, *end;

	buf_init(&page, 0);
	p->reducer->describe(p, &page);
	for (at = buf_str(&page); *at != '\0'; at = end + 1) {
		end = strchr(at, '\n');
		buf_addf(&p->out, "page %.*s\n", (int)(end - at), at);
	}
	buf_free(&page);
}

static bool
feed_world(struct play *p, const char *text)
{
	struct event in = { .kind = INPUT_STALE_SESSION };
	const char *rest;

	if ((rest = words_after(text, "wait")) != NULL) {
		play_wait(p, strtoll(rest, NULL, 10));
	} else if ((rest = words_after(text, "stall")) != NULL) {
		p->now += strtoll(rest, NULL, 10);
		play_wait(p, 0);
	} else if ((rest = words_after(text, "random")) != NULL) {
		p->random = strtoull(rest, NULL, 10);
	} else if ((rest = words_after(text, "too-long")) != NULL) {
		feed_too_long(p, rest);
	} else if ((rest = words_after(text, "cached")) != NULL) {
		feed_cached(p, rest);
	} else if ((rest = words_after(text, "stale")) != NULL) {
		in.session = span_of(rest);
		play_step(p, &in);
	} else if (strcmp(text, "notes") == 0) {
		p->tells |= TELLS_WARNINGS | TELLS_NOTES;
	} else if (strcmp(text, "describe") == 0) {
		tell_page(p);
	} else {
		return feed_word(p, text) ||
		    play_is_wrong(p, "nothing happens like that");
	}
	return true;
}

/* --- questions --- */

static bool
feed_question(struct play *p, const char *text)
{
	int64_t due = p->reducer->deadline(p);
	const char *rest;
	bool is;

	if ((rest = words_after(text, "says")) != NULL)
		is = play_describes(p, rest);
	else if ((rest = words_after(text, "due")) == NULL)
		return play_is_wrong(p, "no such question");
	else if (due == ALARM_NEVER)
		is = strcmp(rest, "never") == 0;
	else
		is = due - p->now == strtol(rest, NULL, 10);
	return is || play_is_wrong(p, "it is not so");
}

/* --- a line --- */

static bool
feed(struct play *p, const char *line)
{
	bool bad = false;

	if (line[0] == '\0' || line[1] != ' ')
		return false;
	if (p->reducer->input != NULL && p->reducer->input(p, line, &bad))
		return !bad;
	switch (line[0]) {
	case '>':
		return feed_client(p, line + 2);
	case '<':
		return feed_server(p, line + 2);
	case '!':
		return feed_world(p, line + 2);
	case '?':
		return feed_question(p, line + 2);
	default:
		return false;
	}
}

bool
play_input(struct play *p, const char *line)
{
	size_t before = p->out.n;
	struct buf long_form;
	bool known;

	buf_addf(&p->trace, "%s\n", line);
	buf_init(&long_form, 0);
	known = words_expand(&long_form, line) && feed(p, buf_str(&long_form));
	buf_free(&long_form);
	if (p->out.n > before)
		buf_add(&p->trace, p->out.p + before, p->out.n - before);
	return known;
}
