/*
 * Who speaks with which server: the URL and all options that choose another
 * server or another identity there. What is remembered between two starts
 * belongs to one profile. Only its hash is kept, because it may hold secrets.
 */
#ifndef MCPSPLICE_CACHE_PROFILE_H
#define MCPSPLICE_CACHE_PROFILE_H

#include "options/options.h"

#define PROFILE_HEX_BYTES 65 /* SHA-256 as lower-case hex digits, and a NUL */
#define PROFILE_HOST_BYTES 64

struct profile {
	char hash[PROFILE_HEX_BYTES];
	/* host-HASH, 16 digits of it: the name of a file */
	char name[PROFILE_HOST_BYTES + 17];
};

/* Values count as they are written in the options, and so do the variables
 * named there; the content of a file does not, so that a token that is renewed
 * finds the same profile. Returns 0, or -1 when there is no URL or no
 * SHA-256. */
int profile_make(struct profile *p, const struct options *o);

/* SHA-256 of the parts, one behind the other. Returns 0, or -1. */
int profile_digest(char hex[PROFILE_HEX_BYTES], const struct span *parts,
    size_t n);

#endif
