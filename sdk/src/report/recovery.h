/*
 * recovery.h - dead blackboxes become sealed reports. Private to report/.
 */
#ifndef MIRE_REPORT_RECOVERY_H
#define MIRE_REPORT_RECOVERY_H

#include "report/report.h"

struct recovery {
    struct store *store;
    const struct report_finder *finder;
    char boot_id[40]; /* now */
    size_t sealed;    /* reports */
    size_t taken;     /* runs, and boxes without one */
};

/* May another run be taken? False: the finder leaves, and whoever comes next finds it. */
bool mire__recovery_next(struct recovery *recovery);

/* Did the program end itself, by a way that left no word of it in the box? Then a hang that is open has ended. */
void mire__recovery_end_box(const struct recovery *recovery, struct blackbox *box);

/*
 * Seal what the box holds.
 *   end         how its process ended; NULL: nobody knows
 *   written_ms  as of mire__store_box_fn
 * False: something is not sealed for want of memory or disk, but wanted.
 */
bool mire__recovery_seal_box(struct recovery *recovery, struct blackbox *box, const struct exit_end *end,
                             uint64_t written_ms);

/* Tell the finder what the process could keep nowhere. */
void mire__recovery_see_unkept(const struct recovery *recovery, const struct blackbox *box);

/* The box goes: the counts that waited in it go into the ledger. */
void mire__recovery_take_counts(const struct recovery *recovery, const struct blackbox *box);

/* All of it, for a blackbox of which nothing else is known; a mire__store_box_fn, context being the recovery. */
bool mire__recovery_take_box(void *context, void *memory, size_t size, uint64_t written_ms);

#endif
