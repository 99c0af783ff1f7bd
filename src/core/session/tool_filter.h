/*
 * Which tools the client gets to see and to call: --ignore-tool, --only-tool
 * and --read-only.
 */
#ifndef MCPSPLICE_CORE_SESSION_TOOL_FILTER_H
#define MCPSPLICE_CORE_SESSION_TOOL_FILTER_H

#include "core/session/session.h"
#include "core/session/tools.h"

/* Is anything filtered? */
bool tool_filter_is_on(const struct tool_filter *f);

/* Returns the option that forbids this tools/call, or NULL. shown is what the
 * client has been shown. */
const char *tool_filter_forbids(const struct tool_filter *f,
    const struct tools *shown, const struct frame *call);

/* Returns the answer to a tools/list with only the tools that are allowed; the
 * other bytes stay as they are. Owned by the caller. */
struct frame *tool_filter_list(const struct tool_filter *f,
    struct frame *answer);

#endif
