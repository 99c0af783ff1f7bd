/*
 * options/options: the sources and their order, the environment, and what a
 * user is shown. What is for signing in is in check_auth.c.
 */
#include "config.h"

#include "options/options.h"

#include <sys/stat.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/bounds.h"
#include "options/set.h"
#include "options/table.h"
#include "unit/options/options_play.h"

/* Each source beats the one before it. */
START_TEST(the_order_of_the_sources)
{
	static const char
	    *const env = "MCPSPLICE_REPLAY=never|MCPSPLICE_CACERT=env";
	struct world w;

	world_init(&w);
	w.env = "SSL_CERT_FILE=ssl";
	ck_assert_int_eq(world_load(&w, URL), 0);
	world_expect(&w, "ordinary variable", "cacert=ssl;");
	options_free(&w.o);
	w.env = "CURL_CA_BUNDLE=curl|SSL_CERT_FILE=ssl";
	ck_assert_int_eq(world_load(&w, URL), 0);
	world_expect(&w, "curl's variable first", "cacert=curl;");
	options_free(&w.o);

	world_file(w.etc, "cacert = etc\nverbose = 1\n", 0644);
	ck_assert_int_eq(world_load(&w, URL), 0);
	world_expect(&w, "etc", "cacert=etc;verbose=1;");
	options_free(&w.o);
	world_file(w.home, "cacert = home\nreplay = refused\n", 0644);
	ck_assert_int_eq(world_load(&w, URL), 0);
	world_expect(&w, "home", "cacert=home;replay=1;verbose=1;");
	options_free(&w.o);
	w.env = env;
	ck_assert_int_eq(world_load(&w, URL), 0);
	world_expect(&w, "environment", "cacert=env;replay=0;verbose=1;");
	options_free(&w.o);
	world_file(w.extra, "cacert = extra\nfail\n", 0644);
	ck_assert_int_eq(world_load(&w, "--config|EXTRA|" URL), 0);
	world_expect(&w, "config", "cacert=extra;replay=0;fail=1;verbose=1;");
	options_free(&w.o);
	/* argv wins wherever it stands; a heavier count starts anew, an empty
	 * value is the default again */
	ck_assert_int_eq(world_load(&w,
			     "--cacert|argv|-vv|--replay=|-K|EXTRA|"
			     "--no-fail|" URL),
	    0);
	world_expect(&w, "argv", "cacert=argv;verbose=2;");
	world_free(&w);
}
END_TEST

/* Headers add up, but one of the same name replaces those that weigh less. */
START_TEST(the_order_of_headers)
{
	struct world w;

	world_init(&w);
	world_file(w.etc, "header = A: etc\nheader = B: etc\nheader = @f\n",
	    0600);
	world_file(w.home, "header = a: home\nheader = AB: home\n", 0600);
	w.env =
	    "MCPSPLICE_HEADER=C: env\r\n\nD: env\n|MCPSPLICE_RESOLVE=-a:1\n-b:2";
	ck_assert_int_eq(world_load(&w, "-H|D: argv|-H|d: argv2|" URL), 0);
	world_expect(&w, "headers",
	    "header=B: etc;header=@f;header=a: home;header=AB: home;"
	    "header=C: env;header=D: argv;header=d: argv2;"
	    "resolve=-a:1;resolve=-b:2;");
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
	ck_assert_msg(world_load(&w, "") == 0, "%s", w.why);
	world_expect(&w, "environment",
	    "header=@/f;no_cookies=1;noproxy=lower;cacert_extra=node;"
	    "call=1500;depth=7;fail=1;verbose=2;");
	options_free(&w.o);
	w.env = "MCPSPLICE_SESSION_LOST_PATTERN=a b\n\n[(]c\r\n|"
		"MCPSPLICE_SESSION_LOST_IN_RESULTS=1|MCPSPLICE_NO_MEMORY=on|"
		"MCPSPLICE_KEEP_ALIVE=1";
	ck_assert_msg(world_load(&w, URL) == 0, "%s", w.why);
	world_expect(&w, "environment",
	    "ping=30000;lost=a b;lost=[(]c;in_results=1;no_memory=1;");
	options_free(&w.o);
	w.env = "MCPSPLICE_PROTOCOL=modern|MCPSPLICE_TRANSPORT=http-only|"
		"MCPSPLICE_SSE=http://localhost/sse";
	ck_assert_msg(world_load(&w, URL) == 0, "%s", w.why);
	world_expect(&w, "environment", "protocol=2;transport=1;");
	options_free(&w.o);
	/* the number says more than the switch */
	w.env = "MCPSPLICE_PING_INTERVAL=7|MCPSPLICE_KEEP_ALIVE=1";
	ck_assert_msg(world_load(&w, URL) == 0, "%s", w.why);
	world_expect(&w, "environment", "ping=7000;");
	options_free(&w.o);
	/* argv overrides both; patterns add up */
	w.env = "MCPSPLICE_PING_INTERVAL=7|MCPSPLICE_SESSION_LOST_PATTERN=a";
	ck_assert_msg(world_load(&w,
			  "--session-lost-pattern|b|--keep-alive|" URL) == 0,
	    "%s", w.why);
	world_expect(&w, "environment", "ping=30000;lost=a;lost=b;");
	options_free(&w.o);
	w.env = "MCPSPLICE_SESSION_LOST_PATTERN=good\na?";
	ck_assert_int_eq(world_load(&w, URL), -1);
	ck_assert_str_eq(w.why,
	    "MCPSPLICE_SESSION_LOST_PATTERN: \"a?\" "
	    "matches even blank text, so it would match every answer");
	w.env = "MCPSPLICE_IGNORE_TOOL=ok\n'delete*'";
	ck_assert_int_eq(world_load(&w, URL), -1);
	ck_assert_ptr_nonnull(strstr(w.why,
	    "MCPSPLICE_IGNORE_TOOL \"'delete*'\" contains"));
	w.env = "MCPSPLICE_KEEP_ALIVE=30";
	ck_assert_int_eq(world_load(&w, URL), -1);
	ck_assert_str_eq(w.why,
	    "MCPSPLICE_KEEP_ALIVE: \"30\" is not yes or no");
	w.env = "MCPSPLICE_MAX_DEPTH=x";
	ck_assert_int_eq(world_load(&w, URL), -1);
	ck_assert_str_eq(w.why, "MCPSPLICE_MAX_DEPTH: \"x\" is not a number");
	w.env = "MCPSPLICE_TRANSPORT=x";
	ck_assert_int_eq(world_load(&w, URL), -1);
	ck_assert_str_eq(w.why,
	    "MCPSPLICE_TRANSPORT: \"x\" is not one of auto|http|sse");
	w.env = "MCPSPLICE_FAIL=x";
	ck_assert_int_eq(world_load(&w, URL), -1);
	ck_assert_str_eq(w.why,
	    "MCPSPLICE_FAIL: \"x\" is not yes, no or \"any\"");
	world_free(&w);
}
END_TEST

START_TEST(the_url_of_files)
{
	struct world w;

	world_init(&w);
	world_file(w.etc,
	    "url = https://etc/\n[https://etc/*]\nfail\n"
	    "[https://home/*]\nhttp2\n[https://env/*]\n"
	    "compressed\n",
	    0600);
	ck_assert_int_eq(world_load(&w, ""), 0);
	world_expect(&w, "etc", "url=https://etc/;fail=1;");
	options_free(&w.o);
	world_file(w.home, "[*]\nurl: https://home/\n", 0600);
	ck_assert_int_eq(world_load(&w, ""), 0);
	world_expect(&w, "home", "url=https://home/;http2=1;");
	options_free(&w.o);
	w.env = "MCPSPLICE_URL=https://env/";
	ck_assert_int_eq(world_load(&w, ""), 0);
	world_expect(&w, "env", "url=https://env/;compressed=1;");
	options_free(&w.o);
	ck_assert_int_eq(world_load(&w, "https://argv/"), 0);
	world_expect(&w, "argv", "url=https://argv/;");
	options_free(&w.o);
	world_file(w.etc, "url = etc/mcp\n", 0600);
	w.env = NULL;
	unlink(w.home);
	ck_assert_int_eq(world_load(&w, ""), -1);
	ck_assert_str_eq(w.why,
	    "\"etc/mcp\" has no scheme; did you mean "
	    "https://etc/mcp?");
	/* without any URL only what counts always is shown */
	world_file(w.etc, "http2\n[http://x/*]\nfail\n", 0600);
	ck_assert_int_eq(world_load(&w, "--show-config"), 0);
	world_expect(&w, "no URL", "url=-;http2=1;show=1;");
	world_free(&w);
}
END_TEST

/* An option such as --sse sets the URL and the transport with equal weight. */
START_TEST(the_transport_of_the_url)
{
	struct world w;

	world_init(&w);
	world_file(w.etc, "sse = https://etc/\n", 0600);
	ck_assert_int_eq(world_load(&w, ""), 0);
	world_expect(&w, "etc", "url=https://etc/;transport=2;");
	options_free(&w.o);
	ck_assert_int_eq(world_load(&w, URL), 0);
	world_expect(&w, "another URL", "");
	options_free(&w.o);
	world_file(w.home, "transport = sse-first\n", 0600);
	ck_assert_int_eq(world_load(&w, ""), 0);
	world_expect(&w, "home", "url=https://etc/;transport=3;");
	options_free(&w.o);
	ck_assert_int_eq(world_load(&w, "--streamableHttp|https://argv/"), 0);
	world_expect(&w, "argv", "url=https://argv/;transport=1;");
	options_free(&w.o);
	w.env = "MCPSPLICE_TRANSPORT=http|MCPSPLICE_PROTOCOL=legacy";
	ck_assert_int_eq(world_load(&w, "--sse|https://argv/"), 0);
	world_expect(&w, "environment",
	    "url=https://argv/;protocol=1;transport=2;");
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
	ck_assert_int_eq(world_load(&w, URL), -1);
	world_file(w.extra, "fail\n", 0600);
	ck_assert_int_eq(world_load(&w, URL), 0);
	world_expect(&w, "MCPSPLICE_CONFIG", "fail=1;");
	free(env);
	world_free(&w);
}
END_TEST

START_TEST(other_sections_are_noted)
{
	struct world w;
	char *want;

	world_init(&w);
	world_file(w.etc,
	    "fail\n[http://other/*]\nhttp2\nfail\n[http://h/m?key=CANARY]\n"
	    "http2\n[localhost]\nhttp2\n[http://other/*]\nfail\n",
	    0644);
	ck_assert_int_eq(world_load(&w, URL), 0);
	ck_assert_uint_eq(w.o.notes.n, 2);
	want = xasprintf("%s: [http://other/*] is not for this URL", w.etc);
	ck_assert_str_eq(w.o.notes.list[0], want);
	free(want);
	want = xasprintf("%s: [http://h/m?...] is not for this URL", w.etc);
	ck_assert_str_eq(w.o.notes.list[1], want);
	free(want);
	options_free(&w.o);
	ck_assert_int_eq(world_load(&w, "status"), 0);
	ck_assert_uint_eq(w.o.notes.n, 0);
	world_free(&w);
}
END_TEST

/* A section without the port does not apply, so its limits would be lost. */
START_TEST(a_section_without_the_port)
{
	static const char *const sections[][3] = {
		{ "127.0.0.1", "http://127.0.0.1:8917/mcp", "127.0.0.1" },
		{ "http*://127.0.0.1/mcp", "http://127.0.0.1:8917/mcp",
		    "http*://127.0.0.1" },
		{ "http://[::1]/*", "http://[::1]:80/mcp", NULL },
		{ "http://[::1]/*", "http://[::1]:8/mcp", "http://[::1]" },
		{ "https://127.0.0.1", "http://127.0.0.1:8/mcp", NULL },
		{ "127.0.0.1/other", "http://127.0.0.1:8/mcp", NULL },
		/* of another server */
		{ "127.0.0.1:8918", "http://127.0.0.1:8917/mcp", NULL },
		{ "127.0.0.1:*", "http://127.0.0.1:8917/mcp", NULL },
	};
	const char *const *c = sections[_i], *port;
	struct world w;
	char *text = xasprintf("[%s]\nread-only\nfail\n", c[0]), *want;

	world_init(&w);
	world_file(w.home, text, 0600);
	ck_assert_int_eq(world_load(&w, c[1]), 0);
	ck_assert_uint_eq(w.o.warnings.n, c[2] != NULL);
	if (c[2] != NULL) {
		port = strrchr(c[1], ':') + 1;
		want = xasprintf("%s: [%s] means the default port; write "
				 "%s:%.*s or %s:* for the host",
		    w.home, c[0], c[2], (int)strcspn(port, "/"), port, c[2]);
		ck_assert_str_eq(w.o.warnings.list[0], want);
		free(want);
	}
	free(text);
	world_free(&w);
}
END_TEST

struct variable_case {
	const char *env, *args;
	const char *want; /* NULL: nothing is said */
};

static const struct variable_case variable_cases[] = {
	{ "MCPSPLICE_PROFIL=a", URL, "MCPSPLICE_PROFIL MCPSPLICE_PROFILE" },
	{ "MCPSPLICE_HEADERS=a", URL, "MCPSPLICE_HEADERS MCPSPLICE_HEADER" },
	{ "MCPSPLICE_URI=a", URL, "MCPSPLICE_URI MCPSPLICE_URL" },
	{ "mcpsplice_profil=a|MCPSPLICE=b|XMCPSPLICE_PROFIL=c", URL, NULL },
	{ "MCPSPLICE_LOGS=a|MCPSPLICE_HOME=b|MCPSPLICE_=c", URL, NULL },
	{ "MCPSPLICE_TOKEN=a", "--bearer-env|MCPSPLICE_TOKEN|" URL, NULL },
	{ "MCPSPLICE_CONFIG=/dev/null|MCPSPLICE_HELP=1", URL, NULL },
	{ "MCPSPLICE_PROFIL=a", "--bearer-env|MCPSPLICE_PROFIL|" URL, NULL },
	{ "MCPSPLICE_CA_CERT=a", URL, "MCPSPLICE_CA_CERT MCPSPLICE_CACERT" },
	{ "MCPSPLICE_PROFIL=a", "-H|A: ${MCPSPLICE_PROFIL}|" URL, NULL },
};

/* Only names that clearly are misspelt variables of mcpsplice get a warning. */
START_TEST(misspelt_variables_are_told)
{
	const struct variable_case *c = &variable_cases[_i];
	struct world w;
	char *want;
	size_t n;

	world_init(&w);
	w.env = c->env;
	ck_assert_int_eq(world_load(&w, c->args), 0);
	ck_assert_uint_eq(w.o.warnings.n, c->want != NULL);
	if (c->want != NULL) {
		n = strcspn(c->want, " ");
		want = xasprintf("unknown variable %.*s (did you mean %s?)",
		    (int)n, c->want, c->want + n + 1);
		ck_assert_str_eq(w.o.warnings.list[0], want);
		free(want);
	}
	world_free(&w);
}
END_TEST

static const char *const guard_cases[][2] = {
	{ "MCPSPLICE_READONLY=1", "did you mean MCPSPLICE_READ_ONLY?" },
	{ "MCPSPLICE_ONLY_TOOLS=x", "did you mean MCPSPLICE_ONLY_TOOL?" },
	{ "MCPSPLICE_ALLOWED_TOOLS=x", "did you mean MCPSPLICE_ONLY_TOOL?" },
	{ "MCPSPLICE_IGNORE=x", "did you mean MCPSPLICE_IGNORE_TOOL?" },
	{ "MCPSPLICE_DENY=x", "did you mean MCPSPLICE_IGNORE_TOOL?" },
	{ "MCPSPLICE_ALLOW=x", "did you mean MCPSPLICE_ONLY_TOOL?" },
	{ "MCPSPLICE_DISABLED_TOOLS=x", "did you mean MCPSPLICE_IGNORE_TOOL?" },
	{ "MCPSPLICE_EXCLUDE_TOOL=x", "did you mean MCPSPLICE_IGNORE_TOOL?" },
	{ "MCPSPLICE_DENY_TOOLS=x", "did you mean MCPSPLICE_IGNORE_TOOL?" },
	{ "MCPSPLICE_BLOCKED_TOOL=x", "did you mean MCPSPLICE_IGNORE_TOOL?" },
	{ "MCPSPLICE_EXCLUDE=x", "did you mean MCPSPLICE_IGNORE_TOOL?" },
	{ "MCPSPLICE_ALLOW_TOOL=x", "did you mean MCPSPLICE_ONLY_TOOL?" },
	{ "MCPSPLICE_INCLUDE_TOOLS=x", "did you mean MCPSPLICE_ONLY_TOOL?" },
	{ "MCPSPLICE_READ_ONLY_TOOLS=1", "did you mean MCPSPLICE_READ_ONLY?" },
	{ "MCPSPLICE_READONLY_MODE=1", "did you mean MCPSPLICE_READ_ONLY?" },
	{ "MCPSPLICE_REPLAYS=never", "did you mean MCPSPLICE_REPLAY?" },
	{ "MCPSPLICE_NOMEMORY=1", "did you mean MCPSPLICE_NO_MEMORY?" },
};

/* If this were ignored, mcpsplice would allow what the user forbids. */
START_TEST(a_misspelt_guard_stops_the_start)
{
	struct world w;

	world_init(&w);
	w.env = guard_cases[_i][0];
	ck_assert_int_eq(world_load(&w, URL), -1);
	ck_assert_msg(strstr(w.why, guard_cases[_i][1]) != NULL, "%s", w.why);
	w.env = "MCPSPLICE_BEARER=x";
	ck_assert_int_eq(world_load(&w, URL), 0);
	ck_assert_str_eq(w.o.warnings.list[0],
	    "unknown variable MCPSPLICE_BEARER: to send a token: "
	    "--bearer-env NAME, or --bearer-file FILE");
	world_free(&w);
}
END_TEST

START_TEST(params_are_shown)
{
	static const char *const names[] = { "client_secret",
		"software_statement" };
	char *text = xasprintf("--authorize-param|api_key=CANARY|"
			       "--authorize-param|login_hint=a=b|"
			       "--static-oauth-client-metadata|"
			       "{\"%s\":\"CANARY\"}|https://h/",
	    names[_i]);
	struct world w;

	world_init(&w);
	ck_assert_int_eq(world_load(&w, text), 0);
	free(text);
	text = options_show(&w.o);
	ck_assert_msg(strstr(text, "CANARY") == NULL, "%s", text);
	ck_assert(world_shows(text, "authorize-param", "api_key=(set)",
	    "command line"));
	ck_assert(world_shows(text, "authorize-param", "login_hint=a=b",
	    "command line"));
	free(text);
	world_free(&w);
}
END_TEST

START_TEST(values_are_shown_with_their_origin)
{
	struct world w;
	char *text, *at;

	world_init(&w);
	world_file(w.etc, "# 1\nheader = X-Key: CANARY1\nmax-depth = 3\n",
	    0600);
	world_file(w.home, "proxy-user = a:CANARY2\n", 0600);
	w.env = "MCPSPLICE_HEADER=Cookie: CANARY3|MCPSPLICE_FAIL=1|"
		"NODE_EXTRA_CA_CERTS=/n|CURL_CA_BUNDLE=/c|"
		"MCPSPLICE_NO_MEMORY=1|MCPSPLICE_TRANSPORT=sse-first|"
		"MCPSPLICE_PROXY_CACERT=ghp_CANARY901234567890123456789012";
	ck_assert_int_eq(world_load(&w,
			     "-x|http://u:CANARY4@p:1|--oauth2Bearer|"
			     "CANARY5|-H|Plain: CANARY6|-H|@/f|-H|"
			     "@ghp_CANARY901234567890123456789012|"
			     "https://h/x/sk-CANARY8888/?key=CANARY7|"
			     "--show-config|"
			     "--call-timeout|2.50|-A|a\nb|--ping-interval|"
			     "9|--keep-alive|--session-lost-pattern|a b|"
			     "--session-lost-pattern|c\nd"),
	    0);
	text = options_show(&w.o);
	ck_assert_msg(strstr(text, "CANARY") == NULL, "%s", text);
	at = xasprintf("%s:2", w.etc);
	ck_assert(world_shows(text, "header", "X-Key: (set)", at));
	free(at);
	at = xasprintf("%s:3", w.etc);
	ck_assert(world_shows(text, "max-depth", "3", at));
	free(at);
	at = xasprintf("%s:1", w.home);
	ck_assert(world_shows(text, "proxy-user", "(set)", at));
	free(at);
	ck_assert(world_shows(text, "header", "Cookie: (set)",
	    "environment MCPSPLICE_HEADER"));
	ck_assert(world_shows(text, "header", "Authorization: (set)",
	    "command line"));
	ck_assert(world_shows(text, "header", "Plain: (set)", "command line"));
	ck_assert(world_shows(text, "header", "@/f", "command line"));
	ck_assert(world_shows(text, "header", "@(redacted)", "command line"));
	ck_assert(world_shows(text, "proxy-cacert", "(redacted)",
	    "environment MCPSPLICE_PROXY_CACERT"));
	ck_assert(world_shows(text, "proxy", "http://(set)@p:1",
	    "command line"));
	ck_assert(world_shows(text, "url", "https://h/x/(set)/?(set)",
	    "command line"));
	ck_assert(world_shows(text, "fail", "yes",
	    "environment MCPSPLICE_FAIL"));
	ck_assert(world_shows(text, "cacert", "/c",
	    "environment CURL_CA_BUNDLE"));
	ck_assert(world_shows(text, "NODE_EXTRA_CA_CERTS", "/n",
	    "environment NODE_EXTRA_CA_CERTS"));
	ck_assert(world_shows(text, "call-timeout", "2.5 ", "command line"));
	ck_assert(world_shows(text, "max-result", "10176K", "default"));
	ck_assert(world_shows(text, "max-message", "128M", "default"));
	ck_assert(world_shows(text, "ping-interval", " 30 ", "command line"));
	ck_assert_ptr_null(strstr(text, "keep-alive"));
	ck_assert(world_shows(text, "session-lost-pattern", " a b ",
	    "command "
	    "line"));
	ck_assert(world_shows(text, "session-lost-pattern", " c d ",
	    "command line"));
	ck_assert(world_shows(text, "session-lost-in-results", " no ",
	    "default"));
	ck_assert(world_shows(text, "no-memory", " yes ",
	    "environment MCPSPLICE_NO_MEMORY"));
	ck_assert(world_shows(text, "replay", "safe", "default"));
	ck_assert(world_shows(text, "protocol", " auto ", "default"));
	ck_assert(world_shows(text, "transport", " sse-first ",
	    "environment MCPSPLICE_TRANSPORT"));
	ck_assert(world_shows(text, "log-format", "text", "default"));
	ck_assert(world_shows(text, "user-agent", "a b", "command line"));
	ck_assert(world_shows(text, "resolve", "(none)", "default"));
	ck_assert_ptr_null(strstr(text, "auth-success-url"));
	ck_assert_ptr_null(strstr(text, "streamableHttp"));
	ck_assert_ptr_null(strstr(text, "auth-timeout"));
	ck_assert_ptr_null(strstr(text, "device-code"));
	ck_assert_ptr_null(strstr(text, "show-config"));
	free(text);
	world_free(&w);
}
END_TEST

/* After an error the command is still known, for the message about it. */
START_TEST(the_command_of_a_failure)
{
	struct world w;

	world_init(&w);
	ck_assert_int_eq(world_load(&w, "login|--wombat"), -1);
	ck_assert_int_eq(w.o.command, COMMAND_LOGIN);
	ck_assert_int_eq(world_load(&w, "logout"), -1);
	ck_assert_int_eq(w.o.command, COMMAND_LOGOUT);
	ck_assert_int_eq(world_load(&w, "--wombat"), -1);
	ck_assert_int_eq(w.o.command, COMMAND_PROXY);
	world_free(&w);
}
END_TEST

/* The copy of argv keeps the secrets that are blanked in the original. */
START_TEST(the_copy_of_argv)
{
	static const char *const want[] = { "mcpsplice", "-H", "X-Key: abc",
		"--oauth2Bearer=def", URL, "80" };
	struct world w;
	size_t i;

	world_init(&w);
	ck_assert_int_eq(world_load(&w,
			     "-H|X-Key: abc|--oauth2Bearer=def|" URL "|80"),
	    0);
	ck_assert_str_eq(w.argv[2], "X-Key: xxx");
	for (i = 0; i < COUNT(want); i++)
		ck_assert_str_eq(w.o.argv[i], want[i]);
	ck_assert_ptr_null(w.o.argv[i]);
	options_free(&w.o);
	ck_assert_ptr_null(w.o.argv);
	ck_assert_int_eq(world_load(&w, "login|--agent"), 0);
	ck_assert_str_eq(w.o.argv[2], "--agent");
	ck_assert_ptr_null(w.o.argv[3]);
	world_free(&w);
}
END_TEST

static void
check_screen(const char *text, size_t most)
{
	size_t lines = 0;

	ck_assert_int_eq(strncmp(text, "usage: mcpsplice ", 17), 0);
	for (; *text != '\0'; lines++) {
		ck_assert_uint_le(strcspn(text, "\n"), 79);
		text += strcspn(text, "\n") + 1;
	}
	ck_assert_uint_le(lines, most);
}

/* Every row that is not hidden is in the long text, and those that are marked
 * are in the short one, which fits a screen. */
START_TEST(help_has_all)
{
	char *brief = options_help(COMMAND_PROXY, false),
	     *all = options_help(COMMAND_PROXY, true), *name;
	const struct option_row *row;
	size_t i;

	for (i = 0; i < option_table_rows; i++) {
		row = &option_table[i];
		name = xasprintf("--%s%s%s", row->name,
		    row->arg == NULL ? "" : " ",
		    row->arg == NULL ? "" : row->arg);
		ck_assert_msg((strstr(all, name) != NULL) ==
			((row->flags &
			     (OPTION_HIDDEN | OPTION_NO_ARGV |
				 OPTION_UNLISTED)) == 0),
		    "%s", name);
		ck_assert_msg((strstr(brief, name) != NULL) ==
			((row->flags & OPTION_BRIEF) != 0),
		    "%s", name);
		free(name);
		if ((row->flags & OPTION_NO_ARGV) != 0)
			continue;
		name = options_help_option(row->name);
		ck_assert_msg(strstr(name, row->name) != NULL &&
			(row->as != NULL || strstr(name, "\n    ") != NULL),
		    "%s", name);
		free(name);
	}
	check_screen(brief, 24);
	check_screen(all, 54);
	free(brief);
	free(all);
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
	world_file(w.home, "max-depth = 9\n", 0600);
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

/* Plays a row of data/mistypes.tsv. "<CR>" stands for that character; behind "="
 * are the fields of a start that is not refused. */
static void
play_mistype(char *args, const char *answer)
{
	char *cr = strstr(args, "<CR>");
	struct world w;

	if (cr != NULL) {
		*cr = '\r';
		memmove(cr + 1, cr + 4, strlen(cr + 4) + 1);
	}
	world_init(&w);
	if (answer[0] == '=') {
		ck_assert_msg(world_load(&w, args) == 0, "%s: %s", args, w.why);
		world_expect(&w, args, answer + 1);
	} else {
		ck_assert_msg(world_load(&w, args) == -1, "%s", args);
		ck_assert_msg(strstr(w.why, answer) != NULL, "%s: %s", args,
		    w.why);
		/* what stands for a secret in the rows */
		ck_assert_msg(strstr(w.why, "hunter2") == NULL, "%s: %s", args,
		    w.why);
	}
	world_free(&w);
}

START_TEST(mistypes_are_answered)
{
	char *path = xasprintf("%s/data/mistypes.tsv", getenv("abs_srcdir"));
	FILE *f = fopen(path, "r");
	char line[512], *tab;
	int rows = 0;

	ck_assert_msg(f != NULL, "%s", path);
	ck_assert_ptr_nonnull(fgets(line, sizeof line, f));
	while (fgets(line, sizeof line, f) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		tab = strchr(line, '\t');
		ck_assert_ptr_nonnull(tab);
		*tab = '\0';
		play_mistype(line, tab + 1);
		rows++;
	}
	ck_assert_int_gt(rows, 100);
	fclose(f);
	free(path);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("options");
	TCase *t = tcase_create("options");

	tcase_add_test(t, the_order_of_the_sources);
	tcase_add_test(t, the_order_of_headers);
	tcase_add_test(t, the_environment);
	tcase_add_test(t, the_url_of_files);
	tcase_add_test(t, the_transport_of_the_url);
	tcase_add_test(t, config_from_the_environment);
	tcase_add_test(t, other_sections_are_noted);
	tcase_add_loop_test(t, a_section_without_the_port, 0, 8);
	tcase_add_loop_test(t, misspelt_variables_are_told, 0,
	    COUNT(variable_cases));
	tcase_add_loop_test(t, a_misspelt_guard_stops_the_start, 0,
	    COUNT(guard_cases));
	tcase_add_loop_test(t, params_are_shown, 0, 2);
	tcase_add_test(t, values_are_shown_with_their_origin);
	tcase_add_test(t, the_command_of_a_failure);
	tcase_add_test(t, the_copy_of_argv);
	tcase_add_test(t, help_has_all);
	tcase_add_test(t, the_table);
	tcase_add_test(t, the_process);
	tcase_add_test(t, mistypes_are_answered);
	suite_add_tcase(s, t);
	return unit_run(s);
}
