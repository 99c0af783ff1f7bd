/* The player of client_play.h. */
#include "config.h"

#include "play/client_play.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/client/client.h"
#include "core/client/from_client.h"
#include "core/client/request.h"
#include "core/client/state.h"
#include "core/wire/msg.h"

enum { DEPTH = 512, SENT_MAX = 4096, SPINS = 10000 };

struct play {
	struct client_config config;
	struct client *era;
	struct event in;
	struct stage stage;
	struct frame *sent[SENT_MAX];
	size_t n_sent;
	struct frame *discovered;
	struct buf out; /* lines that were not expected yet */
	bool notes;
};

/* --- the short forms --- */

#define META_VERSION                                                           \
	"\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
#define CLIENT_CAPABILITIES "\"io.modelcontextprotocol/clientCapabilities\":"

static const char *
long_form(char name)
{
	switch (name) {
	case 'J':
		return "\"jsonrpc\":\"2.0\"";
	case 'I':
		return "io.modelcontextprotocol/";
	case 'M':
		return "\"_meta\":{" META_VERSION CLIENT_CAPABILITIES "{}}";
	case 'A':
		return "\"_meta\":{" META_VERSION CLIENT_CAPABILITIES
		       "{\"sampling\":{},\"roots\":{},"
		       "\"elicitation\":{\"form\":{},\"url\":{}}}}";
	case 'W':
		return "\"_meta\":{\"io.modelcontextprotocol/serverInfo\":{"
		       "\"name\":\"s\",\"version\":\"1\"}}";
	case 'C':
		return "\"name\":\"book\",\"arguments\":{\"d\":1}";
	case 'S':
		return "11111111111111112222222222222222";
	default:
		return "$?";
	}
}

static void
expand(struct buf *out, struct span line)
{
	size_t i;

	for (i = 0; i < line.n; i++)
		if (line.p[i] == '\'')
			buf_addc(out, '"');
		else if (line.p[i] == '$' && i + 1 < line.n)
			buf_adds(out, long_form(line.p[++i]));
		else
			buf_addc(out, line.p[i]);
}

/* --- steps --- */

static void
add_line(struct play *p, const char *what, const struct frame *f)
{
	buf_addf(&p->out, "%s ", what);
	if (f == NULL)
		buf_addc(&p->out, '-');
	else
		buf_addspan(&p->out, f->text);
	buf_addc(&p->out, '\n');
}

static void
act(struct play *p, const struct event *a)
{
	switch (a->kind) {
	case EVENT_PROBE:
		add_line(p, "probe", a->frame);
		break;
	case INPUT_CLIENT:
		add_line(p, "send", a->frame);
		if (p->n_sent < SENT_MAX)
			p->sent[p->n_sent++] = frame_ref(a->frame);
		break;
	case ACTION_WRITE:
		add_line(p, "write", a->frame);
		break;
	case ACTION_LOG:
		if (p->notes)
			buf_addf(&p->out, "note %s\n", a->text);
		break;
	default:
		break;
	}
}

static void
step(struct play *p, enum event_kind kind, struct frame *f,
    struct frame *related)
{
	struct event a;

	p->in.kind = kind;
	p->in.frame = f;
	p->in.related = related;
	p->stage.discovered = p->discovered;
	if (!client_step(p->era, &p->in))
		act(p, &p->in); /* it passes */
	while (client_next(p->era, &a))
		act(p, &a);
}

static struct frame *
parse(const char *text)
{
	struct frame *f = frame_copy(span_of(text));

	if (msg_parse(f, DEPTH) == MSG_OK)
		return f;
	frame_unref(f);
	return NULL;
}

/* The latest that was sent with this id, or without one by this method. */
static struct frame *
sent_with(const struct play *p, struct span id)
{
	struct frame *f;
	size_t i;

	for (i = p->n_sent; i > 0; i--) {
		f = p->sent[i - 1];
		if (span_eq(f->id.p == NULL ? f->method : f->id, id))
			return f;
	}
	return NULL;
}

static bool
session_says(struct play *p, const char *text)
{
	struct frame *related = NULL, *f;
	const char *blank;

	if (*text == '@') {
		blank = strchr(text, ' ');
		if (blank == NULL)
			return false;
		related = sent_with(p,
		    (struct span){ text + 1, (size_t)(blank - text - 1) });
		if (related == NULL)
			return false;
		text = blank + 1;
	}
	f = parse(text);
	if (f == NULL)
		return false;
	step(p, ACTION_WRITE, f, related);
	frame_unref(f);
	return true;
}

static bool
client_says(struct play *p, const char *text)
{
	struct frame *f = parse(text);

	if (f == NULL)
		return false;
	step(p, INPUT_CLIENT, f, NULL);
	frame_unref(f);
	return true;
}

static bool
server_is(struct play *p, const char *text)
{
	frame_unref(p->discovered);
	p->discovered = text == NULL ? NULL : parse(text);
	return (text == NULL) == (p->discovered == NULL);
}

static bool
goes_out(struct play *p, const char *id)
{
	struct frame *f = sent_with(p, span_of(id)), *made;

	if (f == NULL)
		return false;
	made = client_fit(p->era, f->kind == FRAME_REQUEST ? f : NULL, f,
	    p->discovered != NULL);
	if (made == NULL)
		buf_adds(&p->out, "fits\n");
	else
		buf_addf(&p->out, "fit %.*s\n", (int)made->text.n,
		    made->text.p);
	frame_unref(made);
	return true;
}

static bool
wait_for(struct play *p, int64_t ms)
{
	int64_t end = p->in.now + ms, due;
	int spins = 0;

	while ((due = client_deadline(p->era)) >= 0 && due <= end) {
		if (++spins > SPINS)
			return false;
		if (due > p->in.now)
			p->in.now = due;
		step(p, INPUT_TICK, NULL, NULL);
	}
	p->in.now = end;
	return true;
}

static bool
stream_is(struct play *p, const char *text)
{
	if (strcmp(text, "open") == 0)
		p->stage.listening = LISTENS;
	else if (strcmp(text, "none") == 0)
		p->stage.listening = LISTENS_NOT;
	else if (strcmp(text, "perhaps") == 0)
		p->stage.listening = LISTENS_PERHAPS;
	else
		return false;
	step(p, EVENT_LISTENS, NULL, NULL);
	return true;
}

static bool
renewed(struct play *p, const char *text)
{
	frame_unref(p->stage.initialized);
	p->stage.initialized = parse(text);
	return p->stage.initialized != NULL;
}

static bool
control(struct play *p, const char *text)
{
	if (strcmp(text, "eof") == 0)
		step(p, INPUT_EOF, NULL, NULL);
	else if (strcmp(text, "notes") == 0)
		p->notes = true;
	else if (strcmp(text, "shared") == 0)
		p->stage.shared = true;
	else if (strncmp(text, "stream ", 7) == 0)
		return stream_is(p, text + 7);
	else if (strncmp(text, "initialized ", 12) == 0)
		return renewed(p, text + 12);
	else if (strncmp(text, "wait ", 5) == 0)
		return wait_for(p, strtol(text + 5, NULL, 10));
	else if (strncmp(text, "secret ", 7) == 0)
		p->in.secret[0] = strtoull(text + 7, NULL, 10);
	else
		return false;
	return true;
}

/* --- questions --- */

static bool
ask(struct play *p, char *text)
{
	char *answer = strrchr(text, ' ');
	int64_t due = client_deadline(p->era);
	struct frame *f;
	struct buf page;
	bool is;

	if (strncmp(text, "says ", 5) == 0) {
		buf_init(&page, 0);
		client_describe(p->era, &page);
		is = strstr(buf_str(&page), text + 5) != NULL;
		buf_free(&page);
		return is;
	}
	if (answer == NULL)
		return false;
	*answer++ = '\0';
	if (strcmp(text, "due") == 0 && due < 0)
		return strcmp(answer, "never") == 0;
	if (strcmp(text, "due") == 0)
		return due - p->in.now == strtol(answer, NULL, 10);
	if (strcmp(text, "legacy") == 0) {
		is = client_is_legacy(p->era);
	} else if (strcmp(text, "holds") == 0) {
		is = client_holds(p->era);
	} else if (strncmp(text, "passes ", 7) == 0 &&
	    (f = parse(text + 7)) != NULL) {
		is = client_passes(p->era, f);
		frame_unref(f);
	} else {
		return false;
	}
	return strcmp(answer, is ? "yes" : "no") == 0;
}

/* --- what is expected --- */

/* <*> is anything; the pieces between are looked for in order. */
static bool
matches(const char *want, const char *got)
{
	const char *any = strstr(want, "<*>");
	size_t n, rest;
	char *piece;

	if (any == NULL)
		return strcmp(want, got) == 0;
	n = (size_t)(any - want);
	if (strncmp(want, got, n) != 0)
		return false;
	got += n;
	for (want = any + 3; (any = strstr(want, "<*>")) != NULL;
	     want = any + 3) {
		piece = xstrndup(want, (size_t)(any - want));
		n = strlen(piece);
		got = strstr(got, piece);
		free(piece);
		if (got == NULL)
			return false;
		got += n;
	}
	n = strlen(got);
	rest = strlen(want);
	return n >= rest && strcmp(got + n - rest, want) == 0;
}

/* The first line of what came out, taken. */
static bool
expect(struct play *p, const char *want)
{
	char *text = xstrdup(buf_str(&p->out)), *end = strchr(text, '\n');
	bool same;

	if (end == NULL) {
		free(text);
		return false;
	}
	*end = '\0';
	same = matches(want, text);
	if (same)
		buf_drain(&p->out, (size_t)(end - text) + 1);
	free(text);
	return same;
}

static bool
is_input(char c)
{
	return c == '>' || c == '<' || c == '+' || c == '-' || c == '!' ||
	    c == '?' || c == '~';
}

static bool
play_line(struct play *p, char *line)
{
	char *text = line[0] != '\0' && line[1] == ' ' ? line + 2 : line + 1;

	if (!is_input(line[0]))
		return expect(p, line);
	if (p->out.n > 0)
		return false; /* more came out than was expected */
	switch (line[0]) {
	case '>':
		return client_says(p, text);
	case '<':
		return session_says(p, text);
	case '+':
		return server_is(p, text);
	case '-':
		return server_is(p, NULL);
	case '!':
		return control(p, text);
	case '~':
		return goes_out(p, text);
	default:
		return ask(p, text);
	}
}

static void
play_start(struct play *p, size_t max_held)
{
	memset(p, 0, sizeof *p);
	p->config.host = "mcp.example.com";
	p->config.version = "0.1";
	p->config.prefix = "p";
	p->config.max_held = max_held == 0 ? 1 << 20 : max_held;
	p->in.now = 1000;
	p->stage.listening = LISTENS;
	p->in.secret[0] = 0x1111111111111111;
	p->in.secret[1] = 0x2222222222222222;
	p->era = client_new(&p->config, &p->stage);
	buf_init(&p->out, 0);
}

static void
play_end(struct play *p)
{
	client_free(p->era);
	while (p->n_sent > 0)
		frame_unref(p->sent[--p->n_sent]);
	frame_unref(p->stage.initialized);
	frame_unref(p->discovered);
	buf_free(&p->out);
}

char *
client_play(const char *schedule, size_t max_held)
{
	struct play p;
	const char *at = schedule, *end;
	char *wrong = NULL, *copy;
	struct buf line;

	play_start(&p, max_held);
	buf_init(&line, 0);
	for (; *at != '\0' && wrong == NULL; at = end + (*end == '\n')) {
		end = strchrnul(at, '\n');
		buf_reset(&line);
		expand(&line, (struct span){ at, (size_t)(end - at) });
		if (end == at)
			continue;
		copy = xstrdup(buf_str(&line));
		if (!play_line(&p, copy))
			wrong = xasprintf("at %.*s\nfor %s\ngot %s",
			    (int)(end - at), at, buf_str(&line),
			    buf_str(&p.out));
		free(copy);
	}
	if (wrong == NULL && p.out.n > 0)
		wrong = xasprintf("at the end, got %s", buf_str(&p.out));
	buf_free(&line);
	play_end(&p);
	return wrong;
}
