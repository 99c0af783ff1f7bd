/*
 * The protocol between the proxy and its login process: one JSON request on the
 * login process's stdin, JSON lines on its stdout. Secrets go this way, never
 * in argv. The words of the command line need not be UTF-8, but JSON has to be,
 * so each is written as base64url.
 *
 *   {"argv":["bWNwc3BsaWNl",...],"reason":"none","person":true,
 *    "challenge":"Bearer ...","rejected":"<SHA-256>","peer":"203.0.113.7",
 *    "record":{...}}
 *   {"url":"https://...","code":"ABCD-EFGH"}
 *   {"log":"warn","text":"..."}
 *   {"end":"done","why":"...","again":2000,"record":{...}}
 */
#ifndef MCPSPLICE_AUTH_LOGIN_PROCESS_H
#define MCPSPLICE_AUTH_LOGIN_PROCESS_H

#include "base/log.h"
#include "io/loop.h"
#include "store/record.h"

/* Why the token at hand is not good enough. */
enum login_reason {
	LOGIN_NONE,     /* there is none, or a user wants a new one */
	LOGIN_EXPIRED,  /* by its own time */
	LOGIN_REJECTED, /* 401 */
	LOGIN_SCOPE     /* 403 insufficient_scope */
};

enum login_end {
	LOGIN_DONE,        /* a good token is in the store, and in the record */
	LOGIN_INTERACTIVE, /* a user is needed, and must not be asked */
	LOGIN_LATER,       /* it may work in a while: network, 5xx, 429 */
	LOGIN_FAILED,      /* it will not, until somebody changes something */
	LOGIN_UNREACHED,   /* the refresh did not get to its server */
	LOGIN_IDENTITY,    /* the user's sign-in at the identity provider does
			    * not do: with a login there it may work */
	LOGIN_UNASKED,     /* the MCP server asked for no credentials, and there
			    * is no way to sign in */
	LOGIN_STOPPED      /* whoever runs it wants no more of it */
};

struct login_process_request {
	const char *const *argv; /* options, NULL-ended */
	enum login_reason reason;
	bool interactive;      /* may the user be asked? */
	const char *challenge; /* raw; NULL: none. Left out if challenge_parse
				* would reject it */
	const char *rejected;  /* pkce_challenge of the token; NULL: none */
	const char *peer;      /* address of the MCP server; NULL: unknown */
	const struct record *record; /* used if there is no store; else NULL */
};

struct login_process_ops {
	/* The user has to open url. code may be NULL. */
	void (*where)(const char *url, const char *code, void *arg);
	/* The last call; the login process is gone after it. record is set if
	 * the store does not have it. why is NULL or a message for users; with
	 * LOGIN_DONE it tells why the record is not kept. */
	void (*done)(enum login_end end, const char *why, int64_t again_ms,
	    const struct record *record, void *arg);
};

struct login_process;

/* Starts a login process: the program at path (NULL: argv[0]) with these words,
 * NULL-ended. The caller owns the object until done. */
struct login_process *login_process_start(struct loop *l, const char *path,
    const char *const *argv, const struct login_process_request *request,
    const struct login_process_ops *ops, void *arg);
/* Frees the object without a callback; the login process finishes what it has
 * begun. a may be NULL. */
void login_process_free(struct login_process *a);

/* The login process's side: its task, read from its stdin. */
struct login_process_task {
	struct json_object *json; /* the strings below are borrowed from it */
	char **argv;              /* NULL-ended, owned */
	size_t argc;
	struct login_process_request request; /* argv is not set; record is
					       * below */
	struct record record;
};

/* Reads the task from text. Returns 0, or -1 with a static *why if text is not
 * a request. */
int login_process_task_read(struct login_process_task *t, struct span text,
    const char **why);
void login_process_task_free(struct login_process_task *t); /* wipes the
							     * secrets */
/* Append lines for the proxy to out. */
void login_process_say_where(struct buf *out, const char *url,
    const char *code);
void login_process_say_log(struct buf *out, enum log_level level,
    const char *text);
void login_process_say_end(struct buf *out, enum login_end end, const char *why,
    int64_t again_ms, const struct record *record);

#endif
