/*
 * The words in an answer that is not a result, wherever the server puts them:
 * JSON-RPC, the JSON errors of frameworks, plain text, a web page. (Our own
 * errors are in fault_rows.h.)
 */
#ifndef MCPSPLICE_CORE_EXCHANGE_SERVER_WORDS_H
#define MCPSPLICE_CORE_EXCHANGE_SERVER_WORDS_H

#include "base/mem.h"

struct server_words {
	struct buf text;  /* the texts, one per line */
	unsigned phrases; /* set of enum phrase found in them */
	long code;        /* JSON-RPC error code; 0: none */
	bool page;        /* the body is a web page */
	bool no_sense;    /* set by the caller: it has no words of its own */
};

/* Each of these functions initializes *s and fills it; free it with
 * server_words_free. */
/* Reads the error object of a JSON-RPC message, which is checked JSON. */
void server_words_of_error(struct server_words *s, struct span error);
/* Reads any body. page: its media type is HTML. Whether it is JSON or plain
 * text is decided by its bytes. */
void server_words_of_body(struct server_words *s, struct span body, bool page);
/* Reads the texts of a tool's result, which is checked JSON. */
void server_words_of_result(struct server_words *s, struct span result);
void server_words_free(struct server_words *s);

#endif
