/*
 * The candidates, as a command line names them:
 *
 *   NAME[,WORD...] COMMAND ARG... [-- NAME[,WORD...] COMMAND ARG...]...
 *
 * The argument URL stands for the server's. These words may follow a name:
 *
 *   third        it is not of this tree: it may fail by its own limits
 *   plain        it speaks no TLS
 *   one          it has one call in flight
 *   http:PORT    it is a reverse proxy there, or without a command the server
 */
#ifndef BENCH_CAND_H
#define BENCH_CAND_H

#include <stdbool.h>

#include "host.h"

#define CAND_MAX 10

struct cand {
	const char *name;
	char *const *words; /* of the command */
	int n;
	bool third, plain, one;
	const char *port; /* NULL: it has pipes */
};

/* Reads the command line into all, which has room for CAND_MAX. How many; it
 * ends the process if there are too many, or if there are too many words. */
size_t cand_read(struct cand *all, char **arg, int n);

/* host_spawn for a candidate and the URL of the server; and up to the answer to
 * a first call, too. 0, or -1 */
int cand_spawn(const struct cand *c, struct host *h, const char *url,
    const char *err);
int cand_open(const struct cand *c, struct host *h, const char *url,
    const char *err);

#endif
