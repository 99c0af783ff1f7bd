#include "config.h"

#include "os/windows/wake.h"

#include <errno.h>
#include <string.h>

void
os_wake_start(void)
{
	static bool started;
	WSADATA data;

	if (!started)
		started = WSAStartup(MAKEWORD(2, 2), &data) == 0;
}

static SOCKET
tcp(void)
{
	return WSASocketW(AF_INET, SOCK_STREAM, 0, NULL, 0,
	    WSA_FLAG_OVERLAPPED | WSA_FLAG_NO_HANDLE_INHERIT);
}

/* Any program on this machine may connect meanwhile, so only our own end is
 * accepted. */
static bool
is_ours(SOCKET connected, SOCKET accepted)
{
	struct sockaddr_in a, b;
	int a_bytes = sizeof a, b_bytes = sizeof b;

	return getsockname(connected, (struct sockaddr *)&a, &a_bytes) == 0 &&
	    getpeername(accepted, (struct sockaddr *)&b, &b_bytes) == 0 &&
	    a.sin_port == b.sin_port && a.sin_addr.s_addr == b.sin_addr.s_addr;
}

static int
join(struct os_wake *w, SOCKET listener)
{
	struct sockaddr_in a;
	int n = sizeof a;

	memset(&a, 0, sizeof a);
	a.sin_family = AF_INET;
	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(listener, (struct sockaddr *)&a, sizeof a) != 0 ||
	    listen(listener, 4) != 0 ||
	    getsockname(listener, (struct sockaddr *)&a, &n) != 0 ||
	    connect(w->theirs, (struct sockaddr *)&a, sizeof a) != 0)
		return -1;
	for (;;) {
		w->ours = accept(listener, NULL, NULL);
		if (w->ours == INVALID_SOCKET || is_ours(w->theirs, w->ours))
			return w->ours == INVALID_SOCKET ? -1 : 0;
		closesocket(w->ours);
	}
}

int
os_wake_open(struct os_wake *w)
{
	SOCKET listener;
	u_long on = 1;
	BOOL now = TRUE;
	int failed;

	os_wake_start();
	listener = tcp();
	w->theirs = tcp();
	w->ours = INVALID_SOCKET;
	failed = join(w, listener);
	if (failed != 0)
		os_set_errno((DWORD)WSAGetLastError());
	closesocket(listener);
	if (failed != 0) {
		os_wake_close(w);
		return -1;
	}
	SetHandleInformation((HANDLE)w->ours, HANDLE_FLAG_INHERIT, 0);
	ioctlsocket(w->ours, (long)FIONBIO, &on);
	setsockopt(w->theirs, IPPROTO_TCP, TCP_NODELAY, (const char *)&now,
	    sizeof now);
	return 0;
}

void
os_wake_close(struct os_wake *w)
{
	if (w->ours != INVALID_SOCKET)
		closesocket(w->ours);
	if (w->theirs != INVALID_SOCKET)
		closesocket(w->theirs);
	w->ours = w->theirs = INVALID_SOCKET;
}

void
os_wake_send(const struct os_wake *w)
{
	send(w->theirs, "", 1, 0);
}

bool
os_wake_came(const struct os_wake *w, bool take)
{
	char byte;

	return recv(w->ours, &byte, 1, take ? 0 : MSG_PEEK) == 1;
}
