/*
 * context.h - the calls of mire/context.h: each stores into this process's copy, and into the blackbox's while there is
 * one.
 */
#ifndef MIRE_CORE_CONTEXT_H
#define MIRE_CORE_CONTEXT_H

#include "mire/context.h"
#include "ring/context.h"

/* From now on calls store into `box` as well, which gets what was set before. Thread: the owner of the core's state. */
void mire__context_open(struct context *box);

/* Not any more: afterwards no thread stores there. A call of open need not have been made. Thread: as open. */
void mire__context_close(void);

/* Thread: any.  Signal handler: yes. */
void mire__context_as_set_state(enum mire_app_state state);

#endif
