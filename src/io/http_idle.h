/* The end of transfers that are silent or have no more time. */
#ifndef MCPSPLICE_IO_HTTP_IDLE_H
#define MCPSPLICE_IO_HTTP_IDLE_H

#include "io/http_state.h"

/* Lets the timer fire at this time (loop_now), or earlier. */
void http_idle_watch(struct http *h, int64_t at);
/* The callback of h->idle: ends what is late, and sets the timer again. arg is
 * the http object. */
void http_idle_on_timer(void *arg);

#endif
