/* thread_state.c - see thread_state.h. Signal-safe.
 *
 * No event marks the end of a thread: destructors of its variables still allocate and free after any that could. A
 * state whose thread no longer exists is free; some states in use are checked whenever another one is needed.
 */
#include "allochook/thread_state.h"

#include "allochook/allochook.h"
#include "heap/heap.h"
#include "platform/arch.h"
#include "platform/platform.h"

#include <errno.h>

#define LOOKS        8 /* states checked for each new thread: more than one, so that free states do not pile up */
#define MAIN_STACK   (64ull << 20) /* the kernel keeps twice as much free below the first thread's stack */
#define FULL_WAIT_NS 100000000ull

struct heap_slot mire__collect_closed; /* inside from the first use on: no pages of a file hold it */

/* The state of threads that are not recorded: the SDK's, and each thread while its state is made. */
static struct collect_thread unwatched;

/*
 * The first states have room for many stacks. Later states have not, and take address space on demand, a few at a time:
 * a program may lock all its mapped addresses into memory.
 */
#define LARGE       16u
#define SMALL_BYTES (offsetof(struct collect_thread, many))
#define SMALL_COUNT 127u /* at a time */
#define CHUNKS      ((MIRE_COLLECT_THREADS - LARGE) / SMALL_COUNT)
_Static_assert(SMALL_BYTES % 4096 == 0 && CHUNKS * SMALL_COUNT + LARGE == MIRE_COLLECT_THREADS, "nothing is left over");

#define LARGE_BYTES (LARGE * sizeof(struct collect_thread))
#define CHUNK_BYTES (SMALL_COUNT * SMALL_BYTES)

static struct {
    struct collect_thread *large;
    _Atomic(char *) chunks[CHUNKS];
    uint32_t pid;          /* the process that made them */
    _Atomic uint32_t used; /* states that were ever taken */
    _Atomic uint32_t next; /* the one that is checked next */
    _Atomic uint64_t full_until_ns;
    struct span parents[MIRE_THREADS_PARENTS]; /* states of the processes this one was forked from */
    uint32_t parents_count;
} pool;

static struct collect_thread *state_at(uint32_t number)
{
    const uint32_t small = number - LARGE;

    if (number < LARGE)
        return &pool.large[number];
    return (struct collect_thread *)(void *)(atomic_load(&pool.chunks[small / SMALL_COUNT]) +
                                             small % SMALL_COUNT * SMALL_BYTES);
}

/* Make room for a state. Returns false without address space. */
static bool make_room(uint32_t number)
{
    _Atomic(char *) *chunk = number < LARGE ? NULL : &pool.chunks[(number - LARGE) / SMALL_COUNT];
    char *none = NULL, *made;

    if (!chunk || atomic_load(chunk))
        return true;
    made = mire__pages_map_inherited(CHUNK_BYTES, true);
    if (made && !atomic_compare_exchange_strong(chunk, &none, made))
        mire__pages_unmap(made, CHUNK_BYTES);
    return made != NULL;
}

static struct span span_of(const void *at, size_t bytes)
{
    return (struct span){(uintptr_t)at & ~4095ull, ((uintptr_t)at + bytes + 4095) & ~4095ull};
}

static size_t own_spans(struct span out[1 + CHUNKS])
{
    size_t count = 0;

    if (pool.large)
        out[count++] = span_of(pool.large, LARGE_BYTES);
    for (uint32_t i = 0; i < CHUNKS; i++) {
        const char *chunk = atomic_load(&pool.chunks[i]);

        if (chunk)
            out[count++] = span_of(chunk, CHUNK_BYTES);
    }
    return count;
}

/* Inherited states stay mapped, wiped: the child's thread may still point to its own. */
static void leave_to_parent(void)
{
    struct span spans[1 + CHUNKS];
    size_t count = own_spans(spans);

    for (size_t i = 0; i < count && pool.parents_count < MIRE_THREADS_PARENTS; i++)
        pool.parents[pool.parents_count++] = spans[i];
    atomic_store(&pool.used, 0);
    pool.large = NULL;
    for (uint32_t i = 0; i < CHUNKS; i++)
        atomic_store(&pool.chunks[i], NULL);
}

bool mire__threads_open(void)
{
    atomic_store_explicit(&mire__collect_closed.inside, 1, memory_order_relaxed);
    for (uint32_t i = 0; i < atomic_load(&pool.used); i++) {
        struct collect_thread *state = state_at(i);

        state->stack.walk.version = 0; /* older than any of the step cache */
        state->stack.cache.slot = NULL;
        if (state->slot)
            state->slot = &mire__collect_closed;
        state->fast_path_flags = 0;
        state->stack_end = 0;
        state->scope = 0;
    }
    if (pool.large && pool.pid == mire__pid())
        return true;
    leave_to_parent();
    pool.pid = mire__pid();
    pool.large = mire__pages_map_inherited(LARGE_BYTES, true);
    return pool.large != NULL;
}

bool mire__threads_any_inside(const struct heap *heap)
{
    uint32_t count = atomic_load(&heap->header->slots_used);

    for (uint32_t i = 0; i < count && i < MIRE_HEAP_THREADS_MAX; i++) {
        const struct heap_slot *slot = &heap->slots[i];
        uint32_t owner = atomic_load(&slot->owner);

        if (owner != 0 && atomic_load(&slot->inside) != 0 && mire__thread_signal(owner, 0))
            return true;
    }
    return false;
}

/* Take a state whose thread is gone, with all its stores until its last call (acquire pairs with its releases). */
static bool take_over(struct collect_thread *state, uint32_t tid)
{
    uint32_t owner = atomic_load_explicit(&state->tid, memory_order_acquire);

    if ((owner != 0 && mire__thread_signal(owner, 0)) || !atomic_compare_exchange_strong(&state->tid, &owner, tid))
        return false;
    (void)atomic_load_explicit(&state->calling_sp, memory_order_acquire);
    if (mire__collect_has_slot(state))
        (void)atomic_load_explicit(&state->slot->inside, memory_order_acquire);
    return true;
}

static struct collect_thread *take_state(uint32_t tid)
{
    uint32_t used = atomic_load(&pool.used), looks = used < MIRE_COLLECT_THREADS ? LOOKS : used;

    for (uint32_t i = 0; i < looks && i < used; i++) {
        struct collect_thread *state = state_at(atomic_fetch_add(&pool.next, 1) % used);

        if (take_over(state, tid))
            return state;
    }
    while (used < MIRE_COLLECT_THREADS && make_room(used)) {
        struct collect_thread *state = state_at(used);
        uint32_t none = 0;

        if (atomic_compare_exchange_strong(&pool.used, &used, used + 1) &&
            atomic_compare_exchange_strong(&state->tid, &none, tid))
            return state;
    }
    return NULL;
}

struct stack_look {
    uint64_t sp, self, low, high, end;
};

static bool look_at_mapping(void *context, const struct mapping *mapping)
{
    struct stack_look *look = context;

    if (look->sp >= mapping->end)
        return true;
    if (look->sp < mapping->start || !mapping->writable)
        return false;
    if (look->self > look->sp && look->self < mapping->end) {
        look->high = look->self & ~7ull;
        look->low = mapping->start;
        look->end = mapping->end;
    }
    return false;
}

/* The first thread's stack ends with the program's name, which the kernel put there. False: another stack. */
static bool find_first(struct stack_look *look)
{
    const uint64_t name = mire__first_stack_mark(), end = (name + 4096) & ~UINT64_C(4095);

    if (name == 0 || look->sp >= name || look->sp < end - MAIN_STACK)
        return false;
    look->high = end;
    look->low = end - MAIN_STACK;
    return true;
}

/*
 * Find the thread's own stack. The kernel tells the first thread's. The C libraries put thread-local storage at the
 * upper end of any other stack: if that and the stack pointer lie in one mapping, the mapping is the thread's stack
 * and stays as long as the thread. Returns the end of the mapping; 0 for the first thread, and if none was found.
 */
static uint64_t find_stack(struct call_stack *stack, uint64_t sp, const struct span *given)
{
    struct stack_look look = {.sp = sp, .self = mire__arch_as_thread_pointer()};
    struct span own;
    const struct mapping mapping = {
        .start = given ? given->start : 0, .end = given ? given->end : 0, .writable = true, .path = ""};

    if (!given && mire__thread_own_stack(&own.start, &own.end) && sp >= own.start && sp < own.end) {
        look.low = own.start;
        look.high = own.end;
    } else if (mire__tid() == mire__pid() && find_first(&look)) {
        /* found */
    } else if (given) {
        look_at_mapping(&look, &mapping);
        if (look.high == 0 && sp >= given->start && sp < given->end) { /* its thread-local storage lies elsewhere */
            look.low = given->start;
            look.high = look.end = given->end;
        }
    } else
        mire__step_cache_as_mappings(mire__collect_steps, look_at_mapping, &look);
    mire__call_stack_as_forget(stack, 0);
    stack->walk.low = look.low;
    stack->walk.high = look.high;
    return look.end;
}

static bool take_slot(struct collect_thread *self, struct heap *heap)
{
    self->slot = mire__slot_as_take(heap, atomic_load_explicit(&self->tid, memory_order_relaxed));
    self->heap = heap;
    self->fast_path_flags = 0;
    self->stack.cache.slot = self->slot;
    atomic_store_explicit(&self->calling_sp, 0, memory_order_relaxed);
    /* Stored again, as a release: the next owner of the state finds the slot. */
    atomic_store_explicit(&self->tid, atomic_load_explicit(&self->tid, memory_order_relaxed), memory_order_release);
    return self->slot != NULL;
}

/* The state's thread is gone. */
static void release(struct collect_thread *state, struct heap *heap)
{
    if (!mire__collect_has_slot(state))
        return;
    if (state->stack_end && mire__slot_as_enter(state->slot)) {
        mire__mappings_as_end_stack(heap, state->stack_start, state->stack_end - state->stack_start, state->stack_of);
        mire__slot_as_leave(state->slot);
    }
    state->stack_start = state->stack_end = 0;
    mire__slot_as_give(heap, state->slot);
    state->slot = NULL;
    state->fast_path_flags = 0;
}

void mire__threads_as_note_stack(struct collect_thread *self, uint32_t node)
{
    struct heap *heap = self->stack.walk.end ? mire__collect_as_open(self) : NULL;

    if (!heap)
        return;
    self->stack_start = self->stack.walk.low;
    self->stack_end = self->stack.walk.end;
    self->stack_of = atomic_load_explicit(&self->tid, memory_order_relaxed);
    mire__mappings_as_map_stack(heap, self->stack_start, self->stack_end - self->stack_start, node, self->stack_of);
    mire__collect_as_close(self);
}

void mire__collect_sweep(struct heap *heap)
{
    uint32_t own = mire__tid();

    for (uint32_t i = 0; i < atomic_load(&pool.used); i++) {
        struct collect_thread *state = state_at(i);
        uint32_t tid = atomic_load_explicit(&state->tid, memory_order_relaxed);

        if (tid != 0 && tid != own && take_over(state, own)) {
            release(state, heap);
            atomic_store(&state->tid, 0);
        }
    }
}

struct collect_thread *mire__collect_own_begin(void)
{
    struct locals *own = mire__locals_as_own();
    struct collect_thread *before = own->collect;

    own->collect = &unwatched;
    return before;
}

void mire__collect_own_end(struct collect_thread *before)
{
    mire__locals_as_own()->collect = before;
}

static void lose(struct heap *heap)
{
    struct locals *own = mire__locals_as_own();

    if (!own->is_lost) /* once, however often the thread calls */
        mire__heap_as_drop(heap, MIRE_HEAP_DROP_THREAD);
    own->is_lost = true;
}

struct collect_thread *mire__threads_as_begin(struct heap *heap, uint64_t sp, const struct span *stack)
{
    struct locals *own = mire__locals_as_own();
    struct collect_thread *self = own->collect;
    int saved = errno;
    uint32_t tid;

    if (self == &unwatched)
        return NULL;
    if (self && atomic_load_explicit(&self->tid, memory_order_relaxed) == mire__tid())
        return take_slot(self, heap) ? self : NULL;
    if (!mire__locals_as_exist() ||
        mire__now_coarse_ns() < atomic_load_explicit(&pool.full_until_ns, memory_order_relaxed)) {
        lose(heap);
        return NULL;
    }
    own->collect = &unwatched;
    tid = mire__tid();
    self = take_state(tid);
    if (self) {
        release(self, heap);
        self->scope = 0;
        self->drawn = MIRE_HEAP_INTERVALS_MAX;
        self->more = 0;
        mire__random(&self->random, sizeof(self->random));
        self->stack.walk.fresh = self->fresh;
        self->stack.cache.few = &self->few;
        self->stack.cache.many = (uintptr_t)self - (uintptr_t)pool.large < LARGE_BYTES ? &self->many : NULL;
        self->stack.walk.end = find_stack(&self->stack, sp, stack);
        if (!take_slot(self, heap)) {
            atomic_store(&self->tid, 0);
            self = NULL;
        }
    } else {
        lose(heap);
        atomic_store_explicit(&pool.full_until_ns, mire__now_coarse_ns() + FULL_WAIT_NS, memory_order_relaxed);
    }
    own->collect = self;
    errno = saved;
    return self;
}

void mire__collect_own_thread(void)
{
    mire__locals_as_own()->collect = &unwatched;
}

size_t mire__threads_spans(struct span out[MIRE_THREADS_SPANS])
{
    size_t count = own_spans(out);

    for (uint32_t i = 0; i < pool.parents_count; i++)
        out[count++] = pool.parents[i];
    out[count++] = span_of(mire__collect_steps, sizeof(*mire__collect_steps));
    out[count++] = span_of(mire__collect_gate, sizeof(*mire__collect_gate));
    return count;
}
