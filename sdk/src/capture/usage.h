/*
 * usage.h - what the process uses too much of: CPU for a while, CPU on average (power), the disk.
 *
 *     no CPU used -> no wake-up: the check thread sleeps until a timer on the process's CPU clock fires
 *     some used   -> a look at the counters, and another after a part of the window; little used: back to the timer
 *     near a limit-> a record is opened, and the threads that use most are sampled in every round
 *     over it     -> the record is closed and reported; then rest for settings.anneal_ms times 1, 1, 2, 3, 5, ... , as
 *                    long as it is over at the end of each rest. Windows over the limit meanwhile are counted
 *
 * While a watched thread hangs, only power is looked for: the hang's own record says what it computes, reads and
 * writes. There is one record at a time for the whole process; power waits for the others.
 *
 * Private to capture/. Thread: check thread.
 */
#ifndef MIRE_CAPTURE_USAGE_H
#define MIRE_CAPTURE_USAGE_H

#include "capture/check.h"
#include "capture/process.h"

void mire__usage_start(struct check *check);
/* The check thread is another one: the timer signals it from now on. */
void mire__usage_resume(struct check *check);
uint64_t mire__usage_step(struct check *check, struct process_record *of);
void mire__usage_stop(struct check *check);

#endif
