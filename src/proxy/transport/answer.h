/* Answers of the server. */
#ifndef MCPSPLICE_PROXY_TRANSPORT_ANSWER_H
#define MCPSPLICE_PROXY_TRANSPORT_ANSWER_H

#include "core/exchange/facts.h"
#include "io/http.h"
#include "proxy/transport/state.h"

enum ending ending_of(enum http_end end);

/* What io/http calls with an answer; its argument is the exchange. */
extern const struct http_ops answer_ops;
/* Reports the end of the exchange, with its body. */
void answer_conclude(struct exchange *t);
/* Frees what tells the heads at the end of the turn. */
void answer_forget_heads(struct streamable *u);

#endif
