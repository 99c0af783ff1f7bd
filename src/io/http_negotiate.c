/*
 * Negotiate. libcurl puts a token for the ticket into each request from the
 * start, so that a body is seldom sent twice; without a ticket the request goes
 * out without a token. If there is no ticket, libcurl passes on GSS-API's
 * reason only as text, which names principals and causes, but never a key.
 */
#include "config.h"

#include "io/http_state.h"

#include <stdlib.h>

#include "base/codec.h"
#include "os/desktop.h"

enum { NEGOTIATE_WORDS_MAX = 200 };

/* No ticket is ever forwarded: CURLOPT_GSSAPI_DELEGATION stays off. */
void
http_negotiate_set(struct transfer *x)
{
	const struct http_config *c = &x->h->config;

	if (c->negotiate) {
		SET(x, CURLOPT_HTTPAUTH, CURLAUTH_NEGOTIATE);
		SET(x, CURLOPT_USERPWD, ":");
	}
	if (c->proxy_negotiate) {
		SET(x, CURLOPT_PROXYAUTH, CURLAUTH_NEGOTIATE);
		if (c->proxy_user == NULL)
			SET(x, CURLOPT_PROXYUSERPWD, ":");
	}
	if (c->negotiate || c->proxy_negotiate)
		SET(x, CURLOPT_VERBOSE, 1L);
}

void
http_negotiate_sends(struct transfer *x, struct span head)
{
	/* to a proxy, too */
	if (span_find(head, "uthorization: Negotiate ") != NULL)
		x->ticket_sent = true;
}

void
http_negotiate_heard(struct transfer *x, struct span words)
{
	/* GSS-API, and SSPI */
	static const char *const failed[] = { "gss_init_sec_context() failed: ",
		"InitializeSecurityContext failed: " };
	const char *by = words.n > 0 && *words.p == 'I' ? failed[1] : failed[0];
	size_t at = strlen(by);

	if (words.n < at || memcmp(words.p, by, at) != 0)
		return;
	while (words.n > at && strchr(". \n", words.p[words.n - 1]) != NULL)
		words.n--;
	free(x->no_ticket);
	x->no_ticket = xstrndup(words.p + at, words.n - at);
}

bool
http_negotiate_goes_on(const struct transfer *x, long status)
{
	const struct http_config *c = &x->h->config;

	return (status == 401 && c->negotiate) ||
	    (status == 407 && c->proxy_negotiate);
}

bool
http_negotiate_refused(const struct transfer *x)
{
	return x->status == 401 && x->h->config.negotiate;
}

const char *
http_negotiate_lacks(const struct transfer *x)
{
	/* SSPI says nothing when it has no credentials at all. */
	return x->no_ticket != NULL || x->ticket_sent ? x->no_ticket :
							"there is none";
}

void
http_negotiate_say(const struct transfer *x, struct buf *why)
{
	const char *lacks = http_negotiate_lacks(x);

	if (lacks == NULL) {
		buf_addf(why,
		    "it rejected the Kerberos ticket; \"klist\" shows whose "
		    "it is and when it expires; to get another, %s",
		    os_ticket_advice);
		return;
	}
	buf_addf(why, "it requires a Kerberos ticket: %s (", os_ticket_advice);
	codec_visible(why, span_of(lacks), NEGOTIATE_WORDS_MAX);
	buf_adds(why, ")");
}
