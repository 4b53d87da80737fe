/* idle.c - the statements behind idle.h. */
#include "rows/idle.h"

#include "base/fault.h"
#include "rows/known.h"
#include "rows/rekey_due.h"
#include "rows/view_sql.h"

#include <string.h>

#define ISSUES_OF_APP "7118, $1"

int rows_idle_share(struct pg_tx *tx, int32_t app)
{
    return pg_query(NULL, tx, "SELECT pg_advisory_xact_lock_shared(" ISSUES_OF_APP ")", PG_INT4(app));
}

int rows_idle_alone(struct pg_tx *tx, int32_t app)
{
    return pg_query(NULL, tx, "SELECT pg_advisory_xact_lock(" ISSUES_OF_APP ")", PG_INT4(app));
}

int rows_idle_apps(struct idle_app **out, size_t *count, struct pg_tx *tx, struct arena *arena)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx, "SELECT app_id, slug, idle FROM app WHERE idle <> 'keep' ORDER BY app_id");
    if (rc)
        return rc;
    *count = pg_row_count(rows);
    *out = arena_array(arena, *count + 1, sizeof **out);
    for (size_t i = 0; *out && i < *count; i++) {
        (*out)[i] = (struct idle_app){(int32_t)pg_int(rows, i, 0), arena_strdup(arena, pg_text(rows, i, 1)),
                                      arena_strdup(arena, pg_text(rows, i, 2))};
        if (!(*out)[i].slug || !(*out)[i].idle)
            return MIRE_FAULT_MEMORY;
    }
    return *out ? 0 : MIRE_FAULT_MEMORY;
}

/* clang-format off */
/* Issues that are shown as themselves, with all their trees, and were touched by nobody for $3 days. */
#define UNTOUCHED \
    "(i.state = 'open' OR $4) AND i.first_seen < now() - $3 * interval '1 day'" \
    " AND coalesce(i.state_at < now() - $3 * interval '1 day', true)" \
    " AND NOT EXISTS (SELECT FROM issue_shown s WHERE s.app_id = $1 AND s.issue_id = i.issue_id AND (s.tree <> 0 OR s.shown_id <> i.issue_id))" \
    " AND NOT (i.caller1 = $5 AND i.caller2 = '')"
static const char page_sql[] =
    "SELECT i.issue_id, " UNTOUCHED " FROM issue i WHERE i.app_id = $1 AND i.issue_id > $2 AND i.gone_to IS NULL"
    " ORDER BY i.issue_id LIMIT $6";
static const char still_sql[] =
    "SELECT i.issue_id FROM issue i WHERE i.app_id = $1 AND i.issue_id = ANY ($2) AND i.gone_to IS NULL AND " UNTOUCHED
    " ORDER BY i.issue_id FOR UPDATE OF i";
/*
 * Of the issues $2 those with a counter, or a report, of the last $3 days among them or the issues shown as them; with
 * $4 a report of any time is enough.
 */
#define SHOWN_AS(table, when) \
    "SELECT coalesce(s.shown_id, h.issue_id) FROM " table " h LEFT JOIN issue_shown s ON s.app_id = $1 AND s.issue_id = h.issue_id" \
    " AND s.tree = 0 WHERE h.app_id = $1 AND (h.issue_id = ANY ($2) OR h.issue_id IN (SELECT issue_id FROM issue_shown" \
    " WHERE shown_id = ANY ($2))) AND " when " >= now() - $3 * interval '1 day'"
static const char live_sql[] =
    SHOWN_AS("issue_hour", "h.hour") " UNION " SHOWN_AS("event", "($4 OR h.occurred_at") ")";
/* clang-format on */

static int drop_live(int64_t *issues, size_t *count, struct pg_tx *tx, int32_t app, int32_t days, bool any_report)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *live = NULL;
    int rc = pg_query(&live, tx, live_sql, PG_INT4(app), PG_INT8S(issues, *count), PG_INT4(days), PG_BOOL(any_report));
    size_t left = 0;

    for (size_t i = 0; !rc && i < *count; i++) {
        bool is_live = false;
        for (size_t k = 0; k < pg_row_count(live); k++)
            is_live |= pg_int(live, k, 0) == issues[i];
        if (!is_live)
            issues[left++] = issues[i];
    }
    *count = left;
    return rc;
}

int rows_idle_issues(int64_t **out, size_t *count, int64_t *from, struct pg_tx *tx, struct arena *arena,
                     const struct idle_app *app, int32_t days)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    bool deletes = !strcmp(app->idle, "delete");
    int rc = pg_query(&rows, tx, page_sql, PG_INT4(app->app), PG_INT8(*from), PG_INT4(days), PG_BOOL(deletes),
                      PG_TEXT(MIRE_KNOWN_OTHER), PG_INT8(MIRE_IDLE_PAGE));
    if (rc)
        return rc;
    size_t looked = pg_row_count(rows);
    *count = 0;
    *out = arena_array(arena, looked + 1, sizeof **out);
    if (!*out)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < looked; i++)
        if (pg_bool(rows, i, 1))
            (*out)[(*count)++] = pg_int(rows, i, 0);
    *from = looked == MIRE_IDLE_PAGE ? pg_int(rows, looked - 1, 0) : 0;
    return *count ? drop_live(*out, count, tx, app->app, days, deletes) : 0;
}

int rows_idle_still(int64_t *issues, size_t *count, struct pg_tx *tx, const struct idle_app *app, int32_t days)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    bool deletes = !strcmp(app->idle, "delete");
    int rc = pg_query(&rows, tx, still_sql, PG_INT4(app->app), PG_INT8S(issues, *count), PG_INT4(days),
                      PG_BOOL(deletes), PG_TEXT(MIRE_KNOWN_OTHER));
    if (rc)
        return rc;
    *count = pg_row_count(rows); /* some of these issues */
    for (size_t i = 0; i < *count; i++)
        issues[i] = pg_int(rows, i, 0);
    return *count ? drop_live(issues, count, tx, app->app, days, deletes) : 0;
}

int rows_idle_kind(struct issue_row *out, struct pg_tx *tx, struct arena *arena, int32_t app, int64_t issue)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx,
                      "SELECT category, subject, rules_version, first_seen, first_version_id FROM issue"
                      " WHERE app_id = $1 AND issue_id = $2",
                      PG_INT4(app), PG_INT8(issue));
    if (rc)
        return rc;
    if (!pg_row_count(rows))
        return MIRE_FAULT_RACED;
    *out = (struct issue_row){.app_id = app,
                              .category = arena_strdup(arena, pg_text(rows, 0, 0)),
                              .subject = arena_strdup(arena, pg_text(rows, 0, 1)),
                              .rules_version = (int32_t)pg_int(rows, 0, 2),
                              .first_seen_us = pg_time(rows, 0, 3),
                              .first_version_id = pg_int(rows, 0, 4)};
    return out->category && out->subject ? 0 : MIRE_FAULT_MEMORY;
}

int rows_idle_delete(struct pg_tx *tx, struct arena *arena, int32_t app, int64_t issue, int64_t other)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx,
                      "SELECT i FROM unnest(ARRAY[$2::bigint]) i UNION SELECT issue_id FROM issue_shown"
                      " WHERE app_id = $1 AND shown_id = $2 ORDER BY 1",
                      PG_INT4(app), PG_INT8(issue));
    for (size_t i = 0; !rc && i < pg_row_count(rows); i++) {
        int left = rows_issue_leave(tx, arena, app, pg_int(rows, i, 0), other);
        rc = left < 0 ? left : 0;
        if (left > 0)
            rc = pg_query(NULL, tx, "DELETE FROM issue_tree WHERE app_id = $1 AND issue_id = $2", PG_INT4(app),
                          PG_INT8(pg_int(rows, i, 0)));
    }
    return rc;
}

/* clang-format off */
/* Versions with reports or sessions of the last $2 days. */
static const char versions_sql[] =
    "SELECT version_id FROM version_hour WHERE app_id = $1 AND slot = ANY ($3::smallint[]) AND hour >= now() - $2 * interval '1 day'"
    " UNION SELECT version_id FROM session_day WHERE app_id = $1 AND slot = ANY ($3::smallint[]) AND day >= current_date - $2";
/* clang-format on */

/* Change versions of which `sql` says so, by $2: the ids of versions in use. */
static int with_live(struct pg_rows **out, const char *sql, struct pg_tx *tx, int32_t app, int32_t days)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *live = NULL;
    MIRE_SCOPED(arena_fini) struct arena arena;
    arena_init(&arena, 8u << 20);
    int rc = pg_query(&live, tx, versions_sql, PG_INT4(app), PG_INT4(days), SLOT_PARAM);
    size_t count = rc ? 0 : pg_row_count(live);
    int64_t *ids = arena_array(&arena, count + 1, sizeof *ids);
    if (rc || !ids)
        return rc ? rc : MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < count; i++)
        ids[i] = pg_int(live, i, 0);
    return pg_query(out, tx, sql, PG_INT4(app), PG_INT8S(ids, count), PG_INT4(days));
}

#define IS_IDLE "app_id = $1 AND version_id <> ALL ($2) AND first_seen < now() - $3 * interval '1 day'"

int rows_idle_versions(int64_t *archived_out, struct pg_tx *tx, int32_t app, int32_t days)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *changed = NULL;
    int rc = with_live(&changed,
                       "UPDATE version SET archived = NOT archived WHERE app_id = $1 AND archived <> (" IS_IDLE
                       ") RETURNING archived::integer",
                       tx, app, days);
    *archived_out = 0;
    for (size_t i = 0; !rc && i < pg_row_count(changed); i++)
        *archived_out += pg_int(changed, i, 0);
    return rc;
}

int rows_idle_versions_count(int64_t *out, struct pg_tx *tx, int32_t app, int32_t days)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = with_live(&rows, "SELECT count(*) FROM version WHERE NOT archived AND " IS_IDLE, tx, app, days);
    *out = rc ? 0 : pg_int(rows, 0, 0);
    return rc;
}
