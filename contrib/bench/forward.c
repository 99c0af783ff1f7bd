/*
 * The bare blocking forwarder: the least that a program costs which carries
 * lines to a Streamable HTTP server and answers back. With one connection and
 * one call at a time, it needs one system call each to read a line, to send it,
 * to receive the answer and to write that. What it takes is the price of two
 * pipes and a socket, so nothing here can be below it.
 *
 * It has one call in flight whatever the host does, it reads nothing while it
 * waits for an answer, it knows no TLS, no name but 127.0.0.1 and no GET
 * stream, it notices no lost session, and it ends at the first error.
 */
#include <sys/socket.h>
#include <sys/uio.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "answer.h"

#define FORWARD_READ 65536
#define FORWARD_HEAD 1024

struct forward {
	int fd;
	const char *path;
	struct answer answer;
	struct lines in;
	struct lines out;
};

static void
die(const char *what)
{
	fprintf(stderr, "forward: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* A blocking socket takes all at once. */
static void
post(struct forward *f, char *line, size_t n)
{
	char head[FORWARD_HEAD];
	struct iovec iov[2] = { { head, 0 }, { line, n } };

	iov[0].iov_len = (size_t)answer_post(head, sizeof head, f->path,
	    f->answer.session, n);
	if (writev(f->fd, iov, 2) != (ssize_t)(iov[0].iov_len + n))
		die("writev");
}

static void
print(struct lines *out)
{
	const char *p = out->p, *end = p + out->end;
	ssize_t r;

	for (; p < end; p += r) {
		r = write(STDOUT_FILENO, p, (size_t)(end - p));
		if (r < 0)
			die("stdout");
	}
	out->end = 0;
}

/* Receives one answer and prints each part as it comes. */
static void
answer(struct forward *f)
{
	static char buf[FORWARD_READ];
	ssize_t n;

	do {
		n = recv(f->fd, buf, sizeof buf, 0);
		if (n <= 0)
			die("recv");
		if (answer_feed(&f->answer, buf, (size_t)n, &f->out) != n) {
			errno = EPROTO;
			die("the answer");
		}
		print(&f->out);
	} while (!f->answer.done);
}

int
main(int argc, char **argv)
{
	static struct forward f;
	char *line;
	size_t n;
	ssize_t r;

	signal(SIGPIPE, SIG_IGN);
	if (argc != 2 || strncmp(argv[1], "http://127.0.0.1:", 17) != 0) {
		fprintf(stderr, "usage: forward http://127.0.0.1:PORT/PATH\n");
		return 2;
	}
	f.path = strchr(argv[1] + 17, '/');
	f.fd = answer_connect(argv[1]);
	if (f.path == NULL || f.fd < 0)
		die(argv[1]);
	for (;;) {
		while ((line = lines_next(&f.in, &n)) != NULL) {
			post(&f, line, n);
			answer(&f);
		}
		r = read(STDIN_FILENO, lines_room(&f.in, FORWARD_READ),
		    FORWARD_READ);
		if (r < 0)
			die("stdin");
		if (r == 0)
			return 0;
		f.in.end += (size_t)r;
	}
}
