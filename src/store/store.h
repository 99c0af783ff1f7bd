/*
 * The token store: one record for each server and account, shared by all copies
 * of mcpsplice that this user runs. Records are files in a folder of their own,
 * or a helper of the user's (a keyring) keeps them. Locks are files in the
 * folder in both cases: the kernel releases them when their holder dies.
 */
#ifndef MCPSPLICE_STORE_STORE_H
#define MCPSPLICE_STORE_STORE_H

#include "io/loop.h"
#include "store/record.h"

#define STORE_BELOW ".local/state/mcpsplice/auth"
#define STORE_NAME_BYTES (64 + 17)

struct store;
struct store_op;

struct store_config {
	const char *home;         /* $HOME; the folder is STORE_BELOW in it */
	const char *helper;       /* CMD of --auth-store helper:CMD, or NULL */
	const char *const *unset; /* variables that a helper does not get */
	/* Makes the folder at once, because there is a record to keep; else it
	 * is made with the first record. */
	bool make;
};

/* What it means for a proxy that there is no store. */
#define STORE_LACKS "tokens are kept in memory only"

/* Returns NULL with *why for users, owned by the caller, if there is no
 * store. */
struct store *store_new(struct loop *l, const struct store_config *config,
    char **why);
/* Cancels all operations without a callback, and frees s; NULL is allowed. */
void store_free(struct store *s);

/* Makes the name of the record's files: host-HASH, with 16 digits of a SHA-256
 * over URL and profile. url is normalised; profile may be NULL. */
void store_name(char name[STORE_NAME_BYTES], const char *url,
    const char *profile);

/* Callbacks of an operation. They never come from inside the call; the op is
 * gone after them. why is NULL on success, else a message for users. */
typedef void store_get_cb(const struct record *r, const char *why, void *arg);
typedef void store_done_cb(const char *why, void *arg);

/* Reads a record. r is NULL if there is none, and if it cannot be read
 * (why). */
struct store_op *store_get(struct store *s, const char *name, store_get_cb *cb,
    void *arg);
/* Did a newer mcpsplice write the record that could not be read just now? Asked
 * in the callback of store_get. Such a record is left alone. */
bool store_found_newer(const struct store *s);
/* Writes the whole record with its generation raised by one. The caller has to
 * hold the token lock. */
struct store_op *store_put(struct store *s, const char *name, struct record *r,
    store_done_cb *cb, void *arg);
/* Removes a record; that there is none is a success. */
struct store_op *store_erase(struct store *s, const char *name,
    store_done_cb *cb, void *arg);
void store_cancel(struct store_op *op); /* no callback; op may be NULL */

/* Returns a number that changes when somebody writes the record, without
 * reading it. 0: there is no record, or a helper keeps it. */
uint64_t store_stamp(struct store *s, const char *name);

/* Does a helper keep the records? */
bool store_has_helper(const struct store *s);

/* Times for a process that waits for a lock. */
enum { STORE_POLL_MS = 100 }; /* between two tries */

/* Takes a lock without waiting: returns a descriptor, for store_unlock, or -1
 * with EWOULDBLOCK if another process has it. Only store_new removes such
 * files, old ones of which nobody has the lock. */
enum store_lock {
	STORE_TOKEN, /* held to read, decide, refresh and write: 80 s at most */
	STORE_LOGIN, /* the user is signing in to this server */
	STORE_TAB    /* a browser tab of a login is open; name is not used */
};
int store_lock(struct store *s, enum store_lock what, const char *name);
void store_unlock(int fd);

/* A sign-in under way, for the copies that wait for it: the URL that the user
 * has to open. The holder of STORE_LOGIN writes it; without a holder it means
 * nothing. Short texts of one line each. */
struct pending {
	char *server;    /* the MCP server's URL; NULL: not known */
	char *url;       /* NULL: not known yet */
	char *user_code; /* of the device flow, or NULL */
	/* when tabs were opened for this server: s since 1970, newest first */
	int64_t opened[3];
	int64_t asked_at;  /* when url was shown by a copy that opens tabs; 0:
			    * it opens none */
	int64_t failed_at; /* when a login failed; 0: none did */
};
/* Frees the strings of p. */
void pending_free(struct pending *p);
/* Asks the holder of STORE_LOGIN to end: it takes the state without a URL and
 * with a later failure for that. Returns 0, or -1 with errno. */
int store_end_pending(struct store *s, const char *name);
/* Reads the state. Always fills p, with zeros if there is none. */
void store_pending(struct store *s, const char *name, struct pending *p);
/* Writes the state. Returns 0, or -1 with errno. */
int store_set_pending(struct store *s, const char *name,
    const struct pending *p);

/* Lists the names of all records, and of the sign-ins under way, for "status":
 * a name can come twice. With a helper: the names that have a lock file. */
typedef bool store_list_cb(const char *name, void *arg);
void store_list(struct store *s, store_list_cb *each, void *arg);

#endif
