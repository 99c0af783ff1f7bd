/*
 * The profile's hash is over a list of values in a fixed order, each with its
 * length before it: no two lists become the same bytes.
 */
#include "config.h"

#include "cache/profile.h"

#include <stdio.h>
#include <stdlib.h>

#include <openssl/evp.h>

#include "io/url.h"
#include "store/credential.h"

int
profile_digest(char hex[PROFILE_HEX_BYTES], const struct span *parts, size_t n)
{
	unsigned char sum[EVP_MAX_MD_SIZE];
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	unsigned i, size = 0;
	bool ok;

	ok = ctx != NULL && EVP_DigestInit_ex(ctx, EVP_sha256(), NULL) == 1;
	for (; ok && n > 0; n--, parts++)
		ok = EVP_DigestUpdate(ctx, parts->p, parts->n) == 1;
	ok = ok && EVP_DigestFinal_ex(ctx, sum, &size) == 1 &&
	    size * 2 + 1 == PROFILE_HEX_BYTES;
	EVP_MD_CTX_free(ctx);
	if (!ok)
		return -1;
	for (i = 0; i < size; i++)
		snprintf(hex + (size_t)2 * i, 3, "%02x", sum[i]);
	return 0;
}

/* NULL is another value than "". */
static void
add_value(struct buf *b, const char *value)
{
	if (value == NULL)
		buf_adds(b, "-,");
	else
		buf_addf(b, "%zu:%s,", strlen(value), value);
}

static void
add_list(struct buf *b, const struct strings *list)
{
	size_t i;

	buf_addf(b, "%zu,", list->n);
	for (i = 0; i < list->n; i++)
		add_value(b, list->list[i]);
}

/* What is in the environment is another identity when it changes; what is in
 * a file is a token that is renewed. */
static void
add_variable(struct buf *b, const char *name, size_t n)
{
	char *copy = xstrndup(name, n);

	add_value(b, getenv(copy));
	free(copy);
}

/* Of each ${NAME} in it. */
static void
add_variables(struct buf *b, const char *text)
{
	const char *at, *end;

	for (at = strstr(text, "${"); at != NULL; at = strstr(end, "${")) {
		end = strchr(at, '}');
		if (end == NULL)
			return;
		add_variable(b, at + 2, (size_t)(end - at) - 2);
	}
}

static int
hash_all(struct profile *p, const struct url *url, const struct options *o)
{
	struct span all;
	struct buf b;
	size_t i;
	int rc;

	buf_init(&b, 0);
	add_value(&b, url->text);
	add_list(&b, &o->headers);
	for (i = 0; i < o->headers.n; i++)
		add_variables(&b, o->headers.list[i]);
	add_value(&b, o->profile);
	add_value(&b, o->client_id);
	add_value(&b, o->auth_command);
	add_value(&b, o->netrc_file);
	add_value(&b, o->bearer_file);
	add_value(&b, o->bearer_env);
	if (o->bearer_env != NULL)
		add_variable(&b, o->bearer_env, strlen(o->bearer_env));
	add_value(&b, o->cert);
	add_value(&b, o->unix_socket);
	add_list(&b, &o->resolve);
	all = buf_span(&b);
	rc = profile_digest(p->hash, &all, 1);
	credential_wipe(&b);
	return rc;
}

/* The host in letters that are safe in any file name; never a dot first. */
static void
add_host(char *name, const char *host)
{
	size_t i;
	char c;

	for (i = 0; i < PROFILE_HOST_BYTES - 1 && host[i] != '\0'; i++) {
		c = host[i];
		if ((c < 'a' || c > 'z') && (c < '0' || c > '9') &&
		    (c != '.' || i == 0))
			c = c == '-' && i > 0 ? '-' : '_';
		name[i] = c;
	}
	name[i] = '\0';
}

int
profile_make(struct profile *p, const struct options *o)
{
	struct url url;
	size_t n;
	int rc;

	if (o->url == NULL || url_parse(&url, o->url) != URL_OK)
		return -1;
	rc = hash_all(p, &url, o);
	if (rc == 0) {
		add_host(p->name, url.host);
		n = strlen(p->name);
		snprintf(p->name + n, sizeof p->name - n, "-%.16s", p->hash);
	}
	url_free(&url);
	return rc;
}
