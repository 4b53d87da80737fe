/* doctor.c - see doctor.h. */
#include "daemon/doctor.h"

#include "base/clock.h"
#include "base/fault.h"
#include "base/scope.h"
#include "daemon/openid.h"
#include "pg/pg.h"
#include "postgres/embedded.h"
#include "postgres/migrate.h"
#include "rows/doctor.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define CONNINFO_MAX   1024
#define SPACE_BAD_MB   512
#define SPACE_LOOK_MB  4096
#define CLOCK_MOST_S   5
#define OLDEST_LOOK_S  60
#define OLDEST_BAD_S   900
#define DEFAULT_LOOK   10000 /* reports of days without a partition */
#define VERSION_LEAST  140000
#define DEAD_ROWS_LOOK 1000000
#define FILES_SPARE    512 /* descriptors beside those of connections */

enum grade { OK, LOOK, BAD };

struct doctor {
    const struct config *config;
    FILE *out;
    int bad, look;
};

/* Prints a finding. `next` is the next step, unless all is well. */
__attribute__((format(printf, 4, 5))) static void tell(struct doctor *doctor, enum grade grade, const char *next,
                                                       const char *format, ...)
{
    static const char *const words[] = {"ok  ", "look", "bad "};
    va_list list;
    fprintf(doctor->out, "%s  ", words[grade]);
    va_start(list, format);
    vfprintf(doctor->out, format, list);
    va_end(list);
    if (grade != OK)
        fprintf(doctor->out, "\n      next: %s", next);
    fputc('\n', doctor->out);
    doctor->bad += grade == BAD;
    doctor->look += grade == LOOK;
}

static enum grade above(int64_t value, int64_t look, int64_t bad)
{
    if (value >= bad)
        return BAD;
    return value >= look ? LOOK : OK;
}

/* --- this machine ------------------------------------------------------------------------------------------------ */

static void check_config(struct doctor *doctor)
{
    int wrong = config_check(doctor->config, NULL) + openid_check(doctor->config, NULL);
    tell(doctor, wrong ? BAD : OK, "mired check names them", "configuration: %d settings are wrong", wrong);
    bool open = !config_is_loopback(doctor->config);
    bool plain =
        !*config_text(doctor->config, MIRE_SET_TLS_CERT) && !*config_text(doctor->config, MIRE_SET_TRUSTED_PROXIES);
    tell(doctor, open && plain ? LOOK : OK,
         "set tls_cert and tls_key, or put a proxy in front and name it in trusted_proxies", "reached from: %s%s",
         open ? "other machines" : "this machine alone", open && plain ? ", without TLS" : "");
    bool nameless = open && !*config_text(doctor->config, MIRE_SET_PUBLIC_URL);
    tell(doctor, nameless ? LOOK : OK, "set public_url to the address that browsers use", "public_url: %s",
         nameless ? "none; browsers that use a name get 421" : "fits listen");
}

static void check_space(struct doctor *doctor)
{
    const char *dir = config_text(doctor->config, MIRE_SET_DATA_DIR);
    struct statvfs disk;
    if (statvfs(dir, &disk)) {
        tell(doctor, BAD, "make the directory, or set data_dir; it must belong to the user who runs mired",
             "data_dir: %s: %s", dir, strerror(errno));
        return;
    }
    uint64_t free_mb = (uint64_t)disk.f_bavail * disk.f_frsize >> 20;
    enum grade grade = free_mb < SPACE_LOOK_MB ? LOOK : OK;
    tell(doctor, free_mb < SPACE_BAD_MB ? BAD : grade,
         "free some, lower retention_days and cache_max_mb, or move data_dir",
         "disk: %" PRIu64 " MiB are free below %s", free_mb, dir);
    bool writable = !access(dir, W_OK);
    tell(doctor, writable ? OK : LOOK, "run mired doctor as the user who runs mired", "data_dir: %s",
         writable ? "can be written" : "cannot be written by this user");
}

static void check_files(struct doctor *doctor)
{
    struct rlimit files;
    long wanted = config_number(doctor->config, MIRE_SET_CONNECTIONS_MAX) + FILES_SPARE;
    if (getrlimit(RLIMIT_NOFILE, &files))
        return;
    tell(doctor, (rlim_t)wanted > files.rlim_max ? LOOK : OK,
         "raise the hard limit (LimitNOFILE=) or lower connections_max",
         "descriptors: %ld wanted, the hard limit is %llu", wanted, (unsigned long long)files.rlim_max);
}

static void check_provider(struct doctor *doctor)
{
    const struct log silent = {.fd = STDERR_FILENO, .least = MIRE_LOG_OFF};
    char why[MIRE_OIDC_WHY];
    if (!*config_text(doctor->config, MIRE_SET_OIDC_ISSUER) || openid_check(doctor->config, NULL))
        return;
    int rc = openid_try(why, doctor->config, &silent);
    tell(doctor, rc ? BAD : OK, "check oidc_issuer, the way to it, and oidc_ca_file", "OpenID provider: %s",
         rc ? why : "answers");
}

/* --- the database ------------------------------------------------------------------------------------------------ */

static void check_rows(struct doctor *doctor, const struct doctor_rows *rows)
{
    int64_t apart_s = (rows->clock_us - clock_wall_us()) / 1000000;
    apart_s = apart_s < 0 ? -apart_s : apart_s;
    tell(doctor, rows->server_version < VERSION_LEAST ? BAD : OK, "mired needs PostgreSQL 14 or later",
         "database: PostgreSQL %d, %" PRId64 " MiB", rows->server_version / 10000, rows->database_bytes >> 20);
    tell(doctor, apart_s > CLOCK_MOST_S ? BAD : OK,
         "run a time service on both machines: retention goes by the database's clock",
         "clock: %" PRId64 " s between this machine and the database", apart_s);
    tell(doctor, rows->partition_days < 2 ? BAD : OK, "is a mired serve or http running? Its log has partition.* lines",
         "partitions: made for %" PRId64 " days from today on", rows->partition_days);
    tell(doctor, rows->days_due > 1 ? LOOK : OK,
         "one day goes an hour; if that is too many, raise retention_days, or correct the database's clock",
         "retention: %" PRId64 " days are due to go, with some %" PRId64 " reports", rows->days_due, rows->rows_due);
    tell(doctor, above(rows->default_rows, DEFAULT_LOOK, INT64_MAX),
         "their devices' clocks are wrong, or partitions were late", "reports of days without a partition: %" PRId64,
         rows->default_rows);
    tell(doctor, above(rows->oldest_s, OLDEST_LOOK_S, OLDEST_BAD_S),
         "is a mired serve or work running? If so raise `workers`, and look for work.failed in its log",
         "inbox: %" PRId64 " reports wait, the oldest for %" PRId64 " s; %" PRId64 " failed before", rows->waiting,
         rows->oldest_s, rows->stuck);
    tell(doctor, rows->dead_letters_day ? LOOK : OK, "work.gave_up in the log says why; table dead_letter has them",
         "dead letters: %" PRId64 ", %" PRId64 " of the last day", rows->dead_letters, rows->dead_letters_day);
    tell(doctor, above(rows->unvacuumed, DEAD_ROWS_LOOK, INT64_MAX),
         "let autovacuum run; a transaction that stays open keeps it from that", "dead rows of the inbox: %" PRId64,
         rows->unvacuumed);
    tell(doctor, rows->keys ? OK : LOOK, "mire key create APP",
         "keys: %" PRId64 " apps, %" PRId64 " good keys to report with", rows->apps, rows->keys);
    tell(doctor, rows->keys_ending ? LOOK : OK, "mire key list APP shows them; mire key rotate makes one in its place",
         "keys that expire within two weeks: %" PRId64, rows->keys_ending);
    tell(doctor, rows->missing ? LOOK : OK, "mire symbols upload; the Symbols page lists them",
         "debug files that reports miss: %" PRId64 " (%" PRId64 " reports in the last day)", rows->missing,
         rows->reports_day);
}

static void close_pool(struct pg **pg)
{
    pg_close(*pg);
}

static void check_database(struct doctor *doctor)
{
    MIRE_SCOPED(close_pool) struct pg *pg = NULL;
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    char conninfo[CONNINFO_MAX];
    struct doctor_rows rows;
    const struct log silent = {.fd = STDERR_FILENO, .least = MIRE_LOG_OFF};
    bool own = !*config_text(doctor->config, MIRE_SET_DATABASE_URL);
    const char *dir = config_text(doctor->config, MIRE_SET_DATA_DIR);
    if (config_conninfo(conninfo, sizeof conninfo, doctor->config)) {
        tell(doctor, BAD, own ? "start mired: it makes its own PostgreSQL below data_dir" : "correct database_url",
             "database: there is none%s%s", own ? " below " : "", own ? dir : "");
        return;
    }
    struct pg_options options = {
        .conninfo = conninfo, .connections = 1, .wait_ms = 3000, .read_limit_ms = 20000, .log = &silent};
    int rc = pg_open(&pg, &options);
    if (rc || pg_ping(pg)) {
        tell(doctor, BAD,
             own ? "is mired running? Its log has postgres.* lines" : "does it run, and may this user connect to it?",
             "database: it does not answer");
        return;
    }
    if (!pg_is_migrated(pg, pg_migrations, pg_migration_count)) {
        tell(doctor, BAD, "mired migrate, or start mired", "tables: they are of an older version of mired");
        return;
    }
    rc = pg_begin(&tx, pg, MIRE_PG_READ);
    if (!rc)
        rc = rows_doctor_read(&rows, tx, config_number(doctor->config, MIRE_SET_RETENTION_DAYS));
    if (rc)
        tell(doctor, BAD, "the database's log says more", "database: %s", fault_name(rc));
    else
        check_rows(doctor, &rows);
}

int doctor_run(const struct config *config, FILE *out)
{
    struct doctor doctor = {.config = config, .out = out};
    check_config(&doctor);
    check_space(&doctor);
    check_files(&doctor);
    check_provider(&doctor);
    check_database(&doctor);
    fprintf(out, "%d bad, %d to look at\n", doctor.bad, doctor.look);
    return doctor.bad;
}
