#include "config.h"

#include "os/desktop.h"

#include <stddef.h>

/* ShellExecute, in a process of its own: it may wait for a browser. */
const char os_browser[] = "rundll32.exe url.dll,FileProtocolHandler";
const bool os_desktop_is_sure = true;
const char *const os_notifier[] = { NULL };
const char
    os_ticket_advice[] = "sign in to Windows with an account of the domain";

const char *
os_host_browser(void)
{
	return NULL;
}
