/* {"mcpServers": {"NAME": {"command": "PROGRAM", "args": ["ARGUMENT", ...]}}},
 * as most hosts have it. */
#include "config.h"

#include "demo_host.h"

#include <stdlib.h>

#include <json-c/json.h>

#include "base/mem.h"

static char *
copy_of(struct json_object *o)
{
	return xstrdup(json_object_get_string(o));
}

static char **
command_of(struct json_object *server)
{
	struct json_object *program = NULL, *args = NULL;
	char **command;
	size_t i, n;

	json_object_object_get_ex(server, "command", &program);
	json_object_object_get_ex(server, "args", &args);
	if (!json_object_is_type(program, json_type_string) ||
	    !json_object_is_type(args, json_type_array))
		return NULL;
	n = json_object_array_length(args);
	command = xcalloc(n + 2, sizeof *command);
	command[0] = copy_of(program);
	for (i = 0; i < n; i++)
		command[i + 1] = copy_of(json_object_array_get_idx(args, i));
	return command;
}

char **
demo_host_command(const char *file)
{
	struct json_object *o = json_object_from_file(file), *servers = NULL;
	struct json_object_iterator first;
	char **command = NULL;

	json_object_object_get_ex(o, "mcpServers", &servers);
	if (json_object_is_type(servers, json_type_object) &&
	    json_object_object_length(servers) == 1) {
		first = json_object_iter_begin(servers);
		command = command_of(json_object_iter_peek_value(&first));
	}
	json_object_put(o);
	return command;
}

void
demo_host_free(char **command)
{
	char **word;

	for (word = command; *word != NULL; word++)
		free(*word);
	free(command);
}
