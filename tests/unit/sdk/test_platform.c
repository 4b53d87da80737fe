/* test_platform.c - reads this process's memory, threads and mappings on this machine. */
#include "platform/arch.h"
#include "platform/platform.h"
#include "platform/ticks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/emulator.h"

static void peek_stops_at_the_first_page_that_is_not_there(void **state)
{
    (void)state;
    static char out[3 * 4096];
    char *pages = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    memset(pages, 'x', 3 * 4096);
    assert_int_equal(munmap(pages + 2 * 4096, 4096), 0);
    assert_int_equal(mire__peek(out, (uintptr_t)pages, sizeof(out)), 2 * 4096);
    assert_int_equal(mire__peek(out, (uintptr_t)pages + 2 * 4096 - 3, 8), 3);
    assert_int_equal(out[2], 'x');
    assert_int_equal(mire__peek(out, (uintptr_t)pages + 2 * 4096, 8), 0);
    assert_int_equal(mire__peek(out, 0, 8), 0);
    assert_int_equal(mire__peek(out, UINT64_MAX - 3, 8), 0);
    munmap(pages, 2 * 4096);
}

static _Atomic uint32_t sleeper_tid, sleeper_stop;

static void *sleeper(void *unused)
{
    atomic_store(&sleeper_tid, mire__tid());
    mire__futex_wake(&sleeper_tid);
    while (!atomic_load(&sleeper_stop))
        mire__futex_wait(&sleeper_stop, 0, UINT64_MAX);
    return unused;
}

static void a_sleeping_thread_shows_its_system_call(void **state)
{
    (void)state;
    struct thread_state seen = {0};
    struct thread_counters counters;
    pthread_t thread;

    skip_if_proc_is_an_emulators();
    assert_int_equal(pthread_create(&thread, NULL, sleeper, NULL), 0);
    while (!atomic_load(&sleeper_tid))
        mire__futex_wait(&sleeper_tid, 0, UINT64_MAX);
    for (int i = 0; i < 1000 && !seen.blocked; i++) {
        usleep(1000);
        mire__thread_state(&seen, atomic_load(&sleeper_tid));
    }
    assert_true(seen.blocked);
    assert_int_equal(seen.letter, 'S');
    assert_int_equal(seen.syscall, SYS_futex);
    assert_true(seen.sp != 0 && seen.pc != 0);
    mire__thread_counters(&counters, atomic_load(&sleeper_tid));
    assert_true(counters.cpu_ns > 0);
    assert_true(counters.voluntary_switches > 0);
    assert_true(strlen(counters.name) > 0);
    atomic_store(&sleeper_stop, 1);
    mire__futex_wake(&sleeper_stop);
    pthread_join(thread, NULL);
    mire__thread_state(&seen, atomic_load(&sleeper_tid));
    assert_false(seen.blocked);
}

static void a_signal_is_blocked_then_pending_then_gone(void **state)
{
    (void)state;
    const uint64_t USR2 = MIRE_SIGNAL_BIT(SIGUSR2);
    struct thread_signals seen;
    sigset_t set, before;

    mire__thread_signals(&seen, mire__tid());
    assert_false((seen.blocked | seen.pending) & USR2);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &set, &before);
    mire__thread_signals(&seen, mire__tid());
    assert_true((seen.blocked & USR2) && !(seen.pending & USR2));
    assert_true(mire__thread_signal(mire__tid(), SIGUSR2));
    mire__thread_signals(&seen, mire__tid());
    assert_true(seen.blocked & seen.pending & USR2);
    signal(SIGUSR2, SIG_IGN); /* discards pending signals */
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    mire__thread_signals(&seen, mire__tid());
    assert_false((seen.blocked | seen.pending) & USR2);
    mire__thread_signals(&seen, 0x3fffff);
    assert_false((seen.blocked | seen.pending) & USR2);
}

static void *spinner(void *unused)
{
    atomic_store(&sleeper_tid, mire__tid());
    while (!atomic_load(&sleeper_stop))
        ;
    return unused;
}

static void a_running_thread_is_not_blocked(void **state)
{
    (void)state;
    struct thread_state seen;
    pthread_t thread;

    atomic_store(&sleeper_tid, 0);
    atomic_store(&sleeper_stop, 0);
    assert_int_equal(pthread_create(&thread, NULL, spinner, NULL), 0);
    while (!atomic_load(&sleeper_tid))
        usleep(1000);
    mire__thread_state(&seen, atomic_load(&sleeper_tid));
    assert_false(seen.blocked);
    assert_int_equal(seen.letter, 'R');
    atomic_store(&sleeper_stop, 1);
    pthread_join(thread, NULL);
}

struct search {
    uint64_t address;
    bool found, executable;
    unsigned count;
};

static bool look(void *context, const struct mapping *mapping)
{
    struct search *search = context;

    search->count++;
    if (search->address >= mapping->start && search->address < mapping->end) {
        search->found = strstr(mapping->path, "test_sdk_platform") != NULL;
        search->executable = mapping->executable;
    }
    return true;
}

static void mappings_hold_this_function(void **state)
{
    (void)state;
    static char small[8192];
    struct search search = {.address = (uintptr_t)mappings_hold_this_function};

    assert_true(mire__mappings_visit(look, &search, small, sizeof(small)));
    assert_true(search.found);
    assert_true(search.executable);
    assert_true(search.count > 5);
}

static void time_and_counters_move_forward(void **state)
{
    (void)state;
    struct process_counters process;
    uint64_t begin = mire__now_ns();
    uint8_t one[16], two[16];

    assert_true(mire__now_coarse_ns() <= mire__now_ns());
    assert_true(mire__now_ns() >= begin);
    assert_true(mire__boot_now_ns() > 0);
    mire__uuid7(one);
    mire__uuid7(two);
    assert_int_equal(one[6] >> 4, 7);
    assert_int_equal(one[8] >> 6, 2);
    assert_memory_not_equal(one, two, 16);
    skip_if_proc_is_an_emulators();
    mire__process_counters(&process);
    assert_true(process.thread_count >= 1);
    assert_true(process.rss_bytes > 100000);
    assert_true(mire__process_start_ticks(mire__pid()) > 0);
    assert_int_equal(mire__process_start_ticks(0x7fffffff), 0);
}

#if defined(__x86_64__)
static void calls_are_known_by_their_bytes(void **state)
{
    (void)state;
    uint64_t target;

    assert_true(mire__arch_call_before(&target, 0x1000, (uint8_t[8]){0, 0, 0, 0xe8, 0xfb, 0xff, 0xff, 0xff}));
    assert_int_equal(target, 0xffb);
    assert_true(mire__arch_call_before(&target, 0x1000, (uint8_t[8]){0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0xd0}));
    assert_int_equal(target, 0);
    assert_true(mire__arch_call_before(&target, 0x1000, (uint8_t[8]){0x90, 0x90, 0xff, 0x15, 1, 2, 3, 4}));
    assert_true(mire__arch_call_before(&target, 0x1000, (uint8_t[8]){0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0x50, 0x18}));
    assert_false(mire__arch_call_before(&target, 0x1000, (uint8_t[8]){0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0xe0}));
    assert_false(mire__arch_call_before(&target, 0x1000, (uint8_t[8]){0}));
}
#endif

static _Atomic uint32_t fired;

static void ticks_become_the_time_they_were_read_at(void **state)
{
    (void)state;
    const struct ticks_scale scale = {.base_ticks = 1000, .base_ns = 50000};
    struct ticks_scale real;
    uint64_t before_ns, ticks, after_ns;

    /* 2 ticks a nanosecond: 600 ticks ago are 300 ns ago. */
    assert_int_equal(mire__ticks_convert(&scale, 2400, 3000, 51000), 50700);
    assert_int_equal(mire__ticks_convert(&scale, 1000, 3000, 51000), 50000);
    /* Incomparable instants become now: ticks in the future or before the base, and a stopped counter or clock. */
    assert_int_equal(mire__ticks_convert(&scale, 3001, 3000, 51000), 51000);
    assert_int_equal(mire__ticks_convert(&scale, 999, 3000, 51000), 51000);
    assert_int_equal(mire__ticks_convert(&scale, 1000, 1000, 50000), 50000);
    assert_int_equal(mire__ticks_convert(&scale, 2000, 3000, 49000), 49000);
    mire__ticks_choose();
    mire__ticks_scale_init(&real);
    usleep(20000);
    before_ns = mire__now_ns();
    ticks = mire__ticks_now();
    after_ns = mire__now_ns();
    usleep(20000);
    assert_in_range(mire__ticks_to_ns(&real, ticks), before_ns - 20000, after_ns + 20000);
}

static void on_timer(int signal, siginfo_t *info, void *ucontext)
{
    (void)signal;
    (void)ucontext;
    if (info->si_code == SI_TIMER && info->si_value.sival_ptr == &fired)
        fired++;
}

static void burn(uint64_t cpu_ns)
{
    for (uint64_t end_ns = mire__process_cpu_ns() + cpu_ns; mire__process_cpu_ns() < end_ns;)
        ;
}

static void a_cpu_timer_fires_when_time_is_used_and_not_while_it_passes(void **state)
{
    struct sigaction action = {.sa_sigaction = on_timer, .sa_flags = SA_SIGINFO | SA_RESTART};
    struct cpu_timer timer = {0};

    (void)state;
    sigaction(SIGURG, &action, NULL);
    assert_true(mire__cpu_timer_open(&timer, mire__tid(), SIGURG, &fired));
    mire__cpu_timer_arm(&timer, 50 * MIRE_NS_PER_MS);
    usleep(100000);
    assert_int_equal(fired, 0);
    burn(100 * MIRE_NS_PER_MS);
    assert_int_equal(fired, 1);
    burn(60 * MIRE_NS_PER_MS); /* once only */
    mire__cpu_timer_arm(&timer, 20 * MIRE_NS_PER_MS);
    mire__cpu_timer_arm(&timer, 0);
    burn(40 * MIRE_NS_PER_MS);
    assert_int_equal(fired, 1);
    mire__cpu_timer_arm(&timer, 20 * MIRE_NS_PER_MS);
    mire__cpu_timer_close(&timer);
    mire__cpu_timer_arm(&timer, 20 * MIRE_NS_PER_MS);
    burn(40 * MIRE_NS_PER_MS);
    assert_int_equal(fired, 1);
    assert_false(mire__cpu_timer_open(&timer, UINT32_MAX, SIGURG, NULL));
    signal(SIGURG, SIG_DFL);
}

static void bytes_written_are_counted_in_the_thread_that_wrote(void **state)
{
    char path[] = "/var/tmp/mire-test-XXXXXX", block[4096] = "x";
    struct io_bytes before, after, process_before, process_after;
    int fd = mkstemp(path);

    (void)state;
    assert_true(fd >= 0);
    unlink(path);
    mire__io_bytes(&before, mire__tid());
    mire__io_bytes(&process_before, 0);
    for (int i = 0; i < 256; i++)
        assert_int_equal(write(fd, block, sizeof(block)), sizeof(block));
    mire__io_bytes(&after, mire__tid());
    mire__io_bytes(&process_after, 0);
    close(fd);
    assert_true(after.written - before.written >= 1 << 20);
    assert_true(process_after.written - process_before.written >= 1 << 20);
    mire__io_bytes(&after, UINT32_MAX);
    assert_int_equal(after.read + after.written, 0);
}

static void resident_are_the_pages_that_were_touched(void **state)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), count = 10000; /* more than one question takes */
    char *pages = mmap(NULL, count * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct residence residence;

    (void)state;
    mire__residence_open(&residence);
    madvise(pages, count * page, MADV_NOHUGEPAGE);
    assert_int_equal(mire__residence_bytes(&residence, (uintptr_t)pages, count * page, false), 0);
    pages[0] = pages[7 * page] = pages[9999 * page] = 1;
    for (int of_file = 0; of_file < 2; of_file++) {
        assert_int_equal(mire__residence_bytes(&residence, (uintptr_t)pages, count * page, of_file), 3 * page);
        assert_int_equal(mire__residence_bytes(&residence, (uintptr_t)pages + 6 * page, page, of_file), 0);
    }
    munmap(pages, count * page);
    assert_int_equal(mire__residence_bytes(&residence, (uintptr_t)pages, count * page, false), 0);
    mire__residence_close(&residence);
}

/* The kernel has all of it in its cache, since it was just written. */
static void of_a_file_resident_is_what_the_process_has_touched(void **state)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), count = 1000;
    struct residence residence, none = {.pagemap = -1};
    FILE *file = tmpfile();
    char *pages;

    (void)state;
    mire__residence_open(&residence);
    for (size_t i = 0; i < count * page; i++)
        putc('x', file);
    fflush(file);
    pages = mmap(NULL, count * page, PROT_READ, MAP_PRIVATE, fileno(file), 0);
    madvise(pages, count * page, MADV_RANDOM); /* a page that is read brings no neighbours */
    assert_int_equal(mire__residence_bytes(&residence, (uintptr_t)pages, count * page, true), 0);
    assert_int_equal(mire__residence_bytes(&none, (uintptr_t)pages, count * page, true), count * page);
    assert_int_equal(*(volatile char *)&pages[700 * page], 'x');
    assert_true(mire__residence_bytes(&residence, (uintptr_t)pages, count * page, true) >= page);
    assert_true(mire__residence_bytes(&residence, (uintptr_t)pages, count * page, true) <= 64 * page);
    munmap(pages, count * page);
    fclose(file);
    mire__residence_close(&residence);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resident_are_the_pages_that_were_touched),
        cmocka_unit_test(of_a_file_resident_is_what_the_process_has_touched),
        cmocka_unit_test(ticks_become_the_time_they_were_read_at),
        cmocka_unit_test(a_cpu_timer_fires_when_time_is_used_and_not_while_it_passes),
        cmocka_unit_test(bytes_written_are_counted_in_the_thread_that_wrote),
        cmocka_unit_test(peek_stops_at_the_first_page_that_is_not_there),
        cmocka_unit_test(a_sleeping_thread_shows_its_system_call),
        cmocka_unit_test(a_running_thread_is_not_blocked),
        cmocka_unit_test(a_signal_is_blocked_then_pending_then_gone),
        cmocka_unit_test(mappings_hold_this_function),
        cmocka_unit_test(time_and_counters_move_forward),
#if defined(__x86_64__)
        cmocka_unit_test(calls_are_known_by_their_bytes),
#endif
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
