/*
 * Three reducers in a row: core/modern_client, core/session, core/server. Each
 * event is offered to the filter that stands in its way, and passes if the
 * filter does not want it. chain_next works until there is an event that goes
 * out.
 */
#include "config.h"

#include "core/chain.h"

#include <stdlib.h>

#include "base/codec.h"
#include "core/exchange/fault.h"
#include "core/modern_client/client.h"
#include "core/wire/json.h"

enum { EXIT_FAILED = 22 };

struct chain {
	struct client *client;
	struct session *session;
	struct server *server;
	struct stage stage; /* what the client may know of the others */
	enum session_listening listening; /* what the client knows */
	const struct frame *discovered;   /* the same */
	/* What the filters want to be offered, and whether they may have events
	 * for the others since their latest step. */
	uint64_t client_wants, server_wants;
	bool client_stepped, server_stepped;
	bool legacy;         /* the client is a legacy one */
	int64_t filters_due; /* the earlier deadline of the two */
	/* Of the latest input, for what follows from it. */
	int64_t now;
	uint64_t random;
	uint64_t secret[2];
	bool fail;     /* exit with 22 after an error that mcpsplice made */
	bool fail_any; /* or after any error */
	bool failed;   /* such an error was written */
	bool broken;   /* stdout is broken, so nobody reads the error */
	const char *hint;
	struct frame *hinted; /* the latest error with the hint */
	/* Inputs that the session still has to get: what the client makes of
	 * them comes first. */
	bool eof, stop, tick;
};

static int64_t
earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Notes what only a step of a filter changes. */
static void
note_filters(struct chain *c)
{
	c->client_wants = client_wants(c->client);
	c->server_wants = server_wants(c->server);
	c->legacy = client_is_legacy(c->client);
	c->filters_due = earlier(client_deadline(c->client),
	    server_deadline(c->server));
}

struct chain *
chain_new(const struct chain_config *config)
{
	const struct session_config *s = &config->session;
	struct session_config session = *s;
	struct server_config server = config->server;
	struct client_config client = {
		.host = s->host,
		.version = s->version,
		.prefix = s->prefix,
		.max_held = s->max_held,
		.max_result = s->max_result,
	};
	struct chain *c = xcalloc(1, sizeof *c);

	server.host = s->host;
	server.prefix = s->prefix;
	server.call_timeout_ms = s->call_timeout_ms;
	c->fail = s->fail;
	c->fail_any = s->fail_any;
	c->hint = config->hint;
	c->client = client_new(&client, &c->stage);
	session.legacy = server.protocol == PROTOCOL_LEGACY;
	c->session = session_new(&session);
	c->server = server_new(&server);
	note_filters(c);
	return c;
}

void
chain_free(struct chain *c)
{
	if (c == NULL)
		return;
	client_free(c->client);
	session_free(c->session);
	server_free(c->server);
	frame_unref(c->hinted);
	free(c);
}

bool
chain_wants_secret(const struct chain *c)
{
	return !c->legacy;
}

/* --- the way in --- */

/* Gives an event that follows from the latest input the time of that input, and
 * chance of its own: no two events have the same secret. */
static void
follow(struct chain *c, struct event *e)
{
	c->random = codec_mix(c->random);
	e->now = c->now;
	e->random = c->random;
	e->secret[0] = c->secret[0];
	e->secret[1] = c->secret[1]++;
}

/* Offers the client an event that may concern it; false: it passes. */
static bool
to_client(struct chain *c, struct event *e)
{
	c->stage.discovered = server_discovered(c->server);
	c->stage.shared = server_shares_stream(c->server);
	c->stage.initialized = session_initialize_answer(c->session);
	c->stage.listening = session_listening(c->session);
	c->client_stepped = true;
	if (!client_step(c->client, e))
		return false;
	c->listening = c->stage.listening;
	c->discovered = c->stage.discovered;
	note_filters(c);
	return true;
}

/* The same for the server. */
static bool
to_server(struct chain *c, struct event *e)
{
	if (!server_step(c->server, e))
		return false;
	c->server_stepped = true;
	note_filters(c);
	return true;
}

static void
tell_session(struct chain *c, enum event_kind kind)
{
	struct event e = { .kind = kind };

	follow(c, &e);
	session_step(c->session, &e);
}

static void
tell_server(struct chain *c, enum event_kind kind)
{
	struct event e = { .kind = kind };

	follow(c, &e);
	to_server(c, &e);
}

static void
tick_others(struct chain *c)
{
	if (session_deadline(c->session) <= c->now)
		tell_session(c, INPUT_TICK);
	if (server_deadline(c->server) <= c->now)
		tell_server(c, INPUT_TICK);
}

/* After a stall several of the three deadlines may have passed in one turn.
 * When the client answers a request itself, it cancels the call at the session:
 * that cancel has to arrive before the session or the server ticks, or they
 * would answer the request a second time. */
static void
tick(struct chain *c, struct event *in)
{
	if (client_deadline(c->client) <= c->now) {
		to_client(c, in);
		c->tick = true;
		return;
	}
	tick_others(c);
}

void
chain_step(struct chain *c, const struct event *event)
{
	struct event in = *event;
	uint64_t bit;

	if (in.kind == INPUT_CLIENT &&
	    !session_admits(c->session, in.frame, &in.invalid))
		in.kind = INPUT_INVALID;
	bit = EVENT_BIT(in.kind);
	c->now = in.now;
	c->random = in.random;
	c->secret[0] = in.secret[0];
	c->secret[1] = in.secret[1];
	if (in.kind == INPUT_TICK) {
		tick(c, &in);
		return;
	}
	c->broken = c->broken || in.kind == INPUT_BROKEN;
	if ((c->client_wants & bit) != 0 && to_client(c, &in)) {
		c->eof = c->eof || in.kind == INPUT_EOF;
		c->stop = c->stop || in.kind == INPUT_STOP;
		return;
	}
	if (in.kind == INPUT_EOF) {
		/* Both hear of it, the session first. */
		session_step(c->session, &in);
		tell_server(c, INPUT_EOF);
	} else if ((c->server_wants & bit) == 0 || !to_server(c, &in)) {
		session_step(c->session, &in);
	}
}

/* --- the way out --- */

/* Notes an error that counts for the exit status, whichever reducer wrote
 * it. */
static void
look_at(struct chain *c, const struct frame *f)
{
	if (!c->fail)
		return;
	if (f->kind == FRAME_ERROR)
		c->failed |= c->fail_any || fault_is_ours(f);
	else if (c->fail_any && f->kind == FRAME_RESULT)
		c->failed |= span_is(json_get(f->result, "isError"), "true");
}

/* Does this action of the session leave the chain? */
static bool
leaves(struct chain *c, struct event *out)
{
	uint64_t bit = EVENT_BIT(out->kind);

	if (out->kind == ACTION_WRITE)
		look_at(c, out->frame);
	else if (out->kind == ACTION_EXIT && out->status == 0 && c->failed &&
	    !c->broken)
		out->status = EXIT_FAILED;
	if (((c->client_wants | c->server_wants) & bit) == 0)
		return true;
	follow(c, out);
	return ((c->client_wants & bit) == 0 || !to_client(c, out)) &&
	    ((c->server_wants & bit) == 0 || !to_server(c, out));
}

/* The same for an event of the client or of the server. */
static bool
passes_on(struct chain *c, struct event *out)
{
	follow(c, out);
	if (out->kind == ACTION_WRITE)
		look_at(c, out->frame);
	if (out->kind == EVENT_PROBE)
		to_server(c, out);
	else if (out->kind < EVENT_PROBE)
		session_step(c->session, out);
	return out->kind > EVENT_LISTENS;
}

static bool
next_action(struct chain *c, struct event *out)
{
	struct event listens = { .kind = EVENT_LISTENS };

	for (;;) {
		/* Actions of the client go out before the session's end. */
		if (c->client_stepped &&
		    (c->client_stepped = client_next(c->client, out))) {
			if (passes_on(c, out))
				return true;
		} else if (c->tick) {
			c->tick = false;
			tick_others(c);
		} else if (c->stop) {
			c->stop = false;
			tell_session(c, INPUT_STOP);
		} else if (session_next(c->session, out)) {
			if (leaves(c, out))
				return true;
		} else if (c->server_stepped &&
		    (c->server_stepped = server_next(c->server, out))) {
			if (passes_on(c, out))
				return true;
		} else if (!c->legacy &&
		    (session_listening(c->session) != c->listening ||
			server_discovered(c->server) != c->discovered)) {
			follow(c, &listens);
			to_client(c, &listens);
		} else if (c->eof && !client_holds(c->client)) {
			c->eof = false;
			tell_session(c, INPUT_EOF);
			tell_server(c, INPUT_EOF);
		} else {
			return false;
		}
	}
}

bool
chain_next(struct chain *c, struct event *out)
{
	if (!next_action(c, out))
		return false;
	if (c->hint != NULL && out->kind == ACTION_WRITE &&
	    out->frame->kind == FRAME_ERROR) {
		frame_unref(c->hinted);
		c->hinted = fault_with_hint(out->frame, c->hint);
		out->frame = c->hinted;
	}
	return true;
}

/* --- inspection --- */

int64_t
chain_deadline(const struct chain *c)
{
	return earlier(session_deadline(c->session), c->filters_due);
}

struct session_brief
chain_brief(const struct chain *c)
{
	struct session_brief now = session_brief(c->session);

	now.modern = server_discovered(c->server) != NULL;
	now.sse = server_shares_stream(c->server);
	return now;
}

void
chain_describe(const struct chain *c, struct buf *out)
{
	client_describe(c->client, out);
	session_describe(c->session, out);
	server_describe(c->server, out);
}
