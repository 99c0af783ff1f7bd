/*
 * The explorer's world: what its client and its server did, what the session
 * did about it, and so by which rules that is right.
 *
 * Generations, calls, sends and questions are numbered from the start of a
 * schedule. The server tells each exchange an outcome before it tells it the
 * bytes, so the rules know what the session cannot: whether a call ran.
 */
#ifndef MCPSPLICE_TESTS_EXPLORE_SESSION_WORLD_H
#define MCPSPLICE_TESTS_EXPLORE_SESSION_WORLD_H

#include "play/session.h"

enum {
	MAX_CALLS = 192,
	MAX_OPEN = 16, /* calls in flight */
	MAX_SENDS = 2048,
	MAX_GENERATIONS = 200,
	MAX_ASKED = 8,         /* questions that the client remembers */
	MAX_HELD = 1000,       /* one frame that is held, with what holds it */
	SILENT_MS = 60 * 1000, /* of a call, until it is looked after */
	USER_MS = 45 * 1000,   /* of a call, for the user */
	EARLY_START_MS = 20 * 1000, /* of initialize, before it is answered
				     * without the server */
	READY_MS = 10 * 1000,       /* for the 2xx to initialized */
	HEDGE_MS = 5 * 1000,        /* of a silent initialize, before another */
	OPEN_MS = 15 * 1000,        /* of any, before another has its place */
	RENEW_MS = 13 * 1000,       /* a renewal has this time in any case */
	/* Words that come later than this are no refusal: */
	REFUSAL_MS = 500,           /* after the request */
	REFUSAL_HEAD_MS = 150,      /* after the head of the answer */
	REFUSAL_SAFE_MS = 2 * 1000, /* the same for a call that is safe */
	FLAPS = 4,                  /* the same session is asked again */
	FLAPS_MS = 5000,            /* within this time, and certainly */
	FLAPS_SURE_MS = 2500,       /* within this one */
	READY_AGAIN = 2,            /* so is initialized */
	IN_VAIN = 12,               /* requests for one call */
	IN_VAIN_MS = 2500,          /* within this time of its first refusal */
	OPENS = 4,
	TOOLS = 4,
	URIS = 4
};

enum method {
	METHOD_TOOL,
	METHOD_TOOLS,
	METHOD_PING,
	METHOD_READ,
	METHOD_LEVEL,
	METHOD_SUBSCRIBE,
	METHOD_UNSUBSCRIBE,
	METHOD_INITIALIZE
};

enum send_kind {
	SEND_CALL,
	SEND_RESUME,
	SEND_OPEN,
	SEND_READY,
	SEND_LISTEN,
	SEND_NOTE,
	SEND_ANSWER,
	SEND_PING,
	SEND_RESTORE,
	SEND_DELETE
};

/* What became of an exchange. */
enum outcome {
	RUNS,         /* no end yet: it may run */
	UNSENT,       /* it certainly never left */
	LATER,        /* refused for now, with a time to come back */
	REFUSED,      /* refused as lost, before it ran */
	DOUBTED,      /* refused, perhaps as lost */
	DOUBTED_LATE, /* the same, and it may have run */
	UNREADY,      /* refused, for the session is too new */
	AWAY,         /* the server is, says a gateway; it may have run */
	MAYBE,        /* over, and it may have run */
	BROKEN, /* the same, but a further GET may still bring its answer */
	FINAL   /* the answer to the client */
};

struct seen_call {
	enum method method;
	unsigned thing; /* the tool or the resource */
	bool answered, cancelled;
	bool asked;    /* the user, on its behalf */
	bool repeated; /* sent again although it may have run */
	bool bare;     /* the latest answer was a 404 without a word: another
			* replica may know the session */
	bool unready;  /* sent again to a session that was too new */
	bool ran;      /* perhaps, in an exchange before the latest */
	bool accepted; /* 202 */
	bool was_safe; /* at some time since it was sent */
	bool result;   /* its answer was one */
	unsigned sent;
	size_t last;          /* its latest exchange, */
	size_t posted;        /* and POST */
	enum outcome outcome; /* of the latest */
	unsigned generation;  /* of the latest */
	unsigned replayed;    /* the latest generation it was replayed in */
	unsigned flaps;       /* sent again to the same session, */
	int64_t flaps_first;  /* since then, */
	int64_t flaps_since;  /* or, after waiting for another, then */
	int64_t made_at;
	int64_t lost_at;  /* first refusal, -1: none */
	uint64_t told_by; /* the input that told the outcome, */
	int64_t told_at;  /* when, */
	bool stale;       /* and its session was gone already */
	bool progressed;
	double progress; /* the latest that the client saw */
	bool left;       /* the session waits for it no more, */
	bool in_band;    /* its refusal was mere words */
	bool vague;      /* or perhaps */
	bool again;      /* it was sent again after that, perhaps */
	unsigned vain;   /* replays though nothing was better */
	unsigned cost;   /* requests since its first refusal, or since a call
			  * that was refused was helped */
};

/* One exchange: send #n is sends[n - 1]. */
struct seen_send {
	enum send_kind kind;
	enum outcome outcome;
	int call; /* -1: of no call */
	unsigned generation;
	int epoch; /* how often the client had initialized */
	bool headed, ended, spoke;
	bool waits; /* for the user, since then */
	int64_t waits_since;
	unsigned session; /* the number that its head gave */
	int question;     /* SEND_ANSWER: the call that asked, or -1 */
	int64_t sent_at, heard_at, head_at;
	uint64_t sent_by; /* the input that made it go out */
};

struct seen_generation {
	char session[16]; /* "": the server keeps none */
	bool settled;     /* initialize was answered */
	bool own;         /* a renewal */
	bool ordered;     /* and the client had said initialized before it */
	bool useless;     /* a renewal that helped nobody so far */
	bool gone;        /* a ping was told so */
	bool deleted;
	bool listened;        /* a listen stream worked */
	uint64_t listen_owed; /* the input in which calls were sent before it */
	unsigned helped;      /* calls that were refused before and worked */
	bool served;
	int64_t served_at, begun_at;
	/* The order of what it is told first. */
	bool begun;       /* the snapshot was taken */
	bool called;      /* a call was sent */
	int64_t ready_at; /* initialized was sent; -1: not */
	size_t ready;     /* the latest of them */
	unsigned readies; /* how many the server may have got, */
	size_t readied;   /* and the very latest */
	int64_t restore_at;
	int level; /* the call to be restored; -1: none */
	unsigned level_sent;
	size_t level_send;
	int subs[URIS]; /* calls; -1: none */
	unsigned subs_sent[URIS];
	bool listen_sent;
	uint64_t batch; /* the input that sent the first calls */
	int batch_call;
};

struct question {
	char client[32], server[16]; /* raw ids */
	unsigned generation;
	int call; /* that asked, or -1 */
};

/* How the server behaves, in percent. */
struct climate {
	unsigned loss, flap, unsent, maybe, stream, refuse, silent, user;
	bool hasty; /* nobody waits for long */
};

struct world {
	struct play *p;
	const struct session_config *config; /* of p */
	uint64_t rng;
	const struct climate *climate;
	struct seen_call calls[MAX_CALLS];
	unsigned n_calls;
	struct seen_send sends[MAX_SENDS];
	size_t first_alive; /* all sends before it have ended */
	struct seen_generation generations[MAX_GENERATIONS];
	unsigned generation; /* the one of now, from 1 */
	struct question questions[MAX_ASKED];
	unsigned n_questions;
	bool eof;
	struct question answering, asking; /* in this input */
	struct question given[MAX_ASKED];  /* answers under way, a ring */
	unsigned n_given;
	unsigned asked, sessions, strays;
	int initializes;
	/* Raw ids of the latest initializes of this generation, a ring: each may
	 * be sent again. */
	char opens[OPENS][32];
	unsigned n_opens;
	bool opening_open; /* the client waits for its answer */
	bool idle;         /* it got an error */
	bool said_initialized;
	bool ready_known; /* the session has heard it */
	bool listen_refused;
	bool flapping;         /* a call got through by being sent again */
	int64_t flapped_at;    /* when it may have seemed so; 0: never */
	bool may_flap;         /* or what the session may take for that */
	bool reason;           /* there is one to renew */
	bool signed_in;        /* there were new credentials */
	bool from_cache;       /* the client was answered without the server, */
	bool stood_in;         /* by the stand-in */
	bool recalled, looks;  /* an answer is owed */
	unsigned judged;       /* refusals that the session has judged */
	unsigned safe[TOOLS];  /* the generation whose tools/list said so; 0:
				* the last one did not */
	int level, subs[URIS]; /* calls that the server agreed to; -1: none */
	bool level_in_doubt;   /* it was refused after the time for that */
	int64_t helped_at;     /* a call that was refused was helped */
	int64_t changed_at;    /* the client was told of new lists; -1 */
	uint64_t input;
	size_t telling; /* the send that is told something, from 1 */
	bool elsewhere; /* on a stream that is not its own */
	bool told_call; /* and that is the latest of its call */
	int cancelling; /* the call that is cancelled in this input, or -1 */
	bool cancel_sent;
	bool well; /* the server is good from now on */
	bool ending;
	bool slow;          /* the user takes time, even so */
	const char *broken; /* the rule that was broken */
};

/* world.c */
unsigned explore_below(struct world *w, unsigned n);
bool explore_chance(struct world *w, unsigned percent);
/* Plays a line and checks what can be checked after every input. */
void explore_input(struct world *w, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* There are new credentials. */
void explore_signed_in(struct world *w);
/* Has the server not ended send i, nor we? */
bool explore_is_alive(const struct world *w, size_t i);
bool explore_is_open(const struct world *w, unsigned call);
/* Does it wait for more than the end of its exchange? */
bool explore_is_held(const struct world *w, unsigned call);
/* Its latest exchange waits for the user: that one did not run. */
bool explore_is_unasked(const struct world *w, const struct seen_call *c);
unsigned explore_open_calls(const struct world *w);
/* The number of an open call, or -1. */
int explore_some_call(struct world *w);
/* May it be repeated although it may have run, by what the server said? */
bool explore_is_safe(const struct world *w, const struct seen_call *c);
void explore_settle(struct world *w, unsigned generation);
/* A rule is broken; the first one counts. */
void explore_breaks(struct world *w, const char *rule);
struct seen_generation *explore_now(struct world *w);

/* client.c, server.c: one random thing. */
void explore_client(struct world *w);
/* A call that any server can answer. */
int explore_plain_call(struct world *w);
void explore_initialize(struct world *w);
void explore_server(struct world *w);
/* The server answers everything that is open now, as it should. */
void explore_answer_well(struct world *w);

/* streams.c: a stream begins, or brings something. */
void explore_stream_starts(struct world *w, size_t i);
void explore_stream_goes_on(struct world *w, size_t i);

/* tell.c: what the server tells, with its outcome. */
struct shape {
	const char *text;
	enum outcome outcome;
	bool loss; /* it says that the session is gone */
};
/* Ends send i with this. */
void explore_tell(struct world *w, size_t i, const struct shape *shape);
/* The same by text alone. */
void explore_end(struct world *w, size_t i, enum outcome outcome,
    const char *text);
/* The result of this call, in a message on stream i or (whole) as an answer
 * of its own. */
void explore_result(struct world *w, size_t i, unsigned call, bool whole);
/* A message on stream i: words of a loss for this call. */
void explore_words(struct world *w, size_t i, unsigned call);
/* An initialize failed, without an answer. */
void explore_failed(struct world *w, size_t i);
/* An initialize is answered. */
void explore_opened(struct world *w, size_t i);

/* rules.c: to be the player's watch; its arg is the world. */
void explore_watch(struct play *p, const struct event *a);
/* The number of the call that a request is, or -1. */
int explore_call_of(const struct frame *f);
int explore_number(struct span id);

/* again.c: a call is sent, perhaps again. */
/* Send i is a request for all calls that were refused. */
void explore_charge_refused(struct world *w, bool doubted);
void explore_check_again(struct world *w, size_t i, bool own_id);

/* order.c: what a new session is told, and in which order. */
/* What it must be told is what is agreed to by now. */
void explore_begin(struct world *w);
void explore_check_order(struct world *w, size_t i, const struct frame *f);
/* Is the time over in which the settings are restored in this session? */
bool explore_is_restoring_late(const struct world *w,
    const struct seen_generation *g);

/* writes.c: what the client is told. */
void explore_check_write(struct world *w, const struct frame *f);
void explore_forget_question(struct world *w, unsigned i);

#endif
