/* Session records: a blackbox's data on its session, each reported once. */
#include "platform/platform.h"
#include "report/report.h"
#include "report/session.h"

#include "support/boxes.h"
#include "support/scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define BEGIN (5 * MIRE_NS_PER_S)

/* The hang of box_new is over and reported. */
static struct blackbox *session_box(void)
{
    struct blackbox *box = box_new();
    struct event none = {0};

    mire__blackbox_set_event(box, 0, &none);
    mire__session_begin(box, BEGIN, 1763685000000ull);
    atomic_store(&box->session.plugins, 1u << MIRE_PLUGIN_HANG | 1u << MIRE_PLUGIN_SESSION);
    return box;
}

static char *text_at(const struct blackbox *box, uint64_t end_ns, const struct session_attached *given)
{
    const struct session_attached nothing = {.end_count = 0};
    char id[MIRE_STORE_ID_LENGTH + 1], *text;
    struct session_sum sum;
    size_t size;

    mire__session_of_box(&sum, box, end_ns, false);
    assert_int_equal(mire__session_json(&text, &size, id, &sum, given ? given : &nothing), MIRE_OK);
    text = realloc(text, size + 1);
    assert_non_null(text);
    text[size] = '\0';
    return text;
}

static void assert_says(const struct blackbox *box, uint64_t end_ns, const char *part)
{
    char *text = text_at(box, end_ns, NULL);

    if (!strstr(text, part))
        fail_msg("%s is not in %s", part, text);
    free(text);
}

static void count(struct blackbox *box, uint32_t trigger, bool launch, uint32_t ground, uint64_t ms)
{
    const struct event hang = {.state = MIRE_EVENT_ENDED,
                               .trigger = trigger,
                               .launch = launch,
                               .foreground = (uint8_t)ground,
                               .begin_ns = BEGIN,
                               .end_ns = BEGIN + ms * MIRE_NS_PER_MS};

    mire__session_count(&box->session, 0, &hang);
}

static void a_record_says_what_was_counted(void **state)
{
    struct blackbox *box = session_box();
    (void)state;
    count(box, MIRE_TRIGGER_BUSY, false, MIRE_GROUND_FORE, 3000);
    count(box, MIRE_TRIGGER_BUSY, false, MIRE_GROUND_UNKNOWN, 2500);
    count(box, MIRE_TRIGGER_BUSY, false, MIRE_GROUND_BACK, 4000);
    count(box, MIRE_TRIGGER_BUSY, true, MIRE_GROUND_FORE, 5000);
    count(box, MIRE_TRIGGER_UNANSWERED, false, MIRE_GROUND_FORE, 6000);
    count(box, MIRE_TRIGGER_CPU, false, MIRE_GROUND_FORE, 60000); /* no user waited */
    mire__blackbox_count_micro(box, 600 * MIRE_NS_PER_MS);
    atomic_store(&box->session.check_cpu_ns, 3000000);
    atomic_store(&box->session.worker_cpu_ns, 1000000);
    atomic_store(&box->session.process_cpu_ns, 7 * MIRE_NS_PER_S);
    atomic_store(&box->session.launch_ns, 812 * MIRE_NS_PER_MS);
    atomic_store(&box->session.frames_drawn, 540);
    atomic_store(&box->session.frames_dropped, 12);
    mire__session_peak(&box->session, 9000);
    mire__session_peak(&box->session, 8000);
    assert_says(
        box, BEGIN + 90 * MIRE_NS_PER_S,
        "\"session\":{\"begin_wall_ms\":1763685000000,\"duration_ms\":90000,\"part\":0,\"over\":true,\"loop\":true,"
        "\"on\":[\"hang\","
        "\"session\"],\"hangs\":{\"foreground\":{\"count\":2,\"duration_ms\":5500},\"background\":{\"count\":1,"
        "\"duration_ms\":4000},\"launch\":{\"count\":1,\"duration_ms\":5000},\"unanswered\":{\"count\":1,"
        "\"duration_ms\":6000}},\"turns\":{\"from_ms\":[250,500,1000,2000,4000,8000,16000],\"count\":[0,1,0,0,0,0,0]},"
        "\"sdk_cpu_us\":4000,\"cpu_ms\":7000,\"footprint_peak_bytes\":9000,\"launch_ms\":812,"
        "\"frames\":{\"drawn\":540,\"dropped\":12}}");
    assert_says(box, BEGIN, "\"kind\":\"session\"");
    assert_says(box, BEGIN, "\"sampling\":{\"hang\":0.25}");
    free(box);
}

static void foreground_is_told_only_if_the_app_tells_it(void **state)
{
    struct blackbox *box = session_box();
    char *text = text_at(box, BEGIN + MIRE_NS_PER_S, NULL);
    (void)state;
    assert_null(strstr(text, "foreground_ms"));
    free(text);
    atomic_store(&box->session.front, MIRE_FRONT_BACK);
    atomic_store(&box->session.fronted_ns, 7 * MIRE_NS_PER_S);
    assert_says(box, BEGIN + 60 * MIRE_NS_PER_S, "\"foreground_ms\":7000");
    atomic_store(&box->session.front, MIRE_FRONT_FORE);
    atomic_store(&box->session.front_ns, BEGIN + 50 * MIRE_NS_PER_S);
    assert_says(box, BEGIN + 60 * MIRE_NS_PER_S, "\"foreground_ms\":17000");
    assert_says(box, BEGIN + 1 * MIRE_NS_PER_S, "\"foreground_ms\":1000"); /* never more than the whole */
    free(box);
}

static void a_hang_that_was_going_on_at_the_kill_counts(void **state)
{
    struct blackbox *box = session_box();
    const struct event open = {.state = MIRE_EVENT_OPEN,
                               .foreground = MIRE_GROUND_FORE,
                               .threshold_ms = 2000,
                               .begin_ns = BEGIN,
                               .last_seen_ns = BEGIN + 9 * MIRE_NS_PER_S};
    (void)state;
    mire__blackbox_set_event(box, 0, &open);
    assert_says(box, BEGIN + 10 * MIRE_NS_PER_S, "\"hangs\":{\"foreground\":{\"count\":1,\"duration_ms\":9000}}");
    free(box);
}

static void perhaps_idleness_is_no_hang(void **state)
{
    struct blackbox *box = session_box();
    struct event open = {.state = MIRE_EVENT_OPEN,
                         .foreground = MIRE_GROUND_FORE,
                         .threshold_ms = 2000,
                         .begin_ns = BEGIN,
                         .last_seen_ns = BEGIN + 9 * MIRE_NS_PER_S,
                         .unsure_ns = 4500 * MIRE_NS_PER_MS};
    (void)state;
    mire__blackbox_set_event(box, 0, &open);
    assert_says(box, BEGIN + 10 * MIRE_NS_PER_S, "\"loop\":false,\"on\":[\"hang\",\"session\"],\"hangs\":{}");
    open.state = MIRE_EVENT_ENDED;
    open.end_ns = open.last_seen_ns;
    mire__session_count(&box->session, 0, &open);
    assert_says(box, BEGIN + 10 * MIRE_NS_PER_S, "\"loop\":false,\"on\":[\"hang\",\"session\"],\"hangs\":{}");
    open.unsure_ns = 4400 * MIRE_NS_PER_MS;
    mire__session_count(&box->session, 0, &open);
    assert_says(box, BEGIN + 10 * MIRE_NS_PER_S, "\"hangs\":{\"foreground\":{\"count\":1,\"duration_ms\":9000}}");
    free(box);
}

/* The process ends during a hang, by _exit or exec, or after the check thread counted the hang and before it cleared
 * it. */
static void a_hang_counts_once_however_the_process_ends(void **state)
{
    struct blackbox *box = session_box();
    struct event open = {.state = MIRE_EVENT_OPEN,
                         .foreground = MIRE_GROUND_FORE,
                         .threshold_ms = 2000,
                         .begin_ns = BEGIN,
                         .last_seen_ns = BEGIN + 9 * MIRE_NS_PER_S};
    (void)state;
    mire__blackbox_set_event(box, 0, &open);
    atomic_store(&box->left_ns, BEGIN + 9500 * MIRE_NS_PER_MS);
    assert_says(box, BEGIN + 10 * MIRE_NS_PER_S, "\"hangs\":{\"foreground\":{\"count\":1,\"duration_ms\":9500}}");
    atomic_store(&box->left_ns, 0);
    open.state = MIRE_EVENT_ENDED;
    open.end_ns = open.last_seen_ns;
    mire__blackbox_set_event(box, 0, &open);
    assert_says(box, BEGIN + 10 * MIRE_NS_PER_S, "\"hangs\":{\"foreground\":{\"count\":1,\"duration_ms\":9000}}");
    mire__session_count(&box->session, 0, &open);
    assert_says(box, BEGIN + 10 * MIRE_NS_PER_S, "\"hangs\":{\"foreground\":{\"count\":1,\"duration_ms\":9000}}");
    free(box);
}

static void a_part_tells_what_the_parts_before_did_not(void **state)
{
    struct blackbox *box = session_box();
    uint8_t first[16];
    (void)state;
    count(box, MIRE_TRIGGER_BUSY, false, MIRE_GROUND_FORE, 3000);
    atomic_store(&box->session.check_cpu_ns, 5000000);
    atomic_store(&box->session.process_cpu_ns, 5 * MIRE_NS_PER_S);
    atomic_store(&box->session.launch_ns, 812 * MIRE_NS_PER_MS);
    mire__session_peak(&box->session, 9000);
    memcpy(first, box->session.id, 16);
    mire__session_begin(box, BEGIN + 10 * MIRE_NS_PER_S, 1763685010000ull);
    assert_memory_not_equal(first, box->session.id, 16);
    count(box, MIRE_TRIGGER_BUSY, false, MIRE_GROUND_FORE, 2100);
    atomic_store(&box->session.check_cpu_ns, 6000000);
    atomic_store(&box->session.process_cpu_ns, 7 * MIRE_NS_PER_S);
    mire__session_peak(&box->session, 700);
    assert_says(box, BEGIN + 15 * MIRE_NS_PER_S,
                "\"begin_wall_ms\":1763685010000,\"duration_ms\":5000,\"part\":1,\"over\":true,\"loop\":true,\"on\":["
                "\"hang\",\"session\"],"
                "\"hangs\":{\"foreground\":{\"count\":1,\"duration_ms\":2100}},\"sdk_cpu_us\":1000,\"cpu_ms\":2000,"
                "\"footprint_peak_bytes\":700}");
    free(box);
}

/* ---- in the store ---- */

#define NOW_MS 1763685100000ull
#define NAME   "0123456789abcdef0123456789abcdef"

static struct store *store_at(const char *dir)
{
    const struct store_caps caps = MIRE_STORE_CAPS_INIT;
    struct store *store;

    assert_int_equal(mire__store_open(&store, dir, &caps), MIRE_OK);
    return store;
}

static void want_sessions(struct store *store, uint32_t ppm)
{
    char text[128];
    int size = snprintf(text, sizeof(text), "{\"mire_rollout\":1,\"plugins\":{\"session\":{\"ppm\":%u}}}", ppm);

    assert_int_equal(mire__store_set_rollout(store, "", text, (size_t)size), MIRE_OK);
}

static size_t records(struct store *store)
{
    struct store_item items[8];

    return mire__store_list(items, 8, store);
}

static size_t files(const struct store *store)
{
    static char names[MIRE_STORE_SESSIONS][MIRE_STORE_RUN_BYTES];

    return mire__store_session_list(names, store);
}

/* The only record. Freed by the caller. */
static char *record(struct store *store)
{
    struct store_item item;
    void *body;
    char *text = calloc(1, 65536);
    size_t size;

    assert_int_equal(mire__store_list(&item, 1, store), 1);
    assert_int_equal(mire__store_get(&body, &size, store, item.id), MIRE_OK);
    assert_false(ZSTD_isError(ZSTD_decompress(text, 65535, body, size)));
    free(body);
    return text;
}

static struct session_sum share_of(struct blackbox *box)
{
    struct session_sum share;

    mire__session_of_box(&share, box, BEGIN + MIRE_NS_PER_S, false);
    return share;
}

static void a_document_says_whether_there_is_a_record_and_until_then_it_waits(void **state)
{
    struct store *store = store_at(*state);
    struct blackbox *box = session_box();
    struct session_sum share = share_of(box);

    assert_int_equal(mire__session_settle(store, NAME, &share, NOW_MS), MIRE_OK);
    mire__sessions_recover(store, NULL, NOW_MS);
    assert_int_equal(files(store), 1);
    assert_int_equal(records(store), 0);
    want_sessions(store, 1000000);
    mire__sessions_recover(store, NULL, NOW_MS);
    assert_int_equal(files(store), 0);
    assert_int_equal(records(store), 1);

    want_sessions(store, 0);
    share = share_of(box);
    assert_int_equal(mire__session_settle(store, NAME, &share, NOW_MS), MIRE_OK);
    assert_int_equal(files(store), 0);
    assert_int_equal(records(store), 1);
    memset(box->session.id, 0, 16);
    share = share_of(box);
    want_sessions(store, 1000000);
    assert_int_equal(mire__session_settle(store, NAME, &share, NOW_MS), MIRE_E_FORMAT);
    mire__store_close(store);
    free(box);
}

static void what_waits_is_bounded(void **state)
{
    struct store *store = store_at(*state);
    struct blackbox *box = session_box();
    struct session_sum share;
    char name[MIRE_STORE_RUN_BYTES];

    for (uint32_t i = 0; i < 40; i++) {
        share = share_of(box);
        share.begin_wall_ms = NOW_MS - i;
        mire__store_run_name(name);
        assert_int_equal(mire__session_settle(store, name, &share, NOW_MS), MIRE_OK);
    }
    mire__sessions_recover(store, NULL, NOW_MS);
    assert_int_equal(files(store), 32);
    mire__sessions_recover(store, NULL, NOW_MS + 15ull * 24 * 3600 * 1000);
    assert_int_equal(files(store), 0);
    mire__store_close(store);
    free(box);
}

static struct session_sum begin_session(struct store *store)
{
    struct blackbox_facts facts = box_facts();
    struct session_sum sum;

    mire__session_new(&sum, &facts, BEGIN, 1763685000000ull);
    sum.first_pid = 77;
    assert_int_equal(mire__store_session_save(store, NAME, &sum, sizeof(sum)), MIRE_OK);
    return sum;
}

static void processes_add_up_to_one_session_each_once(void **state)
{
    struct store *store = store_at(*state);
    struct session_sum share, twice;
    char *text;

    want_sessions(store, 500000000);
    begin_session(store);
    for (int i = 0; i < 3; i++) {
        struct blackbox *box = session_box();
        count(box, MIRE_TRIGGER_BUSY, false, MIRE_GROUND_FORE, 1000);
        if (i == 0)
            atomic_store(&box->session.plugins, 1u << MIRE_PLUGIN_HANG | 1u << MIRE_PLUGIN_MEMORY);
        share = share_of(box);
        twice = share;
        assert_int_equal(mire__session_fold(store, NAME, &share, false), MIRE_OK);
        assert_int_equal(mire__session_fold(store, NAME, &twice, false), MIRE_OK);
        free(box);
    }
    assert_true(mire__session_goes_on(store, NAME));
    assert_int_equal(mire__session_finish(store, NAME, NULL, BEGIN + 9 * MIRE_NS_PER_S, NOW_MS), MIRE_OK);
    assert_false(mire__session_goes_on(store, NAME));
    assert_int_equal(mire__session_fold(store, NAME, &share, false), MIRE_E_STATE);
    assert_int_equal(files(store), 0);
    text = record(store);
    assert_non_null(strstr(text, "\"duration_ms\":9000,\"part\":0,\"over\":true,\"loop\":true,\"on\":[\"hang\","
                                 "\"session\"],\"hangs\":{\"foreground\":{\"count\":3,\"duration_ms\":3000}}"));
    free(text);
    mire__store_close(store);
}

static void a_session_without_a_watched_process_is_none(void **state)
{
    struct store *store = store_at(*state);

    want_sessions(store, 1000000);
    begin_session(store);
    assert_int_equal(mire__session_finish(store, NAME, NULL, BEGIN + 9, NOW_MS), MIRE_E_STATE);
    assert_int_equal(files(store) + records(store), 0);
    mire__store_close(store);
}

static void a_service_that_stays_has_a_session_of_its_own(void **state)
{
    struct store *store = store_at(*state);
    struct blackbox *box = session_box();
    struct session_sum share = share_of(box), next;

    want_sessions(store, 1000000);
    next = begin_session(store);
    mire__uuid7(next.id);
    assert_int_equal(mire__session_fold(store, NAME, &share, false), MIRE_OK);
    assert_int_equal(mire__session_finish(store, NAME, &next, BEGIN + 9, NOW_MS), MIRE_OK);
    assert_int_equal(records(store), 1);
    assert_true(mire__session_goes_on(store, NAME));
    mire__uuid7(box->session.id);
    share = share_of(box);
    assert_int_equal(mire__session_fold(store, NAME, &share, false), MIRE_OK);
    assert_int_equal(mire__session_finish(store, NAME, NULL, BEGIN + 90, NOW_MS), MIRE_OK);
    assert_int_equal(records(store), 2);
    mire__store_close(store);
    free(box);
}

static void one_without_its_mire_run_is_recorded_by_the_next_start(void **state)
{
    struct store *store = store_at(*state);
    struct blackbox *box = session_box();
    struct session_sum share = share_of(box), sum = begin_session(store);

    want_sessions(store, 1000000);
    assert_true(mire__file_read(sum.facts.boot_id, sizeof(sum.facts.boot_id), "/proc/sys/kernel/random/boot_id") > 0);
    share.facts = sum.facts;
    sum.runner_pid = mire__pid();
    sum.runner_ticks = mire__process_start_ticks(sum.runner_pid);
    assert_int_equal(mire__store_session_save(store, NAME, &sum, sizeof(sum)), MIRE_OK);
    assert_int_equal(mire__session_fold(store, NAME, &share, false), MIRE_OK);
    mire__sessions_recover(store, NULL, NOW_MS);
    assert_int_equal(records(store), 0);
    mire__session_keep(store, NAME, &(struct session_runner){.runner_pid = mire__pid(), .runner_ticks = 1});
    mire__sessions_recover(store, NAME, NOW_MS);
    assert_int_equal(records(store), 0);
    mire__sessions_recover(store, NULL, NOW_MS);
    assert_int_equal(records(store), 1);
    assert_int_equal(files(store), 0);
    mire__store_close(store);
    free(box);
}

static void a_session_ends_as_its_first_process_unless_another_died(void **state)
{
    struct store *store = store_at(*state);
    struct store_end clean = {.run = "1", .verdict = "clean_exit"}, quit = {.run = "2", .verdict = "user_quit"},
                     crash = {.run = "3", .verdict = "crash"};
    struct session_sum sum;

    begin_session(store);
    mire__session_note_end(store, NAME, &quit, 78, 0); /* of a helper */
    assert_int_equal(mire__store_session_load(&sum, sizeof(sum), store, NAME), MIRE_OK);
    assert_string_equal(sum.end.verdict, "");
    clean.start_wall_ms = 5;
    mire__session_note_end(store, NAME, &clean, 77, 0);
    quit.start_wall_ms = 6; /* the program that the first one executed */
    mire__session_note_end(store, NAME, &quit, 77, 0);
    mire__session_note_end(store, NAME, &clean, 77, 0);
    assert_int_equal(mire__store_session_load(&sum, sizeof(sum), store, NAME), MIRE_OK);
    assert_string_equal(sum.end.verdict, "user_quit");
    mire__session_note_end(store, NAME, &crash, 78, 0);
    mire__session_note_end(store, NAME, &quit, 77, 0);
    assert_int_equal(mire__store_session_load(&sum, sizeof(sum), store, NAME), MIRE_OK);
    assert_string_equal(sum.end.verdict, "crash");
    mire__store_close(store);
}

static void ends_and_losses_are_told_once(void **state)
{
    struct store *store = store_at(*state);
    const struct store_end end = {
        .run = "00112233445566778899aabbccddeeff", .verdict = "foom", .confidence_ppm = 900000, .process = "mapview"};
    struct blackbox *box = session_box();
    struct session_sum share = share_of(box);
    uint64_t drops[MIRE_DROP_REASONS];
    struct store_end kept;
    struct store_item item;

    assert_int_equal(mire__store_end_add(store, &end), MIRE_OK);
    mire__store_count_drop(store, MIRE_DROP_SUPPRESSED);
    assert_int_equal(mire__session_seal(store, &share, NOW_MS), MIRE_OK);
    assert_int_equal(mire__store_list(&item, 1, store), 1);
    assert_int_equal(mire__store_ends(&kept, 1, store), 1);
    assert_true(kept.reported);
    mire__store_drops(drops, store);
    assert_int_equal(drops[MIRE_DROP_SUPPRESSED], 0);
    /* A dropped record returns its losses to the ledger. */
    mire__store_drop(store, item.id, MIRE_DROP_REFUSED);
    mire__store_drops(drops, store);
    assert_int_equal(drops[MIRE_DROP_SUPPRESSED], 1);
    mire__store_close(store);
    free(box);
}

static void what_a_record_tells_besides_stands_in_it(void **state)
{
    struct blackbox *box = session_box();
    struct session_attached given = {
        .ends = {{.verdict = "foom", .confidence_ppm = 900000, .start_wall_ms = 5, .seen_wall_ms = 6}}, .end_count = 1};
    char *text;
    (void)state;
    given.drops[MIRE_DROP_DAILY] = 4;
    text = text_at(box, BEGIN, &given);
    assert_non_null(strstr(text, "\"ends\":[{\"verdict\":\"foom\",\"confidence_ppm\":900000,\"start_wall_ms\":5,"
                                 "\"seen_wall_ms\":6}]"));
    assert_non_null(strstr(text, "\"drops\":{\"daily\":4}"));
    free(text);
    free(box);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_new, scratch_free)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_says_what_was_counted),
        cmocka_unit_test(foreground_is_told_only_if_the_app_tells_it),
        cmocka_unit_test(a_hang_that_was_going_on_at_the_kill_counts),
        cmocka_unit_test(a_part_tells_what_the_parts_before_did_not),
        cmocka_unit_test(perhaps_idleness_is_no_hang),
        cmocka_unit_test(a_hang_counts_once_however_the_process_ends),
        TEST(a_document_says_whether_there_is_a_record_and_until_then_it_waits),
        TEST(what_waits_is_bounded),
        TEST(processes_add_up_to_one_session_each_once),
        TEST(a_session_without_a_watched_process_is_none),
        TEST(a_service_that_stays_has_a_session_of_its_own),
        TEST(one_without_its_mire_run_is_recorded_by_the_next_start),
        TEST(a_session_ends_as_its_first_process_unless_another_died),
        TEST(ends_and_losses_are_told_once),
        cmocka_unit_test(what_a_record_tells_besides_stands_in_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
