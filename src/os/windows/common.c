/*
 * Errors, text and rights of Windows.
 */
#include "config.h"

#include "os/windows/common.h"

#include <errno.h>
#include <sddl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))

static const struct {
	DWORD from;
	int to;
} errors[] = {
	{ ERROR_FILE_NOT_FOUND, ENOENT },
	{ ERROR_PATH_NOT_FOUND, ENOENT },
	{ ERROR_INVALID_NAME, ENOENT },
	{ ERROR_BAD_PATHNAME, ENOENT },
	{ ERROR_BAD_NETPATH, ENOENT },
	{ ERROR_BAD_NET_NAME, ENOENT },
	{ ERROR_INVALID_DRIVE, ENOENT },
	{ ERROR_NOT_READY, ENOENT },
	{ ERROR_DELETE_PENDING, ENOENT },
	{ ERROR_NO_MORE_FILES, ENOENT },
	{ ERROR_DIRECTORY, ENOTDIR },
	{ ERROR_FILENAME_EXCED_RANGE, ENAMETOOLONG },
	{ ERROR_ACCESS_DENIED, EACCES },
	{ ERROR_SHARING_VIOLATION, EACCES },
	{ ERROR_WRITE_PROTECT, EROFS },
	{ ERROR_PRIVILEGE_NOT_HELD, EPERM },
	{ ERROR_INVALID_OWNER, EPERM },
	{ ERROR_FILE_EXISTS, EEXIST },
	{ ERROR_ALREADY_EXISTS, EEXIST },
	{ ERROR_DIR_NOT_EMPTY, ENOTEMPTY },
	{ ERROR_NOT_SAME_DEVICE, EXDEV },
	{ ERROR_CANT_RESOLVE_FILENAME, ELOOP },
	{ ERROR_TOO_MANY_OPEN_FILES, EMFILE },
	{ ERROR_DISK_FULL, ENOSPC },
	{ ERROR_HANDLE_DISK_FULL, ENOSPC },
	{ ERROR_FILE_TOO_LARGE, EFBIG },
	{ ERROR_LOCK_VIOLATION, EWOULDBLOCK },
	{ ERROR_IO_PENDING, EWOULDBLOCK },
	{ ERROR_BROKEN_PIPE, EPIPE },
	{ ERROR_NO_DATA, EPIPE },
	{ ERROR_PIPE_NOT_CONNECTED, EPIPE },
	{ ERROR_INVALID_HANDLE, EBADF },
	{ ERROR_INVALID_PARAMETER, EINVAL },
	{ ERROR_INVALID_FUNCTION, EINVAL },
	{ ERROR_NOT_SUPPORTED, ENOTSUP },
	{ ERROR_CALL_NOT_IMPLEMENTED, ENOSYS },
	{ ERROR_NOT_ENOUGH_MEMORY, ENOMEM },
	{ ERROR_OUTOFMEMORY, ENOMEM },
	{ ERROR_COMMITMENT_LIMIT, ENOMEM },
	{ ERROR_BAD_EXE_FORMAT, ENOEXEC },
	{ ERROR_OPERATION_ABORTED, ECANCELED },
	{ ERROR_SEM_TIMEOUT, ETIMEDOUT },
	/* sockets */
	{ WSAEWOULDBLOCK, EAGAIN },
	{ WSAEINPROGRESS, EINPROGRESS },
	{ WSAEALREADY, EALREADY },
	{ WSAEINTR, EINTR },
	{ WSAEBADF, EBADF },
	{ WSAENOTSOCK, ENOTSOCK },
	{ WSAEACCES, EACCES },
	{ WSAEFAULT, EFAULT },
	{ WSAEINVAL, EINVAL },
	{ WSAEMFILE, EMFILE },
	{ WSAEMSGSIZE, EMSGSIZE },
	{ WSAEPROTONOSUPPORT, EPROTONOSUPPORT },
	{ WSAEAFNOSUPPORT, EAFNOSUPPORT },
	{ WSAEADDRINUSE, EADDRINUSE },
	{ WSAEADDRNOTAVAIL, EADDRNOTAVAIL },
	{ WSAENETDOWN, ENETDOWN },
	{ WSAENETUNREACH, ENETUNREACH },
	{ WSAENETRESET, ENETRESET },
	{ WSAECONNABORTED, ECONNABORTED },
	{ WSAECONNRESET, ECONNRESET },
	{ WSAENOBUFS, ENOBUFS },
	{ WSAEISCONN, EISCONN },
	{ WSAENOTCONN, ENOTCONN },
	{ WSAESHUTDOWN, EPIPE },
	{ WSAETIMEDOUT, ETIMEDOUT },
	{ WSAECONNREFUSED, ECONNREFUSED },
	{ WSAEHOSTUNREACH, EHOSTUNREACH },
	{ WSAEOPNOTSUPP, EOPNOTSUPP },
};

int
os_set_errno(DWORD error)
{
	size_t i;

	errno = EIO;
	for (i = 0; i < COUNT(errors); i++)
		if (errors[i].from == error)
			errno = errors[i].to;
	return -1;
}

int
os_failed(void)
{
	return os_set_errno(GetLastError());
}

wchar_t *
os_wide(const char *text)
{
	int n = MultiByteToWideChar(CP_UTF8, 0, text, -1, NULL, 0);
	wchar_t *wide = os_sure(calloc((size_t)n + 1, sizeof *wide));

	MultiByteToWideChar(CP_UTF8, 0, text, -1, wide, n);
	return wide;
}

char *
os_narrow(const wchar_t *text)
{
	int n = WideCharToMultiByte(CP_UTF8, 0, text, -1, NULL, 0, NULL, NULL);
	char *narrow = os_sure(calloc((size_t)n + 1, 1));

	WideCharToMultiByte(CP_UTF8, 0, text, -1, narrow, n, NULL, NULL);
	return narrow;
}

/* Puts text in front of a path, in place of its first skip characters. */
static wchar_t *
prefixed(const wchar_t *text, const wchar_t *path, size_t skip)
{
	size_t n = wcslen(text), m = wcslen(path + skip) + 1;
	wchar_t *to = os_sure(malloc((n + m) * sizeof *to));

	memcpy(to, text, n * sizeof *to);
	memcpy(to + n, path + skip, m * sizeof *to);
	return to;
}

/* "\\?\" and "\\.\" are taken as they are. */
wchar_t *
os_wide_path(const char *path)
{
	wchar_t *given = os_wide(path), *full, *to;
	DWORD n = GetFullPathNameW(given, 0, NULL, NULL);

	full = os_sure(calloc((size_t)n + 1, sizeof *full));
	GetFullPathNameW(given, n, full, NULL);
	free(given);
	if (wcsncmp(full, L"\\\\", 2) != 0)
		to = full[0] == L'\0' ? prefixed(L"", full, 0) :
					prefixed(L"\\\\?\\", full, 0);
	else if (full[2] == L'?' || full[2] == L'.')
		to = prefixed(L"", full, 0);
	else
		to = prefixed(L"\\\\?\\UNC\\", full, 2);
	free(full);
	return to;
}

char *
os_plain_path(const wchar_t *path)
{
	wchar_t *share = NULL;
	char *text;

	if (wcsncmp(path, L"\\\\?\\UNC\\", 8) == 0)
		path = share = prefixed(L"\\\\", path, 8);
	else if (wcsncmp(path, L"\\\\?\\", 4) == 0)
		path += 4;
	text = os_narrow(path);
	free(share);
	return text;
}

char *
os_variable(const wchar_t *name)
{
	DWORD n = GetEnvironmentVariableW(name, NULL, 0);
	wchar_t *wide;
	char *value;

	if (n == 0)
		return NULL;
	wide = os_sure(calloc((size_t)n + 1, sizeof *wide));
	GetEnvironmentVariableW(name, wide, n);
	value = os_narrow(wide);
	free(wide);
	return value;
}

/* --- rights --- */

/* Returns the user's number as text, freed with LocalFree, or NULL. */
static wchar_t *
own_sid(void)
{
	union {
		TOKEN_USER user;
		char room[sizeof(TOKEN_USER) + SECURITY_MAX_SID_SIZE];
	} is;
	wchar_t *text = NULL;
	HANDLE token;
	DWORD n;

	if (!OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &token))
		return NULL;
	if (GetTokenInformation(token, TokenUser, &is, sizeof is, &n))
		ConvertSidToStringSidW(is.user.User.Sid, &text);
	CloseHandle(token);
	return text;
}

SECURITY_ATTRIBUTES *
os_own_security(bool folder)
{
	static SECURITY_ATTRIBUTES made[2];
	SECURITY_ATTRIBUTES *s = &made[folder];
	const wchar_t *in = folder ? L"OICI" : L"";
	wchar_t text[512], *sid;

	if (s->lpSecurityDescriptor != NULL)
		return s;
	sid = os_sure(own_sid());
	_snwprintf(text, COUNT(text) - 1,
	    L"O:%lsD:P(A;%ls;FA;;;%ls)(A;%ls;FA;;;SY)(A;%ls;FA;;;BA)", sid, in,
	    sid, in, in);
	text[COUNT(text) - 1] = L'\0';
	LocalFree(sid);
	if (!ConvertStringSecurityDescriptorToSecurityDescriptorW(text,
		SDDL_REVISION_1, &s->lpSecurityDescriptor, NULL))
		os_out_of_memory();
	s->nLength = sizeof *s;
	return s;
}
