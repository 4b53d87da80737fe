/*
 * forget.h - takes reports out again: their rows, their bytes, and their share of every counter (rows/forget.h). For
 * people who ask for it, and for reports that were made up.
 *
 *     claim some -> decode each -> delete the rows derived of them -> counters -> delete the reports -> COMMIT
 *
 * A report is decoded as when it came, counted with the weight, version and issue that are stored, and subtracted from
 * the sums that it was added to. A batch is one transaction: a server that is killed has taken out whole batches.
 *
 * Thread: the worker's that works on stored reports.
 */
#ifndef MIRE_FORGET_FORGET_H
#define MIRE_FORGET_FORGET_H

struct worker;

/* Do the next step of a job. 1: there was one, 0: nothing is to do, below zero a fault. */
int forget_step(struct worker *worker);

#endif
