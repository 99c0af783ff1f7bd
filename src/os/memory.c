/* Ends the process when there is no memory. */
#include "config.h"

#include "os/memory.h"

#include <stdio.h>
#include <stdlib.h>

_Noreturn void
os_out_of_memory(void)
{
	fputs("mcpsplice: out of memory\n", stderr);
	_Exit(1);
}

void *
os_sure(void *p)
{
	if (p == NULL)
		os_out_of_memory();
	return p;
}
