/* What each part of a login can start. */
#ifndef MCPSPLICE_LOGIN_STEPS_H
#define MCPSPLICE_LOGIN_STEPS_H

#include "login/state.h"

int64_t login_now(void); /* s since 1970 */
/* Ends it; g is gone. why is printf'ed; NULL with LOGIN_DONE. */
void login_end(struct login *g, enum login_end end, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Reads the record of the store, then goes on. */
void login_read(struct login *g, login_step *then);
/* Writes it, and goes on whether or not that worked: what cannot be kept
 * works until we end. */
void login_save(struct login *g, login_step *then);
/* Waits for the token lock, then goes on; or ends. */
void login_lock_token(struct login *g, login_step *then);
void login_unlock(int *fd);
/* After a lock was not had: true when another copy has it, so that it may be
 * tried again; false: it never will, and the login is over. */
bool login_lock_is_busy(struct login *g);
/* Goes on in ms. */
void login_later(struct login *g, int64_t ms, login_step *step);
/* Is there a token that does? */
bool login_is_good(const struct login *g);
/* Finds out where to sign in, then goes on; or ends. */
void login_discover(struct login *g, bool interactive, login_step *then);
/* Takes over what was discovered. Where the issuer is another one than that of
 * the record, its client and its token are forgotten: they are not for this
 * one. false: the login is over. */
bool login_take_found(struct login *g);
/* The signed proof of this client, or NULL where it has none; false: the login
 * is over. */
bool login_assertion(struct login *g, char **assertion);
/* One POST of a form, then cb. r is freed. */
void login_post(struct login *g, const char *url, struct client_request *r,
    fetch_cb *cb);
/* No answer, or one that is only of the moment; g is gone. */
void login_unready(struct login *g, const struct fetch_answer *a);
/* The time for a person begins, or is over. */
void login_expect_person(struct login *g, bool expect);
/* There is a good token: the login ends. */
void login_done(struct login *g);
/* A token was had: stored, then done. */
void login_have_token(struct login *g);

#endif
