/*
 * The messages of the measurement.
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

/* Writes a small call of that tool with its LF, with the size n if that is not
 * 0; its length. */
int rpc_call(char *out, size_t size, int id, const char *tool, int n);

/* Writes the beginning of a call of the tool take, up to the n bytes of the
 * pattern, which RPC_TAKE_END follows; its length. */
int rpc_take(char *out, size_t size, int id, int n);
#define RPC_TAKE_END "\"}}}\n"

/* Writes tools/list with its LF; its length. */
int rpc_list(char *out, size_t size, int id);

/* The id of a result; -1 for a message of the server's own, -2 for the rest. */
int rpc_answer_id(const char *line);

/* Is it the result of a small call? */
bool rpc_is_text(const char *line);

/* The text of a result stands behind this. */
#define RPC_TEXT "\"text\":\""

#endif
