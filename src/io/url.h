/* URLs, with libcurl's URL API. */
#ifndef MCPSPLICE_IO_URL_H
#define MCPSPLICE_IO_URL_H

#include "base/mem.h"

struct url {
	char *text;   /* normalised, no user info, no fragment */
	char *scheme; /* lower case */
	char *host;   /* as libcurl gives it; IPv6 in brackets */
	char *port;   /* decimal, the scheme's default filled in */
	char *origin; /* scheme://host[:port], default port left out */
};

enum url_status {
	URL_OK,
	URL_BAD,       /* not a URL */
	URL_NO_SCHEME, /* "example.com/mcp": give the user a hint */
	URL_SCHEME,    /* neither http nor https */
	URL_USERINFO   /* user:password@ is refused: a header has to be used */
};

/* Parses text into u (free it with url_free). After a failure u is empty. */
enum url_status url_parse(struct url *u, const char *text);
/* Resolves a reference (RFC 3986) against base, like url_parse. */
enum url_status url_resolve(struct url *u, const struct url *base,
    const char *reference);
/* Do both have the same scheme, host and port? False if one of them is
 * empty. */
bool url_same_origin(const struct url *a, const struct url *b);
/* Is the host in 127.0.0.0/8, or [::1], localhost or *.localhost? */
bool url_is_loopback(const struct url *u);
/* Returns HOST, or HOST:PORT if the port is not the default, as part of u. */
const char *url_authority(const struct url *u);
/* Frees the strings; u is empty after. */
void url_free(struct url *u);

/* Writes a host, or as much of it as fits into size bytes, as the beginning of
 * a file's name, and a NUL: a-z, 0-9, ".", "-" and "_" stay, the first two of
 * these not in front; all else becomes "_". Returns its length. */
size_t url_host_name(char *name, size_t size, const char *host);

/* Appends a value for a form or a query; all characters except the unreserved
 * ones of RFC 3986 become %XX. */
void url_escape(struct buf *out, struct span in);
/* Decodes %XX once, and "+" as a blank, as in forms. Returns a string that the
 * caller owns, or NULL if an escape is broken or gives a NUL. */
char *url_unescape(struct span in);

#endif
