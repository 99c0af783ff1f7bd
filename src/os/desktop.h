/*
 * The user's desktop.
 */
#ifndef MCPSPLICE_OS_DESKTOP_H
#define MCPSPLICE_OS_DESKTOP_H

#include <stdbool.h>

/* The command that opens a page in the browser: a line of words, to which the
 * URL is added. */
extern const char os_browser[];
/* Has each user a desktop, whatever the environment says? */
extern const bool os_desktop_is_sure;
/* The words of the command that shows a notification, NULL-ended; its text is
 * added. It has no word if there is no such command. */
extern const char *const os_notifier[];
/* Returns the program by which a guest system opens a page in its host; NULL:
 * there is none. */
const char *os_host_browser(void);
/* What the user does to get a Kerberos ticket: advice, without a full stop. */
extern const char os_ticket_advice[];

#endif
