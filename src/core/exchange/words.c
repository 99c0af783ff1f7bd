/*
 * Splits text into clauses of words.
 *
 * A word is a run of letters and digits. Hyphens and underscores inside it are
 * dropped, so session-id, session_id and sessionId are one word, and
 * session_terminated is an unknown word, because it is the name of something. A
 * part of a path or URL is a name too.
 */
#include "config.h"

#include "core/exchange/words.h"

enum {
	WORD_BYTES = 24,   /* the lexicon has no longer words */
	LONG_ID = 20,      /* a word this long is an identifier */
	QUOTE_BYTES = 256, /* marks further apart are not a pair */
	OVERLAP = 16       /* words that two parts of a long clause share */
};

struct splitter {
	const char *start, *p, *end;
	struct clause clause;
	uint64_t roles;   /* of all words in this clause so far */
	uint64_t last;    /* of the last word */
	size_t words;     /* number of words in all clauses */
	const char *open; /* no apostrophe before this closes a quotation */
	bool apart;
	void (*each)(const struct clause *, void *);
	void *arg;
};

struct token {
	char text[WORD_BYTES];
	size_t n;   /* length without the cap of text */
	bool digit; /* it has a digit */
	bool lower; /* it has a lower-case letter */
	bool hump;  /* it has a capital after a small letter */
	bool joint; /* it has a hyphen or an underscore */
};

/* Starts a splitter. It leaves clause.words unset, because clause.n is 0. */
static void
start(struct splitter *s, struct span text, bool quoted,
    void (*each)(const struct clause *, void *), void *arg)
{
	s->start = s->p = text.p;
	s->end = text.p + text.n;
	s->clause.n = 0;
	s->clause.quoted = quoted;
	s->roles = s->last = 0;
	s->words = 0;
	s->open = NULL;
	s->apart = false;
	s->each = each;
	s->arg = arg;
}

static bool
is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

static bool
is_lower(char c)
{
	return c >= 'a' && c <= 'z';
}

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Bytes above 0x7F count as letters: the words of other scripts are unknown. */
static bool
is_letter(char c)
{
	return is_upper(c) || is_lower(c) || (unsigned char)c >= 0x80;
}

static bool
is_word(char c)
{
	return is_letter(c) || is_digit(c);
}

static bool
is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static bool
starts(const struct splitter *s, const char *text)
{
	size_t n = strlen(text);

	return (size_t)(s->end - s->p) >= n && memcmp(s->p, text, n) == 0;
}

/* Returns the byte at p plus i, or NUL outside of the text. */
static char
peek(const struct splitter *s, long i)
{
	if (i < s->start - s->p || i >= s->end - s->p)
		return '\0';
	return s->p[i];
}

static void
end_clause(struct splitter *s)
{
	if (s->clause.n > 0)
		s->each(&s->clause, s->arg);
	s->clause.n = 0;
	s->roles = 0;
	s->apart = false;
}

static void
push(struct splitter *s, uint64_t roles)
{
	struct clause *c = &s->clause;

	if (c->n == CLAUSE_WORDS) {
		s->each(c, s->arg);
		memmove(c->words, c->words + CLAUSE_WORDS - OVERLAP,
		    OVERLAP * sizeof *c->words);
		c->n = OVERLAP;
	}
	c->words[c->n++] = (struct word){ roles, s->apart };
	s->roles |= roles;
	s->last = roles;
	s->words++;
	s->apart = false;
}

static void
add_char(struct token *t, char c)
{
	if (t->n < WORD_BYTES)
		t->text[t->n] = is_upper(c) ? (char)(c - 'A' + 'a') : c;
	t->n++;
}

/* Returns the number of bytes at p if they join two parts of a word, else 0. */
static size_t
joint_bytes(const struct splitter *s)
{
	switch (*s->p) {
	case '-':
	case '_':
		return is_word(peek(s, 1)) ? 1 : 0;
	case '\'':
		return is_letter(peek(s, 1)) ? 1 : 0;
	case '\xE2':
		return starts(s, "\xE2\x80\x99") && is_letter(peek(s, 3)) ? 3 :
									    0;
	default:
		return 0;
	}
}

/* Is there a no-break space at p? */
static bool
is_wide_space(const struct splitter *s)
{
	return *s->p == '\xC2' && peek(s, 1) == '\xA0';
}

/* Is there general punctuation at p, such as a dash or a quotation mark? */
static bool
is_punctuation(const struct splitter *s)
{
	return *s->p == '\xE2' && peek(s, 1) == '\x80';
}

static void
read_token(struct splitter *s, struct token *t)
{
	size_t joint;
	char c;

	t->n = 0;
	t->digit = t->lower = t->hump = t->joint = false;
	for (; s->p < s->end; s->p++) {
		c = *s->p;
		if (is_lower(c)) {
			t->lower = true;
		} else if (is_digit(c)) {
			t->digit = true;
		} else if (is_upper(c)) {
			t->hump = t->hump || is_lower(peek(s, -1));
		} else {
			joint = joint_bytes(s);
			if (joint > 0) {
				t->joint = t->joint || c == '_' || c == '-';
				s->p += joint - 1;
				continue;
			}
			if (!is_letter(c) || is_punctuation(s) ||
			    is_wide_space(s))
				return;
		}
		add_char(t, c);
	}
}

/* Is the word from start to p a part of a path or of an expression? */
static bool
is_part(const struct splitter *s, const char *start)
{
	char before = start == s->start ? '\0' : start[-1];
	char after = peek(s, 0);

	if (before != '\0' && strchr("/.&?#@$+%~", before) != NULL)
		return true;
	if (after == '/' || after == '.')
		return is_word(peek(s, 1));
	return after == '(';
}

static uint64_t
token_roles(const struct splitter *s, const struct token *t, const char *start)
{
	uint64_t roles = 0;

	if (t->n <= WORD_BYTES)
		roles = words_roles(t->text, t->n);
	if ((roles & W_NOUN) != 0 && is_part(s, start))
		return W_ID;
	if (roles == 0 && (t->digit || t->hump || t->n >= LONG_ID))
		return W_ID;
	return roles;
}

/*
 * Is the token an error code? It is if it is the whole text, or stands at the
 * start before a colon, or is all in capitals: SESSION_NOT_FOUND,
 * SessionExpiredError.
 */
static bool
is_code(const struct splitter *s, const struct token *t)
{
	long i = 0;

	if (!t->joint && !t->hump)
		return false;
	if (t->joint && !t->lower && (s->roles & (W_NAMER | W_FIELD)) == 0)
		return true;
	while (is_space(peek(s, i)) || peek(s, i) == '\n')
		i++;
	return s->words == 0 &&
	    (s->p + i == s->end || (i == 0 && *s->p == ':'));
}

/* Reports the words of an error code as a clause of their own. */
static void
say_code(const struct splitter *s, const char *from)
{
	struct token t = { .n = 0 };
	struct splitter in;
	const char *p;

	start(&in, (struct span){ from, (size_t)(s->p - from) },
	    s->clause.quoted, s->each, s->arg);
	for (p = from; p < s->p; p++) {
		if (!is_word(*p) ||
		    (p > from && is_upper(*p) && is_lower(p[-1]))) {
			push(&in, words_roles(t.text, t.n));
			t.n = 0;
		}
		if (is_word(*p) && t.n < WORD_BYTES)
			add_char(&t, *p);
	}
	push(&in, words_roles(t.text, t.n));
	end_clause(&in);
}

static void
pass_url(struct splitter *s)
{
	while (s->p < s->end && (unsigned char)*s->p > ' ' && *s->p != '"' &&
	    *s->p != '\'' && *s->p != '>' && *s->p != '<')
		s->p++;
	push(s, W_ID);
}

static void
take_word(struct splitter *s)
{
	const char *from = s->p;
	struct token t;

	read_token(s, &t);
	if (starts(s, "://")) {
		pass_url(s);
		return;
	}
	if (is_code(s, &t))
		say_code(s, from);
	push(s, token_roles(s, &t, from));
}

/* Returns the mark that closes the quotation opened at p, or NULL. A search for
 * an apostrophe that fails is remembered, so that no later one repeats it. */
static const char *
closing(struct splitter *s)
{
	const char *p = s->p + 1, *end = s->end;
	char mark = *s->p;

	if (end - p > QUOTE_BYTES)
		end = p + QUOTE_BYTES;
	if (mark == '\'' && s->open != NULL && s->open > p)
		p = s->open;
	while (p < end && (p = memchr(p, mark, (size_t)(end - p))) != NULL) {
		if (mark != '\'' || p + 1 == s->end || !is_word(p[1]))
			return p;
		p++;
	}
	if (mark == '\'')
		s->open = end;
	return NULL;
}

static void take(struct splitter *s);

/* Takes a quotation: its words are clauses of their own, and it counts as one
 * word of the clause around it. */
static void
take_quoted(struct splitter *s)
{
	const char *close = closing(s);
	uint64_t roles = W_ID;
	struct splitter in;

	if (close == NULL) {
		s->apart = true;
		s->p++;
		return;
	}
	if ((s->roles & (W_NAMER | W_FIELD)) == 0) {
		start(&in,
		    (struct span){ s->p + 1, (size_t)(close - s->p) - 1 }, true,
		    s->each, s->arg);
		while (in.p < in.end)
			take(&in);
		end_clause(&in);
		if (in.words == 1 && (in.last & (W_INIT | W_HEADER)) != 0)
			roles = in.last;
	}
	s->apart = s->apart || roles == W_ID;
	push(s, roles);
	s->apart = roles == W_ID;
	s->p = close + 1;
}

/* Does the clause end at p? A dot inside a word does not end it. */
static bool
is_end(const struct splitter *s)
{
	if (*s->p == '.')
		return !is_word(peek(s, 1)) || is_upper(peek(s, 1));
	return strchr(";!?\n{}", *s->p) != NULL;
}

static bool
is_quote(const struct splitter *s)
{
	return !s->clause.quoted &&
	    (*s->p == '"' || *s->p == '\'' || *s->p == '`');
}

/* A backslash and a letter stand for a control character, as in escaped
 * text. */
static bool
is_escape(const struct splitter *s)
{
	char c = peek(s, 1);

	return *s->p == '\\' && (c == 'n' || c == 'r' || c == 't');
}

static void
take(struct splitter *s)
{
	if ((unsigned char)*s->p < 0x80 && is_word(*s->p)) {
		take_word(s);
	} else if (is_space(*s->p)) {
		s->p++;
	} else if (is_punctuation(s)) {
		s->apart = true;
		s->p += s->end - s->p > 2 ? 3 : 2;
	} else if (is_wide_space(s)) {
		s->p += 2;
	} else if (is_word(*s->p)) {
		take_word(s);
	} else if (is_quote(s)) {
		take_quoted(s);
	} else if (*s->p == '/' && is_word(peek(s, 1)) &&
	    !is_word(peek(s, -1))) {
		pass_url(s);
	} else if (is_escape(s)) {
		end_clause(s);
		s->p += 2;
	} else {
		if (*s->p != '\0' && is_end(s))
			end_clause(s);
		else
			s->apart = true;
		s->p++;
	}
}

void
words_split(struct span text,
    void (*each)(const struct clause *clause, void *arg), void *arg)
{
	struct splitter s;

	if (text.n == 0)
		return;
	start(&s, text, false, each, arg);
	while (s.p < s.end)
		take(&s);
	end_clause(&s);
}

static void
find_english(const struct clause *c, void *arg)
{
	const uint64_t english = W_DET | W_MODAL | W_NOT | W_FAIL | W_LONGER |
	    W_BAD | W_FIND | W_REQUIRED | W_MISSING | W_GIVEN | W_FIELD |
	    W_ALREADY | W_SUPPORT | W_ONLY;
	bool *found = arg;
	size_t i;

	for (i = 0; i < c->n && !c->quoted; i++)
		*found = *found || (c->words[i].roles & english) != 0;
}

bool
words_are_english(struct span text)
{
	bool found = false;

	words_split(text, find_english, &found);
	return found;
}
