/* Plays the session; README has the options. */
#include "config.h"

#include "play/session.h"

#include <stdlib.h>

#include "base/bounds.h"
#include "play/words.h"

struct own {
	struct session_config config;
	struct session *session;
};

/* --- options --- */

void
session_defaults(struct session_config *c)
{
	*c = (struct session_config){
		.host = "mcp.test",
		.version = "0",
		.prefix = "mine",
		.init_timeout_ms = BOUND_INIT_TIMEOUT_MS,
		.retry_window_ms = 20 * 1000,
		.call_timeout_ms = BOUND_CALL_TIMEOUT_MS,
		.drain_timeout_ms = BOUND_DRAIN_TIMEOUT_MS,
		.max_inflight = 256,
		.max_held = 1 << 20,
		.max_bodies = 1 << 20,
		.replay = REPLAY_SAFE,
	};
}

static bool
option_time(struct session_config *c, const char *word)
{
	return words_number(word, "init", &c->init_timeout_ms) ||
	    words_number(word, "window", &c->retry_window_ms) ||
	    words_number(word, "call", &c->call_timeout_ms) ||
	    words_number(word, "drain", &c->drain_timeout_ms) ||
	    words_number(word, "ping", &c->ping_interval_ms);
}

static bool
option_size(struct session_config *c, const char *word)
{
	int64_t n;

	if (words_number(word, "inflight", &n))
		c->max_inflight = (size_t)n;
	else if (words_number(word, "held", &n))
		c->max_held = (size_t)n;
	else if (words_number(word, "bodies", &n))
		c->max_bodies = (size_t)n;
	else if (words_number(word, "result", &n))
		c->max_result = (size_t)n;
	else
		return false;
	return true;
}

static bool
option_replay(struct session_config *c, const char *word)
{
	static const char *const names[] = { "never", "refused", "safe" };
	const char *value = words_value(word, "replay");
	int i = value == NULL ? -1 : words_index(value, names, 3);

	if (i >= 0)
		c->replay = (enum replay)i;
	return i >= 0;
}

static bool
option_start(struct session_config *c, const char *word)
{
	static const char *const names[] = { "auto", "wait", "stand-in",
		"instant", "once" };
	const char *value = words_value(word, "start");
	int i = value == NULL ? -1 : words_index(value, names, 5);

	if (i >= 0)
		c->start = (enum session_start)i;
	return i >= 0;
}

/* Each filter has the patterns that play/README names. */
static bool
option_filter(struct session_config *c, const char *word)
{
	static const char *const ignore[] = { "delete*", "*Secret?" };
	static const char *const only[] = { "get_*", "list", "delete_one" };

	if (strcmp(word, "ignore-tools") == 0) {
		c->filter.ignore = ignore;
		c->filter.n_ignore = 2;
	} else if (strcmp(word, "only-tools") == 0) {
		c->filter.only = only;
		c->filter.n_only = 3;
	} else if (strcmp(word, "read-only") == 0) {
		c->filter.read_only = true;
	} else {
		return false;
	}
	return true;
}

bool
session_option(struct play *p, struct session_config *c, const char *word)
{
	if (strcmp(word, "handshake") == 0) {
		c->handshake = true;
	} else if (strcmp(word, "fail") == 0) {
		c->fail = true;
	} else if (strcmp(word, "in-results") == 0) {
		c->rules.in_results = true;
	} else if (strcmp(word, "cache") == 0) {
		c->cached_start = true;
		p->tells |= TELLS_CACHE;
	} else {
		return option_time(c, word) || option_size(c, word) ||
		    option_replay(c, word) || option_start(c, word) ||
		    option_filter(c, word);
	}
	return true;
}

/* --- the reducer --- */

static void
begin(struct play *p)
{
	struct own *own = xcalloc(1, sizeof *own);

	session_defaults(&own->config);
	p->own = own;
}

static bool
option(struct play *p, const char *word)
{
	struct own *own = p->own;

	return session_option(p, &own->config, word);
}

static void
start(struct play *p)
{
	struct own *own = p->own;

	own->session = session_new(&own->config);
}

static void
end(struct play *p)
{
	struct own *own = p->own;

	session_free(own->session);
	free(own);
}

static bool
step(struct play *p, struct event *in)
{
	struct own *own = p->own;

	session_step(own->session, in);
	return true;
}

PLAY_CALLS(session)

const struct reducer play_session = {
	.name = "session",
	.ends_at_once = true,
	.begin = begin,
	.option = option,
	.start = start,
	.free = end,
	.step = step,
	.next = next,
	.deadline = deadline,
	.describe = describe,
};

/* --- for explorers --- */

const struct session_config *
session_played(const struct play *p)
{
	const struct own *own = p->own;

	return &own->config;
}

size_t
session_held(const struct play *p)
{
	const char *at, *end;
	size_t held = 0;
	struct buf page;

	buf_init(&page, 0);
	describe(p, &page);
	end = strstr(buf_str(&page), " bytes held back");
	for (at = end; at != NULL && at > page.p && at[-1] != ' '; at--)
		;
	if (at != NULL)
		held = strtoul(at, NULL, 10);
	buf_free(&page);
	return held;
}
