/* The options of the network, as io/http wants them. */
#ifndef MCPSPLICE_APP_NETWORK_H
#define MCPSPLICE_APP_NETWORK_H

#include "io/http.h"
#include "options/options.h"

struct sockaddr;

/* What a client needs besides the options, for its life. Zero at first. */
struct network {
	char *key_password;
};
void network_free(struct network *n); /* wipes */

/* Of both that follow: NULL with *why for people, owned by the caller. o and n
 * are borrowed for the life of the client. */

/* For the MCP server. */
struct http *network_server(struct network *n, struct loop *l,
    const struct options *o, char **why);
/* For sign-in: no cookies, no compression, the certificate only with
 * --cert-auth. allow as in http_config. */
struct http *network_auth(struct network *n, struct loop *l,
    const struct options *o,
    bool (*allow)(const struct sockaddr *sa, void *arg), void *arg, char **why);
/* Do requests to this URL go through an HTTP proxy? Then the address of its
 * host is not known. */
bool network_has_proxy(const struct options *o, const char *url);

#endif
