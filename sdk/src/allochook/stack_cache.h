/*
 * stack_cache.h - the stacks that a thread remembers beside its last one (walk.h): put among the others, forgotten.
 * Looking for one is in walk.h. Private to heap/.
 *
 * Thread: the one whose state it is. Signal-safe.
 */
#ifndef MIRE_ALLOCHOOK_STACK_CACHE_H
#define MIRE_ALLOCHOOK_STACK_CACHE_H

#include "allochook/walk.h"

/* Remember the last stack as a tail as well. */
void mire__tails_as_remember(struct walk *walk);

/* So many stacks were walked: use more sets from now on, if the thread may have them; or let tails rest. */
void mire__tails_as_review(struct walk *walk);

/* Forget all, and begin with few sets. */
void mire__tails_as_forget(struct walk *walk);

#endif
