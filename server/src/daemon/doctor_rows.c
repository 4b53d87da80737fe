/* doctor_rows.c - findings about the database and its content. */
#include "daemon/doctor.h"

#include "base/clock.h"
#include "rows/doctor.h"
#include "rows/flood.h"
#include "rows/rollup.h"

#define CLOCK_MOST_S   5
#define OLDEST_LOOK_S  60
#define OLDEST_BAD_S   900
#define MERGE_LOOK_S   300 /* a merge is due each minute */
#define MERGE_BAD_S    3600
#define DEFAULT_LOOK   10000 /* reports of days without a partition */
#define VERSION_LEAST  140000
#define DEAD_ROWS_LOOK 1000000
#define STATEMENT_S    300 /* a statement that has run so long */

static enum finding_grade above(int64_t value, int64_t look, int64_t bad)
{
    if (value >= bad)
        return MIRE_FINDING_BAD;
    return value >= look ? MIRE_FINDING_LOOK : MIRE_FINDING_OK;
}

/* clang-format off */
#define ADD(grade_, about_, next_, text_, ...)                                                                         \
    findings_add(out, (struct server_finding){.about = (about_), .grade = (grade_), .next = (next_), .text = (text_),  \
                                              .values = {__VA_ARGS__}})
#define N(name_, number_) {.name = (name_), .number = (number_)}
#define T(name_, text_)   {.name = (name_), .text = (text_)}
/* clang-format on */

static void add_server(struct findings *out, const struct doctor_rows *rows)
{
    int64_t apart_s = (rows->clock_us - clock_wall_us()) / 1000000;
    apart_s = apart_s < 0 ? -apart_s : apart_s;
    ADD(rows->server_version < VERSION_LEAST ? MIRE_FINDING_BAD : MIRE_FINDING_OK, "database",
        "mired needs PostgreSQL 14 or later", "PostgreSQL {version}, {mb} MiB",
        N("version", rows->server_version / 10000), N("mb", rows->database_bytes >> 20));
    ADD(above(apart_s, INT64_MAX, CLOCK_MOST_S + 1), "clock",
        "run a time service on both machines: retention follows the database's clock",
        "{s} s between this machine and the database", N("s", apart_s));
    ADD(above(rows->statement_s, STATEMENT_S, INT64_MAX), "statements",
        "pg_stat_activity lists them; pg_cancel_backend ends one", "the longest has run for {s} s",
        N("s", rows->statement_s));
}

static void add_days(struct findings *out, const struct doctor_rows *rows)
{
    ADD(rows->partition_days < 2 ? MIRE_FINDING_BAD : MIRE_FINDING_OK, "partitions",
        "is a mired serve or http running? Its log has partition.* lines", "made for {n} days from today on",
        N("n", rows->partition_days));
    ADD(above(rows->days_due, 2, INT64_MAX), "retention",
        "one day is deleted an hour; if that is too many, raise retention_days, or correct the database's clock",
        "{days} days are due for deletion, with about {reports} reports", N("days", rows->days_due),
        N("reports", rows->rows_due));
    ADD(above(rows->default_rows, DEFAULT_LOOK, INT64_MAX), "reports of days without a partition",
        "the clocks of the devices are wrong, or partitions were created late", "{n}", N("n", rows->default_rows));
}

static void add_queue(struct findings *out, const struct doctor_rows *rows)
{
    ADD(above(rows->oldest_s, OLDEST_LOOK_S, OLDEST_BAD_S), "inbox",
        "is a mired serve or work running? If so raise `workers`, and look for work.failed in its log",
        "{waiting} reports wait, the oldest for {s} s; {failed} failed before", N("waiting", rows->waiting),
        N("s", rows->oldest_s), N("failed", rows->stuck));
    ADD(above(rows->dead_letters_day, 1, INT64_MAX), "dead letters",
        "work.gave_up in the log gives the reason; the table dead_letter holds them", "{n}, {day} of the last day",
        N("n", rows->dead_letters), N("day", rows->dead_letters_day));
    ADD(above(rows->unvacuumed, DEAD_ROWS_LOOK, INT64_MAX), "dead rows of the inbox",
        "let autovacuum run; a transaction that stays open prevents it", "{n}", N("n", rows->unvacuumed));
    ADD(above(rows->missing, 1, INT64_MAX), "debug files that reports miss",
        "mire symbols upload; the Symbols page lists them", "{n} ({reports} reports in the last day)",
        N("n", rows->missing), N("reports", rows->reports_day));
}

static void add_rollups(struct findings *out, const struct rollups_waiting *waiting)
{
    ADD(above(waiting->oldest_s, MERGE_LOOK_S, MERGE_BAD_S), "rollups",
        "is a mired serve or work running? Its log has rollup.merge with the fault; pages add what waits themselves, "
        "and "
        "get slow",
        "{n} batches wait to be added, the oldest for {s} s", N("n", waiting->deltas), N("s", waiting->oldest_s));
}

static void add_keys(struct findings *out, const struct doctor_rows *rows)
{
    ADD(rows->keys ? MIRE_FINDING_OK : MIRE_FINDING_LOOK, "keys", "mire key create APP",
        "{apps} apps, {keys} valid ingest keys", N("apps", rows->apps), N("keys", rows->keys));
    ADD(above(rows->keys_ending, 1, INT64_MAX), "keys that expire within two weeks",
        "mire key list APP shows them; mire key rotate replaces one", "{n}", N("n", rows->keys_ending));
}

/* The app of which most was turned away. */
static void add_flood(struct findings *out, const struct flood *floods, size_t count)
{
    if (count)
        ADD(MIRE_FINDING_LOOK, "flood",
            "if the key was stolen, mire key rotate; if the app grew, raise its budget in Settings, or app_requests_s",
            "{app}: {often} reports refused today by the rate limit, {beyond} beyond the budget; most come with the "
            "key {key}",
            T("app", floods->app), N("often", floods->too_often), N("beyond", floods->beyond), T("key", floods->key));
    else
        findings_add(out, (struct server_finding){.about = "flood", .text = "no report was refused today"});
}

int doctor_add_rows(struct findings *out, struct arena *arena, const struct config *config, struct pg_tx *tx)
{
    struct doctor_rows rows;
    struct rollups_waiting waiting;
    struct flood *floods = NULL;
    size_t count = 0;
    int rc = rows_doctor_read(&rows, tx, config_number(config, MIRE_SET_RETENTION_DAYS));
    if (!rc)
        rc = rows_floods_read(&floods, &count, tx, arena);
    if (!rc)
        rc = rows_rollups_waiting(&waiting, tx);
    if (rc)
        return rc;
    add_server(out, &rows);
    add_days(out, &rows);
    add_queue(out, &rows);
    add_rollups(out, &waiting);
    add_flood(out, floods, count);
    add_keys(out, &rows);
    return doctor_add_secrets(out, arena, config, tx);
}
