/* URLs, by libcurl's URL API. */
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
	URL_BAD,       /* no URL */
	URL_NO_SCHEME, /* "example.com/mcp": a hint is due */
	URL_SCHEME,    /* neither http nor https */
	URL_USERINFO   /* user:password@ is refused: use a header */
};

/* Fills u (freed with url_free); on a failure u is empty. */
enum url_status url_parse(struct url *u, const char *text);
/* Resolves a reference (RFC 3986) against base. */
enum url_status url_resolve(struct url *u, const struct url *base,
    const char *reference);
bool url_same_origin(const struct url *a, const struct url *b);
/* 127.0.0.0/8, [::1], localhost and *.localhost. */
bool url_is_loopback(const struct url *u);
void url_free(struct url *u);

/* Appends a value for a form or a query: all but the unreserved characters of
 * RFC 3986 as %XX. */
void url_escape(struct buf *out, struct span in);
/* Its reverse, once, with "+" as a blank, as forms have it. NULL when an
 * escape is broken or makes a NUL; else owned by the caller. */
char *url_unescape(struct span in);

#endif
