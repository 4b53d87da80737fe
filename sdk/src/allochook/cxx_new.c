/* cxx_new.c - operator new and delete of allocators that define their own and do not call malloc. Signal-safe.
 *
 * Operator new of the C++ library calls malloc: the block is recorded there, and operator new's frames are left out
 * of its stack (run.c). So these hooks are patched in only where the allocator's library defines operator new
 * itself. The forms differ in the arguments behind the first: they are passed on in registers.
 */
#include "allochook/hooks.h"

#include "allochook/call_site.h"

/* clang-format off */
#define NEWS(X) \
    X(_Znwm) X(_Znam) X(_ZnwmRKSt9nothrow_t) X(_ZnamRKSt9nothrow_t) X(_ZnwmSt11align_val_t) X(_ZnamSt11align_val_t) \
    X(_ZnwmSt11align_val_tRKSt9nothrow_t) X(_ZnamSt11align_val_tRKSt9nothrow_t)
#define DELETES(X) \
    X(_ZdlPv) X(_ZdaPv) X(_ZdlPvm) X(_ZdaPvm) X(_ZdlPvRKSt9nothrow_t) X(_ZdaPvRKSt9nothrow_t) \
    X(_ZdlPvSt11align_val_t) X(_ZdaPvSt11align_val_t) X(_ZdlPvmSt11align_val_t) X(_ZdaPvmSt11align_val_t) \
    X(_ZdlPvSt11align_val_tRKSt9nothrow_t) X(_ZdaPvSt11align_val_tRKSt9nothrow_t)
#define NUMBER(name) NUMBER##name,
enum number { NEWS(NUMBER) DELETES(NUMBER) COUNT };

/* It may throw and never return here, so the thread is not inside a real call meanwhile. */
#define DEFINE_NEW(name)                                                                        \
    MIRE_SLOW static void *slow##name(size_t size, uintptr_t a, uintptr_t b)                    \
    {                                                                                           \
        const struct self_frame site = MIRE_CALL_SITE;                                          \
        void *(*real)(size_t, uintptr_t, uintptr_t) =                                           \
            (void *(*)(size_t, uintptr_t, uintptr_t))atomic_load(&mire__new_hooks[NUMBER##name].real); \
        void *block = real(size, a, b);                                                         \
        struct collect_thread *self = block ? mire__collect_as_enter(site.sp) : NULL;           \
                                                                                                \
        if (self) {                                                                             \
            mire__collect_as_return(self);                                                      \
            mire__collect_as_alloc(self, &site, block, size);                                   \
        }                                                                                       \
        return block;                                                                           \
    }                                                                                           \
    MIRE_HIDDEN static void *hook##name(size_t size, uintptr_t a, uintptr_t b)                  \
    {                                                                                           \
        void *(*real)(size_t, uintptr_t, uintptr_t) =                                           \
            (void *(*)(size_t, uintptr_t, uintptr_t))atomic_load(&mire__new_hooks[NUMBER##name].real); \
                                                                                                \
        return mire__site_is_covered(size) ? real(size, a, b) : slow##name(size, a, b);           \
    }
NEWS(DEFINE_NEW)

#define DEFINE_DELETE(name)                                                                     \
    MIRE_HIDDEN static void hook##name(void *block, uintptr_t a, uintptr_t b)                   \
    {                                                                                           \
        void (*real)(void *, uintptr_t, uintptr_t) =                                            \
            (void (*)(void *, uintptr_t, uintptr_t))atomic_load(&mire__new_hooks[NUMBER##name].real); \
                                                                                                \
        mire__site_end(block, (uintptr_t)__builtin_dwarf_cfa());                                 \
        real(block, a, b);                                                                      \
    }
DELETES(DEFINE_DELETE)

#define ROW(name) {#name, (void *)hook##name, NULL},
struct hook mire__new_hooks[COUNT] = {NEWS(ROW) DELETES(ROW)};
/* clang-format on */
const size_t mire__new_hooks_count = COUNT;
