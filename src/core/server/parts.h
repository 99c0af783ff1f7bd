/*
 * The functions that the files of this folder share, file by file, in the order
 * of the list in state.h. Nobody outside of this folder includes this.
 */
#ifndef MCPSPLICE_CORE_SERVER_PARTS_H
#define MCPSPLICE_CORE_SERVER_PARTS_H

#include "core/exchange/fault.h"
#include "core/server/state.h"

/* --- actions.c --- */

/* Logs a decision. The text is cut at 511 bytes. */
void server_log(struct server *s, enum log_level level, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Tells the session that the order waits until the user has signed in, with what
 * to tell the user (text NULL: it does not wait any more). */
void server_tell_user(struct server *s, struct server_order *o,
    const char *text);

/* --- attempt.c --- */

/* Orders an exchange from transport: a POST of body (a reference is taken), or
 * a GET if body is NULL. o may be NULL. The caller may still set members of the
 * attempt in this step, because server_next() reads them later. */
struct server_attempt *server_attempt_new(struct server *s,
    enum purpose purpose, struct server_order *o, struct frame *body);
/* Does the same for a POST to a modern server: sets the version and the
 * mirrored headers. */
struct server_attempt *server_attempt_new_modern(struct server *s,
    enum purpose purpose, struct server_order *o, struct frame *body);
/* Drops the attempt, which transport has ended. The sweep at the end of the
 * step frees it. */
void server_attempt_drop(struct server *s, struct server_attempt *a);
/* Ends the attempt: nothing that comes for its ticket is heard any more. The
 * sweep at the end of the step frees it. a may be NULL. */
void server_attempt_end(struct server *s, struct server_attempt *a);
/* Takes the attempt off its order, which needs no more of it. The attempt ends
 * by itself, or is ended 5 s later. */
void server_attempt_let_go(struct server *s, struct server_attempt *a);
/* Returns the attempt under way with this ticket, or NULL. */
struct server_attempt *server_attempt_find(const struct server *s,
    uint64_t ticket);
/* Returns the attempt under way with this purpose for this order, or NULL. */
struct server_attempt *server_attempt_of(const struct server *s,
    enum purpose purpose, const struct server_order *o);

/* --- belief.c --- */

/*
 * What mcpsplice believes of the server: its era and transport, whether it
 * refuses initialize, and which of its answers may still change that.
 */

/* The belief of a new process: what the configuration remembers. */
void server_belief_init(struct server *s);
/* An initialize of the session begins to find the server out. */
void server_belief_forget(struct server *s);
/* Detection found this mode. Logs it, and queues ACTION_FOUND unless it is no
 * news. refused: the server refused an initialize before. Returns whether the
 * mode is another than the last one. */
bool server_belief_found(struct server *s, enum server_mode mode, bool refused);

/* Does this answer (m NULL: an end without one) contradict a modern server? */
bool server_belief_contradicts(const struct facts *f, const struct frame *m);
/* May an answer to this attempt make the session renew, as it contradicts a
 * modern server? Only once, until a result comes. */
bool server_belief_may_doubt(const struct server *s,
    const struct server_attempt *a);
void server_belief_doubt(struct server *s);
/* A result came: the server is a modern one. */
void server_belief_confirm(struct server *s);

/* The server refused the version of this attempt (-32022). Returns whether
 * that makes the session renew: only once, until an answer comes to a later
 * attempt. */
bool server_belief_refused_version(struct server *s,
    const struct server_attempt *a);
/* The server answered this attempt, so it speaks REVISION_MODERN. */
void server_belief_took_version(struct server *s,
    const struct server_attempt *a);

/* Does this end of an exchange of the session with a legacy server (m NULL: no
 * message came) refuse the revision that initialize agreed on, and name
 * another? Only in one session. */
bool server_belief_refuses(const struct server *s, uint64_t ticket,
    const struct facts *f, const struct frame *m);
/* It does. The next initialize asks for the revision that it names. */
void server_belief_name(struct server *s, const struct facts *f,
    const struct frame *m);
/* This initialize of the session follows. Returns the revision that it has to
 * ask for instead of its own, or NULL. */
const char *server_belief_named(struct server *s, const struct server_order *o);

/* Does this answer to a subscriptions/listen contradict a modern server? A
 * modern server may refuse listens like that: it does so only once. */
bool server_belief_listen_contradicts(const struct server *s,
    const struct facts *f, const struct frame *m);
/* The session was told to renew because of an answer to a listen. */
void server_belief_listen_doubt(struct server *s);
/* The server acknowledged a listen. */
void server_belief_listen_confirm(struct server *s);
/* The subscriptions end with the session. */
void server_belief_listen_leave(struct server *s);
/* The server knows no method subscriptions/listen. Returns whether that makes
 * the session renew: only once for one mode. */
bool server_belief_listen_unknown(struct server *s);

/* --- order.c --- */

/* One order of the session, from its begin to its end. */

/* The facts of 200 with JSON, of 202, of 200 with an event stream, and of an
 * exchange that was aborted before an answer came. */
extern const struct facts server_facts_ok, server_facts_accepted,
    server_facts_stream, server_facts_aborted;
/* Returns the facts of an exchange that ended because the server is gone. ran
 * tells that its request may have run. */
struct facts server_facts_gone(bool ran);

/* Makes a server_order of the session's order and adds it to the list. */
struct server_order *server_order_new(struct server *s,
    const struct order *order);
/* Returns the order under way with this ticket, or NULL. */
struct server_order *server_order_find(const struct server *s, uint64_t ticket);
/* Returns the order whose request has this id, or NULL: one of this mode, or
 * the initialize under way. An id that is written the same wins over one that
 * only means the same. */
struct server_order *server_order_asking(const struct server *s, struct span id,
    enum server_mode mode);

/* Tells whether the order sends this method. */
bool server_order_is(const struct server_order *o, const char *method);

/* Tell the session what came of the order. server_order_tell_done(), _answer()
 * and _gone(), and server_order_fail(), drop the order, and its attempts are
 * ended. */
void server_order_tell_head(struct server *s, struct server_order *o,
    const struct facts *f);
void server_order_tell_message(struct server *s, struct server_order *o,
    const struct facts *f, struct frame *m);
void server_order_tell_done(struct server *s, struct server_order *o,
    const struct facts *f);
/* Tells a whole answer: head, message and done. Takes over the caller's
 * reference to m. */
void server_order_tell_answer(struct server *s, struct server_order *o,
    struct frame *m);
/* Answers with the error id that mcpsplice makes, for the order's request. more
 * has what the text says beside the request and the host; NULL: nothing. */
void server_order_fail(struct server *s, struct server_order *o,
    enum fault_id id, const struct fault_args *more);
/* Tells that the server speaks another protocol now, or that its stream is
 * gone, so that the session renews. ran: the request may have run. */
void server_order_tell_gone(struct server *s, struct server_order *o, bool ran);

/* Sends o->sent, the request of the first round or of a later one. */
void server_order_send(struct server *s, struct server_order *o);
/* Keeps a message (a reference is taken) until the session listens. Returns
 * false if there is no more room. */
bool server_order_keep(struct kept *kept, struct frame *m);
/* The order is the session's GET: tells it a head, and what was kept. */
void server_order_listen(struct server *s, struct server_order *o,
    struct kept *kept);

/* Drops the order: the session is told nothing more of it, and its attempts are
 * ended. The sweep at the end of the step releases what hangs on the order, and
 * frees it. */
void server_order_drop(struct server *s, struct server_order *o);
/* Frees the order, which must not be in the list any more. */
void server_order_free(struct server_order *o);

/* --- subscription.c --- */

/*
 * One subscription at the server. It has one open stream at a time, or none.
 */

/* Returns a new subscription, which the caller frees. o is the order of a
 * modern client's listen, or NULL. */
struct subscription *server_subscription_new(struct server_order *o);
/* Ends its stream, too. sub may be NULL. */
void server_subscription_free(struct server *s, struct subscription *sub);
/* Ends its stream only. No next one is due. */
void server_subscription_end(struct server *s, struct subscription *sub);
/* Opens a stream by this request, whose id is sub->id. Takes a reference to the
 * request. No stream may be open. */
void server_subscription_open(struct server *s, struct subscription *sub,
    struct frame *request);
/* Opens a stream for sub->asked, under a new id. */
void server_subscription_ask(struct server *s, struct subscription *sub);
/* Its stream is lost: the next one opens later. f may be NULL. */
void server_subscription_lost(struct server *s, struct subscription *sub,
    const struct facts *f);
/* Takes an acknowledgement. Returns false if the stream had one before. */
bool server_subscription_acknowledged(struct server *s,
    struct subscription *sub, struct frame *m);
/* Tells whether there was a gap, once. Everything is then told as changed. */
bool server_subscription_take_gap(struct subscription *sub);
/* Tells whether this error may pass. Any other one is final. */
bool server_subscription_is_passing(const struct facts *f,
    const struct frame *error);
/* Tells whether its next stream is due. sub may be NULL. */
bool server_subscription_is_due(const struct server *s,
    const struct subscription *sub);

/* What subscriptions tell the session or a modern client's listen. */

/* Returns s->listens. Makes it if there is none. */
struct listens *server_tell_listens(struct server *s);
/* Tells the session, or keeps the message until the session's GET is there. */
void server_tell_session(struct server *s, struct frame *m);
/* Tells that each list may have changed that this acknowledgement honours: a
 * client's listen, or the session if o is NULL. */
void server_tell_lists(struct server *s, struct server_order *o,
    const struct frame *honours);
/* Tells the same of one resource; uri is raw JSON. */
void server_tell_resource(struct server *s, struct server_order *o,
    struct span uri);
/* Makes the session renew, because an answer to a listen contradicts a modern
 * server. Drops o. */
void server_tell_gone(struct server *s, struct server_order *o);

/* --- resources.c --- */

/*
 * The resources that the session subscribes to, as one subscription at the
 * server.
 */

/* Tells whether the server declares subscriptions to resources. */
bool server_resources_is_offered(const struct server *s);
/* Takes a resources/subscribe or resources/unsubscribe of the session. */
void server_resources_subscribe(struct server *s, struct server_order *o);
/* The server acknowledged sub, which is l->resources or l->successor. */
void server_resources_acknowledged(struct server *s, struct subscription *sub);
/* Gives up the successor, for this error. */
void server_resources_give_up(struct server *s, struct frame *error);
/* Tells whether the session wants this notification, which came on sub. */
bool server_resources_wants(const struct server *s,
    const struct subscription *sub, const struct frame *m);
/* The open stream may be dead: it will be replaced. */
void server_resources_stale(struct server *s);
/* Returns a resources/subscribe that waits, or NULL. */
struct server_order *server_resources_waiting(const struct server *s);
/* The session aborted this resources/subscribe. */
void server_resources_abort(struct server *s, const struct server_order *o);
/* Tells all orders that wait that the server is gone, and empties the set. */
void server_resources_leave(struct server *s);
/* Makes the change that is due, or opens the stream that is. */
void server_resources_tick(struct server *s);
/* Returns when the next change or the next stream of the set is due (monotonic
 * ms, or ALARM_NEVER). s->listens must be there. */
int64_t server_resources_due(const struct server *s);

/* --- listen.c --- */

/* The subscriptions/listen of a modern client at a modern server. */

/* Sends the client's listen. */
void server_native_open(struct server *s, struct server_order *o);

/*
 * The session's GET stream at a modern server, and what comes on subscriptions.
 */

/* Takes the session's GET. */
void server_listen_open(struct server *s, struct server_order *o);
/* The session aborted its GET, a resources/subscribe, or a modern client's
 * listen. The caller ends the order. */
void server_listen_close(struct server *s, struct server_order *o);
/* Ends all subscriptions, because the session begins anew. */
void server_listen_leave(struct server *s);
/* Take what comes of attempts FOR_LISTEN. */
void server_listen_head(struct server *s, struct server_attempt *a,
    const struct facts *f);
void server_listen_message(struct server *s, struct server_attempt *a,
    const struct facts *f, struct frame *m);
void server_listen_done(struct server *s, struct server_attempt *a,
    const struct facts *f);
/* Opens the streams that are due. */
void server_listen_tick(struct server *s);

/* --- input_required.c --- */

/*
 * The questions of a modern server that have to be answered before the server
 * answers a call.
 */

/* Asks the client what this input_required result wants to know. When all is
 * answered, server_order_send() sends the next round. */
void server_inputs_ask(struct server *s, struct server_order *o,
    struct frame *result);
/* Takes an answer of the client. Returns false if it answers no open question.
 */
bool server_inputs_answer(struct server *s, struct frame *answer);
/* Releases the questions of a call. tell: open ones are cancelled at the
 * client. */
void server_inputs_end(struct server *s, struct server_order *o, bool tell);
/* Fails the call because stdin has ended and the client can answer no more. */
void server_inputs_eof(struct server *s, struct server_order *o);
/* Fails the call because the time for the answers is over. */
void server_inputs_expire(struct server *s, struct server_order *o);
#ifdef MCPSPLICE_SANE
/* See server_sane. */
void server_inputs_sane(const struct server *s);
#endif

/* --- modern.c --- */

/* The session's orders at a modern server, from their begin to their end. */

/* The session begins anew: ends what cannot go on. */
void server_modern_leave(struct server *s);
/* Takes an order of the session; initialize is detect.c's. */
void server_modern_send(struct server *s, struct server_order *o);
/* The session aborted the order. The caller ends it. */
void server_modern_abort(struct server *s, struct server_order *o);
/* Takes the head of an attempt FOR_CALL. */
void server_modern_head(struct server *s, struct server_attempt *a,
    const struct facts *f);
/* Takes the end of an attempt FOR_CALL or FOR_TOOLS. */
void server_modern_done(struct server *s, struct server_attempt *a,
    const struct facts *f);
/* Sends and ends what is due. */
void server_modern_tick(struct server *s);

/* What the session is told of the answers of a modern server. */

/* Takes a message of an attempt FOR_CALL or FOR_TOOLS. */
void server_answer_message(struct server *s, struct server_attempt *a,
    const struct facts *f, struct frame *m);

/* --- sse2024.c --- */

/* HTTP+SSE of 2024-11-05: the stream, and the session's orders. */

/* Orders the stream and returns its attempt. server_detect_stream() hears
 * whether it names an endpoint. */
struct server_attempt *server_sse2024_open(struct server *s);
void server_sse2024_close(struct server *s);
/* Closes the stream, and tells the orders under way on it. */
void server_sse2024_leave(struct server *s);
/* Tells whether the stream has named an endpoint. */
bool server_sse2024_ready(const struct server *s);
/* Takes an order of the session; an initialize only when there is an endpoint.
 */
void server_sse2024_send(struct server *s, struct server_order *o);
/* The session aborted the order. The caller ends it. */
void server_sse2024_abort(struct server *s, struct server_order *o);
/* The stream brought a message, or a POST was taken: the time of silence begins
 * anew. */
void server_sse2024_heard(struct server *s);
/* Ends the orders that wait for an answer if the stream was silent for too
 * long. */
void server_sse2024_tick(struct server *s);

/* --- detect.c --- */

/* Detection: which era and which transport the server speaks. */

/* Begins detection for an initialize of the session; discovered is as in struct
 * order. */
void server_detect_begin(struct server *s, struct server_order *o,
    struct frame *discovered);
/* Ends detection, if any is under way. */
void server_detect_end(struct server *s);
/* Take what comes of attempts FOR_INITIALIZE and FOR_DISCOVER. */
void server_detect_head(struct server *s, struct server_attempt *a,
    const struct facts *f);
void server_detect_message(struct server *s, struct server_attempt *a,
    const struct facts *f, struct frame *m);
void server_detect_done(struct server *s, struct server_attempt *a,
    const struct facts *f);
/* Takes the endpoint event that came as the answer to such a POST. */
void server_detect_endpoint(struct server *s, struct server_attempt *a,
    bool ok);
/* Tells detection that the stream of HTTP+SSE has its endpoint (f NULL), or
 * that it will have none, for the reason that the facts give. */
void server_detect_stream(struct server *s, const struct facts *f);
/* Takes a refusal of initialize (m NULL: one without a message). Returns
 * whether it names a revision to try instead: the order has the initialize for
 * that now, once, and the caller sends it. */
bool server_detect_offer(struct server *s, const struct facts *f,
    const struct frame *m);
/* Tells detection that initialize was answered on the stream. */
void server_detect_answered(struct server *s);
/* Tells detection that this attempt waits for the user to sign in, or does not
 * wait any more. */
void server_detect_user(struct server *s, const struct server_attempt *a,
    bool waits);
/* Gives up the wait for an endpoint if its time is over. */
void server_detect_tick(struct server *s);

/* --- sse2024_in.c --- */

/* What comes of the exchanges of HTTP+SSE: attempts FOR_STREAM and FOR_POST. */

/* Takes the endpoint event of an attempt FOR_STREAM. ok: it is on the same
 * origin. */
void server_sse2024_in_endpoint(struct server *s, struct server_attempt *a,
    bool ok);
/* Take the messages and the end of an attempt. Its head says nothing. */
void server_sse2024_in_message(struct server *s, struct server_attempt *a,
    const struct facts *f, struct frame *m);
void server_sse2024_in_done(struct server *s, struct server_attempt *a,
    const struct facts *f);

/* --- invariants.c --- */

/*
 * The invariants of core/server, which the head of state.h lists. They are
 * checked at the end of each step in builds with MCPSPLICE_SANE.
 */

#ifdef MCPSPLICE_SANE
/* Aborts the process if an invariant does not hold. */
void server_sane(const struct server *s);
#else
#define server_sane(e) ((void)(e))
#endif

#endif
