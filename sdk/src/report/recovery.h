/*
 * recovery.h - dead blackboxes become sealed reports. Private to report/.
 */
#ifndef MIRE_REPORT_RECOVERY_H
#define MIRE_REPORT_RECOVERY_H

#include "report/report.h"

#define MIRE_TRACE_NOTE_BYTES 256

/* The system's trace of the run that is recovered now. */
struct report_trace {
    const void *bytes; /* NULL: none */
    size_t size;       /* 0: none */
    uint32_t lane;     /* lane of the report that gets the trace; MIRE_LANES: none */
    char note[MIRE_TRACE_NOTE_BYTES];
};

struct recovery {
    struct store *store;
    const struct report_finder *finder;
    char boot_id[40]; /* now */
    size_t sealed;    /* reports */
    size_t taken;     /* runs, and boxes without one */
    struct report_trace trace;
};

/* May another run be recovered? False: the finder stops, and leaves the run for the next finder. */
bool mire__recovery_next(struct recovery *recovery);

/* Close the open event if the program ended itself in a way that the box does not record. */
void mire__recovery_end_box(const struct recovery *recovery, struct blackbox *box);

/*
 * Seal the reports of a box.
 *   end         of the box's process; NULL: unknown
 *   written_ms  as of mire__store_box_fn
 * False: a report could not be sealed for lack of memory or disk.
 */
bool mire__recovery_seal_box(struct recovery *recovery, struct blackbox *box, const struct exit_end *end,
                             uint64_t written_ms);

/*
 * Read the system's trace of a judged run, if any, and find the event of the trace; without one an event is made. The
 * trace is kept until mire__recovery_leave_trace.
 */
void mire__recovery_take_trace(struct recovery *recovery, struct blackbox *box, const char *run,
                               const struct exit_end *end);
void mire__recovery_leave_trace(struct recovery *recovery);

/* Add the reports that the process could not store to the finder's sum. */
void mire__recovery_see_unkept(const struct recovery *recovery, const struct blackbox *box);

/* The box is deleted: move its waiting counts into the ledger. */
void mire__recovery_take_counts(const struct recovery *recovery, const struct blackbox *box);

/* All steps for a blackbox without evidence; a mire__store_box_fn, with the recovery as context. */
bool mire__recovery_take_box(void *context, void *memory, size_t size, uint64_t written_ms);

#endif
