/* hooks.c - see hooks.h: the table, and malloc and its kin. Signal-safe where the calls are. */
#include "heap/hooks.h"

#include "heap/quick.h"
#include "heap/site.h"

#include <errno.h>

/* clang-format off */
#define ROW(name) {#name, (void *)mire__heap_##name, NULL},
struct hook mire__heap_hooks[MIRE_HEAP_HOOK_COUNT] = {MIRE_HEAP_HOOKS(ROW)};
/* clang-format on */

#define REAL(name) ((__typeof__(&mire__heap_##name))mire__heap_real(MIRE_HEAP_HOOK_##name))

/* NULL if it is not bound. */
#define BOUND(name)                                                                                      \
    ((__typeof__(&mire__heap_##name))atomic_load_explicit(&mire__heap_hooks[MIRE_HEAP_HOOK_##name].real, \
                                                          memory_order_relaxed))

/*
 * The calls that programs make most begin with a look at what is in reach: at the bytes that are left until a sample,
 * at the filter of blocks. If that finds nothing they go their way: in sampled mode the real call, else the whole of
 * the hook. What the look finds takes the whole of the hook too, which looks at the tables' state: a forked child has
 * its parent's ways.
 */
MIRE_SLOW static void *whole_malloc(size_t size);
MIRE_SLOW static void *whole_calloc(size_t count, size_t size);
MIRE_SLOW static void *whole_realloc(void *old, size_t size);
MIRE_SLOW static void whole_free(void *block);
MIRE_SLOW static void *uncount_realloc(void *old, size_t size);

static _Atomic uint8_t no_blocks[MIRE_HEAP_FILTER];

static struct {
    _Alignas(64) _Atomic(_Atomic uint8_t *) filter; /* of the tables that are noted in */
    _Atomic(__typeof__(&whole_malloc)) malloc;
    _Atomic(__typeof__(&whole_calloc)) calloc;
    _Atomic(__typeof__(&whole_realloc)) realloc;
    _Atomic(__typeof__(&whole_free)) free;
} way = {no_blocks, whole_malloc, whole_calloc, uncount_realloc, whole_free};

/* Read before the filter, which is stored before it. */
#define WAY(name) atomic_load_explicit(&way.name, memory_order_acquire)

static inline bool is_in_filter(const void *block)
{
    return mire__filter_has(atomic_load_explicit(&way.filter, memory_order_relaxed), (uintptr_t)block);
}

#define TURN(name, whole, to) atomic_store(&way.name, (to) && BOUND(name) ? BOUND(name) : (whole))

void mire__heap_hooks_turn(void)
{
    const struct heap *heap;
    uint32_t how;

    do {
        heap = atomic_load(&mire__collect_gate->heap);
        how = heap ? mire__heap_how(heap, MIRE_HOW_MODE | MIRE_HOW_CELLS) : MIRE_HEAP_OFF;
        if (heap) /* before a way leads past it */
            atomic_store(&way.filter, heap->filter);
        TURN(malloc, whole_malloc, (how & MIRE_HOW_MODE) == MIRE_HEAP_SAMPLED);
        TURN(calloc, whole_calloc, (how & MIRE_HOW_MODE) == MIRE_HEAP_SAMPLED);
        TURN(realloc, uncount_realloc, how == MIRE_HEAP_SAMPLED);
        TURN(free, whole_free, how == MIRE_HEAP_SAMPLED);
    } while (heap != atomic_load(&mire__collect_gate->heap) ||
             (heap && how != mire__heap_how(heap, MIRE_HOW_MODE | MIRE_HOW_CELLS)));
}

/*
 * Before the real calls are bound: what is called then is bound by its call (mire__heap_real_late). Functions of their
 * own, so that a hook is a few instructions and a jump.
 */
static void *none(void)
{
    errno = ENOMEM;
    return NULL;
}

/* clang-format off */
#define DEFINE_LATE(name, parameters, arguments)                                          \
    MIRE_SLOW static void *name##_late parameters                                         \
    {                                                                                     \
        void *(*real) parameters = REAL(name);                                            \
                                                                                          \
        return real ? real arguments : none();                                            \
    }
DEFINE_LATE(malloc, (size_t size), (size))
DEFINE_LATE(calloc, (size_t count, size_t size), (count, size))
DEFINE_LATE(realloc, (void *old, size_t size), (old, size))
/* clang-format on */

MIRE_SLOW static void free_late(void *block)
{
    void (*real)(void *) = REAL(free);

    if (real)
        real(block);
}

/* ---- allocation ---- */

static inline void *done(struct collect_thread *self, const struct walk_frame *site, void *block, size_t size)
{
    if (!self)
        return block;
    mire__collect_as_return(self);
    if (block)
        mire__collect_as_alloc(self, site, block, size);
    return block;
}

/*
 * The same for the calls that most programs make most of. One function for all of them: it takes a KiB of the nearest
 * cache, and they jump to it. Returns the block.
 */
MIRE_SLOW static void *note_quick(struct collect_thread *self, void *block, size_t size, uint64_t pc, uint64_t sp,
                                  uint64_t fp)
{
    const struct walk_frame site = {.pc = pc, .sp = sp, .fp = fp};

    mire__quick_alloc(self, &site, block, size);
    return block;
}

MIRE_QUICK void *done_quick(struct collect_thread *self, void *block, size_t size)
{
    if (!self)
        return block;
    mire__collect_as_return(self);
    if (__builtin_expect(block != NULL, 1)) {
        const struct walk_frame site = MIRE_CALL_SITE; /* read only now: it is not kept over the real call */

        return note_quick(self, block, size, site.pc, site.sp, site.fp);
    }
    return NULL;
}

MIRE_SLOW static void *malloc_slow(size_t size)
{
    struct collect_thread *self = mire__collect_as_enter(MIRE_CALL_SP);

    return done_quick(self, BOUND(malloc)(size), size);
}

MIRE_SLOW static void *whole_malloc(size_t size)
{
    void *(*real)(size_t) = BOUND(malloc);

    if (__builtin_expect(!real, 0))
        return malloc_late(size);
    return mire__site_is_quick(size) ? real(size) : malloc_slow(size);
}

MIRE_HIDDEN void *mire__heap_malloc(size_t size)
{
    if (__builtin_expect(!mire__site_counts(size), 0))
        return whole_malloc(size);
    return WAY(malloc)(size);
}

MIRE_SLOW static void *calloc_slow(size_t count, size_t size)
{
    struct collect_thread *self = mire__collect_as_enter(MIRE_CALL_SP);

    return done_quick(self, BOUND(calloc)(count, size), count * size);
}

MIRE_SLOW static void *whole_calloc(size_t count, size_t size)
{
    void *(*real)(size_t, size_t) = BOUND(calloc);

    if (__builtin_expect(!real, 0))
        return calloc_late(count, size);
    return mire__site_is_quick(count * size) ? real(count, size) : calloc_slow(count, size);
}

MIRE_HIDDEN void *mire__heap_calloc(size_t count, size_t size)
{
    if (__builtin_expect(!mire__site_counts(count * size), 0))
        return whole_calloc(count, size);
    return WAY(calloc)(count, size);
}

/* clang-format off */
#define DEFINE_ALIGNED(name, parameters, arguments)                                       \
    MIRE_SLOW static void *name##_slow parameters                                         \
    {                                                                                     \
        const struct walk_frame site = MIRE_CALL_SITE;                                     \
        struct collect_thread *self = mire__collect_as_enter(site.sp);                      \
                                                                                          \
        return done(self, &site, REAL(name) arguments, size);                             \
    }                                                                                     \
    MIRE_HIDDEN void *mire__heap_##name parameters                                        \
    {                                                                                     \
        void *(*real) parameters = REAL(name);                                            \
                                                                                          \
        if (__builtin_expect(!real, 0))                                                   \
            return none();                                                                \
        return mire__site_is_quick(size) ? real arguments : name##_slow arguments;        \
    }
DEFINE_ALIGNED(aligned_alloc, (size_t alignment, size_t size), (alignment, size))
DEFINE_ALIGNED(memalign, (size_t alignment, size_t size), (alignment, size))
DEFINE_ALIGNED(valloc, (size_t size), (size))
DEFINE_ALIGNED(pvalloc, (size_t size), (size))
/* clang-format on */

MIRE_SLOW static int posix_memalign_slow(void **out, size_t alignment, size_t size)
{
    const struct walk_frame site = MIRE_CALL_SITE;
    struct collect_thread *self = mire__collect_as_enter(site.sp);
    int err = REAL(posix_memalign)(out, alignment, size);

    done(self, &site, err == 0 ? *out : NULL, size);
    return err;
}

MIRE_HIDDEN int mire__heap_posix_memalign(void **out, size_t alignment, size_t size)
{
    int (*real)(void **, size_t, size_t) = REAL(posix_memalign);

    if (__builtin_expect(!real, 0))
        return ENOMEM;
    return mire__site_is_quick(size) ? real(out, alignment, size) : posix_memalign_slow(out, alignment, size);
}

/* ---- the end of a block ---- */

static void *moved(struct collect_thread *self, struct walk_frame site, const struct collect_move *was, void *old,
                   void *block, size_t size)
{
    mire__collect_as_return(self);
    mire__collect_as_move_end(self, &site, was, old, block, size);
    return block;
}

MIRE_SLOW static void *realloc_slow(void *old, size_t size)
{
    const struct walk_frame site = MIRE_CALL_SITE;
    struct collect_thread *self = mire__collect_as_enter(site.sp);
    struct collect_move was;
    void *block;

    if (!self)
        return REAL(realloc)(old, size);
    mire__collect_as_move_begin(&was, self, old);
    block = REAL(realloc)(old, size);
    if (block && !(was.known && was.block.tagged))
        return done_quick(self, block, size);
    return moved(self, site, &was, old, block, size);
}

/* As malloc. */
MIRE_SLOW static void *realloc_new_slow(size_t size)
{
    struct collect_thread *self = mire__collect_as_enter(MIRE_CALL_SP);

    return done_quick(self, BOUND(realloc)(NULL, size), size);
}

MIRE_SLOW static void *whole_realloc(void *old, size_t size)
{
    void *(*real)(void *, size_t) = BOUND(realloc);

    if (__builtin_expect(!real, 0))
        return realloc_late(old, size);
    if (mire__site_passes(old, size))
        return real(old, size);
    return old ? realloc_slow(old, size) : realloc_new_slow(size);
}

/* In sampled mode too, where the old block may be in a cell: whatever becomes of the new one counts it again. */
MIRE_SLOW static void *uncount_realloc(void *old, size_t size)
{
    mire__collect_left += (int64_t)size;
    return whole_realloc(old, size);
}

MIRE_HIDDEN void *mire__heap_realloc(void *old, size_t size)
{
    __typeof__(&whole_realloc) next = WAY(realloc);

    if (__builtin_expect(is_in_filter(old) || !mire__site_counts(size), 0))
        return whole_realloc(old, size);
    return next(old, size);
}

MIRE_SLOW static void *reallocarray_slow(void *old, size_t count, size_t size)
{
    const struct walk_frame site = MIRE_CALL_SITE;
    size_t bytes;
    bool fails = __builtin_mul_overflow(count, size, &bytes);
    struct collect_thread *self = fails ? NULL : mire__collect_as_enter(site.sp);
    struct collect_move was;

    if (!self)
        return REAL(reallocarray)(old, count, size);
    mire__collect_as_move_begin(&was, self, old);
    return moved(self, site, &was, old, REAL(reallocarray)(old, count, size), bytes);
}

MIRE_HIDDEN void *mire__heap_reallocarray(void *old, size_t count, size_t size)
{
    void *(*real)(void *, size_t, size_t) = REAL(reallocarray);

    if (__builtin_expect(!real, 0))
        return none();
    if (mire__site_passes(old, count * size))
        return real(old, count, size);
    return reallocarray_slow(old, count, size);
}

MIRE_SLOW static void free_strays(void *block, struct heap_count *counts)
{
    mire__quick_as_tell(counts);
    BOUND(free)(block);
}

MIRE_SLOW static void free_slow(void *block)
{
    struct collect_thread *self = mire__collect_as_enter(MIRE_CALL_SP);

    if (self)
        mire__collect_as_free(self, block);
    BOUND(free)(block);
    if (self)
        mire__collect_as_return(self);
}

/* Nothing but jumps lead out of here, so it keeps no register. */
MIRE_SLOW static void whole_free(void *block)
{
    void (*real)(void *) = BOUND(free);
    struct heap_count *counts = NULL;
    enum quick_end end;

    if (__builtin_expect(!real, 0)) {
        free_late(block);
        return;
    }
    if (mire__site_passes(block, 0)) { /* nothing is noted */
        real(block);
        return;
    }
    end = block ? mire__quick_free(&counts, block) : QUICK_DONE;
    if (__builtin_expect(end == QUICK_DONE, 1))
        BOUND(free)(block);
    else if (end == QUICK_STRAYS)
        free_strays(block, counts);
    else
        free_slow(block);
}

MIRE_HIDDEN void mire__heap_free(void *block)
{
    __typeof__(&whole_free) next = WAY(free);

    if (__builtin_expect(is_in_filter(block), 0))
        whole_free(block);
    else
        next(block);
}

/* ---- the preload library ---- */

/* There the hooks bear the very names of what they stand for, so that a program's call leads to them without a jump. */
#ifdef MIRE_HOOKS_INTERPOSE
/* clang-format off */
#define INTERPOSE(name) \
    extern __typeof__(mire__heap_##name) name __attribute__((alias("mire__heap_" #name), visibility("default")));
INTERPOSE(malloc)
INTERPOSE(calloc)
INTERPOSE(realloc)
INTERPOSE(reallocarray)
INTERPOSE(free)
INTERPOSE(aligned_alloc)
INTERPOSE(posix_memalign)
INTERPOSE(memalign)
INTERPOSE(valloc)
INTERPOSE(pvalloc)
/* clang-format on */
#endif
