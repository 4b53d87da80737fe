/*
 * symbol.c - the statements behind symbol.h.
 */
#include "rows/symbol.h"

#include "base/bytes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define LEVEL 3

static const char *kind(bool debug)
{
    return debug ? "debug" : "symtab";
}

int rows_symbol_find(struct symbol_info *out, struct pg_tx *tx, int32_t app_id, struct pg_bytes build_id)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx,
                      "SELECT kind = 'debug', size_bytes, build_id, hash, app_id, used_on < current_date - 6"
                      " FROM symbol_file WHERE app_id IN ($2, 0)"
                      " AND (build_id = $1 OR build_id = (SELECT build_id FROM symbol_alias WHERE alias = $1))"
                      " ORDER BY kind, app_id = 0 LIMIT 1",
                      PG_BYTES(build_id.bytes, build_id.len), PG_INT4(app_id));
    if (rc || !pg_row_count(rows))
        return rc;
    struct pg_bytes id = pg_bytes(rows, 0, 2), hash = pg_bytes(rows, 0, 3);
    *out = (struct symbol_info){.debug = pg_bool(rows, 0, 0),
                                .size_bytes = pg_int(rows, 0, 1),
                                .app_id = (int32_t)pg_int(rows, 0, 4),
                                .is_unused = pg_bool(rows, 0, 5)};
    memcpy(out->hash, hash.bytes, sizeof out->hash); /* the table holds no other length */
    out->contents_id = load_64(out->hash);
    out->contents_id += !out->contents_id;
    out->id_len = id.len < sizeof out->id ? id.len : sizeof out->id;
    memcpy(out->id, id.bytes, out->id_len);
    return 1;
}

int rows_symbol_used(struct pg_tx *tx, const struct symbol_info *info)
{
    return pg_query(NULL, tx,
                    "UPDATE symbol_file SET used_on = current_date WHERE (build_id, kind, app_id) IN (SELECT build_id,"
                    " kind, app_id FROM symbol_file WHERE build_id = $1 AND kind = $2 AND app_id = $3"
                    " AND used_on < current_date FOR UPDATE SKIP LOCKED)",
                    PG_BYTES(info->id, info->id_len), PG_TEXT(kind(info->debug)), PG_INT4(info->app_id));
}

int rows_symbol_version(struct pg_tx *tx, struct pg_bytes build_id, const struct symbol_version *version)
{
    return pg_query(NULL, tx,
                    "INSERT INTO symbol_alias (alias, build_id, app_id, version, build) VALUES ($1, $2, $3, $4, $5)"
                    " ON CONFLICT (alias) DO UPDATE SET build_id = EXCLUDED.build_id",
                    PG_BYTES(version->alias.bytes, version->alias.len), PG_BYTES(build_id.bytes, build_id.len),
                    PG_INT4(version->app_id), PG_TEXT(version->version), PG_TEXT(version->build));
}

int rows_symbol_arrivals(int64_t *count_out, struct pg_tx *tx)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx, "SELECT arrivals + 1000000000000 * (current_date - '2000-01-01') FROM symbol_clock");
    if (!rc)
        *count_out = pg_row_count(rows) ? pg_int(rows, 0, 0) : 0;
    return rc;
}

int rows_symbol_piece(struct pg_rows **out, struct pg_tx *tx, struct pg_bytes hash, int32_t part)
{
    return pg_query(out, tx, "SELECT bytes FROM symbol_chunk WHERE hash = $1 AND part = $2",
                    PG_BYTES(hash.bytes, hash.len), PG_INT4(part));
}

/* The rank of a file by these columns; unknown for files of older servers. */
#define GOODNESS(table)                                                                                           \
    "(CASE WHEN " table ".defect = '' THEN 4 ELSE 0 END + CASE WHEN " table ".depth = 'names' THEN 1 WHEN " table \
    ".depth = 'lines' THEN 2 ELSE 3 END)"

/*
 * Sweeps of contents wait for none of those who store, and none of these for each other: the lock is held to the commit.
 */
#define STORING "7117, 4"

/* App and hash of an upload, as two parameters. */
#define UPLOAD(upload) PG_INT4((upload)->app_id), PG_BYTES((upload)->hash.bytes, (upload)->hash.len)

int rows_symbol_begin(struct pg_tx *tx, const struct symbol_file *file)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    struct pg_bytes id = file->build_id;
    int rc = pg_query(NULL, tx, "SELECT pg_advisory_xact_lock_shared(" STORING ")");
    if (!rc)
        rc =
            pg_query(&rows, tx,
                     "INSERT INTO symbol_file (build_id, kind, app_id, arch, name, size_bytes, hash, last_hash, defect,"
                     " depth) VALUES ($1, $2, $3, $4, $5, $6, $7, $7, $8, $9)"
                     " ON CONFLICT (build_id, kind, app_id) DO UPDATE SET arch = EXCLUDED.arch, name = EXCLUDED.name,"
                     " size_bytes = EXCLUDED.size_bytes, hash = EXCLUDED.hash, last_hash = EXCLUDED.hash,"
                     " defect = EXCLUDED.defect, depth = EXCLUDED.depth, uploaded_at = EXCLUDED.uploaded_at,"
                     " used_on = EXCLUDED.used_on"
                     " WHERE " GOODNESS("EXCLUDED") " >= " GOODNESS("symbol_file") " RETURNING 1",
                     PG_BYTES(id.bytes, id.len), PG_TEXT(kind(file->debug)), PG_INT4(file->app_id), PG_TEXT(file->arch),
                     PG_TEXT(file->name), PG_INT8(file->size_bytes), PG_BYTES(file->hash.bytes, file->hash.len),
                     PG_TEXT(file->defect), PG_TEXT(file->depth));
    if (rc || pg_row_count(rows))
        return rc;
    rc = pg_query(NULL, tx, "UPDATE symbol_file SET last_hash = $4 WHERE build_id = $1 AND kind = $2 AND app_id = $3",
                  PG_BYTES(id.bytes, id.len), PG_TEXT(kind(file->debug)), PG_INT4(file->app_id),
                  PG_BYTES(file->hash.bytes, file->hash.len));
    return rc ? rc : 1;
}

int rows_symbol_sweep(int64_t *deleted_out, struct pg_tx *tx, int32_t unused_days)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    MIRE_SCOPED(pg_rows_free) struct pg_rows *deleted = NULL;
    *deleted_out = 0;
    int rc = pg_query(&rows, tx, "SELECT pg_try_advisory_xact_lock(" STORING ")");
    if (rc || !pg_bool(rows, 0, 0))
        return rc;
    if (unused_days)
        rc = pg_query(&deleted, tx, "DELETE FROM symbol_file WHERE used_on < current_date - $1", PG_INT4(unused_days));
    if (rc)
        return rc;
    *deleted_out = deleted ? pg_touched(deleted) : 0;
    return pg_query(NULL, tx, "DELETE FROM symbol_chunk WHERE hash NOT IN (SELECT hash FROM symbol_file)");
}

#define FILE_COLUMNS \
    "SELECT build_id, kind = 'debug', arch, name, size_bytes, defect, depth, hash, app_id FROM symbol_file"

/* The first of the rows: 1, 0 there is none. */
static int take_file(struct symbol_file *out, struct arena *arena, const struct pg_rows *rows)
{
    if (!pg_row_count(rows))
        return 0;
    struct pg_bytes id = pg_bytes(rows, 0, 0), hash = pg_bytes(rows, 0, 7);
    *out = (struct symbol_file){.app_id = (int32_t)pg_int(rows, 0, 8),
                                .build_id = {arena_copy(arena, id.bytes, id.len), id.len},
                                .debug = pg_bool(rows, 0, 1),
                                .arch = arena_strdup(arena, pg_text(rows, 0, 2)),
                                .name = arena_strdup(arena, pg_text(rows, 0, 3)),
                                .size_bytes = pg_int(rows, 0, 4),
                                .hash = {arena_copy(arena, hash.bytes, hash.len), hash.len},
                                .defect = arena_strdup(arena, pg_text(rows, 0, 5)),
                                .depth = arena_strdup(arena, pg_text(rows, 0, 6))};
    return out->build_id.bytes && out->arch && out->name && out->hash.bytes && out->defect && out->depth
               ? 1
               : MIRE_FAULT_MEMORY;
}

int rows_symbol_by_hash(struct symbol_file *out, struct pg_tx *tx, struct arena *arena, int32_t app_id,
                        struct pg_bytes hash)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx, FILE_COLUMNS " WHERE hash = $1 AND app_id = $2 ORDER BY build_id, kind LIMIT 1",
                      PG_BYTES(hash.bytes, hash.len), PG_INT4(app_id));
    return rc ? rc : take_file(out, arena, rows);
}

int rows_symbol_there(struct symbol_file *out, struct pg_tx *tx, struct arena *arena, const struct symbol_file *like)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc =
        pg_query(&rows, tx, FILE_COLUMNS " WHERE build_id = $1 AND kind = $2 AND app_id = $3",
                 PG_BYTES(like->build_id.bytes, like->build_id.len), PG_TEXT(kind(like->debug)), PG_INT4(like->app_id));
    return rc ? rc : take_file(out, arena, rows);
}

int rows_symbol_take(struct pg_tx *tx, const struct symbol_upload *upload)
{
    return pg_query(NULL, tx,
                    "INSERT INTO symbol_chunk (hash, part, bytes) SELECT hash, part, bytes FROM symbol_upload_piece"
                    " WHERE app_id = $1 AND hash = $2 ON CONFLICT DO NOTHING",
                    UPLOAD(upload));
}

/* Does a report of the app miss the file, or one that refers to this split file? */
static int is_missed(bool *out, struct pg_tx *tx, int32_t app_id, struct pg_bytes id)
{
    static const char *const sql[] = {
        "SELECT 1 FROM missing_debug_file WHERE build_id = $1 AND app_id = $2 LIMIT 1",
        "SELECT 1 FROM missing_debug_file WHERE build_id IN (SELECT build_id FROM split_wanted WHERE split_id = $1)"
        " AND app_id = $2 LIMIT 1"};
    int rc = 0;

    *out = false;
    for (size_t i = 0; !rc && !*out && i < sizeof sql / sizeof *sql; i++) {
        MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
        rc = pg_query(&rows, tx, sql[i], PG_BYTES(id.bytes, id.len), PG_INT4(app_id));
        *out = !rc && pg_row_count(rows);
    }
    return rc;
}

int rows_symbols_missing(struct symbol_there *out, struct pg_tx *tx, int32_t app_id, const struct pg_bytes *ids,
                         const bool *debug, size_t count)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc =
        pg_query(&rows, tx,
                 "SELECT coalesce(f.rank, 0), f.hash, f.defect <> '' OR (f.rank = 2 AND f.depth = 'lines'),"
                 " coalesce(f.defect, '') FROM unnest($1::bytea[]) WITH ORDINALITY a (id, n) LEFT JOIN LATERAL"
                 " (SELECT CASE kind WHEN 'debug' THEN 2 ELSE 1 END AS rank, hash, defect, depth FROM symbol_file s"
                 "  WHERE s.build_id = a.id AND s.app_id IN ($2, 0) ORDER BY 1 DESC, s.app_id = 0 LIMIT 1) f ON true"
                 " ORDER BY n",
                 PG_BYTESS(ids, count), PG_INT4(app_id));
    for (size_t i = 0; !rc && i < count; i++) {
        struct pg_bytes hash = pg_bytes(rows, i, 1);
        int64_t rank = pg_int(rows, i, 0), asked = debug[i] ? 2 : 1;
        bool wanting = pg_bool(rows, i, 2);
        if (!wanting && rank && rank <= asked)
            rc = is_missed(&wanting, tx, app_id, ids[i]);
        out[i].missing = rank < asked;
        out[i].wanting = wanting && rank == asked; /* names add nothing to a file with lines */
        if (out[i].wanting) {
            memcpy(out[i].hash, hash.bytes, hash.len);
            snprintf(out[i].defect, sizeof out[i].defect, "%s", pg_text(rows, i, 3));
        }
    }
    return rc;
}

int rows_upload_lock(struct symbol_upload *upload, struct pg_tx *tx)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(
        NULL, tx,
        "INSERT INTO symbol_upload (app_id, hash, size_bytes, name) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING",
        UPLOAD(upload), PG_INT8(upload->size_bytes), PG_TEXT(upload->name));
    if (!rc)
        rc = pg_query(&rows, tx,
                      "SELECT size_bytes, have_bytes FROM symbol_upload WHERE app_id = $1 AND hash = $2 FOR UPDATE",
                      UPLOAD(upload));
    if (rc)
        return rc;
    if (!pg_row_count(rows))
        return MIRE_FAULT_RACED;
    upload->have_bytes = pg_int(rows, 0, 1);
    return pg_int(rows, 0, 0) != upload->size_bytes;
}

int rows_upload_have(struct symbol_upload *upload, struct pg_tx *tx)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc =
        pg_query(&rows, tx, "SELECT have_bytes FROM symbol_upload WHERE app_id = $1 AND hash = $2", UPLOAD(upload));
    upload->have_bytes = !rc && pg_row_count(rows) ? pg_int(rows, 0, 0) : 0;
    return rc;
}

int rows_upload_add(struct pg_tx *tx, struct symbol_upload *upload, struct pg_bytes frame, size_t len)
{
    int rc = pg_query(NULL, tx, "INSERT INTO symbol_upload_piece (app_id, hash, part, bytes) VALUES ($1, $2, $3, $4)",
                      UPLOAD(upload), PG_INT4((int32_t)(upload->have_bytes / MIRE_SYMBOL_PIECE)),
                      PG_BYTES(frame.bytes, frame.len));
    upload->have_bytes += (int64_t)len;
    return rc ? rc
              : pg_query(NULL, tx, "UPDATE symbol_upload SET have_bytes = $3 WHERE app_id = $1 AND hash = $2",
                         UPLOAD(upload), PG_INT8(upload->have_bytes));
}

int rows_upload_piece(struct pg_rows **out, struct pg_tx *tx, const struct symbol_upload *upload, int32_t part)
{
    return pg_query(out, tx, "SELECT bytes FROM symbol_upload_piece WHERE app_id = $1 AND hash = $2 AND part = $3",
                    UPLOAD(upload), PG_INT4(part));
}

int rows_upload_drop(struct pg_tx *tx, const struct symbol_upload *upload)
{
    int rc = pg_query(NULL, tx, "DELETE FROM symbol_upload_piece WHERE app_id = $1 AND hash = $2", UPLOAD(upload));
    return rc ? rc : pg_query(NULL, tx, "DELETE FROM symbol_upload WHERE app_id = $1 AND hash = $2", UPLOAD(upload));
}

static int add_piece(struct pg_tx *tx, struct pg_bytes hash, int32_t part, struct pg_bytes frame)
{
    return pg_query(NULL, tx, "INSERT INTO symbol_chunk (hash, part, bytes) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
                    PG_BYTES(hash.bytes, hash.len), PG_INT4(part), PG_BYTES(frame.bytes, frame.len));
}

/* Pieces of one file are stored in one transaction: where the first one is, all are. */
static int is_there(bool *out, struct pg_tx *tx, struct pg_bytes hash)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = rows_symbol_piece(&rows, tx, hash, 0);
    *out = !rc && pg_row_count(rows);
    return rc;
}

int rows_symbol_put(struct pg_tx *tx, struct pg_bytes hash, const void *bytes, size_t len)
{
    size_t room = ZSTD_compressBound(MIRE_SYMBOL_PIECE);
    MIRE_SCOPED(free_memory) char *frame = malloc(room);
    bool there = false;
    int rc = frame ? is_there(&there, tx, hash) : MIRE_FAULT_MEMORY;
    int32_t part = 0;
    for (size_t at = 0; at < len && !rc && !there; at += MIRE_SYMBOL_PIECE, part++) {
        size_t piece = len - at < MIRE_SYMBOL_PIECE ? len - at : MIRE_SYMBOL_PIECE;
        size_t n = ZSTD_compress(frame, room, (const char *)bytes + at, piece, LEVEL);
        rc = ZSTD_isError(n) ? MIRE_FAULT_MEMORY : add_piece(tx, hash, part, (struct pg_bytes){frame, n});
    }
    return rc;
}

int rows_symbol_source(struct pg_tx *tx, struct pg_bytes build_id, bool debug, const char *source)
{
    return pg_query(NULL, tx, "UPDATE symbol_file SET source = $3 WHERE build_id = $1 AND kind = $2 AND app_id = 0",
                    PG_BYTES(build_id.bytes, build_id.len), PG_TEXT(kind(debug)), PG_TEXT(source));
}

#define DUE_AT_ONCE 16

/* Does a report lack it? One statement of one table: Citus takes no subquery here. */
static int is_lacked(bool *out, struct pg_tx *tx, struct pg_bytes id)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx, "SELECT 1 FROM missing_debug_file WHERE build_id = $1 AND had <> 'lines' LIMIT 1",
                      PG_BYTES(id.bytes, id.len));
    *out = !rc && pg_row_count(rows);
    return rc;
}

/* Take a due image, unless another process has taken it: 1. */
static int take_due(struct symbol_wanted *out, struct pg_tx *tx, struct pg_bytes build_id)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx,
                      "UPDATE image SET look_at = now() + interval '10 min', looks = looks + 1"
                      " WHERE build_id = $1 AND look_at <= now() RETURNING build_id, name, looks",
                      PG_BYTES(build_id.bytes, build_id.len));
    if (rc || !pg_row_count(rows))
        return rc;
    struct pg_bytes id = pg_bytes(rows, 0, 0);
    *out = (struct symbol_wanted){.id_len = id.len, .looks = pg_int(rows, 0, 2)};
    memcpy(out->id, id.bytes, id.len);
    snprintf(out->name, sizeof out->name, "%s", pg_text(rows, 0, 1));
    return 1;
}

/* The first of the rows, images, that a report lacks: 1, 0 there is none. */
static int take_first(struct symbol_wanted *out, struct pg_tx *tx, const struct pg_rows *rows)
{
    int rc = 0;

    for (size_t i = 0; !rc && i < pg_row_count(rows); i++) {
        struct pg_bytes id = pg_bytes(rows, i, 0);
        bool lacked;
        rc = is_lacked(&lacked, tx, id);
        if (!rc && lacked)
            rc = take_due(out, tx, id);
    }
    return rc;
}

int rows_symbol_wanted(struct symbol_wanted *out, struct pg_tx *tx)
{
    size_t count = DUE_AT_ONCE;
    int rc = 0;

    for (int64_t skipped = 0; !rc && count == DUE_AT_ONCE; skipped += DUE_AT_ONCE) {
        MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
        rc = pg_query(&rows, tx,
                      "SELECT build_id FROM image i WHERE look_at <= now() AND NOT EXISTS"
                      " (SELECT FROM symbol_file f WHERE f.build_id = i.build_id AND f.kind = 'debug' AND f.app_id = 0)"
                      " ORDER BY look_at, build_id OFFSET $1 LIMIT $2",
                      PG_INT8(skipped), PG_INT8(DUE_AT_ONCE));
        count = rc ? 0 : pg_row_count(rows);
        if (!rc)
            rc = take_first(out, tx, rows);
    }
    return rc;
}

int rows_symbol_answer(struct pg_tx *tx, struct pg_bytes build_id, const char *answer, int64_t again_s)
{
    return pg_query(NULL, tx, "UPDATE image SET answer = $2, look_at = now() + $3 * interval '1 s' WHERE build_id = $1",
                    PG_BYTES(build_id.bytes, build_id.len), PG_TEXT(answer), PG_INT8(again_s));
}

int rows_symbol_installs(int64_t *out, struct pg_tx *tx, struct pg_bytes build_id, int64_t enough)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc =
        pg_query(&rows, tx,
                 "SELECT count(*) FROM (SELECT DISTINCT e.install FROM missing_debug_file l"
                 " JOIN event e USING (slot, day, report_id) WHERE l.build_id = $1 AND had <> 'lines' LIMIT $2) few",
                 PG_BYTES(build_id.bytes, build_id.len), PG_INT8(enough));
    if (!rc)
        *out = pg_int(rows, 0, 0);
    return rc;
}

int rows_symbols_sought(struct pg_rows **out, struct pg_tx *tx, int64_t most, int64_t again_s)
{
    return pg_query(out, tx,
                    "WITH lacked AS (SELECT DISTINCT build_id FROM missing_debug_file WHERE had <> 'lines' AND build_id"
                    "  IN (SELECT build_id FROM image WHERE look_at > now() AND look_at < 'infinity'))"
                    " SELECT build_id, CASE WHEN answer LIKE 'found in %' THEN look_at - $2 * interval '1 s' END"
                    " FROM image JOIN lacked USING (build_id) WHERE look_at > now() AND look_at < 'infinity'"
                    " ORDER BY build_id LIMIT $1",
                    PG_INT8(most), PG_INT8(again_s));
}

int rows_symbol_due(struct pg_tx *tx, struct pg_bytes build_id)
{
    return pg_query(NULL, tx, "UPDATE image SET look_at = now() WHERE build_id = $1",
                    PG_BYTES(build_id.bytes, build_id.len));
}
