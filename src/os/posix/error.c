#include "config.h"

#include "os/error.h"

#include <string.h>

const char *
os_error_text(int error)
{
	return strerror(error);
}

int
os_error_of_socket(long code)
{
	return (int)code;
}
