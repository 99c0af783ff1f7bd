/*
 * The files of mcp-remote, as its versions 0.1.12, 0.1.38 and 0.15.1 write
 * them:
 *
 *   FOLDER/mcp-remote-VERSION/HASH_tokens.json, HASH_client_info.json
 *
 * VERSION is that of the program, or "v1" in all later versions. HASH is the
 * MD5 of the following values, with "|" between those that exist: the URL as it
 * was written; --resource; the --authorize-param as a JSON object with sorted
 * names; the headers likewise, before variables are replaced;
 * --client-metadata-url; --token-endpoint.
 *
 * tokens.json is the token response, in later versions with expires_at (ms
 * since 1970), requested_scope and issuer. client_info.json is the
 * registration, in later versions with issuer; it is missing for a client that
 * the user passed. Files of early versions may be readable by everybody.
 *
 * A refresh token and a client are only taken together with the issuer that is
 * stored beside them. Without an issuer nothing shows which authorization
 * server they belong to, and the MCP server could name any server to send them
 * to. The access token is taken in any case, because it is meant for the MCP
 * server.
 *
 * Only the newest version that has tokens is used, even if they turn out to be
 * of no use: an old refresh token could end the sign-in of the newer one.
 */
#include "config.h"

#include "store/import.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include <openssl/evp.h>

#include "base/bounds.h"
#include "base/headers.h"
#include "io/private_file.h"
#include "os/place.h"

#define FOLDER_PREFIX "mcp-remote-"
#define HASH_BYTES 33 /* MD5 as hex digits, and a NUL */
/* a smaller number counts as seconds: some servers send an expires_at of their
 * own, and mcp-remote keeps it */
#define LEAST_MS INT64_C(100000000000)

/* A file and its time. */
struct source {
	struct json_object *json;
	int64_t changed_at; /* s since 1970 */
};

/* Is c a blank for mcp-remote? */
static bool
is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Adds "Name: value". Malformed lines are skipped, as mcp-remote does. */
static void
add_header(struct json_object *o, const char *line)
{
	size_t n = strspn(line, ALNUM "_-");
	const char *value = line + n + 1;
	char *name;

	if (n == 0 || line[n] != ':')
		return;
	while (is_blank(*value))
		value++;
	name = xstrndup(line, n);
	document_set(o, name, value);
	free(name);
}

/* Adds "name=value". */
static void
add_param(struct json_object *o, const char *param)
{
	const char *sign = strchr(param, '='), *end = sign;
	char *name;

	if (sign == NULL || sign == param)
		return;
	while (param < end && is_blank(*param))
		param++;
	while (end > param && is_blank(end[-1]))
		end--;
	name = xstrndup(param, (size_t)(end - param));
	document_set(o, name, sign + 1);
	free(name);
}

static int
compare_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Prints the object with its members sorted by name. */
static void
print_sorted(struct json_object *o, struct buf *out)
{
	struct json_object *sorted = document_new();
	size_t i = 0, n = (size_t)json_object_object_length(o);
	const char **names = xcalloc(n, sizeof *names);

	json_object_object_foreach(o, name, value)
	{
		(void)value;
		names[i++] = name;
	}
	qsort(names, n, sizeof *names, compare_text);
	for (i = 0; i < n; i++)
		document_set(sorted, names[i], document_text(o, names[i]));
	document_print(sorted, out);
	json_object_put(sorted);
	free(names);
}

/* Makes an object of the list and adds it; an empty one is left out. */
static void
add_list(struct buf *b, const char *const *list,
    void (*add)(struct json_object *o, const char *item))
{
	struct json_object *o = document_new();

	for (; list != NULL && *list != NULL; list++)
		add(o, *list);
	if (json_object_object_length(o) > 0) {
		buf_addc(b, '|');
		print_sorted(o, b);
	}
	json_object_put(o);
}

static void
add_text(struct buf *b, const char *text)
{
	if (text != NULL && *text != '\0') {
		buf_addc(b, '|');
		buf_adds(b, text);
	}
}

/* Makes HASH. Returns 0, or -1 if there is no MD5 (a FIPS provider). */
static int
make_hash(char hash[HASH_BYTES], const char *url,
    const struct import_config *config)
{
	unsigned char sum[EVP_MAX_MD_SIZE];
	unsigned i, n = 0;
	struct buf b = { 0 };
	int rc;

	buf_adds(&b, url);
	add_text(&b, config->resource);
	add_list(&b, config->params, add_param);
	add_list(&b, config->headers, add_header);
	add_text(&b, config->client_document);
	add_text(&b, config->token_endpoint);
	rc = EVP_Digest(b.p, b.n, sum, &n, EVP_md5(), NULL);
	buf_wipe(&b);
	if (rc != 1 || n * 2 + 1 != HASH_BYTES)
		return -1;
	for (i = 0; i < n; i++)
		snprintf(hash + (size_t)2 * i, 3, "%02x", sum[i]);
	return 0;
}

static bool
add_name(const char *name, void *arg)
{
	struct strings *names = arg;

	if (strncmp(name, FOLDER_PREFIX, strlen(FOLDER_PREFIX)) == 0)
		strings_add(names, xstrdup(name));
	return names->n < BOUND_SOME;
}

/* Sorts versions, the newest first. "v1" came after the plain numbers, which
 * are compared part by part. */
static int
compare_version(const void *a, const void *b)
{
	const char *p = *(const char *const *)a + strlen(FOLDER_PREFIX);
	const char *q = *(const char *const *)b + strlen(FOLDER_PREFIX);
	unsigned long m, n;
	char *p_end, *q_end;

	if ((*p == 'v') != (*q == 'v'))
		return *p == 'v' ? -1 : 1;
	do {
		p += strcspn(p, "0123456789");
		q += strcspn(q, "0123456789");
		m = strtoul(p, &p_end, 10);
		n = strtoul(q, &q_end, 10);
		if (m != n)
			return m > n ? -1 : 1;
		p = p_end;
		q = q_end;
	} while (*p != '\0' && *q != '\0');
	return (*p == '\0') - (*q == '\0');
}

static void
list_versions(struct strings *names, const char *folder)
{
	int dir = os_folder_open(folder, OS_READ);

	if (dir < 0)
		return;
	os_folder_list(dir, BOUND_FILES, add_name, names);
	file_close(dir);
	if (names->n > 0)
		qsort(names->list, names->n, sizeof *names->list,
		    compare_version);
}

/* Returns why the file cannot be trusted, or NULL. A file that another user
 * could have written might sign the user in to a foreign account. */
static const char *
unfit(const struct os_file *f)
{
	if (f->kind != OS_REGULAR)
		return "it is not a regular file";
	if (f->owner != OS_OWN || f->links > 1)
		return "it belongs to another user, or has a second name";
	if (f->others_write)
		return "others can write to it";
	return NULL;
}

/* Tells whether another user may rename this user's files in the folder: a file's
 * name says which server it is for. As elsewhere, a group may write there. */
static bool
is_shared(const char *folder)
{
	struct os_file f;

	return os_file_look_at(OS_HERE, folder, true, &f) < 0 ||
	    f.owner == OS_FOREIGN || f.all_replace;
}

/* Reads the file into s. Returns 0 with *why NULL, or -1. *why is then a
 * message for users, static or valid until the next call, or NULL if there is
 * no such file. */
static int
read_source(struct source *s, const char *path, const char **why)
{
	struct buf text = { 0 };
	struct os_file f;
	int fd;

	*why = NULL;
	fd = os_file_open(OS_HERE, path, OS_READ | OS_NO_LINK | OS_NO_WAIT);
	if (fd < 0) {
		if (errno != ENOENT && errno != ENOTDIR)
			*why = strerror(errno);
		return -1;
	}
	buf_reserve(&text, BOUND_PART_BYTES);
	if (os_file_look(fd, &f) < 0)
		*why = strerror(errno);
	else
		*why = unfit(&f);
	if (*why == NULL && file_get(fd, BOUND_PART_BYTES, &text) < 0)
		*why = strerror(errno);
	file_close(fd);
	s->json = NULL;
	if (*why == NULL) {
		s->changed_at = f.changed_s;
		s->json = document_parse(buf_span(&text), why);
	}
	buf_wipe(&text);
	return s->json == NULL ? -1 : 0;
}

static char *
copy_of(struct json_object *o, const char *name)
{
	const char *text = document_text(o, name);

	return text == NULL || *text == '\0' ? NULL : xstrdup(text);
}

static void
take_times(struct record *r, const struct source *s)
{
	int64_t at = document_number(s->json, "expires_at");
	int64_t in = document_number(s->json, "expires_in");

	if (at >= LEAST_MS)
		at /= 1000;
	r->token.obtained_at = s->changed_at;
	if (at > 0) {
		r->token.expires_at = at;
		if (in > 0 && in < at)
			r->token.obtained_at = at - in;
	} else if (in > 0) {
		r->token.expires_at = s->changed_at + in;
	}
}

/* Takes the token over. Returns NULL, or why it cannot be sent. */
static const char *
take_token(struct record *r, const struct source *s)
{
	const char *type = document_text(s->json, "token_type");
	const char *text = document_text(s->json, "access_token");
	struct headers none = { 0 };
	char *why;
	int rc;

	if (text == NULL)
		return "it contains no access token";
	if (type != NULL && strcasecmp(type, "Bearer") != 0)
		return "its token is not a Bearer token";
	rc = headers_add_bearer(&none, span_of(text), &why);
	headers_free(&none);
	if (rc < 0) {
		free(why);
		return "its access token is empty, or contains bytes not "
		       "allowed in a token";
	}
	r->token.access = xstrdup(text);
	r->issuer = copy_of(s->json, "issuer");
	if (r->issuer != NULL)
		r->token.refresh = copy_of(s->json, "refresh_token");
	r->token.id_token = copy_of(s->json, "id_token");
	r->token.scope_requested = copy_of(s->json, "requested_scope");
	r->token.scope_granted = copy_of(s->json, "scope");
	take_times(r, s);
	return NULL;
}

/* Takes the method of the registration (RFC 7591: basic if it names none).
 * Returns false if mcpsplice does not have it. */
static bool
take_method(struct record *r, struct json_object *o)
{
	const char *method = document_text(o, "token_endpoint_auth_method");

	bool post = string_eq(method, "client_secret_post");

	r->client.method = CLIENT_NONE;
	if (string_eq(method, "none"))
		return true;
	if (r->client.secret != NULL)
		r->client.method = post ? CLIENT_POST : CLIENT_BASIC;
	return post || method == NULL ||
	    strcmp(method, "client_secret_basic") == 0;
}

static void
take_redirect(struct record *r, struct json_object *o)
{
	struct json_object *list = document_list(o, "redirect_uris");

	if (list != NULL && json_object_array_length(list) > 0)
		r->client.redirect_uri = xstrdup(
		    json_object_get_string(json_object_array_get_idx(list, 0)));
}

/* Takes the client over, if it belongs to the token's own issuer. */
static void
take_client(struct record *r, const struct source *s)
{
	const char *issuer = document_text(s->json, "issuer");
	int64_t end = document_number(s->json, "client_secret_expires_at");

	if (issuer == NULL || r->issuer == NULL ||
	    strcmp(issuer, r->issuer) != 0)
		return;
	r->client.id = copy_of(s->json, "client_id");
	r->client.secret = copy_of(s->json, "client_secret");
	r->client.source = CLIENT_IMPORTED;
	r->client.secret_expires_at = end < 0 ? 0 : end;
	if (r->client.id == NULL || !take_method(r, s->json)) {
		string_set(&r->client.id, NULL);
		return;
	}
	take_redirect(r, s->json);
}

/* Takes over the files of folder, which is in the folder above. Returns whether
 * the search ends here. */
static bool
take_folder(struct record *r, const char *above, const char *folder,
    const char *hash, char **from, char **why)
{
	char *path = xasprintf("%s%c%s_tokens.json", folder,
	    *os_path_separators, hash);
	struct source s;
	const char *reason;

	if (read_source(&s, path, &reason) == 0) {
		reason = is_shared(above) || is_shared(folder) ?
		    "others can rename files in its folder" :
		    take_token(r, &s);
		json_object_put(s.json);
	} else if (reason == NULL) {
		free(path);
		return false;
	}
	if (reason != NULL) {
		*why = xasprintf("%s is not imported: %s", path, reason);
		free(path);
		return true;
	}
	*from = path;
	path = xasprintf("%s%c%s_client_info.json", folder, *os_path_separators,
	    hash);
	if (read_source(&s, path, &reason) == 0) {
		take_client(r, &s);
		json_object_put(s.json);
	}
	free(path);
	return true;
}

static bool
take_any(struct record *r, const struct import_config *config,
    const char *const *hashes, const char *version, char **from, char **why)
{
	char *folder = os_path_join(config->folder, version);
	bool end = false;

	for (; !end && *hashes != NULL; hashes++)
		end = take_folder(r, config->folder, folder, *hashes, from,
		    why);
	free(folder);
	return end;
}

bool
import_tokens(struct record *r, const struct import_config *config, char **from,
    char **why)
{
	char written[HASH_BYTES], normal[HASH_BYTES];
	const char *hashes[3] = { written, NULL, NULL };
	struct strings names = { 0 };
	bool end = false;
	size_t i;

	record_init(r);
	*from = NULL;
	*why = NULL;
	if (!os_path_absolute(config->folder) ||
	    make_hash(written, config->url, config) < 0)
		return false;
	if (config->normal != NULL &&
	    make_hash(normal, config->normal, config) == 0)
		hashes[1] = normal;
	list_versions(&names, config->folder);
	for (i = 0; i < names.n && !end; i++)
		end = take_any(r, config, hashes, names.list[i], from, why);
	strings_free(&names);
	if (*from == NULL)
		return false;
	if (config->resource != NULL && config->resource[0] != '\0')
		r->resource = xstrdup(config->resource);
	return true;
}

static bool
is_no_token(const char *file, void *arg)
{
	static const char end[] = "_tokens.json";
	size_t n = strlen(file), m = strlen(end);
	bool *found = arg;

	*found = n > m && strcmp(file + n - m, end) == 0;
	return !*found;
}

bool
import_any(const struct import_config *config)
{
	struct strings names = { 0 };
	bool found = false;
	char *path;
	size_t i;
	int dir;

	if (os_path_absolute(config->folder))
		list_versions(&names, config->folder);
	for (i = 0; i < names.n; i++) {
		path = os_path_join(config->folder, names.list[i]);
		dir = found ? -1 : os_folder_open(path, OS_READ);
		if (dir >= 0) {
			os_folder_list(dir, BOUND_FILES, is_no_token, &found);
			file_close(dir);
		}
		free(path);
	}
	strings_free(&names);
	return found;
}
