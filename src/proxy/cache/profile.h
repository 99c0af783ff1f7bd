/*
 * A profile stands for one server and one identity there: the URL, and all
 * options that select another server or another identity. Everything cached
 * between two starts belongs to one profile. Only the hash of the identity is
 * kept, because the identity may contain secrets.
 */
#ifndef MCPSPLICE_PROXY_CACHE_PROFILE_H
#define MCPSPLICE_PROXY_CACHE_PROFILE_H

#include "base/mem.h"

#define PROFILE_HEX_BYTES 65 /* SHA-256 as lower-case hex digits, and a NUL */
#define PROFILE_HOST_BYTES 64

struct profile {
	char hash[PROFILE_HEX_BYTES];
	/* host-HASH, with 16 digits of the hash: the name of a file */
	char name[PROFILE_HOST_BYTES + 17];
};

/* Makes the profile. identity comes from options_identity, host from the URL of
 * the options. Returns 0, or -1 if there is no SHA-256. */
int profile_make(struct profile *p, const char *host, struct span identity);

/* Makes the SHA-256 of the parts, concatenated. Returns 0, or -1. */
int profile_digest(char hex[PROFILE_HEX_BYTES], const struct span *parts,
    size_t n);

/*
 * Each file of the cache begins with a title and the number of its format. A
 * file with a higher number than ours is one of a newer mcpsplice that shares
 * this HOME: it is neither used nor replaced nor removed for its content. Does
 * the open file begin with title and a number over known?
 */
bool format_is_newer(int fd, const char *title, unsigned known);

#endif
