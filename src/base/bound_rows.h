/*
 * The bounds: what a peer (client, server, authorization server, child process,
 * file) can make mcpsplice keep, do or wait for, and what happens beyond. One
 * row for each value; what is alike has one value. The manual's section LIMITS
 * is these rows: tests/lint/bounds.py proves it and prints the section. The file
 * is included where the rows become something: bounds.h makes BOUND_NAME of
 * each row, options/table.c the defaults of options.
 *
 *   BOUND_GROUP(title)                     the rows that follow are about it
 *   BOUND(NAME, number, unit, what, then)
 *   BOUND_OPTION(NAME, number, unit, option, what, then)
 *                                          an option sets it; this is its
 *                                          default
 *
 * Units: COUNT; B, KIB and MIB, the name then ends in _BYTES; MS, SEC, MIN,
 * HOUR and DAY, the name then ends in _MS. tests/data/bounds has what each value
 * bounds, with the test of it.
 */

BOUND_GROUP("Sizes")
BOUND_OPTION(MAX_MESSAGE_BYTES, 128, MIB, "max-message",
    "a line from the client; a response body or an event from the server",
    "The call gets an error (too_large), but it may have run.")
BOUND_OPTION(MAX_RESULT_BYTES, 10176, KIB, "max-result",
    "a line to the client, unless stdout is a file or a terminal, or with "
    "--handshake",
    "An answer becomes an error (too_large), a question from the server is "
    "refused, and a notification is dropped with a warning.")
BOUND_OPTION(MAX_BUFFER_BYTES, 256, MIB, "max-buffer",
    "memory for messages, and half of it for each kind that waits",
    "mcpsplice stops reading stdin, holds calls back, and reads only the "
    "oldest answer. A request that cannot wait gets an error (busy, "
    "too_large).")
BOUND(WORDS_BYTES, 200, B,
    "an authorization server's words in an error; a code that the user types "
    "in",
    "The text is cut; the code is refused.")
BOUND(HEADER_NAME_BYTES, 256, B,
    "the name of a header made from a parameter; the cache file with the "
    "revisions of a server",
    "No parameter of the tool becomes a header; the file is not read.")
BOUND(NAME_BYTES, 512, B, "the name of a tool or a parameter",
    "The tool counts as unsafe; none of its parameters becomes a header.")
BOUND(ID_BYTES, 1, KIB, "the id of a line that is too long, or of a question",
    "The line is answered with the id null; the question is not answered.")
BOUND(LINE_BYTES, 4, KIB, "the type or the id of an event; a line of the log",
    "The field is ignored; the line is cut.")
BOUND(HEADER_BYTES, 8, KIB, "a session id, a challenge, an Mcp-* header",
    "It is ignored or left out.")
BOUND(NOTE_BYTES, 16, KIB,
    "all challenges in an answer; the server's description of itself",
    "They are ignored.")
BOUND(COOKIES_BYTES, 32, KIB, "a server's cookies; WSLENV in a host's entry",
    "The oldest cookies are dropped; wrap skips the entry.")
BOUND(TEXT_BYTES, 64, KIB,
    "a URL, a token, a secret, a cursor, the headers of an answer, what a "
    "helper program prints",
    "It is not used.")
BOUND(PART_BYTES, 256, KIB,
    "the body of an error; a document from an authorization server",
    "The rest is not read; the document is refused.")
BOUND(LOSS_TEXT_BYTES, 512, KIB,
    "the text that is searched for signs of a lost session",
    "The rest is not searched.")
BOUND(QUEUE_BYTES, 1, MIB,
    "lines that the client has not read; messages that arrive before the "
    "answer to initialize; a configuration file",
    "mcpsplice stops reading from the server; the messages are dropped; the "
    "file is refused.")
BOUND(TOOLS_BYTES, 4, MIB,
    "what is remembered of a server's tools; a list of several pages",
    "It is not kept; the client gets the cursor of the next page.")
BOUND(LOG_FILE_BYTES, 5, MIB, "the file of --log-file",
    "It is renamed, and one old file is kept.")
BOUND(INPUTS_BYTES, 8, MIB,
    "the questions in one result of a modern server; a file of the startup "
    "cache",
    "The call gets an error (too_large); the file is not written.")
BOUND(ASKED_BYTES, 9, MIB,
    "a legacy server's questions during one request of a modern client",
    "The question is refused.")
BOUND(FILE_BYTES, 16, MIB,
    "a file of certificates; the schemas in a list of tools",
    "mcpsplice does not start; no parameter becomes a header.")
BOUND(ALL_BYTES, 64, MIB,
    "all open questions; the file of --trace; the startup cache; a file that "
    "wrap would change",
    "The question is refused; the trace is renamed; the oldest cache file is "
    "removed; wrap does not read the file.")

BOUND_GROUP("Numbers")
BOUND_OPTION(MAX_INFLIGHT, 256, COUNT, "max-inflight",
    "calls that run at the server at the same time", "Further calls wait.")
BOUND_OPTION(MAX_DEPTH, 512, COUNT, "max-depth",
    "levels of nesting in a JSON message", "It is not accepted as JSON-RPC.")
BOUND(MORE_SCOPES_ALONE, 1, COUNT,
    "tokens with more scopes that are fetched for one request, without a user",
    "The call fails (auth_failed).")
BOUND(AGAIN, 2, COUNT,
    "the same, with a user; times that initialized is sent again on another "
    "connection",
    "The call fails (auth_failed); the session is renewed.")
BOUND(TRIES, 3, COUNT,
    "redirects of a request; renewals in a minute that do not help, or that no "
    "call is waiting for",
    "The request fails; calls get the server's own error.")
BOUND(FLAPS, 4, COUNT,
    "times that a refused call is sent again in the same session; tokens that "
    "are tried for a request",
    "The session is renewed; the refusal stands.")
BOUND(FALSE_STARTS, 5, COUNT,
    "subscriptions/listen requests in a row that a modern server ends at once",
    "The next one is sent 5 minutes later.")
BOUND(ROUNDS, 10, COUNT,
    "times that a modern server answers a call with input_required; renewals "
    "in an hour that do not help",
    "The call gets an error (input_rounds_exceeded); calls get the server's "
    "own error.")
BOUND(CONNECTIONS, 16, COUNT,
    "connections beyond --max-inflight; connections to the port of the "
    "redirect",
    "The oldest idle one is closed.")
BOUND(IN_A_ROW, 20, COUNT,
    "renewals, logins or resumptions in a row; warnings about one tools/list; "
    "warnings kept about a process",
    "Further ones come more slowly; further warnings are only counted; the "
    "oldest is dropped.")
BOUND(DOCUMENT_DEPTH, 32, COUNT,
    "levels of nesting in a document from an authorization server",
    "It is refused.")
BOUND(TOOL_PAGES, 50, COUNT,
    "pages of a list that the client or a call waits for",
    "The client gets the cursor of the next page; the call is sent with what "
    "is known.")
BOUND(LISTEN_STREAMS, 60, COUNT, "listen streams opened in a minute",
    "The next one is opened later.")
BOUND(FEW, 64, COUNT,
    "notifications and answers being sent, streams that stay open after their "
    "answer, questions of one request, cookies",
    "Further ones wait or are refused; the oldest stream or cookie is dropped.")
BOUND(LOG_LINES, 100, COUNT,
    "lines of the log in a second, at each level (no limit with -vv)",
    "The rest are left out, and a later line says how many.")
BOUND(WRAP_DEPTH, 128, COUNT,
    "levels of nesting in a file that wrap would change",
    "The file is not read.")
BOUND(CACHE_OLD_DAYS, 180, COUNT,
    "days since a file of the cache was last used", "It is removed.")
BOUND(SOME, 256, COUNT,
    "open questions of the server, cancellations being sent, requests that "
    "wait for answers to questions, files of the cache",
    "The question is refused; the cancellation is dropped; the oldest file is "
    "removed.")
BOUND(WRAP_BACKUPS, 999, COUNT, "backups of one file",
    "The file is not changed.")
BOUND(LISTED, 1024, COUNT, "subscriptions; notes about sessions and processes",
    "Further subscriptions are not remembered, with a warning; the oldest note "
    "is removed.")
BOUND(FILES, 4096, COUNT, "files that are read in one folder",
    "The rest are not read.")
BOUND(MANY, 10000, COUNT,
    "messages in an array; tools of a server; schemas of a tool",
    "The array is not read; further tools count as unsafe.")
BOUND(WRAP_ENTRIES, 20000, COUNT, "servers in a file that wrap would change",
    "The file is not changed.")

BOUND_GROUP("Times")
BOUND_OPTION(CONNECT_TIMEOUT_MS, 10, SEC, "connect-timeout",
    "opening a connection (name, TCP, TLS)",
    "mcpsplice tries again; in the end the call fails (upstream_unreachable).")
BOUND_OPTION(INIT_TIMEOUT_MS, 25, SEC, "init-timeout",
    "the answer to initialize, including retries",
    "The client gets an error (upstream_timeout).")
BOUND_OPTION(RETRY_WINDOW_MS, 45, SEC, "retry-window",
    "retries of a request that did not run, or that a gateway did not answer; "
    "a call's wait for a new session",
    "The call fails with the last error.")
BOUND_OPTION(CALL_TIMEOUT_MS, 3600, SEC, "call-timeout",
    "silence during a call", "The call fails (upstream_timeout).")
BOUND_OPTION(DRAIN_TIMEOUT_MS, 0, SEC, "drain-timeout",
    "open calls after the end of stdin", "They fail (shutting_down).")
BOUND_OPTION(LOGIN_TIMEOUT_MS, 300, SEC, "login-timeout",
    "time for the user to sign in", "The login ends.")
BOUND(RENEWAL_MS, 250, MS, "the pause between renewals after many in a row",
    "The next one is delayed.")
BOUND(STOP_FLUSH_MS, 300, MS,
    "waiting, after a signal, for a client that reads nothing",
    "The lines for it are lost, with a warning.")
BOUND(END_MS, 1, SEC,
    "the DELETE of a session; output of a program that has ended; calls at a "
    "server that was not reached before stdin ended, counted from the start",
    "mcpsplice gives up on it; the calls fail (shutting_down).")
BOUND(STOP_MS, 1500, MS, "everything that is left to do after a signal",
    "mcpsplice exits.")
BOUND(BRIEF_MS, 2, SEC,
    "the rest of an answer whose status says it all; the endpoint event, if "
    "another revision is likelier",
    "mcpsplice does not wait for it.")
BOUND(HASTY_START_MS, 2500, MS, "initialize from a host that waits only 3 s",
    "The startup cache or the stand-in answers, or initialize fails.")
BOUND(KNOWN_START_MS, 3, SEC,
    "initialize, if the startup cache knows the server, and then lists other "
    "than the tools; the pages of a list after the first",
    "The startup cache answers; the lists are empty; the client gets the "
    "cursor of the next page.")
BOUND(DISCOVER_MS, 3500, MS, "the answer to the client's server/discover",
    "It is answered with what is known, or with an error.")
BOUND(START_MS, 4, SEC, "initialize",
    "The stand-in answers, or initialize fails if the server cannot be "
    "reached; not with --start wait, nor after the end of stdin.")
BOUND(SHORT_MS, 5, SEC,
    "the answer to a ping, including retries; a stream that stays open after "
    "its answer; what is left after the end of stdin; an open call, before the "
    "client is told of changes; a waiting call, before it is told why",
    "mcpsplice does not wait for it; the client is told.")
BOUND(STEP_MS, 10, SEC,
    "the answer to initialized, to restored settings, to a subscription; the "
    "endpoint event of 2024-11-05",
    "mcpsplice goes on without it, with a warning.")
BOUND(RENEW_MS, 15, SEC, "the answer to the initialize of a new session",
    "It is sent again if a call is waiting.")
BOUND(RETRY_MS, 20, SEC,
    "a Retry-After that mcpsplice obeys; sent bytes that are not acknowledged; "
    "initialize during a sign-in, from a host that waits that long",
    "The call fails; the connection is closed; the stand-in answers.")
BOUND(LONG_MS, 30, SEC,
    "the 2xx answer to a notification; all pages of tools/list; a document "
    "from an authorization server; a helper program",
    "The request, the login or the program is ended.")
BOUND(USER_MS, 45, SEC, "a call that waits for the user to sign in",
    "The call fails (auth_required) with the URL; not with --handshake.")
BOUND(MINUTE_MS, 60, SEC,
    "silence during a call before a ping checks its session; the pause between "
    "two warnings of one kind",
    "If the session is lost, a safe call is repeated, and any other fails "
    "(session_lost).")
BOUND(TOKEN_LOCK_MS, 80, SEC, "waiting for another copy's token request",
    "The login ends.")
BOUND(DISCOVERY_MS, 90, SEC, "the search for an authorization server",
    "The login ends.")
BOUND(TAB_MS, 5, MIN,
    "waiting for a tab that another copy opened for the same sign-in",
    "Another tab is opened.")
BOUND(PARKED_MS, 10, MIN,
    "a modern client's answers to questions; the pause after failed logins, "
    "which grows",
    "The call is cancelled at the server; the server's refusal stands.")
BOUND(TABS_MS, 15, MIN, "the time in which at most three tabs are opened",
    "No further tab is opened.")
BOUND(DEVICE_LIFE_MS, 30, MIN, "the life of a device code",
    "The code has expired.")
BOUND(HOUR_MS, 1, HOUR, "the user's answers to a modern server",
    "The call fails (input_expired).")
BOUND(DAY_MS, 1, DAY, "how long a server is remembered as not modern",
    "mcpsplice finds out again.")
BOUND(WEEK_MS, 7, DAY,
    "the age of another profile's note, or of the remains of a sign-in",
    "It is removed.")
