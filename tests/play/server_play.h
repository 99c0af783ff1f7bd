/*
 * A player for the core/server reducer (server_play.c, server_tell.c and
 * server_setup.c): a line of text is an input, what comes of it are lines of
 * text, time is a number. A schedule is a string of lines; those that begin
 * with ">", "<" or "!" are inputs, all others are what must come of the input
 * before them, all of it and in this order.
 *
 * The session, where K is the number of its order (the first is @1):
 *   > METHOD ID [PARAMS]    it POSTs a request; without ID: a notification
 *   > answer ID [RESULT] | > refuse ID CODE TEXT   the client's answer
 *   > {...}                 the message as it is
 *   > get [EVENT] | > delete | > abort @K
 * Upstream, where N is the number of an order of ours (the first is #1):
 *   < #N STATUS [FACT=X...] [MESSAGE]   a whole answer
 *   < #N head STATUS [FACT=X...]        its status line and headers
 *   < #N msg MESSAGE                    one message of it
 *   < #N end|cut|idle|aborted [FACT=X...]          its end
 *   < #N connect|resolve|tls|proxy|denied|reset    it was never sent
 *   < #N endpoint ok|bad | < #N person [TEXT]
 *   ! wait MS               time passes, with a tick at each deadline
 *   ! tick | ! random N | ! client DISCOVER | ! client
 * MESSAGE is {...} as it is with $ for the id of the order, or
 *   ok [RESULT] | ok=ID [RESULT] | err[=ID] CODE TEXT | ask ID METHOD |
 *   note METHOD [PARAMS]
 * FACT is one of media session id retry retry-after body size why; "_" in its
 * value is a blank.
 *
 * What comes:
 *   order #N POST METHOD ID | order #N GET [listen] [announces] | drop #N
 *   pass @K POST METHOD ID  (an order that needs no core/server)
 *   head @K STATUS | tell @K {...} | done @K STATUS|ENDING|gone ... |
 *   sign-in @K TEXT | found modern|legacy|sse|dual | warn TEXT | note TEXT
 * Options: bodies (POSTs are shown whole; <meta> stands for the members of
 * _meta that this client's requests carry), headers (mirrored ones and the
 * version), flags (control, person and so on), notes (all, not only warnings),
 * modern (an opening with a modern server is played first and not counted),
 * client=CAPABILITIES, server=CAPABILITIES (of that opening, without blanks),
 * version=VERSION (of the client), protocol=auto|legacy|modern,
 * transport=auto|http|sse|sse-first, was=legacy|modern|sse.
 */
#ifndef MCPSPLICE_TESTS_PLAY_SERVER_PLAY_H
#define MCPSPLICE_TESTS_PLAY_SERVER_PLAY_H

#include "core/server/server.h"

/* An exchange: of the session (@K) or of ours (#N). */
struct played {
	uint64_t ticket; /* 0: it is over */
	enum verb verb;
	struct frame *frame;
	struct facts facts;
	char *values[8]; /* what the facts borrow */
	size_t n_values;
};

struct server_play {
	struct server_config config;
	struct server *era;
	int64_t now;
	uint64_t random;
	struct played *orders, *ours;
	size_t n_orders, n_ours; /* of all; the first shown is number 1 */
	size_t hidden_orders, hidden_ours;
	char *client, *server, *version;
	struct buf meta; /* what <meta> stands for */
	struct buf out;  /* since server_play_take */
	struct buf trace;
	bool bodies, headers, flags, notes, modern;
};

struct server_play *server_play_new(const char *options);
void server_play_free(struct server_play *p);
/* Plays one input. Returns false when the line cannot be understood. */
bool server_play_input(struct server_play *p, const char *line);
/* The next line of what came, without its LF, into out; false: none. */
bool server_play_take(struct server_play *p, struct buf *out);

/* A test: plays the schedule and compares. A wanted line that ends with "..."
 * is the beginning of one; lines that begin with "#" are skipped; ' stands
 * for ". */
void server_play_check(const char *options, const char *schedule);

/* --- for the player itself --- */

/* The next word of *at into b, as a C string; false at the end. */
bool server_play_word(const char **at, struct buf *b);
/* What stands behind NAME= in this word, or NULL. */
const char *server_play_value(const char *word, const char *name);
/* Which of n names it is; it must be one. */
int server_play_index(const char *value, const char *const *names, size_t n);
/* An action, and an order, as a line of out. */
void server_play_tell(struct server_play *p, const struct event *a);
void server_play_order(struct server_play *p, uint64_t ticket,
    const struct order *order);

#endif
