/*
 * What the files of this folder share: numbers of errors, text in UTF-16, and who
 * owns a file. Only they include it.
 */
#ifndef MCPSPLICE_OS_WINDOWS_COMMON_H
#define MCPSPLICE_OS_WINDOWS_COMMON_H

#include <winsock2.h>

#include <windows.h>

#include <stdbool.h>
#include <stddef.h>

#include "os/memory.h"

struct os_file;

/* Sets errno to what a number of GetLastError or WSAGetLastError means. Returns
 * -1. */
int os_set_errno(DWORD error);
/* The same for the latest error of this thread. */
int os_failed(void);

/* Both return a text that the caller frees. What is no UTF-8 or no UTF-16
 * becomes U+FFFD. */
wchar_t *os_wide(const char *text);
char *os_narrow(const wchar_t *text);
/* Returns the full path in the form that has no bound of 260 characters. The
 * caller frees it. */
wchar_t *os_wide_path(const char *path);
/* Returns a path that has that form as people write it. The caller frees it. */
char *os_plain_path(const wchar_t *path);
/* Returns the value of a variable of the environment, which the caller frees,
 * or NULL. */
char *os_variable(const wchar_t *name);

/* Returns what makes a new file or folder the user's own: nobody but this user,
 * the system and administrators has rights. */
SECURITY_ATTRIBUTES *os_own_security(bool folder);

/* Fills owner and what others may do. Returns 0, or -1 with errno set. */
int os_rights_look(HANDLE h, struct os_file *f);
/* Is this user LocalSystem? */
bool os_rights_system(void);

#endif
