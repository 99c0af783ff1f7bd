/*
 * This process, its parent, and what the system tells them.
 */
#ifndef MCPSPLICE_OS_PROCESS_H
#define MCPSPLICE_OS_PROCESS_H

#include <stdbool.h>
#include <stddef.h>

/* The first call of main: closed stdio is opened on nothing, so that no socket
 * is taken for it; no core file is written, because memory holds tokens; freed
 * memory goes back to the system. Makes *argv and the environment UTF-8 where
 * the system has them in another way. */
void os_process_begin(int *argc, char ***argv);
/* Has this process rights that its user has not? */
bool os_process_is_privileged(void);
/* Sets the name that the system shows for this process. */
void os_process_take_name(const char *name);
/* Takes a variable out of the environment. */
void os_process_unset(const char *name);
/* Lets it have as many descriptors as the system allows, 65536 at most. Returns
 * 0, or -1. */
int os_process_raise_descriptors(void);
/* From here on, a write that nobody reads fails, and does not end the
 * process. */
void os_process_ignore_pipes(void);
/* Returns the path by which this program can be started again, which the caller
 * frees; NULL: the system does not tell. */
char *os_process_program(void);
/* Returns the name, release and machine of the system, which the caller frees;
 * NULL: it is not known. */
char *os_process_system(void);
long os_process_id(void);
long os_process_user(void);
long os_parent_id(void);

/* The signals that ask for an end, and the one that asks for a dump, 0: none. */
enum { OS_END_SIGNALS = 3 };
extern const int os_end_signals[OS_END_SIGNALS]; /* 0: none */
extern const int os_dump_signal;

/* Watches the parent process. Sets *stream to what is ready for reading when
 * the parent ends; close it by os_parent_close. Returns 0; 1 if the parent has
 * just ended; -1 if the system cannot watch it, or if the parent is init
 * already. */
int os_parent_open(int *stream);
void os_parent_close(int stream);

#endif
