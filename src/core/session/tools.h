/*
 * What the server's last tools/list said: which tools may be called again
 * although they may have run, and the list itself, for a start without the
 * server. Both are bounded: a tool beyond the bound is not safe, and a list
 * beyond it is forgotten.
 */
#ifndef MCPSPLICE_CORE_SESSION_TOOLS_H
#define MCPSPLICE_CORE_SESSION_TOOLS_H

#include "base/frame.h"
#include "core/session/pages.h"
#include "core/session/session.h"

struct tools;

struct tools *tools_new(void);
void tools_free(struct tools *t);

/* Decodes the name of a tool (raw JSON) into name. Returns false if it cannot
 * tell tools apart, because it has a NUL, which ends it for some programs, or
 * U+FFFD, which stands for any broken byte. */
bool tools_name(struct span value, struct buf *name);

/* This tools/list request of the client, or one of our own without a cursor
 * (NULL), was answered with this result, in the session of this number. Without
 * a cursor it starts again; the hints of other pages are added. */
void tools_learn(struct tools *t, uint64_t session, const struct frame *request,
    const struct frame *result);
/* The server says that its tools have changed: none is safe until it is listed
 * again. */
void tools_changed(struct tools *t);

/* Did the last list declare the tool of this tools/call, which was sent in this
 * session, readOnlyHint or idempotentHint? A list of an earlier session does
 * not count, because another version of the server may run by now. No ambiguous
 * call is safe. */
bool tools_safe(const struct tools *t, uint64_t session,
    const struct frame *call);

/* The tools of the latest result without a cursor, {"tools":[...]}, as raw JSON; n
 * 0 if it was not the whole list, or too large. Valid until the next
 * tools_learn. */
struct span tools_list(const struct tools *t);

/* Is anything filtered? */
bool tool_filter_is_on(const struct tool_filter *f);

/* Returns the option that forbids this tools/call, or NULL. shown is what the
 * client has been shown. */
const char *tool_filter_forbids(const struct tool_filter *f,
    const struct tools *shown, const struct frame *call);

/* Returns a warning, owned by the caller, of a pattern that no tool of this
 * result matches; or NULL. A list of several pages is not judged, nor what is to be hidden in
 * case it ever comes: a pattern with * or ?. */
char *tool_filter_unmatched(const struct tool_filter *f, struct span result);

/* Returns the answer to a tools/list with only the tools that are allowed; the
 * other bytes stay as they are. Owned by the caller. */
struct frame *tool_filter_list(const struct tool_filter *f,
    struct frame *answer);

#endif
