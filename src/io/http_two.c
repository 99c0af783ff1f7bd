/*
 * HTTP/2. Many exchanges share a connection, so it is not closed when one of
 * them is given up, and its age says nothing: this file decides when it is no
 * longer used. A request that the server refuses unprocessed (REFUSED_STREAM,
 * or a stream above the last one of a GOAWAY; RFC 9113 section 8.7) was not
 * sent, whatever it is.
 */
#include "config.h"

#include "io/http_state.h"

#include <stdio.h>
#include <strings.h>

#include "base/log.h"

static bool
starts(const char *words, const char *with)
{
	return strncmp(words, with, strlen(with)) == 0;
}

/* Takes the number of a stream, in the words before 8.4 and those since, or of
 * the last stream that the server processes, which goes for all exchanges of
 * the connection. */
static void
take_numbers(struct transfer *x, const char *words)
{
	struct transfer *y;
	unsigned long last;

	if (sscanf(words, "Using Stream ID: %lu", &x->stream) == 1 ||
	    sscanf(words, "[HTTP/2] [%lu]", &x->stream) == 1 ||
	    sscanf(words, "rec%*[deiv] GOAWAY, error=%*u, last_stream=%lu",
		&last) != 1)
		return;
	for (y = x->h->first; y != NULL && x->connection != NULL; y = y->next)
		if (y->connection == x->connection && y->stream > last &&
		    y->status == 0)
			y->began = false;
}

/* The request was not processed, and libcurl takes it to another connection. */
static void
leave(struct transfer *x)
{
	x->began = false;
	connection_give_back(x->connection);
	x->connection = NULL;
}

/* Only in words does libcurl say that the server has not processed a request,
 * or that it asks for HTTP/1.1, which later requests then get. A refused stream
 * libcurl sends again by itself, on another connection and 5 times at most;
 * http_on_prereq allows that for what was not sent. The words have been the
 * same from 7.85 to 8.21, those of GOAWAY from 7.88 on. Without them a request
 * counts as sent. */
static int
http_on_words(CURL *easy, curl_infotype type, char *p, size_t n, void *arg)
{
	struct transfer *x = arg;
	size_t size = n;
	char words[128];

	(void)easy;
	if (type == CURLINFO_HEADER_OUT)
		http_negotiate_sends(x, (struct span){ p, size });
	if (type != CURLINFO_TEXT)
		return 0;
	if (n >= sizeof words)
		n = sizeof words - 1;
	memcpy(words, p, n);
	words[n] = '\0';
	http_negotiate_heard(x, (struct span){ p, size });
	http_way_heard(x, words);
	if (starts(words, "REFUSED_STREAM, retrying"))
		leave(x);
	else if (starts(words, "Downgrades to HTTP/1.1"))
		x->h->config.http2 = false;
	else
		take_numbers(x, words);
	return 0;
}

void
http_two_set(struct transfer *x)
{
	SET(x, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	SET(x, CURLOPT_DEBUGFUNCTION, http_on_words);
	SET(x, CURLOPT_DEBUGDATA, x);
}

/* On a connection that was used before, libcurl sends any request again that
 * got no byte of an answer, and does not ask why. With CURL_RTSPREQ_RECEIVE,
 * which means nothing else to HTTP, it asks. A libcurl without RTSP refuses the
 * option, and http_on_prereq the second request. */
void
http_two_choose(struct transfer *x)
{
	bool two = x->h->config.http2 && !x->h->config.negotiate &&
	    strncasecmp(x->url, "https:", 6) == 0;

	if (two == x->may_be_two)
		return;
	x->may_be_two = two;
	SET(x, CURLOPT_HTTP_VERSION,
	    (long)(two ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1));
	SET(x, CURLOPT_PIPEWAIT, (long)two);
	SET(x, CURLOPT_VERBOSE, (long)(two || x->h->config.proxy_negotiate));
	(void)curl_easy_setopt(x->easy, CURLOPT_RTSP_REQUEST,
	    (long)(two ? CURL_RTSPREQ_RECEIVE : CURL_RTSPREQ_OPTIONS));
}

bool
http_two_shared(const struct transfer *x)
{
	return x->may_be_two && x->h->two;
}

void
http_two_heard(struct transfer *x)
{
	long version = 0;

	if (x->may_be_two) {
		curl_easy_getinfo(x->easy, CURLINFO_HTTP_VERSION, &version);
		x->h->two = version == CURL_HTTP_VERSION_2_0;
	}
	connection_heard(x->connection, http_two_shared(x));
}

/* Others may have forgotten it already. */
void
http_two_stale(struct transfer *x)
{
	if (http_two_shared(x) && connections_is_latest(x->multi) &&
	    connections_forget(x->h->connections))
		http_todo_wake(x->h);
}

/* A server may end TLS and leave TCP open. Then libcurl reads the end for one
 * exchange, and the system has nothing to tell it for the others. */
static void
let_others_look(const struct transfer *x)
{
	struct transfer *y;

	for (y = x->h->first; y != NULL && x->connection != NULL; y = y->next)
		if (y != x && y->connection == x->connection) {
			y->looks = true;
			http_todo_add(y);
		}
}

/* Does the answer break the rules of HTTP/2? Some servers send headers of
 * HTTP/1.1 there, such as Connection (RFC 9113 8.2.2). libcurl 7.88 has one
 * sentence for each end of a stream; later versions then first say what is
 * wrong. Other errors of a stream are the server's own: it gives a request up. */
static bool
is_broken(const struct transfer *x, CURLcode rc)
{
	return rc == CURLE_HTTP2 ||
	    (rc == CURLE_HTTP2_STREAM &&
		(strstr(x->error, "PROTOCOL_ERROR") != NULL ||
		    !starts(x->error, "HTTP/2 stream ")));
}

/* libcurl may keep in an easy handle, from one request to the next, that a
 * stream was refused; so the handle of a failed one goes. */
bool
http_two_over(struct transfer *x, CURLcode rc, enum http_end end)
{
	if (!x->may_be_two || end == HTTP_DONE)
		return true;
	if (is_broken(x, rc) && x->h->config.http2) {
		x->h->config.http2 = false;
		log_decision("a broken HTTP/2 answer (%s): using HTTP/1.1 "
			     "from now on",
		    x->error);
		if (connections_forget(x->h->connections))
			http_todo_wake(x->h);
	}
	if (end != HTTP_IDLE && end != HTTP_ABORTED)
		let_others_look(x);
	else if (connection_silence(x->connection) >= HTTP_SILENT_MS)
		http_two_stale(x);
	return false;
}
