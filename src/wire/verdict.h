/*
 * What one HTTP answer means. Facts in, meaning out; no state.
 */
#ifndef MCPSPLICE_WIRE_VERDICT_H
#define MCPSPLICE_WIRE_VERDICT_H

#include "base/frame.h"

enum verb { VERB_POST, VERB_GET, VERB_DELETE };

enum media { MEDIA_NONE, MEDIA_JSON, MEDIA_SSE, MEDIA_HTML, MEDIA_OTHER };

/* How the transport of an exchange ended, and why. */
enum ending {
	ENDING_COMPLETE,
	ENDING_CUT,     /* the connection broke */
	ENDING_IDLE,    /* silent for longer than the call timeout */
	ENDING_ABORTED, /* by us */
	ENDING_RESOLVE, /* from here on nothing was sent */
	ENDING_CONNECT,
	ENDING_TLS,
	ENDING_PROXY,
	ENDING_CONFIG,
	ENDING_DENIED /* no credentials */
};

/* The facts of one answer, as far as it came. */
struct facts {
	enum verb verb;
	bool had_session; /* the request carried a session id */
	int status;       /* 0: no answer */
	enum media media;
	enum ending ending;
	bool sent;      /* the server may have seen the request */
	bool too_large; /* the message passed a cap; size tells bytes */
	uint64_t size;
	int64_t retry_after_ms; /* -1: not given */
	struct span session;    /* Mcp-Session-Id of the answer, checked */
	struct span body; /* what was no JSON-RPC message, up to 256 KiB */
	struct span last_event_id; /* of this stream; n 0: none */
	int64_t retry_ms;          /* of this stream; -1: none */
	struct span location;      /* of a redirect that was not followed */
	struct span why;           /* transport's words for people */
};

enum verdict {
	VERDICT_ANSWER,     /* it is the answer: deliver it */
	VERDICT_LOST,       /* the session is gone; the request did not run */
	VERDICT_LOST_MAYBE, /* the session is gone; the request may have run */
	VERDICT_RETRY,      /* refused for now; retry_after_ms or a back-off */
	VERDICT_FAIL        /* no answer will come; the facts say why */
};

/* An error response that came as the answer to a request. */
enum verdict verdict_error(const struct facts *facts, const struct frame *error,
    struct span request_id);
/* An answer without a JSON-RPC message in it. */
enum verdict verdict_bare(const struct facts *facts);
/* Does this text say that the session is gone? Any case, anywhere in it. */
bool verdict_says_lost(struct span text);

enum media verdict_media(const char *content_type);
/* A session id is 1 to 1024 bytes of 0x21 to 0x7E. */
bool verdict_session_ok(struct span id);

#endif
