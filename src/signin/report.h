/* What came of an action, to the order. */
#ifndef MCPSPLICE_SIGNIN_REPORT_H
#define MCPSPLICE_SIGNIN_REPORT_H

#include "base/log.h"
#include "signin/state.h"

int64_t login_now(void); /* s since 1970 */
/* Tells what came. What follows is done after the caller has returned. */
void login_report(struct login *g, enum login_outcome came);
/* The same with why, for people; or with all that in says. */
void login_report_why(struct login *g, enum login_outcome came,
    const char *why);
void login_report_all(struct login *g, struct login_input *in);
/* Tells that the browser cannot be started. */
void login_report_browser(struct login *g);
/* Runs the loop until something came, of what was begun or unasked, and fills in
 * g->in. */
void login_wait(struct login *g);

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

/* CAME_TIME comes after ms, if nothing came before; negative: it does not. */
void login_set_timer(struct login *g, int64_t ms);
/* CAME_TIMEOUT comes after ms, whatever comes before; negative: it does not. */
void login_set_timeout(struct login *g, int64_t ms);
/* Logs a line for people. */
void login_say(struct login *g, enum log_level level, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
