/*
 * From a 401 to an authorization server: the resource's document, the choice of
 * the issuer, the issuer's document; or what servers of 2025-03-26 have instead
 * (doc/protocol.md 8.2 to 8.5). Asks for nothing it does not need.
 */
#ifndef MCPSPLICE_LOGIN_DISCOVERY_H
#define MCPSPLICE_LOGIN_DISCOVERY_H

#include "login/fetch.h"
#include "login/metadata.h"

struct discovery;

struct discovery_config {
	const struct url *server; /* the MCP server; borrowed, as all here */
	const char *resource_metadata; /* of the challenge; NULL: none */
	const char *issuer;            /* --issuer: instead of what is told */
	const char *bound; /* the issuer our credential is from: taken
				   * if it is listed; NULL: none */
	struct metadata_policy policy;
	bool direct;      /* there is no MCP server: issuer is asked, and
			   * nobody else */
	bool interactive; /* a user will sign in: S256 is a must */
};

struct discovered {
	bool legacy;    /* no resource document: a server of 2025-03-26 */
	char *resource; /* for the resource parameter */
	char *scopes;   /* of the resource's document; NULL: none */
	bool dpop;      /* of the same, as in struct resource_metadata */
	bool bound;
	struct server_metadata server;
};

/* d is NULL when it failed; why is then for people, and says what to do.
 * What d holds may be taken (set to NULL in it); the rest is freed after the
 * call. transient: later it may work. */
typedef void discovery_cb(struct discovered *d, const char *why, bool transient,
    void *arg);

struct discovery *discovery_start(struct fetcher *f,
    const struct discovery_config *config, discovery_cb *cb, void *arg);
void discovery_cancel(struct discovery *d); /* no callback; NULL is fine */
void discovered_free(struct discovered *d);

#endif
