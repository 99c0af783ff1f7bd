#include "config.h"

#include "os/desktop.h"

#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef __APPLE__
const char os_browser[] = "/usr/bin/open";
const bool os_desktop_is_sure = true;
const char *const os_notifier[] = { "/usr/bin/osascript", "-e", "on run words",
	"-e", "display notification (item 1 of words) with title \"mcpsplice\"",
	"-e", "end run", NULL };
#else
const char os_browser[] = "xdg-open";
const bool os_desktop_is_sure = false;
const char *const os_notifier[] = { "notify-send", "--app-name=mcpsplice",
	"Sign-in required", NULL };
#endif
const char os_ticket_advice[] = "run kinit";

/* The browser of Windows, for Linux on Windows. */
const char *
os_host_browser(void)
{
	static const char program[] = "/usr/bin/wslview";

	return getenv("WSL_DISTRO_NAME") != NULL && access(program, X_OK) == 0 ?
	    program :
	    NULL;
}
