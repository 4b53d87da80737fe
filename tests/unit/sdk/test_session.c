/* Session records: what a blackbox says of its session, and what is told once. */
#include "report/session.h"

#include "support/boxes.h"
#include "support/scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#define BEGIN (5 * MIRE_NS_PER_S)

/* The hang that box_new has is over, and told. */
static struct blackbox *session_box(void)
{
    struct blackbox *box = box_new();
    struct hang none = {0};

    mire__blackbox_set_hang(box, 0, &none);
    mire__session_begin(box, BEGIN, 1763685000000ull);
    atomic_store(&box->session.on, 1);
    atomic_store(&box->session.plugins, 1u << MIRE_PLUGIN_HANG | 1u << MIRE_PLUGIN_SESSION);
    return box;
}

static char *text_at(const struct blackbox *box, uint64_t end_ns, const struct session_told *told)
{
    const struct session_told nothing = {.end_count = 0};
    char id[MIRE_STORE_ID_LENGTH + 1], *text;
    size_t size;

    assert_int_equal(mire__session_json(&text, &size, id, box, end_ns, true, told ? told : &nothing), MIRE_OK);
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
    const struct hang hang = {.state = MIRE_HANG_ENDED,
                              .trigger = trigger,
                              .launch = launch,
                              .foreground = (uint8_t)ground,
                              .begin_ns = BEGIN,
                              .end_ns = BEGIN + ms * MIRE_NS_PER_MS};

    mire__session_count(&box->session, &hang);
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
    count(box, MIRE_TRIGGER_CPU, false, MIRE_GROUND_FORE, 60000); /* kept nobody waiting */
    mire__blackbox_count_micro(box, 600 * MIRE_NS_PER_MS);
    atomic_store(&box->session.check_cpu_ns, 3000000);
    atomic_store(&box->session.worker_cpu_ns, 1000000);
    assert_says(
        box, BEGIN + 90 * MIRE_NS_PER_S,
        "\"session\":{\"begin_wall_ms\":1763685000000,\"duration_ms\":90000,\"part\":0,\"over\":true,\"on\":[\"hang\","
        "\"session\"],\"hangs\":{\"foreground\":{\"count\":2,\"duration_ms\":5500},\"background\":{\"count\":1,"
        "\"duration_ms\":4000},\"launch\":{\"count\":1,\"duration_ms\":5000},\"unanswered\":{\"count\":1,"
        "\"duration_ms\":6000}},\"turns\":{\"from_ms\":[250,500,1000,2000,4000,8000,16000],\"count\":[0,1,0,0,0,0,0]},"
        "\"sdk_cpu_us\":4000}");
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
    const struct hang open = {.state = MIRE_HANG_OPEN,
                              .foreground = MIRE_GROUND_FORE,
                              .threshold_ms = 2000,
                              .begin_ns = BEGIN,
                              .last_seen_ns = BEGIN + 9 * MIRE_NS_PER_S};
    (void)state;
    mire__blackbox_set_hang(box, 0, &open);
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
    memcpy(first, box->session.id, 16);
    mire__session_begin(box, BEGIN + 10 * MIRE_NS_PER_S, 1763685010000ull);
    assert_memory_not_equal(first, box->session.id, 16);
    count(box, MIRE_TRIGGER_BUSY, false, MIRE_GROUND_FORE, 2100);
    atomic_store(&box->session.check_cpu_ns, 6000000);
    assert_says(
        box, BEGIN + 15 * MIRE_NS_PER_S,
        "\"begin_wall_ms\":1763685010000,\"duration_ms\":5000,\"part\":1,\"over\":true,\"on\":[\"hang\",\"session\"],"
        "\"hangs\":{\"foreground\":{\"count\":1,\"duration_ms\":2100}},\"sdk_cpu_us\":1000");
    free(box);
}

static void without_the_plugin_there_is_no_record(void **state)
{
    struct store *store = NULL;
    const struct store_caps caps = MIRE_STORE_CAPS_INIT;
    struct blackbox *box = session_box();
    struct store_item item;

    assert_int_equal(mire__store_open(&store, *state, &caps), MIRE_OK);
    atomic_store(&box->session.on, 0);
    assert_int_equal(mire__session_seal(store, box, BEGIN + 1, true, 1763685100000ull), MIRE_E_STATE);
    assert_int_equal(mire__store_list(&item, 1, store), 0);
    atomic_store(&box->session.on, 1);
    memset(box->session.id, 0, 16);
    assert_int_equal(mire__session_seal(store, box, BEGIN + 1, true, 1763685100000ull), MIRE_E_FORMAT);
    mire__store_close(store);
    free(box);
}

static void ends_and_losses_are_told_once(void **state)
{
    struct store *store = NULL;
    const struct store_caps caps = MIRE_STORE_CAPS_INIT;
    const struct store_end end = {
        .run = "00112233445566778899aabbccddeeff", .verdict = "foom", .confidence_ppm = 900000, .process = "mapview"};
    struct blackbox *box = session_box();
    uint64_t drops[MIRE_DROP_REASONS];
    struct store_end kept;
    struct store_item item;

    assert_int_equal(mire__store_open(&store, *state, &caps), MIRE_OK);
    assert_int_equal(mire__store_end_add(store, &end), MIRE_OK);
    mire__store_count_drop(store, MIRE_DROP_ANNEALED);
    assert_int_equal(mire__session_seal(store, box, BEGIN + 1, true, 1763685100000ull), MIRE_OK);
    assert_int_equal(mire__store_list(&item, 1, store), 1);
    assert_int_equal(mire__store_ends(&kept, 1, store), 1);
    assert_true(kept.told);
    mire__store_drops(drops, store);
    assert_int_equal(drops[MIRE_DROP_ANNEALED], 0);
    /* Dropped, the record gives its losses back. */
    mire__store_drop(store, item.id, MIRE_DROP_REFUSED);
    mire__store_drops(drops, store);
    assert_int_equal(drops[MIRE_DROP_ANNEALED], 1);
    mire__store_close(store);
    free(box);
}

static void what_a_record_tells_besides_stands_in_it(void **state)
{
    struct blackbox *box = session_box();
    struct session_told told = {
        .ends = {{.verdict = "foom", .confidence_ppm = 900000, .start_wall_ms = 5, .seen_wall_ms = 6}}, .end_count = 1};
    char *text;
    (void)state;
    told.drops[MIRE_DROP_DAILY] = 4;
    text = text_at(box, BEGIN, &told);
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
        TEST(without_the_plugin_there_is_no_record),
        TEST(ends_and_losses_are_told_once),
        cmocka_unit_test(what_a_record_tells_besides_stands_in_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
