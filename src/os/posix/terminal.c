#include "config.h"

#include "os/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

bool
os_is_terminal(int fd)
{
	return isatty(fd);
}

unsigned
os_terminal_columns(void)
{
	struct winsize size;

	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}
