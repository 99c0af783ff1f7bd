/*
 * --auth-command: a credential helper of the user's. It gets a JSON object on
 * stdin, {"url","resource","reason":"start"|"expired"|"unauthorized"}, and
 * answers with one: {"version":1,"token":"..."} or {"version":1,"headers":
 * {"Name":"value"}}, and "expires_at" (s since 1970, or RFC 3339). 30 s, 64
 * KiB. What it writes to stderr is dropped: helpers leak secrets there.
 */
#ifndef MCPSPLICE_AUTH_COMMAND_H
#define MCPSPLICE_AUTH_COMMAND_H

#include "base/headers.h"
#include "io/loop.h"

struct command_auth;

/* h is valid in the call, NULL when it failed: why is then for people and has
 * nothing of the helper's output in it. */
typedef void command_cb(const struct headers *h, const char *why, void *arg);

/* NULL with *why when the command line is none. */
struct command_auth *command_new(struct loop *l, const char *command,
    const char *url, const char *const *unset, char **why);
/* The headers at hand, or NULL: then cb tells, when the helper that now runs
 * has answered (many may wait for one run). now_s: s since 1970. refused: the
 * headers at hand were refused with 401: asked again, at most once in 5 s. */
const struct headers *command_headers(struct command_auth *c, int64_t now_s,
    bool refused, command_cb *cb, void *arg);
/* Tells one answer of the helper from the next. */
uint64_t command_version(const struct command_auth *c);
void command_free(struct command_auth *c);

#endif
