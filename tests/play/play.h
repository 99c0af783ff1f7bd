/*
 * The player of schedules: a line of text goes into a reducer as an input, what
 * comes out are lines of text, time is a number. README has the language.
 *
 * What all reducers share is in words.c (words and short forms), message.c
 * (short messages), feed.c (inputs), tell.c (events as lines), clock.c (time)
 * and match.c (what was expected). What only one reducer has is in a file with
 * its name, which plugs into the player by a struct reducer.
 */
#ifndef MCPSPLICE_TESTS_PLAY_PLAY_H
#define MCPSPLICE_TESTS_PLAY_PLAY_H

#include "base/mem.h"
#include "core/events.h"
#include "core/wire/msg.h"

enum { PLAY_VALUES = 8 };

/* An exchange that was sent: number N is sent[N - 1 + hidden]. */
struct sent {
	uint64_t ticket; /* 0: its end was told, */
	uint64_t was;    /* but it had this one */
	enum verb verb;
	char *session;       /* NULL: none */
	struct frame *frame; /* NULL: a GET or a DELETE */
	bool aborted;
	bool ending;        /* its end is on the way: too late to abort */
	struct facts facts; /* as far as told */
	char *values[PLAY_VALUES]; /* what the facts borrow */
	size_t n_values;
};

/* What lines tell, beyond what they always do. */
enum {
	TELLS_VERSIONS = 1 << 0, /* an order: its version, */
	TELLS_HEADERS = 1 << 1,  /* the headers that mirror its body, */
	TELLS_MIRRORED = 1 << 2, /* only whether there are any, */
	TELLS_ENDPOINT = 1 << 3, /* and its flags */
	TELLS_INTERACTIVE = 1 << 4,
	TELLS_FLAGS = 1 << 5,    /* all of them */
	TELLS_BODIES = 1 << 6,   /* messages that are sent, whole */
	TELLS_WRITES = 1 << 7,   /* messages to the client, whole */
	TELLS_TEXTS = 1 << 8,    /* the texts of errors of our own */
	TELLS_WARNINGS = 1 << 9, /* lines of the log */
	TELLS_NOTES = 1 << 10,
	TELLS_CACHE = 1 << 11 /* what is kept on disk */
};

struct play;

/* How a reducer plugs in. Each function gets the player, whose own is what
 * this reducer's file keeps there. Those from option on may be NULL. */
struct reducer {
	const char *name;
	unsigned tells; /* from the start */
	/* A whole answer is in: it is too late to abort its exchange. */
	bool ends_at_once;
	/* It may abort what is over, or never was an exchange: not told. */
	bool aborts_anything;
	/* Allocates own; options come after it, then start makes the
	 * reducer. */
	void (*begin)(struct play *p);
	void (*start)(struct play *p);
	void (*free)(struct play *p);
	/* Returns false if the event passes; it is told, then. */
	bool (*step)(struct play *p, struct event *in);
	bool (*next)(struct play *p, struct event *out);
	int64_t (*deadline)(const struct play *p);
	void (*describe)(const struct play *p, struct buf *out);
	/* Takes one option; false: it has none of this name. */
	bool (*option)(struct play *p, const char *word);
	/* Takes a line that the player would take otherwise, or not at all;
	 * false: it does not. *bad: it should, but the line is wrong. */
	bool (*input)(struct play *p, const char *line, bool *bad);
	/* Tells an event in its own way; false: it has none. */
	bool (*tell)(struct play *p, const struct event *e);
};

extern const struct reducer play_session, play_client, play_server, play_chain,
    play_login;

struct play {
	const struct reducer *reducer;
	void *own;
	int64_t now; /* ms */
	uint64_t random;
	unsigned tells;
	struct sent *sent;
	size_t n_sent, cap_sent;
	size_t hidden;  /* so many of them have no number */
	struct buf out; /* lines since play_take */
	struct buf trace;
	/* The members of _meta that <meta> stands for; empty: none. */
	struct buf meta;
	bool late; /* an aborted exchange ends when the schedule says so */
	bool reading;
	bool spins; /* the deadline was due at once again and again */
	int status; /* of ACTION_EXIT, -1 before */
	/* Looks at every event before it is told. */
	void (*watch)(struct play *p, const struct event *e);
	void *arg;
	char *wrong; /* what is wrong with the schedule; NULL: nothing */
};

/* The reducer of this name, or NULL. */
const struct reducer *play_reducer(const char *name);
/* Makes a player, which the caller owns. Options are words of README; for one
 * that is unknown wrong is set. */
struct play *play_new(const struct reducer *reducer, const char *options);
void play_free(struct play *p);
/* Plays one input, with short forms in it expanded. Returns false if the line
 * cannot be understood. */
bool play_input(struct play *p, const char *line);
/* Takes the next line that came, without its LF; false: none is left. */
bool play_take(struct play *p, struct buf *line);
/* Plays inputs and compares what comes of each with the lines behind it.
 * Returns NULL if all is as written, else what is not, to be freed. */
char *play_lines(struct play *p, const char *lines);
/* The same of one line. */
char *play_line(struct play *p, const char *line);
/* The same at the end: NULL if no line is left. */
char *play_rest(struct play *p);
/* Does the page for people say this? */
bool play_describes(const struct play *p, const char *text);

/* --- for the parts of the player --- */

/* Defines next, deadline and describe, which call the functions of the reducer
 * of this name; struct own has it in a member of this name. */
#define PLAY_CALLS(name)                                                       \
	static bool next(struct play *p, struct event *out)                    \
	{                                                                      \
		struct own *own = p->own;                                      \
		return name##_next(own->name, out);                            \
	}                                                                      \
	static int64_t deadline(const struct play *p)                          \
	{                                                                      \
		const struct own *own = p->own;                                \
		return name##_deadline(own->name);                             \
	}                                                                      \
	static void describe(const struct play *p, struct buf *out)            \
	{                                                                      \
		const struct own *own = p->own;                                \
		name##_describe(own->name, out);                               \
	}

/* Sets wrong, the first time; returns false. */
bool play_is_wrong(struct play *p, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* The event goes in, what comes is told, and exchanges that it aborts end. */
void play_step(struct play *p, struct event *in);
/* One more exchange. */
void play_sent(struct play *p, uint64_t ticket, const struct order *order);
/* Tells an event as a line. */
void play_tell(struct play *p, const struct event *e);
/* The words of an order, from its verb on, and its LF. */
void play_tell_order(struct play *p, const struct order *order);
/* Time passes, with a tick at each deadline. */
void play_wait(struct play *p, int64_t ms);
/* The number behind "#" or "@"; 0: there is none. */
size_t play_number(const char *word, char mark);
/* Makes a frame of b and frees b; *status: what the text is. */
struct frame *play_frame(struct buf *b, enum msg_status *status);

#endif
