/*
 * Finds what a text says about a session. Words only raise a doubt, which a
 * witness decides: what they miss costs a recovery, what they find in error
 * costs a ping.
 */
#ifndef MCPSPLICE_CORE_EXCHANGE_LOSS_PHRASES_H
#define MCPSPLICE_CORE_EXCHANGE_LOSS_PHRASES_H

#include "base/mem.h"

enum phrase {
	PHRASE_VETO = 1 << 0,        /* no route, already initialized */
	PHRASE_INTERRUPTED = 1 << 1, /* terminated before the request ended */
	PHRASE_LOST = 1 << 2,        /* the session is lost */
	PHRASE_GATE = 1 << 3,        /* it was not initialized */
	PHRASE_MISSING = 1 << 4,     /* a session id is required */
	PHRASE_DOUBT = 1 << 5,       /* a session is lost, perhaps a foreign
				      * one */
	PHRASE_CONNECTION = 1 << 6,  /* connection closed */
	PHRASE_OWNER = 1 << 7,       /* the session is another user's */
	PHRASE_LOGIN = 1 << 8,       /* the words are about signing in */
	PHRASE_PARAMS = 1 << 9       /* "Invalid request parameters" is all */
};

/* Returns the set of enum phrase that the text says. Time is linear. */
unsigned phrases_find(struct span text);

#endif
