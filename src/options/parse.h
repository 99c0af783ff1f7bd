/* Values of options: text in, value out. All pure. */
#ifndef MCPSPLICE_OPTIONS_PARSE_H
#define MCPSPLICE_OPTIONS_PARSE_H

#include "base/mem.h"

/* Each returns false when s is not such a value. A number that is too big for
 * any option's range is still one. */

/* "10", "2.5" or ".5"; what is below a millisecond is rounded up. */
bool option_parse_seconds(const char *s, int64_t *ms);
/* Digits; with units, one of K, M and G may follow. */
bool option_parse_number(const char *s, bool units, int64_t *out);
/* yes, no, true, false, on, off, 1, 0 */
bool option_parse_bool(const char *s, bool *out);
/* The place of value among words like "text|json", or -1. */
int option_parse_choice(const char *words, const char *value);

/* NULL when s is an extended regular expression, case ignored, that tells one
 * text from another; else what is wrong with it, owned by the caller. */
char *option_parse_regex(const char *s);

#endif
