/*
 * zones_apple.c - see apple.h: the function pointers of malloc zones.
 *
 *     malloc --> libmalloc --> zone->malloc: hook --> the zone's own function --> [ another zone, of its own accord ]
 *
 * A zone may pass a call on to another one. Only the outermost call of a thread counts: is_allocating of its locals says
 * that one is under way. A zone's structure is read-only for most of its life; its page is opened for the change alone.
 */
#include "allochook/apple.h"

#include "allochook/call_site.h"

#include <mach/mach.h>
#include <mach/vm_map.h>
#include <malloc/malloc.h>
#include <stddef.h>

#define ZONES_MAX 64

struct zone {
    _Atomic(malloc_zone_t *) at; /* NULL: destroyed; the row serves another one then */
    malloc_zone_t real;          /* as the zone was; only the fields that its version has */
};

static struct zone zones[ZONES_MAX];
static _Atomic uint32_t zones_count;

/* A copy of a hooked zone, made by the app, is none of ours: it has the first zone's functions. */
static const malloc_zone_t *real_of(const malloc_zone_t *zone)
{
    uint32_t count = atomic_load_explicit(&zones_count, memory_order_acquire);

    for (uint32_t i = 0; i < count; i++)
        if (atomic_load_explicit(&zones[i].at, memory_order_relaxed) == zone)
            return &zones[i].real;
    return &zones[0].real;
}

/* ---- what each hook does around the real call ---- */

struct call {
    struct locals *own;
    bool is_outer; /* the thread's outermost */
};

static inline struct call begin(void)
{
    struct call call = {.own = mire__locals_as_own()};

    call.is_outer = !call.own->is_allocating;
    call.own->is_allocating = true;
    return call;
}

static inline void end(const struct call *call)
{
    if (call->is_outer)
        call->own->is_allocating = false;
}

MIRE_HIDDEN static void *done(const struct call *call, const struct self_frame *site, void *block, size_t size)
{
    struct collect_thread *self = NULL;

    if (block && call->is_outer && mire__collect_as_on() && !mire__site_is_covered(size))
        self = mire__collect_as_enter(site->sp);
    if (self) {
        mire__collect_as_return(self);
        mire__collect_as_alloc(self, site, block, size);
    }
    end(call);
    return block;
}

/* ---- blocks begin ---- */

/* clang-format off */
#define DEFINE_NEW(name, parameters, arguments, bytes)                                          \
    MIRE_HIDDEN static void *on_##name parameters                                                \
    {                                                                                            \
        const struct self_frame site = MIRE_CALL_SITE;                                           \
        const struct call call = begin();                                                        \
                                                                                                 \
        return done(&call, &site, real_of(zone)->name arguments, bytes);                         \
    }
DEFINE_NEW(malloc, (malloc_zone_t *zone, size_t size), (zone, size), size)
DEFINE_NEW(calloc, (malloc_zone_t *zone, size_t count, size_t size), (zone, count, size), count * size)
DEFINE_NEW(valloc, (malloc_zone_t *zone, size_t size), (zone, size), size)
DEFINE_NEW(memalign, (malloc_zone_t *zone, size_t alignment, size_t size), (zone, alignment, size), size)
DEFINE_NEW(malloc_with_options, (malloc_zone_t *zone, size_t alignment, size_t size, uint64_t options),
           (zone, alignment, size, options), size)
DEFINE_NEW(malloc_type_malloc, (malloc_zone_t *zone, size_t size, malloc_type_id_t type), (zone, size, type), size)
DEFINE_NEW(malloc_type_calloc, (malloc_zone_t *zone, size_t count, size_t size, malloc_type_id_t type),
           (zone, count, size, type), count * size)
DEFINE_NEW(malloc_type_memalign, (malloc_zone_t *zone, size_t alignment, size_t size, malloc_type_id_t type),
           (zone, alignment, size, type), size)
DEFINE_NEW(malloc_type_malloc_with_options,
           (malloc_zone_t *zone, size_t alignment, size_t size, uint64_t options, malloc_type_id_t type),
           (zone, alignment, size, options, type), size)
/* clang-format on */

MIRE_HIDDEN static unsigned on_batch_malloc(malloc_zone_t *zone, size_t size, void **out, unsigned count)
{
    const struct self_frame site = MIRE_CALL_SITE;
    const struct call call = begin();
    unsigned made = real_of(zone)->batch_malloc(zone, size, out, count);

    for (unsigned i = 0; i < made; i++) {
        const struct call one = {.own = call.own, .is_outer = call.is_outer};

        done(&one, &site, out[i], size);
    }
    end(&call);
    return made;
}

/* ---- blocks move ---- */

struct moving {
    struct collect_thread *self; /* NULL: nothing is recorded */
    struct collect_move was;
};

MIRE_HIDDEN static struct moving begin_move(const struct call *call, uint64_t sp, const void *old, size_t size)
{
    struct moving moving = {.self = NULL};

    if (call->is_outer && mire__collect_as_on() && !mire__site_passes(old, size))
        moving.self = mire__collect_as_enter(sp);
    if (!moving.self)
        return moving;
    mire__collect_as_return(moving.self);
    mire__collect_as_move_begin(&moving.was, moving.self, old);
    return moving;
}

MIRE_HIDDEN static void *end_move(const struct call *call, const struct moving *moving, const struct self_frame *site,
                                  const void *old, void *block, size_t size)
{
    if (moving->self)
        mire__collect_as_move_end(moving->self, site, &moving->was, old, block, size);
    end(call);
    return block;
}

MIRE_HIDDEN static void *on_realloc(malloc_zone_t *zone, void *old, size_t size)
{
    const struct self_frame site = MIRE_CALL_SITE;
    const struct call call = begin();
    const struct moving moving = begin_move(&call, site.sp, old, size);

    return end_move(&call, &moving, &site, old, real_of(zone)->realloc(zone, old, size), size);
}

MIRE_HIDDEN static void *on_malloc_type_realloc(malloc_zone_t *zone, void *old, size_t size, malloc_type_id_t type)
{
    const struct self_frame site = MIRE_CALL_SITE;
    const struct call call = begin();
    const struct moving moving = begin_move(&call, site.sp, old, size);

    return end_move(&call, &moving, &site, old, real_of(zone)->malloc_type_realloc(zone, old, size, type), size);
}

/* ---- blocks end: forgotten before the zone has them back ---- */

/* clang-format off */
#define DEFINE_END(name, parameters, arguments)                                                  \
    MIRE_HIDDEN static void on_##name parameters                                                 \
    {                                                                                            \
        const uint64_t sp = MIRE_CALL_SP;                                                        \
        const struct call call = begin();                                                        \
                                                                                                 \
        if (call.is_outer)                                                                       \
            mire__site_end(block, sp);                                                           \
        real_of(zone)->name arguments;                                                           \
        end(&call);                                                                              \
    }
DEFINE_END(free, (malloc_zone_t *zone, void *block), (zone, block))
DEFINE_END(free_definite_size, (malloc_zone_t *zone, void *block, size_t size), (zone, block, size))
DEFINE_END(try_free_default, (malloc_zone_t *zone, void *block), (zone, block))
/* clang-format on */

MIRE_HIDDEN static void on_batch_free(malloc_zone_t *zone, void **blocks, unsigned count)
{
    const uint64_t sp = MIRE_CALL_SP;
    const struct call call = begin();

    for (unsigned i = 0; call.is_outer && i < count; i++)
        mire__site_end(blocks[i], sp);
    real_of(zone)->batch_free(zone, blocks, count);
    end(&call);
}

/* The blocks of a zone that is destroyed stay recorded until their addresses are used again. */
static void on_destroy(malloc_zone_t *zone)
{
    uint32_t count = atomic_load(&zones_count);
    void (*real)(malloc_zone_t *) = real_of(zone)->destroy;

    for (uint32_t i = 1; i < count; i++)
        if (atomic_load(&zones[i].at) == zone)
            atomic_store(&zones[i].at, NULL);
    real(zone);
}

/* ---- the pointers ---- */

/* Fields that a zone of this version has. */
static size_t bytes_of(const malloc_zone_t *zone)
{
    if (zone->version >= 16)
        return sizeof(*zone);
    if (zone->version >= 15)
        return offsetof(malloc_zone_t, malloc_type_malloc);
    if (zone->version >= 13)
        return offsetof(malloc_zone_t, malloc_with_options);
    if (zone->version >= 6)
        return offsetof(malloc_zone_t, pressure_relief);
    return zone->version >= 5 ? offsetof(malloc_zone_t, free_definite_size) : offsetof(malloc_zone_t, memalign);
}

/* A field that the zone leaves out stays so. */
#define SET(name)                   \
    do {                            \
        if (real->name)             \
            zone->name = on_##name; \
    } while (0)

static void set_hooks(malloc_zone_t *zone, const malloc_zone_t *real)
{
    SET(malloc);
    SET(calloc);
    SET(valloc);
    SET(free);
    SET(realloc);
    SET(destroy);
    SET(batch_malloc);
    SET(batch_free);
    SET(memalign);
    SET(free_definite_size);
    SET(try_free_default);
    SET(malloc_with_options);
    SET(malloc_type_malloc);
    SET(malloc_type_calloc);
    SET(malloc_type_realloc);
    SET(malloc_type_memalign);
    SET(malloc_type_malloc_with_options);
}
#undef SET

/* A field that another tool has replaced since stays the tool's, which calls ours. */
#define TAKE(name)                   \
    do {                             \
        if (zone->name == on_##name) \
            zone->name = real->name; \
    } while (0)

static void set_real(malloc_zone_t *zone, const malloc_zone_t *real)
{
    TAKE(malloc);
    TAKE(calloc);
    TAKE(valloc);
    TAKE(free);
    TAKE(realloc);
    TAKE(destroy);
    TAKE(batch_malloc);
    TAKE(batch_free);
    TAKE(memalign);
    TAKE(free_definite_size);
    TAKE(try_free_default);
    TAKE(malloc_with_options);
    TAKE(malloc_type_malloc);
    TAKE(malloc_type_calloc);
    TAKE(malloc_type_realloc);
    TAKE(malloc_type_memalign);
    TAKE(malloc_type_malloc_with_options);
}
#undef TAKE

/* Change a zone's pointers, on pages that are opened for it and closed as they were. Returns false if they stay closed. */
static bool change(malloc_zone_t *zone, const malloc_zone_t *real, void (*set)(malloc_zone_t *, const malloc_zone_t *))
{
    vm_region_submap_info_data_64_t info;
    mach_msg_type_number_t count = VM_REGION_SUBMAP_INFO_COUNT_64;
    vm_address_t at = (vm_address_t)zone;
    vm_size_t size = 0, bytes = bytes_of(zone);
    natural_t depth = 64; /* the innermost map */

    if (vm_region_recurse_64(mach_task_self(), &at, &size, &depth, (vm_region_recurse_info_t)&info, &count) !=
        KERN_SUCCESS)
        return false;
    if (!(info.protection & VM_PROT_WRITE) &&
        vm_protect(mach_task_self(), (vm_address_t)zone, bytes, false, VM_PROT_READ | VM_PROT_WRITE) != KERN_SUCCESS)
        return false;
    set(zone, real);
    if (!(info.protection & VM_PROT_WRITE))
        vm_protect(mach_task_self(), (vm_address_t)zone, bytes, false, info.protection);
    return true;
}

/* The row of a zone: its own, otherwise a free one; NULL: there is no room. */
static struct zone *row_of(const malloc_zone_t *zone)
{
    uint32_t count = atomic_load(&zones_count);
    struct zone *spare = count < ZONES_MAX ? &zones[count] : NULL;

    for (uint32_t i = 0; i < count; i++) {
        if (atomic_load(&zones[i].at) == zone)
            return &zones[i];
        if (!atomic_load(&zones[i].at))
            spare = &zones[i];
    }
    return spare;
}

/*
 * A zone is read once. Afterwards another tool may have replaced our pointers by its own, which lead here: they must not
 * become the real ones.
 */
static bool hook(malloc_zone_t *zone)
{
    struct zone *row = row_of(zone);

    if (!row)
        return false;
    if (atomic_load(&row->at) == zone)
        return zone->malloc != row->real.malloc || change(zone, &row->real, set_hooks);
    for (size_t i = 0; i < bytes_of(zone) / sizeof(void *); i++)
        ((void **)(void *)&row->real)[i] = ((void *const *)(const void *)zone)[i];
    atomic_store(&row->at, zone);
    if (row == &zones[atomic_load(&zones_count)])
        atomic_fetch_add(&zones_count, 1);
    return change(zone, &row->real, set_hooks);
}

enum mire_err mire__zones_hook(void)
{
    vm_address_t *list = NULL;
    unsigned count = 0, hooked = 0;

    if (malloc_get_all_zones(mach_task_self(), NULL, &list, &count) != KERN_SUCCESS)
        return MIRE_E_SYSTEM;
    for (unsigned i = 0; i < count; i++)
        hooked += hook((malloc_zone_t *)list[i]);
    return hooked > 0 ? MIRE_OK : MIRE_E_SYSTEM;
}

void mire__zones_unhook(void)
{
    uint32_t count = atomic_load(&zones_count);

    for (uint32_t i = 0; i < count; i++) {
        malloc_zone_t *zone = atomic_load(&zones[i].at);

        if (zone)
            change(zone, &zones[i].real, set_real);
    }
}
