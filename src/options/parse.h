/* Parses the values of options. All functions are pure. */
#ifndef MCPSPLICE_OPTIONS_PARSE_H
#define MCPSPLICE_OPTIONS_PARSE_H

#include "base/mem.h"

/* The functions that return bool return false if s is not such a value. A
 * number that is too large for the range of any option still counts as one. */

/* Reads "10", "2.5" or ".5"; fractions of a millisecond are rounded up. */
bool option_parse_seconds(const char *s, int64_t *ms);
/* Reads digits; with units, K, M or G may follow. */
bool option_parse_number(const char *s, bool units, int64_t *out);
/* Reads yes, no, true, false, on, off, 1, 0. */
bool option_parse_bool(const char *s, bool *out);
/* Returns the index of value among words like "text|json", or -1. */
int option_parse_choice(const char *words, const char *value);
/* Returns the word with this index among words like "text|json". */
struct span option_parse_word(const char *words, unsigned i);

/* Returns NULL if s is an extended regular expression, case ignored, that
 * matches neither an empty text nor a blank; else an error, owned by the
 * caller. */
char *option_parse_regex(const char *s);

#endif
