/* What plays the session, for the chain, which has one, and for explorers. */
#ifndef MCPSPLICE_TESTS_PLAY_SESSION_H
#define MCPSPLICE_TESTS_PLAY_SESSION_H

#include "core/session/session.h"
#include "play/play.h"

void session_defaults(struct session_config *c);
/* Takes one option of README into c; false: there is none of this name. */
bool session_option(struct play *p, struct session_config *c, const char *word);

/* For a player of play_session only: */
const struct session_config *session_played(const struct play *p);
/* How many bytes the session says it holds back. */
size_t session_held(const struct play *p);

#endif
