/*
 * test_heap_kill.c - SIGKILL at random instants: the file then contains the effects of all calls that returned, and of
 * the one call in flight either the state before or after it.
 *
 * A seed and its number determine each call of the child, so the parent repeats the calls up to the kill. A second
 * thread of the child reclaims meanwhile: it gives pages back, and joins segments.
 */
#include "heap/mappings.h"
#include "heap/reclaim.h"
#include "heapread/read.h"
#include "support/heaps.h"
#include "support/seed.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define KILLS     150
#define ADDRESSES 30000u
#define CLOSE     1000u
#define PAGES     64u
#define BUDGET    (8u << 20)
#define BASE      UINT64_C(0x7f0000000000)
#define REGIONS   UINT64_C(0x600000000000)

/* Shared with the child while it lives. */
struct shared {
    _Atomic uint64_t done; /* calls that have returned */
    uint64_t seed;
};

static struct shared *shared;
static void *memory;
static size_t memory_bytes;

/* One call, determined by its number and by the live blocks. */
struct call {
    bool region;
    uint32_t at, count; /* address or first page, and pages */
    uint64_t size;
    uint32_t frame; /* of its stack, below main */
};

static struct call call_of(uint64_t seed, uint64_t number)
{
    uint64_t x = (seed + number) * 0x9e3779b97f4a7c15ull;
    struct call call;

    x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9ull;
    x ^= x >> 32;
    call.region = x % 16 == 0;
    call.at = (uint32_t)(x >> 8) % (call.region ? PAGES : ADDRESSES);
    /* Phases of much and little live, so that tables shrink and grow. */
    if (!call.region && number / 8192 % 2)
        call.at %= ADDRESSES / 16;
    call.count = 1 + (uint32_t)(x >> 40) % 8;
    call.size = call.at < ADDRESSES / 2 ? (x >> 50) % 240 : x >> 48 & 1 ? (x >> 50) % 240 : (x >> 50) % 5000;
    if (call.at < CLOSE)
        call.size %= 9;
    call.frame = (uint32_t)(x >> 32) % 5000;
    return call;
}

/* Four of the first begin in each shadow entry. */
static uint64_t address_of(uint32_t at)
{
    if (at < CLOSE)
        return BASE - (UINT64_C(1) << 36) + at * UINT64_C(8);
    return at < ADDRESSES / 2 ? BASE + at * UINT64_C(240) : BASE + (UINT64_C(1) << 36) + at * UINT64_C(5120);
}

static uint32_t at_of(uint64_t address)
{
    if (address < BASE)
        return (uint32_t)((address - (BASE - (UINT64_C(1) << 36))) / 8);
    return address < BASE + (UINT64_C(1) << 36) ? (uint32_t)((address - BASE) / 240)
                                                : (uint32_t)((address - BASE - (UINT64_C(1) << 36)) / 5120);
}

/* The live blocks and pages: size + 1 of each address, frame + 1 of each page and block. */
struct model {
    uint64_t size[ADDRESSES];
    uint32_t frame[ADDRESSES], page[PAGES + 8];
};

static void play(struct model *model, const struct call *call)
{
    if (call->region) {
        bool mapped = model->page[call->at] != 0;

        for (uint32_t i = call->at; i < call->at + call->count; i++)
            model->page[i] = mapped ? 0 : call->frame + 1;
        return;
    }
    if (model->size[call->at]) {
        model->size[call->at] = 0;
    } else {
        model->size[call->at] = call->size + 1;
        model->frame[call->at] = call->frame + 1;
    }
}

/* ---- the child ---- */

static void *keep_tables(void *context)
{
    struct heap *heap = context;
    struct heap_reclaimed kept;

    for (;;) {
        mire__heap_reclaim(&kept, heap, 1, 1);
        usleep(500);
    }
    return NULL;
}

static void make_call(struct heap *heap, struct heap_slot *slot, struct model *model, const struct call *call)
{
    uint64_t frames[2] = {0x402000 + call->frame, 0x401000}, start = REGIONS + call->at * UINT64_C(4096);
    struct live_block was;
    uint32_t nodes[2];

    mire__nodes_as_push(nodes, heap, MIRE_NODE_ROOT, frames, 2);
    if (call->region && model->page[call->at])
        mire__mappings_as_unmap(heap, start, call->count * UINT64_C(4096));
    else if (call->region)
        mire__mappings_as_map(heap, start, call->count * UINT64_C(4096), MIRE_KIND_ANONYMOUS, nodes[0]);
    else if (model->size[call->at])
        mire__block_as_clear(&was, heap, slot, address_of(call->at));
    else
        mire__block_as_set(heap, slot, address_of(call->at), call->size, nodes[0]);
    play(model, call);
}

static void run_child(void)
{
    struct heap_options options = MIRE_HEAP_OPTIONS_INIT;
    struct model *model = calloc(1, sizeof(*model));
    static struct heap heap;
    struct heap_slot *slot;
    pthread_t reclaimer;

    options.budget_bytes = BUDGET;
    options.mode = MIRE_HEAP_EXACT;
    if (mire__heap_open(&heap, memory, &options) != MIRE_OK ||
        pthread_create(&reclaimer, NULL, keep_tables, &heap) != 0)
        _exit(1);
    atomic_fetch_add(&heap.header->claimed_bytes, BUDGET / 4); /* so that the reclaimer frees everything it can */
    slot = mire__slot_as_take(&heap, 1);
    for (uint64_t number = 0;; number++) {
        struct call call = call_of(shared->seed, number);

        mire__slot_as_enter(slot);
        make_call(&heap, slot, model, &call);
        mire__slot_as_leave(slot);
        atomic_store_explicit(&shared->done, number + 1, memory_order_release);
    }
}

/* ---- the parent ---- */

struct check {
    const struct heap_reader *reader;
    struct model model;
    struct call under_way;
    uint64_t wrong;
};

/* The frame + 1 below main in a node's stack; 0: another stack. */
static uint32_t frame_of(const struct heap_reader *reader, uint32_t node)
{
    struct heap_frame inner, outer;

    if (!mire__read_frame(&inner, reader, &node) || !mire__read_frame(&outer, reader, &node) ||
        outer.address != 0x401000)
        return 0;
    return (uint32_t)(inner.address - 0x402000) + 1;
}

static bool check_block(void *context, const struct heap_live *live)
{
    struct check *check = context;
    uint32_t at = at_of(live->address);

    if (!check->under_way.region && at == check->under_way.at) {
        check->model.size[at] = 0;
        return true;
    }
    if (at >= ADDRESSES || check->model.size[at] != live->size + 1 ||
        check->model.frame[at] != frame_of(check->reader, live->node))
        check->wrong++;
    else
        check->model.size[at] = 0; /* seen */
    return true;
}

static bool check_region(void *context, const struct heap_live *live)
{
    struct check *check = context;
    uint32_t first = (uint32_t)((live->address - REGIONS) / 4096), frame = frame_of(check->reader, live->node);

    for (uint32_t i = first; i < first + live->size / 4096; i++) {
        bool under_way =
            check->under_way.region; /* it clears neighbours first: each page of that call may have either state */

        if (i >= PAGES + 8 || (check->model.page[i] != frame && !under_way))
            check->wrong++;
        else
            check->model.page[i] = 0;
    }
    return true;
}

static void check_tables(uint64_t done)
{
    static struct heap_reader reader;
    struct check *check = calloc(1, sizeof(*check));

    for (uint64_t number = 0; number < done; number++) {
        struct call call = call_of(shared->seed, number);

        play(&check->model, &call);
    }
    check->under_way = call_of(shared->seed, done);
    check->reader = &reader;
    assert_int_equal(mire__read_open(&reader, memory, memory_bytes), MIRE_READ_OK);
    assert_int_equal(mire__read_blocks(&reader, check_block, check), 0);
    assert_int_equal(mire__read_mappings(&reader, check_region, check), 0);
    if (!check->under_way.region)
        check->model.size[check->under_way.at] = 0;
    for (uint32_t at = 0; at < ADDRESSES; at++)
        check->wrong += check->model.size[at] != 0;
    for (uint32_t i = 0; i < PAGES + 8 && !check->under_way.region; i++)
        check->wrong += check->model.page[i] != 0;
    if (check->wrong)
        print_message("seed %llu, killed after %llu calls\n", (unsigned long long)shared->seed,
                      (unsigned long long)done);
    assert_int_equal(check->wrong, 0);
    free(check);
}

static void a_killed_process_leaves_what_it_had_done(void **state)
{
    uint64_t calls = 0;
    uint32_t random = test_seed();

    (void)state;
    memory_bytes = mire__heap_file_bytes(BUDGET);
    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (uint32_t i = 0; i < KILLS; i++) {
        pid_t child;

        memory = mmap(NULL, memory_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        assert_ptr_not_equal(memory, MAP_FAILED);
        shared->seed = random + i;
        shared->done = 0;
        child = fork();
        if (child == 0)
            run_child();
        while (atomic_load(&shared->done) < 100) /* it has begun */
            usleep(100);
        random = random * 1103515245 + 12345;
        usleep(random % 20000);
        kill(child, SIGKILL);
        assert_int_equal(waitpid(child, NULL, 0), child);
        calls += shared->done;
        check_tables(atomic_load(&shared->done));
        munmap(memory, memory_bytes);
    }
    print_message("%d kills, %llu calls\n", KILLS, (unsigned long long)calls);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_killed_process_leaves_what_it_had_done),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
