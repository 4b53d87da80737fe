/*
 * issue_days.h - issues day by day, from their cells: the reports of each day, and the devices that sent them.
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

/* The weight of a device on the day: the mean weight of the reports of the day. */
static inline double issue_day_weight(const struct issue_day *day)
{
    return day->weight / (double)day->reports;
}

/* Take the days with reports of one issue, as it is shown, oldest first. The days live until the return. 0 or a fault. */
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
