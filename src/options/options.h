/*
 * The options. One table drives argv, configuration files, the environment,
 * --help, --show-config and the check of the man page.
 */
#ifndef MCPSPLICE_OPTIONS_OPTIONS_H
#define MCPSPLICE_OPTIONS_OPTIONS_H

#include "base/mem.h"
#include "core/server/server.h"
#include "core/session/session.h"
#include "io/url.h"

enum command {
	COMMAND_PROXY,
	COMMAND_LOGIN,
	COMMAND_LOGOUT,
	COMMAND_STATUS,
	COMMAND_REPORT,
	COMMAND_TOOLS,
	COMMAND_CALL,
	COMMAND_CHECK,
	COMMAND_WRAP,
	COMMANDS
};
enum { OPTION_WORDS = COMMANDS + 2 };
/* The words of the commands, by enum command, then "help" and "version". */
extern const char *const option_commands[];

enum auth_mode {
	AUTH_AUTO,
	AUTH_NONE,
	AUTH_GIVEN,
	AUTH_OAUTH,
	AUTH_DEVICE,
	AUTH_CLIENT_CREDENTIALS,
	AUTH_WORKLOAD,
	AUTH_ENTERPRISE
};

/* Which answers make the exit status 22. */
enum fail {
	FAIL_NEVER,
	FAIL_OWN, /* errors that mcpsplice made */
	FAIL_ANY  /* any error, and results with isError */
};

struct options {
	enum command command;
	bool login_process; /* "login --agent": only argv is set */
	bool peer_process;  /* "tools --agent": likewise */
	char **argv;        /* copy with its secrets, NULL-ended */
	int command_at; /* the index of the command's word; 0: none was given */
	char *url;      /* as given; NULL: for all servers */
	struct strings operands; /* COMMAND_CALL: a tool and its arguments */

	/* request */
	struct strings headers; /* "Name: value" or "@FILE", not expanded */
	char *user_agent;       /* NULL: mcpsplice/VERSION */
	bool no_cookies;
	bool compressed;
	bool trace_headers;
	bool http2;

	/* sign-in: given credentials */
	enum auth_mode auth; /* auto */
	char *bearer_file;
	char *bearer_env;
	char *auth_command; /* not split */
	char *aws_sigv4;    /* see options_sigv4 */
	char *netrc_file;
	bool negotiate; /* the user's Kerberos ticket */

	/* sign-in: the client */
	char *client_id;
	char *client_secret_file;
	char *client_secret_env;
	char *client_key;          /* file; only where no user signs in */
	char *client_metadata_url; /* https, with a path */
	char *client_info;         /* JSON with a secret, or "@FILE" */
	char *client_metadata;     /* JSON, or "@FILE" */

	/* sign-in: the assertion of AUTH_WORKLOAD; one of them */
	char *assertion_file;
	char *assertion_env;
	char *assertion_command; /* not split */

	/* sign-in: the identity provider of AUTH_ENTERPRISE */
	char *idp; /* its issuer */
	char *idp_client_id;
	char *idp_client_secret_file;
	char *idp_key; /* file */
	/* the ID token; at most one of them */
	char *idp_token_file;
	char *idp_token_env;
	char *idp_token_command; /* not split */

	/* sign-in: the values that are requested */
	char *issuer;
	char *scope;
	char *resource;
	bool no_resource;
	struct strings authorize_params; /* "name=value", name not empty */
	char *token_endpoint;

	/* sign-in: the user */
	unsigned callback_port; /* 0: any */
	char *callback_host;    /* "127.0.0.1" or "localhost" */
	char *callback_path;    /* begins with a slash */
	char *browser;          /* --browser, $BROWSER; not split */
	bool no_browser;
	int64_t login_timeout_ms; /* 5 min; 0: no end */
	bool use_id_token;

	/* sign-in: permissions, and the store */
	bool assume_pkce;
	bool allow_private_auth;
	bool allow_cross_origin_prm;
	char *profile;    /* NULL: none */
	char *auth_store; /* "file" or "helper:CMD", see options_store_helper */

	/* network */
	char *proxy;
	char *noproxy;
	char *proxy_user;
	bool proxy_negotiate;
	char *proxy_cacert;
	char *cacert;       /* --cacert, CURL_CA_BUNDLE, SSL_CERT_FILE */
	char *ca_folder;    /* SSL_CERT_DIR */
	char *cacert_extra; /* NODE_EXTRA_CA_CERTS */
	char *cert;
	char *key;
	char *key_password_file;
	bool cert_auth; /* send the certificate to the token endpoint too */
	bool ipv4_only, ipv6_only;
	struct strings resolve;
	char *unix_socket;
	bool allow_http;

	/* times, in ms; 0: off */
	int64_t connect_timeout_ms; /* 10 s */
	int64_t init_timeout_ms;    /* 25 s */
	int64_t retry_window_ms;    /* 45 s */
	int64_t call_timeout_ms;    /* 1 h */
	int64_t drain_timeout_ms;   /* 0: until every call is answered */
	int64_t ping_interval_ms;   /* 0: never; else at least 1 s */

	/* sizes, in bytes; 0: no limit */
	size_t max_message; /* 128 MiB */
	size_t max_result;  /* 10 MiB - 64 KiB */
	bool max_result_set;
	size_t max_buffer;     /* 256 MiB */
	unsigned max_depth;    /* 512 */
	unsigned max_inflight; /* 256 */

	/* behaviour */
	enum era_protocol protocol;   /* auto */
	enum era_transport transport; /* auto */
	enum replay replay;           /* safe */
	enum session_start start;     /* auto */
	/* each compiles with regcomp: extended, case ignored */
	struct strings session_lost_patterns;
	bool session_lost_in_results;
	struct strings ignore_tools, only_tools; /* patterns with * and ? */
	bool read_only;
	bool no_memory;
	bool handshake;
	enum fail fail; /* never */

	/* COMMAND_WRAP: at most one; list: no operands */
	bool wrap_write;
	bool wrap_restore;
	bool wrap_list;

	bool json;              /* COMMAND_CHECK, COMMAND_STATUS */
	char *save_certificate; /* COMMAND_CHECK: a file to make; NULL: none */

	/* output for users */
	char *hint;  /* of the administrator, for errors; NULL: none */
	int verbose; /* -v: 1, -vv: 2 */
	bool quiet;
	char *log_file;
	char *trace;
	unsigned log_json; /* 1, or 0 */
	bool show_config;
	bool help;
	bool help_all;
	const char *help_option; /* NULL: help is not about one */
	bool version;

	/* notes about options that have no effect yet, for -v */
	struct strings notes;
	/* warnings for the user at any level but -q */
	struct strings warnings;

	struct option_origin *origins; /* for --show-config */
};

/* Reads, in rising order of weight: defaults, /etc/mcpsplice.conf,
 * $HOME/.config/mcpsplice/config, MCPSPLICE_* of the environment, --config
 * files, argv. Secrets in argv are overwritten. Returns 0, or -1 with *why, a
 * message for users (owned by the caller) that ends in a hint; o then contains
 * only the command, as far as it was read. */
int options_load(struct options *o, int argc, char **argv, char **why);

/* Does the same with all sources given; options_load calls it when it has found
 * the two default files. Either path may be NULL. */
struct option_sources {
	int argc;
	char **argv;
	const char *etc;        /* /etc/mcpsplice.conf */
	const char *home;       /* $HOME/.config/mcpsplice/config */
	char *const *variables; /* "NAME=value"; NULL: none */
};
int options_load_from(struct options *o, const struct option_sources *from,
    char **why);
/* Wipes and frees all; also for an o for which options_load returned -1. */
void options_free(struct options *o);

/* Returns CMD of --auth-store helper:CMD, or NULL if files are used. */
const char *options_store_helper(const struct options *o);
/* Returns the name of a given credential (an option's, or a header's), or NULL
 * if there is none. A file of headers does not count. */
const char *options_given_credential(const struct options *o);

/* Returns what CURLOPT_AWS_SIGV4 wants for --aws-sigv4 and this URL; the caller
 * frees it. Returns NULL if the option is not given or there is no valid URL; or
 * with *why, an error for users, if it cannot be used. */
char *options_sigv4(const struct options *o, char **why);

/* Was the option of this name set for mcpsplice, and not by a variable that is
 * for all programs, like SSL_CERT_FILE? */
bool options_given(const struct options *o, const char *name);
/* Says by which option or variable the option of this name was set: "--proxy",
 * "MCPSPLICE_PROXY", "proxy in FILE:LINE". The caller frees it. */
char *options_set_by(const struct options *o, const char *name);

/* Returns the text of --help, one screen of 80 x 24, or about a command. all:
 * that of "help all", with every option that the table lists. The caller frees
 * it. */
char *options_help(enum command command, bool all);

/* The same about the option of this name, which has to be one of the table's. */
char *options_help_option(const char *name);

/* Calls each for every value that is no default, except the URL, with the name
 * of its option and where it comes from; one line of a file, "command line",
 * "environment NAME". Both are valid for as long as o is. */
void options_origins(const struct options *o,
    void (*each)(const char *name, const char *from, void *arg), void *arg);
/* Returns each value with its origin; secrets as "(set)", for
 * COMMAND_REPORT also the arguments of commands. The caller frees it. */
char *options_show(const struct options *o);
/* Appends the URL and all options that select another server, or another
 * identity there, to identity. Values count as they are
 * written in the options, together with the variables named there; the content
 * of a file does not, so that a renewed token finds the same profile. The
 * identity may contain secrets: wipe it (buf_wipe). *host is the host of the
 * URL, owned by the caller. Returns 0, or -1 and sets nothing if there is no
 * valid URL. */
int options_identity(const struct options *o, struct buf *identity,
    char **host);

#endif
