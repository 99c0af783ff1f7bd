/* Certificate authorities: a file, a folder, or both files as one. */
#include "config.h"

#include "io/http_state.h"

#ifdef HAVE_MEMFD_CREATE
#include <sys/mman.h>
#endif

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "io/file.h"

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

const char *
authorities_folder(bool (*is_there)(const char *path))
{
	static const char *const usual[] = {
		"/etc/ssl/certs", /* Debian, Arch, Alpine, SUSE */
		"/etc/pki/ca-trust/extracted/pem/directory-hash", /* Fedora */
	};
	size_t i;

	for (i = 0; i < sizeof usual / sizeof *usual; i++)
		if (is_there(usual[i]))
			return usual[i];
	return NULL;
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
		log_warn("SSL_CERT_DIR: %s has no certificates that are named "
			 "by hash (\"openssl rehash\" makes such names): it is "
			 "not used",
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
	return access(path, R_OK) == 0;
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
	};
	size_t i;

	for (i = 0; i < sizeof usual / sizeof *usual; i++)
		if (is_there(usual[i]))
			return usual[i];
	return NULL;
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
	int r, fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -1;
	r = file_get_all(fd, b);
	close(fd);
	return r == 0 ? buf_addc(b, '\n') : -1;
}

/* libcurl copies a text and compares it for each transfer, and keeps what it
 * parsed of a file only. So the text becomes a file, if the system has files
 * that are only in memory. */
static void
make_file(struct authorities *a)
{
#ifdef HAVE_MEMFD_CREATE
	size_t done = 0;
	ssize_t n;

	if (a->fd >= 0)
		close(a->fd);
	a->fd = memfd_create("authorities", MFD_CLOEXEC);
	if (a->fd < 0)
		return;
	while (done < a->both.n &&
	    (n = write(a->fd, a->both.p + done, a->both.n - done)) > 0)
		done += (size_t)n;
	snprintf(a->path, sizeof a->path, "/proc/self/fd/%d", a->fd);
	if (done < a->both.n || access(a->path, R_OK) != 0)
		return;
	a->file = a->path;
	buf_free(&a->both);
#else
	(void)a;
#endif
}

/* Makes one of both, if there are two. */
static void
join(struct authorities *a)
{
	const char *file = a->sources[0], *extra = a->sources[1];

	if (extra == NULL)
		return;
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
	if (a->file == a->path)
		join(a);
	return true;
}

void
authorities_free(struct authorities *a)
{
	if (a->fd > STDERR_FILENO) /* it is 0 if nothing was chosen */
		close(a->fd);
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
