/*
 * busy.h - which threads of the process use the processors, or the disk, and where they stand meanwhile.
 *
 *     round by round: what has each thread used since the last one? -> the busiest are sampled into the record
 *
 * A sample's weight is the CPU time that its thread has used since the last sample of it; for the disk it is time
 * shared out by bytes. So the record's tree is one of what was used, over all threads. A thread is sampled while it
 * does it: if it sleeps at the time, what it used waits for the next round.
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
    uint64_t cpu_ns; /* when looked at last */
    uint64_t bytes;
    uint64_t unsaid; /* CPU time or bytes used since, and not yet the weight of a sample */
};

/* Zeroed memory; some 24 KB. */
struct busy {
    uint32_t count;
    bool of_disk;     /* bytes are looked at, not CPU time */
    uint64_t said_ns; /* when a sample was taken last */
    uint64_t looked_ns;
    struct busy_thread threads[MIRE_THREADS_MAX]; /* a hash table by tid */
};

/*
 * Note what each thread has used so far.
 *   of_disk  bytes are looked at, not CPU time
 * Costs some 0.5 us per thread, 10 us for the disk.
 */
void mire__busy_begin(struct busy *busy, const struct check *check, bool of_disk);

/*
 * Take one round: sample the threads that used most since the last one, but none that used less than `percent` of the
 * time that passed (for the disk: none that moved no bytes).
 */
void mire__busy_sample(struct busy *busy, struct check *check, struct record *record, uint32_t percent);

/* List the threads that used most since mire__busy_begin among the record's others. Before the record is closed. */
void mire__busy_end(struct busy *busy, struct check *check, struct record *record);

#endif
