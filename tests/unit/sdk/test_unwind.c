/* test_unwind.c - the unwinder compared with another one, and on invalid data. */
#include "capture/unwind.h"
#include "platform/platform.h"
#include "support/tower.h"

#include <execinfo.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <cmocka.h>

static struct stack_snapshot snapshot;
static struct modules modules;
static struct sample sample;

/* Unwind the calling thread from here. */
static __attribute__((noinline)) void unwind_here(void)
{
    ucontext_t context;

    memset(&sample, 0, sizeof(sample));
    snapshot.unfolded = true;
    getcontext(&context);
    mire__arch_as_regs(&snapshot.regs, &context);
    snapshot.stack_address = snapshot.regs.value[mire__arch.sp];
    snapshot.stack_size = mire__peek(snapshot.stack, snapshot.stack_address, sizeof(snapshot.stack));
    mire__modules_read(&modules, NULL, NULL);
    mire__unwind(&sample, &snapshot, &modules);
}

static uint32_t found_by(enum mire__found found)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < sample.depth; i++)
        count += sample.found[i] == found;
    return count;
}

/* The same frames as glibc's own unwinder finds, from the handler's copy of this thread. */
static void frames_equal_those_of_backtrace(void **state)
{
    (void)state;
    void *trace[64];
    uint32_t depth = (uint32_t)backtrace(trace, 64), same = 0;

    unwind_here();
    assert_int_equal(sample.flags, 0);
    /* One inner frame more: unwind_here. A sanitizer's own backtrace() adds a frame. */
    assert_in_range(depth, sample.depth - 1, sample.depth);
    for (uint32_t i = 2; i < sample.depth; i++)
        same += sample.pc[i] + 1 == (uintptr_t)trace[i + depth - sample.depth];
    assert_int_equal(same, sample.depth - 2);
}

static long unwind_at_top(long number)
{
    unwind_here();
    return number;
}

static void frame_pointers_alone_lead_down(void **state)
{
    (void)state;

    tower_fp(60, unwind_at_top);
    assert_int_equal(sample.flags, 0);
    assert_true(found_by(MIRE_FOUND_FP) >= 58);
}

static void call_frame_information_alone_leads_down(void **state)
{
    (void)state;

    tower_cfi(60, unwind_at_top);
    assert_int_equal(sample.flags, 0);
    assert_true(found_by(MIRE_FOUND_CFI) >= 60);
    assert_int_equal(found_by(MIRE_FOUND_FP), 0);
}

static void unwind_in_handler(int signal)
{
    (void)signal;
    unwind_here();
}

#if defined(__x86_64__)
/* A return from a signal handler like musl's, without call frame information. */
__asm__(".text\nbare_way_back: mov $15, %rax\nsyscall\n");
void bare_way_back(void);

static void handle_bare(void)
{
    struct {
        void (*handler)(int);
        unsigned long flags;
        void (*restorer)(void);
        uint64_t mask;
    } action = {unwind_in_handler, 0x04000000 /* SA_RESTORER */, bare_way_back, 0};

    assert_int_equal(syscall(SYS_rt_sigaction, SIGUSR2, &action, NULL, sizeof(action.mask)), 0);
}
#else
static void handle_bare(void)
{
    signal(SIGUSR2, unwind_in_handler); /* the vDSO's or the emulator's, also without it */
}
#endif

static void a_way_back_from_a_handler_is_known_by_its_bytes(void **state)
{
    (void)state;

#if defined(__SANITIZE_THREAD__)
    skip(); /* this sanitizer runs handlers later, from its own code */
#endif
    handle_bare();
    raise(SIGUSR2);
    assert_int_equal(sample.flags, 0);
    assert_int_equal(found_by(MIRE_FOUND_SIGNAL), 1);
    signal(SIGUSR2, SIG_DFL);
}

static void unwinding_garbage_ends(void **state)
{
    (void)state;
    unsigned seed = 1;

    mire__modules_read(&modules, NULL, NULL);
    for (int round = 0; round < 20000; round++) {
        const struct module *module = &modules.list[(unsigned)rand_r(&seed) % modules.count];

        for (size_t i = 0; i < 4096; i++)
            snapshot.stack[i] = (uint8_t)rand_r(&seed);
        for (size_t i = 0; i < 4096; i += 16) { /* words that look like return addresses */
            uint64_t pc = module->text_start + (unsigned)rand_r(&seed) % (module->text_end - module->text_start);

            memcpy(snapshot.stack + i, &pc, 8);
        }
        snapshot.stack_address = 0x10000;
        snapshot.stack_size = 4096;
        for (size_t i = 0; i < MIRE_REGS_MAX; i++)
            snapshot.regs.value[i] = 0x10000 + (unsigned)rand_r(&seed) % 4096;
        snapshot.regs.known = ~0ull;
        snapshot.regs.pc = module->text_start + (unsigned)rand_r(&seed) % (module->text_end - module->text_start);
        memset(&sample, 0, sizeof(sample));
        mire__unwind(&sample, &snapshot, &modules);
        assert_in_range(sample.depth, 1, MIRE_DEPTH_MAX);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_equal_those_of_backtrace),
        cmocka_unit_test(frame_pointers_alone_lead_down),
        cmocka_unit_test(call_frame_information_alone_leads_down),
        cmocka_unit_test(a_way_back_from_a_handler_is_known_by_its_bytes),
        cmocka_unit_test(unwinding_garbage_ends),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
