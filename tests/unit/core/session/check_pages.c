/* Pages of a list: how many bytes they may have together. */
#include "config.h"

#include "core/session/pages.h"

#include <stdlib.h>

#include "core/wire/json.h"
#include "core/wire/msg.h"
#include "unit/unit.h"

enum { ITEM = 1000, LARGE = 100 * 1000 };

/* A page with one item of n bytes. Owned by the caller. */
static struct frame *
page(char name, size_t n, const char *cursor)
{
	char *item = xmalloc(n + 1), *result;
	struct frame *f;

	memset(item, name, n);
	item[n] = '\0';
	result = xasprintf("{\"tools\":[\"%s\"],\"nextCursor\":\"%s\"}", item,
	    cursor);
	f = msg_result(span_of("1"), result);
	free(result);
	free(item);
	return f;
}

static struct frame *
take(struct pages **at, size_t max, struct frame *f)
{
	struct frame *list = pages_take(at, list_kinds, max, f);

	ck_assert((list == NULL) == (*at != NULL));
	frame_unref(f);
	return list;
}

/* The list fits with each byte of what it becomes, and not with one less than
 * its items. */
START_TEST(test_bytes)
{
	enum { FIRST = ITEM + 60, NEXT = ITEM + 2 + 1 + 3 };
	static const size_t rooms[] = { FIRST + 2 * NEXT + 90,
		FIRST + NEXT + 90, FIRST + 90, ITEM };
	static const size_t items[] = { 3, 2, 1, 1 };
	struct span key, item, list;
	struct pages *p = NULL;
	struct frame *f;
	size_t at = 0, n = 0;

	f = take(&p, rooms[_i], page('a', ITEM, "1"));
	if (f == NULL)
		f = take(&p, rooms[_i], page('b', ITEM, "2"));
	if (f == NULL)
		f = take(&p, rooms[_i], page('c', ITEM, ""));
	ck_assert_ptr_nonnull(f);
	list = json_get(f->result, "tools");
	while (json_next(list, &at, &key, &item))
		n++;
	ck_assert_uint_eq(n, items[_i]);
	ck_assert((json_get(f->result, "nextCursor").n > 2) == (n < 3));
	ck_assert(n == 1 || f->text.n <= rooms[_i]);
	frame_unref(f);
}
END_TEST

/* A cursor that is too large is not followed, but handed on. */
START_TEST(test_cursor)
{
	char *cursor = xmalloc(LARGE + 1);
	struct pages *p = NULL;
	struct frame *f;

	memset(cursor, 'x', LARGE);
	cursor[LARGE] = '\0';
	f = take(&p, 1 << 20, page('a', ITEM, cursor));
	ck_assert_ptr_nonnull(f);
	ck_assert_uint_gt(json_get(f->result, "nextCursor").n, LARGE);
	frame_unref(f);
	ck_assert_ptr_null(take(&p, 1 << 20, page('a', ITEM, "1")));
	f = take(&p, 1 << 20, page('b', ITEM, cursor));
	ck_assert_ptr_nonnull(f);
	ck_assert_uint_gt(json_get(f->result, "nextCursor").n, LARGE);
	frame_unref(f);
	free(cursor);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("pages");
	TCase *tc = tcase_create("pages");

	tcase_add_loop_test(tc, test_bytes, 0, 4);
	tcase_add_test(tc, test_cursor);
	suite_add_tcase(s, tc);
	return unit_run(s);
}
