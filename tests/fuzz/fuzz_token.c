/*
 * Answers of token and registration endpoints, whatever is in them. The first
 * byte chooses the status, the rest is the document. A token that is taken
 * can stand in a header, a record that is not to change does not, what people
 * are told is short, printable and without our secrets, and what is then sent
 * to the server is one form.
 */
#include "config.h"

#include "base/codec.h"
#include "fuzz/fuzz.h"
#include "signin/client_messages.h"

#define NOW ((int64_t)1700000000)
#define SECRET "the-secret-of-ours"
#define REFRESH "the-refresh-token-of-ours"

/* Bytes in this range only, and at least one. */
static void
check_text(const char *s, char from)
{
	FUZZ_CHECK(*s != '\0' && strlen(s) <= 64 * 1024);
	for (; *s != '\0'; s++)
		FUZZ_CHECK(*s >= from && *s <= '~');
}

/* A message for people: one line of UTF-8. */
static void
check_why(const char *why)
{
	size_t n, len;

	FUZZ_CHECK(why != NULL && *why != '\0');
	FUZZ_CHECK(strstr(why, SECRET) == NULL);
	FUZZ_CHECK(strstr(why, REFRESH) == NULL);
	for (n = strlen(why); n > 0; n -= len, why += len) {
		len = codec_utf8(why, n);
		FUZZ_CHECK(len > 0 && n < 400);
		FUZZ_CHECK(len > 1 || (*why >= ' ' && *why <= '~'));
	}
}

/* The form has this many fields, and all their bytes are encoded. */
static void
check_form(struct client_request *r, size_t fields)
{
	const char *s = buf_str(&r->form);
	size_t equals = 0, ands = 0;

	FUZZ_CHECK(strspn(s,
		       "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
		       "0123456789-._~%&=") == r->form.n);
	for (; *s != '\0'; s++) {
		equals += *s == '=';
		ands += *s == '&';
	}
	FUZZ_CHECK(equals == fields && ands == fields - 1);
	client_request_free(r);
}

static void
fill(struct record *rec)
{
	record_init(rec);
	rec->client.id = xstrdup("id");
	rec->client.secret = xstrdup(SECRET);
	rec->client.method = CLIENT_BASIC;
	rec->token.refresh = xstrdup(REFRESH);
	rec->token.scope_requested = xstrdup("asked");
}

static void
check_token(int status, struct json_object *doc)
{
	struct client_request r = { 0 };
	struct record rec;
	char *why = NULL;

	fill(&rec);
	if (client_token(&rec, status, doc, rec.token.scope_requested, NOW,
		CLIENT_SERVER, &why) != CAME_TOKEN) {
		check_why(why);
		FUZZ_CHECK(rec.token.access == NULL);
		FUZZ_CHECK(strcmp(rec.token.refresh, REFRESH) == 0);
		FUZZ_CHECK(rec.token.obtained_at == 0);
		FUZZ_CHECK(rec.token.expires_at == 0);
	} else {
		FUZZ_CHECK(why == NULL && status / 100 == 2);
		check_text(rec.token.access, '!');
		check_text(rec.token.refresh, '!');
		check_text(rec.token.scope_granted, ' ');
		FUZZ_CHECK(strcmp(rec.token.scope_requested, "asked") == 0);
		FUZZ_CHECK(rec.token.expires_at == 0 ||
		    rec.token.expires_at > NOW);
	}
	client_refresh(&r, &rec, true);
	client_finish(&r, &rec, NULL, false);
	FUZZ_CHECK(headers_get(&r.headers, "Authorization") != NULL);
	check_form(&r, 3);
	free(why);
	record_free(&rec);
}

static void
check_registration(struct json_object *doc)
{
	const struct server_metadata m = { .methods_told = true };
	struct client_request r = { 0 };
	struct record rec;
	char *why = NULL;

	fill(&rec);
	if (client_registered(&rec, doc, &m, "http://127.0.0.1:1/", &why) < 0) {
		check_why(why);
		FUZZ_CHECK(strcmp(rec.client.id, "id") == 0);
		FUZZ_CHECK(strcmp(rec.client.secret, SECRET) == 0);
	} else {
		FUZZ_CHECK(why == NULL);
		check_text(rec.client.id, ' ');
		if (rec.client.secret != NULL)
			check_text(rec.client.secret, ' ');
		if (rec.client.scope != NULL)
			check_text(rec.client.scope, ' ');
		FUZZ_CHECK(rec.client.secret != NULL ||
		    (rec.client.method == CLIENT_NONE &&
			rec.client.secret_expires_at == 0));
		FUZZ_CHECK(rec.client.secret_expires_at >= 0);
	}
	rec.client.method = CLIENT_POST;
	client_code(&r, &rec, "code", "verifier");
	client_finish(&r, &rec, NULL, false);
	FUZZ_CHECK(r.headers.n == 0);
	/* grant_type, code, code_verifier, client_id, and what there is */
	check_form(&r,
	    4U + (rec.client.redirect_uri != NULL) +
		(rec.client.secret != NULL));
	free(why);
	record_free(&rec);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const int statuses[] = { 200, 201, 400, 401, 403, 429, 500, 0 };
	struct json_object *doc;
	const char *ignored;

	if (size < 1)
		return 0;
	doc = document_parse((struct span){ (const char *)data + 1, size - 1 },
	    &ignored);
	check_token(statuses[data[0] % 8], doc);
	check_registration(doc);
	json_object_put(doc);
	return 0;
}
