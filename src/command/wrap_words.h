/*
 * The command line of an entry: is it one that mcpsplice can take the place of,
 * and which of its words change? The words are the command and its arguments,
 * decoded. Pure.
 */
#ifndef MCPSPLICE_COMMAND_WRAP_WORDS_H
#define MCPSPLICE_COMMAND_WRAP_WORDS_H

#include "base/bounds.h"
#include "options/options.h"

/* cmd, the program, headers, the token */
#define WRAP_SWAPS (BOUND_WRAP_HEADERS + 3)

/* The words from..to become these; from == to: they are inserted. */
struct wrap_swap {
	size_t from, to;
	char *words[2];
	size_t n;
	bool secret; /* the last of the old words is a secret */
};

struct wrap_swaps {
	struct wrap_swap list[WRAP_SWAPS]; /* in order, apart */
	size_t n;
	/* what WSLENV has to be, because wsl.exe starts mcpsplice now and its
	 * arguments name variables; NULL: nothing */
	char *wslenv;
};

enum wrap_what {
	WRAP_OTHER,  /* some other server, or mcpsplice already */
	WRAP_CHANGE, /* the swaps make it an entry of mcpsplice */
	WRAP_LEAVE   /* *why says why it cannot be changed */
};

/* Judges a command line. self: the path of mcpsplice. windows: the host runs on
 * Windows; its words may say so, too. variable: the environment of the entry
 * sets API_ACCESS_TOKEN, which mcp-proxy sends. *why is owned by the caller.
 * Free swaps in all cases. */
enum wrap_what wrap_words_read(struct wrap_swaps *swaps,
    const struct strings *words, const char *self, bool windows, bool variable,
    char **why);
void wrap_swaps_free(struct wrap_swaps *swaps);

/* Adds the variables that these arguments of mcpsplice name to a value of
 * WSLENV, each once. */
void wrap_words_share(struct buf *wslenv, const struct strings *args);

/* Returns why mcpsplice would refuse these arguments, owned by the caller, or
 * NULL if it takes them. Variables count as set. */
char *wrap_words_wrong(const struct strings *args);

/* Returns why mcpsplice would not understand the dollar signs of this text, or
 * NULL: it knows ${NAME}. The text is not owned. */
const char *wrap_words_dollars(struct span text);

#endif
