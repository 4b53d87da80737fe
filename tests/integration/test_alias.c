/* Effects of merges, splits and moves; undoing one restores the state before it. */
#include "base/log.h"
#include "cluster/cluster.h"
#include "rows/alias.h"
#include "rows/derive.h"
#include "rows/tree.h"
#include "support/pgtest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#define SHOWN_ALL                                                                                                      \
    "SELECT coalesce(sum(issue_id * 1000003 + (tree::bigint & 4294967295) * 10007 + shown_id * 101), 0)::bigint FROM " \
    "issue_shown"

static void run(struct pg *pg, const char *sql)
{
    struct pg_tx *tx = NULL;
    assert_int_equal(pg_begin(&tx, pg, MIRE_PG_WRITE), 0);
    assert_int_equal(pg_script(tx, sql), 0);
    assert_int_equal(pg_commit(&tx), 0);
}

/* Issues 1 to 6 of app 1, 7 of app 2; issue 1 has the trees 5 and -5. */
static struct pg *database(void)
{
    struct pg *pg = pgtest_database(2);
    run(pg, "INSERT INTO app (app_id, slug, name) VALUES (1, 'one', 'One'), (2, 'two', 'Two');"
            "INSERT INTO version (app_id, version, first_seen) VALUES (1, '1.0', now());"
            "INSERT INTO issue (app_id, feature_key, caller1, caller2, category, reason, rules_version, first_seen,"
            " first_version_id) SELECT 1 + g / 7, decode(md5(g::text), 'hex'), 'f' || g, 'g', 'hang', 'cpu', 1,"
            " now() - g * interval '1 day', 1 FROM generate_series(1, 7) g;"
            "INSERT INTO issue_tree (app_id, issue_id, tree, first_seen, frames, caller1)"
            " VALUES (1, 1, 5, now(), '', 0), (1, 1, -5, now() - interval '3 days', '', 0), (1, 2, 5, now(), '', 0)");
    return pg;
}

static struct pg_tx *begin(struct pg *pg, int32_t app)
{
    struct pg_tx *tx = NULL;
    assert_int_equal(pg_begin(&tx, pg, MIRE_PG_WRITE), 0);
    assert_int_equal(rows_alias_begin(tx, app), 0);
    return tx;
}

static int merge(struct pg *pg, int64_t issue, int64_t into, int64_t *act_out)
{
    struct alias_act act = {.app = 1, .author = "kim", .reason = "same"};
    struct pg_tx *tx = begin(pg, 1);
    int rc = rows_alias_merge(tx, &act, issue, into);
    assert_int_equal(rc ? 0 : pg_commit(&tx), 0);
    pg_end(&tx);
    if (act_out)
        *act_out = act.act;
    return rc;
}

static int undo(struct pg *pg, int64_t number)
{
    struct alias_act act = {.app = 1, .author = "lee", .reason = "not the same", .act = number};
    struct pg_tx *tx = begin(pg, 1);
    int rc = rows_alias_undo(tx, &act);
    assert_int_equal(rc ? 0 : pg_commit(&tx), 0);
    pg_end(&tx);
    return rc;
}

static int64_t shown(struct pg *pg, int issue, int tree)
{
    char sql[200];
    snprintf(sql, sizeof sql,
             "SELECT coalesce((SELECT shown_id FROM issue_shown WHERE issue_id = %d AND tree = %d), 0)::bigint", issue,
             tree);
    return pgtest_number(pg, sql);
}

static void a_merge_is_followed_to_its_end(void **state)
{
    (void)state;
    struct pg *pg = database();
    assert_int_equal(merge(pg, 3, 2, NULL), 0);
    assert_int_equal(merge(pg, 2, 1, NULL), 0);
    assert_int_equal(shown(pg, 3, 0), 1);
    assert_int_equal(shown(pg, 2, 0), 1);
    assert_int_equal(shown(pg, 1, 0), 1);
    assert_int_equal(shown(pg, 4, 0), 0);
    pg_close(pg);
}

static void only_issues_shown_as_themselves_are_merged(void **state)
{
    (void)state;
    struct pg *pg = database();
    assert_int_equal(merge(pg, 3, 2, NULL), 0);
    assert_int_equal(merge(pg, 3, 1, NULL), MIRE_ALIAS_NONE);
    assert_int_equal(merge(pg, 1, 3, NULL), MIRE_ALIAS_NONE);
    assert_int_equal(merge(pg, 2, 2, NULL), MIRE_ALIAS_NONE);
    assert_int_equal(merge(pg, 1, 99, NULL), MIRE_ALIAS_NONE);
    assert_int_equal(merge(pg, 1, 7, NULL), MIRE_ALIAS_NONE); /* of another app */
    run(pg, "UPDATE issue SET subject = 'Malloc 16' WHERE issue_id = 4");
    assert_int_equal(merge(pg, 4, 1, NULL), MIRE_ALIAS_NONE); /* of memory */
    pg_close(pg);
}

static void undoing_restores_what_was(void **state)
{
    (void)state;
    struct pg *pg = database();
    int64_t act;
    assert_int_equal(merge(pg, 3, 2, NULL), 0);
    int64_t before = pgtest_number(pg, SHOWN_ALL);
    assert_int_equal(merge(pg, 2, 1, &act), 0);
    assert_int_not_equal(pgtest_number(pg, SHOWN_ALL), before);
    assert_int_equal(undo(pg, act), 0);
    assert_int_equal(pgtest_number(pg, SHOWN_ALL), before);
    assert_int_equal(undo(pg, act), MIRE_ALIAS_NONE);
    assert_int_equal(merge(pg, 2, 1, NULL), 0); /* and again */
    assert_int_equal(pgtest_number(pg, "SELECT count(*) FROM issue_alias WHERE author = 'kim' AND undone_by = 'lee'"
                                       " AND undone_why = 'not the same' AND reason = 'same'"),
                     1);
    assert_int_equal(pgtest_number(pg, "SELECT count(*) FROM issue_alias"), 3);
    pg_close(pg);
}

static int split(struct pg *pg, struct alias_tree tree, int64_t from, int64_t *opened_out, int64_t *act_out)
{
    struct alias_act act = {.app = 1, .author = "kim", .reason = "two bugs"};
    struct pg_tx *tx = begin(pg, 1);
    int rc = rows_alias_split(opened_out, tx, &act, from, &tree, 1);
    assert_int_equal(rc ? 0 : pg_commit(&tx), 0);
    pg_end(&tx);
    *act_out = act.act;
    return rc;
}

static void a_split_tree_is_an_issue_of_its_own(void **state)
{
    (void)state;
    struct pg *pg = database();
    int64_t opened, again, act;
    assert_int_equal(merge(pg, 1, 4, NULL), 0);
    int64_t before = pgtest_number(pg, SHOWN_ALL);
    assert_int_equal(split(pg, (struct alias_tree){1, -5}, 4, &opened, &act), 0);
    assert_int_equal(shown(pg, 1, -5), opened);
    assert_int_equal(shown(pg, 1, 0), 4);
    assert_int_equal(shown(pg, (int)opened, 0), opened);
    assert_int_equal(pgtest_number(pg, "SELECT count(*) FROM issue WHERE split_from = 4 AND caller1 = 'f4'"
                                       " AND first_seen < now() - interval '2 days'"),
                     1);
    assert_int_equal(undo(pg, act), 0);
    assert_int_equal(pgtest_number(pg, SHOWN_ALL), before);
    assert_int_equal(split(pg, (struct alias_tree){1, -5}, 4, &again, &act), 0);
    assert_int_equal(again, opened);
    assert_int_equal(merge(pg, opened, 2, &act), 0);
    assert_int_equal(shown(pg, 1, -5), 2);
    pg_close(pg);
}

static void what_is_not_there_is_not_split(void **state)
{
    (void)state;
    struct pg *pg = database();
    int64_t opened, act;
    assert_int_equal(split(pg, (struct alias_tree){1, 6}, 1, &opened, &act), MIRE_ALIAS_NONE);
    assert_int_equal(split(pg, (struct alias_tree){2, 5}, 1, &opened, &act), MIRE_ALIAS_NONE);
    assert_int_equal(split(pg, (struct alias_tree){1, 5}, 1, &opened, &act), 0);
    assert_int_equal(split(pg, (struct alias_tree){1, 5}, 1, &opened, &act), MIRE_ALIAS_NONE);
    assert_int_equal(pgtest_number(pg, "SELECT count(*) FROM issue_alias"), 1);
    pg_close(pg);
}

/* Issue 2 gets other keys: its reports move on to 5, later to 6. */
static void an_alias_holds_for_where_the_reports_moved(void **state)
{
    (void)state;
    struct pg *pg = database();
    int64_t act;
    assert_int_equal(merge(pg, 2, 1, &act), 0);
    run(pg, "UPDATE issue SET gone_to = 5 WHERE issue_id = 2; UPDATE issue SET gone_to = 6 WHERE issue_id = 5");
    struct pg_tx *tx = begin(pg, 1);
    assert_int_equal(rows_shown_refresh(tx, 1), 0);
    assert_int_equal(pg_commit(&tx), 0);
    assert_int_equal(shown(pg, 2, 0), 1);
    assert_int_equal(shown(pg, 6, 0), 1);
    assert_int_equal(undo(pg, act), 0);
    assert_int_equal(pgtest_number(pg, SHOWN_ALL), 0);
    pg_close(pg);
}

static void a_circle_of_moves_is_one_issue(void **state)
{
    (void)state;
    struct pg *pg = database();
    assert_int_equal(merge(pg, 2, 3, NULL), 0);
    assert_int_equal(merge(pg, 3, 4, NULL), 0);
    run(pg, "UPDATE issue SET gone_to = 2 WHERE issue_id = 4");
    struct pg_tx *tx = begin(pg, 1);
    assert_int_equal(rows_shown_refresh(tx, 1), 0);
    assert_int_equal(pg_commit(&tx), 0);
    for (int issue = 2; issue <= 3; issue++) /* 4 is empty, and leads to 2 */
        assert_int_equal(shown(pg, issue, 0), 2);
    pg_close(pg);
}

static int scenes_of(void *context, struct cluster_scenes *out, int32_t app_id,
                     const uint8_t blame[MIRE_FEATURE_KEY_LEN])
{
    return rows_issue_scenes(&out->first, &out->count, context, app_id, blame);
}

static int open_row(void *context, int64_t *out, const struct issue_row *issue)
{
    return rows_issue_open(out, context, issue);
}

static int join_row(void *context, int32_t app_id, int64_t issue_id, int64_t into)
{
    return rows_issue_join(context, app_id, issue_id, into);
}

/* Open an issue of Caller1 `blame` in that scene, as a report would. */
static int64_t open_scene(struct pg *pg, uint8_t blame, uint8_t scene)
{
    struct pg_tx *tx = begin(pg, 1);
    const struct cluster_index index = {tx, NULL, open_row, NULL, scenes_of, join_row};
    const struct issue_row row = {.app_id = 1,
                                  .feature_key = {blame, scene},
                                  .blame_key = {blame},
                                  .joins = true,
                                  .caller1 = "load",
                                  .caller1_image = "app",
                                  .caller1_location = "",
                                  .caller2 = "scene",
                                  .caller2_image = "app",
                                  .category = "hang",
                                  .reason = "cpu",
                                  .subject = "",
                                  .first_version_id = 1};
    int64_t issue;
    assert_int_equal(cluster_open(&issue, &index, &row), 0);
    assert_int_equal(pg_commit(&tx), 0);
    return issue;
}

static void refresh(struct pg *pg)
{
    struct pg_tx *tx = begin(pg, 1);
    assert_int_equal(rows_shown_refresh(tx, 1), 0);
    assert_int_equal(pg_commit(&tx), 0);
}

static void scenes_of_one_caller1_are_shown_as_the_first(void **state)
{
    (void)state;
    struct pg *pg = database();
    int64_t first = open_scene(pg, 9, 0), other = open_scene(pg, 8, 0), scenes[6];
    for (uint8_t i = 1; i < 6; i++)
        scenes[i] = open_scene(pg, 9, i);
    for (uint8_t i = 1; i < 6; i++)
        assert_int_equal(shown(pg, (int)scenes[i], 0), i < MIRE_CLUSTER_SCENES ? first : 0);
    assert_int_equal(shown(pg, (int)other, 0), 0);
    assert_int_equal(pgtest_number(pg, "SELECT count(*) FROM issue_alias WHERE author = 'mire'"),
                     MIRE_CLUSTER_SCENES - 1);
    int64_t before = pgtest_number(pg, SHOWN_ALL);
    refresh(pg);
    assert_int_equal(pgtest_number(pg, SHOWN_ALL), before);
    pg_close(pg);
}

static void a_scene_joins_what_the_first_is_shown_as(void **state)
{
    (void)state;
    struct pg *pg = database();
    int64_t first = open_scene(pg, 9, 0);
    assert_int_equal(merge(pg, first, 1, NULL), 0);
    int64_t second = open_scene(pg, 9, 1);
    assert_int_equal(shown(pg, (int)second, 0), 1);
    int64_t before = pgtest_number(pg, SHOWN_ALL);
    refresh(pg);
    assert_int_equal(pgtest_number(pg, SHOWN_ALL), before);
    pg_close(pg);
}

static void where_somebody_took_a_scene_out_none_is_joined_any_more(void **state)
{
    (void)state;
    struct pg *pg = database();
    (void)open_scene(pg, 9, 0);
    int64_t second = open_scene(pg, 9, 1);
    assert_int_equal(undo(pg, pgtest_number(pg, "SELECT act_id FROM issue_alias")), 0);
    assert_int_equal(shown(pg, (int)second, 0), 0);
    assert_int_equal(shown(pg, (int)open_scene(pg, 9, 2), 0), 0);
    pg_close(pg);
}

static void an_issue_keeps_only_so_many_trees(void **state)
{
    (void)state;
    struct pg *pg = database();
    struct pg_tx *tx = begin(pg, 1);
    struct tree_row row = {.app_id = 1, .issue_id = 3, .first_seen_us = 1, .frames = "app\tf\tx\n"};
    for (row.tree = 1; row.tree <= MIRE_TREES_MAX; row.tree++)
        assert_int_equal(rows_tree_keep(tx, &row), 1);
    assert_int_equal(rows_tree_keep(tx, &row), 0);
    row.tree = 1;
    assert_int_equal(rows_tree_keep(tx, &row), 1);
    assert_int_equal(rows_tree_find(tx, &(struct tree_row){.app_id = 1, .issue_id = 3, .tree = 1}), 1);
    assert_int_equal(rows_tree_find(tx, &(struct tree_row){.app_id = 1, .issue_id = 3, .tree = MIRE_TREES_MAX + 1}), 0);
    pg_end(&tx);
    pg_close(pg);
}

/* A reader does not miss a tree of a transaction that was still running at its last look. */
static void news_of_trees_miss_none(void **state)
{
    (void)state;
    struct pg *pg = pgtest_database(3);
    struct pg_tx *late = NULL, *read = NULL;
    struct rows_tree *trees;
    struct arena arena;
    size_t count;
    int64_t since;
    arena_init(&arena, 1 << 20);
    assert_int_equal(pg_begin(&late, pg, MIRE_PG_WRITE), 0);
    assert_int_equal(rows_tree_keep(late, &(struct tree_row){1, 1, 1, 1, "app\ta\tx\n", 0}), 1);
    run(pg, "INSERT INTO issue_tree (app_id, issue_id, tree, first_seen, frames, caller1) VALUES (1, 2, 9, now(), 'b', "
            "-1)");
    assert_int_equal(pg_begin(&read, pg, MIRE_PG_READ), 0);
    assert_int_equal(rows_tree_news(&trees, &count, &since, read, &arena, 1, 0, 10), 0);
    assert_int_equal(count, 1);
    assert_int_equal(trees[0].issue_id, 2);
    assert_int_equal(trees[0].caller1, -1);
    pg_end(&read);
    assert_int_equal(pg_commit(&late), 0);
    assert_int_equal(pg_begin(&read, pg, MIRE_PG_READ), 0);
    assert_int_equal(rows_tree_news(&trees, &count, &since, read, &arena, 1, since, 10), 0);
    assert_int_equal(count, 2);
    assert_string_equal(trees[0].frames, "app\ta\tx\n");
    assert_int_equal(rows_tree_news(&trees, &count, &since, read, &arena, 1, since, 10), 0);
    assert_int_equal(count, 0);
    pg_end(&read);
    arena_fini(&arena);
    pg_close(pg);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_merge_is_followed_to_its_end),
        cmocka_unit_test(only_issues_shown_as_themselves_are_merged),
        cmocka_unit_test(undoing_restores_what_was),
        cmocka_unit_test(a_split_tree_is_an_issue_of_its_own),
        cmocka_unit_test(what_is_not_there_is_not_split),
        cmocka_unit_test(an_alias_holds_for_where_the_reports_moved),
        cmocka_unit_test(a_circle_of_moves_is_one_issue),
        cmocka_unit_test(an_issue_keeps_only_so_many_trees),
        cmocka_unit_test(news_of_trees_miss_none),
        cmocka_unit_test(scenes_of_one_caller1_are_shown_as_the_first),
        cmocka_unit_test(a_scene_joins_what_the_first_is_shown_as),
        cmocka_unit_test(where_somebody_took_a_scene_out_none_is_joined_any_more),
    };
    return cmocka_run_group_tests(tests, pgtest_start, pgtest_stop);
}
