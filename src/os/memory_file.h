/*
 * A file that is only in memory.
 */
#ifndef MCPSPLICE_OS_MEMORY_FILE_H
#define MCPSPLICE_OS_MEMORY_FILE_H

#include <stddef.h>

/* Makes one of these bytes, and sets path to its name for this process. Returns
 * it, to be closed like any file, or -1. */
int os_memory_file(const void *p, size_t n, char *path, size_t path_size);

#endif
