/*
 * Which of the server's lists the client has, and what it is told when they are
 * no longer true. Hosts read a list again at each list_changed, and some then
 * wait for ever. So after a renewal mcpsplice reads the lists that the client
 * has, and tells it only of those that differ.
 *
 * Several hosts stop reading if such a notification comes while they have an
 * open call. So a notification from here waits until none is open, but not for
 * long. Those of the server are passed on as they come.
 */
#include "config.h"

#include "core/session/parts.h"

#include <stdlib.h>

#include "core/era/mirror.h"

void
session_learn_tools(struct session *s, const struct generation *g,
    const struct frame *request, struct frame *m)
{
	tools_learn(s->tools, g->number, request, m);
	if (s->mirrored.wanted)
		frame_unref(mirror_learn(s->mirrored.mirror, m, NULL, NULL));
	if (tools_list(s->tools).n > 0)
		session_save_start(s);
}

void
session_forget_lists(struct session *s)
{
	size_t i;

	for (i = 0; i < LIST_KINDS; i++) {
		pages_free(&s->changes.lists[i].pages);
		s->changes.lists[i] = (struct known_list){ 0 };
	}
	s->changes.tell_at = ALARM_NEVER;
	s->changes.resources = false;
	alarm_set(&s->alarms, ALARM_SAY, ALARM_NEVER);
}

/* The client was told that the lists of this family have changed: what it has of
 * them does not count until it asks again. */
static void
was_told(struct session *s, size_t family)
{
	size_t i;

	for (i = 0; i < LIST_KINDS; i++)
		if (list_kinds[i].family == family)
			s->changes.lists[i].shown = s->changes.lists[i]
							.differs = false;
}

void
session_lists_changed(struct session *s, size_t family)
{
	if (family == 0) {
		tools_changed(s->tools);
		if (s->config.filter.read_only)
			s->changes.tell_at = s->now;
	}
	was_told(s, family);
}

/* --- the lists are read --- */

/* There is something to say, when no call is open. */
static void
say_soon(struct session *s)
{
	if (!alarm_is_set(&s->alarms, ALARM_SAY))
		alarm_set(&s->alarms, ALARM_SAY, s->now + BOUND_SHORT_MS);
}

static const struct list_kind *
kind_of(const struct session *s, const struct known_list *l)
{
	return &list_kinds[l - s->changes.lists];
}

/* Is the client told if this list differs? */
static bool
is_told(const struct session *s, const struct known_list *l)
{
	return l->shown && s->changes.families[kind_of(s, l)->family] &&
	    !is_own_handshake(s);
}

/* Does --read-only believe this list? Then it is read also if the client is not
 * told. */
static bool
guards(const struct session *s, const struct known_list *l)
{
	return s->config.filter.read_only && l == s->changes.lists;
}

/* The server has a list of this sum now. */
static void
note_sum(struct session *s, struct known_list *l, uint64_t sum)
{
	l->differs = is_told(s, l) && l->sum != sum;
	if (l->differs)
		say_soon(s);
}

/* Asks for the list, or for the next one of its pages. */
static void
ask(struct session *s, struct known_list *l)
{
	struct frame *body = session_own_page(s, kind_of(s, l)->method,
	    l->pages == NULL ? no_span : buf_span(&l->pages->cursor));
	struct attempt *a = calls_attempt(&s->calls, ATTEMPT_LIST, NULL, body,
	    s->generation);

	l->reader = a->origin;
	session_start(s, a);
	frame_unref(body);
}

/* The list that this attempt asks for, or NULL if it is not wanted any more. */
static struct known_list *
asked(struct session *s, const struct attempt *a)
{
	struct known_list *l = &s->changes
				    .lists[list_kind_of(a->body) - list_kinds];

	return a->generation == s->generation && l->reader == a->origin ? l :
									  NULL;
}

void
session_list_message(struct session *s, struct attempt *a,
    const struct facts *f, struct frame *m)
{
	struct known_list *l = asked(s, a);
	struct frame *list, *shown;

	if (l == NULL || !verdict_2xx(f))
		return;
	session_linger(s, a);
	l->reader = 0;
	if (m->kind != FRAME_RESULT)
		return;
	list = pages_take(&l->pages, kind_of(s, l), s->config.max_result, m);
	if (list == NULL) {
		ask(s, l);
		return;
	}
	shown = tool_filter_list(&s->config.filter, list);
	note_sum(s, l, list_sum(kind_of(s, l), shown->result));
	if (l == s->changes.lists)
		session_learn_tools(s, a->generation, NULL, list);
	/* another version of the server may change with what it only read */
	if (guards(s, l))
		tools_learn(s->shown, a->generation->number, NULL, shown);
	frame_unref(shown);
	frame_unref(list);
}

/* Without an answer nobody knows. It is asked for again, but not for ever. */
void
session_list_done(struct session *s, struct attempt *a)
{
	a->live = false;
	if (asked(s, a) == NULL || a->tries == BOUND_TRIES ||
	    !phase_permits(s, PHASE_WORKS))
		calls_attempt_drop(&s->calls, a);
	else
		session_again(s, a, backoff_retry(a->tries, s->random));
}

/* Reads a list of the new session that the client has of the one before. A
 * server that does not declare it has none. */
static void
read_again(struct session *s, struct known_list *l)
{
	size_t family = kind_of(s, l)->family;
	struct span caps = json_get(s->handshake.answer->result,
	    "capabilities");

	pages_free(&l->pages);
	l->reader = 0;
	l->differs = false;
	if (!guards(s, l) && !is_told(s, l))
		return;
	if (caps.p == NULL ||
	    json_get(caps, era_families[family].name).p != NULL)
		ask(s, l);
	else
		note_sum(s, l, 0);
}

void
session_tell_soon(struct session *s)
{
	s->changes.resources = s->settings.n > 0;
	s->changes.tell_at = s->now;
}

/* It is time to find out what has changed. */
static void
read_lists(struct session *s)
{
	size_t i;

	s->changes.quiet_until = s->now + BOUND_LONG_MS;
	s->changes.tell_at = ALARM_NEVER;
	alarm_set(&s->alarms, ALARM_TELL, ALARM_NEVER);
	if (has_eof(s))
		return;
	for (i = 0; i < LIST_KINDS; i++)
		read_again(s, &s->changes.lists[i]);
	if (s->changes.resources && !is_own_handshake(s))
		say_soon(s);
}

/* --- the client is told --- */

/* Tells the client that each subscribed resource may have changed, because
 * changes while there was no session were missed. */
static void
tell_resources(struct session *s)
{
	struct subscribed *sub;
	struct buf params;
	struct span uri;

	for (sub = s->settings.list; sub != NULL; sub = sub->next) {
		uri = json_get(sub->request->params, "uri");
		buf_init(&params, 0);
		buf_adds(&params, "{\"uri\":");
		buf_addspan(&params, uri);
		buf_addc(&params, '}');
		session_tell(s, "notifications/resources/updated",
		    buf_span(&params));
		buf_free(&params);
	}
}

static void
say_changes(struct session *s)
{
	size_t i, family;

	if (!alarm_is_set(&s->alarms, ALARM_SAY) ||
	    (s->calls.n > 0 && !alarm_is_due(&s->alarms, ALARM_SAY, s->now)))
		return;
	alarm_set(&s->alarms, ALARM_SAY, ALARM_NEVER);
	s->changes.quiet_until = s->now + BOUND_LONG_MS;
	for (i = 0; i < LIST_KINDS; i++) {
		family = list_kinds[i].family;
		if (s->changes.lists[i].differs) {
			session_tell(s, era_families[family].changed, no_span);
			was_told(s, family);
		}
	}
	if (s->changes.resources)
		tell_resources(s);
	s->changes.resources = false;
}

void
session_tell_changes(struct session *s)
{
	if (!phase_permits(s, PHASE_WORKS))
		return;
	if (s->changes.tell_at < s->changes.quiet_until)
		s->changes.tell_at = s->changes.quiet_until;
	alarm_set(&s->alarms, ALARM_TELL, s->changes.tell_at);
	if (s->now >= s->changes.tell_at)
		read_lists(s);
	say_changes(s);
}
