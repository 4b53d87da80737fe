/* distribute.c - see distribute.h. tests/structure/sql.sql checks that keys and comments of the tables allow it. */
#include "postgres/distribute.h"

#include "base/log.h"

#include <stddef.h>

/* 1: a query with one boolean is true; 0: it is not; or a fault. */
static int ask(struct pg *pg, const char *sql)
{
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_begin(&tx, pg, MIRE_PG_EACH);
    if (!rc)
        rc = pg_query(&rows, tx, sql);
    return rc ? rc : pg_bool(rows, 0, 0);
}

static int has_citus(struct pg *pg)
{
    return ask(pg, "SELECT to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL");
}

int pg_is_distributed(struct pg *pg)
{
    int has = has_citus(pg);
    return has <= 0 ? has
                    : ask(pg, "SELECT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = 'report'::regclass)");
}

/* Tables to spread, tables that become copies first; partitions follow their table. */
static const char list_sql[] =
    "SELECT c.relname::text, t.has_slot FROM pg_class c CROSS JOIN LATERAL (SELECT EXISTS (SELECT FROM pg_attribute a"
    "  WHERE a.attrelid = c.oid AND a.attname = 'slot' AND NOT a.attisdropped) AS has_slot,"
    "  coalesce(obj_description(c.oid, 'pg_class') ~ 'Reference table\\.$', false) AS is_reference) t"
    " WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition"
    " AND (t.has_slot OR t.is_reference) AND NOT EXISTS (SELECT FROM pg_dist_partition p WHERE p.logicalrelid = c.oid)"
    " ORDER BY t.has_slot, c.relname";

static int spread(struct pg *pg, const char *table, bool by_slot)
{
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    int rc = pg_begin(&tx, pg, MIRE_PG_WRITE);
    if (!rc)
        rc = pg_query(NULL, tx,
                      by_slot ? "SELECT create_distributed_table($1::text::regclass, 'slot')"
                              : "SELECT create_reference_table($1::text::regclass)",
                      PG_TEXT(table));
    return rc ? rc : pg_commit(&tx);
}

static int list(struct pg_rows **rows, struct pg *pg)
{
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    int rc = pg_begin(&tx, pg, MIRE_PG_EACH);
    return rc ? rc : pg_query(rows, tx, list_sql);
}

int pg_distribute(struct pg *pg, bool is_asked, const struct log *log)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int has = is_asked ? has_citus(pg) : pg_is_distributed(pg);
    if (is_asked && !has) {
        log_event(
            log, MIRE_LOG_ERROR, "migrate.no_citus",
            LOG_TEXT("next", "Create the extension citus in this database on every machine, and add the machines."));
        return MIRE_FAULT_BROKEN;
    }
    int rc = has > 0 ? list(&rows, pg) : has;
    for (size_t i = 0; !rc && rows && i < pg_row_count(rows); i++) {
        rc = spread(pg, pg_text(rows, i, 0), pg_bool(rows, i, 1));
        if (!rc)
            log_event(log, MIRE_LOG_INFO, "migrate.spread", LOG_TEXT("table", pg_text(rows, i, 0)));
    }
    return rc;
}
