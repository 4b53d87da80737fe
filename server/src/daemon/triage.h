/*
 * triage.h - reopens ignored issues when the condition is met that they were ignored until: a time, devices, or a rate.
 */
#ifndef MIRE_DAEMON_TRIAGE_H
#define MIRE_DAEMON_TRIAGE_H

struct log;
struct pg;

/* Check every ignored issue once. 0 or a fault. Thread: upkeep's. */
int triage_step(struct pg *pg, const struct log *log);

#endif
