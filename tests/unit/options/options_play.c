/* See options_play.h. */
#include "config.h"

#include "unit/options/options_play.h"

#include <sys/stat.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void
world_file(const char *path, const char *text, mode_t mode)
{
	FILE *f = fopen(path, "w");

	ck_assert_ptr_nonnull(f);
	ck_assert(fwrite(text, 1, strlen(text), f) == strlen(text));
	ck_assert_int_eq(fclose(f), 0);
	ck_assert_int_eq(chmod(path, mode), 0);
}

void
world_init(struct world *w)
{
	memset(w, 0, sizeof *w);
	strcpy(w->dir, "/tmp/check_options.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(w->dir));
	w->etc = xasprintf("%s/etc", w->dir);
	w->home = xasprintf("%s/home", w->dir);
	w->extra = xasprintf("%s/extra", w->dir);
}

void
world_free(struct world *w)
{
	options_free(&w->o);
	unlink(w->etc);
	unlink(w->home);
	unlink(w->extra);
	ck_assert_int_eq(rmdir(w->dir), 0);
	free(w->etc);
	free(w->home);
	free(w->extra);
	free(w->variables);
	free(w->args);
	free(w->why);
}

/* Makes an environment of "NAME=value" joined by '|'. */
static void
make_environ(struct world *w)
{
	size_t n = 0;
	char *at;

	free(w->variables);
	w->variables = string_copy(w->env);
	for (at = w->variables; at != NULL && n < ARGS_MAX - 1;) {
		w->list[n++] = at;
		at = strchr(at, '|');
		if (at != NULL)
			*at++ = '\0';
	}
	w->list[n] = NULL;
}

int
world_load(struct world *w, const char *args)
{
	struct option_sources from = {
		.etc = w->etc, .home = w->home, .variables = w->list
	};
	char *at;

	make_environ(w);
	free(w->args);
	free(w->why);
	w->args = xasprintf("mcpsplice|%s", args);
	w->argc = 0;
	for (at = w->args; at != NULL && w->argc < ARGS_MAX - 1;) {
		w->argv[w->argc++] = at;
		at = strchr(at, '|');
		if (at != NULL)
			*at++ = '\0';
		if (strcmp(w->argv[w->argc - 1], "EXTRA") == 0)
			w->argv[w->argc - 1] = w->extra;
	}
	if (args[0] == '\0')
		w->argc = 1;
	w->argv[w->argc] = NULL;
	from.argc = w->argc;
	from.argv = w->argv;
	return options_load_from(&w->o, &from, &w->why);
}

static void
put_list(struct buf *out, const char *name, const struct strings *list)
{
	size_t i;

	for (i = 0; i < list->n; i++)
		buf_addf(out, "%s=%s;", name, list->list[i]);
	ck_assert_ptr_null(list->list[list->n]);
}

/* The sections that do not match have a test of their own. */
static void
put_notes(struct buf *out, const struct strings *list)
{
	size_t i;

	for (i = 0; i < list->n; i++)
		if (strstr(list->list[i], "] is not for this URL") == NULL)
			buf_addf(out, "note=%s;", list->list[i]);
}

static void
put_text(struct buf *out, const char *name, const char *text)
{
	if (text != NULL)
		buf_addf(out, "%s=%s;", name, text);
}

static void
put_number(struct buf *out, const char *name, int64_t n, int64_t preset)
{
	if (n != preset)
		buf_addf(out, "%s=%" PRId64 ";", name, n);
}

static void
put_network(struct buf *out, const struct options *o)
{
	put_text(out, "proxy", o->proxy);
	put_text(out, "noproxy", o->noproxy);
	put_text(out, "proxy_user", o->proxy_user);
	put_number(out, "proxy_negotiate", o->proxy_negotiate, 0);
	put_number(out, "negotiate", o->negotiate, 0);
	put_text(out, "proxy_cacert", o->proxy_cacert);
	put_text(out, "cacert", o->cacert);
	put_text(out, "cacert_extra", o->cacert_extra);
	put_text(out, "cert", o->cert);
	put_text(out, "key", o->key);
	put_number(out, "ipv4", o->ipv4_only, 0);
	put_number(out, "ipv6", o->ipv6_only, 0);
	put_list(out, "resolve", &o->resolve);
	put_text(out, "unix_socket", o->unix_socket);
	put_number(out, "allow_http", o->allow_http, 0);
}

static void
put_limits(struct buf *out, const struct options *o)
{
	put_number(out, "connect", o->connect_timeout_ms, 10000);
	put_number(out, "init", o->init_timeout_ms, 25000);
	put_number(out, "retry", o->retry_window_ms, 45000);
	put_number(out, "call", o->call_timeout_ms, 3600000);
	put_number(out, "drain", o->drain_timeout_ms, 0);
	put_number(out, "ping", o->ping_interval_ms, 0);
	put_number(out, "message", (int64_t)o->max_message, 128 << 20);
	put_number(out, "result", (int64_t)o->max_result,
	    (10 << 20) - (64 << 10));
	put_number(out, "result_set", o->max_result_set, 0);
	put_number(out, "buffer", (int64_t)o->max_buffer, 256 << 20);
	put_number(out, "depth", o->max_depth, 512);
	put_number(out, "inflight", o->max_inflight, 256);
}

static void
put_default(struct buf *out, const char *name, const char *text,
    const char *preset)
{
	if (text == NULL || strcmp(text, preset) != 0)
		buf_addf(out, "%s=%s;", name, text == NULL ? "-" : text);
}

static void
put_client(struct buf *out, const struct options *o)
{
	put_text(out, "client_id", o->client_id);
	put_text(out, "secret_file", o->client_secret_file);
	put_text(out, "secret_env", o->client_secret_env);
	put_text(out, "client_key", o->client_key);
	put_text(out, "assertion_file", o->assertion_file);
	put_text(out, "assertion_env", o->assertion_env);
	put_text(out, "assertion_command", o->assertion_command);
	put_text(out, "idp", o->idp);
	put_text(out, "idp_client", o->idp_client_id);
	put_text(out, "idp_secret", o->idp_client_secret_file);
	put_text(out, "idp_key", o->idp_key);
	put_text(out, "idp_file", o->idp_token_file);
	put_text(out, "idp_env", o->idp_token_env);
	put_text(out, "idp_command", o->idp_token_command);
	put_text(out, "document", o->client_metadata_url);
	put_text(out, "info", o->client_info);
	put_text(out, "metadata", o->client_metadata);
	put_text(out, "issuer", o->issuer);
	put_text(out, "scope", o->scope);
	put_text(out, "resource", o->resource);
	put_number(out, "no_resource", o->no_resource, 0);
	put_list(out, "param", &o->authorize_params);
	put_text(out, "token_endpoint", o->token_endpoint);
}

static void
put_sign_in(struct buf *out, const struct options *o)
{
	put_number(out, "auth", (int64_t)o->auth, AUTH_AUTO);
	put_text(out, "bearer_file", o->bearer_file);
	put_text(out, "bearer_env", o->bearer_env);
	put_text(out, "command", o->auth_command);
	put_text(out, "aws", o->aws_sigv4);
	put_text(out, "netrc", o->netrc_file);
	put_client(out, o);
	put_number(out, "port", o->callback_port, 0);
	if (o->origins != NULL) {
		put_default(out, "host", o->callback_host, "127.0.0.1");
		put_default(out, "path", o->callback_path, "/callback");
		put_default(out, "store", o->auth_store, "file");
		put_number(out, "login", o->login_timeout_ms, 300000);
	}
	put_text(out, "browser", o->browser);
	put_number(out, "no_browser", o->no_browser, 0);
	put_number(out, "id_token", o->use_id_token, 0);
	put_number(out, "pkce", o->assume_pkce, 0);
	put_number(out, "private", o->allow_private_auth, 0);
	put_number(out, "prm", o->allow_cross_origin_prm, 0);
	put_text(out, "profile", o->profile);
	put_text(out, "key_password", o->key_password_file);
	put_number(out, "cert_auth", o->cert_auth, 0);
}

/* All that is not as by default, the usual URL left out. */
static char *
dump(const struct options *o)
{
	struct buf out;
	char *text;

	buf_init(&out, 0);
	if (o->command != COMMAND_PROXY)
		buf_addf(&out, "%d;", (int)o->command);
	put_number(&out, "as_agent", o->login_process, 0);
	if (o->url == NULL || strcmp(o->url, URL) != 0)
		buf_addf(&out, "url=%s;", o->url == NULL ? "-" : o->url);
	put_list(&out, "header", &o->headers);
	put_sign_in(&out, o);
	put_text(&out, "agent", o->user_agent);
	put_number(&out, "no_cookies", o->no_cookies, 0);
	put_number(&out, "compressed", o->compressed, 0);
	put_number(&out, "http2", o->http2, 0);
	put_network(&out, o);
	put_limits(&out, o);
	put_number(&out, "protocol", (int64_t)o->protocol, PROTOCOL_AUTO);
	put_number(&out, "transport", (int64_t)o->transport, TRANSPORT_AUTO);
	put_number(&out, "replay", (int64_t)o->replay, REPLAY_SAFE);
	put_list(&out, "lost", &o->session_lost_patterns);
	put_number(&out, "in_results", o->session_lost_in_results, 0);
	put_number(&out, "no_memory", o->no_memory, 0);
	put_number(&out, "handshake", o->handshake, 0);
	put_number(&out, "fail", o->fail, 0);
	put_number(&out, "verbose", o->verbose, 0);
	put_number(&out, "quiet", o->quiet, 0);
	put_text(&out, "log_file", o->log_file);
	put_text(&out, "trace", o->trace);
	put_number(&out, "trace_headers", o->trace_headers, 0);
	put_number(&out, "log_json", o->log_json, 0);
	put_number(&out, "show", o->show_config, 0);
	put_number(&out, "help", o->help, 0);
	put_number(&out, "version", o->version, 0);
	put_notes(&out, &o->notes);
	put_list(&out, "warning", &o->warnings);
	text = xstrdup(buf_str(&out));
	buf_free(&out);
	return text;
}

void
world_expect(struct world *w, const char *what, const char *want)
{
	char *got = dump(&w->o);

	ck_assert_msg(strcmp(got, want) == 0, "%s\n got: %s\nwant: %s", what,
	    got, want);
	free(got);
}

bool
world_shows(const char *text, const char *first, const char *middle,
    const char *last)
{
	const char *end;
	char *line;
	bool hit = false;

	for (; *text != '\0' && !hit; text = end + 1) {
		end = strchr(text, '\n');
		ck_assert_ptr_nonnull(end);
		line = xstrndup(text, (size_t)(end - text));
		hit = strncmp(line, first, strlen(first)) == 0 &&
		    line[strlen(first)] == ' ' &&
		    strstr(line, middle) != NULL &&
		    strlen(line) > strlen(last) &&
		    strcmp(line + strlen(line) - strlen(last), last) == 0;
		free(line);
	}
	return hit;
}

void
play_argv(const struct argv_case *c)
{
	struct world w;
	char *args;

	world_init(&w);
	args = xasprintf("%s|" URL, c->args);
	ck_assert_msg(world_load(&w, args) == 0, "%s: %s", c->args, w.why);
	world_expect(&w, c->args, c->want);
	/* and with the URL in front, except behind "--" */
	options_free(&w.o);
	free(args);
	args = xasprintf(URL "|%s", c->args);
	ck_assert_msg(world_load(&w, args) == 0, "%s: %s", c->args, w.why);
	world_expect(&w, c->args, c->want);
	free(args);
	world_free(&w);
}

void
play_refused(const struct refused_case *c)
{
	struct world w;

	world_init(&w);
	if (c->why[0] == '\0') {
		ck_assert_int_eq(world_load(&w, c->args), 0);
		world_expect(&w, c->args, "");
	} else {
		ck_assert_msg(world_load(&w, c->args) == -1, "%s", c->args);
		ck_assert_str_eq(w.why, c->why);
		ck_assert_ptr_null(w.o.origins);
	}
	world_free(&w);
}

void
play_file(const struct file_case *c)
{
	struct world w;
	char *why;

	world_init(&w);
	world_file(w.extra, c->text, 0600);
	if (c->want != NULL) {
		ck_assert_msg(world_load(&w, "-K|EXTRA|" URL) == 0, "%s: %s",
		    c->text, w.why);
		world_expect(&w, c->text, c->want);
	} else {
		why = xasprintf("%s:%s", w.extra, c->why);
		ck_assert_msg(world_load(&w, "--config=EXTRA") == -1, "%s",
		    c->text);
		ck_assert_msg(world_load(&w, "-K|EXTRA|" URL) == -1, "%s",
		    c->text);
		ck_assert_str_eq(w.why, why);
		free(why);
	}
	world_free(&w);
}
