/*
 * How a thread, or the system, wakes the loop: by a byte on a pair of sockets.
 * Only the files of os include it.
 */
#ifndef MCPSPLICE_OS_WINDOWS_WAKE_H
#define MCPSPLICE_OS_WINDOWS_WAKE_H

#include "os/windows/common.h"

#include <ws2tcpip.h>

struct os_wake {
	SOCKET ours, theirs;
};

/* Makes the pair; ours does not block. Returns 0, or -1 with errno. */
int os_wake_open(struct os_wake *w);
void os_wake_close(struct os_wake *w);
/* Makes ours readable. Any thread may call it. */
void os_wake_send(const struct os_wake *w);
/* Is it readable? Takes one byte if wanted. */
bool os_wake_came(const struct os_wake *w, bool take);
/* Starts the sockets of Windows. */
void os_wake_start(void);

#endif
