/*
 * A player for the session reducer: a line of text is an input, what the
 * session does about it comes out as lines of text, time is a number. So a
 * schedule is a few lines that can be read, and a random one can be printed
 * and played again.
 *
 * Inputs, where N is the number of a send (the first is #1):
 *   > METHOD ID [PARAMS]    a request of the client; without ID: a
 *   > METHOD [PARAMS]       notification
 *   > answer ID [RESULT]    the client's answer to a question
 *   > {...}                 a line as it is, whether it is a message or not
 *   < #N STATUS [FACT=X...] [MESSAGE]   a whole answer
 *   < #N head STATUS [FACT=X...]        its status line and headers
 *   < #N msg MESSAGE                    one message of it
 *   < #N end|cut|idle|aborted [FACT=X...]     its end
 *   < #N connect|resolve|tls|proxy|denied|reset   it was never sent
 *   < #N person [TEXT]      a person is asked to sign in; without TEXT: no more
 *   ! eof | ! stop | ! broken | ! tick | ! toolong SIZE ID|- request|answer
 *   ! memory RESULT [TOOLS] | ! stale session SESSION | ! rival | ! alone | !
 *   wake ! signed-in there are new credentials ! wait MS time passes, with a
 *   tick at each deadline ! random N the random word from here on
 * MESSAGE is {...} as it is with $ for the id of the send, or
 *   ok [RESULT] | ok=ID [RESULT] | err[=ID] CODE TEXT | ask ID METHOD |
 *   note METHOD [PARAMS]
 * FACT is one of media session id retry retry-after body size why trusted, and
 * took: the ms since the last byte of the request was written;
 * "_" in its value is a blank.
 *
 * Actions:
 *   send #N POST METHOD ID @SESSION | send #N GET listen|resume EVENT ... |
 *   send #N DELETE @SESSION | abort #N | write ... | read on|off | exit N |
 *   warn TEXT (option warnings) | recall | remember | keep @SESSION|- | look
 *   (these with option memory)
 * With the option person a send ends with "person" where one may be asked;
 * with words an error of ours ends with its message.
 */
#ifndef MCPSPLICE_TESTS_PLAY_SESSION_PLAY_H
#define MCPSPLICE_TESTS_PLAY_SESSION_PLAY_H

#include "core/session/session.h"

struct sent {
	uint64_t ticket; /* 0: its end was told, */
	uint64_t was;    /* but it had this one */
	enum verb verb;
	char *session, *version;
	struct frame *frame; /* NULL: a GET or a DELETE */
	bool listen, resume;
	bool aborted;
	bool ending;        /* its end is on the way: too late to abort */
	struct facts facts; /* as far as told */
	char *values[8];    /* what the facts borrow */
	size_t n_values;
};

struct play {
	struct session_config config;
	struct session *session;
	int64_t now;
	uint64_t random;
	struct sent *sent; /* number N is sent[N - 1] */
	size_t n_sent, cap_sent;
	struct buf out;   /* actions since play_take */
	struct buf trace; /* inputs and actions since the start */
	bool details;     /* version in send lines */
	bool person;      /* whether one may be asked, too */
	bool words;       /* messages of our own errors */
	bool late;        /* an aborted send ends when the script says so */
	bool warnings;
	bool reading;
	bool spins; /* the deadline was due at once again and again */
	int status; /* of exit, -1 before */
	int64_t exit_at;
	/* Looks at every action before it is rendered. */
	void (*watch)(struct play *, const struct event *);
	void *arg;
};

/* Options, separated by blanks: handshake fail details person words late
 * warnings
 * replay=never|refused|safe inflight=N held=N result=N init=MS window=MS
 * call=MS drain=MS ping=MS memory in-results. */
struct play *play_new(const char *options);
void play_free(struct play *p);
/* Plays one input. Returns false when the line cannot be understood. */
bool play_input(struct play *p, const char *line);
/* The next action's line, without its LF, into out; false: none left. */
bool play_take(struct play *p, struct buf *out);
/* Does the session's page for people say this? */
bool play_describes(const struct play *p, const char *text);
/* How many bytes the session says it holds back. */
size_t play_held(const struct play *p);

/* session_tell.c, for the player itself: an action goes to out as a line, the
 * facts of a send go back to those of no answer. */
void play_tell(struct play *p, const struct event *a);
void play_facts_clear(struct sent *s);

#endif
