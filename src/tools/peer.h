/*
 * An MCP client for a command: it runs the proxy in a child process, between
 * two pipes. All functions block.
 *
 * The first line to the child is its task: ms for the start (-1: no limit), 1 if
 * the proxy logs nothing (else 0), and the words of the command line, each as
 * base64url; a blank stands before each. The child tells what it knows of the
 * session by lines that no server can send, such as "#10010 2025-11-25".
 */
#ifndef MCPSPLICE_TOOLS_PEER_H
#define MCPSPLICE_TOOLS_PEER_H

#include "base/frame.h"
#include "options/options.h"

struct peer;

/* Starts the proxy and opens a session. limit_ms (0: none) is for all of it, and
 * for each later wait together with those before it; peer_within gives another
 * one from now on. With a limit nothing is asked or shown, and the user is not
 * told what the proxy logs, unless the options ask for it. Returns NULL with
 * *why, a message for users that the caller owns. */
struct peer *peer_start(const struct options *o, int64_t limit_ms, char **why);
/* Sends a request and waits for its answer, which the caller owns; params is
 * raw JSON, n 0: none. Questions of the server are asked at the terminal, and
 * progress is shown there. Returns NULL with *why if there is no answer; an
 * error of the server is an answer. */
struct frame *peer_ask(struct peer *p, const char *method, struct span params,
    char **why);
/* Says in *why what an error answer says; the caller owns it. */
void peer_explain(const struct frame *error, char **why);
void peer_within(struct peer *p, int64_t limit_ms);
/* Returns the answer to initialize, borrowed. */
const struct frame *peer_hello(const struct peer *p);

/* What the proxy knows of the session; for a peer with a limit only. */
struct peer_session {
	char version[32]; /* that the server chose */
	bool has_id;
	bool modern, sse;         /* neither: Streamable HTTP */
	bool listens, never_will; /* has it a listen stream? neither: it is not
				   * known yet */
};

/* Tells it; wait_ms: waits so long until it is known whether there is a listen
 * stream. */
void peer_session(struct peer *p, struct peer_session *now, int64_t wait_ms);
/* Ends the session and the proxy, and waits for its end. */
void peer_end(struct peer *p);
/* Is the child, "mcpsplice tools --agent". Returns the exit status. */
int peer_process(void);

/* Appends what the answers to this method have in their member, as a JSON
 * array. Returns 0, or -1 with *why (NULL before) for users, owned by the
 * caller; what came before the failure is in the array then. */
int list_all(struct peer *p, const char *method, const char *member,
    struct buf *out, char **why);
/* The same for the tools. */
int list_tools(struct peer *p, struct buf *out, char **why);
/* Returns the tool of that name in such an array; p NULL: there is none. */
struct span list_find(struct span tools, const char *name);

#endif
