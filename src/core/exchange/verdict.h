/*
 * What one HTTP answer means: facts go in, a ruling comes out. There is no
 * state.
 */
#ifndef MCPSPLICE_CORE_EXCHANGE_VERDICT_H
#define MCPSPLICE_CORE_EXCHANGE_VERDICT_H

#include <sys/types.h>

#include <regex.h>

#include "base/frame.h"
#include "core/exchange/facts.h"

enum verdict {
	VERDICT_ANSWER,     /* deliver the answer to the client */
	VERDICT_LOST,       /* the session is gone; the request did not run */
	VERDICT_LOST_MAYBE, /* the session is gone; the request may have run */
	VERDICT_WORDS,      /* the text speaks of a lost session */
	VERDICT_GATE,       /* the text speaks of a session that was not
			     * initialized */
	VERDICT_SUSPECT,    /* perhaps the session is gone */
	VERDICT_UNREADY,    /* the new session has not processed initialized
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

/* The rule for a server that no longer takes POSTs here, and says nothing of a
 * session. */
extern const char verdict_elsewhere[];

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

/* Is it a gateway's status that says that the server behind it is away, or did
 * not answer: 502, 503 and 504 (RFC 9110, 15.6.3 to 15.6.5), or one of 520 to
 * 530, by which Cloudflare says so? The server may have got the request. */
static inline bool
verdict_is_gateway(int status)
{
	return (status >= 502 && status <= 504) ||
	    (status >= 520 && status <= 530);
}

/* Does the status refuse for now: 429, or a gateway's? */
static inline bool
verdict_is_for_now(int status)
{
	return status == 429 || verdict_is_gateway(status);
}

/* Returns the media type of a Content-Type header, which may be NULL; of a list
 * of types, that of the first. */
enum media verdict_media(const char *content_type);
/* Corrects the media type of an answer by the first bytes of its body, without
 * blanks in front, because servers and gateways name a wrong type, or none: what
 * begins as JSON or as an event stream is that, and all else is what it is
 * called. Returns false if it takes more bytes to know. */
bool verdict_body(struct span start, enum media *media);
/* Is it a session id, that is 1 to BOUND_HEADER_BYTES bytes of 0x21 to
 * 0x7E? */
bool verdict_session_ok(struct span id);

#endif
