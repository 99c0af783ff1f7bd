/*
 * Requests to the token, registration, revocation and device endpoints, and
 * what their answers mean. Pure: bytes in, bytes out (doc/protocol.md 8.6 to
 * 8.11).
 */
#ifndef MCPSPLICE_SIGNIN_CLIENT_MESSAGES_H
#define MCPSPLICE_SIGNIN_CLIENT_MESSAGES_H

#include "signin/discovery.h"
#include "store/record.h"

/* A form (application/x-www-form-urlencoded) with the headers that go with
 * it. Secrets are in both: client_request_free wipes them. */
struct client_request {
	struct buf form;
	struct headers headers;
};
void client_request_free(struct client_request *r);

/* How this client proves itself there, by what the server lists: post, basic,
 * none; basic if it lists nothing (doc/protocol.md 8.9). */
enum client_method client_method(const struct server_metadata *m,
    bool has_secret, bool has_key);

/* Each begins a request in r, which is zeros; client_finish ends it. scope may
 * be NULL. */
void client_code(struct client_request *r, const struct record *rec,
    const char *code, const char *verifier);
/* scope: with the one that was asked for. */
void client_refresh(struct client_request *r, const struct record *rec,
    bool scope);
void client_credentials(struct client_request *r, const char *scope);
/* RFC 7523 2.1 */
void client_jwt_bearer(struct client_request *r, const char *assertion,
    const char *scope);
/* RFC 8693 2.1, for an ID-JAG: what client_finish adds is of the client at the
 * identity provider, and resource is in the form already. */
#define CLIENT_ID_JAG "urn:ietf:params:oauth:token-type:id-jag"
void client_exchange(struct client_request *r, const char *id_token,
    const char *audience, const char *resource, const char *scope);
void client_device(struct client_request *r, const char *scope);
void client_device_poll(struct client_request *r, const char *device_code);
/* Adds for which resource it is, and who asks, with the proof. assertion is
 * that of CLIENT_JWT: signed (assertion_make), for one request; NULL
 * otherwise. named, with CLIENT_BASIC only: the form has the client's id, too,
 * for servers that look for it there. */
void client_finish(struct client_request *r, const struct record *rec,
    const char *assertion, bool named);
/* A whole request to forget a token. */
void client_revoke(struct client_request *r, const struct record *rec,
    const char *token, bool refresh, const char *assertion);

/* The body of a dynamic registration (RFC 7591), JSON. redirect_uri NULL: no
 * user will sign in by a browser (device flow). The members of given, which may
 * be NULL, take the place of ours, but for the redirect URI and scope. */
void client_register(struct buf *body, const struct server_metadata *m,
    const char *redirect_uri, const char *scope, struct json_object *given);
/* Its answer into rec->client. What it says of the method and the scope counts;
 * where it is silent, what m lists. Returns 0, or -1 with *why for people. */
int client_registered(struct record *rec, struct json_object *doc,
    const struct server_metadata *m, const char *redirect_uri, char **why);
/* Does the answer of a token endpoint to CLIENT_BASIC miss client_id in the
 * form? mcp 1.23 and later list the method and say "Missing client_id"; some
 * frameworks name the field that is required. */
bool client_id_is_missed(int status, struct json_object *doc);

/* The URL for the browser (RFC 6749 4.1.1, RFC 7636, RFC 8707). params are
 * "name=value" of --authorize-param, NULL-ended or NULL. Owned by the
 * caller. NULL when the endpoint is no URL. */
char *client_authorize_url(const struct server_metadata *m,
    const struct record *rec, const char *scope, const char *state,
    const char *challenge, const char *const *params);

/* Who gave an answer, in words for people. */
#define CLIENT_SERVER "the server"
#define CLIENT_PROVIDER "the identity provider"

/* What an answer of the token endpoint means: CAME_TOKEN, CAME_DEAD_GRANT (this
 * code or refresh token is dead), CAME_DEAD_CLIENT, CAME_PENDING and
 * CAME_SLOW_DOWN (device), CAME_TRANSIENT (network, 5xx, 429), or CAME_REFUSED
 * for anything else. With CAME_TOKEN the token is in rec->token, with a note if it
 * is bound to rec->dpop_key (RFC 9449 5): a refresh token that was not sent again
 * stays; now is s since 1970. Otherwise rec is as it was and *why for people,
 * owned by the caller: the error's name and, marked as the words of who and made
 * safe, its description. */
enum login_outcome client_token(struct record *rec, int status,
    struct json_object *doc, const char *requested, int64_t now,
    const char *who, char **why);

/* Returns the name of the error in doc, borrowed; NULL: there is none. Sets *why
 * to it with the description, made safe and marked as the words of who; owned by
 * the caller. Neither has a secret of rec in it. */
const char *client_error(const struct record *rec, struct json_object *doc,
    const char *who, char **why);

/* Returns which options may mend an error of this name and description (or NULL),
 * to be put behind it; "": none is known. given: those of a client that is the
 * user's; NULL: it is not. */
const char *client_advice(const char *error, const char *text,
    const char *given);

/* The code that the user is to type, out of the answer of the device endpoint;
 * borrowed. It goes to terminals and into messages: only what a keyboard has,
 * and little of it; NULL for any other. */
const char *client_user_code(struct json_object *doc);

/* What an action came to. */
enum login_outcome {
	CAME_DONE,    /* as it was to be */
	CAME_STOPPED, /* whatever is waited for: nobody wants it any more */
	CAME_TIME,    /* that of a wait, or of an action, is over */
	CAME_LOADED,  /* of the record */
	CAME_BROKEN,  /* it will not work here; why */
	CAME_LOCKED,  /* login_lock_* */
	CAME_BUSY,    /* somebody else has the lock, or the port; why */
	CAME_SAVED,   /* login_save */
	CAME_UNKEPT,  /* the store did not take it, for the reason why */
	CAME_FOUND,   /* login_discover */
	CAME_NOT_NOW, /* nothing was found, but later there may be; why */
	CAME_LOOKED,  /* login_watch: stamp, shown, tab_at */
	/* of a request */
	CAME_UNABLE,     /* it could not be made; why */
	CAME_IMPOSSIBLE, /* we refuse to send it, or it would be refused
			   * each time; why, again_ms */
	CAME_UNREADY,    /* no answer, or one of the moment; why, again_ms */
	CAME_UNREACHED,  /* login_refresh: it did not get to its server; why,
			   * again_ms */
	CAME_LOST,       /* login_refresh: the connection broke when the request
			   * had gone out; why, again_ms */
	CAME_TOKEN,      /* it is in the record, but not stored */
	CAME_DEAD_GRANT, /* invalid_grant; why */
	CAME_DEAD_CLIENT, /* invalid_client; why */
	CAME_PENDING,     /* the user has not entered the device code yet */
	CAME_SLOW_DOWN,
	CAME_TRANSIENT,    /* an error of the moment; why */
	CAME_REFUSED,      /* any other error; why */
	CAME_REGISTERED,   /* login_register */
	CAME_BAD_REDIRECT, /* a name of loopback may do where its address
			    * did not */
	CAME_NO_DOCUMENT,  /* what was answered, or refused, is no JSON; why */
	CAME_CODE_SHOWN,   /* login_device: life_s, interval_s */
	CAME_NO_IDENTITY,  /* login_grant: there is no ID token, or it is
			    * dead; why */
	/* These come unasked. */
	CAME_CODE,           /* the redirect brought a code */
	CAME_DENIED,         /* it brought an error; why */
	CAME_BAD_SCOPE,      /* it brought an error: the scopes that nobody
			      * named are refused, and forgotten now */
	CAME_FOREIGN,        /* it is of another issuer */
	CAME_TIMEOUT,        /* login_timeout is over */
	CAME_CANCELLED,      /* "mcpsplice logout" ended it */
	CAME_BROWSER_FAILED, /* it could not be started */
	CAME_OUTCOMES
};

/* --- id_token.c --- */

/*
 * The ID token of a sign-in at an identity provider: what is believed of it
 * (OpenID Connect Core 1.0 section 3.1.3.7). It came from the provider's token
 * endpoint by TLS, so its signature is not checked.
 */

/* When the ID token of the record ends, s since 1970; 0: there is none, or it
 * does not say. */
int64_t id_token_end(const struct record *r);
/* Is there one, and is it good for the time of an exchange? now is s since 1970. */
bool id_token_usable(const struct record *r, int64_t now);
/* Why the ID token that doc, the answer of the token endpoint, brought into the
 * record is not used: it is missing, of another issuer or for another client.
 * Owned by the caller; NULL: it is used. */
char *id_token_fault(const struct record *r, struct json_object *doc);

/* Whom the ID-JAG is for. Strings are borrowed; NULL where it is not asked. */
struct id_jag_for {
	const char *host;     /* the MCP server, for people */
	const char *audience; /* the issuer of its authorization server */
	const char *resource; /* the MCP server's */
	const char *client;   /* its client at that authorization server */
};

/* What the provider's answer means: CAME_TOKEN with *jag, owned by the caller;
 * CAME_DEAD_GRANT: the ID token does not do any more; CAME_TRANSIENT;
 * CAME_REFUSED, also where the provider's policy refuses, or where the ID-JAG
 * is for somebody else. *why is for people then, owned by the caller. provider
 * has the secrets that were sent, which no message may show. */
enum login_outcome id_jag_answer(const struct record *provider, int status,
    struct json_object *doc, const struct id_jag_for *to, char **jag,
    char **why);

#endif
