/* calls_memory.c - the public calls that tell of blocks and their classes: mire/memory.h.  Signal-safe but for scopes.
 */
#include "mire/memory.h"

#include "allochook/allochook.h"
#include "heap/heap.h"

/* Built as the hooks are: where it is called from, its own frame tells. */

void mire_alloc_hook(const void *block, size_t size)
{
    const struct self_frame site = MIRE_CALL_SITE;
    struct collect_thread *self = block && !mire__site_is_covered(size) ? mire__collect_as_enter(site.sp) : NULL;

    if (!self)
        return;
    mire__collect_as_return(self);
    mire__collect_as_app_alloc(self, &site, block, size);
}

void mire_free_hook(const void *block)
{
    const struct self_frame site = MIRE_CALL_SITE;

    mire__site_end(block, site.sp);
}

void mire_alloc_pool(const void *memory)
{
    const struct self_frame site = MIRE_CALL_SITE;

    mire__site_end(memory, site.sp);
}

void mire_memory_tag(const void *block, const char *class_name)
{
    const struct self_frame site = MIRE_CALL_SITE;
    struct collect_thread *self =
        class_name && mire__collect_as_may_know(block) ? mire__collect_as_enter(site.sp) : NULL;
    struct heap *heap = NULL;

    if (self) {
        mire__collect_as_return(self);
        heap = mire__collect_as_open(self);
    }
    if (!heap)
        return;
    uint32_t class = mire__classes_as_find(heap, class_name);

    if (class)
        mire__block_as_tag(heap, self->slot, (uintptr_t)block & MIRE_HEAP_ADDRESS_MASK, class);
    mire__collect_as_close(self);
}

/* A scope is 0, none, or the number of its class. */
int mire_memory_scope_begin(const char *class_name)
{
    const struct self_frame site = MIRE_CALL_SITE;
    struct collect_thread *self = class_name ? mire__collect_as_enter(site.sp) : NULL;
    struct heap *heap;
    int outer = 0;

    if (!self)
        return 0;
    mire__collect_as_return(self);
    outer = (int)self->scope;
    heap = mire__collect_as_open(self);
    if (!heap)
        return outer;
    self->scope = mire__classes_as_find(heap, class_name);
    self->fast_path_flags = 0;
    mire__collect_as_close(self);
    return outer;
}

void mire_memory_scope_end(int outer)
{
    struct collect_thread *self = mire__locals_as_own()->collect;

    if (self && mire__collect_has_slot(self) && outer >= 0 && outer < (int)MIRE_HEAP_CLASSES_MAX) {
        self->scope = (uint32_t)outer;
        self->fast_path_flags = 0;
    }
}
