/*
 * hot.c - rows of equal innermost functions, and how often the winner's frames stand in the ring.
 */
#include "report/hot.h"

#include <string.h>

static uint64_t function_at(const struct sample *sample, uint32_t frame)
{
    return sample->pc[frame] - sample->into[frame];
}

static void longest_row(struct hot *out, const struct ring *ring)
{
    uint32_t count = mire__ring_count(ring), run = 0;
    uint64_t before = 0;

    for (uint32_t i = 0; i < count; i++) {
        const struct sample *sample = mire__ring_at(NULL, ring, i);
        if (!sample || sample->depth == 0) {
            run = 0;
            continue;
        }
        uint64_t function = function_at(sample, 0);
        run = run > 0 && function == before ? run + 1 : 1;
        before = function;
        if (run >= out->run) {
            out->run = run;
            out->sample = i;
            out->depth = sample->depth;
        }
    }
}

static bool stands_in(uint64_t function, const struct sample *sample)
{
    for (uint32_t i = 0; i < sample->depth; i++)
        if (function_at(sample, i) == function)
            return true;
    return false;
}

void mire__hot_find(struct hot *out, const struct ring *ring)
{
    const struct sample *hot, *other;

    memset(out, 0, sizeof(*out));
    longest_row(out, ring);
    if (out->run == 0)
        return;
    hot = mire__ring_at(NULL, ring, out->sample);
    for (uint32_t frame = 0; frame < out->depth; frame++) {
        uint64_t function = function_at(hot, frame);
        for (uint32_t i = 0; (other = mire__ring_at(NULL, ring, i)); i++)
            out->repeat[frame] += stands_in(function, other);
    }
}
