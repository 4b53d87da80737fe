/*
 * busy.h - the threads that use the processors or the disk, and their stacks.
 *
 *     each round: read the use of each thread since the last round -> sample the busiest into the event
 *
 * The weight of a sample is the CPU time that its thread has used since its last sample; for the disk, time in
 * proportion to bytes. So the event's tree shows the use over all threads. A thread that sleeps in a round is not
 * sampled; its use counts in the next round.
 *
 * Private to capture/. Thread: check thread.
 */
#ifndef MIRE_CAPTURE_BUSY_H
#define MIRE_CAPTURE_BUSY_H

#include "capture/record.h"

struct busy_thread {
    uint32_t tid; /* 0: empty */
    bool ours;    /* one of the SDK's own */
    uint64_t begin_cpu_ns;
    uint64_t cpu_ns; /* at the last look */
    uint64_t bytes;
    uint64_t unsaid; /* CPU time or bytes that are not yet in the weight of a sample */
};

/* Zeroed memory; some 24 KB. */
struct busy {
    uint32_t count;
    bool of_disk;     /* bytes count, not CPU time */
    uint64_t said_ns; /* time of the last sample */
    uint64_t looked_ns;
    struct busy_thread threads[MIRE_THREADS_MAX]; /* a hash table by tid */
};

/*
 * Read the use of each thread so far.
 *   of_disk  bytes count, not CPU time
 * Cost: about 0.5 us per thread, 10 us for the disk.
 */
void mire__busy_begin(struct busy *busy, const struct check *check, bool of_disk);

/*
 * One round: sample the busiest threads since the last round, without those that used less than `percent` of the time
 * (for the disk: that moved no bytes).
 */
void mire__busy_sample(struct busy *busy, struct check *check, struct record *record, uint32_t percent);

/* Add the busiest threads since mire__busy_begin to the event's other threads. Before the event is closed. */
void mire__busy_end(struct busy *busy, struct check *check, struct record *record);

#endif
