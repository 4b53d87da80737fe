/*
 * Rollups in a real PostgreSQL: added by deltas, made anew from events, or both in turns and beside each other, they say
 * what an exact recount of the events says.
 */
#include "support/pgtest.h"
#include "support/rolluptest.h"

#include "base/arena.h"
#include "base/clock.h"
#include "rows/rollup.h"
#include "rows/rollup_events.h"
#include "rows/session.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static struct pg *database(void)
{
    struct pg *pg = pgtest_database(8);
    pgtest_run(pg, "INSERT INTO app (app_id, slug, name) VALUES (1, 'a', 'A'), (2, 'b', 'B')");
    pgtest_run(
        pg, "INSERT INTO version (version_id, app_id, version, build, first_seen) SELECT n, 1 + n % 2, '1.' || n / 4,"
            " 'b' || n, now() FROM generate_series(1, 12) n");
    return pg;
}

/* A statement that adds random events of 50 days, more of them lately. */
#define EVENTS                                                                                                        \
    "INSERT INTO event (slot, day, report_id, app_id, version_id, issue_id, tree, received_at, occurred_at,"          \
    " duration_ms, waited_ms, category, reason, open, launch, foreground, weight, suppressed, suppressed_ms,"         \
    " thread_count, holder, install, os, os_version, arch, model, process_name, device_class, channel, scene, "       \
    "sample_count,"                                                                                                   \
    " frame_count, unresolved_count, rules_version, tags, country)"                                                   \
    " SELECT n % 64, current_date, gen_random_uuid(), 1 + v % 2, v, 1 + floor(random() * 5), floor(random() * 3), "   \
    "now(),"                                                                                                          \
    "  now() - random() * random() * interval '50 days', floor(random() * 9000), floor(random() * 9000),"             \
    "  (ARRAY['hang', 'cpu', 'frames'])[1 + n % 3], 'busy', random() < 0.2, random() < 0.1,"                          \
    "  (ARRAY[true, false, NULL])[1 + floor(random() * 3)::int], 1 + floor(random() * 3), floor(random() * 4),"       \
    "  floor(random() * 500), floor(random() * 100), (ARRAY['', 'worker', 'main'])[1 + floor(random() * 3)::int],"    \
    "  decode(lpad(to_hex(floor(random() * 300)::int), 32, '0'), 'hex'), 'linux', '6.' || floor(random() * 4), "      \
    "'x86_64',"                                                                                                       \
    "  'model ' || floor(random() * 20), 'p', (ARRAY['', 'low', 'high'])[1 + floor(random() * 3)::int],"              \
    "  'public', (ARRAY['', 'Cart', 'Home'])[1 + floor(random() * 3)::int], 1, floor(random() * 30), floor(random() " \
    "* 9), 1, ARRAY[(ARRAY['', 'plan=a', 'plan=b'])[1 + floor(random() * 3)::int], '', 'tier=' || n % 5],"            \
    "  (ARRAY['', 'DE', 'JP'])[1 + floor(random() * 3)::int]"                                                         \
    " FROM (SELECT n, 1 + floor(random() * 12)::int AS v FROM generate_series(1, $1) n) n RETURNING report_id"

static int64_t below(int64_t most)
{
    return random() % most;
}

/* Add random session records of an app of the last nine days, and their entries. */
static size_t add_sessions(struct pg_tx *tx, struct arena *arena, int32_t app, struct delta_entry *entries,
                           size_t count)
{
    static const char *const models[] = {"a", "b", "c d", ""}, *const versions[] = {"1.0", "1.1", "1.2", "1.3"};
    struct session_row *rows = arena_array(arena, count + 1, sizeof *rows);

    for (size_t i = 0; i < count; i++) {
        int64_t version = 2 * (1 + below(6)) - (app == 2); /* as database() made them */
        struct session_row *s = &rows[i];
        *s = (struct session_row){.key = {.slot = (int16_t)below(64), .day = clock_day(clock_wall_us())},
                                  .app_id = app,
                                  .version_id = version,
                                  .received_us = clock_wall_us(),
                                  .occurred_us = clock_wall_us() - below(9ll * 86400 * 1000000),
                                  .channel = below(2) ? "public" : "gray",
                                  .plugins = 15,
                                  .over = true,
                                  .loop = true,
                                  .duration_ms = below(90000),
                                  .foreground_ms = below(3) ? below(60000) : -1,
                                  .hangs = below(3),
                                  .hang_ms = below(2000),
                                  .weight = 1 + (double)below(8) / 2,
                                  .watched_weight = (double)below(5),
                                  .os = "linux",
                                  .os_version = below(2) ? "6.1" : "6.2",
                                  .arch = "x86_64",
                                  .model = models[below(4)],
                                  .process_name = "p",
                                  .device_class = "2gb",
                                  .country = below(2) ? "DE" : "",
                                  .ends = (int32_t)below(4),
                                  .fooms = (int32_t)below(2),
                                  .watchdogs = (int32_t)below(2),
                                  .crashes = (int32_t)below(2),
                                  .cpu_ms = below(4) ? below(9000) : -1,
                                  .footprint_peak_bytes = below(4) ? below(1ll << 33) : -1,
                                  .launch_ms = below(4) ? below(5000) : -1,
                                  .frames_drawn = below(4) ? below(1000) : -1};
        s->frames_dropped = s->frames_drawn < 0 ? -1 : below(50);
        s->time_ms =
            (double)(s->foreground_ms >= 0 && s->foreground_ms < s->duration_ms ? s->foreground_ms : s->duration_ms);
        s->install[15] = (uint8_t)below(40);
        for (int k = 0; k < 16; k++)
            s->key.report_id[k] = (uint8_t)below(256);
        assert_int_equal(rows_rollup_session_entry(&entries[i], arena, s, versions[version / 4]), 0);
    }
    assert_int_equal(rows_sessions_store(tx, rows, count), 0);
    return count;
}

/* Add events, session records and their deltas, one for each app, as a batch does. */
static void add(struct pg *pg, int64_t count)
{
    struct pg_tx *tx;
    struct pg_rows *added, *rows;
    struct arena arena;
    struct delta_entry *entries;
    const char *of_process[32];
    struct uuid *ids;

    arena_init(&arena, 256u << 20);
    assert_int_equal(pg_begin(&tx, pg, MIRE_PG_WRITE), 0);
    assert_int_equal(pg_query(&added, tx, EVENTS, PG_INT8(count)), 0);
    ids = arena_array(&arena, (size_t)count, sizeof *ids);
    for (size_t i = 0; i < (size_t)count; i++)
        ids[i] = pg_uuid(added, i, 0);
    size_t of_process_count = rows_rollup_of_process(of_process);
    for (int32_t app = 1; app <= 2; app++) {
        assert_int_equal(pg_query(&rows, tx,
                                  "SELECT " ROLLUP_EVENT_COLUMNS("2") " FROM event e JOIN version v USING (version_id)"
                                                                      " WHERE e.report_id = ANY ($1) AND e.app_id = $3",
                                  PG_UUIDS(ids, (size_t)count), PG_TEXTS(of_process, of_process_count), PG_INT4(app)),
                         0);
        assert_int_equal(rows_rollup_entries(&entries, &arena, rows), 0);
        size_t found = pg_row_count(rows), sessions = (size_t)count / 4;
        struct delta_entry *all = arena_array(&arena, found + sessions + 1, sizeof *all);
        for (size_t i = 0; i < found; i++)
            all[i] = entries[i];
        found += add_sessions(tx, &arena, app, all + found, sessions);
        assert_int_equal(rows_rollup_delta_store(tx, &arena, app, 1, all, found), 0);
        pg_rows_free(&rows);
    }
    pg_rows_free(&added);
    assert_int_equal(pg_commit(&tx), 0);
    arena_fini(&arena);
}

/* Events leave, or change their issue and kind, as forgetting and re-keying do it. */
static void change(struct pg *pg, const char *sql)
{
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    struct pg_rows *rows;
    struct arena arena;
    arena_init(&arena, 64u << 20);
    assert_int_equal(pg_begin(&tx, pg, MIRE_PG_WRITE), 0);
    assert_int_equal(pg_query(&rows, tx, sql), 0);
    size_t count = pg_row_count(rows);
    struct rollup_day *days = arena_array(&arena, 2 * count + 1, sizeof *days);
    for (size_t i = 0; i < count; i++) {
        int32_t app = (int32_t)pg_int(rows, i, 0), day = pg_day(rows, i, 2);
        days[2 * i] = (struct rollup_day){app, pg_int(rows, i, 1), day};
        days[2 * i + 1] = (struct rollup_day){app, 0, day};
    }
    assert_int_equal(rows_rollups_due(tx, &arena, days, 2 * count), 0);
    pg_rows_free(&rows);
    assert_int_equal(pg_commit(&tx), 0);
    arena_fini(&arena);
}

static const char forget[] = "DELETE FROM event WHERE get_byte(install, 15) % 7 = 3 RETURNING app_id, issue_id,"
                             " (occurred_at AT TIME ZONE 'UTC')::date";
/* The days of the old issue and of the new one. */
static const char move[] =
    "WITH o AS (SELECT report_id, issue_id FROM event WHERE get_byte(install, 15) % 5 = 2),"
    " n AS (UPDATE event e SET issue_id = 1 + o.issue_id % 5, category = 'hang', tree = 0 FROM o WHERE e.report_id ="
    "  o.report_id RETURNING e.app_id, o.issue_id AS old, e.issue_id AS new, e.occurred_at)"
    " SELECT app_id, x, (occurred_at AT TIME ZONE 'UTC')::date FROM n CROSS JOIN LATERAL (VALUES (old), (new)) v (x)";

static void cells_hold_what_a_recount_says(void **state)
{
    (void)state;
    struct pg *pg = database();
    add(pg, 300);
    rolluptest_check(pg);
    add(pg, 200);
    add(pg, 1);
    rolluptest_check(pg);
    assert_int_equal(pgtest_number(pg, "SELECT count(*) FROM rollup_delta"), 0);
    change(pg, forget);
    rolluptest_check(pg);
    add(pg, 100);
    change(pg, move);
    add(pg, 100);
    rolluptest_check(pg);
    assert_int_equal(pgtest_number(pg, "SELECT count(*) FROM rollup_due"), 0);
    change(pg, "DELETE FROM session WHERE get_byte(install, 15) % 3 = 1 RETURNING app_id, 0::bigint,"
               " (occurred_at AT TIME ZONE 'UTC')::date");
    rolluptest_check(pg);
    change(pg, "DELETE FROM session RETURNING app_id, 0::bigint, (occurred_at AT TIME ZONE 'UTC')::date");
    rolluptest_check(pg);
    change(pg, "DELETE FROM event RETURNING app_id, issue_id, (occurred_at AT TIME ZONE 'UTC')::date");
    rolluptest_check(pg);
    assert_int_equal(pgtest_number(pg, "SELECT count(*) FROM rollup"), 0);
    pg_close(pg);
}

/* --- beside each other --- */

struct writer {
    pthread_t thread;
    struct pg *pg;
};

static void *write_some(void *context)
{
    struct writer *w = context;
    for (int i = 0; i < 9; i++) {
        add(w->pg, 20);
        if (i % 3 == 2)
            change(w->pg, i == 2 ? move : forget);
    }
    return NULL;
}

/* Two processes merge while events come, move and go; one is killed again and again. */
static void a_killed_merger_loses_and_doubles_nothing(void **state)
{
    (void)state;
    struct pg *pg = database();
    struct writer w = {.pg = pg};
    char conninfo[512];
    bool more;

    snprintf(conninfo, sizeof conninfo, "%s", pgtest_database_conninfo());
    assert_int_equal(pthread_create(&w.thread, NULL, write_some, &w), 0);
    for (int i = 0; i < 8; i++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (!child) {
            struct pg_options options = {.conninfo = conninfo, .connections = 1, .wait_ms = 5000};
            struct pg *own;
            if (!pg_open(&own, &options))
                for (;;)
                    (void)rows_rollups_merge(&more, own, clock_wall_us());
            _exit(1);
        }
        usleep((useconds_t)(1000 + i * 9000));
        (void)rows_rollups_merge(&more, pg, clock_wall_us());
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
    }
    pthread_join(w.thread, NULL);
    /* The backend of the last killed process may still hold the merger's lock. */
    pgtest_until_none(pg, "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'", NULL);
    rolluptest_check(pg);
    pg_close(pg);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_hold_what_a_recount_says),
        cmocka_unit_test(a_killed_merger_loses_and_doubles_nothing),
    };
    return cmocka_run_group_tests(tests, pgtest_start, pgtest_stop);
}
