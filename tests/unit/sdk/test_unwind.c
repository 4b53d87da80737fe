/* test_unwind.c - the unwinder against another one, and against nonsense. */
#include "capture/unwind.h"
#include "platform/platform.h"

#include <execinfo.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include <cmocka.h>

/* The same frames as glibc's own unwinder finds, from the handler's copy of this thread. */
static void frames_equal_those_of_backtrace(void **state)
{
    (void)state;
    static struct snapshot snapshot;
    static struct modules modules;
    void *trace[64];
    struct sample sample = {0};
    ucontext_t context;
    volatile int depth, same = 0; /* getcontext returns twice, says the compiler */

    depth = backtrace(trace, 64);
    getcontext(&context);
    mire__arch_as_regs(&snapshot.regs, &context);
    snapshot.stack_address = snapshot.regs.value[mire__arch.sp];
    snapshot.stack_size = mire__peek(snapshot.stack, snapshot.stack_address, sizeof(snapshot.stack));
    mire__modules_read(&modules, NULL);
    mire__unwind(&sample, &snapshot, &modules);
    assert_int_equal(sample.flags, 0);
    /* A sanitizer's own backtrace() has one frame more, further in. */
    assert_in_range(depth, sample.depth, sample.depth + 1);
    for (uint32_t i = 1; i < sample.depth; i++)
        same = same + (sample.pc[i] + 1 == (uintptr_t)trace[i + (uint32_t)depth - sample.depth]);
    assert_int_equal(same, sample.depth - 1);
}

static void unwinding_garbage_ends(void **state)
{
    (void)state;
    static struct snapshot snapshot;
    static struct modules modules;
    unsigned seed = 1;

    mire__modules_read(&modules, NULL);
    for (int round = 0; round < 20000; round++) {
        struct sample sample = {0};
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
        mire__unwind(&sample, &snapshot, &modules);
        assert_in_range(sample.depth, 1, MIRE_DEPTH_MAX);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_equal_those_of_backtrace),
        cmocka_unit_test(unwinding_garbage_ends),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
