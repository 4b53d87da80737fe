/*
 * idle.h - the round of upkeep that archives or deletes issues and versions without reports, as their app says
 * (rows/idle.h).
 */
#ifndef MIRE_DAEMON_IDLE_H
#define MIRE_DAEMON_IDLE_H

#include "base/log.h"
#include "pg/pg.h"

#include <stdio.h>

/* One round over all apps; `days` 0: nothing is done. 0 or a fault, which is logged: the next round tries again. */
int idle_step(struct pg *pg, const struct log *log, int days);

/* Print for each app the number of issues and versions that a round would change in `ahead` days. 0 or a fault. */
int idle_print(struct pg_tx *tx, FILE *out, int days, int ahead);

#endif
