/*
 * The terminal of the user.
 */
#ifndef MCPSPLICE_OS_TERMINAL_H
#define MCPSPLICE_OS_TERMINAL_H

#include <stdbool.h>

enum { OS_STDIN, OS_STDOUT, OS_STDERR };

bool os_is_terminal(int fd);
/* Returns the columns of the terminal at stdout, or 0. */
unsigned os_terminal_columns(void);

#endif
