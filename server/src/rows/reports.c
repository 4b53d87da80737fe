/* reports.c - single reports of an issue, newest first: (occurred_at, report_id) is the order everywhere. */
#include "rows/reports.h"
#include "rows/rows.h"
#include "rows/view_sql.h"

#include <string.h>

#define ROW_COLUMNS                                                                                           \
    "report_id, received_at, occurred_at, duration_ms, open, version, os_version, arch, model, process_name," \
    " category, reason, install, coalesce(footprint_bytes, -1), coalesce(subject_bytes, -1), kept, os"
#define STACKS_BATCH 200

static int row_fill(struct report_row *r, struct arena *arena, const struct pg_rows *rows, size_t row)
{
    const char **texts[] = {&r->version, &r->os_version, &r->arch, &r->model, &r->process, &r->category, &r->reason};
    struct pg_bytes install = pg_bytes(rows, row, 12);

    r->id = pg_uuid(rows, row, 0);
    r->received_us = pg_time(rows, row, 1);
    r->occurred_us = pg_time(rows, row, 2);
    r->duration_ms = pg_int(rows, row, 3);
    r->open = pg_bool(rows, row, 4);
    r->footprint_bytes = pg_int(rows, row, 13);
    r->subject_bytes = pg_int(rows, row, 14);
    r->kept = pg_bool(rows, row, 15);
    for (int i = 0; i < 7; i++)
        if (!(*texts[i] = arena_strdup(arena, pg_text(rows, row, 5 + i))))
            return MIRE_FAULT_MEMORY;
    hex_format(r->install, install.bytes, install.len > 16 ? 16 : install.len);
    r->os = arena_strdup(arena, pg_text(rows, row, 16));
    return r->os ? 0 : MIRE_FAULT_MEMORY;
}

static int rows_fill(struct report_row **out, size_t *count, struct arena *arena, const struct pg_rows *rows)
{
    *count = pg_row_count(rows);
    *out = arena_array(arena, *count, sizeof **out);
    for (size_t i = 0; i < *count; i++)
        if (!*out || row_fill(&(*out)[i], arena, rows, i) != 0)
            return MIRE_FAULT_MEMORY;
    return 0;
}

/* clang-format off */
#define BEHIND " AND kept AND ($8::uuid IS NULL OR (occurred_at, report_id) < ($7, $8)) ORDER BY occurred_at DESC, report_id DESC LIMIT "
#define REPORTS(which) \
    "SELECT " ROW_COLUMNS " FROM event JOIN version USING (version_id, app_id) WHERE " EVENT_IN_VIEW which("6") BEHIND "$9"
#define PLACE_PARAMS(from) PG_TIME((from)->after_us), (from)->after_us ? PG_UUID(&(from)->after) : PG_NULL()
/* clang-format on */

int rows_reports_read(struct report_row **out, size_t *count, struct pg_tx *tx, struct arena *arena,
                      const struct view *view, int64_t issue, const struct report_place *from, int limit)
{
    struct pg_rows *rows MIRE_SCOPED(pg_rows_free) = NULL;
    int rc = pg_query(&rows, tx, OF_ISSUE(view, REPORTS), VIEW_PARAMS(view), PG_INT8(issue), PLACE_PARAMS(from),
                      PG_INT8(limit));

    return rc ? rc : rows_fill(out, count, arena, rows);
}

/*
 * The reports looked at are the newest of one index: of the user, of the issue, or of the app. The other conditions are
 * asked of these alone, so that no rare value makes a query read on.
 */
#define LOOKED_AT(of) "FROM event WHERE " EVENT_IN_VIEW of BEHIND
/* clang-format off */
#define OF_ANY(p) " AND $" p "::bigint = 0"
#define OF_USER " AND user_hash IS NOT NULL AND user_hash = $10"
#define FOUND(of, which) \
    "SELECT " ROW_COLUMNS " FROM (SELECT * " LOOKED_AT(of) "$9) e JOIN version USING (version_id, app_id) WHERE ($10::bytea IS NULL" \
    " OR user_hash = $10) AND ($11::text = '' OR scene = $11) AND ($12::text = '' OR $12 = ANY (tags))" which("6") \
    " ORDER BY occurred_at DESC, report_id DESC LIMIT $13"
#define LAST(of) "SELECT occurred_at, report_id " LOOKED_AT(of) "1 OFFSET $9 - 1"
#define FOUND_BY(which) {FOUND(which("6"), which), FOUND(OF_USER, which)}
#define LAST_BY(which) {LAST(which("6") " AND $10::bytea IS NULL"), LAST(OF_USER)}
enum { OF_ONE_ISSUE, OF_MANY_ISSUES, OF_NO_ISSUE };
static const char *const found_sql[3][2] = {FOUND_BY(ISSUE_ALONE), FOUND_BY(ISSUE_MANY), FOUND_BY(OF_ANY)};
static const char *const last_sql[3][2] = {LAST_BY(ISSUE_ALONE), LAST_BY(ISSUE_MANY), LAST_BY(OF_ANY)};
/* clang-format on */

int rows_reports_find(struct report_row **out, size_t *count, struct report_place *end_out, struct pg_tx *tx,
                      struct arena *arena, const struct view *view, int64_t issue, const struct report_wanted *wanted,
                      const struct report_place *from, int limit)
{
    struct pg_rows *rows MIRE_SCOPED(pg_rows_free) = NULL, *last MIRE_SCOPED(pg_rows_free) = NULL;
    int of = !issue ? OF_NO_ISSUE : view->many ? OF_MANY_ISSUES : OF_ONE_ISSUE;
    struct pg_param user = wanted->has_user ? PG_BYTES(wanted->user_hash, MIRE_USER_HASH) : PG_NULL();
    int rc =
        pg_query(&rows, tx, found_sql[of][wanted->has_user], VIEW_PARAMS(view), PG_INT8(issue), PLACE_PARAMS(from),
                 PG_INT8(MIRE_REPORTS_LOOKED_AT), user, PG_TEXT(wanted->scene), PG_TEXT(wanted->tag), PG_INT8(limit));

    *end_out = (struct report_place){0};
    if (!rc)
        rc = rows_fill(out, count, arena, rows);
    if (!rc && *count < (size_t)limit)
        rc = pg_query(&last, tx, last_sql[of][wanted->has_user], VIEW_PARAMS(view), PG_INT8(issue), PLACE_PARAMS(from),
                      PG_INT8(MIRE_REPORTS_LOOKED_AT), user);
    if (!rc && last && pg_row_count(last))
        *end_out = (struct report_place){pg_time(last, 0, 0), pg_uuid(last, 0, 1)};
    return rc;
}

#define KEPT(which) \
    "SELECT count(*) FROM (SELECT 1 FROM event WHERE " EVENT_IN_VIEW which("6") " AND kept LIMIT $7) counted"

int rows_reports_kept_read(int64_t *out, struct pg_tx *tx, const struct view *view, int64_t issue)
{
    struct pg_rows *rows MIRE_SCOPED(pg_rows_free) = NULL;
    int rc =
        pg_query(&rows, tx, OF_ISSUE(view, KEPT), VIEW_PARAMS(view), PG_INT8(issue), PG_INT8(ROWS_REPORTS_COUNTED));

    *out = rc ? 0 : pg_int(rows, 0, 0);
    return rc;
}

/* clang-format off */
#define PICK(which, where, order) \
    "SELECT " ROW_COLUMNS " FROM event JOIN version USING (version_id, app_id) WHERE " EVENT_IN_VIEW which("6") where \
    " ORDER BY " order " LIMIT 1"
#define PICKS(which) { \
    [ROWS_LATEST] = PICK(which, " AND kept", "occurred_at DESC, report_id DESC"), \
    [ROWS_FIRST] = PICK(which, " AND kept", "occurred_at, report_id"), \
    [ROWS_WORST] = PICK(which, " AND kept", "duration_ms DESC, footprint_bytes DESC NULLS LAST, occurred_at DESC, report_id DESC"), \
    [ROWS_BY_ID] = PICK(which, " AND slot = $7 AND report_id = $8", "report_id"), \
}
static const char *const pick_sql[2][4] = {PICKS(ISSUE_ALONE), PICKS(ISSUE_MANY)};
#define NEIGHBOUR(which, sign, direction) \
    " LEFT JOIN (SELECT report_id FROM event WHERE " EVENT_IN_VIEW which("6") " AND kept AND (occurred_at, report_id) " sign \
    " ($7, $8) ORDER BY occurred_at " direction ", report_id " direction " LIMIT 1) "
#define PLACE(which) \
    "SELECT total, place, newer.report_id, older.report_id, reports FROM (SELECT count(*) FILTER (WHERE kept) AS total," \
    " count(*) FILTER (WHERE kept AND (occurred_at, report_id) > ($7, $8)) AS place, count(*) AS reports" \
    " FROM event WHERE " EVENT_IN_VIEW which("6") ") counted" \
    NEIGHBOUR(which, ">", "ASC") "newer ON true" NEIGHBOUR(which, "<", "DESC") "older ON true"
/* clang-format on */

int rows_report_read(struct report_position *out, struct pg_tx *tx, struct arena *arena, const struct view *view,
                     int64_t issue, enum rows_pick pick, const struct uuid *id)
{
    struct pg_rows *rows MIRE_SCOPED(pg_rows_free) = NULL;
    struct pg_rows *location MIRE_SCOPED(pg_rows_free) = NULL;
    int rc = pick == ROWS_BY_ID ? pg_query(&rows, tx, pick_sql[view->many][pick], VIEW_PARAMS(view), PG_INT8(issue),
                                           PG_INT2(uuid_slot(id)), PG_UUID(id))
                                : pg_query(&rows, tx, pick_sql[view->many][pick], VIEW_PARAMS(view), PG_INT8(issue));

    memset(out, 0, sizeof *out);
    if (rc != 0)
        return rc;
    if (pg_row_count(rows) == 0)
        return READ_NONE;
    rc = row_fill(&out->row, arena, rows, 0);
    if (rc == 0)
        rc = pg_query(&location, tx, OF_ISSUE(view, PLACE), VIEW_PARAMS(view), PG_INT8(issue),
                      PG_TIME(out->row.occurred_us), PG_UUID(&out->row.id));
    if (rc != 0)
        return rc;
    out->total = pg_int(location, 0, 0);
    out->position = pg_int(location, 0, 1) + 1;
    out->has_newer = !pg_is_null(location, 0, 2);
    out->newer = pg_uuid(location, 0, 2);
    out->has_older = !pg_is_null(location, 0, 3);
    out->older = pg_uuid(location, 0, 3);
    out->reports = pg_int(location, 0, 4);
    return 0;
}

/* clang-format off */
#define STACKS(which) \
    "SELECT h.weight, s.document, h.occurred_at, h.report_id FROM (SELECT slot, day, report_id, weight, occurred_at" \
    "  FROM event WHERE " EVENT_IN_VIEW which("6") \
    "  AND kept AND (occurred_at, report_id) < ($7, $8) AND ($9::uuid IS NULL OR report_id = $9)" \
    "  ORDER BY occurred_at DESC, report_id DESC LIMIT $10) h" \
    " LEFT JOIN event_stack s USING (slot, day, report_id) ORDER BY occurred_at DESC, report_id DESC"
/* clang-format on */

int rows_stacks_read(struct pg_tx *tx, const struct view *view, int64_t issue, const struct uuid *one, int limit,
                     read_take take, void *context)
{
    int64_t last_us = INT64_MAX / 4;
    struct uuid last = {{0}};

    while (limit > 0) {
        struct pg_rows *rows MIRE_SCOPED(pg_rows_free) = NULL;
        int batch = limit < STACKS_BATCH ? limit : STACKS_BATCH;
        int rc = pg_query(&rows, tx, OF_ISSUE(view, STACKS), VIEW_PARAMS(view), PG_INT8(issue), PG_TIME(last_us),
                          PG_UUID(&last), one ? PG_UUID(one) : PG_NULL(), PG_INT8(batch));
        size_t got = rc == 0 ? pg_row_count(rows) : 0;
        for (size_t i = 0; rc == 0 && i < got; i++) {
            struct pg_bytes document = pg_bytes(rows, i, 1);
            rc = take(context, pg_real(rows, i, 0), document.bytes, document.len);
        }
        if (rc != 0 || got < (size_t)batch)
            return rc;
        last_us = pg_time(rows, got - 1, 2);
        last = pg_uuid(rows, got - 1, 3);
        limit -= batch;
    }

    return 0;
}
