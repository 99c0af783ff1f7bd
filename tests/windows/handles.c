/*
 * Prints once a second, as a line, how many handles the oldest process of
 * mcpsplice.exe has, until nobody reads that.
 */
#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>
#include <windows.h>
#include <winternl.h>

enum { PROCESSES = 5, HANDLES = 64, BYTES = 1 << 24, STEP_MS = 1000 };

struct handles {
	ULONG_PTR count, reserved;
	struct {
		void *object;
		ULONG_PTR pid, handle;
		ULONG rights;
		USHORT trace, type;
		ULONG attributes, reserved;
	} each[];
};

/* What the system has of this kind, until the next call. */
static void *
all_of(int kind)
{
	static char *data;
	ULONG n;

	if (data == NULL)
		data = malloc(BYTES);
	if (data == NULL ||
	    NtQuerySystemInformation((SYSTEM_INFORMATION_CLASS)kind, data,
		BYTES, &n) < 0)
		exit(1);
	return data;
}

static ULONG_PTR
oldest(void)
{
	SYSTEM_PROCESS_INFORMATION *p = all_of(PROCESSES);
	ULONG_PTR pid = 0;
	LONGLONG born, first = 0;

	for (ULONG step = 1; step > 0; p = (void *)((char *)p + step)) {
		step = p->NextEntryOffset;
		/* CreateTime, which winternl.h has no name for */
		born = *(LONGLONG *)((char *)p + 32);
		if (p->ImageName.Buffer == NULL ||
		    wcscmp(p->ImageName.Buffer, L"mcpsplice.exe") != 0 ||
		    (pid != 0 && born >= first))
			continue;
		pid = (ULONG_PTR)p->UniqueProcessId;
		first = born;
	}
	return pid;
}

int
main(void)
{
	ULONG_PTR pid = oldest(), n;
	const struct handles *all;

	for (;; Sleep(STEP_MS)) {
		all = all_of(HANDLES);
		n = 0;
		for (ULONG_PTR i = 0; i < all->count; i++)
			n += all->each[i].pid == pid;
		if (printf("%lu\n", (unsigned long)n) < 0 ||
		    fflush(stdout) != 0)
			return 0;
	}
}
