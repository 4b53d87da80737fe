/* modules.c - see modules.h. Signal-safe. */
#include "heap/modules.h"

#include "heap/inside.h"

#include <string.h>

static bool is_gone(const struct heap_image *image)
{
    return atomic_load_explicit(&image->gone, memory_order_relaxed) != 0;
}

uint32_t mire__images_as_find(const struct heap *heap, uint64_t address)
{
    uint32_t count = atomic_load_explicit(&heap->header->images_used, memory_order_acquire);

    for (uint32_t i = count; i > 0; i--) {
        const struct heap_image *image = &heap->images[i - 1];

        if (address >= image->start && address < image->end && !is_gone(image))
            return i - 1;
    }
    return MIRE_HEAP_NO_IMAGE;
}

static bool is_same(const struct heap *heap, const struct heap_image *image, const struct heap_image_facts *facts,
                    uint32_t id_size, uint32_t path_bytes)
{
    return image->start == facts->start && image->end == facts->end && image->load == facts->load &&
           image->base == facts->base && image->id_size == id_size &&
           memcmp(image->id, facts->id ? facts->id : image->id, id_size) == 0 && image->path_bytes == path_bytes &&
           memcmp(heap->paths + image->path_at, facts->path, path_bytes) == 0;
}

/* Mark pcs: those of one image as valid again (gone false), or all within [start, end) as gone. */
static void mark_places(struct heap *heap, uint64_t start, uint64_t end, uint32_t image, bool gone)
{
    uint32_t count = atomic_load_explicit(&heap->header->pcs_used, memory_order_acquire);

    for (uint32_t i = 1; i < count; i++) {
        uint64_t pc = atomic_load_explicit(&heap->pcs[i], memory_order_relaxed);
        uint64_t address = pc & MIRE_HEAP_ADDRESS_MASK;

        if (pc == 0 || address < start || address >= end)
            continue;
        if (gone)
            atomic_fetch_or_explicit(&heap->pcs[i], MIRE_HEAP_PC_GONE, memory_order_relaxed);
        else if ((pc >> MIRE_HEAP_ADDRESS_BITS & 0x7fff) == image)
            atomic_fetch_and_explicit(&heap->pcs[i], ~MIRE_HEAP_PC_GONE, memory_order_relaxed);
    }
}

/* Everything that overlaps [start, end) is gone. */
static void leave(struct heap *heap, uint64_t start, uint64_t end)
{
    uint32_t count = atomic_load_explicit(&heap->header->images_used, memory_order_relaxed);
    bool any = false;

    for (uint32_t i = 0; i < count; i++) {
        struct heap_image *image = &heap->images[i];

        if (image->start < end && start < image->end && !is_gone(image)) {
            atomic_store_explicit(&image->gone, 1, memory_order_release);
            mark_places(heap, image->start, image->end, i, true);
            any = true;
        }
    }
    if (any)
        atomic_fetch_add_explicit(&heap->generation, 1, memory_order_release);
}

/* Append it. False: no room. */
static bool append(struct heap *heap, const struct heap_image_facts *facts, uint32_t id_size, uint32_t path_bytes)
{
    struct heap_header *header = heap->header;
    uint32_t at = atomic_load_explicit(&header->images_used, memory_order_relaxed);
    uint32_t path_at = atomic_load_explicit(&header->paths_used_bytes, memory_order_relaxed);
    struct heap_image *image = &heap->images[at];

    if (at == MIRE_HEAP_IMAGES_MAX || path_bytes > MIRE_HEAP_PATHS_BYTES - path_at ||
        !mire__heap_claim(heap, MIRE_HEAP_IMAGES, (at + 1) * sizeof(*image)) ||
        !mire__heap_claim(heap, MIRE_HEAP_PATHS, path_at + path_bytes))
        return false;
    memcpy(heap->paths + path_at, facts->path, path_bytes);
    image->start = facts->start;
    image->end = facts->end;
    image->load = facts->load;
    image->base = facts->base;
    image->path_at = path_at;
    image->path_bytes = path_bytes;
    image->id_size = (uint8_t)id_size;
    if (id_size)
        memcpy(image->id, facts->id, id_size);
    atomic_store_explicit(&header->paths_used_bytes, path_at + path_bytes, memory_order_relaxed);
    atomic_store_explicit(&header->images_used, at + 1, memory_order_release);
    return true;
}

static enum mire_err add(uint32_t *index_out, struct heap *heap, const struct heap_image_facts *facts, uint32_t id_size,
                         uint32_t path_bytes)
{
    uint32_t count = atomic_load_explicit(&heap->header->images_used, memory_order_relaxed);

    for (uint32_t i = 0; i < count; i++) {
        struct heap_image *image = &heap->images[i];

        if (!is_same(heap, image, facts, id_size, path_bytes))
            continue;
        *index_out = i;
        if (is_gone(image)) {
            leave(heap, facts->start, facts->end);
            mark_places(heap, image->start, image->end, i, false);
            atomic_store_explicit(&image->gone, 0, memory_order_release);
        }
        return MIRE_OK;
    }
    leave(heap, facts->start, facts->end);
    *index_out = count;
    return append(heap, facts, id_size, path_bytes) ? MIRE_OK : MIRE_E_FULL;
}

enum mire_err mire__images_as_add(uint32_t *index_out, struct heap *heap, const struct heap_image_facts *facts)
{
    uint32_t id_size = facts->id ? facts->id_size : 0, path_bytes = (uint32_t)strlen(facts->path), index;
    enum mire_err err = MIRE_E_FULL;

    if (facts->start >= facts->end)
        return MIRE_E_RANGE;
    if (id_size > sizeof(((struct heap_image *)0)->id))
        id_size = sizeof(((struct heap_image *)0)->id);
    if (mire__heap_lock(&heap->images_lock.taken)) {
        err = add(&index, heap, facts, id_size, path_bytes);
        mire__heap_unlock(&heap->images_lock.taken);
    }
    if (err)
        mire__heap_as_drop(heap, MIRE_HEAP_DROP_IMAGE);
    else if (index_out)
        *index_out = index;
    return err;
}

void mire__images_as_gone(struct heap *heap, uint64_t start, uint64_t end)
{
    if (!mire__heap_lock(&heap->images_lock.taken)) {
        mire__heap_as_drop(heap, MIRE_HEAP_DROP_IMAGE);
        return;
    }
    leave(heap, start, end);
    mire__heap_unlock(&heap->images_lock.taken);
}
