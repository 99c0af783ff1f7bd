/*
 * What happens when there is no memory.
 */
#ifndef MCPSPLICE_OS_MEMORY_H
#define MCPSPLICE_OS_MEMORY_H

/* Ends the process with a line on stderr and status 1. */
_Noreturn void os_out_of_memory(void);
/* Returns p. NULL ends the process. */
void *os_sure(void *p);

#endif
