/*
 * Parks requests. When a legacy server asks a question, client_park_tick
 * answers the request of the client with input_required while the session goes
 * on with the request. The client then sends the request again with a
 * requestState and its answers, and this retry takes the place of the first
 * request. (doc/protocol.md 7.5)
 */
#include "config.h"

#include "core/modern_client/parts.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/bounds.h"
#include "base/hash.h"
#include "core/wire/edit.h"

/* --- questions of the server --- */

/*
 * Keeps the questions that a legacy server asks while a request runs: finds the
 * request that a question belongs to, limits the questions of one request, and
 * answers a question for a client that does not.
 *
 * The session limits the number of questions that are open in all.
 */

size_t
client_count_questions(const struct client *c, const struct request *r)
{
	const struct question *q;
	size_t n = 0;

	for (q = c->questions; q != NULL; q = q->next)
		n += q->owner == r;
	return n;
}

/* Returns the bytes of the questions of r; NULL: of all requests. */
static size_t
bytes_asked(const struct client *c, const struct request *r)
{
	const struct question *q;
	size_t n = 0;

	for (q = c->questions; q != NULL; q = q->next)
		if (r == NULL || q->owner == r)
			n += q->frame->text.n;
	return n;
}

/* Returns the answer to the question f if no request is there to ask it in, or
 * (late) if the user did not answer it. */
static struct frame *
refusal(const struct client *c, const struct frame *f, bool late)
{
	if (client_is(f, "elicitation/create"))
		return msg_result(f->id, "{\"action\":\"cancel\"}");
	if (!late)
		return client_fault(c, f, FAULT_ASKED_NOWHERE);
	return client_fault(c, f,
	    client_is(f, "sampling/createMessage") ?
		FAULT_USER_SILENT_SAMPLING :
		FAULT_USER_SILENT);
}

void
client_refuse_questions(struct client *c, struct request *r)
{
	struct question **at = &c->questions;

	while (*at != NULL) {
		if ((*at)->owner != r) {
			at = &(*at)->next;
			continue;
		}
		client_send(c, refusal(c, (*at)->frame, (*at)->key != 0));
		client_question_drop(at);
	}
}

void
client_question_over(struct client *c, struct span id)
{
	struct question **at = &c->questions;
	struct request *r;

	while (id.p != NULL && *at != NULL &&
	    !msg_id_same((*at)->frame->id, id))
		at = &(*at)->next;
	if (id.p == NULL || *at == NULL)
		return;
	r = (*at)->owner;
	client_question_drop(at);
	if (r->in == &c->collecting && client_count_questions(c, r) == 0)
		client_move(c, r, &c->asking);
}

/* Are as many requests parked, or about to be, as there may be? */
static bool
park_is_full(const struct client *c)
{
	return c->parked.n + c->collecting.n >= BOUND_SOME;
}

/* Returns the answer to the question f if the client must not be asked it;
 * NULL: it may be asked. */
static struct frame *
turned_down(const struct client *c, const struct request *r,
    const struct frame *f)
{
	struct span can = era_meta(r->frame, META_CAPABILITIES);
	enum fault_id id = FAULT_ASKED_TOO_MUCH;

	if (c->ended)
		return refusal(c, f, true);
	if (!era_declares(can, f->method, f->params))
		id = client_is(f, "elicitation/create") &&
			json_kind(json_get(can, "elicitation")) == '{' ?
		    FAULT_PARAMS_UNDECLARED :
		    FAULT_METHOD_UNDECLARED;
	else if (client_count_questions(c, r) < BOUND_FEW &&
	    bytes_asked(c, r) + f->text.n <= BOUND_ASKED_BYTES &&
	    bytes_asked(c, NULL) + f->text.n <= BOUND_ALL_BYTES &&
	    (r->in != &c->asking || !park_is_full(c)))
		return NULL;
	return client_fault(c, f, id);
}

void
client_question(struct client *c, struct request *r, struct frame *f,
    bool guessed, bool own)
{
	struct frame *no = turned_down(c, r, f);
	struct question **end = &c->questions;

	if (no != NULL) {
		client_send(c, no);
		return;
	}
	while (*end != NULL)
		end = &(*end)->next;
	*end = xcalloc(1, sizeof **end);
	(*end)->owner = r;
	(*end)->frame = frame_ref(f);
	(*end)->guessed = guessed;
	(*end)->own = own;
	if (r->in == &c->asking) {
		client_move(c, r, &c->collecting);
		r->at = c->now + COLLECT_MS;
	}
}

/* Removes the first question that was guessed to be of r and that the client
 * has not seen. Returns its frame, owned by the caller; NULL: there is none. */
static struct frame *
take_guessed(struct client *c, const struct request *r)
{
	struct question **at = &c->questions;
	struct frame *f;

	while (*at != NULL &&
	    ((*at)->owner != r || !(*at)->guessed || (*at)->key != 0))
		at = &(*at)->next;
	if (*at == NULL)
		return NULL;
	f = frame_ref((*at)->frame);
	client_question_drop(at);
	return f;
}

/* The request that was sent last is taken to be the owner. Parked ones come
 * last. */
struct request *
client_likely_owner(const struct client *c)
{
	struct request *r, *found = c->asking.last;

	for (r = c->collecting.first; r != NULL; r = r->next)
		if (found == NULL || r->serial > found->serial)
			found = r;
	for (r = c->parked.last; found == NULL && r != NULL; r = r->prev)
		if (r->at_session)
			found = r;
	return found;
}

/* --- parked requests --- */

struct request *
client_parked(const struct client *c, struct span id)
{
	struct request *r;

	for (r = c->parked.first; id.p != NULL && r != NULL; r = r->next)
		if (msg_id_same(r->frame->id, id))
			return r;
	return NULL;
}

void
client_abandon(struct client *c, struct request *r, const char *reason)
{
	client_refuse_questions(c, r);
	if (r->at_session)
		client_cancel(c, r, reason);
	client_drop(c, r);
}

#define URL_MODE "{\"mode\":\"url\"}"

/* --- the token --- */

/* Hashes JSON without the white space between its tokens. */
static uint64_t
hash_json(uint64_t h, struct span value)
{
	bool string = false, escaped = false;
	size_t i;
	char c;

	for (i = 0; i < value.n; i++) {
		c = value.p[i];
		if (!string &&
		    (c == ' ' || c == '\t' || c == '\n' || c == '\r'))
			continue;
		if (c == '"' && !escaped)
			string = !string;
		escaped = string && c == '\\' && !escaped;
		h = hash_bytes(h, &c, 1);
	}
	return h;
}

/* Hashes what a retry must have in common with its request. The order of the
 * params does not matter. */
static uint64_t
binding(const struct frame *f)
{
	uint64_t h = hash_bytes(HASH_START, f->method.p, f->method.n);
	struct span key, value;
	size_t at = 0;

	while (json_next(f->params, &at, &key, &value))
		if (!json_key_is(key, "_meta") &&
		    !json_key_is(key, "inputResponses") &&
		    !json_key_is(key, "requestState"))
			h += hash_json(hash_bytes(HASH_START, key.p, key.n),
			    value);
	return h;
}

/* Parks r and asks the client for these inputs, raw JSON. Called once in a step
 * at most, as the secret of a step is used for one requestState. */
static void
park(struct client *c, struct request *r, struct span requests)
{
	snprintf(r->state, sizeof r->state, "%016llx%016llx",
	    (unsigned long long)c->secret[0], (unsigned long long)c->secret[1]);
	r->binding = binding(r->frame);
	client_write(c,
	    era_input_required(r->frame->id, requests, span_of(r->state)));
	client_forget_id(c, r);
	client_want_level(c, r, -1);
	client_move(c, r, &c->parked);
	r->at = c->now + BOUND_PARKED_MS;
}

/* Parks r and asks the client all questions of r that are not answered. */
static void
park_questions(struct client *c, struct request *r)
{
	struct question *q;
	struct buf requests;

	buf_init(&requests, 0);
	for (q = c->questions; q != NULL; q = q->next) {
		if (q->owner != r)
			continue;
		if (q->key == 0) {
			q->key = ++r->asked;
			r->own += q->own;
		}
		buf_addf(&requests, "%c\"q%u\":", requests.n > 0 ? ',' : '{',
		    q->key);
		era_input_request(&requests, q->frame);
	}
	buf_addc(&requests, '}');
	park(c, r, buf_span(&requests));
	buf_free(&requests);
}

/* --- URLs to open first (-32042) --- */

/* Appends the URLs that the error names as inputs; returns how many they
 * are. */
static unsigned
add_urls(struct buf *out, struct span list)
{
	struct edit edit = { "mode", span_of("\"url\"") };
	struct span key, entry;
	struct frame *f;
	struct buf params;
	unsigned n = 0;
	size_t at = 0;

	while (json_next(list, &at, &key, &entry)) {
		if (json_kind(entry) != '{' || n == BOUND_FEW)
			continue;
		buf_init(&params, 0);
		edit_object(&params, entry, &edit, 1);
		f = msg_call(no_span, "elicitation/create", buf_span(&params));
		buf_addf(out, "%c\"q%u\":", n == 0 ? '{' : ',', n + 1);
		n++;
		era_input_request(out, f);
		frame_unref(f);
		buf_free(&params);
	}
	buf_addc(out, '}');
	return n;
}

static struct frame *
url_undeclared(const struct client *c, const struct frame *f)
{
	char *message = xasprintf("%s needs its user to open a URL first, "
				  "but this client did not declare "
				  "elicitation.url.",
	    c->config.host);
	struct frame *error = msg_error(f->id, ERROR_MISSING_CAPABILITY,
	    message,
	    span_of("{\"requiredCapabilities\":{\"elicitation\":{\"url\":{}}}"
		    "}"));

	free(message);
	return error;
}

/* Handles an error that tells the client to open URLs first (-32042). Returns
 * false if the error names none, and r is left as it was. */
static bool
park_urls(struct client *c, struct request *r, struct frame *error)
{
	struct span can = era_meta(r->frame, META_CAPABILITIES);
	struct span list = json_get(json_get(error->error, "data"),
	    "elicitations");
	struct buf requests;

	buf_init(&requests, 0);
	if (!era_declares(can, span_of("elicitation/create"),
		span_of(URL_MODE))) {
		client_write(c, url_undeclared(c, r->frame));
		client_drop(c, r);
	} else if (json_kind(list) != '[' || !era_may_ask(r->frame->method) ||
	    add_urls(&requests, list) == 0) {
		buf_free(&requests);
		return false;
	} else if (park_is_full(c)) {
		client_fail(c, r->frame, FAULT_HELD_FULL);
		client_drop(c, r);
	} else {
		r->again = true;
		park(c, r, buf_span(&requests));
	}
	buf_free(&requests);
	return true;
}

/* --- answers --- */

/* r is answered. Questions that were guessed to be of r go to the next likely
 * owner. */
static void
hand_on(struct client *c, struct request *r)
{
	struct request *other;
	struct frame *f;

	if (r->in != &c->collecting)
		return;
	client_move(c, r, &c->running);
	while ((other = client_likely_owner(c)) != NULL &&
	    (f = take_guessed(c, r)) != NULL) {
		client_question(c, other, f, true, false);
		frame_unref(f);
	}
}

void
client_answered(struct client *c, struct request *r, struct frame *answer)
{
	struct frame *named;

	hand_on(c, r);
	client_refuse_questions(c, r);
	client_forget_sent(c, r);
	if (answer->kind == FRAME_ERROR &&
	    msg_error_code(answer) == ERROR_URL_ELICITATION &&
	    park_urls(c, r, answer))
		return;
	named = fault_pass_on(answer, r->frame);
	/* The server may have become known as a modern one while it waited. */
	client_write(c,
	    c->discovered != NULL &&
		    json_get(named->result, "resultType").p != NULL ?
		frame_ref(named) :
		era_answer_to_modern(named, r->frame->method,
		    buf_span(&c->server_info)));
	frame_unref(named);
	client_drop(c, r);
}

/* --- the retry --- */

static struct request *
by_state(const struct client *c, const struct frame *f, struct span state)
{
	struct request *r = c->parked.first;

	while (r != NULL && !client_is_string(state, r->state))
		r = r->next;
	return r != NULL && r->binding == binding(f) ? r : NULL;
}

/* Sends the answers in these responses to the server. Questions without one
 * stay open. */
static void
deliver(struct client *c, const struct request *r, struct span responses)
{
	struct question **at = &c->questions, *q;
	struct span value;
	char key[16], *result;

	while ((q = *at) != NULL) {
		value = no_span;
		if (q->owner == r && q->key != 0) {
			snprintf(key, sizeof key, "q%u", q->key);
			value = json_get(responses, key);
		}
		if (json_kind(value) != '{') {
			at = &q->next;
			continue;
		}
		result = xstrndup(value.p, value.n);
		client_send(c, msg_result(q->frame->id, result));
		free(result);
		client_question_drop(at);
	}
}

static void
resume(struct client *c, struct request *r, struct frame *f)
{
	const struct span before = r->frame->params;
	struct frame *final = r->final, *bare;

	if (r->again) {
		client_drop(c, r);
		client_bridge(c, f);
		return;
	}
	/* The answers are for us: a modern server may get the rest. */
	bare = era_retry(f, f->id, json_get(before, "inputResponses"),
	    json_get(before, "requestState"));
	client_replace(c, r, bare);
	frame_unref(bare);
	client_move(c, r, &c->asking);
	if (final != NULL) {
		r->final = NULL;
		c->parked_bytes -= final->text.n;
		client_answered(c, r, final);
		frame_unref(final);
		return;
	}
	deliver(c, r, json_get(f->params, "inputResponses"));
	if (client_count_questions(c, r) > 0) {
		park_questions(c, r);
		return;
	}
	client_want_level(c, r, client_wanted_level(f));
	if (c->discovered == NULL)
		client_level_sync(c);
}

bool
client_retry(struct client *c, struct frame *f)
{
	struct span state;
	struct request *r;

	/* The state may be one of a modern server's own. */
	if (c->parked.first == NULL && c->discovered != NULL)
		return false;
	state = json_get(f->params, "requestState");
	if (state.p == NULL)
		return false;
	r = by_state(c, f, state);
	if (r != NULL) {
		resume(c, r, f);
		return true;
	}
	if (c->discovered != NULL || !era_may_ask(f->method))
		return false;
	client_fail(c, f, FAULT_UNKNOWN_STATE);
	return true;
}

/* --- waiting --- */

void
client_park_final(struct client *c, struct request *r, struct frame *answer)
{
	client_refuse_questions(c, r);
	client_forget_sent(c, r);
	if (c->parked_bytes + answer->text.n > c->config.max_held)
		r->final = fault_make(FAULT_PARKED_HUGE,
		    &(struct fault_args){ .request = r->frame,
			.host = c->config.host,
			.size = answer->text.n });
	else
		r->final = frame_ref(answer);
	c->parked_bytes += r->final->text.n;
}

void
client_park_tick(struct client *c)
{
	struct request *r = c->collecting.first;

	if (r != NULL && r->at <= c->now)
		park_questions(c, r);
	while ((r = c->parked.first) != NULL && r->at <= c->now) {
		client_log(c, LEVEL_INFO,
		    "the user did not answer %s in time: giving up on the "
		    "call",
		    c->config.host);
		client_abandon(c, r, "the user did not answer in time");
	}
}
