/*
 * known.h - keeps the number of versions, channels, device classes and issues of an app bounded, whatever its reports say.
 *
 * An app takes in so many new ones a day. A report with one beyond that counts under "other", and so does every later
 * report with it until a day has room; pages tell how many were put aside. Values that are in no key of a table need no
 * bound here: cells keep 256 of a facet (rollup/cell.h).
 */
#ifndef MIRE_PIPELINE_KNOWN_H
#define MIRE_PIPELINE_KNOWN_H

#include "pipeline/stages.h"
#include "rows/known.h"

#include <string.h>

#define MIRE_KNOWN_ROOM 4096 /* a power of 2 */

/* New ones that an app takes in a day; 0: no limit. */
struct known_limits {
    int64_t values; /* versions; as many device classes; a tenth of that channels */
    int64_t issues;
};

/* The known values of one worker. */
struct known {
    struct known_limits limits;
    bool is_open;                     /* values have been taken in that are not committed */
    uint64_t values[MIRE_KNOWN_ROOM]; /* hashes of known ones */
};

/* The stage: puts "other" in place of the version, channel and class of a report that are beyond the limit. An outcome or
 * a fault. */
int known_take(struct item *item);

/*
 * Before issues are opened: set item->aside of the items whose issue is beyond the limit. Such an item belongs to the
 * "other" issue of its kind. 0 or a fault.
 *
 *   firsts  an item of each new issue
 */
int known_issues(struct item *const *firsts, size_t count);

/* Change the row of an item's issue into the row of the "other" issue of its kind. */
void known_other_issue(struct issue_row *issue);

/* Count the items of a batch that were put aside. The last call of a batch: all workers of an app change the same rows. 0
 * or a fault. */
int known_count(const struct item *items, size_t count);

/* A batch begins. If the batch before was not committed, nothing is known. */
static inline void known_begin(struct known *known)
{
    if (known->is_open)
        memset(known->values, 0, sizeof known->values);
    known->is_open = false;
}

/* The batch is committed. */
static inline void known_done(struct known *known)
{
    known->is_open = false;
}

#endif
