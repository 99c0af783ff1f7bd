/*
 * Mirrored headers: which tools are good, what of a call goes into which
 * header and how it is written, and what is too much. The rows of the
 * official conformance suite (http-standard-headers, http-custom-headers,
 * http-invalid-tool-headers) are all here.
 */
#include "config.h"

#include "base/bounds.h"
#include "core/era/mirror.h"
#include "core/era/parts.h"

#include <limits.h>
#include <stdlib.h>

#include "core/wire/msg.h"
#include "unit/unit.h"

#define LIST_BEGIN "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"tools\":["
#define LIST_END "],\"ttlMs\":0}}"
#define HEADER(type, name) "{\"type\":" type ",\"x-mcp-header\":" name "}"
#define STRING(name) HEADER("\"string\"", "\"" name "\"")
#define MEMBER(name, value) "\"" name "\":" value
#define PROPERTIES(text) "{\"type\":\"object\",\"properties\":{" text "}}"

struct drops {
	size_t n;
	char *name, *why; /* of the last one */
};

static void
on_drop(const char *name, const char *why, void *arg)
{
	struct drops *d = arg;

	free(d->name);
	free(d->why);
	d->name = xstrdup(name);
	d->why = xstrdup(why);
	d->n++;
}

static void
free_drops(struct drops *d)
{
	free(d->name);
	free(d->why);
	memset(d, 0, sizeof *d);
}

static struct frame *
parsed(const char *text)
{
	struct frame *f = frame_copy(span_of(text));

	ck_assert_int_eq(msg_parse(f, UINT_MAX), MSG_OK);
	return f;
}

/* The text of the list after it was learned. */
static char *
learn_text(struct mirror *m, const char *text, struct drops *drops)
{
	struct frame *f = parsed(text), *made;
	struct frame again;
	size_t before = drops->n;
	char *out;

	made = mirror_learn(m, f, on_drop, drops);
	if (drops->n == before)
		ck_assert_ptr_eq(made, f);
	else
		ck_assert_ptr_ne(made, f);
	ck_assert_int_eq(made->kind, FRAME_RESULT);
	ck_assert_int_eq(made->text.p[made->text.n], '\n');
	again = *made;
	ck_assert_int_eq(msg_parse(&again, UINT_MAX), MSG_OK);
	ck_assert(span_eq(again.result, made->result));
	out = xstrndup(made->text.p, made->text.n);
	frame_unref(made);
	frame_unref(f);
	return out;
}

static void
learn_tools(struct mirror *m, const char *tools, struct drops *drops)
{
	char *text = xasprintf(LIST_BEGIN "%s" LIST_END, tools);

	free(learn_text(m, text, drops));
	free(text);
}

/* Teaches a tool t with this inputSchema, which has to be good. */
static struct mirror *
taught(const char *schema)
{
	struct mirror *m = mirror_new();
	struct drops drops = { 0 };
	char *tool = xasprintf("{\"name\":\"t\",\"inputSchema\":%s}", schema);

	learn_tools(m, tool, &drops);
	ck_assert_msg(drops.n == 0, "%s: %s", schema, drops.why);
	free(tool);
	return m;
}

/* All headers of the message as "Name: value\n" lines. */
static char *
headers_of(const struct mirror *m, const char *message)
{
	struct frame *f = parsed(message);
	struct headers h;
	struct buf out;
	size_t i;

	headers_init(&h);
	mirror_headers(m, f, false, &h);
	buf_init(&out, 0);
	for (i = 0; i < h.n; i++) {
		ck_assert(!h.list[i].secret);
		buf_addf(&out, "%s: %s\n", h.list[i].name, h.list[i].value);
	}
	headers_free(&h);
	frame_unref(f);
	return buf_take(&out);
}

static void
check_headers(const struct mirror *m, const char *message, const char *want)
{
	char *got = headers_of(m, message);

	ck_assert_str_eq(got, want);
	free(got);
}

/* A call of t with these arguments has these Mcp-Param headers. */
static void
check_call(const struct mirror *m, const char *arguments, const char *want)
{
	char *message = xasprintf("{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":"
				  "\"tools/call\",\"params\":{\"name\":\"t\","
				  "\"arguments\":%s}}",
	    arguments);
	char *all = xasprintf("Mcp-Method: tools/call\nMcp-Name: t\n%s", want);

	check_headers(m, message, all);
	free(message);
	free(all);
}

/* --- which tools are good --- */

#define PLAIN_VALUE "is not on a plain property"
#define WRONG_TYPE "not on a string, an integer or a boolean"
#define NO_NAME "is not a valid header name"
#define SAME "the same"

static const struct {
	const char *schema, *why;
} bad[] = {
	/* http-invalid-tool-headers */
	{ PROPERTIES("\"value\":" STRING("")), "is empty" },
	{ PROPERTIES("\"data\":" HEADER("\"object\"", "\"Data\"")),
	    WRONG_TYPE },
	{ PROPERTIES("\"items\":{\"type\":\"array\",\"items\":{\"type\":"
		     "\"string\"},\"x-mcp-header\":\"Items\"}"),
	    WRONG_TYPE },
	{ PROPERTIES("\"nil\":" HEADER("\"null\"", "\"Nil\"")), WRONG_TYPE },
	{ PROPERTIES(
	      "\"field1\":" STRING("Region") ",\"field2\":" STRING("Region")),
	    SAME },
	{ PROPERTIES(
	      "\"field1\":" STRING("MyField") ",\"field2\":" STRING("myfield")),
	    SAME },
	{ PROPERTIES("\"value\":" STRING("My Region")), NO_NAME },
	{ PROPERTIES("\"value\":" STRING("Region:Primary")), NO_NAME },
	{ PROPERTIES("\"value\":" STRING("R\xC3\xA9gion")), NO_NAME },
	{ PROPERTIES("\"value\":" STRING("Region\\t1")), NO_NAME },
	/* What could end a header early. */
	{ PROPERTIES("\"value\":" STRING("A\\r\\nB")), NO_NAME },
	{ PROPERTIES("\"value\":" STRING("A\\u0000B")), NO_NAME },
	{ PROPERTIES("\"value\":" STRING("\\u0000")), NO_NAME },
	{ PROPERTIES("\"value\":" STRING("A\\u007F")), NO_NAME },
	/* No string at all. */
	{ PROPERTIES("\"value\":" HEADER("\"string\"", "1")), "not a string" },
	{ PROPERTIES("\"value\":" HEADER("\"string\"", "null")),
	    "not a string" },
	{ PROPERTIES("\"value\":" HEADER("\"string\"", "true")),
	    "not a string" },
	{ PROPERTIES("\"value\":" HEADER("\"string\"", "[\"A\"]")),
	    "not a string" },
	/* Types. */
	{ PROPERTIES("\"v\":" HEADER("\"number\"", "\"V\"")), WRONG_TYPE },
	{ PROPERTIES("\"v\":{\"x-mcp-header\":\"V\"}"), WRONG_TYPE },
	{ PROPERTIES("\"v\":{\"enum\":[\"a\"],\"x-mcp-header\":\"V\"}"),
	    WRONG_TYPE },
	{ PROPERTIES("\"v\":" HEADER("[\"string\",\"integer\"]", "\"V\"")),
	    WRONG_TYPE },
	{ PROPERTIES("\"v\":" HEADER("[\"string\",\"number\"]", "\"V\"")),
	    WRONG_TYPE },
	{ PROPERTIES("\"v\":" HEADER("[\"null\"]", "\"V\"")), WRONG_TYPE },
	{ PROPERTIES("\"v\":" HEADER("[]", "\"V\"")), WRONG_TYPE },
	{ PROPERTIES("\"v\":" HEADER("[\"string\",null]", "\"V\"")),
	    WRONG_TYPE },
	{ PROPERTIES("\"v\":" HEADER("{\"string\":1}", "\"V\"")), WRONG_TYPE },
	{ PROPERTIES("\"v\":" HEADER("\"String\"", "\"V\"")), WRONG_TYPE },
	/* Places where x-mcp-header is not allowed. */
	{ "{\"type\":\"object\",\"x-mcp-header\":\"Root\"}", PLAIN_VALUE },
	{ STRING("Root"), PLAIN_VALUE },
	{ PROPERTIES("\"a\":{\"type\":\"array\",\"items\":" STRING("E") "}"),
	    PLAIN_VALUE },
	{ PROPERTIES("\"a\":{\"items\":[" STRING("E") "]}"), PLAIN_VALUE },
	{ PROPERTIES(
	      "\"a\":{\"items\":{\"properties\":{\"b\":" STRING("Deep") "}}}"),
	    PLAIN_VALUE },
	{ PROPERTIES(
	      "\"a\":{\"properties\":{\"b\":{\"not\":" STRING("Deep") "}}}"),
	    PLAIN_VALUE },
	{ "{\"properties\":{},\"additionalProperties\":" STRING("X") "}",
	    PLAIN_VALUE },
	{ "{\"oneOf\":[{},{\"properties\":{\"a\":" STRING("X") "}}]}",
	    PLAIN_VALUE },
	{ "{\"anyOf\":[" STRING("X") "]}", PLAIN_VALUE },
	{ "{\"allOf\":[true," STRING("X") "]}", PLAIN_VALUE },
	{ "{\"allOf\":" STRING("X") "}", PLAIN_VALUE },
	{ "{\"not\":" STRING("X") "}", PLAIN_VALUE },
	{ "{\"if\":" STRING("X") "}", PLAIN_VALUE },
	{ "{\"then\":" STRING("X") "}", PLAIN_VALUE },
	{ "{\"else\":" STRING("X") "}", PLAIN_VALUE },
	{ "{\"$defs\":{\"R\":" STRING("X") "}}", PLAIN_VALUE },
	{ "{\"definitions\":{\"R\":" STRING("X") "}}", PLAIN_VALUE },
	{ "{\"dependencies\":{\"a\":[\"b\"],\"c\":" STRING("X") "}}",
	    PLAIN_VALUE },
	{ "{\"dependentSchemas\":{\"f\":{\"properties\":{\"b\":" STRING(
	      "X") "}}}}",
	    PLAIN_VALUE },
	{ "{\"patternProperties\":{\"^a\":" STRING("X") "}}", PLAIN_VALUE },
	{ "{\"prefixItems\":[" STRING("X") "]}", PLAIN_VALUE },
	{ "{\"contains\":" STRING("X") "}", PLAIN_VALUE },
	{ "{\"contentSchema\":" STRING("X") "}", PLAIN_VALUE },
	{ "{\"additionalItems\":" STRING("X") "}", PLAIN_VALUE },
	{ "{\"propertyNames\":" STRING("X") "}", PLAIN_VALUE },
	{ "{\"unevaluatedItems\":" STRING("X") "}", PLAIN_VALUE },
	{ "{\"unevaluatedProperties\":" STRING("X") "}", PLAIN_VALUE },
	/* A definition that is called properties is no way to it. */
	{ "{\"$defs\":{\"properties\":{\"properties\":{\"a\":" STRING(
	      "X") "}}}}",
	    PLAIN_VALUE },
	/* A property called x-mcp-header may have the annotation. */
	{ PROPERTIES("\"x-mcp-header\":" STRING("")), "is empty" },
	/* Across levels it must be the only one too. */
	{ PROPERTIES("\"a\":" STRING("One") ",\"b\":" PROPERTIES(
	      "\"c\":" STRING("ONE"))),
	    SAME },
	/* Escapes hide nothing. */
	{ "{\"\\u006eot\":" STRING("X") "}", PLAIN_VALUE },
	{ PROPERTIES("\"v\":{\"type\":\"null\",\"x-mcp-h\\u0065ader\":\"V\"}"),
	    WRONG_TYPE },
	/* The last of a name counts. */
	{ PROPERTIES("\"v\":{\"type\":\"string\",\"type\":\"number\","
		     "\"x-mcp-header\":\"V\"}"),
	    WRONG_TYPE },
	{ PROPERTIES("\"v\":" STRING("V") ",\"\\u0076\":" STRING("")),
	    "is empty" },
	{ "{\"properties\":{},\"properties\":{\"v\":" STRING("") "}}",
	    "is empty" },
};

START_TEST(test_bad)
{
	struct mirror *m = mirror_new();
	struct drops drops = { 0 };
	char *tool;

	tool = xasprintf("{\"name\":\"t\",\"inputSchema\":%s}", bad[_i].schema);
	learn_tools(m, tool, &drops);
	ck_assert_msg(drops.n == 1, "kept: %s", bad[_i].schema);
	ck_assert_str_eq(drops.name, "t");
	ck_assert_msg(strstr(drops.why, bad[_i].why) != NULL, "%s: %s",
	    bad[_i].schema, drops.why);
	check_call(m, "{\"value\":\"a\",\"v\":\"a\",\"a\":\"a\"}", "");
	free(tool);
	free_drops(&drops);
	mirror_free(m);
}
END_TEST

static const struct {
	const char *schema, *arguments, *headers;
} good[] = {
	/* The valid_tool of http-invalid-tool-headers. */
	{ PROPERTIES("\"region\":" STRING("Region")),
	    "{\"region\":\"us-west1\"}", "Mcp-Param-Region: us-west1\n" },
	/* All of tchar. */
	{ PROPERTIES("\"a\":" STRING("!#$%&'*+-.^_`|~09azAZ")), "{\"a\":1}",
	    "Mcp-Param-!#$%&'*+-.^_`|~09azAZ: 1\n" },
	/* Types. */
	{ PROPERTIES("\"a\":" HEADER("[\"string\",\"null\"]", "\"A\"")),
	    "{\"a\":\"x\"}", "Mcp-Param-A: x\n" },
	{ PROPERTIES("\"a\":" HEADER("[\"null\",\"integer\"]", "\"A\"")),
	    "{\"a\":1}", "Mcp-Param-A: 1\n" },
	{ PROPERTIES("\"a\":" HEADER("[\"boolean\"]", "\"A\"")), "{\"a\":true}",
	    "Mcp-Param-A: true\n" },
	{ PROPERTIES("\"a\":" HEADER("\"str\\u0069ng\"", "\"\\u0041\"")),
	    "{\"a\":\"x\"}", "Mcp-Param-A: x\n" },
	/* Chains of properties. */
	{ PROPERTIES("\"o\":" PROPERTIES("\"i\":" PROPERTIES("\"x\":" STRING(
	      "X")) ",\"y\":" STRING("Y")) ",\"z\":" STRING("Z")),
	    "{\"o\":{\"y\":\"1\",\"i\":{\"x\":\"2\"},\"x\":\"3\"},\"z\":\"4\","
	    "\"x\":\"5\"}",
	    "Mcp-Param-Z: 4\nMcp-Param-Y: 1\nMcp-Param-X: 2\n" },
	{ PROPERTIES("\"o\":{\"type\":\"string\",\"x-mcp-header\":\"O\","
		     "\"properties\":{\"i\":" STRING("I") "}}"),
	    "{\"o\":{\"i\":\"1\"}}", "Mcp-Param-I: 1\n" },
	/* An argument that is no object on the way, or none at all. */
	{ PROPERTIES("\"o\":" PROPERTIES("\"i\":" STRING("I"))), "{\"o\":[1]}",
	    "" },
	{ PROPERTIES("\"o\":" PROPERTIES("\"\":" STRING("I"))), "{\"o\":[1]}",
	    "" },
	{ PROPERTIES("\"o\":" PROPERTIES("\"i\":" STRING("I"))),
	    "{\"o\":\"i\"}", "" },
	{ PROPERTIES("\"o\":" PROPERTIES("\"i\":" STRING("I"))), "null", "" },
	{ PROPERTIES("\"i\":" STRING("I")), "\"i\"", "" },
	/* The property of the empty name. */
	{ PROPERTIES("\"\":" STRING("E")), "{\"\":\"x\"}", "Mcp-Param-E: x\n" },
	/* Properties that are called like keywords. */
	{ PROPERTIES(MEMBER("properties", STRING("A")) "," MEMBER("items",
	      STRING("B")) "," MEMBER("type", STRING("C")) "," MEMBER("not",
	      PROPERTIES(MEMBER("$defs", STRING("D"))))),
	    "{\"properties\":\"1\",\"items\":\"2\",\"type\":\"3\","
	    "\"not\":{\"$defs\":\"4\"}}",
	    "Mcp-Param-C: 3\nMcp-Param-B: 2\nMcp-Param-A: 1\n"
	    "Mcp-Param-D: 4\n" },
	/* No annotations: a property of that name, data, unknown words. */
	{ PROPERTIES("\"x-mcp-header\":{\"type\":\"number\"}"),
	    "{\"x-mcp-header\":\"x\"}", "" },
	{ PROPERTIES("\"x-mcp-header\":" STRING("H")),
	    "{\"x-mcp-header\":\"x\"}", "Mcp-Param-H: x\n" },
	{ "{\"const\":" STRING("") ",\"default\":" STRING(
	      "") ",\"enum\":[" STRING("") "],\"examples\":[" STRING("") "]}",
	    "{}", "" },
	{ PROPERTIES("\"a\":{\"default\":{\"x-mcp-header\":1}}"),
	    "{\"a\":\"x\"}", "" },
	{ "{\"x-other\":" STRING("") ",\"required\":[\"x-mcp-header\"],"
				     "\"description\":\"x-mcp-header\"}",
	    "{}", "" },
	/* Schemas that are not objects. */
	{ "true", "{\"a\":1}", "" },
	{ "[" STRING("") "]", "{\"a\":1}", "" },
	{ "\"x-mcp-header\"", "{\"a\":1}", "" },
	{ "{\"properties\":[" STRING("") "]}", "{\"a\":1}", "" },
	{ "{\"properties\":{\"a\":[" STRING("") "],\"b\":true}}", "{\"a\":1}",
	    "" },
	{ "{\"$defs\":[" STRING("") "]}", "{\"a\":1}", "" },
	/* Names are compared decoded, on both sides. */
	{ PROPERTIES("\"r\\u00e9g\":" STRING("A")), "{\"r\xC3\xA9g\":\"x\"}",
	    "Mcp-Param-A: x\n" },
	{ PROPERTIES("\"a/b\":" STRING("A")), "{\"\\u0061\\/b\":\"x\"}",
	    "Mcp-Param-A: x\n" },
	{ PROPERTIES("\"a\\u0000b\":" STRING("A")),
	    "{\"a\":\"y\",\"a\\u0000b\":\"x\",\"a\\u0000c\":\"z\"}",
	    "Mcp-Param-A: x\n" },
	/* Of the same name the last one counts, on both sides. */
	{ PROPERTIES("\"a\":" STRING("A")), "{\"a\":\"1\",\"\\u0061\":\"2\"}",
	    "Mcp-Param-A: 2\n" },
	{ PROPERTIES("\"a\":" STRING("A")), "{\"a\":\"1\",\"a\":null}", "" },
	{ PROPERTIES("\"a\":" STRING("A")),
	    "{\"a\":\"1\"},\"arguments\":{\"a\":\"2\"}", "Mcp-Param-A: 2\n" },
	{ PROPERTIES("\"o\":" PROPERTIES("\"i\":" STRING("I"))),
	    "{\"o\":{\"i\":\"1\"},\"o\":{\"j\":\"2\"}}", "" },
	{ PROPERTIES(
	      "\"a\":" STRING("") ",\"b\":" STRING("B") ",\"a\":" STRING("A")),
	    "{\"a\":\"1\",\"b\":\"2\"}", "Mcp-Param-A: 1\nMcp-Param-B: 2\n" },
	{ PROPERTIES("\"a\":" STRING("A") ",\"\\u0061\":{\"type\":\"string\"}"),
	    "{\"a\":\"1\"}", "" },
	{ PROPERTIES("\"a\":" STRING("A") ",\"a\":true"), "{\"a\":\"1\"}", "" },
	{ PROPERTIES("\"a\":" STRING("A") ",\"a\":" STRING("A")),
	    "{\"a\":\"1\"}", "Mcp-Param-A: 1\n" },
	{ "{\"not\":" STRING("") ",\"not\":{}}", "{}", "" },
	{ "{\"properties\":{\"a\":" STRING(
	      "") "},\"properties\":{\"b\":" STRING("B") "}}",
	    "{\"b\":\"1\"}", "Mcp-Param-B: 1\n" },
};

START_TEST(test_good)
{
	struct mirror *m = taught(good[_i].schema);

	check_call(m, good[_i].arguments, good[_i].headers);
	mirror_free(m);
}
END_TEST

/* --- values --- */

static const struct {
	const char *value, *want; /* NULL: no header */
} values[] = {
	/* http-custom-headers */
	{ "\"us-west1\"", "us-west1" },
	{ "42", "42" },
	{ "false", "false" },
	{ "true", "true" },
	{ "\"\"", "=?base64?\?=" },
	{ "\"test-method\"", "test-method" },
	{ "\"Hello, \xE4\xB8\x96\xE7\x95\x8C\"",
	    "=?base64?SGVsbG8sIOS4lueVjA==?=" },
	{ "\" padded \"", "=?base64?IHBhZGRlZCA=?=" },
	{ "\" us-west1\"", "=?base64?IHVzLXdlc3Qx?=" },
	{ "\"us-west1 \"", "=?base64?dXMtd2VzdDEg?=" },
	{ "\"us west 1\"", "us west 1" },
	{ "\"line1\\nline2\"", "=?base64?bGluZTEKbGluZTI=?=" },
	{ "\"line1\\r\\nline2\"", "=?base64?bGluZTENCmxpbmUy?=" },
	{ "\"\\tindented\"", "=?base64?CWluZGVudGVk?=" },
	{ "null", NULL },
	/* Strings. */
	{ "\"a\\tb\"", "=?base64?YQli?=" },
	{ "\" \"", "=?base64?IA==?=" },
	{ "\"\xC3\xA9\"", "=?base64?w6k=?=" },
	{ "\"\\u00e9\"", "=?base64?w6k=?=" },
	{ "\"\\uD83D\\uDE00\"", "=?base64?8J+YgA==?=" },
	{ "\"\\u0000\"", "=?base64?AA==?=" },
	{ "\"\\u007f\"", "=?base64?fw==?=" },
	{ "\"\\u0041\\/\\\"\\\\\"", "A/\"\\" },
	{ "\"~ !\"", "~ !" },
	{ "\"42\"", "42" },
	/* What looks wrapped is wrapped, exact case, both ends. */
	{ "\"=?base64?SGk=?=\"", "=?base64?PT9iYXNlNjQ/U0drPT89?=" },
	{ "\"=?base64?\?=\"", "=?base64?PT9iYXNlNjQ/Pz0=?=" },
	{ "\"=?base64?=\"", "=?base64?PT9iYXNlNjQ/PQ==?=" },
	{ "\"=?base64?\"", "=?base64?" },
	{ "\"=?base64?SGk=\"", "=?base64?SGk=" },
	{ "\"SGk=?=\"", "SGk=?=" },
	{ "\"?=\"", "?=" },
	{ "\"=?BASE64?SGk=?=\"", "=?BASE64?SGk=?=" },
	{ "\"x=?base64?SGk=?=\"", "x=?base64?SGk=?=" },
	/* Integers. */
	{ "0", "0" },
	{ "-7", "-7" },
	{ "-0", "0" },
	{ "0.000", "0" },
	{ "-0e99999999999999999999", "0" },
	{ "1.0", "1" },
	{ "1e3", "1000" },
	{ "1E+3", "1000" },
	{ "-1.50e1", "-15" },
	{ "100e-2", "1" },
	{ "105", "105" },
	{ "0.05e2", "5" },
	{ "0.0012e4", "12" },
	{ "1020.30e2", "102030" },
	{ "10000000000000000e-3", "10000000000000" },
	{ "9007199254740991", "9007199254740991" },
	{ "-9007199254740991", "-9007199254740991" },
	{ "9007199254740991.000000000000000000000", "9007199254740991" },
	{ "900719925474099100000000000000000000e-20", "9007199254740991" },
	{ "9.007199254740991e15", "9007199254740991" },
	{ "9007199254740992", NULL },
	{ "-9007199254740992", NULL },
	{ "9007199254740993", NULL },
	{ "9999999999999999", NULL },
	{ "10000000000000000", NULL },
	{ "18446744073709551617", NULL },
	{ "1e16", NULL },
	{ "1e400", NULL },
	{ "1e99999999999999999999", NULL },
	{ "9e15", "9000000000000000" },
	{ "9.1e15", NULL },
	/* No integers. */
	{ "3.14159", NULL },
	{ "-1e-7", NULL },
	{ "1e-99999999999999999999", NULL },
	{ "1.50", NULL },
	{ "0.1", NULL },
	{ "9007199254740992.5", NULL },
	{ "1.00000000000000000000000001", NULL },
	/* Objects and arrays cannot be the value of a header. */
	{ "{}", NULL },
	{ "{\"a\":\"b\"}", NULL },
	{ "[\"a\"]", NULL },
};

START_TEST(test_values)
{
	static const char *const types[] = { "\"string\"", "\"integer\"",
		"\"boolean\"" };
	const char *want = values[_i].want;
	char *arguments, *header, *schema;
	struct mirror *m;
	int i;

	arguments = xasprintf("{\"a\":%s}", values[_i].value);
	header = want == NULL ? xstrdup("") :
				xasprintf("Mcp-Param-A: %s\n", want);
	/* What the value is counts, not what it should be. */
	for (i = 0; i < COUNT(types); i++) {
		schema = xasprintf("{\"properties\":{\"a\":{\"type\":%s,"
				   "\"x-mcp-header\":\"A\"}}}",
		    types[i]);
		m = taught(schema);
		check_call(m, arguments, header);
		mirror_free(m);
		free(schema);
	}
	free(arguments);
	free(header);
}
END_TEST

/* Each character there is up to U+00FF, at each place: what is in the header
 * is plain, and it is wrapped exactly if it must be. */
START_TEST(test_every_character)
{
	static const char *const around[][2] = { { "", "" }, { "a", "b" },
		{ "", "b" }, { "a", "" } };
	const char *const *text = around[_i];
	bool inside = _i == 1, plain;
	struct buf out;
	char *raw;
	int c;

	buf_init(&out, 0);
	for (c = 0; c < 256; c++) {
		plain = c > ' ' && c < 0x7F;
		if (c == ' ')
			plain = inside;
		raw = xasprintf("\"%s\\u%04x%s\"", text[0], c, text[1]);
		buf_reset(&out);
		ck_assert_int_eq(mirror_value(&out, span_of(raw)), 0);
		ck_assert(mirror_is_plain(buf_span(&out)));
		ck_assert_msg((strncmp(buf_str(&out), "=?base64?", 9) != 0) ==
			plain,
		    "%s: %s", raw, buf_str(&out));
		free(raw);
	}
	buf_free(&out);
}
END_TEST

/* The two tools of http-custom-headers as they are listed and called. */
START_TEST(test_conformance_call)
{
	static const char tools[] =
	    "{\"name\":\"test_custom_headers\",\"inputSchema\":{\"type\":"
	    "\"object\",\"properties\":{\"region\":{\"type\":\"string\","
	    "\"description\":\"p\",\"x-mcp-header\":\"Region\"},\"priority\":{"
	    "\"type\":\"integer\",\"x-mcp-header\":\"Priority\"},\"verbose\":{"
	    "\"type\":\"boolean\",\"x-mcp-header\":\"Verbose\"},\"method_val\":"
	    "{\"type\":\"string\",\"x-mcp-header\":\"Method\"},\"float_val\":{"
	    "\"type\":\"number\"},\"query\":{\"type\":\"string\"}},"
	    "\"required\":[\"region\",\"priority\",\"query\"]}},"
	    "{\"name\":\"test_custom_headers_null\",\"inputSchema\":{\"type\":"
	    "\"object\",\"properties\":{\"region\":{\"type\":\"string\","
	    "\"x-mcp-header\":\"Region\"},\"priority\":{\"type\":\"integer\","
	    "\"x-mcp-header\":\"Priority\"},\"verbose\":{\"type\":\"boolean\","
	    "\"x-mcp-header\":\"Verbose\"},\"query\":{\"type\":\"string\"}}}}";
	struct mirror *m = mirror_new();
	struct drops drops = { 0 };

	learn_tools(m, tools, &drops);
	ck_assert_uint_eq(drops.n, 0);
	check_headers(m,
	    "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\","
	    "\"params\":{\"name\":\"test_custom_headers\",\"arguments\":{"
	    "\"region\":\"us-west1\",\"priority\":42,\"verbose\":false,"
	    "\"method_val\":\"test-method\",\"float_val\":3.14159,"
	    "\"query\":\"SELECT * FROM users\"}}}",
	    "Mcp-Method: tools/call\nMcp-Name: test_custom_headers\n"
	    "Mcp-Param-Region: us-west1\nMcp-Param-Verbose: false\n"
	    "Mcp-Param-Priority: 42\nMcp-Param-Method: test-method\n");
	check_headers(m,
	    "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"tools/call\","
	    "\"params\":{\"name\":\"test_custom_headers_null\",\"arguments\":{"
	    "\"region\":\"us-east1\",\"priority\":1,\"verbose\":null,"
	    "\"query\":\"SELECT 1\"}}}",
	    "Mcp-Method: tools/call\nMcp-Name: test_custom_headers_null\n"
	    "Mcp-Param-Region: us-east1\nMcp-Param-Priority: 1\n");
	mirror_free(m);
}
END_TEST

/* --- Mcp-Method and Mcp-Name --- */

static const struct {
	const char *method, *params, *want; /* params with its comma */
} messages[] = {
	/* http-standard-headers */
	{ "initialize", ",\"id\":1", "Mcp-Method: initialize\n" },
	{ "notifications/initialized", "",
	    "Mcp-Method: notifications/initialized\n" },
	{ "tools/list", ",\"id\":1", "Mcp-Method: tools/list\n" },
	{ "tools/call", ",\"id\":1,\"params\":{\"name\":\"test_headers\"}",
	    "Mcp-Method: tools/call\nMcp-Name: test_headers\n" },
	{ "tools/call",
	    ",\"id\":1,\"params\":{\"name\":\"my-hyphenated-tool\"}",
	    "Mcp-Method: tools/call\nMcp-Name: my-hyphenated-tool\n" },
	{ "resources/list", ",\"id\":1", "Mcp-Method: resources/list\n" },
	{ "resources/read",
	    ",\"id\":1,\"params\":{\"uri\":\"file:///path/to/"
	    "file%20name.txt\"}",
	    "Mcp-Method: resources/read\n"
	    "Mcp-Name: file:///path/to/file%20name.txt\n" },
	{ "resources/read",
	    ",\"id\":1,\"params\":{\"uri\":\"https:\\/\\/example.com/"
	    "resource?id=123\"}",
	    "Mcp-Method: resources/read\n"
	    "Mcp-Name: https://example.com/resource?id=123\n" },
	{ "prompts/list", ",\"id\":1", "Mcp-Method: prompts/list\n" },
	{ "prompts/get", ",\"id\":1,\"params\":{\"name\":\"test_prompt\"}",
	    "Mcp-Method: prompts/get\nMcp-Name: test_prompt\n" },
	/* Tasks. */
	{ "tasks/get", ",\"id\":1,\"params\":{\"taskId\":\"t-1\"}",
	    "Mcp-Method: tasks/get\nMcp-Name: t-1\n" },
	{ "tasks/update", ",\"id\":1,\"params\":{\"taskId\":\"t-1\"}",
	    "Mcp-Method: tasks/update\nMcp-Name: t-1\n" },
	{ "tasks/cancel", ",\"id\":1,\"params\":{\"taskId\":\"t-1\"}",
	    "Mcp-Method: tasks/cancel\nMcp-Name: t-1\n" },
	{ "tasks/list", ",\"id\":1,\"params\":{\"taskId\":\"t-1\"}",
	    "Mcp-Method: tasks/list\n" },
	/* Nothing to name, or not by that. */
	{ "tools/call", ",\"id\":1", "Mcp-Method: tools/call\n" },
	{ "tools/call", ",\"id\":1,\"params\":[\"name\"]",
	    "Mcp-Method: tools/call\n" },
	{ "tools/call", ",\"id\":1,\"params\":{\"name\":7,\"uri\":\"u\"}",
	    "Mcp-Method: tools/call\n" },
	{ "tools/call", ",\"id\":1,\"params\":{\"name\":null}",
	    "Mcp-Method: tools/call\n" },
	{ "resources/read", ",\"id\":1,\"params\":{\"name\":\"n\"}",
	    "Mcp-Method: resources/read\n" },
	{ "completion/complete", ",\"id\":1,\"params\":{\"name\":\"n\"}",
	    "Mcp-Method: completion/complete\n" },
	{ "Tools/Call", ",\"id\":1,\"params\":{\"name\":\"n\"}",
	    "Mcp-Method: Tools/Call\n" },
	/* Names are written as values are. */
	{ "tools/call", ",\"id\":1,\"params\":{\"name\":\"\xC3\xA9\"}",
	    "Mcp-Method: tools/call\nMcp-Name: =?base64?w6k=?=\n" },
	{ "prompts/get", ",\"id\":1,\"params\":{\"name\":\"\"}",
	    "Mcp-Method: prompts/get\nMcp-Name: =?base64?\?=\n" },
	{ "tools/call", ",\"id\":1,\"params\":{\"name\":\"a\\r\\nX: y\"}",
	    "Mcp-Method: tools/call\nMcp-Name: =?base64?YQ0KWDogeQ==?=\n" },
	{ "tools/call",
	    ",\"id\":1,\"params\":{\"name\":\"a\",\"n\\u0061me\":\"b\"}",
	    "Mcp-Method: tools/call\nMcp-Name: b\n" },
	/* A method with escapes; one that no header can hold. */
	{ "tools\\/call", ",\"id\":1,\"params\":{\"name\":\"n\"}",
	    "Mcp-Method: tools/call\nMcp-Name: n\n" },
	{ "a b\\\\", ",\"id\":1", "Mcp-Method: a b\\\n" },
	{ "caf\xC3\xA9", ",\"id\":1", "" },
	{ "a\\r\\nX: y", ",\"id\":1", "" },
	{ "a\\u0000", ",\"id\":1", "" },
	{ "a\\tb", "", "" },
	{ " a", ",\"id\":1", "" },
	{ "a ", ",\"id\":1", "" },
	{ "", ",\"id\":1", "" },
};

START_TEST(test_messages)
{
	struct mirror *m = mirror_new();
	char *text;

	text = xasprintf("{\"jsonrpc\":\"2.0\",\"method\":\"%s\"%s}",
	    messages[_i].method, messages[_i].params);
	check_headers(m, text, messages[_i].want);
	free(text);
	mirror_free(m);
}
END_TEST

/* What has no method has no headers, and those that were there stay; one of
 * ours that was there is replaced. */
START_TEST(test_other_headers)
{
	struct mirror *m = taught(PROPERTIES("\"a\":" STRING("A")));
	struct frame *f;
	struct headers h;

	check_headers(m, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}", "");
	headers_init(&h);
	headers_add(&h, span_of("X"), span_of("1"), true);
	headers_add(&h, span_of("mcp-param-a"), span_of("2"), false);
	headers_add(&h, span_of("mcp-name"), span_of("3"), false);
	f = parsed("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\","
		   "\"params\":{\"name\":\"t\",\"arguments\":{\"a\":\"v\"}}}");
	mirror_headers(m, f, false, &h);
	ck_assert_uint_eq(h.n, 4);
	ck_assert_str_eq(headers_get(&h, "x"), "1");
	ck_assert_str_eq(headers_get(&h, "Mcp-Method"), "tools/call");
	ck_assert_str_eq(headers_get(&h, "Mcp-Param-A"), "v");
	ck_assert_str_eq(headers_get(&h, "Mcp-Name"), "t");
	headers_free(&h);
	frame_unref(f);
	mirror_free(m);
}
END_TEST

/* Only tools/call has parameters. */
START_TEST(test_only_calls)
{
	struct mirror *m = taught(PROPERTIES("\"a\":" STRING("A")));

	check_headers(m,
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"prompts/get\","
	    "\"params\":{\"name\":\"t\",\"arguments\":{\"a\":\"v\"}}}",
	    "Mcp-Method: prompts/get\nMcp-Name: t\n");
	check_headers(m,
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools\\/call\","
	    "\"params\":{\"name\":\"\\u0074\",\"arguments\":{\"a\":\"v\"}}}",
	    "Mcp-Method: tools/call\nMcp-Name: t\nMcp-Param-A: v\n");
	mirror_free(m);
}
END_TEST

/* --- the page --- */

#define GOOD(name) "{ \"name\" : \"" name "\", \"x\":1.0, \"x\":1e1 }"
#define BAD(name)                                                              \
	"{\"name\":\"" name                                                    \
	"\",\"inputSchema\":" PROPERTIES("\"a\":" STRING("")) "}"

static const struct {
	const char *before, *after;
	size_t dropped;
} pages[] = {
	{ LIST_BEGIN LIST_END, NULL, 0 },
	{ LIST_BEGIN GOOD("a") " ,\r " GOOD("b") LIST_END, NULL, 0 },
	{ LIST_BEGIN BAD("a") LIST_END, LIST_BEGIN LIST_END, 1 },
	{ LIST_BEGIN BAD("a") "," BAD("b") " " LIST_END, LIST_BEGIN LIST_END,
	    2 },
	{ LIST_BEGIN " " BAD("a") " , " GOOD("b") " " LIST_END,
	    LIST_BEGIN GOOD("b") LIST_END, 1 },
	{ LIST_BEGIN GOOD("a") "," BAD("b") LIST_END,
	    LIST_BEGIN GOOD("a") LIST_END, 1 },
	{ LIST_BEGIN
	    " " GOOD("a") " , " GOOD("b") " , " BAD("c") " , " GOOD("d")
		LIST_END,
	    LIST_BEGIN " " GOOD("a") " , " GOOD("b") "," GOOD("d") LIST_END,
	    1 },
	{ LIST_BEGIN BAD("a") "," GOOD("b") "," BAD("c") "," GOOD("d") LIST_END,
	    LIST_BEGIN GOOD("b") "," GOOD("d") LIST_END, 2 },
	/* Elements that are no tools stay. */
	{ LIST_BEGIN "1,\"x-mcp-header\",[],{},null" LIST_END, NULL, 0 },
	{ LIST_BEGIN "1," BAD("a") ",[]" LIST_END, LIST_BEGIN "1,[]" LIST_END,
	    1 },
	/* The last list counts, and its place. */
	{ "{\"result\":{\"tools\":[1],\"\\u0074ools\":[2," BAD(
	      "a") "]} ,\"id\":\"q\",\"jsonrpc\":\"2.0\"}",
	    "{\"result\":{\"tools\":[1],\"\\u0074ools\":[2]} ,\"id\":\"q\","
	    "\"jsonrpc\":\"2.0\"}",
	    1 },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"tools\":{\"a\":" BAD(
	      "a") "}}}",
	    NULL, 0 },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}", NULL, 0 },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":[" BAD("a") "]}", NULL, 0 },
};

START_TEST(test_pages)
{
	struct mirror *m = mirror_new();
	struct drops drops = { 0 };
	char *after;

	after = learn_text(m, pages[_i].before, &drops);
	ck_assert_str_eq(after,
	    pages[_i].after != NULL ? pages[_i].after : pages[_i].before);
	ck_assert_uint_eq(drops.n, pages[_i].dropped);
	free(after);
	free_drops(&drops);
	mirror_free(m);
}
END_TEST

/* An error is not a page. */
START_TEST(test_error)
{
	struct mirror *m = mirror_new();
	struct drops drops = { 0 };
	struct frame *f, *made;

	f = parsed("{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":1,"
		   "\"tools\":[" BAD("a") "]}}");
	made = mirror_learn(m, f, on_drop, &drops);
	ck_assert_ptr_eq(made, f);
	ck_assert_uint_eq(f->refs, 2);
	ck_assert_uint_eq(drops.n, 0);
	frame_unref(made);
	frame_unref(f);
	mirror_free(m);
}
END_TEST

/* The name that is told is fit to be shown, and never too long. */
START_TEST(test_dropped_name)
{
	static const char *const names[][2] = {
		{ "\"a\\u001b[31m\xE2\x80\xAE\"", "a\\x1b[31m\\xe2\\x80\\xae" },
		{ "7", "(without a usable name)" },
		{ "null", "(without a usable name)" },
	};
	struct mirror *m = mirror_new();
	struct drops drops = { 0 };
	char *tool, name[1000];
	int i;

	for (i = 0; i < COUNT(names); i++) {
		tool =
		    xasprintf("{\"name\":%s,\"inputSchema\":" STRING("A") "}",
			names[i][0]);
		learn_tools(m, tool, &drops);
		ck_assert_str_eq(drops.name, names[i][1]);
		free(tool);
	}
	learn_tools(m, "{\"inputSchema\":" STRING("A") "}", &drops);
	ck_assert_str_eq(drops.name, "(without a usable name)");
	memset(name, 'a', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	tool = xasprintf("{\"name\":\"%s\",\"inputSchema\":" STRING("A") "}",
	    name);
	learn_tools(m, tool, &drops);
	ck_assert_uint_eq(strlen(drops.name), 131);
	free(tool);
	free_drops(&drops);
	mirror_free(m);
}
END_TEST

/* --- what stays known --- */

#define TOOL(name, schema) "{\"name\":\"" name "\",\"inputSchema\":" schema "}"

START_TEST(test_replaced)
{
	struct mirror *m = mirror_new();
	struct drops drops = { 0 };

	learn_tools(m, TOOL("t", PROPERTIES("\"a\":" STRING("A"))), &drops);
	learn_tools(m, TOOL("u", PROPERTIES("\"a\":" STRING("U"))), &drops);
	check_call(m, "{\"a\":\"1\"}", "Mcp-Param-A: 1\n");
	/* By the last of its name, in a page and over pages. */
	learn_tools(m,
	    TOOL("\\u0074", PROPERTIES("\"a\":" STRING("B"))) "," TOOL("t",
		PROPERTIES("\"a\":" STRING("C"))),
	    &drops);
	check_call(m, "{\"a\":\"1\"}", "Mcp-Param-C: 1\n");
	learn_tools(m, TOOL("t", PROPERTIES("\"a\":{}")), &drops);
	check_call(m, "{\"a\":\"1\"}", "");
	ck_assert_uint_eq(drops.n, 0);
	learn_tools(m, TOOL("t", PROPERTIES("\"a\":" STRING("D"))), &drops);
	check_call(m, "{\"a\":\"1\"}", "Mcp-Param-D: 1\n");
	learn_tools(m, TOOL("t", PROPERTIES("\"a\":" STRING(""))), &drops);
	check_call(m, "{\"a\":\"1\"}", "");
	ck_assert_uint_eq(drops.n, 1);
	check_headers(m,
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\","
	    "\"params\":{\"name\":\"u\",\"arguments\":{\"a\":\"v\"}}}",
	    "Mcp-Method: tools/call\nMcp-Name: u\nMcp-Param-U: v\n");
	free_drops(&drops);
	mirror_free(m);
}
END_TEST

START_TEST(test_clear)
{
	struct mirror *m = taught(PROPERTIES("\"a\":" STRING("A")));
	struct drops drops = { 0 };

	mirror_clear(m);
	check_call(m, "{\"a\":\"1\"}", "");
	mirror_clear(m);
	learn_tools(m, TOOL("t", PROPERTIES("\"a\":" STRING("A"))), &drops);
	check_call(m, "{\"a\":\"1\"}", "Mcp-Param-A: 1\n");
	mirror_free(m);
	mirror_free(NULL);
}
END_TEST

#define WRAPPED(name, a)                                                       \
	"{" MEMBER("name", "\"" name "\"") "," MEMBER("outputSchema",          \
	    "{\"type\":\"string\"}") "," MEMBER("inputSchema",                 \
	    PROPERTIES(MEMBER("a", a))) "}"

static bool
wraps(const struct mirror *m, const char *params)
{
	char *text = xasprintf("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":"
			       "\"tools/call\",\"params\":%s}",
	    params);
	struct frame *f = parsed(text);
	bool answer = mirror_wraps(m, f);

	frame_unref(f);
	free(text);
	return answer;
}

START_TEST(test_wraps)
{
	struct mirror *m = mirror_new();
	struct drops drops = { 0 };

	ck_assert(!wraps(m, "{\"name\":\"array\"}"));
	learn_tools(m,
	    "{\"name\":\"array\",\"outputSchema\":{\"type\":\"array\"}},"
	    "{\"name\":\"object\",\"outputSchema\":{\"type\":\"object\"}},"
	    "{\"name\":\"none\"}",
	    &drops);
	learn_tools(m, WRAPPED("both", STRING("A")), &drops);
	ck_assert_uint_eq(drops.n, 0);
	learn_tools(m, WRAPPED("bad", STRING("")), &drops);
	ck_assert_uint_eq(drops.n, 1);
	ck_assert(wraps(m, "{\"name\":\"array\"}"));
	ck_assert(wraps(m, "{\"name\":\"\\u0061rray\"}"));
	ck_assert(wraps(m, "{\"name\":\"both\"}"));
	ck_assert(!wraps(m, "{\"name\":\"object\"}"));
	ck_assert(!wraps(m, "{\"name\":\"none\"}"));
	ck_assert(!wraps(m, "{\"name\":\"bad\"}"));
	ck_assert(!wraps(m, "{\"name\":1}"));
	ck_assert(!wraps(m, "[]"));
	check_headers(m,
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\","
	    "\"params\":{\"name\":\"both\",\"arguments\":{\"a\":\"v\"}}}",
	    "Mcp-Method: tools/call\nMcp-Name: both\nMcp-Param-A: v\n");
	learn_tools(m, "{\"name\":\"array\"}", &drops);
	ck_assert(!wraps(m, "{\"name\":\"array\"}"));
	free_drops(&drops);
	mirror_free(m);
}
END_TEST

/* Many tools, in a mixed-up order. */
START_TEST(test_many)
{
	struct mirror *m = mirror_new();
	struct drops drops = { 0 };
	char *text, *want;
	struct buf b;
	int i, n = 2000;

	buf_init(&b, 0);
	for (i = 0; i < n; i++)
		buf_addf(&b,
		    "%s{\"name\":\"tool%d\",\"inputSchema\":{\"properties\":{"
		    "\"a\":{\"type\":\"string\",\"x-mcp-header\":\"H%d\"}}}}",
		    i == 0 ? "" : ",", i * 7919 % n, i * 7919 % n);
	learn_tools(m, buf_str(&b), &drops);
	buf_free(&b);
	for (i = 0; i < n; i++) {
		text = xasprintf("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":"
				 "\"tools/call\",\"params\":{\"name\":\"tool%d"
				 "\",\"arguments\":{\"a\":\"v\"}}}",
		    i);
		want = xasprintf("Mcp-Method: tools/call\nMcp-Name: tool%d\n"
				 "Mcp-Param-H%d: v\n",
		    i, i);
		check_headers(m, text, want);
		free(text);
		free(want);
	}
	check_call(m, "{\"a\":\"v\"}", "");
	mirror_free(m);
}
END_TEST

/* --- what is too much --- */

/* A string of n times c between two texts. */
static char *
long_text(const char *before, int c, size_t n, const char *after)
{
	struct buf b;

	buf_init(&b, 0);
	buf_adds(&b, before);
	while (n-- > 0)
		buf_addc(&b, (char)c);
	buf_adds(&b, after);
	return buf_take(&b);
}

/* Exactly 8 KiB fit, as they are sent. */
START_TEST(test_long_values)
{
	static const struct {
		const char *before, *after;
		char c;
		size_t n;
		bool fits;
	} rows[] = {
		{ "\"", "\"", 'a', 8192, true },
		{ "\"", "\"", 'a', 8193, false },
		{ "\"", "\"", '\x7F', 6132, true }, /* 8176 and 11 around */
		{ "\"", "\"", '\x7F', 6135, true },
		{ "\"", "\"", '\x7F', 6136, false },
		{ "1.", "", '3', 8190, false },
		{ "1.", "", '0', 100000, true },
		{ "1", "e-100000", '0', 100000, true },
		{ "0.", "1e100001", '0', 100000, true },
		{ "1", "", '0', 100000, false },
	};
	struct buf out;
	char *text;
	int i;

	buf_init(&out, 0);
	buf_adds(&out, "x");
	for (i = 0; i < COUNT(rows); i++) {
		out.n = 1;
		text = long_text(rows[i].before, rows[i].c, rows[i].n,
		    rows[i].after);
		ck_assert_msg((mirror_value(&out, span_of(text)) == 0) ==
			rows[i].fits,
		    "row %d", i);
		ck_assert((out.n > 1) == rows[i].fits);
		ck_assert_uint_le(out.n, 1 + BOUND_HEADER_BYTES);
		free(text);
	}
	buf_free(&out);
}
END_TEST

/* The first one that is too long is named; what has no value is not. */
START_TEST(test_left_out)
{
	static const struct {
		size_t name, argument;
		const char *want;
	} rows[] = {
		{ 1, 8192, "" },
		{ 1, 8193, "Mcp-Param-A" },
		{ 8192, 1, "" },
		{ 8193, 1, "Mcp-Name" },
		{ 8193, 8193, "Mcp-Name" },
	};
	struct mirror *m = taught(PROPERTIES("\"n\":" HEADER("\"integer\"",
	    "\"N\"") ",\"a\":" STRING("A")));
	char *name, *argument, *text;
	struct frame *f;
	struct buf out;
	int i;

	buf_init(&out, 0);
	for (i = 0; i < COUNT(rows); i++) {
		name = long_text("", 't', rows[i].name, "");
		argument = long_text("", 'a', rows[i].argument, "");
		text = xasprintf("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":"
				 "\"tools/call\",\"params\":{\"name\":\"%s\","
				 "\"arguments\":{\"n\":9007199254740993,"
				 "\"a\":\"%s\"}}}",
		    name, argument);
		f = parsed(text);
		buf_reset(&out);
		ck_assert(mirror_left_out(m, f, &out) ==
		    (*rows[i].want != '\0'));
		ck_assert_str_eq(buf_str(&out), rows[i].want);
		frame_unref(f);
		free(name);
		free(argument);
		free(text);
	}
	buf_free(&out);
	mirror_free(m);
}
END_TEST

/* The first argument that no header can carry is named. */
START_TEST(test_unfit)
{
	static const char *const rows[][2] = {
		{ "{}", "" },
		{ "{\"a\":null,\"o\":{\"b.\":\"\"},\"free\":[]}", "" },
		{ "{\"a\":1e3,\"o\":7}", "" },
		{ "{\"a\":true,\"o\":[{\"b.\":[]}]}", "" },
		{ "{\"a\":[\"x\"]}", "a" },
		{ "{\"a\":{},\"o\":{\"b.\":{}}}", "a" },
		{ "{\"a\":2.5}", "a" },
		{ "{\"a\":9007199254740992}", "a" },
		{ "{\"o\":{\"b.\":-1e16}}", "o.b." },
		{ "{\"o\":{\"b.\":1,\"p\":{\"q\":[]}}}", "o.p.q" },
	};
	struct mirror *m = taught(PROPERTIES(
	    "\"a\":" STRING("A") ",\"free\":{},\"o\":{\"properties\":{\"b.\":" STRING(
		"B") ",\"p\":"
		     "{\"properties\":{\"q\":" STRING("Q") "}}}}"));
	struct frame *f;
	struct buf name;
	char *text;
	int i;

	buf_init(&name, 0);
	for (i = 0; i < COUNT(rows); i++) {
		text = xasprintf("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":"
				 "\"tools/call\",\"params\":{\"name\":\"t\","
				 "\"arguments\":%s}}",
		    rows[i][0]);
		f = parsed(text);
		buf_reset(&name);
		ck_assert_int_eq(mirror_unfit(m, f, &name),
		    *rows[i][1] != '\0');
		ck_assert_str_eq(buf_str(&name), rows[i][1]);
		ck_assert(mirror_knows(m, f));
		frame_unref(f);
		free(text);
	}
	buf_free(&name);
	mirror_free(m);
}
END_TEST

/* The name as it is, where that can stand in a header and is not the same. */
START_TEST(test_raw_name)
{
	static const struct {
		const char *name, *want;
		bool two;
	} rows[] = {
		{ "plain", "plain", false },
		{ "\xC3\xBC", "\xC3\xBC", true },
		{ "\\u00fc b", "\xC3\xBC b", true },
		{ "=?base64?YQ==?=", "=?base64?YQ==?=", true },
		{ "a\\nb", "=?base64?YQpi?=", true },
	};
	struct mirror *m = mirror_new();
	struct headers h;
	struct frame *f;
	char *text;
	int i;

	for (i = 0; i < COUNT(rows); i++) {
		text =
		    xasprintf("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":"
			      "\"prompts/get\",\"params\":{\"name\":\"%s\"}}",
			rows[i].name);
		f = parsed(text);
		headers_init(&h);
		ck_assert_int_eq(mirror_headers(m, f, true, &h), rows[i].two);
		ck_assert_str_eq(headers_get(&h, "Mcp-Name"), rows[i].want);
		headers_free(&h);
		ck_assert(!mirror_knows(m, f));
		frame_unref(f);
		free(text);
	}
	mirror_free(m);
}
END_TEST

/* n annotated properties p0.. and one more thing in front. */
static char *
wide_schema(int n, const char *extra)
{
	struct buf b;
	int i;

	buf_init(&b, 0);
	buf_addf(&b, "{\"properties\":{%s", extra);
	for (i = 0; i < n; i++)
		buf_addf(&b,
		    "%s\"p%d\":{\"type\":\"string\",\"x-mcp-header\":\"H%d\"}",
		    i == 0 && *extra == '\0' ? "" : ",", i, i);
	buf_adds(&b, "}}");
	return buf_take(&b);
}

/* Chains of n properties around an annotated one. */
static char *
deep_schema(int n)
{
	struct buf b;
	int i;

	buf_init(&b, 0);
	for (i = 0; i < n; i++)
		buf_adds(&b, "{\"properties\":{\"o\":");
	buf_adds(&b, STRING("Deep"));
	for (i = 0; i < n; i++)
		buf_adds(&b, "}}");
	return buf_take(&b);
}

static char *
deep_arguments(int n)
{
	struct buf b;
	int i;

	buf_init(&b, 0);
	for (i = 0; i < n; i++)
		buf_adds(&b, "{\"o\":");
	buf_adds(&b, "\"v\"");
	for (i = 0; i < n; i++)
		buf_adds(&b, "}");
	return buf_take(&b);
}

/* A tool that is too much stays, and is not mirrored. */
static void
check_limit(char *schema, const char *arguments, const char *want)
{
	struct mirror *m = taught(schema);

	check_call(m, arguments, want);
	mirror_free(m);
	free(schema);
}

START_TEST(test_limits)
{
	char *text, *more;

	check_limit(wide_schema(64, "\"q\":{\"type\":\"string\"}"),
	    "{\"p63\":\"v\"}", "Mcp-Param-H63: v\n");
	check_limit(wide_schema(65, ""), "{\"p63\":\"v\"}", "");
	text = deep_arguments(255);
	check_limit(deep_schema(255), text, "Mcp-Param-Deep: v\n");
	free(text);
	text = deep_arguments(256);
	check_limit(deep_schema(256), text, "");
	free(text);
	check_limit(long_text("{\"properties\":{\"a\":{\"type\":\"string\","
			      "\"x-mcp-header\":\"",
			'H', 257, "\"}}}"),
	    "{\"a\":\"v\"}", "");
	text = long_text("Mcp-Param-", 'H', 256, ": v\n");
	check_limit(long_text("{\"properties\":{\"a\":{\"type\":\"string\","
			      "\"x-mcp-header\":\"",
			'H', 256, "\"}}}"),
	    "{\"a\":\"v\"}", text);
	free(text);
	text = long_text("{\"", 'k', 512, "\":\"v\"}");
	check_limit(long_text("{\"properties\":{\"", 'k', 512,
			"\":" STRING("K") "}}"),
	    text, "Mcp-Param-K: v\n");
	free(text);
	text = long_text("{\"", 'k', 513, "\":\"v\"}");
	check_limit(long_text("{\"properties\":{\"", 'k', 513,
			"\":" STRING("K") "}}"),
	    text, "");
	free(text);
	/* A longer name in the arguments, with an escape, is not the empty
	 * one. */
	text = long_text("{\"\\u006b", 'k', 513, "\":\"v\"}");
	more = xstrdup("{\"properties\":{\"\":" STRING("E") "}}");
	check_limit(more, text, "");
	free(text);
}
END_TEST

/* Members of one map, and schemas in one inputSchema. */
START_TEST(test_schema_limits)
{
	struct buf b;
	int extra, i;

	for (extra = 0; extra < 2; extra++) {
		buf_init(&b, 0);
		buf_adds(&b, "{\"properties\":{\"a\":" STRING("A"));
		for (i = 1; i < 10000 + extra; i++)
			buf_addf(&b, ",\"p%d\":1", i);
		buf_adds(&b, "}}");
		buf_str(&b);
		check_limit(b.p, "{\"a\":\"v\"}",
		    extra == 0 ? "Mcp-Param-A: v\n" : "");
		buf_init(&b, 0);
		buf_adds(&b,
		    "{\"properties\":{\"a\":" STRING("A") "},\"allOf\":[1");
		/* The root and a are two. */
		for (i = 2; i < 10000 + extra; i++)
			buf_adds(&b, ",{\"const\":\"x-mcp-header\"}");
		buf_adds(&b, "]}");
		buf_str(&b);
		check_limit(b.p, "{\"a\":\"v\"}",
		    extra == 0 ? "Mcp-Param-A: v\n" : "");
	}
}
END_TEST

/* Nesting costs bytes of the page's budget, once for each level: of two tools
 * that are bad in the same depth, the one with much text is not looked at to
 * its end. */
START_TEST(test_budget)
{
	struct mirror *m = mirror_new();
	struct drops drops = { 0 };
	char *pad = long_text("", 'x', _i == 0 ? 10 : 400000, "");
	struct buf b;
	int i;

	buf_init(&b, 0);
	buf_adds(&b, "{\"name\":\"deep\",\"inputSchema\":");
	for (i = 0; i < 100; i++)
		buf_adds(&b, "{\"not\":");
	buf_addf(&b, "{\"x-mcp-header\":1,\"const\":\"%s\"}", pad);
	for (i = 0; i < 100; i++)
		buf_adds(&b, "}");
	buf_adds(&b, "}," TOOL("t", PROPERTIES("\"a\":" STRING("A"))));
	learn_tools(m, buf_str(&b), &drops);
	ck_assert_uint_eq(drops.n, _i == 0 ? 1 : 0);
	/* Enough of the 16 MiB is left for a small tool. */
	check_call(m, "{\"a\":\"v\"}", "Mcp-Param-A: v\n");
	buf_free(&b);
	free(pad);
	free_drops(&drops);
	mirror_free(m);
}
END_TEST

/* So many bytes of schemas are read of one list, those of an inner schema once
 * more. */
START_TEST(test_read_bytes)
{
	const char
	    *outer = "{\"properties\":{\"a\":",
	    *inner = "{\"x-mcp-header\":\"A\",\"type\":\"string\",\"x\":\"";
	size_t around = strlen(outer) + 2, budget = BOUND_FILE_BYTES;
	size_t n = (budget - around) / 2;
	char *pad = long_text(inner, 'x', n - strlen(inner) - 2, "\"}");
	/* Blanks cost once. */
	char *schema = xasprintf("%s%s%*s}}", outer, pad,
	    (int)((budget - around) % 2) + _i, "");

	check_limit(schema, "{\"a\":\"v\"}", _i == 0 ? "Mcp-Param-A: v\n" : "");
	free(pad);
}
END_TEST

/* The bound on the memory for all tools together. */
START_TEST(test_memory)
{
	struct mirror *m = mirror_new();
	struct drops drops = { 0 };
	char *schema = wide_schema(64, ""), *tool;
	int i;

	for (i = 0; i < 1000; i++) {
		tool = xasprintf("{\"name\":\"x%d\",\"inputSchema\":%s}", i,
		    schema);
		learn_tools(m, tool, &drops);
		free(tool);
	}
	ck_assert_uint_eq(drops.n, 0);
	learn_tools(m, TOOL("t", PROPERTIES("\"a\":" STRING("A"))), &drops);
	check_call(m, "{\"a\":\"v\",\"p0\":\"v\"}", "Mcp-Param-A: v\n");
	tool = xasprintf("{\"name\":\"t\",\"inputSchema\":%s}", schema);
	learn_tools(m, tool, &drops);
	check_call(m, "{\"a\":\"v\",\"p0\":\"v\"}", "");
	/* Room again. */
	mirror_clear(m);
	learn_tools(m, tool, &drops);
	check_call(m, "{\"a\":\"v\",\"p0\":\"v\"}", "Mcp-Param-H0: v\n");
	free(tool);
	free(schema);
	mirror_free(m);
}
END_TEST

/* Learns a tool with one property and returns what that costs. */
static size_t
learn_one(struct mirror *m, int tool, size_t name_bytes, size_t key_bytes)
{
	struct drops drops = { 0 };
	char *key = long_text("", 'k', key_bytes, "");
	char *text = xasprintf("{\"name\":\"%0*d\",\"inputSchema\":"
			       "{\"properties\":{\"%s\":" STRING("A") "}}}",
	    (int)name_bytes, tool, key);
	size_t nodes = 2 *
	    (sizeof(struct mirror_node) + BOUND_HEADER_NAME_BYTES);

	learn_tools(m, text, &drops);
	ck_assert_uint_eq(drops.n, 0);
	free(text);
	free(key);
	/* A tool is its name and four words, with the plan around the nodes. */
	return 4 * sizeof(void *) + name_bytes + sizeof(struct mirror_plan) +
	    nodes + key_bytes;
}

/* The last byte of the memory for all tools is used, and no more. */
START_TEST(test_memory_exactly)
{
	struct mirror *m = mirror_new();
	size_t room = BOUND_TOOLS_BYTES, least = learn_one(m, 0, 8, 1);
	size_t more, name, key;
	char *text, *got;
	int i = 1;

	for (room -= least; room >= 2 * least; i++)
		room -= learn_one(m, i, 8, 1);
	more = room - least + (size_t)_i;
	key = more > BOUND_NAME_BYTES / 2 ? BOUND_NAME_BYTES / 2 : more;
	name = 8 + more - key;
	ck_assert_uint_le(name, BOUND_NAME_BYTES);
	ck_assert_uint_eq(learn_one(m, i, name, 1 + key), room + (size_t)_i);
	text = long_text("{\"", 'k', 1 + key, "\":\"v\"}");
	got = xasprintf("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":"
			"\"tools/call\",\"params\":{\"name\":\"%0*d\","
			"\"arguments\":%s}}",
	    (int)name, i, text);
	free(text);
	text = headers_of(m, got);
	ck_assert_int_eq(strstr(text, "Mcp-Param-A: v\n") != NULL, _i == 0);
	free(text);
	free(got);
	mirror_free(m);
}
END_TEST

/* A name of 512 bytes is one, a longer one is nobody's. */
START_TEST(test_long_names)
{
	struct mirror *m = mirror_new();
	struct drops drops = { 0 };
	size_t n;
	char *name, *text, *got;

	for (n = 512; n <= 513; n++) {
		name = long_text("", 'n', n, "");
		text = xasprintf("{\"name\":\"%s\",\"inputSchema\":" PROPERTIES(
				     "\"a\":" STRING("A")) "}",
		    name);
		learn_tools(m, text, &drops);
		free(text);
		text = xasprintf("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":"
				 "\"tools/call\",\"params\":{\"name\":\"%s\","
				 "\"arguments\":{\"a\":\"v\"}}}",
		    name);
		got = headers_of(m, text);
		ck_assert((strstr(got, "Mcp-Param-A: v\n") != NULL) ==
		    (n == 512));
		ck_assert_ptr_nonnull(strstr(got, name));
		free(got);
		free(text);
		free(name);
	}
	mirror_free(m);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("mirror");
	TCase *t = tcase_create("mirror");

	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, test_bad, 0, COUNT(bad));
	tcase_add_loop_test(t, test_good, 0, COUNT(good));
	tcase_add_loop_test(t, test_values, 0, COUNT(values));
	tcase_add_loop_test(t, test_every_character, 0, 4);
	tcase_add_test(t, test_conformance_call);
	tcase_add_loop_test(t, test_messages, 0, COUNT(messages));
	tcase_add_test(t, test_other_headers);
	tcase_add_test(t, test_only_calls);
	tcase_add_loop_test(t, test_pages, 0, COUNT(pages));
	tcase_add_test(t, test_error);
	tcase_add_test(t, test_dropped_name);
	tcase_add_test(t, test_replaced);
	tcase_add_test(t, test_clear);
	tcase_add_test(t, test_wraps);
	tcase_add_test(t, test_many);
	tcase_add_test(t, test_long_values);
	tcase_add_test(t, test_left_out);
	tcase_add_test(t, test_unfit);
	tcase_add_test(t, test_raw_name);
	tcase_add_test(t, test_limits);
	tcase_add_test(t, test_schema_limits);
	tcase_add_loop_test(t, test_budget, 0, 2);
	tcase_add_loop_test(t, test_read_bytes, 0, 2);
	tcase_add_test(t, test_memory);
	tcase_add_loop_test(t, test_memory_exactly, 0, 2);
	tcase_add_test(t, test_long_names);
	suite_add_tcase(s, t);
	return unit_run(s);
}
