/*
 * usage.h - resources of which the process uses too much: CPU for some seconds, CPU on average (power), the disk.
 *
 *     no CPU used ---> no wake-up: the check thread sleeps until a timer on the process's CPU clock fires
 *     some used -----> counters are read, and read again after a part of the window; little used: back to the timer
 *     near a limit --> an event is opened, and the busiest threads are sampled in every round
 *     over a limit --> the event is closed and reported. Then a rest of settings.suppress_ms times 1, 1, 2, 3, 5, ...
 *                      for as long as the limit is exceeded at the end of each rest; windows over the limit are counted
 *
 * While a watched thread hangs, only power is measured: the hang's own event has CPU and disk use. There is one event
 * at a time for the whole process; power waits for the others.
 *
 * Private to capture/. Thread: check thread.
 */
#ifndef MIRE_CAPTURE_USAGE_H
#define MIRE_CAPTURE_USAGE_H

#include "capture/check.h"
#include "capture/process_lane.h"

void mire__usage_start(struct check *check);

/* A new check thread has begun: the timer must signal it from now on. */
void mire__usage_resume(struct check *check);
uint64_t mire__usage_step(struct check *check, struct process_record *of);
void mire__usage_stop(struct check *check);

#endif
