/*
 * Secrets in files, sealed for this user where the system can do that.
 * Elsewhere only the mode of the file protects them.
 */
#ifndef MCPSPLICE_OS_SECRET_H
#define MCPSPLICE_OS_SECRET_H

#include <stddef.h>

/* Both return *to bytes that the caller wipes and frees. */

/* NULL: the system does not seal, or not now. */
char *os_secret_seal(const char *text, size_t n, size_t *to);
/* NULL with errno 0: the text is not sealed; other errno: it cannot be read by
 * this user here. */
char *os_secret_open(const char *text, size_t n, size_t *to);

#endif
