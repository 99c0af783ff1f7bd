/*
 * Who owns a file, and what others may do with it. Only os/windows includes it.
 */
#ifndef MCPSPLICE_OS_WINDOWS_RIGHTS_H
#define MCPSPLICE_OS_WINDOWS_RIGHTS_H

#include "os/windows/common.h"

#include "os/file.h"

/* Fills owner and what others may do. Returns 0, or -1 with errno set. */
int os_rights_look(HANDLE h, struct os_file *f);
/* Is this user LocalSystem? */
bool os_rights_system(void);

#endif
