/*
 * Functions for text that the C library has on most systems.
 */
#ifndef MCPSPLICE_OS_TEXT_H
#define MCPSPLICE_OS_TEXT_H

#include <string.h>

/* As in glibc: where the n bytes of what, or the text, are first in it. */
void *memmem(const void *in, size_t size, const void *what, size_t n);
char *strcasestr(const char *in, const char *what);
/* Copies it; returns where its end is in the copy. */
char *stpcpy(char *restrict to, const char *restrict from);

#endif
