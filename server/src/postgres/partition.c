/*
 * partition.c - daily partitions: made ahead of the calendar, dropped when they are too old.
 *
 * Rows of a day without a partition lie in <table>_other. The transaction that creates the day's partition moves them
 * into it, because PostgreSQL refuses a partition whose rows are in the default one.
 */
#include "postgres/migrate.h"

#include "base/clock.h"
#include "base/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const tables[] = {"report", "event", "event_stack", "memory_baseline", "session", "report_missing"};
#define HOUR_DAYS   8 /* days before today whose hours are kept as cells */
#define TABLE_COUNT (sizeof tables / sizeof *tables)
#define CROWD       1000 /* reports of a day without a partition that ask for one */
#define CROWD_BACK  400  /* days before today on which that may be; devices with a clock of 1970 ask for none */

/* 20261121 of a day. */
static int32_t compact(int32_t day)
{
    char date[32];
    clock_format(date, (int64_t)day * 86400 * 1000000);
    return (int32_t)(strtol(date, NULL, 10) * 10000 + strtol(date + 5, NULL, 10) * 100 + strtol(date + 8, NULL, 10));
}

/* The names of a table's daily partitions, newest last. */
static int list_days(struct pg_rows **rows, struct pg_tx *tx, const char *table)
{
    return pg_query(
        rows, tx,
        "SELECT substr(c.relname, length($1) + 2)::int4 FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid"
        " WHERE i.inhparent = $1::regclass AND c.relname ~ ('^' || $1 || '_[0-9]{8}$') ORDER BY 1",
        PG_TEXT(table));
}

static bool has_day(const struct pg_rows *rows, int32_t date)
{
    for (size_t i = 0; i < pg_row_count(rows); i++)
        if (pg_int(rows, i, 0) == date)
            return true;
    return false;
}

/* One statement at a time, as Citus wants it. */
static int make_day(struct pg_tx *tx, const char *table, int32_t day)
{
    char sql[4][256];
    int32_t date = compact(day);
    int rc = 0;

    snprintf(sql[0], sizeof sql[0], "CREATE TABLE %s_%d (LIKE %s INCLUDING ALL)", table, date, table);
    snprintf(sql[1], sizeof sql[1],
             "WITH moved AS (DELETE FROM %s_other WHERE day = '%d' RETURNING *) INSERT INTO %s_%d SELECT * FROM moved",
             table, date, table, date);
    snprintf(sql[2], sizeof sql[2], "ALTER TABLE %s ATTACH PARTITION %s_%d FOR VALUES FROM ('%d') TO ('%d')", table,
             table, date, date, compact(day + 1));
    snprintf(sql[3], sizeof sql[3], "COMMENT ON TABLE %s_%d IS 'One day of %s.'", table, date, table);
    for (size_t i = 0; !rc && i < sizeof sql / sizeof *sql; i++)
        rc = pg_script(tx, sql[i]);
    return rc;
}

static int drop_day(struct pg_tx *tx, const char *table, int32_t date)
{
    char sql[128];
    snprintf(sql, sizeof sql, "DROP TABLE %s_%d", table, date);
    return pg_script(tx, sql);
}

/* The earlier days with many reports and without a partition: an import has them, and phones that were off for weeks. */
static int find_crowded(struct pg_rows **rows, struct pg_tx *tx, const struct pg_days *days)
{
    int32_t first = days->today - (days->keep && days->keep < CROWD_BACK ? days->keep : CROWD_BACK);
    return pg_query(rows, tx,
                    "SELECT day FROM report_other WHERE day >= $1 AND day < $2 GROUP BY day HAVING count(*) >= $3"
                    " ORDER BY day DESC LIMIT 4",
                    PG_DAY(first), PG_DAY(days->today - days->back), PG_INT8(CROWD));
}

static int arrange(int *made, int *dropped, struct pg_tx *tx, const char *table, const struct pg_days *days,
                   const struct pg_rows *crowded)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = list_days(&rows, tx, table);
    for (size_t i = 0; !rc && i < pg_row_count(crowded); i++) {
        if (has_day(rows, compact(pg_day(crowded, i, 0))))
            continue;
        rc = make_day(tx, table, pg_day(crowded, i, 0));
        *made += !rc;
    }
    for (int32_t day = days->today - days->back; !rc && day <= days->today + days->ahead; day++) {
        if (has_day(rows, compact(day)))
            continue;
        rc = make_day(tx, table, day);
        *made += !rc;
    }
    for (size_t i = 0; !rc && days->keep && i < pg_row_count(rows); i++) {
        if (pg_int(rows, i, 0) >= compact(days->cut))
            break;
        rc = drop_day(tx, table, (int32_t)pg_int(rows, i, 0));
        *dropped += !rc;
    }

    return rc;
}

/* Midnight in UTC. */
static int64_t day_us(int32_t day)
{
    return (int64_t)day * 86400000000;
}

/*
 * The default partitions hold reports of devices with a wrong clock, so the age of a row is counted from its receipt.
 * Rows without a report are deleted too, whatever their day is.
 */
static int sweep(struct pg_tx *tx, const struct pg_days *days)
{
    static const char *const by_age[] = {
        "DELETE FROM report_other WHERE received_at < $1",
        "DELETE FROM event_other WHERE received_at < $1",
        "DELETE FROM memory_baseline_other WHERE received_at < $1",
        "DELETE FROM session_other WHERE received_at < $1",
        "DELETE FROM missing_set WHERE seen < ($1::timestamptz AT TIME ZONE 'UTC')::date - 2",
    };
    static const char *const orphans[] = {
        "DELETE FROM event_stack_other s WHERE NOT EXISTS (SELECT FROM event_other e"
        " WHERE e.slot = s.slot AND e.day = s.day AND e.report_id = s.report_id)",
        "DELETE FROM report_missing_other l WHERE NOT EXISTS (SELECT FROM event_other e"
        " WHERE e.slot = l.slot AND e.day = l.day AND e.report_id = l.report_id)",
        "DELETE FROM inbox i WHERE NOT EXISTS (SELECT FROM report r"
        " WHERE r.slot = i.slot AND r.day = i.day AND r.report_id = i.report_id)",
        "DELETE FROM dead_letter u WHERE NOT EXISTS (SELECT FROM report r"
        " WHERE r.slot = u.slot AND r.day = u.day AND r.report_id = u.report_id)",
    };
    int rc = 0;

    for (size_t i = 0; !rc && days->keep && i < sizeof by_age / sizeof *by_age; i++)
        rc = pg_query(NULL, tx, by_age[i], PG_TIME(day_us(days->cut)));
    for (size_t i = 0; !rc && i < sizeof orphans / sizeof *orphans; i++)
        rc = pg_query(NULL, tx, orphans[i]);
    return rc;
}

/*
 * The cells of days that are dropped, and the hours of old days (rows/rollup.h: MIRE_ROLLUP_HOUR_DAYS). Reports that
 * happened on a dropped day and came later lose their cells too.
 */
static int sweep_rollups(struct pg_tx *tx, const struct pg_days *days)
{
    static const char old[] = "DELETE FROM rollup r USING app a, generate_series(0, 63) s WHERE r.slot = s"
                              " AND r.app_id = a.app_id AND r.hours = $1 AND r.at < $2";
    int rc = pg_query(NULL, tx, old, PG_INT2(1), PG_TIME(day_us(days->today - HOUR_DAYS)));
    if (!rc && days->keep)
        rc = pg_query(NULL, tx, old, PG_INT2(1), PG_TIME(day_us(days->cut)));
    if (!rc && days->keep)
        rc = pg_query(NULL, tx, old, PG_INT2(24), PG_TIME(day_us(days->cut)));
    return rc;
}

/* Uploads without progress for a day. */
static int sweep_uploads(struct pg_tx *tx)
{
    int rc = pg_query(NULL, tx,
                      "DELETE FROM symbol_upload_piece WHERE (app_id, hash) IN (SELECT app_id, hash FROM symbol_upload"
                      " WHERE begun_at < now() - interval '1 day')");
    return rc ? rc : pg_query(NULL, tx, "DELETE FROM symbol_upload WHERE begun_at < now() - interval '1 day'");
}

/*
 * Find the first day to keep: `keep` days ago by the database's clock; if more than one day is due, only the oldest one
 * goes now. So a wrong clock costs one day an hour until someone notices it, and a server that was off for a week needs
 * some hours to catch up.
 */
static void find_cut(struct pg_days *days, int32_t oldest, const struct log *log)
{
    days->cut = days->today - days->keep;
    if (!days->keep || days->cut <= oldest + 1)
        return;
    log_event(log, MIRE_LOG_WARN, "partition.many_due", LOG_NUMBER("days", days->cut - oldest),
              LOG_TEXT("next", "One day is deleted at a time. Check the clock of the database, and retention_days."));
    days->cut = oldest + 1;
}

/* The oldest day with a partition; today if there is none. */
static int find_oldest(int32_t *out, struct pg_tx *tx, int32_t today)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx,
                      "SELECT min(to_date(right(c.relname, 8), 'YYYYMMDD')) FROM pg_inherits i"
                      " JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = ANY($1::text[]::regclass[])"
                      " AND c.relname ~ '_[0-9]{8}$'",
                      PG_TEXTS(tables, TABLE_COUNT));
    if (!rc)
        *out = pg_is_null(rows, 0, 0) ? today : pg_day(rows, 0, 0);
    return rc;
}

/* Days after which no app keeps a row; 0: one keeps them for ever. */
static int find_longest(int *out, struct pg_tx *tx, int keep)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx,
                      "SELECT CASE WHEN $1 = 0 OR min(retention_days) = 0 THEN 0"
                      " ELSE greatest($1, max(retention_days)) END FROM app",
                      PG_INT4(keep));
    if (!rc)
        *out = (int)pg_int(rows, 0, 0);
    return rc;
}

/* Delete the rows of an app and a day, those of its events first. */
static int clean_day(struct pg_tx *tx, int32_t app, int32_t day)
{
    static const char stacks[] = "DELETE FROM event_stack s USING event e WHERE e.app_id = $1 AND e.day = $2"
                                 " AND s.day = $2 AND s.slot = e.slot AND s.report_id = e.report_id";
    static const char *const sql[] = {
        stacks,
        "DELETE FROM report_missing WHERE app_id = $1 AND day = $2",
        "DELETE FROM event WHERE app_id = $1 AND day = $2",
        "DELETE FROM memory_baseline WHERE app_id = $1 AND day = $2",
        "DELETE FROM session WHERE app_id = $1 AND day = $2",
        "DELETE FROM report WHERE app_id = $1 AND day = $2",
    };
    int rc = 0;
    for (size_t i = 0; !rc && i < sizeof sql / sizeof *sql; i++)
        rc = pg_query(NULL, tx, sql[i], PG_INT4(app), PG_DAY(day));
    return rc ? rc
              : pg_query(NULL, tx,
                         "DELETE FROM rollup WHERE slot = ANY (ARRAY(SELECT generate_series(0, 63))) AND app_id = $1"
                         " AND hours IN (1, 24) AND at >= $2 AND at < $3",
                         PG_INT4(app), PG_TIME(day_us(day)), PG_TIME(day_us(day + 1)));
}

/* Drop old rows of devices with a wrong clock, by their receipt. */
static int clean_other(struct pg_tx *tx, int32_t app, int32_t cut)
{
    static const char *const sql[] = {
        "DELETE FROM report_other WHERE app_id = $1 AND received_at < $2",
        "DELETE FROM event_other WHERE app_id = $1 AND received_at < $2",
        "DELETE FROM memory_baseline_other WHERE app_id = $1 AND received_at < $2",
        "DELETE FROM session_other WHERE app_id = $1 AND received_at < $2",
    };
    int rc = 0;
    for (size_t i = 0; !rc && i < sizeof sql / sizeof *sql; i++)
        rc = pg_query(NULL, tx, sql[i], PG_INT4(app), PG_TIME(day_us(cut)));
    return rc;
}

/*
 * Delete what apps keep for less time than the partitions stay: the day that became due last, and one of the earlier
 * days, each in its turn, for reports that came late and for retention_days that was lowered.
 */
static int clean_apps(struct pg_tx *tx, const struct pg_days *days, int longest, int32_t oldest)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx,
                      "SELECT app_id, coalesce(retention_days, $1), (extract(epoch FROM now()) / 3600)::int8 FROM app"
                      " WHERE coalesce(retention_days, $1) > 0 AND ($2 = 0 OR coalesce(retention_days, $1) < $2)"
                      " ORDER BY app_id",
                      PG_INT4(days->keep), PG_INT4(longest));
    for (size_t i = 0; !rc && i < pg_row_count(rows); i++) {
        int32_t app = (int32_t)pg_int(rows, i, 0), cut = days->today - (int32_t)pg_int(rows, i, 1);
        int64_t hour = days->hour ? days->hour : pg_int(rows, i, 2);
        if (cut <= oldest)
            continue;
        rc = clean_day(tx, app, cut - 1);
        if (!rc)
            rc = clean_day(tx, app, oldest + (int32_t)(hour % (cut - oldest)));
        if (!rc)
            rc = clean_other(tx, app, cut);
    }
    return rc;
}

/* The day by the database's clock. */
static int find_today(int32_t *out, struct pg_tx *tx)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx, "SELECT current_date");

    if (!rc)
        *out = pg_day(rows, 0, 0);
    return rc;
}

int pg_partition(int *made_out, int *dropped_out, struct pg *pg, const struct pg_days *asked, const struct log *log)
{
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    MIRE_SCOPED(pg_rows_free) struct pg_rows *crowded = NULL;
    struct pg_days days = *asked;
    int made = 0, dropped = 0, longest = 0;
    int32_t oldest = 0;
    int rc = pg_begin(&tx, pg, MIRE_PG_WRITE);
    if (!rc)
        rc = pg_query(NULL, tx, "SELECT pg_advisory_xact_lock(7117, 2)");
    if (!rc && !days.today)
        rc = find_today(&days.today, tx);
    if (!rc)
        rc = find_oldest(&oldest, tx, days.today);
    if (!rc)
        rc = find_longest(&longest, tx, days.keep);
    if (!rc)
        rc = clean_apps(tx, &days, longest, oldest);
    days.keep = longest;
    find_cut(&days, oldest, log);
    if (!rc)
        rc = find_crowded(&crowded, tx, &days);
    for (size_t i = 0; !rc && i < TABLE_COUNT; i++)
        rc = arrange(&made, &dropped, tx, tables[i], &days, crowded);
    if (!rc)
        rc = sweep(tx, &days);
    if (!rc)
        rc = sweep_rollups(tx, &days);
    if (!rc)
        rc = sweep_uploads(tx);
    if (!rc)
        rc = pg_commit(&tx);
    if (rc)
        return rc;
    if (made || dropped)
        log_event(log, MIRE_LOG_INFO, "partition.done", LOG_NUMBER("made", made), LOG_NUMBER("dropped", dropped));
    *made_out = made;
    *dropped_out = dropped;
    return 0;
}
