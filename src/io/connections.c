/* The multi handles, driven by their socket and timer callbacks. */
#include "config.h"

#include "io/connections.h"

#include <stdlib.h>

#include "base/log.h"
#include "io/http_finish.h"

enum { HTTP_CACHE_SPARE = 16 }; /* connections kept above max_inflight */

/* Only notes the time: libcurl changes it several times per request. */
static int
http_on_timer_wanted(CURLM *curl, long ms, void *arg)
{
	struct multi *m = arg;

	(void)curl;
	m->timer_ms = ms;
	m->timer_changed = true;
	return 0;
}

/* Reports the transfers that ended and sets libcurl's timer. Called after each
 * call of libcurl that may have changed something. */
void
connections_settle(struct multi *m)
{
	struct transfer *x;
	CURLMsg *message;
	CURLcode rc;
	char *private;
	int left;

	while ((message = curl_multi_info_read(m->curl, &left)) != NULL) {
		if (message->msg != CURLMSG_DONE)
			continue;
		/* Removing the handle frees the message. */
		rc = message->data.result;
		private = NULL;
		curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE,
		    &private);
		x = (struct transfer *)(void *)private;
		http_finish(x, rc);
	}
	if (m->timer_changed) {
		m->timer_changed = false;
		loop_timer_set(m->timer, m->timer_ms);
	}
}

void
connections_drive(struct multi *m, curl_socket_t fd, int what)
{
	int running;

	curl_multi_socket_action(m->curl, fd, what, &running);
	connections_settle(m);
}

static void
http_on_timer(void *arg)
{
	connections_drive(arg, CURL_SOCKET_TIMEOUT, 0);
}

static void
http_on_ready(int fd, int what, void *arg)
{
	int bits;

	bits = 0;
	if (what & LOOP_READ)
		bits |= CURL_CSELECT_IN;
	if (what & LOOP_WRITE)
		bits |= CURL_CSELECT_OUT;
	connections_drive(arg, fd, bits);
}

static void
watch_free(struct watch *w)
{
	loop_fd_free(w->fd);
	*w->prev = w->next;
	if (w->next != NULL)
		w->next->prev = w->prev;
	free(w);
}

static struct watch *
watch_new(struct multi *m, int fd)
{
	struct watch *w;

	w = xcalloc(1, sizeof *w);
	w->next = m->watches;
	w->prev = &m->watches;
	if (w->next != NULL)
		w->next->prev = &w->next;
	m->watches = w;
	curl_multi_assign(m->curl, fd, w);
	return w;
}

/* Keeps one interest per descriptor, which is deleted and added again on a
 * change. After CURL_POLL_REMOVE libcurl has forgotten w, and fd may be another
 * file. */
static int
http_on_interest(CURL *easy, curl_socket_t fd, int poll, void *arg,
    void *socketp)
{
	struct multi *m = arg;
	struct watch *w = socketp;
	int what;

	(void)easy;
	if (poll == CURL_POLL_REMOVE) {
		if (w != NULL)
			watch_free(w);
		return 0;
	}
	what = 0;
	if (poll & CURL_POLL_IN)
		what |= LOOP_READ;
	if (poll & CURL_POLL_OUT)
		what |= LOOP_WRITE;
	if (w == NULL)
		w = watch_new(m, fd);
	if (w->fd != NULL && w->what == what)
		return 0;
	loop_fd_free(w->fd);
	w->what = what;
	w->fd = loop_fd_new(m->h->l, fd, what, http_on_ready, m);
	if (w->fd == NULL)
		log_error("cannot wait for a connection (descriptor %d)", fd);
	return 0;
}

static void
multi_setup(struct multi *m)
{
	const struct http_config *c = &m->h->config;

	curl_multi_setopt(m->curl, CURLMOPT_SOCKETFUNCTION, http_on_interest);
	curl_multi_setopt(m->curl, CURLMOPT_SOCKETDATA, m);
	curl_multi_setopt(m->curl, CURLMOPT_TIMERFUNCTION,
	    http_on_timer_wanted);
	curl_multi_setopt(m->curl, CURLMOPT_TIMERDATA, m);
	/* A smaller cache would make each call open a new connection. */
	curl_multi_setopt(m->curl, CURLMOPT_MAXCONNECTS,
	    (long)c->max_inflight + HTTP_CACHE_SPARE);
	if (!c->http2)
		curl_multi_setopt(m->curl, CURLMOPT_PIPELINING,
		    (long)CURLPIPE_NOTHING);
}

/* Adds a multi handle as the first of h. Returns -1 if libcurl cannot make
 * one. */
int
connections_add(struct http *h)
{
	struct multi *m;
	CURLM *curl;

	curl = curl_multi_init();
	if (curl == NULL)
		return -1;
	m = xcalloc(1, sizeof *m);
	m->h = h;
	m->curl = curl;
	m->timer = loop_timer_new(h->l, http_on_timer, m);
	multi_setup(m);
	m->next = h->multis;
	h->multis = m;
	return 0;
}

/* Frees a multi handle without transfers. The order matters: libcurl still
 * calls http_on_interest while it closes its connections. */
void
connections_free(struct multi *m)
{
	curl_multi_cleanup(m->curl);
	while (m->watches != NULL)
		watch_free(m->watches);
	loop_timer_free(m->timer);
	free(m);
}

/* Frees the forgotten multi handles that have no transfer left. */
void
connections_drop_ended(struct http *h)
{
	struct multi **at = &h->multis->next, *m;

	while ((m = *at) != NULL) {
		if (m->running > 0) {
			at = &m->next;
			continue;
		}
		*at = m->next;
		connections_free(m);
	}
}
