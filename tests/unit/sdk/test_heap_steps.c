/*
 * test_heap_steps.c - kills after every single instruction of the calls that change the tables. The file must contain
 * all earlier blocks, and for the call in flight the state before, the state after, or nothing, since a replaced block
 * ends first.
 *
 * A traced child makes calls determined by a seed and their number, one instruction at a time. The parent reads the
 * file after each instruction.
 */
#include "heap/mappings.h"
#include "heap/reclaim.h"
#include "heapread/read.h"
#include "support/heaps.h"
#include "support/seed.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define STEPS     40000u
#define STEPS_MAX 400000u /* limit of the steps of a call that gives a page back */
#define BEFORE    2000u   /* calls, at the least, before the first that is stepped through */
#define CALLS     50000u  /* limit of the search for a call that gives a page back */
#define BUDGET    (8u << 20)
#define PAGE      UINT64_C(4096)
#define REGIONS   UINT64_C(0x600000000000)
#define CLOSE     UINT64_C(0x7f0000000000) /* blocks of which several begin in one shadow entry */
#define APART     UINT64_C(0x7e0000000000) /* blocks for the other table */
#define PLACES    1024u
#define CLOSE_N   (PLACES / 2)
#define PAGES     256u /* of the places, those that are mapped */

/*
 * A call changes positions from `from` on: to the node + 1 of pages, or the size + 1 of a block; 0 ends them. A call of
 * no positions runs the reclaimer.
 */
struct call {
    uint32_t from, count, what;
};

/* Kinds of pages that the reclaimer gives back. */
enum gives { GIVES_NONE, GIVES_SHADOW, GIVES_SEGMENT, GIVES_COUNT };

struct subject {
    enum gives gives; /* stepping begins at the call that gives such a page back */
    struct call (*call)(uint32_t x, uint64_t number);
    void (*make)(struct heaps *heaps, const struct call *call);
    uint64_t (*read)(const struct heap_reader *reader, mire__read_live_fn *visit, void *context);
    bool (*visit)(void *context, const struct heap_live *live);
};

/* Shared with the child. */
struct shared {
    _Atomic uint64_t begun, done;           /* calls */
    _Atomic uint32_t to_spare[GIVES_COUNT]; /* pages that were given back, and not used again so far */
};

/* The file's contents: `what` of each position, and how often it was read. */
struct stated {
    uint32_t what[PLACES], times[PLACES];
};

static uint32_t seed;
static struct shared *shared;
static void *memory; /* the file */
static size_t memory_bytes;

static struct call call_of(const struct subject *subject, uint64_t number)
{
    uint64_t x = (seed + number) * 0x9e3779b97f4a7c15ull;

    x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9ull;
    return subject->call((uint32_t)(x >> 32), number);
}

static void tell(struct stated *stated, uint64_t place, uint64_t what)
{
    assert_true(place < PLACES);
    stated->what[place] = (uint32_t)what;
    stated->times[place]++;
}

/* ---- mappings: few stacks, so that neighbours are merged, and later calls cut the merged ones ---- */

static struct call region_call(uint32_t x, uint64_t number)
{
    uint32_t from = x % PAGES, most = PAGES - from < 12 ? PAGES - from : 12;

    (void)number;
    return (struct call){from, 1 + (x >> 8) % most, (x >> 16) % 4};
}

static void region_make(struct heaps *heaps, const struct call *call)
{
    uint64_t start = REGIONS + call->from * PAGE;

    if (call->what)
        mire__mappings_as_map(&heaps->heap, start, call->count * PAGE, MIRE_KIND_ANONYMOUS, call->what - 1);
    else
        mire__mappings_as_unmap(&heaps->heap, start, call->count * PAGE);
}

static bool region_visit(void *context, const struct heap_live *live)
{
    for (uint64_t at = live->address; at < live->address + live->size; at += PAGE)
        tell(context, (at - REGIONS) / PAGE, live->node + 1);
    return true;
}

/* ---- blocks ---- */

static struct call block_of(uint32_t x, uint32_t live_of_8)
{
    uint32_t place = x % PLACES, most = place < CLOSE_N ? 25 : 3000;

    return (struct call){place, 1, (x >> 16 & 7) < live_of_8 ? 1 + (x >> 19) % most : 0};
}

static struct call block_call(uint32_t x, uint64_t number)
{
    (void)number;
    return block_of(x, 4);
}

/* Many live blocks, then few, so that pages are given back and segments joined. */
static struct call kept_call(uint32_t x, uint64_t number)
{
    return number % 64 == 0 ? (struct call){0} : block_of(x, number % 4096 < 2048 ? 7 : 0);
}

static void block_make(struct heaps *heaps, const struct call *call)
{
    uint64_t address = call->from < CLOSE_N ? CLOSE + call->from * 24 : APART + (call->from - CLOSE_N) * PAGE;

    if (call->count == 0) {
        struct heap_reclaimed kept;

        mire__slot_as_leave(heaps->slot);
        mire__heap_reclaim(&kept, &heaps->heap, 1, 1);
        mire__slot_as_enter(heaps->slot);
        atomic_store(&shared->to_spare[GIVES_SHADOW], heaps->heap.shadow_spare.count);
        atomic_store(&shared->to_spare[GIVES_SEGMENT], heaps->heap.block_spare.count);
        return;
    }
    heaps_clear(heaps, address);
    if (call->what)
        heaps_set(heaps, address, call->what - 1, MIRE_NODE_ROOT);
}

static bool block_visit(void *context, const struct heap_live *live)
{
    if (live->address >= CLOSE)
        tell(context, (live->address - CLOSE) / 24, live->size + 1);
    else
        tell(context, CLOSE_N + (live->address - APART) / PAGE, live->size + 1);
    return true;
}

/* ---- the child ---- */

static void make_call(const struct subject *subject, struct heaps *heaps, uint64_t number)
{
    struct call call = call_of(subject, number);

    atomic_store(&shared->begun, number + 1);
    subject->make(heaps, &call);
    atomic_store(&shared->done, number + 1);
}

/* Tables in the file. */
static void open_tables(struct heaps *heaps)
{
    struct heap_options options = MIRE_HEAP_OPTIONS_INIT;

    prctl(PR_SET_PDEATHSIG, SIGKILL); /* it may go on for ever */
    options.budget_bytes = BUDGET;
    options.mode = MIRE_HEAP_EXACT;
    if (mire__heap_open(&heaps->heap, memory, &options) != MIRE_OK)
        _exit(1);
    heaps->slot = mire__slot_as_take(&heaps->heap, 1);
    mire__slot_as_enter(heaps->slot);
    heaps_fill(heaps);
    for (uint64_t i = 0; i < 4; i++)
        heaps_stack(heaps, 1, 0x401000 + i);
}

/* Make calls up to the first that gives back a page of the subject's kind. */
static void run_scout(const struct subject *subject)
{
    const _Atomic uint32_t *given = &shared->to_spare[subject->gives];
    static struct heaps heaps;
    uint32_t before = 0;

    open_tables(&heaps);
    for (uint64_t number = 0; number < CALLS && (number <= BEFORE || atomic_load(given) <= before); number++) {
        before = atomic_load(given);
        make_call(subject, &heaps, number);
    }
    _exit(0);
}

/* Make so many calls, stop, and make others. */
static void run_child(const struct subject *subject, uint64_t before)
{
    static struct heaps heaps;

    open_tables(&heaps);
    for (uint64_t number = 0;; number++) {
        if (number == before) {
            ptrace(PTRACE_TRACEME, 0, NULL, NULL);
            raise(SIGSTOP);
        }
        make_call(subject, &heaps, number);
    }
}

/* ---- the parent ---- */

static void play(uint32_t model[PLACES], const struct call *call)
{
    for (uint32_t i = call->from; i < call->from + call->count; i++)
        model[i] = call->what;
}

/* Check the file: each position has its state; a position that the call is changing has the old state, the new one,
 * or none. */
static void check(const struct subject *subject, const uint32_t model[PLACES], const struct call *under_way)
{
    static struct heap_reader reader;
    struct stated stated = {0};
    uint64_t torn;

    assert_int_equal(mire__read_open(&reader, memory, memory_bytes), MIRE_READ_OK);
    torn = subject->read(&reader, subject->visit, &stated);
    assert_true(torn <= (under_way ? 1 : 0));
    for (uint32_t i = 0; i < PLACES; i++) {
        bool changing = under_way && i >= under_way->from && i < under_way->from + under_way->count;

        if (stated.times[i] <= 1 &&
            (stated.what[i] == model[i] || (changing && (stated.what[i] == under_way->what || stated.what[i] == 0))))
            continue;
        print_message("seed %u, call %llu: place %u is told %u times, as %u, not %u\n", seed,
                      (unsigned long long)atomic_load(&shared->done), i, stated.times[i], stated.what[i], model[i]);
        fail();
    }
}

static bool step(pid_t child)
{
    int status;

    return ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) == 0 && waitpid(child, &status, 0) == child &&
           WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP;
}

/* Returns false under an emulator. */
static bool can_trace(void)
{
    pid_t child = fork();
    int status;

    if (child == 0)
        _exit(ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0);
    return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Start a child on an empty file, and wait until it stops or ends. before: number of calls, 0: scout. Returns the
 * status. */
static int start_child(pid_t *child, const struct subject *subject, uint64_t before)
{
    int status;

    memory = mmap(NULL, memory_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_ptr_not_equal(memory, MAP_FAILED);
    memset(shared, 0, sizeof(*shared));
    *child = fork();
    if (*child == 0 && before == 0)
        run_scout(subject);
    if (*child == 0)
        run_child(subject, before);
    assert_int_equal(waitpid(*child, &status, 0), *child);
    return status;
}

/* Find the call that gives a page back, by a scout. */
static uint64_t call_that_gives(const struct subject *subject)
{
    pid_t child;
    int status = start_child(&child, subject, 0);

    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    munmap(memory, memory_bytes);
    assert_true(atomic_load(&shared->done) < CALLS);
    return atomic_load(&shared->done) - 1;
}

static void every_instruction_leaves_whole_tables(void **state)
{
    const struct subject *subject = *state;
    uint32_t model[PLACES] = {0}, steps = 0;
    uint64_t before = BEFORE, played = 0;
    const bool gives = subject->gives != GIVES_NONE;
    pid_t child;
    int status;

    if (!can_trace()) {
        print_message("skipped: no process can be traced here\n");
        skip();
    }
    seed = test_seed();
    memory_bytes = mire__heap_file_bytes(BUDGET);
    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(shared, MAP_FAILED);
    if (gives)
        before = call_that_gives(subject);
    status = start_child(&child, subject, before);
    assert_true(WIFSTOPPED(status));
    for (; steps < STEPS || (gives && steps < STEPS_MAX && atomic_load(&shared->done) <= before); steps++) {
        uint64_t begun = atomic_load(&shared->begun), done = atomic_load(&shared->done);
        struct call call;

        for (; played < done; played++) {
            call = call_of(subject, played);
            play(model, &call);
        }
        call = call_of(subject, done);
        check(subject, model, begun > done ? &call : NULL);
        assert_true(step(child));
    }
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, &status, 0), child);
    print_message("%llu calls, %u instructions\n", (unsigned long long)(atomic_load(&shared->done) - before), steps);
    assert_true(atomic_load(&shared->done) > before + (gives ? 0 : 10));
    munmap(shared, sizeof(*shared));
    munmap(memory, memory_bytes);
}

int main(void)
{
    static struct subject mappings = {GIVES_NONE, region_call, region_make, mire__read_mappings, region_visit};
    static struct subject blocks = {GIVES_NONE, block_call, block_make, mire__read_blocks, block_visit};
    static struct subject shadow = {GIVES_SHADOW, kept_call, block_make, mire__read_blocks, block_visit};
    static struct subject segments = {GIVES_SEGMENT, kept_call, block_make, mire__read_blocks, block_visit};
    const struct CMUnitTest tests[] = {
        {"of_mappings", every_instruction_leaves_whole_tables, NULL, NULL, &mappings},
        {"of_blocks", every_instruction_leaves_whole_tables, NULL, NULL, &blocks},
        {"of_blocks_whose_entries_are_given_back", every_instruction_leaves_whole_tables, NULL, NULL, &shadow},
        {"of_blocks_whose_segments_are_joined", every_instruction_leaves_whole_tables, NULL, NULL, &segments},
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
