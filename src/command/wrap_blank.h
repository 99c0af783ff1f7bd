/*
 * JSON as people write it: with comments, commas before a closing bracket and
 * a byte order mark. All of that is blanked out, and what is left is JSON in
 * the same places, which core/wire/json checks and reads. So a place in it is
 * a place in the file. Pure.
 */
#ifndef MCPSPLICE_COMMAND_WRAP_BLANK_H
#define MCPSPLICE_COMMAND_WRAP_BLANK_H

#include "base/mem.h"

/* Appends text to out, as many bytes, with blanks in place of what JSON does
 * not have. What is broken stays, so that the check finds it. */
void wrap_blank(struct buf *out, struct span text);
/* Returns the first place from at on that is neither white space nor in a
 * comment; text.n if there is none. */
size_t wrap_blank_skip(struct span text, size_t at);

#endif
