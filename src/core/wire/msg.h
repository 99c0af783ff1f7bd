/*
 * One JSON-RPC 2.0 message: validated and located, never parsed into a tree
 * and printed again. Where bytes must change a new frame is spliced.
 */
#ifndef MCPSPLICE_CORE_WIRE_MSG_H
#define MCPSPLICE_CORE_WIRE_MSG_H

#include "base/frame.h"
#include "base/idtable.h"

enum msg_status {
	MSG_OK,
	MSG_SYNTAX, /* no JSON, too deep, NUL or control bytes */
	MSG_UTF8,   /* a broken UTF-8 byte in a string, else as it should be;
	              * msg_from_server mends it */
	MSG_BATCH,  /* a JSON array */
	MSG_INVALID /* JSON, but neither request, notification nor response;
	              * f->id is set when it has a usable id, and without
	              * a method also result and error: a broken answer */
};

/* Checks f's text and fills kind and spans. A member named twice counts as
 * the last one (JSON.parse). A request with "id": null is MSG_INVALID; an
 * error response may have id null or none (2025-11-25 schema). Both result
 * and error: MSG_INVALID. id must be a string or a number. */
enum msg_status msg_parse(struct frame *f, unsigned max_depth);

/* A parsed frame from text that came from a server: broken UTF-8 becomes
 * U+FFFD (scrubbed tells so; MSG_UTF8 only when b's cap has no room for it),
 * a BOM in front and CR and LF between tokens become spaces. On MSG_OK it has
 * taken the content of b (empty after). On anything else *out is NULL and b
 * keeps its text: for msg_batch after MSG_BATCH, else for a message that
 * quotes it. */
enum msg_status msg_from_server(struct buf *b, unsigned max_depth,
    struct frame **out, bool *scrubbed);
/* More elements than any server sends in one array. */
#define MSG_BATCH_MAX 10000

/* Takes apart the JSON array that MSG_BATCH was said of: calls each for every
 * element that is a message, mended like a single one; each owns the frame it
 * gets. Returns how many elements were no message. An array of more than
 * MSG_BATCH_MAX elements is refused: none is told, and SIZE_MAX returned. */
size_t msg_batch(struct span array, unsigned max_depth,
    void (*each)(struct frame *, void *), void *arg);

/* Are two ids the same by type and value? (a string unescaped; a number as
 * written, else by value: servers re-encode them) */
bool msg_id_same(struct span a, struct span b);
/* Is a, of the same client, the id b again? Two integers that only a double
 * takes for one are two ids. */
bool msg_id_again(struct span a, struct span b);
/* Equal for ids that msg_id_same calls the same. */
uint64_t msg_id_hash(struct span id);
/* Of the things in t, whose keys are msg_id_hash of their ids, the one with
 * this id; NULL: none. id_of tells the id of a thing. An id as it is written
 * goes before one that only means the same: two ids may be one double. */
struct idtable_entry *msg_id_find(const struct idtable *t, struct span id,
    struct span (*id_of)(struct idtable_entry *e));

/* f with its id replaced by the raw JSON text id (added when it had none); f
 * itself, with one more reference, when the bytes are the same already. The
 * caller owns the result. */
struct frame *msg_with_id(struct frame *f, struct span id);

/* An error response. id is raw JSON, p NULL for none. data is raw JSON or
 * absent. The result is parsed and owned by the caller. */
struct frame *msg_error(struct span id, int code, const char *message,
    struct span data);
/* {"jsonrpc":"2.0","id":ID,"result":RESULT} */
struct frame *msg_result(struct span id, const char *result);
/* {"jsonrpc":"2.0","method":METHOD[,"params":PARAMS]}, a request when id is
 * given. params is raw JSON or absent. */
struct frame *msg_call(struct span id, const char *method, struct span params);

/* notifications/cancelled for this id; reason is raw JSON, n 0: none. */
struct frame *msg_cancel(struct span id, struct span reason);

/* The number of a notifications/progress. Returns false when it has none. */
bool msg_progress(const struct frame *f, double *progress);

/* code and message of an error response's error object (0 and an empty text
 * when missing; message is appended decoded). */
long msg_error_code(const struct frame *f);
void msg_error_text(const struct frame *f, struct buf *out);

#endif
