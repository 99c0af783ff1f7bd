/*
 * app/options: argv, files, environment, their order, what is refused with
 * which words, what is blanked, and what a person is shown. A case lists all
 * fields that differ from the defaults, so a value in the wrong field fails.
 */
#include "config.h"

#include "app/options.h"

#include <sys/stat.h>

#include <inttypes.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "app/option_file.h"
#include "app/option_parse.h"
#include "app/option_table.h"
#include "unit.h"

#define ARGS_MAX 24
#define URL "http://localhost/mcp"

/* One world for a case: a folder with the files, and an environment. */
struct world {
	char dir[64];
	char *etc, *home, *extra;
	const char *env; /* "NAME=value" joined by '|' */
	char *found;     /* what the last look-up gave */
	char *args;
	char *argv[ARGS_MAX];
	int argc;
	struct options o;
	char *why;
};

static void
write_file(const char *path, const char *text, mode_t mode)
{
	FILE *f = fopen(path, "w");

	ck_assert_ptr_nonnull(f);
	ck_assert(fwrite(text, 1, strlen(text), f) == strlen(text));
	ck_assert_int_eq(fclose(f), 0);
	ck_assert_int_eq(chmod(path, mode), 0);
}

static void
world_init(struct world *w)
{
	memset(w, 0, sizeof *w);
	strcpy(w->dir, "/tmp/check_options.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(w->dir));
	w->etc = xasprintf("%s/etc", w->dir);
	w->home = xasprintf("%s/home", w->dir);
	w->extra = xasprintf("%s/extra", w->dir);
}

static void
world_free(struct world *w)
{
	options_free(&w->o);
	unlink(w->etc);
	unlink(w->home);
	unlink(w->extra);
	ck_assert_int_eq(rmdir(w->dir), 0);
	free(w->etc);
	free(w->home);
	free(w->extra);
	free(w->found);
	free(w->args);
	free(w->why);
}

static const char *
look_up(const char *name, void *arg)
{
	struct world *w = arg;
	const char *at = w->env, *end;
	size_t n = strlen(name);

	free(w->found);
	w->found = NULL;
	while (at != NULL) {
		end = strchr(at, '|');
		if (strncmp(at, name, n) == 0 && at[n] == '=')
			w->found = xstrndup(at + n + 1,
			    end == NULL ? strlen(at + n + 1) :
					  (size_t)(end - at) - n - 1);
		at = end == NULL ? NULL : end + 1;
	}
	return w->found;
}

/* args are joined by '|'; "EXTRA" as one stands for the extra file. */
static int
load(struct world *w, const char *args)
{
	struct option_sources from = {
		.etc = w->etc, .home = w->home, .env = look_up, .env_arg = w
	};
	char *at;

	free(w->args);
	free(w->why);
	w->args = xasprintf("mcpsplice|%s", args);
	w->argc = 0;
	for (at = w->args; at != NULL && w->argc < ARGS_MAX - 1;) {
		w->argv[w->argc++] = at;
		at = strchr(at, '|');
		if (at != NULL)
			*at++ = '\0';
		if (strcmp(w->argv[w->argc - 1], "EXTRA") == 0)
			w->argv[w->argc - 1] = w->extra;
	}
	if (args[0] == '\0')
		w->argc = 1;
	w->argv[w->argc] = NULL;
	from.argc = w->argc;
	from.argv = w->argv;
	return options_load_from(&w->o, &from, &w->why);
}

static void
put_list(struct buf *out, const char *name, const struct strings *list)
{
	size_t i;

	for (i = 0; i < list->n; i++)
		buf_addf(out, "%s=%s;", name, list->list[i]);
	ck_assert_ptr_null(list->list[list->n]);
}

static void
put_text(struct buf *out, const char *name, const char *text)
{
	if (text != NULL)
		buf_addf(out, "%s=%s;", name, text);
}

static void
put_number(struct buf *out, const char *name, int64_t n, int64_t preset)
{
	if (n != preset)
		buf_addf(out, "%s=%" PRId64 ";", name, n);
}

static void
put_network(struct buf *out, const struct options *o)
{
	put_text(out, "proxy", o->proxy);
	put_text(out, "noproxy", o->noproxy);
	put_text(out, "proxy_user", o->proxy_user);
	put_number(out, "proxy_negotiate", o->proxy_negotiate, 0);
	put_text(out, "proxy_cacert", o->proxy_cacert);
	put_text(out, "cacert", o->cacert);
	put_text(out, "cacert_extra", o->cacert_extra);
	put_text(out, "cert", o->cert);
	put_text(out, "key", o->key);
	put_number(out, "ipv4", o->ipv4_only, 0);
	put_number(out, "ipv6", o->ipv6_only, 0);
	put_list(out, "resolve", &o->resolve);
	put_text(out, "unix_socket", o->unix_socket);
	put_number(out, "allow_http", o->allow_http, 0);
}

static void
put_limits(struct buf *out, const struct options *o)
{
	put_number(out, "connect", o->connect_timeout_ms, 10000);
	put_number(out, "init", o->init_timeout_ms, 25000);
	put_number(out, "retry", o->retry_window_ms, 20000);
	put_number(out, "call", o->call_timeout_ms, 3600000);
	put_number(out, "drain", o->drain_timeout_ms, 0);
	put_number(out, "ping", o->ping_interval_ms, 0);
	put_number(out, "message", (int64_t)o->max_message, 128 << 20);
	put_number(out, "result", (int64_t)o->max_result,
	    (10 << 20) - (64 << 10));
	put_number(out, "result_set", o->max_result_set, 0);
	put_number(out, "buffer", (int64_t)o->max_buffer, 256 << 20);
	put_number(out, "depth", o->max_depth, 512);
	put_number(out, "inflight", o->max_inflight, 256);
}

static void
put_default(struct buf *out, const char *name, const char *text,
    const char *preset)
{
	if (text == NULL || strcmp(text, preset) != 0)
		buf_addf(out, "%s=%s;", name, text == NULL ? "-" : text);
}

static void
put_client(struct buf *out, const struct options *o)
{
	put_text(out, "client_id", o->client_id);
	put_text(out, "secret_file", o->client_secret_file);
	put_text(out, "secret_env", o->client_secret_env);
	put_text(out, "client_key", o->client_key);
	put_text(out, "document", o->client_metadata_url);
	put_text(out, "info", o->client_info);
	put_text(out, "metadata", o->client_metadata);
	put_text(out, "issuer", o->issuer);
	put_text(out, "scope", o->scope);
	put_text(out, "resource", o->resource);
	put_number(out, "no_resource", o->no_resource, 0);
	put_list(out, "param", &o->authorize_params);
	put_text(out, "token_endpoint", o->token_endpoint);
}

static void
put_sign_in(struct buf *out, const struct options *o)
{
	put_number(out, "auth", (int64_t)o->auth, AUTH_AUTO);
	put_text(out, "bearer_file", o->bearer_file);
	put_text(out, "bearer_env", o->bearer_env);
	put_text(out, "command", o->auth_command);
	put_text(out, "netrc", o->netrc_file);
	put_client(out, o);
	put_number(out, "port", o->callback_port, 0);
	if (o->origins != NULL) {
		put_default(out, "host", o->callback_host, "127.0.0.1");
		put_default(out, "path", o->callback_path, "/callback");
		put_default(out, "store", o->auth_store, "file");
		put_number(out, "login", o->login_timeout_ms, 300000);
	}
	put_text(out, "browser", o->browser);
	put_number(out, "no_browser", o->no_browser, 0);
	put_number(out, "id_token", o->use_id_token, 0);
	put_number(out, "pkce", o->assume_pkce, 0);
	put_number(out, "private", o->allow_private_auth, 0);
	put_number(out, "prm", o->allow_cross_origin_prm, 0);
	put_text(out, "profile", o->profile);
	put_text(out, "key_password", o->key_password_file);
	put_number(out, "cert_auth", o->cert_auth, 0);
}

/* All that is not as by default, the usual URL left out. */
static char *
dump(const struct options *o)
{
	struct buf out;
	char *text;

	buf_init(&out, 0);
	if (o->command != COMMAND_PROXY)
		buf_addf(&out, "%d;", (int)o->command);
	put_number(&out, "as_agent", o->agent, 0);
	if (o->url == NULL || strcmp(o->url, URL) != 0)
		buf_addf(&out, "url=%s;", o->url == NULL ? "-" : o->url);
	put_list(&out, "header", &o->headers);
	put_sign_in(&out, o);
	put_text(&out, "agent", o->user_agent);
	put_number(&out, "no_cookies", o->no_cookies, 0);
	put_number(&out, "compressed", o->compressed, 0);
	put_number(&out, "http2", o->http2, 0);
	put_network(&out, o);
	put_limits(&out, o);
	put_number(&out, "replay", (int64_t)o->replay, REPLAY_SAFE);
	put_list(&out, "lost", &o->session_lost_patterns);
	put_number(&out, "in_results", o->session_lost_in_results, 0);
	put_number(&out, "no_memory", o->no_memory, 0);
	put_number(&out, "handshake", o->handshake, 0);
	put_number(&out, "fail", o->fail, 0);
	put_number(&out, "verbose", o->verbose, 0);
	put_number(&out, "quiet", o->quiet, 0);
	put_text(&out, "log_file", o->log_file);
	put_number(&out, "log_json", o->log_json, 0);
	put_number(&out, "show", o->show_config, 0);
	put_number(&out, "help", o->help, 0);
	put_number(&out, "version", o->version, 0);
	put_list(&out, "note", &o->notes);
	put_list(&out, "warning", &o->warnings);
	text = xstrdup(buf_str(&out));
	buf_free(&out);
	return text;
}

static void
expect(struct world *w, const char *what, const char *want)
{
	char *got = dump(&w->o);

	ck_assert_msg(strcmp(got, want) == 0, "%s\n got: %s\nwant: %s", what,
	    got, want);
	free(got);
}

struct argv_case {
	const char *args; /* the URL is put behind */
	const char *want;
};

#define WARNING                                                                \
	"warning=a secret on the command line can be read by other users; "    \
	"use --bearer-env, -H 'Authorization: Bearer ${VAR}' or @FILE;"
#define NOTE(name) "note=--" name " has no meaning yet: ignored;"

static const struct argv_case argv_cases[] = {
	{ "--", "" },
	{ "-H|A: b|-HC:d|--header|@f|--header=E: f=g",
	    "header=A: b;header=C:d;header=@f;header=E: f=g;" },
	{ "-H|A: b|-H|a: c", "header=A: b;header=a: c;" },
	{ "--header-file|/h", "header=@/h;" },
	{ "--header-file=/h|-H|A:b", "header=@/h;header=A:b;" },
	{ "--bearer-file|/t", "bearer_file=/t;" },
	{ "--bearer-env|T", "bearer_env=T;" },
	{ "--auth-command|get 'a b'", "command=get 'a b';" },
	{ "--netrc-file|/n", "netrc=/n;" },
	{ "--auth|auto", "" },
	{ "--auth=none", "auth=1;" },
	{ "--auth=static|-H|A: b", "header=A: b;auth=2;" },
	{ "--auth=static|--cert|/c", "auth=2;cert=/c;" },
	{ "--auth=static|--bearer-env|T", "auth=2;bearer_env=T;" },
	{ "--auth=oauth|-H|X-Key: ${K}", "header=X-Key: ${K};auth=3;" },
	/* what is in the file is found when it is read */
	{ "--auth=oauth|-H|@f", "header=@f;auth=3;" },
	{ "--auth=device|--auth=", "" },
	{ "--auth=device", "auth=4;" },
	{ "--auth|client-credentials|--client-id|i|--client-key|/k",
	    "auth=5;client_id=i;client_key=/k;" },
	{ "--client-id|i d|--client-secret-file|/s",
	    "client_id=i d;secret_file=/s;" },
	{ "--client-secret-env=S|--client-id=i", "client_id=i;secret_env=S;" },
	{ "--client-metadata-url|https://h/c.json",
	    "document=https://h/c.json;" },
	{ "--issuer|https://h/a", "issuer=https://h/a;" },
	{ "--issuer|http://localhost:1", "issuer=http://localhost:1;" },
	{ "--issuer|http://h/|--allow-http", "issuer=http://h/;allow_http=1;" },
	{ "--token-endpoint|https://h/t?a=b",
	    "token_endpoint=https://h/t?a=b;" },
	{ "--scope|a b:c/d", "scope=a b:c/d;" },
	{ "--scope|a|--scope=", "" },
	{ "--resource|api://0-1", "resource=api://0-1;" },
	{ "--no-resource", "no_resource=1;" },
	{ "--no-resource|--no-no-resource", "" },
	{ "--authorize-param|a=b|--authorize-param=c=", "param=a=b;param=c=;" },
	{ "--callback-port|65535", "port=65535;" },
	{ "--callback-port|1|--callback-port|0", "" },
	{ "--callback-port|1|--callback-port=", "" },
	{ "--callback-host|localhost", "host=localhost;" },
	{ "--callback-path|/a-b/c.d_~1", "path=/a-b/c.d_~1;" },
	{ "--callback-path|/|--callback-path=", "" },
	{ "--browser|w3m -x", "browser=w3m -x;" },
	{ "--no-browser", "no_browser=1;" },
	{ "--login-timeout|1.5", "login=1500;" },
	{ "--use-id-token", "id_token=1;" },
	{ "--use-id-token|--no-use-id-token", "" },
	{ "--assume-pkce", "pkce=1;" },
	{ "--allow-private-auth", "private=1;" },
	{ "--allow-cross-origin-prm", "prm=1;" },
	{ "--profile|aZ09._-", "profile=aZ09._-;" },
	{ "--auth-store|file", "" },
	{ "--auth-store|helper:k -x", "store=helper:k -x;" },
	{ "--auth-store|helper:k|--auth-store=", "" },
	{ "-E|/e|--key|/k|--key-password-file|/p|--cert-auth",
	    "key_password=/p;cert_auth=1;cert=/e;key=/k;" },
	{ "-A|x y", "agent=x y;" },
	{ "--user-agent=", "" },
	{ "--no-cookies", "no_cookies=1;" },
	{ "--no-cookies|--cookies", "" },
	{ "--disable-cookies", "no_cookies=1;" },
	{ "--compressed", "compressed=1;" },
	{ "--compressed|--no-compressed", "" },
	{ "--http2", "http2=1;" },
	{ "-x|http://p:3128", "proxy=http://p:3128;" },
	{ "--proxy=", "proxy=;" },
	{ "--noproxy|a,b", "noproxy=a,b;" },
	{ "--proxy-negotiate", "proxy_negotiate=1;" },
	{ "--proxy-cacert|/p", "proxy_cacert=/p;" },
	{ "--cacert|/c", "cacert=/c;" },
	{ "-E|/e|--key|/k", "cert=/e;key=/k;" },
	{ "--cert=/e", "cert=/e;" },
	{ "-4", "ipv4=1;" },
	{ "-6", "ipv6=1;" },
	{ "--ipv4|--no-ipv4|--ipv6", "ipv6=1;" },
	{ "--resolve|a:1:2|--resolve=b:3:4", "resolve=a:1:2;resolve=b:3:4;" },
	{ "--unix-socket|/s", "unix_socket=/s;" },
	{ "--allow-http", "allow_http=1;" },
	{ "--connect-timeout|2.5", "connect=2500;" },
	{ "--connect-timeout=.25", "connect=250;" },
	{ "--init-timeout|0", "init=0;" },
	{ "--retry-window|0.0001", "retry=1;" },
	{ "--call-timeout|2000000", "call=2000000000;" },
	{ "--drain-timeout|3.", "drain=3000;" },
	{ "--ping-interval|1", "ping=1000;" },
	{ "--ping-interval=.9991", "ping=1000;" },
	{ "--ping-interval|2000000", "ping=2000000000;" },
	{ "--ping-interval|3|--ping-interval|0", "" },
	{ "--ping-interval|0.000", "" },
	{ "--max-message|1K", "message=1024;" },
	{ "--max-result|0", "result=0;result_set=1;" },
	{ "--max-result|10176k", "result_set=1;" },
	{ "--max-buffer|2m", "buffer=2097152;" },
	{ "--max-message|1G", "message=1073741824;" },
	{ "--max-depth|1", "depth=1;" },
	{ "--max-inflight|65535", "inflight=65535;" },
	{ "--replay=never", "replay=0;" },
	{ "--replay|refused", "replay=1;" },
	{ "--replay|never|--replay|safe", "" },
	{ "--session-lost-pattern|tenant .* left", "lost=tenant .* left;" },
	{ "--session-lost-pattern|(a)b|--session-lost-pattern=^c$",
	    "lost=(a)b;lost=^c$;" },
	/* a blank is no danger where more is wanted */
	{ "--session-lost-pattern| +x", "lost= +x;" },
	/* each is kept as given, another case or the same again */
	{ "--session-lost-pattern|A|--session-lost-pattern|a",
	    "lost=A;lost=a;" },
	{ "--session-lost-in-results", "in_results=1;" },
	{ "--session-lost-in-results|--no-session-lost-in-results", "" },
	{ "--no-memory", "no_memory=1;" },
	{ "--no-memory|--memory", "" },
	{ "--handshake", "handshake=1;" },
	{ "--fail", "fail=1;" },
	{ "-v", "verbose=1;" },
	{ "-vv", "verbose=2;" },
	{ "-v|--verbose|-v", "verbose=3;" },
	{ "-vv|--no-verbose", "" },
	{ "-q", "quiet=1;" },
	{ "-q|--no-quiet", "" },
	{ "-qv46|--no-ipv4", "ipv6=1;verbose=1;quiet=1;" },
	{ "-vH|A: b", "header=A: b;verbose=1;" },
	{ "--log-file|/l", "log_file=/l;" },
	{ "--log-format|json", "log_json=1;" },
	{ "--log-format=text", "" },
	{ "--show-config", "show=1;" },
	/* the next argument is the value, whatever it looks like */
	{ "-A|--help", "agent=--help;" },
	{ "-A|-v", "agent=-v;" },
	/* mcp-remote */
	{ "--debug", "verbose=2;" },
	{ "--silent", "quiet=1;" },
	{ "--host|localhost", "host=localhost;" },
	{ "--host|localhost|--callback-host=127.0.0.1", "" },
	{ "--callback-path|/oauth/callback", "path=/oauth/callback;" },
	{ "--auth-success-url=u", NOTE("auth-success-url") },
	{ "--auth-timeout|30", "login=30000;" },
	{ "--auth-timeout|30|--login-timeout=", "" },
	{ "--login-timeout=9|--auth-timeout=", "" },
	{ "--auth-timeout=0", "login=0;" },
	{ "--headers-timeout|3", NOTE("headers-timeout") },
	{ "--body-timeout|3", NOTE("body-timeout") },
	{ "--keep-alive", "ping=30000;" },
	{ "--ping-interval|3|--keep-alive", "ping=30000;" },
	{ "--keep-alive|--ping-interval|3", "ping=3000;" },
	{ "--keep-alive|--ping-interval=", "" },
	{ "--ping-interval|3|--no-keep-alive", "" },
	{ "--disable-resource-parameter", "no_resource=1;" },
	{ "--static-oauth-client-metadata|{\"scope\":\"a\"}",
	    "metadata={\"scope\":\"a\"};" },
	{ "--static-oauth-client-info|@f", "info=@f;" },
	{ "--static-oauth-client-info|{\"client_id\":\"a\"}",
	    "info={\"client_id\":\"a\"};" },
	{ "--static-oauth-client-info|{\"client_secret\" : \"${S}\"}",
	    "info={\"client_secret\" : \"${S}\"};" },
	{ "--device-code", "auth=4;" },
	{ "--client-credentials|--static-oauth-client-info|@f",
	    "auth=5;info=@f;" },
	{ "--protocol|auto", NOTE("protocol") },
	{ "--enable-proxy",
	    "note=--enable-proxy has no meaning: the proxy "
	    "variables are always used;" },
	{ "--transport|http-only", "" },
	{ "--transport|http-first",
	    "note=--transport is ignored: only "
	    "Streamable HTTP is spoken yet;" },
	{ "--transport=sse-first",
	    "note=--transport is ignored: only "
	    "Streamable HTTP is spoken yet;" },
	{ "--ignore-tool|x*",
	    "warning=--ignore-tool is not applied yet: the "
	    "tool stays visible;" },
	/* supergateway */
	{ "--oauth2Bearer|${T}", "header=Authorization: Bearer ${T};" },
};

START_TEST(argv_is_read)
{
	const struct argv_case *c = &argv_cases[_i];
	struct world w;
	char *args;

	world_init(&w);
	args = xasprintf("%s|" URL, c->args);
	ck_assert_msg(load(&w, args) == 0, "%s: %s", c->args, w.why);
	expect(&w, c->args, c->want);
	/* and with the URL in front, except behind "--" */
	options_free(&w.o);
	free(args);
	args = xasprintf(URL "|%s", c->args);
	ck_assert_msg(load(&w, args) == 0, "%s: %s", c->args, w.why);
	expect(&w, c->args, c->want);
	free(args);
	world_free(&w);
}
END_TEST

struct operand_case {
	const char *args, *want;
};

static const struct operand_case operand_cases[] = {
	{ "https://h/x", "url=https://h/x;" },
	{ URL "|3334", "port=3334;" },
	{ "-v|" URL "|-4|65535|-q", "port=65535;ipv4=1;verbose=1;quiet=1;" },
	{ URL "|3334|--callback-port|3", "port=3;" },
	{ "login|" URL, "1;" },
	{ "-v|login|-4|" URL "|80|-q", "1;port=80;ipv4=1;verbose=1;quiet=1;" },
	{ "--|login|" URL, "1;" },
	{ "login|--streamableHttp|https://h/", "1;url=https://h/;" },
	{ "login|--auth=device|--profile=b|" URL, "1;auth=4;profile=b;" },
	{ "logout|" URL, "2;" },
	{ "logout|--bearer-env|T|" URL, "2;bearer_env=T;" },
	{ "status|" URL, "3;" },
	{ "status", "3;url=-;" },
	{ "status|--profile|x", "3;url=-;profile=x;" },
	{ "status|--show-config", "3;url=-;show=1;" },
	{ "login|--help", "1;url=-;help=1;" },
	{ "--profile|login|" URL, "profile=login;" },
	{ "login|--agent", "1;as_agent=1;url=-;" },
	{ "--streamableHttp|https://h/", "url=https://h/;" },
	{ "--allow-http|http://h/", "url=http://h/;allow_http=1;" },
	{ "http://h/|--unix-socket|/s", "url=http://h/;unix_socket=/s;" },
	{ "http://a.localhost:1/", "url=http://a.localhost:1/;" },
	{ "http://127.8.8.8", "url=http://127.8.8.8;" },
	{ "http://[::1]/", "url=http://[::1]/;" },
	/* these need no URL, and the first two no order in the files */
	{ "-h", "url=-;help=1;" },
	{ "-V|--max-depth|none", "url=-;version=1;" },
	{ "--show-config", "url=-;show=1;" },
};

START_TEST(operands_are_read)
{
	const struct operand_case *c = &operand_cases[_i];
	struct world w;

	world_init(&w);
	ck_assert_msg(load(&w, c->args) == 0, "%s: %s", c->args, w.why);
	expect(&w, c->args, c->want);
	world_free(&w);
}
END_TEST

#define EVERY(pattern)                                                         \
	"--session-lost-pattern: \"" pattern "\" matches even a blank text, "  \
	"so it would match every answer"

#define NO_SECRET                                                              \
	"there is no --client-secret, a secret does not belong there; use "    \
	"--client-secret-file FILE or --client-secret-env VAR"
#define SIXTEEN "0123456789abcdef"
#define NO_PROFILE(name)                                                       \
	"--profile: \"" name "\" is not a name of at most 64 letters, "        \
	"digits, dots, \"_\" and \"-\""
#define NO_HOST(option, host)                                                  \
	"--" option ": \"" host "\" is not 127.0.0.1 or localhost; the "       \
	"browser's answer is only taken on this machine"
#define NO_PATH(path)                                                          \
	"--callback-path: \"" path "\" is not a plain path, like /callback"
#define NO_STORE(store)                                                        \
	"--auth-store: \"" store "\" is neither \"file\" nor \"helper:CMD\""
#define NO_URL(option)                                                         \
	"--" option ": this is not a URL like https://auth.example.com/"
#define NO_DOCUMENT                                                            \
	"--client-metadata-url: this is not an https URL with a path, like "   \
	"https://example.com/client.json"
#define TWO(a, b) "there are two credentials, " a " and " b "; give one of them"
#define EXCLUDE(a, b) a " and " b " exclude each other; give one of them"

struct refused_case {
	const char *args, *why;
};

static const struct refused_case refused_cases[] = {
	{ "", "no URL given; usage: mcpsplice [options] URL" },
	{ "-v", "no URL given; usage: mcpsplice [options] URL" },
	{ "login", "no URL given; usage: mcpsplice login [options] URL" },
	{ "-v|logout", "no URL given; usage: mcpsplice logout [options] URL" },
	{ "login|login",
	    "\"login\" has no scheme; did you mean "
	    "https://login?" },
	{ URL "|login",
	    "unexpected argument \"login\" after the URL; put quotes "
	    "around a value that has blanks" },
	{ "Login|" URL,
	    "unexpected argument \"" URL "\" after the URL; "
	    "put quotes around a value that has blanks" },
	{ "status|" URL "|" URL,
	    "unexpected argument \"" URL "\" after the "
	    "URL; put quotes around a value that has blanks" },
	{ "login|--agent|" URL,
	    "unknown option \"--agent\"; \"mcpsplice --help\" lists them" },
	{ "logout|--agent",
	    "unknown option \"--agent\"; \"mcpsplice --help\" lists them" },
	{ "--agent|login",
	    "unknown option \"--agent\"; \"mcpsplice --help\" lists them" },
	{ "--client-secret|x|" URL, NO_SECRET },
	{ "--client-secret=x|" URL, NO_SECRET },
	{ URL "|--client-secret", NO_SECRET },
	{ "--auth|OAuth|" URL,
	    "--auth: \"OAuth\" is none of auto|none|static|oauth|device|"
	    "client-credentials" },
	{ "--profile|a/b|" URL, NO_PROFILE("a/b") },
	{ "--profile|" SIXTEEN SIXTEEN SIXTEEN SIXTEEN "x|" URL,
	    NO_PROFILE(SIXTEEN SIXTEEN SIXTEEN SIXTEEN "x") },
	{ "--callback-host|0.0.0.0|" URL, NO_HOST("callback-host", "0.0.0.0") },
	{ "--host|::1|" URL, NO_HOST("host", "::1") },
	{ "--host|Localhost|" URL, NO_HOST("host", "Localhost") },
	{ "--callback-path|callback|" URL, NO_PATH("callback") },
	{ "--callback-path|/a?b|" URL, NO_PATH("/a?b") },
	{ "--callback-path|/a b|" URL, NO_PATH("/a b") },
	{ "--callback-path|/../a|" URL, NO_PATH("/../a") },
	{ "--callback-path|//a|" URL, NO_PATH("//a") },
	{ "--callback-path|/%61|" URL, NO_PATH("/%61") },
	{ "--callback-port|65536|" URL,
	    "--callback-port: 65536 is out of range, 0 to 65535" },
	{ "--auth-timeout|0.5|" URL,
	    "--auth-timeout: 0.5 is out of range, 1 to 2000000, or 0 for "
	    "never" },
	{ "--login-timeout|2000001|" URL,
	    "--login-timeout: 2000001 is out of range, 1 to 2000000, or 0 for "
	    "never" },
	{ "--auth-store|keyring|" URL, NO_STORE("keyring") },
	{ "--auth-store|helper:|" URL, NO_STORE("helper:") },
	{ "--auth-store|helper: |" URL, NO_STORE("helper: ") },
	{ "--auth-store|file:/x|" URL, NO_STORE("file:/x") },
	{ "--issuer|h|" URL, NO_URL("issuer") },
	{ "--issuer|https://u:secret@h/|" URL, NO_URL("issuer") },
	{ "--token-endpoint|file:///etc|" URL, NO_URL("token-endpoint") },
	{ "--issuer|http://h/a?b|" URL,
	    "--issuer: http://h is not encrypted: use https, or add "
	    "--allow-http" },
	{ "--token-endpoint|http://h/t|" URL,
	    "--token-endpoint: http://h is not encrypted: use https, or add "
	    "--allow-http" },
	{ "--client-metadata-url|http://localhost/c|" URL, NO_DOCUMENT },
	{ "--client-metadata-url|https://h|" URL, NO_DOCUMENT },
	{ "--client-metadata-url|https://h/?c|" URL, NO_DOCUMENT },
	{ "--client-metadata-url|https://u@h/c|" URL, NO_DOCUMENT },
	{ "--resource|https://h/a#b|" URL,
	    "--resource: this is not a URI without blanks and \"#\"" },
	{ "--resource|a b|" URL,
	    "--resource: this is not a URI without blanks and \"#\"" },
	{ "--scope|a \"b\"|" URL,
	    "--scope: these are not scopes with blanks between them" },
	{ "--scope|a\nb|" URL,
	    "--scope: these are not scopes with blanks between them" },
	{ "--client-id|\xc3\xa4|" URL,
	    "--client-id: it has bytes that are not printable ASCII" },
	{ "--authorize-param|a|" URL, "--authorize-param: write NAME=VALUE" },
	{ "--authorize-param|=a|" URL, "--authorize-param: write NAME=VALUE" },
	{ "--authorize-param||" URL, "--authorize-param: write NAME=VALUE" },
	/* what does not go together */
	{ "--bearer-file|/f|--bearer-env|T|" URL,
	    TWO("--bearer-file", "--bearer-env") },
	{ "--auth-command|c|--bearer-env|T|" URL,
	    TWO("--bearer-env", "--auth-command") },
	{ "--auth-command|c|--netrc-file|/n|" URL,
	    TWO("--auth-command", "--netrc-file") },
	{ "-H|authorization:x|--netrc-file|/n|" URL,
	    TWO("--netrc-file", "an Authorization header") },
	{ "--bearer-file|/f|--oauth2Bearer|x|" URL,
	    TWO("--bearer-file", "an Authorization header") },
	{ "--auth|oauth|-H|Authorization: x|" URL,
	    "--auth oauth and an Authorization header contradict each other; "
	    "leave one of them out" },
	{ "--device-code|--bearer-env|T|" URL,
	    "--auth device and --bearer-env contradict each other; leave one "
	    "of them out" },
	{ "--auth|none|--auth-command|c|" URL,
	    "--auth none and --auth-command contradict each other; leave one "
	    "of them out" },
	{ "--auth|client-credentials|--netrc-file|/n|" URL,
	    "--auth client-credentials and --netrc-file contradict each "
	    "other; leave one of them out" },
	{ "--auth|static|" URL,
	    "--auth static needs a credential; add --bearer-env VAR, "
	    "--bearer-file FILE, --auth-command CMD or a header" },
	{ "--client-credentials|" URL,
	    "--auth client-credentials needs a client; add --client-id ID "
	    "and --client-secret-file FILE" },
	{ "--auth=client-credentials|--client-id|i|" URL,
	    "--auth client-credentials needs a secret; add "
	    "--client-secret-file FILE, --client-secret-env VAR or "
	    "--client-key FILE" },
	{ "--client-id|i|--client-secret-file|/s|--client-secret-env|S|" URL,
	    EXCLUDE("--client-secret-file", "--client-secret-env") },
	{ "--client-id|i|--client-secret-env|S|--client-key|/k|" URL,
	    EXCLUDE("--client-secret-env", "--client-key") },
	{ "--client-id|i|--static-oauth-client-info|@f|" URL,
	    EXCLUDE("--client-id", "--static-oauth-client-info") },
	{ "--client-secret-file|/s|" URL,
	    "--client-secret-file needs the client it belongs to; add "
	    "--client-id ID" },
	{ "--client-key|/k|" URL,
	    "--client-key needs the client it belongs to; add --client-id "
	    "ID" },
	{ "--client-id|i|--client-key|/k|" URL,
	    "--client-key is for client credentials only; add --auth "
	    "client-credentials" },
	{ "--resource|r|--disable-resource-parameter|" URL,
	    EXCLUDE("--resource", "--no-resource") },
	{ "--no-browser|--browser|b|" URL,
	    EXCLUDE("--browser", "--no-browser") },
	{ "--key-password-file|/p|" URL,
	    "--key-password-file needs a certificate; add --cert FILE" },
	{ "--cert-auth|" URL,
	    "--cert-auth needs a certificate; add --cert FILE" },
	{ "login|--bearer-env|T|" URL,
	    "there is nothing to sign in to: --bearer-env is the credential; "
	    "leave it out, or do without \"login\"" },
	{ "login|--auth|none|" URL,
	    "there is nothing to sign in to with --auth none; leave it out" },
	{ "login|--auth|static|-H|a: b|" URL,
	    "there is nothing to sign in to with --auth static; leave it "
	    "out" },
	{ "--cacrt|x|" URL,
	    "unknown option \"--cacrt\" (did you mean --cacert?)" },
	{ "--HEADER=A: secret|" URL,
	    "unknown option \"--HEADER\" (did you mean --header?)" },
	{ "--no-proxy|" URL,
	    "unknown option \"--no-proxy\" (did you mean --noproxy?)" },
	{ "--unix|/s|" URL,
	    "unknown option \"--unix\" (did you mean --unix-socket?)" },
	{ "--verbos|" URL,
	    "unknown option \"--verbos\" (did you mean --verbose?)" },
	{ "--wombat|" URL,
	    "unknown option \"--wombat\"; \"mcpsplice --help\" "
	    "lists them" },
	{ "--url|" URL,
	    "unknown option \"--url\"; \"mcpsplice --help\" lists them" },
	{ "--NODE_EXTRA_CA_CERTS|x",
	    "unknown option "
	    "\"--NODE_EXTRA_CA_CERTS\"; \"mcpsplice --help\" lists them" },
	{ "--no-header|" URL,
	    "unknown option \"--no-header\"; \"mcpsplice "
	    "--help\" lists them" },
	{ "--no-help",
	    "unknown option \"--no-help\"; \"mcpsplice --help\" "
	    "lists them" },
	{ "--no-no-cookies|" URL, "" },
	{ "-Z|" URL, "unknown option \"-Z\"; \"mcpsplice --help\" lists them" },
	{ "-vZ|" URL,
	    "unknown option \"-Z\"; \"mcpsplice --help\" lists them" },
	{ URL "|-H", "--header needs a value: --header LINE|@FILE" },
	{ URL "|--cert", "--cert needs a value: --cert FILE" },
	{ "--fail=1|" URL, "--fail takes no value" },
	{ "--no-fail=1|" URL, "--no-fail takes no value" },
	{ URL "|x",
	    "unexpected argument \"x\" after the URL; put quotes "
	    "around a value that has blanks" },
	{ URL "|0",
	    "unexpected argument \"0\" after the URL; put quotes "
	    "around a value that has blanks" },
	{ URL "|65536",
	    "unexpected argument \"65536\" after the URL; put "
	    "quotes around a value that has blanks" },
	{ URL "|1|2",
	    "unexpected argument \"2\" after the URL; put quotes "
	    "around a value that has blanks" },
	{ URL "|--|-v",
	    "unexpected argument \"-v\" after the URL; put "
	    "quotes around a value that has blanks" },
	{ "-H|secret|" URL,
	    "--header: there is no colon in it; write "
	    "\"Name: value\" or @FILE" },
	{ "-H||" URL, "--header: the value is empty" },
	{ "--connect-timeout|abc|" URL,
	    "--connect-timeout: \"abc\" is not a "
	    "number of seconds, like 10 or 2.5" },
	{ "--call-timeout|-1|" URL,
	    "--call-timeout: \"-1\" is not a number "
	    "of seconds, like 10 or 2.5" },
	{ "--call-timeout|1e3|" URL,
	    "--call-timeout: \"1e3\" is not a number "
	    "of seconds, like 10 or 2.5" },
	{ "--call-timeout|.|" URL,
	    "--call-timeout: \".\" is not a number of "
	    "seconds, like 10 or 2.5" },
	{ "--call-timeout|2000001|" URL,
	    "--call-timeout: 2000001 is out of range, 0 to 2000000" },
	{ "--call-timeout|99999999999999999999999|" URL,
	    "--call-timeout: 99999999999999999999999 is out of range, 0 to "
	    "2000000" },
	{ "--ping-interval|0.999|" URL,
	    "--ping-interval: 0.999 is out of range, 1 to 2000000, or 0 for "
	    "never" },
	{ "--ping-interval|0.0000001|" URL,
	    "--ping-interval: 0.0000001 is out of range, 1 to 2000000, or 0 "
	    "for never" },
	{ "--ping-interval|2000000.001|" URL,
	    "--ping-interval: 2000000.001 is out of range, 1 to 2000000, or 0 "
	    "for never" },
	{ "--ping-interval|often|" URL,
	    "--ping-interval: \"often\" is not a number of seconds, like 10 "
	    "or 2.5" },
	{ "--keep-alive=5|" URL, "--keep-alive takes no value" },
	{ "--session-lost-in-results=1|" URL,
	    "--session-lost-in-results takes no value" },
	{ "--no-ping-interval|" URL,
	    "unknown option \"--no-ping-interval\"; \"mcpsplice --help\" "
	    "lists them" },
	{ URL "|--session-lost-pattern",
	    "--session-lost-pattern needs a value: --session-lost-pattern "
	    "REGEX" },
	{ "--session-lost-pattern||" URL, EVERY("") },
	{ "--session-lost-pattern|x*|" URL, EVERY("x*") },
	{ "--session-lost-pattern|^|" URL, EVERY("^") },
	{ "--session-lost-pattern|^$|" URL, EVERY("^$") },
	{ "--session-lost-pattern|(gone)?|" URL, EVERY("(gone)?") },
	{ "--session-lost-pattern|.|" URL, EVERY(".") },
	{ "--session-lost-pattern|.+|" URL, EVERY(".+") },
	{ "--session-lost-pattern| |" URL, EVERY(" ") },
	/* one that is good does not hide one that is not */
	{ "--session-lost-pattern|gone|--session-lost-pattern=y*|" URL,
	    EVERY("y*") },
	{ "--max-message|1KB|" URL,
	    "--max-message: \"1KB\" is not a size, "
	    "like 64K or 10M" },
	{ "--max-message|K|" URL,
	    "--max-message: \"K\" is not a size, like 64K or 10M" },
	{ "--max-message|1T|" URL,
	    "--max-message: \"1T\" is not a size, like 64K or 10M" },
	{ "--max-message|1.5M|" URL,
	    "--max-message: \"1.5M\" is not a size, like 64K or 10M" },
	{ "--max-depth|0|" URL, "--max-depth: 0 is out of range, 1 to 65535" },
	{ "--max-inflight|65536|" URL,
	    "--max-inflight: 65536 is out of range, 1 to 65535" },
	{ "--max-depth|1K|" URL, "--max-depth: \"1K\" is not a number" },
	{ "--replay|always|" URL,
	    "--replay: \"always\" is none of never|refused|safe" },
	{ "--replay|saf|" URL,
	    "--replay: \"saf\" is none of never|refused|safe" },
	{ "--log-format|xml|" URL,
	    "--log-format: \"xml\" is none of text|json" },
	{ "-46|" URL,
	    "--ipv4 and --ipv6 exclude each other; give one of them" },
	{ "--key|k|" URL,
	    "--key needs the certificate it belongs to; add "
	    "--cert FILE" },
	{ "--transport|sse-only|" URL,
	    "--transport: sse-only is not spoken "
	    "yet; use the server's Streamable HTTP URL and http-only" },
	{ "--transport|http|" URL,
	    "--transport: \"http\" is none of "
	    "http-first|sse-first|http-only|sse-only" },
	{ "example.com/mcp",
	    "\"example.com/mcp\" has no scheme; did you mean "
	    "https://example.com/mcp?" },
	{ "localhost:3000/mcp",
	    "\"localhost:3000/mcp\" has no scheme; did "
	    "you mean http://localhost:3000/mcp?" },
	{ "htp://x",
	    "\"htp://x\" has a scheme that is not spoken; did you "
	    "mean http://x?" },
	{ "htps://x",
	    "\"htps://x\" has a scheme that is not spoken; did you "
	    "mean https://x?" },
	{ "https://u:secret@h/",
	    "a user name or password in the URL is "
	    "refused; use -H 'Authorization: Basic ${VAR}'" },
	{ "u:secret@h/",
	    "a user name or password in the URL is refused; use "
	    "-H 'Authorization: Basic ${VAR}'" },
	{ "http://",
	    "\"http://\" is not a URL; it should be like "
	    "https://mcp.example.com/mcp" },
	{ "http:// u:secret@h",
	    "the URL cannot be understood; it should be "
	    "like https://mcp.example.com/mcp" },
	{ "http://api.example.com/x",
	    "http://api.example.com is not "
	    "encrypted: use https, or add --allow-http" },
	{ "http://localhost.example.com/",
	    "http://localhost.example.com is "
	    "not encrypted: use https, or add --allow-http" },
};

START_TEST(argv_is_refused)
{
	const struct refused_case *c = &refused_cases[_i];
	struct world w;

	world_init(&w);
	if (c->why[0] == '\0') {
		ck_assert_int_eq(load(&w, c->args), 0);
		expect(&w, c->args, "");
	} else {
		ck_assert_msg(load(&w, c->args) == -1, "%s", c->args);
		ck_assert_str_eq(w.why, c->why);
		ck_assert_ptr_null(w.o.origins);
	}
	world_free(&w);
}
END_TEST

static const char *const bad_regexes[] = { "(", "[", "[a", "a{2,1}",
	"[[:wombat:]]" };

/* Wrong usage in the words of the system's library. */
START_TEST(bad_regexes_are_refused)
{
	const char *bad = bad_regexes[_i];
	char words[256], *args, *want;
	struct world w;
	regex_t re;
	int rc;

	rc = regcomp(&re, bad, REG_EXTENDED | REG_ICASE | REG_NOSUB);
	ck_assert_msg(rc != 0, "%s", bad);
	regerror(rc, &re, words, sizeof words);
	ck_assert_uint_gt(strlen(words), 5);
	world_init(&w);
	args = xasprintf("--session-lost-pattern|%s|" URL, bad);
	want = xasprintf("--session-lost-pattern: \"%s\" is not a regular "
			 "expression: %s",
	    bad, words);
	ck_assert_int_eq(load(&w, args), -1);
	ck_assert_str_eq(w.why, want);
	ck_assert_ptr_null(w.o.origins);
	free(args);
	free(want);
	world_free(&w);
}
END_TEST

struct blank_case {
	const char *args;
	int at;            /* which argument is looked at */
	const char *after; /* what is left of it */
	const char *want;  /* the fields, without the warning */
};

static const struct blank_case blank_cases[] = {
	{ "-H|Authorization: Bearer abc", 2, "Authorization: xxxxxxxxxx",
	    "header=Authorization: Bearer abc;" },
	{ "-HAuthorization:abc", 1, "-HAuthorization:xxx",
	    "header=Authorization:abc;" },
	{ "--header=cookie: a=b", 1, "--header=cookie: xxx",
	    "header=cookie: a=b;" },
	{ "-vH|X-API-KEY: k", 2, "X-API-KEY: x",
	    "header=X-API-KEY: k;verbose=1;" },
	{ "-H|proxy-authorization: k", 2, "proxy-authorization: x",
	    "header=proxy-authorization: k;" },
	{ "-H|X-Secret-Id: k", 2, "X-Secret-Id: x", "header=X-Secret-Id: k;" },
	{ "-H|X-Passwd: k", 2, "X-Passwd: x", "header=X-Passwd: k;" },
	{ "-H|my-token: k", 2, "my-token: x", "header=my-token: k;" },
	{ "-H|Authorization: a$${b}c", 2, "Authorization: xxxxxxx",
	    "header=Authorization: a$${b}c;" },
	{ "--proxy-user|u:p", 2, "xxx", "proxy_user=u:p;" },
	{ "--proxy-user=u:${P}", 1, "--proxy-user=xxxxxx",
	    "proxy_user=u:${P};" },
	{ "-xhttp://u:p@h:1/", 1, "-xhttp://xxx@h:1/",
	    "proxy=http://u:p@h:1/;" },
	{ "--oauth2Bearer|abc", 2, "xxx", "header=Authorization: Bearer abc;" },
	{ "--static-oauth-client-info|{\"client_secret\":\"\"}", 2,
	    "xxxxxxxxxxxxxxxxxxxx", "info={\"client_secret\":\"\"};" },
	{ "--static-oauth-client-info|\"client_secret\":\"$a\"", 2,
	    "xxxxxxxxxxxxxxxxxxxx", "info=\"client_secret\":\"$a\";" },
	/* one that is said elsewhere does not hide one that is not */
	{ "--static-oauth-client-info=\"client_secret\": \"a${b}\"", 1,
	    "--static-oauth-client-info=xxxxxxxxxxxxxxxxxxxxxxxx",
	    "info=\"client_secret\": \"a${b}\";" },
};

START_TEST(secrets_are_blanked)
{
	const struct blank_case *c = &blank_cases[_i];
	struct world w;
	char *args, *want;

	world_init(&w);
	args = xasprintf("%s|" URL, c->args);
	want = xasprintf("%s" WARNING, c->want);
	ck_assert_msg(load(&w, args) == 0, "%s: %s", c->args, w.why);
	ck_assert_str_eq(w.argv[c->at], c->after);
	expect(&w, c->args, want);
	free(args);
	free(want);
	world_free(&w);
}
END_TEST

static const char *const plain_args[] = {
	"-H|Authorization: Bearer ${T}",
	"-H|X-Api-Key:${KEY}",
	"-H|Accept-Language: de",
	"-H|@/token",
	"-H|Authorization:",
	"--bearer-file|/secret",
	"-x|http://h:1/@",
	"--oauth2Bearer|${T}",
	"--static-oauth-client-info|@/client_secret\"",
	"--static-oauth-client-info|{\"client_secret\": \"${S}\"}",
	"--client-id|secret",
};

START_TEST(plain_values_stay)
{
	struct world w;
	char *args;
	const char *last = strrchr(plain_args[_i], '|') + 1;

	world_init(&w);
	args = xasprintf("%s|" URL, plain_args[_i]);
	ck_assert_msg(load(&w, args) == 0, "%s", w.why);
	ck_assert_str_eq(w.argv[2], last);
	ck_assert_uint_eq(w.o.warnings.n, 0);
	free(args);
	world_free(&w);
}
END_TEST

/* A secret is blanked even where a later argument is wrong. */
START_TEST(secrets_are_blanked_on_error)
{
	struct world w;

	world_init(&w);
	ck_assert_int_eq(load(&w, "-H|X-Key: abc|--wombat"), -1);
	ck_assert_str_eq(w.argv[2], "X-Key: xxx");
	/* an option that does not exist, because of this */
	ck_assert_int_eq(load(&w, "--client-secret|abc|" URL), -1);
	ck_assert_str_eq(w.argv[2], "xxx");
	ck_assert_str_eq(w.argv[3], URL);
	ck_assert_int_eq(load(&w, "--client-secret=abc|" URL), -1);
	ck_assert_str_eq(w.argv[1], "--client-secret=xxx");
	ck_assert_str_eq(w.argv[2], URL);
	world_free(&w);
}
END_TEST

struct file_case {
	const char *text, *want; /* want NULL: refused */
	const char *why;         /* behind "PATH:" */
};

static const struct file_case file_cases[] = {
	{ "", "", NULL },
	{ "# all\n\n  # comment\r\n\t\n", "", NULL },
	{ "replay = never\n", "replay=0;", NULL },
	{ "replay=never", "replay=0;", NULL },
	{ "replay: never\n", "replay=0;", NULL },
	{ "replay never\r\n", "replay=0;", NULL },
	{ "--replay never\n", "replay=0;", NULL },
	{ "  --replay = never  # so\n", "replay=0;", NULL },
	{ "-A x\n-v\n", "agent=x;verbose=1;", NULL },
	{ "A x\n", NULL,
	    "1: unknown option \"A\"; \"mcpsplice --help\" "
	    "lists them" },
	{ "user-agent = a b # c", "agent=a b;", NULL },
	{ "user-agent = a#b", "agent=a#b;", NULL },
	{ "user-agent = \"a # b\" # c", "agent=a # b;", NULL },
	{ "user-agent = \"a\\\"b\\\\c\\td\\q\"", "agent=a\"b\\c\tdq;", NULL },
	{ "user-agent = \"\"", "", NULL },
	{ "proxy = \"\"", "proxy=;", NULL },
	{ "header = X: y\nheader: \"Z: w\"\n", "header=X: y;header=Z: w;",
	    NULL },
	{ "header-file = /f\n", "header=@/f;", NULL },
	{ "fail\ncompressed = yes\nhttp2 = off\n", "compressed=1;fail=1;",
	    NULL },
	{ "no-cookies\ncookies\nno-cookies = on\n", "no_cookies=1;", NULL },
	{ "cookies = no\n", "no_cookies=1;", NULL },
	{ "no-fail = no\n", "fail=1;", NULL },
	{ "verbose = 2\n", "verbose=2;", NULL },
	{ "debug\n", "verbose=2;", NULL },
	{ "verbose\ndebug = no\n", "", NULL },
	{ "keep-alive\n", "ping=30000;", NULL },
	{ "keep-alive = yes\nping-interval = 5\n", "ping=5000;", NULL },
	{ "ping-interval = 5\nkeep-alive = off\n", "", NULL },
	{ "no-keep-alive = off\n", "ping=30000;", NULL },
	{ "keep-alive = 60\n", NULL,
	    "1: keep-alive: \"60\" is neither yes nor no" },
	{ "fail\nping-interval = 0.5\n", NULL,
	    "2: ping-interval: 0.5 is out of range, 1 to 2000000, or 0 for "
	    "never" },
	{ "session-lost-pattern = tenant \\(x\\) left # so\n"
	  "session-lost-pattern: \"a \\\\. #\"\n",
	    "lost=tenant \\(x\\) left;lost=a \\. #;", NULL },
	{ "[http://localhost/*]\nsession-lost-pattern = a b\n"
	  "session-lost-in-results\nno-memory\n",
	    "lost=a b;in_results=1;no_memory=1;", NULL },
	{ "[http://other/*]\nsession-lost-pattern = (\nno-memory\n", "", NULL },
	{ "memory = no\nsession-lost-in-results = yes\n",
	    "in_results=1;no_memory=1;", NULL },
	{ "\nsession-lost-pattern = \"\"\n", NULL,
	    "2: session-lost-pattern: \"\" matches even a blank text, so it "
	    "would match every answer" },
	{ "session-lost-pattern = a|b*\n", NULL,
	    "1: session-lost-pattern: \"a|b*\" matches even a blank text, so "
	    "it would match every answer" },
	{ "verbose\nverbose\n", "verbose=2;", NULL },
	{ "body-timeout = 3\n", NULL, "" }, /* see below */
	{ "host = localhost\nauth-timeout = 7\ndevice-code\n",
	    "auth=4;host=localhost;login=7000;", NULL },
	{ "device-code\ndevice-code = no\n", "", NULL },
	{ "client-id = i\nclient-secret-env = S\nauth-store: helper:a b\n"
	  "authorize-param = \"a = b\"\nno-browser\nscope = a b # c\n",
	    "client_id=i;secret_env=S;scope=a b;param=a = b;"
	    "store=helper:a b;no_browser=1;",
	    NULL },
	{ "[http://localhost/*]\nprofile = a\n[http://other/*]\n"
	  "profile = b\n",
	    "profile=a;", NULL },
	{ "\ncallback-host = ::\n", NULL,
	    "2: callback-host: \"::\" is not 127.0.0.1 or localhost; the "
	    "browser's answer is only taken on this machine" },
	{ "client-secret = x\n", NULL,
	    "1: there is no client-secret, a secret does not belong there; "
	    "use client-secret-file FILE or client-secret-env VAR" },
	{ "agent\n", NULL,
	    "1: unknown option \"agent\"; \"mcpsplice --help\" lists them" },
	{ "[*]\nfail\n", "fail=1;", NULL },
	{ "[http://localhost/*] # this\nfail\n", "fail=1;", NULL },
	{ "[http://other/*]\nfail\n[*]\nhttp2\n", "http2=1;", NULL },
	{ "[http://other/*]\nmax-depth = no number\n", "", NULL },
	{ "replay = always\n", NULL,
	    "1: replay: \"always\" is none of never|refused|safe" },
	{ "fail = maybe\n", NULL, "1: fail: \"maybe\" is neither yes nor no" },
	{ "verbose = x\n", NULL,
	    "1: verbose: \"x\" is not a number from 0 to 9" },
	{ "\n\ncacrt = x\n", NULL,
	    "3: unknown option \"cacrt\" (did you mean cacert?)" },
	{ "[http://other/*]\ncacrt = x\n", NULL,
	    "2: unknown option \"cacrt\" (did you mean cacert?)" },
	{ "cacert\n", NULL, "1: the value is missing; \"\" is an empty one" },
	{ "cacert = # x\n", NULL,
	    "1: the value is missing; \"\" is an empty one" },
	{ "user-agent = \"a\n", NULL, "1: the quotes do not close at the end" },
	{ "user-agent = \"a\\\"\n", NULL,
	    "1: the quotes do not close at the end" },
	{ "user-agent = \"a\" b\n", NULL,
	    "1: the quotes do not close at the end" },
	{ "= x\n", NULL, "1: no option's name" },
	{ "--\n", NULL, "1: no option's name" },
	{ "fail\nhelp\n", NULL, "2: \"help\" cannot stand in a file" },
	{ "version\n", NULL, "1: \"version\" cannot stand in a file" },
	{ "-h\n", NULL, "1: \"help\" cannot stand in a file" },
	{ "show-config\n", NULL, "1: \"show-config\" cannot stand in a file" },
	{ "config = x\n", NULL, "1: \"config\" cannot stand in a file" },
	{ "[http://x/*\n", NULL,
	    "1: a section is written as [https://HOST/*]" },
	{ "[]\n", NULL, "1: a section is written as [https://HOST/*]" },
	{ "[x] y\n", NULL, "1: a section is written as [https://HOST/*]" },
	{ "[http://x/*]\nurl = http://y\n", NULL,
	    "2: a section is chosen by the URL, it cannot set one" },
	{ "[http://x/*]\nstreamableHttp = http://y\n", NULL,
	    "2: a section is chosen by the URL, it cannot set one" },
};

START_TEST(files_are_read)
{
	const struct file_case *c = &file_cases[_i];
	struct world w;
	char *want;

	world_init(&w);
	write_file(w.extra, c->text, 0600);
	want = c->want != NULL ? xstrdup(c->want) :
				 xasprintf("%s:%s", w.extra, c->why);
	if (c->want == NULL && c->why[0] == '\0') {
		/* a note names its line */
		free(want);
		want = xasprintf("note=%s:1: body-timeout has no meaning yet: "
				 "ignored;",
		    w.extra);
		ck_assert_int_eq(load(&w, "-K|EXTRA|" URL), 0);
		expect(&w, c->text, want);
	} else if (c->want != NULL) {
		ck_assert_msg(load(&w, "-K|EXTRA|" URL) == 0, "%s: %s", c->text,
		    w.why);
		expect(&w, c->text, want);
	} else {
		ck_assert_msg(load(&w, "--config=EXTRA") == -1, "%s", c->text);
		ck_assert_msg(load(&w, "-K|EXTRA|" URL) == -1, "%s", c->text);
		ck_assert_str_eq(w.why, want);
	}
	free(want);
	world_free(&w);
}
END_TEST

START_TEST(a_nul_byte_in_a_file)
{
	static const char text[] = "fail\nuser-agent = a\0b\n";
	struct world w;
	FILE *f;

	world_init(&w);
	f = fopen(w.etc, "w");
	ck_assert_ptr_nonnull(f);
	ck_assert(fwrite(text, 1, sizeof text - 1, f) == sizeof text - 1);
	fclose(f);
	ck_assert_int_eq(load(&w, URL), -1);
	ck_assert_ptr_nonnull(strstr(w.why, "/etc:2: a NUL byte"));
	world_free(&w);
}
END_TEST

START_TEST(files_that_are_not_there)
{
	struct world w;

	world_init(&w);
	ck_assert_int_eq(load(&w, URL), 0);
	options_free(&w.o);
	ck_assert_int_eq(load(&w, "-K|EXTRA|" URL), -1);
	ck_assert_ptr_nonnull(strstr(w.why,
	    "cannot read the configuration "
	    "file /tmp/check_options."));
	ck_assert_ptr_nonnull(strstr(w.why, "No such file"));
	/* one that is there and cannot be read is an error in any place */
	ck_assert_int_eq(mkdir(w.home, 0700), 0);
	ck_assert_int_eq(load(&w, URL), -1);
	ck_assert_ptr_nonnull(strstr(w.why, "/home: "));
	/* but help is given even then */
	ck_assert_int_eq(load(&w, "--help"), 0);
	ck_assert_int_eq(rmdir(w.home), 0);
	/* the folder of the default file is no folder */
	write_file(w.extra, "", 0600);
	free(w.home);
	w.home = xasprintf("%s/config", w.extra);
	options_free(&w.o);
	ck_assert_msg(load(&w, URL) == 0, "%s", w.why);
	world_free(&w);
}
END_TEST

/* Each source beats the one before it. */
START_TEST(the_order_of_the_sources)
{
	static const char
	    *const env = "MCPSPLICE_REPLAY=never|MCPSPLICE_CACERT=env";
	struct world w;

	world_init(&w);
	w.env = "SSL_CERT_FILE=ssl";
	ck_assert_int_eq(load(&w, URL), 0);
	expect(&w, "ordinary variable", "cacert=ssl;");
	options_free(&w.o);
	w.env = "CURL_CA_BUNDLE=curl|SSL_CERT_FILE=ssl";
	ck_assert_int_eq(load(&w, URL), 0);
	expect(&w, "curl's variable first", "cacert=curl;");
	options_free(&w.o);

	write_file(w.etc, "cacert = etc\nverbose = 1\n", 0644);
	ck_assert_int_eq(load(&w, URL), 0);
	expect(&w, "etc", "cacert=etc;verbose=1;");
	options_free(&w.o);
	write_file(w.home, "cacert = home\nreplay = refused\n", 0644);
	ck_assert_int_eq(load(&w, URL), 0);
	expect(&w, "home", "cacert=home;replay=1;verbose=1;");
	options_free(&w.o);
	w.env = env;
	ck_assert_int_eq(load(&w, URL), 0);
	expect(&w, "environment", "cacert=env;replay=0;verbose=1;");
	options_free(&w.o);
	write_file(w.extra, "cacert = extra\nfail\n", 0644);
	ck_assert_int_eq(load(&w, "--config|EXTRA|" URL), 0);
	expect(&w, "config", "cacert=extra;replay=0;fail=1;verbose=1;");
	options_free(&w.o);
	/* argv wins wherever it stands; a heavier count starts anew, an empty
	 * value is the default again */
	ck_assert_int_eq(load(&w,
			     "--cacert|argv|-vv|--replay=|-K|EXTRA|"
			     "--no-fail|" URL),
	    0);
	expect(&w, "argv", "cacert=argv;verbose=2;");
	world_free(&w);
}
END_TEST

/* Headers add up, but one of the same name replaces those that weigh less. */
START_TEST(the_order_of_headers)
{
	struct world w;

	world_init(&w);
	write_file(w.etc, "header = A: etc\nheader = B: etc\nheader = @f\n",
	    0600);
	write_file(w.home, "header = a: home\nheader = AB: home\n", 0600);
	w.env = "MCPSPLICE_HEADER=C: env\r\n\nD: env\n|MCPSPLICE_RESOLVE=a\nb";
	ck_assert_int_eq(load(&w, "-H|D: argv|-H|d: argv2|" URL), 0);
	expect(&w, "headers",
	    "header=B: etc;header=@f;header=a: home;header=AB: home;"
	    "header=C: env;header=D: argv;header=d: argv2;"
	    "resolve=a;resolve=b;");
	world_free(&w);
}
END_TEST

START_TEST(the_environment)
{
	struct world w;

	world_init(&w);
	w.env = "MCPSPLICE_URL=" URL
		"|MCPSPLICE_FAIL=yes|MCPSPLICE_NO_COOKIES=1|"
		"MCPSPLICE_VERBOSE=2|MCPSPLICE_MAX_DEPTH=7|MCPSPLICE_QUIET=0|"
		"MCPSPLICE_HEADER_FILE=/f|MCPSPLICE_HOST=ignored|"
		"MCPSPLICE_DEBUG=1|MCPSPLICE_HELP=1|MCPSPLICE_PROXY=|"
		"NODE_EXTRA_CA_CERTS=node|NO_PROXY=upper|no_proxy=lower|"
		"http_proxy=http://p|MCPSPLICE_CALL_TIMEOUT=1.5";
	ck_assert_msg(load(&w, "") == 0, "%s", w.why);
	expect(&w, "environment",
	    "header=@/f;no_cookies=1;noproxy=lower;cacert_extra=node;"
	    "call=1500;depth=7;fail=1;verbose=2;");
	options_free(&w.o);
	w.env = "MCPSPLICE_SESSION_LOST_PATTERN=a b\n\n[(]c\r\n|"
		"MCPSPLICE_SESSION_LOST_IN_RESULTS=1|MCPSPLICE_NO_MEMORY=on|"
		"MCPSPLICE_KEEP_ALIVE=1";
	ck_assert_msg(load(&w, URL) == 0, "%s", w.why);
	expect(&w, "environment",
	    "ping=30000;lost=a b;lost=[(]c;in_results=1;no_memory=1;");
	options_free(&w.o);
	w.env = "MCPSPLICE_AUTH=device|MCPSPLICE_PROFILE=p|BROWSER=lynx|"
		"MCPSPLICE_AUTHORIZE_PARAM=a=b\nc=d|MCPSPLICE_NO_RESOURCE=1|"
		"MCPSPLICE_DEVICE_CODE=0|MCPSPLICE_CLIENT_SECRET=x|"
		"MCPSPLICE_LOGIN_TIMEOUT=60|MCPSPLICE_CALLBACK_PORT=7|"
		"MCPSPLICE_STATIC_OAUTH_CLIENT_INFO=x|MCPSPLICE_AGENT=1";
	ck_assert_msg(load(&w, URL) == 0, "%s", w.why);
	expect(&w, "environment",
	    "auth=4;no_resource=1;param=a=b;param=c=d;port=7;login=60000;"
	    "browser=lynx;profile=p;");
	options_free(&w.o);
	/* what is for all programs contradicts nothing */
	ck_assert_msg(load(&w, "--no-browser|" URL) == 0, "%s", w.why);
	ck_assert(w.o.no_browser);
	options_free(&w.o);
	ck_assert_msg(load(&w, "--browser|b|" URL) == 0, "%s", w.why);
	ck_assert_str_eq(w.o.browser, "b");
	options_free(&w.o);
	/* the number says more than the switch */
	w.env = "MCPSPLICE_PING_INTERVAL=7|MCPSPLICE_KEEP_ALIVE=1";
	ck_assert_msg(load(&w, URL) == 0, "%s", w.why);
	expect(&w, "environment", "ping=7000;");
	options_free(&w.o);
	/* an argument beats both; patterns add up */
	w.env = "MCPSPLICE_PING_INTERVAL=7|MCPSPLICE_SESSION_LOST_PATTERN=a";
	ck_assert_msg(load(&w, "--session-lost-pattern|b|--keep-alive|" URL) ==
		0,
	    "%s", w.why);
	expect(&w, "environment", "ping=30000;lost=a;lost=b;");
	options_free(&w.o);
	w.env = "MCPSPLICE_SESSION_LOST_PATTERN=good\na?";
	ck_assert_int_eq(load(&w, URL), -1);
	ck_assert_str_eq(w.why,
	    "MCPSPLICE_SESSION_LOST_PATTERN: \"a?\" "
	    "matches even a blank text, so it would match every answer");
	w.env = "MCPSPLICE_KEEP_ALIVE=30";
	ck_assert_int_eq(load(&w, URL), -1);
	ck_assert_str_eq(w.why,
	    "MCPSPLICE_KEEP_ALIVE: \"30\" is neither yes nor no");
	w.env = "MCPSPLICE_MAX_DEPTH=x";
	ck_assert_int_eq(load(&w, URL), -1);
	ck_assert_str_eq(w.why, "MCPSPLICE_MAX_DEPTH: \"x\" is not a number");
	w.env = "MCPSPLICE_FAIL=x";
	ck_assert_int_eq(load(&w, URL), -1);
	ck_assert_str_eq(w.why, "MCPSPLICE_FAIL: \"x\" is neither yes nor no");
	world_free(&w);
}
END_TEST

START_TEST(the_url_of_files)
{
	struct world w;

	world_init(&w);
	write_file(w.etc,
	    "url = https://etc/\n[https://etc/*]\nfail\n"
	    "[https://home/*]\nhttp2\n[https://env/*]\n"
	    "compressed\n",
	    0600);
	ck_assert_int_eq(load(&w, ""), 0);
	expect(&w, "etc", "url=https://etc/;fail=1;");
	options_free(&w.o);
	write_file(w.home, "[*]\nurl: https://home/\n", 0600);
	ck_assert_int_eq(load(&w, ""), 0);
	expect(&w, "home", "url=https://home/;http2=1;");
	options_free(&w.o);
	w.env = "MCPSPLICE_URL=https://env/";
	ck_assert_int_eq(load(&w, ""), 0);
	expect(&w, "env", "url=https://env/;compressed=1;");
	options_free(&w.o);
	ck_assert_int_eq(load(&w, "https://argv/"), 0);
	expect(&w, "argv", "url=https://argv/;");
	options_free(&w.o);
	write_file(w.etc, "url = etc/mcp\n", 0600);
	w.env = NULL;
	unlink(w.home);
	ck_assert_int_eq(load(&w, ""), -1);
	ck_assert_str_eq(w.why,
	    "\"etc/mcp\" has no scheme; did you mean "
	    "https://etc/mcp?");
	/* without any URL only what counts always is shown */
	write_file(w.etc, "http2\n[http://x/*]\nfail\n", 0600);
	ck_assert_int_eq(load(&w, "--show-config"), 0);
	expect(&w, "no URL", "url=-;http2=1;show=1;");
	world_free(&w);
}
END_TEST

START_TEST(config_from_the_environment)
{
	struct world w;
	char *env;

	world_init(&w);
	env = xasprintf("MCPSPLICE_FAIL=no|MCPSPLICE_CONFIG=%s", w.extra);
	w.env = env;
	ck_assert_int_eq(load(&w, URL), -1);
	write_file(w.extra, "fail\n", 0600);
	ck_assert_int_eq(load(&w, URL), 0);
	expect(&w, "MCPSPLICE_CONFIG", "fail=1;");
	free(env);
	world_free(&w);
}
END_TEST

struct mode_case {
	const char *text;
	mode_t mode;
	bool warns;
};

static const struct mode_case mode_cases[] = {
	{ "header = X-Key: abc\n", 0644, true },
	{ "header = X-Key: abc\n", 0640, true },
	{ "header = X-Key: abc\n", 0604, true },
	{ "header = X-Key: abc\n", 0600, false },
	{ "header = X-Key: ${V}\n", 0644, false },
	{ "header = X-Tenant: abc\n", 0644, false },
	{ "header = @/f\n", 0644, false },
	{ "proxy-user = u:p\n", 0644, true },
	{ "proxy = http://u:p@h\n", 0644, true },
	{ "[http://other/*]\nproxy-user = u:p\n", 0644, true },
	{ "fail\n", 0644, false },
};

START_TEST(open_files_are_warned_about)
{
	const struct mode_case *c = &mode_cases[_i];
	struct world w;
	char *want;

	world_init(&w);
	write_file(w.etc, c->text, c->mode);
	ck_assert_int_eq(load(&w, URL), 0);
	ck_assert_uint_eq(w.o.warnings.n, c->warns);
	if (c->warns) {
		want = xasprintf("%s holds a secret and can be read by other "
				 "users; \"chmod 600\" it",
		    w.etc);
		ck_assert_str_eq(w.o.warnings.list[0], want);
		free(want);
	}
	world_free(&w);
}
END_TEST

struct match_case {
	const char *pattern, *url;
	bool match;
};

static const struct match_case match_cases[] = {
	{ "*", "https://h/x", true },
	{ "https://h/*", "https://h/x", true },
	{ "https://h/*", "https://h/", true },
	{ "https://h/*", "https://h", true },
	{ "https://h/*", "http://h/x", false },
	{ "https://h/*", "https://h:8/x", false },
	{ "https://h:443/*", "https://h/x", true },
	{ "https://h/*", "https://h:443/x", true },
	{ "https://h", "https://h/any/path?q", true },
	{ "https://h", "https://hh/", false },
	{ "https://h/", "https://h/x", false },
	{ "https://h/a*c", "https://h/a/b/c", true },
	{ "https://h/a*c", "https://h/a/b/C", false },
	{ "https://h/a*c", "https://h/a/b/cd", false },
	{ "https://h/*?x=1", "https://h/a?x=1", true },
	{ "HTTPS://H.Example/*", "https://h.example/x", true },
	{ "https://*.example.com/*", "https://a.b.example.com/x", true },
	{ "https://*.example.com/*", "https://example.com/x", false },
	/* a path of another host never meets a host's pattern */
	{ "https://*.example.com/*", "https://evil.net/x.example.com/", false },
	{ "*example.com/*", "https://evil.net/?example.com/", false },
	{ "https://*.example.com/*", "https://evil.net?.example.com/", false },
	{ "example.com/*", "http://example.com/x", true },
	{ "*://h/*", "http://h/x", true },
	{ "http*://h/*", "https://h/x", true },
	{ "http://localhost:*", "http://localhost:8080/mcp", true },
	{ "https://[::1]:8/*", "https://[::1]:8/x", true },
	{ "https://h/*a*a*a*b", "https://h/aaaaaaaaaaaaaaaaaaaaaaaaaa", false },
	{ "**", "https://h/", true },
};

START_TEST(sections_match)
{
	const struct match_case *c = &match_cases[_i];
	struct url u;

	ck_assert_int_eq(url_parse(&u, c->url), URL_OK);
	ck_assert_msg(option_file_match(c->pattern, &u) == c->match, "%s %s",
	    c->pattern, c->url);
	ck_assert(option_file_match(c->pattern, NULL) ==
	    (strcmp(c->pattern, "*") == 0));
	url_free(&u);
}
END_TEST

static bool
has_line(const char *text, const char *first, const char *middle,
    const char *last)
{
	const char *end;
	char *line;
	bool hit = false;

	for (; *text != '\0' && !hit; text = end + 1) {
		end = strchr(text, '\n');
		ck_assert_ptr_nonnull(end);
		line = xstrndup(text, (size_t)(end - text));
		hit = strncmp(line, first, strlen(first)) == 0 &&
		    line[strlen(first)] == ' ' &&
		    strstr(line, middle) != NULL &&
		    strlen(line) > strlen(last) &&
		    strcmp(line + strlen(line) - strlen(last), last) == 0;
		free(line);
	}
	return hit;
}

START_TEST(values_are_shown_with_their_origin)
{
	struct world w;
	char *text, *at;

	world_init(&w);
	write_file(w.etc, "# 1\nheader = X-Key: CANARY1\nmax-depth = 3\n",
	    0600);
	write_file(w.home, "proxy-user = a:CANARY2\n", 0600);
	w.env = "MCPSPLICE_HEADER=Cookie: CANARY3|MCPSPLICE_FAIL=1|"
		"NODE_EXTRA_CA_CERTS=/n|CURL_CA_BUNDLE=/c|"
		"MCPSPLICE_NO_MEMORY=1";
	ck_assert_int_eq(load(&w,
			     "-x|http://u:CANARY4@p:1|--oauth2Bearer|"
			     "CANARY5|-H|Plain: CANARY6|-H|@/f|"
			     "https://h/x?key=CANARY7|--show-config|"
			     "--call-timeout|2.50|-A|a\nb|--ping-interval|"
			     "9|--keep-alive|--session-lost-pattern|a b|"
			     "--session-lost-pattern|c\nd"),
	    0);
	text = options_show(&w.o);
	ck_assert_msg(strstr(text, "CANARY") == NULL, "%s", text);
	at = xasprintf("%s:2", w.etc);
	ck_assert(has_line(text, "header", "X-Key: (set)", at));
	free(at);
	at = xasprintf("%s:3", w.etc);
	ck_assert(has_line(text, "max-depth", "3", at));
	free(at);
	at = xasprintf("%s:1", w.home);
	ck_assert(has_line(text, "proxy-user", "(set)", at));
	free(at);
	ck_assert(has_line(text, "header", "Cookie: (set)",
	    "environment MCPSPLICE_HEADER"));
	ck_assert(has_line(text, "header", "Authorization: (set)",
	    "command line"));
	ck_assert(has_line(text, "header", "Plain: (set)", "command line"));
	ck_assert(has_line(text, "header", "@/f", "command line"));
	ck_assert(has_line(text, "proxy", "http://(set)@p:1", "command line"));
	ck_assert(has_line(text, "url", "https://h/x?(set)", "command line"));
	ck_assert(has_line(text, "fail", "yes", "environment MCPSPLICE_FAIL"));
	ck_assert(has_line(text, "cacert", "/c", "environment CURL_CA_BUNDLE"));
	ck_assert(has_line(text, "NODE_EXTRA_CA_CERTS", "/n",
	    "environment NODE_EXTRA_CA_CERTS"));
	ck_assert(has_line(text, "call-timeout", "2.5 ", "command line"));
	ck_assert(has_line(text, "max-result", "10176K", "default"));
	ck_assert(has_line(text, "max-message", "128M", "default"));
	ck_assert(has_line(text, "ping-interval", " 30 ", "command line"));
	ck_assert_ptr_null(strstr(text, "keep-alive"));
	ck_assert(has_line(text, "session-lost-pattern", " a b ",
	    "command "
	    "line"));
	ck_assert(has_line(text, "session-lost-pattern", " c\\x0ad ",
	    "command line"));
	ck_assert(has_line(text, "session-lost-in-results", " no ", "default"));
	ck_assert(has_line(text, "no-memory", " yes ",
	    "environment MCPSPLICE_NO_MEMORY"));
	ck_assert(has_line(text, "replay", "safe", "default"));
	ck_assert(has_line(text, "log-format", "text", "default"));
	ck_assert(has_line(text, "user-agent", "a\\x0ab", "command line"));
	ck_assert(has_line(text, "resolve", "(none)", "default"));
	ck_assert_ptr_null(strstr(text, "auth-success-url"));
	ck_assert_ptr_null(strstr(text, "auth-timeout"));
	ck_assert_ptr_null(strstr(text, "device-code"));
	ck_assert_ptr_null(strstr(text, "show-config"));
	free(text);
	world_free(&w);
}
END_TEST

/* Every row that is not hidden is in --help, which fits a screen. */
START_TEST(sign_in_is_shown)
{
	static const char *const lines[][3] = {
		{ "auth", " client-credentials ", "command line" },
		{ "client-id", " i ", "command line" },
		{ "client-secret-env", " S ", "command line" },
		{ "issuer", " (none) ", "default" },
		{ "authorize-param", " a=b ", "command line" },
		{ "authorize-param", " c=d ", "command line" },
		{ "callback-port", " 3334 ", "command line" },
		{ "callback-host", " localhost ", "command line" },
		{ "callback-path", " /callback ", "default" },
		{ "login-timeout", " 90 ", "command line" },
		{ "browser", " lynx ", "environment BROWSER" },
		{ "no-browser", " no ", "default" },
		{ "auth-store", " file ", "default" },
		{ "static-oauth-client-info", " (none) ", "default" },
		{ "static-oauth-client-metadata", " {} ", "command line" },
	};
	struct world w;
	char *text;
	size_t i;

	world_init(&w);
	w.env = "BROWSER=lynx|S=CANARY1";
	ck_assert_msg(load(&w,
			  URL "|3334|--show-config|--client-credentials|"
			      "--client-id|i|--client-secret-env|S|"
			      "--authorize-param|a=b|--authorize-param|c=d|"
			      "--host|localhost|--auth-timeout|90|"
			      "--static-oauth-client-metadata|{}") == 0,
	    "%s", w.why);
	text = options_show(&w.o);
	for (i = 0; i < COUNT(lines); i++)
		ck_assert_msg(has_line(text, lines[i][0], lines[i][1],
				  lines[i][2]),
		    "%s\n%s", lines[i][0], text);
	free(text);
	options_free(&w.o);
	ck_assert_int_eq(load(&w,
			     URL "|--static-oauth-client-info|"
				 "{\"client_secret\":\"CANARY2\"}"),
	    0);
	text = options_show(&w.o);
	ck_assert_ptr_null(strstr(text, "CANARY"));
	ck_assert(has_line(text, "static-oauth-client-info", " (set) ",
	    "command line"));
	free(text);
	world_free(&w);
}
END_TEST

/* A failure leaves the command, for whoever tells about it. */
START_TEST(the_command_of_a_failure)
{
	struct world w;

	world_init(&w);
	ck_assert_int_eq(load(&w, "login|--wombat"), -1);
	ck_assert_int_eq(w.o.command, COMMAND_LOGIN);
	ck_assert_int_eq(load(&w, "logout"), -1);
	ck_assert_int_eq(w.o.command, COMMAND_LOGOUT);
	ck_assert_int_eq(load(&w, "--wombat"), -1);
	ck_assert_int_eq(w.o.command, COMMAND_PROXY);
	world_free(&w);
}
END_TEST

/* The copy has what is blanked in the process's own. */
START_TEST(the_copy_of_argv)
{
	static const char *const want[] = { "mcpsplice", "-H", "X-Key: abc",
		"--oauth2Bearer=def", URL, "80" };
	struct world w;
	size_t i;

	world_init(&w);
	ck_assert_int_eq(load(&w,
			     "-H|X-Key: abc|--oauth2Bearer=def|" URL "|80"),
	    0);
	ck_assert_str_eq(w.argv[2], "X-Key: xxx");
	for (i = 0; i < COUNT(want); i++)
		ck_assert_str_eq(w.o.argv[i], want[i]);
	ck_assert_ptr_null(w.o.argv[i]);
	options_free(&w.o);
	ck_assert_ptr_null(w.o.argv);
	ck_assert_int_eq(load(&w, "login|--agent"), 0);
	ck_assert_str_eq(w.o.argv[2], "--agent");
	ck_assert_ptr_null(w.o.argv[3]);
	world_free(&w);
}
END_TEST

/* What other rooms ask. */
START_TEST(what_the_options_say)
{
	static const struct {
		const char *args, *credential, *helper;
	} cases[] = {
		{ URL, NULL, NULL },
		{ "-H|X-Key: a|-H|@f|" URL, NULL, NULL },
		{ "-H|Authorizations: a|" URL, NULL, NULL },
		{ "-H|AUTHORIZATION : a|" URL, "an Authorization header",
		    NULL },
		{ "--bearer-file|f|" URL, "--bearer-file", NULL },
		{ "--auth-command|f|" URL, "--auth-command", NULL },
		{ "--netrc-file|f|" URL, "--netrc-file", NULL },
		{ "--auth-store|helper:a b|" URL, NULL, "a b" },
		{ "--auth-store|file|" URL, NULL, NULL },
	};
	struct world w;
	size_t i;

	world_init(&w);
	for (i = 0; i < COUNT(cases); i++) {
		ck_assert_int_eq(load(&w, cases[i].args), 0);
		ck_assert_pstr_eq(options_given_credential(&w.o),
		    cases[i].credential);
		ck_assert_pstr_eq(options_store_helper(&w.o), cases[i].helper);
		options_free(&w.o);
	}
	world_free(&w);
}
END_TEST

START_TEST(help_has_all)
{
	char *text = options_help(), *name, *line;
	const struct option_row *row;
	size_t i, lines = 0;

	for (i = 0; i < option_table_rows; i++) {
		row = &option_table[i];
		name = xasprintf("--%s%s%s", row->name,
		    row->arg == NULL ? "" : " ",
		    row->arg == NULL ? "" : row->arg);
		ck_assert_msg((strstr(text, name) != NULL) ==
			((row->flags &
			     (OPTION_HIDDEN | OPTION_NO_ARGV |
				 OPTION_UNLISTED)) == 0),
		    "%s", name);
		free(name);
	}
	ck_assert_int_eq(strncmp(text, "usage: mcpsplice ", 17), 0);
	for (line = text; *line != '\0'; lines++) {
		ck_assert_uint_le(strcspn(line, "\n"), 79);
		line += strcspn(line, "\n") + 1;
	}
	ck_assert_uint_le(lines, 40);
	free(text);
}
END_TEST

/* The table itself: no name or letter twice, aliases lead somewhere. */
START_TEST(the_table)
{
	const struct option_row *row, *other;
	size_t i, j;

	for (i = 0; i < option_table_rows; i++) {
		row = &option_table[i];
		ck_assert_ptr_nonnull(option_table_main(row));
		for (j = 0; j < i; j++) {
			other = &option_table[j];
			ck_assert_str_ne(row->name, other->name);
			ck_assert(row->letter == '\0' ||
			    row->letter != other->letter);
		}
	}
}
END_TEST

/* options_load itself: the process's environment and HOME. */
START_TEST(the_process)
{
	char name[] = "mcpsplice", url[] = URL, *argv[] = { name, url, NULL };
	struct world w;
	char *dir, *file;

	world_init(&w);
	dir = xasprintf("%s/.config", w.dir);
	ck_assert_int_eq(mkdir(dir, 0700), 0);
	file = xasprintf("%s/mcpsplice", dir);
	ck_assert_int_eq(mkdir(file, 0700), 0);
	free(w.home);
	w.home = xasprintf("%s/config", file);
	write_file(w.home, "max-depth = 9\n", 0600);
	ck_assert_int_eq(setenv("HOME", w.dir, 1), 0);
	ck_assert_int_eq(setenv("XDG_CONFIG_HOME", "/nonexistent", 1), 0);
	ck_assert_int_eq(setenv("MCPSPLICE_FAIL", "1", 1), 0);
	ck_assert_int_eq(options_load(&w.o, 2, argv, &w.why), 0);
	ck_assert_uint_eq(w.o.max_depth, 9);
	ck_assert(w.o.fail);
	options_free(&w.o);
	ck_assert_int_eq(setenv("HOME", "/nonexistent", 1), 0);
	ck_assert_int_eq(options_load(&w.o, 2, argv, &w.why), 0);
	ck_assert_uint_eq(w.o.max_depth, 512);
	options_free(&w.o);
	ck_assert_int_eq(unsetenv("HOME"), 0);
	ck_assert_int_eq(options_load(&w.o, 2, argv, &w.why), 0);
	unlink(w.home);
	rmdir(file);
	rmdir(dir);
	free(file);
	free(dir);
	world_free(&w);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("options");
	TCase *t = tcase_create("options");

	tcase_add_loop_test(t, argv_is_read, 0, COUNT(argv_cases));
	tcase_add_loop_test(t, operands_are_read, 0, COUNT(operand_cases));
	tcase_add_loop_test(t, argv_is_refused, 0, COUNT(refused_cases));
	tcase_add_loop_test(t, bad_regexes_are_refused, 0, COUNT(bad_regexes));
	tcase_add_loop_test(t, secrets_are_blanked, 0, COUNT(blank_cases));
	tcase_add_loop_test(t, plain_values_stay, 0, COUNT(plain_args));
	tcase_add_test(t, secrets_are_blanked_on_error);
	tcase_add_loop_test(t, files_are_read, 0, COUNT(file_cases));
	tcase_add_test(t, a_nul_byte_in_a_file);
	tcase_add_test(t, files_that_are_not_there);
	tcase_add_test(t, the_order_of_the_sources);
	tcase_add_test(t, the_order_of_headers);
	tcase_add_test(t, the_environment);
	tcase_add_test(t, the_url_of_files);
	tcase_add_test(t, config_from_the_environment);
	tcase_add_loop_test(t, open_files_are_warned_about, 0,
	    COUNT(mode_cases));
	tcase_add_loop_test(t, sections_match, 0, COUNT(match_cases));
	tcase_add_test(t, values_are_shown_with_their_origin);
	tcase_add_test(t, sign_in_is_shown);
	tcase_add_test(t, the_command_of_a_failure);
	tcase_add_test(t, the_copy_of_argv);
	tcase_add_test(t, what_the_options_say);
	tcase_add_test(t, help_has_all);
	tcase_add_test(t, the_table);
	tcase_add_test(t, the_process);
	suite_add_tcase(s, t);
	return unit_run(s);
}
