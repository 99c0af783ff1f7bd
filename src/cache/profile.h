/*
 * Who speaks with which server: the URL and all options that choose another
 * server or another identity there. What is remembered between two starts
 * belongs to one profile. Only its hash is kept, because it may hold secrets.
 */
#ifndef MCPSPLICE_CACHE_PROFILE_H
#define MCPSPLICE_CACHE_PROFILE_H

#include "base/mem.h"

#define PROFILE_HEX_BYTES 65 /* SHA-256 as lower-case hex digits, and a NUL */
#define PROFILE_HOST_BYTES 64

struct profile {
	char hash[PROFILE_HEX_BYTES];
	/* host-HASH, 16 digits of it: the name of a file */
	char name[PROFILE_HOST_BYTES + 17];
};

/* identity is what options_identity makes of the options, host that of their
 * URL. Returns 0, or -1 when there is no SHA-256. */
int profile_make(struct profile *p, const char *host, struct span identity);

/* SHA-256 of the parts, one behind the other. Returns 0, or -1. */
int profile_digest(char hex[PROFILE_HEX_BYTES], const struct span *parts,
    size_t n);

#endif
