/*
 * The functions that the files of this folder share, file by file, in the order
 * of the list in state.h. Nobody outside of this folder includes this.
 */
#ifndef MCPSPLICE_CORE_MODERN_CLIENT_PARTS_H
#define MCPSPLICE_CORE_MODERN_CLIENT_PARTS_H

#include "core/exchange/fault.h"
#include "core/modern_client/state.h"

/* --- actions.c --- */

/*
 * The queue of actions. client_send, client_write and client_probe take over
 * the reference to the frame.
 */

/* Sends a frame to the session, as if the client had sent it. */
void client_send(struct client *c, struct frame *f);
/* Writes a frame to the client. A result that is larger than max_result is
 * replaced by an error. */
void client_write(struct client *c, struct frame *f);
/* Returns the error id that mcpsplice makes for the request f, owned by the
 * caller. Of the values of its text there are the host, the method as {name},
 * and the bytes held back as {size}. */
struct frame *client_fault(const struct client *c, const struct frame *f,
    enum fault_id id);
/* Writes this error to the client. */
void client_fail(struct client *c, const struct frame *f, enum fault_id id);
/* Hands over the server/discover that detection asks the server first. NULL
 * says that the client is a legacy one. */
void client_probe(struct client *c, struct frame *f);
/* Logs a decision. The text is cut at 511 bytes. */
void client_log(struct client *c, enum log_level level, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* --- table.c --- */

/*
 * The table of requests, and the list of questions that go with them.
 */

/* Drops all requests that are left and tells neither side. */
void client_table_free(struct client *c);

/* Adds a request to the end of q, with the frame f of the client; NULL: a
 * request of the reducer's own. Takes a reference to f. */
struct request *client_add(struct client *c, struct frame *f,
    struct request_queue *q);
/* Moves r from its queue to the end of q, and sets r->at to ALARM_NEVER. */
void client_move(struct client *c, struct request *r, struct request_queue *q);
/* Returns the bytes of memory that a request with the frame f takes. */
size_t client_size_of(const struct frame *f);
/* Would a request with the frame f exceed max_held? One alone never does. */
bool client_is_full(const struct client *c, const struct frame *f);
/* Takes r out of its queue and the tables, drops its questions, and frees it.
 * Neither side is told. */
void client_drop(struct client *c, struct request *r);
/* Returns the request that the client waits for under this id; NULL: there is
 * none. */
struct request *client_find(const struct client *c, struct span id);
/* Returns the request that the session has under this id; NULL: there is
 * none. */
struct request *client_find_sent(const struct client *c, struct span id);
/* Returns the request that the session has with this progress token; NULL:
 * there is none. */
struct request *client_find_token(const struct client *c, struct span token);
/* The client was answered: client_find does not find r any more. */
void client_forget_id(struct client *c, struct request *r);
/* f takes the place of the client's frame of r, and the client waits for its
 * answer. Takes a reference to f. */
void client_replace(struct client *c, struct request *r, struct frame *f);
/* Changes the kind of r. */
void client_set_kind(struct client *c, struct request *r,
    enum request_kind kind);
/* The session answered r: client_find_sent does not find r any more. */
void client_forget_sent(struct client *c, struct request *r);
/* Changes the least level of log messages that r wants; -1: none. */
void client_want_level(struct client *c, struct request *r, int level);

/* Takes the question at *at out of the list, and frees it. */
void client_question_drop(struct question **at);

/* Sends r to the session as the frame f, whose id client_find_sent finds r by
 * from now on. Takes over the reference to f. */
void client_send_as(struct client *c, struct request *r, struct frame *f);
/* Sends a request of the reducer's own to the session, and returns it. */
struct request *client_send_own(struct client *c, enum request_kind kind,
    const char *method, struct span params);
/* Tells the session that r is cancelled, and why. */
void client_cancel(struct client *c, const struct request *r,
    const char *reason);

/* --- opening.c --- */

/*
 * Opens the session for a modern client.
 */

/* Begins to open the session, with the client info and capabilities of the
 * request f. */
void client_open(struct client *c, struct frame *f);
/* Keeps the request f until the session has opened, or answers it with an error
 * if too much is held back. */
void client_hold(struct client *c, struct frame *f);
/* Does the request f allow more kinds of questions than the session, and can
 * the session be opened anew because no call is open? */
bool client_outgrown(const struct client *c, const struct frame *f);
/* Notes what this answer to initialize, the first one or a later one, says of
 * the server. */
void client_learn(struct client *c, struct frame *answer);
/* Returns the answer to a server/discover with this id, made from the server's:
 * only versions that mcpsplice speaks are left in it. Owned by the caller. */
struct frame *client_discover_answer(struct frame *discovered, struct span id);

/* --- listen.c --- */

/*
 * subscriptions/listen, played for a legacy server.
 */

/* Begins the listen that r asks for. On failure r is answered with an error and
 * dropped. */
void client_listen(struct client *c, struct request *r);
/* Drops the listen of r, and r, without an answer. */
void client_unlisten(struct client *c, struct request *r);
/* Drops all listens and tells the client that they are lost. It may listen
 * again. */
void client_listens_lost(struct client *c);
/* Takes the answer to REQUEST_SUBSCRIBE or REQUEST_UNSUBSCRIBE r, and drops
 * r. */
void client_subscribed(struct client *c, struct request *r,
    const struct frame *answer);
/* Acts on a new value of c->listening, with a legacy server. */
void client_listening_changed(struct client *c);
/* Returns true if f is a notification for listens; then each listen that wants
 * it was told, or it was dropped. */
bool client_fan_out(struct client *c, struct frame *f);
/* Acknowledges each listen whose time is over with the resources that the
 * server agreed to. */
void client_listen_tick(struct client *c);
/* When client_listen_tick is due, monotonic ms, or ALARM_NEVER. */
int64_t client_listen_due(const struct client *c);
/* Drops all listens and resources and tells neither side. */
void client_listen_free(struct client *c);

/* --- send.c --- */

/*
 * Sends the requests of a modern client to the session.
 */

/* Returns the log level that the request f wants; -1: none. */
int client_wanted_level(const struct frame *f);
/* Sends logging/setLevel for the most verbose level that any request wants,
 * unless the server has it or another setLevel is under way. */
void client_level_sync(struct client *c);
/* logging/setLevel was answered, or took too long: sends the requests that
 * waited for it, after another setLevel if they need one. */
void client_level_settled(struct client *c);
/* Sends f to a legacy server, or answers it here. The server may be a modern
 * one by now: client_fit changes the request when it goes out. */
void client_bridge(struct client *c, struct frame *f);
/* Sends f to a modern server unchanged, or answers it with an error if there
 * are too many of its kind. */
void client_send_native(struct client *c, struct frame *f);

/* --- input_required.c --- */

/*
 * Questions that a legacy server asks a modern client.
 */

/* Takes the question f of the server for r: it is asked later, or answered now
 * if the client must not be asked it. guessed: f came on no request's stream,
 * and r is only the likely owner. own: it is a question of mcpsplice itself. */
void client_question(struct client *c, struct request *r, struct frame *f,
    bool guessed, bool own);
/* Returns the request that a question on no request's stream most likely
 * belongs to; NULL: there is none. */
struct request *client_likely_owner(const struct client *c);
/* Returns how many questions of r are not answered. */
size_t client_count_questions(const struct client *c, const struct request *r);
/* The server cancelled its question with this id: drops it. */
void client_question_over(struct client *c, struct span id);
/* Drops the questions of r, and answers each of them to the server with a
 * refusal. */
void client_refuse_questions(struct client *c, struct request *r);

/* Returns the parked request that the client sent with this id; NULL: there is
 * none. */
struct request *client_parked(const struct client *c, struct span id);
/* Drops r: refuses its questions and, if the session has r, cancels it there
 * for this reason. The client is told nothing. */
void client_abandon(struct client *c, struct request *r, const char *reason);

/*
 * Parked requests, their retries, and the answers to bridged requests.
 */

/* Takes the answer to the bridged request r, which the client waits for. Writes
 * it to the client and drops r, or parks r if the client must open URLs
 * first. */
void client_answered(struct client *c, struct request *r, struct frame *answer);
/* Handles f if it is a retry of a parked request, or claims to be one. Returns
 * false if it is an ordinary request. */
bool client_retry(struct client *c, struct frame *f);
/* Takes the answer to the parked request r, and keeps it for the retry. */
void client_park_final(struct client *c, struct request *r,
    struct frame *answer);
/* Parks the first request in `collecting` if its time is over, and gives up
 * each parked request whose time is over. */
void client_park_tick(struct client *c);

/* --- request.c --- */

/*
 * Handles requests and notifications of a modern client once the session is
 * open.
 */

/* Sends, parks or answers the request f, which was checked. */
void client_request(struct client *c, struct frame *f);
/* Drops r, which was held back, and handles its frame by client_request. */
void client_dispatch(struct client *c, struct request *r);
/* The server is a modern one now. Listens that are not acknowledged are sent to
 * it as requests; the client is told that the others are lost. */
void client_hand_over(struct client *c);
/* Handles the notification f of a modern client. */
void client_notification(struct client *c, struct frame *f);
/* The client closed stdin: ends the requests that would never end by
 * themselves. */
void client_eof(struct client *c);

/* Translates f, which is about to go out to the server, if the server (modern
 * or not) is of another era than the one f was made for. request is the request
 * of the session's client that f is sent for, NULL: none; the id of f may be
 * another one. Returns the frame to send instead, owned by the caller; NULL: f
 * fits as it is. */
struct frame *client_fit(struct client *c, const struct frame *request,
    struct frame *f, bool modern);

/* --- opened.c --- */

/* Takes the answer to REQUEST_OPEN r, and dispatches or answers the requests
 * that waited for it. */
void client_opened(struct client *c, struct request *r, struct frame *answer);
/* Answers each server/discover whose time is over. */
void client_probes_tick(struct client *c);

/* --- become_legacy.c --- */

/* The client sent initialize, f. Ends what the client asked as a modern one, if
 * it was one, and sends f to the session. */
void client_become_legacy(struct client *c, struct frame *f);

/* --- from_client.c --- */

/*
 * Takes the frames of the client.
 */

/* Does this frame go to the session unchanged? True for a legacy client once it
 * has sent initialize, unless the frame is a modern request. */
bool client_passes(const struct client *c, const struct frame *f);
/* Handles a frame of the client, whose parts are located. */
void client_from_client(struct client *c, struct frame *f);

/* --- from_session.c --- */

/*
 * Takes the frames that the session writes.
 */

/* Handles the frame in an input of kind CLIENT_SESSION. */
void client_from_session(struct client *c, const struct event *in);

/* --- invariants.c --- */

/*
 * Asserts the invariants that state.h states.
 */

#ifdef MCPSPLICE_SANE
/* Aborts unless each invariant of state.h holds. The time it takes grows with
 * the number of requests, questions, listens and resources. */
void client_sane(struct client *c);
#else
#define client_sane(e) ((void)(e))
#endif

#endif
