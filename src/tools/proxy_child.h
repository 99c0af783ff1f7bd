/*
 * An MCP client for a command: it runs the proxy in a child process, between
 * two pipes. All functions block.
 *
 * The first line to the child is its task: ms for the start (-1: no limit), 1 if
 * the proxy logs nothing (else 0), and the words of the command line, each as
 * base64url; a blank stands before each. The child tells what it knows of the
 * session by lines that no server can send, such as "#10010 2025-11-25".
 */
#ifndef MCPSPLICE_TOOLS_PROXY_CHILD_H
#define MCPSPLICE_TOOLS_PROXY_CHILD_H

#include "base/frame.h"
#include "options/options.h"

struct proxy_child;

/* Starts the proxy and opens a session. limit_ms (0: none) is for all of it,
 * and for each later wait together with those before it; proxy_child_within
 * gives another one from now on. With a limit nothing is asked or shown, and
 * the user is not told what the proxy logs, unless the options ask for it.
 * Returns NULL with *why, a message for users that the caller owns. */
struct proxy_child *proxy_child_start(const struct options *o, int64_t limit_ms,
    char **why);
/* Sends a request and waits for its answer, which the caller owns; params is
 * raw JSON, n 0: none. Questions of the server are asked at the terminal, and
 * progress is shown there. Returns NULL with *why if there is no answer; an
 * error of the server is an answer. */
struct frame *proxy_child_ask(struct proxy_child *p, const char *method,
    struct span params, char **why);
/* Says in *why what an error answer says; the caller owns it. */
void proxy_child_explain(const struct frame *error, char **why);
void proxy_child_within(struct proxy_child *p, int64_t limit_ms);
/* Returns the answer to initialize, borrowed. */
const struct frame *proxy_child_hello(const struct proxy_child *p);

/* What the proxy knows of the session; for a child with a limit only. */
struct proxy_child_session {
	char version[32]; /* that the server chose */
	bool has_id;
	bool modern, sse;         /* neither: Streamable HTTP */
	bool listens, never_will; /* has it a listen stream? neither: it is not
				   * known yet */
};

/* Tells it; wait_ms: waits so long until it is known whether there is a listen
 * stream. */
void proxy_child_session(struct proxy_child *p, struct proxy_child_session *now,
    int64_t wait_ms);
/* Ends the session and the proxy, and waits for its end. */
void proxy_child_end(struct proxy_child *p);
/* Is the child, "mcpsplice tools --agent". Returns the exit status. */
int proxy_child_process(void);

/* Appends what the answers to this method have in their member, as a JSON
 * array. Returns 0, or -1 with *why (NULL before) for users, owned by the
 * caller; what came before the failure is in the array then. */
int list_all(struct proxy_child *p, const char *method, const char *member,
    struct buf *out, char **why);
/* The same for the tools. */
int list_tools(struct proxy_child *p, struct buf *out, char **why);
/* Is the value in this list of JSON? */
bool list_has(struct span list, struct span value);
/* Returns the tool of that name in such an array; p NULL: there is none. */
struct span list_find(struct span tools, const char *name);

#endif
