/*
 * The snippets of contrib/hosts: each must be what its host parses (JSON in
 * the strict sense, the TOML that Codex reads, the YAML of Goose, or either for
 * Python's agents), start mcpsplice by an absolute path, and pass arguments in
 * which a URL and the variable with the token agree with the environment the
 * host is told to give. Each host that was tried has a row.
 *
 * The rules are functions from text to a complaint, so that the test also
 * shows them complaining.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/wire/json.h"

#include "unit/unit.h"

#define HOSTS_DEPTH 16
/* Codex must wait longer than --init-timeout, which is 25 by default. */
#define HOSTS_MIN_STARTUP_SEC 26

struct host {
	const char *file;
	const char *key; /* where the host looks for servers */
	const char *env; /* how it is told the variable's value */
};

static const struct host hosts[] = {
	{ "claude-desktop.json", "mcpServers", "put-the-token-here" },
	{ "claude-code.json", "mcpServers", "${EXAMPLE_TOKEN}" },
	{ "cline.json", "mcpServers", "put-the-token-here" },
	{ "copilot.json", "mcpServers", "${EXAMPLE_TOKEN}" },
	{ "cursor.json", "mcpServers", "${env:EXAMPLE_TOKEN}" },
	{ "gemini.json", "mcpServers", "${EXAMPLE_TOKEN}" },
	{ "vscode.json", "servers", "${input:example-token}" },
	{ "windsurf.json", "mcpServers", "${env:EXAMPLE_TOKEN}" },
	{ "zed.json", "context_servers", "put-the-token-here" },
};

static char *
read_snippet(const char *name)
{
	const char *srcdir = getenv("srcdir");
	char *path, *text;
	size_t n;
	FILE *f;

	path = xasprintf("%s/../contrib/hosts/%s",
	    srcdir == NULL ? "." : srcdir, name);
	f = fopen(path, "rb");
	ck_assert_msg(f != NULL, "%s cannot be opened", path);
	text = xcalloc(1, 16384);
	n = fread(text, 1, 16383, f);
	ck_assert_uint_gt(n, 0);
	ck_assert_uint_lt(n, 16383);
	fclose(f);
	free(path);
	return text;
}

static bool
parse(struct span text)
{
	return json_check(text, HOSTS_DEPTH, NULL, NULL, NULL) == JSON_OK;
}

/* Decodes a string into a fresh C string, NULL when the value is none. */
static char *
string_of(struct span value)
{
	struct buf b;
	char *s = NULL;

	buf_init(&b, 0);
	if (json_string(value, &b) == 0)
		s = xstrndup(buf_str(&b), b.n);
	buf_free(&b);
	return s;
}

static bool
string_is(struct span value, const char *wanted)
{
	char *s = string_of(value);
	bool same = s != NULL && strcmp(s, wanted) == 0;

	free(s);
	return same;
}

static size_t
length_of(struct span container)
{
	struct span key, value;
	size_t at = 0, n = 0;

	while (json_next(container, &at, &key, &value))
		n++;
	return n;
}

static const char *
command_fault(struct span value)
{
	char *command = string_of(value);
	const char *fault = NULL;

	if (command == NULL || command[0] != '/')
		fault = "the command is no absolute path";
	else if (strcmp(strrchr(command, '/'), "/mcpsplice") != 0)
		fault = "the command is not mcpsplice";
	free(command);
	return fault;
}

/* Finds the variable that --bearer-env names, on the way. */
static const char *
args_fault(struct span args, struct span *variable)
{
	struct span key, arg, before = { NULL, 0 };
	size_t at = 0, urls = 0;

	*variable = before;
	if (json_kind(args) != '[')
		return "args is no array";
	while (json_next(args, &at, &key, &arg)) {
		if (json_kind(arg) != '"')
			return "an argument is no string";
		if (arg.n > 10 && memcmp(arg.p, "\"https://", 9) == 0)
			urls++;
		if (span_is(before, "\"--bearer-env\""))
			*variable = arg;
		before = arg;
	}
	if (urls != 1)
		return "the arguments have not one https URL";
	if (variable->p == NULL)
		return "the arguments name no variable";
	return NULL;
}

static const char *
server_fault(struct span server, const char *value)
{
	struct span env, variable;
	const char *fault;
	char *name;

	fault = command_fault(json_get(server, "command"));
	if (fault == NULL)
		fault = args_fault(json_get(server, "args"), &variable);
	if (fault != NULL)
		return fault;
	env = json_get(server, "env");
	if (json_kind(env) != '{')
		return "env is no object";
	name = string_of(variable);
	if (!string_is(json_get(env, name), value))
		fault = "env does not give the variable as it should";
	free(name);
	return fault;
}

static const char *
json_fault(const char *text, const char *key, const char *value)
{
	struct span root = span_of(text), servers;

	if (!parse(root))
		return "no JSON";
	servers = json_get(root, key);
	if (json_kind(servers) != '{')
		return "no servers where the host looks";
	if (length_of(servers) != 1)
		return "not one server";
	return server_fault(json_get(servers, "example"), value);
}

/* Turns the TOML, whose strings and arrays of strings are written as JSON
 * writes them, into the members of an object. */
static const char *
toml_members(const char *text, struct buf *out)
{
	const char *eol, *equals;
	struct span value;

	for (; *text != '\0'; text = eol + 1) {
		eol = strchr(text, '\n');
		if (eol == NULL)
			return "the last line has no end";
		equals = memmem(text, (size_t)(eol - text), " = ", 3);
		if (equals == NULL || equals == text)
			return "a line is no key and value";
		value.p = equals + 3;
		value.n = (size_t)(eol - value.p);
		if (!parse(value))
			return "a value is no string, number or array";
		buf_addf(out, "%s\"%.*s\":%.*s", out->n == 1 ? "" : ",",
		    (int)(equals - text), text, (int)value.n, value.p);
	}
	return NULL;
}

static const char *
codex_fault(struct span server)
{
	struct span vars, wait, variable, key, first = { NULL, 0 };
	const char *fault;
	size_t at = 0;

	fault = command_fault(json_get(server, "command"));
	if (fault == NULL)
		fault = args_fault(json_get(server, "args"), &variable);
	if (fault != NULL)
		return fault;
	vars = json_get(server, "env_vars");
	if (json_kind(vars) != '[')
		return "env_vars is no array";
	if (!json_next(vars, &at, &key, &first) || !span_eq(first, variable))
		return "env_vars does not name the variable";
	wait = json_get(server, "startup_timeout_sec");
	if (wait.p == NULL || strtol(wait.p, NULL, 10) < HOSTS_MIN_STARTUP_SEC)
		return "startup_timeout_sec is too short";
	return NULL;
}

static const char *
toml_fault(const char *text)
{
	static const char head[] = "[mcp_servers.example]\n";
	const char *fault;
	struct buf b;

	if (strncmp(text, head, sizeof head - 1) != 0)
		return "no server where Codex looks";
	buf_init(&b, 0);
	buf_addc(&b, '{');
	fault = toml_members(text + sizeof head - 1, &b);
	buf_addc(&b, '}');
	buf_str(&b);
	if (fault == NULL && !parse(buf_span(&b)))
		fault = "a key is no name";
	if (fault == NULL)
		fault = codex_fault(buf_span(&b));
	buf_free(&b);
	return fault;
}

START_TEST(test_json)
{
	const struct host *h = &hosts[_i];
	char *text = read_snippet(h->file);
	const char *fault = json_fault(text, h->key, h->env);

	ck_assert_msg(fault == NULL, "%s: %s", h->file, fault);
	free(text);
}
END_TEST

/* VS Code must declare the input that the variable refers to. */
START_TEST(test_vscode_input)
{
	char *text = read_snippet("vscode.json");
	struct span inputs, input, key;
	size_t at = 0;

	ck_assert(parse(span_of(text)));
	inputs = json_get(span_of(text), "inputs");
	ck_assert_int_eq(json_kind(inputs), '[');
	ck_assert(json_next(inputs, &at, &key, &input));
	ck_assert(string_is(json_get(input, "id"), "example-token"));
	ck_assert(string_is(json_get(input, "type"), "promptString"));
	ck_assert(span_is(json_get(input, "password"), "true"));
	ck_assert(!json_next(inputs, &at, &key, &input));
	free(text);
}
END_TEST

START_TEST(test_codex)
{
	char *text = read_snippet("codex.toml");
	const char *fault = toml_fault(text);

	ck_assert_msg(fault == NULL, "codex.toml: %s", fault);
	free(text);
}
END_TEST

/* One array has the program and its arguments. */
START_TEST(test_opencode)
{
	char *text = read_snippet("opencode.json");
	struct span server, command, key, program, variable;
	size_t at = 0;

	ck_assert(parse(span_of(text)));
	server = json_get(json_get(span_of(text), "mcp"), "example");
	ck_assert(string_is(json_get(server, "type"), "local"));
	command = json_get(server, "command");
	ck_assert(json_next(command, &at, &key, &program));
	ck_assert_ptr_null(command_fault(program));
	ck_assert_ptr_null(args_fault(command, &variable));
	ck_assert(span_is(variable, "\"EXAMPLE_TOKEN\""));
	ck_assert(string_is(json_get(json_get(server, "environment"),
				"EXAMPLE_TOKEN"),
	    "{env:EXAMPLE_TOKEN}"));
	free(text);
}
END_TEST

/* The value of a key of the server. */
static struct span
yaml_value(const char *text, const char *key)
{
	char *line = xasprintf("\n    %s: ", key);
	const char *at = strstr(text, line);
	struct span value = no_span;

	if (at != NULL) {
		value.p = at + strlen(line);
		value.n = strcspn(value.p, "\n");
	}
	free(line);
	return value;
}

START_TEST(test_goose)
{
	static const char head[] = "extensions:\n  example:\n";
	char *text = read_snippet("goose.yaml");
	struct span args, keys, key, variable, first;
	size_t at = 0;

	ck_assert_int_eq(strncmp(text, head, sizeof head - 1), 0);
	ck_assert(span_is(yaml_value(text, "type"), "stdio"));
	ck_assert(span_is(yaml_value(text, "cmd"), "/usr/local/bin/mcpsplice"));
	args = yaml_value(text, "args");
	ck_assert(parse(args));
	ck_assert_ptr_null(args_fault(args, &variable));
	keys = yaml_value(text, "env_keys");
	ck_assert(parse(keys));
	ck_assert(json_next(keys, &at, &key, &first));
	ck_assert(span_eq(first, variable));
	free(text);
}
END_TEST

/* The entries of Python's agents. Where a line of YAML or TOML has a list or an
 * object, it is written as JSON writes it. */
static const struct {
	const char *file;
	const char *head;   /* where the host looks */
	const char *before; /* of each key of the server */
	const char *behind; /* ... and of its value */
	const char *quote;  /* around a string */
	const char *value;  /* of the variable */
	const char *line;   /* what this host needs besides */
} agents[] = {
	{ "hermes.yaml", "mcp_servers:\n  example:\n", "\n    ", ": ", "",
	    "${EXAMPLE_TOKEN}", "\n    connect_timeout: 60\n" },
	{ "litellm.yaml", "mcp_servers:\n  example:\n", "\n    ", ": ", "",
	    "put-the-token-here", "\n    transport: stdio\n" },
	{ "fast-agent.yaml", "mcp:\n  servers:\n    example:\n", "\n      ",
	    ": ", "", "put-the-token-here", "" },
	{ "vibe.toml", "[[mcp_servers]]\nname = \"example\"\n", "\n", " = ",
	    "\"", "put-the-token-here", "\ntransport = \"stdio\"\n" },
};

/* Returns a copy of what follows a key on its line, or NULL. */
static char *
agent_value(int i, const char *text, const char *key)
{
	char *start = xasprintf("%s%s%s", agents[i].before, key,
	    agents[i].behind);
	const char *at = strstr(text, start);
	size_t n = strlen(start);

	free(start);
	return at == NULL ? NULL : xstrndup(at + n, strcspn(at + n, "\n"));
}

START_TEST(test_agents)
{
	char *text = read_snippet(agents[_i].file);
	char *command = agent_value(_i, text, "command");
	char *args = agent_value(_i, text, "args");
	char *env = agent_value(_i, text, "env");
	char *want = xasprintf("%s/usr/local/bin/mcpsplice%s", agents[_i].quote,
	    agents[_i].quote);
	struct span variable;

	ck_assert_int_eq(strncmp(text, agents[_i].head,
			     strlen(agents[_i].head)),
	    0);
	ck_assert_pstr_eq(command, want);
	free(want);
	ck_assert_ptr_nonnull(args);
	ck_assert(parse(span_of(args)));
	ck_assert_ptr_null(args_fault(span_of(args), &variable));
	ck_assert(span_is(variable, "\"EXAMPLE_TOKEN\""));
	want = xasprintf("{%s\"EXAMPLE_TOKEN\"%s\"%s\"%s}",
	    *agents[_i].quote == '\0' ? "" : " ", agents[_i].behind,
	    agents[_i].value, *agents[_i].quote == '\0' ? "" : " ");
	ck_assert_pstr_eq(env, want);
	ck_assert_ptr_nonnull(strstr(text, agents[_i].line));
	free(want);
	free(command);
	free(args);
	free(env);
	free(text);
}
END_TEST

/* Each host that was tried has a row with its limit. */
static const struct {
	const char *file, *host;
} rows[] = {
	{ "README", "\nClaude Code  " },
	{ "README", "\nCodex  " },
	{ "README", "\nGemini CLI  " },
	{ "README", "\nopencode  " },
	{ "README", "\nCopilot CLI  " },
	{ "README", "\nQwen Code  " },
	{ "README", "\nCline CLI  " },
	{ "README", "\nContinue cn  " },
	{ "README", "\nInspector  " },
	{ "README", "\nmcporter  " },
	{ "README", "\nAI SDK  " },
	{ "README", "\nLangChain  " },
	{ "README", "\nopenai-  " },
	{ "README", "\nmastra  " },
	{ "python-agents.md", "\n| hermes-agent |" },
	{ "python-agents.md", "\n| mistral-vibe |" },
	{ "python-agents.md", "\n| fast-agent, mcp-use, mcpo, mcp-proxy |" },
	{ "python-agents.md", "\n| litellm |" },
	{ "python-agents.md", "\n| openai-agents |" },
	{ "python-agents.md", "\n| google-adk |" },
	{ "python-agents.md", "\n| pydantic-ai |" },
	{ "python-agents.md", "\n| autogen |" },
	{ "python-agents.md", "\n| agno |" },
	{ "python-agents.md", "\n| LangChain, llama-index |" },
	{ "python-agents.md", "\n| smolagents |" },
	{ "python-agents.md", "\n| crewai, strands, haystack |" },
	{ "python-agents.md",
	    "\n| semantic-kernel, Agent Framework, the SDK |" },
};

START_TEST(test_rows)
{
	char *text = read_snippet(rows[_i].file);

	ck_assert_msg(strstr(text, rows[_i].host) != NULL, "%s: no row \"%s\"",
	    rows[_i].file, rows[_i].host + 1);
	free(text);
}
END_TEST

/* The command line of Claude Code: what follows " -- " is the server's. */
START_TEST(test_claude_command)
{
	static const char server[] =
	    " -- /usr/local/bin/mcpsplice https://mcp.example.com/mcp "
	    "--bearer-env EXAMPLE_TOKEN";
	char *text = read_snippet("claude-code.sh"), *from, *to;

	/* joined as a shell joins lines, and runs of blanks as one */
	for (from = to = text; *from != '\0'; from++) {
		if (from[0] == '\\' && from[1] == '\n')
			from++;
		else if (*from != ' ' || to == text || to[-1] != ' ')
			*to++ = *from;
	}
	*to = '\0';
	ck_assert_ptr_nonnull(strstr(text,
	    "\nclaude mcp add --env "
	    "EXAMPLE_TOKEN=\"$EXAMPLE_TOKEN\" --transport stdio example"));
	ck_assert_ptr_nonnull(strstr(text, server));
	ck_assert_str_eq(strstr(text, server) + sizeof server - 1, "\n");
	free(text);
}
END_TEST

#define GOOD_ARGS "\"args\":[\"https://h/\",\"--bearer-env\",\"V\"]"
#define GOOD_ENV "\"env\":{\"V\":\"x\"}"
#define SERVER(members) "{\"s\":{\"example\":{" members "}}}"

static const struct {
	const char *text;
	const char *fault; /* NULL: none */
} json_cases[] = {
	{ SERVER("\"command\":\"/b/mcpsplice\"," GOOD_ARGS "," GOOD_ENV),
	    NULL },
	{ SERVER("\"command\":\"/b/mcpsplice\"," GOOD_ARGS "," GOOD_ENV ","),
	    "no JSON" },
	{ "// a comment\n{}", "no JSON" },
	{ "{'s':{}}", "no JSON" },
	{ "{\"s\":{}} {}", "no JSON" },
	{ "", "no JSON" },
	{ "[]", "no servers where the host looks" },
	{ "{\"servers\":{}}", "no servers where the host looks" },
	{ "{\"s\":{}}", "not one server" },
	{ SERVER(GOOD_ARGS "," GOOD_ENV), "the command is no absolute path" },
	{ SERVER("\"command\":7," GOOD_ARGS "," GOOD_ENV),
	    "the command is no absolute path" },
	{ SERVER("\"command\":\"mcpsplice\"," GOOD_ARGS "," GOOD_ENV),
	    "the command is no absolute path" },
	{ SERVER("\"command\":\"/b/npx\"," GOOD_ARGS "," GOOD_ENV),
	    "the command is not mcpsplice" },
	{ SERVER("\"command\":\"/b/notmcpsplice\"," GOOD_ARGS "," GOOD_ENV),
	    "the command is not mcpsplice" },
	{ SERVER("\"command\":\"/b/mcpsplice\"," GOOD_ENV),
	    "args is no array" },
	{ SERVER("\"command\":\"/b/mcpsplice\",\"args\":[1]," GOOD_ENV),
	    "an argument is no string" },
	{ SERVER("\"command\":\"/b/mcpsplice\",\"args\":[\"http://h/\"]"),
	    "the arguments have not one https URL" },
	{ SERVER("\"command\":\"/b/mcpsplice\",\"args\":[\"https://\"]"),
	    "the arguments have not one https URL" },
	{ SERVER("\"command\":\"/b/mcpsplice\",\"args\":[\"https://h\"]"),
	    "the arguments name no variable" },
	{ SERVER("\"command\":\"/b/mcpsplice\"," GOOD_ARGS),
	    "env is no object" },
	{ SERVER("\"command\":\"/b/mcpsplice\"," GOOD_ARGS
		 ",\"env\":{\"W\":\"x\"}"),
	    "env does not give the variable as it should" },
	{ SERVER("\"command\":\"/b/mcpsplice\"," GOOD_ARGS
		 ",\"env\":{\"V\":\"y\"}"),
	    "env does not give the variable as it should" },
};

START_TEST(test_json_rules)
{
	const char *fault = json_fault(json_cases[_i].text, "s", "x");

	if (json_cases[_i].fault == NULL)
		ck_assert_msg(fault == NULL, "%s", fault);
	else
		ck_assert_pstr_eq(fault, json_cases[_i].fault);
}
END_TEST

#define HEAD "[mcp_servers.example]\n"
#define COMMAND "command = \"/b/mcpsplice\"\n"
#define ARGS "args = [\"https://h/\", \"--bearer-env\", \"V\"]\n"
#define VARS "env_vars = [\"V\"]\n"
#define WAIT "startup_timeout_sec = 30\n"

static const struct {
	const char *text;
	const char *fault;
} toml_cases[] = {
	{ HEAD COMMAND ARGS VARS WAIT, NULL },
	{ COMMAND ARGS VARS WAIT, "no server where Codex looks" },
	{ "[mcpServers.example]\n" COMMAND ARGS VARS WAIT,
	    "no server where Codex looks" },
	{ HEAD COMMAND ARGS VARS "startup_timeout_sec = 30",
	    "the last line has no end" },
	{ HEAD "command: \"/b/mcpsplice\"\n", "a line is no key and value" },
	{ HEAD "command = mcpsplice\n",
	    "a value is no string, number or array" },
	{ HEAD "a\"b = 1\n", "a key is no name" },
	{ HEAD ARGS VARS WAIT, "the command is no absolute path" },
	{ HEAD COMMAND VARS WAIT, "args is no array" },
	{ HEAD COMMAND ARGS WAIT, "env_vars is no array" },
	{ HEAD COMMAND ARGS "env_vars = [\"W\"]\n" WAIT,
	    "env_vars does not name the variable" },
	{ HEAD COMMAND ARGS "env_vars = []\n" WAIT,
	    "env_vars does not name the variable" },
	{ HEAD COMMAND ARGS VARS, "startup_timeout_sec is too short" },
	{ HEAD COMMAND ARGS VARS "startup_timeout_sec = 10\n",
	    "startup_timeout_sec is too short" },
};

START_TEST(test_toml_rules)
{
	const char *fault = toml_fault(toml_cases[_i].text);

	if (toml_cases[_i].fault == NULL)
		ck_assert_msg(fault == NULL, "%s", fault);
	else
		ck_assert_pstr_eq(fault, toml_cases[_i].fault);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("hosts");
	TCase *t = tcase_create("snippets");

	tcase_add_loop_test(t, test_json, 0, sizeof hosts / sizeof hosts[0]);
	tcase_add_test(t, test_vscode_input);
	tcase_add_test(t, test_codex);
	tcase_add_test(t, test_opencode);
	tcase_add_test(t, test_goose);
	tcase_add_test(t, test_claude_command);
	tcase_add_loop_test(t, test_agents, 0, COUNT(agents));
	tcase_add_loop_test(t, test_rows, 0, COUNT(rows));
	tcase_add_loop_test(t, test_json_rules, 0,
	    sizeof json_cases / sizeof json_cases[0]);
	tcase_add_loop_test(t, test_toml_rules, 0,
	    sizeof toml_cases / sizeof toml_cases[0]);
	suite_add_tcase(s, t);
	return unit_run(s);
}
