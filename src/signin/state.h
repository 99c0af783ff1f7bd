/*
 * What a login consists of. Its parts do what the order says, and report what
 * came of it; each may call those before it:
 *
 *   wait > locks > token > grant > pending > ask_user >
 *   steps > turn > issuer_guard > renew > flow > two_logins
 *
 * Nobody else includes this.
 */
#ifndef MCPSPLICE_SIGNIN_STATE_H
#define MCPSPLICE_SIGNIN_STATE_H

#include "io/listener.h"
#include "signin/callback.h"
#include "signin/client_messages.h"
#include "signin/login.h"

/* What came, and what it says. */
struct login_input {
	enum login_outcome came;
	int64_t now;      /* monotonic ms */
	int64_t wall;     /* s since 1970 */
	unsigned random;  /* with CAME_BUSY */
	const char *why;  /* for people */
	int64_t again_ms; /* the server wants to be asked no earlier; -1 */
	bool soon;        /* as in struct fetch_answer */
	uint64_t stamp;   /* of what the store has */
	bool helper;      /* of the store: it cannot tell that it has another
			   * record without being run */
	bool shown;       /* another copy's URL, for the first time */
	int64_t tab_at;   /* when a tab was last opened, or is about to be: s
			   * since 1970, 0: never */
	int64_t life_s, interval_s; /* as the server told; 0 and -1: it did
				     * not */
};

/* What of the record is no good any more. */
enum login_forget { FORGET_NOTHING, FORGET_TOKEN, FORGET_CLIENT };

struct login_result {
	enum login_end end;
	const char *why;  /* borrowed; NULL: nothing to say */
	int64_t again_ms; /* the server wants to be asked no earlier; -1 */
};

struct login {
	struct loop *loop;
	struct fetcher *fetcher;
	struct store *store; /* NULL: none */
	struct login_config config;
	login_where_cb *where;
	void *arg;
	char name[STORE_NAME_BYTES];

	/* of the order */
	bool holds_token, holds_login;
	bool awaits_redirect;
	bool timed; /* the time of the user runs */
	bool anew;  /* a client was registered anew: once a login */
	/* An authorization server in trouble is asked again until then, 0: it
	 * was in none; and the next pause, 0: the first. */
	int64_t trouble_until, pause_ms;
	int64_t port_until; /* a port that is busy is tried until then; 0: it
			     * was never busy */
	char refused[PKCE_BYTES]; /* of the token that does not do */
	char *told;               /* why, as it was told last */
	struct login_result result;

	/* what came, until the order takes it */
	bool waits; /* the order does: the loop runs */
	bool acts;  /* so does a part of it */
	bool done;  /* what the part waits for */
	bool came;
	bool browser_failed, stopped;
	struct login_input in;
	char *why; /* that of in */

	struct record record;   /* as it was read, and as it becomes */
	struct record identity; /* of config.provider, for an exchange */

	/* under way: at most one of them */
	struct loop_timer *timer; /* of the order, and of a part of it */
	struct store_op *op;
	char *assertion;   /* that the user passes, or NULL */
	struct dpop *dpop; /* proofs for the token endpoint */

	struct loop_timer *timeout;           /* of the user */
	struct loop_timer *look;              /* for the end by "logout" */
	int token_lock, login_lock, tab_lock; /* -1: not held */
	bool discovered;
	struct discovered found;

	/* the user */
	bool notified;            /* the desktop was told */
	char *shown, *shown_code; /* what was told last */
	struct pending pending;
	struct listener *listener; /* the redirect comes there */
	const char *redirect_host;
	char *redirect_uri;
	char *scope; /* that was asked for */
	char state[PKCE_BYTES], verifier[PKCE_BYTES];
	char *url;
	struct child *browser;
	struct callback arrived; /* by the redirect, or pasted */
	char *device_code;
};

/* Begins something. What comes of it is reported by login_report and its like,
 * from inside or later. */
typedef void login_part(struct login *g);

/* Each login_part below does what its name says, and reports what came of it. */

/* --- wait.c --- */

int64_t login_now(void); /* s since 1970 */
/* Tells what came. What follows is done after the caller has returned. */
void login_report(struct login *g, enum login_outcome came);
/* The same with why, for people; or with all that in says. */
void login_report_why(struct login *g, enum login_outcome came,
    const char *why);
void login_report_all(struct login *g, struct login_input *in);
/* Tells that the browser cannot be started. */
void login_report_browser(struct login *g);
/* Runs the loop until something came, of what was begun or unasked, and fills in
 * g->in. */
void login_wait(struct login *g);

/* An action that waits for something runs the loop until that is there. Both
 * return false if something else came before, which is reported then, or if the
 * loop was stopped. */

/* For g->done, which login_set_done sets. */
bool login_await(struct login *g);
void login_set_done(struct login *g);
/* For an answer, as fetch_wait. */
bool login_fetch(struct login *g, struct fetcher *f,
    const struct fetch_request *r, struct fetch_answer *a);

/* CAME_TIME comes after ms, if nothing came before; negative: it does not. */
void login_set_timer(struct login *g, int64_t ms);
/* CAME_TIMEOUT comes after ms, whatever comes before; negative: it does not. */
void login_set_timeout(struct login *g, int64_t ms);

/* --- locks.c --- */

/* Gives it back, if it is held: *fd is -1 then. */
void login_unlock(int *fd);

login_part login_lock_token, login_lock_login, login_lock_tab,
    login_unlock_token, login_unlock_tab;

/* --- find_issuer.c --- */

/* Waits for where to sign in, as discovery_run; that it is not found is
 * reported. Returns false as login_fetch. */
bool login_find(struct login *g, struct fetcher *f,
    const struct discovery_config *c, struct discovered *d);
/* Does what its name says, in ms at most, and reports what came of it. */
void login_discover(struct login *g, int64_t ms, bool interactive);

/* --- scopes.c --- */

/* The scopes that somebody names: the user, the challenge, the resource; owned by
 * the caller; NULL: none. */
char *login_named_scope(const struct login *g);
/* The scopes that are asked for: where nobody names any, and a user signs in,
 * those of the registration, else those that the issuer lists. The same. */
char *login_wanted_scope(const struct login *g);
/* --- token.c --- */

login_part login_load, login_count_failure;
/* Parts, too; before it, what is no good any more is forgotten. */
void login_adopt(struct login *g, enum login_forget what);
void login_save(struct login *g, enum login_forget what);
void login_forget(struct login *g, enum login_forget what);

/* Is its token, as far as can be told without asking? That of an identity
 * provider is the ID token. */
bool login_is_usable(const struct login *g);
/* Has it the scopes that the challenge wants? */
bool login_has_scopes(const struct login *g);
/* Makes the proof of the token; false: there is none. */
bool login_prove_token(const struct login *g, char proof[PKCE_BYTES]);

/* Ends the request r with the proof of this client, POSTs it, and waits for the
 * answer, which is to be freed. To the token endpoint goes also a proof of our
 * key, where tokens are to be bound to one (auth/dpop.h). false: what came
 * instead is reported, as that the proof of the client cannot be made. Takes over
 * r. */
bool login_post(struct login *g, const char *url, struct client_request *r,
    struct fetch_answer *a);
/* Was there no answer, or one that is only of the moment? That is reported
 * then. */
bool login_is_unready(struct login *g, const struct fetch_answer *a);
/* Whose answers these are, for people. */
const char *login_whom(const struct login *g);
/* Sends the request r for another token than that of the record, and reports
 * what came of it. Takes over r. */
void login_ask_anew(struct login *g, struct client_request *r);

/* Makes the client of the options, or their document, that of the record. It
 * proves itself as its secret was taken before, else by the issuer's list. */
void login_set_client(struct login *g, enum client_source source);
/* Makes the client of the options that of the record, and decides which scopes
 * are asked for, for a token without the user. */
void login_take_client(struct login *g);
/* Sends the request r for it, and reports what came of it. Takes over r. */
void login_ask_credentials(struct login *g, struct client_request *r);

login_part login_refresh, login_credentials, login_exchange;

/* --- assertion_grant.c --- */

/* Gets it in ms at most, and reports what came of it. */
void login_grant(struct login *g, int64_t ms);

/* --- pending.c --- */

/* Did "mcpsplice logout" end it? That takes the URL away and notes a later
 * failure. */
bool login_was_ended(struct login *g);
/* Writes g->pending, for the copies that wait, unless the login was ended: that
 * is seen at the next look. false with errno: it cannot be written. */
bool login_save_pending(struct login *g);
/* Ends a login that "mcpsplice logout" wants to be over; else looks again after
 * a while. */
void login_look_for_end(struct login *g);

login_part login_watch, login_clear, login_note_success, login_note_failure;

/* Tells where to go, here and to the copies that wait. code NULL: by the
 * browser. */
void login_show(struct login *g, const char *url, const char *code);

/* --- ask_user.c --- */

login_part login_authorize, login_open, login_open_for_other,
    login_close_browser, login_close_listener;

/* The URL that the user's browser was sent back to, from a terminal. Returns
 * false when it is not the one that is waited for. */
bool login_paste(struct login *g, const char *url);
/* What a browser sent to the port of the redirect; arg is the login. */
listener_cb login_callback;

/* --- device.c --- */

login_part login_device, login_poll;

/* --- client.c --- */

/* Opens the port of the redirect, 0: any free one, with the limits that a
 * browser meets. host: 127.0.0.1, localhost (nobody else may have the port at
 * [::1]), or 0.0.0.0 for all addresses. Returns NULL with errno. */
struct listener *login_open_port(struct loop *l, unsigned port,
    const char *host, listener_cb *cb, void *arg);

login_part login_take_given, login_take_document, login_register,
    login_register_by_name;

/* A part, too. again: at the port of the last time. */
void login_listen(struct login *g, bool again);

/* --- steps.c --- */

/* What the order is made of. A function of it that returns bool returns false
 * when the login has ended, and how is in g->result then; those that end always
 * do. */

/* Replaces what an end says. */
void step_explain(struct login *g, char *why);
/* Returns what came of what was begun, or what came instead. */
enum login_outcome step_outcome(struct login *g);
/* Does it, and returns what came of it. */
enum login_outcome step_await(struct login *g, login_part *part);
enum login_outcome step_wait_ms(struct login *g, int64_t ms);

/* Waits before a server in trouble is asked again; false: not any more, or
 * something else came. A token that is about to expire does meanwhile. Where a
 * renewal met nobody, the server's 401 to the old token comes first, because its
 * authorization server is then looked for anew. */
bool step_wait_out(struct login *g);
/* Does it, and again while the server is in trouble. */
enum login_outcome step_await_ready(struct login *g, login_part *part);

/* text NULL: there is nothing to say. */
bool step_end(struct login *g, enum login_end how, const char *text);
/* What came said why. */
bool step_end_why(struct login *g, enum login_end how);
/* Only the copy that asks the user notes anything for those that wait. */
void step_note(struct login *g, login_part *part);
/* Notes the failure, and ends. text NULL: what came said why. */
bool step_end_noted(struct login *g, enum login_end how, const char *text);
/* Ends with what came, which is not what was wanted, whatever that was. */
bool step_fail(struct login *g);
/* Did an authorization server say no for good? */
bool step_is_refusal(enum login_outcome came);

bool step_load(struct login *g);
/* Writes the record, under the token lock. What cannot be kept works until we
 * end. */
bool step_save(struct login *g, enum login_forget forget);
/* Does the token of the record do? */
bool step_is_good(const struct login *g);
bool step_has_client(const struct login *g, enum client_source source);
/* Was its client made by us, and not by the user? */
bool step_is_ours(const struct login *g);

/* The time of the user runs, or runs no more. */
void step_start_clock(struct login *g);
void step_stop_clock(struct login *g);

/* --- turn.c --- */

/* Tries a lock until it is had, or for limit_ms; 0: without end. Copies that
 * began together do not stay together. */
enum login_outcome step_lock(struct login *g, login_part *part,
    int64_t again_ms, int64_t limit_ms);
/* Others have it for one request, and no longer. */
enum login_outcome step_lock_token(struct login *g);
bool step_is_locked(struct login *g, enum login_outcome came);
void step_unlock_token(struct login *g);
/* Stores the token that was had, and ends. */
bool step_keep(struct login *g);
/* Waits until it is our turn to ask the user. */
bool step_take_turn(struct login *g);

/* --- issuer_guard.c --- */

/* May the record be renewed without a look at where to sign in? Not with a
 * secret of the user's that is not meant for its issuer, or has come since: its
 * endpoints, also the one for the end, may be only the word of another, who
 * claimed the issuer's name. */
bool step_is_settled(const struct login *g);
/* Takes over what was found. What was for another issuer is forgotten, but a
 * secret of the user's is for the one it was given for. */
bool step_adopt(struct login *g);
/* Finds out where to sign in, and takes it over. */
bool step_find_place(struct login *g, bool interactive);

/* --- renew.c --- */

/* true: the user has to sign in. Another copy may have had a token while we
 * waited for the lock, and of another issuer. What is read anew knows nothing of
 * what was found before. */
bool step_renew(struct login *g);

/* --- flow.c --- */

/* Does all of it; once. */
struct login_result login_flow(struct login *g);
/* Nobody waits for it any more: what was begun is finished for the next copy,
 * but nobody is asked who was not asked yet. false: there is nothing to
 * finish, so the loop may be stopped. */
bool login_orphan(struct login *g);

#endif
