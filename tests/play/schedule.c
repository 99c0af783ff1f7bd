/* Reads schedules; README has the language. */
#include "config.h"

#include "play/schedule.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "play/words.h"

const struct schedule *
schedules_find(const struct schedules *s, const char *name)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		if (strcmp(s->list[i].name, name) == 0)
			return &s->list[i];
	return NULL;
}

/* NAME [: OPTIONS] */
static char *
begin(struct schedules *s, const char *head)
{
	const char *options = strstr(head, " : ");
	size_t n = options == NULL ? strlen(head) : (size_t)(options - head);
	struct schedule *made;

	if (s->reducer == NULL)
		return xstrdup("it is not said which reducer plays this");
	s->list = xrealloc(s->list, (s->n + 1) * sizeof *s->list);
	made = &s->list[s->n++];
	made->name = xstrndup(head, n);
	made->options = xstrdup(options == NULL ? "" : options + 3);
	made->reducer = s->reducer;
	buf_init(&made->lines, 0);
	buf_str(&made->lines);
	return NULL;
}

/* Adds the lines of a fragment with the words of args for %1, %2 ... */
static void
add_fragment(struct buf *lines, struct span text, const char *args)
{
	struct buf word;
	const char *at;
	size_t i;
	int n;

	buf_init(&word, 0);
	for (i = 0; i < text.n; i++) {
		if (text.p[i] != '%' || i + 1 == text.n ||
		    text.p[i + 1] < '1' || text.p[i + 1] > '9') {
			buf_addc(lines, text.p[i]);
			continue;
		}
		at = args;
		for (n = text.p[++i] - '0'; n > 0; n--)
			words_next(&at, &word);
		buf_addspan(lines, buf_span(&word));
	}
	buf_str(lines);
	buf_free(&word);
}

/* NAME [WORD...] */
static char *
fragment(struct schedules *s, const char *text)
{
	struct buf *lines = &s->list[s->n - 1].lines;
	const struct schedule *found;
	struct buf word;
	char *name;

	buf_init(&word, 0);
	words_next(&text, &word);
	name = xasprintf("@%s", word.p);
	buf_free(&word);
	found = schedules_find(s, name);
	free(name);
	if (found == NULL || found == &s->list[s->n - 1])
		return xstrdup("there is no such fragment above");
	add_fragment(lines, buf_span(&found->lines), text);
	return NULL;
}

/* Returns NULL, or what is wrong with the line. */
static char *
take_line(struct schedules *s, const char *line)
{
	struct buf *lines;

	if (line[0] == '\0' || line[0] == '#')
		return NULL;
	if (strncmp(line, "= ", 2) == 0) {
		s->reducer = play_reducer(line + 2);
		return s->reducer != NULL ? NULL : xstrdup("no such reducer");
	}
	if (strncmp(line, "== ", 3) == 0)
		return begin(s, line + 3);
	if (s->n == 0)
		return xstrdup("a line of no schedule");
	if (strncmp(line, "& ", 2) == 0)
		return fragment(s, line + 2);
	lines = &s->list[s->n - 1].lines;
	buf_adds(lines, line);
	buf_addc(lines, '\n');
	buf_str(lines);
	return NULL;
}

char *
schedules_add(struct schedules *s, const char *text)
{
	const char *at = text, *end;
	char *line, *wrong = NULL, *why;
	unsigned number = 0;

	s->reducer = NULL;
	for (; *at != '\0' && wrong == NULL;
	     at = *end == '\0' ? end : end + 1) {
		end = at + strcspn(at, "\n");
		line = xstrndup(at, (size_t)(end - at));
		number++;
		why = take_line(s, line);
		if (why != NULL)
			wrong = xasprintf("%u: %s: %s", number, why, line);
		free(why);
		free(line);
	}
	return wrong;
}

char *
schedules_read(struct schedules *s, const char *path)
{
	FILE *file = fopen(path, "r");
	char part[4096], *why, *wrong = NULL;
	struct buf text;
	size_t n;

	if (file == NULL)
		return xasprintf("%s: %s", path, strerror(errno));
	buf_init(&text, 0);
	while ((n = fread(part, 1, sizeof part, file)) > 0)
		buf_add(&text, part, n);
	fclose(file);
	why = schedules_add(s, buf_str(&text));
	if (why != NULL)
		wrong = xasprintf("%s:%s", path, why);
	free(why);
	buf_free(&text);
	return wrong;
}

void
schedules_free(struct schedules *s)
{
	while (s->n > 0) {
		free(s->list[--s->n].name);
		free(s->list[s->n].options);
		buf_free(&s->list[s->n].lines);
	}
	free(s->list);
	s->list = NULL;
}

static bool
has_input(const char *lines)
{
	const char *at = lines;

	while (strchr("><!?", *at) == NULL) {
		at += strcspn(at, "\n");
		at += *at != '\0';
	}
	return *at != '\0';
}

char *
schedule_play(const struct schedule *s)
{
	struct play *p;
	char *wrong;

	if (s->lines.n == 0 || !has_input(s->lines.p))
		return xstrdup("an empty schedule");
	p = play_new(s->reducer, s->options);
	wrong = play_lines(p, s->lines.p);
	play_free(p);
	return wrong;
}
