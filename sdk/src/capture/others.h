/*
 * others.h - other threads that matter in a hang: the owner of the lock that the lane's thread waits for, the owner of
 * the lock that this owner waits for, and the threads that use the processors.
 *
 * Each is sampled when it is first seen, and again whenever the duration of the hang has doubled, while the lane has
 * room. Rows in the lane are complete at every instant: they are counted last. Thread: check thread.
 */
#ifndef MIRE_CAPTURE_OTHERS_H
#define MIRE_CAPTURE_OTHERS_H

#include "capture/sampler.h"

/* The state of one lane while a hang is open. Zeroed memory, about 8 KB. */
struct other_threads {
    struct sampler *sampler; /* borrowed, as the box */
    struct blackbox *box;
    uint32_t lane; /* index in the box */
    uint32_t tid;  /* the lane's own thread */
    uint32_t count;
    uint32_t unused;
    uint64_t begin_ns;
    uint64_t due_ns; /* time of the next look at all threads */
    struct thread_use_before {
        uint32_t tid; /* 0: empty */
        uint32_t unused;
        uint64_t cpu_ns;
    } before[MIRE_THREADS_MAX];
};

/*
 * A hang begins: empty the lane's list, and read the CPU time of each thread.
 *   sampler, box  borrowed until the hang is closed
 *   lane          index in the box
 *   tid           the lane's own thread
 *   due_ns        CLOCK_MONOTONIC, when to look for busy threads: the hang's threshold
 * Cost: about 0.5 us per thread.
 */
void mire__others_begin(struct other_threads *others, struct sampler *sampler, struct blackbox *box, uint32_t lane,
                        uint32_t tid, uint64_t due_ns);

/*
 * After each sample of the lane's own thread: sample the other threads that are due.
 *   event  receives lock_address and lock_owner if the thread waits for a lock
 */
void mire__others_look(struct other_threads *others, struct event *event);

/* The hang has ended: store the CPU time that each listed thread has used since its begin. */
void mire__others_end(struct other_threads *others);

#endif
