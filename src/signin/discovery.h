/*
 * From a 401 to an authorization server: the resource's document, the choice of
 * the issuer, the issuer's document; or what servers of 2025-03-26 have instead
 * (doc/protocol.md 8.2 to 8.5). Asks for nothing it does not need.
 */
#ifndef MCPSPLICE_SIGNIN_DISCOVERY_H
#define MCPSPLICE_SIGNIN_DISCOVERY_H

#include "io/url.h"
#include "signin/fetch.h"

/* Which URLs are allowed at all. */
struct metadata_policy {
	bool allow_http;       /* --allow-http: also to other machines */
	bool cross_origin_prm; /* --allow-cross-origin-prm */
	bool assume_pkce;      /* --assume-pkce */
	bool is_provider;      /* --idp names the issuer, and not --issuer */
	/* URLs are at the origin of one of the two; NULL: anywhere. */
	const char *at, *or_at;
};

/* RFC 9728 */
struct resource_metadata {
	char *resource; /* its exact bytes: the resource parameter */
	char *place;    /* the resource is above the server, and only the
			 * document at this URL may say so; NULL: it is the
			 * server */
	char **servers; /* issuers, as they are written; NULL-ended */
	size_t n;
	char *scopes; /* scopes_supported, blanks between; NULL: none */
	bool dpop;    /* takes tokens that are bound to a key (ES256) */
	bool bound;   /* takes no others */
};

/* RFC 8414, OpenID Connect discovery. Endpoints that are missing are NULL. */
struct server_metadata {
	char *issuer; /* exact bytes; NULL: none was published (2025-03-26) */
	char *authorization_endpoint, *token_endpoint, *registration_endpoint,
	    *revocation_endpoint, *device_authorization_endpoint;
	char *scopes; /* blanks between; NULL: not told, or offline_access,
		       * and with it a refresh token, is not among them */
	bool offline_access; /* is among them */
	bool iss; /* authorization_response_iss_parameter_supported */
	bool client_document; /* client_id_metadata_document_supported */
	bool methods_told;    /* token_endpoint_auth_methods_supported: */
	bool method_none, method_basic, method_post, method_jwt;
	bool dpop;        /* dpop_signing_alg_values_supported has ES256 */
	bool pkce_untold; /* no code_challenge_methods_supported, and no
			   * --assume-pkce */
	bool openid;      /* the document is that of OpenID Connect, which does
			   * not know this member */
	char *jwt_algs;   /* token_endpoint_auth_signing_alg_values_supported,
			 * blanks between; NULL: not told */
};

/* Is it a URL that a document may send us to: https, or http on loopback (or
 * as the policy says), no user info, no fragment? On false *why is a message
 * for people, owned by the caller, that names the option that would allow
 * it, where there is one. what names the URL ("the token endpoint"). */
bool metadata_url_ok(const char *url, const struct metadata_policy *policy,
    const char *what, char **why);

/* The places of the resource's document when the challenge names none: with
 * the path, then at the root (one place when the path is empty). Fills urls,
 * owned by the caller, and returns how many. */
size_t metadata_resource_urls(const struct url *server, char *urls[2]);
/* The places of an issuer's document. Returns 0 when it is no URL. */
size_t metadata_server_urls(const char *issuer, char *urls[3]);

/* Fills out from the document. Returns 0, or -1 with *why for people, owned by
 * the caller, and out empty. The resource must be the server's URL (RFC 9728,
 * 3.3), or the same origin with a path that is a prefix on a "/" boundary. Of a
 * shared origin any tenant can claim the latter, so out->place is to be
 * asked. */
int metadata_resource(struct resource_metadata *out, struct json_object *doc,
    const struct url *server, char **why);
/* Do two URLs name one issuer? An empty path is "/", case of scheme and host
 * and the default port do not count (RFC 3986 6.2.3): programs that print URLs
 * change these, and no two servers differ in them. All else is compared byte
 * for byte. */
bool metadata_same_issuer(const char *a, const char *b);
/* The issuer in it must be the one asked for, and out->issuer is as the document
 * writes it: whoever names it later has to write the same. interactive: a
 * user will sign in, so there must be an authorization endpoint, and a list of
 * PKCE's methods must have S256. openid is left to the caller, who knows where
 * the document was. */
int metadata_server(struct server_metadata *out, struct json_object *doc,
    const char *issuer, const struct metadata_policy *policy, bool interactive,
    char **why);
/* Are two URLs of one origin? */
bool metadata_is_at(const char *url, const char *other);
/* A server of 2025-03-26 without a document: /authorize, /token, /register
 * of the origin; issuer is NULL. */
void metadata_legacy(struct server_metadata *out, const struct url *server);

void metadata_resource_free(struct resource_metadata *m);
void metadata_server_free(struct server_metadata *m);

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
