/* The certificate authorities that are trusted, in the form that is cheapest
 * for libcurl. */
#ifndef MCPSPLICE_IO_AUTHORITIES_H
#define MCPSPLICE_IO_AUTHORITIES_H

#include "io/http_state.h"

/* Chooses h->ca_path, h->ca_file and h->ca_blob; without any, libcurl's
 * defaults stay. A file that cannot be read is left to libcurl, which reports
 * it for each transfer. v: what libcurl says of itself. */
void authorities_choose(struct http *h, const curl_version_info_data *v);

#endif
