/*
 * The token store: one record for each server and account, shared by all
 * copies of us that this user runs. Files in a folder of our own, or a helper
 * of the user's (a keyring). Locks are files in the folder either way: the
 * kernel gives them back when their holder dies.
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
	const char *const *unset; /* variables a helper does not get */
	/* There is something to keep: the folder is made at once, else when
	 * there is. */
	bool make;
};

/* NULL with *why for people, owned by the caller. */
struct store *store_new(struct loop *l, const struct store_config *config,
    char **why);
void store_free(struct store *s);

/* host-HASH, 16 digits of SHA-256 over URL and profile: the name of its files.
 * url is normalised; profile may be NULL. */
void store_name(char name[STORE_NAME_BYTES], const char *url,
    const char *profile);

/* Results come by callback, never from inside the call; the op is gone after
 * it. why is NULL when it went well, else for people. */
typedef void store_get_cb(const struct record *r, const char *why, void *arg);
typedef void store_done_cb(const char *why, void *arg);

/* r is NULL when there is none, and when it cannot be read (why). */
struct store_op *store_get(struct store *s, const char *name, store_get_cb *cb,
    void *arg);
/* Writes it as a whole; its generation is raised by one. Call it with the
 * token lock held. */
struct store_op *store_put(struct store *s, const char *name, struct record *r,
    store_done_cb *cb, void *arg);
struct store_op *store_erase(struct store *s, const char *name,
    store_done_cb *cb, void *arg);
void store_cancel(struct store_op *op); /* no callback; NULL is fine */

/* Tells one content of a record from the next without reading it: changes
 * when somebody writes it. 0: there is none, or a helper has it. */
uint64_t store_stamp(struct store *s, const char *name);

/* Is it a helper of the user's that keeps them? */
bool store_has_helper(const struct store *s);

/* For those who want a lock that another has. */
enum {
	STORE_POLL_MS = 100,          /* between two tries */
	STORE_PATIENCE_MS = 35 * 1000 /* for a token request of another */
};

/* Locks, never waited for: a descriptor (closed by store_unlock), or -1 with
 * EWOULDBLOCK when another process has it. The files are never removed. */
enum store_lock {
	STORE_TOKEN, /* around read, decide, refresh, write: 35 s at most */
	STORE_LOGIN, /* a person signs in to this server */
	STORE_TAB    /* a browser tab of ours is open; name is not used */
};
int store_lock(struct store *s, enum store_lock what, const char *name);
void store_unlock(int fd);

/* A sign-in under way, for the copies that wait for it: where the person has
 * to go. Written by the holder of STORE_LOGIN; of no meaning when nobody
 * holds it. Small text, one line each. */
struct pending {
	char *url;       /* NULL: not known yet */
	char *user_code; /* of the device flow, or NULL */
	/* when tabs were opened for this server: s since 1970, newest first */
	int64_t opened[3];
	int64_t failed_at; /* a login that came to nothing; 0: none */
};
void pending_free(struct pending *p);
/* Always fills p, with nothing where there is nothing. */
void store_pending(struct store *s, const char *name, struct pending *p);
int store_set_pending(struct store *s, const char *name,
    const struct pending *p);

/* The names of all records, for "status". With a helper: those that have a
 * lock file. */
typedef bool store_list_cb(const char *name, void *arg);
void store_list(struct store *s, store_list_cb *each, void *arg);

#endif
