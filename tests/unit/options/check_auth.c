/*
 * options/options: what is for signing in, in argv, files and the environment.
 * The rest is in check_options.c.
 */
#include "config.h"

#include "options/options.h"

#include <stdlib.h>

#include "unit/options/options_play.h"

/* What an option of mcp-remote for registered clients changes. */
#define AS_MCP_REMOTE "host=localhost;path=/oauth/callback;"

static const struct argv_case argv_cases[] = {
	{ "--bearer-file|/t", "bearer_file=/t;" },
	{ "--bearer-env|T", "bearer_env=T;" },
	{ "--auth-command|get 'a b'", "command=get 'a b';" },
	{ "--netrc-file|/n", "netrc=/n;" },
	{ "--aws-sigv4|us-east-1:x", "aws=us-east-1:x;" },
	{ "--aws-sigv4|r:s|--auth-command|c", "command=c;aws=r:s;" },
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
	{ "--auth|workload|--assertion-file|/t", "auth=6;assertion_file=/t;" },
	{ "--auth|workload|--assertion-env|T|--client-id|i|--client-key|/k",
	    "auth=6;client_id=i;client_key=/k;assertion_env=T;" },
	{ "--auth|workload|--assertion-command|gcloud print -x",
	    "auth=6;assertion_command=gcloud print -x;" },
	{ "--auth|enterprise|--idp|https://i/a|--idp-client-id|c|--client-id|m",
	    "auth=7;client_id=m;idp=https://i/a;idp_client=c;" },
	{ "--auth|enterprise|--idp|https://i|--idp-client-id|c|--client-id|m|"
	  "--client-key|/k|--idp-key|/i|--idp-token-env|T",
	    "auth=7;client_id=m;client_key=/k;idp=https://i;idp_client=c;"
	    "idp_key=/i;idp_env=T;" },
	{ "--auth|enterprise|--idp|https://i|--idp-client-id|c|"
	  "--idp-client-secret-file|/s|--idp-token-command|a b|"
	  "--client-metadata-url|https://h/c.json",
	    "auth=7;idp=https://i;idp_client=c;idp_secret=/s;idp_command=a b;"
	    "document=https://h/c.json;" },
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
	{ "--authorize-param|stat=1|--authorize-param=state_hint=b=c",
	    "param=stat=1;param=state_hint=b=c;" },
	{ "--callback-port|65535", "port=65535;" },
	{ "--callback-port|1|--callback-port|0", "" },
	{ "--callback-port|1|--callback-port=", "" },
	{ "--callback-host|localhost", "host=localhost;" },
	{ "--callback-host|0.0.0.0", "host=0.0.0.0;" },
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
	{ "--host|localhost", "host=localhost;" },
	{ "--host|localhost|--callback-host=127.0.0.1", "" },
	{ "--callback-path|/oauth/callback", "path=/oauth/callback;" },
	{ "--auth-timeout|30", "login=30000;" },
	{ "--auth-timeout|30|--login-timeout=", "" },
	{ "--login-timeout=9|--auth-timeout=", "" },
	{ "--auth-timeout=0", "login=0;" },
	{ "--disable-resource-parameter", "no_resource=1;" },
	{ "--static-oauth-client-metadata|{\"scope\":\"a\"}",
	    "metadata={\"scope\":\"a\"};" AS_MCP_REMOTE },
	{ "--static-oauth-client-info|@f", "info=@f;" AS_MCP_REMOTE },
	{ "--static-oauth-client-info|{\"client_id\":\"a\"}",
	    "info={\"client_id\":\"a\"};" AS_MCP_REMOTE },
	{ "--static-oauth-client-info|{\"client_secret\" : \"${S}\"}",
	    "info={\"client_secret\" : \"${S}\"};" AS_MCP_REMOTE },
	{ "--device-code", "auth=4;" },
	{ "--client-credentials|--static-oauth-client-info|@f",
	    "auth=5;info=@f;" AS_MCP_REMOTE },
	/* supergateway */
	{ "--oauth2Bearer|${T}", "header=Authorization: Bearer ${T};" },
};

START_TEST(argv_is_read)
{
	play_argv(&argv_cases[_i]);
}
END_TEST

#define NO_SECRET                                                              \
	"unknown option \"--client-secret\": use --client-secret-file or "     \
	"--client-secret-env"
#define SIXTEEN "0123456789abcdef"
#define NO_PROFILE(name)                                                       \
	"--profile: \"" name "\" is not a name; use up to 64 letters, "        \
	"digits, dots, \"_\" and \"-\""
#define NO_HOST(option, host)                                                  \
	"--" option ": \"" host "\" is not 127.0.0.1, localhost or "           \
	"0.0.0.0: the browser has to come back to this machine"
#define NO_PATH(path)                                                          \
	"--callback-path: \"" path "\" is not a plain path such as /callback"
#define NO_STORE(store)                                                        \
	"--auth-store: \"" store "\" is neither \"file\" nor \"helper:CMD\""
#define NO_URL(option)                                                         \
	"--" option ": not a URL such as https://auth.example.com/"
#define PARAM_NAME                                                             \
	"--authorize-param: the name may contain only letters, digits, and -._~"
#define OURS(name)                                                             \
	"--authorize-param: mcpsplice sets " name " itself; remove it"
#define SIGV4(value, odd)                                                      \
	"--aws-sigv4 " value ": region and service may contain only "          \
	"letters, digits and \"-\", unlike " odd                               \
	"; write REGION:SERVICE, such as "                                     \
	"us-east-1:bedrock-agentcore"
#define NO_DOCUMENT                                                            \
	"--client-metadata-url: not an https URL with a path, such as "        \
	"https://example.com/client.json"
#define TWO(a, b) "two credentials given, " a " and " b "; give one of them"
#define EXCLUDE(a, b) a " and " b " cannot be combined; give one of them"

static const struct refused_case refused_cases[] = {
	{ "--client-secret|x|" URL, NO_SECRET },
	{ "--client-secret=x|" URL, NO_SECRET },
	{ URL "|--client-secret", NO_SECRET },
	{ "--auth|OAuth|" URL,
	    "--auth: \"OAuth\" is not one of "
	    "auto|none|static|oauth|device|client-credentials|workload|enterprise" },
	{ "--profile|a/b|" URL, NO_PROFILE("a/b") },
	{ "--profile|" SIXTEEN SIXTEEN SIXTEEN SIXTEEN "x|" URL,
	    NO_PROFILE(SIXTEEN SIXTEEN SIXTEEN SIXTEEN "x") },
	{ "--callback-host|0.0.0.1|" URL, NO_HOST("callback-host", "0.0.0.1") },
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
	{ "--auth-store|helper: |" URL, NO_STORE("helper:") },
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
	    "--resource: not a URI, or it contains a space or \"#\"" },
	{ "--resource|a b|" URL,
	    "--resource: not a URI, or it contains a space or \"#\"" },
	{ "--scope|a \"b\"|" URL,
	    "--scope: not a list of scopes separated by spaces" },
	{ "--scope|a\nb|" URL,
	    "--scope: not a list of scopes separated by spaces" },
	{ "--client-id|\xc3\xa4|" URL,
	    "--client-id: it contains bytes other than printable ASCII" },
	{ "--authorize-param|a|" URL, "--authorize-param: write NAME=VALUE" },
	{ "--authorize-param|=a|" URL, "--authorize-param: write NAME=VALUE" },
	{ "--authorize-param||" URL, "--authorize-param: write NAME=VALUE" },
	{ "--authorize-param|a&state=x|" URL, PARAM_NAME },
	{ "--authorize-param|a b=x|" URL, PARAM_NAME },
	{ "--authorize-param|state=x|" URL, OURS("state") },
	{ "--authorize-param|SCOPE=x|" URL, OURS("scope") },
	{ "--authorize-param|resource=x|" URL, OURS("resource") },
	{ "--authorize-param|client_id=x|" URL, OURS("client_id") },
	{ "--authorize-param|client_secret=x|" URL, OURS("client_secret") },
	{ "--authorize-param|redirect_uri=x|" URL, OURS("redirect_uri") },
	{ "--authorize-param|response_type=x|" URL, OURS("response_type") },
	{ "--authorize-param|response_mode=x|" URL, OURS("response_mode") },
	{ "--authorize-param|code_challenge=x|" URL, OURS("code_challenge") },
	{ "--authorize-param|code_challenge_method=plain|" URL,
	    OURS("code_challenge_method") },
	{ "--authorize-param|request_uri=x|" URL, OURS("request_uri") },
	{ "--authorize-param|request=x|" URL, OURS("request") },
	{ "--aws-sigv4|us-east-1:a_b|" URL, SIGV4("us-east-1:a_b", "_b") },
	{ "--aws-sigv4|us-east-1|" URL,
	    "--aws-sigv4 us-east-1: the service cannot be told from the host "
	    "name; write REGION:SERVICE, such as us-east-1:bedrock-agentcore" },
	{ "--aws-sigv4|us east:a|" URL, SIGV4("us east:a", " east:a") },
	/* what does not go together */
	{ "--bearer-file|/f|--bearer-env|T|" URL,
	    TWO("--bearer-file", "--bearer-env") },
	{ "--auth-command|c|--bearer-env|T|" URL,
	    TWO("--bearer-env", "--auth-command") },
	{ "--auth-command|c|--netrc-file|/n|" URL,
	    TWO("--auth-command", "--netrc-file") },
	{ "-H|authorization:x|--netrc-file|/n|" URL,
	    TWO("--netrc-file", "an Authorization header") },
	{ "--negotiate|--bearer-env|T|" URL,
	    TWO("--bearer-env", "--negotiate") },
	{ "--auth-command|c|--negotiate|" URL,
	    TWO("--auth-command", "--negotiate") },
	{ "--aws-sigv4|r:s|--netrc-file|/n|" URL,
	    TWO("--aws-sigv4", "--netrc-file") },
	{ "--aws-sigv4|r:s|--auth|oauth|" URL,
	    "--auth oauth and --aws-sigv4 contradict each other; remove one" },
	{ "--negotiate|-H|Authorization: x|" URL,
	    TWO("--negotiate", "an Authorization header") },
	{ "--negotiate|--auth|device|" URL,
	    "--auth device and --negotiate contradict each other; remove one" },
	{ "--bearer-file|/f|--oauth2Bearer|x|" URL,
	    TWO("--bearer-file", "an Authorization header") },
	{ "--auth|oauth|-H|Authorization: x|" URL,
	    "--auth oauth and an Authorization header contradict each other; remove one" },
	{ "--device-code|--bearer-env|T|" URL,
	    "--auth device and --bearer-env contradict each other; remove one" },
	{ "--auth|none|--auth-command|c|" URL,
	    "--auth none and --auth-command contradict each other; remove one" },
	{ "--auth|client-credentials|--netrc-file|/n|" URL,
	    "--auth client-credentials and --netrc-file contradict each other; remove one" },
	{ "--auth|static|" URL,
	    "--auth static needs a credential; add --bearer-env VAR, "
	    "--bearer-file FILE, --auth-command CMD, --negotiate or a header" },
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
	    "--client-secret-file needs its client; add --client-id ID" },
	{ "--client-key|/k|" URL,
	    "--client-key needs its client; add --client-id ID" },
	{ "--client-id|i|--client-key|/k|" URL,
	    "--client-key only works with --auth client-credentials, workload or enterprise; add one of them" },
	{ "--auth|workload|" URL,
	    "--auth workload needs the platform's token; add "
	    "--assertion-file FILE, --assertion-env VAR or "
	    "--assertion-command CMD" },
	{ "--auth|workload|--assertion-file|/t|--assertion-command|c|" URL,
	    EXCLUDE("--assertion-file", "--assertion-command") },
#define AT_IDP "--auth|enterprise|--idp|https://i|--idp-client-id|c|"
	{ "--auth|enterprise|" URL,
	    "--auth enterprise needs the identity provider; add --idp "
	    "ISSUER" },
	{ "--auth|enterprise|--idp|https://i|--client-id|m|" URL,
	    "--auth enterprise needs a client at the identity provider; add "
	    "--idp-client-id ID" },
	{ AT_IDP URL,
	    "--auth enterprise also needs a client at the MCP server's authorization server; add --client-id ID" },
	{ AT_IDP "--client-id|m|--idp-client-secret-file|/s|--idp-key|/k|" URL,
	    EXCLUDE("--idp-client-secret-file", "--idp-key") },
	{ AT_IDP "--client-id|m|--idp-token-file|/s|--idp-token-env|T|" URL,
	    EXCLUDE("--idp-token-file", "--idp-token-env") },
	{ "--idp|https://i|" URL,
	    "--idp only works with --auth enterprise; add it" },
	{ "--auth|enterprise|--idp|http://i|--idp-client-id|c|--client-id|m|" URL,
	    "--idp: http://i is not encrypted: use https, or add "
	    "--allow-http" },
	{ "--assertion-env|T|" URL,
	    "--assertion-env only works with --auth workload; add it" },
	{ "--auth|workload|--assertion-env|T|--bearer-env|B|" URL,
	    "--auth workload and --bearer-env contradict each other; remove one" },
	{ "--resource|r|--disable-resource-parameter|" URL,
	    EXCLUDE("--resource", "--no-resource") },
	{ "--no-browser|--browser|b|" URL,
	    EXCLUDE("--browser", "--no-browser") },
	{ "--key-password-file|/p|" URL,
	    "--key-password-file needs a certificate; add --cert FILE" },
	{ "--cert-auth|" URL,
	    "--cert-auth needs a certificate; add --cert FILE" },
	{ "login|--bearer-env|T|" URL,
	    "\"login\" is not needed: --bearer-env is the credential. To sign in instead, remove it" },
	{ "login|--auth|none|" URL,
	    "there is nothing to sign in to with --auth none; remove it" },
	{ "login|--auth|static|-H|a: b|" URL,
	    "there is nothing to sign in to with --auth static; remove it" },
};

START_TEST(argv_is_refused)
{
	play_refused(&refused_cases[_i]);
}
END_TEST

static const struct file_case file_cases[] = {
	{ "host = localhost\nauth-timeout = 7\ndevice-code\n",
	    "auth=4;host=localhost;login=7000;", NULL },
	{ "device-code\ndevice-code = no\n", "", NULL },
	{ "client-id = i\nclient-secret-env = S\nauth-store: helper:a "
	  "b\nauthorize-param = \"a= b\"\nno-browser\nscope = a b # c\n",
	    "client_id=i;secret_env=S;scope=a b;param=a= b;"
	    "store=helper:a b;no_browser=1;",
	    NULL },
	{ "\ncallback-host = ::\n", NULL,
	    "2: callback-host: \"::\" is not 127.0.0.1, localhost or 0.0.0.0: the browser has to come back to this machine" },
	{ "client-secret = x\n", NULL,
	    "1: unknown option \"client-secret\": use --client-secret-file or "
	    "--client-secret-env" },
};

START_TEST(files_are_read)
{
	play_file(&file_cases[_i]);
}
END_TEST

START_TEST(the_environment)
{
	struct world w;

	world_init(&w);
	w.env = "MCPSPLICE_AUTH=device|MCPSPLICE_PROFILE=p|BROWSER=lynx|"
		"MCPSPLICE_AUTHORIZE_PARAM=a=b\nc=d|MCPSPLICE_NO_RESOURCE=1|"
		"MCPSPLICE_DEVICE_CODE=0|MCPSPLICE_CLIENT_SECRET=x|"
		"MCPSPLICE_LOGIN_TIMEOUT=60|MCPSPLICE_CALLBACK_PORT=7|"
		"MCPSPLICE_STATIC_OAUTH_CLIENT_INFO=x|MCPSPLICE_AGENT=1";
	ck_assert_msg(world_load(&w, URL) == 0, "%s", w.why);
	world_expect(&w, "environment",
	    "auth=4;no_resource=1;param=a=b;param=c=d;port=7;login=60000;"
	    "browser=lynx;profile=p;"
	    "warning=unknown variable MCPSPLICE_CLIENT_SECRET: use "
	    "--client-secret-file or --client-secret-env;");
	options_free(&w.o);
	/* what is for all programs contradicts nothing */
	ck_assert_msg(world_load(&w, "--no-browser|" URL) == 0, "%s", w.why);
	ck_assert(w.o.no_browser);
	options_free(&w.o);
	ck_assert_msg(world_load(&w, "--browser|b|" URL) == 0, "%s", w.why);
	ck_assert_str_eq(w.o.browser, "b");
	world_free(&w);
}
END_TEST

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
		{ "callback-path", " /oauth/callback ",
		    "default of mcp-remote" },
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
	ck_assert_msg(world_load(&w,
			  URL "|3334|--show-config|--client-credentials|"
			      "--client-id|i|--client-secret-env|S|"
			      "--authorize-param|a=b|--authorize-param|c=d|"
			      "--host|localhost|--auth-timeout|90|"
			      "--static-oauth-client-metadata|{}") == 0,
	    "%s", w.why);
	text = options_show(&w.o);
	for (i = 0; i < COUNT(lines); i++)
		ck_assert_msg(world_shows(text, lines[i][0], lines[i][1],
				  lines[i][2]),
		    "%s\n%s", lines[i][0], text);
	free(text);
	options_free(&w.o);
	ck_assert_int_eq(world_load(&w,
			     URL "|--static-oauth-client-info|"
				 "{\"client_secret\":\"CANARY2\"}"),
	    0);
	text = options_show(&w.o);
	ck_assert_ptr_null(strstr(text, "CANARY"));
	ck_assert(world_shows(text, "static-oauth-client-info", " (set) ",
	    "command line"));
	free(text);
	world_free(&w);
}
END_TEST

/* What other rooms ask. */
/* What is signed for: the service is in the names of AWS, before its region. */
START_TEST(regions_and_services)
{
	static const struct {
		const char *option, *host, *want; /* NULL: it is refused */
	} cases[] = {
		{ "us-east-1:aws-mcp", "h", "aws:amz:us-east-1:aws-mcp" },
		{ "eu-west-1", "bedrock-agentcore.eu-west-1.amazonaws.com",
		    "aws:amz:eu-west-1:bedrock-agentcore" },
		{ "eu-west-1",
		    "g1.gateway.bedrock-agentcore.eu-west-1."
		    "amazonaws.com",
		    "aws:amz:eu-west-1:bedrock-agentcore" },
		{ "cn-north-1", "a1.execute-api.cn-north-1.amazonaws.com.cn",
		    "aws:amz:cn-north-1:execute-api" },
		{ "us-east-1", "aws-mcp.us-east-1.api.aws",
		    "aws:amz:us-east-1:aws-mcp" },
		{ "us-east-1", "x1.lambda-url.us-east-1.on.aws",
		    "aws:amz:us-east-1:lambda" },
		{ "us-east-2", "aws-mcp.us-east-1.api.aws", NULL },
		{ "us-east-1", "mcp.us-east-1.example.com", NULL },
		{ "us-east-1", "us-east-1.amazonaws.com", NULL },
		{ "us-east-1", "lambda.us-east-1.amazonaws.com.example", NULL },
		{ "us-east-1:", "aws-mcp.us-east-1.api.aws", NULL },
		{ "", "aws-mcp.us-east-1.api.aws", NULL },
		{ ":x", "h", NULL },
		{ "a:b:c", "h", NULL },
		{ "a b:c", "h", NULL },
	};
	struct options o = { 0 };
	char *why = NULL, *got;
	size_t i;

	for (i = 0; i < COUNT(cases); i++) {
		o.url = xasprintf("https://%s/mcp", cases[i].host);
		o.aws_sigv4 = xstrdup(cases[i].option);
		got = options_sigv4(&o, &why);
		ck_assert_pstr_eq(got, cases[i].want);
		ck_assert_int_eq(why == NULL, got != NULL);
		free(got);
		free(why);
		free(o.url);
		free(o.aws_sigv4);
		why = NULL;
	}
}
END_TEST

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
		{ "--auth-command|f|--aws-sigv4|r:s|" URL, "--aws-sigv4",
		    NULL },
		{ "--auth-store|helper:a b|" URL, NULL, "a b" },
		{ "--auth-store|file|" URL, NULL, NULL },
	};
	struct world w;
	size_t i;

	world_init(&w);
	for (i = 0; i < COUNT(cases); i++) {
		ck_assert_int_eq(world_load(&w, cases[i].args), 0);
		ck_assert_pstr_eq(options_given_credential(&w.o),
		    cases[i].credential);
		ck_assert_pstr_eq(options_store_helper(&w.o), cases[i].helper);
		options_free(&w.o);
	}
	world_free(&w);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("options of sign-in");
	TCase *t = tcase_create("options of sign-in");

	tcase_add_loop_test(t, argv_is_read, 0, COUNT(argv_cases));
	tcase_add_loop_test(t, argv_is_refused, 0, COUNT(refused_cases));
	tcase_add_loop_test(t, files_are_read, 0, COUNT(file_cases));
	tcase_add_test(t, the_environment);
	tcase_add_test(t, sign_in_is_shown);
	tcase_add_test(t, regions_and_services);
	tcase_add_test(t, what_the_options_say);
	suite_add_tcase(s, t);
	return unit_run(s);
}
