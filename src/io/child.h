/*
 * Runs another program: a browser, a credential helper, another copy of
 * mcpsplice. It is started without a shell, with default signals, with no
 * descriptors but stdin, stdout and stderr, and without the variables that hold
 * secrets. No function here blocks.
 */
#ifndef MCPSPLICE_IO_CHILD_H
#define MCPSPLICE_IO_CHILD_H

#include "base/mem.h"
#include "io/loop.h"

struct child;

struct child_config {
	const char *const *argv; /* NULL-ended; argv[0] is looked up in PATH */
	const char *path; /* the program, where argv[0] is only its name; NULL:
			   * argv[0] */
	const char *const *unset; /* variables to remove from its environment;
				   * NULL: none */
	const char *const *set;   /* "NAME=VALUE" to add; NULL: none */
	struct span input;        /* bytes for its stdin, then EOF; copied */
	bool stays;               /* stdin stays open until child_end_input */
	bool output, errors;      /* read stdout, stderr; else they are
				   * /dev/null */
	struct buf *all;          /* takes what is read and has no callback;
				   * NULL: that is dropped */
	bool our_errors;          /* its stderr is ours */
	/* Runs it in a session of its own: it has no terminal and gets no
	 * signal that is meant for mcpsplice. Only child_free with kill ends it
	 * early. */
	bool detached;
	size_t max_output;  /* bytes of stdout and of stderr; it is killed above
			     * this */
	int64_t timeout_ms; /* then it is killed; 0: no limit */
};

enum child_end {
	CHILD_EXIT,      /* value: the exit status */
	CHILD_SIGNAL,    /* value: the number of the signal */
	CHILD_TIMEOUT,   /* it was killed after value ms */
	CHILD_TOO_LARGE, /* it was killed after value bytes of output */
	CHILD_NO_START   /* value: errno of the attempt */
};

struct child_ops {
	/* Bytes of stdout and stderr as they arrive; NULL: see config.all. */
	void (*output)(const char *p, size_t n, void *arg);
	void (*errors)(const char *p, size_t n, void *arg);
	/* The last call, made once: the program ended and all its output was
	 * passed on. The child object is gone after it. Never called from
	 * inside child_new. */
	void (*done)(enum child_end end, int value, void *arg);
};

/* Starts the program. Never returns NULL: if it cannot be started, done is
 * called with CHILD_NO_START. ops is borrowed; the child object owns itself
 * until done or child_free. */
struct child *child_new(struct loop *l, const struct child_config *config,
    const struct child_ops *ops, void *arg);
/* Writes more to a stdin that stays open; the bytes are copied. */
void child_write(struct child *c, struct span bytes);
/* Closes such a stdin once all is written. */
void child_end_input(struct child *c);
/* Frees the object; no callback follows. kill: the program gets SIGKILL, else
 * it lives on with its pipes closed. In both cases it is waited for as long as
 * this process lives. */
void child_free(struct child *c, bool kill);

/* Returns what became of the program, for users, as in "the program ended with
 * status 3". The caller owns it. */
char *child_fate(enum child_end end, int value);

/* Splits a user's command line into words. Blanks separate words, '...' and
 * "..." keep them together, and a backslash takes the next character literally
 * where os_backslash_escapes (not inside '...'). Nothing is expanded. Returns a NULL-ended list (free it with
 * string_list_free), or NULL with *why, a message for users that the caller
 * owns, if there is no word or a quote is not closed. */
char **child_words(const char *text, char **why);

#endif
