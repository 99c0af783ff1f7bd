/* The token of the store and those who wait for a better one. */
#ifndef MCPSPLICE_PROXY_CREDENTIALS_STATE_H
#define MCPSPLICE_PROXY_CREDENTIALS_STATE_H

#include "auth/login_process.h"
#include "base/bounds.h"
#include "proxy/credentials/authorize.h"

enum {
	LOOK_MS = 1000, /* between two looks at the store, or at the clock for
			 * the helper's headers */
	LAST_S = 2      /* in the last seconds of a token, or of these, each
			 * request asks */
};

struct waiter {
	struct waiter *next;
	uint64_t ticket;
	bool waited; /* INPUT_SIGN_IN may have been told of it */
	bool last;   /* a DELETE, not worth a new token */
	bool tried;  /* it has waited for a renewal */
	/* Its session is what may have been refused instead of the token; NULL:
	 * the request is not sent yet. */
	struct kept_facts *refusal;
};

struct oauth {
	struct loop *loop;
	struct oauth_config config;
	struct given *given;
	struct credentials *credentials;
	struct oauth_ops ops;
	void *arg;
	char name[STORE_NAME_BYTES];

	struct record record;
	uint64_t stamp;    /* of the token of record; 0: there is none */
	uint64_t stamps;   /* the latest stamp given out */
	uint64_t accepted; /* the latest stamp that the server accepted */
	uint64_t fetched;  /* the latest stamp that came from a login process */
	int64_t changed_at;
	uint64_t doubted; /* stamp of a token whose 401 or 403 was blamed on a
			   * session */
	char *doubted_in;
	uint64_t blamed; /* stamp of a token whose 401 was blamed on its
			  * issuer */
	bool attended;   /* only the user can bring the next token */
	struct headers headers;
	struct dpop *dpop; /* the key of record, and the server's nonce */
	bool bound;        /* the token at hand is bound to it */

	bool hinted;     /* the warning that the record is not kept was
			  * logged */
	bool unkept;     /* the store does not have this record */
	bool read;       /* the store was read at least once */
	bool expects;    /* a login process has put a new token into the
			  * store */
	uint64_t before; /* the stamp at the start of the login process */
	uint64_t seen;
	int64_t looked_at;
	struct store_op *get, *put;

	struct login_process *login_process;
	enum login_reason reason; /* why the login process was started */
	bool interactive;         /* the login process may ask the user */
	bool unreached;           /* the renewal that the brake is for did not
				   * get to its server */
	char *where;              /* what it asked the user to do, in words */
	int64_t asked[3];         /* times when it asked, the latest first */
	int64_t brake_until, brake_ms;
	char *brake_why;
	/* Each login process adds BOUND_STEP_MS to it. */
	int64_t started_until;
	/* The tickets for which the latest tokens with more scopes were asked
	 * for, a ring. */
	uint64_t scoped[BOUND_IN_A_ROW];
	size_t n_scoped;

	struct waiter *waiters;
	struct waiter *walk; /* waiters that a walk has not reached yet */
	bool settling;
};

/* --- token_at_hand.c --- */

/* Takes over the record of the store; r may be NULL. Returns whether the token
 * changed. */
bool oauth_adopt(struct oauth *o, const struct record *r);
bool oauth_can_refresh(const struct oauth *o);
/* Will the token have expired in so many seconds, and can a better one be
 * had? */
bool oauth_is_over(const struct oauth *o, int64_t in_s);
/* Without the peer's address a login process would take the MCP server for one
 * on the internet, and refuse an authorization server in the same private
 * network. If the MCP server was public when the token was issued, that is
 * right. */
bool oauth_is_too_early(const struct oauth *o);
/* where NULL: the user is not waited for any more. */
void oauth_tell_where(struct oauth *o, const struct waiter *w,
    const char *where);
/* Has the request sent with the token at hand. Returns true. */
bool oauth_ready(struct oauth *o, const struct waiter *w);

/* --- token_refused.c --- */

enum { BRAKE_MS = 15 * 1000 }; /* the first wait after a failure */

/* why NULL: the server's own text is the answer. Returns true. */
bool oauth_final(struct oauth *o, const struct waiter *w, const char *why,
    bool credentials_known_good);
/* A server that accepts each new token once would have one login process after
 * the other, so their number in a given time is limited here. */
bool oauth_is_braked(struct oauth *o);
void oauth_brake(struct oauth *o, const char *why, int64_t first, int64_t most);
void oauth_start_login(struct oauth *o, enum login_reason reason,
    bool interactive, const char *challenge);
bool oauth_may_ask_user(const struct oauth *o, const struct facts *f);
bool oauth_is_denied(const struct facts *f);
/* Returns true if the refusal was answered, false if it has to wait. The store
 * was read. */
bool oauth_settle_refusal(struct oauth *o, const struct waiter *w);

/* --- oauth.c --- */

/* Makes the object, which the caller owns, and which keeps the credentials up
 * to date: the given headers and the token. All that the arguments point to is
 * borrowed for its life. */
struct oauth *oauth_new(struct loop *l, const struct oauth_config *config,
    struct given *given, struct credentials *credentials,
    const struct oauth_ops *ops, void *arg);
/* Appends what tells the user of the token at hand from others, nothing if there
 * is no token. Returns false if that is not known: the store was not read yet,
 * or the next token is had without the user. It may be a secret. */
bool oauth_whose(const struct oauth *o, struct buf *out);
/* Asks for the credentials of a request. The answer may come from inside. last:
 * the request does not wait for a better token. */
void oauth_ask(struct oauth *o, uint64_t ticket, bool last);
/* Reports that a request was refused. session: what may have been refused
 * instead; n 0: none. The answer may come from inside. */
void oauth_refused(struct oauth *o, uint64_t ticket, const struct facts *f,
    struct span session);
/* Appends the proof for one request, if the token is bound to a key
 * (credentials.bound). */
void oauth_prove(struct oauth *o, const char *method, const char *url,
    struct headers *to);
/* The server accepted a request with this token. */
void oauth_accepted(struct oauth *o, uint64_t stamp);
/* Forgets the question: its answer is not wanted any more. */
void oauth_drop(struct oauth *o, uint64_t ticket);
/* Frees o without a callback; NULL is allowed. */
void oauth_free(struct oauth *o);

/* What a login process tells; arg is the struct oauth. */
void oauth_on_where(const char *url, const char *code, void *arg);
void oauth_on_done(enum login_end end, const char *why, int64_t again_ms,
    const struct record *record, void *arg);

#endif
