/*
 * From a 401 to an authorization server: the resource's document, the choice of
 * the issuer, the issuer's document; or what servers of 2025-03-26 have instead
 * (doc/protocol.md 8.2 to 8.5). Asks for nothing it does not need.
 */
#ifndef MCPSPLICE_SIGNIN_DISCOVERY_H
#define MCPSPLICE_SIGNIN_DISCOVERY_H

#include "signin/fetch.h"
#include "signin/metadata.h"

struct discovery_config {
	const struct url *server; /* the MCP server; borrowed, as all here */
	const char *resource_metadata; /* of the challenge; NULL: none */
	/* --issuer: instead of what is told. Where that one has no document
	 * that does, the one that the server names may be it, or redirect from
	 * it. */
	const char *issuer;
	const char *bound; /* the issuer our credential is from: taken
				   * if it is listed; NULL: none */
	struct metadata_policy policy;
	bool direct;      /* there is no MCP server: issuer is asked, and
			   * nobody else */
	bool interactive; /* a user will sign in: S256 is a must */
	bool given;       /* a secret of the user's, or a proof made for one
			   * issuer, goes there */
	bool registers;   /* no client is given, so one has to be registered */
	bool document;    /* but where a document is taken for one */
};

struct discovered {
	bool soon;        /* it was not found, and in a moment it may be */
	int64_t again_ms; /* then; as in struct fetch_answer */
	bool legacy;      /* no resource document: a server of 2025-03-26 */
	char *resource;   /* for the resource parameter */
	char *scopes;     /* of the resource's document; NULL: none */
	bool dpop;        /* of the same, as in struct resource_metadata */
	bool bound;
	struct server_metadata server;
	char *place; /* where its document was; NULL: it has none */
	bool listed; /* it is about the issuer of --issuer by the word of the
		      * one that the MCP server lists */
};

/* Runs the loop until it is known. Returns whether it is: d is to be freed with
 * discovered_free. If not, *why is for people, says what to do and is the
 * caller's; later it may work if *transient. *why NULL: it was given up, as by
 * fetch_wait. */
bool discovery_run(struct fetcher *f, const struct discovery_config *config,
    const bool *over, struct discovered *d, char **why, bool *transient);
void discovered_free(struct discovered *d);

#endif
