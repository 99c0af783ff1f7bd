/* "mcpsplice login": a user at a terminal signs in. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/bounds.h"
#include "base/codec.h"
#include "core/wire/lines.h"
#include "os/process.h"
#include "os/stream.h"
#include "os/terminal.h"
#include "signin/account.h"
#include "tools/command.h"

struct talk {
	struct account account;
	struct two_logins *login;
	char *why;
	int status; /* of the exit */
	/* input at a terminal */
	struct os_input *in;
	struct loop_fd *stdin_watch;
	struct lines *typed;
	struct http *other; /* client for the copy that asks the user */
	int other_status;
	struct probe probe;
};

static void
talk_free(struct talk *t)
{
	two_logins_free(t->login);
	if (t->other != NULL)
		http_free(t->other);
	account_free(&t->account);
	loop_fd_free(t->stdin_watch);
	os_input_close(t->in);
	lines_free(t->typed);
	probe_free(&t->probe);
}

/* Ignores the body: only the head of an answer counts. */
static bool
ignore(struct transfer *x, const char *p, size_t n, void *arg)
{
	(void)x;
	(void)p;
	(void)n;
	(void)arg;
	return true;
}

static void
user_where(const char *url, const char *code, void *arg)
{
	struct talk *t = arg;

	fprintf(stderr,
	    "To sign in to %s, open this in a browser:\n\n  "
	    "%s\n\n",
	    url_authority(t->account.signs_in != NULL ?
		    t->account.signs_in->server :
		    &t->account.url),
	    url);
	if (code != NULL)
		fprintf(stderr, "Enter this code there: %s\n\n", code);
	else if (t->stdin_watch != NULL)
		fprintf(stderr,
		    "If the browser is on another machine, it will end on a "
		    "page that fails to load:\npaste that page's address "
		    "here.\n");
}

/* The server asked for no credentials, and names nobody who gives them. */
static void
talk_unasked(struct talk *t)
{
	const char *host = url_authority(&t->account.url);
	int status = t->probe.status;

	if (status < 300 || status == 400 || t->probe.speaks)
		printf("No sign-in needed: %s answers without credentials.\n",
		    host);
	else
		t->why = xasprintf("%s answered %d to a request without "
				   "credentials, and offers no sign-in. "
				   "Check the URL",
		    host, status);
}

/* Tells the user how it ended. */
static void
user_done(struct talk *t, const struct login_done *d)
{
	struct buf scopes = { 0 };

	if (d->end == LOGIN_STOPPED)
		return;
	if (d->end == LOGIN_UNASKED) {
		talk_unasked(t);
	} else if (d->end == LOGIN_DONE) {
		codec_visible(&scopes, span_of(d->record.token.scope_granted),
		    BOUND_NAME_BYTES);
		printf("Signed in to %s%s%s.\n", url_authority(&t->account.url),
		    scopes.n > 0 ? ", scopes: " : "", buf_str(&scopes));
		buf_free(&scopes);
	}
	if (d->why != NULL)
		t->why = xstrdup(d->why);
	t->status = t->why != NULL;
}

static void
say_not_waited_for(void)
{
	fprintf(stderr,
	    "That is not the expected address: paste the whole address of "
	    "the page where the browser ended.\n");
}

static void
other_head(struct transfer *x, int status, void *arg)
{
	struct talk *t = arg;

	t->other_status = status;
	http_abort(x);
}

static void
other_done(struct transfer *x, const struct http_answer *answer, void *arg)
{
	struct talk *t = arg;

	(void)x;
	(void)answer;
	if (t->other_status != 200)
		say_not_waited_for();
	t->other_status = 0;
}

/* Is text the redirect URL of a login on this machine? */
static bool
is_callback(const struct talk *t, const char *text)
{
	const char *path = t->account.options->callback_path;
	size_t n = strlen(path);
	struct url u;
	bool is = url_parse(&u, text) == URL_OK &&
	    strcmp(u.scheme, "http") == 0 && url_is_loopback(&u);

	if (is) {
		text = u.text + strlen(u.origin);
		is = strncmp(text, path, n) == 0 && text[n] == '?';
	}
	url_free(&u);
	return is;
}

/* Sends a pasted redirect URL to the copy that asks the user and listens, as a
 * browser would. */
static bool
paste_to_other(struct talk *t, const char *url)
{
	static const struct http_ops ops = { other_head, ignore, other_done };
	struct account *a = &t->account;
	struct headers none = { 0 };
	struct http_request r = { .method = "GET",
		.url = url,
		.headers = &none,
		.idle_ms = 10 * 1000 };
	char *why = NULL;

	if (!is_callback(t, url))
		return false;
	if (t->other == NULL)
		t->other = network_auth(&a->network, a->loop, a->options, NULL,
		    NULL, &why);
	free(why);
	if (t->other == NULL)
		return false;
	http_send(t->other, &r, &ops, t);
	return true;
}

static void
on_typed(struct frame *f, void *arg)
{
	struct talk *t = arg;
	char *url = xstrndup(f->text.p, f->text.n);

	url[strcspn(url, " \r\t")] = '\0';
	if (*url != '\0' && t->login != NULL &&
	    !two_logins_paste(t->login, url) && !paste_to_other(t, url))
		say_not_waited_for();
	free(url);
	frame_unref(f);
}

static void
on_stdin(int fd, int what, void *arg)
{
	struct talk *t = arg;
	char part[4096];
	int64_t n = os_input_read(t->in, part, sizeof part);

	(void)fd;
	(void)what;
	if (n > 0) {
		lines_feed(t->typed, part, (size_t)n);
		return;
	}
	loop_fd_free(t->stdin_watch);
	t->stdin_watch = NULL;
}

static void
user_run(struct talk *t)
{
	static const struct lines_ops typed_ops = { .line = on_typed };
	struct account *a = &t->account;
	struct login_config *c = &a->login;
	struct login_done d;

	challenge_parse(&a->challenge, buf_span(&t->probe.challenge));
	c->reason = LOGIN_NONE;
	c->interactive = c->force = true;
	c->unasked = t->probe.status != 401;
	if (os_is_terminal(OS_STDIN) &&
	    (c->mode == LOGIN_BROWSER || a->signs_in != NULL)) {
		t->typed = lines_new(BOUND_TEXT_BYTES, &typed_ops, t);
		t->in = os_input_open(OS_STDIN);
		t->stdin_watch = loop_fd_new(a->loop, os_input_stream(t->in),
		    LOOP_READ, on_stdin, t);
	}
	t->login = two_logins_new(a->loop, a->fetcher, a->store, c, a->signs_in,
	    user_where, t);
	two_logins_run(t->login, &d);
	user_done(t, &d);
	login_done_free(&d);
}

static void
on_signal(int signo, void *arg)
{
	struct talk *t = arg;

	t->status = 128 + signo;
	loop_stop(t->account.loop, t->status);
}

int
command_login(const struct options *o, char **why)
{
	struct talk t = { .status = 1 };
	struct loop *l = setup_loop(why);

	setup_log(o, LEVEL_WARN);
	setup_warn(o);
	if (l == NULL)
		return 1;
	if (probe_send(&t.probe, l, o, why) != 0 ||
	    account_init(&t.account, l, o, t.probe.peer, why) != 0) {
		;
	} else if (t.account.store == NULL) {
		*why = xstrdup(t.account.store_why);
	} else {
		if (t.probe.status != 401)
			log_info("%s did not ask for credentials (%d)",
			    url_authority(&t.account.url), t.probe.status);
		loop_signal(l, os_end_signals[0], on_signal, &t);
		loop_signal(l, os_end_signals[1], on_signal, &t);
		user_run(&t);
		*why = t.why;
	}
	talk_free(&t);
	loop_free(l);
	return t.status;
}
