/*
 * Random bytes of the system.
 */
#ifndef MCPSPLICE_OS_RANDOM_H
#define MCPSPLICE_OS_RANDOM_H

#include <stddef.h>

/* Fills p with n random bytes that nobody can guess. Returns 0, or -1. */
int os_random(void *p, size_t n);

#endif
