/* blackbox.c - see blackbox.h. Signal-safe: arithmetic on the caller's memory only. */
#include "ring/blackbox.h"

void mire__blackbox_init(struct blackbox *box, const struct blackbox_facts *facts)
{
    box->version = MIRE_BLACKBOX_VERSION;
    box->size_bytes = sizeof(*box);
    box->facts = *facts;
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

void mire__blackbox_unreserve(struct blackbox *box, uint32_t first, uint32_t last)
{
    for (uint32_t lane = first; lane <= last; lane++)
        atomic_fetch_or_explicit(&box->unreserved, 1u << lane, memory_order_relaxed);
}

void mire__blackbox_has(struct blackbox *box, uint32_t lane)
{
    atomic_fetch_and_explicit(&box->unreserved, ~(1u << lane), memory_order_release);
}

bool mire__blackbox_is_unreserved(const struct blackbox *box, uint32_t lane)
{
    return atomic_load_explicit(&box->unreserved, memory_order_acquire) >> lane & 1;
}

static uint32_t state_of(const struct blackbox *box, uint32_t lane)
{
    const struct lane *of = &box->lanes[lane];

    return mire__blackbox_is_unreserved(box, lane)
               ? MIRE_EVENT_NONE
               : of->events[atomic_load_explicit(&of->event_active, memory_order_acquire) & 1].state;
}

bool mire__blackbox_is_open(const struct blackbox *box, uint32_t lane)
{
    return state_of(box, lane) == MIRE_EVENT_OPEN;
}

bool mire__blackbox_is_ended(const struct blackbox *box, uint32_t lane)
{
    return state_of(box, lane) == MIRE_EVENT_ENDED;
}

void mire__blackbox_event(struct event *out, const struct blackbox *box, uint32_t lane)
{
    const struct lane *from = &box->lanes[lane];
    uint64_t left_ns = atomic_load_explicit(&box->left_ns, memory_order_acquire);

    if (mire__blackbox_is_unreserved(box, lane)) {
        *out = (struct event){.state = MIRE_EVENT_NONE};
        return;
    }
    *out = from->events[atomic_load_explicit(&from->event_active, memory_order_acquire) & 1];
    out->thread_name[sizeof(out->thread_name) - 1] = '\0';
    out->name[sizeof(out->name) - 1] = '\0';
    out->message[sizeof(out->message) - 1] = '\0';
    if (out->state == MIRE_EVENT_OPEN && left_ns != 0) {
        out->state = MIRE_EVENT_ENDED;
        out->exited = 1;
        out->end_ns = left_ns;
    }
}

void mire__blackbox_set_event(struct blackbox *box, uint32_t lane, const struct event *event)
{
    struct lane *to = &box->lanes[lane];
    uint32_t spare = (atomic_load_explicit(&to->event_active, memory_order_relaxed) & 1) ^ 1;

    to->events[spare] = *event;
    atomic_store_explicit(&to->event_active, spare, memory_order_release);
}

bool mire__blackbox_any_event(const struct blackbox *box)
{
    for (uint32_t i = 0; i < MIRE_LANES; i++) {
        if (state_of(box, i) != MIRE_EVENT_NONE)
            return true;
    }
    return false;
}

uint32_t mire__blackbox_other_count(const struct blackbox *box, uint32_t lane)
{
    const struct lane *from = &box->lanes[lane];
    uint32_t count = atomic_load_explicit(&from->other_count, memory_order_acquire);

    for (uint32_t i = 0; i < count && i < MIRE_OTHERS_MAX; i++) {
        if (from->others[i].sample.depth > MIRE_DEPTH_MAX)
            return i;
    }
    return count <= MIRE_OTHERS_MAX ? count : 0;
}

void mire__blackbox_set_wait(struct blackbox *box, uint32_t lane, uint32_t row, const struct sample *sample)
{
    struct wait_path *path = &box->lanes[lane].waits[row];

    atomic_store_explicit(&path->depth, 0, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    if (!sample)
        return;
    path->sample = *sample;
    atomic_store_explicit(&path->depth, sample->depth, memory_order_release);
}

const struct sample *mire__blackbox_wait(const struct blackbox *box, uint32_t lane, uint32_t row)
{
    const struct wait_path *path = &box->lanes[lane].waits[row];

    if (mire__blackbox_is_unreserved(box, lane) || atomic_load_explicit(&path->depth, memory_order_acquire) == 0)
        return NULL;
    return path->sample.depth <= MIRE_DEPTH_MAX ? &path->sample : NULL;
}

void mire__blackbox_move(struct blackbox *box, uint32_t to, uint32_t from)
{
    uint32_t others = mire__blackbox_other_count(box, from);
    struct lane *lane = &box->lanes[to];
    struct event event;

    for (uint32_t row = 0; row < MIRE_WAIT_PATHS; row++)
        mire__blackbox_set_wait(box, to, row, mire__blackbox_wait(box, from, row));
    for (uint32_t i = 0; i < others; i++)
        lane->others[i] = box->lanes[from].others[i];
    atomic_store_explicit(&lane->other_count, others, memory_order_release);
    mire__ring_copy(&lane->ring, &box->lanes[from].ring);
    mire__blackbox_event(&event, box, from);
    mire__blackbox_set_event(box, to, &event);
}

void mire__blackbox_clear(struct blackbox *box, uint32_t lane)
{
    const struct event none = {.state = MIRE_EVENT_NONE};

    for (uint32_t row = 0; row < MIRE_WAIT_PATHS; row++)
        mire__blackbox_set_wait(box, lane, row, NULL);
    mire__blackbox_set_event(box, lane, &none);
}

void mire__blackbox_count_micro(struct blackbox *box, uint64_t duration_ns)
{
    uint32_t bucket = 0;

    if (duration_ns < MIRE_MICRO_NS)
        return;
    for (uint64_t end_ns = 2 * MIRE_MICRO_NS; duration_ns >= end_ns && bucket + 1 < MIRE_MICRO_BUCKETS; end_ns *= 2)
        bucket++;
    atomic_fetch_add_explicit(&box->micro.count[bucket], 1, memory_order_relaxed);
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
