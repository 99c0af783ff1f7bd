/*
 * What a transfer failed of, in words for users: the cause as a clause, and one
 * remedy as a sentence without its full stop. It has no state and asks nobody:
 * what is known of the failure goes in, words come out.
 */
#ifndef MCPSPLICE_IO_HTTP_WHY_H
#define MCPSPLICE_IO_HTTP_WHY_H

#include <curl/curl.h>

#include "base/mem.h"
#include "io/http.h"

struct http_failure {
	enum http_end end;
	CURLcode result;
	const char *text; /* libcurl's words; may be "" */
	int os_error;     /* errno of the connection; 0: not known */
	int proxy_status; /* of a CONNECT, else 0 */
	bool of_proxy;    /* the proxy failed, not the server */
	bool https;       /* the URL's scheme */
	bool loopback;    /* the URL's host */
	bool fresh;       /* the connection was made for this transfer */
	bool answered;    /* the server has answered before, so it speaks this
			   * scheme */
	bool reached;     /* there was a connection to the server */
	const char *host; /* of the URL */
	/* What libcurl says of the server's certificate, "NAME:VALUE" for each
	 * item; NULL: nothing. */
	const struct curl_slist *certificate;
	int64_t now; /* of the clock of this machine, in s since 1970 */
	const struct http_config *config;
	/* Why there is no Kerberos ticket, in the words of GSS-API; NULL:
	 * nothing is known. */
	const char *no_ticket;
};

/* Appends the cause and the remedy. The remedy may stay empty. */
void http_why(const struct http_failure *f, struct buf *why,
    struct buf *remedy);

#endif
