/*
 * The proxy in the settings of Windows, which the user or an administrator
 * chose, and the hosts that bypass it. A script that finds proxies (PAC) is not
 * run.
 */
#include "config.h"

#include "os/network.h"
#include "os/windows/common.h"

#include <winhttp.h>

#include <shlwapi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const bool os_has_proxy_settings = true;

/* Is the host in the list: "*.example.com;10.*;<local>"? The last one means
 * names without a dot. */
static bool
is_bypassed(const wchar_t *list, const char *host, const char *scheme)
{
	char address[512];
	wchar_t *wide, *wide_host = os_wide(host);
	bool is_local = strpbrk(host, ".:") == NULL, found;

	snprintf(address, sizeof address, "%s://%s", scheme, host);
	wide = os_wide(address);
	found = (is_local && StrStrIW(list, L"<local>") != NULL) ||
	    PathMatchSpecW(wide_host, list) || PathMatchSpecW(wide, list);
	free(wide);
	free(wide_host);
	return found;
}

/* Returns the proxy of a scheme in "host:port", or in
 * "http=host:port;https=host:port;socks=host:port"; NULL: it has none. */
static char *
proxy_for(const char *list, const char *scheme)
{
	size_t length, n = strlen(scheme), room = strlen(list) + 16;
	char *proxy = os_sure(calloc(1, room));
	bool bare;

	for (; *list != '\0'; list += length) {
		list += strspn(list, "; ");
		length = strcspn(list, "; ");
		bare = length > 0 && memchr(list, '=', length) == NULL;
		if (bare ||
		    (_strnicmp(list, scheme, n) == 0 && list[n] == '=')) {
			n = bare ? 0 : n + 1;
			snprintf(proxy, room, "%.*s", (int)(length - n),
			    list + n);
			break;
		}
		if (_strnicmp(list, "socks=", 6) == 0)
			snprintf(proxy, room, "socks4a://%.*s",
			    (int)(length - 6), list + 6);
	}
	if (*proxy != '\0')
		return proxy;
	free(proxy);
	return NULL;
}

char *
os_system_proxy(bool https, const char *host)
{
	const char *scheme = https ? "https" : "http";
	WINHTTP_CURRENT_USER_IE_PROXY_CONFIG c = { 0 };
	char *list, *proxy = NULL;

	if (!WinHttpGetIEProxyConfigForCurrentUser(&c))
		return NULL;
	if (c.lpszProxy != NULL &&
	    (host == NULL || c.lpszProxyBypass == NULL ||
		!is_bypassed(c.lpszProxyBypass, host, scheme))) {
		list = os_narrow(c.lpszProxy);
		proxy = proxy_for(list, scheme);
		free(list);
	}
	GlobalFree(c.lpszProxy);
	GlobalFree(c.lpszProxyBypass);
	GlobalFree(c.lpszAutoConfigUrl);
	return proxy;
}
