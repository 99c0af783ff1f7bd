/*
 * The inside of a login, shared by the files it is made of:
 *   steps.c         what each part can start: store, lock, request, end
 *   login.c         the order of things
 * Nobody else includes this.
 */
#ifndef MCPSPLICE_LOGIN_STATE_H
#define MCPSPLICE_LOGIN_STATE_H

#include "io/listener.h"
#include "login/browser.h"
#include "login/callback.h"
#include "login/client_messages.h"
#include "login/discovery.h"
#include "login/login.h"

typedef void login_step(struct login *g);
/* The authorization server does not know the client any more. */
typedef void login_dead_cb(struct login *g, const char *why);

struct login {
	struct loop *loop;
	struct fetcher *fetcher;
	struct store *store; /* NULL: none */
	struct login_config config;
	struct login_ops ops;
	void *arg;
	char name[STORE_NAME_BYTES];
	struct record record;     /* as it was read, and as it becomes */
	char *unkept;             /* why the store has not the latest of it */
	char hash[PROOF_BYTES];   /* of the token that does not do; "": none */
	int64_t until;            /* of the device code, s since 1970 */
	struct loop_timer *timer; /* for the next try, or poll */
	struct loop_timer *timeout; /* for until */
	login_step *step;           /* what the timer does */

	/* under way: at most one of them */
	struct store_op *op;
	struct fetch *fetch;
	struct discovery *discovery;
	login_step *then; /* when it is over */
	int64_t again_ms; /* the server wants to be asked no earlier */

	int token_lock, login_lock, tab_lock; /* -1: not held */
	int64_t lock_until;

	bool discovered;
	struct discovered found;
	char *failure; /* of the discovery */
	enum login_end failure_end;

	/* the person */
	int64_t helped_at; /* the helper of the store was run */
	uint64_t seen;     /* the store's stamp while another copy asks */
	char *shown, *shown_code; /* what was told last */
	struct pending pending;
	struct listener *listener; /* the redirect comes there */
	int64_t port_until;        /* a port that is given is tried so long */
	const char *redirect_host;
	char *redirect_uri;
	char *scope;
	char state[PROOF_BYTES], verifier[PROOF_BYTES];
	login_dead_cb *dead_client; /* what follows then */
	char *url;
	struct browser *browser;
	bool registered_anew; /* once for each login */
	bool on_redirect;     /* a browser did, or a pasted URL: */
	enum callback_result arrived_as;
	struct callback arrived;
	char *device_code;
	int64_t interval_ms;
};

/* steps.c */
int64_t login_now(void); /* s since 1970 */
/* Ends it; g is gone. why is printf'ed; NULL with LOGIN_DONE. */
void login_end(struct login *g, enum login_end end, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Reads the record of the store, then goes on. */
void login_read(struct login *g, login_step *then);
/* Writes it, and goes on whether or not that worked: what cannot be kept
 * works until we end. */
void login_save(struct login *g, login_step *then);
/* Waits for the token lock, then goes on; or ends. */
void login_lock_token(struct login *g, login_step *then);
void login_unlock(int *fd);
/* After a lock was not had: true when another copy has it, so that it may be
 * tried again; false: it never will, and the login is over. */
bool login_lock_is_busy(struct login *g);
/* Goes on in ms. */
void login_later(struct login *g, int64_t ms, login_step *step);
/* Is there a token that does? */
bool login_is_good(const struct login *g);
/* Finds out where to sign in, then goes on; or ends. */
void login_discover(struct login *g, bool interactive, login_step *then);
/* Takes over what was discovered. Where the issuer is another one than that of
 * the record, its client and its token are forgotten: they are not for this
 * one. false: the login is over. */
bool login_take_found(struct login *g);
/* The signed proof of this client, or NULL where it has none; false: the login
 * is over. */
bool login_assertion(struct login *g, char **assertion);
/* One POST of a form, then cb. r is freed. */
void login_post(struct login *g, const char *url, struct client_request *r,
    fetch_cb *cb);
/* No answer, or one that is only of the moment; g is gone. */
void login_unready(struct login *g, const struct fetch_answer *a);
/* The time for a person begins, or is over. */
void login_expect_person(struct login *g, bool expect);
/* There is a good token: the login ends. */
void login_done(struct login *g);
/* A token was had: stored, then done. */
void login_have_token(struct login *g);

/* token.c */
void login_refresh(struct login *g);
void login_credentials(struct login *g);

/* waiting.c */
/* false with errno: it cannot be written. */
bool login_save_pending(struct login *g);
void login_forget_url(struct pending *p);
/* Was it told last? It counts as told from now on. */
bool login_is_shown(struct login *g, const char *url, const char *code);
/* Tells where to go, here and to the copies that wait. */
void login_show(struct login *g, const char *url, const char *code);
/* The copies that wait do not ask the user again. */
void login_note_failure(struct login *g);
/* A login that came to nothing; g is gone. */
void login_failed(struct login *g, enum login_end end, const char *why);
char *login_wanted_scope(const struct login *g);

/* redirect.c */
/* Sends the user to the page of the authorization server; dead is called when
 * that does not know the client of the code it gave. */
void login_authorize(struct login *g, login_dead_cb *dead);
/* What comes to the redirect's port: listener_cb. */
bool login_callback(struct span so_far, struct buf *reply, void *arg);
browser_cb login_on_browser; /* of g->browser */

/* interactive.c */
/* Asks the user to sign in, or watches the copy that does. */
void login_person(struct login *g);

/* client.c */
/* Finds or makes the client, then asks the person. */
void login_find_client(struct login *g);

/* device.c */
void login_device(struct login *g);

#endif
