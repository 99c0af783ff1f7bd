/*
 * Finds what a text says about a session.
 *
 * A text is cut into clauses, and each clause becomes a string with one letter
 * for each word: its class. Hyphens, underscores and capitals inside a word
 * begin another word, so that SESSION_NOT_FOUND and sessionExpired are texts,
 * too. "#" stands for a number, an id or a path, "'" for quotation marks, ","
 * for other marks, "_" for any other word. The strings are held against a table
 * of regular expressions. They have no ranges, and so no locale.
 */
#include "config.h"

#include "core/exchange/loss_phrases.h"

#include <regex.h>

/* Words between blanks, and their class. */
static const struct {
	char class;
	const char *words;
} classes[] = {
	{ 'S', " session sessionid mcpsession mcpsessionid xsessionid " },
	{ 'T', " transport " },
	{ 'C', " connection " },
	{ 'c', " client mcp protocol server " },
	/* may precede the noun if the session is ours */
	{ 'a', " a an any its my our the this your " },
	{ 'o',
	    " corresponding current http new old previous remote sse "
	    "streamable such underlying upstream x " },
	{ 'g', " given provided requested specified supplied " },
	{ 'r', " and or " },
	{ 't', " that " },
	/* may follow the noun and leave its meaning */
	{ 'h',
	    " context format handle header id identifier instance object "
	    "service uuid value " },
	{ 'k',
	    " associated at by for from identified in of on presented "
	    "received referenced used using we which with you youre " },
	{ 'i',
	    " apparently appear appears are been being can could currently "
	    "did do does either fully had has is it just likely may might "
	    "now probably properly seem seems still was were yet " },
	{ 'b', " be " },
	{ 'x', " to " },
	/* what is said of it */
	{ 'B',
	    " aborted ceased cleaned closed closing dead deleted destroyed "
	    "died disappeared discarded disconnected dropped ended evicted "
	    "flushed forgotten garbage gone inactive invalidated killed "
	    "lapsed lost nonexistent obsolete outdated pruned purged reaped "
	    "recycled removed revoked shut superseded swept terminated timed "
	    "timedout unrecognised unrecognized vanished wiped " },
	{ 'U', " expired invalid stale unknown " },
	{ '9', " timeout " },
	{ 'G',
	    " accessible alive around available correspond established found "
	    "held kept known live located matched matches recognised "
	    "recognized registered resolved restored resumed stored supported "
	    "there tracked usable " },
	{ 'e', " active existing matching open valid " },
	{ 'Z', " exist exists " },
	{ 'P', " present " },
	{ 'p', " sent set " },
	{ 'F',
	    " find identify know locate lookup recognise recognize resolve "
	    "restore resume see " },
	{ 'M', " match " },
	{ 'H', " have " },
	{ 'N',
	    " arent cannot cant couldnt didnt doesnt dont hadnt hasnt havent "
	    "isnt never not wasnt wont " },
	{ 'n', " no " },
	{ 'l', " longer " },
	{ 'f', " failed unable " },
	{ 'm', " missing " },
	{ 'q',
	    " absent include mandatory need needed needs omitted require required "
	    "requires without " },
	{ 'E', " expect expected expects " },
	{ 'u', " must please should " },
	{ '1', " again first " },
	{ 'I', " initialise initialize " },
	{ 'J', " initialised initialized " },
	{ 'K', " initialisation initialization " },
	{ 'V', " uninitialised uninitialized " },
	{ 'R', " reinitialise reinitialize " },
	{ 'y', " re " },
	{ 'W', " before during prior until while " },
	{ 'w',
	    " answer call called calls complete completed completion "
	    "executing execution finished message operation processed "
	    "processing progress reply request requests response running " },
	{ 'j', " because but error exception if since when " },
	/* what is not a session */
	{ 'A',
	    " arg argument attribute column command endpoint field file "
	    "function method name named param parameter params prompt "
	    "property resource template title tool uri " },
	{ '7', " parameters " },
	{ 'z', " already " },
	{ '2', " page " },
	{ '3', " multiple " },
	{ '4', " route " },
	{ '5', " rest " },
	{ '6', " get " },
	{ '8', " forward " },
	{ 'D', " denied " },
	{ 'Q', " belong belongs mismatch owned " },
	{ 'X', " user " },
	{ 'L',
	    " authenticate cookie cookies credential credentials log logged "
	    "login logon oauth password reauthenticate sign signin sso " },
};

/* Where a sentence may begin. It does not begin at a quotation mark: what
 * follows one is someone else's. */
#define START "(^|[,jrt])"
#define OURS "[acegmortU]*"
#define NOUN "S[hT]*"
#define BAD "[BU]"
#define GOOD "[GMPZe]"
#define NOT "(N|nl)"
#define IS "[abirH]*"
/* What tells which session: its id, or "for this client". */
#define WHICH "([,'].[,'])?[#,']*([gkpPt].?.?.?.?.?)?"
#define GONE "[hT]*" WHICH IS "(" BAD "|" NOT "[abirxH]*" GOOD ")"
#define CANNOT_FIND "(N|nl|f)[ilx]*[FHM]"
/* The noun ends here: it does not describe another one. */
#define END "([#,'abceghijkprtDGHNPZ]|$)"
#define WANTED "[mqE]"
#define THING "[cCST]"

static const struct {
	unsigned phrase;
	const char *expression;
} table[] = {
	/* A name, as in "tool session": then the clause says nothing. */
	{ 0, "A('[^']?[^']?[^']?)?S|(U|no)A[,']*S" },
	/* rest_no_route; already exists; 404 page not found; multiple GET */
	{ PHRASE_VETO, "5n4|zi?[JZ]|#2NG|36" },
	{ PHRASE_INTERRUPTED,
	    "(" START OURS "S" GONE "|" BAD OURS NOUN
	    ")[^,']?[^,']?W.?.?.?.?.?w" },
	/* session not found; session timeout */
	{ PHRASE_LOST, START OURS "S(" GONE "|9([#,]|$))" },
	/* unknown session; no valid session id; no session for you */
	{ PHRASE_LOST, BAD OURS NOUN END },
	{ PHRASE_LOST, "[nN]a?[oc]*[eoG][ceo]*[ST]" },
	{ PHRASE_LOST, "nc?[ST]([#,kGiZ]|h*$)" },
	{ PHRASE_LOST, CANNOT_FIND OURS NOUN END },
	{ PHRASE_LOST, START OURS "T" WHICH IS NOT IS GOOD },
	/* Mcp-Session-Id must be a valid UUID; session id mismatch */
	{ PHRASE_LOST, "cSh+ub|ShQ" },
	/* please reinitialize; needs to re-initialize */
	{ PHRASE_LOST, "(^|[,qru]|[qH]x)(R|yI)" },
	{ PHRASE_GATE, START "(" OURS THING "[hiH]*N[bi]*|Ni*)J" },
	{ PHRASE_GATE, "V" OURS THING },
	/* received before initialization */
	{ PHRASE_GATE, "[ANUw].?.?Wx?[acoS]*[JK]" },
	/* must be "initialize"; initialize first; initialize a session */
	{ PHRASE_GATE, "(^|[buE1]w?)a?'?I|(^|[^y])I(.?.?[1W]|a[co]*S)" },
	{ PHRASE_PARAMS, "^Uw7$" },
	/* missing session id; session id must be sent */
	{ PHRASE_MISSING, "(n|" WANTED ")'?" OURS NOUN END },
	{ PHRASE_MISSING, NOUN IS "(" WANTED "|(N|ub)b?[gpP])" },
	/* browser session not found; unknown browser session */
	{ PHRASE_DOUBT,
	    "S" GONE "|(n|" BAD "|" CANNOT_FIND ")" OURS "[^,']" NOUN END },
	{ PHRASE_DOUBT, THING "[hi]*Ni*J" },
	{ PHRASE_CONNECTION, START OURS "[CT]" WHICH IS BAD "|fx8" },
	/* session denied, mismatch; user does not match ... session */
	{ PHRASE_OWNER, "S.?D|S.*Q|X.*NM.*S" },
	{ PHRASE_LOGIN, "L" },
};

enum { EXPRESSIONS = sizeof table / sizeof *table };

enum {
	CLAUSE_WORDS = 128, /* a longer clause is searched in parts */
	OVERLAP = 32,       /* words that two parts share */
	WORD_BYTES = 24     /* a longer word is an id */
};

struct clause {
	char words[CLAUSE_WORDS + 1]; /* a class for each word */
	size_t n;
	char word[WORD_BYTES + 3]; /* the word that is read */
	size_t letters;
	unsigned found;
};

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
is_word(char c)
{
	return is_upper(c) || is_lower(c) || is_digit(c);
}

/* The expressions are compiled when the first refusal comes: most processes
 * see none. */
static const regex_t *
expressions(void)
{
	static regex_t compiled[EXPRESSIONS];
	static size_t n;

	for (; n < EXPRESSIONS; n++)
		if (regcomp(&compiled[n], table[n].expression,
			REG_EXTENDED | REG_NOSUB) != 0)
			out_of_memory();
	return compiled;
}

static void
search(struct clause *c)
{
	const regex_t *e;
	size_t i;

	c->words[c->n] = '\0';
	/* Each expression wants one of these; most clauses have none. */
	if (strpbrk(c->words, "23578CIJKLRSTVz") == NULL)
		return;
	e = expressions();
	for (i = 0; i < EXPRESSIONS; i++) {
		if ((c->found & table[i].phrase) != 0 ||
		    regexec(&e[i], c->words, 0, NULL, 0) != 0)
			continue;
		if (table[i].phrase == 0)
			return;
		c->found |= table[i].phrase;
	}
}

static void
end_clause(struct clause *c)
{
	if (c->n > 0)
		search(c);
	c->n = 0;
}

static void
add(struct clause *c, char class)
{
	if (c->n > 0 && c->words[c->n - 1] == class &&
	    (class == ',' || class == '\'' || class == '#'))
		return;
	if (c->n == CLAUSE_WORDS) {
		search(c);
		memmove(c->words + 1, c->words + c->n - OVERLAP, OVERLAP);
		c->words[0] = '_'; /* no sentence begins here */
		c->n = OVERLAP + 1;
	}
	c->words[c->n++] = class;
}

/* Adds the word that is in c->word, if there is one. */
static void
add_word(struct clause *c)
{
	size_t i;

	if (c->letters == 0)
		return;
	c->word[0] = c->word[c->letters + 1] = ' ';
	c->word[c->letters + 2] = '\0';
	c->letters = 0;
	for (i = 0; i < sizeof classes / sizeof *classes; i++)
		if (strstr(classes[i].words, c->word) != NULL) {
			add(c, classes[i].class);
			return;
		}
	add(c, '_');
}

/* Is c one of these bytes? NUL is none. */
static bool
is_of(char c, const char *set)
{
	return c != '\0' && strchr(set, c) != NULL;
}

/* Does the byte at p join what is around it to one name: a path, a URL, an
 * expression? A full stop before a capital ends a sentence. */
static bool
is_glue(const char *p, const char *end)
{
	return end - p > 1 && is_of(*p, "./&#@$+%~=") &&
	    (is_word(p[1]) || p[1] == '/') && (*p != '.' || !is_upper(p[1]));
}

/* Returns the number of bytes at p that are one part of words without blanks
 * between them: a letter, a digit, a joint. 0: the words end. */
static size_t
part_bytes(const char *p, const char *end)
{
	size_t n = 1;

	if (is_word(*p) || is_glue(p, end))
		return 1;
	if (end - p > 3 && memcmp(p, "\xE2\x80\x99", 3) == 0)
		n = 3;
	else if (!is_of(*p, "-_'"))
		return 0;
	return (size_t)(end - p) > n && is_word(p[n]) ? n : 0;
}

/* Adds the words at p, up to a blank, and returns their end. */
static const char *
take_words(struct clause *c, const char *p, const char *end)
{
	const char *from = p, *stop;
	bool name = false;
	size_t n;

	for (stop = p; stop < end && (n = part_bytes(stop, end)) > 0; stop += n)
		name |= is_digit(*stop) || is_glue(stop, end);
	if (name) {
		add(c, '#');
		return stop;
	}
	for (; p < stop; p++) {
		if (is_of(*p, "-_") ||
		    (p > from && is_upper(*p) && is_lower(p[-1])))
			add_word(c);
		if (is_word(*p) && c->letters < WORD_BYTES)
			c->word[++c->letters] = is_upper(*p) ?
			    (char)(*p - 'A' + 'a') :
			    *p;
	}
	add_word(c);
	return stop;
}

unsigned
phrases_find(struct span text)
{
	const char *p = text.p, *end = text.n == 0 ? p : p + text.n;
	struct clause c;

	c.n = c.letters = 0;
	c.found = 0;
	while (p < end) {
		if (is_word(*p) || is_glue(p, end)) {
			p = take_words(&c, p, end);
			continue;
		}
		/* An escape, as in "\\n", is a control character. */
		if (*p == '\\' && end - p > 1 && is_of(p[1], "nrt")) {
			end_clause(&c);
			p++;
		} else if (is_of(*p, ".;!?{}\n")) {
			end_clause(&c);
		} else if (is_of(*p, "\"'`")) {
			add(&c, '\'');
		} else if (!is_of(*p, " \t\r")) {
			add(&c, ',');
		}
		p++;
	}
	end_clause(&c);
	return c.found;
}
