/* What copies that wait for the same user tell each other. */
#ifndef MCPSPLICE_SIGNIN_WAITING_H
#define MCPSPLICE_SIGNIN_WAITING_H

#include "signin/state.h"

/* Tells where to go, here and to the copies that wait. code NULL: by the
 * browser. */
void login_show(struct login *g, const char *url, const char *code);
/* Writes g->pending, for the copies that wait, unless the login was ended: that
 * is seen at the next look. false with errno: it cannot be written. */
bool login_save_pending(struct login *g);
/* Does "mcpsplice logout" want the login to be over? */
bool login_was_ended(struct login *g);

/* Ends a login that "mcpsplice logout" wants to be over; else looks again after
 * a while. */
void login_look_for_end(struct login *g);

/* Each does what its name says, and reports what came of it. */
login_part login_watch, login_clear, login_note_success, login_note_failure;

#endif
