/*
 * The loop: one libevent base, deferred work, and the clock. A turn is one
 * wait, the callbacks it woke, and then all deferred work, so that deferring
 * costs no system call.
 *
 * Invariants: deferred work never runs inside a callback of libevent or of the
 * loop; the clock does not move within a turn; a timer never fires before
 * loop_now has reached its deadline; a sleep of the machine is reported before
 * the first callback of a turn.
 */
#include "config.h"

#include "io/loop.h"

#include <stdlib.h>

#include <event2/event.h>

#include "base/log.h"
#include "base/mem.h"
#include "os/child.h"
#include "os/clock.h"
#include "os/process.h"

/* If deferred work keeps deferring more, descriptors are served after this many
 * rounds. */
#define DEFER_ROUNDS 64
/* The longest time of a timer: ten years. */
#define TIMER_MAX_MS (INT64_C(315360000) * 1000)
struct task {
	loop_cb *cb; /* NULL: removed by loop_undefer */
	void *arg;
};

struct signal_watch {
	struct signal_watch *next;
	struct event *ev;
	void (*cb)(int signo, void *arg);
	void *arg;
};

struct loop {
	struct event_base *base;
	struct task *tasks; /* a ring, cap is a power of two */
	size_t head, n, cap;
	struct signal_watch *signals;
	bool has_children; /* children_cb is called for their ends */
	struct loop_fd *children_watch;
	loop_cb *children_cb;
	void *children_arg;
	int parent;
	struct loop_fd *parent_watch;
	loop_cb *parent_cb;
	void *parent_arg;
	void (*sleep_cb)(int64_t slept_ms, void *arg); /* NULL: not watched */
	void *sleep_arg;
	int64_t apart; /* smallest difference of the clocks since the last
			* sleep */
	int64_t slept; /* ms of a sleep still to be reported; 0: none */
	int64_t now;   /* valid while now_known */
	bool now_known;
	bool looked; /* the clocks were compared in this turn */
	bool running;
	bool stopped;
	int status;
};

struct loop_timer {
	struct loop *l;
	struct event *ev;
	loop_cb *cb;
	void *arg;
	int64_t deadline;
	bool set;
};

struct loop_fd {
	struct loop *l;
	struct event *ev;
	void (*cb)(int fd, int what, void *arg);
	void *arg;
};

/* libevent reports errors also by return values, which the callers handle: its
 * warnings on stderr would only look like an error of the user's. */
static void
loop_on_log(int severity, const char *msg)
{
	if (severity == EVENT_LOG_ERR)
		log_error("libevent: %s", msg);
	else
		log_debug("libevent: %s", msg);
}

static struct event_base *
base_new(void)
{
	struct event_config *config;
	struct event_base *base;

	config = event_config_new();
	if (config == NULL)
		return NULL;
	event_config_set_flag(config,
	    EVENT_BASE_FLAG_NOLOCK | EVENT_BASE_FLAG_IGNORE_ENV);
	base = event_base_new_with_config(config);
	event_config_free(config);
	return base;
}

struct loop *
loop_new(void)
{
	struct event_base *base;
	struct loop *l;

	/* With these, making an event cannot fail for lack of memory. */
	event_set_mem_functions(xmalloc, xrealloc, free);
	event_set_log_callback(loop_on_log);
	base = base_new();
	if (base == NULL)
		return NULL;
	os_process_ignore_pipes();

	l = xcalloc(1, sizeof *l);
	l->base = base;
	l->parent = -1;
	return l;
}

static void
parent_unwatch(struct loop *l)
{
	loop_fd_free(l->parent_watch);
	l->parent_watch = NULL;
	os_parent_close(l->parent);
	l->parent = -1;
}

void
loop_free(struct loop *l)
{
	struct signal_watch *s;

	if (l == NULL)
		return;
	while ((s = l->signals) != NULL) {
		l->signals = s->next;
		event_free(s->ev);
		free(s);
	}
	loop_fd_free(l->children_watch);
	parent_unwatch(l);
	event_base_free(l->base);
	free(l->tasks);
	free(l);
}

/* Runs the deferred work in order. A round is the work that was there at its
 * start. Work left after the last round waits for the next turn. */
static void
run_deferred(struct loop *l)
{
	struct task t;
	size_t left;
	int round;

	for (round = 0; round < DEFER_ROUNDS && l->n > 0; round++) {
		for (left = l->n; left > 0 && !l->stopped; left--) {
			t = l->tasks[l->head];
			l->head = (l->head + 1) & (l->cap - 1);
			l->n--;
			if (t.cb != NULL)
				t.cb(t.arg);
		}
	}
}

static int64_t
clock_ms(enum os_clock which)
{
	return os_clock_us(which) / 1000;
}

int64_t
loop_now(struct loop *l)
{
	if (l->now_known)
		return l->now;
	l->now = clock_ms(OS_CLOCK_STEADY);
	/* Outside of a turn nothing would refresh the cached time. */
	l->now_known = l->running;
	return l->now;
}

/* One of the two clocks is the loop's own, which is read in any case. */
static int64_t
clock_of_turn(struct loop *l, enum os_clock which)
{
	return os_clock_is_steady(which) ? loop_now(l) : clock_ms(which);
}

/* Returns how far the clocks are apart. Time that passes between the two
 * readings makes the difference larger. */
static int64_t
clocks_apart(struct loop *l)
{
	int64_t awake = clock_of_turn(l, OS_CLOCK_AWAKE);

	return clock_of_turn(l, OS_CLOCK_ALWAYS) - awake;
}

/* Reads in the other order: time between the readings makes the difference
 * smaller. */
static int64_t
clocks_apart_at_least(void)
{
	int64_t always = clock_ms(OS_CLOCK_ALWAYS);

	return always - clock_ms(OS_CLOCK_AWAKE);
}

/* Compares the clocks, once in a turn. Returns false if the machine slept: then
 * the turn is broken off, and the caller has to be called again. */
static bool
turn_begins(struct loop *l)
{
	int64_t apart, slept;

	if (l->looked || l->sleep_cb == NULL)
		return true;
	l->looked = true;
	apart = clocks_apart(l);
	if (apart < l->apart)
		l->apart = apart;
	if (apart - l->apart < os_clock_sleep_ms)
		return true;
	/* Or was the process just not scheduled between the readings? */
	slept = clocks_apart_at_least() - l->apart;
	if (slept < os_clock_sleep_ms)
		return true;
	l->apart = apart;
	l->slept = slept;
	event_base_loopbreak(l->base);
	return false;
}

/* Reports a sleep. Must not be called inside libevent. */
static void
tell_sleep(struct loop *l)
{
	int64_t slept = l->slept;

	l->slept = 0;
	if (slept > 0 && l->sleep_cb != NULL)
		l->sleep_cb(slept, l->sleep_arg);
}

void
loop_watch_sleep(struct loop *l, void (*cb)(int64_t slept_ms, void *arg),
    void *arg)
{
	l->sleep_cb = cb;
	l->sleep_arg = arg;
	l->apart = clocks_apart(l);
}

int
loop_run(struct loop *l)
{
	int flags, r;

	l->running = true;
	while (!l->stopped) {
		run_deferred(l);
		if (l->stopped)
			break;
		flags = EVLOOP_ONCE;
		if (l->n > 0)
			flags |= EVLOOP_NONBLOCK;
		l->now_known = false;
		l->looked = false;
		r = event_base_loop(l->base, flags);
		if (r != 0 && l->n == 0 && !l->stopped) {
			/* No callback could ever call loop_stop. */
			log_error("internal error: the event loop has "
				  "nothing to wait for");
			loop_stop(l, 1);
		}
		if (l->stopped)
			break;
		/* A turn without callbacks may still have to report a sleep. */
		turn_begins(l);
		tell_sleep(l);
	}
	l->running = false;
	l->now_known = false;
	l->stopped = false;
	return l->status;
}

void
loop_stop(struct loop *l, int status)
{
	l->stopped = true;
	l->status = status;
	event_base_loopbreak(l->base);
}

static void
tasks_grow(struct loop *l)
{
	struct task *tasks;
	size_t cap, i;

	cap = l->cap == 0 ? 16 : l->cap * 2;
	tasks = xcalloc(cap, sizeof *tasks);
	for (i = 0; i < l->n; i++)
		tasks[i] = l->tasks[(l->head + i) & (l->cap - 1)];
	free(l->tasks);
	l->tasks = tasks;
	l->head = 0;
	l->cap = cap;
}

void
loop_defer(struct loop *l, loop_cb *cb, void *arg)
{
	if (l->n == l->cap)
		tasks_grow(l);
	l->tasks[(l->head + l->n) & (l->cap - 1)] = (struct task){ cb, arg };
	l->n++;
}

void
loop_undefer(struct loop *l, loop_cb *cb, void *arg)
{
	struct task *t;
	size_t i;

	for (i = 0; i < l->n; i++) {
		t = &l->tasks[(l->head + i) & (l->cap - 1)];
		if (t->cb == cb && t->arg == arg)
			t->cb = NULL;
	}
}

static void
timer_add(struct loop_timer *t, int64_t ms)
{
	struct timeval tv;

	tv.tv_sec = (long)(ms / 1000);
	tv.tv_usec = (int)(ms % 1000 * 1000);
	event_add(t->ev, &tv);
}

/* libevent uses a coarse clock that lags by some ms. A timer that fires too
 * early by loop_now is set again, so that its callback sees the deadline
 * reached. */
static void
loop_on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct loop_timer *t = arg;
	int64_t now;

	(void)fd;
	(void)what;
	if (!turn_begins(t->l)) {
		timer_add(t, 0);
		return;
	}
	now = loop_now(t->l);
	if (now < t->deadline) {
		timer_add(t, t->deadline - now);
		return;
	}
	t->set = false;
	t->cb(t->arg);
}

struct loop_timer *
loop_timer_new(struct loop *l, loop_cb *cb, void *arg)
{
	struct loop_timer *t;

	t = xcalloc(1, sizeof *t);
	t->l = l;
	t->cb = cb;
	t->arg = arg;
	t->ev = event_new(l->base, -1, 0, loop_on_timer, t);
	return t;
}

void
loop_timer_set(struct loop_timer *t, int64_t ms)
{
	int64_t deadline;

	if (ms < 0) {
		if (t->set)
			event_del(t->ev);
		t->set = false;
		return;
	}
	if (ms > TIMER_MAX_MS)
		ms = TIMER_MAX_MS;
	deadline = loop_now(t->l) + ms;
	if (t->set && deadline == t->deadline)
		return;
	t->deadline = deadline;
	t->set = true;
	timer_add(t, ms);
}

void
loop_timer_free(struct loop_timer *t)
{
	if (t == NULL)
		return;
	event_free(t->ev);
	free(t);
}

static void
loop_on_signal(evutil_socket_t signo, short what, void *arg)
{
	struct signal_watch *s = arg;

	(void)what;
	s->cb((int)signo, s->arg);
}

int
loop_signal(struct loop *l, int signo, void (*cb)(int signo, void *arg),
    void *arg)
{
	struct signal_watch *s;

	if (signo == 0)
		return 0;
	s = xcalloc(1, sizeof *s);
	s->cb = cb;
	s->arg = arg;
	s->ev = evsignal_new(l->base, signo, loop_on_signal, s);
	if (s->ev == NULL || evsignal_add(s->ev, NULL) == -1) {
		if (s->ev != NULL)
			event_free(s->ev);
		free(s);
		return -1;
	}
	s->next = l->signals;
	l->signals = s;
	return 0;
}

static void
loop_on_child(int from, int what, void *arg)
{
	struct loop *l = arg;

	(void)from;
	(void)what;
	l->children_cb(l->children_arg);
}

static void
loop_on_child_signal(int signo, void *arg)
{
	loop_on_child(signo, 0, arg);
}

int
loop_children(struct loop *l, loop_cb *cb, void *arg)
{
	int stream, signo;

	if (l->has_children)
		return 0;
	l->children_cb = cb;
	l->children_arg = arg;
	signo = os_child_news(&stream);
	if (signo > 0)
		l->has_children = loop_signal(l, signo, loop_on_child_signal,
				      l) == 0;
	else if (signo == 0)
		l->has_children = (l->children_watch = loop_fd_new(l, stream,
				       LOOP_READ, loop_on_child, l)) != NULL;
	return l->has_children ? 0 : -1;
}

static void
loop_on_fd(evutil_socket_t fd, short what, void *arg)
{
	struct loop_fd *f = arg;
	int got = 0;

	/* The descriptor stays ready and is reported again. */
	if (!turn_begins(f->l))
		return;
	if (what & EV_READ)
		got |= LOOP_READ;
	if (what & EV_WRITE)
		got |= LOOP_WRITE;
	f->cb((int)fd, got, f->arg);
}

struct loop_fd *
loop_fd_new(struct loop *l, int fd, int what,
    void (*cb)(int fd, int what, void *arg), void *arg)
{
	struct loop_fd *f;
	short flags = EV_PERSIST;

	/* libevent takes a negative descriptor for a timer. */
	if (fd < 0)
		return NULL;
	if (what & LOOP_READ)
		flags |= EV_READ;
	if (what & LOOP_WRITE)
		flags |= EV_WRITE;
	f = xcalloc(1, sizeof *f);
	f->l = l;
	f->cb = cb;
	f->arg = arg;
	f->ev = event_new(l->base, fd, flags, loop_on_fd, f);
	if (f->ev == NULL || event_add(f->ev, NULL) == -1) {
		loop_fd_free(f);
		return NULL;
	}
	return f;
}

void
loop_fd_free(struct loop_fd *f)
{
	if (f == NULL)
		return;
	if (f->ev != NULL)
		event_free(f->ev);
	free(f);
}

static void
loop_on_parent(int fd, int what, void *arg)
{
	struct loop *l = arg;

	(void)fd;
	(void)what;
	parent_unwatch(l);
	l->parent_cb(l->parent_arg);
}

int
loop_watch_parent(struct loop *l, loop_cb *cb, void *arg)
{
	int ended;

	if (l->parent_watch != NULL)
		return -1;
	l->parent_cb = cb;
	l->parent_arg = arg;
	ended = os_parent_open(&l->parent);
	if (ended == 1)
		loop_defer(l, cb, arg);
	if (ended != 0) {
		l->parent = -1;
		return ended == 1 ? 0 : -1;
	}
	l->parent_watch = loop_fd_new(l, l->parent, LOOP_READ, loop_on_parent,
	    l);
	if (l->parent_watch == NULL) {
		parent_unwatch(l);
		return -1;
	}
	return 0;
}

const char *
loop_version(void)
{
	static char version[64];

	snprintf(version, sizeof version, "libevent %s", event_get_version());
	return version;
}
