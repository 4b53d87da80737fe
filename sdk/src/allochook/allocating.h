/*
 * allocating.h - the slow path of the hooks that allocate. For malloc.c and aligned.c.
 */
#ifndef MIRE_ALLOCHOOK_ALLOCATING_H
#define MIRE_ALLOCHOOK_ALLOCATING_H

#include "allochook/call_site.h"

#include <errno.h>

/* The real call that was bound; NULL before that. */
#define MIRE_BOUND(name)                                                                                 \
    ((__typeof__(&mire__heap_##name))atomic_load_explicit(&mire__heap_hooks[MIRE_HEAP_HOOK_##name].real, \
                                                          memory_order_relaxed))

/* The result of an allocation without a real call. */
static inline void *mire__call_none(void)
{
    errno = ENOMEM;
    return NULL;
}

/* Record the block of a real call: `self` is the result of mire__collect_as_enter. Returns the block. */
static inline void *mire__call_done(struct collect_thread *self, const struct self_frame *site, void *block,
                                    size_t size)
{
    if (!self)
        return block;
    mire__collect_as_return(self);
    if (block)
        mire__collect_as_alloc(self, site, block, size);
    return block;
}

/* NAME_record: the real call, recorded. */
/* clang-format off */
#define MIRE_DEFINE_RECORD(name, parameters, arguments, bytes)                                   \
    MIRE_SLOW static void *name##_record parameters                                         \
    {                                                                                     \
        const struct self_frame site = MIRE_CALL_SITE;                                    \
        struct collect_thread *self = mire__collect_as_enter(site.sp);                    \
                                                                                          \
        return mire__call_done(self, &site, MIRE_BOUND(name) arguments, bytes);                           \
    }
/* clang-format on */

#endif
