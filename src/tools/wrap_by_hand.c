/* Looks for words, line by line; the format is not read. */
#include "config.h"

#include "tools/wrap_plan.h"

#include <stdlib.h>

#include "base/codec.h"

/* The URL of an entry stands at most so many bytes behind its program. */
#define NEAR 600

/* Does this line speak of a server that mcpsplice could serve? */
static bool
speaks(struct span line)
{
	static const char *const programs[] = { "mcp-remote", "supergateway",
		"mcp-proxy" };
	struct span start = span_trim(line, " \t-\"");
	size_t i;

	if (start.n > 0 && start.p[0] == '#')
		return false;
	for (i = 0; i < sizeof programs / sizeof programs[0]; i++)
		if (span_find(line, programs[i]) != NULL)
			return true;
	return start.n > 4 &&
	    (memcmp(start.p, "url", 3) == 0 ||
		memcmp(start.p, "uri", 3) == 0) &&
	    span_find(line, "http") != NULL;
}

/* Returns the first URL of the text. */
static struct span
url_in(struct span text)
{
	const char *at = span_find(text, "http"), *end;

	if (at == NULL)
		return no_span;
	for (end = at; end < text.p + text.n && (unsigned char)*end > ' ' &&
	     strchr("\"',]<&", *end) == NULL;)
		end++;
	return (struct span){ at, (size_t)(end - at) };
}

static void
add_entry(struct buf *out, bool yaml, bool goose, const char *command,
    const char *args)
{
	if (goose)
		buf_addf(out,
		    "  NAME:\n    type: stdio\n    name: NAME\n"
		    "    enabled: true\n    cmd: %s\n    args: [%s]\n"
		    "    timeout: 300\n",
		    command, args);
	else if (yaml)
		buf_addf(out,
		    "  - name: NAME\n    command: %s\n    args: [%s]\n",
		    command, args);
	else
		buf_addf(out,
		    "  \"NAME\": { \"command\": %s, \"args\": [%s] }\n",
		    command, args);
}

void
wrap_by_hand(struct buf *out, const char *path, struct span text,
    const char *self, bool windows)
{
	const char *dot = strrchr(path, '.');
	bool yaml = dot != NULL && dot[1] == 'y';
	bool goose = yaml && span_find(text, "extensions:") != NULL;
	struct span rest = text, line, url, near;
	struct buf own, to;
	size_t number;

	buf_init(&own, 0);
	buf_init(&to, 0);
	codec_json_string(&own, span_of(windows ? "wsl.exe" : self));
	for (number = 1; rest.n > 0; number++) {
		near = (struct span){ rest.p, rest.n < NEAR ? rest.n : NEAR };
		line = span_take(&rest, '\n');
		if (!speaks(line))
			continue;
		url = url_in(near);
		if (url.n == 0)
			url = span_of("URL");
		buf_reset(&to);
		if (windows) {
			buf_adds(&to, "\"--exec\", ");
			codec_json_string(&to, span_of(self));
			buf_adds(&to, ", ");
		}
		codec_json_string(&to, url);
		buf_addf(out, "%s: line %zu has to be changed by hand, into:\n",
		    path, number);
		add_entry(out, yaml, goose, buf_str(&own), buf_str(&to));
	}
	buf_free(&own);
	buf_free(&to);
}
