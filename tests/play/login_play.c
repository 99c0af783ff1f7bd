/* The player of login_play.h. */
#include "config.h"

#include "play/login_play.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit/unit.h"

enum { TEXT = 64, WALL = 1700000000 };

/* What a record is, for the reducer. */
struct stored {
	struct login_facts facts;
	char token[TEXT], issuer[TEXT];
};

struct login_play {
	struct login_flow_config config;
	char rejected[TEXT];
	struct login_flow *flow;
	struct stored record, store;
	char found_issuer[TEXT];
	int64_t now;
	const char *told; /* by the player itself */
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
	[CAME_CODE] = "code",
	[CAME_DENIED] = "denied",
	[CAME_FOREIGN] = "foreign",
	[CAME_TIMEOUT] = "timeout",
	[CAME_BROWSER_FAILED] = "browser-failed",
	[CAME_ORPHANED] = "orphaned",
};

static const char *const actions[DO_ACTIONS] = {
	[DO_WAIT] = "wait",
	[DO_LOAD] = "load",
	[DO_DISCOVER] = "discover",
	[DO_ADOPT] = "adopt",
	[DO_SAVE] = "save",
	[DO_FORGET] = "",
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

/* The number of a name in a list, or -1. */
static int
find(const char *const *names, int n, const char *name)
{
	int i;

	for (i = 0; i < n; i++)
		if (names[i] != NULL && strcmp(names[i], name) == 0)
			return i;
	return -1;
}

/* "NAME=VALUE": the value; NULL: it is another name. */
static const char *
value_of(const char *word, const char *name)
{
	size_t n = strlen(name);

	return strncmp(word, name, n) == 0 && word[n] == '=' ? word + n + 1 :
							       NULL;
}

static bool
set_number(const char *word, const char *name, int64_t *to)
{
	const char *value = value_of(word, name);

	if (value != NULL)
		*to = strtoll(value, NULL, 10);
	return value != NULL;
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
	else if ((value = value_of(word, "token")) != NULL)
		snprintf(r->token, sizeof r->token, "%s", value);
	else if ((value = value_of(word, "issuer")) != NULL)
		snprintf(r->issuer, sizeof r->issuer, "%s", value);
	else if ((value = value_of(word, "client")) != NULL &&
	    (client = find(clients, COUNT(clients), value)) >= 0)
		x->client = (enum login_client)client;
	else
		return set_number(word, "expires", &x->client_expires) ||
		    set_number(word, "failures", &x->client_failures);
	return true;
}

/* What was discovered, and what the copy before noted: no restart forgets
 * that but a new login finds it out anew. */
static bool
place_word(struct login_play *p, const char *word)
{
	struct login_facts *x = &p->record.facts;
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
	} else if ((value = value_of(word, "found")) != NULL) {
		x->found = true;
		snprintf(p->found_issuer, sizeof p->found_issuer, "%s", value);
	} else if (set_number(word, "failed", &x->failed_at)) {
		x->failed_at = WALL + p->now / 1000 - x->failed_at;
	} else if (set_number(word, "third-tab", &x->third_tab)) {
		x->third_tab = WALL + p->now / 1000 - x->third_tab;
	} else {
		return false;
	}
	return true;
}

static bool
input_word(struct login_input *in, const char *word)
{
	int64_t n;

	if (strcmp(word, "shown") == 0)
		in->shown = true;
	else if (set_number(word, "stamp", &n))
		in->stamp = (uint64_t)n;
	else if (set_number(word, "random", &n))
		in->random = (unsigned)n;
	else
		return set_number(word, "life", &in->life_s) ||
		    set_number(word, "interval", &in->interval_s) ||
		    set_number(word, "again", &in->again_ms);
	return true;
}

static bool
option_word(struct login_play *p, const char *word)
{
	static const char *const modes[] = { "browser", "device",
		"credentials" };
	static const char *const reasons[] = { "none", "expired", "rejected",
		"scope" };
	struct login_flow_config *c = &p->config;
	const char *value;

	if ((value = value_of(word, "mode")) != NULL)
		c->mode = (enum login_mode)find(modes, COUNT(modes), value);
	else if ((value = value_of(word, "reason")) != NULL)
		c->reason = (enum login_reason)find(reasons, COUNT(reasons),
		    value);
	else if ((value = value_of(word, "rejected")) != NULL)
		snprintf(p->rejected, sizeof p->rejected, "%s", value);
	else if (strcmp(word, "nobody") == 0)
		c->may_ask = false;
	else if (strcmp(word, "force") == 0)
		c->force = true;
	else if (strcmp(word, "alone") == 0)
		c->shared = false;
	else if (strcmp(word, "helper") == 0)
		c->helper = true;
	else if (strcmp(word, "given") == 0)
		c->client_given = true;
	else if (strcmp(word, "document") == 0)
		c->client_document = true;
	else if (strcmp(word, "issuer-given") == 0)
		c->issuer_given = true;
	else if (strcmp(word, "no-browser") == 0)
		c->has_browser = false;
	else
		return set_number(word, "timeout", &c->timeout_ms);
	return true;
}

/* The next word of a line, until a ":"; false: there is none. */
static bool
next_word(const char **at, char word[TEXT])
{
	size_t n;

	*at += strspn(*at, " ");
	n = strcspn(*at, " ");
	if (n == 0 || **at == ':')
		return false;
	ck_assert_uint_lt(n, TEXT);
	snprintf(word, TEXT, "%.*s", (int)n, *at);
	*at += n;
	return true;
}

/* --- the shell --- */

struct login_play *
login_play_new(const char *options)
{
	struct login_play *p = xcalloc(1, sizeof *p);
	char word[TEXT];

	p->config.may_ask = p->config.shared = p->config.has_browser = true;
	p->config.timeout_ms = 300000;
	p->config.host = "mcp.test";
	while (next_word(&options, word))
		ck_assert_msg(option_word(p, word), "no option: %s", word);
	if (p->rejected[0] != '\0')
		p->config.rejected = p->rejected;
	p->record.facts.has_scopes = true;
	p->store = p->record;
	p->now = 1000000;
	p->flow = login_flow_new(&p->config);
	return p;
}

void
login_play_free(struct login_play *p)
{
	login_flow_free(p->flow);
	free(p);
}

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
report(struct login_play *p, struct login_input *in)
{
	struct login_facts *x = &p->record.facts;

	x->token = p->record.token[0] == '\0' ? NULL : p->record.token;
	x->issuer = p->record.issuer[0] == '\0' ? NULL : p->record.issuer;
	x->found_issuer = p->found_issuer[0] == '\0' ? NULL : p->found_issuer;
	in->facts = x;
	in->now = p->now;
	in->wall = WALL + p->now / 1000;
	if ((in->came == CAME_CODE || in->came == CAME_DENIED ||
		in->came == CAME_FOREIGN) &&
	    !login_flow_awaits_redirect(p->flow)) {
		p->told = "not awaited";
		return;
	}
	login_flow_step(p->flow, in);
	if (in->came == CAME_ORPHANED)
		p->told = login_flow_is_needed(p->flow) ? "needed" :
							  "not needed";
}

/* What an outcome says of the record by itself. */
static void
begin_outcome(struct login_play *p, enum login_outcome came)
{
	struct login_facts *x = &p->record.facts;

	if (came == CAME_LOADED && p->config.shared)
		take_record(&p->record, &p->store);
	if (came == CAME_REGISTERED) {
		forget(&p->record, FORGET_CLIENT);
		x->client = LOGIN_CLIENT_REGISTERED;
		x->client_redirect = true;
	}
	if (came == CAME_TOKEN) {
		x->usable = true;
		x->client_failures = 0;
	}
}

static bool
outcome(struct login_play *p, const char *line)
{
	struct login_input in = { .again_ms = -1, .interval_s = -1 };
	char word[TEXT];
	bool known;
	int came;

	if (!next_word(&line, word) ||
	    (came = find(outcomes, CAME_OUTCOMES, word)) < 0)
		return false;
	in.came = (enum login_outcome)came;
	begin_outcome(p, in.came);
	while (next_word(&line, word)) {
		known = record_word(&p->record, word);
		if (known && in.came == CAME_LOADED)
			record_word(&p->store, word);
		if (!known && !place_word(p, word) && !input_word(&in, word))
			return false;
	}
	if (*line == ':')
		in.why = line + 2;
	if (in.came == CAME_SAVED && p->config.shared)
		take_record(&p->store, &p->record);
	report(p, &in);
	return true;
}

bool
login_play_input(struct login_play *p, const char *line)
{
	const struct stored none = {
		.facts = { .failed_at = p->record.facts.failed_at,
		    .third_tab = p->record.facts.third_tab }
	};

	if (strcmp(line, "! kill") == 0) {
		login_flow_free(p->flow);
		p->record = none;
		p->found_issuer[0] = '\0';
		p->flow = login_flow_new(&p->config);
		return true;
	}
	if (strncmp(line, "! clock ", 8) == 0) {
		p->now += strtoll(line + 8, NULL, 10);
		return true;
	}
	return line[0] == '<' && outcome(p, line + 1);
}

/* --- what comes --- */

static void
add_end(struct buf *line, const struct login_action *a)
{
	static const char *const ends[] = { "done", "interactive", "later",
		"failed" };

	buf_addf(line, " %s", ends[a->end]);
	if (a->again_ms >= 0)
		buf_addf(line, " again=%lld", (long long)a->again_ms);
	if (a->text != NULL)
		buf_addf(line, " %s", a->text);
}

static void
add_forget(struct buf *line, enum login_forget what)
{
	if (what != FORGET_NOTHING)
		buf_addf(line, "%sforget %s", line->n == 0 ? "" : " ",
		    what == FORGET_TOKEN ? "token" : "client");
}

static void
add_parameters(struct buf *line, const struct login_action *a)
{
	switch (a->kind) {
	case DO_WAIT:
	case DO_TIMEOUT:
		buf_addf(line, " %lld", (long long)a->ms);
		break;
	case DO_DISCOVER:
		ck_assert_int_eq(a->ms, 90000);
		buf_adds(line, a->interactive ? " interactive" : "");
		break;
	case DO_LISTEN:
		buf_adds(line, a->again ? " again" : "");
		break;
	case DO_LOG:
		buf_addf(line, "%s %s",
		    a->level == LEVEL_WARN ? "warn" : "info", a->text);
		break;
	case DO_END:
		add_end(line, a);
		break;
	default:
		add_forget(line, a->forget);
	}
}

/* Does with the record what the action says. */
static void
perform(struct login_play *p, const struct login_action *a)
{
	struct stored *r = &p->record;

	forget(r, a->forget);
	switch (a->kind) {
	case DO_ADOPT:
		snprintf(r->issuer, sizeof r->issuer, "%s", p->found_issuer);
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
		r->facts.failed_at = WALL + p->now / 1000;
		break;
	case DO_NOTE_SUCCESS:
		r->facts.failed_at = 0;
		break;
	default:
		break;
	}
}

bool
login_play_take(struct login_play *p, struct buf *line)
{
	struct login_action a;

	if (!login_flow_next(p->flow, &a)) {
		if (p->told == NULL)
			return false;
		buf_adds(line, p->told);
		p->told = NULL;
		return true;
	}
	buf_adds(line, actions[a.kind]);
	add_parameters(line, &a);
	perform(p, &a);
	return true;
}
