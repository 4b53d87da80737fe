/*
 * Memory reports through a real PostgreSQL: baselines become medians only; the others become issues whose suspects are
 * found against those medians, and each counts once in spite of crashes on the way.
 */
#include "base/clock.h"
#include "base/log.h"
#include "inbox/inbox.h"
#include "model/resolved.h"
#include "rows/memory.h"
#include "support/pgtest.h"
#include "pipeline/work.h"
#include "document/document.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MIB (UINT64_C(1) << 20)

static const struct log quiet = {.fd = 2, .least = MIRE_LOG_OFF};

static const char form[] =
    "{\"mire\":1,\"id\":\"%s\",\"kind\":\"memory\",\"app\":{\"name\":\"mapview\",\"version\":\"%s\"},"
    "\"device\":{\"install\":\"00112233445566778899aabbccddeeff\",\"os\":\"%s\",\"arch\":\"x86_64\",\"class\":\"%"
    "s\"},"
    "\"sampling\":{\"hang\":1,\"memory\":0.25},\"process\":{\"pid\":1,\"name\":\"mapview\",\"path\":\"/opt/mapview\"},"
    "\"images\":[{\"name\":\"/opt/mapview\",\"load\":4096}],\"frames\":{\"image\":[0,0],\"offset\":[4096,6211]},"
    "\"nodes\":{\"up\":[1,1],\"frame\":[0,1]},"
    "\"memory\":{\"trigger\":\"%s\",\"taken_ns\":5,\"taken_wall_ms\":1763685118456,\"foreground\":true,"
    "\"mode\":\"exact\",\"footprint_bytes\":%" PRIu64 ",\"live_bytes\":%" PRIu64 ",\"live_count\":8,"
    "\"categories\":{\"name\":[\"Malloc 4.00 KiB\",\"VM: file\"],\"kind\":[0,1],\"live_count\":[7,1],"
    "\"live_bytes\":[%" PRIu64 ",1048576]},"
    "\"stacks\":{\"category\":[0],\"node\":[2],\"count\":[7],\"bytes\":[%" PRIu64 "]}}}";

#define SYSTEM "linux"

static const char *system_name = SYSTEM; /* of the next reports */

/* Put a memory report of a version and class into the inbox. */
static struct uuid put(struct pg *pg, const char *trigger, const char *version, const char *class_name, uint64_t bytes)
{
    static int64_t last;
    char body[4096], text[MIRE_UUID_TEXT];
    struct uuid id;
    last = last < clock_wall_us() ? clock_wall_us() : last + 1000;
    uuid_make(&id, last);
    uuid_format(text, &id);
    int len = snprintf(body, sizeof body, form, text, version, system_name, class_name, trigger, bytes + 7 * MIB, bytes,
                       bytes, bytes);
    struct inbox_row row = {
        .report_id = id, .app_id = 1, .format = "mire", .encoding = "identity", .body = body, .body_len = (size_t)len};
    assert_int_equal(inbox_store_batch(pg, &row, 1), 0);
    return id;
}

/* Process everything in the inbox. */
static void work_all(struct pg *pg, int threads)
{
    struct work *work;
    struct work_options options = MIRE_WORK_OPTIONS_INIT;
    options.by_slot = pgtest_on_citus();
    options.pg = pg;
    options.log = &quiet;
    options.threads = threads;
    assert_int_equal(work_start(&work, &options), 0);
    pgtest_until_none(pg, "SELECT count(*) FROM inbox WHERE not_before <= now()", NULL);
    work_stop(work);
    assert_int_equal(pgtest_number(pg, "SELECT count(*) FROM inbox"), 0);
    assert_int_equal(pgtest_number(pg, "SELECT count(*) FROM dead_letter"), 0);
}

/* The stored result of one report. */
static struct memory found(struct pg *pg, struct arena *arena, const struct uuid *id)
{
    struct pg_tx *tx = NULL;
    struct pg_rows *rows = NULL;
    struct resolved doc;
    assert_int_equal(pg_begin(&tx, pg, MIRE_PG_READ), 0);
    assert_int_equal(pg_query(&rows, tx, "SELECT document FROM event_stack WHERE report_id = $1", PG_UUID(id)), 0);
    struct pg_bytes document = pg_bytes(rows, 0, 0);
    assert_int_equal(resolved_decode(&doc, arena, document.bytes, document.len), 0);
    pg_rows_free(&rows);
    pg_end(&tx);
    assert_true(doc.memory.known);
    return doc.memory;
}

static void a_memory_report_becomes_rows(void **state)
{
    (void)state;
    struct pg *pg = pgtest_mapview();
    put(pg, "foom", "8.0.38", "4gb", 400 * MIB);
    put(pg, "pressure", "8.0.38", "4gb", 300 * MIB);
    put(pg, "pressure", "8.0.38", "4gb", 200 * MIB);
    work_all(pg, 2);
    assert_int_equal(
        pgtest_number(pg, "SELECT count(*) FROM event JOIN issue USING (app_id, issue_id, category, reason)"
                          " WHERE category = 'foom' AND reason = 'bytes' AND subject = 'Malloc 4.00 KiB' AND open"
                          " AND foreground AND weight = 4 AND duration_ms = 0 AND footprint_bytes = 407 << 20"
                          " AND subject_bytes = 400 << 20 AND occurred_at = to_timestamp(1763685118.456)"
                          " AND caller1 = 'mapview+0x1843' AND caller2 = 'mapview+0x1000'"),
        1);
    assert_int_equal(pgtest_number(pg, "SELECT count(*) FROM issue WHERE category = 'memory'"), 1);
    assert_int_equal(pgtest_number(pg, "SELECT count(*) FROM version_hour WHERE category = 'foom' AND reports = 1"
                                       " AND events = 4 AND waited_ms = 0"),
                     1);
    assert_int_equal(pgtest_number(pg, "SELECT max(most_bytes) FROM issue_hour JOIN issue USING (issue_id)"
                                       " WHERE category = 'memory'"),
                     300 * MIB);
    assert_int_equal(pgtest_number(pg, "SELECT count(*) FROM memory_baseline"), 0);
    pg_close(pg);
}

/* The healthy of one operating system say nothing of another's. */
static void systems_are_not_mixed(void **state)
{
    (void)state;
    struct pg *pg = pgtest_mapview();
    struct arena arena;
    struct pg_tx *tx = NULL;
    struct population healthy;
    enum healthy_scope scope;

    arena_init(&arena, 64 << 20);
    for (uint64_t i = 0; i < 12; i++) {
        system_name = i % 2 ? "ios" : "android";
        put(pg, "baseline", "8.0.38", "8gb", (i % 2 ? 90 : 300) * MIB);
    }
    system_name = SYSTEM;
    work_all(pg, 2);
    int64_t version = pgtest_number(pg, "SELECT version_id FROM version");
    assert_int_equal(pg_begin(&tx, pg, MIRE_PG_READ), 0);
    assert_int_equal(rows_healthy_find(&healthy, &scope, tx, &arena, 1, version, "ios", "8gb", 5), 0);
    assert_int_equal(scope, MIRE_HEALTHY_VERSION);
    assert_int_equal(healthy.reports, 6);
    assert_in_range(sketch_quantile(&healthy.footprint, healthy.weight, 90), 94 * MIB, 101 * MIB);
    assert_int_equal(rows_healthy_find(&healthy, &scope, tx, &arena, 1, version, SYSTEM, "8gb", 5), 0);
    assert_int_equal(scope, MIRE_HEALTHY_NONE);
    pg_end(&tx);
    arena_fini(&arena);
    pg_close(pg);
}

static void baselines_become_medians_and_no_issue(void **state)
{
    (void)state;
    struct pg *pg = pgtest_mapview();
    struct arena arena;
    struct pg_tx *tx = NULL;
    struct population healthy;
    enum healthy_scope scope;
    arena_init(&arena, 64 << 20);
    for (uint64_t i = 0; i < 21; i++)
        put(pg, "baseline", "8.0.38", "4gb", (90 + i) * MIB);
    work_all(pg, 4);
    assert_int_equal(pgtest_number(pg, "SELECT count(*) FROM issue"), 0);
    assert_int_equal(pgtest_number(pg, "SELECT count(*) FROM event"), 0);
    assert_int_equal(pgtest_number(pg, "SELECT count(*) FROM version_hour"), 0);
    assert_int_equal(pgtest_number(pg, "SELECT count(*) FROM memory_baseline WHERE weight = 4"), 21);
    assert_int_equal(pg_begin(&tx, pg, MIRE_PG_READ), 0);
    int64_t version = pgtest_number(pg, "SELECT version_id FROM version");
    assert_int_equal(rows_healthy_find(&healthy, &scope, tx, &arena, 1, version, SYSTEM, "4gb", 5), 0);
    assert_int_equal(scope, MIRE_HEALTHY_VERSION);
    assert_int_equal(healthy.weight, 84);
    const struct population_category *blocks = population_find(&healthy, MIRE_MEMORY_HEAP, "Malloc 4.00 KiB");
    assert_in_range(sketch_quantile(&blocks->bytes, healthy.weight, 50), 97 * MIB, 104 * MIB);
    assert_int_equal(sketch_quantile(&blocks->objects, healthy.weight, 50), 7);
    assert_in_range(sketch_quantile(&healthy.footprint, healthy.weight, 50), 103 * MIB, 111 * MIB);
    assert_int_equal(rows_healthy_find(&healthy, &scope, tx, &arena, 1, version + 1, SYSTEM, "4gb", 5), 0);
    assert_int_equal(scope, MIRE_HEALTHY_CLASS);
    assert_int_equal(rows_healthy_find(&healthy, &scope, tx, &arena, 1, version + 1, SYSTEM, "8gb", 5), 0);
    assert_int_equal(scope, MIRE_HEALTHY_APP);
    assert_int_equal(rows_healthy_find(&healthy, &scope, tx, &arena, 1, version, SYSTEM, "4gb", 22), 0);
    assert_int_equal(scope, MIRE_HEALTHY_NONE);
    assert_int_equal(healthy.reports, 0);
    assert_int_equal(rows_healthy_find(&healthy, &scope, tx, &arena, 2, version, SYSTEM, "4gb", 1), 0);
    assert_int_equal(scope, MIRE_HEALTHY_NONE);
    pg_end(&tx);
    arena_fini(&arena);
    pg_close(pg);
}

static void a_report_is_judged_by_the_healthy_of_its_version_and_class(void **state)
{
    (void)state;
    struct pg *pg = pgtest_mapview();
    struct arena arena;
    arena_init(&arena, 64 << 20);
    struct uuid alone = put(pg, "footprint", "1", "4gb", 100 * MIB);
    work_all(pg, 1);
    for (int i = 0; i < 5; i++) {
        put(pg, "baseline", "1", "4gb", 80 * MIB);
        put(pg, "baseline", "1", "8gb", 20 * MIB);
    }
    work_all(pg, 4);
    struct uuid usual = put(pg, "footprint", "1", "4gb", 100 * MIB);
    struct uuid large = put(pg, "footprint", "1", "8gb", 100 * MIB);
    work_all(pg, 1);
    struct memory memory = found(pg, &arena, &alone);
    assert_int_equal(memory.healthy_scope, MIRE_HEALTHY_NONE);
    assert_int_equal(memory.found[0].reason, MIRE_MEMORY_TOO_MANY_BYTES);
    memory = found(pg, &arena, &usual);
    assert_int_equal(memory.healthy_scope, MIRE_HEALTHY_VERSION);
    assert_int_equal(memory.healthy_reports, 5);
    assert_int_equal(memory.found[0].reason, MIRE_MEMORY_NOT_SUSPECT);
    memory = found(pg, &arena, &large);
    assert_int_equal(memory.found[0].reason, MIRE_MEMORY_TOO_MANY_BYTES);
    assert_in_range(memory.found[0].healthy_bytes.value, 19 * MIB, 21 * MIB);
    assert_int_equal(memory.stacks[0].caller1, 0);
    assert_int_equal(pgtest_number(pg, "SELECT count(*) FROM event JOIN issue USING (issue_id) WHERE subject ="
                                       " 'Malloc 4.00 KiB' AND above_bytes BETWEEN 79 << 20 AND 81 << 20"),
                     1); /* the large one; of the one alone, without a comparison, all bytes count */
    assert_int_equal(pgtest_number(pg, "SELECT count(*) FROM event WHERE above_bytes = subject_bytes AND"
                                       " above_bytes = 100 << 20"),
                     1);
    assert_int_equal(
        pgtest_number(pg,
                      "SELECT count(*) FROM (SELECT issue_id, sum(above_bytes) AS counted FROM issue_hour GROUP BY 1) h"
                      " FULL JOIN (SELECT issue_id, sum(weight * (1 + suppressed) * above_bytes) AS told FROM event"
                      " GROUP BY 1) e USING (issue_id) WHERE counted IS DISTINCT FROM told"),
        0);
    arena_fini(&arena);
    pg_close(pg);
}

static void worked_on_twice_each_counts_once(void **state)
{
    (void)state;
    struct pg *pg = pgtest_mapview();
    struct arena arena;
    struct pg_tx *tx = NULL;
    struct population population;
    struct pg_rows *rows = NULL;
    arena_init(&arena, 64 << 20);
    for (int i = 0; i < 12; i++)
        put(pg, i % 2 ? "baseline" : "foom", "1", "", 100 * MIB);
    work_all(pg, 4);
    pgtest_run(pg, "INSERT INTO inbox (slot, day, report_id, app_id) SELECT slot, day, report_id, app_id FROM report");
    work_all(pg, 4);
    assert_int_equal(pgtest_number(pg, "SELECT count(*) FROM memory_baseline"), 6);
    assert_int_equal(pgtest_number(pg, "SELECT sum(reports)::bigint FROM issue_hour"), 6);
    assert_int_equal(pg_begin(&tx, pg, MIRE_PG_READ), 0);
    for (int table = 0; table < 2; table++) {
        uint64_t reports = 0, weight = 0;
        assert_int_equal(
            pg_query(&rows, tx, table ? "SELECT population FROM issue_memory" : "SELECT population FROM healthy"), 0);
        for (size_t i = 0; i < pg_row_count(rows); i++) {
            struct pg_bytes bytes = pg_bytes(rows, i, 0);
            assert_int_equal(population_decode(&population, &arena, bytes.bytes, bytes.len), 0);
            reports += population.reports;
            weight += population.weight;
        }
        pg_rows_free(&rows);
        assert_int_equal(reports, 6);
        assert_int_equal(weight, 24);
    }
    pg_end(&tx);
    arena_fini(&arena);
    pg_close(pg);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_memory_report_becomes_rows),
        cmocka_unit_test(baselines_become_medians_and_no_issue),
        cmocka_unit_test(systems_are_not_mixed),
        cmocka_unit_test(a_report_is_judged_by_the_healthy_of_its_version_and_class),
        cmocka_unit_test(worked_on_twice_each_counts_once),
    };
    return cmocka_run_group_tests(tests, pgtest_start, pgtest_stop);
}
