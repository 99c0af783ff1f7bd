/*
 * A file is one line of JSON. It is written in place, because a new file moved
 * over it would not be the locked one: what was half written when its process
 * was killed is not read.
 */
#include "config.h"

#include "proxy/cache/process_note.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "base/bounds.h"
#include "base/codec.h"
#include "core/wire/json.h"
#include "io/private_file.h"
#include "os/place.h"
#include "os/process.h"
#include "proxy/cache/own_file.h"

#define FOLDER ".local/state/mcpsplice/processes"

struct trouble {
	int64_t at; /* seconds since 1970 */
	char *text;
};

struct process_note {
	char *home;
	struct own_file file;
	struct buf fixed;  /* the members that do not change */
	struct buf client; /* the same, of the host */
	uint64_t session;
	int64_t began; /* when it was first written */
	struct trouble trouble[BOUND_IN_A_ROW];
	size_t n_trouble;
	bool unwritten; /* a warning has not been written yet */
};

/* The note may come to a terminal as it is. */
static void
add_text(struct buf *out, const char *name, struct span text)
{
	struct buf shown = { 0 };

	codec_visible(&shown, text, BOUND_ID_BYTES);
	buf_addf(out, "\"%s\":", name);
	codec_json_string(out, buf_span(&shown));
	buf_free(&shown);
}

static struct own_file
folder(const char *home)
{
	return (struct own_file){ .home = home,
		.folder = FOLDER,
		.lack = "\"mcpsplice status\" does not know this process",
		.max_bytes = BOUND_TEXT_BYTES,
		.old_s = BOUND_WEEK_MS / 1000,
		.fd = -1 };
}

struct process_note *
process_note_new(const char *home, const char *server, const char *parent,
    long parent_id)
{
	struct process_note *n;

	if (!os_path_absolute(home))
		return NULL;
	n = xcalloc(1, sizeof *n);
	n->home = xstrdup(home);
	n->file = folder(n->home);
	buf_addf(&n->fixed, "{\"pid\":%ld,", os_process_id());
	add_text(&n->fixed, "server", span_of(server));
	buf_addf(&n->fixed, ",\"parent_pid\":%ld,\"started\":%" PRId64 ",",
	    parent_id, (int64_t)time(NULL));
	add_text(&n->fixed, "parent", span_of(parent != NULL ? parent : ""));
	return n;
}

void
process_note_trouble(struct process_note *n, const char *text)
{
	const size_t max = sizeof n->trouble / sizeof *n->trouble;
	size_t i;

	if (n == NULL)
		return;
	if (n->n_trouble > 0 &&
	    strcmp(n->trouble[n->n_trouble - 1].text, text) == 0) {
		free(n->trouble[--n->n_trouble].text);
	} else if (n->n_trouble == max) {
		free(n->trouble[0].text);
		for (i = 1; i < max; i++)
			n->trouble[i - 1] = n->trouble[i];
		n->n_trouble--;
	}
	n->trouble[n->n_trouble++] = (struct trouble){ (int64_t)time(NULL),
		xstrdup(text) };
	n->unwritten = true;
}

/* Keeps the name and the version of the host. */
static void
take_client(struct process_note *n, struct span client)
{
	struct buf text = { 0 };

	if (client.n == 0)
		return;
	(void)json_string(json_get(client, "name"), &text);
	buf_addc(&text, ' ');
	(void)json_string(json_get(client, "version"), &text);
	buf_reset(&n->client);
	buf_addc(&n->client, ',');
	add_text(&n->client, "client", span_trim(buf_span(&text), " "));
	buf_free(&text);
}

static void
put(struct process_note *n)
{
	struct buf out = { 0 };
	size_t i;

	buf_addspan(&out, buf_span(&n->fixed));
	buf_addspan(&out, buf_span(&n->client));
	buf_addf(&out,
	    ",\"session\":%" PRIu64 ",\"session_began\":%" PRId64
	    ",\"trouble\":[",
	    n->session, n->began);
	for (i = 0; i < n->n_trouble; i++) {
		buf_addf(&out, "%s{\"at\":%" PRId64 ",", i > 0 ? "," : "",
		    n->trouble[i].at);
		add_text(&out, "text", span_of(n->trouble[i].text));
		buf_addc(&out, '}');
	}
	buf_adds(&out, "]}\n");
	if (own_file_hold(&n->file) == 0 &&
	    file_put(n->file.fd, buf_span(&out)) == 0)
		n->unwritten = false;
	buf_free(&out);
}

void
process_note_write(struct process_note *n, struct span client, uint64_t session)
{
	if (n == NULL)
		return;
	take_client(n, client);
	if (session != n->session)
		n->began = (int64_t)time(NULL);
	n->session = session;
	put(n);
}

void
process_note_free(struct process_note *n)
{
	if (n == NULL)
		return;
	if (n->unwritten)
		put(n);
	own_file_end(&n->file, n->n_trouble == 0);
	while (n->n_trouble > 0)
		free(n->trouble[--n->n_trouble].text);
	buf_free(&n->fixed);
	buf_free(&n->client);
	free(n->home);
	free(n);
}

struct reading {
	process_note_cb *each;
	void *arg;
};

static bool
read_one(int dir, const char *name, int fd, void *arg)
{
	struct reading *r = arg;
	struct span line, rest;
	struct buf text = { 0 };

	(void)dir;
	(void)name;
	if (file_get(fd, BOUND_TEXT_BYTES, &text) == 0) {
		rest = buf_span(&text);
		if (file_line(&rest, &line) &&
		    json_check(line, 4, NULL, NULL, NULL) == JSON_OK)
			r->each(line,
			    os_file_lock(fd) < 0 && errno == EWOULDBLOCK,
			    r->arg);
	}
	buf_free(&text);
	return true;
}

void
process_notes_each(const char *home, process_note_cb *each, void *arg)
{
	struct own_file file = folder(home);

	own_files_each(&file, read_one, &(struct reading){ each, arg });
}
