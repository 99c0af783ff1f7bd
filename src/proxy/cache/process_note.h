/*
 * Process notes: what each process that a host started tells about itself, for
 * "mcpsplice status": the server, the host, its sessions, and its last warnings,
 * which most hosts show to nobody. Each process has a file of its own in
 * HOME/.local/state/mcpsplice/processes and locks it for as long as it lives. A
 * file with warnings stays when its process has ended, for a week at most. A
 * failure is one debug line and has no other effect.
 */
#ifndef MCPSPLICE_PROXY_CACHE_PROCESS_NOTE_H
#define MCPSPLICE_PROXY_CACHE_PROCESS_NOTE_H

#include "base/mem.h"

struct process_note;

/* Makes a note, which the caller owns, without touching the disk. home is as in
 * stale_sessions_new; server is the URL, without secrets; parent is the name of
 * the program that started this one, NULL: it is not known. Returns NULL, which
 * all functions below take, if nothing is kept. */
struct process_note *process_note_new(const char *home, const char *server,
    const char *parent, long parent_id);
/* Keeps a warning or an error, once if it comes twice in a row; the oldest of
 * many goes. */
void process_note_trouble(struct process_note *n, const char *text);
/* Writes the file. client: clientInfo of the host, JSON; session: the number of
 * the session, 0: there is none. */
void process_note_write(struct process_note *n, struct span client,
    uint64_t session);
/* Writes what has not been written yet, if it is a warning. */
void process_note_free(struct process_note *n);

/* Calls each with what a process wrote last, as a JSON object: pid, server,
 * client (name and version), parent, parent_pid, started, session, session_began
 * (seconds since 1970), and trouble, an array of objects with at and text.
 * lives: the process has not ended. */
typedef void process_note_cb(struct span note, bool lives, void *arg);
void process_notes_each(const char *home, process_note_cb *each, void *arg);

#endif
