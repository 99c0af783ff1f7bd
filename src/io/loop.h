/*
 * The event loop: timers, signals, descriptors, and work put off to the end
 * of the turn. The only clock of the program.
 */
#ifndef MCPSPLICE_IO_LOOP_H
#define MCPSPLICE_IO_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct loop;
struct loop_timer;
struct loop_fd;
struct event_base;

typedef void loop_cb(void *arg);

/* NULL when no event base can be had. Ignores SIGPIPE process-wide. */
struct loop *loop_new(void);
void loop_free(struct loop *l);
/* Runs until loop_stop; returns the status given there. */
int loop_run(struct loop *l);
void loop_stop(struct loop *l, int status);

/* Runs cb before the loop waits again, after the callback that is running
 * has returned: with an empty curl and libevent stack. Work put off while put
 * off work runs is run in the same turn. Allocates nothing in the steady
 * state. */
void loop_defer(struct loop *l, loop_cb *cb, void *arg);
/* Takes back what loop_defer was given with the same cb and arg. */
void loop_undefer(struct loop *l, loop_cb *cb, void *arg);

/* Monotonic ms. Cached for the turn, so that it is cheap. */
int64_t loop_now(struct loop *l);

/* A timer, not running at first. Single-shot. */
struct loop_timer *loop_timer_new(struct loop *l, loop_cb *cb, void *arg);
/* Fires in ms from now; 0 is the next turn; a negative value stops it. */
void loop_timer_set(struct loop_timer *t, int64_t ms);
void loop_timer_free(struct loop_timer *t);

/* Calls cb for each arrival of the signal, on the loop. */
int loop_signal(struct loop *l, int signo, void (*cb)(int signo, void *arg),
    void *arg);

/* Persistent, level-triggered interest in a pipe, a socket or a terminal.
 * NULL when the backend refuses it at once; epoll may refuse regular files
 * and /dev/null only while it waits, so do not ask for those. */
enum { LOOP_READ = 1, LOOP_WRITE = 2 };
struct loop_fd *loop_fd_new(struct loop *l, int fd, int what,
    void (*cb)(int fd, int what, void *arg), void *arg);
void loop_fd_free(struct loop_fd *f);

/* Watches the parent process (pidfd, kqueue). cb runs once when it is gone.
 * Returns -1 where the system cannot, or when the parent is init already. */
int loop_watch_parent(struct loop *l, loop_cb *cb, void *arg);

/* Calls cb in the first turn after the machine was asleep, before anything
 * that woke us is handled (signals excepted), with an empty stack like
 * deferred work. slept_ms is how long. Nothing wakes us for it: a sleep is
 * noticed when something comes. One watcher; cb NULL ends it. */
void loop_watch_sleep(struct loop *l, void (*cb)(int64_t slept_ms, void *arg),
    void *arg);

/* "libevent 2.1.12-stable" */
const char *loop_version(void);

/* n random bytes of the system. Returns 0, or -1. */
int loop_random(void *p, size_t n);

#endif
