/*
 * merges.h - merges new issues into similar older issues, in apps whose admins set the least similarity for a merge.
 */
#ifndef MIRE_DAEMON_MERGES_H
#define MIRE_DAEMON_MERGES_H

#include <stdint.h>

struct log;
struct nearby;
struct pg;

/*
 * Merge the new issues of every app with automatic merges: the issues opened since the round before the last; in the
 * first round the newest issues. A new issue is merged into the most similar of the open issues before it, unless one
 * of the two was merged, split or taken out before. Activity and audit log record the merge, and a person can undo the
 * merge. 0 or a fault, which is logged. Thread: upkeep's.
 */
struct merges {
    int64_t last, before; /* numbers of the newest issue of the last two rounds; 0: none yet */
};
int merges_step(struct merges *merges, struct pg *pg, struct nearby *nearby, const struct log *log, int64_t now_us);

#endif
