/* Answers for people who know another program, or who mistype. No text that
 * may be a secret is repeated. */
#ifndef MCPSPLICE_OPTIONS_MISTYPE_H
#define MCPSPLICE_OPTIONS_MISTYPE_H

#include "base/mem.h"

/* Returns what a word of another program means here: the name of an option, or
 * with a blank in it what to do; NULL: not known. Case, "-" and "_" are ignored,
 * except in a single letter. */
const char *mistype_meant(struct span word);
/* Returns the answer to an unknown option, to append to it and owned by the
 * caller; NULL: none. */
char *mistype_option(struct span name, const char *dashes);
/* Returns the error about a first word that is not a command, owned by the
 * caller; NULL: it may be a URL. */
char *mistype_command(const char *word);
/* Returns what is wrong with a value, such as "has quotes around it": a host, a
 * shell or a person left it so. NULL: nothing. JSON, and a dollar in front of
 * digits, may be meant. */
const char *mistype_value(const char *text);
/* Returns the token in a header, behind "Bearer" and the like: "" if it was torn
 * off at a blank, or never there. */
const char *mistype_token(const char *header);

#endif
