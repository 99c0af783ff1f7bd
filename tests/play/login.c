/* Plays the order of a login; README has what only it has. It does what the
 * shell does with a record. The order waits where it waits, so with each input
 * it is begun anew and gets all inputs so far; what it did before is not told
 * again. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bounds.h"
#include "play/login_parts.h"
#include "play/play.h"
#include "play/words.h"

enum { TEXT = 64, WALL = 1700000000 };

#define COUNT(list) (sizeof(list) / sizeof *(list))

/* What a record is, for the reducer. */
struct stored {
	struct login_facts facts;
	char token[TEXT], issuer[TEXT];
};

struct came {
	char *line;
	int64_t now;
};

struct own {
	struct play *play;
	struct login_wish config;
	char rejected[TEXT];
	struct login login;
	struct stored record, store;
	struct stored record_was, store_was; /* at the beginning */
	char found_issuer[TEXT];
	struct came *list;
	size_t n, at;
	int64_t now;
	bool over;      /* all inputs are taken */
	char *line;     /* the input, which the order borrows from */
	struct buf out; /* all that was done */
	size_t told;    /* so many bytes of it */
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
};

/* --- words --- */

/* Seconds since 1970. */
static int64_t
wall(const struct own *own)
{
	return WALL + own->now / 1000;
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
	else if (strcmp(name, "lasts") == 0)
		x->lasts = on;
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
place_word(struct own *own, const char *word)
{
	struct login_facts *x = &own->record.facts;
	bool on = word[0] != '-';
	const char *name = word + !on, *value;

	if (strcmp(name, "guessed") == 0) {
		x->guessed = on;
	} else if (strcmp(name, "listed") == 0) {
		x->listed = on;
	} else if (strcmp(name, "registers") == 0) {
		x->registers = on;
	} else if (strcmp(name, "documents") == 0) {
		x->documents = on;
	} else if (strcmp(name, "devices") == 0) {
		x->devices = on;
	} else if (strcmp(name, "pkce-untold") == 0) {
		x->pkce_untold = on;
	} else if (strcmp(name, "openid") == 0) {
		x->openid = on;
	} else if ((value = words_value(word, "found")) != NULL) {
		x->found = true;
		snprintf(own->found_issuer, TEXT, "%s", value);
	} else if (words_number(word, "failed", &x->failed_at)) {
		x->failed_at = wall(own) - x->failed_at;
	} else if (words_number(word, "third-tab", &x->third_tab)) {
		x->third_tab = wall(own) - x->third_tab;
	} else {
		return false;
	}
	return true;
}

static bool
input_word(const struct own *own, struct login_input *in, const char *word)
{
	int64_t n;

	if (strcmp(word, "shown") == 0)
		in->shown = true;
	else if (strcmp(word, "soon") == 0)
		in->soon = true;
	else if (words_number(word, "stamp", &n))
		in->stamp = (uint64_t)n;
	else if (words_number(word, "random", &n))
		in->random = (unsigned)n;
	else if (words_number(word, "tab", &n))
		in->tab_at = wall(own) - n;
	else
		return words_number(word, "life", &in->life_s) ||
		    words_number(word, "interval", &in->interval_s) ||
		    words_number(word, "again", &in->again_ms);
	return true;
}

/* --- options --- */

static bool
option_flag(struct login_wish *c, const char *word)
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
		{ "secret", &c->secret_given, true },
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
	struct login_wish *c = &own->config;
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
	    words_number(word, "timeout", &c->timeout_ms) ||
	    words_number(word, "retry", &c->retry_ms);
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
tell_end(struct buf *b, const struct login_result *r)
{
	static const char *const ends[] = { "done", "interactive", "later",
		"failed", "unreached", "identity", "unasked", "stopped" };

	buf_addf(b, "end %s", ends[r->end]);
	if (r->again_ms >= 0)
		buf_addf(b, " again=%lld", (long long)r->again_ms);
	if (r->why != NULL)
		buf_addf(b, " %s", r->why);
	buf_addc(b, '\n');
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
perform(struct own *own, const struct login_action *a)
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
		r->facts.failed_at = wall(own);
		break;
	case DO_NOTE_SUCCESS:
		r->facts.failed_at = 0;
		break;
	default:
		break;
	}
}

static void
act(const struct login_action *a, void *arg)
{
	struct own *own = arg;

	if (own->over)
		return;
	tell(&own->out, a);
	perform(own, a);
}

static void wait_for_input(struct login *g, void *arg);

/* Plays it from its beginning, with all inputs so far. */
static void
play_all(struct own *own)
{
	const struct login_player player = { act, wait_for_input, own };
	struct login_result r;

	own->record = own->record_was;
	own->store = own->store_was;
	own->found_issuer[0] = '\0';
	own->at = 0;
	own->over = false;
	buf_reset(&own->out);
	login_parts_begin(&own->login, &own->config, &player);
	r = login_flow(&own->login);
	if (!own->over)
		tell_end(&own->out, &r);
	if (own->at < own->n)
		play_is_wrong(own->play, "the login has ended");
	login_parts_end(&own->login);
	buf_add(&own->play->out, own->out.p + own->told,
	    own->out.n - own->told);
	own->told = own->out.n;
}

/* --- a life --- */

static void
begin(struct play *p)
{
	struct own *own = xcalloc(1, sizeof *own);
	struct login_wish *c = &own->config;

	c->may_ask = c->shared = c->has_browser = true;
	c->timeout_ms = BOUND_LOGIN_TIMEOUT_MS;
	own->play = p;
	own->record_was.facts.has_scopes = true;
	own->store_was = own->record_was;
	buf_init(&own->out, 0);
	p->own = own;
}

static void
start(struct play *p)
{
	struct own *own = p->own;

	own->now = p->now;
	play_all(own);
}

static void
forget_inputs(struct own *own)
{
	while (own->n > 0)
		free(own->list[--own->n].line);
	own->told = 0;
}

static void
end(struct play *p)
{
	struct own *own = p->own;

	forget_inputs(own);
	free(own->list);
	free(own->line);
	buf_free(&own->out);
	free(own);
}

/* The process is killed; a new one starts with what the store has. */
static void
restart(struct play *p)
{
	struct own *own = p->own;
	const struct login_facts *x = &own->record.facts;

	forget_inputs(own);
	own->record_was = (struct stored){ .facts = { .failed_at = x->failed_at,
					       .third_tab = x->third_tab } };
	own->store_was = own->store;
	start(p);
}

static int64_t
deadline(const struct play *p)
{
	(void)p;
	return ALARM_NEVER;
}

/* --- what came of an action --- */

/* What this login has discovered is kept when the record changes. */
static void
take_record(struct stored *to, const struct stored *from)
{
	struct login_facts was = to->facts, *x = &to->facts;

	*to = *from;
	x->found = was.found;
	x->guessed = was.guessed;
	x->listed = was.listed;
	x->registers = was.registers;
	x->documents = was.documents;
	x->devices = was.devices;
	x->pkce_untold = was.pkce_untold;
	x->openid = was.openid;
	x->failed_at = was.failed_at;
	x->third_tab = was.third_tab;
}

static const char *
text_or_null(const char *text)
{
	return text[0] == '\0' ? NULL : text;
}

static void
fill(struct own *own, struct login_input *in)
{
	struct login_facts *x = &own->record.facts;

	x->token = text_or_null(own->record.token);
	x->issuer = text_or_null(own->record.issuer);
	x->found_issuer = text_or_null(own->found_issuer);
	in->helper = own->config.helper;
	login_parts_fill(&own->login, x);
	in->now = own->now;
	in->wall = wall(own);
}

/* Is this a redirect although the login does not await one? */
static bool
is_too_early(const struct own *own, enum login_outcome came)
{
	return (came == CAME_CODE || came == CAME_DENIED ||
		   came == CAME_BAD_SCOPE || came == CAME_FOREIGN) &&
	    !own->login.awaits_redirect;
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
take_word(struct own *own, struct login_input *in, const char *word)
{
	if (!record_word(&own->record, word))
		return place_word(own, word) || input_word(own, in, word);
	if (in->came == CAME_LOADED)
		record_word(&own->store, word);
	return true;
}

/* OUTCOME [WORD...] [: WHY] */
static bool
outcome(struct own *own, const char *text, struct login_input *in)
{
	struct buf word;
	bool known;
	int came;

	buf_init(&word, 0);
	words_next(&text, &word);
	came = words_index(word.p, outcomes, CAME_OUTCOMES);
	*in = (struct login_input){ .came = (enum login_outcome)came,
		.again_ms = -1,
		.interval_s = -1 };
	known = came >= 0;
	if (known)
		begin_outcome(own, in->came);
	while (known && *text != ':' && words_next(&text, &word))
		known = take_word(own, in, word.p);
	buf_free(&word);
	if (!known)
		return play_is_wrong(own->play, "nothing comes like that");
	if (*text == ':')
		in->why = text + 2;
	if (in->came == CAME_SAVED && own->config.shared)
		take_record(&own->store, &own->record);
	return true;
}

static void
orphan(struct own *own)
{
	buf_addf(&own->out, "%sneeded\n",
	    login_orphan(&own->login) ? "" : "not ");
}

/* The next input that the order is told. */
static void
wait_for_input(struct login *g, void *arg)
{
	struct own *own = arg;
	struct login_input *in = &g->in;
	const struct came *c;

	for (;;) {
		*in = (struct login_input){ .came = CAME_STOPPED };
		own->over = own->over || own->at == own->n;
		if (own->over)
			break;
		c = &own->list[own->at++];
		own->now = c->now;
		free(own->line);
		own->line = xstrdup(c->line);
		if (strcmp(own->line, "orphaned") == 0)
			orphan(own);
		else if (!outcome(own, own->line, in))
			own->over = true;
		else if (is_too_early(own, in->came))
			buf_adds(&own->out, "not awaited\n");
		else
			break;
	}
	fill(own, in);
}

static bool
take_line(struct play *p, const char *line)
{
	struct own *own = p->own;

	own->list = xrealloc(own->list, (own->n + 1) * sizeof *own->list);
	own->list[own->n++] = (struct came){ xstrdup(line), p->now };
	play_all(own);
	return p->wrong == NULL;
}

static bool
input(struct play *p, const char *line, bool *bad)
{
	if (words_after(line, "! wait") != NULL)
		return false;
	if (strcmp(line, "! kill") == 0)
		restart(p);
	else
		*bad = line[0] != '<' || !take_line(p, line + 2);
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
