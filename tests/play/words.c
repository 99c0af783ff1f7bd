/* Words of a schedule; see words.h. README has the short forms. */
#include "config.h"

#include "play/words.h"

#include <stdlib.h>

bool
words_next(const char **at, struct buf *b)
{
	size_t n;

	*at += strspn(*at, " ");
	n = strcspn(*at, " ");
	buf_reset(b);
	buf_add(b, *at, n);
	buf_str(b);
	*at += n;
	*at += strspn(*at, " ");
	return n > 0;
}

const char *
words_value(const char *word, const char *name)
{
	size_t n = strlen(name);

	return strncmp(word, name, n) == 0 && word[n] == '=' ? word + n + 1 :
							       NULL;
}

bool
words_number(const char *word, const char *name, int64_t *to)
{
	const char *value = words_value(word, name);

	if (value != NULL)
		*to = strtoll(value, NULL, 10);
	return value != NULL;
}

const char *
words_after(const char *text, const char *name)
{
	size_t n = strlen(name);

	return strncmp(text, name, n) == 0 && text[n] == ' ' ? text + n + 1 :
							       NULL;
}

int
words_index(const char *value, const char *const *names, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (names[i] != NULL && strcmp(value, names[i]) == 0)
			return (int)i;
	return -1;
}

/* --- short forms --- */

#define KEY "\"io.modelcontextprotocol/"
#define META_VERSION "\"_meta\":{" KEY "protocolVersion\":\"2026-07-28\","

static const struct {
	char name;
	const char *text;
} forms[] = {
	{ '\'', "'" },
	{ 'J', "\"jsonrpc\":\"2.0\"" },
	{ 'I', "io.modelcontextprotocol/" },
	{ 'M', META_VERSION KEY "clientCapabilities\":{}}" },
	{ 'N',
	    META_VERSION KEY
	    "clientInfo\":{\"name\":\"c\",\"version\":\"1\"}," KEY
	    "clientCapabilities\":{}}" },
	{ 'A',
	    META_VERSION KEY
	    "clientCapabilities\":{\"sampling\":{},"
	    "\"roots\":{},\"elicitation\":{\"form\":{},\"url\":{}}}}" },
	{ 'W',
	    "\"_meta\":{" KEY "serverInfo\":{\"name\":\"s\","
	    "\"version\":\"1\"}}" },
	{ 'C', "\"name\":\"book\",\"arguments\":{\"d\":1}" },
	{ 'S', "11111111111111112222222222222222" },
};

/* The text of this short form; NULL: "$" stands for itself. */
static const char *
form(char name)
{
	size_t i;

	for (i = 0; i < sizeof forms / sizeof *forms; i++)
		if (forms[i].name == name)
			return forms[i].text;
	return NULL;
}

bool
words_expand(struct buf *out, const char *line)
{
	const char *text;
	bool known = true;

	for (; *line != '\0'; line++)
		if (*line == '\'')
			buf_addc(out, '"');
		else if (*line == '$' && (text = form(line[1])) != NULL)
			buf_adds(out, text), line++;
		else {
			known &= *line != '$' || line[1] < 'A' || line[1] > 'Z';
			buf_addc(out, *line);
		}
	return known;
}
