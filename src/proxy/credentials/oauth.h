/*
 * The proxy's side of OAuth: it sends the token of the store, and if that one
 * is missing, expired or refused, starts a login process (another copy of this
 * program, see signin/login.h) and waits for it. One login process runs at a
 * time; the copies of the proxy share its work through the store.
 */
#ifndef MCPSPLICE_PROXY_CREDENTIALS_OAUTH_H
#define MCPSPLICE_PROXY_CREDENTIALS_OAUTH_H

#include "auth/given_headers.h"
#include "core/events.h"
#include "store/import.h"
#include "store/store.h"

enum {
	LOOK_MS = 1000, /* between two looks at the store, or at the clock for
			 * the helper's headers */
	LAST_S = 2      /* in the last seconds of a token, or of these, each
			 * request asks */
};

struct oauth;

struct oauth_config {
	const char *host; /* name of the server for users */
	const char *url;  /* normalised */
	const char *profile;
	struct store *store;                /* NULL: there is no store */
	const struct import_config *import; /* tokens of mcp-remote; NULL:
					     * none */
	const char *program; /* the login process: its path (NULL: its first
			      * word), and its words, NULL-ended */
	const char *const *login_process;
	const char *const *argv; /* options for the login process, NULL-ended */
	bool alone;              /* tokens can be had without the user, until a
				  * login process says that they cannot */
	bool asks_nobody;        /* no login process may ask the user */
	bool use_id_token;
	/* The address of the MCP server decides which authorization servers may
	 * be asked (signin/fetch.h): none is asked before it is known. */
	bool needs_peer;
};

/* The caller chooses the tickets. Each question gets one call of
 * credentials_ready or refusal_final; INPUT_SIGN_IN may come before, more than
 * once. */
struct oauth_ops {
	/* Send the request with the credentials of authorize_credentials. */
	void (*credentials_ready)(uint64_t ticket, void *arg);
	/* The refusal is final, or the request is not sent. why: in words; "":
	 * the server's own will do; NULL: the transport's will do, too.
	 * credentials_known_good: the server may not know the session
	 * (doc/protocol.md 3.7). */
	void (*refusal_final)(uint64_t ticket, const char *why,
	    bool credentials_known_good, void *arg);
	/* INPUT_SIGN_IN (if it tells that nobody waits for the user any more,
	 * credentials_ready follows) or INPUT_SIGNED_IN; or INPUT_HELPER. */
	void (*event)(struct event *e, void *arg);
	/* Returns the address that the MCP server answered from, valid for the
	 * moment; NULL: it has not answered yet. */
	const char *(*peer)(void *arg);
};

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
/* An answer of the server came, with this nonce for the next proof; NULL: with
 * none. */
void oauth_heard(struct oauth *o, const char *nonce);
/* The server accepted a request with this token. */
void oauth_accepted(struct oauth *o, uint64_t stamp);
/* Forgets the question: its answer is not wanted any more. */
void oauth_drop(struct oauth *o, uint64_t ticket);
/* Frees o without a callback; NULL is allowed. */
void oauth_free(struct oauth *o);

#endif
