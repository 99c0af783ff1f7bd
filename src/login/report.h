/* What came of an action, to the order. */
#ifndef MCPSPLICE_LOGIN_REPORT_H
#define MCPSPLICE_LOGIN_REPORT_H

#include "login/state.h"

int64_t login_now(void); /* s since 1970 */
/* Tells what came. What follows is done after the caller has returned. */
void login_report(struct login *g, enum login_outcome came);
/* The same with why, for people; or with all that in says. */
void login_report_why(struct login *g, enum login_outcome came,
    const char *why);
void login_report_all(struct login *g, struct login_input *in);
/* Tells that the browser cannot be started. */
void login_report_browser(struct login *g);
/* Runs the loop until something came, for struct login_hands. */
void login_wait(struct login_input *in, void *login);

/* An action that waits for something runs the loop until that is there. All
 * three return false if something else came before, which is reported then, or
 * if the loop was stopped. */

/* For g->done, which login_set_done sets. */
bool login_await(struct login *g);
void login_set_done(struct login *g);
/* For an answer, as fetch_wait. */
bool login_fetch(struct login *g, struct fetcher *f,
    const struct fetch_request *r, struct fetch_answer *a);
/* For where to sign in, as discovery_run; that it is not found is reported. */
bool login_find(struct login *g, struct fetcher *f,
    const struct discovery_config *c, struct discovered *d);

/* Each does the action of its name, as core/login/login.h has it. */
login_performer login_do_wait, login_do_timeout, login_do_timeout_off,
    login_do_log;

#endif
