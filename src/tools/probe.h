/* One request without credentials to the MCP server, and what came of it. */
#ifndef MCPSPLICE_TOOLS_PROBE_H
#define MCPSPLICE_TOOLS_PROBE_H

#include "base/headers.h"
#include "io/http.h"
#include "io/url.h"
#include "options/options.h"

/* The answer of the MCP server to a request without credentials. The caller
 * fills in the first three members, and zeros. */
struct probe {
	bool watched;               /* way is wanted */
	int64_t limit_ms;           /* for all of it; 0: none but silence */
	const struct headers *with; /* sent, too; NULL: none */
	int status;
	char *refusal; /* what a client would be told of a 4xx; NULL */
	char *peer;    /* its address as text; NULL: unknown */
	bool speaks;   /* the words of an error are those of an MCP server */
	struct buf challenge;
	enum http_end end; /* if there was no answer */
	struct http_way way;
	/* while it runs: */
	struct loop *loop;
	struct url url;
	struct buf body; /* of an error */
	char *why;       /* what a client would be told; of no answer */
};

/* Sends such a request, and runs the loop until the answer is there. Returns 0,
 * or -1 with *why, which is what a client would be told of the same failure.
 * Free p with probe_free in both cases. */
int probe_send(struct probe *p, struct loop *l, const struct options *o,
    char **why);
/* Connects to the server, whatever its certificate is, and sends nothing: w
 * tells the certificate if there is one. Free it with http_way_free. */
void probe_look(struct http_way *w, struct loop *l, const struct options *o,
    int64_t limit_ms);
/* Frees what p holds, not p itself. */
void probe_free(struct probe *p);

#endif
