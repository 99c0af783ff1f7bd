/* What the copies that wait for a user are told. */
#ifndef MCPSPLICE_LOGIN_WAITING_H
#define MCPSPLICE_LOGIN_WAITING_H

#include "login/state.h"

/* false with errno: it cannot be written. */
bool login_save_pending(struct login *g);
void login_forget_url(struct pending *p);
/* Was it told last? It counts as told from now on. */
bool login_is_shown(struct login *g, const char *url, const char *code);
/* Tells where to go, here and to the copies that wait. */
void login_show(struct login *g, const char *url, const char *code);
/* The copies that wait do not ask the user again. */
void login_note_failure(struct login *g);
/* A login that came to nothing; g is gone. */
void login_failed(struct login *g, enum login_end end, const char *why);
char *login_wanted_scope(const struct login *g);

#endif
