/*
 * Reads what a browser, or the user, brings back from a sign-in: the redirect
 * with a code or an error.
 */
#ifndef MCPSPLICE_SIGNIN_CALLBACK_H
#define MCPSPLICE_SIGNIN_CALLBACK_H

#include "base/mem.h"

struct callback_expected {
	unsigned port; /* Host is 127.0.0.1:port or localhost:port */
	const char *path;
	const char *state;
	const char *issuer;
	bool iss; /* it was promised: absent is wrong */
};

enum callback_result {
	CALLBACK_MORE,  /* not complete */
	CALLBACK_OTHER, /* a favicon, a wrong state, no HTTP: goes on waiting */
	CALLBACK_CODE,  /* code is the one */
	CALLBACK_ERROR, /* the server says no: error */
	CALLBACK_ISSUER /* state is right, iss is not: the login is over, and
			 * nothing of it is shown (RFC 9207) */
};

struct callback {
	char *code;        /* CALLBACK_CODE; owned */
	char *error;       /* CALLBACK_ERROR: a name of RFC 6749 4.1.2.1; other
			    * characters make it NULL; owned */
	char *description; /* of it, not made safe yet, or NULL; owned */
	char *iss;         /* CALLBACK_ISSUER: of whom it is, or NULL; owned */
};

/* Reads what has come so far. Unless CALLBACK_MORE, reply is the answer, with
 * its head. State is compared in constant time, first of all. */
enum callback_result callback_read(struct span so_far,
    const struct callback_expected *expected, struct callback *out,
    struct buf *reply);
/* The same for a URL that the user pasted; no reply. */
enum callback_result callback_url(const char *url,
    const struct callback_expected *expected, struct callback *out);
void callback_free(struct callback *c); /* wipes */

#endif
