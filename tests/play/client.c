/* Plays core/modern_client; README has what only it has. */
#include "config.h"

#include "play/client.h"

#include <stdlib.h>

#include "core/modern_client/parts.h"
#include "core/modern_client/state.h"
#include "core/wire/msg.h"
#include "play/words.h"

struct own {
	struct client_config config;
	struct client *client;
	struct stage stage;
	uint64_t secret;
	bool secrets;        /* each step has one of its own */
	struct frame **sent; /* to the session */
	size_t n_sent, cap_sent;
	struct frame *discovered, *initialized;
};

/* --- the reducer --- */

static void
begin(struct play *p)
{
	struct own *own = xcalloc(1, sizeof *own);

	own->config.host = "mcp.example.com";
	own->config.version = "0.1";
	own->config.prefix = "p";
	own->config.max_held = 1 << 20;
	own->stage.listening = LISTENS;
	own->secret = 0x1111111111111111;
	p->own = own;
}

static bool
option(struct play *p, const char *word)
{
	struct own *own = p->own;
	int64_t n;

	if (strcmp(word, "secrets") == 0)
		return own->secrets = true;
	if (!words_number(word, "held", &n))
		return false;
	own->config.max_held = (size_t)n;
	return true;
}

static void
start(struct play *p)
{
	struct own *own = p->own;

	own->client = client_new(&own->config, &own->stage);
}

static void
end(struct play *p)
{
	struct own *own = p->own;

	client_free(own->client);
	while (own->n_sent > 0)
		frame_unref(own->sent[--own->n_sent]);
	free(own->sent);
	frame_unref(own->initialized);
	frame_unref(own->discovered);
	free(own);
}

static bool
step(struct play *p, struct event *in)
{
	struct own *own = p->own;

	in->secret[0] = own->secrets ? own->secret++ : own->secret;
	in->secret[1] = 0x2222222222222222;
	return client_step(own->client, in);
}

PLAY_CALLS(client)

/* --- what comes --- */

static void
keep_sent(struct own *own, struct frame *f)
{
	if (own->n_sent == own->cap_sent) {
		own->cap_sent = own->cap_sent * 2 + 16;
		own->sent = xrealloc(own->sent,
		    own->cap_sent * sizeof *own->sent);
	}
	own->sent[own->n_sent++] = frame_ref(f);
}

static bool
tell(struct play *p, const struct event *e)
{
	const struct frame *f = e->frame;

	if (e->kind == INPUT_CLIENT) {
		buf_addf(&p->out, "send %.*s\n", (int)f->text.n, f->text.p);
		keep_sent(p->own, e->frame);
	} else if (e->kind == EVENT_PROBE) {
		buf_addf(&p->out, "probe %.*s\n",
		    f == NULL ? 1 : (int)f->text.n,
		    f == NULL ? "-" : f->text.p);
	} else {
		/* The time, EOF, or a listen stream that is open. */
		return e->kind == INPUT_TICK || e->kind == INPUT_EOF ||
		    e->kind == EVENT_LISTENS;
	}
	return true;
}

/* --- the session --- */

static struct frame *
parse(const char *text)
{
	enum msg_status status;
	struct frame *f;
	struct buf b;

	buf_init(&b, 0);
	buf_adds(&b, text);
	f = play_frame(&b, &status);
	if (status == MSG_OK)
		return f;
	frame_unref(f);
	return NULL;
}

/* The latest that was sent with this id, or without one by this method. */
static struct frame *
sent_with(const struct own *own, const char *id)
{
	struct frame *f;
	size_t i;

	for (i = own->n_sent; i > 0; i--) {
		f = own->sent[i - 1];
		if (span_is(f->id.p == NULL ? f->method : f->id, id))
			return f;
	}
	return NULL;
}

/* [own] [@ID] {...} */
static bool
session_says(struct play *p, const char *text)
{
	struct event in = { .kind = ACTION_WRITE };
	const char *rest = words_after(text, "own");
	struct buf word;

	in.ok = rest != NULL;
	text = in.ok ? rest : text;
	if (*text == '@') {
		buf_init(&word, 0);
		words_next(&text, &word);
		in.related = sent_with(p->own, word.p + 1);
		buf_free(&word);
		if (in.related == NULL)
			return false;
	}
	in.frame = parse(text);
	if (in.frame == NULL)
		return false;
	play_step(p, &in);
	frame_unref(in.frame);
	return true;
}

/* --- the world --- */

static bool
goes_out(struct play *p, const char *id)
{
	const struct own *own = p->own;
	struct frame *f = sent_with(own, id), *made;

	if (f == NULL)
		return false;
	made = client_fit(own->client, f->kind == FRAME_REQUEST ? f : NULL, f,
	    own->discovered != NULL);
	if (made == NULL)
		buf_adds(&p->out, "fits\n");
	else
		buf_addf(&p->out, "fit %.*s\n", (int)made->text.n,
		    made->text.p);
	frame_unref(made);
	return true;
}

static bool
stream_is(struct play *p, const char *text)
{
	static const char *const names[] = { "perhaps", "open", "none" };
	struct event in = { .kind = EVENT_LISTENS };
	struct own *own = p->own;
	int i = words_index(text, names, 3);

	if (i < 0)
		return false;
	own->stage.listening = (enum session_listening)i;
	play_step(p, &in);
	return true;
}

static bool
set_frame(struct frame **to, const char *text)
{
	frame_unref(*to);
	*to = parse(text);
	return *to != NULL;
}

/* Returns false for what is common to all reducers. */
static bool
world(struct play *p, const char *text, bool *bad)
{
	struct own *own = p->own;
	const char *rest;
	bool good = true;

	if (strcmp(text, "shared") == 0)
		own->stage.shared = true;
	else if (strcmp(text, "server -") == 0)
		set_frame(&own->discovered, "");
	else if ((rest = words_after(text, "server")) != NULL)
		good = set_frame(&own->discovered, rest);
	else if ((rest = words_after(text, "initialized")) != NULL)
		good = set_frame(&own->initialized, rest);
	else if ((rest = words_after(text, "stream")) != NULL)
		good = stream_is(p, rest);
	else if ((rest = words_after(text, "out")) != NULL)
		good = goes_out(p, rest);
	else if ((rest = words_after(text, "secret")) != NULL)
		own->secret = strtoull(rest, NULL, 10);
	else
		return false;
	own->stage.discovered = own->discovered;
	own->stage.initialized = own->initialized;
	*bad = !good;
	return true;
}

/* --- questions --- */

static bool
passes(const struct own *own, const char *text, bool *is)
{
	struct frame *f = parse(text);

	if (f != NULL)
		*is = client_passes(own->client, f);
	frame_unref(f);
	return f != NULL;
}

/* The words before the last one, which is yes or no. */
static bool
ask(struct play *p, const char *line, bool *bad)
{
	const struct own *own = p->own;
	const char *answer = strrchr(line, ' '), *rest;
	bool is = false, known = true;
	char *text;

	if (answer == NULL)
		return false;
	text = xstrndup(line, (size_t)(answer - line));
	if (strcmp(text, "legacy") == 0)
		is = client_is_legacy(own->client);
	else if (strcmp(text, "holds") == 0)
		is = client_holds(own->client);
	else if ((rest = words_after(text, "passes")) != NULL)
		*bad = !passes(own, rest, &is);
	else
		known = false;
	free(text);
	*bad |= known && strcmp(answer + 1, is ? "yes" : "no") != 0;
	return known;
}

static bool
input(struct play *p, const char *line, bool *bad)
{
	if (line[0] == '<')
		*bad = !session_says(p, line + 2);
	return line[0] == '<' || (line[0] == '!' && world(p, line + 2, bad)) ||
	    (line[0] == '?' && ask(p, line + 2, bad));
}

const struct reducer play_client = {
	.name = "client",
	.tells = TELLS_WRITES,
	.begin = begin,
	.option = option,
	.start = start,
	.free = end,
	.step = step,
	.next = next,
	.deadline = deadline,
	.describe = describe,
	.input = input,
	.tell = tell,
};

struct client *
client_played(const struct play *p)
{
	const struct own *own = p->own;

	return own->client;
}
