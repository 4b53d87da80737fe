/*
 * record.h - the open event of a lane, from its begin to its report. The part of capture/ that notices trouble opens
 * the event, keeps it up to date in the blackbox, and closes it.
 *
 *     open --> sample, keep, sample, keep ... --> close: given to on_event if it counts
 *
 * Private to capture/. Thread: check thread.
 */
#ifndef MIRE_CAPTURE_RECORD_H
#define MIRE_CAPTURE_RECORD_H

#include "capture/check.h"
#include "capture/others.h"
#include "platform/platform.h"

struct record {
    struct event event; /* as stored in the blackbox; state MIRE_EVENT_NONE: not open */
    uint32_t lane;
    uint32_t unused;
    struct thread_counters base; /* of the thread at the begin; zeros: since the thread began */
    uint64_t counted_ns;         /* when the counters were read last */
    struct other_threads others;
};

/*
 * Open the event with images, an empty ring and a new id. The caller sets gate, trigger, launch, foreground, name, tid,
 * thread_name, threshold_ms, begin_ns, late_ns and the facts of the trigger; the function fills in the rest.
 */
void mire__record_open(struct check *check, struct record *record, const struct event *event);

/*
 * Take a sample of the event's thread, or of another thread of the process, into the ring.
 *   tid        0: the event's own thread
 *   weight_ns  the time that the sample represents
 */
void mire__record_sample(struct check *check, struct record *record, uint32_t tid, uint64_t weight_ns);

/*
 * The same in two steps, for a caller that examines the sample first: take it, then put it into the ring or not. The
 * sample is valid until the next call of any function here.
 */
struct sample *mire__record_take(struct check *check, struct record *record, uint32_t tid);
void mire__record_put(struct check *check, struct record *record, uint64_t weight_ns);

/* After a sample of the event's own thread: sample the threads that it waits for, and threads that compute. */
void mire__record_look_around(struct check *check, struct record *record);

/* Store the event as open until now. Reads its counters once a second. */
void mire__record_keep(struct check *check, struct record *record);

/*
 * Close the event, and give it to on_event if it counts.
 *   exited  it ended because watching ended
 */
void mire__record_close(struct check *check, struct record *record, uint64_t end_ns, bool exited);

/* Discard the event. */
void mire__record_forget(struct check *check, struct record *record);

/* Time between two samples of the event now: longer after each thinning of the ring, and beyond the CPU budget. */
uint64_t mire__record_period_ns(const struct check *check, const struct record *record);

#endif
