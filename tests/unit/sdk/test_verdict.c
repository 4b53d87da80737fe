/* test_verdict.c - claims about exit/verdict.h: verdicts that follow from signs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "exit/verdict.h"

#define BIT(sign) MIRE_SIGN_BIT(sign)

/* A kill of an app in the foreground, of the same version in the same boot, without other signs. */
#define PLAIN_KILL (BIT(APP_SAME) | BIT(BOOT_SAME) | BIT(FOREGROUND) | BIT(NOT_STUCK))
#define ROOM       (BIT(OOM_NOT_COUNTED) | BIT(FAR_FROM_LIMIT))
#define OOM        (BIT(OOM_COUNTED) | BIT(NEAR_LIMIT))

static enum mire__end judge(uint64_t signs)
{
    struct exit_verdict verdict;

    mire__verdict_find(&verdict, signs);
    return verdict.verdict;
}

static uint32_t confidence(uint64_t signs)
{
    struct exit_verdict verdict;

    mire__verdict_find(&verdict, signs);
    return verdict.confidence_ppm;
}

static void without_a_sign_nothing_is_known(void **state)
{
    struct exit_verdict verdict;

    (void)state;
    mire__verdict_find(&verdict, 0);
    assert_int_equal(verdict.verdict, MIRE_EXIT_UNKNOWN);
    assert_int_equal(verdict.signs_for, 0);
    assert_int_equal(verdict.signs_against, 0);
    assert_in_range(verdict.confidence_ppm, 500001, 1000000);
}

static void a_kill_with_an_oom_kill_counted_near_the_limit_is_a_foom(void **state)
{
    struct exit_verdict verdict;

    (void)state;
    mire__verdict_find(&verdict, PLAIN_KILL | OOM);
    assert_int_equal(verdict.verdict, MIRE_EXIT_FOOM);
    assert_true(verdict.confidence_ppm > 990000);
    assert_int_equal(verdict.signs_for, OOM);
    assert_int_equal(verdict.signs_against, 0);
}

static void all_seven_exclusions_hold_for_a_foom_of_which_all_is_known(void **state)
{
    struct exit_verdict verdict;

    (void)state;
    mire__verdict_find(&verdict, PLAIN_KILL | OOM);
    assert_int_equal(verdict.excluded, (1u << MIRE_EXCLUSIONS) - 1);
}

static void an_app_that_does_not_tell_its_ground_leaves_that_exclusion_open(void **state)
{
    struct exit_verdict verdict;

    (void)state;
    mire__verdict_find(&verdict, (PLAIN_KILL & ~BIT(FOREGROUND)) | BIT(GROUND_UNKNOWN) | OOM);
    assert_int_equal(verdict.verdict, MIRE_EXIT_FOOM);
    assert_int_equal(verdict.excluded, ((1u << MIRE_EXCLUSIONS) - 1) & ~(1u << MIRE_EXCLUDED_BACKGROUND));
    assert_int_equal(verdict.signs_against, BIT(GROUND_UNKNOWN));
}

static void a_kill_with_room_left_is_somebodys(void **state)
{
    (void)state;
    assert_int_equal(judge(PLAIN_KILL | ROOM), MIRE_EXIT_OS_KILL);
    assert_int_equal(judge(PLAIN_KILL | ROOM | BIT(PARENT_SAW_KILL)), MIRE_EXIT_OS_KILL);
    assert_int_equal(judge(PLAIN_KILL | ROOM | BIT(PARENT_SAW_SIGNAL)), MIRE_EXIT_OS_KILL);
}

static void a_kill_near_the_limit_that_the_kernel_did_not_count_is_unknown(void **state)
{
    (void)state;
    assert_int_equal(judge(PLAIN_KILL | BIT(NEAR_LIMIT) | BIT(OOM_NOT_COUNTED)), MIRE_EXIT_UNKNOWN);
}

static void each_exclusion_comes_before_the_foom(void **state)
{
    static const struct {
        uint64_t signs;
        enum mire__end end;
    } cases[] = {
        {BIT(STOPPED), MIRE_EXIT_CLEAN},
        {BIT(EXITED), MIRE_EXIT_CLEAN},
        {BIT(EXECUTED), MIRE_EXIT_CLEAN},
        {BIT(PARENT_SAW_EXIT), MIRE_EXIT_CLEAN},
        {BIT(ABORTED), MIRE_EXIT_ABORT},
        {BIT(ABORT_CALLED), MIRE_EXIT_ABORT},
        {BIT(PARENT_SAW_ABORT), MIRE_EXIT_ABORT},
        {BIT(CRASHED), MIRE_EXIT_CRASH},
        {BIT(PARENT_SAW_CRASH), MIRE_EXIT_CRASH},
        {BIT(QUIT_SIGNAL), MIRE_EXIT_USER_QUIT},
        {BIT(QUIT_ANNOUNCED), MIRE_EXIT_USER_QUIT},
        {BIT(PARENT_SAW_QUIT), MIRE_EXIT_USER_QUIT},
        {BIT(BACKGROUND), MIRE_EXIT_BACKGROUND_KILL},
        {BIT(JUST_FOREGROUND), MIRE_EXIT_BACKGROUND_KILL},
    };
    const uint64_t foom = BIT(APP_SAME) | BIT(BOOT_SAME) | BIT(NOT_STUCK) | OOM;

    (void)state;
    for (size_t i = 0; i < MIRE_COUNT(cases); i++)
        assert_int_equal(judge(foom | cases[i].signs), cases[i].end);
}

static void what_proves_an_end_outweighs_what_only_changed_since(void **state)
{
    static const uint64_t proofs[] = {BIT(STOPPED), BIT(EXITED),      BIT(CRASHED),
                                      BIT(ABORTED), BIT(QUIT_SIGNAL), BIT(ABORT_CALLED)};

    (void)state;
    for (size_t i = 0; i < MIRE_COUNT(proofs); i++) {
        enum mire__end end = judge(proofs[i]);

        assert_int_not_equal(end, MIRE_EXIT_UNKNOWN);
        assert_int_equal(judge(proofs[i] | BIT(APP_CHANGED) | BIT(OS_CHANGED) | BIT(BOOT_CHANGED)), end);
    }
}

static void an_upgrade_is_found_by_what_changed(void **state)
{
    (void)state;
    assert_int_equal(judge(BIT(APP_CHANGED) | BIT(BOOT_SAME) | BIT(FOREGROUND)), MIRE_EXIT_APP_UPGRADED);
    assert_int_equal(judge(BIT(APP_CHANGED) | BIT(BOOT_SAME) | BIT(FOREGROUND) | ROOM), MIRE_EXIT_APP_UPGRADED);
    assert_int_equal(judge(BIT(APP_SAME) | BIT(OS_CHANGED) | BIT(BOOT_CHANGED)), MIRE_EXIT_OS_UPGRADED);
    assert_int_equal(judge(BIT(APP_SAME) | BIT(BOOT_CHANGED)), MIRE_EXIT_REBOOTED);
}

static void an_oom_kill_that_was_counted_outweighs_an_upgrade(void **state)
{
    (void)state;
    assert_int_equal(judge(BIT(APP_CHANGED) | BIT(BOOT_SAME) | BIT(FOREGROUND) | BIT(NOT_STUCK) | OOM), MIRE_EXIT_FOOM);
}

static void a_kill_while_stuck_is_the_watchdogs_unless_memory_was_the_reason(void **state)
{
    const uint64_t stuck = (PLAIN_KILL & ~BIT(NOT_STUCK)) | BIT(STUCK);

    (void)state;
    assert_int_equal(judge(stuck | ROOM), MIRE_EXIT_WATCHDOG_KILL);
    assert_int_equal(judge(stuck | ROOM | BIT(ABORT_SENT)), MIRE_EXIT_WATCHDOG_KILL);
    assert_int_equal(judge(stuck | BIT(NEAR_LIMIT)), MIRE_EXIT_WATCHDOG_KILL);
    assert_int_equal(judge(stuck | OOM), MIRE_EXIT_FOOM);
}

static void a_sigabrt_of_somebody_elses_is_no_abort(void **state)
{
    (void)state;
    assert_int_equal(judge(PLAIN_KILL | ROOM | BIT(ABORT_SENT) | BIT(PARENT_SAW_ABORT)), MIRE_EXIT_OS_KILL);
    assert_int_equal(judge((PLAIN_KILL & ~BIT(NOT_STUCK)) | BIT(STUCK) | BIT(ABORT_SENT) | BIT(PARENT_SAW_ABORT)),
                     MIRE_EXIT_WATCHDOG_KILL);
}

static void a_crash_that_a_handler_turned_into_another_end_is_a_crash(void **state)
{
    (void)state;
    assert_int_equal(judge(BIT(CRASHED) | BIT(EXITED)), MIRE_EXIT_CRASH);
    assert_int_equal(judge(BIT(CRASHED) | BIT(ABORT_CALLED) | BIT(PARENT_SAW_ABORT)), MIRE_EXIT_CRASH);
    assert_int_equal(judge(BIT(CRASHED) | BIT(STOPPED) | BIT(PARENT_SAW_EXIT)), MIRE_EXIT_CRASH);
}

static void a_crash_that_was_survived_is_none(void **state)
{
    (void)state;
    assert_int_equal(judge(BIT(CRASH_SURVIVED) | BIT(STOPPED)), MIRE_EXIT_CLEAN);
    assert_int_equal(judge(BIT(CRASH_SURVIVED) | PLAIN_KILL | ROOM), MIRE_EXIT_OS_KILL);
}

static void the_parents_word_decides(void **state)
{
    (void)state;
    assert_int_equal(judge(BIT(STOPPED) | BIT(PARENT_SAW_CRASH)), MIRE_EXIT_CRASH);
    assert_int_equal(judge(BIT(STUCK) | BIT(PARENT_SAW_EXIT)), MIRE_EXIT_CLEAN);
    assert_int_equal(judge(BIT(QUIT_ANNOUNCED) | BIT(PARENT_SAW_CRASH)), MIRE_EXIT_CRASH);
}

/* Neither memory nor its lack may hide a crash, and a missing crash marker must not make one. */
static void no_set_of_signs_with_a_crash_is_a_foom(void **state)
{
    static const uint64_t crashes[] = {BIT(CRASHED), BIT(ABORTED), BIT(PARENT_SAW_CRASH), BIT(PARENT_SAW_ABORT)};

    (void)state;
    for (uint32_t seed = 1, i = 0; i < 200000; i++) {
        uint64_t signs = 0;

        for (int sign = 0; sign < MIRE_SIGN_COUNT; sign++) {
            seed = seed * 1664525u + 1013904223u;
            signs |= (uint64_t)(seed >> 31) << sign;
        }
        assert_int_not_equal(judge(signs | crashes[i % MIRE_COUNT(crashes)]), MIRE_EXIT_FOOM);
    }
}

static void the_systems_record_outweighs_all_circumstances(void **state)
{
    static const struct {
        uint64_t sign;
        enum mire__end front, back; /* in the foreground, in the background */
    } records[] = {
        {BIT(SYSTEM_SAW_CRASH), MIRE_EXIT_CRASH, MIRE_EXIT_CRASH},
        {BIT(SYSTEM_SAW_HANG), MIRE_EXIT_WATCHDOG_KILL, MIRE_EXIT_WATCHDOG_KILL},
        {BIT(SYSTEM_SAW_LOW_MEMORY), MIRE_EXIT_FOOM, MIRE_EXIT_BACKGROUND_KILL},
        {BIT(SYSTEM_SAW_LIMIT), MIRE_EXIT_FOOM, MIRE_EXIT_FOOM},
        {BIT(SYSTEM_SAW_USER), MIRE_EXIT_USER_QUIT, MIRE_EXIT_USER_QUIT},
        {BIT(SYSTEM_SAW_UPGRADE), MIRE_EXIT_APP_UPGRADED, MIRE_EXIT_APP_UPGRADED},
        {BIT(SYSTEM_SAW_KILL), MIRE_EXIT_OS_KILL, MIRE_EXIT_BACKGROUND_KILL},
    };
    static const uint64_t circumstances[] = {
        BIT(APP_SAME) | BIT(BOOT_SAME) | BIT(NOT_STUCK) | BIT(OOM_NOT_COUNTED) | BIT(FAR_FROM_LIMIT),
        BIT(APP_CHANGED) | BIT(BOOT_SAME) | BIT(STUCK) | BIT(NEAR_LIMIT) | BIT(PRESSURE) | BIT(GREW),
        BIT(APP_SAME) | BIT(BOOT_CHANGED) | BIT(OS_CHANGED) | BIT(FOUND_LATE) | BIT(NOT_STUCK),
    };

    (void)state;
    for (size_t i = 0; i < MIRE_COUNT(records); i++) {
        for (size_t j = 0; j < MIRE_COUNT(circumstances); j++) {
            assert_int_equal(judge(records[i].sign | circumstances[j] | BIT(FOREGROUND)), records[i].front);
            if (j != 2) /* of a reboot nobody knows in the background: no record is left then */
                assert_int_equal(judge(records[i].sign | circumstances[j] | BIT(BACKGROUND)), records[i].back);
        }
    }
}

static void more_that_speaks_for_it_is_more_confidence(void **state)
{
    (void)state;
    assert_true(confidence(PLAIN_KILL | OOM | BIT(PARENT_SAW_KILL)) > confidence(PLAIN_KILL | BIT(OOM_COUNTED)));
    assert_true(confidence(PLAIN_KILL | OOM | BIT(DEBUGGER)) < confidence(PLAIN_KILL | OOM));
}

static void every_name_is_its_own(void **state)
{
    (void)state;
    for (int i = 0; i < MIRE_SIGN_COUNT; i++) {
        assert_true(mire__sign_name(i)[0]);
        for (int j = 0; j < i; j++)
            assert_string_not_equal(mire__sign_name(i), mire__sign_name(j));
    }
    for (int i = 0; i < MIRE_EXIT_VERDICTS; i++)
        for (int j = 0; j < i; j++)
            assert_string_not_equal(mire__verdict_name(i), mire__verdict_name(j));
    assert_string_equal(mire__sign_name(MIRE_SIGN_COUNT), "");
    assert_string_equal(mire__verdict_name(MIRE_EXIT_VERDICTS), "unknown");
    assert_string_equal(mire__exclusion_name(MIRE_EXCLUSIONS), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_sign_nothing_is_known),
        cmocka_unit_test(a_kill_with_an_oom_kill_counted_near_the_limit_is_a_foom),
        cmocka_unit_test(all_seven_exclusions_hold_for_a_foom_of_which_all_is_known),
        cmocka_unit_test(an_app_that_does_not_tell_its_ground_leaves_that_exclusion_open),
        cmocka_unit_test(a_kill_with_room_left_is_somebodys),
        cmocka_unit_test(a_kill_near_the_limit_that_the_kernel_did_not_count_is_unknown),
        cmocka_unit_test(each_exclusion_comes_before_the_foom),
        cmocka_unit_test(what_proves_an_end_outweighs_what_only_changed_since),
        cmocka_unit_test(an_upgrade_is_found_by_what_changed),
        cmocka_unit_test(an_oom_kill_that_was_counted_outweighs_an_upgrade),
        cmocka_unit_test(a_kill_while_stuck_is_the_watchdogs_unless_memory_was_the_reason),
        cmocka_unit_test(a_sigabrt_of_somebody_elses_is_no_abort),
        cmocka_unit_test(a_crash_that_a_handler_turned_into_another_end_is_a_crash),
        cmocka_unit_test(a_crash_that_was_survived_is_none),
        cmocka_unit_test(the_parents_word_decides),
        cmocka_unit_test(no_set_of_signs_with_a_crash_is_a_foom),
        cmocka_unit_test(the_systems_record_outweighs_all_circumstances),
        cmocka_unit_test(more_that_speaks_for_it_is_more_confidence),
        cmocka_unit_test(every_name_is_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
