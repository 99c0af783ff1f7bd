/*
 * A record is JSON outside and plain C strings inside. The tree that was read
 * is kept beside the strings, and printing starts with a copy of it, so members
 * that another version wrote are kept. Known members are read from the tree
 * only once; after that the strings count.
 *
 * Required members must be there with the right type; any other member of a
 * wrong type counts as absent.
 */
#include "config.h"

#include "store/record.h"

#include <stdlib.h>

#define SCOPES_MAX_BYTES ((size_t)16 * 1024)
#define EARLY_SECONDS 60

/* The words in the JSON, by enum client_source and enum client_method. */
static const char *const source_words[] = { "given", "document", "registered",
	"imported" };
static const char *const method_words[] = { "none", "client_secret_basic",
	"client_secret_post", "private_key_jwt" };

static const char newer[] = "a newer mcpsplice wrote it";

/* A string member: its name in JSON and its offset in the struct. A list ends
 * with a name that is NULL. */
struct member {
	const char *name;
	size_t offset;
};

#define MEMBER(name, field)                                                    \
	{                                                                      \
		name, offsetof(struct record, field)                           \
	}
#define COUNT(a) (sizeof(a) / sizeof *(a))

static const struct member top_members[] = {
	MEMBER("url", url),
	MEMBER("profile", profile),
	MEMBER("issuer", issuer),
	MEMBER("resource", resource),
	MEMBER("token_endpoint", token_endpoint),
	MEMBER("revocation_endpoint", revocation_endpoint),
	MEMBER("dpop_key", dpop_key),
	{ NULL, 0 },
};

static const struct member client_members[] = {
	MEMBER("id", client.id),
	MEMBER("secret", client.secret),
	MEMBER("redirect_uri", client.redirect_uri),
	MEMBER("scope", client.scope),
	{ NULL, 0 },
};

static const struct member token_members[] = {
	MEMBER("access_token", token.access),
	MEMBER("refresh_token", token.refresh),
	MEMBER("id_token", token.id_token),
	MEMBER("dpop_ath", token.dpop_ath),
	MEMBER("account", token.account),
	MEMBER("scope_requested", token.scope_requested),
	MEMBER("scope_granted", token.scope_granted),
	{ NULL, 0 },
};

static char **
field_of(struct record *r, const struct member *m)
{
	return (char **)(void *)((char *)r + m->offset);
}

static const char *
value_of(const struct record *r, const struct member *m)
{
	return *(char *const *)(const void *)((const char *)r + m->offset);
}

static void
forget_all(struct record *r, const struct member *m)
{
	for (; m->name != NULL; m++)
		string_wipe(field_of(r, m));
}

/* Overwrites these strings of an object. json-c puts a new value that is not
 * longer than the old one into the same memory. */
static void
tree_wipe(struct json_object *o, const struct member *m)
{
	struct json_object *value;
	char *blank;
	int len;

	for (; m->name != NULL; m++) {
		if (!json_object_object_get_ex(o, m->name, &value) ||
		    !json_object_is_type(value, json_type_string))
			continue;
		len = json_object_get_string_len(value);
		blank = xcalloc(1, (size_t)len + 1);
		json_object_set_string_len(value, blank, len);
		free(blank);
	}
}

static void
tree_wipe_part(struct json_object *tree, const char *part,
    const struct member *m)
{
	struct json_object *o;

	if (json_object_object_get_ex(tree, part, &o))
		tree_wipe(o, m);
}

/* Wipes and frees a tree that nobody else uses. */
static void
tree_free(struct json_object *tree)
{
	if (tree == NULL)
		return;
	tree_wipe(tree, top_members);
	tree_wipe_part(tree, "client", client_members);
	tree_wipe_part(tree, "token", token_members);
	json_object_put(tree);
}

static struct json_object *
tree_copy(struct json_object *tree)
{
	struct json_object *copy = NULL;

	if (tree == NULL)
		return document_new();
	if (json_object_deep_copy(tree, &copy, NULL) < 0)
		out_of_memory();
	return copy;
}

void
record_init(struct record *r)
{
	memset(r, 0, sizeof *r);
}

void
record_free(struct record *r)
{
	tree_free(r->json);
	forget_all(r, top_members);
	forget_all(r, client_members);
	forget_all(r, token_members);
	record_init(r);
}

static void
copy_all(struct record *to, const struct record *from, const struct member *m)
{
	for (; m->name != NULL; m++)
		*field_of(to, m) = string_copy(value_of(from, m));
}

void
record_copy(struct record *to, const struct record *from)
{
	*to = *from;
	to->json = from->json == NULL ? NULL : tree_copy(from->json);
	copy_all(to, from, top_members);
	copy_all(to, from, client_members);
	copy_all(to, from, token_members);
}

static void
parse_all(struct record *r, struct json_object *o, const struct member *m)
{
	for (; m->name != NULL; m++)
		*field_of(r, m) = string_copy(document_text(o, m->name));
}

/* Returns a number, 0 if it is absent. */
static int64_t
number_of(struct json_object *o, const char *name)
{
	int64_t n = document_number(o, name);

	return n < 0 ? 0 : n;
}

/* Finds an optional part; *o is NULL if it is missing. Returns -1 if it is
 * there and not an object. */
static int
part_of(struct json_object *tree, const char *name, struct json_object **o)
{
	if (!json_object_object_get_ex(tree, name, o) || *o == NULL) {
		*o = NULL;
		return 0;
	}
	return json_object_is_type(*o, json_type_object) ? 0 : -1;
}

/* Does the client have a word that a newer mcpsplice put there? */
static bool
is_newer_client(struct json_object *o, size_t source, size_t method)
{
	return (source == COUNT(source_words) &&
		   document_text(o, "source") != NULL) ||
	    (method == COUNT(method_words) &&
		document_text(o, "method") != NULL);
}

static int
parse_client(struct record *r, const char **why)
{
	struct json_object *o;
	size_t source, method;

	*why = "its member \"client\" is malformed";
	if (part_of(r->json, "client", &o) < 0)
		return -1;
	if (o == NULL)
		return 0;
	parse_all(r, o, client_members);
	source = string_index(document_text(o, "source"), source_words,
	    COUNT(source_words));
	method = string_index(document_text(o, "method"), method_words,
	    COUNT(method_words));
	if (is_newer_client(o, source, method)) {
		*why = newer;
		return RECORD_NEWER;
	}
	if (r->client.id == NULL || source == COUNT(source_words) ||
	    method == COUNT(method_words))
		return -1;
	r->client.source = (enum client_source)source;
	r->client.method = (enum client_method)method;
	r->client.secret_expires_at = number_of(o, "secret_expires_at");
	return 0;
}

/* May the text stand in a header? It has to be visible ASCII, and not empty. */
static bool
is_token(const char *text)
{
	return *text != '\0' && span_is_printable(span_of(text), '!');
}

static int
parse_token(struct record *r, const char **why)
{
	struct json_object *o;

	*why = "its member \"token\" is malformed";
	if (part_of(r->json, "token", &o) < 0)
		return -1;
	if (o == NULL)
		return 0;
	parse_all(r, o, token_members);
	if (r->token.access == NULL || !is_token(r->token.access))
		return -1;
	if (r->token.id_token != NULL && !is_token(r->token.id_token))
		string_wipe(&r->token.id_token);
	r->token.obtained_at = number_of(o, "obtained_at");
	r->token.expires_at = number_of(o, "expires_at");
	return 0;
}

static int
parse_top(struct record *r, const char **why)
{
	int64_t version = document_number(r->json, "version");

	if (version > RECORD_VERSION) {
		*why = newer;
		return RECORD_NEWER;
	}
	if (version != RECORD_VERSION) {
		*why = "it is not marked as a record of version 1";
		return -1;
	}
	parse_all(r, r->json, top_members);
	if (r->url == NULL) {
		*why = "it does not name its server";
		return -1;
	}
	r->generation = number_of(r->json, "generation");
	r->client_failures = number_of(r->json, "client_failures");
	r->server_public = number_of(r->json, "server_public") != 0;
	return 0;
}

int
record_parse(struct record *r, struct span text, const char **why)
{
	int rc;

	record_init(r);
	r->json = document_parse(text, why);
	if (r->json == NULL)
		return -1;
	if ((rc = parse_top(r, why)) < 0 || (rc = parse_client(r, why)) < 0 ||
	    (rc = parse_token(r, why)) < 0) {
		record_free(r);
		return rc;
	}
	*why = NULL;
	return 0;
}

static void
set_all(const struct record *r, struct json_object *o, const struct member *m)
{
	for (; m->name != NULL; m++)
		document_set(o, m->name, value_of(r, m));
}

/* Returns the part of that name, and makes it if it is missing. */
static struct json_object *
make_part(struct json_object *tree, const char *name)
{
	struct json_object *o;

	if (part_of(tree, name, &o) < 0 || o == NULL) {
		o = document_new();
		document_put(tree, name, o);
	}
	return o;
}

static void
set_client(const struct record *r, struct json_object *tree)
{
	struct json_object *o;

	if (r->client.id == NULL) {
		json_object_object_del(tree, "client");
		return;
	}
	o = make_part(tree, "client");
	document_set(o, "source", source_words[r->client.source]);
	document_set(o, "method", method_words[r->client.method]);
	set_all(r, o, client_members);
	document_set_number(o, "secret_expires_at",
	    r->client.secret_expires_at);
}

static void
set_token(const struct record *r, struct json_object *tree)
{
	struct json_object *o;

	if (r->token.access == NULL) {
		json_object_object_del(tree, "token");
		return;
	}
	o = make_part(tree, "token");
	set_all(r, o, token_members);
	document_set_number(o, "obtained_at", r->token.obtained_at);
	document_set_number(o, "expires_at", r->token.expires_at);
}

void
record_print(const struct record *r, struct buf *out)
{
	struct json_object *tree = tree_copy(r->json);

	document_set_number(tree, "version", RECORD_VERSION);
	document_set_number(tree, "generation", r->generation);
	set_all(r, tree, top_members);
	set_client(r, tree);
	set_token(r, tree);
	document_set_number(tree, "client_failures", r->client_failures);
	document_set_number(tree, "server_public", r->server_public);
	document_print(tree, out);
	tree_free(tree);
}

/* Forgets one part, including the unknown members in it, which belong to the
 * same client or token. */
static void
drop_part(struct record *r, const char *name, const struct member *m)
{
	forget_all(r, m);
	if (r->json == NULL)
		return;
	tree_wipe_part(r->json, name, m);
	json_object_object_del(r->json, name);
}

void
record_drop_token(struct record *r)
{
	drop_part(r, "token", token_members);
	memset(&r->token, 0, sizeof r->token);
}

void
record_drop_client(struct record *r)
{
	record_drop_token(r);
	drop_part(r, "client", client_members);
	memset(&r->client, 0, sizeof r->client);
	r->client_failures = 0;
}

bool
record_usable(const struct record *r, int64_t now)
{
	int64_t early;

	if (r->token.access == NULL)
		return false;
	if (r->token.expires_at == 0 || now < r->token.obtained_at)
		return true;
	early = (r->token.expires_at - r->token.obtained_at) / 10;
	if (early > EARLY_SECONDS)
		early = EARLY_SECONDS;
	return now < r->token.expires_at - early;
}

bool
record_expired(const struct record *r, int64_t now)
{
	if (r->token.access == NULL)
		return true;
	return r->token.expires_at != 0 && now >= r->token.obtained_at &&
	    now >= r->token.expires_at;
}

/* Takes the first scope from the text. Returns false if there is none. */
static bool
scope_next(struct span *text, struct span *scope)
{
	*text = span_trim(*text, " ");
	*scope = span_take(text, ' ');
	return scope->n > 0;
}

static bool
scope_in(struct span text, struct span scope)
{
	struct span one;

	while (scope_next(&text, &one))
		if (span_eq(one, scope))
			return true;
	return false;
}

bool
scope_listed(const char *list, const char *word)
{
	return scope_in(span_of(list), span_of(word));
}

/* If a server does not say what it granted, it granted the requested scopes
 * (RFC 6749 section 5.1). */
bool
record_has_scopes(const struct record *r, const char *scopes)
{
	struct span has = span_of(r->token.scope_granted != NULL ?
		r->token.scope_granted :
		r->token.scope_requested);
	struct span wanted = span_of(scopes), one;

	while (scope_next(&wanted, &one))
		if (!scope_in(has, one))
			return false;
	return true;
}

/* Adds the scopes that are not in all yet. The list is cut at 16 KiB, which
 * only a hostile server exceeds. */
static void
scope_add(struct buf *all, const char *scopes)
{
	struct span text = span_of(scopes), one;
	bool first;

	while (scope_next(&text, &one)) {
		if (scope_in(buf_span(all), one))
			continue;
		first = all->n == 0;
		if (one.n + !first > SCOPES_MAX_BYTES - all->n)
			return;
		if (!first)
			buf_addc(all, ' ');
		buf_addspan(all, one);
	}
}

char *
scope_union(const char *a, const char *b)
{
	struct buf all = { 0 };

	scope_add(&all, a);
	scope_add(&all, b);
	return all.n == 0 ? NULL : buf_take(&all);
}
