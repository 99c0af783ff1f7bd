/*
 * What an answer that is no result says in words, wherever its server keeps
 * them: JSON-RPC, the JSON errors of frameworks, plain text, a web page.
 */
#ifndef MCPSPLICE_CORE_EXCHANGE_ERROR_TEXT_H
#define MCPSPLICE_CORE_EXCHANGE_ERROR_TEXT_H

#include "base/mem.h"

struct error_text {
	struct buf text;   /* its texts, one on a line */
	unsigned phrases;  /* what they say (core/exchange/phrases) */
	long code;         /* JSON-RPC's; 0: none */
	bool page;         /* it is a web page */
	bool reinitialize; /* data.requiresReinitialize is true */
};

/* Each is given fresh memory and fills it; error_text_free ends its life. */
/* The error object of a JSON-RPC message, checked JSON. */
void error_text_of_error(struct error_text *s, struct span error);
/* Any body; page tells that its type is HTML. The bytes decide the rest. */
void error_text_of_body(struct error_text *s, struct span body, bool page);
/* The texts of a tool's result, checked JSON. */
void error_text_of_result(struct error_text *s, struct span result);
void error_text_free(struct error_text *s);

#endif
