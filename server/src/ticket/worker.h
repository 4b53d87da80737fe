/*
 * worker.h - the thread that makes the tickets which wait (rows/ticket.h), each once.
 *
 *     begin an attempt, commit -> look for the ticket, unless it is the first attempt -> make it -> mark it
 *
 * An attempt holds the ticket for a minute. Within it the tracker is asked, or it is given up: a later attempt never
 * overlaps. It first looks whether the ticket is there. If the server dies or its database goes away at any point, the
 * ticket is thus found or made, and none is made twice. After a failure the wait doubles from a second to an hour; after
 * three days the ticket is given up, logged and shown.
 */
#ifndef MIRE_TICKET_WORKER_H
#define MIRE_TICKET_WORKER_H

#include "alert/hook.h"

#define MIRE_TICKET_THREADS 1 /* takes a connection of the pool */

struct log;
struct pg;
struct ticket_worker;

struct ticket_options {
    struct pg *pg;
    const struct log *log;
    struct hook_options hook; /* `stopping` is set by the worker */
};

/* Start the thread. Options are copied; the objects they point to are borrowed until the stop. 0 or a fault. */
int ticket_worker_start(struct ticket_worker **out, const struct ticket_options *options);

/* Stop the thread and free all. NULL is fine. */
void ticket_worker_stop(struct ticket_worker *worker);

#endif
