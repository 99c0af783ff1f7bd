/*
 * Copies of messages without what looks like a secret, for people to read. A
 * value is a secret by the name of its member, and text in a URL behind the
 * "?"; what a secret is by its meaning alone is not found. The path of a URL
 * that the user gave is looked at more closely.
 */
#ifndef MCPSPLICE_CORE_WIRE_REDACT_H
#define MCPSPLICE_CORE_WIRE_REDACT_H

#include "base/mem.h"

/* Appends checked JSON, but "(redacted)" for the values of members that are
 * named like a secret, at any depth and also in JSON that stands in a string,
 * for the queries, fragments and users of URLs, and for the words after
 * "Bearer", "Basic", "DPoP" and "Negotiate". What is appended is JSON again, unless it would be
 * longer than max: then it is cut at about max bytes, and false is returned. */
bool redact_json(struct buf *out, struct span text, size_t max);
/* Appends text that is no JSON, up to a little more than max bytes, but
 * "(redacted)" for the same parts of URLs and the same words. */
void redact_words(struct buf *out, struct span text, size_t max);
/* Appends a URL, but mask for the query, the fragment, the user and each
 * segment of the path, or parameter in it, that looks like a secret: it is long
 * and random, begins as keys of well-known services do, or follows one that is
 * named like a secret. */
void redact_path(struct buf *out, struct span url, const char *mask);
/* Calls found with each part of the URL's path, query and fragment that looks like
 * a secret. */
typedef void redact_found(struct span secret, void *arg);
void redact_find(struct span url, redact_found *found, void *arg);
/* Takes a message for users and returns it, owned by the caller, with
 * "(redacted)" for each word that is a key of a well-known service, or long and
 * random and not in a path: somebody may have given a token where its name or
 * its file belongs. */
char *redact_tokens(char *message);
/* Finds user and password in the URL of a proxy: all in front of the last "@"
 * that has a host behind it, whatever it is; without an "@", all that stands
 * where HOST:PORT should and is something else. Returns whether there is any. */
bool redact_proxy_user(const char *url, struct span *user);
/* Appends where a proxy is: the URL without user, password and path. */
void redact_proxy(struct buf *out, const char *url);

#endif
