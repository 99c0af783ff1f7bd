/*
 * --trace: everything that passes between client, mcpsplice and server, one
 * JSON object a line, in a file that only this user can read, for people and
 * contrib/trace.html. The format is in doc/trace.md.
 *
 * No secret is written: no header; the credentials and the session ids, where
 * they stand in a text, are replaced, and messages are redacted
 * (core/wire/redact).
 */
#ifndef MCPSPLICE_PROXY_TRACE_H
#define MCPSPLICE_PROXY_TRACE_H

#include "core/chain.h"

struct trace;

/* Opens the file and begins to trace, also what is logged. url is the server's;
 * its query is not written. The credentials are borrowed. If the file cannot be
 * opened, a warning says why, and NULL is returned. When the file can no longer
 * be written, a warning says so, and nothing more is traced. */
struct trace *trace_open(const char *path, const char *url,
    const struct credentials *credentials);
/* Writes the last line and closes the file; NULL is allowed. */
void trace_close(struct trace *t);

/* What goes into the chain, before it is stepped. */
void trace_input(struct trace *t, const struct event *in);
/* What comes out of it, before it is performed. */
void trace_action(struct trace *t, const struct event *a);
/* How the session is now; written if it has changed. */
void trace_state(struct trace *t, struct session_brief now);

#endif
