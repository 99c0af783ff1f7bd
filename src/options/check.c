/*
 * Checks for options that are valid alone and wrong together. They are refused
 * at the start with a hint, which a host shows. A guess about which one was
 * meant could send a credential that nobody expects.
 */
#include "config.h"

#include "options/set.h"

#include <stdlib.h>
#include <strings.h>

#include "core/wire/redact.h"

/* Adds one value; NULL differs from "". */
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

/* Adds the value of a variable: another value is another identity. The content
 * of a file is not added, because it is a token that gets renewed. */
static void
add_variable(struct buf *b, struct span name)
{
	char *copy = xstrndup(name.p, name.n);

	add_value(b, getenv(copy));
	free(copy);
}

static const char *
text_of(const struct options *o, const char *option)
{
	return *(char *const *)option_field(o, option_table_named(option));
}

/* Is this switch on, or has this text a value? */
static bool
is_given(const struct options *o, const char *option)
{
	const struct option_row *row = option_table_named(option);

	return row->kind == OPTION_SWITCH ?
	    *(const bool *)option_field(o, row) :
	    text_of(o, option) != NULL;
}

int
options_identity(const struct options *o, struct buf *identity, char **host)
{
	static const char *const first[] = { "profile", "client-id",
		"auth-command", "netrc-file", "bearer-file", "bearer-env" };
	/* These came later: they are added only where they are set, so that the
	 * identity of all others stays as it was. */
	static const char *const later[] = { "assertion-file", "assertion-env",
		"assertion-command", "negotiate", "idp", "idp-client-id",
		"idp-token-file", "idp-token-env", "idp-token-command",
		"aws-sigv4" };
	struct buf *b = identity;
	const char *at;
	struct span name;
	struct url url;
	size_t i;

	if (o->url == NULL || url_parse(&url, o->url) != URL_OK)
		return -1;
	add_value(b, url.text);
	add_list(b, &o->headers);
	for (i = 0; i < o->headers.n; i++)
		for (at = o->headers.list[i];
		     option_next_reference(&at, &name);)
			add_variable(b, name);
	for (i = 0; i < sizeof first / sizeof *first; i++)
		add_value(b, text_of(o, first[i]));
	if (o->bearer_env != NULL)
		add_variable(b, span_of(o->bearer_env));
	add_value(b, o->cert);
	add_value(b, o->unix_socket);
	add_list(b, &o->resolve);
	for (i = 0; i < sizeof later / sizeof *later; i++) {
		if (!is_given(o, later[i]))
			continue;
		add_value(b, later[i]);
		if (option_table_named(later[i])->arg != NULL)
			add_value(b, text_of(o, later[i]));
	}
	if (o->aws_sigv4 != NULL && o->auth_command == NULL)
		add_value(b, getenv("AWS_ACCESS_KEY_ID"));
	*host = xstrdup(url.host);
	url_free(&url);
	return 0;
}

/* --- a URL that cannot be used --- */

/* Returns "https://host" for "https//host", "https:/host" and the like; NULL
 * for another text. The caller owns it. */
static char *
with_marks(const char *text)
{
	size_t scheme = strncmp(text, "https", 5) == 0 ? 5 : 4, marks;
	char *guess;

	if (strncmp(text, "http", 4) != 0 ||
	    (marks = strspn(text + scheme, ":/")) == 0)
		return NULL;
	guess = xasprintf("%.*s://%s", (int)scheme, text,
	    text + scheme + marks);
	if (strcmp(guess, text) != 0 && option_is_url(guess))
		return guess;
	free(guess);
	return NULL;
}

static char *
no_scheme(const char *text)
{
	struct url url;
	char *guess;
	bool plain;

	if (strchr("./~", *text) != NULL)
		return xasprintf("\"%s\" is a path, not a URL; mcpsplice is "
				 "for remote servers",
		    text);
	guess = xasprintf("http://%s", text);
	plain = url_parse(&url, guess) == URL_OK && url_is_loopback(&url);
	url_free(&url);
	free(guess);
	return xasprintf("\"%s\" has no scheme; did you mean http%s://%s?",
	    text, plain ? "" : "s", text);
}

static char *
wrong_scheme(const char *text)
{
	const char *rest = strstr(text, "://");
	size_t n = strcspn(text, ":");
	bool plain = n < 5 && memchr(text, 's', n) == NULL;

	if (rest == NULL)
		return no_scheme(text);
	if (strncmp(text, "ht", 2) != 0 && strncmp(text, "ws", 2) != 0)
		return xasprintf("\"%.*s\" is not the scheme of a remote "
				 "server; use https",
		    n > 20 ? 20 : (int)n, text);
	return xasprintf("\"%s\" has an unknown scheme; did you "
			 "mean http%s%s?",
	    text, plain ? "" : "s", rest);
}

/* Is the port all that is wrong? An IPv6 address without brackets has colons of
 * its own. */
static bool
has_bad_port(const char *text)
{
	struct span host = no_span;
	const char *port;
	char *without;
	bool bad;

	if (!option_matches(text,
		"(://)([^]/?#]*\\]|[^]:/?#]*):[^]:/?#]*([/?#]|$)", &host))
		return false;
	port = host.p + host.n;
	without = xasprintf("%.*s%s", (int)(port - text), text,
	    port + strcspn(port, "/?#"));
	bad = option_is_url(without);
	free(without);
	return bad;
}

/* May there be a password in front of an "@"? A path like /@scope has none. */
static bool
may_hide_password(const char *text)
{
	const char *at = strchr(text, '@');

	while (at != NULL && at > text && at[-1] == '/' && at - text > 1 &&
	    at[-2] != '/' && at[-2] != ':')
		at = strchr(at + 1, '@');
	return at != NULL;
}

/* text has no password. */
static char *
explain(enum url_status status, const char *text, enum command command)
{
	char *guess, *why;

	guess = with_marks(text);
	if (guess != NULL) {
		why = xasprintf("\"%s\" is not a URL; did you mean %s?", text,
		    guess);
		free(guess);
		return why;
	}
	if (status == URL_NO_SCHEME && strpbrk(text, ".:/") == NULL &&
	    strcasecmp(text, "localhost") != 0)
		return xasprintf("\"%s\" is not a URL; %s", string_shown(text),
		    command == COMMAND_CALL ?
			"write the URL before the tool: mcpsplice call URL "
			"TOOL [ARGUMENT...]" :
			"it should look like https://mcp.example.com/mcp");
	if (status == URL_NO_SCHEME)
		return no_scheme(text);
	if (status == URL_SCHEME)
		return wrong_scheme(text);
	if (has_bad_port(text))
		return xasprintf("\"%s\": the port must be a number from 1 "
				 "to 65535",
		    text);
	return xasprintf("\"%s\" is not a URL; it should look like "
			 "https://mcp.example.com/mcp",
	    text);
}

char *
option_bad_url(enum url_status status, const char *text, enum command command)
{
	char *shown, *why;

	if (status == URL_USERINFO)
		return xstrdup("a user name or password in the URL is not "
			       "allowed; use -H 'Authorization: Basic ${VAR}'");
	if (may_hide_password(text))
		return xstrdup("the URL is malformed; it should look like "
			       "https://mcp.example.com/mcp");
	/* a query may have a token */
	shown = xasprintf("%.*s%s", (int)strcspn(text, "?"), text,
	    strchr(text, '?') == NULL ? "" : "?...");
	why = explain(status, shown, command);
	free(shown);
	return why;
}

char *
option_bad_proxy(const char *value)
{
	struct span user;
	size_t n;

	if (option_matches(value, "^(none|off|no|false|direct)$", NULL))
		return xstrdup(
		    ": for no proxy, write --proxy \"\" or proxy = \"\"");
	if (!redact_proxy_user(value, &user))
		return NULL;
	n = strcspn(user.p, "/?#@");
	if (user.p[user.n] != '@')
		return xstrdup(": write HOST:PORT or USER:PASSWORD@HOST:PORT");
	return n == user.n ? NULL :
			     xasprintf(": the user name or password contains "
				       "\"%c\"; write it as %%%02X",
				 user.p[n], (unsigned)user.p[n]);
}

/* --- options that contradict each other --- */

/* Finds the first two of these options ("--NAME") that are given. Returns how
 * many are. */
static size_t
given_among(const struct options *o, const char *const *names, size_t n,
    const char *found[2])
{
	size_t i, count = 0;

	found[0] = found[1] = NULL;
	for (i = 0; i < n; i++)
		if (is_given(o, names[i] + 2) && count++ < 2)
			found[count - 1] = names[i];
	return count;
}

static bool
has_authorization(const struct options *o)
{
	struct span name;
	size_t i;

	for (i = 0; i < o->headers.n; i++) {
		name.p = o->headers.list[i];
		name.n = strcspn(name.p, ": \t");
		if (span_is_nocase(name, "Authorization"))
			return true;
	}
	return false;
}

/* Does the same for what leads to an Authorization header. */
static size_t
given_credentials(const struct options *o, const char *found[2])
{
	const char *const names[] = { "--bearer-file", "--bearer-env",
		/* its command may print the key */
		o->aws_sigv4 != NULL ? "--aws-sigv4" : "--auth-command",
		"--netrc-file", "--negotiate" };
	size_t n = given_among(o, names, 5, found);

	if (has_authorization(o) && n++ < 2)
		found[n - 1] = "an Authorization header";
	return n;
}

const char *
options_given_credential(const struct options *o)
{
	const char *found[2];

	given_credentials(o, found);
	return found[0];
}

/* Hosts of AWS have the service before the region. libcurl takes names of 64
 * bytes. */
char *
options_sigv4(const struct options *o, char **why)
{
	struct span service = span_of("");
	char *pattern, *scope = NULL;
	const char *odd;
	struct url url;

	if (o->aws_sigv4 == NULL || o->url == NULL ||
	    url_parse(&url, o->url) != URL_OK)
		return NULL;
	if (option_matches(o->aws_sigv4,
		"^[A-Za-z0-9-]{1,64}(:[A-Za-z0-9-]{1,64})?$", NULL)) {
		pattern =
		    xasprintf("(^|\\.)([a-z0-9-]+)\\.%s\\."
			      "(amazonaws\\.com(\\.cn)?|api\\.aws|on\\.aws)$",
			o->aws_sigv4);
		if (option_matches(url.host, pattern, &service) &&
		    span_is(service, "lambda-url"))
			service = span_of("lambda");
		free(pattern);
		if (service.n > 0 || strchr(o->aws_sigv4, ':') != NULL)
			scope = xasprintf("aws:amz:%s%s%.*s", o->aws_sigv4,
			    service.n > 0 ? ":" : "", (int)service.n,
			    service.p);
	}
	odd = o->aws_sigv4 + strspn(o->aws_sigv4, ALNUM "-:");
	if (scope == NULL)
		*why = xasprintf("--aws-sigv4 %s: %s%s; write REGION:SERVICE, "
				 "such as us-east-1:bedrock-agentcore",
		    o->aws_sigv4,
		    *odd != '\0' ?
			"region and service may contain only "
			"letters, digits and \"-\", unlike " :
			"the service cannot be told from the host name",
		    odd);
	url_free(&url);
	return scope;
}

static char *
exclude(const char *a, const char *b)
{
	return xasprintf("%s and %s cannot be combined; give one of them", a,
	    b);
}

/* Finds the one of these options that is given; two are an error. */
static char *
one_among(const struct options *o, const char *const *names, size_t n,
    const char **one)
{
	const char *found[2];
	size_t count = given_among(o, names, n, found);

	*one = found[0];
	return count > 1 ? exclude(found[0], found[1]) : NULL;
}

static char *
check_network(const struct options *o, const struct url *url)
{
	static const char *const of_cert[] = { "--key-password-file",
		"--cert-auth" };
	const char *found[2];

	if (o->ipv4_only && o->ipv6_only)
		return exclude("--ipv4", "--ipv6");
	if (o->cert == NULL && o->key != NULL)
		return xstrdup("--key needs its certificate; add --cert FILE");
	if (o->cert == NULL && given_among(o, of_cert, 2, found) > 0)
		return xasprintf("%s needs a certificate; add --cert FILE",
		    found[0]);
	if (url != NULL && strcmp(url->scheme, "http") == 0 && !o->allow_http &&
	    o->unix_socket == NULL && !url_is_loopback(url))
		return xasprintf(url->host[strspn(url->host, "0.:[]")] == '\0' ?
			"%s has an address to listen on; use 127.0.0.1 or "
			"[::1]" :
			"%s is not encrypted: use https, or add --allow-http",
		    url->origin);
	return NULL;
}

/* Checks the URLs for signing in that the user gives; their form was checked
 * before. */
static char *
check_encrypted(const struct options *o)
{
	static const char *const names[] = { "--issuer", "--idp",
		"--token-endpoint" };
	char *wrong = NULL;
	const char *text;
	struct url url;
	size_t i;

	for (i = 0; wrong == NULL && i < 3; i++) {
		text = text_of(o, names[i] + 2);
		if (text == NULL || o->allow_http ||
		    url_parse(&url, text) != URL_OK)
			continue;
		if (strcmp(url.scheme, "http") == 0 && !url_is_loopback(&url))
			wrong = xasprintf("%s: %s is not encrypted: use https, "
					  "or add --allow-http",
			    names[i], url.origin);
		url_free(&url);
	}
	return wrong;
}

static char *
check_credentials(const struct options *o)
{
	const char *found[2];
	size_t n = given_credentials(o, found);
	struct span mode;

	if (n > 1)
		return xasprintf("two credentials given, %s and %s; give one "
				 "of them",
		    found[0], found[1]);
	if (o->auth == AUTH_GIVEN && n == 0 && o->headers.n == 0 &&
	    o->cert == NULL)
		return xstrdup("--auth static needs a credential; add "
			       "--bearer-env VAR, --bearer-file FILE, "
			       "--auth-command CMD, --negotiate or a header");
	if (o->auth == AUTH_AUTO || o->auth == AUTH_GIVEN || n == 0)
		return NULL;
	mode = option_parse_word(option_table_named("auth")->arg, o->auth);
	return xasprintf("--auth %.*s and %s contradict each other; remove "
			 "one",
	    (int)mode.n, mode.p, found[0]);
}

static char *
check_sigv4(const struct options *o)
{
	char *wrong = NULL;

	free(options_sigv4(o, &wrong));
	return wrong;
}

/* Does a token come without the user, and so with the client's own proof? */
static bool
is_alone(const struct options *o)
{
	return o->auth == AUTH_CLIENT_CREDENTIALS || o->auth == AUTH_WORKLOAD ||
	    o->auth == AUTH_ENTERPRISE;
}

static char *
check_client(const struct options *o)
{
	static const char *const proofs[] = { "--client-secret-file",
		"--client-secret-env", "--client-key" };
	const char *proof;
	char *wrong = one_among(o, proofs, 3, &proof);

	if (wrong != NULL)
		return wrong;
	if (o->client_id != NULL && o->client_info != NULL)
		return exclude("--client-id", "--static-oauth-client-info");
	if (proof != NULL && o->client_id == NULL)
		return xasprintf("%s needs its client; add --client-id ID",
		    proof);
	if (o->client_key != NULL && !is_alone(o))
		return xstrdup("--client-key only works with --auth "
			       "client-credentials, workload or enterprise; "
			       "add one of them");
	if (o->auth != AUTH_CLIENT_CREDENTIALS || o->client_info != NULL)
		return NULL;
	if (o->client_id == NULL)
		return xstrdup("--auth client-credentials needs a client; add "
			       "--client-id ID and --client-secret-file FILE");
	if (proof == NULL)
		return xstrdup("--auth client-credentials needs a secret; add "
			       "--client-secret-file FILE, --client-secret-env "
			       "VAR or --client-key FILE");
	return NULL;
}

/* One way to an assertion where one is needed, and none where it is not. */
static char *
check_assertion(const struct options *o)
{
	static const char *const names[] = { "--assertion-file",
		"--assertion-env", "--assertion-command" };
	const char *one;
	char *wrong = one_among(o, names, 3, &one);

	if (wrong != NULL)
		return wrong;
	if (one != NULL && o->auth != AUTH_WORKLOAD)
		return xasprintf("%s only works with --auth workload; add it",
		    one);
	if (one == NULL && o->auth == AUTH_WORKLOAD)
		return xstrdup("--auth workload needs the platform's token; "
			       "add --assertion-file FILE, --assertion-env "
			       "VAR or --assertion-command CMD");
	return NULL;
}

static char *
check_provider_client(const struct options *o)
{
	if (o->idp == NULL)
		return xstrdup("--auth enterprise needs the identity provider; "
			       "add --idp ISSUER");
	if (o->idp_client_id == NULL)
		return xstrdup("--auth enterprise needs a client at the "
			       "identity provider; add --idp-client-id ID");
	if (o->client_id == NULL && o->client_info == NULL &&
	    o->client_metadata_url == NULL)
		return xstrdup("--auth enterprise also needs a client at the "
			       "MCP server's authorization server; add "
			       "--client-id ID");
	if (o->idp_client_secret_file != NULL && o->idp_key != NULL)
		return exclude("--idp-client-secret-file", "--idp-key");
	return NULL;
}

/* The identity provider where one is needed, and none where it is not. */
static char *
check_provider(const struct options *o)
{
	/* the first three are ways to its ID token */
	static const char *const names[] = { "--idp-token-file",
		"--idp-token-env", "--idp-token-command", "--idp",
		"--idp-client-id", "--idp-client-secret-file", "--idp-key" };
	const char *one[2];
	char *wrong;

	if (o->auth != AUTH_ENTERPRISE)
		return given_among(o, names, 7, one) == 0 ?
		    NULL :
		    xasprintf("%s only works with --auth enterprise; add it",
			one[0]);
	wrong = one_among(o, names, 3, one);
	return wrong != NULL ? wrong : check_provider_client(o);
}

static char *
check_sign_in(const struct options *o)
{
	if (o->no_resource && o->resource != NULL)
		return exclude("--resource", "--no-resource");
	/* $BROWSER is meant for all programs, so it is no conflict */
	if (o->no_browser && options_given(o, "browser"))
		return exclude("--browser", "--no-browser");
	return NULL;
}

static char *
check_era(const struct options *o)
{
	if (o->protocol == PROTOCOL_MODERN && o->transport == TRANSPORT_SSE)
		return xstrdup("--protocol modern and --transport sse "
			       "contradict each other; remove one");
	return NULL;
}

static char *
check_command(const struct options *o)
{
	const char *credential = options_given_credential(o);

	if (o->command == COMMAND_CALL && o->operands.n == 0)
		return xstrdup("no tool given; usage: mcpsplice call [options] "
			       "URL TOOL [key=value | key:=JSON]...");
	if (o->command != COMMAND_LOGIN)
		return NULL;
	if (credential != NULL)
		return xasprintf("\"login\" is not needed: %s is the "
				 "credential. To sign in instead, remove it",
		    credential);
	if (o->auth == AUTH_NONE || o->auth == AUTH_GIVEN)
		return xasprintf("there is nothing to sign in to with --auth "
				 "%s; remove it",
		    o->auth == AUTH_NONE ? "none" : "static");
	return NULL;
}

char *
option_check(const struct options *o, const struct url *url)
{
	static char *(*const checks[])(const struct options *o) = {
		check_credentials,
		check_sigv4,
		check_client,
		check_assertion,
		check_provider,
		check_sign_in,
		check_encrypted,
		check_era,
		check_command,
	};
	char *wrong = check_network(o, url);
	size_t i;

	for (i = 0; wrong == NULL && i < sizeof checks / sizeof *checks; i++)
		wrong = checks[i](o);
	return wrong;
}
