/*
 * Three reducers in a row: client, session, server. An action of one reducer is
 * an input of its neighbour, or it leaves the chain; chain_next steps the
 * reducers until an action leaves. Messages between a legacy client and a
 * legacy server go to the session directly.
 */
#include "config.h"

#include "core/chain.h"

#include <stdlib.h>

#include "base/codec.h"
#include "core/client/client.h"
#include "core/wire/json.h"

enum { EXIT_OWN_ERROR = 22 };

struct chain {
	struct client *client;
	struct session *session;
	struct server *server;
	/* Of the latest input, for the steps that follow from it. */
	int64_t now;
	uint64_t random;
	uint64_t secret[2];
	enum session_listening listening; /* the last value that core/client was
					   * told */
	bool fail;                        /* exit with 22 after an error that
					   * mcpsplice made */
	bool own_errors;                  /* such an error was written */
	bool broken;                      /* stdout is broken, so nobody reads
					   * the error */
	bool eof, stop, tick;             /* inputs that the session still has
					   * to get */
	struct frame *fitted;             /* the body of the latest order,
					   * rewritten by fit(), or NULL */
	/* client and server have no action and the client is a legacy one: only
	 * the session is asked for actions, until client or server is stepped
	 * again. */
	bool quiet;
	int64_t eras_deadline; /* deadline of client and server, while quiet is
				* set */
};

struct chain *
chain_new(const struct chain_config *config)
{
	const struct session_config *s = &config->session;
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
	c->client = client_new(&client);
	c->session = session_new(s);
	c->server = server_new(&server);
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
	frame_unref(c->fitted);
	free(c);
}

bool
chain_wants_secret(const struct chain *c)
{
	return !client_is_legacy(c->client);
}

/* Makes a new random word of the latest input's one for each step. */
static uint64_t
next_random(struct chain *c)
{
	return c->random = codec_mix(c->random);
}

/* --- inputs of the three --- */

static void
to_session(struct chain *c, struct session_input *in)
{
	in->now = c->now;
	in->random = next_random(c);
	session_step(c->session, in);
}

static void
to_client(struct chain *c, struct client_input *in)
{
	c->quiet = false;
	in->now = c->now;
	in->random = next_random(c);
	in->secret[0] = c->secret[0];
	in->secret[1] = c->secret[1]++; /* each step gets another secret */
	in->discovered = server_discovered(c->server);
	in->shared = server_shares_stream(c->server);
	in->initialized = session_initialize_answer(c->session);
	in->listening = c->listening = session_listening(c->session);
	client_step(c->client, in);
}

static void
to_server(struct chain *c, struct server_input *in)
{
	c->quiet = false;
	in->now = c->now;
	in->random = next_random(c);
	server_step(c->server, in);
}

static void
client_says(struct chain *c, const struct session_input *in)
{
	struct client_input to = { .kind = CLIENT_CLIENT, .frame = in->frame };

	if (client_passes(c->client, in->frame))
		session_step(c->session, in);
	else
		to_client(c, &to);
}

/* Hands on an input that names a ticket: to the session for a ticket of its
 * own, else to the server. */
static void
server_says(struct chain *c, const struct session_input *in)
{
	struct server_input to = {
		.ticket = in->ticket,
		.facts = in->facts,
		.frame = in->frame,
		.text = in->text,
		.ok = in->ok,
	};

	if (!server_owns(in->ticket)) {
		session_step(c->session, in);
		return;
	}
	switch (in->kind) {
	case INPUT_HEAD:
		to.kind = SERVER_HEAD;
		break;
	case INPUT_MESSAGE:
		to.kind = SERVER_MESSAGE;
		break;
	case INPUT_ENDPOINT:
		to.kind = SERVER_ENDPOINT;
		break;
	case INPUT_SIGN_IN:
		to.kind = SERVER_SIGN_IN;
		break;
	default:
		to.kind = SERVER_DONE;
		break;
	}
	to_server(c, &to);
}

/* EOF of the client. The client makes its last answers before the session gets
 * the input. */
static void
ends(struct chain *c, const struct session_input *in)
{
	struct client_input to = { .kind = CLIENT_EOF };
	struct server_input server = { .kind = SERVER_EOF };

	if (client_is_legacy(c->client)) {
		session_step(c->session, in);
		to_server(c, &server);
		return;
	}
	to_client(c, &to);
	c->eof = true;
}

/* A signal. The client makes the answers it owes before the session gets the
 * input. */
static void
stops(struct chain *c, const struct session_input *in)
{
	struct client_input to = { .kind = CLIENT_EOF };

	if (client_is_legacy(c->client)) {
		session_step(c->session, in);
		return;
	}
	to_client(c, &to);
	c->stop = true;
}

static bool
is_due(int64_t at, int64_t now)
{
	return at >= 0 && at <= now;
}

static void
tick_session(struct chain *c)
{
	struct session_input in = { .kind = INPUT_TICK };

	if (is_due(session_deadline(c->session), c->now))
		to_session(c, &in);
}

static void
tick_server(struct chain *c)
{
	struct server_input in = { .kind = SERVER_TICK };

	if (is_due(server_deadline(c->server), c->now))
		to_server(c, &in);
}

/* After a stall several of the three deadlines may have passed in one turn.
 * When the client answers a request itself, it cancels the call at the session:
 * that cancel has to arrive before the session or the server ticks, or they
 * would answer the request a second time. */
static void
tick(struct chain *c)
{
	struct client_input in = { .kind = CLIENT_TICK };

	if (is_due(client_deadline(c->client), c->now)) {
		to_client(c, &in);
		c->tick = true;
		return;
	}
	tick_session(c);
	tick_server(c);
}

void
chain_step(struct chain *c, const struct session_input *in)
{
	c->now = in->now;
	c->random = in->random;
	c->secret[0] = in->secret[0];
	c->secret[1] = in->secret[1];
	switch (in->kind) {
	case INPUT_CLIENT:
		client_says(c, in);
		break;
	case INPUT_EOF:
		ends(c, in);
		break;
	case INPUT_STOP:
		stops(c, in);
		break;
	case INPUT_BROKEN:
		c->broken = true;
		session_step(c->session, in);
		break;
	case INPUT_HEAD:
	case INPUT_MESSAGE:
	case INPUT_ENDPOINT:
	case INPUT_SIGN_IN:
	case INPUT_DONE:
		server_says(c, in);
		break;
	case INPUT_TICK:
		tick(c);
		break;
	default:
		session_step(c->session, in);
		break;
	}
}

/* --- actions of the three; each returns true if an action leaves --- */

/* Notes an error that mcpsplice made, whichever reducer wrote it. */
static void
look_at(struct chain *c, const struct frame *f)
{
	if (c->fail && f->kind == FRAME_ERROR &&
	    span_is(json_get(json_get(f->error, "data"), "source"),
		"\"mcpsplice\""))
		c->own_errors = true;
}

/* Rewrites the message of a modern client for the era that the server has now,
 * which may not be the era it had when the message came. */
static void
fit(struct chain *c, const struct frame *request, struct order *order)
{
	frame_unref(c->fitted);
	c->fitted = NULL;
	if (client_is_legacy(c->client) || order->body == NULL)
		return;
	c->fitted = client_fit(c->client, request, order->body,
	    server_discovered(c->server) != NULL);
	if (c->fitted != NULL)
		order->body = c->fitted;
}

/* Tools look different to a modern client, so the startup cache of a modern
 * client is stored under its own revision. */
static void
name_version(const struct chain *c, struct session_action *a)
{
	if (!client_is_legacy(c->client))
		a->version = span_of("\"" REVISION_MODERN "\"");
}

static bool
session_acts(struct chain *c, struct session_action *a)
{
	struct server_input server = { .ticket = a->ticket,
		.order = &a->order };
	struct client_input client = {
		.kind = CLIENT_SESSION, .frame = a->frame, .related = a->related
	};

	switch (a->kind) {
	case ACTION_SEND:
		fit(c, a->related, &a->order);
		if (server_passes(c->server, &a->order))
			return true;
		server.kind = SERVER_SEND;
		to_server(c, &server);
		return false;
	case ACTION_ABORT:
		if (!server_has(c->server, a->ticket))
			return true;
		server.kind = SERVER_ABORT;
		to_server(c, &server);
		return false;
	case ACTION_WRITE:
		look_at(c, a->frame);
		if (client_is_legacy(c->client))
			return true;
		to_client(c, &client);
		return false;
	case ACTION_LOAD_START:
	case ACTION_SAVE_START:
		name_version(c, a);
		return true;
	case ACTION_EXIT:
		if (a->status == 0 && c->own_errors && !c->broken)
			a->status = EXIT_OWN_ERROR;
		return true;
	default:
		return true;
	}
}

static void
tell_session(struct chain *c, enum session_input_kind kind,
    const struct server_action *a)
{
	struct session_input in = { .kind = kind,
		.ticket = a->ticket,
		.facts = a->facts,
		.frame = a->frame,
		.text = a->text };

	to_session(c, &in);
}

static bool
server_acts(struct chain *c, const struct server_action *a,
    struct session_action *out)
{
	memset(out, 0, sizeof *out);
	out->ticket = a->ticket;
	switch (a->kind) {
	case SERVER_ORDER:
		out->kind = ACTION_SEND;
		out->order = a->order;
		return true;
	case SERVER_DROP:
		out->kind = ACTION_ABORT;
		return true;
	case SERVER_FOUND:
		out->kind = ACTION_FOUND;
		out->modern = a->modern;
		out->sse = a->sse;
		out->dual = a->dual;
		return true;
	case SERVER_NOTE:
		out->kind = ACTION_LOG;
		out->level = a->level;
		out->text = a->note;
		return true;
	case SERVER_TELL_HEAD:
		tell_session(c, INPUT_HEAD, a);
		return false;
	case SERVER_TELL_MESSAGE:
		tell_session(c, INPUT_MESSAGE, a);
		return false;
	case SERVER_TELL_SIGN_IN:
		tell_session(c, INPUT_SIGN_IN, a);
		return false;
	case SERVER_TELL_DONE:
		tell_session(c, INPUT_DONE, a);
		return false;
	case SERVER_NONE:
		break;
	}
	return false;
}

static bool
client_acts(struct chain *c, const struct client_action *a,
    struct session_action *out)
{
	struct session_input in = { .kind = INPUT_CLIENT,
		.frame = a->frame,
		.probe = !client_is_legacy(c->client) };

	memset(out, 0, sizeof *out);
	switch (a->kind) {
	case CLIENT_WRITE:
		look_at(c, a->frame);
		out->kind = ACTION_WRITE;
		out->frame = a->frame;
		return true;
	case CLIENT_NOTE:
		out->kind = ACTION_LOG;
		out->level = a->level;
		out->text = a->text;
		return true;
	case CLIENT_PROBE:
		server_client(c->server, a->frame);
		return false;
	case CLIENT_SEND:
		to_session(c, &in);
		return false;
	case CLIENT_NONE:
		break;
	}
	return false;
}

static int64_t
earlier(int64_t a, int64_t b)
{
	return b < 0 || (a >= 0 && a < b) ? a : b;
}

static void
settle(struct chain *c)
{
	c->quiet = client_is_legacy(c->client) && !c->eof;
	c->eras_deadline = earlier(client_deadline(c->client),
	    server_deadline(c->server));
}

static bool
next_of_three(struct chain *c, struct session_action *out)
{
	struct session_input eof = { .kind = INPUT_EOF };
	struct session_input stop = { .kind = INPUT_STOP };
	struct server_input server_eof = { .kind = SERVER_EOF };
	struct client_input listens = { .kind = CLIENT_LISTENS };
	struct client_action client;
	struct server_action server;

	for (;;) {
		/* Actions of the client go out before the session's end. */
		if (client_next(c->client, &client)) {
			if (client_acts(c, &client, out))
				return true;
		} else if (c->tick) {
			c->tick = false;
			tick_session(c);
			tick_server(c);
		} else if (c->stop) {
			c->stop = false;
			to_session(c, &stop);
		} else if (session_next(c->session, out)) {
			if (session_acts(c, out))
				return true;
		} else if (server_next(c->server, &server)) {
			if (server_acts(c, &server, out))
				return true;
		} else if (!client_is_legacy(c->client) &&
		    session_listening(c->session) != c->listening) {
			to_client(c, &listens);
		} else if (c->eof && !client_holds(c->client)) {
			c->eof = false;
			to_session(c, &eof);
			to_server(c, &server_eof);
		} else {
			settle(c);
			return false;
		}
	}
}

bool
chain_next(struct chain *c, struct session_action *out)
{
	while (c->quiet) {
		if (!session_next(c->session, out))
			return false;
		if (session_acts(c, out))
			return true;
	}
	return next_of_three(c, out);
}

/* --- inspection --- */

int64_t
chain_deadline(const struct chain *c)
{
	int64_t eras = c->quiet ?
	    c->eras_deadline :
	    earlier(client_deadline(c->client), server_deadline(c->server));

	return earlier(session_deadline(c->session), eras);
}

void
chain_describe(const struct chain *c, struct buf *out)
{
	client_describe(c->client, out);
	session_describe(c->session, out);
	server_describe(c->server, out);
}
