/*
 * How the proxy and its login process talk: one JSON request on the login
 * process's stdin, JSON lines back on its stdout. Secrets go this way, never in
 * argv. The words of the command line need not be UTF-8, which JSON has to be:
 * each is written as base64url.
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
#include "login/login.h"

struct login_process_request {
	const char *const *argv; /* options, NULL-ended */
	enum login_reason reason;
	bool person;
	const char *challenge; /* raw; NULL: none. One that challenge_parse
				* would not look at is not sent */
	const char *rejected;  /* proof_challenge of the token; NULL: none */
	const char *peer;      /* address of the MCP server; NULL: unknown */
	const struct record *record; /* where there is no store; else NULL */
};

struct login_process_ops {
	/* A person is asked. code may be NULL. */
	void (*where)(const char *url, const char *code, void *arg);
	/* The last call; the login process is gone after it. record is there
	 * where the store has it not. why is NULL with LOGIN_DONE, or tells why
	 * not. */
	void (*done)(enum login_end end, const char *why, int64_t again_ms,
	    const struct record *record, void *arg);
};

struct login_process;

/* program: words of the command line, NULL-ended. */
struct login_process *login_process_start(struct loop *l,
    const char *const *program, const struct login_process_request *request,
    const struct login_process_ops *ops, void *arg);
/* No callback; the login process ends what it began. NULL is fine. */
void login_process_free(struct login_process *a);

/* The login process's own side: what it was asked, from the text of its
 * stdin. */
struct login_process_task {
	struct json_object *json; /* what the others are borrowed from */
	char **argv;              /* NULL-ended, owned */
	size_t argc;
	struct login_process_request request; /* argv is not set; record is
					       * below */
	struct record record;
};

/* Returns 0, or -1 with a static *why when it is no request. */
int login_process_task_read(struct login_process_task *t, struct span text,
    const char **why);
void login_process_task_free(struct login_process_task *t); /* wipes */
/* Lines to the proxy, appended to out. */
void login_process_say_where(struct buf *out, const char *url,
    const char *code);
void login_process_say_log(struct buf *out, enum log_level level,
    const char *text);
void login_process_say_end(struct buf *out, enum login_end end, const char *why,
    int64_t again_ms, const struct record *record);

#endif
