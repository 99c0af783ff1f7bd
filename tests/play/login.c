/* Plays the reducer of a login; README has what only it has. It does what the
 * shell does with a record. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/bounds.h"
#include "core/login/login.h"
#include "play/play.h"
#include "play/words.h"

enum { TEXT = 64, WALL = 1700000000 };

#define COUNT(list) (sizeof(list) / sizeof *(list))

/* What a record is, for the reducer. */
struct stored {
	struct login_facts facts;
	char token[TEXT], issuer[TEXT];
};

struct own {
	struct login_flow_config config;
	char rejected[TEXT];
	struct login_flow *flow;
	struct stored record, store;
	char found_issuer[TEXT];
};

static const char *const outcomes[CAME_OUTCOMES] = {
	[CAME_DONE] = "done",
	[CAME_TIME] = "time",
	[CAME_LOADED] = "loaded",
	[CAME_BROKEN] = "broken",
	[CAME_LOCKED] = "locked",
	[CAME_BUSY] = "busy",
	[CAME_SAVED] = "saved",
	[CAME_UNKEPT] = "unkept",
	[CAME_FOUND] = "found",
	[CAME_NOT_NOW] = "not-now",
	[CAME_LOOKED] = "looked",
	[CAME_UNABLE] = "unable",
	[CAME_IMPOSSIBLE] = "impossible",
	[CAME_UNREADY] = "unready",
	[CAME_UNREACHED] = "unreached",
	[CAME_LOST] = "lost",
	[CAME_TOKEN] = "token",
	[CAME_DEAD_GRANT] = "dead-grant",
	[CAME_DEAD_CLIENT] = "dead-client",
	[CAME_PENDING] = "pending",
	[CAME_SLOW_DOWN] = "slow-down",
	[CAME_TRANSIENT] = "transient",
	[CAME_REFUSED] = "refused",
	[CAME_REGISTERED] = "registered",
	[CAME_BAD_REDIRECT] = "bad-redirect",
	[CAME_NO_DOCUMENT] = "no-document",
	[CAME_CODE_SHOWN] = "code-shown",
	[CAME_NO_IDENTITY] = "no-identity",
	[CAME_CODE] = "code",
	[CAME_DENIED] = "denied",
	[CAME_BAD_SCOPE] = "bad-scope",
	[CAME_FOREIGN] = "foreign",
	[CAME_TIMEOUT] = "timeout",
	[CAME_CANCELLED] = "cancelled",
	[CAME_BROWSER_FAILED] = "browser-failed",
	[CAME_ORPHANED] = "orphaned",
};

static const char *const actions[DO_ACTIONS] = {
	[DO_WAIT] = "wait",
	[DO_LOAD] = "load",
	[DO_DISCOVER] = "discover",
	[DO_ADOPT] = "adopt",
	[DO_SAVE] = "save",
	[DO_FORGET] = "forget",
	[DO_LOCK_TOKEN] = "lock token",
	[DO_LOCK_LOGIN] = "lock login",
	[DO_LOCK_TAB] = "lock tab",
	[DO_WATCH] = "watch",
	[DO_CLEAR] = "clear",
	[DO_COUNT_FAILURE] = "count failure",
	[DO_LISTEN] = "listen",
	[DO_TAKE_GIVEN] = "take given",
	[DO_TAKE_DOCUMENT] = "take document",
	[DO_REGISTER] = "register",
	[DO_REGISTER_BY_NAME] = "register by name",
	[DO_REFRESH] = "refresh",
	[DO_CREDENTIALS] = "credentials",
	[DO_AUTHORIZE] = "authorize",
	[DO_OPEN] = "open",
	[DO_EXCHANGE] = "exchange",
	[DO_DEVICE] = "device",
	[DO_POLL] = "poll",
	[DO_TIMEOUT] = "timeout",
	[DO_TIMEOUT_OFF] = "timeout off",
	[DO_UNLOCK_TOKEN] = "unlock token",
	[DO_UNLOCK_TAB] = "unlock tab",
	[DO_OPEN_FOR_OTHER] = "open for other",
	[DO_CLOSE_BROWSER] = "close browser",
	[DO_CLOSE_LISTENER] = "close listener",
	[DO_NOTE_SUCCESS] = "note success",
	[DO_NOTE_FAILURE] = "note failure",
	[DO_LOG] = "",
	[DO_END] = "end",
};

/* --- words --- */

/* Seconds since 1970. */
static int64_t
wall(const struct play *p)
{
	return WALL + p->now / 1000;
}

/* One of a record: usable, -usable, token=PROOF ... */
static bool
record_word(struct stored *r, const char *word)
{
	static const char *const clients[] = { "none", "given", "document",
		"registered", "imported" };
	bool on = word[0] != '-';
	const char *name = word + !on, *value;
	struct login_facts *x = &r->facts;
	int client;

	if (strcmp(name, "usable") == 0)
		x->usable = on;
	else if (strcmp(name, "scopes") == 0)
		x->has_scopes = on;
	else if (strcmp(name, "refresh") == 0)
		x->refresh = on;
	else if (strcmp(name, "endpoint") == 0)
		x->endpoint = on;
	else if (strcmp(name, "as-given") == 0)
		x->client_as_given = on;
	else if (strcmp(name, "redirect") == 0)
		x->client_redirect = on;
	else if ((value = words_value(word, "token")) != NULL)
		snprintf(r->token, sizeof r->token, "%s", value);
	else if ((value = words_value(word, "issuer")) != NULL)
		snprintf(r->issuer, sizeof r->issuer, "%s", value);
	else if ((value = words_value(word, "client")) != NULL &&
	    (client = words_index(value, clients, COUNT(clients))) >= 0)
		x->client = (enum login_client)client;
	else
		return words_number(word, "expires", &x->client_expires) ||
		    words_number(word, "failures", &x->client_failures);
	return true;
}

/* What was discovered, and what the copy before noted: no restart forgets
 * that but a new login finds it out anew. */
static bool
place_word(const struct play *p, struct own *own, const char *word)
{
	struct login_facts *x = &own->record.facts;
	bool on = word[0] != '-';
	const char *name = word + !on, *value;

	if (strcmp(name, "guessed") == 0) {
		x->guessed = on;
	} else if (strcmp(name, "registers") == 0) {
		x->registers = on;
	} else if (strcmp(name, "documents") == 0) {
		x->documents = on;
	} else if (strcmp(name, "devices") == 0) {
		x->devices = on;
	} else if ((value = words_value(word, "found")) != NULL) {
		x->found = true;
		snprintf(own->found_issuer, TEXT, "%s", value);
	} else if (words_number(word, "failed", &x->failed_at)) {
		x->failed_at = wall(p) - x->failed_at;
	} else if (words_number(word, "third-tab", &x->third_tab)) {
		x->third_tab = wall(p) - x->third_tab;
	} else {
		return false;
	}
	return true;
}

static bool
input_word(const struct play *p, struct login_input *in, const char *word)
{
	int64_t n;

	if (strcmp(word, "shown") == 0)
		in->shown = true;
	else if (words_number(word, "stamp", &n))
		in->stamp = (uint64_t)n;
	else if (words_number(word, "random", &n))
		in->random = (unsigned)n;
	else if (words_number(word, "tab", &n))
		in->tab_at = wall(p) - n;
	else
		return words_number(word, "life", &in->life_s) ||
		    words_number(word, "interval", &in->interval_s) ||
		    words_number(word, "again", &in->again_ms);
	return true;
}

/* --- options --- */

static bool
option_flag(struct login_flow_config *c, const char *word)
{
	struct {
		const char *name;
		bool *flag, is;
	} flags[] = {
		{ "nobody", &c->may_ask, false },
		{ "force", &c->force, true },
		{ "unasked", &c->unasked, true },
		{ "alone", &c->shared, false },
		{ "helper", &c->helper, true },
		{ "given", &c->client_given, true },
		{ "document", &c->client_document, true },
		{ "issuer-given", &c->issuer_given, true },
		{ "assertion", &c->assertion, true },
		{ "device-first", &c->device_first, true },
		{ "no-browser", &c->has_browser, false },
	};
	size_t i;

	for (i = 0; i < COUNT(flags); i++)
		if (strcmp(word, flags[i].name) == 0) {
			*flags[i].flag = flags[i].is;
			return true;
		}
	return false;
}

static bool
option(struct play *p, const char *word)
{
	static const char *const modes[] = { "browser", "device",
		"credentials" };
	static const char *const reasons[] = { "none", "expired", "rejected",
		"scope" };
	struct own *own = p->own;
	struct login_flow_config *c = &own->config;
	const char *value;
	int i;

	if ((value = words_value(word, "mode")) != NULL) {
		i = words_index(value, modes, COUNT(modes));
		c->mode = (enum login_mode)i;
		return i >= 0;
	}
	if ((value = words_value(word, "reason")) != NULL) {
		i = words_index(value, reasons, COUNT(reasons));
		c->reason = (enum login_reason)i;
		return i >= 0;
	}
	if ((value = words_value(word, "rejected")) != NULL) {
		snprintf(own->rejected, TEXT, "%s", value);
		c->rejected = own->rejected;
		return true;
	}
	return option_flag(c, word) ||
	    words_number(word, "timeout", &c->timeout_ms);
}

/* --- what comes --- */

static void
forget(struct stored *r, enum login_forget what)
{
	if (what == FORGET_NOTHING)
		return;
	r->token[0] = '\0';
	r->facts.usable = r->facts.refresh = false;
	if (what == FORGET_TOKEN)
		return;
	r->facts.client = LOGIN_CLIENT_NONE;
	r->facts.client_as_given = false;
	r->facts.client_expires = r->facts.client_failures = 0;
}

static void
tell_end(struct buf *b, const struct login_action *a)
{
	static const char *const ends[] = { "done", "interactive", "later",
		"failed", "unreached", "identity", "unasked" };

	buf_addf(b, " %s", ends[a->end]);
	if (a->again_ms >= 0)
		buf_addf(b, " again=%lld", (long long)a->again_ms);
	if (a->text != NULL)
		buf_addf(b, " %s", a->text);
}

static void
tell(struct buf *b, const struct login_action *a)
{
	static const char *const forgets[] = { "", " token", " client" };

	buf_adds(b, actions[a->kind]);
	switch (a->kind) {
	case DO_WAIT:
	case DO_TIMEOUT:
		buf_addf(b, " %lld", (long long)a->ms);
		break;
	case DO_DISCOVER:
		if (a->ms != 90000)
			buf_addf(b, " %lld", (long long)a->ms);
		buf_adds(b, a->interactive ? " interactive" : "");
		break;
	case DO_LISTEN:
		buf_adds(b, a->again ? " again" : "");
		break;
	case DO_LOG:
		buf_addf(b, "%s %s", a->level == LEVEL_WARN ? "warn" : "note",
		    a->text);
		break;
	case DO_END:
		tell_end(b, a);
		break;
	case DO_FORGET:
		buf_adds(b, forgets[a->forget]);
		break;
	default:
		if (a->forget != FORGET_NOTHING)
			buf_addf(b, " forget%s", forgets[a->forget]);
	}
	buf_addc(b, '\n');
}

/* Does with the record what the action says. */
static void
perform(const struct play *p, struct own *own, const struct login_action *a)
{
	struct stored *r = &own->record;

	forget(r, a->forget);
	switch (a->kind) {
	case DO_ADOPT:
		snprintf(r->issuer, TEXT, "%s", own->found_issuer);
		r->facts.endpoint = true;
		break;
	case DO_COUNT_FAILURE:
		r->facts.client_failures++;
		break;
	case DO_TAKE_GIVEN:
		r->facts.client = LOGIN_CLIENT_GIVEN;
		r->facts.client_as_given = true;
		break;
	case DO_TAKE_DOCUMENT:
		r->facts.client = LOGIN_CLIENT_DOCUMENT;
		break;
	case DO_NOTE_FAILURE:
		r->facts.failed_at = wall(p);
		break;
	case DO_NOTE_SUCCESS:
		r->facts.failed_at = 0;
		break;
	default:
		break;
	}
}

static void
take_actions(struct play *p)
{
	struct own *own = p->own;
	struct login_action a;

	while (login_flow_next(own->flow, &a)) {
		tell(&p->out, &a);
		perform(p, own, &a);
	}
}

/* --- a life --- */

static void
begin(struct play *p)
{
	struct own *own = xcalloc(1, sizeof *own);
	struct login_flow_config *c = &own->config;

	c->may_ask = c->shared = c->has_browser = true;
	c->timeout_ms = BOUND_LOGIN_TIMEOUT_MS;
	c->host = "mcp.test";
	own->record.facts.has_scopes = true;
	own->store = own->record;
	p->own = own;
}

static void
start(struct play *p)
{
	struct own *own = p->own;

	own->flow = login_flow_new(&own->config);
	take_actions(p);
}

static void
end(struct play *p)
{
	struct own *own = p->own;

	login_flow_free(own->flow);
	free(own);
}

/* The process ends, and begins anew with what the store has. */
static void
restart(struct play *p)
{
	struct own *own = p->own;
	struct stored *r = &own->record;

	login_flow_free(own->flow);
	*r = (struct stored){ .facts = { .failed_at = r->facts.failed_at,
				  .third_tab = r->facts.third_tab } };
	own->found_issuer[0] = '\0';
	start(p);
}

static int64_t
deadline(const struct play *p)
{
	(void)p;
	return ALARM_NEVER;
}

/* --- what came of an action --- */

/* What is found out in this login stays as the record changes. */
static void
take_record(struct stored *to, const struct stored *from)
{
	struct login_facts was = to->facts, *x = &to->facts;

	*to = *from;
	x->found = was.found;
	x->guessed = was.guessed;
	x->registers = was.registers;
	x->documents = was.documents;
	x->devices = was.devices;
	x->failed_at = was.failed_at;
	x->third_tab = was.third_tab;
}

static const char *
text_or_null(const char *text)
{
	return text[0] == '\0' ? NULL : text;
}

static void
report(struct play *p, struct login_input *in)
{
	struct own *own = p->own;
	struct login_facts *x = &own->record.facts;
	bool redirect = in->came == CAME_CODE || in->came == CAME_DENIED ||
	    in->came == CAME_BAD_SCOPE || in->came == CAME_FOREIGN;

	x->token = text_or_null(own->record.token);
	x->issuer = text_or_null(own->record.issuer);
	x->found_issuer = text_or_null(own->found_issuer);
	in->facts = x;
	in->now = p->now;
	in->wall = wall(p);
	if (redirect && !login_flow_awaits_redirect(own->flow)) {
		buf_adds(&p->out, "not awaited\n");
		return;
	}
	login_flow_step(own->flow, in);
	take_actions(p);
	if (in->came == CAME_ORPHANED)
		buf_addf(&p->out, "%sneeded\n",
		    login_flow_is_needed(own->flow) ? "" : "not ");
}

/* What an outcome says of the record by itself. */
static void
begin_outcome(struct own *own, enum login_outcome came)
{
	struct login_facts *x = &own->record.facts;

	if (came == CAME_LOADED && own->config.shared)
		take_record(&own->record, &own->store);
	if (came == CAME_REGISTERED) {
		forget(&own->record, FORGET_CLIENT);
		x->client = LOGIN_CLIENT_REGISTERED;
		x->client_redirect = true;
	}
	if (came == CAME_TOKEN) {
		x->usable = true;
		x->client_failures = 0;
	}
}

static bool
take_word(struct play *p, struct login_input *in, const char *word)
{
	struct own *own = p->own;

	if (!record_word(&own->record, word))
		return place_word(p, own, word) || input_word(p, in, word);
	if (in->came == CAME_LOADED)
		record_word(&own->store, word);
	return true;
}

/* OUTCOME [WORD...] [: WHY] */
static bool
outcome(struct play *p, const char *text)
{
	struct login_input in = { .again_ms = -1, .interval_s = -1 };
	struct own *own = p->own;
	struct buf word;
	bool known;
	int came;

	buf_init(&word, 0);
	words_next(&text, &word);
	came = words_index(word.p, outcomes, CAME_OUTCOMES);
	in.came = (enum login_outcome)came;
	known = came >= 0;
	if (known)
		begin_outcome(own, in.came);
	while (known && *text != ':' && words_next(&text, &word))
		known = take_word(p, &in, word.p);
	buf_free(&word);
	if (!known)
		return play_is_wrong(p, "nothing comes like that");
	if (*text == ':')
		in.why = text + 2;
	if (in.came == CAME_SAVED && own->config.shared)
		take_record(&own->store, &own->record);
	report(p, &in);
	return true;
}

static bool
input(struct play *p, const char *line, bool *bad)
{
	if (words_after(line, "! wait") != NULL)
		return false;
	if (strcmp(line, "! kill") == 0)
		restart(p);
	else
		*bad = line[0] != '<' || !outcome(p, line + 2);
	return true;
}

const struct reducer play_login = {
	.name = "login",
	.begin = begin,
	.option = option,
	.start = start,
	.free = end,
	.deadline = deadline,
	.input = input,
};
