/*
 * Where to sign in: the documents of RFC 9728 (protected resource) and RFC 8414
 * (authorization server), where they are looked for, and what is believed of
 * them (doc/protocol.md 8.2 to 8.5). Pure but for URL parsing.
 */
#ifndef MCPSPLICE_SIGNIN_METADATA_H
#define MCPSPLICE_SIGNIN_METADATA_H

#include "io/url.h"
#include "store/document.h"

/* Which URLs are allowed at all. */
struct metadata_policy {
	bool allow_http;       /* --allow-http: also to other machines */
	bool cross_origin_prm; /* --allow-cross-origin-prm */
	bool assume_pkce;      /* --assume-pkce */
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

/* Appends a remote URL, safe for people, without its query, which can have a
 * secret of the user's in it. */
void metadata_show_url(struct buf *out, const char *url);

/* Returns the issuer as a word that a user may copy behind --issuer; "URL" for
 * one that a shell could take for more than a word. */
const char *metadata_word(const char *issuer);

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
/* Is the host of the URL that of the other, or a name below it? */
bool metadata_is_below(const char *url, const char *other);
/* A server of 2025-03-26 without a document: /authorize, /token, /register
 * of the origin; issuer is NULL. */
void metadata_legacy(struct server_metadata *out, const struct url *server);

void metadata_resource_free(struct resource_metadata *m);
void metadata_server_free(struct server_metadata *m);

#endif
