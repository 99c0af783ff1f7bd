/*
 * Lines over HTTP by the driver itself: each line goes out as a POST, on a
 * connection of its own while its answer is awaited, and the answers come back
 * as lines. So a reverse proxy, or the server itself, is measured with the same
 * calls and checks as a process with pipes.
 */
#ifndef BENCH_WEB_H
#define BENCH_WEB_H

#include <stddef.h>

struct web;

/* A client of http://127.0.0.1:PORT/PATH, which connects when it sends. */
struct web *web_new(const char *url);
void web_free(struct web *w);

/* Posts one line of n bytes, its LF included. 0, or -1 with errno if it cannot
 * connect or write. */
int web_send(struct web *w, const char *line, size_t n);

/* As child_line in child.h; NULL, too, after an answer that is none. */
char *web_line(struct web *w, int ms);

#endif
