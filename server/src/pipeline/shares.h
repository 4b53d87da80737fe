/*
 * shares.h - the sampling shares of all versions of an app's rollout. Inside pipeline/ only.
 *
 * A report has the probability p with which each plugin was on, and stands for 1/p events. Anyone with the ingest key
 * can write any p. Therefore a share counts only if some version of the app's rollout, or the default rollout, had this
 * share for the plugin before the report was received. A report with any other share counts as one event.
 *
 * Shares are cached until other apps need the room, and are read again when a report has an unknown share. One thread.
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
        uint64_t used;   /* time of the last use, by a counter */
        struct shares_row {
            int plugin;
            uint32_t ppm;
            int64_t since_us; /* time of the first version with the share */
        } * rows;
        size_t count, room;
    } apps[MIRE_SHARES_APPS];
    uint64_t now;
};

void shares_fini(struct shares *shares);

/*
 * Remove from a report the shares that no rollout of its app had given when the report was received.
 *
 *   report       report->sampling is replaced by a copy in the arena
 *   refused_out  number of removed shares
 *
 * 0 or a fault.
 */
int shares_believe(size_t *refused_out, struct report *report, struct shares *shares, struct pg_tx *tx,
                   struct arena *arena, int32_t app, int64_t received_us);

#endif
