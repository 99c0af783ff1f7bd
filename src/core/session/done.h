/* The end of an exchange. */
#ifndef MCPSPLICE_CORE_SESSION_DONE_H
#define MCPSPLICE_CORE_SESSION_DONE_H

#include "core/session/state.h"

/* Handles the end of an attempt's exchange. Depending on what the attempt
 * was for and how it ended, the attempt is dropped or another one takes its
 * place. */
void session_done(struct session *s, struct attempt *l, const struct facts *f);

#endif
