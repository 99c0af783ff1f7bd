/* A home folder for a test, and looks into it from outside of the program. */
#ifndef MCPSPLICE_TESTS_UNIT_HOME_H
#define MCPSPLICE_TESTS_UNIT_HOME_H

#include <sys/types.h>

#include <stdbool.h>
#include <stddef.h>

#include "base/mem.h"

/* A new folder under /tmp; home_end removes it and all in it. */
extern char home[64];
void home_begin(void);
void home_end(void);

/* home/path, in one of a few buffers that are used in turn. */
const char *home_path(const char *path);
/* Makes folders and files there, whatever stands in the way is an error. */
void home_mkdir(const char *path, mode_t mode);
void home_put(const char *path, const void *p, size_t n, mode_t mode);
void home_puts(const char *path, const char *text);
/* The whole content; the caller frees it. */
struct buf home_get(const char *path);
bool home_is(const char *path, const char *text);
bool home_exists(const char *path);
/* How many entries a folder has: 0 too when there is no such folder. */
size_t home_count(const char *path);
/* Sets the time of the last change to so many seconds ago. */
void home_age(const char *path, long seconds);

/* Runs what in another process; true if it returned true. As another user,
 * who owns the home, when we are root: root is not refused anything. */
bool home_apart(bool (*what)(void), bool as_user);

/* A process that runs what and then waits; returns when it waits. what gets
 * arg. home_kill is SIGKILL. */
pid_t home_process(void (*what)(void *arg), void *arg);
void home_kill(pid_t pid);
/* Waits for one that ends by itself; its exit status, 128 + n for a signal. */
int home_wait(pid_t pid);

#endif
