/* malloc.c - see hooks.h: the table, and malloc and its kin. Signal-safe where the calls are. */
#include "allochook/hooks.h"

#include "allochook/call_site.h"
#include "allochook/fast.h"

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
 * at the filter of blocks. In sampled mode there is nearly always enough left, and nothing in the filter; in exact mode
 * nothing is ever left. So what the look finds and the mode together say where the call goes on, by two pointers each:
 *
 *     sampled mode   the real call, or the whole of the hook
 *     exact mode     the hook's way of exact mode; that takes the whole of it where something is out of the ordinary
 *     not noted      the real call, as soon as nothing is left
 *     else           the whole of the hook, which looks at the tables' state: a forked child has its parent's ways
 */
#define FUNCTION(name) __typeof__(&mire__heap_##name)

/*
 * Looked into where what is found does not matter: while the mode has always been exact, too. All of it is one page of
 * zeros, which is near, where the tables' own is as large as the nearest cache.
 */
static _Atomic uint8_t no_blocks[MIRE_HEAP_FILTER];

struct ways {
    _Atomic(FUNCTION(malloc)) malloc;
    _Atomic(FUNCTION(calloc)) calloc;
    _Atomic(FUNCTION(realloc)) realloc;
    _Atomic(FUNCTION(free)) free;
};

MIRE_SLOW static void *whole_malloc(size_t size);
MIRE_SLOW static void *whole_calloc(size_t count, size_t size);
MIRE_SLOW static void *whole_realloc(void *old, size_t size);
MIRE_SLOW static void whole_free(void *block);
MIRE_SLOW static void *uncount_realloc(void *old, size_t size);

MIRE_SLOW static void *exact_malloc(size_t size);
MIRE_SLOW static void *exact_calloc(size_t count, size_t size);
MIRE_SLOW static void *exact_realloc(void *old, size_t size);
MIRE_SLOW static void exact_free(void *block);

static struct {
    _Alignas(64) struct ways quiet; /* enough is left, nothing in the filter */
    struct ways other;
    _Atomic(_Atomic uint8_t *) filter; /* of the tables that are noted in */
} way = {.quiet = {whole_malloc, whole_calloc, uncount_realloc, whole_free},
         .other = {whole_malloc, whole_calloc, whole_realloc, whole_free},
         .filter = no_blocks};

/* Read before the filter, which is stored before it. */
#define WAY(which, name) atomic_load_explicit(&way.which.name, memory_order_acquire)

static inline bool is_in_filter(const void *block)
{
    return mire__filter_has(atomic_load_explicit(&way.filter, memory_order_relaxed), (uintptr_t)block);
}

#define TURN(which, name, to) atomic_store(&way.which.name, BOUND(name) ? (to) : whole_##name)

void mire__heap_hooks_turn(void)
{
    const struct heap *heap;
    uint32_t how;
    bool sampled, exact, off;

    do {
        heap = atomic_load(&mire__collect_gate->heap);
        how = heap ? mire__heap_how(heap, MIRE_HOW_MODE | MIRE_HOW_CELLS) : MIRE_HEAP_OFF;
        sampled = (how & MIRE_HOW_MODE) == MIRE_HEAP_SAMPLED;
        exact = (how & MIRE_HOW_MODE) == MIRE_HEAP_EXACT;
        off = (how & MIRE_HOW_MODE) == MIRE_HEAP_OFF;
        if (heap) /* before a way leads past it */
            atomic_store(&way.filter, exact && mire__heap_was_exact(heap) ? no_blocks : heap->filter);
        TURN(quiet, malloc, sampled ? BOUND(malloc) : whole_malloc);
        TURN(quiet, calloc, sampled ? BOUND(calloc) : whole_calloc);
        TURN(quiet, realloc, how == MIRE_HEAP_SAMPLED ? BOUND(realloc) : uncount_realloc);
        TURN(quiet, free, how == MIRE_HEAP_SAMPLED ? BOUND(free) : exact ? exact_free : whole_free);
        TURN(other, malloc, exact ? exact_malloc : off ? BOUND(malloc) : whole_malloc);
        TURN(other, calloc, exact ? exact_calloc : off ? BOUND(calloc) : whole_calloc);
        TURN(other, realloc, exact && BOUND(malloc) ? exact_realloc : whole_realloc);
        TURN(other, free, exact ? exact_free : whole_free);
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

static inline void *done(struct collect_thread *self, const struct self_frame *site, void *block, size_t size)
{
    if (!self)
        return block;
    mire__collect_as_return(self);
    if (block)
        mire__collect_as_alloc(self, site, block, size);
    return block;
}

/*
 * The same in exact mode. One function for all hooks: it takes a KiB of the nearest cache. They jump to it, so it
 * stands where they stood. Returns the block.
 */
MIRE_SLOW static void *note_quick(struct collect_thread *self, void *block, size_t size)
{
    uint64_t pc = (uintptr_t)__builtin_return_address(0), sp = MIRE_CALL_SP;

    return mire__quick_alloc(self, block, size, pc, sp);
}

/*
 * Begin a call that is to allocate so many bytes; end it. Between them nothing but the thread's state is kept. A block
 * that was not to be had is noted by nobody: its address is 0 (heap/blocks.h).
 */
MIRE_QUICK struct collect_thread *begin_quick(size_t size, uint64_t sp)
{
    struct collect_thread *self = mire__quick_enter(sp);

    if (__builtin_expect(self != NULL, 1))
        self->calling_size = size;
    return self;
}

MIRE_QUICK void *done_quick(struct collect_thread *self, void *block)
{
    const size_t size = self->calling_size; /* before a signal's handler may begin a call */

    mire__collect_as_return(self);
    return note_quick(self, block, size);
}

/* clang-format off */
#define DEFINE_SLOW(name, parameters, arguments, bytes)                                   \
    MIRE_SLOW static void *name##_slow parameters                                         \
    {                                                                                     \
        const struct self_frame site = MIRE_CALL_SITE;                                    \
        struct collect_thread *self = mire__collect_as_enter(site.sp);                    \
                                                                                          \
        return done(self, &site, BOUND(name) arguments, bytes);                           \
    }
/* clang-format on */

/* clang-format off */
#define DEFINE_NEW(name, parameters, arguments, bytes)                                    \
    DEFINE_SLOW(name, parameters, arguments, bytes)                                       \
    MIRE_SLOW static void *whole_##name parameters                                        \
    {                                                                                     \
        if (__builtin_expect(!BOUND(name), 0))                                            \
            return name##_late arguments;                                                 \
        return mire__site_is_quick(bytes) ? BOUND(name) arguments : name##_slow arguments; \
    }                                                                                     \
    MIRE_SLOW static void *exact_##name parameters                                        \
    {                                                                                     \
        struct collect_thread *self = begin_quick(bytes, MIRE_CALL_SP);                   \
                                                                                          \
        if (__builtin_expect(!self, 0))                                                   \
            return whole_##name arguments;                                                \
        return done_quick(self, BOUND(name) arguments);                                   \
    }                                                                                     \
    MIRE_HIDDEN void *mire__heap_##name parameters                                        \
    {                                                                                     \
        if (__builtin_expect(!mire__site_counts(bytes), 0))                               \
            return WAY(other, name) arguments;                                            \
        return WAY(quiet, name) arguments;                                                \
    }
DEFINE_NEW(malloc, (size_t size), (size), size)
DEFINE_NEW(calloc, (size_t count, size_t size), (count, size), count * size)
/* clang-format on */

/* clang-format off */
#define DEFINE_ALIGNED(name, parameters, arguments)                                       \
    DEFINE_SLOW(name, parameters, arguments, size)                                        \
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
    const struct self_frame site = MIRE_CALL_SITE;
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

static void *moved(struct collect_thread *self, struct self_frame site, const struct collect_move *was, void *old,
                   void *block, size_t size)
{
    mire__collect_as_return(self);
    mire__collect_as_move_end(self, &site, was, old, block, size);
    return block;
}

MIRE_SLOW static void *realloc_slow(void *old, size_t size)
{
    const struct self_frame site = MIRE_CALL_SITE;
    struct collect_thread *self = mire__collect_as_enter(site.sp);
    struct collect_move was;

    if (!self)
        return BOUND(realloc)(old, size);
    mire__collect_as_move_begin(&was, self, old);
    return moved(self, site, &was, old, BOUND(realloc)(old, size), size);
}

MIRE_SLOW static void *whole_realloc(void *old, size_t size)
{
    if (__builtin_expect(!BOUND(realloc), 0))
        return realloc_late(old, size);
    return mire__site_passes(old, size) ? BOUND(realloc)(old, size) : realloc_slow(old, size);
}

/* In sampled mode too, where the old block may be in a cell: whatever becomes of the new one counts it again. */
MIRE_SLOW static void *uncount_realloc(void *old, size_t size)
{
    mire__collect_left += (int64_t)size;
    return whole_realloc(old, size);
}

MIRE_SLOW static void *exact_move(void *old, size_t size)
{
    struct collect_thread *self = begin_quick(size, MIRE_CALL_SP);
    struct collect_move was = {.known = true};
    struct heap_count *counts;
    enum quick_end end;
    void *block;

    if (__builtin_expect(!self, 0))
        return whole_realloc(old, size);
    end = mire__quick_free(&was.block, &counts, self, old, false);
    if (__builtin_expect(end == QUICK_NOT, 0)) {
        mire__collect_as_return(self);
        return whole_realloc(old, size);
    }
    if (__builtin_expect(end == QUICK_STRAYS, 0))
        mire__quick_as_tell(counts, NULL);
    block = BOUND(realloc)(old, size);
    if (__builtin_expect(!block, 0))
        return moved(self, (struct self_frame)MIRE_CALL_SITE, &was, old, NULL, size);
    return done_quick(self, block);
}

MIRE_SLOW static void *exact_realloc(void *old, size_t size)
{
    struct collect_thread *self;

    if (old)
        return exact_move(old, size);
    self = begin_quick(size, MIRE_CALL_SP);
    if (__builtin_expect(!self, 0))
        return whole_realloc(NULL, size);
    return done_quick(self, BOUND(malloc)(size)); /* the same, by definition, and shorter */
}

MIRE_HIDDEN void *mire__heap_realloc(void *old, size_t size)
{
    FUNCTION(realloc) next = WAY(quiet, realloc);

    if (__builtin_expect(is_in_filter(old) || !mire__site_counts(size), 0))
        return WAY(other, realloc)(old, size);
    return next(old, size);
}

MIRE_SLOW static void *reallocarray_slow(void *old, size_t count, size_t size)
{
    const struct self_frame site = MIRE_CALL_SITE;
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
    mire__quick_as_tell(counts, block);
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

MIRE_SLOW static void whole_free(void *block)
{
    if (__builtin_expect(!BOUND(free), 0))
        free_late(block);
    else if (mire__site_passes(block, 0)) /* nothing is noted */
        BOUND(free)(block);
    else
        free_slow(block);
}

/* Nothing but jumps lead out of here, so it keeps no register. */
MIRE_QUICK void free_quick(void *block, const struct collect_thread *self, bool apart)
{
    struct heap_count *counts = NULL;
    struct live_block was;
    enum quick_end end = mire__quick_free(&was, &counts, self, block, apart);

    if (__builtin_expect(end == QUICK_DONE, 1))
        BOUND(free)(block);
    else if (end == QUICK_STRAYS)
        free_strays(block, counts);
    else
        whole_free(block);
}

/* Where blocks are spread over all planes of cells; or something is out of the ordinary. */
MIRE_SLOW static void free_spread(void *block)
{
    const struct collect_thread *self = mire__collect_self;

    if (__builtin_expect(self != NULL, 1))
        free_quick(block, self, false);
    else
        whole_free(block);
}

MIRE_SLOW static void exact_free(void *block)
{
    const struct collect_thread *self = mire__collect_self;

    if (__builtin_expect(!block, 0))
        BOUND(free)(block);
    else if (__builtin_expect(self && mire__quick_is_apart(self), 1))
        free_quick(block, self, true);
    else
        free_spread(block);
}

MIRE_HIDDEN void mire__heap_free(void *block)
{
    FUNCTION(free) next = WAY(quiet, free);

    if (__builtin_expect(is_in_filter(block), 0))
        WAY(other, free)(block);
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
