/* counters.h - subtracts the reports of a batch from the counters. Inside forget/ only. */
#ifndef MIRE_FORGET_COUNTERS_H
#define MIRE_FORGET_COUNTERS_H

#include "pipeline/stages.h"
#include "rows/forget.h"

struct forget_one {
    const struct forget_stored *stored;
    struct item item;     /* decoded; `occurred` as it was counted */
    struct resolved *had; /* as it was counted; NULL: it cannot be read */
};

/* All are of one app, and the rows derived of them are deleted. 0 or a fault. */
int forget_uncount(struct forget_one *ones, size_t count, struct pg_tx *tx, struct arena *arena);

#endif
