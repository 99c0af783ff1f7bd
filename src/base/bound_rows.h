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
    "a line of the client; a body or an event of the server",
    "The call gets an error (too_large); it may have run.")
BOUND_OPTION(MAX_RESULT_BYTES, 10176, KIB, "max-result",
    "a line for the client, unless stdout is a file or a terminal, or with "
    "--handshake",
    "An answer becomes an error (too_large), a question is refused at the "
    "server, and a notification is dropped with a warning.")
BOUND_OPTION(MAX_BUFFER_BYTES, 256, MIB, "max-buffer",
    "memory for messages; half of it for each kind that waits",
    "stdin is not read, calls are held back, and only the oldest answer is read "
    "on. Where nothing can wait, the request gets an error (busy, too_large).")
BOUND(WORDS_BYTES, 200, B,
    "a text of the server in a message; a code to be typed in",
    "The text is cut, the code is refused.")
BOUND(HEADER_NAME_BYTES, 256, B,
    "the name of a header that repeats a parameter; the file of an era",
    "No parameter of the tool becomes a header; the file is not read.")
BOUND(NAME_BYTES, 512, B, "the name of a tool or a parameter",
    "The tool counts as unsafe, and none of its parameters becomes a header.")
BOUND(ID_BYTES, 1, KIB, "the id of a line that is too long or of a question",
    "The line is answered with the id null, the question is not answered.")
BOUND(LINE_BYTES, 4, KIB, "the type or the id of an event; a line of the log",
    "The field is ignored, the line is cut.")
BOUND(HEADER_BYTES, 8, KIB, "a session id, a challenge, a Mcp-* header",
    "It is ignored or left out.")
BOUND(NOTE_BYTES, 16, KIB,
    "all challenges of an answer; the server's description of itself",
    "They are ignored.")
BOUND(COOKIES_BYTES, 32, KIB, "cookies of the server; WSLENV of a server",
    "The oldest cookies go; wrap leaves the server alone.")
BOUND(TEXT_BYTES, 64, KIB,
    "a URL, a token, a secret, a cursor, the head of an answer, what a helper "
    "program prints",
    "It is not taken.")
BOUND(PART_BYTES, 256, KIB,
    "the body of an error; a document of an authorization server",
    "The rest is not read; the document is refused.")
BOUND(LOSS_TEXT_BYTES, 512, KIB,
    "the text that is searched for words of a lost session",
    "The rest is not searched.")
BOUND(QUEUE_BYTES, 1, MIB,
    "lines that the client does not read; what comes before the answer to "
    "initialize; a configuration file",
    "Nothing more is read from the server; what comes early is dropped; the file "
    "is refused.")
BOUND(TOOLS_BYTES, 4, MIB,
    "what is remembered of a server's tools; a list of several pages",
    "It is not kept; the client gets the cursor of the next page.")
BOUND(LOG_FILE_BYTES, 5, MIB, "the file of --log-file",
    "It is renamed, and one old file is kept.")
BOUND(INPUTS_BYTES, 8, MIB,
    "the questions in a result of a modern server; a file of the startup cache",
    "The call ends with an error (too_large); the file is not written.")
BOUND(ASKED_BYTES, 9, MIB,
    "questions of a legacy server for one request of a modern client",
    "The question is refused.")
BOUND(FILE_BYTES, 16, MIB, "a file of certificates; the schemas of a list",
    "mcpsplice does not start; the parameters do not become headers.")
BOUND(ALL_BYTES, 64, MIB,
    "all questions that are open; the file of --trace; the startup cache; a file "
    "that wrap is to change",
    "The question is refused; the trace is renamed; the oldest file goes; the "
    "file is not read.")

BOUND_GROUP("Numbers")
BOUND_OPTION(MAX_INFLIGHT, 256, COUNT, "max-inflight", "calls at the server",
    "A further call is held back.")
BOUND_OPTION(MAX_DEPTH, 512, COUNT, "max-depth", "depth of a message's JSON",
    "The message is not taken as JSON-RPC.")
BOUND(MORE_SCOPES_ALONE, 1, COUNT,
    "tokens with more scopes that are fetched for a request without a user",
    "The call fails (auth_failed).")
BOUND(AGAIN, 2, COUNT, "the same with a user; tries of initialized elsewhere",
    "The call fails (auth_failed); the session is renewed.")
BOUND(TRIES, 3, COUNT,
    "redirects of a request; renewals in a minute that do not help, or that no "
    "call waits for",
    "The request fails; calls get the server's own error.")
BOUND(FLAPS, 4, COUNT,
    "times that a refused call is sent again in the same session; tokens that "
    "are tried for a request",
    "The session is renewed; the refusal stands.")
BOUND(FALSE_STARTS, 5, COUNT,
    "subscriptions/listen in a row that a modern server ends at once",
    "The next one follows after 5 minutes.")
BOUND(ROUNDS, 10, COUNT,
    "times that a modern server answers a call with input_required; renewals in "
    "an hour that do not help",
    "The call ends with an error (input_rounds_exceeded), or with the server's "
    "own.")
BOUND(CONNECTIONS, 16, COUNT,
    "connections beyond --max-inflight; connections at the port of the redirect",
    "The oldest idle one is closed.")
BOUND(IN_A_ROW, 20, COUNT,
    "renewals, logins or resumptions in a row; warnings about one tools/list, or "
    "that are kept of a process",
    "They follow more slowly; further warnings are only counted, the oldest is "
    "forgotten.")
BOUND(DOCUMENT_DEPTH, 32, COUNT,
    "depth of a document of an authorization server", "It is refused.")
BOUND(TOOL_PAGES, 50, COUNT,
    "pages of a list that the client or a call waits for",
    "The client gets the cursor of the next page; the call is sent with what is "
    "known.")
BOUND(LISTEN_STREAMS, 60, COUNT, "listen streams that are opened in a minute",
    "The next one is opened later.")
BOUND(FEW, 64, COUNT,
    "notifications and answers on their way, streams that stay open after their "
    "answer, questions of one request, cookies",
    "A further one waits or is refused; the oldest stream and cookie go.")
BOUND(LOG_LINES, 100, COUNT,
    "lines of the log in a second, of each level; no limit with -vv",
    "The others are left out, and a later line says how many.")
BOUND(WRAP_DEPTH, 128, COUNT, "depth of a file that wrap is to change",
    "It is not read.")
BOUND(CACHE_OLD_DAYS, 180, COUNT, "days that a file of the cache is unused",
    "It is removed.")
BOUND(SOME, 256, COUNT,
    "open questions of the server, cancels on their way, requests that wait for "
    "answers to questions, files of the cache",
    "The question is refused; the cancel is dropped; the oldest file goes.")
BOUND(WRAP_BACKUPS, 999, COUNT, "backups of one file",
    "The file does not change.")
BOUND(LISTED, 1024, COUNT, "subscriptions; notes of sessions and processes",
    "A further subscription is not kept, with a warning; the oldest note goes.")
BOUND(FILES, 4096, COUNT, "files of a folder that are read",
    "The rest is not read.")
BOUND(MANY, 10000, COUNT,
    "messages in an array; tools of a server; schemas of a tool",
    "The array is not read; a further tool counts as unsafe.")
BOUND(WRAP_ENTRIES, 20000, COUNT, "servers in a file that wrap is to change",
    "It does not change.")

BOUND_GROUP("Times")
BOUND_OPTION(CONNECT_TIMEOUT_MS, 10, SEC, "connect-timeout",
    "opening a connection: name, TCP, TLS",
    "It is tried again. In the end the call fails (upstream_unreachable).")
BOUND_OPTION(INIT_TIMEOUT_MS, 25, SEC, "init-timeout",
    "the answer to initialize, with retries",
    "The client gets an error (upstream_timeout).")
BOUND_OPTION(RETRY_WINDOW_MS, 45, SEC, "retry-window",
    "retries of a request that did not run, or that a gateway did not answer; a "
    "call's wait for a new session",
    "The call fails with the last error.")
BOUND_OPTION(CALL_TIMEOUT_MS, 3600, SEC, "call-timeout",
    "silence of an open call", "The call fails (upstream_timeout).")
BOUND_OPTION(DRAIN_TIMEOUT_MS, 0, SEC, "drain-timeout",
    "open calls after the end of stdin", "They fail (shutting_down).")
BOUND_OPTION(LOGIN_TIMEOUT_MS, 300, SEC, "login-timeout",
    "the user's time to sign in", "The login ends.")
BOUND(RENEWAL_MS, 250, MS, "between two renewals after many",
    "The next one is delayed.")
BOUND(STOP_FLUSH_MS, 300, MS,
    "lines of which the client reads nothing, after a signal",
    "They are lost, with a warning.")
BOUND(END_MS, 1, SEC,
    "the DELETE of a session; what comes after an end; from the start on, calls "
    "at a server that did not come before the end of stdin",
    "It is ended; the calls fail (shutting_down).")
BOUND(STOP_MS, 1500, MS, "everything that is left to do after a signal",
    "mcpsplice exits.")
BOUND(BRIEF_MS, 2, SEC,
    "the rest of an answer whose status says everything; the endpoint event "
    "where another revision is likelier",
    "It is not waited for.")
BOUND(HASTY_START_MS, 2500, MS, "initialize of a host that waits for 3 s",
    "The startup cache or the stand-in answers, or initialize fails.")
BOUND(KNOWN_START_MS, 3, SEC,
    "initialize, if the startup cache knows the server; lists other than that of "
    "the tools, then; the pages of a list behind the first one",
    "The startup cache answers; the lists are empty; the client gets the cursor "
    "of the next page.")
BOUND(DISCOVER_MS, 3500, MS, "the answer to server/discover of the client",
    "It is answered with what is known, or with an error.")
BOUND(START_MS, 4, SEC, "initialize",
    "The stand-in answers, or initialize fails if nobody is there; not with "
    "--start wait, nor after the end of stdin.")
BOUND(SHORT_MS, 5, SEC,
    "the answer to a ping, with retries; a stream that stays open after its "
    "answer; the rest after the end of stdin; an open call, before the client is "
    "told what has changed; a call's wait of which the client hears nothing",
    "It is not waited for; the client is told.")
BOUND(STEP_MS, 10, SEC,
    "the answer to initialized, to restored settings, to a subscription; the "
    "endpoint event of 2024-11-05",
    "It goes on without, with a warning.")
BOUND(RENEW_MS, 15, SEC, "the answer to the initialize of a new session",
    "It is sent again if a call waits.")
BOUND(RETRY_MS, 20, SEC,
    "a Retry-After that is waited for; bytes that nobody acknowledges; "
    "initialize of a host that waits while the user signs in",
    "The call fails; the connection is closed; the stand-in answers.")
BOUND(LONG_MS, 30, SEC,
    "the 2xx answer to a notification; all pages of tools/list; a document of an "
    "authorization server; a helper program",
    "The request, the program or the login is ended.")
BOUND(USER_MS, 45, SEC, "a call that waits for the user to sign in",
    "The call fails (auth_required) with the URL; not with --handshake.")
BOUND(MINUTE_MS, 60, SEC,
    "silence of an open call before a ping asks for its session; between two "
    "warnings of one kind",
    "If the session is lost, a safe call is repeated, another one fails "
    "(session_lost).")
BOUND(TOKEN_LOCK_MS, 80, SEC, "waiting for another copy's token request",
    "The login ends.")
BOUND(DISCOVERY_MS, 90, SEC, "the search for an authorization server",
    "The login ends.")
BOUND(TAB_MS, 5, MIN,
    "waiting for a tab that another copy opened for the same sign-in",
    "Another tab is opened.")
BOUND(PARKED_MS, 10, MIN,
    "the answers of a modern client to questions; the pause after failed logins, "
    "which grows",
    "The call is cancelled at the server; the server's refusal stands.")
BOUND(TABS_MS, 15, MIN, "time in which at most three tabs are opened",
    "No further tab is opened.")
BOUND(DEVICE_LIFE_MS, 30, MIN, "life of a device code", "The code has expired.")
BOUND(HOUR_MS, 1, HOUR, "the user's answers for a modern server",
    "The call fails (input_expired).")
BOUND(DAY_MS, 1, DAY, "how long a server is remembered as not modern",
    "mcpsplice finds out again.")
BOUND(WEEK_MS, 7, DAY,
    "age of a note of another profile, and of what is left of a sign-in",
    "It is removed.")
