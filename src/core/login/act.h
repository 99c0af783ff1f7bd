/* The queue of actions. */
#ifndef MCPSPLICE_CORE_LOGIN_ACT_H
#define MCPSPLICE_CORE_LOGIN_ACT_H

#include "core/login/state.h"

/* Adds an action. It is the queue's, and valid until the next call. */
struct login_action *login_act(struct login_flow *f,
    enum login_action_kind kind);
/* Adds a line for people. */
void login_log(struct login_flow *f, enum log_level level, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Frees what the queue owns. */
void login_act_free(struct login_flow *f);

#endif
