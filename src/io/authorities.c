/* Certificate authorities: a file, a folder, or two files as one. */
#include "config.h"

#include "io/http_state.h"

#include <stdio.h>

#include "base/log.h"
#include "io/private_file.h"
#include "os/memory_file.h"
#include "os/terminal.h"

static bool
is_hash(const char *name, void *arg)
{
	bool *found = arg;

	*found = strspn(name, "0123456789abcdef") == 8 &&
	    strcmp(name + 8, ".0") == 0;
	return !*found;
}

/* Does the folder hold links named by hash ("4042bcee.0")? */
static bool
is_hashed(const char *path)
{
	int dir = os_folder_open(path, OS_READ);
	bool found = false;

	if (dir == -1)
		return false;
	os_folder_list(dir, SIZE_MAX, is_hash, &found);
	os_file_close(dir);
	return found;
}

static const char *
first(const char *const *usual, bool (*is_there)(const char *path))
{
	while (*usual != NULL && !is_there(*usual))
		usual++;
	return *usual;
}

const char *
authorities_folder(bool (*is_there)(const char *path))
{
	static const char *const usual[] = {
		"/etc/ssl/certs", /* Debian, Arch, Alpine, SUSE */
		"/etc/pki/ca-trust/extracted/pem/directory-hash", /* Fedora */
		NULL,
	};

	return first(usual, is_there);
}

/* Returns a folder that makes a handshake cheap, or NULL: only the OpenSSL
 * family reads just the files it needs. */
static const char *
hashed_folder(const curl_version_info_data *v, const char *own)
{
	if (strncmp(v->ssl_version, "OpenSSL/", 8) != 0 &&
	    strncmp(v->ssl_version, "LibreSSL/", 9) != 0)
		return NULL;
	if (own != NULL && is_hashed(own))
		return own;
	if (own != NULL)
		log_warn("SSL_CERT_DIR: ignoring %s: no certificate there is "
			 "named by its hash; \"openssl rehash\" creates such "
			 "names",
		    own);
	if (v->capath != NULL && is_hashed(v->capath))
		return v->capath;
	return authorities_folder(is_hashed);
}

/* A libcurl that was built for every system knows no store of any. */
static bool
knows_none(const curl_version_info_data *v)
{
	return v->cainfo == NULL && v->capath == NULL &&
	    strncmp(v->ssl_version, "OpenSSL/", 8) == 0;
}

static bool
is_readable(const char *path)
{
	return os_file_may(path, OS_MAY_READ);
}

const char *
authorities_bundle(bool (*is_there)(const char *path))
{
	static const char *const usual[] = {
		"/etc/ssl/certs/ca-certificates.crt", /* Debian, Arch, Gentoo */
		"/etc/pki/tls/certs/ca-bundle.crt",   /* Fedora until 42 */
		"/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", /* Fedora */
		"/etc/ssl/ca-bundle.pem",                            /* SUSE */
		"/etc/ssl/cert.pem", /* Alpine, macOS, the BSDs */
		NULL,
	};

	return first(usual, is_there);
}

/* Sets the folder and the file of the system's store, of which libcurl is told
 * one at most. The user may have named a folder. */
static void
find_system(const curl_version_info_data *v, const char *own,
    const char **folder, const char **file)
{
	*folder = hashed_folder(v, own);
	*file = v->cainfo;
	if (*folder == NULL && knows_none(v))
		*file = authorities_bundle(is_readable);
}

/* Returns 0, or -1 if the file cannot be read or is absurdly large. */
static int
read_file(struct buf *b, const char *path)
{
	int r, fd = os_file_open(OS_HERE, path, OS_READ);

	if (fd < 0)
		return -1;
	r = file_get_all(fd, b);
	os_file_close(fd);
	return r == 0 ? buf_addc(b, '\n') : -1;
}

/* libcurl copies a text and compares it for each transfer, and keeps what it
 * parsed of a file only. So the text becomes a file, if the system has files
 * that are only in memory. */
static void
make_file(struct authorities *a)
{
	if (a->fd >= 0)
		os_file_close(a->fd);
	a->fd = os_memory_file(a->both.p, a->both.n, a->path, sizeof a->path);
	if (a->fd < 0)
		return;
	a->file = a->path;
	buf_free(&a->both);
}

/* Makes one of both, if there are two; what it made before goes. */
static void
join(struct authorities *a)
{
	const char *file = a->sources[0], *extra = a->sources[1];

	if (extra == NULL)
		return;
	buf_free(&a->both);
	buf_init(&a->both, BOUND_FILE_BYTES);
	if ((file != NULL && read_file(&a->both, file) != 0) ||
	    read_file(&a->both, extra) != 0)
		buf_free(&a->both);
	else
		make_file(a);
}

/* Changes when one of the files does. */
static uint64_t
look(const struct authorities *a)
{
	return file_stamp(-1, a->sources[0]) * 31 +
	    file_stamp(-1, a->sources[1]);
}

bool
authorities_renewed(struct authorities *a)
{
	uint64_t seen = look(a);

	if (seen == a->seen)
		return false;
	a->seen = seen;
	join(a);
	return true;
}

void
authorities_free(struct authorities *a)
{
	if (a->fd > OS_STDERR) /* it is 0 if nothing was chosen */
		os_file_close(a->fd);
	buf_free(&a->both);
}

void
authorities_choose(struct authorities *a, const char *cacert,
    const char *ca_folder, const char *cacert_extra)
{
	const curl_version_info_data *v = curl_version_info(CURLVERSION_NOW);

	buf_init(&a->both, BOUND_FILE_BYTES);
	a->fd = -1;
	if (cacert == NULL || knows_none(v))
		find_system(v, cacert == NULL ? ca_folder : NULL, &a->folder,
		    &a->file);
	if (knows_none(v)) {
		a->proxy_folder = a->folder;
		a->proxy_file = a->folder == NULL ? a->file : NULL;
	}
	if (cacert == NULL && a->folder != NULL) {
		a->file = cacert_extra;
		a->proxy_folder = a->folder;
		a->proxy_file = cacert_extra;
		a->sources[0] = cacert_extra;
	} else {
		a->folder = NULL;
		if (cacert != NULL)
			a->file = cacert;
		a->sources[0] = a->file;
		a->sources[1] = cacert_extra;
		join(a);
	}
	a->seen = look(a);
}
