/*
 * One JSON document over HTTP, for sign-in: metadata, tokens, registration. Its
 * own connections: no cookie, no header of the user, no redirect for a POST, at
 * most three on the same origin for a GET, 256 KiB, 30 s, and no address behind
 * the door (doc/protocol.md 8.12).
 */
#ifndef MCPSPLICE_SIGNIN_FETCH_H
#define MCPSPLICE_SIGNIN_FETCH_H

#include "io/address.h"
#include "io/http.h"
#include "store/document.h"

struct fetcher;

struct fetch_request {
	const char *url; /* checked by metadata_url_ok */
	/* POST of this body; p NULL: GET */
	struct span body;
	const char *content_type;
	const struct headers *headers; /* NULL: none; copied */
	/* MCP-Protocol-Version on metadata of 2025-03-26; NULL: none */
	const char *version;
	/* The option that names another URL instead, for people, static;
	 * NULL: none */
	const char *option;
};

struct fetch_answer {
	int status;               /* 0: there was none */
	struct json_object *json; /* of the body; NULL: it is none */
	/* What went wrong, for people: no answer, or no JSON where the status
	 * is a success; NULL: nothing. Has no content of the answer in it. */
	char *why;
	bool refused;           /* by us: the address is not allowed */
	bool transient;         /* 429, 5xx, no answer: later it may work */
	bool soon;              /* in a moment, even: 429, a gateway in front
				 * of nobody, or nobody there */
	bool unsent;            /* nobody was there: nothing was sent */
	bool nobody;            /* no such host, or nobody listens there */
	bool lost;              /* the connection broke when the request had
				 * gone out */
	int64_t retry_after_ms; /* -1: not told */
	char *nonce;           /* for the next proof (DPoP-Nonce); NULL: none */
	int64_t clock_ahead_s; /* http_clock_ahead */
};

/* h is borrowed. allowed: the worst class that addresses may have, as the
 * MCP server itself has it: ADDRESS_PUBLIC allows only that, PRIVATE that and
 * private ones, LOOPBACK loopback and public ones; any_private allows all
 * three (--allow-private-auth). */
struct fetcher *fetcher_new(struct loop *l, struct http *h,
    enum address_class allowed, bool any_private);
/* Another worst class, for what is fetched from now on. */
void fetcher_allow(struct fetcher *f, enum address_class allowed);
/* For http_config.allow: may this address be connected to? arg: a fetcher. */
bool fetcher_allows(const struct sockaddr *sa, void *arg);
/* Sends it, and runs the loop until the answer is there, which is to be freed
 * with fetch_answer_free. Returns false if it was given up before: *over is true
 * (NULL: never), or whoever stopped the loop wants no more. Who sets *over
 * stops the loop, too. */
bool fetch_wait(struct fetcher *f, const struct fetch_request *r,
    const bool *over, struct fetch_answer *a);
void fetch_answer_free(struct fetch_answer *a);
void fetcher_free(struct fetcher *f);

#endif
