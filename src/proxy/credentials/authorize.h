/*
 * Keeps the credentials of the exchanges, from any source: given headers, a
 * credential helper, OAuth, or none. transport borrows them and asks when their
 * time is over. An exchange gets credentials only here, so they go to the
 * server and to nobody else.
 */
#ifndef MCPSPLICE_PROXY_CREDENTIALS_AUTHORIZE_H
#define MCPSPLICE_PROXY_CREDENTIALS_AUTHORIZE_H

#include "proxy/credentials/oauth.h"

struct authorize;

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
 * store was read: authorize_ask, or INPUT_SIGNED_IN, changes that. It may be a
 * secret. */
bool authorize_whose(const struct authorize *a, struct buf *out);
/* The clocks may have jumped: the next exchange has to ask. */
void authorize_wake(struct authorize *a);
/* Asks for the credentials of an exchange. Each question gets one answer, which
 * may come from inside the call. last: the answer is made of the
 * credentials at hand; nothing is started for it. */
void authorize_ask(struct authorize *a, uint64_t ticket, bool last);
/* Does the server refuse the signature of a request, in the words of AWS? */
bool authorize_is_signature(const struct authorize *a, const struct facts *f);
/* Reports that a request was refused. session: what may have been refused
 * instead; n 0: none. The answer may come from inside. */
void authorize_refused(struct authorize *a, uint64_t ticket,
    const struct facts *f, struct span session);
/* Appends the proof for one request, if the token is bound to a key
 * (credentials.bound). */
void authorize_prove(struct authorize *a, const char *method, const char *url,
    struct headers *to);
/* An answer of the server came, with this nonce for the next proof; NULL: with
 * none. */
void authorize_heard(struct authorize *a, const char *nonce);
/* The server accepted a request with these credentials. */
void authorize_accepted(struct authorize *a, uint64_t stamp);
/* Forgets the question: its answer is not wanted any more. */
void authorize_drop(struct authorize *a, uint64_t ticket);
/* Frees a without a callback; NULL is allowed. */
void authorize_free(struct authorize *a);

#endif
