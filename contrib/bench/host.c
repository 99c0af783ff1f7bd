/*
 * The MCP host's part.
 */
#include "host.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rpc.h"

void
host_words(char **out, char *const *words, int n, char *url)
{
	int i;

	for (i = 0; i < n; i++)
		out[i] = strcmp(words[i], "URL") == 0 ? url : words[i];
	out[n] = NULL;
}

int
host_await(struct host *h, int id)
{
	const char *line;
	int got;

	do {
		line = child_line(&h->child, HOST_WAIT_MS);
		if (line == NULL)
			return -1;
		got = rpc_answer_id(line);
	} while (got == -1);
	return got == id ? 0 : -1;
}

int
host_start(struct host *h, char *const argv[], const char *err)
{
	h->next_id = 0;
	if (child_spawn(&h->child, argv, err) != 0) {
		perror(argv[0]);
		exit(1);
	}
	if (child_send(&h->child, rpc_start(), strlen(rpc_start())) != 0)
		return -1;
	return host_await(h, 0);
}

int
host_open(struct host *h, char *const argv[], const char *err)
{
	if (host_start(h, argv, err) != 0 ||
	    child_send(&h->child, rpc_started(), strlen(rpc_started())) != 0)
		return -1;
	return host_call(h);
}

int
host_call_tool(struct host *h, const char *tool)
{
	char line[512];
	int id = ++h->next_id, n = rpc_call(line, sizeof line, id, tool);

	if (child_send(&h->child, line, (size_t)n) != 0)
		return -1;
	return host_await(h, id);
}

int
host_call(struct host *h)
{
	return host_call_tool(h, "echo");
}

static int
send_calls(struct host *h, int from, int n)
{
	char out[HOST_IN_FLIGHT * 320];
	size_t len = 0;
	int i;

	for (i = 0; i < n; i++)
		len += (size_t)rpc_call(out + len, sizeof out - len, from + i,
		    "echo");
	return child_send(&h->child, out, len);
}

int
host_calls(struct host *h, int calls)
{
	bool *seen = calloc((size_t)calls + 1, sizeof *seen);
	int first = h->next_id + 1, sent = 0, done = 0, id, more, ms;
	const char *line;

	if (seen == NULL) {
		perror("calloc");
		exit(1);
	}
	while (done < calls) {
		more = HOST_IN_FLIGHT - (sent - done);
		if (more > calls - sent)
			more = calls - sent;
		if (send_calls(h, first + sent, more) != 0)
			break;
		sent += more;
		for (ms = HOST_WAIT_MS;
		     (line = child_line(&h->child, ms)) != NULL; ms = 0) {
			id = rpc_answer_id(line);
			if (id == -1)
				continue;
			id -= first;
			if (id < 0 || id >= sent || seen[id])
				goto out;
			seen[id] = true;
			done++;
		}
		if (ms != 0)
			break;
	}
out:
	free(seen);
	h->next_id += calls;
	return done == calls ? 0 : -1;
}
