/*
 * blame.c - descends level by level. A weighted majority vote in one pass (Boyer and Moore, 1981) finds the function
 * with more than half of a level's weight.
 */
#include "report/blame.h"

#include "base/path.h"

#include <string.h>

/* Samples that are still in the descent: their stacks have the same functions down to `frame`. */
struct descent {
    uint32_t count;
    uint32_t samples[MIRE_RING_SAMPLES]; /* indices in the ring */
    uint32_t frames[MIRE_RING_SAMPLES];  /* the next frame of each sample; its depth if none is left */
};

static uint64_t function_of(const struct descent *descent, const struct ring *ring, uint32_t i)
{
    return mire__sample_function(mire__ring_at(NULL, ring, descent->samples[i]), descent->frames[i]);
}

/* Begin with all samples, outside the outermost frame. Returns their weight. */
static uint64_t begin(struct descent *descent, const struct ring *ring)
{
    const struct sample *sample;
    uint64_t weight, total = 0;

    descent->count = 0;
    for (uint32_t i = 0; (sample = mire__ring_at(&weight, ring, i)); i++) {
        total += weight;
        if (sample->depth == 0)
            continue;
        descent->samples[descent->count] = i;
        descent->frames[descent->count++] = sample->depth - 1;
    }
    return total;
}

/* The function with more than half of the weight, if there is one. */
static uint64_t vote(const struct descent *descent, const struct ring *ring)
{
    uint64_t weight, lead = 0, candidate = 0;

    for (uint32_t i = 0; i < descent->count; i++) {
        uint64_t function = function_of(descent, ring, i);
        mire__ring_at(&weight, ring, descent->samples[i]);
        if (function == candidate) {
            lead += weight;
        } else if (lead >= weight) {
            lead -= weight;
        } else {
            lead = weight - lead;
            candidate = function;
        }
    }
    return candidate;
}

/* Keep those that are in `function`. Returns their weight. */
static uint64_t keep(struct descent *descent, const struct ring *ring, uint64_t function)
{
    uint64_t weight, sum = 0;
    uint32_t kept = 0;

    for (uint32_t i = 0; i < descent->count; i++) {
        if (function_of(descent, ring, i) != function)
            continue;
        mire__ring_at(&weight, ring, descent->samples[i]);
        sum += weight;
        descent->samples[kept] = descent->samples[i];
        descent->frames[kept++] = descent->frames[i];
    }
    descent->count = kept;
    return sum;
}

/* Move past `function`, and drop samples that end in it. */
static void descend(struct descent *descent, const struct ring *ring, uint64_t function)
{
    uint32_t left = 0;

    for (uint32_t i = 0; i < descent->count; i++) {
        const struct sample *sample = mire__ring_at(NULL, ring, descent->samples[i]);
        uint32_t frame = descent->frames[i];

        while (frame > 0 && mire__sample_function(sample, frame) == function)
            frame--;
        if (mire__sample_function(sample, frame) == function)
            continue;
        descent->samples[left] = descent->samples[i];
        descent->frames[left++] = frame;
    }
    descent->count = left;
}

static bool is_libc(const struct blackbox *box, uint64_t address)
{
    static const char *const names[] = {"libc.so", "libc-", "libpthread", "ld-musl"};
    int index = mire__blackbox_find_image(box, address);
    const char *name = index < 0 ? "" : mire__path_base(mire__blackbox_image_path(box, (uint32_t)index));

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

/* Is the frame called only by the C library's start, or by _start? Then it is main, or a thread's first function. */
static bool is_first(const struct sample *sample, uint32_t frame, const struct blackbox *box)
{
    uint32_t outer = frame + 1;

    while (outer < sample->depth && is_libc(box, sample->pc[outer]))
        outer++;
    return outer > frame + 1 && outer + 1 >= sample->depth;
}

/* Descend to the deepest function with enough weight. */
static void find_deepest(struct blame *out, const struct ring *ring)
{
    struct descent descent;
    uint64_t total = begin(&descent, ring);

    memset(out, 0, sizeof(*out));
    while (descent.count > 0) {
        uint64_t function = vote(&descent, ring);
        uint64_t held = keep(&descent, ring, function);

        if (descent.count == 0 || held < total / 100 * MIRE_BLAME_PERCENT || total == 0)
            return;
        out->sample = descent.samples[0];
        out->frame = descent.frames[0];
        out->share_ppm = held >= total ? 1000000 : (uint32_t)((double)held * 1e6 / (double)total);
        descend(&descent, ring, function);
    }
}

void mire__blame_find(struct blame *out, const struct ring *ring, const struct blackbox *box, const struct sample *wait)
{
    const struct sample *sample;

    find_deepest(out, ring);
    if (out->share_ppm == 0)
        return;
    sample = mire__ring_at(NULL, ring, out->sample);
    if (is_first(sample, out->frame, box) || (wait && sample->depth - out->frame <= mire__sample_common(wait, sample)))
        memset(out, 0, sizeof(*out));
}
