/* doctor.c - the statement behind doctor.h. */
#include "rows/doctor.h"

int rows_doctor_read(struct doctor_rows *out, struct pg_tx *tx, int64_t keep_days)
{
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    int rc = pg_query(
        &rows, tx,
        "SELECT current_setting('server_version_num')::int, clock_timestamp(),"
        " (SELECT count(*) FROM inbox), (SELECT coalesce(extract(epoch FROM now() - min(queued_at)), 0)::int8 FROM "
        "inbox),"
        " (SELECT count(*) FROM inbox WHERE attempts > 0), (SELECT count(*) FROM dead_letter),"
        " (SELECT count(*) FROM dead_letter WHERE failed_at > now() - interval '1 day'),"
        " (SELECT count(*) FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = "
        "'report'::regclass"
        "  AND c.relname ~ '^report_[0-9]{8}$' AND right(c.relname, 8) >= to_char(current_date, 'YYYYMMDD')),"
        " (SELECT count(*) FROM report_other WHERE received_at < now() - interval '2 hours'), "
        "pg_database_size(current_database()),"
        " (SELECT count(*) FROM access_key WHERE revoked_at IS NULL AND expires_at > now()"
        "  AND expires_at < now() + interval '14 days'),"
        " (SELECT count(*) FROM app), (SELECT count(*) FROM access_key WHERE scope = 'ingest' AND revoked_at IS NULL"
        "  AND (expires_at IS NULL OR expires_at > now())),"
        " (SELECT count(*) FROM report WHERE received_at > now() - interval '1 day' AND day >= current_date - 2),"
        " (SELECT count(DISTINCT build_id) FROM missing_debug_file WHERE had <> 'lines'),"
        " (SELECT coalesce(sum(n_dead_tup), 0)::int8 FROM pg_stat_user_tables WHERE relname = 'inbox'), due.days, "
        "due.rows, (SELECT coalesce(max(extract(epoch FROM clock_timestamp() - query_start)), 0)::int8 FROM "
        "pg_stat_activity WHERE state = 'active' AND backend_type = 'client backend' AND datname = "
        "current_database())"
        " FROM (SELECT count(*) AS days, coalesce(sum(greatest(c.reltuples, 0)), 0)::int8 AS rows FROM pg_inherits i"
        "  JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'report'::regclass AND $1 > 0"
        "  AND c.relname ~ '^report_[0-9]{8}$'"
        "  AND right(c.relname, 8) < to_char(current_date - $1::int, 'YYYYMMDD')) due",
        PG_INT8(keep_days));
    if (rc)
        return rc;
    *out = (struct doctor_rows){.server_version = (int)pg_int(rows, 0, 0),
                                .clock_us = pg_time(rows, 0, 1),
                                .waiting = pg_int(rows, 0, 2),
                                .oldest_s = pg_int(rows, 0, 3),
                                .stuck = pg_int(rows, 0, 4),
                                .dead_letters = pg_int(rows, 0, 5),
                                .dead_letters_day = pg_int(rows, 0, 6),
                                .partition_days = pg_int(rows, 0, 7),
                                .default_rows = pg_int(rows, 0, 8),
                                .database_bytes = pg_int(rows, 0, 9),
                                .keys_ending = pg_int(rows, 0, 10),
                                .apps = pg_int(rows, 0, 11),
                                .keys = pg_int(rows, 0, 12),
                                .reports_day = pg_int(rows, 0, 13),
                                .missing = pg_int(rows, 0, 14),
                                .unvacuumed = pg_int(rows, 0, 15),
                                .days_due = pg_int(rows, 0, 16),
                                .rows_due = pg_int(rows, 0, 17),
                                .statement_s = pg_int(rows, 0, 18)};
    return 0;
}
