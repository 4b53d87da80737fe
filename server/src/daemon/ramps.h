/*
 * ramps.h - moves ramps on, pauses them and brings back what was before: rollout/ramp.h decides.
 */
#ifndef MIRE_DAEMON_RAMPS_H
#define MIRE_DAEMON_RAMPS_H

#include <stdint.h>

struct log;
struct pg;

/* Look at every running ramp that was not looked at for a minute; one transaction each. Of several servers each ramp is
 * looked at by one at a time. 0 or a fault. Thread: upkeep's. */
int ramps_step(struct pg *pg, const struct log *log, int64_t now_us);

#endif
