/*
 * What the processes that started this one have in their environment and have
 * not passed on. MCP's SDKs start a server with HOME, PATH and little else, so
 * only the host knows the user's desktop. Without a /proc like that of Linux,
 * nothing is found.
 */
#ifndef MCPSPLICE_IO_ANCESTOR_ENVIRONMENT_H
#define MCPSPLICE_IO_ANCESTOR_ENVIRONMENT_H

/* Returns "NAME=VALUE" for each of these names, NULL-ended, that our own
 * environment has not and that of an ancestor has: with the value of the nearest
 * one, as if all had passed it on. An empty value is one, too, and hides those
 * of farther ancestors. Processes of other users, and those that cannot be read,
 * are passed over. proc is "/proc" and parent os_parent_id(), but in tests. NULL:
 * nothing was found. The values may be secret: free the list with
 * string_list_free. */
char **ancestors_variables(const char *proc, long parent,
    const char *const *names);
/* Returns the name of the program that runs as this process, as ps shows it,
 * which the caller owns; NULL: it is not known. */
char *ancestors_program(const char *proc, long process);

#endif
