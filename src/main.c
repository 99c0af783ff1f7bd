/* mcpsplice: use a remote MCP server as if it were a local one. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "auth/assertion.h"
#include "base/log.h"
#include "core/wire/redact.h"
#include "io/http.h"
#include "io/loop.h"
#include "options/from_options.h"
#include "options/options.h"
#include "os/process.h"
#include "proxy/proxy.h"
#include "signin/account.h"
#include "tools/command.h"

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
		return proxy_run(o, NULL, NULL, why);
	}
}

int
main(int argc, char **argv)
{
	struct options o = { 0 };
	char *why = NULL;
	int status;

	os_process_begin(&argc, &argv);
	memory_of_crypto();
	/* libcurl would write the keys of each connection to this file, and
	 * tokens could be read from recorded network traffic. */
	os_process_unset("SSLKEYLOGFILE");
	/* The environment and the files that it names are then those of a user
	 * who has not our rights. */
	if (os_process_is_privileged()) {
		log_error("refusing to run setuid or setgid: the environment "
			  "would be another user's");
		return 2;
	}
	if (options_load(&o, argc, argv, &why) != 0) {
		status = 2;
	} else if (o.login_process) {
		os_process_take_name("mcpsplice");
		status = signin_process(argv[0]);
	} else if (o.peer_process) {
		os_process_take_name("mcpsplice");
		status = proxy_child_process();
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
			why = xstrdup("cannot write to stdout");
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
