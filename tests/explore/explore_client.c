/*
 * Random schedules for the core/modern_client reducer: a client that begins
 * as a modern one, a session that answers, asks and is lost, a server that
 * changes its era, and time. The rules that hold for all of them: each request
 * of the client has one answer, none after it was cancelled; each question
 * of the server has one; no id is in use twice at the session; in the end
 * nothing is left.
 *
 * EXPLORE is the number of schedules; EXPLORE_SEED=N plays that one alone and
 * prints it in the language of tests/play/README.
 */
#include "config.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/modern_client/parts.h"
#include "core/wire/json.h"
#include "play/client.h"

enum { SCHEDULES = 4000, STEPS = 150, OPEN_MAX = 4096, DEPTH = 64 };

/* The ids of requests that have no answer yet. */
struct ids {
	char *id[OPEN_MAX];
	struct frame *frame[OPEN_MAX];
	size_t n;
};

struct world {
	struct play *p;
	struct client *client_played;
	uint64_t random;
	struct ids client;    /* requests of the client */
	struct ids session;   /* the same at the session */
	struct ids questions; /* of the server */
	char state[64];       /* the latest requestState */
	unsigned asked, calls;
	bool modern, legacy, lost;
	bool modern_server;
	bool own;           /* the next question is one of mcpsplice itself */
	const char *broken; /* the first rule that is */
};

static uint64_t
next_random(struct world *w)
{
	uint64_t x = w->random += 0x9e3779b97f4a7c15u;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

static unsigned
pick(struct world *w, unsigned n)
{
	return (unsigned)(next_random(w) % n);
}

/* --- ids --- */

static size_t
ids_find(const struct ids *t, struct span id)
{
	size_t i = 0;

	while (i < t->n && !msg_id_same(span_of(t->id[i]), id))
		i++;
	return i;
}

static bool
ids_has(const struct ids *t, struct span id)
{
	return ids_find(t, id) < t->n;
}

static void
ids_add(struct ids *t, struct frame *f)
{
	if (t->n == OPEN_MAX)
		abort();
	t->id[t->n] = xstrndup(f->id.p, f->id.n);
	t->frame[t->n++] = frame_ref(f);
}

/* Returns whether it was there. */
static bool
ids_take(struct ids *t, struct span id)
{
	size_t i = ids_find(t, id);

	if (i == t->n)
		return false;
	free(t->id[i]);
	frame_unref(t->frame[i]);
	t->n--;
	t->id[i] = t->id[t->n];
	t->frame[i] = t->frame[t->n];
	return true;
}

static void
ids_clear(struct ids *t)
{
	while (t->n > 0)
		ids_take(t, span_of(t->id[0]));
}

/* --- the rules --- */

static void
must(struct world *w, bool holds, const char *rule)
{
	if (!holds && w->broken == NULL)
		w->broken = rule;
}

static bool
is_answer(const struct frame *f)
{
	return f->kind == FRAME_RESULT || f->kind == FRAME_ERROR;
}

static void
cancelled_at_session(struct world *w, const struct frame *f)
{
	ids_take(&w->session, json_get(f->params, "requestId"));
}

static void
sent(struct world *w, struct frame *f)
{
	if (f->kind == FRAME_REQUEST) {
		must(w, !ids_has(&w->session, f->id),
		    "an id is in use twice at the session");
		if (span_is(f->method, "initialize"))
			w->lost = w->session.n > 0;
		ids_add(&w->session, f);
	} else if (is_answer(f)) {
		must(w, ids_take(&w->questions, f->id),
		    "an answer to no open question");
	} else if (span_is(f->method, "notifications/cancelled")) {
		cancelled_at_session(w, f);
	}
}

static void
written(struct world *w, struct frame *f)
{
	struct span state = json_get(f->result, "requestState");

	must(w, f->kind != FRAME_REQUEST, "a modern client is asked");
	if (is_answer(f))
		must(w, ids_take(&w->client, f->id),
		    "an answer that nobody waits for");
	else if (span_is(f->method, "notifications/cancelled"))
		ids_take(&w->client, json_get(f->params, "requestId"));
	if (state.n > 2 && state.n < sizeof w->state)
		snprintf(w->state, sizeof w->state, "%.*s", (int)state.n - 2,
		    state.p + 1);
}

/* The player's watch. */
static void
watch(struct play *p, const struct event *e)
{
	struct world *w = p->arg;

	if (e->kind == INPUT_CLIENT)
		sent(w, e->frame);
	else if (e->kind == ACTION_WRITE)
		written(w, e->frame);
	else if (e->kind == EVENT_PROBE)
		w->modern = e->frame != NULL;
}

/* Plays a line. */
static void input(struct world *w, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static void
input(struct world *w, const char *fmt, ...)
{
	va_list ap;
	char *line;

	va_start(ap, fmt);
	line = xvasprintf(fmt, ap);
	va_end(ap);
	must(w, play_input(w->p, line), "the explorer speaks a wrong language");
	must(w, !w->p->spins, "the deadline comes for ever");
	buf_reset(&w->p->out);
	free(line);
}

static struct frame *make(const char *fmt, ...)
    __attribute__((format(printf, 1, 2)));

static struct frame *
make(const char *fmt, ...)
{
	struct frame *f;
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	f = frame_copy(span_of(text));
	free(text);
	if (msg_parse(f, DEPTH) != MSG_OK)
		abort();
	return f;
}

/* --- the client --- */

#define KEY "\"io.modelcontextprotocol/"

static const char *const metas[] = {
	KEY "protocolVersion\":\"2026-07-28\"," KEY
	    "clientCapabilities\":{\"elicitation\":{\"url\":{},\"form\":{}},"
	    "\"roots\":{},\"sampling\":{}}",
	KEY "protocolVersion\":\"2026-07-28\"," KEY "clientCapabilities\":{}",
	KEY "protocolVersion\":\"2026-07-28\"," KEY
	    "clientCapabilities\":{\"roots\":{}}," KEY "logLevel\":\"info\"",
	KEY "protocolVersion\":\"2026-07-28\"," KEY
	    "clientCapabilities\":{}," KEY
	    "logLevel\":\"debug\",\"progressToken\":\"t\"",
	KEY "protocolVersion\":\"2025-11-25\"",
	KEY "protocolVersion\":1",
	"\"progressToken\":1",
};

static const char *const methods[] = { "tools/call", "tools/call", "tools/call",
	"prompts/get", "resources/read", "tools/list", "server/discover",
	"subscriptions/listen", "subscriptions/listen", "completion/complete",
	"logging/setLevel", "ping", "x" };

static void
client_says(struct world *w, struct frame *f)
{
	input(w, "> %.*s", (int)f->text.n, f->text.p);
	frame_unref(f);
}

/* Sends a request. Most are valid; a retry repeats an earlier request. */
static void
client_asks(struct world *w)
{
	const char *method = methods[pick(w, sizeof methods / sizeof *methods)];
	char *more = NULL;
	struct frame *f;

	if (strcmp(method, "subscriptions/listen") == 0)
		more =
		    xasprintf(",\"notifications\":{\"toolsListChanged\":true,"
			      "\"resourceSubscriptions\":[\"a:%u\",\"a:%u\"]}",
			pick(w, 4), pick(w, 4));
	else if (w->state[0] != '\0' && pick(w, 2) == 0)
		more = xasprintf(",\"requestState\":\"%s\","
				 "\"inputResponses\":{\"q%u\":{},\"q1\":{}}",
		    w->state, pick(w, 4));
	f = make("{\"jsonrpc\":\"2.0\",\"id\":%u,\"method\":\"%s\","
		 "\"params\":{\"_meta\":{%s}%s}}",
	    ++w->calls, method, metas[pick(w, pick(w, 8) == 0 ? 7 : 4)],
	    more == NULL ? "" : more);
	free(more);
	ids_add(&w->client, f);
	client_says(w, f);
}

static void
client_cancels(struct world *w)
{
	struct frame *f =
	    make("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
		 "\"params\":{\"requestId\":%u}}",
		w->calls > 8 ? w->calls - pick(w, 8) : w->calls);

	ids_take(&w->client, json_get(f->params, "requestId"));
	client_says(w, f);
}

static void
client_falls_back(struct world *w)
{
	struct frame *f = make("{\"jsonrpc\":\"2.0\",\"id\":%u,"
			       "\"method\":\"initialize\",\"params\":{}}",
	    ++w->calls);

	ids_add(&w->client, f);
	w->legacy = true;
	client_says(w, f);
}

/* --- the session --- */

/* on: the request whose stream it comes on, or NULL. */
static void
session_says(struct world *w, struct frame *f, const struct frame *on)
{
	bool passes = client_is_legacy(w->client_played);

	input(w, "< %s%s%.*s%s%.*s", w->own ? "own " : "",
	    on == NULL ? "" : "@", on == NULL ? 0 : (int)on->id.n,
	    on == NULL ? "" : on->id.p, on == NULL ? "" : " ", (int)f->text.n,
	    f->text.p);
	if (passes)
		written(w, f);
	frame_unref(f);
}

#define URL_FIRST                                                              \
	"\"error\":{\"code\":-32042,\"message\":\"m\",\"data\":{"              \
	"\"elicitations\":[{\"url\":\"u\"}]}}"

static const char *const endings[] = {
	"\"result\":{}",
	"\"result\":{\"tools\":[]}",
	"\"result\":{\"resultType\":\"complete\"}",
	"\"error\":{\"code\":-32603,\"message\":\"m\"}",
	URL_FIRST,
};

#define CAN                                                                    \
	"\"result\":{\"capabilities\":{\"logging\":{},\"tools\":{"             \
	"\"listChanged\":true},\"resources\":{\"subscribe\":true}}}"

static void
answer(struct world *w, size_t i, const char *ending)
{
	struct frame *f = make("{\"jsonrpc\":\"2.0\",\"id\":%s,%s}",
	    w->session.id[i], ending);

	ids_take(&w->session, f->id);
	session_says(w, f, NULL);
}

static void
session_answers(struct world *w)
{
	unsigned i;
	const char *ending = endings[pick(w, sizeof endings / sizeof *endings)];

	if (w->session.n == 0)
		return;
	i = pick(w, (unsigned)w->session.n);
	if (span_is(w->session.frame[i]->method, "initialize") &&
	    pick(w, 5) != 0)
		ending = CAN;
	answer(w, i, ending);
}

/* The stream that something comes on; NULL: the session's own. */
static struct frame *
a_stream(struct world *w)
{
	if (w->session.n == 0 || pick(w, 3) == 0)
		return NULL;
	return frame_ref(w->session.frame[pick(w, (unsigned)w->session.n)]);
}

static void
session_asks(struct world *w)
{
	static const char *const asks[] = { "elicitation/create", "roots/list",
		"sampling/createMessage", "ping", "x" };
	struct frame *on = a_stream(w), *f;
	unsigned which = pick(w, sizeof asks / sizeof *asks);

	f = make("{\"jsonrpc\":\"2.0\",\"id\":\"s%u\",\"method\":\"%s\","
		 "\"params\":{}}",
	    ++w->asked, asks[which]);
	ids_add(&w->questions, f);
	w->own = which == 0 && pick(w, 2) == 0;
	session_says(w, f, on);
	w->own = false;
	frame_unref(on);
}

static void
take_back(struct world *w, size_t i)
{
	struct frame *f =
	    make("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
		 "\"params\":{\"requestId\":%s}}",
		w->questions.id[i]);

	ids_take(&w->questions, json_get(f->params, "requestId"));
	session_says(w, f, NULL);
}

static void
session_tells(struct world *w)
{
	static const char *const notes[] = {
		"progress\",\"params\":{\"progressToken\":\"t\"}",
		"message\",\"params\":{\"level\":\"error\"}",
		"tools/list_changed\"",
		"resources/updated\",\"params\":{\"uri\":\"a:1\"}",
		"x\"",
	};
	struct frame *on = a_stream(w), *f;

	f = make("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/%s}",
	    notes[pick(w, sizeof notes / sizeof *notes)]);
	session_says(w, f, on);
	frame_unref(on);
}

/* A renewal: the session cancels its questions, and some calls are lost. */
static void
session_is_lost(struct world *w)
{
	while (w->questions.n > 0)
		take_back(w, 0);
	if (w->session.n > 0)
		answer(w, 0, endings[3]);
}

/* A new initialize ends all open requests, and drops questions silently. */
static void
end_former(struct world *w)
{
	size_t i;

	w->lost = false;
	ids_clear(&w->questions);
	for (i = 0; i < w->session.n;)
		if (span_is(w->session.frame[i]->method, "initialize") &&
		    i + 1 == w->session.n)
			i++;
		else
			answer(w, i, endings[3]);
}

/* What it has goes out, perhaps once more. */
static void
session_sends(struct world *w)
{
	struct frame *f, *made;

	if (w->session.n == 0 || client_is_legacy(w->client_played))
		return;
	f = w->session.frame[pick(w, (unsigned)w->session.n)];
	made = client_fit(w->client_played, f, f, w->modern_server);
	must(w, made == NULL || span_eq(made->id, f->id),
	    "it goes out under an id that the session does not know");
	frame_unref(made);
}

/* --- time, and the server --- */

static void
server_changes(struct world *w)
{
	w->modern_server = !w->modern_server;
	if (w->modern_server)
		input(w,
		    "! server {$J,'id':0,'result':{'supportedVersions':"
		    "['2026-07-28']}}");
	else
		input(w, "! server -");
}

/* The session's own stream. */
static void
stream_changes(struct world *w)
{
	static const char *const streams[] = { "perhaps", "open", "none" };

	input(w, "! stream %s", streams[pick(w, 3)]);
}

static void
anything(struct world *w)
{
	unsigned what = pick(w, 100);

	if (what < 30 && !w->legacy)
		client_asks(w);
	else if (what < 36 && !w->legacy)
		client_cancels(w);
	else if (what < 37 && !w->legacy && pick(w, 4) == 0)
		client_falls_back(w);
	else if (what < 60)
		session_answers(w);
	else if (what < 75 && w->modern)
		session_asks(w);
	else if (what < 78 && w->questions.n > 0)
		take_back(w, pick(w, (unsigned)w->questions.n));
	else if (what < 87)
		session_tells(w);
	else if (what < 88)
		session_is_lost(w);
	else if (what < 96)
		input(w, "! wait %u",
		    pick(w, 10) == 0 ? 601000 : pick(w, 4000));
	else if (what < 97)
		server_changes(w);
	else if (what < 99)
		session_sends(w);
	else
		stream_changes(w);
	if (w->lost)
		end_former(w);
}

/* --- a whole life --- */

static void
drain(struct world *w)
{
	int rounds = 0;

	do {
		while (w->session.n > 0 && w->broken == NULL &&
		    ++rounds < OPEN_MAX)
			answer(w, 0,
			    span_is(w->session.frame[0]->method, "initialize") ?
				CAN :
				endings[0]);
		input(w, "! wait 700000");
	} while (w->session.n > 0 && w->broken == NULL && rounds < OPEN_MAX);
	must(w, w->session.n == 0, "the session never gets rid of it all");
}

static void
check_end(struct world *w)
{
	size_t i;

	for (i = 0; i < w->client.n; i++)
		must(w,
		    span_is(w->client.frame[i]->method, "subscriptions/listen"),
		    "a request without an answer");
	if (!w->legacy)
		input(w, "! eof");
	drain(w);
	must(w, w->client.n == 0 || w->legacy, "a listen without an end");
	must(w, w->questions.n == 0, "a question without an answer");
	must(w, client_deadline(w->client_played) == ALARM_NEVER,
	    "a deadline for nothing");
	must(w, !client_holds(w->client_played), "something is held for ever");
}

/* Returns the rule that is broken, or NULL. */
static const char *
play(uint64_t seed, bool trace)
{
	struct world *w = xcalloc(1, sizeof *w);
	const char *broken;
	int i;

	w->random = seed;
	w->p = play_new(&play_client, "held=2000 secrets");
	w->p->watch = watch;
	w->p->arg = w;
	w->client_played = client_played(w->p);
	input(w, "! stream perhaps");
	for (i = 0; i < STEPS && w->broken == NULL; i++)
		anything(w);
	drain(w);
	check_end(w);
	broken = w->broken;
	if (trace)
		printf("= client\n== a_schedule : held=2000 secrets\n%s",
		    buf_str(&w->p->trace));
	play_free(w->p);
	ids_clear(&w->client);
	ids_clear(&w->session);
	ids_clear(&w->questions);
	free(w);
	return broken;
}

int
main(void)
{
	const char *one = getenv("EXPLORE_SEED"), *many = getenv("EXPLORE");
	uint64_t n = many != NULL ? strtoull(many, NULL, 10) : SCHEDULES, seed;
	const char *broken;

	if (one != NULL) {
		broken = play(strtoull(one, NULL, 10), true);
		printf("%s\n", broken == NULL ? "good" : broken);
		return broken != NULL;
	}
	for (seed = 1; seed <= n; seed++) {
		broken = play(seed, false);
		if (broken == NULL)
			continue;
		printf("EXPLORE_SEED=%" PRIu64 ": %s\n", seed, broken);
		return 1;
	}
	printf("%" PRIu64 " schedules, all good\n", n);
	return 0;
}
