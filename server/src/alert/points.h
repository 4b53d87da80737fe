/*
 * points.h - the values that a rule judges: the same code for judging, for the line in a message, and for trying a
 * rule on the past.
 */
#ifndef MIRE_ALERT_POINTS_H
#define MIRE_ALERT_POINTS_H

#include "base/arena.h"
#include "model/alert.h"
#include "model/view.h"

struct pg_tx;

/* The budget of a day of apps that set none; 0: no limit. */
struct alert_budget {
    int64_t reports, bytes;
};

struct alert_points {
    struct alert_point *points; /* by subject, then by time */
    size_t count;
    int32_t part_s; /* how far apart in time */
};

/*
 * The values of the newest `parts` windows until now. A window with too few arrivals yet (model/completeness.h) is
 * marked as unknown.
 * 0, a fault, or MIRE_ALERT_WRONG: the view of the rule cannot be read.
 */
enum { MIRE_ALERT_WRONG = 1 };
int alert_points_read(struct alert_points *out, struct pg_tx *tx, struct arena *arena, const struct alert_rule *rule,
                      const struct alert_budget *budget, int64_t now_us, int parts);

/* The number of parts of a month, and of the line of a message. */
int alert_parts(const struct alert_rule *rule, int days);

/* Inside alert/ only: the rule as alert_points_read has read it. */
struct alert_look {
    struct pg_tx *tx;
    struct arena *arena;
    const struct alert_rule *rule;
    const struct alert_budget *budget;
    struct view view;
    struct filter channel;
    int64_t now_us;
    int parts;
    struct alert_points *out;
    size_t room;
};

/* Room for one more point; NULL: no memory. */
struct alert_point *alert_points_add(struct alert_look *look);

/* The kinds of points_issues.c. 0 or a fault. */
int alert_points_new(struct alert_look *look);
int alert_points_growth(struct alert_look *look);
int alert_points_missing(struct alert_look *look);
int alert_points_guard(struct alert_look *look);
int alert_points_regressed(struct alert_look *look);
int alert_points_silence(struct alert_look *look);
int alert_points_quota(struct alert_look *look);

#endif
