/*
 * options/argv: what is read of the command line, what is refused with which
 * words, and what is blanked.
 */
#include "config.h"

#include "options/set.h"

#include <regex.h>
#include <stdlib.h>

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
	{ "--noproxy|*.a, https://b.c:8/x http://d,10.0.0.0/8,*",
	    "noproxy=.a,b.c,d,10.0.0.0/8,*;" },
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
	{ "--resolve|a:1:10.0.0.2|--resolve=b:3:::4",
	    "resolve=a:1:10.0.0.2;resolve=b:3:::4;" },
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
	/* a leading blank is allowed in a pattern that is not just a blank */
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
	    "unknown option \"--agent\"; \"mcpsplice help all\" lists all options" },
	{ "logout|--agent",
	    "unknown option \"--agent\"; \"mcpsplice help all\" lists all options" },
	{ "--agent|login",
	    "unknown option \"--agent\"; \"mcpsplice help all\" lists all options" },
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
	    "lists all options" },
	{ "--NODE_EXTRA_CA_CERTS|x",
	    "unknown option "
	    "\"--NODE_EXTRA_CA_CERTS\"; \"mcpsplice help all\" lists all options" },
	{ "--no-header|" URL,
	    "unknown option \"--no-header\"; \"mcpsplice "
	    "help all\" lists all options" },
	{ "--no-help",
	    "unknown option \"--no-help\"; \"mcpsplice help all\" "
	    "lists all options" },
	{ "--no-no-cookies|" URL, "" },
	{ "-Z|" URL,
	    "unknown option \"-Z\"; \"mcpsplice help all\" lists all options" },
	{ "-vZ|" URL,
	    "unknown option \"-Z\"; \"mcpsplice help all\" lists all options" },
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
	    "lists all options" },
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
	    "lists all options" },
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
	{ "http:///h.x",
	    "\"http:///h.x\" is not a URL; did you mean http://h.x?" },
	{ "http/h", "\"http/h\" is not a URL; did you mean http://h?" },
	{ "httpd/h",
	    "\"httpd/h\" has no scheme; did you mean https://httpd/h?" },
	{ "https://h:99999/mcp",
	    "\"https://h:99999/mcp\": the port must be a number from 1 to 65535" },
	{ "https://[::1]:x/mcp",
	    "\"https://[::1]:x/mcp\": the port must be a number from 1 to 65535" },
	{ "https://fe80::1/mcp",
	    "the URL has an IPv6 address without brackets; write it as in http://[::1]:8080/mcp" },
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
	    "the URL contains no host name; it should look like https://mcp.example.com/mcp" },
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

int
main(void)
{
	Suite *s = suite_create("argv");
	TCase *t = tcase_create("argv");

	tcase_add_loop_test(t, argv_is_read, 0, COUNT(argv_cases));
	tcase_add_loop_test(t, operands_are_read, 0, COUNT(operand_cases));
	tcase_add_loop_test(t, argv_is_refused, 0, COUNT(refused_cases));
	tcase_add_loop_test(t, bad_regexes_are_refused, 0, COUNT(bad_regexes));
	tcase_add_loop_test(t, secrets_are_blanked, 0, COUNT(blank_cases));
	tcase_add_loop_test(t, plain_values_stay, 0, COUNT(plain_args));
	tcase_add_test(t, secrets_are_blanked_on_error);
	suite_add_tcase(s, t);
	return unit_run(s);
}
