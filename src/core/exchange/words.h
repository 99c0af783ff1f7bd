/*
 * Splits the text of an answer into clauses of words. Each word has the roles
 * that it can play in a sentence about a session. Time is linear, memory flat.
 */
#ifndef MCPSPLICE_CORE_EXCHANGE_WORDS_H
#define MCPSPLICE_CORE_EXCHANGE_WORDS_H

#include "base/mem.h"

#define CLAUSE_WORDS 64

/* Roles. A word that is not in the lexicon has none. */
#define ROLE(n) (UINT64_C(1) << (n))
#define W_SESSION ROLE(0)
#define W_SESSION_ID ROLE(1)
#define W_HEADER ROLE(2) /* Mcp-Session-Id */
#define W_TRANSPORT ROLE(3)
#define W_HEAD ROLE(4) /* may follow the noun and keep its meaning: id */
#define W_DET ROLE(5)  /* the, this, your */
#define W_ARTICLE ROLE(6)
#define W_OURS ROLE(7) /* a qualifier of our own session: mcp, client */
#define W_AUX ROLE(8)  /* is, has, been, now, may */
#define W_MODAL ROLE(9)
#define W_MUST ROLE(10)
#define W_NOT ROLE(11)
#define W_FAIL ROLE(12) /* failed, unable */
#define W_NO ROLE(13)
#define W_LONGER ROLE(14)
#define W_GOOD ROLE(15) /* a loss if denied: found, valid, active */
#define W_BAD ROLE(16)  /* a loss if said: expired, unknown, closed */
#define W_INVALID ROLE(17)
#define W_EXPIRED ROLE(18)
#define W_TERMINATED ROLE(19)
#define W_TIMED ROLE(20)
#define W_OUT ROLE(21)
#define W_TIMEOUT ROLE(22)
#define W_FIND ROLE(23) /* verbs: could not find, no longer know */
#define W_LINK ROLE(24) /* with, for, that: more about the noun follows */
#define W_STOP ROLE(25) /* ends a noun phrase: when, if, error */
#define W_OR ROLE(26)
#define W_REQUIRED ROLE(27)
#define W_MISSING ROLE(28)
#define W_GIVEN ROLE(29) /* provided, sent */
#define W_INIT ROLE(30)  /* initialize */
#define W_INITED ROLE(31)
#define W_UNINITED ROLE(32)
#define W_INITION ROLE(33)
#define W_REINIT ROLE(34)
#define W_FIRST ROLE(35)   /* first, again */
#define W_BEFORE ROLE(36)  /* before, while, during */
#define W_WORK ROLE(37)    /* request, call, completed */
#define W_SUBJECT ROLE(38) /* a thing that can be not initialized: server */
#define W_CONNECTION ROLE(39)
#define W_FIELD ROLE(40) /* argument, parameter: a name follows */
#define W_NAMER ROLE(41) /* tool, method: a name follows */
#define W_LOGIN ROLE(42)
#define W_USER ROLE(43)
#define W_MATCH ROLE(44)
#define W_OWNER ROLE(45) /* mismatch, belongs */
#define W_MISMATCH ROLE(46)
#define W_ALREADY ROLE(47)
#define W_EXISTS ROLE(48)
#define W_PAGE ROLE(49)
#define W_404 ROLE(50)
#define W_MULTIPLE ROLE(51)
#define W_GET ROLE(52)
#define W_SUPPORT ROLE(53)
#define W_NO_ROUTE ROLE(54)
#define W_PLEASE ROLE(55)
#define W_FORWARD ROLE(56)
#define W_ONLY ROLE(57)
#define W_DENIED ROLE(58)
#define W_ID ROLE(59) /* looks like an identifier, or was quoted */

#define W_NOUN (W_SESSION | W_SESSION_ID | W_TRANSPORT)

struct word {
	uint64_t roles;
	bool apart; /* more than white space precedes it */
};

/* Words up to a full stop, a semicolon, a line end or a brace. A longer clause
 * is reported in parts that overlap. */
struct clause {
	struct word words[CLAUSE_WORDS];
	size_t n;
	bool quoted; /* it was in quotation marks: not the speaker's words */
};

/* Calls each for every clause of text. A quotation is reported as clauses of
 * its own and is one identifier in the sentence around it; after words such as
 * "tool" and "argument" it is a name and is not reported. An error code
 * (SESSION_NOT_FOUND) is reported as its words. */
void words_split(struct span text,
    void (*each)(const struct clause *clause, void *arg), void *arg);
/* Does the text have a word that says something in English alone? */
bool words_are_english(struct span text);
/* Returns the roles of one word in lower case, without hyphens; 0 if it is not
 * in the lexicon. */
uint64_t words_roles(const char *word, size_t n);

#endif
