/*
 * This process, the one that started it, and what the system tells them.
 */
#ifndef MCPSPLICE_OS_PROCESS_H
#define MCPSPLICE_OS_PROCESS_H

#include <stdbool.h>
#include <stddef.h>

/* A write to what nobody reads fails from here on, and does not end the
 * process. */
void os_process_ignore_pipes(void);

/* Watches the parent process. Sets *stream to what is ready for reading when
 * the parent ends; close it by os_parent_close. Returns 0; 1 if the parent has
 * just ended; -1 if the system cannot watch it, or if the parent is init
 * already. */
int os_parent_open(int *stream);
void os_parent_close(int stream);

#endif
