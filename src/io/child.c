/*
 * Starts a program and reads its output.
 *
 * Invariants: each process is in the list of processes until it is waited for,
 * and no other process is waited for, so its number cannot be reused and is
 * safe to kill; no callback runs inside a function of child.h; done is
 * called from deferred work, when the process is gone and no pipe is open.
 */
#include "config.h"

#include "io/child.h"

#include <errno.h>
#include <stdlib.h>

#include "base/bounds.h"
#include "os/child.h"
#include "os/error.h"

enum { CHUNK = 16384 };

/* A process to wait for. */
struct process {
	struct process *next;
	struct os_child *os;
	struct child *child; /* NULL: the child was freed */
};

/* Our end of a pipe that the program writes to. */
struct end {
	struct os_input *from; /* NULL: closed */
	struct loop_fd *watch;
	size_t got;
};

struct child {
	struct loop *l;
	const struct child_ops *ops;
	void *arg;
	struct process *process; /* NULL: not started, or ended */
	struct end out, err, report;
	struct buf *all;      /* config.all */
	struct os_output *in; /* NULL: closed */
	struct loop_fd *in_watch;
	struct buf input;
	size_t written; /* bytes of input */
	bool stays;     /* more of it may come */
	size_t max_output;
	int64_t timeout_ms;
	/* config.timeout_ms, then BOUND_END_MS */
	struct loop_timer *timer;
	enum child_end end;
	int value;
	bool decided; /* end is known before the process ends: it was killed, or
		       * it did not start */
	bool over;    /* done is deferred */
};

static struct process *processes;

static void
over_now(void *arg)
{
	struct child *c = arg;
	const struct child_ops *ops = c->ops;
	enum child_end end = c->end;
	void *to = c->arg;
	int value = c->value;

	child_free(c, false);
	ops->done(end, value, to);
}

static void
look_if_over(struct child *c)
{
	if (c->over || c->process != NULL || c->out.from != NULL ||
	    c->err.from != NULL || c->report.from != NULL)
		return;
	c->over = true;
	loop_timer_set(c->timer, -1);
	loop_defer(c->l, over_now, c);
}

static void
process_ended(struct child *c, int value, bool by_signal)
{
	c->process = NULL;
	if (!c->decided) {
		c->end = by_signal ? CHILD_SIGNAL : CHILD_EXIT;
		c->value = value;
	}
	loop_timer_set(c->timer, BOUND_END_MS);
	look_if_over(c);
}

/* Signals are not counted, so every process of the list is checked, and no
 * other process is waited for. */
static void
wait_for_all(void *arg)
{
	struct process **at = &processes, *p;
	bool by_signal;
	int value;

	(void)arg;
	while ((p = *at) != NULL) {
		if (!os_child_ended(p->os, &value, &by_signal)) {
			at = &p->next;
			continue;
		}
		*at = p->next;
		if (p->child != NULL)
			process_ended(p->child, value, by_signal);
		os_child_free(p->os);
		free(p);
	}
}

static void
close_end(struct end *e)
{
	loop_fd_free(e->watch);
	os_input_close(e->from);
	*e = (struct end){ .got = e->got };
}

static void
close_input(struct child *c)
{
	loop_fd_free(c->in_watch);
	os_output_close(c->in);
	c->in_watch = NULL;
	c->in = NULL;
}

static void
close_all(struct child *c)
{
	close_input(c);
	close_end(&c->out);
	close_end(&c->err);
	close_end(&c->report);
}

static void
kill_child(struct child *c, enum child_end end, int64_t limit)
{
	c->decided = true;
	c->end = end;
	c->value = (int)limit;
	if (c->process != NULL)
		os_child_kill(c->process->os);
}

/* Ends a child whose output is too long; take_output still passes on the bytes
 * up to the limit. */
static void
too_large(struct child *c)
{
	close_input(c);
	close_end(&c->out);
	close_end(&c->err);
	kill_child(c, CHILD_TOO_LARGE, (int64_t)c->max_output);
	look_if_over(c);
}

/* Reads once and passes the output on. The callback comes last, because it may
 * free the child. */
static void
take_output(struct child *c, struct end *e,
    void (*tell)(const char *p, size_t n, void *arg))
{
	char part[CHUNK];
	void *arg = c->arg;
	size_t room;
	int64_t n;

	n = os_input_read(e->from, part, sizeof part);
	if (n == -1 && errno == EAGAIN)
		return;
	if (n <= 0) {
		close_end(e);
		look_if_over(c);
		return;
	}
	room = c->max_output - e->got;
	if ((size_t)n > room) {
		n = (int64_t)room;
		too_large(c);
	}
	e->got += (size_t)n;
	if (n > 0 && tell != NULL)
		tell(part, (size_t)n, arg);
	else if (n > 0 && c->all != NULL)
		buf_add(c->all, part, (size_t)n);
}

static void
on_output(int fd, int what, void *arg)
{
	struct child *c = arg;

	(void)fd;
	(void)what;
	take_output(c, &c->out, c->ops->output);
}

static void
on_errors(int fd, int what, void *arg)
{
	struct child *c = arg;

	(void)fd;
	(void)what;
	take_output(c, &c->err, c->ops->errors);
}

static void write_input(struct child *c);

static void
on_input(int fd, int what, void *arg)
{
	(void)fd;
	(void)what;
	write_input(arg);
}

static void
watch_input(struct child *c)
{
	if (c->in_watch == NULL)
		c->in_watch = loop_fd_new(c->l, os_output_stream(c->in),
		    os_output_event, on_input, c);
	if (c->in_watch == NULL)
		close_input(c);
}

/* A write error only ends the input, because a program need not read it. */
static void
write_input(struct child *c)
{
	struct os_part left = { NULL, c->input.n - c->written };
	int64_t n = 0;

	if (c->in == NULL)
		return;
	while (left.n > 0) {
		left.p = c->input.p + c->written;
		n = os_output_write(c->in, &left, 1);
		if (n <= 0)
			break;
		c->written += (size_t)n;
		left.n -= (size_t)n;
	}
	if (n < 0 || (left.n == 0 && !c->stays)) {
		close_input(c);
	} else if (left.n > 0) {
		watch_input(c);
	} else {
		loop_fd_free(c->in_watch);
		c->in_watch = NULL;
		buf_wipe(&c->input);
		c->written = 0;
	}
}

void
child_write(struct child *c, struct span bytes)
{
	buf_addspan(&c->input, bytes);
	write_input(c);
}

void
child_end_input(struct child *c)
{
	c->stays = false;
	write_input(c);
}

/* Reads the report pipe. EOF without an error means that the program runs. */
static void
on_report(int fd, int what, void *arg)
{
	struct child *c = arg;
	int error;
	int64_t n;

	(void)fd;
	(void)what;
	n = os_input_read(c->report.from, &error, sizeof error);
	if (n == -1 && errno == EAGAIN)
		return;
	if (n == (int64_t)sizeof error) {
		c->decided = true;
		c->end = CHILD_NO_START;
		c->value = error;
	}
	close_end(&c->report);
	look_if_over(c);
}

static bool
has_more(const struct end *e)
{
	return e->from != NULL && os_input_ready(e->from);
}

/* The time is up, for the program or for the processes that hold its pipes.
 * Bytes that are already in the pipes are read first, because the loop may have
 * been busy. */
static void
on_time(void *arg)
{
	struct child *c = arg;

	if (c->process != NULL)
		wait_for_all(NULL);
	else if (has_more(&c->out) || has_more(&c->err))
		loop_timer_set(c->timer, 0);
	else {
		close_end(&c->out);
		close_end(&c->err);
		look_if_over(c);
	}
	if (c->process != NULL)
		kill_child(c, CHILD_TIMEOUT, c->timeout_ms);
}

static bool
is_unset(const char *variable, const char *const *unset)
{
	for (; unset != NULL && *unset != NULL; unset++)
		if (os_child_is_variable(variable, *unset))
			return true;
	return false;
}

/* Adds copies of strings: a system takes them without const, though it does not
 * change them. */
static void
add_copies(struct strings *list, const char *const *from)
{
	for (; from != NULL && *from != NULL; from++)
		strings_add(list, xstrdup(*from));
}

/* Makes the child's environment: ours without the variables in unset, and what
 * is set. */
static char **
make_environment(const char *const *unset, const char *const *set)
{
	struct strings list = { 0 };
	char **e;

	strings_add(&list, NULL);
	for (e = os_child_environment(); e != NULL && *e != NULL; e++)
		if (!is_unset(*e, unset))
			strings_add(&list, xstrdup(*e));
	add_copies(&list, set);
	return list.list;
}

static int
end_watch(struct child *c, struct end *e, struct os_input *from,
    void (*cb)(int fd, int what, void *arg))
{
	if (from == NULL)
		return 0;
	e->from = from;
	e->watch = loop_fd_new(c->l, os_input_stream(from), LOOP_READ, cb, c);
	return e->watch == NULL ? -1 : 0;
}

static int
ends_watch(struct child *c, const struct os_child_ends *ends)
{
	int failed = end_watch(c, &c->out, ends->output, on_output) |
	    end_watch(c, &c->err, ends->errors, on_errors) |
	    end_watch(c, &c->report, ends->report, on_report);

	c->in = ends->input;
	write_input(c);
	return failed;
}

static int
run(struct child *c, const struct os_child_plan *plan)
{
	struct os_child_ends ends = { 0 };
	struct os_child *os = os_child_start(plan, &ends);
	int error = os == NULL ? errno : 0;

	if (ends_watch(c, &ends) == -1 && error == 0)
		error = EIO;
	if (os == NULL)
		return error;
	c->process = xcalloc(1, sizeof *c->process);
	*c->process = (struct process){ processes, os, c };
	processes = c->process;
	if (error != 0)
		kill_child(c, CHILD_NO_START, error);
	return error;
}

/* Starts the program. Returns 0, or an errno. */
static int
start(struct child *c, const struct child_config *config)
{
	struct os_child_plan plan = { .input = config->stays || c->input.n > 0,
		.output = config->output,
		.errors = config->errors,
		.our_errors = config->our_errors,
		.detached = config->detached };
	struct strings argv = { 0 };
	char *path = NULL, **env;
	int error = os_child_find(config->path != NULL ? config->path :
							 config->argv[0],
	    &path);

	if (error != 0)
		return error;
	add_copies(&argv, config->argv);
	env = make_environment(config->unset, config->set);
	plan.path = path;
	plan.argv = argv.list;
	plan.environment = env;
	error = loop_children(c->l, wait_for_all, NULL) == -1 ? EIO :
								run(c, &plan);
	free(path);
	string_list_free(argv.list);
	string_list_free(env);
	return error;
}

struct child *
child_new(struct loop *l, const struct child_config *config,
    const struct child_ops *ops, void *arg)
{
	struct child *c = xcalloc(1, sizeof *c);
	int error;

	c->l = l;
	c->ops = ops;
	c->arg = arg;
	c->all = config->all;
	c->max_output = config->max_output;
	c->timeout_ms = config->timeout_ms;
	c->stays = config->stays;
	buf_addspan(&c->input, config->input);
	c->timer = loop_timer_new(l, on_time, c);
	error = start(c, config);
	if (error == 0 && config->timeout_ms > 0)
		loop_timer_set(c->timer, config->timeout_ms);
	if (error != 0) {
		close_all(c);
		c->end = CHILD_NO_START;
		c->value = error;
		look_if_over(c);
	}
	return c;
}

void
child_free(struct child *c, bool kill_it)
{
	if (c == NULL)
		return;
	if (c->process != NULL && kill_it)
		os_child_kill(c->process->os);
	if (c->process != NULL)
		c->process->child = NULL;
	loop_undefer(c->l, over_now, c);
	close_all(c);
	loop_timer_free(c->timer);
	buf_wipe(&c->input); /* it may be secret */
	free(c);
}

char *
child_fate(enum child_end end, int value)
{
	switch (end) {
	case CHILD_EXIT:
		return xasprintf("ended with status %d", value);
	case CHILD_SIGNAL:
		return xasprintf("was ended by signal %d", value);
	case CHILD_TIMEOUT:
		return xasprintf("did not answer within %d s", value / 1000);
	case CHILD_TOO_LARGE:
		return xasprintf("wrote more than %d KiB", value / 1024);
	case CHILD_NO_START:
		break;
	}
	return xasprintf("cannot be started: %s", os_error_text(value));
}

/* --- command lines --- */

/* Reads one word from *at on into word. Returns NULL, or why the text is
 * wrong. */
static const char *
take_word(const char **at, struct buf *word)
{
	const char *p;
	char quote = '\0';

	for (p = *at; *p != '\0' && (quote != '\0' || !is_space(*p)); p++) {
		if (*p == quote) {
			quote = '\0';
		} else if (quote == '\0' && (*p == '\'' || *p == '"')) {
			quote = *p;
		} else if (*p == '\\' && quote != '\'' &&
		    os_backslash_escapes) {
			if (*++p == '\0')
				return "it ends with a backslash";
			buf_addc(word, *p);
		} else {
			buf_addc(word, *p);
		}
	}
	*at = p;
	return quote == '\0' ? NULL : "a quote is not closed";
}

char **
child_words(const char *text, char **why)
{
	struct strings words = { 0 };
	const char *problem = NULL;
	struct buf word = { 0 };

	for (;;) {
		while (is_space(*text))
			text++;
		if (*text == '\0')
			break;
		problem = take_word(&text, &word);
		if (problem != NULL)
			break;
		strings_add(&words, xstrdup(buf_str(&word)));
		buf_reset(&word);
	}
	buf_free(&word);
	if (words.n == 0 && problem == NULL)
		problem = "it is empty";
	if (problem == NULL)
		return words.list;
	strings_free(&words);
	*why = xstrdup(problem);
	return NULL;
}
