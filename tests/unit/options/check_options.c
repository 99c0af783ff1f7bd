/*
 * options/options: argv, files, environment, their order, what is refused with
 * which words, what is blanked, and what a user is shown. What is for
 * signing in is in check_auth.c.
 */
#include "config.h"

#include "options/options.h"

#include <sys/stat.h>

#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/bounds.h"
#include "options/set.h"
#include "options/table.h"
#include "unit/options/options_play.h"

#define WARNING                                                                \
	"warning=other users can read a secret on the command line; "          \
	"use --bearer-env, -H 'Authorization: Bearer ${VAR}' or @FILE;"
#define PASSWORD(option, variable)                                             \
	"warning=other users can read the password given with --" option       \
	"; set the variable " variable " instead;"
#define NOTE(name) "note=--" name " has no effect yet; ignored;"

static const struct argv_case argv_cases[] = {
	{ "--", "" },
	{ "-H|A: b|-HC:d|--header|@f|--header=E: f=g",
	    "header=A: b;header=C:d;header=@f;header=E: f=g;" },
	{ "-H|A: b|-H|a: c", "header=A: b;header=a: c;" },
	{ "--header-file|/h", "header=@/h;" },
	{ "--header-file=/h|-H|A:b", "header=@/h;header=A:b;" },
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
	{ "--negotiate", "negotiate=1;" },
	{ "--negotiate|--no-negotiate", "" },
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
	{ "--max-message|512M", "message=536870912;" },
#if SIZE_MAX > UINT32_MAX
	{ "--max-message|1G", "message=1073741824;" },
#endif
	{ "--max-depth|1", "depth=1;" },
	{ "--max-inflight|65535", "inflight=65535;" },
	{ "--protocol|auto", "" },
	{ "--protocol=legacy", "protocol=1;" },
	{ "--protocol|modern", "protocol=2;" },
	{ "--protocol|modern|--protocol=", "" },
	{ "--transport|auto", "" },
	{ "--transport|http", "transport=1;" },
	{ "--transport=sse", "transport=2;" },
	{ "--transport=sse|--transport=", "" },
	{ "--protocol|modern|--transport|http", "protocol=2;transport=1;" },
	{ "--protocol|modern|--transport|sse-first",
	    "protocol=2;transport=3;" },
	{ "--protocol|legacy|--transport|sse", "protocol=1;transport=2;" },
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
	{ "--fail=any", "fail=2;" },
	{ "--fail=any|--no-fail", "" },
	{ "-v", "verbose=1;" },
	{ "-vv", "verbose=2;" },
	{ "-v|--verbose|-v", "verbose=3;" },
	{ "-vv|--no-verbose", "" },
	{ "-q", "quiet=1;" },
	{ "-q|--no-quiet", "" },
	{ "-qv46|--no-ipv4", "ipv6=1;verbose=1;quiet=1;" },
	{ "-vH|A: b", "header=A: b;verbose=1;" },
	{ "--log-file|/l", "log_file=/l;" },
	{ "--trace|/t|--trace-headers", "trace=/t;trace_headers=1;" },
	{ "--log-format|json", "log_json=1;" },
	{ "--log-format=text", "" },
	{ "--show-config", "show=1;" },
	/* the next argument is the value, whatever it looks like */
	{ "-A|--help", "agent=--help;" },
	{ "-A|-v", "agent=-v;" },
	/* mcp-remote */
	{ "--debug", "verbose=2;" },
	{ "--silent", "quiet=1;" },
	{ "--auth-success-url=u", NOTE("auth-success-url") },
	{ "--headers-timeout|3", NOTE("headers-timeout") },
	{ "--body-timeout|3", NOTE("body-timeout") },
	{ "--keep-alive", "ping=30000;" },
	{ "--ping-interval|3|--keep-alive", "ping=30000;" },
	{ "--keep-alive|--ping-interval|3", "ping=3000;" },
	{ "--keep-alive|--ping-interval=", "" },
	{ "--ping-interval|3|--no-keep-alive", "" },
	{ "--enable-proxy",
	    "note=--enable-proxy has no effect: the proxy "
	    "variables are always used;" },
	{ "--transport|http-first", "" },
	{ "--transport|http-only", "transport=1;" },
	{ "--transport|sse-only", "transport=2;" },
	{ "--transport=sse-first", "transport=3;" },
	{ "--transport|sse-first|--transport|http-first", "" },
};

START_TEST(argv_is_read)
{
	play_argv(&argv_cases[_i]);
}
END_TEST

struct operand_case {
	const char *args, *want;
};

static const struct operand_case operand_cases[] = {
	{ "https://h/x", "url=https://h/x;" },
	{ URL "|3334", "port=3334;host=localhost;path=/oauth/callback;" },
	{ "-v|" URL "|-4|65535|-q",
	    "port=65535;host=localhost;path=/oauth/callback;ipv4=1;verbose=1;quiet=1;" },
	{ URL "|3334|--callback-port|3",
	    "port=3;host=localhost;path=/oauth/callback;" },
	{ "login|" URL, "1;" },
	{ "-v|login|-4|" URL "|80|-q",
	    "1;port=80;host=localhost;path=/oauth/callback;ipv4=1;verbose=1;quiet=1;" },
	{ "--|login|" URL, "1;" },
	{ "login|--streamableHttp|https://h/",
	    "1;url=https://h/;transport=1;" },
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
	{ "--streamableHttp|https://h/", "url=https://h/;transport=1;" },
	{ "--sse|https://h/", "url=https://h/;transport=2;" },
	{ "--sse=https://h/|-v", "url=https://h/;transport=2;verbose=1;" },
	/* it belongs to that URL, and what is said of itself counts more */
	{ "--sse|https://h/|" URL, "" },
	{ URL "|--sse|https://h/", "url=https://h/;transport=2;" },
	{ "--sse|https://h/|--streamableHttp|https://i/",
	    "url=https://i/;transport=1;" },
	{ "--sse|https://h/|--transport|auto", "url=https://h/;" },
	{ "--transport|http|--sse|https://h/", "url=https://h/;transport=1;" },
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
	ck_assert_msg(world_load(&w, c->args) == 0, "%s: %s", c->args, w.why);
	world_expect(&w, c->args, c->want);
	world_free(&w);
}
END_TEST

#define EVERY(pattern)                                                         \
	"--session-lost-pattern: \"" pattern "\" matches even blank text, "    \
	"so it would match every answer"

static const struct refused_case refused_cases[] = {
	{ "", "no URL given; usage: mcpsplice [options] URL" },
	{ "-v", "no URL given; usage: mcpsplice [options] URL" },
	{ "login", "no URL given; usage: mcpsplice login [options] URL" },
	{ "-v|logout", "no URL given; usage: mcpsplice logout [options] URL" },
	{ "chec|" URL, "there is no command \"chec\" (did you mean check?)" },
	{ "-v|tool", "there is no command \"tool\" (did you mean tools?)" },
	{ "toolbox",
	    "there is no command \"toolbox\"; see \"mcpsplice help\"" },
	{ "login|login",
	    "\"login\" is not a URL; it should look like https://mcp.example.com/mcp" },
	{ URL "|login", "put the command first: mcpsplice login URL" },
	{ "Login|" URL, "there is no command \"Login\" (did you mean login?)" },
	{ "status|" URL "|" URL, "two URLs given; mcpsplice takes one" },
	{ "login|--agent|" URL,
	    "unknown option \"--agent\"; \"mcpsplice help all\" lists them" },
	{ "logout|--agent",
	    "unknown option \"--agent\"; \"mcpsplice help all\" lists them" },
	{ "--agent|login",
	    "unknown option \"--agent\"; \"mcpsplice help all\" lists them" },
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
	    "unknown option \"--wombat\"; \"mcpsplice help all\" "
	    "lists them" },
	{ "--NODE_EXTRA_CA_CERTS|x",
	    "unknown option "
	    "\"--NODE_EXTRA_CA_CERTS\"; \"mcpsplice help all\" lists them" },
	{ "--no-header|" URL,
	    "unknown option \"--no-header\"; \"mcpsplice "
	    "help all\" lists them" },
	{ "--no-help",
	    "unknown option \"--no-help\"; \"mcpsplice help all\" "
	    "lists them" },
	{ "--no-no-cookies|" URL, "" },
	{ "-Z|" URL,
	    "unknown option \"-Z\"; \"mcpsplice help all\" lists them" },
	{ "-vZ|" URL,
	    "unknown option \"-Z\"; \"mcpsplice help all\" lists them" },
	{ URL "|-H", "--header needs a value: --header LINE|@FILE" },
	{ URL "|--cert", "--cert needs a value: --cert FILE" },
	{ "--fail=1|" URL, "--fail takes no value except \"any\"" },
	{ "--no-fail=any|" URL, "--no-fail takes no value" },
	{ "--no-fail=1|" URL, "--no-fail takes no value" },
	{ URL "|x",
	    "unexpected argument \"x\" after the URL; quote a value that contains spaces" },
	{ URL "|0",
	    "unexpected argument \"(redacted)\" after the URL; quote a value that contains spaces" },
	{ URL "|65536",
	    "unexpected argument \"(redacted)\" after the URL; quote a value that contains spaces" },
	{ URL "|1|2",
	    "unexpected argument \"(redacted)\" after the URL; quote a value that contains spaces" },
	{ URL "|--|-v",
	    "unexpected argument \"-v\" after the URL; quote a value that contains spaces" },
	{ "-H|secret|" URL,
	    "--header: no colon; write \"Name: value\" or @FILE" },
	{ "-H||" URL, "--header: the value is empty" },
	{ "--connect-timeout|abc|" URL,
	    "--connect-timeout: \"abc\" is not a number of seconds such as 10 or 2.5" },
	{ "--call-timeout|-1|" URL,
	    "--call-timeout: \"-1\" is not a number of seconds such as 10 or 2.5" },
	{ "--call-timeout|1e3|" URL,
	    "--call-timeout: \"1e3\" is not a number of seconds such as 10 or 2.5" },
	{ "--call-timeout|.|" URL,
	    "--call-timeout: \".\" is not a number of seconds such as 10 or 2.5" },
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
	    "--ping-interval: \"often\" is not a number of seconds such as 10 or 2.5" },
	{ "--keep-alive=5|" URL, "--keep-alive takes no value" },
	{ "--session-lost-in-results=1|" URL,
	    "--session-lost-in-results takes no value" },
	{ "--no-ping-interval|" URL,
	    "unknown option \"--no-ping-interval\"; \"mcpsplice help all\" "
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
	    "--max-message: \"1KB\" is not a size such as 64K or 10M" },
	{ "--max-message|K|" URL,
	    "--max-message: \"K\" is not a size such as 64K or 10M" },
	{ "--max-message|1T|" URL,
	    "--max-message: \"1T\" is not a size such as 64K or 10M" },
	{ "--max-message|1.5M|" URL,
	    "--max-message: \"1.5M\" is not a size such as 64K or 10M" },
	{ "--max-depth|0|" URL, "--max-depth: 0 is out of range, 1 to 65535" },
	{ "--max-inflight|65536|" URL,
	    "--max-inflight: 65536 is out of range, 1 to 65535" },
	{ "--max-depth|1K|" URL, "--max-depth: \"1K\" is not a number" },
	{ "--replay|always|" URL,
	    "--replay: \"always\" is not one of never|refused|safe" },
	{ "--replay|saf|" URL,
	    "--replay: \"saf\" is not one of never|refused|safe" },
	{ "--log-format|xml|" URL,
	    "--log-format: \"xml\" is not one of text|json" },
	{ "-46|" URL,
	    "--ipv4 and --ipv6 cannot be combined; give one of them" },
	{ "--key|k|" URL, "--key needs its certificate; add --cert FILE" },
	{ "--transport|http-last|" URL,
	    "--transport: \"http-last\" is not one of auto|http|sse" },
	{ "--transport|SSE|" URL,
	    "--transport: \"SSE\" is not one of auto|http|sse" },
	{ "--protocol|2026-07-28|" URL,
	    "--protocol: \"2026-07-28\" is not one of auto|legacy|modern" },
	{ "--protocol|http-first|" URL,
	    "--protocol: \"http-first\" is not one of auto|legacy|modern" },
	{ URL "|--protocol",
	    "--protocol needs a value: --protocol auto|legacy|modern" },
	{ "--no-transport|" URL,
	    "unknown option \"--no-transport\"; \"mcpsplice help all\" "
	    "lists them" },
	{ "--protocol|modern|--transport|sse|" URL,
	    "--protocol modern and --transport sse contradict each other; remove one" },
	{ "--protocol|modern|--sse|" URL,
	    "--protocol modern and --transport sse contradict each other; remove one" },
	{ "--sse|h/mcp",
	    "\"h/mcp\" has no scheme; did you mean https://h/mcp?" },
	{ "--sse", "--sse needs a value: --sse URL" },
	{ "example.com/mcp",
	    "\"example.com/mcp\" has no scheme; did you mean "
	    "https://example.com/mcp?" },
	{ "localhost:3000/mcp",
	    "\"localhost:3000/mcp\" has no scheme; did "
	    "you mean http://localhost:3000/mcp?" },
	{ "htp://x",
	    "\"htp://x\" has an unknown scheme; did you "
	    "mean http://x?" },
	{ "htps://x",
	    "\"htps://x\" has an unknown scheme; did you "
	    "mean https://x?" },
	{ "https//h/mcp",
	    "\"https//h/mcp\" is not a URL; did you mean https://h/mcp?" },
	{ "https:/h:1/",
	    "\"https:/h:1/\" is not a URL; did you mean https://h:1/?" },
	{ "http:///h", "\"http:///h\" is not a URL; did you mean http://h?" },
	{ "http/h", "\"http/h\" is not a URL; did you mean http://h?" },
	{ "httpd/h",
	    "\"httpd/h\" has no scheme; did you mean https://httpd/h?" },
	{ "https://h:99999/mcp",
	    "\"https://h:99999/mcp\": the port must be a number from 1 to 65535" },
	{ "https://[::1]:x/mcp",
	    "\"https://[::1]:x/mcp\": the port must be a number from 1 to 65535" },
	{ "https://fe80::1/mcp",
	    "\"https://fe80::1/mcp\" is not a URL; it should look like https://mcp.example.com/mcp" },
	{ "localhost:8000/@x/mcp",
	    "\"localhost:8000/@x/mcp\" has no scheme; did you mean "
	    "http://localhost:8000/@x/mcp?" },
	{ "h/mcp?key=CANARY",
	    "\"h/mcp?...\" has no scheme; did you mean https://h/mcp?...?" },
	{ "https//u:CANARY@h/",
	    "the URL is malformed; it should look like https://mcp.example.com/mcp" },
	{ "https://[::1/mcp",
	    "\"https://[::1/mcp\" is not a URL; it should look like https://mcp.example.com/mcp" },
	{ "call|add|https://h/|a=1",
	    "\"add\" is not a URL; write the URL before the tool: mcpsplice "
	    "call URL TOOL [ARGUMENT...]" },
	{ "https://u:secret@h/",
	    "a user name or password in the URL is not allowed; use -H 'Authorization: Basic ${VAR}'" },
	{ "u:secret@h/",
	    "a user name or password in the URL is not allowed; use -H 'Authorization: Basic ${VAR}'" },
	{ "http://",
	    "\"http://\" is not a URL; it should look like https://mcp.example.com/mcp" },
	{ "http:// u:secret@h",
	    "the URL contains a space; write what follows it as another "
	    "argument" },
	{ "http://api.example.com/x",
	    "http://api.example.com is not "
	    "encrypted: use https, or add --allow-http" },
	{ "http://localhost.example.com/",
	    "http://localhost.example.com is "
	    "not encrypted: use https, or add --allow-http" },
};

START_TEST(argv_is_refused)
{
	play_refused(&refused_cases[_i]);
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
	ck_assert_int_eq(world_load(&w, args), -1);
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
	const char *want;  /* the fields and the warning */
};

static const struct blank_case blank_cases[] = {
	{ "-H|Authorization: Bearer abc", 2, "Authorization: xxxxxxxxxx",
	    "header=Authorization: Bearer abc;" WARNING },
	{ "-HAuthorization:abc", 1, "-HAuthorization:xxx",
	    "header=Authorization:abc;" WARNING },
	{ "--header=cookie: a=b", 1, "--header=cookie: xxx",
	    "header=cookie: a=b;" WARNING },
	{ "-vH|X-API-KEY: k", 2, "X-API-KEY: x",
	    "header=X-API-KEY: k;verbose=1;" WARNING },
	{ "-H|proxy-authorization: k", 2, "proxy-authorization: x",
	    "header=proxy-authorization: k;" WARNING },
	{ "-H|X-Secret-Id: k", 2, "X-Secret-Id: x",
	    "header=X-Secret-Id: k;" WARNING },
	{ "-H|X-Passwd: k", 2, "X-Passwd: x", "header=X-Passwd: k;" WARNING },
	{ "-H|my-token: k", 2, "my-token: x", "header=my-token: k;" WARNING },
	{ "-H|Authorization: a$${b}c", 2, "Authorization: xxxxxxx",
	    "header=Authorization: a$${b}c;" WARNING },
	{ "--proxy-user|u:p", 2, "xxx",
	    "proxy_user=u:p;" PASSWORD("proxy-user", "MCPSPLICE_PROXY_USER") },
	{ "--proxy-user=u:${P}", 1, "--proxy-user=xxxxxx",
	    "proxy_user=u:${P};" PASSWORD("proxy-user",
		"MCPSPLICE_PROXY_USER") },
	{ "-xhttp://u:p@h:1/", 1, "-xhttp://xxx@h:1/",
	    "proxy=http://u:p@h:1/;" PASSWORD("proxy", "MCPSPLICE_PROXY") },
	{ "-HCookie: a|--proxy-user|u:p", 3, "xxx",
	    "header=Cookie: a;proxy_user=u:p;" WARNING PASSWORD("proxy-user",
		"MCPSPLICE_PROXY_USER") },
	{ "--oauth2Bearer|abc", 2, "xxx",
	    "header=Authorization: Bearer abc;" WARNING },
	{ "--static-oauth-client-info|{\"client_secret\":\"\"}", 2,
	    "xxxxxxxxxxxxxxxxxxxx",
	    "info={\"client_secret\":\"\"};host=localhost;path=/oauth/callback;" WARNING },
	{ "--static-oauth-client-info|\"client_secret\":\"$a\"", 2,
	    "xxxxxxxxxxxxxxxxxxxx",
	    "info=\"client_secret\":\"$a\";host=localhost;path=/oauth/callback;" WARNING },
	/* one that is said elsewhere does not hide one that is not */
	{ "--static-oauth-client-info=\"client_secret\": \"a${b}\"", 1,
	    "--static-oauth-client-info=xxxxxxxxxxxxxxxxxxxxxxxx",
	    "info=\"client_secret\": \"a${b}\";host=localhost;path=/oauth/callback;" WARNING },
};

START_TEST(secrets_are_blanked)
{
	const struct blank_case *c = &blank_cases[_i];
	struct world w;
	char *args;

	world_init(&w);
	args = xasprintf("%s|" URL, c->args);
	ck_assert_msg(world_load(&w, args) == 0, "%s: %s", c->args, w.why);
	ck_assert_str_eq(w.argv[c->at], c->after);
	world_expect(&w, c->args, c->want);
	free(args);
	world_free(&w);
}
END_TEST

static const char *const plain_args[] = {
	"-H|Authorization: Bearer ${T}",
	"-H|X-Api-Key:${KEY}",
	"-H|Accept-Language: de",
	"-H|@/token",
	"-H|Accept-Language:",
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
	ck_assert_msg(world_load(&w, args) == 0, "%s", w.why);
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
	ck_assert_int_eq(world_load(&w, "-H|X-Key: abc|--wombat"), -1);
	ck_assert_str_eq(w.argv[2], "X-Key: xxx");
	/* an option that does not exist, because of this */
	ck_assert_int_eq(world_load(&w, "--client-secret|abc|" URL), -1);
	ck_assert_str_eq(w.argv[2], "xxx");
	ck_assert_str_eq(w.argv[3], URL);
	ck_assert_int_eq(world_load(&w, "--client-secret=abc|" URL), -1);
	ck_assert_str_eq(w.argv[1], "--client-secret=xxx");
	ck_assert_str_eq(w.argv[2], URL);
	world_free(&w);
}
END_TEST

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
	    "1: unknown option \"A\"; \"mcpsplice help all\" "
	    "lists those of mcpsplice " PACKAGE_VERSION },
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
	{ "keep-alive = 60\n", NULL, "1: keep-alive: \"60\" is not yes or no" },
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
	    "2: session-lost-pattern: \"\" matches even blank text, so it would match every answer" },
	{ "session-lost-pattern = a|b*\n", NULL,
	    "1: session-lost-pattern: \"a|b*\" matches even blank text, so it would match every answer" },
	{ "verbose\nverbose\n", "verbose=2;", NULL },
	{ "[http://localhost/*]\nprofile = a\n[http://other/*]\n"
	  "profile = b\n",
	    "profile=a;", NULL },
	{ "agent\n", NULL,
	    "1: unknown option \"agent\"; \"mcpsplice help all\" lists "
	    "those of mcpsplice " PACKAGE_VERSION },
	{ "[*]\nfail\n", "fail=1;", NULL },
	{ "[http://localhost/*] # this\nfail\n", "fail=1;", NULL },
	{ "[http://other/*]\nfail\n[*]\nhttp2\n", "http2=1;", NULL },
	{ "[http://other/*]\nmax-depth = no number\n", "", NULL },
	{ "protocol = legacy\ntransport: sse-first\n",
	    "protocol=1;transport=3;", NULL },
	{ "transport = sse\ntransport = \"\"\n", "", NULL },
	{ "[http://localhost/*]\nprotocol = modern\n[http://other/*]\n"
	  "protocol = legacy\ntransport = sse\n",
	    "protocol=2;", NULL },
	{ "\ntransport = stdio\n", NULL,
	    "2: transport: \"stdio\" is not one of auto|http|sse; mcpsplice "
	    "itself is the stdio side" },
	{ "protocol = new\n", NULL,
	    "1: protocol: \"new\" is not one of auto|legacy|modern" },
	{ "replay = always\n", NULL,
	    "1: replay: \"always\" is not one of never|refused|safe" },
	{ "fail = maybe\n", NULL,
	    "1: fail: \"maybe\" is not yes, no or \"any\"" },
	{ "verbose = x\n", NULL,
	    "1: verbose: \"x\" is not a number from 0 to 9" },
	{ "\n\ncacrt = x\n", NULL,
	    "3: unknown option \"cacrt\" (did you mean cacert?)" },
	{ "[http://other/*]\ncacrt = x\n", NULL,
	    "2: unknown option \"cacrt\" (did you mean cacert?)" },
	{ "cacert\n", NULL, "1: the value is missing; \"\" is an empty one" },
	{ "cacert = # x\n", NULL,
	    "1: the value is missing; \"\" is an empty one" },
	{ "user-agent = \"a\n", NULL, "1: unclosed quotes" },
	{ "user-agent = \"a\\\"\n", NULL, "1: unclosed quotes" },
	{ "user-agent = \"a\" b\n", NULL, "1: unclosed quotes" },
	{ "= x\n", NULL, "1: the line names no option" },
	{ "--\n", NULL, "1: the line names no option" },
	{ "fail\nhelp\n", NULL, "2: \"help\" cannot be set in a file" },
	{ "version\n", NULL, "1: \"version\" cannot be set in a file" },
	{ "-h\n", NULL, "1: \"help\" cannot be set in a file" },
	{ "show-config\n", NULL, "1: \"show-config\" cannot be set in a file" },
	{ "config = x\n", NULL, "1: \"config\" cannot be set in a file" },
	{ "[http://x/*\n", NULL, "1: write a section as [https://HOST/*]" },
	{ "[]\n", NULL, "1: write a section as [https://HOST/*]" },
	{ "[x] y\n", NULL, "1: write a section as [https://HOST/*]" },
	{ "[http://x/*]\nurl = http://y\n", NULL,
	    "2: a section cannot set the URL that selects it" },
	{ "[http://x/*]\nsse = http://y\n", NULL,
	    "2: a section cannot set the URL that selects it" },
	{ "[http://x/*]\nstreamableHttp = http://y\n", NULL,
	    "2: a section cannot set the URL that selects it" },
};

START_TEST(files_are_read)
{
	play_file(&file_cases[_i]);
}
END_TEST

START_TEST(a_note_names_its_line)
{
	struct world w;
	char *want;

	world_init(&w);
	world_file(w.extra, "body-timeout = 3\n", 0600);
	want = xasprintf("note=%s:1: body-timeout has no effect yet; ignored;",
	    w.extra);
	ck_assert_int_eq(world_load(&w, "-K|EXTRA|" URL), 0);
	world_expect(&w, "a note", want);
	free(want);
	world_free(&w);
}
END_TEST

START_TEST(a_large_file)
{
	struct world w;
	char *text = xasprintf("fail #%*s", BOUND_QUEUE_BYTES + _i - 6, "");

	world_init(&w);
	world_file(w.etc, text, 0600);
	ck_assert_int_eq(world_load(&w, URL), _i == 0 ? 0 : -1);
	if (_i == 0)
		world_expect(&w, "a large file", "fail=1;");
	else
		ck_assert_ptr_nonnull(strstr(w.why, "File too large"));
	world_free(&w);
	free(text);
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
	ck_assert_int_eq(chmod(w.etc, 0600), 0);
	fclose(f);
	ck_assert_int_eq(world_load(&w, URL), -1);
	ck_assert_ptr_nonnull(strstr(w.why,
	    "/etc:2: the line contains a NUL byte"));
	world_free(&w);
}
END_TEST

START_TEST(files_that_are_not_there)
{
	struct world w;

	world_init(&w);
	ck_assert_int_eq(world_load(&w, URL), 0);
	options_free(&w.o);
	ck_assert_int_eq(world_load(&w, "-K|EXTRA|" URL), -1);
	ck_assert_ptr_nonnull(strstr(w.why,
	    "cannot read the configuration file /tmp/check_options."));
	ck_assert_ptr_nonnull(strstr(w.why, "No such file"));
	/* one that is there and cannot be read is an error in any place */
	ck_assert_int_eq(mkdir(w.home, 0700), 0);
	ck_assert_int_eq(world_load(&w, URL), -1);
	ck_assert_ptr_nonnull(strstr(w.why, "/home: "));
	/* but help is given even then */
	ck_assert_int_eq(world_load(&w, "--help"), 0);
	ck_assert_int_eq(rmdir(w.home), 0);
	/* the folder of the default file is no folder */
	world_file(w.extra, "", 0600);
	free(w.home);
	w.home = xasprintf("%s/config", w.extra);
	options_free(&w.o);
	ck_assert_msg(world_load(&w, URL) == 0, "%s", w.why);
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
	w.env = "MCPSPLICE_HEADER=C: env\r\n\nD: env\n|MCPSPLICE_RESOLVE=a\nb";
	ck_assert_int_eq(world_load(&w, "-H|D: argv|-H|d: argv2|" URL), 0);
	world_expect(&w, "headers",
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
	/* an argument beats both; patterns add up */
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

/* What an option for the URL says of the transport weighs what it weighs. */
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

struct variable_case {
	const char *env, *args;
	const char *want; /* NULL: nothing is said */
};

static const struct variable_case variable_cases[] = {
	{ "MCPSPLICE_PROFIL=a", URL, "MCPSPLICE_PROFIL MCPSPLICE_PROFILE" },
	{ "MCPSPLICE_HEADERS=a", URL, "MCPSPLICE_HEADERS MCPSPLICE_HEADER" },
	{ "MCPSPLICE_URI=a", URL, "MCPSPLICE_URI MCPSPLICE_URL" },
	{ "mcpsplice_profil=a|MCPSPLICE=b|XMCPSPLICE_PROFIL=c", URL, NULL },
	{ "MCPSPLICE_TOKEN=a|MCPSPLICE_HOME=b|MCPSPLICE_=c", URL, NULL },
	{ "MCPSPLICE_CONFIG=/dev/null|MCPSPLICE_HELP=1", URL, NULL },
	{ "MCPSPLICE_PROFIL=a", "--bearer-env|MCPSPLICE_PROFIL|" URL, NULL },
	{ "MCPSPLICE_CA_CERT=a", URL, "MCPSPLICE_CA_CERT MCPSPLICE_CACERT" },
	{ "MCPSPLICE_PROFIL=a", "-H|A: ${MCPSPLICE_PROFIL}|" URL, NULL },
};

/* What could be anybody's variable is left alone. */
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
	{ "MCPSPLICE_DISABLED_TOOLS=x", "did you mean MCPSPLICE_IGNORE_TOOL?" },
	{ "MCPSPLICE_REPLAYS=never", "did you mean MCPSPLICE_REPLAY?" },
	{ "MCPSPLICE_NOMEMORY=1", "did you mean MCPSPLICE_NO_MEMORY?" },
};

/* What the user wanted to forbid would be allowed. */
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
	    "unknown variable MCPSPLICE_BEARER (did you mean to send a "
	    "token: --bearer-env NAME, or --bearer-file FILE?)");
	world_free(&w);
}
END_TEST

START_TEST(open_files_are_warned_about)
{
	const struct mode_case *c = &mode_cases[_i];
	struct world w;
	char *want;

	world_init(&w);
	world_file(w.etc, c->text, c->mode);
	ck_assert_int_eq(world_load(&w, URL), 0);
	ck_assert_uint_eq(w.o.warnings.n, c->warns);
	if (c->warns) {
		want = xasprintf(
		    "%s holds a secret and other users can read it; \"chmod 600\" it",
		    w.etc);
		ck_assert_str_eq(w.o.warnings.list[0], want);
		free(want);
	}
	world_free(&w);
}
END_TEST

struct trust_case {
	mode_t mode, folder;
	bool good;
};

static const struct trust_case trust_cases[] = {
	{ 0600, 0700, true },
	{ 0644, 0755, true },
	{ 0444, 0555, true },
	{ 0640, 0775, true },
	{ 0644, 01777, true },
	{ 0620, 0700, false },
	{ 0602, 0700, false },
	{ 0664, 0755, false },
	{ 0666, 0755, false },
	{ 0600, 0777, false },
	{ 0600, 0707, false },
	{ 0666, 0777, false },
};

/* What mends it is told. */
START_TEST(files_that_others_can_write)
{
	const struct trust_case *c = &trust_cases[_i];
	struct world w;
	char *mend;

	world_init(&w);
	world_file(w.extra, "fail\n", c->mode);
	ck_assert_int_eq(chmod(w.dir, c->folder), 0);
	ck_assert_int_eq(world_load(&w, "-K|EXTRA|" URL), c->good ? 0 : -1);
	if (!c->good) {
		mend = xasprintf("\"chmod go-w%s%s%s%s\"",
		    (c->mode & 022) != 0 ? " " : "",
		    (c->mode & 022) != 0 ? w.extra : "",
		    (c->folder & 02) != 0 ? " " : "",
		    (c->folder & 02) != 0 ? w.dir : "");
		ck_assert_msg(strstr(w.why, mend) != NULL, "%s", w.why);
		free(mend);
	}
	ck_assert_int_eq(chmod(w.dir, 0700), 0);
	world_free(&w);
}
END_TEST

/* Who may write where it leads may write it. */
START_TEST(links_to_files)
{
	struct world w;
	char *dir, *real;

	world_init(&w);
	dir = xasprintf("%s/dotfiles", w.dir);
	real = xasprintf("%s/real", dir);
	ck_assert_int_eq(mkdir(dir, 0700), 0);
	world_file(real, "fail\n", 0600);
	ck_assert_int_eq(symlink("dotfiles/real", w.extra), 0);
	ck_assert_int_eq(world_load(&w, "-K|EXTRA|" URL), 0);
	options_free(&w.o);
	ck_assert_int_eq(chmod(real, 0666), 0);
	ck_assert_int_eq(world_load(&w, "-K|EXTRA|" URL), -1);
	ck_assert_int_eq(chmod(real, 0600), 0);
	ck_assert_int_eq(chmod(dir, 0777), 0);
	ck_assert_int_eq(world_load(&w, "-K|EXTRA|" URL), -1);
	ck_assert_ptr_nonnull(strstr(w.why, dir));
	ck_assert_int_eq(chmod(dir, 0700), 0);
	if (geteuid() == 0) {
		ck_assert_int_eq(lchown(w.extra, 12345, 0), 0);
		ck_assert_int_eq(world_load(&w, "-K|EXTRA|" URL), -1);
	}
	ck_assert_int_eq(unlink(real), 0);
	ck_assert_int_eq(rmdir(dir), 0);
	free(dir);
	free(real);
	world_free(&w);
}
END_TEST

/* With a home of somebody else, as sudo can leave it, only root is to be seen
 * here: nobody else can make such files. */
START_TEST(files_of_another_user)
{
	static const char *const parts[] = { "", "/.config",
		"/.config/mcpsplice", "/.config/mcpsplice/config" };
	char *paths[COUNT(parts)], *home;
	struct world w;
	int i;

	if (geteuid() != 0)
		return;
	world_init(&w);
	for (i = 0; i < COUNT(parts); i++) {
		paths[i] = xasprintf("%s/me%s", w.dir, parts[i]);
		if (i < COUNT(parts) - 1)
			ck_assert_int_eq(mkdir(paths[i], 0755), 0);
	}
	home = w.home;
	w.home = paths[COUNT(parts) - 1];
	world_file(w.home, "fail\n", 0644);
	ck_assert_int_eq(world_load(&w, URL), 0);
	options_free(&w.o);
	for (i = 0; i < COUNT(parts); i++) {
		ck_assert_int_eq(chown(paths[i], 12345, 0), 0);
		ck_assert_int_eq(world_load(&w, URL), -1);
		ck_assert_msg(strstr(w.why, "another user") != NULL, "%s",
		    w.why);
		ck_assert_int_eq(chown(paths[i], 0, 0), 0);
	}
	/* what is above the folder of a named file is not looked at */
	w.home = home;
	ck_assert_int_eq(chown(paths[0], 12345, 0), 0);
	free(w.extra);
	w.extra = xstrdup(paths[COUNT(parts) - 1]);
	ck_assert_int_eq(world_load(&w, "-K|EXTRA|" URL), 0);
	unlink(paths[COUNT(parts) - 1]);
	for (i = COUNT(parts); i-- > 0; free(paths[i]))
		rmdir(paths[i]);
	world_free(&w);
}
END_TEST

/* A shell's <(...), and /dev/null for no file at all. */
START_TEST(files_that_are_none)
{
	static const char text[] = "fail\n";
	struct world w;
	char *args;
	int ends[2];

	world_init(&w);
	ck_assert_int_eq(world_load(&w, "-K|/dev/null|" URL), 0);
	options_free(&w.o);
	ck_assert_int_eq(pipe(ends), 0);
	ck_assert_int_eq(write(ends[1], text, sizeof text - 1),
	    sizeof text - 1);
	ck_assert_int_eq(close(ends[1]), 0);
	args = xasprintf("-K|/dev/fd/%d|" URL, ends[0]);
	ck_assert_int_eq(world_load(&w, args), 0);
	world_expect(&w, "a pipe", "fail=1;");
	ck_assert_int_eq(close(ends[0]), 0);
	free(args);
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
	/* dots that are written as escapes */
	{ "https://h/a/*", "https://h/a/../b/x", false },
	{ "https://h/a/*", "https://h/a/%2e%2e/b/x", false },
	{ "https://h/a/*", "https://h/a/.%2E/b/x", false },
	{ "https://h/a/*", "https://h/a/%2e./b", false },
	{ "https://h/a/*", "https://h/a/b/%2e%2e/%2E%2e", false },
	{ "https://h/b/*", "https://h/a/%2e%2e/b/x", true },
	{ "https://h/a/*", "https://h/a/%2e/b", true },
	{ "https://h/a/*", "https://h/%2e%2e/a/b", true },
	{ "https://h/v1.2/*", "https://h/v1%2e2/x", true },
	{ "https://h/v1%2E2/*", "https://h/v1%2e2/x", true },
	{ "https://h/a/*", "https://h/a/%252e%252e/b", true },
	{ "https://h/a/*", "https://h/a/..%2e/b", true },
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
		"MCPSPLICE_NO_MEMORY=1|MCPSPLICE_TRANSPORT=sse-first";
	ck_assert_int_eq(world_load(&w,
			     "-x|http://u:CANARY4@p:1|--oauth2Bearer|"
			     "CANARY5|-H|Plain: CANARY6|-H|@/f|"
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

/* A failure leaves the command, for whoever tells about it. */
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

/* The copy has what is blanked in the process's own. */
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

	tcase_add_loop_test(t, argv_is_read, 0, COUNT(argv_cases));
	tcase_add_loop_test(t, operands_are_read, 0, COUNT(operand_cases));
	tcase_add_loop_test(t, argv_is_refused, 0, COUNT(refused_cases));
	tcase_add_loop_test(t, bad_regexes_are_refused, 0, COUNT(bad_regexes));
	tcase_add_loop_test(t, secrets_are_blanked, 0, COUNT(blank_cases));
	tcase_add_loop_test(t, plain_values_stay, 0, COUNT(plain_args));
	tcase_add_test(t, secrets_are_blanked_on_error);
	tcase_add_loop_test(t, files_are_read, 0, COUNT(file_cases));
	tcase_add_test(t, a_note_names_its_line);
	tcase_add_test(t, a_nul_byte_in_a_file);
	tcase_add_loop_test(t, a_large_file, 0, 2);
	tcase_add_test(t, files_that_are_not_there);
	tcase_add_test(t, the_order_of_the_sources);
	tcase_add_test(t, the_order_of_headers);
	tcase_add_test(t, the_environment);
	tcase_add_test(t, the_url_of_files);
	tcase_add_test(t, the_transport_of_the_url);
	tcase_add_test(t, config_from_the_environment);
	tcase_add_test(t, other_sections_are_noted);
	tcase_add_loop_test(t, misspelt_variables_are_told, 0,
	    COUNT(variable_cases));
	tcase_add_loop_test(t, a_misspelt_guard_stops_the_start, 0,
	    COUNT(guard_cases));
	tcase_add_loop_test(t, open_files_are_warned_about, 0,
	    COUNT(mode_cases));
	tcase_add_loop_test(t, files_that_others_can_write, 0,
	    COUNT(trust_cases));
	tcase_add_test(t, links_to_files);
	tcase_add_test(t, files_of_another_user);
	tcase_add_test(t, files_that_are_none);
	tcase_add_loop_test(t, sections_match, 0, COUNT(match_cases));
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
