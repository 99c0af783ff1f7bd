/*
 * Messages of the client go through pipes, lines, msg, chain (session),
 * streamable (with authorize) and http; answers take the reverse way. Each
 * callback here turns an event of a room into an input of the chain and
 * performs the chain's actions. It decides nothing itself.
 */
#include "config.h"

#include "proxy/proxy.h"

#include <errno.h>
#include <stdlib.h>

#include "auth/challenge.h"
#include "auth/claims.h"
#include "base/bounds.h"
#include "base/codec.h"
#include "core/exchange/fault.h"
#include "core/wire/edit.h"
#include "core/wire/lines.h"
#include "core/wire/msg.h"
#include "core/wire/own_id.h"
#include "core/wire/redact.h"
#include "io/ancestor_environment.h"
#include "io/network_change.h"
#include "io/pipes.h"
#include "options/from_options.h"
#include "os/place.h"
#include "os/process.h"
#include "os/random.h"
#include "os/terminal.h"
#include "proxy/cache/process_note.h"
#include "proxy/cache/startup_cache.h"
#include "proxy/credentials/authorize.h"
#include "proxy/trace.h"
#include "proxy/transport/streamable.h"

enum { STDOUT_LOW = 256 * 1024, EXIT_SECOND_SIGNAL = 128 };

struct proxy {
	const struct options *options;
	struct url url;
	char *host;   /* name of the server for users: host, and port if
		       * unusual */
	char *prefix; /* of the ids of mcpsplice's own requests */
	struct loop *loop;
	struct loop_timer *timer; /* the chain's deadline */
	struct loop_timer *stop_timer;
	int64_t timer_at;
	struct pipes *pipes;
	struct lines *lines;
	struct network network;
	struct store *store;
	char **unset;
	char *program; /* path of this program */
	struct oauth_config oauth;
	struct import_config import;
	char *import_folder;
	struct authorize *authorize;
	struct http *http;
	struct streamable *streamable;
	struct chain *chain;
	struct state_cache *state_cache;
	struct process_note *note; /* NULL: "status" does not know us */
	struct loop_timer *note_timer;
	/* the start that is to be loaded when it is known whose it has to be */
	struct buf start_version, start_capabilities;
	bool start_wanted;
	struct buf whose;      /* the user of the first start that was saved */
	struct trace *trace;   /* NULL: nothing is traced */
	proxy_watch_cb *watch; /* NULL: nobody watches the session */
	void *watch_arg;
	struct route *route; /* NULL: the system does not report changes */
	regex_t *patterns;   /* of --session-lost-pattern */
	size_t n_patterns;
	uint64_t random;
	uint64_t secrets[64]; /* of the system; used from the end */
	size_t n_secrets;
	bool acting; /* actions are being performed further up the stack */
	bool stopping;
	bool session_full; /* the session holds back as much as it may */
	bool stdout_full;  /* more than half of --max-buffer waits for stdout */
	bool stdout_above; /* queue above BOUND_QUEUE_BYTES: transfers pause
			    * until low */
	bool stdout_burst; /* the same, but only until the end of this turn */
	int status;
	bool unwritten; /* stdout failed, and not for want of a reader */
};

static void input(struct proxy *p, struct event *in);

/* Good enough to spread retries; it is not secret. */
static uint64_t
next_random(struct proxy *p)
{
	return codec_mix(p->random++);
}

/* Random words that nobody can guess. One call of the system gets many. */
static void
next_secret(struct proxy *p, uint64_t secret[2])
{
	if (p->n_secrets == 0) {
		p->n_secrets = sizeof p->secrets / sizeof *p->secrets;
		if (os_random(p->secrets, sizeof p->secrets) != 0)
			log_debug("the system has no random numbers: a "
				  "requestState is easier to guess");
	}
	p->n_secrets -= 2;
	memcpy(secret, p->secrets + p->n_secrets, 2 * sizeof *secret);
}

/* --- what "mcpsplice status" tells of this process --- */

enum { NOTE_MS = 1000 };

static void
write_note(void *arg)
{
	struct proxy *p = arg;
	struct session_brief now = chain_brief(p->chain);

	process_note_write(p->note, now.client,
	    now.version == NULL ? 0 : now.generation);
}

static void
on_trouble(enum log_level level, const char *text, void *arg)
{
	struct proxy *p = arg;

	(void)level;
	process_note_trouble(p->note, text);
	loop_timer_set(p->note_timer, NOTE_MS);
}

/* Many hosts do not show the errors that they get. */
static void
note_error(struct proxy *p, const struct frame *f)
{
	struct buf text = { 0 };

	if (!fault_is_ours(f))
		return;
	msg_error_text(f, &text);
	on_trouble(LEVEL_ERROR, buf_str(&text), p);
	buf_free(&text);
}

static void
begin_note(struct proxy *p)
{
	char *parent;
	struct buf url = { 0 };

	if (p->options->no_memory || p->options->command != COMMAND_PROXY)
		return;
	parent = ancestors_program("/proc", os_parent_id());
	redact_path(&url, span_of(p->url.text), "...");
	p->note = process_note_new(os_place(OS_PLACE_DATA), buf_str(&url),
	    parent, os_parent_id());
	if (p->note != NULL) {
		log_watch(on_trouble, p);
		loop_timer_set(p->note_timer, NOTE_MS);
	}
	buf_free(&url);
	free(parent);
}

/* --- actions of the session --- */

static void
on_flushed(void *arg)
{
	struct proxy *p = arg;

	if (pipes_queued(p->pipes) > 0)
		log_warn("the client did not read the last %zu bytes in time: "
			 "dropped them",
		    pipes_queued(p->pipes));
	loop_stop(p->loop, p->status);
}

/* Stops reading stdin while stdout's queue is too long. This bounds the answers
 * to a client that sends requests but does not read. */
static void
pause_stdin(struct proxy *p)
{
	size_t max = p->options->max_buffer / BOUND_SHARES;

	if (max > 0 && pipes_memory(p->pipes) > max)
		p->stdout_full = true;
	pipes_pause(p->pipes, p->session_full || p->stdout_full);
}

static void
on_burst_end(void *arg)
{
	struct proxy *p = arg;

	p->stdout_burst = false;
	streamable_pause(p->streamable, p->stdout_above);
}

/* Many streams can bring much more in one turn than stdout's queue should hold,
 * so transfers pause until the end of the turn. */
static void
act_write(struct proxy *p, struct frame *f)
{
	if (f->kind == FRAME_ERROR && p->note != NULL)
		note_error(p, f);
	pipes_write(p->pipes, f);
	if (p->stdout_burst || pipes_memory(p->pipes) <= BOUND_QUEUE_BYTES)
		return;
	p->stdout_burst = true;
	streamable_pause(p->streamable, true);
	loop_defer(p->loop, on_burst_end, p);
}

static void
act_log(struct proxy *p, const struct event *a)
{
	if (a->level == LEVEL_INFO)
		log_decision("%s", a->text);
	else
		log_put(a->level, "%s", a->text);
	if (a->level == LEVEL_ERROR)
		log_dump_for_error("what led to it", loop_now(p->loop));
}

/* Adds the content of a file that tells who the user is; NULL: there is none.
 * Returns false if it cannot be read. */
static bool
add_content(struct buf *out, const char *path)
{
	size_t n = out->n;

	if (path != NULL)
		secret_peek(path, out);
	return path == NULL || out->n > n;
}

/* Adds whose the token is that a sign-in is made of. The one that the server
 * gets may be of an earlier user still. */
static void
add_token(struct buf *out, const char *path, const char *variable)
{
	const char *value = variable == NULL ? NULL : getenv(variable);
	struct buf b = { 0 };
	struct span s;
	char *token;

	if (path != NULL)
		secret_peek(path, &b);
	else if (value != NULL)
		buf_adds(&b, value);
	s = span_trim(buf_span(&b), " \t\r\n");
	token = xstrndup(s.n == 0 ? "" : s.p, s.n);
	claims_whose(token, out);
	string_wipe(&token);
	buf_wipe(&b);
}

/* Adds what tells the user whom the server knows at present from others. Nothing
 * is cached for a user who cannot be told. */
static bool
add_whose(struct proxy *p, struct buf *out)
{
	const struct options *o = p->options;

	add_token(out, o->assertion_file, o->assertion_env);
	add_token(out, o->idp_token_file, o->idp_token_env);
	return authorize_whose(p->authorize, out) &&
	    add_content(out, o->cert) && add_content(out, o->netrc_file);
}

/* Does the server know this user at present? */
static bool
is_whose(struct span whose, void *arg)
{
	struct buf now = { 0 };
	bool same;

	same = add_whose(arg, &now) && span_eq(buf_span(&now), whose);
	buf_wipe(&now);
	return same;
}

/* Loads the start that the chain waits for, as soon as it can be told whose it
 * has to be. */
static void
load_start(struct proxy *p)
{
	struct event in = { .kind = INPUT_CACHED_START };
	struct buf result = { 0 }, tools = { 0 }, whose = { 0 };

	if (p->start_wanted && add_whose(p, &whose)) {
		p->start_wanted = false;
		if (state_cache_load_start(p->state_cache,
			(struct startup_client){ buf_span(&p->start_version),
			    buf_span(&p->start_capabilities),
			    buf_span(&whose) },
			&result, &tools)) {
			in.result = buf_span(&result);
			in.tools = buf_span(&tools);
			input(p, &in);
		}
	}
	buf_free(&result);
	buf_free(&tools);
	buf_wipe(&whose);
}

static void
act_load_start(struct proxy *p, const struct event *a)
{
	buf_reset(&p->start_version);
	buf_reset(&p->start_capabilities);
	buf_addspan(&p->start_version, a->version);
	buf_addspan(&p->start_capabilities, a->capabilities);
	p->start_wanted = true;
	load_start(p);
}

/* The server may have answered in part to one user and in part to another, once
 * the user has changed: then nothing more is saved. */
static void
act_save_start(struct proxy *p, const struct event *a)
{
	struct buf whose = { 0 };

	if (add_whose(p, &whose) &&
	    (p->whose.n == 0 ||
		span_eq(buf_span(&p->whose), buf_span(&whose)))) {
		state_cache_save_start(p->state_cache,
		    (struct startup_client){
			a->version, a->capabilities, buf_span(&whose) },
		    a->result, a->tools);
		buf_wipe(&p->whose);
		p->whose = whose;
		return;
	}
	buf_wipe(&whose);
}

static void
act_check_peers(struct proxy *p)
{
	struct event in = { .kind = INPUT_PEER_STATE };

	in.ok = state_cache_newer_peer(p->state_cache);
	input(p, &in);
}

/* What the server says of its refusal is for the client, too. */
static void
tell_denial(struct proxy *p, const struct event *a)
{
	struct buf denial = { 0 };

	denial_json(a->facts->challenge, &denial);
	streamable_denied(p->streamable, a->ticket, buf_span(&denial));
	buf_free(&denial);
}

static void
act(struct proxy *p, const struct event *a)
{
	if (p->trace != NULL)
		trace_action(p->trace, a);
	switch (a->kind) {
	case ACTION_SEND:
		streamable_send(p->streamable, a->order);
		break;
	case ACTION_ABORT:
		streamable_abort(p->streamable, a->ticket);
		break;
	case ACTION_AUTHORIZE:
		tell_denial(p, a);
		authorize_refused(p->authorize, a->ticket, a->facts,
		    a->session);
		break;
	case ACTION_TAKE_REFUSAL:
		tell_denial(p, a);
		streamable_refusal_final(p->streamable, a->ticket, a->text,
		    false);
		break;
	case ACTION_WRITE:
		act_write(p, a->frame);
		break;
	case ACTION_READ:
		p->session_full = !a->ok;
		pause_stdin(p);
		break;
	case ACTION_LOG:
		act_log(p, a);
		break;
	case ACTION_LOAD_START:
		act_load_start(p, a);
		break;
	case ACTION_SAVE_START:
		act_save_start(p, a);
		break;
	case ACTION_SAVE_SESSION:
		state_cache_save_session(p->state_cache, a->session,
		    a->version);
		if (p->note != NULL)
			loop_timer_set(p->note_timer, NOTE_MS);
		break;
	case ACTION_FOUND:
		state_cache_save_era(p->state_cache,
		    a->dual       ? CACHED_NO_ERA :
			a->modern ? CACHED_MODERN :
			a->sse    ? CACHED_SSE :
				    CACHED_LEGACY);
		break;
	case ACTION_CHECK_PEERS:
		act_check_peers(p);
		break;
	case ACTION_EXIT:
		p->status = p->unwritten ? 1 : a->status;
		pipes_flush(p->pipes,
		    p->stopping ? BOUND_STOP_FLUSH_MS : INT64_MAX, on_flushed,
		    p);
		break;
	default:
		break; /* inputs do not come this way */
	}
}

static void
arm_timer(struct proxy *p)
{
	int64_t at = chain_deadline(p->chain), wait;

	if (at == p->timer_at)
		return;
	p->timer_at = at;
	wait = at - loop_now(p->loop);
	loop_timer_set(p->timer, at == ALARM_NEVER ? -1 : wait < 0 ? 0 : wait);
}

static void
tell_watch(struct proxy *p)
{
	struct session_brief now = chain_brief(p->chain);
	struct frame *f = p->watch(&now, p->watch_arg);

	if (f != NULL)
		pipes_write(p->pipes, f);
	frame_unref(f);
}

/* Takes every input. An action may cause another input at once: that one is
 * stepped at once, and its actions wait for those before them. */
static void
input(struct proxy *p, struct event *in)
{
	struct event a;

	in->now = loop_now(p->loop);
	in->random = next_random(p);
	if (chain_wants_secret(p->chain))
		next_secret(p, in->secret);
	if (p->trace != NULL)
		trace_input(p->trace, in);
	chain_step(p->chain, in);
	if (p->acting)
		return;
	p->acting = true;
	while (chain_next(p->chain, &a))
		act(p, &a);
	p->acting = false;
	if (p->trace != NULL)
		trace_state(p->trace, chain_brief(p->chain));
	if (p->watch != NULL)
		tell_watch(p);
	arm_timer(p);
}

static void
on_timer(void *arg)
{
	struct proxy *p = arg;
	struct event in = { .kind = INPUT_TICK };

	p->timer_at = ALARM_NEVER;
	input(p, &in);
}

/* --- the client --- */

static void
on_line(struct frame *f, void *arg)
{
	struct proxy *p = arg;
	struct event in = { .kind = INPUT_INVALID, .frame = f };

	switch (msg_parse(f, p->options->max_depth)) {
	case MSG_OK:
		in.kind = INPUT_CLIENT;
		in.frame = f = edit_arguments(f);
		break;
	case MSG_SYNTAX:
	case MSG_UTF8:
		in.invalid = INVALID_SYNTAX;
		break;
	case MSG_BATCH:
		in.invalid = INVALID_BATCH;
		break;
	case MSG_INVALID:
		in.invalid = INVALID_MESSAGE;
		break;
	}
	input(p, &in);
	frame_unref(f);
}

static void
on_too_long(uint64_t size, struct span id, bool request, void *arg)
{
	struct event in = { .kind = INPUT_TOO_LONG,
		.size = size,
		.id = id,
		.request = request };

	input(arg, &in);
}

static void
on_chunk(const char *bytes, size_t n, void *arg)
{
	struct proxy *p = arg;

	lines_feed(p->lines, bytes, n);
	pause_stdin(p);
}

static void
on_eof(void *arg)
{
	struct proxy *p = arg;
	struct event in = { .kind = INPUT_EOF };

	lines_end(p->lines);
	input(p, &in);
}

static void
on_high(void *arg)
{
	struct proxy *p = arg;

	p->stdout_above = true;
	streamable_pause(p->streamable, true);
}

static void
on_low(void *arg)
{
	struct proxy *p = arg;

	p->stdout_above = false;
	streamable_pause(p->streamable, false);
	p->stdout_full = false;
	pause_stdin(p);
}

static void
on_broken(int error, void *arg)
{
	struct event in = { .kind = INPUT_BROKEN };
	struct proxy *p = arg;

	p->unwritten = error != EPIPE;
	if (!p->unwritten)
		log_info("the client closed stdout");
	input(p, &in);
}

/* --- the server, and the credentials --- */

static void
on_credentials_ready(uint64_t ticket, void *arg)
{
	struct proxy *p = arg;

	load_start(p);
	streamable_credentials_ready(p->streamable, ticket);
}

static void
on_refusal_final(uint64_t ticket, const char *why, bool credentials_known_good,
    void *arg)
{
	struct proxy *p = arg;

	streamable_refusal_final(p->streamable, ticket, why,
	    credentials_known_good);
}

static const char *
on_peer(void *arg)
{
	struct proxy *p = arg;

	return streamable_peer(p->streamable);
}

/* A challenge that a tool passes on names metadata of another server (RFC 9728,
 * section 5.1). And for one that says that the token is good, and not enough, no
 * call goes out again. */
static bool
is_of_door(const struct proxy *p, struct span value)
{
	struct challenge c;
	struct url metadata = { 0 };
	bool is;

	challenge_parse(&c, value);
	is = denial_stands(&c) ||
	    (c.resource_metadata != NULL &&
		url_parse(&metadata, c.resource_metadata) == URL_OK &&
		url_same_origin(&metadata, &p->url));
	url_free(&metadata);
	challenge_free(&c);
	return is;
}

/* From the server or about the credentials. */
static void
on_event(struct event *in, void *arg)
{
	struct proxy *p = arg;
	struct event known = *in;
	struct facts facts;

	if (in->kind == INPUT_REFUSED || in->kind == INPUT_DONE) {
		facts = *in->facts;
		facts.of_door = in->kind == INPUT_REFUSED &&
		    is_of_door(p, facts.challenge);
		facts.signature = authorize_is_signature(p->authorize, &facts);
		known.facts = &facts;
	}
	if (in->kind == INPUT_SIGNED_IN)
		load_start(p);
	if (in->head)
		route_peer(p->route, streamable_peer(p->streamable));
	if (in->kind == INPUT_DONE)
		authorize_drop(p->authorize, in->ticket);
	input(p, &known);
}

/* --- events of the machine --- */

static void
on_stale_session(struct span session, struct span version, void *arg)
{
	struct event in = { .kind = INPUT_STALE_SESSION };

	in.session = session;
	in.version = version;
	input(arg, &in);
}

/* The old connections may be dead without any sign, and the credentials may
 * have expired. */
static void
wake(struct proxy *p)
{
	struct event in = { .kind = INPUT_WAKE };

	authorize_wake(p->authorize);
	streamable_forget(p->streamable);
	input(p, &in);
}

static void
on_sleep(int64_t slept_ms, void *arg)
{
	log_decision(
	    "the machine slept for %lld s: later requests get new connections",
	    (long long)(slept_ms / 1000));
	wake(arg);
}

static void
on_route(void *arg)
{
	log_decision("the network changed: later requests get new connections");
	wake(arg);
}

/* --- the end, and SIGUSR1 --- */

static void
stop(struct proxy *p)
{
	struct event in = { .kind = INPUT_STOP };

	p->stopping = true;
	loop_timer_set(p->stop_timer, BOUND_STOP_MS);
	input(p, &in);
}

static void
on_signal(int signo, void *arg)
{
	struct proxy *p = arg;

	if (p->stopping) {
		loop_stop(p->loop, EXIT_SECOND_SIGNAL + signo);
		return;
	}
	log_info("received signal %d: ending", signo);
	stop(p);
}

static void
on_parent_gone(void *arg)
{
	struct proxy *p = arg;

	/* A user's pipeline may outlive the shell that started it. */
	if (p->stopping || pipes_out_is_for_user(p->pipes))
		return;
	log_info("the parent process is gone: ending");
	stop(p);
}

static void
on_usr1(int signo, void *arg)
{
	struct proxy *p = arg;
	struct buf b = { 0 };

	(void)signo;
	buf_addf(&b,
	    "server: %s\nstdout: %zu bytes queued; partial messages: %zu "
	    "bytes\n",
	    p->host, pipes_queued(p->pipes), streamable_held(p->streamable));
	chain_describe(p->chain, &b);
	log_dump(buf_str(&b));
	buf_free(&b);
}

/* --- construction --- */

/* OAuth is used for servers that ask for it, unless other credentials are
 * given. */
static bool
has_oauth(const struct options *o)
{
	switch (o->auth) {
	case AUTH_NONE:
	case AUTH_GIVEN:
		return false;
	case AUTH_AUTO:
		return options_given_credential(o) == NULL;
	default:
		return true;
	}
}

static void
fill_oauth(struct proxy *p)
{
	static const char *const login_process[] = { "mcpsplice", "login",
		"--agent", NULL };
	const struct options *o = p->options;
	struct oauth_config *c = &p->oauth;
	char *why = NULL;

	p->store = setup_store(p->loop, o, (const char *const *)p->unset, false,
	    &why);
	if (p->store == NULL)
		log_info("%s; " STORE_LACKS, why);
	free(why);
	p->program = setup_program(o);
	setup_import(&p->import, o, &p->url, &p->import_folder);
	c->host = p->host;
	c->url = p->url.text;
	c->profile = o->profile;
	c->store = p->store;
	c->import = p->import.folder != NULL && o->profile == NULL ?
	    &p->import :
	    NULL;
	c->program = p->program;
	c->login_process = login_process;
	c->argv = (const char *const *)o->argv;
	c->alone = o->auth == AUTH_CLIENT_CREDENTIALS ||
	    o->auth == AUTH_WORKLOAD || o->auth == AUTH_ENTERPRISE;
	c->use_id_token = o->use_id_token;
	c->needs_peer = setup_needs_peer(o, &p->url);
	c->asks_nobody = o->command == COMMAND_CHECK;
}

static int
make_authorize(struct proxy *p, char **why)
{
	static const struct oauth_ops ops = { on_credentials_ready,
		on_refusal_final, on_event, on_peer };
	const struct options *o = p->options;
	const struct given_config given = setup_given(o);
	struct authorize_config c = {
		.given = &given,
		.command = o->auth_command,
		.url = p->url.text,
		.negotiate = o->negotiate,
		.aws = o->aws_sigv4 != NULL,
	};

	p->unset = setup_unset(o);
	c.unset = (const char *const *)p->unset;
	if (o->auth_command == NULL && has_oauth(o)) {
		fill_oauth(p);
		c.oauth = &p->oauth;
		c.wanted = o->auth != AUTH_AUTO;
	}
	p->authorize = authorize_new(p->loop, &c, &ops, p, why);
	return p->authorize == NULL ? -1 : 0;
}

static size_t
message_cap(const struct options *o)
{
	return o->max_message > 0 ? o->max_message : SIZE_MAX / 4;
}

static struct streamable *
make_streamable(struct proxy *p)
{
	struct streamable_config c = {
		.url = p->url.text,
		.max_message = message_cap(p->options),
		.max_held = p->options->max_buffer / BOUND_SHARES,
		.max_depth = p->options->max_depth,
		.call_timeout_ms = p->options->call_timeout_ms,
		.credentials = authorize_credentials(p->authorize),
		.keeper = &authorize_ops,
		.keeper_arg = p->authorize,
		.gives = options_given_credential(p->options) != NULL ||
		    p->options->negotiate || p->options->cert != NULL,
		.trace_headers = p->options->trace_headers,
	};

	return streamable_new(p->loop, p->http, &c, on_event, p);
}

/* The patterns were checked when the options were read. */
static void
compile_patterns(struct proxy *p)
{
	const struct strings *from = &p->options->session_lost_patterns;

	p->patterns = xcalloc(from->n + 1, sizeof *p->patterns);
	while (p->n_patterns < from->n &&
	    regcomp(&p->patterns[p->n_patterns], from->list[p->n_patterns],
		REG_EXTENDED | REG_ICASE | REG_NOSUB) == 0)
		p->n_patterns++;
}

static struct chain *
make_chain(struct proxy *p)
{
	const struct options *o = p->options;
	bool for_user = o->handshake || pipes_out_is_for_user(p->pipes);
	enum cached_era era = state_cache_load_era(p->state_cache);
	struct chain_config c = { 0 };

	c.session = (struct session_config){
		.host = p->host,
		.version = PACKAGE_VERSION,
		.prefix = p->prefix,
		.init_timeout_ms = o->init_timeout_ms,
		.retry_window_ms = o->retry_window_ms,
		.try_first = o->http2 && strncmp(o->url, "https:", 6) == 0,
		.call_timeout_ms = o->call_timeout_ms,
		.drain_timeout_ms = o->drain_timeout_ms,
		.max_result = for_user && !o->max_result_set ? 0 :
							       o->max_result,
		.max_held = o->max_buffer > 0 ? o->max_buffer / BOUND_SHARES :
						SIZE_MAX,
		.max_inflight = o->max_inflight,
		.ping_interval_ms = o->ping_interval_ms,
		.rules = { p->patterns, p->n_patterns,
		    o->session_lost_in_results },
		.filter = { (const char *const *)o->ignore_tools.list,
		    (const char *const *)o->only_tools.list, o->ignore_tools.n,
		    o->only_tools.n, o->read_only },
		.cached_start = p->state_cache != NULL,
		.replay = o->replay,
		.start = o->start,
		.handshake = o->handshake,
		.fail = o->fail != FAIL_NEVER,
		.fail_any = o->fail == FAIL_ANY,
	};
	c.session.max_bodies = c.session.max_held;
	c.hint = o->hint;
	c.server.protocol = (enum era_protocol)o->protocol;
	c.server.transport = (enum era_transport)o->transport;
	c.server.remembered = era != CACHED_NO_ERA;
	c.server.was_modern = era == CACHED_MODERN;
	c.server.was_sse = era == CACHED_SSE;
	return chain_new(&c);
}

/* Returns NULL if the cache is switched off or there is no home folder. */
static struct state_cache *
make_state_cache(struct proxy *p)
{
	const char *home = os_place(OS_PLACE_DATA);
	struct profile profile;
	struct buf identity = { 0 };
	char *host;
	int rc;

	if (p->options->no_memory || home == NULL ||
	    options_identity(p->options, &identity, &host) != 0)
		return NULL;
	rc = profile_make(&profile, host, buf_span(&identity));
	buf_wipe(&identity);
	free(host);
	return rc == 0 ? state_cache_new(p->loop, home, &profile,
			     on_stale_session, is_whose, p) :
			 NULL;
}

/* Makes what the options can be wrong for: it looks at every file and variable
 * that they name. Returns 0, or the exit status with *why. */
static int
prepare(struct proxy *p, char **why)
{
	if (url_parse(&p->url, p->options->url) != URL_OK) {
		*why = xasprintf("\"%s\" is not a URL", p->options->url);
		return 2;
	}
	p->host = xstrdup(url_authority(&p->url));
	if ((p->loop = loop_new()) == NULL) {
		*why = xstrdup("cannot create an event loop");
		return 1;
	}
	if (make_authorize(p, why) != 0)
		return 2;
	p->http = network_server(&p->network, p->loop, p->options, false, why);
	return p->http == NULL ? 2 : 0;
}

static int
proxy_init(struct proxy *p, char **why)
{
	static const struct pipes_ops pipes_ops = { on_chunk, on_eof, on_high,
		on_low, on_broken };
	static const struct lines_ops lines_ops = { on_line, on_too_long };
	int status = prepare(p, why);
	size_t i;

	if (status != 0)
		return status;
	if (os_random(&p->random, sizeof p->random) != 0) {
		*why = xstrdup("the system gives no randomness");
		return 1;
	}
	p->prefix = own_id_prefix((uint32_t)(next_random(p) >> 32));
	if (p->options->trace != NULL)
		p->trace = trace_open(p->options->trace, p->url.text,
		    authorize_credentials(p->authorize));
	p->timer_at = ALARM_NEVER;
	p->timer = loop_timer_new(p->loop, on_timer, p);
	p->stop_timer = loop_timer_new(p->loop, on_flushed, p);
	p->streamable = make_streamable(p);
	p->lines = lines_new(message_cap(p->options), &lines_ops, p);
	p->pipes = pipes_new(p->loop, OS_STDIN, OS_STDOUT, BOUND_QUEUE_BYTES,
	    STDOUT_LOW, &pipes_ops, p);
	p->state_cache = make_state_cache(p);
	compile_patterns(p);
	p->chain = make_chain(p);
	p->note_timer = loop_timer_new(p->loop, write_note, p);
	begin_note(p);
	for (i = 0; i < OS_END_SIGNALS; i++)
		loop_signal(p->loop, os_end_signals[i], on_signal, p);
	loop_signal(p->loop, os_dump_signal, on_usr1, p);
	loop_watch_parent(p->loop, on_parent_gone, p);
	loop_watch_sleep(p->loop, on_sleep, p);
	p->route = route_new(p->loop, on_route, p);
	if (p->route == NULL)
		log_debug("the system does not report network changes");
	return 0;
}

/* Frees in the reverse order of making, so that no freed object is called
 * back. */
static void
proxy_free(struct proxy *p)
{
	http_free(p->http);
	streamable_free(p->streamable);
	chain_free(p->chain);
	state_cache_free(p->state_cache);
	log_watch(NULL, NULL);
	process_note_free(p->note);
	loop_timer_free(p->note_timer);
	buf_free(&p->start_version);
	buf_free(&p->start_capabilities);
	buf_wipe(&p->whose);
	while (p->n_patterns > 0)
		regfree(&p->patterns[--p->n_patterns]);
	free(p->patterns);
	pipes_free(p->pipes);
	lines_free(p->lines);
	trace_close(p->trace);
	authorize_free(p->authorize);
	store_free(p->store);
	network_free(&p->network);
	string_list_free(p->unset);
	free(p->program);
	free(p->import_folder);
	route_free(p->route);
	loop_timer_free(p->timer);
	loop_timer_free(p->stop_timer);
	loop_free(p->loop);
	url_free(&p->url);
	free(p->host);
	free(p->prefix);
}

/* Hosts show every line of stderr as an error, so only warnings are written,
 * unless a user reads stderr. A terminal there alone may be the host's, on which
 * it shows its own answers. */
static enum log_level
level_of(const struct options *o)
{
	if (o->quiet)
		return LEVEL_ERROR;
	if (o->verbose > 0)
		return o->verbose > 1 ? LEVEL_DEBUG : LEVEL_INFO;
	return o->command == COMMAND_PROXY && os_is_terminal(OS_STDIN) &&
		os_is_terminal(OS_STDERR) ?
	    LEVEL_INFO :
	    LEVEL_WARN;
}

static void
start_log(const struct options *o)
{
	struct log_config log = { level_of(o), o->log_json, o->log_file };
	size_t i;

	if (log_open(&log) != 0)
		log_warn("cannot open --log-file %s: %s", o->log_file,
		    strerror(errno));
	setup_warn(o);
	for (i = 0; i < o->notes.n; i++)
		log_info("%s", o->notes.list[i]);
	if (os_is_terminal(OS_STDIN) && o->command == COMMAND_PROXY)
		log_info(
		    "waiting for JSON-RPC on stdin; normally an MCP host "
		    "starts this. To list the server's tools, run: mcpsplice "
		    "tools URL");
}

int
proxy_check(const struct options *o, char **why)
{
	struct proxy p = { .options = o };
	int status = prepare(&p, why);

	proxy_free(&p);
	return status;
}

int
proxy_run(const struct options *o, proxy_watch_cb *watch, void *arg, char **why)
{
	struct proxy p = { .options = o, .watch = watch, .watch_arg = arg };
	int status;

	start_log(o);
	status = proxy_init(&p, why);
	if (status == 0) {
		/* each call in flight holds a connection */
		if (os_process_raise_descriptors() != 0)
			log_debug("cannot raise the limit of open files "
				  "(RLIMIT_NOFILE)");
		status = loop_run(p.loop);
	}
	proxy_free(&p);
	log_close();
	return status;
}
