/* io/authorities: how much two files of certificates may be together. */
#include "config.h"

#include "io/authorities.h"

#include <stdlib.h>

#include "base/bounds.h"
#include "unit/home.h"
#include "unit/unit.h"

/* What libcurl gets of two files, of which each has a line end behind it. */
START_TEST(bytes_of_both)
{
	size_t n = BOUND_AUTHORITIES_BYTES / 2;
	char *text = xcalloc(1, n + 1), *cacert, *extra;
	struct authorities a = { 0 };
	bool both;

	home_begin();
	home_put("cacert", text, n - 1, 0600);
	home_put("extra", text, n - 1 + (size_t)_i, 0600);
	cacert = xstrdup(home_path("cacert"));
	extra = xstrdup(home_path("extra"));
	authorities_choose(&a, cacert, extra);
	ck_assert_ptr_null(a.folder);
	both = a.both.n > 0 || strcmp(a.file, cacert) != 0;
	ck_assert_int_eq(both, _i == 0);
	authorities_free(&a);
	free(cacert);
	free(extra);
	free(text);
	home_end();
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("authorities");
	TCase *t = tcase_create("authorities");

	tcase_add_loop_test(t, bytes_of_both, 0, 2);
	suite_add_tcase(s, t);
	return unit_run(s);
}
