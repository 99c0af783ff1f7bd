/*
 * The explorer's world: what it has seen of the session, by which the rules
 * are checked, and what its client and its server remember.
 */
#ifndef MCPSPLICE_TESTS_EXPLORE_SESSION_H
#define MCPSPLICE_TESTS_EXPLORE_SESSION_H

#include "session_play.h"

enum { MAX_CALLS = 256, MAX_OPEN = 16, MAX_SENDS = 2048, MAX_FRAME = 200 };

/* Why a call may be sent once more. */
enum again { AGAIN_NO, AGAIN_LOST, AGAIN_UNSENT };

struct seen_call {
	bool answered, cancelled, replayed;
	bool accepted; /* 202 */
	bool initialize;
	unsigned sent;
	enum again again;
};

/* One exchange: send #n is sends[n - 1]. */
struct seen_send {
	bool headed, ended, spoke;
	int call; /* -1: of no call */
	bool initialize, renewal;
	unsigned session; /* the number of the one that its head gave */
	unsigned generation;
};

struct world {
	struct play *p;
	uint64_t rng;
	struct seen_call calls[MAX_CALLS];
	unsigned n_calls;
	struct seen_send sends[MAX_SENDS];
	char questions[8][32]; /* open at the client, raw ids */
	unsigned n_questions;
	unsigned asked, sessions, initializes;
	char *session;       /* of the current generation; NULL: none */
	bool settled;        /* a generation is open: session is what to send */
	unsigned generation; /* grows with each initialize that is begun */
	bool lost;           /* there is a reason to renew */
	char renewal[32];    /* id of the latest one: a retry is no new one */
	bool said_initialized;
	bool ending;
	const char *broken; /* the rule that was broken */
};

/* explore_rules.c */
/* A rule is broken; the first one counts. */
void explore_breaks(struct world *w, const char *rule);
/* To be the player's watch; its arg is the world. */
void explore_watch(struct play *p, const struct session_action *a);
/* Has the server not ended send #(i + 1), nor we? */
bool explore_is_alive(const struct world *w, size_t i);
/* Question i was answered or taken back. */
void explore_forget_question(struct world *w, unsigned i);

/* explore_world.c */
unsigned explore_below(struct world *w, unsigned n);
const char *explore_one_of(struct world *w, const char *const *texts,
    unsigned count);
#define ONE_OF(w, texts)                                                       \
	explore_one_of(w, texts, sizeof(texts) / sizeof *(texts))
/* Plays a line and checks what can be checked after every input. */
void explore_input(struct world *w, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* One random thing. */
void explore_client(struct world *w);
void explore_server(struct world *w);
/* The server answers everything that is open now, as it should. */
void explore_answer_well(struct world *w);

#endif
