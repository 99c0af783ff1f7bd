/* The entries [mcp_servers.NAME] of a configuration of Codex. Pure. */
#ifndef MCPSPLICE_COMMAND_WRAP_TOML_H
#define MCPSPLICE_COMMAND_WRAP_TOML_H

#include "command/wrap_plan.h"

/* Plans the changes of text, with self as the path of mcpsplice. Returns 0, or
 * -1 with *why, owned by the caller, if text is broken. */
int wrap_toml(struct wrap_plan *p, struct span text, const char *self,
    char **why);

#endif
