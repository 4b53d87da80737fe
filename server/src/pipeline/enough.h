/*
 * enough.h - of an issue, a version and a day so many reports are kept whole, and the others are counted.
 *
 * A report that is counted only has its event and its share of every counter, as every other. Its stacks are not
 * stored, and its body is cut down to a report with the same share and without stacks, from which it can be taken out
 * again (forget/). A worker remembers how many there are, and looks again when an eighth of the rest is used up: several
 * workers may keep some more than the limit, never fewer.
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
        int64_t reports; /* and since */
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

/* What a counted report is stored as. `document_out`: of memory its amounts, of other kinds no bytes. In the item's
 * arena. 0 or a fault. */
int enough_cut(struct pg_bytes *body_out, struct pg_bytes *document_out, const struct item *item);

#endif
