/* run.c - see allochook.h: begin and end of a run. Signal-safe. */
#include "allochook/allochook.h"

#include "allochook/thread_state.h"
#include "heap/heap.h"
#include "platform/platform.h"

#define END_WAIT_NS 200000000ull
#define END_LOOK_NS 1000000ull

static struct collect_gate closed;
struct collect_gate *mire__collect_gate = &closed;
struct step_cache *mire__collect_steps;

/* ---- modules of the program, for the tables ---- */

static void on_module(void *context, const struct module *module, const struct module_facts *facts)
{
    const struct heap_image_facts image = {.start = module->start,
                                           .end = module->end,
                                           .load = module->load,
                                           .base = facts->base,
                                           .path = facts->path,
                                           .id = facts->id,
                                           .id_size = facts->id_size};

    mire__images_as_add(NULL, context, &image);
}

static void on_module_gone(void *context, uint64_t start, uint64_t end)
{
    mire__images_as_gone(context, start, end);
}

/* All remembered steps are void: no thread takes the fast path before it has seen this. */
static void on_forgotten(void *context)
{
    struct heap *heap = context;

    atomic_fetch_add_explicit(&heap->flags, MIRE_FLAG_STEPS, memory_order_release);
}

/* Frames of the hooks, and of operator new where it calls malloc. */
static bool is_hidden(void *context, uint64_t pc, uint64_t function)
{
    (void)context;
    if (mire__hooks_hold(pc))
        return true;
    for (size_t i = 0; i < MIRE_NEW_COUNT && function; i++) {
        if ((uintptr_t)atomic_load_explicit(&mire__new_hooks[i].real, memory_order_relaxed) == function)
            return true;
    }
    return false;
}

/* ---- begin and end ---- */

enum mire_err mire__collect_begin(struct heap *heap)
{
    struct step_cache_owner owner = {
        .on_module = on_module, .on_module_gone = on_module_gone, .on_forgotten = on_forgotten, .is_hidden = is_hidden};
    struct collect_thread *self;

    if (mire__collect_gate == &closed) {
        struct collect_gate *gate = mire__pages_map_inherited(sizeof(*gate), true);

        if (!gate)
            return MIRE_E_MEMORY;
        mire__collect_gate = gate;
    }
    if (!mire__collect_steps)
        mire__collect_steps = mire__pages_map_inherited(sizeof(*mire__collect_steps), false);
    if (!mire__collect_steps || !mire__threads_open())
        return MIRE_E_MEMORY;
    owner.context = heap;
    mire__step_cache_open(mire__collect_steps, &owner);
    self = mire__threads_as_begin(heap, (uintptr_t)__builtin_frame_address(0), NULL);
    if (self)
        mire__existing_record(heap, self->slot, mire__collect_steps->modules.scratch,
                              sizeof(mire__collect_steps->modules.scratch));
    mire__heap_flags_change(heap, MIRE_FLAG_OPEN, MIRE_FLAG_OPEN);
    atomic_store(&mire__collect_gate->heap, heap);
    heap->on_mode = mire__heap_hooks_dispatch;
    mire__heap_hooks_dispatch();
    return MIRE_OK;
}

void mire__collect_rest(void (*wake)(void *context), void *context)
{
    struct heap *heap = atomic_load_explicit(&mire__collect_gate->heap, memory_order_relaxed);

    mire__collect_gate->wake = wake;
    mire__collect_gate->context = context;
    if (heap)
        mire__heap_flags_change(heap, MIRE_FLAG_RESTS, MIRE_FLAG_RESTS);
}

bool mire__collect_end(void)
{
    uint64_t end_ns = mire__now_ns() + END_WAIT_NS;
    _Atomic uint32_t never = 0;

    struct heap *heap = atomic_load_explicit(&mire__collect_gate->heap, memory_order_relaxed);

    if (heap)
        mire__heap_flags_change(heap, MIRE_FLAG_RESTS | MIRE_FLAG_OPEN, 0);
    atomic_store(&mire__collect_gate->heap, NULL);
    mire__heap_hooks_dispatch();
    mire__barrier_all();
    while (heap && mire__threads_any_inside(heap)) {
        if (mire__now_ns() >= end_ns)
            return false;
        mire__futex_wait(&never, 0, mire__now_ns() + END_LOOK_NS);
    }
    return true;
}
