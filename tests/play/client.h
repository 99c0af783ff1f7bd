/* What plays core/modern_client, for explorers. */
#ifndef MCPSPLICE_TESTS_PLAY_CLIENT_H
#define MCPSPLICE_TESTS_PLAY_CLIENT_H

#include "core/modern_client/client.h"
#include "play/play.h"

/* For a player of play_client only. */
struct client *client_played(const struct play *p);

#endif
