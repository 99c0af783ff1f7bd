/*
 * The record of one account at one server: the issuer, the client there, the
 * token. It is one JSON document, so that it changes as a whole; unknown
 * members are kept.
 */
#ifndef MCPSPLICE_STORE_RECORD_H
#define MCPSPLICE_STORE_RECORD_H

#include "store/document.h"

#define RECORD_VERSION 1

/* What record_parse returns instead of -1 for the record of a newer mcpsplice,
 * which must not be changed or removed. */
#define RECORD_NEWER (-2)

/* How a client proves itself at the token endpoint. */
enum client_method { CLIENT_NONE, CLIENT_BASIC, CLIENT_POST, CLIENT_JWT };

/* The origin of the client's id. */
enum client_source {
	CLIENT_GIVEN,      /* --client-id */
	CLIENT_DOCUMENT,   /* --client-metadata-url */
	CLIENT_REGISTERED, /* registered by mcpsplice at the issuer */
	CLIENT_IMPORTED    /* registered by mcp-remote */
};

struct record {
	struct json_object *json; /* the whole document as read, or NULL */
	int64_t generation;       /* number of writes */
	char *url;                /* of the MCP server, normalised */
	char *profile;            /* --profile; NULL: none */
	char *issuer;             /* NULL: a server of 2025-03-26 */
	char *resource;           /* NULL: not sent */
	char *token_endpoint, *revocation_endpoint;
	char *dpop_key; /* private (PEM), for tokens that are bound to it; NULL:
			 * none was needed yet */
	struct {
		enum client_source source;
		enum client_method method;
		char *id; /* NULL: there is no client */
		char *secret;
		int64_t secret_expires_at; /* s since 1970; 0: never */
		char *redirect_uri;
		char *scope; /* that the issuer gave a registered client, or
			      * else lists; NULL: not known */
	} client;
	struct {
		char *access; /* NULL: there is no token */
		char *refresh;
		char *id_token;
		char *dpop_ath; /* S256 of the access token that is bound to
				 * dpop_key; of another, if a program that
				 * knows nothing of it got access */
		char *account;  /* tells this sign-in from others, and stays
				* when the token is renewed; NULL: an older
				* mcpsplice signed in */
		char *scope_requested, *scope_granted; /* NULL: not known */
		int64_t obtained_at, expires_at; /* s since 1970; 0: unknown */
	} token;
	bool server_public; /* the MCP server had a public address at the last
			     * request to the issuer */
	/* failed logins with this client in a row: the issuer may have
	 * forgotten the client */
	int64_t client_failures;
};

/* Makes r an empty record. */
void record_init(struct record *r);
void record_free(struct record *r); /* wipes the secrets */
/* Copies from into to, which has to be empty. */
void record_copy(struct record *to, const struct record *from);
/* Parses a record. Returns 0, or -1 or RECORD_NEWER with a static *why; r is then
 * empty. */
int record_parse(struct record *r, struct span text, const char **why);
/* Appends the record as JSON. */
void record_print(const struct record *r, struct buf *out);

/* Forget the token, or the client together with the token. The key stays. */
void record_drop_token(struct record *r);
void record_drop_client(struct record *r);

/* May the token be sent at this time (s since 1970)? It may until a minute, or
 * a tenth of its life if that is less, before it expires. If the clock was set
 * back (now is before obtained_at), the time is not trusted, and the token may
 * be sent. */
bool record_usable(const struct record *r, int64_t now);
/* Has the token expired, without that margin? */
bool record_expired(const struct record *r, int64_t now);
/* Does the token have all these scopes, by those requested and granted? */
bool record_has_scopes(const struct record *r, const char *scopes);
/* Is word in the list, which has blanks between its words? NULL: an empty
 * list. */
bool scope_listed(const char *list, const char *word);
/* Returns the union of two lists of scopes in their order, owned by the caller;
 * NULL if both are empty. */
char *scope_union(const char *a, const char *b);

#endif
