/*
 * How long exchanges may take the credentials without a question, from each
 * source, and what ends that time early.
 */
#include "config.h"

#include "proxy/credentials/authorize.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/bounds.h"
#include "unit/home.h"
#include "unit/unit.h"

#define URL "https://a.example/mcp"
#define LOOK_MS 1000

static struct loop *loop;
static struct store *store;
static struct authorize *authorize;
static const struct credentials *now; /* of authorize */
static unsigned ready, final;         /* answers so far */
static char why[256];                 /* of the latest final one */
static const char *challenge;         /* of the next refusal */
static bool helper_runs;              /* as the session was told */
static bool aws;                      /* the helper has keys of AWS */

static void
on_ready(uint64_t ticket, void *arg)
{
	(void)ticket;
	(void)arg;
	ready++;
	loop_stop(loop, 0);
}

static void
on_final(uint64_t ticket, const char *text, bool credentials_known_good,
    void *arg)
{
	(void)ticket;
	(void)arg;
	ck_assert(!credentials_known_good);
	final++;
	snprintf(why, sizeof why, "%s", text == NULL ? "(NULL)" : text);
	loop_stop(loop, 0);
}

static void
on_event(struct event *e, void *arg)
{
	(void)arg;
	ck_assert(e->kind == INPUT_SIGN_IN || e->kind == INPUT_SIGNED_IN ||
	    e->kind == INPUT_HELPER);
	if (e->kind == INPUT_HELPER)
		helper_runs = e->ok;
}

static const char *
on_peer(void *arg)
{
	(void)arg;
	return "203.0.113.7";
}

static void
setup(void)
{
	home_begin();
	loop = loop_new();
	ck_assert_ptr_nonnull(loop);
	store = NULL;
	authorize = NULL;
	challenge = NULL;
	aws = false;
	ready = final = 0;
}

static void
teardown(void)
{
	authorize_free(authorize);
	store_free(store);
	loop_free(loop);
	home_end();
}

static void
make(const char *const *headers, const char *command,
    const struct oauth_config *oauth)
{
	static const struct oauth_ops ops = { on_ready, on_final, on_event,
		on_peer };
	struct given_config given = { .headers = headers };
	struct authorize_config config = { .given = &given,
		.command = command,
		.url = URL,
		.aws = aws,
		.oauth = oauth };
	char *text = NULL;

	authorize = authorize_new(loop, &config, &ops, NULL, &text);
	ck_assert_msg(authorize != NULL, "%s", text);
	now = authorize_credentials(authorize);
	ck_assert_int_eq(now->until, 0);
}

/* Waits for one more answer, if it has not come yet. */
static void
await(unsigned answers)
{
	if (ready + final < answers)
		loop_run(loop);
	ck_assert_uint_eq(ready + final, answers);
}

/* Are the credentials good until the next look? */
static bool
lasts(void)
{
	int64_t left = now->until - loop_now(loop);

	return left > 0 && left <= LOOK_MS;
}

static void
refuse(uint64_t ticket, uint64_t stamp, unsigned refusals)
{
	struct facts f = { .status = 401, .sent = true };

	f.stamp = stamp;
	f.challenge = span_of(challenge);
	f.refusals = refusals;
	authorize_refused(authorize, ticket, &f, span_of(NULL));
}

/* --- given headers --- */

/* A refusal names the option that has to change. */
START_TEST(given_and_refused)
{
	static const struct {
		const char *const headers[2], *why;
	} cases[] = {
		{ { "Authorization: Basic x", NULL },
		    "the Authorization header given with -H is wrong or has expired" },
		{ { "A: b", NULL }, "(NULL)" },
	};

	make(cases[_i].headers, NULL, NULL);
	authorize_ops.ask(1, false, authorize);
	refuse(1, now->stamp, 0);
	ck_assert_uint_eq(final, 1);
	ck_assert_str_eq(why, cases[_i].why);
}
END_TEST

/* A server that wants a Kerberos ticket and no token is told of by the option
 * that is missing, unless a credential was given. */
START_TEST(ticket_is_wanted)
{
	static const char missing[] =
	    "it requires a Kerberos ticket: run kinit, and add --negotiate";
	static const struct {
		const char *const headers[2], *challenge, *why;
	} cases[] = {
		{ { NULL }, "Negotiate", missing },
		{ { "A: b", NULL }, "NTLM", missing },
		{ { NULL }, "Basic realm=\"x\", negotiate", missing },
		{ { NULL }, "Negotiate, Bearer", "(NULL)" },
		{ { NULL }, "Basic realm=\"Negotiate\"", "(NULL)" },
		{ { "Authorization: Basic x", NULL }, "Negotiate",
		    "the Authorization header given with -H is wrong or has expired" },
	};

	challenge = cases[_i].challenge;
	make(cases[_i].headers, NULL, NULL);
	authorize_ops.ask(1, false, authorize);
	refuse(1, now->stamp, 0);
	ck_assert_uint_eq(final, 1);
	ck_assert_str_eq(why, cases[_i].why);
}
END_TEST

START_TEST(given_alone)
{
	static const char *const headers[] = { "A: b", NULL };

	make(headers, NULL, NULL);
	authorize_ops.ask(1, false, authorize);
	ck_assert_uint_eq(ready, 1);
	ck_assert_int_eq(now->until, INT64_MAX);
	ck_assert_str_eq(headers_get(&now->headers, "A"), "b");
	authorize_wake(authorize);
	ck_assert_int_eq(now->until, 0);
	/* The credentials have not changed, so the transport's error stays. */
	refuse(2, now->stamp, 0);
	ck_assert_uint_eq(final, 1);
	ck_assert_str_eq(why, "(NULL)");
}
END_TEST

/* --- the helper --- */

static void
make_helper(const char *answer)
{
	char *line = xasprintf("/bin/cat '%s'", home_path("answer"));

	home_puts("answer", answer);
	make(NULL, line, NULL);
	free(line);
}

START_TEST(helper_without_an_end)
{
	make_helper("{\"version\":1,\"token\":\"one\"}");
	authorize_ops.ask(1, false, authorize);
	ck_assert_uint_eq(ready, 0);
	ck_assert_int_eq(now->until, 0);
	ck_assert(helper_runs);
	await(1);
	ck_assert(!helper_runs);
	ck_assert(lasts());
	ck_assert_str_eq(headers_get(&now->headers, "Authorization"),
	    "Bearer one");
}
END_TEST

START_TEST(helper_that_is_almost_over)
{
	char *answer = xasprintf("{\"version\":1,\"token\":\"one\","
				 "\"expires_at\":%lld}",
	    (long long)time(NULL) + 2);

	make_helper(answer);
	free(answer);
	authorize_ops.ask(1, false, authorize);
	await(1);
	ck_assert_uint_eq(ready, 1);
	ck_assert_int_eq(now->until, 0);
}
END_TEST

/* What was refused is not given to others while the helper runs again. */
START_TEST(helper_runs_again)
{
	uint64_t stamp, version;

	make_helper("{\"version\":1,\"token\":\"one\"}");
	authorize_ops.ask(1, false, authorize);
	await(1);
	stamp = now->stamp;
	version = now->version;
	home_puts("answer", "{\"version\":1,\"token\":\"two\"}");
	refuse(1, stamp, 0);
	ck_assert_int_eq(now->until, 0);
	authorize_ops.ask(2, false, authorize);
	authorize_ops.ask(3, false, authorize);
	authorize_drop(authorize, 3);
	loop_run(loop);
	ck_assert_uint_eq(ready, 3); /* 2 and 1 */
	ck_assert(lasts());
	ck_assert_uint_ne(now->stamp, stamp);
	ck_assert_uint_ne(now->version, version);
	/* too soon, and too often */
	refuse(1, now->stamp, 0);
	ck_assert_uint_eq(final, 1);
	refuse(1, stamp, 1);
	ck_assert_uint_eq(final, 2);
	ck_assert_str_eq(why,
	    "the credentials from --auth-command are wrong or have expired");
}
END_TEST

START_TEST(helper_that_fails)
{
	make(NULL, "/bin/false", NULL);
	authorize_ops.ask(1, false, authorize);
	await(1);
	ck_assert_uint_eq(final, 1);
	ck_assert_ptr_nonnull(strstr(why, "--auth-command"));
	ck_assert_int_eq(now->until, 0);
}
END_TEST

/* A key of AWS is told by its id; of its secret nothing is told. */
START_TEST(helper_of_another_user)
{
	struct buf b;

	aws = true;
	make_helper("{\"Version\":1,\"AccessKeyId\":\"AKIDONE\","
		    "\"SecretAccessKey\":\"s3cret\"}");
	buf_init(&b, 0);
	ck_assert(!authorize_whose(authorize, &b));
	authorize_ops.ask(1, false, authorize);
	await(1);
	ck_assert(authorize_whose(authorize, &b));
	ck_assert_ptr_nonnull(strstr(buf_str(&b), "AKIDONE"));
	ck_assert_ptr_null(strstr(buf_str(&b), "s3cret"));
	buf_free(&b);
}
END_TEST

/* --- OAuth --- */

static void
on_put(const char *text, void *arg)
{
	(void)arg;
	ck_assert_msg(text == NULL, "%s", text);
	loop_stop(loop, 0);
}

/* The token goes into the store. lasts_s: for so many seconds, 0: for ever. */
static void
put_token(const char *token, int64_t lasts_s)
{
	char name[STORE_NAME_BYTES];
	struct record r;

	record_init(&r);
	r.url = xstrdup(URL);
	r.token.access = xstrdup(token);
	r.token.refresh = xstrdup("refresh");
	r.token.obtained_at = (int64_t)time(NULL);
	if (lasts_s > 0)
		r.token.expires_at = r.token.obtained_at + lasts_s;
	store_name(name, URL, NULL);
	store_put(store, name, &r, on_put, NULL);
	loop_run(loop);
	record_free(&r);
}

static void
make_oauth(void)
{
	static const char *const program[] = { "/bin/false", NULL };
	static const char *const argv[] = { URL, NULL };
	static const char *const headers[] = { "A: b", NULL };
	static struct oauth_config oauth;
	struct store_config config = { .home = home };
	char *text = NULL;

	store = store_new(loop, &config, &text);
	ck_assert_msg(store != NULL, "%s", text);
	oauth = (struct oauth_config){ .host = "a.example",
		.url = URL,
		.store = store,
		.login_process = program,
		.argv = argv };
	make(headers, NULL, &oauth);
}

START_TEST(token_of_the_store)
{
	make_oauth();
	put_token("one", 3600);
	authorize_ops.ask(1, false, authorize);
	ck_assert_uint_eq(ready, 0); /* the store is read */
	ck_assert_int_eq(now->until, 0);
	await(1);
	ck_assert(lasts());
	ck_assert_uint_ne(now->stamp, 0);
	ck_assert_str_eq(headers_get(&now->headers, "A"), "b");
	ck_assert_str_eq(headers_get(&now->headers, "Authorization"),
	    "Bearer one");
	/* The machine slept. */
	authorize_wake(authorize);
	authorize_ops.ask(2, false, authorize);
	ck_assert_uint_eq(ready, 2);
	ck_assert(lasts());
	ck_assert_uint_eq(now->version, 1);
}
END_TEST

START_TEST(no_token)
{
	make_oauth();
	authorize_ops.ask(1, false, authorize);
	await(1);
	ck_assert(lasts());
	ck_assert_uint_eq(now->stamp, 0);
	ck_assert_uint_eq(now->headers.n, 1);
}
END_TEST

/* The token is still sent, but each exchange asks for a newer one. */
START_TEST(token_that_is_almost_over)
{
	make_oauth();
	put_token("one", 2);
	authorize_ops.ask(1, false, authorize);
	await(1);
	ck_assert_uint_eq(ready, 1);
	ck_assert_int_eq(now->until, 0);
}
END_TEST

/* Another copy has stored a token. */
START_TEST(store_is_read_again)
{
	make_oauth();
	put_token("one", 3600);
	authorize_ops.ask(1, false, authorize);
	await(1);
	put_token("two", 3600);
	ck_assert(lasts());
	refuse(1, now->stamp, 0);
	ck_assert_int_eq(now->until, 0);
	await(2);
	ck_assert_uint_eq(ready, 2);
	ck_assert(lasts());
	ck_assert_uint_eq(now->version, 2);
	ck_assert_str_eq(headers_get(&now->headers, "Authorization"),
	    "Bearer two");
}
END_TEST

/* A server that refuses each token: so often another one is taken, then it is
 * told. */
START_TEST(one_token_after_the_other)
{
	make_oauth();
	put_token("one", 3600);
	authorize_ops.ask(1, false, authorize);
	await(1);
	put_token("two", 3600);
	refuse(1, now->stamp, BOUND_FLAPS - 2 + (unsigned)_i);
	await(2);
	ck_assert_uint_eq(ready, _i == 0 ? 2 : 1);
	ck_assert_uint_eq(final, _i == 0 ? 0 : 1);
	if (_i == 1)
		ck_assert_ptr_nonnull(strstr(why, "it rejected every token"));
}
END_TEST

/* Others take the token while a login process runs. After it the store is
 * looked at anew. */
START_TEST(login_process_ends)
{
	make_oauth();
	put_token("one", 3600);
	authorize_ops.ask(1, false, authorize);
	await(1);
	refuse(1, now->stamp, 0);
	ck_assert_uint_eq(ready + final, 1);
	ck_assert(lasts());
	await(2);
	ck_assert_uint_eq(final, 1);
	ck_assert_int_eq(now->until, 0);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("authorize");
	TCase *t = tcase_create("authorize");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, given_alone);
	tcase_add_loop_test(t, given_and_refused, 0, 2);
	tcase_add_loop_test(t, ticket_is_wanted, 0, 6);
	tcase_add_test(t, helper_without_an_end);
	tcase_add_test(t, helper_that_is_almost_over);
	tcase_add_test(t, helper_runs_again);
	tcase_add_test(t, helper_that_fails);
	tcase_add_test(t, helper_of_another_user);
	tcase_add_test(t, token_of_the_store);
	tcase_add_test(t, no_token);
	tcase_add_test(t, token_that_is_almost_over);
	tcase_add_test(t, store_is_read_again);
	tcase_add_loop_test(t, one_token_after_the_other, 0, 2);
	tcase_add_test(t, login_process_ends);
	suite_add_tcase(s, t);
	return unit_run(s);
}
