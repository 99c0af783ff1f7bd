/*
 * Whatever era the client speaks, the session sees a legacy client. A reducer
 * between the client and the session. A legacy client's messages pass
 * untouched. For a modern one (2026-07-28: no initialize, _meta in each
 * request) it opens the session itself; then messages pass untouched too where
 * the server is modern, else they are translated (core/era/era, doc/protocol.md
 * 7.3 to 7.6): requests are parked while the server asks something,
 * notifications fan out to subscriptions/listen.
 */
#ifndef MCPSPLICE_CORE_CLIENT_CLIENT_H
#define MCPSPLICE_CORE_CLIENT_CLIENT_H

#include "base/log.h"
#include "core/era/era.h"
#include "core/stage.h"

struct client;

struct client_config {
	const char *host;    /* how people know the server; borrowed */
	const char *version; /* of this program */
	const char *prefix;  /* of ids we make: random, JSON-safe; borrowed */
	size_t max_held;     /* bytes of requests that wait for the opening */
	size_t max_result;   /* bytes of a line to the client; 0: any */
};

enum client_input_kind {
	CLIENT_CLIENT,  /* a frame of the client, located */
	CLIENT_SESSION, /* a frame the session writes; related */
	CLIENT_LISTENS, /* listening is another than before */
	CLIENT_EOF,     /* of stdin: before the session hears of it */
	CLIENT_TICK     /* the deadline passed */
};

struct client_input {
	enum client_input_kind kind;
	int64_t now; /* monotonic ms */
	uint64_t random;
	struct frame *frame; /* references are taken */
	/* SESSION: the client's request, as the session has it, on whose own
	 * stream the frame came; NULL: on none */
	const struct frame *related;
	/* The server's DiscoverResult frame if it is a modern one now, else
	 * NULL. */
	struct frame *discovered;
	/* Does all of the server come on one stream, so that none tells whose
	 * it is? */
	bool shared;
	/* The server's latest answer to initialize, as the session has it;
	 * NULL: none. */
	struct frame *initialized;
	/* Has the session a stream for what belongs to no request? */
	enum session_listening listening;
	uint64_t secret[2]; /* random words that nobody can guess */
};

enum client_action_kind {
	CLIENT_NONE,
	CLIENT_PROBE, /* frame: the server/discover that detection is to
			   * ask first (server_client); NULL: the client
			   * is a legacy one */
	CLIENT_SEND,  /* frame: to the session, as if from the client */
	CLIENT_WRITE, /* frame: to the client */
	CLIENT_NOTE   /* level, text: a decision, for people */
};

struct client_action {
	enum client_action_kind kind;
	struct frame *frame; /* borrowed until the next call */
	enum log_level level;
	const char *text;
};

struct client *client_new(const struct client_config *config);
void client_free(struct client *e);

/* Does this frame of the client go to the session as it is, with no input
 * here? So it is for a legacy client from its initialize on. */
bool client_passes(const struct client *e, const struct frame *f);
/* The same for all that the session writes. */
bool client_is_legacy(const struct client *e);

void client_step(struct client *e, const struct client_input *in);
/* A message goes out to the server, which is a modern one or not by now: f,
 * for this request of the session's client (NULL: for none), perhaps under
 * another id. Returns what goes out in its place, the caller's; NULL: it fits
 * as it is. */
struct frame *client_fit(struct client *e, const struct frame *request,
    struct frame *f, bool modern);
bool client_next(struct client *e, struct client_action *action);
/* When CLIENT_TICK is due; -1: never. */
int64_t client_deadline(const struct client *e);
/* Is there something of the client that the session has not seen yet? Then
 * EOF is not to be told it. */
bool client_holds(const struct client *e);
/* Lines for people: listens and parked requests, if any. */
void client_describe(const struct client *e, struct buf *out);

#endif
