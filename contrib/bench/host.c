/*
 * The MCP host's part.
 */
#include "host.h"

#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pattern.h"
#include "rpc.h"

#define HOST_CALL 320 /* bytes of a small call */
#define HOST_TRIES 1000
#define HOST_NOTE "\"data\":"

void
host_words(char **out, char *const *words, int n, char *url)
{
	int i;

	for (i = 0; i < n; i++)
		out[i] = strcmp(words[i], "URL") == 0 ? url : words[i];
	out[n] = NULL;
}

int
host_send(struct host *h, const char *line, size_t n)
{
	int r = h->web != NULL ? web_send(h->web, line, n) :
				 child_send(&h->child, line, n);

	if (r != 0)
		h->why = h->child.ended ? "it ended" : "it takes no more input";
	return r;
}

static char *
host_line(struct host *h, int ms)
{
	char *line;

	if (h->web != NULL)
		line = web_line(h->web, ms);
	else
		line = child_line(&h->child, ms);
	h->came = bench_now();
	if (line == NULL && ms > 0)
		h->why = h->child.ended ? "it ended" : "no good answer came";
	return line;
}

/* Returns whether the answer is right; if not, notes that it is wrong. */
static bool
good(struct host *h, bool is)
{
	if (!is)
		h->why = "the answer is wrong";
	return is;
}

const char *
host_await(struct host *h, int id)
{
	const char *line;
	int got;

	do {
		line = host_line(h, HOST_WAIT_MS);
		if (line == NULL)
			return NULL;
		got = rpc_answer_id(line);
	} while (got == -1);
	return good(h, got == id) ? line : NULL;
}

int
host_spawn(struct host *h, char *const argv[], const char *web_url,
    const char *err)
{
	const char *start = rpc_start();
	int tries = h->child.pid = 0;

	h->next_id = 0;
	h->web = NULL;
	h->why = "it takes no input";
	if (argv[0] != NULL && child_spawn(&h->child, argv, err) != 0) {
		perror(argv[0]);
		exit(1);
	}
	if (web_url == NULL)
		return child_send(&h->child, start, strlen(start));
	h->web = web_new(web_url);
	while (web_send(h->web, start, strlen(start)) != 0) {
		if (++tries == HOST_TRIES)
			return -1;
		bench_sleep(5); /* it does not listen yet */
	}
	return 0;
}

int
host_started(struct host *h)
{
	return host_await(h, 0) != NULL ? 0 : -1;
}

int
host_settle(struct host *h)
{
	const char *line = rpc_started();

	if (line[0] != '\0' && host_send(h, line, strlen(line)) != 0)
		return -1;
	return host_call(h);
}

double
host_end(struct host *h, int ms)
{
	double t = NAN;

	if (h->web != NULL) {
		web_free(h->web);
		if (h->child.pid != 0)
			kill(h->child.pid, SIGTERM);
	}
	if (h->child.pid != 0)
		t = child_end(&h->child, ms);
	if (h->web != NULL)
		t = NAN;
	memset(h, 0, sizeof *h);
	return t;
}

int
host_call_tool(struct host *h, const char *tool)
{
	char line[HOST_CALL];
	int id = ++h->next_id;
	int n = rpc_call(line, sizeof line, id, tool, 0);
	const char *answer;

	h->began = bench_now();
	if (host_send(h, line, (size_t)n) != 0)
		return -1;
	answer = host_await(h, id);
	if (answer == NULL)
		return -1;
	return good(h, rpc_is_text(answer)) ? 0 : -1;
}

int
host_call(struct host *h)
{
	return host_call_tool(h, "echo");
}

static int
send_calls(struct host *h, const char *tool, int size, int from, int n)
{
	struct lines out = { .p = NULL };
	char line[HOST_CALL];
	int i, len, r = 0;

	for (i = 0; i < n && r == 0; i++) {
		len = rpc_call(line, sizeof line, from + i, tool, size);
		if (h->web != NULL)
			r = host_send(h, line, (size_t)len);
		else
			lines_add(&out, line, (size_t)len);
	}
	if (h->web == NULL)
		r = host_send(h, out.p, out.end);
	lines_free(&out);
	return r;
}

/* Takes all answers that are there, and waits for the first. How many, or -1 */
static int
take_answers(struct host *h, int first, int sent, bool *seen)
{
	const char *line;
	int id, ms, n = 0;

	for (ms = HOST_WAIT_MS; (line = host_line(h, ms)) != NULL; ms = 0) {
		id = rpc_answer_id(line);
		if (id == -1)
			continue;
		id -= first;
		if (!good(h,
			id >= 0 && id < sent && !seen[id] && rpc_is_text(line)))
			return -1;
		seen[id] = true;
		n++;
	}
	return ms == 0 ? n : -1;
}

int
host_calls(struct host *h, const char *tool, int size, int calls, int in_flight)
{
	bool *seen = calloc((size_t)calls + 1, sizeof *seen);
	int first = h->next_id + 1, sent = 0, done = 0, n, more;

	if (seen == NULL) {
		perror("calloc");
		exit(1);
	}
	while (done < calls) {
		more = in_flight - (sent - done);
		if (more > calls - sent)
			more = calls - sent;
		if (send_calls(h, tool, size, first + sent, more) != 0)
			break;
		sent += more;
		n = take_answers(h, first, sent, seen);
		if (n < 0)
			break;
		done += n;
	}
	free(seen);
	h->next_id += calls;
	return done == calls ? 0 : -1;
}

/* The seconds from h->began, when the request was sent, to its answer. */
static double
took(const struct host *h)
{
	return h->came - h->began;
}

static int
send_call(struct host *h, const char *tool, int size)
{
	char line[HOST_CALL];
	int n = rpc_call(line, sizeof line, ++h->next_id, tool, size);

	h->began = bench_now();
	return host_send(h, line, (size_t)n);
}

double
host_big(struct host *h, int size)
{
	const char *line;

	if (send_call(h, "big", size) != 0 ||
	    (line = host_await(h, h->next_id)) == NULL ||
	    !good(h, (line = strstr(line, RPC_TEXT)) != NULL))
		return NAN;
	line += strlen(RPC_TEXT);
	if (!good(h,
		strcspn(line, "\"") == (size_t)size &&
		    pattern_is(line, (size_t)size)))
		return NAN;
	return took(h);
}

double
host_notes(struct host *h, int count)
{
	const char *line, *data;
	int i;

	if (send_call(h, "notes", count) != 0)
		return NAN;
	for (i = 0; i < count; i++) {
		line = host_line(h, HOST_WAIT_MS);
		if (line == NULL)
			return NAN;
		data = strstr(line, HOST_NOTE);
		if (!good(h,
			rpc_answer_id(line) == -1 && data != NULL &&
			    strtol(data + strlen(HOST_NOTE), NULL, 10) == i))
			return NAN;
	}
	return host_await(h, h->next_id) != NULL ? took(h) : NAN;
}

double
host_take(struct host *h, int size)
{
	struct lines out = { .p = NULL };
	size_t n, left = (size_t)size;
	const char *p;
	int r;

	lines_room(&out, left + HOST_CALL);
	out.end = (size_t)rpc_take(out.p, HOST_CALL, ++h->next_id, size);
	for (; left > 0; left -= n) {
		n = pattern_at((size_t)size - left, &p);
		if (n > left)
			n = left;
		lines_add(&out, p, n);
	}
	lines_add(&out, RPC_TAKE_END, strlen(RPC_TAKE_END));
	h->began = bench_now();
	r = host_send(h, out.p, out.end);
	lines_free(&out);
	return r == 0 && host_await(h, h->next_id) != NULL ? took(h) : NAN;
}
