/*
 * none_apple.c - no allocating call is hooked on Apple's systems: the memory monitor does not start there
 * (core/variant_apple.c), and blocks are those that an app tells itself (mire/memory.h), which has no effect then.
 */
#include "allochook/gobject.h"
#include "allochook/hooks.h"
#include "allochook/thread_state.h"

struct hook mire__new_hooks[MIRE_NEW_COUNT];
const size_t mire__new_hooks_count = 0;

bool mire__hooks_hold(uint64_t pc)
{
    (void)pc;
    return false;
}

void mire__heap_hooks_dispatch(void)
{
}

bool mire__heap_blocks_have_one_phase(void)
{
    return false;
}

void mire__existing_record(struct heap *heap, struct heap_slot *slot, char *scratch, size_t scratch_bytes)
{
    (void)heap;
    (void)slot;
    (void)scratch;
    (void)scratch_bytes;
}

void mire__objects_begin(void)
{
}

void mire__objects_hook(const struct heap *heap)
{
    (void)heap;
}

void mire__objects_unhook(void)
{
}
