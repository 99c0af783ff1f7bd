/*
 * The functions that the files of this folder share, file by file, in the order
 * of the list in state.h. No file outside this folder includes this.
 */
#ifndef MCPSPLICE_CORE_SESSION_PARTS_H
#define MCPSPLICE_CORE_SESSION_PARTS_H

#include "core/exchange/fault.h"
#include "core/session/state.h"

/* --- question_table.c --- */

/*
 * Requests of the server that wait for the client's answer. The client sees ids
 * that mcpsplice made: a new session counts from the start again, and some
 * clients read a string as the number 0. So they are small integers, from the
 * first session on.
 */

void questions_free(struct questions *t);
/* Notes a request of the server. Returns the frame for the client, with the id
 * that the client sees; owned by the caller. */
struct frame *questions_ask(struct questions *t, struct frame *request,
    uint64_t generation, uint64_t ticket);
/* Removes the question that this answer of the client is for. Returns the frame
 * for the server (owned by the caller) with the generation and the ticket of
 * the question, or NULL if there is no such question. */
struct frame *questions_answer(struct questions *t, struct frame *answer,
    uint64_t *generation, uint64_t *ticket);
/* The server takes a question back. Returns the cancel for the client, owned by
 * the caller; NULL: it would take back another question. What is known by no id
 * passes as it is. */
struct frame *questions_cancel(struct questions *t, struct frame *cancelled,
    uint64_t generation);
/* Removes one question of the call that ran on the attempt of this origin, and
 * is over; QUESTION_OWN: the one of mcpsplice itself. Returns the cancel for the
 * client, owned by the caller, or NULL if there is no such question. */
struct frame *questions_withdraw(struct questions *t, uint64_t origin);
/* Removes one question of an earlier generation than this. Sets *cancel to the
 * cancel for the client (owned by the caller) and *ticket to the question's.
 * Returns false if there is no such question. */
bool questions_expire(struct questions *t, uint64_t generation,
    struct frame **cancel, uint64_t *ticket);

/* --- settings.c --- */

/*
 * The settings of the client: its log level and its subscriptions. A new
 * session is told them again. A setting is kept only after the server agreed.
 */

/* A request of the client was answered with a result: keeps or forgets the
 * setting that the request changes, if any. Returns false if there is no room
 * for one more subscription. */
bool settings_learn(struct settings *r, struct frame *request);
/* The server refused this logging/setLevel or resources/subscribe in a new
 * session: forgets the setting. */
void settings_forget(struct settings *r, const struct frame *request);
/* Forgets all settings. */
void settings_clear(struct settings *r);

/* --- actions.c --- */

/* Logs a decision for people to read. The text is cut after 511 bytes. */
void session_log(struct session *s, enum log_level level, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Returns false before *say_at. Otherwise the caller may give its warning now,
 * and *say_at moves to pause ms from now. */
bool session_may_say(const struct session *s, int64_t *say_at, int64_t pause);
/* Has the session of g noted on disk, so that a later process can end it if
 * this one is killed. NULL: there is no session any more. */
void session_save(struct session *s, struct generation *g);

/* --- to_client.c --- */

/* Writes a frame (borrowed) to the client, unless nobody reads stdout. */
void session_write(struct session *s, struct frame *f);
/* Writes a notification with these params. */
void session_tell(struct session *s, const char *method, struct span params);
/* Writes a frame of the server (borrowed) that came on this attempt. Of
 * list_changed that are equal and come in a burst only the last is written, a
 * moment later, but before whatever else is. */
void session_pass(struct session *s, struct frame *f, const struct attempt *a);
/* Notes which list_changed the server's answer to initialize declares. */
void session_learn_families(struct session *s, const struct frame *m);
/* Writes the list_changed that were kept for a moment. */
void session_end_burst(struct session *s);

/* --- phase.c --- */

/* Does the current phase permit any of these (enum phase_bit)? */
bool phase_permits(const struct session *s, unsigned bits);
/* May requests and notifications go out? */
bool gate_is_open(const struct session *s);
/* What it means that the current phase has reached its deadline. */
enum lateness session_lateness(const struct session *s);
/* The name of the current phase for people to read; static. */
const char *session_phase_name(const struct session *s);
/* Enters a phase whose deadline is this time, or ALARM_NEVER. No other function
 * changes the phase. */
void session_phase(struct session *s, enum phase phase, int64_t deadline);

/* --- attempt.c --- */

/* Sends an attempt now. */
void session_start(struct session *s, struct attempt *a);
/* Aborts the exchange of an attempt; drops an attempt that is not live. */
void session_abort(struct session *s, struct attempt *a);
/* The call begins to wait, or still waits: if it asked for progress, the client
 * is told of a wait that lasts. */
void session_call_waits(struct session *s, struct call *c);
/* May this initialize, which is under way, still make a session? Then that must
 * be deleted if nobody wants it. The stream of one that was answered may be
 * open for ever, and one that was refused may wait for a user as long. */
bool session_may_open(const struct attempt *a);
/* Sends an attempt in ms milliseconds. */
void session_start_in(struct session *s, struct attempt *a, int64_t ms);
/* Aborts the exchange of an attempt in ms milliseconds, if it still runs. */
void session_abort_in(struct session *s, struct attempt *a, int64_t ms);
/* Nothing more is expected of this attempt, which is live: its exchange has
 * BOUND_SHORT_MS to end by itself. A server may leave each stream open, so of
 * more than BOUND_FEW that linger the oldest is aborted. */
void session_linger(struct session *s, struct attempt *a);
/* Replaces an attempt by a copy that goes out in wait ms, and returns the copy.
 * The old attempt is dropped. */
struct attempt *session_again(struct session *s, struct attempt *a,
    int64_t wait);

/* --- own_request.c --- */

/* Makes a request that mcpsplice itself sends, with a new id. Owned by the
 * caller. */
struct frame *session_own_request(struct session *s, const char *method,
    struct span params);
/* The same, for a list (cursor.n 0), or for its page with this cursor (raw
 * JSON). */
struct frame *session_own_page(struct session *s, const char *method,
    struct span cursor);
/* Makes an attempt of such a request, not live yet. */
struct attempt *session_own_attempt(struct session *s, enum attempt_kind kind,
    const char *method, struct span params, struct generation *g);
/* Copies a request under a new id that mcpsplice made. Owned by the caller. */
struct frame *session_with_own_id(struct session *s, struct frame *request);

/* --- delete.c --- */

/* Have both the same id? A server may give one to all its sessions. */
bool session_same_id(const struct generation *a, const struct generation *b);
/* Is this perhaps a session of the SDK for Python from 1.8.0 to 1.9.4? A DELETE
 * ends these servers for everybody, and any request before initialized, a ping
 * too, ends a session of 1.8.0. They know no revision after 2025-03-26, and
 * their session ids are 32 hexadecimal digits, which those of most others are
 * not. Later releases look the same to a client that asks for such a revision. */
bool session_is_fragile(const struct session *s, const struct generation *g);
/* Sends a DELETE for the session of g, and gives it BOUND_END_MS. Returns
 * false, and sends none, if that would end the current session, too, or the
 * whole server. */
bool session_delete(struct session *s, struct generation *g);

/* --- held.c --- */

/* The frames that are held back. */

/* Adds a frame (a reference is taken) at the end of a queue, where it counts
 * for so many bytes. */
struct held *session_queue_add(struct held_queue *q, struct frame *f,
    size_t bytes);
/* Takes a frame out of a queue. Owned by the caller. */
struct frame *session_queue_take(struct held_queue *q, struct held *h);

/* The bytes of everything that is held back for the client's sake. */
size_t session_held_bytes(const struct session *s);
/* Is there no room to hold this frame? */
bool session_is_full(const struct session *s, const struct frame *f,
    bool is_call);
/* Pauses or resumes reading stdin, depending on how much is held. */
void session_want_read(struct session *s);
/* Holds a frame (a reference is taken) until the gate is open. c is its call,
 * or NULL for a notification. */
void session_hold(struct session *s, struct frame *f, struct call *c);
/* Takes a frame out of s->held. Owned by the caller. */
struct frame *session_take_held(struct session *s, struct held *h);
/* Drops the frame of a held call, if it is held. The call itself stays and is
 * not answered. Very many calls may be held, so there is no walk. */
void session_unhold(struct session *s, struct call *c);
/* Keeps a held notifications/initialized for the session that is being
 * opened. */
void session_keep_ready(struct session *s);
/* Lets the held notification h make way for what is behind it: calls do not
 * wait until the server has acknowledged notifications. */
void session_hold_longer(struct session *s, struct held *h);
/* Drops the notifications that are held. */
void session_drop_one_way(struct session *s);

/* Keeps a question or a notification that came before the answer to initialize,
 * because the client must not see it yet. Drops the message if there is no
 * room. */
void session_keep_early(struct session *s, struct frame *m);

/* --- call.c --- */

/* The life of a call. */

/* Changes the state of a call, and keeps up to date what is in flight. */
void session_call_state(struct session *s, struct call *c,
    enum call_state state);
/* May a call with the frame f be in flight as well? */
bool session_has_place(const struct session *s, const struct frame *f);
/* Returns false only if the request was certainly not sent, or was refused
 * before it ran. */
bool session_may_have_run(const struct call *c);
/* Sends the call now, in a new attempt. */
void session_send_call(struct session *s, struct call *c);
/* Sends the call in ms milliseconds, in a new attempt. */
void session_send_call_in(struct session *s, struct call *c, int64_t ms);
/* Separates a call from its attempt. The exchange of the attempt may linger. */
void session_detach(struct session *s, struct call *c);
/* A result answers this call in the generation g. Returns what the client gets,
 * owned by the caller: m, or a list of several pages in one. NULL: the call goes
 * on, because a page is still to be read. */
struct frame *session_page(struct session *s, struct call *c,
    const struct generation *g, struct frame *m);
/* A request of this call had a result in this generation. */
void session_note_worked(const struct call *c, struct generation *g);
/* Notes whether this result of the call came with the session's id. Returns true
 * if it did not, and all others of its kind in this generation did. */
bool session_lacks_id(struct generation *g, const struct call *c,
    const struct attempt *a, const struct facts *f);
/* Sets in f what the generation knows of requests like this one. */
void session_add_history(const struct session *s, const struct call *c,
    const struct generation *g, struct facts *f);
/* What the end of an exchange means, for any attempt but ATTEMPT_CALL. */
struct ruling session_ruling(const struct session *s, const struct attempt *a,
    const struct facts *f);

/* --- call.c: its end --- */

/* The call waits for a witness no longer. */
void session_end_doubt(struct call *c);
/* Returns the server's answer to this request as the client may see it: a list
 * of tools is filtered. Notes that the client has this list. Owned by the
 * caller. */
struct frame *session_show(struct session *s, const struct frame *request,
    struct frame *answer);
/* Ends the call with this answer (borrowed), which gets the client's id. A call
 * that was cancelled gets none. An error in the middle of a list begins the list
 * again, once. */
void session_answer(struct session *s, struct call *c, struct frame *answer);
/* Ends the call with an error that mcpsplice made, which is taken. NULL: the
 * client gets no error. Pages of a list that were read are the answer
 * instead. */
void session_fail(struct session *s, struct call *c, struct frame *error);
/* Returns the error for a call that runs, or ran, and whose exchange or stream
 * broke off. Owned by the caller. */
struct frame *session_cut_off(const struct session *s, const struct call *c,
    const struct facts *f);
/* Ends each call with the error id, which has the host's name only. */
void session_fail_all(struct session *s, enum fault_id id);
/* Ends an accepted call to which no answer will come. */
void session_fail_unanswered(struct session *s, struct call *c);
/* Ends every call that was accepted with 202, because the listen stream that
 * was to bring its answer, or with lost the session, is gone. */
void session_fail_accepted(struct session *s, bool lost);

/* --- one_way.c --- */

/* One-way messages of the client: notifications, and answers to questions. */

/* Names what an ATTEMPT_ONE_WAY sends, for people to read; static. */
const char *session_one_way_name(const struct attempt *a);
/* Sends a one-way message (borrowed) now. */
struct attempt *session_send_one_way(struct session *s, struct frame *f);

/* --- question_answers.c --- */

/* The call that asked, and still runs, or NULL. asker is the origin of its
 * attempt; 0: none. */
struct call *session_asking(const struct session *s, uint64_t asker);
/* The answer to a question was not delivered. asker is the origin of the
 * attempt that asked, or 0. The call of that attempt would wait for ever, so it
 * ends with an error, unless it may continue without the answer. f says what
 * happened to the answer; NULL: its session is gone. */
void session_undelivered(struct session *s, uint64_t asker,
    const struct facts *f);
/* Sends an answer (borrowed) to a question of the server, or holds it back
 * while too many are under way. asker is the origin of the attempt that asked,
 * or 0: if there is no place for the answer, the call that asked ends. */
void session_send_answer(struct session *s, struct frame *f, uint64_t asker);
/* Drops the answers that are held back. The calls that asked end. */
void session_drop_answers(struct session *s);
/* Sends as many of the held answers as may be under way at once. */
void session_pump_answers(struct session *s);
/* Makes the answer to a question that nobody can answer: an error, or the
 * result of a ping. Owned by the caller. */
struct frame *session_nobody(struct span id, bool ping);
/* Passes on an answer of the client (borrowed) to the question it is for. */
void session_answer_question(struct session *s, struct frame *f);
/* Answers all open questions for a client that has ended. */
void session_answer_all(struct session *s);

/* --- listen.c --- */

/* The listen stream: the GET stream of the session. */

/* Opens the stream of a new session. */
void session_listen_open(struct session *s);
/* Opens a stream that is due, or one that broke, if it goes out before this
 * frame, the first that is held. NULL: nothing is. There is one idle connection,
 * and what comes second opens another, which costs two round trips more. A user
 * waits for the lists, for the stream only if the server may ask something
 * during a call. */
void session_listen_before(struct session *s, const struct held *h);
/* Opens a stream that is due, behind what was sent in this step. */
void session_listen_behind(struct session *s);
/* Must this request wait for the stream? During a call the server may ask the
 * client something on the stream, and a stream that comes after the call would
 * miss it. at is call.waits_since. */
bool session_awaits_stream(struct session *s, const struct frame *f,
    int64_t at);
/* Closes the stream until session_listen_open. */
void session_listen_close(struct session *s);
/* The head of the answer to the GET came. Returns true if the stream is back
 * after a break: the session may be gone, although the server holds a stream
 * open for it. */
bool session_listen_head(struct session *s, const struct facts *f);
/* The exchange of the GET is over: notes whether the stream broke without an
 * end, be it one that had not worked yet, or the server was away. */
void session_listen_broke(struct session *s, const struct attempt *a,
    const struct facts *f);
/* Opens a stream that broke beside the call that goes out in this step: the
 * server may ask something on it before it answers the call. */
void session_listen_hurry(struct session *s);
/* The stream delivered something. */
void session_listen_event(struct session *s);
/* Opens the stream again after the back-off. */
void session_listen_again(struct session *s);
/* Opens the stream if ALARM_LISTEN is due. */
void session_listen_tick(struct session *s);
/* A ping found out whether the session is lost: settles a refused stream that
 * a ping of this ticket decides about. Returns true if the session lives after
 * a break of the stream. */
bool session_listen_pinged(struct session *s, uint64_t ticket, bool lost);
/* The machine slept or its network changed: opens the stream again, because its
 * connection may be dead. */
void session_listen_wake(struct session *s);
/* There are new credentials: opens a stream that was denied. */
void session_listen_signed_in(struct session *s);

/* --- renew.c --- */

/* A session that is opened in doubt. */

/* Opens a session beside the one that is in doubt, unless one was opened in
 * vain a moment ago. */
void session_spare_open(struct session *s);
/* Keeps the answer to the initialize of the spare session. Returns false if
 * this attempt is another initialize. */
bool session_spare_opened(struct session *s, const struct attempt *a,
    const struct facts *f, struct frame *m);
/* Has the spare session the id of the current one? Then it started again, and
 * an answer in it says nothing about the session that was in doubt. */
/* The session that was in doubt lives: ends the spare one. */
void session_spare_end(struct session *s);
/* Forgets the spare session. */
void session_spare_free(struct session *s);

/* A session is lost and renewed. */

/* Begins a new generation. The current one becomes the former one if it was
 * opened. */
void session_next_generation(struct session *s);
/* Enters this phase and sends an initialize (borrowed) of the new generation. c
 * is the client's call, or NULL. timeout is in ms; 0: none. */
void session_open_begin(struct session *s, struct frame *body, struct call *c,
    enum phase phase, int64_t timeout);
/* How long a renewal may take, in ms: BOUND_RENEW_MS without a retry
 * window. */
int64_t session_renew_window(const struct session *s);
/* When this call stops waiting for the renewal. */
int64_t session_wait_end(const struct session *s, const struct call *c);
/* The soonest and the latest session_wait_end of the calls that wait;
 * ALARM_NEVER: none waits. */
int64_t session_wait_soonest(const struct session *s);
int64_t session_wait_latest(const struct session *s);
/* Sends a second initialize of the same renewal if this one is silent while a
 * call waits, because its connection may be dead. If this one had
 * BOUND_RENEW_MS, it is aborted, and another one takes its place. */
void session_hedge(struct session *s, struct attempt *a);
/* When session_hedge has something to do. */
int64_t session_hedge_due(const struct session *s, const struct attempt *a);
/* Renews the session, if the phase permits that. why is the rule by which the
 * session is lost; static, here and in the functions below. */
void session_renew(struct session *s, const char *why);
/* Charges the renewal that made the current session to the budget, once, as one
 * that did not help. */
void session_count_failed_renewal(struct session *s);
/* Renews a session that was lost before a call was sent in it, but not twice in
 * a row, and not without a renewal left. Returns false if that is not
 * allowed. */
bool session_renew_again(struct session *s, const char *why);
/* May a refused call begin a renewal now? Charges the renewal before, if its
 * session has answered no call. */
bool session_may_renew(struct session *s);
/* Appends in a few words why there is no session. error is the server's own, or
 * NULL. */
void session_setback_text(const struct facts *f, const struct frame *error,
    struct buf *out);
/* Appends what came of the try before the one that was too late, if it
 * failed. */
void session_try_before(const struct session *s, struct buf *out);
/* Returns what to do after these facts, or after those of the try before if
 * they only say that it was too late. Borrows from both. */
struct span session_remedy(const struct session *s, const struct facts *f);
/* Makes the error for a request for which there is no session, because
 * initialize ended with these facts, and with the server's error unless that is
 * NULL. The error of the request itself, refusal, may be NULL; it waited for
 * waited_ms; maybe: it may have run. The caller owns the frame. */
struct frame *session_unopened(const struct session *s,
    const struct frame *request, const struct facts *f,
    const struct frame *error, const struct frame *refusal, int64_t waited_ms,
    bool maybe);
/* A request, which may have run before, needs a session in PHASE_DEAD. Returns
 * NULL if a renewal began, or the error for the request (owned by the caller):
 * why the one before failed. */
struct frame *session_revive(struct session *s, const struct frame *request,
    bool maybe);

/* --- renew.c: renewals that no call waits for --- */

/* The session is gone and no call waits for it: renews it, within a budget of
 * its own, so that a server cannot keep mcpsplice busy. */
void session_renew_unasked(struct session *s, const char *why);
/* The same if the client has sent nothing: renews the session after a random
 * wait, or when the client sends something. */
void session_renew_later(struct session *s, const char *why);
/* A one-way message was refused because the session is lost. */
void session_one_way_lost(struct session *s, const struct attempt *a);
/* The server may be there again: the renewal after a start from the cache
 * begins now, if none is under way. */
void session_renew_now(struct session *s);
/* Begins the renewal that ALARM_RENEW is for. */
void session_renew_tick(struct session *s);
/* Takes the answer to ACTION_CHECK_PEERS. */
void session_peer_state(struct session *s, bool newer_peer);

/* --- end.c --- */

/* The end of a session at the server, and the end of the program. */

/* Closes the session: sends a DELETE if the server has a session, and aborts
 * all other exchanges. */
void session_close(struct session *s);
/* Enters PHASE_ENDED unless a DELETE is still under way, or an initialize,
 * whose session would be left behind. */
void session_closed(struct session *s);

/* stdin has reached its end: answers the open questions for the client, and
 * begins the drain. */
void session_eof(struct session *s);
/* Called at the end of each step after EOF: closes the session when the client
 * waits for nothing, and the server is owed nothing. */
void session_drain(struct session *s);
/* Ends the wait for notifications and answers when ALARM_LAST is due. */
void session_last_tick(struct session *s);
/* A signal came or the parent process is gone: gives each call an error and
 * closes the session. */
void session_stop(struct session *s);
/* Nobody reads stdout: drops all calls and closes the session. */
void session_broken(struct session *s);
/* Deletes a session that an earlier process left behind. */
void session_end_stale(struct session *s, const struct event *in);

/* --- mirrored.c --- */

/* Calls that a server of a legacy session refuses with -32020, because it needs
 * the headers of 2026-07-28 all the same (seen in front of GitHub's server). */

/* Takes the answer to a call. Returns false if that is not -32020 with 400, or
 * if there is nothing left to try. Otherwise the call is held back, and goes out
 * again with the headers: it was refused before it ran. The tools are listed
 * first if the call's is not known, and after a refusal of the headers the
 * modern protocol is tried, once. */
bool session_mirror(struct session *s, struct call *c, const struct facts *f,
    const struct frame *m);
/* The answer to an ATTEMPT_MIRROR came. */
void session_mirror_message(struct session *s, struct attempt *a,
    struct frame *m);
/* The exchange of an ATTEMPT_MIRROR is over. */
void session_mirror_done(struct session *s, struct attempt *a);

/* --- replay.c --- */

/* What is sent again, and why. */

/* May this call be sent again although it may have run? */
bool session_is_safe(const struct session *s, const struct call *c);
/* Is the client waiting for a list of tools, which may say that this call is
 * safe? */
bool session_awaits_tools(const struct session *s, const struct call *c);
/* May this attempt, which was refused for now, not go out again, because its
 * call is not known to be safe? Then it waits for the list of tools, or the call
 * ends. */
bool session_is_unsure(struct session *s, struct attempt *a);
/* The door of this generation refused the call, which did not run: the call
 * waits for the next session, or gets its refusal. */
void session_refused(struct session *s, struct call *c, struct generation *g);
/* Ends the call with its refusal. If the server said nothing that the client can
 * be told, what is the end of our own sentence, and maybe tells that the call
 * may have run. */
void session_refusal_stands(struct session *s, struct call *c, const char *what,
    bool maybe);
/* The session ended while the call was running. */
void session_interrupted(struct session *s, struct call *c,
    struct generation *g, struct frame *refusal, const char *rule);
/* The server refused the call because its new session is not ready yet. */
void session_unready(struct session *s, struct call *c, struct frame *refusal,
    const char *rule);
/* Sends the calls that were refused and wait for the new session, in the
 * client's order. */
void session_replay(struct session *s);
/* The call may have run and will get no answer: sends it again after wait ms if
 * that is safe. Otherwise returns false and changes nothing. */
bool session_repeat(struct session *s, struct call *c, int64_t wait);

/* --- replay.c: one id, accepted and refused --- */

/* Replicas do not share their sessions: sends the call in doubt again with the
 * same session id, if another replica may know it. Otherwise returns false. */
bool session_try_elsewhere(struct session *s, struct call *c);
/* One session id was accepted and refused, with this mark: this is remembered
 * for a while, and the user is warned. */
void session_flapping(struct session *s, uint64_t mark);
/* The wait before the n-th further try with the same session id, in ms. */
int64_t session_flap_wait(unsigned n);

/* Streams that ended before their answer. */

/* Resumes by GET a stream that ended after an event id, before its answer. A
 * server may end its streams often, but --call-timeout limits the time without
 * an event or a message. r is the ruling for this end. Returns false if the
 * stream cannot be resumed. */
bool session_resume(struct session *s, struct attempt *a, const struct facts *f,
    struct ruling r);

/* Notes the event id that the stream of a call ended with, n > 0: ids that come
 * on two streams, or are the session's, are not ids of events. */
void session_note_ids(struct session *s, const struct attempt *a,
    const struct facts *f);

/* --- own_ping.c --- */

/* A ping finds out whether the session is gone. */

/* Sends a ping, unless one is under way. why is for the log. Returns the first
 * ticket of a ping that can decide about a doubt of now: a ping that is under
 * way cannot, because the session may have been lost since. */
uint64_t session_ping(struct session *s, const char *why);
/* The answer to the ping came. */
void session_ping_message(struct session *s, struct attempt *a,
    const struct facts *f, struct frame *m);
/* The exchange of the ping is over. */
void session_ping_done(struct session *s, struct attempt *a,
    const struct facts *f);
/* The exchange of a ping under an unknown session id is over. */
void session_stranger_done(struct session *s, struct attempt *a,
    const struct facts *f);
/* Sends a ping if a call has been silent for long, and at --ping-interval. */
void session_ping_tick(struct session *s);
/* Sets ALARM_PING by --ping-interval. */
void session_ping_due(struct session *s);

/* --- witness.c --- */

/* A witness tells whether the door of the server refused a call. */

/* The answer to this call on this attempt may be a refusal of a session that is
 * gone: the call waits for a witness. m is the server's error, or NULL; then
 * error (taken) is the one that mcpsplice made. */
extern const char session_failure[];
void session_doubt(struct session *s, struct call *c, struct attempt *a,
    const struct facts *f, struct frame *m, struct frame *error,
    struct ruling r);
/* Does an answer of this status to a witness tell something, because a call that
 * waits for it got the same status? */
bool session_witness_tells(const struct session *s, int status);
/* The answer to an ATTEMPT_WITNESS came. */
void session_witness_message(struct session *s, struct attempt *a,
    const struct facts *f, const struct frame *m);
/* The exchange of an ATTEMPT_WITNESS is over. */
void session_witness_done(struct session *s, struct attempt *a,
    const struct facts *f);
/* A witness that is silent for long is joined by others. */
void session_witness_tick(struct session *s, struct attempt *a);
/* Sends the witness of the doubt, to which the new session must answer before a
 * call is sent again: one that is refused there, too, proves nothing. A fragile
 * session gets it when the server has taken initialized. */
void session_witness_again(struct session *s);
/* Does the new session have to answer the witness still? */
bool session_awaits_witness(const struct session *s);
/* Does the new session get its witness when it has taken initialized? */
bool session_witness_is_due(const struct session *s);
/* The calls that wait for the new session wait no longer for its answer to the
 * witness: without it no unsafe call is sent again. */
void session_witness_too_late(struct session *s);

/* --- sign_in.c --- */

/* The user is asked to sign in. */

/* This attempt waits for the user, and text says how to sign in; n 0: it no
 * longer waits. */
void session_sign_in(struct session *s, struct attempt *a, struct span text);
/* There are new credentials: continues with whatever waited for them. */
void session_signed_in(struct session *s);
/* Something waits for the user, or did until this step: asks the host to show
 * where to sign in, takes its answer, and takes the question back. */
void session_mind_sign_in(struct session *s);
/* Does the current initialize wait for the user? */
bool session_opening_waits(const struct session *s);
/* Does a renewal wait for the user, and with it all calls that are held? */
bool session_renewal_waits(const struct session *s);
/* When this call gets the error that the user has to sign in, or ALARM_NEVER.
 * Begins the wait if the call has to wait, and ends it if not. renewal_waits is
 * what session_renewal_waits says. */
int64_t session_sign_in_due(struct session *s, struct call *c,
    bool renewal_waits);
/* The facts of an exchange that ended because the user did not sign in. They
 * borrow from s. */
struct facts session_sign_in_facts(const struct session *s);
/* The error for a call that waited too long for the user. Owned by the
 * caller. */
struct frame *session_sign_in_error(const struct session *s,
    const struct call *c);

/* A 401 or 403: the session or the credentials? */

/* A request was refused with 401 or 403, perhaps one that core/server sent:
 * decides whether that is the answer, or whether other credentials may help. */
void session_unauthorized(struct session *s, const struct event *in);
/* An answer to an ATTEMPT_DOOR came. */
void session_door_message(struct session *s, struct attempt *a);
/* The exchange of an ATTEMPT_DOOR is over. */
void session_door_done(struct session *s, struct attempt *a);

/* --- waits.c --- */

/* The client is told that calls wait. */

/* Tells the client of those calls, if ALARM_WAITS is due. */
void session_waits_tick(struct session *s);
/* Is this progress of the server, for the call, behind what the client was told?
 * Notes it if not. From now on the client is not told that the call waits. */
bool session_is_behind(struct call *c, const struct frame *m);

/* --- early_start.c --- */

/* A start without the server: from the startup cache, or with the stand-in. */

/* The client sent initialize: asks for the former start in the startup
 * cache. */
void session_begin_start(struct session *s);
/* Takes the answer to ACTION_LOAD_START. */
void session_cached_start(struct session *s, const struct event *in);
/* Puts the start, which was good, into the startup cache. */
void session_save_start(struct session *s);
/* Sets the alarm for a start without the server. */
void session_mind_start(struct session *s);
/* Returns the time at which an initialize fails that the server never got,
 * because of these facts; ALARM_NEVER: not because of them. */
int64_t session_start_fails_at(const struct session *s, const struct facts *f);
/* Does the client's initialize wait, has the startup cache an answer to it, and
 * is there nobody who could give another? */
/* Answers the client's initialize without the server, if that is possible. f
 * says why there is no server; NULL: the alarm is due. Returns false if there
 * is nothing to answer with, or the facts say that the server is not away. */
bool session_start_early(struct session *s, const struct facts *f);

/*
 * What a client is answered that started without the server. Either the startup
 * cache has a list of tools, or there is a stand-in, whose one tool tells what
 * is missing.
 */

/* The answer to this request if no server is needed for it, or NULL. A level of
 * log messages is kept for the server. The tool of the stand-in answers after
 * the server has come, too, and so do the lists that the stand-in declared and
 * the server does not have. Owned by the caller. */
struct frame *session_early_answer(struct session *s, struct frame *request);
/* Answers those calls that wait and need no server. */
void session_answer_early(struct session *s);

/* --- lists.c --- */

/* What the client has of the server's lists, and what it is told. */

/* The server answered a tools/list by m, in the session of g. request is as for
 * tools_learn. */
void session_learn_tools(struct session *s, const struct generation *g,
    const struct frame *request, struct frame *m);
/* The client starts again, and has no list. */
void session_forget_lists(struct session *s);
/* The server says that the lists of this family have changed, and the client
 * gets that message. */
void session_lists_changed(struct session *s, size_t family);
/* An answer came to an ATTEMPT_LIST. */
void session_list_message(struct session *s, struct attempt *a,
    const struct facts *f, struct frame *m);
/* The exchange of an ATTEMPT_LIST is over. */
void session_list_done(struct session *s, struct attempt *a);
/* There is another session: it is to be found out which lists have changed, but
 * not often, because some servers lose their session over these requests. The
 * subscribed resources may have changed, too. */
void session_tell_soon(struct session *s);
/* Reads the lists that the client has, if that is due; sets ALARM_TELL
 * otherwise. Tells the client what has changed, if no call is open, or ALARM_SAY
 * is due. */
void session_tell_changes(struct session *s);

/* --- live.c --- */

/* A session becomes live: initialized, the settings that are restored, and what
 * the client is told. */

/* Sends notifications/initialized. */
void session_begin_ready(struct session *s);
/* The server took initialized, or the wait for that is over. */
void session_readied(struct session *s);
/* The session was renewed for a client that has not said initialized. */
void session_reopened(struct session *s);

/* --- live.c: what a new session is told again --- */

/* Begins to restore the settings in a new session. Returns false if there are
 * none. */
bool session_restore(struct session *s);
/* A server that takes any session id, an unknown one too, may have restarted
 * in this generation: sends the settings again, and tells the client that lists
 * and resources may have changed. */
void session_restore_again(struct session *s, const struct generation *g);
/* The result of an ATTEMPT_RESTORE came. */
void session_restore_message(struct session *s, struct attempt *a);
/* The exchange of an ATTEMPT_RESTORE is over. */
void session_restore_done(struct session *s, struct attempt *a,
    const struct facts *f);
/* The restoring takes too long: goes on without the rest. */
void session_restore_timeout(struct session *s);

/* --- open.c --- */

/* Opening a session: initialize, its answer, and its failure. */

/* Opens a session with the client's initialize (a reference is taken), whose
 * call is c. */
void session_open(struct session *s, struct frame *initialize, struct call *c);
/* Opens a session with an initialize that mcpsplice makes, for a client that
 * sends none. */
void session_open_own(struct session *s);
/* initialize was answered by m, a result or an error. */
void session_opened(struct session *s, struct attempt *a, const struct facts *f,
    struct frame *m);
/* Takes up the spare session, if a renewal took it and it was answered
 * before. */
void session_open_spare(struct session *s);
/* No session could be opened: calls that wait for one get an error. error is
 * the server's, or NULL. */
void session_open_failed(struct session *s, const struct facts *f,
    struct frame *error);
/* The time of a renewal is over for the calls that began to wait first: they
 * get an error. The renewal goes on for calls that came later. */
void session_renew_late(struct session *s, const struct facts *f);
/* May initialize be sent again in wait ms? The last wait is made shorter, so
 * that the whole time is used. */
bool session_open_again(const struct session *s, const struct facts *f,
    int64_t *wait);
/* A server that allows one session may not know that the old one is gone:
 * deletes the old one and sends this initialize once more. Returns false if
 * that was done already or cannot help. */
bool session_make_room(struct session *s, struct attempt *a,
    const struct facts *f);

/* --- judge.c --- */

/* What the answer to a call means. */

/* Judges what a call got: by the facts of the exchange (a) and the message that
 * answers the call. m is NULL if the exchange ended without one; then the
 * function returns false, and has done nothing, if the facts are not about the
 * session. */
bool session_judge(struct session *s, struct call *c, struct attempt *a,
    const struct facts *f, struct frame *m);
/* Returns the error that a call keeps until its session is renewed: the message
 * as it came, or only its code and text if the message is too large. Owned by
 * the caller. */
struct frame *session_refusal_to_keep(struct frame *m);
/* The error that the client gets if the refusal stands and the server sent none
 * of its own, or refused no more than to resume a stream. */
struct frame *session_own_error(const struct session *s, const struct call *c,
    const struct attempt *a, const struct facts *f);
/* The ruling for a call whose exchange ended without an answer. */
struct ruling session_judge_end(const struct session *s,
    const struct attempt *a, const struct facts *f);

/* --- from_client.c --- */

/* What the client sends. */

/* Handles a message of the client (borrowed). */
void session_client(struct session *s, struct frame *f);
/* Writes an error (taken) for a frame that does not become a call. */
void session_reject(struct session *s, struct frame *error);

/* --- cancel.c --- */

/* Handles notifications/cancelled of the client (borrowed). */
void session_cancel(struct session *s, struct frame *f);

/* --- malformed.c --- */

/* Handles a line of the client that is not a message or is too long:
 * INPUT_INVALID and INPUT_TOO_LONG. */
void session_invalid(struct session *s, const struct event *in);

/* --- from_server.c --- */

/* What the server says. */

/* Handles the status and headers of this attempt's answer. */
void session_head(struct session *s, struct attempt *a, const struct facts *f);
/* Handles a message (borrowed) that came on this attempt. */
void session_message(struct session *s, struct attempt *a,
    const struct facts *f, struct frame *m);

/* --- exchange_end.c --- */

/* The end of an exchange. */

/* Handles the end of an attempt's exchange. Depending on what the attempt
 * was for and how it ended, the attempt is dropped or another one takes its
 * place. */
void session_done(struct session *s, struct attempt *a, const struct facts *f);

/* --- due.c --- */

/* What is due. */

/* Does what is due by now, and finds out what is due next. */
void session_tick(struct session *s);

/* --- invariants.c --- */

/* The invariants of core/session, which the head of state.h lists. They are
 * checked at the end of each step in builds with MCPSPLICE_SANE. */

#ifdef MCPSPLICE_SANE
/* Aborts the process if an invariant does not hold. ticked: the step was a
 * tick. */
void session_sane(const struct session *s, bool ticked);
#else
static inline void
session_sane(const struct session *s, bool ticked)
{
	(void)s;
	(void)ticked;
}
#endif

#endif
