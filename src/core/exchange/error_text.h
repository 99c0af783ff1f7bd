/*
 * What an answer that is no result says in words, wherever its server keeps
 * them: JSON-RPC, the JSON errors of frameworks, plain text, a web page.
 */
#ifndef MCPSPLICE_CORE_EXCHANGE_ERROR_TEXT_H
#define MCPSPLICE_CORE_EXCHANGE_ERROR_TEXT_H

#include "base/mem.h"

struct said {
	struct buf text;   /* its texts, one on a line */
	unsigned phrases;  /* what they say (core/exchange/phrases) */
	long code;         /* JSON-RPC's; 0: none */
	bool page;         /* it is a web page */
	bool reinitialize; /* data.requiresReinitialize is true */
};

/* Each is given fresh memory and fills it; said_free ends its life. */
/* The error object of a JSON-RPC message, checked JSON. */
void said_error(struct said *s, struct span error);
/* Any body; page tells that its type is HTML. The bytes decide the rest. */
void said_body(struct said *s, struct span body, bool page);
/* The texts of a tool's result, checked JSON. */
void said_result(struct said *s, struct span result);
void said_free(struct said *s);

#endif
