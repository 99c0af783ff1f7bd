/* The demo server's other half: its own authorization server. */
#ifndef MCPSPLICE_DEMO_OAUTH_H
#define MCPSPLICE_DEMO_OAUTH_H

#include <stdbool.h>

#include <event2/http.h>

/* port is the server's; a token is good for uses requests, 0: for any number
 * of them. */
void demo_oauth_init(int port, unsigned long uses);
/* Answers a request for one of its pages. Returns false when it is none. */
bool demo_oauth_serve(struct evhttp_request *req, const char *path);
/* May this request pass? It is answered with 401 if not. */
bool demo_oauth_allows(struct evhttp_request *req);
void demo_oauth_free(void);

#endif
