/* Records of the store, with the loop run until it has answered: for "status" and
 * "logout". */
#ifndef MCPSPLICE_TOOLS_STORED_H
#define MCPSPLICE_TOOLS_STORED_H

#include "io/loop.h"
#include "options/options.h"
#include "store/record.h"
#include "store/store.h"

/* What the store answered. */
struct stored {
	struct loop *loop;
	bool there;
	struct record record;
	char *why; /* for users; NULL: nothing went wrong */
};

/* Reads a record into a, to be freed with stored_free. */
void stored_read(struct stored *a, struct loop *l, struct store *s,
    const char *name);
void stored_free(struct stored *a);
/* The store's callback when something was written; arg is a struct stored. */
void stored_done(const char *why, void *arg);

/* Returns the names of all records, and of the sign-ins under way. The caller
 * frees the list. */
char (*stored_names(struct store *s, size_t *n))[STORE_NAME_BYTES];
/* Finds the name of the server's record in the store. Returns 0, or -1 with
 * *why. */
int stored_name(const struct options *o, char name[STORE_NAME_BYTES],
    char **why);
/* Is this the record of a sign-in at an identity provider? */
bool stored_is_provider(const struct record *r, const char *name);
/* Sets name to that of the record of an identity provider at this URL, if no MCP
 * server has a record under name: "status" shows it under that. Runs the loop.
 * Returns whether there is one. */
bool stored_find_provider(struct loop *loop, struct store *store,
    const char *url, const char *profile, char name[STORE_NAME_BYTES]);

#endif
