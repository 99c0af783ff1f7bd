/*
 * The messages of the measurement, and the direct call that the figure
 * "added per call" is taken against.
 */
#ifndef BENCH_RPC_H
#define BENCH_RPC_H

#include <stdbool.h>
#include <stddef.h>

/* The client is one of 2026-07-28. */
extern bool rpc_modern;

/* Lines with their LF: the first one has the id 0; the second may be
 * empty. */
const char *rpc_start(void);
const char *rpc_started(void);

/* Writes one small tools/call with its LF; its length. */
int rpc_call(char *out, size_t size, int id, const char *tool);

/* Writes tools/list with its LF; its length. */
int rpc_list(char *out, size_t size, int id);

/* The id of a result; -1 for a message of the server's own, -2 for the rest. */
int rpc_answer_id(const char *line);

/* A connection to http://127.0.0.1:PORT/...; -1 with errno. */
int rpc_connect(const char *url);

/* One POST and its answer on that connection, 0 or -1. Only what the bundled
 * server sends is understood: a head and a body of Content-Length. */
int rpc_direct(int fd, int id);

#endif
