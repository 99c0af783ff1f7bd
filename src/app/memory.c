/* Hands our functions for memory to libcrypto. */
#include "config.h"

#include "app/memory.h"

#include <openssl/crypto.h>
#include <stdlib.h>

#include "base/mem.h"

static void *
take(size_t n, const char *file, int line)
{
	(void)file;
	(void)line;
	return n == 0 ? NULL : xmalloc(n);
}

/* CRYPTO_realloc: 0 bytes free it. */
static void *
change(void *p, size_t n, const char *file, int line)
{
	(void)file;
	(void)line;
	if (n > 0)
		return xrealloc(p, n);
	free(p);
	return NULL;
}

static void
give(void *p, const char *file, int line)
{
	(void)file;
	(void)line;
	free(p);
}

void
memory_of_crypto(void)
{
	(void)CRYPTO_set_mem_functions(take, change, give);
}
