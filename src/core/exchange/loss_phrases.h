/*
 * Finds what a text says about a session: the noun in a clause, and what the
 * same clause says of it.
 */
#ifndef MCPSPLICE_CORE_EXCHANGE_LOSS_PHRASES_H
#define MCPSPLICE_CORE_EXCHANGE_LOSS_PHRASES_H

#include "base/mem.h"

enum phrase {
	PHRASE_VETO = 1 << 0,        /* no route, already initialized */
	PHRASE_INTERRUPTED = 1 << 1, /* terminated before the request ended */
	PHRASE_TERMINATED = 1 << 2,  /* session terminated */
	PHRASE_EXPIRED = 1 << 3,     /* invalid or expired session */
	PHRASE_LOST = 1 << 4,        /* any other words for a lost session */
	PHRASE_UNREADY = 1 << 5,     /* session or server not initialized */
	PHRASE_EARLY = 1 << 6,       /* initialize first */
	PHRASE_MISSING = 1 << 7,     /* a session id is required */
	PHRASE_DOUBT = 1 << 8,       /* a session that may be a foreign one, or
				      * quoted words */
	PHRASE_CONNECTION = 1 << 9,  /* connection closed */
	PHRASE_OWNER = 1 << 10,      /* the session is another user's */
	PHRASE_LOGIN = 1 << 11,      /* the words are about signing in */
	PHRASE_WHOLE = 1 << 12       /* TERMINATED or EXPIRED is all that the
				      * text says */
};

/* Returns the set of enum phrase that the text says. */
unsigned phrases_find(struct span text);

#endif
