/*
 * start.h - the functions outside main. Inside feature/ only.
 *
 *     vim.basic+0x47e30              runtime: what calls the C library's start function is _start
 *     __libc_start_main_impl
 *     __libc_start_call_main
 *     vim.basic+0x1d90c0             main, for it calls nothing else
 */
#ifndef MIRE_FEATURE_START_H
#define MIRE_FEATURE_START_H

#include "feature/classes.h"
#include "model/report.h"

/*
 * Set class and role of all locations outside the start function, and name main where it has no name.
 *
 *   locations  the document's, which may be changed
 */
void start_find(struct classes *classes, struct resolved_location *locations, const struct resolved *doc,
                const struct report *report);

#endif
