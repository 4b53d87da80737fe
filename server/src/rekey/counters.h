/* counters.h - the counters of a batch, moved with its reports: each table by rising key. Inside rekey/ only. */
#ifndef MIRE_REKEY_COUNTERS_H
#define MIRE_REKEY_COUNTERS_H

#include "rekey/move.h"

/* Subtract the reports of a batch from the hours and sums of their old issues and add them to those of the new ones. 0
 * or a fault. */
int counters_shift(const struct move_batch *batch, struct pg_tx *tx);

#endif
