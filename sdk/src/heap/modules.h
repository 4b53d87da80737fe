/*
 * modules.h - loaded and unloaded modules: a stack taken in a library keeps the library's name after the library was
 * unloaded and another one was loaded at the same addresses. Reports call a module an image.
 *
 * Add an image before a stack with its addresses is recorded; a pc that is first seen without an image never gets one.
 */
#ifndef MIRE_HEAP_MODULES_H
#define MIRE_HEAP_MODULES_H

#include "heap/tables.h"

struct heap_image_facts {
    uint64_t start, end; /* span of addresses, end excluded */
    uint64_t load;       /* load bias */
    uint64_t base;       /* where the module begins in the file's program headers */
    const uint8_t *id;   /* build id; may be NULL */
    uint32_t id_size;    /* 0..32; a longer id is cut */
    const char *path;    /* borrowed, ends with a zero byte; "" for code without a file */
};

/*
 * Record a loaded image. The entry of a known image is reused, also if the image returns to the addresses from which it
 * was unloaded. Overlapped images count as unloaded.
 *   index_out  may be NULL
 * Returns MIRE_OK, MIRE_E_RANGE (start >= end, nothing done), MIRE_E_FULL (table full or busy; counted).
 * Thread: any, inside its slot or without one; takes up to a millisecond.
 */
enum mire_err mire__images_as_add(uint32_t *index_out, struct heap *heap, const struct heap_image_facts *facts);

/* Record that the images within [start, end) were unloaded: their pcs end. heap->generation grows. */
void mire__images_as_gone(struct heap *heap, uint64_t start, uint64_t end);

/* The index of the image loaded at `address`, MIRE_HEAP_NO_IMAGE if none. */
uint32_t mire__images_as_find(const struct heap *heap, uint64_t address);

#endif
