#include "config.h"

#include "signin/notification.h"

#include <stdlib.h>

enum { NOTIFICATION_MS = 10 * 1000 };

static void
on_done(enum child_end end, int value, void *arg)
{
	(void)end;
	(void)value;
	(void)arg;
}

void
notification_send(struct loop *l, const char *host, const char *const *unset)
{
	static const struct child_ops ops = { .done = on_done };
	/* The text is one argument that begins with a letter. */
	char *text = xasprintf("Sign in to %s to use it.", host);
#ifdef __APPLE__
	const char *const argv[] = { "/usr/bin/osascript", "-e", "on run words",
		"-e",
		"display notification (item 1 of words) with title "
		"\"mcpsplice\"",
		"-e", "end run", text, NULL };
#else
	const char *const argv[] = { "notify-send", "--app-name=mcpsplice",
		"A sign-in is wanted", text, NULL };
#endif
	struct child_config config = { .argv = argv,
		.unset = unset,
		.detached = true,
		.timeout_ms = NOTIFICATION_MS };

	child_new(l, &config, &ops, NULL);
	free(text);
}
