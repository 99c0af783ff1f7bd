/* A loop on poll(2), whose clock is not the machine's. */
#include "config.h"

#include "unit/fake_loop.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "os/child.h"
#include "os/random.h"
#include "unit/unit.h"

enum {
	START_MS = 1000000,
	QUIET_MS = 20,    /* the clock jumps if nothing happens for so long */
	HANGS_MS = 50000, /* there is no timer, and nothing happens */
	FDS = 1000,
	SIGNALS = 65
};

struct task {
	struct task *next;
	loop_cb *cb;
	void *arg;
};

struct loop_timer {
	struct loop_timer *next;
	struct loop *l;
	loop_cb *cb;
	void *arg;
	int64_t at;   /* -1: not set */
	unsigned set; /* of two at the same time the one that was set first
		       * comes first */
};

struct loop_fd {
	struct loop_fd *next;
	struct loop *l;
	int fd, what;
	void (*cb)(int fd, int what, void *arg); /* NULL: it was freed */
	void *arg;
};

struct loop {
	int64_t now;
	struct task *tasks, **tasks_end;
	struct loop_timer *timers;
	unsigned sets;
	struct loop_fd *fds;
	struct loop_fd *signals;
	bool stopped;
	int status;
};

static struct {
	void (*cb)(int signo, void *arg);
	void *arg;
} handlers[SIGNALS];
static int came[2]; /* a pipe with a byte for each signal */

struct loop *
loop_new(void)
{
	struct loop *l = xcalloc(1, sizeof *l);

	signal(SIGPIPE, SIG_IGN);
	l->now = START_MS;
	l->tasks_end = &l->tasks;
	return l;
}

int64_t
loop_now(struct loop *l)
{
	return l->now;
}

void
fake_loop_pass(struct loop *l, int64_t ms)
{
	l->now += ms;
}

/* --- deferred work --- */

void
loop_defer(struct loop *l, loop_cb *cb, void *arg)
{
	struct task *t = xcalloc(1, sizeof *t);

	*t = (struct task){ NULL, cb, arg };
	*l->tasks_end = t;
	l->tasks_end = &t->next;
}

void
loop_undefer(struct loop *l, loop_cb *cb, void *arg)
{
	struct task *t;

	for (t = l->tasks; t != NULL; t = t->next)
		if (t->cb == cb && t->arg == arg)
			t->cb = NULL;
}

static void
run_tasks(struct loop *l)
{
	struct task *t;

	while (!l->stopped && (t = l->tasks) != NULL) {
		l->tasks = t->next;
		if (l->tasks == NULL)
			l->tasks_end = &l->tasks;
		if (t->cb != NULL)
			t->cb(t->arg);
		free(t);
	}
}

/* --- timers --- */

struct loop_timer *
loop_timer_new(struct loop *l, loop_cb *cb, void *arg)
{
	struct loop_timer *t = xcalloc(1, sizeof *t);

	*t = (struct loop_timer){ l->timers, l, cb, arg, -1, 0 };
	l->timers = t;
	return t;
}

void
loop_timer_set(struct loop_timer *t, int64_t ms)
{
	t->at = ms < 0 ? -1 : t->l->now + ms;
	t->set = t->l->sets++;
}

void
loop_timer_free(struct loop_timer *t)
{
	struct loop_timer **at;

	if (t == NULL)
		return;
	for (at = &t->l->timers; *at != t; at = &(*at)->next)
		;
	*at = t->next;
	free(t);
}

static struct loop_timer *
next_timer(const struct loop *l)
{
	struct loop_timer *t, *first = NULL;

	for (t = l->timers; t != NULL; t = t->next)
		if (t->at != -1 &&
		    (first == NULL || t->at < first->at ||
			(t->at == first->at && t->set < first->set)))
			first = t;
	return first;
}

/* --- descriptors and signals --- */

struct loop_fd *
loop_fd_new(struct loop *l, int fd, int what,
    void (*cb)(int fd, int what, void *arg), void *arg)
{
	struct loop_fd *f = xcalloc(1, sizeof *f);

	*f = (struct loop_fd){ l->fds, l, fd, what, cb, arg };
	l->fds = f;
	return f;
}

/* sweep() takes it out of the list when no caller walks the list. */
void
loop_fd_free(struct loop_fd *f)
{
	if (f != NULL)
		f->cb = NULL;
}

static void
sweep(struct loop *l)
{
	struct loop_fd **at = &l->fds, *f;

	while ((f = *at) != NULL) {
		if (f->cb != NULL) {
			at = &f->next;
			continue;
		}
		*at = f->next;
		free(f);
	}
}

static void
on_signal(int signo)
{
	char c = (char)signo;
	int saved = errno;

	if (write(came[1], &c, 1) != 1)
		abort();
	errno = saved;
}

static void
on_came(int fd, int what, void *arg)
{
	char c;

	(void)what;
	(void)arg;
	ck_assert_int_eq(read(fd, &c, 1), 1);
	handlers[(int)c].cb(c, handlers[(int)c].arg);
}

int
loop_signal(struct loop *l, int signo, void (*cb)(int signo, void *arg),
    void *arg)
{
	if (l->signals == NULL) {
		ck_assert_int_eq(pipe(came), 0);
		fcntl(came[0], F_SETFD, FD_CLOEXEC);
		fcntl(came[1], F_SETFD, FD_CLOEXEC);
		l->signals = loop_fd_new(l, came[0], LOOP_READ, on_came, l);
	}
	handlers[signo].cb = cb;
	handlers[signo].arg = arg;
	signal(signo, on_signal);
	return 0;
}

static loop_cb *on_children;

static void
on_child(int signo, void *arg)
{
	(void)signo;
	on_children(arg);
}

int
loop_children(struct loop *l, loop_cb *cb, void *arg)
{
	int stream, signo = os_child_news(&stream);

	if (handlers[signo].cb != NULL)
		return 0;
	on_children = cb;
	return loop_signal(l, signo, on_child, arg);
}

void
loop_free(struct loop *l)
{
	int i;

	for (i = 1; i < SIGNALS; i++)
		if (handlers[i].cb != NULL)
			signal(i, SIG_DFL);
	memset(handlers, 0, sizeof handlers);
	if (l->signals != NULL) {
		loop_fd_free(l->signals);
		close(came[0]);
		close(came[1]);
	}
	sweep(l);
	ck_assert_ptr_null(l->timers);
	free(l);
}

int
loop_watch_parent(struct loop *l, loop_cb *cb, void *arg)
{
	(void)l;
	(void)cb;
	(void)arg;
	return -1;
}

void
loop_watch_sleep(struct loop *l, void (*cb)(int64_t slept_ms, void *arg),
    void *arg)
{
	(void)l;
	(void)cb;
	(void)arg;
}

/* --- a turn --- */

/* Waits for descriptors so many ms of the machine's time, and serves them.
 * Returns whether there was one. */
static bool
serve(struct loop *l, int ms)
{
	struct loop_fd *f, *of[FDS];
	struct pollfd p[FDS];
	int i, n = 0, ready, what;

	sweep(l);
	for (f = l->fds; f != NULL; f = f->next, n++) {
		ck_assert_int_lt(n, FDS);
		of[n] = f;
		p[n] = (struct pollfd){ .fd = f->fd };
		p[n].events = (short)((f->what & LOOP_READ ? POLLIN : 0) |
		    (f->what & LOOP_WRITE ? POLLOUT : 0));
	}
	do
		ready = poll(p, (nfds_t)n, ms);
	while (ready == -1 && errno == EINTR);
	for (i = 0; i < n; i++) {
		what = p[i].revents & (POLLIN | POLLHUP | POLLERR) ? LOOP_READ :
								     0;
		if (p[i].revents & (POLLOUT | POLLHUP | POLLERR))
			what |= LOOP_WRITE;
		what &= of[i]->what;
		if (what != 0 && of[i]->cb != NULL && !l->stopped)
			of[i]->cb(of[i]->fd, what, of[i]->arg);
	}
	return ready > 0;
}

int
loop_run(struct loop *l)
{
	struct loop_timer *t;
	bool due;

	l->stopped = false;
	for (run_tasks(l); !l->stopped; run_tasks(l)) {
		t = next_timer(l);
		due = t != NULL && t->at <= l->now;
		if (serve(l, due ? 0 : t != NULL ? QUIET_MS : HANGS_MS))
			continue;
		ck_assert_msg(t != NULL, "nothing happens any more");
		if (t->at > l->now)
			l->now = t->at;
		t->at = -1;
		t->cb(t->arg);
	}
	return l->status;
}

void
loop_stop(struct loop *l, int status)
{
	l->stopped = true;
	l->status = status;
}

const char *
loop_version(void)
{
	return "a fake loop";
}

/* Random numbers that are always the same. */
int
os_random(void *p, size_t n)
{
	static unsigned char last;
	unsigned char *to = p;

	while (n-- > 0)
		*to++ = last += 37;
	return 0;
}
