/* blackbox.c - see blackbox.h. Signal-safe: arithmetic on the caller's memory only. */
#include "ring/blackbox.h"

void mire__blackbox_init(struct blackbox *box, const struct blackbox_facts *facts)
{
    box->version = MIRE_BLACKBOX_VERSION;
    box->size_bytes = sizeof(*box);
    box->facts = *facts;
    mire__ring_reset(&box->ring, facts->start_mono_ns);
    atomic_thread_fence(memory_order_release);
    *(volatile uint64_t *)&box->magic = MIRE_BLACKBOX_MAGIC;
}

enum mire_err mire__blackbox_check(const struct blackbox *box, size_t size_bytes)
{
    if (size_bytes < sizeof(*box) || box->magic != MIRE_BLACKBOX_MAGIC)
        return MIRE_E_FORMAT;
    if (box->version != MIRE_BLACKBOX_VERSION || box->size_bytes != sizeof(*box))
        return MIRE_E_FORMAT;
    return MIRE_OK;
}

void mire__blackbox_hang(struct hang *out, const struct blackbox *box)
{
    uint64_t left_ns = atomic_load_explicit(&box->left_ns, memory_order_acquire);

    *out = box->hangs[atomic_load_explicit(&box->hang_active, memory_order_acquire) & 1];
    out->thread_name[sizeof(out->thread_name) - 1] = '\0';
    if (out->state == MIRE_HANG_OPEN && left_ns != 0) {
        out->state = MIRE_HANG_ENDED;
        out->exited = 1;
        out->end_ns = left_ns;
    }
}

void mire__blackbox_set_hang(struct blackbox *box, const struct hang *hang)
{
    uint32_t other = (atomic_load_explicit(&box->hang_active, memory_order_relaxed) & 1) ^ 1;

    box->hangs[other] = *hang;
    atomic_store_explicit(&box->hang_active, other, memory_order_release);
}

bool mire__hang_counts(const struct hang *hang, uint32_t threshold_ms)
{
    uint64_t until_ns = hang->state == MIRE_HANG_ENDED ? hang->end_ns : hang->last_seen_ns;

    if (hang->state != MIRE_HANG_OPEN && hang->state != MIRE_HANG_ENDED)
        return false;
    if (hang->exited && hang->launch && hang->gate == MIRE_GATE_NONE)
        return false;
    if (until_ns < hang->begin_ns || until_ns - hang->begin_ns < hang->late_ns)
        return false;
    return until_ns - hang->begin_ns - hang->late_ns >= threshold_ms * MIRE_NS_PER_MS;
}

void mire__blackbox_clear_images(struct blackbox *box)
{
    atomic_store_explicit(&box->image_count, 0, memory_order_release);
    box->paths_used_bytes = 0;
}

enum mire_err mire__blackbox_add_image(struct blackbox *box, const struct image *image, const char *path)
{
    uint32_t count = atomic_load_explicit(&box->image_count, memory_order_relaxed);
    uint32_t at = box->paths_used_bytes, size = 0;

    while (path[size])
        size++;
    if (count == MIRE_IMAGES_MAX || size >= MIRE_IMAGE_PATHS_BYTES - at)
        return MIRE_E_FULL;
    mire__text_copy(box->paths + at, size + 1, path);
    box->images[count] = *image;
    box->images[count].path_at = at;
    box->paths_used_bytes = at + size + 1;
    atomic_store_explicit(&box->image_count, count + 1, memory_order_release);
    return MIRE_OK;
}

uint32_t mire__blackbox_image_count(const struct blackbox *box)
{
    uint32_t count = atomic_load_explicit(&box->image_count, memory_order_acquire);

    return count <= MIRE_IMAGES_MAX ? count : 0;
}

const char *mire__blackbox_image_path(const struct blackbox *box, uint32_t index)
{
    uint32_t at = box->images[index].path_at;

    if (at >= MIRE_IMAGE_PATHS_BYTES || box->paths[MIRE_IMAGE_PATHS_BYTES - 1] != '\0')
        return "";
    return box->paths + at;
}

int mire__blackbox_find_image(const struct blackbox *box, uint64_t address)
{
    for (uint32_t i = mire__blackbox_image_count(box); i-- > 0;) {
        if (address >= box->images[i].start && address < box->images[i].end)
            return (int)i;
    }
    return -1;
}
