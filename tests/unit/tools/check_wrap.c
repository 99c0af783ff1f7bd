/*
 * The entries of hosts, before and after; which are left alone, and why; what
 * is broken, and where. With random damage, too: what is then still read is
 * changed only inside of its entries, and what comes of it is read again.
 */
#include "config.h"

#include <stdlib.h>
#include <time.h>

#include "tools/wrap.h"
#include "unit/unit.h"

#define SELF "/m"
#define HEAD "[mcp_servers.a]\n"

static bool windows; /* are the files those of a host on Windows? */

typedef int wrap_fn(struct wrap_plan *p, struct span text, const char *self,
    char **why);

/* JSON with ' for ". */
static char *
json(const char *text)
{
	char *copy = xstrdup(text), *at = copy;

	while ((at = strchr(at, '\'')) != NULL)
		*at = '"';
	return copy;
}

/* Each edit is inside of an entry, and none is inside of another edit. */
static void
check_edits(const struct wrap_plan *p, struct span text)
{
	size_t i, k;
	bool inside;

	for (i = 0; i < p->n_edits; i++) {
		ck_assert_uint_le(p->edits[i].from, p->edits[i].to);
		ck_assert_uint_le(p->edits[i].to, text.n);
		if (i > 0)
			ck_assert_uint_le(p->edits[i - 1].to, p->edits[i].from);
		inside = false;
		for (k = 0; k < p->n_places; k++)
			inside = inside ||
			    (p->places[k].from <= p->edits[i].from &&
				p->edits[i].to <= p->places[k].to);
		ck_assert(inside);
	}
}

/* What became of the text is read again, and has nothing left to change. */
static void
check_again(wrap_fn *wrap, struct span text)
{
	struct wrap_plan p = { .windows = windows };
	char *why = NULL;

	ck_assert_msg(wrap(&p, text, SELF, &why) == 0, "%s: %.*s", why,
	    (int)text.n, text.p);
	ck_assert_msg(p.n_edits == 0, "not done: %.*s", (int)text.n, text.p);
	wrap_plan_free(&p);
}

/* Wraps; returns the new text, or the note or error in brackets. */
static char *
wrapped(wrap_fn *wrap, struct span text)
{
	struct wrap_plan p = { .windows = windows };
	struct buf out, diff;
	char *why = NULL, *result;

	buf_init(&out, 0);
	buf_init(&diff, 0);
	if (wrap(&p, text, SELF, &why) != 0) {
		result = xasprintf("[%s]", why);
	} else {
		wrap_plan_apply(&p, text, &out);
		check_edits(&p, text);
		ck_assert(!p.twice);
		check_again(wrap, buf_span(&out));
		wrap_plan_diff(&p, "f", text, buf_span(&out), &diff);
		if (p.notes.n > 0)
			result = xasprintf("[%s]", p.notes.list[0]);
		else
			result = buf_take(&out);
	}
	free(why);
	buf_free(&out);
	buf_free(&diff);
	wrap_plan_free(&p);
	return result;
}

static void
check_one(wrap_fn *wrap, const char *before, const char *after)
{
	char *got = wrapped(wrap, span_of(before));

	if (after[0] == '[' && strncmp(after, HEAD, 4) != 0 &&
	    strncmp(after, "[{", 2) != 0)
		ck_assert_msg(strstr(got, after + 1) != NULL && got[0] == '[',
		    "%s\n gives  %s\n and not %s", before, got, after);
	else
		ck_assert_msg(strcmp(got, after) == 0,
		    "%s\n gives  %s\n and not %s", before, got, after);
	free(got);
}

/* --- JSON: entries --- */

/* Entries, alone in their file; "[": part of why one is left alone. */
static const struct {
	const char *before, *after;
} entries[] = {
	/* mcp-remote: its arguments stay */
	{ "{'command':'npx','args':['-y','mcp-remote','https://a/x']}",
	    "{'command':'/m','args':['https://a/x']}" },
	{ "{ 'command' : 'npx' , 'args' : [ '-y' , 'mcp-remote@latest' , "
	  "'https://a/x' , '3334' ] }",
	    "{ 'command' : '/m' , 'args' : [ 'https://a/x', '3334' ] }" },
	{ "{'args':[\n\t'mcp-remote@0.1.2', // old\n\t'https://a/x', // url\n"
	  "\t'--header', 'A:${B}',\n],\n'command':'npx',}",
	    "{'args':[\n\t'https://a/x',\n\t'--header',\n\t'A:${B}'\n],"
	    "\n'command':'/m',}" },
	{ "{'command':'mcp-remote','args':['https://a/x']}",
	    "{'command':'/m','args':['https://a/x']}" },
	{ "{'command':'/opt/bin/npx','args':['--yes','-p','mcp-remote',"
	  "'mcp-remote','https://a/x']}",
	    "{'command':'/m','args':['https://a/x']}" },
	{ "{'command':'bunx','args':['--bun','mcp-remote','https://a/x']}",
	    "{'command':'/m','args':['https://a/x']}" },
	{ "{'command':'pnpm','args':['dlx','mcp-remote','https://a/x']}",
	    "{'command':'/m','args':['https://a/x']}" },
	{ "{'command':'npm','args':['exec','-y','--','mcp-remote',"
	  "'https://a/x']}",
	    "{'command':'/m','args':['https://a/x']}" },
	{ "{'command':'deno','args':['run','-A','npm:mcp-remote@1',"
	  "'https://a/x']}",
	    "{'command':'/m','args':['https://a/x']}" },
	{ "{'command':'node','args':["
	  "'/u/node_modules/mcp-remote/dist/proxy.js','https://a/x']}",
	    "{'command':'/m','args':['https://a/x']}" },
	{ "{'command':'node','args':["
	  "'C:\\\\u\\\\mcp-remote\\\\dist\\\\proxy.js','https://a/x']}",
	    "{'command':'wsl.exe','args':['--exec', '/m', 'https://a/x']}" },
	/* Windows */
	{ "{'command':'cmd','args':['/c','npx','-y','mcp-remote',"
	  "'https://a/x']}",
	    "{'command':'wsl.exe','args':['--exec', '/m', 'https://a/x']}" },
	{ "{'command':'wsl','args':['-d','U','npx','mcp-remote',"
	  "'https://a/x']}",
	    "{'command':'wsl','args':['-d', 'U', '/m', 'https://a/x']}" },
	{ "{'command':'npx.cmd','args':['mcp-remote','https://a/x']}",
	    "{'command':'wsl.exe','args':['--exec', '/m', 'https://a/x']}" },
	{ "{'command':'D:/n/npx','args':['mcp-remote','https://a/x']}",
	    "{'command':'wsl.exe','args':['--exec', '/m', 'https://a/x']}" },
	{ "{'command':'C:\\\\n\\\\mcp-remote.cmd','args':[ 'https://a/x' ]}",
	    "{'command':'wsl.exe','args':[ '--exec', '/m', 'https://a/x' ]}" },
	{ "{'command':['npx.cmd','mcp-remote','https://a/x']}",
	    "{'command':['wsl.exe', '--exec', '/m', 'https://a/x']}" },
	{ "{'command':['mcp-remote.cmd','https://a/x']}",
	    "{'command':['wsl.exe', '--exec', '/m', 'https://a/x']}" },
	{ "{'command':'mcp-proxy.exe','args':['-H','A','b','https://a/x']}",
	    "{'command':'wsl.exe','args':['--exec', '/m', '-H', 'A: b',"
	    " 'https://a/x']}" },
	{ "{'command':'wsl.exe','args':['--exec','/m','https://a/x']}", "=" },
	{ "{'command':'npx.cmd','args':['other','https://a/x']}", "=" },
	/* WSL gets the variables that arguments name */
	{ "{'command':'npx.cmd','args':['mcp-remote','https://a/x','--header',"
	  "'A:${B} ${C} ${B}'],\n 'env':{\n  'B':'b'\n }}",
	    "{'command':'wsl.exe','args':['--exec', '/m', 'https://a/x',"
	    " '--header', 'A:${B} ${C} ${B}'],"
	    "\n 'env':{\n  'WSLENV': 'B:C',\n  'B':'b'\n }}" },
	{ "{'args':['/c','npx','mcp-remote','https://a/x','--header','A:${B}'],"
	  "'command':'cmd','env':{}}",
	    "{'args':['--exec', '/m', 'https://a/x', '--header', 'A:${B}'],"
	    "'command':'wsl.exe','env':{'WSLENV': 'B'}}" },
	{ "{'command':'npx.cmd','args':['mcp-remote','https://a/x','--header',"
	  "'A:${B}'],'env':{'WSLENV':'C'}}",
	    "[its WSLENV does not" },
	{ "{'command':'npx.cmd','args':['mcp-remote','https://a/x'],"
	  "'env':{'WSLENV':'C'}}",
	    "{'command':'wsl.exe','args':['--exec', '/m', 'https://a/x'],"
	    "'env':{'WSLENV':'C'}}" },
	/* what mcpsplice would obey */
	{ "{'command':'npx','args':['mcp-remote','https://a/x'],"
	  "'env':{'HTTPS_PROXY':'p'}}",
	    "[HTTPS_PROXY]" },
	{ "{'command':'npx','args':['mcp-remote','https://a/x','--enable-proxy'"
	  "],'env':{'HTTPS_PROXY':'p'}}",
	    "{'command':'/m','args':['https://a/x', '--enable-proxy'],"
	    "'env':{'HTTPS_PROXY':'p'}}" },
	{ "{'command':'npx','args':['mcp-remote','https://a/x','--enable-proxy'"
	  "],'env':{'SSL_CERT_FILE':'f'}}",
	    "[SSL_CERT_FILE" },
	{ "{'command':'npx','args':['supergateway','--sse','https://a/x'],"
	  "'env':{'all_proxy':'p'}}",
	    "[all_proxy" },
	{ "{'command':'uvx','args':['mcp-proxy','https://a/x'],"
	  "'env':{'HTTPS_PROXY':'p','SSL_CERT_FILE':'f'}}",
	    "{'command':'/m','args':['https://a/x'],"
	    "'env':{'HTTPS_PROXY':'p','SSL_CERT_FILE':'f'}}" },
	{ "{'command':'uvx','args':['mcp-proxy','https://a/x'],"
	  "'env':{'CURL_CA_BUNDLE':'f'}}",
	    "[CURL_CA_BUNDLE" },
	/* packages with the same last part */
	{ "{'command':'npx','args':['@b/mcp-remote','https://a/x']}",
	    "[does not understand" },
	{ "{'command':'node','args':['/n/@b/mcp-remote/x.js','https://a/x']}",
	    "[does not understand" },
	{ "{'command':'npx.cmd','args':['mcp-remote','https://a/x','--header',"
	  "'A:${B}']}",
	    "{'command':'wsl.exe', 'env':{'WSLENV': 'B'},'args':['--exec',"
	    " '/m', 'https://a/x', '--header', 'A:${B}']}" },
	{ "{'command':['npx.cmd','mcp-remote','https://a/x','--header',"
	  "'A:${B}'],'environment':{'B':'b'}}",
	    "{'command':['wsl.exe', '--exec', '/m', 'https://a/x',"
	    " '--header', 'A:${B}'],'environment':{'WSLENV': 'B', 'B':'b'}}" },
	{ "{'command':{'path':'npx.cmd','args':['mcp-remote','https://a/x',"
	  "'--header','A:${B}'],'env':{'B':'b'}}}",
	    "{'command':{'path':'wsl.exe','args':['--exec', '/m',"
	    " 'https://a/x', '--header', 'A:${B}'],'env':{'WSLENV': 'B',"
	    " 'B':'b'}}}" },
	{ "{'command':'uvx.exe','args':['mcp-proxy','https://a/x'],"
	  "'env':{'API_ACCESS_TOKEN':'t'}}",
	    "{'command':'wsl.exe','args':['--exec', '/m', 'https://a/x',"
	    " '--bearer-env', 'API_ACCESS_TOKEN'],"
	    "'env':{'WSLENV': 'API_ACCESS_TOKEN', 'API_ACCESS_TOKEN':'t'}}" },
	/* opencode, and Zed's older form */
	{ "{'type':'local','command':['npx','mcp-remote','https://a/x']}",
	    "{'type':'local','command':['/m', 'https://a/x']}" },
	{ "{'command':{'path':'npx','args':['mcp-remote','https://a/x']}}",
	    "{'command':{'path':'/m','args':['https://a/x']}}" },
	/* supergateway */
	{ "{'command':'npx','args':['-y','supergateway','--streamableHttp',"
	  "'https://a/x','--outputTransport','stdio','--logLevel','none']}",
	    "{'command':'/m','args':['--streamableHttp', 'https://a/x',"
	    " '--outputTransport', 'stdio', '--logLevel', 'none']}" },
	{ "{'command':'npx','args':['supergateway','--sse','https://a/x']}",
	    "{'command':'/m','args':['--sse', 'https://a/x']}" },
	/* mcp-proxy */
	{ "{'command':'mcp-proxy','args':['https://a/sse']}",
	    "{'command':'/m','args':['https://a/sse']}" },
	{ "{'command':'uvx','args':['mcp-proxy','--headers','A','b c',"
	  "'--transport','streamablehttp','https://a/x']}",
	    "{'command':'/m','args':['-H', 'A: b c', '--transport',"
	    " 'streamablehttp', 'https://a/x']}" },
	{ "{'command':'uv','args':['tool','run','mcp-proxy','https://a/x'],"
	  "'env':{'API_ACCESS_TOKEN':'t'}}",
	    "{'command':'/m','args':['https://a/x', '--bearer-env', "
	    "'API_ACCESS_TOKEN'],'env':{'API_ACCESS_TOKEN':'t'}}" },
	{ "{'command':['uvx','mcp-proxy','https://a/x'],"
	  "'environment':{'API_ACCESS_TOKEN':'t'}}",
	    "{'command':['/m', 'https://a/x', '--bearer-env', "
	    "'API_ACCESS_TOKEN'],'environment':{'API_ACCESS_TOKEN':'t'}}" },
	/* not a client of a URL, or already done */
	{ "{'command':'npx','args':['supergateway','--stdio','x']}", "=" },
	{ "{'command':'npx','args':['supergateway','--sse','https://a/x',"
	  "'--outputTransport','ws']}",
	    "=" },
	{ "{'command':'npx','args':['mcp-proxy','--port','80','tsx','s.js']}",
	    "=" },
	{ "{'command':'mcp-proxy','args':['uvx','s']}", "=" },
	{ "{'command':'/usr/bin/mcpsplice','args':['https://a/x']}", "=" },
	{ "{'command':'wsl','args':['mcpsplice','https://a/x']}", "=" },
	{ "{'command':'npx','args':['-y','mcpsplice','https://a/x']}", "=" },
	{ "{'command':'node','args':['server.js']}", "=" },
	{ "{'command':'node'}", "=" },
	{ "{'command':'npx','args':['-y']}", "=" },
	{ "{'command':'npx','args':7}", "=" },
	{ "{'command':'npx','args':{'a':'mcp-remote','b':'https://a/x'}}",
	    "[args is not a string" },
	{ "{'command':'npx','args':['mcp-remote',7]}",
	    "[args is not a string" },
	{ "{'command':'npx','args':['mcp-remote','https://a/\\u0000']}",
	    "[args is not a string" },
	{ "{'command':'npx','args':['other',7]}", "=" },
	{ "{'command':7,'url':'https://a/x'}", "=" },
	{ "{'command':[]}", "=" },
	{ "{'command':''}", "=" },
	{ "{'url':7}", "=" },
	{ "{}", "=" },
	/* mcp-stdio */
	{ "{'command':'uvx','args':['mcp-stdio','https://a/x','-H','A: b',"
	  "'--transport','streamable-http','--timeout-connect','5',"
	  "'--timeout-read=60','--client-id','i','--oauth-scope','a b']}",
	    "{'command':'/m','args':['https://a/x', '-H', 'A: b',"
	    " '--transport', 'streamable-http', '--connect-timeout', '5',"
	    " '--call-timeout', '60', '--client-id', 'i', '--scope', 'a b']}" },
	{ "{'command':'mcp-stdio','args':['--oauth','https://a/x']}",
	    "{'command':'/m','args':['--auth=oauth', 'https://a/x']}" },
	{ "{'command':'mcp-stdio','args':['https://a/x','--oauth-device',"
	  "'--protocol-era','legacy']}",
	    "{'command':'/m','args':['https://a/x', '--device-code',"
	    " '--protocol', 'legacy']}" },
	{ "{'command':'mcp-stdio','args':['https://a/x','--no-cancel-filter']}",
	    "[unknown option --no-cancel-filter" },
	{ "{'command':'mcp-stdio','args':['https://a/x','--bearer-token','t']}",
	    "{'command':'/m','args':['https://a/x', '--oauth2Bearer', 't']}" },
	{ "{'command':'mcp-stdio','args':['https://a/x'],"
	  "'env':{'MCP_BEARER_TOKEN':'t'}}",
	    "{'command':'/m','args':['https://a/x', '--bearer-env',"
	    " 'MCP_BEARER_TOKEN'],'env':{'MCP_BEARER_TOKEN':'t'}}" },
	{ "{'command':'mcp-stdio','args':['https://a/x'],"
	  "'env':{'MCP_OAUTH_CLIENT_ID':'t'}}",
	    "[MCP_OAUTH_CLIENT_ID" },
	{ "{'command':'mcp-stdio','args':['https://a/x','--check']}",
	    "[unknown option --check" },
	{ "{'command':'mcp-stdio','args':['https://a/x','--timeout-read']}",
	    "[--call-timeout" },
	{ "{'command':'npx','args':['@b/mcp-stdio','https://a/x']}", "=" },
	{ "{'command':'mcp-stdio','args':['serve']}", "=" },
	/* fastmcp-remote */
	{ "{'command':'uvx','args':['fastmcp-remote@4.1','https://a/x','3334',"
	  "'--auth','none','--resource','r','--silent',"
	  "'--transport','http','--ignore-tool','d*','--host','localhost']}",
	    "{'command':'/m','args':['https://a/x', '3334', '--auth', 'none',"
	    " '--profile', 'r', '--silent',"
	    " '--transport', 'http', '--ignore-tool', 'd*', '--host',"
	    " 'localhost']}" },
	{ "{'command':'uvx','args':['--from','fastmcp-remote','fastmcp-remote',"
	  "'https://a/x','--header','A:${B}']}",
	    "{'command':'/m','args':['https://a/x', '--header', 'A:${B}']}" },
	{ "{'command':'fastmcp-remote','args':['https://a/x','--verify',"
	  "'false']}",
	    "[unknown option --verify" },
	{ "{'command':'sh','args':['-c','uvx fastmcp-remote https://a/x']}",
	    "[does not understand" },
	/* mcp-proxy-for-aws */
	{ "{'command':'uvx','args':['mcp-proxy-for-aws@latest',"
	  "'https://b.us-east-1.api.aws/x','--profile','default','--region=us-east-1',"
	  "'--read-only','--tool-timeout','9']}",
	    "{'command':'/m', 'env':{'AWS_PROFILE': 'default'},"
	    "'args':['https://b.us-east-1.api.aws/x', '--aws-sigv4', 'us-east-1',"
	    " '--read-only', '--call-timeout', '9',"
	    " '--auth-command', 'aws configure export-credentials']}" },
	{ "{'command':'uvx','args':['mcp-proxy-for-aws','--region','us-east-1',"
	  "'https://b.us-east-1.api.aws/x'],'env':{'AWS_ACCESS_KEY_ID':'a'}}",
	    "{'command':'/m','args':['--aws-sigv4', 'us-east-1',"
	    " 'https://b.us-east-1.api.aws/x'],'env':{'AWS_ACCESS_KEY_ID':'a'}}" },
	{ "{'command':'uvx','args':['mcp-proxy-for-aws','--region','r',"
	  "'--profile','p','https://b.us-east-1.api.aws/x'],"
	  "'env':{'AWS_ACCESS_KEY_ID':'a'}}",
	    "[--profile" },
	{ "{'command':'uvx','args':['mcp-proxy-for-aws','https://a/x']}",
	    "[--region" },
	{ "{'command':'uvx','args':['mcp-proxy-for-aws',"
	  "'https://a.us-east-1.api.aws/x','--metadata','A=b']}",
	    "[unknown option --metadata" },
	{ "{'command':'sh','args':['-c','uvx mcp-proxy-for-aws https://a/']}",
	    "[does not understand" },
	/* an environment that is no object */
	{ "{'command':'npx','args':['mcp-remote','https://a/x'],"
	  "'env':['A=1']}",
	    "[does not understand its environment" },
	{ "{'command':'npx','args':['mcp-remote','https://a/x'],'env':'A=1'}",
	    "[does not understand its environment" },
	{ "{'url':'https://a/x','env':['A=1']}", "[its env" },
	{ "{'url':'https://a/x','environment':7}", "[its env" },
	/* it would be an option of mcpsplice, and its file would be read */
	{ "{'url':'--config=/dev/null'}", "[its URL is malformed" },
	{ "{'url':'-K/dev/null','headers':{'A':'b'}}",
	    "[its URL is malformed" },
	{ "{'command':'docker','env':['A=1'],'environment':[[{}]]}", "=" },
	{ "{'command':'npx','args':['mcp-remote','https://a/x'],'env':null}",
	    "{'command':'/m','args':['https://a/x'],'env':null}" },
	/* a whole command line in the command */
	{ "{'command':'npx -y mcp-remote https://a/x?k=SECRET','env':{}}",
	    "{'command':'/m', 'args':['https://a/x?k=SECRET'],'env':{}}" },
	{ "{\n\t'command': 'npx  mcp-remote https://a/x --header "
	  "\\'A: b c\\''\n}",
	    "{\n\t'command': '/m',\n\t'args': ['https://a/x', '--header', "
	    "'A: b c']\n}" },
	{ "{'command':'npx -y mcp-remote','args':[ 'https://a/x' ]}",
	    "{'command':'/m','args':[ 'https://a/x' ]}" },
	{ "{'command':['npx mcp-remote https://a/x']}",
	    "{'command':['/m', 'https://a/x']}" },
	{ "{'command':'cmd /c npx mcp-remote https://a/x'}",
	    "{'command':'wsl.exe', 'args':['--exec', '/m', 'https://a/x']}" },
	{ "{'command':'wsl npx mcp-remote https://a/x'}",
	    "{'command':'wsl', 'args':['/m', 'https://a/x']}" },
	{ "{'command':'uvx mcp-proxy https://a/x','args':[]}",
	    "{'command':'/m','args':['https://a/x']}" },
	{ "{'command':'C:\\\\Program Files\\\\nodejs\\\\npx.cmd',"
	  "'args':['mcp-remote','https://a/x']}",
	    "{'command':'wsl.exe','args':['--exec', '/m', 'https://a/x']}" },
	{ "{'command':'npx mcp-remote https://a/x','args':7}", "=" },
	{ "{'command':'npx mcp-remote https://a/x && ls'}", "[unexpected" },
	{ "{'command':'npx mcp-remote \\'https://a/x'}", "[not under" },
	/* words of --transport */
	{ "{'command':'npx','args':['mcp-remote','https://a/x','--transport',"
	  "'streamable-http']}",
	    "{'command':'/m','args':['https://a/x', '--transport',"
	    " 'streamable-http']}" },
	{ "{'command':'npx','args':['mcp-remote','https://a/x','--transport',"
	  "'websocket']}",
	    "{'command':'/m','args':['https://a/x', '--transport',"
	    " 'websocket']}" },
	/* placeholders of the host */
	{ "{'command':'npx','args':['mcp-remote','https://a/x','--header',"
	  "'Authorization: Bearer ${input:t}']}",
	    "{'command':'/m', 'env':{'MCP_HEADER_1': 'Bearer ${input:t}'},"
	    "'args':['https://a/x', '-H', 'Authorization: "
	    "${MCP_HEADER_1}']}" },
	{ "{'command':'npx','args':['mcp-remote','https://a/x','--header',"
	  "'X-A:${env:B}'],'env':{'MCP_X_A':'c'}}",
	    "{'command':'/m','args':['https://a/x', '-H', 'X-A: ${MCP_HEADER_1}'],"
	    "'env':{'MCP_HEADER_1': '${env:B}', 'MCP_X_A':'c'}}" },
	{ "{'command':'mcp-proxy','args':['-H','A','${input:b c}',"
	  "'https://a/x']}",
	    "{'command':'/m', 'env':{'MCP_HEADER_1': '${input:b c}'},"
	    "'args':['-H', 'A: ${MCP_HEADER_1}', 'https://a/x']}" },
	/* these send ${NAME} as it stands, if the host does */
	{ "{'command':'mcp-proxy','args':['-H','A','${B}','https://a/x']}",
	    "{'command':'/m', 'env':{'MCP_HEADER_1': '${B}'},"
	    "'args':['-H', 'A: ${MCP_HEADER_1}', 'https://a/x']}" },
	{ "{'command':'mcp-stdio','args':['https://a/x','-H','A: ${B}']}",
	    "{'command':'/m', 'env':{'MCP_HEADER_1': '${B}'},"
	    "'args':['https://a/x', '-H', 'A: ${MCP_HEADER_1}']}" },
	{ "{'command':'mcp-stdio','args':['https://a/x','--bearer-token',"
	  "'${B}']}",
	    "{'command':'/m', 'env':{'MCP_HEADER_1': 'Bearer ${B}'},"
	    "'args':['https://a/x', '-H', 'Authorization: "
	    "${MCP_HEADER_1}']}" },
	{ "{'command':'supergateway','args':['--sse','https://a/x',"
	  "'--oauth2Bearer=${B}']}",
	    "{'command':'/m', 'env':{'MCP_HEADER_1': 'Bearer ${B}'},"
	    "'args':['--sse', 'https://a/x', '-H', 'Authorization: "
	    "${MCP_HEADER_1}']}" },
	{ "{'command':'fastmcp-remote','args':['https://a/x','--header',"
	  "'A: ${B}']}",
	    "{'command':'/m','args':['https://a/x', '--header', 'A: ${B}']}" },
	{ "{'command':['npx','mcp-remote','https://a/x','--header',"
	  "'A: {env:B}']}",
	    "{'command':['/m', 'https://a/x', '-H', 'A: ${MCP_HEADER_1}'],"
	    " 'environment':{'MCP_HEADER_1': '{env:B}'}}" },
	/* left alone */
	{ "{'command':'npx mcp-remote --header A:SECRET','args':["
	  "'https://a/x']}",
	    "[does not understand" },
	{ "{'command':['npx mcp-remote https://a/x --header','A:SECRET']}",
	    "[does not understand" },
	{ "{'command':'uvx mcp-proxy -H A','args':['SECRET','https://a/x']}",
	    "=" },
	{ "{'command':'sh','args':['-c','npx mcp-remote https://a/x']}",
	    "[does not understand" },
	{ "{'command':'npx','args':['mcp-remote']}", "[no URL" },
	{ "{'command':'npx','args':['mcp-remote','https://a/x','--who']}",
	    "[unknown option" },
	{ "{'command':'npx','args':['mcp-remote','https://a/x','--header A:"
	  "SECRET']}",
	    "[unknown option --header, in one word with its value]" },
	{ "{'command':'npx','args':['mcp-remote','https://a/x','--header',"
	  "'A:','b']}",
	    "[unexpected argument" },
	{ "{'command':'npx','args':['mcp-remote','https://a/x','--header',"
	  "'Host: b']}",
	    "[sets the header" },
	{ "{'command':'npx','args':['mcp-remote','--help']}", "[not under" },
	{ "{'command':'npx','args':['mcp-remote','login','https://a/x']}",
	    "[not under" },
	{ "{'command':'mcp-proxy','args':['https://a/x','-H','A']}",
	    "[does not understand" },
	/* a URL */
	{ "{'url':'https://a/x'}", "{'command':'/m', 'args':['https://a/x']}" },
	{ "{\n  'type': 'http',\n  'url': 'https://a/x'\n}",
	    "{\n  'type': 'stdio',\n  'command': '/m',\n"
	    "  'args': ['https://a/x']\n}" },
	{ "{\r\n\t'httpUrl': 'https://a/x',\r\n\t'trust': true\r\n}",
	    "{\r\n\t'command': '/m',\r\n\t'args': ['https://a/x'],\r\n"
	    "\t'trust': true\r\n}" },
	{ "{ 'serverUrl' : 'https://a/x' }",
	    "{ 'command' : '/m', 'args' : ['https://a/x'] }" },
	{ "{ 'type': 'remote', 'url': 'https://a/x', 'enabled': true }",
	    "{ 'type': 'local', 'command': ['/m', 'https://a/x'], "
	    "'enabled': true }" },
	{ "{'transport':'streamable-http','url':'https://a/x'}",
	    "{'transport':'stdio','command':'/m', 'args':['https://a/x']}" },
	/* its headers */
	{ "{'url':'https://a/x','headers':{'A':'b \\u0041\\\\','C':'${D}'}}",
	    "{'command':'/m', 'args':['https://a/x', '-H', 'C: ${D}'],"
	    " 'env':{'MCPSPLICE_HEADER': 'A: b A\\\\'}}" },
	{ "{'url':'https://a/x','headers':{'A':'b','C':'d'}}",
	    "{'command':'/m', 'args':['https://a/x'], "
	    "'env':{'MCPSPLICE_HEADER': 'A: b\\nC: d'}}" },
	{ "{'type':'remote','url':'https://a/x','headers':{'A':'b'}}",
	    "{'type':'local','command':['/m', 'https://a/x'], "
	    "'environment':{'MCPSPLICE_HEADER': 'A: b'}}" },
	{ "{'url':'https://a/x','headers':{'A':'b'},'env':{}}",
	    "{'command':'/m', 'args':['https://a/x'],"
	    "'env':{'MCPSPLICE_HEADER': 'A: b'}}" },
	{ "{'url':'https://a/x','headers':{'A':'b'},'env':null}",
	    "{'command':'/m', 'args':['https://a/x'],"
	    "'env':{'MCPSPLICE_HEADER': 'A: b'}}" },
	/* what the host replaces goes through its own variables */
	{ "{'headers':{'A':'$b'},'url':'https://a/x'}",
	    "{'command':'/m', 'args':['https://a/x', '-H', 'A: ${MCP_HEADER_1}'],"
	    " 'env':{'MCP_HEADER_1': '$b'}}" },
	{ "{'url':'https://a/x','headers':{'A-b':'${env:B}','C':'d'}}",
	    "{'command':'/m', 'args':['https://a/x', '-H',"
	    " 'A-b: ${MCP_HEADER_1}'], 'env':{'MCP_HEADER_1': '${env:B}',"
	    " 'MCPSPLICE_HEADER': 'C: d'}}" },
	{ "{'type':'http','url':'https://a/x',"
	  "'headers':{'Authorization':'Bearer ${input:t}'}}",
	    "{'type':'stdio','command':'/m', 'args':['https://a/x',"
	    " '-H', 'Authorization: ${MCP_HEADER_1}'], 'env':{'MCP_HEADER_1':"
	    " 'Bearer ${input:t}'}}" },
	{ "{'url':'https://a/x','headers':{'authorization':'Basic ${env:B}'},"
	  "'env':{}}",
	    "{'command':'/m', 'args':['https://a/x', '-H', 'authorization:"
	    " ${MCP_HEADER_1}'],'env':{'MCP_HEADER_1':"
	    " 'Basic ${env:B}'}}" },
	{ "{'url':'https://a/x','headers':{'A':'${B:-c}'},'env':null}",
	    "{'command':'/m', 'args':['https://a/x', '-H', 'A: ${MCP_HEADER_1}'],"
	    "'env':{'MCP_HEADER_1': '${B:-c}'}}" },
	{ "{'url':'https://a/x','headers':{'A':'${'}}",
	    "{'command':'/m', 'args':['https://a/x', '-H', 'A: ${MCP_HEADER_1}'],"
	    " 'env':{'MCP_HEADER_1': '${'}}" },
	{ "{'url':'https://a/x','headers':{'A':'a$$b','a':'$(c)'}}",
	    "{'command':'/m', 'args':['https://a/x', '-H', 'A: ${MCP_HEADER_1}',"
	    " '-H', 'a: ${MCP_HEADER_2}'], 'env':{'MCP_HEADER_1': 'a$$b', 'MCP_HEADER_2':"
	    " '$(c)'}}" },
	{ "{'type':'remote','url':'https://a/x','headers':{'A':'{env:B}'}}",
	    "{'type':'local','command':['/m', 'https://a/x', '-H',"
	    " 'A: ${MCP_HEADER_1}'], 'environment':{'MCP_HEADER_1': '{env:B}'}}" },
	{ "{'url':'https://a/x?k=${input:b}'}", "[URL" },
	{ "{'type':'remote','url':'https://a/{env:B}'}", "[URL" },
	/* mcporter */
	{ "{'baseUrl':'https://a/x'}",
	    "{'command':'/m', 'args':['https://a/x']}" },
	{ "{'baseUrl':'https://a/x','bearerTokenEnv':'T'}", "[bearerTokenEnv" },
	{ "{'url':'https://a/x',\n 'headers':{}\n}",
	    "{'command':'/m', 'args':['https://a/x']\n}" },
	{ "{'url':'https://a/x', // u\n 'headers':{'A':'b'} // h\n}",
	    "{'command':'/m', 'args':['https://a/x'], "
	    "'env':{'MCPSPLICE_HEADER': 'A: b'} // u\n  // h\n}" },
	{ "{'url':'https://a/x', // u\n 'headers':{'A':'b'} }",
	    "{'command':'/m', 'args':['https://a/x'], "
	    "'env':{'MCPSPLICE_HEADER': 'A: b'} // u\n  }" },
	{ "{'url':'https://a/x' // u\n , 'headers':{'A':'b'} }",
	    "{'command':'/m', 'args':['https://a/x'], "
	    "'env':{'MCPSPLICE_HEADER': 'A: b'} // u\n  }" },
	{ "{'url':'https://a/x', // u\n 'headers':{'A':'b'}, // h\n}",
	    "{'command':'/m', 'args':['https://a/x'], "
	    "'env':{'MCPSPLICE_HEADER': 'A: b'}, // u\n // h\n}" },
	{ "{'url':'https://a/x',\n 'headers':{'A':'b'},\n}",
	    "{'command':'/m', 'args':['https://a/x'], "
	    "'env':{'MCPSPLICE_HEADER': 'A: b'},\n}" },
	{ "{\n 'headers':{\n  'A':'b'\n },\n\n 'url':'https://a/x'\n}",
	    "{\n\n 'command':'/m',\n 'args':['https://a/x'],\n "
	    "'env':{'MCPSPLICE_HEADER': 'A: b'}\n}" },
	{ "{ 'headers' /**/ : /**/ {'A':'b'} /**/ , 'url':'https://a/x'}",
	    "{ 'command':'/m', 'args':['https://a/x'], "
	    "'env':{'MCPSPLICE_HEADER': 'A: b'}}" },
	{ "{'url':'https://a/x','headers':{'accept':'x','Content-Type':'y'}}",
	    "{'command':'/m', 'args':['https://a/x']}" },
	/* left alone */
	{ "{'url':'https://a/x','headers':{'@/f':'b'}}", "[cannot be sent" },
	{ "{'url':'https://a/x','headers':{'A:B':'b'}}", "[cannot be sent" },
	{ "{'url':'https://a/x','headers':{'@/f':'${B}'}}", "[cannot be sent" },
	{ "{'url':'https://a/x','headers':{'A':'b\\n@/f'}}",
	    "[cannot be sent" },
	{ "{'url':'https://a/x','headers':{'A\\u001b':'${env:B}'}}",
	    "[A\\x1b" },
	{ "{'url':'https://a/x','headers':{'A':7}}", "[not a string" },
	{ "{'url':'https://a/x','headers':{'A':'b\\u0000'}}", "[not a string" },
	{ "{'url':'https://a/x','headers':7}", "[not a list" },
	{ "{'url':'https://a/x','headers':{'Host':'b'}}", "[sets the header" },
	{ "{'url':'https://a/x','headers':{'A':'b\\nC: d'}}", "[be sent" },
	{ "{'url':'https://a/x','oauth':{}}", "[oauth" },
	{ "{'url':'https://a/x','type':'ws'}", "[type" },
	/* what only a command makes use of */
	{ "{'url':'https://a/x','args':[ ],'env':{},'cwd':'','envFile':null}",
	    "{'command':'/m','args':[ 'https://a/x' ],'env':{},'cwd':'',"
	    "'envFile':null}" },
	{ "{'args':null,'url':'https://a/x'}",
	    "{'args':['https://a/x'],'command':'/m'}" },
	{ "{'args':[ /**/ ],'url':'https://a/x'}",
	    "{'args':[ 'https://a/x' ],'command':'/m'}" },
	{ "{'args':[],'url':'https://a/x','type':'remote'}",
	    "{'args':[],'command':['/m', 'https://a/x'],'type':'local'}" },
	{ "{'url':'https://a/x','args':['https://b/','--trace','f']}",
	    "[its args cannot" },
	{ "{'args':['--trace'],'args':[],'url':'https://a/x'}", "[its args" },
	{ "{'url':'https://a/x','args':'--trace'}", "[its args" },
	{ "{'url':'https://a/x','command':{}}", "[its command" },
	{ "{'url':'https://a/x','command':{'args':['x']}}", "[its command" },
	{ "{'url':'https://a/x','env':{'LD_PRELOAD':'f'}}", "[its env" },
	{ "{'type':'remote','url':'https://a/x','environment':{'A':'b'}}",
	    "[its environment" },
	{ "{'url':'https://a/x','envFile':'.env'}", "[its envFile" },
	{ "{'url':'https://a/x','Args':['--trace','f']}", "[its Args" },
	{ "{'url':'https://a/x','ARG\xC5\xBF':['--trace','f']}", "[its ARG" },
	{ "{'url':'https://a/x','Env':{'LD_PRELOAD':'f'}}", "[its Env" },
	{ "{'url':'https://a/x','cwd':'/d'}", "[its cwd" },
	/* what may be for the request, or its connection */
	{ "{'url':'https://a/x','bearer_token':'t'}", "[its bearer_token " },
	{ "{'url':'https://a/x','oauthClientId':'t'}", "[its oauthClientId" },
	{ "{'url':'https://a/x','apiKey':'t'}", "[its apiKey" },
	/* only Codex, whose file is TOML, has it */
	{ "{'url':'https://a/x','bearer_token_env_var':'T'}",
	    "[its bearer_token_env_var" },
	{ "{'url':'https://a/x','AUTHORIZATION':'t'}", "[its AUTHORIZATION" },
	{ "{'url':'https://a/x','\\u0061uth':'t'}", "[uth cannot" },
	{ "{'url':'https://a/x','\\u0065nv':{'LD_PRELOAD':'f'}}",
	    "[nv cannot" },
	{ "{'url':'https://a/x','http_headers':{}}", "[its http_headers" },
	{ "{'url':'https://a/x','customHeaders':{}}", "[its customHeaders" },
	{ "{'url':'https://a/x','ssl_verify':false}", "[its ssl_verify" },
	{ "{'url':'https://a/x','insecureSkipVerify':true}", "[its insec" },
	{ "{'url':'https://a/x','client_cert':'f'}", "[its client_cert" },
	{ "{'url':'https://a/x','tls':{}}", "[its tls" },
	{ "{'url':'https://a/x','proxy':'p'}", "[its proxy" },
	{ "{'url':'https://a/x','query':{'k':'v'}}", "[its query" },
	{ "{'url':'https://a/x','params':{'k':'v'}}", "[its params" },
	{ "{'url':'https://a/x','requestOptions':{},'headers':{'A':'b'}}",
	    "{'command':'/m', 'args':['https://a/x'], "
	    "'env':{'MCPSPLICE_HEADER': 'A: b'},'requestOptions':{}}" },
	/* Continue sends ${NAME} as it stands */
	{ "{'url':'https://a/x','requestOptions':{'headers':{'A':'${B}'}}}",
	    "{'command':'/m', 'args':['https://a/x', '-H', "
	    "'A: ${MCP_HEADER_1}'], 'env':{'MCP_HEADER_1': '${B}'}}" },
	{ "{'url':'https://a/x','requestOptions':{'headers':{'A':'b'}},"
	  "'headers':{'C':'d'}}",
	    "[its requestOptions" },
	/* what is only for the host */
	{ "{'url':'https://a/x','timeout':5,'trust':true,'enabled':true,"
	  "'disabledTools':['a'],'autoApprove':[],'description':'d'}",
	    "{'command':'/m', 'args':['https://a/x'],'timeout':5,"
	    "'trust':true,'enabled':true,'disabledTools':['a'],"
	    "'autoApprove':[],'description':'d'}" },
	{ "{'url':'https://a/x','httpUrl':'https://a/x'}", "[several" },
	{ "{'url':'${B}/x'}", "[URL" },
	{ "{'url':'http://far.example/x'}", "[allow-http" },
	{ "{'url':'ws://a/x'}", "[scheme" },
};

/* An entry, with ' for ", in a file. */
static char *
file_of(const char *entry)
{
	char *inner = json(entry), *text;

	text = xasprintf("{\"mcpServers\":{ \"e\" : %s }}", inner);
	free(inner);
	return text;
}

static void
check_entry(const char *entry, const char *after)
{
	char *before = file_of(entry), *wanted;

	if (after[0] == '[')
		wanted = xstrdup(after);
	else
		wanted = file_of(strcmp(after, "=") == 0 ? entry : after);
	check_one(wrap_json, before, wanted);
	free(before);
	free(wanted);
}

START_TEST(entry)
{
	check_entry(entries[_i].before, entries[_i].after);
}
END_TEST

/* The same in a file of a host on Windows. */
static const struct {
	const char *before, *after;
} on_windows[] = {
	{ "{'command':'npx','args':['mcp-remote','https://a/x']}",
	    "{'command':'wsl.exe','args':['--exec', '/m', 'https://a/x']}" },
	{ "{'command':'wsl','args':['npx','mcp-remote','https://a/x']}",
	    "{'command':'wsl','args':['/m', 'https://a/x']}" },
	{ "{'command':'wsl.exe','args':['--exec','/m','https://a/x']}", "=" },
	{ "{'url':'https://a/x'}",
	    "{'command':'wsl.exe', 'args':['--exec', '/m', 'https://a/x']}" },
	{ "{'type':'remote','url':'https://a/x'}",
	    "{'type':'local','command':['wsl.exe', '--exec', '/m', "
	    "'https://a/x']}" },
	{ "{'url':'https://a/x','headers':{'A':'b','C':'${D}'}}",
	    "{'command':'wsl.exe', 'args':['--exec', '/m', 'https://a/x', "
	    "'-H', 'C: ${D}'], 'env':{'MCPSPLICE_HEADER': 'A: b', "
	    "'WSLENV': 'MCPSPLICE_HEADER:D'}}" },
	{ "{'url':'https://a/x','headers':{'C':'${D}'}}",
	    "{'command':'wsl.exe', 'args':['--exec', '/m', 'https://a/x', "
	    "'-H', 'C: ${D}'], 'env':{'WSLENV': 'D'}}" },
	{ "{'url':'https://a/x','headers':{'C':'${D}'},'env':{'D':'e'}}",
	    "[its env cannot be carried over]" },
};

static void
setup_windows(void)
{
	windows = true;
}

static void
teardown_windows(void)
{
	windows = false;
}

START_TEST(entry_on_windows)
{
	check_entry(on_windows[_i].before, on_windows[_i].after);
}
END_TEST

/* What the program of an entry does not know does not become live. "": it is
 * carried over, else part of why not. */
static const struct {
	const char *args, *why;
} live[] = {
	{ "'mcp-remote','https://a/x','--header-file','f','--ipv4'", "" },
	{ "'mcp-remote','https://a/x','--header','A: @b','--header=A: b'", "" },
	{ "'mcp-remote','https://a/x','--use-id-token','--keep-alive',"
	  "'--client-metadata-url','https://b/c','--callback-path','/d'",
	    "" },
	{ "'mcp-remote','https://a/x','--host','--auth-command'", "--host" },
	{ "'mcp-remote','https://a/x','--auth-command','id'",
	    "--auth-command means nothing to mcp-remote" },
	{ "'mcp-remote','https://a/x','--auth-command=id'", "--auth-command" },
	{ "'mcp-remote','--browser','id','https://a/x'", "--browser" },
	{ "'mcp-remote','https://a/x','--auth-store','helper:id'", "--auth-s" },
	{ "'mcp-remote','https://a/x','--log-file','f'", "--log-file" },
	{ "'mcp-remote','https://a/x','--trace=f'", "--trace" },
	{ "'mcp-remote','https://a/x','--cacert','f'", "--cacert" },
	{ "'mcp-remote','https://a/x','--proxy','p'", "--proxy" },
	{ "'mcp-remote','https://a/x','--no-memory'", "--no-memory" },
	{ "'mcp-remote','https://a/x','--no-debug'", "--no-debug" },
	{ "'mcp-remote','https://a/x','-K','f'", "-K" },
	{ "'mcp-remote','https://a/x','-Kf'", "-K" },
	{ "'mcp-remote','https://a/x','-vKf'", "-v" },
	{ "'mcp-remote','https://a/x','-H','A: b'", "-H" },
	{ "'mcp-remote','https://a/x','--','--trace','f'", "--trace" },
	{ "'mcp-remote','https://a/x','--token-endpoint=https://b/'",
	    "--token-endpoint" },
	{ "'mcp-remote','https://a/x','--resource','a','--resource','b'",
	    "it has --resource twice" },
	{ "'fastmcp-remote','https://a/x','--auth-timeout=5','--auth-timeout=6'",
	    "it has --auth-timeout twice" },
	{ "'mcp-remote','https://a/x','--ignore-tool','a','--ignore-tool','b'",
	    "" },
	{ "'mcp-remote','https://a/x','--header','@/f'", "--header @FILE" },
	{ "'mcp-remote','https://a/x','--header=@/f'", "--header @FILE" },
	{ "'mcp-remote','https://a/x','--oauth2Bearer','t'", "--oauth2Bearer" },
	{ "'mcp-remote','https://a/x','--sse','https://b/'", "--sse" },
	{ "'mcp-remote','https://a/x','--header','A:','SECRET'",
	    "an unexpected argument after its URL]" },
	{ "'supergateway','--sse','https://a/x','--header=A: b'", "" },
	{ "'supergateway','--sse','https://a/x','--resource','b'", "--reso" },
	{ "'supergateway','--sse','https://a/x','--header','@/f'", "@FILE" },
	{ "'supergateway','--sse','https://a/x','--debug'", "--debug" },
	{ "'mcp-proxy','-H','A','b','--transport=sse','https://a/x'", "" },
	{ "'mcp-proxy','--host','0.0.0.0','https://a/x'", "--host" },
	{ "'mcp-proxy','https://a/x','--host','0.0.0.0'", "--host" },
	{ "'mcp-proxy','https://a/x','--header','A: b'", "--header" },
	{ "'mcp-proxy','https://a/x','-HA: b'", "-H" },
	{ "'mcp-proxy','https://a/x','-H','@/f','b'", "@FILE" },
	{ "'mcp-proxy','https://a/x','--headers','A','b','--trace','f'",
	    "--trace" },
	{ "'mcp-proxy','-H','A:B','c','https://a/x'", "cannot be sent" },
	{ "'mcp-proxy','-H',' A','c','https://a/x'", "cannot be sent" },
	{ "'mcp-remote','https://a/x','--sk-SECRET012345'", "unknown option" },
	{ "'mcp-remote','https://a/x','-tSECRET'", "unknown option -t" },
	{ "'mcp-remote','https://a/x'],'env':{'MCPSPLICE_TRACE':'f'},'b':[",
	    "MCPSPLICE_" },
	{ "'mcp-remote','https://a/x'],'env':{'Mcpsplice_Trace':'f'},'b':[",
	    "MCPSPLICE_" },
	{ "'mcp-proxy','https://a/x'],'env':{'BROWSER':'f'},'b':[", "BROWSER" },
	{ "'mcp-proxy','https://a/x'],'env':{'NODE_EXTRA_CA_CERTS':'f'},'b':[",
	    "NODE_EXTRA_CA_CERTS" },
	{ "'mcp-remote','https://a/x'],'env':{'NODE_EXTRA_CA_CERTS':'f',"
	  "'MCP_REMOTE_CONFIG_DIR':'f','Https_Proxy':'p'},'b':[",
	    "" },
	{ "'supergateway','--sse','https://a/x'],'env':"
	  "{'MCP_REMOTE_CONFIG_DIR':'f'},'b':[",
	    "MCP_REMOTE_CONFIG_DIR" },
	{ "'mcp-remote','https://a/x'],'env':{'\\u004dCPSPLICE_TRACE':''},"
	  "'b':[",
	    "MCPSPLICE_" },
	/* what some hosts read as its environment */
	{ "'mcp-remote','https://a/x'],'Env':{'MCPSPLICE_TRACE':'f'},'b':[",
	    "MCPSPLICE_" },
	{ "'mcp-remote','https://a/x'],'env':{'MCPSPLICE_TRACE':'f'},"
	  "'env':{},'b':[",
	    "MCPSPLICE_" },
	{ "'mcp-remote','https://a/x'],'E\\u006ev':{'MCPSPLICE_TRACE':'f'},"
	  "'b':[",
	    "MCPSPLICE_" },
	{ "'mcp-remote','https://a/x'],'envs':{'MCPSPLICE_TRACE':'f'},'b':[",
	    "MCPSPLICE_" },
	{ "'mcp-remote','https://a/x'],'envFile':'.env','b':[", "MCPSPLICE_" },
	{ "'mcp-remote','https://a/x'],'ENV_FILE':['.env'],'b':[",
	    "MCPSPLICE_" },
	{ "'mcp-remote','https://a/x'],'<<':7,'b':[", "MCPSPLICE_" },
	{ "'mcp-remote','https://a/x'],'env':{'<<':7},'b':[", "MCPSPLICE_" },
	{ "'mcp-remote','https://a/x'],'envFile':null,'env':{'A':'b'},"
	  "'Environment':{'A':'b'},'b':[",
	    "" },
	/* what some hosts read as its command or its arguments */
	{ "'mcp-remote','https://a/x'],'Args':['mcp-remote','https://a/x',"
	  "'--auth-command','id'],'b':[",
	    "its \"Args\"" },
	{ "'mcp-remote','https://a/x','--trace','f'],'args':['mcp-remote',"
	  "'https://a/x'],'b':[",
	    "its \"args\"" },
	{ "'mcp-remote','https://a/x'],'\\u0041RG\xC5\xBF':['--trace','f'],'b':[",
	    "its \"ARG" },
	{ "'mcp-remote','https://a/x'],'COMMAND':'/m','b':[",
	    "its \"COMMAND\"" },
	{ "'mcp-remote','https://a/x'],'Command':'npx','command':'npx','b':[",
	    "its \"" },
	{ "'mcp-remote','https://a/x'],'\\u0063ommand':'npx','b':[",
	    "its \"command\"" },
	{ "'node-server'],'Args':['a'],'b':[", "=" },
	{ "]},'f':{'command':{'path':'npx','args':['mcp-remote',"
	  "'https://a/x']},'env':{'MCPSPLICE_TRACE':'f'},'b':[",
	    "MCPSPLICE_" },
};

START_TEST(nothing_becomes_live)
{
	char *text = xasprintf("{'mcpServers':{'e':{'command':'npx','args':[%s"
			       "]}}}",
		 live[_i].args),
	     *before = json(text), *got = wrapped(wrap_json, span_of(before));

	if (live[_i].why[0] == '\0')
		ck_assert_msg(strstr(got, SELF) != NULL, "%s", got);
	else if (live[_i].why[0] == '=')
		ck_assert_str_eq(got, before);
	else
		ck_assert_msg(got[0] == '[' &&
			strstr(got, live[_i].why) != NULL &&
			strstr(got, "SECRET") == NULL,
		    "%s", got);
	free(text);
	free(before);
	free(got);
}
END_TEST

/* --- JSON: files --- */

#define OLD "{'url':'https://a/x'}"
#define NEW "{'command':'/m', 'args':['https://a/x']}"

static const struct {
	const char *before, *after;
} files[] = {
	/* where entries are */
	{ "{'servers':{'e':" OLD "}}", "{'servers':{'e':" NEW "}}" },
	{ "{'mcp':{'servers':{'e':" OLD "}}}",
	    "{'mcp':{'servers':{'e':" NEW "}}}" },
	{ "{'mcp':{'e':" OLD "}}", "{'mcp':{'e':" NEW "}}" },
	{ "{'context_servers':{'e':" OLD "}}",
	    "{'context_servers':{'e':" NEW "}}" },
	/* these hosts send ${NAME} as it stands */
	{ "{'context_servers':{'e':{'url':'https://a/x','headers':"
	  "{'A':'${B}'}}}}",
	    "{'context_servers':{'e':{'command':'/m', 'args':['https://a/x', "
	    "'-H', 'A: ${MCP_HEADER_1}'], 'env':{'MCP_HEADER_1': '${B}'}}}}" },
	{ "{'mcp':{'servers':{'e':{'url':'https://a/x','headers':"
	  "{'A':'${B}'}}}}}",
	    "{'mcp':{'servers':{'e':{'command':'/m', 'args':['https://a/x', "
	    "'-H', 'A: ${MCP_HEADER_1}'], 'env':{'MCP_HEADER_1': "
	    "'${B}'}}}}}" },
	{ "{'mcp_servers':{'e':{'url':'https://a/x','headers':{'A':'${B}'}}}}",
	    "{'mcp_servers':{'e':{'command':'/m', 'args':['https://a/x', "
	    "'-H', 'A: ${B}']}}}" },
	{ "{'mcp':{'e':{'type':'remote','url':'https://a/x','headers':"
	  "{'A':'b${C}'}}}}",
	    "{'mcp':{'e':{'type':'local','command':['/m', 'https://a/x', "
	    "'-H', 'A: ${MCP_HEADER_1}'], 'environment':{'MCP_HEADER_1': "
	    "'b${C}'}}}}" },
	{ "{'amp.mcpServers':{'e':" OLD "}}",
	    "{'amp.mcpServers':{'e':" NEW "}}" },
	{ "{'projects':{'/p':{'mcpServers':{'e':" OLD "}},'/q':{}},"
	  "'mcpServers':{'f':" OLD "}}",
	    "{'projects':{'/p':{'mcpServers':{'e':" NEW "}},'/q':{}},"
	    "'mcpServers':{'f':" NEW "}}" },
	{ "{'x':{'mcpServers':{'e':" OLD "}}}", "=" },
	{ "{'mcpServers':[" OLD "]}", "=" },
	{ "{'mcpServers':{'e':['https://a/x'],'f':null}}", "=" },
	{ "[" OLD "]", "=" },
	{ "7", "=" },
	{ "", "=" },
	{ " \n// nothing\n", "=" },
	/* all else stays */
	{ "\xef\xbb\xbf// c\n{ /* d */ 'a' : 'https://x//y' ,\r\n"
	  "'mcpServers':{'e':" OLD ",},'b':[1,2,],\t}\n// end",
	    "\xef\xbb\xbf// c\n{ /* d */ 'a' : 'https://x//y' ,\r\n"
	    "'mcpServers':{'e':" NEW ",},'b':[1,2,],\t}\n// end" },
	{ "{'mcpServers':{'\\u0065\\'}':" OLD "}}",
	    "{'mcpServers':{'\\u0065\\'}':" NEW "}}" },
	/* broken */
	{ "{", "[line 1, column 2" },
	{ "{'a':1}\n x", "[line 2, column 2" },
	{ "{'a':1,,}", "[line 1, column 8" },
	{ "{,}", "[line 1, column 2" },
	{ "[,]", "[line 1, column 2" },
	{ "{'a':,}", "[line 1, column 6" },
	{ "{'a':1}/* x", "[line 1, column 8" },
	{ "{'a':1}/", "[line 1, column 8" },
	/* an end of a line for some hosts */
	{ "{'mcpServers':{'e':" OLD "// \r,'f':7\n}}", "[line 1, column 41" },
	{ "{'mcpServers':{'e':" OLD "// \xE2\x80\xA8,'f':7\n}}",
	    "[line 1, column 41" },
	{ "{'mcpServers':{'e':" OLD "// \xE2\x80\xA9,'f':7\n}}",
	    "[line 1, column 41" },
	{ "{'mcpServers':{'e':" OLD "// x\r\n}}// \r",
	    "{'mcpServers':{'e':" NEW "// x\r\n}}// \r" },
	{ "{'a':'b", "[line 1, column" },
	{ "{'a':'\xff'}", "[UTF-8 at line 1, column 7" },
	{ "{a:1}", "[line 1, column 2" },
	{ "<x/>", "[line 1, column 1" },
};

START_TEST(file)
{
	char *before = json(files[_i].before), *after;

	after = json(strcmp(files[_i].after, "=") == 0 ? files[_i].before :
							 files[_i].after);
	check_one(wrap_json, before, after);
	free(before);
	free(after);
}
END_TEST

START_TEST(deep)
{
	struct wrap_plan p = { 0 };
	struct buf text;
	char *why = NULL;
	int i;

	buf_init(&text, 0);
	for (i = 0; i < 100000; i++)
		buf_addc(&text, '[');
	ck_assert_int_eq(wrap_json(&p, buf_span(&text), SELF, &why), -1);
	ck_assert_str_eq(why, "it is nested too deep at line 1, column 129");
	free(why);
	buf_free(&text);
	wrap_plan_free(&p);
}
END_TEST

/* --- TOML --- */

#define URL "url = \"https://a/x\"\n"

static const struct {
	const char *before, *after;
} tables[] = {
	{ HEAD "command = \"npx\"\nargs = [\"-y\", \"mcp-remote\", "
	       "\"https://a/x\"]\n",
	    HEAD "command = \"/m\"\nargs = [\"https://a/x\"]\n" },
	{ "a = 1 # x\n\n  [ mcp_servers . \"a b\" ] # y\n"
	  "  args=[ # list\n 'mcp-remote',#1\n\t'https://a/x' , # 2\n]\n"
	  "  command='npx'#z\n[b]\ncommand = \"npx\"\n",
	    "a = 1 # x\n\n  [ mcp_servers . \"a b\" ] # y\n"
	    "  args=[ \"https://a/x\"\n]\n"
	    "  command=\"/m\"#z\n[b]\ncommand = \"npx\"\n" },
	{ HEAD "args = [\r\n\t'mcp-remote', # 1\r\n\t'https://a/x',\r\n"
	       "\t'--debug'\r\n]\r\ncommand = 'npx'",
	    HEAD "args = [\r\n\t\"https://a/x\",\r\n\t\"--debug\"\r\n]\r\n"
		 "command = \"/m\"" },
	{ HEAD "command = \"uvx\"\nargs = [\"mcp-proxy\", \"https://a/x\"]\n"
	       "[mcp_servers.a.env]\nAPI_ACCESS_TOKEN = \"t\"\n",
	    HEAD "command = \"/m\"\nargs = [\"https://a/x\", \"--bearer-env\", "
		 "\"API_ACCESS_TOKEN\"]\n"
		 "[mcp_servers.a.env]\nAPI_ACCESS_TOKEN = \"t\"\n" },
	{ "x = \"\"\"\n" HEAD "command = 'npx' \\\"\"\"\n\"\"\"\n", "=" },
	{ "x = '''\n" HEAD URL "'''\n", "=" },
	{ HEAD "command = \"node\"\nargs = [\"s.js\"]\n", "=" },
	{ HEAD "command = \"/usr/bin/mcpsplice\"\nargs = [\"https://a/x\"]\n",
	    "=" },
	{ "[[mcp_servers.a]]\n" URL, "=" },
	{ "[mcp_servers]\n" URL, "=" },
	{ "", "=" },
	{ "# only\r\n", "=" },
	/* a URL */
	{ HEAD URL, HEAD "command = \"/m\"\nargs = [\"https://a/x\"]\n" },
	{ HEAD "\turl = 'https://a/x' # u\r\n\tenabled = true",
	    HEAD "\tcommand = \"/m\"\n\targs = [\"https://a/x\"] # u\r\n"
		 "\tenabled = true" },
	{ HEAD "bearer_token_env_var = \"T\" # t\n" URL
	       "http_headers = { A = \"b\", 'C' = 'd' }\n"
	       "env_http_headers = {\"E\"=\"F\"}\nstartup_timeout_sec = 9\n",
	    HEAD
	    "command = \"/m\"\nargs = [\"https://a/x\", \"--bearer-env\", "
	    "\"T\", \"-H\", \"E: ${F}\"]\n"
	    "env = { MCPSPLICE_HEADER = \"A: b\\nC: d\" }\nenv_vars = [\"T\", \"F\"]\n"
	    "startup_timeout_sec = 9\n" },
	{ HEAD URL "http_headers = { A = \"b\" }\nenv = { C = \"d\" }\n",
	    "[its env cannot" },
	{ HEAD URL "http_headers = { A = \"b\" }\n[mcp_servers.a.env]\nC = 1\n",
	    "[its env cannot" },
	{ HEAD URL "http_headers = { A = \"b\" }\n[mcp_servers.a.env]\n",
	    "[one more environment variable" },
	{ HEAD URL "env = {}\nbearer_token_env_var = \"T\"\ntimeout = 1\n",
	    HEAD "command = \"/m\"\nargs = [\"https://a/x\", \"--bearer-env\", "
		 "\"T\"]\nenv_vars = [\"T\"]\nenv = {}\ntimeout = 1\n" },
	{ HEAD URL "args = ['--trace', 'f']\n", "[its args cannot" },
	{ HEAD URL "args = []\n", "[in several places; by hand" },
	{ HEAD URL "cwd = '/d'\n", "[its cwd cannot" },
	{ HEAD URL "bearer_token = 't'\n", "[its bearer_token cannot" },
	{ HEAD URL "[mcp_servers.a.tls]\nca = 'f'\n", "[its tls cannot" },
	{ HEAD URL "bearer_token_env_var = \"T\"",
	    HEAD "command = \"/m\"\nargs = [\"https://a/x\", \"--bearer-env\", "
		 "\"T\"]\nenv_vars = [\"T\"]\n" },
	/* an environment, however it is written */
	{ HEAD URL "env.C = 'd'\nhttp_headers = { A = \"b\" }\n",
	    "[its env cannot" },
	{ HEAD "command = 'mcp-proxy'\nargs = ['https://a/x']\n"
	       "env = { API_ACCESS_TOKEN = 't' }\n",
	    HEAD "command = \"/m\"\nargs = [\"https://a/x\", "
		 "\"--bearer-env\", \"API_ACCESS_TOKEN\"]\n"
		 "env = { API_ACCESS_TOKEN = 't' }\n" },
	{ HEAD URL "env.MCPSPLICE_TRACE = 'f'\n", "[its env" },
	{ HEAD "command = 'npx'\nargs = ['mcp-remote', 'https://a/x']\n"
	       "env = ['A=1']\n",
	    "[does not understand its environment" },
	{ HEAD URL "env = { A = 'b', 'MCPSPLICE_TRACE' = 'f' }\n", "[its env" },
	{ HEAD URL "[mcp_servers.a.\"env\"]\n\"\\u004dCPSPLICE_A\" = 'f'\n",
	    "[its env" },
	{ HEAD "command = 'npx'\nargs = ['mcp-remote', 'https://a/x']\n"
	       "[mcp_servers.a.\"\\u0065nv\"]\nA = 'f'\n",
	    "[its env" },
	/* other tables */
	{ HEAD URL "[mcp_servers.a.http_headers] # h\nA = 'b'\n# c\n[d]\n",
	    HEAD "command = \"/m\"\nargs = [\"https://a/x\"]\n"
		 "env = { MCPSPLICE_HEADER = \"A: b\" }\n# c\n[d]\n" },
	{ HEAD URL "http_headers.A = 'b'\nhttp_headers.\"C\" = 'd'\n",
	    HEAD "command = \"/m\"\nargs = [\"https://a/x\"]\n"
		 "env = { MCPSPLICE_HEADER = \"A: b\\nC: d\" }\n" },
	{ HEAD URL "http_headers = { A = \"b$\", C = '${D}' }\n",
	    "[does not understand" },
	{ "[mcp_servers]\n  b.url = 'https://a/x' # c\n  b.enabled = true\n"
	  "[d]\n",
	    "[mcp_servers]\n  b.command = \"/m\"\n"
	    "  b.args = [\"https://a/x\"] # c\n  b.enabled = true\n[d]\n" },
	{ "mcp_servers.'b c'.command = 'npx'\n"
	  "mcp_servers.'b c'.args = ['mcp-remote', 'https://a/x']\n"
	  "mcp_servers.d.url = 'https://d/'\n"
	  "mcp_servers.d.http_headers.A = 'b'\n",
	    "mcp_servers.'b c'.command = \"/m\"\n"
	    "mcp_servers.'b c'.args = [\"https://a/x\"]\n"
	    "mcp_servers.d.command = \"/m\"\n"
	    "mcp_servers.d.args = [\"https://d/\"]\n"
	    "mcp_servers.d.env = { MCPSPLICE_HEADER = \"A: b\" }\n" },
	{ "[mcp_servers]\nb = { url = 'https://a/x', startup_timeout_sec = 9 }"
	  "\nc = { command = 'npx', args = ['mcp-remote', 'https://c/'] }\n",
	    "[mcp_servers]\nb = { command = \"/m\", args = [\"https://a/x\"],"
	    " startup_timeout_sec = 9 }"
	    "\nc = { command = \"/m\", args = [\"https://c/\"] }\n" },
	{ "x = 1\nmcp_servers = { b = { enabled = true, url = 'https://a/x' }, "
	  "'c' = { url = 'https://c/' } } # c\n",
	    "x = 1\nmcp_servers = { b = { enabled = true, command = \"/m\", "
	    "args = [\"https://a/x\"] }, 'c' = { command = \"/m\", args = "
	    "[\"https://c/\"] } } # c\n" },
	{ "[mcp_servers]\nb = { url = 'https://a/x', http_headers.B = 'U' }\n",
	    "[inline table; by hand it becomes command = \"/m\", args = "
	    "[\"https://a/x\"], env = { MCPSPLICE_HEADER = \"B: (set)\" }" },
	/* a whole command line */
	{ HEAD "  command = 'npx -y mcp-remote https://a/x'\r\n",
	    HEAD "  command = \"/m\"\r\n  args = [\"https://a/x\"]\r\n" },
	/* vibe */
	{ "[[mcp_servers]] # 1\nname = 'a'\ntransport = 'streamable-http'\n"
	  "url = 'https://a/x'\nheaders = { A = 'b' }\n\n[[mcp_servers]]\n"
	  "name = 'b'\ntransport = 'stdio'\ncommand = 'npx'\n"
	  "args = ['mcp-remote', 'https://b/']\nenv = { C = 'd' }\n"
	  "[[models]]\nurl = 'https://no/'\n",
	    "[[mcp_servers]] # 1\nname = 'a'\ntransport = \"stdio\"\n"
	    "command = \"/m\"\nargs = [\"https://a/x\"]\n"
	    "env = { MCPSPLICE_HEADER = \"A: b\" }\n\n[[mcp_servers]]\n"
	    "name = 'b'\ntransport = 'stdio'\ncommand = \"/m\"\n"
	    "args = [\"https://b/\"]\nenv = { C = 'd' }\n"
	    "[[models]]\nurl = 'https://no/'\n" },
	{ "mcp_servers = [\n { name = 'a', url = 'https://a/x' },\n"
	  " { name = 'b', command = 'npx', args = ['mcp-remote', "
	  "'https://b/'] },\n]\n",
	    "[items of one list" },
	{ "[[mcp_servers]]\nname = 'a b'\nurl = 'https://a/x'\n"
	  "api_key_env = 'T'\n",
	    "[skipped \"a b\": its api_key_env" },
	{ "[[mcp_servers]]\nurl = 'https://a/x'\n[mcp_servers.headers]\n"
	  "A = 'b'\n",
	    "[several places" },
	{ "[[mcp_servers]]\nurl = 'https://a/x'\ntransport = 'ws'\n",
	    "[transport" },
	/* left alone */
	{ HEAD URL "scopes = [\"a\"]\n", "[scopes" },
	{ HEAD "command = 'npx'\nargs = ['mcp-remote', 'https://a/x']\n"
	       "env_file = '.env'\n",
	    "[MCPSPLICE_" },
	{ HEAD URL "[mcp_servers.a.oauth.b]\nA = \"b\"\n", "[oauth" },
	{ HEAD URL "[mcp_servers.b]\n[mcp_servers.a.http_headers]\nA = 'b'\n",
	    "[several places" },
	{ HEAD "command = 'npx'\n[mcp_servers.b]\n[mcp_servers]\n"
	       "a.args = ['mcp-remote', 'https://a/x']\n",
	    "[several places" },
	{ HEAD "url = 'https://a/$x'\n", "[URL" },
	{ HEAD URL "http_headers = { A = { b = 'c' } }\n",
	    "[does not understand" },
	{ HEAD URL "http_headers = { A = 7 }\n", "[does not understand" },
	{ HEAD URL "http_headers = 7\n", "[does not understand" },
	{ HEAD URL "bearer_token_env_var = \"T\"\nenv_vars = []\n",
	    "[env_vars" },
	{ HEAD "url = 7\n", "[does not understand" },
	{ HEAD "command = 7\n", "[does not understand" },
	{ HEAD "command = \"npx\"\nargs = [\"\"\"mcp-remote\"\"\"]\n",
	    "[does not understand" },
	{ HEAD "command = \"npx\"\nargs = [[\"mcp-remote\"]]\n",
	    "[does not understand" },
	/* a part of an entry that is written in another way */
	{ HEAD "command = 'npx'\nargs = ['mcp-remote', 'https://a/x']\n"
	       "[\"mcp\\u005fservers\".a.env]\nMCPSPLICE_TRACE = 'f'\n",
	    "[an escape" },
	{ HEAD "command = 'npx'\nargs = ['mcp-remote', 'https://a/x']\n"
	       "[mcp_servers.\"\\u0061\".env]\nMCPSPLICE_TRACE = 'f'\n",
	    "[an escape" },
	{ "mcp_servers.\"\\u0061\".env.MCPSPLICE_TRACE = 'f'\n" HEAD URL,
	    "[an escape" },
	{ "mcp_servers = { a = { url = 'https://a/x' }, \"\\u0061\".env.A = 'f' }\n",
	    "[an escape" },
	{ "[[mcp_servers]]\nurl = 'https://a/x'\n"
	  "[[\"mcp\\u005fservers\".args]]\n A = 'f'\n",
	    "[an escape" },
	{ "['C:\\d']\n[a.'C:\\d']\nb.\"\\u0061\" = 1\n" HEAD URL,
	    "['C:\\d']\n[a.'C:\\d']\nb.\"\\u0061\" = 1\n" HEAD
	    "command = \"/m\"\nargs = [\"https://a/x\"]\n" },
	/* broken */
	{ "a = \"b\nc = 1\n", "[line 1, column 5" },
	{ "a = \"b\nc = \"d\"\n", "[line 1, column 5" },
	{ "a = 1\nb = [1,\n", "[line 2, column 5" },
	{ "a = '''\n", "[line 1, column 5" },
	{ "\n  what\n", "[line 2, column 3" },
	{ "[a\n", "[line 1, column 2" },
	{ "export A=1\n", "[line 1, column 1" },
	{ "a..b = 1\n", "[line 1, column 1" },
	{ "a/b = 1\n", "[line 1, column 1" },
	{ "a = nope, b\n", "[line 1, column 4" },
	{ "a = 1]\n", "[line 1, column 4" },
	{ "\"a\"b = 1\n", "[line 1, column 1" },
	{ "= 1\n", "[line 1, column 1" },
	{ "a = /b\n", "[line 1, column 4" },
	{ "a =\nb = 1\n", "[line 1, column 4" },
	{ "[a b]\n", "[line 1, column 2" },
	{ "[[a]\n", "[line 1, column 2" },
	{ "[[ a . \"b c\" ]]\n'd e'.f-1_ = +1\ng = 1979-05-27 07:32:00\n"
	  "h = inf\ni = true\nj = .5\n",
	    "[line 6, column 4" },
};

START_TEST(table)
{
	check_one(wrap_toml, tables[_i].before,
	    strcmp(tables[_i].after, "=") == 0 ? tables[_i].before :
						 tables[_i].after);
}
END_TEST

static const struct {
	const char *before, *after;
} tables_on_windows[] = {
	{ HEAD "command = \"npx\"\nargs = [\"-y\", \"mcp-remote\", "
	       "\"https://a/x\"]\n",
	    HEAD "command = \"wsl.exe\"\nargs = [\"--exec\", \"/m\", "
		 "\"https://a/x\"]\n" },
	{ HEAD "command = \"mcp-remote\"\nargs = [\"https://a/x\"]\n",
	    HEAD "command = \"wsl.exe\"\nargs = [\"--exec\", \"/m\", "
		 "\"https://a/x\"]\n" },
	{ HEAD "command = \"mcp-remote\"\nargs = [\"https://a/x\", "
	       "\"--header\", \"A: ${B}\"]\n",
	    HEAD "command = \"wsl.exe\"\nenv = { WSLENV = \"B\" }\n"
		 "args = [\"--exec\", \"/m\", \"https://a/x\", "
		 "\"--header\", \"A: ${B}\"]\n" },
	{ HEAD "command = \"mcp-remote\"\nargs = [\"https://a/x\", "
	       "\"--header\", \"A: ${B}\"]\nenv = { B = 'c' }\n",
	    "[WSLENV" },
	{ HEAD URL,
	    HEAD "command = \"wsl.exe\"\nargs = [\"--exec\", \"/m\", "
		 "\"https://a/x\"]\n" },
	{ HEAD URL "bearer_token_env_var = \"T\"\n"
		   "http_headers = { A = \"b\" }\n",
	    HEAD "command = \"wsl.exe\"\nargs = [\"--exec\", \"/m\", "
		 "\"https://a/x\", \"--bearer-env\", \"T\"]\n"
		 "env = { MCPSPLICE_HEADER = \"A: b\", "
		 "WSLENV = \"MCPSPLICE_HEADER:T\" }\nenv_vars = [\"T\"]\n" },
	{ HEAD URL "bearer_token_env_var = \"T\"\n",
	    HEAD "command = \"wsl.exe\"\nargs = [\"--exec\", \"/m\", "
		 "\"https://a/x\", \"--bearer-env\", \"T\"]\n"
		 "env = { WSLENV = \"T\" }\nenv_vars = [\"T\"]\n" },
	{ HEAD URL "bearer_token_env_var = \"T\"\nenv = { A = \"b\" }\n",
	    "[its env" },
};

START_TEST(table_on_windows)
{
	check_one(wrap_toml, tables_on_windows[_i].before,
	    tables_on_windows[_i].after);
}
END_TEST

static const struct {
	const char *path;
	bool in_wsl, is;
} paths[] = {
	{ "/mnt/c/Users/u/.cursor/mcp.json", true, true },
	{ "/mnt/c/Users/u/.cursor/mcp.json", false, false },
	{ "/mnt/D/x", true, true },
	{ "/mnt/data/x", true, false },
	{ "/mnt/1/x", true, false },
	{ "/mnt/c", true, false },
	{ "/home/u/mnt/c/x", true, false },
};

START_TEST(path_of_windows)
{
	ck_assert(wrap_hosts_windows(paths[_i].path, paths[_i].in_wsl) ==
	    paths[_i].is);
}
END_TEST

/* The path of mcpsplice, and what starts it. */
static const struct {
	const char *self, *before, *start;
} runs[] = {
	{ "/u/.npm/_npx/2a6b/node_modules/@mcpsplice/linux-x64/bin/mcpsplice",
	    "'mcp-remote','args':['https://a/x']",
	    "'npx','args':['-y', 'mcpsplice', 'https://a/x']" },
	{ "/u/_npxx/mcpsplice", "'mcp-remote','args':['https://a/x']",
	    "'/u/_npxx/mcpsplice','args':['https://a/x']" },
	/* a program of Windows needs no WSL */
	{ "C:\\Program Files\\m\\mcpsplice.exe",
	    "'mcp-remote','args':['https://a/x']",
	    "'C:\\\\Program Files\\\\m\\\\mcpsplice.exe',"
	    "'args':['https://a/x']" },
	{ "C:\\m\\mcpsplice.exe",
	    "'cmd','args':['/c','npx','-y','mcp-remote','https://a/x']",
	    "'C:\\\\m\\\\mcpsplice.exe','args':['https://a/x']" },
	{ "C:\\m\\mcpsplice.exe",
	    "'wsl','args':['npx','mcp-remote','https://a/x']",
	    "'C:\\\\m\\\\mcpsplice.exe','args':['https://a/x']" },
	{ "C:\\n\\_npx\\2a\\node_modules\\@mcpsplice\\win32-x64\\mcpsplice.exe",
	    "'npx.cmd','args':['mcp-remote','https://a/x']",
	    "'cmd','args':['/c', 'npx', '-y', 'mcpsplice', 'https://a/x']" },
	/* cmd would run what follows the & */
	{ "C:\\n\\_npx\\2a\\node_modules\\mcpsplice.exe",
	    "'npx.cmd','args':['mcp-remote','https://a/x?a&b']",
	    "'npx.cmd','args':['mcp-remote','https://a/x?a&b']" },
	{ "C:\\n\\_npx\\2a\\node_modules\\mcpsplice.exe",
	    "'uvx','args':['mcp-proxy','-H','A','%B%','https://a/x']",
	    "'uvx','args':['mcp-proxy','-H','A','%B%','https://a/x']" },
	/* there the case of a variable's name does not count */
	{ "C:\\m\\mcpsplice.exe",
	    "'npx','args':['mcp-remote','https://a/x'],"
	    "'env':{'Https_Proxy':'p'}",
	    "'npx','args':['mcp-remote','https://a/x']" },
};

START_TEST(run_by)
{
	char *started = xasprintf("{'mcpServers':{'e':{'command':%s}}}",
		 runs[_i].before),
	     *before = json(started), *wanted = json(runs[_i].start);
	struct wrap_plan p = { 0 };
	struct buf out, hand;
	char *why = NULL;

	buf_init(&out, 0);
	buf_init(&hand, 0);
	ck_assert_int_eq(wrap_json(&p, span_of(before), runs[_i].self, &why),
	    0);
	wrap_plan_apply(&p, span_of(before), &out);
	ck_assert_msg(strstr(buf_str(&out), wanted) != NULL, "%s",
	    buf_str(&out));
	if (p.notes.n == 0)
		check_again(wrap_json, buf_span(&out));
	wrap_by_hand(&hand, "c.yaml",
	    span_of("mcpServers:\n  a:\n    url: https://a/x\n"), runs[_i].self,
	    false);
	ck_assert_ptr_ne(strstr(buf_str(&hand), "mcpsplice"), NULL);
	ck_assert_ptr_eq(strstr(buf_str(&hand), "node_modules"), NULL);
	ck_assert_ptr_eq(strstr(buf_str(&hand), "wsl"), NULL);
	free(started);
	wrap_plan_free(&p);
	buf_free(&out);
	buf_free(&hand);
	free(before);
	free(wanted);
}
END_TEST

/* --- the diff, and files by hand --- */

/* What is secret has CANARY in it, or is 4711; what has to be seen has SEEN. */
static const char *const secrets[] = {
	"{'mcpServers':{'e':{'url':'https://a/x?k=CANARY1','headers':"
	"{'A':'Bearer CANARY2'}}}}",
	"{'mcpServers':{'e':{'command':'npx','args':['mcp-remote',"
	"'https://a/x?CANARY4','--header','A: CANARY5','--header=B:"
	"CANARY6','--static-oauth-client-info',"
	"'{\\'client_id\\':\\'CANARY7\\'}']}}}",
	"{'mcpServers':{'e':{'command':'uvx','args':['mcp-proxy',"
	"'-H','SEEN','CANARY8','https://a/x']}}}",
	"{'mcpServers':{'e':{'command':'npx','args':['supergateway',"
	"'--sse','https://a/x','--oauth2Bearer','CANARY9']}}}",
	"{'mcpServers':{'e':{'command':'npx mcp-remote https://a/SEEN --header "
	"A:CANARY'}}}",
	"{'mcpServers':{'e':{'command':'mcp-stdio','args':['https://a/SEEN',"
	"'--bearer-token','CANARY']}}}",
	"{'mcpServers':{'e':{'url':'https://a/x?CANARY','headers':{'A':"
	"'${env:B:-CANARY}'}}}}",
	/* written in another way than what takes their place */
	"{'mcpServers':{'e':{'url':'https://a/x?\\u0043ANARY1','headers':"
	"{'A':'\\u0043ANARY2','B':'$ \\u0043ANARY3'}}}}",
	"{'mcpServers':{'e':{'command':'npx','args':['mcp-remote',"
	"'https:\\/\\/a\\/x?\\u0043ANARY4','--header','A: "
	"\\u0043ANARY5']}}}",
	"{'mcpServers':{'e':{'command':'uvx','args':['mcp-proxy',"
	"'-H','A','\\u0043ANARY6','https://a/x']}}}",
	/* parts of URLs */
	"{'mcpServers':{'e':{'url':'https://a/s/sk-CANARY123456/SEEN'}}}",
	"{'mcpServers':{'e':{'url':'https://a/token/CANARY#CANARY'}}}",
	"{'mcpServers':{'e':{'command':'npx','args':['mcp-remote',"
	"'https://a/x','--resource','https://SEEN/?CANARY',"
	"'--authorize-param','p=https://b/?CANARY']}}}",
	"{'mcpServers':{'e':{'command':'npx','args':['--registry=https://u:"
	"CANARY@b/','--//b/:_authToken=CANARY','mcp-remote','https://a/x']}}}",
	/* short ones, variables, numbers */
	"{'mcpServers':{'e':{'url':'https://a/x','headers':{'A':'4711'}}}}",
	"{'mcpServers':{'e':{'url':'https://a/x','headers':"
	"{'A':'Bearer ${SEEN}','B':'CANARY${B}','C':'CANARY ${B}'}}}}",
	"{'mcpServers':{'e':{'command':'npx','args':['mcp-remote',"
	"'https://a/x'],'env':{'X':'CANARY3','A':4711,'B':"
	"{'C':['CANARY',4711]}},'apiKey':'4711','disabled':false}}}",
	/* a token in the place of the name of its variable */
	"{'mcpServers':{'e':{'url':'https://a/SEEN','headers':"
	"{'A':'Bearer ${ghp_CANARY4711}','B':'x'}}}}",
	HEAD "url = \"https://a/SEEN\"\nbearer_token_env_var = "
	     "\"ghp_CANARY4711\"\n",
	HEAD "url = \"https://a/SEEN\"\nenv_http_headers = { A = "
	     "'sk-CANARY-4711' }\n",
	/* members that are not known, and comments */
	"{'mcpServers':{'e':{/* CANARY */'command':"
	"'npx mcp-remote https://a/x',// CANARY\n"
	"'a':{'url':'CANARY','b':[['CANARY'],{'type':'CANARY'}]},"
	"'\\u0065nv':{'type':'CANARY'},'note':'CANARY','SEEN':[1,'CANARY'] }}}",
	/* TOML */
	HEAD "command = 'npx' # CANARY\nbearer_token = 'CANARY'\n"
	     "args = ['mcp-remote', 'https://a/x?CANARY']\n"
	     "bearer_token_env_var = 'SEEN'\n",
	HEAD "url = \"https://a/x\"\nhttp_headers = { A = 'CANARY', 'B' = "
	     "\"4711\" }\nenv_http_headers = { C = \"SEEN\" }\n",
	HEAD "command = 'npx'\nargs = ['mcp-remote', 'https://a/x']\n"
	     "note = \"\"\"\n[x]\nurl = 'CANARY'\"\"\"\n"
	     "b = '''\nCANARY'''\nenv.T = 'CANARY'\nenv = { A = 4711,\n"
	     "B = [ 'CANARY', # CANARY\n \"CANARY\" ] }\nSEEN = 5\n",
	"[mcp_servers.a.env]\nurl = 'CANARY'\n" HEAD
	"command = 'npx'\nargs = ['mcp-remote', 'https://a/SEEN']\n",
	"mcp_servers = { a = { url = 'https://a/SEEN?CANARY', note = "
	"{ url = 'CANARY' } } }\nurl = 'CANARY'\n",
	"url = 'CANARY'\nmcp_servers.a.command = 'npx'\n"
	"mcp_servers.a.args = ['mcp-remote', 'https://a/SEEN']\n"
	"mcp_servers.a.note = 'CANARY'\nmcp_servers.a.env.url = 'CANARY'\n",
	"[mcp_servers]\na.url = 'https://a/SEEN'\na.http_headers.url = "
	"'CANARY'\na.note.url = 'CANARY'\n",
	"[[mcp_servers]]\nname = 'SEEN'\nurl = 'https://a/x'\n"
	"headers = { url = 'CANARY' }\nnote = 'CANARY'\n",
	/* somebody forgot the quotes */
	HEAD "command = 'npx'\nargs = ['mcp-remote', 'https://a/SEEN']\n"
	     "key = 4CANARY\npin = 4711CANARY.5CANARY\nenv.A = 7CANARY\n",
	HEAD "command = 'npx'\nargs = ['mcp-remote', 'https://a/SEEN', "
	     "'--header', # CANARY\n 'A:CANARY']\n[x]\nurl = 'CANARY'\n" HEAD
	     "x = 1\n",
};

START_TEST(secrets_are_hidden)
{
	struct wrap_plan p = { 0 };
	char *text, *why = NULL;
	struct buf out, diff;
	bool toml = secrets[_i][0] != '{';

	text = toml ? xstrdup(secrets[_i]) : json(secrets[_i]);
	buf_init(&out, 0);
	buf_init(&diff, 0);
	ck_assert_int_eq((toml ? wrap_toml : wrap_json)(&p, span_of(text), SELF,
			     &why),
	    0);
	ck_assert_uint_eq(p.n_places, 1);
	wrap_plan_apply(&p, span_of(text), &out);
	wrap_plan_diff(&p, "f", span_of(text), buf_span(&out), &diff);
	ck_assert_ptr_ne(strstr(buf_str(&diff), "(set)"), NULL);
	ck_assert_msg(strstr(buf_str(&diff), "CANARY") == NULL &&
		strstr(buf_str(&diff), "4711") == NULL &&
		(strstr(text, "SEEN") == NULL ||
		    strstr(buf_str(&diff), "SEEN") != NULL),
	    "%s", buf_str(&diff));
	wrap_plan_free(&p);
	buf_free(&out);
	buf_free(&diff);
	free(text);
}
END_TEST

/* --- large files --- */

static void
repeat(struct buf *out, const char *format, int n)
{
	char *number;
	const char *at;
	int i;

	for (i = 0; i < n; i++) {
		number = xasprintf("%d", i);
		for (at = format; *at != '\0'; at++)
			if (*at == '%')
				buf_adds(out, number);
			else
				buf_addc(out, *at == '\'' ? '"' : *at);
		free(number);
	}
}

/* Each % is a number. */
static const struct {
	wrap_fn *wrap;
	const char *before, *each, *after;
} large[] = {
	{ wrap_json, "{'mcpServers':{", "'a%':{'url':'https://a/%'},", "}}" },
	{ wrap_json,
	    "{'mcpServers':{'e':{'command':'npx mcp-remote https://a/x','env':{",
	    "'A%':'value %',", "}}}}" },
	{ wrap_json, "{'mcpServers':{'e':{'url':'https://a/x','headers':{",
	    "'A%':'${B%}',", "}}}}" },
	{ wrap_json,
	    "{'mcpServers':{'e':{'command':'cmd','args':['/c',"
	    "'mcp-remote','https://a/x',",
	    "'--header','A%: ${B%}',", "]}}}" },
	{ wrap_json, "{'mcpServers':{'e':{'url':'https://a/x'}}}", "/* ", "" },
	{ wrap_toml, "", "[mcp_servers.a%]\nurl = 'https://a/%'\n", "" },
	{ wrap_toml, "mcp_servers = { ", "a% = { url = 'https://a/%' }, ",
	    "}\n" },
	{ wrap_toml, "", "[[mcp_servers]]\nurl = 'https://a/%'\n", "" },
	{ wrap_toml, HEAD "url = 'https://a/x'\n",
	    "http_headers.A% = 'value %'\n", "" },
	{ wrap_json, "{'mcpServers':{'e':{'url':'https://a/x','headers':{",
	    "'A%':'${env:B%}',", "}}}}" },
	{ wrap_toml, HEAD "url = 'https://a/x'\nhttp_headers = { ",
	    "A% = 'value %', ", "}\n" },
	{ wrap_toml, "[mcp_servers]\n",
	    "a%.url = 'https://a/'\nb.c%.d = 1\na%.e = 1\n", "" },
	{ wrap_json, "{'mcpServers':{'e':{'url':'https://a/x'", "      ",
	    "}}}" },
	{ wrap_json, "{'mcpServers':{'e':{'url':'https://a/x','name':'",
	    "sk-aaaaaaaa sk-aaaaaaaa sk-aaaaaaaa sk-aaaaaaaa ", "'}}}" },
};

static void
put_large(struct buf *text, size_t i, int n)
{
	repeat(text, large[i].before, 1);
	repeat(text, large[i].each, n);
	repeat(text, large[i].after, 1);
}

/* Returns the time of this process that it takes, in clock ticks. */
static double
time_of(size_t i, int n)
{
	struct wrap_plan p = { 0 };
	struct buf text, out, diff;
	char *why = NULL;
	clock_t start;
	double ticks;

	buf_init(&text, 0);
	buf_init(&out, 0);
	buf_init(&diff, 0);
	put_large(&text, i, n);
	start = clock();
	if (large[i].wrap(&p, buf_span(&text), SELF, &why) == 0) {
		wrap_plan_apply(&p, buf_span(&text), &out);
		wrap_plan_diff(&p, "f", buf_span(&text), buf_span(&out), &diff);
	}
	ticks = (double)(clock() - start);
	free(why);
	wrap_plan_free(&p);
	buf_free(&text);
	buf_free(&out);
	buf_free(&diff);
	return ticks;
}

/* Sixteen times the size may take 64 times as long, but not 256 times. */
START_TEST(large_files)
{
	double small = time_of((size_t)_i, 500) + CLOCKS_PER_SEC / 200.0;
	double huge = time_of((size_t)_i, 8000);

	ck_assert_msg(huge < 64 * small, "%.0f and %.0f ticks", small, huge);
}
END_TEST

static const char *const large_in_yaml[] = { "a%:\n  url: https://a/%\n",
	" a%:\n  url: https://a/%\n", " - {url: http://x}\n",
	"{a: {url: http://x}, b%: [", "- - - ", "a: ", "a: \"\"\"a\n", "\"a\n",
	" x: |\n  url: y\n\n", "# url: http://x\n", " ? x\n", ": ", "\n" };

static double
time_of_yaml(size_t i, int n)
{
	struct buf text, out;
	clock_t start;

	buf_init(&text, 0);
	buf_init(&out, 0);
	repeat(&text, "mcpServers:\n", 1);
	repeat(&text, large_in_yaml[i], n);
	start = clock();
	wrap_by_hand(&out, "c.yaml", buf_span(&text), SELF, false);
	start = clock() - start;
	buf_free(&text);
	buf_free(&out);
	return (double)start;
}

START_TEST(large_yaml)
{
	double small = time_of_yaml((size_t)_i, 1250) + CLOCKS_PER_SEC / 200.0;
	double huge = time_of_yaml((size_t)_i, 20000);

	ck_assert_msg(huge < 64 * small, "%.0f and %.0f ticks", small, huge);
}
END_TEST

static void
check_too_many(size_t i, int n, const char *reason)
{
	struct buf text;
	char *got;

	buf_init(&text, 0);
	put_large(&text, i, n);
	got = wrapped(large[i].wrap, buf_span(&text));
	ck_assert_msg(strstr(got, reason) != NULL, "%.100s", got);
	free(got);
	buf_free(&text);
}

START_TEST(many_servers)
{
	check_too_many(0, 20001, "more than 20000 servers");
	check_too_many(5, 20001, "more than 20000 servers");
}
END_TEST

START_TEST(many_variables)
{
	check_too_many(3, 7000, "WSLENV");
}
END_TEST

START_TEST(diff)
{
	static const char text[] = "{\n\t\"mcpServers\": {\n"
				   "\t\t\"a\x1b\": {\n\t\t\t\"x\": 1,\n"
				   "\t\t\t\"url\": \"https://a/x\"\n"
				   "\t\t}\n\t}\n}\n";
	struct wrap_plan p = { 0 };
	struct buf out, shown;
	char *why = NULL, *valid = xstrdup(text);

	valid[strcspn(valid, "\x1b")] = 'b';
	buf_init(&out, 0);
	buf_init(&shown, 0);
	ck_assert_int_eq(wrap_json(&p, span_of(valid), SELF, &why), 0);
	wrap_plan_apply(&p, span_of(valid), &out);
	wrap_plan_diff(&p, "f", span_of(valid), buf_span(&out), &shown);
	ck_assert_str_eq(buf_str(&shown),
	    "--- f\n+++ f\n@@ line 3: ab @@\n"
	    " \t\t\"ab\": {\n \t\t\t\"x\": 1,\n"
	    "-\t\t\t\"url\": \"https://a/x\"\n"
	    "+\t\t\t\"command\": \"/m\",\n"
	    "+\t\t\t\"args\": [\"https://a/x\"]\n"
	    " \t\t}\n");
	wrap_plan_free(&p);
	buf_free(&out);
	buf_free(&shown);
	free(valid);
}
END_TEST

START_TEST(by_hand)
{
	struct buf out;

	buf_init(&out, 0);
	wrap_by_hand(&out, "c.yaml",
	    span_of("mcpServers:\n  # url: http://no\n  - name: a\n"
		    "    url: https://a/x\n"),
	    SELF, false);
	ck_assert_str_eq(buf_str(&out),
	    "c.yaml: change line 4 by hand, to:\n  - name: a\n    command: "
	    "\"/m\"\n    args: [\"https://a/x\"]\n");
	buf_reset(&out);
	wrap_by_hand(&out, "c.yaml",
	    span_of("extensions:\n  a:\n    uri: https://a/x\n"), SELF, false);
	ck_assert_ptr_ne(strstr(buf_str(&out), "cmd: \"/m\"\n"), NULL);
	buf_reset(&out);
	wrap_by_hand(&out, "c.xml", span_of("<x>npx mcp-remote</x>"), SELF,
	    false);
	ck_assert_ptr_ne(strstr(buf_str(&out), "\"args\": [\"URL\"]"), NULL);
	buf_reset(&out);
	wrap_by_hand(&out, "c", span_of("a\nb"), SELF, false);
	ck_assert_uint_eq(out.n, 0);
	wrap_by_hand(&out, "c.yaml", span_of("url: https://a/x"), SELF, true);
	ck_assert_str_eq(buf_str(&out),
	    "c.yaml: change line 1 by hand, to:\n  \"command\": \"wsl.exe\", "
	    "\"args\": [\"--exec\", \"/m\", \"URL\"]\n");
	buf_free(&out);
}
END_TEST

/* What stands in the file, and what is printed, but for the path, and the line
 * on "(set)". */
static const struct {
	const char *before, *after;
} yaml[] = {
	/* Goose */
	{ "extensions:\n  gh: # c\n    name: g.h\n    headers:\n"
	  "      Authorization: Bearer CANARY\n      'B': \"${V}\"\n\n"
	  "    type: streamable_http\n    enabled: true\n"
	  "    uri: 'https://a/x?CANARY' # CANARY\n    timeout: 20\n"
	  "  other:\n    cmd: x\n",
	    "change line 10 by hand, to:\n  gh:\n    name: g.h\n    type: "
	    "stdio\n    enabled: true\n    cmd: \"/m\"\n    args: "
	    "[\"https://a/x?(set)\"]\n    envs: {\"MCPSPLICE_HEADER\": "
	    "\"Authorization: (set)\\nB: ${V}\"}\n    timeout: 20\n" },
	{ "extensions:\n  r:\n    cmd: npx\n    args: [-y, \"mcp-remote\", "
	  "'https://a/x', --header, \"A: b, CANARY\"]\n    envs: {T: CANARY}\n",
	    "change line 4 by hand, to:\n  r:\n    cmd: \"/m\"\n    args: "
	    "[\"https://a/x\", \"--header\", \"A: (set)\"]\n    envs: "
	    "{\"T\": \"(set)\"}\n" },
	/* Continue */
	{ "---\nname: n\nmcpServers:\n- name: \"g h\"\n  url: https://a/x\n"
	  "  requestOptions:\n    headers: { A: \"Bearer ${{ secrets.T }}\" }\n"
	  "- command: x\nmodels:\n- name: y\n",
	    "change line 5 by hand, to:\n  - name: g h\n    command: "
	    "\"/m\"\n    args: [\"https://a/x\", \"-H\", \"A: "
	    "${MCP_HEADER_1}\"]\n    env: {\"MCP_HEADER_1\": \"Bearer ${{ "
	    "secrets.T }}\"}\n" },
	{ "mcpServers:\n  - name: b\r\n    command: npx\r\n    args:\r\n"
	  "    - mcp-remote\r\n    - https://a/x\r\n    - --header\r\n"
	  "    - 'A: CANARY'\r\n  -\n    name: no\n    url: https://b/\n",
	    "change line 5 by hand, to:\n  - name: b\n    command: \"/m\"\n  "
	    "  args: [\"https://a/x\", \"--header\", \"A: (set)\"]\nchange "
	    "line 11 by hand, to:\n  - name: \"(set)\"\n    command: "
	    "\"/m\"\n    args: [\"https://b/\"]\n" },
	{ "mcpServers:\n- name: n\n  url: https://a/x\n  requestOptions:\n"
	  "    timeout: 5\n",
	    "skipped \"n\": its requestOptions cannot be carried over\n" },
	/* LibreChat */
	{ "mcpServers:\n  l:\n    url: https://a/s/sk-CANARY123456/x\n"
	  "    timeout: 60000\n  o:\n    command: CANARY\n",
	    "change line 3 by hand, to:\n  l:\n    command: \"/m\"\n    "
	    "args: [\"https://a/s/(set)/x\"]\n    timeout: 60000\n" },
	/* names that need quotes, and what a terminal would obey */
	{ "mcpServers:\n  - name: 'a: [b'\n    timeout: CANARY\x1b\n"
	  "    url: https://a/\xc2\x9b\n",
	    "change line 4 by hand, to:\n  - name: \"a: [b\"\n    timeout: "
	    "\"(set)\"\n    command: \"/m\"\n    args: "
	    "[\"https://a/\\xc2\\x9b\"]\n" },
	/* hermes */
	{ "mcp_servers:\n  w: # c\n    url: \"https://a/x\"\n    headers:\n"
	  "      Authorization: \"Bearer CANARY\"\n      X: ${V}\n"
	  "    timeout: 180\n    enabled: false\n    tools:\n"
	  "      include: [url, CANARY]\n  v:\n    url: https://b/\n"
	  "    auth: oauth\n",
	    "change line 3 by hand, to:\n  w:\n    command: \"/m\"\n    "
	    "args: [\"https://a/x\"]\n    env: {\"MCPSPLICE_HEADER\": "
	    "\"Authorization: (set)\\nX: ${V}\"}\n    timeout: 180\n    "
	    "enabled: false\n    tools: {\"include\": [\"url\", "
	    "\"CANARY\"]}\nskipped \"v\": its auth cannot be carried over\n" },
	{ "mcp_servers:\n  old:\n    args: [\"-y\", \"mcp-remote\", "
	  "\"https://a/x\", \"--header\",\n      'X-A: ${TOK}', --debug]\n"
	  "    command: npx\n    env: {TOK: CANARY, 'B': \"${C}\"}\n",
	    "change line 3 by hand, to:\n  old:\n    args: [\"https://a/x\", "
	    "\"--header\", \"X-A: ${TOK}\", \"--debug\"]\n    command: "
	    "\"/m\"\n    env: {\"TOK\": \"(set)\", \"B\": \"${C}\"}\n" },
	{ "mcp_servers: {old: {command: \"npx mcp-remote https://a/x\"}}\n",
	    "change line 1 by hand, to:\n  old:\n    command: \"/m\"\n    "
	    "args: [\"https://a/x\"]\n" },
	/* fast-agent */
	{ "mcp: {servers: {w: {transport: http, url: 'https://a/x', headers: "
	  "{A: CANARY}}, v: {command: uvx, args: [s]}}}\n",
	    "change line 1 by hand, to:\n  w:\n    transport: stdio\n    "
	    "command: \"/m\"\n    args: [\"https://a/x\"]\n    env: "
	    "{\"MCPSPLICE_HEADER\": \"A: (set)\"}\n" },
	/* LiteLLM */
	{ "model_list:\n  - model_name: m\n    litellm_params:\n"
	  "      url: https://no/\nmcp_servers:\n  w:\n"
	  "    url: \"https://a/x\"\n    transport: \"http\"\n"
	  "    extra_headers: [CANARY]\n  v:\n    url: https://b/\n"
	  "    auth_type: bearer_token\n    auth_value: CANARY\n",
	    "skipped \"w\": its extra_headers cannot be carried "
	    "over\nskipped \"v\": its auth_type cannot be carried over\n" },
	/* what only looks like a server */
	{ "mcpServers:\n  a:\n    description: |\n      url: https://no/\n\n"
	  "      CANARY: x\n    url: https://a/x\n",
	    "change line 7 by hand, to:\n  a:\n    description: \"(set)\"\n  "
	    "  command: \"/m\"\n    args: [\"https://a/x\"]\n" },
	/* quotes */
	{ "mcpServers:\n- name: 'Bob''s'\n  url: https://a/x\n"
	  "- command: npx\n  name: '''n'''\n  args:\n"
	  "  - mcp-remote\n  - 'https://b/x'\n  - --resource\n"
	  "  - 'https://it''s/' # c\n  - --debug\n",
	    "change line 3 by hand, to:\n  - name: \"(set)\"\n    command: "
	    "\"/m\"\n    args: [\"https://a/x\"]\nchange line 7 by hand, "
	    "to:\n  - command: \"/m\"\n    name: \"(set)\"\n    args: "
	    "[\"https://b/x\", \"--resource\", \"(set)\", \"--debug\"]\n" },
	/* what is no text to some */
	{ "mcpServers:\n  Yes:\n    url: https://a/x\n    name: 'NO'\n"
	  "    type: http\n    description: 'x '\n    enabled: yes\n"
	  "    disabled: False\n    timeout: 0x1F\n    tools: [On, 'off']\n",
	    "change line 3 by hand, to:\n  \"Yes\":\n    command: \"/m\"\n   "
	    " args: [\"https://a/x\"]\n    name: \"NO\"\n    type: stdio\n   "
	    " description: \"(set)\"\n    enabled: \"(set)\"\n    disabled: "
	    "\"(set)\"\n    timeout: \"(set)\"\n    tools: [\"(set)\", "
	    "\"off\"]\n" },
	/* texts of several lines, aliases, escapes */
	{ "mcpServers:\n  a:\n    command: npx\n    args:\n    - mcp-remote\n"
	  "    - https://a/x\n    - --resource\n    - b\n      c\n"
	  "    - --ignore-tool\n    - *h\n    - --auth-success-url\n    - \"/\\x41\"\n"
	  "    cwd: 'a' b\n  b:\n    url: >-\n      https://b/x\n"
	  "  c:\n    command: npx\n    args: [mcp-remote, https://c/x, 3334]\n"
	  "  d:\n    url: *u\n",
	    "change line 5 by hand, to:\n  a:\n    command: \"/m\"\n    "
	    "args: [\"https://a/x\", \"--resource\", \"(set)\", "
	    "\"--ignore-tool\", \"(set)\", \"--auth-success-url\", "
	    "\"(set)\"]\n    cwd: \"(set)\"\nskipped \"b\": \"(set)\" is not "
	    "a URL; it should look like https://mcp.example.com/mcp\nskipped "
	    "\"c\": one of its args is not a string\nskipped \"d\": "
	    "\"(set)\" is not a URL; it should look like "
	    "https://mcp.example.com/mcp\n" },
	{ "mcpServers:\n  a:\n    command: npx\n    args: [mcp-remote,\n"
	  "      https://a/x, --resource, b\n      c]\n",
	    "change line 4 by hand, to:\n  \"command\": \"/m\", \"args\": "
	    "[\"URL\"]\n" },
	/* what is not understood */
	{ "a: &d\n  t: 5\nmcpServers:\n  z:\n    <<: *d\n    url: https://z/\n  a: !x\n    b: \"c\n"
	  "      d: \"\n    e: f\n      g: url\n    url: https://a/x\n",
	    "change line 12 by hand, to:\n  a:\n    b: \"(set)\"\n    e: "
	    "\"(set)\"\n    command: \"/m\"\n    args: "
	    "[\"https://a/x\"]\nskipped \"z\": its << cannot be carried "
	    "over\n" },
	{ "extensions:\n  a:\n    uri: https://a/x\n    envs: {}\n"
	  "    headers: {A: CANARY}\n",
	    "change line 3 by hand, to:\n  a:\n    cmd: \"/m\"\n    args: "
	    "[\"https://a/x\"]\n    envs: {\"MCPSPLICE_HEADER\": \"A: "
	    "(set)\"}\n" },
	{ "mcpServers:\n  a:\n    b: {\n    c:\n    url: https://a/x\n",
	    "change line 5 by hand, to:\n  \"command\": \"/m\", \"args\": "
	    "[\"URL\"]\n" },
};

START_TEST(by_hand_in_yaml)
{
	static const char note[] = "Replace (set) with ";
	struct span rest, line;
	struct buf out, got;

	buf_init(&out, 0);
	buf_init(&got, 0);
	wrap_by_hand(&out, "c.yaml", span_of(yaml[_i].before), SELF, false);
	for (rest = buf_span(&out); rest.n > 0;) {
		line = span_take(&rest, '\n');
		if (line.n > 8 && memcmp(line.p, "c.yaml: ", 8) == 0)
			line = (struct span){ line.p + 8, line.n - 8 };
		if (span_find(line, note) == NULL)
			buf_addf(&got, "%.*s\n", (int)line.n, line.p);
	}
	ck_assert_str_eq(buf_str(&got), yaml[_i].after);
	ck_assert((strstr(buf_str(&got), "(set)") != NULL) ==
	    (strstr(buf_str(&out), note) != NULL));
	buf_free(&out);
	buf_free(&got);
}
END_TEST

/* --- random damage --- */

static uint32_t seed = 1;

static uint32_t
any(uint32_t n)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % n;
}

static void
damage(struct buf *text)
{
	static const char bytes[] = "{}[]\"',:/*#\\\n =$a\xff";
	size_t at = any((uint32_t)text->n);

	switch (any(3)) {
	case 0:
		text->p[at] = bytes[any(sizeof bytes - 1)];
		break;
	case 1:
		memmove(text->p + at, text->p + at + 1, text->n - at - 1);
		text->n--;
		break;
	default:
		buf_addc(text, ' ');
		memmove(text->p + at + 1, text->p + at, text->n - at - 1);
		text->p[at] = bytes[any(sizeof bytes - 1)];
	}
}

static void
check_damaged(wrap_fn *wrap, const char *text, int times)
{
	struct wrap_plan p;
	struct buf b, out;
	char *why;
	int i;

	for (i = 0; i < times; i++) {
		p = (struct wrap_plan){ 0 };
		why = NULL;
		buf_init(&b, 0);
		buf_init(&out, 0);
		buf_adds(&b, text);
		damage(&b);
		if (any(2) == 0)
			damage(&b);
		if (wrap(&p, buf_span(&b), SELF, &why) == 0) {
			wrap_plan_apply(&p, buf_span(&b), &out);
			check_edits(&p, buf_span(&b));
			if (p.n_edits > 0)
				check_again(wrap, buf_span(&out));
		}
		free(why);
		buf_free(&b);
		buf_free(&out);
		wrap_plan_free(&p);
	}
}

START_TEST(damaged_json)
{
	char *text, *whole;

	if (entries[_i].after[0] == '[' || entries[_i].after[0] == '=')
		return;
	text = json(entries[_i].before);
	seed = (uint32_t)_i;
	whole = xasprintf("{\"mcpServers\":{\"e\":%s,}}", text);
	check_damaged(wrap_json, whole, 300);
	free(text);
	free(whole);
}
END_TEST

START_TEST(damaged_toml)
{
	if (tables[_i].before[0] == '\0')
		return;
	seed = (uint32_t)_i;
	check_damaged(wrap_toml, tables[_i].before, 300);
}
END_TEST

START_TEST(damaged_yaml)
{
	struct buf b, out;
	int i;

	seed = (uint32_t)_i;
	for (i = 0; i < 300; i++) {
		buf_init(&b, 0);
		buf_init(&out, 0);
		buf_adds(&b, yaml[_i].before);
		damage(&b);
		damage(&b);
		wrap_by_hand(&out, "c.yaml", buf_span(&b), SELF, any(2) == 0);
		buf_free(&b);
		buf_free(&out);
	}
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("wrap");
	TCase *t = tcase_create("json");

	tcase_add_loop_test(t, entry, 0, COUNT(entries));
	tcase_add_loop_test(t, nothing_becomes_live, 0, COUNT(live));
	tcase_add_loop_test(t, file, 0, COUNT(files));
	tcase_add_test(t, deep);
	suite_add_tcase(s, t);
	t = tcase_create("toml");
	tcase_add_loop_test(t, table, 0, COUNT(tables));
	suite_add_tcase(s, t);
	t = tcase_create("self");
	tcase_add_loop_test(t, run_by, 0, COUNT(runs));
	suite_add_tcase(s, t);
	t = tcase_create("windows");
	tcase_add_checked_fixture(t, setup_windows, teardown_windows);
	tcase_add_loop_test(t, entry_on_windows, 0, COUNT(on_windows));
	tcase_add_loop_test(t, table_on_windows, 0, COUNT(tables_on_windows));
	tcase_add_loop_test(t, path_of_windows, 0, COUNT(paths));
	suite_add_tcase(s, t);
	t = tcase_create("shown");
	tcase_add_loop_test(t, secrets_are_hidden, 0, COUNT(secrets));
	tcase_add_test(t, diff);
	tcase_add_test(t, by_hand);
	tcase_add_loop_test(t, by_hand_in_yaml, 0, COUNT(yaml));
	suite_add_tcase(s, t);
	t = tcase_create("large");
	tcase_set_timeout(t, 120);
	tcase_add_loop_test(t, large_files, 0, COUNT(large));
	tcase_add_loop_test(t, large_yaml, 0, COUNT(large_in_yaml));
	tcase_add_test(t, many_servers);
	tcase_add_test(t, many_variables);
	suite_add_tcase(s, t);
	t = tcase_create("damaged");
	tcase_add_loop_test(t, damaged_json, 0, COUNT(entries));
	tcase_add_loop_test(t, damaged_toml, 0, COUNT(tables));
	tcase_add_loop_test(t, damaged_yaml, 0, COUNT(yaml));
	suite_add_tcase(s, t);
	return unit_run(s);
}
