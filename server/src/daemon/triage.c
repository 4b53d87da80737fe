/* triage.c - see triage.h. */
#include "daemon/triage.h"

#include "base/log.h"
#include "rows/triage.h"

#include <inttypes.h>
#include <stdio.h>

#define ARENA_BYTES  (4u << 20)
#define RATE_REPORTS 30 /* a rate by fewer says nothing */

/* Is its condition met? `why` says which; "" if none is. 0 or a fault. */
static int look(char *why, size_t room, struct pg_tx *tx, const struct triage_waiting *waiting)
{
    double devices = 0, per_1000 = 0;
    int64_t reports = 0;
    int rc = 0;

    *why = '\0';
    if (waiting->is_over) {
        snprintf(why, room, "time");
        return 0;
    }
    if (waiting->until_devices)
        rc = rows_triage_devices(&devices, tx, waiting);
    if (!rc && waiting->until_devices && devices >= (double)waiting->until_devices)
        snprintf(why, room, "%.0f devices", devices);
    if (!rc && !*why && waiting->until_per_1000 > 0)
        rc = rows_triage_rate(&per_1000, &reports, tx, waiting);
    if (!rc && !*why && waiting->until_per_1000 > 0 && reports >= RATE_REPORTS && per_1000 >= waiting->until_per_1000)
        snprintf(why, room, "%.3g per 1,000", per_1000);
    return rc;
}

static int step(struct pg *pg, struct arena *arena)
{
    struct pg_tx *tx MIRE_SCOPED(pg_end) = NULL;
    struct triage_waiting *waiting;
    char why[64];
    size_t count;
    int rc = pg_begin(&tx, pg, MIRE_PG_WRITE);

    if (!rc)
        rc = rows_triage_waiting(&waiting, &count, tx, arena);
    for (size_t i = 0; !rc && i < count; i++) {
        rc = look(why, sizeof why, tx, &waiting[i]);
        if (!rc && *why)
            rc = rows_triage_return(tx, waiting[i].issue, why);
    }
    return rc ? rc : pg_commit(&tx);
}

int triage_step(struct pg *pg, const struct log *log)
{
    struct arena arena;

    arena_init(&arena, ARENA_BYTES);
    int rc = step(pg, &arena);
    arena_fini(&arena);
    if (rc)
        log_event(log, MIRE_LOG_WARN, "triage.step",
                  LOG_TEXT("fault", "conditions of ignored issues were not looked at"));
    return rc;
}
