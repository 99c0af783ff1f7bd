/* What a text has to be to stand for an option. Pure but for URL parsing. */
#ifndef MCPSPLICE_OPTIONS_VALUE_H
#define MCPSPLICE_OPTIONS_VALUE_H

#include "options/table.h"

/* NULL when the value will do for this row; else what is wrong with it, to be
 * put behind the option's name, owned by the caller. */
char *option_value_wrong(const struct option_row *row, const char *value);

#endif
