/* doctor.c - see doctor.h. doctor_rows.c judges the content of the database. */
#include "daemon/doctor.h"

#include "base/fault.h"
#include "base/log.h"
#include "base/scope.h"
#include "daemon/openid.h"
#include "pg/pg.h"
#include "postgres/migrate.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define CONNINFO_MAX  1024
#define SPACE_BAD_MB  512
#define SPACE_LOOK_MB 4096
#define FILES_SPARE   512 /* descriptors beside those of connections */
#define TEXTS_MAX     (256u << 20)

static enum finding_grade look_if(bool wrong)
{
    return wrong ? MIRE_FINDING_LOOK : MIRE_FINDING_OK;
}

static enum finding_grade bad_if(bool wrong)
{
    return wrong ? MIRE_FINDING_BAD : MIRE_FINDING_OK;
}

/* --- this machine ------------------------------------------------------------------------------------------------ */

static void check_config(struct findings *out, const struct config *config)
{
    int wrong = config_check(config, NULL) + openid_check(config, NULL);
    bool open = !config_is_loopback(config);
    bool plain = !*config_text(config, MIRE_SET_TLS_CERT) && !*config_text(config, MIRE_SET_TRUSTED_PROXIES);
    bool nameless = open && !*config_text(config, MIRE_SET_PUBLIC_URL);
    const char *reached = open ? "other machines" : "this machine alone";
    findings_add(out, (struct server_finding){.about = "configuration",
                                              .grade = bad_if(wrong),
                                              .next = "mired check names them",
                                              .text = "{n} settings are wrong",
                                              .values = {{.name = "n", .number = wrong}}});
    findings_add(out, (struct server_finding){
                          .about = "reached from",
                          .grade = look_if(open && plain),
                          .next = "set tls_cert and tls_key, or put a proxy in front and name it in trusted_proxies",
                          .text = open && plain ? "other machines, without TLS" : reached});
    findings_add(out,
                 (struct server_finding){.about = "public_url",
                                         .grade = look_if(nameless),
                                         .next = "set public_url to the address that browsers use",
                                         .text = nameless ? "none; browsers that use a name get 421" : "fits listen"});
}

static void check_space(struct findings *out, const struct config *config)
{
    const char *dir = config_text(config, MIRE_SET_DATA_DIR);
    struct statvfs disk;
    if (statvfs(dir, &disk)) {
        findings_add(out, (struct server_finding){
                              .about = "data_dir",
                              .grade = MIRE_FINDING_BAD,
                              .next = "make the directory, or set data_dir; it must belong to the user who runs mired",
                              .text = "{dir}: {why}",
                              .values = {{.name = "dir", .text = dir}, {.name = "why", .text = strerror(errno)}}});
        return;
    }
    uint64_t free_mb = (uint64_t)disk.f_bavail * disk.f_frsize >> 20;
    findings_add(out, (struct server_finding){
                          .about = "disk",
                          .grade = free_mb < SPACE_BAD_MB ? MIRE_FINDING_BAD : look_if(free_mb < SPACE_LOOK_MB),
                          .next = "free some space, lower retention_days and cache_max_mb, or move data_dir",
                          .text = "{mb} MiB are free below {dir}",
                          .values = {{.name = "mb", .number = (int64_t)free_mb}, {.name = "dir", .text = dir}}});
    bool writable = !access(dir, W_OK);
    findings_add(out, (struct server_finding){.about = "data_dir",
                                              .grade = look_if(!writable),
                                              .next = "run mired doctor as the user who runs mired",
                                              .text = writable ? "can be written" : "cannot be written by this user"});
}

static void check_files(struct findings *out, const struct config *config)
{
    struct rlimit files;
    long wanted = config_number(config, MIRE_SET_CONNECTIONS_MAX) + FILES_SPARE;
    if (getrlimit(RLIMIT_NOFILE, &files))
        return;
    bool unlimited = files.rlim_max > INT64_MAX;
    findings_add(out, (struct server_finding){
                          .about = "descriptors",
                          .grade = look_if((rlim_t)wanted > files.rlim_max),
                          .next = "raise the hard limit (LimitNOFILE=) or lower connections_max",
                          .text = "{wanted} wanted, the hard limit is {limit}",
                          .values = {{.name = "wanted", .number = wanted},
                                     {.name = "limit", .number = unlimited ? INT64_MAX : (int64_t)files.rlim_max}}});
}

/* `why` has room for MIRE_OIDC_WHY bytes, and the finding borrows it. */
static void check_provider(struct findings *out, char *why, const struct config *config)
{
    const struct log silent = {.fd = STDERR_FILENO, .least = MIRE_LOG_OFF};
    if (!*config_text(config, MIRE_SET_OIDC_ISSUER) || openid_check(config, NULL))
        return;
    int rc = openid_try(why, config, &silent);
    findings_add(out, (struct server_finding){.about = "OpenID provider",
                                              .grade = bad_if(rc),
                                              .next = "check oidc_issuer, the way to it, and oidc_ca_file",
                                              .text = rc ? "{why}" : "answers",
                                              .values = {{.name = "why", .text = why}}});
}

/* --- the database ------------------------------------------------------------------------------------------------ */

static void close_pool(struct pg **pg)
{
    pg_close(*pg);
}

/* The database cannot be asked. */
static void add_away(struct findings *out, const char *text, const char *next, const char *dir)
{
    findings_add(out, (struct server_finding){.about = "database",
                                              .grade = MIRE_FINDING_BAD,
                                              .next = next,
                                              .text = text,
                                              .values = {{.name = "dir", .text = dir}}});
}

static void check_database(struct findings *out, struct arena *arena, const struct config *config)
{
    MIRE_SCOPED(close_pool) struct pg *pg = NULL;
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    char conninfo[CONNINFO_MAX];
    const struct log silent = {.fd = STDERR_FILENO, .least = MIRE_LOG_OFF};
    bool own = !*config_text(config, MIRE_SET_DATABASE_URL);
    const char *dir = config_text(config, MIRE_SET_DATA_DIR);
    if (config_conninfo(conninfo, sizeof conninfo, config)) {
        add_away(out, own ? "there is none below {dir}" : "there is none",
                 own ? "start mired: it makes its own PostgreSQL below data_dir" : "correct database_url", dir);
        return;
    }
    struct pg_options options = {
        .conninfo = conninfo, .connections = 1, .wait_ms = 3000, .read_limit_ms = 20000, .log = &silent};
    int rc = pg_open(&pg, &options);
    if (rc || pg_ping(pg)) {
        add_away(out, "it does not answer",
                 own ? "is mired running? Its log has postgres.* lines"
                     : "does it run, and may this user connect to it?",
                 dir);
        return;
    }
    enum pg_age age = pg_age_of_tables(pg, pg_migrations, pg_migration_count);
    if (age != MIRE_TABLES_OURS) {
        bool later = age == MIRE_TABLES_LATER;
        findings_add(out, (struct server_finding){.about = "tables",
                                                  .grade = MIRE_FINDING_BAD,
                                                  .next = later ? "upgrade this mired too: it does not start on them"
                                                                : "mired migrate, or start mired",
                                                  .text = later ? "they are of a later version of mired"
                                                                : "they are of an older version of mired"});
        return;
    }
    if (pg_begin(&tx, pg, MIRE_PG_READ) || doctor_add_rows(out, arena, config, tx))
        add_away(out, "it does not answer these questions", "the database's log says more", dir);
}

/* --- both -------------------------------------------------------------------------------------------------------- */

static void check_machine(struct findings *out, const struct config *config)
{
    check_config(out, config);
    check_space(out, config);
    check_files(out, config);
}

int doctor_examine(const void *config, struct findings *out, struct arena *arena, struct pg_tx *tx)
{
    check_machine(out, config);
    return doctor_add_rows(out, arena, config, tx);
}

static void print(FILE *out, const struct findings *findings)
{
    for (size_t i = 0; i < findings->count; i++) {
        const struct server_finding *one = &findings->all[i];
        struct text text = {0};
        finding_write(&text, one);
        fprintf(out, "%-4s  %s: %s\n", finding_grade_name(one->grade), one->about, text.bytes ? text.bytes : "");
        if (one->grade != MIRE_FINDING_OK)
            fprintf(out, "      next: %s\n", one->next);
        text_fini(&text);
    }
    fprintf(out, "%d bad, %d to look at\n", findings->bad, findings->look);
}

int doctor_run(const struct config *config, FILE *out)
{
    struct findings findings = {.count = 0};
    struct arena arena;
    char why[MIRE_OIDC_WHY];
    arena_init(&arena, TEXTS_MAX);
    check_machine(&findings, config);
    check_provider(&findings, why, config);
    check_database(&findings, &arena, config);
    print(out, &findings);
    arena_fini(&arena);
    return findings.bad;
}
