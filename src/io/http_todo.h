/* The transfers that wait for the end of the turn. */
#ifndef MCPSPLICE_IO_HTTP_TODO_H
#define MCPSPLICE_IO_HTTP_TODO_H

#include "io/http_state.h"

/* Lets h->on_turn_end be called once, at the end of this turn. */
void http_todo_wake(struct http *h);
/* Adds x as the last of the list, if it is not there already. */
void http_todo_add(struct transfer *x);
/* Takes x from the list, if it is there. */
void http_todo_remove(struct transfer *x);

#endif
