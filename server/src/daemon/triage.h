/*
 * triage.h - opens ignored issues whose time is over, or that reached the devices or the rate they were ignored until.
 */
#ifndef MIRE_DAEMON_TRIAGE_H
#define MIRE_DAEMON_TRIAGE_H

struct log;
struct pg;

/* Look at all of them once. 0 or a fault. Thread: upkeep's. */
int triage_step(struct pg *pg, const struct log *log);

#endif
