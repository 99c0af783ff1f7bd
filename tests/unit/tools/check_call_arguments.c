/* The arguments of a tool, from the words of a command line. */
#include "config.h"

#include "tools/command.h"

#include "unit/unit.h"

#define SCHEMA                                                                 \
	"{\"required\":[\"n\"],\"properties\":{\"n\":{\"type\":\"number\"},"   \
	"\"i\":{\"type\":\"integer\"},\"b\":{\"type\":\"boolean\"},"           \
	"\"s\":{\"type\":\"string\"},\"o\":{\"type\":\"object\"},"             \
	"\"a\":{\"type\":\"array\"},\"z\":{\"type\":[\"string\",\"null\"]},"   \
	"\"e\":{\"enum\":[\"x\",\"\\u0079\",2]},\"any\":{}}}"

#define ONE(type) "{\"properties\":{\"m\":{\"type\":\"" type "\"}}}"

static const struct {
	const char *words; /* separated by | */
	const char *text;  /* stdin */
	const char *schema;
	const char *want; /* the object, or the message */
} cases[] = {
	{ "", "", "", "{}" },
	{ "a=1|b=true|c=", "", "", "{\"a\":\"1\",\"b\":\"true\",\"c\":\"\"}" },
	{ "a=b=c|d:=[1, 2]|e:={\n}", "", "",
	    "{\"a\":\"b=c\",\"d\":[1, 2],\"e\":{ }}" },
	{ "a\"b=\"", "", "", "{\"a\\\"b\":\"\\\"\"}" },
	{ "-", " {\"a\":\n1}\n", "", "{\"a\": 1}" },
	{ "-=1", "", "", "{\"-\":\"1\"}" },
	{ "a::=1", "", "", "{\"a:\":1}" },
	/* the schema tells what a value is */
	{ "n=1", "", SCHEMA, "{\"n\":1}" },
	{ "n=-1.5e3|i=2|b=false|s=3", "", SCHEMA,
	    "{\"n\":-1.5e3,\"i\":2,\"b\":false,\"s\":\"3\"}" },
	{ "n=1|i=2.0", "", SCHEMA, "{\"n\":1,\"i\":2.0}" },
	{ "n=1|i=1.5e1", "", SCHEMA, "{\"n\":1,\"i\":1.5e1}" },
	{ "n=1|o:={}|a:=[]|z:=null|any:=[1]", "", SCHEMA,
	    "{\"n\":1,\"o\":{},\"a\":[],\"z\":null,\"any\":[1]}" },
	{ "n=1|z=null", "", SCHEMA, "{\"n\":1,\"z\":\"null\"}" },
	{ "n=1|e=y", "", SCHEMA, "{\"n\":1,\"e\":\"y\"}" },
	{ "n=1|e:=2", "", SCHEMA, "{\"n\":1,\"e\":2}" },
	{ "a=1", "", "{\"properties\":{},\"additionalProperties\":true}",
	    "{\"a\":\"1\"}" },
	{ "a=1", "", "{\"properties\":{},\"additionalProperties\":{}}",
	    "{\"a\":\"1\"}" },
	/* refused */
	{ "x", "", "",
	    "\"x\" is not an argument: write key=value, key:=JSON, or all as "
	    "a JSON object in single quotes" },
	{ "=1", "", "",
	    "\"=1\" is not an argument: write key=value, key:=JSON, or all as "
	    "a JSON object in single quotes" },
	{ ":=1", "", "",
	    "\":=1\" is not an argument: write key=value, key:=JSON, or all as "
	    "a JSON object in single quotes" },
	{ "a=1|-", "{}", "",
	    "\"-\" is not an argument: write key=value, key:=JSON, or all as "
	    "a JSON object in single quotes" },
	{ "a:=b", "", "", "a:=b is not valid JSON; write a=... for text" },
	{ "a=1|b=2|a:=3", "", "", "a is given twice" },
	{ "{\"a\":1,\"b\":2,\"\\u0061\":3}", "", "", "a is given twice" },
	{ "-", "{\"a b\":1,\"a b\":1}", "", "a b is given twice" },
	{ "-", "", "", "standard input was empty" },
	{ "-", "\xef\xbb\xbf \n", "", "standard input was empty" },
	{ "-", "\xef\xbb\xbf{\"a\":1}", "", "{\"a\":1}" },
	{ "a:=[x]", "", SCHEMA,
	    "a:=[x] is not valid JSON; write a:='[\"x\"]'" },
	{ "o:={x:1}", "", SCHEMA,
	    "o:={x:1} is not valid JSON; write o:='{\"key\": \"x\"}'" },
	{ "n=1|a=[x]", "", SCHEMA,
	    "a must be an array, not \"[x]\"; write a:='[\"x\"]'" },
	{ "-", "[1]", "",
	    "the arguments are not a JSON object such as "
	    "'{\"key\": \"value\"}'" },
	{ "-", "{} {}", "",
	    "the arguments are not a JSON object such as "
	    "'{\"key\": \"value\"}'" },
	{ "", "", SCHEMA, "missing argument: n" },
	{ "n=x", "", SCHEMA, "n must be a number, not \"x\"" },
	{ "n=-", "", SCHEMA, "n must be a number, not \"-\"" },
	{ "n=1|i=1.5", "", SCHEMA, "i must be an integer, not 1.5" },
	{ "n=1|b=yes", "", SCHEMA, "b must be true or false, not \"yes\"" },
	{ "n=1|s:=1", "", SCHEMA, "s must be a string, not 1" },
	{ "n=1|o={}", "", SCHEMA,
	    "o must be an object, not \"{}\"; write o:='{\"key\": \"x\"}'" },
	{ "n=1|z:=1", "", SCHEMA, "z must be a string, not 1" },
	/* an object as it is, and a value without its name */
	{ " {\"n\":1,\n\"s\":\"a=b\"} ", "", SCHEMA,
	    "{\"n\":1, \"s\":\"a=b\"}" },
	{ "{\"n\":1", "", SCHEMA,
	    "the arguments are not a JSON object such as "
	    "'{\"key\": \"value\"}'" },
	{ "{}", "", SCHEMA, "missing argument: n" },
	{ "hi you", "", ONE("string"), "{\"m\":\"hi you\"}" },
	{ "12", "", ONE("string"), "{\"m\":\"12\"}" },
	{ "12", "", ONE("number"), "{\"m\":12}" },
	{ "x", "", ONE("number"), "m must be a number, not \"x\"" },
	{ "https://h/?a=b", "", ONE("string"), "{\"m\":\"https://h/?a=b\"}" },
	{ "m=hi", "", ONE("string"), "{\"m\":\"hi\"}" },
	{ "mesage=hi", "", ONE("string"),
	    "the tool has no argument \"mesage\"; it has: m" },
	{ "hi", "", SCHEMA,
	    "\"hi\" is not an argument: write key=value, key:=JSON, or all as "
	    "a JSON object in single quotes" },
	{ "c=1", "",
	    "{\"required\":[\"a\",\"b\",\"c\"],\"properties\":{\"a\":{},"
	    "\"b\":{},\"c\":{}}}",
	    "missing arguments: a, b" },
	{ "n=1|e=z", "", SCHEMA, "e must be one of [\"x\",\"\\u0079\",2]" },
	{ "n=1|m=1", "", SCHEMA,
	    "the tool has no argument \"m\"; it has: n, i, b, s, o, a, z, e, "
	    "any" },
	{ "m=1", "", "{\"properties\":{}}",
	    "the tool has no argument \"m\"; it has: none" },
	{ "-", "{\"m\":1}", SCHEMA,
	    "the tool has no argument \"m\"; it has: n, i, b, s, o, a, z, e, "
	    "any" },
};

/* Splits the words, which are changed. Returns how many there are. */
static size_t
split(char *words, char **list, size_t max)
{
	size_t n = 0;
	char *next;

	while (*words != '\0') {
		ck_assert_uint_lt(n, max);
		list[n++] = words;
		next = strchr(words, '|');
		if (next == NULL)
			break;
		*next = '\0';
		words = next + 1;
	}
	return n;
}

START_TEST(test_arguments)
{
	struct span schema = span_of(cases[_i].schema);
	char *words = xstrdup(cases[_i].words), *list[8], *why = NULL;
	size_t n = split(words, list, COUNT(list));
	struct buf out;

	buf_init(&out, 0);
	if (arguments_read(list, n, span_of(cases[_i].text), schema, &out,
		&why) == 0)
		arguments_check(buf_span(&out), schema, &why);
	ck_assert_str_eq(why != NULL ? why : buf_str(&out), cases[_i].want);
	free(why);
	free(words);
	buf_free(&out);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("arguments");
	TCase *tc = tcase_create("arguments");

	tcase_add_loop_test(tc, test_arguments, 0, COUNT(cases));
	suite_add_tcase(s, tc);
	return unit_run(s);
}
