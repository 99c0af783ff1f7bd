/*
 * What is read of a request must not change when more of it comes, a reply
 * must be one of the four that there are, and only a right state may bring a
 * code, an error or a wrong issuer. The first byte sets what is expected.
 */
#include "config.h"

#include "base/bounds.h"
#include "signin/callback.h"

#include "fuzz/fuzz.h"

#define STATE "STATE"
#define ISSUER "https://as.test"
#define HOST " HTTP/1.1\r\nHost: localhost:4242\r\n\r\n"

struct run {
	enum callback_result result;
	struct callback out;
	struct buf reply;
};

static void
run(struct run *r, struct span text, const struct callback_expected *e)
{
	buf_init(&r->reply, 0);
	r->result = callback_read(text, e, &r->out, &r->reply);
}

static void
run_free(struct run *r)
{
	callback_free(&r->out);
	buf_free(&r->reply);
}

/* Does this request, fed at once, get the same reply? */
static bool
replies_like(const struct run *r, const char *request)
{
	const struct callback_expected e = {
		.port = 4242, .path = "/callback", .state = STATE
	};
	struct run other;
	bool same;

	run(&other, span_of(request), &e);
	same = span_eq(buf_span(&r->reply), buf_span(&other.reply));
	run_free(&other);
	return same;
}

static void
check_parts(enum callback_result result, const struct callback *out)
{
	FUZZ_CHECK((result == CALLBACK_CODE) == (out->code != NULL));
	if (result != CALLBACK_ERROR)
		FUZZ_CHECK(out->error == NULL && out->description == NULL);
	FUZZ_CHECK(out->code == NULL || *out->code != '\0');
	FUZZ_CHECK(out->error == NULL || *out->error != '\0');
}

static void
check_reply(const struct run *r)
{
	switch (r->result) {
	case CALLBACK_MORE:
		FUZZ_CHECK(r->reply.n == 0);
		break;
	case CALLBACK_OTHER:
		FUZZ_CHECK(replies_like(r, "\n") ||
		    replies_like(r, "GET /" HOST));
		break;
	case CALLBACK_CODE:
		FUZZ_CHECK(replies_like(r,
		    "GET /callback?code=a&state=" STATE HOST));
		break;
	case CALLBACK_ERROR:
	case CALLBACK_ISSUER:
		FUZZ_CHECK(replies_like(r,
		    "GET /callback?error=a&state=" STATE HOST));
		break;
	}
}

/* If another state is expected, the same request must have no effect. */
static void
check_state(struct span text, const struct callback_expected *e)
{
	struct callback_expected other = *e;
	struct run r;

	other.state = "STATF";
	run(&r, text, &other);
	FUZZ_CHECK(r.result == CALLBACK_OTHER);
	run_free(&r);
}

static void
check_url(struct span text, const struct callback_expected *e)
{
	char *url = xstrndup(text.n == 0 ? "" : text.p, text.n);
	enum callback_result result;
	struct callback out;

	result = callback_url(url, e, &out);
	FUZZ_CHECK(result != CALLBACK_MORE);
	check_parts(result, &out);
	callback_free(&out);
	free(url);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct callback_expected e = {
		.port = 4242, .path = "/callback", .state = STATE
	};
	struct run whole, part;
	struct span text;
	size_t n;

	if (size < 1 || size > 2 * BOUND_HEADER_BYTES)
		return 0;
	e.issuer = (data[0] & 1) != 0 ? ISSUER : "https://h";
	e.iss = (data[0] & 2) != 0;
	text = (struct span){ (const char *)data + 1, size - 1 };
	run(&whole, text, &e);
	check_parts(whole.result, &whole.out);
	check_reply(&whole);
	if (whole.result > CALLBACK_OTHER)
		check_state(text, &e);
	for (n = 0; n < text.n; n += 1 + text.n / 64) {
		run(&part, (struct span){ text.p, n }, &e);
		FUZZ_CHECK(part.result == CALLBACK_MORE ||
		    part.result == whole.result);
		run_free(&part);
	}
	check_url(text, &e);
	run_free(&whole);
	return 0;
}
