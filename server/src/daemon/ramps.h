/*
 * ramps.h - raises, pauses and reverts ramps as rollout/ramp.h decides.
 */
#ifndef MIRE_DAEMON_RAMPS_H
#define MIRE_DAEMON_RAMPS_H

#include <stdint.h>

struct log;
struct pg;

/*
 * Judge every running ramp that was last judged more than a minute ago, each in a transaction. If several servers run,
 * one at a time judges a ramp. 0 or a fault. Thread: upkeep's.
 */
int ramps_step(struct pg *pg, const struct log *log, int64_t now_us);

#endif
