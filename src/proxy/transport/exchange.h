/* The life of an exchange, and when it pauses. */
#ifndef MCPSPLICE_PROXY_TRANSPORT_EXCHANGE_H
#define MCPSPLICE_PROXY_TRANSPORT_EXCHANGE_H

#include "proxy/transport/state.h"

/* Returns NULL if there is none with this ticket. */
struct exchange *exchange_find(const struct streamable *u, uint64_t ticket);
/* Forgets all facts, as nothing has happened yet. */
void exchange_clear_facts(struct exchange *t);
/* Forgets everything of one answer; a redirect starts another. */
void exchange_clear_answer(struct exchange *t);
/* Reports an event of this exchange, and the head with it if that is due. Sets
 * the ticket and the facts of e. */
void exchange_tell(struct exchange *t, struct event *e);
/* Reports t->facts as its end, with the message that was its body, or NULL, and
 * frees the exchange. */
void exchange_end(struct exchange *t, struct frame *body);
void exchange_free(struct exchange *t);

/* Do exchanges that start now have to pause? */
bool exchange_is_full(const struct streamable *u);
/* Leaves a control order with a small answer alone. */
void exchange_pause(struct exchange *t, bool paused);
/* stdout takes no more, or it does again: pauses what has to pause. */
void exchange_stdout_full(struct streamable *u, bool full);
/* Notes that the exchange now holds this many bytes of a partial message. One
 * read may bring the end of a message and the beginning of the next. */
void exchange_count_held(struct exchange *t, size_t held);
/* Notes that the answer grew by n bytes. */
void exchange_count_bytes(struct exchange *t, size_t n);

#endif
