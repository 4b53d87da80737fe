/*
 * logger_apple.c - see apple.h: libmalloc's malloc_logger.
 *
 * libmalloc tells of a new block after the call, of one that ends before it, and of one that moves after it. So when a
 * move is told, another thread may have been given the old address, and have told that. Such a thread finds the old
 * block in the tables: it ends the block itself, and notes the address, at which the move then ends nothing.
 */
#include "allochook/apple.h"

#include "allochook/call_site.h"
#include "heap/heap.h"
#include "platform/platform.h"

#include <dlfcn.h>

/* Bits of an event's type (stack_logging.h of libmalloc's source). */
#define EVENT_ALLOCATE   2u
#define EVENT_DEALLOCATE 4u

typedef void logger_fn(uint32_t type, uintptr_t zone, uintptr_t first, uintptr_t second, uintptr_t result,
                       uint32_t skip);

/* Addresses that were handed out again before their moves were told, by hash, under the lock of their row. */
#define ROWS       1024u
#define ROW_PLACES 4u
#define SPINS      64u
#define YIELDS     10000u

static struct reused {
    _Atomic uint32_t locked;
    struct {
        uintptr_t address;
        uint32_t moves; /* that are to be told; 0: the place is free */
    } places[ROW_PLACES];
} reused[ROWS];

static _Atomic(logger_fn *) *place; /* libmalloc's variable; NULL: not looked up yet */
static _Atomic(logger_fn *) former; /* its listener before this one */
static _Atomic bool listening;
static bool installed; /* perhaps behind another listener */

/* Its holder may be waiting for a processor, or be interrupted here by a signal handler: then the caller goes on without. */
static bool lock(struct reused *row)
{
    for (uint32_t i = 0; i < SPINS + YIELDS; i++) {
        if (atomic_exchange_explicit(&row->locked, 1, memory_order_acquire) == 0)
            return true;
        if (i >= SPINS)
            mire__yield();
    }
    return false;
}

/* One more move, or one less, is to be told of an address. Returns false if there was none less, or no room. */
static bool count_move(struct reused *row, uintptr_t address, bool more)
{
    uint32_t spare = ROW_PLACES;

    for (uint32_t i = 0; i < ROW_PLACES; i++) {
        if (row->places[i].moves == 0)
            spare = i;
        else if (row->places[i].address == address) {
            row->places[i].moves += more ? 1 : UINT32_MAX;
            return true;
        }
    }
    if (!more || spare == ROW_PLACES)
        return false;
    row->places[spare].address = address;
    row->places[spare].moves = 1;
    return true;
}

/* Take a block out of the tables. */
static struct collect_move take_out(const void *block, uint64_t sp)
{
    struct collect_move was = {.known = false};
    struct collect_thread *self = mire__collect_as_may_know(block) ? mire__collect_as_enter(sp) : NULL;
    struct heap *heap = NULL;

    if (self) {
        mire__collect_as_return(self);
        heap = mire__collect_as_open(self);
    }
    if (!heap)
        return was;
    was.known = mire__block_as_clear(&was.block, heap, self->slot, (uintptr_t)block & MIRE_HEAP_ADDRESS_MASK);
    mire__collect_as_close(self);
    return was;
}

/* A block begins at an address, or a move away from it is told: end the block that was there, once. */
static struct collect_move leave_address(const void *block, uint64_t sp, bool by_move)
{
    struct reused *row = &reused[((uintptr_t)block >> 4) * 0x9e3779b97f4a7c15ull >> 54];
    struct collect_move was = {.known = false};
    const bool locked = lock(row);

    if (!by_move || !count_move(row, (uintptr_t)block, false))
        was = take_out(block, sp);
    if (was.known && !by_move)
        count_move(row, (uintptr_t)block, true);
    if (locked)
        atomic_store_explicit(&row->locked, 0, memory_order_release);
    return was;
}

MIRE_HIDDEN static void begin_block(const struct self_frame *site, void *block, size_t size)
{
    struct collect_thread *self = mire__site_is_covered(size) ? NULL : mire__collect_as_enter(site->sp);

    if (!self)
        return;
    mire__collect_as_return(self);
    mire__collect_as_alloc(self, site, block, size);
}

/* A move that failed leaves the block. Its class goes with it. */
MIRE_HIDDEN static void move_block(const struct self_frame *site, void *old, void *block, size_t size)
{
    struct collect_move was = {.known = false};
    struct collect_thread *self;

    if (!old || (!block && size > 0))
        return;
    was = old == block ? take_out(old, site->sp) : leave_address(old, site->sp, true);
    if (!block)
        return;
    if (block != old)
        leave_address(block, site->sp, false);
    self = !was.known && mire__site_is_covered(size) ? NULL : mire__collect_as_enter(site->sp);
    if (!self)
        return;
    mire__collect_as_return(self);
    mire__collect_as_move_end(self, site, &was, old, block, size);
}

/* Called by libmalloc on the thread that allocates. In a move, `first` is the old block and `second` the new size. */
MIRE_HIDDEN static void on_event(uint32_t type, uintptr_t zone, uintptr_t first, uintptr_t second, uintptr_t result,
                                 uint32_t skip)
{
    const struct self_frame site = MIRE_CALL_SITE;
    logger_fn *next = atomic_load_explicit(&former, memory_order_acquire);

    if (next)
        next(type, zone, first, second, result, skip + 1);
    if (!atomic_load_explicit(&listening, memory_order_acquire) || !mire__collect_as_on())
        return;
    switch (type & (EVENT_ALLOCATE | EVENT_DEALLOCATE)) {
    case EVENT_ALLOCATE:
        if (result && mire__collect_as_may_know((const void *)result))
            leave_address((const void *)result, site.sp, false);
        if (result)
            begin_block(&site, (void *)result, first);
        break;
    case EVENT_DEALLOCATE:
        mire__site_end((const void *)first, site.sp);
        break;
    case EVENT_ALLOCATE | EVENT_DEALLOCATE:
        move_block(&site, (void *)first, (void *)result, second);
        break;
    default:
        break;
    }
}

enum mire_err mire__logger_hook(void)
{
    if (!place)
        place = dlsym(RTLD_DEFAULT, "malloc_logger");
    if (!place)
        return MIRE_E_SYSTEM;
    atomic_store(&listening, true);
    if (installed)
        return MIRE_OK;
    atomic_store(&former, atomic_load(place));
    atomic_store(place, on_event);
    installed = true;
    return MIRE_OK;
}

void mire__logger_unhook(void)
{
    logger_fn *own = on_event;

    atomic_store(&listening, false);
    if (place && installed && atomic_compare_exchange_strong(place, &own, atomic_load(&former)))
        installed = false;
}
