/*
 * libmalloc.c - libmalloc as libmire sees it: a library for macOS, above the C library's malloc. A program's calls go to the
 * first zone, which keeps small blocks and passes large ones on to a second, as the nano zone does; a block is freed by the
 * zone that has it. Zones are read-only, and malloc_logger is called as libmalloc calls it: after an allocation and a move,
 * before a free.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PAGE         4096u
#define NANO_BYTES   256u
#define VERSION      16u
#define READ         1
#define WRITE        2
#define LOG_ALLOCATE 2u
#define LOG_FREE     4u
#define LOG_ZONE     8u
#define LOG_CLEARED  64u
#define EXPORT       __attribute__((visibility("default"), noinline))
#define CODE         __attribute__((noinline))

/* Of the machine. */
extern void *machine_malloc(size_t size), *machine_aligned(size_t alignment, size_t size), machine_free(void *block);
extern size_t machine_usable(const void *block);
extern void *machine_pages(size_t size);
extern int mprotect(void *at, size_t size, int protection);
extern void *memcpy(void *to, const void *from, size_t size), *memset(void *at, int value, size_t size);

/* malloc/malloc.h */
struct zone {
    void *reserved[2];
    size_t (*size)(struct zone *, const void *);
    void *(*malloc)(struct zone *, size_t);
    void *(*calloc)(struct zone *, size_t, size_t);
    void *(*valloc)(struct zone *, size_t);
    void (*free)(struct zone *, void *);
    void *(*realloc)(struct zone *, void *, size_t);
    void (*destroy)(struct zone *);
    const char *name;
    unsigned (*batch_malloc)(struct zone *, size_t, void **, unsigned);
    void (*batch_free)(struct zone *, void **, unsigned);
    void *introspect;
    unsigned version;
    void *(*memalign)(struct zone *, size_t, size_t);
    void (*free_definite_size)(struct zone *, void *, size_t);
    size_t (*pressure_relief)(struct zone *, size_t);
    int (*claimed_address)(struct zone *, void *);
    void (*try_free_default)(struct zone *, void *);
    void *(*malloc_with_options)(struct zone *, size_t, size_t, uint64_t);
    void *(*malloc_type_malloc)(struct zone *, size_t, uint64_t);
    void *(*malloc_type_calloc)(struct zone *, size_t, size_t, uint64_t);
    void *(*malloc_type_realloc)(struct zone *, void *, size_t, uint64_t);
    void *(*malloc_type_memalign)(struct zone *, size_t, size_t, uint64_t);
    void *(*malloc_type_malloc_with_options)(struct zone *, size_t, size_t, uint64_t, uint64_t);
};

typedef void logger_fn(uint32_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uint32_t);

__attribute__((visibility("default"))) logger_fn *malloc_logger;
static struct zone *zones[2]; /* nano, helper */

/* The nano zone's blocks are marked: they end at an odd multiple of 16 bytes. */
static bool is_nano(const void *block)
{
    return machine_usable(block) < NANO_BYTES;
}

CODE static size_t zone_size(struct zone *zone, const void *block)
{
    return is_nano(block) == (zone == zones[0]) ? machine_usable(block) : 0;
}

/* Large blocks are the helper's: it is called by its pointers, as libmalloc does. */
CODE static void *zone_malloc(struct zone *zone, size_t size)
{
    if (zone == zones[0] && size >= NANO_BYTES - 16)
        return zones[1]->malloc(zones[1], size);
    return machine_malloc(zone == zones[1] && size < NANO_BYTES ? NANO_BYTES : size);
}

CODE static void *zone_calloc(struct zone *zone, size_t count, size_t size)
{
    size_t bytes;
    void *block = __builtin_mul_overflow(count, size, &bytes) ? NULL : zone_malloc(zone, bytes);

    return block ? memset(block, 0, bytes) : NULL;
}

CODE static void *zone_memalign(struct zone *zone, size_t alignment, size_t size)
{
    if (zone == zones[0])
        return zones[1]->memalign(zones[1], alignment, size);
    return machine_aligned(alignment, (size + alignment + NANO_BYTES) / alignment * alignment);
}

CODE static void *zone_valloc(struct zone *zone, size_t size)
{
    return zone_memalign(zone, PAGE, size);
}

CODE static void zone_free(struct zone *zone, void *block)
{
    (void)zone;
    machine_free(block);
}

CODE static void zone_try_free(struct zone *zone, void *block)
{
    if (is_nano(block))
        machine_free(block);
    else
        zones[1]->free(zones[1], block);
    (void)zone;
}

CODE static void *zone_realloc(struct zone *zone, void *old, size_t size)
{
    size_t had = machine_usable(old);
    void *block = zone_malloc(zone, size);

    if (!block)
        return NULL;
    memcpy(block, old, had < size ? had : size);
    zone_try_free(zone, old);
    return block;
}

CODE static unsigned zone_batch_malloc(struct zone *zone, size_t size, void **out, unsigned count)
{
    unsigned made = 0;

    while (made < count && (out[made] = zone_malloc(zone, size)))
        made++;
    return made;
}

CODE static void zone_batch_free(struct zone *zone, void **blocks, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        zone_try_free(zone, blocks[i]);
}

CODE static void *zone_typed(struct zone *zone, size_t size, uint64_t type)
{
    (void)type;
    return zone_malloc(zone, size);
}

CODE static void zone_free_sized(struct zone *zone, void *block, size_t size)
{
    (void)size;
    zone_free(zone, block);
}

static struct zone *make_zone(const char *name)
{
    const struct zone made = {.size = zone_size,
                              .malloc = zone_malloc,
                              .calloc = zone_calloc,
                              .valloc = zone_valloc,
                              .free = zone_free,
                              .realloc = zone_realloc,
                              .name = name,
                              .batch_malloc = zone_batch_malloc,
                              .batch_free = zone_batch_free,
                              .version = VERSION,
                              .memalign = zone_memalign,
                              .free_definite_size = zone_free_sized,
                              .try_free_default = zone_try_free,
                              .malloc_type_malloc = zone_typed};
    struct zone *zone = machine_pages(PAGE);

    *zone = made;
    mprotect(zone, PAGE, READ);
    return zone;
}

__attribute__((constructor)) static void make_zones(void)
{
    zones[0] = make_zone("DefaultMallocZone");
    zones[1] = make_zone("MallocHelperZone");
}

static struct zone *zone_of(const void *block)
{
    return zones[!is_nano(block)];
}

/* ---- the calls of a program ---- */

CODE static void tell(uint32_t type, const struct zone *zone, uintptr_t first, uintptr_t second, const void *result)
{
    if (malloc_logger)
        malloc_logger(type | LOG_ZONE, (uintptr_t)zone, first, second, (uintptr_t)result, 0);
}

EXPORT void *malloc_zone_malloc(struct zone *zone, size_t size)
{
    void *block = zone->malloc(zone, size);

    tell(LOG_ALLOCATE, zone, size, 0, block);
    return block;
}

EXPORT void *malloc(size_t size)
{
    return malloc_zone_malloc(zones[0], size);
}

EXPORT void *calloc(size_t count, size_t size)
{
    void *block = zones[0]->calloc(zones[0], count, size);

    tell(LOG_ALLOCATE | LOG_CLEARED, zones[0], count * size, 0, block);
    return block;
}

EXPORT void free(void *block)
{
    struct zone *zone = block ? zone_of(block) : NULL;

    if (!zone)
        return;
    tell(LOG_FREE, zone, (uintptr_t)block, 0, NULL);
    if (zone == zones[0])
        zone->try_free_default(zone, block);
    else
        zone->free(zone, block);
}

EXPORT void *realloc(void *old, size_t size)
{
    struct zone *zone = old ? zone_of(old) : zones[0];
    void *block;

    if (!old)
        return malloc(size);
    block = zone->realloc(zone, old, size);
    tell(LOG_ALLOCATE | LOG_FREE, zone, (uintptr_t)old, size, block);
    return block;
}

EXPORT void *aligned_alloc(size_t alignment, size_t size)
{
    void *block = zones[0]->memalign(zones[0], alignment, size);

    tell(LOG_ALLOCATE, zones[0], size, 0, block);
    return block;
}

EXPORT void *malloc_type_malloc(size_t size, uint64_t type)
{
    void *block = zones[0]->malloc_type_malloc(zones[0], size, type);

    tell(LOG_ALLOCATE, zones[0], size, 0, block);
    return block;
}

EXPORT unsigned malloc_zone_batch_malloc(struct zone *zone, size_t size, void **out, unsigned count)
{
    unsigned made = zone->batch_malloc(zone, size, out, count);

    for (unsigned i = 0; i < made; i++)
        tell(LOG_ALLOCATE, zone, size, 0, out[i]);
    return made;
}

EXPORT void malloc_zone_batch_free(struct zone *zone, void **blocks, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        tell(LOG_FREE, zone, (uintptr_t)blocks[i], 0, NULL);
    zone->batch_free(zone, blocks, count);
}

EXPORT struct zone *malloc_default_zone(void)
{
    return zones[0];
}

EXPORT int malloc_get_all_zones(uint32_t task, void *reader, struct zone ***out, unsigned *count)
{
    (void)task;
    (void)reader;
    *out = zones;
    *count = 2;
    return 0;
}
