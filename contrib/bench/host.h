/*
 * The MCP host's part: it starts a candidate, opens a session and makes calls,
 * one after another or many at once. Each answer must be the right result of
 * its request, once; anything else fails. A candidate has pipes, or speaks HTTP
 * as a reverse proxy does.
 */
#ifndef BENCH_HOST_H
#define BENCH_HOST_H

#include "child.h"
#include "web.h"

#define HOST_ARGS 32
#define HOST_WAIT_MS 20000

struct host {
	struct child child; /* pid 0: none, the server itself is called */
	struct web *web;    /* NULL: by the child's pipes */
	int next_id;        /* the last that was used */
	double began;       /* when the last single call was sent, bench_now */
	double came;        /* when the last line was there */
	const char *why;    /* the last call failed, in words */
};

/* Writes n words of a command and a NULL, the URL for the word "URL". There
 * must be room for HOST_ARGS, which is more than n. */
void host_words(char **out, char *const *words, int n, char *url);

/* Spawns it, unless there is no word, and sends the first request, to that URL
 * if it speaks HTTP (NULL: it has pipes). It ends the process when the command
 * cannot be started. 0, or -1 */
int host_spawn(struct host *h, char *const argv[], const char *web_url,
    const char *err);

/* After host_spawn: up to the answer to the first request. 0, or -1 */
int host_started(struct host *h);

/* After host_started: initialized, and a call. 0, or -1 */
int host_settle(struct host *h);

/* Ends it within ms, as child_end does; NaN if it has no pipes. */
double host_end(struct host *h, int ms);

/* Sends a line with its LF. 0, or -1 */
int host_send(struct host *h, const char *line, size_t n);

/* Waits for that answer, past what the server says of its own. The line, good
 * until the next call; or NULL */
const char *host_await(struct host *h, int id);

/* One call and its answer, of that tool, or of echo. 0, or -1 */
int host_call_tool(struct host *h, const char *tool);
int host_call(struct host *h);

/* So many calls of that tool with that size, not more than in_flight of them at
 * once; each must be answered once. 0, or -1 */
int host_calls(struct host *h, const char *tool, int size, int calls,
    int in_flight);

/* One call each: with a result of so many bytes; with so many notifications,
 * in their order, before the answer; with a request of so many bytes. Seconds
 * from the call to the answer, without the checks of it; NaN if it fails. */
double host_big(struct host *h, int size);
double host_notes(struct host *h, int count);
double host_take(struct host *h, int size);

#endif
