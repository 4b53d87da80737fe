/* test_run_traces.c - the trace that the system made of the end of a run goes with the run's report. */
#include "support/ended.h"

#include <signal.h>

#define ANR "----- pid 4711 at 2026-05-04 10:11:12.500000000+0000 -----\n"

static size_t asked;

/* The context is the run that has a trace. */
static size_t read_trace(void *context, const char *run, void *out, size_t cap)
{
    asked++;
    assert_true(cap > sizeof(ANR));
    if (strcmp(run, context) != 0)
        return 0;
    memcpy(out, ANR, sizeof(ANR) - 1);
    return sizeof(ANR) - 1;
}

/* Recover with a record of that run's end; the text of the sealed report, NULL if there is none. */
static char *recover_with_trace(struct store *store, const char *run, enum mire_end end, int status)
{
    struct report_witness witness = {.end = end, .status = (uint32_t)status};
    struct report_finder next = finder(NULL);

    mire__text_copy(witness.run, sizeof(witness.run), run);
    next.witnesses = &witness;
    next.witness_count = 1;
    next.read_trace = read_trace;
    next.trace_context = (void *)(uintptr_t)run;
    asked = 0;
    return mire__report_recover(store, &next) == 1 ? sealed_text(store) : NULL;
}

static const char anr_hex[] = "\"trace\":\"2d2d2d2d2d207069642034373131206174";

static void the_systems_trace_goes_with_the_hang_that_ended_the_run(void **state)
{
    struct store *store = store_default(*state);
    char run[MIRE_STORE_RUN_BYTES], *text;

    leave_run(store, run, MIRE_EVENT_OPEN);
    text = recover_with_trace(store, run, MIRE_END_HANG, 0);
    assert_non_null(text);
    assert_int_equal(asked, 1);
    assert_non_null(strstr(text, anr_hex));
    assert_non_null(strstr(text, "\"duration_ms\":3000"));
    free(text);
    mire__store_close(store);
}

static void a_run_without_an_open_event_gets_one_for_its_trace(void **state)
{
    static const struct ending {
        enum mire_end end;
        int status;
        const char *trigger, *verdict;
    } endings[] = {{MIRE_END_HANG, 0, "\"trigger\":\"busy\"", "\"verdict\":\"watchdog_kill\""},
                   {MIRE_END_SIGNAL, SIGSEGV, "\"trigger\":\"crash\"", "\"verdict\":\"crash\""},
                   {MIRE_END_SIGNAL, SIGABRT, "\"trigger\":\"crash\"", "\"verdict\":\"abort\""}};

    for (size_t i = 0; i < 3; i++) {
        struct store *store = store_default(*state);
        char run[MIRE_STORE_RUN_BYTES], *text;
        struct store_item item;

        leave_run_idle(store, run);
        text = recover_with_trace(store, run, endings[i].end, endings[i].status);
        assert_non_null(text);
        assert_non_null(strstr(text, anr_hex));
        assert_non_null(strstr(text, endings[i].trigger));
        assert_non_null(strstr(text, endings[i].verdict));
        assert_int_equal(mire__store_list(&item, 1, store), 1);
        assert_int_equal(item.id[14], '7');
        free(text);
        mire__store_done(store, item.id);
        mire__store_close(store);
    }
}

/* A run that is idle when it is killed, so long after a hang of 3 s. */
static void leave_run_after_hang(struct store *store, char run[MIRE_STORE_RUN_BYTES], uint64_t after_ms)
{
    struct blackbox *box;
    struct event event;

    leave_run_idle(store, run);
    box = box_new();
    mire__file_read(box->facts.boot_id, 37, "/proc/sys/kernel/random/boot_id");
    box->facts.pid = 4194303;
    mire__blackbox_event(&event, box, 0);
    mire__text_copy(event.message, sizeof(event.message), "com.example.Cart lambda");
    mire__blackbox_set_event(box, 0, &event);
    atomic_store(&box->session.seen_ns, event.end_ns + after_ms * MIRE_NS_PER_MS);
    memset(&event, 0, sizeof(event));
    mire__blackbox_set_event(box, 0, &event);
    put(store, run, MIRE_STORE_BOX, box, sizeof(*box));
    free(box);
}

static void the_slow_message_before_a_late_trace_is_named(void **state)
{
    struct store *store = store_default(*state);
    struct store_item item;
    char run[MIRE_STORE_RUN_BYTES], *text;

    leave_run_after_hang(store, run, 700);
    text = recover_with_trace(store, run, MIRE_END_HANG, 0);
    assert_non_null(text);
    assert_non_null(
        strstr(text, "\"notes\":[\"the slow message before: com.example.Cart lambda, 3000 ms, over 700 ms before"));
    free(text);
    assert_int_equal(mire__store_list(&item, 1, store), 1);
    mire__store_done(store, item.id);
    leave_run_after_hang(store, run, 31000);
    text = recover_with_trace(store, run, MIRE_END_HANG, 0);
    assert_non_null(text);
    assert_null(strstr(text, "\"notes\""));
    free(text);
    mire__store_close(store);
}

static void only_hangs_and_crashes_have_traces(void **state)
{
    struct store *store = store_default(*state);
    char run[MIRE_STORE_RUN_BYTES];

    leave_run_idle(store, run);
    assert_null(recover_with_trace(store, run, MIRE_END_LOW_MEMORY, 0));
    assert_int_equal(asked, 0);
    leave_run_idle(store, run);
    assert_null(recover_with_trace(store, "of another run", MIRE_END_HANG, 0));
    assert_int_equal(asked, 0);
    mire__store_close(store);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, scratch_new, scratch_free)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(the_systems_trace_goes_with_the_hang_that_ended_the_run),
        CASE(a_run_without_an_open_event_gets_one_for_its_trace),
        CASE(the_slow_message_before_a_late_trace_is_named),
        CASE(only_hangs_and_crashes_have_traces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
