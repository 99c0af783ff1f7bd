/* io/authorities: how much two files of certificates may be together; where a
 * system has its own. */
#include "config.h"

#include "io/http_state.h"

#include <stdlib.h>
#include <string.h>

#include "base/bounds.h"
#include "unit/home.h"
#include "unit/unit.h"

/* What libcurl gets of two files, of which each has a line end behind it. */
START_TEST(bytes_of_both)
{
	size_t n = BOUND_FILE_BYTES / 2;
	char *text = xcalloc(1, n + 1), *cacert, *extra;
	struct authorities a = { 0 };
	bool both;

	home_begin();
	home_put("cacert", text, n - 1, 0600);
	home_put("extra", text, n - 1 + (size_t)_i, 0600);
	cacert = xstrdup(home_path("cacert"));
	extra = xstrdup(home_path("extra"));
	authorities_choose(&a, cacert, NULL, extra);
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

/* What a system has. */
static const char *there[2];

static bool
is_there(const char *path)
{
	size_t i;

	for (i = 0; i < 2; i++)
		if (there[i] != NULL && strcmp(there[i], path) == 0)
			return true;
	return false;
}

START_TEST(folder_of_each_system)
{
	static const char
	    fedora[] = "/etc/pki/ca-trust/extracted/pem/directory-hash";

	there[0] = fedora;
	there[1] = NULL;
	ck_assert_pstr_eq(authorities_folder(is_there), fedora);
	there[1] = "/etc/ssl/certs";
	ck_assert_pstr_eq(authorities_folder(is_there), "/etc/ssl/certs");
	there[0] = there[1] = NULL;
	ck_assert_ptr_null(authorities_folder(is_there));
}
END_TEST

START_TEST(bundle_of_each_system)
{
	static const struct {
		const char *there[2], *chosen;
	} rows[] = {
		{ { "/etc/ssl/certs/ca-certificates.crt" },
		    "/etc/ssl/certs/ca-certificates.crt" },
		{ { "/etc/pki/tls/certs/ca-bundle.crt" },
		    "/etc/pki/tls/certs/ca-bundle.crt" },
		{ { "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem" },
		    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem" },
		{ { "/etc/ssl/ca-bundle.pem" }, "/etc/ssl/ca-bundle.pem" },
		{ { "/etc/ssl/cert.pem" }, "/etc/ssl/cert.pem" },
		{ { "/etc/ssl/cert.pem", "/etc/ssl/certs/ca-certificates.crt" },
		    "/etc/ssl/certs/ca-certificates.crt" },
		{ { "/etc/ssl/cert.pem", "/etc/pki/tls/certs/ca-bundle.crt" },
		    "/etc/pki/tls/certs/ca-bundle.crt" },
		{ { "/etc/ssl/other.pem" }, NULL },
		{ { NULL }, NULL },
	};
	size_t i;

	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		memcpy(there, rows[i].there, sizeof there);
		ck_assert_pstr_eq(authorities_bundle(is_there), rows[i].chosen);
	}
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("authorities");
	TCase *t = tcase_create("authorities");

	tcase_add_loop_test(t, bytes_of_both, 0, 2);
	tcase_add_test(t, folder_of_each_system);
	tcase_add_test(t, bundle_of_each_system);
	suite_add_tcase(s, t);
	return unit_run(s);
}
