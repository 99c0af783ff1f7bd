#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/codec.h"
#include "core/wire/json.h"
#include "proxy/proxy.h"
#include "tools/command.h"
#include "tools/peer.h"

enum { NAME_MAX_COLUMNS = 30, LINE_COLUMNS = 79 };

/* The first sentence or line of a description is what fits in a list. */
static size_t
first_part(const char *text)
{
	const char *stop = strstr(text, ". ");
	size_t line = strcspn(text, "\n");

	return stop != NULL && (size_t)(stop - text) < line ?
	    (size_t)(stop - text) + 1 :
	    line;
}

static void
print_tool(struct span tool, size_t column)
{
	struct buf name, text, shown;

	buf_init(&name, 0);
	buf_init(&text, 0);
	buf_init(&shown, 0);
	json_string(json_get(tool, "name"), &text);
	codec_visible(&name, buf_span(&text), 200);
	buf_reset(&text);
	json_string(json_get(tool, "description"), &text);
	codec_visible(&shown,
	    (struct span){ buf_str(&text), first_part(buf_str(&text)) },
	    LINE_COLUMNS - column);
	if (shown.n == 0)
		printf("%s\n", buf_str(&name));
	else if (name.n >= column)
		printf("%s\n%*s%s\n", buf_str(&name), (int)column, "",
		    buf_str(&shown));
	else
		printf("%-*s%s\n", (int)column, buf_str(&name),
		    buf_str(&shown));
	buf_free(&name);
	buf_free(&text);
	buf_free(&shown);
}

/* Prints the arguments of a tool: as many as fit on a line, or the whole tool. */
static void
print_arguments(struct span tool, bool whole)
{
	struct span schema = json_get(tool, "inputSchema"), key, field, preset;
	struct span fields = json_get(schema, "properties");
	struct buf text, line;
	size_t at = 0;

	buf_init(&text, 0);
	buf_init(&line, 0);
	if (whole)
		json_string(json_get(tool, "description"), &text);
	while (json_kind(fields) == '{' &&
	    json_next(fields, &at, &key, &field)) {
		buf_adds(&text, whole ? "\n  " : " ");
		arguments_show(schema, key, &text);
		if (!whole)
			continue;
		preset = json_get(field, "default");
		buf_addf(&text, preset.n > 0 ? " (%.*s)  " : "%.*s  ",
		    (int)preset.n, preset.p);
		json_string(json_get(field, "description"), &text);
	}
	codec_visible(&line, buf_span(&text), LINE_COLUMNS - 7);
	if (whole)
		command_print_text(buf_span(&text));
	else if (line.n > 0)
		printf("   %s\n", buf_str(&line));
	buf_free(&text);
	buf_free(&line);
}

static size_t
widest_name(struct span tools)
{
	struct span key, tool;
	size_t at = 0, widest = 0, n;

	while (json_next(tools, &at, &key, &tool)) {
		n = json_get(tool, "name").n;
		if (n <= NAME_MAX_COLUMNS && n > widest)
			widest = n;
	}
	return widest;
}

static void
print_tools(struct span tools)
{
	struct span key, tool;
	size_t at = 0, column = widest_name(tools) + 1;

	while (json_next(tools, &at, &key, &tool)) {
		print_tool(tool, column);
		print_arguments(tool, false);
	}
}

int
command_tools(const struct options *o, char **why)
{
	int status = proxy_check(o, why), rc;
	bool one = o->operands.n > 0;
	struct span shown;
	struct buf list;
	struct peer *p;

	if (status != 0)
		return status;
	if ((p = peer_start(o, why)) == NULL)
		return 1;
	buf_init(&list, 0);
	rc = list_tools(p, &list, why);
	shown = one ? list_find(buf_span(&list), *o->operands.list) :
		      buf_span(&list);
	if (rc == 0 && shown.p == NULL)
		command_unknown_tool(o, buf_span(&list), why);
	else if (shown.p == NULL || (rc != 0 && shown.n == strlen("[]")))
		;
	else if (!isatty(STDOUT_FILENO))
		printf(one ? "%.*s\n" : "{\"tools\":%.*s}\n", (int)shown.n,
		    shown.p);
	else if (one)
		print_arguments(shown, true);
	else
		print_tools(shown);
	buf_free(&list);
	peer_end(p);
	return rc != 0 || shown.p == NULL;
}
