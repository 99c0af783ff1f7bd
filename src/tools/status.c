/* "mcpsplice status" and "mcpsplice logout". */
#include "config.h"

#include "auth/claims.h"

#include "auth/assertion.h"
#include "os/place.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/bounds.h"
#include "base/codec.h"
#include "base/log.h"
#include "core/wire/json.h"
#include "core/wire/redact.h"
#include "os/place.h"
#include "proxy/cache/process_note.h"
#include "proxy/cache/startup_cache.h"
#include "signin/account.h"
#include "signin/client_messages.h"
#include "signin/id_token.h"
#include "tools/command.h"
#include "tools/probe.h"

/* What the processes that run, and those that have ended, tell of themselves. */

struct running {
	struct buf *out;
	const char *server; /* of this one only, with all its troubles; NULL:
			     * what runs, with the last trouble of each */
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
	struct buf text = { 0 };

	(void)json_string(json_get(note, name), &text);
	codec_visible(out, buf_span(&text), SIZE_MAX);
	buf_free(&text);
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

/* Appends what the processes that hosts started tell of themselves: for people,
 * or as the elements of a JSON array. server: its URL without secrets; then
 * processes that have ended are told of, too, if they had trouble. NULL: all
 * servers. */
static void
command_running(struct buf *out, const char *server, bool json)
{
	struct running r = { .out = out, .server = server, .json = json };

	process_notes_each(os_place(OS_PLACE_DATA), add_note, &r);
}

/* --- the store, with the loop run until it has answered --- */

/* What it answered. */
struct answer {
	struct loop *loop;
	bool there;
	struct record record;
	char *why; /* for users; NULL: nothing went wrong */
};

static void
answer_free(struct answer *a)
{
	record_free(&a->record);
	free(a->why);
}

static void
on_record(const struct record *r, const char *why, void *arg)
{
	struct answer *a = arg;

	a->there = r != NULL;
	if (r != NULL)
		record_copy(&a->record, r);
	a->why = string_copy(why);
	loop_stop(a->loop, 0);
}

static void
on_done(const char *why, void *arg)
{
	struct answer *a = arg;

	a->why = string_copy(why);
	loop_stop(a->loop, 0);
}

/* Reads a record into a, to be freed with answer_free. */
static void
read_record(struct answer *a, struct loop *l, struct store *s, const char *name)
{
	*a = (struct answer){ .loop = l };
	store_get(s, name, on_record, a);
	loop_run(l);
}

/* --- status --- */

enum { FIELD_BYTES = 512 };

struct listing {
	struct loop *loop;
	struct store *store;
	char (*names)[STORE_NAME_BYTES];
	size_t n;
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

static const char *
source_name(enum client_source source)
{
	static const char *const names[] = { "given", "metadata document",
		"registered", "from mcp-remote" };

	return names[source];
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

/* Is this the record of a sign-in at an identity provider? */
static bool
is_provider(const struct record *r, const char *name)
{
	char own[STORE_NAME_BYTES];

	if (r->issuer == NULL || r->client.id == NULL)
		return false;
	managed_name(own, r->issuer, r->client.id, r->profile);
	return strcmp(own, name) == 0;
}

static void
print_record(const struct listing *l, const struct record *r, bool provider)
{
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
		printf("            (%s)\n", source_name(r->client.source));
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
	struct answer a;
	const struct record *r = &a.record;
	bool headed;

	read_record(&a, l->loop, l->store, name);
	if (a.why != NULL) {
		l->unread++;
		fprintf(stderr, "mcpsplice: %s\n", a.why);
	}
	/* A record with neither only tells that the user signed out. */
	headed = a.there && r->url != NULL &&
	    (r->token.access != NULL || r->client.id != NULL);
	if (headed) {
		print_record(l, r, is_provider(r, name));
		l->good += r->token.access != NULL;
	} else if (!a.there && a.why == NULL) {
		headed = print_import(l);
	}
	if (l->json == NULL)
		headed = print_pending(l, name, headed) || headed;
	l->shown += headed;
	answer_free(&a);
}

static bool
on_name(const char *name, void *arg)
{
	struct listing *l = arg;
	size_t i;

	if (l->only != NULL && strcmp(l->only, name) != 0)
		return true;
	if (strlen(name) >= STORE_NAME_BYTES)
		return true;
	for (i = 0; i < l->n; i++)
		if (strcmp(l->names[i], name) == 0)
			return true;
	l->names = xrealloc(l->names, (l->n + 1) * sizeof *l->names);
	memcpy(l->names[l->n++], name, strlen(name) + 1);
	return true;
}

/* Finds the name of the server's record in the store. Returns 0, or -1 with
 * *why. */
static int
name_of(const struct options *o, char name[STORE_NAME_BYTES], char **why)
{
	struct url url;

	if (url_parse(&url, o->url) != URL_OK)
		return fail_why(why, "\"%s\" is not a URL", o->url);
	store_name(name, url.text, o->profile);
	url_free(&url);
	return 0;
}

/* Sets name to that of the record of an identity provider at this URL, if no MCP
 * server has a record under name: "status" shows it under that. Runs the loop.
 * Returns whether there is one. */
static bool
find_provider_name(struct loop *loop, struct store *store, const char *url,
    const char *profile, char name[STORE_NAME_BYTES])
{
	struct listing l = { .loop = loop, .store = store }; /* of all */
	struct answer a;
	bool found = false;
	size_t i;

	if (store_stamp(store, name) != 0)
		return false;
	store_list(store, on_name, &l);
	for (i = 0; i < l.n && !found; i++) {
		/* That it cannot be read is told when it is listed. */
		read_record(&a, loop, store, l.names[i]);
		found = a.there && is_provider(&a.record, l.names[i]) &&
		    string_eq(a.record.url, url) &&
		    string_eq(a.record.profile, profile);
		if (found)
			memcpy(name, l.names[i], strlen(l.names[i]) + 1);
		answer_free(&a);
	}
	free(l.names);
	return found;
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
	size_t i;

	if (l->only != NULL)
		on_name(l->only, l);
	else
		store_list(l->store, on_name, l);
	for (i = 0; i < l->n; i++)
		list_record(l, l->names[i]);
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

	if (url != NULL)
		redact_path(&server, span_of(url), "...");
	if (l->json != NULL) {
		buf_adds(&out, "{\"sign_ins\":");
		document_print(l->json, &out);
		buf_adds(&out, ",\"processes\":[");
	}
	command_running(&out, url != NULL ? buf_str(&server) : NULL,
	    l->json != NULL);
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
	if (o->url != NULL && name_of(o, only, why) == 0) {
		l.only = only;
		(void)url_parse(&url, o->url);
		setup_import(&import, o, &url, &folder);
		if (o->profile == NULL)
			l.import = &import;
	}
	if (*why == NULL &&
	    (l.store = setup_store(l.loop, o, (const char *const *)unset, false,
		 why)) != NULL) {
		if (l.only != NULL)
			find_provider_name(l.loop, l.store, url.text,
			    o->profile, only);
		status = list_store(&l, o);
		print_running(&l, url.text);
	}
	json_object_put(l.json);
	free(l.names);
	free(folder);
	url_free(&url);
	store_free(l.store);
	loop_free(l.loop);
	string_list_free(unset);
	return status;
}

/* --- logout --- */

enum { END_MS = 5000 }; /* for a sign-in to end */

struct leaving {
	struct account account;
	char name[STORE_NAME_BYTES];
	bool provider; /* it is an identity provider that is left */
	struct record record;
	int lock, login_lock;
	bool was_there;
	bool imports; /* mcp-remote has tokens too */
	char *why;
};

static void
on_time(void *arg)
{
	loop_stop(arg, 0);
}

static void
wait_ms(struct loop *l, int64_t ms)
{
	struct loop_timer *timer = loop_timer_new(l, on_time, l);

	loop_timer_set(timer, ms);
	loop_run(l);
	loop_timer_free(timer);
}

/* Erases the record. If mcp-remote has tokens, a record without token and
 * client remains, because an empty store would take over those tokens again. */
static void
erase(struct leaving *v)
{
	struct account *a = &v->account;
	struct answer answer = { .loop = a->loop };

	if (!v->imports) {
		store_erase(a->store, v->name, on_done, &answer);
	} else {
		record_free(&v->record);
		record_init(&v->record);
		v->record.url = xstrdup(a->url.text);
		store_put(a->store, v->name, &v->record, on_done, &answer);
	}
	loop_run(a->loop);
	v->why = answer.why;
}

/* Notes whether mcp-remote has tokens; they are left in its folder. */
static void
look_at_import(struct leaving *v)
{
	char *from = NULL, *why = NULL;
	struct record r = { 0 };

	if (v->account.login.import != NULL &&
	    import_tokens(&r, v->account.login.import, &from, &why)) {
		v->imports = true;
		log_warn(
		    "mcp-remote's tokens stay in %s, but mcpsplice no longer "
		    "uses them",
		    from);
	}
	record_free(&r);
	free(from);
	free(why);
}

/* Makes the proof of our client, if it has one. Returns false if it cannot be
 * made, which is told. */
static bool
prove(const struct leaving *v, char **assertion)
{
	const struct record *r = &v->record;
	const struct assertion_key *key = v->provider ?
	    v->account.provider.key :
	    v->account.client_key;
	char *why = NULL;

	*assertion = NULL;
	if (r->client.method != CLIENT_JWT)
		return true;
	if (key != NULL)
		*assertion = assertion_make(key, r->client.id,
		    r->issuer != NULL ? r->issuer : r->token_endpoint, NULL,
		    (int64_t)time(NULL), &why);
	if (*assertion != NULL)
		return true;
	fprintf(stderr,
	    "mcpsplice: the token was only removed here, not revoked: %s\n",
	    why != NULL     ? why :
		v->provider ? "revoking it needs --idp-key" :
			      "revoking it needs --client-key");
	free(why);
	return false;
}

/* Revokes one token at the authorization server. */
static bool
revoke(struct leaving *v, const char *token, bool is_refresh)
{
	struct client_request form = { 0 };
	struct fetch_request f = {
		.url = v->record.revocation_endpoint,
		.content_type = "application/x-www-form-urlencoded",
		.headers = &form.headers,
	};
	struct fetch_answer a;
	char *assertion;

	if (token == NULL)
		return true;
	if (!prove(v, &assertion))
		return false;
	client_revoke(&form, &v->record, token, is_refresh, assertion);
	free(assertion);
	f.body = buf_span(&form.form);
	if (fetch_wait(v->account.fetcher, &f, NULL, &a)) {
		if (a.status < 200 || a.status >= 300)
			fprintf(stderr,
			    "mcpsplice: the authorization server did not "
			    "revoke the token (%s); it was only removed here\n",
			    a.why != NULL ? a.why : "it refused");
		fetch_answer_free(&a);
	}
	client_request_free(&form);
	return true;
}

/* The refresh token first, because it lives longer. */
static void
revoke_both(struct leaving *v)
{
	const struct record *r = &v->record;

	if (r->revocation_endpoint != NULL && r->client.id != NULL &&
	    revoke(v, r->token.refresh, true))
		revoke(v, r->token.access, false);
}

/* Has the token lock. */
static void
leave(struct leaving *v)
{
	struct account *a = &v->account;
	struct answer answer;

	read_record(&answer, a->loop, a->store, v->name);
	if (store_found_newer(a->store)) {
		v->why = string_copy(answer.why);
		answer_free(&answer);
		return;
	}
	look_at_import(v);
	/* A broken record would block the next sign-in, so it is erased. */
	if (answer.why != NULL)
		fprintf(stderr,
		    "mcpsplice: %s: the record was removed, but no token was "
		    "revoked\n",
		    answer.why);
	if (answer.there)
		record_copy(&v->record, &answer.record);
	v->was_there = answer.why != NULL ||
	    (answer.there ? v->record.token.access != NULL ||
			v->record.client.id != NULL :
			    v->imports);
	if (answer.why == NULL)
		revoke_both(v);
	answer_free(&answer);
	erase(v);
}

/* Asks the sign-in to end, and once more if its process has written its URL
 * after that: it did not look before. */
static bool
ask_for_end(struct leaving *v, bool asked)
{
	struct store *s = v->account.store;
	struct pending p;
	bool again;

	store_pending(s, v->name, &p);
	again = p.url != NULL;
	pending_free(&p);
	return (asked && !again) || store_end_pending(s, v->name) == 0;
}

/* Ends the sign-in that waits for its user, if there is one: if it were
 * finished later, it would sign in again. The process that holds the lock looks
 * for its end each second. The lock is kept, so that no other sign-in
 * begins. */
static void
end_sign_in(struct leaving *v)
{
	struct account *a = &v->account;
	int64_t until = loop_now(a->loop) + END_MS;
	bool asked = false, more = true, busy;

	for (;;) {
		v->login_lock = store_lock(a->store, STORE_LOGIN, v->name);
		busy = v->login_lock < 0 && errno == EWOULDBLOCK;
		if (!busy || !more || loop_now(a->loop) >= until)
			break;
		more = ask_for_end(v, asked);
		asked = true;
		wait_ms(a->loop, STORE_POLL_MS);
	}
	if (busy)
		fprintf(stderr,
		    "mcpsplice: a sign-in is still under way and could not "
		    "be stopped; if you finish it, you are signed in again\n");
	else if (asked)
		printf("The sign-in that was waiting for you was cancelled.\n");
}

/* Waits for the token lock: a refresh of another copy would bring the token
 * back afterwards. Returns whether it is had. */
static bool
lock_token(struct leaving *v)
{
	struct account *a = &v->account;
	int64_t until = loop_now(a->loop) + BOUND_TOKEN_LOCK_MS;

	for (;;) {
		v->lock = store_lock(a->store, STORE_TOKEN, v->name);
		if (v->lock >= 0)
			return true;
		if (errno != EWOULDBLOCK || loop_now(a->loop) >= until)
			break;
		wait_ms(a->loop, STORE_POLL_MS);
	}
	if (errno != EWOULDBLOCK)
		v->why = xasprintf("cannot use the token store %s: %s",
		    os_place_shown(STORE_BELOW), strerror(errno));
	else
		v->why = xstrdup("another mcpsplice is taking too long to "
				 "get a token");
	return false;
}

/* Asks the MCP server for its address, which can decide whether the
 * authorization server may be asked. A server that cannot be reached counts as
 * one on the internet. */
static void
find_peer(struct leaving *v)
{
	struct account *a = &v->account;
	struct probe p = { 0 };
	char *why = NULL;

	if (v->provider || !setup_needs_peer(a->options, &a->url) ||
	    (!store_has_helper(a->store) &&
		store_stamp(a->store, v->name) == 0))
		return;
	if (probe_send(&p, a->loop, a->options, &a->url, &why) == 0)
		account_set_peer(a, p.peer);
	else
		log_info("%s", why);
	probe_free(&p);
	free(why);
}

/* What the user calls by its URL may be an identity provider. */
static void
find_provider(struct leaving *v)
{
	struct account *a = &v->account;

	v->provider = find_provider_name(a->loop, a->store, a->url.text,
	    a->options->profile, v->name);
	if (!v->provider)
		return;
	/* The user named it, wherever it is. */
	fetcher_free(a->fetcher);
	a->fetcher = fetcher_new(a->loop, a->http, ADDRESS_PUBLIC, true);
}

int
command_logout(const struct options *o, char **why)
{
	struct leaving v = { .lock = -1, .login_lock = -1 };
	struct account *a = &v.account;
	struct loop *l = setup_loop(why);
	int status = 1;

	if (l == NULL)
		return 1;
	setup_log(o, LEVEL_WARN);
	setup_warn(o);
	if (account_init(a, l, o, NULL, why) == 0 && a->store != NULL &&
	    name_of(o, v.name, why) == 0) {
		find_provider(&v);
		find_peer(&v);
		end_sign_in(&v);
		if (lock_token(&v))
			leave(&v);
		*why = v.why;
		status = v.why != NULL;
		if (status == 0)
			startup_cache_forget(os_place(OS_PLACE_DATA),
			    a->url.host);
		if (status == 0)
			printf(v.was_there ? "Signed out of %s.\n" :
					     "Not signed in to %s.\n",
			    url_authority(&a->url));
	} else if (*why == NULL) {
		*why = xstrdup(a->store_why);
	}
	store_unlock(v.lock);
	store_unlock(v.login_lock);
	record_free(&v.record);
	account_free(a);
	loop_free(l);
	return status;
}
