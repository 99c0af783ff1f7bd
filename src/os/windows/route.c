/* The system calls a function in a thread that it owns. */
#include "config.h"

#include "os/windows/wake.h"

#include <iphlpapi.h>

#include "os/network.h"

/* The one stream that is open, and what feeds it. */
static struct os_wake wake = { INVALID_SOCKET, INVALID_SOCKET };
static unsigned users;

static void WINAPI
on_address(void *arg, MIB_UNICASTIPADDRESS_ROW *row, MIB_NOTIFICATION_TYPE type)
{
	(void)arg;
	(void)row;
	(void)type;
	os_wake_send(&wake);
}

static void WINAPI
on_route(void *arg, MIB_IPFORWARD_ROW2 *row, MIB_NOTIFICATION_TYPE type)
{
	(void)arg;
	(void)row;
	(void)type;
	os_wake_send(&wake);
}

/* It stays open for the process: os_socket_close cannot know what to end. */
int
os_route_open(void)
{
	HANDLE addresses, routes;

	if (users++ > 0 || os_wake_open(&wake) != 0)
		return -1;
	if (NotifyUnicastIpAddressChange(AF_UNSPEC, on_address, NULL, FALSE,
		&addresses) != NO_ERROR ||
	    NotifyRouteChange2(AF_UNSPEC, on_route, NULL, FALSE, &routes) !=
		NO_ERROR)
		return -1;
	return (int)wake.ours;
}

bool
os_route_take(int s)
{
	bool came = false;

	(void)s;
	while (os_wake_came(&wake, true))
		came = true;
	return came;
}
