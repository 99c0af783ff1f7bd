/* Names and numbers of the protocol: revisions, _meta keys, errors. */
#ifndef MCPSPLICE_CORE_WIRE_PROTOCOL_H
#define MCPSPLICE_CORE_WIRE_PROTOCOL_H

#define REVISION_MODERN "2026-07-28"
#define REVISION_LEGACY "2025-11-25" /* offered when mcpsplice may choose */

#define META_PREFIX "io.modelcontextprotocol/"
#define META_REVISION META_PREFIX "protocolVersion"
#define META_CLIENT META_PREFIX "clientInfo"
#define META_CAPABILITIES META_PREFIX "clientCapabilities"
#define META_LEVEL META_PREFIX "logLevel"
#define META_SERVER META_PREFIX "serverInfo"
#define META_SUBSCRIPTION META_PREFIX "subscriptionId"

/* Error codes in addition to those of JSON-RPC. */
enum {
	ERROR_RESOURCE_NOT_FOUND = -32002,
	ERROR_HEADER_MISMATCH = -32020,
	ERROR_MISSING_CAPABILITY = -32021,
	ERROR_UNSUPPORTED_VERSION = -32022,
	ERROR_URL_ELICITATION = -32042
};

#endif
