/* What all programs make of the options before they begin. */
#include "config.h"

#include "options/from_options.h"

#include <errno.h>
#include <stdlib.h>

#include "base/bounds.h"
#include "core/wire/redact.h"
#include "io/address.h"
#include "io/private_file.h"
#include "options/set.h"
#include "os/file.h"
#include "os/network.h"
#include "os/place.h"
#include "os/process.h"

/* Reads the secrets that options name. */

/* Reads a file into to. Returns 0, or -1 with errno set. */
static int
read_all(const char *path, struct buf *to)
{
	int fd = os_file_open(OS_HERE, path, OS_READ), rc;

	if (fd < 0)
		return -1;
	rc = file_get_all(fd, to);
	file_close(fd);
	return rc;
}

/* Warns if the file is open to other users; path may be NULL. */
static void
secret_check(const char *path)
{
	struct os_file f;

	if (path != NULL && os_file_look_at(OS_HERE, path, true, &f) == 0)
		file_warn_if_open(path, &f);
}

char *
secret_platform_file(const char *option, const char *path, char **why)
{
	struct buf text = { .max = BOUND_TEXT_BYTES };
	const char *wrong = NULL;
	char *secret = NULL;
	struct span content;

	if (read_all(path, &text) != 0) {
		*why = redact_tokens(xasprintf("%s %s cannot be read: %s",
		    option, string_shown(path), strerror(errno)));
	} else {
		content = span_trim(span_unmarked(buf_span(&text)), "\r\n");
		if (content.n == 0)
			wrong = "is empty";
		else if (span_is_utf16(content))
			wrong = "is UTF-16; save it as UTF-8";
		else if (memchr(content.p, '\0', content.n) != NULL)
			wrong = "contains a NUL byte";
		if (wrong == NULL)
			secret = xstrndup(content.p, content.n);
		else
			*why = xasprintf("%s %s %s", option, path, wrong);
	}
	buf_wipe(&text);
	return secret;
}

char *
secret_file(const char *option, const char *path, char **why)
{
	secret_check(path);
	return secret_platform_file(option, path, why);
}

void
secret_peek(const char *path, struct buf *to)
{
	struct os_file f;

	/* A pipe can be read once only. */
	if (os_file_look_at(OS_HERE, path, true, &f) == 0 &&
	    f.kind == OS_REGULAR)
		read_all(path, to);
}

char *
secret_env(const char *option, const char *name, char **why)
{
	const char *value = getenv(name);

	if (value != NULL && *value != '\0')
		return xstrdup(value);
	*why = redact_tokens(xasprintf("%s %s: the variable is not set", option,
	    string_shown(name)));
	return NULL;
}

void
secret_free(char *secret)
{
	string_wipe(&secret);
}

/* The network options in the form that io/http wants. */

/* libcurl reads such a file whole, and again for later connections. From a FIFO
 * or a terminal it would wait for bytes. Returns what is wrong with the file,
 * owned by the caller, or NULL. */
static char *
unfit(const char *name, const char *path)
{
	struct os_file f;

	if (os_file_look_at(OS_HERE, path, true, &f) != 0 ||
	    !os_file_may(path, OS_MAY_READ))
		return xasprintf("%s: %s cannot be read: %s", name, path,
		    strerror(errno));
	if (f.kind != OS_REGULAR)
		return xasprintf("%s: %s is not a regular file", name, path);
	if (f.size > BOUND_FILE_BYTES)
		return xasprintf("%s: %s is larger than %zu bytes", name, path,
		    (size_t)BOUND_FILE_BYTES);
	return NULL;
}

/* Returns the value of the variable from which libcurl takes the proxy for this
 * scheme, and its name; NULL if there is none. */
static const char *
proxy_variable(bool https, const char **name)
{
	const char *const *at = http_proxy_variables[https];
	const char *value;

	for (; *at != NULL; at++) {
		*name = *at;
		value = getenv(*name);
		if (value != NULL && value[0] != '\0')
			return value;
	}
	return NULL;
}

/* Returns what is wrong with the proxy of the environment if the MCP server needs
 * it, owned by the caller, or NULL. */
static char *
bad_proxy(const struct options *o)
{
	struct http_config c = { .proxy = "localhost", .noproxy = o->noproxy };
	const char *name, *value;
	char *wrong = NULL, *why = NULL;
	struct url url;

	url_parse(&url, o->url);
	value = proxy_variable(strcmp(url.scheme, "https") == 0, &name);
	if (value != NULL && o->proxy == NULL && o->unix_socket == NULL &&
	    !url_is_loopback(&url))
		wrong = option_bad_proxy(value);
	if (wrong != NULL && http_takes_proxy(&c, o->url))
		why = xasprintf("%s%s", name, wrong);
	free(wrong);
	url_free(&url);
	return why;
}

/* The certificate and its key are used for the MCP server, or with --cert-auth.
 * A bundle that the environment names for all programs, and that is missing, is
 * left to libcurl: a server without TLS does not need it. Returns 0, or -1 with
 * *why. */
static int
check_files(const struct options *o, bool server, char **why)
{
	char *cacert = options_set_by(o, "cacert");
	const struct {
		const char *name, *path;
		bool used;
	} files[] = {
		{ cacert, o->cacert,
		    o->cacert == NULL || options_given(o, "cacert") ||
			os_file_may(o->cacert, OS_MAY_READ) },
		{ "--proxy-cacert", o->proxy_cacert, true },
		{ "--cert", o->cert, server || o->cert_auth },
		{ "--key", o->key, server || o->cert_auth },
		{ "--netrc-file", o->netrc_file, server },
	};
	size_t i;

	for (i = 0; i < sizeof files / sizeof *files && *why == NULL; i++)
		if (files[i].used && files[i].path != NULL)
			*why = unfit(files[i].name, files[i].path);
	free(cacert);
	if (server && *why == NULL)
		*why = bad_proxy(o);
	return *why == NULL ? 0 : -1;
}

char *
network_proxy(const struct options *o, bool https, char **from)
{
	const char *name = NULL, *value = o->proxy;
	struct buf shown = { 0 };
	char *system = NULL;

	if (value == NULL)
		value = proxy_variable(https, &name);
	if (value == NULL && os_has_proxy_settings) {
		value = system = os_system_proxy(https, NULL);
		name = "the system's proxy setting";
	}
	if (value == NULL || value[0] == '\0')
		return NULL;
	*from = o->proxy == NULL ? xstrdup(name) : options_set_by(o, "proxy");
	redact_proxy(&shown, value);
	free(system);
	return buf_take(&shown);
}

/* Tells where the proxies come from, for the words of a failure. */
static void
fill_proxies(struct http_config *c, struct network *n, const struct options *o)
{
	int i;

	for (i = 0; i < 2; i++) {
		if (n->proxy[i] == NULL)
			n->proxy[i] = network_proxy(o, i == 1,
			    &n->proxy_from[i]);
		c->proxies[i].url = n->proxy[i];
		c->proxies[i].from = n->proxy_from[i];
	}
}

static void
fill(struct http_config *c, const struct options *o)
{
	const char *name;
	int i;

	c->proxy = o->proxy;
	for (i = 0; i < 2; i++)
		c->system_proxy[i] = os_has_proxy_settings &&
		    o->proxy == NULL && proxy_variable(i == 1, &name) == NULL;
	c->noproxy = o->noproxy;
	c->proxy_user = o->proxy_user;
	c->proxy_negotiate = o->proxy_negotiate;
	c->proxy_cacert = o->proxy_cacert;
	c->cacert = o->cacert;
	c->ca_folder = o->ca_folder;
	c->cacert_extra = o->cacert_extra;
	c->node_insecure = string_eq(getenv("NODE_TLS_REJECT_UNAUTHORIZED"),
	    "0");
	c->ipv4_only = o->ipv4_only;
	c->ipv6_only = o->ipv6_only;
	c->resolve = (const char *const *)o->resolve.list;
	c->connect_timeout_ms = o->connect_timeout_ms;
	c->max_inflight = o->max_inflight;
	c->user_agent = o->user_agent != NULL ? o->user_agent :
						PACKAGE_NAME
	    "/" PACKAGE_VERSION;
}

static int
fill_cert(struct http_config *c, struct network *n, const struct options *o,
    char **why)
{
	c->cert = o->cert;
	c->key = o->key;
	if (o->key_password_file != NULL && n->key_password == NULL &&
	    (n->key_password = secret_file("--key-password-file",
		 o->key_password_file, why)) == NULL)
		return -1;
	c->key_password = n->key_password;
	return 0;
}

void
network_free(struct network *n)
{
	size_t i;

	secret_free(n->key_password);
	free(n->sigv4);
	for (i = 0; i < 2; i++) {
		free(n->proxy[i]);
		free(n->proxy_from[i]);
	}
	*n = (struct network){ 0 };
}

/* Has the file a certificate in PEM? */
static bool
holds_certificate(const char *path)
{
	struct buf text;
	bool does;

	buf_init(&text, BOUND_FILE_BYTES);
	does = read_all(path, &text) == 0 &&
	    span_find(buf_span(&text), "CERTIFICATE-----") != NULL;
	buf_free(&text);
	return does;
}

char *
network_extra_why(const struct options *o)
{
	const char *name = "NODE_EXTRA_CA_CERTS", *path = o->cacert_extra;
	char *text = NULL, *why = path == NULL ? NULL : unfit(name, path);

	if (path != NULL && why == NULL && !holds_certificate(path))
		why = xasprintf("%s: %s contains no certificate", name, path);
	if (why != NULL)
		text = xasprintf("%s: not used", why);
	free(why);
	return text;
}

/* The user chose NODE_EXTRA_CA_CERTS for other programs: it does not stop this
 * one. */
static struct http *
make(struct loop *l, struct http_config *c, const struct options *o, char **why)
{
	const char *fault = NULL;
	char *extra = network_extra_why(o);
	struct http *h;

	if (extra != NULL) {
		log_warn("%s", extra);
		c->cacert_extra = NULL;
	}
	free(extra);
	h = http_new(l, c, &fault);
	if (h == NULL)
		*why = xasprintf("cannot use libcurl: %s", fault);
	return h;
}

struct http *
network_server(struct network *n, struct loop *l, const struct options *o,
    bool watched, char **why)
{
	struct http_config c = { .watched = watched };

	if (check_files(o, true, why) != 0)
		return NULL;
	fill(&c, o);
	fill_proxies(&c, n, o);
	c.unix_socket = o->unix_socket;
	c.no_cookies = o->no_cookies;
	/* Few answers are large enough to gain by it, and some servers hold
	 * events back to compress more at once (doc/protocol.md 2.8). */
	c.codings = o->compressed ? "" : "identity";
	c.http2 = o->http2;
	c.netrc_file = o->netrc_file;
	/* the request of a watched client has no credentials */
	c.negotiate = o->negotiate && !watched;
	if (!watched && n->sigv4 == NULL)
		n->sigv4 = options_sigv4(o, why);
	c.sigv4 = watched ? NULL : n->sigv4;
	secret_check(o->key);
	secret_check(o->netrc_file);
	return fill_cert(&c, n, o, why) == 0 ? make(l, &c, o, why) : NULL;
}

struct http *
network_look(struct loop *l, const struct options *o, char **why)
{
	struct http_config c = { .only_looks = true, .no_cookies = true };

	if (check_files(o, false, why) != 0)
		return NULL;
	fill(&c, o);
	return make(l, &c, o, why);
}

struct http *
network_auth(struct network *n, struct loop *l, const struct options *o,
    bool (*allow)(const struct sockaddr *sa, void *arg), void *arg, char **why)
{
	struct http_config c = { 0 };

	if (check_files(o, false, why) != 0)
		return NULL;
	fill(&c, o);
	fill_proxies(&c, n, o);
	c.no_cookies = true;
	c.allow = allow;
	c.allow_arg = arg;
	if (o->cert_auth && fill_cert(&c, n, o, why) != 0)
		return NULL;
	return make(l, &c, o, why);
}

struct loop *
setup_loop(char **why)
{
	struct loop *l = loop_new();

	if (l == NULL)
		*why = xstrdup("cannot create an event loop");
	return l;
}

void
setup_log(const struct options *o, enum log_level usual)
{
	struct log_config log = { .level = usual };

	if (o->quiet)
		log.level = LEVEL_ERROR;
	else if (o->verbose > 0)
		log.level = o->verbose > 1 ? LEVEL_DEBUG : LEVEL_INFO;
	log_open(&log);
}

void
setup_warn(const struct options *o)
{
	size_t i;

	for (i = 0; i < o->warnings.n; i++)
		log_warn("%s", o->warnings.list[i]);
}

const char *
setup_variable(const char *name, void *arg)
{
	(void)arg;
	return getenv(name);
}

struct given_config
setup_given(const struct options *o)
{
	return (struct given_config){
		.headers = (const char *const *)o->headers.list,
		.bearer_file = o->bearer_file,
		.bearer_env = o->bearer_env,
		.env = setup_variable,
	};
}

/* Adds each ${NAME} of a text that the user passes, or of the file that it
 * names by @FILE. */
static void
add_names_in(struct strings *list, const char *text)
{
	const char *at = text != NULL ? text : "";
	struct buf content = { 0 };
	struct span name;

	if (*at == '@') {
		secret_peek(at + 1, &content);
		at = buf_str(&content);
	}
	while (option_next_reference(&at, &name))
		strings_add(list, xstrndup(name.p, name.n));
	buf_wipe(&content);
}

char **
setup_unset(const struct options *o)
{
	const struct option_row *row;
	struct strings list = { 0 };
	const char *named;
	size_t i;

	strings_add(&list, NULL);
	if (o->aws_sigv4 != NULL && o->auth_command == NULL) {
		strings_add(&list, xstrdup("AWS_SECRET_ACCESS_KEY"));
		strings_add(&list, xstrdup("AWS_SESSION_TOKEN"));
	}
	for (i = 0; i < o->headers.n; i++)
		add_names_in(&list, o->headers.list[i]);
	add_names_in(&list, o->client_info);
	add_names_in(&list, o->client_metadata);
	for (row = option_table; row->name != NULL; row++) {
		named = option_named_variable(o, row);
		if (named != NULL)
			strings_add(&list, xstrdup(named));
		if ((row->flags & OPTION_SECRET) != 0 ||
		    row->kind == OPTION_HEADER)
			strings_add(&list, option_table_variable(row));
	}
	return list.list;
}

struct store *
setup_store(struct loop *l, const struct options *o, const char *const *unset,
    bool make, char **why)
{
	struct store_config c = {
		.make = make,
		.home = os_place(OS_PLACE_DATA),
		.helper = options_store_helper(o),
		.unset = unset,
	};

	return store_new(l, &c, why);
}

void
setup_import(struct import_config *c, const struct options *o,
    const struct url *url, char **folder)
{
	const char *given = getenv("MCP_REMOTE_CONFIG_DIR");
	const char *home = os_place(OS_PLACE_HOME);

	memset(c, 0, sizeof *c);
	*folder = NULL;
	if (given != NULL && *given != '\0')
		*folder = xstrdup(given);
	else if (home != NULL && *home != '\0')
		*folder = os_path_join(home, ".mcp-auth");
	c->folder = *folder;
	c->url = o->url;
	c->normal = url->text;
	c->resource = o->resource;
	c->params = (const char *const *)o->authorize_params.list;
	c->headers = (const char *const *)o->headers.list;
	c->client_document = o->client_metadata_url;
	c->token_endpoint = o->token_endpoint;
}

bool
setup_needs_peer(const struct options *o, const struct url *url)
{
	struct http_config c = { 0 };
	enum address_class class;

	fill(&c, o);
	return !url_is_loopback(url) && o->unix_socket == NULL &&
	    address_literal(url->host, &class) != 0 &&
	    !http_takes_proxy(&c, url->text);
}

char *
setup_program(const struct options *o)
{
	char *program = os_process_program();

	return program != NULL ? program : xstrdup(o->argv[0]);
}
