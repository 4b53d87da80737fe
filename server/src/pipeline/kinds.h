/*
 * kinds.h - one row for each kind of report: its part of the stages. A new kind is a row here and one in decode/mire.c.
 *
 *     kind       feature, and so an issue      rows
 *     event      by its samples                event, stacks, counters of the hour
 *     memory     by its categories, compared   the same, and sums of the memory of processes
 *     baseline   none                          baseline, population of healthy processes
 *     session    none                          session, counters of the day
 */
#ifndef MIRE_PIPELINE_KINDS_H
#define MIRE_PIPELINE_KINDS_H

#include "pipeline/stages.h"
#include "rows/derive.h"

struct kind {
    int (*feature)(struct item *item); /* NULL: it has no stacks to name, and belongs to no issue */
    enum rows_table rows;              /* store.c makes them */
    bool has_memory;                   /* the memory of its process is summed by issue */
};

/* The class of the item's device, no longer than an index takes. */
const char *kinds_device_class(const struct item *item);

/* Its operating system, cut in the same way. */
const char *kinds_os(const struct item *item);

/* The row of the item's report. */
const struct kind *kind_of(const struct item *item);

#endif
