/*
 * A reducer between the client and the session. Whatever era the client speaks,
 * the session sees a legacy client.
 *
 * The messages of a legacy client pass unchanged. For a modern client
 * (2026-07-28: no initialize, _meta in each request) this reducer opens the
 * session itself. After that, messages still pass unchanged if the server is a
 * modern one. If it is a legacy one they are translated (core/era/era,
 * doc/protocol.md 7.3 to 7.6): a request is parked while the server asks a
 * question, and a notification of the server goes to each subscriptions/listen
 * that asked for it.
 */
#ifndef MCPSPLICE_CORE_CLIENT_CLIENT_H
#define MCPSPLICE_CORE_CLIENT_CLIENT_H

#include "base/log.h"
#include "core/era/era.h"
#include "core/stage.h"

struct client;

struct client_config {
	const char *host;    /* the name of the server for the user; borrowed */
	const char *version; /* of this program */
	const char *prefix;  /* of the ids that this reducer makes: random, no
			      * character that JSON escapes; borrowed */
	size_t max_held;     /* bytes of requests that wait for the opening */
	size_t max_result;   /* bytes of a line to the client; 0: no limit */
};

enum client_input_kind {
	CLIENT_CLIENT,  /* a frame of the client, located */
	CLIENT_SESSION, /* a frame that the session writes; related */
	CLIENT_LISTENS, /* the value of listening has changed */
	CLIENT_EOF,     /* the client closed stdin; the session is told after */
	CLIENT_TICK     /* the deadline passed */
};

struct client_input {
	enum client_input_kind kind;
	int64_t now; /* monotonic ms */
	uint64_t random;
	struct frame *frame; /* the reducer takes a reference if it keeps it */
	/* CLIENT_SESSION: the request, as the session has it, on whose own
	 * stream the frame came; NULL: it came on no request's stream. */
	const struct frame *related;
	/* The DiscoverResult frame of the server if the server is a modern one
	 * now, else NULL. */
	struct frame *discovered;
	/* Does everything from the server come on one stream, so that the
	 * stream does not tell which request a message belongs to? */
	bool shared;
	/* The latest answer of the server to initialize; NULL: none yet. */
	struct frame *initialized;
	/* Does the session have a stream for messages that belong to no
	 * request? */
	enum session_listening listening;
	uint64_t secret[2]; /* random, unguessable; new for each step */
};

enum client_action_kind {
	CLIENT_NONE,
	CLIENT_PROBE, /* frame: the server/discover that detection asks the
		       * server first (server_client); NULL: the client is a
		       * legacy one */
	CLIENT_SEND,  /* frame: to the session, as if from the client */
	CLIENT_WRITE, /* frame: to the client */
	CLIENT_NOTE   /* level, text: a decision, for the log */
};

struct client_action {
	enum client_action_kind kind;
	struct frame *frame; /* borrowed until the next call */
	enum log_level level;
	const char *text;
};

struct client *client_new(const struct client_config *config);
void client_free(struct client *e);

/* Does this frame of the client go to the session unchanged, without a
 * client_step? True for a legacy client once it has sent initialize, unless
 * the frame is a modern request. */
bool client_passes(const struct client *e, const struct frame *f);
/* Does everything that the session writes go to the client unchanged, without a
 * client_step? */
bool client_is_legacy(const struct client *e);

void client_step(struct client *e, const struct client_input *in);
/* Translates f, which is about to go out to the server, if the server (modern
 * or not) is of another era than the one f was made for. request is the request
 * of the session's client that f is sent for, NULL: none; the id of f may be
 * another one. Returns the frame to send instead, owned by the caller; NULL: f
 * fits as it is. */
struct frame *client_fit(struct client *e, const struct frame *request,
    struct frame *f, bool modern);
bool client_next(struct client *e, struct client_action *action);
/* When CLIENT_TICK is due, in monotonic ms; -1: never. */
int64_t client_deadline(const struct client *e);
/* Is something of the client held back from the session? While it is, the
 * session must not be told of EOF. */
bool client_holds(const struct client *e);
/* Appends lines for the user about requests held back, listens and parked
 * requests; none for a legacy client. */
void client_describe(const struct client *e, struct buf *out);

#endif
