/*
 * Keeps the credentials of the exchanges, from any source: given headers, a
 * credential helper, OAuth, or none. transport borrows them and asks when their
 * time is over. An exchange gets credentials only here, so they go to the
 * server and to nobody else.
 */
#ifndef MCPSPLICE_PROXY_CREDENTIALS_AUTHORIZE_H
#define MCPSPLICE_PROXY_CREDENTIALS_AUTHORIZE_H

#include "auth/given_headers.h"
#include "core/events.h"
#include "store/import.h"
#include "store/store.h"

struct authorize;

/* The proxy's side of OAuth: it sends the token of the store, and if that one is
 * missing, expired or refused, starts a login process (another copy of this
 * program, see signin/login.h) and waits for it. One login process runs at a
 * time; the copies of the proxy share its work through the store. */
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

struct authorize_config {
	const struct given_config *given;
	const char *command; /* --auth-command as one line; NULL: none */
	const char *url;     /* of the server, for the helper */
	const char *const *unset;
	bool negotiate; /* requests carry a Kerberos ticket, which is none of
			 * these credentials */
	/* Requests are signed with keys of AWS (io/http.h, config.sigv4), which
	 * the command prints, or which the usual variables hold. */
	bool aws;
	const struct oauth_config *oauth; /* NULL: no OAuth */
	bool wanted; /* the user asked for OAuth: an Authorization header among
		      * the given ones, which would replace it, is an error */
};

/* ops are the same, whatever the source. Returns NULL with *why for users,
 * owned by the caller, if a setting cannot be used. The strings and structures
 * that config points to are borrowed. */
struct authorize *authorize_new(struct loop *l,
    const struct authorize_config *config, const struct oauth_ops *ops,
    void *arg, char **why);
/* Returns the latest credentials, which change but stay where they are for the
 * life of a. An exchange that begins when their time is over has to ask. */
const struct credentials *authorize_credentials(const struct authorize *a);
/* Appends what tells whose credentials are at hand, nothing if there are none;
 * it stays the same when they are renewed, as far as that can be told. Returns
 * false if that is not known, as before the helper has answered and before the
 * store was read: a question, or INPUT_SIGNED_IN, changes that. It may be a
 * secret. */
bool authorize_whose(const struct authorize *a, struct buf *out);
/* The clocks may have jumped: the next exchange has to ask. */
void authorize_wake(struct authorize *a);
/* Does the server refuse the signature of a request, in the words of AWS? */
bool authorize_is_signature(const struct authorize *a, const struct facts *f);
/* Reports that a request was refused. session: what may have been refused
 * instead; n 0: none. The answer may come from inside. */
void authorize_refused(struct authorize *a, uint64_t ticket,
    const struct facts *f, struct span session);
/* Each question for the credentials of an exchange gets one answer. arg is the
 * struct authorize. */
extern const struct credentials_ops authorize_ops;
/* Forgets the question: its answer is not wanted any more. */
void authorize_drop(struct authorize *a, uint64_t ticket);
/* Frees a without a callback; NULL is allowed. */
void authorize_free(struct authorize *a);

#endif
