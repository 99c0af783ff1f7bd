/*
 * Starts another program, and notices its end.
 */
#ifndef MCPSPLICE_OS_CHILD_H
#define MCPSPLICE_OS_CHILD_H

#include <stdbool.h>
#include <stddef.h>

#include "os/stream.h"

struct os_child;

struct os_child_plan {
	const char *path;                       /* of os_child_find */
	char *const *argv, *const *environment; /* NULL-ended */
	/* Which of stdin, stdout and stderr are pipes to us; else nothing is
	 * behind them. */
	bool input, output, errors;
	bool our_errors; /* stderr is ours */
	bool detached;   /* it has no terminal, and gets none of our signals */
};

/* Our ends of the pipes; NULL: there is none. */
struct os_child_ends {
	struct os_output *input;
	struct os_input *output, *errors;
	/* Gives an int, an errno, if the program could not be started, and
	 * ends; NULL: os_child_start has told that already. */
	struct os_input *report;
};

/* Finds the program as the system does, but not in relative folders: they
 * depend on where the host started mcpsplice, and anybody may write there.
 * Returns 0 and sets *path, which the caller frees, or an errno. */
int os_child_find(const char *name, char **path);
/* In a line of words that a user writes: does a backslash take the next
 * character as it is? Otherwise it is one of a path. */
extern const bool os_backslash_escapes;
/* Returns this process's environment, NULL-ended and borrowed. */
char **os_child_environment(void);
/* Is this entry of it the variable of that name? */
bool os_child_is_variable(const char *entry, const char *name);

/* Starts the program with no descriptor but its stdio, and sets *ends, which the
 * caller closes. Returns NULL with errno. */
struct os_child *os_child_start(const struct os_child_plan *plan,
    struct os_child_ends *ends);
/* Has the program ended? Then sets *value to the exit status, or to the number
 * of the signal that ended it; -1: unknown. */
bool os_child_ended(struct os_child *c, int *value, bool *by_signal);
/* Kills the program, if it has not ended. */
void os_child_kill(struct os_child *c);
/* Frees c. The program is not changed; it must have ended where ends are told
 * by a signal. */
void os_child_free(struct os_child *c);

/* What reports that a child has ended: the number of a signal, which this
 * arranges to arrive, or 0 and in *stream what the loop watches for reading.
 * Returns -1 on failure. os_child_ended takes what the stream has. */
int os_child_news(int *stream);

#endif
