/*
 * show.h - the pieces of `mire show` that are no stacks of the watched thread. Inside cli/ only.
 */
#ifndef MIRE_CLI_SHOW_H
#define MIRE_CLI_SHOW_H

#include "feature/feature.h"

/* What happened, where, for how long, and what the clocks and the process's figures add to it. */
void show_event(const struct report *report, const struct feature *feature, const struct resolved *doc);

/* Every other thread: its part in it, its CPU time, its stack. */
void show_threads(const struct resolved *doc);

/* Turns of watched loops since the last report, and what capturing cost. */
void show_cost(const struct resolved *doc);

#endif
