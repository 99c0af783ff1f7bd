/*
 * How an entry starts a server now, and how it shall start mcpsplice: a command
 * line and variables, decoded. Each format reads the one and writes the other.
 * Pure.
 */
#ifndef MCPSPLICE_TOOLS_WRAP_WORDS_H
#define MCPSPLICE_TOOLS_WRAP_WORDS_H

#include "tools/wrap_plan.h"

/* What an entry of mcpsplice has to have. Begin with zeros. */
struct wrap_start {
	struct strings words;   /* the command and its arguments */
	size_t first;           /* the first argument of mcpsplice itself */
	struct strings headers; /* what MCPSPLICE_HEADER has to be */
	struct buf wslenv;      /* what WSLENV has to be, because wsl.exe hands
				 * on those variables only; empty: nothing */
};

/* Reads the command line of this entry. Returns whether s is now what it shall
 * be; else it is some other server, or mcpsplice already, or the plan notes why
 * it cannot be changed. self: the path of mcpsplice. variable: the environment
 * of the entry sets API_ACCESS_TOKEN, which mcp-proxy sends. Free s in all
 * cases. */
bool wrap_words_read(struct wrap_start *s, struct wrap_plan *plan,
    struct span name, const struct strings *words, const char *self,
    bool variable);

/* Begins the start of mcpsplice for an entry with this URL. */
void wrap_start_url(struct wrap_start *s, const char *url, const char *self,
    bool windows);
/* Adds a header, unless mcpsplice sends its own. What it holds may be a secret,
 * and other users can read arguments, so it goes into a variable if the entry
 * has no variables yet. The name of another variable stays in the arguments,
 * where hosts expect it. */
void wrap_start_header(struct wrap_start *s, const char *name,
    const char *value, bool has_env);
/* Returns why mcpsplice would refuse it, owned by the caller, or NULL if all is
 * well. Variables count as set. On Windows, sets wslenv. */
char *wrap_start_check(struct wrap_start *s, bool windows);
void wrap_start_free(struct wrap_start *s);

/* Appends the variables that s needs: the names in these quotes, what stands
 * between name and value, and commas. */
void wrap_start_env(struct buf *out, const struct wrap_start *s,
    const char *quote, const char *is);
/* Appends a list of the words from this one on, in JSON, which TOML reads, too.
 * old is the raw list that it replaces, if there is one: if its first word
 * stood in a line of its own, all do. */
void wrap_list(struct buf *out, struct span old, const struct strings *words,
    size_t from);

/* Why an entry is left alone that sets a variable of mcpsplice. */
extern const char wrap_ours[];

/* Returns why mcpsplice would not understand the dollar signs of this text, or
 * NULL: it knows ${NAME}. The text is not owned. */
const char *wrap_words_dollars(struct span text);

#endif
