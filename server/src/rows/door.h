/* door.h - what became of reports at the door, by app and day, and budgets of the day. */
#ifndef MIRE_ROWS_DOOR_H
#define MIRE_ROWS_DOOR_H

#include "base/arena.h"
#include "pg/pg.h"

/* Add to the day of the database, in UTC. Rows come once each. 0 or a fault. */
struct rows_door {
    int32_t app_id;
    const char *outcome; /* as in door_day.outcome */
    int64_t reports, bytes;
};
int rows_door_add(struct pg_tx *tx, struct arena *arena, const struct rows_door *rows, size_t count);

/* Budget of an app, and how much of it is used today. */
struct rows_budget {
    int32_t app_id;
    int64_t quota_reports, quota_bytes; /* 0: no limit */
    int64_t reports, bytes;             /* stored today */
};

/* Fill in the budgets of apps; those that set none have the server's. 0 or a fault. */
int rows_budgets_read(struct rows_budget *budgets, size_t count, struct pg_tx *tx, struct arena *arena,
                      int64_t server_reports, int64_t server_bytes);

/* What became of an app's reports in the last `days` days, newest first. 0 or a fault. */
struct rows_door_day {
    int32_t day;
    const char *outcome;
    int64_t reports, bytes;
};
int rows_door_days(struct rows_door_day **out, size_t *count, struct pg_tx *tx, struct arena *arena, int32_t app,
                   int days);

#endif
