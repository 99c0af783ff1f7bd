/* The certificate authorities that are trusted, in the form that is cheapest
 * for libcurl. */
#ifndef MCPSPLICE_IO_AUTHORITIES_H
#define MCPSPLICE_IO_AUTHORITIES_H

#include "base/mem.h"

/* With neither folder nor file, libcurl's defaults stay. The names are
 * borrowed. */
struct authorities {
	const char *folder; /* links named by hash, or NULL */
	const char *file;
	struct buf both; /* the system's bundle and the extra file, or empty */
};

/* Chooses for these options, which are as in struct http_config and may be
 * NULL. libcurl must have TLS. A file that cannot be read is left to libcurl,
 * which reports it for each transfer. The caller frees a->both. */
void authorities_choose(struct authorities *a, const char *cacert,
    const char *cacert_extra);

#endif
