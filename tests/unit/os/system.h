/* What the tests of os do that the program does not, for each system. */
#ifndef MCPSPLICE_TESTS_UNIT_OS_SYSTEM_H
#define MCPSPLICE_TESTS_UNIT_OS_SYSTEM_H

#include <stdbool.h>

/* Gives all users the right to read, or to write as well. */
void system_open(const char *path, bool write);
/* Makes a symbolic link, or a second name. Returns false if this user or this
 * system cannot. */
bool system_link(const char *to, const char *path);
bool system_second_name(const char *of, const char *path);
void system_remove_folder(const char *path);

#endif
