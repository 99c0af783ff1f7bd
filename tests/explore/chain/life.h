/*
 * A life of the whole chain: a client, a server and time do what the choices
 * say, from the first request to the end, and rules that hold for every life
 * are checked all the while. The rules know nothing of how the chain works:
 * they know what was asked, what the server has run, and what was answered.
 */
#ifndef MCPSPLICE_TESTS_EXPLORE_CHAIN_LIFE_H
#define MCPSPLICE_TESTS_EXPLORE_CHAIN_LIFE_H

#include "base/mem.h"
#include "explore/chain/choices.h"

/* Plays one life. Returns the rule that it broke, a text that stays, or NULL.
 * It is added to trace as a schedule (tests/play/README); NULL: it is not
 * wanted. */
const char *life_play(struct choices *c, struct buf *trace);

#endif
