/*
 * The MCP host's part: it starts a candidate, opens a session and makes calls,
 * one after another or many at once. Each answer must be the result of its
 * request; anything else fails.
 */
#ifndef BENCH_HOST_H
#define BENCH_HOST_H

#include "child.h"

#define HOST_ARGS 32
#define HOST_IN_FLIGHT 64
#define HOST_WAIT_MS 20000

struct host {
	struct child child;
	int next_id; /* the last that was used */
};

/* Writes n words of a command and a NULL, the URL for the word "URL". There
 * must be room for HOST_ARGS, which is more than n. */
void host_words(char **out, char *const *words, int n, char *url);

/* Spawns it, up to the answer to initialize. It ends the process when the
 * command cannot be started. 0, or -1 */
int host_start(struct host *h, char *const argv[], const char *err);

/* As host_start, and then initialized and a call. 0, or -1 */
int host_open(struct host *h, char *const argv[], const char *err);

/* Waits for that answer, past what the server says of its own. 0, or -1 */
int host_await(struct host *h, int id);

/* One call and its answer, of that tool, or of echo. 0, or -1 */
int host_call_tool(struct host *h, const char *tool);
int host_call(struct host *h);

/* So many calls, not more than HOST_IN_FLIGHT of them at once; each must be
 * answered once. 0, or -1 */
int host_calls(struct host *h, int calls);

#endif
