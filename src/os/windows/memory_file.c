#include "config.h"

#include "os/memory_file.h"

int
os_memory_file(const void *p, size_t n, char *path, size_t path_size)
{
	(void)p;
	(void)n;
	(void)path;
	(void)path_size;
	return -1;
}
