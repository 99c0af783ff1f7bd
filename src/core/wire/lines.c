/*
 * The line framer.
 *
 * A line that lies inside one chunk goes straight into its frame; only a line
 * that spans chunks is collected. Each byte is read once. The cap applies to
 * the collected bytes: when a line passes it, these bytes and the rest of the
 * line go through the id scan.
 */
#include "config.h"

#include "core/wire/lines.h"

#include <stdlib.h>

#include "core/wire/id_scan.h"

#define BOM_BYTES 3

struct lines {
	size_t max;
	struct lines_ops ops;
	void *arg;
	struct buf part; /* beginning of a line */
	size_t bom;      /* BOM bytes read; BOM_BYTES: the check is over */
	bool skipping;   /* the line is too long */
	uint64_t skipped;
	bool cr; /* the last skipped byte was a CR */
	struct id_scan id_scan;
};

static const char bom_bytes[] = "\xEF\xBB\xBF";

struct lines *
lines_new(size_t max, const struct lines_ops *ops, void *arg)
{
	struct lines *l;

	l = xcalloc(1, sizeof *l);
	l->max = max;
	l->ops = *ops;
	l->arg = arg;
	buf_init(&l->part, 0);
	return l;
}

/* Skips bytes of a line that is too long. */
static void
skip(struct lines *l, const char *p, size_t n)
{
	if (n == 0)
		return;
	id_scan_feed(&l->id_scan, p, n);
	l->skipped += n;
	l->cr = p[n - 1] == '\r';
}

static void
start_skipping(struct lines *l)
{
	id_scan_start(&l->id_scan);
	l->skipping = true;
	l->skipped = 0;
	skip(l, l->part.p, l->part.n);
	buf_free(&l->part);
}

static void
stop_skipping(struct lines *l)
{
	struct span id;
	bool request;

	l->skipping = false;
	id = id_scan_end(&l->id_scan, &request);
	if (l->cr)
		l->skipped--;
	l->ops.too_long(l->skipped, id, request, l->arg);
}

static struct span
drop_cr(struct span line)
{
	if (line.n != 0 && line.p[line.n - 1] == '\r')
		line.n--;
	return line;
}

static bool
is_blank(struct span line)
{
	return span_trim(line, " \t\r").n == 0;
}

/* Would the line be over the cap with this end? */
static bool
is_over(const struct lines *l, struct span rest)
{
	size_t n = l->part.n + rest.n;

	if (n <= l->max)
		return false;
	if (rest.n == 0)
		rest = buf_span(&l->part);
	return n - 1 > l->max || rest.p[rest.n - 1] != '\r';
}

/* Ends a line that consists of the held bytes and rest. */
static void
finish(struct lines *l, struct span rest)
{
	struct span line;

	if (!l->skipping && is_over(l, rest))
		start_skipping(l);
	if (l->skipping) {
		skip(l, rest.p, rest.n);
		stop_skipping(l);
		return;
	}
	if (l->part.n == 0) {
		line = drop_cr(rest);
		if (!is_blank(line))
			l->ops.line(frame_copy(line), l->arg);
		return;
	}
	buf_addspan(&l->part, rest);
	line = drop_cr(buf_span(&l->part));
	l->part.n = line.n;
	if (is_blank(line))
		buf_reset(&l->part);
	else
		l->ops.line(frame_take(&l->part), l->arg);
}

/* Holds the beginning of a line. */
static void
hold(struct lines *l, const char *p, size_t n)
{
	/* One byte over the cap may turn out to be the CR of the line end. */
	if (!l->skipping && n != 0 && l->part.n + n - 1 > l->max)
		start_skipping(l);
	if (l->skipping)
		skip(l, p, n);
	else
		buf_add(&l->part, p, n);
}

/* Drops a BOM at the very start, which may come in pieces. Returns how many
 * bytes of p were used. The beginning of a BOM that turns out to be none is
 * held as text. */
static size_t
pass_bom(struct lines *l, const char *p, size_t n)
{
	size_t used = 0, seen;

	while (used < n && l->bom < BOM_BYTES) {
		if (p[used] != bom_bytes[l->bom]) {
			seen = l->bom;
			l->bom = BOM_BYTES;
			hold(l, bom_bytes, seen);
			break;
		}
		used++;
		l->bom++;
	}
	return used;
}

void
lines_feed(struct lines *l, const char *p, size_t n)
{
	const char *end = p + n, *lf;

	if (l->bom < BOM_BYTES)
		p += pass_bom(l, p, n);
	while (p < end) {
		lf = memchr(p, '\n', (size_t)(end - p));
		if (lf == NULL) {
			hold(l, p, (size_t)(end - p));
			return;
		}
		finish(l, (struct span){ p, (size_t)(lf - p) });
		p = lf + 1;
	}
}

void
lines_end(struct lines *l)
{
	if (l->bom < BOM_BYTES) {
		hold(l, bom_bytes, l->bom);
		l->bom = BOM_BYTES;
	}
	if (l->skipping || l->part.n != 0)
		finish(l, (struct span){ "", 0 });
}

size_t
lines_held(const struct lines *l)
{
	return l->part.n;
}

void
lines_free(struct lines *l)
{
	if (l == NULL)
		return;
	buf_free(&l->part);
	free(l);
}
