/*
 * categories.h - the categories of live memory: size classes of heap blocks, kinds of mappings, object classes.
 *
 *     0 .. 62      "Malloc 16", "Malloc 32", ... heap blocks by size: up to 128 bytes in steps of 16, up to 8 KiB four
 *                  classes to each doubling, then one
 *     64 .. 103    mappings by kind: "VM: anonymous", "VM: file", ...; on Apple's systems also by the tag that the maker of
 *                  a region gave it: "VM: ImageIO", "VM: CoreAnimation", ...
 *     128 + c      objects of class c, 1 and above, by the name the app gave it
 *
 * A tagged block counts as live in its class, and no longer in its size class. Numbers hold within one run's file;
 * reports use names. This header depends on file.h alone.
 */
#ifndef MIRE_HEAPREAD_CATEGORIES_H
#define MIRE_HEAPREAD_CATEGORIES_H

#include "heapread/file.h"

#include <stddef.h>

#define MIRE_CATEGORY_KINDS   64u
#define MIRE_CATEGORY_CLASSES 128u
#define MIRE_CATEGORIES_MAX   (MIRE_CATEGORY_CLASSES + MIRE_HEAP_CLASSES_MAX)

/* Kinds of mappings. */
enum heap_kind {
    MIRE_KIND_ANONYMOUS,
    MIRE_KIND_FILE,      /* private or shared, of a file */
    MIRE_KIND_STACK,     /* of a thread */
    MIRE_KIND_SHARED,    /* anonymous or memfd, shared */
    MIRE_KIND_DEVICE,    /* of a device file: GPU, ... */
    MIRE_KIND_BRK,       /* the break; malloc's blocks lie in it, so it is not to be added to them */
    MIRE_KIND_ALLOCATOR, /* mapped by an allocator for its blocks; likewise */
    MIRE_KIND_OTHER,

    /* Regions with a tag; no allocator's. The names are those of categories.c. */
    MIRE_KIND_TAGGED,
    MIRE_KIND_RESERVED = MIRE_HEAP_KINDS /* addresses without memory, until mprotect: in no report */
};

/* The size class of a block of so many bytes, 0..MIRE_HEAP_SIZES-1. */
static inline uint32_t mire__size_class(uint64_t size_bytes)
{
    uint32_t log, class;

    if (size_bytes <= 128)
        return (uint32_t)(size_bytes - (size_bytes != 0)) >> 4;
    log = 63u - (uint32_t)__builtin_clzll(size_bytes - 1); /* 7: 129..256 */
    if (log < 13)
        return 8 + (log - 7) * 4 + ((uint32_t)((size_bytes - 1) >> (log - 2)) & 3);
    class = 32 + (log - 13);
    return class < MIRE_HEAP_SIZES ? class : MIRE_HEAP_SIZES - 1;
}

/* The largest size of a size class, in bytes; the last one has no bound. */
static inline uint64_t mire__size_class_bytes(uint32_t class)
{
    if (class < 8)
        return 16 * (uint64_t)(class + 1);
    if (class < 32) {
        uint32_t log = 7 + (class - 8) / 4;

        return (UINT64_C(1) << log) + (((class - 8) % 4 + UINT64_C(1)) << (log - 2));
    }
    return UINT64_C(1) << (14 + class - 32);
}

#define MIRE_CATEGORY_NAME_BYTES MIRE_HEAP_NAME_BYTES

/*
 * The name of a size class ("Malloc 160", "Malloc 16 KiB") or kind ("VM: stack").
 *   out  always ends with a zero byte; empty if there is no such category
 */
void mire__category_name(char out[MIRE_CATEGORY_NAME_BYTES], uint32_t category);

#endif
