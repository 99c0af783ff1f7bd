/*
 * Any tools/list and any call of its tools: the page that is passed on is one
 * without what was dropped, learning it again drops nothing more, and no
 * header has anything but plain text in it, whatever was said. The input is
 * the result of a page, a line end, and the params of a call.
 */
#include "config.h"

#include "base/bounds.h"
#include "core/era/mirror.h"

#include <limits.h>
#include <string.h>

#include "base/codec.h"
#include "core/wire/json.h"
#include "core/wire/msg.h"
#include "fuzz/fuzz.h"

#define DEPTH 64

static void
on_drop(const char *name, const char *why, void *arg)
{
	size_t *n = arg, i, len = strlen(name);

	(*n)++;
	FUZZ_CHECK(why != NULL && len <= 4 * 128 + 3);
	for (i = 0; i < len; i++)
		FUZZ_CHECK((unsigned char)name[i] >= ' ' && name[i] != '\x7F');
}

static void
count_tool(struct span tools, size_t *n)
{
	struct span key, tool;
	size_t at = 0;

	*n = 0;
	while (json_next(tools, &at, &key, &tool))
		(*n)++;
}

/* Kept tools are in their old order, and all others count as dropped. */
static void
check_page(const struct frame *before, const struct frame *after, size_t drops)
{
	struct span old = json_get(before->result, "tools");
	struct span new = json_get(after->result, "tools"), key, tool, left;
	size_t n_old, n_new, at = 0, at_old = 0;

	count_tool(old, &n_old);
	count_tool(new, &n_new);
	FUZZ_CHECK(n_old == n_new + drops);
	while (json_next(new, &at, &key, &tool)) {
		do
			FUZZ_CHECK(json_next(old, &at_old, &key, &left));
		while (!span_eq(tool, left));
	}
	FUZZ_CHECK(span_eq(before->id, after->id));
}

static struct frame *
message(const char *before, struct span text)
{
	struct frame *f;
	struct buf b;

	buf_init(&b, 0);
	buf_adds(&b, before);
	buf_addspan(&b, text);
	buf_addc(&b, '}');
	f = frame_take(&b);
	buf_free(&b);
	if (msg_parse(f, DEPTH) == MSG_OK)
		return f;
	frame_unref(f);
	return NULL;
}

static void
check_header(const struct header *one)
{
	FUZZ_CHECK(strncmp(one->name, "Mcp-", 4) == 0);
	FUZZ_CHECK(mirror_is_plain(span_of(one->value)));
	FUZZ_CHECK(strlen(one->value) <= BOUND_HEADER_BYTES);
	FUZZ_CHECK(!one->secret);
}

static void
call(const struct mirror *m, struct span params)
{
	static const char *const begin[] = {
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\","
		"\"params\":",
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/read\","
		"\"params\":",
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"params\":{},\"method\":",
	};
	struct headers h;
	struct frame *f;
	size_t i, j;

	for (i = 0; i < 3; i++) {
		f = message(begin[i], params);
		if (f == NULL)
			continue;
		headers_init(&h);
		mirror_headers(m, f, false, &h);
		mirror_wraps(m, f);
		FUZZ_CHECK(i == 2 || h.n > 0);
		for (j = 0; j < h.n; j++)
			check_header(&h.list[j]);
		headers_free(&h);
		frame_unref(f);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span all = { (const char *)data, size }, rest = { "", 0 };
	struct frame *page, *made, *again;
	struct mirror *m;
	size_t drops = 0, more = 0;
	const char *end;

	end = size == 0 ? NULL : memchr(data, '\n', size);
	if (size > 65536)
		return 0;
	if (end != NULL) {
		all.n = (size_t)(end - all.p);
		rest = (struct span){ end + 1, size - all.n - 1 };
	}
	m = mirror_new();
	page = message("{\"jsonrpc\":\"2.0\",\"id\":\"i\",\"result\":", all);
	if (page != NULL) {
		made = mirror_learn(m, page, on_drop, &drops);
		FUZZ_CHECK((made == page) == (drops == 0));
		FUZZ_CHECK(made->kind == FRAME_RESULT);
		check_page(page, made, drops);
		again = mirror_learn(m, made, on_drop, &more);
		FUZZ_CHECK(again == made && more == 0);
		frame_unref(again);
		frame_unref(made);
		frame_unref(page);
	}
	call(m, rest);
	mirror_free(m);
	return 0;
}
