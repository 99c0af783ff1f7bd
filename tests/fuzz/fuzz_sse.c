/*
 * A whole feed must tell the same events as one byte at a time and as uneven
 * pieces, and the stream's id and retry must agree. The first byte sets the
 * cap of an event.
 */
#include "config.h"

#include "core/wire/sse.h"

#include "fuzz/fuzz.h"

struct run {
	struct sse *s;
	struct buf told;
	size_t max;
	bool steal; /* take the data, as its real reader does */
};

static void
on_event(const char *type, struct buf *data, void *arg)
{
	struct run *r = arg;

	FUZZ_CHECK(*type != '\0');
	FUZZ_CHECK(r->max == 0 || data->n <= r->max);
	buf_addf(&r->told, "%s %zu:", type, data->n);
	buf_addspan(&r->told, buf_span(data));
	if (r->steal)
		buf_free(data);
}

static void
run(struct run *r, size_t max, struct span text, size_t step, bool steal)
{
	struct span id;
	size_t i, n;

	r->max = max;
	r->steal = steal;
	buf_init(&r->told, 0);
	r->s = sse_new(max, on_event, r);
	for (i = 0; i < text.n; i += n) {
		n = text.n - i < step ? text.n - i : step;
		if (sse_feed(r->s, text.p + i, n) != 0)
			break;
		FUZZ_CHECK(max == 0 || sse_held(r->s) <= max);
	}
	if (i < text.n) {
		FUZZ_CHECK(sse_feed(r->s, "\n", 1) == -1);
		buf_adds(&r->told, "dead");
	}
	id = sse_last_id(r->s);
	FUZZ_CHECK(id.n == 0 || memchr(id.p, '\0', id.n) == NULL);
	FUZZ_CHECK(id.n <= 4096);
	FUZZ_CHECK(sse_retry_ms(r->s) >= -1);
	FUZZ_CHECK(sse_retry_ms(r->s) <= 3600000);
	buf_addf(&r->told, " retry %lld id ", (long long)sse_retry_ms(r->s));
	buf_addspan(&r->told, id);
	sse_free(r->s);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const size_t steps[] = { 1, 3, 17 };
	struct run whole, pieces;
	struct span text;
	size_t i, max;

	if (size < 1 || size > 65536)
		return 0;
	max = data[0];
	text = (struct span){ (const char *)data + 1, size - 1 };
	run(&whole, max, text, size, false);
	for (i = 0; i < sizeof steps / sizeof *steps; i++) {
		run(&pieces, max, text, steps[i], i % 2 == 0);
		FUZZ_CHECK(span_eq(buf_span(&whole.told),
		    buf_span(&pieces.told)));
		buf_free(&pieces.told);
	}
	buf_free(&whole.told);
	return 0;
}
