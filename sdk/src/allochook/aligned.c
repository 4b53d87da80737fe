/* aligned.c - see hooks.h: allocation with an alignment, which is rare and has no fast path. Signal-safe where the calls are. */
#include "allochook/allocating.h"

/* clang-format off */
#define DEFINE_ALIGNED(name, parameters, arguments)                                       \
    MIRE_DEFINE_RECORD(name, parameters, arguments, size)                                        \
    MIRE_HIDDEN void *mire__heap_##name parameters                                        \
    {                                                                                     \
        void *(*real) parameters = MIRE_REAL(name);                                            \
                                                                                          \
        if (__builtin_expect(!real, 0))                                                   \
            return mire__call_none();                                                                \
        return mire__site_is_covered(size) ? real arguments : name##_record arguments;        \
    }
DEFINE_ALIGNED(aligned_alloc, (size_t alignment, size_t size), (alignment, size))
DEFINE_ALIGNED(memalign, (size_t alignment, size_t size), (alignment, size))
DEFINE_ALIGNED(valloc, (size_t size), (size))
DEFINE_ALIGNED(pvalloc, (size_t size), (size))
/* clang-format on */

MIRE_SLOW static int posix_memalign_record(void **out, size_t alignment, size_t size)
{
    const struct self_frame site = MIRE_CALL_SITE;
    struct collect_thread *self = mire__collect_as_enter(site.sp);
    int err = MIRE_REAL(posix_memalign)(out, alignment, size);

    mire__call_done(self, &site, err == 0 ? *out : NULL, size);
    return err;
}

MIRE_HIDDEN int mire__heap_posix_memalign(void **out, size_t alignment, size_t size)
{
    int (*real)(void **, size_t, size_t) = MIRE_REAL(posix_memalign);

    if (__builtin_expect(!real, 0))
        return ENOMEM;
    return mire__site_is_covered(size) ? real(out, alignment, size) : posix_memalign_record(out, alignment, size);
}

#ifdef MIRE_HOOKS_INTERPOSE
/* clang-format off */
MIRE_INTERPOSE(aligned_alloc)
MIRE_INTERPOSE(posix_memalign)
MIRE_INTERPOSE(memalign)
MIRE_INTERPOSE(valloc)
MIRE_INTERPOSE(pvalloc)
/* clang-format on */
#endif
