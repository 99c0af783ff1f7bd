/*
 * The messages of the measurement, and the direct call that the figure
 * "added per call" is taken against.
 */
#ifndef BENCH_RPC_H
#define BENCH_RPC_H

#include <stddef.h>

/* Lines with their LF; initialize has the id 0. */
extern const char rpc_initialize[];
extern const char rpc_initialized[];

/* Writes one small tools/call with its LF; its length. */
int rpc_call(char *out, size_t size, int id);

/* The id of a result; -1 for a message of the server's own, -2 for the rest. */
int rpc_answer_id(const char *line);

/* A connection to http://127.0.0.1:PORT/...; -1 with errno. */
int rpc_connect(const char *url);

/* One POST and its answer on that connection, 0 or -1. Only what the bundled
 * server sends is understood: a head and a body of Content-Length. */
int rpc_direct(int fd, int id);

#endif
