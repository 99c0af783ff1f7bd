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
    "There is no secure connection to {host}: {why}. Nothing was sent. "
    "{remedy}.")
FAULT(FAULT_PROXY, FAULT_INTERNAL, "proxy_refused", RAN_NO,
    "{host} cannot be reached: {why}. Nothing was sent, and mcpsplice does not "
    "try again. {remedy}.")
FAULT(FAULT_SETTING, FAULT_INTERNAL, "upstream_unreachable", RAN_NO,
    "{host} cannot be reached with these settings: {why}. Nothing was sent. "
    "{remedy}.")
FAULT(FAULT_DENIED, FAULT_INTERNAL, "auth_failed", RAN_NO,
    "mcpsplice has no credentials for {host}: {why}. Nothing was sent.")
FAULT(FAULT_SIGN_IN, FAULT_INTERNAL, "auth_required", RAN_AS_GIVEN,
    "{host} wants a sign-in first: {why}. {maybe?The call may have run "
    "before: check before calling it again.|This was not sent: try again when "
    "you have signed in.}")
FAULT(FAULT_SILENT, FAULT_INTERNAL, "upstream_timeout", RAN_AS_GIVEN,
    "{host} was silent for too long, and did not answer {call}. {ran}")
FAULT(FAULT_CUT, FAULT_INTERNAL, "stream_lost", RAN_AS_GIVEN,
    "{host} cut the connection before it answered {call}. {ran}{remedy? "
    "|}{remedy}{remedy?.|}")
FAULT(FAULT_WANTS_HTTPS, FAULT_INTERNAL, "bad_upstream", RAN_NO,
    "{host} speaks https at this port, and the URL says http ({status}). "
    "Write https:// in the URL.")
FAULT(FAULT_WANTS_CERT, FAULT_INTERNAL, "tls_refused", RAN_NO,
    "{host} wants a client certificate ({status}). Add --cert FILE and --key "
    "FILE.")
FAULT(FAULT_CERT_REFUSED, FAULT_INTERNAL, "tls_refused", RAN_NO,
    "{host} does not accept the client certificate of --cert ({status}). Give "
    "one that it trusts with --cert and --key.")

/* The answer is none to the request. */
FAULT(FAULT_ANSWER_HUGE, FAULT_INTERNAL, "too_large", RAN_MAYBE,
    "The answer of {host} to {call} is too large: more than {size} bytes. The "
    "call did run. Ask for less, or raise --max-message.")
FAULT(FAULT_REFUSED, FAULT_INTERNAL, "auth_failed", RAN_AS_GIVEN,
    "{host} refused the request ({status}): {why}")
FAULT(FAULT_401, FAULT_INTERNAL, "auth_required", RAN_AS_GIVEN,
    "{host} wants credentials (401). Pass a token with --bearer-env NAME or "
    "--bearer-file FILE, or a header with -H.{maybe? The call may have "
    "run.|}")
FAULT(FAULT_403, FAULT_INTERNAL, "auth_failed", RAN_AS_GIVEN,
    "{host} refused {sent?these credentials|the request} (403){why?: |}{why}."
    "{sent? Check the token and its rights.|}{remedy? |}{remedy}{remedy?.|}"
    "{maybe? The call may have run.|}")
FAULT(FAULT_403_PAGE, FAULT_INTERNAL, "auth_failed", RAN_AS_GIVEN,
    "{host} refused the request with a web page (403){why?: |}{why}. A "
    "firewall in front of it may have done so: ask whoever runs it{sent?, or "
    "check the credentials|}.{remedy? |}{remedy}{remedy?.|}{maybe? The call "
    "may have run.|}")
FAULT(FAULT_407, FAULT_INTERNAL, "proxy_refused", RAN_AS_GIVEN,
    "The proxy wants a user and a password before it sends anything to {host} "
    "(407). Add --proxy-user USER:PASSWORD or --proxy-negotiate, or correct "
    "it.")
FAULT(FAULT_REDIRECT, FAULT_INTERNAL, "bad_upstream", RAN_AS_GIVEN,
    "{host} redirects ({status}) to \"{why}\". {remedy?|mcpsplice follows 307 "
    "and 308 on the same origin only: use the new URL if you trust it}"
    "{remedy}.{maybe? The call may have run.|}")
FAULT(FAULT_NOT_READY, FAULT_INTERNAL, "upstream_unreachable", RAN_AS_GIVEN,
    "{host} is not ready to answer ({status}). {maybe?The call may have run: "
    "check before calling it again.|Try again later.}")
FAULT(FAULT_GATEWAY, FAULT_INTERNAL, "upstream_unreachable", RAN_AS_GIVEN,
    "The gateway in front of {host} got no good answer from it ({status}). "
    "{maybe?The call may have run: check before calling it again.|Try again "
    "later.}")
FAULT(FAULT_413, FAULT_INTERNAL, "too_large", RAN_AS_GIVEN,
    "The request is too large for {host}, or for a gateway in front of it "
    "(413): send less.{maybe? The call may have run.|}")
FAULT(FAULT_FAILED, FAULT_INTERNAL, "bad_upstream", RAN_AS_GIVEN,
    "{host} failed ({status}){why?: |.}{why}{maybe? (The call may have run: "
    "check before calling it again.)|}")
FAULT(FAULT_WEB_PAGE, FAULT_INTERNAL, "bad_upstream", RAN_AS_GIVEN,
    "{host} answered with a web page, not MCP ({status}, text/html). This is "
    "usually the sign-in page of a network, or a wrong path: open a browser, "
    "or check the URL.{maybe? The call may have run.|}")
FAULT(FAULT_WRONG_PATH, FAULT_INTERNAL, "bad_upstream", RAN_AS_GIVEN,
    "{host} has no MCP server at this path ({status}{why?; |}{why}). Check "
    "the URL: the path is often /mcp, and a slash at its end counts.{maybe? "
    "The call may have run.|}")
FAULT(FAULT_STATUS, FAULT_INTERNAL, "bad_upstream", RAN_AS_GIVEN,
    "{host} answered {status}, not MCP{why?: |.}{why}{remedy?. |}{remedy}"
    "{remedy?.|}{maybe? (The call may have run: check before calling it "
    "again.)|}")
FAULT(FAULT_UNKNOWN_METHOD, FAULT_METHOD, NULL, RAN_AS_GIVEN,
    "{host} does not know {call} ({status}){why?: |.}{why}")
FAULT(FAULT_NOT_SSE2024, FAULT_INTERNAL, "bad_upstream", RAN_NO,
    "{host} is no HTTP+SSE server: {why}. Check the URL, or leave --transport "
    "out.")
FAULT(FAULT_STREAM_ENDED, FAULT_INTERNAL, "stream_lost", RAN_AS_GIVEN,
    "{host} ended its answer to {call} before it was complete. {ran}")
FAULT(FAULT_NO_RPC, FAULT_INTERNAL, "bad_upstream", RAN_AS_GIVEN,
    "{host} answered {call} with something that is no JSON-RPC message "
    "({status}, {name?|no Content-Type}{name}). {ran}")
FAULT(FAULT_CODING, FAULT_INTERNAL, "bad_upstream", RAN_AS_GIVEN,
    "{host} answered {call} in a Content-Encoding that cannot be decoded: "
    "{name}. {ran}")
FAULT(FAULT_NO_ANSWER, FAULT_INTERNAL, "bad_upstream", RAN_AS_GIVEN,
    "{host} accepted {call} ({status}) but sent no answer. {ran}")

/* The client's answer to a question could not be delivered. */
FAULT(FAULT_ASKER_FORGOTTEN, FAULT_INTERNAL, "session_lost", RAN_MAYBE,
    "{host} forgot the session in which {call} asked a question. The answer "
    "was not delivered. The call may have run in part: check before calling it "
    "again.")
FAULT(FAULT_UNDELIVERED, FAULT_INTERNAL, "bad_upstream", RAN_MAYBE,
    "{call} asked a question, and {host} did not take the answer ({why}). It "
    "{sent?may not have been|was not} delivered. The call may have run in "
    "part: check before calling it again.")
FAULT(FAULT_UNDELIVERED_INPUTS, FAULT_INTERNAL, "upstream_unreachable",
    RAN_MAYBE,
    "{host} cannot be reached any more: {why}. The answers to its questions "
    "for {call} were not delivered. The call may have run in part: check "
    "before calling it again.")

/* The client sent something that is not forwarded. */
FAULT(FAULT_NO_JSON, FAULT_PARSE, NULL, RAN_NO,
    "Parse error: this line is no JSON in UTF-8. Not sent.")
FAULT(FAULT_BATCH, FAULT_REQUEST, NULL, RAN_NO,
    "Invalid request: a line must hold one message, not a batch. Not sent.")
FAULT(FAULT_NO_MESSAGE, FAULT_REQUEST, NULL, RAN_NO,
    "Invalid request: this is no JSON-RPC 2.0 message. Not sent.")
FAULT(FAULT_TWO_WAYS, FAULT_REQUEST, NULL, RAN_NO,
    "Invalid request: this message can be read in two ways, because a member is "
    "there twice or its name is spelled oddly, and tools are kept from this "
    "client. Not sent.")
FAULT(FAULT_MESSAGE_HUGE, FAULT_REQUEST, "too_large", RAN_NO,
    "Message too large: {size} bytes. Not sent. Send less, or raise "
    "--max-message.")
FAULT(FAULT_DUPLICATE, FAULT_REQUEST, "duplicate_id", RAN_NO,
    "Duplicate request id: the request before it with the same id has no "
    "answer yet. Not sent.")
FAULT(FAULT_TOOL_FORBIDDEN, FAULT_PARAMS, NULL, RAN_NO,
    "{call} is kept from this client by {why}. Not sent. Ask whoever set up "
    "mcpsplice to change that option if you need this tool.")
FAULT(FAULT_NO_INITIALIZE, FAULT_PARAMS, NULL, RAN_NO,
    "There is no session yet: send \"initialize\" first, or start mcpsplice "
    "with --handshake to have it done for you. (A request of the 2026-07-28 "
    "protocol would name its version in params._meta.)")
FAULT(FAULT_FULL, FAULT_INTERNAL, "busy", RAN_NO,
    "Too many requests wait for {host} ({count} in flight, {size} bytes held "
    "back). Not sent. Wait for answers, then try again.")
FAULT(FAULT_HELD_FULL, FAULT_INTERNAL, "busy", RAN_NO,
    "Too many requests wait for {host} ({size} bytes held back). Not sent. "
    "Wait for answers, then try again.")
FAULT(FAULT_LATE, FAULT_INTERNAL, "shutting_down", RAN_NO,
    "mcpsplice is shutting down. Not sent.")
FAULT(FAULT_BAD_LEVEL, FAULT_PARAMS, NULL, RAN_NO,
    "There is no such log level. Use one of debug, info, notice, warning, "
    "error, critical, alert, emergency.")
FAULT(FAULT_BAD_META_LEVEL, FAULT_PARAMS, NULL, RAN_NO,
    "params._meta[\"" META_PREFIX "logLevel\"] is none of debug, info, "
    "notice, warning, error, critical, alert, emergency. Not sent.")
FAULT(FAULT_BAD_META_VERSION, FAULT_PARAMS, NULL, RAN_NO,
    "params._meta[\"" META_PREFIX "protocolVersion\"] is no string. "
    "Not sent.")
FAULT(FAULT_BAD_META_CAPABILITIES, FAULT_PARAMS, NULL, RAN_NO,
    "params._meta[\"" META_PREFIX "clientCapabilities\"] is missing, "
    "or no object. Not sent.")
FAULT(FAULT_NO_META_VERSION, FAULT_PARAMS, NULL, RAN_NO,
    "params._meta[\"" META_PREFIX "protocolVersion\"] is missing, and "
    "there was no \"initialize\". Not sent.")
FAULT(FAULT_BAD_NOTIFICATIONS, FAULT_PARAMS, NULL, RAN_NO,
    "params.notifications is missing, or no object. Not sent.")
FAULT(FAULT_BAD_URI, FAULT_PARAMS, NULL, RAN_NO,
    "params.uri is missing, or is no string.")
FAULT(FAULT_UNKNOWN_STATE, FAULT_PARAMS, "input_expired", RAN_MAYBE,
    "Unknown requestState: no such request waits for the user, or it has "
    "ended. This was not sent, but the request before it may have run in part: "
    "check before sending it again without requestState.")
FAULT(FAULT_INITIALIZE_IS_OLD, FAULT_METHOD, NULL, RAN_NO,
    "\"initialize\" is not a method of " REVISION_MODERN ". Not sent: "
    "leave _meta out to begin a session of an older version.")
FAULT(FAULT_INITIALIZED_OLD, FAULT_METHOD, NULL, RAN_NO,
    "This client sent \"initialize\", and {host} does not speak "
    "MCP " REVISION_MODERN ". Not sent: use the methods of the "
    "version that \"initialize\" agreed on.")
FAULT(FAULT_INITIALIZED_LISTENS, FAULT_METHOD, NULL, RAN_NO,
    "This client sent \"initialize\": it is told of changes in its session, "
    "without subscriptions/listen. Not sent.")
FAULT(FAULT_NOT_TRANSLATED, FAULT_METHOD, NULL, RAN_NO,
    "{host} speaks an older protocol than this client: \"{name}\" cannot be "
    "translated. Not sent.")
FAULT(FAULT_NOT_IN_MODERN, FAULT_METHOD, NULL, RAN_NO,
    "{host} speaks MCP " REVISION_MODERN ", which has no {call}. Not "
    "sent.")
FAULT(FAULT_LISTEN_IS_MODERN, FAULT_METHOD, NULL, RAN_NO,
    "subscriptions/listen is for clients that speak MCP " REVISION_MODERN ". "
    "Not sent: this client is told of changes without it.")
FAULT(FAULT_NO_SUBSCRIPTIONS, FAULT_METHOD, NULL, RAN_NO,
    "{host} offers no subscriptions to resources.")
FAULT(FAULT_NOT_HONOURED, FAULT_PARAMS, NULL, RAN_NO,
    "{host} did not accept the subscription.")
FAULT(FAULT_NOT_ACKNOWLEDGED, FAULT_INTERNAL, "upstream_timeout", RAN_NO,
    "{host} did not acknowledge the subscription within {count} s. Try again "
    "later.")
FAULT(FAULT_SUBSCRIPTIONS_FULL, FAULT_INTERNAL, "busy", RAN_NO,
    "Too many subscriptions to resources: unsubscribe from some first.")
FAULT(FAULT_LISTENS_FULL, FAULT_INTERNAL, "busy", RAN_NO,
    "Too many subscriptions/listen at once ({count}). Cancel one first.")
FAULT(FAULT_URIS_FULL, FAULT_INTERNAL, "busy", RAN_NO,
    "Too many resources of {host} are watched at once ({count}, or {limit} "
    "KiB of URIs). Cancel a subscriptions/listen first.")

/* The answer is too large for the client. */
FAULT(FAULT_RESULT_HUGE, FAULT_INTERNAL, "too_large", RAN_MAYBE,
    "The answer of {host} to {call} is too large for the client: {size} bytes, "
    "the limit is {limit}. The call did run. Ask for less, or raise "
    "--max-result if your client takes it.")
FAULT(FAULT_TRANSLATED_HUGE, FAULT_INTERNAL, "too_large", RAN_MAYBE,
    "The answer of {host} is too large for the client: {size} bytes, the "
    "limit is {limit}. Ask for less, or raise --max-result if your client "
    "takes it.")
FAULT(FAULT_PARKED_HUGE, FAULT_INTERNAL, "too_large", RAN_MAYBE,
    "{host} answered while the user was asked, and its answer was too large to "
    "be kept ({size} bytes). The call did run. Ask for less.")

/* mcpsplice cannot start, or ends. */
FAULT(FAULT_START, FAULT_INTERNAL, NULL, RAN_NO,
    "mcpsplice cannot start: {why}")
FAULT(FAULT_STOPPED, FAULT_INTERNAL, "shutting_down", RAN_AS_GIVEN,
    "mcpsplice was told to end before {host} answered. The call {maybe?may "
    "have run|did not run}.")
FAULT(FAULT_DRAINED, FAULT_INTERNAL, "shutting_down", RAN_AS_GIVEN,
    "{host} did not answer within the time of --drain-timeout after the client "
    "closed stdin, so mcpsplice ended. The call {maybe?may have run|did not "
    "run}.")

/* The session is lost, or there is none yet. */
FAULT(FAULT_BEGUN_AGAIN, FAULT_INTERNAL, "session_lost", RAN_AS_GIVEN,
    "The client began a new session before {host} answered. The call "
    "{maybe?may have run: check before calling it again|did not run}.")
FAULT(FAULT_FORGOTTEN, FAULT_INTERNAL, "session_lost", RAN_AS_GIVEN,
    "{host} refused the session ({status}){why}. The call {maybe?may have run: "
    "check before calling it again|did not run: try again}.")
FAULT(FAULT_ACCEPTED_FORGOTTEN, FAULT_INTERNAL, "session_lost", RAN_MAYBE,
    "{host} forgot the session before it answered. The call may have run: "
    "check before calling it again.")
FAULT(FAULT_INTERRUPTED, FAULT_INTERNAL, "session_lost", RAN_MAYBE,
    "{host} ended the session before it answered {call}. {ran}")
FAULT(FAULT_NO_SESSION, FAULT_INTERNAL, "reinit_failed", RAN_AS_GIVEN,
    "No session with {host} could be made: {why}. The call {maybe?may have "
    "run: check before calling it again|did not run}. {remedy?|Try again "
    "later}{remedy}.")
FAULT(FAULT_NO_NEW_SESSION, FAULT_INTERNAL, "reinit_failed", RAN_AS_GIVEN,
    "{host} forgot the session, and no new one could be made: {why}. The call "
    "{maybe?may have run: check before calling it again|did not run}. "
    "{remedy?|Try again later}{remedy}.")
FAULT(FAULT_INITIALIZE_SLOW, FAULT_INTERNAL, "upstream_timeout", RAN_NO,
    "{host} did not answer initialize within {count} s (--init-timeout){why}. "
    "{remedy?|Check that the server is up and the URL is right}{remedy}.")
FAULT(FAULT_HELPER_SLOW, FAULT_INTERNAL, "upstream_timeout", RAN_NO,
    "--auth-command has not answered yet, and initialize waits for it: nothing "
    "was sent to {host} within {count} s (--init-timeout).")
FAULT(FAULT_PROBE_SLOW, FAULT_INTERNAL, "upstream_timeout", RAN_NO,
    "{host} did not answer in time, so it is not known yet which version of "
    "MCP it speaks. mcpsplice goes on trying: ask again, or send "
    "\"initialize\".")

/* To the server: its question does not get the client's answer. */
FAULT(FAULT_ASKED_TOO_MUCH, FAULT_INTERNAL, "busy", RAN_NO,
    "The client is asked too much at once.")
FAULT(FAULT_QUESTION_HUGE, FAULT_INTERNAL, "too_large", RAN_NO,
    "This question is too large for the client: {size} bytes.")
FAULT(FAULT_NOBODY, FAULT_METHOD, NULL, RAN_NO,
    "There is no client that could answer.")
FAULT(FAULT_BAD_ANSWER, FAULT_INTERNAL, NULL, RAN_NO,
    "The client's answer {why}.")
FAULT(FAULT_ASKED_OUTSIDE, FAULT_METHOD, NULL, RAN_NO,
    "The client can be asked while it waits for tools/call, prompts/get or "
    "resources/read only; this question belongs to none of them.")
FAULT(FAULT_ASKED_NOWHERE, FAULT_METHOD, NULL, RAN_NO,
    "No request is running, so there is no client to ask.")
FAULT(FAULT_METHOD_UNDECLARED, FAULT_METHOD, NULL, RAN_NO,
    "The client did not declare that it answers this.")
FAULT(FAULT_PARAMS_UNDECLARED, FAULT_PARAMS, NULL, RAN_NO,
    "The client did not declare that it answers this.")
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
    "{host} needs input before it answers {call}. The protocol allows that for "
    "tools/call, prompts/get and resources/read only.")
FAULT(FAULT_RESULT_TYPE, FAULT_INTERNAL, "unsupported_result", RAN_MAYBE,
    "{host} answered {call} with a result of the type {name}, which this "
    "client cannot take. The call may have run, or may still be running.")
FAULT(FAULT_HEADER_HUGE, FAULT_INTERNAL, "too_large", RAN_AS_GIVEN,
    "{host} refused {call} without the header {why}. mcpsplice did not send "
    "it, because its value is too large for a header.{maybe?| The call did not "
    "run.}")
FAULT(FAULT_HEADERS_REFUSED, FAULT_INTERNAL, "bad_upstream", RAN_AS_GIVEN,
    "{host} refused the headers of {call}, even after mcpsplice listed its "
    "tools again: the server does not keep to its own tools/list. Ask whoever "
    "runs it.{maybe?| The call did not run.}")
FAULT(FAULT_ARGUMENT_UNFIT, FAULT_PARAMS, NULL, RAN_NO,
    "{call} wants the argument {why} as a header, too, which has to be a "
    "string, a boolean, or an integer between -(2^53-1) and 2^53-1. The call "
    "did not run.")
FAULT(FAULT_VERSION_REFUSED, FAULT_INTERNAL, "version_changed", RAN_AS_GIVEN,
    "{host} said that it speaks MCP " REVISION_MODERN ", and refuses {call} "
    "for that version.{maybe?| The call did not run.}")
FAULT(FAULT_ASKS_BY_REQUEST, FAULT_INTERNAL, "bad_upstream", RAN_MAYBE,
    "{host} sent a request of its own before it answered {call}, which its "
    "version of the protocol does not allow. The call may have run.")
FAULT(FAULT_SSE2024_BY_POST, FAULT_INTERNAL, "bad_upstream", RAN_NO,
    "{host} opens a stream of HTTP+SSE for a POST, {why}")

#undef WANTS_INPUT
#undef FAULT
