/* What an MCP host knows of a server: an entry of its configuration. */
#ifndef MCPSPLICE_DEMO_HOST_H
#define MCPSPLICE_DEMO_HOST_H

/* Command and arguments, NULL-ended, of the one server in this file; NULL when
 * there is none. */
char **demo_host_command(const char *file);
void demo_host_free(char **command);

#endif
