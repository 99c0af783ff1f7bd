/*
 * Which refusals are the same: what repeats the request, and what is new each
 * time, does not count; everything else does.
 */
#include "config.h"

#include "core/exchange/same_refusal.h"

#include <stdlib.h>

#include "core/wire/msg.h"
#include "unit/unit.h"

static const char session[] = "a3c0de01-7b1c-4d2e-9f00-0000000197b1";

static struct frame *
parsed(const char *text)
{
	struct frame *f = frame_copy(span_of(text));

	ck_assert_msg(msg_parse(f, 10) == MSG_OK, "%s", text);
	return f;
}

static struct frame *
request(const char *id, const char *method, const char *params)
{
	char *text = xasprintf("{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":"
			       "\"%s\",\"params\":%s}",
	    id, method, params);
	struct frame *f = parsed(text);

	free(text);
	return f;
}

static struct frame *
call(void)
{
	return request("17", "tools/call",
	    "{\"name\":\"pay\",\"arguments\":{}}");
}

static struct frame *
ping(void)
{
	return request("\"mine-1\"", "ping", "{}");
}

/* The mark of a body that refuses this request, which is freed. */
static uint64_t
mark_of_body(int status, const char *body, struct frame *of)
{
	struct facts f = { .ending = ENDING_COMPLETE,
		.status = status,
		.body = span_of(body) };
	uint64_t mark = refusal_mark(&f, NULL, of, session);

	frame_unref(of);
	return mark;
}

/* The same of an error. */
static uint64_t
mark_of_error(int status, const char *id, int code, const char *message,
    struct frame *of)
{
	struct facts f = { .ending = ENDING_COMPLETE, .status = status };
	char *text = xasprintf("{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{"
			       "\"code\":%d,\"message\":\"%s\"}}",
	    id, code, message);
	struct frame *error = parsed(text);
	uint64_t mark = refusal_mark(&f, error, of, session);

	free(text);
	frame_unref(error);
	frame_unref(of);
	return mark;
}

/* What a call and a ping get of the same door. */
static const struct {
	const char *to_call, *to_ping;
} same[] = {
	{ "", "" },
	{ " \n", "" },
	{ "Not Found", "Not Found" },
	{ "Session a3c0de01-7b1c-4d2e-9f00-0000000197b1 not found",
	    "Session a3c0de01-7b1c-4d2e-9f00-0000000197b1 not found" },
	{ "no session for tools/call", "no session for ping" },
	{ "Unknown session for 'tools/call'; reinitialize",
	    "Unknown session for 'ping'; reinitialize" },
	{ "request 17 refused", "request mine-1 refused" },
	{ "trace 4bf92f3577b34da6", "trace 00f067aa0ba902b7" },
	{ "on mcp-7f9c6d8b4-x2x1z", "on mcp-7f9c6d8b4-qwrty" },
	{ "at 2026-11-26T14:30:01Z", "at 2026-11-26T14:30:01.3Z" },
	{ "at 14:30:01", "at 14:30:02.123456" },
	{ "ref 1868a90c-7a3f-4f2b-9b0d-3f6f0c5f5f10",
	    "ref 00000000-7a3f-4f2b-9b0d-3f6f0c5f5f11" },
	{ "attempt 4711", "attempt 12" },
	{ "<html>404 <b>Ray ID: 8f1ab2c3d4e5f607</b></html>",
	    "<html>404 <b>Ray ID: 9a00b2c3d4e5f607</b></html>" },
	{ "{\"error\":\"gone\",\"path\":\"/mcp\",\"code\":\"E\"}",
	    "{\"code\":\"E\",\"path\":\"/mcp\",\"error\":\"gone\"}" },
	{ "{\"message\":\"gone\",\"stackTrace\":[1,2]}",
	    "{\"message\":\"gone\",\"stackTrace\":[3]}" },
	{ "{\"error\":{\"message\":\"gone\",\"data\":1}}",
	    "{\"error\":{\"message\":\"gone\",\"data\":2}}" },
};

START_TEST(test_same)
{
	ck_assert_msg(mark_of_body(404, same[_i].to_call, call()) ==
		mark_of_body(404, same[_i].to_ping, ping()),
	    "%s", same[_i].to_call);
}
END_TEST

static const struct {
	const char *to_call, *to_ping;
} other[] = {
	{ "", "Not Found" },
	{ "Not Found", "not found" },
	{ "Session not found: browser-17", "Session not found" },
	{ "no session", "no sessions" },
	{ "unknown tool pay", "unknown tool" },
	{ "paying customers only", "# customers only" },
	{ "{\"error\":\"gone\"}", "gone" },
	{ "<p>gone</p>", "gone" },
	{ "{\"error\":\"gone\"}", "{\"error\":\"here\"}" },
	{ "{\"error\":\"a\",\"message\":\"gone\"}", "{\"message\":\"gone\"}" },
	{ "{\"error\":", "{\"error\":1" },
};

START_TEST(test_other)
{
	ck_assert_msg(mark_of_body(404, other[_i].to_call, call()) !=
		mark_of_body(404, other[_i].to_ping, ping()),
	    "%s", other[_i].to_call);
}
END_TEST

/* Status, code and whose id it is count; so does the form. */
START_TEST(test_errors)
{
	uint64_t mark = mark_of_error(404, "17", -32001, "Gone", call());

	ck_assert(mark ==
	    mark_of_error(404, "\"mine-1\"", -32001, "Gone", ping()));
	ck_assert(mark != mark_of_error(400, "17", -32001, "Gone", call()));
	ck_assert(mark != mark_of_error(404, "17", -32002, "Gone", call()));
	ck_assert(mark != mark_of_error(404, "17", -32001, "gone", call()));
	ck_assert(mark != mark_of_error(404, "null", -32001, "Gone", call()));
	ck_assert(mark != mark_of_error(404, "18", -32001, "Gone", call()));
	ck_assert(mark_of_error(404, "null", -32001, "Gone", call()) ==
	    mark_of_error(404, "null", -32001, "Gone", ping()));
	ck_assert(mark_of_error(404, "18", -32001, "Gone", call()) !=
	    mark_of_error(404, "null", -32001, "Gone", call()));
	ck_assert(mark_of_body(404, "Gone", call()) !=
	    mark_of_error(404, "17", -32001, "Gone", call()));
	ck_assert(mark_of_body(404, "Gone", call()) !=
	    mark_of_body(410, "Gone", call()));
}
END_TEST

/* Whose id: without one, and the tool's name where it is only a part of a
 * word. */
START_TEST(test_ids)
{
	struct frame
	    *of = call(),
	    *error =
		parsed("{\"jsonrpc\":\"2.0\",\"id\":17,\"error\":{\"code\":1,"
		       "\"message\":\"x\"}}");

	ck_assert(refusal_has_id(error, of));
	ck_assert(!refusal_has_id(NULL, of));
	frame_unref(error);
	error = parsed("{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":1,"
		       "\"message\":\"x\"}}");
	ck_assert(!refusal_has_id(error, of));
	frame_unref(error);
	frame_unref(of);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("refusal");
	TCase *tc = tcase_create("refusal");

	tcase_add_loop_test(tc, test_same, 0, COUNT(same));
	tcase_add_loop_test(tc, test_other, 0, COUNT(other));
	tcase_add_test(tc, test_errors);
	tcase_add_test(tc, test_ids);
	suite_add_tcase(s, tc);
	return unit_run(s);
}
