/*
 * The world of a life: what the client has asked, what has become of each
 * exchange with the server, and what the server is like.
 */
#ifndef MCPSPLICE_TESTS_EXPLORE_CHAIN_WORLD_H
#define MCPSPLICE_TESTS_EXPLORE_CHAIN_WORLD_H

#include "explore/chain/choices.h"
#include "play/play.h"

enum {
	MAX_REQUESTS = 40, /* in a life, and of things */
	MAX_OPEN = 8,
	MAX_EXCHANGES = 3000,
	MAX_QUESTIONS = 32,
	NOBODY = -1
};

enum method {
	METHOD_UNSAFE, /* a tool that must not run twice */
	METHOD_SAFE,   /* a tool that the list declares read-only */
	METHOD_TOOLS,
	METHOD_READ,
	METHOD_PING,
	METHOD_LEVEL,
	METHOD_SUBSCRIBE,
	METHOD_UNSUBSCRIBE,
	METHOD_DISCOVER,
	METHOD_LISTEN,
	METHOD_INITIALIZE
};

/* What the client wants to be done. It asks for it in one request, and in
 * another one after input_required. Its number is the member n of the params,
 * which tells it whatever becomes of the id. */
struct thing {
	enum method method;
	char *params; /* without the braces; owned */
	char *state;  /* requestState and answers for the retry, or NULL */
	unsigned posts;
	size_t latest; /* exchange */
};

/* A request of the client, with the id 1000 and its number. */
struct request {
	unsigned thing;
	bool answered, cancelled;
};

/* What has become of the request that an exchange carries, in truth. */
enum fate {
	FATE_OPEN,    /* it was sent, so it may run */
	FATE_UNASKED, /* the user has to sign in: it is not sent yet */
	FATE_REFUSED, /* it did not run */
	FATE_ASKS,    /* input_required: it goes on in another exchange */
	FATE_BUSY,    /* the server says that it did not run */
	FATE_RAN
};

struct exchange {
	enum fate fate;
	bool listen, announces, modern, endpoint;
	int thing;        /* or NOBODY */
	size_t post;      /* a GET that resumes: the exchange it goes on with */
	unsigned session; /* the number that it carries; 0: none */
	bool headed, spoke;
	bool told;        /* its answer is out */
	bool owes;        /* its answer comes on another stream */
	bool asked_again; /* other credentials may mend its refusal */
	bool final;       /* its refusal is the answer */
	unsigned events;
	int question; /* that its tool waits for; NOBODY: none */
	int answers;  /* it carries the answer to this one; NOBODY: none */
	int64_t sent_at, heard_at, headed_at;
};

/* A question on the stream of a call: its tool waits for the answer. */
struct question {
	size_t exchange;
	char client[40]; /* raw id; "": the client does not have it open */
	int64_t since;   /* nobody has it, and it is not answered, since then */
	bool heard;      /* the client was asked */
	bool parked;     /* a modern client was asked by input_required */
};

enum server_kind { SERVER_LEGACY, SERVER_NO_ID, SERVER_SSE, SERVER_MODERN };

/* How the server behaves, in percent of its answers. */
struct climate {
	unsigned forget; /* a session, whenever the server does something */
	unsigned flap, unsent, maybe, stream, silent, user, ask, words, change;
	bool resumes_in_vain; /* resumed streams bring nothing */
	bool stalls;          /* time goes in leaps */
};

struct world {
	struct play *p;
	struct choices *choices;
	const struct climate *climate;
	enum server_kind kind;
	int64_t call_timeout_ms;
	bool modern; /* the client */
	struct thing things[MAX_REQUESTS];
	struct request requests[MAX_REQUESTS];
	unsigned n_things, n_requests;
	struct exchange exchanges[MAX_EXCHANGES];
	size_t n_exchanges, first_alive;
	struct question questions[MAX_QUESTIONS];
	unsigned n_questions;
	char asked[MAX_QUESTIONS]
		  [40]; /* raw ids, which the client may answer */
	unsigned n_asked;
	unsigned session, sessions; /* the one that the server knows; 0: none */
	unsigned newest;            /* that an answer to initialize has told */
	int64_t newest_at;
	int asking; /* the question that is told in this input, or NOBODY */
	bool said_initialized, recalled, looks, eof, well;
	bool mute; /* the server says nothing that it need not say */
	int64_t began, stalled_at;
	const char *broken;
};

/* --- world.c --- */

unsigned below(struct world *w, unsigned n);
bool percent(struct world *w, unsigned n);
/* Plays a line of a schedule, and checks what holds after each. */
void input(struct world *w, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* A rule is broken; the first one counts. */
void breaks(struct world *w, const char *rule);
/* Has the exchange not ended? */
bool is_alive(const struct world *w, size_t i);
bool is_open(const struct world *w, unsigned request);
/* Does the client wait for this thing, which it has not cancelled? */
bool is_wanted(const struct world *w, int thing);
unsigned open_requests(const struct world *w);
/* The number behind a mark, or NOBODY. */
int number_in(struct span raw, int from);

/* --- client.c: the client does something --- */

void client_turn(struct world *w);
/* A call that every server can answer. Returns its request. */
int client_calls(struct world *w);

/* --- server.c: the server does something about exchange i --- */

void server_turn(struct world *w);
/* It does what is right, for all that is open. */
void server_is_good(struct world *w);

/* --- faults.c --- */

/* Ends exchange i by this line, with this fate. */
void end_with(struct world *w, size_t i, enum fate fate, const char *line);
/* Refuses it: the session is not known. */
void refuse_session(struct world *w, size_t i);
void fail_unsent(struct world *w, size_t i);
void fail_maybe(struct world *w, size_t i);
/* An error of the server for this exchange, which names it. */
void tell_error(struct world *w, size_t i, const char *before, bool null_id,
    int code, const char *text);
/* Words of a lost session in an answer that is none: too late, the tool has
 * run. */
void tell_words(struct world *w, size_t i);
/* The user has to sign in, or does it. */
void user_turn(struct world *w, size_t i);

/* --- answers.c --- */

/* The right answer to the request of exchange i, on whichever stream. */
void answer(struct world *w, size_t i);
/* It is accepted, and will be answered on a stream that all share. Returns
 * false if there is none. */
bool accept_message(struct world *w, size_t i);
/* A stream begins, or goes on. */
void stream_turn(struct world *w, size_t i);

/* --- rules.c --- */

/* The player's watch; its arg is the world. */
void watch(struct play *p, const struct event *e);
/* Rules about time, checked after each input. */
void check_time(struct world *w);

#endif
