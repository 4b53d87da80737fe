/*
 * rekey.h - stored reports are derived anew, and moved to the issue that they belong to now. Inside rekey/ only.
 *
 *     claim some --> each: decode, symbolicate, feature --> issues found or opened --> rows, counters, sketches
 *                                                                                               --> COMMIT
 *
 * One batch, one transaction: a report is either where it was, counted there, or where it belongs, counted there, and a
 * process that is killed leaves only whole ones. What the device and the inbox gave stays: id, day, slot, version,
 * receipt. Any number of processes take part; two of them never have one report.
 *
 *     old issue keyed by addresses, new feature without an issue   the issue gets the new key: number, state, all stays
 *     new feature without an issue                                 one is opened, with the old one's state
 *     new feature with an issue                                    the report moves to it
 */
#ifndef MIRE_REKEY_REKEY_H
#define MIRE_REKEY_REKEY_H

struct worker;

/* A batch, or a step of a job. 1: something was done, 0: nothing is due, below zero a fault; then nothing has changed.
 */
int rekey_step(struct worker *worker);

/* The thread: steps until the workers stop. */
void *rekey_main(void *worker);

#endif
