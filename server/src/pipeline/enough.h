/*
 * enough.h - keeps so many reports of an issue, a version and a day whole, and counts the others.
 *
 * A report that is counted only has its event and its share of every counter. Its stacks are not stored. Its body is cut
 * down to a report with the same share and without stacks, by which forget/ takes the share out again. A worker remembers
 * the number of reports, and looks again when an eighth of the rest is used up: several workers may keep some more than
 * the limit, never fewer.
 */
#ifndef MIRE_PIPELINE_ENOUGH_H
#define MIRE_PIPELINE_ENOUGH_H

#include "pipeline/stages.h"

#define MIRE_ENOUGH_ROOM 1024 /* a power of 2 */

struct enough {
    int64_t limit; /* reports kept whole where the app sets no number; 0: all */
    bool is_open;  /* a batch has been added that is not committed */
    struct enough_entry {
        int32_t app_id, day; /* app_id 0: the entry is free */
        int64_t issue_id, version_id;
        int64_t seen;    /* reports at the last look */
        int64_t reports; /* the same, and those that the worker added since */
    } entries[MIRE_ENOUGH_ROOM];
};

/*
 * Set is_counted of items that are beyond enough. All are of one app, have an issue, and will be stored; call
 * enough_done when that is committed. 0 or a fault.
 */
int enough_find(struct enough *enough, struct item *const *items, size_t count);

static inline void enough_done(struct enough *enough)
{
    enough->is_open = false;
}

/* The body and the stacks of a counted report, in the item's arena. `document_out`: of a memory report its amounts, of
 * other kinds no bytes. 0 or a fault. */
int enough_cut(struct pg_bytes *body_out, struct pg_bytes *document_out, const struct item *item);

#endif
