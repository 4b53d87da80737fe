/*
 * forget.h - takes reports out again: their rows, their bytes, and their share of every counter (rows/forget.h). For
 * users who ask for deletion, and for invented reports.
 *
 *     claim some -> decode each -> delete the rows derived of them -> counters -> delete the reports -> COMMIT
 *
 * A report is decoded as at its arrival, counted with the stored weight, version and issue, and subtracted from the sums
 * to which it was added. A batch is one transaction: a killed server has taken out whole batches.
 *
 * Thread: the worker of stored reports.
 */
#ifndef MIRE_FORGET_FORGET_H
#define MIRE_FORGET_FORGET_H

struct worker;

/* Do the next step of a job. 1: a step was done, 0: there is no job, below zero a fault. */
int forget_step(struct worker *worker);

#endif
