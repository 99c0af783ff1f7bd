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

	if (x->todo_prev != NULL)
		return;
	x->todo_next = NULL;
	x->todo_prev = h->todo_end;
	*h->todo_end = x;
	h->todo_end = &x->todo_next;
	http_todo_wake(h);
}

void
http_todo_remove(struct transfer *x)
{
	if (x->todo_prev == NULL)
		return;
	*x->todo_prev = x->todo_next;
	if (x->todo_next != NULL)
		x->todo_next->todo_prev = x->todo_prev;
	else
		x->h->todo_end = x->todo_prev;
	x->todo_prev = NULL;
}
