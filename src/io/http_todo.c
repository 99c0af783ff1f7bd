/* The to-do list: a queue through the transfers themselves. */
#include "config.h"

#include "io/http_todo.h"

void
http_todo_wake(struct http *h)
{
	if (h->deferred)
		return;
	h->deferred = true;
	loop_defer(h->l, h->on_turn_end, h);
}

void
http_todo_add(struct transfer *x)
{
	struct http *h = x->h;

	if (x->todo)
		return;
	x->todo = true;
	x->todo_next = NULL;
	*h->todo_end = x;
	h->todo_end = &x->todo_next;
	http_todo_wake(h);
}

void
http_todo_remove(struct transfer *x)
{
	struct http *h = x->h;
	struct transfer **p;

	if (!x->todo)
		return;
	for (p = &h->todo; *p != x; p = &(*p)->todo_next)
		;
	*p = x->todo_next;
	if (h->todo_end == &x->todo_next)
		h->todo_end = p;
	x->todo = false;
}
