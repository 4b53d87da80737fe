/*
 * sweep.h - `mired sweep --dry-run`: which reports and other rows upkeep deletes next, and deletes none.
 */
#ifndef MIRE_DAEMON_SWEEP_H
#define MIRE_DAEMON_SWEEP_H

#include "daemon/config.h"

/* Print what is due now, or in `ahead_days` days, an app a line. Returns 0, or 1 if the database cannot be asked. */
int sweep_preview(const struct config *config, int ahead_days, FILE *out);

#endif
