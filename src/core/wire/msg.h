/*
 * One JSON-RPC 2.0 message: checked and located, never parsed into a tree and
 * printed again. To change its bytes, a new frame is spliced.
 */
#ifndef MCPSPLICE_CORE_WIRE_MSG_H
#define MCPSPLICE_CORE_WIRE_MSG_H

#include "base/frame.h"
#include "base/hash.h"

enum msg_status {
	MSG_OK,
	MSG_SYNTAX, /* not JSON, too deep, NUL or control bytes */
	MSG_UTF8,   /* valid except for a broken UTF-8 byte in a string;
	              * msg_from_server mends it */
	MSG_BATCH,  /* a JSON array */
	MSG_INVALID /* JSON, but not a request, notification or response. f->id
	              * is set if it has a usable id, and without a method also
	              * result and error: a broken answer */
};

/* Checks f's text and fills kind and spans. Of a member named twice the last
 * one counts (JSON.parse). A request with "id": null is MSG_INVALID; an error
 * response may have the id null or none (2025-11-25 schema). A message with
 * both result and error is MSG_INVALID. An id must be a string or a number.
 *
 * f is ambiguous if, of the members that have a meaning here, or of name and
 * _meta in the params of a tools/call, it has one twice or one in other letters
 * (Name), or if the name of any member beside them has an escape or is not
 * ASCII; also if its method has a NUL. Some parsers take the first of two, or
 * ignore case as Unicode folds it (Go), or what follows a NUL. */
enum msg_status msg_parse(struct frame *f, unsigned max_depth);

/* Makes a parsed frame from the text of a server, fit for one line of any
 * reader. Broken UTF-8 becomes U+FFFD (*scrubbed is then set), and characters
 * for which there is codec_line_end are escaped; MSG_UTF8 if the cap of b has
 * no room for that. CR and LF between tokens become blanks; a BOM in front and
 * white space around the message are dropped. On MSG_OK the
 * caller owns *out, which has taken the content of b (empty after). Otherwise
 * *out is NULL and b keeps its text: for msg_batch after MSG_BATCH, else for a
 * message that quotes it. */
enum msg_status msg_from_server(struct buf *b, unsigned max_depth,
    struct frame **out, bool *scrubbed);

/* Splits the JSON array for which MSG_BATCH was returned: calls each for every
 * element that is a message, mended like a single one; each owns the frame it
 * gets. Returns the number of elements that are not messages. An array of more
 * than BOUND_MANY elements is refused: each is not called, and SIZE_MAX is
 * returned. */
size_t msg_batch(struct span array, unsigned max_depth,
    void (*each)(struct frame *, void *), void *arg);

/* Are two ids the same by type and value? Strings are compared decoded; numbers
 * as written, else by value, because servers encode them again. */
bool msg_id_same(struct span a, struct span b);
/* Does a, from the same client, use the id b again? Two integers that are the
 * same only as doubles are two ids. */
bool msg_id_again(struct span a, struct span b);
/* Returns a hash that is equal for ids that are the same for msg_id_same. */
uint64_t msg_id_hash(struct span id);
/* Finds the thing with this id among the things in t, whose keys are
 * msg_id_hash of their ids; NULL: none. id_of returns the id of a thing. An id
 * with the same bytes is preferred to one that only has the same value, because
 * two ids may be one double. */
struct hash_entry *msg_id_find(const struct hash *t, struct span id,
    struct span (*id_of)(struct hash_entry *e));

/* Returns f with its id replaced by the raw JSON text id (added if it had
 * none); f itself, with one more reference, if the bytes are the same already.
 * The caller owns the result. */
struct frame *msg_with_id(struct frame *f, struct span id);

/* Makes an error response. id is raw JSON, p NULL for none. data is raw JSON or
 * absent. The frame is parsed and owned by the caller. */
struct frame *msg_error(struct span id, int code, const char *message,
    struct span data);
/* Makes {"jsonrpc":"2.0","id":ID,"result":RESULT}, owned by the caller. */
struct frame *msg_result(struct span id, const char *result);
/* Makes {"jsonrpc":"2.0","method":METHOD[,"params":PARAMS]}, owned by the
 * caller: a request if id is given, else a notification. params is raw JSON or
 * absent. */
struct frame *msg_call(struct span id, const char *method, struct span params);

/* Makes notifications/cancelled for this id, owned by the caller; reason is raw
 * JSON, n 0: none. */
struct frame *msg_cancel(struct span id, struct span reason);

/* What a client was told of the progress of one of its requests. */
struct msg_progress {
	bool any;
	double latest;
};
/* Notes that the client is told f, a notifications/progress. Returns false, and
 * notes nothing, if it must rise and does not: a request that is sent again may
 * count from the beginning, but the client must see its progress rise. */
bool msg_progress(struct msg_progress *told, const struct frame *f,
    bool must_rise);

/* Return code and message of an error response's error object (0 and an empty
 * text if missing; message is appended decoded). */
long msg_error_code(const struct frame *f);
void msg_error_text(const struct frame *f, struct buf *out);

#endif
