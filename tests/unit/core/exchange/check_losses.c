/*
 * Every answer that was seen in the field (data/session-loss.tsv) and every
 * near miss (data/near-misses.tsv) is judged: a lost session is found, in
 * whatever words, and what only looks like one is left alone.
 */
#include "config.h"

#include "core/exchange/verdict.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/wire/msg.h"
#include "unit/unit.h"

static const struct verdict_rules no_rules = { NULL, 0, false };

static const char *const verdict_names[] = { [VERDICT_ANSWER] = "answer",
	[VERDICT_LOST] = "lost",
	[VERDICT_LOST_MAYBE] = "lost_maybe",
	[VERDICT_WORDS] = "words",
	[VERDICT_GATE] = "gate",
	[VERDICT_SUSPECT] = "suspect",
	[VERDICT_UNREADY] = "unready",
	[VERDICT_RETRY] = "retry",
	[VERDICT_FAIL] = "fail" };

/* The rows of a file in data/. */

enum column {
	COL_ID,
	COL_WHO,
	COL_VERSION,
	COL_SITUATION,
	COL_VERB,
	COL_STATUS,
	COL_TYPE,
	COL_BODY,
	COL_LOSS,
	COL_SOURCE,
	COL_NOTE,
	COL_VERDICT,
	COL_DECISION,
	COLUMNS
};

struct rows {
	char *text;
	char *cell[256][COLUMNS];
	int n;
};

static struct rows field, near;

static char *
read_file(const char *name)
{
	const char *srcdir = getenv("srcdir");
	char *path = xasprintf("%s/data/%s", srcdir == NULL ? "." : srcdir,
	    name);
	FILE *f = fopen(path, "r");
	struct buf b;
	char piece[4096];
	size_t n;

	if (f == NULL) {
		fprintf(stderr, "%s: cannot open\n", path);
		exit(1);
	}
	buf_init(&b, 0);
	while ((n = fread(piece, 1, sizeof piece, f)) > 0)
		buf_add(&b, piece, n);
	fclose(f);
	free(path);
	return buf_take(&b);
}

static void
load(struct rows *r, const char *name)
{
	char *line, *next, *tab;
	int c;

	r->text = read_file(name);
	for (line = strchr(r->text, '\n') + 1; *line != '\0'; line = next) {
		next = strchr(line, '\n');
		*next++ = '\0';
		for (c = 0; c < COLUMNS; c++) {
			tab = strchr(line, '\t');
			if ((tab == NULL) != (c == COLUMNS - 1)) {
				fprintf(stderr, "%s: %s: columns\n", name,
				    line);
				exit(1);
			}
			r->cell[r->n][c] = line;
			if (tab != NULL) {
				*tab = '\0';
				line = tab + 1;
			}
		}
		r->n++;
	}
}

static void
add_times(struct buf *b, const char *text, size_t bytes)
{
	size_t start = b->n;

	while (b->n - start < bytes)
		buf_adds(b, text);
}

/* What a placeholder of the files stands for. */
static bool
add_placeholder(struct buf *b, const char **p)
{
	static const struct {
		const char *name, *text;
	} known[] = {
		{ "<request id>", "7" },
		{ "<random err id>", "\"err_GAFzOwdH\"" },
		{ "<code>", "-32000" },
		{ "<method>", "tools/call" },
		{ "<id>", "1868a90c-7a3f-4f2b-9b0d-3f6f0c5f5f10" },
		{ "<BOM>", "\xEF\xBB\xBF" },
		{ "<CR>", "\r" },
		{ "<NUL>", "\x01" },
		{ "{\xE2\x80\xA6,", "{\"cause\":null,\"stackTrace\":[]," },
	};
	static const char stack[] = "[\xE2\x80\xA6]", fill[] = "<fill:";
	const char frame[] = "{\"methodName\":\"doPost\",\"lineNumber\":1},";
	char *end;
	size_t i, bytes;

	for (i = 0; i < sizeof known / sizeof *known; i++) {
		if (strncmp(*p, known[i].name, strlen(known[i].name)) != 0)
			continue;
		buf_adds(b, known[i].text);
		if (b->p[b->n - 1] == '\x01')
			b->p[b->n - 1] = '\0';
		*p += strlen(known[i].name);
		return true;
	}
	if (strncmp(*p, stack, sizeof stack - 1) == 0) {
		buf_addc(b, '[');
		add_times(b, frame, 60 * 1024);
		b->p[b->n - 1] = ']';
		*p += sizeof stack - 1;
		return true;
	}
	if (strncmp(*p, fill, sizeof fill - 1) == 0) {
		bytes = strtoul(*p + sizeof fill - 1, &end, 10);
		add_times(b, "at x.y ", bytes);
		*p = strchr(end, '>') + 1;
		return true;
	}
	return false;
}

/* The body that a cell means. What is in parentheses describes it; of
 * several, the first one counts. */
static void
body_of(const char *cell, struct buf *b)
{
	static const char *const ends[] = { "  (", "  /", " / {", " / No" };
	const char *p, *hit, *end = cell + strlen(cell);
	bool json = *cell == '{' || *cell == '<';
	size_t i;

	buf_init(b, 0);
	if (*cell == '(')
		return;
	for (i = 0; i < sizeof ends / sizeof *ends; i++) {
		hit = strstr(cell, ends[i]);
		if (hit != NULL && hit < end)
			end = hit;
	}
	if (strncmp(cell, "event: message / data: ", 23) == 0)
		cell += 23;
	for (p = cell; p < end;) {
		if (add_placeholder(b, &p))
			continue;
		if (!json && p[0] == '\\' && p[1] == 'n') {
			buf_addc(b, '\n');
			p += 2;
			continue;
		}
		buf_addc(b, *p++);
	}
}

static struct facts
facts_of(char *const *cell, struct span body)
{
	struct facts f = { .ending = ENDING_COMPLETE,
		.sent = true,
		.had_session = true,
		.retry_after_ms = -1,
		.status = (int)strtol(cell[COL_STATUS], NULL, 10) };

	if (f.status == 0)
		f.status = 200; /* not told */
	if (strncmp(cell[COL_VERB], "GET", 3) == 0)
		f.verb = VERB_GET;
	else if (strncmp(cell[COL_VERB], "DELETE", 6) == 0)
		f.verb = VERB_DELETE;
	f.media = verdict_media(cell[COL_TYPE]);
	f.body = body;
	return f;
}

/* As a message when it is one, else bare. */
static struct ruling
judge(const struct facts *facts, bool *message)
{
	struct frame *f = frame_copy(facts->body);
	struct ruling r;
	bool hint = false;

	*message = msg_parse(f, 10) == MSG_OK && f->kind != FRAME_REQUEST &&
	    f->kind != FRAME_NOTIFICATION;
	if (!*message)
		r = verdict_bare(facts, &no_rules);
	else if (f->kind == FRAME_ERROR)
		r = verdict_error(facts, f, &no_rules);
	else
		r = verdict_result(facts, f, &no_rules, &hint);
	frame_unref(f);
	ck_assert(!hint);
	return r;
}

/* The same words must mean the same when they came as no message, for a
 * server may send them as text/plain. */
static void
check_bare(const char *id, const struct facts *facts, enum verdict want)
{
	struct ruling r = verdict_bare(facts, &no_rules);

	if (want == VERDICT_ANSWER)
		want = VERDICT_FAIL;
	ck_assert_msg(r.verdict == want, "%s as no message: %s (%s)", id,
	    verdict_names[r.verdict], r.rule);
}

static void
check_row(char *const *cell, const char *want, bool fresh)
{
	struct buf body;
	struct facts facts;
	struct ruling r;
	bool message;

	body_of(cell[COL_BODY], &body);
	facts = facts_of(cell, buf_span(&body));
	facts.fresh = fresh;
	r = judge(&facts, &message);
	ck_assert_msg(strcmp(verdict_names[r.verdict], want) == 0,
	    "%s%s: %s (%s), not %s", cell[COL_ID], fresh ? " (fresh)" : "",
	    verdict_names[r.verdict], r.rule, want);
	ck_assert(*r.rule != '\0');
	if (message && strstr(cell[COL_BODY], "\"error\"") != NULL &&
	    strcmp(r.rule, verdict_other_era) != 0)
		check_bare(cell[COL_ID], &facts, r.verdict);
	/* The verdict is the same if such a request worked before. */
	facts.worked = true;
	r = judge(&facts, &message);
	ck_assert_msg(strcmp(verdict_names[r.verdict], want) == 0,
	    "%s%s, worked before: %s (%s), not %s", cell[COL_ID],
	    fresh ? " (fresh)" : "", verdict_names[r.verdict], r.rule, want);
	/* Without a session there is none to lose, but one to want, or
	 * another server to find. */
	facts.had_session = false;
	r = judge(&facts, &message);
	ck_assert_msg(r.verdict == VERDICT_ANSWER ||
		strcmp(r.rule,
		    "the text mentions a session, but the server gave no "
		    "session id") == 0 ||
		strcmp(r.rule, verdict_elsewhere) == 0 ||
		strcmp(r.rule, verdict_other_era) == 0 ||
		r.verdict == VERDICT_FAIL || r.verdict == VERDICT_RETRY,
	    "%s without a session: %s", cell[COL_ID], r.rule);
	buf_free(&body);
}

/* "lost/unready": the second one just after a renewal of ours. */
static void
check_both(char *const *cell)
{
	char *want = xstrdup(cell[COL_VERDICT]), *fresh = strchr(want, '/');

	if (fresh != NULL)
		*fresh++ = '\0';
	else
		fresh = want;
	check_row(cell, want, false);
	check_row(cell, fresh, true);
	free(want);
}

/* Does the verdict keep to what the answer is known to mean? */
static void
check_meaning(char *const *cell, bool may_ask)
{
	const char *verdict = cell[COL_VERDICT];
	bool words = strncmp(verdict, "words", 5) == 0 ||
	    strncmp(verdict, "gate", 4) == 0 ||
	    strncmp(verdict, "lost", 4) == 0;
	bool suspect = strcmp(verdict, "suspect") == 0;

	/* Any 4xx is worth a witness, in whatever language it is. */
	may_ask |= *cell[COL_STATUS] == '4';
	if (strcmp(cell[COL_LOSS], "yes") == 0)
		ck_assert_msg(words || suspect, "%s", cell[COL_ID]);
	else if (strcmp(cell[COL_LOSS], "no") == 0)
		ck_assert_msg(!words && (!suspect || may_ask), "%s",
		    cell[COL_ID]);
	else
		ck_assert_msg(*cell[COL_DECISION] != '\0', "%s", cell[COL_ID]);
}

/* An answer to initialize is never asked whether it is a loss; only what
 * wants a session of a request without one looks like it. */
static void
check_initialize(char *const *cell)
{
	struct buf body;
	struct facts facts;
	struct ruling r;
	bool message;

	ck_assert_str_eq(cell[COL_VERB], "POST (initialize)");
	ck_assert_str_eq(cell[COL_LOSS], "no");
	body_of(cell[COL_BODY], &body);
	facts = facts_of(cell, buf_span(&body));
	facts.had_session = false;
	r = judge(&facts, &message);
	ck_assert(r.verdict != VERDICT_LOST && r.verdict != VERDICT_WORDS &&
	    r.verdict != VERDICT_GATE);
	buf_free(&body);
}

START_TEST(test_field)
{
	char *const *cell = field.cell[_i];

	if (strcmp(cell[COL_VERDICT], "initialize") == 0) {
		check_initialize(cell);
		return;
	}
	check_meaning(cell, false);
	check_both(cell);
}
END_TEST

START_TEST(test_near)
{
	char *const *cell = near.cell[_i];

	check_meaning(cell, true);
	check_both(cell);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("losses");
	TCase *tc = tcase_create("losses");
	int status;

	load(&field, "session-loss.tsv");
	load(&near, "near-misses.tsv");
	tcase_add_loop_test(tc, test_field, 0, field.n);
	tcase_add_loop_test(tc, test_near, 0, near.n);
	suite_add_tcase(s, tc);
	status = unit_run(s);
	free(field.text);
	free(near.text);
	return field.n < 156 || near.n < 60 ? EXIT_FAILURE : status;
}
