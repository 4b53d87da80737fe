/*
 * rekey.h - derives stored reports again and moves each to its present issue. One of its threads also takes reports
 * out (forget/forget.h).
 *
 *     claim some --> each: decode, symbolicate, feature --> issues found or opened --> rows, counters, sketches
 *                                                                                               --> COMMIT
 *
 * One batch, one transaction: a report is either in its old place and counted there, or in its new place and counted
 * there. A process that is killed leaves only whole batches. The data of the device and of the inbox stay: id, day,
 * slot, version, receipt. Any number of processes take part; two of them never have the same report.
 *
 *     old issue keyed by addresses, new feature without an issue   the issue gets the new key: number, state, all stays
 *     new feature without an issue                                 one is opened, with the old one's state
 *     new feature with an issue                                    the report moves to it
 */
#ifndef MIRE_REKEY_REKEY_H
#define MIRE_REKEY_REKEY_H

struct work;

/* Derive stored reports again, on one or two more workers of `work`, until work_stop. Called once, after work_start. 0 or a
 * fault. */
int rekey_start(struct work *work);

#endif
