/*
 * What one HTTP answer means. Facts in, meaning out; no state.
 */
#ifndef MCPSPLICE_CORE_EXCHANGE_VERDICT_H
#define MCPSPLICE_CORE_EXCHANGE_VERDICT_H

#include <sys/types.h>

#include <regex.h>

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
	ENDING_DENIED, /* no credentials */
	ENDING_SIGN_IN /* a person has to sign in first */
};

/* The facts of one answer, as far as it came. */
struct facts {
	enum verb verb;
	bool had_session; /* the request carried a session id */
	bool fresh;       /* our own renewal of it was a moment ago */
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
	struct span challenge;     /* WWW-Authenticate of a 401 or 403 */
	bool session_ended; /* there is another server now, or what carried the
			     * session ended; without a status the request
			     * may have run */
	bool changed;   /* told by core/server/server: initialize found another
		       * protocol than the one before */
	int64_t out_at; /* when the last byte of the request was written, in
			 * the time of the session's inputs (ms); 0: not
			 * known */
	bool credentials_known_good; /* 401 or 403, but its credentials are
		       * good as far as is known: perhaps it is the session */
};

enum verdict {
	VERDICT_ANSWER,     /* it is the answer: deliver it */
	VERDICT_LOST,       /* the session is gone; the request did not run */
	VERDICT_LOST_MAYBE, /* the session is gone; the request may have run */
	VERDICT_SUSPECT,    /* gone or not, a ping tells; if it is gone the
			     * request did not run */
	VERDICT_SUSPECT_MAYBE, /* the same, but the request may have run */
	VERDICT_UNREADY,       /* the new session did not take in initialized
			     * yet; the request did not run */
	VERDICT_RETRY, /* refused for now; retry_after_ms or a back-off */
	VERDICT_FAIL   /* no answer will come; the facts say why */
};

/* What it means and by which rule, in a few words for people. */
struct ruling {
	enum verdict verdict;
	const char *rule; /* static; never NULL */
};

/* What the user adds to the rules. */
struct verdict_rules {
	const regex_t *lost; /* n of them: words of a lost session */
	size_t n;
	bool in_results; /* a result that is an error may speak of it too */
};

/* The rule for a server that speaks another revision: to send the same again
 * to the same session is of no use. */
extern const char verdict_other_era[];

/* An error response that came as the answer to a request. */
struct ruling verdict_error(const struct facts *facts,
    const struct frame *error, const struct verdict_rules *rules);
/* A result. Only one with isError is ever more than an answer: *hint tells
 * that it has the words, but rules->in_results is off. */
struct ruling verdict_result(const struct facts *facts,
    const struct frame *result, const struct verdict_rules *rules, bool *hint);
/* An answer without a JSON-RPC message in it, to whichever verb. */
struct ruling verdict_bare(const struct facts *facts,
    const struct verdict_rules *rules);

static inline bool
verdict_2xx(const struct facts *f)
{
	return f->status >= 200 && f->status < 300;
}

enum media verdict_media(const char *content_type);
/* A session id is 1 to 1024 bytes of 0x21 to 0x7E. */
bool verdict_session_ok(struct span id);

#endif
