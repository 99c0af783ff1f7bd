/*
 * Whole feed, byte by byte and uneven pieces must tell the same lines, and
 * the same as cutting the text by hand. The first byte sets the cap.
 */
#include "config.h"

#include "core/wire/lines.h"

#include "core/wire/json.h"
#include "fuzz/fuzz.h"

static void
on_line(struct frame *f, void *arg)
{
	FUZZ_CHECK(f->refs == 1 && f->text.n != 0);
	FUZZ_CHECK(f->text.p[f->text.n] == '\n');
	buf_addf(arg, "line %zu:", f->text.n);
	buf_addspan(arg, f->text);
	frame_unref(f);
}

static void
on_too_long(uint64_t size, struct span id, bool request, void *arg)
{
	(void)request;
	buf_addf(arg, "long %llu:", (unsigned long long)size);
	if (id.p != NULL)
		FUZZ_CHECK(json_check(id, 0, NULL, NULL, NULL) == JSON_OK);
}

static void
run(struct buf *out, size_t max, struct span text, size_t step)
{
	static const struct lines_ops ops = { on_line, on_too_long };
	struct lines *l;
	size_t i, n;

	l = lines_new(max, &ops, out);
	for (i = 0; i < text.n; i += n) {
		n = text.n - i < step ? text.n - i : step;
		lines_feed(l, text.p + i, n);
		FUZZ_CHECK(lines_held(l) <= max + 1);
	}
	lines_end(l);
	FUZZ_CHECK(lines_held(l) == 0);
	lines_free(l);
}

/* One line by hand. */
static void
tell(struct buf *out, size_t max, const char *p, size_t n)
{
	size_t i;

	if (n != 0 && p[n - 1] == '\r')
		n--;
	if (n > max) {
		buf_addf(out, "long %zu:", n);
		return;
	}
	for (i = 0; i < n; i++) {
		if (p[i] != ' ' && p[i] != '\t' && p[i] != '\r')
			break;
	}
	if (i == n)
		return;
	buf_addf(out, "line %zu:", n);
	buf_add(out, p, n);
}

static void
by_hand(struct buf *out, size_t max, struct span text)
{
	size_t i, start = 0;

	if (text.n >= 3 && memcmp(text.p, "\xEF\xBB\xBF", 3) == 0)
		start = 3;
	for (i = start; i < text.n; i++) {
		if (text.p[i] == '\n') {
			tell(out, max, text.p + start, i - start);
			start = i + 1;
		}
	}
	if (start < text.n)
		tell(out, max, text.p + start, text.n - start);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const size_t steps[] = { 65536, 1, 3, 17 };
	struct buf want, got;
	struct span text;
	size_t i, max;

	if (size < 1 || size > 65536)
		return 0;
	max = data[0];
	text = (struct span){ (const char *)data + 1, size - 1 };
	buf_init(&want, 0);
	buf_init(&got, 0);
	by_hand(&want, max, text);
	for (i = 0; i < sizeof steps / sizeof *steps; i++) {
		buf_reset(&got);
		run(&got, max, text, steps[i]);
		FUZZ_CHECK(span_eq(buf_span(&want), buf_span(&got)));
	}
	buf_free(&want);
	buf_free(&got);
	return 0;
}
