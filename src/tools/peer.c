
#include "config.h"

#include "tools/peer.h"

#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/bounds.h"
#include "base/codec.h"
#include "base/log.h"
#include "base/mem.h"
#include "core/wire/json.h"
#include "core/wire/lines.h"
#include "core/wire/msg.h"
#include "proxy/proxy.h"

/* --- a question at the terminal --- */

enum { ANSWER_MAX = 4096 };

/* Prints a text of the server, made safe for a terminal. */
static void
print_text(const char *before, struct span value, const char *after)
{
	struct buf text = { 0 }, shown = { 0 };

	if (json_string(value, &text) == 0)
		codec_visible(&shown, buf_span(&text), 1000);
	fprintf(stderr, "%s%s%s", before, buf_str(&shown), after);
	buf_free(&text);
	buf_free(&shown);
}

static bool
is_required(struct span schema, struct span name)
{
	struct span list = json_get(schema, "required"), key, one;
	size_t at = 0;

	while (json_kind(list) == '[' && json_next(list, &at, &key, &one))
		if (one.n >= 2 &&
		    span_eq((struct span){ one.p + 1, one.n - 2 }, name))
			return true;
	return false;
}

/* Appends what the user typed as a value of the field's type. */
static void
add_value(struct buf *out, struct span field, struct span typed)
{
	struct span type = json_get(field, "type");

	if (json_string_is(type, "boolean"))
		buf_adds(out,
		    typed.n > 0 && strchr("yYtT1", typed.p[0]) != NULL ?
			"true" :
			"false");
	else if ((json_string_is(type, "number") ||
		     json_string_is(type, "integer")) &&
	    json_check(typed, 1, NULL, NULL, NULL) == JSON_OK)
		buf_addspan(out, typed);
	else
		codec_json_string(out, typed);
}

/* Asks for one field. Returns false at the end of the input. */
static bool
ask_field(struct span name, struct span field, bool required, struct buf *out)
{
	char line[ANSWER_MAX];
	/* the name with its quotes, a JSON string */
	struct span key = { name.p - 1, name.n + 2 };
	struct span title = json_get(field, "title");

	print_text("", json_get(field, "description"), "\n");
	print_text("", json_kind(title) == '"' ? title : key,
	    required ? ": " : " (may be empty): ");
	fflush(stderr);
	if (fgets(line, sizeof line, stdin) == NULL)
		return false;
	line[strcspn(line, "\r\n")] = '\0';
	if (line[0] == '\0')
		return !required;
	if (out->p[out->n - 1] != '{')
		buf_addc(out, ',');
	buf_addf(out, "\"%.*s\":", (int)name.n, name.p);
	add_value(out, field, span_of(line));
	return true;
}

/* Asks the user for each field of the requested schema, and appends the result
 * for the server, JSON. An empty line declines. Returns 0, or -1 if this kind
 * of question cannot be asked. */
static int
ask_user(struct span params, struct buf *result)
{
	struct span schema = json_get(params, "requestedSchema");
	struct span fields = json_get(schema, "properties"), name, field;
	bool all = true;
	size_t at = 0, from = result->n;

	if (json_kind(fields) != '{')
		return -1;
	print_text("\n", json_get(params, "message"), "\n");
	buf_adds(result, "{\"action\":\"accept\",\"content\":{");
	while (all && json_next(fields, &at, &name, &field))
		all = ask_field(name, field, is_required(schema, name), result);
	buf_adds(result, "}}");
	if (!all) {
		result->n = from;
		buf_adds(result, "{\"action\":\"decline\"}");
	}
	return 0;
}

/* --- the proxy as a child --- */

struct peer {
	int in, out; /* the proxy's stdout and stdin; -1: closed */
	pid_t pid;
	struct lines *lines;
	struct frame **list; /* messages that were read and not taken yet */
	size_t n;
	unsigned ids;
	size_t max_depth;
	bool talks;    /* a user sits at the terminal */
	bool shown;    /* a line about progress stands there */
	bool limited;  /* nothing waits after the time until */
	int64_t until; /* in ms, as now_ms */
	bool late;     /* that time has passed */
	int watch;     /* the proxy tells its session there */
	struct peer_session session;
	struct frame *hello; /* the answer to initialize */
};

enum {
	WORDS_MS = 1000, /* between the proxy's time for a start and ours */
	DRAIN_MS = 1000, /* for what is unanswered at the end, with a limit */
	END_MS = 2500    /* until a proxy that does not end gets a signal */
};

/* --- time --- */

static int64_t
now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Waits until fd can be read. Returns false if the time until has come. */
static bool
wait_for(int fd, int64_t until)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int64_t left;
	int n;

	do {
		left = until - now_ms();
		n = poll(&p, 1, left > 0 ? (int)left : 0);
	} while (n < 0 && errno == EINTR);
	return n != 0;
}

/* --- messages --- */

static void
on_line(struct frame *f, void *arg)
{
	struct peer *p = arg;

	if (msg_parse(f, (unsigned)p->max_depth) != MSG_OK) {
		frame_unref(f);
		return;
	}
	p->list = xrealloc(p->list, (p->n + 1) * sizeof(struct frame *));
	p->list[p->n++] = f;
}

static void
on_too_long(uint64_t size, struct span id, bool request, void *arg)
{
	(void)size;
	(void)id;
	(void)request;
	(void)arg;
}

/* Returns the next message, owned by the caller; NULL: there will be none, or
 * not in time. */
static struct frame *
next_message(struct peer *p)
{
	struct frame *f;
	char part[65536];
	ssize_t n;

	while (p->n == 0) {
		if (p->limited && !wait_for(p->in, p->until)) {
			p->late = true;
			return NULL;
		}
		n = read(p->in, part, sizeof part);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return NULL;
		lines_feed(p->lines, part, (size_t)n);
	}
	f = p->list[0];
	memmove(p->list, p->list + 1, --p->n * sizeof(struct frame *));
	return f;
}

/* Writes the frame with its line end. If nobody reads, next_message finds the
 * end. */
static void
put(struct peer *p, struct frame *f)
{
	const char *at = f->text.p;
	size_t left = f->text.n + 1;
	ssize_t n;

	while (left > 0) {
		n = write(p->out, at, left);
		if (n < 0 && errno != EINTR)
			break;
		if (n > 0) {
			at += n;
			left -= (size_t)n;
		}
	}
	frame_unref(f);
}

/* --- what comes meanwhile --- */

static void
wipe_progress(struct peer *p)
{
	if (p->shown)
		fprintf(stderr, "\r\033[K");
	p->shown = false;
}

static void
show_progress(struct peer *p, struct span params)
{
	struct span done = json_get(params, "progress");
	struct span total = json_get(params, "total");
	struct buf text = { 0 };

	json_string(json_get(params, "message"), &text);
	wipe_progress(p);
	fprintf(stderr, "%.*s", (int)done.n, done.p);
	if (total.n > 0)
		fprintf(stderr, " of %.*s", (int)total.n, total.p);
	if (text.n > 0) {
		struct buf line = { 0 };

		codec_visible(&line, buf_span(&text), 60);
		fprintf(stderr, ": %s", buf_str(&line));
		buf_free(&line);
	}
	fflush(stderr);
	p->shown = true;
	buf_free(&text);
}

static void
answer_question(struct peer *p, const struct frame *f)
{
	struct buf result = { 0 };

	wipe_progress(p);
	if (json_key_is(f->method, "ping"))
		put(p, msg_result(f->id, "{}"));
	else if (p->talks && json_key_is(f->method, "elicitation/create") &&
	    ask_user(f->params, &result) == 0)
		put(p, msg_result(f->id, buf_str(&result)));
	else
		put(p,
		    msg_error(f->id, -32601, "mcpsplice does not answer this",
			no_span));
	buf_free(&result);
}

/* --- requests --- */

struct frame *
peer_ask(struct peer *p, const char *method, struct span params, char **why)
{
	char id[16];
	struct frame *f;
	bool ours;

	snprintf(id, sizeof id, "%u", ++p->ids);
	put(p, msg_call(span_of(id), method, params));
	while ((f = next_message(p)) != NULL) {
		ours = (f->kind == FRAME_RESULT || f->kind == FRAME_ERROR) &&
		    msg_id_same(f->id, span_of(id));
		if (ours)
			break;
		if (f->kind == FRAME_REQUEST)
			answer_question(p, f);
		else if (p->talks && f->kind == FRAME_NOTIFICATION &&
		    json_key_is(f->method, "notifications/progress"))
			show_progress(p, f->params);
		frame_unref(f);
	}
	wipe_progress(p);
	if (f == NULL && p->late)
		*why = xasprintf("%s was not answered in time", method);
	else if (f == NULL)
		*why = xasprintf("the connection ended before %s was answered",
		    method);
	return f;
}

void
peer_explain(const struct frame *error, char **why)
{
	struct buf text = { 0 }, shown = { 0 };

	msg_error_text(error, &text);
	codec_visible(&shown, buf_span(&text), 2000);
	*why = xasprintf("%s", shown.n > 0 ? buf_str(&shown) : "an error");
	buf_free(&text);
	buf_free(&shown);
}

/* --- begin and end --- */

static void
drop_record(enum log_level level, const char *line, void *arg)
{
	(void)level;
	(void)line;
	(void)arg;
}

/* Runs in the proxy. A pipe that is full misses nothing: its reader is late,
 * and what it reads last is not told to anybody. */
static void
tell_session(const struct session_brief *now, void *arg)
{
	struct peer *p = arg;
	struct peer_session s = { .has_id = now->has_id,
		.modern = now->modern,
		.sse = now->sse,
		.listens = now->listening == LISTENS,
		.never_will = now->listening == LISTENS_NOT };

	snprintf(s.version, sizeof s.version, "%s",
	    now->version == NULL ? "" : now->version);
	if (memcmp(&s, &p->session, sizeof s) == 0)
		return;
	if (write(p->watch, &s, sizeof s) == (ssize_t)sizeof s)
		p->session = s;
}

/* Changes the options for a peer with a limit. The error of the proxy says more
 * than that there was no answer, so it comes before the limit. */
static void
hurry(const struct peer *p, struct options *mine)
{
	int64_t left = p->until - now_ms();

	left -= left > 2 * WORDS_MS ? WORDS_MS : left / 2;
	if (mine->init_timeout_ms == 0 || mine->init_timeout_ms > left)
		mine->init_timeout_ms = left;
	mine->drain_timeout_ms = DRAIN_MS;
	if (mine->verbose == 0)
		log_sink(drop_record, NULL);
}

static _Noreturn void
serve(struct peer *p, const struct options *o, int in, int out)
{
	struct options mine = *o;
	char *why = NULL;
	int status;

	mine.handshake = false;
	mine.start = p->limited || o->start == START_WAIT ||
		options_given(o, "init-timeout") ?
	    START_WAIT :
	    START_ONCE;
	mine.fail = FAIL_NEVER;
	if (p->limited)
		hurry(p, &mine);
	if (dup2(in, STDIN_FILENO) == -1 || dup2(out, STDOUT_FILENO) == -1)
		_exit(1);
	close(in);
	close(out);
	status = proxy_run_watched(&mine, p->limited ? tell_session : NULL, p,
	    &why);
	if (why != NULL)
		log_error("%s", why);
	_exit(status);
}

static void
close_pair(const int fds[2])
{
	close(fds[0]);
	close(fds[1]);
}

static int
make_pipes(int to[2], int from[2], int watch[2])
{
	if (pipe(to) == -1)
		return -1;
	if (pipe(from) == -1) {
		close_pair(to);
		return -1;
	}
	if (pipe(watch) == -1) {
		close_pair(to);
		close_pair(from);
		return -1;
	}
	fcntl(watch[0], F_SETFL, O_NONBLOCK);
	fcntl(watch[1], F_SETFL, O_NONBLOCK);
	return 0;
}

/* Starts the proxy between two pipes, and one for its session. Returns 0, or -1
 * with errno. */
static int
start_proxy(struct peer *p, const struct options *o)
{
	int to[2], from[2], watch[2];

	if (make_pipes(to, from, watch) == -1)
		return -1;
	fflush(stdout);
	fflush(stderr);
	p->pid = fork();
	if (p->pid == 0) {
		close(to[1]);
		close(from[0]);
		close(watch[0]);
		p->watch = watch[1];
		serve(p, o, to[0], from[1]);
	}
	close(to[0]);
	close(from[1]);
	close(watch[1]);
	p->out = to[1];
	p->in = from[0];
	p->watch = watch[0];
	return p->pid == -1 ? -1 : 0;
}

static struct frame *
initialize(struct peer *p, char **why)
{
	char *params = xasprintf(
	    "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{%s},"
	    "\"clientInfo\":{\"name\":\"mcpsplice\",\"version\":\"%s\"}}",
	    p->talks ? "\"elicitation\":{}" : "", PACKAGE_VERSION);
	struct frame *f = peer_ask(p, "initialize", span_of(params), why);

	free(params);
	if (f != NULL && f->kind == FRAME_ERROR) {
		peer_explain(f, why);
		frame_unref(f);
		f = NULL;
	}
	if (f != NULL)
		put(p, msg_call(no_span, "notifications/initialized", no_span));
	return f;
}

static struct peer *
peer_new(const struct options *o)
{
	static const struct lines_ops ops = { on_line, on_too_long };
	struct peer *p = xcalloc(1, sizeof *p);

	p->in = p->out = p->pid = p->watch = -1;
	p->max_depth = o->max_depth;
	p->lines = lines_new(o->max_message, &ops, p);
	return p;
}

/* Starts the proxy and the session. Frees p if that fails. */
static struct peer *
begin(struct peer *p, const struct options *o, char **why)
{
	struct sigaction ignored = { .sa_handler = SIG_IGN };

	if (start_proxy(p, o) == -1)
		*why = xasprintf("the program cannot be started a second "
				 "time: %s",
		    strerror(errno));
	else {
		/* The end of the proxy is found when reading. */
		sigaction(SIGPIPE, &ignored, NULL);
		p->hello = initialize(p, why);
	}
	if (p->hello == NULL) {
		peer_end(p);
		return NULL;
	}
	return p;
}

struct peer *
peer_start(const struct options *o, char **why)
{
	struct peer *p = peer_new(o);

	p->talks = isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
	return begin(p, o, why);
}

struct peer *
peer_start_within(const struct options *o, int64_t limit_ms, char **why)
{
	struct peer *p = peer_new(o);

	p->limited = true;
	peer_within(p, limit_ms);
	return begin(p, o, why);
}

void
peer_within(struct peer *p, int64_t limit_ms)
{
	p->until = now_ms() + limit_ms;
	p->late = false;
}

const struct frame *
peer_hello(const struct peer *p)
{
	return p->hello;
}

void
peer_session(struct peer *p, struct peer_session *now, int64_t wait_ms)
{
	int64_t until = now_ms() + wait_ms;
	ssize_t n;

	do {
		while ((n = read(p->watch, now, sizeof *now)) ==
		    (ssize_t)sizeof *now)
			p->session = *now;
	} while (n != 0 && !p->session.listens && !p->session.never_will &&
	    wait_for(p->watch, until));
	*now = p->session;
}

/* Waits until the proxy has closed its stdout, with a signal if it takes too
 * long, and at last without its help. */
static void
see_it_end(struct peer *p)
{
	static const int signals[] = { SIGTERM, SIGKILL };
	struct frame *f;
	size_t i;

	for (i = 0;; i++) {
		if (p->limited)
			peer_within(p, END_MS);
		while ((f = next_message(p)) != NULL)
			frame_unref(f);
		if (!p->late || i == 2)
			return;
		kill(p->pid, signals[i]);
	}
}

void
peer_end(struct peer *p)
{
	size_t i;

	if (p->out != -1)
		close(p->out);
	if (p->in != -1) {
		see_it_end(p);
		close(p->in);
	}
	if (p->watch != -1)
		close(p->watch);
	while (p->pid > 0 && waitpid(p->pid, NULL, 0) == -1 && errno == EINTR)
		;
	for (i = 0; i < p->n; i++)
		frame_unref(p->list[i]);
	free(p->list);
	frame_unref(p->hello);
	lines_free(p->lines);
	free(p);
}

/* Is this an array of objects, or absent? A server may leave an empty list
 * out. */
static bool
is_list(struct span items)
{
	struct span key, item;
	size_t at = 0;

	if (items.n > 0 && json_kind(items) != '[')
		return false;
	while (json_next(items, &at, &key, &item))
		if (json_kind(item) != '{')
			return false;
	return true;
}

int
list_all(struct peer *p, const char *method, const char *member,
    struct buf *out, char **why)
{
	struct frame *f = peer_ask(p, method, no_span, why);
	struct span items, rest;

	if (f == NULL)
		return -1;
	items = json_get(f->result, member);
	rest = json_get(f->result, "nextCursor");
	if (f->kind != FRAME_RESULT)
		peer_explain(f, why);
	else if (json_kind(f->result) != '{' || !is_list(items) ||
	    (rest.n > 0 && json_kind(rest) != '"' && !span_is(rest, "null")))
		*why = xasprintf("the answer to %s is no list of %s", method,
		    member);
	else
		buf_addspan(out, items.n > 0 ? items : span_of("[]"));
	if (*why == NULL && json_kind(rest) == '"' && rest.n > 2)
		*why = xasprintf("the list of %s is cut: it has more than %d "
				 "pages, or they are slow or large",
		    member, BOUND_TOOL_PAGES);
	frame_unref(f);
	return *why == NULL ? 0 : -1;
}

int
list_tools(struct peer *p, struct buf *out, char **why)
{
	return list_all(p, "tools/list", "tools", out, why);
}

struct span
list_find(struct span tools, const char *name)
{
	struct span key, tool;
	size_t at = 0;

	while (json_next(tools, &at, &key, &tool))
		if (json_string_is(json_get(tool, "name"), name))
			return tool;
	return no_span;
}
