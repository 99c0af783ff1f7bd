/*
 * store/import: files as mcp-remote writes them, found by the names it gives
 * them, and what of them is not used. The names were made by mcp-remote
 * 0.15.1 itself.
 */
#include "config.h"

#include "base/bounds.h"
#include "store/import.h"

#include <dirent.h>
#include <sys/stat.h>

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "unit/home.h"
#include "unit/unit.h"

#define URL "https://a.example/mcp"
#define HASH "aa5b24b0ba3994ba0c496692c23aa9e7"
#define HASH_ROOT "f1e9de895bf5363a3cc0582708c7ce76"
#define TOKENS HASH "_tokens.json"
#define CLIENT HASH "_client_info.json"

static struct import_config config;
static struct record r;
static char *from, *why;
static char folder[256];

static void
setup(void)
{
	home_begin();
	home_mkdir("auth", 0755);
	home_mkdir("auth/mcp-remote-v1", 0755);
	snprintf(folder, sizeof folder, "%s", home_path("auth"));
	config = (struct import_config){ .folder = folder, .url = URL };
	record_init(&r);
	from = why = NULL;
}

static void
forget(void)
{
	record_free(&r);
	free(from);
	free(why);
	from = why = NULL;
}

static void
teardown(void)
{
	forget();
	home_end();
}

static bool
import(void)
{
	bool found;

	forget();
	found = import_tokens(&r, &config, &from, &why);
	ck_assert_int_eq(found, from != NULL);
	ck_assert(!found || why == NULL);
	ck_assert_int_eq(found, r.token.access != NULL);
	ck_assert(found || r.client.id == NULL);
	return found;
}

static void
put(const char *version, const char *file, const char *text)
{
	char path[200];

	snprintf(path, sizeof path, "auth/mcp-remote-%s/%s", version, file);
	home_puts(path, text);
}

static bool
refused(const char *word)
{
	return !import() && why != NULL && strstr(why, word) != NULL;
}

START_TEST(late_version)
{
	put("v1", TOKENS,
	    "{\n  \"access_token\": \"at\",\n  \"token_type\": \"bearer\",\n"
	    "  \"expires_in\": 3600,\n  \"scope\": \"a b\",\n"
	    "  \"refresh_token\": \"rt\",\n  \"id_token\": \"it\",\n"
	    "  \"issuer\": \"https://as.example\",\n"
	    "  \"expires_at\": 1900000000123,\n"
	    "  \"requested_scope\": \"a b c\"\n}");
	put("v1", CLIENT,
	    "{\"redirect_uris\":[\"http://localhost:3334/oauth/callback\"],"
	    "\"token_endpoint_auth_method\":\"client_secret_post\","
	    "\"client_id\":\"the-id\",\"client_secret\":\"s\","
	    "\"client_secret_expires_at\":77,"
	    "\"issuer\":\"https://as.example\"}");
	ck_assert(import());
	ck_assert_ptr_nonnull(strstr(from, "/mcp-remote-v1/" TOKENS));
	ck_assert_str_eq(r.token.access, "at");
	ck_assert_str_eq(r.token.refresh, "rt");
	ck_assert_str_eq(r.token.id_token, "it");
	ck_assert_str_eq(r.token.scope_requested, "a b c");
	ck_assert_str_eq(r.token.scope_granted, "a b");
	ck_assert_int_eq(r.token.expires_at, 1900000000);
	ck_assert_int_eq(r.token.obtained_at, 1900000000 - 3600);
	ck_assert_str_eq(r.issuer, "https://as.example");
	ck_assert_ptr_null(r.token_endpoint);
	ck_assert_ptr_null(r.url);
	ck_assert_str_eq(r.client.id, "the-id");
	ck_assert_str_eq(r.client.secret, "s");
	ck_assert_int_eq(r.client.secret_expires_at, 77);
	ck_assert_int_eq(r.client.source, CLIENT_IMPORTED);
	ck_assert_int_eq(r.client.method, CLIENT_POST);
	ck_assert_str_eq(r.client.redirect_uri,
	    "http://localhost:3334/oauth/callback");
	ck_assert_uint_eq(home_count("auth/mcp-remote-v1"), 2);
}
END_TEST

/* No expires_at and no issuer; the files are open to all. The access token is
 * all that is taken: nothing tells whose the rest is. */
START_TEST(early_version)
{
	home_mkdir("auth/mcp-remote-0.1.12", 0755);
	put("0.1.12", TOKENS,
	    "{\"access_token\":\"at\",\"token_type\":\"Bearer\","
	    "\"expires_in\":3600,\"refresh_token\":\"rt\"}");
	put("0.1.12", CLIENT,
	    "{\"client_id\":\"i\",\"client_secret\":\"s\","
	    "\"redirect_uris\":[\"http://localhost:1/x\"]}");
	ck_assert_int_eq(chmod(home_path("auth/mcp-remote-0.1.12/" TOKENS),
			     0644),
	    0);
	home_age("auth/mcp-remote-0.1.12/" TOKENS, 1000);
	ck_assert(import());
	ck_assert_int_eq(r.token.expires_at, r.token.obtained_at + 3600);
	ck_assert_int_le(r.token.obtained_at, (int64_t)time(NULL) - 999);
	ck_assert_int_ge(r.token.obtained_at, (int64_t)time(NULL) - 1100);
	ck_assert_str_eq(r.token.access, "at");
	ck_assert_ptr_null(r.token.refresh);
	ck_assert_ptr_null(r.issuer);
	ck_assert_ptr_null(r.client.id);
	ck_assert_ptr_null(r.client.secret);
	ck_assert_ptr_null(r.client.redirect_uri);
}
END_TEST

/* Each credential needs an issuer of its own beside it. */
START_TEST(issuer_of_one_only)
{
	put("v1", TOKENS, "{\"access_token\":\"at\",\"refresh_token\":\"rt\"}");
	put("v1", CLIENT,
	    "{\"client_id\":\"i\",\"client_secret\":\"s\","
	    "\"issuer\":\"https://as.example\"}");
	ck_assert(import());
	ck_assert_ptr_null(r.issuer);
	ck_assert_ptr_null(r.token.refresh);
	ck_assert_ptr_null(r.client.id);
	ck_assert_ptr_null(r.client.secret);
	put("v1", TOKENS,
	    "{\"access_token\":\"at\",\"refresh_token\":\"rt\","
	    "\"issuer\":\"https://as.example\"}");
	put("v1", CLIENT, "{\"client_id\":\"i\",\"client_secret\":\"s\"}");
	ck_assert(import());
	ck_assert_str_eq(r.issuer, "https://as.example");
	ck_assert_str_eq(r.token.refresh, "rt");
	ck_assert_ptr_null(r.client.id);
	ck_assert_ptr_null(r.client.secret);
}
END_TEST

static const struct {
	const char *hash;
	const char *url, *normal, *resource;
	const char *headers[6], *params[6];
	const char *client_document, *token_endpoint;
} hashes[] = {
	{ HASH, URL, NULL, NULL, { NULL }, { NULL }, NULL, NULL },
	{ HASH, URL, URL, "", { NULL }, { NULL }, "", "" },
	{ HASH_ROOT, "https://a.example", "https://a.example/", NULL, { NULL },
	    { NULL }, NULL, NULL },
	{ HASH, "HTTPS://a.example/mcp", URL, NULL, { NULL }, { NULL }, NULL,
	    NULL },
	{ "2ee7234ac5e003c2d42e31e57ed4be44", URL, NULL, "https://r.example/x",
	    { NULL }, { NULL }, NULL, NULL },
	{ "c46345fe2dfb6242bc429e7e2067d78a", URL, NULL, NULL,
	    { "X-B: two", "Authorization:  Bearer ${TOKEN} \"q\"\\/\xc3\xa9\t",
		"X-B:three ", "no header", "bad name: x", NULL },
	    { NULL }, NULL, NULL },
	{ "bf58df55b153117c351d461adad8c4bb", URL, NULL, NULL, { NULL },
	    { "z=1", "audience=https://b.example/?x=1", "b =2", "=no", "none",
		NULL },
	    NULL, NULL },
	{ "29071ac72ce2b2007707eb3853f37034", URL, NULL, "r", { "A:1", NULL },
	    { "p=q", NULL }, "https://c.example/doc",
	    "https://t.example/token" },
};

START_TEST(names)
{
	char file[80];

	config.url = hashes[_i].url;
	config.normal = hashes[_i].normal;
	config.resource = hashes[_i].resource;
	config.headers = hashes[_i].headers;
	config.params = hashes[_i].params;
	config.client_document = hashes[_i].client_document;
	config.token_endpoint = hashes[_i].token_endpoint;
	ck_assert(!import());
	ck_assert_ptr_null(why);
	snprintf(file, sizeof file, "%s_tokens.json", hashes[_i].hash);
	put("v1", file, "{\"access_token\":\"at\"}");
	ck_assert(import());
	if (hashes[_i].resource != NULL && hashes[_i].resource[0] != '\0')
		ck_assert_str_eq(r.resource, hashes[_i].resource);
	else
		ck_assert_ptr_null(r.resource);
	/* another account's is not taken */
	config.resource = "https://other.example/";
	ck_assert(!import());
}
END_TEST

START_TEST(newest_first)
{
	static const char *const versions[] = { "0.0.22", "0.1.9", "0.1.38",
		"0.2", "0.2.5", "1.0.0", "10.0.0", "v1", "v2", "v10" };
	char path[200], text[100];
	int i;

	ck_assert_int_eq(rmdir(home_path("auth/mcp-remote-v1")), 0);
	for (i = 0; i < COUNT(versions); i++) {
		snprintf(path, sizeof path, "auth/mcp-remote-%s", versions[i]);
		home_mkdir(path, 0700);
		ck_assert_int_eq(import(), i > 0);
		snprintf(text, sizeof text, "{\"access_token\":\"%s\"}",
		    versions[i]);
		put(versions[i], TOKENS, text);
		ck_assert(import());
		ck_assert_str_eq(r.token.access, versions[i]);
	}
	home_mkdir("auth/mcp-remote-v11", 0700);
	home_puts("auth/mcp-remote-v12", "");
	home_puts("auth/lock", "");
	ck_assert(import());
	ck_assert_str_eq(r.token.access, "v10");
}
END_TEST

/* What is there and of no use is no reason to take what is older. */
/* In which of n folders the tokens may be, to be found. */
static int
found_in(int n)
{
	char version[16];
	int i, found = 0;

	for (i = 1; i <= n; i++) {
		snprintf(version, sizeof version, "v%d", i);
		put(version, TOKENS, "{\"access_token\":\"at\"}");
		found += import();
		put(version, TOKENS, "{}");
	}
	return found;
}

/* Which one is not looked at is a matter of the file system. */
START_TEST(many_folders)
{
	char path[64];
	int i;

	for (i = 2; i <= BOUND_SOME + _i; i++) {
		snprintf(path, sizeof path, "auth/mcp-remote-v%d", i);
		home_mkdir(path, 0700);
	}
	ck_assert_int_eq(found_in(BOUND_SOME + _i), BOUND_SOME);
}
END_TEST

/* The name that the folder tells last, for the caller to free. */
static char *
last_name(void)
{
	char *last = NULL;
	struct dirent *e;
	DIR *d = opendir(home_path("auth"));

	ck_assert_ptr_nonnull(d);
	while ((e = readdir(d)) != NULL) {
		if (e->d_name[0] == '.')
			continue;
		free(last);
		last = xstrdup(e->d_name);
	}
	closedir(d);
	return last;
}

/* So many other files, with the folders, that all are looked at, or all but
 * one. That one has to be a folder: files go from the end and come back
 * somewhere else. */
START_TEST(many_entries)
{
	int i, n = BOUND_SOME;
	char path[64], *last;

	for (i = 2; i <= n; i++) {
		snprintf(path, sizeof path, "auth/mcp-remote-v%d", i);
		home_mkdir(path, 0700);
	}
	for (; i <= BOUND_FILES + _i; i++) {
		snprintf(path, sizeof path, "auth/file%d", i);
		home_puts(path, "");
	}
	while (strncmp(last = last_name(), "file", 4) == 0) {
		snprintf(path, sizeof path, "auth/%s", last);
		ck_assert_int_eq(unlink(home_path(path)), 0);
		snprintf(path, sizeof path, "auth/file%d", ++i);
		home_puts(path, "");
		free(last);
	}
	free(last);
	ck_assert_int_eq(found_in(n), n - _i);
}
END_TEST

START_TEST(no_older_one)
{
	home_mkdir("auth/mcp-remote-0.1.38", 0755);
	put("0.1.38", TOKENS, "{\"access_token\":\"old\"}");
	ck_assert(import());
	put("v1", TOKENS, "{\"access_token\":");
	ck_assert(refused("not imported"));
}
END_TEST

static const struct {
	const char *text, *word;
} bad[] = {
	{ "", "not imported" },
	{ "[]", "not imported" },
	{ "{}", "no access token" },
	{ "{\"access_token\":5}", "no access token" },
	{ "{\"access_token\":\"\"}", "not allowed" },
	{ "{\"access_token\":\"CANARY\\r\\nX: y\"}", "not allowed" },
	{ "{\"access_token\":\"CANARY x\"}", "not allowed" },
	{ "{\"access_token\":\"CANARY\",\"token_type\":\"DPoP\"}", "Bearer" },
	{ "{\"access_token\":\"a\",\"access_token\":\"CANARY\"}", "imported" },
};

START_TEST(bad_tokens)
{
	put("v1", TOKENS, bad[_i].text);
	ck_assert(refused(bad[_i].word));
	ck_assert_ptr_null(strstr(why, "CANARY"));
	ck_assert_ptr_nonnull(strstr(why, TOKENS));
}
END_TEST

static const struct {
	const char *rest;
	int64_t expires, obtained; /* 0: of the file */
} times[] = {
	{ "", 0, 0 },
	{ ",\"expires_in\":0", 0, 0 },
	{ ",\"expires_in\":-5", 0, 0 },
	{ ",\"expires_at\":null", 0, 0 },
	{ ",\"expires_at\":1900000000000", 1900000000, 0 },
	{ ",\"expires_at\":\"1900000000999\"", 1900000000, 0 },
	{ ",\"expires_at\":1900000000", 1900000000, 0 },
	{ ",\"expires_at\":1900000000,\"expires_in\":100", 1900000000,
	    1899999900 },
	{ ",\"expires_at\":0", 0, 0 },
};

START_TEST(times_of_tokens)
{
	char text[200];

	snprintf(text, sizeof text, "{\"access_token\":\"at\"%s}",
	    times[_i].rest);
	put("v1", TOKENS, text);
	ck_assert(import());
	ck_assert_int_eq(r.token.expires_at, times[_i].expires);
	if (times[_i].obtained != 0)
		ck_assert_int_eq(r.token.obtained_at, times[_i].obtained);
	else
		ck_assert_int_ge(r.token.obtained_at, (int64_t)time(NULL) - 60);
}
END_TEST

#define ISSUER "\"issuer\":\"https://as.example\""
#define ID "\"client_id\":\"i\"," ISSUER
#define SECRET ID ",\"client_secret\":\"s\""
#define METHOD ",\"token_endpoint_auth_method\":"

static const struct {
	const char *text;
	int method; /* -1: no client */
} clients[] = {
	{ "{" SECRET "}", CLIENT_BASIC },
	{ "{" SECRET METHOD "\"client_secret_basic\"}", CLIENT_BASIC },
	{ "{" SECRET METHOD "\"client_secret_post\"}", CLIENT_POST },
	{ "{" SECRET METHOD "\"none\"}", CLIENT_NONE },
	{ "{" SECRET METHOD "\"private_key_jwt\"}", -1 },
	{ "{" ID METHOD "\"private_key_jwt\"}", -1 },
	{ "{" ID "}", CLIENT_NONE },
	{ "{" ID METHOD "\"client_secret_post\"}", CLIENT_NONE },
	{ "{\"client_id\":\"\"," ISSUER "}", -1 },
	{ "{\"client_id\":7," ISSUER "}", -1 },
	{ "{" ISSUER "}", -1 },
	{ "{", -1 },
	{ "{\"client_id\":\"i\"}", -1 },
	{ "{\"client_id\":\"i\",\"issuer\":\"\"}", -1 },
	{ "{\"client_id\":\"i\",\"issuer\":\"https://other.example\"}", -1 },
};

START_TEST(clients_taken)
{
	put("v1", TOKENS, "{\"access_token\":\"at\"," ISSUER "}");
	put("v1", CLIENT, clients[_i].text);
	ck_assert(import());
	if (clients[_i].method < 0) {
		ck_assert_ptr_null(r.client.id);
	} else {
		ck_assert_str_eq(r.client.id, "i");
		ck_assert_int_eq((int)r.client.method, clients[_i].method);
	}
	ck_assert_str_eq(r.issuer, "https://as.example");
	put("v1", TOKENS, "{\"access_token\":\"at\"}");
	ck_assert(import());
	ck_assert_ptr_null(r.issuer);
	ck_assert_ptr_null(r.client.id);
}
END_TEST

/* What is imported can be kept. */
START_TEST(fit_for_the_store)
{
	struct record again;
	const char *reason;
	struct buf b;

	put("v1", TOKENS,
	    "{\"access_token\":\"at\"," ISSUER
	    ",\"expires_in\":9007199254740992}");
	put("v1", CLIENT, "{" SECRET "}");
	ck_assert(import());
	r.url = xstrdup(URL);
	buf_init(&b, 0);
	record_print(&r, &b);
	ck_assert_int_eq(record_parse(&again, buf_span(&b), &reason), 0);
	ck_assert_str_eq(again.client.id, "i");
	ck_assert_int_eq(again.client.source, CLIENT_IMPORTED);
	record_free(&again);
	buf_free(&b);
}
END_TEST

START_TEST(not_safe)
{
	static const char *const folders[] = { "auth", "auth/mcp-remote-v1" };
	const char *path = home_path("auth/mcp-remote-v1/" TOKENS);
	char *large;
	size_t i;

	put("v1", TOKENS, "{\"access_token\":\"at\"}");
	ck_assert_int_eq(chmod(path, 0620), 0);
	ck_assert(refused("others can write"));
	ck_assert_int_eq(chmod(path, 0602), 0);
	ck_assert(refused("others can write"));
	ck_assert_int_eq(chmod(path, 0400), 0);
	ck_assert(import());
	path = home_path("auth/mcp-remote-v1/" TOKENS);
	ck_assert_int_eq(rename(path, home_path("real")), 0);
	ck_assert_int_eq(symlink(home_path("real"), path), 0);
	ck_assert(refused("not imported"));
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(link(home_path("real"), path), 0);
	ck_assert(refused("second name"));
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_assert(refused("regular"));
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	ck_assert(refused("regular"));
	ck_assert_int_eq(rmdir(path), 0);
	large = xcalloc(1, BOUND_PART_BYTES + 2);
	memset(large, ' ', BOUND_PART_BYTES + 1);
	put("v1", TOKENS, large);
	free(large);
	ck_assert(refused("not imported"));
	put("v1", TOKENS, "{\"access_token\":\"at\"}");
	for (i = 0; i < 2; i++) {
		ck_assert_int_eq(chmod(home_path(folders[i]), 0707), 0);
		ck_assert(refused("others can rename"));
		ck_assert_int_eq(chmod(home_path(folders[i]), 0770), 0);
		ck_assert(import());
	}
	if (geteuid() != 0)
		return;
	ck_assert_int_eq(chown(home_path(folders[1]), 12345, 0), 0);
	ck_assert(refused("others can rename"));
	ck_assert_int_eq(chown(home_path(folders[1]), 0, 0), 0);
	path = home_path("auth/mcp-remote-v1/" TOKENS);
	ck_assert_int_eq(chown(path, 12345, 0), 0);
	ck_assert(refused("another user"));
}
END_TEST

START_TEST(nothing_there)
{
	ck_assert(!import());
	ck_assert_ptr_null(why);
	config.folder = home_path("none");
	ck_assert(!import());
	ck_assert_ptr_null(why);
	config.folder = "auth";
	ck_assert(!import());
	config.folder = NULL;
	ck_assert(!import());
	home_puts("file", "");
	config.folder = home_path("file");
	ck_assert(!import());
	ck_assert_ptr_null(why);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("import");
	TCase *tc = tcase_create("import");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, late_version);
	tcase_add_test(tc, early_version);
	tcase_add_test(tc, issuer_of_one_only);
	tcase_add_loop_test(tc, names, 0, COUNT(hashes));
	tcase_add_test(tc, newest_first);
	tcase_add_loop_test(tc, many_folders, 0, 2);
	tcase_add_loop_test(tc, many_entries, 0, 2);
	tcase_add_test(tc, no_older_one);
	tcase_add_loop_test(tc, bad_tokens, 0, COUNT(bad));
	tcase_add_loop_test(tc, times_of_tokens, 0, COUNT(times));
	tcase_add_loop_test(tc, clients_taken, 0, COUNT(clients));
	tcase_add_test(tc, fit_for_the_store);
	tcase_add_test(tc, not_safe);
	tcase_add_test(tc, nothing_there);
	suite_add_tcase(s, tc);
	return unit_run(s);
}
