/*
 * The two eras of the protocol, message by message: legacy (2024-11-05 to
 * 2025-11-25, with initialize) and modern (2026-07-28: no session, _meta in
 * each request). All functions are pure: a message goes in, the same message of
 * the other era comes out. Text that is the same in both eras stays byte for
 * byte. (doc/design.md "Eras")
 *
 * Raw JSON is checked JSON, as in frames. All returned frames are parsed, are
 * new or have one more reference, and belong to the caller.
 */
#ifndef MCPSPLICE_CORE_ERA_ERA_H
#define MCPSPLICE_CORE_ERA_ERA_H

#include "base/frame.h"
#include "core/wire/protocol.h"

enum { ERA_FAMILIES = 3, ERA_LEVELS = 8 };

/* A list that can change: its capability, the member of a listen's filter, the
 * notification of a change. */
struct era_family {
	const char *name, *wish, *changed;
};
extern const struct era_family era_families[ERA_FAMILIES];
/* The index of the family whose list_changed this method is, or ERA_FAMILIES. */
size_t era_family(struct span method);
/* Log levels by severity. */
extern const char *const era_levels[ERA_LEVELS];

/* How a request or notification of the client goes over to the other era. */
enum era_way {
	ERA_BOTH,  /* exists in both: translated */
	ERA_LOCAL, /* answered or dropped by core/modern_client or core/server */
	ERA_NONE   /* the other era has no such message: -32601, or dropped */
};

/* --- properties of messages --- */

/* Returns params._meta["io.modelcontextprotocol/protocolVersion"] as raw JSON,
 * p NULL if there is none. A request that has it is modern. */
struct span era_request_version(const struct frame *request);
/* Returns the raw member of params._meta with this key. */
struct span era_meta(const struct frame *f, const char *key);
/* Returns the legacy version that suits a client best which wants another one
 * (raw): of those that the text names the newest that is older than the one
 * wanted, else the oldest; NULL: it names none. */
const char *era_named_version(struct span text, struct span wanted);
/* Returns the legacy version that a client hears which asked for one, and whose
 * server took another (all raw): the one asked for if the server's is newer,
 * because some clients take no other and the messages are the same; else the
 * server's. */
struct span era_heard_version(struct span asked, struct span taken);
/* Decide by the method; unknown methods are ERA_BOTH. */
enum era_way era_to_modern(const struct frame *legacy);
enum era_way era_to_legacy(const struct frame *modern);
/* Is this the method of a request of any revision, from either side? */
bool era_is_request(struct span method);
/* May the answer to this method be input_required (tools/call, prompts/get,
 * resources/read)? */
bool era_may_ask(struct span method);
/* Does a complete result of this method have ttlMs and cacheScope (six
 * methods)? */
bool era_is_cacheable(struct span method);
/* Do the capabilities (raw object of a client) allow this question
 * (sampling/createMessage, elicitation/create with its mode, roots/list)? */
bool era_declares(struct span capabilities, struct span method,
    struct span params);
/* Returns the severity of a log level (raw JSON string): 0 debug to 7
 * emergency, -1: none of the eight. */
int era_level(struct span level);

/* --- legacy client, modern server --- */

/* Makes the members of _meta that each modern request of this client carries,
 * without braces, from the params of its initialize: protocolVersion,
 * clientInfo if given, and clientCapabilities, mapped (roots {}, no tasks). */
void era_client_meta(struct buf *out, struct span initialize_params);
/* Returns the request or notification with these members in its params._meta,
 * where they replace others. level: raw JSON string for logLevel, n 0: none.
 * params.task is removed. */
struct frame *era_request_to_modern(struct frame *legacy, struct span meta,
    struct span level);
/* Makes server/discover with this id (raw JSON). */
struct frame *era_discover(struct span id, struct span meta);
/* *modern tells whether this DiscoverResult lists REVISION_MODERN. Returns
 * false if it is not a DiscoverResult: it has no supportedVersions array. */
bool era_discovered(struct span result, bool *modern);
/* Appends the InitializeResult for this DiscoverResult. wanted: the
 * protocolVersion of the client's initialize, raw; host is the name of a server
 * that gives none. */
void era_initialize_result(struct buf *out, struct span discovered,
    struct span wanted, const char *host);
/* Makes the result or error for a legacy client. wrapped: the tool of this
 * tools/call has an outputSchema that tools/list showed wrapped. */
struct frame *era_answer_to_legacy(struct frame *answer, struct span method,
    bool wrapped);
/* Does era_answer_to_legacy show this outputSchema wrapped? Raw; p NULL:
 * none. */
bool era_wraps(struct span output_schema);
/* Returns the notification without subscriptionId. */
struct frame *era_notification_to_legacy(struct frame *modern);
/* Makes a request for a client that speaks version out of one entry of
 * inputRequests: entry is {"method":..,"params":..}; id is raw; uuid is for the
 * elicitationId that 2025-11-25 requires in URL mode. Returns NULL if entry is
 * not one of the three questions. */
struct frame *era_question(struct span entry, struct span id,
    struct span version, const char *uuid);
/* Makes the modern request again, with this id, responses (raw object; n 0:
 * none) and state (raw string; p NULL: none), which replace earlier ones. */
struct frame *era_retry(struct frame *modern, struct span id,
    struct span responses, struct span state);
/* Makes subscriptions/listen for these notifications (raw object). */
struct frame *era_listen(struct span id, struct span meta,
    struct span notifications);

/* --- modern client, legacy server --- */

/* Makes initialize with this id for a client with this clientInfo and these
 * clientCapabilities (raw; p NULL: none given), offering REVISION_LEGACY.
 * version is mcpsplice's own, for a client without a name. */
struct frame *era_initialize(struct span id, struct span info,
    struct span capabilities, const char *version);
/* Appends the DiscoverResult for this InitializeResult. */
void era_discover_result(struct buf *out, struct span initialized);
/* Appends its serverInfo, raw, for _meta of results; nothing if there is
 * none. */
void era_server_info(struct buf *out, struct span initialized);
/* Returns the request without the members that only the modern era has: the
 * four _meta keys, inputResponses, requestState. */
struct frame *era_request_to_legacy(struct frame *modern);
/* Makes the answer for a modern client: with resultType, serverInfo (raw; n 0:
 * none), and ttlMs and cacheScope for methods that have them; tools without
 * execution; error -32002 as -32602. */
struct frame *era_answer_to_modern(struct frame *answer, struct span method,
    struct span server_info);
/* Returns the notification with this subscriptionId (raw JSON) in
 * params._meta. */
struct frame *era_notification_to_modern(struct frame *legacy,
    struct span subscription);
/* Appends {"method":..,"params":..} for inputRequests from a server's question,
 * without params.task, elicitationId and _meta. */
void era_input_request(struct buf *out, const struct frame *question);
/* Makes an input_required result for id: requests is the raw object
 * inputRequests, state the decoded requestState. */
struct frame *era_input_required(struct span id, struct span requests,
    struct span state);

#endif
