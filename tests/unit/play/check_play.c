/*
 * The player of schedules (tests/play/README): one that is right passes, and
 * one that is wrong fails, whatever is wrong with it.
 */
#include "config.h"

#include <stdlib.h>

#include "play/schedule.h"
#include "unit/unit.h"

struct row {
	const char *name, *text;
	const char *wrong; /* what it fails with; NULL: it does not */
};

/* All of them begin like this, the session with an initialize. */
#define SESSION                                                                \
	"= session\n== a\n> initialize 1 {}\nsend #1 POST initialize 1\n"
#define CLIENT "= client\n== a\n"
#define SERVER "= server\n== a\n> initialize 1 {}\nsend #1 POST initialize 1\n"
#define LOGIN "= login\n== a\nload\n"

static const struct row rows[] = {
	{ "right", SESSION, NULL },
	{ "right: comments, and no LF at the end",
	    "# a\n" SESSION "# b\n\n< #1 200 ok\nwrite 1 = {}", NULL },
	{ "right: client", CLIENT "? due never\n? legacy no\n", NULL },
	{ "right: server", SERVER "> abort @1\ndone @1 aborted\nabort #1\n",
	    NULL },
	{ "right: chain", "= chain\n== a\n! eof\nexit 0\n", NULL },
	{ "right: login", LOGIN "< loaded\ntimeout 300000\nlock login\n",
	    NULL },

	/* What comes. */
	{ "nothing comes", SESSION "write 1 = {}\n", "seen:   nothing" },
	{ "something else comes", SESSION "< #1 200 ok\nwrite 2 = {}\n",
	    "seen:   write 1 = {}" },
	{ "more comes, before an input", SESSION "< #1 200 ok\n! wait 0\n",
	    "wanted: nothing more" },
	{ "more comes, at the end", SESSION "< #1 200 ok\n",
	    "wanted: nothing more" },
	{ "more comes, of a login", LOGIN "< loaded\n",
	    "wanted: nothing more" },
	{ "another order", "= session\n== a\n! eof\nexit 0\nexit 0\n",
	    "seen:   nothing" },
	{ "a part of a line", SESSION "< #1 200 ok\nwrite 1 =\n",
	    "seen:   write 1 = {}" },

	/* "..." */
	{ "any end", SESSION "< #1 200 ok\nwrite...\n", NULL },
	{ "any beginning", SESSION "< #1 200 ok\n... {}\n", NULL },
	{ "any middle", SESSION "< #1 200 ok\nw...e...{...}\n", NULL },
	{ "another beginning", SESSION "< #1 200 ok\nread...\n", "seen:" },
	{ "another end", SESSION "< #1 200 ok\nwrite ... []\n", "seen:" },
	{ "another middle", SESSION "< #1 200 ok\nw...f...}\n", "seen:" },
	{ "no end twice", SESSION "< #1 200 ok\nwrite 1 = {}...}\n", "seen:" },

	/* Short forms. */
	{ "short forms",
	    "= client\n== a\n> {$J,'id':1,'method':'initialize'}\nprobe -\n"
	    "send {$J,'id':1,...}\n",
	    NULL },
	{ "an apostrophe",
	    SESSION "< #1 200 ok {'a':'it$'s'}\nwrite 1 = {'a':'it$'s'}\n",
	    NULL },
	{ "no such short form", SESSION "< #1 200 ok {$Q}\n",
	    "not understood" },
	{ "no such short form comes", SESSION "write $Q\n",
	    "no such short form" },

	/* Lines that are none. */
	{ "no blank", SESSION ">ping 2\n", "not understood" },
	{ "no input", SESSION "<\n", "not understood" },
	{ "no exchange", SESSION "< #2 200\n", "no exchange #2" },
	{ "no number", SESSION "< 1 200\n", "no exchange 1" },
	{ "nothing of it", SESSION "< #1\n", "not understood" },
	{ "no ending", SESSION "< #1 gone\n", "nothing comes like that" },
	{ "no fact", SESSION "< #1 head 200 colour=red\n", "no such fact" },
	{ "no fact at its end", SESSION "< #1 cut colour=red\n",
	    "no such fact" },
	{ "no media type", SESSION "< #1 head 200 media=red\n",
	    "no such fact" },
	{ "no message", SESSION "< #1 200 fine\n", "no message" },
	{ "not JSON", SESSION "< #1 200 ok {\n", "no message" },
	{ "not a message", SESSION "< #1 msg {}\n", "no message" },
	{ "no endpoint", SESSION "< #1 endpoint fine\n", "ok or bad" },
	{ "no world", SESSION "! rain\n", "nothing happens like that" },
	{ "no question", SESSION "? blue\n", "no such question" },
	{ "not so", SESSION "? says blue\n", "it is not so" },
	{ "not due", SESSION "? due never\n", "it is not so" },
	{ "no option", "= session\n== a : blue\n! eof\nexit 0\n",
	    "no such option: blue" },
	{ "no value of an option",
	    "= session\n== a : replay=blue\n! eof\nexit 0\n",
	    "no such option: replay=blue" },

	/* The same of what only one reducer has. */
	{ "client: not a message", CLIENT "< {}\n", "not understood" },
	{ "client: not sent", CLIENT "< @1 {$J,'id':1,'result':{}}\n",
	    "not understood" },
	{ "client: not out", CLIENT "! out 1\n", "not understood" },
	{ "client: no server", CLIENT "! server fine\n", "not understood" },
	{ "client: no stream", CLIENT "! stream fine\n", "not understood" },
	{ "client: not so", CLIENT "? holds yes\n", "not understood" },
	{ "client: neither yes nor no", CLIENT "? holds perhaps\n",
	    "not understood" },
	{ "client: no option", "= client\n== a : cache\n? due never\n",
	    "no such option" },
	{ "server: no order", SERVER "> abort @2\n", "no order" },
	{ "server: not a message", SERVER "> {}\n", "no message" },
	{ "server: no client", SERVER "! client fine\n", "no message" },
	{ "server: no option", "= server\n== a : fail\n! tick\n",
	    "no such option" },
	{ "login: no outcome", LOGIN "< fine\n", "nothing comes like that" },
	{ "login: no word", LOGIN "< loaded fine\n",
	    "nothing comes like that" },
	{ "login: no world", LOGIN "! eof\n", "not understood" },
	{ "login: no client", LOGIN "> ping 1\n", "not understood" },
	{ "login: no option", "= login\n== a : mode=fine\nload\n< loaded\n",
	    "no such option" },

	/* Files. */
	{ "a fragment", "= chain\n== @b\n! eof\nexit 0\n== a\n& b\n", NULL },
	{ "a fragment with words",
	    "= session\n== @b\n> initialize %2 %1\n"
	    "send #1 POST initialize %2\n== @c\n& b {} %1\n== a\n& c 7\n",
	    NULL },
	{ "a word too few", "= session\n== @b\n! %1\n== a\n& b\n",
	    "nothing happens" },
	{ "no fragment", SESSION "& b\n", "5: there is no such fragment" },
	{ "a fragment below", SESSION "& b\n== @b\n! eof\n",
	    "5: there is no such fragment" },
	{ "a fragment of itself", "= session\n== @b\n& b\n",
	    "3: there is no such fragment" },
	{ "no reducer", "== a\n! eof\n", "1: it is not said which reducer" },
	{ "no such reducer", "= proxy\n", "1: no such reducer" },
	{ "no schedule", "= session\n! eof\n", "2: a line of no schedule" },
	{ "nothing goes in", "= session\n== a\nexit 0\n", "an empty schedule" },
	{ "empty", "= session\n== a\n", "an empty schedule" },
};

START_TEST(test_row)
{
	const struct row *row = &rows[_i];
	struct schedules s = { .n = 0 };
	char *wrong = schedules_add(&s, row->text);

	if (wrong == NULL)
		wrong = schedule_play(&s.list[s.n - 1]);
	if (row->wrong == NULL)
		ck_assert_msg(wrong == NULL, "%s", wrong);
	else
		ck_assert_msg(wrong != NULL &&
			strstr(wrong, row->wrong) != NULL,
		    "wanted: %s\nseen:   %s", row->wrong,
		    wrong == NULL ? "it is right" : wrong);
	free(wrong);
	schedules_free(&s);
}
END_TEST

START_TEST(no_such_file)
{
	struct schedules s = { .n = 0 };
	char *wrong = schedules_read(&s, "/nonexistent/schedule.txt");

	ck_assert_ptr_nonnull(wrong);
	free(wrong);
	schedules_free(&s);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("play");
	TCase *tc;
	int i;

	for (i = 0; i < COUNT(rows); i++) {
		tc = tcase_create(rows[i].name);
		tcase_add_loop_test(tc, test_row, i, i + 1);
		suite_add_tcase(suite, tc);
	}
	tc = tcase_create("files");
	tcase_add_test(tc, no_such_file);
	suite_add_tcase(suite, tc);
	return unit_run(suite);
}
