/* Rules for the texts of options. Pure except for URL parsing. */
#ifndef MCPSPLICE_OPTIONS_VALUE_H
#define MCPSPLICE_OPTIONS_VALUE_H

#include "options/table.h"

/* Returns NULL if the value is valid for this row; else an error to append to
 * the option's name, owned by the caller. */
char *option_value_wrong(const struct option_row *row, const char *value);

#endif
