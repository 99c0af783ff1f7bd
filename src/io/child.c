/*
 * Starting a program and reading its output. Between fork and exec only
 * functions run that a signal handler may call: everything that allocates or
 * looks something up is done before. A close-on-exec pipe tells on the loop
 * whether the program could be started.
 *
 * Invariants: each process is in the list of processes until it is waited for,
 * and waitpid is called for no other process, so its number cannot be reused
 * and is safe to kill; no callback runs inside a function of child.h; done is
 * called from deferred work, when the process is gone and no pipe is open.
 */
#include "config.h"

#include "io/child.h"

#include <sys/types.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bounds.h"
#include "base/mem.h"

extern char **environ;

enum {
	CHUNK = 16384,
	/* Descriptor of the pipe that reports a failure, above stdio. */
	REPORT_FD = 3,
	/* Used if no call closes all descriptors and there is no sane limit. */
	MAX_FDS = 65536,
	NO_EXEC_STATUS = 127
};

#define DEFAULT_PATH "/usr/local/bin:/usr/bin:/bin"
#ifndef NSIG
#define NSIG 65
#endif

/* A process to wait for. */
struct process {
	struct process *next;
	pid_t pid;
	struct child *child; /* NULL: the child was freed */
};

/* The parent's end of a pipe. */
struct end {
	int fd; /* -1: closed */
	struct loop_fd *watch;
	size_t got;
};

struct child {
	struct loop *l;
	const struct child_ops *ops;
	void *arg;
	struct process *process; /* NULL: not started, or ended */
	struct end in, out, err, report;
	struct buf input;
	size_t written; /* bytes of input */
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

/* The data that the child process needs, made before the fork. */
struct start {
	char *path;
	char **argv, **env;
	int fds[REPORT_FD + 1]; /* for descriptors 0 to 3; all of them are above
				 * 3 */
	bool detached;
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
	if (c->over || c->process != NULL || c->out.fd != -1 ||
	    c->err.fd != -1 || c->report.fd != -1)
		return;
	c->over = true;
	loop_timer_set(c->timer, -1);
	loop_defer(c->l, over_now, c);
}

/* Notes the end of the process. status is -1 if somebody else waited for it. */
static void
process_ended(struct child *c, int status)
{
	c->process = NULL;
	if (!c->decided && status != -1 && WIFSIGNALED(status)) {
		c->end = CHILD_SIGNAL;
		c->value = WTERMSIG(status);
	} else if (!c->decided) {
		c->end = CHILD_EXIT;
		c->value = status == -1 ? -1 : WEXITSTATUS(status);
	}
	loop_timer_set(c->timer, BOUND_END_MS);
	look_if_over(c);
}

/* Signals are not counted, so every process of the list is checked, and no
 * other process is waited for. */
static void
wait_for_all(void)
{
	struct process **at = &processes, *p;
	int status;
	pid_t pid;

	while ((p = *at) != NULL) {
		pid = waitpid(p->pid, &status, WNOHANG);
		if (pid == 0 || (pid == -1 && errno == EINTR)) {
			at = &p->next;
			continue;
		}
		*at = p->next;
		if (p->child != NULL)
			process_ended(p->child, pid == -1 ? -1 : status);
		free(p);
	}
}

static void
on_sigchld(int signo, void *arg)
{
	(void)signo;
	(void)arg;
	wait_for_all();
}

/* Installs the handler once for each loop; a new loop is noticed by the missing
 * handler. The host may have left SIGCHLD ignored, which libevent ends, or
 * blocked. */
static int
watch_sigchld(struct loop *l)
{
	static struct loop *watched;
	static void (*handler)(int);
	struct sigaction now;
	sigset_t set;

	if (watched == l && sigaction(SIGCHLD, NULL, &now) == 0 &&
	    now.sa_handler == handler)
		return 0;
	if (loop_signal(l, SIGCHLD, on_sigchld, NULL) == -1)
		return -1;
	watched = l;
	if (sigaction(SIGCHLD, NULL, &now) == 0)
		handler = now.sa_handler;
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	return sigprocmask(SIG_UNBLOCK, &set, NULL);
}

static void
close_fd(int *fd)
{
	if (*fd != -1)
		close(*fd);
	*fd = -1;
}

static void
close_end(struct end *e)
{
	loop_fd_free(e->watch);
	e->watch = NULL;
	close_fd(&e->fd);
}

static void
kill_child(struct child *c, enum child_end end, int64_t limit)
{
	c->decided = true;
	c->end = end;
	c->value = (int)limit;
	if (c->process != NULL)
		kill(c->process->pid, SIGKILL);
}

/* Ends a child whose output is too long; take_output still passes on the bytes
 * up to the limit. */
static void
too_large(struct child *c)
{
	close_end(&c->in);
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
	ssize_t n;

	n = read(e->fd, part, sizeof part);
	if (n == -1 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0) {
		close_end(e);
		look_if_over(c);
		return;
	}
	room = c->max_output - e->got;
	if ((size_t)n > room) {
		n = (ssize_t)room;
		too_large(c);
	}
	e->got += (size_t)n;
	if (n > 0 && tell != NULL)
		tell(part, (size_t)n, arg);
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

/* Writes input. A write error only ends the input, because a program need not
 * read it. */
static void
on_input(int fd, int what, void *arg)
{
	struct child *c = arg;
	ssize_t n;

	(void)what;
	n = write(fd, c->input.p + c->written, c->input.n - c->written);
	if (n == -1 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n > 0)
		c->written += (size_t)n;
	if (n <= 0 || c->written == c->input.n)
		close_end(&c->in);
}

/* Reads the report pipe. EOF without an error means that the program runs. */
static void
on_report(int fd, int what, void *arg)
{
	struct child *c = arg;
	int error;
	ssize_t n;

	(void)what;
	n = read(fd, &error, sizeof error);
	if (n == -1 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n == (ssize_t)sizeof error) {
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
	struct pollfd p = { .fd = e->fd, .events = POLLIN };

	return e->fd != -1 && poll(&p, 1, 0) == 1;
}

/* The time is up, for the program or for the processes that hold its pipes.
 * Bytes that are already in the pipes are read first, because the loop may have
 * been busy. */
static void
on_time(void *arg)
{
	struct child *c = arg;

	if (c->process != NULL)
		wait_for_all();
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

/* Returns a duplicate of fd at 4 or above, so that dup2 to 0..3 cannot
 * overwrite it; closes fd if it was lower. */
static int
lift(int fd)
{
	int up;

	if (fd > REPORT_FD)
		return fd;
	up = fcntl(fd, F_DUPFD_CLOEXEC, REPORT_FD + 1);
	close(fd);
	return up;
}

/* Makes a pipe. Both ends close on exec; the parent's end does not block.
 * Returns 0, or -1. */
static int
pipe_new(int *ours, int *theirs, int our_side)
{
	int fd[2], flags;

#ifdef HAVE_PIPE2
	if (pipe2(fd, O_CLOEXEC) == -1)
		return -1;
#else
	if (pipe(fd) == -1)
		return -1;
	fcntl(fd[0], F_SETFD, FD_CLOEXEC);
	fcntl(fd[1], F_SETFD, FD_CLOEXEC);
#endif
	*ours = fd[our_side];
	*theirs = lift(fd[1 - our_side]);
	flags = fcntl(*ours, F_GETFL);
	if (*theirs == -1 || flags == -1)
		return -1;
	return fcntl(*ours, F_SETFL, flags | O_NONBLOCK);
}

static int
end_open(struct child *c, struct end *e, int *theirs, int what,
    void (*cb)(int fd, int what, void *arg))
{
	if (pipe_new(&e->fd, theirs, what == LOOP_READ ? 0 : 1) == -1)
		return -1;
	e->watch = loop_fd_new(c->l, e->fd, what, cb, c);
	return e->watch == NULL ? -1 : 0;
}

static int
null_open(int *fd)
{
	*fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (*fd != -1)
		*fd = lift(*fd);
	return *fd == -1 ? -1 : 0;
}

static int
pipes_open(struct child *c, const struct child_config *config, int *fds)
{
	if ((c->input.n > 0 ?
		    end_open(c, &c->in, &fds[0], LOOP_WRITE, on_input) :
		    null_open(&fds[0])) == -1)
		return -1;
	if ((config->output ?
		    end_open(c, &c->out, &fds[1], LOOP_READ, on_output) :
		    null_open(&fds[1])) == -1)
		return -1;
	if ((config->errors ?
		    end_open(c, &c->err, &fds[2], LOOP_READ, on_errors) :
		    null_open(&fds[2])) == -1)
		return -1;
	return end_open(c, &c->report, &fds[REPORT_FD], LOOP_READ, on_report);
}

/* Returns 0, or an errno if path cannot be run. */
static int
runnable(const char *path)
{
	struct stat st;

	if (stat(path, &st) == -1)
		return errno;
	if (!S_ISREG(st.st_mode))
		return EACCES;
	return access(path, X_OK) == -1 ? errno : 0;
}

static const char *
search_path(void)
{
	char **e;

	for (e = environ; e != NULL && *e != NULL; e++)
		if (strncmp(*e, "PATH=", 5) == 0)
			return *e + 5;
	return DEFAULT_PATH;
}

/* Finds the program in PATH, like execvp. Returns 0, or an errno. Relative
 * folders of PATH are skipped: they depend on where the host started mcpsplice,
 * and anybody may write there. */
static int
find_program(const char *name, char **out)
{
	const char *at, *end;
	int error, worst = ENOENT;

	if (name == NULL || *name == '\0')
		return ENOENT;
	if (strchr(name, '/') != NULL) {
		*out = xstrdup(name);
		return 0;
	}
	for (at = search_path(); *at != '\0'; at = end + (*end == ':')) {
		end = at + strcspn(at, ":");
		if (*at != '/')
			continue;
		*out = xasprintf("%.*s/%s", (int)(end - at), at, name);
		error = runnable(*out);
		if (error == 0)
			return 0;
		if (error == EACCES)
			worst = EACCES;
		free(*out);
		*out = NULL;
	}
	return worst;
}

static bool
is_unset(const char *variable, const char *const *unset)
{
	size_t n = strcspn(variable, "=");

	for (; unset != NULL && *unset != NULL; unset++)
		if (strlen(*unset) == n && memcmp(*unset, variable, n) == 0)
			return true;
	return false;
}

/* Adds copies of strings: execve wants them without const, though it does not
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
	for (e = environ; e != NULL && *e != NULL; e++)
		if (!is_unset(*e, unset))
			strings_add(&list, xstrdup(*e));
	add_copies(&list, set);
	return list.list;
}

/* The functions from here to become run in the child process. */
static void
close_from(int first)
{
	struct rlimit limit;
	int fd, end = MAX_FDS;

#if defined(HAVE_CLOSE_RANGE)
	if (close_range((unsigned)first, UINT_MAX, 0) == 0)
		return;
#elif defined(HAVE_CLOSEFROM)
	closefrom(first);
	return;
#endif
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 &&
	    limit.rlim_cur < (rlim_t)end)
		end = (int)limit.rlim_cur;
	for (fd = first; fd < end; fd++)
		close(fd);
}

static void
default_signals(void)
{
	struct sigaction action;
	sigset_t none;
	int signo;

	memset(&action, 0, sizeof action);
	action.sa_handler = SIG_DFL;
	sigemptyset(&action.sa_mask);
	for (signo = 1; signo < NSIG; signo++)
		sigaction(signo, &action, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static _Noreturn void
become(const struct start *s)
{
	int i, error;

	if (s->detached)
		setsid();
	for (i = 0; i <= REPORT_FD; i++)
		if (dup2(s->fds[i], i) == -1)
			_exit(NO_EXEC_STATUS);
	fcntl(REPORT_FD, F_SETFD, FD_CLOEXEC);
	close_from(REPORT_FD + 1);
	default_signals();
	execve(s->path, s->argv, s->env);
	error = errno;
	while (write(REPORT_FD, &error, sizeof error) == -1 && errno == EINTR)
		;
	_exit(NO_EXEC_STATUS);
}

/* Forks with all signals blocked: in the child, a signal would run the parent's
 * handlers, which write to pipes that both processes share. Returns 0, or
 * -1. */
static int
fork_child(struct child *c, const struct start *s)
{
	struct process *p = xcalloc(1, sizeof *p);
	sigset_t all, before;
	int error;

	p->child = c;
	p->next = processes;
	processes = p;
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	p->pid = fork();
	if (p->pid == 0)
		become(s);
	error = errno;
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (p->pid == -1) {
		processes = p->next;
		free(p);
		errno = error;
		return -1;
	}
	c->process = p;
	return 0;
}

/* Starts the program. Returns 0, or an errno. */
static int
start(struct child *c, const struct child_config *config)
{
	struct start s = { .fds = { -1, -1, -1, -1 },
		.detached = config->detached };
	struct strings argv = { 0 };
	int i, error;

	errno = 0;
	error = find_program(config->path != NULL ? config->path :
						    config->argv[0],
	    &s.path);
	if (error == 0) {
		add_copies(&argv, config->argv);
		s.argv = argv.list;
		s.env = make_environment(config->unset, config->set);
		if (watch_sigchld(c->l) == -1 ||
		    pipes_open(c, config, s.fds) == -1 ||
		    fork_child(c, &s) == -1)
			error = errno != 0 ? errno : EIO;
	}
	for (i = 0; i <= REPORT_FD; i++)
		close_fd(&s.fds[i]);
	free(s.path);
	string_list_free(s.argv);
	string_list_free(s.env);
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
	c->in.fd = c->out.fd = c->err.fd = c->report.fd = -1;
	c->max_output = config->max_output;
	c->timeout_ms = config->timeout_ms;
	buf_init(&c->input, 0);
	buf_addspan(&c->input, config->input);
	c->timer = loop_timer_new(l, on_time, c);
	error = start(c, config);
	if (error == 0 && config->timeout_ms > 0)
		loop_timer_set(c->timer, config->timeout_ms);
	if (error != 0) {
		close_end(&c->in);
		close_end(&c->out);
		close_end(&c->err);
		close_end(&c->report);
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
		kill(c->process->pid, SIGKILL);
	if (c->process != NULL)
		c->process->child = NULL;
	loop_undefer(c->l, over_now, c);
	close_end(&c->in);
	close_end(&c->out);
	close_end(&c->err);
	close_end(&c->report);
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
	return xasprintf("cannot be started: %s", strerror(value));
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
		} else if (*p == '\\' && quote != '\'') {
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
	struct buf word;

	buf_init(&word, 0);
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
		problem = "there is no word in it";
	if (problem == NULL)
		return words.list;
	strings_free(&words);
	*why = xstrdup(problem);
	return NULL;
}
