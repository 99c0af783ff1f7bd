#include "config.h"

#include "os/error.h"

#include "os/windows/common.h"

#include <errno.h>
#include <string.h>

/* Microsoft's library has texts only for the errors of files. */
static const struct {
	int error;
	const char *text;
} texts[] = {
	{ EADDRINUSE, "Address already in use" },
	{ EADDRNOTAVAIL, "Cannot assign requested address" },
	{ EAFNOSUPPORT, "Address family not supported" },
	{ ECANCELED, "Operation canceled" },
	{ ECONNABORTED, "Connection aborted" },
	{ ECONNREFUSED, "Connection refused" },
	{ ECONNRESET, "Connection reset by peer" },
	{ EHOSTUNREACH, "No route to host" },
	{ ELOOP, "A link is in the way" },
	{ ENETDOWN, "Network is down" },
	{ ENETUNREACH, "Network is unreachable" },
	{ ENOBUFS, "No buffer space available" },
	{ ENOTCONN, "Not connected" },
	{ ENOTSUP, "Not supported" },
	{ ETIMEDOUT, "Connection timed out" },
	{ EWOULDBLOCK, "Temporarily unavailable" },
};

const char *
os_error_text(int error)
{
	size_t i;

	for (i = 0; i < sizeof texts / sizeof *texts; i++)
		if (texts[i].error == error)
			return texts[i].text;
	return strerror(error);
}

int
os_error_of_socket(long code)
{
	if (code == 0)
		return 0;
	os_set_errno((DWORD)code);
	return errno;
}
