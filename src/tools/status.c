/* "mcpsplice status". */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "auth/claims.h"
#include "base/codec.h"
#include "core/wire/json.h"
#include "core/wire/redact.h"
#include "os/place.h"
#include "proxy/cache/process_note.h"
#include "signin/account.h"
#include "signin/client_messages.h"
#include "tools/command.h"

/* What the processes that run, and those that have ended, tell of themselves. */

struct running {
	struct buf *out;
	const char *server; /* of this one only, by its URL without secrets,
			     * ended ones with troubles, too; NULL: what runs,
			     * with the last trouble of each */
	bool json;
	size_t n;
};

static int64_t
number(struct span note, const char *name)
{
	struct span value = json_get(note, name);

	return value.n == 0 ? 0 : strtoll(value.p, NULL, 10);
}

/* Appends a member's text, made safe for a terminal. */
static void
add_text(struct buf *out, struct span note, const char *name)
{
	json_shown(json_get(note, name), out, SIZE_MAX);
}

/* Appends a time (seconds since 1970) for people. */
static void
add_time(struct buf *out, int64_t at)
{
	time_t when = (time_t)at;
	char text[64] = "?";
	struct tm tm;

	if (localtime_r(&when, &tm) != NULL)
		strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S %z", &tm);
	buf_adds(out, text);
}

/* Adds the warnings, or the last one. */
static void
add_troubles(struct buf *out, struct span note, bool all)
{
	struct span list = json_get(note, "trouble"), key, one;
	size_t at = 0, before = out->n;

	while (json_next(list, &at, &key, &one)) {
		if (!all)
			out->n = before;
		buf_adds(out, "  trouble   ");
		add_time(out, number(one, "at"));
		buf_adds(out, "\n            ");
		add_text(out, one, "text");
		buf_addc(out, '\n');
	}
}

static void
add_process(struct buf *out, struct span note, bool lives)
{
	int64_t session = number(note, "session");

	buf_addf(out, "  process   %lld, %s ", (long long)number(note, "pid"),
	    lives ? "since" : "ended; started");
	add_time(out, number(note, "started"));
	buf_adds(out, "\n  host      ");
	add_text(out, note, "client");
	buf_adds(out, json_get(note, "client").n > 0 ? ", " : "");
	buf_adds(out, "started by ");
	add_text(out, note, "parent");
	buf_addf(out, " (process %lld)\n",
	    (long long)number(note, "parent_pid"));
	if (!lives)
		return;
	buf_adds(out, "  session   ");
	if (session == 0) {
		buf_adds(out, "none yet");
	} else {
		buf_addf(out, "number %lld, since ", (long long)session);
		add_time(out, number(note, "session_began"));
	}
	buf_addc(out, '\n');
}

static void
add_note(struct span note, bool lives, void *arg)
{
	struct running *r = arg;
	struct buf *out = r->out;
	bool troubled = json_get(note, "trouble").n > 2;

	if (r->server != NULL ?
		!json_string_is(json_get(note, "server"), r->server) :
		!lives)
		return;
	if (!lives && !troubled)
		return;
	if (r->json) {
		buf_addf(out, "%s{\"lives\":%s,", r->n > 0 ? "," : "",
		    lives ? "true" : "false");
		buf_addspan(out, (struct span){ note.p + 1, note.n - 1 });
	} else {
		buf_adds(out, r->n == 0 ? "\nProcesses:\n" : "");
		add_text(out, note, "server");
		buf_addc(out, '\n');
		add_process(out, note, lives);
		add_troubles(out, note, r->server != NULL);
	}
	r->n++;
}

/* --- the records of the store --- */

enum { FIELD_BYTES = 512 };

struct listing {
	struct loop *loop;
	struct store *store;
	size_t shown, unread;
	size_t good;      /* so many have a token */
	const char *only; /* name of the record to show; NULL: all */
	const struct import_config *import; /* of that server, or NULL */
	struct json_object *json; /* they are added to it, and not printed;
				   * NULL: they are printed */
};

/* Prints a text from outside, made safe for a terminal. */
static void
print_field(const char *name, const char *value)
{
	struct buf b = { 0 };

	codec_visible(&b, span_of(value), FIELD_BYTES);
	printf("  %-9s %s\n", name, buf_str(&b));
	buf_free(&b);
}

void
command_token_text(struct buf *out, const struct record *r)
{
	int64_t now = (int64_t)time(NULL);

	if (r->token.access == NULL) {
		buf_adds(out, "none");
		return;
	}
	if (r->token.expires_at == 0) {
		buf_adds(out, "valid until the server rejects it");
	} else {
		buf_adds(out,
		    record_expired(r, now) ? "expired " : "valid until ");
		add_time(out, r->token.expires_at);
	}
	if (r->token.refresh != NULL)
		buf_adds(out, ", renewed automatically");
}

void
command_user_text(struct buf *out, const struct record *r)
{
	static const char *const names[] = { "email", "preferred_username",
		"name", "sub" };
	const char *token = r->token.id_token != NULL ? r->token.id_token :
							r->token.access;
	struct json_object *claims = token == NULL ? NULL : claims_of(token);
	const char *who = NULL;
	size_t i;

	if (claims == NULL)
		return;
	for (i = 0; i < 4 && who == NULL; i++)
		who = document_text(claims, names[i]);
	if (who != NULL)
		codec_visible(out, span_of(who), FIELD_BYTES);
	json_object_put(claims);
}

static void
print_token(const struct record *r)
{
	struct buf b = { 0 };

	command_user_text(&b, r);
	if (b.n > 0)
		print_field("account", buf_str(&b));
	buf_reset(&b);
	command_token_text(&b, r);
	printf("  token     %s\n", buf_str(&b));
	if (r->token.access != NULL && r->token.scope_granted != NULL)
		print_field("scopes", r->token.scope_granted);
	buf_free(&b);
}

/* Adds what print_record prints to the list. */
static void
list_json(struct json_object *list, const struct record *r)
{
	struct json_object *o = document_new();
	struct buf b = { 0 };

	redact_path(&b, span_of(r->url), "...");
	document_set(o, "server", buf_str(&b));
	document_set(o, "profile", r->profile);
	buf_reset(&b);
	codec_visible(&b, span_of(r->issuer), SIZE_MAX);
	document_set(o, "issuer", r->issuer != NULL ? buf_str(&b) : NULL);
	document_set(o, "client", r->client.id);
	buf_reset(&b);
	command_user_text(&b, r);
	document_set(o, "account", b.n > 0 ? buf_str(&b) : NULL);
	document_put(o, "signed_in",
	    json_object_new_boolean(r->token.access != NULL));
	if (r->token.expires_at != 0)
		document_set_number(o, "expires_at", r->token.expires_at);
	document_put(o, "can_be_renewed",
	    json_object_new_boolean(r->token.refresh != NULL));
	document_set(o, "scopes", r->token.scope_granted);
	json_object_array_add(list, o);
	buf_free(&b);
}

static void
print_server(const char *url, const char *profile)
{
	struct buf shown = { 0 }, b = { 0 };

	redact_path(&shown, span_of(url), "...");
	codec_visible(&b, buf_span(&shown), 2048);
	buf_free(&shown);
	if (profile != NULL) {
		buf_adds(&b, " (profile ");
		codec_visible(&b, span_of(profile), 128);
		buf_adds(&b, ")");
	}
	printf("%s\n", buf_str(&b));
	buf_free(&b);
}

static void
print_record(const struct listing *l, const struct record *r, bool provider)
{
	static const char *const sources[] = { "given", "metadata document",
		"registered", "from mcp-remote" };
	struct record shown = *r; /* borrows all that r has */

	/* The ID token is what the servers are signed in to with. */
	if (provider)
		shown.token.expires_at = id_token_end(r);
	if (l->json != NULL) {
		list_json(l->json, &shown);
		return;
	}
	print_server(r->url, r->profile);
	if (provider)
		print_field("use",
		    "the identity provider for --auth enterprise");
	print_field("issuer", r->issuer != NULL ? r->issuer : "the server");
	if (r->client.id != NULL) {
		print_field("client", r->client.id);
		printf("            (%s)\n", sources[r->client.source]);
	}
	print_token(&shown);
}

/* Prints a sign-in that waits for its user, under the record if there is one.
 * Returns whether there is such a sign-in: its process holds the lock. */
static bool
print_pending(struct listing *l, const char *name, bool headed)
{
	struct pending p;
	bool waits;
	int lock;

	store_pending(l->store, name, &p);
	waits = p.url != NULL;
	if (waits) {
		lock = store_lock(l->store, STORE_LOGIN, name);
		waits = lock < 0 && errno == EWOULDBLOCK;
		store_unlock(lock);
	}
	if (waits) {
		if (!headed)
			print_server(p.server != NULL ? p.server : name, NULL);
		print_field("sign-in", "waiting for you to open this:");
		print_field("", p.url);
		if (p.user_code != NULL)
			print_field("code", p.user_code);
	}
	pending_free(&p);
	return waits;
}

/* Prints the tokens of mcp-remote that are used where the store has nothing.
 * Returns whether there are any. */
static bool
print_import(struct listing *l)
{
	char *from = NULL, *why = NULL;
	struct record r = { 0 };
	bool found;

	found = l->import != NULL && import_tokens(&r, l->import, &from, &why);
	if (found) {
		r.url = xstrdup(l->import->normal);
		print_record(l, &r, false);
		if (l->json == NULL)
			print_field("from", from);
		l->good += r.token.access != NULL;
	} else if (why != NULL) {
		fprintf(stderr, "mcpsplice: %s\n", why);
	}
	record_free(&r);
	free(from);
	free(why);
	return found;
}

static void
list_record(struct listing *l, const char *name)
{
	struct stored a;
	const struct record *r = &a.record;
	bool headed;

	stored_read(&a, l->loop, l->store, name);
	if (a.why != NULL) {
		l->unread++;
		fprintf(stderr, "mcpsplice: %s\n", a.why);
	}
	/* A record with neither only tells that the user signed out. */
	headed = a.there && r->url != NULL &&
	    (r->token.access != NULL || r->client.id != NULL);
	if (headed) {
		print_record(l, r, stored_is_provider(r, name));
		l->good += r->token.access != NULL;
	} else if (!a.there && a.why == NULL) {
		headed = print_import(l);
	}
	if (l->json == NULL)
		headed = print_pending(l, name, headed) || headed;
	l->shown += headed;
	stored_free(&a);
}

/* Tells that mcp-remote has tokens: for which servers, their names do not
 * say. */
static void
print_import_folder(const struct options *o)
{
	struct import_config import;
	struct url none = { 0 };
	char *folder;

	setup_import(&import, o, &none, &folder);
	if (import_any(&import))
		printf("mcp-remote has tokens in %s; mcpsplice uses them "
		       "where it has none of its own.\nTo see those for one "
		       "server, run: mcpsplice status URL\n",
		    folder);
	free(folder);
}

/* Lists what the store has, of one server or of all. Returns the exit
 * status. */
static int
list_store(struct listing *l, const struct options *o)
{
	char(*names)[STORE_NAME_BYTES] = NULL;
	size_t i, n = 0;

	if (l->only != NULL)
		list_record(l, l->only);
	else
		names = stored_names(l->store, &n);
	for (i = 0; i < n; i++)
		list_record(l, names[i]);
	free(names);
	if (l->json == NULL && l->shown == 0 && l->unread == 0)
		printf("Not signed in.\n");
	if (l->json == NULL && l->only == NULL)
		print_import_folder(o);
	return l->unread > 0 || (l->only != NULL && l->good == 0);
}

/* Prints the processes: behind the sign-ins, or both as one JSON object. */
static void
print_running(const struct listing *l, const char *url)
{
	struct buf server = { 0 }, out = { 0 };
	struct running r = { .out = &out, .json = l->json != NULL };

	if (url != NULL) {
		redact_path(&server, span_of(url), "...");
		r.server = buf_str(&server);
	}
	if (l->json != NULL) {
		buf_adds(&out, "{\"sign_ins\":");
		document_print(l->json, &out);
		buf_adds(&out, ",\"processes\":[");
	}
	process_notes_each(os_place(OS_PLACE_DATA), add_note, &r);
	buf_adds(&out, l->json != NULL ? "]}\n" : "");
	fputs(buf_str(&out), stdout);
	buf_free(&out);
	buf_free(&server);
}

int
command_status(const struct options *o, char **why)
{
	struct listing l = { .json = o->json ? document_new_list() : NULL };
	char only[STORE_NAME_BYTES], *folder = NULL;
	struct import_config import;
	struct url url = { 0 };
	char **unset;
	int status = 1;

	if ((l.loop = setup_loop(why)) == NULL)
		return 1;
	setup_log(o, LEVEL_WARN);
	setup_warn(o);
	unset = setup_unset(o);
	if (o->url != NULL) {
		stored_name(o, only);
		l.only = only;
		(void)url_parse(&url, o->url);
		setup_import(&import, o, &url, &folder);
		if (o->profile == NULL)
			l.import = &import;
	}
	l.store = setup_store(l.loop, o, (const char *const *)unset, false,
	    why);
	if (l.store != NULL) {
		if (l.only != NULL)
			stored_find_provider(l.loop, l.store, url.text,
			    o->profile, only);
		status = list_store(&l, o);
		print_running(&l, url.text);
	}
	json_object_put(l.json);
	free(folder);
	url_free(&url);
	store_free(l.store);
	loop_free(l.loop);
	string_list_free(unset);
	return status;
}
