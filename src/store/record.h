/*
 * What is known of one account at one server: the issuer, our client there,
 * the token. One JSON document, so that it changes as a whole; members that
 * we do not know are kept.
 */
#ifndef MCPSPLICE_STORE_RECORD_H
#define MCPSPLICE_STORE_RECORD_H

#include "store/document.h"

#define RECORD_VERSION 1

/* How a client proves itself at the token endpoint. */
enum client_method { CLIENT_NONE, CLIENT_BASIC, CLIENT_POST, CLIENT_JWT };

/* Where the client's id is from. */
enum client_source {
	CLIENT_GIVEN,      /* --client-id */
	CLIENT_DOCUMENT,   /* --client-metadata-url */
	CLIENT_REGISTERED, /* dynamically, at the issuer */
	CLIENT_IMPORTED    /* from mcp-remote: registered, by another */
};

struct record {
	struct json_object *json; /* all of it as it was read, or NULL */
	int64_t generation;       /* counts the writes */
	char *url;                /* of the MCP server, normalised */
	char *profile;            /* --profile; NULL: none */
	char *issuer;             /* NULL: a server of 2025-03-26 */
	char *resource;           /* NULL: it is not sent */
	char *token_endpoint, *revocation_endpoint;
	struct {
		enum client_source source;
		enum client_method method;
		char *id; /* NULL: there is no client */
		char *secret;
		int64_t secret_expires_at; /* s since 1970; 0: never */
		char *redirect_uri;
	} client;
	struct {
		char *access; /* NULL: there is no token */
		char *refresh;
		char *id_token;
		char *scope_requested, *scope_granted; /* NULL: not told */
		int64_t obtained_at, expires_at; /* s since 1970; 0: unknown */
	} token;
	bool server_public; /* the MCP server was at a public address, at the
			     * last request to the issuer */
	/* fruitless logins with this client in a row: it may be dead */
	int64_t client_failures;
};

void record_init(struct record *r);
void record_free(struct record *r); /* wipes */
void record_copy(struct record *to, const struct record *from);
/* Returns 0, or -1 with a static *why; r is empty then. */
int record_parse(struct record *r, struct span text, const char **why);
void record_print(const struct record *r, struct buf *out);

/* Forgets the token, or the client and the token. */
void record_drop_token(struct record *r);
void record_drop_client(struct record *r);

/* May the token be sent at this time (s since 1970)? Early by a minute or a
 * tenth of its life, whichever is less; a clock that was set back (now before
 * obtained_at) is not trusted: it may. */
bool record_usable(const struct record *r, int64_t now);
/* Is it really over, and not only nearly? */
bool record_expired(const struct record *r, int64_t now);
/* Has the token, by what was requested and granted, all these scopes? */
bool record_has_scopes(const struct record *r, const char *scopes);
/* Is this one of the words of a list with blanks between? NULL: an empty
 * list. */
bool scope_listed(const char *list, const char *word);
/* The union of two lists of scopes, in their order; NULL when both are empty.
 * Owned by the caller. */
char *scope_union(const char *a, const char *b);

#endif
