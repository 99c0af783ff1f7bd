/*
 * One JSON document over HTTP, for sign-in: metadata, tokens, registration. Its
 * own connections: no cookie, no header of the user, no redirect for a POST, at
 * most three on the same origin for a GET, 256 KiB, 30 s, and no address behind
 * the door (doc/protocol.md 8.12).
 */
#ifndef MCPSPLICE_LOGIN_FETCH_H
#define MCPSPLICE_LOGIN_FETCH_H

#include "base/headers.h"
#include "io/address.h"
#include "io/http.h"
#include "store/document.h"

struct fetcher;
struct fetch;

struct fetch_request {
	const char *url; /* checked by metadata_url_ok */
	/* POST of this body; p NULL: GET */
	struct span body;
	const char *content_type;
	const struct headers *headers; /* NULL: none; copied */
	/* MCP-Protocol-Version on metadata of 2025-03-26; NULL: none */
	const char *version;
};

struct fetch_answer {
	int status;               /* 0: there was none */
	struct json_object *json; /* of the body; NULL: it is none */
	/* What went wrong, for people: no answer, or no JSON where the status
	 * is a success; NULL: nothing. Has no content of the answer in it. */
	const char *why;
	bool refused;           /* by us: the address is not allowed */
	bool transient;         /* 429, 5xx, no answer: later it may work */
	bool unsent;            /* nobody was there: nothing was sent */
	bool lost;              /* the connection broke when the request had
				 * gone out */
	int64_t retry_after_ms; /* -1: not told */
	const char *nonce;     /* for the next proof (DPoP-Nonce); NULL: none */
	int64_t clock_ahead_s; /* http_clock_ahead */
};

/* The answer is valid in the call; json may be kept by json_object_get. The
 * fetch is gone after it. Never called from inside fetch_start. */
typedef void fetch_cb(const struct fetch_answer *a, void *arg);

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
struct fetch *fetch_start(struct fetcher *f, const struct fetch_request *r,
    fetch_cb *cb, void *arg);
void fetch_cancel(struct fetch *f); /* no callback; NULL is fine */
void fetcher_free(struct fetcher *f);

#endif
