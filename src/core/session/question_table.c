/* The table of the server's open questions. It is short, because the user
 * answers most of them, so a list suffices. */
#include "config.h"

#include "core/session/parts.h"

#include <stdlib.h>

enum { MSG_DEPTH = 1 << 20 }; /* the depth was checked when the frame came in */

static void
question_drop(struct questions *t, struct open_question **at)
{
	struct open_question *q = *at;

	*at = q->next;
	t->n--;
	free(q->server_id);
	free(q->client_id);
	free(q);
}

void
questions_free(struct questions *t)
{
	while (t->list != NULL)
		question_drop(t, &t->list);
}

static struct open_question **
find(struct questions *t, struct span id, uint64_t generation, bool by_server)
{
	struct open_question **at;
	const char *known;

	for (at = &t->list; *at != NULL; at = &(*at)->next) {
		if (by_server && (*at)->generation != generation)
			continue;
		known = by_server ? (*at)->server_id : (*at)->client_id;
		if (id.p != NULL && msg_id_same(span_of(known), id))
			return at;
	}
	return NULL;
}

struct frame *
questions_ask(struct questions *t, struct frame *request, uint64_t generation,
    uint64_t ticket)
{
	struct open_question *q = xcalloc(1, sizeof *q), **end = &t->list;

	q->server_id = xstrndup(request->id.p, request->id.n);
	q->generation = generation;
	q->ticket = ticket;
	q->roots = json_key_is(request->method, "roots/list");
	q->client_id = xasprintf("%llu", (unsigned long long)++t->made);
	while (*end != NULL)
		end = &(*end)->next;
	*end = q;
	t->n++;
	return msg_with_id(request, span_of(q->client_id));
}

struct frame *
questions_answer(struct questions *t, struct frame *answer,
    uint64_t *generation, uint64_t *ticket)
{
	struct open_question **at = find(t, answer->id, 0, false);
	struct frame *f;

	if (at == NULL)
		return NULL;
	*generation = (*at)->generation;
	*ticket = (*at)->ticket;
	f = msg_with_id(answer, span_of((*at)->server_id));
	question_drop(t, at);
	return f;
}

/* A copy of f in which text replaces old, a span inside f. */
static struct frame *
replace(const struct frame *f, struct span old, const char *text)
{
	size_t before = (size_t)(old.p - f->text.p);
	struct buf b;
	struct frame *made;

	buf_init(&b, 0);
	buf_add(&b, f->text.p, before);
	buf_adds(&b, text);
	buf_add(&b, old.p + old.n, f->text.n - before - old.n);
	made = frame_take(&b);
	buf_free(&b);
	msg_parse(made, MSG_DEPTH);
	return made;
}

struct frame *
questions_cancel(struct questions *t, struct frame *cancelled,
    uint64_t generation)
{
	struct span id = json_get(cancelled->params, "requestId");
	struct open_question **at = find(t, id, generation, true);
	struct frame *f;

	if (at == NULL)
		return find(t, id, 0, false) == NULL ? frame_ref(cancelled) :
						       NULL;
	f = replace(cancelled, id, (*at)->client_id);
	question_drop(t, at);
	return f;
}

struct frame *
questions_withdraw(struct questions *t, uint64_t origin)
{
	struct open_question **at;
	struct frame *cancel;

	for (at = &t->list; *at != NULL; at = &(*at)->next)
		if ((*at)->ticket == origin && !(*at)->roots)
			break;
	if (origin == 0 || *at == NULL)
		return NULL;
	cancel = msg_cancel(span_of((*at)->client_id),
	    span_of(origin == QUESTION_OWN ?
		    "\"this sign-in is not waited for any more\"" :
		    "\"the call that asked is over\""));
	question_drop(t, at);
	return cancel;
}

bool
questions_expire(struct questions *t, uint64_t generation,
    struct frame **cancel, uint64_t *ticket)
{
	struct open_question **at;

	for (at = &t->list; *at != NULL; at = &(*at)->next)
		if ((*at)->generation < generation)
			break;
	if (*at == NULL)
		return false;
	*cancel = msg_cancel(span_of((*at)->client_id),
	    span_of("\"session lost\""));
	*ticket = (*at)->ticket;
	question_drop(t, at);
	return true;
}
