/*
 * symbol.c - the statements behind symbol.h.
 */
#include "pg/symbol.h"

static const char *kind(bool debug)
{
    return debug ? "debug" : "symtab";
}

int pg_symbol_find(struct symbol_info *out, struct pg_tx *tx, struct pg_bytes build_id)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx,
                      "SELECT kind = 'debug', size_bytes FROM symbol_file WHERE build_id = $1 ORDER BY kind LIMIT 1",
                      PG_BYTES(build_id.bytes, build_id.len));
    if (rc || !pg_row_count(rows))
        return rc;
    *out = (struct symbol_info){pg_bool(rows, 0, 0), pg_int(rows, 0, 1)};
    return 1;
}

int pg_symbol_arrivals(int64_t *count_out, struct pg_tx *tx)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx, "SELECT arrivals FROM symbol_clock");
    if (!rc)
        *count_out = pg_row_count(rows) ? pg_int(rows, 0, 0) : 0;
    return rc;
}

int pg_symbol_piece(struct pg_rows **out, struct pg_tx *tx, struct pg_bytes build_id, bool debug, int32_t part)
{
    return pg_query(out, tx, "SELECT bytes FROM symbol_chunk WHERE build_id = $1 AND kind = $2 AND part = $3",
                    PG_BYTES(build_id.bytes, build_id.len), PG_TEXT(kind(debug)), PG_INT4(part));
}

int pg_symbol_begin(struct pg_tx *tx, struct pg_bytes build_id, bool debug, const char *arch, const char *name,
                    int64_t size_bytes)
{
    int rc = pg_query(NULL, tx,
                      "INSERT INTO symbol_file (build_id, kind, arch, name, size_bytes) VALUES ($1, $2, $3, $4, $5)"
                      " ON CONFLICT (build_id, kind) DO UPDATE SET arch = EXCLUDED.arch, name = EXCLUDED.name,"
                      " size_bytes = EXCLUDED.size_bytes, uploaded_at = now()",
                      PG_BYTES(build_id.bytes, build_id.len), PG_TEXT(kind(debug)), PG_TEXT(arch), PG_TEXT(name),
                      PG_INT8(size_bytes));
    if (rc)
        return rc;
    return pg_query(NULL, tx, "DELETE FROM symbol_chunk WHERE build_id = $1 AND kind = $2",
                    PG_BYTES(build_id.bytes, build_id.len), PG_TEXT(kind(debug)));
}

int pg_symbol_add(struct pg_tx *tx, struct pg_bytes build_id, bool debug, int32_t part, struct pg_bytes frame)
{
    return pg_query(NULL, tx, "INSERT INTO symbol_chunk (build_id, kind, part, bytes) VALUES ($1, $2, $3, $4)",
                    PG_BYTES(build_id.bytes, build_id.len), PG_TEXT(kind(debug)), PG_INT4(part),
                    PG_BYTES(frame.bytes, frame.len));
}
