/* Compares what comes with what was expected; see play.h. */
#include "config.h"

#include "play/play.h"

#include <stdlib.h>

#include "play/words.h"

/* check dies of a message that is too long. */
enum { LINE = 800, TAIL = 2000 };

/* "..." is anything; the pieces between are looked for in order. */
static bool
matches(const char *want, const char *seen)
{
	const char *any = strstr(want, "...");
	size_t n, rest;
	char *piece;

	if (any == NULL)
		return strcmp(want, seen) == 0;
	n = (size_t)(any - want);
	if (strncmp(want, seen, n) != 0)
		return false;
	seen += n;
	for (want = any + 3; (any = strstr(want, "...")) != NULL;
	     want = any + 3) {
		piece = xstrndup(want, (size_t)(any - want));
		n = strlen(piece);
		seen = strstr(seen, piece);
		free(piece);
		if (seen == NULL)
			return false;
		seen += n;
	}
	n = strlen(seen);
	rest = strlen(want);
	return n >= rest && strcmp(seen + n - rest, want) == 0;
}

/* The next line is this one, or (NULL) there is none. */
static char *
expect(struct play *p, const char *want)
{
	const char *trace = buf_str(&p->trace);
	char *wrong = NULL;
	struct buf seen;
	bool some;

	if (p->trace.n > TAIL)
		trace += p->trace.n - TAIL;
	buf_init(&seen, 0);
	some = play_take(p, &seen);
	if (want == NULL ? some : !some || !matches(want, buf_str(&seen)))
		wrong = xasprintf("wanted: %.*s\nseen:   %.*s\nin:\n%s", LINE,
		    want == NULL ? "nothing more" : want, LINE,
		    some ? buf_str(&seen) : "nothing", trace);
	buf_free(&seen);
	return wrong;
}

static char *
is_wrong(struct play *p, const char *line)
{
	if (p->wrong != NULL)
		return xasprintf("%s: %.*s", p->wrong, LINE, line);
	return xasprintf("not understood: %.*s", LINE, line);
}

char *
play_line(struct play *p, const char *line)
{
	struct buf long_form;
	char *wrong;

	if (p->wrong != NULL)
		return is_wrong(p, line);
	if (line[0] == '\0' || line[0] == '#')
		return NULL;
	if (strchr("><!?", line[0]) != NULL) {
		wrong = expect(p, NULL);
		if (wrong == NULL && !play_input(p, line))
			wrong = is_wrong(p, line);
		return wrong;
	}
	buf_init(&long_form, 0);
	if (words_expand(&long_form, line))
		wrong = expect(p, buf_str(&long_form));
	else
		wrong = xasprintf("no such short form: %.*s", LINE, line);
	buf_free(&long_form);
	return wrong;
}

char *
play_rest(struct play *p)
{
	return expect(p, NULL);
}

char *
play_lines(struct play *p, const char *lines)
{
	const char *at = lines, *end;
	char *line, *wrong = NULL;

	for (; *at != '\0' && wrong == NULL;
	     at = *end == '\0' ? end : end + 1) {
		end = at + strcspn(at, "\n");
		line = xstrndup(at, (size_t)(end - at));
		wrong = play_line(p, line);
		free(line);
	}
	return wrong != NULL ? wrong : play_rest(p);
}
