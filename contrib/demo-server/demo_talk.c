/*
 * An MCP client that holds one short conversation through mcpsplice and shows
 * it: what goes in, what comes out and, with --server, what the bundled server
 * says in between and when mcpsplice repeats a request. With --host it starts
 * what the configuration of a host names, calls a tool once, and shows what
 * is in the server's log, a file at its stdin. contrib/demo starts it.
 *
 * Both write to their logs before they send what the log is about. So the logs
 * are read before an answer is shown, and that of mcpsplice is read before that
 * of the server but shown after it: all stay in order.
 */
#include "config.h"

#include <sys/types.h>
#include <sys/wait.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <json-c/json.h>

#include "base/codec.h"
#include "base/mem.h"
#include "demo_child.h"
#include "demo_host.h"

#define ANSWER_MS 45000
#define END_MS 10000
#define CALLS 6
#define SHOWN_MAX 2000

static struct {
	struct reader answers; /* stdout of mcpsplice */
	int requests;          /* its stdin */
	pid_t proxy;
	struct reader own; /* its stderr; fd -1: ours */
	struct reader log; /* stderr of the server; fd -1: none */
	pid_t server;
	bool colour;
	int id;
	int lost; /* sessions, as a refused call shows */
} talk = { .own.fd = -1, .log.fd = -1, .requests = -1 };

/* Shows a line; text came from elsewhere and is escaped. */
static void
show(const char *colour, const char *mark, const char *text)
{
	struct buf b;

	buf_init(&b, 0);
	codec_visible(&b, span_of(text), SHOWN_MAX);
	printf("%s%s%s%s\n", talk.colour ? colour : "", mark, buf_str(&b),
	    talk.colour ? "\033[0m" : "");
	fflush(stdout);
	buf_free(&b);
}

static int64_t
now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void
show_server(char *line)
{
	if (strncmp(line, "server: refused tools/call", 26) == 0)
		talk.lost++;
	show("\033[33m", "      ", line);
	free(line);
}

/* Of the log of mcpsplice -v, shows only that it repeats a request. Warnings,
 * errors and other output go to stderr, as without -v. */
static void
show_own(char *line)
{
	if (strncmp(line, "mcpsplice: replayed", 19) == 0)
		show("\033[33m", "      ", line);
	else if (strncmp(line, "mcpsplice: ", 11) != 0 ||
	    strncmp(line + 11, "warning: ", 9) == 0 ||
	    strncmp(line + 11, "error: ", 7) == 0)
		fprintf(stderr, "%s\n", line);
	free(line);
}

/* The end of a log file is not the end of the log: more may be written. */
static void
fill_log(struct reader *log)
{
	while (log->fd != -1 && reader_fill(log, 0))
		;
	log->ended = false;
}

/* Shows what both sides have said so far. */
static void
show_logs(void)
{
	char *line;

	fill_log(&talk.own);
	fill_log(&talk.log);
	while (talk.log.fd != -1 && (line = reader_line(&talk.log)) != NULL)
		show_server(line);
	while (talk.own.fd != -1 && (line = reader_line(&talk.own)) != NULL)
		show_own(line);
}

static _Noreturn void
fail(const char *what)
{
	show_logs();
	fflush(stdout);
	fprintf(stderr, "demo: %s\n", what);
	if (talk.proxy > 0)
		kill(talk.proxy, SIGTERM);
	if (talk.server > 0)
		kill(talk.server, SIGTERM);
	exit(1);
}

/* Messages: */

/* Takes message. */
static void
put(struct json_object *message)
{
	size_t n, done = 0;
	const char *text = json_object_to_json_string_length(message,
	    JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE, &n);
	char *line = xasprintf("%s\n", text);

	while (done <= n) {
		ssize_t sent = write(talk.requests, line + done, n + 1 - done);

		if (sent == -1)
			fail("mcpsplice no longer reads");
		done += (size_t)sent;
	}
	free(line);
	json_object_put(message);
}

/* Takes params. id 0 is a notification. */
static struct json_object *
message_new(int id, const char *method, struct json_object *params)
{
	struct json_object *m = json_object_new_object();

	json_object_object_add(m, "jsonrpc", json_object_new_string("2.0"));
	if (id != 0)
		json_object_object_add(m, "id", json_object_new_int(id));
	json_object_object_add(m, "method", json_object_new_string(method));
	if (params != NULL)
		json_object_object_add(m, "params", params);
	return m;
}

static const char *
string_in(struct json_object *o, const char *key)
{
	struct json_object *v = NULL;
	const char *s;

	json_object_object_get_ex(o, key, &v);
	s = v == NULL ? NULL : json_object_get_string(v);
	return s == NULL ? "?" : s;
}

/* Answers a request of the server: this client supports only ping. */
static void
answer_server(struct json_object *question, struct json_object *id)
{
	struct json_object *m = json_object_new_object();
	struct json_object *e;

	json_object_object_add(m, "jsonrpc", json_object_new_string("2.0"));
	json_object_object_add(m, "id", json_object_get(id));
	if (strcmp(string_in(question, "method"), "ping") == 0) {
		json_object_object_add(m, "result", json_object_new_object());
	} else {
		e = json_object_new_object();
		json_object_object_add(e, "code", json_object_new_int(-32601));
		json_object_object_add(e, "message",
		    json_object_new_string("Method not found"));
		json_object_object_add(m, "error", e);
	}
	put(m);
}

/* The answer to the request under way if line is that, else NULL. */
static struct json_object *
take_line(const char *line)
{
	struct json_object *m = json_tokener_parse(line);
	struct json_object *id = NULL;

	if (!json_object_is_type(m, json_type_object))
		fail("mcpsplice sent a line that is not JSON-RPC");
	json_object_object_get_ex(m, "id", &id);
	if (json_object_object_get_ex(m, "method", NULL)) {
		show("\033[36m", "← ", string_in(m, "method"));
		if (id != NULL)
			answer_server(m, id);
	} else if (!json_object_is_type(id, json_type_int) ||
	    json_object_get_int(id) != talk.id) {
		fail("mcpsplice sent an unexpected answer");
	} else {
		return m;
	}
	json_object_put(m);
	return NULL;
}

/* Waits for the answer; returns its result, owned by the caller. */
static struct json_object *
wait_answer(void)
{
	int64_t end = now_ms() + ANSWER_MS;
	struct json_object *m = NULL, *part = NULL;
	char *line, *text;

	while (m == NULL) {
		line = reader_line(&talk.answers);
		if (line == NULL) {
			if (talk.answers.ended)
				fail("mcpsplice ended before it answered");
			if (now_ms() > end)
				fail("no answer came");
			reader_fill(&talk.answers, 50);
			show_logs();
			continue;
		}
		m = take_line(line);
		free(line);
	}
	if (json_object_object_get_ex(m, "error", &part)) {
		text = xasprintf("%d  error %s: %s", talk.id,
		    string_in(part, "code"), string_in(part, "message"));
		show("\033[31m", "← ", text);
		fail("the answer is an error");
	}
	if (!json_object_object_get_ex(m, "result", &part))
		fail("an answer without a result");
	json_object_get(part);
	json_object_put(m);
	return part;
}

/* Sends a request, shows it as shown and returns its result. */
static struct json_object *
ask(const char *method, struct json_object *params, const char *shown)
{
	char *text = xasprintf("%d  %s%s", ++talk.id, method, shown);

	show("\033[32m", "→ ", text);
	free(text);
	put(message_new(talk.id, method, params));
	return wait_answer();
}

static void
show_answer(const char *what)
{
	char *text = xasprintf("%d  %s", talk.id, what);

	show("\033[36m", "← ", text);
	free(text);
}

/* The conversation: */

/* Returns whether the server has tools. */
static bool
open_session(void)
{
	struct json_object *p = json_object_new_object();
	struct json_object *info = json_object_new_object();
	struct json_object *r, *part = NULL;
	char *text;
	bool tools;

	json_object_object_add(p, "protocolVersion",
	    json_object_new_string("2025-11-25"));
	json_object_object_add(p, "capabilities", json_object_new_object());
	json_object_object_add(info, "name",
	    json_object_new_string("mcpsplice-demo"));
	json_object_object_add(info, "version",
	    json_object_new_string(PACKAGE_VERSION));
	json_object_object_add(p, "clientInfo", info);
	r = ask("initialize", p, "");
	json_object_object_get_ex(r, "serverInfo", &part);
	text = xasprintf("%s %s, protocol %s", string_in(part, "name"),
	    string_in(part, "version"), string_in(r, "protocolVersion"));
	show_answer(text);
	free(text);
	json_object_object_get_ex(r, "capabilities", &part);
	tools = json_object_object_get_ex(part, "tools", NULL);
	json_object_put(r);
	show("\033[32m", "→ ", "notifications/initialized");
	put(message_new(0, "notifications/initialized", NULL));
	return tools;
}

static void
list_tools(void)
{
	struct json_object *r = ask("tools/list", NULL, ""), *list = NULL;
	struct buf names;
	size_t i, n;

	if (!json_object_object_get_ex(r, "tools", &list) ||
	    !json_object_is_type(list, json_type_array))
		fail("a list of tools without tools");
	n = json_object_array_length(list);
	buf_init(&names, 0);
	buf_addf(&names, "%zu tools", n);
	for (i = 0; i < n; i++)
		buf_addf(&names, "%s%s", i == 0 ? ": " : ", ",
		    string_in(json_object_array_get_idx(list, i), "name"));
	if (json_object_object_get_ex(r, "nextCursor", NULL))
		buf_adds(&names, " and more");
	show_answer(buf_str(&names));
	buf_free(&names);
	json_object_put(r);
}

static void
call_add(int a, int b)
{
	struct json_object *p = json_object_new_object();
	struct json_object *arguments = json_object_new_object();
	struct json_object *r, *part = NULL;
	const char *text;
	char *shown;

	json_object_object_add(p, "name", json_object_new_string("add"));
	json_object_object_add(arguments, "a", json_object_new_int(a));
	json_object_object_add(arguments, "b", json_object_new_int(b));
	json_object_object_add(p, "arguments", arguments);
	shown = xasprintf("  add %d and %d", a, b);
	r = ask("tools/call", p, shown);
	free(shown);
	if (!json_object_object_get_ex(r, "content", &part) ||
	    !json_object_is_type(part, json_type_array))
		fail("an answer without content");
	text = string_in(json_object_array_get_idx(part, 0), "text");
	shown = xasprintf("\"%s\"", text);
	show_answer(shown);
	free(shown);
	if (strtol(text, NULL, 10) != a + b)
		fail("the sum is wrong");
	json_object_put(r);
}

/* Ends the input and waits for an orderly end. */
static void
close_session(void)
{
	int64_t end = now_ms() + END_MS;
	int status;

	close(talk.requests);
	while (!talk.answers.ended) {
		if (now_ms() > end)
			fail("mcpsplice did not exit after its input");
		reader_fill(&talk.answers, 50);
		show_logs();
	}
	if (talk.answers.held.n > 0)
		fail("mcpsplice sent more after the last answer");
	if (waitpid(talk.proxy, &status, 0) != talk.proxy || status != 0)
		fail("mcpsplice did not exit with status 0");
	talk.proxy = 0;
	show_logs();
}

/* Both sides: */

/* Starts the bundled server; returns its URL, owned by the caller. */
static char *
start_server(char *path)
{
	char *argv[] = { path, (char[]){ "--log" }, (char[]){ "--style" },
		(char[]){ "rotate" }, (char[]){ "--forget-after" },
		(char[]){ "2" }, NULL };
	int out[2], err[2], port = 0;
	struct reader r;
	char *line;

	if (child_pipe(out) == -1 || child_pipe(err) == -1 ||
	    (talk.server = child_start(argv, -1, out[1], err[1])) == -1)
		fail("the bundled server could not be started");
	close(out[1]);
	close(err[1]);
	reader_init(&talk.log, err[0]);
	reader_init(&r, out[0]);
	while ((line = reader_line(&r)) == NULL)
		if (!reader_fill(&r, END_MS))
			fail("the bundled server did not start");
	if (strncmp(line, "listening on ", 13) == 0)
		port = (int)strtol(line + 13, NULL, 10);
	free(line);
	buf_free(&r.held);
	close(out[0]);
	return xasprintf("http://127.0.0.1:%d/mcp", port);
}

static void
stop_server(void)
{
	int status;

	kill(talk.server, SIGTERM);
	if (waitpid(talk.server, &status, 0) != talk.server || status != 0)
		fail("the server did not exit cleanly");
	talk.server = 0;
	show_logs();
}

/* err is to be its stderr; -1: ours. */
static void
start_proxy(char *const *argv, int err)
{
	int in[2], out[2];

	if (child_pipe(in) == -1 || child_pipe(out) == -1 ||
	    (talk.proxy = child_start(argv, in[0], out[1], err)) == -1)
		fail("mcpsplice could not be started");
	close(in[0]);
	close(out[1]);
	talk.requests = in[1];
	reader_init(&talk.answers, out[0]);
}

/* Makes calls through a server that forgets its sessions meanwhile. */
static int
talk_bundled(void)
{
	int i;

	open_session();
	list_tools();
	for (i = 1; i <= CALLS; i++)
		call_add(i, i + 1);
	close_session();
	stop_server();
	if (talk.lost == 0)
		fail("the server lost no session");
	printf("\n%d sessions lost, %d calls, %d answers, the client noticed "
	       "nothing\n",
	    talk.lost, CALLS, CALLS);
	return 0;
}

static int
talk_real(void)
{
	if (open_session())
		list_tools();
	else
		puts("  the server has no tools");
	close_session();
	puts("\nthe server was reached and the session ended; no tool was "
	     "called");
	return 0;
}

/* Starts mcpsplice and calls a tool, as a host does for a configured server. */
static int
talk_host(const char *config)
{
	char **command = demo_host_command(config);

	if (command == NULL)
		fail("the configuration must name one server");
	reader_init(&talk.log, STDIN_FILENO);
	start_proxy(command, -1);
	demo_host_free(command);
	open_session();
	call_add(2, 3);
	close_session();
	return 0;
}

/* The same with -v, --no-memory and the URL of the bundled server after n
 * arguments. */
static void
start_proxy_to(char *const *command, int n, char *url)
{
	char **full = xcalloc((size_t)n + 4, sizeof *full);
	int i, err[2];

	for (i = 0; i < n; i++)
		full[i] = command[i];
	full[n] = (char[]){ "-v" };
	full[n + 1] = (char[]){ "--no-memory" }; /* of a server for once */
	full[n + 2] = url;
	if (child_pipe(err) == -1)
		fail("mcpsplice could not be started");
	start_proxy(full, err[1]);
	close(err[1]);
	reader_init(&talk.own, err[0]);
	free(full);
}

int
main(int argc, char **argv)
{
	bool bundled = argc > 2 && strcmp(argv[1], "--server") == 0;
	bool host = argc == 3 && strcmp(argv[1], "--host") == 0;
	char **command = argv + (bundled ? 3 : 1);
	char *url;
	int n = argc - (bundled ? 3 : 1);

	if (n < 1) {
		fputs("usage: demo_talk [--server DEMO_SERVER] MCPSPLICE "
		      "[ARG ...]\n"
		      "       demo_talk --host FILE < LOG\n",
		    stderr);
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	talk.colour = isatty(1) && getenv("NO_COLOR") == NULL;
	if (host)
		return talk_host(argv[2]);
	fputs("→ what the client sends to mcpsplice, ← what it gets back",
	    stdout);
	if (!bundled) {
		puts("\n");
		fflush(stdout);
		start_proxy(command, -1);
		return talk_real();
	}
	url = start_server(argv[2]);
	printf(
	    ";\n      indented: the server at %s, and mcpsplice's replays\n\n",
	    url);
	start_proxy_to(command, n, url);
	free(url);
	return talk_bundled();
}
