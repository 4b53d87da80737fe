/*
 * test_pg.c - pool, statements, migrations, partitions, keys and inbox against a real PostgreSQL.
 */
#include "support/pgtest.h"

#include "base/arena.h"
#include "base/clock.h"
#include "inbox/inbox.h"
#include "rows/key.h"
#include "postgres/migrate.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static struct pg *pg; /* one database for the tests that do not change tables */

static int start(void **state)
{
    int rc = pgtest_start(state);
    if (!rc)
        pg = pgtest_database(4);
    return rc;
}

static int stop(void **state)
{
    pg_close(pg);
    return pgtest_stop(state);
}

static void values_come_back_as_they_were_sent(void **state)
{
    (void)state;
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    struct uuid id;
    uuid_make(&id, clock_wall_us());
    assert_int_equal(pg_begin(&tx, pg, MIRE_PG_WRITE), 0);
    assert_int_equal(
        pg_query(&rows, tx,
                 "SELECT $1::bool, $2::int2, $3::int4, $4::int8, $5::float8, $6::text, $7::bytea, $8::uuid,"
                 " $9::timestamptz, $10::date, $11::text, $5::float4",
                 PG_BOOL(true), PG_INT2(-7), PG_INT4(INT32_MIN), PG_INT8(INT64_MAX), PG_REAL(0.25),
                 PG_TEXT("\xc3\xa4'"), PG_BYTES("a\0b", 3), PG_UUID(&id), PG_TIME(1700000000123456), PG_DAY(20000),
                 PG_NULL()),
        0);
    assert_true(pg_bool(rows, 0, 0));
    assert_int_equal(pg_int(rows, 0, 1), -7);
    assert_int_equal(pg_int(rows, 0, 2), INT32_MIN);
    assert_true(pg_int(rows, 0, 3) == INT64_MAX);
    assert_true(pg_real(rows, 0, 4) == 0.25);
    assert_string_equal(pg_text(rows, 0, 5), "\xc3\xa4'");
    assert_int_equal(pg_bytes(rows, 0, 6).len, 3);
    struct uuid back = pg_uuid(rows, 0, 7);
    assert_memory_equal(back.bytes, id.bytes, 16);
    assert_true(pg_time(rows, 0, 8) == 1700000000123456);
    assert_int_equal(pg_day(rows, 0, 9), 20000);
    assert_true(pg_is_null(rows, 0, 10));
    assert_true(pg_real(rows, 0, 11) == 0.25);
}

static void lists_come_back_as_rows(void **state)
{
    (void)state;
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    const int64_t numbers[] = {1, -2, 3};
    const char *const texts[] = {"a", NULL, "c"};
    const int32_t days[] = {0, 1, 2};
    const struct pg_bytes bytes[] = {{"x", 1}, {"", 0}, {NULL, 0}};
    assert_int_equal(pg_begin(&tx, pg, MIRE_PG_EACH), 0);
    assert_int_equal(pg_query(&rows, tx,
                              "SELECT * FROM unnest($1::int8[], $2::text[], $3::date[], $4::bytea[], $5::float8[])",
                              PG_INT8S(numbers, 3), PG_TEXTS(texts, 3), PG_DAYS(days, 3), PG_BYTESS(bytes, 3),
                              PG_REALS((const double[]){0}, 0)),
                     0);
    assert_int_equal(pg_row_count(rows), 3);
    assert_int_equal(pg_int(rows, 1, 0), -2);
    assert_true(pg_is_null(rows, 1, 1));
    assert_string_equal(pg_text(rows, 2, 1), "c");
    assert_int_equal(pg_day(rows, 2, 2), 2);
    assert_false(pg_is_null(rows, 1, 3));
    assert_true(pg_is_null(rows, 2, 3));
    assert_true(pg_is_null(rows, 0, 4));
}

static void what_is_not_committed_is_gone(void **state)
{
    (void)state;
    struct pg_tx *tx = NULL;
    assert_int_equal(pg_begin(&tx, pg, MIRE_PG_WRITE), 0);
    assert_int_equal(pg_query(NULL, tx, "INSERT INTO app (app_id, slug, name) VALUES (900, 'gone', '')"), 0);
    pg_end(&tx);
    assert_null(tx);
    assert_int_equal(pgtest_number(pg, "SELECT count(*) FROM app WHERE app_id = 900"), 0);
}

static void an_undone_statement_leaves_the_rest(void **state)
{
    (void)state;
    struct pg_tx *tx = NULL;
    assert_int_equal(pg_begin(&tx, pg, MIRE_PG_WRITE), 0);
    assert_int_equal(pg_query(NULL, tx, "INSERT INTO app (app_id, slug, name) VALUES (901, 'kept', '')"), 0);
    assert_int_equal(pg_save(tx), 0);
    assert_int_equal(pg_query(NULL, tx, "INSERT INTO app (app_id, slug, name) VALUES (902, 'No Slug', '')"),
                     MIRE_FAULT_SQL);
    assert_non_null(strstr(pg_complaint(tx), "app_slug_fits_in_a_url"));
    assert_int_equal(pg_undo(tx), 0);
    assert_int_equal(pg_commit(&tx), 0);
    assert_int_equal(pgtest_number(pg, "SELECT count(*) FROM app WHERE app_id IN (901, 902)"), 1);
}

static void a_failed_batch_leaves_nothing(void **state)
{
    (void)state;
    struct pg_tx *tx = NULL;
    assert_int_equal(pg_begin(&tx, pg, MIRE_PG_EACH), 0);
    static const char sql[] = "INSERT INTO app (app_id, slug, name) VALUES ($1, $2, '')";
    assert_int_equal(pg_batch_begin(tx), 0);
    assert_int_equal(pg_batch_add(tx, sql, (struct pg_param[]){PG_INT4(910), PG_TEXT("fine")}, 2), 0);
    assert_int_equal(pg_batch_add(tx, sql, (struct pg_param[]){PG_INT4(911), PG_TEXT("NOT")}, 2), 0);
    assert_int_equal(pg_batch_end(tx, NULL, 0), MIRE_FAULT_SQL);
    /* the connection is usable again */
    int64_t counts[2] = {0};
    assert_int_equal(pg_batch_begin(tx), 0);
    assert_int_equal(pg_batch_add(tx, sql, (struct pg_param[]){PG_INT4(912), PG_TEXT("fine-2")}, 2), 0);
    assert_int_equal(pg_batch_add(tx, "DELETE FROM app WHERE app_id = 912", NULL, 0), 0);
    assert_int_equal(pg_batch_end(tx, counts, 2), 0);
    assert_int_equal(counts[1], 1);
    pg_end(&tx);
    assert_int_equal(pgtest_number(pg, "SELECT count(*) FROM app WHERE app_id BETWEEN 910 AND 912"), 0);
}

static void a_killed_backend_is_away_and_then_replaced(void **state)
{
    (void)state;
    struct pg_tx *tx = NULL;
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    assert_int_equal(pg_begin(&tx, pg, MIRE_PG_WRITE), 0);
    assert_int_equal(pg_query(&rows, tx, "SELECT pg_backend_pid()"), 0);
    struct pg_tx *other = NULL;
    assert_int_equal(pg_begin(&other, pg, MIRE_PG_EACH), 0);
    assert_int_equal(pg_query(NULL, other, "SELECT pg_terminate_backend($1, 5000)", PG_INT4(pg_int(rows, 0, 0))), 0);
    pg_end(&other);
    assert_int_equal(pg_query(NULL, tx, "SELECT 1"), MIRE_FAULT_AWAY);
    pg_end(&tx);
    assert_int_equal(pg_ping(pg), 0);
}

static void a_read_cannot_write(void **state)
{
    (void)state;
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    assert_int_equal(pg_begin(&tx, pg, MIRE_PG_READ), 0);
    assert_int_not_equal(pg_query(NULL, tx, "DELETE FROM inbox"), 0);
}

static void migrating_again_changes_nothing(void **state)
{
    (void)state;
    int applied = -1;
    assert_int_equal(pg_migrate(&applied, pg, pg_migrations, pg_migration_count, NULL), 0);
    assert_int_equal(applied, 0);
}

static void a_changed_or_unknown_migration_is_refused(void **state)
{
    (void)state;
    int applied;
    struct pg_migration changed = pg_migrations[0];
    changed.sql = "SELECT 1";
    assert_int_equal(pg_migrate(&applied, pg, &changed, 1, NULL), MIRE_FAULT_BROKEN);
    assert_int_equal(pg_migrate(&applied, pg, NULL, 0, NULL), MIRE_FAULT_BROKEN);
}

static void a_broken_migration_leaves_nothing(void **state)
{
    (void)state;
    int applied;
    struct pg_migration more[64];
    assert_true(pg_migration_count < sizeof more / sizeof *more);
    memcpy(more, pg_migrations, pg_migration_count * sizeof *more);
    more[pg_migration_count] = (struct pg_migration){9000, "broken", "CREATE TABLE half (a int); SELECT nonsense"};
    assert_int_equal(pg_migrate(&applied, pg, more, pg_migration_count + 1, NULL), MIRE_FAULT_SQL);
    assert_int_equal(pgtest_number(pg, "SELECT count(*) FROM pg_class WHERE relname = 'half'"), 0);
}

static void keys_open_their_app_in_their_scope(void **state)
{
    (void)state;
    char key[MIRE_KEY_TEXT];
    uint8_t hash[MIRE_KEY_HASH];
    int32_t app = 0;
    assert_int_equal(rows_key_create(key, pg, "keys", "ingest", "test"), 0);
    assert_true(key_is_wellformed(key, strlen(key)));
    key_hash(hash, key, strlen(key));
    assert_int_equal(rows_key_find(&app, pg, hash, "ingest"), MIRE_KEY_FOUND);
    assert_true(app > 0);
    assert_int_equal(rows_key_find(&app, pg, hash, "symbols"), MIRE_KEY_UNKNOWN);
    assert_int_equal(rows_key_create(key, pg, "Bad Slug", "ingest", ""), MIRE_FAULT_SQL);
}

/* A report row whose id carries `day_offset` days from now. */
static struct inbox_row make_row(int day_offset)
{
    struct inbox_row row = {.app_id = 1, .format = "mire", .encoding = "identity", .body = "{}", .body_len = 2};
    uuid_make(&row.report_id, clock_wall_us() + (int64_t)day_offset * 86400 * 1000000);
    return row;
}

static void a_report_is_stored_and_queued_once(void **state)
{
    (void)state;
    struct inbox_row rows[2] = {make_row(0), make_row(-500)};
    assert_int_equal(inbox_store_batch(pg, rows, 2), 0);
    assert_int_equal(inbox_store_batch(pg, rows, 2), 0);
    assert_int_equal(pgtest_number(pg, "SELECT count(*) FROM report"), 2);
    assert_int_equal(pgtest_number(pg, "SELECT count(*) FROM inbox"), 2);
    assert_int_equal(pgtest_number(pg, "SELECT count(*) FROM report_other"), 1);
}

static void a_claim_is_seen_by_one_worker_and_survives_its_death(void **state)
{
    (void)state;
    struct inbox_claim claims[8];
    struct pg_tx *one = NULL, *two = NULL;
    struct arena arena;
    size_t got;
    struct inbox_turn turn = {0};
    arena_init(&arena, 1 << 20);
    assert_int_equal(pg_begin(&one, pg, MIRE_PG_WRITE), 0);
    assert_int_equal(pg_begin(&two, pg, MIRE_PG_WRITE), 0);
    assert_int_equal(inbox_claim(claims, 8, 1 << 20, &got, one, &arena, &turn), 0);
    assert_int_equal(got, 2);
    assert_memory_equal(claims[0].body, "{}", 2);
    assert_int_equal(inbox_claim(claims, 8, 1 << 20, &got, two, &arena, &turn), 0);
    assert_int_equal(got, 0);
    pg_end(&one);
    assert_int_equal(inbox_claim(claims, 8, 1 << 20, &got, two, &arena, &turn), 0);
    assert_int_equal(got, 2);
    assert_int_equal(inbox_finish(two, (const struct inbox_claim *const[]){&claims[0]}, 1), 0);
    assert_int_equal(pg_commit(&two), 0);
    assert_int_equal(pgtest_number(pg, "SELECT count(*) FROM inbox"), 1);
    arena_fini(&arena);
}

static void the_fifth_failure_gives_up(void **state)
{
    (void)state;
    struct inbox_claim claim = {0};
    struct arena arena;
    arena_init(&arena, 1 << 20);
    for (int i = 0; i < MIRE_INBOX_ATTEMPTS_MAX; i++) {
        struct pg_tx *tx = NULL;
        size_t got;
        struct inbox_turn turn = {0};
        assert_int_equal(pgtest_number(pg, "SELECT count(*) FROM dead_letter"), 0);
        assert_int_equal(pg_begin(&tx, pg, MIRE_PG_WRITE), 0);
        assert_int_equal(pg_query(NULL, tx, "UPDATE inbox SET not_before = now()"), 0);
        assert_int_equal(inbox_claim(&claim, 1, 1 << 20, &got, tx, &arena, &turn), 0);
        assert_int_equal(got, 1);
        assert_int_equal(claim.attempts, i);
        assert_int_equal(inbox_fail(tx, &claim, "decode", "no", false), 0);
        assert_int_equal(inbox_claim(&claim, 1, 1 << 20, &got, tx, &arena, &turn), 0);
        assert_int_equal(got, 0);
        assert_int_equal(pg_commit(&tx), 0);
    }
    assert_int_equal(pgtest_number(pg, "SELECT count(*) FROM dead_letter"), 1);
    struct inbox_depth depth;
    assert_int_equal(inbox_depth(&depth, pg), 0);
    assert_int_equal(depth.waiting, 0);
    assert_int_equal(depth.dead_letters, 1);
    arena_fini(&arena);
}

static void partitions_are_made_ahead_and_dropped_when_old(void **state)
{
    (void)state;
    int made, dropped;
    struct pg_days days = {.today = clock_day(clock_wall_us()), .back = 600, .ahead = 2};
    days.back = 1;
    assert_int_equal(pg_partition(&made, &dropped, pg, &days, NULL), 0);
    assert_int_equal(made, 0);
    struct pg_days past = {.today = days.today - 500, .ahead = 0};
    assert_int_equal(pg_partition(&made, &dropped, pg, &past, NULL), 0);
    const int tables = (int)pgtest_number(pg, "SELECT count(*) FROM pg_partitioned_table");
    assert_true(tables > 0);
    assert_int_equal(made, tables);
    assert_int_equal(pgtest_number(pg, "SELECT count(*) FROM report_other"), 0); /* moved into the day's partition */
    assert_int_equal(pgtest_number(pg, "SELECT count(*) FROM report"), 2);
    days.keep = 90;
    assert_int_equal(pg_partition(&made, &dropped, pg, &days, NULL), 0);
    assert_int_equal(dropped, tables);
    assert_int_equal(pgtest_number(pg, "SELECT count(*) FROM report"), 1);
    /* A clock that is three years ahead: one day goes at a time. */
    struct pg_days wrong = {.today = days.today + 1000, .keep = 90};
    int64_t kept = pgtest_number(pg, "SELECT count(*) FROM pg_class WHERE relname ~ '^report_[0-9]{8}$'");
    assert_int_equal(pg_partition(&made, &dropped, pg, &wrong, NULL), 0);
    assert_int_equal(dropped, tables);
    assert_int_equal(pgtest_number(pg, "SELECT count(*) FROM pg_class WHERE relname ~ '^report_[0-9]{8}$'"), kept);
}

static int64_t reports_of(int app)
{
    char sql[96];
    snprintf(sql, sizeof sql, "SELECT count(*) FROM report WHERE app_id = %d AND day < current_date - 5", app);
    return pgtest_number(pg, sql);
}

/* One keeps its reports for 30 days, one for ever, one as the server: 20 days. */
static void apps_keep_their_reports_as_long_as_they_say(void **state)
{
    (void)state;
    int made, dropped;
    struct pg_days days = {.today = clock_day(clock_wall_us()), .keep = 20};
    pgtest_run(pg, "INSERT INTO app (app_id, slug, name, retention_days) VALUES (70, 'short', 'Short', 30),"
                   " (71, 'ever', 'Ever', 0), (72, 'usual', 'Usual', NULL)");
    pgtest_run(pg,
               "INSERT INTO report (slot, day, report_id, app_id, format, encoding, body) SELECT 1, current_date - d,"
               " gen_random_uuid(), app_id, 'mire', 'identity', '' FROM unnest(ARRAY[10, 25, 40]) d,"
               " unnest(ARRAY[70, 71, 72]) app_id");
    for (int back = 10; back <= 40; back += 15)
        assert_int_equal(pg_partition(&made, &dropped, pg, &(struct pg_days){.today = days.today - back}, NULL), 0);
    for (days.hour = 1; days.hour <= 25; days.hour++) /* every day that is due had its turn */
        assert_int_equal(pg_partition(&made, &dropped, pg, &days, NULL), 0);
    assert_int_equal(reports_of(70), 2);
    assert_int_equal(reports_of(71), 3);
    assert_int_equal(reports_of(72), 1);
    /* Nobody keeps them for ever any more: the days go, by the app that keeps them longest. */
    pgtest_run(pg, "UPDATE app SET retention_days = 30 WHERE app_id = 71");
    for (int i = 0; i < 5; i++)
        assert_int_equal(pg_partition(&made, &dropped, pg, &days, NULL), 0);
    assert_int_equal(reports_of(70), 2);
    assert_int_equal(reports_of(71), 2);
    assert_int_equal(reports_of(72), 1);
    pgtest_run(pg, "DELETE FROM app WHERE app_id >= 70");
}

/* A month of reports is imported: its days get partitions, and devices with a clock of 1970 get none. */
static void a_crowded_day_gets_its_partition(void **state)
{
    (void)state;
    int made, dropped;
    const struct pg_days days = {.back = 1, .ahead = 1, .keep = 90};
    assert_int_equal(pg_partition(&made, &dropped, pg, &days, NULL), 0);
    pgtest_run(pg, "INSERT INTO app (app_id, slug, name) VALUES (73, 'import', 'Import')");
    pgtest_run(
        pg, "INSERT INTO report (slot, day, report_id, app_id, format, encoding, body) SELECT 1, d,"
            " gen_random_uuid(), 73, 'mire', 'identity', '' FROM generate_series(1, 1000) n,"
            " unnest(ARRAY['1970-01-01'::date, current_date - 60, current_date - 59, current_date - 58,"
            " current_date - 57, current_date - 56, current_date - 200]) d WHERE n < 1000 OR d <> current_date - 58");
    const int tables = (int)pgtest_number(pg, "SELECT count(*) FROM pg_partitioned_table");
    assert_int_equal(pg_partition(&made, &dropped, pg, &days, NULL), 0);
    assert_int_equal(made, 4 * tables);
    assert_int_equal(pgtest_number(pg, "SELECT count(*) FROM report_other WHERE app_id = 73"), 2999);
    assert_int_equal(pgtest_number(pg, "SELECT count(DISTINCT day) FROM report_other WHERE app_id = 73"), 3);
    assert_int_equal(pg_partition(&made, &dropped, pg, &days, NULL), 0);
    assert_int_equal(made, 0);
    assert_int_equal(pgtest_number(pg, "SELECT count(*) FROM report WHERE app_id = 73"), 6999);
    pgtest_run(pg, "DELETE FROM report WHERE app_id = 73");
    pgtest_run(pg, "DELETE FROM app WHERE app_id = 73");
}

/* Rows of reports that are gone neither stay nor keep the others waiting, whatever day they carry. */
static void rows_without_a_report_go(void **state)
{
    (void)state;
    int made, dropped;
    struct pg_days days = {.back = 1, .ahead = 1};
    pgtest_run(pg, "INSERT INTO inbox (slot, day, report_id, app_id, not_before) SELECT 1, '2090-01-01',"
                   " gen_random_uuid(), 1, '2000-01-01' FROM generate_series(1, 5)");
    assert_int_equal(pg_partition(&made, &dropped, pg, &days, NULL), 0);
    assert_int_equal(pgtest_number(pg, "SELECT count(*) FROM inbox WHERE day = '2090-01-01'"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_come_back_as_they_were_sent),
        cmocka_unit_test(lists_come_back_as_rows),
        cmocka_unit_test(what_is_not_committed_is_gone),
        cmocka_unit_test(an_undone_statement_leaves_the_rest),
        cmocka_unit_test(a_failed_batch_leaves_nothing),
        cmocka_unit_test(a_killed_backend_is_away_and_then_replaced),
        cmocka_unit_test(a_read_cannot_write),
        cmocka_unit_test(migrating_again_changes_nothing),
        cmocka_unit_test(a_changed_or_unknown_migration_is_refused),
        cmocka_unit_test(a_broken_migration_leaves_nothing),
        cmocka_unit_test(keys_open_their_app_in_their_scope),
        cmocka_unit_test(a_report_is_stored_and_queued_once),
        cmocka_unit_test(a_claim_is_seen_by_one_worker_and_survives_its_death),
        cmocka_unit_test(the_fifth_failure_gives_up),
        cmocka_unit_test(partitions_are_made_ahead_and_dropped_when_old),
        cmocka_unit_test(apps_keep_their_reports_as_long_as_they_say),
        cmocka_unit_test(a_crowded_day_gets_its_partition),
        cmocka_unit_test(rows_without_a_report_go),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
