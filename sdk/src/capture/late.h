/*
 * late.h - the part of a late round in which a watched thread was kept from running as well.
 *
 * The lateness of the check thread alone says nothing about another thread, which may have computed meanwhile, or slept
 * in a lock. A hang is shortened only by time for which there is evidence:
 *
 *     stopped   by SIGSTOP, a debugger or a frozen control group: the check thread's sleep ended late, though it did not
 *               wait for a processor. Between two sleeps a page fault or a lock of the kernel may hold it up alone; then
 *               the watched thread must have left its own sleep, as a stop makes it do
 *     starved   the watched thread waited for a processor
 *
 * Where the kernel does not report waits for a processor, each lateness in the sleep counts as a stop.
 *
 * Private to capture/. Thread: check thread.
 */
#ifndef MIRE_CAPTURE_LATE_H
#define MIRE_CAPTURE_LATE_H

#include <stdbool.h>
#include <stdint.h>

struct check;
struct lane_watch;

struct late {
    uint64_t used_ns;        /* time in which the check thread had run or waited for a processor, at the last reading */
    uint64_t drift_ns;       /* at most that much has been added since by rounds in time */
    uint64_t overrun_ns;     /* lateness of the work before the last sleep */
    uint64_t halted_ns;      /* of it: neither running nor waiting for a processor */
    uint64_t asleep_used_ns; /* of the last sleep, if `read` */
    bool read;
};

/* The check thread begins. */
void mire__late_begin(struct check *check);

/* Before a sleep: the work of the round took overrun_ns longer than it may. */
void mire__late_work(struct check *check, uint64_t overrun_ns);

/* After the sleep, which ended late_ns after its deadline. */
void mire__late_woke(struct check *check, uint64_t late_ns);

/*
 * For how long, since the lane's last step and at most since since_ns, was its thread kept from running?
 *   waking  a turn that began at since_ns ended the sleep
 */
uint64_t mire__late_kept_ns(struct check *check, const struct lane_watch *lane, uint64_t since_ns, bool waking);

/*
 * A thread that still waits for a processor at the end of a late round is excused once the wait is over, since only then
 * its length is known.
 *   cpu_ns  the thread's CPU time at the begin of the step
 */
void mire__late_owe(const struct check *check, struct lane_watch *lane, uint64_t cpu_ns);

#endif
