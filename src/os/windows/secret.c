/*
 * The Data Protection API: what is sealed can be read by this user on this
 * machine, or where the profile roams to. A first line distinguishes it from a
 * text that is not sealed.
 */
#include "config.h"

#include "os/secret.h"
#include "os/windows/common.h"

#include <dpapi.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MARK "mcpsplice sealed 1\n"
#define MARK_BYTES (sizeof MARK - 1)

/* Copies what Windows made, behind mark, and wipes it. */
static char *
take(DATA_BLOB *made, const char *mark, size_t *to)
{
	size_t n = strlen(mark);
	char *text = os_sure(malloc(n + made->cbData + 1));

	memcpy(text, mark, n);
	memcpy(text + n, made->pbData, made->cbData);
	*to = n + made->cbData;
	SecureZeroMemory(made->pbData, made->cbData);
	LocalFree(made->pbData);
	return text;
}

static DATA_BLOB
blob(const char *text, size_t n)
{
	return (DATA_BLOB){ .cbData = (DWORD)n,
		.pbData = (BYTE *)(uintptr_t)text };
}

char *
os_secret_seal(const char *text, size_t n, size_t *to)
{
	DATA_BLOB from = blob(text, n), made;

	return CryptProtectData(&from, L"mcpsplice", NULL, NULL, NULL,
		   CRYPTPROTECT_UI_FORBIDDEN, &made) ?
	    take(&made, MARK, to) :
	    NULL;
}

char *
os_secret_open(const char *text, size_t n, size_t *to)
{
	DATA_BLOB from, made;

	errno = 0;
	if (n < MARK_BYTES || memcmp(text, MARK, MARK_BYTES) != 0)
		return NULL;
	from = blob(text + MARK_BYTES, n - MARK_BYTES);
	if (CryptUnprotectData(&from, NULL, NULL, NULL, NULL,
		CRYPTPROTECT_UI_FORBIDDEN, &made))
		return take(&made, "", to);
	errno = EACCES;
	return NULL;
}
