/*
 * A player for the reducer of a login: a schedule is text. Lines that begin
 * with "<" or "!" are inputs, all others are what must come of the input
 * before them (the first ones: of the begin), all of it, in order.
 *
 *   < OUTCOME [WORD...] [: WHY]   what came of the last action, or unasked;
 *                                 the names of enum login_outcome in small
 *                                 letters, with "-" for "_"
 *   ! clock MS                    so much time passes
 *   ! kill                        the process ends, and begins anew with what
 *                                 the store has
 *
 * WORD is a fact that is true from now on, or with "-" before it no more:
 * usable scopes refresh endpoint as-given redirect guessed registers documents
 * devices; or token=PROOF issuer=TEXT client=none|given|document|registered|
 * imported expires=S failures=N found=ISSUER ("found=" is one that published
 * none) failed=S third-tab=S (so many s ago). Of this input only: stamp=N
 * shown life=S interval=S again=MS random=N.
 *
 * The player does what the shell does with a record: "< saved" puts it into
 * the store, "< loaded" takes it from there, and words of "< loaded" are what
 * another copy has written. What is to be forgotten is forgotten.
 *
 * What comes: the names of enum login_action_kind in small letters, without
 * "_" and with their parameters: "wait 100", "lock token", "discover
 * interactive", "save forget client", "info TEXT", "warn TEXT", "end failed
 * again=5 TEXT". After "< orphaned" comes "needed" or "not needed", after a
 * redirect that was not awaited "not awaited".
 *
 * Options: mode=browser|device|credentials reason=none|expired|rejected|scope
 * nobody (may be asked) force alone (without a store) helper given document
 * issuer-given no-browser timeout=MS rejected=PROOF.
 */
#ifndef MCPSPLICE_TESTS_LOGIN_PLAY_H
#define MCPSPLICE_TESTS_LOGIN_PLAY_H

#include "base/mem.h"
#include "core/login/login.h"

struct login_play;

struct login_play *login_play_new(const char *options);
void login_play_free(struct login_play *p);
/* false: the line is not understood. */
bool login_play_input(struct login_play *p, const char *line);
/* Appends what comes next; false: there is nothing. */
bool login_play_take(struct login_play *p, struct buf *line);

#endif
