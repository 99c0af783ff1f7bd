/*
 * What one HTTP answer means: facts go in, a ruling comes out. There is no
 * state.
 */
#ifndef MCPSPLICE_CORE_EXCHANGE_VERDICT_H
#define MCPSPLICE_CORE_EXCHANGE_VERDICT_H

#include <sys/types.h>

#include <regex.h>

#include "base/frame.h"

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
	bool had_session; /* the request carried a session id */
	bool fresh;       /* mcpsplice renewed the session a moment before */
	int status;       /* HTTP status; 0: no answer */
	enum media media;
	enum ending ending;
	bool sent;      /* the server may have seen the request */
	bool too_large; /* the message passed a cap; size tells its bytes */
	uint64_t size;
	int64_t retry_after_ms; /* -1: not given */
	struct span session;    /* Mcp-Session-Id of the answer, checked */
	struct span body; /* the part that is not a JSON-RPC message, up to 256
			   * KiB */
	struct span last_event_id; /* of this stream; n 0: none */
	int64_t retry_ms;          /* of this stream; -1: none */
	struct span location;      /* of a redirect that was not followed */
	struct span why;           /* the transport's reason in words for
				    * users */
	struct span challenge;     /* WWW-Authenticate of a 401 or 403 */
	bool session_ended; /* another server answers now, or the stream that
			     * was the session ended; without a status the
			     * request may have run */
	bool changed;   /* set by core/server: initialize found another protocol
		       * than the one before */
	int64_t out_at; /* when the last byte of the request was written, in the
			 * time of the session's inputs (ms); 0: not known */
	bool credentials_known_good; /* a 401 or 403, but the credentials are
		       * good as far as is known: the session may be the
		       * cause */
};

enum verdict {
	VERDICT_ANSWER,     /* deliver the answer to the client */
	VERDICT_LOST,       /* the session is gone; the request did not run */
	VERDICT_LOST_MAYBE, /* the session is gone; the request may have run */
	VERDICT_SUSPECT,    /* a ping tells whether the session is gone; if so,
			     * the request did not run */
	VERDICT_SUSPECT_MAYBE, /* as before, but the request may have run */
	VERDICT_UNREADY,       /* the new session has not processed initialized
			     * yet; the request did not run */
	VERDICT_RETRY, /* refused for now; wait retry_after_ms or a back-off */
	VERDICT_FAIL   /* there will be no answer; the facts say why */
};

/* A verdict and the rule that gave it, in a few words for users. */
struct ruling {
	enum verdict verdict;
	const char *rule; /* static; never NULL */
};

/* The user's additions to the rules. */
struct verdict_rules {
	const regex_t *lost; /* array of n patterns for words of a lost
			      * session */
	size_t n;
	bool in_results; /* a result with isError may tell of a lost session
			  * too */
};

/* The rule for a server that speaks another revision. Sending the same message
 * to the same session again cannot help. */
extern const char verdict_other_era[];

/* Judges an error response that came as the answer to a request. */
struct ruling verdict_error(const struct facts *facts,
    const struct frame *error, const struct verdict_rules *rules);
/* Judges a result. Only one with isError can be more than an answer. *hint is
 * set if it has words of a lost session, but rules->in_results is off. */
struct ruling verdict_result(const struct facts *facts,
    const struct frame *result, const struct verdict_rules *rules, bool *hint);
/* Judges an answer without a JSON-RPC message, whatever the verb. */
struct ruling verdict_bare(const struct facts *facts,
    const struct verdict_rules *rules);

static inline bool
verdict_2xx(const struct facts *f)
{
	return f->status >= 200 && f->status < 300;
}

/* Returns the media type of a Content-Type header, which may be NULL. */
enum media verdict_media(const char *content_type);
/* Is it a session id, that is 1 to 1024 bytes of 0x21 to 0x7E? */
bool verdict_session_ok(struct span id);

#endif
