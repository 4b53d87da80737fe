/*
 * news.c - the statement behind news.h.
 *
 * Transactions do not commit in the order of their numbers, so a maximum would miss one. A sum over the newest rows
 * changes with each row among them, whenever it comes.
 */
#include "rows/news.h"

#include "base/clock.h"
#include "pg/pg.h"
#include "rows/view_sql.h"

#define DAYS 8 /* on which a report that comes now may have happened; an older one is seen with the next */

/* clang-format off */
#define NEWEST(number, table) \
    "(SELECT coalesce(sum(n), 0)::bigint FROM (SELECT " number " AS n FROM " table " WHERE app_id = a.app_id" \
    " ORDER BY " number " DESC LIMIT 50) newest)"
static const char news_sql[] =
    "SELECT " NEWEST("audit_id", "audit") " + " NEWEST("batch_id", "issue_act") ","
    " coalesce(came.events, 0) + (SELECT coalesce(sum(arrivals), 0)::bigint FROM symbol_clock)"
    " + (SELECT coalesce(sum(job_id * 2 + (ended_at IS NOT NULL)::int), 0)::bigint FROM (SELECT * FROM rekey_job"
    "    WHERE app_id = a.app_id ORDER BY job_id DESC LIMIT 50) newest),"
    " (SELECT coalesce(sum(alert_id * 8 + (fired_at IS NOT NULL)::int + (acked_at IS NOT NULL)::int * 2 + (over_at IS NOT"
    "  NULL)::int * 4), 0)::bigint FROM (SELECT * FROM alert WHERE app_id = a.app_id ORDER BY alert_id DESC LIMIT 50) newest)"
    " FROM unnest($1::int[]) WITH ORDINALITY AS a (app_id, place)"
    " LEFT JOIN (SELECT app_id, sum(events)::bigint AS events FROM arrival_day WHERE slot = ANY ($2::smallint[]) AND day > $3"
    "  AND app_id = ANY ($1) GROUP BY app_id) came USING (app_id) ORDER BY place";
/* clang-format on */

int rows_news_read(struct news *out, struct pg_tx *tx, const int32_t *apps, size_t count)
{
    struct pg_rows *rows MIRE_SCOPED(pg_rows_free) = NULL;
    int rc =
        pg_query(&rows, tx, news_sql, PG_INT4S(apps, count), SLOT_PARAM, PG_DAY(clock_day(clock_wall_us()) - DAYS));

    for (size_t i = 0; !rc && i < count; i++)
        out[i] = (struct news){pg_int(rows, i, 0), pg_int(rows, i, 1), pg_int(rows, i, 2)};
    return rc;
}

bool news_are_same(const struct news *a, const struct news *b)
{
    return a->acts == b->acts && a->data == b->data && a->alerts == b->alerts;
}
