/*
 * Opens the page where the user signs in. The URL is made by a server, so it
 * is the most dangerous thing this program hands on: it is parsed as libcurl
 * parses it, held to http and https, and all that a program or a script
 * behind it may take for something else is percent-encoded.
 *
 * Invariant: what is opened begins with "http", so it is never an option, and
 * it is one argument of one program.
 */
#include "config.h"

#include "signin/browser.h"

#include <stdlib.h>

#include "base/log.h"
#include "io/url.h"
#include "os/desktop.h"
#include "os/error.h"

/* RFC 3986: unreserved, and of the reserved those that a URL needs. */
static bool
stays(char c)
{
	return c != '\0' && strchr(ALNUM "-._~:/?&=%#[]@+", c) != NULL;
}

static char *
encode(const char *url)
{
	struct buf out = { 0 };

	for (; *url != '\0'; url++) {
		if (stays(*url))
			buf_addc(&out, *url);
		else
			buf_addf(&out, "%%%02X", (unsigned char)*url);
	}
	return buf_take(&out);
}

/* What is wrong with a URL, or NULL. */
static const char *
fault_of(enum url_status status, const struct url *u, bool allow_http)
{
	switch (status) {
	case URL_OK:
		break;
	case URL_USERINFO:
		return "it contains a user name";
	case URL_SCHEME:
	case URL_NO_SCHEME:
		return "it does not begin with https:// or http://";
	case URL_BAD:
		return "it is not a URL";
	}
	if (strcmp(u->scheme, "https") != 0 && !allow_http &&
	    !url_is_loopback(u))
		return "it is not encrypted; --allow-http would allow it";
	return NULL;
}

const char *
browser_word(const char *url)
{
	size_t n = url == NULL ? 0 : strspn(url, ALNUM "-._~:/@+=[]");

	return n > 0 && n <= 200 && url[n] == '\0' ? url : "URL";
}

char *
browser_url(const char *url, bool allow_http, char **why)
{
	enum url_status status;
	const char *fault;
	char *safe = NULL;
	struct url u;

	*why = NULL;
	status = url_parse(&u, url);
	fault = fault_of(status, &u, allow_http);
	if (fault == NULL)
		safe = encode(u.text);
	else
		*why = xasprintf("not opening the sign-in page: %s", fault);
	url_free(&u);
	return safe;
}

char **
browser_command(const char *command, bool has_display, char **why)
{
	char **words, *problem = NULL;

	*why = NULL;
	if (!has_display)
		return NULL;
	words = child_words(command != NULL ? command : os_browser, &problem);
	if (words == NULL)
		*why = xasprintf("--browser or $BROWSER: %s", problem);
	free(problem);
	return words;
}

bool
browser_opened(enum child_end end, int value)
{
	if (end == CHILD_NO_START)
		log_info("cannot start the browser: %s", os_error_text(value));
	else if (end != CHILD_EXIT || value != 0)
		log_info("the browser ended with %s %d",
		    end == CHILD_EXIT ? "status" : "signal", value);
	return end == CHILD_EXIT && value == 0;
}

struct child *
browser_open(struct loop *l, char *const *command, const char *url,
    const struct desktop *desktop, const struct child_ops *ops, void *arg)
{
	struct child_config config = {
		.unset = desktop->unset, .set = desktop->set, .detached = true
	};
	struct child *browser;
	const char **argv;
	size_t n;

	for (n = 0; command[n] != NULL; n++)
		;
	argv = xcalloc(n + 2, sizeof *argv);
	memcpy(argv, command, n * sizeof *argv);
	argv[n] = url;
	config.argv = argv;
	browser = child_new(l, &config, ops, arg);
	free(argv);
	return browser;
}

enum { NOTIFICATION_MS = 10 * 1000, NOTIFIER_WORDS = 16 };

static void
on_notified(enum child_end end, int value, void *arg)
{
	(void)end;
	(void)value;
	(void)arg;
}

void
notification_send(struct loop *l, const char *host,
    const struct desktop *desktop)
{
	static const struct child_ops ops = { .done = on_notified };
	/* The text is one argument that begins with a letter. */
	char *text = xasprintf("Sign in to %s to use it.", host);
	const char *argv[NOTIFIER_WORDS + 2];
	struct child_config config = { .argv = argv,
		.unset = desktop->unset,
		.set = desktop->set,
		.detached = true,
		.timeout_ms = NOTIFICATION_MS };
	size_t n;

	for (n = 0; n < NOTIFIER_WORDS && os_notifier[n] != NULL; n++)
		argv[n] = os_notifier[n];
	argv[n] = text;
	argv[n + 1] = NULL;
	if (n > 0)
		child_new(l, &config, &ops, NULL);
	free(text);
}
