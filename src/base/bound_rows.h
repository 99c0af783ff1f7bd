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
    "The line is answered with an error (too_large). The body or event is not "
    "read on, and the call fails with too_large: it may have run.")
BOUND_OPTION(MAX_RESULT_BYTES, 10176, KIB, "max-result",
    "a line for the client, unless that is a file or a terminal, or with "
    "--handshake",
    "An answer becomes an error (too_large), a question is refused at the "
    "server, a notification is dropped with a warning.")
BOUND_OPTION(MAX_DEPTH, 512, COUNT, "max-depth", "depth of a message's JSON",
    "The message is not taken as JSON-RPC.")
BOUND(LINE_ID_BYTES, 1, KIB, "id of a line that is too long to keep",
    "The line is answered with the id null.")
BOUND(BATCH, 10000, COUNT,
    "messages in an array, which a server of 2025-03-26 may send",
    "The array is not read, and the call fails.")
BOUND(HEAD_BYTES, 64, KIB, "status line and headers of an answer",
    "The exchange fails.")
BOUND(CHALLENGES_BYTES, 16, KIB, "all WWW-Authenticate headers of an answer",
    "None of them is looked at.")
BOUND(CHALLENGE_BYTES, 8, KIB, "WWW-Authenticate that is understood",
    "A longer one is as none.")
BOUND(SESSION_ID_BYTES, 1, KIB, "a session id", "A longer one counts as none.")
BOUND(EVENT_FIELD_BYTES, 4, KIB, "the type or the id of an event",
    "The field is ignored.")
BOUND(EVENT_RETRY_MS, 1, HOUR, "the retry field of an event",
    "A longer time counts as this one.")
BOUND(ERROR_BODY_BYTES, 256, KIB, "body of an answer with an error status",
    "The rest is not read.")
BOUND(EVENT_WORDS_BYTES, 64, KIB,
    "text of an event that is not a message, where words of a lost session "
    "are looked for",
    "The rest is not looked at.")
BOUND(LOSS_TEXT_BYTES, 512, KIB,
    "text of an answer in which words of a lost session are looked for",
    "Text that crosses it is not looked at.")
BOUND(LOSS_TEXT_DEPTH, 256, COUNT, "depth of JSON within such a text",
    "It is looked at as plain text.")
BOUND(PATTERN_TEXT_BYTES, 16, KIB, "text that --session-lost-pattern sees",
    "The rest is not looked at.")
BOUND(LOSS_RESULT_BYTES, 8, KIB,
    "a result in which --session-lost-in-results looks",
    "A longer result is an answer.")
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
BOUND(SERVER_INFO_BYTES, 16, KIB, "what a server says of itself (serverInfo)",
    "A modern client is not told.")
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
BOUND(URL_BYTES, 64, KIB, "a URL", "It is not understood.")

BOUND_GROUP("Memory")
BOUND_OPTION(MAX_BUFFER_BYTES, 256, MIB, "max-buffer",
    "what is held back, shared out by the next rows", "Their texts tell it.")
BOUND_ALSO(HELD, "half of it", "max-buffer",
    "requests and notifications that are held back",
    "stdin is not read. While a question of the server is open it is read, "
    "and a request is answered with an error (busy), a notification is "
    "dropped with a warning.")
BOUND_ALSO(BODIES, "half of it", "max-buffer", "calls at the server",
    "A further call is held back, unless it is as small as this divided by "
    "--max-inflight, or alone.")
BOUND_ALSO(UNDECIDED, "half of it", "max-buffer",
    "requests that wait until the server's revision is known",
    "A request is answered with an error (busy).")
BOUND_ALSO(PARTIAL, "half of it", "max-buffer",
    "answers that have come in part, of all exchanges",
    "No exchange is read but the oldest of them, up to --max-message.")
BOUND_ALSO(CLIENT_ANSWERS, "half of it", "max-buffer",
    "answers of the client that wait for the server",
    "The call that asked ends with an error.")
BOUND_ALSO(PARKED_ANSWERS, "half of it", "max-buffer",
    "answers that wait for the retry of a modern client",
    "The retry gets an error (too_large).")
BOUND_ALSO(STDOUT_QUEUE, "half of it", "max-buffer",
    "lines that the client does not read", "stdin is not read.")
BOUND(STDOUT_BYTES, 1, MIB, "lines that the client does not read",
    "No exchange is read until a quarter of it is left.")
BOUND(CONTROL_BYTES, 256, KIB,
    "an answer to a request of mcpsplice's own, while other answers pause",
    "It pauses as they do.")
BOUND(EARLY_BYTES, 1, MIB, "messages that come before the answer to initialize",
    "They are dropped.")
BOUND(ENDPOINT_MESSAGES, 64, COUNT,
    "messages of a stream of 2024-11-05 that come before the status of the "
    "request that they may answer",
    "They are dropped.")
BOUND(ENDPOINT_MESSAGES_BYTES, 1, MIB, "the bytes of these messages",
    "They are dropped.")
BOUND(NOTICE_BYTES, 1, MIB,
    "a notification for subscriptions/listen; all that one of these keeps "
    "until it is acknowledged",
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
BOUND(TOOLS, 10000, COUNT, "tools of a server that are known",
    "A further tool counts as unsafe, none of its parameters becomes a "
    "header, and the list is not kept for the startup cache.")
BOUND(TOOL_NAME_BYTES, 512, B, "name of a tool that is known",
    "The tool is treated in the same way.")
BOUND(TOOL_LIST_BYTES, 4, MIB, "result of tools/list for the startup cache",
    "It is not kept.")
BOUND(TOOL_CURSOR_BYTES, 64, KIB, "a cursor of tools/list",
    "The list is not kept.")
BOUND(MIRRORED_BYTES, 4, MIB,
    "what is known of the parameters that become headers, for all tools",
    "None of the parameters of a further tool becomes a header.")
BOUND(MIRROR_READ_BYTES, 16, MIB,
    "schemas that one result of tools/list makes mcpsplice read",
    "None of the parameters of a further tool becomes a header.")
BOUND(MIRROR_SCHEMAS, 10000, COUNT, "schemas within one tool's inputSchema",
    "None of the tool's parameters becomes a header.")
BOUND(MIRROR_PARAMETERS, 64, COUNT,
    "parameters of one tool that become headers",
    "None of the tool's parameters becomes a header.")
BOUND(MIRROR_NODES, 256, COUNT, "parameters on the way to these, with them",
    "None of the tool's parameters becomes a header.")
BOUND(COOKIES, 64, COUNT, "cookies of the server (none with --no-cookies)",
    "The 16 oldest and the 16 newest stay.")
BOUND(COOKIES_BYTES, 32, KIB, "the bytes of these cookies",
    "The 16 oldest and the 16 newest stay, a quarter of this at most each.")

BOUND_GROUP("Numbers")
BOUND_OPTION(MAX_INFLIGHT, 256, COUNT, "max-inflight",
    "calls at the server, with those that were cancelled and whose stream is "
    "still open",
    "A further call is held back.")
BOUND(NOTIFICATIONS, 64, COUNT,
    "notifications of the client that are on their way",
    "A further notification is held back, and calls pass it.")
BOUND(CANCELS, 256, COUNT, "the same, with cancels", "The cancel is dropped.")
BOUND(ANSWERS, 64, COUNT, "answers of the client that are on their way",
    "A further answer waits.")
BOUND(QUESTIONS, 256, COUNT,
    "questions of the server that are open, with the answers that wait",
    "The question is refused, with one warning a minute; an answer that "
    "waits too long ends the call that asked with an error.")
BOUND(LINGERING, 64, COUNT, "streams that stay open after their answer",
    "The oldest one is closed.")
BOUND(SUBSCRIPTIONS, 1024, COUNT, "subscriptions kept for the next session",
    "A further one is not kept, with a warning.")
BOUND(ANSWERED, 64, COUNT,
    "ids and progress tokens of answered calls, to drop what comes late for "
    "them",
    "What comes for an older one goes to the client.")
BOUND(PROBES, 64, COUNT, "server/discover of the client that wait",
    "A further one is answered with an error (busy).")
BOUND(PARKED, 256, COUNT,
    "requests of a modern client that wait for what was asked",
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
    "The call goes out with what is known.")
BOUND(REDIRECTS, 3, COUNT, "redirects of one request", "The request fails.")
BOUND(SPARE_CONNECTIONS, 16, COUNT,
    "connections that are kept beyond --max-inflight",
    "The one that was idle for the longest time is closed.")
BOUND(FLAPS, 4, COUNT,
    "times that a refused call is sent again with the same session id",
    "The session is renewed.")
BOUND(READY_AGAIN, 2, COUNT, "the same for initialized",
    "The session is renewed.")
BOUND(VAIN, 12, COUNT, "requests in vain for one call",
    "The client gets the server's own error.")
BOUND(QUICK_RESUMES, 20, COUNT,
    "times that the stream of one call is resumed as soon as the server wants",
    "It is resumed once a second.")
BOUND(FALSE_STARTS, 5, COUNT,
    "subscriptions/listen in a row that a modern server ends at once",
    "The next one follows after 5 minutes; that of a modern client is ended.")

BOUND_GROUP("Times")
BOUND_OPTION(CONNECT_TIMEOUT_MS, 10, SEC, "connect-timeout",
    "a connection: name, TCP, TLS",
    "It is tried again; at the end the call fails (upstream_unreachable).")
BOUND_OPTION(INIT_TIMEOUT_MS, 25, SEC, "init-timeout",
    "the answer to initialize, with retries",
    "The client gets an error (upstream_timeout).")
BOUND_OPTION(RETRY_WINDOW_MS, 20, SEC, "retry-window",
    "retries of what did not run", "The call fails with the last error.")
BOUND_OPTION(CALL_TIMEOUT_MS, 3600, SEC, "call-timeout",
    "silence of an open call", "The call fails (upstream_timeout).")
BOUND_OPTION(DRAIN_TIMEOUT_MS, 0, SEC, "drain-timeout",
    "open calls after the end of stdin", "They fail (shutting_down).")
BOUND(SILENT_MS, 60, SEC,
    "silence of an open call until a ping asks whether the session lives",
    "If the session is gone, a safe call is repeated, and another one has the "
    "same time again and then fails (session_lost).")
BOUND(PING_MS, 5, SEC, "the answer to a ping, with retries",
    "It is not known whether the session is gone.")
BOUND(READY_MS, 10, SEC, "the 2xx to initialized",
    "The session goes on, with a warning.")
BOUND(NOTIFICATION_MS, 30, SEC, "the 2xx to a notification",
    "The request is ended.")
BOUND(RECEIPT_MS, 60, SEC,
    "the 2xx to an answer of the client, after its last byte",
    "The request is ended; the call that asked may go on.")
BOUND(DECIDED_MS, 2, SEC, "the body of an answer that its status decides",
    "It is not read on.")
BOUND(LINGER_MS, 5, SEC,
    "a stream after its answer, or after its call was cancelled",
    "It is closed.")
BOUND(RETRY_AFTER_MS, 20, SEC, "a Retry-After that is waited for",
    "If it is longer the call fails at once.")
BOUND(RENEW_MS, 15, SEC, "a call's wait for a new session",
    "The call ends with the server's own error.")
BOUND(HEDGE_MS, 5, SEC, "silence of the initialize of a renewal",
    "A second one goes out on another connection.")
BOUND(RESTORE_MS, 5, SEC, "the answer to one setting that is restored",
    "It is not restored, with a warning.")
BOUND(RESTORING_MS, 10, SEC, "the answers to all of them",
    "Calls go out; the rest is not restored.")
BOUND(VAIN_MS, 5, SEC, "requests in vain for one call",
    "The client gets the server's own error.")
BOUND(CACHED_START_MS, 5, SEC,
    "initialize, if the startup cache knows the server",
    "The startup cache answers.")
BOUND(CACHED_PROBE_MS, 3, SEC, "the same for a client that probes first",
    "The startup cache answers.")
BOUND(USER_MS, 45, SEC, "a call that waits for the user to sign in",
    "The call fails with the URL (auth_required); off with --handshake.")
BOUND(DISCOVER_MS, 3500, MS, "server/discover of the client",
    "It is answered with what is known, or with an error.")
BOUND(PARKED_MS, 10, MIN, "the retry of a modern client that was asked",
    "The call is cancelled at the server, and a retry fails (input_expired).")
BOUND(LEVEL_MS, 5, SEC, "the answer to logging/setLevel before a request",
    "The request goes out.")
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
    "The call goes out with what is known.")
BOUND(ENDPOINT_MS, 10, SEC, "the endpoint event of 2024-11-05",
    "The server does not speak that revision.")
BOUND(ENDPOINT_SOON_MS, 2, SEC, "the same where another revision is likelier",
    "That revision is tried.")
BOUND(UNACKED_MS, 20, SEC,
    "bytes that the server's machine does not acknowledge",
    "The connection is cut, where the system can do that.")
BOUND(DELETE_MS, 1, SEC, "the DELETE of a session", "It is ended.")
BOUND(LAST_MS, 5, SEC,
    "the 2xx to notifications and answers, after the end of stdin and the "
    "last call",
    "mcpsplice exits.")
BOUND(STOP_MS, 1500, MS, "all that is left to do after a signal",
    "mcpsplice exits.")

BOUND(STOP_FLUSH_MS, 300, MS,
    "lines that the client does not read, after a signal", "They are lost.")
BOUND(CHILD_LINGER_MS, 1, SEC,
    "what a program left behind and still writes to its output",
    "It is not waited for.")

BOUND_GROUP("Rates")
BOUND(TURN_BYTES, 256, KIB, "an answer, in one turn of the program's loop",
    "The rest is read when everything else had its turn.")
BOUND(LOG_LINES, 100, COUNT,
    "lines of the log, of each level, in a second; without end with -vv",
    "The others are counted, and the count is told.")
BOUND(LOG_LINE_BYTES, 4, KIB, "a line of the log", "It is cut.")
BOUND(LOG_FILE_BYTES, 5, MIB, "the file of --log-file",
    "It is renamed, and one old file is kept.")
BOUND(WARNING_MS, 60, SEC, "between two warnings of the same kind",
    "What comes meanwhile is told at a lower level.")
BOUND(SUMMARY_MS, 10, MIN, "between two warnings about renewals",
    "What comes meanwhile is told at a lower level.")
BOUND(DUMP_MS, 60, SEC, "between two lists of the latest decisions in the log",
    "There is none.")
BOUND(TOOL_WARNINGS, 20, COUNT, "warnings about tools of one tools/list",
    "The others are counted.")
BOUND(CHANGES_MS, 30, SEC,
    "between two rounds of list_changed for the client, after renewals",
    "The round is later.")
BOUND(VAIN_RENEWALS, 3, COUNT, "renewals in a minute that help nobody",
    "Then there is one in 30 seconds, and calls get the server's own error.")
BOUND(VAIN_RENEWALS_LONG, 10, COUNT, "the same in an hour",
    "Then there is one in 30 seconds, and calls get the server's own error.")
BOUND(VAIN_RENEWAL_MS, 30, SEC, "between two renewals after these",
    "Calls get the server's own error.")
BOUND(LISTEN_STREAMS, 60, COUNT, "listen streams in a minute",
    "The next one is opened later.")
BOUND(UNASKED_RENEWALS, 3, COUNT,
    "renewals that no call waits for, without a line of the client",
    "The next one is made when the client sends something.")
BOUND(QUICK_RENEWALS, 20, COUNT, "renewals in a row",
    "Then there are 4 in a second.")
BOUND(RENEWAL_MS, 250, MS, "between two renewals after these",
    "The renewal waits.")

BOUND_GROUP("Signing in")
BOUND_OPTION(LOGIN_TIMEOUT_MS, 300, SEC, "login-timeout",
    "a login, while the user is waited for", "The login ends.")
BOUND(DISCOVERY_MS, 90, SEC, "all of the look for an authorization server",
    "The login ends.")
BOUND(FETCH_MS, 30, SEC, "one document of an authorization server",
    "The login ends.")
BOUND(DOCUMENT_BYTES, 256, KIB,
    "a document of an authorization server, a record of the store",
    "It is refused.")
BOUND(DOCUMENT_DEPTH, 32, COUNT, "depth of its JSON", "It is refused.")
BOUND(TOKEN_BYTES, 64, KIB, "a token, and each other text that is kept with it",
    "It is refused.")
BOUND(DESCRIPTION_BYTES, 200, B, "the server's words in a message",
    "They are cut.")
BOUND(LOGIN_RETRY_AFTER_MS, 1, DAY, "a Retry-After of an authorization server",
    "A longer one counts as none.")
BOUND(LOGIN_RETRY_MS, 5, MIN,
    "a Retry-After of an authorization server that is obeyed",
    "The next try is made after this time.")
BOUND(SCOPES_BYTES, 512, B, "scopes in what login says at its end",
    "They are cut.")
BOUND(DEVICE_CODE_BYTES, 64, B, "a code that the user has to type",
    "It is refused.")
BOUND(DEVICE_POLL_MS, 60, SEC,
    "between two looks whether a device code was used",
    "A longer interval counts as this one.")
BOUND(DEVICE_LIFE_MS, 30, MIN, "life of a device code", "The code is over.")
BOUND(BROWSER_CONNECTIONS, 16, COUNT, "connections at the port of the redirect",
    "The oldest one that has sent nothing is closed; if there is none, a "
    "further one waits.")
BOUND(BROWSER_REQUEST_BYTES, 8, KIB,
    "a request at this port, or a pasted address", "It is refused.")
BOUND(BROWSER_MS, 10, SEC, "a connection at this port", "It is closed.")
BOUND(BROWSER_CLOSE_MS, 1, SEC, "the end of such a connection", "It is cut.")
BOUND(PORT_MS, 3, SEC, "a port that another program has", "The login fails.")
BOUND(TOKEN_LOCK_MS, 35, SEC, "a token request of another copy",
    "The login ends.")
BOUND(TOKENS, 4, COUNT, "tokens that are tried for one request",
    "The refusal stands.")
BOUND(MORE_SCOPES, 2, COUNT, "tokens with more scopes for one request",
    "The call fails (auth_failed).")
BOUND(MORE_SCOPES_ALONE, 1, COUNT, "the same if no user can be asked",
    "The call fails (auth_failed).")
BOUND(LOGIN_PROCESSES, 20, COUNT, "logins in a row",
    "The refusal stands, until the next one is allowed.")
BOUND(LOGIN_PROCESS_MS, 10, SEC, "between two logins after these",
    "The refusal stands.")
BOUND(BAD_LOGIN_MS, 10, MIN,
    "wait after logins that fail; it begins with 15 seconds",
    "The refusal stands.")
BOUND(WEAK_LOGIN_MS, 60, SEC,
    "the same if the failure may pass; it begins with a second",
    "The refusal stands.")
BOUND(FRUITLESS_MS, 60, SEC, "after a login that came to nothing",
    "No browser is opened.")
BOUND(TABS_MS, 15, MIN, "for three tabs of the browser",
    "No browser is opened.")
BOUND(SIGN_INS_MS, 15, MIN, "for three sign-ins of one proxy that has no store",
    "No browser is opened.")
BOUND(AUTH_COMMAND_MS, 30, SEC, "the program of --auth-command", "It is ended.")
BOUND(AUTH_COMMAND_BYTES, 64, KIB, "what it prints", "It counts as failed.")
BOUND(AUTH_COMMAND_AGAIN_MS, 5, SEC, "after a run that a 401 caused",
    "It is not run again for a 401.")
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
    "It is neither written nor read; if tools/list makes it so long, it is "
    "written without that.")
BOUND(CACHE_DEPTH, 512, COUNT, "depth of its JSON", "It is not read.")
BOUND(CACHE_ERA_BYTES, 256, B, "the file that remembers a server's revision",
    "It is not read.")
BOUND(CACHE_VERSION_BYTES, 128, B, "a revision in such a file",
    "It is not read.")
BOUND(CACHE_LEGACY_MS, 1, DAY,
    "how long it is remembered that a server is not modern",
    "It is found out again.")
BOUND(NOTES, 4096, COUNT, "notes of sessions that were not ended",
    "The rest is not looked at.")
BOUND(NOTE_BYTES, 4, KIB, "such a note", "It is not read.")
BOUND(NOTE_TORN_MS, 60, SEC, "a note that is not complete", "It is removed.")
BOUND(NOTE_FOREIGN_MS, 7, DAY, "a note of another profile", "It is removed.")
BOUND(PENDING_BYTES, 64, KIB, "the file of a login that is not over",
    "It is ignored.")
BOUND(STORE_ENTRIES, 4096, COUNT, "files of the store",
    "The rest is not looked at.")
BOUND(IMPORT_FOLDERS, 256, COUNT, "folders of mcp-remote",
    "The rest is not looked at.")
BOUND(IMPORT_ENTRIES, 4096, COUNT,
    "all that is beside these folders, with them", "The rest is not looked at.")
