/*
 * While a thread reads stdin, any other call with that handle waits. So each
 * handle is asked once, before the threads start.
 */
#include "config.h"

#include "os/terminal.h"

#include "os/windows/common.h"

#include <io.h>

bool
os_is_terminal(int fd)
{
	static enum { NOT_ASKED, NO, YES } known[OS_STDERR + 1];
	DWORD mode;

	if (known[fd] == NOT_ASKED)
		known[fd] = GetConsoleMode((HANDLE)_get_osfhandle(fd), &mode) ?
		    YES :
		    NO;
	return known[fd] == YES;
}

unsigned
os_terminal_columns(void)
{
	CONSOLE_SCREEN_BUFFER_INFO info;

	if (!GetConsoleScreenBufferInfo((HANDLE)_get_osfhandle(OS_STDOUT),
		&info))
		return 0;
	return (unsigned)(info.srWindow.Right - info.srWindow.Left + 1);
}
