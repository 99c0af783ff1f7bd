/* How a player begins, takes a step, and ends; see play.h. */
#include "config.h"

#include "play/play.h"

#include <stdarg.h>
#include <stdlib.h>

#include "play/words.h"

static const struct reducer *const reducers[] = { &play_session, &play_client,
	&play_server, &play_chain, &play_login };

const struct reducer *
play_reducer(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof reducers / sizeof *reducers; i++)
		if (strcmp(reducers[i]->name, name) == 0)
			return reducers[i];
	return NULL;
}

bool
play_is_wrong(struct play *p, const char *fmt, ...)
{
	va_list ap;

	if (p->wrong != NULL)
		return false;
	va_start(ap, fmt);
	p->wrong = xvasprintf(fmt, ap);
	va_end(ap);
	return false;
}

/* --- options --- */

static bool
option_of_all(struct play *p, const char *word)
{
	static const struct {
		const char *name;
		unsigned tells;
	} options[] = {
		{ "versions", TELLS_VERSIONS },
		{ "headers", TELLS_VERSIONS | TELLS_HEADERS },
		{ "interactive", TELLS_INTERACTIVE },
		{ "flags", TELLS_FLAGS },
		{ "bodies", TELLS_BODIES },
		{ "texts", TELLS_TEXTS },
		{ "warnings", TELLS_WARNINGS },
		{ "notes", TELLS_WARNINGS | TELLS_NOTES },
	};
	size_t i;

	for (i = 0; i < sizeof options / sizeof *options; i++)
		if (strcmp(word, options[i].name) == 0) {
			p->tells |= options[i].tells;
			return true;
		}
	if (strcmp(word, "late") != 0)
		return false;
	return p->late = true;
}

static void
take_options(struct play *p, const char *options)
{
	struct buf line, word;
	const char *at;

	buf_init(&line, 0);
	buf_init(&word, 0);
	words_expand(&line, options);
	at = buf_str(&line);
	while (words_next(&at, &word))
		if (!option_of_all(p, word.p) &&
		    (p->reducer->option == NULL ||
			!p->reducer->option(p, word.p)))
			play_is_wrong(p, "no such option: %s", word.p);
	buf_free(&line);
	buf_free(&word);
}

/* --- a life --- */

struct play *
play_new(const struct reducer *reducer, const char *options)
{
	struct play *p = xcalloc(1, sizeof *p);

	p->reducer = reducer;
	p->tells = reducer->tells;
	p->now = 1000000;
	p->reading = true;
	p->status = -1;
	buf_init(&p->out, 0);
	buf_init(&p->trace, 0);
	buf_init(&p->meta, 0);
	reducer->begin(p);
	take_options(p, options);
	reducer->start(p);
	return p;
}

static void
facts_clear(struct sent *s)
{
	while (s->n_values > 0)
		free(s->values[--s->n_values]);
}

void
play_free(struct play *p)
{
	size_t i;

	p->reducer->free(p);
	for (i = 0; i < p->n_sent; i++) {
		facts_clear(&p->sent[i]);
		free(p->sent[i].session);
		frame_unref(p->sent[i].frame);
	}
	free(p->sent);
	buf_free(&p->out);
	buf_free(&p->trace);
	buf_free(&p->meta);
	free(p->wrong);
	free(p);
}

void
play_sent(struct play *p, uint64_t ticket, const struct order *order)
{
	struct sent *s;

	if (p->n_sent == p->cap_sent) {
		p->cap_sent = p->cap_sent * 2 + 16;
		p->sent = xrealloc(p->sent, p->cap_sent * sizeof *p->sent);
	}
	s = &p->sent[p->n_sent++];
	*s = (struct sent){ .ticket = ticket,
		.was = ticket,
		.verb = order->verb,
		.facts = { .verb = order->verb,
		    .had_session = order->session.n > 0,
		    .retry_after_ms = -1,
		    .retry_ms = -1 } };
	if (order->session.n > 0)
		s->session = xstrndup(order->session.p, order->session.n);
	if (order->verb == VERB_POST && order->body != NULL)
		s->frame = frame_ref(order->body);
}

/* --- a step --- */

static void
step(struct play *p, struct event *in)
{
	struct event e;

	in->now = p->now;
	in->random = p->random;
	if (!p->reducer->step(p, in))
		play_tell(p, in);
	while (p->reducer->next(p, &e)) {
		if (p->watch != NULL)
			p->watch(p, &e);
		play_tell(p, &e);
	}
}

void
play_step(struct play *p, struct event *in)
{
	struct facts facts;
	struct event end;
	size_t i;

	step(p, in);
	for (i = 0; i < p->n_sent && !p->late; i++) {
		if (!p->sent[i].aborted || p->sent[i].ticket == 0)
			continue;
		facts = p->sent[i].facts;
		facts.ending = ENDING_ABORTED;
		facts.sent = true;
		end = (struct event){ .kind = INPUT_DONE,
			.ticket = p->sent[i].ticket,
			.facts = &facts };
		p->sent[i].ticket = 0;
		step(p, &end);
	}
}

/* --- what came --- */

bool
play_take(struct play *p, struct buf *line)
{
	const char *end = p->out.n == 0 ? NULL :
					  memchr(p->out.p, '\n', p->out.n);

	buf_reset(line);
	if (end == NULL)
		return false;
	buf_add(line, p->out.p, (size_t)(end - p->out.p));
	p->out.n -= line->n + 1;
	memmove(p->out.p, end + 1, p->out.n);
	return true;
}

bool
play_describes(const struct play *p, const char *text)
{
	struct buf page;
	bool says;

	buf_init(&page, 0);
	p->reducer->describe(p, &page);
	says = strstr(buf_str(&page), text) != NULL;
	buf_free(&page);
	return says;
}
