/*
 * The generator of bcrypt.dll.
 */
#include "config.h"

#include "os/random.h"

#include <windows.h>

#include <bcrypt.h>

int
os_random(void *p, size_t n)
{
	NTSTATUS status;

	status = BCryptGenRandom(NULL, p, (ULONG)n,
	    BCRYPT_USE_SYSTEM_PREFERRED_RNG);
	return status == 0 ? 0 : -1;
}
