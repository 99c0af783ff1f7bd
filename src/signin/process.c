/* The login process of a proxy: its task comes in on stdin, and it tells what
 * becomes of it by JSON lines on stdout. */
#include "config.h"

#include "signin/account.h"

#include <stdio.h>
#include <stdlib.h>

#include "io/private_file.h"
#include "os/terminal.h"

#define TASK_MAX ((size_t)1024 * 1024)

struct process {
	struct account account;
	struct two_logins *login;
	bool keeps_record; /* there is no store: the record goes to the proxy */
	char *why;
};

/* Writes all of b at once, so that no other line can cut it. If nobody reads
 * stdout any more, the login continues for the next copy. */
static void
write_all(struct buf *b)
{
	fwrite(b->p, 1, b->n, stdout);
	fflush(stdout);
	clearerr(stdout);
	buf_wipe(b);
}

static void
login_process_where(const char *url, const char *code, void *arg)
{
	struct buf b = { 0 };

	(void)arg;
	login_process_say_where(&b, url, code);
	write_all(&b);
}

static void
login_process_end(struct process *p, enum login_end end, const char *why,
    int64_t again_ms, const struct record *record)
{
	struct buf b = { 0 };

	login_process_say_end(&b, end, why, again_ms,
	    p->keeps_record ? record : NULL);
	write_all(&b);
}

static void
login_process_done(struct process *p, struct login_done *d)
{
	const char *store_why = p->account.store_why;

	/* A token that could not be stored works until the proxy ends. */
	if (d->end == LOGIN_DONE && d->why == NULL && store_why != NULL)
		d->why = xasprintf("%s; " STORE_LACKS, store_why);
	if (d->end == LOGIN_DONE && d->why != NULL)
		p->keeps_record = true;
	login_process_end(p, d->end, d->why, d->again_ms,
	    d->has_record ? &d->record : NULL);
}

/* Strips the head of a log line: the proxy puts its own name and the level in
 * front. */
static const char *
bare(const char *line)
{
	static const char *const heads[] = {
		"mcpsplice: ", "error: ", "warning: "
	};
	size_t i, n;

	for (i = 0; i < sizeof heads / sizeof heads[0]; i++) {
		n = strlen(heads[i]);
		if (strncmp(line, heads[i], n) == 0)
			line += n;
	}
	return line;
}

static void
login_process_log(enum log_level level, const char *line, void *arg)
{
	struct buf b = { 0 };

	(void)arg;
	login_process_say_log(&b, level, bare(line));
	write_all(&b);
}

/* The proxy is gone. A login that this process began is finished; one that it
 * only waits for belongs to another copy. */
static void
login_process_orphaned(void *arg)
{
	struct process *p = arg;

	if (p->login == NULL || !two_logins_orphan(p->login))
		loop_stop(p->account.loop, 0);
}

static int
login_process_run(struct process *p, const struct options *o,
    const struct login_process_task *task)
{
	struct login_done d;
	struct account *a = &p->account;
	struct login_config *c = &a->login;
	struct loop *l = setup_loop(&p->why);

	if (l == NULL ||
	    account_init(a, l, o, task->request.peer, &p->why) != 0)
		return -1;
	challenge_parse(&a->challenge, span_of(task->request.challenge));
	c->reason = task->request.reason;
	c->interactive = task->request.interactive;
	c->notify = account_has_display(a);
	c->rejected = task->request.rejected;
	p->keeps_record = a->store == NULL;
	c->record = p->keeps_record ? task->request.record : NULL;
	loop_watch_parent(l, login_process_orphaned, p);
	p->login = two_logins_new(l, a->fetcher, a->store, c, a->signs_in,
	    login_process_where, p);
	two_logins_run(p->login, &d);
	if (d.end != LOGIN_STOPPED)
		login_process_done(p, &d);
	login_done_free(&d);
	return 0;
}

int
signin_process(char *program)
{
	struct options o = { 0 };
	struct login_process_task task;
	struct process p = { 0 };
	struct buf text = { .max = TASK_MAX };
	const char *why = "it is too large";
	char **argv;
	bool loaded;
	int status;

	log_sink(login_process_log, NULL);
	status = file_get_all(OS_STDIN, &text);
	if (status == 0)
		status = login_process_task_read(&task, buf_span(&text), &why);
	buf_wipe(&text);
	if (status != 0) {
		p.why = xasprintf("the login process cannot read its task: %s",
		    why);
		login_process_end(&p, LOGIN_FAILED, p.why, -1, NULL);
		free(p.why);
		return 2;
	}
	argv = xcalloc(task.argc + 1, sizeof *argv);
	memcpy(argv, task.argv, task.argc * sizeof *argv);
	if (task.argc > 0)
		argv[0] = program;
	loaded = options_load(&o, (int)task.argc, argv, &p.why) == 0;
	setup_log(&o, LEVEL_INFO); /* the proxy drops records that are too
				      * detailed */
	if (!loaded || login_process_run(&p, &o, &task) != 0)
		login_process_end(&p, LOGIN_FAILED, p.why, -1, NULL);
	two_logins_free(p.login);
	account_free(&p.account);
	loop_free(p.account.loop);
	free(p.why);
	free(argv);
	options_free(&o);
	login_process_task_free(&task);
	return 0;
}
