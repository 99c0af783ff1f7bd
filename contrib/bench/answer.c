/*
 * Reads the answers on an HTTP/1.1 connection.
 */
#include "answer.h"

#include <sys/socket.h>

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define DATA "data: "
#define DATA_N (sizeof DATA - 1)

static void
head_line(struct answer *a)
{
	const char *t = a->text;

	if (strncmp(t, "HTTP/1.1 ", 9) == 0)
		a->status = (int)strtol(t + 9, NULL, 10);
	else if (strncasecmp(t, "Content-Length: ", 16) == 0)
		a->left = strtoul(t + 16, NULL, 10);
	else if (strncasecmp(t, "Transfer-Encoding: chunked", 26) == 0)
		a->chunked = true;
	else if (strncasecmp(t, "Content-Type: text/event-stream", 31) == 0)
		a->events = true;
	else if (strncasecmp(t, "Mcp-Session-Id: ", 16) == 0)
		snprintf(a->session, sizeof a->session, "%s", t + 16);
}

static void
begin(struct answer *a)
{
	a->part = ANSWER_HEAD;
	a->status = 0;
	a->chunked = a->events = a->some = a->done = false;
	a->left = a->matched = 0;
}

static void
end(struct answer *a, struct lines *out)
{
	if (a->some && !a->events)
		lines_add(out, "\n", 1);
	a->done = true;
}

/* A whole line of the head or of the chunks. 0, or -1 */
static int
line(struct answer *a, struct lines *out)
{
	switch (a->part) {
	case ANSWER_HEAD:
		head_line(a);
		if (a->text_n > 0)
			break;
		if (a->status < 200)
			return -1;
		a->part = a->chunked ? ANSWER_CHUNK_SIZE : ANSWER_BODY;
		if (!a->chunked && a->left == 0)
			end(a, out);
		break;
	case ANSWER_CHUNK_SIZE:
		a->left = strtoul(a->text, NULL, 16);
		a->part = a->left > 0 ? ANSWER_BODY : ANSWER_TRAILER;
		break;
	case ANSWER_CHUNK_END:
		if (a->text_n > 0)
			return -1;
		a->part = ANSWER_CHUNK_SIZE;
		break;
	default:
		if (a->text_n == 0)
			end(a, out);
	}
	return 0;
}

/* Takes up to the end of a line. How much, or -1 */
static long
take_line(struct answer *a, const char *p, size_t n, struct lines *out)
{
	const char *eol = memchr(p, '\n', n);
	size_t take = eol == NULL ? n : (size_t)(eol + 1 - p);

	if (a->text_n + take >= sizeof a->text)
		return -1;
	memcpy(a->text + a->text_n, p, take);
	a->text_n += take;
	if (eol == NULL)
		return (long)take;
	a->text_n--;
	if (a->text_n > 0 && a->text[a->text_n - 1] == '\r')
		a->text_n--;
	a->text[a->text_n] = '\0';
	if (line(a, out) != 0)
		return -1;
	a->text_n = 0;
	return (long)take;
}

/* Adds the data of the events. */
static void
take_events(struct answer *a, const char *p, size_t n, struct lines *out)
{
	const char *stop = p + n, *eol, *next;

	for (; p < stop; p = next) {
		while (p < stop && a->matched < DATA_N &&
		    *p == DATA[a->matched]) {
			a->matched++;
			p++;
		}
		eol = memchr(p, '\n', (size_t)(stop - p));
		next = eol == NULL ? stop : eol + 1;
		if (a->matched == DATA_N)
			lines_add(out, p, (size_t)(next - p));
		else if (p < stop)
			a->matched = DATA_N + 1;
		if (eol != NULL)
			a->matched = 0;
	}
}

static long
take_body(struct answer *a, const char *p, size_t n, struct lines *out)
{
	size_t take = n < a->left ? n : a->left;

	if (a->events)
		take_events(a, p, take, out);
	else
		lines_add(out, p, take);
	a->some = true;
	a->left -= take;
	if (a->left > 0)
		return (long)take;
	if (a->chunked)
		a->part = ANSWER_CHUNK_END;
	else
		end(a, out);
	return (long)take;
}

long
answer_feed(struct answer *a, const char *p, size_t n, struct lines *out)
{
	size_t took = 0;
	long r;

	if (a->done)
		begin(a);
	while (took < n && !a->done) {
		if (a->part == ANSWER_BODY)
			r = take_body(a, p + took, n - took, out);
		else
			r = take_line(a, p + took, n - took, out);
		if (r < 0)
			return -1;
		took += (size_t)r;
	}
	return (long)took;
}

int
answer_post(char *out, size_t size, const char *path, const char *session,
    size_t n)
{
	return snprintf(out, size,
	    "POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\n"
	    "Content-Type: application/json\r\n"
	    "Accept: application/json, text/event-stream\r\n"
	    "%s%s%sContent-Length: %zu\r\n\r\n",
	    path, session[0] == '\0' ? "" : "Mcp-Session-Id: ", session,
	    session[0] == '\0' ? "" : "\r\n", n);
}

int
answer_connect(const char *url)
{
	struct sockaddr_in sin = { .sin_family = AF_INET };
	const char *colon = strrchr(url, ':');
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1, e;

	sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (colon != NULL)
		sin.sin_port = htons((uint16_t)strtoul(colon + 1, NULL, 10));
	if (fd < 0)
		return -1;
	if (connect(fd, (struct sockaddr *)&sin, sizeof sin) != 0) {
		e = errno;
		close(fd);
		errno = e;
		return -1;
	}
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	return fd;
}
