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
	START_MS = 4 * 1000,   /* for the answer to initialize */
	USER_MS = 45 * 1000,   /* of a call, for the user */
	ASK_MS = 5 * 1000,     /* of the browser, before the host is asked */
	EARLY_START_MS = 20 * 1000, /* of initialize, before it is answered
				     * without the server */
	NOTE_MS = 5 * 1000,         /* between notes that a call waits */
	READY_MS = 10 * 1000,       /* for the 2xx to initialized */
	HEDGE_MS = 5 * 1000,        /* of a silent initialize, before another */
	RENEW_MS = 13 * 1000,       /* a renewal has this time in any case */
	FLAPS = 4,                  /* tries of a call at other replicas */
	READY_AGAIN = 2,            /* initialized is sent again */
	WITNESSES = 4,              /* for one doubt, */
	CONTROLS = 8,               /* and in a new session */
	DOUBT_MS = 60 * 1000,       /* no doubt lasts longer */
	OPENS = 16, /* the first may wait for the user, behind many others */
	TOOLS = 4,
	PAGES = 4, /* of a list before the last one */
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
	SEND_PING, /* or a list that mcpsplice asks for */
	SEND_RESTORE,
	SEND_LIST, /* a list that the client has, in a new session */
	SEND_DELETE
};

/* What became of an exchange. */
enum outcome {
	RUNS,    /* no end yet: it may run */
	UNSENT,  /* it certainly never left */
	DENIED,  /* the same, and it never will */
	PAGED,   /* a page of its list came, which is not the last */
	REFUSED, /* by the door: it did not run */
	UNREADY, /* the same, for the session is too new */
	FAILED,  /* the tool's own error: it ran */
	PASSED,  /* the same, in words of another door: the one hole */
	LATER,   /* it may have run; with a time to come back */
	AWAY,    /* the server is, says a gateway; it may have run */
	MAYBE,   /* over, and it may have run */
	BROKEN,  /* the same, but a further GET may still bring its answer */
	FINAL    /* the answer to the client */
};

struct seen_call {
	enum method method;
	unsigned thing; /* the tool or the resource */
	bool answered, cancelled;
	bool asked;     /* the user, on its behalf */
	bool repeated;  /* sent again although it may have run */
	bool unready;   /* sent again to a session that was too new */
	bool ran;       /* perhaps, in an exchange before the latest */
	bool accepted;  /* 202 */
	bool was_safe;  /* at some time since it was sent */
	bool result;    /* its answer was one */
	unsigned pages; /* that came */
	bool turned;    /* one came in the latest exchange */
	bool cursor;    /* that exchange asked for a later one than the first */
	bool begun;     /* the list began again in its session */
	unsigned sent;
	size_t last;          /* its latest exchange, */
	size_t posted;        /* and POST */
	enum outcome outcome; /* of the latest */
	unsigned generation;  /* of the latest */
	unsigned proofs;      /* sent to a new session after a refusal, */
	unsigned repeats;     /* the same while it was safe, */
	unsigned flaps;       /* and again to the same one */
	int64_t made_at;
	int64_t told_at; /* when its latest exchange ended */
	bool vague;      /* perhaps it waits for that exchange no more */
	bool again;      /* it was sent again after it may have run */
	bool moved;      /* it waited in a session, and went to the next one */
	bool progressed;
	double progress; /* the latest that the client saw */
	double noted;    /* the same of the notes that it waits */
	int64_t noted_at;
};

/* One exchange: send #n is sends[n - 1]. */
struct seen_send {
	enum send_kind kind;
	enum outcome outcome;
	int call; /* -1: of no call */
	unsigned generation;
	int epoch; /* how often the client had initialized */
	bool headed, ended, spoke;
	bool list;     /* SEND_PING: a list */
	bool stranger; /* SEND_PING: of a session that nobody has */
	bool warm;     /* its server was not just started */
	char letter;   /* of its event ids: each POST has ids of its own */
	bool waits;    /* for the user, since then */
	int64_t waits_since;
	unsigned session; /* the number that its head gave */
	int question;     /* SEND_ANSWER: the call that asked, or -1 */
	int64_t sent_at, heard_at;
	int64_t resumed_at; /* SEND_RESUME: the first one of this POST */
};

/* An error, or a body without one. */
struct refusal {
	const char *status; /* with facts, */
	const char *body;   /* that of the body; "": none */
	int code;
	const char *text; /* NULL: no error */
	bool own_id;      /* the error has the id of the request */
	bool words;       /* it speaks of a lost session */
};

struct seen_generation {
	char session[16]; /* "": the server keeps none */
	bool settled;     /* initialize was answered */
	bool own;         /* a renewal */
	bool spare;       /* opened in doubt, and not taken */
	bool taken;       /* it was a spare one */
	bool unready;     /* it did not take initialized */
	/* Raw ids of its latest initializes, a ring: each may be sent again. */
	char opens[OPENS][32];
	unsigned n_opens;
	const struct refusal *door; /* for each request when the server has */
	bool dead;                  /* forgotten the session, */
	int64_t died_at;
	bool mimicked;      /* which it does not: a tool has used these words */
	unsigned n_refused; /* requests */
	unsigned doubts;    /* what was refused, */
	unsigned witnesses; /* and who was asked about that */
	bool ordered;       /* and the client had said initialized before it */
	bool useless;       /* a renewal that helped nobody so far */
	bool gone; /* a ping was not answered, or a notification was refused
		    * in words */
	bool deleted;
	bool listened;        /* a listen stream worked */
	uint64_t listen_owed; /* the input in which calls were sent before it */
	int64_t served_at, begun_at;
	int64_t asked_at; /* when its initialize was sent */
	bool broke;       /* a connection did, since it last served */
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
	unsigned loss, flap, unsent, maybe, fail, stream, refuse, silent, user;
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
	unsigned n_generations;
	bool renewing; /* the next initialize is that of a renewal */
	const struct refusal *no_ping; /* what pings get in any session; NULL:
					* an answer */
	bool lets_pings; /* the door does: any session gets an answer */
	unsigned turn;   /* of the replicas */
	bool by_turns;
	struct question questions[MAX_ASKED];
	unsigned n_questions;
	bool eof;
	/* What the host declares: "" nothing that could be asked. */
	const char *elicitation;
	char asked_to_sign_in[32]; /* raw id of the question; "": none open */
	int64_t browser_at;        /* when the user was sent to a page, */
	unsigned page;             /* this one; 0: none */
	unsigned shown;            /* that the host was asked to show */
	bool declined;             /* in this input */
	struct question answering, asking; /* in this input */
	struct question given[MAX_ASKED];  /* answers under way, a ring */
	unsigned n_given;
	unsigned asked, sessions, strays;
	int initializes;
	bool opening_open; /* the client waits for its answer */
	int64_t opened_at;
	bool idle; /* it got an error */
	bool said_initialized;
	bool ready_known; /* the session has heard it */
	bool listen_refused;
	bool reason;           /* there is one to renew */
	bool distrusted;       /* a session was renewed against all witnesses */
	bool signed_in;        /* there were new credentials */
	bool from_cache;       /* the client was answered without the server, */
	bool stood_in;         /* by the stand-in */
	bool recalled, looks;  /* an answer is owed */
	unsigned judged;       /* refusals that the session has judged */
	unsigned safe[TOOLS];  /* the generation whose tools/list said so; 0:
				* the last one did not */
	int level, subs[URIS]; /* calls that the server agreed to; -1: none */
	int vague_subs[URIS];  /* those refused later, perhaps after the time
				* for that */
	bool level_in_doubt;   /* it was refused after the time for that */
	int64_t changed_at;    /* the client was told of new lists */
	bool listed;           /* the client has a list of tools, and was told
				* of no other, */
	uint64_t has, reads;   /* by its hash; the same of the latest that
				* mcpsplice read */
	size_t reading;        /* its send, from 1 */
	int64_t say_from;      /* the first reading since the client was told */
	uint64_t input;
	size_t telling; /* the send that is told something, from 1 */
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
/* A stream that has been resumed in silence for a minute may be given up. */
bool explore_is_given_up(const struct world *w, const struct seen_call *c);
unsigned explore_open_calls(const struct world *w);
/* The number of an open call, or -1. */
int explore_some_call(struct world *w);
/* May it be repeated although it may have run, by what the server said? */
bool explore_is_safe(const struct world *w, const struct seen_call *c);
void explore_settle(struct world *w, unsigned generation);
/* Does only one of the replicas know a session? */
bool explore_flaps(const struct world *w);
/* A rule is broken; the first one counts. */
void explore_breaks(struct world *w, const char *rule);
struct seen_generation *explore_now(struct world *w);

/* client.c, server.c: one random thing. */
void explore_client(struct world *w);
/* A call that any server can answer. */
int explore_plain_call(struct world *w);
void explore_initialize(struct world *w);
void explore_server(struct world *w);
/* It forgets the session of now, if there is one. */
bool explore_forget(struct world *w);
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
/* One of the doors that servers have. */
const struct refusal *explore_some_door(struct world *w);
/* The tool of send i fails, in whatever words. */
void explore_fail(struct world *w, size_t i);
/* Ends send i with this refusal. */
void explore_refuse(struct world *w, size_t i, const struct refusal *r,
    enum outcome outcome);
/* The same by text alone. */
void explore_end(struct world *w, size_t i, enum outcome outcome,
    const char *text);
/* The result of this call, in a message on stream i or (whole) as an answer
 * of its own. */
void explore_result(struct world *w, size_t i, unsigned call, bool whole);
/* No tool is known to be safe any more. */
void explore_forget_safe(struct world *w);
/* The list that mcpsplice asks for by send i. */
void explore_listed(struct world *w, size_t i);
/* A message on stream i: words of a loss for this call. */
void explore_words(struct world *w, size_t i, unsigned call);
/* An initialize failed, without an answer. */
void explore_failed(struct world *w, size_t i);
/* An initialize is answered. */
void explore_opened(struct world *w, size_t i);

/* rules.c: to be the player's watch; its arg is the world. */
void explore_watch(struct play *p, const struct event *a);
/* The session of now is given up. */
void explore_renewed(struct world *w);
/* The number of the call that a request is, or -1. */
int explore_call_of(const struct frame *f);
int explore_number(struct span id);

/* again.c: a call is sent, perhaps again. */
/* May it have run in any exchange, by the truth? */
bool explore_may_have_run(const struct world *w, const struct seen_call *c);
void explore_check_again(struct world *w, size_t i, const struct frame *f);

/* order.c: what a new session is told, and in which order. */
/* What it must be told is what is agreed to by now. */
void explore_begin(struct world *w);
/* The same if initialized was given up in the meantime. */
void explore_begin_late(struct world *w);
void explore_check_order(struct world *w, size_t i, const struct frame *f);
/* Is the time over in which the settings are restored in this session? */
bool explore_is_restoring_late(const struct world *w,
    const struct seen_generation *g);

/* writes.c: what the client is told. */
void explore_check_write(struct world *w, const struct frame *f);
/* The client waits for the answer to initialize, or has it now. */
void explore_check_start(struct world *w);
void explore_forget_question(struct world *w, unsigned i);
/* Is the host asked to show where to sign in when it has to be, and only then?
 * After each input. */
void explore_check_host(struct world *w);

#endif
