/* symbol_list.c - which debug files reports miss, and which are there. */

#include "rows/symbol_list.h"
#include "rows/view_sql.h"

int rows_missing_read(struct missing_row **out, size_t *count, struct pg_tx *tx, struct arena *arena, int32_t app,
                      int64_t most)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx,
                      "SELECT i.build_id, i.name, i.arch, l.reports, l.names, i.first_seen, i.looks,"
                      " nullif(i.look_at, 'infinity'), i.answer, i.version, i.build, i.defect"
                      " FROM (SELECT build_id, count(*) AS reports, count(*) FILTER (WHERE had = 'names') AS names"
                      "  FROM missing_debug_file WHERE app_id = $1 AND had <> 'lines' GROUP BY build_id) l JOIN image "
                      "i USING (build_id)"
                      " ORDER BY l.reports - l.names DESC, l.reports DESC, i.name, i.build_id LIMIT $2",
                      PG_INT4(app), PG_INT8(most));
    if (rc)
        return rc;
    *count = pg_row_count(rows);
    *out = arena_array(arena, *count, sizeof **out);
    for (size_t i = 0; *out && i < *count; i++) {
        struct pg_bytes id = pg_bytes(rows, i, 0);
        (*out)[i] = (struct missing_row){.build_id = arena_alloc(arena, 2 * id.len + 1),
                                         .name = arena_strdup(arena, pg_text(rows, i, 1)),
                                         .arch = arena_strdup(arena, pg_text(rows, i, 2)),
                                         .reports = pg_int(rows, i, 3),
                                         .reports_with_names = pg_int(rows, i, 4),
                                         .first_seen_us = pg_time(rows, i, 5),
                                         .looks = pg_int(rows, i, 6),
                                         .look_at_us = pg_time(rows, i, 7),
                                         .answer = arena_strdup(arena, pg_text(rows, i, 8)),
                                         .version = arena_strdup(arena, pg_text(rows, i, 9)),
                                         .build = arena_strdup(arena, pg_text(rows, i, 10)),
                                         .defect = arena_strdup(arena, pg_text(rows, i, 11))};
        struct missing_row *row = &(*out)[i];
        if (!row->build_id || !row->name || !row->arch || !row->answer || !row->version || !row->build || !row->defect)
            return MIRE_FAULT_MEMORY;
        hex_format(row->build_id, id.bytes, id.len);
    }
    return *out ? 0 : MIRE_FAULT_MEMORY;
}

int rows_symbol_files_read(struct symbol_row **out, size_t *count, struct symbol_sum *sum, struct pg_tx *tx,
                           struct arena *arena, int32_t app, int64_t most)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx,
                      "SELECT build_id, kind, arch, name, size_bytes, uploaded_at, source, count(*) OVER (),"
                      " sum(size_bytes) OVER ()::int8, defect, depth, last_hash <> hash FROM symbol_file"
                      " WHERE app_id IN ($2, 0) ORDER BY uploaded_at DESC, build_id, kind, app_id LIMIT $1",
                      PG_INT8(most), PG_INT4(app));
    if (rc)
        return rc;
    *count = pg_row_count(rows);
    *sum = *count ? (struct symbol_sum){pg_int(rows, 0, 7), pg_int(rows, 0, 8)} : (struct symbol_sum){0, 0};
    *out = arena_array(arena, *count, sizeof **out);
    for (size_t i = 0; *out && i < *count; i++) {
        struct pg_bytes id = pg_bytes(rows, i, 0);
        (*out)[i] = (struct symbol_row){.build_id = arena_alloc(arena, 2 * id.len + 1),
                                        .kind = arena_strdup(arena, pg_text(rows, i, 1)),
                                        .arch = arena_strdup(arena, pg_text(rows, i, 2)),
                                        .name = arena_strdup(arena, pg_text(rows, i, 3)),
                                        .size_bytes = pg_int(rows, i, 4),
                                        .came_us = pg_time(rows, i, 5),
                                        .source = arena_strdup(arena, pg_text(rows, i, 6)),
                                        .defect = arena_strdup(arena, pg_text(rows, i, 9)),
                                        .depth = arena_strdup(arena, pg_text(rows, i, 10)),
                                        .second = pg_bool(rows, i, 11)};
        struct symbol_row *row = &(*out)[i];
        if (!row->build_id || !row->kind || !row->arch || !row->name || !row->source || !row->defect || !row->depth)
            return MIRE_FAULT_MEMORY;
        hex_format(row->build_id, id.bytes, id.len);
    }
    return *out ? 0 : MIRE_FAULT_MEMORY;
}
