/*
 * record.h - a lane's record, from its begin to its report: whoever notices something opens one, keeps it up to date
 * where it survives the process, and closes it.
 *
 *     open --> sample, keep, sample, keep ... --> close: handed to on_hang if it counts
 *
 * Private to capture/. Thread: check thread.
 */
#ifndef MIRE_CAPTURE_RECORD_H
#define MIRE_CAPTURE_RECORD_H

#include "capture/check.h"
#include "capture/others.h"
#include "platform/platform.h"

struct record {
    struct hang hang; /* what is stored; state MIRE_HANG_NONE: not open */
    uint32_t lane;
    uint32_t unused;
    struct thread_counters base; /* of the thread when it began; zeros: since the thread began */
    uint64_t counted_ns;         /* when its counters were read last */
    struct other_threads others;
};

/*
 * Open the record: with images, an empty ring and a new id. `hang` tells gate, trigger, launch, foreground, name, tid,
 * thread_name, threshold_ms, begin_ns, late_ns and the facts of its kind; the rest is filled in.
 */
void mire__record_open(struct check *check, struct record *record, const struct hang *hang);

/*
 * Take a sample of the record's thread, or of another one of the process into the same ring.
 *   tid        0 for the record's own
 *   weight_ns  how much of the record it stands for
 */
void mire__record_sample(struct check *check, struct record *record, uint32_t tid, uint64_t weight_ns);

/*
 * The same in two steps, for who wants to look at the sample before it counts: take it, and put it into the ring, or
 * not. Valid until the next call of any function here.
 */
struct sample *mire__record_take(struct check *check, struct record *record, uint32_t tid);
void mire__record_put(struct check *check, struct record *record, uint64_t weight_ns);

/* After a sample of the record's own thread: take along those that it waits for, or that compute. */
void mire__record_look_around(struct check *check, struct record *record);

/* Store the record: it goes on as of now. Its counters are read again once a second. */
void mire__record_keep(struct check *check, struct record *record);

/*
 * It ended. Handed to on_hang if it counts; afterwards nothing is open.
 *   exited  it ended because watching did
 */
void mire__record_close(struct check *check, struct record *record, uint64_t end_ns, bool exited);

/* It was nothing. */
void mire__record_forget(struct check *check, struct record *record);

/* How long between two samples of this record, now that its ring has thinned so often and the budget is what it is. */
uint64_t mire__record_period_ns(const struct check *check, const struct record *record);

#endif
