/* Words of a schedule, and its short forms. */
#ifndef MCPSPLICE_TESTS_PLAY_WORDS_H
#define MCPSPLICE_TESTS_PLAY_WORDS_H

#include "base/mem.h"

/* Puts the next word of *at into b, as a C string, and *at behind the blanks
 * after it; false at the end. */
bool words_next(const char **at, struct buf *b);
/* What stands behind NAME= in this word, or NULL. */
const char *words_value(const char *word, const char *name);
/* The same, a number into *to; false: it is another name. */
bool words_number(const char *word, const char *name, int64_t *to);
/* What stands behind NAME and a blank in this text, or NULL. */
const char *words_after(const char *text, const char *name);
/* Which of n names it is, or -1; NULL is no name. */
int words_index(const char *value, const char *const *names, size_t n);
/* Adds a line with its short forms written out. Returns false if there is none
 * of a name that it has. */
bool words_expand(struct buf *out, const char *line);

#endif
