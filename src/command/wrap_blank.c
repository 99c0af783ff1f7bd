/* One pass over the bytes; a string is copied as it stands. */
#include "config.h"

#include "command/wrap_blank.h"

/* Returns the end of the comment at this place, or the place itself if there
 * is none, or one that is not closed. */
static size_t
comment_end(struct span text, size_t at)
{
	size_t i = at + 2;

	if (at + 1 >= text.n || text.p[at] != '/')
		return at;
	if (text.p[at + 1] == '/') {
		while (i < text.n && text.p[i] != '\n')
			i++;
		return i;
	}
	if (text.p[at + 1] == '*')
		for (; i + 1 < text.n; i++)
			if (text.p[i] == '*' && text.p[i + 1] == '/')
				return i + 2;
	return at;
}

size_t
wrap_blank_skip(struct span text, size_t at)
{
	size_t end;

	while (at < text.n) {
		end = is_space(text.p[at]) ? at + 1 : comment_end(text, at);
		if (end == at)
			break;
		at = end;
	}
	return at;
}

static size_t
string_end(struct span text, size_t at)
{
	for (at++; at < text.n && text.p[at] != '"'; at++)
		if (text.p[at] == '\\')
			at++;
	return at < text.n ? at + 1 : text.n;
}

/* Is the comma here the last thing in its container, after a value? before is
 * the last byte that counts, '\0' if there is none. */
static bool
is_trailing(struct span text, size_t at, char before)
{
	size_t next = wrap_blank_skip(text, at + 1);

	return next < text.n && (text.p[next] == '}' || text.p[next] == ']') &&
	    before != '\0' && strchr("[{,:", before) == NULL;
}

static void
add_blanks(struct buf *out, size_t n)
{
	for (; n > 0; n--)
		buf_addc(out, ' ');
}

void
wrap_blank(struct buf *out, struct span text)
{
	size_t at = 0, end;
	char before = '\0';

	buf_reserve(out, text.n + 1);
	if (text.n >= 3 && memcmp(text.p, "\xef\xbb\xbf", 3) == 0) {
		add_blanks(out, 3);
		at = 3;
	}
	while (at < text.n) {
		end = wrap_blank_skip(text, at);
		if (end > at) {
			add_blanks(out, end - at);
			at = end;
			continue;
		}
		end = text.p[at] == '"' ? string_end(text, at) : at + 1;
		if (text.p[at] == ',' && is_trailing(text, at, before))
			add_blanks(out, 1);
		else
			buf_add(out, text.p + at, end - at);
		before = text.p[at];
		at = end;
	}
}
