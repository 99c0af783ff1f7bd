/*
 * The two eras of the protocol, message by message: legacy (2024-11-05 to
 * 2025-11-25, with initialize) and modern (2026-07-28: no session, _meta in
 * each request). Pure: a message in, the same in the other era out. What is
 * the same in both stays byte for byte. (doc/design.md "Eras")
 *
 * Raw JSON is checked JSON, as the frames have it. All frames that are
 * returned are parsed, new or with one more reference, and the caller's.
 */
#ifndef MCPSPLICE_CORE_ERA_ERA_H
#define MCPSPLICE_CORE_ERA_ERA_H

#include "base/frame.h"
#include "core/wire/protocol.h"

enum { ERA_FAMILIES = 3, ERA_LEVELS = 8 };

/* What has lists that change: the capability, what a listen asks for, the
 * notification. */
struct era_family {
	const char *name, *wish, *changed;
};
extern const struct era_family era_families[ERA_FAMILIES];
/* Log levels by severity. */
extern const char *const era_levels[ERA_LEVELS];

/* What a request or notification of the client is in the other era. */
enum era_way {
	ERA_BOTH,  /* exists in both: translated */
	ERA_LOCAL, /* answered or swallowed here, see the rooms that do */
	ERA_NONE   /* the other era has nothing for it: -32601, or dropped */
};

/* --- what is what --- */

/* params._meta["io.modelcontextprotocol/protocolVersion"] as raw JSON, p
 * NULL when there is none: a request that has it is modern. */
struct span era_request_version(const struct frame *request);
/* The member of params._meta with this key, raw. */
struct span era_meta(const struct frame *f, const char *key);
/* By method; unknown methods are ERA_BOTH. */
enum era_way era_to_modern(const struct frame *legacy);
enum era_way era_to_legacy(const struct frame *modern);
/* May an answer to this be input_required (tools/call, prompts/get,
 * resources/read)? */
bool era_may_ask(struct span method);
/* Has its complete result ttlMs and cacheScope (the six methods)? */
bool era_is_cacheable(struct span method);
/* Does the set of capabilities (raw object of a client) allow this question
 * (sampling/createMessage, elicitation/create with its mode, roots/list)? */
bool era_declares(struct span capabilities, struct span method,
    struct span params);
/* The severity of a log level (raw JSON string): 0 debug to 7 emergency, -1:
 * none of the eight. */
int era_level(struct span level);

/* --- legacy client, modern server --- */

/* From the params of initialize: the members of _meta that each modern request
 * of this client carries, without braces (protocolVersion, clientInfo if
 * given, clientCapabilities mapped: roots {}, no tasks). */
void era_client_meta(struct buf *out, struct span initialize_params);
/* The request (or notification) with these members in its params._meta; ours
 * win. level: raw JSON string for logLevel, n 0: none. params.task goes. */
struct frame *era_request_to_modern(struct frame *legacy, struct span meta,
    struct span level);
/* server/discover with this id (raw JSON). */
struct frame *era_discover(struct span id, struct span meta);
/* Does this DiscoverResult list the version that we speak? Returns false when
 * it is no DiscoverResult: no supportedVersions array. */
bool era_discovered(struct span result, bool *modern);
/* Appends the InitializeResult that says what this DiscoverResult says.
 * wanted: the protocolVersion of the client's initialize, raw; host names a
 * server that does not name itself. */
void era_initialize_result(struct buf *out, struct span discovered,
    struct span wanted, const char *host);
/* The result or error for a legacy client. wrapped: the tool of this
 * tools/call has an outputSchema that tools/list showed wrapped. */
struct frame *era_answer_to_legacy(struct frame *answer, struct span method,
    bool wrapped);
/* Was the tool's outputSchema, raw (p NULL: none), shown wrapped by
 * era_answer_to_legacy? */
bool era_wraps(struct span output_schema);
/* Without subscriptionId. */
struct frame *era_notification_to_legacy(struct frame *modern);
/* One question out of inputRequests as a request to a client that speaks
 * version: entry is {"method":..,"params":..}; id raw; uuid for the
 * elicitationId that 2025-11-25 wants in URL mode. NULL when entry is none of
 * the three questions. */
struct frame *era_question(struct span entry, struct span id,
    struct span version, const char *uuid);
/* The modern request once more, with this id, answers (raw object; n 0: none)
 * and state (raw string; p NULL: none; replaces one of before). */
struct frame *era_retry(struct frame *modern, struct span id,
    struct span responses, struct span state);
/* subscriptions/listen for these notifications, raw object. */
struct frame *era_listen(struct span id, struct span meta,
    struct span notifications);

/* --- modern client, legacy server --- */

/* initialize with this id for a client with this clientInfo and these
 * clientCapabilities (raw; p NULL: none given), offering REVISION_LEGACY.
 * version is our own, for a client without a name. */
struct frame *era_initialize(struct span id, struct span info,
    struct span capabilities, const char *version);
/* Appends the DiscoverResult that says what this InitializeResult says. */
void era_discover_result(struct buf *out, struct span initialized);
/* Appends its serverInfo for _meta of results, raw; nothing if none. */
void era_server_info(struct buf *out, struct span initialized);
/* Without what only the modern era has: the four keys, inputResponses,
 * requestState. */
struct frame *era_request_to_legacy(struct frame *modern);
/* The answer for a modern client: resultType, serverInfo (raw; n 0: none),
 * ttlMs and cacheScope where they belong; tools without execution; error
 * -32002 as -32602. */
struct frame *era_answer_to_modern(struct frame *answer, struct span method,
    struct span server_info);
/* The notification with this subscriptionId (raw JSON) in params._meta. */
struct frame *era_notification_to_modern(struct frame *legacy,
    struct span subscription);
/* Appends {"method":..,"params":..} of a server's question for inputRequests,
 * without params.task, elicitationId and _meta. */
void era_input_request(struct buf *out, const struct frame *question);
/* An input_required result for id: requests is the raw object of
 * inputRequests, state the decoded requestState. */
struct frame *era_input_required(struct span id, struct span requests,
    struct span state);

#endif
