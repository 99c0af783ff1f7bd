/*
 * Prints once a second, as a line, how many handles the oldest process of
 * mcpsplice.exe has, until nobody reads that. In wine it is the room in the
 * table of handles, which doubles; to list the handles themselves
 * crashes wine 8.
 */
#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>
#include <windows.h>
#include <winternl.h>

enum { BYTES = 1 << 20, STEP_MS = 1000 };

static char data[BYTES];

static unsigned long
handles(void)
{
	SYSTEM_PROCESS_INFORMATION *p = (void *)data;
	LONGLONG born, first = 0;
	ULONG n, found = 0;

	if (NtQuerySystemInformation(SystemProcessInformation, data, BYTES,
		&n) < 0)
		exit(1);
	for (ULONG step = 1; step > 0; p = (void *)((char *)p + step)) {
		step = p->NextEntryOffset;
		/* CreateTime, which the header does not name */
		born = *(LONGLONG *)((char *)p + 32);
		if (p->ImageName.Buffer == NULL ||
		    wcscmp(p->ImageName.Buffer, L"mcpsplice.exe") != 0 ||
		    (first != 0 && born >= first))
			continue;
		found = p->HandleCount;
		first = born;
	}
	return found;
}

int
main(void)
{
	for (;; Sleep(STEP_MS))
		if (printf("%lu\n", handles()) < 0 || fflush(stdout) != 0)
			return 0;
}
