/*
 * The errors that mcpsplice itself makes: one row for each, with its name, its
 * code, its reason, whether the call may have run, and its text. The file is
 * included where the rows become something: FAULT says what.
 *
 * All texts are in this one place, so that they read alike: what happened, to
 * which host, whether the call may have run, what to do.
 */

#define WANTS_INPUT                                                            \
	"{host} needs input before it answers {call}: {why}. The call may "    \
	"have run in part: check before calling it again."

/* An exchange broke before a complete answer. */
FAULT(FAULT_UNREACHABLE, FAULT_INTERNAL, "upstream_unreachable", RAN_NO,
    "{host} cannot be reached: {why}. Nothing was sent. {remedy}.")
FAULT(FAULT_TLS, FAULT_INTERNAL, "tls_refused", RAN_NO,
    "No secure connection to {host}: {why}. Nothing was sent. {remedy}.")
FAULT(FAULT_PROXY, FAULT_INTERNAL, "proxy_refused", RAN_NO,
    "{host} cannot be reached: {why}. Nothing was sent, and mcpsplice will "
    "not retry. {remedy}.")
FAULT(FAULT_SETTING, FAULT_INTERNAL, "upstream_unreachable", RAN_NO,
    "{host} cannot be reached with these settings: {why}. Nothing was sent. "
    "{remedy}.")
FAULT(FAULT_DENIED, FAULT_INTERNAL, "auth_failed", RAN_NO,
    "mcpsplice has no credentials for {host}: {why}. Nothing was sent.")
FAULT(FAULT_SIGN_IN, FAULT_INTERNAL, "auth_required", RAN_AS_GIVEN,
    "{host} requires you to sign in: {why}. {maybe?The call may have run: "
    "check before calling it again.|This was not sent; try again after "
    "signing in.}")
FAULT(FAULT_SILENT, FAULT_INTERNAL, "upstream_timeout", RAN_AS_GIVEN,
    "{host} was silent for too long and did not answer {call}. {ran}")
FAULT(FAULT_CUT, FAULT_INTERNAL, "stream_lost", RAN_AS_GIVEN,
    "{host} cut the connection before it answered {call}. {ran}{remedy? "
    "|}{remedy}{remedy?.|}")
FAULT(FAULT_WANTS_HTTPS, FAULT_INTERNAL, "bad_upstream", RAN_NO,
    "{host} speaks https on this port, but the URL says http ({status}). "
    "Write https:// in the URL.")
FAULT(FAULT_WANTS_CERT, FAULT_INTERNAL, "tls_refused", RAN_NO,
    "{host} requires a client certificate ({status}). Add --cert FILE and "
    "--key FILE.")
FAULT(FAULT_CERT_REFUSED, FAULT_INTERNAL, "tls_refused", RAN_NO,
    "{host} rejected the client certificate given with --cert ({status}). "
    "Use one that it trusts: --cert FILE --key FILE.")

/* The answer is none to the request. */
FAULT(FAULT_ANSWER_HUGE, FAULT_INTERNAL, "too_large", RAN_MAYBE,
    "The answer from {host} to {call} is larger than {size} bytes. The call "
    "did run. Ask for less, or raise --max-message.")
FAULT(FAULT_REFUSED, FAULT_INTERNAL, "auth_failed", RAN_AS_GIVEN,
    "{host} refused the request ({status}): {why}")
FAULT(FAULT_401, FAULT_INTERNAL, "auth_required", RAN_AS_GIVEN,
    "{host} requires credentials (401). Pass a token with --bearer-env NAME "
    "or --bearer-file FILE, or a header with -H.{maybe? The call may have "
    "run.|}")
FAULT(FAULT_403, FAULT_INTERNAL, "auth_failed", RAN_AS_GIVEN,
    "{host} refused {sent?these credentials|the request} (403){why?: "
    "|}{why}.{sent? Check the token and its permissions.|}{remedy? "
    "|}{remedy}{remedy?.|}{maybe? The call may have run.|}")
FAULT(FAULT_403_PAGE, FAULT_INTERNAL, "auth_failed", RAN_AS_GIVEN,
    "{host} refused the request with a web page (403){why?: |}{why}. This "
    "may be a firewall in front of it: ask whoever runs the server{sent?, or "
    "check the credentials|}.{remedy? |}{remedy}{remedy?.|}{maybe? The call "
    "may have run.|}")
FAULT(FAULT_407, FAULT_INTERNAL, "proxy_refused", RAN_AS_GIVEN,
    "The proxy requires a user name and a password before it connects to "
    "{host} (407). Add or correct --proxy-user USER:PASSWORD, or use "
    "--proxy-negotiate.")
FAULT(FAULT_REDIRECT, FAULT_INTERNAL, "bad_upstream", RAN_AS_GIVEN,
    "{host} redirects ({status}) to \"{why}\". {remedy?|mcpsplice only "
    "follows 307 and 308 within the same origin. If you trust the new URL, "
    "use it instead}{remedy}.{maybe? The call may have run.|}")
FAULT(FAULT_NOT_READY, FAULT_INTERNAL, "upstream_unreachable", RAN_AS_GIVEN,
    "{host} is not ready to answer ({status}). {maybe?The call may have run: "
    "check before calling it again.|Try again later.}")
FAULT(FAULT_GATEWAY, FAULT_INTERNAL, "upstream_unreachable", RAN_AS_GIVEN,
    "The gateway in front of {host} got no valid answer from it ({status}). "
    "{maybe?The call may have run: check before calling it again.|Try again "
    "later.}")
FAULT(FAULT_413, FAULT_INTERNAL, "too_large", RAN_AS_GIVEN,
    "The request is too large for {host} or a gateway in front of it (413). "
    "Send less.{maybe? The call may have run.|}")
FAULT(FAULT_FAILED, FAULT_INTERNAL, "bad_upstream", RAN_AS_GIVEN,
    "{host} failed ({status}){why?: |.}{why}{maybe? (The call may have run: "
    "check before calling it again.)|}")
FAULT(FAULT_WEB_PAGE, FAULT_INTERNAL, "bad_upstream", RAN_AS_GIVEN,
    "{host} answered with a web page, not MCP ({status}, text/html). Usually "
    "the path is wrong, or the network wants you to log in first. Check the "
    "URL, or open it in a browser.{maybe? The call may have run.|}")
FAULT(FAULT_WRONG_PATH, FAULT_INTERNAL, "bad_upstream", RAN_AS_GIVEN,
    "{host} has no MCP server at this path ({status}{why?; |}{why}). Check "
    "the URL: the path is often /mcp, and a trailing slash matters.{maybe? "
    "The call may have run.|}")
FAULT(FAULT_STATUS, FAULT_INTERNAL, "bad_upstream", RAN_AS_GIVEN,
    "{host} answered {status}, not MCP{why?: |.}{why}{remedy?. |}{remedy}"
    "{remedy?.|}{maybe? (The call may have run: check before calling it "
    "again.)|}")
FAULT(FAULT_UNKNOWN_METHOD, FAULT_METHOD, NULL, RAN_AS_GIVEN,
    "{host} does not know {call} ({status}){why?: |.}{why}")
FAULT(FAULT_NOT_SSE2024, FAULT_INTERNAL, "bad_upstream", RAN_NO,
    "{host} is not an HTTP+SSE server: {why}. Check the URL, or remove "
    "--transport.")
FAULT(FAULT_STREAM_ENDED, FAULT_INTERNAL, "stream_lost", RAN_AS_GIVEN,
    "{host} ended its answer to {call} before it was complete. {ran}")
FAULT(FAULT_NO_RPC, FAULT_INTERNAL, "bad_upstream", RAN_AS_GIVEN,
    "The answer from {host} to {call} is not a JSON-RPC message ({status}, "
    "{name?|no Content-Type}{name}). {ran}")
FAULT(FAULT_CODING, FAULT_INTERNAL, "bad_upstream", RAN_AS_GIVEN,
    "{host} answered {call} in a Content-Encoding that cannot be decoded: "
    "{name}. {ran}")
FAULT(FAULT_NO_ANSWER, FAULT_INTERNAL, "bad_upstream", RAN_AS_GIVEN,
    "{host} accepted {call} ({status}) but sent no answer. {ran}")

/* The client's answer to a question could not be delivered. */
FAULT(FAULT_ASKER_FORGOTTEN, FAULT_INTERNAL, "session_lost", RAN_MAYBE,
    "{host} lost the session in which {call} asked a question. The answer "
    "was not delivered. The call may have run in part: check before calling "
    "it again.")
FAULT(FAULT_UNDELIVERED, FAULT_INTERNAL, "bad_upstream", RAN_MAYBE,
    "{call} asked a question, but {host} did not accept the answer ({why}). "
    "It {sent?may not have been|was not} delivered. The call may have run in "
    "part: check before calling it again.")
FAULT(FAULT_UNDELIVERED_INPUTS, FAULT_INTERNAL, "upstream_unreachable",
    RAN_MAYBE,
    "{host} can no longer be reached: {why}. The answers to its questions "
    "for {call} were not delivered. The call may have run in part: check "
    "before calling it again.")

/* The client sent something that is not forwarded. */
FAULT(FAULT_NO_JSON, FAULT_PARSE, NULL, RAN_NO,
    "Parse error: this line is not valid JSON in UTF-8. Not sent.")
FAULT(FAULT_BATCH, FAULT_REQUEST, NULL, RAN_NO,
    "Invalid request: a line must hold one message, not a batch. Not sent.")
FAULT(FAULT_NO_MESSAGE, FAULT_REQUEST, NULL, RAN_NO,
    "Invalid request: this is not a JSON-RPC 2.0 message. Not sent.")
FAULT(FAULT_TWO_WAYS, FAULT_REQUEST, NULL, RAN_NO,
    "Invalid request: the message is ambiguous (a member occurs twice, or "
    "its name is spelled oddly), which is not allowed while tools are "
    "hidden. Not sent.")
FAULT(FAULT_MESSAGE_HUGE, FAULT_REQUEST, "too_large", RAN_NO,
    "Message too large: {size} bytes. Not sent. Send less, or raise "
    "--max-message.")
FAULT(FAULT_DUPLICATE, FAULT_REQUEST, "duplicate_id", RAN_NO,
    "Duplicate request id: an earlier request with this id is still "
    "unanswered. Not sent.")
FAULT(FAULT_TOOL_FORBIDDEN, FAULT_PARAMS, NULL, RAN_NO,
    "{call} is blocked by {why}. Not sent. If you need this tool, ask "
    "whoever set up mcpsplice to change that option.")
FAULT(FAULT_NO_INITIALIZE, FAULT_PARAMS, NULL, RAN_NO,
    "No session yet: send \"initialize\" first, or start mcpsplice with "
    "--handshake, which does it for you. (A request of the 2026-07-28 "
    "protocol names its version in params._meta.)")
FAULT(FAULT_FULL, FAULT_INTERNAL, "busy", RAN_NO,
    "Too many requests are waiting for {host} ({count} in flight, {size} "
    "bytes held back). Not sent. Wait for answers, then try again.")
FAULT(FAULT_HELD_FULL, FAULT_INTERNAL, "busy", RAN_NO,
    "Too many requests are waiting for {host} ({size} bytes held back). Not "
    "sent. Wait for answers, then try again.")
FAULT(FAULT_LATE, FAULT_INTERNAL, "shutting_down", RAN_NO,
    "mcpsplice is shutting down. Not sent.")
FAULT(FAULT_BAD_LEVEL, FAULT_PARAMS, NULL, RAN_NO,
    "Unknown log level. Use one of debug, info, notice, warning, error, "
    "critical, alert, emergency.")
FAULT(FAULT_BAD_META_LEVEL, FAULT_PARAMS, NULL, RAN_NO,
    "params._meta[\"" META_PREFIX
    "logLevel\"] is not one of debug, info, notice, warning, error, "
    "critical, alert, emergency. Not sent.")
FAULT(FAULT_BAD_META_VERSION, FAULT_PARAMS, NULL, RAN_NO,
    "params._meta[\"" META_PREFIX
    "protocolVersion\"] is not a string. Not sent.")
FAULT(FAULT_BAD_META_CAPABILITIES, FAULT_PARAMS, NULL, RAN_NO,
    "params._meta[\"" META_PREFIX
    "clientCapabilities\"] is missing or not an object. Not sent.")
FAULT(FAULT_NO_META_VERSION, FAULT_PARAMS, NULL, RAN_NO,
    "params._meta[\"" META_PREFIX
    "protocolVersion\"] is missing, and there has been no \"initialize\". "
    "Not sent.")
FAULT(FAULT_BAD_NOTIFICATIONS, FAULT_PARAMS, NULL, RAN_NO,
    "params.notifications is missing or not an object. Not sent.")
FAULT(FAULT_BAD_URI, FAULT_PARAMS, NULL, RAN_NO,
    "params.uri is missing or not a string.")
FAULT(FAULT_UNKNOWN_STATE, FAULT_PARAMS, "input_expired", RAN_MAYBE,
    "Unknown requestState: no such request is waiting for the user, or it "
    "has ended. Not sent, but the original request may have run in part: "
    "check before sending it again without requestState.")
FAULT(FAULT_INITIALIZE_IS_OLD, FAULT_METHOD, NULL, RAN_NO,
    "\"initialize\" is not a method of " REVISION_MODERN
    ". Not sent. To start a session of an older version, remove _meta.")
FAULT(FAULT_INITIALIZED_OLD, FAULT_METHOD, NULL, RAN_NO,
    "This client sent \"initialize\", but {host} does not "
    "speak MCP " REVISION_MODERN
    ". Not sent. Use the methods of the version that \"initialize\" agreed "
    "on.")
FAULT(FAULT_INITIALIZED_LISTENS, FAULT_METHOD, NULL, RAN_NO,
    "This client sent \"initialize\", so it hears of changes in its session "
    "without subscriptions/listen. Not sent.")
FAULT(FAULT_NOT_TRANSLATED, FAULT_METHOD, NULL, RAN_NO,
    "{host} speaks an older protocol than this client: \"{name}\" cannot be "
    "translated. Not sent.")
FAULT(FAULT_NOT_IN_MODERN, FAULT_METHOD, NULL, RAN_NO,
    "{host} speaks MCP " REVISION_MODERN ", which has no {call}. Not "
    "sent.")
FAULT(FAULT_LISTEN_IS_MODERN, FAULT_METHOD, NULL, RAN_NO,
    "subscriptions/listen is for clients that speak MCP " REVISION_MODERN
    ". Not sent: this client hears of changes without it.")
FAULT(FAULT_NO_SUBSCRIPTIONS, FAULT_METHOD, NULL, RAN_NO,
    "{host} does not offer resource subscriptions.")
FAULT(FAULT_NOT_HONOURED, FAULT_PARAMS, NULL, RAN_NO,
    "{host} did not accept the subscription.")
FAULT(FAULT_NOT_ACKNOWLEDGED, FAULT_INTERNAL, "upstream_timeout", RAN_NO,
    "{host} did not acknowledge the subscription within {count} s. Try again "
    "later.")
FAULT(FAULT_SUBSCRIPTIONS_FULL, FAULT_INTERNAL, "busy", RAN_NO,
    "Too many resource subscriptions: cancel some first.")
FAULT(FAULT_LISTENS_FULL, FAULT_INTERNAL, "busy", RAN_NO,
    "Too many subscriptions/listen at once ({count}). Cancel one first.")
FAULT(FAULT_URIS_FULL, FAULT_INTERNAL, "busy", RAN_NO,
    "Too many resources of {host} are being watched ({count}, or {limit} KiB "
    "of URIs). Cancel a subscriptions/listen first.")

/* The answer is too large for the client. */
FAULT(FAULT_RESULT_HUGE, FAULT_INTERNAL, "too_large", RAN_MAYBE,
    "The answer from {host} to {call} is too large for the client: {size} "
    "bytes; the limit is {limit}. The call did run. Ask for less, or raise "
    "--max-result if your client takes it.")
FAULT(FAULT_TRANSLATED_HUGE, FAULT_INTERNAL, "too_large", RAN_MAYBE,
    "The answer from {host} is too large for the client: {size} bytes; the "
    "limit is {limit}. Ask for less, or raise --max-result if your client "
    "takes it.")
FAULT(FAULT_PARKED_HUGE, FAULT_INTERNAL, "too_large", RAN_MAYBE,
    "{host} answered while the user was being asked, but its answer was too "
    "large to keep ({size} bytes). The call did run. Ask for less.")

/* mcpsplice cannot start, or ends. */
FAULT(FAULT_START, FAULT_INTERNAL, NULL, RAN_NO,
    "mcpsplice cannot start: {why}")
FAULT(FAULT_STOPPED, FAULT_INTERNAL, "shutting_down", RAN_AS_GIVEN,
    "mcpsplice was told to end before {host} answered. The call {maybe?may "
    "have run|did not run}.")
FAULT(FAULT_DRAINED, FAULT_INTERNAL, "shutting_down", RAN_AS_GIVEN,
    "The client closed stdin, and {host} did not answer within "
    "--drain-timeout, so mcpsplice ended. The call {maybe?may have run|did "
    "not run}.")

/* The session is lost, or there is none yet. */
FAULT(FAULT_BEGUN_AGAIN, FAULT_INTERNAL, "session_lost", RAN_AS_GIVEN,
    "The client started a new session before {host} answered. The call "
    "{maybe?may have run: check before calling it again|did not run}.")
FAULT(FAULT_FORGOTTEN, FAULT_INTERNAL, "session_lost", RAN_AS_GIVEN,
    "{host} refused the session ({status}){why}. The call {maybe?may have run: "
    "check before calling it again|did not run: try again}.")
FAULT(FAULT_ACCEPTED_FORGOTTEN, FAULT_INTERNAL, "session_lost", RAN_MAYBE,
    "{host} lost the session before it answered. The call may have run: "
    "check before calling it again.")
FAULT(FAULT_INTERRUPTED, FAULT_INTERNAL, "session_lost", RAN_MAYBE,
    "{host} ended the session before it answered {call}. {ran}")
FAULT(FAULT_NO_SESSION, FAULT_INTERNAL, "reinit_failed", RAN_AS_GIVEN,
    "Cannot open a session with {host}: {why}. The call {maybe?may have run: "
    "check before calling it again|did not run}. {remedy?|Try again "
    "later}{remedy}.")
FAULT(FAULT_NO_NEW_SESSION, FAULT_INTERNAL, "reinit_failed", RAN_AS_GIVEN,
    "{host} lost the session, and a new one cannot be opened: {why}. The "
    "call {maybe?may have run: check before calling it again|did not run}. "
    "{remedy?|Try again later}{remedy}.")
FAULT(FAULT_INITIALIZE_SLOW, FAULT_INTERNAL, "upstream_timeout", RAN_NO,
    "{host} did not answer initialize within {count} s "
    "(--init-timeout){why}. {remedy?|Check the URL, and that the server is "
    "up}{remedy}.")
FAULT(FAULT_HELPER_SLOW, FAULT_INTERNAL, "upstream_timeout", RAN_NO,
    "--auth-command did not answer within {count} s (--init-timeout), so "
    "nothing was sent to {host}.")
FAULT(FAULT_PROBE_SLOW, FAULT_INTERNAL, "upstream_timeout", RAN_NO,
    "{host} did not answer in time, so its MCP version is not known yet. "
    "mcpsplice keeps trying: ask again, or send \"initialize\".")

/* To the server: its question does not get the client's answer. */
FAULT(FAULT_ASKED_TOO_MUCH, FAULT_INTERNAL, "busy", RAN_NO,
    "Too many questions for the client at once.")
FAULT(FAULT_QUESTION_HUGE, FAULT_INTERNAL, "too_large", RAN_NO,
    "This question is too large for the client: {size} bytes.")
FAULT(FAULT_NOBODY, FAULT_METHOD, NULL, RAN_NO, "There is no client to answer.")
FAULT(FAULT_BAD_ANSWER, FAULT_INTERNAL, NULL, RAN_NO,
    "The client's answer {why}.")
FAULT(FAULT_ASKED_OUTSIDE, FAULT_METHOD, NULL, RAN_NO,
    "The client can only be asked while it waits for tools/call, prompts/get "
    "or resources/read; this question belongs to none of them.")
FAULT(FAULT_ASKED_NOWHERE, FAULT_METHOD, NULL, RAN_NO,
    "No request is running, so there is no client to ask.")
FAULT(FAULT_METHOD_UNDECLARED, FAULT_METHOD, NULL, RAN_NO,
    "The client did not declare that it can answer this.")
FAULT(FAULT_PARAMS_UNDECLARED, FAULT_PARAMS, NULL, RAN_NO,
    "The client did not declare that it can answer this.")
FAULT(FAULT_USER_SILENT, FAULT_INTERNAL, "input_expired", RAN_NO,
    "The user did not answer.")
FAULT(FAULT_USER_SILENT_SAMPLING, FAULT_REJECTED, "input_expired", RAN_NO,
    "The user did not answer.")

/* A modern server answers what the client cannot be given. */
FAULT(FAULT_INPUT_ROUNDS, FAULT_INTERNAL, "input_rounds_exceeded", RAN_MAYBE,
    WANTS_INPUT)
FAULT(FAULT_INPUT_REFUSED, FAULT_INTERNAL, "input_refused", RAN_MAYBE,
    WANTS_INPUT)
FAULT(FAULT_INPUT_HUGE, FAULT_INTERNAL, "too_large", RAN_MAYBE, WANTS_INPUT)
FAULT(FAULT_INPUT_BAD, FAULT_INTERNAL, "bad_upstream", RAN_MAYBE, WANTS_INPUT)
FAULT(FAULT_INPUT_EXPIRED, FAULT_INTERNAL, "input_expired", RAN_MAYBE,
    WANTS_INPUT)
FAULT(FAULT_INPUT_NOT_ALLOWED, FAULT_INTERNAL, "bad_upstream", RAN_MAYBE,
    "{host} needs input before it answers {call}. The protocol allows that "
    "only for tools/call, prompts/get and resources/read.")
FAULT(FAULT_RESULT_TYPE, FAULT_INTERNAL, "unsupported_result", RAN_MAYBE,
    "{host} answered {call} with a result of the type {name}, which this "
    "client does not understand. The call may have run, or may still be "
    "running.")
FAULT(FAULT_HEADER_HUGE, FAULT_INTERNAL, "too_large", RAN_AS_GIVEN,
    "{host} refused {call} without the header {why}. mcpsplice did not send "
    "it, because its value is too large for a header.{maybe?| The call did not "
    "run.}")
FAULT(FAULT_HEADERS_REFUSED, FAULT_INTERNAL, "bad_upstream", RAN_AS_GIVEN,
    "{host} refused the headers of {call}, even after mcpsplice listed its "
    "tools again: the server does not follow its own tools/list. Ask whoever "
    "runs it.{maybe?| The call did not run.}")
FAULT(FAULT_ARGUMENT_UNFIT, FAULT_PARAMS, NULL, RAN_NO,
    "{call} also takes the argument {why} as a header, so it must be a "
    "string, a boolean, or an integer between -(2^53-1) and 2^53-1. The call "
    "did not run.")
FAULT(FAULT_VERSION_REFUSED, FAULT_INTERNAL, "version_changed", RAN_AS_GIVEN,
    "{host} says that it speaks MCP " REVISION_MODERN
    ", but refuses {call} for that version.{maybe?| The call did not run.}")
FAULT(FAULT_ASKS_BY_REQUEST, FAULT_INTERNAL, "bad_upstream", RAN_MAYBE,
    "{host} sent a request of its own before it answered {call}, which its "
    "version of the protocol does not allow. The call may have run.")
FAULT(FAULT_SSE2024_BY_POST, FAULT_INTERNAL, "bad_upstream", RAN_NO,
    "{host} answered the POST with an HTTP+SSE stream, {why}")

#undef WANTS_INPUT
#undef FAULT
