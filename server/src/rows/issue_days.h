/*
 * issue_days.h - issues day by day, from their cells: how many reports each day has, and which devices sent them.
 */
#ifndef MIRE_ROWS_ISSUE_DAYS_H
#define MIRE_ROWS_ISSUE_DAYS_H

#include "model/view.h"
#include "rollup/distinct.h"

struct pg_tx;

struct issue_day {
    int32_t day; /* UTC, days since 1970-01-01 */
    uint64_t reports;
    double weight, events; /* of the reports; weighted events, with the suppressed ones */
    struct distinct devices;
};

/* How much a device of the day weighs: as much as the reports of the day do on average. */
static inline double issue_day_weight(const struct issue_day *day)
{
    return day->weight / (double)day->reports;
}

/* Take one issue, as it is shown: its days that have reports, oldest first. They live until it returns, 0 or a fault. */
typedef int (*issue_days_take)(void *context, struct arena *scratch, int64_t issue, const struct issue_day *days,
                               size_t count);

/*
 * The days of some issues in a view, issue by issue in the order of their numbers. App, span and version apply.
 *
 *   issues  as they are shown, in the order of their numbers
 *
 * 0 or a fault.
 */
int rows_issue_days_read(struct pg_tx *tx, const struct view *view, const int64_t *issues, size_t issue_count,
                         issue_days_take take, void *context);

#endif
