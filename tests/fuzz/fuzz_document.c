/*
 * Documents of an authorization server: what is taken for one is an object
 * of JSON, comes out of json-c with all its members, prints as one that reads
 * the same, and every way to look into it stays inside.
 */
#include "config.h"

#include "base/bounds.h"
#include "core/wire/json.h"
#include "fuzz/fuzz.h"
#include "store/document.h"

static void
look(struct json_object *o, const char *name)
{
	struct json_object *list;
	const char *text;
	int64_t n;
	size_t i;
	char *joined;

	text = document_text(o, name);
	FUZZ_CHECK(text == NULL || document_has(o, name));
	FUZZ_CHECK(!document_true(o, name) || text == NULL);
	n = document_number(o, name);
	FUZZ_CHECK(n >= -1 && n <= INT64_C(1) << 53);
	list = document_list(o, name);
	joined = document_joined(list);
	for (i = 0; list != NULL && i < json_object_array_length(list); i++) {
		text = json_object_get_string(json_object_array_get_idx(list,
		    i));
		FUZZ_CHECK(document_listed(list, text));
		FUZZ_CHECK(*text == '\0' || strstr(joined, text) != NULL);
	}
	free(joined);
}

/* As many members as the cursor sees, one object deep. */
static void
compare(struct json_object *o, struct span text)
{
	struct span key, value;
	size_t at = 0;
	int n = 0;

	while (strchr(" \t\r\n", *text.p) != NULL) {
		text.p++;
		text.n--;
	}
	while (json_next(text, &at, &key, &value))
		n++;
	FUZZ_CHECK(n == json_object_object_length(o));
}

/* Printing, reading and printing again gives the same text. */
static void
again(struct json_object *o)
{
	struct buf first, second;
	struct json_object *twin;
	const char *why;

	buf_init(&first, 0);
	buf_init(&second, 0);
	document_print(o, &first);
	twin = document_parse(buf_span(&first), &why);
	/* Escapes may make the printed text longer than the limit. */
	if (twin != NULL) {
		document_print(twin, &second);
		FUZZ_CHECK(span_eq(buf_span(&first), buf_span(&second)));
	} else {
		FUZZ_CHECK(first.n > BOUND_PART_BYTES);
	}
	json_object_put(twin);
	buf_free(&first);
	buf_free(&second);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span text = { (const char *)data, size };
	struct json_object *o;
	const char *why = NULL;

	o = document_parse(text, &why);
	FUZZ_CHECK((o == NULL) == (why != NULL));
	if (o == NULL)
		return 0;
	FUZZ_CHECK(json_check(text, 32, NULL, NULL, NULL) == JSON_OK);
	FUZZ_CHECK(json_object_is_type(o, json_type_object));
	compare(o, text);
	again(o);
	json_object_object_foreach(o, name, member)
	{
		(void)member;
		look(o, name);
	}
	document_set(o, "expires_in", "1");
	FUZZ_CHECK(document_number(o, "expires_in") == 1);
	json_object_put(o);
	return 0;
}
