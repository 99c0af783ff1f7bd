/* What happened to one exchange, as plain values; and what is kept: copies of
 * facts, and messages. */
#ifndef MCPSPLICE_CORE_EXCHANGE_FACTS_H
#define MCPSPLICE_CORE_EXCHANGE_FACTS_H

#include "base/frame.h"
#include "base/mem.h"

enum verb { VERB_POST, VERB_GET, VERB_DELETE };

enum media { MEDIA_NONE, MEDIA_JSON, MEDIA_SSE, MEDIA_HTML, MEDIA_OTHER };

/* How an exchange ended. */
enum ending {
	ENDING_COMPLETE,
	ENDING_CUT,     /* the connection broke */
	ENDING_IDLE,    /* silent for longer than the call timeout */
	ENDING_ABORTED, /* mcpsplice ended it */
	ENDING_RESOLVE, /* from here on: nothing was sent */
	ENDING_CONNECT,
	ENDING_TLS,
	ENDING_PROXY,
	ENDING_CONFIG,
	ENDING_DENIED, /* there are no credentials */
	ENDING_SIGN_IN /* the user has to sign in first */
};

/* The facts of one answer, as far as it arrived. */
struct facts {
	enum verb verb;
	bool had_session;  /* the request carried a session id */
	bool fresh;        /* mcpsplice renewed the session a moment before */
	bool worked;       /* such a request worked in this session before */
	int64_t waited_ms; /* since the first try, within --retry-window */
	bool undeclared;   /* the server declared no such method, and answered
			   * none */
	bool idle;         /* the session has answered no call for a while */
	int status;        /* HTTP status; 0: no answer */
	enum media media;  /* what the body is, once it is there */
	enum ending ending;
	bool sent;         /* the server may have seen the request */
	bool conn_refused; /* ENDING_CONNECT: nobody listens there */
	bool too_large;    /* the message passed a cap; size tells its bytes */
	uint64_t size;
	int64_t retry_after_ms; /* -1: not given */
	struct span type;       /* Content-Type; n 0: none */
	struct span coding;     /* Content-Encoding that was not decoded */
	struct span session;    /* Mcp-Session-Id of the answer, checked */
	struct span body; /* the part that is not a JSON-RPC message, up to 256
			   * KiB */
	bool silent;      /* the head said 200, and no byte came */
	struct span last_event_id; /* of this stream; n 0: none */
	bool primed;               /* it had an id before its first event */
	int64_t retry_ms;          /* of this stream; -1: none */
	struct span location;      /* of a redirect that was not followed */
	struct span why;           /* the transport's reason in words for
				    * users */
	struct span remedy; /* what to do, a sentence without its full stop */
	struct span challenge; /* WWW-Authenticate of a 4xx */
	struct span denial;    /* what it says beyond "a token is wanted", as a
				* JSON object; n 0: nothing */
	uint64_t stamp;    /* of the credentials that the request was sent with;
			    * 0: there was no token */
	bool credentials;  /* some were sent: a token, or what the user gave */
	unsigned refusals; /* so many credentials were refused before, for this
			    * request; one that had none does not count */
	unsigned again;    /* so many times these credentials were refused
			    * before, for this request: with another nonce */
	int64_t clock_ahead_s; /* by how much this machine's clock is ahead of
				* the server's, at a refusal of a bound token;
				* 0: not known */
	bool interactive;      /* a request of the client waits: the user may be
			    * asked */
	bool session_ended;    /* another server answers now, or the stream that
			     * was the session ended; without a status the
			     * request may have run */
	bool ran_unless_changed; /* session_ended: the request may have run, but
			     * not if initialize finds another protocol */
	bool other_revision;     /* set by core/server: the answer refuses the
			      * revision of the session, and names another */
	bool changed;   /* set by core/server: initialize found another protocol
		       * than the one before; of a list_changed: it says
		       * so itself, because nobody listened for a while */
	int64_t out_at; /* when the last byte of the request was written, in the
			 * time of the session's inputs (ms); 0: not known */
	bool of_door;   /* set by the proxy: the challenge itself tells that no
			 * tool passed it on, or that no other token helps */
	bool signature; /* set by the app: it refuses the signature of the
			 * request, as a 401 does a token */
	bool credentials_known_good; /* a 401 or 403, but the credentials are
		       * good as far as is known: the session may be the
		       * cause */
};

/* A copy of facts. */
struct kept_facts {
	struct facts facts;
	struct buf bytes; /* the spans of facts point into it */
};

/* Copies the facts and the bytes that they point to. The caller frees the copy
 * with facts_free. */
struct kept_facts *facts_keep(const struct facts *f);
/* NULL is fine. */
void facts_free(struct kept_facts *k);

/* Messages that are kept, in their order, until somebody may hear them. */
struct kept {
	struct frame **list;
	size_t n, bytes; /* bytes: of memory */
};

/* Keeps a reference to the message, unless more than max messages (0: any
 * number) or more than max_bytes would be kept: then returns false. */
bool kept_add(struct kept *k, struct frame *m, size_t max, size_t max_bytes);
/* Releases all messages. */
void kept_clear(struct kept *k);

#endif
