/*
 * A proxy in a child process, and the client that asks it, for "tools", "call"
 * and "check": it reads all pages of a list, shows progress, and puts questions
 * of the server to the user at the terminal.
 */
#include "config.h"

#include "tools/command.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/bounds.h"
#include "base/codec.h"
#include "core/wire/json.h"
#include "core/wire/lines.h"
#include "core/wire/msg.h"
#include "io/child.h"
#include "options/from_options.h"
#include "os/error.h"
#include "os/terminal.h"
#include "proxy/proxy.h"

/* --- a question at the terminal --- */

enum { ANSWER_MAX = 4096 };

/* Prints a text of the server, made safe for a terminal. */
static void
print_text(const char *before, struct span value, const char *after)
{
	struct buf shown = { 0 };

	json_shown(value, &shown, 1000);
	fprintf(stderr, "%s%s%s", before, buf_str(&shown), after);
	buf_free(&shown);
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
	struct span title = json_get(field, "title");

	print_text("", json_get(field, "description"), "\n");
	print_text("", json_kind(title) == '"' ? title : json_quoted(name),
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
	struct span required = json_get(schema, "required");
	bool all = true;
	size_t at = 0, from = result->n;

	if (json_kind(fields) != '{')
		return -1;
	print_text("\n", json_get(params, "message"), "\n");
	buf_adds(result, "{\"action\":\"accept\",\"content\":{");
	while (all && json_next(fields, &at, &name, &field))
		all = ask_field(name, field,
		    list_has(required, json_quoted(name)), result);
	buf_adds(result, "}}");
	if (!all) {
		result->n = from;
		buf_adds(result, "{\"action\":\"decline\"}");
	}
	return 0;
}

/* --- the proxy as a child --- */

struct proxy_child {
	struct loop *l;
	struct child *child; /* NULL: it has ended */
	struct loop_timer *timer;
	int start_error; /* errno */
	struct lines *lines;
	char id[16];          /* of the request that waits, or "" */
	struct frame *answer; /* to it */
	unsigned ids;
	size_t max_depth;
	bool talks;    /* a user sits at the terminal */
	bool shown;    /* a line about progress stands there */
	bool limited;  /* nothing waits after the time until */
	int64_t until; /* of loop_now */
	bool late;     /* that time has passed */
	bool ends;     /* nothing that it says counts any more */
	struct proxy_child_session session;
};

enum {
	WORDS_MS = 1000, /* between the proxy's time for a start and ours */
	DRAIN_MS = 1000, /* for what is unanswered at the end, with a limit */
	END_MS = 2500,   /* until a proxy that does not end is killed */
	TASK_MAX = 1 << 20
};

/* --- time --- */

static void
on_late(void *arg)
{
	struct proxy_child *p = arg;

	p->late = true;
	loop_stop(p->l, 0);
}

/* Runs the loop until something came, or the time until. */
static void
wait_until(struct proxy_child *p, int64_t until)
{
	int64_t left = until - loop_now(p->l);

	p->late = false;
	loop_timer_set(p->timer, left > 0 ? left : 0);
	loop_run(p->l);
	loop_timer_set(p->timer, -1);
}

/* --- messages --- */

/* Takes what tell_session has written. */
static void
take_session(struct proxy_child_session *s, struct span line)
{
	enum { FLAGS = 5 };
	bool *const flags[FLAGS] = { &s->has_id, &s->modern, &s->sse,
		&s->listens, &s->never_will };
	size_t i;

	if (line.n < FLAGS + 2)
		return;
	for (i = 0; i < FLAGS; i++)
		*flags[i] = line.p[1 + i] == '1';
	snprintf(s->version, sizeof s->version, "%.*s",
	    (int)(line.n - FLAGS - 2), line.p + FLAGS + 2);
}

/* Writes the frame with its line end. If nobody reads, the end is
 * found later. */
static void
put(struct proxy_child *p, struct frame *f)
{
	if (p->child != NULL)
		child_write(p->child,
		    (struct span){ f->text.p, f->text.n + 1 });
	frame_unref(f);
}

/* --- what comes meanwhile --- */

static void
wipe_progress(struct proxy_child *p)
{
	if (p->shown)
		fprintf(stderr, "\r\033[K");
	p->shown = false;
}

static void
show_progress(struct proxy_child *p, struct span params)
{
	struct span done = json_get(params, "progress");
	struct span total = json_get(params, "total");
	struct buf text = { 0 };

	json_shown(json_get(params, "message"), &text, 60);
	wipe_progress(p);
	fprintf(stderr, "%.*s", (int)done.n, done.p);
	if (total.n > 0)
		fprintf(stderr, " of %.*s", (int)total.n, total.p);
	if (text.n > 0)
		fprintf(stderr, ": %s", buf_str(&text));
	fflush(stderr);
	p->shown = true;
	buf_free(&text);
}

static void
answer_question(struct proxy_child *p, const struct frame *f)
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

static void
take_message(struct proxy_child *p, struct frame *f)
{
	if (*p->id != '\0' &&
	    (f->kind == FRAME_RESULT || f->kind == FRAME_ERROR) &&
	    msg_id_same(f->id, span_of(p->id))) {
		p->answer = f;
		*p->id = '\0';
		return;
	}
	if (f->kind == FRAME_REQUEST)
		answer_question(p, f);
	else if (p->talks && f->kind == FRAME_NOTIFICATION &&
	    json_key_is(f->method, "notifications/progress"))
		show_progress(p, f->params);
	frame_unref(f);
}

static void
on_line(struct frame *f, void *arg)
{
	struct proxy_child *p = arg;

	loop_stop(p->l, 0);
	if (f->text.p[0] == '#')
		take_session(&p->session, f->text);
	if (!p->ends && msg_parse(f, (unsigned)p->max_depth) == MSG_OK)
		take_message(p, f);
	else
		frame_unref(f);
}

static void
on_output(const char *p, size_t n, void *arg)
{
	struct proxy_child *child = arg;

	lines_feed(child->lines, p, n);
}

static void
on_done(enum child_end end, int value, void *arg)
{
	struct proxy_child *p = arg;

	if (end == CHILD_NO_START)
		p->start_error = value;
	p->child = NULL;
	loop_stop(p->l, 0);
}

/* --- requests --- */

/* Runs the loop until something came. Returns false when nothing will, or not in
 * time. */
static bool
wait_more(struct proxy_child *p)
{
	if (p->child == NULL)
		return false;
	if (p->limited)
		wait_until(p, p->until);
	else
		loop_run(p->l);
	return !p->late;
}

struct frame *
proxy_child_ask(struct proxy_child *p, const char *method, struct span params,
    char **why)
{
	struct frame *f;

	snprintf(p->id, sizeof p->id, "%u", ++p->ids);
	put(p, msg_call(span_of(p->id), method, params));
	while (p->answer == NULL && wait_more(p))
		continue;
	f = p->answer;
	p->answer = NULL;
	*p->id = '\0'; /* one that comes later is none */
	wipe_progress(p);
	if (f == NULL && p->late)
		*why = xasprintf("%s was not answered in time", method);
	else if (f == NULL)
		*why = xasprintf("the connection ended before %s was answered",
		    method);
	return f;
}

void
proxy_child_explain(const struct frame *error, char **why)
{
	struct buf text = { 0 }, shown = { 0 };

	msg_error_text(error, &text);
	codec_visible(&shown, buf_span(&text), 2000);
	*why = xasprintf("%s", shown.n > 0 ? buf_str(&shown) : "an error");
	buf_free(&text);
	buf_free(&shown);
}

/* --- the child --- */

static void
drop_record(enum log_level level, const char *line, void *arg)
{
	(void)level;
	(void)line;
	(void)arg;
}

static struct frame *
tell_session(const struct session_brief *now, void *arg)
{
	struct buf line = { 0 }, *last = arg;
	struct frame *f = NULL;

	buf_addf(&line, "#%d%d%d%d%d %s", now->has_id, now->modern, now->sse,
	    now->listening == LISTENS, now->listening == LISTENS_NOT,
	    now->version == NULL ? "" : now->version);
	if (strcmp(buf_str(&line), buf_str(last)) != 0) {
		buf_reset(last);
		buf_addspan(last, buf_span(&line));
		f = frame_take(&line);
	}
	buf_free(&line);
	return f;
}

/* Changes the options for a child with a limit. The error of the proxy says more
 * than that there was no answer, so it comes before the limit. */
static void
hurry(int64_t left, struct options *mine)
{
	left -= left > 2 * WORDS_MS ? WORDS_MS : left / 2;
	if (mine->init_timeout_ms == 0 || mine->init_timeout_ms > left)
		mine->init_timeout_ms = left;
	mine->drain_timeout_ms = DRAIN_MS;
}

static int
serve(struct options *o, int64_t limit_ms, char **why)
{
	struct buf told = { 0 };
	int status;

	o->handshake = false;
	o->start = limit_ms >= 0 || o->start == START_WAIT ||
		options_given(o, "init-timeout") ?
	    START_WAIT :
	    START_ONCE;
	o->fail = FAIL_NEVER;
	if (limit_ms >= 0)
		hurry(limit_ms, o);
	status = proxy_run(o, limit_ms >= 0 ? tell_session : NULL, &told, why);
	buf_free(&told);
	return status;
}

/* Reads the task, and not one byte more. */
static int
read_task(struct buf *task)
{
	int c;

	setvbuf(stdin, NULL, _IONBF, 0);
	while ((c = getchar()) != EOF && c != '\n')
		if (buf_addc(task, (char)c) != 0)
			return -1;
	return c == EOF ? -1 : 0;
}

/* Returns the command line, or NULL. */
static char **
words_of(const char *text, int *argc)
{
	struct strings words = { 0 };
	struct buf word;
	size_t n;

	while (*text == ' ') {
		n = strcspn(++text, " ");
		buf_init(&word, 0);
		if (codec_base64url_read(&word, (struct span){ text, n }) != 0)
			break;
		strings_add(&words, xstrdup(buf_str(&word)));
		buf_wipe(&word);
		text += n;
	}
	*argc = (int)words.n;
	return words.list;
}

int
proxy_child_process(void)
{
	struct options o = { 0 };
	int argc = 0, status = 2;
	long long limit_ms = -1;
	char *why = NULL, **argv = NULL;
	int quiet = 0, at = 0;
	struct buf task;

	buf_init(&task, TASK_MAX);
	if (read_task(&task) == 0 &&
	    sscanf(buf_str(&task), "%lld %d%n", &limit_ms, &quiet, &at) == 2)
		argv = words_of(buf_str(&task) + at, &argc);
	if (quiet != 0)
		log_sink(drop_record, NULL);
	if (argc == 0)
		why = xstrdup("it has no task");
	else if (options_load(&o, argc, argv, &why) == 0)
		status = serve(&o, limit_ms, &why);
	if (why != NULL)
		log_error("%s", why);
	buf_wipe(&task);
	string_list_free(argv);
	options_free(&o);
	free(why);
	return status;
}

/* --- begin and end --- */

static void
put_task(struct proxy_child *p, const struct options *o)
{
	int64_t left = p->until - loop_now(p->l);
	struct buf task = { 0 };
	char **word;

	buf_addf(&task, "%lld %d", p->limited ? (long long)left : -1LL,
	    p->limited && o->verbose == 0);
	for (word = o->argv; *word != NULL; word++) {
		buf_addc(&task, ' ');
		codec_base64url(&task, span_of(*word));
	}
	buf_addc(&task, '\n');
	child_write(p->child, buf_span(&task));
	buf_wipe(&task);
}

static void
start_proxy(struct proxy_child *p, const struct options *o)
{
	static const struct child_ops ops = { .output = on_output,
		.done = on_done };
	const char *const argv[] = { "mcpsplice", "tools", "--agent", NULL };
	char *program = setup_program(o);
	struct child_config c = { .argv = argv,
		.path = program,
		.stays = true,
		.output = true,
		.our_errors = true,
		.max_output = SIZE_MAX };

	fflush(stdout);
	fflush(stderr);
	p->child = child_new(p->l, &c, &ops, p);
	free(program);
	put_task(p, o);
}

static struct frame *
initialize(struct proxy_child *p, char **why)
{
	char *params = xasprintf(
	    "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{%s},"
	    "\"clientInfo\":{\"name\":\"mcpsplice\",\"version\":\"%s\"}}",
	    p->talks ? "\"elicitation\":{}" : "", PACKAGE_VERSION);
	struct frame *f = proxy_child_ask(p, "initialize", span_of(params),
	    why);

	free(params);
	if (f != NULL && f->kind == FRAME_ERROR) {
		proxy_child_explain(f, why);
		frame_unref(f);
		f = NULL;
	}
	if (f != NULL)
		put(p, msg_call(no_span, "notifications/initialized", no_span));
	return f;
}

struct proxy_child *
proxy_child_start(const struct options *o, int64_t limit_ms, char **why)
{
	static const struct lines_ops ops = { .line = on_line };
	struct loop *l = setup_loop(why);
	struct proxy_child *p;

	if (l == NULL)
		return NULL;
	p = xcalloc(1, sizeof *p);
	p->l = l;
	p->timer = loop_timer_new(l, on_late, p);
	p->max_depth = o->max_depth;
	p->lines = lines_new(o->max_message, &ops, p);
	p->limited = limit_ms > 0;
	p->talks = !p->limited && os_is_terminal(OS_STDIN) &&
	    os_is_terminal(OS_STDERR);
	proxy_child_within(p, limit_ms);
	start_proxy(p, o);
	p->session.hello = initialize(p, why);
	if (p->session.hello != NULL)
		return p;
	if (p->start_error != 0) {
		free(*why);
		*why = xasprintf("cannot start the program a second time: %s",
		    os_error_text(p->start_error));
	}
	proxy_child_end(p);
	return NULL;
}

void
proxy_child_within(struct proxy_child *p, int64_t limit_ms)
{
	p->until = loop_now(p->l) + limit_ms;
	p->late = false;
}

const struct proxy_child_session *
proxy_child_session(struct proxy_child *p, int64_t wait_ms)
{
	int64_t until = loop_now(p->l) + wait_ms;

	do
		wait_until(p, until);
	while (!p->late && p->child != NULL && !p->session.listens &&
	    !p->session.never_will);
	return &p->session;
}

void
proxy_child_end(struct proxy_child *p)
{
	p->ends = true;
	if (p->child != NULL)
		child_end_input(p->child);
	proxy_child_within(p, END_MS);
	while (wait_more(p))
		continue;
	child_free(p->child, true);
	frame_unref(p->session.hello);
	lines_free(p->lines);
	loop_timer_free(p->timer);
	loop_free(p->l);
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
list_all(struct proxy_child *p, const char *method, const char *member,
    struct buf *out, char **why)
{
	struct frame *f = proxy_child_ask(p, method, no_span, why);
	struct span items, rest;

	if (f == NULL)
		return -1;
	items = json_get(f->result, member);
	rest = json_get(f->result, "nextCursor");
	if (f->kind != FRAME_RESULT)
		proxy_child_explain(f, why);
	else if (json_kind(f->result) != '{' || !is_list(items) ||
	    (rest.n > 0 && json_kind(rest) != '"' && !span_is(rest, "null")))
		*why = xasprintf("the answer to %s is not a list of %s", method,
		    member);
	else
		buf_addspan(out, items.n > 0 ? items : span_of("[]"));
	if (*why == NULL && json_kind(rest) == '"' && rest.n > 2)
		*why = xasprintf("the list of %s is incomplete: it has more "
				 "than %d pages, or they are slow or large",
		    member, BOUND_TOOL_PAGES);
	frame_unref(f);
	return *why == NULL ? 0 : -1;
}

bool
list_has(struct span list, struct span value)
{
	struct span key, one;
	struct buf a = { 0 }, b = { 0 };
	size_t at = 0;
	bool same = false;

	if (json_kind(value) == '"')
		json_string(value, &a);
	while (!same && json_kind(list) == '[' &&
	    json_next(list, &at, &key, &one)) {
		buf_reset(&b);
		if (json_kind(value) == '"' && json_kind(one) == '"')
			same = json_string(one, &b) == 0 &&
			    span_eq(buf_span(&a), buf_span(&b));
		else
			same = span_eq(one, value);
	}
	buf_free(&a);
	buf_free(&b);
	return same;
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
