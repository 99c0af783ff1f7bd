/*
 * Lists of things that come and go in any order. The head has the members first
 * and last, each thing has next and prev, and one of either kind is NULL where
 * the list ends; zeros are an empty list. The list owns none of the things.
 */
#ifndef MCPSPLICE_BASE_QUEUE_H
#define MCPSPLICE_BASE_QUEUE_H

#include <stddef.h>

/* Adds x as the last one. */
#define QUEUE_ADD(q, x)                                                        \
	do {                                                                   \
		(x)->next = NULL;                                              \
		(x)->prev = (q)->last;                                         \
		*((q)->last == NULL ? &(q)->first : &(q)->last->next) = (x);   \
		(q)->last = (x);                                               \
	} while (0)

/* Adds x as the first one. */
#define QUEUE_ADD_FIRST(q, x)                                                  \
	do {                                                                   \
		(x)->prev = NULL;                                              \
		(x)->next = (q)->first;                                        \
		*((q)->first == NULL ? &(q)->last : &(q)->first->prev) = (x);  \
		(q)->first = (x);                                              \
	} while (0)

/* Takes x out, which has to be in the list. */
#define QUEUE_REMOVE(q, x)                                                     \
	do {                                                                   \
		*((x)->prev == NULL ? &(q)->first :                            \
				      &(x)->prev->next) = (x)->next;           \
		*((x)->next == NULL ? &(q)->last :                             \
				      &(x)->next->prev) = (x)->prev;           \
	} while (0)

#endif
