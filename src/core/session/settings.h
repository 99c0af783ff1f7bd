/*
 * The settings of the client: its log level and its subscriptions. A new
 * session is told them again. A setting is kept only after the server agreed.
 */
#ifndef MCPSPLICE_CORE_SESSION_SETTINGS_H
#define MCPSPLICE_CORE_SESSION_SETTINGS_H

#include "base/frame.h"

struct subscription {
	struct subscription *next;
	struct frame *request; /* the client's resources/subscribe */
	uint64_t told;         /* the number of the latest generation that was
			        * told */
};

struct settings {
	struct frame *level; /* the client's logging/setLevel; NULL: none */
	struct subscription *list; /* in the client's order */
	size_t n;
};

/* A request of the client was answered with a result: keeps or forgets the
 * setting that the request changes, if any. Returns false if there is no room
 * for one more subscription. */
bool settings_learn(struct settings *r, struct frame *request);
/* The server refused this logging/setLevel or resources/subscribe in a new
 * session: forgets the setting. */
void settings_forget(struct settings *r, const struct frame *request);
/* Forgets all settings. */
void settings_clear(struct settings *r);

#endif
