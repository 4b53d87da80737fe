/*
 * alert.h - rules that alert, and the alerts they have. What holds when is model/alert.h's.
 */
#ifndef MIRE_ROWS_ALERT_H
#define MIRE_ROWS_ALERT_H

#include "base/arena.h"
#include "model/alert.h"
#include "pg/pg.h"

#define MIRE_ALERT_ACK_KEY   32
#define MIRE_ALERT_RULES_MAX 100 /* of an app */

/* --- rules --- */

/* Give every app that has none the default rule. 0 or a fault. */
int rows_alert_defaults(struct pg_tx *tx);

/* The rules of an app that are judged, oldest first. 0 or a fault. */
int rows_alert_rule_list(struct alert_rule **out, size_t *count, struct pg_tx *tx, struct arena *arena, int32_t app);

/* One of them. 0, READ_NONE or a fault. */
int rows_alert_rule_find(struct alert_rule *out, struct pg_tx *tx, struct arena *arena, int32_t app, int64_t rule);

/* Add the rule (rule->rule 0) or change it; the number is set. 0, READ_NONE or a fault. */
int rows_alert_rule_put(struct alert_rule *rule, struct pg_tx *tx);

/* Remove a rule; its open alerts end. 0, READ_NONE or a fault. */
int rows_alert_rule_remove(struct pg_tx *tx, int32_t app, int64_t rule);

/* Tell nobody until then; 0: tell again. 0, READ_NONE or a fault. */
int rows_alert_rule_snooze(struct pg_tx *tx, int32_t app, int64_t rule, int64_t until_us);

/*
 * Lock the rule that was not looked at for longest, of those whose look is due. Of several servers each rule is judged by
 * one at a time: the lock is the row's, held until the transaction ends.
 *   every_s      after so many seconds a look is due; five times as many of kind missing, which reads more
 *   slug         of its app
 *   minute_out   of the day now, in the zone of its quiet hours
 * 1: there is one, 0: none is due, below zero a fault.
 */
int rows_alert_rule_claim(struct alert_rule *out, const char **slug_out, int *minute_out, struct pg_tx *tx,
                          struct arena *arena, int64_t now_us, int32_t every_s);

/* It was looked at; `fault` says why in vain. 0 or a fault. */
int rows_alert_rule_looked(struct pg_tx *tx, int64_t rule, int64_t now_us, const char *fault);

/* Is that the name of a time zone? 0, READ_NONE or a fault. */
int rows_alert_zone_check(struct pg_tx *tx, const char *zone);

/* --- alerts --- */

struct alert_row {
    int64_t alert, rule;
    int32_t app;
    const char *subject;
    struct alert_state state;
    int32_t tellings;
    double value, low, high, bound;
    const char *verdict, *spark, *page, *acked_by;
    const char *rule_name; /* read only, as the next one */
    const char *rule_kind;
    uint8_t ack_key[MIRE_ALERT_ACK_KEY];
};

/* Those that are not over, of a rule. 0 or a fault. */
int rows_alert_open(struct alert_row **out, size_t *count, struct pg_tx *tx, struct arena *arena, int64_t rule);

/* Add the alert (alert->alert 0), or write what changed. 0 or a fault. */
int rows_alert_put(struct alert_row *alert, struct pg_tx *tx);

/* Of an app, newest first, of numbers below `before` (0: all); those that never fired too. 0 or a fault. */
int rows_alert_list(struct alert_row **out, size_t *count, struct pg_tx *tx, struct arena *arena, int32_t app,
                    int64_t before, int limit);

/* Those of an app that are not over, newest first. 0 or a fault. */
int rows_alert_open_list(struct alert_row **out, size_t *count, struct pg_tx *tx, struct arena *arena, int32_t app,
                         int limit);

/* One, locked. app 0: of any. 0, READ_NONE or a fault. */
int rows_alert_find(struct alert_row *out, struct pg_tx *tx, struct arena *arena, int32_t app, int64_t alert);

/* Somebody acknowledges it, unless somebody did. 0 or a fault. */
int rows_alert_ack(struct pg_tx *tx, int64_t alert, const char *who, int64_t now_us);

#endif
