/*
 * The event loop: timers, signals, descriptors, and deferred work. It is the
 * only clock of the program.
 */
#ifndef MCPSPLICE_IO_LOOP_H
#define MCPSPLICE_IO_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct loop;
struct loop_timer;
struct loop_fd;

typedef void loop_cb(void *arg);

/* Returns NULL if no event base can be made. SIGPIPE is ignored in the whole
 * process from here on. */
struct loop *loop_new(void);
/* Frees the loop. Its timers and descriptors have to be freed before. */
void loop_free(struct loop *l);
/* Runs until loop_stop, and returns the status given there. */
int loop_run(struct loop *l);
/* Ends loop_run after the current callback. */
void loop_stop(struct loop *l, int status);

/* Runs cb after the callback that is running has returned, before the loop
 * waits again: the curl and libevent stacks are empty. Work that deferred work
 * defers runs in the same turn. Allocates nothing in the steady state. */
void loop_defer(struct loop *l, loop_cb *cb, void *arg);
/* Removes deferred work with the same cb and arg. */
void loop_undefer(struct loop *l, loop_cb *cb, void *arg);

/* Returns monotonic ms, cached for the turn, so that it is cheap. */
int64_t loop_now(struct loop *l);

/* Makes a single-shot timer, which does not run yet. */
struct loop_timer *loop_timer_new(struct loop *l, loop_cb *cb, void *arg);
/* Lets the timer fire ms from now; 0 means the next turn; a negative value
 * stops it. */
void loop_timer_set(struct loop_timer *t, int64_t ms);
void loop_timer_free(struct loop_timer *t);

/* Calls cb on the loop for each arrival of the signal; 0: of none. Returns 0, or
 * -1. */
int loop_signal(struct loop *l, int signo, void (*cb)(int signo, void *arg),
    void *arg);

/* Calls cb when some child process may have ended; the first caller is the only
 * one. Returns 0, or -1. */
int loop_children(struct loop *l, loop_cb *cb, void *arg);

/* Watches a pipe, a socket or a terminal, level-triggered, until loop_fd_free.
 * Returns NULL if the backend refuses it at once. epoll may refuse regular
 * files and /dev/null only when it waits, so do not watch those. */
enum { LOOP_READ = 1, LOOP_WRITE = 2 }; /* as in os/stream.h */
struct loop_fd *loop_fd_new(struct loop *l, int fd, int what,
    void (*cb)(int fd, int what, void *arg), void *arg);
void loop_fd_free(struct loop_fd *f);

/* Watches the parent process (pidfd, kqueue). cb runs once when the parent
 * ends. Returns -1 if the system cannot watch it, or if the parent is init
 * already. */
int loop_watch_parent(struct loop *l, loop_cb *cb, void *arg);

/* Calls cb in the first turn after the machine slept, before any other callback
 * (signals excepted), with an empty stack like deferred work. slept_ms is the
 * length of the sleep. The sleep itself does not wake the loop: it is noticed
 * at the next event. There is one watcher; cb NULL removes it. */
void loop_watch_sleep(struct loop *l, void (*cb)(int64_t slept_ms, void *arg),
    void *arg);

/* "libevent 2.1.12-stable" */
const char *loop_version(void);

#endif
