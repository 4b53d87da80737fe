/* Ramps on a real PostgreSQL: the server's own actions as time passes and sessions arrive. */
#include "daemon/ramps.h"

#include "api/rollout/rollout_share.h"
#include "base/clock.h"
#include "base/log.h"
#include "rows/key.h"
#include "rows/ramp.h"
#include "rows/document.h"
#include "support/pgtest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#define MINUTE 60000000ll

static const struct log quiet = {.fd = 2, .least = MIRE_LOG_OFF};

struct scene {
    struct pg *pg;
    int64_t now_us;
};

/* A ramp of hang in the default's public rule: 2 %, and from there 1 %, 5 %, 20 %, an hour each. */
static void scene_open(struct scene *scene, bool backs)
{
    char key[MIRE_KEY_TEXT];
    struct arena arena;
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    const struct rollout_share location = {1, MIRE_PLUGIN_HANG, "public"};

    scene->pg = pgtest_database(2);
    scene->now_us = clock_wall_us();
    arena_init(&arena, 4 << 20);
    assert_int_equal(rows_key_create(key, scene->pg, "a", "rollout", ""), 0);
    const struct rows_ramp ramp = {.app = 1,
                                   .plugin = "hang",
                                   .rule = "public",
                                   .author = "kim",
                                   .state = "running",
                                   .note = "",
                                   .steps = {30000, 50000, 200000},
                                   .step_count = 3,
                                   .hold_s = 3600,
                                   .crash_points = 0.5,
                                   .backs = backs,
                                   .before_ppm = 20000,
                                   .step_since_us = scene->now_us,
                                   .looked_us = scene->now_us};
    assert_int_equal(pg_begin(&tx, scene->pg, MIRE_PG_WRITE), 0);
    assert_int_equal(rollout_share_change(tx, &arena, &location, 0, 30000, "kim", "begin"), MIRE_DOCUMENT_DONE);
    assert_int_equal(rows_ramp_put(tx, &ramp), 0);
    assert_int_equal(pg_commit(&tx), 0);
    arena_fini(&arena);
}

static void run_sql(struct scene *scene, const char *sql)
{
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    assert_int_equal(pg_begin(&tx, scene->pg, MIRE_PG_WRITE), 0);
    assert_int_equal(pg_script(tx, sql), 0);
    assert_int_equal(pg_commit(&tx), 0);
}

/* Add sessions of a channel with these plugins, some of them ended by a crash: on this day and the next, since a scene
 * lasts some hours. */
static void sessions(struct scene *scene, const char *channel, int plugins, int count, int crashes)
{
    char sql[1200];

    snprintf(
        sql, sizeof sql,
        "INSERT INTO session_day SELECT 0, (now() AT TIME ZONE 'UTC')::date + day, 1, 1, '%s', %d, %d, %d, %d, %d,"
        " 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 FROM generate_series(0, 1) AS day;"
        "INSERT INTO session_end_day SELECT 0, (now() AT TIME ZONE 'UTC')::date + day, 1, 1, '%s', %d, way, count,"
        " count FROM generate_series(0, 1) AS day, (VALUES ('clean_exit', %d), ('crash', %d)) AS ends (way, count)",
        channel, plugins, count, count, count, count * 60000, channel, plugins, count - crashes, crashes);
    run_sql(scene, sql);
}

static void pass(struct scene *scene, int64_t minutes)
{
    scene->now_us += minutes * MINUTE;
    assert_int_equal(ramps_step(scene->pg, &quiet, scene->now_us), 0);
}

static long long versions(struct scene *scene)
{
    return pgtest_number(scene->pg, "SELECT max(version) FROM rollout_version");
}

static bool says(struct scene *scene, const char *what)
{
    char sql[400];

    snprintf(sql, sizeof sql,
             "SELECT count(*) FROM rollout_ramp, rollout_version WHERE version = (SELECT max(version) FROM "
             "rollout_version) AND %s",
             what);
    return pgtest_number(scene->pg, sql) == 1;
}

static void a_ramp_goes_up_step_by_step_and_each_step_is_a_version(void **state)
{
    struct scene scene;
    (void)state;
    scene_open(&scene, false);
    sessions(&scene, "public", 9, 500, 5);
    sessions(&scene, "public", 8, 500, 5);
    pass(&scene, 59);
    assert_int_equal(versions(&scene), 1);
    assert_true(says(&scene, "state = 'running' AND note LIKE 'holds for 1 more%'"));
    pass(&scene, 2);
    assert_int_equal(versions(&scene), 2);
    assert_true(says(
        &scene, "step = 1 AND rollout_version.author = 'ramp' AND reason = 'hang to 5 %: step 2 of 3' AND rules LIKE "
                "'%\"name\":\"public\",\"when\":{},\"plugins\":{\"hang\":{\"probability\":0.05}%'"));
    pass(&scene, 61);
    pass(&scene, 61);
    pass(&scene, 61);
    assert_int_equal(versions(&scene), 3);
    assert_true(says(&scene, "state = 'done' AND step = 2"));
    pg_close(scene.pg);
}

static void it_waits_for_both_arms_in_one_channel(void **state)
{
    struct scene scene;
    (void)state;
    scene_open(&scene, false);
    sessions(&scene, "gray", 9, 5000, 0); /* all of gray has it: no control there */
    sessions(&scene, "public", 8, 500, 5);
    pass(&scene, 61);
    assert_true(says(&scene, "state = 'running' AND step = 0 AND note LIKE 'waits for sessions: 0 with%'"));
    sessions(&scene, "public", 9, 500, 5);
    pass(&scene, 2);
    assert_true(says(&scene, "step = 1"));
    pg_close(scene.pg);
}

static void crashes_of_the_sampled_bring_back_what_was(void **state)
{
    struct scene scene;
    (void)state;
    scene_open(&scene, true);
    sessions(&scene, "public", 9, 500, 60);
    sessions(&scene, "public", 8, 500, 5);
    pass(&scene, 2);
    assert_int_equal(versions(&scene), 2);
    assert_true(says(&scene, "state = 'stopped' AND tripped_at IS NOT NULL AND note LIKE '%end badly%' AND reason LIKE "
                             "'hang back to 2 %' AND rules LIKE "
                             "'%\"name\":\"public\",\"when\":{},\"plugins\":{\"hang\":{\"probability\":0.02}%'"));
    pass(&scene, 600);
    assert_int_equal(versions(&scene), 2);
    pg_close(scene.pg);
}

static void crashes_pause_a_ramp_that_does_not_go_back(void **state)
{
    struct scene scene;
    (void)state;
    scene_open(&scene, false);
    sessions(&scene, "public", 9, 500, 60);
    sessions(&scene, "public", 8, 500, 5);
    pass(&scene, 2);
    assert_int_equal(versions(&scene), 1);
    assert_true(says(&scene, "state = 'paused' AND tripped_at IS NOT NULL AND note LIKE '%end badly%'"));
    pg_close(scene.pg);
}

static void a_rollout_changed_by_hand_pauses(void **state)
{
    struct scene scene;
    (void)state;
    scene_open(&scene, true);
    run_sql(&scene,
            "INSERT INTO rollout_version (app_id, version, author, reason, rules) SELECT app_id, 2, 'kim', 'by hand',"
            " '{\"rules\":[]}' FROM rollout_version");
    pass(&scene, 2);
    assert_int_equal(versions(&scene), 2);
    assert_true(says(&scene, "state = 'paused' AND tripped_at IS NULL AND note LIKE '%somebody has changed it'"));
    pg_close(scene.pg);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ramp_goes_up_step_by_step_and_each_step_is_a_version),
        cmocka_unit_test(it_waits_for_both_arms_in_one_channel),
        cmocka_unit_test(crashes_of_the_sampled_bring_back_what_was),
        cmocka_unit_test(crashes_pause_a_ramp_that_does_not_go_back),
        cmocka_unit_test(a_rollout_changed_by_hand_pauses),
    };
    return cmocka_run_group_tests(tests, pgtest_start, pgtest_stop);
}
