/*
 * The structures of io/http, for its files only.
 *
 * Invariants:
 *  - no multi function and no pause is called while libcurl is on the stack:
 *    http_send, http_abort and http_pause only put the transfer on the to-do
 *    list, which is worked through at the end of the turn; done is called from
 *    there too, or from the loop's own callbacks;
 *  - each transfer in use is on the active list;
 *  - an easy handle keeps its transfer for life, so that the constant options
 *    are set once; transfers are pooled, never reset.
 */
#ifndef MCPSPLICE_IO_HTTP_STATE_H
#define MCPSPLICE_IO_HTTP_STATE_H

#include <curl/curl.h>

#include "base/mem.h"
#include "io/authorities.h"
#include "io/connections.h"
#include "io/cookies.h"
#include "io/http.h"

enum {
	HTTP_SMALL_BODY_BYTES = 64 * 1024, /* such a body is sent at once */
	/* A new libcurl keeps a buffer of this size while a request is open,
	 * however small its body is. This is the least that it takes. */
	HTTP_SMALL_BUFFER_BYTES = 16 * 1024,
	HTTP_LARGE_BUFFER_BYTES = 64 * 1024
};

struct http {
	struct loop *l;
	struct http_config config;
	struct connections *connections;
	CURLSH *share;
	struct loop_timer *idle;      /* one timer for all transfers */
	int64_t idle_at;              /* when it fires; 0: it does not run */
	struct loop_timer *next_turn; /* goes on with what was held for it */
	struct transfer *active;
	struct transfer *spare;
	unsigned nspare;
	struct transfer *todo, **todo_end;
	loop_cb *on_turn_end; /* works through the to-do list */
	bool deferred;        /* on_turn_end will be called */
	struct curl_slist *resolve;
	char *codings; /* the line of Accept-Encoding; NULL: libcurl's */
	struct curl_slist *agent; /* the line of User-Agent; NULL: none */
	struct cookies cookies;
	struct authorities authorities;
	bool authorities_chosen; /* else no request needed them yet */
	bool two;                /* the last answer came in HTTP/2 */
	bool answered;           /* the server has answered a request */
	bool connected;     /* if watched: a socket was that is closed now */
	int64_t doubted_at; /* when the way to the server was last in doubt */
	bool raw;           /* bodies are not decoded */
	char *asked_url;    /* http_takes_proxy was asked last about it, */
	bool takes_proxy;   /* and this was its answer */
};

struct transfer {
	struct http *h;
	struct multi *multi; /* what runs it; NULL: it does not run */
	CURL *easy;
	CURLcode refused;              /* first error of curl_easy_setopt */
	struct transfer *next, **prev; /* active list; spare list by next */
	struct transfer *todo_next, **todo_prev; /* todo_prev is NULL when x is
						  * not on the to-do list */
	struct http_ops ops;
	void *arg;
	char *url;
	CURLU *parsed_url;
	struct curl_slist *lines; /* an array, linked, and its text after it */
	size_t lines_bytes;
	bool is_other;        /* the last request was neither POST nor GET */
	bool fresh;           /* the last request wanted a new connection */
	bool may_be_two;      /* the last request may go out in HTTP/2 */
	unsigned long stream; /* of HTTP/2, for what was sent; 0: not known */
	int64_t max_idle_ms;
	bool proof, wary, opens;
	size_t cookies_set; /* as the cookies count it, without what came by
			     * other answers since the request was sent */
	struct connection *connection; /* what the request was written to; NULL:
					* none yet, or it is not known */
	bool stale;   /* the connection that libcurl chose was not good enough,
		       * and the transfer has to start again */
	bool trusts;  /* h->authorities are set */
	bool proxied; /* the URL is reached through a proxy */
	int64_t idle_ms;
	int64_t expires;     /* end of the transfer in any case; 0: none */
	int64_t heard;       /* when the last byte came */
	int64_t turn_at;     /* the turn of the loop in which so many */
	size_t turn_bytes;   /* bytes of the body were taken */
	int64_t written;     /* when the last byte of the request went out */
	curl_off_t out;      /* bytes of the body sent so far */
	curl_off_t uploaded; /* bytes sent at the last idle timer */
	size_t body_bytes;   /* progress callbacks are on for a body that is
			      * not small */
	size_t head_bytes;   /* includes 1xx and trailers */
	int status; /* what ops.head was called with; 0: it was not called */
	bool abort;
	bool paused;         /* the caller wants a pause */
	bool held;           /* the write callback paused the transfer */
	bool looks;          /* its connection may have ended */
	bool began;          /* libcurl began to write the request, and the
			      * server did not refuse it unprocessed */
	long written_before; /* bytes that libcurl wrote before that, as it
			      * counts them */
	curl_off_t uploaded_before; /* bytes of a body likewise */
	bool again;      /* after a 401 or 407 to a ticket the request may be
		       * written once more */
	char *no_ticket; /* why there is none, in the words of GSS-API; NULL:
			  * nothing is known */
	bool asks;       /* config.allow is asked: the URL is reached without a
			 * proxy */
	bool denied;     /* config.allow refused an address */
	bool let;        /* config.allow took an address */
	bool opened;     /* a socket was opened for it */
	bool reached;    /* and closed again while it was connected */
	bool too_large;
	struct way_notes *notes; /* of http_way; NULL: it is not watched */
	char error[CURL_ERROR_SIZE];
};

/* Sets an option and remembers the first error; a transfer with an error ends
 * as HTTP_CONFIG. */
#define SET(x, option, value)                                                  \
	do {                                                                   \
		CURLcode set_rc;                                               \
		set_rc = curl_easy_setopt((x)->easy, option, value);           \
		if ((x)->refused == CURLE_OK)                                  \
			(x)->refused = set_rc;                                 \
	} while (0)

#endif
