/* "mcpsplice report": what a bug report needs, in one file without secrets. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/bounds.h"
#include "core/wire/redact.h"
#include "io/child.h"
#include "io/private_file.h"
#include "options/from_options.h"
#include "os/place.h"
#include "os/process.h"
#include "tools/command.h"

#define NAME "report.txt"

struct part {
	struct loop *loop;
	struct buf *out;
};

static void
on_done(enum child_end end, int value, void *arg)
{
	struct part *part = arg;
	char *fate = child_fate(end, value);

	buf_addf(part->out, "(%s)\n", fate);
	free(fate);
	loop_stop(part->loop, 0);
}

/* Runs this program again, with the words of this start, but another command or
 * with one more option, and adds what it prints. */
static void
add_part(struct buf *out, struct loop *l, const struct options *o,
    const char *command)
{
	static const struct child_ops ops = { .done = on_done };
	struct part part = { l, out };
	char *program = setup_program(o);
	struct child_config c = { .path = program,
		.output = true,
		.errors = true,
		.all = out,
		.max_output = BOUND_QUEUE_BYTES,
		.timeout_ms = BOUND_MINUTE_MS };
	size_t i, n = 0, at = (size_t)o->command_at;
	bool option = *command == '-';
	const char **argv;

	while (o->argv[n] != NULL)
		n++;
	argv = xcalloc(n + 2, sizeof *argv);
	for (i = 0; i < n; i++)
		argv[i + (option && i > at)] = o->argv[i];
	argv[at + option] = command;
	c.argv = argv;
	buf_addf(out, "\n--- %s ---\n", command);
	child_new(l, &c, &ops, &part);
	loop_run(l);
	free(argv);
	free(program);
}

static int
save(struct span text, char **why)
{
	int dir = file_dir(os_place(OS_PLACE_DATA), OWN_FOLDER, true, why), rc;

	if (dir < 0)
		return -1;
	rc = file_write(dir, NAME, text, false);
	if (rc != 0)
		*why = xasprintf("%s cannot be written: %s",
		    os_place_shown(OWN_FOLDER "/" NAME), strerror(errno));
	file_close(dir);
	return rc;
}

int
command_report(const struct options *o, char **why)
{
	struct loop *l = setup_loop(why);
	char *system = os_process_system(), *text;
	struct buf out = { 0 };
	int status;

	if (l == NULL)
		return 1;
	setup_log(o, LEVEL_WARN);
	if (system != NULL)
		buf_addf(&out, "%s\n", system);
	free(system);
	add_part(&out, l, o, "version");
	if (o->url != NULL) {
		add_part(&out, l, o, "--show-config");
		add_part(&out, l, o, "check");
	}
	add_part(&out, l, o, "status");
	/* a server may have repeated its token, and a command have one */
	text = redact_tokens(buf_take(&out));
	status = save(span_of(text), why) != 0;
	string_wipe(&text);
	if (status == 0) {
		text = os_path_join(os_place(OS_PLACE_DATA),
		    os_place_below(OWN_FOLDER "/" NAME));
		printf("The report is in %s. Read it before you send it.\n",
		    text);
		free(text);
	}
	loop_free(l);
	return status;
}
