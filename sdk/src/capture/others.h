/*
 * others.h - the other threads that matter in a hang: who holds the lock that the lane's thread waits for, who holds
 * the one that *that* thread waits for, and who uses the processors meanwhile.
 *
 * Each is sampled when it is first seen, and again whenever the hang has become twice as long, as far as the lane has
 * room. What is in the lane is whole at every instant: it is counted when it is complete. Thread: check thread.
 */
#ifndef MIRE_CAPTURE_OTHERS_H
#define MIRE_CAPTURE_OTHERS_H

#include "capture/sampler.h"

/* What one lane remembers about the process's threads while a hang is open. Zeroed memory; some 8 KB. */
struct other_threads {
    struct sampler *sampler; /* borrowed, as the box */
    struct blackbox *box;
    uint32_t lane; /* index in the box */
    uint32_t tid;  /* the lane's own thread */
    uint32_t count;
    uint32_t unused;
    uint64_t begin_ns;
    uint64_t due_ns; /* when to look at all of them the next time */
    struct thread_use_before {
        uint32_t tid; /* 0: empty */
        uint32_t unused;
        uint64_t cpu_ns;
    } before[MIRE_THREADS_MAX];
};

/*
 * A hang begins: empty the lane's list and note what each thread has computed so far.
 *   sampler, box  borrowed until the hang is closed
 *   lane          index in the box
 *   tid           the lane's own thread
 *   due_ns        on CLOCK_MONOTONIC: when busy threads are looked for; the hang's threshold is a good moment
 * Costs some 0.5 us per thread.
 */
void mire__others_begin(struct other_threads *others, struct sampler *sampler, struct blackbox *box, uint32_t lane,
                        uint32_t tid, uint64_t due_ns);

/*
 * Right after the sampler has taken a sample of the lane's own thread: take the others' where they are due.
 *   hang  its lock_address and lock_owner are set where the thread waits for a lock
 */
void mire__others_look(struct other_threads *others, struct hang *hang);

/* The hang has ended: what each of the listed threads has computed since it began. */
void mire__others_end(struct other_threads *others);

#endif
