/*
 * merges.h - merges new issues into older ones that are alike, in apps whose admins set from which similarity on.
 */
#ifndef MIRE_DAEMON_MERGES_H
#define MIRE_DAEMON_MERGES_H

#include <stdint.h>

struct log;
struct nearby;
struct pg;

/*
 * Look at the new issues of every app that merges by itself: those opened since the round before the last, the first
 * time the newest ones. An issue is merged into the open issue most like it that was opened before it, unless one of the
 * two was merged, split or taken out before. The activity and the audit log have it, and it is undone like a merge by a
 * person. 0 or a fault, which is logged. Thread: upkeep's.
 */
struct merges {
    int64_t last, before; /* numbers of the newest issue of the last two rounds; 0: none yet */
};
int merges_step(struct merges *merges, struct pg *pg, struct nearby *nearby, const struct log *log, int64_t now_us);

#endif
