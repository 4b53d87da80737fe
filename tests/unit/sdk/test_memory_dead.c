/* Memory tables of dead runs: reported, kept, or counted as broken. */
#include "report/memory.h"

#include "support/scratch.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>
#include <zstd.h>

#include <cmocka.h>

#include "support/memory_json.h"

#define RUN "0123456789abcdef0123456789abcdef"

static enum mire_err take(struct store *store, const struct blackbox *box, const struct exit_end *end, uint64_t now_ms,
                          bool sealed)
{
    bool was_sealed;
    enum mire_err err = mire__report_memory_of_run(&was_sealed, store, RUN, box, end, now_ms);

    assert_int_equal(was_sealed, sealed);
    return err;
}

static void write_file(const char *path, const void *bytes, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, size), (ssize_t)size);
    close(fd);
}

static struct store *a_dead_run(const char *dir, char path[512])
{
    const struct store_caps caps = MIRE_STORE_CAPS_INIT;
    struct heaps *heaps = a_process();
    struct memory_said said = saying("foom");
    struct store *store;

    assert_int_equal(mire__store_open(&store, dir, &caps), MIRE_OK);
    mire__extra_begin(mire__heap_extra(&heaps->heap, MIRE_HEAP_EXTRA_BYTES), said.facts);
    snprintf(path, 512, "%s/box/" RUN ".heap", dir);
    write_file(path, heaps->memory, heaps->bytes);
    heaps_free(heaps);
    return store;
}

static const struct exit_end *foom(void)
{
    static struct exit_end end = {.verdict = {.verdict = MIRE_EXIT_FOOM, .confidence_ppm = 990000},
                                  .ground = MIRE_GROUND_FORE,
                                  .seen_wall_ms = 1763685118456ull,
                                  .footprint_peak_bytes = 70 * MIB,
                                  .trail_rows = 1};

    end.trail[0] = (struct trail_row){
        .boot_ns = 67 * S, .footprint_bytes = 70 * MIB, .used_bytes = 63 * MIB, .limit_bytes = 64 * MIB};
    return &end;
}

static char *sealed(struct store *store, const char *id)
{
    void *body;
    size_t size;
    char *text = calloc(1, 1 << 20);

    assert_int_equal(mire__store_get(&body, &size, store, id), MIRE_OK);
    assert_false(ZSTD_isError(ZSTD_decompress(text, (1 << 20) - 1, body, size)));
    free(body);
    return text;
}

static void a_run_killed_for_want_of_memory_is_reported_under_one_id(void **state)
{
    char path[512], kept[512];
    struct store *store = a_dead_run(*state, path);
    struct store_item items[4];
    char *text;

    assert_int_equal(take(store, NULL, foom(), 1763685200000ull, true), MIRE_OK);
    assert_int_equal(mire__store_list(items, 4, store), 1);
    text = sealed(store, items[0].id);
    assert_has(text,
               "\"trigger\":\"foom\",\"taken_ns\":65000000000,\"taken_wall_ms\":1763685118456,\"foreground\":true");
    assert_has(text, "\"exit\":{\"verdict\":\"foom\"");
    assert_has(text, "\"app\":{\"name\":\"mapview\"");
    assert_has(text, "\"footprint_bytes\":73400320");
    free(text);
    assert_int_not_equal(access(path, F_OK), 0);
    snprintf(kept, sizeof(kept), "%s/memory/" RUN ".heap", (char *)*state);
    assert_int_equal(rename(kept, path), 0); /* as after a kill before the move */
    assert_int_equal(take(store, NULL, foom(), 1763685300000ull, true), MIRE_OK);
    assert_int_equal(mire__store_list(items, 4, store), 1);
    mire__store_close(store);
}

static void other_runs_tables_are_kept_without_a_report(void **state)
{
    char path[512], kept[512];
    struct store *store = a_dead_run(*state, path);
    struct exit_end end = {.verdict = {.verdict = MIRE_EXIT_CRASH}};
    struct store_item items[4];

    assert_int_equal(take(store, NULL, &end, 1, false), MIRE_OK);
    assert_int_equal(mire__store_list(items, 4, store), 0);
    snprintf(kept, sizeof(kept), "%s/memory/" RUN ".heap", (char *)*state);
    assert_int_equal(access(kept, F_OK), 0);
    mire__store_close(store);
}

static void a_file_that_is_none_is_counted_and_goes(void **state)
{
    char path[512];
    struct store *store = a_dead_run(*state, path);
    uint64_t drops[MIRE_DROP_REASONS];
    struct store_item items[4];

    write_file(path, "no tables", 9);
    assert_int_equal(take(store, NULL, foom(), 1, false), MIRE_OK);
    write_file(path, "", 0);
    assert_int_equal(take(store, NULL, foom(), 1, false), MIRE_OK);
    assert_int_not_equal(access(path, F_OK), 0);
    mire__store_drops(drops, store);
    assert_int_equal(drops[MIRE_DROP_BROKEN], 2);
    assert_int_equal(mire__store_list(items, 4, store), 0);
    assert_int_equal(take(store, NULL, foom(), 1, false), MIRE_OK); /* it is gone: no error */
    mire__store_close(store);
}

static void tables_that_name_no_app_need_the_blackbox(void **state)
{
    char path[512];
    struct store *store = a_dead_run(*state, path);
    struct heaps *heaps = a_process();
    struct blackbox *box = box_new();
    struct store_item items[4];
    uint64_t drops[MIRE_DROP_REASONS];

    write_file(path, heaps->memory, heaps->bytes);
    assert_int_equal(take(store, box, foom(), 1763685200000ull, true), MIRE_OK);
    assert_int_equal(mire__store_list(items, 4, store), 1);
    write_file(path, heaps->memory, heaps->bytes);
    assert_int_equal(take(store, NULL, foom(), 1763685200000ull, false), MIRE_OK);
    mire__store_drops(drops, store);
    assert_int_equal(drops[MIRE_DROP_BROKEN], 1);
    free(box);
    heaps_free(heaps);
    mire__store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_run_killed_for_want_of_memory_is_reported_under_one_id, scratch_new,
                                        scratch_free),
        cmocka_unit_test_setup_teardown(other_runs_tables_are_kept_without_a_report, scratch_new, scratch_free),
        cmocka_unit_test_setup_teardown(a_file_that_is_none_is_counted_and_goes, scratch_new, scratch_free),
        cmocka_unit_test_setup_teardown(tables_that_name_no_app_need_the_blackbox, scratch_new, scratch_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
