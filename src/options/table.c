/*
 * The table of options and the look-ups in it. The order of the rows is the
 * order of --help. tests/lint/man.sh reads the names in the first column, so
 * each row starts on a line of its own with the name first.
 */
#include "config.h"

#include "options/table.h"

#include <ctype.h>
#include <stdlib.h>
#include <strings.h>

#include "core/wire/redact.h"

/* Longer names are not compared with the table. */
#define NAME_MAX_LEN 40

#define AT(field) offsetof(struct options, field)

/* The defaults of the bounds, as a user would write them. */
#define UNIT_COUNT ""
#define UNIT_SEC ""
#define UNIT_KIB "K"
#define UNIT_MIB "M"
#define BOUND_GROUP(title)
#define BOUND(name, number, unit, what, then)
#define BOUND_OPTION(name, number, unit, option, what, then)                   \
	static const char preset_##name[] = #number UNIT_##unit;
#include "base/bound_rows.h"
#undef BOUND_GROUP
#undef BOUND
#undef BOUND_OPTION

/* 23 days: in ms this fits into the int and long of the libraries. */
#define MS_MAX 2000000000
#define SIZE_LIMIT                                                             \
	((int64_t)(SIZE_MAX / 4 < INT32_MAX ? SIZE_MAX / 4 : (int64_t)1 << 40))

/* The members of a row in their order. GROUP is that of the rows below it. */
#define ROW(name, c, kind, flags, field, ...)                                  \
	{                                                                      \
		name, c, kind, GROUP, flags, .offset = AT(field), __VA_ARGS__  \
	}
#define TEXT(name, c, flags, field, arg, text)                                 \
	ROW(name, c, OPTION_STRING, flags, field, arg, .help = text)
#define SWITCH(name, c, flags, field, text)                                    \
	ROW(name, c, OPTION_SWITCH, flags, field, NULL, .help = text)
#define SECONDS(name, field, preset, text)                                     \
	ROW(name, 0, OPTION_SECONDS, 0, field, "SEC", preset, 0, MS_MAX,       \
	    .help = text)
#define SIZE(name, flags, field, preset, text)                                 \
	ROW(name, 0, OPTION_SIZE, flags, field, "SIZE", preset, 0, SIZE_LIMIT, \
	    .help = text)
#define UINT(name, flags, field, preset)                                       \
	ROW(name, 0, OPTION_UINT, flags, field, "N", preset, 1, 65535)
/* A text that is checked or has a default; only the manual lists it. */
#define MANUAL(name, field, arg, preset)                                       \
	ROW(name, 0, OPTION_STRING, OPTION_UNLISTED, field, arg, preset)
#define CHOICE(name, kind, flags, field, arg, preset, text)                    \
	ROW(name, 0, kind, flags, field, arg, preset, .help = text)
#define OTHER(name, c, kind, flags, field, arg, text)                          \
	ROW(name, c, kind, flags, field, arg, .help = text)
/* An option of one command. */
#define OWN(name, command, kind, field, arg)                                   \
	ROW(name, 0, kind, OPTION_ARGV_ONLY | OPTION_UNLISTED, field, arg,     \
	    .owner = command)
/* Names of other programs: another name for an option of the table, and names
 * that only log a note. */
#define ALIAS(name, kind, flags, field, arg, main)                             \
	ROW(name, 0, kind, OPTION_HIDDEN | (flags), field, arg, .as = main)
#define URL_OF(name, transport)                                                \
	ROW(name, 0, OPTION_STRING, OPTION_HIDDEN, url, "URL", .as = "url",    \
	    .help = transport)
#define NOTED(name, arg, note)                                                 \
	OTHER(name, 0, OPTION_NOTED, OPTION_HIDDEN, url, arg, note)
#define IGNORED "has no effect yet; ignored"

const struct option_row option_table[] = {
#define GROUP OPTION_REQUEST
	TEXT("url", 0, OPTION_NO_ARGV, url, "URL", NULL),

	OTHER("header", 'H', OPTION_HEADER, OPTION_BRIEF, headers, "LINE|@FILE",
	    "add \"Name: value\"; ${VAR} is replaced; repeatable"),
	ROW("header-file", 0, OPTION_HEADER_FILE, 0, headers, "FILE",
	    .as = "header"),
	TEXT("user-agent", 'A', 0, user_agent, "TEXT", NULL),
	SWITCH("no-cookies", 0, 0, no_cookies, NULL),
	SWITCH("compressed", 0, 0, compressed, NULL),
	SWITCH("trace-headers", 0, OPTION_UNLISTED, trace_headers, NULL),
	SWITCH("http2", 0, OPTION_UNLISTED, http2, NULL),
	SWITCH("allow-http", 0, 0, allow_http,
	    "allow unencrypted http to other machines"),

#undef GROUP
#define GROUP OPTION_SIGN_IN
	TEXT("bearer-file", 0, 0, bearer_file, "FILE",
	    "send the token in FILE; follow its changes"),
	TEXT("bearer-env", 0, OPTION_BRIEF, bearer_env, "VAR",
	    "send the token in the variable VAR"),
	TEXT("auth-command", 0, 0, auth_command, "CMD",
	    "send the credentials that CMD prints"),
	SWITCH("negotiate", 0, 0, negotiate,
	    "sign in with your Kerberos ticket"),
	CHOICE("auth", OPTION_CHOICE, 0, auth,
	    "auto|none|static|oauth|device|client-credentials|"
	    "workload|enterprise",
	    "auto", NULL),
	TEXT("client-id", 0, 0, client_id, "ID", NULL),
	TEXT("scope", 0, 0, scope, "SCOPES", NULL),
	TEXT("profile", 0, OPTION_BRIEF, profile, "NAME",
	    "keep several sign-ins to one server apart"),
	SWITCH("no-browser", 0, 0, no_browser, NULL),
	TEXT("browser", 0, OPTION_UNLISTED, browser, "CMD", NULL),
	MANUAL("aws-sigv4", aws_sigv4, "REGION[:SERVICE]", NULL),
	MANUAL("netrc-file", netrc_file, "FILE", NULL),
	MANUAL("client-secret-file", client_secret_file, "FILE", NULL),
	MANUAL("client-secret-env", client_secret_env, "VAR", NULL),
	MANUAL("client-key", client_key, "FILE", NULL),
	MANUAL("assertion-file", assertion_file, "FILE", NULL),
	MANUAL("assertion-env", assertion_env, "VAR", NULL),
	MANUAL("assertion-command", assertion_command, "CMD", NULL),
	MANUAL("idp", idp, "URL", NULL),
	MANUAL("idp-client-id", idp_client_id, "ID", NULL),
	MANUAL("idp-client-secret-file", idp_client_secret_file, "FILE", NULL),
	MANUAL("idp-key", idp_key, "FILE", NULL),
	MANUAL("idp-token-file", idp_token_file, "FILE", NULL),
	MANUAL("idp-token-env", idp_token_env, "VAR", NULL),
	MANUAL("idp-token-command", idp_token_command, "CMD", NULL),
	MANUAL("client-metadata-url", client_metadata_url, "URL", NULL),
	MANUAL("issuer", issuer, "URL", NULL),
	MANUAL("resource", resource, "URI", NULL),
	SWITCH("no-resource", 0, OPTION_UNLISTED, no_resource, NULL),
	OTHER("authorize-param", 0, OPTION_LIST, OPTION_UNLISTED,
	    authorize_params, "NAME=VALUE", NULL),
	MANUAL("token-endpoint", token_endpoint, "URL", NULL),
	ROW("callback-port", 0, OPTION_UINT, OPTION_UNLISTED, callback_port,
	    "N", "0", 0, 65535),
	MANUAL("callback-host", callback_host, "127.0.0.1|localhost|0.0.0.0",
	    "127.0.0.1"),
	MANUAL("callback-path", callback_path, "PATH", "/callback"),
	ROW("login-timeout", 0, OPTION_SECONDS, OPTION_UNLISTED,
	    login_timeout_ms, "SEC", preset_LOGIN_TIMEOUT_MS, 1000, MS_MAX),
	SWITCH("use-id-token", 0, OPTION_UNLISTED, use_id_token, NULL),
	SWITCH("assume-pkce", 0, OPTION_UNLISTED, assume_pkce, NULL),
	SWITCH("allow-private-auth", 0, OPTION_UNLISTED, allow_private_auth,
	    NULL),
	SWITCH("allow-cross-origin-prm", 0, OPTION_UNLISTED,
	    allow_cross_origin_prm, NULL),
	MANUAL("auth-store", auth_store, "file|helper:CMD", "file"),
	SWITCH("cert-auth", 0, OPTION_UNLISTED, cert_auth, NULL),

#undef GROUP
#define GROUP OPTION_NETWORK
	TEXT("proxy", 'x', OPTION_KEEPS_EMPTY | OPTION_BRIEF, proxy, "URL",
	    "use this proxy; \"\" for none"),
	TEXT("cacert", 0, OPTION_BRIEF, cacert, "FILE",
	    "trust the certificates in FILE"),
	TEXT("NODE_EXTRA_CA_CERTS", 0,
	    OPTION_HIDDEN | OPTION_ARGV_ONLY | OPTION_NO_ARGV, cacert_extra,
	    "FILE", NULL),
	TEXT("SSL_CERT_DIR", 0,
	    OPTION_HIDDEN | OPTION_ARGV_ONLY | OPTION_NO_ARGV, ca_folder,
	    "FOLDER", NULL),
	TEXT("unix-socket", 0, 0, unix_socket, "PATH", NULL),
	TEXT("noproxy", 0, OPTION_KEEPS_EMPTY, noproxy, "HOSTS", NULL),
	TEXT("proxy-user", 0, OPTION_SECRET, proxy_user, "USER:PASSWORD", NULL),
	SWITCH("proxy-negotiate", 0, 0, proxy_negotiate, NULL),
	TEXT("proxy-cacert", 0, 0, proxy_cacert, "FILE", NULL),
	TEXT("cert", 'E', 0, cert, "FILE", NULL),
	TEXT("key", 0, 0, key, "FILE", NULL),
	TEXT("key-password-file", 0, OPTION_UNLISTED, key_password_file, "FILE",
	    NULL),
	OTHER("resolve", 0, OPTION_LIST, 0, resolve, "HOST:PORT:ADDRESS", NULL),
	SWITCH("ipv4", '4', 0, ipv4_only, NULL),
	SWITCH("ipv6", '6', 0, ipv6_only, NULL),

#undef GROUP
#define GROUP OPTION_LIMITS
	SECONDS("init-timeout", init_timeout_ms, preset_INIT_TIMEOUT_MS,
	    "wait this long for \"initialize\" to succeed"),
	SECONDS("call-timeout", call_timeout_ms, preset_CALL_TIMEOUT_MS,
	    "give up on a call after this much silence"),
	SIZE("max-result", 0, max_result, preset_MAX_RESULT_BYTES,
	    "longest line for the client; 0: no limit"),
	SECONDS("connect-timeout", connect_timeout_ms,
	    preset_CONNECT_TIMEOUT_MS, NULL),
	SECONDS("retry-window", retry_window_ms, preset_RETRY_WINDOW_MS, NULL),
	SECONDS("drain-timeout", drain_timeout_ms, preset_DRAIN_TIMEOUT_MS,
	    NULL),
	SIZE("max-message", 0, max_message, preset_MAX_MESSAGE_BYTES, NULL),
	SIZE("max-buffer", OPTION_UNLISTED, max_buffer, preset_MAX_BUFFER_BYTES,
	    NULL),
	UINT("max-depth", OPTION_UNLISTED, max_depth, preset_MAX_DEPTH),
	UINT("max-inflight", OPTION_UNLISTED, max_inflight,
	    preset_MAX_INFLIGHT),
	/* before ping-interval: in the environment the number wins */
	ROW("keep-alive", 0, OPTION_FIXED, 0, ping_interval_ms, NULL,
	    .as = "ping-interval=30"),
	ROW("ping-interval", 0, OPTION_SECONDS, 0, ping_interval_ms, "SEC", "0",
	    1000, MS_MAX),

#undef GROUP
#define GROUP OPTION_BEHAVIOUR
	CHOICE("replay", OPTION_CHOICE, OPTION_GUARD, replay,
	    "never|refused|safe", "safe", "what may be sent again"),
	CHOICE("start", OPTION_CHOICE, OPTION_BRIEF, start,
	    "auto|wait|stand-in|instant", "auto", "if the server is down"),
	CHOICE("protocol", OPTION_CHOICE, 0, protocol, "auto|legacy|modern",
	    "auto", NULL),
	CHOICE("transport", OPTION_TRANSPORT, 0, transport, "auto|http|sse",
	    "auto", NULL),
	OTHER("session-lost-pattern", 0, OPTION_LIST, 0, session_lost_patterns,
	    "REGEX", NULL),
	SWITCH("session-lost-in-results", 0, 0, session_lost_in_results, NULL),
	OTHER("ignore-tool", 0, OPTION_LIST, OPTION_GUARD, ignore_tools, "GLOB",
	    NULL),
	OTHER("only-tool", 0, OPTION_LIST, OPTION_GUARD, only_tools, "GLOB",
	    NULL),
	SWITCH("read-only", 0, OPTION_GUARD, read_only, NULL),
	SWITCH("no-memory", 0, OPTION_GUARD, no_memory,
	    "remember nothing about servers except sign-ins"),
	SWITCH("handshake", 0, OPTION_BRIEF, handshake,
	    "send \"initialize\" itself, for use in a shell"),
	OTHER("fail", 0, OPTION_FAIL, 0, fail, NULL,
	    "exit 22 if mcpsplice fails; =any: on any error"),
	OTHER("config", 'K', OPTION_CONFIG, OPTION_BRIEF, url, "FILE",
	    "read options from FILE; repeatable"),

#undef GROUP
#define GROUP OPTION_OUTPUT
	OTHER("verbose", 'v', OPTION_COUNT, OPTION_BRIEF, verbose, NULL,
	    "print more on stderr; -vv: everything"),
	SWITCH("quiet", 'q', 0, quiet, "print only errors"),
	TEXT("log-file", 0, 0, log_file, "FILE", NULL),
	CHOICE("log-format", OPTION_CHOICE, 0, log_json, "text|json", "text",
	    NULL),
	TEXT("trace", 0, OPTION_UNLISTED, trace, "FILE", NULL),
	SWITCH("show-config", 0, OPTION_ARGV_ONLY | OPTION_BRIEF, show_config,
	    "show every value and where it comes from"),
	SWITCH("help", 'h', OPTION_ARGV_ONLY, help, NULL),
	SWITCH("version", 'V', OPTION_ARGV_ONLY, version, NULL),

	OWN("list", COMMAND_WRAP, OPTION_SWITCH, wrap_list, NULL),
	OWN("restore", COMMAND_WRAP, OPTION_SWITCH, wrap_restore, NULL),
	OWN("write", COMMAND_WRAP, OPTION_SWITCH, wrap_write, NULL),

	TEXT("hint", 0, OPTION_UNLISTED | OPTION_SENTENCE, hint, "TEXT", NULL),

	/* that of status, too */
	OWN("json", COMMAND_CHECK, OPTION_SWITCH, json, NULL),
	OWN("save-certificate", COMMAND_CHECK, OPTION_STRING, save_certificate,
	    "FILE"),

	/* mcp-remote */
	ALIAS("disable-cookies", OPTION_SWITCH, 0, no_cookies, NULL,
	    "no-cookies"),
	ALIAS("debug", OPTION_FIXED, 0, verbose, NULL, "verbose=2"),
	ALIAS("silent", OPTION_SWITCH, 0, quiet, NULL, "quiet"),
	NOTED("enable-proxy", NULL,
	    "has no effect: the proxy variables are always used"),
	ALIAS("host", OPTION_STRING, 0, callback_host,
	    "127.0.0.1|localhost|0.0.0.0", "callback-host"),
	NOTED("auth-success-url", "URL", IGNORED),
	ALIAS("auth-timeout", OPTION_SECONDS, 0, login_timeout_ms, "SEC",
	    "login-timeout"),
	NOTED("headers-timeout", "SEC", IGNORED),
	NOTED("body-timeout", "SEC", IGNORED),
	ALIAS("disable-resource-parameter", OPTION_SWITCH, 0, no_resource, NULL,
	    "no-resource"),
	TEXT("static-oauth-client-info", 0, OPTION_HIDDEN | OPTION_SECRET,
	    client_info, "JSON|@FILE", NULL),
	TEXT("static-oauth-client-metadata", 0, OPTION_HIDDEN | OPTION_SECRET,
	    client_metadata, "JSON|@FILE", NULL),
	ALIAS("device-code", OPTION_FIXED, 0, auth, NULL, "auth=device"),
	ALIAS("client-credentials", OPTION_FIXED, 0, auth, NULL,
	    "auth=client-credentials"),

	/* supergateway */
	NOTED("logLevel", "LEVEL", IGNORED),
	NOTED("outputTransport", "TRANSPORT", IGNORED),
	URL_OF("streamableHttp", "http"),
	URL_OF("sse", "sse"),
	ALIAS("oauth2Bearer", OPTION_BEARER, OPTION_SECRET, headers, "TOKEN",
	    "header"),
	{ .name = NULL },
};

const size_t option_table_rows = sizeof option_table / sizeof *option_table - 1;

const char option_transport_words[] = "http-first|http-only|sse-only|sse-first";

/* Can "no-" switch this option off? */
static bool
negatable(const struct option_row *row)
{
	return (row->kind == OPTION_SWITCH || row->kind == OPTION_COUNT ||
		   row->kind == OPTION_FAIL || row->kind == OPTION_FIXED) &&
	    (row->flags & (OPTION_ARGV_ONLY | OPTION_HIDDEN)) == 0;
}

static const struct option_row *
find_exact(struct span name)
{
	const struct option_row *row;

	for (row = option_table; row->name != NULL; row++)
		if (span_is(name, row->name))
			return row;
	return NULL;
}

const struct option_row *
option_table_find(struct span name, bool *off)
{
	const struct option_row *row = find_exact(name);

	*off = row == NULL;
	if (row != NULL)
		return row;
	if (name.n > 3 && memcmp(name.p, "no-", 3) == 0) {
		row = find_exact((struct span){ name.p + 3, name.n - 3 });
		return row != NULL && negatable(row) ? row : NULL;
	}
	for (row = option_table; row->name != NULL; row++)
		if (strncmp(row->name, "no-", 3) == 0 && negatable(row) &&
		    span_is(name, row->name + 3))
			return row;
	return NULL;
}

const struct option_row *
option_table_named(const char *name)
{
	return find_exact(span_of(name));
}

bool
option_is_list(const struct option_row *row)
{
	return row->kind == OPTION_LIST || row->kind == OPTION_HEADER;
}

const void *
option_field(const struct options *o, const struct option_row *row)
{
	return (const char *)o + row->offset;
}

const struct option_row *
option_table_letter(char letter)
{
	const struct option_row *row;

	for (row = option_table; row->name != NULL; row++)
		if (letter != '\0' && row->letter == letter)
			return row;
	return NULL;
}

const struct option_row *
option_table_main(const struct option_row *row)
{
	struct span as = span_of(row->as);

	return row->as == NULL ? row : find_exact(span_take(&as, '='));
}

/* Returns the Levenshtein distance, case ignored. name is at most NAME_MAX_LEN
 * long. */
static size_t
distance(struct span name, const char *other)
{
	size_t line[NAME_MAX_LEN + 1], i, j, diagonal, up, best;

	for (i = 0; i <= name.n; i++)
		line[i] = i;
	for (j = 0; other[j] != '\0'; j++) {
		diagonal = line[0];
		line[0] = j + 1;
		for (i = 0; i < name.n; i++) {
			up = line[i + 1];
			best = diagonal +
			    (tolower((unsigned char)name.p[i]) !=
				tolower((unsigned char)other[j]));
			if (up + 1 < best)
				best = up + 1;
			if (line[i] + 1 < best)
				best = line[i] + 1;
			line[i + 1] = best;
			diagonal = up;
		}
	}
	return line[name.n];
}

/* A name that is at least so far away was not meant: two typing errors are
 * forgiven, in a short name one. Two letters in the wrong order count as
 * two. */
static size_t
too_far(struct span name)
{
	if (name.n == 0 || name.n > NAME_MAX_LEN)
		return 0;
	return name.n < 5 ? 2 : 3;
}

/* Is the name less far from this one than *least, which then becomes less? */
static bool
is_nearer(struct span name, const char *other, size_t *least)
{
	size_t d = *least > 0 ? distance(name, other) : 0;

	if (d >= *least)
		return false;
	*least = d;
	return true;
}

const struct option_row *
option_table_misspelt(struct span name)
{
	const struct option_row *row, *near = NULL;
	size_t least = too_far(name);

	for (row = option_table; row->name != NULL; row++)
		if (is_nearer(name, row->name, &least))
			near = row;
	return near;
}

const char *
option_table_nearest(struct span name)
{
	const struct option_row *row, *near = option_table_misspelt(name);

	if (near != NULL && (near->flags & OPTION_NO_ARGV) == 0)
		return near->name;
	for (row = option_table; name.n > 1 && row->name != NULL; row++)
		if ((row->flags & OPTION_NO_ARGV) == 0 &&
		    strncasecmp(row->name, name.p, name.n) == 0)
			return row->name;
	return NULL;
}

char *
option_table_variable(const struct option_row *row)
{
	char *s = xasprintf("MCPSPLICE_%s", row->name), *c;

	for (c = s; *c != '\0'; c++)
		*c = *c == '-' ? '_' : (char)toupper((unsigned char)*c);
	return s;
}

/* Does value contain a ${NAME} that is not escaped as $${NAME}? */
static bool
has_reference(const char *value)
{
	for (; *value != '\0'; value++) {
		if (value[0] != '$')
			continue;
		if (value[1] == '{')
			return true;
		if (value[1] == '$')
			value++;
	}
	return false;
}

bool
option_next_reference(const char **text, struct span *name)
{
	const char *at = strstr(*text, "${"), *end;

	if (at == NULL || (end = strchr(at, '}')) == NULL)
		return false;
	*name = (struct span){ at + 2, (size_t)(end - at) - 2 };
	*text = end;
	return true;
}

bool
option_table_names_secret(struct span name)
{
	static const char *const words[] = { "auth", "cookie", "key", "passw",
		"secret", "token" };
	size_t i, at, n;

	for (i = 0; i < sizeof words / sizeof words[0]; i++) {
		n = strlen(words[i]);
		for (at = 0; at + n <= name.n; at++)
			if (strncasecmp(name.p + at, words[i], n) == 0)
				return true;
	}
	return false;
}

/* Finds the value of NAME:VALUE, or with another character between them, if the
 * name is that of a secret. */
static bool
named_secret(const char *value, char between, struct span *secret)
{
	const char *colon = strchr(value, between);
	struct span name = { value, 0 };

	if (value[0] == '@' || colon == NULL)
		return false;
	name.n = (size_t)(colon - value);
	if (!option_table_names_secret(name) || has_reference(colon))
		return false;
	colon++;
	*secret = span_of(colon + strspn(colon, " \t"));
	return secret->n > 0;
}

/* Does the client's JSON contain a secret, and not only a variable's name? */
static bool
client_secret(const char *json)
{
	static const char *const names[] = { "client_secret\"",
		"software_statement\"" };
	const char *at;
	size_t i;

	for (i = 0; json[0] != '@' && i < 2; i++) {
		at = strstr(json, names[i]);
		if (at == NULL)
			continue;
		at += strlen(names[i]);
		at += strspn(at, " \t\r\n:");
		if (strncmp(at, "\"${", 3) != 0)
			return true;
	}
	return false;
}

bool
option_table_secret(const struct option_row *row, const char *value,
    struct span *secret)
{
	if (row->kind == OPTION_HEADER)
		return named_secret(value, ':', secret);
	if (row->offset == AT(proxy) && row->kind == OPTION_STRING)
		return redact_proxy_user(value, secret);
	if (row->offset == AT(authorize_params))
		return named_secret(value, '=', secret);
	if ((row->flags & OPTION_SECRET) == 0 || value[0] == '\0')
		return false;
	if ((row->offset == AT(client_info) ||
		row->offset == AT(client_metadata)) &&
	    !client_secret(value))
		return false;
	if (row->offset == AT(headers) && has_reference(value))
		return false;
	*secret = span_of(value);
	return true;
}

const char *const option_commands[] = { [COMMAND_PROXY] = "",
	[COMMAND_LOGIN] = "login",
	[COMMAND_LOGOUT] = "logout",
	[COMMAND_STATUS] = "status",
	[COMMAND_REPORT] = "report",
	[COMMAND_TOOLS] = "tools",
	[COMMAND_CALL] = "call",
	[COMMAND_CHECK] = "check",
	[COMMAND_WRAP] = "wrap",
	[COMMANDS] = "help",
	[COMMANDS + 1] = "version" };

/*
 * What other bridges, curl and habits call things, and the looks at a value that
 * was quoted or not replaced.
 */

static const char
    no_value[] = "a switch takes no value; --no-NAME turns it off";

/* Names without "-" and "_", "tools" at their end as "tool", commands and options
 * alike, and what they mean. */
static const char *const words[][2] = {
	{ "|ls|list|listtool|show|tools|describe|get|", "mcpsplice tools URL" },
	{ "|ping|doctor|test|verify|inspect|health|", "mcpsplice check URL" },
	{ "|add|configure|init|setup|import|migrate|", "mcpsplice wrap" },
	{ "|run|connect|serve|start|proxy|bridge|npx|uvx|node|exec|https|sse|",
	    "mcpsplice URL" },
	{ "|whoami|ps|sessions|log|logs|", "mcpsplice status URL" },
	{ "|auth|authorize|signin|oauth|", "mcpsplice login URL" },
	{ "|invoke|execute|calltool|", "mcpsplice call URL TOOL KEY=VALUE" },
	{ "|token|bearer|bearertoken|oauth2bearer|apikey|accesstoken|authtoken|authorization|",
	    "to send a token: --bearer-env NAME, or --bearer-file FILE" },
	{ "|user|basic|", "write -H 'Authorization: Basic ${VAR}'" },
	{ "|u|",
	    "the URL needs no option: mcpsplice URL; instead of a user "
	    "name, write -H 'Authorization: Basic ${VAR}'" },
	{ "|clientsecret|", "use --client-secret-file or --client-secret-env" },
	{ "|url|server|serverurl|endpoint|remote|uri|mcpurl|sseurl|",
	    "the URL needs no option: mcpsplice URL" },
	{ "|timeout|requesttimeout|readtimeout|tooltimeout|maxtime|t|m|",
	    "did you mean --call-timeout or --init-timeout?" },
	{ "|loglevel|level|d|", "use -v or -vv" },
	{ "|stdio|", "the stdio side is mcpsplice itself: mcpsplice URL" },
	{ "|http|", "did you mean --transport http?" },
	{ "|true|false|on|off|no|", no_value },
	{ "|any|", "write --fail=any as one word" },
	{ "|env|e|name|cwd|command|args|",
	    "that belongs in your host's configuration" },
	{ "|port|p|redirectport|", "callback-port" },
	{ "|s|", "quiet" },
	{ "|y|yes|", "it belongs to npx; remove it" },
	{ "|only|allow|filter|allowtool|allowedtool|allowlist|includetool|"
	  "includedtool|enabletool|enabledtool|whitelist|filtertool|",
	    "only-tool" },
	{ "|ignore|deny|block|hide|exclude|excludetool|excludedtool|denytool|"
	  "deniedtool|blocktool|blockedtool|disabletool|disabledtool|"
	  "hidetool|hiddentool|ignoredtool|denylist|blocklist|blacklist|",
	    "ignore-tool" },
	{ "|readonlytool|readonlymode|", "read-only" },
	{ "|ca|cabundle|cafile|", "cacert" },
	{ "|insecure|k|noverify|noverifyssl|nosslverify|skiptlsverify|",
	    "certificates are always checked; --cacert FILE trusts your own" },
	{ "|all|helpall|",
	    "write \"mcpsplice help all\"; logout takes one URL" },
	{ "|dryrun|diff|", "wrap changes nothing without --write" },
	{ "|undo|revert|rollback|", "restore" },
	{ "|output|outputfile|outfile|out|o|",
	    "redirect standard output (>FILE); \"mcpsplice report\" prints "
	    "the path of its file" },
};

const char *
mistype_meant(struct span word)
{
	char key[32] = "|";
	size_t n = 1, i;

	for (i = 0; i < word.n && n < sizeof key - 2; i++)
		if (word.n == 1)
			key[n++] = *word.p;
		else if (strchr("-_", word.p[i]) == NULL)
			key[n++] = (char)tolower((unsigned char)word.p[i]);
	if (n > 6 && memcmp(key + n - 5, "tools", 5) == 0)
		n--;
	key[n] = '|';
	for (i = 0; n > 1 && i < sizeof words / sizeof *words; i++)
		if (strstr(words[i][0], key) != NULL)
			return words[i][1];
	return NULL;
}

bool
mistype_is_switch_value(const char *word)
{
	return mistype_meant(span_of(word)) == no_value;
}

static char *
phrase(const char *meant, const char *dashes)
{
	if (meant == NULL)
		return NULL;
	if (strncmp(meant, "mcpsplice ", 10) == 0)
		return xasprintf(" (did you mean \"%s\"?)", meant);
	if (strchr(meant, ' ') != NULL)
		return xasprintf(": %s", meant);
	return xasprintf(" (did you mean %s%s?)", dashes, meant);
}

char *
mistype_option(const char *prefix, const char *dashes, struct span name)
{
	const char *meant = mistype_meant(name);
	char *why, *answer;

	if (meant == NULL)
		meant = option_table_nearest(name);
	answer = phrase(meant, *dashes == '\0' ? "" : "--");
	if (answer == NULL)
		/* a file may have been written for a newer copy */
		answer =
		    xasprintf("; \"mcpsplice help all\" lists all options%s",
			*prefix == '\0' ? "" :
					  " of mcpsplice " PACKAGE_VERSION);
	why = xasprintf("%sunknown option \"%s%.*s\"%s", prefix, dashes,
	    name.n > 60 ? 60 : (int)name.n, name.p, answer);
	free(answer);
	return why;
}

char *
mistype_command(const char *word)
{
	const char *meant = mistype_meant(span_of(word));
	size_t i, least = meant == NULL ? too_far(span_of(word)) : 0;
	char *answer, *why;

	for (i = COMMAND_LOGIN; i < OPTION_WORDS; i++)
		if (is_nearer(span_of(word), option_commands[i], &least))
			meant = option_commands[i];
	/* a URL has other characters, or a "$" that the host left */
	if (meant == NULL &&
	    (word[strspn(word, ALNUM "-_")] != '\0' || *word == '\0' ||
		strcasecmp(word, "localhost") == 0))
		return NULL;
	answer = phrase(meant, "");
	why = xasprintf("there is no command \"%s\"%s",
	    meant != NULL ? word : string_shown(word),
	    answer != NULL ? answer : "; see \"mcpsplice help\"");
	free(answer);
	return why;
}

static bool
is_placeholder(const char *text)
{
	const char *ends;
	size_t n = strlen(text);

	if (strstr(text, "${") != NULL ||
	    (*text == '$' && n > 2 && strspn(text + 1, LETTERS "_") == n - 1))
		return true;
	if (strpbrk(text, "./\"") != NULL)
		return false;
	for (ends = "%%{}<>"; n > 2 && *ends != '\0'; ends += 2)
		if (text[0] == ends[0] && text[n - 1] == ends[1])
			return true;
	return strncasecmp(text, "your", 4) == 0 ||
	    strncasecmp(text, "replace", 7) == 0 ||
	    strncasecmp(text, "change", 6) == 0;
}

const char *
mistype_value(const char *text)
{
	if (is_placeholder(text))
		return "contains a placeholder that your host did not replace";
	if (*text == '\0' ||
	    (strchr("\"'`<\xc2", *text) == NULL &&
		strncmp(text, "\xe2\x80", 2) != 0))
		return NULL;
	return *text == '<' ? "has brackets around it; remove them" :
			      "has quotes around it; remove them";
}

const char *
mistype_token(const char *header)
{
	const char *at = strchr(header, ':');
	size_t n;

	if (at == NULL)
		return header;
	at += 1 + strspn(at + 1, " \t");
	n = strncasecmp(at, "Bearer", 6) == 0 ? 6 :
	    strncasecmp(at, "Basic", 5) == 0  ? 5 :
	    strncasecmp(at, "Token", 5) == 0  ? 5 :
						0;
	/* a blank, or the end */
	return strchr(" ", at[n]) != NULL ? at + n + strspn(at + n, " ") : at;
}
