/*
 * Keeps the questions that a legacy server asks while a request runs: finds the
 * request that a question belongs to, limits the questions of one request, and
 * answers a question for a client that does not.
 *
 * The session limits the number of questions that are open in all.
 */
#include "config.h"

#include "core/client/question.h"

#include "base/bounds.h"
#include "core/client/act.h"
#include "core/client/table.h"
#include "core/wire/msg.h"

size_t
client_count_questions(const struct client *e, const struct request *r)
{
	const struct question *q;
	size_t n = 0;

	for (q = e->questions; q != NULL; q = q->next)
		n += q->owner == r;
	return n;
}

/* Returns the bytes of the questions of r; NULL: of all requests. */
static size_t
bytes_asked(const struct client *e, const struct request *r)
{
	const struct question *q;
	size_t n = 0;

	for (q = e->questions; q != NULL; q = q->next)
		if (r == NULL || q->owner == r)
			n += q->frame->text.n;
	return n;
}

/* Returns the answer to the question f if no request is there to ask it in, or
 * (late) if the user did not answer it. */
static struct frame *
refusal(const struct client *e, const struct frame *f, bool late)
{
	if (client_is(f, "elicitation/create"))
		return msg_result(f->id, "{\"action\":\"cancel\"}");
	if (!late)
		return client_fault(e, f, FAULT_ASKED_NOWHERE);
	return client_fault(e, f,
	    client_is(f, "sampling/createMessage") ?
		FAULT_USER_SILENT_SAMPLING :
		FAULT_USER_SILENT);
}

void
client_refuse_questions(struct client *e, struct request *r)
{
	struct question **at = &e->questions;

	while (*at != NULL) {
		if ((*at)->owner != r) {
			at = &(*at)->next;
			continue;
		}
		client_send(e, refusal(e, (*at)->frame, (*at)->key != 0));
		client_question_drop(at);
	}
}

void
client_question_over(struct client *e, struct span id)
{
	struct question **at = &e->questions;
	struct request *r;

	while (id.p != NULL && *at != NULL &&
	    !msg_id_same((*at)->frame->id, id))
		at = &(*at)->next;
	if (id.p == NULL || *at == NULL)
		return;
	r = (*at)->owner;
	client_question_drop(at);
	if (r->in == &e->collecting && client_count_questions(e, r) == 0)
		client_move(e, r, &e->asking);
}

bool
client_park_is_full(const struct client *e)
{
	return e->parked.n + e->collecting.n >= BOUND_PARKED;
}

/* Returns the answer to the question f if the client must not be asked it;
 * NULL: it may be asked. */
static struct frame *
turned_down(const struct client *e, const struct request *r,
    const struct frame *f)
{
	struct span can = era_meta(r->frame, META_CAPABILITIES);
	enum fault_id id = FAULT_ASKED_TOO_MUCH;

	if (e->ended)
		return refusal(e, f, true);
	if (!era_declares(can, f->method, f->params))
		id = client_is(f, "elicitation/create") &&
			json_kind(json_get(can, "elicitation")) == '{' ?
		    FAULT_PARAMS_UNDECLARED :
		    FAULT_METHOD_UNDECLARED;
	else if (client_count_questions(e, r) < BOUND_ASKED &&
	    bytes_asked(e, r) + f->text.n <= BOUND_ASKED_BYTES &&
	    bytes_asked(e, NULL) + f->text.n <= BOUND_ASKED_ALL_BYTES &&
	    (r->in != &e->asking || !client_park_is_full(e)))
		return NULL;
	return client_fault(e, f, id);
}

void
client_question(struct client *e, struct request *r, struct frame *f,
    bool guessed)
{
	struct frame *no = turned_down(e, r, f);
	struct question **end = &e->questions;

	if (no != NULL) {
		client_send(e, no);
		return;
	}
	while (*end != NULL)
		end = &(*end)->next;
	*end = xcalloc(1, sizeof **end);
	(*end)->owner = r;
	(*end)->frame = frame_ref(f);
	(*end)->guessed = guessed;
	if (r->in == &e->asking) {
		client_move(e, r, &e->collecting);
		r->at = e->now + COLLECT_MS;
	}
}

struct frame *
client_take_guessed(struct client *e, const struct request *r)
{
	struct question **at = &e->questions;
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
client_likely_owner(const struct client *e)
{
	struct request *r, *found = e->asking.last;

	for (r = e->collecting.first; r != NULL; r = r->next)
		if (found == NULL || r->serial > found->serial)
			found = r;
	for (r = e->parked.last; found == NULL && r != NULL; r = r->prev)
		if (r->at_session)
			found = r;
	return found;
}

/* --- parked requests --- */

struct request *
client_parked(const struct client *e, struct span id)
{
	struct request *r;

	for (r = e->parked.first; id.p != NULL && r != NULL; r = r->next)
		if (msg_id_same(r->frame->id, id))
			return r;
	return NULL;
}

void
client_abandon(struct client *e, struct request *r, const char *reason)
{
	client_refuse_questions(e, r);
	if (r->at_session)
		client_cancel(e, r, reason);
	client_drop(e, r);
}
