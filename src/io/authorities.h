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
	/* The same for an https proxy, to which the option cacert says
	 * nothing. */
	const char *proxy_folder, *proxy_file;
	struct buf both; /* the system's bundle and the extra file, or empty */
	/* The same as a file that is only in memory, which file names then. */
	int fd; /* -1: there is none */
	char path[32];
};

/* Chooses for these options, which are as in struct http_config and may be
 * NULL; a is zeroed. libcurl must have TLS. A file that cannot be read is left
 * to libcurl, which reports it for each transfer. The caller calls
 * authorities_free. */
void authorities_choose(struct authorities *a, const char *cacert,
    const char *ca_folder, const char *cacert_extra);
void authorities_free(struct authorities *a);
/* Returns the first place where a system has links named by hash and this one
 * has them, or NULL. */
const char *authorities_folder(bool (*is_there)(const char *path));
/* Returns the first place where a system has its bundle and this one has one,
 * or NULL. */
const char *authorities_bundle(bool (*is_there)(const char *path));

#endif
