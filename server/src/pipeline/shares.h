/*
 * shares.h - the sampling shares in all rollouts that an app ever had. Inside pipeline/ only.
 *
 * A report says with which probability p each plugin was on, and stands for 1/p events. Anyone who has the ingest key can
 * write any p. So a share counts only if some version of the app's rollout, or the default rollout, gave it for that
 * plugin before the report was received. A report with any other share counts as one event.
 *
 * Shares are kept until other apps need the room, and are read again when a report has an unknown one. One thread.
 */
#ifndef MIRE_PIPELINE_SHARES_H
#define MIRE_PIPELINE_SHARES_H

#include "model/report.h"
#include "pg/pg.h"

#define MIRE_SHARES_APPS 8 /* apps whose shares are kept */

struct shares {
    struct shares_app {
        int32_t app;     /* 0: none */
        int64_t version; /* of the newest rollout that was read */
        uint64_t used;   /* when it was last asked for, counting up */
        struct shares_row {
            int plugin;
            uint32_t ppm;
            int64_t since_us; /* when it was first given */
        } * rows;
        size_t count, room;
    } apps[MIRE_SHARES_APPS];
    uint64_t now;
};

void shares_fini(struct shares *shares);

/*
 * Remove from a report the shares that no rollout of its app had given when the report was received.
 *
 *   report       its sampling is replaced by one in the arena
 *   refused_out  number of removed shares
 *
 * 0 or a fault.
 */
int shares_believe(size_t *refused_out, struct report *report, struct shares *shares, struct pg_tx *tx,
                   struct arena *arena, int32_t app, int64_t received_us);

#endif
