/*
 * pgtest.c - runs pgtest.sh and makes databases.
 */
#include "support/pgtest.h"

#include "base/clock.h"
#include "base/log.h"
#include "postgres/distribute.h"
#include "postgres/migrate.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static char dir[64];
static pid_t server;
static char conninfo[160];
static char database_conninfo[160];
static int database_count;
static const struct log stderr_log = {.fd = 2, .least = MIRE_LOG_WARN};

static int run(const char *script, const char *verb, const char *name, char *out, size_t room)
{
    char command[512];
    snprintf(command, sizeof command, "%s/tests/support/%s %s %s", MIRE_SOURCE_DIR, script, verb, name);
    FILE *pipe = popen(command, "r");
    if (!pipe)
        return -1;
    if (out && fgets(out, (int)room, pipe))
        out[strcspn(out, "\n")] = '\0';
    return pclose(pipe);
}

bool pgtest_on_citus(void)
{
    const char *url = getenv("MIRE_CITUS_URL");
    return url && *url;
}

static void name_database(char *out, size_t room, int number)
{
    if (pgtest_on_citus()) /* with those of other programs */
        snprintf(out, room, "test_%d_%d", (int)getpid(), number);
    else
        snprintf(out, room, "test_%d", number);
}

static pid_t begin_server(void)
{
    static const char script[] = MIRE_SOURCE_DIR "/tests/support/pgtest.sh";
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        execl(script, script, "become", dir, (char *)NULL);
        _exit(127);
    }
    return pid;
}

int pgtest_start(void **state)
{
    (void)state;
    snprintf(dir, sizeof dir, "/tmp/mire-pg-%d", (int)getpid());
    server = begin_server();
    return server > 0 ? run("pgtest.sh", "await", dir, conninfo, sizeof conninfo) : -1;
}

void pgtest_end_server(void)
{
    if (server <= 0)
        return;
    kill(server, SIGINT);
    waitpid(server, NULL, 0);
    server = 0;
}

int pgtest_stop(void **state)
{
    (void)state;
    pgtest_end_server();
    while (pgtest_on_citus() && database_count > 0) {
        char name[32];
        name_database(name, sizeof name, database_count--);
        run("citus.sh", "drop", name, NULL, 0);
    }
    return run("pgtest.sh", "stop", dir, NULL, 0);
}

const char *pgtest_conninfo(void)
{
    return conninfo;
}

const char *pgtest_database_conninfo(void)
{
    return database_conninfo;
}

int pgtest_postmaster(void)
{
    char path[96];
    int pid = -1;
    snprintf(path, sizeof path, "%s/data/postmaster.pid", dir);
    FILE *file = fopen(path, "r");
    if (file) {
        if (fscanf(file, "%d", &pid) != 1)
            pid = -1;
        fclose(file);
    }
    return pid;
}

static void must(int rc, const char *what)
{
    if (rc) {
        fprintf(stderr, "pgtest: %s: %s\n", what, fault_name(rc));
        pgtest_stop(NULL);
        exit(1);
    }
}

static void create_database(const char *name)
{
    if (pgtest_on_citus()) {
        must(run("citus.sh", "make", name, database_conninfo, sizeof database_conninfo), "create database on Citus");
        return;
    }
    struct pg_options options = {.conninfo = conninfo, .connections = 1, .wait_ms = 5000, .log = &stderr_log};
    struct pg *pg;
    struct pg_tx *tx;
    char sql[64];
    snprintf(sql, sizeof sql, "CREATE DATABASE %s", name);
    must(pg_open(&pg, &options), "open");
    must(pg_begin(&tx, pg, MIRE_PG_EACH), "begin");
    must(pg_script(tx, sql), "create database");
    pg_end(&tx);
    pg_close(pg);
    snprintf(database_conninfo, sizeof database_conninfo, "host=%s user=mire dbname=%s", dir, name);
}

struct pg *pgtest_database(int connections)
{
    char name[32];
    struct pg *pg;
    int applied, made, dropped;
    name_database(name, sizeof name, ++database_count);
    create_database(name);
    struct pg_options options = {.conninfo = database_conninfo,
                                 .connections = connections,
                                 .wait_ms = 5000,
                                 .read_limit_ms = 10000,
                                 .log = &stderr_log};
    must(pg_open(&pg, &options), "open");
    must(pg_migrate(&applied, pg, pg_migrations, pg_migration_count, &stderr_log), "migrate");
    must(pg_distribute(pg, pgtest_on_citus(), &stderr_log), "distribute");
    struct pg_days days = {.today = clock_day(clock_wall_us()), .back = 1, .ahead = 2};
    must(pg_partition(&made, &dropped, pg, &days, &stderr_log), "partition");
    return pg;
}

int64_t pgtest_number(struct pg *pg, const char *sql)
{
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    must(pg_begin(&tx, pg, MIRE_PG_READ), "begin");
    must(pg_query(&rows, tx, sql), sql);
    return pg_int(rows, 0, 0);
}

void pgtest_run(struct pg *pg, const char *sql)
{
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    must(pg_begin(&tx, pg, MIRE_PG_WRITE), "begin");
    must(pg_query(NULL, tx, sql), sql);
    must(pg_commit(&tx), "commit");
}

void pgtest_until_none(struct pg *pg, const char *sql, const char *nudge)
{
    int64_t end_us = clock_wall_us() + 60 * 1000000LL;
    for (;;) {
        if (nudge)
            pgtest_run(pg, nudge);
        if (!pgtest_number(pg, sql))
            return;
        must(clock_wall_us() > end_us ? MIRE_FAULT_TIMEOUT : 0, sql);
        usleep(20000);
    }
}

struct pg *pgtest_mapview(void)
{
    struct pg *pg = pgtest_database(8);
    pgtest_run(pg, "INSERT INTO app (app_id, slug, name) VALUES (1, 'mapview', 'Mapview')");
    /* Reports of the vectors were sampled as this rollout says; a share that none gave would count nothing. */
    pgtest_run(pg, "INSERT INTO rollout_version (app_id, version, author, reason, rules) VALUES (1, 1, 'kim', 'a test',"
                   " '{\"fetch_s\":3600,\"kill\":false,\"rules\":[{\"name\":\"all\",\"when\":{},\"plugins\":"
                   "{\"hang\":{\"probability\":0.25},\"memory\":{\"probability\":0.25}}}]}')");
    return pg;
}
