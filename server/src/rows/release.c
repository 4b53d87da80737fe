/* release.c - see release.h. */
#include "rows/release.h"

#include "base/fault.h"

static const char *keep(bool *failed, struct arena *arena, const struct pg_rows *rows, size_t row, int column)
{
    const char *text = arena_strdup(arena, pg_text(rows, row, column));

    *failed |= !text;
    return text;
}

int rows_release_put(struct pg_tx *tx, int32_t app, const struct release_row *row)
{
    return pg_query(NULL, tx,
                    "INSERT INTO release_mark (app_id, version, environment, commit, released_at, made_by)"
                    " VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (app_id, version, environment) DO UPDATE"
                    " SET commit = excluded.commit, released_at = excluded.released_at, made_by = excluded.made_by,"
                    " made_at = excluded.made_at",
                    PG_INT4(app), PG_TEXT(row->version), PG_TEXT(row->environment), PG_TEXT(row->commit),
                    PG_TIME(row->at_us), PG_TEXT(row->made_by));
}

int rows_release_list(struct release_row **out, size_t *count, struct pg_tx *tx, struct arena *arena, int32_t app)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc =
        pg_query(&rows, tx,
                 "SELECT version, environment, commit, made_by, released_at, (SELECT count(*) FROM release_commit c"
                 "  WHERE c.app_id = m.app_id AND c.version = m.version) FROM release_mark m WHERE app_id = $1"
                 " ORDER BY released_at DESC, version COLLATE \"C\", environment COLLATE \"C\" LIMIT $2",
                 PG_INT4(app), PG_INT8(MIRE_RELEASES_MAX));
    bool failed = false;

    if (rc)
        return rc;
    *count = pg_row_count(rows);
    *out = arena_array(arena, *count + 1, sizeof **out);
    for (size_t i = 0; *out && i < *count; i++)
        (*out)[i] = (struct release_row){.version = keep(&failed, arena, rows, i, 0),
                                         .environment = keep(&failed, arena, rows, i, 1),
                                         .commit = keep(&failed, arena, rows, i, 2),
                                         .made_by = keep(&failed, arena, rows, i, 3),
                                         .at_us = pg_time(rows, i, 4),
                                         .commits = pg_int(rows, i, 5)};
    return *out && !failed ? 0 : MIRE_FAULT_MEMORY;
}

int rows_release_commits_put(struct pg_tx *tx, struct arena *arena, int32_t app, const char *version,
                             const struct release_commit *commits, size_t count)
{
    const char **texts = arena_array(arena, 4 * count + 1, sizeof *texts);
    int64_t *times = arena_array(arena, count + 1, sizeof *times);

    if (!texts || !times)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < count; i++) {
        texts[i] = commits[i].commit;
        texts[count + i] = commits[i].author;
        texts[2 * count + i] = commits[i].subject;
        texts[3 * count + i] = commits[i].files;
        times[i] = commits[i].at_us;
    }
    int rc = pg_query(NULL, tx, "DELETE FROM release_commit WHERE app_id = $1 AND version = $2", PG_INT4(app),
                      PG_TEXT(version));
    if (rc || !count)
        return rc;
    return pg_query(NULL, tx,
                    "INSERT INTO release_commit (app_id, version, place, commit, author, subject, files, committed_at)"
                    " SELECT $1, $2, n - 1, c, a, s, f, t FROM unnest($3::text[], $4::text[], $5::text[], $6::text[],"
                    " $7::timestamptz[]) WITH ORDINALITY AS given (c, a, s, f, t, n)",
                    PG_INT4(app), PG_TEXT(version), PG_TEXTS(texts, count), PG_TEXTS(texts + count, count),
                    PG_TEXTS(texts + 2 * count, count), PG_TEXTS(texts + 3 * count, count), PG_TIMES(times, count));
}

int rows_release_commits_read(struct release_commit **out, size_t *count, struct pg_tx *tx, struct arena *arena,
                              int32_t app, const char *version)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx,
                      "SELECT commit, author, subject, files, committed_at FROM release_commit"
                      " WHERE app_id = $1 AND version = $2 ORDER BY place",
                      PG_INT4(app), PG_TEXT(version));
    bool failed = false;

    if (rc)
        return rc;
    *count = pg_row_count(rows);
    *out = arena_array(arena, *count + 1, sizeof **out);
    for (size_t i = 0; *out && i < *count; i++)
        (*out)[i] = (struct release_commit){.commit = keep(&failed, arena, rows, i, 0),
                                            .author = keep(&failed, arena, rows, i, 1),
                                            .subject = keep(&failed, arena, rows, i, 2),
                                            .files = keep(&failed, arena, rows, i, 3),
                                            .at_us = pg_time(rows, i, 4)};
    return *out && !failed ? 0 : MIRE_FAULT_MEMORY;
}
