/* malloc.c - see hooks.h: the table of hooks; malloc, calloc, realloc and free. Signal-safe where the calls are. */
#include "allochook/allocating.h"

#include "allochook/fast.h"

/* clang-format off */
#define ROW(name) {#name, (void *)mire__heap_##name, NULL},
struct hook mire__heap_hooks[MIRE_HEAP_HOOK_COUNT] = {MIRE_HEAP_HOOKS(ROW)};
/* clang-format on */

/*
 * Each hook dispatches through one of two function pointers, chosen by whether the sampling budget covers this call
 * and by the filter of blocks. In sampled mode the budget covers nearly every call, and the filter holds nearly no
 * block; in exact mode the budget is always 0. The mode sets the pointers:
 *
 *                 covered                exceeded
 *     sampled     the real call          _slow: draws a sample, or finds the block
 *     exact       -                      _fast: fast.h; _slow where that does not apply
 *     off         _slow                  the real call, once the budget is 0
 *     unbound     _slow                  _slow: binds the real call
 *
 * _slow reads the state of the tables and passes the call on, or records it (_record). A forked child has its parent's
 * pointers, so each function also works when nothing is recorded.
 */
#define FUNCTION(name) __typeof__(&mire__heap_##name)

/*
 * The filter in use where no block can be in the tables' own: before a run, and while the mode has always been exact.
 * It stays in the nearest cache, for all of it is one physical page of zeros.
 */
static _Atomic uint8_t no_blocks[MIRE_HEAP_FILTER];

struct targets {
    _Atomic(FUNCTION(malloc)) malloc;
    _Atomic(FUNCTION(calloc)) calloc;
    _Atomic(FUNCTION(realloc)) realloc;
    _Atomic(FUNCTION(free)) free;
};

MIRE_SLOW static void *malloc_slow(size_t size);
MIRE_SLOW static void *calloc_slow(size_t count, size_t size);
MIRE_SLOW static void *realloc_slow(void *old, size_t size);
MIRE_SLOW static void free_slow(void *block);
MIRE_SLOW static void *realloc_recount(void *old, size_t size);

MIRE_SLOW static void *malloc_fast(size_t size);
MIRE_SLOW static void *calloc_fast(size_t count, size_t size);
MIRE_SLOW static void *realloc_fast(void *old, size_t size);
MIRE_SLOW static void free_fast(void *block);

static struct {
    _Alignas(64) struct targets covered; /* the budget covers the call, and the filter holds no such block */
    struct targets exceeded;
    _Atomic(_Atomic uint8_t *) filter; /* of the tables in use */
} dispatch = {.covered = {malloc_slow, calloc_slow, realloc_recount, free_slow},
              .exceeded = {malloc_slow, calloc_slow, realloc_slow, free_slow},
              .filter = no_blocks};

/* Acquire: the filter that belongs to a pointer is stored before it. */
#define TARGET(which, name) atomic_load_explicit(&dispatch.which.name, memory_order_acquire)

static inline bool is_in_filter(const void *block)
{
    return mire__filter_has(atomic_load_explicit(&dispatch.filter, memory_order_relaxed), (uintptr_t)block);
}

#define SET(which, name, to) atomic_store(&dispatch.which.name, MIRE_BOUND(name) ? (to) : name##_slow)

void mire__heap_hooks_dispatch(void)
{
    const struct heap *heap;
    uint32_t flags;
    bool sampled, exact, off;

    do {
        heap = atomic_load(&mire__collect_gate->heap);
        flags = heap ? mire__heap_flags(heap, MIRE_FLAG_MODE | MIRE_FLAG_SHADOW) : MIRE_HEAP_OFF;
        sampled = (flags & MIRE_FLAG_MODE) == MIRE_HEAP_SAMPLED;
        exact = (flags & MIRE_FLAG_MODE) == MIRE_HEAP_EXACT;
        off = (flags & MIRE_FLAG_MODE) == MIRE_HEAP_OFF;
        if (heap) /* before a pointer that relies on it */
            atomic_store(&dispatch.filter, exact && mire__heap_was_exact(heap) ? no_blocks : heap->filter);
        SET(covered, malloc, sampled ? MIRE_BOUND(malloc) : malloc_slow);
        SET(covered, calloc, sampled ? MIRE_BOUND(calloc) : calloc_slow);
        SET(covered, realloc, flags == MIRE_HEAP_SAMPLED ? MIRE_BOUND(realloc) : realloc_recount);
        SET(covered, free, flags == MIRE_HEAP_SAMPLED ? MIRE_BOUND(free) : exact ? free_fast : free_slow);
        SET(exceeded, malloc, exact ? malloc_fast : off ? MIRE_BOUND(malloc) : malloc_slow);
        SET(exceeded, calloc, exact ? calloc_fast : off ? MIRE_BOUND(calloc) : calloc_slow);
        SET(exceeded, realloc, exact && MIRE_BOUND(malloc) ? realloc_fast : realloc_slow);
        SET(exceeded, free, exact ? free_fast : free_slow);
    } while (heap != atomic_load(&mire__collect_gate->heap) ||
             (heap && flags != mire__heap_flags(heap, MIRE_FLAG_MODE | MIRE_FLAG_SHADOW)));
}

/*
 * A call before mire__heap_bind binds the real call itself (mire__heap_real_unbound). These are functions of their own,
 * so that a hook is a few instructions and a jump.
 */
/* clang-format off */
#define DEFINE_UNBOUND(name, parameters, arguments)                                          \
    MIRE_SLOW static void *name##_unbound parameters                                         \
    {                                                                                     \
        void *(*real) parameters = MIRE_REAL(name);                                            \
                                                                                          \
        return real ? real arguments : mire__call_none();                                            \
    }
DEFINE_UNBOUND(malloc, (size_t size), (size))
DEFINE_UNBOUND(calloc, (size_t count, size_t size), (count, size))
DEFINE_UNBOUND(realloc, (void *old, size_t size), (old, size))
/* clang-format on */

MIRE_SLOW static void free_unbound(void *block)
{
    void (*real)(void *) = MIRE_REAL(free);

    if (real)
        real(block);
}

/* ---- allocation ---- */

/*
 * Record a block on the fast path. One function for all hooks, for it takes a KiB of the nearest cache. They jump to
 * it, so its caller is the program. Returns the block.
 */
MIRE_SLOW static void *record_fast(struct collect_thread *self, void *block, size_t size)
{
    uint64_t pc = (uintptr_t)__builtin_return_address(0), sp = MIRE_CALL_SP;

    return mire__fast_alloc(self, block, size, pc, sp);
}

/*
 * Begin and end a call that allocates so many bytes. Only the thread's state is kept between the two. A failed call
 * needs no test: the address 0 has no shadow entry, and the slow path leaves it out.
 */
MIRE_FAST struct collect_thread *begin_fast(size_t size, uint64_t sp)
{
    struct collect_thread *self = mire__fast_enter(sp);

    if (__builtin_expect(self != NULL, 1))
        self->calling_size = size;
    return self;
}

MIRE_FAST void *done_fast(struct collect_thread *self, void *block)
{
    const size_t size = self->calling_size; /* read first: a signal handler may begin a call below */

    mire__collect_as_return(self);
    return record_fast(self, block, size);
}

/* clang-format off */
#define DEFINE_NEW(name, parameters, arguments, bytes)                                    \
    MIRE_DEFINE_RECORD(name, parameters, arguments, bytes)                                       \
    MIRE_SLOW static void *name##_slow parameters                                        \
    {                                                                                     \
        if (__builtin_expect(!MIRE_BOUND(name), 0))                                            \
            return name##_unbound arguments;                                                 \
        return mire__site_is_covered(bytes) ? MIRE_BOUND(name) arguments : name##_record arguments; \
    }                                                                                     \
    MIRE_SLOW static void *name##_fast parameters                                        \
    {                                                                                     \
        struct collect_thread *self = begin_fast(bytes, MIRE_CALL_SP);                   \
                                                                                          \
        if (__builtin_expect(!self, 0))                                                   \
            return name##_slow arguments;                                                \
        return done_fast(self, MIRE_BOUND(name) arguments);                                   \
    }                                                                                     \
    MIRE_HIDDEN void *mire__heap_##name parameters                                        \
    {                                                                                     \
        if (__builtin_expect(!mire__site_spend(bytes), 0))                               \
            return TARGET(exceeded, name) arguments;                                            \
        return TARGET(covered, name) arguments;                                                \
    }
DEFINE_NEW(malloc, (size_t size), (size), size)
DEFINE_NEW(calloc, (size_t count, size_t size), (count, size), count * size)
/* clang-format on */

/* ---- the end of a block ---- */

static void *moved(struct collect_thread *self, struct self_frame site, const struct collect_move *was, void *old,
                   void *block, size_t size)
{
    mire__collect_as_return(self);
    mire__collect_as_move_end(self, &site, was, old, block, size);
    return block;
}

MIRE_SLOW static void *realloc_record(void *old, size_t size)
{
    const struct self_frame site = MIRE_CALL_SITE;
    struct collect_thread *self = mire__collect_as_enter(site.sp);
    struct collect_move was;

    if (!self)
        return MIRE_BOUND(realloc)(old, size);
    mire__collect_as_move_begin(&was, self, old);
    return moved(self, site, &was, old, MIRE_BOUND(realloc)(old, size), size);
}

MIRE_SLOW static void *realloc_slow(void *old, size_t size)
{
    if (__builtin_expect(!MIRE_BOUND(realloc), 0))
        return realloc_unbound(old, size);
    return mire__site_passes(old, size) ? MIRE_BOUND(realloc)(old, size) : realloc_record(old, size);
}

/* The budget was spent for this call already: give it back, for the slow path spends it again. */
MIRE_SLOW static void *realloc_recount(void *old, size_t size)
{
    mire__locals_as_own()->collect_left += (int64_t)size;
    return realloc_slow(old, size);
}

MIRE_SLOW static void *realloc_move_fast(void *old, size_t size)
{
    struct collect_thread *self = begin_fast(size, MIRE_CALL_SP);
    struct collect_move was = {.known = true};
    struct heap_count *counts;
    enum fast_end end;
    void *block;

    if (__builtin_expect(!self, 0))
        return realloc_slow(old, size);
    end = mire__fast_free(&was.block, &counts, self, old, false);
    if (__builtin_expect(end == FAST_NOT, 0)) {
        mire__collect_as_return(self);
        return realloc_slow(old, size);
    }
    if (__builtin_expect(end == FAST_UNPUBLISHED, 0))
        mire__fast_publish(counts, NULL);
    block = MIRE_BOUND(realloc)(old, size);
    if (__builtin_expect(!block, 0))
        return moved(self, (struct self_frame)MIRE_CALL_SITE, &was, old, NULL, size);
    return done_fast(self, block);
}

MIRE_SLOW static void *realloc_fast(void *old, size_t size)
{
    struct collect_thread *self;

    if (old)
        return realloc_move_fast(old, size);
    self = begin_fast(size, MIRE_CALL_SP);
    if (__builtin_expect(!self, 0))
        return realloc_slow(NULL, size);
    return done_fast(self, MIRE_BOUND(malloc)(size)); /* the same by definition, and shorter */
}

MIRE_HIDDEN void *mire__heap_realloc(void *old, size_t size)
{
    FUNCTION(realloc) next = TARGET(covered, realloc);

    if (__builtin_expect(is_in_filter(old) || !mire__site_spend(size), 0))
        return TARGET(exceeded, realloc)(old, size);
    return next(old, size);
}

MIRE_SLOW static void *reallocarray_record(void *old, size_t count, size_t size)
{
    const struct self_frame site = MIRE_CALL_SITE;
    size_t bytes;
    bool fails = __builtin_mul_overflow(count, size, &bytes);
    struct collect_thread *self = fails ? NULL : mire__collect_as_enter(site.sp);
    struct collect_move was;

    if (!self)
        return MIRE_REAL(reallocarray)(old, count, size);
    mire__collect_as_move_begin(&was, self, old);
    return moved(self, site, &was, old, MIRE_REAL(reallocarray)(old, count, size), bytes);
}

MIRE_HIDDEN void *mire__heap_reallocarray(void *old, size_t count, size_t size)
{
    void *(*real)(void *, size_t, size_t) = MIRE_REAL(reallocarray);

    if (__builtin_expect(!real, 0))
        return mire__call_none();
    if (mire__site_passes(old, count * size))
        return real(old, count, size);
    return reallocarray_record(old, count, size);
}

MIRE_SLOW static void free_unpublished(void *block, struct heap_count *counts)
{
    mire__fast_publish(counts, block);
    MIRE_BOUND(free)(block);
}

MIRE_SLOW static void free_record(void *block)
{
    struct collect_thread *self = mire__collect_as_enter(MIRE_CALL_SP);

    if (self)
        mire__collect_as_free(self, block);
    MIRE_BOUND(free)(block);
    if (self)
        mire__collect_as_return(self);
}

MIRE_SLOW static void free_slow(void *block)
{
    if (__builtin_expect(!MIRE_BOUND(free), 0))
        free_unbound(block);
    else if (mire__site_passes(block, 0))
        MIRE_BOUND(free)(block);
    else
        free_record(block);
}

/* Left by jumps alone, so no register is saved. */
MIRE_FAST void free_fast_path(void *block, const struct collect_thread *self, bool one_phase)
{
    struct heap_count *counts = NULL;
    struct live_block was;
    enum fast_end end = mire__fast_free(&was, &counts, self, block, one_phase);

    if (__builtin_expect(end == FAST_DONE, 1))
        MIRE_BOUND(free)(block);
    else if (end == FAST_UNPUBLISHED)
        free_unpublished(block, counts);
    else
        free_slow(block);
}

/* Where blocks are spread over all phases, or the fast path may not apply. */
MIRE_SLOW static void free_any_phase(void *block)
{
    const struct collect_thread *self = mire__locals_as_own()->collect;

    if (__builtin_expect(self != NULL, 1))
        free_fast_path(block, self, false);
    else
        free_slow(block);
}

MIRE_SLOW static void free_fast(void *block)
{
    const struct collect_thread *self = mire__locals_as_own()->collect;

    if (__builtin_expect(!block, 0))
        MIRE_BOUND(free)(block);
    else if (__builtin_expect(self && mire__fast_is_one_phase(self), 1))
        free_fast_path(block, self, true);
    else
        free_any_phase(block);
}

MIRE_HIDDEN void mire__heap_free(void *block)
{
    FUNCTION(free) next = TARGET(covered, free);

    if (__builtin_expect(is_in_filter(block), 0))
        TARGET(exceeded, free)(block);
    else
        next(block);
}

#ifdef MIRE_HOOKS_INTERPOSE
/* clang-format off */
MIRE_INTERPOSE(malloc)
MIRE_INTERPOSE(calloc)
MIRE_INTERPOSE(realloc)
MIRE_INTERPOSE(reallocarray)
MIRE_INTERPOSE(free)
/* clang-format on */
#endif
