/*
 * show.h - the pieces of `mire show` that are no stacks of the watched thread. Inside cli/ only.
 */
#ifndef MIRE_CLI_SHOW_H
#define MIRE_CLI_SHOW_H

#include "feature/feature.h"

/* The event: kind, place, duration, and the clocks' and the process's figures. */
void show_event(const struct report *report, const struct feature *feature, const struct resolved *doc);

/* All other threads: role, CPU time, stack. */
void show_threads(const struct resolved *doc);

/* Turns of watched loops since the last report, and the cost of capturing. */
void show_cost(const struct resolved *doc);

/* A session record: how long it lasted, and how its runs ended. */
void show_session(const struct report *report);

#endif
