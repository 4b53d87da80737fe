/*
 * migrate.c - applies schema/sql in order. Servers that start at the same time take turns by an advisory lock.
 */
#include "postgres/migrate.h"

#include "base/log.h"

#include <stdio.h>
#include <string.h>

#define TURN "SELECT pg_advisory_xact_lock(7117, 1)"

static const char create_registry[] =
    "CREATE TABLE IF NOT EXISTS schema_migration ("
    " number integer CONSTRAINT schema_migration_is_identified_by_its_number PRIMARY KEY,"
    " title text NOT NULL, checksum bytea NOT NULL, applied_at timestamptz NOT NULL DEFAULT now());"
    "COMMENT ON TABLE schema_migration IS 'Files of schema/sql that were applied.';"
    "COMMENT ON COLUMN schema_migration.number IS 'Number of the file.';"
    "COMMENT ON COLUMN schema_migration.title IS 'Title of the file.';"
    "COMMENT ON COLUMN schema_migration.checksum IS 'BLAKE2b-256 of its text.';"
    "COMMENT ON COLUMN schema_migration.applied_at IS 'When it was applied.';"
    "COMMENT ON INDEX schema_migration_is_identified_by_its_number IS 'Serves: asking whether a file was applied.'";

/* Is the file the registered one? 0: yes, 1: it is not registered, below zero a fault. */
static int check_one(struct pg_tx *tx, const struct pg_migration *file, const uint8_t sum[32], const struct log *log)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(&rows, tx, "SELECT checksum = $2 FROM schema_migration WHERE number = $1", PG_INT4(file->number),
                      PG_BYTES(sum, 32));
    if (rc || !pg_row_count(rows))
        return rc ? rc : 1;
    if (pg_bool(rows, 0, 0))
        return 0;
    log_event(log, MIRE_LOG_ERROR, "migrate.differs", LOG_NUMBER("number", file->number),
              LOG_TEXT("title", file->title));
    return MIRE_FAULT_BROKEN;
}

static int apply_one(int *applied, struct pg *pg, const struct pg_migration *file, const struct log *log)
{
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    uint8_t sum[32];
    hash_blake2b(sum, sizeof sum, file->sql, strlen(file->sql));
    int rc = pg_begin(&tx, pg, MIRE_PG_WRITE);
    if (!rc)
        rc = pg_query(NULL, tx, TURN);
    if (!rc)
        rc = check_one(tx, file, sum, log);
    if (rc != 1)
        return rc;
    rc = pg_script(tx, file->sql);
    if (!rc)
        rc = pg_query(NULL, tx, "INSERT INTO schema_migration (number, title, checksum) VALUES ($1, $2, $3)",
                      PG_INT4(file->number), PG_TEXT(file->title), PG_BYTES(sum, sizeof sum));
    if (!rc)
        rc = pg_commit(&tx);
    if (!rc) {
        ++*applied;
        log_event(log, MIRE_LOG_INFO, "migrate.applied", LOG_NUMBER("number", file->number),
                  LOG_TEXT("title", file->title));
    }

    return rc;
}

/* Make the registry; refuse a database from a later program. */
static int open_registry(struct pg *pg, int newest, const struct log *log)
{
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_begin(&tx, pg, MIRE_PG_WRITE);
    if (!rc)
        rc = pg_query(NULL, tx, TURN);
    if (!rc)
        rc = pg_script(tx, create_registry);
    if (!rc)
        rc = pg_query(&rows, tx, "SELECT coalesce(max(number), 0) FROM schema_migration");
    if (!rc && pg_int(rows, 0, 0) > newest) {
        log_event(log, MIRE_LOG_ERROR, "migrate.too_new", LOG_NUMBER("database", pg_int(rows, 0, 0)),
                  LOG_NUMBER("program", newest),
                  LOG_TEXT("next", "The tables are of a later version of mired: start that one, or restore a backup."));
        return MIRE_FAULT_BROKEN;
    }

    return rc ? rc : pg_commit(&tx);
}

int pg_migrate(int *applied_out, struct pg *pg, const struct pg_migration *migrations, size_t count,
               const struct log *log)
{
    int newest = count ? migrations[count - 1].number : 0;
    int rc = open_registry(pg, newest, log);
    *applied_out = 0;
    for (size_t i = 0; i < count && !rc; i++)
        rc = apply_one(applied_out, pg, &migrations[i], log);
    return rc;
}

enum pg_age pg_age_of_tables(struct pg *pg, const struct pg_migration *migrations, size_t count)
{
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    if (pg_begin(&tx, pg, MIRE_PG_READ) || pg_query(&rows, tx, "SELECT coalesce(max(number), 0) FROM schema_migration"))
        return MIRE_TABLES_OLDER;
    int64_t newest = pg_int(rows, 0, 0), ours = migrations[count - 1].number;
    if (newest > ours)
        return MIRE_TABLES_LATER;
    return newest < ours ? MIRE_TABLES_OLDER : MIRE_TABLES_OURS;
}
