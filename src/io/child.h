/*
 * A program of somebody else's: a browser, a credential helper, another copy
 * of ourselves. Started without a shell, with default signals, with no
 * descriptor but the three it gets, and without the variables that hold our
 * secrets. Nothing here waits.
 */
#ifndef MCPSPLICE_IO_CHILD_H
#define MCPSPLICE_IO_CHILD_H

#include "base/mem.h"
#include "io/loop.h"

struct child;

struct child_config {
	const char *const *argv;  /* NULL-ended; [0] is looked up in PATH */
	const char *const *unset; /* variables it does not get; NULL: none */
	struct span input;        /* its stdin, then EOF; copied */
	bool output, errors;      /* read them; else they are /dev/null */
	/* A session of its own: no terminal, and no signal that is meant for
	 * us. Only child_free with kill ends it before its time. */
	bool detached;
	size_t max_output;  /* bytes of stdout and of stderr; more ends it */
	int64_t timeout_ms; /* then it is killed; 0: none */
};

enum child_end {
	CHILD_EXIT,      /* value: its exit status */
	CHILD_SIGNAL,    /* value: the signal's number */
	CHILD_TIMEOUT,   /* killed */
	CHILD_TOO_LARGE, /* killed */
	CHILD_NO_START   /* value: errno of the attempt */
};

struct child_ops {
	/* Bytes as they come; NULL: not wanted. */
	void (*output)(const char *p, size_t n, void *arg);
	void (*errors)(const char *p, size_t n, void *arg);
	/* Once, the last call: it is over and what it wrote was told. The
	 * child object is gone after it. Never from inside child_new. */
	void (*done)(enum child_end end, int value, void *arg);
};

/* Never NULL: what cannot be started ends with CHILD_NO_START. ops is
 * borrowed. */
struct child *child_new(struct loop *l, const struct child_config *config,
    const struct child_ops *ops, void *arg);
/* No more callbacks. kill: it is sent SIGKILL, else it lives on and its pipes
 * are closed. Either way it is waited for while we live. */
void child_free(struct child *c, bool kill);

/* Splits a command line of a user into words: blanks part them, '...' and
 * "..." keep them together, a backslash takes the next character as it is
 * (not inside '...'). Nothing is expanded. Returns a NULL-ended list (freed
 * with child_words_free), or NULL with *why for people, owned by the caller:
 * no word in it, or a quote that is not closed. */
char **child_words(const char *text, char **why);
void child_words_free(char **words);

#endif
