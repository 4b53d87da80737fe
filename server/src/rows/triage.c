/* triage.c - the statements behind triage.h. */
#include "rows/triage.h"

#include "base/fault.h"
#include "model/triage.h"
#include "model/version.h"
#include "rows/view_sql.h"

#include <string.h>

/* clang-format off */
/* The state of an issue as an act keeps it, and the way back. */
#define STATE_OF(t) \
    "jsonb_build_object('state', " t ".state, 'is_regressed', " t ".is_regressed, 'state_version', " t ".state_version," \
    " 'state_from_next', " t ".state_from_next, 'until_at', " t ".until_at, 'until_devices', " t ".until_devices," \
    " 'until_per_1000', " t ".until_per_1000, 'state_at', " t ".state_at)"
#define ASSIGNEE_OF(t) "jsonb_build_object('assignee', " t ".assignee)"

/*
 * An act has an issue's state, or assignee, before and after the change: of issues $2 of app $1. An issue is read, changed
 * and read again under its lock, for a change of this copied table cannot read events (README.md).
 */
#define READ(columns) \
    "SELECT issue_id, " columns("issue") "::text FROM issue WHERE app_id = $1 AND issue_id = ANY ($2) ORDER BY issue_id FOR UPDATE"
static const char read_state_sql[] = READ(STATE_OF);
static const char read_assignee_sql[] = READ(ASSIGNEE_OF);
static const char act_sql[] =
    "INSERT INTO issue_act (app_id, issue_id, batch_id, who, kind, before, after, body)"
    " VALUES ($1, $2, $3, $4, $5, $6::text::jsonb, $7::text::jsonb, $8)";
/* The issues among $2 that have events of version $3 already. */
static const char has_version_sql[] =
    "SELECT DISTINCT m.shown_id FROM (SELECT i AS shown_id, i AS issue_id FROM unnest($2::bigint[]) i"
    "  UNION SELECT shown_id, issue_id FROM issue_shown WHERE shown_id = ANY ($2)) m"
    " JOIN issue_hour e ON e.app_id = $1 AND e.issue_id = m.issue_id"
    " JOIN version v ON v.app_id = $1 AND v.version_id = e.version_id AND v.version = $3";
static const char state_sql[] =
    "UPDATE issue SET state = $3, is_regressed = false, state_version = $4, state_at = now(), state_from_next = false,"
    " until_at = now() + make_interval(secs => nullif($5::float8, 0)), until_devices = nullif($6::integer, 0),"
    " until_per_1000 = nullif($7::float8, 0) WHERE app_id = $1 AND issue_id = ANY ($2)";
static const char from_next_sql[] = "UPDATE issue SET state_from_next = true WHERE app_id = $1 AND issue_id = $2";
static const char assignee_sql[] = "UPDATE issue SET assignee = $3 WHERE app_id = $1 AND issue_id = ANY ($2)";
static const char open_sql[] =
    "UPDATE issue SET state = 'open', is_regressed = $2, state_version = $3, state_from_next = false, until_at = NULL,"
    " until_devices = NULL, until_per_1000 = NULL, state_at = now() WHERE issue_id = $1";

static const char undo_sql[] =
    "WITH u AS (UPDATE issue_act a SET undone_at = now(), undone_by = $3 WHERE app_id = $1 AND batch_id = $2 AND undone_at IS NULL"
    "  AND kind IN ('state', 'assigned') RETURNING a.issue_id, a.kind, a.before),"
    " s AS (UPDATE issue i SET state = r.state, is_regressed = r.is_regressed, state_version = r.state_version,"
    "  state_from_next = r.state_from_next, until_at = r.until_at, until_devices = r.until_devices,"
    "  until_per_1000 = r.until_per_1000, state_at = r.state_at"
    "  FROM u, jsonb_populate_record(NULL::issue, u.before) r WHERE u.kind = 'state' AND i.issue_id = u.issue_id)"
    " SELECT DISTINCT issue_id FROM u ORDER BY 1";
static const char undo_assignee_sql[] =
    "UPDATE issue i SET assignee = a.before->>'assignee' FROM issue_act a WHERE a.app_id = $1 AND a.batch_id = $2"
    " AND a.kind = 'assigned' AND i.issue_id = a.issue_id";
static const char moved_sql[] =
    "SELECT EXISTS (SELECT FROM issue_act a JOIN issue_act l ON l.issue_id = a.issue_id AND l.act_id > a.act_id AND l.undone_at IS NULL"
    "  AND (l.kind = 'assigned') = (a.kind = 'assigned') AND l.kind <> 'comment' AND l.batch_id <> a.batch_id"
    "  WHERE a.app_id = $1 AND a.batch_id = $2 AND a.undone_at IS NULL)";
/* clang-format on */

static int batch_next(int64_t *out, struct pg_tx *tx)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx, "SELECT nextval(pg_get_serial_sequence('issue_act', 'act_id'))");
    *out = rc ? 0 : pg_int(rows, 0, 0);
    return rc;
}

/* A change of some issues, as their acts have it. */
struct acted {
    int32_t app;
    int64_t batch;
    const char *kind, *who, *why;
    const int64_t *issues;
    size_t count;
    const char *read; /* statement for their number and state, or assignee */
};

static int read_issues(struct pg_rows **out, struct pg_tx *tx, const struct acted *change)
{
    return pg_query(out, tx, change->read, PG_INT4(change->app), PG_INT8S(change->issues, change->count));
}

/* Write the acts: the issues were `before`, and are what they are now. */
static int record(struct pg_tx *tx, const struct acted *change, const struct pg_rows *before)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *after = NULL;
    int rc = read_issues(&after, tx, change);

    for (size_t i = 0; !rc && i < pg_row_count(after); i++)
        rc = pg_query(NULL, tx, act_sql, PG_INT4(change->app), PG_INT8(pg_int(after, i, 0)), PG_INT8(change->batch),
                      PG_TEXT(change->who), PG_TEXT(change->kind), PG_TEXT(pg_text(before, i, 1)),
                      PG_TEXT(pg_text(after, i, 1)), PG_TEXT(change->why));
    return rc;
}

/* An issue that is resolved in a version of which there are events stays resolved for that version. */
static int mark_from_next(struct pg_tx *tx, const struct acted *change, const char *version)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx, has_version_sql, PG_INT4(change->app), PG_INT8S(change->issues, change->count),
                      PG_TEXT(version));

    for (size_t i = 0; !rc && i < pg_row_count(rows); i++)
        rc = pg_query(NULL, tx, from_next_sql, PG_INT4(change->app), PG_INT8(pg_int(rows, i, 0)));
    return rc;
}

static int set_state(struct pg_tx *tx, const struct triage_change *asked, const struct acted *change)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *before = NULL;
    int rc = read_issues(&before, tx, change);

    if (!rc && pg_row_count(before) != change->count)
        return TRIAGE_NONE;
    if (!rc)
        rc = pg_query(NULL, tx, state_sql, PG_INT4(change->app), PG_INT8S(change->issues, change->count),
                      PG_TEXT(asked->state), PG_TEXT(asked->version), PG_REAL((double)asked->for_s),
                      PG_INT8(asked->devices), PG_REAL(asked->per_1000));
    if (!rc && *asked->state == 'r')
        rc = mark_from_next(tx, change, asked->version);
    return rc ? rc : record(tx, change, before);
}

static int set_assignee(struct pg_tx *tx, const char *assignee, const struct acted *change)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *before = NULL;
    int rc = read_issues(&before, tx, change);

    if (!rc && pg_row_count(before) != change->count)
        return TRIAGE_NONE;
    if (!rc)
        rc = pg_query(NULL, tx, assignee_sql, PG_INT4(change->app), PG_INT8S(change->issues, change->count),
                      PG_TEXT(assignee));
    return rc ? rc : record(tx, change, before);
}

int rows_triage_set(int64_t *batch_out, struct pg_tx *tx, const struct triage_change *change, const int64_t *issues,
                    size_t count)
{
    int rc = batch_next(batch_out, tx);
    struct acted of = {.app = change->app,
                       .batch = *batch_out,
                       .who = change->who,
                       .why = change->why,
                       .issues = issues,
                       .count = count};

    of.kind = "state";
    of.read = read_state_sql;
    if (!rc && change->state)
        rc = set_state(tx, change, &of);
    of.kind = "assigned";
    of.read = read_assignee_sql;
    if (!rc && change->assignee)
        rc = set_assignee(tx, change->assignee, &of);
    return rc;
}

int rows_triage_undo(int64_t **issues_out, size_t *count, struct pg_tx *tx, struct arena *arena, int32_t app,
                     int64_t batch, const char *who)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *later = NULL;
    MIRE_SCOPED(pg_rows_free) struct pg_rows *undone = NULL;
    int rc = pg_query(NULL, tx,
                      "SELECT FROM issue WHERE issue_id IN (SELECT issue_id FROM issue_act WHERE app_id = $1 AND"
                      " batch_id = $2) ORDER BY issue_id FOR UPDATE",
                      PG_INT4(app), PG_INT8(batch));

    if (!rc)
        rc = pg_query(&later, tx, moved_sql, PG_INT4(app), PG_INT8(batch));
    if (!rc && pg_bool(later, 0, 0))
        return TRIAGE_MOVED;
    if (!rc)
        rc = pg_query(&undone, tx, undo_sql, PG_INT4(app), PG_INT8(batch), PG_TEXT(who));
    if (rc)
        return rc;
    *count = pg_row_count(undone);
    if (!*count)
        return TRIAGE_NONE;
    *issues_out = arena_array(arena, *count, sizeof **issues_out);
    if (!*issues_out)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < *count; i++)
        (*issues_out)[i] = pg_int(undone, i, 0);
    return pg_query(NULL, tx, undo_assignee_sql, PG_INT4(app), PG_INT8(batch));
}

/* Open an issue that is in this state; another transaction may have changed it meanwhile. */
static int open_again(struct pg_tx *tx, int64_t issue, const char *state, const char *kind, const char *version,
                      const char *why)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *found = NULL;
    MIRE_SCOPED(pg_rows_free) struct pg_rows *before = NULL;
    int rc = pg_query(&found, tx, "SELECT app_id FROM issue WHERE issue_id = $1 AND state = $2 FOR UPDATE",
                      PG_INT8(issue), PG_TEXT(state));

    if (rc || !pg_row_count(found))
        return rc;
    struct acted change = {.app = (int32_t)pg_int(found, 0, 0),
                           .kind = kind,
                           .who = "mire",
                           .why = why,
                           .issues = &issue,
                           .count = 1,
                           .read = read_state_sql};
    rc = batch_next(&change.batch, tx);
    if (!rc)
        rc = read_issues(&before, tx, &change);
    if (!rc)
        rc = pg_query(NULL, tx, open_sql, PG_INT8(issue), PG_BOOL(!strcmp(kind, "regressed")), PG_TEXT(version));
    return rc ? rc : record(tx, &change, before);
}

/* The reports of resolved and ignored issues: position in the list from 1, and the state. */
static const char seen_sql[] =
    "SELECT u.n, i.issue_id, i.state, i.state_version, i.state_from_next, coalesce(i.until_devices = 1, false)"
    " FROM unnest($2::bigint[], $3::integer[]) WITH ORDINALITY u (issue_id, tree, n)"
    " LEFT JOIN issue_shown part ON part.app_id = $1 AND part.issue_id = u.issue_id AND part.tree = u.tree"
    "  AND u.tree <> 0"
    " LEFT JOIN issue_shown whole ON whole.app_id = $1 AND whole.issue_id = u.issue_id AND whole.tree = 0"
    " JOIN issue i ON i.issue_id = coalesce(part.shown_id, whole.shown_id, u.issue_id) WHERE i.state <> 'open'"
    " ORDER BY 2, 1";

int rows_triage_seen(struct pg_tx *tx, struct arena *arena, int32_t app, const struct triage_report *reports,
                     size_t count)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int64_t *issues = arena_array(arena, count + 1, sizeof *issues), opened = 0;
    int32_t *trees = arena_array(arena, count + 1, sizeof *trees);

    if (!issues || !trees)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < count; i++) {
        issues[i] = reports[i].issue;
        trees[i] = reports[i].tree;
    }
    int rc = pg_query(&rows, tx, seen_sql, PG_INT4(app), PG_INT8S(issues, count), PG_INT4S(trees, count));
    for (size_t i = 0; !rc && i < pg_row_count(rows); i++) {
        const char *version = reports[pg_int(rows, i, 0) - 1].version;
        const struct triage triage = {
            .resolved = *pg_text(rows, i, 2) == 'r', .version = pg_text(rows, i, 3), .from_next = pg_bool(rows, i, 4)};
        bool until_next = pg_bool(rows, i, 5); /* ignored until one device had it: this one */
        if (pg_int(rows, i, 1) == opened || !(until_next || triage_opens(&triage, version)))
            continue;
        opened = pg_int(rows, i, 1);
        rc = open_again(tx, opened, pg_text(rows, i, 2), triage.resolved ? "regressed" : "returned", version,
                        until_next ? "1 devices" : version);
    }
    return rc;
}

int rows_triage_waiting(struct triage_waiting **out, size_t *count, struct pg_tx *tx, struct arena *arena)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc =
        pg_query(&rows, tx,
                 "SELECT app_id, issue_id, coalesce(until_at <= now(), false), state_at, coalesce(until_devices, 0),"
                 " coalesce(until_per_1000, 0) FROM issue WHERE state = 'ignored'"
                 " AND (until_at <= now() OR until_devices > 1 OR until_per_1000 IS NOT NULL)"
                 " ORDER BY issue_id");

    if (rc)
        return rc;
    *count = pg_row_count(rows);
    *out = arena_array(arena, *count + 1, sizeof **out);
    for (size_t i = 0; *out && i < *count; i++)
        (*out)[i] = (struct triage_waiting){.app = (int32_t)pg_int(rows, i, 0),
                                            .issue = pg_int(rows, i, 1),
                                            .is_over = pg_bool(rows, i, 2),
                                            .since_us = pg_time(rows, i, 3),
                                            .until_devices = pg_int(rows, i, 4),
                                            .until_per_1000 = pg_real(rows, i, 5)};
    return *out ? 0 : MIRE_FAULT_MEMORY;
}

/* clang-format off */
/* Reports that are shown as issue $2 of app $1 (a split tree counts where it is shown). */
#define SHOWN_REPORTS \
    "event e LEFT JOIN issue_shown p ON p.app_id = $1 AND p.issue_id = e.issue_id AND p.tree = e.tree AND p.tree <> 0" \
    " WHERE e.app_id = $1 AND e.issue_id IN (SELECT $2 UNION SELECT issue_id FROM issue_shown WHERE shown_id = $2)" \
    " AND coalesce(p.shown_id, $2) = $2"
/* clang-format on */

int rows_triage_devices(double *out, struct pg_tx *tx, const struct triage_waiting *waiting)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx,
                      "SELECT coalesce(sum(w), 0)::float8 FROM (SELECT max(weight) AS w FROM " SHOWN_REPORTS
                      " AND occurred_at >= $3 GROUP BY install) d",
                      PG_INT4(waiting->app), PG_INT8(waiting->issue), PG_TIME(waiting->since_us));
    *out = rc ? 0 : pg_real(rows, 0, 0);
    return rc;
}

int rows_triage_rate(double *per_1000_out, int64_t *reports_out, struct pg_tx *tx, const struct triage_waiting *waiting)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc =
        pg_query(&rows, tx,
                 "WITH d AS (SELECT (now() AT TIME ZONE 'UTC')::date - 1 AS day),"
                 " h AS (SELECT install, (occurred_at AT TIME ZONE 'UTC')::date AS on_day, max(weight) AS w,"
                 "  count(*) AS n FROM " SHOWN_REPORTS " AND occurred_at >= greatest($3, (SELECT day FROM d)::timestamp"
                 "  AT TIME ZONE 'UTC') GROUP BY 1, 2)"
                 " SELECT coalesce(1000 * (SELECT sum(w) FROM h) / nullif((SELECT sum(sessions) FROM session_day"
                 "  WHERE app_id = $1 AND slot = ANY ($4::smallint[]) AND day >= (SELECT day FROM d)), 0), 0)::float8,"
                 "  (SELECT coalesce(sum(n), 0)::bigint FROM h)",
                 PG_INT4(waiting->app), PG_INT8(waiting->issue), PG_TIME(waiting->since_us), SLOT_PARAM);
    *per_1000_out = rc ? 0 : pg_real(rows, 0, 0);
    *reports_out = rc ? 0 : pg_int(rows, 0, 1);
    return rc;
}

int rows_triage_return(struct pg_tx *tx, int64_t issue, const char *why)
{
    return open_again(tx, issue, "ignored", "returned", "", why);
}

int rows_comment_add(int64_t *act_out, struct pg_tx *tx, int32_t app, int64_t issue, const char *who, const char *text)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = batch_next(act_out, tx);

    if (!rc)
        rc = pg_query(&rows, tx,
                      "INSERT INTO issue_act (act_id, app_id, issue_id, batch_id, who, kind, body)"
                      " VALUES ($1, $2, $3, $1, $4, 'comment', $5)",
                      PG_INT8(*act_out), PG_INT4(app), PG_INT8(issue), PG_TEXT(who), PG_TEXT(text));
    return rc;
}

int rows_comment_remove(struct pg_tx *tx, int32_t app, int64_t issue, int64_t act, const char *who, const char *by)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc =
        pg_query(&rows, tx,
                 "UPDATE issue_act SET body = '', undone_at = now(), undone_by = $5 WHERE app_id = $1 AND act_id = $3"
                 " AND kind = 'comment' AND undone_at IS NULL AND ($4::text IS NULL OR who = $4)"
                 " AND issue_id IN (SELECT $2 UNION SELECT issue_id FROM issue_shown WHERE shown_id = $2)",
                 PG_INT4(app), PG_INT8(issue), PG_INT8(act), PG_TEXT(who), PG_TEXT(by));

    if (rc)
        return rc;
    return pg_touched(rows) ? TRIAGE_DONE : TRIAGE_NONE;
}

int rows_assignees_read(const char ***out, size_t *count, struct pg_tx *tx, struct arena *arena, int32_t app)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx,
                      "SELECT name FROM account a WHERE disabled_at IS NULL AND (is_server_admin OR EXISTS (SELECT FROM"
                      " member m WHERE m.account_id = a.account_id AND m.app_id IN ($1, 0))) ORDER BY name",
                      PG_INT4(app));

    if (rc)
        return rc;
    *count = pg_row_count(rows);
    *out = arena_array(arena, *count + 1, sizeof **out);
    for (size_t i = 0; *out && i < *count; i++)
        if (!((*out)[i] = arena_strdup(arena, pg_text(rows, i, 0))))
            return MIRE_FAULT_MEMORY;
    return *out ? 0 : MIRE_FAULT_MEMORY;
}

int rows_newest_version(const char **out, struct pg_tx *tx, struct arena *arena, int32_t app)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx, "SELECT DISTINCT version FROM version WHERE app_id = $1", PG_INT4(app));
    const char *newest = "";

    for (size_t i = 0; !rc && i < pg_row_count(rows); i++)
        if (!*newest || version_compare(pg_text(rows, i, 0), newest) > 0)
            newest = pg_text(rows, i, 0);
    *out = arena_strdup(arena, newest);
    return !rc && !*out ? MIRE_FAULT_MEMORY : rc;
}
