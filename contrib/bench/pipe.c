/*
 * The bare pipe: the least a libevent and libcurl program must do to carry
 * lines to a Streamable HTTP server and answers back. Figures of mcpsplice
 * are given as multiples of this one's.
 *
 * It checks nothing, recovers from nothing and orders nothing: each line of
 * stdin is one POST, each answer is one line of stdout, and the session id
 * of the first answer goes along with everything after it. Easy handles and
 * buffers are kept and used again, as anybody would who wants it fast.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <curl/curl.h>
#include <event2/event.h>

#define PIPE_IN_FLIGHT 1024
#define PIPE_CONNECTS 1024L

struct bytes {
	char *p;
	size_t n;
	size_t size;
};

struct call {
	struct pipe *pipe;
	CURL *easy;
	struct bytes line; /* what is being posted */
	struct bytes body; /* what has come back */
	struct call *next;
};

struct watch {
	struct pipe *pipe;
	struct event *event;
};

struct pipe {
	struct event_base *base;
	struct event *input;
	struct event *timer;
	CURLM *multi;
	const char *url;
	const char *ca_file;
	struct curl_slist *headers;
	struct bytes in;
	size_t in_done;
	size_t in_looked; /* up to here there is no LF */
	struct call *spare;
	unsigned in_flight;
	bool have_session;
	bool eof;
};

static void
die(const char *what)
{
	fprintf(stderr, "pipe: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void
bytes_room(struct bytes *b, size_t more)
{
	if (b->n + more <= b->size)
		return;
	b->size = (b->n + more) * 2;
	b->p = realloc(b->p, b->size);
	if (b->p == NULL)
		die("realloc");
}

static void
bytes_add(struct bytes *b, const char *p, size_t n)
{
	bytes_room(b, n);
	memcpy(b->p + b->n, p, n);
	b->n += n;
}

static void
header_add(struct pipe *p, const char *line)
{
	p->headers = curl_slist_append(p->headers, line);
	if (p->headers == NULL)
		die("curl_slist_append");
}

static void
put(const char *p, size_t n)
{
	ssize_t r;

	while (n > 0) {
		r = write(STDOUT_FILENO, p, n);
		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			die("stdout");
		p += r;
		n -= (size_t)r;
	}
}

/* Prints the data of each event; enough for events of one data line. */
static void
put_events(const struct bytes *b)
{
	const char *p = b->p, *end = b->p + b->n, *eol;

	for (; p < end; p = eol + 1) {
		eol = memchr(p, '\n', (size_t)(end - p));
		if (eol == NULL)
			return;
		if (eol - p > 6 && memcmp(p, "data: ", 6) == 0)
			put(p + 6, (size_t)(eol + 1 - p - 6));
	}
}

static void
put_answer(struct call *c)
{
	const char *type = NULL;

	if (c->body.n == 0)
		return;
	curl_easy_getinfo(c->easy, CURLINFO_CONTENT_TYPE, &type);
	if (type != NULL && strncmp(type, "text/event-stream", 17) == 0) {
		put_events(&c->body);
		return;
	}
	bytes_add(&c->body, "\n", 1);
	put(c->body.p, c->body.n);
}

static size_t
on_body(char *p, size_t size, size_t n, void *arg)
{
	struct call *c = arg;

	bytes_add(&c->body, p, size * n);
	return size * n;
}

static struct call *
call_new(struct pipe *p)
{
	struct call *c = calloc(1, sizeof *c);

	if (c == NULL || (c->easy = curl_easy_init()) == NULL)
		die("out of memory");
	c->pipe = p;
	curl_easy_setopt(c->easy, CURLOPT_URL, p->url);
	curl_easy_setopt(c->easy, CURLOPT_PRIVATE, c);
	curl_easy_setopt(c->easy, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(c->easy, CURLOPT_WRITEDATA, c);
	curl_easy_setopt(c->easy, CURLOPT_HTTP_VERSION,
	    (long)CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(c->easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(c->easy, CURLOPT_NOPROXY, "*");
	if (p->ca_file != NULL) {
		curl_easy_setopt(c->easy, CURLOPT_CAINFO, p->ca_file);
		curl_easy_setopt(c->easy, CURLOPT_CAPATH, NULL);
	}
	return c;
}

static void
call_start(struct pipe *p, const char *line, size_t n)
{
	struct call *c = p->spare;

	if (c != NULL)
		p->spare = c->next;
	else
		c = call_new(p);
	c->body.n = 0;
	c->line.n = 0;
	bytes_add(&c->line, line, n);
	curl_easy_setopt(c->easy, CURLOPT_HTTPHEADER, p->headers);
	curl_easy_setopt(c->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)n);
	curl_easy_setopt(c->easy, CURLOPT_POSTFIELDS, c->line.p);
	if (curl_multi_add_handle(p->multi, c->easy) != CURLM_OK)
		die("curl_multi_add_handle");
	p->in_flight++;
}

static void
start_lines(struct pipe *p)
{
	const char *line, *eol;

	while (p->in_flight < PIPE_IN_FLIGHT && p->in_done < p->in.n) {
		line = p->in.p + p->in_done;
		eol = memchr(p->in.p + p->in_looked, '\n',
		    p->in.n - p->in_looked);
		if (eol == NULL) {
			p->in_looked = p->in.n;
			break;
		}
		call_start(p, line, (size_t)(eol - line));
		p->in_done += (size_t)(eol - line) + 1;
		p->in_looked = p->in_done;
	}
	if (p->in_done == p->in.n)
		p->in.n = p->in_done = p->in_looked = 0;
	if (p->in_flight >= PIPE_IN_FLIGHT || p->eof)
		event_del(p->input);
	else
		event_add(p->input, NULL);
	if (p->eof && p->in_flight == 0)
		event_base_loopbreak(p->base);
}

static void
keep_session(struct pipe *p, CURL *easy)
{
	struct curl_header *h;
	char line[512];

	if (curl_easy_header(easy, "Mcp-Session-Id", 0, CURLH_HEADER, -1, &h) !=
	    CURLHE_OK)
		return;
	snprintf(line, sizeof line, "Mcp-Session-Id: %s", h->value);
	header_add(p, line);
	header_add(p, "MCP-Protocol-Version: 2025-11-25");
	p->have_session = true;
}

static void
reap(struct pipe *p)
{
	struct call *c = NULL;
	CURLMsg *m;
	CURL *easy;
	int left;

	while ((m = curl_multi_info_read(p->multi, &left)) != NULL) {
		easy = m->easy_handle;
		if (m->data.result != CURLE_OK)
			fprintf(stderr, "pipe: %s\n",
			    curl_easy_strerror(m->data.result));
		curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **)&c);
		if (!p->have_session)
			keep_session(p, easy);
		put_answer(c);
		curl_multi_remove_handle(p->multi, easy);
		c->next = p->spare;
		p->spare = c;
		p->in_flight--;
	}
	start_lines(p);
}

static void
on_input(evutil_socket_t fd, short what, void *arg)
{
	struct pipe *p = arg;
	ssize_t n;

	(void)what;
	if (p->in_done > 0) {
		p->in.n -= p->in_done;
		p->in_looked -= p->in_done;
		memmove(p->in.p, p->in.p + p->in_done, p->in.n);
		p->in_done = 0;
	}
	bytes_room(&p->in, 65536);
	n = read(fd, p->in.p + p->in.n, p->in.size - p->in.n);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0)
		p->eof = true;
	else
		p->in.n += (size_t)n;
	start_lines(p);
}

static void
on_socket(evutil_socket_t fd, short what, void *arg)
{
	struct watch *w = arg;
	struct pipe *p = w->pipe;
	int flags = 0, running;

	if (what & EV_READ)
		flags |= CURL_CSELECT_IN;
	if (what & EV_WRITE)
		flags |= CURL_CSELECT_OUT;
	curl_multi_socket_action(p->multi, fd, flags, &running);
	reap(p);
}

static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct pipe *p = arg;
	int running;

	(void)fd;
	(void)what;
	curl_multi_socket_action(p->multi, CURL_SOCKET_TIMEOUT, 0, &running);
	reap(p);
}

static int
set_socket(CURL *easy, curl_socket_t fd, int what, void *arg, void *socketp)
{
	struct pipe *p = arg;
	struct watch *w = socketp;
	short events = EV_PERSIST;

	(void)easy;
	if (w != NULL)
		event_del(w->event);
	if (what == CURL_POLL_REMOVE) {
		if (w != NULL)
			event_free(w->event);
		free(w);
		return 0;
	}
	if (what & CURL_POLL_IN)
		events |= EV_READ;
	if (what & CURL_POLL_OUT)
		events |= EV_WRITE;
	if (w == NULL) {
		w = calloc(1, sizeof *w);
		if (w == NULL)
			die("out of memory");
		w->pipe = p;
		w->event = event_new(p->base, fd, events, on_socket, w);
		curl_multi_assign(p->multi, fd, w);
	} else {
		event_assign(w->event, p->base, fd, events, on_socket, w);
	}
	event_add(w->event, NULL);
	return 0;
}

static int
set_timer(CURLM *multi, long ms, void *arg)
{
	struct pipe *p = arg;
	struct timeval tv;

	(void)multi;
	if (ms < 0) {
		evtimer_del(p->timer);
		return 0;
	}
	tv.tv_sec = ms / 1000;
	tv.tv_usec = (suseconds_t)(ms % 1000) * 1000;
	evtimer_add(p->timer, &tv);
	return 0;
}

int
main(int argc, char **argv)
{
	static struct pipe p;

	if (argc != 2) {
		fprintf(stderr, "usage: pipe URL\n");
		return 2;
	}
	p.url = argv[1];
	p.ca_file = getenv("SSL_CERT_FILE");
	signal(SIGPIPE, SIG_IGN);
	curl_global_init(CURL_GLOBAL_DEFAULT);
	p.base = event_base_new();
	p.multi = curl_multi_init();
	if (p.base == NULL || p.multi == NULL)
		die("start");
	p.timer = evtimer_new(p.base, on_timer, &p);
	p.input = event_new(p.base, STDIN_FILENO, EV_READ | EV_PERSIST,
	    on_input, &p);
	if (evutil_make_socket_nonblocking(STDIN_FILENO) != 0)
		die("stdin");
	header_add(&p, "Content-Type: application/json");
	header_add(&p, "Accept: application/json, text/event-stream");
	header_add(&p, "Expect:");
	curl_multi_setopt(p.multi, CURLMOPT_MAXCONNECTS, PIPE_CONNECTS);
	curl_multi_setopt(p.multi, CURLMOPT_SOCKETFUNCTION, set_socket);
	curl_multi_setopt(p.multi, CURLMOPT_SOCKETDATA, &p);
	curl_multi_setopt(p.multi, CURLMOPT_TIMERFUNCTION, set_timer);
	curl_multi_setopt(p.multi, CURLMOPT_TIMERDATA, &p);
	event_add(p.input, NULL);
	event_base_dispatch(p.base);
	return 0;
}
