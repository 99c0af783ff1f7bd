/*
 * Lines over HTTP by the driver itself.
 */
#include "web.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "answer.h"

#define WEB_READ (256 * 1024)
#define WEB_HEAD 1024
#define WEB_EVENTS 64

struct conn {
	int fd;
	struct answer answer;
	struct lines lines;
	struct conn *idle; /* the next idle one */
	struct conn *next; /* the next of all */
};

struct web {
	char url[256];
	const char *path;
	int epoll;
	char session[128];
	struct conn *conns;
	struct conn *idle;
	struct conn *current; /* whose lines are given out */
	struct epoll_event ready[WEB_EVENTS];
	int n_ready;
	char buf[WEB_READ];
};

struct web *
web_new(const char *url)
{
	struct web *w = calloc(1, sizeof *w);

	if (w == NULL || (w->epoll = epoll_create1(EPOLL_CLOEXEC)) < 0) {
		perror("web");
		exit(1);
	}
	snprintf(w->url, sizeof w->url, "%s", url);
	w->path = strchr(w->url + strlen("http://"), '/');
	return w;
}

void
web_free(struct web *w)
{
	struct conn *c;

	while ((c = w->conns) != NULL) {
		w->conns = c->next;
		close(c->fd);
		lines_free(&c->lines);
		free(c);
	}
	close(w->epoll);
	free(w);
}

static struct conn *
conn_new(struct web *w)
{
	struct epoll_event e = { .events = EPOLLIN };
	struct conn *c;
	int fd = answer_connect(w->url);

	if (fd < 0 || (c = calloc(1, sizeof *c)) == NULL)
		return NULL;
	c->fd = fd;
	c->next = w->conns;
	w->conns = c;
	e.data.ptr = c;
	epoll_ctl(w->epoll, EPOLL_CTL_ADD, fd, &e);
	return c;
}

/* A blocking socket takes all at once. */
int
web_send(struct web *w, const char *line, size_t n)
{
	struct conn *c = w->idle;
	char head[WEB_HEAD];
	struct iovec iov[2] = { { head, 0 }, { (char *)line, n } };

	if (c != NULL)
		w->idle = c->idle;
	else if ((c = conn_new(w)) == NULL)
		return -1;
	iov[0].iov_len = (size_t)answer_post(head, sizeof head, w->path,
	    w->session, n);
	n += iov[0].iov_len;
	return writev(c->fd, iov, 2) == (ssize_t)n ? 0 : -1;
}

static bool
conn_read(struct web *w, struct conn *c)
{
	ssize_t n = recv(c->fd, w->buf, sizeof w->buf, MSG_DONTWAIT);

	if (n < 0 && errno == EAGAIN)
		return true;
	if (n <= 0 ||
	    answer_feed(&c->answer, w->buf, (size_t)n, &c->lines) != n)
		return false;
	if (w->session[0] == '\0')
		memcpy(w->session, c->answer.session, sizeof w->session);
	if (c->answer.done && c->answer.status >= 300)
		return false;
	if (c->answer.done) {
		c->idle = w->idle;
		w->idle = c;
	}
	return true;
}

char *
web_line(struct web *w, int ms)
{
	char *line;

	for (;;) {
		if (w->current != NULL &&
		    (line = lines_next(&w->current->lines, NULL)) != NULL)
			return line;
		if (w->n_ready == 0) {
			w->current = NULL;
			if (ms == 0)
				return NULL;
			w->n_ready = epoll_wait(w->epoll, w->ready, WEB_EVENTS,
			    ms);
			if (w->n_ready <= 0) {
				w->n_ready = 0;
				return NULL;
			}
		}
		w->current = w->ready[--w->n_ready].data.ptr;
		if (!conn_read(w, w->current))
			return NULL;
	}
}
