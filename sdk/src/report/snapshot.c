/*
 * snapshot.c - see snapshot.h.
 */
#include "report/snapshot.h"

#include "heapread/read.h"
#include "platform/own.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(struct memory_extra) <= MIRE_HEAP_EXTRA_BYTES, "it has its section");

void mire__extra_begin(struct memory_extra *extra, const struct blackbox_facts *facts)
{
    extra->facts = *facts;
    atomic_thread_fence(memory_order_release);
    extra->magic = MIRE_EXTRA_MAGIC;
}

static const struct memory_extra *check(const void *bytes, size_t size)
{
    const struct memory_extra *extra = bytes;

    return extra && size >= MIRE_EXTRA_FRONT_BYTES && extra->magic == MIRE_EXTRA_MAGIC ? extra : NULL;
}

bool mire__extra_facts(struct blackbox_facts *out, const void *bytes, size_t size)
{
    const struct memory_extra *extra = check(bytes, size);

    memset(out, 0, sizeof(*out));
    if (!extra)
        return false;
    *out = extra->facts;
    return true;
}

void mire__extra_set_trail(struct memory_extra *extra, const struct trail_row *rows, uint32_t count,
                           uint64_t footprint_peak_bytes)
{
    atomic_store_explicit(&extra->trail_rows, 0, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    memcpy(extra->trail, rows, count * sizeof(*rows));
    extra->footprint_peak_bytes = footprint_peak_bytes;
    atomic_store_explicit(&extra->trail_rows, count, memory_order_release);
}

uint32_t mire__extra_trail(struct trail_row out[MIRE_TRAIL_ROWS], uint64_t *footprint_peak_bytes_out, const void *bytes,
                           size_t size)
{
    const struct memory_extra *extra = check(bytes, size);
    uint32_t rows = extra ? atomic_load_explicit(&extra->trail_rows, memory_order_acquire) : 0, count = 0;

    *footprint_peak_bytes_out = extra ? extra->footprint_peak_bytes : 0;
    if (rows > MIRE_TRAIL_ROWS)
        return 0;
    memcpy(out, extra ? extra->trail : out, rows * sizeof(*out));
    while (count < rows && (count == 0 || out[count].boot_ns >= out[count - 1].boot_ns))
        count++;
    return count;
}

const struct memory_snapshot *mire__extra_snapshot(const void *bytes, size_t size)
{
    const struct memory_extra *extra = check(bytes, size);
    const struct memory_snapshot *snapshot;

    if (!extra || size < sizeof(*extra))
        return NULL;
    snapshot = &extra->snapshots[atomic_load_explicit(&extra->active, memory_order_acquire) & 1];
    return snapshot->taken_ns != 0 && snapshot->category_count <= MIRE_SNAPSHOT_CATEGORIES &&
                   snapshot->pair_count <= MIRE_SNAPSHOT_PAIRS
               ? snapshot
               : NULL;
}

void mire__extra_set_residency(struct memory_extra *extra, const struct residency *looked)
{
    uint32_t next = (atomic_load_explicit(&extra->looked, memory_order_relaxed) & 1) ^ 1;

    extra->residencies[next] = *looked;
    atomic_store_explicit(&extra->looked, next, memory_order_release);
}

const struct residency *mire__extra_residency(const void *bytes, size_t size)
{
    const struct memory_extra *extra = check(bytes, size);
    const struct residency *looked;

    if (!extra)
        return NULL;
    looked = &extra->residencies[atomic_load_explicit(&extra->looked, memory_order_acquire) & 1];
    return looked->taken_ns != 0 ? looked : NULL;
}

uint64_t mire__residency_since(const struct residency_row *then, uint64_t mapped_bytes)
{
    uint64_t since = mapped_bytes > then->mapped_bytes ? mapped_bytes - then->mapped_bytes : 0;
    uint64_t resident = then->resident_bytes < mapped_bytes ? then->resident_bytes : mapped_bytes;

    return since < mapped_bytes - resident ? resident + since : mapped_bytes;
}

static int by_key(const void *a, const void *b)
{
    const struct snapshot_row *x = a, *y = b;

    if (x->category != y->category)
        return x->category < y->category ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

static struct snapshot_row row_of(const struct tally_pair *pair)
{
    return (struct snapshot_row){pair->category, pair->node, (uint64_t)(pair->count + 0.5),
                                 (uint64_t)(pair->bytes + 0.5)};
}

void mire__snapshot_take(struct memory_extra *extra, uint64_t taken_ns, const struct tally_pair *sums, size_t sum_count,
                         const struct tally *tally)
{
    uint32_t next = (atomic_load_explicit(&extra->active, memory_order_relaxed) & 1) ^ 1;
    struct memory_snapshot *snapshot = &extra->snapshots[next];

    snapshot->category_count = snapshot->pair_count = 0;
    for (size_t i = 0; i < sum_count && snapshot->category_count < MIRE_SNAPSHOT_CATEGORIES; i++)
        if (sums[i].count > 0 || sums[i].bytes > 0)
            snapshot->categories[snapshot->category_count++] = row_of(&sums[i]);
    for (uint32_t i = 0; i < tally->pair_count && i < MIRE_SNAPSHOT_PAIRS; i++)
        snapshot->pairs[snapshot->pair_count++] = row_of(mire__tally_at(tally, i));
    mire__own.qsort(snapshot->categories, snapshot->category_count, sizeof(struct snapshot_row), by_key);
    mire__own.qsort(snapshot->pairs, snapshot->pair_count, sizeof(struct snapshot_row), by_key);
    snapshot->taken_ns = taken_ns;
    atomic_store_explicit(&extra->active, next, memory_order_release);
}

static struct snapshot_row find(const struct snapshot_row *rows, uint32_t count, uint32_t category, uint32_t node)
{
    const struct snapshot_row key = {.category = category, .node = node};
    const struct snapshot_row *found = bsearch(&key, rows, count, sizeof(key), by_key);

    return found ? *found : key;
}

struct snapshot_row mire__snapshot_category(const struct memory_snapshot *snapshot, uint32_t category)
{
    return find(snapshot->categories, snapshot->category_count, category, 0);
}

struct snapshot_row mire__snapshot_pair(const struct memory_snapshot *snapshot, uint32_t category, uint32_t node)
{
    return find(snapshot->pairs, snapshot->pair_count, category, node);
}
