/* The exchanges of one server, and what they share. */
#ifndef MCPSPLICE_PROXY_TRANSPORT_STATE_H
#define MCPSPLICE_PROXY_TRANSPORT_STATE_H

#include "base/hash.h"
#include "core/wire/sse.h"
#include "io/url.h"
#include "proxy/transport/streamable.h"

/* An exchange is what one order comes to. It may take several transfers of
 * io/http, for redirects on the same origin and for new credentials. */
struct exchange {
	struct streamable *u;
	struct exchange *next, *prev;
	struct hash_entry by_ticket;
	struct order order; /* its frames and spans were those of the moment */
	struct frame *body;
	char *session, *version, *last_event_id;
	bool aborted;       /* streamable_abort was called */
	uint64_t delivered; /* number of messages */
	bool decided;       /* the status decides; the body is only text */
	bool known;         /* the body has told what it is */
	bool began;         /* an event came */
	bool ending;        /* done is about to be called: too late to abort */
	bool early;         /* sent with credentials that were early */
	bool refused;       /* other credentials may mend it: nothing is told
			     * before the end */
	bool head_due;      /* the next event tells the head, too */
	bool waits;         /* INPUT_REFUSED was told, and not answered yet */
	/* As in struct facts; and the stamp that was just refused, or 0. */
	unsigned refusals, again;
	uint64_t refused_at;
	struct transfer *x;
	char *url; /* NULL: the server's own URL */
	unsigned redirects;
	char *redirect; /* URL to go to when this answer is over */
	struct sse *sse;
	struct frame *stray; /* the latest error without an id; it counts if
			      * the stream ends without an answer */
	struct buf answer;
	size_t bytes;     /* all bytes of this answer so far */
	size_t held;      /* bytes of the partial message, as counted in u */
	uint64_t partial; /* number of the partial message in u->partials */
	uint64_t events;  /* number of events on this stream */
	uint64_t before;  /* number of events before the partial message */
	size_t tried;     /* bytes of events that were looked at before their
			   * ends came */
	bool paused;
	struct headers mirrored; /* headers that mirror the body */
	struct facts facts;
	char *session_given, *location, *secure, *why, *type, *coding;
	struct buf challenge;
	struct buf denial; /* what the challenge says, as JSON */
};

struct streamable {
	struct loop *loop;
	struct http *http;
	const struct http_ops *http_ops; /* what takes the answers */
	struct streamable_config config;
	streamable_cb *event;
	void *arg;
	struct url base;
	char *url;
	bool slash; /* url is what a temporary redirect led to, which only added
		     * or removed a slash */
	bool announced; /* a stream other than HTTP+SSE had an endpoint event */
	char *endpoint; /* the latest endpoint of HTTP+SSE; NULL: none */
	char *peer;     /* the address that answered last, or NULL */
	struct exchange *first, *last; /* in the order of their start */
	struct hash by_ticket;
	/* Tickets of the exchanges whose heads came in this turn of the
	 * loop. */
	uint64_t *heads;
	size_t n_heads;
	/* The latest headers, but for those that mirror a body or prove a
	 * token, and what they were made from. */
	struct headers made;
	uint64_t made_credentials; /* the version of these */
	char *made_session, *made_version;
	bool made_is_post;
	uint64_t made_stamp; /* how often they were made */
	bool stdout_full;
	bool held_full;
	size_t held;
	uint64_t partials; /* number of partial messages so far */
	uint64_t accepted; /* the latest stamp reported as accepted */
};

/* --- exchange.c --- */

/* Returns NULL if there is none with this ticket. */
struct exchange *exchange_find(const struct streamable *u, uint64_t ticket);
/* Forgets all facts, as nothing has happened yet. */
void exchange_clear_facts(struct exchange *t);
/* Forgets everything of one answer; a redirect starts another. */
void exchange_clear_answer(struct exchange *t);
/* Reports an event of this exchange, and the head with it if that is due. Sets
 * the ticket and the facts of e. */
void exchange_tell(struct exchange *t, struct event *e);
/* Reports t->facts as its end, with the message that was its body, or NULL, and
 * frees the exchange. */
void exchange_end(struct exchange *t, struct frame *body);
void exchange_free(struct exchange *t);
/* Do exchanges that start now have to pause? */
bool exchange_is_full(const struct streamable *u);
/* Leaves a control order with a small answer alone. */
void exchange_pause(struct exchange *t, bool paused);
/* Pauses the streams that have to pause. When stdout is full, all do: one more
 * message would only wait there. */
void exchange_apply_pause(struct streamable *u);
/* Notes that the stream now holds this many bytes of a partial message. One
 * read may bring the end of a message and the beginning of the next. */
void exchange_count_held(struct exchange *t, size_t held);
/* Notes that the answer grew by n bytes. */
void exchange_count_bytes(struct exchange *t, size_t n);

/* --- request.c --- */

/* Sends the request of t, with the latest credentials, as a new transfer. */
void request_start(struct exchange *t);
/* Frees the headers that are kept from one request to the next. */
void request_forget_headers(struct streamable *u);
/* Returns the URL that the request of t goes to. t owns it, or its server. */
const char *request_url(const struct exchange *t);

/* --- redirect.c --- */

/* Notes in t->redirect where this answer, of 300 or more, leads: 307 and 308 on
 * the same origin are followed (doc/protocol.md 1.4). An empty
 * reference is the URL of the request, which has just been redirected. */
void redirect_check(struct exchange *t);
/* Sends the request again, to t->redirect. */
void redirect_follow(struct exchange *t);

/* --- answer.c --- */

/* What io/http calls with an answer; its argument is the exchange. */
extern const struct http_ops answer_ops;
/* Reports the end of the exchange. */
void answer_conclude(struct exchange *t);
/* Frees what tells the heads at the end of the turn. */
void answer_forget_heads(struct streamable *u);

#endif
