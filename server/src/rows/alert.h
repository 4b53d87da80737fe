/*
 * alert.h - rules that alert, and their alerts. model/alert.h decides when a condition holds.
 */
#ifndef MIRE_ROWS_ALERT_H
#define MIRE_ROWS_ALERT_H

#include "base/arena.h"
#include "model/alert.h"
#include "pg/pg.h"

#define MIRE_ALERT_ACK_KEY   32
#define MIRE_ALERT_RULES_MAX 100 /* of an app */

/* --- rules --- */

/* Give the default rule to every app without rules. 0 or a fault. */
int rows_alert_defaults(struct pg_tx *tx);

/* The rules of an app that are judged, oldest first. 0 or a fault. */
int rows_alert_rule_list(struct alert_rule **out, size_t *count, struct pg_tx *tx, struct arena *arena, int32_t app);

/* A rule of an app. 0, READ_NONE or a fault. */
int rows_alert_rule_find(struct alert_rule *out, struct pg_tx *tx, struct arena *arena, int32_t app, int64_t rule);

/* Add a rule (rule->rule 0; its number is set) or change it. 0, READ_NONE or a fault. */
int rows_alert_rule_put(struct alert_rule *rule, struct pg_tx *tx);

/* Remove a rule; its open alerts end. 0, READ_NONE or a fault. */
int rows_alert_rule_remove(struct pg_tx *tx, int32_t app, int64_t rule);

/* Send no messages of a rule until `until_us`; 0: send again. 0, READ_NONE or a fault. */
int rows_alert_rule_snooze(struct pg_tx *tx, int32_t app, int64_t rule, int64_t until_us);

/*
 * Lock the rule that was judged the longest ago, among those that are due. The row's lock lasts until the transaction
 * ends, so of several servers one at a time judges a rule.
 *   every_s      a rule is due after so many seconds; five times as many for the kind missing, which reads more
 *   slug_out     of the rule's app
 *   minute_out   minute of the day now, in the zone of the rule's quiet hours
 * 1: there is one, 0: none is due, below zero a fault.
 */
int rows_alert_rule_claim(struct alert_rule *out, const char **slug_out, int *minute_out, struct pg_tx *tx,
                          struct arena *arena, int64_t now_us, int32_t every_s);

/* Record that a rule was judged; `fault` is the reason if that failed. 0 or a fault. */
int rows_alert_rule_looked(struct pg_tx *tx, int64_t rule, int64_t now_us, const char *fault);

/* Is `zone` the name of a time zone? 0, READ_NONE or a fault. */
int rows_alert_zone_check(struct pg_tx *tx, const char *zone);

/* --- alerts --- */

struct alert_row {
    int64_t alert, rule;
    int32_t app;
    const char *subject;
    struct alert_state state;
    int32_t notifications;
    double value, low, high, bound;
    const char *verdict, *spark, *page, *acked_by;
    const char *rule_name; /* read only, as rule_kind */
    const char *rule_kind;
    uint8_t ack_key[MIRE_ALERT_ACK_KEY];
};

/* The alerts of a rule that are not over. 0 or a fault. */
int rows_alert_open(struct alert_row **out, size_t *count, struct pg_tx *tx, struct arena *arena, int64_t rule);

/* Add an alert (alert->alert 0), or write its changes. 0 or a fault. */
int rows_alert_put(struct alert_row *alert, struct pg_tx *tx);

/* Alerts of an app with numbers below `before` (0: all), newest first, with those that never fired. 0 or a fault. */
int rows_alert_list(struct alert_row **out, size_t *count, struct pg_tx *tx, struct arena *arena, int32_t app,
                    int64_t before, int limit);

/* Alerts of an app that are not over, newest first. 0 or a fault. */
int rows_alert_open_list(struct alert_row **out, size_t *count, struct pg_tx *tx, struct arena *arena, int32_t app,
                         int limit);

/* Find and lock an alert; app 0: of any app. 0, READ_NONE or a fault. */
int rows_alert_find(struct alert_row *out, struct pg_tx *tx, struct arena *arena, int32_t app, int64_t alert);

/* Acknowledge an alert, unless it is acknowledged already. 0 or a fault. */
int rows_alert_ack(struct pg_tx *tx, int64_t alert, const char *who, int64_t now_us);

#endif
