/*
 * The proxy's side of OAuth: sends the token of the store, and when that is
 * not good enough starts a login process (another copy of this program, see
 * login/login.h) and waits for it. One login process at a time; the copies of
 * the proxy share its work through the store.
 */
#ifndef MCPSPLICE_AUTH_OAUTH_H
#define MCPSPLICE_AUTH_OAUTH_H

#include "base/headers.h"
#include "store/import.h"
#include "store/store.h"

struct oauth;

struct oauth_config {
	const char *host; /* for people */
	const char *url;  /* normalised */
	const char *profile;
	struct store *store;                /* NULL: there is none */
	const struct import_config *import; /* NULL: none */
	const char *const *login_process;   /* the program and its words,
					   * NULL-ended */
	const char *const *argv; /* the options it works with, NULL-ended */
	bool alone;              /* tokens can always be had without a person */
	bool use_id_token;
	/* Which authorization servers may be asked depends on the address of
	 * the MCP server (login/fetch.h): none is before that is known. */
	bool needs_peer;
};

/* Tickets are the caller's. Each question gets one of go and stand; wait
 * may come before, more than once. */
struct oauth_ops {
	/* Send it with these headers. stamp tells one token from the next; 0:
	 * there is none. */
	void (*credentials_ready)(uint64_t ticket, const struct headers *h,
	    uint64_t stamp, void *arg);
	/* The refusal stands. why NULL: the server's own words will do.
	 * credentials_known_good: perhaps it is the session that it does not
	 * know (doc/protocol.md 3.7). */
	void (*refusal_final)(uint64_t ticket, const char *why,
	    bool credentials_known_good, void *arg);
	/* A person is asked: what to tell the client if it cannot wait. NULL:
	 * no more, go follows. */
	void (*user_needed)(uint64_t ticket, const char *why, void *arg);
	/* There is a new token. */
	void (*credentials_changed)(void *arg);
	/* The address that the MCP server answered from, borrowed for the
	 * moment; NULL: it has not answered yet. */
	const char *(*peer)(void *arg);
};

struct oauth_refusal {
	uint64_t stamp; /* of the token it was sent with; 0: none */
	int status;     /* 401, 403 */
	struct span challenge;
	struct span session; /* what it may not know instead; n 0: none */
	bool person; /* a request of the client: a person may be asked */
	unsigned tries;
};

/* All of config is borrowed for its life. */
struct oauth *oauth_new(struct loop *l, const struct oauth_config *config,
    const struct oauth_ops *ops, void *arg);
/* Answers may come from inside. last: nobody waits for a better token. */
void oauth_ask(struct oauth *o, uint64_t ticket, bool last);
/* It was sent, and refused. Returns false when that is nothing that
 * credentials could mend; else the answer may have come from inside. */
bool oauth_refused(struct oauth *o, uint64_t ticket,
    const struct oauth_refusal *r);
/* The server took a request with this token. */
void oauth_accepted(struct oauth *o, uint64_t stamp);
/* Nobody waits for this any more. */
void oauth_drop(struct oauth *o, uint64_t ticket);
void oauth_free(struct oauth *o);

#endif
