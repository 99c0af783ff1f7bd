/*
 * Any bytes as a message: what was located must be what is there, what was
 * spliced must read back, and what came from a server must be fit for a line.
 */
#include "config.h"

#include "core/wire/msg.h"

#include "base/codec.h"
#include "core/wire/json.h"
#include "fuzz/fuzz.h"

#define DEPTH 32

static void
check_part(const struct frame *f, struct span part)
{
	if (part.p == NULL) {
		FUZZ_CHECK(part.n == 0);
		return;
	}
	FUZZ_CHECK(part.p >= f->text.p);
	FUZZ_CHECK(part.p + part.n <= f->text.p + f->text.n);
}

static void
check_frame(const struct frame *f)
{
	FUZZ_CHECK(f->refs == 1);
	FUZZ_CHECK(f->text.p[f->text.n] == '\n');
	check_part(f, f->id);
	check_part(f, f->method);
	check_part(f, f->params);
	check_part(f, f->result);
	check_part(f, f->error);
}

static void
check_equal(const struct frame *a, const struct frame *b)
{
	FUZZ_CHECK(a->kind == b->kind);
	FUZZ_CHECK(span_eq(a->text, b->text));
	FUZZ_CHECK(span_eq(a->id, b->id));
	FUZZ_CHECK(span_eq(a->method, b->method));
	FUZZ_CHECK(span_eq(a->params, b->params));
	FUZZ_CHECK(span_eq(a->result, b->result));
	FUZZ_CHECK(span_eq(a->error, b->error));
}

/* Another id goes in, the old one back; without a change nothing is made. */
static void
check_splice(struct frame *f)
{
	static const char *const ids[] = { "7", "\"a longer id\"", "-1e3" };
	struct frame *made, *again, *back;
	struct span id;
	size_t i;

	for (i = 0; i < 3; i++) {
		id = span_of(ids[i]);
		made = msg_with_id(f, id);
		if (made == f) {
			frame_unref(made);
			continue;
		}
		check_frame(made);
		FUZZ_CHECK(span_eq(made->id, id));
		again = frame_copy(made->text);
		FUZZ_CHECK(msg_parse(again, DEPTH) == MSG_OK);
		check_equal(made, again);
		frame_unref(again);
		if (f->id.p != NULL) {
			back = msg_with_id(made, f->id);
			check_equal(back, f);
			frame_unref(back);
		}
		frame_unref(made);
	}
	if (f->id.p != NULL) {
		made = msg_with_id(f, f->id);
		FUZZ_CHECK(made == f);
		frame_unref(made);
	}
}

static void
check_id(struct span id)
{
	struct buf text, quoted;
	struct frame *f;

	FUZZ_CHECK(msg_id_same(id, id));
	f = msg_error(id, -32603, "\x01\xff\"", (struct span){ NULL, 0 });
	FUZZ_CHECK(f->kind == FRAME_ERROR && span_eq(f->id, id));
	FUZZ_CHECK(msg_error_code(f) == -32603);
	frame_unref(f);
	if (json_kind(id) != '"')
		return;
	buf_init(&text, 0);
	buf_init(&quoted, 0);
	FUZZ_CHECK(json_string(id, &text) == 0);
	codec_json_string(&quoted, buf_span(&text));
	/* A lone surrogate is one replacement on both sides. */
	FUZZ_CHECK(msg_id_same(id, buf_span(&quoted)));
	FUZZ_CHECK(msg_id_hash(id) == msg_id_hash(buf_span(&quoted)));
	buf_free(&text);
	buf_free(&quoted);
}

/* Fit for a line of any reader, and nothing around it. */
static void
check_line(const struct frame *f)
{
	size_t i, len;

	for (i = 0; i < f->text.n; i += len) {
		len = codec_utf8(f->text.p + i, f->text.n - i);
		FUZZ_CHECK(len != 0);
		FUZZ_CHECK(f->text.p[i] != '\n' && f->text.p[i] != '\r');
		FUZZ_CHECK(codec_line_end(f->text.p + i, len) == NULL);
	}
	FUZZ_CHECK(f->text.p[0] == '{' && f->text.p[f->text.n - 1] == '}');
}

static void
on_element(struct frame *f, void *arg)
{
	size_t *n = arg;

	(*n)++;
	check_frame(f);
	check_line(f);
	frame_unref(f);
}

static void
from_server(struct span text, enum msg_status direct)
{
	struct frame *f, *again;
	enum msg_status status;
	size_t n = 0;
	bool scrubbed;
	struct buf b;

	buf_init(&b, 0);
	buf_addspan(&b, text);
	status = msg_from_server(&b, DEPTH, &f, &scrubbed);
	FUZZ_CHECK((status == MSG_OK) == (f != NULL));
	FUZZ_CHECK(status != MSG_UTF8);
	if (direct != MSG_UTF8 && direct != MSG_SYNTAX)
		FUZZ_CHECK(status == direct && !scrubbed);
	if (status == MSG_BATCH)
		msg_batch(buf_span(&b), DEPTH, on_element, &n);
	if (f != NULL) {
		FUZZ_CHECK(b.n == 0);
		check_frame(f);
		check_line(f);
		again = frame_copy(f->text);
		FUZZ_CHECK(msg_parse(again, DEPTH) == MSG_OK);
		check_equal(f, again);
		frame_unref(again);
		frame_unref(f);
	}
	buf_free(&b);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span text = { (const char *)data, size };
	enum msg_status status;
	struct buf message;
	struct frame *f;

	if (size > 65536)
		return 0;
	f = frame_copy(text);
	status = msg_parse(f, DEPTH);
	check_frame(f);
	FUZZ_CHECK((status == MSG_OK) == (f->kind != FRAME_RAW));
	if (status == MSG_OK)
		check_splice(f);
	if (f->id.p != NULL && json_kind(f->id) != 'n')
		check_id(f->id);
	if (f->kind == FRAME_ERROR) {
		buf_init(&message, 0);
		msg_error_code(f);
		msg_error_text(f, &message);
		buf_free(&message);
	}
	frame_unref(f);
	from_server(text, status);
	return 0;
}
