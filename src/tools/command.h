/*
 * The commands that a person types. "tools", "call" and "check" are MCP clients
 * of a proxy, so all that holds for a host holds for them; "wrap" changes the
 * configuration of hosts; "login", "logout" and "status" are about tokens, and
 * "status" and "report" about what runs. What more than one of them needs is
 * here, too.
 */
#ifndef MCPSPLICE_TOOLS_COMMAND_H
#define MCPSPLICE_TOOLS_COMMAND_H

#include "base/frame.h"
#include "base/headers.h"
#include "io/http.h"
#include "options/options.h"
#include "store/store.h"

/* The program's folder, below OS_PLACE_DATA. */
#define OWN_FOLDER ".local/state/mcpsplice"

/* Each returns the exit status, and sets *why, a message for users that the
 * caller owns, if it failed. */

/* Lists the tools, or shows the one that o->operands name: readable on a
 * terminal, else as one JSON object. */
int command_tools(const struct options *o, char **why);
/* Calls a tool: o->operands are its name and its arguments. Prints the result:
 * readable on a terminal, else as JSON. */
int command_call(const struct options *o, char **why);
/* Tries everything that a start needs, one step after the other, and prints a
 * line for each: readable, or with --json one object for all. Returns 1 if a
 * step failed. *why is set only if nothing could be printed. */
int command_check(const struct options *o, char **why);
/* Rewrites the entries of MCP hosts that use a URL, mcp-remote, supergateway or
 * mcp-proxy: o->operands are the files; none: those of all known hosts. */
int command_wrap(const struct options *o, char **why);
/* Signs in, by a browser or as the options say. */
int command_login(const struct options *o, char **why);
/* Revokes the tokens of a server, and forgets them. */
int command_logout(const struct options *o, char **why);
/* Lists the tokens that there are, of one server or of all, and the processes
 * that run. */
int command_status(const struct options *o, char **why);
/* Writes a file for a bug report. */
int command_report(const struct options *o, char **why);

/* Appends how long the token is good, as "good until DATE, can be renewed". */
void command_token_text(struct buf *out, const struct record *r);
/* Appends the user whom the token names; nothing if it names none. */
void command_user_text(struct buf *out, const struct record *r);

/* --- probe.c: one request without credentials to the MCP server --- */

/* The answer of the MCP server to a request without credentials. The caller
 * fills in the first three members, and zeros. */
struct probe {
	bool watched;               /* way is wanted */
	int64_t limit_ms;           /* for all of it; 0: none but silence */
	const struct headers *with; /* sent, too; NULL: none */
	int status;
	char *refusal; /* what a client would be told of a 4xx; NULL */
	char *peer;    /* its address as text; NULL: unknown */
	bool speaks;   /* the words of an error are those of an MCP server */
	struct buf challenge;
	enum http_end end; /* if there was no answer */
	struct http_way way;
	/* while it runs: */
	struct loop *loop;
	struct url url;
	struct buf body; /* of an error */
	char *why;       /* what a client would be told; of no answer */
};

/* Sends such a request, and runs the loop until the answer is there. Returns 0,
 * or -1 with *why, which is what a client would be told of the same failure.
 * Free p with probe_free in both cases. */
int probe_send(struct probe *p, struct loop *l, const struct options *o,
    char **why);
/* Connects to the server, whatever its certificate is, and sends nothing: w
 * tells the certificate if there is one. Free it with http_way_free. */
void probe_look(struct http_way *w, struct loop *l, const struct options *o,
    int64_t limit_ms);
/* Frees what p holds, not p itself. */
void probe_free(struct probe *p);

/* --- proxy_child.c --- */

/*
 * An MCP client for a command: it runs the proxy in a child process, between
 * two pipes. All functions block.
 *
 * The first line to the child is its task: ms for the start (-1: no limit), 1 if
 * the proxy logs nothing (else 0), and the words of the command line, each as
 * base64url; a blank stands before each. The child tells what it knows of the
 * session by lines that no server can send, such as "#10010 2025-11-25".
 */
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

/* What the proxy knows of the session; for a child with a limit only. */
struct proxy_child_session {
	char version[32]; /* that the server chose */
	bool has_id;
	bool modern, sse;         /* neither: Streamable HTTP */
	bool listens, never_will; /* has it a listen stream? neither: it is not
				   * known yet */
	struct frame *hello;      /* the answer to initialize */
};

/* Returns it, borrowed; wait_ms: waits so long until it is known whether there is
 * a listen stream. */
const struct proxy_child_session *proxy_child_session(struct proxy_child *p,
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
/* Is the value in this list of JSON? */
bool list_has(struct span list, struct span value);
/* Returns the tool of that name in such an array; p NULL: there is none. */
struct span list_find(struct span tools, const char *name);

/* --- stored.c: records of the store, with the loop run until it has answered --- */

/* What the store answered. */
struct stored {
	struct loop *loop;
	bool answered, there;
	struct record record;
	char *why; /* for users; NULL: nothing went wrong */
};

/* Reads a record into a, to be freed with stored_free. If something else stops
 * the loop, there was no answer in time. */
void stored_read(struct stored *a, struct loop *l, struct store *s,
    const char *name);
void stored_free(struct stored *a);
/* The store's callback when something was written; arg is a struct stored. */
void stored_done(const char *why, void *arg);

/* Returns the names of all records, and of the sign-ins under way. The caller
 * frees the list. */
char (*stored_names(struct store *s, size_t *n))[STORE_NAME_BYTES];
/* Is this the record of a sign-in at an identity provider? */
bool stored_is_provider(const struct record *r, const char *name);
/* Finds the name of the server's record in the store. */
void stored_name(const struct options *o, char name[STORE_NAME_BYTES]);
/* Sets name to that of the record of an identity provider at this URL, if no MCP
 * server has a record under name: "status" shows it under that. Runs the loop.
 * Returns whether there is one. */
bool stored_find_provider(struct loop *loop, struct store *store,
    const char *url, const char *profile, char name[STORE_NAME_BYTES]);

/* --- the arguments of a call --- */

/* Appends the JSON object that the words stand for: key=value is a string, or
 * what the schema wants (a number, true or false) if the value is one;
 * key:=json is any JSON; a single "-" is a whole object, which text is; a single
 * object is itself, and another single word the value of a tool's only argument.
 * schema may be absent. Returns 0, or -1 with *why, a message for users that the
 * caller owns. */
int arguments_read(char *const *words, size_t n, struct span text,
    struct span schema, struct buf *out, char **why);
/* Checks required members, their types, enums, and unknown names; no more.
 * Returns 0, or -1 with *why as above. */
int arguments_check(struct span arguments, struct span schema, char **why);

#endif
