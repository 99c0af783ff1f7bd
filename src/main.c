/* mcpsplice: use a remote MCP server as if it were a local one. */
#include "config.h"

#include <sys/resource.h>
#ifdef HAVE_SYS_PRCTL_H
#include <sys/prctl.h>
#endif

#include <errno.h>
#include <fcntl.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "auth/proof.h"
#include "base/log.h"
#include "core/wire/redact.h"
#include "io/http.h"
#include "io/loop.h"
#include "options/options.h"
#include "options/setup.h"
#include "proxy/proxy.h"
#include "signin/account.h"
#include "tools/command.h"

/* Opens /dev/null in place of closed descriptors 0, 1 and 2: a socket that got
 * one of these numbers would be taken for stdio. */
static void
open_stdio(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

/* Memory holds tokens, so no core file may be written. The limit does not hold
 * for a program that the system gives core files to. On Linux the second call
 * keeps these away, too, and other processes of the user from our memory and
 * environment. */
static void
no_core(void)
{
	struct rlimit none = { 0, 0 };

	if (setrlimit(RLIMIT_CORE, &none) != 0)
		log_debug("RLIMIT_CORE cannot be set");
#ifdef PR_SET_DUMPABLE
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0)
		log_debug("PR_SET_DUMPABLE cannot be set");
#endif
}

/* The login process is started by a path that does not end in its name, which
 * is what ps and ss would show. */
static void
take_name(void)
{
#ifdef PR_SET_NAME
	(void)prctl(PR_SET_NAME, "mcpsplice", 0, 0, 0);
#endif
}

/* Gives the memory of a large message back to the system when it is freed. The
 * C library would keep more and more of it, in pieces between which a larger
 * message finds no place. */
static void
give_memory_back(void)
{
#ifdef __GLIBC__
	enum { LARGE = 256 * 1024 };

	(void)mallopt(M_MMAP_THRESHOLD, LARGE);
#endif
}

/* libcurl would write the keys of each connection to this file, and tokens
 * could be read from recorded network traffic. */
static void
no_key_log(void)
{
	unsetenv("SSLKEYLOGFILE");
}

/* The environment and the files that it names are then those of a user who has
 * not our rights. Linux's AT_SECURE is not asked: it is also set where SELinux
 * or AppArmor change the domain. */
static bool
is_setuid(void)
{
	return geteuid() != getuid() || getegid() != getgid();
}

/* main tells a failure. */
static int
print(char *text)
{
	fputs(text, stdout);
	free(text);
	return 0;
}

static int
print_version(void)
{
	char *features = http_features();
	char *text = xasprintf("mcpsplice %s, %s, %s\nFeatures: %s\n"
			       "Home: " ADDRESS_HOME "\n"
			       "Issues: " ADDRESS_ISSUES "\n"
			       "Security: " ADDRESS_SECURITY "\n",
	    PACKAGE_VERSION, loop_version(), http_version(), features);

	free(features);
	return print(text);
}

/* Shows the values also if a start would fail with them, which is told
 * then. */
static int
show_config(const struct options *o, char **why)
{
	int status = print(options_show(o));

	setup_warn(o);
	return status != 0 || o->url == NULL ? status : proxy_check(o, why);
}

static int
run(const struct options *o, char **why)
{
	switch (o->command) {
	case COMMAND_LOGIN:
		return command_login(o, why);
	case COMMAND_LOGOUT:
		return command_logout(o, why);
	case COMMAND_STATUS:
		return command_status(o, why);
	case COMMAND_REPORT:
		return command_report(o, why);
	case COMMAND_TOOLS:
		return command_tools(o, why);
	case COMMAND_CALL:
		return command_call(o, why);
	case COMMAND_CHECK:
		return command_check(o, why);
	case COMMAND_WRAP:
		return command_wrap(o, why);
	default:
		return proxy_run(o, why);
	}
}

int
main(int argc, char **argv)
{
	struct options o = { 0 };
	char *why = NULL;
	int status;

	give_memory_back();
	memory_of_crypto();
	open_stdio();
	no_core();
	no_key_log();
	if (is_setuid()) {
		log_error("the program has a setuid or setgid bit, so it does "
			  "not run: the environment would be that of another "
			  "user");
		return 2;
	}
	if (options_load(&o, argc, argv, &why) != 0) {
		status = 2;
	} else if (o.login_process) {
		take_name();
		status = signin_process(argv[0]);
	} else if (o.help) {
		status = print(o.help_option != NULL ?
			options_help_option(o.help_option) :
			options_help(o.command, o.help_all));
	} else if (o.version) {
		status = print_version();
	} else if (o.show_config) {
		status = show_config(&o, &why);
	} else {
		status = run(&o, &why);
	}
	if (fflush(stdout) == EOF || ferror(stdout) != 0) {
		if (why == NULL && errno != EPIPE)
			why = xstrdup("stdout cannot be written");
		status = status == 0 ? 1 : status;
	}
	if (why != NULL)
		why = redact_tokens(why);
	if (why != NULL && o.command == COMMAND_PROXY && !o.show_config &&
	    !o.help && !o.version)
		proxy_refuse(why);
	else if (why != NULL)
		log_error("%s", why);
	free(why);
	options_free(&o);
	return status;
}
