/*
 * Reads the tokens of mcp-remote, so that its users need not sign in again. Its
 * files are never changed.
 */
#ifndef MCPSPLICE_STORE_IMPORT_H
#define MCPSPLICE_STORE_IMPORT_H

#include "store/record.h"

/* The folder of the files, and the options of mcp-remote: it has separate files
 * for different values of any of these. All borrowed; NULL: not set. */
struct import_config {
	const char *folder; /* $MCP_REMOTE_CONFIG_DIR, or $HOME/.mcp-auth */
	const char *url;    /* as it is written in the options */
	const char *normal; /* the same, normalised; tried as well */
	const char *resource;
	const char *const *params;  /* "name=value", NULL-ended */
	const char *const *headers; /* "Name: value" as written, with ${VAR} in
				     * it, NULL-ended */
	const char *client_document;
	const char *token_endpoint;
};

/* Fills r, except for url and profile. Its client, if there is one, is
 * CLIENT_IMPORTED. The issuer is the one that mcp-remote stored beside the
 * token. Without an issuer there is only an access token: no refresh token, no
 * client. The token endpoint is never known. *from is the path of the file,
 * owned by the caller.
 *
 * Returns false and leaves r empty if there is nothing to import. *why is then
 * NULL, or, if there was a file that could not be used, a message for users
 * that the caller owns. */
bool import_tokens(struct record *r, const struct import_config *config,
    char **from, char **why);

/* Has mcp-remote tokens, of whatever server? Only the folder of config
 * counts. */
bool import_any(const struct import_config *config);

#endif
