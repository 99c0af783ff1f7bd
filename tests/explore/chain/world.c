/* The world of a life: what all of its parts need. */
#include "config.h"

#include "explore/chain/world.h"

#include <stdarg.h>
#include <stdlib.h>

unsigned
choices_below(struct choices *c, unsigned n)
{
	uint64_t x;

	if (c->bytes != NULL) {
		if (c->n == 0)
			return 0;
		c->n--;
		return *c->bytes++ % n;
	}
	x = c->seed += 0x9e3779b97f4a7c15u;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return (unsigned)((x ^ (x >> 31)) % n);
}

unsigned
below(struct world *w, unsigned n)
{
	return choices_below(w->choices, n);
}

bool
percent(struct world *w, unsigned n)
{
	return choices_percent(w->choices, n);
}

void
breaks(struct world *w, const char *rule)
{
	if (w->broken == NULL)
		w->broken = rule;
}

bool
is_alive(const struct world *w, size_t i)
{
	return w->p->sent[i].ticket != 0;
}

bool
is_open(const struct world *w, unsigned request)
{
	const struct request *r = &w->requests[request];

	return !r->answered && !r->cancelled;
}

bool
is_wanted(const struct world *w, int thing)
{
	unsigned i;

	for (i = 0; thing >= 0 && i < w->n_requests; i++)
		if ((int)w->requests[i].thing == thing && is_open(w, i))
			return true;
	return false;
}

unsigned
open_requests(const struct world *w)
{
	unsigned n = 0, i;

	for (i = 0; i < w->n_requests; i++)
		n += is_open(w, i);
	return n;
}

int
number_in(struct span raw, int from)
{
	size_t i = 0;
	int n = 0;

	if (raw.n > 0 && raw.p[0] == '"')
		i = 1;
	while (i < raw.n && (raw.p[i] < '0' || raw.p[i] > '9'))
		i++;
	if (i == raw.n)
		return NOBODY;
	for (; i < raw.n && raw.p[i] >= '0' && raw.p[i] <= '9'; i++)
		n = n > 100000 ? n : n * 10 + raw.p[i] - '0';
	return n < from ? NOBODY : n - from;
}

void
input(struct world *w, const char *fmt, ...)
{
	va_list ap;
	char *line;

	if (w->broken != NULL || w->p->status >= 0)
		return;
	va_start(ap, fmt);
	line = xvasprintf(fmt, ap);
	va_end(ap);
	if (!play_input(w->p, line))
		breaks(w, "the explorer speaks a wrong language");
	if (w->p->spins)
		breaks(w, "the deadline comes for ever");
	buf_reset(&w->p->out);
	free(line);
	w->asking = NOBODY;
	while (w->first_alive < w->n_exchanges && !is_alive(w, w->first_alive))
		w->first_alive++;
	check_time(w);
}
