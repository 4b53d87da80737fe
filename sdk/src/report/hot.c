/*
 * hot.c - groups samples by their innermost functions, and counts the frames of the heaviest group in the ring.
 */
#include "report/hot.h"

#include <string.h>

static bool is_of(const struct sample *sample, uint32_t tid)
{
    return sample->tid == 0 || sample->tid == tid;
}

static void longest_row(struct hot *out, const struct ring *ring, uint32_t tid)
{
    const struct sample *sample;
    uint64_t before = 0;
    uint32_t run = 0;

    for (uint32_t i = 0; (sample = mire__ring_at(NULL, ring, i)); i++) {
        if (!is_of(sample, tid))
            continue;
        if (sample->depth == 0) {
            run = 0;
            continue;
        }
        uint64_t function = mire__sample_function(sample, 0);
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
        if (mire__sample_function(sample, i) == function)
            return true;
    return false;
}

void mire__hot_find(struct hot *out, const struct ring *ring, uint32_t tid)
{
    const struct sample *hot, *other;

    memset(out, 0, sizeof(*out));
    longest_row(out, ring, tid);
    if (out->run == 0)
        return;
    hot = mire__ring_at(NULL, ring, out->sample);
    for (uint32_t frame = 0; frame < out->depth; frame++) {
        uint64_t function = mire__sample_function(hot, frame);
        for (uint32_t i = 0; (other = mire__ring_at(NULL, ring, i)); i++)
            out->repeat[frame] += is_of(other, tid) && stands_in(function, other);
    }
}
