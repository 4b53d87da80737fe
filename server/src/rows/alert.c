/* alert.c - the statements behind alert.h. */
#include "rows/alert.h"
#include "rows/rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Arrays come back as text: "1,7". */
#define RULE_COLUMNS                                                                                               \
    "r.rule_id, r.app_id, r.name, r.kind, r.measure, r.scope, r.versions, r.kinds, r.channel, r.against, r.bound," \
    " r.window_s, r.hold_s, r.repeat_s, r.escalate_s, coalesce(r.quiet_from, -1), coalesce(r.quiet_to, -1),"       \
    " r.quiet_zone, array_to_string(r.notifies, ','), array_to_string(r.escalates, ','), r.is_default,"            \
    " coalesce(r.snoozed_until, 'epoch'), r.made_by, r.fault, coalesce(nullif(r.looked_at, '-infinity'), 'epoch')"

#define ALERT_COLUMNS                                                                                              \
    "a.alert_id, a.rule_id, a.app_id, a.subject, a.began_at, coalesce(a.fired_at, 'epoch'),"                       \
    " coalesce(a.notified_at, 'epoch'), coalesce(a.escalated_at, 'epoch'), coalesce(a.acked_at, 'epoch'),"         \
    " coalesce(a.over_at, 'epoch'), a.notifications, a.value, a.low, a.high, a.bound, a.verdict, a.spark, a.page," \
    " a.acked_by, a.ack_key, r.name, r.kind"

/* Every app begins with it: the lag rate of each version and day, against the week before. */
#define DEFAULT_NAME   "Lag of a version rises"
#define DEFAULT_BOUND  1.25
#define DEFAULT_REPEAT 86400

static uint32_t take_numbers(int64_t *out, const char *text)
{
    uint32_t count = 0;

    while (*text && count < MIRE_ALERT_CHANNELS_MAX) {
        char *end;
        out[count++] = strtoll(text, &end, 10);
        text = *end ? end + 1 : end;
    }
    return count;
}

static const char *keep(bool *failed, struct arena *arena, const struct pg_rows *rows, size_t row, int column)
{
    const char *text = arena_strdup(arena, pg_text(rows, row, column));

    *failed |= !text;
    return text;
}

static int take_rule(struct alert_rule *out, struct arena *arena, const struct pg_rows *rows, size_t row)
{
    bool failed = false;

    *out = (struct alert_rule){.rule = pg_int(rows, row, 0),
                               .app = (int32_t)pg_int(rows, row, 1),
                               .name = keep(&failed, arena, rows, row, 2),
                               .kind = alert_kind_parse(pg_text(rows, row, 3)),
                               .measure = alert_measure_parse(pg_text(rows, row, 4)),
                               .scope = keep(&failed, arena, rows, row, 5),
                               .versions = keep(&failed, arena, rows, row, 6),
                               .kinds = keep(&failed, arena, rows, row, 7),
                               .channel = keep(&failed, arena, rows, row, 8),
                               .against_week = !strcmp(pg_text(rows, row, 9), "week"),
                               .bound = pg_real(rows, row, 10),
                               .window_s = (int32_t)pg_int(rows, row, 11),
                               .hold_s = (int32_t)pg_int(rows, row, 12),
                               .repeat_s = (int32_t)pg_int(rows, row, 13),
                               .escalate_s = (int32_t)pg_int(rows, row, 14),
                               .quiet_from = (int32_t)pg_int(rows, row, 15),
                               .quiet_to = (int32_t)pg_int(rows, row, 16),
                               .quiet_zone = keep(&failed, arena, rows, row, 17),
                               .is_default = pg_bool(rows, row, 20),
                               .snoozed_us = pg_time(rows, row, 21),
                               .made_by = keep(&failed, arena, rows, row, 22),
                               .fault = keep(&failed, arena, rows, row, 23),
                               .looked_us = pg_time(rows, row, 24)};
    out->notify_count = take_numbers(out->notifies, pg_text(rows, row, 18));
    out->escalate_count = take_numbers(out->escalates, pg_text(rows, row, 19));
    if (out->kind == ALERT_KINDS || (out->kind == ALERT_RATE && out->measure == ALERT_MEASURES))
        return MIRE_FAULT_BROKEN;
    return failed ? MIRE_FAULT_MEMORY : 0;
}

int rows_alert_defaults(struct pg_tx *tx)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx, "SELECT app_id FROM app EXCEPT SELECT app_id FROM alert_rule WHERE is_default");
    for (size_t i = 0; !rc && i < pg_row_count(rows); i++)
        rc = pg_query(NULL, tx,
                      "INSERT INTO alert_rule (app_id, name, kind, measure, scope, against, bound, window_s, hold_s,"
                      " repeat_s, escalate_s, notifies, escalates, is_default, made_by)"
                      " VALUES ($4, $1, 'rate', 'lag', 'each', 'week', $2, 86400, 0, $3, 0, '{}', '{}', true, 'mired')"
                      " ON CONFLICT (app_id) WHERE is_default DO NOTHING",
                      PG_TEXT(DEFAULT_NAME), PG_REAL(DEFAULT_BOUND), PG_INT4(DEFAULT_REPEAT),
                      PG_INT4((int32_t)pg_int(rows, i, 0)));
    return rc;
}

int rows_alert_rule_list(struct alert_rule **out, size_t *count, struct pg_tx *tx, struct arena *arena, int32_t app)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx,
                      "SELECT " RULE_COLUMNS " FROM alert_rule r WHERE r.app_id = $1 AND r.removed_at IS NULL"
                      " ORDER BY r.rule_id LIMIT $2",
                      PG_INT4(app), PG_INT8(MIRE_ALERT_RULES_MAX));
    if (rc)
        return rc;
    *count = pg_row_count(rows);
    *out = arena_array(arena, *count + 1, sizeof **out);
    for (size_t i = 0; *out && !rc && i < *count; i++)
        rc = take_rule(&(*out)[i], arena, rows, i);
    return *out ? rc : MIRE_FAULT_MEMORY;
}

int rows_alert_rule_find(struct alert_rule *out, struct pg_tx *tx, struct arena *arena, int32_t app, int64_t rule)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx,
                      "SELECT " RULE_COLUMNS " FROM alert_rule r WHERE r.app_id = $1 AND r.rule_id = $2"
                      " AND r.removed_at IS NULL",
                      PG_INT4(app), PG_INT8(rule));
    if (rc)
        return rc;
    return pg_row_count(rows) ? take_rule(out, arena, rows, 0) : READ_NONE;
}

#define RULE_PARAMS(r)                                                                                                \
    PG_INT4((r)->app), PG_TEXT((r)->name), PG_TEXT(alert_kind_name((r)->kind)),                                       \
        PG_TEXT((r)->kind == ALERT_RATE ? alert_measure_name((r)->measure) : ""), PG_TEXT((r)->scope),                \
        PG_TEXT((r)->versions), PG_TEXT((r)->kinds), PG_TEXT((r)->channel), PG_TEXT((r)->against_week ? "week" : ""), \
        PG_REAL((r)->bound), PG_INT4((r)->window_s), PG_INT4((r)->hold_s), PG_INT4((r)->repeat_s),                    \
        PG_INT4((r)->escalate_s), PG_INT4((r)->quiet_from), PG_INT4((r)->quiet_to), PG_TEXT((r)->quiet_zone),         \
        PG_INT8S((r)->notifies, (r)->notify_count), PG_INT8S((r)->escalates, (r)->escalate_count)

int rows_alert_rule_put(struct alert_rule *rule, struct pg_tx *tx)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc;

    if (rule->rule)
        rc = pg_query(&rows, tx,
                      "UPDATE alert_rule SET name = $2, kind = $3, measure = $4, scope = $5, versions = $6, kinds = $7,"
                      " channel = $8, against = $9, bound = $10, window_s = $11, hold_s = $12, repeat_s = $13,"
                      " escalate_s = $14, quiet_from = nullif($15, -1), quiet_to = nullif($16, -1), quiet_zone = $17,"
                      " notifies = $18, escalates = $19, looked_at = '-infinity', fault = ''"
                      " WHERE app_id = $1 AND rule_id = $20 AND removed_at IS NULL RETURNING rule_id",
                      RULE_PARAMS(rule), PG_INT8(rule->rule));
    else
        rc = pg_query(&rows, tx,
                      "INSERT INTO alert_rule (app_id, name, kind, measure, scope, versions, kinds, channel, against,"
                      " bound, window_s, hold_s, repeat_s, escalate_s, quiet_from, quiet_to, quiet_zone, notifies,"
                      " escalates, made_by) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14,"
                      " nullif($15, -1), nullif($16, -1), $17, $18, $19, $20) RETURNING rule_id",
                      RULE_PARAMS(rule), PG_TEXT(rule->made_by));
    if (rc)
        return rc;
    if (!pg_row_count(rows))
        return READ_NONE;
    rule->rule = pg_int(rows, 0, 0);
    return 0;
}

static int touched(int rc, const struct pg_rows *rows)
{
    return rc ? rc : pg_touched(rows) ? 0 : READ_NONE;
}

int rows_alert_rule_remove(struct pg_tx *tx, int32_t app, int64_t rule)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(
        &rows, tx, "UPDATE alert_rule SET removed_at = now() WHERE app_id = $1 AND rule_id = $2 AND removed_at IS NULL",
        PG_INT4(app), PG_INT8(rule));
    rc = touched(rc, rows);
    return rc ? rc
              : pg_query(NULL, tx, "UPDATE alert SET over_at = now() WHERE rule_id = $1 AND over_at IS NULL",
                         PG_INT8(rule));
}

int rows_alert_rule_snooze(struct pg_tx *tx, int32_t app, int64_t rule, int64_t until_us)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx,
                      "UPDATE alert_rule SET snoozed_until = nullif($3::timestamptz, 'epoch')"
                      " WHERE app_id = $1 AND rule_id = $2 AND removed_at IS NULL",
                      PG_INT4(app), PG_INT8(rule), PG_TIME(until_us));
    return touched(rc, rows);
}

int rows_alert_rule_claim(struct alert_rule *out, const char **slug_out, int *minute_out, struct pg_tx *tx,
                          struct arena *arena, int64_t now_us, int32_t every_s)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx,
                      "SELECT " RULE_COLUMNS ", app.slug, extract(hour FROM $1 AT TIME ZONE r.quiet_zone)::integer * 60"
                      " + extract(minute FROM $1 AT TIME ZONE r.quiet_zone)::integer"
                      " FROM alert_rule r JOIN app USING (app_id) WHERE r.removed_at IS NULL AND r.looked_at <"
                      " $1::timestamptz - CASE r.kind WHEN 'missing' THEN 5 ELSE 1 END * $2 * interval '1 second'"
                      " ORDER BY r.looked_at LIMIT 1 FOR UPDATE OF r SKIP LOCKED",
                      PG_TIME(now_us), PG_INT4(every_s));
    if (rc || !pg_row_count(rows))
        return rc;
    rc = take_rule(out, arena, rows, 0);
    *slug_out = arena_strdup(arena, pg_text(rows, 0, 25));
    *minute_out = (int)pg_int(rows, 0, 26);
    if (rc)
        return rc;
    return *slug_out ? 1 : MIRE_FAULT_MEMORY;
}

int rows_alert_rule_looked(struct pg_tx *tx, int64_t rule, int64_t now_us, const char *fault)
{
    return pg_query(NULL, tx, "UPDATE alert_rule SET looked_at = $2, fault = $3 WHERE rule_id = $1", PG_INT8(rule),
                    PG_TIME(now_us), PG_TEXT(fault));
}

int rows_alert_zone_check(struct pg_tx *tx, const char *zone)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx, "SELECT FROM pg_timezone_names WHERE name = $1", PG_TEXT(zone));
    return rc ? rc : pg_row_count(rows) ? 0 : READ_NONE;
}

static int take_alert(struct alert_row *out, struct arena *arena, const struct pg_rows *rows, size_t row)
{
    bool failed = false;
    struct pg_bytes key = pg_bytes(rows, row, 19);

    *out = (struct alert_row){.alert = pg_int(rows, row, 0),
                              .rule = pg_int(rows, row, 1),
                              .app = (int32_t)pg_int(rows, row, 2),
                              .subject = keep(&failed, arena, rows, row, 3),
                              .state = {.began_us = pg_time(rows, row, 4),
                                        .fired_us = pg_time(rows, row, 5),
                                        .notified_us = pg_time(rows, row, 6),
                                        .escalated_us = pg_time(rows, row, 7),
                                        .acked_us = pg_time(rows, row, 8),
                                        .over_us = pg_time(rows, row, 9)},
                              .notifications = (int32_t)pg_int(rows, row, 10),
                              .value = pg_real(rows, row, 11),
                              .low = pg_real(rows, row, 12),
                              .high = pg_real(rows, row, 13),
                              .bound = pg_real(rows, row, 14),
                              .verdict = keep(&failed, arena, rows, row, 15),
                              .spark = keep(&failed, arena, rows, row, 16),
                              .page = keep(&failed, arena, rows, row, 17),
                              .acked_by = keep(&failed, arena, rows, row, 18),
                              .rule_name = keep(&failed, arena, rows, row, 20),
                              .rule_kind = keep(&failed, arena, rows, row, 21)};
    if (key.len == sizeof out->ack_key)
        memcpy(out->ack_key, key.bytes, key.len);
    return failed ? MIRE_FAULT_MEMORY : 0;
}

static int take_alerts(struct alert_row **out, size_t *count, struct arena *arena, const struct pg_rows *rows)
{
    int rc = 0;

    *count = pg_row_count(rows);
    *out = arena_array(arena, *count + 1, sizeof **out);
    for (size_t i = 0; *out && !rc && i < *count; i++)
        rc = take_alert(&(*out)[i], arena, rows, i);
    return *out ? rc : MIRE_FAULT_MEMORY;
}

int rows_alert_open(struct alert_row **out, size_t *count, struct pg_tx *tx, struct arena *arena, int64_t rule)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx,
                      "SELECT " ALERT_COLUMNS " FROM alert a JOIN alert_rule r USING (rule_id)"
                      " WHERE a.rule_id = $1 AND a.over_at IS NULL ORDER BY a.subject FOR UPDATE OF a",
                      PG_INT8(rule));
    return rc ? rc : take_alerts(out, count, arena, rows);
}

#define OR_NULL(n) "nullif($" n "::timestamptz, 'epoch')"

int rows_alert_put(struct alert_row *alert, struct pg_tx *tx)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    const struct alert_state *s = &alert->state;

    if (alert->alert)
        return pg_query(
            NULL, tx,
            "UPDATE alert SET fired_at = " OR_NULL("2") ", notified_at = " OR_NULL("3") ", escalated_at = " OR_NULL(
                "4") ", over_at = " OR_NULL("5") ", notifications = $6, value = $7, low = $8, high = $9,"
                                                 " bound = $10, verdict = $11, spark = $12, page = $13"
                                                 " WHERE alert_id = $1",
            PG_INT8(alert->alert), PG_TIME(s->fired_us), PG_TIME(s->notified_us), PG_TIME(s->escalated_us),
            PG_TIME(s->over_us), PG_INT4(alert->notifications), PG_REAL(alert->value), PG_REAL(alert->low),
            PG_REAL(alert->high), PG_REAL(alert->bound), PG_TEXT(alert->verdict), PG_TEXT(alert->spark),
            PG_TEXT(alert->page));
    random_fill(alert->ack_key, sizeof alert->ack_key);
    int rc = pg_query(
        &rows, tx,
        "INSERT INTO alert (rule_id, app_id, subject, began_at, fired_at, notified_at, escalated_at, over_at, "
        "notifications,"
        " value, low, high, bound, verdict, spark, page, ack_key) VALUES ($1, $2, $3, $4, " OR_NULL("5") ", " OR_NULL(
            "6") ", " OR_NULL("7") ", " OR_NULL("8") ", $9, $10, $11, $12, $13, $14, $15, $16, $17) RETURNING alert_id",
        PG_INT8(alert->rule), PG_INT4(alert->app), PG_TEXT(alert->subject), PG_TIME(s->began_us), PG_TIME(s->fired_us),
        PG_TIME(s->notified_us), PG_TIME(s->escalated_us), PG_TIME(s->over_us), PG_INT4(alert->notifications),
        PG_REAL(alert->value), PG_REAL(alert->low), PG_REAL(alert->high), PG_REAL(alert->bound),
        PG_TEXT(alert->verdict), PG_TEXT(alert->spark), PG_TEXT(alert->page),
        PG_BYTES(alert->ack_key, sizeof alert->ack_key));
    if (!rc)
        alert->alert = pg_int(rows, 0, 0);
    return rc;
}

int rows_alert_list(struct alert_row **out, size_t *count, struct pg_tx *tx, struct arena *arena, int32_t app,
                    int64_t before, int limit)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx,
                      "SELECT " ALERT_COLUMNS " FROM alert a JOIN alert_rule r USING (rule_id) WHERE a.app_id = $1"
                      " AND ($2 = 0 OR a.alert_id < $2) ORDER BY a.alert_id DESC LIMIT $3",
                      PG_INT4(app), PG_INT8(before), PG_INT8(limit));
    return rc ? rc : take_alerts(out, count, arena, rows);
}

int rows_alert_open_list(struct alert_row **out, size_t *count, struct pg_tx *tx, struct arena *arena, int32_t app,
                         int limit)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx,
                      "SELECT " ALERT_COLUMNS " FROM alert a JOIN alert_rule r USING (rule_id) WHERE a.app_id = $1"
                      " AND a.over_at IS NULL ORDER BY a.alert_id DESC LIMIT $2",
                      PG_INT4(app), PG_INT8(limit));
    return rc ? rc : take_alerts(out, count, arena, rows);
}

int rows_alert_find(struct alert_row *out, struct pg_tx *tx, struct arena *arena, int32_t app, int64_t alert)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx,
                      "SELECT " ALERT_COLUMNS " FROM alert a JOIN alert_rule r USING (rule_id)"
                      " WHERE a.alert_id = $1 AND ($2 = 0 OR a.app_id = $2) FOR UPDATE OF a",
                      PG_INT8(alert), PG_INT4(app));
    if (rc)
        return rc;
    return pg_row_count(rows) ? take_alert(out, arena, rows, 0) : READ_NONE;
}

int rows_alert_ack(struct pg_tx *tx, int64_t alert, const char *who, int64_t now_us)
{
    return pg_query(NULL, tx, "UPDATE alert SET acked_at = $2, acked_by = $3 WHERE alert_id = $1 AND acked_at IS NULL",
                    PG_INT8(alert), PG_TIME(now_us), PG_TEXT(who));
}
