#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/codec.h"
#include "core/wire/json.h"
#include "io/file.h"
#include "proxy/proxy.h"
#include "tools/command.h"
#include "tools/peer.h"

/* --- the result --- */

void
command_print_text(struct span text)
{
	struct buf line;
	size_t n;

	buf_init(&line, 0);
	while (text.n > 0) {
		n = 0;
		while (n < text.n && text.p[n] != '\n')
			n++;
		buf_reset(&line);
		codec_visible(&line, (struct span){ text.p, n }, SIZE_MAX);
		printf("%s\n", buf_str(&line));
		n += n < text.n;
		text.p += n;
		text.n -= n;
	}
	buf_free(&line);
}

static void
print_content(struct span part)
{
	struct span type = json_get(part, "type");
	struct buf text, shown;

	buf_init(&text, 0);
	buf_init(&shown, 0);
	if (json_string_is(type, "text") &&
	    json_string(json_get(part, "text"), &text) == 0) {
		command_print_text(buf_span(&text));
	} else {
		json_string(type, &text);
		codec_visible(&shown, buf_span(&text), 60);
		printf("[%s, %zu bytes; in a pipe it is printed as JSON]\n",
		    buf_str(&shown), part.n);
	}
	buf_free(&text);
	buf_free(&shown);
}

static void
print_result(struct span result)
{
	struct span content = json_get(result, "content"), key, part;
	struct span data = json_get(result, "structuredContent");
	size_t at = 0, n = 0;

	if (!isatty(STDOUT_FILENO)) {
		printf("%.*s\n", (int)result.n, result.p);
		return;
	}
	while (json_kind(content) == '[' &&
	    json_next(content, &at, &key, &part)) {
		print_content(part);
		n++;
	}
	if (n == 0 && data.n > 0)
		command_print_text(data);
}

/* --- the call --- */

void
command_unknown_tool(const struct options *o, struct span tools, char **why)
{
	const char *name = o->operands.list[0];
	bool hides = o->ignore_tools.n > 0 || o->only_tools.n > 0 ||
	    o->read_only;
	struct span key, tool;
	struct buf names, one;
	size_t at = 0;

	buf_init(&names, 0);
	buf_init(&one, 0);
	while (json_next(tools, &at, &key, &tool)) {
		buf_reset(&one);
		json_string(json_get(tool, "name"), &one);
		buf_adds(&names, names.n > 0 ? ", " : "");
		codec_visible(&names, buf_span(&one), 100);
	}
	*why = xasprintf("the server has no tool \"%.100s\"%s; it has: %s",
	    name,
	    hides ? ", or --ignore-tool, --only-tool or --read-only hides it" :
		    "",
	    names.n > 0 ? buf_str(&names) : "none");
	buf_free(&names);
	buf_free(&one);
}

/* Appends the params of tools/call. Returns 0, or -1 with *why. */
static int
make_params(const struct options *o, struct span tool, struct span text,
    struct buf *out, char **why)
{
	struct span schema = json_get(tool, "inputSchema");
	struct buf arguments;
	int rc;

	buf_init(&arguments, 0);
	rc = arguments_read(o->operands.list + 1, o->operands.n - 1, text,
	    schema, &arguments, why);
	if (rc == 0)
		rc = arguments_check(buf_span(&arguments), schema, why);
	buf_adds(out, "{\"name\":");
	codec_json_string(out, span_of(o->operands.list[0]));
	buf_adds(out, ",\"arguments\":");
	buf_addspan(out, buf_span(&arguments));
	buf_adds(out, ",\"_meta\":{\"progressToken\":1}}");
	buf_free(&arguments);
	return rc;
}

static int
call(struct peer *p, const struct options *o, struct span text, char **why)
{
	struct buf tools, params;
	struct span tool;
	struct frame *f = NULL;
	int status = 1, rc;

	buf_init(&tools, 0);
	buf_init(&params, 0);
	rc = list_tools(p, &tools, why);
	tool = list_find(buf_span(&tools), o->operands.list[0]);
	if (tool.p != NULL)
		string_set(why, NULL); /* also if the list was cut behind it */
	else if (rc == 0)
		command_unknown_tool(o, buf_span(&tools), why);
	if (tool.p != NULL && make_params(o, tool, text, &params, why) == 0)
		f = peer_ask(p, "tools/call", buf_span(&params), why);
	if (f != NULL && f->kind == FRAME_ERROR)
		peer_explain(f, why);
	else if (f != NULL && json_kind(f->result) != '{')
		*why = xasprintf("the server's result is not one of a tool: "
				 "it is no object");
	else if (f != NULL) {
		print_result(f->result);
		status = span_is(json_get(f->result, "isError"), "true");
	}
	frame_unref(f);
	buf_free(&tools);
	buf_free(&params);
	return status;
}

int
command_call(const struct options *o, char **why)
{
	int status = proxy_check(o, why);
	struct buf text;
	struct peer *p;

	if (status != 0)
		return status;
	status = 1;
	buf_init(&text, 0);
	if (o->operands.n == 2 && strcmp(o->operands.list[1], "-") == 0 &&
	    file_get_all(STDIN_FILENO, &text) != 0) {
		*why = xasprintf("cannot read stdin: %s", strerror(errno));
	} else if ((p = peer_start(o, why)) != NULL) {
		status = call(p, o, buf_span(&text), why);
		peer_end(p);
	}
	buf_free(&text);
	return status;
}
