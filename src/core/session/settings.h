/*
 * What a new session must be told again because the client told it to the
 * one before: the log level, and the live subscriptions. Recorded only after
 * the server agreed.
 */
#ifndef MCPSPLICE_CORE_SESSION_SETTINGS_H
#define MCPSPLICE_CORE_SESSION_SETTINGS_H

#include "base/frame.h"

enum { SETTINGS_SUBSCRIPTIONS = 1024 }; /* more are not kept */

struct subscription {
	struct subscription *next;
	struct frame *request; /* the client's resources/subscribe */
	uint64_t told;         /* the session's number that was told it */
};

struct settings {
	struct frame *level; /* the client's logging/setLevel; NULL: none */
	struct subscription *list, *last; /* in the client's order */
	size_t n;
};

/* A request of the client was answered with a result: keeps or forgets what
 * it means, if it means something here. Returns false when there was no room
 * for one more subscription. */
bool settings_learn(struct settings *r, struct frame *request);
/* The server refused this request, logging/setLevel or resources/subscribe,
 * in a new session: there is no such thing any more. */
void settings_forget(struct settings *r, const struct frame *request);
/* Forgets all. */
void settings_clear(struct settings *r);

#endif
