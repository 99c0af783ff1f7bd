/*
 * base/hash: what is added is found until it is removed, also under one key and
 * through growth, and in the order of arrival; the values of FNV-1a.
 */
#include "config.h"

#include "base/hash.h"

#include <stdlib.h>

#include "unit/unit.h"

enum { MANY = 5000 };

struct thing {
	int number;
	struct hash_entry entry;
};

static struct thing *
thing_of(struct hash_entry *e)
{
	return e == NULL ? NULL : HASH_THING(e, struct thing, entry);
}

START_TEST(an_empty_table_has_nothing)
{
	struct hash t = { 0 };

	ck_assert_ptr_null(hash_first(&t, 0));
	hash_free(&t);
	ck_assert_ptr_null(hash_first(&t, 7));
}
END_TEST

START_TEST(many_are_found)
{
	struct thing *things = xcalloc(MANY, sizeof *things);
	struct hash t = { 0 };
	int i;

	for (i = 0; i < MANY; i++) {
		things[i].number = i;
		hash_add(&t, &things[i].entry, (uint64_t)i * 64);
	}
	ck_assert_uint_eq(t.n, MANY);
	for (i = 0; i < MANY; i += 2)
		hash_remove(&t, &things[i].entry);
	ck_assert_uint_eq(t.n, MANY / 2);
	for (i = 0; i < MANY; i++)
		ck_assert_ptr_eq(thing_of(hash_first(&t, (uint64_t)i * 64)),
		    i % 2 == 0 ? NULL : &things[i]);
	hash_free(&t);
	free(things);
}
END_TEST

/* The latest comes first, whether the table has grown or not. */
START_TEST(one_key_for_several)
{
	struct thing *things = xcalloc(MANY, sizeof *things), *found;
	struct hash t = { 0 };
	struct hash_entry *e;
	int i, n = 0;

	for (i = 0; i < MANY; i++) {
		things[i].number = i;
		hash_add(&t, &things[i].entry, i % 100 == 0 ? 5 : 69);
	}
	for (e = hash_first(&t, 5); e != NULL; e = hash_next(e)) {
		found = thing_of(e);
		ck_assert_int_eq(found->number, MANY - 100 * ++n);
	}
	ck_assert_int_eq(n, MANY / 100);
	hash_free(&t);
	free(things);
}
END_TEST

START_TEST(bytes)
{
	uint64_t h = hash_bytes(HASH_START, "foo", 3);

	ck_assert(hash_bytes(HASH_START, NULL, 0) == HASH_START);
	ck_assert(hash_bytes(HASH_START, "a", 1) == 0xaf63dc4c8601ec8c);
	ck_assert(hash_bytes(h, "bar", 3) == 0x85944171f73967e8);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("hash");
	TCase *t = tcase_create("hash");

	tcase_add_test(t, an_empty_table_has_nothing);
	tcase_add_test(t, many_are_found);
	tcase_add_test(t, one_key_for_several);
	tcase_add_test(t, bytes);
	suite_add_tcase(s, t);
	return unit_run(s);
}
