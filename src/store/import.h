/*
 * The tokens of mcp-remote, so that who comes from there need not sign in
 * again. Its files are read and never changed.
 */
#ifndef MCPSPLICE_STORE_IMPORT_H
#define MCPSPLICE_STORE_IMPORT_H

#include "store/record.h"

/* Where the files are, and what mcp-remote was started with: it keeps apart
 * what differs in any of these. All borrowed; NULL: not given. */
struct import_config {
	const char *folder; /* $MCP_REMOTE_CONFIG_DIR, or $HOME/.mcp-auth */
	const char *url;    /* as it is written in the options */
	const char *normal; /* the same, normalised: tried as well */
	const char *resource;
	const char *const *params;  /* "name=value", NULL-ended */
	const char *const *headers; /* "Name: value" as they are written, with
				     * ${VAR} in them, NULL-ended */
	const char *client_document;
	const char *token_endpoint;
};

/* Fills r, which has no url and no profile then. Its client, if there is one,
 * is CLIENT_IMPORTED. The issuer is the one that mcp-remote noted beside the
 * token. Where it noted none there is an access token and no more: no refresh
 * token, no client. The token endpoint is never known. *from is the file,
 * owned by the caller.
 *
 * Returns false and leaves r empty when there is nothing to import. *why is
 * NULL then, or for people when there was something that could not be used,
 * owned by the caller. */
bool import_tokens(struct record *r, const struct import_config *config,
    char **from, char **why);

#endif
