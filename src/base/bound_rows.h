/*
 * The bounds: what a peer (client, server, authorization server, child process,
 * file) can make mcpsplice keep, do or wait for, and what happens beyond. One
 * row each. The manual's section LIMITS is these rows: tests/lint/bounds.py
 * proves it and prints the section. The file is included where the rows become
 * something: bounds.h makes BOUND_NAME of each row, options/table.c the
 * defaults of options.
 *
 *   BOUND_GROUP(title)                     the rows that follow are about it
 *   BOUND(NAME, number, unit, what, then)
 *   BOUND_OPTION(NAME, number, unit, option, what, then)
 *                                          an option sets it; this is its
 *                                          default
 *   BOUND_ALSO(NAME, value, option, what, then)
 *                                          what the value of that option bounds
 *                                          besides; makes no BOUND_NAME
 *
 * Units: COUNT; B, KIB and MIB, the name then ends in _BYTES; MS, SEC, MIN,
 * HOUR and DAY, the name then ends in _MS.
 */

BOUND_GROUP("Messages")
BOUND_OPTION(MAX_MESSAGE_BYTES, 128, MIB, "max-message",
    "a line of the client; a body or an event of the server",
    "The line is answered with an error (too_large). The body or event is "
    "not read any further, and the call fails (too_large); it may have run.")
BOUND_OPTION(MAX_RESULT_BYTES, 10176, KIB, "max-result",
    "a line for the client, unless stdout is a file or a terminal, or with "
    "--handshake",
    "An answer becomes an error (too_large), a question is refused at the "
    "server, and a notification is dropped with a warning.")
BOUND_OPTION(MAX_DEPTH, 512, COUNT, "max-depth", "depth of a message's JSON",
    "The message is not taken as JSON-RPC.")
BOUND(LINE_ID_BYTES, 1, KIB, "id of a line that is too long to keep",
    "The line is answered with the id null.")
BOUND(BATCH, 10000, COUNT, "messages in an array, which 2025-03-26 has",
    "The array of a server is not read, and the call fails. The rest of a "
    "client's array is not read.")
BOUND(HEAD_BYTES, 64, KIB, "status line and headers of an answer",
    "The exchange fails.")
BOUND(CHALLENGES_BYTES, 16, KIB, "all WWW-Authenticate headers of an answer",
    "All of them are ignored.")
BOUND(CHALLENGE_BYTES, 8, KIB, "a WWW-Authenticate header",
    "A longer one is ignored.")
BOUND(SESSION_ID_BYTES, 8, KIB, "a session id",
    "A longer one is ignored, with a warning.")
BOUND(EVENT_FIELD_BYTES, 4, KIB, "the type or the id of an event",
    "The field is ignored.")
BOUND(EVENT_RETRY_MS, 1, HOUR, "the retry field of an event",
    "A longer time is shortened to this.")
BOUND(ERROR_BODY_BYTES, 256, KIB, "body of an answer with an error status",
    "The rest is not read.")
BOUND(EVENT_WORDS_BYTES, 64, KIB,
    "text of an event without a message that is searched for words of a lost "
    "session",
    "The rest is not searched.")
BOUND(LOSS_TEXT_BYTES, 512, KIB,
    "text of an answer that is searched for words of a lost session",
    "Text beyond it is not searched.")
BOUND(LOSS_TEXT_DEPTH, 256, COUNT, "depth of JSON within such a text",
    "The text is searched as plain text.")
BOUND(PATTERN_TEXT_BYTES, 16, KIB,
    "text that is compared with --session-lost-pattern",
    "The rest is not compared.")
BOUND(LOSS_RESULT_BYTES, 8, KIB,
    "a result that --session-lost-in-results looks at",
    "A longer result is passed on as the answer.")
BOUND(ERROR_KEPT_BYTES, 256, KIB,
    "the server's error that a call keeps while it waits for a new session",
    "Its code and the beginning of its text are kept.")
BOUND(ERROR_SHOWN_BYTES, 64, KIB,
    "the server's error inside an error of mcpsplice", "It is left out.")
BOUND(QUESTION_ID_BYTES, 1, KIB, "id of a question of the server",
    "The question is not answered, and the call that asked ends with an "
    "error.")
BOUND(SETTING_BYTES, 64, KIB,
    "a request for a log level or a subscription that is kept for the next "
    "session",
    "It is not kept.")
BOUND(SERVER_INFO_BYTES, 16, KIB,
    "the server's description of itself (serverInfo)",
    "A modern client does not get it.")
BOUND(HEADER_BYTES, 8, KIB,
    "value of a header that repeats a part of the message (Mcp-Name, "
    "Mcp-Param-*)",
    "The header is left out.")
BOUND(HEADER_NAME_BYTES, 256, B, "name of such a header",
    "None of the tool's parameters becomes a header.")
BOUND(PARAMETER_NAME_BYTES, 512, B,
    "name of a parameter that such a header repeats",
    "None of the tool's parameters becomes a header.")
BOUND(OUTPUT_SCHEMA_DEPTH, 64, COUNT,
    "depth of a tool's outputSchema that is wrapped for a legacy client",
    "The tool is shown without an outputSchema.")
BOUND(URL_BYTES, 64, KIB, "a URL", "A longer one is not accepted.")

BOUND_GROUP("Memory")
BOUND_OPTION(MAX_BUFFER_BYTES, 256, MIB, "max-buffer",
    "memory for messages; the next rows say how it is divided",
    "See the next rows.")
BOUND_ALSO(HELD, "half of it", "max-buffer",
    "requests and notifications that are held back",
    "stdin is not read. While a question of the server is open, stdin is "
    "read, but a request is answered with an error (busy) and a notification "
    "is dropped with a warning.")
BOUND_ALSO(BODIES, "half of it", "max-buffer", "calls at the server",
    "A further call is held back, unless it is the only one, or is no larger "
    "than this limit divided by --max-inflight.")
BOUND_ALSO(UNDECIDED, "half of it", "max-buffer",
    "requests that wait until the server's revision is known",
    "A request is answered with an error (busy).")
BOUND_ALSO(PARTIAL, "half of it", "max-buffer",
    "partial answers of all exchanges",
    "Only the oldest of them is read on, up to --max-message.")
BOUND_ALSO(CLIENT_ANSWERS, "half of it", "max-buffer",
    "answers of the client that wait for the server",
    "The call that asked ends with an error.")
BOUND_ALSO(PARKED_ANSWERS, "half of it", "max-buffer",
    "answers that wait for the retry of a modern client",
    "The retry gets an error (too_large).")
BOUND_ALSO(STDOUT_QUEUE, "half of it", "max-buffer",
    "lines that the client does not read", "stdin is not read.")
BOUND(STDOUT_BYTES, 1, MIB, "lines that the client does not read",
    "Nothing is read from the server until only a quarter of this is left.")
BOUND(CONTROL_BYTES, 256, KIB,
    "an answer to a request of mcpsplice itself, while other answers pause",
    "It pauses, too.")
BOUND(EARLY_BYTES, 1, MIB, "messages that come before the answer to initialize",
    "They are dropped.")
BOUND(ENDPOINT_MESSAGES, 64, COUNT,
    "messages of a stream of 2024-11-05 that come before the status of the "
    "request that they may answer",
    "They are dropped.")
BOUND(ENDPOINT_MESSAGES_BYTES, 1, MIB, "the bytes of these messages",
    "They are dropped.")
BOUND(NOTICE_BYTES, 1, MIB,
    "a notification for one subscriptions/listen; all notifications that it "
    "keeps until it is acknowledged",
    "It is dropped.")
BOUND(ASKED_BYTES, 9, MIB,
    "questions of a legacy server for one request of a modern client",
    "The question is refused.")
BOUND(ASKED_ALL_BYTES, 64, MIB, "the same for all requests",
    "The question is refused.")
BOUND(INPUTS_BYTES, 8, MIB,
    "a result of a modern server that asks a legacy client",
    "The call ends with an error (too_large).")
BOUND(INPUTS_ALL_BYTES, 64, MIB, "the same for all calls",
    "The call ends with an error (too_large).")
BOUND(WATCHED_BYTES, 1, MIB,
    "URIs of the resources that a modern client watches",
    "The request is answered with an error (busy).")
BOUND(SUBSCRIBED_BYTES, 1, MIB,
    "URIs of the resources that are subscribed to at a modern server",
    "The request is answered with an error (busy).")
BOUND(TOOLS, 10000, COUNT, "tools that are remembered of a server",
    "A further tool counts as unsafe, none of its parameters becomes a "
    "header, and the list is not kept for the startup cache.")
BOUND(TOOL_NAME_BYTES, 512, B, "name of such a tool",
    "The tool is treated in the same way.")
BOUND(TOOL_LIST_BYTES, 4, MIB, "result of tools/list for the startup cache",
    "It is not kept.")
BOUND(TOOL_CURSOR_BYTES, 64, KIB, "a cursor of tools/list",
    "The list is not kept.")
BOUND(MIRRORED_BYTES, 4, MIB,
    "what is remembered of parameters that become headers, for all tools",
    "None of the parameters of a further tool becomes a header.")
BOUND(MIRROR_READ_BYTES, 16, MIB,
    "schemas that are read for one result of tools/list",
    "None of the parameters of a further tool becomes a header.")
BOUND(MIRROR_SCHEMAS, 10000, COUNT, "schemas within one tool's inputSchema",
    "None of the tool's parameters becomes a header.")
BOUND(MIRROR_PARAMETERS, 64, COUNT,
    "parameters of one tool that become headers",
    "None of the tool's parameters becomes a header.")
BOUND(MIRROR_NODES, 256, COUNT, "these parameters, and all that contain them",
    "None of the tool's parameters becomes a header.")
BOUND(COOKIES, 64, COUNT, "cookies of the server (none with --no-cookies)",
    "The 16 oldest and the 16 newest stay.")
BOUND(COOKIES_BYTES, 32, KIB, "the bytes of these cookies",
    "The 16 oldest and the 16 newest stay; either group has a quarter of "
    "this at most.")

BOUND_GROUP("Numbers")
BOUND_OPTION(MAX_INFLIGHT, 256, COUNT, "max-inflight",
    "calls at the server, including cancelled ones whose stream is still "
    "open",
    "A further call is held back.")
BOUND(NOTIFICATIONS, 64, COUNT,
    "notifications of the client that are on their way",
    "A further notification is held back, and calls overtake it.")
BOUND(CANCELS, 256, COUNT, "the same, including cancels",
    "The cancel is dropped.")
BOUND(ANSWERS, 64, COUNT, "answers of the client that are on their way",
    "A further answer waits.")
BOUND(QUESTIONS, 256, COUNT,
    "open questions of the server, including those whose answers wait",
    "The question is refused, with one warning a minute. An answer that "
    "waits too long ends the call that asked with an error.")
BOUND(LINGERING, 64, COUNT, "streams that stay open after their answer",
    "The oldest one is closed.")
BOUND(SUBSCRIPTIONS, 1024, COUNT, "subscriptions kept for the next session",
    "A further one is not kept, with a warning.")
BOUND(ANSWERED, 64, COUNT,
    "ids and progress tokens of answered calls, so that late messages for "
    "them can be dropped",
    "Late messages for older calls go to the client.")
BOUND(PROBES, 64, COUNT, "server/discover of the client that wait",
    "A further one is answered with an error (busy).")
BOUND(PARKED, 256, COUNT,
    "requests of a modern client that wait for its answers to questions",
    "The question is refused.")
BOUND(ASKED, 64, COUNT,
    "questions of a legacy server for one request of a modern client",
    "The question is refused.")
BOUND(LISTENS, 64, COUNT, "subscriptions/listen of the client",
    "A further one is answered with an error (busy).")
BOUND(WATCHED, 1024, COUNT, "resources that these watch",
    "The request is answered with an error (busy).")
BOUND(SUBSCRIBED, 1024, COUNT,
    "resources that are subscribed to at a modern server",
    "The request is answered with an error (busy).")
BOUND(ROUNDS, 10, COUNT,
    "times that a modern server answers a call with input_required",
    "The call ends with an error (input_rounds_exceeded).")
BOUND(INPUTS, 64, COUNT, "questions in one such answer",
    "The call ends with an error (input_refused).")
BOUND(INPUTS_ALL, 256, COUNT, "such questions of all calls",
    "The call ends with an error (input_refused).")
BOUND(TOOL_PAGES, 50, COUNT,
    "pages of tools/list that are read before a call is sent again",
    "The call is sent with what is known.")
BOUND(REDIRECTS, 3, COUNT, "redirects of one request", "The request fails.")
BOUND(SPARE_CONNECTIONS, 16, COUNT,
    "connections that are kept beyond --max-inflight",
    "The one that was idle for the longest time is closed.")
BOUND(FLAPS, 4, COUNT,
    "times that a refused call is sent again with the same session id",
    "The session is renewed.")
BOUND(READY_AGAIN, 2, COUNT, "the same for initialized",
    "The session is renewed.")
BOUND(QUICK_RESUMES, 20, COUNT,
    "times that the stream of one call is resumed as soon as the server "
    "wants",
    "After that it is resumed once a second.")
BOUND(FALSE_STARTS, 5, COUNT,
    "subscriptions/listen in a row that a modern server ends at once",
    "The next one follows after 5 minutes; a subscriptions/listen of a "
    "modern client is ended.")

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
BOUND(SILENT_MS, 60, SEC,
    "silence of an open call before a ping asks whether the session is alive",
    "If the session is lost, a safe call is repeated; another one has the "
    "same time again and then fails (session_lost).")
BOUND(PING_MS, 5, SEC, "the answer to a ping, with retries",
    "It stays unknown whether the session is lost.")
BOUND(READY_MS, 10, SEC, "the 2xx answer to initialized",
    "The session goes on, with a warning.")
BOUND(NOTIFICATION_MS, 30, SEC, "the 2xx answer to a notification",
    "The request is ended.")
BOUND(RECEIPT_MS, 60, SEC,
    "the 2xx answer to an answer of the client, after its last byte",
    "The request is ended; the call that asked may go on.")
BOUND(DECIDED_MS, 2, SEC, "the body of an answer whose status says everything",
    "The rest is not read.")
BOUND(LINGER_MS, 5, SEC,
    "a stream that stays open after its answer, or after its call was "
    "cancelled",
    "It is closed.")
BOUND(RETRY_AFTER_MS, 20, SEC, "a Retry-After that is waited for",
    "If it is longer, the call fails at once.")
BOUND(RENEW_MS, 15, SEC, "the answer to the initialize of a new session",
    "It is sent again if a call waits.")
BOUND(HEDGE_MS, 5, SEC, "silence after the initialize of a renewal",
    "A second one is sent on another connection.")
BOUND(RESTORE_MS, 5, SEC, "the answer to one setting that is restored",
    "It is not restored, with a warning.")
BOUND(RESTORING_MS, 10, SEC, "the answers to all restored settings",
    "Calls are sent, and the rest is not restored.")
BOUND(CACHED_START_MS, 3, SEC,
    "initialize, if the startup cache knows the server",
    "The startup cache answers.")
BOUND(STAND_IN_MS, 4, SEC,
    "initialize with --start stand-in, if the startup cache does not know "
    "the server",
    "The stand-in answers.")
BOUND(STAND_IN_SIGN_IN_MS, 20, SEC, "initialize while the user signs in",
    "The stand-in answers.")
BOUND(UNKNOWN_NAME_MS, 4, SEC,
    "initialize while the server's name does not exist",
    "It fails; not with --start wait.")
BOUND(REFUSED_START_MS, 4, SEC,
    "initialize while the server refuses connections",
    "It fails; not with --start wait.")
BOUND(EARLY_PROBE_MS, 3, SEC,
    "each of these five waits, for a client that begins with "
    "server/discover",
    "It ends in the same way.")
BOUND(USER_MS, 45, SEC, "a call that waits for the user to sign in",
    "The call fails (auth_required) with the URL; not with --handshake.")
BOUND(DISCOVER_MS, 3500, MS, "the answer to server/discover of the client",
    "It is answered with what is known, or with an error.")
BOUND(PARKED_MS, 10, MIN, "the answers of a modern client to questions",
    "The call is cancelled at the server, and answers that come later get an "
    "error (input_expired).")
BOUND(LEVEL_MS, 5, SEC, "the answer to logging/setLevel before a request",
    "The request is sent.")
BOUND(ACKNOWLEDGE_MS, 10, SEC, "the answers to resources/subscribe",
    "A resource without an answer is left out of the acknowledgement.")
BOUND(INPUT_MS, 1, HOUR, "the user's answers for a modern server",
    "The call fails (input_expired).")
BOUND(ROUND_MS, 20, SEC, "retries of a request that has such answers",
    "The call fails.")
BOUND(SUCCESSOR_MS, 10, SEC, "the acknowledgement of a new subscription",
    "The old one stays, with a warning.")
BOUND(TOOL_PAGES_MS, 30, SEC,
    "all pages of tools/list before a call is sent again",
    "The call is sent with what is known.")
BOUND(ENDPOINT_MS, 10, SEC, "the endpoint event of 2024-11-05",
    "The server is taken not to speak that revision.")
BOUND(ENDPOINT_SOON_MS, 2, SEC, "the same, if another revision is likelier",
    "The other revision is tried.")
BOUND(UNACKED_MS, 20, SEC,
    "bytes that the server's machine has not acknowledged",
    "The connection is closed, if the system can do that.")
BOUND(DELETE_MS, 1, SEC, "the DELETE of a session", "The request is ended.")
BOUND(LAST_MS, 5, SEC,
    "the 2xx answers to notifications and answers, after the end of stdin "
    "and the last call",
    "mcpsplice exits.")
BOUND(STOP_MS, 1500, MS, "everything that is left to do after a signal",
    "mcpsplice exits.")

BOUND(STOP_FLUSH_MS, 300, MS,
    "lines of which the client reads nothing, after a signal",
    "They are lost, with a warning.")
BOUND(CHILD_LINGER_MS, 1, SEC, "output that comes after a program has ended",
    "It is not read any more.")

BOUND_GROUP("Rates")
BOUND(TURN_BYTES, 256, KIB, "an answer, in one turn of the program's loop",
    "The rest is read after everything else had its turn.")
BOUND(LOG_LINES, 100, COUNT,
    "lines of the log in a second, of each level; no limit with -vv",
    "The others are left out, and a later line says how many.")
BOUND(LOG_LINE_BYTES, 4, KIB, "a line of the log", "It is cut.")
BOUND(LOG_FILE_BYTES, 5, MIB, "the file of --log-file",
    "It is renamed, and one old file is kept.")
BOUND(TRACE_FILE_BYTES, 64, MIB, "the file of --trace",
    "It is renamed, and one old file is kept.")
BOUND(TRACE_BODY_BYTES, 64, KIB, "a message in the file of --trace",
    "It is cut, and its size is written.")
BOUND(WARNING_MS, 60, SEC, "between two warnings of the same kind",
    "Those in between are logged at a lower level.")
BOUND(SUMMARY_MS, 10, MIN, "between two warnings about renewals",
    "Those in between are logged at a lower level.")
BOUND(DUMP_MS, 60, SEC, "between two lists of the latest decisions in the log",
    "No list is written.")
BOUND(TOOL_WARNINGS, 20, COUNT, "warnings about the tools of one tools/list",
    "The others are only counted.")
BOUND(CHANGES_MS, 30, SEC,
    "between two rounds of list_changed for the client, after renewals",
    "The next round is delayed.")
BOUND(VAIN_RENEWALS, 3, COUNT, "renewals in a minute that do not help",
    "Then one is tried every 30 seconds, and calls get the server's own "
    "error.")
BOUND(VAIN_RENEWALS_LONG, 10, COUNT, "the same in an hour",
    "Then one is tried every 30 seconds, and calls get the server's own "
    "error.")
BOUND(VAIN_RENEWAL_MS, 30, SEC, "between two renewals after these",
    "Calls get the server's own error.")
BOUND(LISTEN_STREAMS, 60, COUNT, "listen streams that are opened in a minute",
    "The next one is opened later.")
BOUND(UNASKED_RENEWALS, 3, COUNT,
    "renewals that no call waits for, while the client sends nothing",
    "The next one is made when the client sends something.")
BOUND(QUICK_RENEWALS, 20, COUNT, "renewals in a row",
    "Then there are at most 4 in a second.")
BOUND(RENEWAL_MS, 250, MS, "between two renewals after these",
    "The next renewal is delayed.")

BOUND_GROUP("Signing in")
BOUND_OPTION(LOGIN_TIMEOUT_MS, 300, SEC, "login-timeout",
    "the user's time to sign in", "The login ends.")
BOUND(DISCOVERY_MS, 90, SEC, "the search for an authorization server",
    "The login ends.")
BOUND(FETCH_MS, 30, SEC, "one document of an authorization server",
    "The login ends.")
BOUND(DOCUMENT_BYTES, 256, KIB,
    "a document of an authorization server; a record of the token store",
    "It is refused.")
BOUND(DOCUMENT_DEPTH, 32, COUNT, "depth of its JSON", "It is refused.")
BOUND(TOKEN_BYTES, 64, KIB, "a token, and each text that is kept with it",
    "It is refused.")
BOUND(DESCRIPTION_BYTES, 200, B, "text of the server in a message of mcpsplice",
    "It is cut.")
BOUND(LOGIN_RETRY_AFTER_MS, 1, DAY, "a Retry-After of an authorization server",
    "A longer one is ignored.")
BOUND(LOGIN_RETRY_MS, 5, MIN, "how much of such a Retry-After is waited for",
    "The next try is made after this time.")
BOUND(SCOPES_BYTES, 512, B, "scopes in the last message of login",
    "They are cut.")
BOUND(DEVICE_CODE_BYTES, 64, B, "a code that the user must type in",
    "It is refused.")
BOUND(DEVICE_POLL_MS, 60, SEC,
    "between two questions whether a device code was used",
    "A longer interval is shortened to this.")
BOUND(DEVICE_LIFE_MS, 30, MIN, "life of a device code", "The code has expired.")
BOUND(BROWSER_CONNECTIONS, 16, COUNT, "connections at the port of the redirect",
    "The oldest one that has sent nothing is closed; if there is none, a "
    "further one waits.")
BOUND(BROWSER_REQUEST_BYTES, 8, KIB,
    "a request at this port, or a pasted address", "It is refused.")
BOUND(BROWSER_MS, 10, SEC, "a connection at this port", "It is closed.")
BOUND(BROWSER_CLOSE_MS, 1, SEC, "the end of such a connection", "It is cut.")
BOUND(PORT_MS, 3, SEC, "waiting for a port that another program uses",
    "The login fails.")
BOUND(TOKEN_LOCK_MS, 80, SEC, "waiting for another copy's token request",
    "The login ends.")
BOUND(TOKENS, 4, COUNT, "tokens that are tried for one request",
    "The server's refusal stands.")
BOUND(NONCE_BYTES, 1, KIB, "a nonce for proofs (DPoP-Nonce)", "It is ignored.")
BOUND(NONCES, 3, COUNT, "nonces in a row that one request is sent again for",
    "The call fails (auth_required), or the login ends.")
BOUND(MORE_SCOPES, 2, COUNT,
    "tokens with more scopes that are fetched for one request",
    "The call fails (auth_failed).")
BOUND(MORE_SCOPES_ALONE, 1, COUNT, "the same if no user can be asked",
    "The call fails (auth_failed).")
BOUND(LOGIN_PROCESSES, 20, COUNT, "logins in a row",
    "The server's refusal stands until the next login is allowed.")
BOUND(LOGIN_PROCESS_MS, 10, SEC, "between two logins after these",
    "The server's refusal stands.")
BOUND(BAD_LOGIN_MS, 10, MIN,
    "pause after failed logins; it begins with 15 seconds and grows",
    "The server's refusal stands.")
BOUND(WEAK_LOGIN_MS, 60, SEC,
    "the same, if the failure may be temporary; it begins with a second",
    "The server's refusal stands.")
BOUND(FRUITLESS_MS, 60, SEC, "pause after a sign-in that failed",
    "No browser is opened.")
BOUND(TABS_MS, 15, MIN, "time in which at most three tabs are opened",
    "No further tab is opened.")
BOUND(OTHER_TAB_MS, 5, MIN,
    "waiting for a tab that another copy opened for the same sign-in",
    "Another tab is opened.")
BOUND(SIGN_INS_MS, 15, MIN,
    "time in which a mcpsplice without a token store starts at most three "
    "sign-ins",
    "No browser is opened.")
BOUND(GRANT_MS, 30, SEC,
    "getting a token with --auth workload or --auth enterprise, programs included",
    "It is tried again later.")
BOUND(TOKEN_COMMAND_MS, 10, SEC,
    "the program of --assertion-command or --idp-token-command",
    "It is ended, and tried again later.")
BOUND(TOKEN_COMMAND_BYTES, 64, KIB, "what it prints",
    "The program counts as failed.")
BOUND(AUTH_COMMAND_MS, 30, SEC, "the program of --auth-command", "It is ended.")
BOUND(AUTH_COMMAND_BYTES, 64, KIB, "what it prints",
    "The program counts as failed.")
BOUND(AUTH_COMMAND_AGAIN_MS, 5, SEC,
    "pause after a run of it that a 401 caused",
    "It is not run for another 401.")
BOUND(HELPER_MS, 30, SEC, "the program of --auth-store", "It is ended.")
BOUND(LOGIN_OUTPUT_BYTES, 1, MIB, "what a login process prints",
    "The login counts as failed.")
BOUND(LOGIN_ERRORS_BYTES, 512, B, "what it says on stderr", "It is cut.")

BOUND_GROUP("Files")
BOUND(CONFIG_BYTES, 1, MIB, "a configuration file", "It is refused.")
BOUND(SECRET_BYTES, 64, KIB,
    "a file with a secret or with headers, and a line that the user types",
    "It is refused.")
BOUND(LIBRARY_FILE_BYTES, 16, MIB,
    "the file of --cacert, --proxy-cacert, --cert, --key, --netrc-file or "
    "NODE_EXTRA_CA_CERTS",
    "mcpsplice does not start; that of NODE_EXTRA_CA_CERTS is not used, with a "
    "warning.")
BOUND(AUTHORITIES_BYTES, 16, MIB,
    "certificates of NODE_EXTRA_CA_CERTS, with those that they are added to",
    "Those of NODE_EXTRA_CA_CERTS are not used.")
BOUND(CACHE_BYTES, 8, MIB, "a file of the startup cache",
    "It is neither written nor read. If tools/list makes it this long, it is "
    "written without tools/list.")
BOUND(CACHE_DEPTH, 512, COUNT, "depth of its JSON", "It is not read.")
BOUND(CACHE_ERA_BYTES, 256, B, "the file that remembers a server's revision",
    "It is not read.")
BOUND(CACHE_OLD_DAYS, 180, COUNT, "days that a file of the cache is unused",
    "It is removed.")
BOUND(CACHE_FILES, 256, COUNT, "files of the cache",
    "Those that were unused for longest are removed.")
BOUND(CACHE_ALL_BYTES, 64, MIB, "all files of the cache",
    "Those that were unused for longest are removed.")
BOUND(CACHE_LEGACY_MS, 1, DAY, "how long a server is remembered as not modern",
    "mcpsplice finds out again.")
BOUND(NOTES, 1024, COUNT, "notes of sessions that were not ended",
    "The oldest are removed.")
BOUND(NOTE_BYTES, 16, KIB, "such a note", "It is not read.")
BOUND(NOTE_TORN_MS, 60, SEC, "age of an incomplete note", "It is removed.")
BOUND(NOTE_FOREIGN_MS, 7, DAY, "age of a note of another profile",
    "It is removed.")
BOUND(WRAP_FILE_BYTES, 64, MIB, "a file that wrap is to change",
    "It is not read.")
BOUND(WRAP_DEPTH, 128, COUNT, "depth of its JSON", "It is not read.")
BOUND(WRAP_ENTRIES, 20000, COUNT, "servers in it", "It does not change.")
BOUND(WRAP_WSLENV_BYTES, 32, KIB, "WSLENV for one of them",
    "The server is left alone.")
BOUND(WRAP_BACKUPS, 999, COUNT, "backups of one file",
    "The file does not change.")
BOUND(PENDING_BYTES, 64, KIB, "the file of an unfinished login",
    "It is ignored.")
BOUND(STORE_LEFT_MS, 7, DAY,
    "age of what is left of a sign-in that was not finished, or is over",
    "It is removed at a start.")
BOUND(STORE_ENTRIES, 4096, COUNT, "files of the token store that are read",
    "The rest is not read.")
BOUND(IMPORT_FOLDERS, 256, COUNT, "folders of mcp-remote that are read",
    "The rest is not read.")
BOUND(IMPORT_ENTRIES, 4096, COUNT, "files beside these folders, including them",
    "The rest is not read.")
