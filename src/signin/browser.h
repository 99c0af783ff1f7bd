/*
 * Opening a URL that a server made (doc/protocol.md 8.12): parsed, checked,
 * percent-encoded, given to one program as one argument; no shell.
 */
#ifndef MCPSPLICE_SIGNIN_BROWSER_H
#define MCPSPLICE_SIGNIN_BROWSER_H

#include "io/child.h"

/* The URL in a form that no program takes for anything else: https, or http
 * on loopback (any http with allow_http), no user info, no control byte; all
 * but unreserved characters and : / ? & = % # [ ] @ + percent-encoded. NULL
 * with *why for people, owned by the caller. */
char *browser_url(const char *url, bool allow_http, char **why);

/* Returns the URL as a word that a user may copy behind an option; "URL" for one
 * that a shell could take for more than a word. */
const char *browser_word(const char *url);

/* How browsers are opened here. NULL with no *why: none is to be tried (no
 * display). command is of --browser or $BROWSER or NULL: then xdg-open, or
 * open on macOS. has_display: DISPLAY or WAYLAND_DISPLAY is set, or it needs
 * none here. The words, NULL-ended, without the URL (string_list_free). */
char **browser_command(const char *command, bool has_display, char **why);

/* What a browser and a notification do not get of our environment, and what
 * they get besides; as in child_config. */
struct desktop {
	const char *const *unset;
	const char *const *set;
};

/* Opens it; url is from browser_url. The browser may stay when the child object
 * is freed. */
struct child *browser_open(struct loop *l, char *const *command,
    const char *url, const struct desktop *desktop, const struct child_ops *ops,
    void *arg);
/* Could the program be started, and did it end well? If not, it is logged. */
bool browser_opened(enum child_end end, int value);

/* Shows it, if this system has a program for that. host is the name of the MCP
 * server. Nothing is waited for, and a failure is of no consequence: the URL is
 * told in other ways, too. */
void notification_send(struct loop *l, const char *host,
    const struct desktop *desktop);

#endif
