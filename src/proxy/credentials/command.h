/*
 * --auth-command: the user's credential helper. It gets a JSON object on stdin,
 * {"url","resource","reason":"start"|"expired"|"unauthorized"}, and answers
 * with one: {"version":1,"token":"..."} or {"version":1,"headers":
 * {"Name":"value"}}, both with an optional "expires_at" (s since 1970, or RFC
 * 3339). It has 30 s and 64 KiB. Its stderr is dropped, because helpers write
 * secrets there.
 *
 * With --aws-sigv4 it answers as a credential_process of the AWS tools does:
 * {"Version":1,"AccessKeyId","SecretAccessKey"} with an optional "SessionToken"
 * and "Expiration" (RFC 3339).
 */
#ifndef MCPSPLICE_PROXY_CREDENTIALS_COMMAND_H
#define MCPSPLICE_PROXY_CREDENTIALS_COMMAND_H

#include "base/headers.h"
#include "io/loop.h"

struct command_auth;

/* Answers the question of this ticket. h is valid in the call. It is NULL if
 * the helper failed: why is then a message for users, without any output of the
 * helper. */
typedef void command_cb(uint64_t ticket, const struct headers *h,
    const char *why, void *arg);

/* Returns NULL and sets *why, which the caller owns, if the command line cannot
 * be parsed. url and unset are as in child.h; nothing runs yet. aws: the answers
 * are those of a credential_process. */
struct command_auth *command_new(struct loop *l, const char *command,
    const char *url, const char *const *unset, bool aws, command_cb *cb,
    void *arg, char **why);
/* Returns the headers at hand. Returns NULL if the helper has to run: cb is
 * then called when it has answered (many may wait for one run). Nobody waits
 * while it renews a key that has not ended. now_s: s since 1970. refused: the
 * headers at hand were refused with 401, so the helper is run again, at most
 * once in 5 s. */
const struct headers *command_headers(struct command_auth *c, uint64_t ticket,
    int64_t now_s, bool refused);
/* Returns the key of the latest answer, which is empty without aws. */
const struct headers *command_key(const struct command_auth *c);
/* Forgets a question that waits. */
void command_drop(struct command_auth *c, uint64_t ticket);
/* Returns a number that changes with each answer of the helper. */
uint64_t command_version(const struct command_auth *c);
/* Do the headers at hand last longer than this, and need not be renewed by then?
 * s since 1970. */
bool command_lasts(const struct command_auth *c, int64_t until_s);
/* Ends the helper if it runs, and frees c without a callback; NULL is
 * allowed. */
void command_free(struct command_auth *c);

#endif
