#include "config.h"

#include "os/process.h"

#include <signal.h>
#include <string.h>

void
os_process_ignore_pipes(void)
{
	struct sigaction ignore;

	memset(&ignore, 0, sizeof ignore);
	ignore.sa_handler = SIG_IGN;
	sigaction(SIGPIPE, &ignore, NULL);
}
