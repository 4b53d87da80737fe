/* allochook.c - see allochook.h: begin and end. Signal-safe. */
#include "allochook/allochook.h"

#include "allochook/hooks.h"
#include "allochook/thread_state.h"
#include "platform/platform.h"

#define END_WAIT_NS 200000000ull
#define END_LOOK_NS 1000000ull

static struct collect_gate closed;
struct collect_gate *mire__collect_gate = &closed;
struct code *mire__collect_code;

enum mire_err mire__collect_begin(struct heap *heap)
{
    struct collect_thread *self;

    if (mire__collect_gate == &closed) {
        struct collect_gate *gate = mire__pages_map_inherited(sizeof(*gate), true);

        if (!gate)
            return MIRE_E_MEMORY;
        mire__collect_gate = gate;
    }
    if (!mire__collect_code)
        mire__collect_code = mire__pages_map_inherited(sizeof(*mire__collect_code), false);
    if (!mire__collect_code || !mire__threads_open())
        return MIRE_E_MEMORY;
    mire__code_hide(mire__collect_code, mire__new_hooks, MIRE_NEW_COUNT);
    mire__code_open(mire__collect_code, heap);
    self = mire__threads_as_begin(heap, (uintptr_t)__builtin_frame_address(0), NULL);
    if (self)
        mire__found_note(heap, self->slot, mire__collect_code->modules.scratch,
                         sizeof(mire__collect_code->modules.scratch));
    mire__heap_how_change(heap, MIRE_HOW_OPEN, MIRE_HOW_OPEN);
    atomic_store(&mire__collect_gate->heap, heap);
    heap->on_mode = mire__heap_hooks_turn;
    mire__heap_hooks_turn();
    return MIRE_OK;
}

void mire__collect_rest(void (*wake)(void *context), void *context)
{
    struct heap *heap = atomic_load_explicit(&mire__collect_gate->heap, memory_order_relaxed);

    mire__collect_gate->wake = wake;
    mire__collect_gate->context = context;
    if (heap)
        mire__heap_how_change(heap, MIRE_HOW_RESTS, MIRE_HOW_RESTS);
}

bool mire__collect_end(void)
{
    uint64_t end_ns = mire__now_ns() + END_WAIT_NS;
    _Atomic uint32_t never = 0;

    struct heap *heap = atomic_load_explicit(&mire__collect_gate->heap, memory_order_relaxed);

    if (heap)
        mire__heap_how_change(heap, MIRE_HOW_RESTS | MIRE_HOW_OPEN, 0);
    atomic_store(&mire__collect_gate->heap, NULL);
    mire__heap_hooks_turn();
    mire__barrier_all();
    while (heap && mire__threads_any_inside(heap)) {
        if (mire__now_ns() >= end_ns)
            return false;
        mire__futex_wait(&never, 0, mire__now_ns() + END_LOOK_NS);
    }
    return true;
}
