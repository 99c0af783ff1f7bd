/* Certificate authorities: a file, a folder, or both files as one text. */
#include "config.h"

#include "io/authorities.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

enum { HTTP_CA_MAX_BYTES = 16 * 1024 * 1024 };

/* Does the folder hold links named by hash ("4042bcee.0")? */
static bool
is_hashed(const char *path)
{
	struct dirent *e;
	bool found;
	DIR *d;

	d = opendir(path);
	if (d == NULL)
		return false;
	found = false;
	while (!found && (e = readdir(d)) != NULL)
		found = strspn(e->d_name, "0123456789abcdef") == 8 &&
		    strcmp(e->d_name + 8, ".0") == 0;
	closedir(d);
	return found;
}

/* Returns a folder that makes a handshake cheap, or NULL: only the OpenSSL
 * family reads just the files it needs. */
static const char *
hashed_folder(const curl_version_info_data *v)
{
	static const char usual[] = "/etc/ssl/certs";

	if (strncmp(v->ssl_version, "OpenSSL/", 8) != 0 &&
	    strncmp(v->ssl_version, "LibreSSL/", 9) != 0)
		return NULL;
	if (v->capath != NULL && is_hashed(v->capath))
		return v->capath;
	return is_hashed(usual) ? usual : NULL;
}

/* Returns 0, or -1 if the file cannot be read or is absurdly large. */
static int
read_file(struct buf *b, const char *path)
{
	char part[4096];
	size_t n;
	FILE *f;
	int r;

	f = fopen(path, "r");
	if (f == NULL)
		return -1;
	r = 0;
	while (r == 0 && (n = fread(part, 1, sizeof part, f)) > 0)
		r = buf_add(b, part, n);
	if (ferror(f))
		r = -1;
	fclose(f);
	return r == 0 ? buf_addc(b, '\n') : -1;
}

/* Chooses the values for set_tls; without any, libcurl's defaults stay. A file
 * that cannot be read is left to libcurl, which reports it for each
 * transfer. */
void
authorities_choose(struct http *h, const curl_version_info_data *v)
{
	const struct http_config *c = &h->config;

	buf_init(&h->ca_blob, HTTP_CA_MAX_BYTES);
	h->ca_file = c->cacert != NULL ? c->cacert : v->cainfo;
	if (c->cacert == NULL)
		h->ca_path = hashed_folder(v);
	if (h->ca_path != NULL) {
		h->ca_file = c->cacert_extra;
		return;
	}
	if (c->cacert_extra == NULL)
		return;
	if ((h->ca_file != NULL && read_file(&h->ca_blob, h->ca_file) != 0) ||
	    read_file(&h->ca_blob, c->cacert_extra) != 0)
		buf_free(&h->ca_blob);
}
