/*
 * Finds what a clause says about a session.
 *
 * At every word for a session (the noun) the search goes to the left (unknown
 * session, could not find that session) and to the right (session not found,
 * session has expired), past words that only join. A noun that only describes
 * another noun (session limit, session cookie) does not count. A noun with a
 * foreign qualifier (browser session) and words in quotation marks give
 * PHRASE_DOUBT. The scans are bounded, so the whole is linear.
 */
#include "config.h"

#include "core/exchange/loss_phrases.h"

#include "core/exchange/words.h"

enum sense {
	SENSE_NONE,
	SENSE_MISSING, /* a session id is required and missing */
	SENSE_BAD,     /* the session is something bad: expired */
	SENSE_ABSENT   /* the session is not something good: not found */
};

enum { STEPS = 12, STRANGERS = 4 };

static uint64_t
roles_at(const struct clause *c, size_t i)
{
	return i < c->n ? c->words[i].roles : 0;
}

static bool
is(const struct clause *c, size_t i, uint64_t roles)
{
	return (roles_at(c, i) & roles) != 0;
}

/* Does word i exist, with only white space before it? */
static bool
joined(const struct clause *c, size_t i)
{
	return i < c->n && !c->words[i].apart;
}

/* Does one of the n words from i on, or of the n words before i, have one of
 * these roles? */
static bool
near_after(const struct clause *c, size_t i, size_t n, uint64_t roles)
{
	for (; n > 0 && i < c->n; i++, n--)
		if (is(c, i, roles))
			return true;
	return false;
}

static bool
near_before(const struct clause *c, size_t i, size_t n, uint64_t roles)
{
	for (; n > 0 && i > 0; i--, n--)
		if (is(c, i - 1, roles))
			return true;
	return false;
}

/* Returns the index of the first word after the noun, past "id" and "header".
 * Returns 0 if the noun only describes the word after it. */
static size_t
noun_end(const struct clause *c, size_t i)
{
	const uint64_t others = W_FIELD | W_NAMER | W_LOGIN | W_USER | W_WORK |
	    W_PAGE | W_CONNECTION | W_INITION;
	uint64_t roles;

	for (i++; joined(c, i) && is(c, i, W_HEAD | W_TRANSPORT); i++)
		;
	roles = roles_at(c, i);
	if (joined(c, i) && (roles == 0 || (roles & others) != 0))
		return 0;
	return i;
}

/* Does "no session" mean that the session is gone? It does at the end of the
 * clause and in "no session found", "no session for ...". */
static bool
is_no_such(const struct clause *c, size_t end, bool good)
{
	if (is(c, end, W_GIVEN) && !good)
		return false;
	if (end == c->n || c->words[end].apart || good)
		return true;
	if (is(c, end, W_AUX))
		return near_after(c, end + 1, 2, W_GOOD);
	return is(c, end, W_GOOD | W_LINK | W_ID);
}

/* Is there a denial before word i: "could not find", "no longer know", "unable
 * to resume"? */
static bool
is_denied(const struct clause *c, size_t i)
{
	return near_before(c, i, 3, W_NOT | W_FAIL | W_LONGER);
}

/* Scans the words before the noun at i. Sets *strange if the noun has a foreign
 * qualifier, *named if the noun is the name of something else. */
static enum sense
look_before(const struct clause *c, size_t i, size_t end, bool *strange,
    bool *named)
{
	bool good = false, missing = false;
	size_t k, strangers = 0;

	for (k = i; k > 0 && joined(c, k) && strangers <= 2; k--) {
		if (is(c, k - 1, W_NO))
			return is_no_such(c, end, good) ? SENSE_ABSENT :
							  SENSE_MISSING;
		if (is(c, k - 1, W_NOT))
			return good ? SENSE_ABSENT : SENSE_NONE;
		if (is(c, k - 1, W_BAD))
			return SENSE_BAD;
		if (is(c, k - 1, W_FIND))
			return is_denied(c, k - 1) ? SENSE_ABSENT : SENSE_NONE;
		if (is(c, k - 1, W_MISSING | W_REQUIRED))
			missing = true;
		else if (is(c, k - 1, W_NAMER | W_FIELD))
			*named = true;
		else if (is(c, k - 1, W_GOOD))
			good = true;
		else if (is(c, k - 1, W_DET | W_ARTICLE | W_OURS | W_OR))
			continue;
		else if (roles_at(c, k - 1) != 0 &&
		    !is(c, k - 1, W_USER | W_LOGIN | W_ID))
			break;
		else {
			*strange = true;
			strangers++;
		}
	}
	return missing ? SENSE_MISSING : SENSE_NONE;
}

struct scan {
	bool denied;      /* after "not" or "no longer" */
	bool modal;       /* after "will" or "must" */
	bool loose;       /* after a link such as "with": words about the noun
			   * follow */
	size_t strangers; /* number of unknown words after the link */
	uint64_t noun;
};

enum go { GO_ON, GO_STOP, GO_BAD, GO_ABSENT, GO_MISSING };

/* Takes one word after the noun. */
static enum go
step_after(struct scan *s, uint64_t roles, bool last)
{
	const uint64_t passed = W_NOT | W_LONGER | W_NO | W_MODAL | W_AUX |
	    W_LINK | W_DET | W_OR | W_ID | W_HEAD;

	if (roles & W_GOOD && s->denied)
		return GO_ABSENT;
	if (roles & W_GOOD && s->modal && s->noun & W_HEADER)
		return GO_ABSENT; /* "must be a valid UUID": the id was ours */
	if (roles & (W_REQUIRED | W_MISSING))
		return GO_MISSING;
	if (roles & W_GIVEN && (s->modal || s->denied))
		return GO_MISSING;
	if (roles & W_SUPPORT && s->denied && s->noun & W_SESSION_ID)
		return GO_ABSENT;
	if (roles & W_BAD || (roles & W_TIMEOUT && last) ||
	    (roles & W_MISMATCH && s->noun & W_SESSION_ID))
		return s->denied || s->modal ? GO_STOP : GO_BAD;
	if (roles & W_GOOD && s->modal)
		return GO_MISSING;
	if (roles & W_GOOD)
		return GO_STOP;
	s->denied = s->denied || roles & (W_NOT | W_LONGER);
	s->modal = s->modal || roles & W_MODAL;
	s->loose = s->loose || roles & (W_LINK | W_GIVEN);
	if (roles & W_ARTICLE)
		return s->modal || s->denied ? GO_ON : GO_STOP;
	if (roles & passed)
		return GO_ON;
	return s->loose && ++s->strangers <= STRANGERS ? GO_ON : GO_STOP;
}

/* Scans the words after the noun, from word i on. Sets *at to the last word
 * that was looked at. */
static enum sense
look_after(const struct clause *c, size_t i, uint64_t noun, size_t *at)
{
	static const enum sense senses[] = { [GO_STOP] = SENSE_NONE,
		[GO_BAD] = SENSE_BAD,
		[GO_ABSENT] = SENSE_ABSENT,
		[GO_MISSING] = SENSE_MISSING };
	struct scan s = { .noun = noun };
	size_t stop = i + STEPS;
	enum go go;

	for (; i < c->n && i < stop; i++) {
		*at = i;
		if (is(c, i, W_TIMED) && is(c, i + 1, W_OUT))
			return SENSE_BAD;
		go = step_after(&s, roles_at(c, i), !joined(c, i + 1));
		if (go != GO_ON)
			return senses[go];
	}
	return SENSE_NONE;
}

/* Does "before the request completed" or the like follow word i? */
static bool
is_interrupted(const struct clause *c, size_t i)
{
	size_t k;

	for (k = i + 1; k <= i + 3 && joined(c, k); k++)
		if (is(c, k, W_BEFORE))
			return near_after(c, k + 1, 6, W_WORK);
	return false;
}

/* Returns PHRASE_WHOLE if the words from i up to the one before end are the
 * whole clause. An article, or a prefix such as "MCP error 32600:", may precede
 * them. */
static unsigned
whole(const struct clause *c, size_t i, size_t end)
{
	while (i > 0 && joined(c, i) &&
	    is(c, i - 1, W_OURS | W_DET | W_ARTICLE))
		i--;
	return end == c->n && (i == 0 || !joined(c, i)) ? PHRASE_WHOLE : 0;
}

/* Finds the two literal phrases from the noun at i: "session terminated" and
 * "invalid or expired session". */
static unsigned
literal(const struct clause *c, size_t i)
{
	if (!is(c, i, W_SESSION))
		return 0;
	if (joined(c, i + 1) && is(c, i + 1, W_TERMINATED))
		return PHRASE_TERMINATED | whole(c, i, i + 2);
	if (i >= 3 && is(c, i - 1, W_EXPIRED) && is(c, i - 2, W_OR) &&
	    is(c, i - 3, W_INVALID))
		return PHRASE_EXPIRED | whole(c, i - 3, i + 1);
	return 0;
}

/* Turns a loss into PHRASE_DOUBT: the session may be a foreign one, or the
 * words may be quoted. */
static unsigned
in_doubt(unsigned found)
{
	const unsigned lost = PHRASE_TERMINATED | PHRASE_EXPIRED | PHRASE_LOST |
	    PHRASE_UNREADY | PHRASE_EARLY;
	unsigned rest = found &
	    ~(lost | PHRASE_INTERRUPTED | PHRASE_CONNECTION | PHRASE_WHOLE);

	return found & lost ? rest | PHRASE_DOUBT : rest;
}

/* Finds what the clause says of the noun at i. */
static unsigned
of_noun(const struct clause *c, size_t i)
{
	bool strange = false, named = false;
	size_t end = noun_end(c, i), at = i;
	enum sense before, after;
	uint64_t noun;
	unsigned found;

	if (end == 0)
		return literal(c, i) != 0 ? PHRASE_DOUBT : 0;
	before = look_before(c, i, end, &strange, &named);
	if (named)
		return 0;
	noun = roles_at(c, i) | (end > i + 1 ? W_SESSION_ID : 0);
	after = look_after(c, end, noun, &at);
	if (before < SENSE_BAD && after < SENSE_BAD)
		return before + after > 0 ? PHRASE_MISSING : 0;
	if (near_before(c, i, i, W_FIELD))
		return PHRASE_MISSING;
	if (after < SENSE_BAD)
		at = end - 1;
	if (is_interrupted(c, at))
		found = PHRASE_INTERRUPTED;
	else if (literal(c, i) != 0)
		found = literal(c, i);
	else
		found = PHRASE_LOST;
	if (is(c, i, W_TRANSPORT) && before != SENSE_ABSENT &&
	    after != SENSE_ABSENT)
		strange = true;
	return strange ? in_doubt(found) : found;
}

/* Is the word at i a subject of its own? It is at the head of the clause and
 * after a word that ends a phrase, apart from words such as "the" and "mcp"
 * before it. */
static bool
is_ours(const struct clause *c, size_t i)
{
	for (; i > 0 && joined(c, i); i--)
		if (!is(c, i - 1, W_OURS | W_DET | W_ARTICLE))
			return is(c, i - 1, W_STOP | W_LINK | W_OR);
	return true;
}

/* Takes "server not initialized"; the word at i is the last one. */
static unsigned
of_initialized(const struct clause *c, size_t i)
{
	size_t k = i;

	while (k > 0 && joined(c, k) && is(c, k - 1, W_AUX))
		k--;
	if (k == 0 || !is(c, k - 1, W_NOT))
		return 0;
	for (k--; k > 0 && joined(c, k) && is(c, k - 1, W_AUX | W_HEAD); k--)
		;
	if (k == 0 || !joined(c, k))
		return PHRASE_EARLY;
	if (!is(c, k - 1, W_SUBJECT | W_NOUN))
		return 0;
	return is_ours(c, k - 1) ? PHRASE_UNREADY : PHRASE_DOUBT;
}

/* Takes "is invalid during session initialization", "received before
 * initialization"; the word at i is the last one. */
static unsigned
of_initialization(const struct clause *c, size_t i)
{
	size_t k = i;
	bool subject = false;

	for (; k > 0 && is(c, k - 1, W_DET | W_NOUN | W_OURS); k--)
		subject = subject || is(c, k - 1, W_SUBJECT | W_NOUN);
	if (k < 2 || !is(c, k - 1, W_BEFORE) ||
	    !near_before(c, k - 1, 3, W_BAD | W_NOT | W_WORK))
		return 0;
	return subject ? PHRASE_UNREADY : PHRASE_EARLY;
}

/* Takes "initialize" as a demand. */
static unsigned
of_initialize(const struct clause *c, size_t i)
{
	if (near_before(c, i, 2, W_REQUIRED))
		return PHRASE_MISSING;
	if (near_before(c, i, 10, W_FIRST) && near_before(c, i, 9, W_WORK))
		return PHRASE_UNREADY;
	if (near_before(c, i, 8, W_ONLY) && near_before(c, i, 10, W_NOUN))
		return PHRASE_MISSING;
	if (near_before(c, i, 2, W_FAIL | W_NOT))
		return 0;
	if (near_after(c, i + 1, 4, W_FIRST | W_BEFORE | W_NOUN) ||
	    near_before(c, i, 1, W_MUST | W_PLEASE))
		return PHRASE_EARLY;
	return 0;
}

static unsigned
of_reinitialize(const struct clause *c, size_t i)
{
	if (i == 0 || c->words[i].apart ||
	    is(c, i - 1, W_PLEASE | W_MODAL | W_OR))
		return near_before(c, i, 2, W_FAIL | W_NOT) ? 0 : PHRASE_LOST;
	return 0;
}

/* Takes "connection closed" and "failed to forward". */
static unsigned
of_connection(const struct clause *c, size_t i)
{
	size_t at;

	if (is(c, i, W_FORWARD))
		return near_before(c, i, 2, W_FAIL) ? PHRASE_CONNECTION : 0;
	if (is_ours(c, i) && look_after(c, i + 1, 0, &at) == SENSE_BAD)
		return PHRASE_CONNECTION;
	return 0;
}

static unsigned
of_veto(const struct clause *c, size_t i)
{
	if (is(c, i, W_NO_ROUTE))
		return PHRASE_VETO;
	if (is(c, i, W_ALREADY) &&
	    (is(c, i + 1, W_INITED | W_EXISTS) || is(c, i + 2, W_INITED)))
		return PHRASE_VETO;
	if (is(c, i, W_404) && is(c, i + 1, W_PAGE) && is(c, i + 2, W_NOT))
		return PHRASE_VETO;
	if (is(c, i, W_SUPPORT) && is(c, i + 1, W_MULTIPLE) &&
	    is(c, i + 2, W_GET))
		return PHRASE_VETO;
	return 0;
}

/* Finds that the session belongs to another user: "belongs to", "user
 * mismatch". */
static unsigned
of_owner(uint64_t all)
{
	if ((all & W_NOUN) == 0)
		return 0;
	if (all & W_OWNER)
		return PHRASE_OWNER;
	if (all & W_MATCH && all & W_USER && all & W_NOT)
		return PHRASE_OWNER;
	return 0;
}

/* The roles of the words at which of_word starts to look. */
#define ANCHORS                                                                \
	(W_NOUN | W_INITED | W_INITION | W_INIT | W_REINIT | W_CONNECTION |    \
	    W_FORWARD | W_LOGIN | W_UNINITED | W_NO_ROUTE | W_ALREADY |        \
	    W_404 | W_SUPPORT)

static unsigned
of_word(const struct clause *c, size_t i)
{
	unsigned found;

	if (!is(c, i, ANCHORS))
		return 0;
	found = of_veto(c, i);
	if (is(c, i, W_NOUN))
		found |= of_noun(c, i);
	if (is(c, i, W_NOUN) && near_after(c, i + 1, 2, W_DENIED))
		found |= PHRASE_OWNER;
	if (is(c, i, W_INITED))
		found |= of_initialized(c, i);
	if (is(c, i, W_INITION))
		found |= of_initialization(c, i);
	if (is(c, i, W_INIT))
		found |= of_initialize(c, i);
	if (is(c, i, W_REINIT))
		found |= of_reinitialize(c, i);
	if (is(c, i, W_CONNECTION | W_FORWARD))
		found |= of_connection(c, i);
	if (is(c, i, W_LOGIN))
		found |= PHRASE_LOGIN;
	if (is(c, i, W_UNINITED) && near_after(c, i + 1, 2, W_NOUN | W_SUBJECT))
		found |= PHRASE_UNREADY;
	return found;
}

struct found {
	unsigned phrases;
	size_t clauses;
};

static void
add_clause(const struct clause *c, void *arg)
{
	struct found *all = arg;
	unsigned found = 0;
	uint64_t roles = 0;
	size_t i;

	for (i = 0; i < c->n; i++) {
		found |= of_word(c, i);
		roles |= roles_at(c, i);
	}
	found |= of_owner(roles);
	all->phrases |= c->quoted ? in_doubt(found) : found;
	all->clauses++;
}

unsigned
phrases_find(struct span text)
{
	struct found found = { 0, 0 };

	words_split(text, add_clause, &found);
	if (found.clauses > 1)
		found.phrases &= ~(unsigned)PHRASE_WHOLE;
	return found.phrases;
}
